"""The verdict: what may be published, held against the findings that it is drawn from."""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from house import canaries
from house import rows as rows_of
from sfumato.core.outcome import Outcome
from sfumato.inspect.learned import learned
from sfumato.metrics import metric, require
from sfumato.publishing.waivers import read_reasons
from sfumato.study.attack_findings import held_against, made_again
from sfumato.study.context import PRESETS, Context
from sfumato.study.decision import ANSWERS, SHEETS, Decision, decision, one_in
from sfumato.study.findings import findings
from sfumato.study.study import Result, Study, grid

BY_HAND = {"cbs-research": 1, "cbs-public": 1, "hipaa": 2}
"""What each guidance leaves to the owner."""


def study(*texts: str, context: Context | None = None, **more: Any) -> Study:
    roles = sf.Roles(quasi=("age", "town"), sensitive=("ill",), identifiers=("name", "pay"), source="roles.toml")
    given: dict[str, Any] = {"measures": tuple(map(metric, ("k_anonymity", "marketer_risk"))), "context": context}
    given["require"] = context.require if context else ()
    return Study(**{"table": sf.read(canaries(120)), "roles": roles, "candidates": grid(texts), **given, **more})


@pytest.fixture(scope="module")
def result() -> Result:
    context = Context(preset="scientific-use")
    accept = {"wp29.singling_out": "the recipients sign", "ema.threshold": "no clinical data"}
    return study("mondrian k=3", "mondrian k=6", "mondrian k=2", context=context, accept=accept).run(refine=0)


@pytest.fixture(scope="module")
def verdict(result: Result) -> Decision:
    return decision(result)


def test_the_answer_follows_from_the_points(verdict: Decision) -> None:
    assert verdict.answer == "accept"
    assert verdict.open
    assert verdict.headline == ANSWERS["accept"]
    assert verdict.because == f"The limit is met; {len(verdict.open)} points on the sheets are open."
    assert {point.sheet for point in verdict.open} <= set(SHEETS)
    assert len({point.key for point in verdict.open}) == len(verdict.open)


def test_every_cross_of_wp29_is_a_point_and_no_other_is(result: Result, verdict: Decision) -> None:
    release = findings(result).release
    assert release is not None
    crosses = {
        f"wp29.{key}"
        for key, attack in release.wp29.items()
        if isinstance(attack, Outcome) and held_against(attack, made_again(release.held_out, key)).worked
    }
    assert crosses == {point.key for point in verdict.points("WP29")}
    assert crosses


def test_the_numbers_are_those_of_the_findings(result: Result, verdict: Decision) -> None:
    release = findings(result).release
    assert release is not None
    assert not isinstance(release.after, str)
    worst, mean = verdict.found[:2]
    assert worst.one_in == release.after.smallest
    assert mean.share == release.after.marketer
    assert (verdict.before, verdict.released) == (120, release.rows)
    assert verdict.limits[0].measured == release.after.smallest
    assert verdict.candidate == release.candidate
    json.dumps(verdict.to_dict(), allow_nan=False)


def test_reasons_stand_beside_their_points(verdict: Decision) -> None:
    reasons = {point.key: point.reason for point in verdict.open if point.reason}
    assert reasons.items() <= {"wp29.singling_out": "the recipients sign", "ema.threshold": "no clinical data"}.items()
    assert reasons


def test_where_none_meets_the_limits_nothing_may_be_published() -> None:
    verdict = decision(study("mondrian k=3", require=(require("k_anonymity >= 100"),)).run(refine=0))
    assert verdict.answer == "no"
    assert "k_anonymity >= 100 is met by none" in verdict.because
    assert verdict.candidate is None
    assert not verdict.found
    assert verdict.limits[0].met is None


def test_a_failing_check_of_the_owner_stops_the_release() -> None:
    checks = {"aggregates": ({"query": "count", "value": 1},)}
    verdict = decision(study("mondrian k=3", require=(require("k_anonymity >= 3"),), checks=checks).run(refine=0))
    assert verdict.answer == "no"
    assert [point.sheet for point in verdict.open if point.stops] == ["Audit"]


def test_a_free_column_that_tells_people_apart_stops_the_release() -> None:
    roles = sf.Roles(quasi=("age",), sensitive=("ill",), insensitive=("name",), identifiers=("town", "pay"))
    tried = study("mondrian k=3", roles=roles, require=(require("k_anonymity >= 3"),)).run(refine=0)
    verdict = decision(tried)
    assert verdict.answer == "no"
    assert "'name'" in verdict.because


def test_nothing_open_is_a_yes() -> None:
    """One group for all, in which three illnesses are equally frequent: nothing is to be found, and nothing to be learned."""
    table = pa.table({"age": [1, 2, 3] * 40, "ill": [v for v in ("a", "b", "c") for _ in range(40)]})
    roles = sf.Roles(quasi=("age",), sensitive=("ill",))
    limits = (require("k_anonymity >= 20"), require("alpha_anonymity(ill) <= 0.9"))
    verdict = decision(
        Study(table=sf.read(table), roles=roles, candidates=grid(["mondrian k=100"]), require=limits).run(refine=0)
    )
    assert [point.key for point in verdict.open] == []
    assert verdict.answer == "yes"
    assert verdict.because == "Both limits are met, and no sheet has an open cross."


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_what_a_guidance_leaves_to_the_owner_is_read_out_of_its_limits(preset: str) -> None:
    from sfumato.study.decision import _BY_HAND

    said = [text for limit in PRESETS[preset] for text in _BY_HAND.findall(limit.sentence)]
    assert len(said) == BY_HAND.get(preset, 0)
    assert sum(limit.sentence.count("heck yourself") for limit in PRESETS[preset]) <= len(said)


def test_what_is_learned_at_its_extremes() -> None:
    roles = sf.Roles(quasi=("q",), sensitive=("s",))
    for classes, informed, certain in (({"a": "xxxx", "b": "yyyy"}, 1.0, 8), ({"a": "xy", "b": "xy"}, 0.5, 0)):
        table = sf.read(pa.table(rows_of(**classes)))
        (found,) = learned(sf.Release(table=table), roles)
        assert (found.blind, found.informed, found.certain) == (0.5, informed, certain)
    (found,) = learned(sf.Release(table=sf.read(pa.table(rows_of(a="xxxy", b="xy")))), roles)
    assert (found.worst, found.worst_rows, found.certain) == (0.75, 4, 0)
    assert found.informed == pytest.approx(4 / 6)


def test_one_in_so_many_never_flatters() -> None:
    for n in range(1, 200):
        assert one_in(1 / n) == n
        assert one_in(1 / n + 1e-6) == max(n - 1, 1)


@pytest.mark.parametrize("day", ["19.11.2026", "2026-13-01", "today"])
def test_a_date_is_a_day(day: str) -> None:
    with pytest.raises(sf.SfumatoError, match="YYYY-MM-DD"):
        study("mondrian k=3", date=day)


@pytest.mark.parametrize("text", ["wp29.singling_out", ": why", "wp29.singling_out: "])
def test_a_reason_has_a_key_and_words(text: str) -> None:
    with pytest.raises(sf.SfumatoError, match="KEY: reason"):
        read_reasons([text])


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("wp29.singling_outt", "did you mean 'wp29.singling_out'"),
        ("wp29.inference(town)", "no point of the decision can have the key"),
        ("protect.illl", "did you mean 'protect.ill'"),
        ("audit.0", "no point of the decision can have the key"),
        ("columns", "cannot be accepted"),
    ],
)
def test_a_key_that_no_point_can_have_is_refused(key: str, words: str) -> None:
    with pytest.raises(sf.SfumatoError, match=re.escape(words)):
        study("mondrian k=3", accept={key: "why not"})


def test_every_open_point_has_a_key_that_can_be_accepted(verdict: Decision) -> None:
    study("mondrian k=3", accept={point.key: "for a reason" for point in verdict.open if not point.stops})


def test_the_checksum_of_the_release_joins_the_others_once_it_is_written(verdict: Decision) -> None:
    assert "release.csv" not in verdict.checksums
    assert verdict.of_release("0" * 64).checksums == {**verdict.checksums, "release.csv": "0" * 64}
    assert verdict.of_release(None) is verdict
