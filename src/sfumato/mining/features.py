"""Released values as features: one stated encoding for each kind, the same for the original and for any release of it.

| value                                   | column of numbers          | other column                                  |
|-----------------------------------------|----------------------------|-----------------------------------------------|
| a value as it was, or a noisy number    | itself, width 0            | 1 in the place of that value                  |
| interval, taxonomy node, set, mask, `*` | middle and width of what it covers | 1/m in the place of each of the m values that it covers |
| missing                                 | missing, and a flag        | 1 in the place of missing                     |
| a text that cannot be read              | missing, and a flag        | 1 in a place of its own                       |

So a released row lies between the original rows that it may stand for, and a miner that learned from one side can be asked of
the other. The places of a column are the values that the original may have (its domain): nothing in them is learned from rows.
What is learned (medians for what is missing, scales, bins) is part of the miner and fitted in the fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.column import Column, FloatArray, IntArray
from ..core.cover import Domain
from ..core.noun import dataclass
from ..core.roles import Roles
from .rows import Aligned, merged

Dense = npt.NDArray[np.float32]
MOST = 256
"""Places of one column; values beyond the most frequent share the last place."""
HALF_OF_SINGLE = 1e38
"""Beyond its double, single precision has no number."""


@dataclass(frozen=True, eq=False)
class Features:
    """`dense` is what most miners take; `plain` has one number a column (a code, or the number) for miners that make rules."""

    dense: Dense
    plain: FloatArray
    numeric: tuple[bool, ...]
    """Which columns of `plain` are numbers rather than codes."""

    def __len__(self) -> int:
        return len(self.dense)


def features(aligned: Aligned, roles: Roles, names: Sequence[str]) -> tuple[Features, Features]:
    """The columns `names` of the original and of the released rows, in one space."""
    dense: tuple[list[Any], list[Any]] = ([], [])
    plain: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    numeric = []
    frames = (aligned.original, aligned.released)
    for name in names:
        known = aligned.original.columns[name]
        domain = Domain(known, roles.taxonomy(name))
        columns = [frame.columns[name] for frame in frames]
        codes = [frame.codes[name] for frame in frames]
        if known.numbers is not None:
            blocks, middles = [], []
            for column in columns:
                middle, width = spans(column, domain)
                lost = np.isnan(middle)
                blocks.append(np.stack([middle, np.where(lost, np.nan, width), lost.astype(np.float64)], axis=1))
                middles.append(middle)
            blocks = _fitting(blocks)
            numeric.append(True)
        else:
            frequent = np.bincount(aligned.original.codes[name], minlength=len(known))
            blocks = [shares(column, domain, frequent) for column in columns]
            _, first, second = merged(*columns)
            middles = [first.astype(np.float64), second.astype(np.float64)]
            numeric.append(False)
        block = np.vstack(blocks)
        block = np.nan_to_num(block, nan=np.inf)
        kept = (block != block[0]).any(axis=0)  # a place that is the same everywhere tells nothing
        for side in (0, 1):
            dense[side].append(blocks[side][:, kept][codes[side]])
            plain[side].append(middles[side][codes[side]])
    made = [
        Features(
            np.ascontiguousarray(_some(np.hstack(dense[side])), dtype=np.float32),
            np.stack(plain[side], axis=1),
            tuple(numeric),
        )
        for side in (0, 1)
    ]
    return made[0], made[1]


def _some(dense: Any) -> Any:
    """Where no column tells anything, one that is the same everywhere: miners refuse to learn from none."""
    return dense if dense.shape[1] else np.zeros((len(dense), 1))


def _fitting(blocks: list[FloatArray]) -> list[FloatArray]:
    """Numbers that single precision holds: large ones in proportion to the largest, and an infinite one beyond it.

    Miners look at the order and the proportions of a column's numbers, so nothing that they can use is lost.
    """
    sizes = np.abs(np.vstack(blocks))
    largest = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0, initial=0.0)
    scale = np.where(largest > HALF_OF_SINGLE, largest, 1.0)
    beyond = 2 * (largest / scale)
    return [np.where(np.isinf(block), np.sign(block) * np.maximum(beyond, 1.0), block / scale) for block in blocks]


def spans(column: Column, domain: Domain) -> tuple[FloatArray, FloatArray]:
    """For each value of a released column of numbers, the middle and the width of what it stands for; NaN if unknown."""
    numbers = domain.column.numbers
    assert numbers is not None
    middle, width = np.full(len(column), np.nan), np.zeros(len(column))
    for i, text in enumerate(column.texts):
        if text is None:
            continue
        single = number_of(text)
        if single is not None:
            middle[i] = single
            continue
        covered = domain.covered(text)
        if covered is None or not len(covered):
            continue
        there = numbers[covered]
        there = there[~np.isnan(there)]
        if len(there):
            low, high = float(there.min()), float(there.max())  # Python's numbers overflow without a warning
            middle[i], width[i] = (low, 0.0) if low == high else (low / 2 + high / 2, high - low)
    return middle, width


def number_of(text: str) -> float | None:
    """A text as the number that it spells; None for intervals and words."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def shares(column: Column, domain: Domain, frequent: IntArray) -> Dense:
    """For each value of a released column, its share of each place of the domain; rows sum to 1."""
    size = len(domain.column)
    place = np.arange(size)
    places = size
    if size > MOST:
        order = np.argsort(-frequent, kind="stable")
        place[order[MOST - 1 :]] = MOST - 1
        place[order[: MOST - 1]] = np.arange(MOST - 1)
        places = MOST
    dense = np.zeros((len(column), places + 1), dtype=np.float32)  # the last place: what cannot be read
    for i, text in enumerate(column.texts):
        covered = domain.covered(text)
        if covered is None or not len(covered):
            dense[i, places] = 1.0
        else:
            np.add.at(dense[i], place[covered], np.float32(1.0 / len(covered)))
    return dense
