"""Tables that a server counts: the statements that every such engine is asked, in the few words that differ.

Every SELECT of a table names its columns c0, c1, ..., so that no name of the owner's meets a keyword, a limit of length or a quote.
Statements say what PostgreSQL and Spark both read in one way; where they differ, an engine says it by a method of its own, or by the
`Kind` of a column. Orders name where NULL stands, and texts are compared by their bytes.
"""

from __future__ import annotations

import hashlib
import math
import weakref
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core.addresses import Address
from ..core.arrow import floats, numpy, strings, take
from ..core.column import encode, number_of, text_of
from ..core.counts import Counts
from ..core.errors import InputError
from ..core.memory import remembered
from ..core.noun import dataclass
from ..core.roles import Roles
from ..core.stated_reading import MissingCodes, codes_in, missing_codes
from ..core.table import Recoding, Table
from .remote import RemoteTable

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""Days from 1970 to the years 1 and 9999, which Python has."""
_DAY = 86_400_000_000


class Session(Protocol):
    """The connection to a server, in which tables of ours live until they are let go."""

    def fetch(self, sql: str) -> pa.Table:
        """The answer to a SELECT, refused where it is larger than this machine should hold."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """A small answer as plain values."""

    def bring(self, table: pa.Table) -> str:
        """A table of ours on the server, for this session alone. Its name there."""

    def hold(self, sql: str) -> str:
        """The rows of a SELECT in a table of this session. Its name."""

    def drop_later(self, table: str) -> None:
        """Let go of a table of this session, when the server is next asked something."""


@dataclass(frozen=True)
class Kind:
    """SQL over a value `{}`: what rows are grouped and ordered by, what is fetched of a group, missing as NULL, and what it is compared by, without NULL."""

    compared: str
    key: str = "{}"
    ordered: str = "{}"
    fetched: str = "{}"
    value: str = "{}"
    arrow: pa.DataType | None = None
    """The type that fetched texts stand for."""
    number: str = ""
    """How a number is compared, "float" or "decimal", so that 1.50 is 1.5."""

    def reads(self, text: str) -> bool:
        """Whether a text can be a value of it."""
        return not self.number or not math.isnan(number_of(text))

    def spelled(self, texts: Sequence[str | None]) -> pa.Array:
        """Values of ours as `compared` says those of the server."""
        if self.number == "float":
            return floats([number_of(text) for text in texts])  # NaN stands for missing, and is equal to itself there
        if self.number == "decimal":
            return strings([_plain(text) for text in texts])
        return strings(["" if text is None else text for text in texts])


def _plain(text: str | None) -> str:
    """A number without an exponent and without zeros behind."""
    try:
        number = Decimal(text or "")
    except InvalidOperation:
        return text or ""
    spelled = f"{number:f}"
    return (spelled.rstrip("0").rstrip(".") if "." in spelled else spelled) if number.is_finite() and number else "0"


@dataclass(frozen=True, eq=False)
class ServerTable(RemoteTable):
    """Rows that a SELECT gives on the server; nothing is read until something is counted or written."""

    text_kind: ClassVar[Kind]
    """The kind of texts of ours."""
    text_type: ClassVar[str]
    """What the engine calls a text."""
    by_bytes: ClassVar[str] = "{}"
    """A text of ours, ordered by its bytes."""

    name: str
    columns: tuple[str, ...]
    sql: str
    kinds: tuple[Kind, ...]
    session: Any = field(repr=False)
    """A `Session`."""
    notes: tuple[str, ...] = ()
    opened: Address | None = field(default=None, repr=False)
    """The table that it is, whole; None for anything made of one."""
    codes: MissingCodes = ()
    """What was read as missing."""
    held: tuple[object, ...] = field(default=(), repr=False)
    """What must last as long as this table: tables of the session that its SELECT reads."""

    # --- what engines say differently

    @staticmethod
    @abstractmethod
    def constant(value: str | float) -> str:
        """A text or a number in SQL, to be compared with `compared` of a kind."""

    @abstractmethod
    def dealt(self, by: Sequence[str], parts: int) -> str:
        """A number below `parts` by a hash of the values of some columns."""

    @abstractmethod
    def hashed(self) -> tuple[str, Sequence[str]]:
        """A hash `h` of a whole row, and sums over it that say what all rows hold, as texts."""

    def joining(self, rows: int) -> str:
        """A hint to the engine for a join with that many replacements."""
        return ""

    def key_text(self, key: str) -> str:
        """A key as a text, so that numbers on one side may be texts on the other."""
        kind = self._kind(key)
        if kind.number != "float":
            return self._of("compared", key)
        value = self._of("value", key)
        texts = (f"CAST(CAST({value} AS bigint) AS {self.text_type})", f"CAST({value} AS {self.text_type})")
        whole = f"CASE WHEN abs({value}) < 1e15 AND {value} = floor({value}) THEN {texts[0]} ELSE {texts[1]} END"
        return self.by_bytes.format(f"COALESCE({whole}, '')")

    def _place(self, column: str) -> int:
        self.require_columns((column,), f"it has {', '.join(self.columns)}")
        return self.columns.index(column)

    def _kind(self, column: str) -> Kind:
        return self.kinds[self._place(column)]

    def _of(self, part: str, column: str, prefix: str = "") -> str:
        """One of the SQL forms of a column's kind."""
        at = self._place(column)
        form: str = getattr(self.kinds[at], part)
        return form.format(f"{prefix}c{at}")

    def _made(
        self,
        columns: Sequence[str],
        sql: str,
        kinds: Sequence[Kind],
        held: Sequence[object] = (),
        notes: Sequence[str] = (),
    ) -> Self:
        together = (*self.held, *held)
        return type(self)(
            self.name, tuple(columns), sql, tuple(kinds), self.session, (*self.notes, *notes), held=together
        )

    def without(self, codes: MissingCodes) -> Self:
        """The same table with some texts read as missing."""
        cells = []
        for i, (column, kind) in enumerate(zip(self.columns, self.kinds, strict=True)):
            texts = [text for text in codes_in(codes, column) if kind.reads(text)]
            spelled = ", ".join(self.constant(value) for value in kind.spelled(texts).to_pylist())
            cell = (
                f"CASE WHEN {kind.compared.format(f'c{i}')} IN ({spelled}) THEN NULL ELSE c{i} END"
                if texts
                else f"c{i}"
            )
            cells.append(f"{cell} AS c{i}")
        sql = f"SELECT {', '.join(cells)} FROM ({self.sql}) t"
        together = (*self.codes, *codes)
        return type(self)(
            self.name, self.columns, sql, self.kinds, self.session, self.notes, self.opened, together, self.held
        )

    @property
    def command_name(self) -> str:
        """Its address without host and user."""
        return self.name if self.opened is None else self.opened.command_name

    # --- counting

    def scan(self, by: Sequence[str]) -> Counts:
        """One GROUP BY."""
        return self._counts(by, f"({self.sql}) t")

    def _counts(self, by: Sequence[str], source: str) -> Counts:
        if not by:
            return Counts((), (), np.array([self.session.rows(f"SELECT count(*) FROM {source}")[0][0]]))
        return Counts.from_arrow(self._grouped(by, source), by, "n")

    def _grouped(self, by: Sequence[str], source: str) -> pa.Table:
        keys = ", ".join(f"{self._of('key', column)} AS k{i}" for i, column in enumerate(by))
        chosen = self._fetched(by, "k")
        groups = ", ".join(str(i + 1) for i in range(len(by)))
        sql = f"SELECT {chosen}, n FROM (SELECT {keys}, count(*) AS n FROM {source} GROUP BY {groups}) g"
        return self._decoded(self.session.fetch(sql), by)

    def _fetched(self, columns: Sequence[str], letter: str) -> str:
        """What is fetched of columns that a SELECT has grouped by, as k0, k1, ... or c0, c1, ..."""
        return ", ".join(
            f"{self._kind(c).fetched.format(f'{letter}{i}')} AS {letter}{i}" for i, c in enumerate(columns)
        )

    def _decoded(self, answer: pa.Table, by: Sequence[str]) -> pa.Table:
        """What was fetched with the types it stands for; days that no calendar here has are refused."""
        for i, column in enumerate(by):
            kind, values = self._kind(column), answer.column(i)
            if kind.arrow is not None:
                answer = answer.set_column(i, answer.field(i).name, values.cast(kind.arrow))
            elif pa.types.is_date32(values.type) or pa.types.is_timestamp(values.type):
                whole, day = (pa.int32(), 1) if pa.types.is_date32(values.type) else (pa.int64(), _DAY)
                ends = pc.min_max(values.cast(whole)).as_py()
                if ends["min"] is not None and not (
                    _FIRST_DAY * day <= ends["min"] and ends["max"] < (_LAST_DAY + 1) * day
                ):
                    raise InputError(
                        f"{self.name}: column {column!r} has dates before the year 1, beyond 9999, or infinity; make a view that reads them as missing."
                    )
        return answer

    def scan_each(self, columns: Sequence[str]) -> Mapping[str, Counts]:
        """All columns in one scan, by GROUPING SETS."""
        columns = list(dict.fromkeys(columns))
        asked = f"SELECT {self._fetched(columns, 'k')}, CAST(s AS bigint) AS s, n FROM ({self._each(columns)}) g"
        answer = self._decoded(self.session.fetch(asked), columns)
        place = numpy(answer.column("s"))
        scanned = {}
        for i, column in enumerate(columns):
            at = pa.array(np.flatnonzero(place == i))
            values, codes = encode(column, answer.column(i).take(at))
            scanned[column] = Counts.of([values], [codes], numpy(answer.column("n").take(at)).astype(np.int64))
        return scanned

    def _each(self, columns: Sequence[str], part: str = "key") -> str:
        """The values of each column alone, `s` which column, `n` its rows."""
        keys = ", ".join(f"{self._of(part, c)} AS k{i}" for i, c in enumerate(columns))
        names = ", ".join(f"k{i}" for i in range(len(columns)))
        sets = ", ".join(f"(k{i})" for i in range(len(columns)))
        which = " + ".join(f"{i} * (1 - GROUPING(k{i}))" for i in range(len(columns)))
        return f"SELECT {names}, {which} AS s, count(*) AS n FROM (SELECT {keys} FROM ({self.sql}) t) v GROUP BY GROUPING SETS ({sets})"

    @remembered
    def distinct(self) -> Mapping[str, tuple[int, int]]:
        """All columns in one scan, counted on the server."""
        any_value = " OR ".join(f"(s = {i} AND k{i} IS NULL)" for i in range(len(self.columns)))
        missing_rows = f"CAST(COALESCE(sum(n) FILTER (WHERE {any_value}), 0) AS bigint) AS missing"
        asked = f"SELECT CAST(s AS bigint) AS s, count(*) AS n, {missing_rows}"
        answer = self.session.rows(f"{asked} FROM ({self._each(self.columns, 'value')}) g GROUP BY s")
        rows = {int(place): (int(values), int(missing)) for place, values, missing in answer}
        return {column: rows.get(i, (0, 0)) for i, column in enumerate(self.columns)}

    def scan_within(self, by: Sequence[str], also: Sequence[str], most: int) -> Counts:
        """Grouped by all of them once; what is too much to hand over is rolled up further by the server."""
        wide = [*by, *also]
        keys = ", ".join(f"{self._of('key', column)} AS c{i}" for i, column in enumerate(wide))
        groups = ", ".join(str(i + 1) for i in range(len(wide)))
        kept = self.session.hold(f"SELECT {keys}, count(*) AS n FROM ({self.sql}) t GROUP BY {groups}")
        try:
            (few,) = self.session.rows(f"SELECT count(*) FROM {kept}")[0]
            chosen = wide if few <= most else list(by)
            if not chosen:
                return self.scan(())
            names = ", ".join(f"c{i}" for i in range(len(chosen)))
            answer = self.session.fetch(
                f"SELECT {self._fetched(chosen, 'c')}, n FROM (SELECT {names}, CAST(sum(n) AS bigint) AS n FROM {kept} GROUP BY {names}) g"
            )
            return Counts.from_arrow(self._decoded(answer, chosen), chosen, "n")
        finally:
            self.session.drop_later(kept)

    @remembered
    def sampled(self, by: Sequence[str], most: int) -> Counts:
        """By a hash of the tuple; two scans, the first to learn how many there are unless that is known."""
        known = self.known(by)
        if (known is not None and len(known) <= most) or self.__dict__.get("_rows", most + 1) <= most:
            return self.count(by)
        _, tuples = self.unique_rows(by)
        parts = -(-tuples // most)
        if parts <= 1:
            return self.count(by)
        return self._counts(by, f"(SELECT * FROM ({self.sql}) t WHERE {self.dealt(by, parts)} = 0) t")

    @remembered
    def unique_rows(self, by: Sequence[str]) -> tuple[int, int]:
        """Counted on the server, so that the distinct tuples need not come here."""
        if not by or self.known(by) is not None:
            return super().unique_rows(by)
        keys = ", ".join(f"{self._of('value', column)} AS k{i}" for i, column in enumerate(by))
        groups = ", ".join(str(i + 1) for i in range(len(by)))
        grouped = f"SELECT {keys}, count(*) AS n FROM ({self.sql}) t GROUP BY {groups}"
        asked = f"SELECT count(*) FILTER (WHERE n = 1) AS alone, count(*) AS tuples FROM ({grouped}) g"
        alone, tuples = self.session.rows(asked)[0]
        return int(alone), int(tuples)

    @remembered
    def first(self, rows: int) -> Mapping[str, list[str | None]]:
        """Some rows: which ones is the server's to choose."""
        chosen = ", ".join(
            f"{kind.fetched.format(kind.key.format(f'c{i}'))} AS c{i}" for i, kind in enumerate(self.kinds)
        )
        answer = self._decoded(
            self.session.fetch(f"SELECT {chosen} FROM ({self.sql}) t LIMIT {int(rows)}"), self.columns
        )
        return {c: [text_of(value) for value in answer.column(i).to_pylist()] for i, c in enumerate(self.columns)}

    def head(self, rows: int) -> Mapping[str, list[str]]:
        """Of some rows."""
        return {c: [text for text in texts if text is not None] for c, texts in self.first(rows).items()}

    def distinct_rows(self) -> pa.Table:
        """One GROUP BY of all columns."""
        answer = self._grouped(self.columns, f"({self.sql}) t")
        return answer.rename_columns([*self.columns, _unlike("rows alike", self.columns)])

    # --- the same rows, otherwise

    def keep(self, columns: Sequence[str]) -> Self:
        """A projection."""
        chosen = ", ".join(f"{self._of('value', column)} AS c{i}" for i, column in enumerate(columns))
        return self._made(columns, f"SELECT {chosen} FROM ({self.sql}) t", [self._kind(column) for column in columns])

    def copied(self, columns: Mapping[str, str]) -> Self:
        """Copies stand last."""
        start = len(self.columns)
        copies = ", ".join(f"c{self._place(of)} AS c{start + i}" for i, of in enumerate(columns.values()))
        kinds = [*self.kinds, *(self._kind(of) for of in columns.values())]
        return self._made((*self.columns, *columns), f"SELECT *, {copies} FROM ({self.sql}) t", kinds)

    def part(self, column: str, *, of: int, at: int) -> Self:
        """By a hash of the value."""
        dealt = f"{self.dealt((column,), int(of))} = {int(at)}"
        return self._made(self.columns, f"SELECT * FROM ({self.sql}) t WHERE {dealt}", self.kinds)

    def recode(self, recoding: Recoding) -> Self:
        """A hash join with the replacements, which are brought to the server, on keys in which missing is a value like any other."""
        width = len(recoding.by)
        arrays = [_spelled(recoding.table.column(i), self._kind(name)) for i, name in enumerate(recoding.by)]
        arrays += [self._texts(recoding.table.column(width + i)) for i in range(len(recoding.to))]
        if recoding.divides:
            arrays.append(recoding.table.column(recoding.table.num_columns - 1).cast(pa.int64()))
        names = [f"m{i}" for i in range(len(arrays))]
        steps = self.session.bring(pa.Table.from_arrays(arrays, names=names))
        new = {self._place(column): f"m{width + i}" for i, column in enumerate(recoding.to) if column in self.columns}
        chosen = ", ".join(f"m.{new[i]} AS c{i}" if i in new else f"t.c{i}" for i in range(len(self.columns)))
        match = " AND ".join(f"{self._of('compared', c, 't.')} = m.m{i}" for i, c in enumerate(recoding.by)) or "true"
        rows, joined = f"({self.sql})", steps
        if recoding.divides:
            # the rows of a tuple are numbered in the order of all their values, never in that of the server
            part = ", ".join(self._of("value", column) for column in recoding.by) or "1"
            order = ", ".join(f"{self._of('ordered', column)} NULLS LAST" for column in self.columns)
            rows = f"(SELECT *, row_number() OVER (PARTITION BY {part} ORDER BY {order}) AS number FROM ({self.sql}) t)"
            keys = ", ".join(names[:width]) or "1"
            rest = ", ".join(f"{self.by_bytes.format(name)} NULLS LAST" for name in names[width:-1]) or "1"
            before = f"PARTITION BY {keys} ORDER BY {rest} ROWS UNBOUNDED PRECEDING"
            joined = f"(SELECT *, sum({names[-1]}) OVER ({before}) AS upto FROM {steps})"
            match += f" AND t.number <= m.upto AND t.number > m.upto - m.{names[-1]}"
        kinds = [self.text_kind if i in new else kind for i, kind in enumerate(self.kinds)]
        hint = self.joining(recoding.table.num_rows)
        sql = f"SELECT {hint}{chosen} FROM {rows} t JOIN {joined} m ON {match}"
        made = self._made(self.columns, sql, kinds, [held := _Held()])
        weakref.finalize(held, self.session.drop_later, steps).atexit = False
        return made

    def _texts(self, values: pa.ChunkedArray) -> pa.Array:
        """New values as texts, missing as NULL."""
        column, codes = encode("", values)
        return take(self.text_kind.spelled([text for text in column.texts if text is not None]), codes)

    def beside(self, original: Table, key: str | None) -> Table:
        """On the server where both are there; else in this process."""
        self.check_order(key)
        if key is None or not isinstance(original, ServerTable) or original.session is not self.session:
            return super().beside(original, key)
        sides = []
        for table in (self, original):
            if table.unique_rows((key,))[0] != table.rows:
                raise InputError(f"{table.name}: column {key!r} is not unique, so rows cannot be paired by it.")
        start = len(self.columns)
        for table, shift in ((self, 0), (original, start)):
            cells = ", ".join(f"{table._of('value', c)} AS c{i + shift}" for i, c in enumerate(table.columns))
            sides.append(f"(SELECT {cells}, {table.key_text(key)} AS key{shift} FROM ({table.sql}) t)")
        columns = [*(f"released.{c}" for c in self.columns), *(f"original.{c}" for c in original.columns)]
        cells = ", ".join(f"c{i}" for i in range(len(columns)))
        sql = f"SELECT {cells} FROM {sides[0]} r JOIN {sides[1]} o ON r.key0 = o.key{start}"
        return self._made(columns, sql, (*self.kinds, *original.kinds), original.held)

    # --- what it is

    def digest(self) -> str:
        """A hash of the content that does not look at the order of rows, computed on the server: sums of hashes of the rows."""
        row, sums = self.hashed()
        sql = f"SELECT count(*) AS n, {', '.join(sums)} FROM (SELECT {row} AS h FROM ({self.sql}) t) hashed"
        said = repr(
            (self.columns, [kind.arrow and str(kind.arrow) for kind in self.kinds], self.codes, self.session.rows(sql))
        )
        return hashlib.sha256(said.encode()).hexdigest()

    def portable(self) -> tuple[str, tuple[tuple[str, Any], ...], str]:
        """The address, from which another process opens the same table; of anything else, its rows in a file."""
        if self.opened is None:
            return self.fetched().portable()
        return self.opened.text, ((("missing", self.codes),) if self.codes else ()), self.name


def refuse_options(address: Address, options: Mapping[str, Any]) -> None:
    """Refuse options of reading a file: the types of a server's table say how it is read."""
    if given := [name for name, value in options.items() if value is not None]:
        raise InputError(
            f"{address.name}: {', '.join(sorted(given))} does not apply to a table of a database, whose types say how it is read; make a view "
            "there for anything else."
        )


def missing_in(missing: Any, roles: Roles | None) -> MissingCodes:
    """What means missing, as said where the table is opened and in its roles."""
    codes = missing_codes(missing or ())
    return codes if roles is None else (*roles.missing, *codes)


class _Held:
    """What a table of the session lasts as long as."""


def _spelled(values: pa.ChunkedArray, kind: Kind) -> pa.Array:
    """Values of a recoding as the server compares them, each distinct one spelled once."""
    column, codes = encode("", values)
    return take(kind.spelled(column.texts), codes)


def _unlike(name: str, columns: Sequence[str]) -> str:
    while name in columns:
        name += "_"
    return name
