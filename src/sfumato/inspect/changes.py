"""What a release did to a table: rows that were suppressed, and what became of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np

from ..core.column import Column, number_of
from ..core.cover import Domain
from ..core.errors import SfumatoError, Unavailable
from ..core.hierarchy import starred
from ..core.noun import dataclass
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.utility.iloss import iloss


@dataclass(frozen=True, kw_only=True)
class Suppression:
    """Rows that are not in the release (`left_out`) or are `*` in every quasi-identifier (`blank`), and all cells that are `*`."""

    rows_before: int
    rows_after: int
    left_out: int
    blank: int
    share: float
    """Of the rows before, those left out or blank."""
    cells: int

    @property
    def gone(self) -> int:
        """Rows of which nothing is told."""
        return self.left_out + self.blank


@dataclass(frozen=True, kw_only=True)
class ColumnChange:
    """What became of a column of the original."""

    name: str
    role: str
    loss: float | None
    """ILoss; None where it has none."""
    how: str
    share: dict[str, float] = field(default_factory=dict)
    """Of a released quasi-identifier: the shares of rows whose value is the same, suppressed, replaced or generalized."""
    values: int | None = None
    values_before: int | None = None
    everywhere: bool | None = None
    """Whether every value became one and the same thing in all rows; None where that is not known."""


def suppressed(evidence: Evidence) -> Suppression:
    """Rows that are not in the release, or are `*` in every quasi-identifier."""
    release = evidence.release
    original = evidence.original("counting suppressed rows")
    if release.statistics:
        raise Unavailable("The release contains statistics, not one row per person, so no row was suppressed or kept.")
    if all(name in release.perturbed for name in evidence.roles.quasi):
        raise Unavailable("Every quasi-identifier was perturbed or synthesized, so no row was suppressed or kept.")
    tuples = evidence.tuples
    stars = np.ones(len(tuples), dtype=bool)
    for column, codes in zip(tuples.columns, tuples.codes, strict=True):
        stars &= starred(column)[codes]
    left_out = max(original.rows - release.table.rows, 0)
    blank = int(tuples.n[stars].sum())
    cells = sum(
        int(tuples.n[starred(column)[codes]].sum()) for column, codes in zip(tuples.columns, tuples.codes, strict=True)
    )
    return Suppression(
        rows_before=original.rows,
        rows_after=release.table.rows,
        left_out=left_out,
        blank=blank,
        share=(left_out + blank) / max(original.rows, 1),
        cells=cells,
    )


def columns(release: Release, roles: Roles) -> tuple[ColumnChange, ...]:
    """For each column of the original: its role, what became of it, in how many rows, and what that lost."""
    original = release.original
    if original is None:
        raise Unavailable("Describing how columns changed needs the original table.")
    evidence = release.evidence(roles)
    lost = _losses(evidence)
    role = {
        name: kind for kind in ("identifiers", "quasi", "sensitive", "insensitive") for name in getattr(roles, kind)
    }
    role |= {name: kind for kind in ("person", "guarding", "weight") if (name := getattr(roles, kind)) is not None}
    companions = {name for table in release.companions.values() for name in table.columns}
    changes = []
    for name in original.columns:
        more: dict[str, Any] = {}
        if release.statistics:
            how = "statistics"
        elif name not in release.table.columns:
            how = "apart" if name in companions else "removed"
        elif roles.linked and name == roles.person:
            how = "joined"
        elif name in release.perturbed:
            how = "permuted" if release.joined_by is not None else "perturbed"
        elif name in roles.quasi:
            how, more = _generalized(evidence, name)
        else:
            how = _kept_or_not(release, original, name)
        changes.append(ColumnChange(name=name, role=role.get(name, "none"), loss=lost.get(name), how=how, **more))
    return tuple(changes)


def _losses(evidence: Evidence) -> Mapping[str, float]:
    try:
        losses: Mapping[str, float] = iloss.score(evidence).details["columns"]
    except SfumatoError:
        return {}
    return losses


def _generalized(evidence: Evidence, name: str) -> tuple[str, dict[str, Any]]:
    """The shares of released rows whose value is as it was, covers several, is `*`, or is none of the original's."""
    tuples = evidence.tuples
    column, codes = tuples.column(name), tuples.code(name)
    domain: Domain = evidence.domain(name, "what became of columns")
    leaves = [domain.leaves(text) for text in column.texts]
    stars = starred(column)
    # a label that only one value of the table fits, such as a mask, is coarser all the same: what stands is a value
    one = _values(domain.column, column) & ~stars
    unread = np.array([count is None for count in leaves], dtype=bool) & ~stars
    rows = max(tuples.rows, 1)
    share = {
        "same": float(tuples.n[one[codes]].sum()) / rows,
        "suppressed": float(tuples.n[stars[codes]].sum()) / rows,
        "replaced": float(tuples.n[unread[codes]].sum()) / rows,
    }
    share["generalized"] = max(0.0, 1.0 - sum(share.values()))
    share = {kind: value if value > 1e-12 else 0.0 for kind, value in share.items()}
    changed = {kind: value for kind, value in share.items() if kind != "same" and value > 0}
    how = max(changed, key=lambda kind: changed[kind]) if changed else "unchanged"
    everywhere = _everywhere(evidence, name) if changed else None
    return how, {"share": share, "values": len(column), "values_before": domain.size, "everywhere": everywhere}


def _values(original: Column, released: Column) -> Any:
    """Which released texts are values of the original column, numbers in whatever spelling."""
    known = set(original.texts)
    numbers = set() if original.numbers is None else set(original.numbers.tolist())
    return np.array([text in known or number_of(text) in numbers for text in released.texts], dtype=bool)


def _everywhere(evidence: Evidence, name: str) -> bool | None:
    """Whether every value became one and the same thing in all rows; None where it is not known what became what."""
    try:
        before, after, _ = evidence.pairs(name, "what became of columns")
    except SfumatoError:
        return None
    return len(set(zip(before, after, strict=True))) == len(set(before))


def _kept_or_not(release: Release, original: Table, name: str) -> str:
    """Of a column that no one calls perturbed: whether its released values are those of the original."""
    if release.recoding is not None and name not in release.recoding.to:
        return "unchanged"
    before, after = (set(table.count((name,)).columns[0].texts) for table in (original, release.table))
    return "unchanged" if after <= before else "generalized"
