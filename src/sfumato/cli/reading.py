"""How a verb reads tables and releases: the options for that, and the object that it gets in their place."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ..core.addresses import place_name
from ..core.noun import dataclass
from .terminal import tell

if TYPE_CHECKING:
    from ..core.release import Release
    from ..core.roles import Roles
    from ..core.table import Table


@dataclass(frozen=True)
class Reading:
    """How tables are to be read: what was given of the options that every verb with a table has."""

    quiet: bool
    memory: str | None
    options: Mapping[str, Any]

    @property
    def arguments(self) -> tuple[str, ...]:
        """What was given, as the command line writes it: so that a report can say how to read the table again."""
        words: list[str] = []
        # texts first, then switches, then what can be repeated
        options = sorted(self.options.items(), key=lambda o: (isinstance(o[1], list), isinstance(o[1], bool)))
        for name, value in options:
            option = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{option}" if value else f"--no-{option}")
                continue
            for each in value if isinstance(value, list) else [value]:
                words += [f"--{option}", str(each)]
        return tuple(words)

    def open(self, path: Path, roles: Roles | None = None, *, stated: bool = False) -> Table:
        """Open the table of these roles and say what was detected; where it is to be read as `stated`, by fixed rules beside.

        One row a person, where the roles make one of each person's; of a table that is read as stated, whoever asked for that does it.
        """
        from ..core.people import one_row_a_person
        from ..core.stated_reading import ALL
        from ..engines import read

        table = self._opened(lambda options: read(path, stated=stated, roles=roles, **options))
        for name, _ in () if roles is None else roles.missing:
            if roles is not None and name != ALL:
                roles.check_column(name, table.columns, where=table.name, kind="[reading] missing")
        table = self._announced(path, table)
        return table if roles is None or stated else one_row_a_person(table, roles)

    def beside(self, path: Path, roles: Roles) -> Table:
        """Open another table about the same people: what means missing means it there, too."""
        from ..engines import read

        return self._announced(path, self._opened(lambda options: read(path, roles=roles.elsewhere, **options)))

    def _released(self, path: Path, roles: Roles) -> Table:
        from ..engines import read

        return self._announced(path, self._opened(lambda options: read(path, roles=roles.of_release, **options)))

    def _opened(self, read: Callable[[dict[str, Any]], Table]) -> Table:
        if self.memory is not None:
            from ..engines.duckdb import configure

            configure(memory=self.memory)
        options = dict(self.options)
        if "delimiter" in options:
            options["delimiter"] = options["delimiter"].replace("\\t", "\t")
        return read(options)

    def _announced(self, path: Path, table: Table) -> Table:
        if not self.quiet:
            for note in table.notes:
                tell(f"{place_name(path)}: {note}")
        return table

    def release(
        self,
        path: Path,
        roles: Roles,
        original: Table | None,
        *,
        leave: Iterable[str] = (),
        neutralise_formulas: bool = False,
    ) -> Table:
        """Open a release; what NA and NULL of other tools were read as is told, quiet or not, since the numbers hang on it.

        Columns to `leave` are noisy: what they lack says nothing.
        """
        from ..engines.missing_codes import recognise

        table, left = self.as_before(self._released(path, roles), neutralise_formulas), set(leave)
        recognised = recognise(
            table,
            original,
            quasi=[name for name in roles.quasi if name not in left],
            others=[name for name in (*roles.sensitive, *roles.insensitive) if name not in left],
        )
        for note in recognised.notes[len(table.notes) :]:
            tell(f"{place_name(path)}: {note}")
        return recognised

    def as_before(self, table: Table, neutralise_formulas: bool) -> Table:
        """A table that was written with formulas neutralised, as it was before."""
        if not neutralise_formulas:
            return table
        from ..engines.formula_escapes import plain

        return plain(table)


@dataclass(frozen=True)
class ReleaseReading(Reading):
    """How a release is to be read, too: what was published beside it, and which of its columns were perturbed."""

    companion: list[str] | None
    joined_by: str | None
    perturbed: list[str] | None

    def released(
        self,
        path: Path,
        roles: Roles,
        *,
        original: Path | None = None,
        neutralise_formulas: bool = False,
        **more: Any,
    ) -> Release:
        """A release with its original and its companions."""
        from ..core.errors import InputError
        from ..core.release import Release

        before = self.open(original, roles) if original else None
        perturbed = frozenset(self.perturbed or ())
        if self.companion and self.joined_by is None:
            raise InputError("--companion needs --joined-by, the column of groups that both files have.")
        return Release(
            table=self.release(path, roles, before, leave=perturbed, neutralise_formulas=neutralise_formulas),
            original=before,
            companions=self._companions(roles, neutralise_formulas),
            joined_by=self.joined_by,
            perturbed=perturbed,
            **more,
        )

    def _companions(self, roles: Roles, neutralise_formulas: bool) -> dict[str, Table]:
        """Companions from NAME=FILE."""
        from ..core.errors import InputError

        tables: dict[str, Table] = {}
        for text in self.companion or []:
            name, sign, file = (part.strip() for part in text.partition("="))
            if not sign or not name or not file:
                raise InputError(f"--companion {text}: write NAME=FILE, for example sensitive=release.sensitive.csv.")
            if name in tables:
                raise InputError(f"--companion {text}: that name was given already.")
            tables[name] = self.as_before(self._released(Path(file), roles), neutralise_formulas)
        return tables


def _option(kind: Any, *names: str, panel: str, help: str, metavar: str | None = None, least: int | None = None) -> Any:
    return Annotated[kind, typer.Option(*names, help=help, rich_help_panel=panel, metavar=metavar, min=least)]


_table = functools.partial(_option, panel="Reading tables (detected unless given)")
_release = functools.partial(_option, panel="Releases with companion files or perturbed columns")
_RELEASE_OPTIONS: dict[str, Any] = {
    "companion": _release(
        list[str] | None,
        help="A file published beside the release, such as sensitive=release.sensitive.csv (Anatomy). Repeatable.",
        metavar="NAME=FILE",
    ),
    "joined_by": _release(
        str | None,
        help="The column of groups that joins the release to its companions, or within which --perturbed sensitive columns "
        "were permuted. Sensitive columns are then measured by group.",
        metavar="COLUMN",
    ),
    "perturbed": _release(
        list[str] | None,
        help="A column that was changed by noise, by swapping or at random. Classes are then not counted. Repeatable.",
        metavar="COLUMN",
    ),
}
_TABLE_OPTIONS: dict[str, Any] = {
    "delimiter": _table(str | None, help="Field delimiter of a CSV file."),
    "quote": _table(str | None, help="Quote character of a CSV file."),
    "encoding": _table(str | None, help="Encoding of a CSV file."),
    "header": _table(bool | None, "--header/--no-header", help="Whether the first line names the columns."),
    "missing": _table(list[str] | None, help="A text that means missing, such as '?'. Repeatable."),
    "dates": _table(
        str | None,
        help="What comes first in dates such as 03/04/1980: day-first or month-first. 'text' reads dates as text.",
    ),
    "decimal": _table(
        str | None,
        help="What the comma means in numbers such as 1,234: comma (decimals) or point (thousands). 'text' reads numbers as text.",
    ),
    "sheet": _table(str | None, help="Sheet of an Excel file."),
    "header_row": _table(
        str | None, help="The row (or line) that names the columns, such as 3, or two rows such as 3-4.", metavar="ROW"
    ),
    "skip": _table(int | None, help="Rows (or lines) above the table to leave out.", metavar="ROWS", least=0),
    "range": _table(str | None, help="The cells of the table in an Excel sheet, such as A3:F200.", metavar="CELLS"),
    "totals": _table(
        bool | None,
        "--totals/--no-totals",
        help="Whether totals are left out: the last row, or rows with the sums of those above.",
    ),
    "labels": _table(
        str | None,
        help="Columns of an SPSS or Stata file to read as the labels of their codes, with commas between, or none.",
        metavar="COLUMNS",
    ),
    "query": _table(str | None, help="A SELECT over the tables of a database."),
    "memory": _table(str | None, help="Memory limit of the engine, such as 4GB. Beyond it, the engine uses the disk."),
}


def reads(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of its parameter `reading`, which gets one object with all of them."""
    hints = get_type_hints(verb, include_extras=True)
    kind = hints["reading"]
    beside = _RELEASE_OPTIONS if issubclass(kind, ReleaseReading) else {}
    own = [
        p.replace(annotation=hints[p.name]) for p in inspect.signature(verb).parameters.values() if p.name != "reading"
    ]
    options = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=option)
        for name, option in (beside | _TABLE_OPTIONS).items()
    ]

    @functools.wraps(verb)
    def with_reading(**given: Any) -> None:
        memory, own = given.pop("memory"), {name: given.pop(name) for name in beside}
        table = {name: given.pop(name) for name in _TABLE_OPTIONS if name != "memory"}
        stated = {name: value for name, value in table.items() if value is not None and value != []}
        verb(reading=kind(quiet=given.get("json", False), memory=memory, options=stated, **own), **given)

    with_reading.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
    with_reading.__annotations__ = {p.name: p.annotation for p in (*own, *options)}
    del with_reading.__wrapped__  # else the signature of the verb itself is looked at
    return with_reading
