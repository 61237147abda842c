"""Compare the best releases of every set of quasi-identifiers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..search.choice import QidRelease, QuasiChoice


@o.reads
def run(
    input: o.Input,
    roles: o.RolesFile,
    require: o.Require = None,
    minimise: Annotated[
        str,
        typer.Option(
            metavar="LOSS", help="What the best release of a set has least of, such as loss or 'loss + 0.1*height'."
        ),
    ] = "loss",
    suppression: Annotated[
        float,
        typer.Option(help="The share of the rows that may be left out to meet the requirements, 0 to 1."),
    ] = 0.0,
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME,...", help="The candidates; the quasi-identifiers of the roles if not said."),
    ] = None,
    max_columns: Annotated[
        int | None, typer.Option(min=0, help="The most columns of a set; needed with more than 12 candidates.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="What to measure of every set's best release; risks and leakages if none is named. Repeatable."
        ),
    ] = None,
    population: Annotated[
        Path | None, typer.Option(help="A table of the population, for metrics that look at it.")
    ] = None,
    most: Annotated[
        int, typer.Option(min=1, help="How many sets to list, the least loss over all candidates first.")
    ] = 20,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """The best release of every set of quasi-identifiers, and what it gives away (Afifi et al. 2018, Fig. 4 and its open problem).

    For each set the generalization of least loss that meets every requirement is found, the columns outside the set
    left out. The table is read once. Sets that no other beats on a leakage and on the loss over all candidates are marked.
    Exits 1 if no set can meet the requirements.
    """
    from ..core.roles import Roles
    from ..search.choice import qid_choice

    wanted = o.requirements(require)
    named = Roles.read(roles)
    table = reading.open(input, quiet=json)
    with o.progress(f"choose {input}") as bar:
        found = qid_choice(
            table,
            named,
            candidates=None if columns is None else _names(columns, table.columns),
            require=wanted,
            minimise=minimise,
            suppression=suppression,
            metrics=metric,
            max_columns=max_columns,
            population=None if population is None else reading.open(population, quiet=json),
            progress=lambda share: bar(share, ""),
        )
    if json:
        o.dump({"input": str(input), **found.to_dict()})
    else:
        _show(found, most)
    if not any(release.feasible for release in found.releases):
        raise typer.Exit(1)


def _names(text: str, known: tuple[str, ...]) -> list[str]:
    """Names between commas; a column that has a comma in its own name may be given alone."""
    return [text] if text in known else [name.strip() for name in text.split(",") if name.strip()]


def _show(found: QuasiChoice, most: int) -> None:
    """The sets as a table, the frontier marked, and what stands out."""
    from rich.table import Table as Grid

    out = o.console()
    asked = " and ".join(map(str, found.require)) or "nothing is required"
    out.print(f"{len(found.releases):,} sets of {len(found.candidates)} candidates; {asked}", style="bold")
    made = sorted((r for r in found.releases if r.feasible), key=lambda r: (r.loss_all, len(r.columns)))
    by = next((str(m) for m in found.metrics if m.card.name.endswith("leakage")), None)
    by = by or next((str(m) for m in found.metrics if m.card.about == "privacy"), None)
    marked = {release.columns for release in found.frontier(by)} if by is not None else set()
    grid = Grid(box=None, padding=(0, 2, 0, 0))
    grid.add_column("columns and levels", overflow="fold", min_width=40)
    for heading in ("loss", "loss of\nall", "sup-\npressed", "classes"):
        grid.add_column(heading, justify="right")
    for m in found.metrics:
        grid.add_column(str(m).replace("_", "\n"), justify="right")
    grid.add_column("")
    for release in made[:most]:
        scores = [_number(release.scores[str(m)].value) for m in found.metrics]
        assert release.loss is not None
        assert release.loss_all is not None
        grid.add_row(
            _levels(release),
            _number(release.loss),
            _number(release.loss_all),
            f"{release.suppressed:,}",
            f"{release.classes:,}",
            *scores,
            "frontier" if release.columns in marked else "",
        )
    out.print(grid)
    if len(made) > most:
        out.print(f"{len(made) - most:,} sets more with --most {len(made)} or --json.")
    if marked:
        out.print(f"Frontier: no other set has both less {by} and less {found.minimise} over all candidates.")
    if len(made) < len(found.releases):
        out.print(f"{len(found.releases) - len(made):,} sets have no release that meets what is required.")
    proof = (
        "Each is proved the best of its set"
        if found.why is None
        else f"Each is the best found of its set, not proved: {found.why}"
    )
    out.print(
        f"{proof}; {found.checked:,} of {found.nodes:,} generalizations had to be looked at. "
        f"The loss is {found.minimise} over the columns of the set; over all candidates, what is left out is lost."
    )


def _levels(release: QidRelease) -> str:
    assert release.levels is not None
    parts = [f"{name} {level}" if name in release.released else f"{name} *" for name, level in release.levels.items()]
    return ", ".join(parts)


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
