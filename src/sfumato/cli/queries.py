"""Compare the answers to counting queries before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import _options as o


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    original: Annotated[Path, typer.Option(help="The original table, which has the true answers.")],
    queries: Annotated[
        Path,
        typer.Option(help='TOML with [[query]] entries: column = ["value", ...] or column = { from = 20, to = 39 }.'),
    ],
    companion: o.Companions = None,
    joined_by: o.JoinedBy = None,
    perturbed: o.Perturbed = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Ask counting queries of a release and of its original, and compare.

    A generalized value counts by the share of what it covers that is asked for (the usual even spread). A query counts the rows that
    meet every line of it; an entry named `name` only names it.
    """
    from ..core.roles import Roles
    from ..inspect.queries import given_queries

    named, asked = Roles.read(roles), _read(queries)
    made = o.released(
        release,
        named,
        reading,
        original=original,
        companion=companion,
        joined_by=joined_by,
        perturbed=perturbed,
        quiet=json,
    )
    found = given_queries(made, named, [query for _, query in asked])
    rows = [
        {"query": name, "actual": int(a), "estimate": float(e), "relative_error": float(r)}
        for (name, _), a, e, r in zip(asked, found.actual, found.estimate, found.error, strict=True)
    ]
    if json:
        o.dump({"release": str(release), "queries": rows, "mean_relative_error": found.mean_error})
        return
    from rich.table import Table as Grid

    grid = Grid(box=None, padding=(0, 2, 0, 0))
    for heading in ("query", "true count", "from the release", "relative error"):
        grid.add_column(heading, justify="left" if heading == "query" else "right")
    for row in rows:
        grid.add_row(str(row["query"]), f"{row['actual']:,}", f"{row['estimate']:,.1f}", f"{row['relative_error']:.3f}")
    out = o.console()
    out.print(grid)
    out.print(f"On average {100 * found.mean_error:.3g}% off.")


def _read(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The queries of a file, each with its name."""
    from ..core.errors import InputError
    from ..core.toml import opened

    content = opened(path, "file of queries", hint="`sfumato queries --help` says what to write into one")
    entries = content.get("query")
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path}: no [[query]] in it; write one for each count.")
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
