"""Entropy utility: what the columns of a release say about one another (Askari et al. 2012, eq. 8-14)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.column import IntArray
from ...core.counts import Counts
from ...core.errors import InputError, Unavailable
from ...core.group_join import Joined
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.table import Table
from ...core.words import bits, from_zero
from ..column_losses import weighted_mean


def shared_columns(evidence: Evidence, *tables: Table) -> tuple[str, ...]:
    """The quasi-identifiers and the sensitive columns that all these tables have."""
    _ = evidence.tuples  # checks the quasi-identifiers of the release
    named = (*evidence.roles.quasi, *evidence.roles.sensitive)
    has = [{*t.columns, *evidence.apart} if t is evidence.release.table else {*t.columns} for t in tables]
    return tuple(name for name in named if all(name in columns for columns in has))


def joint(table: Table, columns: Sequence[str], why: str) -> Counts:
    """The counts over several columns, of a table that has rows."""
    counts = table.count(columns)
    if not counts.rows:
        raise Unavailable(f"{table.name} has no rows, so {why} has nothing to measure.")
    return counts


def expected(evidence: Evidence, columns: Sequence[str], why: str) -> Counts | Joined:
    """The counts of a release over several columns or, where groups alone join some of them, what may be expected of them."""
    if evidence.apart.keys().isdisjoint(columns):
        return joint(evidence.release.table, columns, why)
    return evidence.joined(columns)


def entropy(counts: Counts, columns: Sequence[str]) -> float:
    """H of these columns together, in bits; of no column 0."""
    if not columns:
        return 0.0
    n = counts.n.astype(np.float64)
    if len(columns) < len(counts.columns):
        key = counts.key(columns)
        order = np.argsort(key, kind="stable")
        first: IntArray = np.flatnonzero(np.diff(key[order], prepend=key[order][:1] - 1))
        n = np.add.reduceat(n[order], first)
    if len(n) == 1:
        return 0.0
    return max(float(np.log2(counts.rows) - (n * np.log2(n)).sum() / counts.rows), 0.0)


def check_counted(counts: Counts, columns: Sequence[str]) -> None:
    """Refuse columns that were not counted."""
    for name in columns:
        if name not in counts.names:
            raise InputError(f"Column {name!r} was not counted; count it with the others.")


def revealed_bits(values: int, whole: Any, rest: Any) -> Any:
    """`Hmax(A) - H(A | others)` of a column of so many values (eq. 8-13), from H of A with the others and H of the others."""
    return np.maximum(np.log2(values) - np.maximum(whole - rest, 0.0), 0.0)


def utility(counts: Counts, column: str, given: Sequence[str] = ()) -> float:
    """`U_k(A) = Hmax(A) - H(A | given)` (eq. 8, 9, 11, 13): U_1 without others, U_max with all of them.

    Hmax is log2 of the number of values that A has in the table. 0 for a column of one value, and for one whose values are
    equally frequent whatever the others are; Hmax where the others determine it.
    """
    check_counted(counts, (column, *given))
    others = [name for name in given if name != column]
    whole, rest = entropy(counts, [column, *others]), entropy(counts, others)
    return float(revealed_bits(len(counts.column(column)), whole, rest))


def u_max(counts: Counts) -> dict[str, float]:
    """`U_max(A)` of each counted column, given all others (eq. 13)."""
    return {name: utility(counts, name, counts.names) for name in counts.names}


@measure(
    title="entropy utility",
    question="How much do the columns of the release say about one another?",
    about="utility",
    better="higher",
    unit="bits",
    bounds=(0, float("inf")),
    source="Askari, Safavi-Naini, Barker 2012, eq. 8-14",
    sentence=from_zero(
        "No column that counts can be predicted from the release better than by a blind guess.",
        "On average the other columns of the release tell {} more about a column than a blind guess among its values.",
        bits,
    ),
    misleads="Unique rows predict themselves, so noise counts as knowledge. Merging rare values can raise it. So can local "
    "recoding, because its many overlapping labels count as different values.",
    gamed="Small classes, and labels that occur once, look like knowledge: a release of many odd labels scores well.",
    apart=False,
)
def entropy_utility(evidence: Evidence, column: None) -> Score:
    """`Utility(T') = sum_i P(A_i) (Hmax(A_i) - H(A_i | all other columns))` over quasi-identifiers and sensitive columns.

    Hmax is log2 of the number of values that the column has in the release; P(A) are the owner's weights, summing to 1.
    Extremes: 0 for independent columns of equally frequent values, and what a suppressed column contributes; log2 m for two
    columns of m equally frequent values that tell each other.
    """
    table = evidence.release.table
    counts = joint(table, shared_columns(evidence, table), "entropy_utility")
    bits_told = u_max(counts)
    return Score(weighted_mean(bits_told, evidence.roles, "entropy_utility"), "bits", details={"columns": bits_told})
