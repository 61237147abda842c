"""The attacks of skewness, membership, composition and minimality as metrics: the attack's numbers, spelled, bounded, refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from house import Make, MakeTable
from sfumato.attacks.composition import composition
from sfumato.attacks.membership import membership
from sfumato.attacks.minimality import minimality
from sfumato.attacks.skewness import skewness
from sfumato.core.errors import InputError, RequirementError, Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.metrics import everything

Q = Roles(quasi=("q",), sensitive=("s",))
ALONE = Roles(quasi=("q",))
TWO = Hierarchy.of("q", [("q1", "*"), ("q2", "*")])
WONG = {"q": ["q1"] * 2 + ["q2"] * 5, "s": ["HIV"] * 2 + ["none"] * 5}


def test_spelled(refusal: Any) -> None:
    for text in (
        "skewness_exposed",
        "skewness_exposed[factor=3,dont_care=cold|flu](s)",
        "membership_risk",
        "composition_exposed[previous=old/earlier release.csv](s)",
        "composition_exposed[previous=earlier.csv,identity=name]",
        "minimality_risk[runs=500]",
    ):
        assert str(sf.metric(text)) == text
        assert str(sf.require(f"{text} <= 0.2")) == f"{text} <= 0.2"
        refusal(RequirementError, lambda text=text: sf.require(f"{text} >= 0.2"), "better lower")
    refusal(RequirementError, lambda: sf.require("composition_exposed <= 0.1"), "previous=...")
    refusal(RequirementError, lambda: sf.require("minimality_risk <= 0.1"), "runs=...")
    refusal(RequirementError, lambda: sf.metric("skewness_exposed[factor=1]"), "factor")


def test_what_only_the_owner_can_name_is_not_asked_by_default(release: Make) -> None:
    asked = {metric.card.name for metric in everything(Q)}
    assert {"skewness_exposed", "membership_risk"} <= asked
    assert not {"composition_exposed", "minimality_risk"} & asked
    published = release({"q": ["1", "1"], "s": ["a", "b"]})
    scores, skipped = sf.measure(published, Q)
    assert scores["skewness_exposed"][1].value == 0
    assert "--population" in skipped["membership_risk"]
    for name in ("composition_exposed", "minimality_risk"):
        assert "must be asked for" in skipped[name]


# --- skewness --------------------------------------------------------------------------------------------------------


def test_skewness_is_the_attack(release: Make) -> None:
    rng = np.random.default_rng(1)
    for _ in range(8):
        published = release(
            {"q": rng.integers(0, 5, 50), "s": [None if v == 4 else f"v{v}" for v in rng.integers(0, 5, 50)]}
        )
        for factor, free in itertools.product((1.5, 2.0, 3.0), ((), ("v1",))):
            found = skewness(published, Q, factor=factor, dont_care=set(free))
            score = sf.skewness_exposed(factor=factor, dont_care=free)(published, Q)
            assert score.value == found.success.value
            assert (score.exactness, score.ci) == ("exact", None)
            assert score.details["exposed_classes"] == found.details.exposed_classes
            assert score.details["in_exposed_classes"] == found.details.exposed_people


def test_merging_can_lift_a_class_over_the_factor(release: Make) -> None:
    """Why it is not said to be monotone: 39% just miss twice a fifth; ten certain rows lift all of them."""
    values = ["a"] * 10 + ["a"] * 35 + ["b"] * 55 + ["b"] * 115
    values[-1] = "c"
    apart = release({"q": ["1"] * 10 + ["2"] * 90 + ["3"] * 115, "s": values})
    merged = release({"q": ["1"] * 100 + ["3"] * 115, "s": values})
    few, many = (sf.metric("skewness_exposed[dont_care=b|c]")(each, Q).value for each in (apart, merged))
    assert few == pytest.approx(10 / 215)
    assert many == pytest.approx(45 / 215)
    assert not sf.skewness_exposed.card.monotone


# --- membership ------------------------------------------------------------------------------------------------------


def test_membership_without_overlap_is_a_mean_over_the_released(release: Make) -> None:
    """Against the people themselves: the mean over those who are in of what is believed of them."""
    rng = np.random.default_rng(2)
    values = rng.integers(0, 30, 300)
    inside = rng.random(300) < np.where(values < 15, 0.7, 0.2)
    released = {"q": [f"[{v // 5 * 5},{v // 5 * 5 + 5})" for v in values[inside]]}
    published = release(released, population={"q": values})
    share = {c: inside[values // 5 == c].mean() for c in range(6)}
    score = sf.membership_risk(published, ALONE)
    assert score.value == pytest.approx(np.mean([share[v // 5] for v in values[inside]]))
    assert (score.exactness, score.ci) == ("exact", None)
    attack = membership(published, ALONE)
    assert score.details["guessed_right_at_least"] == pytest.approx(attack.success.value)
    assert score.details["largest"] == pytest.approx(attack.details.delta_max)
    assert score.value <= sf.delta_presence(published, ALONE).value + 1e-12
    assert score.details["baseline"] == pytest.approx(inside.mean())
    json.dumps(dict(score.details))


def test_membership_extremes(release: Make) -> None:
    people = {"q": [str(v) for v in range(40)]}
    for rows in (1, 20, 40):
        score = sf.membership_risk(release({"q": ["*"] * rows}, population=people), ALONE)
        assert score.value == pytest.approx(rows / 40)
        assert score.details["above_baseline"] == pytest.approx(0)
    raw = sf.membership_risk(release({"q": people["q"][:7]}, population=people), ALONE)
    assert raw.value == 1
    assert raw.details["certain"] == 7
    lacking = sf.membership_risk(release({"q": ["a", "a", "b"]}, population={"q": ["a", "b", "b"]}), ALONE)
    assert lacking.exactness == "bound"
    assert lacking.value == pytest.approx(
        (2 * 1 + 1 / 2) / 3
    )  # of two rows of a, one has nobody: both count as certain


@pytest.mark.parametrize("seed", range(30))
def test_membership_bounds_hold_where_classes_overlap(seed: int, release: Make) -> None:
    """By all ways to give each row a person of its own, as in the attack's test."""
    rng = np.random.default_rng(seed)
    people = sorted(rng.integers(0, 8, int(rng.integers(4, 8))).tolist())
    inside = rng.choice(len(people), int(rng.integers(1, 5)), replace=False)
    rows = [(people[i] - int(rng.integers(0, 3)), people[i] + int(rng.integers(0, 3))) for i in inside]
    score = sf.membership_risk(release({"q": [f"[{a},{b}]" for a, b in rows]}, population={"q": people}), ALONE)
    used, total = np.zeros(len(people)), 0
    for given in itertools.product(*([j for j, v in enumerate(people) if a <= v <= b] for a, b in rows)):
        if len(set(given)) == len(given):
            total += 1
            used[list(given)] += 1
    truth = float(((used / total) ** 2).sum()) / len(rows)
    low, high = score.ci if score.ci is not None else (score.value, score.value)
    assert low - 1e-12 <= truth <= high + 1e-12
    assert score.value == high  # a requirement that is met is met in truth
    assert (score.exactness == "bound") == (score.ci is not None)


def test_membership_of_people_who_have_several_rows(release: Make) -> None:
    """Three of x's rows, one of y's, and one row was released without saying whose: P(x) = 3/4 is not row by row 1/4."""
    roles = Roles(quasi=("q",), person="id")
    people = {"q": ["1"] * 4, "id": ["x", "x", "x", "y"]}
    score = sf.membership_risk(release({"q": ["1"]}, population=people), roles)
    assert score.value == pytest.approx((0.75**2 + 0.25**2) / 1)
    carried = sf.membership_risk(release({"q": ["1"], "id": ["?"]}, population=people), roles)
    assert carried.value == pytest.approx(1 / 2)  # one person of two


def test_membership_refusals(release: Make, refusal: Any) -> None:
    refusal(Unavailable, lambda: sf.membership_risk(release({"q": ["a"]}), ALONE), "--population")
    refusal(Unavailable, lambda: sf.membership_risk(release({"q": ["a"]}, population={"q": ["b"]}), ALONE), "covers")


# --- composition -----------------------------------------------------------------------------------------------------

PEOPLE = {"q": ["1", "2", "3", "4"], "s": ["flu", "hiv", "flu", "cold"], "name": ["Ann", "Bob", "Cid", "Dee"]}
FIRST = {"q": ["[1,2]", "[1,2]", "[3,4]", "[3,4]"], "s": PEOPLE["s"]}
SECOND = {"q": ["[1,1]", "[2,3]", "[2,3]", "[4,4]"], "s": PEOPLE["s"]}


def written(columns: Mapping[str, list[str]], path: Path) -> Path:
    lines = [",".join(columns), *(",".join(f'"{cell}"' for cell in row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_composition_is_the_attack(table: MakeTable, tmp_path: Path) -> None:
    original = table(PEOPLE)
    now, before = Release(table=table(FIRST), original=original), Release(table=table(SECOND), original=original)
    found = composition(now, Q, previous=before)
    path = written(SECOND, tmp_path / "earlier.csv")
    for identity in ((), ("name",)):
        score = sf.composition_exposed(previous=str(path), identity=identity)(now, Q)
        assert score.value == found.success.value == pytest.approx(3 / 4)
        assert (score.exactness, score.unit, score.ci) == ("exact", "share of people", None)
        assert score.details["certain_only_together"] == 1
        assert found.baseline is not None
        assert score.details["baseline"] == found.baseline.value == pytest.approx(1 / 2)
    assert sf.require(f"composition_exposed[previous={path}] <= 0.75").check(now, Q).met
    nothing = Release(table=table({**FIRST, "q": ["*"] * 4}), original=original)
    assert sf.composition_exposed(previous=str(path))(nothing, Q).value == pytest.approx(1 / 2)


def test_composition_refusals(table: MakeTable, tmp_path: Path, refusal: Any) -> None:
    path = str(written(SECOND, tmp_path / "earlier.csv"))
    alone = Release(table=table(FIRST))
    refusal(Unavailable, lambda: sf.composition_exposed(previous=path)(alone, Q), "original")
    now = Release(table=table(FIRST), original=table(PEOPLE))
    refusal(InputError, lambda: sf.composition_exposed(previous=str(tmp_path / "no.csv"))(now, Q), "no.csv")
    refusal(InputError, lambda: sf.composition_exposed(previous=path, identity=("q", "name"))(now, Q), "identity")
    other = str(written({"x": ["1"], "s": ["a"]}, tmp_path / "other.csv"))
    refusal(InputError, lambda: sf.composition_exposed(previous=other)(now, Q), "'q'")


# --- minimality ------------------------------------------------------------------------------------------------------


def test_minimality_is_the_attack(table: MakeTable) -> None:
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": TWO})
    made = sf.GeneralizeFullDomain(require=(sf.require("recursive_diversity[l=2,dont_care=none] <= 1"),))
    score = sf.minimality_risk(runs=10)(made(table(WONG), roles), roles)
    assert (score.value, score.exactness, score.ci) == (1, "exact", None)
    assert score.details["without_algorithm"] == score.details["baseline"] == pytest.approx(5 / 7)
    assert score.details["believed_more"] == score.details["believed_more_at_most"] == 1
    blind = sf.minimality_risk(runs=1)(sf.GeneralizeFullDomain(k=5)(table(WONG), roles), roles)
    assert blind.value == blind.details["without_algorithm"] == pytest.approx(5 / 7)
    json.dumps(dict(score.details))


def test_minimality_is_a_bound_where_people_are_not_reached(table: MakeTable) -> None:
    """The value is the end that the truth does not exceed, and falls as runs are added."""
    roles = Roles(quasi=("age",), sensitive=("s",))
    ages = [0, 0, 4, 6, 6, 12, 14, 16, 18, 18, 20, 20, 22, 22]
    data = {"age": ages, "s": list("bababaaaaaabbb")}
    release = sf.Mondrian(k=2, require=(sf.require("distinct_l_diversity >= 2"),))(table(data), roles)
    found = minimality(release, roles, runs=10)
    assert found.details.not_reached > 0
    score = sf.minimality_risk(runs=10)(release, roles)
    assert score.exactness == "bound"
    assert score.ci == (pytest.approx(found.fell / 14), score.value)
    assert score.value == pytest.approx(found.details.success_at_most)
    assert score.ci is not None
    assert score.ci[0] < score.value
    assert "at most" in sf.minimality_risk.sentence(score.value)
    assert sf.minimality_risk(runs=500)(release, roles).value < score.value


def test_minimality_refusals(table: MakeTable, refusal: Any) -> None:
    elsewhere = Release(table=table({**WONG, "q": ["*"] * 7}), original=table(WONG), pairing="position")
    refusal(Unavailable, lambda: sf.minimality_risk(runs=10)(elsewhere, Q), "algorithm")
    alone = Release(table=table(WONG), made_by="mondrian", parameters={"k": 2})
    refusal(Unavailable, lambda: sf.minimality_risk(runs=10)(alone, Q), "original")


@pytest.mark.parametrize("name", ["skewness_exposed", "membership_risk", "composition_exposed", "minimality_risk"])
def test_sentences_of_what_is_not_asked_by_default(name: str) -> None:
    """The registry's checks look at variants that can be asked as they are; these cards are looked at here."""
    card = sf.registry()[name].card
    for value in (0.0, 1e-9, 0.001, 0.25, 0.999, 1.0):
        text = card.sentence(value)
        assert text[0].isupper()
        assert text.endswith(".")
        assert "  " not in text
    assert card.question.endswith("?")
    assert card.misleads.endswith(".")
    assert "Extremes:" in card.definition
