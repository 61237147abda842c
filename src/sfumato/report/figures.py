"""The figures, as Vega-Lite specifications: drawn by the report, a notebook or the page alike."""

from __future__ import annotations

import math
from typing import Any

from ..core.metric import Metric
from ..inspect.exposure import Exposure
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.prosecutor_risk import prosecutor_risk
from ..search.frontier import Frontier, FrontierAxis, Node
from ..study.study import Result

# Shape, fill and legend carry what colour carries, so that no one needs to see colour.
STANDING = {
    "recommended": ("diamond", "#d55e00"),
    "on the frontier": ("circle", "#0072b2"),
    "beaten by another": ("square", "#7f8c8d"),
    "misses a requirement": ("cross", "#b03060"),
}
PLACES = {
    "on the frontier": ("circle", "#0072b2"),
    "knee": ("diamond", "#d55e00"),
    "fixed policy": ("triangle-up", "#009e73"),
    "fixed policy, misses a requirement": ("cross", "#b03060"),
    "measured and beaten": ("square", "#9aa5ad"),
}
_CLOUD = 2_000


def standing(result: Result, i: int, risk: Metric | None = None, utility: Metric | None = None) -> str:
    """How a candidate stands on the map; one that equals another of the frontier is beaten by none either."""
    risk, utility = risk or result.study.risk, utility or result.study.utility
    if i == result.recommended[0]:
        return "recommended"
    point = result.points[i]
    if not point.met:
        return "misses a requirement"
    if not point.has(risk, utility):
        return "not on this map"
    here = (point.value(risk), point.value(utility))
    front = [result.points[j] for j in result.frontier_on(risk, utility)]
    return "on the frontier" if here in [(p.value(risk), p.value(utility)) for p in front] else "beaten by another"


def _title(metric: Metric) -> str:
    return f"{metric.card.title} ({metric.card.unit}; {metric.card.better} is better)"


def limits(result: Result, risk: Metric | None = None, utility: Metric | None = None) -> list[dict[str, Any]]:
    """The requirements that are lines on a map; k-anonymity is one on the prosecutor's risk, at 1/k."""
    risk, utility = risk or result.study.risk, utility or result.study.utility
    found = []
    for requirement in result.study.require:
        if requirement.metric == risk:
            found.append({"axis": "risk", "at": requirement.bound, "text": str(requirement)})
        elif requirement.metric == utility:
            found.append({"axis": "utility", "at": requirement.bound, "text": str(requirement)})
        elif requirement.metric == k_anonymity and risk == prosecutor_risk and requirement.bound >= 1:
            found.append({"axis": "risk", "at": 1 / requirement.bound, "text": str(requirement)})
    return found


def risk_utility_map(result: Result, risk: Metric | None = None, utility: Metric | None = None) -> dict[str, Any]:
    """The R-U map (Manta 5.3): a point a candidate, the frontier as a line, the requirements as limits.

    On the study's axes unless others are named. A candidate that an axis cannot be asked of, or has no bound there, is not on it.
    """
    import altair as alt

    risk, utility = risk or result.study.risk, utility or result.study.utility
    front = result.frontier_on(risk, utility)
    which = [i for i in result.made if result.points[i].has(risk, utility)]
    which = [i for i in which if _drawable(result.points[i].value(risk), result.points[i].value(utility))]
    rows: list[dict[str, Any]] = [
        {
            "candidate": result.points[i].candidate.name,
            "name": result.names[i],
            "risk": result.points[i].value(risk),
            "utility": result.points[i].value(utility),
            "standing": standing(result, i, risk, utility),
        }
        for i in which
    ]
    below = [
        utility.card.title,
        f"({utility.card.unit}; {utility.card.better} is better)",
    ]  # two lines: a telephone is narrow
    x = alt.X("utility:Q", title=below, scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("risk:Q", title=_title(risk), scale=alt.Scale(zero=True, nice=True))
    names = [name for name in STANDING if any(row["standing"] == name for row in rows)]
    last = sorted(rows, key=lambda row: -names.index(row["standing"]))  # what matters most is drawn on top
    points = (
        alt.Chart(alt.Data(values=last))
        .mark_point(size=140, filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape(
                "standing:N", title=None, scale=alt.Scale(domain=names, range=[STANDING[n][0] for n in names])
            ),
            color=alt.Color(
                "standing:N", title=None, scale=alt.Scale(domain=names, range=[STANDING[n][1] for n in names])
            ),
            tooltip=[
                "candidate:N",
                "standing:N",
                alt.Tooltip("risk:Q", format=".4f"),
                alt.Tooltip("utility:Q", format=".4f"),
            ],
        )
    )
    on_frontier = [row for i, row in zip(which, rows, strict=True) if i in front]
    line = (
        alt.Chart(alt.Data(values=on_frontier))
        .mark_line(strokeWidth=1.5, strokeDash=[1, 0], color="#0072b2", opacity=0.6)
        .encode(x=x, y=y, order="utility:Q")
    )
    chosen = [row for row in rows if row["standing"] == "recommended"]
    low = bool(chosen) and chosen[0]["risk"] < max(row["risk"] for row in rows) / 8
    right = (
        bool(chosen) and chosen[0]["utility"] > max(row["utility"] for row in rows) / 2
    )  # there it would run out of the figure
    label = (
        alt.Chart(alt.Data(values=chosen))
        .mark_text(
            align="right" if right else "left",
            dx=-6 if right else 6,
            dy=-12
            if low
            else 17,  # below, where there is room: others of the same risk stand beside it, and a limit above
            fontWeight="bold",
            fontSize=12,
            color="currentColor",
            limit=220,
        )
        .encode(x=x, y=y, text="name:N")
    )
    layers: list[Any] = [line, points, label]
    for limit in limits(result, risk, utility):
        data = alt.Data(values=[limit])
        at = alt.Y("at:Q") if limit["axis"] == "risk" else alt.X("at:Q")
        end = {"x": alt.value("width")} if limit["axis"] == "risk" else {"y": alt.value(0)}
        key = "y" if limit["axis"] == "risk" else "x"
        layers.append(alt.Chart(data).mark_rule(strokeDash=[6, 4], color="#b03060").encode(**{key: at}))
        # above its line on the right, where few candidates are
        words = alt.Chart(data).mark_text(align="right", dx=-4, dy=-7, color="currentColor", fontSize=11)
        layers.append(words.encode(**{key: at, **end}, text="text:N"))
    return _finish(alt.layer(*layers).properties(width="container", height=380))


def policy_map(found: Frontier) -> dict[str, Any]:
    """The policy frontier (Xia et al. 2015): its nodes joined by a line, the fixed policies, and what else was measured."""
    import altair as alt

    rows = [_point(node, "knee" if i == found.knee else "on the frontier") for i, node in enumerate(found.nodes)]
    fixed = [
        _point(policy.node, "fixed policy, misses a requirement" if policy.missed else "fixed policy", policy.name)
        for policy in found.policies
    ]
    rows, fixed = ([row for row in part if _drawable(row["risk"], row["utility"])] for part in (rows, fixed))
    on = {(row["risk"], row["utility"]) for row in rows}
    pairs = zip(*(part.tolist() for part in found.seen), strict=True)
    seen = [(r, u) for r, u in pairs if (r, u) not in on and _drawable(r, u)]
    step = max(1, -(-len(seen) // _CLOUD))  # a few thousand points are a cloud already
    cloud = [{"risk": r, "utility": u, "standing": "measured and beaten"} for r, u in seen[::step]]
    names = [name for name in PLACES if any(row["standing"] == name for row in (*rows, *fixed, *cloud))]
    x = alt.X("utility:Q", title=_axis(found.utility), scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("risk:Q", title=_axis(found.risk), scale=alt.Scale(zero=True, nice=True))
    # the legend is as dark as what it stands for, however faint the cloud
    words = {"field": "standing", "type": "nominal", "title": None, "legend": alt.Legend(symbolOpacity=1)}
    look = {
        "shape": alt.Shape(**words, scale=alt.Scale(domain=names, range=[PLACES[n][0] for n in names])),
        "color": alt.Color(**words, scale=alt.Scale(domain=names, range=[PLACES[n][1] for n in names])),
    }
    told = [
        alt.Tooltip("levels:N"),
        "standing:N",
        alt.Tooltip("risk:Q", format=".4g"),
        alt.Tooltip("utility:Q", format=".4g"),
        "suppressed:Q",
    ]
    layers: list[Any] = []
    if cloud:
        dots = alt.Chart(alt.Data(values=cloud)).mark_point(size=18, filled=True, opacity=0.45)
        layers.append(dots.encode(x=x, y=y, **look))
    line = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=1.5, color="#0072b2", opacity=0.6)
    layers.append(line.encode(x=x, y=y, order="utility:Q"))
    for part, size in ((rows, 70), ([row for row in rows if row["standing"] == "knee"], 170)):
        points = alt.Chart(alt.Data(values=part)).mark_point(size=size, filled=True, opacity=1)
        layers.append(points.encode(x=x, y=y, tooltip=told, **look))
    if fixed:
        marks = alt.Chart(alt.Data(values=fixed)).mark_point(size=170, filled=True, opacity=1)
        layers.append(marks.encode(x=x, y=y, tooltip=["name:N", *told], **look))
        label = alt.Chart(alt.Data(values=fixed)).mark_text(
            align="left", dx=11, dy=-9, fontWeight="bold", fontSize=12, color="currentColor", limit=300
        )
        layers.append(label.encode(x=x, y=y, text="name:N"))
    return _finish(alt.layer(*layers).properties(width="container", height=420))


def _point(node: Node, standing: str, name: str = "") -> dict[str, Any]:
    levels = ", ".join(f"{column} {level}" for column, level in node.levels.items())
    return {
        "name": name,
        "levels": levels,
        "risk": node.risk,
        "utility": node.utility,
        "suppressed": node.suppressed,
        "standing": standing,
    }


def _drawable(*values: float) -> bool:
    return all(map(math.isfinite, values))


def _axis(axis: FrontierAxis) -> str:
    return f"{axis.title} ({'; '.join(filter(None, (axis.unit, axis.better + ' is better')))})"


def design_map(designs: list[dict[str, Any]], rivals: list[dict[str, Any]]) -> dict[str, Any]:
    """Error of the adversary against degradation: the frontier of designed channels, and published mechanisms below it."""
    import altair as alt

    rows = [{**each, "kind": "designed", "name": "designed"} for each in designs]
    others = [{**each, "kind": str(each["name"]).split(" ")[0]} for each in rivals]
    look = {"designed": ("circle", "#0072b2"), "pram": ("square", "#d55e00"), "groups": ("triangle-up", "#009e73")}
    names = [name for name in look if any(row["kind"] == name for row in (*rows, *others))]
    words = {"field": "kind", "type": "nominal", "title": None}
    marks = {
        "shape": alt.Shape(**words, scale=alt.Scale(domain=names, range=[look[n][0] for n in names])),
        "color": alt.Color(**words, scale=alt.Scale(domain=names, range=[look[n][1] for n in names])),
    }
    x = alt.X("degradation:Q", title="degradation (lower is better)", scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("error:Q", title="error of the adversary (higher is better)", scale=alt.Scale(zero=True, nice=True))
    told = ["name:N", alt.Tooltip("degradation:Q", format=".4g"), alt.Tooltip("error:Q", format=".4g")]
    line = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=1.5, color="#0072b2", opacity=0.6)
    points = alt.Chart(alt.Data(values=[*rows, *others])).mark_point(size=90, filled=True, opacity=1)
    label = alt.Chart(alt.Data(values=others)).mark_text(align="left", dx=9, dy=9, fontSize=12, color="currentColor")
    layers = [
        line.encode(x=x, y=y, order="degradation:Q"),
        points.encode(x=x, y=y, tooltip=told, **marks),
        label.encode(x=x, y=y, text="name:N"),
    ]
    return _finish(alt.layer(*layers).properties(width="container", height=420))


def exposure_figure(exposure: Exposure, measure: str) -> dict[str, Any]:
    """Rows by the leakage of their class, for one measure."""
    import altair as alt

    bins = [
        {"measure": each.measure, "from": each.low, "to": each.high, "rows": each.rows, "classes": each.classes}
        for each in exposure.bins
        if each.measure == measure
    ]
    chart = (
        alt.Chart(alt.Data(values=bins))
        .mark_bar(color="#0072b2")
        .encode(
            x=alt.X("from:Q", title=measure.replace("_", " "), scale=alt.Scale(zero=True)),
            x2="to:Q",
            y=alt.Y("rows:Q", title="rows"),
            y2=alt.datum(0),  # else some versions draw a line at the count
            tooltip=[alt.Tooltip("from:Q", format=".3f"), alt.Tooltip("to:Q", format=".3f"), "rows:Q", "classes:Q"],
        )
        .properties(width="container", height=200)
    )
    return _finish(chart)


def _finish(chart: Any) -> dict[str, Any]:
    """Ink follows the page, so that one figure serves light, dark and paper."""
    ink = {"labelColor": "currentColor", "titleColor": "currentColor", "gridOpacity": 0.25, "gridColor": "#888888"}
    specification: dict[str, Any] = (
        chart.configure(background="transparent", font="system-ui, sans-serif")
        .configure_axis(domainColor="#888888", tickColor="#888888", titleFontWeight="normal", titleFontSize=12, **ink)
        .configure_legend(
            labelColor="currentColor",
            titleColor="currentColor",
            orient="top",
            columns=2,
            labelFontSize=12,
            labelLimit=260,
        )
        .configure_view(stroke=None)
        .to_dict()
    )
    return specification
