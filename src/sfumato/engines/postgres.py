"""Counting with PostgreSQL, where the table is: statements go there, counts come back as Arrow.

Every SELECT of a table names its columns c0, c1, ..., so that no name of the owner's meets a keyword, a limit of 63 bytes or a quote.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core.arrow import numpy, take
from ..core.column import encode, text_of
from ..core.counts import Counts
from ..core.database_address import DatabaseAddress
from ..core.errors import InputError, hint
from ..core.memory import remembered
from ..core.noun import dataclass
from ..core.roles import Roles
from ..core.stated_reading import MissingCodes, codes_in, missing_codes
from ..core.table import Recoding, Table
from .dialect import check_names
from .duckdb import literal, name_of
from .postgres_kinds import TEXT, Kind, kind_of
from .postgres_server import Server, server
from .remote import RemoteTable

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""Days from 1970 to the years 1 and 9999, which Python has."""
_DAY = 86_400_000_000
_RELATION = """
SELECT c.oid::int8, n.nspname::text, c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND {}
"""
_COLUMNS = """
WITH RECURSIVE given AS (
    SELECT a.attnum, a.attname, a.atttypid AS kind, a.atttypmod AS shape FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = {} AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
    SELECT g.attnum, g.attname, t.typbasetype, t.typtypmod FROM given g JOIN pg_catalog.pg_type t ON t.oid = g.kind WHERE t.typtype = 'd'
)
SELECT g.attname::text, t.typname::text, pg_catalog.format_type(g.kind, g.shape), t.typtype::text
FROM given g JOIN pg_catalog.pg_type t ON t.oid = g.kind WHERE t.typtype <> 'd' ORDER BY g.attnum
"""


def open_table(
    address: DatabaseAddress, *, missing: Any = (), roles: Roles | None = None, **options: Any
) -> PostgresTable:
    """The table of an address. Its types say what its values are, so that nothing is guessed; what means missing may be said."""
    if given := [name for name, value in options.items() if value is not None]:
        raise InputError(
            f"{address.name}: {', '.join(sorted(given))} does not apply to a table of a database, whose types say how it is read; make a view "
            "there for anything else."
        )
    codes = missing_codes(missing or ())
    if roles is not None:
        codes = (*roles.missing, *codes)
    session = server(address.server, address.database)
    table = _named(session, address)
    if not codes:
        return table
    return table.without(codes)


def _named(session: Server, address: DatabaseAddress) -> PostgresTable:
    inside = (
        "pg_catalog.pg_table_is_visible(c.oid)" if address.schema is None else f"n.nspname = {literal(address.schema)}"
    )
    found = session.rows(_RELATION.format(f"c.relname = {literal(address.table)} AND {inside}"))
    if not found:
        others = [name for _, _, name in session.rows(_RELATION.format(inside))]
        meant = hint(address.table, others, "name it as schema.table, in lower case unless it was made in quotes.")
        raise InputError(f"{address.name}: no table of that name; {meant}")
    number, schema, name = found[0]
    return staged(session, address, schema, name, number)


def staged(session: Server, address: DatabaseAddress, schema: str, name: str, number: int) -> PostgresTable:
    """A relation of a session, with the kinds of its columns."""
    where = f"{address.database}.{schema}.{name}"
    kinds, columns = [], []
    for column, base, whole, sort in session.rows(_COLUMNS.format(number)):
        kind = kind_of(base, whole, sort)
        if kind is None:
            raise InputError(
                f"{where}: column {column!r} holds {base.lstrip('_')} values; bring plain values only, in a view without it."
            )
        kinds.append(kind)
        columns.append(column)
    check_names(tuple(columns), where)
    if not columns:
        raise InputError(f"{where}: the table has no columns.")
    chosen = ", ".join(f"{name_of(column)} AS c{i}" for i, column in enumerate(columns))
    sql = f"SELECT {chosen} FROM {name_of(schema)}.{name_of(name)}"
    opened = DatabaseAddress(address.database, name, schema, address.authority, address.parameters)
    return PostgresTable(where, tuple(columns), sql, tuple(kinds), session, opened=opened)


@dataclass(frozen=True, eq=False)
class PostgresTable(RemoteTable):
    """Rows that a SELECT gives on the server; nothing is read until something is counted or written."""

    name: str
    columns: tuple[str, ...]
    sql: str
    kinds: tuple[Kind, ...]
    session: Server = field(repr=False)
    notes: tuple[str, ...] = ()
    opened: DatabaseAddress | None = field(default=None, repr=False)
    """The table that it is, whole; None for anything made of one."""
    codes: MissingCodes = ()
    """What was read as missing."""
    held: tuple[object, ...] = field(default=(), repr=False)
    """What must last as long as this table: tables of the session that its SELECT reads."""

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
    ) -> PostgresTable:
        together = (*self.held, *held)
        return PostgresTable(
            self.name, tuple(columns), sql, tuple(kinds), self.session, (*self.notes, *notes), held=together
        )

    def without(self, codes: MissingCodes) -> PostgresTable:
        """The same table with some texts read as missing."""
        cells = []
        for i, (column, kind) in enumerate(zip(self.columns, self.kinds, strict=True)):
            texts = [text for text in codes_in(codes, column) if kind.reads(text)]
            spelled = ", ".join(
                literal(str(value)) for value in kind.spelled(texts).to_pylist()
            )  # a number as a literal is read as one
            cell = (
                f"CASE WHEN {kind.compared.format(f'c{i}')} IN ({spelled}) THEN NULL ELSE c{i} END"
                if texts
                else f"c{i}"
            )
            cells.append(f"{cell} AS c{i}")
        made = self._made(self.columns, f"SELECT {', '.join(cells)} FROM ({self.sql}) t", self.kinds)
        return PostgresTable(
            made.name, made.columns, made.sql, made.kinds, made.session, made.notes, self.opened, (*self.codes, *codes)
        )

    @property
    def command_name(self) -> str:
        """Its address without host and user."""
        at = self.opened
        return self.name if at is None else f"postgresql://.../{at.database}?table={at.schema}.{at.table}"

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
        answer = self.session.fetch(f"SELECT {self._fetched(columns, 'k')}, s::int8, n FROM ({self._each(columns)}) g")
        answer, place = self._decoded(answer, columns), numpy(answer.column("s"))
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
        asked = f"SELECT s::int8, count(*), COALESCE(sum(n) FILTER (WHERE {any_value}), 0)::int8"
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
                f"SELECT {self._fetched(chosen, 'c')}, n FROM (SELECT {names}, sum(n)::int8 AS n FROM {kept} GROUP BY {names}) g"
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
        told = " || ".join(
            f"COALESCE(length({text}) || ':' || {text}, '-')"
            for text in (f"({self._of('value', c)})::text" for c in by)
        )
        return self._counts(
            by, f"(SELECT * FROM ({self.sql}) t WHERE (hashtextextended({told}, 0) & 1073741823) % {parts} = 0) t"
        )

    @remembered
    def unique_rows(self, by: Sequence[str]) -> tuple[int, int]:
        """Counted on the server, so that the distinct tuples need not come here."""
        if not by or self.known(by) is not None:
            return super().unique_rows(by)
        keys = ", ".join(f"{self._of('value', column)} AS k{i}" for i, column in enumerate(by))
        groups = ", ".join(str(i + 1) for i in range(len(by)))
        grouped = f"SELECT {keys}, count(*) AS n FROM ({self.sql}) t GROUP BY {groups}"
        alone, tuples = self.session.rows(f"SELECT count(*) FILTER (WHERE n = 1), count(*) FROM ({grouped}) g")[0]
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

    def keep(self, columns: Sequence[str]) -> PostgresTable:
        """A projection."""
        chosen = ", ".join(f"{self._of('value', column)} AS c{i}" for i, column in enumerate(columns))
        return self._made(columns, f"SELECT {chosen} FROM ({self.sql}) t", [self._kind(column) for column in columns])

    def copied(self, columns: Mapping[str, str]) -> PostgresTable:
        """Copies stand last."""
        start = len(self.columns)
        copies = ", ".join(f"c{self._place(of)} AS c{start + i}" for i, of in enumerate(columns.values()))
        kinds = [*self.kinds, *(self._kind(of) for of in columns.values())]
        return self._made((*self.columns, *columns), f"SELECT *, {copies} FROM ({self.sql}) t", kinds)

    def part(self, column: str, *, of: int, at: int) -> PostgresTable:
        """By a hash of the value as a text."""
        dealt = f"(hashtextextended(COALESCE(({self._of('value', column)})::text, ''), 0) & 1073741823) % {int(of)} = {int(at)}"
        return self._made(self.columns, f"SELECT * FROM ({self.sql}) t WHERE {dealt}", self.kinds)

    def recode(self, recoding: Recoding) -> PostgresTable:
        """A hash join with the replacements, which are brought to the server, on keys in which missing is a value like any other."""
        width = len(recoding.by)
        arrays = [_spelled(recoding.table.column(i), self._kind(name)) for i, name in enumerate(recoding.by)]
        arrays += [_texts(recoding.table.column(width + i)) for i in range(len(recoding.to))]
        if recoding.divides:
            arrays.append(recoding.table.column(recoding.table.num_columns - 1).cast(pa.int64()))
        names = [f"m{i}" for i in range(len(arrays))]
        steps = self.session.bring(pa.Table.from_arrays(arrays, names=names))
        self.session.run(f"ANALYZE {steps}")
        new = {self._place(column): f"m{width + i}" for i, column in enumerate(recoding.to) if column in self.columns}
        chosen = ", ".join(f"m.{new[i]} AS c{i}" if i in new else f"t.c{i}" for i in range(len(self.columns)))
        match = " AND ".join(f"{self._of('compared', c, 't.')} = m.m{i}" for i, c in enumerate(recoding.by)) or "true"
        rows, joined = f"({self.sql})", steps
        if recoding.divides:
            # the rows of a tuple are numbered in the order of all their values, never in that of the server
            part = ", ".join(self._of("value", column) for column in recoding.by) or "1"
            order = ", ".join(self._of("ordered", column) for column in self.columns)
            rows = f"(SELECT *, row_number() OVER (PARTITION BY {part} ORDER BY {order}) AS number FROM ({self.sql}) t)"
            keys = ", ".join(names[:width]) or "1"
            rest = ", ".join(f'{name} COLLATE "C"' for name in names[width:-1]) or "1"
            before = f"PARTITION BY {keys} ORDER BY {rest} ROWS UNBOUNDED PRECEDING"
            joined = f"(SELECT *, sum({names[-1]}) OVER ({before}) AS upto FROM {steps})"
            match += f" AND t.number <= m.upto AND t.number > m.upto - m.{names[-1]}"
        kinds = [TEXT if i in new else kind for i, kind in enumerate(self.kinds)]
        made = self._made(
            self.columns, f"SELECT {chosen} FROM {rows} t JOIN {joined} m ON {match}", kinds, [held := _Held()]
        )
        weakref.finalize(held, self.session.drop_later, steps).atexit = False
        return made

    def beside(self, original: Table, key: str | None) -> Table:
        """On the server where both are there; else in this process."""
        self.check_order(key)
        if key is None or not isinstance(original, PostgresTable) or original.session is not self.session:
            return super().beside(original, key)
        sides = []
        for table in (self, original):
            if table.unique_rows((key,))[0] != table.rows:
                raise InputError(f"{table.name}: column {key!r} is not unique, so rows cannot be paired by it.")
        start = len(self.columns)
        for table, shift in ((self, 0), (original, start)):
            cells = ", ".join(f"{table._of('value', c)} AS c{i + shift}" for i, c in enumerate(table.columns))
            sides.append(f"(SELECT {cells}, {_text_key(table, key)} AS key{shift} FROM ({table.sql}) t)")
        columns = [*(f"released.{c}" for c in self.columns), *(f"original.{c}" for c in original.columns)]
        cells = ", ".join(f"c{i}" for i in range(len(columns)))
        sql = f"SELECT {cells} FROM {sides[0]} r JOIN {sides[1]} o ON r.key0 = o.key{start}"
        return self._made(columns, sql, (*self.kinds, *original.kinds), original.held)

    # --- what it is

    def digest(self) -> str:
        """A hash of the content that does not look at the order of rows, computed on the server: sums of hashes of the rows."""
        cells = [f"encode(float8send({self._of('value', c)}), 'hex')" if self._kind(c).number == "float" else f"({self._of('value', c)})::text" for c in self.columns]  # fmt: skip
        row = " || ".join(f"COALESCE(octet_length({cell}) || ':' || {cell}, '-')" for cell in cells)
        halves = ", ".join(
            f"COALESCE(sum(('x' || substr(h, {at}, 8))::bit(32)::bigint), 0)::text" for at in (1, 9, 17, 25)
        )
        sql = f"SELECT count(*), {halves} FROM (SELECT md5({row}) AS h FROM ({self.sql}) t) hashed"
        said = repr(
            (self.columns, [kind.arrow and str(kind.arrow) for kind in self.kinds], self.codes, self.session.rows(sql))
        )
        return hashlib.sha256(said.encode()).hexdigest()

    def portable(self) -> tuple[str, tuple[tuple[str, Any], ...], str]:
        """The address, from which another process opens the same table; of anything else, its rows in a file."""
        if self.opened is None:
            return self.fetched().portable()
        return self.opened.text, ((("missing", self.codes),) if self.codes else ()), self.name


class _Held:
    """What a table of the session lasts as long as."""


def _text_key(table: PostgresTable, key: str) -> str:
    """A key as a text, so that numbers on one side may be texts on the other."""
    kind = table._kind(key)
    if kind.number != "float":
        return table._of("compared", key)
    value = table._of("value", key)
    whole = f"CASE WHEN abs({value}) < 1e15 AND {value} = trunc({value}) THEN ({value})::bigint::text ELSE ({value})::text END"
    return f"COALESCE({whole}, '') COLLATE \"C\""


def _spelled(values: pa.ChunkedArray, kind: Kind) -> pa.Array:
    """Values of a recoding as the server compares them, each distinct one spelled once."""
    column, codes = encode("", values)
    return take(kind.spelled(column.texts), codes)


def _texts(values: pa.ChunkedArray) -> pa.Array:
    """New values as texts, missing as NULL."""
    column, codes = encode("", values)
    return take(TEXT.spelled([text for text in column.texts if text is not None]), codes)


def _unlike(name: str, columns: Sequence[str]) -> str:
    while name in columns:
        name += "_"
    return name
