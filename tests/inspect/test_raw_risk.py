"""The risk of a raw table: what is put together, on tables whose answers can be seen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.inspect import riskiest_combinations
from sfumato.profile.table import profile


def table(**columns: list[object]) -> object:
    return sf.read(pa.table(columns))


PEOPLE = {
    "age": [20, 21, 22, 23, 24, 25, 26, 27, 28, 29] * 6,
    "sex": ["f", "m"] * 30,
    "zip": ["1"] * 59 + ["2"],
    "illness": ["flu"] * 60,
}
ROLES = sf.Roles(quasi=("age", "sex", "zip"), sensitive=("illness",), hierarchies={"age": {"widths": [5, 10]}})


def test_sets_checks_and_curve_tell_of_the_same_counts() -> None:
    found = sf.raw_risk(table(**PEOPLE), ROLES, thresholds=(2, 7))
    assert (found.rows, found.people, len(found.sets)) == (60, 60, 7)
    alone = {risk.columns: risk.alone for risk in found.sets}
    assert alone["zip",] == 1
    assert alone["age",] == 0
    single = [check for check in found.checks if check.columns == 1 and check.least == 2]
    assert (single[0].failing_sets, single[0].rows, single[0].worst) == (1, 1, ("zip",))
    assert next(step.added for step in found.curve) == "zip"
    assert len(found.curve) == 3
    assert all(a.alone <= b.alone and a.risk <= b.risk for a, b in zip(found.curve, found.curve[1:], strict=False))
    assert all(step.loss is not None and 0 <= step.loss <= 1 for step in found.curve)


def test_why_others_know_a_column_is_said_alike_in_the_profile() -> None:
    days = [f"20{i % 20 + 10}-0{i % 9 + 1}-11" for i in range(60)]
    seen = sf.read(
        pa.table({"started": days, "part_time": ["y", "n"] * 30, "death": ["y", "n"] * 30, "age": [*range(60)]})
    )
    found = profile(seen)
    asked = sf.raw_risk(seen, found.roles, curve=False).questions
    assert {q.column: q.knowable for q in asked} == {c.name: c.reason for c in found.columns}
    told = {q.column: q.knowable for q in asked}
    assert "when something happened" in told["started"]
    assert not any("when something happened" in told[name] for name in ("part_time", "death"))


def test_population_estimate_and_journalist() -> None:
    people = table(**PEOPLE)
    found = sf.raw_risk(people, ROLES, fraction=0.5, curve=False)
    assert found.population is not None
    assert found.population.sample_uniques == 1
    assert found.population.value is not None
    assert found.population.ci is not None
    larger = table(**{name: values * 3 for name, values in PEOPLE.items()})
    found = sf.raw_risk(people, ROLES, population=larger, curve=False)
    assert found.journalist == pytest.approx(1 / 3)  # the one of zip 2 is three people there
    assert found.population is not None
    assert found.population.fraction == pytest.approx(1 / 3)


def test_several_rows_of_a_person_count_once() -> None:
    rows = {"who": ["a", "a", "b", "c"], "age": [30, 31, 30, 31], "town": ["x", "x", "x", "y"]}
    roles = sf.Roles(quasi=("age", "town"), person="who", identifiers=())
    found = sf.raw_risk(table(**rows), roles, curve=False)
    assert (found.rows, found.people) == (4, 3)
    by = {risk.columns: risk for risk in found.sets}
    assert by["town",].alone == 1  # y is c alone; x are a and b, though three rows
    assert by["age",].alone == 0
    assert by["age", "town"].alone == 2  # a at 31 in x; c; a and b share 30 in x


def test_outliers_are_counted_and_never_spelled() -> None:
    ages = [*range(20, 60)] * 5 + [119]
    rows = {"age": ages, "sex": ["f", "m"] * 100 + ["f"]}
    found = sf.raw_risk(table(**rows), sf.Roles(quasi=("age", "sex")), curve=False)
    (age,) = found.outliers
    assert (age.column, age.far, age.isolated) == ("age", 1, 1)
    assert "119" not in json.dumps(found.to_dict())


def test_missing_is_a_value_and_one_row_works() -> None:
    rows = {"age": [None, None, 3], "sex": ["f", "f", None]}
    found = sf.raw_risk(table(**rows), sf.Roles(quasi=("age", "sex")), curve=False)
    assert {risk.columns: risk.classes for risk in found.sets} == {("age",): 2, ("sex",): 2, ("age", "sex"): 2}
    one = sf.raw_risk(table(age=[1], sex=["f"]), sf.Roles(quasi=("age", "sex")), fraction=0.1)
    assert one.sets[0].alone == 1


def test_more_columns_than_all_sets_of_them() -> None:
    rows = {f"c{i}": [str((j * (i + 3)) % 7) for j in range(50)] for i in range(24)}
    found = sf.raw_risk(table(**rows), sf.Roles(quasi=tuple(rows)), curve=False)
    assert found.largest == 4
    assert len(found.sets) == 24 + 276 + 2024 + 10626


@pytest.mark.parametrize(
    ("roles", "more", "words"),
    [
        (sf.Roles(sensitive=("illness",)), {}, "no quasi-identifier"),
        (ROLES, {"thresholds": (1,)}, "at least 2"),
        (ROLES, {"fraction": 2.0}, "sampling fraction"),
    ],
)
def test_one_sentence_for_what_is_wrong(roles: sf.Roles, more: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        sf.raw_risk(table(**PEOPLE), roles, **more)


def test_people_with_several_rows_have_a_curve_without_a_loss(tmp_path: Path) -> None:
    """The search counts rows; the risk is told all the same, per person."""
    path = tmp_path / "visits.csv"
    path.write_text("pid,age,zip\n" + "".join(f"p{i // 2},{30 + i // 2 % 9},{i // 2 % 3}\n" for i in range(80)))
    roles = sf.Roles(quasi=("age", "zip"), person="pid")
    found = sf.raw_risk(sf.read(path), roles)
    assert found.people == 40
    assert [step.loss for step in found.curve] == [None, None]


def test_minimal_uniques_say_up_to_which_size_they_were_looked_for() -> None:
    """Four columns of parity: everybody is alone on all four, and nobody on three."""
    bits = [(a, b, c, (a + b + c) % 2) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    columns = {f"c{i}": [f"v{row[i]}" for row in bits] for i in range(4)}
    found = sf.raw_risk(table(**columns), sf.Roles(quasi=tuple(columns)), minimal=2, curve=False)
    assert found.suda.sentence == (
        "Minimal uniques: 0 rows have one of at most 2 columns (0 of 1 column, 0 of 2 columns); 8 more rows are alone on all 4 "
        "quasi-identifiers, but on no set of at most 2 columns."
    )
    assert found.suda.alone == found.sets[0].alone == 8


def test_a_tail_is_not_far_from_the_others_and_one_value_away_is() -> None:
    """A skewed column: beyond three median deviations lie 16% of the rows, close together."""
    hours = [40] * 700 + [39, 41] * 70 + [*range(45, 61)] * 10
    found = sf.raw_risk(table(hours=hours, sex=["f", "m"] * 500), sf.Roles(quasi=("hours", "sex")), curve=False)
    assert found.outliers[0].far == 0
    found = sf.raw_risk(table(hours=[*hours, 999]), sf.Roles(quasi=("hours",)), curve=False)
    assert (found.outliers[0].far, found.outliers[0].isolated) == (1, 1)
    assert (
        found.sentences[-1] == "hours: 1 row lies far from the others (no other row is within one standard deviation)."
    )


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("weekday", [1, 2, 3, 4, 5, 6, 7] * 8, "set values"),
        ("grade", ["a", "b"] * 28, "set values"),
        ("sex", ["a", "b"] * 28, "stays with a person"),
        ("purchases", [*range(56)], "may change with time"),
        ("reading", [i / 7 for i in range(56)], "measured number"),
        ("seen", [f"2020-01-{i % 28 + 1:02}" for i in range(56)], "does not change"),
        ("flag", ["x"] * 56, "every row has the same value"),
    ],
)
def test_what_is_replicable_follows_from_the_column(name: str, values: list[object], words: str) -> None:
    (question,) = sf.raw_risk(table(**{name: values}), sf.Roles(quasi=(name,)), curve=False).questions
    assert words in question.replicable


def test_what_is_replicable_is_counted_where_people_have_several_rows() -> None:
    rows = {"who": ["a", "a", "b", "b", "c"], "town": ["x", "x", "x", "y", "z"]}
    (question,) = sf.raw_risk(table(**rows), sf.Roles(quasi=("town",), person="who"), curve=False).questions
    assert question.replicable == "counted: the same in all rows of 50% of 2 people with several rows"


def test_the_population_table_is_counted_not_estimated() -> None:
    people = table(**PEOPLE)
    larger = table(**{name: values * 3 for name, values in PEOPLE.items()})
    found = sf.raw_risk(people, ROLES, population=larger, curve=False)
    assert "Of 1 row alone here, 0 fit one person of the population table at most (counted)." in found.sentences
    found = sf.raw_risk(people, ROLES, population=people, curve=False)
    assert "Of 1 row alone here, 1 fits one person of the population table at most (counted)." in found.sentences


def test_documents_look_at_smaller_sets_alone_where_the_table_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    names = [f"c{j}" for j in range(6)]
    table = sf.read(pa.table({name: rng.integers(0, 9, 400) for name in names}))
    roles = sf.Roles(quasi=tuple(names))
    whole, _ = riskiest_combinations.risk(table, roles, None)
    assert whole is not None
    assert whole.largest == 6
    monkeypatch.setattr(riskiest_combinations, "WORK", 30 * len(table.count(names)))
    fewer, _ = riskiest_combinations.risk(table, roles, None)
    assert fewer is not None
    assert fewer.largest == 2  # 21 sets of up to two columns, 41 of up to three
    assert list(fewer.sets) == [each for each in whole.sets if len(each.columns) <= 2]
