"""The policy frontier against every node of small lattices generalized row by row, and fixed policies beside it."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_oracle import HIGHER, LOSSES, Node, Small, some_question, some_table

import sfumato as sf
from house import Refusal
from selection import enough, rounds
from sfumato.core.errors import Infeasible, InputError, RequirementError
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.search import frontier_walk as module
from sfumato.search.frontier import Frontier, policy_frontier
from sfumato.search.frontier_walk import Front

RISKS = (
    "marketer_risk",
    "prosecutor_risk",
    "k_anonymity",
    "distinct_l_diversity",
    "entropy_l_diversity(s)",
    "t_closeness[equal]",
    "distribution_leakage",
    "entropy_leakage(s)",
    "mutual_information(s)",
    "recursive_diversity",
    "identity_information",
    "negative_disclosure",
)
Pair = tuple[float, float]


@dataclass
class Oracle:
    """Both values of every feasible node, less being better, to nine digits; and what is not beaten."""

    question: Small
    risk: str

    def __post_init__(self) -> None:
        self.all: dict[Node, Pair] = {}
        self.sign = -1.0 if self.risk.startswith(HIGHER) else 1.0
        for judged in self.question.every():
            if judged.feasible:
                left = {key: rows for key, rows in judged.classes.items() if not set(rows) & judged.gone}
                self.all[judged.node] = self.values(judged.node, left)

    def values(self, node: Node, left: Any) -> Pair:
        return near(self.sign * self.question.whole(self.risk, node, left), self.question.cost(node, left))

    @property
    def frontier(self) -> dict[Node, Pair]:
        points = set(self.all.values())
        good = {p for p in points if not any(beats(other, p) for other in points)}
        return {node: pair for node, pair in self.all.items() if pair in good}


def near(*pair: float) -> Pair:
    risk, loss = (float(f"{value:.9g}") if math.isfinite(value) else value for value in pair)
    return (risk if abs(risk) > 1e-12 else 0.0, loss if abs(loss) > 1e-12 else 0.0)


def beats(a: Pair, b: Pair) -> bool:
    return a != b and a[0] <= b[0] and a[1] <= b[1]


def found(question: Small, risk: str, **more: Any) -> Frontier:
    return policy_frontier(
        question.table,
        question.roles,
        **{
            "risk": risk,
            "utility": question.minimise,
            "require": question.requirements,
            "suppression": question.suppression,
            **more,
        },
    )


def nodes(got: Frontier) -> dict[Node, Pair]:
    """Every node of a frontier, those that are the same included."""
    return {
        tuple(levels.values()): near(got.risk.sign * node.risk, got.utility.sign * node.utility)
        for node in got.nodes
        for levels in (node.levels, *node.same)
    }


def asked(seed: int) -> tuple[Small, str]:
    """A random question: half of the time without requirements."""
    rng = random.Random(seed)
    question = some_question(seed)
    question.minimise = rng.choice(LOSSES)
    if rng.random() < 0.5:
        question.require = []
    return question, rng.choice(RISKS)


# --- extremes --------------------------------------------------------------------------------------------------------

FOUR = Small(
    [{"a": a, "b": b, "s": s} for a, b, s in zip("xxyy", "uvuv", "pqpq", strict=True)],
    ("a", "b"),
)


def test_by_hand() -> None:
    """Four different rows; a column less halves what is found and loses half; either column will do."""
    got = found(FOUR, "marketer_risk")
    assert [(n.levels, n.risk, n.utility, n.classes) for n in got.nodes] == [
        ({"a": 0, "b": 0}, 1.0, 0.0, 4),
        ({"a": 0, "b": 1}, 0.5, 0.5, 2),
        ({"a": 1, "b": 1}, 0.25, 1.0, 1),
    ]
    assert got.nodes[1].same == ({"a": 1, "b": 0},)  # a tie: the first in order stands for both
    assert (got.status, got.stopped, got.lattice, got.checked, len(got)) == ("exact", None, 4, 4, 3)
    assert got.knee == 1


def test_one_node_beats_all() -> None:
    """Where every row is alike, nothing is gained by generalizing: the bottom alone is on the frontier."""
    same = dataclasses.replace(FOUR, rows=[{"a": "x", "b": "u", "s": "p"}] * 3)
    got = found(same, "prosecutor_risk", utility="height")
    assert [node.levels for node in got.nodes] == [{"a": 0, "b": 0}]
    assert got.knee is None


def test_better_higher_on_both_axes() -> None:
    got = found(FOUR, "k_anonymity", utility="entropy_utility")
    assert (got.risk.better, got.utility.better) == ("higher", "higher")
    utility = [node.utility for node in got.nodes]
    risk = [node.risk for node in got.nodes]
    assert utility == sorted(utility, reverse=True)
    assert risk == sorted(risk)
    assert min(utility) >= 0  # as its metric has it, not turned round
    best = sf.entropy_utility(FOUR.released((0, 0), FOUR.classes((0, 0))), FOUR.roles).value
    assert got.nodes[0].utility == pytest.approx(best)


# --- the oracle ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(5))
def test_the_frontier_is_what_no_node_beats(part: int) -> None:
    """Requirements, suppression, risks and losses at random; ties included, and policies anywhere in the lattice."""
    seen = dict.fromkeys(("exact", "ties", "skipped", "suppressed", "on", "beaten", "missed", "several"), 0)
    for seed in rounds(40 * part, 40 * part + 40):
        question, risk = asked(seed)
        oracle, where = Oracle(question, risk), (seed, risk, question.minimise, question.require)
        if not oracle.all:
            with pytest.raises(Infeasible):
                found(question, risk)
            continue
        picked = random.Random(seed).sample([*question.lattice], 2)
        policies = {f"p{i}": dict(zip(question.quasi, node, strict=True)) for i, node in enumerate(picked)}
        got = found(question, risk, policies=policies)
        assert got.status == "exact" or (got.status == "rule" and not question.certain), where
        wanted = oracle.frontier
        assert set(nodes(got)) == set(wanted), where
        for node, pair in nodes(got).items():
            assert pair == pytest.approx(wanted[node], abs=1e-9), where
        # the first of equal ones stands for them
        for each in got.nodes:
            same = [tuple(levels.values()) for levels in (each.levels, *each.same)]
            assert same == sorted(same, key=lambda node: (sum(node), node))
            judged = question.judge(same[0])
            assert (each.suppressed, each.classes) == (len(judged.gone), len({*judged.classes}) - _gone(judged))
        for node, policy in zip(picked, got.policies, strict=True):
            _check_policy(question, oracle, node, policy, got, where)
            seen["on"] += policy.on_frontier
            seen["beaten"] += bool(policy.beaten_by)
            seen["missed"] += bool(policy.missed)
        seen["exact"] += 1
        seen["ties"] += any(each.same for each in got.nodes)
        seen["skipped"] += got.checked < got.lattice
        seen["suppressed"] += any(each.suppressed for each in got.nodes)
        seen["several"] += len(got.nodes) > 2
    assert enough(min(seen.values()) > 0), seen


def test_a_risk_that_is_not_monotone_bounds_nothing() -> None:
    """A specialization may leak less than what it specializes."""
    for seed in rounds(80):
        question = some_table(random.Random(seed))
        for risk in ("entropy_leakage(s)", "one_symbol_i4(s)"):
            assert set(nodes(found(question, risk))) == set(Oracle(question, risk).frontier), (seed, risk)


def _gone(judged: Any) -> int:
    return sum(bool(set(rows) & judged.gone) for rows in judged.classes.values())


def _check_policy(question: Small, oracle: Oracle, node: Node, policy: Any, got: Frontier, where: object) -> None:
    judged = question.judge(node)
    mine = oracle.all.get(node) or oracle.values(node, judged.classes)  # one that misses is measured as a whole
    ours = near(got.risk.sign * policy.node.risk, got.utility.sign * policy.node.utility)
    assert ours == pytest.approx(mine, abs=1e-9), where
    assert tuple(policy.node.levels.values()) == node
    assert bool(policy.missed) is not judged.feasible, where
    assert policy.on_frontier is (node in oracle.frontier), where
    better = {n for n, pair in oracle.frontier.items() if beats(pair, mine)}
    said = {tuple(levels.values()) for b in policy.beaten_by for levels in (b.node.levels, *b.node.same)}
    assert said == better, where
    for b in policy.beaten_by:
        assert b.risk >= 0
        assert b.utility >= 0
        if math.isfinite(policy.node.risk) and math.isfinite(b.node.risk):
            assert b.risk == pytest.approx(got.risk.sign * (policy.node.risk - b.node.risk), abs=1e-8)
        assert b.utility == pytest.approx(got.utility.sign * (policy.node.utility - b.node.utility), abs=1e-8)


@pytest.mark.parametrize("wide", [False, True], ids=["in memory", "too large for that"])
def test_what_is_stopped_is_the_frontier_of_what_was_seen(wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if wide:
        monkeypatch.setattr(module, "LARGEST", 0)
        monkeypatch.setattr(module, "CHECKS", 0)
    whole = cut = 0
    for seed in rounds(400, 440):
        question, risk = asked(seed)
        oracle = Oracle(question, risk)
        for checks in (1, 3, 7, 15):
            try:
                got = found(question, risk, max_checks=checks)
            except Infeasible:  # no node is feasible, or none of the few that were looked at
                continue
            assert got.checked <= checks
            mine = nodes(got)
            for node, pair in mine.items():
                assert pair == pytest.approx(oracle.all[node], abs=1e-9)
            assert not any(beats(a, b) for a, b in itertools.permutations(mine.values(), 2))
            seen = [near(got.risk.sign * r, got.utility.sign * u) for r, u in zip(*got.seen, strict=True)]
            assert {p for p in seen if not any(beats(o, p) for o in seen)} == set(mine.values())
            if got.status != "anytime":
                assert set(mine) == set(oracle.frontier)
                whole += 1
            else:
                assert got.stopped == "checks"
                cut += 1
    assert enough(cut > 20)
    assert wide or whole > 5


def test_a_walk_without_bounds_finds_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the lattice cannot be held, given enough steps."""
    monkeypatch.setattr(module, "LARGEST", 0)
    for seed in rounds(450, 460):
        question, risk = asked(seed)
        question.require = []
        lattice = math.prod(question.height(name) + 1 for name in question.quasi)
        got = found(question, risk, max_checks=lattice + 1)
        assert (got.status, got.checked) == ("exact", lattice)  # having been everywhere
        assert set(nodes(got)) == set(Oracle(question, risk).frontier)
        assert found(question, risk, max_checks=lattice - 1).status == "anytime"


def test_the_same_walk_every_time() -> None:
    question, risk = asked(3)
    one, two = (found(question, risk, max_checks=9) for _ in range(2))
    assert nodes(one) == nodes(two)
    assert one.checked == two.checked


def test_a_node_on_the_frontier_is_optimal_under_its_own_risk() -> None:
    """Of all nodes with no more risk than it, none loses less: the search under that requirement says so too."""
    from sfumato.search.full_domain import optimal_generalization

    for seed in rounds(10):
        question = some_table(random.Random(seed))
        got = found(question, "prosecutor_risk")
        for node in got.nodes:
            best = optimal_generalization(
                question.table, question.roles, require=[sf.prosecutor_risk.at_most(node.risk)]
            )
            assert best.loss == pytest.approx(node.utility, abs=1e-9)


# --- the kernel ------------------------------------------------------------------------------------------------------

numbers = st.integers(0, 5).map(float) | st.floats(-3, 3, allow_nan=False) | st.just(math.inf)


@given(points=st.lists(st.tuples(numbers, numbers), max_size=14))
def test_a_front_keeps_what_is_not_beaten(points: list[Pair]) -> None:
    front = Front()
    for i, (risk, loss) in enumerate(points):
        before = [*points[:i]]
        assert front.beats(risk, loss) is any(beats(p, (risk, loss)) for p in before)
        assert front.beats_all(np.array([risk]), np.array([loss])).tolist() == [front.beats(risk, loss)]
        assert front.add(risk, loss, (i,)) is not any(beats(p, (risk, loss)) for p in before)
        assert (risk, loss) in front or any(beats(p, (risk, loss)) for p in before)
    kept = {(r, l): {i for (i,) in same} for r, l, same in zip(front.risk, front.loss, front.nodes, strict=True)}
    good = {p for p in points if not any(beats(other, p) for other in points)}
    assert kept == {p: {i for i, q in enumerate(points) if q == p} for p in good}
    assert front.loss == sorted(front.loss)
    assert front.risk == sorted(front.risk, reverse=True)


def test_a_front_takes_no_value_that_is_none() -> None:
    assert not Front().add(math.nan, 0.0, (0,))


# --- policies and refusals -------------------------------------------------------------------------------------------


def test_a_policy_leaves_alone_what_it_does_not_name() -> None:
    question = some_table(random.Random(5))
    first = question.quasi[0]
    got = found(question, "marketer_risk", policies={"one": {first: 1}, "nothing": {}})
    assert got.policies[0].node.levels == {name: int(name == first) for name in question.quasi}
    assert set(got.policies[1].node.levels.values()) == {0}


def test_a_policy_that_misses_is_told_apart() -> None:
    """Nothing on the frontier loses as little, but the policy does not meet what is required: it is not on it."""
    got = found(dataclasses.replace(FOUR, require=[("k_anonymity", 2.0)]), "marketer_risk", policies={"raw": {}})
    (raw,) = got.policies
    assert [str(requirement) for requirement in raw.missed] == ["k_anonymity >= 2"]
    assert (raw.on_frontier, raw.beaten_by, raw.node.risk, raw.node.suppressed) == (False, (), 1.0, 0)


def test_policies_are_measured_whatever_the_limits() -> None:
    question = some_table(random.Random(6))
    picked = random.Random(1).sample([*question.lattice], 6)
    policies = {str(i): dict(zip(question.quasi, node, strict=True)) for i, node in enumerate(picked)}
    got = found(question, "marketer_risk", policies=policies, max_checks=1)
    assert [policy.name for policy in got.policies] == [*policies]
    assert got.status == "anytime"


@pytest.mark.parametrize(
    ("more", "kind", "words"),
    [
        ({"risk": "loss"}, RequirementError, ("loss",)),
        ({"risk": "iloss"}, InputError, ("iloss", "privacy")),
        ({"risk": "t_closeness"}, RequirementError, ("t_closeness[",)),
        ({"utility": "height + "}, RequirementError, ("height",)),
        ({"utility": "los"}, RequirementError, ("los",)),
        ({"time_limit": 0}, InputError, ("above 0",)),
        ({"max_checks": 0}, InputError, ("one node",)),
        ({"suppression": -1}, InputError, ("suppression",)),
        ({"policies": {"mine": {"zip": 1}}}, InputError, ("'mine'", "zip")),
        ({"policies": {"mine": {"a": 7}}}, InputError, ("'mine'", "levels 0 to 1")),
        ({"require": [sf.k_anonymity.at_least(9)]}, Infeasible, ("k_anonymity >= 9",)),
    ],
)
def test_refusals(refusal: Refusal, more: Any, kind: type, words: tuple[str, ...]) -> None:
    arguments = {"risk": "marketer_risk", **more}
    refusal(kind, lambda: policy_frontier(FOUR.table, FOUR.roles, **arguments), *words)


def test_an_interrupted_walk_gives_what_it_has() -> None:
    question = some_table(random.Random(8))

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    got = found(question, "marketer_risk", progress=stop, policies={"raw": {}})
    assert (got.status, got.stopped) == ("anytime", "interrupt")
    assert len(got) >= 1
    with pytest.raises(KeyboardInterrupt):
        found(question, "marketer_risk", progress=stop, policies={"raw": {}}, catch=False)
    with pytest.raises(KeyboardInterrupt):
        found(question, "marketer_risk", progress=stop)  # nothing was found yet


# --- Adult -----------------------------------------------------------------------------------------------------------


def test_adult(adult: Table, adult_roles: Roles, monkeypatch: pytest.MonkeyPatch) -> None:
    """4,320 nodes: settled by a few hundred, and the same as by measuring all of them."""
    fixed = {"Safe Harbor": {"age": 2, "native-country": 1}, "raw": {}}
    got = policy_frontier(adult, adult_roles, policies=fixed)
    assert (got.status, got.lattice) == ("exact", 4320)
    assert got.checked < 1_000
    assert len(got) == 45
    assert sum(1 + len(node.same) for node in got.nodes) == 46
    harbor, raw = got.policies
    assert raw.on_frontier
    assert raw.node.classes == 12458
    assert not harbor.on_frontier
    assert len(harbor.beaten_by) == 2
    monkeypatch.setattr(Front, "beats_all", lambda self, risk, loss: np.zeros(len(risk), dtype=bool))
    monkeypatch.setattr(module.Walk, "tells", property(lambda self: False, lambda self, value: None), raising=False)
    every = policy_frontier(adult, adult_roles)
    assert every.checked == 4320
    assert nodes(every) == nodes(got)
