"""The best release of every set of quasi-identifiers: `sfumato search --subsets`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..core.metric import Requirement
    from ..core.roles import Roles
    from ..core.table import Table
    from ..search.choice import QidRelease, QuasiChoice


def search_subsets(
    table: Table,
    roles: Roles,
    *,
    require: list[Requirement],
    minimise: str | None,
    suppression: float,
    quasi: list[str] | None,
    max_columns: int | None,
    metrics: list[str] | None,
    population: Table | None,
    most: int,
    json: bool,
) -> None:
    """Find the best release of each set, and print the sets; exit 1 if none can meet the requirements."""
    from ..search.choice import qid_choice

    with o.progress("every set of quasi-identifiers") as bar:
        choice = qid_choice(
            table,
            roles,
            candidates=quasi,
            require=require,
            minimise=minimise or "loss",
            suppression=suppression,
            metrics=metrics,
            max_columns=max_columns,
            population=population,
            progress=lambda share: bar(share, ""),
        )
    if json:
        o.dump({"input": table.name, **choice.to_dict()})
    else:
        _show(choice, most)
    if not any(release.feasible for release in choice.releases):
        raise typer.Exit(1)


def _show(choice: QuasiChoice, most: int) -> None:
    """The sets as a table, the frontier marked, and what stands out."""
    from rich.table import Table as Grid

    out = o.console()
    required = " and ".join(map(str, choice.require)) or "nothing is required"
    out.print(f"{len(choice.releases):,} sets of {len(choice.candidates)} candidates; {required}", style="bold")
    made = sorted((r for r in choice.releases if r.feasible), key=lambda r: (r.loss_all, len(r.columns)))
    by = next((str(m) for m in choice.metrics if m.card.name.endswith("leakage")), None)
    by = by or next((str(m) for m in choice.metrics if m.card.about == "privacy"), None)
    marked = {release.columns for release in choice.frontier(by)} if by is not None else set()
    grid = Grid(box=None, padding=(0, 2, 0, 0))
    grid.add_column("columns and levels", overflow="fold", min_width=40)
    for heading in ("loss", "loss of\nall", "sup-\npressed", "classes"):
        grid.add_column(heading, justify="right")
    for m in choice.metrics:
        grid.add_column(str(m).replace("_", "\n"), justify="right")
    grid.add_column("")
    for release in made[:most]:
        scores = [_number(release.scores[str(m)].value) for m in choice.metrics]
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
        out.print(f"{len(made) - most:,} more sets are listed with --most {len(made)} or --json.")
    if marked:
        out.print(f"Frontier: no other set has both less {by} and less {choice.minimise} over all candidates.")
    if len(made) < len(choice.releases):
        out.print(f"{len(choice.releases) - len(made):,} sets have no release that meets the requirements.")
    proof = (
        "Each release is proved to be the best of its set"
        if choice.why is None
        else f"Each release is the best found for its set, without proof: {choice.why}"
    )
    out.print(
        f"{proof}; {choice.checked:,} of {choice.nodes:,} generalizations were checked. "
        f"The loss is {choice.minimise} over the columns of the set. In the loss of all, a column outside the set counts as lost."
    )


def _levels(release: QidRelease) -> str:
    assert release.levels is not None
    parts = [f"{name} {level}" if name in release.released else f"{name} *" for name, level in release.levels.items()]
    return ", ".join(parts)


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
