"""What is drawn is what is paid for: the epsilons of all noise, watched where it is drawn, add up to the ledger."""

from __future__ import annotations

import dataclasses
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.stated_reading import StatedReading
from sfumato.mechanisms import registry
from sfumato.mechanisms.differential_privacy.budget import Budget
from sfumato.mechanisms.differential_privacy.concentrated import rho_of
from sfumato.mechanisms.differential_privacy.noise import Noise
from sfumato.mechanisms.differential_privacy.private_release import Private
from sfumato.mechanisms.parameters.stated_domains import StatedDomain
from sfumato.mechanisms.synthesis.measured_marginals import GRID, MeasuredMarginals

ROLES = sf.Roles(quasi=("age", "sex"), sensitive=("job",))
DOMAINS = "sex=F|M, age=0:9, job=a|b|c"
CASES: list[tuple[str, dict[str, Any]]] = [
    ("local_noise", {"bounds": "age=0:9"}),
    ("dp_statistics", {"statistics": "count,count(sex=F),sum(age),mean(age)", "bounds": "age=0:9"}),
    ("dp_marginals", {"domains": DOMAINS}),
    ("dp_marginals", {"domains": DOMAINS, "ways": 2}),
    ("dp_choice", {"column": "job", "candidates": "a|b"}),
    ("dp_choice", {"column": "age", "candidates": "0:9", "choose": "quantile"}),
    ("dp_synthesis", {"domains": DOMAINS}),
    ("dp_synthesis", {"domains": DOMAINS, "structure": "tree"}),
    ("dp_synthesis", {"domains": DOMAINS, "structure": "chain"}),
    ("dp_synthesis", {"domains": DOMAINS, "structure": "independent"}),
    ("dp_ranges", {"column": "age", "domain": "0:9", "method": "tree"}),
    ("dp_ranges", {"column": "age", "domain": "0:9", "method": "search"}),
]


def table() -> Any:
    draw = np.random.default_rng(0)
    age, sex = draw.integers(0, 10, 200), [["F", "M"][i] for i in draw.integers(0, 2, 200)]
    return sf.read(pa.table({"age": age, "sex": sex, "job": [["a", "b", "c"][i] for i in draw.integers(0, 3, 200)]}))


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, Fraction]]:
    """How many values were drawn by each call, and the epsilon of each call."""
    seen: list[tuple[str, int, Fraction]] = []
    laplace, choose = Noise.laplace, Noise.choose

    def watch_laplace(self: Noise, values: Any, *, sensitivity: int, epsilon: Fraction, **more: Any) -> Any:
        seen.append(("laplace", len(values), epsilon))
        return laplace(self, values, sensitivity=sensitivity, epsilon=epsilon, **more)

    def watch_choose(self: Noise, scores: Any, *, sensitivity: int, epsilon: Fraction, monotone: bool) -> Any:
        seen.append(("choose", 1, epsilon))
        return choose(self, scores, sensitivity=sensitivity, epsilon=epsilon, monotone=monotone)

    monkeypatch.setattr(Noise, "laplace", watch_laplace)
    monkeypatch.setattr(Noise, "choose", watch_choose)
    return seen


@pytest.mark.parametrize(("name", "parameters"), CASES)
@pytest.mark.parametrize("seed", [3, None])
def test_the_ledger_is_what_was_drawn(
    name: str, parameters: dict[str, Any], seed: int | None, watched: list[tuple[str, int, Fraction]]
) -> None:
    budget = Budget(2)
    rng = None if seed is None else np.random.default_rng(seed)
    registry()[name](epsilon=0.7, budget=budget, **parameters)(table(), ROLES, rng)
    assert budget.spent == (Fraction(7, 10), 0)
    # numbers about all rows (statistics, the steps of a search) are paid for one by one, disjoint cells once
    each = name == "dp_statistics"
    drawn = sum((epsilon * (count if each else 1) for _, count, epsilon in watched), Fraction(0))
    if parameters.get("method") == "search":
        (count, step) = next((count, epsilon) for _, count, epsilon in watched[1:])
        drawn += (count - 1) * step
    assert drawn == Fraction(7, 10)


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_notes_say_nothing_of_the_data(name: str, parameters: dict[str, Any]) -> None:
    """They are published. Those of a tree of pairs and of a search tell what noise chose, and no more."""
    other = pa.table({"age": [3] * 37, "sex": ["X"] * 37, "job": [None] * 37}, schema=_schema())
    notes = []
    for where in (table(), sf.read(other)):
        release = registry()[name](epsilon=0.7, **parameters)(where, ROLES, np.random.default_rng(1))
        looks = name == "dp_synthesis" and parameters.get("structure") in (None, "tree")
        chosen = looks or parameters.get("method") == "search"
        if looks and "structure" not in parameters:
            assert re.fullmatch(r"Privacy budget spent: epsilon 0.7 of 0.7: [^{}]*\.", release.notes[1])
        notes.append(release.notes[2 if chosen else 0 :][: -2 if chosen else None])
        assert not any(re.search(r"(?<![\d.])(200|37)(?!\d)", note) for note in release.notes)
        defaults = {"method": "search"}
        assert release.parameters == {"epsilon": 0.7} | {k: v for k, v in parameters.items() if defaults.get(k) != v}
    assert notes[0] == notes[1]


def _schema() -> pa.Schema:
    return pa.schema([("age", pa.int64()), ("sex", pa.string()), ("job", pa.string())])


def test_every_private_mechanism_is_watched_here() -> None:
    private = {name for name, kind in registry().items() if issubclass(kind, Private)}
    assert private == {name for name, *_ in CASES} | {
        "dp_sampling"
    }  # which adds no noise; its own tests hold what it costs
    for name in private:
        card = registry()[name].card
        assert "by construction" in card.promise
        assert {*card.parameters} == {f.name for f in dataclasses.fields(registry()[name])} - {"require"}  # type: ignore[arg-type]


CONCENTRATED: list[dict[str, Any]] = [{}, {"structure": "tree"}, {"structure": "chain"}, {"structure": "independent"}]


@pytest.mark.parametrize("parameters", CONCENTRATED)
@pytest.mark.parametrize("seed", [3, None])
def test_gaussian_noise_costs_the_rho_that_epsilon_and_delta_buy(
    parameters: dict[str, Any], seed: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Fraction] = []
    gaussian, choose = Noise.gaussian, Noise.choose_exponentially

    def watch_gaussian(self: Noise, values: Any, *, sensitivity: int, rho: Fraction) -> Any:
        assert sensitivity == 1
        seen.append(rho)
        return gaussian(self, values, sensitivity=sensitivity, rho=rho)

    def watch_choose(self: Noise, scores: Any, *, sensitivity: int, rho: Fraction) -> Any:
        seen.append(rho)
        return choose(self, scores, sensitivity=sensitivity, rho=rho)

    monkeypatch.setattr(Noise, "gaussian", watch_gaussian)
    monkeypatch.setattr(Noise, "choose_exponentially", watch_choose)
    monkeypatch.setattr(Noise, "laplace", None)
    monkeypatch.setattr(Noise, "choose", None)
    budget = Budget(2, 1e-4)
    rng = None if seed is None else np.random.default_rng(seed)
    made = registry()["dp_synthesis"](epsilon=0.7, delta=1e-5, domains=DOMAINS, budget=budget, **parameters)
    release = made(table(), ROLES, rng)
    assert budget.spent == (Fraction(7, 10), Fraction(1, 100_000))
    assert sum(seen) == rho_of(Fraction(7, 10), Fraction(1, 100_000))
    assert (release.epsilon, release.delta) == (Fraction(7, 10), Fraction(1, 100_000))
    assert "(0.7, 1e-05)-differential privacy" in release.notes[0]
    assert release.notes[1].startswith("Privacy budget spent: epsilon 0.7 of 2 and delta 1e-05 of 0.0001")
    assert not any("200" in note for note in release.notes)


@pytest.mark.parametrize("beyond", [0, 13, 40])
def test_a_score_changes_by_its_sensitivity_at_most(beyond: int) -> None:
    """Of random tables and any row more: what the choice of a marginal is told differs by no more than it pays for."""
    draw = np.random.default_rng(5)
    domains = [StatedDomain.read(name, "0:3", "test", missing=False) for name in "abc"]
    pairs = [(0, 1), (0, 2), (1, 2), (2,)]
    for _ in range(50):
        rows = draw.integers(0, 4, (30, 3))
        more = np.vstack([rows, draw.integers(0, 4, (1, 3))])
        expected = [draw.random([4] * len(pair)) * 5 for pair in pairs]
        one, other = (
            MeasuredMarginals(
                sf.read(pa.table(dict(zip("abc", each.T, strict=True)))).count(("a", "b", "c")),
                domains,
                StatedReading(),
                None,  # type: ignore[arg-type]
                {},
            ).distances(pairs, expected, beyond=beyond)
            for each in (rows, more)
        )
        assert np.abs(one - other).max() <= GRID
