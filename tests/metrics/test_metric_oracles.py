"""Parity with programs that share no line with ours: POT for the earth mover's distance, scipy for entropies."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sfumato as sf
from sfumato.core.classes import Classes, Sensitive
from sfumato.core.column import encode
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("q",), sensitive=("s",))


def random_counts(rng: np.random.Generator, classes: int, values: int, density: float) -> np.ndarray:
    """Rows of each value in each class, most of them 0; no class and no value is empty."""
    counts = rng.integers(1, 30, (classes, values)) * (rng.random((classes, values)) < density)
    counts[np.arange(classes), rng.integers(0, values, classes)] += rng.integers(1, 5, classes)
    counts[rng.integers(0, classes, values), np.arange(values)] += 1
    return counts


def as_classes(counts: np.ndarray, order: np.ndarray | None = None) -> Classes:
    """The same through our sparse form, entries shuffled and split in two."""
    column, _ = encode("s", pa.array(range(counts.shape[1])))
    rank = np.arange(counts.shape[1]) if order is None else order
    stated = tuple(column.texts[i] or "" for i in np.argsort(rank))
    member, value = np.nonzero(counts)
    n = counts[member, value]
    half = n // 2
    member, value, n = np.tile(member, 2), np.tile(value, 2), np.concatenate([half, n - half])
    shuffle = np.random.default_rng(0).permutation(len(n))[: len(n)]
    keep = shuffle[n[shuffle] > 0]
    return Classes.of(
        member[keep], n[keep], count=len(counts), value=value[keep], sensitive=Sensitive(column, counts.sum(0), stated)
    )


SHAPES = [(1, 1, 1.0), (1, 5, 1.0), (4, 2, 0.5), (6, 3, 0.4), (5, 12, 0.15), (8, 40, 0.05), (3, 25, 0.9), (30, 7, 0.3)]


@pytest.mark.parametrize(("classes", "values", "density"), SHAPES)
@pytest.mark.parametrize("ground", ["ordered", "equal"])
def test_earth_movers_distance_is_pot_s(ot: Any, ground: str, classes: int, values: int, density: float) -> None:
    rng = np.random.default_rng([classes, values])
    counts = random_counts(rng, classes, values, density)
    place = rng.permutation(values)  # the order of the values is not the order of their codes
    cost = np.abs(place[:, None] - place[None, :]) / max(values - 1, 1)
    if ground == "equal":
        cost = 1.0 - np.eye(values)
    prior = counts.sum(0) / counts.sum()
    expected = [ot.emd2(row / row.sum(), prior, cost.astype(float)) for row in counts]
    found = sf.t_closeness(ground=ground).per_class(as_classes(counts, place))
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("ground", ["ordered", "equal"])
def test_earth_movers_distance_is_pot_s_from_rows(ot: Any, release: Callable[..., Release], ground: str) -> None:
    rng = np.random.default_rng(8)
    q, s = rng.integers(0, 5, 80), rng.choice([-3, 0, 2, 10, 11], 80, p=[0.5, 0.2, 0.1, 0.1, 0.1])
    counts = np.array([[((q == c) & (s == v)).sum() for v in (-3, 0, 2, 10, 11)] for c in range(5)])
    i = np.arange(5)
    cost = np.abs(i[:, None] - i) / 4 if ground == "ordered" else 1.0 - np.eye(5)
    expected = [ot.emd2(row / row.sum(), counts.sum(0) / 80, cost) for row in counts]
    score = sf.t_closeness(ground=ground)(release({"q": q.astype(str), "s": s}), ROLES)
    assert score.per_class == pytest.approx(expected, abs=1e-9)
    assert score.value == pytest.approx(max(expected), abs=1e-9)


@pytest.mark.parametrize(("classes", "values", "density"), SHAPES)
def test_entropies_are_scipy_s(classes: int, values: int, density: float) -> None:
    counts = random_counts(np.random.default_rng([7, classes, values]), classes, values, density)
    ours = as_classes(counts)
    prior = counts.sum(0) / counts.sum()
    conditional = np.array([stats.entropy(row, base=2) for row in counts])
    whole = stats.entropy(prior, base=2)
    assert ours.entropy == pytest.approx(conditional, abs=1e-12)
    assert ours.sensitive is not None
    assert ours.sensitive.entropy == pytest.approx(whole, abs=1e-12)
    assert sf.entropy_l_diversity.per_class(ours) == pytest.approx(2**conditional, abs=1e-9)
    assert sf.one_symbol_i2.per_class(ours) == pytest.approx(whole - conditional, abs=1e-12)
    assert sf.entropy_leakage.per_class(ours) == pytest.approx(np.abs(whole - conditional), abs=1e-12)
    kl = [stats.entropy(row / row.sum(), prior, base=2) for row in counts]
    assert sf.one_symbol_i1.per_class(ours) == pytest.approx(kl, abs=1e-12)
    euclid = [math.dist(row / row.sum(), prior) for row in counts]
    assert sf.distribution_leakage.per_class(ours) == pytest.approx(euclid, abs=1e-9)
    assert sf.distinct_l_diversity.per_class(ours).tolist() == (counts > 0).sum(1).tolist()


def test_ten_thousand_sensitive_values(release: Callable[..., Release]) -> None:
    rng = np.random.default_rng(3)
    values = 10_000
    s = np.concatenate([np.arange(values), rng.integers(0, values, 20_000)])
    q = rng.integers(0, 300, len(s))
    published = release({"q": q.astype(str), "s": s})
    ordered = sf.t_closeness(ground="ordered")(published, ROLES).per_class
    equal = sf.t_closeness(ground="equal")(published, ROLES).per_class
    labels = published.evidence(ROLES).tuples.columns[0].texts
    prior = np.bincount(s, minlength=values) / len(s)
    for c in (0, 17, 299):
        p = np.bincount(s[q == int(labels[c])], minlength=values)
        p = p / p.sum()
        assert ordered[c] == pytest.approx(stats.wasserstein_distance(np.arange(values), np.arange(values), p, prior) / (values - 1), abs=1e-9)  # fmt: skip
        assert equal[c] == pytest.approx(np.abs(p - prior).sum() / 2, abs=1e-9)


def test_many_classes_of_many_values_cost_their_entries_not_the_product() -> None:
    """40,000 classes over 10,000 values would be 400 million cells, 3 GB; there are 80,000 entries."""
    classes, values = 40_000, 10_000
    rng = np.random.default_rng(4)
    member = np.repeat(np.arange(classes), 2)
    value = rng.integers(0, values, 2 * classes)
    column, _ = encode("s", pa.array(range(values)))
    n = np.ones(2 * classes, dtype=np.int64)
    tree = Hierarchy.of("s", [(str(i), f"{i // 100} hundred", "*") for i in range(values)])
    sensitive = Sensitive(column, np.bincount(value, minlength=values), tuple(column.texts), tree)
    tracemalloc.start()
    try:
        split = Classes.of(member, n, count=classes, value=value, sensitive=sensitive)
        for metric in sf.registry().values():
            for variant in metric.variants():
                if metric.card.steers:
                    found = variant.per_class(split)
                    assert len(found) == classes
                    assert not np.isnan(found).any()
                    assert math.isinf(metric.card.bounds[1]) or np.isfinite(found).all()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100_000_000


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_single_class_is_the_table(size: int) -> None:
    split = as_classes(np.arange(1, size + 1)[None, :])
    for text in ("t_closeness[ordered]", "t_closeness[equal]", "distribution_leakage", "entropy_leakage", "one_symbol_i1", "one_symbol_i2"):  # fmt: skip
        assert sf.metric(text).per_class(split) == pytest.approx([0], abs=1e-12), text
