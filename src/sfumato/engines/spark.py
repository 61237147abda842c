"""Counting with Spark, where the table is: statements go there by Spark Connect, counts come back as Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.roles import Roles
from ..core.spark_address import SparkAddress, quoted
from .dialect import check_names
from .server_table import Kind, ServerTable, missing_in, refuse_options
from .spark_kinds import TEXT, kind_of
from .spark_server import SparkServer, server

_MOST_SENT = 2_000_000
"""Replacements of which every worker gets a copy; more are joined by sorting both sides."""


def open_table(address: SparkAddress, *, missing: Any = (), roles: Roles | None = None, **options: Any) -> SparkTable:
    """The table or folder of an address. Its types say what its values are, so that nothing is guessed; what means missing may be said."""
    refuse_options(address, options)
    codes = missing_in(missing, roles)
    table = described(server(address), address)
    return table.without(codes) if codes else table


def described(session: SparkServer, address: SparkAddress, folder: str = "") -> SparkTable:
    """The table of an address, perhaps as long as it stands in another folder, with the kinds of its columns."""
    with session.asked_about(address.name):
        if address.table:
            source = ".".join(quoted(part) for part in address.table)
        else:
            source = (
                session.new_name()
            )  # a view that lists its files now: whatever is counted later is of the same ones
            place = text_literal(folder or address.folder)
            session.run(f"CREATE TEMPORARY VIEW {source} USING parquet OPTIONS (path {place})")
        described_columns = session.rows(f"DESCRIBE QUERY SELECT * FROM {source}")
    kinds, columns = [], []
    for column, type_name, *_ in described_columns:
        kind = kind_of(type_name)
        if kind is None:
            plain = type_name.partition("<")[0]
            raise InputError(
                f"{address.name}: column {column!r} holds {plain} values; bring plain values only, in a view without it."
            )
        kinds.append(kind)
        columns.append(column)
    check_names(tuple(columns), address.name)
    chosen = ", ".join(f"{quoted(column)} AS c{i}" for i, column in enumerate(columns))
    return SparkTable(
        address.name, tuple(columns), f"SELECT {chosen} FROM {source}", tuple(kinds), session, opened=address
    )


def text_literal(text: str) -> str:
    """A text in the SQL of Spark."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@dataclass(frozen=True, eq=False)
class SparkTable(ServerTable):
    """Rows that a SELECT gives in Spark."""

    text_kind: ClassVar[Kind] = TEXT
    text_type: ClassVar[str] = "string"

    @staticmethod
    def constant(value: str | float) -> str:
        """A number as a double."""
        return text_literal(value) if isinstance(value, str) else f"double('{value!r}')"

    def dealt(self, by: Sequence[str], parts: int) -> str:
        """By xxHash64 of the tuple."""
        cells = ", ".join(f"COALESCE(CAST({self._of('value', c)} AS string), '')" for c in by)
        return f"pmod(xxhash64({cells}), {parts})"

    def hashed(self) -> tuple[str, Sequence[str]]:
        """MD5, summed in four parts."""
        cells = [f"CAST({self._of('value', c)} AS string)" for c in self.columns]
        row = " || ".join(f"COALESCE(octet_length({cell}) || ':' || {cell}, '-')" for cell in cells)
        number = "CAST(conv(substr(h, {}, 8), 16, 10) AS decimal(20, 0))"
        sums = [f"CAST(COALESCE(sum({number.format(at)}), 0) AS string) AS h{at}" for at in (1, 9, 17, 25)]
        return f"md5({row})", sums

    def joining(self, rows: int) -> str:
        """Else it sorts the table by texts, to join it with a few thousand replacements."""
        return "/*+ BROADCAST(m) */ " if rows <= _MOST_SENT else ""
