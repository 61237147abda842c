"""`sfumato compare`: candidates on a risk-utility map, with a report."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..study.study import Result


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
    risk: Annotated[str, typer.Option(help="The privacy metric of the map's risk axis.")] = "prosecutor_risk",
    utility: Annotated[str, typer.Option(help="The utility metric of the map's other axis.")] = "iloss",
    seed: Annotated[int | None, typer.Option(help="Repeat the same random choices.")] = None,
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
    from ..study.study import GRID, SPLIT_GRID, Candidate, Study, grid

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
        arguments=reading.arguments,
    )
    with o.progress("comparing") as bar:
        result = study.run(seed=seed, progress=lambda done, name: bar(done / (len(study.candidates) + 1), name))
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
    from ..core.errors import InputError
    from ..core.files import write_whole
    from ..report import page

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made or is no folder ({type(error).__name__}).") from None
    page.write(result, folder / "report.html")
    write_whole(folder / "report.json", json_.dumps(o.finite(result.to_dict()), indent=2, ensure_ascii=False) + "\n")


def show(result: Result) -> None:
    """The candidates as a table, and the recommendation."""
    from rich.table import Table as Grid

    study = result.study
    out = o.console()
    cells = Grid(box=None, padding=(0, 2, 0, 0))
    cells.add_column("candidate")
    for metric in (study.risk, study.utility):
        cells.add_column(f"{metric}\n({metric.card.better} is better)", justify="right")
    cells.add_column("")
    for i, point in enumerate(result.points):
        if point.failure:
            cells.add_row(point.candidate.name, "", "", f"not made: {point.failure}")
            continue
        marks = []
        if i in result.frontier:
            marks.append("frontier")
        if i == result.knee:
            marks.append("knee")
        marks += [f"misses {verdict.requirement}" for verdict in point.verdicts if not verdict.met]
        if i == result.recommended[0]:
            marks.append("recommended")
        cells.add_row(
            point.candidate.name,
            *(f"{point.value(metric):.4g}" for metric in (study.risk, study.utility)),
            ", ".join(marks),
        )
    out.print(cells)
    chosen, why = result.recommended
    out.print()
    if chosen is not None:
        out.print(f"Recommended: {result.points[chosen].candidate.name}", style="bold")
    out.print(why)
