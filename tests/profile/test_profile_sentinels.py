"""Codes for missing are known by how they lie, offered in the roles file, and read as missing where the owner leaves them there."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.column import text_of
from sfumato.profile.sentinels import sentinels

AGES = [18 + i * 31 % 77 for i in range(300)]


def codes(values: list[Any]) -> tuple[str, ...]:
    found, left = sentinels(sf.read(pa.table({"x": values})).count(("x",)))
    assert left.rows == len(values)
    if found is None:
        return ()
    assert found.rows == sum(text_of(value) in found.codes for value in values)
    assert left.columns[0].has_missing
    assert not set(found.codes) & set(left.columns[0].texts)
    return found.codes


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([*AGES, *[999] * 4], ("999",)),
        ([*AGES, *[-9] * 4], ("-9",)),
        ([*AGES, *[-9] * 4, *[999] * 3], ("-9", "999")),
        ([18 + i % 60 for i in range(300)] + [99] * 9, ("99",)),
        ([*[1, 2, 3, 4, 5, 6] * 30, *[9] * 11], ("9",)),
        ([*[1, 2, 3] * 30, *[7, 8, 9] * 4], ("7", "8", "9")),
        ([*[1, 2, 3, 4, 12] * 30, *[98, 99] * 6], ("98", "99")),
        ([*[0, 1] * 50, *[9] * 7], ("9",)),
        ([round(i * 0.37 % 61, 1) for i in range(400)] + [999.0] * 20, ("999",)),
        ([10115 + i for i in range(90)] * 2 + [99999] * 5, ("99999",)),
        ([f"2023-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(300)] + ["9999-12-31"] * 3, ("9999-12-31",)),
        ([f"{1930 + i % 60}-05-0{1 + i % 9}" for i in range(300)] + ["1900-01-01"] * 5, ("1900-01-01",)),
        (["a", "b"] * 30 + ["k.A.", "unknown", "-", "n/a", "Keine Angabe", "n.b."], ("-", "Keine Angabe", "k.A.", "n.b.", "n/a", "unknown")),
        (["12", "13", "14", "15"] * 9 + ["k.A.", "999", "999"], ("999", "k.A.")),
    ],
)  # fmt: skip
def test_codes_are_recognised(values: list[Any], expected: tuple[str, ...]) -> None:
    assert codes(values) == expected


@pytest.mark.parametrize(
    "values",
    [
        AGES,
        list(range(100)) * 3 + [99] * 50,  # at the end of the range, not off it
        [*AGES, 999],  # one row is an error or an outlier, no code
        [1, 2, 3, 4, 5, 9],
        [0, 1] * 50,
        [7, 8, 9] * 40,
        [1, 2, 3, 4, 5, 7] * 40,
        [i - 20 for i in range(41)] * 5,  # below zero as above it
        ["none", "mild", "severe"] * 9,  # the first word of a scale
        ["?"] * 30,
        ["no answer yet", "-1-", "a-"] * 9,
        [0] * 50 + [1] * 30 + [2] * 20 + [3] * 9 + [4] * 3 + [5] * 2 + [9],  # a family of nine
    ],
    ids=range(12),
)
def test_values_are_no_codes(values: list[Any]) -> None:
    assert codes(values) == ()


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    rows = [f"{18 + i % 60 if i % 20 else 999};{'?' if i % 9 == 1 else 'ab'[i % 2]};{i % 3}" for i in range(400)]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(["age;job;diagnosis", *rows]) + "\n", encoding="utf-8")
    return path


def test_profile_offers_them_and_takes_none(survey: Path) -> None:
    table = sf.read(survey)
    found = sf.profile(table)
    columns = {column.name: column for column in found.columns}
    assert (columns["age"].missing, columns["age"].distinct) == (0, 58)
    assert "Column 'age': 20 rows have 999, far from all other values; that may mean missing." in found.notes
    assert "Column 'job': 45 rows have ?, a word for missing; that may mean missing." in found.notes
    again = sf.Roles.of(tomllib.loads(found.toml()))
    assert again.missing == found.roles.missing == (("age", ("999",)), ("job", ("?",)))
    assert "20 rows, far from all other values" in found.toml()
    owned = sf.profile(sf.read(survey, roles=again), roles=again)
    assert not any("may mean missing" in note for note in owned.notes)
    assert {column.name: column.missing for column in owned.columns} == {"age": 20, "job": 45, "diagnosis": 0}
    assert again.hierarchies["age"]["widths"][-1] < 100  # as if 999 were not there


def test_what_was_said_on_the_way_in_is_kept_beside_them(survey: Path) -> None:
    text = sf.profile(sf.read(survey, missing=["?"])).toml()
    assert sf.Roles.of(tomllib.loads(text)).missing == (("*", ("?",)), ("age", ("999",)))
    head, _, tail = text.partition("# [reading]")
    comments = tail.partition("# [domains]")[0].splitlines()
    confirmed = "\n".join([head, "[reading]", *(line.removeprefix("#") for line in comments)])
    assert sf.Roles.of(tomllib.loads(confirmed)).reading["delimiter"] == ";"


def test_minus_one_beside_zero_is_not_called_far() -> None:
    rng = np.random.default_rng(0)
    table = {"late": rng.integers(-2, 7, 400), "age": np.where(rng.random(400) < 0.05, -9, rng.integers(18, 90, 400))}
    notes = " ".join(sf.profile(sf.read(pa.table(table))).notes)
    assert "have -2 or -1, which are the only values below zero" in notes
    assert "have -9, far from all other values" in notes
