"""Entropy utility (Askari eq. 8-20): extremes, the chain rule, a brute force, and a user's background."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy

from house import Make, exactly
from sfumato.channel.channel import Channel
from sfumato.channel.utility import degradation, over_users
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.roles import Roles
from sfumato.inspect.entropy_utility import (
    background_utility,
    chain,
    utility_for,
)
from sfumato.metrics.utility.entropy_utility import entropy, entropy_utility, u_max, utility
from sfumato.metrics.utility.utility_degradation import utility_degradation

ROLES = Roles(quasi=("a", "b"), sensitive=("s",))
RNG = np.random.default_rng(7)
A = RNG.integers(0, 4, 200)
B = np.where(RNG.random(200) < 0.7, A % 3, RNG.integers(0, 3, 200))
S = np.where(RNG.random(200) < 0.5, (A + B) % 5, RNG.integers(0, 5, 200))
DATA = {"a": A.astype(str).tolist(), "b": B.astype(str).tolist(), "s": [None if v == 4 else str(v) for v in S]}


def h(*columns: Sequence[object]) -> float:
    return float(scipy_entropy(list(Counter(zip(*columns, strict=True)).values()), base=2))


def product(*sizes: int) -> dict[str, list[str]]:
    """Every combination once: uniform and independent."""
    rows = list(itertools.product(*map(range, sizes)))
    return {name: [str(r[i]) for r in rows] for i, name in enumerate("abs")}


def test_independent_uniform_columns_are_worth_nothing(release: Make) -> None:
    assert entropy_utility(release(product(4, 3, 2)), ROLES).value == exactly(0)


def test_columns_that_tell_each_other(release: Make) -> None:
    one = [str(i) for i in range(8)]
    assert entropy_utility(release({"a": one, "b": one[::-1], "s": one}), ROLES).value == exactly(3)


def test_a_suppressed_column_is_worth_nothing(release: Make) -> None:
    score = entropy_utility(release({**DATA, "a": ["*"] * 200}), ROLES)
    assert score.details["columns"]["a"] == 0
    everything = {"a": ["*"] * 5, "b": ["*"] * 5, "s": ["*"] * 5}
    assert entropy_utility(release(everything), ROLES).value == 0


def test_by_brute_force(release: Make) -> None:
    """Hmax - H(A | all others), with scipy's entropy; a missing value is a value."""
    columns = [DATA[name] for name in "abs"]
    expected = {}
    for i, name in enumerate("abs"):
        rest = [c for j, c in enumerate(columns) if j != i]
        expected[name] = math.log2(len(set(columns[i]))) - (h(*columns) - h(*rest))
    score = entropy_utility(release(DATA), ROLES)
    assert score.details["columns"] == {name: pytest.approx(value) for name, value in expected.items()}
    assert score.value == pytest.approx(sum(expected.values()) / 3)
    weighted = Roles(quasi=("a", "b"), sensitive=("s",), weights={"a": 3, "b": 0})
    assert entropy_utility(release(DATA), weighted).value == pytest.approx((3 * expected["a"] + expected["s"]) / 4)
    nothing = Roles(quasi=("a", "b"), weights={"a": 0, "b": 0})
    with pytest.raises(Unavailable, match="weight"):
        entropy_utility(release(DATA), nothing)


def test_several_and_no_sensitive_columns(release: Make) -> None:
    two = Roles(quasi=("a",), sensitive=("b", "s"))
    assert entropy_utility(release(DATA), two).value == pytest.approx(entropy_utility(release(DATA), ROLES).value)
    none = Roles(quasi=("a", "b"))
    ab = h(DATA["a"], DATA["b"])
    mean = (2 - (ab - h(DATA["b"])) + math.log2(3) - (ab - h(DATA["a"]))) / 2
    assert entropy_utility(release(DATA), none).value == pytest.approx(mean)


def test_degradation(release: Make) -> None:
    assert utility_degradation(release(DATA, DATA), ROLES).value == 0
    all_gone = {name: ["*"] * 200 for name in DATA}
    whole = entropy_utility(release(DATA), ROLES).value
    assert utility_degradation(release(all_gone, DATA), ROLES).value == pytest.approx(whole)
    coarse = {**DATA, "a": [str(int(v) // 2) for v in DATA["a"]]}
    lost = whole - entropy_utility(release(coarse), ROLES).value
    assert utility_degradation(release(coarse, DATA), ROLES).value == pytest.approx(lost)
    assert lost > 0


def test_merging_rare_values_can_seem_a_gain(release: Make) -> None:
    """As the card warns: four equally frequent values merged to 3/4 and 1/4."""
    before = {"a": list("wxyz"), "b": ["k"] * 4, "s": ["k"] * 4}
    after = {**before, "a": ["{w, x, y}"] * 3 + ["z"]}
    gain = 1 - h(after["a"])
    assert utility_degradation(release(after, before), ROLES).value == exactly(-gain / 3)


# --- step by step ----------------------------------------------------------------------------------------------------


def test_u_1_and_the_chain(release: Make) -> None:
    counts = release(DATA).table.count(("a", "b", "s"))
    first, second, last = chain(counts, "a")
    a, b, s = (DATA[name] for name in "abs")
    assert first == utility(counts, "a") == pytest.approx(2 - h(a))  # eq. 8
    assert second - first == pytest.approx(h(a) + h(b) - h(a, b))  # eq. 10: I(A;B)
    assert last - second == pytest.approx(h(a, b) + h(b, s) - h(b) - h(a, b, s))  # eq. 12: I(A;S|B)
    assert last == pytest.approx(u_max(counts)["a"])  # eq. 13
    assert chain(counts, "a", ["s", "b"])[-1] == pytest.approx(last)
    with pytest.raises(InputError, match="x"):
        utility(counts, "x")


def test_entropy_of_nothing_and_of_one_value(release: Make) -> None:
    counts = release({"a": ["x"] * 3, "b": list("xyz")}).table.count(("a", "b"))
    assert entropy(counts, ()) == 0
    assert entropy(counts, ("a",)) == 0
    assert entropy(counts, ("b",)) == exactly(math.log2(3))


def test_a_background_of_generalized_values_is_none(release: Make) -> None:
    counts = release({"a": list("xxyz"), "b": list("ppqq")}).table.count(("a", "b"))
    stars = release({"a": ["*"] * 4, "b": list("ppqq")}).table.count(("a", "b"))
    half = release({"a": ["x", "x", "*", "*"], "b": list("ppqq")}).table.count(("a", "b"))
    assert background_utility(counts, "a", [stars]) == 0
    assert background_utility(counts, "a", [half]) == pytest.approx(0.5 * math.log2(3))  # certain of half of the rows
    assert utility_for(counts, [stars.group(("a",))[0]]) == pytest.approx(utility_for(counts))


def test_a_uniform_background_gets_the_most_and_a_perfect_one_nothing(release: Make) -> None:
    table = release(DATA).table
    counts = table.count(("a", "b", "s"))
    whole = sum(u_max(counts).values()) / 3
    uniform = release(product(4, 3, 5)).table.count(("a", "b", "s"))
    assert utility_for(counts) == pytest.approx(whole)
    assert utility_for(counts, [uniform]) == pytest.approx(whole)
    assert utility_for(counts, [counts]) == exactly(0)
    some = utility_for(counts, [table.count(("a", "b"))])  # knows two columns together
    less = utility_for(counts, [table.count(("a",)), table.count(("b",))])  # knows them one by one
    assert 0 < some < less < whole
    knows = [table.count(("a", "b"))]
    assert background_utility(counts, "s", knows) == 0
    assert background_utility(counts, "a", knows) == pytest.approx(utility(counts, "a", ["b"]))
    assert utility_for(counts, knows, {"a": 0, "b": 0}) == pytest.approx(u_max(counts)["s"])


def test_expectation_over_a_channel_and_over_users() -> None:
    prior, channel = np.array([0.25, 0.75]), np.array([[1.0, 0.0], [0.5, 0.5]])
    lost = np.array([[2.0, 9.0], [1.0, 3.0]])
    assert degradation(Channel(matrix=channel), lost, prior) == exactly(0.25 * 2 + 0.75 * 2)
    assert over_users([1.0, 3.0], [1, 3]) == 2.5
    with pytest.raises(InputError, match="fit"):
        degradation(Channel(matrix=channel), lost[:1], prior)
    with pytest.raises(InputError, match="weight"):
        over_users([1.0], [0])
