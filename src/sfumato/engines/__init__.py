"""Where counting happens: one file per engine, each with the same few primitives (core/table.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.addresses import address_of
from ..core.spark_address import SparkAddress
from ..core.table import Table


def read(source: Any, **options: Any) -> Table:
    """Open a table: a file (core.table_formats lists what is known), a database, an Arrow, pandas or polars table or a DuckDB relation, all
    with the default engine; or a table of a PostgreSQL or Spark Connect server by its address, which is counted there.

    Options: delimiter, quote, encoding, header, names, missing (texts that mean missing), sheet, labels (columns of SPSS or Stata that
    are read as the labels of their codes), query, and for dates and numbers
    whose values do not settle how they are spelled, dates ("day-first", "month-first", "text") and decimal ("comma", "point", "text").
    """
    address = address_of(source) if isinstance(source, str | Path) else None
    if address is not None:
        from . import postgres, spark

        options.pop("stated", None)  # nothing is ever guessed of such a table
        if isinstance(address, SparkAddress):
            return spark.open_table(address, **options)
        return postgres.open_table(address, **options)
    from . import sources

    return sources.read(Path(source) if isinstance(source, str) else source, **options)
