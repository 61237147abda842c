"""Compare the answers to counting queries before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _options as o

EXAMPLES = ("sfumato inspect queries release.csv --roles roles.toml --original people.csv --queries queries.toml",)


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    original: o.NeededOriginal,
    queries: Annotated[
        Path,
        typer.Option(metavar="TOML", help="The queries, one [[query]] each."),
    ],
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Count in the release and in its original, and compare the answers.

    A query counts the rows that meet all of its lines. In the file of queries, each key on a line of its own:

        [[query]]  name = "young women"   sex = ["F"]   age = { from = 20, to = 39 }

    A generalized value counts in part: by the share of its values that the query covers.
    """
    from ...core.roles import Roles
    from ...inspect.queries import given_queries

    named, asked = Roles.read(roles), read_queries(queries)
    made = reading.released(release, named, original=original)
    answers = given_queries(made, named, [query for _, query in asked])
    rows = [
        {"query": name, "actual": int(a), "estimate": float(e), "relative_error": float(r)}
        for (name, _), a, e, r in zip(asked, answers.actual, answers.estimate, answers.error, strict=True)
    ]
    if json:
        o.dump({"release": str(release), "queries": rows, "mean_relative_error": answers.mean_error})
        return
    grid = o.grid("query", "true count", "from the release", "relative error")
    for row in rows:
        grid.add_row(str(row["query"]), f"{row['actual']:,}", f"{row['estimate']:,.1f}", f"{row['relative_error']:.3f}")
    out = o.console()
    out.print(grid)
    out.print(f"The answers are {100 * answers.mean_error:.3g}% off on average.")


def read_queries(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The queries of a file, each with its name."""
    from ...core.errors import InputError
    from ...core.toml import opened

    content = opened(path, "file of queries", hint="`sfumato inspect queries --help` shows how to write one")
    entries = content.get("query")
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path}: there is no [[query]] in it; write one for each count.")
    asked = []
    for i, entry in enumerate(entries, 1):
        name = str(entry.pop("name", f"query {i}"))
        lines: dict[str, Any] = {}
        for column, wanted in entry.items():
            if isinstance(wanted, dict) and set(wanted) == {"from", "to"}:
                lines[column] = (wanted["from"], wanted["to"])
            elif isinstance(wanted, list):
                lines[column] = [None if value == "" else str(value) for value in wanted]
            else:
                raise InputError(
                    f"{path}, query {i}: {column} must be a list of values, or {{ from = ..., to = ... }}."
                )
        asked.append((name, lines))
    return asked
