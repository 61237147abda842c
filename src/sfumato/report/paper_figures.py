"""The figures of the papers, drawn from numbers that were computed elsewhere; SVG, without a network, the same bytes each time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .vega import vl_convert

# Dark and light of each pair differ on paper too, and bars keep the order of the legend: colour is never alone.
PAIR = ("#0b4f7d", "#8fbfe0")
LINES = ("#0072b2", "#d55e00", "#009e73", "#7f5a9d", "#b8860b", "#56b4e9", "#000000")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [12, 3], [1, 0])
WIDTH = 620

Rows = Sequence[Mapping[str, Any]]


def specification(kind: str, title: str, rows: Rows, more: Mapping[str, Any]) -> dict[str, Any]:
    """The Vega-Lite specification of a figure."""
    chart = KINDS[kind]([dict(row) for row in rows], more)
    made: dict[str, Any] = (
        chart.properties(title=title)
        .configure(background="#ffffff", font="Helvetica, Arial, sans-serif", padding=12)
        .configure_title(anchor="start", fontSize=14, fontWeight="normal", offset=10)
        .configure_axis(gridColor="#e4e4e4", domainColor="#888888", tickColor="#888888", titleFontWeight="normal")
        .configure_header(labelFontSize=12, title=None)
        .configure_legend(orient="top", title=None, labelFontSize=12, labelLimit=300)
        .configure_view(stroke=None)
        .to_dict()
    )
    return made


def svg(kind: str, title: str, rows: Rows, more: Mapping[str, Any]) -> str:
    """The figure as SVG."""
    drawn: str = vl_convert().vegalite_to_svg(json.dumps(specification(kind, title, rows, more), sort_keys=True))
    return drawn if drawn.endswith("\n") else drawn + "\n"


def _bits(rows: list[dict[str, Any]], more: Mapping[str, Any]) -> Any:
    """I1 and I2 of each class with the limits as lines, a panel a release (Bezzi, Fig. 1 to 4)."""
    import altair as alt

    measures = list(dict.fromkeys(row["measure"] for row in rows))
    facets = more.get("facets") or list(dict.fromkeys(row["release"] for row in rows))
    panels = []
    for facet in facets:
        mine = [row for row in rows if row["release"] == facet]
        order = list(dict.fromkeys(row["class"] for row in mine))
        x = alt.X("class:N", sort=order, title=None, axis=alt.Axis(labelAngle=0))
        y = alt.Y(
            "bits:Q",
            title="bits" if facet == facets[0] else None,
            scale=alt.Scale(domain=more.get("domain", alt.Undefined)),
        )
        bars = (
            alt.Chart(alt.Data(values=mine))
            .mark_bar(stroke="#333333", strokeWidth=0.5)
            .encode(
                x=x,
                xOffset=alt.XOffset("measure:N", sort=measures),
                y=y,
                color=alt.Color("measure:N", scale=alt.Scale(domain=measures, range=list(PAIR))),
            )
        )
        limits = alt.Data(values=[line for line in more["lines"] if line["release"] == facet])
        rule = alt.Chart(limits).mark_rule(color="#b03060", strokeDash=[6, 4]).encode(y="bits:Q")
        words = {"align": "right", "dx": -3, "dy": -6, "fontSize": 11}
        at = {"y": "bits:Q", "x": alt.value("width"), "text": "line:N"}
        # a white rim, so that it is read on a bar too
        rim = alt.Chart(limits).mark_text(**words, stroke="#ffffff", strokeWidth=4, strokeJoin="round").encode(**at)
        text = alt.Chart(limits).mark_text(**words, color="#b03060").encode(**at)
        width = WIDTH * len(order) / sum(len({r["class"] for r in rows if r["release"] == f}) for f in facets)
        panel = alt.layer(bars, rule, rim, text).properties(width=width, height=230)
        panels.append(panel.properties(title=facet) if len(facets) > 1 else panel)
    return alt.hconcat(*panels).resolve_scale(y="shared") if len(panels) > 1 else panels[0]


def _bars(rows: list[dict[str, Any]], more: Mapping[str, Any]) -> Any:
    """One bar each, with a line that none may pass."""
    import altair as alt

    order = [row["what"] for row in rows]
    x = alt.X("bits:Q", title=more["x"], scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("what:N", sort=order, title=None, axis=alt.Axis(labelLimit=240))
    data = alt.Data(values=rows)
    bars = alt.Chart(data).mark_bar(color=PAIR[0], height=15).encode(x=x, y=y)
    value = (
        alt.Chart(data)
        .mark_text(align="left", dx=4, fontSize=11)
        .encode(x=x, y=y, text=alt.Text("bits:Q", format=".4f"))
    )
    rule = (
        alt.Chart(alt.Data(values=[{"bits": more["line"]}]))
        .mark_rule(color="#b03060", strokeDash=[6, 4])
        .encode(x="bits:Q")
    )
    return alt.layer(bars, value, rule).properties(width=WIDTH - 220, height=24 * len(rows))


def _distances(rows: list[dict[str, Any]], more: Mapping[str, Any]) -> Any:
    """One line a distance over the sorted classes (Afifi, Fig. 1)."""
    import altair as alt

    order = list(more["order"])
    scale = {"domain": order, "range": list(LINES)}
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=1.8)
        .encode(
            x=alt.X(
                "class:Q",
                title="classes, by their L1 distance",
                axis=alt.Axis(tickMinStep=1),
                scale=alt.Scale(domain=[1, max(row["class"] for row in rows)], nice=False),
            ),
            y=alt.Y("value:Q", title="distance from the table"),
            color=alt.Color("distance:N", sort=order, scale=alt.Scale(**scale)),
            strokeDash=alt.StrokeDash("distance:N", sort=order, scale=alt.Scale(domain=order, range=[*DASHES])),
        )
        .properties(width=WIDTH, height=280)
    )


def _leakages(rows: list[dict[str, Any]], more: Mapping[str, Any]) -> Any:
    """Both leakages of each class (Afifi, Fig. 2a and 3a)."""
    import altair as alt

    names = dict(zip(more["order"], more["labels"], strict=True))
    shown = [{**row, "place": f"{row['class']}: {names[row['class']]}"} for row in rows]
    places = [f"{name}: {label}" for name, label in names.items()]
    return (
        alt.Chart(alt.Data(values=shown))
        .mark_bar(stroke="#333333", strokeWidth=0.5)
        .encode(
            y=alt.Y("place:N", sort=places, title=None, axis=alt.Axis(labelLimit=300)),
            yOffset=alt.YOffset("leakage:N", sort=["distribution", "entropy"]),
            x=alt.X("value:Q", title="leakage (distribution: distance; entropy: bits)"),
            color=alt.Color("leakage:N", scale=alt.Scale(domain=["distribution", "entropy"], range=list(PAIR))),
        )
        .properties(width=WIDTH - 200, height=26 * len(places))
    )


def _belief(rows: list[dict[str, Any]], more: Mapping[str, Any]) -> Any:
    """Original and published distribution (Afifi, Fig. 2b and 3b)."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(stroke="#333333", strokeWidth=0.5)
        .encode(
            x=alt.X("value:O", title="value of the occupation", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("which:N", sort=["original", "published"]),
            y=alt.Y("share:Q", title="share", axis=alt.Axis(format=".0%")),
            color=alt.Color("which:N", scale=alt.Scale(domain=["original", "published"], range=list(PAIR[::-1]))),
        )
        .properties(width=WIDTH, height=230)
    )


def _qids(rows: list[dict[str, Any]], more: Mapping[str, Any]) -> Any:
    """Leakage of the classes at several sets of quasi-identifiers, a panel a leakage (Afifi, Fig. 4)."""
    import altair as alt

    qids = list(more["qids"])
    shapes = ["circle", "square", "triangle-up", "diamond"]
    panels = []
    for leakage, unit in (("distribution", "distribution leakage"), ("entropy", "entropy leakage, bits")):
        mine = alt.Chart(alt.Data(values=[row for row in rows if row["leakage"] == leakage]))
        x = alt.X("class:N", sort=list(more["order"]), title=None, axis=alt.Axis(labelAngle=0))
        y = alt.Y("value:Q", title=unit)
        color = alt.Color("qid:N", sort=qids, scale=alt.Scale(domain=qids, range=list(LINES[:4])))
        shape = alt.Shape("qid:N", sort=qids, scale=alt.Scale(domain=qids, range=shapes))
        line = mine.mark_line(strokeWidth=1.2, opacity=0.6).encode(x=x, y=y, color=color)
        points = mine.mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=color, shape=shape)
        panels.append(alt.layer(line, points).properties(width=WIDTH / 2 - 30, height=230))
    return alt.hconcat(*panels)


def _steps(rows: list[dict[str, Any]], more: Mapping[str, Any]) -> Any:
    """How far the farthest class is from a group of at least n rows, over n (Manta, 3.2.4)."""
    import altair as alt

    x = alt.X("n:Q", title="n, rows that the group must have", axis=alt.Axis(tickCount=7))
    line = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(color=PAIR[0], interpolate="step-before", strokeWidth=2)
        .encode(x=x, y=alt.Y("t:Q", title="largest distance of a class from its group"))
    )
    limit = alt.Data(values=[{"t": more["line"], "label": more["label"], "n": more["mark"]}])
    rule = alt.Chart(limit).mark_rule(color="#b03060", strokeDash=[6, 4]).encode(y="t:Q")
    text = (
        alt.Chart(limit)
        .mark_text(align="right", dx=-4, dy=-7, color="#b03060", fontSize=11)
        .encode(y="t:Q", x=alt.value("width"), text="label:N")
    )
    return alt.layer(line, rule, text).properties(width=WIDTH, height=200)


def _map(rows: list[dict[str, Any]], more: Mapping[str, Any]) -> Any:
    """A risk-utility map (Manta, 5.3): a point a release, the frontier as a line, the knee named."""
    import altair as alt

    scale = alt.Scale(type="log", nice=False)
    x = alt.X("loss:Q", title="mean ILoss (lower is better; logarithmic)", scale=scale)
    y = alt.Y("risk:Q", title="risk of linking (lower is better; logarithmic)", scale=scale)
    names = list(dict.fromkeys(row["mechanism"] for row in rows))
    points = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("mechanism:N", sort=names, scale=alt.Scale(domain=names, range=list(LINES[:2]))),
            shape=alt.Shape("mechanism:N", sort=names, scale=alt.Scale(domain=names, range=["circle", "square"])),
        )
    )
    on = [row for row in rows if row["standing"] != "beaten by another"]
    line = alt.Chart(alt.Data(values=on)).mark_line(color="#777777", strokeWidth=1).encode(x=x, y=y, order="loss:Q")
    label = alt.Chart(alt.Data(values=[{**row, "text": f"k = {row['k']}"} for row in rows]))
    text = label.mark_text(align="left", dx=8, dy=-6, fontSize=11).encode(x=x, y=y, text="text:N")
    turn = alt.Chart(alt.Data(values=[row for row in rows if row["standing"] == "knee"]))
    ring = turn.mark_point(size=330, color="#b03060", strokeWidth=2).encode(x=x, y=y)
    named = turn.mark_text(align="right", dx=-14, dy=12, color="#b03060", fontSize=12).encode(
        x=x, y=y, text="standing:N"
    )
    return alt.layer(line, points, text, ring, named).properties(width=WIDTH, height=320)


KINDS: dict[str, Callable[[list[dict[str, Any]], Mapping[str, Any]], Any]] = {
    "bits": _bits,
    "bars": _bars,
    "distances": _distances,
    "leakages": _leakages,
    "belief": _belief,
    "qids": _qids,
    "steps": _steps,
    "map": _map,
}
