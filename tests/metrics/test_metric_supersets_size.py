"""(n,t)-closeness of a large release: in pieces and worst classes first, the same as at once and all of them."""

from __future__ import annotations

import importlib
import itertools
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.spatial.distance import jensenshannon

import sfumato as sf
from sfumato.core.column import encode
from sfumato.core.counts import Counts
from sfumato.core.errors import Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.metrics import group_distances, supersets

home = importlib.import_module("sfumato.metrics.privacy.n_t_closeness")  # the package holds the metric by this name
KINDS = ("equal", "ordered", "jensen_shannon")
PIECES = {"CHUNK": 30, "CELLS": 40}
"""So few at a time that every loop over pieces turns many times; the kernel does not fit either."""
WAVES = {"WORK": 0, "WAVE": 2}
"""The worst classes first, however small the table."""
LATE = {"SMOOTHED": 0}
"""Classes smoothed when they are looked at."""

Set = Callable[[dict[str, int]], None]


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Set:
    def put(values: dict[str, int]) -> None:
        monkeypatch.undo()
        for name, value in values.items():
            for module in (home, group_distances):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, value)

    return put


# --- an oracle in plain Python ---------------------------------------------------------------------------------------


def far(kind: str, p: list[float], q: list[float], kernel: np.ndarray) -> float:
    """Two distributions over the values in order; `kernel[i][j]` is what of j goes to i."""
    if kind == "equal":
        return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    if kind == "ordered":
        gaps = itertools.accumulate(a - b for a, b in zip(p, q, strict=True))
        return sum(map(abs, gaps)) / (len(p) - 1)
    return float(jensenshannon(kernel @ p, kernel @ q, base=2)) ** 2  # scipy makes them distributions


def epanechnikov(values: list[int], bandwidth: float) -> np.ndarray:
    width = (max(values) - min(values)) * bandwidth
    kernel = [[max(1 - ((a - b) / width) ** 2, 0.0) for b in values] for a in values]
    return np.array([[k / sum(row) for k in row] for row in kernel])


class Table:
    """40 or so classes over a taxonomy, numbers and plain values, 12 sensitive values; and every box around each."""

    def __init__(self, seed: int, weighted: Any) -> None:
        rng = np.random.default_rng(seed)
        self.values = sorted(rng.choice(60, 12, replace=False).tolist())
        drawn = rng.integers(0, [4, 4, 3, 12, 3], (150, 5)).tolist()
        self.rows = [("abcd"[p], 10 * q, "uvw"[r], self.values[int(v * v / 12)], n + 1) for p, q, r, v, n in drawn]
        self.rows += [("a", 0, "u", v, 1) for v in self.values]
        columns = dict(zip("pqrs", map(list, zip(*(row[:4] for row in self.rows), strict=True)), strict=True))
        self.release = Release(table=weighted(columns, [row[4] for row in self.rows]))
        tree = Hierarchy.of("p", [("a", "A", "*"), ("b", "A", "*"), ("c", "B", "*"), ("d", "B", "*")])
        self.roles = Roles(quasi=("p", "q", "r"), sensitive=("s",), hierarchies={"p": tree})

    def expected(self, kind: str, n: int) -> list[float]:
        boxes_p = [*"abcd", "ab", "cd", "abcd"]
        boxes_q = [range(10 * a, 10 * b, 10) for a in range(4) for b in range(a + 1, 5)]
        kernel = epanechnikov(self.values, 0.3)
        classes = sorted({row[:3] for row in self.rows})
        best = dict.fromkeys(classes, 2.0)
        for box in itertools.product(boxes_p, boxes_q, ["u", "v", "w", "uvw"]):
            inside = [row for row in self.rows if all(row[i] in box[i] for i in range(3))]
            if sum(row[4] for row in inside) < n:
                continue
            q = self.spread(inside)
            for c in {row[:3] for row in inside}:
                best[c] = min(best[c], far(kind, self.spread([row for row in inside if row[:3] == c]), q, kernel))
        return list(best.values())

    def spread(self, rows: list[tuple[Any, ...]]) -> list[float]:
        return [sum(row[4] for row in rows if row[3] == v) / sum(row[4] for row in rows) for v in self.values]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_in_pieces_and_waves_it_is_what_every_box_gives(kind: str, seed: int, weighted: Any, limits: Set) -> None:
    table = Table(seed, weighted)
    for n in (12, 40):
        expected = table.expected(kind, n)
        metric = sf.n_t_closeness(distance=kind, n=n, bandwidth=0.3)
        for settings in ({}, PIECES, LATE, {**PIECES, **LATE}):
            limits(settings)
            score = metric(table.release, table.roles)
            assert score.exactness == "exact"
            assert score.per_class == pytest.approx(expected, abs=1e-9)
            assert score.details["classes_in_full"] == len(expected)
            limits({**settings, **WAVES})
            score = metric(table.release, table.roles)
            assert score.exactness == "exact"
            assert score.value == pytest.approx(max(expected), abs=1e-9)
            assert (score.per_class > np.array(expected) - 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
def test_broken_off_it_is_a_bound_that_is_never_below(kind: str, weighted: Any, limits: Set) -> None:
    table, said = Table(9, weighted), set()
    expected = np.array(table.expected(kind, 25))
    metric = sf.n_t_closeness(distance=kind, n=25, bandwidth=0.3)
    for limit, span in itertools.product((0, 1, 30, 300, 1000, 3000, 8000, 16000, 10**6), (1, 2, 16)):
        limits({**WAVES, **LATE, "LIMIT": limit, "SPAN": span})
        score = metric(table.release, table.roles)
        said.add(score.exactness)
        assert (score.per_class > expected - 1e-9).all()
        assert score.value == score.per_class.max() <= 1
        if score.exactness == "exact":
            assert score.value == pytest.approx(expected.max(), abs=1e-9)
    assert said == {"exact", "bound"}


def test_what_is_left_to_spend_goes_to_the_worst_class(weighted: Any, limits: Set) -> None:
    """The more may be looked at, the nearer: from no look at all to the exact value."""
    table, found = Table(1, weighted), []
    metric = sf.n_t_closeness(distance="ordered", n=25)
    for limit in (0, 200, 500, 10**6):
        limits({**WAVES, "LIMIT": limit})
        found.append(metric(table.release, table.roles).value)
    whole = sf.t_closeness(ground="ordered")(table.release, table.roles)
    assert found[0] == pytest.approx(whole.value)
    assert (np.diff(found) < -0.01).all()


ALONE = [(q, 3 * q + i) for q in range(2) for i in range(3)] + [(2, v) for v in range(200)]
"""The only group that is looked at beside the table has the values 0 to 5 of 200, each once."""
CROWD = [(q, (q % 3, q * 37 % 200, 199 - q % 2)[i]) for q in range(20) for i in range(3)] + [
    (20, v) for v in range(200)
]


@pytest.mark.parametrize("rows", [ALONE, CROWD], ids=["alone", "crowd"])
@pytest.mark.parametrize("kind", KINDS)
def test_groups_with_few_of_many_values(kind: str, rows: list[tuple[int, int]], weighted: Any, limits: Set) -> None:
    made = Release(table=weighted({"q": [q for q, _ in rows], "s": [v for _, v in rows]}, [1] * len(rows)))
    count, kernel = max(q for q, _ in rows) + 1, epanechnikov(list(range(200)), 0.25)

    def spread(low: int, high: int) -> list[float]:
        inside = [v for q, v in rows if low <= q <= high]
        return [inside.count(v) / len(inside) for v in range(200)]

    own, expected = [spread(q, q) for q in range(count)], [2.0] * count
    for low, high in itertools.combinations_with_replacement(range(count), 2):
        if sum(low <= q <= high for q, _ in rows) >= 6:
            group = spread(low, high)
            for q in range(low, high + 1):
                expected[q] = min(expected[q], far(kind, own[q], group, kernel))
    for settings in ({}, LATE, {"CHUNK": 30}):
        limits(settings)
        score = sf.n_t_closeness(distance=kind, n=6)(made, Roles(quasi=("q",), sensitive=("s",)))
        assert score.exactness == "exact"
        assert score.per_class == pytest.approx([expected[q] for q in sorted(range(count), key=str)], abs=1e-9)


def test_in_waves_the_extremes_stay(weighted: Any, limits: Set) -> None:
    limits({**WAVES, **LATE})
    roles = Roles(quasi=("q",), sensitive=("s",))

    def value(kind: str, classes: list[dict[int, int]], n: int) -> sf.Score:
        cells = [(str(q), s, k) for q, values in enumerate(classes) for s, k in values.items()]
        columns = {"q": [c[0] for c in cells], "s": [c[1] for c in cells]}
        made = Release(table=weighted(columns, [c[2] for c in cells]))
        return sf.n_t_closeness(distance=kind, n=n)(made, roles)

    for kind in KINDS:
        alike = value(kind, [{1: 1, 2: 2, 9: 3}] * 40, 100)
        assert (alike.value, alike.exactness) == (0, "exact")
        assert value(kind, [{1: 1, 2: 2, 9: 3}, {1: 6}, {9: 6}], 6).value == 0
        apart = value(kind, [{1: 1}] + [{1000: 10**6}] * 5, 10**6)
        assert apart.value == pytest.approx(1, abs=1e-4)
        assert apart.details["classes_large_enough"] == 5


# --- smoothing when looked at ----------------------------------------------------------------------------------------


def smoothed_both_ways(made: Release, roles: Roles, bandwidth: float, limits: Set, settings: dict[str, int]) -> None:
    metric = sf.n_t_closeness(distance="jensen_shannon", n=30, bandwidth=bandwidth)
    limits({})
    at_once = metric(made, roles)
    assert 1e-3 < at_once.value < 1
    limits({**LATE, **settings})
    assert metric(made, roles).per_class == pytest.approx(at_once.per_class, abs=1e-9)


@pytest.mark.parametrize(
    "settings", [{}, PIECES, {"CHUNK": 250}], ids=["whole kernel", "column by column", "in blocks"]
)
@pytest.mark.parametrize("bandwidth", [0.05, 0.25, 1])
def test_smoothing_of_numbers_orders_and_taxonomies(
    bandwidth: float, settings: dict[str, int], weighted: Any, limits: Set
) -> None:
    """With a missing value, which is near to nothing; classes of one value and of many."""
    rng = np.random.default_rng(3)
    values = [*np.cumsum(rng.integers(1, 9, 29)).tolist(), None]
    drawn = [(str(rng.integers(9)), values[int(30 * rng.random() ** 2)], 1) for _ in range(120)]
    drawn += [("0", value, 2) for value in values] + [("10", values[4], 3)]

    def made(spell: Callable[[Any], Any]) -> Release:
        columns = {"q": [row[0] for row in drawn], "s": [spell(row[1]) for row in drawn]}
        return Release(table=weighted(columns, [row[2] for row in drawn]))

    roles: dict[str, Any] = {"quasi": ("q",), "sensitive": ("s",)}
    smoothed_both_ways(made(lambda v: v), Roles(**roles), bandwidth, limits, settings)
    names = {v: f"v{i * 7 % 30:02d}" for i, v in enumerate(values) if v is not None}
    named, order = made(lambda v: names.get(v)), {"s": tuple(names.values())}
    smoothed_both_ways(named, Roles(**roles, orders=order), bandwidth, limits, settings)
    tree = Hierarchy.of("s", [(v, v[:2], "low" if v[1] < "2" else "high", "*") for v in names.values()])
    smoothed_both_ways(named, Roles(**roles, hierarchies={"s": tree}), bandwidth, limits, settings)


def test_the_mean_over_single_values_is_never_below_the_distance(weighted: Any, limits: Set) -> None:
    limits(LATE)
    for seed in range(5):
        table = Table(seed, weighted)
        classes = table.release.evidence(table.roles).classes("s")
        counted = group_distances.smooth(classes, 0.3)
        assert isinstance(counted, group_distances.Smoothed)
        count = len(classes)
        exact = counted.distances(np.arange(count), np.zeros(count, dtype=np.int64), np.ones(count, dtype=bool))
        assert (counted.whole() > exact - 1e-12).all()
        one = classes.distinct == 1
        assert one.any()
        assert counted.whole()[one] == pytest.approx(exact[one], abs=1e-12)  # a single value is its own mean
        assert (counted.whole()[~one] > exact[~one] + 1e-3).any()


def test_too_many_values_to_smooth(weighted: Any, limits: Set, refusal: Callable[..., str]) -> None:
    made = Table(0, weighted)
    limits({**LATE, "KERNEL": 100})
    metric = sf.n_t_closeness(distance="jensen_shannon", n=30)
    refusal(Unavailable, lambda: metric(made.release, made.roles), "'s'", "bandwidth", "n_t_closeness[ordered]")
    limits({**LATE, "KERNEL": 144})  # 12 values
    assert metric(made.release, made.roles).value > 0


# --- the classes around some -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("room", [2**62, 50], ids=["", "little room"])
def test_the_classes_around_some(seed: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a dictionary: labels of -1, few and many labels, few and many wanted."""
    monkeypatch.setattr(supersets, "_ROOM", room)
    rng = np.random.default_rng(seed)
    for columns, size, labels, enough in ((1, 9, 3, 5), (3, 6, 4, 3), (3, 6, 1, 9), (6, 9, 9, 2), (6, 4, 2, 12)):
        codes = np.unique(rng.integers(0, size, (200, columns)), axis=0).T
        rows = rng.integers(1, 5, codes.shape[1])
        tuples = Counts(tuple(encode("q", pa.array(range(size)))[0] for _ in codes), tuple(codes), rows)
        level = tuple(rng.integers(-1 if rng.random() < 0.5 else 0, labels, size) for _ in codes)
        for count in (0, 1, 5, len(rows)):
            wanted = np.sort(rng.permutation(len(rows))[:count])
            groups: dict[tuple[int, ...], list[int]] = {}
            for c in range(len(rows)):
                label = tuple(int(step[code[c]]) for step, code in zip(level, codes, strict=True))
                if min(label) >= 0:
                    groups.setdefault(label, []).append(c)
            asked = set(wanted.tolist())
            expected = [g for g in groups.values() if asked & set(g) and sum(rows[c] for c in g) >= enough]
            members, group = supersets.around(tuples, level, wanted, enough)
            assert members.tolist() == sorted(c for g in expected for c in g)
            found = [members[group == g].tolist() for g in range(len(expected))]
            assert sorted(found) == sorted(expected)


def test_plain_numbers_are_broadened_like_intervals_of_one_number() -> None:
    numbers = sorted({int(v) for v in np.random.default_rng(0).integers(-50, 50, 30)})
    plain, _ = encode("q", pa.array([*numbers, None]))
    spelled, codes = encode("q", pa.array([*(f"[{v},{v}]" for v in numbers), None]))
    for most in (10, 10**4):
        (left, all_left), (right, all_right) = (supersets.steps(column, None, most) for column in (plain, spelled))
        assert (all_left, len(left)) == (all_right, len(right))
        for a, b in zip(left, right, strict=True):
            same = [np.equal.outer(step, step) for step in (a, b[codes])]
            assert np.array_equal(*same)


# --- size ------------------------------------------------------------------------------------------------------------


def grid(weighted: Any, classes: int, values: int, each: int, seed: int) -> tuple[Release, Roles, np.ndarray]:
    """Numbers by plain values, `each` rows in a class; sensitive values rise with the number; the counts, dense."""
    rng = np.random.default_rng(seed)
    p, q = np.divmod(np.repeat(np.arange(classes), each), 100)
    s = np.minimum((p / p.max() + rng.random(len(p)) ** 3) * values / 2, values - 1).astype(int)
    s[:values] = np.arange(values)
    tree = Hierarchy.of("p", [(str(v), f"g{v // 20:02d}", "*") for v in range(int(p.max()) + 1)])
    roles = Roles(quasi=("p", "q"), sensitive=("s",), hierarchies={"p": tree})
    columns = {"p": p.tolist(), "q": [f"t{v:02d}" for v in q.tolist()], "s": s.tolist()}
    made = Release(table=weighted(columns, [1] * len(p)))
    tuples = made.evidence(roles).tuples
    place = np.array([int(tuples.columns[0].texts[c] or 0) for c in tuples.codes[0]]) * 100 + tuples.codes[1]
    dense = np.bincount((p * 100 + q) * values + s, minlength=classes * values).reshape(classes, values)[place]
    return made, roles, dense.astype(np.float64)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_twenty_thousand_classes_by_brute_force(kind: str, weighted: Any, limits: Set) -> None:
    """Over 300 values: the taxonomy's three levels by the plain column's two, all dense."""
    m = 300
    made, roles, dense = grid(weighted, 20_000, m, 6, 1)
    tuples = made.evidence(roles).tuples
    numbers = np.array([int(tuples.columns[0].texts[c] or 0) for c in tuples.codes[0]])
    kernel = epanechnikov(list(range(m)), 0.25)

    def shape(counts: np.ndarray) -> np.ndarray:
        smooth = counts @ kernel.T if kind == "jensen_shannon" else counts
        return smooth / smooth.sum(axis=1, keepdims=True)

    expected, own = np.full(len(dense), 2.0), shape(dense)
    for p, q in itertools.product((numbers, numbers // 20, 0 * numbers), (tuples.codes[1], 0 * numbers)):
        _, group = np.unique(p * 1000 + q, return_inverse=True)
        counts = np.zeros((group.max() + 1, m))
        np.add.at(counts, group, dense)
        other = shape(counts)
        for at in np.array_split(np.arange(len(dense)), 10):
            a, b = own[at], other[group[at]]
            if kind == "equal":
                d = abs(a - b).sum(axis=1) / 2
            elif kind == "ordered":
                d = abs(np.cumsum(a - b, axis=1)).sum(axis=1) / (m - 1)
            else:
                d = jensenshannon(a, b, base=2, axis=1) ** 2
            expected[at] = np.where(counts.sum(axis=1)[group[at]] >= 500, np.minimum(expected[at], d), expected[at])
    metric = sf.n_t_closeness(distance=kind, n=500)
    score = metric(made, roles)
    assert score.exactness == "exact"
    assert score.per_class == pytest.approx(expected, abs=1e-9)
    limits({"WORK": 0})
    score = metric(made, roles)
    assert score.exactness == "exact"
    assert score.value == pytest.approx(expected.max(), abs=1e-9)
    assert (score.per_class > expected - 1e-9).all()
    assert score.details["classes_in_full"] < len(expected) / 10  # the others need no look
    limits({"WORK": 0, "LIMIT": 400_000})
    bound = metric(made, roles)
    assert bound.value > score.value - 1e-12
    assert (bound.per_class > expected - 1e-9).all()


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_never_classes_times_values(kind: str, weighted: Any) -> None:
    """40,000 classes of 1,000 values are 320 MB if dense."""
    made, roles, dense = grid(weighted, 40_000, 1000, 4, 2)
    assert dense.nbytes == 320_000_000
    del dense
    tracemalloc.start()
    try:
        began = time.process_time()
        score = sf.n_t_closeness(distance=kind)(made, roles)
        taken = time.process_time() - began
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0 < score.value < 1
    assert score.details["levels_of_supersets"] >= 3
    assert peak < 100_000_000
    assert taken < 30
