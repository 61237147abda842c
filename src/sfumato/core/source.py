"""What may be given where a table is wanted: a table of an engine, or anything that the default engine reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from .plugins import hung
from .table import Table


class ArrowStream(Protocol):
    """A frame that hands over its rows as Arrow does: of pandas, polars, Arrow, a DuckDB relation, a release."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, by the Arrow PyCapsule interface."""


class LazyFrame(Protocol):
    """A query of polars that has not run yet."""

    def collect_schema(self) -> Any:
        """Its columns."""


Source = Table | ArrowStream | LazyFrame | Path | str
"""A frame that is used more than once is better read once, by `sfumato.read`: a table remembers its counts."""


def as_table(source: Source) -> Table:
    """The table itself, or what the default engine reads."""
    if isinstance(source, Table):
        return source
    (engine,) = hung("sfumato.engines")
    table: Table = engine.read(source)
    return table
