"""Codes for missing that stand in the roles hold in every verb: for the table, for what was released of it, and for a population."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROLES = """[roles]
quasi = ["age", "job"]
sensitive = ["diagnosis"]

[reading]
delimiter = ";"
missing = { age = ["999"], "*" = ["?"] }

[hierarchies]
age = { widths = [10, 20, 40] }
job = { suppress = true }
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows = [f"{20 + 10 * (i % 3) if i % 4 else 999};{'ab'[i % 2] if i % 5 else '?'};{'xyz'[i % 3]}" for i in range(240)]
    (tmp_path / "t.csv").write_text("\n".join(["age;job;diagnosis", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    return tmp_path


def test_every_verb_takes_them(run, files: Path) -> None:
    table, roles, out = files / "t.csv", files / "roles.toml", files / "out.csv"
    told = run(
        "sanitize", table, "--roles", roles, "--mechanism", "mondrian", "--require", "k_anonymity >= 5", "--out", out
    ).fine()
    assert "read as missing, as" in told.err
    assert "999 in 'age'" in told.err
    assert "999" not in out.read_text(encoding="utf-8")
    missing = json.loads(run("profile", table, "--deep", "--roles", roles, "--json").fine().out)["columns"]
    assert {column["name"]: column["missing"] for column in missing} == {"age": 60, "job": 48, "diagnosis": 0}
    levels = json.loads(run("search", table, "--roles", roles, "--require", "k_anonymity >= 5", "--json").fine().out)
    assert levels["status"]
    run("verify", out, "--roles", roles, "--original", table, "--require", "k_anonymity >= 5").fine()
    # a release from elsewhere that still has the codes
    kept = files / "kept.csv"
    kept.write_text(table.read_text(encoding="utf-8").replace(";", ","), encoding="utf-8")
    exact = json.loads(
        run("measure", kept, "--roles", roles, "--original", table, "--metric", "column_distance", "--json").fine().out
    )
    assert (
        exact["metrics"]["column_distance"]["value"] == 0
        if "metrics" in exact
        else "column_distance" in json.dumps(exact)
    )


def test_a_column_that_is_not_there_is_named(run, files: Path) -> None:
    (files / "roles.toml").write_text(ROLES.replace("missing = { age", "missing = { aeg"), encoding="utf-8")
    refused = run("search", files / "t.csv", "--roles", files / "roles.toml", "--require", "k_anonymity >= 5")
    assert refused.code == 2
    assert "[reading] missing" in refused.err
    assert "did you mean 'age'" in refused.err
