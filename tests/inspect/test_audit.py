"""Whether a release still makes sense: each check where it must hold and where it must fail, counted by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.release import Release
from sfumato.inspect import released_cells
from sfumato.inspect.audit import Aggregate, Audit, AuditCheck, Never, Total, audit, read
from sfumato.inspect.queries import given_queries

ROLES = sf.Roles(quasi=("age", "marital-status"), sensitive=("ill",), insensitive=("wages", "rent", "income"))


def people(many: int = 200) -> dict[str, list[Any]]:
    rng = np.random.default_rng(5)
    age = rng.integers(10, 60, many)
    wages, rent = rng.integers(0, 5000, many), rng.integers(0, 900, many)
    married = (age >= 18) & (rng.random(many) < 0.6)
    return {
        "age": age.tolist(),
        "marital-status": np.where(married, "Married", "Single").tolist(),
        "ill": [("flu", "cold")[i % 2] for i in range(many)],
        "wages": wages.tolist(),
        "rent": rent.tolist(),
        "income": (wages + rent).tolist(),
    }


PEOPLE = people()


def table(columns: dict[str, list[Any]]) -> Any:
    """Columns in memory; one that holds texts is all texts, as in a file."""
    spelled = {
        name: [None if v is None else str(v) for v in values] if any(isinstance(v, str) for v in values) else values
        for name, values in columns.items()
    }
    return sf.read(pa.table(spelled))


def look(released: dict[str, list[Any]], original: dict[str, list[Any]] = PEOPLE, **asked: Any) -> Audit:
    roles = asked.pop("roles", ROLES)
    release = Release(table=table(released), original=table(original), pairing=asked.pop("pairing", "none"))
    return audit(release, roles, **asked)


def only(found: Audit, kind: str) -> AuditCheck:
    (check,) = [check for check in found.checks if check.kind == kind]
    return check


def changed(**columns: Any) -> dict[str, list[Any]]:
    return {**PEOPLE, **{name.replace("_", "-"): values for name, values in columns.items()}}


# --- what is found unasked -------------------------------------------------------------------------------------------


def test_the_identity_holds_throughout_and_its_sum_is_found() -> None:
    found = look(PEOPLE)
    assert found.met
    assert {check.status for check in found.checks} == {"holds"}
    assert only(found, "sum").name == "wages + rent = income"
    assert only(found, "sum").details["held_before"] == 200
    assert found.sentences[-1].endswith("none fails.")


def test_rows_and_columns_that_are_gone_are_told_and_fail_nothing() -> None:
    less = {name: values[:150] for name, values in PEOPLE.items() if name != "rent"}
    found = look(less | {"extra": [1] * 150}, totals=[{"parts": ["wages", "rent"], "total": "income"}])
    assert found.met
    assert (only(found, "rows").status, only(found, "rows").rows) == ("told", 50)
    assert only(found, "columns").details == {"gone": ["rent"], "new": ["extra"]}
    assert only(found, "sum").status == "told"
    assert "nothing contradicts it" in only(found, "sum").sentence


def test_numbers_out_of_range_fail_unless_they_are_few_enough() -> None:
    age = [*PEOPLE["age"][:-2], -3, 61]
    found = look(changed(age=age))
    assert not found.met
    assert only(found, "range").details["columns"] == {"age": 2}
    assert look(changed(age=age), share=0.01).met
    halves = look(changed(age=[a + 0.0 for a in PEOPLE["age"][:-1]] + [30.5]))
    assert (only(halves, "range").status, only(halves, "range").details["fractions"]) == ("told", ["age"])


def test_generalized_values_are_no_strange_values_and_others_are(canary: str) -> None:
    wide = ["[10,60)"] * 100 + ["*"] * 100
    assert look(changed(age=wide, marital_status=["{Married, Single}"] * 200)).met
    odd = look(changed(marital_status=[canary] * 3 + PEOPLE["marital-status"][3:], age=["[70,80)", *PEOPLE["age"][1:]]))
    assert only(odd, "values").details["columns"] == {"age": 1, "marital-status": 3}
    assert not odd.met
    assert canary not in json.dumps([odd.to_dict(), odd.sentences])


def test_more_missing_values_are_told() -> None:
    found = look(changed(ill=[None] * 5 + PEOPLE["ill"][5:]))
    assert only(found, "missing").details["columns"] == {"ill": 5}
    assert found.met


def test_pairs_that_never_were_fail_where_they_look_impossible() -> None:
    many = 4000
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], many)
    state = np.where(sex == "m", rng.choice(["no", "none"], many), rng.choice(["no", "yes"], many))
    first = {"sex": sex.tolist(), "pregnant": state.tolist(), "rare": ["a"] * (many - 1) + ["b"]}
    roles = sf.Roles(quasi=("sex", "pregnant"), sensitive=("rare",))
    swapped = {**first, "sex": rng.permutation(sex).tolist()}
    bad = sum(s == "m" and p == "yes" for s, p in zip(swapped["sex"], first["pregnant"], strict=True))
    bad += sum(s == "f" and p == "none" for s, p in zip(swapped["sex"], first["pregnant"], strict=True))
    check = only(look(swapped, first, roles=roles), "pairs")
    assert check.status == "fails"
    assert (check.details["impossible_pairs"], check.rows) == (2, bad)
    moved = {**first, "rare": ["b"] + ["a"] * (many - 1)}
    check = only(look(moved, first, roles=roles), "pairs")
    assert check.status == ("told" if check.details["new_pairs"] else "holds")
    assert check.details["impossible_pairs"] == 0
    starred = {**swapped, "sex": ["*"] * many}
    assert only(look(starred, first, roles=roles), "pairs").status == "holds"


def test_a_mechanism_that_covers_the_truth_makes_no_pair() -> None:
    original = table(PEOPLE)
    found = audit(sf.Mondrian(k=5)(original, ROLES), ROLES)
    assert only(found, "pairs").status == "holds"
    assert found.met


# --- sums ------------------------------------------------------------------------------------------------------------


def test_a_broken_sum_is_counted() -> None:
    wages = [PEOPLE["wages"][0] + 1, PEOPLE["wages"][1] + 2, *PEOPLE["wages"][2:]]
    found = only(look(changed(wages=wages)), "sum")
    assert (found.status, found.rows, found.exactness) == ("fails", 2, "exact")
    listed = look(changed(wages=wages), totals=[Total(parts=("wages", "rent"), total="income", within=1)])
    check = only(listed, "sum")  # the listed one takes the place of the one that was found
    assert (check.rows, check.listed) == (1, True)


def test_a_generalized_part_contradicts_only_where_nothing_that_it_covers_fits() -> None:
    wages, income = PEOPLE["wages"], PEOPLE["income"]
    top = max(wages)
    fits = changed(wages=[f"[0,{top}]", *wages[1:]])
    check = only(look(fits), "sum")
    assert (check.status, check.details["open"]) == ("holds", 1)
    low = next(i for i in range(200) if wages[i] > 2500)
    breaks = changed(wages=[*wages[:low], "[0,500]", *wages[low + 1 :]])
    assert only(look(breaks), "sum").rows == 1
    assert income[low] > 500 + PEOPLE["rent"][low]


def test_a_sum_that_held_in_some_rows_needs_pairs_to_be_exact() -> None:
    income = [0, 0, *PEOPLE["income"][2:]]  # two rows never added up
    first = {**PEOPLE, "income": income}
    after = {**first, "rent": [PEOPLE["rent"][0], PEOPLE["rent"][1], *(r + 1 for r in PEOPLE["rent"][2:5]), *PEOPLE["rent"][5:]]}  # fmt: skip
    total = {"parts": ["wages", "rent"], "total": "income"}
    sure = only(look(after, first, totals=[total], pairing="position"), "sum")
    assert (sure.rows, sure.exactness) == (3, "exact")
    bound = only(look(after, first, totals=[total]), "sum")
    assert (bound.rows, bound.exactness) == (3, "bound")
    assert "at least 3 released rows" in bound.sentence
    none = only(look(first, first, totals=[{"parts": ["wages"], "total": "rent"}]), "sum")
    assert none.status == "told"


def test_sums_are_found_whatever_their_order_and_number() -> None:
    rng = np.random.default_rng(2)
    a, b, c, d = (rng.integers(0, 10**9 if i == 2 else 9, 300) for i in range(4))
    rows = {"all": a + b + c, "flag": d, "a": a, "b": b, "c": c, "twice": 2 * a, "zero": 0 * a}
    roles = sf.Roles(quasi=tuple(rows), sensitive=())
    found = audit(Release(table=table({k: v.tolist() for k, v in rows.items()}), original=table({k: v.tolist() for k, v in rows.items()})), roles)  # fmt: skip
    sums = [check.name for check in found.checks if check.kind == "sum"]
    assert sums == ["a + b + c = all"]  # 2a is no sum of columns


def test_few_rows_prove_no_sum() -> None:
    rows = {"a": [1, 2, 3], "b": [2, 3, 4], "c": [3, 5, 7]}
    release = Release(table=table(rows), original=table(rows))
    found = audit(release, sf.Roles(quasi=("a", "b", "c")))
    assert not [check for check in found.checks if check.kind == "sum"]


# --- what may never be -----------------------------------------------------------------------------------------------

CHILD = "age < 18 and marital-status = 'Married'"


def test_never_counts_rows_that_are_so_however_they_are_read() -> None:
    assert only(look(PEOPLE, rules=[CHILD]), "never").status == "holds"
    minors = [i for i in range(200) if PEOPLE["age"][i] < 18]
    wed = ["Married" if i in minors[:4] else s for i, s in enumerate(PEOPLE["marital-status"])]
    check = only(look(changed(marital_status=wed), rules=[Never(where=CHILD)]), "never")
    assert (check.status, check.rows) == ("fails", 4)
    young = ["[10,18)" if i in minors else a for i, a in enumerate(PEOPLE["age"])]
    check = only(look(changed(age=young, marital_status=wed), rules=[CHILD]), "never")
    assert (check.rows, check.details["possible"]) == (4, 0)
    wide = only(look(changed(age=["*"] * 200), rules=[CHILD]), "never")
    married = PEOPLE["marital-status"].count("Married")
    assert (wide.status, wide.rows, wide.details["possible"]) == ("holds", 0, married)


def test_never_is_asked_of_numbers_that_only_the_release_has() -> None:
    check = only(look(changed(age=[5.5, *PEOPLE["age"][1:]]), rules=["age < 9"]), "never")
    assert (check.status, check.rows) == ("fails", 1)


def test_what_the_original_had_already_is_not_new() -> None:
    then = sum(a < 30 for a in PEOPLE["age"])
    check = only(look(PEOPLE, rules=["age < 30"]), "never")
    assert (check.status, check.exactness, check.details["original"]) == ("holds", "bound", then)


@pytest.mark.parametrize(
    ("text", "spelled", "names"),
    [
        (CHILD, "\"age\" < 18 and \"marital-status\" = 'Married'", ("age", "marital-status")),
        ("\"marital-status\" = 'age'", "\"marital-status\" = 'age'", ("marital-status",)),
        ("AGE + rent > 3 and lower(ill) in ('flu')", "\"age\" + \"rent\" > 3 and lower(\"ill\") in ('flu')", ("age", "ill", "rent")),
    ],
)  # fmt: skip
def test_names_that_need_quotes_get_them(text: str, spelled: str, names: tuple[str, ...]) -> None:
    assert released_cells.named(text, tuple(PEOPLE), "never") == (spelled, names)


# --- figures that must come out again ----------------------------------------------------------------------------------


def ask(released: dict[str, list[Any]], query: str, **more: Any) -> AuditCheck:
    return only(look(released, aggregates=[{"query": query, **more}], discover=False), "aggregate")


def test_counts_sums_and_means_of_the_identity_come_out_exactly() -> None:
    for query in ("count", "count where ill = 'flu'", "sum wages", "mean age where marital-status = 'Single'", "count by ill", "mean wages by ill, marital-status where age > 20"):  # fmt: skip
        check = ask(PEOPLE, query, tolerance=0, absolute=0)
        assert (check.status, check.exactness) == ("holds", "exact"), check.sentence


def test_a_figure_that_is_off_fails_by_its_tolerance() -> None:
    out = changed(ill=["flu"] * 110 + ["cold"] * 90)
    check = ask(out, "count where ill = 'flu'")
    assert (check.status, check.details["original"], check.details["released"]) == ("fails", 100, 110)
    assert ask(out, "count where ill = 'flu'", tolerance=0.1).status == "holds"
    assert ask(out, "count where ill = 'flu'", absolute=10).status == "holds"
    by = ask(out, "count by ill")
    assert (by.status, by.rows, by.details["figures"]) == ("fails", 2, 2)


def test_a_published_value_is_what_is_compared_with() -> None:
    assert ask(PEOPLE, "count", value=200).status == "holds"
    check = ask(PEOPLE, "count", value=300)
    assert check.status == "fails"
    assert "The original itself gives 200." in check.sentence


def test_generalized_figures_are_those_of_the_owners_queries_with_bounds_around() -> None:
    release = sf.Mondrian(k=7)(table(PEOPLE), ROLES)
    queries: list[tuple[str, dict[str, Any]]] = [
        ("count where age between 20 and 29", {"age": (20, 29)}),
        ("count where age >= 40 and age <= 59 and marital-status = 'Married'", {"age": (40, 59), "marital-status": ["Married"]}),
    ]  # fmt: skip
    answers = given_queries(release, ROLES, [query for _, query in queries])
    found = audit(release, ROLES, aggregates=[text for text, _ in queries], discover=False)
    for check, actual, estimate in zip(found.checks, answers.actual, answers.estimate, strict=True):
        assert check.exactness == "estimate"
        assert check.details["original"] == actual
        assert check.details["released"] == pytest.approx(estimate)
        low, high = check.details["interval"]
        assert low <= estimate <= high
        assert low <= actual <= high  # a generalization covers the truth


@pytest.mark.parametrize("query", ["sum age", "mean age", "mean age where marital-status = 'Married'", "sum wages where age < 30"])  # fmt: skip
def test_bounds_hold_for_the_truth_of_a_generalization(query: str) -> None:
    found = audit(sf.Mondrian(k=10)(table(PEOPLE), ROLES), ROLES, aggregates=[query], discover=False)
    details = found.checks[0].details
    low, high = details["interval"]
    assert low - 1e-9 <= details["original"] <= high + 1e-9
    assert low - 1e-9 <= details["released"] <= high + 1e-9
    assert low < high


def test_the_least_mean_is_that_of_the_best_choice() -> None:
    from itertools import chain, combinations

    from sfumato.inspect.owner_checks import least_mean

    rng = np.random.default_rng(1)
    for _ in range(50):
        value, n, sure = rng.integers(-5, 6, 6).astype(float), rng.integers(1, 4, 6), rng.random(6) < 0.4
        free = np.flatnonzero(~sure)
        choices = chain.from_iterable(combinations(free, r) for r in range(len(free) + 1))
        means = []
        for choice in choices:
            at = np.array([*np.flatnonzero(sure), *choice], dtype=int)
            if len(at):
                means.append((n[at] * value[at]).sum() / n[at].sum())
        assert least_mean(value, sure, n) == pytest.approx(min(means))


def test_a_column_that_is_not_released_cannot_give_its_figure() -> None:
    check = ask({name: values for name, values in PEOPLE.items() if name != "rent"}, "sum rent")
    assert (check.status, check.listed) == ("fails", True)
    assert "cannot be asked" in check.sentence


def test_anatomy_is_asked_by_its_groups() -> None:
    original = table(PEOPLE)
    release = sf.Anatomy(l=2)(original, ROLES, np.random.default_rng(0))
    asked = ["count where ill = 'flu'", "count where ill = 'flu' and age < 30"]
    found = audit(release, ROLES, aggregates=asked, tolerance=1)
    assert found.met
    whole, part = [check.details for check in found.checks if check.kind == "aggregate"]
    assert whole["released"] == 100
    truth = sum(a < 30 and i == "flu" for a, i in zip(PEOPLE["age"], PEOPLE["ill"], strict=True))
    assert part["original"] == truth
    assert part["interval"][0] <= truth <= part["interval"][1]
    answers = given_queries(release, ROLES, [{"ill": ["flu"], "age": (0, 29)}])
    assert part["released"] == pytest.approx(answers.estimate[0])


# --- the file and refusals ---------------------------------------------------------------------------------------------


def test_a_file_of_checks(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(
        'tolerance = 0.1\ndiscover = false\n[[sum]]\nparts = ["wages", "rent"]\ntotal = "income"\n'
        f'[[never]]\nwhere = "{CHILD}"\n[[aggregate]]\nquery = "count"\nvalue = 190\n',
        encoding="utf-8",
    )
    asked = read(path)
    assert asked["totals"] == [Total(parts=("wages", "rent"), total="income")]
    found = look(PEOPLE, **asked)
    assert [check.kind for check in found.checks] == ["sum", "never", "aggregate"]
    assert found.met
    json.dumps(found.to_dict())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[[sums]]\n", "did you mean 'sum'"),
        ("[sum]\nparts = []\n", "[[sum]]"),
        ('[[sum]]\nparts = ["a"]\n', "total"),
        ('[[sum]]\nparts = ["a"]\ntotal = "a"\n', "different"),
        ("[[never]]\nwhere = 3\n", "text"),
        ('[[aggregate]]\nquery = "median age"\n', "no aggregate"),
        ('[[aggregate]]\nquery = "sum"\n', "no aggregate"),
        ('[[aggregate]]\nquery = "count by ill"\nvalue = 3\n', "each group"),
        ('[[aggregate]]\nquery = "count"\ntolerance = -1\n', "at least 0"),
        ("never = 1 =", "TOML"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, refusal: Callable[..., str], text: str, word: str) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(text, encoding="utf-8")
    refusal(InputError, lambda: read(path), word)


def test_refusals(refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: look(PEOPLE, rules=["agee < 3"]), "names no column")
    refusal(InputError, lambda: look(PEOPLE, rules=["age <"]), "cannot be read")
    refusal(InputError, lambda: look(PEOPLE, totals=[{"parts": ["ill"], "total": "age"}]), "not all numbers")
    refusal(InputError, lambda: look(PEOPLE, aggregates=["sum ill"]), "not all numbers")
    refusal(InputError, lambda: look(PEOPLE, aggregates=["count by sex"]), "'sex'")
    refusal(InputError, lambda: look(PEOPLE, tolerance=-1), "tolerance")
    refusal(Unavailable, lambda: audit(Release(table=table(PEOPLE)), ROLES), "original")
    refusal(InputError, lambda: Aggregate(query="mean"), "no aggregate")


def test_a_table_of_figures_has_an_interval_around_its_worst() -> None:
    found = audit(sf.Mondrian(k=30)(table(PEOPLE), ROLES), ROLES, aggregates=["mean age by ill where age < 40", "count by age"], discover=False, tolerance=0)  # fmt: skip
    for check in found.checks:
        worst = check.details["worst"]
        low, high = worst["interval"]
        assert low <= worst["original"] <= high
        assert low <= worst["released"] <= high
    assert (found.checks[1].status, found.checks[1].exactness) == ("fails", "estimate")
    assert "however its values are read" in found.checks[1].sentence
