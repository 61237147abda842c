"""Mondrian under (n,t)-closeness: the survey's example, the metric's agreement, and never more loss than t-closeness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from mondrian_tables import classes_of, made, read_back

import sfumato as sf
from sfumato.core.classes import Sensitive
from sfumato.core.errors import Infeasible, InputError, Unavailable
from sfumato.mechanisms.partition.lineage import Lineage
from sfumato.mechanisms.partition.parts import Parts
from sfumato.metrics import require
from sfumato.publishing import publish

TABLE_15 = [
    ("47673", "29", "Cancer", 100), ("47674", "21", "Flu", 100), ("47605", "25", "Cancer", 200), ("47602", "23", "Flu", 200),
    ("47905", "43", "Cancer", 100), ("47904", "48", "Flu", 900), ("47906", "47", "Cancer", 100), ("47907", "41", "Flu", 900),
    ("47603", "34", "Cancer", 100), ("47605", "30", "Flu", 100), ("47604", "36", "Cancer", 100), ("47607", "32", "Flu", 100),
]  # fmt: skip
TABLE_16 = {
    ("476**", "2*", "Cancer"): 300, ("476**", "2*", "Flu"): 300, ("479**", "4*", "Cancer"): 200,
    ("479**", "4*", "Flu"): 1800, ("476**", "3*", "Cancer"): 200, ("476**", "3*", "Flu"): 200,
}  # fmt: skip
MANTA = sf.Roles(
    quasi=("zip", "age"), sensitive=("disease",), hierarchies={"zip": {"prefix": [2, 3]}, "age": {"prefix": [1]}}
)


def manta() -> sf.Table:
    rows = [row[:3] for row in TABLE_15 for _ in range(row[3])]
    return sf.read(pa.table(dict(zip(("zip", "age", "disease"), map(list, zip(*rows, strict=True)), strict=True))))


def random_table(seed: int, rows: int = 400) -> Any:
    """A number, a category and a sensitive value that depends on both."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(0, 40, rows), rng.choice(list("abcd"), rows, p=[0.4, 0.3, 0.2, 0.1])
    odds = np.clip(age / 50 + (town == "a") * 0.2, 0, 1)
    ill = np.where(rng.random(rows) < odds, "yes", rng.choice(["no", "maybe"], rows))
    return made({"age": age.tolist(), "town": town.tolist()}, ill.tolist())


def loss(release: sf.Release, roles: sf.Roles) -> float:
    return float(sf.iloss(release, roles).value)


def bytes_of(release: sf.Release, path: Path) -> bytes:
    release.table.write(path)
    return path.read_bytes()


# --- extremes and the survey's example -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["equal", "ordered", "jensen_shannon"])
def test_tables_15_to_16_of_the_survey(kind: str, tmp_path: Path, golden: dict[str, Any]) -> None:
    """(1000, 0.1)-closeness gives table 3.16 itself, where 0.1-closeness leaves one class of everything."""
    said = golden["manta"]["table_3_16_n_t"]
    wanted = (require(f"n_t_closeness[{kind},n={said['n']}] <= {said['t']}"),)
    found = publish(sf.Mondrian(require=wanted)(manta(), MANTA), MANTA, wanted, tmp_path / "release.csv")
    assert found.verdicts[0].score.value == 0
    rows = read_back(tmp_path / "release.csv")
    assert Counter((row["zip"], row["age"], row["disease"]) for row in rows) == TABLE_16
    close = sf.Mondrian(require=(require(f"t_closeness[equal] <= {said['t']}"),))(manta(), MANTA)
    assert len(close.table.count(MANTA.quasi)) == 1


def test_a_single_row_is_a_large_enough_group(tmp_path: Path) -> None:
    table = random_table(0)
    plain = sf.Mondrian(k=3)(table.table, table.roles)
    free = sf.Mondrian(k=3, require=(require("n_t_closeness[equal,n=1] <= 0"),))(table.table, table.roles)
    assert bytes_of(free, tmp_path / "a.csv") == bytes_of(plain, tmp_path / "b.csv")


@pytest.mark.parametrize("n", [400, 10**6])
def test_where_only_the_table_is_large_enough_it_is_t_closeness(n: int, tmp_path: Path) -> None:
    table = random_table(1)
    for kind in ("equal", "ordered"):
        roles = sf.Roles(quasi=table.roles.quasi, sensitive=("s",), orders={"s": ("no", "maybe", "yes")})
        near = sf.Mondrian(require=(require(f"n_t_closeness[{kind},n={n}] <= 0.2"),))(table.table, roles)
        close = sf.Mondrian(require=(require(f"t_closeness[{kind}] <= 0.2"),))(table.table, roles)
        assert bytes_of(near, tmp_path / "a.csv") == bytes_of(close, tmp_path / "b.csv")
        assert len(close.table.count(roles.quasi)) > 1


def test_one_row_and_constant_columns(tmp_path: Path) -> None:
    wanted = (require("n_t_closeness[equal,n=10] <= 0.1"),)
    for table in (made({"q": [1]}, ["x"]), made({"q": [1] * 9}, [*"xxxyyyzzz"]), made({"q": [*range(9)]}, ["x"] * 9)):
        release = sf.Mondrian(require=wanted)(table.table, table.roles)
        assert publish(release, table.roles, wanted, tmp_path / "release.csv").met
    assert len(release.table.count(("q",))) == 9  # a constant sensitive column tells nothing: all may be cut


# --- the promise -----------------------------------------------------------------------------------------------------


def nearest(classes: dict[float, list[str]], n: int) -> float:
    """Over one column of numbers: for the worst class, half the L1 distance to the nearest run of classes with n rows."""
    worst, names = 0.0, sorted(classes)
    for name in names:
        best = 1.0
        for a in range(len(names)):
            for b in range(a, len(names)):
                group = [value for other in names[a : b + 1] for value in classes[other]]
                if name in names[a : b + 1] and len(group) >= n:
                    p, q = Counter(classes[name]), Counter(group)
                    far = sum(abs(p[v] / len(classes[name]) - q[v] / len(group)) for v in q) / 2
                    best = min(best, far)
        worst = max(worst, best)
    return worst


@pytest.mark.parametrize("seed", range(8))
def test_every_class_of_the_file_is_near_a_run_of_classes_that_is_large_enough(seed: int, tmp_path: Path) -> None:
    """By a definition written here once more, over one column of numbers."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 12, 150)
    table = made(
        {"age": age.tolist()}, np.where(rng.random(150) < age / 12, "yes", rng.choice(["no", "so"], 150)).tolist()
    )
    n, t = int(rng.integers(10, 60)), float(rng.choice([0.05, 0.15, 0.3]))
    wanted = (require(f"n_t_closeness[equal,n={n}] <= {t}"),)
    publish(
        sf.Mondrian(ends="tight", require=wanted)(table.table, table.roles),
        table.roles,
        wanted,
        tmp_path / "release.csv",
    )
    found: dict[float, list[str]] = {}
    for (label,), rows in classes_of(read_back(tmp_path / "release.csv"), ("age",)).items():
        found[float(str(label).strip("[]").split(",")[0])] = [row["s"] for row in rows]
    assert nearest(found, n) <= t + 1e-9


@pytest.mark.parametrize("kind", ["equal", "jensen_shannon"])
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
@pytest.mark.parametrize("bounds", ["data", "cuts"])
def test_it_is_met_in_the_file_together_with_other_requirements(
    kind: str, mode: Any, bounds: Any, tmp_path: Path
) -> None:
    table = random_table(2)
    wanted = (require(f"n_t_closeness[{kind},n=60] <= 0.1"), require("distinct_l_diversity >= 2"))
    mechanism = sf.Mondrian(k=5, mode=mode, bounds=bounds, require=wanted)
    release = mechanism(table.table, table.roles, np.random.default_rng(0))
    found = publish(release, table.roles, mechanism.promises, tmp_path / "release.csv")
    assert [str(verdict.requirement) for verdict in found.verdicts] == [str(r) for r in mechanism.promises]
    assert len(release.table.count(table.roles.quasi)) > 2


@pytest.mark.parametrize("seed", range(6))
def test_it_never_loses_more_than_t_closeness(seed: int) -> None:
    table = random_table(seed)
    for t in (0.05, 0.15, 0.3):
        close = sf.Mondrian(k=2, require=(require(f"t_closeness[equal] <= {t}"),))(table.table, table.roles)
        near = sf.Mondrian(k=2, require=(require(f"n_t_closeness[equal,n=80] <= {t}"),))(table.table, table.roles)
        assert loss(near, table.roles) <= loss(close, table.roles) + 1e-12


def test_cuts_that_the_released_values_do_not_show_are_undone() -> None:
    """{a, b} is large enough and a is like it, but a category can be broadened to * only, and the table is different."""
    towns = [town for town in "abcd" for _ in range(50)]
    ill = [*(["yes", "no"] * 50), *((["yes"] + ["no"] * 9) * 10)]
    table = made({"town": towns}, ill)
    release = sf.Mondrian(require=(require("n_t_closeness[equal,n=100] <= 0.1"),))(table.table, table.roles)
    assert sorted(release.table.count(("town",)).columns[0].texts) == ["{a, b}", "{c, d}"]
    one = sf.Mondrian(require=(require("n_t_closeness[equal,n=50] <= 0.1"),))(table.table, table.roles)
    assert len(one.table.count(("town",))) == 4


def test_several_sensitive_columns_must_all_be_near(tmp_path: Path) -> None:
    table = random_table(3)
    columns = {name: values for name, values in table.columns.items() if name != "row"}
    columns["t"] = ["u" if age % 8 < 4 else "v" for age in table.columns["age"]]
    roles = sf.Roles(quasi=("age", "town"), sensitive=("s", "t"))
    both = (require("n_t_closeness[equal,n=100] <= 0.2"),)
    assert publish(sf.Mondrian(require=both)(sf.read(pa.table(columns)), roles), roles, both, tmp_path / "both.csv").met
    one = sf.Mondrian(require=(require("n_t_closeness[equal,n=100](s) <= 0.2"),))(sf.read(pa.table(columns)), roles)
    assert not both[0].check(one, roles).met


def test_same_seed_same_bytes_and_the_input_is_untouched(tmp_path: Path) -> None:
    table = random_table(4)
    before = table.table.count(tuple(table.columns))
    wanted = (require("n_t_closeness[equal,n=80] <= 0.1"),)
    for mode in ("strict", "relaxed"):
        made_twice = [
            bytes_of(
                sf.Mondrian(mode=mode, require=wanted)(table.table, table.roles, np.random.default_rng(7)),
                tmp_path / "release.csv",
            )
            for _ in range(2)
        ]
        assert made_twice[0] == made_twice[1]
    after = table.table.count(tuple(table.columns))
    assert all(np.array_equal(a, b) for a, b in zip(before.codes, after.codes, strict=True))


# --- the check itself ------------------------------------------------------------------------------------------------


def test_a_piece_is_judged_by_every_ancestor_that_is_large_enough() -> None:
    """Tuples 0..5 of 10 rows each with values 0 0 1 1 0 1: the root has 60, its left half {0..3} 40, the pair {0, 1} 20."""
    value = np.array([0, 0, 1, 1, 0, 1])
    column = sf.read(pa.table({"s": ["x", "y"]})).count(("s",)).columns[0]
    sensitive = Sensitive(column, np.array([30, 30]))

    def parts(*lists: list[int]) -> Parts:
        entry = np.array([i for inside in lists for i in inside])
        start = np.cumsum([0, *(len(inside) for inside in lists[:-1])])
        box = np.zeros((1, len(lists)), dtype=np.int64)
        return Parts(entry, np.full(len(entry), 10), start, box, box)

    def allowed(n: int, t: float) -> list[bool]:
        lineage = Lineage([(require(f"n_t_closeness[equal,n={n}] <= {t}"), value, sensitive)], 60)
        root = lineage.add(parts([0, 1, 2, 3, 4, 5]), np.array([-1]))
        halves = lineage.add(parts([0, 1, 2, 3], [4, 5]), np.repeat(root, 2))
        pair = lineage.add(parts([0, 1], [2, 3]), np.repeat(halves[:1], 2))
        return lineage.allows(parts([0], [2], [4]), np.array([pair[0], pair[1], halves[1]])).tolist()

    assert allowed(20, 0.0) == [True, True, False]  # 0 is like {0, 1}; 4 is unlike {4, 5}
    assert allowed(21, 0.0) == [False, False, False]  # {0, 1} is too small, and {0..3} and the root are even
    assert allowed(21, 0.5) == [True, True, True]
    assert allowed(10, 0.0) == [True, True, True]  # large enough itself
    assert allowed(60, 0.49) == [False, False, False]


def test_putting_parts_together_again() -> None:
    column = sf.read(pa.table({"s": ["x", "y"]})).count(("s",)).columns[0]
    lineage = Lineage(
        [(require("n_t_closeness[equal,n=1] <= 0"), np.zeros(4, dtype=np.int64), Sensitive(column, np.array([4, 0])))],
        4,
    )

    def parts(*lists: list[int]) -> Parts:
        entry = np.array([i for inside in lists for i in inside])
        start = np.cumsum([0, *(len(inside) for inside in lists[:-1])])
        low, high = (np.array([[end(inside) for inside in lists]]) for end in (min, max))
        return Parts(entry, np.ones(len(entry), dtype=np.int64), start, low, high)

    root = lineage.add(parts([0, 1, 2, 3]), np.array([-1]))
    halves = lineage.add(parts([0, 1], [2, 3]), np.repeat(root, 2))
    singles = lineage.add(parts([0], [1]), np.repeat(halves[:1], 2))
    leaves, number = parts([2, 3], [0], [1]), np.array([halves[1], *singles])
    left, number = lineage.join(leaves, number, np.array([False, False, True]))
    assert sorted(number.tolist()) == sorted(halves.tolist())
    assert [left.entry[left.member == i].tolist() for i in range(len(left))] == [[0, 1], [2, 3]]
    assert left.low.tolist() == [[0, 2]]
    assert left.high.tolist() == [[1, 3]]
    whole, number = lineage.join(leaves, np.array([halves[1], *singles]), np.array([True, False, True]))
    assert number.tolist() == root.tolist()  # the topmost of nested ones
    assert sorted(whole.entry.tolist()) == [0, 1, 2, 3]


# --- refusals --------------------------------------------------------------------------------------------------------


def test_what_is_refused(refusal: Callable[..., str]) -> None:
    table = random_table(5)
    refusal(
        InputError,
        lambda: sf.Mondrian(require=(require("delta_presence_min >= 0.1"),)),
        "delta_presence_min",
        "whole table",
    )
    ordered = sf.Mondrian(require=(require("n_t_closeness[ordered,n=50] <= 0.1"),))
    refusal(Unavailable, lambda: ordered(table.table, table.roles), "'s'", "[orders]")
    never = sf.Mondrian(require=(require("n_t_closeness[equal,n=50] <= -0.1"),))
    refusal(Infeasible, lambda: never(table.table, table.roles), "n_t_closeness", "single class")


def test_the_command_line_may_steer_by_it() -> None:
    wanted = require("n_t_closeness[equal,n=50] <= 0.1")
    assert sf.Mondrian.of({}, (wanted, require("delta_presence_min >= 0.1"))).require == (wanted,)
