"""How much an adversary must know: extremes, then every belief of a fine grid, which must never learn more nor much less."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.inspect.knowledge_needed import knowledge_needed, most_learned

ROLES = sf.Roles(quasi=("q",), sensitive=("s",))


def asked(classes: str, values: str, limit: float = 0.5) -> sf.inspect.knowledge_needed.KnowledgeNeeded:
    release = sf.Release(table=sf.read(pa.table({"q": [*classes], "s": [*values]})))
    return knowledge_needed(release, ROLES, limit=limit)


def test_one_class_teaches_nobody() -> None:
    found = asked("aaaaaa", "xxxyyz")
    assert all(learned == pytest.approx(0, abs=1e-12) for _, learned in found.curve)
    assert found.needed == math.inf
    assert "No belief about a person" in found.sentences[0]


def test_a_class_of_one_value_teaches_everybody() -> None:
    found = asked("aabbbb", "xxyyyz", limit=0.6)
    assert found.curve[0][1] == pytest.approx(2 / 3)  # x, which a third has, is certain in class a
    assert found.needed == 0
    assert "without knowing anything else" in found.sentences[0]
    assert found.curve[-1][1] == pytest.approx(1)  # who held x for nearly impossible is corrected


def test_by_hand() -> None:
    """Two even values; in class a x is three times as likely as y. A belief of a = 1/(1 + sqrt 3) in x grows most, by (sqrt 3 - 1)/(sqrt 3 + 1)."""
    found = asked("aaaabbbb", "xxxyxyyy", limit=0.26)
    assert found.curve[0][1] == pytest.approx(1 / 4)
    most = (math.sqrt(3) - 1) / (math.sqrt(3) + 1)
    assert max(learned for _, learned in found.curve) == pytest.approx(most)
    # 3a/(1 + 2a) - a = 0.26 at the a nearest to 1/2
    a = max(np.roots([2, 1 - 3 + 2 * 0.26, 0.26]).real)
    assert found.needed == pytest.approx(0.5 - a, abs=2e-6)


FINE = 120
GRID = np.array([(i, j, FINE - i - j) for i in range(FINE + 1) for j in range(FINE + 1 - i)]) / FINE


@settings(max_examples=60)
@given(
    st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=1, max_size=4),
    st.tuples(*[st.integers(1, 9)] * 3),
    st.integers(0, FINE),
)
def test_no_belief_of_a_grid_learns_more_and_one_nearly_as_much(
    rows: list[tuple[int, ...]], shares: tuple[int, ...], step: int
) -> None:
    """Three values, every belief on a grid: none within delta learns more, and one comes near to what is learned within a little less."""
    likelihood = np.array([row for row in rows if max(row)] or [(1, 1, 1)], dtype=float)
    likelihood /= likelihood.max(axis=1, keepdims=True)
    prior = np.array(shares) / sum(shares)
    delta = step / FINE
    within = GRID[np.abs(GRID - prior).sum(axis=1) / 2 <= delta + 1e-12]
    joint = within[:, None] * likelihood
    whole = joint.sum(axis=2, keepdims=True)
    learned = (np.divide(joint, whole, out=np.zeros_like(joint), where=whole > 0) - within[:, None]).max(initial=0.0)
    assert most_learned(likelihood, prior, delta) >= learned - 1e-9
    if delta >= 0.05 and likelihood.min() > 0.3:  # else beliefs near 0 are steeper than the grid is fine
        assert most_learned(likelihood, prior, delta - 0.03) <= learned + 0.04


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("wxyz")), min_size=2, max_size=30))
def test_it_begins_with_the_overall_distribution_and_never_falls(rows: list[tuple[str, str]]) -> None:
    classes, values = zip(*rows, strict=True)
    found = asked("".join(classes), "".join(values))
    told = [learned for _, learned in found.curve]
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(told))
    n = len(rows)
    overall = {w: values.count(w) / n for w in values}
    gains = [rows.count((c, w)) / classes.count(c) - overall[w] for c in set(classes) for w in overall]
    assert told[0] == pytest.approx(max(0.0, *gains), abs=1e-9)


def test_limits_are_checked_and_it_is_json() -> None:
    for limit in (0, 1, -1, float("nan")):
        with pytest.raises(InputError, match="above 0 and below 1"):
            asked("ab", "xy", limit)
    assert json.loads(json.dumps(asked("aabb", "xyxz").to_dict()))["exactness"] == "exact"
