"""Good utility worked out by hand: fake miners whose every word is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mining_house import ROLES, Columns, Says, SaysNumbers, SaysToo, paired, people, table

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.release import Release
from sfumato.mining.outcome import GoodOutcome, MiningOutcome

# Sramka et al. 2.3: an early sign of an illness, mainly in women above 55, who count 10. False positives are accepted.
WARD: dict[str, list[Any]] = {
    "x": [0, 1, 2, 3, 4, 5, 6, 7],
    "age": [60, 60, 50, 58, 70, 30, 56, 55],
    "sex": ["F", "M", "F", "F", "M", "F", "F", "F"],
    "ill": [1, 0, 0, 1, 1, 0, 0, 1],
}
WEIGHTS = {"age > 55 and sex = 'F'": 10, "otherwise": 1}  # 10, 1, 1, 10, 1, 1, 10, 1: in all 35
SANITIZED = {**WARD, "x": [3, 1, 2, 3, 4, 5, 6, 7]}  # the first is taken for the fourth
WORDS = [1, 1, 0, 0, 0, 1, 1, 1]  # misses the fourth and the fifth
RIGHT = [1, 0, 0, 1, 1, 0, 0, 1]
WARD_ROLES = sf.Roles(quasi=("x", "age", "sex"), sensitive=("ill",))


def mined(release: Release, roles: sf.Roles = WARD_ROLES, **good: Any) -> MiningOutcome:
    good = {"field": "ill", "error": "predicted >= true", "weights": WEIGHTS, "miners": [Says(WORDS)], **good}
    return sf.mine(release, roles, sf.Scenario(good=sf.Good(**good), folds=4))["release"]


def outcome(release: Release, **good: Any) -> GoodOutcome:
    found = mined(release, **good).good
    assert found is not None
    return found


def test_the_medical_example() -> None:
    found = outcome(paired(SANITIZED, WARD), miners=[SaysToo(RIGHT), Says(WORDS)])
    right, says = found.miners
    assert says.original.value == 10 + 1 + 1 + 0 + 0 + 1 + 10 + 1  # false positives count as right
    assert says.released.value == 14  # as the fourth, the first is missed too
    assert says.decline.value == pytest.approx(10 / 24)
    assert right.original.value == right.released.value == 35
    assert right.decline.value == 0
    assert (found.delta.value, found.decided_by) == (pytest.approx(10 / 24), "Says")
    assert found.total == 35
    assert found.baseline.value == 13  # nobody is ill: right for the second, third, sixth, seventh
    assert says.original.low <= 24 <= says.original.high
    assert found.delta.low <= found.delta.value <= found.delta.high


def test_trained_on_one_side_asked_of_the_other() -> None:
    (says,) = outcome(paired(SANITIZED, WARD)).miners
    assert says.release_to_original is not None
    assert says.original_to_release is not None
    assert says.release_to_original.value == 24  # the fake says the same of original rows, whatever it learned
    assert says.original_to_release.value == 14
    (alone,) = outcome(paired(SANITIZED, WARD), transfer=False).miners
    assert alone.release_to_original is alone.original_to_release is None
    assert (alone.original.value, alone.released.value) == (24, 14)


def test_plain_accuracy() -> None:
    (says,) = outcome(paired(SANITIZED, WARD), error="equal", weights=None).miners
    assert says.original.value == 3  # right about the first, the third and the eighth
    assert says.released.value == 2


def test_delta_is_zero_where_the_release_gains() -> None:
    found = outcome(paired(SANITIZED, WARD), miners=[Says([0, *RIGHT[1:]])])
    (says,) = found.miners
    assert (says.original.value, says.released.value) == (25, 35)  # the first is missed only on the original
    assert says.decline.value == pytest.approx(-10 / 25)
    assert (found.delta.value, found.delta.low) == (0, 0)


def test_errors_may_cost() -> None:
    costly = "case when predicted = true then 1 when predicted < true then -5 else 0 end"
    found = outcome(paired(SANITIZED, WARD), error=costly)
    (says,) = found.miners
    assert says.original.value == 10 + 0 + 1 - 50 - 5 + 0 + 0 + 1
    assert says.released.value == -50 + 0 + 1 - 50 - 5 + 0 + 0 + 1
    assert np.isnan(found.delta.value)
    assert any("not above 0" in note for note in found.notes)


def test_a_miner_without_utility_does_not_decide_and_is_mentioned() -> None:
    wrong = [1 - word for word in RIGHT]
    found = outcome(paired(SANITIZED, WARD), error="equal", miners=[SaysToo(wrong), Says(RIGHT)])
    assert np.isnan(found.miners[0].decline.value)
    assert (found.delta.value, found.decided_by) == (0, "Says")
    assert any("1 miners" in note for note in found.notes)


def test_more_can_be_lost_than_there_was() -> None:
    found = outcome(
        paired({**WARD, "x": [3] * 8}, WARD), error="case when predicted = true then 1 else -1 end", weights=None,
        miners=[Says([1, 0, 0, 0, 1, 0, 0, 0])],
    )  # fmt: skip
    (says,) = found.miners
    assert (says.original.value, says.released.value) == (4, 0)
    assert found.delta.value == 1


def test_whom_the_release_leaves_out_is_worth_nothing() -> None:
    kept = [0, 1, 2, 4, 5, 7]  # without the fourth and the seventh, who count 10 each
    columns = {name: [values[i] for i in kept] for name, values in {**WARD, "key": list("abcdefgh")}.items()}
    release = Release(table=table(columns), original=table({**WARD, "key": list("abcdefgh")}), pairing="key:key")
    found = mined(release, miners=[Says(RIGHT)])
    assert (found.rows, found.suppressed) == (8, 2)
    assert found.good is not None
    (says,) = found.good.miners
    assert (says.original.value, says.released.value) == (35, 15)
    assert found.good.delta.value == pytest.approx(20 / 35)
    assert says.release_to_original is not None
    assert says.original_to_release is not None
    assert (says.release_to_original.value, says.original_to_release.value) == (35, 15)


def test_labels_that_cover_the_truth_are_not_the_truth() -> None:
    blurred = {**WARD, "ill": ["*", *(str(v) for v in WARD["ill"][1:])]}
    # released labels in order: *, 0, 1
    (says,) = outcome(paired(blurred, WARD), error="equal", weights=None, miners=[Says([0, 1, 1, 2, 2, 1, 1, 2])], transfer=False).miners  # fmt: skip
    assert says.released.value == 7


def test_a_number_is_right_within() -> None:
    ages = [61, 60, 40, 58, 70, 30, 56, 55]
    wide = {**WARD, "age": [20, 21, 22, 23, 24, 25, 26, 27], "ill": [20, 30, 40, 50, 60, 70, 80, 90]}
    wide |= {"x": [*range(8)], "y": ages}
    many = {name: [*values, *values] for name, values in wide.items()}
    many["ill"] = [*range(16)]  # more than ten numbers are regressed
    many["x"] = [*range(16)]
    roles = sf.Roles(quasi=("x", "age", "sex", "y"), sensitive=("ill",))
    said = [i + (5 if i < 4 else 5.6 if i < 8 else 0.4) for i in range(16)]
    good = {"error": "within 5", "weights": None, "miners": [SaysNumbers(said)]}
    found = mined(paired(many, many), roles, **good).good
    assert found is not None
    assert found.task == "numbers"
    assert found.miners[0].original.value == 12  # whole numbers are guessed as whole ones: 5.6 is 6 away
    assert found.total == 16
    found = mined(paired(many, many), roles, **{**good, "error": "equal"}).good
    assert found is not None
    assert found.miners[0].original.value == 8


def test_a_function_may_be_the_error_implication(refusal: Callable[..., str]) -> None:
    def half(predicted: Any, true: Any) -> Any:
        return np.where(predicted == true, 0.5, -0.25)

    (says,) = outcome(paired(WARD, WARD), error=half, weights=None).miners
    assert says.original.value == 3 * 0.5 - 5 * 0.25
    refusal(InputError, lambda: outcome(paired(WARD, WARD), error=lambda p, t: 1.0), "for every row")


def test_missing_is_a_class() -> None:
    gap = {**WARD, "ill": [1, 0, 0, 1, None, None, 0, 1]}
    (says,) = outcome(paired(gap, gap), error="equal", weights=None, miners=[Says([1, 0, 0, 1, 2, 2, 2, 1])]).miners
    assert says.original.value == 7


def test_numbers_as_classes_are_compared_as_numbers() -> None:
    few = {**WARD, "ill": [10, 9, 9, 10, 10, 9, 9, 10]}  # as texts, 9 would be more than 10
    (says,) = outcome(paired(few, few), weights=None, miners=[Says([1, 1, 1, 1, 0, 0, 0, 0])]).miners
    # released labels in order: 9, 10; missed are the fifth and the eighth
    assert says.original.value == 6


def test_groups() -> None:
    count = 120
    columns: Columns = {
        "x": [*range(count)],
        "kind": [("odd", "even")[i % 2 == 0] if i < 110 else f"rare {i % 5}" for i in range(count)],
        "ill": [("n", "y")[i % 3 == 0] for i in range(count)],
    }
    roles = sf.Roles(quasi=("x", "kind"), sensitive=("ill",))
    said = [int(v == "y") for v in columns["ill"]]
    released = {
        **columns,
        "x": [0 if i % 2 and i < 110 else i for i in range(count)],
    }  # the odd are all taken for the first
    found = outcome(paired(released, columns), roles=roles, error="equal", weights=None, miners=[Says(said)], groups=("kind",))  # fmt: skip
    groups = {group.value: group for group in found.groups}
    assert set(groups) == {"odd", "even"}  # ten people in groups of two are too few to speak of
    assert (groups["even"].original, groups["even"].released, groups["even"].decline.value) == (1, 1, 0)
    ill = sum(i % 3 == 0 for i in range(1, 110, 2))
    assert groups["odd"].rows == 55
    assert groups["odd"].released == pytest.approx(ill / 55)
    assert groups["odd"].decline.value == pytest.approx(1 - ill / 55)


def test_groups_are_checked_before_any_mining(refusal: Callable[..., str]) -> None:
    class Never(Says):
        def fit(self, x: Any, y: Any) -> Any:
            raise AssertionError("mined before it was checked")

    refusal(InputError, lambda: outcome(paired(WARD, WARD), groups=("no such",), miners=[Never(WORDS)]), "no such")
    many = {name: values * 10 for name, values in WARD.items()}
    many["x"] = [*range(80)]
    refusal(InputError, lambda: outcome(paired(many, many), groups=("x",), miners=[Never(WORDS)]), "'x'", "80")


def test_rows_of_nobody_are_held_against_the_released_values() -> None:
    columns = people(100)
    order = np.random.default_rng(0).permutation(100).tolist()
    turned = {name: [values[i] for i in order] for name, values in columns.items()}
    release = Release(table=table(turned), original=table(columns))
    good = sf.Good(field="pay", miners=["tree"], groups=("work",))
    found = sf.mine(release, ROLES, sf.Scenario(good=good, folds=3))["release"]
    assert not found.paired
    assert found.good is not None
    assert found.good.miners[0].original.value == found.good.miners[0].released.value  # the same rows, the same folds
    assert found.good.delta.value == 0
    assert found.good.groups == ()
    assert any("not known" in note for note in found.good.notes)
    assert any("groups" in note for note in found.good.notes)


def test_more_rows_than_people_are_not_worth_more() -> None:
    """Synthetic rows: as many again and again, in an order of their own, must not look like a gain."""
    columns = people(100)
    order = np.random.default_rng(0).permutation(300).tolist()
    thrice = {name: [(values * 3)[i] for i in order] for name, values in columns.items()}
    release = Release(table=table(thrice), original=table(columns))
    weights = "age > 50 -> 2"
    good = sf.Good(field="pay", miners=["zero_rule"], weights=weights)
    found = sf.mine(release, ROLES, sf.Scenario(good=good, folds=3))["release"].good
    assert found is not None
    (zero,) = found.miners
    assert zero.released.value == pytest.approx(zero.original.value)
    assert zero.decline.value == pytest.approx(0)
    assert any("scaled" in note for note in found.notes)


@pytest.mark.parametrize(("field", "words"), [("nope", ("nope",)), ("number", ("number",)), ("flat", ("one value",))])
def test_fields_that_cannot_be_predicted(refusal: Callable[..., str], field: str, words: tuple[str, ...]) -> None:
    columns = {**people(40), "flat": ["a"] * 40}
    roles = sf.Roles(identifiers=("number",), quasi=("age", "work", "town", "flat"), sensitive=("pay",))
    for which in ("good", "bad"):
        kind: Any = sf.Good if which == "good" else sf.Bad
        scenario = sf.Scenario(**{which: kind(field=field, miners=["tree"])}, folds=2)
        refusal(InputError, lambda scenario=scenario: sf.mine(paired(columns, columns), roles, scenario), *words)
