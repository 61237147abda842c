"""The privacy metrics derived a second time: from the papers' definitions, rows as dicts, loops and fractions.

Written without a look at the kernels' own tests. Nothing here counts as the package does: a class is a list of rows, a
probability a fraction, an earth mover's distance a linear program, a breach a share of all reconstructions.
"""

from __future__ import annotations

import datetime
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import pytest
from scipy.optimize import linprog

import sfumato as sf
from house import Make
from sfumato import metrics
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.metric import Score
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.core.value_sets import spell_set

Row = dict[str, str | None]
QUASI = ("q", "r")
TREE = Hierarchy.of(
    "s", [("10", "low", "*"), ("20", "low", "*"), ("30", "high", "*"), ("40", "high", "*"), ("50", "top", "*")]
)
ABOVE = {"10": "low", "20": "low", "30": "high", "40": "high", "50": "top"}
ROLES = Roles(quasi=QUASI, sensitive=("s",), hierarchies={"s": TREE})
CARE_NOT = ("20", "40", "absent")


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


# --- tables ----------------------------------------------------------------------------------------------------------


def last(*values: str | None) -> tuple[tuple[bool, str], ...]:
    """The order of values: ascending, missing last."""
    return tuple((value is None, value or "") for value in values)


def any_rows(seed: int) -> list[Row]:
    rng = random.Random(seed)
    pick = [rng.choice(("10", "20", "30", "40", "50", None)) for _ in range(4)]  # few values, so that they tie
    return [
        {"q": rng.choice(("a", "b", None)), "r": rng.choice(("x", "y")), "s": rng.choice(pick), "t": rng.choice("uv")}
        for _ in range(rng.randint(1, 25))
    ]


def tied(seed: int) -> list[Row]:
    """Every class holds the same values equally often."""
    values = random.Random(seed).sample(["10", "20", "30", "40", "50", None], 1 + seed % 4)
    return [{"q": q, "r": "x", "s": s, "t": "u"} for q in ("a", "b", None) for s in values for _ in range(2)]


def one_class(seed: int) -> list[Row]:
    return [{**row, "q": None, "r": "x"} for row in any_rows(seed)]


def singletons(seed: int) -> list[Row]:
    return [{**row, "q": f"a{i:02}", "r": "x"} for i, row in enumerate(any_rows(seed))]


def constant(seed: int) -> list[Row]:
    return [{**row, "s": None if seed % 2 else "30"} for row in any_rows(seed)]


def pure(seed: int) -> list[Row]:
    """Each class has a value of its own."""
    return [{**row, "s": {"a": "10", "b": "50", None: None}[row["q"]]} for row in any_rows(seed)]


SHAPES = (any_rows, tied, one_class, singletons, constant, pure)
CASES = [pytest.param(shape, seed, id=f"{shape.__name__}-{seed}") for shape in SHAPES for seed in range(8)]


def columns(rows: Sequence[Row]) -> dict[str, Any]:
    import pyarrow as pa

    return {name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]}


def blocks(rows: Sequence[Row], by: Sequence[str] = QUASI) -> list[list[Row]]:
    """The q*-blocks in the order of their tuples."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in by), []).append(row)
    return [found[key] for key in sorted(found, key=lambda key: last(*key))]


def of(rows: Sequence[Row], name: str = "s") -> list[str | None]:
    return [row[name] for row in rows]


def share(w: str | None, values: Sequence[str | None]) -> Fraction:
    return Fraction(list(values).count(w), len(values))


def bits(values: Sequence[Any]) -> float:
    return -sum(float(p) * math.log2(p) for p in (share(w, values) for w in set(values)))


def each(value: str | None, *sides: Sequence[str | None]) -> list[Fraction]:
    return [share(value, side) for side in sides]


def kl(p: Sequence[Any], q: Sequence[Any]) -> float:
    pairs = [each(w, p, q) for w in set(p)]
    return sum(float(a) * math.log2(a / b) for a, b in pairs)


# --- class by class: block and table, as lists of sensitive values -----------------------------------------------------


def moved(block: Sequence[str | None], table: Sequence[str | None], far: Callable[[Any, Any], float]) -> float:
    """The least work that turns one distribution into the other: the transport problem itself."""
    values = sorted(set(table), key=lambda v: last(v))
    m = len(values)
    cost = [far(a, b) for a in values for b in values]
    out = [[float(i == k) for i in range(m) for _ in range(m)] for k in range(m)]
    come = [[float(j == k) for _ in range(m) for j in range(m)] for k in range(m)]
    total = [float(share(w, block)) for w in values] + [float(share(w, table)) for w in values]
    return float(linprog(cost, A_eq=out + come, b_eq=total, method="highs").fun)


def in_order(block: Sequence[str | None], table: Sequence[str | None]) -> float:
    place = {w: i for i, w in enumerate(sorted(set(table), key=lambda v: last(v)))}
    return moved(block, table, lambda a, b: abs(place[a] - place[b]) / max(len(place) - 1, 1))


def up_the_tree(block: Sequence[str | None], table: Sequence[str | None]) -> float:
    def far(a: str | None, b: str | None) -> float:
        if a == b:
            return 0.0
        return 0.5 if a is not None and b is not None and ABOVE[a] == ABOVE[b] else 1.0

    return moved(block, table, far)


def recursive(block: Sequence[str | None], l: int, free: Sequence[str] = ()) -> float:
    """The two cases of pd-recursive (c,l)-diversity (Machanavajjhala et al.), solved for the c that just fails."""
    ranked = sorted(Counter(block).items(), key=lambda item: -item[1])
    r = [0, *(n for _, n in ranked)]
    m = len(ranked)
    guarded = [i for i in range(1, m + 1) if ranked[i - 1][0] not in free]
    if not guarded:
        return 0.0
    y = guarded[0]
    if y <= l - 1:
        rest = sum(r[j] for j in range(l, m + 1))
    else:
        rest = sum(r[j] for j in range(l - 1, y)) + sum(r[j] for j in range(y + 1, m + 1))
    return r[y] / rest if rest else math.inf


def trimmed(block: Sequence[str | None], free: Sequence[str]) -> float:
    """The most that 2^H can be if of each don't-care value any number of rows is left out: all numbers are tried."""
    kept = [n for w, n in Counter(block).items() if w not in free]
    loose = [n for w, n in Counter(block).items() if w in free]
    if not kept:
        return math.inf

    def effective(x: Sequence[int]) -> float:
        return 2 ** -sum(n / sum(x) * math.log2(n / sum(x)) for n in x if n)

    return max(effective([*kept, *some]) for some in itertools.product(*(range(n + 1) for n in loose)))


def likened(block: Sequence[str | None], table: Sequence[str | None], *, capped: bool) -> float:
    """The least beta with (p - q)/q <= min(beta, -ln q) for every value that gains."""
    beta = 0.0
    for w in set(block):
        p, q = each(w, block, table)
        if p > q:
            gain = float((p - q) / q)
            beta = max(beta, math.inf if capped and gain > -math.log(q) else gain)
    return beta


def against_the_rest(block: Sequence[str | None], table: Sequence[str | None]) -> float:
    """I({c, not c}; W) from the joint counts."""
    rest = Counter(table)
    rest.subtract(Counter(block))
    joint = [(n, len(block), w) for w, n in Counter(block).items()]
    joint += [(n, len(table) - len(block), w) for w, n in rest.items() if n]
    size = len(table)
    return sum(n / size * math.log2(Fraction(n * size, side * list(table).count(w))) for n, side, w in joint)


def lost_in(block: Sequence[str | None], table: Sequence[str | None]) -> list[str | None]:
    return [w for w in set(table) if w not in block]


CLASSES: dict[str, Callable[[list[str | None], list[str | None]], float]] = {
    "alpha_anonymity": lambda c, t: max(share(w, c) for w in c),
    "beta_likeness[basic]": lambda c, t: likened(c, t, capped=False),
    "beta_likeness[enhanced]": lambda c, t: likened(c, t, capped=True),
    "delta_disclosure": lambda c, t: (
        math.inf if lost_in(c, t) else max(abs(math.log2(share(w, c) / share(w, t))) for w in t)
    ),
    "distinct_l_diversity": lambda c, t: len(set(c)),
    "distinct_l_diversity[dont_care=20|40|absent]": lambda c, t: (
        len(set(c)) if any(w not in CARE_NOT for w in c) else math.inf
    ),
    "distribution_leakage": lambda c, t: math.sqrt(sum((share(w, c) - share(w, t)) ** 2 for w in set(t))),
    "entropy_l_diversity": lambda c, t: 2 ** bits(c),
    "entropy_l_diversity[dont_care=20|40|absent]": lambda c, t: trimmed(c, CARE_NOT),
    "entropy_leakage": lambda c, t: abs(bits(t) - bits(c)),
    "k_anonymity": lambda c, t: len(c),
    "negative_disclosure": lambda c, t: min(share(w, c) for w in t),
    "one_symbol_i1": kl,
    "one_symbol_i2": lambda c, t: bits(t) - bits(c),
    "one_symbol_i4": against_the_rest,
    "p_sensitive_k_anonymity": lambda c, t: len(set(c)) if len(c) >= 2 else 0,
    "p_sensitive_k_anonymity[k=3]": lambda c, t: len(set(c)) if len(c) >= 3 else 0,
    "positive_disclosure": lambda c, t: max(share(w, c) for w in c),
    "attack_payoff": lambda c, t: Fraction(300, len(c)) - 4,
    "prosecutor_risk": lambda c, t: Fraction(1, len(c)),
    "recursive_diversity": lambda c, t: recursive(c, 2),
    "recursive_diversity[l=3]": lambda c, t: recursive(c, 3),
    "recursive_diversity[dont_care=20|40|absent]": lambda c, t: recursive(c, 2, CARE_NOT),
    "recursive_diversity[l=3,dont_care=20|40|absent]": lambda c, t: recursive(c, 3, CARE_NOT),
    "recursive_diversity[l=4,dont_care=20|40|absent]": lambda c, t: recursive(c, 4, CARE_NOT),
    "t_closeness[equal]": lambda c, t: moved(c, t, lambda a, b: float(a != b)),
    "t_closeness[ordered]": in_order,
    "t_closeness[taxonomy]": up_the_tree,
    "transfer_of_information[rho1=0.3]": lambda c, t: max(
        [share(w, c) for w in c if share(w, t) <= Fraction("0.3")], default=0
    ),
    "uninformative_difference": lambda c, t: max(abs(share(w, c) - share(w, t)) for w in t),
    "vanishing_values": lambda c, t: len(lost_in(c, t)),
}


def joint_information(rows: list[Row]) -> float:
    """H(W) + H(C) - H(W,C)."""
    keys = [tuple(row[name] for name in QUASI) for row in rows]
    return bits(of(rows)) + bits(keys) - bits([*zip(keys, of(rows), strict=True)])


def from_the_value(rows: list[Row]) -> list[float]:
    """I3 of each class: what its values say of the class."""
    keys = [tuple(row[name] for name in QUASI) for row in rows]
    given = {w: bits([k for k, row in zip(keys, rows, strict=True) if row["s"] == w]) for w in of(rows)}
    return [sum(bits(keys) - given[row["s"]] for row in block) / len(block) for block in blocks(rows)]


def with_the_others(rows: list[Row], kind: Callable[[list[Any]], float]) -> float:
    """Def. 7: each sensitive column in turn, the other added to the quasi-identifiers."""
    sides = (("s", "t"), ("t", "s"))
    return min(kind(of(block, one)) for one, other in sides for block in blocks(rows, (*QUASI, other)))


TABLES: dict[str, Callable[[list[Row]], float]] = {
    "identity_information": lambda rows: max(math.log2(len(rows) / len(block)) for block in blocks(rows)),
    "journalist_risk": lambda rows: max(1 / len(block) for block in blocks(rows)),
    "marketer_risk": lambda rows: sum(1 / len(block) for block in blocks(rows) for _ in block) / len(rows),
    "mutual_information": joint_information,
    "mutual_information_leak": lambda rows: 1 - 2 ** -joint_information(rows),
    "one_symbol_i3": lambda rows: max(from_the_value(rows)),
    "sample_uniqueness": lambda rows: sum(len(block) == 1 for block in blocks(rows)) / len(rows),
    "population_uniqueness": lambda rows: sum(len(block) == 1 for block in blocks(rows)) / len(rows),
    "rarest_combination[size=1]": lambda rows: min(len(block) for name in QUASI for block in blocks(rows, [name])),
    "rarest_combination": lambda rows: min(len(block) for block in blocks(rows)),
}
ELSEWHERE = {  # derived below, each from tables of its own kind
    "delta_presence", "delta_presence_min", "hipaa_rules", "isolation", "k_map", "linkage_distance_risk", "multi_attribute_l_diversity", "rows_alone_by_free_columns", "values_told_by_free_columns",
    "individual_risk", "multir_anonymity", "noise_interval", "noise_variance", "personalized_breach", "xy_anonymity",
}  # fmt: skip


def test_every_privacy_metric_has_a_second_derivation() -> None:
    """All but (n,t)-closeness, the skyline and the gains, whose second derivations stand beside their own tests; so do those of other rooms."""
    derived = {name.split("[")[0] for name in (*CLASSES, *TABLES)} | ELSEWHERE
    here = {n for n, m in metrics.registry().items() if m.kernel.__module__.startswith("sfumato.metrics.privacy")}
    assert derived == here - {"n_t_closeness", "privacy_skyline", "knowledge_gain", "accuracy_gain"}


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_class_by_class(shape: Callable[[int], list[Row]], seed: int, release: Make) -> None:
    rows = shape(seed)
    made, table = release(columns(rows)), of(rows)
    for name, derived in CLASSES.items():
        metric = metrics.metric(name)
        found: Score = metric(made, ROLES)
        wanted = [float(derived(of(block), table)) for block in blocks(rows)]
        assert found.per_class is not None
        assert found.per_class.tolist() == close(wanted), name
        assert found.value == close(min(wanted) if metric.card.better == "higher" else max(wanted)), name


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_of_the_whole_table(shape: Callable[[int], list[Row]], seed: int, release: Make) -> None:
    rows = shape(seed)
    made = release(columns(rows))
    for name, derived in TABLES.items():
        assert metrics.metric(name)(made, ROLES).value == close(derived(rows)), name
    assert sf.one_symbol_i3(made, ROLES).per_class.tolist() == close(from_the_value(rows))
    both = Roles(quasi=QUASI, sensitive=("s", "t"))
    assert sf.multi_attribute_l_diversity(made, both).value == with_the_others(rows, lambda c: len(set(c)))
    spread = sf.multi_attribute_l_diversity(kind="entropy")(made, both).value
    assert spread == close(with_the_others(rows, lambda c: 2 ** bits(c)))


@pytest.mark.parametrize("seed", range(30))
def test_whole_rows_are_left_out(seed: int, release: Make) -> None:
    """Entropy with a don't-care set: of all choices of rows to leave out, the most diverse one."""
    rng = random.Random(seed)
    counts = {w: rng.randint(1, 6) for w in ("10", "20", "40", "50")}
    rows = [{"q": "a", "r": "x", "s": w} for w, n in counts.items() for _ in range(n)]
    found = sf.entropy_l_diversity(dont_care=CARE_NOT)(release(columns(rows)), ROLES).value
    best = 0.0
    for twenty, forty in itertools.product(range(counts["20"] + 1), range(counts["40"] + 1)):
        kept = {**counts, "20": twenty, "40": forty}
        best = max(best, 2 ** bits([w for w, n in kept.items() for _ in range(n)]))
    assert found == close(best)


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_recursive_diversity_with_unlimited_c_is_distinct_diversity(
    shape: Callable[[int], list[Row]], seed: int, release: Make
) -> None:
    """A don't-care set for distinct values: the docstring derives it from the two cases of the recursive one."""
    made = release(columns(shape(seed)))
    distinct = sf.distinct_l_diversity(dont_care=CARE_NOT)(made, ROLES).per_class
    for l in (2, 3, 4):
        finite = sf.recursive_diversity(l=l, dont_care=CARE_NOT)(made, ROLES).per_class < math.inf
        assert finite.tolist() == (distinct >= l).tolist()


# --- pairs of a class and a value --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_pairs_of_a_class_and_a_value(shape: Callable[[int], list[Row]], seed: int, release: Make) -> None:
    rows = shape(seed)
    made, table = release(columns(rows)), of(rows)
    values = sorted(set(table), key=lambda v: last(v))
    posterior = [[share(w, of(block)) for w in values] for block in blocks(rows)]
    change = [[abs(p - share(w, table)) for p, w in zip(line, values, strict=True)] for line in posterior]
    derived = {"positive_disclosure": posterior, "negative_disclosure": posterior, "uninformative_difference": change}
    for name, wanted in derived.items():
        found = metrics.metric(name)(made, ROLES).per_value
        assert found.column.texts == values
        for i, line in enumerate(wanted):
            assert found.of(i).tolist() == close([float(x) for x in line]), name
        stored = sum(w in of(block) for block in blocks(rows) for w in values)
        assert len(found.number) == stored  # what does not occur takes no room


@pytest.mark.parametrize("limit", ["0.8", "0.9", "0.1", "0.2", "0.3", "0.4", "0.7", "0"])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_beyond_a_limit(seed: int, limit: str, release: Make) -> None:
    """Ten rows a class and tenths as limits: a pair at the limit is not beyond it, whatever the rounding."""
    rng = random.Random(seed)
    rows = [
        {"q": q, "r": "x", "s": rng.choice(("10", "20", "30"))} for q in ("a", "b", "c", "d", "e") for _ in range(10)
    ]
    made, table, x = release(columns(rows)), of(rows), Fraction(limit)
    pairs = [(block, *each(w, of(block), table)) for block in blocks(rows) for w in set(table)]
    derived = {
        f"positive_disclosure[alpha={limit}]": ("above", [c for c, p, _ in pairs if p > 1 - x]),
        f"negative_disclosure[epsilon={limit}]": ("below", [c for c, p, _ in pairs if p < x]),
        f"uninformative_difference[limit={limit}]": ("above", [c for c, p, q in pairs if abs(p - q) > x]),
    }
    for name, (side, hit) in derived.items():
        details = metrics.metric(name)(made, ROLES).details
        wide = {id(block): len(block) for block in hit}
        assert details["pairs"] == len(pairs)
        assert details[f"pairs_{side}"] == len(hit), name
        assert (details[f"classes_{side}"], details[f"rows_{side}"]) == (len(wide), sum(wide.values())), name


# --- several rows a person ---------------------------------------------------------------------------------------------


def people_of(rows: Sequence[Row]) -> set[str | None]:
    return {row["who"] for row in rows}


def with_people(seed: int) -> list[Row]:
    rng = random.Random(seed)
    few = [str(i) for i in range(rng.randint(1, 6))]
    return [{**row, "who": rng.choice([*few, None])} for row in any_rows(seed)]


@pytest.mark.parametrize("seed", range(30))
def test_several_rows_a_person(seed: int, release: Make) -> None:
    """Who is found is a person; a row is right if the person is. A missing id is one person."""
    rows = with_people(seed)
    made = release(columns(rows))
    roles = Roles(quasi=QUASI, sensitive=("s",), person="who")
    sizes = [len(people_of(block)) for block in blocks(rows)]
    assert sf.k_anonymity(made, roles).per_class.tolist() == sizes
    assert sf.prosecutor_risk(made, roles).per_class.tolist() == close([1 / n for n in sizes])
    assert sf.journalist_risk(made, roles).value == close(1 / min(sizes))
    right = sum(Fraction(len(block), len(people_of(block))) for block in blocks(rows))
    assert sf.marketer_risk(made, roles).value == close(float(right / len(rows)))
    assert sf.xy_anonymity(made, roles).per_class.tolist() == sizes
    few = sf.xy_anonymity(x={"q"}, y={"s", "r"})(made, roles).value
    assert few == min(len({(row["s"], row["r"]) for row in block}) for block in blocks(rows, ("q",)))


def test_marketer_risk_never_rises_when_classes_are_merged(release: Make) -> None:
    """Two people in the same two classes, and one alone: classes by people in them would rise from 3/5 to 2/3."""
    roles = Roles(quasi=("q",), sensitive=("s",), person="who")
    rows: list[Row] = [{"q": q, "s": "10", "who": who} for q, who in zip("aabbc", "12123", strict=True)]
    merged: list[Row] = [{**row, "q": "a" if row["q"] == "b" else row["q"]} for row in rows]
    before, after = (sf.marketer_risk(release(columns(some)), roles).value for some in (rows, merged))
    assert (before, after) == (close(3 / 5), close(3 / 5))


@pytest.mark.parametrize("seed", range(30))
def test_several_tables_of_the_same_people(seed: int, release: Make, table: Callable[..., Table]) -> None:
    rows = with_people(seed)
    more = [{"who": row["who"], "r2": row["r"]} for row in with_people(seed + 1)]
    roles = Roles(quasi=(*QUASI, "r2"), sensitive=("s",), person="who")
    told: dict[Any, Counter[Any]] = {who: Counter() for who in people_of(rows) | people_of(more)}
    for row in rows:
        told[row["who"]][1, row["q"], row["r"]] += 1
    for row in more:
        told[row["who"]][2, row["r2"]] += 1
    alike = Counter(frozenset(said.items()) for said in told.values())
    made = release(columns(rows), related=(table(columns(more)),))
    assert sf.multir_anonymity(made, roles).value == min(alike.values())


# --- a table of the population -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """Released rows, what each released value stands for, and the people of a public table."""

    rows: list[Row]
    stands_for: dict[str | None, set[str | None]]
    people: list[Row]

    def covered(self, row: Row) -> list[int]:
        return [i for i, p in enumerate(self.people) if all(p[name] in self.stands_for[row[name]] for name in QUASI)]

    def presence(self) -> list[Fraction]:
        """For each person, the share of the ways to give every released row a person of its own in which they are one."""
        ways, within = 0, [0] * len(self.people)
        choices = [self.covered(row) for row in self.rows]
        for chosen in itertools.product(*choices):
            if len(set(chosen)) == len(chosen):
                ways += 1
                for i in chosen:
                    within[i] += 1
        return [Fraction(n, ways) for n in within]


def sample(seed: int, *, overlap: bool = False) -> Sample:
    rng = random.Random(seed)
    values: list[str | None] = ["a", "b", "c", None]
    groups: list[set[str | None]] = [{"a", "b"}, {"c"}, {None}] if seed % 2 else [{"a"}, {"b", "c"}, {None}]
    if overlap:
        groups += [{"b"}, {"b", "c"}] if seed % 2 else [{"a", "b"}, {"c"}]
    labels: dict[str | None, set[str | None]] = {}
    for group in groups:
        labels[next(iter(group)) if len(group) == 1 else spell_set(sorted(v for v in group if v))] = group
    people = [{"q": rng.choice(values), "r": "x"} for _ in range(rng.randint(3, 8))]
    stands_for = {**labels, "x": {"x"}}
    rows: list[Row] = []
    for person in rng.sample(people, min(4, len(people))):
        label = rng.choice([k for k, group in labels.items() if person["q"] in group])
        rows.append({"q": label, "r": "x", "s": rng.choice(("10", "20"))})
    return Sample(rows, stands_for, people)


@pytest.mark.parametrize("seed", range(30))
def test_presence_is_a_share_of_all_possible_worlds(seed: int, release: Make) -> None:
    case = sample(seed)
    made = release(columns(case.rows), population=columns(case.people))
    wanted = case.presence()
    assert sf.delta_presence(made, ROLES).value == close(float(max(wanted)))
    assert sf.delta_presence_min(made, ROLES).value == close(float(min(wanted)))
    assert {sf.delta_presence(made, ROLES).exactness, sf.delta_presence_min(made, ROLES).exactness} == {"exact"}
    covered = [len(case.covered(block[0])) for block in blocks(case.rows)]
    assert sf.k_map(made, ROLES).per_class.tolist() == covered
    assert sf.journalist_risk(made, ROLES).per_class.tolist() == close([1 / n for n in covered])


@pytest.mark.parametrize("seed", range(60))
def test_presence_where_classes_overlap_is_not_said_to_be_exact(seed: int, release: Make) -> None:
    """`N_c/F_c` is then the least that the probability of anyone whom class c covers can be."""
    case = sample(seed, overlap=True)
    made = release(columns(case.rows), population=columns(case.people))
    wanted = case.presence()
    most, least = sf.delta_presence(made, ROLES), sf.delta_presence_min(made, ROLES)
    several = sum(sum(i in case.covered(block[0]) for block in blocks(case.rows)) > 1 for i in range(len(case.people)))
    assert most.details["people_in_several_classes"] == several
    assert least.value <= float(min(wanted)) + 1e-12
    assert most.value <= float(max(wanted)) + 1e-12
    if several:
        assert most.exactness == "estimate"
        assert most.ci is not None
        assert most.ci[0] - 1e-12 <= float(max(wanted)) <= most.ci[1]
        assert least.exactness == ("exact" if least.value == 0 else "bound")


@pytest.mark.parametrize("seed", range(20))
def test_a_population_that_lacks_people_of_the_release(seed: int, release: Make) -> None:
    case = sample(seed)
    few = case.people[: len(case.people) // 2]
    made = release(columns(case.rows), population=columns(few))
    part = Sample(case.rows, case.stands_for, few)
    pairs = [(len(block), len(part.covered(block[0]))) for block in blocks(case.rows)]
    assert sf.k_map(made, ROLES).per_class.tolist() == [max(pair) for pair in pairs]
    assert sf.delta_presence(made, ROLES).per_class.tolist() == close([n / max(n, f) for n, f in pairs])
    lacking = sum(f < n for n, f in pairs)
    assert sf.k_map(made, ROLES).exactness == ("bound" if lacking else "exact")


# --- personalized privacy ----------------------------------------------------------------------------------------------

NODES: dict[str | None, set[str | None]] = {
    "10": {"10"}, "20": {"20"}, "30": {"30"}, "40": {"40"}, "50": {"50"}, None: {None},
    "low": {"10", "20"}, "high": {"30", "40"}, "top": {"50"}, "*": {"10", "20", "30", "40", "50"},
}  # fmt: skip


def breached(block: list[Row], guard: str | None, might: int, *, once: bool, missing: bool) -> Fraction:
    """The share of all reconstructions of a class that link person 0 of `might` to something under the guarding node.

    A reconstruction gives each row an owner (`once`: of its own) and a leaf under its released value (Xiao and Tao 2006).
    """
    nodes = {**NODES, "*": NODES["*"] | ({None} if missing else set())}
    owners = [
        chosen
        for chosen in itertools.product(range(might), repeat=len(block))
        if not once or len(set(chosen)) == len(chosen)
    ]
    hit = ways = 0
    for leaves in itertools.product(*(nodes[row["s"]] for row in block)):
        under = [leaf in nodes[guard] for leaf in leaves]
        ways += len(owners)
        hit += sum(any(who == 0 and bad for who, bad in zip(chosen, under, strict=True)) for chosen in owners)
    return Fraction(hit, ways)


def guarded(seed: int, *, several: bool) -> list[Row]:
    rng = random.Random(seed)
    released = ["10", "20", "30", "50", "low", "high", "*", None]
    rows: list[Row] = []
    for q in ("a", "b"):
        for i in range(rng.randint(1, 3)):
            who = rng.choice("123") if several else f"{q}{i}"
            guard = rng.choice(["10", "low", "high", "top", "*", "∅", None])
            rows.append({"q": q, "r": "x", "s": rng.choice(released), "who": who, "guard": guard})
    return rows


@pytest.mark.parametrize("several", [False, True], ids=["primary", "non-primary"])
@pytest.mark.parametrize("extra", [0, 2], ids=["people of the release", "external table"])
@pytest.mark.parametrize("seed", range(12))
def test_breach_is_a_share_of_all_reconstructions(seed: int, extra: int, several: bool, release: Make) -> None:
    rows = guarded(seed, several=several)
    roles = Roles(quasi=QUASI, sensitive=("s",), hierarchies={"s": TREE}, person="who", guarding="guard")
    once = len(people_of(rows)) == len(rows)
    missing = None in of(rows)
    wanted, people = [], []
    for block in blocks(rows):
        might = len(people_of(block)) + extra
        people += [{"q": block[0]["q"], "r": "x"}] * might
        guards = [row["guard"] for row in block if row["guard"] not in (None, "∅")]
        wanted.append(max([breached(block, g, might, once=once, missing=missing) for g in guards], default=Fraction(0)))
    made = release(columns(rows), population=columns(people) if extra else None)
    found = sf.personalized_breach(made, roles)
    assert found.per_class.tolist() == close([float(p) for p in wanted])
    assert found.value == close(float(max(wanted)))


# --- perturbed numbers -------------------------------------------------------------------------------------------------


def numbers(seed: int) -> tuple[list[Row], list[Row]]:
    """Original rows of two numbers and what they became; some are missing, some tie."""
    rng = random.Random(seed)
    before: list[Row] = []
    after: list[Row] = []
    for _ in range(rng.randint(4, 14)):
        x, y = rng.randint(0, 5), rng.randint(0, 3)
        before.append({"q": str(x), "r": rng.choice([str(y), str(y), None]), "s": "10"})
        r = before[-1]["r"]
        after.append(
            {"q": str(x + rng.randint(-2, 2)), "r": None if r is None else str(y + rng.randint(0, 1)), "s": "10"}
        )
    before += [{"q": "0", "r": "0", "s": "10"}, {"q": "6", "r": "4", "s": "10"}]
    return before, after + before[-2:]


def spread(x: Sequence[Fraction]) -> Fraction:
    mean = sum(x, Fraction(0)) / len(x)
    return sum(((a - mean) ** 2 for a in x), Fraction(0)) / len(x)


@pytest.mark.parametrize("seed", range(40))
def test_noise_by_its_variance_and_its_shortest_interval(seed: int, release: Make) -> None:
    before, after = numbers(seed)
    made = release(columns(after), columns(before), pairing="position")
    for confidence in ("0.5", "0.95", "1"):
        ratio, length = {}, {}
        for name in QUASI:
            both = [(a[name], b[name]) for a, b in zip(before, after, strict=True)]
            pairs = [(Fraction(a), Fraction(b)) for a, b in both if a is not None and b is not None]
            gap, old = sorted(a - b for a, b in pairs), [a for a, _ in pairs]
            ratio[name] = spread(gap) / spread(old)
            windows = [
                gap[j] - gap[i]
                for i in range(len(gap))
                for j in range(i, len(gap))
                if Fraction(j - i + 1, len(gap)) >= Fraction(confidence)
            ]
            length[name] = min(windows) / (max(old) - min(old))
        assert sf.noise_variance(made, ROLES).value == close(float(min(ratio.values())))
        assert sf.noise_interval(confidence=float(confidence))(made, ROLES).value == close(float(min(length.values())))


def standardized(before: list[Row], after: list[Row]) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    """Points: numbers by the original's deviation, a missing one beyond the largest by the range of both sides."""
    sides: tuple[list[list[float]], list[list[float]]] = ([[] for _ in before], [[] for _ in after])
    for name in QUASI:
        known = [float(row[name] or 0) for row in before if row[name] is not None]
        every = known + [float(row[name] or 0) for row in after if row[name] is not None]
        unit = math.sqrt(spread([Fraction(x) for x in known])) or 1.0
        beyond = max(every) + ((max(every) - min(every)) or 1.0)
        for points, rows in zip(sides, (before, after), strict=True):
            for point, row in zip(points, rows, strict=True):
                point.append((beyond if row[name] is None else float(row[name] or 0)) / unit)
    return [tuple(p) for p in sides[0]], [tuple(p) for p in sides[1]]


@pytest.mark.parametrize("seed", range(40))
def test_linking_by_distance(seed: int, release: Make) -> None:
    before, after = numbers(seed)
    made = release(columns(after), columns(before), pairing="position")
    real, guesses = standardized(before, after)
    right = []
    for i, guess in enumerate(guesses):
        away = [math.dist(guess, point) for point in real]
        nearer = sum(d < away[i] - 1e-9 for d in away)
        right.append(0.0 if nearer else 1 / sum(d <= away[i] + 1e-9 for d in away))
    assert sf.linkage_distance_risk(made, ROLES).value == close(sum(right) / len(right))


@pytest.mark.parametrize("c", [1.0, 1.5, 2.0, 3.5])
@pytest.mark.parametrize("seed", range(40))
def test_isolation_asks_about_every_real_point(seed: int, c: float, release: Make) -> None:
    """Def. 10 for every real y, not only for the nearest; and of one released point at a time, so that none hides another."""
    before, after = numbers(seed)
    for some in (
        after,
        *([row] for row in after if row["r"] is not None),
    ):  # a column of none but missing is suppressed
        real, guesses = standardized(before, some)
        crowds = []
        for guess in guesses:
            away = [math.dist(guess, point) for point in real]
            crowds.append(min(sum(d <= c * own + 1e-9 for d in away) for own in away))
        assert sf.isolation(c=c)(release(columns(some), columns(before)), ROLES).value == min(crowds)


@pytest.mark.parametrize(
    ("confidence", "uniform", "gaussian"), [(0.5, 1.0, 1.349), (0.95, 1.9, 3.92), (0.999, 1.998, 6.58)]
)
def test_the_privacy_of_uniform_and_gaussian_noise(
    confidence: float, uniform: float, gaussian: float, release: Make
) -> None:
    """Agrawal and Srikant's table, of noise on [-1, 1] and of deviation 1; they print 6.8 where the quantile is 6.58."""
    n = 40_000
    for deviate, wanted in ((lambda u: 2 * u - 1, uniform), (NormalDist().inv_cdf, gaussian)):
        gap = [deviate((i + 0.5) / n) for i in range(n)]
        x = [100.0 * (i % 2) for i in range(n)]
        data = {"q": [a + d for a, d in zip(x, gap, strict=True)], "r": ["x"] * n, "s": ["10"] * n}
        made = release(data, {**data, "q": x}, pairing="position")
        assert 100 * sf.noise_interval(confidence=confidence)(made, ROLES).value == pytest.approx(wanted, rel=2e-3)
    assert 2 * NormalDist().inv_cdf((1 + confidence) / 2) == pytest.approx(gaussian, rel=1e-3)


# --- rules about what a value may tell -----------------------------------------------------------------------------------

DAYS = [datetime.date(2000, 1, 1) + datetime.timedelta(days=i) for i in range(3653)]  # ten whole years
AREAS = ("021", "022", "030", "036", "100", "606", "830", "831", "832")
FEW = {"036", "830", "831"}
Label = tuple[str, Callable[[Any], bool]]
"""A label, and whether it may stand for something."""


def a_date(rng: random.Random) -> Label:
    edges = [day for day in DAYS if (day.month, day.day) in ((1, 1), (12, 31))]
    one, two = sorted(rng.choice(edges if rng.random() < 0.8 else DAYS) for _ in range(2))
    quarter = (one.month + 2) // 3
    return rng.choice(
        [
            (f"{one}", lambda d: d == one),
            (f"{one:%Y-%m}", lambda d: (d.year, d.month) == (one.year, one.month)),
            (f"{one.year}-Q{quarter}", lambda d: d.year == one.year and (d.month + 2) // 3 == quarter),
            (f"{one.year}", lambda d: d.year == one.year),
            ("2000s", lambda d: True),
            (f"[{one.year}, {two.year}]", lambda d: one.year <= d.year <= two.year),
            (f"[{one}, {two}]", lambda d: one <= d <= two),
            (f"[{one},{two})", lambda d: one <= d < two),
            (f"[{one}, {two}[", lambda d: one <= d < two),
            (f"<{one}", lambda d: d < one),
            (f">={one}", lambda d: d >= one),
            (f"<={one}", lambda d: d <= one),
            (f">{one}", lambda d: d > one),
            (f"{{{one}, {two}}}", lambda d: d in (one, two)),
            ("*", lambda d: True),
        ]
    )


def an_age(rng: random.Random) -> Label:
    low = rng.choice((5, 50, 80, 85, 89, 90, 91, 95, 100))
    high = rng.choice([end for end in (60, 90, 95, 101, 120, 130) if end > low])
    tens = rng.choice((1, 8, 9, 10))
    return rng.choice(
        [
            (f"{low}", lambda a: a == low),
            (f"[{low},{high})", lambda a: low <= a < high),
            (f"[{low}, {high}]", lambda a: low <= a <= high),
            (f"({low}, {high}]", lambda a: low < a <= high),
            (f">={low}", lambda a: a >= low),
            (f">{low}", lambda a: a > low),
            (f"{low}+", lambda a: a >= low),
            (f"<{high}", lambda a: a < high),
            (f"{{{low}, {high}}}", lambda a: a in (low, high)),
            (f"{tens}*", lambda a: a // 10 == tens),
            ("*", lambda a: True),
        ]
    )


def a_code(rng: random.Random) -> Label:
    one, two = sorted(rng.choice(AREAS) for _ in range(2))
    code = one + f"{rng.randrange(100):02d}"
    return rng.choice(
        [
            (code, lambda z: z == code),
            (f"{code[:4]}*", lambda z: z[:4] == code[:4]),
            (f"{one}**", lambda z: z[:3] == one),
            (one, lambda z: z[:3] == one),
            (f"{one[:2]}***", lambda z: z[:2] == one[:2]),
            (f"{{{one}**, {two}**}}", lambda z: z[:3] in (one, two)),
            (f"{{{one}00, {two}99}}", lambda z: z in (one + "00", two + "99")),
            (f"[{one}00,{two}99]", lambda z: one + "00" <= z <= two + "99"),
            (f"[{one}00,{code})", lambda z: one + "00" <= z < code),
            ("*", lambda z: True),
        ]
    )


def labels(rng: random.Random, kind: Callable[[random.Random], Label], universe: Sequence[Any]) -> dict[str, set[Any]]:
    """A few labels of a column with all that each may stand for; those that stand for nothing are no labels."""
    drawn = [kind(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    found = {text: {x for x in universe if holds(x)} for text, holds in drawn}
    return {text: inside for text, inside in found.items() if inside}


@pytest.mark.parametrize("seed", range(150))
def test_rules_of_hipaa(seed: int, release: Make) -> None:
    """A label of dates must be made of whole years, one of codes of whole areas that are not all small, and only one label may
    be of none but people above 89: that of all of them."""
    rng = random.Random(seed)
    dates = labels(rng, a_date, DAYS)
    years = [{day for day in DAYS if day.year == year} for year in range(2000, 2010)]
    broken = any(inside & year and not year <= inside for inside in dates.values() for year in years)
    ages = labels(rng, an_age, range(131))
    old = [inside for inside in ages.values() if min(inside) > 89]
    all_old = len(old) == 1 and set(range(90, 120)) <= old[0]
    codes = labels(rng, a_code, [f"{area}{i:02d}" for area in AREAS for i in range(100)])
    finer = any(0 < sum(z[:3] == area for z in inside) < 100 for inside in codes.values() for area in AREAS)
    small = any({z[:3] for z in inside} <= FEW for inside in codes.values())
    wanted = {"admission_date": broken, "age": bool(old) and not all_old, "zip": finer or small}
    for name, column in (("admission_date", dates), ("age", ages), ("zip", codes)):
        if not column:
            continue
        rows = [*column, None] * 2
        found = sf.metric("hipaa_rules")(release({name: rows, "sex": ["f"] * len(rows)}), Roles(quasi=(name,)))
        assert found.value == wanted[name], (seed, name, [*column])
