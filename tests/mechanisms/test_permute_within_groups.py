"""Permutation within groups: values stay inside their group, the groups hold what was promised, and the rows promise nothing."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from house import Refusal, in_memory
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.release import Release
from sfumato.mechanisms.permute_within_groups import PermuteWithinGroups
from sfumato.publishing import publish, verify_release

ROLES = sf.Roles(quasi=("age", "town"), sensitive=("ill",), insensitive=("row",), source="roles.toml")
TWO = sf.Roles(quasi=("age", "town"), sensitive=("ill", "pay"), insensitive=("row",), source="roles.toml")


def people(count: int = 120) -> dict[str, list[Any]]:
    rng = np.random.default_rng(4)
    age = rng.integers(20, 60, count)
    return {
        "age": [None if i % 17 == 0 else int(a) for i, a in enumerate(age)],
        "town": [["Rome", "Oslo", "Bern", None][i] for i in rng.integers(0, 4, count)],
        "ill": [None if i % 13 == 0 else f"v{(a // 10 + k) % 6}" for i, (a, k) in enumerate(zip(age, rng.integers(0, 4, count), strict=True))],
        "pay": rng.integers(0, 9, count).tolist(),
        "row": [f"r{i:03d}" for i in range(count)],
    }  # fmt: skip


def written(
    mechanism: PermuteWithinGroups, folder: Path, roles: sf.Roles = ROLES, seed: int | None = 1
) -> list[dict[str, str]]:
    rng = None if seed is None else np.random.default_rng(seed)
    publish(mechanism(in_memory(people()), roles, rng), roles, mechanism.promises, folder / "release.csv")
    with (folder / "release.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("groups", ["mondrian", "anatomy"])
@pytest.mark.parametrize("l", [2, 3])
def test_the_file_holds_what_was_promised(groups: Any, l: int, tmp_path: Path) -> None:
    mechanism = PermuteWithinGroups(l=l, groups=groups)
    rows, before = written(mechanism, tmp_path), people()
    assert list(rows[0]) == ["age", "town", "ill", "row", "group"]
    by_group: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        i = int(row["row"][1:])  # nothing but the sensitive value has changed
        assert (row["age"], row["town"]) == (str(before["age"][i] or ""), before["town"][i] or "")
        by_group[row["group"]].append(i)
    released = {int(row["row"][1:]): row["ill"] for row in rows}
    for members in by_group.values():
        values = Counter(before["ill"][i] or "" for i in members)
        assert Counter(released[i] for i in members) == values, "a value left its group"
        assert len(values) >= l
        assert max(values.values()) <= len(members) / l
    assert len(by_group) > 3
    assert sum(released[i] != (before["ill"][i] or "") for i in released) > 40
    again = Release(table=sf.read(tmp_path / "release.csv"), joined_by="group", perturbed=frozenset({"ill"}))
    assert verify_release(again, ROLES, mechanism.promises).met
    assert not verify_release(again, ROLES, [sf.require("alpha_anonymity <= 0.05")]).met
    assert sf.k_anonymity(again, ROLES).value == 1
    blind = Release(table=sf.read(tmp_path / "release.csv"))  # whoever is not told takes the rows at their word
    assert not verify_release(blind, ROLES, mechanism.promises).met


def test_groups_by_mondrian_are_people_who_are_alike(tmp_path: Path) -> None:
    """They are Mondrian's classes: no two that Mondrian releases apart share a group."""
    rows = written(PermuteWithinGroups(l=2), tmp_path)
    wanted = PermuteWithinGroups(l=2).promises
    mondrian = sf.Mondrian(require=wanted)(in_memory(people()), ROLES).table.count(("row", "age", "town"))
    label = {}
    for row, age, town in zip(*mondrian.codes, strict=True):
        label[mondrian.columns[0].texts[row]] = (age, town)
    pairs = {(row["group"], label[row["row"]]) for row in rows}
    assert len(pairs) == len({group for group, _ in pairs}) == len({classes for _, classes in pairs}) > 3


@pytest.mark.full
def test_every_order_of_a_group_is_as_likely() -> None:
    """Three rows of one group, three values: each of the six orders in a sixth of the releases."""
    table = in_memory({"age": [1, 1, 1], "town": ["x"] * 3, "ill": list("abc"), "row": ["r0", "r1", "r2"]})
    seen: Counter[tuple[str, ...]] = Counter()
    for seed in range(600):
        counts = PermuteWithinGroups(l=3)(table, ROLES, np.random.default_rng(seed)).table.count(("row", "ill"))
        seen[tuple(str(counts.columns[1].texts[code]) for code in counts.codes[1])] += 1
    assert len(seen) == 6
    assert sum((n - 100) ** 2 / 100 for n in seen.values()) < 20.5  # chi-square, 5 degrees, 0.1%


def test_further_requirements_steer_the_groups(tmp_path: Path) -> None:
    wanted = (sf.require("t_closeness[equal] <= 0.25"), sf.require("entropy_l_diversity >= 2.5"))
    written(PermuteWithinGroups(require=wanted), tmp_path)
    again = Release(table=sf.read(tmp_path / "release.csv"), joined_by="group", perturbed=frozenset({"ill"}))
    assert verify_release(again, ROLES, wanted).met
    made = PermuteWithinGroups.of({"l": "2"}, (*wanted, sf.require("k_anonymity >= 2")))
    assert made.promises == (*PermuteWithinGroups(l=2).promises, *wanted)  # of k nothing is promised: rows stay exact


@pytest.mark.parametrize("together", [True, False])
def test_several_sensitive_columns(together: bool, tmp_path: Path) -> None:
    rows, before = written(PermuteWithinGroups(l=2, together=together), tmp_path, TWO), people()
    pairs = Counter((row["group"], row["ill"], row["pay"]) for row in rows)
    groups = {row["row"]: row["group"] for row in rows}
    kept = Counter(
        (groups[row], ill or "", str(pay))
        for row, ill, pay in zip(before["row"], before["ill"], before["pay"], strict=True)
    )
    assert (pairs == kept) is together
    for at in (1, 2):
        assert Counter((key[0], key[at]) for key in pairs.elements()) == Counter((k[0], k[at]) for k in kept.elements())


def test_extremes() -> None:
    """One group of everybody if nothing less is diverse enough; Infeasible if not even that is."""
    table = in_memory({"age": [1, 2, 3, 4], "town": list("wxyz"), "ill": list("aabb"), "row": list("0123")})
    release = PermuteWithinGroups(require=(sf.require("t_closeness[equal] <= 0"),))(table, ROLES)
    assert release.table.count(("group",)).n.tolist() == [4]
    with pytest.raises(Infeasible, match="distinct_l_diversity >= 3"):
        PermuteWithinGroups(l=3)(table, ROLES)
    with pytest.raises(Infeasible, match="l can be at most 2"):
        PermuteWithinGroups(l=3, groups="anatomy")(table, ROLES)
    one = in_memory({"age": [1], "town": ["w"], "ill": ["a"], "row": ["0"]})
    with pytest.raises(Infeasible):
        PermuteWithinGroups(l=2)(one, ROLES)


def test_a_wide_key_is_matched_too() -> None:
    """Quasi-identifiers whose combinations do not fit one integer are still found again."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"q{i}": rng.permutation(2000).tolist() for i in range(8)}
    columns["s"] = [f"v{i % 5}" for i in range(2000)]
    roles = sf.Roles(quasi=tuple(f"q{i}" for i in range(8)), sensitive=("s",))
    release = PermuteWithinGroups(l=3)(in_memory(columns), roles, np.random.default_rng(0))
    assert sf.metric("alpha_anonymity")(release, roles).value <= 1 / 3
    assert len(release.table.count(("group",))) > 100


@pytest.mark.parametrize("l", [1, 0, 2.5, True, "3"])
def test_l_must_be_whole_and_two_at_least(l: Any, refusal: Refusal) -> None:
    refusal(InputError, lambda: PermuteWithinGroups(l=l), "l must be at least 2")


def test_refusals(refusal: Refusal) -> None:
    table = in_memory(people())
    refusal(InputError, lambda: PermuteWithinGroups()(table, ROLES), "needs l")
    refusal(InputError, lambda: PermuteWithinGroups(l=2, groups="others"), "one of mondrian, anatomy")  # type: ignore[arg-type]
    refusal(InputError, lambda: PermuteWithinGroups(l=2, group=""), "cannot be empty")
    refusal(InputError, lambda: PermuteWithinGroups(l=2, group="AGE")(table, ROLES), "'AGE' already")
    refusal(InputError, lambda: PermuteWithinGroups(l=2)(table, sf.Roles(quasi=("age",))), "no sensitive column")
    refusal(InputError, lambda: PermuteWithinGroups(l=2)(table, sf.Roles(sensitive=("ill",))), "no quasi-identifier")
    refusal(InputError, lambda: PermuteWithinGroups(l=2, groups="anatomy")(table, TWO), "names 2")
    for text in ("k_anonymity >= 2", "p_sensitive_k_anonymity >= 2", "mutual_information <= 1"):
        refusal(InputError, lambda text=text: PermuteWithinGroups(require=(sf.require(text),)), "cannot steer by")
    wanted = (sf.require("alpha_anonymity <= 0.5"),)
    refusal(InputError, lambda: PermuteWithinGroups(l=2, groups="anatomy", require=wanted), "cannot steer by")
    person = sf.Roles(quasi=("age",), sensitive=("ill",), person="town")
    refusal(InputError, lambda: PermuteWithinGroups(l=2)(table, person), "one row per person")
