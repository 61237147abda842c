"""Designed channels: extremes, certificates, both questions against each other, privacy constraints, and rivals that lose."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from house import Refusal
from sfumato.channel import design_program
from sfumato.channel.adversary import error
from sfumato.channel.channel import Channel
from sfumato.channel.design import Design, least_degradation, most_private
from sfumato.channel.frontier import against, among, frontier
from sfumato.channel.linear_program import Solution
from sfumato.channel.mechanisms import distances, generalization, local_noise, neighbouring, pram
from sfumato.channel.utility import degradation
from sfumato.core.errors import Infeasible, InputError

PRIOR = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
DIFFER = 1 - np.eye(5)
FAR = distances(5)


def check(found: Design, prior: Any, cost: Any, gain: Any = None) -> None:
    """What it says of itself, measured again."""
    assert found.error == pytest.approx(error(found.channel, prior, gain=gain), abs=1e-12)
    assert found.degradation == pytest.approx(degradation(found.channel, cost, prior), abs=1e-12)


# --- extremes --------------------------------------------------------------------------------------------------------


def test_no_budget_is_the_identity() -> None:
    found = most_private(PRIOR, DIFFER, budget=0)
    assert found.channel.dense() == pytest.approx(np.eye(5), abs=1e-9)
    assert found.error == pytest.approx(0, abs=1e-9)
    assert found.exactness == "exact"


def test_a_large_budget_leaves_the_prior_alone() -> None:
    found = most_private(PRIOR, DIFFER, budget=10)
    assert found.error == pytest.approx(0.6)
    assert found.bound == pytest.approx(0.6)


def test_where_every_change_costs_the_same_the_error_is_the_budget() -> None:
    """A guess of what is released is right unless it was changed: error <= budget, and the design reaches it."""
    for budget in (0.1, 0.25, 0.5):
        found = most_private(PRIOR, DIFFER, budget=budget)
        assert found.error == pytest.approx(budget, abs=1e-7)
        assert found.bound == pytest.approx(budget, abs=1e-7)
        check(found, PRIOR, DIFFER)


def test_one_value() -> None:
    found = most_private(None, [[0.0]], budget=0)
    assert (found.error, found.degradation) == (0, 0)


def test_what_never_occurs_is_released_as_what_costs_least() -> None:
    found = most_private([0.5, 0.5, 0, 0, 0], FAR, budget=0.1)
    assert found.channel.dense()[2:].tolist() == np.eye(5)[2:].tolist()


def test_eps_zero_tells_nothing() -> None:
    found = most_private(PRIOR, FAR, budget=1, eps=0)
    assert np.ptp(found.channel.dense(), axis=0) == pytest.approx(np.zeros(5), abs=1e-9)
    assert found.error == pytest.approx(0.6)


def test_eps_zero_between_two_inputs_merges_these_only() -> None:
    found = least_degradation(PRIOR, DIFFER, error=0, eps=0, neighbours=[(0, 1)])
    matrix = found.channel.dense()
    assert matrix[0] == pytest.approx(matrix[1], abs=1e-9)
    assert matrix[2:] == pytest.approx(np.eye(5)[2:], abs=1e-7)
    assert found.degradation == pytest.approx(0.3, abs=1e-7)


# --- certificates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["simplex", "clarabel", "ipm"])
@pytest.mark.parametrize("privacy", [{}, {"eps": 1.0}, {"eps": 0.7, "neighbours": "next"}], ids=str)
def test_both_questions_answer_each_other(solver: Any, privacy: Any) -> None:
    for wanted in (0.0, 0.3, 0.5, 0.6):
        least = least_degradation(PRIOR, FAR, error=wanted, solver=solver, **privacy)
        check(least, PRIOR, FAR)
        assert least.exactness == "exact"
        assert least.error >= wanted - 1e-7
        most = most_private(PRIOR, FAR, budget=least.degradation, solver=solver, **privacy)
        check(most, PRIOR, FAR)
        assert most.degradation <= least.degradation + 1e-7
        assert most.error >= least.error - 1e-6
        assert most.bound >= least.error - 1e-7  # the bound covers every channel within the budget


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_no_random_channel_beats_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 5, size=2)
    prior, cost = rng.dirichlet(np.ones(n)), rng.random((n, m))
    gain = None if seed % 2 else rng.random((3, n))
    rival = Channel(matrix=rng.dirichlet(np.full(m, 0.5), size=n))
    lost, wrong = degradation(rival, cost, prior), error(rival, prior, gain=gain)
    most = most_private(prior, cost, budget=lost, gain=gain)
    assert wrong <= most.bound + 1e-9
    assert most.error >= wrong - 1e-7
    assert most.exactness == "exact"
    least = least_degradation(prior, cost, error=wrong, gain=gain)
    assert least.bound <= lost + 1e-9
    assert least.exactness == "exact"


def test_against_scipy() -> None:
    """The program written down once more, with loops."""
    n, budget = 4, 0.12
    prior, cost = PRIOR[:4] / PRIOR[:4].sum(), distances(4)
    size = n * n + n
    above, side = [], []
    for x in range(n):
        for y in range(n):
            row = np.zeros(size)
            row[x * n + y], row[n * n + y] = prior[x], -1
            above.append(row)
            side.append(0.0)
    above.append(np.concatenate([(prior[:, None] * cost).ravel(), np.zeros(n)]))
    side.append(budget)
    same = [np.concatenate([np.repeat(np.eye(n)[x], n), np.zeros(n)]) for x in range(n)]
    solved = scipy.optimize.linprog([0] * (n * n) + [1] * n, A_ub=above, b_ub=side, A_eq=same, b_eq=[1] * n)
    assert most_private(prior, cost, budget=budget).error == pytest.approx(1 - solved.fun, abs=1e-8)


def test_whatever_the_solver_says_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def nonsense(cost: Any, rows: Any, *more: Any, **options: Any) -> Solution:
        rng = np.random.default_rng(1)
        return Solution(rng.random(rows.shape[1]), rng.normal(size=rows.shape[0]), "Optimal")

    truth = most_private(PRIOR, FAR, budget=0.1).error
    monkeypatch.setattr(design_program, "minimise", nonsense)
    for privacy in ({}, {"eps": 0.5}):
        found = most_private(PRIOR, FAR, budget=0.1, **privacy) if not privacy else least_degradation(PRIOR, FAR, error=0.2, **privacy)  # type: ignore[arg-type]  # fmt: skip
        check(found, PRIOR, FAR)
        assert found.exactness == "bound"
        if not privacy:
            assert found.degradation <= 0.1 + 1e-9
            assert found.error <= truth + 1e-9 <= found.bound + 2e-9


# --- differential privacy --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eps", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("neighbours", ["all", "next", [(0, 4), (1, 2)]], ids=str)
def test_the_ratios_are_kept(eps: float, neighbours: Any) -> None:
    cheap = least_degradation(PRIOR, FAR, error=0, eps=eps, neighbours=neighbours)
    found = most_private(PRIOR, FAR, budget=cheap.degradation + 0.02, eps=eps, neighbours=neighbours)
    pairs = {"all": [(a, b) for a in range(5) for b in range(5)], "next": [(i, i + 1) for i in range(4)]}
    for design in (cheap, found):
        matrix = design.channel.dense()
        for a, b in pairs.get(neighbours if isinstance(neighbours, str) else "", neighbours):
            assert (matrix[a] <= math.exp(eps) * matrix[b] + 1e-9).all()
            assert (matrix[b] <= math.exp(eps) * matrix[a] + 1e-9).all()
        assert design.exactness == "exact"


def test_privacy_costs() -> None:
    free = least_degradation(PRIOR, FAR, error=0.3)
    bound = least_degradation(PRIOR, FAR, error=0.3, eps=0.5)
    assert bound.degradation > free.degradation + 0.01
    # a published mechanism with the same promise is not better than what was designed
    rival = local_noise(5, 0.5)
    assert bound.bound <= degradation(rival, FAR, PRIOR) + 1e-9


def test_a_near_guess_counts() -> None:
    near = (np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= 1).astype(float)
    found = most_private(PRIOR, FAR, budget=0.15, gain=near)
    check(found, PRIOR, FAR, near)
    assert found.exactness == "exact"
    assert found.error < most_private(PRIOR, FAR, budget=0.15).error


# --- the frontier and its rivals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("privacy", [{}, {"eps": 1.0}], ids=str)
def test_the_frontier_rises_and_bends_downwards(privacy: Any) -> None:
    found = frontier(PRIOR, FAR, points=9, **privacy)
    x, y = np.array([(d.degradation, d.error) for d in found]).T
    assert (np.diff(x) > 0).all()
    assert (np.diff(y) >= -1e-7).all()
    assert (np.diff(np.diff(y) / np.diff(x)) <= 1e-5).all()
    assert y[-1] == pytest.approx(0.6, abs=1e-6)
    if not privacy:
        assert (x[0], y[0]) == (pytest.approx(0, abs=1e-9), pytest.approx(0, abs=1e-9))


@given(st.integers(0, 1_000))
@settings(max_examples=10)
def test_the_design_dominates_pram_and_generalization_at_equal_degradation(seed: int) -> None:
    size = 8
    prior = np.random.default_rng(seed).dirichlet(np.ones(size))
    rivals = {f"pram {keep}": (pram(size, keep), distances(size)) for keep in (0.9, 0.6)}
    for k in (2, 4):
        groups = neighbouring(size, k)
        rivals[f"groups of {k}"] = (generalization(size, groups), distances(size, groups))
    cost, channels, names = among(list(rivals.values()))
    assert len(names) == cost.shape[1] == 8 + 8 + 4 + 2
    lines = against(prior, cost, dict(zip(rivals, channels, strict=True)))
    for line, (channel, own) in zip(lines, rivals.values(), strict=True):
        assert line.error == pytest.approx(error(channel, prior))
        assert line.degradation == pytest.approx(degradation(channel, own, prior))
        assert line.designed >= line.error - 1e-7
        assert line.bound >= line.designed - 1e-9
    assert max(line.designed - line.error for line in lines) > 0.01


# --- scale and refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("privacy", [{}, {"eps": 2.0}, {"eps": 0.2, "neighbours": "next"}], ids=str)
def test_sixty_values(privacy: Any) -> None:
    prior, cost = np.random.default_rng(0).dirichlet(np.full(60, 2.0)), distances(60)
    start = time.process_time()
    found = most_private(prior, cost, budget=0.25, **privacy)
    assert time.process_time() - start < 30
    check(found, prior, cost)
    assert found.exactness == "exact"
    assert found.solver == "clarabel"


def test_infeasible(refusal: Refusal) -> None:
    refusal(Infeasible, lambda: most_private(PRIOR, DIFFER + 1, budget=0.5), "1 at least", "0.5")
    refusal(Infeasible, lambda: most_private(PRIOR, FAR, budget=0.01, eps=0.1), "at least")
    refusal(Infeasible, lambda: least_degradation(PRIOR, FAR, error=0.7), "0.6")


def test_refusals(refusal: Refusal) -> None:
    refusal(InputError, lambda: most_private(PRIOR, [[np.inf]], budget=1), "finite")
    refusal(InputError, lambda: most_private(PRIOR, FAR, budget=math.nan), "budget")
    refusal(InputError, lambda: most_private(PRIOR, FAR, budget=1, eps=-1), "eps")
    refusal(InputError, lambda: most_private(PRIOR, FAR, budget=1, eps=1, neighbours="some"), "Neighbours")  # type: ignore[arg-type]
    refusal(InputError, lambda: most_private(PRIOR, FAR, budget=1, eps=1, neighbours=[(0, 9)]), "0 to 4")
    refusal(InputError, lambda: most_private(PRIOR[:2], FAR, budget=1), "5 inputs")
    refusal(InputError, lambda: frontier(PRIOR, FAR, points=1), "two points")
    refusal(InputError, lambda: among([(pram(3, 0.5), FAR), (pram(4, 0.5), FAR)]), "same inputs")
