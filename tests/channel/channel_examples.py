"""Channels for the tests: random ones in exact rationals, and the paper's (Askari et al. 2012, appendix A)."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from sfumato.channel.exact import ExactChannel

APPENDIX = ExactChannel(
    rows=[
        ["5/17", "2/17", 0, "10/17"],
        [0, "20/35", "5/35", "10/35"],
        ["15/28", "5/28", "3/28", "5/28"],
        ["5/20", "8/20", 0, "7/20"],
    ]
)


@st.composite
def distributions(draw: st.DrawFn, size: int) -> list[Fraction]:
    weights = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@st.composite
def channels(draw: st.DrawFn, inputs: int | None = None, most: int = 5) -> ExactChannel:
    n = inputs or draw(st.integers(1, most))
    m = draw(st.integers(1, most))
    return ExactChannel(rows=[draw(distributions(m)) for _ in range(n)])


@st.composite
def channels_with_prior(draw: st.DrawFn) -> tuple[ExactChannel, list[Fraction]]:
    channel = draw(channels())
    return channel, draw(distributions(len(channel.cells)))
