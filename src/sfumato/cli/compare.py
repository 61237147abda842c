"""Compare candidates on a risk-utility map, and recommend one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o
from .study import tell_free

if TYPE_CHECKING:
    from ..study.study import Result

SPELLED = 8
"""Shortened names that are also spelled out on the terminal; more of them are in the report."""


@o.reads
def run(
    input: o.Input,
    roles: o.RolesFile,
    out: Annotated[Path, typer.Option(help="Folder for report.html and report.json.")],
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            help="A mechanism with parameters, such as 'mondrian k=5 require=\"t_closeness[equal] <= 0.3\"'. Repeatable; "
            "a default grid if none is given."
        ),
    ] = None,
    release: Annotated[
        list[Path] | None, typer.Option(help="A release made elsewhere, as a further candidate. Repeatable.")
    ] = None,
    require: o.Require = None,
    waive: o.Waive = None,
    risk: Annotated[str, typer.Option(help="The privacy metric of the map's risk axis.")] = "prosecutor_risk",
    utility: Annotated[str, typer.Option(help="The utility metric of the map's other axis.")] = "iloss",
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="A metric to measure besides the axes; repeatable. Everything that can be asked if none is given."
        ),
    ] = None,
    refine: Annotated[
        int, typer.Option(min=0, help="How often to look around the best, with the same mechanisms, for a better one.")
    ] = 0,
    cache: Annotated[
        Path | None, typer.Option(help="Folder where scores are kept by content, for the next run.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeat the same random choices.")] = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Make candidates, measure each, find the frontier and its knee, and recommend one.

    Writes one self-contained page, report.html, and report.json with the same numbers. No release is written: the report ends
    with the command that makes and verifies the recommended one. Exits 1 if requirements were given and no candidate meets them.
    """
    from .. import metrics
    from ..core.release import Release
    from ..core.roles import Roles
    from ..core.waivers import read_waivers
    from ..report import vega
    from ..study.study import GRID, SPLIT_GRID, Candidate, Study, grid

    vega.check()
    named = Roles.read(roles)
    table = reading.open(input, quiet=json)
    texts = candidate or ([] if release else [*GRID, *(SPLIT_GRID if named.sensitive else ())])
    elsewhere = [
        Candidate(str(path), release=Release(table=reading.release(path, named, table, quiet=json), original=table))
        for path in release or []
    ]
    study = Study(
        table=table,
        roles=named,
        candidates=(*grid(texts), *elsewhere),
        risk=metrics.metric(risk),
        utility=metrics.metric(utility),
        require=tuple(o.requirements(require)),
        measures=None if not measure else tuple(metrics.metric(text) for text in measure),
        arguments=reading.arguments,
        waive=read_waivers(waive or [], table.columns),
    )
    tell_free(study)
    with o.keeping(cache), o.progress("comparing") as bar:
        result = study.run(
            seed=seed,
            cache=cache,
            workers=workers,
            refine=refine,
            progress=lambda done, name: bar(min(1.0, done / (len(study.candidates) + 1)), name),
        )
        report(result, out)
    if json:
        o.dump({**result.to_dict(), "report": str(out / "report.html")})
    else:
        show(result)
        typer.echo(f"\nReport: {out / 'report.html'}")
    if study.require and result.recommended[0] is None:
        raise typer.Exit(1)


def report(result: Result, folder: Path) -> None:
    """Write report.html and report.json."""
    from ..report.documents import write_all

    write_all(result, folder, formats=("html",), only=("report",), numbers=o.finite(result.to_dict()))


def show(result: Result, most: int | None = None) -> None:
    """The candidates as a table, what meets the limits first and the more useful before the less, and the recommendation."""
    from rich.table import Table as Grid

    from ..study.inference import leaves

    study = result.study
    out = o.console()
    cells = Grid(box=None, padding=(0, 2, 0, 0))
    cells.add_column("candidate")
    for metric in (study.risk, study.utility):
        cells.add_column(f"{metric}\n({metric.card.better} is\nbetter)", justify="right")
    cells.add_column("")
    order = list(result.order)
    chosen = result.recommended[0]
    if most is not None and chosen is not None and chosen in order[most:]:
        order.remove(chosen)
        order.insert(most - 1, chosen)
    for i in order[:most]:
        point = result.points[i]
        if point.failure:
            cells.add_row(result.names[i], "", "", f"not made: {point.failure}")
            continue
        marks = []
        if i in result.frontier:
            marks.append("frontier")
        if i == result.knee:
            marks.append("knee")
        marks += [f"misses {text}" for text in point.misses]
        if i == result.recommended[0]:
            marks.append("recommended")
        cells.add_row(
            result.names[i],
            *(f"{point.value(metric):.4g}" if point.has(metric) else "–" for metric in (study.risk, study.utility)),
            ", ".join(marks),
        )
    out.print(cells)
    if most is not None and len(order) > most:
        out.print(f"{len(order) - most} more in the report.")
    long = [i for i in order[:most] if result.names[i] != result.points[i].candidate.name]
    if len(long) > SPELLED:
        out.print("\nNames are shortened to what differs; the report and --json have them in full.")
    elif long:
        out.print("\nIn full:")
        for i in long:
            out.print(f"  {result.names[i]}: {result.points[i].candidate.name}", soft_wrap=True)
    why = result.recommended[1]
    out.print()
    if chosen is not None:
        free = leaves(result)
        out.print(
            f"Recommended: {result.points[chosen].candidate.name}{'; but ' * bool(free)}{free}",
            style="bold",
            soft_wrap=True,
        )
    out.print(why)
    if chosen is not None:
        point = result.points[chosen]
        for metric in dict.fromkeys([study.risk, study.utility, *(v.requirement.metric for v in point.verdicts)]):
            if point.has(metric):
                out.print(f"{metric}: {metric.sentence(point.value(metric))}")
