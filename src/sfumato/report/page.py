"""One self-contained HTML page from a study: it opens without a network and prints."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.files import write_whole
from ..core.metric import Metric
from ..metrics import FAMILIES, family, told
from ..study.exposure import MEASURES, exposure
from ..study.study import Result
from . import figures

# What the table of candidates shows, besides the two axes.
COLUMNS = (
    "k_anonymity",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "t_closeness[equal]",
    "mutual_information",
    "average_class_size",
)


def spell(x: float) -> str:
    """A number as a reader wants it: four digits that matter, whole numbers whole."""
    if not math.isfinite(x):
        return "no bound"
    return f"{x:,.0f}" if float(x).is_integer() or abs(x) >= 1e5 else f"{x:.4g}"


def words(metric: Metric) -> str:
    """A metric's name that a table head can break."""
    return str(metric).replace("_", " ").replace("[", " [")


def write(result: Result, path: Path) -> None:
    """Write the page; complete or absent."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sfumato", "report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(spell=spell, words=words, family=family)
    template = environment.get_template("page.html")
    html = template.render(**_content(result), script=_javascript().replace("</script", "<\\/script"))
    write_whole(path, html)


def _javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed, from the installed package: nothing is fetched."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    return bundle


def _content(result: Result) -> dict[str, Any]:
    chosen, why = result.recommended
    point = None if chosen is None else result.points[chosen]
    shown = _columns(result)
    specs: dict[str, Any] = {"map": figures.risk_utility_map(result)}
    exposures: list[dict[str, Any]] = []
    if point is not None and point.release is not None:
        for found in exposure(point.release, result.study.roles):
            names = [str(measure) for measure in MEASURES]
            for name in names:
                specs[f"{name}-{len(exposures)}"] = figures.exposure_figure(found, name)
            exposures.append({"exposure": found, "figures": [(f"{name}-{len(exposures)}", name) for name in names]})
    return {
        "result": result,
        "study": result.study,
        "why": why,
        "chosen": chosen,
        "point": point,
        "columns": shown,
        "told": told,
        "families": FAMILIES,
        "standing": lambda i: figures.standing(result, i),
        "exposures": exposures,
        "commands": result.commands(),
        "specs": {name: _script_json(spec) for name, spec in specs.items()},
        "version": __version__,
        "cards": _cards(result),
    }


def _columns(result: Result) -> list[Metric]:
    """The metrics of the table of candidates: the axes, then the usual ones that every candidate has."""
    first = result.points[result.made[0]].scores
    axes = [result.study.risk, result.study.utility]
    return [*axes, *(first[name][0] for name in COLUMNS if name in first and name not in map(str, axes))]


def _cards(result: Result) -> list[Metric]:
    seen: dict[str, Metric] = {}
    for i in result.made:
        for metric, _ in result.points[i].scores.values():
            seen.setdefault(metric.card.name, metric)
    return [seen[name] for name in sorted(seen)]


def _script_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, sort_keys=True).replace("<", "\\u003c")
