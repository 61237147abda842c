"""An estimate with a confidence interval where no exact way is short enough, and bounds that need no sampling.

**Method.** The best guess is right with probability `V = sum_y max_x P(x) P(y|x)`. Let `h(y) = max_x P(x) · c(node of y)`, with
`c` the most that the rule gives a release at that node: it is at least the summand. It is a product over the cells and sensitive
values of y, so its sum H over all releases, and draws of y in proportion to it, come from generating functions. Then
`V = H · E[ratio]`, with ratio = summand / h(y) between 0 and 1: importance sampling whose weights cannot run wild.

**Interval.** The empirical Bernstein bound (Maurer and Pontil 2009, theorem 4) for numbers in [0, 1], one side each for the
lower and the upper end at half of the allowed miss: it covers at every sample size, whatever the distribution, and is wider than a normal
interval. Where the search for the best table behind a release is cut short, the lower end uses the best table found and
the upper end what no table can exceed: the interval holds the search's doubt as well as the sample's.

**Bounds.** `V <= H`, and `V` is at least what a guess without looking gets right; for weights per node it is also at least
the sum of `max_x P(x)` times the least that the rule gives. Publishing always the most general release makes `V = H`: exact.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.noun import dataclass
from .counting import floor
from .enumeration import RuleAnswers
from .publishing_rule import NodeWeights, Rule
from .table_prior import IndependentRows, Prior, Uniform, modes
from .tables import Demand, RowDomain, multisets

OPTIONS = 4_096
"""Ways to split one released value that are still listed."""
BATCH = 64
TRIES = 1_024
"""Tables that are tried behind one release."""


@dataclass(frozen=True)
class VulnerabilityBounds:
    """What is certain of V, the probability of a right guess."""

    low: float
    high: float


@dataclass(frozen=True)
class VulnerabilityEstimate:
    """V, estimated; `low` and `high` are the ends of the interval."""

    right: float
    low: float
    high: float
    samples: int
    resolved: float
    """The share of the sampled releases whose best table was found for certain."""


class Envelope:
    """h(y) for every node: its sum, and draws in proportion to it. The prior is uniform or of independent rows."""

    def __init__(self, domain: RowDomain, rows: int, demand: Demand, rule: Rule, prior: Prior) -> None:
        assert isinstance(prior, Uniform | IndependentRows)
        self.domain, self.rows, self.demand, self.rule, self.prior = domain, rows, demand, rule, prior
        self.cap = np.array([float(rule.most(i, i)) for i in range(len(domain.nodes))])
        # P(x) = scale · prod over cells and values of the kernel of (cell, value, count)
        self.scale = 1 / prior.inputs if isinstance(prior, Uniform) else float(math.factorial(rows))
        sizes = [len(a.levels[0]) for a in domain.sensitive]
        self.joint = len(sizes) > 1 and demand.l > 1
        """With l for several sensitive attributes the contents of a cell are not counted one by one: drawn without l, then refused."""
        self.l = min(demand.l, domain.values + 1) if not self.joint else 1
        self._kernels: dict[int, FloatArray] = {}
        self._tails: dict[int, FloatArray] = {}
        self._fillings: dict[tuple[int, int], FloatArray] = {}
        self.total = np.array([self.scale * self.tails(i)[0, rows] for i in range(len(domain.nodes))])
        """sum over the releases of a node of max_x P(x)."""

    def kernels(self, node: int) -> FloatArray:
        """`[cell, value, j]`: the largest kernel of j rows with this value below this cell."""
        if node not in self._kernels:
            domain = self.domain
            merged, cells = domain.merged(domain.nodes[node]), domain.groups(domain.nodes[node])
            kernels = np.broadcast_to(np.ones(1), (cells, domain.values, self.rows + 1))
            if isinstance(self.prior, IndependentRows):
                kernels = kernels.copy()
                p = self.prior.p.reshape(domain.cells, domain.values)
                for cell in range(cells):
                    inside = p[merged == cell]
                    for v in range(domain.values):
                        kernels[cell, v] = modes(inside[:, v], self.rows)
            self._kernels[node] = kernels
        return self._kernels[node]

    def fillings(self, node: int, cell: int) -> FloatArray:
        """`[v, d, j]`: the sum over contents of the values from v on, with j rows and d distinct values (counted up to l)."""
        key = (0, 0) if isinstance(self.prior, Uniform) else (node, cell)
        if key in self._fillings:
            return self._fillings[key]
        kernel, s = self.kernels(node)[cell], self.domain.values
        ways = np.zeros((s + 1, self.l + 1, self.rows + 1))
        ways[s, 0, 0] = 1.0
        for v in range(s - 1, -1, -1):
            ways[v] += ways[v + 1]
            for j in range(1, self.rows + 1):
                more = ways[v + 1, :, : self.rows + 1 - j] * kernel[v, j]
                ways[v, 1:, j:] += more[:-1]
                ways[v, -1, j:] += more[-1]
        self._fillings[key] = ways
        return ways

    def series(self, node: int, cell: int) -> FloatArray:
        """By the rows of a cell, the sum over its contents that meet k and l."""
        filled = self.fillings(node, cell)[0]
        whole: FloatArray = filled[self.l :].sum(axis=0) if self.l > 1 else filled.sum(axis=0)
        whole[: max(self.demand.k, 1)] = 0.0
        whole[0] = 1.0
        return whole

    def tails(self, node: int) -> FloatArray:
        """`[c, j]`: the sum over contents of the cells from c on, with j rows in all."""
        if node not in self._tails:
            cells = self.domain.groups(self.domain.nodes[node])
            tails = np.zeros((cells + 1, self.rows + 1))
            tails[cells, 0] = 1.0
            alike = isinstance(self.prior, Uniform)
            first = self.series(node, 0) if alike else None
            for c in range(cells - 1, -1, -1):
                series = self.series(node, c) if first is None else first
                tails[c] = np.convolve(series, tails[c + 1])[: self.rows + 1]
            self._tails[node] = tails
        return self._tails[node]

    @property
    def extra(self) -> float:
        """The most that the tables which are not published, and share one output, can add: the best guess without looking."""
        free = not self.demand.lone_row_refused and self.demand.t is None
        one = self.domain.groups(self.domain.nodes[-1]) == 1 and self.demand.l <= 1 and self.rows >= self.demand.k
        weights = self.rule.weights if isinstance(self.rule, NodeWeights) else (1,)
        heard = self.rule.countable and (all(weights) or not any(weights[:-1]))
        return 0.0 if (free or one) and heard else self.prior.largest

    @property
    def bounds(self) -> VulnerabilityBounds:
        """Of V, without sampling."""
        low, high = self.prior.largest, float(self.cap @ self.total) + self.extra
        plain = self.demand.t is None and not self.joint
        if plain and isinstance(self.rule, NodeWeights) and any(self.rule.weights):
            weights = np.array([float(w) for w in self.rule.weights])
            low = max(low, float(weights / weights.sum() @ self.total))
        return VulnerabilityBounds(min(low, 1.0), min(max(high, low), 1.0))

    def draw(self, node: int, n: int, rng: np.random.Generator) -> IntArray:
        """Releases of a node in proportion to h: how many rows in each cell, then how many of each value in it."""
        cells, s, tails = self.domain.groups(self.domain.nodes[node]), self.domain.values, self.tails(node)
        left, steps = np.full(n, self.rows), np.arange(self.rows + 1)
        # which draw holds which released row how often; most cells of a draw are empty
        drawn: list[tuple[IntArray, IntArray, IntArray]] = []
        for c in range(cells):
            series = self.series(node, c)
            rest = left[:, None] - steps
            weight = np.where(rest >= 0, series * tails[c + 1][np.maximum(rest, 0)], 0.0)
            inside = _pick(weight, rng)
            left = left - inside
            some = np.flatnonzero(inside)
            if not len(some):
                continue
            fillings, kernel = self.fillings(node, c), self.kernels(node)[c]
            need, rows = np.full(len(some), self.l), inside[some]  # distinct values that are still to come
            for v in range(s):
                rest = rows[:, None] - steps
                still = np.maximum(need[:, None] - (steps > 0), 0)
                reach = np.cumsum(fillings[v + 1][::-1], axis=0)[::-1]  # at least d distinct values
                weight = np.where(rest >= 0, kernel[v] * reach[still, np.maximum(rest, 0)], 0.0)
                took = _pick(weight, rng)
                drawn.append((some, np.full(len(some), c * s + v), took))
                rows, need = rows - took, np.maximum(need - (took > 0), 0)
        who, code, often = (np.concatenate(column) for column in zip(*drawn, strict=True))
        order = np.lexsort([code, who])
        return np.repeat(code[order], often[order]).reshape(n, self.rows)


def _pick(weight: FloatArray, rng: np.random.Generator) -> IntArray:
    """A column of each line, in proportion to its weight."""
    steps = np.cumsum(weight, axis=1)
    at = rng.random(len(weight))[:, None] * steps[:, -1:]
    picked: IntArray = np.minimum((steps <= at).sum(axis=1), weight.shape[1] - 1)
    return picked


class Behind:
    """The best table behind a release: the largest `P(x) P(y|x)`, as a share of h(y)."""

    def __init__(self, envelope: Envelope, rng: np.random.Generator) -> None:
        self.envelope, self.rng, self.shares = envelope, rng, RuleAnswers(envelope.rule)
        self._known: dict[tuple[int, int, int, int], tuple[IntArray, FloatArray, bool]] = {}

    def options(self, node: int, cell: int, value: int, count: int) -> tuple[IntArray, FloatArray, bool]:
        """The multisets of rows that one released value with its count may come from, likeliest first, their kernels as a
        share of the largest, and whether these are all."""
        key = (node, cell, value, count)
        if key not in self._known:
            envelope = self.envelope
            domain, prior = envelope.domain, envelope.prior
            inside = np.flatnonzero(domain.merged(domain.nodes[node]) == cell) * domain.values + value
            whole = multisets(len(inside), count) <= OPTIONS
            if whole:
                tables = np.array(list(itertools.combinations_with_replacement(inside, count)), dtype=np.int64)
            else:
                p = prior.p[inside] if isinstance(prior, IndependentRows) else np.full(len(inside), 1 / len(inside))
                drawn = self.rng.choice(inside, size=(OPTIONS // 4, count), p=p / p.sum() if p.sum() else None)
                n, best = np.zeros(len(inside)), []
                for _ in range(count):
                    best.append(int(np.argmax(p / (n + 1))))
                    n[best[-1]] += 1
                tables = np.unique(np.sort(np.vstack([drawn, inside[best]]), axis=1), axis=0)
            share = np.ones(len(tables))
            if isinstance(prior, IndependentRows):
                run, repeated = np.ones(len(tables)), np.ones(len(tables))
                for i in range(1, count):
                    run = np.where(tables[:, i] == tables[:, i - 1], run + 1, 1.0)
                    repeated *= run
                most = envelope.kernels(node)[cell, value, count]
                share = prior.p[tables].prod(axis=1) / repeated / most if most else share
            order = np.lexsort([self.rng.random(len(tables)), -np.round(share, 12)])
            self._known[key] = (tables[order], np.minimum(share[order], 1.0), whole)
        return self._known[key]

    def __call__(self, node: int, release: IntArray) -> tuple[float, float]:
        """What is certain of the ratio: at least, at most. Equal if the best table is known."""
        envelope = self.envelope
        domain = envelope.domain
        if envelope.demand.t is not None or envelope.joint:
            # drawn without t, so it may be no release at all; a leaf of each cell stands for the cell
            first = np.unique(domain.merged(domain.nodes[node]), return_index=True)[1]
            like = np.sort(first[release // domain.values] * domain.values + release % domain.values)
            if not envelope.demand.met(domain, like[None, :], domain.nodes[node])[0]:
                return 0.0, 0.0
        codes, counts = np.unique(release, return_counts=True)
        groups = [
            self.options(node, int(code) // domain.values, int(code) % domain.values, int(n))
            for code, n in zip(codes, counts, strict=True)
        ]
        whole = all(group[2] for group in groups)
        cap, low, tried = envelope.cap[node], 0.0, 0
        most = self._most(node, release)
        for places, share, ahead in self._candidates(groups):
            tables = np.sort(np.concatenate([group[0][places[:, i]] for i, group in enumerate(groups)], axis=1), axis=1)
            number, answers = self.shares(envelope.demand.allowed(domain, tables))
            low = max(low, float((share * answers[number, node]).max()) / cap)
            high = max(low, most * (ahead if whole else 1.0))
            tried += len(places)
            if low >= high - 1e-12 or (tried >= TRIES and ahead > 0):
                return low, high
        return low, low if whole else max(low, most)

    def _most(self, node: int, release: IntArray) -> float:
        """The most that the rule can give this release, as a share of what it can give any at its node."""
        envelope = self.envelope
        domain, rule, demand = envelope.domain, envelope.rule, envelope.demand
        if not rule.countable or (demand.t is not None and not demand.lone_row_refused):
            return 1.0
        lowest = floor(domain, domain.nodes[node], release) if demand.lone_row_refused else (0,) * len(domain.quasi)
        return float(rule.most(node, domain.nodes.index(lowest))) / float(envelope.cap[node])

    def _candidates(
        self, groups: list[tuple[IntArray, FloatArray, bool]]
    ) -> Iterator[tuple[IntArray, FloatArray, float]]:
        """Batches of places in the groups' lists, with the tables' shares of the largest P(x), and the share of the best table
        that is still to come: first random ones among the likeliest, then all, the likeliest first."""
        ties = [int((share >= share[0] - 1e-12).sum()) for _, share, _ in groups]
        places = np.stack([self.rng.integers(0, n, size=BATCH) for n in ties], axis=1)
        yield places, np.ones(BATCH), 1.0
        start = (0,) * len(groups)
        heap, batch = [(-1.0, start, 0)], list[tuple[float, tuple[int, ...]]]()
        while heap:
            minus, at, last = heapq.heappop(heap)
            batch.append((-minus, at))
            # each tuple once: only the groups from the last changed one on are moved
            for i in range(last, len(groups)):
                if at[i] + 1 < len(groups[i][1]):
                    after = (*at[:i], at[i] + 1, *at[i + 1 :])
                    share = math.prod(float(group[1][j]) for group, j in zip(groups, after, strict=True))
                    heapq.heappush(heap, (-share, after, i))
            if len(batch) == BATCH or not heap:
                ahead = -heap[0][0] if heap else 0.0
                yield np.array([b for _, b in batch]), np.array([share for share, _ in batch]), ahead
                batch = []


def estimate(envelope: Envelope, *, samples: int, confidence: float, rng: np.random.Generator) -> VulnerabilityEstimate:
    """V by importance sampling; see above for method and interval."""
    weight = envelope.cap * envelope.total
    whole = float(weight.sum())
    bounds = envelope.bounds
    if whole <= 0.0:
        return VulnerabilityEstimate(bounds.high, bounds.low, bounds.high, 0, 1.0)
    behind, ratios = Behind(envelope, rng), []
    for node, n in enumerate(rng.multinomial(samples, weight / whole)):
        if n:
            drawn = envelope.draw(node, int(n), rng)
            ratios += [behind(node, release) for release in drawn]
    low, high = (np.array(end) for end in zip(*ratios, strict=True))
    miss = (1.0 - confidence) / 2
    bottom = whole * max(float(low.mean()) - bernstein(low, miss), 0.0)
    top = whole * min(float(high.mean()) + bernstein(high, miss), 1.0) + envelope.extra
    bottom, top = max(bottom, bounds.low), min(top, bounds.high)
    middle = whole * float((low.mean() + high.mean()) / 2) + envelope.extra
    return VulnerabilityEstimate(
        min(max(middle, bottom), top), min(bottom, top), max(bottom, top), samples, float((low >= high - 1e-12).mean())
    )


def bernstein(values: FloatArray, miss: float) -> float:
    """How far the mean of numbers in [0, 1] may be off, to one side, but with probability `miss`."""
    n = len(values)
    if n < 2:
        return 1.0
    log = math.log(2.0 / miss)
    return math.sqrt(2.0 * float(values.var(ddof=1)) * log / n) + 7.0 * log / (3.0 * (n - 1))
