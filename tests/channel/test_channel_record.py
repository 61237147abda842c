"""The record-level channel of a release: by hand, against the metrics of classes, for pairs of any origin, and at scale."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from house import Make, MakeTable
from sfumato.channel.adversary import posterior
from sfumato.channel.channel import Channel
from sfumato.channel.leakage import mutual_information
from sfumato.channel.record import person_channel, record_channel
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("age", "sex"), sensitive=("ill",))
BEFORE = {"age": ["1", "1", "2", "2", "3", "3"], "sex": ["F", "M", "F", "F", "M", "M"], "ill": list("abcabc")}
AFTER = {"age": ["1-2", "1-2", "1-2", "1-2", "3", "3"], "sex": ["F", "M", "F", "F", "M", "M"], "ill": list("abcabc")}


def test_by_hand(release: Make) -> None:
    made = record_channel(release(AFTER, BEFORE, pairing="position"), ROLES)
    # (1,F) and (2,F) twice become (1-2,F); (1,M) and (3,M) twice stay alone
    assert made.channel.shape == (4, 3)
    assert made.prior == pytest.approx([1 / 6, 1 / 6, 2 / 6, 2 / 6])
    assert made.error == pytest.approx(1 / 6)
    assert made.bayes_capacity == 3
    assert made.unknown == pytest.approx(0.5 * -(1 / 3 * np.log2(1 / 3) + 2 / 3 * np.log2(2 / 3)))
    assert made.information == pytest.approx(made.entropy - made.unknown)
    assert made.capacity().low == pytest.approx(np.log2(3))
    assert ("1", "F") in made.channel.input_names


def test_extremes(release: Make) -> None:
    kept = record_channel(release(BEFORE, BEFORE, pairing="position"), ROLES)
    assert (kept.error, kept.unknown) == (pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12))
    gone = record_channel(release({**BEFORE, "age": ["*"] * 6, "sex": ["*"] * 6}, BEFORE, pairing="position"), ROLES)
    assert gone.error == pytest.approx(1 - gone.prior.max())
    assert (gone.information, gone.bayes_capacity) == (pytest.approx(0, abs=1e-12), 1)


def test_a_value_released_in_two_ways(release: Make) -> None:
    """Local recoding and noise make rows of several entries."""
    after = {**BEFORE, "age": ["1", "2", "2", "1", "3", "3"]}
    made = record_channel(release(after, BEFORE, pairing="position"), ROLES, ["age"])
    assert made.channel.dense() == pytest.approx(np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]))
    assert made.error == pytest.approx(1 / 3)


def test_missing_values_are_values(release: Make) -> None:
    before = {**BEFORE, "age": [None, None, "2", "2", "3", "3"]}
    made = record_channel(release(AFTER, before, pairing="position"), ROLES, ["age"])
    assert (None,) in made.channel.input_names
    assert made.channel.shape == (3, 2)


# --- mechanisms of ours ----------------------------------------------------------------------------------------------


def people(count: int, seed: int = 0) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    return {
        "age": [str(x) for x in rng.integers(20, 60, count)],
        "sex": [str(x) for x in rng.choice(["F", "M"], count)],
        "ill": [str(x) for x in rng.choice(list("abcd"), count)],
    }


@pytest.mark.parametrize("mechanism", [sf.Mondrian(k=4), sf.Pram(columns="sex", keep=0.8), sf.RankSwapping(columns="age", p=5)], ids=str)  # fmt: skip
def test_pairs_of_ours_are_those_of_the_rows(mechanism: Any, table: MakeTable, tmp_path: Path) -> None:
    original = table(people(300))
    made = mechanism(original, ROLES, np.random.default_rng(1))
    found = record_channel(made, ROLES)
    assert found.rows == 300
    assert found.prior.sum() == pytest.approx(1)
    counts = original.count(("age", "sex"))
    assert found.channel.shape[0] == len(counts)
    assert np.sort(found.prior * 300) == pytest.approx(np.sort(counts.n))
    assert found.channel.shape[1] == len(made.table.count(("age", "sex")))
    after = found.channel.outputs_under(found.prior) * 300
    assert np.sort(after) == pytest.approx(np.sort(made.table.count(("age", "sex")).n))


def test_pram_is_found_again(table: MakeTable) -> None:
    """The channel estimated from many rows is near the matrix that they were drawn with."""
    original = table(people(40_000))
    made = sf.Pram(columns="sex", keep=0.8)(original, ROLES, np.random.default_rng(1))
    found = record_channel(made, ROLES, ["sex"]).channel.dense()
    assert found == pytest.approx(np.array([[0.8, 0.2], [0.2, 0.8]]), abs=0.01)


# --- the identities of classes ---------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=30))
def test_classes_as_a_channel(release: Make, rows: list[tuple[int, int, int]]) -> None:
    """k-anonymity is H(X|c) >= log2 k; its channel's error, information and per-class entropies are those of the metrics."""
    age, sex, ill = zip(*rows, strict=True)
    made = release({"age": list(map(str, age)), "sex": list(map(str, sex)), "ill": list(map(str, ill))})
    found = person_channel(made, ROLES)
    k, size = sf.k_anonymity(made, ROLES).value, made.evidence(ROLES).tuples.n
    left = np.array([scipy.stats.entropy(posterior(found.channel, y), base=2) for y in range(len(size))])
    assert left == pytest.approx(np.log2(size), abs=1e-9)
    assert left.min() >= np.log2(k) - 1e-9
    assert left.min() == pytest.approx(np.log2(k), abs=1e-9)  # and no more: k is the smallest class
    assert found.error == pytest.approx(1 - len(size) / len(rows))
    assert found.error == pytest.approx(1 - sf.marketer_risk(made, ROLES).value)
    told = np.log2(len(rows)) - left
    assert told.max() == pytest.approx(sf.identity_information(made, ROLES).value, abs=1e-9)
    assert found.information == pytest.approx(np.average(told, weights=size), abs=1e-9)


def test_information_about_the_sensitive_value(release: Make) -> None:
    """The channel from illness to class tells what the metric mutual_information says."""
    made = release(people(200))
    classes = made.evidence(ROLES).classes("ill")
    joint = np.zeros((4, len(classes)))
    joint[classes.value, classes.member] = classes.n / classes.rows
    prior = joint.sum(axis=1)
    told = mutual_information(Channel(matrix=joint / prior[:, None]), prior)
    assert told == pytest.approx(sf.mutual_information(made, ROLES).value, abs=1e-9)


# --- scale and refusals ----------------------------------------------------------------------------------------------


def test_a_million_rows() -> None:
    rng = np.random.default_rng(0)
    count = 1_000_000
    before = {"age": rng.integers(0, 90, count), "sex": rng.integers(0, 900, count)}
    after = {"age": before["age"] // 5, "sex": before["sex"] // 10}
    original, released = (sf.read(pa.table({n: pa.array(v) for n, v in side.items()})) for side in (before, after))
    roles = Roles(quasi=("age", "sex"))
    start = time.process_time()
    found = record_channel(Release(table=released, original=original, pairing="position"), roles)
    assert found.rows == count
    assert found.channel.shape == (len(np.unique(before["age"] * 1000 + before["sex"])), 18 * 90)
    assert found.capacity().low == pytest.approx(np.log2(18 * 90))
    person = person_channel(Release(table=released), roles)
    assert person.error == pytest.approx(1 - 18 * 90 / count)
    assert time.process_time() - start < 60


def test_refusals(release: Make, table: MakeTable, refusal: Callable[..., str]) -> None:
    refusal(Unavailable, lambda: record_channel(release(AFTER, BEFORE), ROLES), "--pair")
    refusal(Unavailable, lambda: record_channel(release(AFTER, pairing="position"), ROLES), "original")
    refusal(InputError, lambda: record_channel(release(AFTER, BEFORE, pairing="position"), ROLES, ["pay"]), "'pay'")
    refusal(Unavailable, lambda: record_channel(release(AFTER), Roles(sensitive=("ill",))), "columns")
    made = sf.Mondrian(k=2)(table(people(50)), ROLES)
    refusal(Unavailable, lambda: record_channel(made, ROLES, ["ill"]), "'ill'")
