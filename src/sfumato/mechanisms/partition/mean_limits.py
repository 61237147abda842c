"""Limits on means over the rows, and what each class adds to them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray, IntArray
from ...core.counts import Counts, exact
from ...core.errors import Infeasible
from ...core.metric import TOLERANCE, Requirement, spell_number
from ...core.noun import dataclass
from ...core.roles import Roles
from ...search.row_owners import RowOwners
from .class_demands import Demands
from .parts import Parts, released_classes


def is_mean(requirement: Requirement) -> bool:
    """Whether a requirement limits a sum over classes that only becomes less as classes are put together, as a mean risk is."""
    card = requirement.metric.card
    adds_up = card.costs is not None or card.adds is not None
    return adds_up and card.about == "privacy" and card.monotone and card.better == "lower"


def divided(
    require: tuple[Requirement, ...], counts: Counts, roles: Roles, split: tuple[str, ...], owners: RowOwners | None
) -> tuple[tuple[Requirement, ...], MeanLimits | None]:
    """The requirements that each class meets by itself, and the limits on means, if there are any."""
    means = tuple(r for r in require if is_mean(r))
    others = tuple(r for r in require if not is_mean(r))
    return others, MeanLimits(Demands.of(counts, roles, split, means, None, owners)) if means else None


@dataclass(frozen=True, eq=False)
class MeanLimits:
    """`demands` holds the requirements on means, with the sensitive value of each tuple where one looks at it."""

    demands: Demands

    def __len__(self) -> int:
        return len(self.demands.items)

    @cached_property
    def limits(self) -> FloatArray:
        """The largest sum of each."""
        return np.array([r.bound + TOLERANCE * max(1.0, abs(r.bound)) for r, *_ in self.demands.items])

    def added(self, entry: IntArray, n: IntArray, member: IntArray, count: int) -> FloatArray:
        """Limits x classes: what each of `count` classes adds, given `n` rows of tuple `entry` in class `member`."""
        demands, rows = self.demands, int(self.demands.n.sum())
        owners, added = demands.owners, np.zeros((len(self), count))
        for i, (requirement, value, sensitive) in enumerate(demands.items):
            card, arguments = requirement.metric.card, requirement.metric.arguments
            weight = n if owners is None or value is None else owners.weight(entry, n)
            if value is None or sensitive is None:
                classes = Classes(exact(np.bincount(member, weights=weight, minlength=count)), whole=rows)
            else:
                classes = Classes.of(member, weight, count=count, value=value[entry], sensitive=sensitive)
            if owners is not None:
                classes = replace(classes, different=owners.in_classes(entry, member, count))
            if card.costs is not None:
                added[i] = card.costs(classes, **arguments) / rows
            elif card.adds is not None:
                added[i] = card.adds(classes, **arguments)
        return added

    def met(self, parts: Parts, labels: list[list[str | None]]) -> bool:
        """Whether parts that release these labels meet every limit, those with equal labels taken as one class."""
        classes = released_classes(labels)
        added = self.added(parts.entry, parts.n, classes[parts.member], int(classes.max()) + 1)
        return bool((added.sum(axis=1) <= self.limits).all())

    def check_whole(self, who: str) -> None:
        """Refuse what even the whole table as one class misses."""
        everything = np.arange(len(self.demands.n))
        whole = self.added(everything, self.demands.n, np.zeros_like(everything), 1)[:, 0]
        for (requirement, *_), reached in zip(self.demands.items, whole.tolist(), strict=True):
            if not requirement.holds(reached):
                raise Infeasible(
                    f"{who} cannot meet {requirement}: even the whole table as a single class only reaches "
                    f"{spell_number(round(reached, 6))}."
                )
