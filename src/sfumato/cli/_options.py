"""Options that several verbs share, and how they read tables and print."""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ..core.noun import dataclass
from .completion import metric_names

if TYPE_CHECKING:
    from rich.console import Console

    from ..core.metric import Requirement
    from ..core.release import Release
    from ..core.roles import Roles
    from ..core.table import Table

Input = Annotated[
    Path, typer.Argument(metavar="INPUT", help="CSV, Parquet, Excel or Arrow file, or a DuckDB or SQLite database.")
]
OriginalFile = Annotated[Path, typer.Argument(metavar="ORIGINAL", help="The table that was sanitized.")]
ReleaseFile = Annotated[Path, typer.Argument(metavar="RELEASE", help="The published file.")]
RolesFile = Annotated[
    Path, typer.Option("--roles", metavar="ROLES", help="The roles file (TOML); `sfumato profile` writes one.")
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="TEXT",
        help="A requirement, for example 'k_anonymity >= 5'. May be repeated.",
        autocompletion=metric_names,
    ),
]
Companions = Annotated[
    list[str] | None,
    typer.Option(
        "--companion",
        metavar="NAME=FILE",
        help="A file published beside the release, such as sensitive=release.sensitive.csv (Anatomy). Repeatable.",
    ),
]
Pair = Annotated[str, typer.Option(help="How rows belong together: position, key:COLUMN or none.")]
JoinedBy = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of groups that joins the release and its companions, or within which --perturbed sensitive columns were "
        "permuted: what is asked of sensitive columns is then asked of groups.",
    ),
]
Perturbed = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A column that was changed by noise, swapping or at random: classes are then not counted. Repeatable.",
    ),
]
Waive = Annotated[
    list[str] | None,
    typer.Option(
        "--waive",
        metavar="'COLUMN: REASON'",
        help="Let a column out although something was found in it; the reason stands in every document. Repeatable.",
    ),
]
NeutraliseFormulas = Annotated[
    bool,
    typer.Option(
        "--neutralise-formulas",
        help="Write cells that a spreadsheet would run as formulas with an apostrophe before them; the note says how to undo it.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@dataclass(frozen=True)
class Reading:
    """How tables are to be read: the options that every verb with a table has."""

    delimiter: str | None
    quote: str | None
    encoding: str | None
    header: bool | None
    missing: list[str] | None
    dates: str | None
    decimal: str | None
    sheet: str | None
    query: str | None
    memory: str | None

    @property
    def arguments(self) -> tuple[str, ...]:
        """What was given, as the command line writes it: so that a report can say how to read the table again."""
        words: list[str] = []
        for name in ("delimiter", "quote", "encoding", "dates", "decimal", "sheet", "query"):
            if getattr(self, name) is not None:
                words += [f"--{name}", getattr(self, name)]
        if self.header is not None:
            words.append("--header" if self.header else "--no-header")
        for text in self.missing or []:
            words += ["--missing", text]
        return tuple(words)

    def open(self, path: Path, *, stated: Roles | None = None, quiet: bool = False) -> Table:
        """Open a table and say what was detected; by what is `stated` there and here, and fixed rules, for differential privacy."""
        from ..engines import read

        if self.memory is not None:
            from ..engines.duckdb import configure

            configure(memory=self.memory)
        options: dict[str, Any] = {
            "delimiter": self.delimiter and self.delimiter.replace("\\t", "\t"),
            "quote": self.quote,
        }
        for name in ("encoding", "header", "missing", "dates", "decimal", "sheet", "query"):
            options[name] = getattr(self, name)
        options = {key: value for key, value in options.items() if value is not None and value != []}
        table = (
            read(path, **options) if stated is None else read(path, stated=True, **{**dict(stated.reading), **options})
        )
        if not quiet:
            for note in table.notes:
                tell(f"{path}: {note}")
        return table

    def release(
        self,
        path: Path,
        roles: Roles,
        original: Table | None,
        *,
        leave: Iterable[str] = (),
        quiet: bool = False,
        neutralise_formulas: bool = False,
    ) -> Table:
        """Open a release; what NA and NULL of other tools were read as is told, quiet or not, since the numbers hang on it.

        Columns to `leave` are noisy: what they lack says nothing.
        """
        from ..engines.missing_codes import recognise

        table, left = self.as_before(self.open(path, quiet=quiet), neutralise_formulas), set(leave)
        found = recognise(
            table,
            original,
            quasi=[name for name in roles.quasi if name not in left],
            others=[name for name in (*roles.sensitive, *roles.insensitive) if name not in left],
        )
        for note in found.notes[len(table.notes) :]:
            tell(f"{path}: {note}")
        return found

    def as_before(self, table: Table, neutralise_formulas: bool) -> Table:
        """A table that was written with formulas neutralised, as it was before."""
        if not neutralise_formulas:
            return table
        from ..engines.formula_escapes import plain

        return plain(table)


def _reading(help: str, *names: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel="Reading tables (detected unless given)")


_READING: dict[str, Any] = {
    "delimiter": Annotated[str | None, _reading("Field delimiter of a CSV file.")],
    "quote": Annotated[str | None, _reading("Quote character of a CSV file.")],
    "encoding": Annotated[str | None, _reading("Encoding of a CSV file.")],
    "header": Annotated[bool | None, _reading("Whether the first line names the columns.", "--header/--no-header")],
    "missing": Annotated[list[str] | None, _reading("A text that means missing, such as '?'. May be repeated.")],
    "dates": Annotated[
        str | None,
        _reading(
            "Which part of dates such as 03/04/1980 is first, if the values do not tell: day-first, month-first; or text."
        ),
    ],
    "decimal": Annotated[
        str | None,
        _reading(
            "What a comma in numbers such as 1,234 means, if they do not tell: comma (decimal), point (thousands); or text."
        ),
    ],
    "sheet": Annotated[str | None, _reading("Sheet of an Excel file.")],
    "query": Annotated[str | None, _reading("SELECT over the tables of a database.")],
    "memory": Annotated[str | None, _reading("Memory limit of the engine, such as 4GB; it spills beyond.")],
}


def reads(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the reading options: in its place, its parameter `reading` gets one object with all of them."""
    hints = get_type_hints(verb, include_extras=True)
    own = [
        p.replace(annotation=hints[p.name]) for p in inspect.signature(verb).parameters.values() if p.name != "reading"
    ]
    options = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=kind)
        for name, kind in _READING.items()
    ]

    @functools.wraps(verb)
    def with_reading(**given: Any) -> None:
        verb(reading=Reading(**{name: given.pop(name) for name in _READING}), **given)

    with_reading.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
    with_reading.__annotations__ = {p.name: p.annotation for p in (*own, *options)}
    del with_reading.__wrapped__  # else the signature of the verb itself is looked at
    return with_reading


def released(
    path: Path,
    roles: Roles,
    reading: Reading,
    *,
    original: Path | None = None,
    companion: list[str] | None = None,
    joined_by: str | None = None,
    perturbed: list[str] | None = None,
    quiet: bool = False,
    neutralise_formulas: bool = False,
    **more: Any,
) -> Release:
    """A release from the options that all verbs share which look at one."""
    from ..core.release import Release

    before = reading.open(original, quiet=quiet) if original else None
    return Release(
        table=reading.release(
            path, roles, before, leave=perturbed or (), quiet=quiet, neutralise_formulas=neutralise_formulas
        ),
        original=before,
        companions=_companions(companion, reading, quiet=quiet, neutralise_formulas=neutralise_formulas),
        joined_by=_joined_by(joined_by, companion),
        perturbed=frozenset(perturbed or ()),
        **more,
    )


def _companions(
    texts: list[str] | None, reading: Reading, *, quiet: bool = False, neutralise_formulas: bool = False
) -> dict[str, Table]:
    """Companions from NAME=FILE."""
    from ..core.errors import InputError

    found = {}
    for text in texts or []:
        name, sign, file = text.partition("=")
        if not sign or not name.strip() or not file.strip():
            raise InputError(f"--companion {text}: write NAME=FILE, for example sensitive=release.sensitive.csv.")
        if name.strip() in found:
            raise InputError(f"--companion {text}: that name was given already.")
        found[name.strip()] = reading.as_before(reading.open(Path(file.strip()), quiet=quiet), neutralise_formulas)
    return found


def _joined_by(column: str | None, companions: list[str] | None) -> str | None:
    """The column that joins; companions without one say nothing of a person."""
    from ..core.errors import InputError

    if companions and column is None:
        raise InputError("--companion needs --joined-by, the column of groups that both files have.")
    return column


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


after_interruption: list[str] = []
"""What a user should know whose interruption ends the run; the command line says it."""


@contextmanager
def keeping(folder: Path | None, *, shared: bool = False) -> Iterator[None]:
    """A part of a run whose results are kept in a folder: who interrupts it, or sees it fail, is told that they are.

    A folder that this run made is removed again, and those above it, if nothing of worth came to lie there. A `shared` one holds
    results of other runs, too, so that only what is new is this one's.
    """
    from ..core.errors import SfumatoError

    if folder is None:
        yield
        return
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    before = {path.name for path in folder.glob("*")}
    try:
        yield
    except BaseException as error:
        kept = _kept(folder)
        if isinstance(error, KeyboardInterrupt) and (kept - before if shared else kept):
            after_interruption.append(f"what was computed is kept in {folder}, and the same command goes on from there")
        elif isinstance(error, SfumatoError) and kept - before:
            error.args = (f"{error} What was measured is kept in {folder}.",)
        _clear(folder, made)
        raise


def _kept(folder: Path) -> set[str]:
    """The files of a folder that keep a result; that something cannot be made is none."""
    from ..core.seal import unsealed

    found = {path.name for path in folder.glob("*.npz")}
    for path in folder.glob("*.json"):
        try:
            entry = unsealed(path.read_bytes())
            content = {} if entry is None else json.loads(entry)
        except (OSError, ValueError):
            continue
        if not (isinstance(content, dict) and content.get("failure")):
            found.add(path.name)
    return found


def _clear(folder: Path, made: list[Path]) -> None:
    """Remove what this run made and has nothing of worth in it; a folder that is not empty stays."""
    if folder in made and folder.is_dir() and not _kept(folder):
        for path in folder.glob("*.json"):
            path.unlink(missing_ok=True)
    for each in made:
        try:
            each.rmdir()
        except OSError:
            return


@contextmanager
def progress(title: str) -> Iterator[Callable[[float, str], None]]:
    """A bar on standard error that is told the share done; nothing where standard error is not a terminal."""
    if not sys.stderr.isatty():  # nobody looks: what draws the bar need not be loaded
        yield lambda share, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(title, total=1.0)

        def done(share: float, text: str) -> None:
            bar.update(task, completed=share, description=text or title)

        yield done
