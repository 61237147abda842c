"""(c,t)-isolation of released numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial import KDTree

import sfumato as sf
from sfumato.core.errors import Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles

LINE, PLANE = Roles(quasi=("x",)), Roles(quasi=("x", "y"))


def test_a_row_released_as_it_is_isolates_itself(release: Callable[..., Release]) -> None:
    columns = {"x": [1, 2, 3, 4]}
    assert sf.isolation(release(columns, columns), LINE).value == 1
    twice = {"x": [1, 1, 2, 2, 2]}
    assert sf.isolation(release(twice, twice), LINE).per_class == pytest.approx([2, 3])


def test_the_ball_grows_with_the_distance(release: Callable[..., Release]) -> None:
    """Real rows at 0, 1, ..., 9; a point at 4.4 is 0.4 from the nearest: c = 2 reaches 3.6 to 5.2."""
    real = {"x": [float(i) for i in range(10)]}
    made = release({"x": [4.4]}, real)
    for c, rows in ((1, 1), (1.4, 1), (1.5, 2), (2, 2), (3.4, 2), (3.5, 3), (100, 10)):
        assert sf.isolation(c=c)(made, LINE).value == rows, c
    assert sf.isolation(release({"x": [4.5]}, real), LINE).value == 2  # two are nearest
    assert sf.isolation(c=2)(release({"x": [1000.0]}, real), LINE).value == 10


def test_the_worst_point_counts(release: Callable[..., Release]) -> None:
    real = {"x": [0.0, 1.0, 2.0, 50.0]}
    score = sf.isolation(release({"x": [1.0, 49.0, 20.0]}, real), LINE)
    assert sorted(score.per_class) == [1, 1, 4]
    assert (score.value, score.details["worst_points"]) == (1, 2)


def test_units_do_not_matter_and_constant_columns_neither(release: Callable[..., Release]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40))
    u, v = x + rng.normal(size=40), y + rng.normal(size=40)
    for scale in (1.0, 1e-6, 1e6):
        made = release({"x": u, "y": v * scale}, {"x": x, "y": y * scale})
        assert sf.isolation(made, PLANE).per_class == pytest.approx(
            sf.isolation(release({"x": u, "y": v}, {"x": x, "y": y}), PLANE).per_class
        )
    flat = release({"x": u, "y": [1.0] * 40}, {"x": x, "y": [1.0] * 40})
    assert sf.isolation(flat, PLANE).value == sf.isolation(release({"x": u}, {"x": x}), LINE).value


def test_missing_is_far_from_every_number(release: Callable[..., Release]) -> None:
    made = release({"x": [None, None, 2.5]}, {"x": [None, None, 2.0, 3.0]})
    assert sf.isolation(made, LINE).per_class == pytest.approx([2, 2])


def test_columns_that_are_no_numbers(release: Callable[..., Release], refusal: Callable[..., str]) -> None:
    mixed = {"x": [1.0, 2.0, 9.0], "y": ["a", "b", "c"]}
    score = sf.isolation(release(mixed, mixed), PLANE)
    assert (score.value, score.details["columns"], score.per_class) == (1, ["x"], None)
    refusal(Unavailable, lambda: sf.isolation(release({"x": ["a"]}, {"x": ["a"]}), LINE), "numbers")
    refusal(Unavailable, lambda: sf.isolation(release({"x": ["[1,2]"]}, {"x": [1]}), LINE), "generalized")
    refusal(Unavailable, lambda: sf.isolation(release({"x": [1]}), LINE), "--original")


def test_what_is_too_large_is_refused(
    release: Callable[..., Release], refusal: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.metrics.privacy import isolation as home

    monkeypatch.setattr(home, "MOST", 11)
    columns = {"x": [1, 2, 3, 4]}
    refusal(Unavailable, lambda: sf.isolation(release(columns, columns), LINE), "4 times 4")


@pytest.mark.parametrize("c", [1.5, 2, 4])
def test_a_tree_finds_the_same(c: float, release: Callable[..., Release]) -> None:
    rng = np.random.default_rng(3)
    real = rng.normal(size=(500, 2)).round(1)
    new = (real + rng.normal(size=(500, 2)) * 0.3).round(3)
    score = sf.isolation(c=c)(release({"x": new[:, 0], "y": new[:, 1]}, {"x": real[:, 0], "y": real[:, 1]}), PLANE)
    tree = KDTree(real / real.std(axis=0))
    points = np.unique(new, axis=0) / real.std(axis=0)
    distance, _ = tree.query(points)
    expected = [len(tree.query_ball_point(p, c * d * (1 + 1e-10))) for p, d in zip(points, distance, strict=True)]
    assert score.per_class == pytest.approx(expected)
