"""The record-level channel of a release: which original record became which released record, with what probability.

From counts, so that a million rows are a few thousand entries. **Two inputs can be meant.** `record_channel` takes values:
inputs are the distinct original records over some columns, the prior is how frequent they are, and people of equal values
are one input. `person_channel` takes people: each row is an input, all equally likely, and what is released of a row is its
class; then `H(X|c) = log2 |c|`, and k-anonymity is `H(X|c) >= log2 k` for every class c (Bezzi 2010, eq. 5).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.column import FloatArray
from ..core.counts import Counts
from ..core.errors import Unavailable
from ..core.noun import dataclass
from ..core.release import Evidence, Release
from ..core.roles import Roles
from .adversary import error
from .channel import Channel, sparse
from .leakage import Capacity, bayes_capacity, capacity, conditional_entropy, entropy, mutual_information
from .prior import distribution

SHOWN = 100_000
"""Records up to which inputs and outputs carry their values as names; beyond, numbers."""


@dataclass(frozen=True, eq=False)
class RecordChannel:
    """A channel with the prior that the data has: the share of each input among the rows."""

    channel: Channel
    prior: FloatArray
    rows: int
    """Released rows that were counted."""

    @property
    def error(self) -> float:
        """Of the adversary who knows the frequencies and how each record is released (eq. 5)."""
        return error(self.channel, self.prior)

    @property
    def bayes_capacity(self) -> float:
        """How many times more often a guess can be right, over all priors."""
        return bayes_capacity(self.channel)

    @property
    def information(self) -> float:
        """I(original; released) in bits."""
        return mutual_information(self.channel, self.prior)

    @property
    def unknown(self) -> float:
        """H(original | released) in bits."""
        return conditional_entropy(self.channel, self.prior)

    @property
    def entropy(self) -> float:
        """H(original) in bits."""
        return entropy(distribution(self.prior, self.channel))

    def capacity(self, *, gap: float = 1e-6, rounds: int = 20_000) -> Capacity:
        """The most that it could tell, in bits, over all priors."""
        return capacity(self.channel, gap=gap, rounds=rounds)


def record_channel(release: Release, roles: Roles, columns: Sequence[str] | None = None) -> RecordChannel:
    """The channel from original to released records over `columns`: the quasi-identifiers unless given.

    Rows that were suppressed are not in it: the channel is that of the rows which were released. Needs the original and the
    pairs (a recoding of ours, or `pairing`).
    """
    evidence = release.evidence(roles)
    names = tuple(roles.quasi if columns is None else columns)
    if not names:
        raise Unavailable(f"{roles.source} names no quasi-identifier; say which columns make a record.")
    counts = _pairs(evidence, names)
    before, x = counts.group([f"original.{name}" for name in names])
    after, y = counts.group([f"released.{name}" for name in names])
    n = counts.n.astype(np.float64)
    if not counts.rows:
        raise Unavailable(f"{release.table.name} has no rows, so there is no channel.")
    matrix = sparse().csr_array((n / before.n[x], (x, y)), shape=(len(before), len(after)))
    channel = Channel(matrix=matrix, inputs=_spelled(before), outputs=_spelled(after))
    return RecordChannel(channel, before.n / counts.rows, counts.rows)


def person_channel(release: Release, roles: Roles) -> RecordChannel:
    """The channel from rows of the release to its classes: every row an input, all as likely.

    The error is 1 - classes/rows, and `H(X|c)` is log2 of the size of each class. It needs no original.
    """
    size = release.evidence(roles).tuples.n
    rows = int(size.sum())
    if not rows:
        raise Unavailable(f"{release.table.name} has no rows, so there is no channel.")
    kit = sparse()
    matrix = kit.csr_array((np.ones(rows), np.repeat(np.arange(len(size)), size), np.arange(rows + 1)))
    return RecordChannel(Channel(matrix=matrix), np.full(rows, 1.0 / rows), rows)


def _pairs(evidence: Evidence, names: tuple[str, ...]) -> Counts:
    """Counts over `original.x` and `released.x` of every column."""
    release, why = evidence.release, "The record-level channel"
    recoding = release.recoding
    if recoding is None:
        for table in (release.table, evidence.original(why)):
            table.require_columns(names, "so it is not a part of the record")
        return evidence.pair_counts(names, why)
    outside = [name for name in names if name not in recoding.by]
    if outside:
        raise Unavailable(
            f"{release.made_by} keeps no pairs of column {outside[0]!r} with what it was released as; ask for columns that it "
            f"recodes ({', '.join(recoding.by)}), or pair the written file with --pair."
        )
    return recoding.pairs(names)


def _spelled(counts: Counts) -> list[tuple[str | None, ...]] | None:
    """The values of each tuple, for whoever looks at a small channel."""
    if len(counts) > SHOWN:
        return None
    return counts.spelled()
