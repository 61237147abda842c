"""Compare two releases of one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..core.release import Release
    from ..core.roles import Roles
    from ..core.table import Table
    from ..inspect.versus import Versus


@o.reads
def run(
    input: o.Input,
    a: Annotated[str, typer.Argument(metavar="A", help="A release file, or a mechanism such as 'mondrian k=5'.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other.")],
    roles: o.RolesFile,
    pair: Annotated[
        str, typer.Option(help="How rows of a file belong to the original's: none, position or key:COLUMN.")
    ] = "none",
    everything: Annotated[
        bool, typer.Option("--everything", help="By every measure that both can be asked, not only the usual dozen.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeat the same random choices.")] = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Compare two releases of one table: over classes, over columns, person by person, and by the usual measures.

    Which is better as a whole? The one that is better by some measure and worse by none, if there is such a one; else it says by
    which each is better.
    """
    from ..core.roles import Roles
    from ..inspect.versus import versus

    named = Roles.read(roles)
    table = reading.open(input, quiet=json)
    with o.progress("comparing") as bar:
        both = []
        for i, text in enumerate((a, b)):
            bar(0.3 * i, text)
            both.append(_release(text, table, named, pair, seed, reading, quiet=json))
        bar(0.6, "measuring")
        found = versus(both[0], both[1], named, names=(a, b), everything=everything)
    if json:
        o.dump({"input": str(input), **found.to_dict()})
    else:
        show(found)


def _release(
    text: str, table: Table, roles: Roles, pair: str, seed: int | None, reading: o.Reading, *, quiet: bool
) -> Release:
    import numpy as np

    from ..core.release import Release
    from ..study.candidate import Candidate

    if Path(text).is_file():
        return Release(table=reading.release(Path(text), roles, table, quiet=quiet), original=table, pairing=pair)
    made = Candidate.of(text).mechanism
    assert made is not None
    return made(table, roles, np.random.default_rng(seed or 0))


def show(found: Versus) -> None:
    """Three tables and the sentences."""
    from rich.table import Table as Grid

    from ..study.advice import spell

    out = o.console()
    for title, rows in (("classes", found.classes), ("ILoss by column", found.columns)):
        if rows:
            cells = Grid(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
            cells.add_column("")
            for name in (found.a, found.b):
                cells.add_column(name, justify="right")
            for key, (x, y) in rows.items():
                cells.add_row(key, spell(x), spell(y))
            out.print(cells)
            out.print()
    cells = Grid(title="measures", title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    cells.add_column("")
    for name in (found.a, found.b, "better"):
        cells.add_column(name, justify="right")
    for key, (x, y, side) in found.measures.items():
        cells.add_row(key, spell(x), spell(y), {"a": found.a, "b": found.b, "neither": ""}[side])
    out.print(cells)
    out.print()
    for sentence in found.sentences:
        out.print(sentence)
