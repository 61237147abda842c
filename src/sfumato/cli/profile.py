"""`sfumato profile`: what in a table is risky, and a roles file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..profile.table import Profile


@o.reads
def run(
    input: o.Input,
    write_roles: Annotated[
        Path | None, typer.Option(help="Write the suggested roles to this TOML file, to edit.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, max=6, help="Look at combinations of up to this many columns.")] = 3,
    quasi: Annotated[
        list[str] | None,
        typer.Option(help="Look at these columns instead of the suggested quasi-identifiers. Repeatable."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the roles file.")] = False,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Look at a raw table: what each column is, which role suits it and why, and which combinations single people out.

    No value of the table is printed. The suggestions are a start: you know better than any program what an adversary may know.
    """
    from ..core.errors import InputError
    from ..core.files import write_whole
    from ..profile.table import profile

    if write_roles is not None and write_roles.exists() and not force:
        raise InputError(f"{write_roles}: already there; remove it, name another file, or pass --force.")
    table = reading.open(input, quiet=json)
    with o.progress(f"profile {input}"):
        found = profile(table, most=most, quasi=quasi or None)
    if write_roles is not None:
        write_whole(write_roles, found.toml())
    if json:
        o.dump({**found.to_dict(), "roles_file": None if write_roles is None else str(write_roles)})
        return
    show(found)
    if write_roles is not None:
        typer.echo(f"\nSuggested roles: {write_roles}. Read and correct them before you go on.")


NUMBERS = ("distinct", "missing", "alone", "share", "bits", "alone by it only", "alone without it", "it adds")


def show(found: Profile, most: int = 12) -> None:
    """The profile as three tables."""
    from rich.table import Table as Grid

    content = found.to_dict()
    out = o.console()
    out.print(f"{content['table']}: {content['rows']:,} rows, {len(content['columns'])} columns", style="bold")

    def grid(title: str, *headings: str) -> Grid:
        cells = Grid(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
        for heading in headings:
            cells.add_column(heading, justify="right" if heading in NUMBERS else "left", overflow="fold")
        return cells

    cells = grid("\nColumns", "column", "kind", "distinct", "missing", "suggested role", "because")
    for column in content["columns"]:
        about = "" if column.get("exactness", "exact") == "exact" else "about "
        distinct, gaps = f"{about}{column['distinct']:,}", f"{column['missing']:,}"
        cells.add_row(column["name"], column["kind"], distinct, gaps, column["role"], column["reason"])
    out.print(cells)
    if content["combinations"]:
        cells = grid("\nWhich combinations single rows out, worst first", "columns", "alone", "share")
        for combination in content["combinations"][:most]:
            cells.add_row(
                ", ".join(combination["columns"]),
                f"{combination['unique_rows']:,}",
                f"{100 * combination['share']:.1f}%",
            )
        out.print(cells)
    if content["adds"]:
        together = content["together"]
        out.print(
            f"\nOn all {len(together['columns'])} suggested quasi-identifiers together {together['unique_rows']:,} rows "
            f"({100 * together['share']:.1f}%) are alone.",
            style="bold",
        )
        cells = grid("\nWhat each column adds", "column", "bits", "alone by it only", "alone without it", "it adds")
        for row in content["adds"]:
            bits = "" if row["entropy_bits"] is None else f"{row['entropy_bits']:.2f}"
            cells.add_row(
                row["column"], bits, f"{row['unique_alone']:,}", f"{row['unique_without']:,}", f"{row['adds']:,}"
            )
        out.print(cells)
    for note in content["notes"]:
        out.print(f"Note: {note}")
