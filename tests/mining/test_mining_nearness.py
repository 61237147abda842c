"""c%-nearer at its edges, for numbers and for everything that covers several values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.column import encode
from sfumato.core.cover import Domain
from sfumato.core.hierarchy import Hierarchy
from sfumato.mining.nearness import Ruler, nearer, numeric_distance

INF, NAN = np.inf, np.nan


def hit(predicted: float, released: float, c: float) -> bool:
    return bool(nearer(np.array([predicted]), np.array([released]), c)[0])


@pytest.mark.parametrize(
    ("predicted", "released", "c", "expected"),
    [
        (0, 2, 0, True),  # strictly nearer
        (1.999, 2, 0, True),
        (2, 2, 0, False),  # as near is not nearer
        (0, 0, 0, False),  # nothing is nearer than the truth itself
        (3, 2, 0, False),
        (1, 2, 50, True),  # at most half the distance, the half included
        (1.001, 2, 50, False),
        (0.5, 2, 75, True),
        (0.51, 2, 75, False),
        (0, 0, 50, True),  # <= holds: both are the truth
        (0, 2, 100, True),  # exact
        (1e-9, 2, 100, False),
        (0, 0, 100, True),
        (0, INF, 100, True),
        (5, INF, 0, True),  # a released value that misses the truth is infinitely far
        (INF, INF, 0, False),
        (5, INF, 50, True),
        (INF, INF, 50, False),
        (INF, 5, 50, False),
        (INF, INF, 100, False),
    ],
)
def test_nearer(predicted: float, released: float, c: float, expected: bool) -> None:
    assert hit(predicted, released, c) is expected


def test_a_larger_c_never_finds_more() -> None:
    rng = np.random.default_rng(3)
    predicted, released = rng.integers(0, 6, 500).astype(float), rng.integers(0, 6, 500).astype(float)
    away = released > 0
    found = [nearer(predicted, released, c)[away].sum() for c in (0, 1, 25, 50, 75, 99, 100)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1] > 0


def test_distance_of_numbers() -> None:
    values, truth = np.array([3.0, -1.0, NAN, 4.0, NAN]), np.array([5.0, 1.0, 7.0, NAN, NAN])
    assert numeric_distance(values, truth).tolist() == [2, 2, INF, INF, 0]


def far(
    released: Sequence[Any], domain: Sequence[Any], hierarchy: Hierarchy | None = None
) -> dict[Any, dict[Any, float]]:
    """Every label's distance from every value, by their spelling."""
    before, _ = encode("x", pa.array(domain))
    after, _ = encode("x", pa.array(released, pa.string()))
    ruler = Ruler.of(after, Domain(before, hierarchy))
    return {a: dict(zip(before.texts, ruler.far[i].tolist(), strict=True)) for i, a in enumerate(after.texts)}


def test_an_interval_is_as_far_as_it_is_long_if_it_holds_the_truth() -> None:
    found = far(["[20,30)", "20-29", "[20,40]", "25", "*", "<30", "{20, 25}"], [20, 25, 29, 30, 40])
    assert found["[20,30)"] == {"20": 10, "25": 10, "29": 10, "30": INF, "40": INF}
    assert found["20-29"] == {"20": 9, "25": 9, "29": 9, "30": INF, "40": INF}
    assert found["[20,40]"] == dict.fromkeys(["20", "25", "29", "30", "40"], 20.0)
    assert found["25"] == {"20": INF, "25": 0, "29": INF, "30": INF, "40": INF}
    assert found["*"] == dict.fromkeys(["20", "25", "29", "30", "40"], 20.0)  # from the least to the largest value
    assert found["<30"] == {"20": 9, "25": 9, "29": 9, "30": INF, "40": INF}  # without an edge: of the values it holds
    assert found["{20, 25}"] == {"20": 5, "25": 5, "29": INF, "30": INF, "40": INF}


def test_a_shorter_interval_that_misses_the_truth_is_not_nearer() -> None:
    found = far(["[20,25)", "[20,40)", "[20,30)"], [20, 24, 27, 33])
    assert hit(found["[20,25)"]["24"], found["[20,40)"]["24"], 0)
    assert not hit(found["[20,25)"]["27"], found["[20,40)"]["27"], 0)
    assert hit(found["[20,30)"]["27"], found["[20,40)"]["27"], 50)  # 10 of 20 years: half
    assert not hit(found["[20,30)"]["27"], found["[20,40)"]["27"], 51)
    assert not hit(found["[20,25)"]["24"], found["[20,40)"]["24"], 100)  # an interval is never exact


def test_missing_is_a_value() -> None:
    found = far(["*", None, "[20,30)"], [20, 25, None])
    assert found[None] == {"20": INF, "25": INF, None: 0}
    assert found["*"] == {"20": 5, "25": 5, None: 5}
    assert found["[20,30)"][None] == INF


def test_nodes_and_sets_are_as_far_as_they_have_other_values() -> None:
    towns = Hierarchy.of("x", [("Arles", "south", "*"), ("Cadiz", "south", "*"), ("Delft", "north", "*")])
    found = far(["south", "north", "Cadiz", "*", "{Arles, Delft}", "nonsense"], ["Arles", "Cadiz", "Delft"], towns)
    assert found["south"] == {"Arles": 1, "Cadiz": 1, "Delft": INF}
    assert found["north"] == {"Arles": INF, "Cadiz": INF, "Delft": 0}  # it has one value: the truth is told
    assert found["Cadiz"] == {"Arles": INF, "Cadiz": 0, "Delft": INF}
    assert found["*"] == {"Arles": 2, "Cadiz": 2, "Delft": 2}
    assert found["{Arles, Delft}"] == {"Arles": 1, "Cadiz": INF, "Delft": 1}
    assert found["nonsense"] == dict.fromkeys(["Arles", "Cadiz", "Delft"], INF)


def test_a_distance_a_row() -> None:
    column, _ = encode("x", pa.array([1, 2, 4]))
    released, codes = encode("x", pa.array(["1", "[1,4]", "1"]))
    ruler = Ruler.of(released, Domain(column))
    assert ruler.distance(codes, np.array([0, 2, 1])).tolist() == [0, 3, INF]
