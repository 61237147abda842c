"""What all figures share: their look, and bars of numbers. A figure is an Altair chart, for notebook, report and page alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .column import FloatArray
from .errors import Unavailable

_BARS = 30


def histogram(numbers: FloatArray, *, unit: str) -> Any:
    """How many of the numbers fall into each of at most 30 ranges of equal width, as an Altair chart.

    Infinite numbers have no place on an axis; the title says how many there are. Equal numbers make one bar.
    """
    import altair as alt

    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        raise Unavailable("None of the numbers is finite, so there is nothing to draw.")
    few = np.unique(finite)
    counts, edges = np.histogram(finite, bins=min(_BARS, len(few)))
    bars = [
        {"from": float(low), "to": float(high), "classes": int(n)}
        for low, high, n in zip(edges[:-1], edges[1:], counts, strict=True)
        if n
    ]
    left_out = len(numbers) - len(finite)
    title = unit + (f" ({left_out:,} without a bound left out)" if left_out else "")
    return themed(
        alt.Chart(alt.Data(values=bars))
        .mark_bar(color="#0072b2")
        .encode(
            x=alt.X("from:Q", title=title),
            x2="to:Q",
            y=alt.Y("classes:Q", title="classes"),
            y2=alt.datum(0),  # else some versions draw a line at the count
            tooltip=[alt.Tooltip("from:Q", format=".4g"), alt.Tooltip("to:Q", format=".4g"), "classes:Q"],
        )
    )


def drawable(*values: float) -> bool:
    """Whether an axis has a place for each of them."""
    return all(map(math.isfinite, values))


def marks(
    field: str, look: Mapping[str, tuple[str, str]], rows: Sequence[Mapping[str, Any]], **more: Any
) -> dict[str, Any]:
    """Shape and colour by a field, of what occurs and in the order of the look."""
    import altair as alt

    names = [name for name in look if any(row[field] == name for row in rows)]
    words = {"field": field, "type": "nominal", "title": None, **more}
    shape, color = (alt.Scale(domain=names, range=[look[name][i] for name in names]) for i in (0, 1))
    return {"shape": alt.Shape(**words, scale=shape), "color": alt.Color(**words, scale=color)}


def themed(chart: Any) -> Any:
    """The chart with ink that follows the page, so that one figure serves light, dark and paper."""
    ink = {"labelColor": "currentColor", "titleColor": "currentColor", "gridOpacity": 0.25, "gridColor": "#888888"}
    return (
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
    )
