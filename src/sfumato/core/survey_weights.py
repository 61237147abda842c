"""Survey weights: how many people of the population each row stands for. They say where and how somebody was sampled, so none leaves as it is.

Where the roles name a `weight`, `[survey] weights` says what goes out in its place, and all rows of a class get the same, so that a weight tells
no two of them apart:

- `calibrated`: the mean of the class, times one factor for all, by which the rows of the release weigh as much together as those of the
  original did: weighted counts of released quasi-identifiers come out as before, and rows that were left out are made up for;
- `rounded`: the mean of the class to one significant digit, without the factor;
- `exact`: the weights as they are, which publishing refuses without a waiver.

Without the section the weight stays in the house.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .arrow import strings, take
from .column import Column, FloatArray
from .counts import Counts
from .errors import Infeasible, InputError
from .release import Release
from .roles import Roles
from .table import Recoding, Table
from .words import counted

_DIGITS = {"calibrated": 3, "rounded": 1}
"""Significant digits of a released weight."""


def inside(roles: Roles) -> Roles:
    """The roles that a mechanism works by: a weight is added to what it made, or goes through it as it is."""
    if roles.weight is None:
        return roles
    as_it_is = (roles.weight,) if roles.survey.get("weights") == "exact" else ()
    return replace(roles, weight=None, survey={}, insensitive=(*roles.insensitive, *as_it_is))


def weighed(release: Release, roles: Roles) -> Release:
    """The release with the weight of each class beside its rows, where the roles ask for one.

    Extremes: classes of one row have their own weight, to three digits; one class of all rows the mean of all.
    """
    name, how = roles.weight, roles.survey.get("weights")
    if name is None or how not in _DIGITS or name in release.table.columns:
        return release
    evidence = release.evidence(inside(roles))
    blurred = release.perturbed & set(roles.quasi)
    if release.statistics or release.neighbours is not None or release.joined_by is not None or blurred:
        raise Infeasible(
            f"{release.made_by} forms no classes whose weight could be released; take out weights = {how!r} under [survey] of {roles.source}, "
            "and the weight stays in the house, or take a mechanism that forms classes, such as mondrian."
        )
    original = evidence.original("A weight for each class")
    every = original.value_counts((name,))[name] if name in original.columns else None
    if every is None:
        roles.check_column(name, original.columns, where=original.name, kind="weight")
        raise AssertionError
    total = float((numbers(every.columns[0], original.name)[every.codes[0]] * every.n).sum())
    member, column, code, n = evidence.held(name, "a weight for each class")
    sums = np.bincount(member, weights=numbers(column, original.name)[code] * n, minlength=len(evidence.tuples))
    factor = total / float(sums.sum()) if how == "calibrated" and sums.sum() > 0 else 1.0
    texts = [spelled(value, _DIGITS[how]) for value in (factor * sums / np.maximum(evidence.tuples.n, 1)).tolist()]
    return replace(
        release,
        table=_beside(release.table, evidence.tuples, name, texts),
        notes=(*release.notes, weight_note(name, how)),
    )


def _beside(table: Table, classes: Counts, name: str, texts: list[str]) -> Table:
    """The released rows with a text for each class in a column of its own, the last."""
    tuples = [take(column.values, codes) for column, codes in zip(classes.columns, classes.codes, strict=True)]
    recoding = Recoding.of(classes.names, (name,), [*tuples, strings(texts)], classes.n)
    return table.copied({name: classes.names[0]}).recode(recoding)


def weight_note(name: str, how: str) -> str:
    """What a document says of the released weights."""
    if how == "calibrated":
        return (
            f"Column {name!r}: every row has the mean survey weight of its class, scaled so that all rows weigh as much together as those of "
            "the original, to three significant digits."
        )
    return f"Column {name!r}: every row has the mean survey weight of its class, to one significant digit."


def numbers(column: Column, where: str) -> FloatArray:
    """The weights of a column's values; refused unless each is a number of at least 0."""
    values = column.numbers
    bad = values is None or column.has_missing or not bool((np.isfinite(values) & (values >= 0)).all())
    if values is None or bad:
        missing = "some are missing" if column.has_missing else "some are not"
        raise InputError(
            f"{where}: column {column.name!r} is the survey weight, and each weight must be a number of at least 0; {missing}. Give those rows a "
            "weight, or 0 if they stand for nobody."
        )
    return np.asarray(values, dtype=np.float64)


def spelled(value: float, digits: int) -> str:
    """A weight to so many significant digits, without an exponent.

    >>> spelled(1234.5, 3), spelled(0.04567, 1), spelled(0.0, 3)
    ('1230', '0.05', '0')
    """
    return np.format_float_positional(float(f"{value:.{digits - 1}e}"), trim="-")


def same_in_class(table: Table, roles: Roles) -> bool:
    """Whether the weight is the same in all rows of a class, so that it tells none of them apart."""
    quasi = tuple(name for name in roles.quasi if name in table.columns)
    return len(table.count((*quasi, str(roles.weight)))) == len(table.count(quasi))


def problem_of(table: Table, roles: Roles) -> str | None:
    """Why the weight of a published table must not be there; None where it is the same in all rows of a class, or is not there."""
    if roles.weight is None or roles.weight not in table.columns or same_in_class(table, roles):
        return None
    several = len(table.count((*(name for name in roles.quasi if name in table.columns), roles.weight)))
    return (
        f"{table.name}: column {roles.weight!r} is the survey weight in {roles.source} and tells rows of a class apart "
        f'({counted(several, "different pair")} of class and weight). Release it by class, weights = "calibrated" under [survey], or answer for it: '
        f"--waive '{roles.weight}: reason'."
    )
