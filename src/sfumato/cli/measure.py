"""Measure what a release gives away and what it is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from ..core.metric import Metric, PerValue, Score
    from ..core.release import Release
    from ..core.roles import Roles

EXAMPLES = (
    "sfumato measure release.csv --roles roles.toml --original people.csv",
    "sfumato measure release.csv --roles roles.toml --metric 't_closeness[equal](diagnosis)'",
)


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    original: o.Original = None,
    metric: o.Metrics = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every metric that can be measured, not only the most telling ones.")
    ] = False,
    pair: o.Pair = "none",
    population: o.Population = None,
    related: o.Related = None,
    per_class: Annotated[
        bool,
        typer.Option(
            "--per-class",
            help="With --json: also the value of every class, and of every sensitive value in it. Sensitive values are then printed.",
        ),
    ] = False,
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Each number comes with a sentence. The release may come from any tool.

    Prints the metrics that owners are usually asked for. --all prints every metric that can be measured, and lists those that
    cannot, with the reason; --json always has them all. Some metrics need --original, --population or --related.
    """
    from .. import metrics
    from ..core.addresses import place_name
    from ..core.roles import Roles
    from ..publishing.class_people import people_note

    requested = [metrics.metric(text) for text in metric] if metric else None
    named = Roles.read(roles)
    made = reading.released(
        release,
        named,
        original=original,
        population=reading.beside(population, named) if population else None,
        related=tuple(reading.beside(path, named) for path in related or []),
        pairing=pair,
    )
    short = not (json or everything or requested)
    scores, skipped = usual_scores(made, named) if short else metrics.measure(made, named, requested)
    note = people_note(made, named)
    # the bound takes seconds on large tables, so it is told where the loss is asked for by name, or everything
    least = None if requested is None and not everything else bound_beside(made, named, scores)
    if json:
        from ..study.result import least_dict
        from ..study.study import scores_dict

        values = scores_dict(scores, per_class=per_class)
        for name, (_, score) in scores.items():
            if per_class and score.per_value is not None:
                values[name]["per_value"] = pairs(score.per_value)
        o.dump(
            {
                "release": place_name(release),
                "rows": made.table.rows,
                "scores": values,
                "skipped": skipped,
                "people_note": note,
                "least_loss": None if least is None else least_dict(least),
            }
        )
        return
    out = o.console()
    if note is not None:
        out.print(f"Note: {note}")
    out.print(f"{place_name(release)}, {made.table.rows:,} rows", style="bold")
    if not short:
        show(scores, skipped)
        if least is not None:
            from ..search.least_loss import spell_least_loss

            out.print(f"\n{spell_least_loss(least)}")
        return
    out.print()
    out.print(_grid("", list(scores.values())))
    if skipped:
        out.print(f"\nNot measured: {', '.join(skipped)}.")
    out.print("\n--all prints every metric that can be measured, and says why others cannot be.")


def bound_beside(release: Release, roles: Roles, scores: dict[str, tuple[Metric, Score]]) -> Score | None:
    """What no release with classes as large as these loses less than, where the loss was measured."""
    from ..core.errors import SfumatoError
    from ..metrics.utility.iloss import iloss
    from ..search.least_loss import least_loss_beside

    if str(iloss) not in scores:
        return None
    try:
        return least_loss_beside(release, roles)
    except SfumatoError:
        return None


def usual_scores(release: Release, roles: Roles) -> tuple[dict[str, tuple[Metric, Score]], dict[str, str]]:
    """The first six usual scores about privacy and the first four about utility; and what cannot be measured, with the reason."""
    from .. import metrics
    from ..core.errors import Unavailable
    from ..inspect.default_metrics import usual_metrics

    scores: dict[str, tuple[Metric, Score]] = {}
    skipped: dict[str, str] = {}
    room = {"privacy": 6, "utility": 4}
    for each in usual_metrics(roles):
        if not room[each.card.about]:
            continue
        try:
            scores |= metrics.measure(release, roles, [each])[0]
            room[each.card.about] -= 1
        except Unavailable as reason:
            skipped[str(each)] = str(reason)
    return scores, skipped


def pairs(scores: PerValue) -> dict[str, Any]:
    """The values as they are spelled, what each has in a class that lacks it, and class, value and number of all others."""
    from ..study.study import number

    return {
        "values": scores.column.texts,
        "absent": [number(x) for x in scores.absent],
        "class": scores.member.tolist(),
        "value": scores.value.tolist(),
        "number": [number(x) for x in scores.number],
    }


def show(scores: dict[str, tuple[Metric, Score]], skipped: dict[str, str]) -> None:
    """Scores under their headings, each value with its sentence."""
    from ..metrics import by_family

    out = o.console()
    for heading, family in by_family(scores).items():
        out.print()
        out.print(_grid(heading, list(family.values())))
    if skipped:
        out.print("\nNot measured", style="bold")
        for name, reason in skipped.items():
            out.print(f"{name}: {reason}", style="dim")


def _grid(heading: str, rows: list[tuple[Metric, Score]]) -> Grid:
    from rich.table import Table as Grid

    grid = Grid(
        title=heading or None, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0), expand=False
    )
    grid.add_column("metric", no_wrap=True)
    grid.add_column("value", justify="right", no_wrap=True)
    grid.add_column("unit")
    grid.add_column("in words", ratio=1)
    for metric, score in rows:
        value = f"{score.value:,.0f}" if float(score.value).is_integer() else f"{score.value:.4g}"
        if score.exactness != "exact":  # a bound is on the careful side: the truth is no worse
            bound = "≤" if metric.card.better == "lower" else "≥"
            value = f"{bound if score.exactness == 'bound' else '≈'} {value}"
        where = f" Columns: {score.where}." if score.where else ""
        grid.add_row(str(metric), value, score.unit, metric.sentence(score.value) + where)
    return grid
