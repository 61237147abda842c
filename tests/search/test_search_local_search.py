"""Lattices too large to hold: the bound is one, the node is feasible, and both meet where they can."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from selection import enough, rounds
from sfumato.core.errors import Infeasible
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.table import Table
from sfumato.metrics import require
from sfumato.search import full_domain, local_search
from sfumato.search.box_bound import BoxBound, PartBounds
from sfumato.search.face_bound import Face, Faces
from sfumato.search.full_domain import optimal_generalization
from sfumato.search.local_search import LocalSearch, explore_wide
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
    wide = Faces(problem)
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
        table(data), roles, require=[require("k_anonymity >= 5")], suppression=0.05, time_limit=0.5
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


@pytest.mark.parametrize("minimise", ["loss", "iloss", "loss + 0.5*granularity"])
@pytest.mark.parametrize("suppression", [0.0, 0.1, 0.4, 1.0])
def test_boxes_bound_and_prove(table: MakeTable, minimise: str, suppression: float) -> None:
    """After any work, no feasible node costs less than the bound; with enough work it is the least of all nodes."""
    for seed in range(4):
        data, roles = random_table(table, 50 + seed, columns=5)
        asked = [require("k_anonymity >= 3")]
        exact = pose(data, roles, require=asked, minimise=minimise, suppression=suppression)
        losses = [exact.look(node)[1] for node in itertools.product(*map(range, exact.lattice.shape))]
        before = -math.inf
        for nodes in (1, 30, 100, 10**6):
            problem = pose(data, roles, require=asked, minimise=minimise, suppression=suppression)
            problem.most = nodes
            boxes = BoxBound(problem)
            assert boxes.tells_all
            boxes.run()
            assert before - 1e-9 <= problem.floor
            assert min(problem.floor, problem.best.loss if problem.best else math.inf) <= min(losses) + 1e-9
            before = problem.floor
        assert problem.best is not None
        assert math.isclose(problem.best.loss, min(losses), rel_tol=1e-9)
        assert problem.floor >= problem.best.loss - 1e-8


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("suppression", [0.1, 1.0])
def test_parts_of_the_columns_add_up_to_a_bound(table: MakeTable, parts: int, suppression: float) -> None:
    """After any work no feasible node costs less; with enough, each part is at the least that its columns alone can lose."""
    asked, bounded = [require("k_anonymity >= 3")], 0
    for seed in range(4):
        data, roles = random_table(table, 80 + seed, columns=6)
        exact = pose(data, roles, require=asked, minimise="loss", suppression=suppression)
        least = min(exact.look(node)[1] for node in itertools.product(*map(range, exact.lattice.shape)))
        before = -math.inf
        for nodes in (1, 20, 60, 10**6):
            problem = pose(data, roles, require=asked, minimise="loss", suppression=suppression)
            problem.most = nodes
            bounds = PartBounds(problem, parts, Faces(problem).order)
            bounds.run()
            assert before - 1e-9 <= problem.floor <= least + 1e-9
            before = problem.floor
        for boxes in bounds.boxes:
            assert boxes.done
            names = tuple(roles.quasi[j] for j in sorted(boxes.mine or ()))
            alone = sf.Roles(quasi=names, hierarchies=roles.hierarchies)
            part = pose(data, alone, require=asked, minimise="loss", suppression=suppression)
            cheapest = min(part.look(node)[1] for node in itertools.product(*map(range, part.lattice.shape)))
            assert boxes.bound * 6 / len(names) == pytest.approx(cheapest, abs=1e-8)
        assert sorted(j for boxes in bounds.boxes for j in boxes.mine or ()) == list(range(6))
        bounded += problem.floor > 0
    assert bounded


def test_a_wide_search_takes_the_best_bound_that_it_came_by(table: MakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the whole is too large, parts bound it, and by more than faces alone."""
    data, roles = random_table(table, 31, columns=9, rows=300)
    asked = [require("k_anonymity >= 5")]
    monkeypatch.setattr(local_search, "WORK", 20_000_000)
    bounds = []
    for hard in (1e8, 2e3, 1.0):  # whole, then halves and so on, then columns alone
        monkeypatch.setattr(local_search, "HARD", max(hard, 2.0))
        monkeypatch.setattr(local_search, "EASY", 100.0)
        problem = pose(data, roles, require=asked, minimise="loss", suppression=1.0)
        bounds.append(explore_wide(problem)[1])
        assert problem.best is not None
        assert 0 < bounds[-1] <= problem.best.loss + 1e-9
    assert bounds[0] > bounds[1] > 0


def test_boxes_say_nothing_of_what_sizes_do_not_tell(table: MakeTable) -> None:
    """Diversity needs the values, and discernibility is no sum over cells: other bounds are taken there."""
    data, roles = random_table(table, 5)
    for text, minimise, tells, tells_all in (
        ("k_anonymity >= 3", "loss", True, True),
        ("k_anonymity >= 3", "discernibility", False, False),
        ("k_anonymity >= 3", "loss_geometric", False, False),
        ("distinct_l_diversity >= 2", "loss", False, False),
    ):
        boxes = BoxBound(pose(data, roles, require=[require(text)], minimise=minimise, suppression=0.1))
        assert (boxes.tells, boxes.tells_all) == (tells, tells_all)
    both = [require("k_anonymity >= 3"), require("distinct_l_diversity >= 2")]
    boxes = BoxBound(pose(data, roles, require=both, minimise="loss", suppression=0.1))
    assert boxes.tells
    assert not boxes.tells_all


@pytest.mark.parametrize("budget", [None, 60])
def test_more_suppression_never_worsens_a_wide_search(
    table: MakeTable, budget: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stage of a search is the same whatever the limit: so the nodes of a larger limit contain those of a smaller one."""
    monkeypatch.setattr(local_search, "KICKS", 5)
    fell = 0
    for seed in rounds(12):
        data, roles = random_table(table, 700 + seed, columns=6, rows=150)
        losses, nodes = [], set()
        for suppression in (0.0, 0.01, 0.03, 0.1, 0.15, 0.4, 1.0):
            asked = [require("k_anonymity >= 4")]
            problem = pose(data, roles, require=asked, minimise="loss", suppression=suppression)
            problem.most = budget
            search = LocalSearch(problem)
            search.run()
            assert nodes <= search.known.keys()
            nodes = set(search.known)
            assert problem.best is not None
            losses.append(problem.best.loss)
        for before, after in itertools.pairwise(losses):
            assert after <= before + 1e-12, (seed, losses)
        fell += losses[-1] < losses[0]
    assert enough(fell > 6)


def test_work_is_counted_and_not_said_to_be_time(table: MakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search whose work is done says neither that the time is up nor that the nodes are."""
    monkeypatch.setattr(full_domain, "LARGEST", 1)
    monkeypatch.setattr(local_search, "WORK", 3_000_000)
    data, roles = random_table(table, 21, columns=8, rows=400)
    found = optimal_generalization(data, roles, require=[require("k_anonymity >= 5")], suppression=1.0)
    assert found.status == "gap"
    assert found.stopped is None
    again = optimal_generalization(data, roles, require=[require("k_anonymity >= 5")], suppression=1.0)
    assert (again.levels, again.loss, again.bound, again.checked) == (
        found.levels,
        found.loss,
        found.bound,
        found.checked,
    )
