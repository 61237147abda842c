"""Publishing rules: what they give each node, and what they leak on the paper's example."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from k_anonymity_oracle import Description, error, paper, shares, some_description

from selection import rounds
from sfumato.channel.k_anonymity import solve
from sfumato.channel.publishing_rule import RULES, rule
from sfumato.core.errors import InputError

NODES = list(itertools.product(range(3), range(2)))
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def share(publish: Any, allowed: list[tuple[int, int]]) -> dict[tuple[int, int], Fraction]:
    found = rule(publish, NODES).share([node in allowed for node in NODES])
    return {node: p for node, p in zip(NODES, found, strict=True) if p}


# --- extremes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("publish", [*RULES, [1] * 6, lambda free: free[0]])
def test_nothing_allowed_publishes_nothing(publish: Any) -> None:
    assert share(publish, []) == {}


@pytest.mark.parametrize("publish", [*RULES, [1] * 6, lambda free: free[0]])
def test_one_allowed_node_is_published(publish: Any) -> None:
    assert share(publish, [(2, 1)]) == {(2, 1): 1}


# --- each rule -------------------------------------------------------------------------------------------------------

UP = [(1, 1), (2, 0), (2, 1)]


def test_what_each_rule_gives() -> None:
    assert share("uniform", UP) == dict.fromkeys(UP, THIRD)
    assert share("minimal", UP) == {(1, 1): HALF, (2, 0): HALF}
    assert share("deterministic", UP) == {(1, 1): 1}  # both have height 2, and (1, 1) comes first
    assert share("most general", UP) == {(2, 1): 1}
    assert share([9, 9, 9, 1, 0, 3], UP) == {(1, 1): Fraction(1, 4), (2, 1): Fraction(3, 4)}
    assert share({(1, 1): 0.1, (2, 0): 0.2}, UP) == {(1, 1): THIRD, (2, 0): 2 * THIRD}
    assert share(lambda free: free[-1], UP) == {(2, 1): 1}
    assert share(lambda free: {free[0]: 1, free[1]: 2}, UP) == {(1, 1): THIRD, (2, 0): 2 * THIRD}


def test_weights_of_nothing_publish_nothing() -> None:
    assert share([1, 0, 0, 0, 0, 0], UP) == {}


@pytest.mark.parametrize("publish", ["uniform", "minimal", "deterministic", "most general"])
def test_rules_agree_with_plain_python_on_every_set_that_is_closed_upwards(publish: str) -> None:
    d = paper(publish=publish)
    for n in range(1, 7):
        for chosen in itertools.combinations(NODES, n):
            closed = all(
                other in chosen for node in chosen for other in NODES if other[0] >= node[0] and other[1] >= node[1]
            )
            if closed:
                assert share(publish, list(chosen)) == shares(d, list(chosen))


# --- what they leak --------------------------------------------------------------------------------------------------


def test_the_papers_headline_and_why_it_is_no_theorem() -> None:
    errors = {publish: solve(paper(publish=publish)).error for publish in RULES}
    assert errors["deterministic"] == pytest.approx(0.9442307692307692, abs=1e-15)
    assert errors["uniform"] == pytest.approx(0.9873829873829875, abs=1e-15)
    assert errors["deterministic"] < errors["uniform"]  # the headline
    assert errors["most general"] > errors["uniform"]  # deterministic as well, and it leaks least


def test_minimal_leaks_as_much_as_deterministic_publishing() -> None:
    """A release at its floor is certain for the table that may be released nowhere else; choosing at random helps no one there."""
    for seed in rounds(60):
        d = some_description(seed, most=300, t=None)
        found = [error(Description(rows=d.rows, attributes=d.attributes, k=d.k, l=d.l, publish=p)) for p in ("minimal", "deterministic")]  # fmt: skip
        assert found[0] == found[1]


def test_uniform_and_most_general_publishing_leak_no_more_than_deterministic() -> None:
    """Releases with the same rows at their floor share one probability of at most 1, and deterministic publishing has all of it.

    So for any weights above 0 under a uniform prior; of functions nothing is claimed.
    """
    for seed in rounds(40):
        d = some_description(seed, most=300, k=2, t=None)
        errors = [
            solve(Description(rows=d.rows, attributes=d.attributes, k=d.k, l=d.l, publish=p)).exact for p in RULES
        ]
        assert all(value is not None for value in errors)
        assert errors[2] <= errors[0]  # type: ignore[operator]
        assert errors[2] <= errors[3]  # type: ignore[operator]


# --- what cannot be used ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("publish", "says"),
    [
        ("best", "publish must be one of uniform, minimal, deterministic, most general"),
        ([1, 2], "2 weights for 6 nodes"),
        ([1, 1, 1, 1, 1, -1], "at least 0"),
        ([1, 1, 1, 1, 1, "a"], "at least 0"),
        ([1, 1, 1, 1, 1, float("nan")], "at least 0"),
        ({(7, 7): 1}, "none of the generalizations"),
    ],
)
def test_rules_that_cannot_be_used_are_refused(publish: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        rule(publish, NODES)


def test_a_function_may_choose_only_what_is_allowed() -> None:
    with pytest.raises(InputError, match="may not be released at"):
        share(lambda free: (0, 0), UP)
