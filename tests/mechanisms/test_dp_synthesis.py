"""`dp_synthesis`: rows that keep the marginals they were drawn from, from domains that never come from the data."""

from __future__ import annotations

from collections import Counter
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
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.differential_privacy.budget import Budget
from sfumato.mechanisms.dp_synthesis import DpSynthesis
from sfumato.mechanisms.synthesis.measured_marginals import MeasuredMarginals

ROLES = sf.Roles(quasi=("a", "b"), sensitive=("c",), identifiers=("name",))
DOMAINS = "a=x|y, b=0:3, c=u|v|w"


def world(rows: int = 4000, seed: int = 1) -> Table:
    """c follows a nine times out of ten; b is on its own."""
    draw = rng(seed)
    a = draw.integers(0, 2, rows)
    c = np.where(draw.random(rows) < 0.9, a, 2)
    b = draw.integers(0, 4, rows)
    return table([["x", "y"][i] for i in a], b.tolist(), [["u", "v", "w"][i] for i in c])


def table(a: list[Any], b: list[Any], c: list[Any]) -> Table:
    kinds = {"name": pa.string(), "a": pa.string(), "b": pa.int64(), "c": pa.string()}
    columns = {"name": [f"p{i}" for i in range(len(a))], "a": a, "b": b, "c": c}
    return sf.read(pa.table(columns, schema=pa.schema(list(kinds.items()))))


def shares(rows: list[dict[str, str]], *names: str) -> dict[tuple[str, ...], float]:
    counted = Counter(tuple(row[name] for name in names) for row in rows)
    return {cell: n / len(rows) for cell, n in counted.items()}


def apart(one: list[dict[str, str]], other: list[dict[str, str]], *names: str) -> float:
    """Total variation between two files over some columns."""
    p, q = shares(one, *names), shares(other, *names)
    return sum(abs(p.get(cell, 0) - q.get(cell, 0)) for cell in {*p, *q}) / 2


def original(made: Table, folder: Path) -> list[dict[str, str]]:
    return written(sf.Release(table=made.keep(["a", "b", "c"])), folder, "original.csv")


@pytest.mark.parametrize("delta", [None, 1e-6])
@pytest.mark.parametrize("structure", ["adaptive", "tree"])
def test_the_pair_that_belongs_together_is_kept(structure: Any, delta: float | None, tmp_path: Path) -> None:
    made = world()
    release = DpSynthesis(domains=DOMAINS, epsilon=1, delta=delta, structure=structure)(made, ROLES, rng())
    rows, true = written(release, tmp_path), original(made, tmp_path)
    assert "a with c" in release.notes[2 if delta is None else 3]
    assert apart(rows, true, "a", "c") < 0.03
    assert apart(rows, true, "b") < 0.03
    assert abs(len(rows) - 4000) < 200


def test_independent_columns_lose_what_they_have_in_common(tmp_path: Path) -> None:
    made = world()
    release = DpSynthesis(domains=DOMAINS, epsilon=1, structure="independent")(made, ROLES, rng())
    rows, true = written(release, tmp_path), original(made, tmp_path)
    assert apart(rows, true, "c") < 0.03
    assert apart(rows, true, "a", "c") > 0.3
    assert "independent of one another" in release.notes[2]


def test_a_chain_follows_the_order_that_the_owner_names(tmp_path: Path) -> None:
    made = world()
    true = original(made, tmp_path)
    for columns, kept in (("a,c,b", True), ("a,b,c", False)):
        release = DpSynthesis(columns=columns, domains=DOMAINS, epsilon=1, structure="chain")(made, ROLES, rng())
        rows = written(release, tmp_path)
        assert (apart(rows, true, "a", "c") < 0.03) is kept
        assert "without looking at the data" in release.notes[2]
        assert list(rows[0]) == ["a", "b", "c"]  # the order of the input


def test_with_a_huge_epsilon_only_what_the_data_has_is_drawn(tmp_path: Path) -> None:
    made = table(["x", "x", "y", "y"] * 200, [0, 1, 2, 3] * 200, ["u", "u", "v", "w"] * 200)
    release = DpSynthesis(columns="b,a,c", domains=DOMAINS, epsilon=100_000, structure="chain")(made, ROLES, rng())
    rows = written(release, tmp_path)
    assert len(rows) == 800
    assert set(shares(rows, "a", "b")) == {("x", "0"), ("x", "1"), ("y", "2"), ("y", "3")}
    assert set(shares(rows, "a", "c")) == {("x", "u"), ("y", "v"), ("y", "w")}


def test_the_domain_never_comes_from_the_data(tmp_path: Path) -> None:
    made = table(["x", "unstated", None] * 50, [0, 99, -5] * 50, ["u", "u", "u"] * 50)
    kept = written(DpSynthesis(domains=DOMAINS, epsilon=100_000, structure="independent")(made, ROLES, rng()), tmp_path)
    assert {row["a"] for row in kept} == {"x", ""}  # unstated and missing are one
    assert {row["b"] for row in kept} == {"0", "3"}  # numbers are moved to the nearest bound
    settings = {"domains": DOMAINS, "epsilon": "100000", "structure": "independent", "outside": "drop"}
    dropped = written(mechanism("dp_synthesis").of(settings)(made, ROLES, rng()), tmp_path)
    assert {row["a"] for row in dropped} == {"x"}
    little = DpSynthesis(domains=DOMAINS, epsilon=0.01, rows=50)
    drawn = {row["c"] for seed in range(9) for row in written(little(made, ROLES, rng(seed)), tmp_path)}
    assert drawn == {"u", "v", "w", ""}  # what nobody has is drawn as well
    with pytest.raises(InputError, match="never taken from the data"):
        DpSynthesis(domains="a=x|y", epsilon=1)(made, ROLES, rng())


def test_what_is_released_and_said(tmp_path: Path) -> None:
    made, made_by = world(300), DpSynthesis(domains=DOMAINS, epsilon=1, structure="tree")
    release = made_by(made, ROLES)
    assert release.perturbed == {"a", "b", "c"}
    assert not release.statistics
    assert release.recoding is None
    assert release.notes[0].startswith("Promised by construction, not measured: 1-differential privacy")
    assert release.notes[1].startswith("Privacy budget spent: epsilon 1 of 1: 0.1111111111 on the counts of a")
    assert sf.publish(release, ROLES, made_by.promises, tmp_path / "out.csv").met
    with pytest.raises(Unavailable, match="'a' was perturbed"):
        sf.k_anonymity(release, ROLES)
    assert made.rows == 300


def test_how_many_rows(tmp_path: Path) -> None:
    assert len(written(DpSynthesis(domains=DOMAINS, epsilon=1, rows=17)(world(300), ROLES, rng()), tmp_path)) == 17
    counts = {
        len(written(DpSynthesis(domains=DOMAINS, epsilon=0.1)(world(900), ROLES, rng(s)), tmp_path)) for s in (1, 2)
    }
    assert len(counts) == 2  # the number of rows is noisy, too


def test_one_row_one_column_and_odd_names(tmp_path: Path) -> None:
    odd = "q, |=r"
    made = sf.read(pa.table({odd: ["v|1"]}))
    settings = {"domains": '"q, |=r"="v|1"|w', "epsilon": "9999", "outside": "drop"}
    rows = written(mechanism("dp_synthesis").of(settings)(made, sf.Roles(quasi=(odd,)), rng()), tmp_path)
    assert rows == [{odd: "v|1"}]


def test_a_table_too_small_for_its_epsilon_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MeasuredMarginals, "rows", 0.4)  # what noise may make of a single row
    with pytest.raises(Infeasible, match="noisy count of the rows is below 1"):
        DpSynthesis(domains=DOMAINS, epsilon=0.001)(table(["x"], [1], ["u"]), ROLES, rng())


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"domains": DOMAINS}, "needs an epsilon"),
        ({"domains": DOMAINS, "epsilon": "1", "rows": "0"}, "rows must be at least 1"),
        (
            {"domains": DOMAINS, "epsilon": "1", "structure": "star"},
            "must be one of adaptive, tree, chain, independent",
        ),
        ({"domains": DOMAINS, "epsilon": "1", "columns": "a,name"}, "'name' has no role that may be released"),
        ({"domains": DOMAINS, "epsilon": "1", "columns": "a,a"}, "names a column twice"),
        (
            {"domains": "a=x|y, b=0:999999, c=0:999999", "epsilon": "1", "structure": "tree"},
            "cells, and 5,000,000 is the most",
        ),
    ],
)
def test_refusals(settings: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        mechanism("dp_synthesis").of(settings)(world(10), ROLES, rng())


def test_an_overdrawn_budget_is_refused_before_anything_is_measured() -> None:
    budget = Budget(0.5)
    with pytest.raises(Infeasible, match="does not allow dp_synthesis"):
        DpSynthesis(domains=DOMAINS, epsilon=1, budget=budget)(world(10), ROLES, rng())
    assert not budget.ledger
