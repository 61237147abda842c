"""The risk-utility map of a study (Manta 5.3), drawn once for notebook, report and page alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.figure import drawable, marks, themed
from ..core.metric import Metric
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.prosecutor_risk import prosecutor_risk

if TYPE_CHECKING:
    from .result import Result

# Shape, fill and legend carry what colour carries, so that no one needs to see colour.
STANDING = {
    "recommended": ("diamond", "#d55e00"),
    "on the frontier": ("circle", "#0072b2"),
    "beaten by another": ("square", "#7f8c8d"),
    "misses a requirement": ("cross", "#b03060"),
}


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
    lines = []
    for requirement in result.study.require:
        if requirement.metric == risk:
            lines.append({"axis": "risk", "at": requirement.bound, "text": str(requirement)})
        elif requirement.metric == utility:
            lines.append({"axis": "utility", "at": requirement.bound, "text": str(requirement)})
        elif requirement.metric == k_anonymity and risk == prosecutor_risk and requirement.bound >= 1:
            lines.append({"axis": "risk", "at": 1 / requirement.bound, "text": str(requirement)})
    return lines


def risk_utility_map(
    result: Result, risk: Metric | None = None, utility: Metric | None = None, *, width: int | str = "container"
) -> Any:
    """The R-U map (Manta 5.3): a point a candidate, the frontier as a line, the requirements as limits; an Altair chart.

    On the study's axes unless others are named. A candidate that an axis cannot be asked of, or has no bound there, is not on it.
    """
    import altair as alt

    risk, utility = risk or result.study.risk, utility or result.study.utility
    front = result.frontier_on(risk, utility)
    which = [i for i in result.made if result.points[i].has(risk, utility)]
    which = [i for i in which if drawable(result.points[i].value(risk), result.points[i].value(utility))]
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
    last = sorted(rows, key=lambda row: -[*STANDING].index(row["standing"]))  # what matters most is drawn on top
    tooltip = [
        "candidate:N",
        "standing:N",
        alt.Tooltip("risk:Q", format=".4f"),
        alt.Tooltip("utility:Q", format=".4f"),
    ]
    points = alt.Chart(alt.Data(values=last)).mark_point(size=140, filled=True, opacity=1)
    points = points.encode(x=x, y=y, tooltip=tooltip, **marks("standing", STANDING, rows))
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
    layers: list[Any] = [
        *([line] if on_frontier else []),
        points,
        *([label] if chosen else []),
    ]  # an empty layer has no extent
    for limit in limits(result, risk, utility):
        data = alt.Data(values=[limit])
        at = alt.Y("at:Q") if limit["axis"] == "risk" else alt.X("at:Q")
        end = {"x": alt.value("width")} if limit["axis"] == "risk" else {"y": alt.value(0)}
        key = "y" if limit["axis"] == "risk" else "x"
        layers.append(alt.Chart(data).mark_rule(strokeDash=[6, 4], color="#b03060").encode(**{key: at}))
        # above its line on the right, where few candidates are
        words = alt.Chart(data).mark_text(align="right", dx=-4, dy=-7, color="currentColor", fontSize=11)
        layers.append(words.encode(**{key: at, **end}, text="text:N"))
    return themed(alt.layer(*layers).properties(width=width, height=380))
