"""Anatomy: groups by the paper's rule, both files measured as they are written, and nothing of the input's order in them."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from house import Refusal, in_memory
from sfumato.core.errors import Infeasible, InputError, NotMet
from sfumato.core.randomness import Chance
from sfumato.core.release import Release
from sfumato.inspect.queries import given_queries
from sfumato.mechanisms.anatomy import Anatomy, anatomize, rounds
from sfumato.publishing import publish, verify_release

ROLES = sf.Roles(quasi=("age", "sex", "zip"), sensitive=("ill",), source="roles.toml")
PAPER = {  # Xiao and Tao 2006, Table 1
    "age": [23, 27, 35, 59, 61, 65, 65, 70],
    "sex": list("MMMMFFFF"),
    "zip": [11000, 13000, 59000, 12000, 54000, 25000, 25000, 30000],
    "ill": ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"],
}


def people(ill: list[Any], **more: Any) -> dict[str, Any]:
    rows = len(ill)
    return {"age": [20 + i % 60 for i in range(rows)], "sex": ["MF"[i % 2] for i in range(rows)], "zip": [1000 + i for i in range(rows)], "ill": ill, **more}  # fmt: skip


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(mechanism: Anatomy, columns: dict[str, Any], folder: Path, roles: sf.Roles = ROLES, seed: int | None = 1) -> tuple[list[dict[str, str]], list[dict[str, str]]]:  # fmt: skip
    """Publish, and read both files with nothing of ours."""
    rng = None if seed is None else np.random.default_rng(seed)
    publish(mechanism(in_memory(columns), roles, rng), roles, mechanism.promises, folder / "release.csv")
    return lines(folder / "release.csv"), lines(folder / "release.sensitive.csv")


# --- the groups ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "l"),
    [([1, 1], 2), ([5, 5], 2), ([3, 3, 3], 3), ([7, 7, 7, 7], 4), ([4, 2, 2], 2), ([1] * 9, 2), ([6, 1, 1, 1, 3], 2)],
)
def test_the_fewest_values_and_the_limit_of_eligibility(size: list[int], l: int) -> None:
    value = np.repeat(np.arange(len(size)), size)
    group = anatomize(value, l, Chance(np.random.default_rng(0)), "ill")
    assert group.max() + 1 == len(value) // l
    assert np.bincount(group).min() >= l
    assert len(set(zip(group.tolist(), value.tolist(), strict=True))) == len(value), "a value twice in a group"


def test_l_values_equally_frequent_stand_in_every_group() -> None:
    value = np.repeat(np.arange(4), 25)
    group = anatomize(value, 4, Chance(np.random.default_rng(0)), "ill")
    assert Counter(zip(group.tolist(), value.tolist(), strict=True)) == Counter(
        (g, v) for g in range(25) for v in range(4)
    )


@given(
    size=st.lists(st.integers(1, 40) | st.integers(1, 3) | st.integers(15, 20), min_size=2, max_size=9),
    part=st.floats(0, 1),
    seed=st.integers(0, 99),
)
@settings(max_examples=300)
def test_every_group_draws_from_the_largest_buckets(size: list[int], part: float, seed: int) -> None:
    """Line by line the paper's rule: l different buckets, none of which has fewer rows left than one that is not drawn."""
    size += [max(size)] if sum(size) < 2 * max(size) else []
    l = 2 + int(part * (sum(size) // max(size) - 2))
    left = np.array(size)
    drawn = rounds(left, l, Chance(np.random.default_rng(seed)))
    assert len(drawn) == sum(size) // l
    for line in drawn:
        assert len(set(line.tolist())) == l
        assert left[line].min() >= max(1, np.delete(left, line).max(initial=0))
        left[line] -= 1
    assert left.max() <= 1  # the residue: fewer than l rows, each of another value
    assert np.count_nonzero(left) < l


@pytest.mark.parametrize("size", [np.full(20_000, 1), np.full(3, 30_000), np.arange(1, 400), np.r_[np.full(4, 9_000), np.ones(9_000, int)]])  # fmt: skip
def test_rounds_are_few_steps(size: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop goes by levels of the buckets, not by groups."""
    steps = []
    real = np.partition
    monkeypatch.setattr(np, "partition", lambda *a: steps.append(1) or real(*a))
    made = rounds(size, 3, Chance(np.random.default_rng(0)))
    assert len(made) == size.sum() // 3
    assert len(steps) < 2_500 < len(made)


def test_the_rows_left_over_join_groups_without_their_value(tmp_path: Path) -> None:
    table, apart = written(Anatomy(l=4), people(list("aabbccddeef")), tmp_path)
    sizes = Counter(row["group"] for row in table)
    assert len(sizes) == 2
    assert sum(sizes.values()) == 11
    assert min(sizes.values()) >= 4
    assert max(Counter((row["group"], row["ill"]) for row in apart).values()) == 1


# --- what is written -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("l", [2, 3, 5])
@pytest.mark.parametrize("rows", [60, 61, 64])
def test_both_files_hold_what_was_promised(l: int, rows: int, tmp_path: Path) -> None:
    ill = [["a", "b", "c", "d", None, "f", "g", "a", "b", None, "d"][i % 11] for i in range(rows)]
    columns = people(ill, note=["x"] * rows, name=[f"n{i}" for i in range(rows)])  # fmt: skip
    roles = sf.Roles(quasi=("age", "sex", "zip"), sensitive=("ill",), insensitive=("note",), identifiers=("name",))
    table, apart = written(Anatomy(l=l), columns, tmp_path, roles)
    assert list(table[0]) == ["age", "sex", "zip", "note", "group"]
    assert list(apart[0]) == ["group", "ill"]
    assert len(table) == len(apart) == rows
    kept = Counter((int(row["age"]), row["sex"], int(row["zip"])) for row in table)
    assert kept == Counter(zip(columns["age"], columns["sex"], columns["zip"], strict=True))
    assert Counter(row["ill"] for row in apart) == Counter(value or "" for value in columns["ill"])
    assert Counter(row["group"] for row in table) == Counter(row["group"] for row in apart)
    groups = defaultdict(list)
    for row in apart:
        groups[row["group"]].append(row["ill"])
    for values in groups.values():
        assert len(set(values)) >= l
        assert max(Counter(values).values()) <= len(values) / l
    again = Release(
        table=sf.read(tmp_path / "release.csv"),
        companions={"sensitive": sf.read(tmp_path / "release.sensitive.csv")},
        joined_by="group",
    )
    met = verify_release(again, roles, Anatomy(l=l).promises)
    assert met.met
    assert [verdict.score.value for verdict in met.verdicts] == [l, pytest.approx(1 / l)]
    assert not verify_release(again, roles, [sf.require(f"distinct_l_diversity >= {l + 1}")]).met
    assert sf.k_anonymity(again, roles).value == 1, "the quasi-identifiers are exact"


def test_parquet(tmp_path: Path) -> None:
    release = Anatomy(l=2)(in_memory(PAPER), ROLES, np.random.default_rng(0))
    found = publish(release, ROLES, Anatomy(l=2).promises, tmp_path / "release.parquet")
    assert found.met
    assert {path.name for path in tmp_path.iterdir()} == {"release.parquet", "release.sensitive.parquet"}


def test_what_is_not_met_leaves_neither_file(tmp_path: Path, refusal: Refusal) -> None:
    release = Anatomy(l=2)(in_memory(PAPER), ROLES)
    text = refusal(NotMet, lambda: publish(release, ROLES, [sf.require("k_anonymity >= 2")], tmp_path / "release.csv"))
    assert "release.csv" in text
    assert list(tmp_path.iterdir()) == []


def test_the_input_is_not_overwritten_by_the_companion(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "release.sensitive.csv"
    in_memory(PAPER).write(path)
    before = path.read_bytes()
    release = Anatomy(l=2)(sf.read(path), ROLES)
    refusal(InputError, lambda: publish(release, ROLES, (), tmp_path / "release.csv"), "this is the input")
    assert path.read_bytes() == before


@pytest.mark.full
def test_group_numbers_are_drawn_not_counted() -> None:
    """The first row of a sorted input lands in every group about as often, and so does the most frequent value's first."""
    columns = people(sorted("aaaaaabbbbbbccccdddd"))
    seen: Counter[str] = Counter()
    for seed in range(300):
        release = Anatomy(l=2)(in_memory(columns), ROLES, np.random.default_rng(seed))
        counts = release.table.count(("zip", "group"))
        seen[str(counts.column("group").texts[counts.codes[1][0]])] += 1
    assert set(seen) == {str(i + 1) for i in range(10)}
    expected = 300 / 10
    assert sum((n - expected) ** 2 / expected for n in seen.values()) < 27.9  # chi-square, 9 degrees, 0.1%


# --- the paper -------------------------------------------------------------------------------------------------------


def test_the_papers_query_has_the_papers_answer(release: Callable[..., Release]) -> None:
    """Table 3 of the paper, group 1 the first four rows: its query A, 1 in the original, is answered by 2 x 50% = 1."""
    published = {name: PAPER[name] for name in ("age", "sex", "zip")} | {"Group-ID": [1, 1, 1, 1, 2, 2, 2, 2]}
    apart = {
        "Group-ID": [1, 1, 1, 1, 2, 2, 2, 2],
        "ill": ["dyspepsia", "dyspepsia", "pneumonia", "pneumonia", "bronchitis", "flu", "flu", "gastritis"],
    }
    made = release(published, PAPER, companions={"st": in_memory(apart)}, joined_by="Group-ID")
    asked = [
        {"ill": ["pneumonia"], "age": (0, 30), "zip": (10001, 20000)},
        {"ill": ["pneumonia"]},
        {"ill": ["flu"], "sex": ["M"]},
        {"ill": ["flu"], "age": [65]},
        {"zip": [25000]},
    ]
    found = given_queries(made, ROLES, asked)
    assert found.actual.tolist() == [1, 2, 0, 1, 2]
    assert found.estimate.tolist() == [1, 2, 0, 1, 2]
    assert sf.metric("alpha_anonymity")(made, ROLES).value == 0.5
    assert sf.metric("distinct_l_diversity")(made, ROLES).value == 2


def test_the_papers_table_is_divided_two_by_two(tmp_path: Path) -> None:
    table, apart = written(Anatomy(l=2), PAPER, tmp_path)
    assert Counter(Counter(row["group"] for row in table).values()) == {2: 4}
    assert len(apart) == 8
    release = Anatomy(l=4)(in_memory(PAPER), ROLES)
    assert sf.metric("distinct_l_diversity")(release, ROLES).value == 4


def test_adult(adult: sf.Table) -> None:
    roles = sf.Roles(quasi=("age", "sex", "race", "education"), sensitive=("occupation",), source="roles.toml")
    release = Anatomy(l=6)(adult, roles, np.random.default_rng(0))
    assert sf.metric("distinct_l_diversity")(release, roles).value == 6
    assert sf.metric("alpha_anonymity")(release, roles).value == pytest.approx(1 / 6)
    with pytest.raises(Infeasible, match="l can be at most 7"):
        Anatomy(l=8)(adult, roles)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ill", "l", "told"),
    [
        (["Quixotic7741"] * 4 + ["b"] * 3 + ["c"] * 3, 3, "l can be at most 2"),
        (["Quixotic7741"] * 5, 2, "no l to reach"),
        (["a"], 2, "no l to reach"),
        ([None, None, None, "b"], 2, "no l to reach"),
        (list("aabb"), 3, "l can be at most 2"),
    ],
)
def test_what_no_grouping_reaches_is_infeasible_with_what_one_does(
    ill: list[Any], l: int, told: str, refusal: Refusal
) -> None:
    refusal(Infeasible, lambda: Anatomy(l=l)(in_memory(people(ill)), ROLES), told, "'ill'")


@pytest.mark.parametrize("l", [1, 0, -2, 2.5, True, "3"])
def test_l_must_be_whole_and_two_at_least(l: Any, refusal: Refusal) -> None:
    refusal(InputError, lambda: Anatomy(l=l), "l must be at least 2")


def test_refusals(refusal: Refusal) -> None:
    table = in_memory(people(list("abab"), Group=[1, 2, 3, 4], name=list("wxyz")))
    refusal(InputError, lambda: Anatomy()(table, ROLES), "needs l")
    refusal(InputError, lambda: Anatomy(l=2, group=""), "cannot be empty")
    refusal(InputError, lambda: Anatomy(l=2)(table, ROLES), "'group' already", "set group")
    other = Anatomy(l=2, group="part")
    assert other(table, ROLES).joined_by == "part"
    refusal(InputError, lambda: other(table, sf.Roles(quasi=("age",))), "names none")
    refusal(InputError, lambda: other(table, sf.Roles(quasi=("age",), sensitive=("ill", "zip"))), "names 2")
    refusal(InputError, lambda: other(table, sf.Roles(sensitive=("ill",))), "no quasi-identifier")
    refusal(InputError, lambda: other(table, sf.Roles(quasi=("age",), sensitive=("sick",))), "'sick'")
    twice = in_memory(people(list("abab"), who=[1, 1, 2, 3]))
    person = sf.Roles(quasi=("age",), sensitive=("ill",), person="who")
    refusal(InputError, lambda: other(twice, person), "one row per person")
    empty = sf.read(pa.table({"age": pa.array([], pa.int64()), "ill": pa.array([], pa.string())}))
    refusal(InputError, lambda: other(empty, sf.Roles(quasi=("age",), sensitive=("ill",))), "no rows")


def test_odd_names_and_missing_quasi_identifiers(tmp_path: Path) -> None:
    columns = {'a "b", c': [1, None, 3, 4], "rows alike": ["x", "", None, "x"], "il,l": [None, "a", "b", "c"]}
    roles = sf.Roles(quasi=('a "b", c', "rows alike"), sensitive=("il,l",))
    table, apart = written(Anatomy(l=2, group="g;1"), columns, tmp_path, roles)
    assert list(table[0]) == ['a "b", c', "rows alike", "g;1"]
    assert Counter(row['a "b", c'] for row in table) == Counter(["1", "", "3", "4"])
    assert Counter(row["il,l"] for row in apart) == Counter(["", "a", "b", "c"])
