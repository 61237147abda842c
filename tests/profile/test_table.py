"""The whole profile: suggested roles, the roles file, no values in what comes out, and Adult's known numbers."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import demo_table
from sfumato.core.errors import InputError
from sfumato.core.roles import Roles
from sfumato.profile import table as profiling
from sfumato.profile.table import Profile, profile

ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult" / "adult_30162.csv"
needs_adult = pytest.mark.skipif(not ADULT.exists(), reason=f"Adult is not part of the repository: no {ADULT}")


def people(rows: int = 120) -> pa.Table:
    draw = random.Random(4)  # an illness that follows from the age is no secret, and would not be suggested as one
    words = ["seen", "at", "night", "in", "the", "ward", "with", "cough", "and", "fever", "since", "monday"]
    return pa.table(
        {
            "patient_id": [f"CANARY{i // 2:04d}" for i in range(rows)],
            "name": [f"Canary Canarius{i % 40}" for i in range(rows)],
            "email": [f"canary{i}@example.org" for i in range(rows)],
            "notes": [" ".join(words[(i * j + j) % len(words)] for j in range(1, 9)) + f" CANARY {i}" for i in range(rows)],
            "age": [20 + i * 7 % 60 for i in range(rows)],
            "sex": ["f" if i % 3 else "m" for i in range(rows)],
            "zip": [f"0{4000 + i % 13}" for i in range(rows)],
            "band": [["20-29", "30-39", "40+"][i % 3] for i in range(rows)],
            "colour": [["CANARYred", "CANARYblue", ""][i % 3] for i in range(rows)],
            "diagnosis": [f"CANARY{draw.randrange(5)}" for _ in range(rows)],
            "religion": [f"CANARY{draw.randrange(4)}" for _ in range(rows)],
            "source": ["CANARY"] * rows,
            "assay": [i / 7 for i in range(rows)],
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Profile:
    return profile(sf.read(people()))


def test_roles_are_suggested_with_a_reason_each(found: Profile) -> None:
    roles = found.roles
    assert roles.person == "patient_id"
    assert roles.identifiers == ("name", "email", "notes")
    assert roles.quasi == ("age", "sex", "zip", "band", "colour", "assay")
    assert roles.sensitive == ("diagnosis", "religion")
    assert roles.insensitive == ("source",)
    assert all(column.reason and column.evidence for column in found.columns)
    assert any("rows are of" in note and "people" in note and "to one person only" in note for note in found.notes)


def test_the_roles_file_is_read_back_as_it_is_and_says_why(found: Profile) -> None:
    text = found.toml()
    again = Roles.of(tomllib.loads(text))
    for part in ("identifiers", "quasi", "sensitive", "insensitive", "person", "hierarchies", "orders"):
        assert getattr(again, part) == getattr(found.roles, part)
    assert "# code: where a person lives" in text
    assert again.orders == {"band": ("20-29", "30-39", "40+")}
    table = sf.read(people())
    for name in again.quasi:
        assert again.hierarchy(table.count((name,)).columns[0]) is not None  # every suggested rule builds


def test_no_value_of_the_table_comes_out(found: Profile) -> None:
    told = json.dumps(found.to_dict())
    assert "canary" not in told.lower()
    assert "canary" not in found.toml().lower()
    assert "20-29" not in told
    assert "example.org" not in told


def test_the_dictionary_has_what_the_command_line_shows(found: Profile) -> None:
    told = found.to_dict()
    assert set(told) == {"table", "rows", "columns", "together", "growth", "combinations", "adds", "notes"} | {
        "sentence",
        "quasi_named_by_owner",
    }
    assert told["rows"] == 120
    first = told["columns"][0]
    assert (first["name"], first["kind"], first["role"]) == ("patient_id", "identifier", "person")
    assert (first["distinct"], first["exactness"], first["missing"]) == (60, "exact", 0)
    assert next(c for c in told["columns"] if c["name"] == "colour")["missing"] == 40
    unique = [c["unique_rows"] for c in told["combinations"]]
    assert unique == sorted(unique, reverse=True)
    assert [len(c["columns"]) for c in told["growth"]] == [1, 2, 3, 6]


def test_the_same_table_gives_the_same_profile() -> None:
    first, second = profile(sf.read(people())), profile(sf.read(people()))
    assert first.to_dict() == second.to_dict()
    assert first.toml() == second.toml()


def test_the_owner_may_name_the_quasi_identifiers() -> None:
    found = profile(sf.read(people()), quasi=["zip", "diagnosis"], most=1)
    assert set(found.roles.quasi) == {"zip", "diagnosis"}
    assert found.roles.sensitive == ("religion",)
    assert {c.columns for c in found.combinations} == {("zip",), ("diagnosis",)}
    assert "sex" in found.roles.insensitive
    assert "age" in found.roles.identifiers  # with nearly as many values as rows it is not let out unasked
    with pytest.raises(InputError, match="did you mean 'zip'"):
        profile(sf.read(people()), quasi=["zipp"])
    with pytest.raises(InputError, match="at least 1"):
        profile(sf.read(people()), most=0)


def test_columns_too_wide_to_count_are_estimated_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = profile(sf.read(people()))
    monkeypatch.setattr(profiling, "VALUES", 30)
    found = profile(sf.read(people()))
    columns = {column.name: column for column in found.columns}
    assert columns["email"].exactness == "estimate"
    assert columns["email"].kind == "identifier"
    assert columns["age"].exactness == "exact"  # a quasi-identifier is counted after all
    assert columns["age"].distinct == 60
    assert found.roles.quasi == whole.roles.quasi
    assert found.combinations == whole.combinations


def test_tables_with_next_to_nothing_in_them() -> None:
    one = profile(sf.read(pa.table({"age": [31], "city": ["x"]})))
    assert {column.kind for column in one.columns} == {"constant"}
    assert one.roles.quasi == ("age", "city")  # of a single row everything tells
    assert any("sensitive" in note for note in one.notes)
    nothing = profile(sf.read(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())})))
    assert nothing.rows == 0
    assert nothing.combinations == ()
    empty = profile(sf.read(pa.table({"a": pa.array([None, None], pa.string()), "b": ["", ""]})))
    assert [column.missing for column in empty.columns] == [2, 2]
    tomllib.loads(nothing.toml())


def test_names_come_before_a_constant_value() -> None:
    """Everybody has HIV: nobody is told apart by it, and all are told on."""
    said = {"name": ["A"], "member_no": ["M1"], "contact": ["a@example.org"], "diagnosis": ["HIV"], "wave": ["1"]}
    one = profile(sf.read(pa.table(said)))
    assert (one.roles.identifiers, one.roles.sensitive) == (("name", "member_no", "contact"), ("diagnosis",))
    many = profile(sf.read(pa.table({name: values * 30 for name, values in said.items()} | {"illness": [""] * 30})))
    assert many.roles.identifiers == ("name", "member_no", "contact")
    assert many.roles.sensitive == ("diagnosis",)
    assert many.roles.insensitive == ("wave", "illness")  # without a value there is nothing to learn
    reason = next(column.reason for column in many.columns if column.name == "diagnosis")
    assert reason.endswith("everyone has the same value, so anyone known to be in the table is known to have it")
    assert not any("sensitive" in note for note in many.notes)


def test_dates_that_no_calendar_rule_reads_are_not_given_one() -> None:
    days = ["30.02.1950", *(f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.19{i % 60 + 40}" for i in range(199))]
    found = profile(
        sf.read(
            pa.table(
                {
                    "birth": days,
                    "visit": [f"20{15 + i // 24 % 9}-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(200)],
                }
            )
        )
    )
    assert found.roles.hierarchies["birth"] == {"suppress": True}
    assert found.roles.hierarchies["visit"] == {"dates": ["month", "quarter", "year", "decade"]}
    assert any("YYYY-MM-DD" in note and "birth" in note for note in found.notes)


def test_of_two_repeating_person_numbers_the_finer_is_the_person() -> None:
    rows = 200
    table = pa.table({"client_id": [i // 20 for i in range(rows)], "user_id": [i // 4 for i in range(rows)]})
    found = profile(sf.read(table))
    assert (found.roles.person, found.roles.identifiers) == ("user_id", ("client_id",))


def test_the_demo_town_gets_the_roles_that_its_authors_gave_it() -> None:
    found = profile(sf.read(demo_table.people(3000)))
    stated = Roles.of(tomllib.loads(demo_table.roles_toml()))
    assert set(found.roles.identifiers) == set(stated.identifiers)
    assert set(found.roles.sensitive) == set(stated.sensitive)
    assert set(found.roles.quasi) == {*stated.quasi, "household_size"}  # the cautious side


@needs_adult
def test_adult_golden() -> None:
    """Nine quasi-identifiers: 19,502 classes of which 15,512 are one row (shared/PEERS.md, shared/CHOICES.md)."""
    table = sf.read(ADULT)
    found = profile(table, quasi=table.columns)
    assert (found.rows, found.together.classes, found.together.unique_rows) == (30_162, 19_502, 15_512)
    assert len(found.combinations) == 9 + 36 + 84
    suggested = profile(table)
    assert suggested.roles.sensitive == ("salary-class",)
    assert suggested.roles.quasi == table.columns[:-1]
    kinds = {column.name: column.kind for column in suggested.columns}
    assert kinds.pop("age") == "numeric"
    assert kinds.pop("salary-class") == "ordinal"
    assert set(kinds.values()) == {"category"}
    without = {a.column: a.unique_without for a in suggested.adds}
    assert without["occupation"] == 7_653  # the seven of PEERS.md


def test_the_room_can_be_called_whatever_was_imported_first_and_needs_no_pandas(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("city,age\n" + "".join(f"{'aabbc'[i % 5]},{i % 40}\n" for i in range(200)))
    code = (
        "import sys; from sfumato.profile.table import profile; import sfumato as sf;"
        "t = sf.read(sys.argv[1]);"
        "assert sf.profile(t).to_dict() == sf.profile(t, most=3).to_dict() == profile(t).to_dict();"
        "assert 'pandas' not in sys.modules and 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code, str(file)], check=True)


def test_what_tells_rows_apart_is_never_insensitive() -> None:
    rows = 300
    columns = {
        "age": [20 + i % 40 for i in range(rows)],
        "fnlwgt": [1000 + 7 * i for i in range(rows)],
        "amount": [f"{(37 * i) % 9973 / 100:.2f}" for i in range(rows)],
        "reading": [((7919 * i) % 10007) / 97 for i in range(rows)],
        "seen_at": [f"2024-03-{1 + i % 28:02d} {i % 24:02d}:{i % 60:02d}:00" for i in range(rows)],
        "fold": list(range(rows)),
    }
    table = sf.read(pa.table(columns))
    found = {column.name: column for column in profile(table).columns}
    assert found["fnlwgt"].role == "weight"  # never released as it is
    assert "survey weight" in found["fnlwgt"].reason
    assert found["amount"].role == "quasi"
    assert "cent" in found["amount"].reason
    assert found["reading"].role == "quasi"
    assert "distinguish rows" in found["reading"].reason
    assert found["seen_at"].role == "quasi"
    named = profile(table, quasi=["age"])
    assert named.roles.insensitive == ()
    assert {"amount", "reading", "seen_at"} <= set(named.roles.identifiers)


def visits(**columns: list[object]) -> pa.Table:
    """Three rows of each of forty people, born on different days, and beside them these columns."""
    who = [i // 3 for i in range(120)]
    born = [f"{1950 + (7 * i) % 50}-0{1 + i % 9}-1{i % 10}" for i in who]
    return pa.table(
        {
            "birth_date": born,
            "sex": [["f", "m"][i % 2] for i in who],
            "month": [1 + i % 12 for i in range(120)],
            **columns,
        }
    )


def test_a_number_is_a_persons_where_births_and_sexes_stay_the_same_with_it() -> None:
    numbers = visits(dossier_no=[500 + i // 3 for i in range(120)], store_no=[i % 30 for i in range(120)])
    suggested = sf.suggest_roles(numbers)
    assert suggested.person == "dossier_no"
    assert suggested.people == {"rows": "unlinked"}
    assert sf.suggest_roles(numbers.drop(["dossier_no"])).person is None  # a shop has customers of all ages
    assert sf.suggest_roles(numbers.drop(["birth_date"])).person is None  # a sex alone says too little
