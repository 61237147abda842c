"""Limits on means are met in the file, used up rather than undershot, and cost less than classes that are all as large as the mean asks."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mondrian_tables import Made, classes_of, made, read_back, tables
from test_improvement import FORMS, _lost, _partitions

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError, RequirementError
from sfumato.metrics import require
from sfumato.study.default_candidates import candidates

MEAN = "marketer_risk <= "


def information(classes: list[list[str | None]]) -> float:
    """Bezzi 2010, eq. 9, in plain Python."""
    everyone = [value for inside in classes for value in inside]
    rows, prior = len(everyone), Counter(everyone)
    bits = 0.0
    for inside in classes:
        for value, n in Counter(inside).items():
            bits += n / rows * math.log2(n / len(inside) / (prior[value] / rows))
    return bits


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=50, deadline=None)
@given(
    table=tables(), k=st.integers(1, 3), mean=st.sampled_from([0.15, 0.25, 0.4]), bits=st.sampled_from([0.1, 0.4, 9.0])
)
def test_means_hold_in_the_file(
    form: str, table: Made, k: int, mean: float, bits: float, tmp_path_factory: Any
) -> None:
    asked = (require(f"{MEAN}{mean}"), require(f"mutual_information <= {bits}"))
    try:
        release = FORMS[form](k=k, require=asked)(table.table, table.roles, np.random.default_rng(1))
    except Infeasible:
        assert 1 / table.rows > mean or table.rows < k
        return
    path = tmp_path_factory.mktemp("made") / "release.csv"
    release.table.write(path)
    classes = list(classes_of(read_back(path), table.roles.quasi).values())
    assert min(map(len, classes)) >= k
    assert len(classes) / table.rows <= mean + 1e-9
    assert information([[row["s"] for row in rows] for rows in classes]) <= bits + 1e-9


@pytest.mark.full  # every partition of a dozen tables
def test_tiny_tables_come_near_the_best_of_all_partitions_that_meet_the_mean() -> None:
    reached = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table = made({"a": rng.integers(0, 30, 9).tolist(), "b": rng.integers(0, 30, 9).tolist()})
        best = min(_lost(table, p) for p in _partitions(list(range(9)), 2) if len(p) <= 3)
        asked = (require(f"{MEAN}0.34"),)
        for kind in (sf.Mondrian, sf.KMember):
            release = kind(k=2, require=asked)(table.table, table.roles)
            lost = sf.iloss(release, table.roles).value
            assert best - 1e-9 <= lost
            reached += lost <= best * 1.02 + 1e-9
    assert reached >= 14, reached  # of 24


@pytest.mark.parametrize("kind", [sf.Mondrian, sf.KMember])
def test_a_mean_is_used_up_and_costs_less_than_larger_classes(kind: Any) -> None:
    rng = np.random.default_rng(7)
    x = rng.integers(0, 80, 600)
    table = made(
        {"x": x.tolist(), "y": (x // 2 + rng.integers(0, 30, 600)).tolist(), "z": rng.choice(list("abc"), 600).tolist()}
    )
    asked = (require(f"{MEAN}0.25"), require("k_anonymity >= 3"))
    steered = kind(require=asked)(table.table, table.roles)
    larger = kind(k=4, improve=True)(table.table, table.roles)
    mean = sf.marketer_risk(steered, table.roles).value
    assert 0.245 <= mean <= 0.25 + 1e-12
    assert sf.k_anonymity(steered, table.roles).value == 3
    assert sf.iloss(steered, table.roles).value < 0.97 * sf.iloss(larger, table.roles).value


def test_what_meets_the_mean_anyway_stays_as_it_is() -> None:
    rng = np.random.default_rng(8)
    table = made({"x": rng.integers(0, 50, 100).tolist(), "y": rng.integers(0, 50, 100).tolist()})
    asked = (require(f"{MEAN}0.25"),)
    for kind in (sf.Mondrian, sf.KMember):
        with_mean, without = (kind(k=5, require=r)(table.table, table.roles).to_arrow() for r in (asked, ()))
        assert with_mean.equals(without)


def test_the_same_table_in_any_order_gives_the_same_release(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    table = made({"x": rng.integers(0, 40, 120).tolist(), "y": rng.choice(list("abcde"), 120).tolist()})
    files = []
    for order in (range(120), rng.permutation(120).tolist()):
        turned = table.shuffled(list(order))
        path = tmp_path / f"{len(files)}.csv"
        sf.KMember(k=3, require=(require(f"{MEAN}0.22"),))(turned.table, turned.roles).table.write(path)
        files.append(Counter((row["x"], row["y"]) for row in read_back(path)))
    assert files[0] == files[1]


def test_what_even_one_class_misses_is_refused() -> None:
    table = made({"x": [1, 2, 3]})
    for kind in (sf.Mondrian, sf.KMember):
        with pytest.raises(Infeasible, match=r"even the whole table as a single class only reaches 0\.333333"):
            kind(k=1, require=(require(f"{MEAN}0.3"),))(table.table, table.roles)


def test_means_go_neither_with_cuts_nor_with_whole_tables() -> None:
    asked = (require(f"{MEAN}0.25"),)
    with pytest.raises((InputError, RequirementError), match="cannot steer by marketer_risk"):
        sf.Mondrian(k=3, bounds="cuts", require=asked)


def test_advice_tries_it() -> None:
    rng = np.random.default_rng(10)
    table = made({"x": rng.integers(0, 50, 200).tolist(), "y": rng.integers(0, 50, 200).tolist()})
    limits = (require(f"{MEAN}0.25"), require("k_anonymity >= 3"))
    texts = [each.text for each in candidates(table.table, table.roles, limits, sf.metric("iloss"))]
    for kind in ("mondrian", "k_member"):
        assert any(text.startswith(f"{kind} k=3") and MEAN in text for text in texts)


def test_microaggregation_uses_up_a_mean_risk() -> None:
    rng = np.random.default_rng(11)
    table = made({"x": rng.normal(50, 9, 300).round(1).tolist(), "y": rng.normal(0, 3, 300).round(1).tolist()})
    asked = (require(f"{MEAN}0.25"),)
    steered = sf.Microaggregation(k=3, require=asked)(table.table, table.roles, np.random.default_rng(1))
    larger = sf.Microaggregation(k=4, improve=True)(table.table, table.roles, np.random.default_rng(1))
    assert 0.24 <= sf.marketer_risk(steered, table.roles).value <= 0.25 + 1e-12
    assert sf.k_anonymity(steered, table.roles).value >= 3
    lost = [float(release.notes[0].split(" is ")[-1].rstrip(".")) for release in (steered, larger)]
    assert lost[0] < lost[1]  # SSE/SST
    with pytest.raises(Infeasible, match="has only 300 rows"):
        sf.Microaggregation(k=3, require=(require(f"{MEAN}0.003"),))(table.table, table.roles)
