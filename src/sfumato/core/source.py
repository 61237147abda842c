"""What may be given where a table is wanted: a table of an engine, or anything that the default engine reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from .people import one_row_a_person
from .plugins import hung
from .roles import Roles
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


def as_table(source: Source, roles: Roles | None = None) -> Table:
    """The table itself, or what the default engine reads; one row a person where the roles say so."""
    if not isinstance(source, Table):
        (engine,) = hung("sfumato.engines")
        source = engine.read(source)
        assert isinstance(source, Table)
    return source if roles is None else one_row_a_person(source, roles)
