"""Hostile and broken input through the command line: one sentence, the right exit code, nothing left behind."""

from __future__ import annotations

import duckdb
import pytest
from cli_house import CANARY, House, Run

ATTACKS = ["COPY people TO '{new}'", "ATTACH '{new}' AS x", "SELECT * FROM read_csv('{foreign}')", "SELECT 1; SELECT 2"]


@pytest.mark.parametrize("query", ATTACKS)
@pytest.mark.parametrize("verb", ["profile", "study"])
def test_a_query_cannot_write_or_read_other_files(run: Run, house: House, verb: str, query: str) -> None:
    with duckdb.connect(str(house / "people.duckdb")) as base:
        base.execute(f"CREATE TABLE people AS SELECT * FROM read_csv('{house.people}')")
    text = query.format(new=house / "stolen", foreign=house.people)
    study = house.text(
        "study.toml",
        f'table = "people.duckdb"\nroles = "roles.toml"\nquery = """{text}"""\n[[candidate]]\nmechanism = "mondrian"\nk = 2\n',
    )
    before = house.listing()
    if verb == "profile":
        outcome = run("profile", house / "people.duckdb", "--query", text)
    else:
        outcome = run("study", study, "--out", house / "out")
    outcome.refused(2, "one SELECT", "people.duckdb")
    assert CANARY not in outcome.out
    assert house.listing() == before
