"""Similarity: the values of a class differ and mean nearly the same (Li, Li, Venkatasubramanian 2007; Manta 3.2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..core.attack import attack
from ..core.classes import Classes, Sensitive
from ..core.column import FloatArray
from ..core.errors import InputError, Unavailable
from ..core.hierarchy import TOP
from ..core.metric import QUASI_KNOWN, TOLERANCE
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.parameter import Choice, Number
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.sizes import in_proportion
from ..core.table import Table
from ..core.words import about, counted, from_zero
from .knowledge.class_values import attacked_classes, class_labels, control_group, rows_of, whole

By = Literal["taxonomy", "order"]


@dataclass(frozen=True, kw_only=True)
class CloseValues(AttackDetails):
    """Classes whose values are all close."""

    by: By
    classes: int
    exposed_classes: int
    exposed_people: int
    of_one_value: int
    """People in classes of a single value."""
    of_several_close_values: int
    control_covered: int | None = None
    """Of the people who are not in the release, so many look like somebody who is."""
    width: float | None = None
    level: int | None = None
    shown: Sequence[Any] | None = None


@dataclass(frozen=True, eq=False)
class Closeness:
    """Where each value stands on a line, and how far apart the values of a class may be to count as nearly the same."""

    place: FloatArray
    within: float

    @classmethod
    def by_taxonomy(cls, sensitive: Sensitive, level: int | None = None) -> Closeness:
        """Values are close under one node at this level; without one, under any node below the top.

        A value that goes straight to `*`, and the missing value, are close to nothing but themselves.
        """
        name = sensitive.column.name
        tree, line = sensitive.lines("Closeness in a taxonomy", "ask for closeness in its order")
        level = tree.height - 1 if level is None else level
        if not 0 <= level < max(tree.height, 1):
            raise InputError(
                f"{tree.source}: the taxonomy of {name!r} has levels 0 to {tree.height - 1} below its top; choose one of them."
            )
        texts = sensitive.column.texts
        labels = [None if i < 0 else tree.levels[level][i] for i in line.tolist()]
        number: dict[Any, int] = {}
        keys = [
            (label,) if label not in (None, TOP) else (text, "alone") for label, text in zip(labels, texts, strict=True)
        ]
        return cls(np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.float64), 0.0)

    @classmethod
    def by_order(cls, sensitive: Sensitive, width: float) -> Closeness:
        """Values are close within this share of the column's whole range: of numbers, else of places in the order.

        The missing value is close to nothing but itself.
        """
        column = sensitive.column
        if not 0 <= width < 1:
            raise InputError("Closeness in an order is a width from 0 to below 1, as a share of the whole range.")
        numbers = None
        if sensitive.order is None:
            numbers = column.numbers if column.numbers is not None else column.quantities
        if numbers is None:
            if sensitive.rank is None:
                raise Unavailable(
                    f"Closeness in an order needs one of {column.name!r}, whose values are neither numbers nor dates; state it in "
                    "the roles file under [orders], or ask for closeness in its taxonomy."
                )
            numbers = sensitive.rank.astype(np.float64)
        place = in_proportion(numbers, column.name, "Closeness in an order").copy()
        known = place[: len(column.values)]
        span = float(known.max() - known.min()) if len(known) else 0.0
        if column.has_missing:
            place[-1] = (float(known.max()) if len(known) else 0.0) + 2 * span + 1
        return cls(place, width * span)

    def ends(self, classes: Classes) -> tuple[FloatArray, FloatArray]:
        """The lowest and highest place of each class."""
        low, high = np.full(len(classes), np.inf), np.full(len(classes), -np.inf)
        np.minimum.at(low, classes.member, self.place[classes.value])
        np.maximum.at(high, classes.member, self.place[classes.value])
        return low, high

    def close(self, classes: Classes) -> npt.NDArray[np.bool_]:
        """Whether all values of each class are close; a class without rows is not."""
        low, high = self.ends(classes)
        close: npt.NDArray[np.bool_] = high - low <= self.within + TOLERANCE * max(1.0, self.within)
        return close & (classes.size > 0)


def closeness(sensitive: Sensitive, by: By | None, *, level: int | None, width: float) -> tuple[By, Closeness]:
    """As asked for; by the taxonomy where there is one, else by the order."""
    if by is None:
        by = "order" if sensitive.hierarchy is None else "taxonomy"
    if by == "taxonomy":
        return by, Closeness.by_taxonomy(sensitive, level)
    if by != "order":
        raise InputError("similarity: by is taxonomy or order.")
    return by, Closeness.by_order(sensitive, width)


@attack(
    title="similarity",
    question="How many people are in a class whose sensitive values all mean nearly the same?",
    how="The adversary looks a person's class up. The attack works where all its values lie under one node of the taxonomy, or within a "
    "narrow range, even if no two are the same.",
    knows=f"{QUASI_KNOWN}; and what the values mean",
    effort="looking one class up",
    source="Li, Li, Venkatasubramanian 2007, similarity attack; Manta 2013, sec. 3.2.3",
    sentence=from_zero(
        "No class has sensitive values that are all nearly the same, by the taxonomy or the width that was chosen.",
        "{} of the rows are in a class whose sensitive values are all nearly the same (one branch of the taxonomy "
        "below its top, or one narrow range), so an adversary who finds the class knows roughly what the value is.",
    ),
    misleads="The taxonomy or the width decides what is nearly the same. A taxonomy with one large branch below its top exposes everyone. "
    "One row with a different value hides all other rows of its class.",
    needs=frozenset({"sensitive"}),
    classes=True,
    parameters={
        "by": "taxonomy: values under one node are close; order: values within a narrow range are. By the taxonomy if there is one.",
        "level": "The level of the taxonomy whose nodes count; the one just below the top unless given.",
        "width": "The share of the whole range within which values are close.",
    },
)
def similarity(
    release: Release,
    roles: Roles,
    *,
    sensitive: str | None = None,
    by: By | None = None,
    level: int | None = None,
    width: float = 0.1,
    control: Table | None = None,
    reveal: bool = False,
) -> Outcome:
    """Look a person's class up, and say what its values have in common: a node of the taxonomy, or a narrow range.

    By `taxonomy`, all values of the class lie under one node at `level`, the one just below the top unless given; by `order`, within
    `width` of the whole range. A class of one value is one of them. The baseline says what all values of the table have in common;
    `control` are people not in the release, of whom the same is said, rightly or wrongly. Extremes: nobody falls if every class has
    values from two branches (or from both ends); everybody if the whole table lies under one node.
    """
    evidence, column, classes = attacked_classes(release, roles, sensitive, "similarity")
    by, near = closeness(classes.sensitive, by, level=level, width=width)
    hit = near.close(classes)
    fell, people = rows_of(classes, hit), classes.rows
    baseline = people if near.close(whole(classes))[0] else 0
    held, group = None, None
    if control is not None:
        group = control_group(evidence, column, classes, control, "similarity")
        low, high = near.ends(group.classes)
        own = near.place[group.value]
        right = near.close(group.classes)[group.member] & (group.value >= 0)
        right &= (own >= low[group.member]) & (own <= high[group.member])
        held = Rate.of(int(group.n[right].sum()), group.people)
    one = classes.distinct == 1
    details = CloseValues(
        column=column,
        by=by,
        classes=len(classes),
        exposed_classes=int(hit.sum()),
        exposed_people=fell,
        of_one_value=rows_of(classes, one),
        of_several_close_values=rows_of(classes, hit & ~one),
        control_covered=None if group is None else group.covered,
        width=width if by == "order" else None,
        level=None if by == "order" else level,
    )
    if reveal:
        texts = classes.sensitive.column.texts
        named = class_labels(evidence, column, hit)
        shown = [
            {"class": who, "values": [texts[v] for v in classes.value[classes.member == c].tolist()]}
            for who, c in zip(named, np.flatnonzero(hit).tolist(), strict=False)
        ]
        details = replace(details, shown=shown)
    common = (
        "under one node of the taxonomy" if by == "taxonomy" else f"within {about(100 * width, 12)}% of the whole range"
    )
    sentence = (
        f"No class has all its values {common}."
        if not fell
        else f"Of {counted(people, 'person', 'people')} {fell:,} {'is' if fell == 1 else 'are'} in "
        f"{counted(int(hit.sum()), 'class', 'classes')} whose values all lie {common}; "
        f"{details.of_several_close_values:,} of them in classes of different values."
    )
    return Outcome.of(fell, people, baseline, control=held, sentence=sentence, details=details)


def _costs(classes: Classes, by: By, width: float) -> FloatArray:
    """The rows of each class whose values are close; any part of such a class is another."""
    _, near = closeness(classes.sensitive, by, level=None, width=width)
    return (classes.size * near.close(classes)).astype(float)


@similarity.metric(
    title="exposed to similarity",
    monotone=True,
    costs=_costs,
    alone=lambda by, width: by == "taxonomy",
    parameters={"by": Choice(("taxonomy", "order")), "width": Number(0.1, 0, 0.999)},
)
def similarity_exposed(evidence: Evidence, column: str, by: By, width: float) -> Outcome:
    """`sum of |c| over classes c whose values are close, by all rows`; a class of one value is one of them.

    `taxonomy`: under one node just below the top. `order`: within `width` of the whole range, of numbers or else of places in the
    order. The missing value is close to nothing else. Extremes: 0 if every class has values from two branches (from afar); 1 if
    every class holds one value.
    """
    return similarity(evidence.release, evidence.roles, sensitive=column, by=by, width=width)
