"""The frontier against a search over all pairs, and the knee on shapes whose answer is plain to see."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.search.pareto import frontier, knee

values = st.integers(0, 5).map(float) | st.floats(-3, 3, allow_nan=False)
clouds = st.lists(st.tuples(values, values), min_size=1, max_size=12)


def split(points: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    risk, loss = zip(*points, strict=True)
    return np.array(risk), np.array(loss)


def beats(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a != b and a[0] <= b[0] and a[1] <= b[1]


@given(points=clouds)
def test_the_frontier_is_what_no_other_point_beats(points: list[tuple[float, float]]) -> None:
    expected = [
        i
        for i, point in enumerate(points)
        if not any(beats(other, point) for other in points) and point not in points[:i]  # the first of equal points
    ]
    found = frontier(*split(points)).tolist()
    assert sorted(found) == expected
    assert [points[i][1] for i in found] == sorted(points[i][1] for i in found)
    assert [points[i][0] for i in found] == sorted((points[i][0] for i in found), reverse=True)


@given(points=clouds)
def test_the_knee_is_the_point_farthest_below_the_line_between_the_ends(points: list[tuple[float, float]]) -> None:
    risk, loss = split(points)
    on = frontier(risk, loss)
    found = knee(risk, loss, on)
    if len(on) < 3:
        assert found is None
        return
    first, last = points[on[0]], points[on[-1]]  # least loss, least risk

    def below(i: int) -> float:
        """Distance from the line through the ends, both axes stretched to 0-1; positive towards the origin."""
        x = (points[i][1] - first[1]) / (last[1] - first[1])
        y = (points[i][0] - last[0]) / (first[0] - last[0])
        return (1 - x - y) / math.sqrt(2)

    best = max(below(int(i)) for i in on)
    if found is None:
        assert best <= 1e-9
    else:
        assert found in on
        assert below(found) == pytest.approx(best, abs=1e-9)
        assert best > 0


@given(points=clouds, scale=st.floats(0.1, 100), shift=st.integers(-5, 5))
def test_units_do_not_move_the_knee(points: list[tuple[float, float]], scale: float, shift: int) -> None:
    risk, loss = split([(float(round(r)), float(round(l))) for r, l in points])
    on = frontier(risk, loss)
    here = knee(risk, loss, on)
    there = knee(risk * 2.0**shift, loss, on)  # powers of two keep every digit
    assert here == there
    moved = knee(risk, loss * scale, on)
    assert (here is None) == (moved is None)


@pytest.mark.parametrize(
    ("points", "on", "turn"),
    [
        pytest.param([(1, 1)], [0], None, id="one point"),
        pytest.param([(1, 0), (0, 1)], [0, 1], None, id="two points"),
        pytest.param([(1, 0), (0.5, 0.5), (0, 1)], [0, 1, 2], None, id="on a line"),
        pytest.param([(1, 0), (0.9, 0.6), (0, 1)], [0, 1, 2], None, id="bulging outwards"),
        pytest.param([(1, 0), (0.1, 0.2), (0, 1)], [0, 1, 2], 1, id="one turn"),
        pytest.param([(0, 1), (0.1, 0.2), (1, 0)], [2, 1, 0], 1, id="in another order"),
        pytest.param([(1, 0), (0.5, 0.2), (0.2, 0.5), (0, 1)], [0, 1, 2, 3], 2, id="two equal turns: the lower risk"),
        pytest.param([(1, 0), (0.5, 0.1), (0.4, 0.3), (0, 1)], [0, 1, 2, 3], 1, id="the sharper of two"),
        pytest.param([(1, 1), (1, 1), (1, 1)], [0], None, id="duplicates"),
        pytest.param([(1, 0), (1, 0), (0.1, 0.2), (0.1, 0.2), (0, 1)], [0, 2, 4], 2, id="duplicates on a frontier"),
        pytest.param([(1, 0), (1, 0.5), (0.5, 0.5), (0.5, 0.9)], [0, 2], None, id="equal on one axis"),
        pytest.param([(0, 0), (1, 0), (0, 1), (1, 1)], [0], None, id="one beats all"),
    ],
)
def test_shapes(points: list[tuple[float, float]], on: list[int], turn: int | None) -> None:
    risk, loss = split(points)
    found = frontier(risk, loss)
    assert found.tolist() == on
    assert knee(risk, loss, found) == turn


def test_no_points_have_no_frontier() -> None:
    assert frontier(np.array([]), np.array([])).tolist() == []
