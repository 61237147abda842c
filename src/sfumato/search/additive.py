"""What cut points are chosen for: objectives that are a sum over classes, so that ranges can be priced one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Literal

from ..core.cell_loss import CellLoss
from ..core.classes import Classes
from ..core.column import FloatArray, IntArray
from ..core.errors import InputError, hint
from ..core.metric import Metric
from ..core.noun import dataclass
from ..metrics import registry
from .losses import SHORT


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


def objectives() -> dict[str, Additive]:
    """Every objective by name: the metrics whose cards say what a cell loses or what a class adds, and `loss`, short for ARX's."""
    named = {name: metric for name, metric in registry().items() if not metric.card.parameters} | SHORT
    return {name: made for name, metric in named.items() if (made := _additive(name, metric)) is not None}


def _additive(name: str, metric: Metric) -> Additive | None:
    """A metric as an objective. What classes tell is a risk as a metric; ranges are chosen to keep it."""
    card, cells = metric.card, metric.cells
    if cells is not None and not cells.geometric:
        per_class = partial(_cell_losses, cells)
    elif card.adds is not None:
        per_class = partial(_class_sums, card.adds)
    else:
        return None
    better = card.better if card.about == "utility" else "higher"
    return Additive(name, better, card.unit, per_class, "sensitive" in card.needs, card.definition)


def _cell_losses(cells: CellLoss, spans: Spans) -> FloatArray:
    return spans.classes.size * cells.of(spans.width, spans.domain) / spans.rows


def _class_sums(adds: Callable[[Classes], FloatArray], spans: Spans) -> FloatArray:
    return adds(spans.classes)


def objective(named: str | Additive) -> Additive:
    """An objective by name; one of your own is taken as it is."""
    if isinstance(named, Additive):
        return named
    known = objectives()
    if named not in known:
        meant = hint(named, known, f"known: {', '.join(known)}.")
        raise InputError(f"No objective {named!r} is a sum over classes; {meant}")
    return known[named]
