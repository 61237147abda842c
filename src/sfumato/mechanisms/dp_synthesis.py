"""Synthetic rows drawn from noisy low-order marginals: the plain method, without a graphical-model library.

The columns are joined by nothing (independent), one after the other in the order that the owner names them (chain), or by a
tree of pairs chosen from the data with a share of the budget of its own (tree, after McKenna, Miklau, Sheldon 2021, who take
Gaussian noise: the pair whose counts are farthest from independence first, by a noisy choice, pairs that close a circle left
out). The joint distribution is then P(root) times P(child | parent) along the pairs, taken from the noisy marginals with
counts below 0 made 0; that a column has other sums in one pair than in another is not evened out, and nothing is fitted.
What was measured is private; what is drawn from it costs nothing more. The cost follows the cells of the pairs.
"""

from __future__ import annotations

import itertools
from dataclasses import field
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from ..core.arrow import take
from ..core.column import FloatArray, IntArray
from ..core.counts import Counts, pack
from ..core.errors import Infeasible
from ..core.mechanism import MechanismCard, Offer, Progress, check_whole
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.stated_reading import StatedReading
from ..core.table import Table
from .differential_privacy.budget import Budget
from .differential_privacy.noise import Noise
from .differential_privacy.private_release import (
    AS_STATED,
    BUDGET,
    DOMAINS,
    EPSILON,
    OUTSIDE,
    PROMISED,
    Private,
    check_texts,
)
from .parameters.stated_domains import Outside, StatedDomain, cells

Pair = tuple[int, int]
MOST_ROWS = 100_000_000


@dataclass(frozen=True, kw_only=True)
class DpSynthesis(Private):
    """Rows that belong to nobody, from noisy counts of single columns and pairs of columns."""

    columns: str | None = None
    structure: Literal["tree", "chain", "independent"] = "tree"
    domains: str = ""
    epsilon: float | None = None
    rows: int | None = None
    outside: Outside = "missing"
    budget: Budget | None = field(default=None, compare=False)
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="dp_synthesis",
        title="Differentially private synthetic rows from noisy marginals",
        promise=f"epsilon-differential privacy of the whole table, {PROMISED}; this holds by construction, and no file can show "
        f"it. {AS_STATED}",
        against="an adversary who knows everything else, even all other rows, and wants to tell whether a person's row is in "
        "the table, or what it says",
        cost="no row belongs to anyone; only the counts of single columns, and of the pairs in the structure, are about right, "
        "each off by about the number of marginals divided by epsilon; everything else follows from these counts, not "
        "from the data",
        source="the plain method of low-order marginals; tree after McKenna, Miklau, Sheldon 2021 (MST), without their "
        "graphical-model estimation, and Chow, Liu 1968; noise after Dwork, McSherry, Nissim, Smith 2006; sampled by OpenDP",
        chance="always",
        private=True,
        offer=Offer(100, lambda trial: [{"epsilon": [0.5, 1, 3]}], wide=True),
        parameters={
            "columns": "the columns to make, as a list, in the order of the chain; by default all that may be released",
            "structure": "tree: pairs chosen from the data, for a third of epsilon (nothing for two columns); chain: each column paired with the next one named, "
            "without looking at the data; independent: no pairs",
            "domains": DOMAINS,
            "epsilon": EPSILON,
            "rows": "the number of rows to make; by default a noisy count of the rows",
            "outside": OUTSIDE,
            "budget": BUDGET,
        },
    )

    def __post_init__(self) -> None:
        self._check()
        check_texts(self)
        check_whole(self, "rows")

    def _make(self, table: Table, roles: Roles, rng: Rng, progress: Progress) -> Release:
        domains = self._domains(self.columns, self.domains, table, roles, missing=self.outside == "missing")
        structure = self.structure if len(domains) > 1 else "independent"
        if structure == "tree" and len(domains) == 2:
            structure = "chain"  # the only tree there is: nothing is spent on choosing it
        sizes = [len(domain) for domain in domains]
        looked = {"tree": itertools.combinations(sizes, 2), "chain": itertools.pairwise(sizes)}.get(structure, ())
        self._room(sum(sizes) + sum(a * b for a, b in looked))
        noise, budget = self._open(roles, rng)
        counts = table.count([domain.name for domain in domains])
        measured = _Measured(domains, counts, table.reading, noise, budget, progress)
        pairs = measured.run(structure, self.cost)
        count = self.rows if self.rows is not None else round(measured.total)
        if count < 1:
            raise Infeasible(
                "dp_synthesis: the noisy count of the rows is below 1, so there is nothing to draw; the table is too small "
                "for this epsilon, or say how many rows to make."
            )
        if count > MOST_ROWS:
            raise Infeasible(f"dp_synthesis: more than {MOST_ROWS:,} rows would be made; set rows.")
        codes = _draw(measured, pairs, count, noise.chance)
        how = {
            "tree": "a tree of pairs chosen from the data with a third of the budget",
            "chain": "a chain of pairs in the order of the columns, chosen without looking at the data",
            "independent": "single columns, independent of one another",
        }[structure]
        joined = "; ".join(f"{domains[a].name} with {domains[b].name}" for a, b in pairs)
        note = f"Synthetic rows: no row is a person's. They were drawn from {how}{': ' + joined if joined else ''}."
        return self._synthetic(table, *_rows(table, domains, codes), self._notes(noise, budget, roles, note))


class _Measured:
    """The noisy marginals of one release, and what was spent on them."""

    def __init__(
        self,
        domains: tuple[StatedDomain, ...],
        counts: Counts,
        reading: StatedReading,
        noise: Noise,
        budget: Budget,
        progress: Progress,
    ) -> None:
        self.domains, self.noise, self.budget = domains, noise, budget
        self.progress = progress
        self.counts, self.reading = counts, reading
        self.one: dict[int, FloatArray] = {}
        self.two: dict[Pair, FloatArray] = {}
        self.sums: list[int] = []

    @property
    def total(self) -> float:
        """The rows of the table, as the noisy marginals count them."""
        return float(np.mean(self.sums))

    def exact(self, at: tuple[int, ...]) -> IntArray:
        some = [self.domains[i] for i in at]
        return cells(self.counts.group([domain.name for domain in some])[0], some, self.reading)

    def measure(self, at: tuple[int, ...], epsilon: Fraction) -> FloatArray:
        """A marginal with noise, counts below 0 made 0; a row is in one cell, so the cells share the cost."""
        whole = self.exact(at)
        what = " x ".join(self.domains[i].name for i in at)
        self.budget.spend_parallel([(epsilon, 0)], f"the counts of {what}", times=whole.size)
        noisy, _ = self.noise.laplace(whole.ravel(), sensitivity=1, epsilon=epsilon)
        self.sums.append(int(noisy.sum()))
        return np.maximum(noisy, 0).reshape(whole.shape).astype(np.float64)

    def run(self, structure: str, total: Fraction) -> list[Pair]:
        """Spend everything on what the structure needs; the pairs, each with its first column nearer to the root."""
        width = len(self.domains)
        if structure == "chain":
            pairs = list(itertools.pairwise(range(width)))
            for i, pair in enumerate(pairs):
                self.two[pair] = self.measure(pair, total / len(pairs))
                self.progress(0.8 * (i + 1) / len(pairs))
            self.one[0] = self.two[0, 1].sum(axis=1)
            return pairs
        singles = total if structure == "independent" else total / 3
        for i in range(width):
            self.one[i] = self.measure((i,), singles / width)
            self.progress((0.8 if structure == "independent" else 0.2) * (i + 1) / width)
        if structure == "independent":
            return []
        pairs = self.choose(total / 3 / (width - 1))
        for i, pair in enumerate(pairs):
            self.two[pair] = self.measure(pair, total / 3 / (width - 1))
            self.progress(0.4 + 0.4 * (i + 1) / width)
        return pairs

    def choose(self, epsilon: Fraction) -> list[Pair]:
        """A spanning tree of pairs: each step one that joins two parts, the farther from independence the likelier.

        The score of a pair is sum |count - expected|, where expected follows from the noisy single columns, rounded: one row
        changes it by at most 1.
        """
        width, scores = len(self.domains), {}
        total = max(self.total, 1.0)
        for a, b in itertools.combinations(range(width), 2):
            expected = np.rint(np.outer(self.one[a], self.one[b]) / total).astype(np.int64)
            scores[a, b] = int(np.abs(self.exact((a, b)) - expected).sum())
        part = list(range(width))
        chosen: list[Pair] = []
        while len(chosen) < width - 1:
            open_ = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
            self.budget.spend(epsilon, what=f"the choice of pair {len(chosen) + 1}")
            at, _ = self.noise.choose(
                np.array([scores[pair] for pair in open_], dtype=np.int64),
                sensitivity=1,
                epsilon=epsilon,
                monotone=False,
            )
            a, b = open_[at]
            chosen.append((a, b))
            part = [part[a] if p == part[b] else p for p in part]
        return rooted(chosen)


def rooted(pairs: list[Pair]) -> list[Pair]:
    """The pairs of a tree in an order in which the first column of each is already there, beginning with column 0."""
    there, left, found = {0}, list(pairs), []
    while left:
        pair = next(p for p in left if p[0] in there or p[1] in there)
        left.remove(pair)
        found.append(pair if pair[0] in there else (pair[1], pair[0]))
        there |= set(pair)
    return found


def _draw(measured: _Measured, pairs: list[Pair], count: int, chance: Chance) -> list[IntArray]:
    """A code per row and column: P(root) times P(child | parent), by inversion."""
    codes: dict[int, IntArray] = {}
    child = {b for _, b in pairs}
    for i, counts in measured.one.items():
        if i not in child:
            codes[i] = _pick(counts[None, :], np.zeros(count, dtype=np.int64), chance)
    for a, b in pairs:
        codes[b] = _pick(measured.two[a, b], codes[a], chance)
    return [codes[i] for i in range(len(measured.domains))]


def _pick(weights: FloatArray, row: IntArray, chance: Chance) -> IntArray:
    """For each drawn row, a column of its line of weights; a line of zeros takes the sums of all lines, else all alike."""
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, weights.sum(axis=0))
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, 1.0)
    reached = np.cumsum(weights, axis=1)
    reached /= reached[:, -1:]
    lines = reached + np.arange(len(weights))[:, None]  # one ascending array, a unit for each line
    at = np.searchsorted(lines.ravel(), row + chance.uniform(len(row)), side="left")
    picked: IntArray = np.clip(at - row * weights.shape[1], 0, weights.shape[1] - 1).astype(np.int64)
    return picked


def _rows(table: Table, domains: tuple[StatedDomain, ...], codes: list[IntArray]) -> tuple[pa.Table, IntArray]:
    """The distinct drawn rows, columns in the order of the input, and how often each was drawn."""
    key = pack(codes, [len(domain) for domain in domains], len(codes[0]))
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    order = [i for name in table.columns for i, domain in enumerate(domains) if domain.name == name]
    arrays = [take(domains[i].array(), codes[i][first]) for i in order]
    return pa.Table.from_arrays(arrays, names=[domains[i].name for i in order]), times.astype(np.int64)
