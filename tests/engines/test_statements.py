"""A share of benchmarks/statements.py: no verb sends the engine a statement twice, and the recorder would see it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "statements.py"
ROLES = ("--roles", "roles.toml")


def task(*words: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, str(FILE), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("town"))
    task("town", folder, "200")
    return folder


@pytest.mark.full  # some twenty seconds: a study of a dozen candidates
def test_advise_asks_nothing_twice(town: str) -> None:
    asked = ("--to", "agreement", "--impact", "medium", "--workers", "1", "--refine", "0", "--formats", "md")
    answer = task("sent", town, "advise", "people.csv", *ROLES, *asked)
    assert answer["sent"] > 50
    assert answer["repeated"] == {}


def test_search_writes_and_verifies_without_asking_twice(town: str) -> None:
    answer = task("sent", town, "search", "people.csv", *ROLES, "--require", "k_anonymity >= 2", "--suppression", "0.05", "--out", "r.csv")  # fmt: skip
    assert 5 < answer["sent"] < 20
    assert answer["repeated"] == {}


def test_a_repeat_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FILE.parent))
    from statements import Recorder

    sent: list[str] = []
    import duckdb

    connection = Recorder(duckdb.connect(), sent)
    connection.execute("SELECT 1")
    connection.sql("SELECT 1")
    assert sent == ["SELECT 1", "SELECT 1"]
