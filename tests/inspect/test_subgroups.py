"""Whether a release treats small groups worse: extremes, the sums of the parts, and each figure counted by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from house import in_memory
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.metric import Score
from sfumato.core.release import Release
from sfumato.inspect.subgroups import FEW, MiningWorth, subgroups

ROLES = sf.Roles(quasi=("town", "age"), sensitive=("ill",))


def people(seed: int = 0, many: int = 400) -> dict[str, list[Any]]:
    """Two towns of many, one of 15 people and one of 3; ages, an illness."""
    rng = np.random.default_rng(seed)
    rest = many - 18
    towns = ["Rome"] * (rest // 2) + ["Oslo"] * (rest - rest // 2) + ["Bath"] * 15 + ["Ely"] * 3
    return {
        "town": towns,
        "age": [int(a) for a in rng.integers(20, 60, many)],
        "ill": [("flu", "cold", "gout")[i % 3] for i in range(many)],
    }


def paired(original: dict[str, list[Any]], released: dict[str, list[Any]], **more: Any) -> Release:
    return Release(table=in_memory(released), original=in_memory(original), pairing="position", **more)


def of(found: Any, column: str, name: str) -> Any:
    return next(group for group in found.groups if (group.column, group.name) == (column, name))


@pytest.mark.parametrize("people_of", [{}, {"rows": "unlinked"}])
def test_a_group_of_few_people_with_many_rows_is_not_named(people_of: dict[str, str]) -> None:
    """Ten people with three rows each in Rome, nine in Oslo, and one with thirty rows in Ely."""
    who = [n for n in range(19) for _ in range(3)] + [19] * 30
    rows = {
        "who": [f"p{n}" for n in who],
        "town": ["Rome" if n < 10 else "Oslo" if n < 19 else "Ely" for n in who],
        "ill": [("flu", "cold")[i % 2] for i in range(len(who))],
    }
    roles = sf.Roles(quasi=("town",), sensitive=("ill",), person="who", people=people_of, source="roles.toml")
    release = paired(rows, {name: rows[name] for name in ("town", "ill")})
    found = subgroups(release, roles)
    assert [group.name for group in sorted(found.groups, key=lambda g: g.people)] == [None, None, "Rome"]
    assert "Ely" not in json.dumps(found.to_dict()) + "".join(found.sentences)
    assert {group.name for group in subgroups(release, roles, smallest=9).groups} == {None, "Rome", "Oslo"}
    assert {group.name for group in subgroups(release, roles, reveal=True).groups} == {"Ely", "Rome", "Oslo"}


def test_the_identity_treats_nobody_worse() -> None:
    rows = people()
    found = subgroups(paired(rows, rows), ROLES)
    assert found.loss == 0
    assert found.suppressed == 0
    assert found.worst == ()
    assert all(group.loss == 0 and not group.worse for group in found.groups)
    assert found.small.people == 18  # Bath and Ely: below 5%
    assert found.difference == 0
    assert "no more of a difference" in found.sentences[0]
    assert found.sentences[1] == "No row was left out or suppressed throughout."
    assert found.sentences[2] == "No group loses more than everybody does on average."
    assert all(size.rank_correlation is None for size in found.by_size)


def test_a_small_town_that_is_starred_loses_everything() -> None:
    rows = people()
    starred = [town in ("Bath", "Ely") for town in rows["town"]]
    out = {
        "town": ["*" if s else t for s, t in zip(starred, rows["town"], strict=True)],
        "age": ["*" if s else str(a) for s, a in zip(starred, rows["age"], strict=True)],
        "ill": rows["ill"],
    }
    found = subgroups(paired(rows, out), ROLES)
    ages = len(set(rows["age"]))
    full = (1 - 1 / 4 + 1 - 1 / ages) / 2
    bath = of(found, "town", "Bath")
    assert (bath.people, bath.suppressed) == (15, 15)
    assert bath.loss == pytest.approx(full)
    assert bath.loss - bath.difference == pytest.approx(found.loss) == pytest.approx(18 / 400 * full)
    assert bath.class_size == 18
    assert bath.risk == pytest.approx(1 / 18)
    assert bath.worse
    assert of(found, "town", "Rome").loss == 0
    assert (found.small.suppressed, found.rest.suppressed, found.suppressed) == (18, 0, 18)
    assert found.small.loss == pytest.approx(full)
    towns = next(size for size in found.by_size if size.column == "town")
    assert towns.rank_correlation == pytest.approx(-4 / np.sqrt(18))  # sizes 191, 191, 15, 3 and ties
    assert "100% of the people in small groups, 0% of the others" in found.sentences[1]
    assert "small groups lose more" in found.sentences[0]


def test_rows_missing_from_the_release_count_as_starred() -> None:
    rows = people()
    rows["id"] = list(range(400))
    kept = [i for i in range(400) if rows["town"][i] != "Bath"]
    out = {name: [values[i] for i in kept] for name, values in rows.items()}
    release = Release(table=in_memory(out), original=in_memory(rows), pairing="key:id")
    found = subgroups(release, ROLES)
    iloss: Score = sf.metric("iloss")(release, ROLES)
    assert found.loss == pytest.approx(iloss.value)
    assert of(found, "town", "Bath").suppressed == 15
    assert of(found, "town", "Bath").risk is None  # nobody of it is there to be found
    assert found.suppressed == 15


@pytest.mark.parametrize(
    "mechanism", [sf.Mondrian(k=4), sf.KMember(k=4), sf.LocalSuppression(k=4)], ids=lambda made: made.card.name
)
def test_groups_add_up_to_iloss_and_to_marketer_risk(mechanism: Any) -> None:
    roles = sf.Roles(quasi=("town", "age"), sensitive=("ill",), weights={"age": 3})
    release = mechanism(in_memory(people()), roles, np.random.default_rng(1))
    found = subgroups(release, roles, by=["town", "age", "ill"])
    assert set(found.measured.values()) == {"iloss"}
    assert found.loss == pytest.approx(sf.metric("iloss")(release, roles).value)
    for column in ("town", "age", "ill"):
        groups = [group for group in found.groups if group.column == column]
        assert sum(group.people for group in groups) == 400
        assert sum(group.people * group.loss for group in groups) / 400 == pytest.approx(found.loss)
        assert sum(group.people * group.difference for group in groups) == pytest.approx(0, abs=1e-9)
        risk = sum((group.risk or 0.0) * group.people for group in groups) / 400
        assert risk == pytest.approx(sf.metric("marketer_risk")(release, roles).value)


def test_a_file_without_pairs_is_paired_by_its_classes(tmp_path: Path) -> None:
    whole = in_memory(people())
    release = sf.Mondrian(k=4)(whole, ROLES)
    release.table.write(tmp_path / "r.csv")
    read = Release(table=sf.read(tmp_path / "r.csv"), original=whole)
    found, known = subgroups(read, ROLES), subgroups(release, ROLES)
    assert found.groups == known.groups
    assert "paired by their classes" in found.notes[0]


def test_a_file_whose_classes_overlap_must_be_paired(refusal: Callable[..., str]) -> None:
    rows = {"town": ["a", "b"] * 10, "age": [30] * 20, "ill": ["x"] * 20}
    out = {"town": ["*"] * 10 + ["a"] * 5 + ["b"] * 5, "age": [30] * 20, "ill": ["x"] * 20}
    refusal(Unavailable, lambda: subgroups(Release(table=in_memory(out), original=in_memory(rows)), ROLES), "--pair")


def test_perturbed_numbers_go_by_distance_and_have_no_classes() -> None:
    rows = people()
    out = {**rows, "age": [a + 2.0 for a in rows["age"]]}
    found = subgroups(paired(rows, out, perturbed=frozenset({"age"})), ROLES)
    span = max(rows["age"]) - min(rows["age"])
    assert found.measured == {"town": "iloss", "age": "distance"}
    assert found.loss == pytest.approx(2 / span / 2)
    assert all(group.loss == pytest.approx(found.loss) for group in found.groups)
    assert {group.risk for group in found.groups} == {None}
    assert "by distance" in found.sentences[0]


def test_a_swapped_text_is_lost_and_a_label_is_what_it_covers() -> None:
    rows = {"town": ["a", "b", "c", "d"] * 5, "age": [1] * 20, "ill": ["x"] * 20}
    out = {**rows, "town": ["a", "a", "{c, d}", "{a, b}"] * 5}
    roles = sf.Roles(quasi=("town",), sensitive=("ill",))
    found = subgroups(paired(rows, out, perturbed=frozenset({"town"})), roles, smallest=1)
    assert [of(found, "town", name).loss for name in "abcd"] == [0, 1, 0.25, 1]


def test_numbers_go_by_quarters_whose_names_tell_no_extreme() -> None:
    rows = people()
    found = subgroups(paired(rows, rows), ROLES, by=["age"])
    names = [group.name for group in found.groups]
    assert len(names) == 4
    assert names[0] is not None
    assert names[0].startswith("at most ")
    assert all(str(edge) not in " ".join(map(str, names)) for edge in (min(rows["age"]), max(rows["age"])))
    assert all(60 <= group.people <= 140 for group in found.groups)


def test_missing_is_a_group_and_small_groups_are_not_named(canary: str) -> None:
    rows = {"town": ["a"] * 30 + [None] * 12 + [canary] * 3, "age": [1] * 45, "ill": ["x"] * 45}
    found = subgroups(paired(rows, rows), ROLES, by=["town"])
    assert {group.name: group.people for group in found.groups} == {"a": 30, "(missing)": 12, None: 3}
    assert canary not in json.dumps(found.to_dict())
    assert canary in json.dumps(subgroups(paired(rows, rows), ROLES, by=["town"], reveal=True).to_dict())


def test_chance_is_that_of_people_drawn_at_random() -> None:
    """The range is held against drawing 15 of 400 people 4000 times."""
    rows = people()
    rng = np.random.default_rng(3)
    some = rng.random(400) < 0.3
    out = {**rows, "town": ["*" if s else t for s, t in zip(some, rows["town"], strict=True)]}
    found = subgroups(paired(rows, out), ROLES, by=["town"])
    loss = np.where(some, (1 - 1 / 4) / 2, 0.0)
    drawn = [loss[rng.permutation(400)[:15]].mean() - loss.mean() for _ in range(4000)]
    from statistics import NormalDist

    z = NormalDist().inv_cdf(1 - 0.025 / len(found.groups))
    assert of(found, "town", "Bath").chance[1] == pytest.approx(z * np.std(drawn), rel=0.05)


def test_the_sentences_are_true_where_all_or_nobody_is_in_a_small_group() -> None:
    same = {"town": ["a"] * 20, "age": [1] * 20, "ill": ["x"] * 20}
    none = subgroups(paired(same, same), ROLES)
    assert none.small.people == 0
    assert "Nobody is in groups" in none.sentences[0]
    assert none.even == ()
    towns, ages = [str(i) + "t" for i in range(40)], ["b"] * 2 + ["a"] * 38
    many = {"town": towns, "age": [1] * 40, "ill": ["x"] * 40}
    alike = subgroups(paired(many, many), ROLES, by=["town"])
    assert alike.even == ("town",)
    assert (alike.small.people, alike.rest.people) == (0, 40)
    assert "Every group of 'town' has less than 5% of the people, so none of them is small" in alike.sentences[0]
    assert "Everybody is" not in alike.sentences[0]
    both = subgroups(paired({**many, "age": ages}, {**many, "age": ages}), ROLES, by=["town", "age"])
    assert both.small.people == 0, "5% is not less than 5%"
    assert "Nobody is in groups" in both.sentences[0]
    assert "Every group of 'town'" in both.sentences[0]
    assert FEW == 0.05


def test_columns_of_small_groups_only_do_not_hide_the_small_groups_of_others() -> None:
    """One of 40 people has another age and lost all; each has a town of their own."""
    rows = {"town": [str(i) + "t" for i in range(40)], "age": ["b"] + ["a"] * 39, "ill": ["x"] * 40}
    out = {**rows, "age": ["*"] + ["a"] * 39}
    found = subgroups(paired(rows, out), ROLES, by=["town", "age"])
    assert (found.small.people, found.rest.people) == (1, 39)
    assert found.difference == pytest.approx((1 - 1 / 2) / 2)
    assert (
        "The one person in groups of less than 5% of the people by age loses 0.25, the other 39 " in found.sentences[0]
    )
    assert " with 1 person: it loses" in found.sentences[2]


def test_everybody_in_some_small_group_is_said_so() -> None:
    """Two columns, each with one large group, and nobody in both large ones."""
    rows = {
        "town": ["T"] * 20 + [f"t{i}" for i in range(20)],
        "age": [f"a{i}" for i in range(20)] + ["A"] * 20,
        "ill": ["x"] * 40,
    }
    found = subgroups(paired(rows, rows), ROLES, by=["town", "age"])
    assert (found.small.people, found.rest.people) == (40, 0)
    assert "Everybody is in at least one of the groups of less than 5%" in found.sentences[0]


def test_refusals_say_what_to_do(refusal: Callable[..., str]) -> None:
    rows = people()
    release = paired(rows, rows)
    refusal(InputError, lambda: subgroups(release, ROLES, by=["twon"]), "twon")
    refusal(InputError, lambda: subgroups(release, ROLES, smallest=0))
    refusal(Unavailable, lambda: subgroups(Release(table=in_memory(rows)), ROLES), "original")
    noisy = Release(table=in_memory(rows), original=in_memory(rows), perturbed=frozenset({"age"}))
    refusal(Unavailable, lambda: subgroups(noisy, ROLES), "--pair")


def test_mining_adds_what_users_lose(canary: str) -> None:
    pytest.importorskip("sklearn")
    rows = people()
    out = {**rows, "age": ["*" if t == "Rome" else str(a) for a, t in zip(rows["age"], rows["town"], strict=True)]}
    scenario = sf.Scenario(good=sf.Good(field="ill", miners=["naive_bayes"]), folds=2)
    found = subgroups(paired(rows, out), ROLES, by=["town"], scenario=scenario, workers=1)
    mined = of(found, "town", "Rome").mined
    assert mined is not None
    assert mined.interval[0] <= mined.decline <= mined.interval[1]
    assert of(found, "town", "Bath").mined is None  # mining puts groups of fewer than 20 together
    assert "By mining" in found.sentences[-1]


def test_where_mining_finds_no_loss_no_group_is_said_to_fare_worst() -> None:
    rows = people()
    found = subgroups(paired(rows, rows), ROLES, by=["town"])
    for declines, said in (
        ((-0.02, -0.1), "no group is estimated to fare worse than before; the one nearest to a loss gains 2%"),
        ((0.02, -0.1), "fares worst: its utility loses 2%"),
    ):
        mined = [MiningWorth(1.0, 1.0, decline, (decline - 0.01, decline + 0.01)) for decline in declines]
        groups = tuple(replace(g, mined=m) for g, m in zip(found.groups, mined, strict=False))
        (sentence,) = replace(found, groups=groups).sentences[3:]
        assert said in sentence
        assert f"{100 * declines[0] - 1:.3g}% to {100 * declines[0] + 1:.3g}%" in sentence


def test_adult(adult: Any) -> None:
    quasi = ("sex", "age", "race", "marital-status")
    roles = sf.Roles(quasi=quasi, sensitive=("occupation",))
    found = subgroups(sf.Mondrian(k=10)(adult, roles), roles)
    assert found.people == 30162
    assert found.small.loss is not None
    assert found.rest.loss is not None
    assert found.small.loss > found.rest.loss
    assert of(found, "race", "Amer-Indian-Eskimo").worse


def test_classes_that_overlap_are_filled_one_after_the_other() -> None:
    rows = {"town": ["a"] * 5 + ["b"] * 4 + ["c"] * 3, "age": [30] * 12, "ill": ["x"] * 12}
    out = {"town": ["a"] * 5 + ["{a, b}"] * 4 + ["*"] * 3, "age": [30] * 12, "ill": ["x"] * 12}
    roles = sf.Roles(quasi=("town",), sensitive=("ill",))
    found = subgroups(Release(table=in_memory(out), original=in_memory(rows)), roles, smallest=1)
    assert [of(found, "town", name).loss for name in "abc"] == pytest.approx([0, 1 / 3, 2 / 3])
    assert [of(found, "town", name).suppressed for name in "abc"] == [0, 0, 3]
    less = {name: values[:11] for name, values in out.items()}
    assert subgroups(Release(table=in_memory(less), original=in_memory(rows)), roles).suppressed == 3


def test_a_column_by_which_nobody_was_counted_is_named_in_the_sentence() -> None:
    """Sixty towns are too many to make groups of: whoever reads of people in small groups reads which column was not asked."""
    rows = {"town": [f"{i % 60}t" for i in range(120)], "age": ["b"] * 2 + ["a"] * 118, "ill": ["x"] * 120}
    found = subgroups(paired(rows, rows), ROLES)
    assert found.beyond == ("town",)
    assert "The 2 people in groups of less than 5% of the people by age lose 0, the other 118 0" in found.sentences[0]
    assert found.sentences[0].endswith("Small groups of 'town' are not counted: it has more than 50 values.")
