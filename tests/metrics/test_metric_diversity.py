"""The l-diversities: recursive, with don't-care sets, over several sensitive columns, and p-sensitive k."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import Make, exactly, rows
from sfumato.core.classes import Classes, Sensitive
from sfumato.core.column import encode
from sfumato.core.errors import RequirementError, Unavailable
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("q",), sensitive=("s",))


def one(values: str) -> dict[str, list[str]]:
    return rows(a=values)


def random_classes(seed: int, classes: int = 8, values: int = 6) -> tuple[Classes, np.ndarray]:
    """Some classes over the values a, b, c, ...; every class and value occurs, many entries are 0."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 9, (classes, values)) * (rng.random((classes, values)) < 0.5)
    counts[np.arange(classes), rng.integers(0, values, classes)] += 1
    counts[rng.integers(0, classes, values), np.arange(values)] += 1
    column, _ = encode("s", pa.array([chr(97 + i) for i in range(values)]))
    member, value = np.nonzero(counts)
    attribute = Sensitive(column, counts.sum(0))
    return (
        Classes.of(member, counts[member, value], count=classes, value=value, sensitive=attribute),
        counts,
    )


def merged(classes: Classes, into: np.ndarray) -> Classes:
    assert classes.sensitive is not None
    return Classes.of(
        into[classes.member], classes.n, count=int(into.max()) + 1, value=classes.value, sensitive=classes.sensitive
    )


SETS = [frozenset(chosen) for size in range(7) for chosen in itertools.combinations("abcdef", size)][::3]


# --- recursive -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3, 5, 13])
def test_m_equally_frequent_values(release: Make, m: int) -> None:
    published = release(one("abcdefghijklm"[:m] * 4))
    for l in range(2, m + 1):
        assert sf.recursive_diversity(l=l)(published, ROLES).value == exactly(1 / (m - l + 1))
    assert sf.recursive_diversity(l=m + 1)(published, ROLES).value == math.inf


def test_fewer_values_than_l_and_classes_of_one(release: Make) -> None:
    assert sf.recursive_diversity(release(rows(a="xy", b="x")), ROLES).value == math.inf
    assert sf.recursive_diversity(release(one("xxxx")), ROLES).value == math.inf
    score = sf.recursive_diversity(l=3)(release(rows(a="xxy", b="xyz", c="x")), ROLES)
    assert score.per_class.tolist() == [math.inf, 1, math.inf]
    assert not sf.require("recursive_diversity[l=3] <= 1e300").check(release(one("xxy")), ROLES).met


def test_frequencies_are_taken_in_descending_order(release: Make) -> None:
    """pyCANON sorts them ascending; the survey's formula sums from 1 to l. For (5,4,1), both give other numbers."""
    published = release(one("cccccHHHHf"))
    assert sf.recursive_diversity(l=2)(published, ROLES).value == 1
    assert sf.recursive_diversity(l=3)(published, ROLES).value == 5


def test_the_survey_s_examples(release: Make, golden: dict[str, Any]) -> None:
    table, block = golden["manta"]["table_3_12_recursive"], golden["manta"]["block_5_4_1_recursive"]
    published = release(rows(professional="eeHH", artist="HHHeef"))
    score = sf.recursive_diversity(l=table["l"])(published, ROLES)
    assert score.per_class.tolist() == [1, 1]
    assert (score.value < table["c"]) is table["holds"]
    assert sf.require("recursive_diversity <= 1.1").check(published, ROLES).met is table["holds"]
    limit = sf.require(f"recursive_diversity[l={block['l']}] <= {block['c']}")
    assert limit.check(release(one("cccccHHHHf")), ROLES).met is block["holds"]


def test_the_definition_is_strict_and_the_value_is_its_boundary(release: Make) -> None:
    """f_1 < c tail exactly if the value is below c: at c = 1 the table 3.12 is not (1,2)-diverse, just above it is."""
    counts = (4, 3, 2, 2)
    value = sf.recursive_diversity(l=3)(release(one("aaaabbbccdd")), ROLES).value
    assert value == 1
    for c in (0.9, 0.999999, 1.0, 1.000001, 2.0):
        assert (counts[0] < c * sum(counts[2:])) == (value < c)


def strictly_diverse(frequencies: list[tuple[int, bool]], c: float, l: int) -> bool:
    """The paper's definition with a don't-care set, case by case, y counted from 1."""
    frequencies = sorted(frequencies, key=lambda pair: -pair[0])
    r = [n for n, _ in frequencies]
    y = next((i for i, (_, care) in enumerate(frequencies, 1) if care), None)
    if y is None:
        return True
    if y <= l - 1:
        return r[y - 1] < c * sum(r[l - 1 :])
    return r[y - 1] < c * (sum(r[l - 2 : y - 1]) + sum(r[y:]))


@pytest.mark.parametrize("l", [2, 3, 4, 5])
@pytest.mark.parametrize("dont_care", [frozenset(), frozenset("a"), frozenset("bde"), frozenset("abcdef")], ids=sorted)
def test_recursive_is_the_paper_s_definition(l: int, dont_care: frozenset[str]) -> None:
    for seed in range(10):
        classes, counts = random_classes(seed)
        found = sf.recursive_diversity(l=l, dont_care=dont_care).per_class(classes)
        for ratio, row in zip(found, counts, strict=True):
            frequencies = [(int(n), chr(97 + i) not in dont_care) for i, n in enumerate(row) if n]
            for c in {0.1, 0.5, 1.0, 1.5, 3.0, 10.0, 1e6, *({ratio * 0.99, ratio * 1.01} if 0 < ratio < 99 else ())}:
                assert strictly_diverse(frequencies, c, l) == (ratio < c)


# --- don't-care sets -------------------------------------------------------------------------------------------------

KINDS = ["distinct_l_diversity", "entropy_l_diversity", "recursive_diversity", "recursive_diversity[l=3]"]


def worse(metric: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where b is worse than a, rounding aside."""
    return b < a - 1e-9 if metric.card.better == "higher" else b > a + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_of_none_but_dont_care_values_is_no_breach(release: Make, kind: str) -> None:
    metric = sf.metric(kind).set(dont_care="f|g")
    published = release(rows(a="ffff", b="f", c="ffg"))
    score = metric(published, ROLES)
    assert score.value == (math.inf if metric.card.better == "higher" else 0)
    assert (metric.at_least(1000) if metric.card.better == "higher" else metric.at_most(0)).check(published, ROLES).met
    assert metric.sentence(score.value) == "No class contains a sensitive value that must not be learned."
    assert metric(release(rows(a="ffff", b="H")), ROLES).value == (1 if metric.card.better == "higher" else math.inf)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_one_more_dont_care_value_is_never_worse(kind: str, seed: int) -> None:
    classes, _ = random_classes(seed)
    metric = sf.metric(kind)
    plain = metric.per_class(classes)
    for some in SETS:
        before = metric.set(dont_care=some).per_class(classes)
        assert not worse(metric, plain, before).any()
        for value in "abcdef":
            after = metric.set(dont_care=some | {value}).per_class(classes)
            assert not worse(metric, before, after).any(), (sorted(some), value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_merging_is_never_worse_with_dont_care_values(kind: str, seed: int) -> None:
    classes, _ = random_classes(seed, classes=12)
    into = np.random.default_rng(seed).permutation(np.repeat(np.arange(6), 2))
    for some in SETS:
        metric = sf.metric(kind).set(dont_care=some)
        fine, coarse = metric.per_class(classes), metric.per_class(merged(classes, into))
        parts = [fine[into == c] for c in range(6)]
        worst = np.array([min(part) if metric.card.better == "higher" else max(part) for part in parts])
        assert not worse(metric, worst, coarse).any()


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_no_row_has_and_the_missing_value_are_cared_for(release: Make, kind: str) -> None:
    metric = sf.metric(kind)
    published = release({"q": ["a"] * 6, "s": ["x", "x", "y", None, None, "z"]})
    assert metric.set(dont_care="nobody|None")(published, ROLES).value == exactly(metric(published, ROLES).value)
    alone = release({"q": ["a", "a", "b"], "s": ["x", "y", None]})
    assert metric.set(dont_care="x|y")(alone, ROLES).value == (1 if metric.card.better == "higher" else math.inf)


def test_dont_care_of_numbers_goes_by_their_spelling(release: Make) -> None:
    published = release({"q": ["a", "a", "b"], "s": [1.0, 1.0, 2.5]})
    assert sf.distinct_l_diversity(dont_care="1")(published, ROLES).per_class.tolist() == [math.inf, 1]
    assert sf.distinct_l_diversity(dont_care="2.5")(published, ROLES).per_class.tolist() == [1, math.inf]


def test_dont_care_is_written_and_read_back() -> None:
    metric = sf.metric("recursive_diversity[l=3,dont_care=flu|cold](s)")
    assert str(metric) == "recursive_diversity[l=3,dont_care=cold|flu](s)"
    assert sf.entropy_l_diversity(dont_care=()) == sf.entropy_l_diversity
    for l in (1, 2.5, 0):
        with pytest.raises(RequirementError):
            sf.recursive_diversity(l=l)


@pytest.mark.parametrize(
    ("values", "dont_care", "l"),
    [
        ("fH", "f", 2),  # a harmless value hides another as before
        ("f" * 99 + "H", "f", 2),  # and if common does not spoil the class
        ("f" * 99 + "Hc", "f", 3),
        ("f" * 50 + "g" * 70 + "HHcc", "f|g", 4),
        ("f" + "H" * 99, "f", 100 / 2 ** (99 / 100 * math.log2(99))),  # if rare it hides little
        ("HHHHcc", "f", 6 / 2 ** ((4 * 2 + 2) / 6)),
    ],
)
def test_entropy_with_dont_care_values_by_hand(release: Make, values: str, dont_care: str, l: float) -> None:
    assert sf.entropy_l_diversity(dont_care=dont_care)(release(one(values)), ROLES).value == pytest.approx(l, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_entropy_with_dont_care_values_is_the_maximum_over_what_is_left_out(seed: int) -> None:
    classes, counts = random_classes(seed, classes=4)
    for some in (frozenset("a"), frozenset("bc"), frozenset("acef")):
        found = sf.entropy_l_diversity(dont_care=some).per_class(classes)
        free = np.array([chr(97 + i) in some for i in range(counts.shape[1])])
        for l, row in zip(found, counts, strict=True):
            if not row[~free].sum():
                assert l == math.inf
                continue
            best = 0.0
            for kept in itertools.product(*(range(n + 1) for n in row[free].tolist())):
                n = np.append(np.array(kept, dtype=float), row[~free])
                p = n[n > 0] / n.sum()
                best = max(best, 2 ** float(-(p * np.log2(p)).sum()))
            assert l == pytest.approx(best, rel=1e-12)


# --- several sensitive columns ---------------------------------------------------------------------------------------

TWO = Roles(quasi=("q",), sensitive=("s", "t"))


def pairs(**classes: str) -> dict[str, list[str]]:
    """`pairs(a="xu yv")`: class a holds the rows (x, u) and (y, v)."""
    found = [(c, pair) for c, text in classes.items() for pair in text.split()]
    return {"q": [c for c, _ in found], "s": [pair[0] for _, pair in found], "t": [pair[1] for _, pair in found]}


def test_multi_attribute_extremes(release: Make) -> None:
    product = release(pairs(a="xu xv xw yu yv yw", b="xu xv xw yu yv yw yw"))
    assert sf.multi_attribute_l_diversity(product, TWO).value == 2
    assert sf.multi_attribute_l_diversity(product, TWO).details["column"] == "s"
    assert sf.multi_attribute_l_diversity.on("t")(product, TWO).value == 3
    entropy = sf.multi_attribute_l_diversity(kind="entropy").on("t")(product, TWO)
    assert entropy.value == exactly(2**1.5)  # 1, 1 and 2 rows, where s is y in class b
    diagonal = release(pairs(a="xu yv zw", b="xu yv zw"))
    assert sf.distinct_l_diversity(diagonal, TWO).value == 3
    assert sf.multi_attribute_l_diversity(diagonal, TWO).value == 1  # who knows one value knows the other


def test_multi_attribute_is_the_worst_part_of_each_class(release: Make) -> None:
    published = release(pairs(a="xu yu xv yv", b="xu yu zu xv", c="xu"))
    score = sf.multi_attribute_l_diversity.on("s")(published, TWO)
    assert score.per_class.tolist() == [2, 1, 1]
    assert score.details == {"parts": 5, "worst_parts": 2, "worst_rows": 2, "column": "s"}


def test_multi_attribute_takes_missing_as_a_value_on_either_side(release: Make) -> None:
    published = release({"q": ["a"] * 4, "s": ["x", None, "x", None], "t": ["u", "u", None, None]})
    assert sf.multi_attribute_l_diversity(published, TWO).value == 2


@pytest.mark.parametrize("kind", ["distinct", "entropy"])
def test_multi_attribute_is_l_diversity_with_the_others_as_quasi_identifiers(release: Make, kind: str) -> None:
    rng = np.random.default_rng(4)
    columns = {name: rng.integers(0, m, 300).astype(str) for name, m in (("q", 3), ("s", 4), ("t", 2), ("u", 2))}
    published = release(columns)
    three = Roles(quasi=("q",), sensitive=("s", "t", "u"))
    plain = sf.metric(f"{kind}_l_diversity")
    expected = [
        plain(published, Roles(quasi=("q", *(n for n in "stu" if n != name)), sensitive=(name,))).value
        for name in "stu"
    ]
    assert sf.multi_attribute_l_diversity(kind=kind)(published, three).value == min(expected)


def test_multi_attribute_needs_two_sensitive_columns(release: Make, refusal: Callable[..., str]) -> None:
    published = release(pairs(a="xu yv"))
    refusal(Unavailable, lambda: sf.multi_attribute_l_diversity(published, ROLES), "two sensitive columns")
    assert sf.multi_attribute_l_diversity.on("t")(published, ROLES).value == 1
    refusal(Unavailable, lambda: sf.multi_attribute_l_diversity.on("q")(published, TWO), "'q' is a quasi-identifier")
    with pytest.raises(sf.SfumatoError, match="no column 'v'"):
        sf.multi_attribute_l_diversity.on("s")(published, Roles(quasi=("q",), sensitive=("s", "v")))


# --- p-sensitive k ---------------------------------------------------------------------------------------------------


def test_p_sensitive_k_is_both_conditions(release: Make) -> None:
    published = release(rows(a="xxyz", b="xyy", c="xxxx"))
    for k in range(1, 7):
        score = sf.p_sensitive_k_anonymity(k=k)(published, ROLES)
        assert score.per_class.tolist() == [3 if k <= 4 else 0, 2 if k <= 3 else 0, 1 if k <= 4 else 0]
        for p in range(1, 4):
            both = [sf.require(f"k_anonymity >= {k}"), sf.require(f"distinct_l_diversity >= {p}")]
            met = all(requirement.check(published, ROLES).met for requirement in both)
            assert sf.require(f"p_sensitive_k_anonymity[k={k}] >= {p}").check(published, ROLES).met is met


def test_a_sanitizer_honours_it(release: Make, table: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    source = table({"q": rng.integers(0, 60, 400), "s": rng.choice(list("vwxyz"), 400)})
    for text in (
        "recursive_diversity[l=3] <= 2",
        "p_sensitive_k_anonymity[k=9] >= 3",
        "entropy_l_diversity[dont_care=v|w] >= 3",
    ):
        made = sf.Mondrian(k=2, require=(sf.require(text),))(source, ROLES)
        assert sf.require(text).check(made, ROLES).met
        assert len(made.evidence(ROLES).tuples) > 3
