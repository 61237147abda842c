"""What cut points are chosen for: objectives that are a sum over classes, so that ranges can be priced one by one.

One small function of the classes makes another objective: `@additive(better=..., unit=...)` in front of it, and its name
in `OBJECTIVES`.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import field, replace
from typing import Literal

import numpy as np

from ..core.classes import Classes
from ..core.column import FloatArray, IntArray
from ..core.errors import InputError
from ..core.noun import dataclass


@dataclass(frozen=True, eq=False)
class Spans:
    """The classes that some ranges form: `of` is the range of each class, ascending, `width` the values in that range."""

    classes: Classes
    of: IntArray
    width: IntArray
    domain: int
    """|D|, the values that the column has, the missing one included."""
    rows: int
    """N, the rows of the whole table."""


@dataclass(frozen=True)
class Additive:
    """An objective whose value is the sum of `per_class` over all classes of a release."""

    name: str
    better: Literal["higher", "lower"]
    unit: str
    per_class: Callable[[Spans], FloatArray] = field(compare=False)
    sensitive: bool = False
    """Whether it looks at a sensitive column."""
    definition: str = ""

    @property
    def sign(self) -> int:
        """What makes the best value the largest."""
        return 1 if self.better == "higher" else -1


def additive(
    *, better: Literal["higher", "lower"], unit: str, sensitive: bool = False
) -> Callable[[Callable[[Spans], FloatArray]], Additive]:
    """Make a function of the classes an objective: its name and definition are the function's."""

    def make(kernel: Callable[[Spans], FloatArray]) -> Additive:
        return Additive(kernel.__name__, better, unit, kernel, sensitive, inspect.getdoc(kernel) or "")

    return make


@additive(better="higher", unit="bits", sensitive=True)
def mutual_information(spans: Spans) -> FloatArray:
    """`I(W;C) = sum_c p(c) sum_w p(w|c) log2 p(w|c)/p(w)`: I1 of each class by its share of the rows (Bezzi 2010)."""
    classes = spans.classes
    bits = np.log2(classes.p / classes.q)
    return np.maximum(classes.sum(classes.p * bits), 0.0) * classes.size / spans.rows


@additive(better="lower", unit="share of the domain")
def iloss(spans: Spans) -> FloatArray:
    """`(leaves(v) - 1)/|D|` of the column, the mean over the rows (Xiao and Tao 2006)."""
    return spans.classes.size * (spans.width - 1) / (spans.domain * spans.rows)


@additive(better="lower", unit="share")
def granularity(spans: Spans) -> FloatArray:
    """`(leaves(v) - 1)/(|D| - 1)` of the column, the mean over the rows (Iyengar 2002)."""
    return spans.classes.size * (spans.width - 1) / (max(spans.domain - 1, 1) * spans.rows)


loss = replace(
    granularity,
    name="loss",
    definition="ARX's Loss of the column, `(sum over rows of leaves(v)/|D| - N/|D|)/(N - N/|D|)`: granularity written another way.",
)


@additive(better="lower", unit="pairs of rows")
def discernibility(spans: Spans) -> FloatArray:
    """`sum_c N_c^2` (Bayardo and Agrawal 2005)."""
    return spans.classes.size.astype(np.float64) ** 2


OBJECTIVES = {one.name: one for one in (mutual_information, loss, granularity, iloss, discernibility)}


def objective(named: str | Additive) -> Additive:
    """An objective by name; one of your own is taken as it is."""
    if isinstance(named, Additive):
        return named
    if named not in OBJECTIVES:
        near = difflib.get_close_matches(named, OBJECTIVES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(OBJECTIVES)}."
        raise InputError(f"No objective {named!r} is a sum over classes; {hint}")
    return OBJECTIVES[named]
