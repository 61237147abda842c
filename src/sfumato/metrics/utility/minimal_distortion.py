"""Minimal distortion: how many cells were touched at all (Samarati 2001; Manta 5.2)."""

from ...core.metric import measure
from ...core.release import Evidence
from ...core.words import from_zero


@measure(
    title="minimal distortion",
    question="What share of the quasi-identifier cells was changed?",
    about="utility",
    unit="share of cells",
    source="Samarati 2001; Manta 2013, sec. 5.2",
    sentence=from_zero(
        "No quasi-identifier of any row was changed.",
        "The release changed {} of the quasi-identifier cells (cells of removed rows count as changed).",
    ),
    misleads="A year turned into a decade costs the same as a year turned into *.",
    gamed="Few cells replaced by `*` cost less than many that were rounded a little, although users lose more.",
    needs=frozenset({"original", "pairs"}),
)
def minimal_distortion(evidence: Evidence, column: None) -> float:
    """The share of the original's quasi-identifier cells whose released text differs, row by paired row.

    Of a row that is missing from the release every cell was changed: dropping rows must not come free.
    Extremes: 0 for the identity; 1 where every cell was generalized.
    """
    changed = cells = 0
    original = evidence.release.original
    for name in evidence.tuples.names:
        before, after, n = evidence.pairs(name, "minimal_distortion")
        gone = 0 if original is None else max(original.rows - int(n.sum()), 0)
        cells += int(n.sum()) + gone
        changed += int(sum(int(k) for a, b, k in zip(before, after, n, strict=True) if a != b)) + gone
    return changed / max(cells, 1)
