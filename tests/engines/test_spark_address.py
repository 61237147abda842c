"""Addresses of tables behind Spark: none holds a password, none is printed, and each is the same after it was a path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.addresses import address_of, place_name
from sfumato.core.atomic_files import exchange, rename_together
from sfumato.core.errors import InputError
from sfumato.core.leftovers import hidden_beside
from sfumato.core.spark_address import SparkAddress

SECRET = "Quixotic7741"  # the canary that `refusal` looks for


@pytest.mark.parametrize(
    "address",
    [
        f"spark://user:{SECRET}@host/people",
        f"spark://user:{SECRET}/x@host/people",
        f"spark://host/people;token={SECRET}",
        f"spark://host/people?token={SECRET}",
        f"spark://host/people?{SECRET}=1",
        f"spark://host/?parquet=s3a://key:{SECRET}@bucket/people",
        f"spark://host/?parquet=s3a://key:{SECRET}%40bucket/people",
        f"spark://host:{SECRET}/people",
        f"SPARK://host/a.b.c.{SECRET}",
        f"spark://host/a?parquet=/{SECRET}",
        f"spark://host/?parquet={SECRET}",
        f"spark://{SECRET}",
        f"spark://host/{SECRET}.",
        "spark://host:99999/people",
        "spark://host/people?tls=perhaps",
    ],
)
def test_what_is_no_address_is_refused_and_not_told(address: str, refusal: Any) -> None:
    refusal(InputError, lambda: sf.read(address), "spark://")
    refusal(InputError, lambda: sf.read(Path(address)), "spark://")
    release = sf.Release(table=sf.read(pa.table({"age": ["1", "1"]})))
    refusal(
        InputError, lambda: sf.publish(release, sf.Roles(quasi=("age",)), [sf.require("k_anonymity >= 2")], address)
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("spark://host:15002/people", "people"),
        ("spark://anna@host/main.city.people?tls=true", "main.city.people"),
        ("spark://host/`my.schema`.`a%20``b`", "my.schema.a `b"),
        ("spark://[::1]:1/?parquet=/lake/my%20people/", "my people"),
        ("spark://host/?parquet=s3a://bucket/lake/people", "people"),
    ],
)
def test_an_address_survives_being_a_path(text: str, name: str) -> None:
    address = SparkAddress.of(text)
    assert address is not None
    assert address.name == place_name(text) == name
    assert address_of(Path(text)) == address
    assert address_of(Path(address.text)) == address
    assert "anna" not in f"{address!r} {address.name} {address.command_name}"
    assert address.beside("codes").name == f"{name}_codes"


@pytest.mark.parametrize("text", ["people.csv", "spark.csv", "data/spark:", "spark:", "sparkling://host/x"])
def test_what_is_a_file(text: str) -> None:
    assert SparkAddress.of(text) is None


def test_without_the_extra_one_sentence_says_so(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pyspark'] = None; from sfumato.cli import main; main()"
    for words in (["profile", "spark://127.0.0.1:1/people"], ["profile", f"spark://127.0.0.1:1/?parquet={tmp_path}"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "pip install 'sfumato[spark]'" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_program_without_a_file_may_ask_spark() -> None:
    """The client library takes `python -c` for its own tests, and would exit."""
    code = "import sfumato as sf; sf.read('spark://127.0.0.1:1/people')"
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert "InputError: people: no Spark Connect server answers there" in done.stderr


def test_folders_take_each_other_s_place_at_once(tmp_path: Path) -> None:
    """One name shows the old folder or the new one, never none; several go with a journal, and nothing hidden stays."""
    folders = [tmp_path / name for name in ("old", "more")]
    for round_ in range(2):
        moves = []
        for folder in folders:
            hidden = hidden_beside(folder)
            hidden.mkdir()
            (hidden / "rows").write_text(str(round_))
            moves.append((hidden, folder))
        rename_together(moves)
        assert [(folder / "rows").read_text() for folder in folders] == [str(round_)] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["more", "old"]
    other = tmp_path / "other"
    other.mkdir()
    if exchange(other, folders[0]):
        assert (other / "rows").exists()
        assert folders[0].is_dir()
