"""Two releases side by side: counted by hand, and the same from either side."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.metric import Score
from sfumato.core.release import Release
from sfumato.inspect import versus as room
from sfumato.inspect.versus import Versus, versus
from sfumato.metrics import metric
from study_house import CANARY, ROLES, memory

PEOPLE = {"q": ["a", "a", "b", "b", "c", "d"], "s": list("xyxyxy")}
ONE = sf.Roles(quasi=("q",), sensitive=("s",))


def made(released: list[Any], pairing: str = "position", **more: Any) -> Release:
    original = sf.read(pa.table(PEOPLE))
    rows = [(q, s) for q, s in zip(released, PEOPLE["s"], strict=True) if q is not None]
    table = sf.read(pa.table({"q": [q for q, _ in rows], "s": [s for _, s in rows]}))
    return Release(table=table, original=original, pairing=pairing, **more)


def swapped(found: Versus) -> dict[str, Any]:
    """What comparing the other way round must say."""
    turn = {"a": "b", "b": "a", "neither": "neither", None: None, "alike": "alike"}
    return {
        "classes": {k: (y, x) for k, (x, y) in found.classes.items()},
        "columns": {k: (y, x) for k, (x, y) in found.columns.items()},
        "people": {k: {turn[side]: n for side, n in each.items()} for k, each in found.people.items()},
        "measures": {k: (y, x, turn[side]) for k, (x, y, side) in found.measures.items()},
        "dominates": turn[found.dominates],
    }


def test_by_hand() -> None:
    """A leaves all as it is; B has two classes of `*` and a."""
    a, b = made(["a", "a", "b", "b", "c", "d"]), made(["a", "a", "*", "*", "*", "*"])
    found = versus(a, b, ONE)
    assert found.classes == {
        "classes": (4, 2),
        "smallest class": (1, 2),
        "median class": (1.5, 3),
        "largest class": (2, 4),
        "people released": (6, 6),
        "people in classes below 5": (6, 6),
    }
    assert found.people == {
        "precision": {"a": 4, "b": 0, "alike": 2},
        "company": {"a": 0, "b": 4, "alike": 2},
    }
    assert found.columns["q"] == (0, pytest.approx(4 / 6 * 3 / 4))
    assert found.measures["k_anonymity"] == (1, 2, "b")
    assert found.measures["iloss"][2] == "a"
    assert found.dominates is None
    assert "4 people are described more precisely in A, 0 in B, 2 in both alike." in found.sentences


def test_a_release_against_itself_is_alike_in_everything() -> None:
    release = sf.Mondrian(k=4)(memory(), ROLES)
    found = versus(release, sf.Mondrian(k=4)(memory(), ROLES), ROLES)
    assert found.better == {"a": 0, "b": 0, "neither": len(found.measures)}
    assert found.dominates is None
    assert all(each["alike"] == 80 and each["a"] == each["b"] == 0 for each in found.people.values())
    assert all(x == y for x, y in found.columns.values())
    assert len(found.measures) > 10


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mondrian k=3", "mondrian k=9"),
        ("mondrian k=3 mode=relaxed", "k_member k=3"),
        ("mondrian k=4", "local_suppression k=4"),
    ],
)
def test_from_the_other_side_it_is_the_same(one: str, other: str) -> None:
    import numpy as np

    from sfumato.study.candidate import Candidate

    table = memory()
    a, b = (Candidate.of(text).mechanism(table, ROLES, np.random.default_rng(0)) for text in (one, other))  # type: ignore[misc]
    there, back = versus(a, b, ROLES), versus(b, a, ROLES)
    turned = swapped(there)
    for name, value in turned.items():
        assert getattr(back, name) == value, name
    for each in there.people.values():
        assert sum(each.values()) == 80
    json.dumps(there.to_dict())
    assert CANARY not in json.dumps(there.to_dict())


def test_smaller_classes_of_one_division_are_more_precise() -> None:
    """k = 9 only joins what k = 3 divides or the like: nobody has more company and less precision at once."""
    table = memory()
    found = versus(sf.Mondrian(k=2)(table, ROLES), sf.Mondrian(k=40)(table, ROLES), ROLES)
    assert found.people["precision"]["b"] == 0
    assert found.people["company"]["a"] == 0
    x, y, side = found.measures["prosecutor_risk"]
    assert side == "b"
    assert y < x


def test_people_left_out_count_as_described_by_nothing_and_in_no_class() -> None:
    a, b = made(["a", "a", "b", "b", "*", "*"]), made(["a", "a", "b", "b", None, None], pairing="none")
    found = versus(a, b, ONE)
    assert found.classes["people released"] == (6, 4)
    assert "people" in found.skipped  # rows of b are not paired, and it says so
    assert found.people == {}
    table = sf.read(pa.table(PEOPLE))
    kept = sf.mechanisms.mechanism("generalize_to_levels").of({"levels": "0", "k": "2", "suppression": "0.5"})(
        table, ONE
    )
    again = versus(a, kept, ONE)
    assert again.people["precision"] == {"a": 0, "b": 0, "alike": 6}, "a `*` and no row at all tell nothing alike"
    assert again.people["company"] == {"a": 2, "b": 0, "alike": 4}


def test_without_originals_people_are_not_compared() -> None:
    a = Release(table=sf.read(pa.table(PEOPLE)))
    b = made(["*"] * 6)
    found = versus(a, b, ONE)
    assert found.people == {}
    assert "original" in found.skipped["people"]
    assert "k_anonymity" in found.measures


def test_a_perturbed_release_is_compared_by_what_both_can_be_asked() -> None:
    a, b = made(["a", "a", "b", "b", "c", "c"], perturbed=frozenset({"q"})), made(["*"] * 6)
    found = versus(a, b, ONE)
    assert "k_anonymity" not in found.measures
    assert "k_anonymity" in found.skipped


# --- which is better -------------------------------------------------------------------------------------------------


def scored(monkeypatch: pytest.MonkeyPatch, one: dict[str, float], other: dict[str, float]) -> Versus:
    both = iter([one, other])

    def measure(release: Any, roles: Any, asked: Any) -> Any:
        return {name: (metric(name), Score(value, "x")) for name, value in next(both).items()}, {}

    monkeypatch.setattr(room.metrics, "measure_available", measure)
    return versus(made(["*"] * 6), made(["*"] * 6), ONE)


@pytest.mark.parametrize(
    ("x", "y", "lower", "higher"),
    [
        (1.0, 2.0, "a", "b"),
        (2.0, 2.0, "neither", "neither"),
        (0.1 + 0.2, 0.3, "neither", "neither"),
        (math.inf, math.inf, "neither", "neither"),
        (math.inf, 5.0, "b", "a"),
        (5.0, math.inf, "a", "b"),
        (math.nan, 5.0, "neither", "neither"),
        (5.0, math.nan, "neither", "neither"),
        (math.nan, math.nan, "neither", "neither"),
        (0.0, 1e-9, "a", "b"),
    ],
)
def test_which_of_two_numbers_is_better(
    monkeypatch: pytest.MonkeyPatch, x: float, y: float, lower: str, higher: str
) -> None:
    found = scored(monkeypatch, {"prosecutor_risk": x, "k_anonymity": x}, {"prosecutor_risk": y, "k_anonymity": y})
    assert found.measures["prosecutor_risk"][2] == lower
    assert found.measures["k_anonymity"][2] == higher


@given(st.lists(st.sampled_from(["a", "b", "neither"]), max_size=6))
def test_one_dominates_if_it_is_better_somewhere_and_worse_nowhere(sides: list[str]) -> None:
    measures = {str(i): (1.0, 2.0, side) for i, side in enumerate(sides)}
    found = Versus("left", "right", {}, {}, {}, measures, {})
    wanted = "a" if "a" in sides and "b" not in sides else "b" if "b" in sides and "a" not in sides else None
    assert found.dominates == wanted
    first, *rest = found.sentences
    assert f"Of {len(sides)} measure" in first
    assert f"left is better by {sides.count('a')}" in first
    assert f"right by {sides.count('b')}" in first
    assert rest == ([] if wanted is None else [f"{'left' if wanted == 'a' else 'right'} is worse by none of them."])


def test_weights_and_missing_values_count(table: Callable[..., Any]) -> None:
    """A column of weight 0 says nothing about precision; a missing value is a value."""
    original = {"q": ["a", "b", None, None], "r": ["x", "y", "x", "y"]}
    roles = sf.Roles(quasi=("q", "r"), weights={"q": 0, "r": 1})
    a = Release(table=table({"q": ["*"] * 4, "r": ["x", "y", "x", "y"]}), original=table(original), pairing="position")
    b = Release(
        table=table({"q": ["a", "b", None, None], "r": ["x", "y", "x", "*"]}),
        original=table(original),
        pairing="position",
    )
    found = versus(a, b, roles)
    assert found.people["precision"] == {"a": 1, "b": 0, "alike": 3}
