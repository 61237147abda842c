"""Rank swapping: each column keeps its values, no value goes further than it may, and swaps come out as two drawn partners."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from house import Refusal, in_memory
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.randomness import Chance
from sfumato.mechanisms import rank_swapping as room
from sfumato.mechanisms.rank_swapping import RankSwapping, matched
from sfumato.publishing import publish

ROLES = sf.Roles(
    quasi=("age", "born", "size"), sensitive=("pay",), insensitive=("row", "note"), identifiers=("name",),
    orders={"size": ("small", "medium", "large")}, source="roles.toml",
)  # fmt: skip


def people(count: int = 200) -> dict[str, list[Any]]:
    rng = np.random.default_rng(7)
    return {
        "age": [None if i % 9 == 0 else int(a) for i, a in enumerate(rng.integers(18, 90, count))],
        "born": [f"19{y:02d}-0{m}-1{d}" for y, m, d in zip(rng.integers(30, 99, count), rng.integers(1, 9, count), rng.integers(0, 9, count), strict=True)],
        "size": [["small", "medium", "large"][i] for i in rng.integers(0, 3, count)],
        "pay": (rng.permutation(count) / 4).tolist(),
        "row": [f"r{i:03d}" for i in range(count)],
        "note": [["a", "b", "c"][i % 3] for i in range(count)],
        "name": [f"n{i}" for i in range(count)],
    }  # fmt: skip


def written(mechanism: RankSwapping, folder: Path, seed: int = 1) -> dict[str, list[str]]:
    """The columns of the file, rows in the order of the input."""
    release = mechanism(in_memory(people()), ROLES, np.random.default_rng(seed))
    publish(release, ROLES, mechanism.promises, folder / "release.csv")
    with (folder / "release.csv").open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["row"])
    return {name: [row[name] for row in rows] for name in rows[0]}


# --- partners --------------------------------------------------------------------------------------------------------


@given(count=st.integers(0, 60), reach=st.integers(1, 70), seed=st.integers(0, 50))
def test_partners_are_two_and_two_within_reach_and_who_is_left_is_out_of_reach(
    count: int, reach: int, seed: int
) -> None:
    partner = matched(count, reach, Chance(np.random.default_rng(seed)))
    place = np.arange(count)
    assert (partner[partner] == place).all()
    assert np.abs(partner - place).max(initial=0) <= reach
    alone = np.flatnonzero(partner == place)
    assert (np.diff(alone) > reach).all()
    if reach >= count:
        assert len(alone) == count % 2


def test_partners_are_as_likely_near_as_far() -> None:
    """In the middle of the ranks the distances are uniform, on average half the reach."""
    partner = matched(20_000, 100, Chance(np.random.default_rng(0)))
    moved = np.abs(partner - np.arange(20_000))[1000:-1000]
    moved = moved[moved > 0]
    assert 0.47 < moved.mean() / 100 < 0.53
    tenth = np.bincount((moved - 1) // 10, minlength=10) / len(moved)
    assert (np.abs(tenth - 0.1) < 0.025).all()


def test_two_places_are_swapped_and_one_stays() -> None:
    assert matched(2, 1, Chance(None)).tolist() == [1, 0]
    assert matched(1, 5, Chance(None)).tolist() == [0]


# --- what is written -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 5, 20, 100])
def test_values_stay_in_their_column_and_within_reach(p: float, tmp_path: Path) -> None:
    after, before = written(RankSwapping(columns="age,born,size,pay", p=p), tmp_path), people()
    assert "name" not in after
    assert after["note"] == before["note"]
    for name in ("age", "born", "pay"):
        old = [None if v is None else float(v) if name != "born" else v for v in before[name]]
        new = [None if v == "" else float(v) if name != "born" else v for v in after[name]]
        assert Counter(new) == Counter(old)
        assert [v is None for v in new] == [v is None for v in old], "a missing value stays where it was"
        known = sorted(v for v in old if v is not None)
        reach = int(len(known) * p / 100 + 1e-9)
        lowest, highest = {v: known.index(v) for v in known}, {v: len(known) - 1 - known[::-1].index(v) for v in known}
        for a, b in zip(old, new, strict=True):
            if a is not None:
                assert lowest[b] - highest[a] <= reach, "equal values share their ranks"
                assert lowest[a] - highest[b] <= reach
    assert Counter(after["size"]) == Counter(before["size"])
    distinct = [float(v) for v in after["pay"]]
    assert sum(a != b for a, b in zip(before["pay"], distinct, strict=True)) > 150


def test_a_reach_that_is_30_percent_off_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean displacement tells the reach: the right one is accepted, one 30% too short or too long is not."""
    table = in_memory({"x": list(range(5000)), "row": [f"r{i:04d}" for i in range(5000)]})
    roles = sf.Roles(quasi=("x",), insensitive=("row",))

    def fits() -> bool:
        counts = RankSwapping(columns="x", p=4)(table, roles, np.random.default_rng(3)).table.count(("row", "x"))
        released = counts.columns[1].numbers
        assert released is not None
        moved = np.abs(released[counts.codes[1]] - np.arange(5000))
        return bool(abs(moved[500:-500].mean() / 100 - 1) < 0.06 and moved.max() <= 200)

    assert fits()
    right = room.matched
    for factor in (0.7, 1.3):
        monkeypatch.setattr(room, "matched", lambda n, reach, chance, f=factor: right(n, int(reach * f), chance))
        assert not fits()


def test_order_between_columns_fades_as_p_grows() -> None:
    x = np.arange(2000)
    table, roles = in_memory({"x": x, "y": x * 2 + 1}), sf.Roles(quasi=("x", "y"))
    found = []
    for p in (1, 10, 50, 100):
        counts = RankSwapping(columns="x", p=p)(table, roles, np.random.default_rng(0)).table.count(("x", "y"))
        found.append(np.corrcoef(counts.codes[0], counts.codes[1])[0, 1])
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.999
    assert abs(found[-1]) < 0.1


def test_who_finds_no_partner_is_told() -> None:
    release = RankSwapping(columns="pay", p=0.5)(in_memory(people()), ROLES, np.random.default_rng(0))
    (note,) = [text for text in release.notes if "no partner" in text]
    assert "'pay'" in note
    odd = RankSwapping(columns="x", p=100)(in_memory({"x": [1, 2, 3]}), sf.Roles(quasi=("x",)))
    assert any("1 of 3 values found no partner" in text for text in odd.notes)
    assert RankSwapping(columns="x", p=100)(in_memory({"x": [1, 2]}), sf.Roles(quasi=("x",))).notes == ()


def test_swapped_columns_are_perturbed_and_others_are_not() -> None:
    release = RankSwapping(columns="age", p=10)(in_memory(people()), ROLES, np.random.default_rng(0))
    assert release.perturbed == {"age"}
    with pytest.raises(Unavailable, match="'age' was perturbed"):
        sf.k_anonymity(release, ROLES)
    assert 0 < sf.metric("noise_interval")(release, ROLES).value < 0.3
    assert 0 < sf.metric("linkage_distance_risk")(release, ROLES).value < 1


def test_constant_columns_missing_columns_and_odd_names() -> None:
    columns = {'a, "b"': [5, 5, 5, 5], "gone": pa.array([None, None, None, 1.5], pa.float64()), "x": [4, 3, 2, 1]}
    roles = sf.Roles(quasi=('a, "b"', "gone", "x"))
    release = RankSwapping(columns='"a, ""b""",x', p=100)(in_memory(columns), roles, np.random.default_rng(0))
    assert release.perturbed == {'a, "b"', "x"}
    assert release.table.count(('a, "b"',)).n.tolist() == [4]
    assert RankSwapping(columns='a, "b"', p=50)(in_memory(columns), roles).perturbed == {'a, "b"'}  # one name, as it is
    alone = RankSwapping(columns="gone", p=100)(in_memory(columns), roles)
    assert alone.table.count(("gone",)).n.tolist() == [1, 3]


@pytest.mark.parametrize("p", [0, -1, 100.5, float("nan"), True, "5"])
def test_p_is_a_percentage(p: Any, refusal: Refusal) -> None:
    refusal(InputError, lambda: RankSwapping(columns="age", p=p), "p is a percentage")


def test_refusals(refusal: Refusal) -> None:
    table = in_memory(people())
    refusal(InputError, lambda: RankSwapping()(table, ROLES), "needs columns")
    refusal(InputError, lambda: RankSwapping(columns="age,,pay")(table, ROLES), "empty")
    refusal(InputError, lambda: RankSwapping(columns="age,age")(table, ROLES), "twice")
    refusal(InputError, lambda: RankSwapping(columns="age,wage")(table, ROLES), "'wage'")
    refusal(InputError, lambda: RankSwapping(columns="name")(table, ROLES), "'name'", "may be released")
    refusal(InputError, lambda: RankSwapping(columns="note")(table, ROLES), "'note' has no order", "[orders]")
    refusal(InputError, lambda: RankSwapping(columns="pay", p=0.4)(table, ROLES), "less than one rank", "raise p")
    refusal(InputError, lambda: RankSwapping(columns="x")(in_memory({"x": [1]}), sf.Roles(quasi=("x",))), "raise p")
