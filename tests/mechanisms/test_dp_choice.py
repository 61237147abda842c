"""`dp_choice`: candidates that never come from the data, chosen with the right probabilities."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from noise_checks import written
from scipy import stats
from test_dp_noise import permute_and_flip

import sfumato as sf
from house import rng
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.stated_reading import StatedReading
from sfumato.core.table import Table
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.differential_privacy.budget import Budget
from sfumato.mechanisms.dp_choice import DpChoice, quantile_scores

RUNS = 250
ROLES = sf.Roles(quasi=("age",), sensitive=("illness",), identifiers=("name",))


def ward(illness: list[Any], age: list[Any] | None = None) -> Table:
    rows = len(illness)
    columns = {"name": [f"p{i}" for i in range(rows)], "illness": illness, "age": age or [30] * rows}
    return sf.read(pa.table(columns))


def chosen(release: sf.Release, folder: Path) -> str:
    (row,) = written(release, folder)
    return row["value"]


def value(release: sf.Release) -> str:
    return str(release.table.count(("value",)).columns[0].texts[0])


def test_with_a_huge_epsilon_the_best_is_chosen(tmp_path: Path) -> None:
    table = ward(["flu"] * 5 + ["cold"] * 3 + ["gout"] * 9 + [None], [10, 20, 30, 40, 50, 60, 70, 80, 90] * 2)
    most = DpChoice(column="illness", candidates="cold|flu|asthma", epsilon=1000)
    assert chosen(most(table, ROLES, rng()), tmp_path) == "flu"  # gout, the most frequent, was not a candidate
    for share, answer in ((0.5, "50"), (0.1, "10"), (0.95, "90")):
        made_by = DpChoice(column="age", choose="quantile", quantile=share, candidates="0:100:10", epsilon=100_000)
        assert chosen(made_by(table, ROLES, rng()), tmp_path) == answer
    top = DpChoice(column="age", choose="quantile", quantile=0.99, candidates="70|80", epsilon=1000)
    assert chosen(top(table, ROLES, rng()), tmp_path) == "80"


@pytest.mark.full
def test_the_most_frequent_value_has_the_right_probabilities() -> None:
    table = ward(["flu"] * 5 + ["cold"] * 3)
    made_by = DpChoice(column="illness", candidates="flu|cold|asthma", epsilon=0.5)
    generator = rng(1)
    seen = Counter(value(made_by(table, ROLES, generator)) for _ in range(RUNS))
    expected = np.array(permute_and_flip([5, 3, 0], 2.0)) * RUNS
    assert stats.chisquare([seen["flu"], seen["cold"], seen["asthma"]], expected).pvalue > 1e-6


def test_neighbours_choose_alike_up_to_epsilon() -> None:
    """Exactly, from the probabilities: whatever is chosen, one row changes its probability by a factor exp(epsilon) at most."""
    worst = 0.0
    for scores in ([5, 3, 0], [2, 2, 2], [9, 0, 1]):
        for i in range(3):
            more = [s + (i == j) for j, s in enumerate(scores)]
            for a, b in zip(permute_and_flip(scores, 2.0), permute_and_flip(more, 2.0), strict=True):
                worst = max(worst, abs(math.log(a / b)))
    assert 0.25 < worst <= 0.5 + 1e-12


@pytest.mark.full
def test_a_quantile_has_the_right_probabilities() -> None:
    table = ward(["x"] * 6, [10, 20, 30, 40, 50, 60])
    made_by = DpChoice(column="age", choose="quantile", candidates="5|25|35", epsilon=1)
    generator = rng(2)
    seen = Counter(value(made_by(table, ROLES, generator)) for _ in range(RUNS))
    # twice how far 3 is from the rows up to 5, 25, 35: 0, 2, 3. One row moves the score by 1, so the scale is 2/epsilon
    expected = np.array(permute_and_flip([-6, -2, 0], 2.0)) * RUNS
    assert stats.chisquare([seen["5"], seen["25"], seen["35"]], expected).pvalue > 1e-6


def test_candidates_never_come_from_the_data(tmp_path: Path) -> None:
    made_by = DpChoice(column="illness", candidates="cold|flu", epsilon=0.01)
    for illness in (["gout"] * 50, [None, None], ["flu"]):
        assert {value(made_by(ward(illness), ROLES, rng(seed))) for seed in range(20)} == {"cold", "flu"}
    with pytest.raises(InputError, match="never taken from the data"):
        DpChoice(column="illness", epsilon=1)(ward(["flu"]), ROLES, rng())
    ordered = sf.Roles(quasi=("age",), sensitive=("illness",), orders={"illness": ("gout", "flu")})
    made_by = DpChoice(column="illness", epsilon=1000)
    assert chosen(made_by(ward(["flu", "cold", "cold"]), ordered, rng()), tmp_path) == "flu"
    blank = DpChoice(column="age", choose="quantile", candidates="1:9", epsilon=1)
    ages = pa.table({"age": pa.array([None, None], pa.int64()), "illness": ["a", "b"]})
    assert value(blank(sf.read(ages), sf.Roles(quasi=("age",)), rng())) in set("123456789")


def test_what_is_released_and_said(tmp_path: Path) -> None:
    made_by = DpChoice(column="illness", candidates="flu|cold", epsilon=0.5)
    release = made_by(ward(["flu"] * 3), ROLES)
    assert release.statistics
    assert made_by.promises == ()
    (row,) = written(release, tmp_path)
    assert (row["statistic"], row["epsilon"], row["noise_scale"]) == ("most frequent illness", "0.5", "2")
    assert release.notes[0].startswith("Promised by construction, not measured: 0.5-differential privacy")
    assert release.notes[1:-1] == (
        "Privacy budget spent: epsilon 0.5 of 0.5: 0.5 on the choice for illness.",
        "Chosen from 2 stated candidates.",
    )
    assert sf.publish(release, ROLES, made_by.promises, tmp_path / "out.csv").met
    seeded = [written(made_by(ward(["flu"] * 3), ROLES, rng(4)), tmp_path) for _ in range(2)]
    assert seeded[0] == seeded[1]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"column": "age", "candidates": "1:9"}, "needs an epsilon"),
        ({"epsilon": "1"}, "needs the column"),
        ({"column": "age", "epsilon": "1", "choose": "mode"}, "must be one of most_frequent, quantile"),
        ({"column": "age", "epsilon": "1", "quantile": "1"}, "quantile must be between 0 and 1"),
        (
            {"column": "age", "epsilon": "1", "choose": "quantile", "candidates": "1:9", "quantile": "0.1234567"},
            "no more than six decimals",
        ),
        (
            {"column": "age", "epsilon": "1", "choose": "quantile", "candidates": "low|high"},
            "candidates that are numbers",
        ),
        ({"column": "name", "epsilon": "1", "candidates": "a|b"}, "'name' has no role that may be released"),
    ],
)
def test_refusals(settings: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        mechanism("dp_choice").of(settings)(ward(["flu"]), ROLES, rng())


def test_an_overdrawn_budget() -> None:
    with pytest.raises(Infeasible, match="does not allow dp_choice"):
        DpChoice(column="age", candidates="1:9", epsilon=1, budget=Budget(0.5))(ward(["flu"]), ROLES, rng())


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_one_row_changes_a_quantile_score_by_its_sensitivity_at_most(share: float) -> None:
    generator = rng(3)
    candidates = [float(c) for c in range(0, 101, 10)]
    worst = 0
    for _ in range(50):
        ages = generator.integers(0, 10, 12) * 10  # many ties
        scores = []
        for some in (ages, ages[1:]):
            counts = sf.read(pa.table({"age": some})).count(("age",))
            found, sensitivity = quantile_scores(counts, candidates, Fraction(repr(share)), StatedReading())
            scores.append(found)
        worst = max(worst, int(np.abs(scores[0] - scores[1]).max()))
    assert worst == sensitivity
