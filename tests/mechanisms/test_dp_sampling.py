"""Sampling with k-anonymity: its delta against exact fractions, its promise against every outcome of small tables, its rows against the table."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from math import ceil, comb, exp

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import app
from sfumato.core.errors import Infeasible, InputError
from sfumato.mechanisms.dp_sampling import delta_of, largest_fraction, least_k


def outcomes(n: int, k: int, b: Fraction) -> dict[int, Fraction]:
    """What a class of n rows is released with: by fractions, without a line of what is tested."""
    found = {0: Fraction(0)}
    for j in range(n + 1):
        found[j if j >= k else 0] = found.get(j if j >= k else 0, Fraction(0)) + comb(n, j) * b**j * (1 - b) ** (n - j)
    return found


def told_apart(more: dict[int, Fraction], less: dict[int, Fraction], factor: Fraction) -> Fraction:
    """The least delta with which `more` is never more than factor times as likely: the hockey stick, exact."""
    return sum((max(p - factor * less.get(j, Fraction(0)), Fraction(0)) for j, p in more.items()), Fraction(0))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
@pytest.mark.parametrize("k", [2, 5, 9])
@pytest.mark.parametrize("part", [1.0, 0.4])
def test_no_two_tables_that_differ_by_a_row_are_told_apart_by_more(epsilon: float, k: int, part: float) -> None:
    """Classes of 1 to 60 rows, a row more and a row less, exactly; what is promised is above it, and near it at the worst one."""
    fraction = part * largest_fraction(epsilon)
    b, factor = Fraction(fraction), Fraction(exp(epsilon) * (1 + 1e-15))
    sizes = [outcomes(n, k, b) for n in range(61)]
    found = [told_apart(one, other, factor) for less, more in pairwise(sizes) for one, other in ((more, less), (less, more))]  # fmt: skip
    promised = delta_of(k, fraction, epsilon)
    assert float(max(found)) <= promised
    assert all(
        each == 0 for each in found[1::2]
    )  # the row less is never far likelier: all of delta is for the row more
    tail = max(_tail(n, k, b, factor) for n in range(k, 61))
    assert promised == pytest.approx(float(tail), rel=1e-7)


def _tail(n: int, k: int, b: Fraction, factor: Fraction) -> Fraction:
    """The tail of the theorem, by fractions: P(J > gamma n, J >= k)."""
    gamma = 1 - (1 - b) / factor
    least = max(k, int(gamma * n) + 1)
    return sum((comb(n, j) * b**j * (1 - b) ** (n - j) for j in range(least, n + 1)), Fraction(0))


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(1.0, 1e-6, 74), (0.5, 1e-4, 39), (2.0, 1e-6, 131)])
def test_k_is_the_least_that_keeps_delta(epsilon: float, delta: float, k: int) -> None:
    """By fractions over every class up to ten times the worst size, of which the tails fall long before."""
    fraction = largest_fraction(epsilon)
    assert least_k(epsilon, delta, fraction) == k
    b, factor = Fraction(round(fraction * 2**40), 2**40), Fraction(exp(epsilon))
    gamma = 1 - (1 - fraction) * exp(-epsilon)
    worst = range(k - 1, 3 * ceil(k / gamma), max(1, k // 12))
    near = range(ceil((k - 1) / gamma) - 2, ceil(k / gamma) + 3)
    assert max(float(_tail(n, k, b, factor)) for n in {*worst, *near}) <= delta
    assert max(float(_tail(n, k - 1, b, factor)) for n in near) > delta


def test_extremes_and_directions() -> None:
    assert delta_of(10, 0.1, 1.0) > delta_of(20, 0.1, 1.0) > delta_of(20, 0.1, 2.0)
    assert delta_of(20, 0.1, 1.0) < delta_of(20, 0.3, 1.0)
    assert delta_of(5_000, 0.5, 1.0) < 1e-100
    assert delta_of(3, 0.5, 60.0) == pytest.approx(
        0.5**3
    )  # gamma is 1 to the last digit: a class that is drawn whole tells who was not in it
    assert least_k(1.0, 0.999, 0.1) == 1
    assert largest_fraction(1.0) < 1 - exp(-1.0) + 1e-15


def town(rows: int = 3_000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.integers(15, 75, rows), "town": rng.choice(["a1", "a2", "b1", "b2"], rows, p=[0.45, 0.3, 0.24, 0.01])})  # fmt: skip


DOMAINS = "age=20:60:20,town=a1|a2|b1|b2"
ROLES = sf.Roles(quasi=("age", "town"))


def test_rows_are_true_and_enough_of_them_are_alike() -> None:
    data = town()
    made = sf.DpSampling(epsilon=1, delta=1e-6, domains=DOMAINS)(sf.read(data), ROLES, np.random.default_rng(1))
    released = made.to_pandas().groupby(["age", "town"]).size()
    age = np.where(data["age"] < 40, "[20,40)", "[40,60]")
    before = data.assign(age=age).groupby(["age", "town"]).size()
    assert released.min() >= 74
    assert ("[20,40)", "b2") not in released.index
    share = released / before[released.index]
    assert share.between(0.55, 0.72).all()
    assert len(released) == 6
    assert (made.epsilon, float(made.delta)) == (1, 1e-6)
    assert made.neighbours
    assert made.recoding is None
    assert sf.k_anonymity(made, ROLES).value == released.min()
    assert any("fewer than 74" in note for note in made.notes)


def test_the_size_of_a_class_is_binomial_and_small_ones_never_come_out() -> None:
    rows = [{"age": 30, "town": "a1"}] * 30
    mechanism = sf.DpSampling(epsilon=1, delta=0.2, domains=DOMAINS, fraction=0.5)
    k = least_k(1.0, 0.2, 0.5)
    table, sizes = sf.read(pd.DataFrame(rows)), []
    for seed in range(300):
        try:
            sizes.append(mechanism(table, ROLES, np.random.default_rng(seed)).table.rows)
        except Infeasible:
            sizes.append(0)
    b = Fraction(1, 2)
    expected = {j: 300 * float(p) for j, p in outcomes(30, k, b).items()}
    got = pd.Series(sizes).value_counts()
    assert set(got.index) <= {j for j, p in expected.items() if p > 0}
    assert np.mean(sizes) == pytest.approx(15, abs=0.8)
    assert np.var(sizes) == pytest.approx(7.5, rel=0.3)


def test_levels_of_a_hierarchy_file(tmp_path) -> None:
    (tmp_path / "town.csv").write_text("town,region,all\na1,A,*\na2,A,*\nb1,B,*\nb2,B,*\n")
    roles = sf.Roles(quasi=("age", "town"), hierarchies={"town": "town.csv"}, folder=tmp_path)
    made = sf.DpSampling(epsilon=1, delta=1e-6, domains="age=20:60:20", levels="town=1")(
        sf.read(town()), roles, np.random.default_rng(0)
    )
    assert set(made.to_pandas()["town"]) == {"A", "B"}
    with pytest.raises(InputError, match="needs to be a released column with a hierarchy file"):
        sf.DpSampling(epsilon=1, domains=DOMAINS, levels="age=1")(sf.read(town()), roles)


def test_one_row_a_person_and_what_is_refused() -> None:
    data = town().assign(pid=np.arange(3_000) // 2)
    roles = sf.Roles(quasi=("age", "town"), person="pid")
    made = sf.DpSampling(epsilon=1, delta=1e-6, domains=DOMAINS)(sf.read(data), roles, np.random.default_rng(0))
    assert made.table.rows < 1_500 * 0.7
    assert "one person" in made.neighbours
    several = sf.Roles(quasi=("age", "town"), person="pid", people={"most_rows": 2})
    with pytest.raises(InputError, match="one row a person"):
        sf.DpSampling(epsilon=1, domains=DOMAINS)(sf.read(data), several)
    with pytest.raises(InputError, match="at most 1 - e"):
        sf.DpSampling(epsilon=1, fraction=0.7)
    with pytest.raises(InputError, match="delta must be"):
        sf.DpSampling(epsilon=1, delta=0)
    with pytest.raises(Infeasible, match="drawn rows"):
        sf.DpSampling(epsilon=1, domains=DOMAINS)(sf.read(data.head(40)), ROLES)
    with pytest.raises(InputError, match="never taken from the data"):
        sf.DpSampling(epsilon=1)(sf.read(town()), ROLES)


def test_from_the_command_line(tmp_path) -> None:
    town().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "r.toml").write_text(
        '[roles]\nquasi = ["age", "town"]\n[domains]\nage = "20:60:20"\ntown = "a1|a2|b1|b2"\n'
    )
    words = ["sanitize", f"{tmp_path}/t.csv", "--roles", f"{tmp_path}/r.toml", "--out", f"{tmp_path}/o.csv", "--json"]
    found = CliRunner().invoke(app, [*words, "--mechanism", "dp_sampling epsilon=1 delta=0.000001", "--require", "k_anonymity >= 20"])  # fmt: skip
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert told["suppressed"] is None  # how many rows were left out would tell of them
    assert pd.read_csv(tmp_path / "o.csv").groupby(["age", "town"]).size().min() >= 74
