"""What was only planned when it was handed over may fail when its rows are asked for: the sentence tells no value."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError

SECRET = "zqsecret"


class _Stream:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise RuntimeError(SECRET)


def _batches() -> Iterator[pa.RecordBatch]:
    yield pa.record_batch({"a": [1]})
    raise RuntimeError(SECRET)


PLANNED: dict[str, Callable[[], Any]] = {
    "lazy frame": lambda: pl.LazyFrame({"a": [SECRET]}).with_columns(pl.col("a").cast(pl.Int64)),
    "relation": lambda: duckdb.connect().sql(f"SELECT CAST(a AS INT) FROM (VALUES ('{SECRET}')) t(a)"),
    "stream": _Stream,
    "batches": lambda: pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), _batches()),
    "large numbers": lambda: pd.DataFrame({"a": [10**40, 2]}),
    "a series": lambda: pd.Series([SECRET]),
}


@pytest.mark.parametrize("kind", PLANNED)
def test_a_failure_is_one_sentence_without_a_value(kind: str) -> None:
    for read in (sf.read, lambda source: sf.Mondrian(k=2)(source, sf.Roles(quasi=("a",)))):
        with pytest.raises(InputError) as caught:
            read(PLANNED[kind]())
        assert SECRET not in "".join(traceback.format_exception(caught.value))
        assert "mixes values" not in str(caught.value)
