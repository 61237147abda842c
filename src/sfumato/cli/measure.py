"""Measure what a release gives away and what it is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o
from .completion import metric_names

if TYPE_CHECKING:
    from ..core.metric import Metric, PerValue, Score


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    original: Annotated[Path | None, typer.Option(help="The original table, for measures that compare.")] = None,
    metric: Annotated[
        list[str] | None,
        # a bracket before a parenthesis would be a link in Markdown, which is what helps are written in
        typer.Option(
            help="A metric, such as 't_closeness\\[ordered](salary)'; all if none is named. Repeatable.",
            autocompletion=metric_names,
        ),
    ] = None,
    pair: o.Pair = "none",
    population: Annotated[
        Path | None,
        typer.Option(
            help="A table of the population, for journalist_risk, k_map, delta_presence, personalized_breach."
        ),
    ] = None,
    related: Annotated[
        list[Path] | None,
        typer.Option(help="A table published along, about the same people, for multir_anonymity. Repeatable."),
    ] = None,
    perturbed: o.Perturbed = None,
    companion: o.Companions = None,
    joined_by: o.JoinedBy = None,
    per_class: Annotated[
        bool,
        typer.Option(
            "--per-class",
            help="With --json: also the value of every class, in the order of the released tuples, and of every "
            "sensitive value in it, which is then spelled, where a measure asks about each.",
        ),
    ] = False,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Measure a release, ours or anyone's: every metric that can be asked of it, with a sentence each.

    Without --original the measures that compare with it are left out and listed as such.
    """
    from .. import metrics
    from ..core.class_people import people_note
    from ..core.roles import Roles

    asked = [metrics.metric(text) for text in metric] if metric else None
    named = Roles.read(roles)
    made = o.released(
        release,
        named,
        reading,
        original=original,
        companion=companion,
        joined_by=joined_by,
        perturbed=perturbed,
        quiet=json,
        population=reading.open(population, quiet=json) if population else None,
        related=tuple(reading.open(path, quiet=json) for path in related or []),
        pairing=pair,
    )
    scores, skipped = metrics.measure(made, named, asked)
    note = people_note(made, named)
    if json:
        from ..study.study import scores_dict

        found = scores_dict(scores, per_class=per_class)
        for name, (_, score) in scores.items():
            if per_class and score.per_value is not None:
                found[name]["per_value"] = pairs(score.per_value)
        o.dump(
            {
                "release": str(release),
                "rows": made.table.rows,
                "scores": found,
                "skipped": skipped,
                "people_note": note,
            }
        )
        return
    if note is not None:
        o.console().print(f"Note: {note}")
    show(scores, skipped, title=f"{release}, {made.table.rows:,} rows")


def pairs(found: PerValue) -> dict[str, Any]:
    """The values as they are spelled, what each has in a class that lacks it, and class, value and number of all others."""
    from ..study.study import number

    return {
        "values": found.column.texts,
        "absent": [number(x) for x in found.absent],
        "class": found.member.tolist(),
        "value": found.value.tolist(),
        "number": [number(x) for x in found.number],
    }


def show(scores: dict[str, tuple[Metric, Score]], skipped: dict[str, str], title: str) -> None:
    """Scores under their headings, each value with its sentence."""
    from rich.table import Table as Grid

    from ..metrics import by_family

    out = o.console()
    out.print(title, style="bold")
    for heading, pairs in by_family(scores).items():
        grid = Grid(
            title=heading, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0), expand=False
        )
        grid.add_column("metric", no_wrap=True)
        grid.add_column("value", justify="right", no_wrap=True)
        grid.add_column("unit")
        grid.add_column("in words", ratio=1)
        for name, (metric, score) in pairs.items():
            value = f"{score.value:,.0f}" if float(score.value).is_integer() else f"{score.value:.4g}"
            if score.exactness != "exact":  # a bound is on the careful side: the truth is no worse
                bound = "≤" if metric.card.better == "lower" else "≥"
                value = f"{bound if score.exactness == 'bound' else '≈'} {value}"
            where = f" Columns: {score.where}." if score.where else ""
            grid.add_row(name, value, score.unit, metric.sentence(score.value) + where)
        out.print()
        out.print(grid)
    if skipped:
        out.print("\nNot measured", style="bold")
        for name, reason in skipped.items():
            out.print(f"{name}: {reason}", style="dim")
