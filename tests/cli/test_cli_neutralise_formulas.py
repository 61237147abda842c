"""`--neutralise-formulas`: what is written cannot run in a spreadsheet, and is verified as what it stands for."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from cli_house import House, Run

from sfumato.core.formulas import plain_text, runs

ROLES = (
    "[roles]\nquasi = ['=debt', 'town']\nsensitive = ['ill']\ninsensitive = ['+note']\n\n"
    "[orders]\nill = ['=cmd()', \"'=cmd()\", 'x']\n"
)
ILLS = ("=cmd()", "'=cmd()", "x")


@pytest.fixture
def words(house: House) -> tuple[object, ...]:
    lines = "".join(f"{-i % 3 - 1},{'-north' if i % 6 < 3 else 'south'},{ILLS[i // 6 % 3]},-b\n" for i in range(72))
    table = house.text("cells.csv", f"=debt,town,ill,+note\n{lines}")
    return (table, "--roles", house.text("cells.toml", ROLES))


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


LIMITS = ("--require", "k_anonymity >= 4", "--require", "distinct_l_diversity >= 3", "--require", "iloss <= 0.9")


@pytest.mark.parametrize("mechanism", ["generalize_full_domain", "mondrian", "local_suppression", "anatomy"])
def test_nothing_runs_and_every_value_is_still_there(
    run: Run, house: House, words: tuple[object, ...], mechanism: str
) -> None:
    out = house / "out.csv"
    size = "l=3" if mechanism == "anatomy" else "k=4"
    made = ("sanitize", *words, "--mechanism", mechanism, "--set", size, "--seed", "1", "--json")
    known = run(*made, "--out", house / "as-it-is.csv").fine()
    found = run(*made, "--out", out, "--neutralise-formulas").fine()
    assert found.json["formulas_neutralised"] is True
    assert found.json["requirements"] == known.json["requirements"], "measured as what it stands for"
    assert "apostrophe" in found.err
    assert "cmd" not in found.err
    names = list(known.json["companions"])
    for file, other in [("out.csv", "as-it-is.csv"), *((f"out.{n}.csv", f"as-it-is.{n}.csv") for n in names)]:
        rows = cells(house / file)
        assert not any(runs(cell) for row in rows for cell in row)
        assert any(cell.startswith("'") for row in rows for cell in row)
        plain = [[plain_text(cell) for cell in row] for row in rows]
        assert plain[0] == cells(house / other)[0]
        assert sorted(plain) == sorted(cells(house / other))


def test_verify_undoes_it_also_with_the_original(run: Run, house: House, words: tuple[object, ...]) -> None:
    out = house / "out.csv"
    run("sanitize", *words, "--mechanism", "mondrian", "--set", "k=4", "--out", out, "--neutralise-formulas").fine()
    verify = (
        "verify",
        out,
        *words[1:],
        "--require",
        "k_anonymity >= 4",
        "--require",
        "distinct_l_diversity >= 3",
        "--json",
    )
    alone = run(*verify, "--neutralise-formulas").fine()
    both = run(*verify, "--neutralise-formulas", "--original", words[0], "--require", "column_distance <= 0.5").fine()
    assert alone.json["met"] is both.json["met"] is True
    assert both.json["requirements"]["column_distance <= 0.5"]["value"] is not None
    without = run(*verify)
    assert without.code == 2, "the column has another name there"
    assert "if it was written with --neutralise-formulas" in without.err
    said = run("verify", house / "cells.csv", *words[1:], "--require", "k_anonymity >= 1", "--neutralise-formulas")
    said.refused(2, "not written with --neutralise-formulas")


def test_the_guard_knows_a_neutralised_value_for_the_original_one(run: Run, house: House) -> None:
    """A free column that is a copy of a generalized one is found through its apostrophes, and refused."""
    lines = "".join(f"-t{i % 20},{'xy'[i % 3 > 0]},-t{i % 20}\n" for i in range(80))
    table = house.text("copy.csv", f"town,ill,copy\n{lines}")
    roles = house.text("copy.toml", "[roles]\nquasi = ['town']\nsensitive = ['ill']\ninsensitive = ['copy']\n")
    words = ("sanitize", table, "--roles", roles, "--mechanism", "mondrian", "--set", "k=8", "--neutralise-formulas")
    said = run(*words, "--out", house / "out.csv").refused(1, "'copy'")
    assert "-t1" not in said
    assert not (house / "out.csv").exists()
    waive = ("--waive", "copy: for the test")
    run(*words, "--out", house / "out.csv", *waive).fine()
    verify = ("verify", house / "out.csv", "--roles", roles, "--require", "k_anonymity >= 8", "--original", table)
    found = run(*verify, "--neutralise-formulas")
    assert found.code == 1
    assert "'copy' equals 'town' in 80 of 80 rows" in found.out
    run(*verify, "--neutralise-formulas", *waive).fine()


def test_a_hint_where_it_was_not_said(run: Run, house: House) -> None:
    lines = "".join(f"{i % 2},'={i % 3}\n" for i in range(12))
    table = house.text("hint.csv", f"a,ill\n{lines}")
    roles = house.text("hint.toml", "[roles]\nquasi = ['a']\nsensitive = ['ill']\n")
    found = run("verify", table, "--roles", roles, "--require", "k_anonymity >= 2").fine()
    assert "'ill'" in found.err
    assert "--neutralise-formulas" in found.err


def test_only_csv_and_excel_files_have_formulas(run: Run, house: House, words: tuple[object, ...]) -> None:
    out = house / "out.parquet"
    made = ("sanitize", *words, "--mechanism", "mondrian", "--set", "k=4", "--out", out)
    run(*made, "--neutralise-formulas").refused(2, "CSV and Excel files only")
    assert not out.exists()
