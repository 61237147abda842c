"""Theorems of the papers, over arbitrary small tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.classes import Classes, Sensitive
from sfumato.core.column import encode
from sfumato.core.release import Release
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("q",), sensitive=("s",))
CLASS = [
    v for m in sf.registry().values() if m.card.scope == "class" for v in m.variants() if "sensitive" in m.card.needs
]


@st.composite
def split(draw: st.DrawFn, min_classes: int = 1) -> np.ndarray:
    """Rows of each sensitive value (columns) in each class (rows); none of them empty."""
    values = draw(st.integers(1, 6))
    rows = draw(st.lists(st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 7, 50]), min_size=values, max_size=values), min_size=min_classes, max_size=7))  # fmt: skip
    counts = np.array([row for row in rows if sum(row)], dtype=np.int64).reshape(-1, values)
    counts = counts[:, counts.sum(0) > 0]
    assume(len(counts) >= min_classes)
    return counts


def classes(counts: np.ndarray) -> Classes:
    member, value = np.nonzero(counts)
    column, _ = encode("s", pa.array(range(counts.shape[1])))
    flat = sf.Hierarchy.of("s", [(text or "", "*") for text in column.texts])
    sensitive = Sensitive(column, counts.sum(0), tuple(column.texts), flat)
    return Classes.of(member, counts[member, value], count=len(counts), value=value, sensitive=sensitive)


def published(counts: np.ndarray, weighted: Any) -> Release:
    member, value = np.nonzero(counts)
    table = weighted({"q": [f"c{m:02d}" for m in member], "s": [str(v) for v in value]}, counts[member, value])
    return Release(table=table, original=table)


def mean(metric: Any, counts: np.ndarray) -> float:
    return float(np.average(metric.per_class(classes(counts)), weights=counts.sum(1)))


def information(counts: np.ndarray) -> float:
    """I(W;C) by the book, densely."""
    joint = counts / counts.sum()
    apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / apart[seen])).sum())


@given(split())
def test_i1_and_i2_average_to_the_mutual_information(weighted: Any, counts: np.ndarray) -> None:
    """Bezzi, sec. 2: both decompose I(W;C)."""
    whole = sf.mutual_information(published(counts, weighted), ROLES).value
    assert whole == pytest.approx(information(counts), abs=1e-9)
    assert mean(sf.one_symbol_i1, counts) == pytest.approx(whole, abs=1e-9)
    assert mean(sf.one_symbol_i2, counts) == pytest.approx(whole, abs=1e-9)


@given(split(min_classes=2), st.data())
def test_recoding_tells_no_more(weighted: Any, counts: np.ndarray, data: st.DataObject) -> None:
    """Data processing (eq. 4): whatever classes are merged, I(W;C) <= I(W;X) <= H(W); the loss is between 0 and 1."""
    to = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(counts), max_size=len(counts))))
    coarse = np.array([counts[to == c].sum(0) for c in np.unique(to)])
    fine, merged = (sf.mutual_information(published(c, weighted), ROLES).value for c in (counts, coarse))
    entropy = classes(counts).sensitive.entropy  # type: ignore[union-attr]
    assert -1e-12 <= merged <= fine + 1e-9
    assert fine <= entropy + 1e-9
    if fine > 1e-6:
        release = Release(table=published(coarse, weighted).table, original=published(counts, weighted).table)
        assert -1e-6 <= sf.information_loss(release, ROLES).value <= 1 + 1e-9


@given(split(min_classes=2), st.data())
def test_what_the_card_calls_monotone_is(counts: np.ndarray, data: st.DataObject) -> None:
    to = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(counts), max_size=len(counts))))
    coarse = np.array([counts[to == c].sum(0) for c in np.unique(to)])
    for metric in CLASS:
        if metric.card.monotone:
            worst = min if metric.card.better == "higher" else max
            fine, merged = (worst(metric.per_class(classes(c))) for c in (counts, coarse))
            assert merged >= fine - 1e-9 if metric.card.better == "higher" else merged <= fine + 1e-9, metric


@given(split())
def test_distances_are_zero_exactly_where_the_distributions_agree(counts: np.ndarray) -> None:
    prior = counts.sum(0) / counts.sum()
    alike = np.array([np.allclose(row / row.sum(), prior, atol=1e-12) for row in counts])
    for metric in (sf.distribution_leakage, sf.t_closeness(ground="equal"), sf.t_closeness(ground="ordered"), sf.one_symbol_i1):  # fmt: skip
        assert ((metric.per_class(classes(counts)) < 1e-7) == alike).all(), metric


@given(split())
def test_inequalities_between_the_measures(counts: np.ndarray) -> None:
    ours = classes(counts)
    m = counts.shape[1]
    equal, ordered = (sf.t_closeness(ground=g).per_class(ours) for g in ("equal", "ordered"))
    i1, l = sf.one_symbol_i1.per_class(ours), sf.entropy_l_diversity.per_class(ours)
    distinct, leak = sf.distinct_l_diversity.per_class(ours), sf.distribution_leakage.per_class(ours)
    entropy = ours.sensitive.entropy  # type: ignore[union-attr]
    assert (ordered <= equal + 1e-12).all(), "neighbours are nearer than everything being 1 apart"
    assert (equal <= np.sqrt(i1 * math.log(2) / 2) + 1e-9).all(), "Pinsker"
    assert (leak <= math.sqrt(2) * np.sqrt(equal) + 1e-9).all()
    assert (leak <= 2 * equal + 1e-9).all(), "the Euclidean norm is at most L1"
    assert (l >= 1 - 1e-12).all()
    assert (l <= distinct + 1e-9).all(), "no more effective values than values"
    assert (distinct <= m).all()
    assert sf.one_symbol_i2.per_class(ours) == pytest.approx(entropy - np.log2(l), abs=1e-9)  # eq. 10
    assert sf.entropy_leakage.per_class(ours) == pytest.approx(np.abs(entropy - np.log2(l)), abs=1e-9)
    assert (i1 <= -np.log2(ours.sensitive.prior.min()) + 1e-9).all()  # type: ignore[union-attr]


@given(split(), st.integers(2, 9))
def test_distributions_not_sizes(counts: np.ndarray, times: int) -> None:
    """The same distributions on more rows give the same per class."""
    for metric in (m for m in CLASS if m.card.name != "p_sensitive_k_anonymity"):  # which is about sizes, too
        assert metric.per_class(classes(counts * times)) == pytest.approx(metric.per_class(classes(counts)), abs=1e-9), metric  # fmt: skip


@given(split(), st.randoms(use_true_random=False))
def test_values_have_no_names(counts: np.ndarray, random: Any) -> None:
    """All but the ordered distance treat the sensitive values alike."""
    turn = list(range(counts.shape[1]))
    random.shuffle(turn)
    for metric in CLASS:
        if str(metric) != "t_closeness[ordered]":
            assert metric.per_class(classes(counts[:, turn])) == pytest.approx(metric.per_class(classes(counts)), abs=1e-9), metric  # fmt: skip


@given(split())
def test_the_ordered_distance_reads_both_ways(counts: np.ndarray) -> None:
    ordered = sf.t_closeness(ground="ordered")
    assert ordered.per_class(classes(counts[:, ::-1])) == pytest.approx(ordered.per_class(classes(counts)), abs=1e-9)


@given(split())
def test_risks_hang_together(weighted: Any, counts: np.ndarray) -> None:
    release = published(counts, weighted)
    k = sf.k_anonymity(release, ROLES).value
    assert k == counts.sum(1).min()
    assert sf.prosecutor_risk(release, ROLES).value == pytest.approx(1 / k)
    assert sf.journalist_risk(release, ROLES).value == pytest.approx(1 / k)
    marketer = sf.marketer_risk(release, ROLES).value
    assert marketer == pytest.approx(len(counts) / counts.sum())
    assert marketer == pytest.approx(1 / sf.average_class_size(release, ROLES).value)
    assert marketer <= 1 / k + 1e-12
    assert sf.discernibility(release, ROLES).value == (counts.sum(1) ** 2).sum()
