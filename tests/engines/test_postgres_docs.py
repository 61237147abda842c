"""What docs/engines.md says of a server is what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.core import database_address, spark_address
from sfumato.core.table_formats import DATABASE
from sfumato.engines import spark, spark_kinds, spark_sink
from sfumato.engines.postgres_kinds import kind_of
from sfumato.engines.postgres_server import MOST_BYTES
from sfumato.engines.remote import MOST_CELLS, RemoteTable

TEXT = (Path(__file__).parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "said",
    [
        f"{MOST_CELLS:,} cells",
        f"more than {MOST_BYTES >> 30} GB",
        f"beyond {DATABASE.longest_name} bytes",
        *database_address._PARAMETERS,
        *sorted(database_address._SECRETS)[:1],
        f"up to {spark._MOST_SENT:,}",
        spark_address.TOKEN,
        f"file `{spark_sink.MARK}`",
    ],
)
def test_limits_and_parameters_are_told(said: str) -> None:
    assert said in TEXT


def test_what_is_refused_is_refused() -> None:
    assert not RemoteTable.ordered
    assert "stand in no order" in TEXT
    assert [
        kind_of(name, name, "b") for name in ("json", "jsonb", "_int4", "bytea", "int4range", "point", "money")
    ] == [None] * 7
    refused = ("array<int>", "map<string,int>", "struct<a:int>", "binary", "variant", "interval day to second")
    assert [spark_kinds.kind_of(name) for name in refused] == [None] * 6
