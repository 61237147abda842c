"""The best release of every set of quasi-identifiers, against every node of the lattice generalized row by row."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from search_oracle import Judged, Small, Value, least, some_question, some_table

import sfumato as sf
from house import ADULT_QUASI, Refusal
from selection import enough, rounds
from sfumato.core.counts import Counts
from sfumato.core.errors import InputError, RequirementError
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.inspect.leakage import qid_choices
from sfumato.metrics import registry
from sfumato.search import choice as module
from sfumato.search.choice import QidRelease, QuasiChoice, qid_choice
from sfumato.search.full_domain import optimal_generalization
from sfumato.search.problem import pose
from sfumato.search.scores import score

MEASURED = ("k_anonymity", "prosecutor_risk", "marketer_risk", "distribution_leakage(s)", "entropy_leakage", "t_closeness[equal]", "mutual_information")  # fmt: skip
SIX = Small(
    [{"a": a, "b": b, "s": s} for a, b, s in zip("xxxyyz", "uuvvvv", "ppqqpp", strict=True)],
    ("a", "b"),
    lines={"a": {v: (v, "xy" if v in "xy" else "z", "*") for v in "xyz"}},
)


def staying(question: Small, judged: Judged) -> dict[tuple[Value, ...], list[int]]:
    """The classes that are left of a node."""
    return {key: rows for key, rows in judged.classes.items() if not set(rows) & judged.gone}


def found(question: Small, **more: object) -> QuasiChoice:
    return qid_choice(question.table, question.roles, **{**question.arguments(), **more})  # type: ignore[arg-type]


# --- extremes --------------------------------------------------------------------------------------------------------


def test_without_requirements_every_set_is_released_as_it_is() -> None:
    got = found(SIX)
    assert [release.columns for release in got.releases] == [("a",), ("b",), ("a", "b")]
    for release in got.releases:
        assert set(release.levels.values()) == {0}  # type: ignore[union-attr]
        assert release.loss == 0
        assert release.suppressed == 0
    assert [release.loss_all for release in got.releases] == [0.5, 0.5, 0.0]  # the column that is left out is lost
    assert [release.classes for release in got.releases] == [3, 2, 4]


def test_by_hand() -> None:
    """2-anonymity: z is alone in a, so a goes up to xy and z to *; b is fine as it is; both together cannot keep a."""
    got = found(dataclasses.replace(SIX, require=[("k_anonymity", 2.0)]))
    assert got.of("a").levels == {"a": 2}
    assert got.of("a").released == ()
    assert (got.of("a").loss, got.of("a").loss_all, got.of("a").classes) == (1.0, 1.0, 1)
    assert got.of("b").levels == {"b": 0}
    assert (got.of("b").loss, got.of("b").loss_all, got.of("b").classes) == (0.0, 0.5, 2)
    assert got.of("b", "a").levels == {"a": 2, "b": 0}
    assert got.of("a", "b").released == ("b",)
    assert (got.of("a", "b").loss, got.of("a", "b").loss_all) == (0.5, 0.5)
    assert got.of("b").scores["k_anonymity"].value == 2
    # with the row of z left out, a may stay as it is
    less = found(dataclasses.replace(SIX, require=[("k_anonymity", 2.0)], suppression=0.17))
    assert (less.of("a").levels, less.of("a").suppressed) == ({"a": 0}, 1)
    assert less.of("a").loss == pytest.approx(1 / 6)
    assert less.of("a").loss_all == pytest.approx((1 / 6 + 1) / 2)


def test_a_set_without_a_release_is_listed_without_one() -> None:
    """Sets of one column lose half of everything at least, which is more than is allowed."""
    got = found(dataclasses.replace(SIX, require=[("granularity", 0.4)]))
    assert [release.feasible for release in got.releases] == [False, False, True]
    bare = QidRelease(("a",))
    assert got.of("a").to_dict() == bare.to_dict()
    assert got.to_dict()["sets"][0]["levels"] is None
    assert [r.columns for r in got.frontier("k_anonymity")] == [("a", "b")]


# --- the oracle ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(8))
def test_the_best_of_every_face(part: int) -> None:
    seen = dict.fromkeys(("met", "not met", "suppressed", "collapsed"), 0)
    for seed in rounds(20 * part, 20 * part + 20):
        question = some_question(seed)
        if seed % 4 == 0:  # what only larger sets can have
            question.require.append(("average_class_size", len(question.rows) / random.Random(seed).randint(2, 8)))
        try:
            got = found(question, metrics=MEASURED)
        except InputError as error:  # what is minimised may not be askable; the search says so too
            with pytest.raises(InputError, match=str(error)[:20]):
                optimal_generalization(question.table, question.roles, **question.arguments())
            continue
        every = question.every()
        top = tuple(map(question.height, question.quasi))
        for release in got.releases:
            out = [j for j, name in enumerate(question.quasi) if name not in release.columns]
            best = least([j for j in every if j.feasible and all(j.node[i] == top[i] for i in out)])
            where = (seed, question.require, question.minimise, question.suppression, release.columns)
            if best is None:
                assert not release.feasible, where
                seen["not met"] += 1
                continue
            assert release.loss_all == pytest.approx(best.loss, abs=1e-9), where
            levels = dict(zip(question.quasi, best.node, strict=True))
            assert release.levels == {name: levels[name] for name in release.columns}, where
            assert release.suppressed == len(best.gone), where
            left = staying(question, best)
            assert release.classes == len(left)
            for text in MEASURED:
                wanted = question.whole(text, best.node, left)
                assert release.scores[text].value == pytest.approx(wanted, abs=1e-9), (where, text)
            seen["met"] += 1
            seen["suppressed"] += bool(best.gone)
            seen["collapsed"] += release.released != release.columns
    assert enough(min(seen.values()) > 0), seen


@pytest.mark.parametrize("part", range(3))
def test_the_loss_of_a_set_is_that_of_the_set_alone(part: int) -> None:
    """As if the other columns were not there at all."""
    asked = 0
    for seed in rounds(300 + 12 * part, 312 + 12 * part):
        question = some_question(seed)
        question.require = [("k_anonymity", 2.0)]
        for release in found(question).releases:
            if not release.feasible:
                continue
            alone = dataclasses.replace(question, quasi=release.columns)
            judged = alone.judge(tuple(release.levels.values()))  # type: ignore[union-attr]
            assert release.loss == pytest.approx(judged.loss, abs=1e-9), (seed, question.minimise, release.columns)
            assert release.suppressed == len(judged.gone)
            asked += 1
    assert enough(asked > 30)


def test_the_set_of_all_is_the_optimum() -> None:
    for seed in rounds(30):
        question = some_question(500 + seed)
        question.require, question.minimise = [("k_anonymity", 3.0)], "loss"
        best = optimal_generalization(question.table, question.roles, **question.arguments())
        got = found(question).of(*question.quasi)
        assert (got.levels, got.loss, got.suppressed) == (best.levels, pytest.approx(best.loss), best.suppressed)


# --- theorems --------------------------------------------------------------------------------------------------------


def test_a_larger_set_never_loses_more_of_all() -> None:
    for seed in rounds(20):
        question = some_question(600 + seed)
        question.minimise = "loss"
        got = {release.columns: release for release in found(question).releases}
        for columns, release in got.items():
            for name in columns:
                fewer = got.get(tuple(c for c in columns if c != name))
                if fewer is not None and fewer.feasible:
                    assert release.feasible
                    assert release.loss_all <= fewer.loss_all + 1e-9  # type: ignore[operator]


def test_each_node_is_judged_once_at_most() -> None:
    for seed in rounds(30):
        question = some_question(700 + seed)
        got = found(question)
        assert got.nodes == math.prod(question.height(name) + 1 for name in question.quasi)
        assert 0 < got.checked <= got.nodes


def test_the_table_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    question, calls = some_question(1), []
    table = question.table
    real = type(table).scan

    def counted(self: Table, by: Sequence[str]) -> Counts:
        calls.append(by)
        return real(self, by)

    monkeypatch.setattr(type(table), "scan", counted)
    assert len(qid_choice(table, question.roles, require=[sf.require("k_anonymity >= 2")]).releases) == 3
    assert len(calls) == 1


def test_without_requirements_it_is_fig_4_of_the_table_itself() -> None:
    """Nothing is generalized then, and the leakages are those that the study of a given release has."""
    for seed in range(5):
        question = some_table(random.Random(seed))
        question.sensitive = ("s",)
        got = found(question, metrics=("distribution_leakage", "entropy_leakage", "mutual_information"))
        for ours, theirs in zip(got.releases, qid_choices(question.table, question.roles), strict=True):
            assert (ours.columns, ours.classes) == (theirs.columns, theirs.classes)
            assert ours.scores["distribution_leakage"].value == pytest.approx(theirs.distribution_leakage)
            assert ours.scores["entropy_leakage"].value == pytest.approx(theirs.entropy_leakage)
            assert ours.scores["mutual_information"].value == pytest.approx(theirs.mutual_information, abs=1e-12)


def test_the_frontier_has_what_no_other_set_beats() -> None:
    many = 0
    for seed in rounds(20):
        question = some_question(800 + seed)
        question.require, question.minimise = [("k_anonymity", 2.0)], "loss"
        got = found(question)
        made = [release for release in got.releases if release.feasible]
        for name, sign in (("distribution_leakage", 1), ("k_anonymity", -1)):

            def at(release: QidRelease, name: str = name, sign: int = sign) -> tuple[float, float]:
                return round(sign * release.scores[name].value, 9), round(release.loss_all or 0.0, 9)

            unbeaten = {at(r) for r in made if not any(_beats(at(other), at(r)) for other in made)}
            frontier = got.frontier(name)
            assert {at(release) for release in frontier} == unbeaten
            assert len(frontier) == len(unbeaten)
            many += len(frontier) > 1
    assert enough(many > 5)


def _beats(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a != b and a[0] <= b[0] and a[1] <= b[1]


# --- fast and slow say the same --------------------------------------------------------------------------------------


def test_every_metric_from_classes_is_the_metric_of_the_release() -> None:
    """Whatever comes new is tried here too; nodes with rows suppressed and without."""
    wanted = [variant for base in registry().values() for variant in base.variants()]
    wanted = [m for m in wanted if m.card.scope == "class" or m.card.name in ("marketer_risk", "mutual_information")]
    asked = 0
    for seed in rounds(12):
        question = some_question(seed)
        require = [sf.require("k_anonymity >= 2")]
        problem = pose(question.table, question.roles, require=require, minimise="loss", suppression=0.3, also=wanted)
        for levels in itertools.islice(question.lattice, 0, None, 5):
            verdict = problem.judge(problem.judge.rollup(levels))
            if not verdict.feasible:
                continue
            evidence = problem.judge.evidence(verdict.grouped, verdict.kept)
            for m in wanted:
                try:
                    slow = m.score(evidence)
                except sf.SfumatoError as error:
                    with pytest.raises(type(error)):
                        score(problem.judge, m, verdict)
                    continue
                fast = score(problem.judge, m, verdict)
                assert fast.value == pytest.approx(slow.value, abs=1e-9), (seed, levels, str(m))
                assert (fast.unit, fast.exactness) == (slow.unit, slow.exactness)
                asked += 1
    assert enough(asked > 500)


# --- candidates ------------------------------------------------------------------------------------------------------


def wide(count: int, **sensitive: list[str]) -> tuple[Table, Roles]:
    """Twelve rows and many columns of three values."""
    columns = {f"c{i}": [str((i * 7 + j) % 3) for j in range(12)] for i in range(count)}
    return sf.read(pa.table({**columns, **sensitive})), Roles(quasi=tuple(columns), sensitive=tuple(sensitive))


def test_candidates_may_be_other_columns() -> None:
    """b is a quasi-identifier of the roles and no candidate: it is not released, and nothing is lost by that."""
    rows = {"a": list("xxyy"), "b": list("uvuv"), "c": list("pppp"), "s": list("1221")}
    held = sf.read(pa.table(rows))
    roles = Roles(quasi=("a", "b"), sensitive=("s",), insensitive=("c",))
    got = qid_choice(held, roles, candidates=["c", "a"], require=[sf.require("k_anonymity >= 2")])
    assert [release.columns for release in got.releases] == [("c",), ("a",), ("c", "a")]
    assert got.of("a", "c").levels == {"c": 0, "a": 0}  # with b, k would be 1
    assert (got.of("a", "c").loss, got.of("a", "c").loss_all) == (0, 0)


def test_no_sensitive_column_leaves_the_risks() -> None:
    held, roles = wide(3)
    got = qid_choice(held, roles, require=[])
    assert list(got.releases[0].scores) == ["k_anonymity", "prosecutor_risk", "marketer_risk"]
    with pytest.raises(InputError, match="sensitive"):
        qid_choice(held, roles, require=[], metrics=["entropy_leakage"])


def test_a_limit_on_the_size_of_a_set() -> None:
    held, roles = wide(14)
    got = qid_choice(held, roles, require=[sf.require("k_anonymity >= 2")], max_columns=2)
    assert len(got.releases) == 14 + math.comb(14, 2)
    assert max(len(release.columns) for release in got.releases) == 2
    alone = qid_choice(held, roles, candidates=["c3", "c9"], require=[sf.require("k_anonymity >= 2")])
    assert alone.of("c3", "c9").levels == got.of("c3", "c9").levels
    assert alone.of("c3", "c9").loss == pytest.approx(got.of("c3", "c9").loss)


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({}, InputError, ("13 candidates", "8,191", "at most")),
        ({"max_columns": 0}, InputError, ("at least one column",)),
        ({"candidates": ["c1", "c1"]}, InputError, ("c1", "twice")),
        ({"candidates": ["c1", "c99"]}, InputError, ("c99", "did you mean")),
        ({"candidates": ["ill"]}, InputError, ("ill", "sensitive")),
        ({"candidates": []}, InputError, ("no quasi-identifier",)),
        ({"candidates": ["c1"], "minimise": "los"}, RequirementError, ("los",)),
        ({"candidates": ["c1"], "suppression": 2}, InputError, ("suppression",)),
        ({"candidates": ["c1"], "metrics": ["k_anonimity"]}, RequirementError, ("k_anonymity",)),
        ({"max_columns": 13}, InputError, ("generalizations", "fewer")),
    ],
)
def test_refusals(refusal: Refusal, monkeypatch: pytest.MonkeyPatch, given: Any, kind: type, words: tuple[str]) -> None:
    monkeypatch.setattr(module, "_NODES", 5_000)
    held, roles = wide(13, ill=["1", "2"] * 6)
    refusal(kind, lambda: qid_choice(held, roles, **{"require": [], **given}), *words)


def test_what_was_not_compared_is_refused(refusal: Refusal) -> None:
    got = found(SIX)
    refusal(InputError, lambda: got.of("a", "c"), "a, c")
    refusal(InputError, lambda: got.frontier("t_closeness[equal]"), "t_closeness[equal]", "k_anonymity")


def test_progress_runs_to_the_end() -> None:
    told: list[float] = []
    found(some_question(2), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


# --- Adult -----------------------------------------------------------------------------------------------------------


def test_adult(adult: Table, adult_roles: Roles) -> None:
    """255 sets; those of one and of eight columns, and some in between, against a search of their own."""
    require = [sf.require("k_anonymity >= 5")]
    got = qid_choice(adult, adult_roles, require=require, suppression=0.05)
    assert len(got.releases) == 255
    assert got.checked < 1_500
    assert got.of(*ADULT_QUASI).loss == pytest.approx(0.17833899563808056)  # as ARX has it
    assert got.of(*ADULT_QUASI).suppressed == 1346
    for release in got.releases[:8] + got.releases[20:255:20]:
        roles = dataclasses.replace(adult_roles, quasi=release.columns)
        best = optimal_generalization(adult, roles, require=require, suppression=0.05)
        assert release.levels == best.levels
        assert release.loss == pytest.approx(best.loss)
        assert release.suppressed == best.suppressed
        assert release.scores["k_anonymity"].value >= 5
