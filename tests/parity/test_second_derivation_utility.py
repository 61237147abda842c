"""The utility metrics derived a second time: from the papers' definitions, rows as dicts, loops and sets.

Written without a look at the metrics' own tests. Nothing here counts as the package does: a released value is the set of
the values it stands for, a class a list of rows, an entropy a sum over a Counter. What ARX says of Adult stands at the end.
"""

from __future__ import annotations

import csv
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from house import ADULT_QUASI
from sfumato import metrics
from sfumato.core.errors import Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.inspect.queries import given_queries
from sfumato.metrics.utility import igpl as igpl_steps

Row = dict[str, str | None]
QUASI = ("job", "age", "city")
COLUMNS = (*QUASI, "ill")
# a taxonomy with a leaf that no row ever has: what ARX calls the domain is the file
KIND = {"nurse": "care", "doctor": "care", "clerk": "desk", "lawyer": "desk", "pilot": "desk"}
JOBS = Hierarchy.of("job", [(job, kind, "*") for job, kind in KIND.items()])
WEIGHTS = {"job": 3.0, "age": 1.0, "city": 0.5, "ill": 2.0}
PLAIN = Roles(quasi=QUASI, sensitive=("ill",), insensitive=("note",), hierarchies={"job": JOBS})
WEIGHED = Roles(
    quasi=QUASI, sensitive=("ill",), insensitive=("note",), hierarchies={"job": JOBS}, weights=dict(WEIGHTS)
)


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


# --- tables: an original, and a release of some of its rows -------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Row i of the release comes from the original row whose number is `kept[i]`."""

    before: list[Row]
    after: list[Row]
    kept: list[int]

    @property
    def gone(self) -> int:
        return len(self.before) - len(self.after)

    @cached_property
    def release(self) -> Release:
        numbers = [str(i) for i in range(len(self.before))]
        table = {**columns(self.after), "id": [numbers[i] for i in self.kept]}
        return Release(
            table=sf.read(pa.table(table)),
            original=sf.read(pa.table({**columns(self.before), "id": numbers})),
            pairing="key:id",
        )


def columns(rows: Sequence[Row]) -> dict[str, Any]:
    return {name: pa.array([row[name] for row in rows], pa.string()) for name in (*COLUMNS, "note")}


def people(rng: random.Random, most: int = 24) -> list[Row]:
    """Few values, so that they tie; some of them missing."""
    some = rng.sample(["21", "25", "29", "30", "38", "44", None], rng.randint(1, 6))
    return [
        {
            "job": rng.choice(["nurse", "nurse", "doctor", "clerk", "lawyer", None]),
            "age": rng.choice(some),
            "city": rng.choice(["Ulm", "Ulm", "Bonn", "Kiel"]),
            "ill": rng.choice(["flu", "flu", "cold", None]),
            "note": rng.choice(["u", "v"]),
        }
        for _ in range(rng.randint(1, most))
    ]


def coarser(name: str, value: str | None, level: int, there: set[str | None]) -> str | None:
    """A value of the original at a level: 0 is itself, 2 is `*`; missing has no label but `*`. Sets name what is there."""
    if level == 2:
        return "*"
    if level == 0 or value is None:
        return value
    if name == "job":
        return KIND[value]
    if name == "age":
        low = 10 * (int(value) // 10)
        return f"[{low},{low + 10})"
    return "{Bonn, Ulm}" if value != "Kiel" and {"Bonn", "Ulm"} <= there else value


def recoded(rows: Sequence[Row], level: Callable[[str], int]) -> list[Row]:
    there = {name: {row[name] for row in rows} for name in QUASI}
    return [{**row, **{name: coarser(name, row[name], level(name), there[name]) for name in QUASI}} for row in rows]


def drop(case: Case, rng: random.Random) -> Case:
    """The same release with some of its rows gone, perhaps none, never all."""
    kept = sorted(rng.sample(range(len(case.after)), rng.randint(1, len(case.after))))
    return Case(case.before, [case.after[i] for i in kept], [case.kept[i] for i in kept])


def of(before: list[Row], after: list[Row]) -> Case:
    return Case(before, after, list(range(len(before))))


def full_domain(seed: int) -> Case:
    rng = random.Random(seed)
    rows, level = people(rng), {name: rng.randint(0, 2) for name in QUASI}
    return of(rows, recoded(rows, lambda name: level[name]))


def local(seed: int) -> Case:
    """Every cell at a level of its own, so that labels overlap."""
    rng = random.Random(seed)
    rows = people(rng)
    return of(rows, recoded(rows, lambda _: rng.randint(0, 2)))


def suppressed(seed: int) -> Case:
    """Some rows are `*` throughout, some are gone."""
    rng = random.Random(seed)
    case = full_domain(seed)
    stars: Row = dict.fromkeys(QUASI, "*")
    return drop(of(case.before, [{**row, **stars} if rng.random() < 0.3 else row for row in case.after]), rng)


def identity(seed: int) -> Case:
    rows = people(random.Random(seed))
    return of(rows, list(rows))


def all_stars(seed: int) -> Case:
    rows = people(random.Random(seed))
    return of(rows, recoded(rows, lambda _: 2))


def singletons(seed: int) -> Case:
    rows: list[Row] = [{**row, "age": str(20 + i)} for i, row in enumerate(people(random.Random(seed)))]
    return drop(of(rows, list(rows)), random.Random(seed))


def one_value(seed: int) -> Case:
    """A column without a choice: of one city, and of one age, which may be missing; some rows gone."""
    rng = random.Random(seed)
    rows: list[Row] = [{**row, "city": "Ulm", "age": "30" if seed % 2 else None} for row in people(rng)]
    return drop(of(rows, recoded(rows, lambda name: rng.randint(0, 2) if name == "job" else 0)), rng)


def new_numbers(seed: int) -> Case:
    """Ages that were moved, some to numbers which the original does not have."""
    rng = random.Random(seed)
    rows: list[Row] = [{**row, "age": rng.choice(["20", "30", "40"])} for row in people(rng)]
    return of(rows, [{**row, "age": str(int(row["age"] or 0) + rng.choice([0, 0, 5, 10]))} for row in rows])


SHAPES = (full_domain, local, suppressed, identity, all_stars, singletons, one_value)
MORE = [(), *[pytest.mark.full] * 5]  # of the six seeds the quick suite runs the first
CASES = [
    pytest.param(shape(seed), id=f"{shape.__name__}-{seed}", marks=MORE[seed]) for shape in SHAPES for seed in range(6)
]
FEW = [case for case in CASES if "singletons" not in str(case.id)]  # of many values there are too many sets to ask for
MOVED = [pytest.param(new_numbers(seed), id=f"new_numbers-{seed}", marks=MORE[seed]) for seed in range(6)]


# --- what a released value stands for ---------------------------------------------------------------------------------


def domain(name: str, before: Sequence[Row]) -> set[str | None]:
    """The leaves of the taxonomy file where there is one, else the values of the original; missing if it occurs."""
    there = {row[name] for row in before}
    return there | set(KIND) if name == "job" else there


def stands_for(name: str, text: str | None, before: Sequence[Row]) -> set[str | None]:
    whole = domain(name, before)
    if text == "*":
        return whole
    if text is not None and text.startswith("["):
        low, high = (int(part) for part in text[1:-1].split(","))
        return {v for v in whole if v is not None and low <= int(v) < high}
    if text is not None and text.startswith("{"):
        return set(text[1:-1].split(", ")) & whole
    if text in KIND.values():
        return {job for job, kind in KIND.items() if kind == text}
    return {text}


def cells(case: Case, name: str) -> list[tuple[str | None, str | None]]:
    """Each row's original and released value; of a row that is gone nothing is left, which is `*`."""
    released: list[str | None] = ["*"] * len(case.before)
    for i, row in zip(case.kept, case.after, strict=True):
        released[i] = row[name]
    return [(row[name], text) for row, text in zip(case.before, released, strict=True)]


def blocks(rows: Sequence[Row], by: Sequence[str] = QUASI) -> list[list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in by), []).append(row)
    return list(found.values())


def weighted_mean(values: dict[str, float], weights: dict[str, float]) -> float:
    return sum(weights.get(name, 1.0) * value for name, value in values.items()) / sum(
        weights.get(name, 1.0) for name in values
    )


def bits(values: Sequence[Any]) -> float:
    return -sum(n / len(values) * math.log2(n / len(values)) for n in Counter(values).values())


# --- losses: how much of its domain a value leaves open ---------------------------------------------------------------


def lm(case: Case, name: str) -> float:
    """Iyengar's LM of one column: `(M - 1)/(|D| - 1)`, the mean over the original's rows; nothing to lose in one value."""
    size = len(domain(name, case.before))
    if size == 1:
        return 0.0
    left = [Fraction(len(stands_for(name, text, case.before)) - 1, size - 1) for _, text in cells(case, name)]
    return float(sum(left) / len(left))


def arx(case: Case, name: str) -> float:
    """As PEERS states ARX's Loss: `(sum over rows of share - N/dom)/(N - N/dom)`; ARX puts 0 where that is 0/0."""
    dom, rows = len(domain(name, case.before)), len(case.before)
    shares = sum(Fraction(len(stands_for(name, text, case.before)), dom) for _, text in cells(case, name))
    least = Fraction(rows, dom)
    return float((shares - least) / (rows - least)) if dom > 1 else 0.0


def xiao_tao(case: Case, name: str) -> Fraction:
    """`(|v| - 1)/|D_A|`, summed over the rows."""
    size = len(domain(name, case.before))
    return sum(
        (Fraction(len(stands_for(name, text, case.before)) - 1, size) for _, text in cells(case, name)), Fraction()
    )


@pytest.mark.parametrize("case", CASES)
def test_granularity(case: Case) -> None:
    losses = {name: lm(case, name) for name in QUASI}
    for roles, weights in ((PLAIN, {}), (WEIGHED, WEIGHTS)):
        score = sf.granularity(case.release, roles)
        assert score.details["columns"] == close(losses)
        assert score.value == close(weighted_mean(losses, weights))


@pytest.mark.parametrize("case", CASES)
def test_publisher_payout(case: Case) -> None:
    """Row by row: one who is attacked is found with one in as many as look alike, where that many times the cost stays below the gain."""
    lost = weighted_mean({name: lm(case, name) for name in QUASI}, {})
    for gain in (8, 40, 300):
        found = sum(1 / len(block) for block in blocks(case.after) for _ in block if len(block) * 4 < gain)
        wanted = 1200 * (1 - lost) - 300 * found / len(case.before)
        assert sf.publisher_payout(gain=gain)(case.release, PLAIN).value == close(wanted)


@pytest.mark.parametrize("case", CASES)
def test_arx_loss(case: Case) -> None:
    losses = [arx(case, name) for name in QUASI]
    release = case.release
    assert metrics.metric("arx_loss[arithmetic]")(release, WEIGHED).value == close(sum(losses) / 3)
    geometric = metrics.metric("arx_loss[geometric]")(release, WEIGHED)
    assert geometric.value == close(math.prod(1 + loss for loss in losses) ** (1 / 3) - 1)
    assert list(geometric.details["columns"].values()) == close(losses)


@pytest.mark.parametrize("case", CASES)
def test_iloss(case: Case) -> None:
    lost = {name: xiao_tao(case, name) for name in QUASI}
    for roles, weights in ((PLAIN, {}), (WEIGHED, WEIGHTS)):
        score = sf.iloss(case.release, roles)
        assert score.value == close(
            weighted_mean({name: float(x / len(case.before)) for name, x in lost.items()}, weights)
        )
        assert score.details["total"] == close(sum(weights.get(name, 1.0) * float(x) for name, x in lost.items()))


@pytest.mark.parametrize("case", CASES)
def test_minimal_distortion(case: Case) -> None:
    """A penalty for each value that was changed with respect to the original; where a row is gone all of them were."""
    changed = [
        i not in case.kept or before != after for name in QUASI for i, (before, after) in enumerate(cells(case, name))
    ]
    assert sf.minimal_distortion(case.release, PLAIN).value == close(sum(changed) / len(changed))


def gionis_tassa(case: Case, name: str) -> float:
    """`-log2 p(original | released)` summed over the rows, p among the rows that are released alike."""
    both = cells(case, name)
    alike, pair = Counter(text for _, text in both), Counter(both)
    return sum(math.log2(alike[text] / pair[value, text]) for value, text in both)


@pytest.mark.parametrize("case", CASES)
def test_non_uniform_entropy(case: Case) -> None:
    open_bits = {name: gionis_tassa(case, name) for name in QUASI}
    most = {name: len(case.before) * bits([row[name] for row in case.before]) for name in QUASI}
    for roles, weights in ((PLAIN, {}), (WEIGHED, WEIGHTS)):
        score = sf.non_uniform_entropy(case.release, roles)
        all_bits = sum(weights.get(name, 1.0) * most[name] for name in QUASI)
        lost = sum(weights.get(name, 1.0) * open_bits[name] for name in QUASI)
        assert score.value == close(lost / all_bits if all_bits else 0.0)
        assert score.details["columns"] == close(open_bits)


@pytest.mark.parametrize("case", CASES)
def test_overlapping_labels(case: Case) -> None:
    """Of every two labels of a column, whether some value lies under both; a label of the whole column tells nothing."""
    shares = []
    for name in QUASI:
        labels = [row[name] for row in case.after]
        domain = {row[name] for row in case.before}
        under = {label: set(stands_for(name, label, case.before)) for label in set(labels)}
        tells = {label: values for label, values in under.items() if len(values) < len(domain)}
        torn = {one for one, a in tells.items() for other, b in tells.items() if one != other and a & b}
        shares.append(sum(label in torn for label in labels) / len(labels))
    assert sf.overlapping_labels(case.release, PLAIN).value == close(max(shares))


# --- class sizes and labels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_class_sizes(case: Case) -> None:
    rows, release = case.after, case.release
    assert sf.average_class_size(release, PLAIN).value == close(len(rows) / len(blocks(rows)))
    # Bayardo and Agrawal: a row costs as many rows as look like it, a row that is suppressed all of them
    alike = sum(all(a[q] == b[q] for q in QUASI) for a in rows for b in rows)
    assert sf.discernibility(release, PLAIN).value == alike + case.gone * len(case.before)
    published = Release(table=release.table)
    assert sf.discernibility(published, PLAIN).value == alike


@pytest.mark.parametrize("case", CASES)
def test_classification_metric(case: Case) -> None:
    """Iyengar's penalty, row by row: suppressed, or not of the majority label; of labels that tie one is the majority."""
    penalty = case.gone
    for block in blocks(case.after):
        labels = [row["ill"] for row in block]
        majority = max(set(labels), key=lambda label: (labels.count(label), label or ""))
        penalty += sum(label != majority for label in labels)
    score = sf.classification_metric(case.release, PLAIN)
    assert score.value == close(penalty / len(case.before))
    assert score.details["removed_rows"] == case.gone


def told(rows: Sequence[Row], by: Sequence[str] = QUASI) -> float:
    """I(W;C) as H(W) + H(C) - H(W,C)."""
    w, c = [row["ill"] for row in rows], [tuple(row[name] for name in by) for row in rows]
    return max(bits(w) + bits(c) - bits(list(zip(w, c, strict=True))), 0.0)


@pytest.mark.parametrize("case", CASES)
def test_information(case: Case) -> None:
    smallest = min(len(block) for block in blocks(case.after))
    score = sf.igpl(case.release, PLAIN)
    assert score.value == close(told(case.after) / (len(case.after) - smallest + 1))
    before = told(case.before)
    if before < 1e-12:
        with pytest.raises(Unavailable, match="nothing to lose"):
            sf.information_loss(case.release, PLAIN)
    else:
        assert sf.information_loss(case.release, PLAIN).value == close(1 - told(case.after) / before)


@pytest.mark.parametrize("seed", range(8))
def test_igpl_of_a_step(seed: int) -> None:
    """One specialization: what it tells more, by what the smallest class loses and one (Fung et al.)."""
    rows = people(random.Random(seed))
    coarse = of(rows, recoded(rows, lambda name: 1 if name == "job" else 2))
    fine = of(rows, recoded(rows, lambda name: 0 if name == "job" else 2))
    sides = [case.release.evidence(PLAIN).classes("ill") for case in (coarse, fine)]
    least = [min(len(block) for block in blocks(case.after)) for case in (coarse, fine)]
    gain = told(fine.after) - told(coarse.after)
    assert igpl_steps.step(*sides) == close(gain / (least[0] - least[1] + 1))


# --- entropy: what columns say of one another -------------------------------------------------------------------------


def u_max(rows: Sequence[Row], name: str) -> float:
    """`Hmax(A) - H(A | all others)`: the mean over the others' values of the entropy that is left in A."""
    others = [other for other in COLUMNS if other != name]
    left = sum(len(block) / len(rows) * bits([row[name] for row in block]) for block in blocks(rows, others))
    return math.log2(len({row[name] for row in rows})) - left


@pytest.mark.parametrize("case", CASES)
def test_entropy_utility(case: Case) -> None:
    after, before = ({name: u_max(rows, name) for name in COLUMNS} for rows in (case.after, case.before))
    lost = {name: before[name] - after[name] for name in COLUMNS}
    for roles, weights in ((PLAIN, {}), (WEIGHED, WEIGHTS)):
        score = sf.entropy_utility(case.release, roles)
        assert score.details["columns"] == close(after)
        assert score.value == close(weighted_mean(after, weights))
        assert sf.utility_degradation(case.release, roles).value == close(weighted_mean(lost, weights))


# --- distributions: every released value spread evenly over what it stands for ----------------------------------------

Place = tuple[Any, ...]


def mass(case: Case, names: Sequence[str]) -> tuple[dict[Place, Fraction], dict[Place, Fraction]]:
    """The distribution of some columns together in the original, and in the release by the even spread."""
    p: dict[Place, Fraction] = {}
    for row in case.before:
        at = tuple(row[name] for name in names)
        p[at] = p.get(at, Fraction()) + Fraction(1, len(case.before))
    q: dict[Place, Fraction] = {}
    for row in case.after:
        sets = [sorted(stands_for(name, row[name], case.before), key=str) for name in names]
        for at in itertools.product(*sets):
            q[at] = q.get(at, Fraction()) + Fraction(1, len(case.after) * math.prod(map(len, sets)))
    return p, q


def variation(p: dict[Place, Fraction], q: dict[Place, Fraction]) -> float:
    return float(sum(abs(p.get(at, Fraction()) - q.get(at, Fraction())) for at in {*p, *q}) / 2)


@pytest.mark.parametrize("case", CASES + MOVED)
def test_column_distance(case: Case) -> None:
    names = (*COLUMNS, "note")
    far = {name: variation(*mass(case, [name])) for name in names}
    score = sf.column_distance(case.release, PLAIN)
    assert score.details["columns"] == close(far)
    assert score.value == close(max(far.values()))
    assert score.details["mean"] == close(sum(far.values()) / len(names))


@pytest.mark.parametrize("case", CASES + MOVED)
def test_pair_distance(case: Case) -> None:
    far = {" x ".join(names): variation(*mass(case, names)) for names in itertools.combinations(COLUMNS, 2)}
    score = sf.pair_distance(case.release, PLAIN)
    assert score.details["pairs"] == close(far)
    assert score.value == close(max(far.values()))
    assert score.details["mean"] == close(sum(far.values()) / len(far))


def expected(case: Case, row: Row, asked: dict[str, set[str | None]]) -> float:
    """The rows that a released row lets one expect: for each column the share of what it stands for that is asked for."""
    share = 1.0
    for name, wanted in asked.items():
        there = stands_for(name, row[name], case.before)
        share *= len(there & wanted) / len(there)
    return share


def relative_error(case: Case, asked: dict[str, set[str | None]], sanity: float) -> float:
    actual = sum(all(row[name] in wanted for name, wanted in asked.items()) for row in case.before)
    estimate = sum(expected(case, row, asked) for row in case.after)
    return abs(estimate - actual) / max(actual, sanity * len(case.before), 1.0)


@pytest.mark.parametrize("case", FEW + MOVED)
def test_query_error_over_all_queries(case: Case) -> None:
    """The mean over every query there is: all pairs of columns, all sets of `ceil(|A| 0.2^(1/2))` values of each.

    The metric draws such queries; that many must come near the mean of all, as its own interval says (four times as wide:
    one in 10,000 at most lies beyond, and the draws are fixed).
    """
    errors = []
    for names in itertools.combinations(COLUMNS, 2):
        values = [sorted({row[name] for row in case.before}, key=str) for name in names]
        sets = [itertools.combinations(v, math.ceil(len(v) * 0.2**0.5 - 1e-9)) for v in values]
        few = [
            relative_error(case, dict(zip(names, map(set, chosen), strict=True)), 0.05)
            for chosen in itertools.product(*sets)
        ]
        errors.append(sum(few) / len(few))
    truth = sum(errors) / len(errors)
    score = metrics.metric("query_error[sets,queries=4000,columns=2,selectivity=0.2,sanity=0.05]")(case.release, PLAIN)
    assert score.ci is not None
    assert abs(score.value - truth) <= 4 / 1.96 * (score.ci[1] - score.value) + 1e-9


@pytest.mark.parametrize("case", CASES)
def test_given_queries(case: Case) -> None:
    rng = random.Random(len(case.before))
    queries: list[dict[str, Any]] = []
    for _ in range(6):
        names = rng.sample(COLUMNS, rng.randint(1, 4))
        there = {name: sorted({row[name] for row in case.before}, key=str) for name in names}
        queries.append({name: rng.sample(v, rng.randint(1, len(v))) for name, v in there.items()})
    found = given_queries(case.release, PLAIN, queries, sanity=0.1)
    assert found.error.tolist() == close(
        [relative_error(case, {name: set(v) for name, v in query.items()}, 0.1) for query in queries]
    )


# --- ARX on Adult -----------------------------------------------------------------------------------------------------

# ARX 3.9.2 (its repository at aacd487, OpenJDK 17) on Adult's 30,162 rows with the hierarchies beside it: `anonymize` with
# OPTIMAL search and createLossMetric(ARITHMETIC_MEAN | GEOMETRIC_MEAN); occupation is sensitive. Each entry: what was asked,
# the levels of the optimum in the order of EIGHT, the rows that ARX suppressed, both losses, and the loss of each column
# (ARX cuts that one off after ten digits). The optimum was the same for both means.
ARX: dict[str, tuple[tuple[int, ...], int, float, float, tuple[float, ...]]] = {
    "k=5, none": (
        (0, 4, 1, 2, 3, 2, 0, 0),
        0,
        0.625,
        0.542210825407941,
        (0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0),
    ),
    "k=5, 5%": (
        (0, 3, 0, 0, 2, 1, 1, 0),
        1346,
        0.1783389956,
        0.17012279194738156,
        (
            0.0446256879,
            0.2279803539,
            0.0446256879,
            0.0446256879,
            0.3961872554,
            0.3064518268,
            0.3175897771,
            0.0446256879,
        ),
    ),
    "k=5 l=3, 5%": (
        (0, 3, 0, 0, 2, 1, 1, 0),
        1400,
        0.1798769039,
        0.17170218121750636,
        (
            0.0464160201,
            0.2294270869,
            0.0464160201,
            0.0464160201,
            0.3973056605,
            0.3077498176,
            0.3188685858,
            0.0464160201,
        ),
    ),
    "k=5 t=0.2, none": (
        (1, 4, 1, 1, 3, 2, 2, 1),
        0,
        0.9291451163625,
        0.9183953641009659,
        (1.0, 1.0, 1.0, 0.4331609309, 1.0, 1.0, 1.0, 1.0),
    ),
    "k=5 t=0.2, 5%": (
        (1, 4, 1, 1, 3, 1, 2, 1),
        235,
        0.8396944347625,
        0.8150031862123897,
        (1.0, 1.0, 1.0, 0.4374323099, 1.0, 0.2801231682, 1.0, 1.0),
    ),
}
# What the same program's other quality models say at two of these nodes: createDiscernabilityMetric(false), createAECSMetric()
# and createEntropyMetric(false, SUM), bits by column. Its entropy counts a suppressed row as generalized first, among all
# rows, and then suppressed, so only columns that were not generalized (here) or rows that stay (there) are comparable. Its
# classification metric is another one: there a suppressed row costs a half, and every row of a class whose labels tie costs one.
OTHERS: dict[str, tuple[int, float, dict[str, float]]] = {
    "k=5, none": (
        180946394,
        1160.076923076923,
        {
            "sex": 0.0,
            "age": 170257.8596997991,
            "race": 23375.0352725208,
            "marital-status": 54887.1167171445,
            "education": 87870.4227341272,
            "native-country": 25086.8680139638,
            "workclass": 0.0,
            "salary-class": 0.0,
        },
    ),
    "k=5, 5%": (
        59199546,
        75.78391959798995,
        {
            "sex": 1344.8657736894,
            "race": 2761.8812871996,
            "marital-status": 3437.6818797331,
            "salary-class": 1164.9552135052,
        },
    ),
}


@pytest.fixture(scope="module")
def folder(adult: object) -> Path:
    """Where Adult is; skips where it is not."""
    return Path(__file__).resolve().parents[3] / "shared" / "data" / "adult"


@pytest.fixture(scope="module")
def arx_roles(folder: Path) -> Roles:
    return Roles(
        quasi=ADULT_QUASI,
        sensitive=("occupation",),
        hierarchies={q: f"hierarchy_{q}.csv" for q in ADULT_QUASI},
        folder=folder,
    )


def as_arx(folder: Path, asked: str, *, stars: bool) -> Release:
    """ARX's optimum, made here from its levels alone: classes that fail are suppressed, as rows of stars or rows gone.

    t is measured against the whole input, as ARX does it.
    """
    with (folder / "adult_30162.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    becomes: dict[str, dict[str, str]] = {}
    for name, level in zip(ADULT_QUASI, ARX[asked][0], strict=True):
        with (folder / f"hierarchy_{name}.csv").open(encoding="utf-8", newline="") as file:
            becomes[name] = {line[0]: line[level] for line in csv.reader(file, delimiter=";")}
    tuples = [tuple(becomes[name][row[name]] for name in ADULT_QUASI) for row in rows]
    classes: dict[tuple[str, ...], Counter[str]] = {}
    for key, row in zip(tuples, rows, strict=True):
        classes.setdefault(key, Counter())[row["occupation"]] += 1
    table = Counter(row["occupation"] for row in rows)

    def good(jobs: Counter[str]) -> bool:
        size = sum(jobs.values())
        far = sum(abs(jobs[job] / size - n / len(rows)) for job, n in table.items()) / 2
        return size >= 5 and ("l=3" not in asked or len(jobs) >= 3) and ("t=0.2" not in asked or far <= 0.2)

    stay = {key for key, jobs in classes.items() if good(jobs)}
    assert sum(key not in stay for key in tuples) == ARX[asked][1]
    star = ("*",) * len(ADULT_QUASI)
    out = [
        (*(key if key in stay else star), row["occupation"], str(i))
        for i, (key, row) in enumerate(zip(tuples, rows, strict=True))
        if stars or key in stay
    ]
    names = (*ADULT_QUASI, "occupation", "id")
    original = {name: [row[name] for row in rows] for name in (*ADULT_QUASI, "occupation")}
    return Release(
        table=sf.read(pa.table(dict(zip(names, zip(*out, strict=True), strict=True)))),
        original=sf.read(pa.table({**original, "id": [str(i) for i in range(len(rows))]})),
        pairing="key:id",
    )


@pytest.mark.full
@pytest.mark.parametrize("stars", [False, True], ids=["gone", "stars"])
@pytest.mark.parametrize("asked", ARX)
def test_arx_loss_of_its_own_optimum(folder: Path, arx_roles: Roles, asked: str, stars: bool) -> None:
    _, _, arithmetic, geometric, by_column = ARX[asked]
    release = as_arx(folder, asked, stars=stars)
    cut = {"rel": 0.0, "abs": 1.1e-10}  # the tenth digit is cut off, not rounded
    for aggregate, loss in (("arithmetic", arithmetic), ("geometric", geometric)):
        score = metrics.metric(f"arx_loss[{aggregate}]")(release, arx_roles)
        assert score.value == pytest.approx(loss, **cut)
        assert list(score.details["columns"].values()) == pytest.approx(list(by_column), **cut)


@pytest.mark.full
@pytest.mark.parametrize("asked", OTHERS)
def test_other_measures_of_arx(folder: Path, arx_roles: Roles, asked: str) -> None:
    gone, stars = (as_arx(folder, asked, stars=stars) for stars in (False, True))
    pairs, size, open_bits = OTHERS[asked]
    assert sf.discernibility(gone, arx_roles).value == pairs
    # ARX counts what is suppressed as a class, and so do we where it is released as rows of stars
    assert sf.average_class_size(stars, arx_roles).value == close(size)
    for release in (gone, stars):
        found = sf.non_uniform_entropy(release, arx_roles).details["columns"]
        assert {name: found[name] for name in open_bits} == pytest.approx(open_bits, rel=0, abs=1e-8)


@pytest.mark.parametrize("stars", [False, True], ids=["gone", "stars"])
def test_arx_loss_of_a_column_of_one_value(stars: bool) -> None:
    """ARX 3.9.2 on these five rows, k = 2, up to half suppressed, levels 0 and 0: losses 0.4 and 0, 0.2 in the mean.

    The second column's domain is one value, so ARX's formula is 0/0 there, and ARX puts 0 whatever is suppressed.
    """
    kinds = Hierarchy.of("a", [("x", "u", "*"), ("y", "u", "*"), ("z", "v", "*"), ("w", "v", "*")])
    roles = Roles(quasi=("a", "b"), hierarchies={"a": kinds, "b": Hierarchy.of("b", [("one", "*")])})
    after = {"a": ["x", "x", "x"] + ["*"] * 2 * stars, "b": ["one"] * 3 + ["*"] * 2 * stars}
    release = Release(
        table=sf.read(pa.table(after)), original=sf.read(pa.table({"a": list("xxxyz"), "b": ["one"] * 5}))
    )
    arithmetic, geometric = (
        metrics.metric(f"arx_loss[{aggregate}]")(release, roles) for aggregate in ("arithmetic", "geometric")
    )
    assert arithmetic.details["columns"] == close({"a": 0.4, "b": 0.0})
    assert arithmetic.value == close(0.2)
    assert geometric.value == close(0.18321595661992318)


# --- nothing left out -------------------------------------------------------------------------------------------------


def test_every_utility_metric_is_derived_here() -> None:
    derived = {
        "arx_loss",
        "average_class_size",
        "classification_metric",
        "column_distance",
        "discernibility",
        "entropy_utility",
        "granularity",
        "igpl",
        "iloss",
        "information_loss",
        "minimal_distortion",
        "non_uniform_entropy",
        "overlapping_labels",
        "pair_distance",
        "publisher_payout",
        "query_error",
        "utility_degradation",
    }
    here = {name for name, m in metrics.registry().items() if m.kernel.__module__.startswith("sfumato.metrics.utility")}
    assert here == derived
