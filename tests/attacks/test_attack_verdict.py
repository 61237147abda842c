"""What an attack is held against, and what is then said: by the control if there is one, else by the baseline."""

from __future__ import annotations

import itertools
import math

import pytest

from sfumato.core.outcome import MARKS, Outcome, Rate, standing
from sfumato.report.shared_sections import held_against
from sfumato.study.attack_findings import without_values


def attack(success: Rate, baseline: Rate | None, control: Rate | None = None) -> Outcome:
    return Outcome(
        name="x", title="x", knew="x", effort="x", attacked=success.people, fell=success.value * success.people,
        success=success, baseline=baseline, control=control,
    )  # fmt: skip


def test_nobody_exceeds_and_nobody_is_exceeded() -> None:
    nobody, all_of_many = Rate.of(0, 0), Rate.of(1000, 1000)
    assert not nobody.exceeds(Rate.of(0, 1000))
    assert not all_of_many.exceeds(nobody)
    assert not all_of_many.exceeds(all_of_many)
    assert all_of_many.exceeds(Rate.of(0, 1000))


@pytest.mark.parametrize("people", [50, 400, 3000])
def test_exceeding_is_a_test_of_the_difference(people: int) -> None:
    """Newcombe's interval agrees with the usual z-test but within a whisker of 1.96."""
    for one, other in itertools.product(range(0, people + 1, people // 25), repeat=2):
        p, q = one / people, other / people
        error = math.sqrt((p * (1 - p) + q * (1 - q)) / people)
        z = math.inf if not error and p > q else 0 if not error else (p - q) / error
        if z > 2.6:
            assert Rate.of(one, people).exceeds(Rate.of(other, people)), (one, other)
        if z < 1.6:
            assert not Rate.of(one, people).exceeds(Rate.of(other, people)), (one, other)


def test_the_control_decides() -> None:
    high, middle, low = Rate.of(660, 1000), Rate.of(650, 1000), Rate.of(500, 1000)
    assert attack(high, middle, low).worked is True  # no better than a guess, and yet more is known of those inside
    assert attack(high, low, middle).worked is False  # as much is known of anybody
    assert attack(high, low).worked is True
    assert attack(high, middle).worked is False
    assert attack(high, None).worked is None


def test_words_never_say_not_above_of_what_is_above() -> None:
    for base, control in itertools.product((True, False, None), repeat=2):
        words = standing(attacked=5, over_baseline=base, over_control=control).words
        for over, name in ((base, "the baseline"), (control, "people outside the release")):
            assert (name in words) == (over is not None)
            if over is not None:
                before = words[: words.index(name)]
                assert ("not measurably above" in before.split(",")[-1]) == (not over), words
    assert standing(attacked=0, over_baseline=True, over_control=True).words == "nobody to attack"


def test_a_release_without_victims_is_not_blamed_for_the_one_made_again() -> None:
    none = without_values(attack(Rate.of(0, 0), Rate.of(0, 0)))
    again = without_values(attack(Rate.of(8, 8), Rate.of(0, 100), Rate.of(0, 100)))
    assert (held_against(none, again).worked, held_against(none, again).words) == (False, "nobody to attack")
    some = without_values(attack(Rate.of(1, 9), Rate.of(0, 100)))
    assert held_against(some, None).words.endswith("the baseline")


def test_the_baseline_is_that_of_the_release_and_the_control_that_of_the_one_made_again() -> None:
    """18.6% against a baseline of 19.2% is never called above it, whatever the release made again says."""
    release = without_values(attack(Rate.of(372, 2000), Rate.of(384, 2000)))
    again = without_values(attack(Rate.of(426, 2000), Rate.of(200, 2000), Rate.of(300, 2000)))
    assert held_against(release, again).worked is True
    assert held_against(release, again).words == "above people outside the release, not measurably above the baseline"


def test_the_command_line_and_the_sheet_judge_alike() -> None:
    """Over every order of success, baseline and control, from the same rates follows the same judgement."""
    rates = [Rate.of(n, 2000) for n in (0, 30, 67, 70, 500, 2000)]
    for success, base, control in itertools.product(rates, [None, *rates], [None, *rates]):
        found = attack(success, base, control)
        sheet = held_against(without_values(found), None if control is None else without_values(found))
        assert sheet == found.standing
        assert without_values(found).standing == found.standing
        assert (found.worked is False) == (found.standing.verdict in ("fails", "general"))
    assert set(MARKS) == {"works", "general", "fails", "inconclusive"}


def test_only_what_withstands_gets_a_tick() -> None:
    low, mid, high = Rate.of(20, 2000), Rate.of(67, 2000), Rate.of(900, 2000)
    assert attack(mid, low).standing.verdict == "works"
    assert attack(mid, low, low).standing.verdict == "works"
    assert attack(mid, low, mid).standing.verdict == "general"  # no tick: it works, though on anybody
    assert attack(mid, mid).standing.verdict == "fails"
    assert attack(mid, mid, high).standing.verdict == "fails"
    assert attack(low, mid).standing.verdict == "inconclusive"  # it does worse than a blind guess
    assert attack(low, mid, mid).standing.verdict == "inconclusive"
    assert attack(Rate.of(0, 0), low).standing.verdict == "fails"  # the release leaves nobody to attack
    assert attack(mid, None).standing.verdict == "inconclusive"


def test_a_certain_value_is_never_ticked() -> None:
    for base, control, weaker in itertools.product((True, False, None), (True, False, None), (True, False)):
        stands = standing(attacked=9, over_baseline=base, over_control=control, weaker=weaker, certain=7248)
        assert stands.verdict == "works"
        assert "7,248 people" in stands.words
