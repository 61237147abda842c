"""Random numbers for mechanisms: from the system's cryptographic source, or from a seed if the owner asks for one.

Every draw is made of 64 random bits by the same arithmetic, so a seed repeats a release to the byte. A seeded release says
so, because whoever knows the seed can take the noise away again.
"""

from __future__ import annotations

import os
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from .column import FloatArray, IntArray

SEEDED = (
    "The random choices were seeded, so whoever knows the seed can repeat them: use it for tests, not for publishing."
)

Rng = np.random.Generator | None
"""A seeded generator, or None for the system's source."""
FINDABLE = (
    "Its random choices were drawn with a seed. Whoever knows the seed, or finds it by trying (small numbers take seconds), can repeat "
    "the choices and undo what they hid."
)
"""What every document says of a release that was published with a seed all the same."""


class Chance:
    """Draws as arrays; `rng` is a seeded generator, or None for the system's source."""

    def __init__(self, rng: Rng = None) -> None:
        self.rng = rng

    @property
    def notes(self) -> tuple[str, ...]:
        """What a release must say of its randomness."""
        return () if self.rng is None else (SEEDED,)

    def bits(self, count: int) -> npt.NDArray[np.uint64]:
        """64 random bits each."""
        if self.rng is not None:
            return self.rng.integers(0, 2**64, size=count, dtype=np.uint64)
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def uniform(self, count: int) -> FloatArray:
        """Between 0 and 1, both left out: 53 bits and a half."""
        return ((self.bits(count) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53

    def normal(self, count: int) -> FloatArray:
        """Standard normal, by Box and Muller's transformation."""
        half = (count + 1) // 2
        radius, angle = np.sqrt(-2.0 * np.log(self.uniform(half))), 2.0 * np.pi * self.uniform(half)
        return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]

    def below(self, bound: int, count: int) -> IntArray:
        """Whole numbers from 0 to bound - 1, all equally likely to one part in 2^64/bound."""
        if bound < 1:
            raise ValueError("nothing to draw from")
        return (self.bits(count) % np.uint64(bound)).astype(np.int64)

    def order(self, count: int) -> IntArray:
        """A random order of 0 .. count - 1."""
        return np.argsort(self.bits(count), kind="stable").astype(np.int64)

    def numbers(self, count: int, taken: Collection[str | None] = ()) -> IntArray:
        """Different random numbers of 15 digits, none of which is spelled like one that is taken."""
        least, most = 10**14, 10**15
        taken = set(taken)
        drawn = np.zeros(0, dtype=np.int64)
        while len(drawn) < count:
            more = least + self.below(most - least, count - len(drawn))
            more = more[[str(number) not in taken for number in more.tolist()]]
            both = np.append(drawn, more)
            drawn = both[np.sort(np.unique(both, return_index=True)[1])]
        return drawn
