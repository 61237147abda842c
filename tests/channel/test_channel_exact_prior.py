"""The worst prior in fractions: the appendix's, and the judge of the linear program on random channels."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from channel_examples import APPENDIX, channels
from exact_prior import exact_worst_prior, solved
from hypothesis import given, settings

from sfumato.channel.exact import ExactChannel
from sfumato.channel.worst_prior import worst_prior


def test_the_appendix_exactly(golden: dict[str, Any]) -> None:
    found = exact_worst_prior(APPENDIX)
    assert found is not None
    assert found.error == Fraction(997, 1657)
    assert found.prior == tuple(Fraction(p, 1657) for p in (357, 420, 280, 600))
    assert float(found.error) == pytest.approx(golden["askari"]["worst_prior_error"]["value"], abs=1e-15)


@given(channels())
@settings(max_examples=40)
def test_the_program_agrees(channel: ExactChannel) -> None:
    found = exact_worst_prior(channel)
    if found is not None:  # a degenerate vertex is left to the interval
        near = worst_prior(channel.floats())
        assert near.low - 1e-9 <= float(found.error) <= near.high + 1e-9
        assert channel.error(found.prior) == found.error
        assert channel.error() <= found.error


def test_linear_equations() -> None:
    one, two = Fraction(1), Fraction(2)
    assert solved([{0: one, 1: one}, {0: one, 1: -one}], [two, Fraction(0)], 2) == [1, 1]
    assert solved([{0: one}, {0: one}], [one, two], 1) is None  # against one another
    assert solved([{0: one, 1: one}], [one], 2) is None  # not enough
