"""Counting with PostgreSQL, where the table is: statements go there, counts come back as Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..core.database_address import DatabaseAddress
from ..core.errors import InputError, hint
from ..core.noun import dataclass
from ..core.roles import Roles
from .dialect import check_names
from .duckdb import literal, name_of
from .postgres_kinds import TEXT, kind_of
from .postgres_server import Server, server
from .server_table import Kind, ServerTable, missing_in, refuse_options

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
    refuse_options(address, options)
    codes = missing_in(missing, roles)
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
class PostgresTable(ServerTable):
    """Rows that a SELECT gives in PostgreSQL."""

    text_kind: ClassVar[Kind] = TEXT
    text_type: ClassVar[str] = "text"
    by_bytes: ClassVar[str] = '{} COLLATE "C"'

    @staticmethod
    def constant(value: str | float) -> str:
        """A number as a literal of text is read as one."""
        return literal(str(value))

    def dealt(self, by: Sequence[str], parts: int) -> str:
        """By hashtextextended."""
        told = " || ".join(
            f"COALESCE(length({text}) || ':' || {text}, '-')"
            for text in (f"({self._of('value', c)})::text" for c in by)
        )
        return f"(hashtextextended({told}, 0) & 1073741823) % {parts}"

    def hashed(self) -> tuple[str, Sequence[str]]:
        """MD5, summed in four parts."""
        cells = [f"encode(float8send({self._of('value', c)}), 'hex')" if self._kind(c).number == "float" else f"({self._of('value', c)})::text" for c in self.columns]  # fmt: skip
        row = " || ".join(f"COALESCE(octet_length({cell}) || ':' || {cell}, '-')" for cell in cells)
        sums = [f"COALESCE(sum(('x' || substr(h, {at}, 8))::bit(32)::bigint), 0)::text" for at in (1, 9, 17, 25)]
        return f"md5({row})", sums
