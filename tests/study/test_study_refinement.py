"""Looking around the recommended candidate: never worse, and what is planted nearby is found."""

from __future__ import annotations

import dataclasses
import hashlib
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import Infeasible
from sfumato.core.metric import Score
from sfumato.core.range_ends import Style
from sfumato.inspect.default_metrics import usual_metrics
from sfumato.mechanisms import registry as mechanisms
from sfumato.metrics import metric, registry, require
from sfumato.search.losses import Wanted
from sfumato.study import refinement as room
from sfumato.study.advice import advice
from sfumato.study.candidate import Candidate, product, spelled, steered
from sfumato.study.default_candidates import candidates, size_of
from sfumato.study.point import Measurement
from sfumato.study.refinement import neighbours
from sfumato.study.stopping import Stop
from sfumato.study.study import Result, Study
from sfumato.study.telling import Telling
from sfumato.study.usefulness import BY_USE
from study_house import LOSS, RISK, memory, study

Toy = Callable[[dict[str, Any]], tuple[float, float]]
"""(risk, loss) of a mechanism's settings."""


def toyed(held: Study, toy: Toy, *, rounds: int = 4) -> tuple[Result, dict[str, tuple[float, float]]]:
    """A study whose candidates have the scores of a toy; also all that was tried, by text."""
    tried: dict[str, tuple[float, float]] = {}

    def measured(candidate: Candidate) -> Measurement:
        assert candidate.mechanism is not None
        risk, loss = toy({"k": 1, **candidate.mechanism.settings(), "family": candidate.family})
        tried[candidate.text] = risk, loss
        scores = {"prosecutor_risk": (RISK, Score(risk, "p")), "iloss": (LOSS, Score(loss, "share"))}
        k = metric("k_anonymity")
        return Measurement({**scores, "k_anonymity": (k, Score(round(1 / risk), "people"))})

    def run(bench: Any, found: list[Candidate], *args: Any, **more: Any) -> list[Measurement]:
        return [measured(candidate) for candidate in found]

    before = Result(held, tuple(held.point(c, measured(c)) for c in held.candidates))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "run", run)
        found = room.refined(before, rounds=rounds, kept=None, workers=1, telling=Telling(held, (), 1), stop=Stop())  # type: ignore[arg-type]
    return found, tried


TABLE = memory(40)


def test_a_planted_choice_is_found() -> None:
    """k = 5 is given; relaxed loses less, and relaxed by width still less: two steps away."""

    def toy(s: dict[str, Any]) -> tuple[float, float]:
        return 1 / s["k"], 0.5 - 0.1 * (s.get("mode") == "relaxed") - 0.05 * (
            s.get("choose") == "width" and "mode" in s
        )

    found, _ = toyed(study(TABLE, "mondrian k=5", requirements=["k_anonymity >= 5"]), toy)
    chosen = found.recommended[0]
    assert chosen is not None
    best = found.points[chosen]
    assert best.found
    made = best.candidate.mechanism
    assert isinstance(made, sf.Mondrian)
    assert (made.mode, best.value(LOSS)) == ("relaxed", pytest.approx(0.35 if made.choose == "width" else 0.4))
    assert found.looked > 0


def test_a_planted_number_is_found_and_the_limit_is_kept() -> None:
    """Not monotone in k: 12 loses less than 10, and 9, which loses least, is below the limit."""

    def toy(s: dict[str, Any]) -> tuple[float, float]:
        return 1 / s["k"], {9: 0.1, 12: 0.2, 10: 0.3}.get(s["k"], 0.4)

    found, tried = toyed(study(TABLE, "mondrian k=10", requirements=["prosecutor_risk <= 0.1"]), toy)
    chosen = found.recommended[0]
    assert chosen is not None
    assert "k=12" in found.points[chosen].candidate.text
    assert not any("k=9" in text for text in tried), "it cannot meet the limit, so it need not be tried"


def test_another_mechanism_that_comes_near_is_looked_around_too() -> None:
    def toy(s: dict[str, Any]) -> tuple[float, float]:
        if s["family"] == "k_member":
            return 1 / s["k"], 0.2 if s["k"] == 6 else 0.35
        return 1 / s["k"], 0.3

    found, _ = toyed(study(TABLE, "mondrian k=5", "k_member k=5", requirements=["k_anonymity >= 5"]), toy)
    chosen = found.recommended[0]
    assert chosen is not None
    assert found.points[chosen].candidate.text.startswith("k_member k=6")


def luck(salt: int) -> Toy:
    """Scores without any order."""

    def toy(s: dict[str, Any]) -> tuple[float, float]:
        drawn = hashlib.sha256(repr((salt, sorted(s.items()))).encode()).digest()
        return (1 + drawn[0] % 20) / 20, (1 + drawn[1] % 20) / 20

    return toy


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40)
@given(salt=st.integers(0, 10**6), asked=st.booleans(), rounds=st.integers(1, 5))
def test_it_is_never_worse_and_nothing_that_was_tried_beats_it(salt: int, asked: bool, rounds: int) -> None:
    need = ["k_anonymity >= 2"] if asked else []
    held = study(TABLE, "mondrian k=2", "mondrian k=5", "mondrian k=9", "k_member k=3", requirements=need)
    toy = luck(salt)
    found, tried = toyed(held, toy, rounds=rounds)
    plain = Result(held, found.points[:4])
    before, after = plain.recommended[0], found.recommended[0]
    if before is None:
        return
    assert after is not None, "what could be recommended still can"
    best = found.points[after]
    assert best.met
    risk, loss = best.value(RISK), best.value(LOSS)
    if asked:
        assert (loss, risk) <= (found.points[before].value(LOSS), found.points[before].value(RISK))
    good = [(r, l) for r, l in tried.values() if not asked or round(1 / r) >= 2]
    assert not any(r <= risk and l <= loss and (r, l) != (risk, loss) for r, l in good)
    if found.looked:
        assert advice(found).of("looked")[0].startswith(f"{len(tried) - 4} more candidates")
    assert len({p.candidate.text for p in found.points}) == len(found.points)


def test_nothing_is_tried_twice() -> None:
    calls: list[str] = []
    base = luck(7)

    def toy(s: dict[str, Any]) -> tuple[float, float]:
        calls.append(repr(sorted(s.items())))
        return base(s)

    found, tried = toyed(study(TABLE, "mondrian k=5", requirements=["k_anonymity >= 1"]), toy)
    again = 1 if any(point.found for point in found.points) else 0  # what wins is measured like the others
    assert len(calls) <= len(tried) + again


def test_no_rounds_no_looking() -> None:
    found, tried = toyed(study(TABLE, "mondrian k=5"), luck(1), rounds=0)
    assert found.looked == 0
    assert set(tried) == {"mondrian k=5"}


def test_a_real_study_is_refined(tmp_path: Path) -> None:
    table = memory(60)
    held = study(table, "mondrian k=5", requirements=["k_anonymity >= 5"])
    plain = held.run()
    found = held.run(refine=2, cache=tmp_path)
    chosen = found.recommended[0]
    assert chosen is not None
    best = found.points[chosen]
    assert best.met
    assert best.value(LOSS) <= plain.points[0].value(LOSS)
    assert found.release(chosen).table.rows
    assert metric("k_anonymity")(found.release(chosen), found.study.roles).value >= 5
    assert set(plain.points[0].scores) <= set(best.scores)
    again = held.run(refine=2, cache=tmp_path)
    assert again.to_dict() == found.to_dict()


# --- neighbours ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "mondrian k=5",
        "mondrian k=5 mode=relaxed choose=loss require='t_closeness[equal] <= 0.4'",
        "generalize_full_domain k=5 suppression=0.01 minimise=iloss",
        "k_member k=3",
        "local_suppression k=3",
        "top_down_specialization k=4",
        "microaggregation k=3",
        "rank_swapping p=5",
        "additive_noise scale=0.3",
        "generalize_to_levels levels=1,1 k=5 suppression=0.1",
    ],
)
def test_neighbours_differ_in_one_parameter_and_keep_what_is_required(text: str) -> None:
    made = Candidate.of(text).mechanism
    assert made is not None
    here = made.settings()
    seen = set()
    for other in neighbours(made, study(TABLE, text, requirements=["k_anonymity >= 3"])):
        assert other.mechanism is not None
        there = other.mechanism.settings()
        changed = {key for key in {*here, *there} if here.get(key) != there.get(key)}
        assert len(changed) == 1, (here, there)
        assert changed != {"require"}
        assert changed <= set(made.card.tunable)
        if "k" in changed:
            assert there["k"] >= 3
        seen.add(other.text)
    assert seen


# --- candidates and steering -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "asked", "more"),
    [
        ("mondrian k=5", ["k_anonymity >= 5"], []),
        ("mondrian k=5", ["k_anonymity >= 3"], []),
        ("mondrian k=5", ["k_anonymity >= 6"], ["k_anonymity >= 6"]),
        ("mondrian k=14", ["prosecutor_risk <= 0.075"], []),
        ("mondrian k=13", ["prosecutor_risk <= 0.075"], ["prosecutor_risk <= 0.075"]),
        ("mondrian k=12", ["prosecutor_risk <= 0.09"], []),
        ("mondrian k=11", ["prosecutor_risk <= 0.09"], ["prosecutor_risk <= 0.09"]),
        ("mondrian k=3", ["prosecutor_risk <= 0.33333333333"], ["prosecutor_risk <= 0.33333333333"]),
        (
            "mondrian k=5",
            ["t_closeness[equal] <= 0.4", "marketer_risk <= 0.1"],
            ["t_closeness[equal] <= 0.4", "marketer_risk <= 0.1"],
        ),
        (
            "mondrian k=5",
            ["n_t_closeness[equal,n=100] <= 0.4", "marketer_risk <= 0.1"],
            ["n_t_closeness[equal,n=100] <= 0.4"],
        ),
        (
            "mondrian k=5",
            ["t_closeness[equal] <= 0.4", "mutual_information_leak <= 0.1"],
            ["t_closeness[equal] <= 0.4"],
        ),
        ("mondrian k=5 require='t_closeness[equal] <= 0.4'", ["t_closeness[equal] <= 0.4"], []),
        (
            "mondrian k=5 require='t_closeness[equal] <= 0.4'",
            ["t_closeness[equal] <= 0.2"],
            ["t_closeness[equal] <= 0.2"],
        ),
        ("additive_noise scale=0.1", ["k_anonymity >= 3"], []),
    ],
)
def test_steered_drops_only_what_is_implied(text: str, asked: list[str], more: list[str]) -> None:
    before, after = Candidate.of(text).mechanism, Candidate.of(steered(text, [require(one) for one in asked])).mechanism
    assert before is not None
    assert after is not None
    assert set(map(str, after.promises)) - set(map(str, before.promises)) == set(more)


@given(k=st.integers(1, 40), limit=st.integers(1, 40))
def test_what_is_dropped_follows_from_k(k: int, limit: int) -> None:
    for asked in (require(f"k_anonymity >= {limit}"), metric("prosecutor_risk").at_most(1 / limit)):
        text = steered(f"mondrian k={k}", [asked])
        if "require" not in text:
            assert asked.holds(k if ">=" in str(asked) else 1 / k)


def test_a_text_reads_back_as_itself() -> None:
    for settings_, need in (({"k": 5, "mode": "relaxed"}, ["t_closeness[equal](ill) <= 0.3"]), ({"k": 2}, [])):
        text = spelled("mondrian", settings_, need)
        found = Candidate.of(text)
        assert found.mechanism is not None
        assert Candidate.by(found.mechanism).text == text


def test_a_grid_is_every_combination() -> None:
    texts = product("mondrian", {"k": [2, 3], "mode": ["strict", "relaxed"], "choose": "loss"})
    assert len(set(texts)) == 4
    assert product("mondrian", {"k": 2}) == ["mondrian k=2"]


# --- what advise starts from -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        ["prosecutor_risk <= 0.1"],
        ["k_anonymity >= 5", "t_closeness[equal] <= 0.3"],
        ["marketer_risk <= 0.2", "k_anonymity >= 3"],
        [],
    ],
)
@pytest.mark.parametrize("wide", [False, True])
def test_the_sensible_candidates_fit_the_limits(asked: list[str], wide: bool) -> None:
    need = [require(text) for text in asked]
    found = candidates(TABLE, study(TABLE, "mondrian k=2").roles, need, LOSS, wide=wide)
    assert len({c.text for c in found}) == len(found) > 10
    assert len({c.family for c in found}) >= (8 if wide else 5)
    steerable = [r for r in need if r.metric.card.scope == "class"]
    for candidate in found:
        made = candidate.mechanism
        assert made is not None
        for requirement in steerable:
            if made.honours(requirement):
                assert requirement in made.promises or any(
                    str(p.metric) == "k_anonymity"
                    and requirement.holds(1 / p.bound if "risk" in str(requirement) else p.bound)
                    for p in made.promises
                ), (candidate.text, str(requirement))


def test_what_is_offered_can_be_made() -> None:
    """Synthesis needs domains, which only the owner can state; all else that is offered must work as it stands."""
    table = memory(60)
    every = candidates(table, study(table, "mondrian k=2").roles, [], LOSS, wide=True)
    largest = {candidate.family: candidate for candidate in every}  # the last of each mechanism
    held = study(table, candidates=tuple(largest.values()))
    failed = {point.candidate.family for point in held.run().points if point.failure}
    assert failed <= {"dp_synthesis"}


def test_a_table_smaller_than_the_limit_still_has_candidates() -> None:
    small = memory(4)
    found = candidates(small, study(small, "mondrian k=2").roles, [require("k_anonymity >= 20")], LOSS)
    assert found
    with pytest.raises(Infeasible):
        study(small, candidates=found[:4], requirements=["k_anonymity >= 20"]).run()


@pytest.mark.parametrize("target", [None, "ill"])
def test_the_usual_measures_are_a_dozen_that_the_table_can_be_asked(target: str | None) -> None:
    roles = study(TABLE, "mondrian k=2").roles
    found = usual_metrics(roles, target)
    assert len(set(found)) == len(found) >= 12
    assert {each.card.about for each in found} == {"privacy", "utility"}
    for each in found:
        each.check_complete()
        assert each.card.name in registry()
    bare = usual_metrics(sf.Roles(quasi=("age",)))
    assert not any("sensitive" in each.card.needs for each in bare)


@pytest.mark.parametrize("name", mechanisms())
def test_what_protects_unmeasured_is_never_tuned(name: str) -> None:
    """An epsilon is the owner's word; ranges that end at somebody's value are seen by no requirement."""
    kind = mechanisms()[name]
    hints = typing.get_type_hints(kind)
    assert set(kind.card.tunable) <= {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    assert not kind.card.tunable or not kind.card.private
    assert not [parameter for parameter in kind.card.tunable if hints[parameter] == Style]


def test_no_candidate_measures_queries_at_every_node() -> None:
    """A search that cannot bound what it minimises walks the whole lattice: on 800 people `advise` took minutes."""
    by_use = study(memory(), "mondrian k=3", utility=BY_USE)
    offered = candidates(by_use.table, by_use.roles, (require("k_anonymity >= 3"),), by_use.utility)
    tried = [other for each in offered for other in (each, *neighbours(each.mechanism, by_use))]
    searched = [each.mechanism for each in tried if isinstance(each.mechanism, sf.GeneralizeFullDomain)]
    assert searched
    assert not [each.minimise for each in searched if Wanted.read(each.minimise).metrics]


def test_on_a_large_table_only_the_nearest_neighbours_of_the_best_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    held = study(memory(), "mondrian k=9", "k_member k=9", requirements=("k_anonymity >= 3",))
    result = held.run(refine=0)
    best = result.points[result.recommended[0] or 0].candidate.family
    for large in (False, True):
        monkeypatch.setattr("sfumato.study.default_candidates.LARGE", 0 if large else 10**9)
        around = [candidate.mechanism for candidate in room._around(result)]
        ks = sorted({made.k for made in around if made is not None and made.card.name == best} - {9})  # type: ignore[attr-defined]
        assert ks == [8, 10] if large else len(ks) > 4


@pytest.mark.parametrize("room", [0, 1, 2])
def test_on_a_large_table_the_fewer_neighbours_are_tried_the_larger_it_is(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sfumato.study.default_candidates.LARGE", 0)
    held = study(memory(), "k_member k=9 improve=true", requirements=("k_anonymity >= 3",))
    monkeypatch.setattr("sfumato.study.refinement._ROOM", room * size_of(held.table, held.roles))
    result = held.run()
    assert result.looked == room
    every = [around.text for around in neighbours(held.candidates[0].mechanism, held, nearest=True)]  # type: ignore[arg-type]
    assert every
    assert all("improve=true" in text.lower() for text in every)  # what gains is not left off


def test_on_a_large_table_few_candidates_are_tried_and_none_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [require("k_anonymity >= 5")]
    found = {}
    for large in (False, True):
        monkeypatch.setattr("sfumato.study.default_candidates.LARGE", 0 if large else 10**9)
        found[large] = candidates(
            memory(), study(memory(), "mondrian k=5").roles, limits, metric("query_error[ranges]")
        )
        assert not any("time_limit" in candidate.text for candidate in found[large])
    assert len(found[True]) < 0.7 * len(found[False])
    assert {c.family for c in found[False]} - {c.family for c in found[True]} == {"local_suppression"}


def test_on_a_large_table_releases_are_not_held_but_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    held = study(memory(), "mondrian k=4", "mondrian k=9", requirements=("k_anonymity >= 3",))
    results = {}
    for large in (False, True):
        monkeypatch.setattr("sfumato.study.default_candidates.LARGE", 0 if large else 10**9)
        results[large] = held.run(refine=0)
        assert [point.release is None for point in results[large].points] == [large] * 2
    assert results[True].to_dict() == results[False].to_dict()
    again, before = (results[large].release(0).table.count(held.roles.quasi).n.tolist() for large in (True, False))
    assert again == before
