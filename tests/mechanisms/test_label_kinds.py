"""What classes may say: every allowed kind covers the class, the cheapest is taken, and the owner's word holds whatever a run asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mondrian_tables import JOBS, ROW, TAXONOMY, Made, made, read_back

import sfumato as sf
from sfumato.core.cover import Domain
from sfumato.core.errors import InputError
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.mechanism import Mechanism
from sfumato.core.roles import Roles
from sfumato.mechanisms.partition.axes import PartitionAxis
from sfumato.mechanisms.partition.clusters import AxisLoss

MECHANISMS = (sf.Mondrian, sf.KMember)
RUNS = ("hierarchies", "plain", "cheapest", "any")
AGES = [(str(a), f"{a // 4 * 4}-{a // 4 * 4 + 3}", "young" if a < 8 else "old", "*") for a in range(16)]


def _table(ages: list[Any], jobs: list[Any], labels: dict[str, Any] | None = None) -> Made:
    hierarchies = {"age": Hierarchy.of("age", AGES), "job": Hierarchy.of("job", TAXONOMY)}
    return made({"age": ages, "job": jobs}, hierarchies=hierarchies, labels=labels or {})


def _kind(label: str | None, values: set[str | None]) -> str:
    """What a released text is, where it is not the one value that its class has."""
    if {label} == values:
        return "value"
    if label is not None and label.startswith("{"):
        return "sets"
    return "ranges" if label is not None and (label[0] in "[<>(") else "taxonomy"


def _classes(table: Made, mechanism: Mechanism, folder: Path) -> dict[tuple[Any, ...], list[dict[str, str | None]]]:
    """The original values of each class of the published file."""
    release = mechanism(table.table, table.roles)
    sf.publish(release, table.roles, mechanism.promises, folder / "release.csv")
    before = {row: i for i, row in enumerate(table.columns[ROW])}
    found: dict[tuple[Any, ...], list[dict[str, str | None]]] = {}
    for row in read_back(folder / "release.csv"):
        at = before[str(row[ROW])]
        own = {name: table.texts(name)[at] for name in table.roles.quasi}
        found.setdefault(tuple(row[name] for name in table.roles.quasi), []).append(own)
    return found


def _leaves(table: Made, name: str, label: str | None) -> set[str | None]:
    """The values of the column that a label covers, as the metrics read it."""
    column = table.table.count((name,)).columns[0]
    codes = Domain(column, table.roles.taxonomy(name)).covered(label)
    assert codes is not None
    return {column.texts[c] for c in codes.tolist()}


def _cheapest(table: Made, name: str, held: set[str | None], kinds: list[str]) -> int:
    """The fewest values of the column that an allowed label for these values stands for, by plain Python."""
    every = {*table.texts(name)}
    if len(held) == 1:
        return 1
    if None in held:
        return len(every)
    sizes = []
    if "sets" in kinds:
        sizes.append(len(held))
    if "ranges" in kinds:
        numbers = sorted(int(str(v)) for v in every if v is not None)
        low, high = min(int(str(v)) for v in held), max(int(str(v)) for v in held)
        sizes.append(sum(low <= x <= high for x in numbers))
    if "taxonomy" in kinds:
        lines = {line[0]: line for line in (AGES if name == "age" else TAXONOMY)}
        height = len(AGES[0]) - 1
        level = next(h for h in range(height + 1) if len({lines[str(v)][h] for v in held}) == 1)
        label = lines[str(next(iter(held)))][level]
        under = {v for v in every if level == height or (v is not None and lines[v][level] == label)}
        sizes.append(len(under))
    return min(sizes)


@pytest.mark.parametrize("kind", MECHANISMS)
@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from([*range(16), None]), st.sampled_from(JOBS)), min_size=4, max_size=30),
    run=st.sampled_from(RUNS),
    stated=st.sampled_from(
        [None, ["taxonomy"], ["ranges"], ["sets"], ["taxonomy", "ranges"], ["ranges", "sets"], "any"]
    ),
)
def test_each_class_says_the_cheapest_that_is_allowed(
    kind: Any, rows: list[tuple[int | None, str]], run: str, stated: Any, tmp_path_factory: Any
) -> None:
    table = _table([a for a, _ in rows], [j for _, j in rows], {"age": stated} if stated else {})
    numbers = [a for a, _ in rows if a is not None]
    if not numbers:
        return
    three = ["taxonomy", "ranges", "sets"]
    by_run = {"hierarchies": ["taxonomy"], "plain": ["ranges"], "cheapest": ["taxonomy", "ranges"], "any": three}[run]
    allowed = {"age": by_run, "job": ["taxonomy"] if run in ("hierarchies", "cheapest") else ["taxonomy", "sets"]}
    if run == "plain":
        allowed["job"] = ["sets"]
    if stated:
        owner = three if stated == "any" else stated
        allowed["age"] = [k for k in owner if k != "taxonomy"] or owner if run == "plain" else owner
    for classes in [_classes(table, kind(k=3, labels=run), tmp_path_factory.mktemp("made"))]:
        for labels, people in classes.items():
            assert len(people) >= 3
            for name, label in zip(table.roles.quasi, labels, strict=True):
                held = {person[name] for person in people}
                covered = _leaves(table, name, label)
                assert held <= covered
                assert len(covered) == _cheapest(table, name, held, allowed[name])
                every = {*table.texts(name)}
                if label != "*" and covered != every:  # what stands for everything is said in one way or another
                    assert _kind(label, held) in ("value", *allowed[name])


def test_without_hierarchies_is_what_deleting_them_gives() -> None:
    rng = np.random.default_rng(3)
    ages, jobs = rng.integers(0, 16, 80).tolist(), [JOBS[i] for i in rng.integers(0, len(JOBS), 80)]
    table = _table(ages, jobs)
    bare = made({"age": ages, "job": jobs})
    for kind in MECHANISMS:
        plain = kind(k=4, labels="plain")(table.table, table.roles)
        deleted = kind(k=4)(bare.table, bare.roles)
        assert sf.iloss(plain, bare.roles).value <= 1.05 * sf.iloss(deleted, bare.roles).value
        texts = {text for text in plain.table.count(("job",)).columns[0].texts if text not in (None, "*")}
        assert not texts & {label for line in TAXONOMY for label in line[1:]} - set(JOBS)


def test_the_price_of_a_cluster_is_the_loss_of_what_it_releases() -> None:
    table = _table([*range(16), None], [JOBS[i % 7] for i in range(17)], {"age": "any"})
    column = table.table.count(("age",)).columns[0]
    for labels in (["taxonomy", "ranges"], ["ranges", "sets"], ["taxonomy", "sets"], "any"):
        roles = _table([1], ["cook"], {"age": labels}).roles
        axis = PartitionAxis.of(column, np.ones(len(column), dtype=np.int64), roles)
        ruler, domain = AxisLoss(axis, roles), Domain(column, roles.taxonomy("age"))
        rng = np.random.default_rng(0)
        for _ in range(60):
            held = np.unique(rng.choice(len(axis), rng.integers(1, 5)))
            low, high, none = held[:1], held[-1:], np.zeros(len(held), dtype=np.int64)
            (label,) = axis.spell(low, high, none, held)
            leaves = domain.leaves(label)
            assert leaves is not None
            assert ruler.loss(low, high, np.array([len(held)]))[0] == pytest.approx((leaves - 1) / domain.size)


def test_the_owner_s_word_holds_against_every_run() -> None:
    ages = [0, 1, 2, 3, 9, 10, 12, 15] * 2
    table = _table(ages, ["cook"] * 16, {"age": "taxonomy"})
    for kind in MECHANISMS:
        for run in RUNS:
            release = kind(k=5, labels=run)(table.table, table.roles)
            texts = set(release.table.count(("age",)).columns[0].texts)
            assert texts <= {label for line in AGES for label in line}


def test_codes_of_four_digits_are_no_years(tmp_path: Path) -> None:
    """0131 looks like the year 131, and was released as [0131,0262), which no metric could read."""
    codes = ["0131", "0262", "0393", "0524", "0655", "0786"] * 2
    table = made({"code": codes})
    for kind in MECHANISMS:
        classes = _classes(table, kind(k=3), tmp_path)
        assert all(label is not None and label[0] in "{0*" for (label,) in classes)


@pytest.mark.parametrize("bad", ["intervals", [], ["ranges", "nodes"], 3, {"ranges": True}])
def test_unknown_kinds_are_refused(bad: Any) -> None:
    with pytest.raises(InputError, match=r"\[labels\] age: give 'taxonomy', 'ranges', 'sets'"):
        Roles(quasi=("age",), labels={"age": bad})


def test_a_kind_that_a_column_cannot_have_is_refused() -> None:
    letters = made({"q": list("abcabc")}, labels={"q": "ranges"})
    with pytest.raises(InputError, match=r"\[labels\] q: the column has no order of numbers or dates; give it one"):
        sf.Mondrian(k=2)(letters.table, letters.roles)
    with pytest.raises(InputError, match=r"labels must be one of hierarchies, plain, cheapest, any"):
        sf.KMember(k=2, labels="none")  # type: ignore[arg-type]


def test_the_roles_file_says_it_and_is_written_back(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    path.write_text(
        '[roles]\nquasi = ["age", "job"]\n[labels]\nage = ["sets", "ranges"]\njob = "any"\n', encoding="utf-8"
    )
    roles = Roles.read(path)
    assert roles.labels == {"age": ("ranges", "sets"), "job": ("taxonomy", "ranges", "sets")}
    path.write_text(roles.toml(), encoding="utf-8")
    assert Roles.read(path).labels == roles.labels
