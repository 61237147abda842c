"""The channel of a demand and a publishing rule, table by table: exact, for as many tables as one is ready to make."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..core.column import FloatArray, IntArray
from ..core.cover import BoolArray
from ..core.noun import dataclass
from .publishing_rule import Rule
from .table_prior import Listed, Prior, Uniform
from .tables import Demand, Ranks, RowDomain, multisets

SMALL = 20_000
"""Tables up to which the error is also computed in fractions, whatever the prior."""


class RuleAnswers:
    """The rule's answers, asked once for each set of allowed nodes that occurs."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._number: dict[bytes, int] = {}
        self.fractions: list[tuple[Fraction, ...]] = []
        self._floats = np.zeros((0, len(rule.nodes)))

    def __call__(self, allowed: BoolArray) -> tuple[IntArray, FloatArray]:
        """For each table, the number of its set of nodes; and the probabilities of the nodes for each such number."""
        packed = np.packbits(allowed, axis=1)
        _, first, back = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        numbers = np.empty(len(first), dtype=np.int64)
        for i, at in enumerate(first):
            key = packed[at].tobytes()
            if key not in self._number:
                self._number[key] = len(self.fractions)
                self.fractions.append(self.rule.share([bool(b) for b in allowed[at]]))
            numbers[i] = self._number[key]
        if len(self._floats) < len(self.fractions):
            self._floats = np.array([[float(q) for q in line] for line in self.fractions])
        return numbers[back.ravel()], self._floats


@dataclass(frozen=True)
class Summed:
    """The sum over releases of their largest joint probability, and what else was seen on the way."""

    right: float
    """sum_y max_x P(x) P(y|x): how often the best guess is right."""
    exact: Fraction | None
    outputs: int
    reached: int
    withheld: bool


def reduced(domain: RowDomain, demand: Demand, prior: Prior) -> tuple[RowDomain, int]:
    """The domain whose tables must be looked at, and s, the fillings of a row of it.

    With k alone and a uniform prior the sensitive column decides nothing: tables of quasi-identifiers stand for all.
    """
    if isinstance(prior, Uniform) and demand.l <= 1 and demand.t is None:
        return domain.without_sensitive(), domain.values
    return domain, 1


def fillings(releases: IntArray, s: int) -> npt.NDArray[np.object_]:
    """For how many releases a (sorted) release without sensitive values stands: prod C(m + s - 1, m) over its classes."""
    ways = np.array([multisets(s, m) for m in range(releases.shape[1] + 1)], dtype=object)
    products: npt.NDArray[np.object_] = ways[_class_sizes(releases)].prod(axis=1)
    return products


def enumerated(domain: RowDomain, rows: int, demand: Demand, rule: Rule, prior: Prior) -> Summed:
    """All tables, or all that the prior lists, some at a time."""
    small, s = reduced(domain, demand, prior)
    if s > 1 and isinstance(prior, Uniform):
        return _without_sensitive(small, s, rows, demand, rule, prior)
    shares, nodes = RuleAnswers(rule), domain.nodes
    listed = isinstance(prior, Listed)
    ranks = [] if listed else [Ranks(domain.groups(node) * domain.values, rows) for node in nodes]
    best = [np.zeros(0 if listed else r.count) for r in ranks] or [np.zeros(0)] * len(nodes)
    made: list[BoolArray] = [np.zeros(len(b), dtype=bool) for b in best]
    silent = 0.0
    for tables in _tables(domain, rows, prior):
        allowed = demand.allowed(domain, tables)
        number, share = shares(allowed)
        chance = prior.chance(tables)
        silent = max(silent, float(np.max(chance, where=~np.any(share, axis=1)[number], initial=0.0)))
        for i, node in enumerate(nodes):
            ok = np.flatnonzero(allowed[:, i])
            release = domain.released(node, tables[ok])
            if listed:
                releases, at = np.unique(release, axis=0, return_inverse=True)
                best[i], made[i] = np.zeros(len(releases)), np.zeros(len(releases), dtype=bool)
                at = at.ravel()
            else:
                at = ranks[i].rank(release)
            np.maximum.at(best[i], at, chance[ok] * share[number[ok], i])
            made[i][at] = True
    right = float(sum(b.sum() for b in best)) + silent
    return Summed(
        right,
        _fractions(domain, rows, demand, rule, prior, best, shares, silent > 0),
        sum(int(m.sum()) for m in made),
        sum(int((b > 0).sum()) for b in best),
        silent > 0,
    )


def _tables(domain: RowDomain, rows: int, prior: Prior) -> Iterator[IntArray]:
    if isinstance(prior, Listed):
        yield prior.tables
    else:
        yield from Ranks(domain.size, rows).chunks()


def _fractions(
    domain: RowDomain,
    rows: int,
    demand: Demand,
    rule: Rule,
    prior: Prior,
    best: list[FloatArray],
    shares: RuleAnswers,
    silent: bool,
) -> Fraction | None:
    """The same sum in fractions: of a uniform prior always, of others for few tables."""
    if isinstance(prior, Uniform):
        # a largest probability is one of the rule's answers, of which there are few
        known = {(1 / prior.inputs) * float(q): q for line in shares.fractions for q in line}
        if len({q for line in shares.fractions for q in line}) > len(set(known.values())):
            return None  # two of them cannot be told apart as floats
        total = Fraction(int(silent))
        for b in best:
            distinct, n = np.unique(b[b > 0], return_counts=True)
            total += sum((known[float(v)] * int(c) for v, c in zip(distinct, n, strict=True)), Fraction(0))
        return total / prior.inputs
    tables_in_all = len(prior.tables) if isinstance(prior, Listed) else multisets(domain.size, rows)
    if tables_in_all > SMALL:
        return None
    joint: dict[tuple[int, bytes], Fraction] = {}
    for tables in _tables(domain, rows, prior):
        chance = prior.exact(tables)
        if chance is None:
            return None
        number, _ = shares(demand.allowed(domain, tables))
        for i, node in enumerate(domain.nodes):
            release = domain.released(node, tables)
            for x, p in enumerate(chance):
                value = p * shares.fractions[number[x]][i]
                key = (i, release[x].tobytes())
                if value > joint.get(key, 0):
                    joint[key] = value
        for x, p in enumerate(chance):
            if not any(shares.fractions[number[x]]):
                joint[-1, b""] = max(p, joint.get((-1, b""), Fraction(0)))
    return sum(joint.values(), Fraction(0))


def _without_sensitive(small: RowDomain, s: int, rows: int, demand: Demand, rule: Rule, prior: Uniform) -> Summed:
    """`enumerated` over the quasi-identifiers alone."""
    shares, nodes = RuleAnswers(rule), small.nodes
    ranks = [Ranks(small.groups(node), rows) for node in nodes]
    merged = [small.merged(node) for node in nodes]
    # the largest answer, by its place among all answers: whole numbers, and nothing is rounded
    patterns: list[tuple[IntArray, IntArray]] = []
    for tables in Ranks(small.size, rows).chunks():
        number, _ = shares(demand.allowed(small, tables))
        patterns.append((tables.astype(np.int32), number.astype(np.int32)))
    answers = sorted({q for line in shares.fractions for q in line} | {Fraction(0)})
    place = {q: i for i, q in enumerate(answers)}
    share = np.array([[place[q] for q in line] for line in shares.fractions], dtype=np.int64)
    silent = bool((share == 0).all(axis=1).any())
    total, made, reached = Fraction(int(silent)), 0, 0
    for i, code in enumerate(merged):
        best = np.zeros(ranks[i].count, dtype=np.int64)
        for tables, number in patterns:
            release = np.sort(code[tables], axis=1)
            np.maximum.at(best, ranks[i].rank(release), share[number, i])
        for first in range(0, ranks[i].count, 1 << 18):
            at = np.arange(first, min(first + (1 << 18), ranks[i].count))
            tables = ranks[i].unrank(at)
            ways = fillings(tables, s)
            size = _class_sizes(tables)
            ok = np.where(size == 0, rows, size).min(axis=1) >= demand.k
            made += int(ways[ok].sum())
            for at_answer in np.unique(best[at]):
                if answers[at_answer]:
                    n = int(ways[best[at] == at_answer].sum())
                    total, reached = total + n * answers[at_answer], reached + n
    right = total / prior.inputs
    return Summed(float(right), right, made, reached, silent)


def _class_sizes(tables: IntArray) -> IntArray:
    """For each sorted line, the size of each class at its first row, 0 at the others."""
    n, rows = tables.shape
    size, run = np.zeros((n, rows), dtype=np.int64), np.zeros(n, dtype=np.int64)
    for i in range(rows - 1, -1, -1):
        run = run + 1
        starts = np.ones(n, dtype=bool) if i == 0 else tables[:, i] != tables[:, i - 1]
        size[starts, i] = run[starts]
        run = np.where(starts, 0, run)
    return size
