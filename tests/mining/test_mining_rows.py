"""Original and released rows side by side, against plain rows in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mining_house import ROLES, Columns, paired, people, plain, rows, table

import sfumato as sf
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.release import Release
from sfumato.mechanisms import mechanism
from sfumato.mining.rows import Aligned, align

NAMES = ("age", "work", "town", "pay")


def released_rows(release: Release, names: Any = NAMES) -> Counter[Any]:
    counts = release.table.count(names)
    found: Counter[Any] = Counter()
    for i, n in enumerate(counts.n.tolist()):
        found[tuple(c.texts[codes[i]] for c, codes in zip(counts.columns, counts.codes, strict=True))] += n
    return found


def covers(label: str | None, value: str) -> bool:
    """Whether a released age may stand for a value, by a reading of intervals of its own."""
    if label == value or label == "*":
        return True
    if label is not None and label[0] == "<":
        return float(value) < float(label[1:])
    if label is not None and label[:2] == ">=":
        return float(value) >= float(label[2:])
    if label is None or label[0] not in "[(":
        return False
    low, high = label[1:-1].split(",")
    return float(low) <= float(value) <= float(high)


def check(aligned: Aligned, release: Release, original: Columns, kept: tuple[str, ...]) -> list[tuple[Any, Any]]:
    """What any pairing must be: all of the original, all of the release, nobody twice, and what is not changed the same."""
    assert Counter(rows(aligned.original, NAMES)) == Counter(plain(original, NAMES))
    assert Counter(rows(aligned.released, NAMES)) == released_rows(release)
    assert aligned.place is not None
    assert len(set(aligned.place.tolist())) == len(aligned.place) == len(aligned.released)
    assert aligned.suppressed == len(aligned.original) - len(aligned.released)
    before, after = rows(aligned.original, NAMES), rows(aligned.released, NAMES)
    pairs = [(before[p], row) for p, row in zip(aligned.place.tolist(), after, strict=True)]
    for name in kept:
        i = NAMES.index(name)
        assert all(b[i] == a[i] for b, a in pairs), name
    return pairs


# --- our mechanisms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "settings", "kept"),
    [
        ("k_member", {"k": "5"}, ("pay",)),
        ("mondrian", {"k": "5", "mode": "relaxed"}, ("pay",)),
        ("mondrian", {"k": "5"}, ("pay",)),
        ("generalize_full_domain", {"k": "4", "suppression": "0.2"}, ("pay",)),
        ("local_suppression", {"k": "3"}, ("pay",)),
        ("microaggregation", {"k": "4", "columns": "age"}, ("work", "town", "pay")),
        ("rank_swapping", {"columns": "age", "p": "10"}, ("work", "town", "pay")),
        ("local_noise", {"bounds": "age=18:90", "epsilon": "1"}, ("work", "town", "pay")),
    ],
)
def test_by_the_recoding_of_a_mechanism(name: str, settings: dict[str, str], kept: tuple[str, ...]) -> None:
    columns = people(300)
    columns["town"] = [t if i % 9 else None for i, t in enumerate(columns["town"])]
    roles = sf.Roles(
        identifiers=("number",), quasi=ROLES.quasi, sensitive=("pay",), hierarchies={"age": {"widths": [10, 20]}}
    )
    release = mechanism(name).of(settings)(table(columns), roles, np.random.default_rng(1))
    pairs = check(align(release, roles), release, columns, kept)
    if name in ("k_member", "mondrian", "generalize_full_domain"):
        assert all(covers(a[0], b[0]) for b, a in pairs)


def test_who_was_left_out() -> None:
    """Rows that a mechanism suppresses, against a list of their own."""
    columns = people(400)
    columns["town"][:3] = ["Nowhere", "Elsewhere", "Anywhere"]  # nobody shares these
    release = sf.GeneralizeFullDomain(k=3, suppression=0.3)(table(columns), ROLES, np.random.default_rng(1))
    aligned = align(release, ROLES)
    assert 0 < aligned.suppressed == 400 - release.table.rows
    check(aligned, release, columns, ("pay",))
    assert aligned.place is not None
    gone = Counter(rows(aligned.original, NAMES)) - Counter(
        [rows(aligned.original, NAMES)[p] for p in aligned.place.tolist()]
    )
    assert sum(gone.values()) == aligned.suppressed


def test_a_tuple_that_stands_in_several_classes_is_divided() -> None:
    """Equal quasi-identifiers, other sensitive values, other released values: pairs must fit one another."""
    columns = {"number": list(range(60)), "age": [30] * 30 + [40] * 30, "work": ["x"] * 60, "town": ["y"] * 60}
    columns["pay"] = [("high", "low", "none")[i % 3] for i in range(60)]
    for k in (7, 11):
        release = sf.KMember(k=k)(table(columns), ROLES, np.random.default_rng(2))
        check(align(release, ROLES), release, columns, ("pay",))


# --- releases from elsewhere -----------------------------------------------------------------------------------------


def generalized(columns: Columns) -> dict[str, list[Any]]:
    ages = [f"[{a // 10 * 10},{a // 10 * 10 + 10})" for a in columns["age"]]
    return {"age": ages, **{name: list(columns[name]) for name in ("work", "town", "pay")}}


def test_by_position_where_every_row_agrees() -> None:
    columns = people(120)
    found = align(Release(table=table(generalized(columns)), original=table(columns)), ROLES)
    pairs = check(found, Release(table=table(generalized(columns))), columns, ("work", "town", "pay"))
    assert all(covers(a[0], b[0]) for b, a in pairs)
    assert any("by position" in note for note in found.notes)


def test_by_position_with_noise_in_a_number() -> None:
    columns = people(120)
    noisy = {**generalized(columns), "age": [a + 0.5 * (i % 7) - 1.25 for i, a in enumerate(columns["age"])]}
    for more in ({}, {"perturbed": frozenset({"age"})}):
        found = align(Release(table=table(noisy), original=table(columns), **more), ROLES)  # type: ignore[arg-type]
        assert found.place is not None
        before = found.original.numbers("age")
        after = found.released.numbers("age")
        assert before is not None
        assert after is not None
        assert np.abs(before[found.place] - after).max() < 4


@pytest.mark.parametrize("shuffle", ["rows", "a column"])
def test_rows_in_another_order_are_not_paired(shuffle: str) -> None:
    columns = people(120)
    changed = generalized(columns)
    order = np.random.default_rng(5).permutation(120).tolist()
    for name in changed if shuffle == "rows" else ("pay",):
        changed[name] = [changed[name][i] for i in order]
    found = align(Release(table=table(changed), original=table(columns)), ROLES)
    assert found.place is None
    assert found.suppressed == 0
    assert not any("by position" in note for note in found.notes)


def test_agreement_that_any_order_would_show_pairs_nothing() -> None:
    columns = people(120)
    blank = {"age": ["*"] * 120, "work": ["*"] * 120, "town": ["*"] * 120, "pay": ["*"] * 120}
    assert align(Release(table=table(blank), original=table(columns)), ROLES).place is None
    few = {name: values[:15] for name, values in columns.items()}
    assert align(Release(table=table(generalized(few)), original=table(few)), ROLES).place is None


def test_fewer_rows_are_not_paired_by_position() -> None:
    columns = people(120)
    fewer = {name: values[:-1] for name, values in generalized(columns).items()}
    assert align(Release(table=table(fewer), original=table(columns)), ROLES).place is None


def test_noise_on_a_file_that_both_sides_sorted_is_not_paired() -> None:
    """Both files stand in the order of the columns that did not change: that they agree says nothing of who is who."""
    columns = people(200)
    order = sorted(
        range(200), key=lambda i: (columns["work"][i], columns["town"][i], columns["pay"][i], columns["age"][i])
    )
    original = {name: [values[i] for i in order] for name, values in columns.items() if name != "number"}
    rng = np.random.default_rng(0)
    noisy = {**original, "age": [a + e for a, e in zip(original["age"], rng.normal(0, 40, 200), strict=True)]}
    again = sorted(range(200), key=lambda i: tuple(noisy[name][i] for name in ("work", "town", "pay", "age")))
    released = {name: [values[i] for i in again] for name, values in noisy.items()}
    roles = sf.Roles(quasi=ROLES.quasi, sensitive=("pay",))
    assert align(Release(table=table(released), original=table(original)), roles).place is None


def test_by_key() -> None:
    columns = people(90)
    changed = {**generalized(columns), "number": list(columns["number"])}
    order = np.random.default_rng(5).permutation(90).tolist()[:70]
    shuffled = {name: [values[i] for i in order] for name, values in changed.items()}
    release = Release(table=table(shuffled), original=table(columns), pairing="key:number")
    found = align(release, ROLES)
    assert found.suppressed == 20
    pairs = check(found, release, columns, ("work", "town", "pay"))
    assert all(covers(a[0], b[0]) for b, a in pairs)


def test_by_key_where_equal_people_were_released_differently_and_some_not_at_all() -> None:
    """Four people are alike; of two the age is told, of one it is not, and one is left out."""
    columns: dict[str, list[Any]] = {"number": list(range(8)), "age": [30, 30, 30, 30, 40, 40, 40, 50]}
    columns |= {"work": ["x"] * 8, "town": ["y"] * 8, "pay": ["low"] * 8}
    kept = [0, 1, 2, 4, 6]
    ages = ["30", "*", "30", "[40,50)", "40"]
    changed = {name: [values[i] for i in kept] for name, values in columns.items()} | {"age": ages}
    release = Release(table=table(changed), original=table(columns), pairing="key:number")
    found = align(release, ROLES)
    pairs = check(found, release, columns, ("work", "town", "pay"))
    assert found.suppressed == 3
    assert Counter((b[0], a[0]) for b, a in pairs) == Counter({("30", "30"): 2, ("30", "*"): 1, ("40", "[40,50)"): 1, ("40", "40"): 1})  # fmt: skip


def test_a_key_that_is_not_unique_or_unknown_is_refused(refusal: Callable[..., str]) -> None:
    columns = people(60)
    changed = {**generalized(columns), "number": [0, *columns["number"][1:-1], 0]}
    release = Release(table=table(changed), original=table(columns), pairing="key:number")
    refusal(InputError, lambda: align(release, ROLES), "number", "not unique")
    changed["number"] = [n + 1000 for n in columns["number"]]
    release = Release(table=table(changed), original=table(columns), pairing="key:number")
    refusal(InputError, lambda: align(release, ROLES), "number")


def test_joined_by_groups() -> None:
    columns = people(240)
    columns["pay"] = [("high", "low", "none", "some")[i % 4] for i in range(240)]
    release = sf.Anatomy(l=3)(table(columns), ROLES, np.random.default_rng(1))
    found = align(release, ROLES)
    assert found.place is None
    assert Counter(rows(found.released, ["age", "work", "town"])) == Counter(plain(columns, ["age", "work", "town"]))
    assert Counter(rows(found.released, ["pay"])) == Counter(plain(columns, ["pay"]))
    # within its group each person has one of the values of the group
    again = align(release, ROLES)
    assert rows(again.released) == rows(found.released)
    companion = next(iter(release.companions.values()))
    by = str(release.joined_by)
    groups: dict[Any, set[Any]] = {}
    counts = companion.count((by, "pay"))
    for i in range(len(counts)):
        group, pay = (c.texts[code[i]] for c, code in zip(counts.columns, counts.codes, strict=True))
        groups.setdefault(group, set()).add(pay)
    home: dict[Any, set[Any]] = {}
    counts = release.table.count((by, "age", "work", "town"))
    for i in range(len(counts)):
        group, *who = (c.texts[code[i]] for c, code in zip(counts.columns, counts.codes, strict=True))
        home.setdefault(tuple(who), set()).update(groups[group])
    for *who, pay in rows(found.released, ["age", "work", "town", "pay"]):
        assert pay in home[tuple(who)]


# --- refusals, samples -----------------------------------------------------------------------------------------------


def test_statistics_are_refused(refusal: Callable[..., str]) -> None:
    columns = people(60)
    release = Release(table=table({"count": [60]}), original=table(columns), statistics=True)
    refusal(Unavailable, lambda: align(release, ROLES), "statistics")


def test_without_an_original_nothing_is_true(refusal: Callable[..., str]) -> None:
    refusal(Unavailable, lambda: align(Release(table=table(people(30))), ROLES), "original")


def test_one_column_or_no_row_is_refused(refusal: Callable[..., str]) -> None:
    columns = people(30)
    one = sf.Roles(quasi=("age",))
    refusal(InputError, lambda: align(paired(columns, columns), one), "fewer than two columns")
    empty = {name: values[:0] for name, values in columns.items()}
    release = Release(table=table({n: [str(v) for v in values] for n, values in empty.items()} | {"age": ["x"][:0]}), original=table(columns))  # fmt: skip
    refusal(InputError, lambda: align(release, ROLES), "no rows")


def test_a_sample_is_drawn_by_the_seed_and_keeps_pairs() -> None:
    columns = people(300)
    release = sf.GeneralizeFullDomain(k=3, suppression=0.3)(table(columns), ROLES, np.random.default_rng(1))
    whole, some = align(release, ROLES), align(release, ROLES, rows=100, seed=3)
    assert not whole.sampled
    assert some.sampled
    assert len(some.original) == 100
    assert rows(some.released) == rows(align(release, ROLES, rows=100, seed=3).released)
    assert rows(some.original) != rows(align(release, ROLES, rows=100, seed=4).original)
    assert some.place is not None
    assert whole.place is not None
    before, after = rows(some.original, NAMES), rows(some.released, NAMES)
    pairs = Counter((before[p], row) for p, row in zip(some.place.tolist(), after, strict=True))
    b, a = rows(whole.original, NAMES), rows(whole.released, NAMES)
    assert not pairs - Counter((b[p], row) for p, row in zip(whole.place.tolist(), a, strict=True))
    assert any("sample" in note for note in some.notes)
    assert not align(release, ROLES, rows=300).sampled


def test_the_order_of_the_file_does_not_matter() -> None:
    columns = people(200)
    order = np.random.default_rng(5).permutation(200).tolist()
    turned = {name: [values[i] for i in order] for name, values in columns.items()}
    one, two = (align(sf.Mondrian(k=4)(table(c), ROLES, np.random.default_rng(1)), ROLES) for c in (columns, turned))
    assert rows(one.original) == rows(two.original)
    assert rows(one.released) == rows(two.released)
