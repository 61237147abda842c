"""Lattices too large to hold: the bound is one, the node is feasible, and both meet where they can."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.errors import Infeasible
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.table import Table
from sfumato.metrics import require
from sfumato.search import full_domain
from sfumato.search.full_domain import optimal_generalization
from sfumato.search.local_search import Face, Wide, explore_wide
from sfumato.search.problem import pose

MakeTable = Callable[[dict[str, Any]], Table]


def ladder(name: str, rng: np.random.Generator, values: int, height: int) -> Hierarchy:
    """A random nested hierarchy over the texts 0, 1, ..."""
    levels = [tuple(str(v) for v in range(values))]
    part = np.arange(values)
    for h in range(1, height):
        part = part // int(rng.integers(2, 4))
        levels.append(tuple(f"{name}{h}:{p}" for p in part))
    return Hierarchy(name, (*levels, ("*",) * values))


def random_table(make: MakeTable, seed: int, columns: int = 4, rows: int = 60) -> tuple[Table, sf.Roles]:
    rng = np.random.default_rng(seed)
    names = [f"q{i}" for i in range(columns)]
    data: dict[str, Any] = {}
    hierarchies = {}
    common = rng.integers(0, 4, rows)
    for name in names:
        values = int(rng.integers(2, 7))
        data[name] = [str(v) for v in (rng.integers(0, values, rows) + common * rng.integers(0, 2)) % values]
        hierarchies[name] = ladder(name, rng, values, int(rng.integers(1, 4)))
    data["w"] = [str(v) for v in rng.integers(0, 4, rows)]
    return make(data), sf.Roles(quasi=tuple(names), sensitive=("w",), hierarchies=hierarchies)


ASKED = (
    (["k_anonymity >= 3"], 0.0),
    (["k_anonymity >= 3"], 0.1),
    (["k_anonymity >= 2", "distinct_l_diversity >= 2"], 0.2),
    (["t_closeness[equal] <= 0.4"], 0.1),
    (["entropy_l_diversity >= 2"], 0.0),
    (["entropy_leakage <= 0.8", "k_anonymity >= 2"], 0.1),
)
LOSSES = ("loss", "loss_geometric", "iloss", "height", "discernibility", "-mutual_information", "loss + 0.01*height")


@pytest.mark.parametrize("minimise", LOSSES)
@pytest.mark.parametrize("asked", range(len(ASKED)))
def test_bound_and_node_enclose_the_optimum(table: MakeTable, minimise: str, asked: int) -> None:
    """On lattices that can also be searched exactly: bound <= optimum <= found, and a proof is right."""
    texts, suppression = ASKED[asked]
    requirements = [require(text) for text in texts]
    for seed in range(4):
        data, roles = random_table(table, 100 * asked + seed)
        exact = optimal_generalization(data, roles, require=requirements, minimise=minimise, suppression=suppression)
        problem = pose(data, roles, require=requirements, minimise=minimise, suppression=suppression)
        proved, bound = explore_wide(problem)
        assert problem.best is not None
        assert problem.best.verdict.feasible
        assert exact.loss <= problem.best.loss + 1e-9
        assert bound <= exact.loss + 1e-9
        assert not proved or math.isclose(problem.best.loss, exact.loss, rel_tol=1e-9, abs_tol=1e-9)


def test_a_face_is_a_bound_at_every_width(table: MakeTable) -> None:
    """The least of a face never exceeds what the columns of any feasible node cost, and grows with the face."""
    data, roles = random_table(table, 7, columns=4, rows=80)
    problem = pose(data, roles, require=[require("k_anonymity >= 4")], minimise="loss", suppression=0.05)
    wide = Wide(problem)
    feasible = []
    for node in itertools.product(*map(range, problem.lattice.shape)):
        verdict = problem.judge(problem.judge.rollup(node))
        if verdict.feasible:
            feasible.append(verdict)
    assert feasible
    face, before = Face(wide), 0.0
    for column in range(4):
        face.widen(column)
        face.search()
        least = face.least
        assert least >= before - 1e-12
        before = least
        (_, term), *_ = problem.loss.terms
        cheapest = min(term.value(verdict) for verdict in feasible)
        assert least <= cheapest + 1e-9
    # over all columns the face is the lattice, and k-anonymity leaves no room between bound and optimum
    assert math.isclose(before, cheapest, rel_tol=1e-9)


def test_an_infeasible_wide_problem_says_so(table: MakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the whole table can give is refused, and the nearest is told."""
    monkeypatch.setattr(full_domain, "LARGEST", 1)
    data, roles = random_table(table, 3)
    with pytest.raises(Infeasible, match="k_anonymity >= 60"):
        optimal_generalization(data, roles, require=[require("k_anonymity >= 61")])


def test_the_time_limit_is_kept(table: MakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lattice of 10^9 nodes ends within its time, with a bound below the loss."""
    monkeypatch.setattr(full_domain, "LARGEST", 1)
    rng = np.random.default_rng(1)
    names = [f"q{i}" for i in range(15)]
    common = rng.integers(0, 4, 3000)
    data = {n: [str(v) for v in (rng.integers(0, 3, 3000) * 4 + common)] for n in names}
    roles = sf.Roles(quasi=tuple(names), hierarchies={n: ladder(n, rng, 12, 3) for n in names})
    found = optimal_generalization(
        table(data), roles, require=[require("k_anonymity >= 5")], suppression=0.05, time_limit=2.0
    )
    assert found.nodes == 4**15
    assert found.seconds < 6
    assert found.status == "gap"
    assert found.stopped == "time"
    assert 0 < found.bound < found.loss
    assert require("k_anonymity >= 5").check(found.release(table(data), roles), roles).met


def test_without_limits_the_search_repeats_itself(table: MakeTable) -> None:
    """The same table, the same node and bound: no clock is looked at."""
    data, roles = random_table(table, 11, columns=5, rows=200)
    results = []
    for _ in range(2):
        problem = pose(data, roles, require=[require("k_anonymity >= 4")], minimise="loss", suppression=0.05)
        _, bound = explore_wide(problem)
        assert problem.best is not None
        results.append((problem.best.levels, problem.best.loss, bound, problem.checked))
    assert results[0] == results[1]
