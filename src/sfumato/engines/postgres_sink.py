"""A release as tables of a PostgreSQL server: staged, measured and named in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from ..core.arrow import strings
from ..core.column import text_of
from ..core.database_address import DatabaseAddress
from ..core.errors import InputError
from ..core.table import Table
from .duckdb import literal, name_of
from .postgres import PostgresTable, staged
from .postgres_kinds import TEXT
from .postgres_server import server

OURS = "A release, written and verified by Sfumato."
"""What stands beside a table of ours, so that no other one is ever replaced."""
_COLLATED = ' COLLATE pg_catalog."default"'
_TYPES = {
    "bool": "boolean",
    "int8": "int2",
    "int16": "int2",
    "int32": "int4",
    "int64": "int8",
    "float": "float4",
    "double": "float8",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
}


class Staging:
    """Tables that are on the way to their names, in one transaction of their server."""

    def __init__(self, targets: Mapping[str, DatabaseAddress], original: str | None) -> None:
        self.targets = targets
        first = targets[""]
        self.session = server(first.server, first.database)
        self.schema = first.schema or str(self.session.rows("SELECT current_schema()::text")[0][0])
        self.hidden = {part: f"{self.session.new_name()}_staged" for part in targets}
        for target in targets.values():
            if original == f"{target.database}.{self.schema}.{target.table}":
                raise InputError(f"{target.name}: this is the input; write the release somewhere else.")
            self._check_ours(target)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and seen by nobody else until the end."""
        with self.session.transaction():
            yield

    def hidden_names(self) -> dict[str, str]:
        """What a staged table is called in sentences, and what it will be."""
        target = self.targets[""]
        return {
            f"{target.database}.{self.schema}.{hidden}": self.targets[part].name for part, hidden in self.hidden.items()
        }

    def stage(self, part: str, table: Table) -> None:
        """Its rows in the order of all their values, so that nothing of the order they came in is left."""
        place = f"{name_of(self.schema)}.{name_of(self.hidden[part])}"
        if isinstance(table, PostgresTable) and table.session is self.session:
            cells = ", ".join(
                f"{kind.value.format(f'c{i}')}{_COLLATED if kind is TEXT else ''} AS {name_of(column)}"
                for i, (column, kind) in enumerate(zip(table.columns, table.kinds, strict=True))
            )
            order = ", ".join(kind.ordered.format(f"c{i}") for i, kind in enumerate(table.kinds))
            self.session.run(f"CREATE TABLE {place} AS SELECT {cells} FROM ({table.sql}) t ORDER BY {order}")
            return
        rows = _plain(table.to_arrow())
        columns = ", ".join(f"{name_of(field.name)} {_type(field.type)}" for field in rows.schema)
        self.session.run(f"CREATE TABLE {place} ({columns})")
        self.session.bring(rows, schema=self.schema, name=self.hidden[part], into=True)

    def table(self, part: str) -> PostgresTable:
        """A staged table, to be measured where it is."""
        self.session.run(f"ANALYZE {name_of(self.schema)}.{name_of(self.hidden[part])}")
        ((number, *_),) = self._found(self.hidden[part])
        return staged(self.session, self.targets[part], self.schema, self.hidden[part], number)

    def rename(self) -> None:
        """Each takes the place of the release that had its name."""
        for part, target in self.targets.items():
            self._check_ours(target)
            name, hidden = name_of(target.table), f"{name_of(self.schema)}.{name_of(self.hidden[part])}"
            self.session.run(f"DROP TABLE IF EXISTS {name_of(self.schema)}.{name}")
            self.session.run(f"ALTER TABLE {hidden} RENAME TO {name}")
            self.session.run(f"COMMENT ON TABLE {name_of(self.schema)}.{name} IS {literal(OURS)}")

    def _check_ours(self, target: DatabaseAddress) -> None:
        """Refuse a name that something else has."""
        found = self._found(target.table)
        if found and found[0][1:] != ("r", OURS):
            raise InputError(
                f"{target.name}: something of that name is there, and it is no release that was written by sfumato; name another table, or drop that one."
            )

    def _found(self, name: str) -> list[tuple[Any, ...]]:
        """Number, kind and comment of what has a name in the schema."""
        return self.session.rows(
            "SELECT c.oid::int8, c.relkind::text, pg_catalog.obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c "
            "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            f"WHERE n.nspname = {literal(self.schema)} AND c.relname = {literal(name)}"
        )


def _type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})"
    return _TYPES.get(str(kind), "text")


def _plain(rows: pa.Table) -> pa.Table:
    """What the server has no type of our own for goes as texts."""
    for i, field in enumerate(rows.schema):
        if _type(field.type) == "text" and not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            texts = strings([text_of(value) for value in rows.column(i).to_pylist()])
            rows = rows.set_column(i, field.name, texts)
    return rows
