"""The two questions and the presets: every limit against the published number, by arithmetic."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.core.roles import Roles
from sfumato.engines import read
from sfumato.inspect.default_metrics import wp29
from sfumato.mechanisms.mondrian import Mondrian
from sfumato.metrics import metric, require
from sfumato.study.context import OVERALL, PRESETS, QUESTIONS, WP29, Context, smallest_k
from sfumato.study.study import Study

GRADES = ("low", "medium", "high")
INSIDER = {("high", "low"): 0.05, ("high", "medium"): 0.1, ("high", "high"): 0.2,
           ("medium", "low"): 0.2, ("medium", "medium"): 0.3, ("medium", "high"): 0.4,
           ("low", "low"): 0.4, ("low", "medium"): 0.5, ("low", "high"): 0.6}  # fmt: skip
"""(controls, motives), IPC Ontario 2016."""


@pytest.mark.parametrize(("impact", "limit", "k"), [("low", 0.1, 10), ("medium", 0.075, 14), ("high", 0.05, 20)])
def test_public(impact: Any, limit: float, k: int) -> None:
    context = Context(to="public", impact=impact)
    (found,) = context.limits
    assert context.risk == 1
    assert found.requirement == require(f"prosecutor_risk <= {limit}")
    assert found.k == k
    assert found.requirement.holds(1 / k)
    assert not found.requirement.holds(1 / (k - 1))
    assert f"at least {k} people" in found.sentence
    assert f"{limit:g}" in found.sentence
    assert "IPC" in found.source
    assert "27559" in found.source
    assert ("prints 15" in found.sentence) == (k == 14)
    assert found.to_dict()["risk"] == pytest.approx(1 / k)


@pytest.mark.parametrize("impact", GRADES)
@pytest.mark.parametrize("motives", GRADES)
@pytest.mark.parametrize("controls", GRADES)
@pytest.mark.parametrize("to", ["agreement", "onsite"])
def test_under_agreement_and_on_site(to: Any, impact: Any, controls: Any, motives: Any) -> None:
    """Overall = data x context, so the data may carry overall/context; no one above one in three whatever the mean."""
    context = Context(to=to, impact=impact, controls=controls, motives=motives)
    overall = {"low": 0.1, "medium": 0.075, "high": 0.05}[impact]
    wanted = INSIDER["high" if to == "onsite" else controls, motives]
    assert context.risk == pytest.approx(wanted)
    *means, worst = context.limits
    assert worst.requirement == require("k_anonymity >= 3")
    assert worst.k == 3
    assert all(limit.source and limit.sentence.endswith(".") for limit in context.limits)
    assert bool(means) == (wanted > overall), "a mean of at most 1 is no limit"
    assert ("The mean is not limited" in worst.sentence) == (not means)
    for mean in means:
        assert str(mean.requirement.metric) == "marketer_risk"
        assert mean.requirement.bound <= overall / wanted + 1e-12
        assert mean.requirement.bound > overall / wanted - 1e-4
        assert mean.requirement.bound * context.risk <= overall + 1e-12
        assert f"may be {mean.text.split()[-1]}." in mean.sentence  # printed is held
        assert mean.text == str(mean.requirement)


def test_classes_of_six_meet_a_mean_of_a_sixth() -> None:
    """0.05 / 0.3 is 1/6, which six people in every class reach; four digits would have asked for seven."""
    (mean, _) = Context(to="agreement", impact="high").limits
    assert mean.text == "marketer_risk <= 1/6"
    assert mean.requirement.holds(50 / 300)
    assert not mean.requirement.holds(51 / 300)


@given(known=st.floats(0, 1), breach=st.floats(0, 1), controls=st.sampled_from(GRADES), motives=st.sampled_from(GRADES))
def test_context_risk_is_the_largest_of_three(known: float, breach: float, controls: Any, motives: Any) -> None:
    context = Context(to="agreement", impact="high", controls=controls, motives=motives, known=known, breach=breach)
    acquaintance = 1 - (1 - known) ** 150
    assert context.parts == {
        "insider": INSIDER[controls, motives], "acquaintance": pytest.approx(acquaintance), "breach": breach,
    }  # fmt: skip
    assert context.risk == max(context.parts.values())
    assert 0 < context.risk <= 1
    limit = context.limits[0]
    if str(limit.requirement.metric) == "marketer_risk":
        assert 0 < limit.requirement.bound < 1
        assert limit.requirement.bound * context.risk <= 0.05 + 1e-9
    else:
        assert context.risk <= 0.05
    assert f"{context.risk:.3g}" in limit.sentence


def bound(**answers: Any) -> float:
    """What the largest or the mean risk may be; 1 where it is left free."""
    first = Context(**answers).limits[0].requirement
    return first.bound if first.sign == "<=" else 1.0


@pytest.mark.parametrize("to", ["public", "agreement", "onsite"])
@given(known=st.floats(0, 0.02), breach=st.floats(0, 1), motives=st.sampled_from(GRADES))
def test_limits_go_the_right_way(to: Any, known: float, breach: float, motives: Any) -> None:
    base = {"to": to, "known": known, "breach": breach, "motives": motives}
    for controls in GRADES:
        loose, middle, strict = (bound(**base, impact=impact, controls=controls) for impact in GRADES)
        assert loose >= middle >= strict, "a worse impact never gives a looser limit"
    for impact in GRADES:
        few, some, many = (bound(**base, impact=impact, controls=controls) for controls in GRADES)
        assert few <= some <= many, "more controls never give a stricter one"
        calm, keen = (bound(**{**base, "motives": m}, impact=impact) for m in ("low", "high"))
        assert keen <= calm
        more = bound(**{**base, "known": min(1.0, known + 0.3)}, impact=impact)
        assert more <= bound(**base, impact=impact)


def test_nearer_recipients_are_never_held_to_a_stricter_mean() -> None:
    for impact, motives, controls in itertools.product(GRADES, GRADES, GRADES):
        onsite, agreement = (
            bound(to=to, impact=impact, motives=motives, controls=controls) for to in ("onsite", "agreement")
        )
        assert onsite >= agreement >= bound(to="public", impact=impact)


@pytest.mark.parametrize(
    ("name", "text", "k", "source"),
    [
        ("clinical-public", "prosecutor_risk <= 0.09", 12, "0070"),
        ("public-use", "k_anonymity >= 5", 5, "sdcMicro"),
        ("scientific-use", "k_anonymity >= 3", 3, "IHSN"),
        ("gbt-public", "k_anonymity >= 20", 20, "42460"),
        ("output-check", "k_anonymity >= 10", 10, "ONS"),
    ],
)
def test_presets(name: str, text: str, k: int, source: str) -> None:
    context = Context(preset=name)
    (limit,) = context.limits
    assert limit.requirement == require(text)
    assert limit.k == k
    assert smallest_k([limit.requirement]) == k
    assert source in limit.source
    assert re.search(rf"\b{k} people", limit.sentence)
    for share in map(float, re.findall(r"risk of at most (\d[\d.]*\d)", limit.sentence)):
        assert share == pytest.approx(1 / k, rel=5e-3) or share == limit.requirement.bound
    assert name in context.sentence


def test_every_preset_is_tested_here() -> None:
    assert set(PRESETS) == {
        "clinical-public", "public-use", "scientific-use", "output-check", "cbs-research", "cbs-public", "hipaa",
    }  # fmt: skip
    assert set(OVERALL) == {"gbt-public", "gbt-agreement", "gbt-enclave"}


def test_the_help_of_advise_names_every_preset() -> None:
    from sfumato.cli.advise import PRESETS as TOLD

    named = re.findall(r"[a-z0-9]+(?:-[a-z]+)?(?=, )", TOLD)
    assert sorted(named) == sorted([*PRESETS, *OVERALL, WP29])


@pytest.mark.parametrize(
    ("name", "answers", "risk", "k"),
    [
        ("gbt-public", {"controls": "high"}, 1, 20),  # everybody: the answers about recipients do not count
        ("gbt-agreement", {"controls": "high", "motives": "low"}, 0.05, 5),
        ("gbt-agreement", {"controls": "high", "motives": "high"}, 0.2, 5),
        ("gbt-agreement", {}, 0.3, 6),
        ("gbt-agreement", {"controls": "low", "motives": "high"}, 0.6, 12),
        ("gbt-agreement", {"breach": 1.0}, 1, 20),
        ("gbt-enclave", {"controls": "low"}, 0.1, 3),
        ("gbt-enclave", {"breach": 0.16}, 0.16, 4),
    ],
)
def test_gbt_also_holds_the_overall_risk(name: str, answers: dict[str, Any], risk: float, k: int) -> None:
    """Data risk x context risk at most 0.05, and never fewer than the class size for the kind of release."""
    context = Context(preset=name, **answers)
    (limit,) = context.limits
    assert context.risk == pytest.approx(risk)
    assert (limit.k, limit.text) == (k, f"k_anonymity >= {k}")
    assert context.risk / k <= 0.05 + 1e-12
    floor = {"gbt-public": 20, "gbt-agreement": 5, "gbt-enclave": 3}[name]
    assert k == floor or context.risk / (k - 1) > 0.05, "no larger than it must be"
    assert f"at least {floor} people" in limit.sentence
    for share in map(float, re.findall(r"overall risk is at most (\d[\d.]*\d)", limit.sentence)):
        assert context.risk / k <= share + 1e-12 <= 0.05 + 1e-9


def test_wp29_asks_the_questions_and_measures_three_things() -> None:
    plain, asked = Context(to="agreement", impact="low"), Context(to="agreement", impact="low", preset="wp29")
    assert [limit.text for limit in asked.limits] == [limit.text for limit in plain.limits]
    assert asked.axis == plain.axis


def test_wp29_measures_three_things() -> None:
    table = read({"age": [1, 2, 3], "sex": ["f", "m", "m"], "illness": ["a", "b", "a"], "wage": [1, 2, 3]})
    roles = Roles(quasi=("age", "sex"), sensitive=("illness", "wage"))
    assert [str(each) for each in wp29(roles, table)] == [
        "singling_out_risk[size=2]",
        "linkability_risk[first=age,second=sex]",
        "inference_risk[secret=illness]",
        "inference_risk[secret=wage]",
    ]
    one = wp29(Roles(quasi=("age",)), read({"age": [1, 2]}))
    assert [each.card.name for each in one] == ["singling_out_risk"]  # there are no two sources


def test_cbs_counts_combinations() -> None:
    assert [limit.text for limit in Context(preset="cbs-research").limits] == ["rarest_combination[size=3] >= 100"]
    values, pairs = Context(preset="cbs-public").limits
    assert (values.requirement.bound, pairs.requirement.bound) == (200_000, 1_000)
    assert "2024" in values.source


def test_cbs_checks_the_roles_before_anything_is_made() -> None:
    many, few = tuple(f"q{i}" for i in range(16)), tuple(f"q{i}" for i in range(15))
    Context(preset="cbs-public").check(Roles(quasi=few))
    Context(preset="cbs-research").check(Roles(quasi=many, sensitive=("illness",)))
    with pytest.raises(InputError, match="allows 15 identifying variables, and the roles file names 16"):
        Context(preset="cbs-public").check(Roles(quasi=many))
    with pytest.raises(InputError, match="no sensitive variable, and the roles file names 'illness'"):
        Study(
            read({"q0": [1], "illness": ["x"]}),
            Roles(quasi=("q0",), sensitive=("illness",)),
            context=Context(preset="cbs-public"),
        )


def test_clinical_says_why_eleven_is_not_enough() -> None:
    (limit,) = Context(preset="clinical-public").limits
    assert not limit.requirement.holds(1 / 11)
    assert limit.requirement.holds(1 / 12)
    assert "0.0909" in limit.sentence


def test_a_preset_for_named_recipients_does_not_call_itself_public() -> None:
    context = Context(preset="gbt-agreement")
    assert "public" not in context.parts
    assert context.to_dict()["to"] == "agreement"
    assert "named recipients" in context.sentence
    assert Context(preset="public-use").to_dict()["to"] is None  # nobody was asked


def every_context() -> list[Context]:
    found = [Context(preset=name) for name in (*PRESETS, *OVERALL, WP29)]
    for to, impact, controls in itertools.product(QUESTIONS["to"], QUESTIONS["impact"], GRADES):
        found.append(Context(to=to, impact=impact, controls=controls, known=0.001))  # type: ignore[arg-type]
    return found


def test_every_context_can_be_shown_and_used() -> None:
    for context in every_context():
        shown = context.to_dict()
        assert shown["limits"]
        assert metric(context.axis).card.about == "privacy"
        assert context.require == tuple(limit.requirement for limit in context.limits)
        assert shown["context_risk"] == context.risk
        for text in (context.sentence, *(limit.sentence for limit in context.limits)):
            assert text.endswith(".")
            assert "anonymous" not in text.lower()
            assert not re.search(r"\bsafe\b", text.lower())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"to": "everyone"}, "to must be one of public, agreement, onsite"),
        ({"impact": "huge"}, "impact must be one of low, medium, high"),
        ({"controls": ""}, "controls must be one of"),
        ({"motives": "none"}, "motives must be one of"),
        ({"known": -0.1}, "known is a share"),
        ({"known": float("nan")}, "known is a share"),
        ({"breach": 1.5}, "breach is a share"),
        ({"preset": "public_use"}, "Unknown preset"),
    ],
)
def test_wrong_answers_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Context(**given)


@pytest.mark.parametrize(
    ("texts", "k"),
    [
        ([], 1),
        (["k_anonymity >= 1"], 1),
        (["k_anonymity >= 4.2"], 5),
        (["prosecutor_risk <= 0.1"], 10),
        (["prosecutor_risk <= 0.075"], 14),
        (["prosecutor_risk <= 0.09"], 12),
        (["prosecutor_risk <= 1"], 1),
        (["prosecutor_risk <= 0.33333333333"], 4),  # 1/3 is above it
        (["k_anonymity >= 4.0000000001"], 5),
        (["prosecutor_risk <= 5"], 1),
        (["marketer_risk <= 0.01"], 1),
        (["k_anonymity >= 3", "prosecutor_risk <= 0.2", "t_closeness[equal] <= 0.1"], 5),
    ],
)
def test_smallest_k(texts: list[str], k: int) -> None:
    asked = [require(text) for text in texts]
    assert smallest_k(asked) == k


@given(st.floats(1e-4, 1))
def test_smallest_k_is_smallest_and_enough(limit: float) -> None:
    asked = metric("prosecutor_risk").at_most(limit)
    k = smallest_k([asked])
    assert asked.holds(1 / k)
    assert k == 1 or not asked.holds(1 / (k - 1))


def test_a_study_takes_texts_and_mechanisms_as_candidates() -> None:
    table = read(pa.table({"age": [20, 21, 30, 31] * 5}))
    study = Study(table, Roles(quasi=("age",)), candidates=["mondrian k=5", Mondrian(k=10)])  # type: ignore[arg-type]
    assert [candidate.name for candidate in study.candidates] == ["mondrian k=5", "mondrian k=10"]
    with pytest.raises(InputError, match="A study takes candidates, as 'mondrian k=5'"):
        Study(table, Roles(quasi=("age",)), candidates=(5,))  # type: ignore[arg-type]
