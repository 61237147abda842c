"""PRAM: values change as the matrix says, counts are corrected without bias, and a matrix that is 30% off is found out."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from house import Refusal, in_memory
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.randomness import SEEDED, Chance
from sfumato.mechanisms.pram import MOST, Pram, Transition, corrected_counts
from sfumato.publishing import publish

ROLES = sf.Roles(quasi=("town",), sensitive=("ill",), insensitive=("row",), identifiers=("name",), source="roles.toml")
TOWNS = ["Rome", "Oslo", "Bern", None]
SHARES = [0.5, 0.3, 0.15, 0.05]


def people(count: int = 2000) -> dict[str, list[Any]]:
    town = [value for value, share in zip(TOWNS, SHARES, strict=True) for _ in range(round(share * count))]
    return {
        "town": town,
        "ill": [i % 3 for i in range(count)],
        "row": [f"r{i:05d}" for i in range(count)],
        "name": [f"n{i}" for i in range(count)],
    }


def write(path: Path, values: list[str], matrix: Any) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["", *values], *([v, *line] for v, line in zip(values, matrix, strict=True))])
    return path


def released(release: sf.Release, column: str = "town") -> list[str | None]:
    """The released values in the order of the input."""
    counts = release.table.count(("row", column))
    return [counts.columns[1].texts[code] for code in counts.codes[1].tolist()]


# --- the draws -------------------------------------------------------------------------------------------------------


def off_diagonal(matrix: np.ndarray, factor: float) -> np.ndarray:
    """The same matrix with all chances of change by this factor."""
    changed = matrix * factor
    np.fill_diagonal(changed, 0.0)
    np.fill_diagonal(changed, 1 - changed.sum(axis=1))
    return changed


def fits(matrix: np.ndarray, seen: np.ndarray) -> bool:
    """Chi-square of the transitions that were seen against those of the matrix, at one in ten thousand."""
    from scipy.stats import chi2

    expected = matrix * seen.sum(axis=1, keepdims=True)
    used = expected > 0
    assert not seen[~used].any()
    statistic = float(((seen - expected)[used] ** 2 / expected[used]).sum())
    return statistic < chi2.isf(1e-4, int(used.sum()) - len(matrix))


@pytest.mark.parametrize("kind", ["keep", "matrix", "invariant"])
def test_values_change_as_the_matrix_says_and_30_percent_off_is_rejected(kind: str, tmp_path: Path) -> None:
    given_matrix = [[0.7, 0.1, 0.1, 0.1], [0, 0.9, 0.1, 0], [0.25, 0.25, 0.5, 0], [0.3, 0, 0, 0.7]]
    path = write(tmp_path / "matrix.csv", [value or "" for value in TOWNS], given_matrix)
    mechanism = {
        "keep": Pram(columns="town", keep=0.8),
        "matrix": Pram(columns="town", matrix=str(path)),
        "invariant": Pram(columns="town", keep=0.9, invariant=True),
    }[kind]
    columns = people(20_000)
    table = in_memory(columns)
    matrix = mechanism.transition(table, ROLES, "town")
    if kind == "matrix":
        assert matrix.matrix.tolist() == given_matrix
    place = {value: i for i, value in enumerate(matrix.values)}
    after = released(mechanism(table, ROLES, np.random.default_rng(5)))
    seen = np.zeros((4, 4))
    for (a, b), n in Counter(zip(columns["town"], after, strict=True)).items():
        seen[place[a], place[b]] += n
    assert fits(matrix.matrix, seen)
    for factor in (0.7, 1.3):
        assert not fits(off_diagonal(matrix.matrix, factor), seen)


def test_extremes_of_a_matrix(tmp_path: Path) -> None:
    columns = people()
    values = [value or "" for value in TOWNS]
    same = Pram(columns="town", matrix=str(write(tmp_path / "same.csv", values, np.eye(4))))
    assert released(same(in_memory(columns), ROLES)) == columns["town"]
    turn = Pram(columns="town", matrix=str(write(tmp_path / "turn.csv", values, np.roll(np.eye(4), 1, axis=1))))
    assert released(turn(in_memory(columns), ROLES)) == [TOWNS[(TOWNS.index(v) + 1) % 4] for v in columns["town"]]
    constant = in_memory({"town": ["Rome"] * 5, "row": list("abcde")})
    kept = Pram(columns="town", keep=0.1)(constant, sf.Roles(quasi=("town",), insensitive=("row",)))
    assert kept.table.count(("town",)).n.tolist() == [5], "where there is one value there is no other"


def test_a_chance_of_nothing_is_never_drawn() -> None:
    """Whatever is drawn, at either end: a leading and a trailing zero, and lines that sum to 1 only nearly."""
    matrix = Transition(("a", "b", "c"), np.array([[0, 1, 0], [0, 0.3, 0.7 - 1e-9], [0.5, 0.5, 0]]))

    class Ends(Chance):
        def uniform(self, count: int) -> np.ndarray:
            return np.resize([2.0**-54, 1 - 2.0**-53, 0.5], count)

    assert matrix.drawn(np.array([0, 0, 0]), Ends()).tolist() == [1, 1, 1]
    assert matrix.drawn(np.array([1, 1, 1]), Ends()).tolist() == [1, 2, 2]
    assert matrix.drawn(np.array([2, 2, 2]), Ends()).tolist() == [0, 1, 0]


# --- invariant -------------------------------------------------------------------------------------------------------


@given(
    counts=st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(lambda n: sum(n) > 0),
    keep=st.floats(0.05, 0.95),
    seed=st.integers(0, 20),
)
def test_the_invariant_matrix_keeps_expected_counts(counts: list[int], keep: float, seed: int) -> None:
    size, n = len(counts), np.array(counts)
    rng = np.random.default_rng(seed)
    some = rng.dirichlet(np.ones(size), size) * (rng.random((size, size)) < 0.7) + np.eye(size)
    for matrix in (
        Transition.keeping([str(i) for i in range(size)], keep).matrix,
        some / some.sum(axis=1, keepdims=True),
    ):
        found = Transition(tuple(str(i) for i in range(size)), matrix).invariant(n)
        assert n @ found.matrix == pytest.approx(n, abs=1e-9)


def test_the_invariant_matrix_of_equal_counts_is_the_square() -> None:
    """Where all values are as frequent and the matrix symmetric, going back by Bayes' rule is going on."""
    matrix = Transition.keeping(["a", "b", "c"], 0.6)
    assert matrix.invariant(np.array([7, 7, 7])).matrix == pytest.approx(matrix.matrix @ matrix.matrix)


def test_invariant_counts_are_right_on_average_and_plain_ones_are_not() -> None:
    table = in_memory(people())
    true = np.array([round(share * 2000) for share in SHARES], dtype=float)
    for mechanism, right in (
        (Pram(columns="town", keep=0.6, invariant=True), True),
        (Pram(columns="town", keep=0.6), False),
    ):
        told = []
        for seed in range(60):
            seen = Counter(released(mechanism(table, ROLES, np.random.default_rng(seed))))
            told.append([seen[value] for value in TOWNS])
        mean, error = np.mean(told, axis=0), np.std(told, axis=0, ddof=1) / 60**0.5
        assert bool((np.abs(mean - true) < 4.5 * error).all()) is right


# --- correcting counts -----------------------------------------------------------------------------------------------


def test_the_identity_needs_no_correction() -> None:
    found = corrected_counts({"a": 7, "b": 3}, Transition(("a", "b"), np.eye(2)))
    assert found.estimate.tolist() == [7, 3]
    assert found.variance.tolist() == [0, 0]
    assert found.low.tolist() == found.high.tolist() == [7, 3]


def test_two_values_by_hand() -> None:
    """Warner's randomised response: keep 0.75, 40 of 100 say a, so (40 - 25)/(0.75 - 0.25) = 30 have it."""
    found = corrected_counts({"a": 40, "b": 60}, Transition.keeping(["a", "b"], 0.75))
    assert found.estimate == pytest.approx([30, 70])
    assert found.variance == pytest.approx([75, 75])  # 100 x 0.75 x 0.25 / 0.5^2
    assert found.high - found.low == pytest.approx([2 * 1.959964 * 75**0.5] * 2)


def simulate(keep: float, *, runs: int = 400) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Corrected counts of many releases of one column, by the matrix that made them."""
    right = Transition.keeping(TOWNS, keep)
    true = np.array([500, 300, 150, 50])
    at, found = np.repeat(np.arange(4), true), []
    for seed in range(runs):
        drawn = np.bincount(right.drawn(at, Chance(np.random.default_rng(seed))), minlength=4)
        found.append(dict(zip(TOWNS, drawn.tolist(), strict=True)))
    return right.matrix, true, found


@pytest.mark.parametrize("keep", [0.9, 0.7, 0.5])
def test_the_estimate_is_unbiased_its_variance_right_and_its_interval_covers(keep: float) -> None:
    matrix, true, runs = simulate(keep)
    found = [corrected_counts(seen, Transition(tuple(TOWNS), matrix)) for seen in runs]
    estimates = np.array([each.estimate for each in found])
    deviation = estimates.std(axis=0, ddof=1)
    assert (np.abs(estimates.mean(axis=0) - true) < 4 * deviation / len(runs) ** 0.5).all()
    told = np.mean([each.variance for each in found], axis=0)
    assert (np.abs(deviation**2 / told - 1) < 0.25).all()
    covered = np.mean([(each.low <= true) & (true <= each.high) for each in found], axis=0)
    assert (covered > 0.92).all()
    assert (covered < 0.98).all()
    wide = corrected_counts(runs[0], Transition(tuple(TOWNS), matrix), confidence=0.99)
    assert (wide.high - wide.low > found[0].high - found[0].low).all()


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_a_matrix_that_is_30_percent_off_is_rejected(factor: float) -> None:
    """Corrected by a matrix that changes 30% less or more, the estimates are biased and the intervals miss."""
    matrix, true, runs = simulate(0.8)
    wrong = Transition(tuple(TOWNS), off_diagonal(matrix, factor))
    found = [corrected_counts(seen, wrong) for seen in runs]
    estimates = np.array([each.estimate for each in found])
    error = estimates.std(axis=0, ddof=1) / len(runs) ** 0.5
    assert not (np.abs(estimates.mean(axis=0) - true) < 4 * error).all()
    covered = np.mean([(each.low <= true) & (true <= each.high) for each in found], axis=0)
    assert covered.min() < 0.8


def test_counts_of_a_written_release_are_corrected(tmp_path: Path) -> None:
    mechanism, table = Pram(columns="town", keep=0.7), in_memory(people(20_000))
    publish(mechanism(table, ROLES, np.random.default_rng(2)), ROLES, mechanism.promises, tmp_path / "release.csv")
    mechanism.transition(table, ROLES, "town").write(tmp_path / "matrix.csv")
    matrix = Transition.read(tmp_path / "matrix.csv")
    counts = sf.read(tmp_path / "release.csv").count(("town",))
    found = corrected_counts(counts, matrix, confidence=0.9999)
    true = np.array([20_000 * dict(zip(TOWNS, SHARES, strict=True))[value] for value in found.values])
    assert ((found.low < true) & (true < found.high)).all()
    assert ((counts.n < found.low) | (counts.n > found.high)).any(), "uncorrected they are wrong"
    assert found.estimate.sum() == pytest.approx(20_000)


# --- the release -----------------------------------------------------------------------------------------------------


def test_types_columns_and_notes(tmp_path: Path) -> None:
    table = in_memory(people())
    release = Pram(columns="town,ill", keep=0.5)(table, ROLES, np.random.default_rng(0))
    assert release.table.columns == ("town", "ill", "row")
    assert release.perturbed == {"town", "ill"}
    assert release.table.count(("ill",)).columns[0].numbers is not None
    assert sum("corrected_counts" in note for note in release.notes) == 2
    assert SEEDED in release.notes
    with pytest.raises(Unavailable, match="perturbed"):
        sf.k_anonymity(release, ROLES)
    more = ["0", "1", "2", "3", ""]  # values that the column does not have
    matrix = np.full((5, 5), 0.2)
    wider = Pram(columns="ill", matrix=str(write(tmp_path / "m.csv", more, matrix)))(table, ROLES)
    assert wider.table.count(("ill",)).columns[0].texts == ["0", "1", "2", "3", None]
    assert "counts are right on average" in Pram(columns="ill", keep=0.5, invariant=True)(table, ROLES).notes[0]


def test_one_row_and_odd_names() -> None:
    table = in_memory({'a, "b"': ["x"], "c": [None]})
    release = Pram(columns='a, "b"', keep=0.5)(table, sf.Roles(quasi=('a, "b"',), sensitive=("c",)))
    assert release.table.rows == 1
    assert release.perturbed == {'a, "b"'}
    assert Pram(columns='"a, ""b""",c', keep=0.5)(table, sf.Roles(quasi=('a, "b"', "c"))).perturbed == {'a, "b"', "c"}


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [0, 1, -0.1, 1.5, float("nan"), True])
def test_keep_is_a_probability(keep: Any, refusal: Refusal) -> None:
    refusal(InputError, lambda: Pram(columns="town", keep=keep), "keep is a probability")


def test_refusals(tmp_path: Path, refusal: Refusal) -> None:
    table = in_memory(people())
    refusal(InputError, lambda: Pram(columns="town"), "either keep")
    refusal(InputError, lambda: Pram(columns="town", keep=0.5, matrix="m.csv"), "either keep")
    refusal(InputError, lambda: Pram(keep=0.5)(table, ROLES), "needs columns")
    refusal(InputError, lambda: Pram(columns="city", keep=0.5)(table, ROLES), "'city'")
    refusal(InputError, lambda: Pram(columns="name", keep=0.5)(table, ROLES), "'name'", "may be released")
    refusal(InputError, lambda: Pram(columns="town,town", keep=0.5)(table, ROLES), "twice")
    path = write(tmp_path / "m.csv", ["Rome", "Oslo"], [[0.5, 0.5], [0.5, 0.5]])
    refusal(InputError, lambda: Pram(columns="town,ill", matrix=str(path))(table, ROLES), "one column")
    refusal(InputError, lambda: Pram(columns="town", matrix=str(path))(table, ROLES), "2 of the values", "'town'")
    refusal(InputError, lambda: Pram(columns="town", matrix=str(tmp_path / "no.csv"))(table, ROLES), "cannot be read")
    refusal(InputError, lambda: Pram(columns="town", keep=0.5).transition(table, ROLES, "ill"), "does not change")
    many = in_memory({"town": [f"t{i}" for i in range(MOST + 1)]})
    refusal(InputError, lambda: Pram(columns="town", keep=0.5)(many, sf.Roles(quasi=("town",))), "2,001 values")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "names its columns in the first line"),
        ([["", "a", "b"], ["a", "1", "0"]], "same values"),
        ([["", "a", "b"], ["b", "1", "0"], ["a", "0", "1"]], "same order"),
        ([["", "a", "a"], ["a", "1", "0"], ["a", "0", "1"]], "may stand once"),
        ([["", "a", "b"], ["a", "1", "0"], ["b", "0", "x"]], "neither a number nor a fraction"),
        ([["", "a", "b"], ["a", "1", "0"], ["b", "1"]], "row 2 has 1 numbers for 2 columns"),
        ([["", "a", "b"], ["a", "1"], ["b", "1"]], "row 1 has 1 numbers for 2 columns"),
        ([["", "a", "b"], ["a", "1", "0"], ["b", "0.5", "0.4"]], "sum to 1"),
        ([["", "a", "b"], ["a", "1.5", "-0.5"], ["b", "0", "1"]], "at least 0"),
        ([["", "a", "b"], ["a", "nan", "1"], ["b", "0", "1"]], "at least 0"),
    ],
)
def test_a_file_that_is_no_matrix_is_refused(
    lines: list[list[str]], told: str, tmp_path: Path, refusal: Refusal
) -> None:
    path = tmp_path / "matrix.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    refusal(InputError, lambda: Transition.read(path), told, "matrix.csv")


def test_counts_that_cannot_be_corrected_are_refused(refusal: Refusal) -> None:
    matrix = Transition.keeping(["a", "b"], 0.5)
    refusal(InputError, lambda: corrected_counts({"a": 1, "b": 2}, matrix), "cannot be told apart")
    refusal(InputError, lambda: corrected_counts({"a": 1, "Quixotic7741": 2}, matrix), "1 of the released values")
    good = Transition.keeping(["a", "b"], 0.9)
    refusal(InputError, lambda: corrected_counts({"a": 1}, good, confidence=1), "confidence")
    two = in_memory({"x": ["a"], "y": ["b"]}).count(("x", "y"))
    refusal(InputError, lambda: corrected_counts(two, good), "one column")
