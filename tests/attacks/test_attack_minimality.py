"""Minimality: Wong et al.'s example, and every assignment person by person against a plain algorithm and against Mondrian itself."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.minimality import minimality
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.roles import Roles

TWO = Hierarchy.of("q", [("q1", "*"), ("q2", "*")])
Q = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": TWO})
WONG = {"q": ["q1"] * 2 + ["q2"] * 5, "s": ["HIV"] * 2 + ["none"] * 5}
AT_MOST_HALF = "recursive_diversity[l=2,dont_care=none] <= 1"
FOUR = Hierarchy.of("q", [("1", "12", "*"), ("2", "12", "*"), ("3", "34", "*"), ("4", "34", "*")])


def made(kind: Any, require: str, data: dict[str, list[Any]], roles: Roles, table: Any, **more: Any) -> Release:
    return kind(require=(sf.require(require),), **more)(table(data), roles)


def belief(found: Any) -> dict[str, dict[str, float]]:
    return {
        ",".join(map(str, each["quasi"].values())): {value: after for value, _, after in each["beliefs"]}
        for each in found.details.shown
    }


@pytest.mark.parametrize("kind", [sf.GeneralizeFullDomain, sf.Mondrian])
def test_wong_s_example(table: Any, kind: Any) -> None:
    """HIV in at most half of a class; q1 and q2 were merged, so the two of q1 must both have it: 1 instead of 2/7."""
    found = minimality(made(kind, AT_MOST_HALF, WONG, Q, table), Q, reveal=True)
    assert belief(found) == {"q1": {"HIV": 1.0, "none": 0.0}, "q2": {"HIV": 0.0, "none": 1.0}}
    assert found.fell == found.attacked == 7
    assert found.details.without_algorithm == 5
    assert found.details.scope == "table"
    assert found.details.assignments == 3
    assert found.baseline is not None
    assert found.baseline.value == pytest.approx(5 / 7)
    assert found.exactness == "exact"


def test_two_reasons_to_merge_are_weighed(table: Any) -> None:
    """Two values in every class: q1 may hold both HIV (1 way) or none (10 ways); one each would not have been merged."""
    found = minimality(made(sf.GeneralizeFullDomain, "distinct_l_diversity >= 2", WONG, Q, table), Q, reveal=True)
    assert belief(found)["q1"]["HIV"] == pytest.approx(1 / 11)
    assert belief(found)["q2"]["HIV"] == pytest.approx(10 * 2 / 11 / 5)


def test_an_algorithm_that_does_not_look_tells_nothing_more(table: Any) -> None:
    data = {"q": ["q1"] * 30 + ["q2"] * 50, "s": [f"v{i % 7}" for i in range(80)]}
    for kind in (sf.GeneralizeFullDomain, sf.Mondrian):
        for k in (5, 40):
            found = minimality(kind(k=k)(table(data), Q), Q)
            assert found.fell == found.details.without_algorithm
            assert found.details.believed_more == 0
            assert found.details.assignments == 0


def test_one_value_for_all_is_the_baseline(table: Any) -> None:
    data = {"q": ["q1"] * 2 + ["q2"] * 2, "s": ["a"] * 4}
    found = minimality(made(sf.Mondrian, "alpha_anonymity <= 1", data, Q, table), Q)
    assert found.success == found.baseline


def test_a_release_that_carries_nothing_gives_the_baseline(table: Any) -> None:
    """Everything had to be merged whatever the values were: a class of one is never 2-diverse."""
    data = {"q": ["q1", "q2", "q2"], "s": ["a", "b", "b"]}
    found = minimality(made(sf.GeneralizeFullDomain, "distinct_l_diversity >= 2", data, Q, table), Q)
    assert found.details.assignments == 2
    assert found.fell == pytest.approx(2)
    assert found.success == found.baseline


# --- oracles ---------------------------------------------------------------------------------------------------------


def full_domain(people: Sequence[str], values: Sequence[Any], l: int) -> int | None:
    """The lowest level of FOUR at which every class has l values."""
    for level in range(3):
        classes = defaultdict(set)
        for person, value in zip(people, values, strict=True):
            classes[FOUR.levels[level][FOUR.index[person]]].add(value)
        if all(len(found) >= l for found in classes.values()):
            return level
    return None


def posteriors(
    people: Sequence[Any], values: Sequence[Any], label: Sequence[Any], published: Callable[[Sequence[Any]], bool]
) -> list[Counter[Any]]:
    """For every person the assignments by their value: all permutations within classes for which this is published."""
    classes = defaultdict(list)
    for i, name in enumerate(label):
        classes[name].append(i)
    sums: list[Counter[Any]] = [Counter() for _ in people]
    ways = [
        [list(zip(rows, p, strict=True)) for p in sorted(set(itertools.permutations([values[i] for i in rows])), key=str)]
        for rows in classes.values()
    ]  # fmt: skip
    for way in itertools.product(*ways):
        world = list(values)
        for i, value in itertools.chain(*way):
            world[i] = value
        if published(world):
            for i, value in enumerate(world):
                sums[i][value] += 1
    return sums


@pytest.mark.parametrize(
    ("people", "values"),
    [
        ("11222334", "aabbabab"),
        ("1122344", "abcabca"),
        ("12223344", "aaabbbcc"),
        ("11223344", "aabbabab"),
    ],
)
def test_full_domain_against_every_permutation(table: Any, people: str, values: str) -> None:
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": FOUR})
    release = made(
        sf.GeneralizeFullDomain, "distinct_l_diversity >= 2", {"q": list(people), "s": list(values)}, roles, table
    )
    level = full_domain(people, values, 2)
    assert level is not None
    label = [FOUR.levels[level][FOUR.index[p]] for p in people]
    sums = posteriors(people, values, label, lambda world: full_domain(people, world, 2) == level)
    found = minimality(release, roles)
    assert found.details.scope == "table"
    assert found.fell == pytest.approx(sum(max(each.values()) / sum(each.values()) for each in sums))
    assert found.details.largest == pytest.approx(max(max(each.values()) / sum(each.values()) for each in sums))


@pytest.mark.parametrize(
    ("ages", "values"), [([1, 2, 2, 5, 6, 9], "aababb"), ([1, 3, 3, 4, 8, 8], "abaacb"), ([1, 1, 2, 7, 7], "ababa")]
)
def test_mondrian_against_every_permutation(table: Any, rows_of: Any, ages: list[int], values: str) -> None:
    """Mondrian run on every table, person by person, and what it publishes compared row by row."""
    roles = Roles(quasi=("age",), sensitive=("s",))
    mondrian = sf.Mondrian(require=(sf.require("distinct_l_diversity >= 2"),))
    data = {"age": ages, "s": list(values)}
    release = mondrian(table(data), roles)
    assert release.recoding is not None
    to = {int(a): b for a, b, _ in zip(*(c.to_pylist() for c in release.recoding.table.columns[-3:]), strict=True)}
    label = [to[age] for age in ages]
    seen = rows_of(release.table)
    sums = posteriors(
        ages,
        values,
        label,
        lambda world: rows_of(mondrian(table({"age": ages, "s": list(world)}), roles).table) == seen,
    )
    found = minimality(release, roles)
    assert found.fell == pytest.approx(sum(max(each.values()) / sum(each.values()) for each in sums))


def test_class_by_class_where_the_table_has_too_many_assignments(table: Any) -> None:
    """Then the adversary knows everybody outside the class; each class is the whole puzzle of its own."""
    people, values = "1122234444", "aabbbababb"
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": FOUR})
    release = made(sf.Mondrian, "distinct_l_diversity >= 2", {"q": list(people), "s": list(values)}, roles, table)
    whole = minimality(release, roles)
    apart = minimality(release, roles, runs=whole.details.assignments - 1)
    assert (whole.details.scope, apart.details.scope) == ("table", "class")
    assert "outside the class" in apart.knew
    assert apart.details.assignments < whole.details.assignments
    assert apart.attacked == apart.details.reached + apart.details.not_reached == 10


# --- people who are not reached --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ages", "values", "reached"),
    [
        ([0, 0, 4, 6, 6, 12, 14, 16, 18, 18, 20, 20, 22, 22], "bababaaaaaabbb", [14, 7, 3]),
        ([2, 2, 6, 8, 8, 8, 8, 10, 10, 12, 14, 16, 20, 22], "aaabababbbabaa", [14, 7]),
    ],
)
def test_who_is_not_reached_counts_and_is_bounded(table: Any, ages: list[int], values: str, reached: list[int]) -> None:
    """Every class on its own, all of them and then fewer: the truth lies within the ends, which open as runs are taken away."""
    roles = Roles(quasi=("age",), sensitive=("s",))
    release = made(sf.Mondrian, "distinct_l_diversity >= 2", {"age": ages, "s": list(values)}, roles, table, k=2)
    everybody = minimality(release, roles, runs=10**6)
    full = minimality(release, roles, runs=everybody.details.assignments - 1)
    assert (full.details.scope, full.details.not_reached, full.exactness) == ("class", 0, "exact")
    assert full.details.success_at_most * 14 == pytest.approx(full.fell)
    assert full.fell > full.details.without_algorithm + 0.5
    ends, seen = [], []
    for runs in range(full.details.assignments, 1, -1):
        try:
            found = minimality(release, roles, runs=runs)
        except Unavailable:
            break
        at_most = found.details.success_at_most * 14
        assert found.attacked == found.details.reached + found.details.not_reached == 14
        assert found.details.without_algorithm - 1e-9 <= found.fell <= full.fell + 1e-9
        assert full.fell <= at_most + 1e-9
        assert found.success.low <= full.fell / 14 <= found.success.high
        assert found.details.believed_more <= full.details.believed_more <= found.details.believed_more_at_most
        assert found.exactness == ("bound" if found.details.not_reached else "exact")
        assert ("not reached" in found.sentence) == (found.exactness == "bound")
        ends.append((round(found.fell, 9), round(-at_most, 9)))
        seen.append(found.details.reached)
    assert list(dict.fromkeys(seen)) == reached
    assert ends == sorted(ends, reverse=True)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_known_a_class_never_tells_less_than_its_most_frequent_value(table: Any, seed: int) -> None:
    """What bounds those who are not reached from below, for whole tables of random values."""
    rng = random.Random(seed)
    people, values = [rng.choice("1234") for _ in range(8)], ["a", "b", *(rng.choice("aab") for _ in range(6))]
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": FOUR})
    release = made(sf.GeneralizeFullDomain, "distinct_l_diversity >= 2", {"q": people, "s": values}, roles, table)
    found = minimality(release, roles)
    assert found.details.without_algorithm - 1e-9 <= found.fell <= found.attacked


# --- people who are not in the release -------------------------------------------------------------------------------


def test_a_control(table: Any) -> None:
    """q1 is said to have HIV and q2 none, as of those who are in; q3 has nobody's values: * says none, which 5 of 7 have."""
    release = made(sf.GeneralizeFullDomain, AT_MOST_HALF, WONG, Q, table)
    outside = {"q": ["q1", "q1", "q2", "q2", "q3", "q3", "q2"], "s": ["HIV", "none", "none", "HIV", "none", "HIV", "x"]}
    found = minimality(release, Q, control=table(outside))
    assert found.control is not None
    assert (found.control.value, found.control.people) == (pytest.approx(3 / 7), 7)
    assert found.fell == minimality(release, Q).fell == 7
    assert minimality(release, Q).control is None


def test_a_control_whom_no_class_covers_and_ties(table: Any) -> None:
    """A class of one a and one b says either, by chance; of those whom no class covers the most frequent value is said."""
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": FOUR})
    data = {"q": list("112234343"), "s": list("ababababb")}
    release = made(sf.GeneralizeFullDomain, "distinct_l_diversity >= 2", data, roles, table)
    assert minimality(release, roles).details.largest < 1
    # 1 and 2: a or b by chance; 3: one a, one b; 9: b, the most frequent
    outside = table({"q": ["1", "2", "9", "9"], "s": ["a", "b", "b", "a"]})
    found = minimality(release, roles, control=outside)
    assert found.control is not None
    assert found.control.value == pytest.approx((1 / 2 + 1 / 2 + 1 + 0) / 4)


@pytest.mark.full
def test_the_control_s_interval_has_its_coverage(table: Any) -> None:
    """Of strangers 30% have what is said of them."""
    release = made(sf.GeneralizeFullDomain, AT_MOST_HALF, WONG, Q, table)
    rng, hits = np.random.default_rng(4), 0
    for _ in range(60):
        q = rng.integers(1, 3, 80)
        s = np.where(rng.random(80) < 0.3, np.where(q == 1, "HIV", "none"), "x")
        rate = minimality(release, Q, control=table({"q": [f"q{i}" for i in q], "s": s.tolist()})).control
        assert rate is not None
        hits += rate.low <= 0.3 <= rate.high
    assert hits >= 53


def test_missing_values(table: Any) -> None:
    data = {"q": ["q1"] * 2 + ["q2"] * 5, "s": [None] * 2 + ["none"] * 5}
    found = minimality(made(sf.GeneralizeFullDomain, AT_MOST_HALF, data, Q, table), Q, reveal=True)
    assert belief(found)["q1"][None] == 1
    gone = {"q": [None] * 2 + ["q2"] * 5, "s": WONG["s"]}
    found = minimality(made(sf.GeneralizeFullDomain, AT_MOST_HALF, gone, Q, table), Q)
    assert found.fell == 7


def test_paired_files_do_as_well_as_our_own_release(table: Any) -> None:
    """A release read from elsewhere, paired by position, with the mechanism named by the owner."""
    mechanism = sf.GeneralizeFullDomain(require=(sf.require(AT_MOST_HALF),))
    release = Release(table=table({"q": ["*"] * 7, "s": WONG["s"]}), original=table(WONG), pairing="position")
    assert minimality(release, Q, mechanism=mechanism).fell == 7


def test_details_hold_no_value(table: Any, canary: str) -> None:
    data = {"q": ["q1"] * 2 + ["q2"] * 5, "s": [canary] * 2 + ["b"] * 5}
    release = made(sf.GeneralizeFullDomain, "distinct_l_diversity >= 2", data, Q, table)
    found = minimality(release, Q)
    assert canary not in json.dumps(found.details.to_dict()) + found.sentence + found.knew + found.effort
    assert canary in json.dumps(minimality(release, Q, reveal=True).details.to_dict())


def test_refusals(table: Any, refusal: Any) -> None:
    release = made(sf.GeneralizeFullDomain, AT_MOST_HALF, WONG, Q, table)
    refusal(InputError, lambda: minimality(release, Q, runs=0), "runs")
    refusal(Unavailable, lambda: minimality(release, Q, runs=1), "runs")
    elsewhere = Release(table=table({"q": ["*"] * 7, "s": WONG["s"]}), original=table(WONG), pairing="position")
    refusal(Unavailable, lambda: minimality(elsewhere, Q), "mechanism")
    alone = Release(table=table(WONG), made_by="mondrian", parameters={"k": 2})
    refusal(Unavailable, lambda: minimality(alone, Q), "original")
    refusal(InputError, lambda: minimality(elsewhere, Q, mechanism=sf.Mondrian(k=2)), "mondrian")
    refusal(Unavailable, lambda: minimality(elsewhere, Q, mechanism=sf.KMember(k=2)), "chance")
    refusal(Unavailable, lambda: minimality(elsewhere, Q, mechanism=sf.Mondrian(k=2, mode="relaxed")), "relaxed")
    fewer = Release(table=table({"q": ["*"] * 6, "s": WONG["s"][1:]}), original=table(WONG), pairing="position")
    refusal(Unavailable, lambda: minimality(fewer, Q, mechanism=sf.Mondrian(k=2)), "left out")
    several = Roles(quasi=("q",), sensitive=("s", "t"), hierarchies={"q": TWO})
    data = {**WONG, "t": ["x"] * 7}
    wide = sf.GeneralizeFullDomain(require=(sf.require("distinct_l_diversity(t) >= 1"),))(table(data), several)
    refusal(Unavailable, lambda: minimality(wide, several, sensitive="s"), "t")
