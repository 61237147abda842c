"""Parity with Anonymeter (Giomi et al. 2023) on synthetic releases, which are all that it takes.

Rates agree within their intervals, against the people of the original and against people outside. Baselines are not the same thing:
ours are stronger (columns drawn for themselves and then the same attack; the best guess for all), and that for inference is broken
in Anonymeter 1.1, where guesses are looked up by the row numbers of other people and most are lost.
Anonymeter 1.x asks for numpy below 2 and Sfumato for 2 or later, so both stand in one environment only if it is installed without its
dependencies.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.inference import inference
from sfumato.attacks.linkability import linkability
from sfumato.attacks.singling_out import singling_out
from sfumato.core.outcome import Rate
from sfumato.core.release import Release

ATTACKS = 500
FIRST, SECOND = ["age", "town", "sex"], ["income", "job", "sick"]
NAMES = ["age", "town", "sex", "income", "job", "sick"]
ROLES = sf.Roles(quasi=("age", "town", "sex", "income", "job"), sensitive=("sick",))


@pytest.fixture(scope="module")
def peer() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reason = "needs the package anonymeter, which is not a dependency of the tests"
        return pytest.importorskip("anonymeter.evaluators", reason=reason, exc_type=ImportError)


def people(count: int, seed: int) -> Any:
    import pandas as pd

    rng = np.random.default_rng(seed)
    job = rng.integers(0, 8, count)
    age = np.clip(np.round(30 + 4 * job + rng.normal(0, 10, count)), 18, 90).astype(int)
    sick = np.where(rng.random(count) < 0.5, age // 20, rng.integers(0, 6, count))
    return pd.DataFrame(
        {
            "age": age,
            "town": [f"town {t}" for t in rng.integers(0, 12, count)],
            "sex": [("female", "male")[s] for s in rng.integers(0, 2, count)],
            "income": np.round(1000 * np.exp(rng.normal(0.08 * job, 0.5, count)), 2),
            "job": [f"job {j}" for j in job],
            "sick": [("none", "flu", "cold", "gout", "ache", "fever")[s] for s in sick],
        }
    )


def synthetic(kind: str, original: Any, seed: int = 5) -> Any:
    """Columns drawn for themselves, or rows copied with small changes."""
    rng = np.random.default_rng(seed)
    drawn = original.apply(lambda column: rng.permutation(column.to_numpy()))
    if kind == "independent":
        return drawn
    copied = original.sample(frac=1, random_state=seed).reset_index(drop=True)
    copied["age"] += rng.integers(-1, 2, len(copied))
    copied["income"] = np.round(copied["income"] * (1 + rng.normal(0, 0.002, len(copied))), 2)
    for name in ("town", "job", "sick"):
        copied[name] = np.where(rng.random(len(copied)) < 0.1, drawn[name], copied[name])
    return copied


def theirs(make: Callable[[Any], Any], control: Any) -> dict[str, Rate]:
    """The rates of an evaluator of theirs for the original and for the control, and its baseline."""
    np.random.seed(3)  # what it samples with
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where the baseline is as good
        evaluator = make(control)
        evaluator.evaluate() if not hasattr(evaluator, "_max_attempts") else evaluator.evaluate(mode="multivariate")
        found = evaluator.results()
    rates = {"success": found.attack_rate, "control": found.control_rate, "baseline": found.baseline_rate}
    return {name: Rate(r.value, r.value - r.error, r.value + r.error, ATTACKS) for name, r in rates.items()}


def both(peer: Any, attack: str, kind: str) -> tuple[dict[str, Rate], Any]:
    """An attack of theirs and the same of ours, on one synthetic release of one table."""
    original, outside = people(3000, 1), people(3000, 2)
    made = synthetic(kind, original)
    release = Release(table=sf.read(made), original=sf.read(original))
    ours: dict[str, Any] = {"attacks": ATTACKS, "control": sf.read(outside)}
    given: dict[str, Any] = {"ori": original, "syn": made, "n_attacks": ATTACKS}
    if attack == "singling out":
        make: Any = lambda control: peer.SinglingOutEvaluator(**given, n_cols=3, control=control)  # noqa: E731
        return theirs(make, outside), singling_out(release, ROLES, size=3, **ours)
    if attack == "linkability":
        make = lambda control: peer.LinkabilityEvaluator(**given, aux_cols=(FIRST, SECOND), control=control)  # noqa: E731
        return theirs(make, outside), linkability(release, ROLES, first=FIRST, second=SECOND, **ours)
    secret = attack.removeprefix("inference of ")
    known = [name for name in NAMES if name != secret]
    make = lambda control: peer.InferenceEvaluator(  # noqa: E731
        **given, aux_cols=known, secret=secret, regression=secret == "income", control=control
    )
    return theirs(make, outside), inference(release, ROLES, sensitive=secret, **ours)


@pytest.mark.parametrize("kind", ["independent", "copied"])
@pytest.mark.parametrize("attack", ["singling out", "linkability", "inference of sick", "inference of income"])
def test_rates_agree(peer: Any, attack: str, kind: str) -> None:
    their, our = both(peer, attack, kind)
    for mine, other in ((our.success, their["success"]), (our.control, their["control"])):
        assert mine.low <= other.high
        assert other.low <= mine.high
    assert our.worked == (kind == "copied")


@pytest.mark.parametrize("kind", ["independent", "copied"])
def test_our_baselines_are_no_weaker(peer: Any, kind: str) -> None:
    for attack in ("singling out", "inference of sick", "inference of income"):
        their, our = both(peer, attack, kind)
        assert our.baseline.high >= their["baseline"].low
