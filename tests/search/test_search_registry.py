"""Every metric that can be required, against every choice of levels and of classes to leave out; and pairs that mean the same.

Nothing of the search is asked how it chose: of each node of a tiny lattice every set of classes is left out in turn, the rows that
stay are really released, and measured. A search may say that it proved nothing; what it says it proved must be so.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from search_oracle import Node, Row, Small, Value, some_lines

import sfumato as sf
from selection import enough, rounds
from sfumato.core.errors import Infeasible, InputError, RequirementError, Unavailable
from sfumato.core.metric import Metric, Requirement
from sfumato.metrics import everything
from sfumato.search.full_domain import OptimalNode, optimal_generalization

Left = dict[tuple[Value, ...], list[int]]
LOSSES = ("loss", "granularity", "height", "discernibility")
"""Whoever is left out besides, these do not become less."""
SHARES = (0.0, 0.26, 0.5)


def tiny(seed: int) -> Small:
    """Nine rows over two quasi-identifiers with six or nine nodes, so that all sets of classes can be tried."""
    rng = random.Random(f"tiny {seed}")
    lines = {}
    for name, count in (("q0", 4), ("q1", 2)):
        lines[name] = some_lines(rng, name, [f"{name}v{i}" for i in range(count)], 2 if count > 2 else 1)
    rows: list[Row] = []
    for i in range(9):
        q0, q1 = rng.choice(["q0v0", "q0v0", "q0v1", "q0v2", "q0v3"]), rng.choice(["q1v0", "q1v0", "q1v1"])
        s, t = f"s{rng.choice((0, 0, 0, 1, 2))}", f"t{rng.choice((0, 1))}"
        rows.append(
            {"q0": q0, "q1": q1, "s": s, "t": t, "who": f"person {i}", "guard": rng.choice([None, "s0", "low"])}
        )
    people: list[Row] = [
        {name: row[name] for name in ("q0", "q1")} for row in rows for _ in range(rng.choice((1, 1, 3)))
    ]
    people += [{"q0": rng.choice([*lines["q0"]]), "q1": rng.choice([*lines["q1"]])} for _ in range(6)]
    tree = {"s0": ("s0", "low", "*"), "s1": ("s1", "low", "*"), "s2": ("s2", "high", "*")}
    return Small(
        rows,
        ("q0", "q1"),
        ("s", "t"),
        {**lines, "s": tree, "t": {"t0": ("t0", "*"), "t1": ("t1", "*")}},
        orders={"s": ("s0", "s1", "s2"), "t": ("t0", "t1")},
        people=people,
        more={"person": "who", "guarding": "guard"},
    )


def choices(question: Small, node: Node, limit: int) -> Iterator[Left]:
    """Every set of classes that may stay."""
    classes = question.classes(node)
    for out in itertools.product((False, True), repeat=len(classes)):
        left = {key: members for (key, members), gone in zip(classes.items(), out, strict=True) if not gone}
        if left and len(question.rows) - sum(map(len, left.values())) <= limit:
            yield left


class Measured:
    """What a metric says of what may be released, each asked once."""

    def __init__(self, question: Small, metric: Metric) -> None:
        self.question, self.metric = question, metric
        self.known: dict[Any, float | None] = {}

    def __call__(self, node: Node, left: Left) -> float | None:
        key = (node, tuple(left))
        if key not in self.known:
            release = self.question.released(node, left)
            try:
                self.known[key] = float(self.metric(release, self.question.roles).value)
            except Unavailable:
                self.known[key] = None
        return self.known[key]


def search(question: Small, require: list[Requirement]) -> OptimalNode | str:
    """The answer, or the words with which there is none."""
    try:
        return optimal_generalization(
            question.table,
            question.roles,
            require=require,
            minimise=question.minimise,
            suppression=question.suppression,
            population=question.population,
        )
    except Infeasible as reason:
        return str(reason)


def asked() -> list[Metric]:
    roles = tiny(0).roles
    return [m for m in everything(roles) if m.column in (None, "s")]


REFUSED = (Unavailable, InputError, RequirementError)


@pytest.mark.full
@pytest.mark.parametrize("metric", asked(), ids=str)
def test_what_is_proved_is_so(metric: Metric) -> None:
    """No choice of levels and classes costs less than a proved optimum, and none meets what no generalization is said to meet."""
    compared = 0
    for seed in range(3):
        question = tiny(seed)
        rng = random.Random(f"{metric} {seed}")
        measured = Measured(question, metric)
        nodes = [*question.lattice]
        values = [v for node in rng.sample(nodes, 3) if (v := measured(node, question.classes(node))) is not None]
        values = [v for v in values if math.isfinite(v)]
        if not values:
            continue
        bound = rng.choice(values)
        if rng.random() < 0.3:  # perhaps none reaches it without suppression
            bound = bound * 1.3 if metric.card.better == "higher" else bound / 1.3
        requirement = metric.at_least(bound) if metric.card.better == "higher" else metric.at_most(bound)
        question.minimise = rng.choice(LOSSES)
        for question.suppression in SHARES:
            try:
                found = search(question, [requirement])
            except REFUSED:
                continue
            compared += 1
            limit = int(question.suppression * len(question.rows) + 1e-9)
            told = (str(metric), seed, question.suppression, str(requirement), question.minimise, str(found))
            if isinstance(found, str):
                if not found.startswith("No generalization meets"):
                    assert "not proved" in found, told
                    continue
                loss = math.inf
            else:
                release = found.release(question.table, question.roles)
                again = sf.Release(
                    table=release.table,
                    original=question.table,
                    recoding=release.recoding,
                    population=question.population,
                )
                if metric.card.name != "xy_anonymity":  # the person column is not released
                    assert requirement.check(again, question.roles).met, told
                assert found.suppressed <= limit, told
                assert found.bound <= found.loss + 1e-12, told
                if found.status != "optimal":
                    assert found.status == "rule", told
                    assert found.why, told
                loss = found.bound  # nothing is below the bound, whether or not it is reached
            for node in nodes:
                for left in choices(question, node, limit):
                    if question.cost(node, left) < loss - 1e-9 * max(1.0, abs(loss) if math.isfinite(loss) else 1.0):
                        value = measured(node, left)
                        assert value is None or not requirement.holds(value), (told, node, left)
    if not compared:
        pytest.skip("it cannot be asked of this table in a search, and says so")


ALONE = ["k_map", "journalist_risk", "delta_presence", "positive_disclosure", "k_anonymity", "prosecutor_risk"]
ALONE += [
    "alpha_anonymity",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "multi_attribute_l_diversity",
    "marketer_risk",
]
ALONE += ["homogeneity_exposed", "worst_case_background[k=0]", "personalized_breach(s)", "similarity_exposed[taxonomy]"]


@pytest.mark.parametrize("text", ALONE)
def test_classes_that_must_go_are_known(text: str) -> None:
    """Where what is left out is no matter of choice, or all choices were gone through, the optimum is proved, with suppression too."""
    metric, suppressed = sf.metric(text), 0
    for seed in rounds(12):
        question = tiny(seed)
        question.suppression = 0.45
        rng = random.Random(f"{text} {seed}")
        node = rng.choice([*question.lattice])
        value = Measured(question, metric)(node, question.classes(node))
        assert value is not None
        requirement = metric.at_least(value * 1.1) if metric.card.better == "higher" else metric.at_most(value / 1.1)
        found = search(question, [requirement])
        if isinstance(found, str):
            assert "not proved" not in found
            continue
        assert found.status == "optimal", str(found)
        suppressed += found.suppressed > 0
    assert enough(suppressed > 0)


# --- the same requirement in other words ------------------------------------------------------------------------------


def people_43() -> Small:
    """43 rows: six classes of seven, and a man of 71 who stands alone until all ages are `*`."""
    decade = {str(age): (str(age), f"{age // 10}x", "*") for age in (25, 35, 45, 71)}
    rows: list[Row] = [{"age": "71", "sex": "m", "s": "ill"}]
    for (age, sex), s in itertools.product(
        itertools.product([*decade][:3], "mf"), [*["ill"] * 3, *["well", "fine"] * 2]
    ):
        rows.append({"age": age, "sex": sex, "s": s})
    question = Small(rows, ("age", "sex"), lines={"age": decade}, suppression=0.1)
    question.people = [{"age": row["age"], "sex": row["sex"]} for row in rows]
    return question


PAIRS = [
    ("k_anonymity >= 5", "k_map >= 5"),
    ("k_anonymity >= 5", "prosecutor_risk <= 0.2"),
    ("k_anonymity >= 5", "journalist_risk <= 0.2"),
    ("k_anonymity >= 5", "rarest_combination[size=2] >= 5"),
    ("alpha_anonymity <= 0.7", "positive_disclosure <= 0.7"),
    ("alpha_anonymity <= 0.7", "worst_case_background[k=0] <= 0.7"),
    ("distinct_l_diversity >= 2", "homogeneity_exposed <= 0"),
    ("t_closeness[equal] <= 0.3", "n_t_closeness[equal,n=1000000] <= 0.3"),
]


@pytest.mark.parametrize("share", [0.0, 0.03, 0.1, 0.3])
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_means_the_same_has_the_same_optimum(one: str, other: str, share: float) -> None:
    question = people_43()
    question.suppression = share
    first, second = (search(question, [sf.require(text)]) for text in (one, other))
    if isinstance(first, str) or isinstance(second, str):
        assert isinstance(first, str)
        assert isinstance(second, str)
    elif {first.status, second.status} == {"optimal"}:
        assert (first.loss, first.levels, first.suppressed) == (second.loss, second.levels, second.suppressed)
    else:
        assert share > 0
        assert one.startswith("t_closeness") or "rarest" in other, (str(first), str(second))


def test_the_table_as_its_own_population() -> None:
    """One row is left out for each of them, not a whole level: classes that miss a requirement on classes go."""
    question = people_43()
    found = {text: search(question, [sf.require(text)]) for pair in PAIRS[:3] for text in pair}
    losses = Counter(round(each.loss, 12) for each in found.values() if not isinstance(each, str))
    assert len(losses) == 1, found
    assert {each.suppressed for each in found.values() if not isinstance(each, str)} == {1}
    assert losses == {round(1 / 43, 12): len(found)}
