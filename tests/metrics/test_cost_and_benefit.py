"""Cost and benefit by hand, after Wan et al. 2015: classes of 1, 2 and 100 rows and an attack that costs 4 of 300."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf

ROLES = sf.Roles(quasi=("age", "town"))
ROWS = [("1", "a")] + [("2", "a")] * 2 + [("3", "b")] * 100


def release(rows: list[tuple[str, str]], original: list[tuple[str, str]]) -> sf.Release:
    def table(rows: list[tuple[str, str]]) -> sf.Table:
        return sf.read(pa.table(dict(zip(ROLES.quasi, map(list, zip(*rows, strict=True)), strict=True))))

    return sf.Release(table=table(rows), original=table(original), pairing="position")


def test_an_attack_pays_where_the_gain_by_the_class_is_above_the_cost() -> None:
    made = release(ROWS, ROWS)
    score = sf.attack_payoff(made, ROLES)
    assert score.value == 296
    assert score.per_class is not None
    assert sorted(score.per_class.tolist()) == [3 - 4, 150 - 4, 300 - 4]
    assert sf.attack_payoff(gain=4)(made, ROLES).value == 0  # as much as it costs: it does not pay
    assert not sf.require("attack_payoff <= 0").check(made, ROLES).met
    hundred = release([("3", "b")] * 103, ROWS)
    assert sf.require("attack_payoff <= 0").check(hundred, ROLES).met


def test_what_is_published_as_it_is_is_worth_its_benefit_less_the_people_found() -> None:
    payout = sf.publisher_payout(release(ROWS, ROWS), ROLES)
    # of 103 people one and half of two are found; who would cost more than they bring are left alone
    assert payout.value == pytest.approx(1200 - 300 * 2 / 103)
    assert payout.details["rows_attacked"] == 3
    assert sf.publisher_payout(cost=1000)(release(ROWS, ROWS), ROLES).value == 1200


def test_suppressing_everything_brings_nothing() -> None:
    assert sf.publisher_payout(release([("*", "*")] * 103, ROWS), ROLES).value == pytest.approx(0)


def test_half_of_a_record_is_half_of_its_benefit() -> None:
    """Towns suppressed, ages as they are: (0 + 1)/2 is lost."""
    made = release([(age, "*") for age, _ in ROWS], ROWS)
    assert sf.publisher_payout(loss=0)(made, ROLES).value == pytest.approx(600)


def test_sanitizers_steer_by_what_does_not_pay() -> None:
    table = sf.read(pa.table({"age": [*range(400)], "town": ["a", "b"] * 200}))
    made = sf.Mondrian(require=(sf.require("attack_payoff[gain=40] <= 0"),))(table, ROLES)
    assert sf.k_anonymity(made, ROLES).value >= 10
    assert sf.attack_payoff(gain=40)(made, ROLES).value <= 0
