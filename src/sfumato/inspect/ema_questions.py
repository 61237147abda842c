"""EMA's three questions for each quasi-identifier, answered by what the counts and the column's name say; the owner decides.

Replicable: would it come out the same again? Distinguishable: does it tell people apart? Knowable: can others know it?
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.column import Column
from ..core.counts import Counts
from ..core.noun import dataclass
from ..core.words import counted, percent
from ..profile import name_lexicon
from ..profile.combinations import SetRisk
from ..profile.kinds import kind
from ..profile.suda import Suda
from ..profile.suggestions import why

_STAYS = ("birth", "sex", "origin", "genes")
_SELDOM = ("postal", "place", "family", "work", "belief")


@dataclass(frozen=True)
class Question:
    """EMA's three questions for one column, with what the counts say; the owner answers."""

    column: str
    replicable: str
    distinguishable: str
    knowable: str


def question(column: Column, kind: str, sets: Sequence[SetRisk], samples: Suda, steady: tuple[int, int]) -> Question:
    """The answers; `steady` are the people with several rows, and those of them whose rows all say the same."""
    name = column.name
    alone = next((risk for risk in sets if risk.columns == (name,)), None)
    distinguishable = counted(len(column), "value")
    if alone is not None:
        distinguishable += (
            f", {counted(alone.alone, 'row')} alone on it, {percent(alone.separation)} of pairs of rows told apart"
        )
    distinguishable += f"; in {percent(samples.by_column.get(name, 0.0))} of the minimal uniques of at most {counted(samples.most, 'column')}, by score"
    return Question(name, replicable(column, kind, steady), distinguishable, why(name, kind))


def replicable(column: Column, kind: str, steady: tuple[int, int] = (0, 0)) -> str:
    """Whether a value would come out the same again: counted where people have several rows, else by what the column is.

    Only numbers with decimals are taken for measurements; a weekday, a grade or a code written as a number is none.
    """
    several, same = steady
    if several:
        return f"counted: the same in all rows of {percent(same / several)} of {counted(several, 'person', 'people')} with several rows"
    concept = name_lexicon.concept(column.name)
    key = concept.key if concept is not None else ""
    if kind == "constant":
        return "not to be seen here: every row has the same value"
    if key in _STAYS:
        return "likely: it stays with a person"
    if key == "age":
        return "likely: it grows by one a year, as everybody's does"
    if key in _SELDOM:
        return "likely for some years: it changes seldom, and other registers hold it"
    if column.dates or kind == "date":
        return "likely: a date, once past, does not change"
    if column.numbers is None or kind in ("code", "category", "ordinal"):
        return "likely: one of a few set values, which others would record alike, unless it changes"
    numbers = column.numbers[np.isfinite(column.numbers)]
    if bool(np.all(numbers == np.floor(numbers))):
        return "check: a count or an amount may change with time"
    return "check: a measured number may not come out the same twice"


def kind_of(column: Column, counts: Counts | None, rows: int) -> str:
    """The kind that the profile sees; of a column of too many values, only whether they are dates."""
    if counts is None:
        return "date" if column.dates else ""
    missing = int(counts.n[counts.codes[0] == len(counts.columns[0].values)].sum())
    return kind(column.name, counts, (), len(counts), missing, rows).kind


def steady(counts: Counts, name: str, person: bool) -> tuple[int, int]:
    """People with several rows, and those whose rows all have the same value; the last counted column says whose row it is."""
    if not person:
        return 0, 0
    who, at = counts.codes[-1], counts.code(name)
    rows = np.bincount(who, weights=counts.n)
    pairs = np.unique(who * max(len(counts.column(name)), 1) + at)
    values = np.bincount(pairs // max(len(counts.column(name)), 1), minlength=len(rows))
    return int((rows > 1).sum()), int(((rows > 1) & (values == 1)).sum())
