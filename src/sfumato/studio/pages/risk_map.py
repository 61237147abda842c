"""Step 7, The map: candidates by risk and utility, on any two measures, as a figure and as a table of the same numbers."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...core.errors import InputError
from ...core.figure import drawable
from ...core.metric import Metric
from ...mechanisms import registry
from ...metrics import metric
from ...study.result import Result
from ...study.risk_utility_map import limits, standing
from ..desk import Desk
from ..rendering import page


def show(request: Request) -> Response:
    """The map on the axes of the address, the study's own unless others are named."""
    desk: Desk = request.app.state.desk
    if not desk.has_points:
        raise InputError("Nothing was measured yet; run the candidates first.")
    result = desk.result
    risk, utility = axes(request, result)
    return page(
        request, "map.html", title="The risk-utility map", risk=risk, utility=utility, rows=rows(result, risk, utility),
        risks=measured(result, "privacy"), utilities=measured(result, "utility"), lines=limits(result, risk, utility),
        unmade=[p for p in result.points if p.failure is not None], recommended=result.recommended, changed=desk.changed,
    )  # fmt: skip


def figure(request: Request) -> Response:
    """The same as a Vega-Lite specification."""
    desk: Desk = request.app.state.desk
    result = desk.result
    return JSONResponse(zoomed(result.map(*axes(request, result))).properties(width="container").to_dict())


def zoomed(chart: Any) -> Any:
    """The figure with axes that can be moved: by the page's buttons, by dragging, and by the wheel where Ctrl is held."""
    import altair as alt

    wheel = "wheel![event.ctrlKey || event.metaKey]"
    return chart.add_params(alt.selection_interval(name="zoom", bind="scales", zoom=wheel))


def axes(request: Request, result: Result) -> tuple[Metric, Metric]:
    """The two measures that the address names."""
    chosen = []
    for name, own, about in (("risk", result.study.risk, "privacy"), ("utility", result.study.utility, "utility")):
        text = request.query_params.get(name, str(own))
        if text not in {str(each) for each in measured(result, about)} | {str(own)}:
            raise InputError("This measure was not taken; choose one from the list.")
        chosen.append(metric(text))
    return chosen[0], chosen[1]


def measured(result: Result, about: str) -> list[Metric]:
    """The measures of one kind that at least one candidate has."""
    found = {
        name: each for point in result.points for name, (each, _) in point.scores.items() if each.card.about == about
    }
    return sorted(found.values(), key=lambda each: each.card.title)


def rows(result: Result, risk: Metric, utility: Metric) -> list[dict[str, Any]]:
    """The candidates in the order of the report, with what the figure shows of them."""
    found, mechanisms = [], registry()
    for i in result.order:
        point = result.points[i]
        if point.failure is not None:
            continue
        there = point.has(risk, utility)
        found.append(
            {
                "at": i,
                "name": result.names[i],
                "whole": point.candidate.name,
                "made_by": point.candidate.family if point.candidate.family in mechanisms else "",
                "risk": point.value(risk) if point.has(risk) else None,
                "utility": point.value(utility) if point.has(utility) else None,
                "drawn": there and drawable(point.value(risk), point.value(utility)),
                "standing": standing(result, i, risk, utility) if there else "not on this map",
                "knee": i == result.knee,
                "misses": point.misses,
                "rows": point.rows,
                "sentence": risk.sentence(point.value(risk)) if point.has(risk) else "",
                "worth": utility.sentence(point.value(utility)) if point.has(utility) else "",
            }
        )
    return found


routes = (
    Route("/map", show, methods=["GET"]),
    Route("/map/figure", figure, methods=["GET"]),
)
