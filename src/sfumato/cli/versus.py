"""Compare two releases of one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..inspect.versus import Versus

EXAMPLES = (
    "sfumato versus 'mondrian k=10' 'k_member k=10' --original people.csv --roles roles.toml",
    "sfumato versus release.csv 'mondrian k=5' --original people.csv --roles roles.toml",
)


@o.reads
def run(
    a: Annotated[str, typer.Argument(metavar="A", help="A release file, or a mechanism such as 'mondrian k=5'.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other release file or mechanism.")],
    original: o.NeededOriginal,
    roles: o.RolesFile,
    pair: o.Pair = "none",
    everything: Annotated[
        bool, typer.Option("--all", help="Use every metric that both can be measured by, not only the usual ones.")
    ] = False,
    seed: o.Seed = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """The comparison covers classes, columns, people one by one, and the usual metrics.

    A release is better as a whole if some metric favours it and none favours the other. Otherwise the comparison says which metrics
    favour which.
    """
    from ..core.roles import Roles
    from ..inspect.versus import versus

    named = Roles.read(roles)
    table = reading.open(original, named)
    with o.progress("comparing") as bar:
        both = []
        for i, text in enumerate((a, b)):
            bar(0.3 * i, text)
            both.append(o.candidate(text, table, named, reading, pair=pair, seed=seed))
        bar(0.6, "measuring")
        result = versus(both[0], both[1], named, names=(a, b), everything=everything)
    if json:
        o.dump({"input": str(original), **result.to_dict()})
    else:
        show(result)


def show(result: Versus) -> None:
    """Three tables and the sentences."""
    from ..study.advice import spell

    out = o.console()
    for title, rows in (("classes", result.classes), ("ILoss by column", result.columns)):
        if rows:
            cells = o.grid("", result.a, result.b, title=title)
            for key, (x, y) in rows.items():
                cells.add_row(key, spell(x), spell(y))
            out.print(cells)
            out.print()
    cells = o.grid("", result.a, result.b, "better", title="measures")
    for key, (x, y, side) in result.measures.items():
        cells.add_row(key, spell(x), spell(y), {"a": result.a, "b": result.b, "neither": ""}[side])
    out.print(cells)
    out.print()
    for sentence in result.sentences:
        out.print(sentence)
