"""What is drawn is what is paid for: the epsilons of all noise, watched where it is drawn, add up to the ledger."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.mechanisms import registry
from sfumato.mechanisms.differential_privacy.budget import Budget
from sfumato.mechanisms.differential_privacy.noise import Noise
from sfumato.mechanisms.differential_privacy.private_release import Private

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
        chosen = (name == "dp_synthesis" and "structure" not in parameters) or parameters.get("method") == "search"
        notes.append(release.notes[2 if chosen else 0 :][: -2 if chosen else None])
        assert not any("200" in note or "37" in note for note in release.notes)
        defaults = {"method": "search"}
        assert release.parameters == {"epsilon": 0.7} | {k: v for k, v in parameters.items() if defaults.get(k) != v}
    assert notes[0] == notes[1]


def _schema() -> pa.Schema:
    return pa.schema([("age", pa.int64()), ("sex", pa.string()), ("job", pa.string())])


def test_every_private_mechanism_is_watched_here() -> None:
    private = {name for name, kind in registry().items() if issubclass(kind, Private)}
    assert private == {name for name, *_ in CASES}
    for name in private:
        card = registry()[name].card
        assert "by construction" in card.promise
        assert {*card.parameters} == {f.name for f in dataclasses.fields(registry()[name])} - {"require"}  # type: ignore[arg-type]
