"""The figures of documents besides the map of a study, as Altair charts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.figure import drawable, marks, themed
from ..inspect.exposure import Exposure
from ..inspect.knowledge_needed import KnowledgeNeeded
from ..inspect.one_scale import EpsilonScale
from ..search.frontier import Frontier, FrontierAxis, Node

PLACES = {
    "on the frontier": ("circle", "#0072b2"),
    "knee": ("diamond", "#d55e00"),
    "fixed policy": ("triangle-up", "#009e73"),
    "fixed policy, misses a requirement": ("cross", "#b03060"),
    "measured and beaten": ("square", "#9aa5ad"),
}
_CLOUD = 2_000


def policy_map(frontier: Frontier) -> Any:
    """The policy frontier (Xia et al. 2015): its nodes joined by a line, the fixed policies, and what else was measured."""
    import altair as alt

    rows = [_point(node, "knee" if i == frontier.knee else "on the frontier") for i, node in enumerate(frontier.nodes)]
    fixed = [
        _point(policy.node, "fixed policy, misses a requirement" if policy.missed else "fixed policy", policy.name)
        for policy in frontier.policies
    ]
    rows, fixed = ([row for row in part if drawable(row["risk"], row["utility"])] for part in (rows, fixed))
    on = {(row["risk"], row["utility"]) for row in rows}
    pairs = zip(*(part.tolist() for part in frontier.seen), strict=True)
    seen = [(r, u) for r, u in pairs if (r, u) not in on and drawable(r, u)]
    step = max(1, -(-len(seen) // _CLOUD))  # a few thousand points are a cloud already
    cloud = [{"risk": r, "utility": u, "standing": "measured and beaten"} for r, u in seen[::step]]
    x = alt.X("utility:Q", title=_axis(frontier.utility), scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("risk:Q", title=_axis(frontier.risk), scale=alt.Scale(zero=True, nice=True))
    # the legend is as dark as what it stands for, however faint the cloud
    look = marks("standing", PLACES, [*rows, *fixed, *cloud], legend=alt.Legend(symbolOpacity=1))
    tooltip = [
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
        layers.append(points.encode(x=x, y=y, tooltip=tooltip, **look))
    if fixed:
        points = alt.Chart(alt.Data(values=fixed)).mark_point(size=170, filled=True, opacity=1)
        layers.append(points.encode(x=x, y=y, tooltip=["name:N", *tooltip], **look))
        label = alt.Chart(alt.Data(values=fixed)).mark_text(
            align="left", dx=11, dy=-9, fontWeight="bold", fontSize=12, color="currentColor", limit=300
        )
        layers.append(label.encode(x=x, y=y, text="name:N"))
    return themed(alt.layer(*layers).properties(width="container", height=420))


def levels(node: Node) -> str:
    """The level of each column at a node of the lattice."""
    return ", ".join(f"{column} {level}" for column, level in node.levels.items())


def _point(node: Node, standing: str, name: str = "") -> dict[str, Any]:
    return {
        "name": name,
        "levels": levels(node),
        "risk": node.risk,
        "utility": node.utility,
        "suppressed": node.suppressed,
        "standing": standing,
    }


def _axis(axis: FrontierAxis) -> str:
    return f"{axis.title} ({'; '.join(filter(None, (axis.unit, axis.better + ' is better')))})"


def design_map(designs: Sequence[Mapping[str, Any]], rivals: Sequence[Mapping[str, Any]]) -> Any:
    """Error of the adversary against degradation: the frontier of designed channels, and published mechanisms below it."""
    import altair as alt

    rows = [{**each, "kind": "designed", "name": "designed"} for each in designs]
    others = [{**each, "kind": str(each["name"]).split(" ")[0]} for each in rivals]
    look = {"designed": ("circle", "#0072b2"), "pram": ("square", "#d55e00"), "groups": ("triangle-up", "#009e73")}
    x = alt.X("degradation:Q", title="degradation (lower is better)", scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("error:Q", title="error of the adversary (higher is better)", scale=alt.Scale(zero=True, nice=True))
    tooltip = ["name:N", alt.Tooltip("degradation:Q", format=".4g"), alt.Tooltip("error:Q", format=".4g")]
    line = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=1.5, color="#0072b2", opacity=0.6)
    points = alt.Chart(alt.Data(values=[*rows, *others])).mark_point(size=90, filled=True, opacity=1)
    label = alt.Chart(alt.Data(values=others)).mark_text(align="left", dx=9, dy=9, fontSize=12, color="currentColor")
    layers = [
        line.encode(x=x, y=y, order="degradation:Q"),
        points.encode(x=x, y=y, tooltip=tooltip, **marks("kind", look, [*rows, *others])),
        label.encode(x=x, y=y, text="name:N"),
    ]
    return themed(alt.layer(*layers).properties(width="container", height=420))


def scale_map(scale: EpsilonScale) -> Any:
    """How often a best guess is right against epsilon: randomized response as a line, each release where it tells as much."""
    import altair as alt

    most = max(scale.yardstick)
    line = [{"epsilon": e, "guessed": guessed} for e, guessed in scale.curve]
    points = [
        {
            "name": each.name + (" (no epsilon tells as much)" if math.isinf(each.epsilon.guessed) else ""),
            "epsilon": min(max(each.epsilon.guessed, min(scale.yardstick)), most),
            "guessed": each.told.guessed,
            "bits": each.told.bits,
        }
        for each in scale.lines
    ]
    x = alt.X("epsilon:Q", title="epsilon of randomized answers", scale=alt.Scale(type="log", nice=False))
    y = alt.Y(
        "guessed:Q",
        title=f"people whose {scale.column} a best guess names",
        axis=alt.Axis(format="%"),
        scale=alt.Scale(zero=False),
    )
    tooltip = ["name:N", *(alt.Tooltip(f"{each}:Q", format=".3g") for each in ("epsilon", "guessed", "bits"))]
    without = alt.Chart(alt.Data(values=[{"guessed": scale.guessed, "text": "without any release"}]))
    layers = [
        without.mark_rule(strokeDash=[4, 4], color="#767676").encode(y="guessed:Q"),
        without.mark_text(align="left", dx=6, dy=-7, fontSize=12, color="currentColor").encode(y="guessed:Q", x=alt.value(0), text="text:N"),
        alt.Chart(alt.Data(values=line)).mark_line(strokeWidth=1.5, color="#0072b2", opacity=0.6).encode(x=x, y=y, order="epsilon:Q"),
        alt.Chart(alt.Data(values=points)).mark_point(size=90, filled=True, opacity=1, color="#d55e00").encode(x=x, y=y, tooltip=tooltip),
        *(
            alt.Chart(alt.Data(values=points[i::2])).mark_text(align=side, dx=dx, dy=dy, fontSize=12, color="currentColor").encode(x=x, y=y, text="name:N")
            for i, (side, dx, dy) in enumerate((("right", -9, -3), ("left", 9, 5)))  # in turns, since neighbours stand close
        ),
    ]  # fmt: skip
    return themed(alt.layer(*layers).properties(width="container", height=420))


def knowledge_curve(asked: KnowledgeNeeded) -> Any:
    """The most that is learned against how far a belief lies from the overall distribution, with the limit."""
    import altair as alt

    line = [{"delta": delta, "learned": learned} for delta, learned in asked.curve]
    x = alt.X("delta:Q", title="how far the adversary's belief lies from the whole table", axis=alt.Axis(format="%"))
    y = alt.Y(
        "learned:Q",
        title=f"by how much they grow surer of somebody's {asked.column}",
        axis=alt.Axis(format="%"),
        scale=alt.Scale(domain=[0, 1]),
    )
    tooltip = [alt.Tooltip(f"{each}:Q", format=".1%") for each in ("delta", "learned")]
    limit = alt.Chart(alt.Data(values=[{"learned": asked.limit, "text": "limit"}]))
    layers = [
        limit.mark_rule(strokeDash=[4, 4], color="#b03060").encode(y="learned:Q"),
        limit.mark_text(align="left", dx=6, dy=-7, fontSize=12, color="currentColor").encode(y="learned:Q", x=alt.value(0), text="text:N"),
        alt.Chart(alt.Data(values=line)).mark_line(strokeWidth=2, color="#0072b2", point=True).encode(x=x, y=y, tooltip=tooltip),
    ]  # fmt: skip
    return themed(alt.layer(*layers).properties(width="container", height=360))


def exposure_figure(exposure: Exposure, measure: str) -> Any:
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
    return themed(chart)
