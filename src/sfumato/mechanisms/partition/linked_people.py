"""Partition people, not rows, where the rows of a person stay joined: everybody in a class gets the same released rows.

Rows are put in order within each person and people with equally many rows are cut together: an attribute that never changes is one
axis, one that does is an axis for each place in that order. The members of a part then release the same label at each place. People
whose number of rows too few others have lose some, drawn at random, or all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from ...core.arrow import strings, take
from ...core.classes import Classes, Sensitive
from ...core.column import IntArray
from ...core.counts import exact
from ...core.cover import BoolArray
from ...core.errors import Infeasible, InputError
from ...core.label_kinds import Labels
from ...core.mechanism import Mechanism, Progress
from ...core.metric import Requirement
from ...core.noun import dataclass
from ...core.people import left_out_note, nobodys
from ...core.person_weights import PersonWeights
from ...core.randomness import Chance
from ...core.range_ends import Style
from ...core.release import Release
from ...core.roles import Roles
from ...core.table import Table
from ..microdata.rows import Rows
from .axes import PartitionAxis
from .parts import Met, labels_of, partition


@dataclass(frozen=True, eq=False)
class PeopleDemands:
    """Requirements on classes of linked people, where each person has so many rows left.

    What looks at a sensitive column is asked of each place in the order of the rows: whoever knows several rows of a person knows which
    of the released ones they are.
    """

    everyone: int
    weights: PersonWeights
    items: tuple[tuple[Requirement, IntArray | None, Sensitive | None], ...]
    """The requirement, and of a sensitive column the code of each row and the attribute."""

    @classmethod
    def of(
        cls, rows: Rows, roles: Roles, require: tuple[Requirement, ...], who: IntArray, left: IntArray
    ) -> PeopleDemands:
        """With `left` rows of each person, of which `who` is one for each row that is left out or not."""
        weights = PersonWeights.of(np.maximum(left, 1))
        items: list[tuple[Requirement, IntArray | None, Sensitive | None]] = []
        for requirement in require:
            if "sensitive" not in requirement.metric.card.needs:
                items.insert(0, (requirement, None, None))  # the cheap ones first
                continue
            for name in [requirement.metric.column] if requirement.metric.column else roles.sensitive:
                column, value = rows.columns[name], rows.codes[name]
                weight = np.where(who >= 0, weights.of_row[who], 0)
                total = exact(np.bincount(value, weights=weight, minlength=len(column)))
                items.append(
                    (requirement, value, Sensitive(column, total, roles.orders.get(name), roles.taxonomy(name)))
                )
        return cls(int((left > 0).sum()), weights, tuple(items))

    @property
    def least(self) -> int:
        """The fewest people with whom a class meets what looks at no sensitive value."""
        sizes = Classes(np.arange(1, self.everyone + 1), whole=self.everyone)
        good = np.ones(self.everyone, dtype=bool)
        for requirement, value, _ in self.items:
            if value is None:
                good &= requirement.passes(requirement.metric.per_class(sizes))
        return int(np.argmax(good)) + 1

    def met(self, place: IntArray) -> Met:
        """What parts of some people must meet; `place` (people x places) are their rows, in order."""
        width = place.shape[1]
        weight = self.weights.unit // width

        def met(entry: IntArray, n: IntArray, member: IntArray, count: int) -> BoolArray:
            people = exact(np.bincount(member, weights=n, minlength=count))
            good = np.ones(count, dtype=bool)
            for requirement, value, sensitive in self.items:
                if value is None or sensitive is None:
                    good &= requirement.passes(requirement.metric.per_class(Classes(people, whole=self.everyone)))
                elif good.any():
                    inside = good[member]
                    number, stay = (np.cumsum(good) - 1)[member[inside]], int(good.sum())
                    at = (number[:, None] * width + np.arange(width)).ravel()
                    values = value[place[entry[inside]]].ravel()
                    weights = np.full(len(at), weight, dtype=np.int64)
                    classes = Classes.of(at, weights, count=stay * width, value=values, sensitive=sensitive)
                    classes = replace(classes, different=np.repeat(people[good], width))
                    passes = requirement.passes(requirement.metric.per_class(classes))
                    good[good] = passes.reshape(-1, width).all(axis=1)
            return good

        return met


@dataclass(frozen=True, eq=False)
class LinkedPeople:
    """The rows of a table by person: `order` lists them person by person in the order that aligns them, `left` says how many stay."""

    rows: Rows
    who: IntArray
    """The person of each row."""
    axes: Mapping[str, PartitionAxis]
    draw: IntArray
    """The place of each row in a random order of its person's rows: the last ones are left out first."""

    @classmethod
    def of(cls, rows: Rows, roles: Roles, chance: Chance, style: Style, kinds: Labels) -> LinkedPeople:
        """All rows, with an axis for each quasi-identifier."""
        who = rows.codes[str(roles.person)]
        axes = {}
        for name in roles.quasi:
            column, code = rows.columns[name], rows.codes[name]
            axes[name] = PartitionAxis.of(column, np.bincount(code, minlength=len(column)), roles, style, kinds)
        order = np.lexsort([chance.order(len(who)), who])
        times = np.bincount(who)
        draw = np.empty(len(who), dtype=np.int64)
        draw[order] = np.arange(len(who)) - np.repeat(np.cumsum(times) - times, times)
        return cls(rows, who, axes, draw)

    def aligned(self, left: IntArray) -> tuple[IntArray, IntArray]:
        """The rows that stay, person by person in the order that aligns them, and where each person's begin.

        Numbers and dates that change within people come first, so that people are alike in their smallest, second smallest, ... value.
        """
        stay = np.flatnonzero(self.draw < left[self.who])
        who = self.who[stay]
        keys = []
        for axis, code in sorted(
            ((axis, axis.code[self.rows.codes[name]][stay]) for name, axis in self.axes.items()),
            key=lambda each: not each[0].spans,
        ):
            least, most = np.full(len(left), len(axis)), np.zeros(len(left), dtype=np.int64)
            np.minimum.at(least, who, code)
            np.maximum.at(most, who, code)
            if (least < most).any():
                keys.append(code)
        # rows alike in all of these are alike in what is released, so that chance may order them
        return stay[np.lexsort([self.draw[stay], *keys[::-1], who])], np.cumsum(left) - left

    def groups(self, left: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """For each number of rows, the largest first: the people who have it, and their rows (people x places)."""
        order, start = self.aligned(left)
        for width in np.unique(left[left > 0])[::-1].tolist():
            people = np.flatnonzero(left == width)
            yield people, order[start[people][:, None] + np.arange(width)]

    def left(self, require: tuple[Requirement, ...], roles: Roles) -> tuple[IntArray, PeopleDemands]:
        """How many rows of each person stay so that all who have equally many meet everything as one class.

        The people whose number of rows too few share are cut down to the next smaller one that somebody has; below the smallest they
        are left out. What stays changes the shares of the sensitive values, so it is asked again.
        """
        left = np.bincount(self.who)
        while True:
            stays = self.draw < left[self.who]
            demands = PeopleDemands.of(self.rows, roles, require, np.where(stays, self.who, -1), left)
            lower = left.copy()
            widths = np.unique(np.append(left, 0))[::-1].tolist()
            for width, below in pairwise(widths):
                people = np.flatnonzero(lower == width)
                if not self._enough(people, width, lower, demands):
                    lower[people] = below
            if np.array_equal(lower, left):
                break
            left = lower
        if not left.any():
            raise Infeasible(
                f"mondrian cannot meet {' and '.join(map(str, require))}: no class of people who have equally many rows does."
            )
        return left, demands

    def _enough(self, people: IntArray, width: int, left: IntArray, demands: PeopleDemands) -> bool:
        some = np.zeros_like(left)
        some[people] = width
        order, start = self.aligned(some)
        place = order[start[people][:, None] + np.arange(width)]
        ones = np.ones(len(people), dtype=np.int64)
        return bool(demands.met(place)(np.arange(len(people)), ones, np.zeros(len(people), dtype=np.int64), 1)[0])

    def labels(
        self,
        left: IntArray,
        demands: PeopleDemands,
        *,
        widest: bool,
        by_cuts: bool,
        relaxed: Chance | None,
        progress: Progress,
    ) -> dict[str, pa.Array]:
        """What each row releases in each column, NULL where it is left out."""
        texts: dict[str, list[str | None]] = {name: [] for name in self.axes}
        codes = {name: np.full(len(self.who), np.iinfo(np.int64).max) for name in self.axes}
        done = 0
        for people, place in self.groups(left):
            width = place.shape[1]
            axes: list[PartitionAxis] = []
            code: list[IntArray] = []
            where: list[tuple[str, slice]] = []
            for name, axis in self.axes.items():
                own = axis.code[self.rows.codes[name]][place]
                constant = bool((own == own[:, :1]).all())
                for at in range(1 if constant else width):
                    axes.append(axis)
                    code.append(own[:, at])
                    where.append((name, slice(None) if constant else slice(at, at + 1)))
            weight = np.array([width if at == slice(None) else 1 for _, at in where])
            tie = None if relaxed is None else relaxed.order(len(people))
            ones = np.ones(len(people), dtype=np.int64)
            parts, _ = partition(
                axes,
                np.array(code),
                ones,
                demands.met(place),
                widest=widest,
                tie=tie,
                weight=weight,
                least=demands.least,
            )
            of_person = np.empty(len(people), dtype=np.int64)
            of_person[parts.entry] = parts.member
            for (name, places), labels in zip(
                where, labels_of(parts, axes, np.array(code), by_cuts=by_cuts), strict=True
            ):
                codes[name][place[:, places]] = (len(texts[name]) + of_person)[:, None]
                texts[name] += labels
            done += place.size
            progress(done / len(self.who))
        return {name: take(strings(texts[name]), codes[name]) for name in self.axes}


def release_linked(
    rows: Rows, roles: Roles, by: Mechanism, released: Mapping[str, pa.Array], kept: BoolArray, chance: Chance
) -> Release:
    """The rows that stay, with a fresh number for each person and notes of what was left out."""
    person = str(roles.person)
    who, column = rows.codes[person], rows.columns[person]
    gone, people = int((~kept).sum()), int(len(column) - len(np.unique(who[kept])))
    notes = (left_out_note(roles, gone, len(who), people, len(column)), *chance.notes)
    numbers = chance.numbers(len(column), column.texts)
    return rows.release(by, released, added={person: numbers[who]}, kept=kept, notes=notes)


def rows_of_people(table: Table, roles: Roles, who: str) -> Rows:
    """All rows of a table with whose each is; a row of nobody is refused."""
    person = str(roles.person)
    rows = Rows.of(table, roles, who, house=(person,))
    if rows.columns[person].has_missing:
        none = int((rows.codes[person] == len(rows.columns[person]) - 1).sum())
        raise InputError(nobodys(table, none, person))
    return rows
