"""Whole numbers that only name something have no order, one that has an order says why, and columns of a family have one role."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pandas
import pyarrow as pa
import pyreadstat
import pytest

import sfumato as sf
from sfumato.profile.table import ColumnProfile

DRAW = random.Random(5)


def column(name: str, values: list[int]) -> tuple[ColumnProfile, sf.Roles]:
    found = sf.profile(sf.read(pa.table({name: values, "k": [i % 7 for i in range(len(values))]})), most=1)
    return next(c for c in found.columns if c.name == name), found.roles


SHUFFLED = [DRAW.choice([1, 1, 1, 2, 3, 3, 4, 5, 5]) for _ in range(300)]


@pytest.mark.parametrize(
    ("name", "values"),
    [("x", SHUFFLED), ("x", [3, 17, 40, 41] * 50), ("ward_group", [1, 2, 3, 4] * 50), ("region_code", list(range(1, 17)) * 9),
     ("type", [DRAW.randrange(40) for _ in range(400)])],
)  # fmt: skip
def test_labels_have_no_order(name: str, values: list[int]) -> None:
    found, roles = column(name, values)
    assert found.kind == "category"
    assert not found.ordered
    assert "order" in found.because
    assert roles.hierarchies[name] == {"nominal": True}


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("x", [0] * 90 + [1] * 50 + [2] * 20 + [3] * 7, "rarer than the one before"),
        ("x", [1] * 5 + [2] * 20 + [3] * 50 + [4] * 60 + [5] * 30 + [6] * 9, "and then rarer"),
        ("pain_score", SHUFFLED, "counts or grades"),
        ("x", [5, 10, 20, 40] * 30, "multiples of 5"),
    ],
)
def test_an_order_is_claimed_with_its_reason(name: str, values: list[int], why: str) -> None:
    found, roles = column(name, values)
    assert found.ordered
    assert why in found.because
    assert "nominal" not in roles.hierarchies.get(name, {})


def test_nominal_numbers_are_released_as_sets_and_never_as_intervals() -> None:
    table = sf.read(pa.table({"x": [3, 17, 40, 41] * 20, "y": list(range(80)), "s": [i % 5 for i in range(80)]}))
    nominal = sf.Roles(quasi=("x", "y"), sensitive=("s",), hierarchies={"x": {"nominal": True}})
    texts = sf.Mondrian(k=30)(table, nominal).table.count(("x",)).columns[0].texts
    assert not any(text and text[0] in "[<>(" for text in texts)
    with pytest.raises(sf.InputError, match="nominal"):
        sf.Roles(quasi=("x",), hierarchies={"x": {"nominal": True, "widths": [5]}})


def test_columns_of_a_family_have_one_role() -> None:
    rows = 300
    bills = {f"bill_{m}": [DRAW.randrange(10**6) if m < 3 else 100 * (i % 4) for i in range(rows)] for m in range(1, 7)}
    found = sf.profile(sf.read(pa.table({**bills, "age": [20 + i % 50 for i in range(rows)]})), most=1)
    assert {c.role for c in found.columns if c.name.startswith("bill")} == {"quasi"}


def test_outcomes_severity_and_laboratory_values_are_sensitive() -> None:
    names = (
        "severity",
        "Schweregrad",
        "outcome",
        "readmitted",
        "Labor CRP",
        "hba1c",
        "Klinik HbA1c",
        "Entlassgrund",
        "Barthel-Index",
    )
    found = sf.profile(
        sf.read(
            pa.table({name: [f"{i % 3}" for i in range(60)] for name in names} | {"age": [i % 40 for i in range(60)]})
        ),
        most=1,
    )
    assert found.roles.sensitive == names


def test_a_household_is_known_by_its_number_and_never_released() -> None:
    rows = pa.table(
        {
            "HHID": [700 + i // 3 for i in range(120)],
            "household_size": [3] * 60 + [2] * 60,
            "age": [i % 50 for i in range(120)],
        }
    )
    found = sf.profile(rows, most=1)
    assert found.roles.household == "HHID"
    assert "household_size" in found.roles.quasi
    assert 'count = "households"' in found.toml()
    assert sf.Roles.of(tomllib.loads(found.toml())).household == "HHID"


def test_labels_of_columns_tell_what_their_names_do_not(tmp_path: Path) -> None:
    path = tmp_path / "survey.sav"
    rows = pandas.DataFrame(
        {
            "V1": [DRAW.randrange(9) * 100 for _ in range(200)],
            "V2": [DRAW.randrange(4) for _ in range(200)],
            "V3": [i % 3 + 1 for i in range(200)],
            "V4": [DRAW.choice([1, 2, 9]) for _ in range(200)],
        }
    )
    pyreadstat.write_sav(
        rows, str(path), column_labels=["Net household income", "Diagnosis group", "Highest school", "English"],
        variable_value_labels={"V3": {1: "None", 2: "Primary", 3: "Refused"}, "V4": {9: "Much", 1: "No word", 2: "Some"}},
        variable_measure={"V4": "ordinal"},
    )  # fmt: skip
    found = sf.profile(sf.read(path), most=1)
    assert found.roles.sensitive == ("V1", "V2")
    assert "its label says" in next(c.reason for c in found.columns if c.name == "V1")
    assert dict(found.roles.missing)["V3"] == ("Refused",)  # no school is an answer
    assert found.roles.orders["V4"] == ("No word", "Some", "Much")  # by its codes
