"""`dp_statistics`: neighbours cannot be told apart, intervals cover, bounds never come from the data; metrics refuse it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from noise_checks import Draws, epsilon_at_least, fits, rejects_other_scales, written

import sfumato as sf
from house import rng
from sfumato.core.errors import Infeasible, InputError, Unavailable
from sfumato.core.parameter import Name, Words
from sfumato.core.table import Table
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.differential_privacy import noise
from sfumato.mechanisms.differential_privacy.budget import Budget
from sfumato.mechanisms.dp_statistics import DpStatistics
from sfumato.metrics import registry as metrics

ROLES = sf.Roles(quasi=("age", "sex"), sensitive=("income",), identifiers=("name",))


def people(ages: list[Any], **more: list[Any]) -> Table:
    n = len(ages)
    columns = {"name": [f"p{i}" for i in range(n)], "age": ages, "sex": ["F", "M"] * (n // 2) + ["F"] * (n % 2)}
    return sf.read(pa.table({**columns, "income": [1000 * i for i in range(n)], **more}))


def by_name(release: sf.Release, folder: Path) -> dict[str, dict[str, str]]:
    return {row["statistic"]: row for row in written(release, folder)}


def draws(table: Table, text: str, epsilon: float, generator: np.random.Generator | None, folder: Path) -> Draws:
    """Ten thousand answers to one statistic, each of this epsilon: a statistic named n times gets an n-th each time."""
    found: list[float] = []
    for _ in range(4):
        made_by = DpStatistics(statistics=",".join([text] * 2500), bounds="age=17:99", epsilon=2500 * epsilon)
        found += [float(row["value"]) for row in written(made_by(table, ROLES, generator), folder)]
    return np.array(found).astype(np.int64)


# --- the promise ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, None])
def test_neighbouring_tables_are_told_apart_by_epsilon_at_most(tmp_path: Path, seed: int | None) -> None:
    generator = None if seed is None else rng(seed)
    one, other = (draws(people([30] * n), "count", 0.5, generator, tmp_path) for n in (20, 21))
    found = epsilon_at_least(one, other)
    assert found <= 0.5
    assert found > 0.3  # the test has teeth: it finds most of what there is


def test_a_mechanism_with_half_the_noise_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = noise.scale_of
    monkeypatch.setattr(noise, "scale_of", lambda sensitivity, epsilon: right(sensitivity, epsilon) / 2)
    one, other = (draws(people([30] * n), "count", 0.5, rng(), tmp_path) for n in (20, 21))
    assert epsilon_at_least(one, other) > 0.5 + 0.2


def test_a_sum_is_as_private_as_a_count(tmp_path: Path) -> None:
    """The neighbour has one person more, of the largest value there may be."""
    one, other = (draws(people(ages), "sum(age)", 1.0, rng(), tmp_path) for ages in ([30] * 20, [30] * 20 + [99]))
    assert 0.6 < epsilon_at_least(one, other) <= 1


@pytest.mark.full
def test_counts_and_sums_have_their_scale(tmp_path: Path) -> None:
    table = people([30, 40, 50])
    assert rejects_other_scales(draws(table, "count", 0.25, rng(), tmp_path) - 3, 4.0)
    assert fits(draws(table, "count", 0.25, rng(), tmp_path) - 3, 4.0)
    assert fits(draws(table, "count(sex=F)", 0.25, rng(), tmp_path) - 2, 4.0)
    summed = draws(table, "sum(age)", 0.5, rng(), tmp_path) - 120
    assert fits(summed, 198.0)  # 99 / 0.5: the larger bound in absolute value, not the data's 50
    assert rejects_other_scales(summed, 198.0)


def test_nothing_is_said_to_be_measured(tmp_path: Path) -> None:
    made_by = DpStatistics(statistics="count, mean(age)", bounds="age=17:99", epsilon=1)
    release = made_by(people([30, 40]), ROLES)
    assert made_by.promises == ()
    assert release.statistics
    assert release.notes[0] == (
        "Promised by construction, not measured: 1-differential privacy, where neighbouring tables differ by one row, added or "
        "removed; no file can show it."
    )
    assert release.notes[1] == "Privacy budget spent: epsilon 1 of 1: 0.5 on count; 0.5 on mean(age)."
    assert sf.publish(release, ROLES, made_by.promises, tmp_path / "out.csv").met
    assert sf.read(tmp_path / "out.csv").rows == 2


# --- what is answered -------------------------------------------------------------------------------------------------


def test_with_a_huge_epsilon_the_answers_are_exact(tmp_path: Path) -> None:
    """The extreme: no noise is left, so the kernels show."""
    table = people([20, 30, 40, None, 150], rate=[0.25, 0.5, 0.75, 2.0, None])
    roles = sf.Roles(quasi=("age", "sex", "rate"))
    text = "count, count(sex=F), count(age=), count(sex=nobody), sum(age), mean(age), sum(rate), mean(rate)"
    made_by = DpStatistics(statistics=text, bounds="age=17:99, rate=0.00:1.00", epsilon=10_000)
    found = {name: float(row["value"]) for name, row in by_name(made_by(table, roles, rng()), tmp_path).items()}
    assert found == {
        "count": 5,
        "count(sex=F)": 3,
        "count(age=)": 1,
        "count(sex=nobody)": 0,
        "sum(age)": 20 + 30 + 40 + 99,
        "mean(age)": (20 + 30 + 40 + 99) / 4,
        "sum(rate)": 2.5,
        "mean(rate)": 0.625,
    }


def test_intervals_cover_as_often_as_they_say(tmp_path: Path) -> None:
    ages = [20, 30, 40, 95] * 25
    text = ",".join(["count", "sum(age)", "mean(age)"] * 600)
    made_by = DpStatistics(statistics=text, bounds="age=17:99", epsilon=1800 * 0.5, confidence=0.9)
    true = {"count": 100.0, "sum(age)": float(sum(ages)), "mean(age)": sum(ages) / 100}
    hits: dict[str, list[bool]] = {name: [] for name in true}
    for row in written(made_by(people(ages), ROLES, rng()), tmp_path):
        name = row["statistic"]
        hits[name].append(float(row["ci_low"]) <= true[name] <= float(row["ci_high"]))
        assert float(row["ci_low"]) <= float(row["value"]) <= float(row["ci_high"])
        assert float(row["epsilon"]) == 0.5
    for name, hit in hits.items():
        assert np.mean(hit) >= 0.9 - 4 * np.sqrt(0.09 / len(hit)), name
    assert np.mean(hits["count"]) < 0.97  # and not by being endless


def test_an_extreme_value_inside_the_bounds_shows_nowhere_but_in_the_sum(tmp_path: Path) -> None:
    made_by = DpStatistics(statistics="count,sum(age)", bounds="age=17:99", epsilon=1)
    low, high = (by_name(made_by(people([30, 40, top]), ROLES, rng()), tmp_path) for top in (50, 98))
    assert low["count"] == high["count"]
    assert low["sum(age)"]["noise_scale"] == high["sum(age)"]["noise_scale"] == "198"
    assert float(high["sum(age)"]["value"]) - float(low["sum(age)"]["value"]) == 48


def test_what_is_outside_the_bounds_is_moved_in(tmp_path: Path) -> None:
    made_by = DpStatistics(statistics="sum(age),mean(age)", bounds="age=17:99", epsilon=1)
    clamped, wild = (by_name(made_by(people(ages), ROLES, rng()), tmp_path) for ages in ([17, 99], [-(10**9), 10**9]))
    assert clamped == wild


def test_negative_bounds_and_a_mean_that_noise_throws_out(tmp_path: Path) -> None:
    table = people([-5, 3])
    made_by = DpStatistics(statistics="sum(age),mean(age)", bounds="age=-10:4", epsilon=0.001)
    for seed in range(20):
        found = by_name(made_by(table, ROLES, rng(seed)), tmp_path)
        assert found["sum(age)"]["noise_scale"] == "20000"  # 10 / 0.0005
        assert -10 <= float(found["mean(age)"]["value"]) <= 4


def test_no_rows_at_all_are_counted_like_any_others(tmp_path: Path) -> None:
    """Whether there is a row must not show in an error."""
    table = people([30]).recode(_nobody())
    assert table.rows == 0
    made_by = DpStatistics(statistics="count,sum(age),mean(age)", bounds="age=17:99", epsilon=1)
    found = by_name(made_by(table, ROLES, rng()), tmp_path)
    assert len(found) == 3
    blank = people([None, None])
    assert by_name(made_by(blank, ROLES, rng()), tmp_path)["sum(age)"] == found["sum(age)"]


def _nobody() -> Any:
    from sfumato.core.table import Recoding

    empty = pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.string()), "n": pa.array([], pa.int64())})
    return Recoding(("sex",), ("sex",), empty)


# --- metrics, files, refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(metrics()))
def test_no_metric_counts_the_rows_of_statistics(name: str) -> None:
    release = DpStatistics(epsilon=1)(people([30, 40]), ROLES, rng())
    variants = metrics()[name].variants() or [metrics()[name].set(**_some(metrics()[name]))]
    for metric in variants:
        with pytest.raises(Unavailable, match=r"counts rows, but this release holds statistics, .*its notes say"):
            metric(release, ROLES)


def _some(metric: sf.Metric) -> dict[str, Any]:
    words = {Name: "age", Words: "age|sex"}
    return {
        name: words.get(type(kind), getattr(kind, "low", 1))
        for name, kind in metric.card.parameters.items()
        if kind.default is None
    }


def test_a_requirement_cannot_be_met_by_statistics(tmp_path: Path) -> None:
    release = DpStatistics(epsilon=1)(people([30, 40]), ROLES, rng())
    with pytest.raises(Unavailable, match="statistics"):
        sf.publish(release, ROLES, [sf.require("k_anonymity >= 2")], tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_column_of_ours_never_looks_like_one_of_the_house(tmp_path: Path) -> None:
    table = sf.read(pa.table({"statistic": ["a", "b"], "value": ["c", "d"], "age": [1, 2]}))
    roles = sf.Roles(quasi=("age",), identifiers=("statistic", "value"))
    release = DpStatistics(epsilon=1)(table, roles, rng())
    assert release.table.columns[:2] == ("statistic_", "value_")
    assert sf.publish(release, roles, (), tmp_path / "out.csv").met


def test_odd_names_and_values(tmp_path: Path) -> None:
    odd = 'x, (y)="z"'
    table = sf.read(pa.table({odd: [1, 2], "w": ["a, b", "c=d"]}))
    roles = sf.Roles(quasi=(odd,), insensitive=("w",))
    text = 'mean("x, (y)=""z"""), count(w="a, b"), count(w="c=d")'
    settings = {"statistics": text, "bounds": '"x, (y)=""z"""=0:4', "epsilon": "9999"}
    found = by_name(mechanism("dp_statistics").of(settings)(table, roles, rng()), tmp_path)
    assert [float(row["value"]) for row in found.values()] == pytest.approx([1, 1, 1.5])


def test_a_budget_for_several_releases() -> None:
    budget, table = Budget(1), people([30, 40])
    DpStatistics(epsilon=0.7, budget=budget)(table, ROLES, rng())
    with pytest.raises(
        Infeasible, match=r"does not allow dp_statistics: it asks for epsilon 0.7, and 0.3 of 1 is left"
    ):
        DpStatistics(epsilon=0.7, budget=budget)(table, ROLES, rng())
    release = DpStatistics(statistics="count(sex=F)", epsilon=0.3, budget=budget)(table, ROLES, rng())
    assert release.notes[1] == "Privacy budget spent: epsilon 1 of 1: 0.7 on count; 0.3 on count(sex=F)."
    assert "budget" not in release.parameters


def test_what_fails_before_noise_is_drawn_costs_nothing() -> None:
    budget = Budget(1)
    made_by = DpStatistics(statistics="count,sum(sex)", epsilon=1, budget=budget)
    with pytest.raises(
        InputError, match=r"sum\(sex\) needs bounds that do not come from the data: bounds=sex=low:high, or sex ="
    ):
        made_by(people([30, 40]), ROLES, rng())
    assert not budget.ledger


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "needs an epsilon"),
        ({"epsilon": "-1"}, "epsilon must be a number above 0"),
        ({"epsilon": "1", "statistics": "max(age)"}, "is a list of count"),
        ({"epsilon": "1", "statistics": ""}, "is a list of count"),
        ({"epsilon": "1", "statistics": "count(age)"}, "is a list of count"),
        ({"epsilon": "1", "statistics": "sum"}, "is a list of count"),
        ({"epsilon": "1", "confidence": "1"}, "confidence must be between 0 and 1"),
    ],
)
def test_refusals_of_parameters(settings: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        mechanism("dp_statistics").of(settings)


def test_refusals_of_tables() -> None:
    with pytest.raises(InputError, match="'name' has no role that may be released"):
        DpStatistics(statistics="count(name=p1)", epsilon=1)(people([30]), ROLES, rng())
    with pytest.raises(InputError, match="needs bounds that do not come from the data"):
        DpStatistics(statistics="sum(age)", bounds="income=0:1", epsilon=1)(people([30]), ROLES, rng())
    with pytest.raises(InputError, match="'id', which roles names in person"):
        DpStatistics(epsilon=1)(people([30]), sf.Roles(quasi=("age",), person="id"), rng())


def test_a_person_counts_with_one_row_and_the_promise_is_about_people(tmp_path: Path) -> None:
    roles = sf.Roles(quasi=("age",), person="name", domains={"age": "0:99"})
    table = people([30, 40, 50, 60, 70], name=["p", "p", "q", None, None])
    release = DpStatistics(statistics="count,sum(age)", epsilon=1e6)(table, roles, rng())
    count, total = (float(row["value"]) for row in written(release, tmp_path))
    assert count == 3  # rows without a number are of one person
    assert total in {p + 50 + n for p in (30, 40) for n in (60, 70)}
    assert "differ by one person, added or removed with all their rows" in release.notes[0]
    assert release.neighbours is not None
