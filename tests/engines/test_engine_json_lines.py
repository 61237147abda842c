"""JSON lines, standard input, packed files and addresses."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError

LINES = '{"n": 1, "t": "x", "f": 1.5}\n{"n": 2, "t": ""}\n\n{"t": null}\n{"f": 1.5, "t": "x", "n": 1}\n'
ROWS = [(("1", "x", "1.5"), 2), (("2", None, None), 1), ((None, None, None), 1)]


def written(path: Path, text: str = LINES) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "no ending", "t.txt"])
def test_json_lines(tmp_path: Path, rows_of: Any, name: str) -> None:
    table = sf.read(written(tmp_path / name))
    assert table.columns == ("n", "t", "f")
    assert rows_of(table) == ROWS


def test_texts_stay_as_they_stand(tmp_path: Path) -> None:
    rows = [
        {"zip": "00501", "mixed": 1, "yes": True, "id": 2**63, "a/b~c": "1"},
        {"zip": "12", "mixed": "one", "yes": False},
    ]
    table = sf.read(written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows))))
    assert {name: table.count((name,)).columns[0].texts for name in table.columns} == {
        "zip": ["00501", "12"],
        "mixed": ["1", "one"],
        "yes": ["false", "true"],
        "id": [str(2**63), None],
        "a/b~c": ["1", None],
    }


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"a": 1, "b": [1]}\n', "'b'"),
        ('{"a": 1, "b": {"c": "CANARY"}}\n', "'b'"),
        ('{"a": "CANARY"}\n{"a": 2\n', "JSON"),
        ('{"a": "CANARY"}\n[1]\n', "object"),
        ('{"a": "CANARY", "A": 1}\n', "upper and lower"),
        ("", "empty"),
        ("\n\n", "empty"),
    ],
)
def test_what_is_no_table(tmp_path: Path, refusal: Any, canary: str, text: str, word: str) -> None:
    path = written(tmp_path / "t.jsonl", text.replace("CANARY", canary))
    refusal(InputError, lambda: sf.read(path), path, word)


def test_json_that_is_no_json_lines(tmp_path: Path, refusal: Any) -> None:
    refusal(InputError, lambda: sf.read(written(tmp_path / "t.json", '[\n{"a": 1}\n]\n')), "JSON lines")


def test_nothing_is_stated_of_json_lines(tmp_path: Path, refusal: Any) -> None:
    refusal(InputError, lambda: sf.read(written(tmp_path / "t.jsonl"), stated=True), "header")


# --- standard input, packed files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [LINES, "n,t,f\n1,x,1.5\n2,,\n,,\n1,x,1.5\n"], ids=["json lines", "csv"])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, rows_of: Any, text: str) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)
    table = sf.read("-")
    assert table.name == "-"
    assert rows_of(table) == ROWS
    assert table.rows == 4


def test_a_terminal_is_no_table(monkeypatch: pytest.MonkeyPatch, refusal: Any) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(), isatty=lambda: True))
    refusal(InputError, lambda: sf.read("-"), "standard input", "pipe")


@pytest.mark.parametrize("pack", ["gzip", "zstd"])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_packed(tmp_path: Path, rows_of: Any, pack: str, name: str) -> None:
    text = LINES if name == "t.jsonl" else "n,t,f\n1,x,1.5\n2,,\n,,\n1,x,1.5\n"
    path = tmp_path / (name + {"gzip": ".gz", "zstd": ".zst"}[pack])
    with pa.output_stream(str(path), compression=pack) as file:
        file.write(text.encode())
    table = sf.read(path)
    assert table.name == str(path)
    assert rows_of(table) == ROWS


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"BZh9", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c"])
def test_packed_in_other_ways(tmp_path: Path, refusal: Any, start: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(start + b"\0" * 50)
    refusal(InputError, lambda: sf.read(tmp_path / "t.csv"), "unpack")


def test_a_damaged_zstd_file(tmp_path: Path, refusal: Any) -> None:
    (tmp_path / "t.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 50)
    refusal(InputError, lambda: sf.read(tmp_path / "t.csv.zst"), tmp_path / "t.csv.zst")


# --- frames and addresses ----------------------------------------------------------------------------------------------


def test_a_lazy_frame_of_polars(rows_of: Any) -> None:
    assert rows_of(sf.read(pl.LazyFrame({"n": [1, 2, None, 1]}))) == [(("1",), 2), (("2",), 1), ((None,), 1)]


@pytest.mark.parametrize(
    "address",
    [
        "https://user:Quixotic7741@host/people.csv?token=Quixotic7741",
        "s3://bucket/Quixotic7741.parquet",
        "gs://bucket/Quixotic7741.parquet",
        "postgresql://user:Quixotic7741@host/db",
    ],
)
def test_an_address_is_refused_and_not_told(refusal: Any, address: str) -> None:
    text = refusal(InputError, lambda: sf.read(address), address.split(":")[0], "address")
    assert "host" not in text
    assert "bucket" not in text
    text = refusal(InputError, lambda: sf.read(Path(address)), "address")
    assert "host" not in text
