"""What a way of linking found, and how people who were found are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.column import Column, IntArray
from ..core.cover import BoolArray
from ..core.metric import Exactness
from ..core.noun import dataclass
from ..core.outcome import Rate

OUTCOMES = ("correct", "ambiguous", "wrong", "none")


@dataclass(frozen=True, eq=False)
class Linked:
    """Of so many who were attacked, those who fell, by outcome; and people who are not in the release."""

    attacked: int
    fell: float
    numbers: Mapping[str, int]
    control: Rate | None
    details: Mapping[str, Any]
    exactness: Exactness = "exact"


def named(who: tuple[Column, IntArray], which: BoolArray) -> list[str | None]:
    """The identities of some entries."""
    column, codes = who
    return [column.texts[c] for c in np.unique(codes[which])]
