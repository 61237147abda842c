"""Labels that overlap: rows whose released values cannot be tabulated, because another label covers a part of the same (Manta 5.2)."""

import numpy as np

from ...core.metric import Score, Usual, measure
from ...core.release import Evidence
from ...core.words import from_zero
from .column_distance import margin, spread
from .entropy_utility import expected, joint, shared_columns


@measure(
    title="overlapping labels",
    question="Can users count rows by the labels of each column, or do the labels overlap?",
    about="utility",
    unit="share of the rows",
    source="Manta 2013, sec. 5.2: global recoding keeps the labels of a column apart, local recoding need not",
    sentence=from_zero(
        "In every column the labels are apart, so that users can count rows by label.",
        "In the column with the most of them, {} of the rows have a label that shares values with another label, so "
        "users cannot count rows by label there.",
    ),
    usual=Usual(135),
    audience="recipient",
    misleads="It says nothing about how coarse the labels are. A suppressed value (`*`, or a label that covers the whole column) "
    "counts as missing, not as overlapping.",
    gamed="Suppressing a column costs nothing here, and neither do few labels that say little.",
    needs=frozenset({"original"}),
)
def overlapping_labels(evidence: Evidence, column: None) -> Score:
    """`max_A (rows whose label in A covers a value of the domain that another label of A covers, too) / rows`.

    Two labels overlap if a value of the original is under both: `[20,35)` and `[28,41)`, or a group and one of its
    members. What covers all values of the column tells nothing of it, and overlaps nothing; nor does a release without rows.
    Extremes: 0 for the identity and for every full-domain generalization; 1 where every row has a label that overlaps.
    """
    table, original = evidence.release.table, evidence.original("overlapping_labels")
    names = [name for name in shared_columns(evidence, table, original) if name in evidence.roles.quasi]
    before, after = joint(original, names, "overlapping_labels"), expected(evidence, names, "overlapping_labels")
    shares = {}
    for name in names:
        values, labels, n = before.column(name), after.column(name), margin(after, name)
        even = spread(evidence, values, labels, "overlapping_labels")
        inside = even.value < even.size
        label, value = even.released[inside], even.value[inside]
        tells = (np.bincount(label, minlength=len(labels)) < len(values)) & (n > 0)
        label, value = label[tells[label]], value[tells[label]]
        twice = np.bincount(value, minlength=len(values)) > 1
        overlaps = np.zeros(len(labels), dtype=bool)
        overlaps[label[twice[value]]] = True
        shares[name] = float(n[overlaps].sum() / max(n.sum(), 1))
    worst = max(shares, key=lambda name: shares[name])
    return Score(shares[worst], "share of the rows", details={"worst": worst, "columns": shares})
