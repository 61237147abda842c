"""Privacy in bits: I3, I4, the leak, the transfer of information, the identity, vanishing values."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import sfumato as sf
from house import Make, exactly, rows
from sfumato.core.classes import Classes, Sensitive
from sfumato.core.column import encode
from sfumato.core.errors import RequirementError
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.metrics.privacy.mutual_information import information
from sfumato.metrics.privacy.one_symbol_i3 import stimulus_specific

ROLES = Roles(quasi=("q",), sensitive=("s",))


def as_classes(counts: np.ndarray) -> Classes:
    member, value = np.nonzero(counts)
    column, _ = encode("s", pa.array(range(counts.shape[1])))
    sensitive = Sensitive(column, counts.sum(0))
    return Classes.of(member, counts[member, value], count=len(counts), value=value, sensitive=sensitive)


@st.composite
def split(draw: st.DrawFn) -> np.ndarray:
    """Rows of each value (columns) in each class (rows); none of them empty."""
    values = draw(st.integers(1, 6))
    cell = st.sampled_from([0, 0, 1, 1, 2, 3, 7, 50])
    found = draw(st.lists(st.lists(cell, min_size=values, max_size=values), min_size=1, max_size=7))
    counts = np.array([row for row in found if sum(row)], dtype=np.int64).reshape(-1, values)
    counts = counts[:, counts.sum(0) > 0]
    assume(len(counts))
    return counts


def entropy(counts: Any) -> float:
    return float(stats.entropy(np.asarray(counts, dtype=float), base=2))


def dense_information(counts: np.ndarray) -> float:
    return entropy(counts.sum(0)) + entropy(counts.sum(1)) - entropy(counts.ravel())


# --- I3 and I4 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one_symbol_i3", "one_symbol_i4"])
@pytest.mark.parametrize("published", [rows(a="xyxz"), rows(a="xy", b="xyxy", c="yx"), rows(a="x", b="xx")])
def test_a_single_class_independence_and_a_constant_tell_nothing(release: Make, name: str, published: Any) -> None:
    score = sf.metric(name)(release(published), ROLES)
    assert score.per_class == exactly([0.0] * len(set(published["q"])))


def test_values_of_one_class_each(release: Make) -> None:
    published = release(rows(a="xx", b="yy", c="zz", d="ww"))
    assert sf.one_symbol_i3(published, ROLES).per_class == exactly([2.0] * 4)  # H(C)
    assert sf.one_symbol_i4(published, ROLES).per_class == exactly([entropy([1, 3])] * 4)
    assert sf.one_symbol_i4(release(rows(a="xx", b="yz")), ROLES).value == 1.0  # half the rows, no value shared


def test_all_rows_alone(release: Make) -> None:
    published = release(rows(a="x", b="x", c="y", d="z"))
    assert sf.one_symbol_i3(published, ROLES).per_class == exactly([1.0, 1.0, 2.0, 2.0])
    assert sf.one_symbol_i4(published, ROLES).per_class == exactly(
        [dense_information(np.array(c)) for c in ([[1, 0, 0], [1, 1, 1]],) * 2 + ([[0, 1, 0], [2, 0, 1]],) * 2]
    )


def test_i3_may_be_negative(release: Make) -> None:
    """A value that is spread evenly leaves more uncertainty about the class than there is over all rows."""
    score = sf.one_symbol_i3(release(rows(a="xy" + "x" * 30, b="y")), ROLES)
    assert score.per_class.min() < 0 < score.value
    lonely = rows(a="x" * 90 + "y", b="y")
    assert sf.one_symbol_i3(release(lonely), ROLES).per_class == exactly(
        [entropy([91, 1]) - 1 / 91, entropy([91, 1]) - 1.0]
    )


@given(split())
def test_i3_and_i4_by_the_definition(counts: np.ndarray) -> None:
    of_classes = entropy(counts.sum(1))
    for c, (i3, i4) in enumerate(
        zip(stimulus_specific(as_classes(counts)), sf.one_symbol_i4.per_class(as_classes(counts)), strict=True)
    ):
        p = counts[c] / counts[c].sum()
        wanted = sum(p[w] * (of_classes - entropy(counts[:, w])) for w in range(counts.shape[1]) if p[w])
        assert i3 == pytest.approx(wanted, abs=1e-9)
        others = np.delete(counts, c, 0).sum(0)
        wanted = dense_information(np.array([counts[c], others])) if others.sum() else 0.0
        assert i4 == pytest.approx(wanted, abs=1e-9)


@given(split())
def test_i3_averages_to_the_mutual_information_and_i4_is_at_most_that(counts: np.ndarray) -> None:
    ours, whole = as_classes(counts), dense_information(counts)
    assert np.average(stimulus_specific(ours), weights=ours.size) == pytest.approx(whole, abs=1e-9)
    assert sf.one_symbol_i4.per_class(ours).max() <= whole + 1e-9  # data processing


def test_i4_does_not_average_to_the_mutual_information() -> None:
    """Table 1 says so: of four classes with a value each, every one tells of itself only."""
    ours = as_classes(np.eye(4, dtype=np.int64))
    assert information(ours) == exactly(2.0)
    assert np.average(sf.one_symbol_i4.per_class(ours), weights=ours.size) == exactly(entropy([1, 3]))


@pytest.mark.parametrize("name", ["one_symbol_i3", "one_symbol_i4"])
def test_a_merge_can_make_it_larger_and_the_card_says_so(release: Make, name: str) -> None:
    metric = sf.metric(name)
    fine, coarse = rows(a="xxx", b="xxx", c="yy", d="y"), rows(a="xxx", b="xxx", c="yyy")
    assert metric(release(coarse), ROLES).value > metric(release(fine), ROLES).value + 0.1
    assert not metric.card.monotone


def test_i4_of_some_classes_only_is_that_of_all() -> None:
    """A sanitizer asks for a few classes of a table: the rest is in the totals."""
    counts = np.array([[3, 1, 0], [0, 2, 2], [5, 0, 1]])
    whole = as_classes(counts)
    some = Classes.of(
        np.array([0, 0]),
        np.array([2, 2]),
        count=1,
        value=np.array([1, 2]),
        sensitive=whole.sensitive,  # type: ignore[arg-type]
    )
    assert sf.one_symbol_i4.per_class(some) == exactly(sf.one_symbol_i4.per_class(whole)[[1]])


# --- the leak --------------------------------------------------------------------------------------------------------


def test_the_leak_at_its_extremes(release: Make) -> None:
    leak = sf.mutual_information_leak
    assert leak(release(rows(a="xy", b="yx")), ROLES).value == 0
    assert leak(release(rows(a="xxxx")), ROLES).value == 0
    for m in (2, 3, 4, 8):
        values = "abcdefgh"[:m]
        assert leak(release(rows(**{v: v for v in values})), ROLES).value == exactly(1 - 1 / m)


@given(split())
def test_the_leak_is_the_ratio_of_effective_values(counts: np.ndarray) -> None:
    """Manta 5.1.2: 1 - 2^H(W|C) / 2^H(W)."""
    size = counts.sum(1)
    left = sum(n / size.sum() * entropy(row) for n, row in zip(size, counts, strict=True))
    wanted = 1 - 2**left / 2 ** entropy(counts.sum(0))
    assert 1 - 2 ** -information(as_classes(counts)) == pytest.approx(wanted, abs=1e-9)


def test_the_leak_of_the_toy_table(release: Make, golden: dict[str, Any]) -> None:
    toy = rows(a="NNNN", b="NNNN", c="NN", d="YN")
    wanted = 1 - 2 ** -golden["bezzi"]["toy_mutual_information"]["value"]
    assert sf.mutual_information_leak(release(toy), ROLES).value == exactly(wanted)


# --- from rare to likely ---------------------------------------------------------------------------------------------


def test_transfer_at_its_extremes(release: Make) -> None:
    transfer = sf.transfer_of_information
    rare = release(rows(a="x", b="y" * 9))
    assert transfer(rare, ROLES).value == 1.0  # a tenth of the rows is at most a tenth
    assert transfer(release(rows(a="x" + "y" * 9)), ROLES).value == exactly(0.1)
    common = release(rows(a="xx", b="yy"))
    assert transfer(common, ROLES).value == 0.0  # neither is rare
    assert transfer(rho1=0.5)(common, ROLES).value == 1.0
    assert transfer(rho1=0)(common, ROLES).value == 0.0
    assert transfer(rho1=1)(release(rows(a="xxxxy")), ROLES).value == exactly(0.8)


@pytest.mark.parametrize("n", [3, 7, 30, 70, 110, 1130])
def test_a_share_that_is_exactly_rho1_counts(release: Make, n: int) -> None:
    assert n / (10 * n) <= 0.1
    published = rows(a="x" * n, b="y" * (9 * n))
    assert sf.transfer_of_information(release(published), ROLES).value == 1.0
    assert sf.transfer_of_information(rho1=0.0999)(release(published), ROLES).value == 0.0


@given(split(), st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0]))
def test_transfer_by_brute_force(counts: np.ndarray, rho1: float) -> None:
    prior = counts.sum(0) / counts.sum()
    wanted = [
        max([row[w] / row.sum() for w in range(len(row)) if prior[w] <= rho1 + 1e-12], default=0.0) for row in counts
    ]
    assert sf.transfer_of_information(rho1=rho1).per_class(as_classes(counts)) == exactly(wanted)


def test_transfer_is_steered_by_and_spelled() -> None:
    assert str(sf.metric("transfer_of_information[rho1=0.05]")) == "transfer_of_information[rho1=0.05]"
    with pytest.raises(RequirementError, match="from 0 to 1"):
        sf.transfer_of_information(rho1=2)
    rng = np.random.default_rng(3)
    table = sf.read(pa.table({"q": rng.integers(0, 50, 400), "s": rng.choice(list("abcde"), 400, p=[0.05, 0.05, 0.3, 0.3, 0.3])}))  # fmt: skip
    need = sf.require("transfer_of_information[rho1=0.1] <= 0.2")
    made = sf.Mondrian(k=3, require=(need,))(table, ROLES)
    assert need.check(made, ROLES).met
    assert len(made.evidence(ROLES).tuples) > 1
    assert not need.check(sf.Mondrian(k=3)(table, ROLES), ROLES).met  # so it was the requirement that did it


# --- identity --------------------------------------------------------------------------------------------------------


def test_identity_at_its_extremes(release: Make) -> None:
    assert sf.identity_information(release(rows(a="xxxxxxxx")), ROLES).value == 0
    assert sf.identity_information(release(rows(**dict.fromkeys("abcdefgh", "x"))), ROLES).value == exactly(3)
    assert sf.identity_information(release(rows(a="x", b="xxxxxxx")), ROLES).per_class == exactly([3, math.log2(8 / 7)])


def test_identity_needs_no_sensitive_column(release: Make) -> None:
    assert sf.identity_information(release({"q": ["a", "a", None, ""]}), Roles(quasi=("q",))).value == exactly(1)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_identity_is_k_anonymity_in_bits(release: Make, k: int) -> None:
    """Eq. 6: I2(X,c) <= log2(N/k) in every class if and only if every class has k rows."""
    published = release(rows(a="xyz", b="xyzx", c="xxxxx"))
    limit = sf.identity_information.at_most(math.log2(12 / k))
    assert limit.check(published, ROLES).met == sf.k_anonymity.at_least(k).check(published, ROLES).met == (k <= 3)


@given(split())
def test_identity_averages_to_the_entropy_of_the_classes(weighted: Any, counts: np.ndarray) -> None:
    size = counts.sum(1)
    table = weighted({"q": [f"c{i:02d}" for i in range(len(size))]}, size)
    per_class = sf.identity_information(Release(table=table), Roles(quasi=("q",))).per_class
    assert np.average(per_class, weights=size) == pytest.approx(entropy(size), abs=1e-9)


def test_identity_counts_people(release: Make) -> None:
    roles = Roles(quasi=("q",), person="id")
    score = sf.identity_information(release({"q": list("aaab"), "id": list("1112")}), roles)
    assert score.per_class == exactly([1, 1])


# --- vanishing values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "wanted"),
    [
        (rows(a="xyz"), [0]),
        (rows(a="xyz", b="zyxx"), [0, 0]),
        (rows(a="x", b="y", c="z"), [2, 2, 2]),
        (rows(a="xxxx", b="xx"), [0, 0]),
        (rows(a="xyz", b="xx", c="yz"), [0, 2, 1]),
    ],
)
def test_vanishing_values(release: Make, published: Any, wanted: list[int]) -> None:
    score = sf.vanishing_values(release(published), ROLES)
    assert score.per_class.tolist() == wanted
    assert score.value == max(wanted)


def test_a_missing_value_can_vanish(release: Make) -> None:
    published = release({"q": list("aabb"), "s": ["x", None, "x", "x"]})
    assert sf.vanishing_values(published, ROLES).per_class.tolist() == [0, 1]


# --- size ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["one_symbol_i4", "transfer_of_information", "vanishing_values", "one_symbol_i3"])
def test_many_classes_and_values_stay_sparse(metric: str) -> None:
    rng = np.random.default_rng(0)
    count, values, entries = 200_000, 10_000, 400_000
    member = np.concatenate([np.arange(count), rng.integers(0, count, entries - count)])
    value = np.concatenate([np.arange(values), rng.integers(0, values, entries - values)])
    column, _ = encode("s", pa.array(range(values)))
    total = np.bincount(value, minlength=values)
    classes = Classes.of(
        member, np.ones(entries, dtype=np.int64), count=count, value=value, sensitive=Sensitive(column, total)
    )
    tracemalloc.start()
    kernel = stimulus_specific if metric == "one_symbol_i3" else sf.metric(metric).per_class
    found = kernel(classes)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == count
    assert np.isfinite(found).all()
    assert peak < 60_000_000  # dense would be 16 GB
