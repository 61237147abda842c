"""Composition: what two releases tell together, against sets in plain Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import MakeTable
from sfumato.attacks.composition import composition
from sfumato.attacks.knowledge import candidate_values
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.metric import check_counted
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table

ROLES = Roles(quasi=("q",), sensitive=("s",))
PEOPLE = {"q": ["1", "2", "3", "4"], "s": ["flu", "hiv", "flu", "cold"], "name": ["Ann", "Bob", "Cid", "Dee"]}
FIRST = {"q": ["[1,2]", "[1,2]", "[3,4]", "[3,4]"], "s": PEOPLE["s"]}
SECOND = {"q": ["[1,1]", "[2,3]", "[2,3]", "[4,4]"], "s": PEOPLE["s"]}


@pytest.fixture
def original(table: MakeTable) -> Table:
    return table(PEOPLE)


def two(
    table: MakeTable, original: Table, first: Mapping[str, Any], second: Mapping[str, Any]
) -> tuple[Release, Release]:
    return Release(table=table(first), original=original), Release(table=table(second), original=original)


def test_each_hides_everybody_and_both_nobody(table: MakeTable) -> None:
    """2 x 2: rows and columns of a square of values each hold two; a row and a column share one."""
    people = table({"a": ["0", "0", "1", "1"], "b": ["0", "1", "0", "1"], "s": ["p", "q", "q", "r"]})
    rows = {"a": ["0", "0", "1", "1"], "b": ["*"] * 4, "s": ["p", "q", "q", "r"]}
    columns = {"a": ["*"] * 4, "b": ["0", "1", "0", "1"], "s": ["p", "q", "q", "r"]}
    roles = Roles(quasi=("a", "b"), sensitive=("s",))
    now, before = two(table, people, rows, columns)
    for each in (now, before):
        assert sf.distinct_l_diversity(each, roles).value == 2
    attack = composition(now, roles, previous=before)
    assert attack.details.certain_from_release == attack.details.certain_from_previous == 0
    # {p,q} and {p,q} for the first, {q,r} and {q,r} for the last; {p,q} and {q,r} for the two others
    assert attack.details.certain == attack.details.certain_only_together == 2
    assert attack.success.value == pytest.approx(0.5)
    assert attack.details.candidates_together == pytest.approx(1.5)
    assert attack.baseline is not None
    assert attack.baseline.value == 0


def test_small_case(table: MakeTable, original: Table) -> None:
    now, before = two(table, original, FIRST, SECOND)
    attack = composition(now, ROLES, previous=before)
    assert attack.details.to_dict() == {
        "sensitive": "s",
        "people_in_both": 4,
        "certain": 3,  # Bob has {flu, hiv} twice and keeps two
        "certain_from_release": 0,
        "certain_from_previous": 2,
        "certain_only_together": 1,
        "candidates_release": 2.0,
        "candidates_previous": 1.5,
        "candidates_together": 1.25,
        "contradicted": 0,
        "misled": 0,
    }
    assert attack.fell == 3
    assert attack.attacked == 4
    assert attack.baseline is not None
    assert attack.baseline.value == pytest.approx(0.5)
    json.dumps(attack.details.to_dict())
    named = composition(now, ROLES, previous=before, identity="name", reveal=True)
    assert named.details.found == ["Ann", "Cid", "Dee"]
    assert named.details.without_values() == attack.details


def test_the_same_release_twice_gains_nothing(table: MakeTable, original: Table) -> None:
    now, before = two(table, original, FIRST, FIRST)
    attack = composition(now, ROLES, previous=before)
    assert attack.details.certain_only_together == 0
    assert attack.details.candidates_together == attack.details.candidates_release == 2
    assert attack.above == 0


def test_a_release_that_carries_nothing_gives_the_baseline(table: MakeTable, original: Table) -> None:
    now, before = two(table, original, {"q": ["*"] * 4, "s": PEOPLE["s"]}, SECOND)
    attack = composition(now, ROLES, previous=before)
    assert attack.baseline is not None
    assert attack.success.value == attack.baseline.value
    assert attack.details.candidates_together == attack.details.candidates_previous


def test_only_people_who_are_in_both(table: MakeTable) -> None:
    """Two originals of overlapping people, joined by name; one value has changed since."""
    one = table({"name": ["Ann", "Bob", "Cid"], "q": ["1", "2", "3"], "s": ["flu", "hiv", "flu"]})
    other = table({"name": ["Bob", "Cid", "Zoe", None], "q": ["2", "3", "1", "2"], "s": ["hiv", "cold", "flu", "x"]})
    now = Release(table=table({"q": ["*", "*", "*"], "s": ["flu", "hiv", "flu"]}), original=one)
    before = Release(table=table({"q": ["2", "3", "1", "2"], "s": ["hiv", "cold", "flu", "x"]}), original=other)
    attack = composition(now, ROLES, previous=before, identity="name", reveal=True)
    assert attack.attacked == 2
    assert attack.details.certain == 1  # Bob: {flu, hiv} and {hiv, x}
    assert attack.details.found == ["Bob"]
    assert attack.details.contradicted == 1  # Cid had a cold then


def test_suppressed_people_are_not_in_both(table: MakeTable) -> None:
    rows = {"q": ["1"] * 20 + ["2"] * 29 + ["9"], "s": ["a", "b"] * 25}
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": {"widths": [2]}})
    people = table(rows)
    made = sf.GeneralizeFullDomain(k=10, suppression=0.1)(people, roles)
    whole = Release(table=table(rows), original=people)
    attack = composition(made, roles, previous=whole)
    assert made.table.rows == attack.attacked == 49


def test_a_generalized_sensitive_value(table: MakeTable) -> None:
    """A node of the taxonomy stands for its values: flu and cold are respiratory, so only flu is left."""
    tree = Hierarchy.of("s", [("flu", "respiratory"), ("cold", "respiratory"), ("hiv", "other")])
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"s": tree})
    people = table({"q": ["1", "1", "2"], "s": ["flu", "hiv", "cold"]})
    now = Release(table=table({"q": ["1", "1", "2"], "s": ["respiratory", "hiv", "cold"]}), original=people)
    before = Release(table=table({"q": ["1", "1", "2"], "s": ["flu", "other", "cold"]}), original=people)
    attack = composition(now, roles, previous=before)
    assert attack.details.candidates_release == pytest.approx((3 + 3 + 1) / 3)
    assert attack.details.candidates_together == pytest.approx((2 + 2 + 1) / 3)


def test_anatomy_is_read_by_group(table: MakeTable) -> None:
    people = table({"q": ["1", "2", "3", "4"], "s": ["a", "b", "a", "c"]})
    made = sf.Anatomy(l=2)(people, ROLES)
    attack = composition(
        made, ROLES, previous=Release(table=table(FIRST | {"s": ["a", "b", "a", "c"]}), original=people)
    )
    assert attack.details.candidates_release == 2
    assert attack.details.misled == attack.details.contradicted == 0


def test_a_control(table: MakeTable, original: Table) -> None:
    now, before = two(table, original, FIRST, SECOND)
    control = table({"q": ["1", "1", "3", "9"], "s": ["flu", "hiv", "flu", "flu"]})
    attack = composition(now, ROLES, previous=before, control=control)
    assert attack.control is not None
    assert attack.control.value == pytest.approx(2 / 4)  # by chance: their value is what is left


def covers(label: str | None, value: str | None) -> bool:
    if label == "*" or label == value:
        return True
    if label is None or value is None or label[0] != "[":
        return False
    low, high = map(int, label[1:-1].split(","))
    return low <= int(value) <= high


@pytest.mark.parametrize("seed", range(25))
def test_sets_in_plain_python(seed: int, table: MakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(candidate_values, "_BLOCK", int(rng.choice([1, 7, 10**6])))
    n = int(rng.integers(1, 50))
    q = [None if v == 9 else str(v) for v in rng.integers(0, 10, n)]
    s = [None if v == 5 else "abcde"[v] for v in rng.integers(0, 6, n)]

    def label(v: str | None) -> str | None:
        kind = rng.random()
        if v is None or kind < 0.1:
            return "*" if kind < 0.3 else v
        return f"[{int(v) - int(rng.integers(0, 3))},{int(v) + int(rng.integers(0, 3))}]"

    first, second = ({"q": [label(v) for v in q], "s": s} for _ in range(2))
    people = table({"q": q, "s": s, "id": [str(i) for i in range(n)]})
    now, before = two(table, people, first, second)
    sets = [[{t["s"][j] for j in range(n) if covers(t["q"][j], q[i])} for i in range(n)] for t in (first, second)]
    both = [a & b for a, b in zip(*sets, strict=True)]
    for identity in (None, "id"):
        attack = composition(now, ROLES, previous=before, identity=identity)
        assert attack.attacked == n
        assert attack.details.certain == sum(len(b) == 1 for b in both)
        assert attack.details.certain_from_release == sum(len(a) == 1 for a in sets[0])
        assert attack.details.certain_from_previous == sum(len(a) == 1 for a in sets[1])
        assert attack.details.candidates_together == pytest.approx(np.mean([len(b) for b in both]))
        assert attack.details.candidates_previous == pytest.approx(np.mean([len(b) for b in sets[1]]))
        assert attack.details.contradicted == attack.details.misled == 0


# --- several rows a person -------------------------------------------------------------------------------------------

PERSON = Roles(quasi=("q",), sensitive=("s",), person="id")


def test_all_rows_of_a_person_are_intersected(table: MakeTable) -> None:
    """Ann's visits meet flu and hiv, then flu and cold: flu, from one release alone. Bob keeps two."""
    visits = {"id": ["Ann", "Ann", "Bob", "Cid"], "q": ["1", "3", "2", "4"], "s": ["flu", "flu", "hiv", "cold"]}
    original = table(visits)
    halves = {"q": ["[1,2]", "[3,4]", "[1,2]", "[3,4]"], "s": visits["s"]}
    now, before = two(table, original, halves, {"q": ["*"] * 4, "s": visits["s"]})
    attack = composition(now, PERSON, previous=before, identity="id", reveal=True)
    assert (attack.attacked, attack.fell) == (3, 1)
    assert attack.details.found == ["Ann"]
    assert attack.details.certain_from_release == 1
    assert attack.details.certain_from_previous == 0
    assert attack.details.candidates_release == pytest.approx((1 + 2 + 2) / 3)
    by_roles = composition(now, PERSON, previous=before)  # the person column is asked without being named
    assert by_roles.details == attack.details.without_values()
    rows = composition(now, ROLES, previous=before)  # who cannot tell whose rows they are attacks each alone
    assert (rows.attacked, rows.fell) == (4, 0)


def test_one_row_each_is_as_without_a_person_column(table: MakeTable) -> None:
    original = table({**PEOPLE, "id": list("abcd")})
    now, before = two(table, original, FIRST, SECOND)
    assert composition(now, PERSON, previous=before).details == composition(now, ROLES, previous=before).details


def test_rows_that_contradict_each_other(table: MakeTable) -> None:
    """Four values of one person, each certain by itself: no value is left that all of them share."""
    original = table({"id": ["Ann"] * 4, **{k: PEOPLE[k] for k in "qs"}})
    now, before = two(table, original, {k: PEOPLE[k] for k in "qs"}, {k: PEOPLE[k] for k in "qs"})
    attack = composition(now, PERSON, previous=before)
    assert (attack.attacked, attack.fell, attack.details.contradicted) == (1, 0, 1)


@pytest.mark.parametrize("seed", range(12))
def test_people_in_plain_python(seed: int, table: MakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two originals of overlapping people with several rows in either, and rows of strangers."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(candidate_values, "_BLOCK", int(rng.choice([1, 7, 10**6])))
    sides = []
    for names in ("abcdefgh", "defghijk"):
        n = int(rng.integers(2, 30))
        sides.append(
            {
                "id": [None if v == 8 else names[v] for v in rng.integers(0, 9, n)],
                "q": [str(v) for v in rng.integers(0, 10, n)],
                "s": [None if v == 3 else "pqr"[v] for v in rng.integers(0, 4, n)],
            }
        )

    def label(v: str) -> str:
        return "*" if rng.random() < 0.1 else f"[{int(v) - int(rng.integers(0, 3))},{int(v) + int(rng.integers(0, 3))}]"

    made = [{"q": [label(v) for v in side["q"]], "s": side["s"]} for side in sides]
    now, before = (Release(table=table(m), original=table(side)) for m, side in zip(made, sides, strict=True))
    strangers = {"id": ["x", "x", "y", None], "q": ["1", "5", "7", "3"], "s": ["p", "q", "p", "r"]}

    def told(m: Mapping[str, Any], people: Mapping[str, Any], who: str) -> set[str | None]:
        rows = [people["q"][i] for i in range(len(people["q"])) if people["id"][i] == who]
        sets = [{m["s"][j] for j in range(len(m["q"])) if covers(m["q"][j], value)} for value in rows]
        return set.intersection(*sets)

    def values(people: Mapping[str, Any], who: str) -> set[str | None]:
        return {s for s, i in zip(people["s"], people["id"], strict=True) if i == who}

    both = sorted(set(sides[0]["id"]) & set(sides[1]["id"]) - {None})
    attack = composition(now, PERSON, previous=before, control=table(strangers), reveal=True, identity="id")
    pairs = {who: [told(m, side, who) for m, side in zip(made, sides, strict=True)] for who in both}
    certain = [who for who, (a, b) in pairs.items() if len(a & b) == 1 and (a & b) <= values(sides[0], who)]
    assert attack.attacked == len(both)
    assert attack.details.found == certain
    assert attack.fell == len(certain)
    assert attack.details.contradicted == sum(not a & b for a, b in pairs.values())
    assert attack.details.misled == sum(
        bool(a & b) and not a & b & values(sides[0], who) for who, (a, b) in pairs.items()
    )
    assert attack.details.candidates_together == pytest.approx(np.mean([len(a & b) for a, b in pairs.values()]))
    assert attack.details.certain_from_previous == sum(
        len(b) == 1 and b <= values(sides[0], who) for who, (_, b) in pairs.items()
    )
    fell = 0
    for who in ("x", "y"):
        left = told(made[0], strangers, who) & told(made[1], strangers, who)
        fell += len(left) == 1 and left <= values(strangers, who)
    assert attack.control is not None
    assert (attack.control.value, attack.control.people) == (fell / 2, 2)


def test_two_mondrians(table: MakeTable) -> None:
    """Two cuts of one table, each diverse: together they never tell less than either."""
    rng = np.random.default_rng(3)
    people = table({"x": rng.integers(0, 50, 400), "y": rng.integers(0, 50, 400), "s": rng.integers(0, 6, 400)})
    roles = Roles(quasi=("x", "y"), sensitive=("s",))
    made = [
        sf.Mondrian(k=6, choose=choose, require=(sf.require("distinct_l_diversity >= 3"),))(people, roles)
        for choose in ("loss", "width")
    ]
    attack = composition(made[0], roles, previous=made[1])
    least = min(attack.details.candidates_release, attack.details.candidates_previous)
    assert attack.details.candidates_together <= least
    assert attack.details.certain == attack.details.certain_only_together
    assert attack.details.certain_from_release == attack.details.certain_from_previous == 0


def test_refusals(table: MakeTable, original: Table, refusal: Any) -> None:
    now, before = two(table, original, FIRST, SECOND)
    refusal(InputError, lambda: composition(now, ROLES, previous=before, reveal=True), "identity")
    refusal(InputError, lambda: composition(now, ROLES, previous=before, identity="who"), "who")
    refusal(Unavailable, lambda: composition(now, Roles(quasi=("q",)), previous=before), "sensitive")
    elsewhere = Release(table=table(SECOND), original=table(PEOPLE))
    refusal(Unavailable, lambda: composition(now, ROLES, previous=elsewhere), "identity")
    refusal(Unavailable, lambda: composition(Release(table=table(FIRST)), ROLES, previous=before), "original")
    noisy = Release(table=table(FIRST), original=original, perturbed=frozenset("q"))
    refusal(Unavailable, lambda: composition(noisy, ROLES, previous=before), "'q'")
    swapped = Release(table=table(FIRST), original=original, perturbed=frozenset("s"))
    refusal(Unavailable, lambda: composition(now, ROLES, previous=swapped), "'s'")
    numbers = Release(table=table(FIRST), original=original, statistics=True)
    refusal(Unavailable, lambda: composition(numbers, ROLES, previous=before), "statistics")
    control = table({"q": ["1"]})
    refusal(InputError, lambda: composition(now, ROLES, previous=before, control=control), "'s'")
    nobody = table({**PEOPLE, "name": ["W", "X", "Y", "Z"]})
    other = Release(table=table(SECOND), original=nobody)
    refusal(Unavailable, lambda: composition(now, ROLES, previous=other, identity="name"), "nobody")


# --- m-invariance (Xiao, Tao 2007) -------------------------------------------------------------------------------------


def _invariance(
    tmp_path, now: Mapping[str, Any], before: Mapping[str, Any], earlier: Mapping[str, Any] | None = None
) -> float:
    for name, rows in {"before": before, "earlier": earlier or PEOPLE, "people": PEOPLE}.items():
        sf.read(pa.table(dict(rows))).write(tmp_path / f"{name}.csv")
    release = Release(table=sf.read(pa.table(dict(now))), original=sf.read(tmp_path / "people.csv"))
    metric = sf.m_invariance(
        previous=str(tmp_path / "before.csv"), original=str(tmp_path / "earlier.csv"), identity="name"
    )
    return metric(release, ROLES).value


DIFFERENT = {"q": ["[1,2]", "[1,2]", "[3,4]", "[3,4]"], "s": ["flu", "hiv", "flu", "cold"]}


def test_the_same_classes_of_different_values_are_m_invariant(tmp_path) -> None:
    assert _invariance(tmp_path, DIFFERENT, DIFFERENT) == 2
    whole = {"q": ["*"] * 4, "s": PEOPLE["s"]}
    assert _invariance(tmp_path, whole, whole) == 0  # flu stands twice in the only class


def test_a_class_whose_values_changed_is_not(tmp_path) -> None:
    assert _invariance(tmp_path, SECOND, DIFFERENT) == 0
    moved = {
        **PEOPLE,
        "q": ["1", "2", "4", "3"],
    }  # two people changed places within their class: the values stay the same
    assert _invariance(tmp_path, DIFFERENT, DIFFERENT, moved) == 2
    crossed = {**PEOPLE, "q": ["1", "3", "2", "4"], "s": PEOPLE["s"]}
    before = {"q": ["[1,2]", "[3,4]", "[1,2]", "[3,4]"], "s": ["flu", "hiv", "flu", "cold"]}
    assert _invariance(tmp_path, DIFFERENT, before, crossed) == 0


def test_somebody_new_needs_m_values_and_no_past(tmp_path) -> None:
    fewer = {name: values[:2] for name, values in PEOPLE.items()}
    assert _invariance(tmp_path, DIFFERENT, {"q": ["[1,2]"] * 2, "s": ["flu", "hiv"]}, fewer) == 2


def test_people_with_several_rows_are_counted(tmp_path) -> None:
    """A value that stands twice in a class is repeated only if two people have it, and what all rows of a person share is what is left."""
    roles = Roles(quasi=("q",), sensitive=("s",), person="name", people={"rows": "unlinked"})

    def measured(q: list[str], names: list[str], values: list[str], earlier: list[str] | None = None) -> float:
        original = {"name": names, "q": [str(i) for i in range(len(q))], "s": values}
        sf.read(pa.table(original)).write(tmp_path / "people.csv")
        sf.read(pa.table({"q": earlier or q, "s": values})).write(tmp_path / "before.csv")
        release = Release(
            table=sf.read(pa.table({"q": q, "s": values})),
            original=sf.read(tmp_path / "people.csv"),
            pairing="position",
        )
        metric = sf.m_invariance(previous=str(tmp_path / "before.csv"))
        require = metric.at_least(1)
        check_counted([require], roles, "a test")
        return metric(release, roles).value

    a, b = "[0,2]", "[3,5]"
    twice = ["A", "A", "B", "C", "C", "D"]
    assert (
        measured([a] * 3 + [b] * 3, twice, ["flu", "flu", "hiv", "flu", "cold", "gout"]) == 2
    )  # the flu twice, of A alone
    assert measured([a] * 3 + [b] * 3, twice, ["flu", "hiv", "hiv", "flu", "cold", "gout"]) == 0  # hiv is two people's
    # four people in each class, but the classes of A's two rows share one value alone
    across = ["A", "B", "C", "A", "D", "E"]
    assert measured([a] * 3 + [b] * 3, across, ["flu", "hiv", "cold", "flu", "gout", "mumps"]) == 1
    assert measured(["*"] * 6, list("ABCDEF"), list("uvwxyz")) == 6
    assert measured(["*"] * 6, list("ABCDEF"), list("uvwxyz"), [a] * 3 + [b] * 3) == 0


def test_linked_people_are_refused_before_any_work() -> None:
    roles = Roles(quasi=("q",), sensitive=("s",), person="name", people={"rows": "linked"})
    with pytest.raises(InputError, match="linked people are counted in the release alone"):
        check_counted([sf.m_invariance(previous="x.csv").at_least(2)], roles, "a test")
