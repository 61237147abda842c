"""Rows are not people: a table with several rows a person is recognised, and refused by whatever counts rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.people import lookalike, numbers_people, one_row_each, several_rows, tokens
from sfumato.core.person_weights import PersonWeights, distinct_people, fewest_people
from sfumato.core.table import Table
from sfumato.mechanisms import registry
from sfumato.mechanisms.differential_privacy.private_release import Private


def visits(name: str = "patient_id", rows: int = 120, each: int = 3) -> Table:
    """Several rows a person, numbered by a column of this name."""
    return sf.read(
        pa.table(
            {
                name: [f"p{i // each:03d}" for i in range(rows)],
                "age": [20 + i % 40 for i in range(rows)],
                "ill": ["flu" if i % 3 else "cold" for i in range(rows)],
            }
        )
    )


ROLES = sf.Roles(quasi=("age",), sensitive=("ill",), source="roles.toml")


@pytest.mark.parametrize(
    "name",
    ["patient_id", "PatientNo", "person", "id", "kundennummer", "bsn", "SSN", "pid", "Pat.-ID", "Fall PatNr", "subjid"],
)
@pytest.mark.parametrize("role", ["identifiers", "insensitive", "none"])
def test_a_name_that_numbers_people_and_repeats(name: str, role: str) -> None:
    named = {} if role == "none" else {role: (name,)}
    roles = sf.Roles(quasi=("age",), sensitive=("ill",), **named)
    found = several_rows(visits(name), roles)
    assert found is not None
    assert (found.column, found.rows, found.people, found.most, found.named) == (name, 120, 40, 3, False)
    assert "120 rows" in found.sentence
    assert "40 people" in found.sentence


def test_an_identifier_that_repeats_like_a_number() -> None:
    table = visits("case_no")
    assert lookalike(table, sf.Roles(quasi=("age",), identifiers=("case_no",))) is not None
    assert lookalike(table, sf.Roles(quasi=("age", "case_no"))) is None  # nothing says that it is a person's
    opaque = [f"{i // 3:08x}-1234-4321-abcd-0123456789ab" for i in range(120)]
    table = sf.read(pa.table({"token": opaque, "age": [i % 9 for i in range(120)]}))
    assert lookalike(table, sf.Roles(quasi=("age",), identifiers=("token",))) is not None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", [f"{i}" for i in range(100)]),  # one row each
        ("member", ["yes", "no"] * 50),  # two values number nobody
        ("number_of_people", [str(i % 30) for i in range(100)]),
        ("name", [f"Name {i % 50}" for i in range(100)]),  # people may share a name,
        ("address", [f"Road {i % 50}" for i in range(100)]),  # a household an address,
        ("zip", [f"{10000 + i % 50}" for i in range(100)]),  # and neighbours a postal code that is kept back
        ("ssn", [None] * 50 + [f"{i}" for i in range(50)]),  # a missing number is nobody's
    ],
)
def test_what_repeats_and_numbers_nobody(name: str, values: list[str | None]) -> None:
    table = sf.read(pa.table({name: values, "age": [i % 9 for i in range(100)]}))
    assert several_rows(table, sf.Roles(quasi=("age",), identifiers=(name,))) is None


def test_the_owner_says_what_it_is() -> None:
    table = visits()
    with pytest.raises(InputError, match="one_row_per_person = true"):
        one_row_each(table, ROLES, "mondrian")
    one_row_each(table, sf.Roles(quasi=("age",), one_row_per_person=True), "mondrian")
    named = sf.Roles(quasi=("age",), person="patient_id", one_row_per_person=True)
    with pytest.raises(InputError, match="40 people in 120 rows, by 'patient_id'"):  # never against the person column
        one_row_each(table, named, "mondrian")
    once = sf.read(pa.table({"patient_id": [1, 2, 3], "id": [1, 1, 2], "age": [1, 2, 3]}))
    assert (
        several_rows(once, sf.Roles(quasi=("age",), person="patient_id")) is None
    )  # the roles decide where they name one


def test_the_word_stands_in_the_roles_file() -> None:
    roles = sf.Roles.of({"roles": {"quasi": ["age"], "one_row_per_person": True}})
    assert roles.one_row_per_person
    assert "one_row_per_person = true" in roles.toml()
    with pytest.raises(InputError, match="true or false"):
        sf.Roles.of({"roles": {"quasi": ["age"], "one_row_per_person": "yes"}})


LOOKS = sorted(name for name, cls in registry().items() if cls.refuses_several_rows)
NEEDS = {"pram": {"keep": 0.9}}


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("person", ["patient_id", None])
def test_every_mechanism_refuses_before_it_starts(name: str, person: str | None) -> None:
    """Whatever else it lacks, it says this first."""
    roles = sf.Roles(quasi=("age",), sensitive=("ill",), person=person)
    with pytest.raises(InputError, match="counts rows") as caught:
        registry()[name](**NEEDS.get(name, {}))(visits(), roles, np.random.default_rng(0))  # type: ignore[arg-type]
    assert "120 rows" in str(caught.value)
    assert name in str(caught.value)


def test_which_mechanisms_do_not_look() -> None:
    others = {name for name in registry() if name not in LOOKS}
    assert others == {"hipaa", *(name for name, cls in registry().items() if issubclass(cls, Private))}


def test_the_fewest_people_behind_a_class() -> None:
    times = np.array([1, 4, 2, 1])
    assert fewest_people(np.array([1, 4, 5, 6, 7, 8]), times).tolist() == [1, 1, 2, 2, 3, 4]
    assert fewest_people(np.array([1, 5]), np.ones(9, dtype=np.int64)).tolist() == [
        1,
        5,
    ]  # one row each: as many as rows


def test_words() -> None:
    assert numbers_people(tokens("Patient_ID"))
    assert numbers_people(tokens("Kundennummer"))
    assert numbers_people(tokens("Patiënt patiëntnummer"))  # two header rows, joined
    assert numbers_people(tokens("Stammdaten Patientennummer"))
    assert numbers_people(tokens("Hospital Patient ID"))
    assert not numbers_people(tokens("store_id"))
    assert not numbers_people(tokens("vers_code"))  # short for a version as well
    assert not numbers_people(tokens("patient visit id"))
    assert not numbers_people(tokens("number_of_patients"))


def test_every_person_weighs_the_same() -> None:
    rng = np.random.default_rng(0)
    for rows in (np.array([1, 1, 1]), rng.integers(1, 7, 50), np.arange(1, 13)):
        weights = PersonWeights.of(rows)
        assert (weights.of_row * rows == weights.unit).all()
    assert PersonWeights.of(np.array([1, 1])).unit == 1  # people are rows
    rows = np.append(
        np.ones(10, dtype=np.int64), [9_999_991, 99_989, 10_007]
    )  # no common multiple that is small enough
    weights = PersonWeights.of(rows)
    assert weights.of_row.min() >= 1
    np.testing.assert_allclose(weights.of_row[:10] * 1.0, weights.unit)


def test_different_people_against_pandas() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    member, person = rng.integers(0, 20, 500), rng.integers(0, 30, 500)
    expected = pd.DataFrame({"m": member, "p": person}).groupby("m")["p"].nunique().reindex(range(21), fill_value=0)
    assert distinct_people(member, person, 21, 30).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("people", "person", "said"),
    [
        ({"rows": "unlinkd"}, "patient_id", "'unlinked'"),
        ({"row": "unlinked"}, "patient_id", "did you mean 'rows'"),
        ({"rows": "unlinked"}, None, "person = "),
    ],
)
def test_the_key_is_checked(people: dict[str, str], person: str | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        sf.Roles(quasi=("age",), person=person, people=people)


def test_the_key_is_written_and_read(tmp_path: Path) -> None:
    roles = sf.Roles(quasi=("age",), person="patient_id", people={"rows": "unlinked"})
    (tmp_path / "roles.toml").write_text(roles.toml())
    assert sf.Roles.read(tmp_path / "roles.toml").unlinked


def test_the_refusal_names_the_answers() -> None:
    with pytest.raises(InputError, match=r'rows = "unlinked" .*"linked" .*"one"'):
        one_row_each(visits(), sf.Roles(quasi=("age",), person="patient_id"), "mondrian")
