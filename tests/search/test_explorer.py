"""The explorer says of a node what the release itself measures, and releases what it says."""

from __future__ import annotations

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.search.explorer import Explorer
from sfumato.search.full_domain import optimal_generalization

ROWS = 300
ROLES = sf.Roles(
    quasi=("age", "zip", "sex"),
    sensitive=("ill",),
    hierarchies={"age": {"widths": [5, 10, 20]}, "zip": {"prefix": [1, 2]}},
)
METRICS = [sf.metric(text) for text in ("k_anonymity", "marketer_risk", "iloss", "discernibility", "distinct_l_diversity", "query_error")]  # fmt: skip


@pytest.fixture(scope="module")
def table() -> sf.Table:
    draw = np.random.default_rng(8)
    return sf.read(
        pa.table(
            {
                "age": draw.integers(18, 80, ROWS),
                "zip": draw.choice(["101", "102", "111", "221", None], ROWS),
                "sex": draw.choice(["f", "m"], ROWS),
                "ill": draw.choice(["flu", "gout", "none"], ROWS),
                "note": ["x"] * ROWS,
            }
        )
    )


@pytest.fixture(scope="module")
def explorer(table: sf.Table) -> Explorer:
    return sf.explore(table, ROLES, require=[sf.k_anonymity.at_least(4)], metrics=METRICS)


@pytest.mark.parametrize("seed", range(8))
def test_a_node_says_what_its_release_measures(table: sf.Table, explorer: Explorer, seed: int, tmp_path: Path) -> None:
    """Against the mechanism that releases these levels, and against the written file."""
    draw = np.random.default_rng(seed)
    levels = {name: int(draw.integers(0, top + 1)) for name, top in explorer.highest.items()}
    node = explorer.at(levels)
    text = ",".join(f"{name}={level}" for name, level in levels.items())
    other = sf.GeneralizeToLevels(levels=text)(table, ROLES)
    for metric in METRICS:
        if str(metric) in node.scores:
            assert node.scores[str(metric)].value == pytest.approx(metric(other, ROLES).value, abs=1e-12), metric
    assert {str(m) for m in METRICS} == {*node.scores, *node.unknown}
    assert node.class_sizes.sum() == node.rows == ROWS
    assert node.met == (node.class_sizes.min() >= 4)
    node.release(table, ROLES).table.write(tmp_path / "made.csv")
    other.table.write(tmp_path / "other.csv")
    assert (tmp_path / "made.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_classes_that_miss_are_left_out_while_there_is_room(table: sf.Table, explorer: Explorer, share: float) -> None:
    whole = explorer.at({"age": 1, "zip": 1})
    small = int(whole.class_sizes[whole.class_sizes < 4].sum())
    node = explorer.at({"age": 1, "zip": 1}, suppression=share)
    assert node.suppressed == (small if small <= share * ROWS else 0)
    assert node.met == (small <= share * ROWS)
    assert node.rows + node.suppressed == ROWS


def test_the_labels_of_each_level_are_told(explorer: Explorer) -> None:
    for column, highest in explorer.highest.items():
        labels = explorer.labels(column)
        assert len(labels) == highest + 1
        assert labels[-1] == ("*",)
        assert all(len(set(level)) == len(level) for level in labels)
    with pytest.raises(sf.InputError, match="no quasi-identifier"):
        explorer.labels("nobody")


def test_how_many_stay_alone_by_one_column(table: sf.Table, explorer: Explorer) -> None:
    ages = table.to_arrow()["age"].to_pylist()
    alone = explorer.alone("age")
    assert alone[0] == sum(ages.count(age) == 1 for age in ages)
    assert alone[-1] == 0
    with pytest.raises(InputError, match="'ill' is no quasi-identifier"):
        explorer.alone("ill")


def test_what_cannot_be_looked_at_is_refused(table: sf.Table, explorer: Explorer) -> None:
    for levels, word in (({"age": 9}, "levels 0 to"), ({"town": 1}, "no quasi-identifier")):
        with pytest.raises(InputError, match=word):
            explorer.at(levels)
    with pytest.raises(InputError, match="between 0 and 1"):
        explorer.at(suppression=2)


def test_looking_asks_the_engine_nothing(table: sf.Table, explorer: Explorer, monkeypatch) -> None:
    explorer.at()

    def scanned(*_: object) -> None:
        raise AssertionError("the table was scanned again")

    monkeypatch.setattr(type(table), "scan", scanned)
    assert explorer.at({"age": 2}).rows == ROWS


def test_it_prints_no_value(explorer: Explorer) -> None:
    node = explorer.at({"age": 1})
    assert repr(explorer) == "Explorer(40 nodes, 300 rows, 6 metrics)"
    assert repr(node) == "ExploredNode(age 1, zip 0, sex 0, 300 rows)"


@pytest.mark.parametrize("suppression", [0.0, 0.1])
@pytest.mark.parametrize("k", [2, 4, 12])
def test_the_search_of_an_explorer_is_the_search(
    table: sf.Table, explorer: Explorer, k: int, suppression: float
) -> None:
    """Other limits on the same counts, the same optimum as a count of its own; and every node is in one row of the picture."""
    require = [sf.k_anonymity.at_least(k)]
    search = explorer.under(require).search(suppression=suppression)
    own = optimal_generalization(table, ROLES, require=require, suppression=suppression)
    assert search.best is not None
    assert (search.best.levels, search.best.loss, search.best.status) == (own.levels, own.loss, "optimal")
    lattice = search.lattice
    nodes = list(itertools.product(*map(range, lattice.shape)))
    states = Counter((sum(node), search.state(node)) for node in nodes)
    assert sum(states.values()) == explorer.nodes
    assert sum(states[row.height, "chosen"] for row in search.rows) == 1
    for row in search.rows:
        assert row.nodes == sum(sum(node) == row.height for node in nodes)
        assert (row.missed, row.pruned) == (states[row.height, "missed"], states[row.height, "pruned"])
        assert row.met == states[row.height, "met"] + states[row.height, "chosen"]
    for node in nodes:
        if search.state(node) in ("met", "missed"):
            at = explorer.under(require).at(lattice.name(node), suppression=suppression)
            assert at.met == (search.state(node) == "met")


def test_a_search_without_an_answer_says_so(explorer: Explorer) -> None:
    search = explorer.under([sf.k_anonymity.at_least(ROWS + 1)]).search()
    assert search.best is None
    assert "No generalization meets" in search.why
    assert search.state(search.lattice.top) == "missed"
    with pytest.raises(InputError, match="not counted for"):
        explorer.under([sf.require("t_closeness[equal](ill) <= 0.2")])


def test_rows_alone_together_are_those_of_the_nodes(explorer: Explorer) -> None:
    for name, top in explorer.highest.items():
        expected = [int((explorer.at({name: h}).class_sizes == 1).sum()) for h in range(top + 1)]
        assert explorer.together(name) == expected


def test_two_who_look_at_once_see_what_each_would_see_alone(table: sf.Table) -> None:
    fresh = sf.explore(table, ROLES, require=[sf.k_anonymity.at_least(4)], metrics=METRICS[:3])
    nodes = list(itertools.product(*(range(top + 1) for top in fresh.highest.values())))
    expected = {node: sf.explore(table, ROLES).at(dict(zip(fresh.highest, node, strict=True))).class_sizes for node in nodes[::7]}  # fmt: skip
    with ThreadPoolExecutor(8) as threads:
        several = list(
            threads.map(lambda node: fresh.at(dict(zip(fresh.highest, node, strict=True))), list(expected) * 4)
        )
    for node, seen in zip(list(expected) * 4, several, strict=True):
        assert sorted(seen.class_sizes) == sorted(expected[node])
