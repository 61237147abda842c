"""What the owner says can never be, as a text: no synthetic row then has it.

    marital_status=widowed|divorced, age=0:15; sex=male, diagnosis=pregnancy

A rule names two columns or more and values of each, spelled as domains are (`parameters.stated_domains`): `a|b`, or `low:high` for numbers,
which must begin and end where bins do; nothing between the strokes stands for missing. Rules are separated by `;`. They come from what
the owner knows of the world, never from the rows, so they cost no privacy. In the model their cells have probability 0, and the rest is fitted
around them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...core.cover import BoolArray
from ...core.errors import InputError
from ..parameters.stated_domains import StatedDomain, bare, entries, number_range, split
from .junction_tree import Columns

KEY = "impossible"


def impossible_cells(text: str, domains: Sequence[StatedDomain], who: str, most_cells: int) -> dict[Columns, BoolArray]:
    """For each set of columns that rules name together, which of its cells are impossible."""
    cells: dict[Columns, BoolArray] = {}
    place = {domain.name: i for i, domain in enumerate(domains)}
    for rule in check_impossible(text, who):
        for name in rule:
            if name not in place:
                raise InputError(f"{who}: {KEY} names column {name!r}, which is not made.")
        columns = tuple(sorted(place[name] for name in rule))
        shape = [len(domains[i]) for i in columns]
        if math.prod(shape) > most_cells:
            raise InputError(
                f"{who}: a rule of {KEY} is about {math.prod(shape):,} cells, and {most_cells:,} is the most; name fewer columns, "
                "or coarser domains."
            )
        marked = [_marked(rule[domains[i].name], domains[i], who) for i in columns]
        meant = np.ix_(*[np.flatnonzero(mark) for mark in marked])
        cells.setdefault(columns, np.zeros(shape, dtype=bool))[meant] = True
    return cells


def check_impossible(text: str, who: str) -> list[dict[str, str]]:
    """The rules as texts by column; refuses what cannot be read, before a table is there."""
    rules = [entries(part, who, KEY) for part in split(text, ";")] if text.strip() else []
    for rule in rules:
        if len(rule) < 2:
            raise InputError(
                f"{who}: a rule of {KEY} names at least two columns; what one column can never be is left out of its domain."
            )
    return rules


def _marked(text: str, domain: StatedDomain, who: str) -> BoolArray:
    """Which values of a domain are meant; its last is missing, if it has that."""
    marked = np.zeros(len(domain), dtype=bool)
    ends = number_range(text)
    if domain.edges is not None and ends is not None:
        low, high = map(float, ends)
        starts, stops = domain.edges, domain.edges if domain.whole else np.append(domain.edges[1:], domain.top)
        within = (starts >= low) & (stops <= high)
        touched = within if domain.whole else (starts < high) & (stops > low)
        if not within.any() or (within != touched).any():
            raise InputError(
                f"{who}: {KEY} states a range of {domain.name!r} that holds none of its values, or that ends inside a bin; let it begin and "
                "end where bins do."
            )
        marked[: len(within)] = within
        return marked
    place = {value: i for i, value in enumerate(domain.texts)}
    for part in split(text, "|"):
        value = bare(part) or None
        if value not in place:
            raise InputError(
                f"{who}: {KEY} states a value of {domain.name!r} that its domain does not have; state it there, or leave it out here."
            )
        marked[place[value]] = True
    return marked
