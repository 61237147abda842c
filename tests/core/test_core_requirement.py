"""Requirements and metrics from texts, and how they are refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, RequirementError, Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("k_anonymity >= 5", "k_anonymity >= 5"),
        ("  k_anonymity>=5 ", "k_anonymity >= 5"),
        ("k_anonymity ≥ 5.0", "k_anonymity >= 5"),
        ("prosecutor_risk ≤ .05", "prosecutor_risk <= 0.05"),
        ("t_closeness[ordered](salary) <= 0.2", "t_closeness[ordered](salary) <= 0.2"),
        ("t_closeness [ ordered ] ( salary )<=2e-1", "t_closeness[ordered](salary) <= 0.2"),
        ('distinct_l_diversity("a ""b"" (c)") >= 2', 'distinct_l_diversity("a ""b"" (c)") >= 2'),
        ("distinct_l_diversity(marital status) >= 2", "distinct_l_diversity(marital status) >= 2"),
        ("entropy_l_diversity >= 2.7", "entropy_l_diversity >= 2.7"),
        ("one_symbol_i2 <= -1", "one_symbol_i2 <= -1"),
    ],
)
def test_requirements_read_and_print(text: str, printed: str) -> None:
    requirement = sf.require(text)
    assert str(requirement) == printed
    assert sf.require(printed) == requirement


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("k_anonymty >= 5", ["'k_anonymty'", "'k_anonymity'"]),
        ("elephants >= 5", ["'elephants'", "k_anonymity"]),
        ("k_anonymity <= 5", ["k_anonymity >= 5", "higher"]),
        ("prosecutor_risk >= 0.1", ["prosecutor_risk <= 0.1", "lower"]),
        ("k_anonymity > 5", [">="]),
        ("k_anonymity == 5", [">="]),
        ("k_anonymity", ["limit", "k_anonymity >= 5"]),
        ("prosecutor_risk", ["prosecutor_risk <= "]),
        ("k_anonymity >= five", ["not a number"]),
        ("k_anonymity >= nan", ["not a number"]),
        ("k_anonymity >= 5 6", ["not a number"]),
        ("prosecutor_risk <= 1/0", ["not a number", "1/3"]),
        ("prosecutor_risk <= 1/2/3", ["not a number"]),
        ("t_closeness <= 0.2", ["t_closeness[ordered]", "t_closeness[equal]"]),
        ("t_closeness[taxi] <= 0.2", ["t_closeness[ordered]", "t_closeness[equal]"]),
        ("t_closeness[ordered,equal] <= 0.2", ["t_closeness[ordered]"]),
        ("k_anonymity[5] >= 5", ["no parameter"]),
        ("k_anonymity(salary) >= 5", ["salary"]),
        ("k anonymity >= 5", ["k_anonymity >= 5"]),
        (">= 5", ["k_anonymity >= 5"]),
        ("", ["k_anonymity >= 5"]),
        ("distinct_l_diversity(salary >= 2", ["k_anonymity >= 5"]),
    ],
)
def test_requirements_that_cannot_be_understood(refusal: Callable[..., str], text: str, names: list[str]) -> None:
    refusal(RequirementError, lambda: sf.require(text), *names)


def test_a_metric_has_no_limit(refusal: Callable[..., str]) -> None:
    assert sf.metric("t_closeness[equal](salary)") == sf.t_closeness(ground="equal").on("salary")
    refusal(RequirementError, lambda: sf.metric("k_anonymity >= 5"), "k_anonymity")


def test_the_same_from_python(refusal: Callable[..., str]) -> None:
    assert sf.k_anonymity.at_least(5) == sf.require("k_anonymity >= 5")
    assert sf.t_closeness(ground="ordered").at_most(0.2) == sf.require("t_closeness[ordered] <= 0.2")
    assert sf.t_closeness(ground="ordered").on("w").at_most(1) == sf.require("t_closeness[ordered](w) <= 1")
    refusal(RequirementError, lambda: sf.k_anonymity.at_most(5), "k_anonymity >= 5")
    refusal(RequirementError, lambda: sf.t_closeness.at_least(5), "t_closeness")
    refusal(RequirementError, lambda: sf.t_closeness(ground="taxi"), "t_closeness[equal]")
    refusal(RequirementError, lambda: sf.t_closeness(floor="equal"), "t_closeness[equal]")
    refusal(RequirementError, lambda: sf.k_anonymity.on("salary"), "salary")
    refusal(RequirementError, lambda: sf.k_anonymity.at_least(math.nan), "not a number")


def test_a_metric_needs_its_parameter_before_it_measures(
    release: Callable[..., Release], refusal: Callable[..., str]
) -> None:
    published, roles = release({"q": ["a"], "s": ["1"]}), Roles(quasi=("q",), sensitive=("s",))
    refusal(RequirementError, lambda: sf.t_closeness(published, roles), "t_closeness[ordered]")


def test_rounding_does_not_fail_what_meets_its_limit_and_passes_nothing_else() -> None:
    at_least, at_most = sf.require("entropy_l_diversity >= 3"), sf.require("t_closeness[equal] <= 0.3")
    assert at_least.holds(2.9999999999999996)
    assert at_most.holds(0.1 + 0.2)
    assert not at_least.holds(3 - 1e-9)
    assert not at_most.holds(0.3 + 1e-9)
    assert sf.require("k_anonymity >= 5").passes(np.array([4.0, 5.0, 6.0])).tolist() == [False, True, True]


def test_a_verdict_says_what_was_measured(release: Callable[..., Release]) -> None:
    published, roles = release({"q": ["a", "a", "b"], "s": ["1", "2", "1"]}), Roles(quasi=("q",), sensitive=("s",))
    verdict = sf.require("k_anonymity >= 2").check(published, roles)
    assert not verdict.met
    assert str(verdict) == "k_anonymity >= 2: not met, measured 1 (exact)"
    assert str(sf.require("k_anonymity >= 1").check(published, roles)) == "k_anonymity >= 1: met, measured 1 (exact)"


def test_measuring_a_named_metric_never_skips_it(release: Callable[..., Release], refusal: Callable[..., str]) -> None:
    published, roles = release({"q": ["a"], "s": ["1"]}), Roles(quasi=("q",), sensitive=("s",))
    scores, skipped = sf.measure(published, roles)
    assert "k_anonymity" in scores
    assert "iloss" in skipped
    refusal(Unavailable, lambda: sf.measure(published, roles, [sf.iloss]), "--original")


def test_an_unknown_pairing_is_refused(refusal: Callable[..., str], table: Callable[..., object]) -> None:
    refusal(InputError, lambda: Release(table=table({"a": ["x"]}), pairing="luck"), "'luck'", "position")


def test_a_bound_implies_every_looser_one_of_the_same_metric_and_no_other() -> None:
    k4, k3, risk = (sf.require(text) for text in ("k_anonymity >= 4", "k_anonymity >= 3", "prosecutor_risk <= 0.2"))
    assert k4.implies(k3)
    assert k4.implies(k4)
    assert not k3.implies(k4)
    assert not k4.implies(risk)
    assert risk.implies(sf.require("prosecutor_risk <= 0.3"))
    here, there = (sf.require(f"distinct_l_diversity({name}) >= 3") for name in ("ill", "pay"))
    assert not here.implies(there), "of another column"


@pytest.mark.parametrize("n", range(1, 400))
def test_a_fraction_reads_back_as_itself_and_is_met_by_itself(n: int) -> None:
    asked = sf.require(f"prosecutor_risk <= 1/{n}")
    assert asked.bound == 1 / n
    assert sf.require(str(asked)) == asked
    assert asked.holds(7 / (7 * n))
    assert len(str(asked)) < 30


def test_a_third_is_spelled_as_one() -> None:
    assert str(sf.require("prosecutor_risk <= 1/3")) == "prosecutor_risk <= 1/3"
    assert str(sf.require("prosecutor_risk <= 0.3333333333333333")) == "prosecutor_risk <= 1/3"
    assert str(sf.require("prosecutor_risk <= 2/8")) == "prosecutor_risk <= 0.25"
    assert str(sf.require("prosecutor_risk <= 0.33")) == "prosecutor_risk <= 0.33"


@pytest.mark.parametrize("wrong", ["k_anonymity >= 5", ["k_anonymity >= 5"], [sf.k_anonymity], 5], ids=str)
def test_what_is_no_requirement_is_refused_wherever_one_is_wanted(
    release: Callable[..., Release], wrong: object
) -> None:
    roles = Roles(quasi=("q",))
    made = release({"q": ["1", "1"]})
    for call in (
        lambda: sf.Mondrian(k=2, require=wrong),  # type: ignore[arg-type]
        lambda: sf.explore(made.table, roles, require=wrong),  # type: ignore[arg-type]
        lambda: sf.publish(made, roles, wrong, "never.csv"),  # type: ignore[arg-type]
        lambda: sf.Study(made.table, roles, require=wrong),  # type: ignore[arg-type]
    ):
        with pytest.raises(RequirementError, match=r"sfumato\.require\("):
            call()


def test_one_requirement_may_stand_for_a_list() -> None:
    one = sf.k_anonymity.at_least(3)
    assert sf.Mondrian(k=2, require=one) == sf.Mondrian(k=2, require=(one,))  # type: ignore[arg-type]
