"""What stays in the house, split by released class: guarding nodes, where a mechanism divides the rows of one tuple."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.release import Release
from sfumato.core.roles import Roles

TREE = "a;x;*\nb;x;*\nc;y;*\nd;y;*\n"


def roles_in(folder: Path, **more: Any) -> Roles:
    (folder / "s.csv").write_text(TREE, encoding="utf-8")
    given = {"quasi": ("q", "r"), "sensitive": ("s",), "insensitive": ("tag",), "identifiers": ("name",)}
    return Roles(**{**given, **more}, guarding="guard", hierarchies={"s": "s.csv"}, folder=folder)


def people(rng: np.random.Generator, rows: int) -> dict[str, list[str]]:
    """Few tuples of many rows; the order of names, tags and guards have nothing to do with each other."""
    tags = rng.permutation(rows)
    return {
        "name": [f"n{i:03d}" for i in rng.permutation(rows)],
        "guard": rng.choice(["a", "b", "x", "y", "c", ""], rows).tolist(),
        "q": rng.choice(["1", "2", "3", "9"], rows).tolist(),
        "r": rng.choice(["u", "v"], rows).tolist(),
        "s": rng.choice(["a", "b", "c", "d"], rows).tolist(),
        "tag": [f"t{i:03d}" for i in tags],
    }


def plainly(data: dict[str, list[str]], release: Release, quasi: tuple[str, ...]) -> Counter[Any]:
    """Which guards are in which class, told by the tags, of which every row has its own."""
    released = release.table.count((*quasi, "tag"))
    texts = [[column.texts[c] for c in codes] for column, codes in zip(released.columns, released.codes, strict=True)]
    guard = dict(zip(data["tag"], data["guard"], strict=True))
    return Counter((*row[:-1], guard[str(row[-1])] or None) for row in zip(*texts, strict=True))


def held(release: Release, roles: Roles) -> Counter[Any]:
    evidence = release.evidence(roles)
    member, column, code, rows = evidence.held("guard", "this test")
    tuples = evidence.tuples
    names = [[c.texts[i] for i in codes] for c, codes in zip(tuples.columns, tuples.codes, strict=True)]
    found: Counter[Any] = Counter()
    for at, value, n in zip(member, code, rows, strict=True):
        found[(*(texts[at] for texts in names), column.texts[value])] += int(n)
    return found


def breach(data: dict[str, list[str]], release: Release) -> float:
    """`max_t 1/e sum_i b_i/N_i`, row by row (Xiao and Tao 2006)."""
    under = {
        "a": {"a"},
        "b": {"b"},
        "c": {"c"},
        "d": {"d"},
        "x": {"a", "b"},
        "y": {"c", "d"},
        "*": {"a", "b", "c", "d"},
    }
    table = release.table.count(("q", "r", "s", "tag"))
    rows = list(
        zip(*([c.texts[i] for i in codes] for c, codes in zip(table.columns, table.codes, strict=True)), strict=True)
    )
    guard = dict(zip(data["tag"], data["guard"], strict=True))
    worst = 0.0
    for q, r, _, tag in rows:
        mates = [under[str(s)] for a, b, s, _ in rows if (a, b) == (q, r)]
        if guard[str(tag)]:
            worst = max(worst, sum(len(m & under[guard[str(tag)]]) / len(m) for m in mates) / len(mates))
    return worst


MADE = {
    "k-member": sf.KMember(k=3),
    "mondrian, relaxed": sf.Mondrian(k=3, mode="relaxed"),
    "mondrian, strict": sf.Mondrian(k=3),
    "local suppression": sf.LocalSuppression(k=3),
    "full domain": sf.GeneralizeFullDomain(k=3, suppression=0.2),
    "microaggregation": sf.Microaggregation(k=3, columns="q"),
    "top and bottom": sf.TopBottomCoding(columns="q", top=3.0),
}


@pytest.mark.parametrize("name", MADE)
def test_guards_are_in_the_class_that_their_row_was_put_in(name: str, tmp_path: Path) -> None:
    roles, divided = roles_in(tmp_path), 0
    for seed in range(4):
        data = people(np.random.default_rng(seed), 40)
        release = MADE[name](sf.read(pa.table(data)), roles, np.random.default_rng(seed))
        assert held(release, roles) == plainly(data, release, roles.quasi)
        assert sf.personalized_breach(release, roles).value == pytest.approx(breach(data, release), abs=1e-12)
        divided += release.recoding is not None and release.recoding.divides
    if name in ("k-member", "mondrian, relaxed"):
        assert divided == 4, "this is the case the test is for"


def test_also_from_the_written_file(tmp_path: Path) -> None:
    roles = roles_in(tmp_path)
    data = people(np.random.default_rng(7), 40)
    release = sf.KMember(k=3)(sf.read(pa.table(data)), roles, np.random.default_rng(7))
    waive = {"tag": "it tells the rows of this test apart"}
    found = sf.publish(release, roles, [sf.require("personalized_breach <= 1")], tmp_path / "out.csv", waive=waive)
    assert found.verdicts[0].score.value == pytest.approx(breach(data, release), abs=1e-12)


def test_rows_that_the_release_does_not_tell_apart_are_dealt_out_whole(tmp_path: Path) -> None:
    """Without a tag any of them may be any: every guard is in some class, and none in two."""
    roles = roles_in(tmp_path, insensitive=())
    data = people(np.random.default_rng(3), 40)
    release = sf.KMember(k=3)(sf.read(pa.table(data)), roles, np.random.default_rng(3))
    found = held(release, roles)
    totals: Counter[Any] = Counter()
    for key, n in found.items():
        totals[key[-1]] += n
    assert totals == Counter(text or None for text in data["guard"])
    classes: Counter[Any] = Counter()
    for key, n in found.items():
        classes[key[:-1]] += n
    assert sorted(classes.values()) == sorted(release.table.count(roles.quasi).n)
