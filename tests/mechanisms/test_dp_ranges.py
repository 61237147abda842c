"""`dp_ranges`: every range at once; usefulness measured on all of them, against the definition and the bound."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from noise_checks import written

import sfumato as sf
from house import rng
from sfumato.core.errors import Infeasible, InputError, Unavailable
from sfumato.core.table import Table
from sfumato.mechanisms import dp_ranges, mechanism
from sfumato.mechanisms.differential_privacy.budget import Budget
from sfumato.mechanisms.differential_privacy.noise import Noise
from sfumato.mechanisms.dp_ranges import DpRanges

ROLES = sf.Roles(quasi=("age",), insensitive=("k",), identifiers=("name",))
METHODS = ("search", "tree")


def people(ages: list[Any]) -> Table:
    rows = len(ages)
    names = [f"p{i}" for i in range(rows)]
    return sf.read(pa.table({"name": names, "age": pa.array(ages, pa.int64()), "k": ["k"] * rows}))


def town(rows: int = 20_000) -> Table:
    return people(np.clip(rng(1).normal(40, 12, rows), 17, 99).astype(int).tolist())


def brute(true: np.ndarray[Any, Any], answered: np.ndarray[Any, Any]) -> float:
    """The largest error over all ranges, one after the other."""
    n, m = max(true.sum(), 1), max(answered.sum(), 1)
    pairs = itertools.combinations_with_replacement(range(len(true)), 2)
    return float(max(abs(true[a : b + 1].sum() / n - answered[a : b + 1].sum() / m) for a, b in pairs))


# --- the kernels, against oracles ------------------------------------------------------------------------------------


def test_the_largest_error_is_that_over_all_ranges() -> None:
    draw = rng()
    for _ in range(50):
        true, answered = draw.integers(0, 9, 12), draw.integers(0, 9, 12)
        assert dp_ranges._worst(true, answered) == pytest.approx(brute(true, answered))
    assert dp_ranges._worst(true, true) == 0
    assert dp_ranges._worst(np.array([5, 0]), np.array([0, 5])) == 1
    assert dp_ranges._worst(np.zeros(3, dtype=int), np.zeros(3, dtype=int)) == 0


def test_making_sums_monotone_never_moves_them_away_from_the_truth() -> None:
    draw = rng()
    for _ in range(50):
        truth = np.cumsum(draw.integers(0, 9, 15))
        noisy = truth + draw.normal(0, 10, 15)
        made = dp_ranges._monotone(noisy)
        assert (made >= 0).all()
        assert np.abs(made.cumsum() - truth).max() <= np.abs(noisy - truth).max() + 0.5


def test_the_tree_is_the_least_squares_answer() -> None:
    """Hay et al.'s two passes against numpy's solver over all blocks, with the same noise."""
    exact = np.array([5, 0, 3, 8, 1, 1, 0])
    kept: list[np.ndarray[Any, Any]] = []

    class Spy(Noise):
        def laplace(self, values: Any, **more: Any) -> Any:
            noisy, scale = super().laplace(values, **more)
            kept.append(noisy)
            return noisy, scale

    reached, cuts = dp_ranges._tree(exact, Spy(rng(), "a test"), Budget(1), Fraction(1))
    blocks = [np.repeat(np.eye(8 // 2**h), 2**h, axis=1) for h in range(4)]
    leaves = np.linalg.lstsq(np.vstack(blocks), np.concatenate(kept).astype(float), rcond=None)[0]
    assert np.diff(reached, prepend=0) == pytest.approx(leaves[:7])
    assert cuts == [(i, i) for i in range(7)]


def test_rows_are_spread_evenly() -> None:
    assert dp_ranges._spread(np.array([4, 3]), [(0, 1), (2, 4)], 5).tolist() == [2, 2, 1, 1, 1]
    assert dp_ranges._spread(np.array([7]), [(0, 0)], 1).tolist() == [7]


@pytest.mark.parametrize("alpha", [0.1, 0.4])
def test_a_search_with_enough_rows_is_useful_as_it_says(alpha: float) -> None:
    """From as many rows as the notes name on, at least 95% of the releases are within alpha on every range."""
    points = 64
    for shape in ("even", "one point", "two heaps"):
        weights = np.ones(points)
        if shape == "one point":
            weights[37] = 500
        elif shape == "two heaps":
            weights = np.exp(-(((np.arange(points) % 32) - 9) ** 2) / 8)
        made_by = DpRanges(column="age", domain=f"1:{points}", epsilon=1, alpha=alpha)
        needed = dp_ranges._search(np.ones(points, dtype=int), Noise(rng(), "t"), Budget(1), Fraction(1), alpha)[2]
        exact = np.rint(weights / weights.sum() * (needed + points)).astype(np.int64)
        noise, errors = Noise(rng(5), "a test"), []
        for _ in range(40):
            counts, cuts, _ = made_by._made(exact, noise, Budget(1))
            errors.append(dp_ranges._worst(exact, dp_ranges._spread(counts, cuts, points)))
        assert np.mean(np.array(errors) <= alpha) >= 0.95, shape


def test_a_search_never_takes_more_steps_than_were_paid_for() -> None:
    """Whatever the data, noise is drawn once and never runs out."""
    draw = rng(2)
    for points in (1, 2, 3, 5, 64, 83, 100):
        for exact in (
            np.zeros(points, dtype=int),
            draw.integers(0, 500, points),
            np.eye(1, points, dtype=int)[0] * 9999,
        ):
            for alpha in (0.05, 1.0):
                sums, cuts, _ = dp_ranges._search(exact, Noise(draw, "t"), Budget(1), Fraction(1), alpha)
                assert [a for a, _ in cuts] == [0, *(b + 1 for _, b in cuts[:-1])]  # they cover the domain, once
                assert cuts[-1][1] == points - 1
                assert len(sums) == len(cuts)


# --- releases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_with_a_huge_epsilon_every_range_is_right(method: str, tmp_path: Path) -> None:
    table = people([1, 1, 1, 4, 4, 9, 9, 9, 9, 10])
    made_by = mechanism("dp_ranges").of(
        {"column": "age", "domain": "1:10", "epsilon": "1000000", "method": method, "alpha": "0.05"}
    )
    release = made_by(table, ROLES, rng())
    rows = written(release, tmp_path)
    assert sum(int(row["rows"]) for row in rows) == 10
    assert made_by.error(release, ROLES).value == pytest.approx(0, abs=1e-12)  # type: ignore[attr-defined]


def test_usefulness_is_measured_on_all_ranges_and_the_tree_is_the_better(tmp_path: Path) -> None:
    table, found = town(), {}
    for method in METHODS:
        made_by = mechanism("dp_ranges").of({"column": "age", "domain": "17:99", "epsilon": "1", "method": method})
        assert isinstance(made_by, DpRanges)
        score = made_by.usefulness(table, ROLES, delta=0.1, runs=40, rng=rng())
        assert score.exactness == "estimate"
        assert score.ci is not None
        assert score.ci[0] <= score.value <= score.ci[1]
        assert score.details == {"ranges": 83 * 84 // 2, "delta": 0.1, "runs": 40}
        release = made_by(table, ROLES, rng(11))
        one = made_by.error(release, ROLES)
        assert one.exactness == "exact"
        assert one.value <= score.ci[1] * 1.5
        path = tmp_path / f"{method}.csv"
        sf.publish(release, ROLES, made_by.promises, path)
        again = sf.Release(table=sf.read(path), original=table, statistics=True)
        assert made_by.error(again, ROLES).value == pytest.approx(one.value)
        found[method] = score.value
    assert found["tree"] < 0.006
    assert found["tree"] * 5 < found["search"] < 0.1


def test_more_epsilon_is_more_useful() -> None:
    table = town(3000)
    errors = [
        DpRanges(column="age", domain="17:99", method="tree", epsilon=e)
        .usefulness(table, ROLES, runs=30, rng=rng())
        .value
        for e in (0.1, 1.0, 10.0)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 5 * errors[1]


@pytest.mark.parametrize("method", METHODS)
def test_synthetic_rows_have_the_counts_of_the_ranges(method: str, tmp_path: Path) -> None:
    table = town(5000)
    settings = {"column": "age", "domain": "17:99", "epsilon": "1", "method": method}
    ranges = mechanism("dp_ranges").of(settings)
    made_by = mechanism("dp_ranges").of({**settings, "give": "rows"})
    assert isinstance(made_by, DpRanges)
    assert isinstance(ranges, DpRanges)
    one, other = ranges(table, ROLES, rng()), made_by(table, ROLES, rng())
    assert not other.statistics
    assert other.perturbed == {"age"}
    assert other.table.columns == ("age",)
    assert len(written(other, tmp_path)) == sum(int(row["rows"]) for row in written(one, tmp_path))
    assert made_by.error(other, ROLES).value == ranges.error(one, ROLES).value
    with pytest.raises(Unavailable, match="holds statistics"):
        sf.k_anonymity(one, ROLES)
    with pytest.raises(Unavailable, match="was perturbed"):
        sf.k_anonymity(other, ROLES)


@pytest.mark.parametrize("method", METHODS)
def test_the_domain_never_comes_from_the_data(method: str, tmp_path: Path) -> None:
    """A number outside is moved in; an extreme one inside only counts where it is; what is missing is in no range."""
    made_by = mechanism("dp_ranges").of({"column": "age", "domain": "17:99", "epsilon": "1", "method": method})
    inside, outside = (
        written(made_by(people(ages), ROLES, rng()), tmp_path) for ages in ([17, 40, 99], [-7, 40, 10**6])
    )
    assert inside == outside
    missing = written(made_by(people([17, 40, 99, None, None]), ROLES, rng()), tmp_path)
    assert missing == inside
    assert written(made_by(people([40]), ROLES, rng()), tmp_path)[-1]["age to"] == "99"


def test_an_order_is_a_domain(tmp_path: Path) -> None:
    table = sf.read(pa.table({"size": ["s", "m", "m", "xl"]}))
    roles = sf.Roles(quasi=("size",), orders={"size": ("s", "m", "l", "xl")})
    made_by = DpRanges(column="size", epsilon=100_000, method="tree")
    found = {row["size from"]: row["rows"] for row in written(made_by(table, roles, rng()), tmp_path)}
    assert found == {"s": "1", "m": "2", "l": "0", "xl": "1"}


def test_what_is_said(tmp_path: Path) -> None:
    release = DpRanges(column="age", domain="17:99", epsilon=1, alpha=0.5)(town(100), ROLES)
    assert release.notes[0].startswith("Promised by construction, not measured: 1-differential privacy")
    assert release.notes[1].startswith(
        "Privacy budget spent: epsilon 1 of 1: 0.1 on the number of rows; 0.7 on binary searches of 7 steps for up to 16 cuts; "
        "0.2 on the counts of the intervals (in parallel over"
    )
    assert "Aimed at an error of 0.5 of the rows in every range" in release.notes[3]
    assert not any("useful" in note or "error of 0.0" in note for note in release.notes)  # what is measured stays in
    tree = DpRanges(column="age", domain="17:99", epsilon=1, method="tree")(town(100), ROLES)
    assert tree.notes[1].count("0.125 on the counts of blocks") == math.ceil(math.log2(83)) + 1


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_one_row_and_one_point(method: str, tmp_path: Path) -> None:
    made_by = mechanism("dp_ranges").of({"column": "age", "domain": "17:99", "epsilon": "1", "method": method})
    files = [written(made_by(people([30]), ROLES, rng()), tmp_path) for _ in range(2)]
    assert files[0] == files[1]
    single = mechanism("dp_ranges").of({"column": "k", "domain": "k", "epsilon": "1000", "method": method})
    assert written(single(people([30, 40]), ROLES, rng()), tmp_path) == [{"k from": "k", "k to": "k", "rows": "2"}]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"column": "age", "domain": "17:99"}, "needs an epsilon"),
        ({"epsilon": "1"}, "needs the column"),
        ({"column": "age", "epsilon": "1"}, "never taken from the data"),
        ({"column": "age", "domain": "17:99", "epsilon": "1", "alpha": "0"}, "alpha must be a share"),
        ({"column": "age", "domain": "17:99", "epsilon": "1", "method": "net"}, "must be one of search, tree"),
        ({"column": "name", "domain": "a|b", "epsilon": "1"}, "'name' has no role that may be released"),
    ],
)
def test_refusals(settings: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        mechanism("dp_ranges").of(settings)(people([30]), ROLES, rng())


def test_usefulness_needs_what_it_needs() -> None:
    made_by = DpRanges(column="age", domain="17:99", epsilon=1)
    with pytest.raises(Unavailable, match="original table"):
        made_by.error(sf.Release(table=people([30]), statistics=True), ROLES)
    with pytest.raises(InputError, match="delta between 0 and 1"):
        made_by.usefulness(people([30]), ROLES, delta=0)
    with pytest.raises(Infeasible, match="does not allow dp_ranges"):
        DpRanges(column="age", domain="17:99", epsilon=1, budget=Budget(0.5))(people([30]), ROLES, rng())
