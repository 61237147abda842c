"""The owner's own counting queries, answered from the original and from the release."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.column import Column, FloatArray, text_of
from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.spelling import plain
from ..metrics.utility.column_distance import spread
from ..metrics.utility.entropy_utility import expected, joint, shared_columns
from ..metrics.utility.query_error import Flags, answers, estimated, relative_errors

Query = Mapping[str, "Collection[Any] | tuple[Any, Any]"]


@dataclass(frozen=True)
class Answers:
    """For each query the rows of the original, the rows that the release lets one expect, and the relative error."""

    actual: FloatArray
    estimate: FloatArray
    error: FloatArray

    @property
    def mean_error(self) -> float:
        """The average relative error."""
        return float(self.error.mean())


def given_queries(release: Release, roles: Roles, queries: Sequence[Query], *, sanity: float = 0.001) -> Answers:
    """Ask the owner's queries: each is `{column: values or (low, high)}`, and counts the rows that meet all of it.

    A list or a set names values (None is missing), a tuple of two names the ends of a range of numbers or dates, both
    included. Estimates and errors are those of the metric query_error: a released value counts by the share of what it
    covers that is asked for; the denominator is the true count, at least `sanity` of the rows and one row.
    """
    if not queries:
        raise InputError("No query is given; each is a mapping such as {'age': (20, 29), 'sex': ['F']}.")
    evidence = release.evidence(roles)
    original = evidence.original("given_queries")
    shared = shared_columns(evidence, release.table, original)
    actual, estimate = np.zeros(len(queries)), np.zeros(len(queries))
    for i, query in enumerate(queries):
        for name in query:
            if name not in (*release.table.columns, *evidence.apart) or name not in original.columns:
                raise InputError(
                    f"Query {i + 1} asks for column {name!r}, which release and original do not both have."
                )
        if not query:
            raise InputError(f"Query {i + 1} is empty; name a column and its values.")
        columns = shared if set(query) <= set(shared) else tuple(query)
        before = joint(original, columns, "given_queries")
        after = expected(evidence, columns, "given_queries")
        true, guess = {}, {}
        for name, wanted in query.items():
            asked, ends = _asked(before.column(name), wanted, f"Query {i + 1}")
            true[name] = asked.astype(np.float64)
            even = spread(evidence, before.column(name), after.column(name), "given_queries")
            guess[name] = estimated(even, asked, ends)
        actual[i], estimate[i] = answers(before, [true])[0], answers(after, [guess])[0]
    return Answers(actual, estimate, relative_errors(actual, estimate, max(sanity * original.rows, 1.0)))


def _asked(column: Column, wanted: Any, where: str) -> tuple[Flags, tuple[float, float] | None]:
    """The values of the original that are asked for, and the ends of a range of numbers."""
    if isinstance(wanted, tuple):
        if len(wanted) != 2:
            raise InputError(f"{where}: a range of column {column.name!r} has two ends; name values in a list.")
        low, high = (plain((end,))[0] if isinstance(end, str) else end for end in wanted)
        if column.numbers is not None:
            try:
                ends = float(low), float(high)
            except (TypeError, ValueError):
                raise InputError(f"{where}: the ends of the range of column {column.name!r} are not numbers.") from None
            return (column.numbers >= ends[0]) & (column.numbers <= ends[1]), ends
        if column.dates:
            first, last = text_of(low) or "", text_of(high) or ""
            return np.array([t is not None and first <= t and t[: len(last)] <= last for t in column.texts]), None
        raise InputError(
            f"{where}: column {column.name!r} holds neither numbers nor dates; name its values in a list, not a range."
        )
    if isinstance(wanted, str) or not isinstance(wanted, Collection):
        raise InputError(f"{where}: give the values of column {column.name!r} as a list, or a range as a tuple.")
    texts = {text_of(value) for value in wanted}
    if not texts <= set(column.texts):  # or spelled as in the file that was read
        texts = {*plain([text for text in texts if text is not None]), *texts & {None}}
    unknown = len(texts - set(column.texts))
    if unknown:
        raise InputError(
            f"{where}: {unknown} of the values given for column {column.name!r} do not occur in the original."
        )
    return np.array([text in texts for text in column.texts]), None
