"""Tiles: every point in one, boxes that hold their points, and the nearest rows found through them as by looking at all."""

from __future__ import annotations

import numpy as np
import pytest
from wp29_house import apart, check_nearest, made, person

import sfumato as sf
from sfumato.attacks.lookup.space import Space
from sfumato.attacks.lookup.tiles import Tiles
from sfumato.core.runs import held, parts, spread


@pytest.mark.parametrize("columns", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_every_point_is_in_one_tile_that_holds_it(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(1, 400)), int(rng.integers(1, 20))
    group = rng.integers(0, 4, n)
    numbers = [rng.integers(0, 9, n) / 3 for _ in range(columns)]
    tiles = Tiles.of(group, numbers, size)
    assert sorted(tiles.order.tolist()) == list(range(n))
    assert (np.diff(tiles.group) >= 0).all()
    assert tiles.start[0] == 0
    assert tiles.start[-1] == n
    for t in range(len(tiles)):
        inside = tiles.order[tiles.start[t] : tiles.start[t + 1]]
        assert set(group[inside].tolist()) == {tiles.group[t]}
        assert 0 < len(inside) <= (size if columns else n)
        for j, number in enumerate(numbers):
            assert (tiles.low[j][t], tiles.high[j][t]) == (number[inside].min(), number[inside].max())
    if columns:  # of each group hardly more tiles than it takes
        whole = sum(-(-int(c) // size) for c in np.bincount(group) if c)
        assert len(tiles) <= 3 * whole + 4


def test_how_far_a_tile_is() -> None:
    tiles = Tiles.of(np.zeros(4, dtype=np.int64), [np.array([1.0, 2.0, 5.0, 7.0])], 2)
    assert tiles.gap(0, np.array([0.0, 1.5, 6.0, 9.0])).tolist() == [[1, 5], [0, 3.5], [4, 0], [7, 2]]
    assert tiles.gap(0, np.array([0.0, 9.0]), np.array([1, 0])).tolist() == [5, 7]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("names", [("x",), ("x", "y"), ("x", "sex"), ("x", "y", "sex")])
def test_the_nearest_of_many_numbers(names: tuple[str, ...], count: int) -> None:
    """Noise, also beyond the range, values missing on either side, a column of texts: against all distances."""
    rng = np.random.default_rng(len(names) + count)
    n = 1500
    original = {c: rng.normal(size=n).tolist() for c in "xy"} | {"sex": ["fm"[v] for v in rng.integers(0, 2, n)]}
    released = {c: (np.array(original[c]) + rng.normal(0, 0.5, n)).tolist() for c in "xy"} | {"sex": original["sex"]}
    released["x"][0], released["y"][1] = 60.0, -60.0
    for side in (original, released):
        for name in "xy":
            for i in rng.integers(0, n, 4):
                side[name][i] = None
    space = Space.of(made(released, original), sf.Roles(quasi=("x", "y", "sex")), None, seed=0)
    check_nearest(space, names, 300, count)


def test_missing_numbers_are_1_away_from_all_but_each_other() -> None:
    original = {"x": [0.0, 10.0, None], "y": [1, 2, 3]}
    released = {"x": [0.5, 90.0, None], "y": [1, 2, 3]}
    space = Space.of(made(released, original), sf.Roles(quasi=("x", "y")), None, seed=0)
    targets = space.targets(space.original, ("x",), 10, 0)
    found = targets.distances(np.arange(3), ("x",))[:, space.tuples(("x",)).member]
    texts = [space.original.texts("x")[c] for c in space.original.codes["x"]]
    labels = [space.released.texts("x")[c] for c in space.released.codes["x"]]
    for i, value in enumerate(texts):
        for j, label in enumerate(labels):
            alone = {"x": [None if label is None else float(label)]}
            known = {"x": None if value is None else float(value)}
            assert found[i, j] == pytest.approx(apart(alone, original, person({"x": [known["x"]]}, 0), ["x"])[0])


def test_runs() -> None:
    assert [side.tolist() for side in spread(np.array([3, 5, 9]), np.array([5, 5, 10]))] == [[3, 4, 9], [0, 0, 2]]
    assert [(p.start, p.stop) for p in parts(np.array([2, 2, 9, 1, 0]), 4)] == [(0, 2), (2, 3), (3, 5)]
    assert list(parts(np.zeros(0, dtype=np.int64), 4)) == []
    assert [side.tolist() for side in held(np.array([2, 4]), np.array([4, 3, 2]))] == [[0, 2], [1, 0]]
    assert [len(side) for side in held(np.zeros(0, dtype=np.int64), np.array([4]))] == [0, 0]
