"""Bounds hold, draws follow the envelope, and the interval covers the exact error as often as it says."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from k_anonymity_oracle import (
    AGE,
    DISEASE,
    GENDER,
    error,
    meets,
    nodes,
    paper,
    release,
    rows_prior,
    some_description,
    tables,
)

from sfumato.channel.k_anonymity import Description, solve
from sfumato.channel.sampling import Envelope, bernstein
from sfumato.channel.table_prior import modes, prior_of

SKEWED = {"age": [0.1, 0.2, 0.3, 0.4], "gender": [0.7, 0.3], "disease": [0.6, 0.3, 0.1]}


def envelope(d: Description, prior: Any = None) -> Envelope:
    return Envelope(d.domain, d.rows, d.demand, d.rule(), prior_of(prior, d.domain, d.rows))


# --- the envelope ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [[1.0], [0.5, 0.5], [0.7, 0.2, 0.1], [0.4, 0.6, 0.0]])
def test_modes_are_the_largest_kernels(p: list[float]) -> None:
    def kernel(n: tuple[int, ...]) -> float:
        return math.prod(q**m / math.factorial(m) for q, m in zip(p, n, strict=True))

    def splits(rows: int, parts: int) -> list[tuple[int, ...]]:
        return (
            [(rows,)] if parts == 1 else [(m, *rest) for m in range(rows + 1) for rest in splits(rows - m, parts - 1)]
        )

    found = modes(np.array(p), 6)
    for j in range(7):
        assert found[j] == pytest.approx(max(kernel(n) for n in splits(j, len(p))), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("uniform", [True, False])
def test_the_envelope_is_the_sum_over_releases_of_the_likeliest_table(seed: int, uniform: bool) -> None:
    d = some_description(seed, most=250, t=None)
    if len(d.domain.sensitive) > 1:
        d = Description(rows=d.rows, attributes=d.attributes, k=d.k)
    every = tables(d)
    prior = {x: Fraction(1, len(every)) for x in every} if uniform else rows_prior(d, {})
    found = envelope(d, None if uniform else {}).total
    for i, node in enumerate(nodes(d)):
        best: dict[Any, Fraction] = {}
        for x in every:
            y = release(d, x, node)
            if meets(d, y):
                best[y] = max(best.get(y, Fraction(0)), prior[x])
        assert found[i] == pytest.approx(float(sum(best.values())), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("l", [1, 2])
def test_draws_follow_the_envelope(l: int) -> None:
    """All 'releases' of a node with their probability, against 20,000 draws: chi-squared far below what a wrong weight gives."""
    d = Description(rows=3, k=1, l=l, attributes=(GENDER, DISEASE)) if l == 1 else Description(rows=4, k=2, l=2, attributes=(GENDER, DISEASE))  # fmt: skip
    given = {"gender": [0.7, 0.3], "disease": [0.6, 0.3, 0.1]}
    made = envelope(d, given)
    prior = rows_prior(d, {name: [Fraction(str(p)) for p in line] for name, line in given.items()})
    drawn = made.draw(0, 20_000, np.random.default_rng(5))
    names = d.domain.row_names((0,))
    seen = Counter(tuple(sorted(names[row] for row in line)) for line in drawn)
    # at node 0 a release is a table, so its weight is the table's probability
    weights = {x: float(p) for x, p in prior.items() if meets(d, release(d, x, (0,)))}
    total = sum(weights.values())
    assert set(seen) <= set(weights)
    chi = sum((seen[x] - 20_000 * w / total) ** 2 / (20_000 * w / total) for x, w in weights.items())
    freedom = len(weights) - 1
    assert abs(chi - freedom) < 5 * math.sqrt(2 * freedom)


# --- bounds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold(seed: int) -> None:
    rng = random.Random(seed)
    d = some_description(seed, most=250)
    given: dict[str, Any] = {}
    for a in d.attributes:
        weights = [rng.randint(0, 3) + (i == 0) for i in range(len(a.levels[0]))]
        given[a.name] = [Fraction(w, sum(weights)) for w in weights]
    value = float(error(d, rows_prior(d, given)))
    found = solve(d, prior=given, method="bound")
    assert found.bounds[0] - 1e-12 <= value <= found.bounds[1] + 1e-12
    assert found.error == found.bounds[0]
    if found.exactness == "exact":
        assert found.error == pytest.approx(value, abs=1e-10)
    else:
        assert found.exactness == "bound"


def test_the_most_general_release_is_exact_without_a_table() -> None:
    d = paper(publish="most general")
    found = solve(d, prior=SKEWED, method="bound")
    assert found.exactness == "exact"
    assert found.error == pytest.approx(solve(d, prior=SKEWED, method="enumerate").error, abs=1e-12)


# --- the estimate ----------------------------------------------------------------------------------------------------

CASES: list[tuple[Description, Any]] = [
    (paper(rows=4, publish=publish), prior)
    for publish in ("uniform", "deterministic", "minimal", lambda free: free[len(free) // 2])
    for prior in (None, SKEWED)
] + [(paper(rows=4, l=2), SKEWED), (paper(rows=4, t=0.5), SKEWED)]


@pytest.mark.full
@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_interval_covers_the_exact_error(case: int) -> None:
    """Estimates at 80%: more than a fifth and 4 standard deviations of misses would show an interval that is too short."""
    d, prior = CASES[case]
    exact = solve(d, prior=prior, method="enumerate").error
    found = [
        solve(d, prior=prior, method="sample", samples=40, confidence=0.8, seed=seed)
        for seed in range(60 if d.l == 1 and d.t is None else 20)
    ]
    misses = sum(not s.ci[0] - 1e-12 <= exact <= s.ci[1] + 1e-12 for s in found if s.ci)
    assert all(s.ci is not None and s.ci[0] <= s.error <= s.ci[1] for s in found)
    assert misses <= 0.2 * len(found) + 4 * math.sqrt(0.16 * len(found))
    if all(s.details["resolved"] == 1.0 for s in found):  # then the estimate itself is unbiased, up to its clipping
        middle = float(np.mean([s.error for s in found]))
        spread = float(np.std([s.error for s in found])) / math.sqrt(len(found))
        assert abs(middle - exact) <= 5 * spread + 2e-4


@pytest.mark.parametrize(("p", "n"), [(0.5, 2_000), (0.1, 500), (0.9, 50)])
def test_the_bound_on_a_mean_holds_as_often_as_it_says(p: float, n: int) -> None:
    """One side, at 10%: of 400 means of 0s and 1s at most 40 and 4 standard deviations may be farther off than the bound."""
    rng = np.random.default_rng(3)
    off = [(values.mean() - p, bernstein(values, 0.1)) for values in (rng.random((400, n)) < p).astype(float)]
    for sign in (1, -1):
        assert sum(sign * by > most for by, most in off) <= 40 + 4 * 6
    # and it is no wider than twice a normal interval's half, plus what is left when nothing varies
    assert all(most <= 2 * 1.29 * math.sqrt(0.25 / n) + 7 * math.log(20) / (3 * (n - 1)) for _, most in off)


def test_the_bound_on_a_mean_of_one_number_is_everything() -> None:
    assert bernstein(np.ones(1), 0.1) == 1.0


@pytest.mark.parametrize("publish", ["uniform", "minimal", "deterministic"])
def test_the_interval_narrows_to_the_exact_error(publish: str) -> None:
    d = paper(publish=publish)
    exact = solve(d, prior=SKEWED).error
    few, many = (solve(d, prior=SKEWED, method="sample", samples=n) for n in (100, 2_000))
    assert few.ci is not None
    assert many.ci is not None
    assert many.ci[1] - many.ci[0] < few.ci[1] - few.ci[0]
    assert many.ci[0] <= exact <= many.ci[1]
    assert many.error == pytest.approx(exact, abs=0.004)
    assert (many.exactness, many.method) == ("estimate", "sample")


def test_a_search_that_is_cut_short_widens_the_interval_instead_of_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.channel import sampling

    d = paper(publish="deterministic")
    exact = solve(d, prior=SKEWED).error
    monkeypatch.setattr(sampling, "TRIES", 64)
    monkeypatch.setattr(sampling, "OPTIONS", 8)
    found = solve(d, prior=SKEWED, method="sample", samples=400)
    assert found.ci is not None
    assert found.details["resolved"] < 1.0
    assert found.ci[0] <= exact <= found.ci[1]


def test_a_seed_repeats_an_estimate() -> None:
    d = paper(rows=4)
    one, same, other = (solve(d, prior=SKEWED, method="sample", samples=50, seed=seed) for seed in (1, 1, 2))
    assert (one.error, one.ci) == (same.error, same.ci)
    assert one.error != other.error


def test_what_is_too_large_is_estimated() -> None:
    """20 rows, about 10^12 tables, under independent rows: no exact way, so an interval within the bounds."""
    found = solve(paper(rows=20), prior=SKEWED, samples=60)
    assert found.exactness == "estimate"
    assert found.ci is not None
    assert found.bounds[0] <= found.ci[0] <= found.error <= found.ci[1] <= found.bounds[1]
    assert found.inputs == math.comb(43, 20)


def test_the_attributes_of_the_cases_are_the_papers() -> None:
    assert paper().attributes == (AGE, GENDER, DISEASE)
