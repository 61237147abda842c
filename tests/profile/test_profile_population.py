"""Estimates of population uniques: extremes, and populations whose uniques are known."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from sfumato.core.errors import InputError
from sfumato.profile.population import pitman, population_uniques, slide_negative_binomial, zayatz


def sizes(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_counts=True)[1].astype(np.int64)


def test_the_whole_population_is_no_estimate() -> None:
    found = population_uniques(np.array([1, 1, 2, 7]), 1.0)
    assert found.value == 2
    assert set(found.by_model.values()) == {2.0}


def test_no_sample_unique_means_none_is_estimated() -> None:
    assert population_uniques(np.array([2, 3, 50]), 0.1).value == 0


@pytest.mark.parametrize("fraction", [0.0, -1.0, 1.5, math.nan])
def test_a_fraction_is_a_share(fraction: float) -> None:
    with pytest.raises(InputError, match="sampling fraction"):
        population_uniques(np.array([1, 2]), fraction)


def test_never_more_people_than_there_are() -> None:
    rng = np.random.default_rng(0)
    for fraction in (0.01, 0.1, 0.5, 0.9):
        for high in (3, 30, 3000):
            n = sizes(rng.integers(0, high, 500))
            for value in population_uniques(n, fraction).by_model.values():
                assert value is None or 0 <= value <= 500 / fraction + 1


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("law", ["pitman", "zipf", "lognormal"])
def test_near_the_truth_on_simulated_populations(fraction: float, law: str) -> None:
    """The chosen model is within a factor of 1.6 of the uniques that are really there; 5 samples, the middle one."""
    rng = np.random.default_rng(7)
    if law == "pitman":
        population = _pitman_process(rng, 60_000, theta=50.0, alpha=0.6)
    elif law == "zipf":
        population = rng.zipf(1.6, 60_000) % 40_000
    else:
        population = np.floor(np.exp(rng.normal(6, 2.0, 60_000))).astype(np.int64)
    truth = int((sizes(population) == 1).sum())
    values = []
    for _ in range(5):
        sample = population[rng.random(len(population)) < fraction]
        value = population_uniques(sizes(sample), fraction).value
        assert value is not None
        values.append(value)
    assert truth / 1.6 <= float(np.median(values)) <= 1.6 * truth


def test_pitman_recovers_its_own_law() -> None:
    rng = np.random.default_rng(3)
    population = _pitman_process(rng, 100_000, theta=100.0, alpha=0.5)
    truth = int((sizes(population) == 1).sum())
    sample = population[rng.random(len(population)) < 0.1]
    assert pitman(sizes(sample), 0.1) == pytest.approx(truth, rel=0.15)


def test_slide_negative_binomial_recovers_its_own_law() -> None:
    rng = np.random.default_rng(4)
    alpha, beta, classes = 0.7, 0.2, 40_000
    n = 1 + rng.negative_binomial(alpha, beta, classes)
    population = np.repeat(np.arange(classes), n)
    sample = population[rng.random(len(population)) < 0.2]
    assert slide_negative_binomial(sizes(sample), 0.2) == pytest.approx(classes * beta**alpha, rel=0.15)


def test_slide_negative_binomial_ends_where_nearly_everyone_is_alone() -> None:
    """The equations have a long flat valley there, in which a search by steps walks for minutes."""
    found = slide_negative_binomial(np.array([1] * 786 + [2] * 7), 0.1)
    assert found is not None
    assert 786 <= found <= 8000


def test_zayatz_by_hand() -> None:
    """Classes of 1 and 2 in the sample, 2 of 4 people drawn: one of one is drawn with 1/2, exactly one of two with 2/3."""
    n = np.array([1, 1])  # two classes of one: all of the mass is on size 1
    assert zayatz(n, 0.5) == pytest.approx(4)
    n = np.array([1, 1, 2])  # 4 of 8 drawn
    one, two = 4 / 8, 2 * (4 * 4) / (8 * 7)
    given = (2 / 3 * one) / (2 / 3 * one + 1 / 3 * two)
    assert zayatz(n, 0.5) == pytest.approx(given * 2 / 0.5)


def _pitman_process(rng: np.random.Generator, people: int, *, theta: float, alpha: float) -> np.ndarray:
    """The two-parameter Chinese restaurant: a new table with chance (theta + alpha K)/(theta + n), else an old one by its size
    less alpha (a person seated there, but its founder only with chance 1 - alpha)."""
    table = np.empty(people, dtype=np.int64)
    founder: list[int] = []
    for i in range(people):
        if rng.random() * (theta + i) < theta + alpha * len(founder):
            table[i] = len(founder)
            founder.append(i)
            continue
        while True:
            j = int(rng.random() * i)
            if founder[table[j]] != j or rng.random() > alpha:
                break
        table[i] = table[j]
    return table


@pytest.mark.parametrize("fraction", [0.01, 0.05, 0.3, 0.9])
def test_those_alone_here_and_there_are_never_more_than_those_alone_here(fraction: float) -> None:
    """Two different numbers, each with its name: of those alone here, and of everybody."""
    rng = np.random.default_rng(7)
    for classes in ([1] * 400 + [2] * 30, [1] * 3 + [50] * 9, [1] * 500, list(rng.geometric(0.4, 300))):
        found = population_uniques(np.array(classes), fraction)
        assert found.of_sample is not None
        assert found.value is not None
        assert found.of_sample <= found.sample_uniques
        assert found.of_sample <= found.value + 1e-9
        assert found.of_sample == pytest.approx(fraction * found.value)
        assert found.sentence.startswith(f"{found.sample_uniques:,} rows are alone here. An estimated ")
        said = [float(text.replace(",", "")) for text in re.findall(r"[aA]n estimated ([0-9.,]+)", found.sentence)]
        assert said == pytest.approx([found.of_sample, found.value], rel=6e-3)
