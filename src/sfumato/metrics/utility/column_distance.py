"""Distance of each column's distribution from the original's, generalized values spread evenly (total variation)."""

import numpy as np

from ...core.column import Column, FloatArray, IntArray, number_of
from ...core.counts import Counts
from ...core.cover import Domain
from ...core.group_join import Joined
from ...core.metric import Score, Usual, measure
from ...core.noun import dataclass
from ...core.release import Evidence
from ...core.words import from_zero
from ..column_losses import unreadable_values
from .entropy_utility import expected, joint, shared_columns


@dataclass(frozen=True, eq=False)
class Spread:
    """How released values spread over the values of the original: entry i gives `share` of value `released` to `value`.

    Values from `size` on are not in the original: `elsewhere` numbers in order, then one place for all the rest.
    """

    released: IntArray
    value: IntArray
    share: FloatArray
    size: int
    elsewhere: FloatArray

    def mass(self, n: IntArray | FloatArray) -> FloatArray:
        """The rows that each value of the original gets from `n` rows of each released value; those elsewhere are left out."""
        inside = self.value < self.size
        weights = self.share[inside] * n[self.released[inside]]
        return np.bincount(self.value[inside], weights=weights, minlength=self.size).astype(np.float64)


def spread(evidence: Evidence, before: Column, after: Column, why: str) -> Spread:
    """Each released value, spread evenly over the values of the domain that it covers.

    The domain is the column's taxonomy file, else the values of the original; what a label covers there and the original
    does not have lies elsewhere. So does a number, or missing, that the original does not have: it stands for itself.
    """
    name = before.name
    return evidence.derived(("spread", name), lambda: _spread(evidence, before, after, why))


def _spread(evidence: Evidence, before: Column, after: Column, why: str) -> Spread:
    name = before.name
    taxonomy = evidence.roles.taxonomy(name)
    domain = Domain(before, evidence.roles.hierarchy(before) if taxonomy is None else taxonomy)
    covered = [domain.covered(text) for text in after.texts]
    strange = [i for i, codes in enumerate(covered) if codes is None]
    numbers = np.array([number_of(after.texts[i]) for i in strange], dtype=np.float64)
    if strange and (before.numbers is None or np.isnan(numbers).any()):
        raise unreadable_values(len(strange), name, why)
    elsewhere = np.unique(numbers)
    none, rest = np.zeros(0, dtype=np.int64), len(before) + len(elsewhere)
    parts, shares, sizes = [], [], []
    for text, codes in zip(after.texts, covered, strict=True):
        if codes is None:
            codes = len(before) + np.searchsorted(elsewhere, [number_of(text)])
            share = 1.0
        else:
            share = 1.0 / max(domain.leaves(text) or 1, len(codes))
        left = 1.0 - share * len(codes)  # leaves of the taxonomy that the original does not have
        out = np.array([rest]) if left > 1e-12 else none
        parts += [codes, out]
        shares.append(np.concatenate([np.full(len(codes), share), np.full(len(out), left)]))
        sizes.append(len(codes) + len(out))
    return Spread(
        np.repeat(np.arange(len(sizes)), sizes),
        np.concatenate(parts).astype(np.int64),
        np.concatenate(shares),
        len(before),
        elsewhere,
    )


def margin(counts: Counts | Joined, name: str) -> IntArray:
    """The rows of each value of one counted column."""
    return (counts.part(name) if isinstance(counts, Joined) else counts).margin(name)


@measure(
    title="column distance",
    question="How far is the distribution of the worst column from the original one?",
    about="utility",
    unit="total variation distance",
    source="LeFevre, DeWitt, Ramakrishnan 2006 for the even spread; total variation as in Xiao and Tao 2006",
    sentence=from_zero(
        "In every column, each value has the same share in the release as in the original, if general values are spread "
        "evenly.",
        "In the worst column, {} of the rows would have to change their value to restore the original shares, "
        "if general values are spread evenly.",
    ),
    usual=Usual(140),
    audience="recipient",
    misleads="It looks at columns one by one; relations between them may be lost (see pair_distance). If the original values "
    "were equally frequent, `*` costs nothing.",
    gamed="Values swapped between people leave every column as it was, while the relations between columns are gone.",
    needs=frozenset({"original"}),
)
def column_distance(evidence: Evidence, column: None) -> Score:
    """`max_A 1/2 sum_v |p(v) - p'(v)|`: p the column's distribution in the original, p' in the release, spread.

    A released value gives each of the values it covers the same share. Over quasi-identifiers, sensitive and insensitive
    columns that both tables have; each distribution sums to 1, whatever rows were removed. Extremes: 0 for the identity;
    1 - 1/m for a suppressed column of m values of which nearly all rows have one; 1 where no value is the original's.
    """
    table, original = evidence.release.table, evidence.original("column_distance")
    columns = shared_columns(evidence, table, original)
    known = [joint(original, columns, "column_distance"), expected(evidence, columns, "column_distance")]
    sides = [{name: (counts.column(name), margin(counts, name)) for name in columns} for counts in known]
    others = [n for n in evidence.roles.insensitive if n in table.columns and n in original.columns]
    if others:
        for side, values in zip(sides, (original.value_counts(others), table.value_counts(others)), strict=True):
            side |= {n: (c.columns[0], c.n) for n, c in values.items()}
    distances = {}
    for name, (before, n) in sides[0].items():
        after, m = sides[1][name]
        even = spread(evidence, before, after, "column_distance").mass(m) / m.sum()
        distances[name] = min(float(np.maximum(n / n.sum() - even, 0.0).sum()), 1.0)
    worst = max(distances, key=lambda name: distances[name])
    mean = sum(distances.values()) / len(distances)
    return Score(
        distances[worst], "total variation distance", details={"worst": worst, "mean": mean, "columns": distances}
    )
