"""Options that several verbs share, and how they read tables and print."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from ..core.metric import Requirement
    from ..core.table import Table

_READING = "Reading tables (detected unless given)"

Input = Annotated[
    Path, typer.Argument(metavar="INPUT", help="CSV, Parquet, Excel or Arrow file, or a DuckDB or SQLite database.")
]
ReleaseFile = Annotated[Path, typer.Argument(metavar="RELEASE", help="The published file.")]
RolesFile = Annotated[
    Path, typer.Option("--roles", metavar="ROLES", help="The roles file (TOML); `sfumato profile` writes one.")
]
Require = Annotated[
    list[str] | None,
    typer.Option("--require", metavar="TEXT", help="A requirement, for example 'k_anonymity >= 5'. May be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Delimiter = Annotated[str | None, typer.Option(help="Field delimiter of a CSV file.", rich_help_panel=_READING)]
Quote = Annotated[str | None, typer.Option(help="Quote character of a CSV file.", rich_help_panel=_READING)]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a CSV file.", rich_help_panel=_READING)]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line names the columns.", rich_help_panel=_READING),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="A text that means missing, such as '?'. May be repeated.", rich_help_panel=_READING),
]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel file.", rich_help_panel=_READING)]
Query = Annotated[str | None, typer.Option(help="SELECT over the tables of a database.", rich_help_panel=_READING)]
Memory = Annotated[
    str | None,
    typer.Option(help="Memory limit of the engine, such as 4GB; it spills beyond.", rich_help_panel=_READING),
]


def open_table(path: Path, *, memory: str | None = None, quiet: bool = False, **options: Any) -> Table:
    """Open a table and say what was detected."""
    from ..engines import read

    if memory is not None:
        from ..engines.duckdb import configure

        configure(memory=memory)
    if isinstance(options.get("delimiter"), str):
        options["delimiter"] = options["delimiter"].replace("\\t", "\t")
    table = read(path, **{key: value for key, value in options.items() if value is not None and value != []})
    if not quiet:
        for note in table.notes:
            tell(f"{path}: {note}")
    return table


def requirements(texts: list[str] | None) -> list[Requirement]:
    """Requirements from their texts."""
    from ..metrics import require

    return [require(text) for text in texts or []]


def tell(text: str) -> None:
    """A note for the user, on standard error."""
    typer.echo(text, err=True)


def dump(content: dict[str, Any]) -> None:
    """JSON on standard output; infinities and NaN, which JSON lacks, as null."""
    typer.echo(json.dumps(finite(content), indent=2, ensure_ascii=False, allow_nan=False))


def finite(value: Any) -> Any:
    """The same content with every number that JSON cannot hold replaced by null."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def console() -> Console:
    """The terminal for results; plain and unbroken when it is not one."""
    from rich.console import Console

    out = Console(highlight=False, markup=False)  # metric texts have brackets, which are not markup
    return out if out.is_terminal else Console(highlight=False, markup=False, width=160)


@contextmanager
def progress(title: str) -> Iterator[Callable[[float, str], None]]:
    """A bar on standard error that is told the share done; nothing where standard error is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    err = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    ) as bar:
        task = bar.add_task(title, total=1.0)

        def done(share: float, text: str) -> None:
            bar.update(task, completed=share, description=text or title)

        yield done
