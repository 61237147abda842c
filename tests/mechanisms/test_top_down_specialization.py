"""Top-down specialization: against a plain one, its promise from the written file, and what it refuses."""

from __future__ import annotations

import itertools
import math
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mondrian_tables import ROW, TAXONOMY, Made, classes_of, made, meets, read_back, tables

import sfumato as sf
from selection import few
from sfumato.core.column import text_of
from sfumato.core.cover import Domain
from sfumato.core.errors import Infeasible, InputError
from sfumato.mechanisms.top_down_specialization import TopDownSpecialization
from sfumato.metrics import require
from sfumato.publishing import publish


def written(table: Made, mechanism: TopDownSpecialization) -> list[dict[str, str | None]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.csv"
        publish(mechanism(table.table, table.roles), table.roles, mechanism.promises, path)
        return read_back(path)


def together(table: Made, mechanism: TopDownSpecialization) -> set[frozenset[str]]:
    """The rows of each class."""
    classes = classes_of(written(table, mechanism), table.roles.quasi).values()
    return {frozenset(str(row[ROW]) for row in rows) for rows in classes}


# --- a plain one -----------------------------------------------------------------------------------------------------

Value = str | None
Lines = dict[Value, list[str]]


def bits(values: Sequence[Value]) -> float:
    return -sum(n / len(values) * math.log2(n / len(values)) for n in Counter(values).values())


def children(node: list[Value], lines: Lines | None, best: Callable[[list[list[Value]]], int]) -> list[list[Value]]:
    """Of a taxonomy the labels below the lowest that all share, else the two sides of the best cut; none if it cannot be cut."""
    if lines is not None:
        height = len(next(iter(lines.values())))

        def label(value: Value, level: int) -> object:
            return lines[value][level] if value is not None else "*" if level == height - 1 else None

        shared = next(level for level in range(height) if len({label(value, level) for value in node}) == 1)
        found: dict[object, list[Value]] = {}
        for value in node:
            found.setdefault(label(value, shared - 1) if shared else None, []).append(value)
        return list(found.values()) if shared else []
    cuts = [[node[:i], node[i:]] for i in range(1, len(node))]
    at = best([side for cut in cuts for side in cut]) if cuts else -1
    return cuts[at] if at >= 0 else []


def plain(table: Made, k: int) -> set[frozenset[str]]:
    """Fung, Wang and Yu's algorithm in plain Python over rows."""
    quasi, label = table.roles.quasi, table.texts("s")
    columns = {name: table.texts(name) for name in quasi}
    trees: dict[str, Lines | None] = {}
    cut: dict[str, list[list[Value]]] = {}
    for name in quasi:
        lines = {line[0]: line for line in TAXONOMY} if name in table.roles.hierarchies else None
        trees[name] = lines
        values = set(columns[name])
        if lines is None:
            order = sorted(values, key=lambda v: (v is None, 0 if v is None else float(v)))
        else:  # the order of the leaves decides between equals only
            order = sorted(values, key=lambda v: (v is None, [] if v is None else lines[v][::-1]))
        cut[name] = [list(order)]
    rows = range(table.rows)

    def gain(name: str, node: list[Value], parts: list[list[Value]]) -> float:
        inside = [label[i] for i in rows if columns[name][i] in node]
        below = [[label[i] for i in rows if columns[name][i] in part] for part in parts]
        return bits(inside) - sum(len(part) / len(inside) * bits(part) for part in below)

    def divided(name: str, node: list[Value]) -> list[list[Value]]:
        def best(sides: list[list[Value]]) -> int:
            pairs = (
                list(itertools.batched(sides, 2))
                if hasattr(itertools, "batched")
                else list(zip(sides[::2], sides[1::2], strict=True))
            )
            sizes = [min(sum(columns[name][i] in side for i in rows) for side in pair) for pair in pairs]
            gains = [
                gain(name, node, list(pair)) if size >= k else -1.0 for pair, size in zip(pairs, sizes, strict=True)
            ]
            top = max(gains)
            return next(i for i, g in enumerate(gains) if g >= top - 1e-11) if top >= 0 else -1

        return children(node, trees[name], best)

    def classes(cut: dict[str, list[list[Value]]]) -> list[list[int]]:
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for i in rows:
            found[tuple(next(j for j, node in enumerate(cut[n]) if columns[n][i] in node) for n in quasi)].append(i)
        return list(found.values())

    while True:
        smallest = min(map(len, classes(cut)))
        chosen, score = None, -1.0
        for name in quasi:
            for node in cut[name]:
                parts = divided(name, node)
                mixed = len({label[i] for i in rows if columns[name][i] in node}) > 1
                if len(parts) < 2 or not mixed:
                    continue
                after = {**cut, name: [*(n for n in cut[name] if n is not node), *parts]}
                least = min(map(len, classes(after)))
                if least < k:
                    continue
                value = max(gain(name, node, parts), 0.0) / (smallest - least + 1)
                if value > score + 1e-12:
                    chosen, score = after, value
        if chosen is None:
            return {frozenset(table.columns[ROW][i] for i in inside) for inside in classes(cut)}
        cut = chosen


@pytest.mark.parametrize("seed", range(12))
def test_it_divides_in_the_order_of_the_plain_one(seed: int) -> None:
    """Tables where the order of the divisions decides what is left to divide."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, 6, 60), rng.integers(0, 3, 60), rng.integers(0, len(TAXONOMY), 60)
    label = np.where(rng.random(60) < (a + b * (c % 2)) / 10, "y", rng.choice(["n", "o"], 60))
    quasi = {"a": a.tolist(), "b": b.tolist(), "job": [TAXONOMY[i][0] for i in c]}
    table = made(quasi, label.tolist(), hierarchies={"job": sf.Hierarchy.of("job", TAXONOMY)})
    assert together(table, TopDownSpecialization(k=4)) == plain(table, 4)


@settings(max_examples=40)
@given(table=tables(kinds=("integer", "taxonomy"), most=20), k=st.integers(1, 6))
def test_it_divides_as_the_plain_one_does(table: Made, k: int) -> None:
    if k > table.rows:
        return
    assert together(table, TopDownSpecialization(k=k)) == plain(table, k)


# --- extremes --------------------------------------------------------------------------------------------------------


def test_extremes() -> None:
    table = made({"q": [1, 2, 3, 4]}, [*"xyxy"])
    assert len(together(table, TopDownSpecialization(k=4))) == 1
    assert len(together(table, TopDownSpecialization(k=1))) == 4
    constant = made({"q": [1, 2, 3, 4]}, ["x"] * 4)
    assert len(together(constant, TopDownSpecialization(k=1))) == 1  # there is nothing to tell
    assert len(together(made({"q": [7] * 4}, [*"xyxy"]), TopDownSpecialization(k=2))) == 1
    assert len(together(made({"q": [1]}, ["x"]), TopDownSpecialization(k=1))) == 1


def test_the_cut_that_tells_most_comes_first() -> None:
    """Hours tell the class from 37 on, the town nothing: with room for two classes only, hours are cut there."""
    hours = [30, 32, 35, 36, 37, 40, 44, 50] * 5
    table = made({"hours": hours, "town": ["a", "b"] * 20}, ["rich" if h >= 37 else "poor" for h in hours])
    rows = written(table, TopDownSpecialization(k=20))
    assert {row["hours"] for row in rows} == {"<37", ">=37"}
    assert {row["town"] for row in rows} == {"*"}


def test_privacy_that_is_lost_counts_against_a_gain() -> None:
    """IG/(PL + 1): q tells more than r, but leaves 6 of 24 rows where r leaves 12; both together would leave 3."""
    q, r = [1] * 6 + [0] * 18, [0] * 3 + [1] * 3 + [0] * 9 + [1] * 9
    label = [*"yxxxyxxyyxxxyxyyyxyxyyyx"]
    told = [
        bits(label) - sum(len(part) / 24 * bits(part) for part in ([v for v, x in zip(label, c, strict=True) if x == y] for y in (0, 1)))
        for c in (q, r)
    ]  # fmt: skip
    assert told[0] > told[1]
    assert told[0] / (24 - 6 + 1) < told[1] / (24 - 12 + 1)
    rows = written(made({"q": q, "r": r}, label), TopDownSpecialization(k=4))
    assert {(row["q"], row["r"]) for row in rows} == {("*", "0"), ("*", "1")}


def test_a_label_is_released_alike_in_all_rows() -> None:
    """Global recoding: what a value becomes depends on nothing else in its row, and covers it."""
    rng = np.random.default_rng(3)
    jobs = rng.choice([line[0] for line in TAXONOMY], 300).tolist()
    age = rng.integers(0, 60, 300)
    label = np.where(rng.random(300) < age / 60, "y", "n").tolist()
    table = made({"age": age.tolist(), "job": jobs}, label, hierarchies={"job": sf.Hierarchy.of("job", TAXONOMY)})
    rows = {str(row[ROW]): row for row in written(table, TopDownSpecialization(k=8))}
    for name in ("age", "job"):
        becomes: dict[str | None, set[str | None]] = defaultdict(set)
        for number, text in zip(table.columns[ROW], table.texts(name), strict=True):
            becomes[text].add(rows[number][name])
        assert all(len(labels) == 1 for labels in becomes.values())
    domain = Domain(table.table.count(("age",)).columns[0])
    assert domain.column.numbers is not None
    for number, value in zip(table.columns[ROW], age, strict=True):
        covered = domain.covered(rows[number]["age"])
        assert covered is not None
        assert value in domain.column.numbers[covered]


# --- the promise -----------------------------------------------------------------------------------------------------

WANTED = ["distinct_l_diversity >= 2", "t_closeness[equal] <= 0.3", "entropy_leakage <= 0.4", "prosecutor_risk <= 0.34"]


@pytest.mark.parametrize("text", few(WANTED, *WANTED[:2]))
@settings(max_examples=20)
@given(table=tables())
def test_every_class_of_the_file_meets_a_requirement(text: str, table: Made) -> None:
    wanted, secret = require(text), table.texts("s")
    try:
        rows = written(table, TopDownSpecialization(k=2, require=(wanted,)))
    except Infeasible:
        assert table.rows < 2 or not meets(wanted, secret, secret)
        return
    assert Counter(row["s"] for row in rows) == Counter(secret)
    for inside in classes_of(rows, table.roles.quasi).values():
        assert len(inside) >= 2
        assert meets(wanted, [row["s"] for row in inside], secret)


def test_another_column_may_be_the_target(tmp_path: Path) -> None:
    """A column whose name needs quotes, with gaps, that is not sensitive."""
    name = 'cla"ss, odd'
    columns: dict[str, Any] = {
        "a;b": [*range(20)],
        "s": [*"xy"] * 10,
        name: ["hi" if i < 10 else None for i in range(20)],
        "id": [f"n{i}" for i in range(20)],
    }
    roles = sf.Roles(quasi=("a;b",), sensitive=("s",), insensitive=(name,), identifiers=("id",))
    mechanism = TopDownSpecialization(k=10, target=name)
    release = mechanism(sf.read(pa.table(columns)), roles)
    publish(release, roles, mechanism.promises, tmp_path / "release.csv")
    rows = read_back(tmp_path / "release.csv")
    assert {(row["a;b"], row[name]) for row in rows} == {("<10", "hi"), (">=10", None)}
    assert "id" not in rows[0]
    assert release.parameters == {"k": 10, "target": name}


def test_missing_quasi_identifiers_are_values() -> None:
    table = made({"q": [1, 2, 3, 4, None, None, None, None]}, [*"xxxxyyyy"], types={"q": pa.int64()})
    rows = written(table, TopDownSpecialization(k=4))
    assert Counter((row["q"], row["s"]) for row in rows) == {("(-Inf,Inf)", "x"): 4, (None, "y"): 4}
    few = made({"q": [1, 2, 3, 4, 5, 6, 7, None]}, [*"xxxxyyyy"], types={"q": pa.int64()})
    assert {row["q"] for row in written(few, TopDownSpecialization(k=4))} == {"<5", "*"}


def test_adult_takes_seconds(adult: sf.Table) -> None:
    roles = sf.Roles(
        quasi=("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"),
        sensitive=("salary-class",),
    )
    started = time.process_time()
    release = TopDownSpecialization(k=10)(adult, roles)
    assert time.process_time() - started < 30
    assert sf.k_anonymity(release, roles).value >= 10
    assert sf.mutual_information(release, roles).value > 0.1  # what is left tells the class


# --- refusals --------------------------------------------------------------------------------------------------------


def test_what_is_refused(refusal: Callable[..., str], canary: str) -> None:
    table = made({"q": [1, 2]}, [canary, "y"])
    roles = table.roles
    for k in (0, -1, 1.5, True):
        refusal(InputError, lambda k=k: TopDownSpecialization(k=k), "k must be")
    refusal(InputError, lambda: TopDownSpecialization(require=(require("iloss <= 0.1"),)), "iloss")
    refusal(InputError, lambda: TopDownSpecialization()(table.table, roles), "something to meet")
    refusal(InputError, lambda: TopDownSpecialization(k=1, target="q")(table.table, roles), "'q'", "quasi-identifier")
    refusal(InputError, lambda: TopDownSpecialization(k=1, target="w")(table.table, roles), "'w'")
    none = sf.Roles(quasi=("q",), insensitive=("s",))
    refusal(InputError, lambda: TopDownSpecialization(k=1)(table.table, none), "target")
    refusal(InputError, lambda: TopDownSpecialization(k=1)(table.table, sf.Roles(sensitive=("s",))), "quasi")
    refusal(Infeasible, lambda: TopDownSpecialization(k=3)(table.table, roles), "k_anonymity >= 3")
    empty = sf.read(pa.table({"q": pa.array([], pa.int64()), "s": pa.array([], pa.string())}))
    refusal(InputError, lambda: TopDownSpecialization(k=1)(empty, sf.Roles(quasi=("q",), sensitive=("s",))), "no rows")
    person = sf.Roles(quasi=("q",), sensitive=("s",), person="row")
    twice = sf.read(pa.table({"q": [1, 2], "s": [*"xy"], "row": ["p", "p"]}))
    refusal(InputError, lambda: TopDownSpecialization(k=1)(twice, person), "'row'")


def test_from_texts() -> None:
    made_by = TopDownSpecialization.of({"k": "3", "target": "s"}, (require("t_closeness[equal] <= 0.2"),))
    assert made_by == TopDownSpecialization(k=3, target="s", require=(require("t_closeness[equal] <= 0.2"),))
    assert text_of(TopDownSpecialization.card.name) == "top_down_specialization"
