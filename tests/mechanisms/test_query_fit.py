"""Classes fitted to counting queries: what they answer is what the release answers, and the fit only lowers its error."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mondrian_tables import JOBS, TAXONOMY, Made, classes_of, made, meets, read_back, tables

import sfumato as sf
from sfumato.core.column import IntArray
from sfumato.core.cover import Domain
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.label_kinds import Labels
from sfumato.core.mechanism import unheard
from sfumato.mechanisms.partition.axes import axes_of
from sfumato.mechanisms.partition.box_loss import BoxLoss
from sfumato.mechanisms.partition.clusters import AxisLoss
from sfumato.mechanisms.partition.improved_classes import CUT_SHORT
from sfumato.mechanisms.partition.parts import Parts, labels_of
from sfumato.mechanisms.partition.query_fit import QueryFit
from sfumato.mechanisms.partition.query_workload import QueryWorkload, _predicates
from sfumato.metrics import require

FORMS: dict[str, Any] = {
    "mondrian": sf.Mondrian,
    "mondrian, relaxed": lambda **more: sf.Mondrian(mode="relaxed", **more),
    "k_member": sf.KMember,
}
OTHERS = sf.metric("query_error[predicates=ranges,queries=2000,seed=9]")
"""Queries that the fit has not seen."""


def _mixed(rows: int, seed: int) -> Made:
    """A number with gaps, a category, a job with a taxonomy, and a sensitive column."""
    rng = np.random.default_rng(seed)
    numbers: list[Any] = rng.integers(0, 30, rows).tolist()
    for i in range(0, rows, 9):
        numbers[i] = None
    job = rng.choice(JOBS, rows).tolist()
    return made(
        {"x": numbers, "c": rng.choice(list("abcdefg"), rows, p=[0.5, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05]).tolist(), "job": job},
        rng.choice(list("uvw"), rows, p=[0.6, 0.3, 0.1]).tolist(),
        hierarchies={"job": Hierarchy.of("job", [line for line in TAXONOMY if line[0] in job])},
    )  # fmt: skip


@pytest.mark.parametrize("labels", ["hierarchies", "plain", "cheapest"])
@pytest.mark.parametrize("seed", range(3))
def test_classes_answer_what_their_labels_answer(labels: Labels, seed: int) -> None:
    """Every label read as a user would, each of its values with the same share, for every query of the grid."""
    table = _mixed(60, seed)
    counts = table.table.count((*table.roles.quasi, "s"))
    axes, code = axes_of(counts, table.roles, "open", labels)
    workload = QueryWorkload.of(counts, table.roles, axes, ("s",))
    rng = np.random.default_rng(seed)
    member = np.unique(rng.integers(0, 12, len(counts)), return_inverse=True)[1].astype(np.int64)
    parts = Parts.of(np.arange(len(counts)), counts.n, member, len(axes))
    texts = labels_of(parts, axes, code, by_cuts=False)
    many = workload.actual.shape[1]
    shares = []
    for name, said in zip(table.roles.quasi, texts, strict=True):
        column = counts.column(name)
        domain = Domain(column, table.roles.hierarchy(column))
        asked = _predicates(column, counts.margin(name), table.roles, many)
        of_label = []
        for text in said:
            covered = domain.covered(text)
            assert covered is not None
            of_label.append(asked[:, covered].sum(axis=1) / (domain.leaves(text) or 1))
        shares.append(np.array(of_label)[parts.member])
    told = _predicates(counts.column("s"), counts.margin("s"), table.roles, many).T[counts.codes[-1][parts.entry]]
    expected = [
        np.einsum("t,tp,tq->pq", parts.n, one, other)
        for i, (one, other) in enumerate(itertools.combinations([*shares, told], 2))
    ]
    missed = workload.missed(code[:, parts.entry], workload.told[parts.entry], parts.n, parts.member)
    assert missed + workload.actual == pytest.approx(np.array(expected), abs=1e-9)
    alone = np.arange(len(counts))  # each tuple as it is: nothing is missed
    assert workload.error(code, alone, counts.n, alone) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=4, deadline=None)
@given(data=st.data(), table=tables(), k=st.integers(2, 4))
def test_every_promise_holds_in_the_file(
    form: str, data: st.DataObject, table: Made, k: int, tmp_path_factory: Any
) -> None:
    asked = (require(data.draw(st.sampled_from(["distinct_l_diversity >= 2", "t_closeness[equal] <= 0.4"]))),)
    try:
        release = FORMS[form](k=k, require=asked, fit_queries=True)(table.table, table.roles, np.random.default_rng(1))
    except Infeasible:
        return
    path = tmp_path_factory.mktemp("made") / "release.csv"
    release.table.write(path)
    everywhere = table.texts("s")
    for rows in classes_of(read_back(path), table.roles.quasi).values():
        inside = [row["s"] for row in rows]
        assert len(inside) >= k
        assert meets(asked[0], inside, everywhere)


@pytest.mark.parametrize("labels", ["plain", "hierarchies"])
def test_queries_that_it_has_not_seen_are_answered_far_better(labels: Labels) -> None:
    rng = np.random.default_rng(1)
    table = _mixed(300, 5)
    table = made(
        {**{name: table.columns[name] for name in table.roles.quasi}, "pay": (rng.exponential(9, 300) ** 2).astype(int).tolist()},
        table.columns["s"],
        hierarchies=table.roles.hierarchies,
    )  # fmt: skip
    error = {
        fitted: OTHERS(
            sf.KMember(k=5, labels=labels, improve=True, fit_queries=fitted)(table.table, table.roles), table.roles
        ).value
        for fitted in (False, True)
    }
    assert error[True] < 0.8 * error[False], error


def _fit(most: int) -> tuple[QueryFit, float, list[float]]:
    """The pass on classes of five at random, with what it misses before and after by the workload's own count."""
    rng = np.random.default_rng(5)
    table = made({"x": rng.integers(0, 90, 300).tolist(), "y": (rng.exponential(9, 300) ** 2).astype(int).tolist()})
    counts = table.table.count(table.roles.quasi)
    axes, code = axes_of(counts, table.roles)
    workload = QueryWorkload.of(counts, table.roles, axes, ())
    everything, member = np.arange(len(counts)), np.argsort(np.argsort(code[0], kind="stable")) // 6

    def stands(_: IntArray, n: IntArray, member: IntArray, count: int) -> Any:
        return np.bincount(member, weights=n, minlength=count) >= 5

    loss = BoxLoss([AxisLoss(axis, table.roles) for axis in axes], code)
    pass_ = QueryFit(loss, stands, everything, counts.n, member, 5, workload=workload, code=code, told=workload.told)
    before = workload.error(code, everything, counts.n, member)
    pass_.run(unheard, most)
    after = workload.error(code, pass_.unit, pass_.rows, pass_.member)
    assert np.bincount(pass_.member, weights=pass_.rows).min() >= 5
    return pass_, before, [after, pass_.error]


def test_work_is_counted_and_what_is_held_is_what_the_classes_miss() -> None:
    errors = []
    for most in (1, 3_000_000, 10_000_000):
        pass_, before, (after, held) = _fit(most)
        assert pass_.stopped == "work"
        assert after == pytest.approx(held, rel=1e-9)
        assert after <= before
        errors.append(after)
    assert errors[0] > errors[1] > errors[2]


def test_the_same_table_in_any_order_gives_the_same_release(tmp_path: Path) -> None:
    table = _mixed(90, 3)
    files = []
    for order in (range(90), np.random.default_rng(0).permutation(90).tolist()):
        turned = table.shuffled(list(order))
        path = tmp_path / f"{len(files)}.csv"
        sf.KMember(k=3, fit_queries=True)(turned.table, turned.roles).table.write(path)
        files.append(Counter((row["x"], row["c"], row["job"], row["s"]) for row in read_back(path)))
    assert files[0] == files[1]


def test_a_mean_stays_met() -> None:
    table = _mixed(200, 4)
    asked = (require("marketer_risk <= 0.25"),)
    plain, fitted = (sf.KMember(k=2, require=asked, fit_queries=fit)(table.table, table.roles) for fit in (False, True))
    assert asked[0].check(fitted, table.roles).met
    assert OTHERS(fitted, table.roles).value < OTHERS(plain, table.roles).value


def test_an_interruption_keeps_what_was_gained() -> None:
    table = _mixed(200, 6)
    calls = []

    def stop(done: float) -> None:
        calls.append(done)
        if len([c for c in calls if c > 0.5]) > 3:
            raise KeyboardInterrupt

    release = sf.KMember(k=4, fit_queries=True)(table.table, table.roles, progress=stop)
    assert CUT_SHORT in release.notes
    assert sf.k_anonymity(release, table.roles).value >= 4
    assert OTHERS(release, table.roles).value < OTHERS(sf.KMember(k=4)(table.table, table.roles), table.roles).value


@pytest.mark.parametrize("form", FORMS)
def test_what_answers_everything_rightly_is_left_as_it_is(form: str) -> None:
    """Every tuple stands often enough to be a class: no query is missed, and the fit ends at once."""
    table = made({"x": [1, 2, 3, 4] * 6, "c": [*"abab"] * 6}, [*"uuuuvvvvwwww"] * 2)
    release = FORMS[form](k=3, fit_queries=True)(table.table, table.roles)
    assert OTHERS(release, table.roles).value == 0
    assert sf.k_anonymity(release, table.roles).value == 6


def test_a_single_column_has_no_pairs_to_ask_for() -> None:
    table = made({"x": [1, 2, 3, 4, 5, 6, 7, 8, 9]})
    release = sf.KMember(k=2, fit_queries=True)(table.table, table.roles)
    assert sf.k_anonymity(release, table.roles).value >= 2


def test_what_it_does_not_go_with_is_refused() -> None:
    with pytest.raises(InputError, match="fit_queries moves rows across cuts"):
        sf.Mondrian(k=3, bounds="cuts", fit_queries=True)
