"""The lattice search against brute force over whole small lattices: feasible or not, loss, levels, ties, suppressed rows."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from search_oracle import (
    HIGHER,
    LOSSES,
    OF_CLASS,
    OF_SIZE,
    SEPARABLE,
    Judged,
    Small,
    bare,
    clashing,
    cost,
    holds,
    least,
    some_limit,
    some_question,
    some_requirements,
    some_table,
    terms,
)

import sfumato as sf
from selection import enough, rounds
from sfumato.core.errors import Infeasible, InputError, RequirementError
from sfumato.core.table import Table
from sfumato.search.full_domain import OptimalNode, optimal_generalization

CHANGING = [n for n in OF_CLASS if n.startswith(("t_", "one_", "entropy_leak", "beta", "distribution", "transfer"))]
"""What a class has of these depends on the table it is part of: after a suppression it is another value."""
STEADY = ["k_anonymity", "prosecutor_risk", "distinct_l_diversity", "entropy_l_diversity", "alpha_anonymity"]
"""These look at the class alone."""


def found(question: Small, **more: Any) -> OptimalNode:
    return optimal_generalization(question.table, question.roles, **question.arguments(), **more)


def near(value: float) -> Any:
    return value if math.isinf(value) else pytest.approx(value, rel=1e-9, abs=1e-9)


def answer(question: Small, best: Judged | None, said: object = "") -> OptimalNode | None:
    """The search's answer, which must be the oracle's."""
    if best is None:
        with pytest.raises(Infeasible):
            found(question)
        return None
    got = found(question)
    assert got.status == "optimal" or (got.status == "rule" and not question.certain), (said, question)
    assert got.loss == near(cost(best)), (said, question)
    assert tuple(got.levels.values()) == best.node, (said, question)
    assert got.suppressed == len(best.gone), (said, question)
    assert got.stopped is None
    assert (got.status == "optimal") == (got.why is None)
    if got.status == "optimal":
        assert (got.bound, got.gap) == (got.loss, 0.0)
    else:
        assert got.bound < got.loss
    assert tuple(got.levels) == question.quasi
    assert got.rows == len(question.rows)
    assert got.nodes == math.prod(question.height(name) + 1 for name in question.quasi)
    assert 1 <= got.checked <= got.nodes, (said, question)
    return got


def rows_of(table: Table, names: Sequence[str]) -> Counter[tuple[str | None, ...]]:
    counts = table.count(names)
    texts = [[column.texts[c] for c in codes] for column, codes in zip(counts.columns, counts.codes, strict=True)]
    return Counter(dict(zip(zip(*texts, strict=True), counts.n.tolist(), strict=True)))


def check_release(question: Small, best: Judged, got: OptimalNode) -> None:
    """The release holds the rows that stay, generalized, and measures as the search says."""
    release = got.release(question.table, question.roles)
    names = [name for name in question.rows[0] if name not in question.more.values()]
    key = {i: k for k, members in best.classes.items() for i in members if i not in best.gone}
    expected = Counter(
        tuple(
            key[i][question.quasi.index(name)] if name in question.quasi else question.rows[i][name] for name in names
        )
        for i in key
    )
    assert rows_of(release.table, names) == expected, question
    for requirement in question.requirements:
        verdict = requirement.check(release, question.roles)
        assert verdict.met, (str(verdict), question)
    measured = 0.0
    for factor, name in terms(question.minimise):
        if name == "height":
            measured += factor * sum(got.levels.values())
        else:
            spelled = {"loss": "arx_loss[arithmetic]", "loss_geometric": "arx_loss[geometric]"}.get(name, name)
            measured += factor * sf.metric(spelled)(release, question.roles).value
    assert got.loss == near(measured), question
    assert got.loss_arithmetic == near(sf.metric("arx_loss[arithmetic]")(release, question.roles).value)
    assert got.loss_geometric == near(sf.metric("arx_loss[geometric]")(release, question.roles).value)


# --- against the whole lattice ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(10))
def test_the_best_of_all_nodes(part: int) -> None:
    """Tables, hierarchies, requirements, losses and suppression limits at random; forty questions a part."""
    seen: Counter[str] = Counter(dict.fromkeys(("met", "not met", "suppressed", "tie", "missing", "two columns"), 0))
    for seed in rounds(40 * part, 40 * part + 40):
        question = some_question(seed)
        judged = question.every()
        best = least([each for each in judged if each.feasible])
        got = answer(question, best, seed)
        seen["missing"] += any(row[name] is None for row in question.rows for name in question.quasi)
        seen["two columns"] += len(question.sensitive) > 1
        if got is None or best is None:
            seen["not met"] += 1
            continue
        seen["met"] += 1
        seen["suppressed"] += got.suppressed > 0
        seen["tie"] += sum(math.isclose(cost(each), cost(best)) for each in judged if each.feasible) > 1
        if seed % 2:
            check_release(question, best, got)
    assert enough(min(seen.values()) > 0), seen  # the random questions ask everything


@pytest.mark.parametrize("part", range(3))
def test_what_is_left_is_judged_again(part: int) -> None:
    """Several requirements that look at the whole table, much suppression: all that miss go at once, in whatever order asked.

    With classes taken out one requirement after the other, the second would look at another table than the first.
    """
    again = 0
    for seed in rounds(50 * part, 50 * part + 50):
        rng = random.Random(f"again {seed}")
        question = some_table(rng)
        for _ in range(rng.choice((2, 3))):
            name = rng.choice(CHANGING)
            column = f"({rng.choice(question.sensitive)})" if rng.random() < 0.5 else ""
            question.require.append(some_limit(rng, question, name + column))
        question.minimise = rng.choice(("loss", "discernibility", "height"))
        question.suppression = rng.choice((0.3, 0.5, 0.8, 1.0))
        judged = question.every()
        best = least([each for each in judged if each.feasible])
        got = answer(question, best, seed)
        turned = dataclasses.replace(question, require=question.require[::-1], sensitive=question.sensitive[::-1])
        assert (found(turned).levels if best else None) == (got.levels if got else None), (seed, question)
        everyone = range(len(question.rows))
        for each in judged:
            once = [m for m in each.classes.values() if question.misses(m, everyone)]
            again += each.feasible and sum(map(len, once)) < len(each.gone)
    assert enough(again > 10)


@pytest.mark.parametrize("turn", [1, -1])
def test_all_that_miss_go_at_once(turn: int) -> None:
    """Class a falls against the whole table; of what is left, one requirement takes c and the other b and d.

    Were d spared for what it is once c and b are gone, it would be released, but only if t-closeness is asked first.
    """
    rows = [{"q": q, "s": s} for q, s in ("ax", "ax", "by", "cz", "cx", "dz", "dy", "dy")]
    asked = [("t_closeness[equal]", 0.38), ("one_symbol_i4", 0.55)][::turn]
    question = Small(rows, ("q",), require=asked, suppression=1.0)
    assert len(question.judge((0,)).gone) == 8
    got = found(question)
    assert (got.levels, got.suppressed) == ({"q": 1}, 0)


def test_a_label_that_is_also_a_value_covers_more_below() -> None:
    """Labels taken from the values' own names: a value may then stand for more at level 0 than above, and bounds must know."""
    for seed in rounds(150):
        rng = random.Random(f"clash {seed}")
        question = some_table(rng)
        for name, lines in question.lines.items():
            question.lines[name] = clashing(rng, [*lines], question.height(name))
        question.require = [("k_anonymity", float(rng.choice((2, 3, 4, 5))))]
        question.minimise = rng.choice(SEPARABLE)
        question.suppression = rng.choice((0.0, 0.1, 0.3, 0.5))
        answer(question, question.best(), seed)


def test_requirements_that_only_a_real_release_can_answer() -> None:
    """(n,t)-closeness, one-symbol I3, several sensitive columns: the oracle measures releases made of generalized rows."""
    seen: Counter[bool] = Counter()
    for seed in rounds(30):
        question = some_question(seed, exotic=True)
        seen[answer(question, question.best(), seed) is None] += 1
    assert enough(len(seen) == 2)


def equipped(seed: int) -> Small:
    """A tiny question with all that any metric asks for: people, a population, a taxonomy, guarded values, numbers."""
    rng = random.Random(f"equipped {seed}")
    question = some_table(rng)
    while len(question.sensitive) < 2 or not 6 <= len([*question.lattice]) <= 18:
        question = some_table(rng)
    values = [*question.orders["s"]]
    question.lines["s"] = {v: (v, "low" if i < 3 else "high", "*") for i, v in enumerate(values)}
    question.lines["z"] = {v: (v, "some" if i % 2 else "many", "*") for i, v in enumerate(question.orders["z"])}
    guards = [None, None, *values, "low", "high"]
    for i, row in enumerate(question.rows):
        row |= {"who": f"person {i}", "guard": rng.choice(guards), "other": f"o{rng.randrange(3)}"}
    question.people = [row for row in question.rows for _ in range(2)][1:]
    question.more = {"person": "who", "guarding": "guard"}
    question.require = [("k_anonymity", float(rng.choice((2, 3))))]
    question.suppression = rng.choice((0.0, 0.1, 0.3))
    return question


SKIPPED = (
    *("isolation", "linkage_distance_risk", "noise_interval", "noise_variance", "multir_anonymity", "hipaa_rules"),
    *("rows_alone_by_free_columns", "values_told_by_free_columns", "individual_risk"),
)
"""About perturbed numbers and tables published along, which a generalization does not have; or about which columns are there, and the
oracle keeps the person's; or by survey weights."""
ASKED = ("xy_anonymity", "personalized_breach")
"""Asked of a certain column."""
EVERY = [
    *(str(each) for m in sf.registry().values() for each in m.variants() if m.card.name not in (*SKIPPED, *ASKED)),
    *("xy_anonymity[y=other]", "personalized_breach(s)"),
    *("distinct_l_diversity[dont_care=s1|s2]", "entropy_l_diversity[dont_care=s1|s2]"),
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("text", EVERY)
def test_every_registered_metric_can_be_minimised(text: str, seed: int) -> None:
    """And maximised; infinite values (a class that lacks a value) are losses like any other."""
    sign = "-" if seed % 2 else ""
    question = equipped(seed)
    question.minimise = sign + text
    best = question.best()
    got = answer(question, best)
    if got is not None and best is not None:
        check = got.release(question.table, question.roles)
        assert float(sf.metric(text)(check, question.roles).value) == near((-1 if sign else 1) * got.loss)


# --- ties, extremes and refusals -------------------------------------------------------------------------------------


def tied(names: Sequence[str] = ("a", "b", "c")) -> Small:
    """Three columns that are alike in everything: every loss ties by symmetry."""
    rows = [{"a": x, "b": y, "c": z, "s": f"s{(i + j + k) % 2}"} for i, x in enumerate("12") for j, y in enumerate("12") for k, z in enumerate("12")]  # fmt: skip
    return Small([{**row} for row in rows], tuple(names), require=[("k_anonymity", 2.0)])


@pytest.mark.parametrize("minimise", [*LOSSES, "-k_anonymity", "marketer_risk"])
def test_ties_go_to_the_lower_sum_and_then_to_the_first(minimise: str) -> None:
    question = dataclasses.replace(tied(), minimise=minimise)
    answer(question, question.best())
    if minimise in SEPARABLE:
        assert tuple(found(question).levels.values()) == (0, 0, 1)  # of (0,0,1), (0,1,0) and (1,0,0)


def test_the_order_of_the_quasi_identifiers_says_which_levels_come_first() -> None:
    assert found(tied(("a", "b", "c"))).levels == {"a": 0, "b": 0, "c": 1}
    assert found(tied(("c", "b", "a"))).levels == {"c": 0, "b": 0, "a": 1}


def test_nothing_asked_nothing_lost() -> None:
    question = dataclasses.replace(tied(), require=[], suppression=0.5)
    got = found(question)
    assert (got.loss, got.suppressed, set(got.levels.values())) == (0.0, 0, {0})


def test_one_class_of_everything_is_the_last_resort() -> None:
    question = dataclasses.replace(tied(), require=[("k_anonymity", 8.0)])
    got = found(question)
    assert (got.loss, set(got.levels.values())) == (1.0, {1})
    assert len(question.classes((1, 1, 1))) == 1


def test_a_release_without_rows_is_none() -> None:
    """Everything may be suppressed, but then nothing is released: no node is feasible."""
    question = dataclasses.replace(tied(), require=[("k_anonymity", 9.0)], suppression=1.0)
    assert question.best() is None
    with pytest.raises(Infeasible):
        found(question)


def test_suppressed_rows_are_those_of_failing_classes_only() -> None:
    """Three rows alike and one alone: with one row to spare nothing is generalized, and that one row goes."""
    question = Small([{"q": q, "s": "x"} for q in "aaab"], ("q",), require=[("k_anonymity", 2.0)], suppression=0.25)
    got = found(question)
    assert (got.levels, got.suppressed, got.loss) == ({"q": 0}, 1, 0.25)
    assert rows_of(got.release(question.table, question.roles).table, ["q"]) == {("a",): 3}
    question.suppression = 0.2499  # the limit is a whole number of rows, rounded down
    assert found(question).levels == {"q": 1}


def test_a_mean_leaves_out_what_costs_it_most() -> None:
    """The mean over rows of 1/N_c is 2/4; without b it is 1/3."""
    question = Small([{"q": q, "s": "x"} for q in "aaab"], ("q",), require=[("marketer_risk", 0.4)], suppression=0.5)
    got = found(question)
    assert (got.levels, got.suppressed, got.status) == ({"q": 0}, 1, "optimal")


def test_a_limit_on_the_table_suppresses_nothing_and_says_so() -> None:
    """Only classes that miss a requirement are suppressed; a limit on the whole table names no class."""
    rows = [{"q": q, "s": s} for q, s in zip("aaaab", "xyxyx", strict=True)]
    question = Small(rows, ("q",), require=[("mutual_information", 0.01)], suppression=0.5)
    got = found(question)
    assert (got.levels, got.suppressed, got.status, got.bound) == ({"q": 1}, 0, "rule", 0.0)
    assert got.why is not None
    assert "mutual_information <= 0.01 is about the whole table" in got.why
    assert "not proved" in str(got)
    question = dataclasses.replace(question, require=[("mutual_information", 0.0), ("average_class_size", 0.5)])
    with pytest.raises(Infeasible, match=r"was found\. That is not proved: "):
        found(question)


def test_a_missing_value_stays_missing_up_to_the_star() -> None:
    lines = {v: (v, "ab" if v in "ab" else "cd", "*") for v in "abcd"}
    rows = [{"q": q, "s": "x"} for q in ["a", "b", "c", "d", None, None]]
    question = Small(rows, ("q",), lines={"q": lines}, require=[("k_anonymity", 2.0)])
    got = found(question)
    assert got.levels == {"q": 1}
    release = got.release(question.table, question.roles)
    assert rows_of(release.table, ["q"]) == {("ab",): 2, ("cd",): 2, (None,): 2}


def test_a_value_that_is_a_star_is_released_like_what_is_gone() -> None:
    """A raw `*` covers everything from the start; non-uniform entropy counts it with the suppressed rows."""
    rows = [{"q": q, "r": r, "s": "x"} for q, r in zip("**aab*", "uvuuvv", strict=True)]
    for minimise in LOSSES:
        question = Small(rows, ("q", "r"), require=[("k_anonymity", 2.0)], suppression=0.4, minimise=minimise)
        best = question.best()
        got = answer(question, best, minimise)
        assert got is not None
        assert best is not None
        check_release(question, best, got)


def test_infinite_losses_end() -> None:
    """A node of infinite loss is feasible, worse than any finite one, and of several the first is best."""
    rows = [{"q": q, "r": r, "s": s} for q, r, s in ["a1x", "a1y", "a2x", "b1y", "b2x", "b2y", "b2x", "b2y"]]
    question = Small(rows, ("q", "r"), require=[("k_anonymity", 1.0)], minimise="delta_disclosure(s)")
    best = question.best()
    assert best is not None
    assert math.isfinite(cost(best))
    answer(question, best)
    question = dataclasses.replace(question, minimise="-delta_disclosure(s)")
    got = answer(question, question.best())
    assert got is not None
    assert (got.loss, set(got.levels.values())) == (-math.inf, {0})


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"suppression": 1.5}, "suppression"),
        ({"suppression": -0.1}, "suppression"),
        ({"suppression": math.nan}, "suppression"),
        ({"time_limit": 0.0}, "time limit"),
        ({"max_checks": 0}, "one node"),
        ({"minimise": "-height"}, "height"),
    ],
)
def test_what_cannot_be_asked(refusal: Callable[..., str], arguments: dict[str, Any], names: str) -> None:
    question = tied()
    given = {**question.arguments(), **arguments}
    refusal(InputError, lambda: optimal_generalization(question.table, question.roles, **given), names)


@pytest.mark.parametrize("minimise", ["", "losss", "loss loss", "2*", "loss + ", "k_anonymity >= 2"])
def test_what_cannot_be_minimised(refusal: Callable[..., str], minimise: str) -> None:
    question = dataclasses.replace(tied(), minimise=minimise)
    refusal(RequirementError, lambda: found(question))


# --- properties ------------------------------------------------------------------------------------------------------


def loss_of(question: Small) -> float:
    try:
        return found(question).loss
    except Infeasible:
        return math.inf


def test_more_suppression_never_costs_more() -> None:
    fell = 0
    for seed in rounds(35):
        rng = random.Random(f"more {seed}")
        question = some_table(rng)
        question.require = some_requirements(rng, question)
        question.minimise = rng.choice(SEPARABLE)
        losses = [loss_of(dataclasses.replace(question, suppression=share)) for share in (0.0, 0.1, 0.3, 0.6, 1.0)]
        for before, after in itertools.pairwise(losses):
            assert after <= before + 1e-12, (seed, losses, question)
        fell += losses[-1] < losses[0]
    assert enough(fell > 10)


def test_another_requirement_never_costs_less() -> None:
    """Where classes are judged by themselves, or nothing may be suppressed: else less rows can mean less to be judged by."""
    rose, seeds = 0, rounds(40)
    for seed in seeds:
        rng = random.Random(f"another {seed}")
        question = some_table(rng)
        question.suppression = rng.choice((0.0, 0.2, 0.5)) if seed % 2 else 0.0
        question.minimise = rng.choice(SEPARABLE)
        if seed % 2:
            asked = [some_limit(rng, question, name) for name in rng.sample(STEADY, 3)]
        else:
            asked = [*some_requirements(rng, question), *some_requirements(rng, question)][:4]
        losses = [loss_of(dataclasses.replace(question, require=asked[:count])) for count in range(len(asked) + 1)]
        for before, after in itertools.pairwise(losses):
            assert after >= before - 1e-12, (seed, losses, asked, question)
        rose += losses[-1] > losses[0]
    assert rose > len(seeds) / 2


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    for seed in rounds(1000, 1025):
        question = some_question(seed)
        rng = random.Random(seed)
        columns = tuple(rng.sample([*question.rows[0]], len(question.rows[0])))
        turned = dataclasses.replace(question, rows=rng.sample(question.rows, len(question.rows)), columns=columns)
        answers = []
        for each in (question, turned, dataclasses.replace(question)):
            try:
                got = found(each)
            except Infeasible as reason:
                answers.append((str(reason),))
                continue
            release = got.release(each.table, each.roles)
            rows = sorted(rows_of(release.table, [*question.rows[0]]).items(), key=str)
            answers.append((got.levels, got.loss, got.suppressed, got.checked, rows))  # type: ignore[arg-type]
        assert answers[0] == answers[1] == answers[2], (seed, question)


def test_a_budget_leaves_a_bound() -> None:
    """After so many checks: bound <= optimum <= loss, `gap` unless it is proved; more checks never say less."""
    seen: Counter[str] = Counter({"gap": 0, "optimal": 0, "none": 0})
    for seed in rounds(2000, 2035):
        question = some_question(seed)
        best = question.best()
        bound, loss = -math.inf, math.inf
        for budget in (1, 2, 3, 5, 8, 13, 1000):
            got = within(question, budget)
            if got is None:
                assert best is None or budget < 1000, question
                seen["none"] += best is not None
                continue
            assert best is not None
            assert got.checked <= budget
            room = 1e-9 * max(1.0, abs(cost(best)))
            assert got.bound <= cost(best) + room, (seed, budget, question)
            assert got.loss >= cost(best) - room
            assert got.gap >= 0
            assert got.bound >= bound - room
            assert got.loss <= loss + room
            bound, loss = got.bound, got.loss
            seen[got.status] += 1
            if got.status == "optimal":
                assert got.loss == near(cost(best)), (seed, budget, question)
            else:
                assert got.stopped == ("checks" if got.status == "gap" else None)
                assert got.checked == budget or got.status == "rule"
                assert got.gap > 0
            if got.stopped is None:
                assert tuple(got.levels.values()) == best.node
        if best is not None:
            assert loss == near(cost(best))
    assert enough(min(seen.values()) > 10), seen


def within(question: Small, budget: int) -> OptimalNode | None:
    """What is found with so many checks; None is said to be for want of them, or that there is nothing."""
    try:
        return found(question, max_checks=budget)
    except Infeasible as reason:
        stopped = "before the search was stopped" in str(reason)
        if (stopped and budget == 1000) or (not stopped and question.best() is not None):
            raise
        return None


def test_interrupted_it_gives_the_best_so_far() -> None:
    told: list[tuple[int, float | None, float]] = []

    def stop(checked: int, loss: float | None, bound: float) -> None:
        told.append((checked, loss, bound))
        raise KeyboardInterrupt

    question = dataclasses.replace(tied(), require=[], minimise="marketer_risk")
    got = found(question, watch=stop)
    best = question.best()
    assert best is not None
    assert (got.status, got.stopped, got.checked) == ("gap", "interrupt", 1)
    assert got.bound <= cost(best) <= got.loss
    assert told == [(1, got.loss, got.bound)]
    with pytest.raises(KeyboardInterrupt):
        found(question, watch=stop, catch=False)


# --- where nothing is feasible ---------------------------------------------------------------------------------------


def test_advice_can_be_followed() -> None:
    """What is said to be the nearest can be met, is better than which nothing is met, and a share to suppress suffices."""
    seen: Counter[str] = Counter()
    for seed in rounds(160):
        question = some_question(seed)
        question.require = [(t, 3 * b if t.startswith(HIGHER) else b / 3) for t, b in question.require]
        question.minimise = "loss"
        if question.best() is not None:
            continue
        with pytest.raises(Infeasible) as caught:
            found(question)
        text = str(caught.value)
        assert "What can be met" not in text  # every node of a small lattice is looked at
        for name, _, value in re.findall(r"The nearest[a-z ]*? is (\S+) ([<>]=) (\S+), at", text):
            at = [t for t, _ in question.require].index(name)
            assert relaxed(question, at, float(value)).best() is not None, (seed, text, question)
            seen["nearest"] += 1
            up = 1 if name.startswith(HIGHER) else -1
            better = [one for one in candidates(question, at) if up * (one - float(value)) > 1e-5]
            seen["suppressed"] += bool(better and question.limit)
            for one in random.Random(seed).sample(better, min(len(better), 25)):
                assert relaxed(question, at, one).best() is None, (seed, one, text, question)
        for percent in re.findall(r"Suppressing (\S+)% of the rows would do", text):
            assert dataclasses.replace(question, suppression=min(float(percent) / 100, 1.0)).best() is not None, text
            seen["suppressing"] += 1
    assert enough(seen["nearest"] > 50)
    assert enough(seen["suppressed"] > 10)
    assert enough(seen["suppressing"] > 1)


def test_the_nearest_need_not_be_at_the_most_general_node() -> None:
    """The top is not allowed, and of what is, (2,0) is more general than (0,1) but tells everything."""
    rows = [{"q": q, "r": r, "s": s} for q, r, s in ("a1x", "a1x", "a1x", "b1x", "a2y", "b2y", "b2y", "b2y")]
    lines = {v: (v, "ab", "*") for v in "ab"}
    question = Small(rows, ("q", "r"), lines={"q": lines})
    question.require = [("average_class_size", 4.0), ("mutual_information", 0.1)]
    with pytest.raises(
        Infeasible, match=r"nearest with the others met is mutual_information <= 0\.188722, at levels q 0, r 1"
    ):
        found(question)


def relaxed(question: Small, at: int, bound: float) -> Small:
    asked = [*question.require]
    asked[at] = (asked[at][0], bound)
    return dataclasses.replace(question, require=asked)


def candidates(question: Small, at: int) -> list[float]:
    """All values that a measure has over the lattice, also of what is left when classes that miss some limit are gone."""
    text = question.require[at][0]
    name, column = bare(text)
    others = dataclasses.replace(question, require=[one for i, one in enumerate(question.require) if i != at])
    columns = [column] if column else question.sensitive
    values: set[float] = set()
    for node in question.lattice:
        every = question.classes(node)
        if name not in OF_SIZE and name not in OF_CLASS:
            values.add(question.whole(text, node, every))
            continue
        # whatever the limit is, those that are worst go first, and what others forbid goes with them
        todo, seen = [every], set()
        while todo:
            left = todo.pop()
            everyone = [i for members in left.values() for i in members]
            worst = min if text.startswith(HIGHER) else max
            reached = {}
            for key, members in left.items():
                if name in OF_SIZE:
                    each = [OF_SIZE[name](len(members), len(everyone))]
                else:
                    each = [OF_CLASS[name](question.attribute(members, everyone, c)) for c in columns]
                values.update(each)
                reached[key] = worst(each)
            for bound in {None, *reached.values()}:
                stay = {
                    key: members
                    for key, members in left.items()
                    if not others.misses(members, everyone) and (bound is None or holds(text, reached[key], bound))
                }
                rows = frozenset(i for members in stay.values() for i in members)
                if stay and len(question.rows) - len(rows) <= question.limit and rows not in seen:
                    seen.add(rows)
                    todo.append(stay)
    return sorted(v for v in values if math.isfinite(v))
