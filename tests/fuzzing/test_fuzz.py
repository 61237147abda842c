"""A small share of benchmarks/fuzz.py, and proof that its checker can fail: every planted violation must be found."""

from __future__ import annotations

import ast
import contextlib
import csv
import os
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import fuzz
import pytest
from fuzzing.check import check
from fuzzing.cover import covers
from fuzzing.generate import Case, make
from fuzzing.matching import assign
from fuzzing.people import People
from fuzzing.run import Outcome
from fuzzing.tables import Field
from fuzzing.workers import work

from selection import rounds
from sfumato import cli

BENCHMARKS = Path(fuzz.__file__).parent
NAMES, METRICS = fuzz.known()
Rows = list[list[str]]


@pytest.mark.parametrize("mechanism", NAMES)
def test_random_cases_keep_every_promise(mechanism: str) -> None:
    codes = []
    for index in rounds(6):
        name, _, code, findings, _, _ = fuzz.one((7, index, mechanism, "sanitize"), METRICS)
        assert not findings, (name, findings)
        codes.append(code)
    assert set(codes) <= {0, 1, 2}


def test_a_case_leaves_the_command_line_as_it_was() -> None:
    app = cli.app
    fuzz.one((7, 0, "mondrian", "sanitize"), METRICS)
    assert cli.app is app


@pytest.mark.full
def test_a_case_in_a_process_of_its_own() -> None:
    _, _, code, findings, _, _ = fuzz.one((7, 0, "mondrian", "sanitize"), METRICS, alone=True)
    assert not findings
    assert code in (0, 1, 2)


@pytest.mark.full
def test_a_study_that_writes_a_package() -> None:
    """The first of some random ones that is published; what is drawn changes with the parameters there are."""
    for index in range(12):
        _, _, code, findings, _, _ = fuzz.one((7, index, "mondrian", "study"), METRICS)
        assert not findings
        if code == 0:
            return
    pytest.fail("none of the studies was published")


def _dies_of_two(pipe: Connection) -> None:
    with contextlib.suppress(EOFError):
        while True:
            for task in pipe.recv():
                if task == 2:
                    os._exit(9)
                pipe.send(10 * task)


@pytest.mark.full
def test_a_process_that_dies_costs_its_case_alone() -> None:
    found = {
        task: (result, lost)
        for task, result, lost in work(iter([[1, 2, 3], [4]]), _dies_of_two, (), workers=1, patience=60)
    }
    assert found == {1: (10, ""), 2: (None, "its process died with 9"), 3: (30, ""), 4: (40, "")}


def test_cases_are_reproducible() -> None:
    assert make(3, 5, "k_member", METRICS) == make(3, 5, "k_member", METRICS)


def test_the_checker_shares_no_code_with_the_package() -> None:
    for name in (
        "check",
        "cover",
        "matching",
        "models",
        "written",
        "generate",
        "people",
        "tables",
        "parameters",
        "requirements",
    ):
        tree = ast.parse((BENCHMARKS / "fuzzing" / f"{name}.py").read_text())
        imported = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        imported += [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
        assert not any("sfumato" in module for module in imported), name


AGES, ZIPS, ILLS = (21, 24, 33, 38), ("0123", "0129", "0456", "0457"), ("flu", "cold", "flu", "cold")
HONEST: Rows = [
    ["age", "zip", "ill"],
    ["[20,30)", "012*", "flu"],
    ["[20,30)", "012*", "cold"],
    ["[30,40)", "045*", "flu"],
    ["[30,40)", "045*", "cold"],
]


def _case(
    tmp_path: Path, rows: Rows, *, require: tuple[str, ...] = (), mechanism: str = "mondrian", person: bool = False
) -> tuple[Case, Outcome]:
    """A release of four people as somebody wrote it, k = 2 promised."""
    texts = {
        "name": [f"zq0000000{i}" for i in range(4)],
        "age": list(map(str, AGES)),
        "zip": list(ZIPS),
        "ill": list(ILLS),
    }
    fields = [
        Field(
            name=name,
            kind="integer" if name == "age" else "text",
            meant=tuple(AGES if name == "age" else cells),
            spelled=tuple(cells),
        )
        for name, cells in texts.items()
    ]
    if person:
        fields.append(Field(name="person", kind="person", meant=("a", "a", "b", "c"), spelled=("a", "a", "b", "c")))
    case = Case(
        name="planted", fields=tuple(fields), roles={"identifiers": ("name",), "quasi": ("age", "zip"), "sensitive": ("ill",), "insensitive": ()},
        person="person" if person else None, guarding=None, taxonomies={}, orders={}, ruled=frozenset(), mechanism=mechanism, settings={"k": "2"}, require=require, files={}, call=("sanitize",),
        out="out.csv", spoilt=False, free={}, waived=frozenset(), secrets=frozenset(texts["name"]),
    )  # fmt: skip
    with (tmp_path / "out.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return case, Outcome(code=0, stdout="", stderr="", new=("out.csv",), folder=tmp_path)


def test_an_honest_release_passes(tmp_path: Path) -> None:
    require = (
        "k_anonymity >= 2",
        "distinct_l_diversity >= 2",
        "t_closeness[equal] <= 0",
        "alpha_anonymity(ill) <= 0.5",
        "entropy_l_diversity >= 2",
    )
    assert check(*_case(tmp_path, HONEST, require=require)) == []


def _cell(row: int, column: int, text: str) -> Callable[[Rows], Rows]:
    return lambda rows: [
        [text if (i, j) == (row, column) else cell for j, cell in enumerate(r)] for i, r in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("mutate", "words"),
    [
        (_cell(1, 0, "[20,25)"), "we count 1"),  # a class of its own
        (_cell(1, 1, "0123"), "we count 1"),
        (lambda rows: [[("[30,40)" if c == "[20,30)" else c) for c in r] for r in rows], "cover no original row"),
        (lambda rows: [[("013*" if c == "012*" else c) for c in r] for r in rows], "cover no original row"),
        (lambda rows: [[("[21,30)" if c == "[20,30)" else c) for c in r] for r in rows], "ends at the least"),
        (_cell(1, 2, "cold"), "cover no original row"),  # a sensitive value of nobody
        (lambda rows: [[c if j or not i else "<20" for j, c in enumerate(r)] for i, r in enumerate(rows)], "cover no original row"),
        (lambda rows: rows[:-1], "rows are missing"),
        (lambda rows: [*rows, rows[-1]], "rows are missing"),
        (lambda rows: [[*r, "name" if not i else f"n{i}"] for i, r in enumerate(rows)], "must not be released"),
        (lambda rows: [[*r, "extra" if not i else "x"] for i, r in enumerate(rows)], "was not in the table"),
        (lambda rows: [*rows[:-1], rows[-1][:2]], "cannot be read"),
        (lambda rows: [rows[0]], "rows are missing"),
    ],
)  # fmt: skip
def test_a_changed_release_is_found(tmp_path: Path, mutate: Callable[[Rows], Rows], words: str) -> None:
    findings = check(*_case(tmp_path, mutate(HONEST)))
    assert any(words in finding.text for finding in findings), findings


@pytest.mark.parametrize(
    "require", ["k_anonymity >= 3", "distinct_l_diversity >= 3", "entropy_l_diversity >= 2.1", "alpha_anonymity <= 0.4", "recursive_diversity[l=2] <= 0.9",
                "prosecutor_risk <= 0.4", "marketer_risk <= 0.4", "identity_information <= 0.9", "p_sensitive_k_anonymity[k=3] >= 1", "accuracy_gain <= -0.1"],
)  # fmt: skip
def test_a_requirement_that_fails_is_found(tmp_path: Path, require: str) -> None:
    assert any(finding.text.startswith(require) for finding in check(*_case(tmp_path, HONEST, require=(require,))))


def test_people_are_counted_and_not_rows(tmp_path: Path) -> None:
    findings = check(*_case(tmp_path, HONEST, person=True))
    assert any("covers 1 people" in finding.text for finding in findings), findings


@pytest.mark.parametrize("waived", [frozenset(), frozenset({"weight"})])
@pytest.mark.parametrize("kind", ["alone", "told"])
def test_free_columns_that_tell_are_found(tmp_path: Path, kind: str, waived: frozenset[str]) -> None:
    ages = tuple(20 + i % 10 for i in range(40))
    weights = tuple(str(900 + i) if kind == "alone" else f"w{age}" for i, age in enumerate(ages))
    case, outcome = _case(tmp_path, [["age", "weight"], *(["[10,30)", weight] for weight in weights)])
    fields = (
        Field(name="age", kind="integer", meant=ages, spelled=tuple(map(str, ages))),
        Field(name="weight", kind="text", meant=weights, spelled=weights),
    )
    roles = {"identifiers": (), "quasi": ("age",), "sensitive": (), "insensitive": ("weight",)}
    findings = check(replace(case, fields=fields, roles=roles, waived=waived), outcome)
    assert bool(findings) is not bool(waived)
    assert all("the free column 'weight' tells" in finding.text for finding in findings)


def test_streams_and_leftovers_are_searched(tmp_path: Path) -> None:
    case, outcome = _case(tmp_path, HONEST)
    seen = {
        finding.kind
        for wrong in (
            {"stdout": "no line for zq00000002"},
            {"code": 3},
            {"stderr": "Traceback (most recent call last):"},
            {"stderr": "x.py:1: RuntimeWarning: overflow"},
            {"new": ("out.csv", ".hidden.csv")},
            {"code": 1, "stderr": "sfumato: it cannot be met."},
            {"late": True},
        )
        for finding in check(case, Outcome(**{**outcome.__dict__, **wrong}))
    }
    assert seen == {"raw", "foreign", "left", "slow"}


@pytest.mark.parametrize(
    ("released", "meant", "spelled", "holds"),
    [
        ("[20,30)", 30, "30", False), ("[20,30]", 30, "30", True), ("<30", 30, "30", False), (">=30", 30, "30", True), ("*", None, "", True), ("x", None, "", False),
        (None, None, "", True), (None, 3, "3", False), ("476**", "47678", "47678", True), ("476**", "4767", "4767", True), ("476**", "4777", "4777", False), ("4__*", "4", "4", True),
        ('{a, "b, c"}', "b, c", "b, c", True), ("{a, b}", "c", "c", False), ("1e+05", 100000, "100000", True), ("90+", 91, "91", True), ("90+", 89, "89", False),
    ],
)  # fmt: skip
def test_what_a_released_value_covers(released: str | None, meant: object, spelled: str, holds: bool) -> None:
    assert covers(released, meant, spelled) is holds


def test_matching_moves_rows_that_took_the_place_of_others() -> None:
    released, original = [("ab",), ("a",), ("b",), ("ab",)], [("a",), ("b",), ("a",), ("b",)]
    assert assign(released, original, [lambda value, other: other in value])[0] == 4
    assert assign([("a",)] * 3, original, [lambda value, other: other in value])[0] == 2


def _linked(tmp_path: Path, rows: Rows) -> tuple[Case, Outcome]:
    """Two rows each of four people, released as these; two people are to share every history."""
    case, outcome = _case(tmp_path, rows)
    whose = tuple(f"zq0000001{i}" for i in range(4) for _ in range(2))
    ages = (21, 31, 22, 32, 41, 51, 42, 52)
    fields = (
        Field(name="person", kind="person", meant=whose, spelled=whose),
        Field(name="age", kind="integer", meant=ages, spelled=tuple(map(str, ages))),
    )
    roles = {"identifiers": (), "quasi": ("age",), "sensitive": (), "insensitive": ()}
    people = People(rows="linked", whose="person")
    return replace(case, fields=fields, roles=roles, person="person", people=people), outcome


JOINED: Rows = [
    ["person", "age"],
    *([f"10000000000000{p}", label] for p in (1, 2) for label in ("[20,30)", "[30,40)")),
    *([f"10000000000000{p}", label] for p in (3, 4) for label in ("[40,50)", "[50,60)")),
]


@pytest.mark.parametrize(
    ("mutate", "words"),
    [
        (lambda rows: rows, ""),
        (_cell(1, 1, "[20,40)"), "we count 1"),  # a history of its own, in a class of rows that has three
        (_cell(8, 1, "[40,50)"), "we count 1"),
        (lambda rows: rows[:-1], "we count 1"),  # one row less than anybody has
        (lambda rows: [[c.replace("100000000000001", "zq00000010") for c in r] for r in rows], "of the original"),
        (lambda rows: [r[1:] for r in rows], "not joined"),
        (lambda rows: [[c.replace("[50,60)", "[30,40)") for c in r] for r in rows], "nobody of the original"),
    ],
)
def test_a_changed_release_of_histories_is_found(tmp_path: Path, mutate: Callable[[Rows], Rows], words: str) -> None:
    findings = check(*_linked(tmp_path, mutate(JOINED)))
    assert any(words in finding.text for finding in findings) if words else findings == []


def test_people_are_counted_where_their_rows_are_unlinked(tmp_path: Path) -> None:
    case, outcome = _case(tmp_path, HONEST, person=True, require=("alpha_anonymity <= 0.6",))
    people = People(rows="unlinked", whose="person")
    texts = [finding.text for finding in check(replace(case, people=people), outcome)]
    assert "k_anonymity >= 2: we count 1" in texts
    assert not any(text.startswith("alpha") for text in texts)  # both rows of a, one with each value: halves
    told = replace(outcome, stdout='{"rows": 4, "suppressed": 0, "requirements": {"k_anonymity >= 1": {"value": 2}}}')
    found = check(replace(case, people=people, settings={}, call=("sanitize", "--json")), told)
    assert any("measured 2, and we count 1" in finding.text for finding in found)


@pytest.mark.parametrize(
    ("require", "holds"),
    [
        ("k_map >= 3", True), ("k_map >= 4", False), ("journalist_risk <= 0.34", True), ("journalist_risk <= 0.3", False),
        ("delta_presence <= 0.67", True), ("delta_presence <= 0.6", False),
    ],
)  # fmt: skip
def test_a_population_is_counted(tmp_path: Path, require: str, holds: bool) -> None:
    case, outcome = _case(tmp_path, HONEST, require=(require,))
    ages, zips = (*AGES, 29, 30, 35), (*ZIPS, "0125", "0499", "0450")
    population = (
        Field(name="age", kind="integer", meant=ages, spelled=tuple(map(str, ages))),
        Field(name="zip", kind="text", meant=zips, spelled=zips),
    )
    assert (check(replace(case, population=population), outcome) == []) is holds


def test_both_links_of_a_chain_must_keep_their_promise(tmp_path: Path) -> None:
    case, outcome = _case(tmp_path, HONEST, mechanism="k_member")
    for then, holds in (({"k": "2"}, True), ({"k": "3"}, False)):
        assert (check(replace(case, second="mondrian", then=then), outcome) == []) is holds


def test_a_formula_where_there_should_be_none_is_found(tmp_path: Path) -> None:
    case, outcome = _case(tmp_path, [[c.replace("cold", "=1") for c in r] for r in HONEST])
    ills = tuple(text.replace("cold", "=1") for text in ILLS)
    fields = tuple(replace(f, meant=ills, spelled=ills) if f.name == "ill" else f for f in case.fields)
    assert check(replace(case, fields=fields), outcome) == []
    assert any("like a formula" in f.text for f in check(replace(case, fields=fields, neutral=True), outcome))
    _case(tmp_path, [[c.replace("cold", "'=1") for c in r] for r in HONEST])
    assert check(replace(case, fields=fields, neutral=True), outcome) == []


def test_what_is_drawn_has_every_way_of_people_and_files() -> None:
    ways = set()
    for index in range(400):
        case = make(7, index, ("mondrian", "generalize_to_levels")[index % 2], METRICS)
        ways |= {case.people.rows, f"household {case.people.household}"} if case.people is not None else set()
        ways |= {*["population"] * bool(case.population), *["chain"] * bool(case.second), Path(case.out).suffix}
    assert ways >= {"unlinked", "linked", "one", "household dwelling", "population", "chain", ".xlsx", ".sav", ".dta"}
