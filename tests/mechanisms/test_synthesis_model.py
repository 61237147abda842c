"""The model behind synthetic rows: exact beside enumeration, fitted as well as it can be, drawn evenly, nothing impossible."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from noise_checks import written
from scipy import optimize

import sfumato as sf
from house import rng
from sfumato.core.column import FloatArray
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.randomness import Chance
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.dp_synthesis import DpSynthesis
from sfumato.mechanisms.synthesis import fitted_marginals
from sfumato.mechanisms.synthesis.drawn_rows import draw
from sfumato.mechanisms.synthesis.fitted_marginals import NoisyMarginal, fit, rows_in
from sfumato.mechanisms.synthesis.junction_tree import JunctionTree

SIZES = (2, 3, 2, 4, 3)
TOGETHER = [(0, 1), (1, 2), (2, 3), (0, 3), (4,)]
"""A circle of four columns, which needs a chord, and a column on its own."""


def joint(sizes: tuple[int, ...], potentials: dict[tuple[int, ...], FloatArray]) -> FloatArray:
    """exp(sum of potentials) over all combinations, one by one."""
    whole = np.zeros(sizes)
    for cell in itertools.product(*map(range, sizes)):
        whole[cell] = math.exp(sum(table[tuple(cell[i] for i in at)] for at, table in potentials.items()))
    return whole


def over(whole: FloatArray, columns: tuple[int, ...]) -> FloatArray:
    return whole.sum(axis=tuple(i for i in range(whole.ndim) if i not in columns))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_belief_propagation_is_what_enumeration_gives(seed: int) -> None:
    random = rng(seed)
    potentials = {at: random.normal(0, 2, [SIZES[i] for i in at]) for at in TOGETHER}
    potentials[0, 1][0, 0] = -np.inf  # an impossible pair
    tree = JunctionTree.over(SIZES, TOGETHER)
    tables = [np.zeros([SIZES[i] for i in clique]) for clique in tree.cliques]
    for at, table in potentials.items():
        home = tree.home(at)
        tables[home] = tables[home] + tree.spread(table, at, home)
    beliefs, log = tree.beliefs(tables)
    whole = joint(SIZES, potentials)
    assert log == pytest.approx(math.log(whole.sum()))
    for i, clique in enumerate(tree.cliques):
        assert beliefs[i] == pytest.approx(over(whole, clique) / whole.sum(), abs=1e-12)


def test_every_set_lies_in_a_clique_and_columns_run_through_the_tree_unbroken() -> None:
    for seed in range(30):
        random = rng(seed)
        sizes = random.integers(1, 6, 7).tolist()
        together = [
            tuple(sorted(random.choice(7, 2, replace=False).tolist())) for _ in range(int(random.integers(0, 12)))
        ]
        tree = JunctionTree.over(sizes, together)
        for columns in [*together, *((i,) for i in range(7))]:
            assert set(columns) <= set(tree.cliques[tree.home(columns)])
        for i in range(7):  # all cliques with a column but one have it in common with their parents
            with_it = [at for at, clique in enumerate(tree.cliques) if i in clique]
            assert sum(i in tree.shared[at] for at in with_it) == len(with_it) - 1
        assert all(parent < at for at, parent in enumerate(tree.parents))


def noisy(random: Any, columns: tuple[int, ...], whole: FloatArray, deviation: float) -> NoisyMarginal:
    counts = over(whole, columns)
    return NoisyMarginal(
        columns, np.rint(counts + random.normal(0, deviation, counts.shape)), max(deviation, 1e-3) ** 2
    )


def test_the_fit_is_the_minimum_that_a_general_solver_finds() -> None:
    random, sizes = rng(4), (2, 3, 2)
    whole = random.multinomial(500, random.dirichlet(np.ones(12))).reshape(sizes).astype(float)
    marginals = [noisy(random, at, whole, 8) for at in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2)]]
    rows = rows_in(marginals)

    def loss(theta: FloatArray) -> float:
        """Equation (1) over the joint distribution itself."""
        p = np.exp(theta - theta.max()).reshape(sizes)
        p /= p.sum()
        kl = float((p * np.log(p * p.size)).sum())
        slack = [fitted_marginals.SLACK * m.variance**0.75 / rows**0.5 for m in marginals]
        off = [float(((rows * over(p, m.columns) - m.counts) ** 2).sum()) for m in marginals]
        return rows * kl + sum(o / (2 * c) for o, c in zip(off, slack, strict=True))

    best = optimize.minimize(
        loss, np.zeros(12), method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 100_000, "ftol": 1e-14}
    )
    fitted = fit(sizes, marginals, rows=rows, steps=500, near=1e-7)
    ours = fitted.marginal((0, 1, 2))
    assert loss(np.log(ours).ravel()) <= best.fun + 1e-4
    # a second measurement of the same columns weighs as one of half the variance
    twice = fit(sizes, [*marginals, *marginals], rows=rows, steps=500, near=1e-7)
    once = fit(
        sizes, [NoisyMarginal(m.columns, m.counts, m.variance / 2) for m in marginals], rows=rows, steps=500, near=1e-7
    )
    assert twice.marginal((0, 1, 2)) == pytest.approx(once.marginal((0, 1, 2)), abs=1e-6)


def test_marginals_without_noise_are_met_and_nothing_but_noise_is_flat() -> None:
    random, sizes = rng(5), (3, 4, 2)
    whole = random.multinomial(10_000, random.dirichlet(np.ones(24))).reshape(sizes).astype(float)
    sure = [noisy(random, at, whole, 0) for at in [(0, 1), (1, 2), (0, 2)]]
    fitted = fit(sizes, sure, rows=rows_in(sure), steps=2000, near=1e-3)
    for marginal in sure:
        assert 10_000 * fitted.marginal(marginal.columns) == pytest.approx(marginal.counts, abs=1)
    noise = [noisy(random, (i,), whole, 1e6) for i in range(3)]
    assert fit(sizes, noise, rows=10_000).marginal((1,)) == pytest.approx(0.25, abs=0.1)


def test_rows_are_as_many_of_each_kind_as_expected_up_to_few() -> None:
    random = rng(6)
    whole = random.multinomial(100_000, random.dirichlet(np.full(math.prod(SIZES), 0.3))).reshape(SIZES).astype(float)
    sure = [noisy(random, at, whole, 0) for at in [(0, 1), (1, 2), (2, 3), (3, 4)]]
    fitted = fit(SIZES, sure, rows=1e5, steps=500, near=0.01)
    codes = draw(fitted.tree, fitted.beliefs, 20_000, Chance(rng(7)))
    off, by_chance = [], []
    for columns in [(0,), (3,), (0, 1), (2, 3), (3, 4)]:
        p = fitted.marginal(columns)
        drawn = np.zeros(p.shape)
        np.add.at(drawn, tuple(codes[i] for i in columns), 1)
        off.append(np.abs(drawn / 20_000 - p).sum() / 2)
        by_chance.append(np.abs(rng(8).multinomial(20_000, p.ravel()) / 20_000 - p.ravel()).sum() / 2)
        assert drawn[p == 0].sum() == 0
    assert np.mean(off) < np.mean(by_chance) / 2


TOWN = "age=0:20:5, state=single|married|widowed, sex=f|m"
RULES = "age=0:15, state=widowed|married; sex=m, state=widowed, age="
ROLES = sf.Roles(quasi=("age", "sex"), sensitive=("state",))


def town(rows: int = 400) -> Any:
    random = rng(9)
    ages = random.integers(0, 20, rows).tolist()
    state = ["single" if age < 15 else ["single", "married", "widowed"][int(random.integers(3))] for age in ages]
    return sf.read(
        pa.table(
            {"age": [None, *ages[1:]], "state": state, "sex": [["f", "m"][int(i)] for i in random.integers(0, 2, rows)]}
        )
    )


@pytest.mark.parametrize("structure", ["adaptive", "tree", "chain", "independent"])
def test_no_row_says_what_cannot_be(structure: Any, tmp_path: Path) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for seed in (1, 2):
        made_by = DpSynthesis(domains=TOWN, impossible=RULES, epsilon=0.05, structure=structure, rows=2000)
        release = made_by(town(), ROLES, np.random.default_rng(seed))
        for row in written(release, tmp_path):
            seen[row["age"], row["state"]] += 1
            assert not (row["age"] in ("[0,5)", "[5,10)", "[10,15)") and row["state"] in ("widowed", "married"))
            assert not (row["sex"] == "m" and row["state"] == "widowed" and not row["age"])
        assert any("stated to be impossible" in note for note in release.notes)
    assert seen["[15,20]", "widowed"]  # this can be
    assert seen["[0,5)", "single"]


@pytest.mark.parametrize(
    ("impossible", "says"),
    [
        ("age=0:15", "names at least two columns"),
        ("age=0:12, sex=m", "ends inside a bin"),
        ("age=40:60, sex=m", "holds none of its values"),
        ("age=0:15, sex=x", "a value of 'sex' that its domain does not have"),
        ("age=0:15, name=x", "names column 'name', which is not made"),
        ("age=0:15, sex", "reads NAME=..."),
    ],
)
def test_rules_that_cannot_be_meant_are_refused(impossible: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        mechanism("dp_synthesis").of({"domains": TOWN, "impossible": impossible, "epsilon": "1"})(town(9), ROLES, rng())


def test_rules_that_leave_nothing_are_infeasible() -> None:
    with pytest.raises(Infeasible, match="leave no row"):
        DpSynthesis(domains=TOWN, impossible="sex=f|m|, state=single|married|widowed|", epsilon=1)(
            town(9), ROLES, rng()
        )
