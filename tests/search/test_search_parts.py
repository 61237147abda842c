"""The parts of the search over whole small lattices: what is counted, what must be suppressed below, what a loss is at least."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from search_oracle import (
    LOSSES,
    OTHERS,
    Judged,
    Node,
    Small,
    Value,
    clashing,
    some_question,
    some_requirements,
    some_table,
)

from selection import enough, rounds
from sfumato.core.errors import InputError, RequirementError
from sfumato.search import rollup as rolling
from sfumato.search.judge import NodeVerdict
from sfumato.search.lattice import Lattice
from sfumato.search.losses import Wanted
from sfumato.search.optimal import LossBounds
from sfumato.search.problem import Problem, pose
from sfumato.search.rollup import Grouped, Rollup

Split = dict[tuple[Value, ...], Counter[tuple[Value, ...]]]


def posed(question: Small) -> Problem:
    return pose(question.table, question.roles, **question.arguments())


def small(seed: int, *, nodes: int = 40) -> Small:
    """A question over a lattice so small that all pairs of its nodes can be looked at."""
    for turn in itertools.count():
        question = some_question(1000 * seed + turn)
        if math.prod(question.height(name) + 1 for name in question.quasi) <= nodes:
            return question
    raise AssertionError


def below(node: Node) -> Iterator[Node]:
    return itertools.product(*(range(level + 1) for level in node))


# --- rolling up ------------------------------------------------------------------------------------------------------


def counted(question: Small, node: Node, split: tuple[str, ...]) -> Split:
    """Every released tuple with the rows of each combination of sensitive values: a group-by, row by row."""
    found: Split = {}
    for key, row in zip(question.generalized(node), question.rows, strict=True):
        found.setdefault(key, Counter())[tuple(row[name] for name in split)] += 1
    return found


def told(rollup: Rollup, grouped: Grouped) -> Split:
    """The same from what was rolled up, spelled."""
    keys, found = spelled(rollup, grouped), {}
    for c, key in enumerate(keys):
        assert key not in found, "two classes of one tuple"
        found[key] = Counter({(): int(grouped.size[c])})
    if rollup.joint is not None:
        texts = [[column.texts[i] for i in code] for column, code in zip(rollup.joint.columns, rollup.joint.codes, strict=True)]  # fmt: skip
        values = [*zip(*texts, strict=True)]
        found = {key: Counter() for key in keys}
        for c, value, n in zip(grouped.member, grouped.value, grouped.n, strict=True):
            assert values[value] not in found[keys[c]], "two entries of one value"
            found[keys[c]][values[value]] = int(n)
        assert [found[key].total() for key in keys] == grouped.size.tolist()
    return found


def spelled(rollup: Rollup, grouped: Grouped) -> list[tuple[Value, ...]]:
    """The released tuple of each class."""
    parts = []
    for ladder, level, code in zip(rollup.lattice.ladders, grouped.levels, rollup.tuples.codes, strict=True):
        parts.append([ladder.labels[level][ladder.codes[level][code[i]]] for i in grouped.first])
    return [*zip(*parts, strict=True)]


@pytest.mark.parametrize("order", ["up", "down", "mixed"])
@pytest.mark.parametrize("room", [192 * 2**20, 2000, 0])
def test_every_node_is_a_group_by(order: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was rolled up before, and however little is kept to roll up from."""
    monkeypatch.setattr(rolling, "_CACHE", room)
    for seed in rounds(12):
        question = some_table(random.Random(f"rollup {seed}"))
        split = (("s",), (), tuple(question.sensitive))[seed % 3]
        counts = question.table.count((*question.quasi, *split))
        rollup = Rollup(counts, Lattice.of(counts, question.roles), split)
        nodes = [*question.lattice]
        if order != "up":
            nodes = nodes[::-1] if order == "down" else random.Random(seed).sample(nodes, len(nodes))
        for node in nodes:
            grouped = rollup(node)
            assert grouped.levels == node
            assert told(rollup, grouped) == counted(question, node, split), (seed, node)
            entries = np.stack([grouped.member, grouped.value])
            assert (np.lexsort(entries[::-1]) == np.arange(len(grouped.n))).all(), "by class, then by value"


def test_many_columns_do_not_overflow_the_keys() -> None:
    """Seventy columns of two values: more tuples than 64 bits can number."""
    rng = random.Random(7)
    names = tuple(f"q{i}" for i in range(70))
    question = Small([{**{name: rng.choice("ab") for name in names}, "s": rng.choice("xy")} for _ in range(60)], names)
    counts = question.table.count((*names, "s"))
    rollup = Rollup(counts, Lattice.of(counts, question.roles), ("s",))
    for _ in range(30):
        node = tuple(int(rng.random() < rng.choice((0.05, 0.5, 0.95))) for _ in names)
        grouped = rollup(node)
        assert told(rollup, grouped) == counted(question, node, ("s",))
        member = rollup.member(grouped)
        assert np.bincount(member, weights=rollup.tuples.n).tolist() == grouped.size.tolist()


def test_many_values_take_the_sparse_way() -> None:
    """So many possible tuples and sensitive values that neither is counted in an array of all of them."""
    rng = random.Random(8)
    rows = [{"q": f"q{i}", "r": f"r{rng.randrange(300)}", "s": f"s{i % 151}"} for i in range(300)]
    lines = {f"q{i}": (f"q{i}", f"h{i // 2}", "*") for i in range(300)}
    question = Small(rows, ("q", "r"), lines={"q": lines})
    counts = question.table.count(("q", "r", "s"))
    rollup = Rollup(counts, Lattice.of(counts, question.roles), ("s",))
    assert 150 * 300 > 8 * 300 + 4096
    for node in question.lattice:
        assert told(rollup, rollup(node)) == counted(question, node, ("s",))


def test_the_class_of_every_tuple() -> None:
    for seed in rounds(20):
        question = some_table(random.Random(f"member {seed}"))
        counts = question.table.count(question.quasi)
        rollup = Rollup(counts, Lattice.of(counts, question.roles))
        for node in question.lattice:
            grouped = rollup(node)
            keys = spelled(rollup, grouped)
            bottom = spelled(rollup, rollup.base)
            of = dict(zip(question.generalized((0,) * len(node)), question.generalized(node), strict=True))
            assert [keys[c] for c in rollup.member(grouped)] == [of[key] for key in bottom]


# --- judging ---------------------------------------------------------------------------------------------------------


def test_a_floor_is_suppressed_at_every_specialization() -> None:
    """Of each class, at least so many rows go wherever it is cut; and where `never`, nothing below is feasible."""
    seen: Counter[str] = Counter()
    for seed in rounds(120):
        question = small(seed)
        if seed % 2:  # t-closeness and its like, where the floor is a share
            rng = random.Random(seed)
            while not any(r.metric.convex for r in question.requirements):
                question.require = some_requirements(rng, question)
        problem, oracle = posed(question), {judged.node: judged for judged in question.every()}
        for node in question.lattice:
            verdict = problem.judge.whole(problem.judge(problem.judge.rollup(node)))
            keys = spelled(problem.judge.rollup, verdict.grouped)
            check_verdict(question, verdict, oracle[node])
            for under in below(node):
                gone = oracle[under].gone
                if verdict.never:
                    assert not oracle[under].feasible, (seed, node, under, question)
                for key, floor in zip(keys, verdict.floor, strict=True):
                    lost = sum(i in gone for i in oracle[node].classes[key])
                    assert lost >= floor - 1e-9, (seed, node, under, key, question)
            seen["never"] += verdict.never
            seen["floor"] += verdict.floor.sum() > 0
            seen["share"] += bool((verdict.floor % 1 > 0).any())
    assert min(seen[name] for name in ("never", "floor", "share")) > 20, seen


def check_verdict(question: Small, verdict: NodeVerdict, judged: Judged) -> None:
    assert verdict.feasible == judged.feasible, (judged.node, question)
    if verdict.feasible:
        assert verdict.suppressed == len(judged.gone)
        assert int(verdict.grouped.size[~verdict.kept].sum()) == verdict.suppressed
        assert not verdict.missed
    else:
        assert verdict.missed, "says what is in the way"


def test_upward_means_that_what_is_above_a_feasible_node_is_feasible() -> None:
    """What the judge claims of the requirements as a whole, and what `inherited` claims with any suppression limit."""
    seen: Counter[bool] = Counter()
    for seed in rounds(200, 330):
        question = small(seed)
        if seed % 3 == 0:
            question.require = [("k_anonymity", 2.0 + seed % 4), ("distinct_l_diversity", 2.0)][: 1 + seed % 2]
            question.suppression = 0.3
        upward = posed(question).judge.upward
        seen[upward] += 1
        if upward:
            oracle = {judged.node: judged for judged in question.every()}
            for node, judged in oracle.items():
                for under in below(node):
                    assert judged.feasible or not oracle[under].feasible, (seed, under, node, question)
                    if question.limit:
                        assert judged.gone <= oracle[under].gone or not oracle[under].feasible
    assert enough(min(seen.values()) > 20), seen


def test_the_share_of_a_class_that_fails_however_it_is_cut() -> None:
    """Two values at two thirds and one third against half and half: at t <= 0.1, at least a sixth of it by (f-b)/(u-b)."""
    rows = [{"q": "a", "s": "x"}] * 4 + [{"q": "a", "s": "y"}] * 2 + [{"q": "b", "s": "y"}] * 2
    question = Small([*map(dict, rows)], ("q",), require=[("t_closeness[equal]", 0.1)], suppression=1.0)
    judge = posed(question).judge
    verdict = judge(judge.rollup((0,)))
    keys = spelled(judge.rollup, verdict.grouped)
    floor = dict(zip(keys, verdict.floor.tolist(), strict=True))
    assert floor[("a",)] == pytest.approx((1 / 6 - 0.1) / (0.5 - 0.1) * 6, abs=1e-6)
    assert floor[("b",)] == pytest.approx(2.0, abs=1e-6)  # already of one value: all of it
    assert not verdict.feasible  # nothing is left


# --- losses ----------------------------------------------------------------------------------------------------------


def check_bounds(question: Small) -> tuple[bool, bool]:
    """No feasible node costs less than its base, than the penalty below or the rise above any node says; if there were any."""
    problem, oracle = posed(question), {judged.node: judged for judged in question.every()}
    base, penalized, risen = LossBounds(problem), False, False
    for node in question.lattice:
        verdict = problem.judge(problem.judge.rollup(node))
        penalty = [term.penalty(verdict) for _, term in problem.loss.terms]
        rise = [term.rise(verdict) for _, term in problem.loss.terms]
        penalized, risen = penalized or max(penalty) > 0, risen or max(rise) > -math.inf
        for other, judged in oracle.items():
            if not judged.feasible or judged.loss is None:
                continue
            room = 1e-9 * max(1.0, abs(judged.loss))
            if other == node:
                assert problem.loss.value(verdict) == pytest.approx(judged.loss, rel=1e-9, abs=1e-9), (node, question)
                assert base.total[node] <= judged.loss + room, (node, question)
            terms = [(factor, each[other]) for (factor, _), each in zip(problem.loss.terms, base.base, strict=True)]
            if all(a <= b for a, b in zip(other, node, strict=True)):
                low = sum(factor * (b + more) for (factor, b), more in zip(terms, penalty, strict=True))
                assert low <= judged.loss + room, (node, other, question)
            if all(a >= b for a, b in zip(other, node, strict=True)):
                low = sum(factor * max(b, least) for (factor, b), least in zip(terms, rise, strict=True))
                assert low <= judged.loss + room, (node, other, question)
    return penalized, risen


@pytest.mark.parametrize("minimise", [*LOSSES, *OTHERS])
def test_bounds_on_a_loss_are_bounds(minimise: str) -> None:
    sharp: Counter[str] = Counter()
    for seed in rounds(16):
        question = small(seed, nodes=30)
        if seed % 4 == 3:  # labels that are values too
            rng = random.Random(seed)
            question.lines = {n: clashing(rng, [*each], question.height(n)) for n, each in question.lines.items()}
        question.require = [("k_anonymity", float(2 + seed % 4)), *question.require][: 1 + seed % 2]
        question.suppression = (0.0, 0.2, 0.5, 1.0)[seed % 4]
        question.minimise = minimise
        penalized, risen = check_bounds(question)
        sharp.update(penalty=penalized, rise=risen)
    if minimise in ("loss", "loss_geometric", "iloss", "granularity", "discernibility"):
        assert enough(sharp["penalty"] > 5)
    if minimise in ("discernibility", "average_class_size", "-mutual_information(s)"):
        assert enough(sharp["rise"] > 5)


@pytest.mark.parametrize("minimise", ["loss", "loss_geometric", "iloss", "granularity"])
@pytest.mark.parametrize("beside", ["", "d"])
def test_a_row_may_have_less_to_lose_below(minimise: str, beside: str) -> None:
    """The value x is also a label of many: it leaves everything open at level 0 and hardly anything above.

    So a row of x that must go costs nothing more below, though the class that it is in here has much to lose; also where
    the class is known by another of its values, d.
    """
    lines = {v: (v, "y" if v in "dx" else "x", "*") for v in "abcdx"}
    rows = [{"q": q, "r": "1", "s": "s0"} for q in f"x{beside}"] + [{"q": "x", "r": "2", "s": "s0"}] * 4
    question = Small(rows, ("q", "r"), lines={"q": lines}, require=[("k_anonymity", 3.0)], suppression=1.0)
    question.minimise = minimise
    assert question.leaves("q", "x") > question.leaves("q", "y")
    assert check_bounds(question) == (True, False)


def test_what_is_left_can_tell_more_than_the_whole() -> None:
    """A class that tells nothing is suppressed, and the bits that a release has rise above those of the whole table."""
    rows = [{"q": q, "s": s} for q, s in ("ax", "ax", "ax", "by", "by", "by", "cx", "cy")]
    question = Small(rows, ("q",), require=[("k_anonymity", 3.0)], suppression=0.25, minimise="-mutual_information(s)")
    judged = question.judge((0,))
    assert (len(judged.gone), judged.loss) == (2, pytest.approx(-1.0))
    assert check_bounds(question) == (False, True)


def test_what_is_left_can_be_smaller_classes() -> None:
    """A large class of one value is suppressed, and what is left is below the average of the whole."""
    rows = [{"q": q, "s": s} for q, s in ("ax", "ax", "ax", "ax", "ax", "ax", "bx", "by", "cx", "cy")]
    question = Small(rows, ("q",), require=[("distinct_l_diversity", 2.0)], suppression=0.6)
    question.minimise = "average_class_size"
    assert question.judge((0,)).loss == 2.0
    assert check_bounds(question) == (False, True)


def test_what_is_learned_stays_a_bound() -> None:
    """The array of bounds after any nodes were judged, in any order: never above a feasible node that was not."""
    for seed in rounds(60):
        question, rng = small(seed), random.Random(seed)
        problem, oracle = posed(question), {judged.node: judged for judged in question.every()}
        bounds, judged = LossBounds(problem), set()
        for node in rng.sample([*oracle], len(oracle)):
            before = bounds.least
            bounds.learn(problem.judge.whole(problem.judge(problem.judge.rollup(node))))
            judged.add(node)
            assert bounds.least >= before - 1e-12
            for other, each in oracle.items():
                if each.loss is not None and other not in judged:
                    room = 1e-9 * max(1.0, abs(each.loss))
                    assert bounds.total[other] <= each.loss + room, (seed, node, other, question)
                if other in judged:
                    assert bounds.total[other] == math.inf
        assert bounds.next() is None


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("loss", ((1.0, "loss"),)),
        (" 0.5 * loss+2*height ", ((0.5, "loss"), (2.0, "height"))),
        ("-mutual_information(s)", ((-1.0, "mutual_information(s)"),)),
        ("1e-3*discernibility - t_closeness[equal](s)", ((1e-3, "discernibility"), (-1.0, "t_closeness[equal](s)"))),
        ("n_t_closeness[equal, n=5](s)", ((1.0, "n_t_closeness[equal,n=5](s)"),)),
        ('mutual_information("a + b")', ((1.0, "mutual_information(a + b)"),)),
    ],
)
def test_what_to_minimise_is_read_and_spelled(text: str, terms: tuple[tuple[float, str], ...]) -> None:
    wanted = Wanted.read(text)
    assert wanted.terms == terms
    assert Wanted.read(str(wanted)) == wanted


def test_all_weights_zero_are_refused(refusal: Callable[..., str]) -> None:
    question = Small([{"q": q, "s": "x"} for q in "aab"], ("q",), weights={"q": 0.0})
    for question.minimise in ("iloss", "granularity", "non_uniform_entropy"):
        refusal(InputError, lambda: posed(question), question.minimise, "weight")
    question.minimise = "loss"  # ARX's has no weights
    assert posed(question).loss.terms


def test_unknown_metrics_are_named(refusal: Callable[..., str]) -> None:
    refusal(RequirementError, lambda: Wanted.read("discernability"), "discernibility")
