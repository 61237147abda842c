"""Requirements, sets, roles and hierarchies: what is written is read back as it was, whatever it holds."""

from __future__ import annotations

import contextlib
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.metric import Metric
from sfumato.core.roles import Roles
from sfumato.core.value_sets import read_set, spell_set

VARIANTS = [v for m in sf.registry().values() for v in m.variants()]
text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
bounds = st.one_of(st.integers(-(10**6), 10**6), st.floats(allow_nan=False, allow_infinity=False))


@given(st.sampled_from(VARIANTS), bounds, st.one_of(st.none(), text))
def test_a_requirement_reads_back(metric: Metric, bound: float, column: str | None) -> None:
    if column is not None and "sensitive" in metric.card.needs:
        metric = metric.on(column)
    limit = metric.at_least(bound) if metric.card.better == "higher" else metric.at_most(bound)
    back = sf.require(str(limit))
    assert back == limit
    assert str(back) == str(limit)
    assert sf.metric(str(metric)) == metric


@given(st.sampled_from(VARIANTS), bounds, st.floats(allow_nan=False))
def test_a_limit_is_a_limit(metric: Metric, bound: float, value: float) -> None:
    higher = metric.card.better == "higher"
    limit = metric.at_least(bound) if higher else metric.at_most(bound)
    slack = 1e-9 * max(1.0, abs(bound))
    assume(abs(value - bound) > slack or value == bound)
    assert limit.holds(value) == (value >= bound if higher else value <= bound)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(given_text: str) -> None:
    with contextlib.suppress(sf.SfumatoError):  # anything else is a bug
        assert sf.require(str(sf.require(given_text))) == sf.require(given_text)


@given(st.lists(text, min_size=1, max_size=4, unique=True))
def test_a_set_reads_back(members: list[str]) -> None:
    assert read_set(spell_set(members)) == members


names = st.lists(text, max_size=8, unique=True)


@given(names, st.data())
def test_roles_read_back(columns: list[str], data: st.DataObject) -> None:
    kinds: dict[str, list[str]] = {"identifiers": [], "quasi": [], "sensitive": [], "insensitive": []}
    for name in columns:
        kinds[data.draw(st.sampled_from(list(kinds)))].append(name)
    weights = {name: data.draw(st.floats(0, 1e9)) for name in columns[:2]}
    orders = {name: tuple(data.draw(names)) for name in columns[1:3]}
    rules = {
        name: data.draw(st.sampled_from([{"widths": [5, 10]}, {"prefix": True}, "a file.csv"])) for name in columns[2:]
    }
    roles = Roles(**{k: tuple(v) for k, v in kinds.items()}, weights=weights, orders=orders, hierarchies=rules)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "roles.toml"
        path.write_text(roles.toml(), encoding="utf-8", newline="")
        back = Roles.read(path)
    for name in (*kinds, "weights", "orders", "hierarchies"):
        assert getattr(back, name) == getattr(roles, name)


@given(st.lists(text, min_size=1, max_size=6, unique=True), st.data())
def test_a_hierarchy_reads_back(values: list[str], data: st.DataObject) -> None:
    rows = [(value, data.draw(st.sampled_from(["x", "y, z", 'q"', "[1,2)", " "])), "*") for value in values]
    hierarchy = Hierarchy.of("c", rows)
    with tempfile.TemporaryDirectory() as folder:
        hierarchy.write(Path(folder) / "h.csv")
        assert Hierarchy.read("c", Path(folder) / "h.csv").levels == hierarchy.levels


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=4, max_size=4), min_size=1, max_size=6))
def test_a_hierarchy_nests_or_is_refused(rows: list[list[str]]) -> None:
    """Level by level over pairs of values: what shares a label shares every higher one."""
    given_rows = [[f"v{i}", *row] for i, row in enumerate(rows)]
    pairs = [(a, b) for a in rows for b in rows]
    nests = all(a[h + 1] == b[h + 1] for a, b in pairs for h in range(3) if a[h] == b[h])
    if not nests:
        with pytest.raises(InputError, match=r"line \d+: levels do not nest"):
            Hierarchy.of("c", given_rows)
        return
    hierarchy = Hierarchy.of("c", given_rows)
    groups = [len(set(level)) for level in hierarchy.levels]
    assert groups == sorted(groups, reverse=True)
    assert groups[-1] == 1
    codes: Any = hierarchy.codes()
    for h, level in enumerate(hierarchy.levels):
        same = [(i, j) for i in range(len(level)) for j in range(len(level)) if level[i] == level[j]]
        assert all(codes[h][i] == codes[h][j] for i, j in same)
        assert len(set(codes[h].tolist())) == len(set(level))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back(x: float) -> None:
    from sfumato.core.ladders import number
    from sfumato.core.metric import spell_number

    for spelled in (number(x), spell_number(x)):
        assert float(spelled) == x or math.isclose(float(spelled), x, rel_tol=0)
