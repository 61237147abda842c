"""Optimal cuts against brute force over all partitions of small columns: value, cuts, ties, and whether there are any."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from cuts_oracle import Small, partitions, some_question, some_table

import sfumato as sf
from selection import enough, rounds
from sfumato.core.errors import Infeasible
from sfumato.core.metric import Metric, Requirement
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.search.cuts import Cuts, optimal_cuts


def place(values: Sequence[Any], cut: Any) -> int:
    """The first value of the range that starts at a cut, which lies between it and the one before it."""
    return next(i for i, value in enumerate(values) if value >= cut)


def found(question: Small) -> Cuts:
    return optimal_cuts(question.table, question.roles, "a", **question.arguments())


def test_the_oracle_counts_every_partition_once() -> None:
    assert sorted(partitions(4)) == [(), (1,), (1, 2), (1, 2, 3), (1, 3), (2,), (2, 3), (3,)]


@pytest.mark.parametrize("seed", range(12))
def test_the_best_of_all_partitions(seed: int) -> None:
    """Objectives, limits, ranges, missing values and columns that are held, at random; forty tables a seed."""
    rng = random.Random(seed)
    seen = dict.fromkeys(("met", "not met", "cut", "missing", "held"), 0)
    for turn in rounds(40):
        question = some_question(rng)
        best = question.best()
        seen["held"] += question.held in (0, 1)
        if best is None:
            seen["not met"] += 1
            with pytest.raises(Infeasible):
                found(question)
            continue
        answer = found(question)
        cuts, worth = best
        assert answer.objective == pytest.approx(worth, abs=1e-9), (seed, turn, question)
        assert [place(question.values, cut) for cut in answer.cuts] == list(cuts), (seed, turn, question)
        assert answer.missing == sum(a is None for a, _, _ in question.rows)
        seen["met"] += 1
        seen["cut"] += bool(cuts)
        seen["missing"] += answer.missing > 0
    assert enough(min(seen.values()) > 0), seen  # the random questions ask everything


@pytest.mark.parametrize("seed", range(4))
def test_every_merged_level_is_the_best_merge(seed: int) -> None:
    """With requirements that are not monotone too: a level is the best among partitions into unions of the ranges before."""
    rng, merged = random.Random(100 + seed), 0
    for _ in range(30):
        question = some_question(rng)
        question.most = None
        if question.best() is None:
            continue
        answer = found(question)
        for most in (3, 2, 1):
            finer = {place(question.values, cut) for cut in answer.cuts}
            question.most = most
            best = question.best(lambda cuts, finer=finer: set(cuts) <= finer)
            if best is None:
                with pytest.raises(Infeasible, match=f"at most {most} range"):
                    answer.coarser(most)
                break
            merged += len(best[0]) < len(finer)
            answer = answer.coarser(most)
            assert [place(question.values, cut) for cut in answer.cuts] == list(best[0])
            assert answer.objective == pytest.approx(best[1], abs=1e-9)
    assert merged > 5


def every_class_metric() -> list[Metric]:
    """Every registered metric on classes that can be asked of a single one, in every variant: whatever comes new is tried here too."""
    return [v for m in sf.registry().values() if m.card.steers for v in m.variants()]


@pytest.mark.parametrize("metric", every_class_metric(), ids=str)
def test_every_class_metric_as_a_requirement(metric: Metric, weighted: type) -> None:
    """Against releases measured as files are: by the metric's score over all classes. A claim to be monotone is used here."""
    rng = random.Random(str(metric))
    taxonomy = sf.Hierarchy.of("w", [["x", "one", "*"], ["y", "one", "*"], ["z", "two", "*"]])
    roles = Roles(quasi=("a",), sensitive=("w",), orders={"w": ("x", "y", "z")}, hierarchies={"w": taxonomy})
    cut = 0
    for _ in range(6):
        rows = [(a, w) for a, _, w in some_table(rng)]
        values = sorted({a for a, _ in rows if a is not None})
        scores = {}
        for cuts in partitions(len(values)):
            starts = [0, *cuts]
            at = ["" if a is None else str(sum(values.index(a) >= s for s in starts)) for a, _ in rows]
            release = Release(table=weighted({"a": at, "w": [w for _, w in rows]}, [1] * len(rows)))
            scores[cuts] = metric.score(release.evidence(roles)).value
        table = weighted({"a": [a for a, _ in rows], "w": [w for _, w in rows]}, [1] * len(rows))
        for bound in sorted(set(scores.values()))[:4]:
            limit = metric.at_least(bound) if metric.card.better == "higher" else metric.at_most(bound)
            good = {c for c, value in scores.items() if limit.holds(value)}
            answer = optimal_cuts(table, roles, "a", objective="loss", require=[limit])
            assert tuple(place(values, c) for c in answer.cuts) in good
            reached = [*answer.reached[str(limit)], *answer.missing_reached.values()]
            worst = min(reached) if metric.card.better == "higher" else max(reached)
            assert worst == pytest.approx(scores[tuple(place(values, c) for c in answer.cuts)], abs=1e-12)
            small = Small([(a, None, w) for a, w in rows], objective="loss")
            assert answer.objective == pytest.approx(min(small.worth(c) for c in good), abs=1e-12)
            cut += bool(answer.cuts)
    assert cut > 0


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers if hardly anything fits in a block."""
    rng = random.Random(7)
    questions = [q for q in (some_question(rng) for _ in range(30)) if q.best() is not None]
    whole = [found(question) for question in questions]
    monkeypatch.setattr("sfumato.search.ordered_ranges._BLOCK", 5)
    for question, before in zip(questions, whole, strict=True):
        after = found(question)
        assert (after.cuts, after.objective, after.reached) == (before.cuts, before.objective, before.reached)


def unclaimed(requirement: Requirement) -> Requirement:
    """The same requirement by a metric that does not say it is monotone."""
    card = replace(requirement.metric.card, monotone=False)
    return replace(requirement, metric=replace(requirement.metric, card=card))


def test_monotone_requirements_spare_ranges_and_change_nothing() -> None:
    """Twenty values at each end are alike: no cut is possible there, and few ranges are looked at."""
    rows = [(a, "p", "x") for a in range(10, 30)] + [(a, "p", "xy"[a % 2]) for a in range(30, 34)]
    rows += [(a, "p", "y") for a in range(34, 54)]
    question = Small(rows, ["entropy_l_diversity >= 1.2"])
    answer = found(question)
    arguments = question.arguments()
    arguments["require"] = [unclaimed(r) for r in arguments["require"]]
    slow = optimal_cuts(question.table, question.roles, "a", **arguments)
    assert 10 * answer.checked < slow.checked
    assert answer.cuts
    assert (answer.cuts, answer.objective, answer.reached) == (slow.cuts, slow.objective, slow.reached)


def test_infeasible_without_a_monotone_metric_says_what_was_looked_at() -> None:
    question = Small([(1, "p", "x"), (2, "p", "y"), (3, "p", "z")], ["entropy_l_diversity >= 4"])
    with pytest.raises(Infeasible, match="even a single range of all values only reaches 3"):
        found(question)
    arguments = question.arguments()
    arguments["require"] = [unclaimed(r) for r in arguments["require"]]
    with pytest.raises(Infeasible, match=r"No partition of 'a' meets everything.* reaches 3.*\(3\) were looked at"):
        optimal_cuts(question.table, question.roles, "a", **arguments)
