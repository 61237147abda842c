"""What a node costs, and the least that nodes above or below it can cost.

A loss is a sum of terms. A term of shares (ILoss, granularity, ARX's Loss) adds up over the columns: before anything is
counted, the levels alone say what it is without suppression, which is a lower bound with suppression. Other terms bound
the nodes above a counted one. Where a term knows no bound, its metric's own bounds stand in, and more nodes are counted.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..core.cell_loss import CellLoss
from ..core.classes import Classes
from ..core.column import FloatArray
from ..core.errors import InputError, RequirementError
from ..core.hierarchy import TOP
from ..core.metric import Metric, spell_number
from ..core.noun import dataclass
from ..metrics import metric
from ..metrics.privacy.mutual_information import information, mutual_information
from ..metrics.utility.arx_loss import arx_loss
from ..metrics.utility.average_class_size import average_class_size
from ..metrics.utility.discernibility import discernibility
from ..metrics.utility.non_uniform_entropy import conditional_bits, non_uniform_entropy
from .judge import Judge, NodeVerdict
from .lattice import Ladder
from .rollup import Grouped


class Term(ABC):
    """One part of a loss: `value` of a feasible node, and lower bounds.

    Every node n costs at least `base(n) = constant + sum_j cost[j][n_j]`. Below a judged node it is at least
    `base(n) + penalty`; above one, at least `rise`.
    """

    name: str
    constant: float = -math.inf
    cost: list[FloatArray]
    by_levels: bool = False
    """Whether the base is the value itself where nothing is suppressed."""

    @abstractmethod
    def value(self, verdict: NodeVerdict) -> float:
        """What a feasible node costs, as the metric of this name measures its release."""

    def penalty(self, verdict: NodeVerdict) -> float:
        """What every specialization costs more than its base, since it must suppress the floor's rows."""
        return 0.0

    def rise(self, verdict: NodeVerdict) -> float:
        """What every generalization costs at least."""
        return -math.inf

    def price(self, grouped: Grouped) -> FloatArray | None:
        """What leaving out each class of a node adds, where that adds up whichever others are left out; else None."""
        return None

    def spared(self, verdict: NodeVerdict) -> float:
        """What a node costs at least if these classes are left out, and perhaps others."""
        return self.constant


def _none(judge: Judge) -> list[FloatArray]:
    return [np.zeros(ladder.height + 1) for ladder in judge.rollup.lattice.ladders]


def _weights(judge: Judge, name: str, weighted: bool = True) -> list[float]:
    """The owner's weight of each quasi-identifier, 1 unless given; refused where all are 0."""
    ladders, given = judge.rollup.lattice.ladders, judge.roles.weights if weighted else {}
    weights = [float(given.get(ladder.name, 1.0)) for ladder in ladders]
    if not sum(weights):
        raise InputError(f"{name}: every weight in {judge.roles.source} is 0, so no quasi-identifier counts.")
    return weights


def _widest(ladder: Ladder, open_: Sequence[FloatArray]) -> list[FloatArray]:
    """The most that any value of a label leaves open at this level or below: a label that is also a value elsewhere may
    leave more open there than higher up."""
    by_level = []
    for code, most in zip(ladder.codes, np.maximum.accumulate(open_), strict=True):
        widest = np.zeros(int(code.max()) + 1)
        np.maximum.at(widest, code, most)
        by_level.append(widest[code])
    return by_level


class ShareTerm(Term):
    """The mean over rows, and over columns by weight, of what a released value leaves open; a suppressed row loses all."""

    constant = 0.0
    by_levels = True

    def __init__(self, judge: Judge, name: str, cells: CellLoss) -> None:
        self.name, self.cells, self.geometric = name, cells, cells.geometric
        self.judge, self.rows = judge, judge.rollup.rows
        ladders = judge.rollup.lattice.ladders
        weights = _weights(judge, name, cells.weighted)
        self.weights = [w / sum(weights) for w in weights]
        self.open: list[list[FloatArray]] = []
        self.gone: list[float] = []
        for ladder in ladders:
            self.open.append([cells.of(leaves, ladder.domain.size) for leaves in ladder.leaves])
            self.gone.append(cells.whole(ladder.domain.size))
        self.widest = [_widest(ladder, open_) for ladder, open_ in zip(ladders, self.open, strict=True)]
        self.mean = [
            np.array([float((open_ * ladder.rows).sum()) / self.rows for open_ in self.open[j]])
            for j, ladder in enumerate(ladders)
        ]
        if cells.geometric:  # in logarithms it adds up
            self.cost = [np.log1p(mean) / len(ladders) for mean in self.mean]
        else:
            self.cost = [w * mean for w, mean in zip(self.weights, self.mean, strict=True)]

    def _lost(self, verdict: NodeVerdict, rows: FloatArray, *, below: bool = False) -> list[float]:
        """For each column, what suppressing these rows of each class adds to its mean, here or at the least `below`."""
        at = np.flatnonzero(rows)
        first, levels = verdict.grouped.first[at], verdict.grouped.levels
        added = []
        for j, (level, code) in enumerate(zip(levels, self.judge.rollup.tuples.codes, strict=True)):
            open_ = (self.widest if below else self.open)[j][level][code[first]]
            added.append(float(((self.gone[j] - open_) * rows[at]).sum()) / self.rows)
        return added

    def value(self, verdict: NodeVerdict) -> float:
        """Means of the columns, with the suppressed rows at their worst."""
        means = [float(mean[level]) for mean, level in zip(self.mean, verdict.grouped.levels, strict=True)]
        if verdict.suppressed:
            added = self._lost(verdict, np.where(verdict.kept, 0.0, verdict.grouped.size))
            means = [mean + more for mean, more in zip(means, added, strict=True)]
        return self.cells.mean(means, self.weights)

    def price(self, grouped: Grouped) -> FloatArray | None:
        """Its rows lose what they still have; a geometric mean is no sum."""
        if self.geometric:
            return None
        price = np.zeros(len(grouped))
        for j, (w, level, code) in enumerate(
            zip(self.weights, grouped.levels, self.judge.rollup.tuples.codes, strict=True)
        ):
            price += w * (self.gone[j] - self.open[j][level][code[grouped.first]])
        return price * grouped.size / self.rows

    def spared(self, verdict: NodeVerdict) -> float:
        """Whoever else is left out loses no less."""
        return self.value(verdict)

    def penalty(self, verdict: NodeVerdict) -> float:
        """Rows that must go lose what they still have, and below they have more: the least is what they have here."""
        if not verdict.floor.any():
            return 0.0
        added = self._lost(verdict, verdict.floor, below=True)
        if self.geometric:  # d/dL_j of the geometric mean is at least 1/(2m), every L_j being between 0 and 1
            return sum(added) / (2 * len(added))
        return sum(w * more for w, more in zip(self.weights, added, strict=True))


class Height(Term):
    """The sum of the levels (Samarati 2001); suppressed rows do not count."""

    constant = 0.0
    name = "height"
    by_levels = True

    def __init__(self, judge: Judge) -> None:
        self.cost = [np.arange(ladder.height + 1, dtype=np.float64) for ladder in judge.rollup.lattice.ladders]

    def value(self, verdict: NodeVerdict) -> float:
        """The sum of the levels."""
        return float(sum(verdict.grouped.levels))

    def price(self, grouped: Grouped) -> FloatArray | None:
        """Nothing."""
        return np.zeros(len(grouped))

    def spared(self, verdict: NodeVerdict) -> float:
        """The same, whoever is left out."""
        return self.value(verdict)


class Discernibility(Term):
    """`sum_c N_c^2`, and N for every suppressed row."""

    name = str(discernibility)

    def __init__(self, judge: Judge) -> None:
        self.cost, self.rows = _none(judge), judge.rollup.rows
        self.constant = float(self.rows)  # every row looks like itself

    def value(self, verdict: NodeVerdict) -> float:
        """As the metric has it."""
        size = verdict.grouped.size[verdict.kept].astype(np.float64)
        return float((size**2).sum()) + float(verdict.suppressed) * self.rows

    def price(self, grouped: Grouped) -> FloatArray | None:
        """N for each of its rows, instead of its own size."""
        size = grouped.size.astype(np.float64)
        return size * (self.rows - size)

    def spared(self, verdict: NodeVerdict) -> float:
        """No class costs more than N for each of its rows."""
        return self.value(verdict)

    def penalty(self, verdict: NodeVerdict) -> float:
        """A row that must go costs N instead of the 1 it costs at least."""
        return float(verdict.floor.sum()) * (self.rows - 1)

    def rise(self, verdict: NodeVerdict) -> float:
        """Merging adds up, and suppressing a row costs N, which no class costs more than."""
        return float((verdict.grouped.size.astype(np.float64) ** 2).sum())


class AverageClassSize(Term):
    """Rows by classes, of what is released."""

    name = str(average_class_size)
    constant = 1.0

    def __init__(self, judge: Judge) -> None:
        self.cost, self.least = _none(judge), judge.rollup.rows - judge.limit

    def value(self, verdict: NodeVerdict) -> float:
        """As the metric has it."""
        return float(verdict.grouped.size[verdict.kept].sum()) / int(verdict.kept.sum())

    def rise(self, verdict: NodeVerdict) -> float:
        """There are no more classes above, and no fewer rows than the limit leaves."""
        return max(self.least / len(verdict.grouped), 1.0)


class Information(Term):
    """`-I(W;C)` of what is released, so that the least loss tells most about the sensitive attribute."""

    def __init__(self, judge: Judge, column: str) -> None:
        self.name, self.column, self.judge = f"-{mutual_information.on(column)}", column, judge
        self.cost = _none(judge)
        self.stretch = judge.rollup.rows / max(judge.rollup.rows - judge.limit, 1)
        self.constant = -judge.attributes[column][1].entropy * self.stretch

    def _classes(self, verdict: NodeVerdict, *, left: bool) -> Classes:
        return self.judge.classes(self.column, verdict.grouped, verdict.kept if left else None, left=left)

    def value(self, verdict: NodeVerdict) -> float:
        """The bits of the classes that stay, as a table of their own."""
        return -information(self._classes(verdict, left=verdict.suppressed > 0))

    def rise(self, verdict: NodeVerdict) -> float:
        """Merging cannot add information, and which rows are left is a function of the class: the bits of all rows, by the
        share that is left at least, are the most that a part can have."""
        return -information(self._classes(verdict, left=False)) * self.stretch


class NonUniformEntropy(Term):
    """The bits of the original values that are open, given the released ones."""

    name = str(non_uniform_entropy)
    constant = 0.0
    by_levels = True

    def __init__(self, judge: Judge) -> None:
        self.judge, ladders = judge, judge.rollup.lattice.ladders
        rows, share = judge.rollup.rows, judge.limit / max(judge.rollup.rows, 1)
        # which rows are suppressed is itself a message: of at most its entropy for every row
        slack = -share * math.log2(share) - (1 - share) * math.log2(1 - share) if 0 < share < 0.5 else float(share > 0)
        weights = _weights(judge, self.name)
        bits = [
            w * np.array([(ladder.rows * np.log2(shared / ladder.rows)).sum() for shared in ladder.grouped])
            for w, ladder in zip(weights, ladders, strict=True)
        ]
        self.weights = weights
        self.most = most = sum(float(b[-1]) for b in bits) or 1.0
        self.exact = [b / most for b in bits]
        self.cost = [np.maximum(b - w * rows * slack, 0.0) / most for b, w in zip(bits, weights, strict=True)]

    def value(self, verdict: NodeVerdict) -> float:
        """From the levels alone where nothing is suppressed; else the rows that are gone are released as `*`, all alike."""
        levels = verdict.grouped.levels
        if not verdict.suppressed:
            return sum(float(b[level]) for b, level in zip(self.exact, levels, strict=True))
        rollup = self.judge.rollup
        n = np.where(verdict.kept[rollup.member(verdict.grouped)], rollup.tuples.n, 0)
        total = 0.0
        for w, ladder, code, level in zip(
            self.weights, rollup.lattice.ladders, rollup.tuples.codes, levels, strict=True
        ):
            stay = np.bincount(code, weights=n, minlength=len(ladder.column))
            label, labels = ladder.codes[level], ladder.labels[level]
            star = labels.index(TOP) if TOP in labels else len(labels)
            x = np.concatenate([stay, ladder.rows - stay])  # each value once as released, once as gone
            r = np.concatenate([label, np.full(len(label), star)])
            if star < len(labels):  # a value that is `*` anyway is released alike whether it stays or goes
                same = np.flatnonzero(label == star)
                x[same] += x[same + len(label)]
                x[same + len(label)] = 0
            there = x > 0
            total += w * conditional_bits(np.arange(len(x))[there], r[there], x[there])
        return total / self.most


class MetricTerm(Term):
    """Any registered metric, measured on the counts of every node that is judged."""

    def __init__(self, judge: Judge, measured: Metric, sign: float) -> None:
        self.name, self.metric, self.judge, self.sign = str(measured), measured, judge, sign
        self.cost = _none(judge)
        low, high = measured.card.bounds
        self.constant = low if sign > 0 else -high

    def value(self, verdict: NodeVerdict) -> float:
        """The metric's value, negative where more is wanted."""
        score = self.metric.score(self.judge.evidence(verdict.grouped, verdict.kept))
        return self.sign * float(score.value)


# --- reading ---------------------------------------------------------------------------------------------------------

_TERM = re.compile(
    r"""\s*(?P<sign>[+-])?\s*(?:(?P<factor>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*\*\s*)?
        (?P<name>[A-Za-z_]\w*(?:\[[^\]]*\])?(?:\(\s*(?:"(?:[^"]|"")*"|[^()"]*)\s*\))?)\s*""",
    re.VERBOSE,
)
_TERMS: dict[Metric, Callable[[Judge], Term]] = {
    discernibility: Discernibility,
    average_class_size: AverageClassSize,
    non_uniform_entropy: NonUniformEntropy,
}
"""Metrics of which more is known than their bounds; any other one is measured."""
SHORT: dict[str, Metric] = {"loss": arx_loss(aggregate="arithmetic"), "loss_geometric": arx_loss(aggregate="geometric")}
"""Short names of metrics as something to minimise."""


def named(name: str) -> Metric:
    """The metric that is meant by a name or a short one."""
    return SHORT.get(name) or metric(name)


def _fast(name: str) -> Callable[[Judge], Term] | None:
    """A term that bounds what is not counted yet; None if the metric must be measured at every node."""
    if name == Height.name:
        return Height
    wanted = named(name)
    return _TERMS.get(wanted) if wanted.cells is None else partial(ShareTerm, name=name, cells=wanted.cells)


@dataclass(frozen=True)
class Wanted:
    """What to minimise: factors and metrics, before a table is known. `str` gives the text back."""

    terms: tuple[tuple[float, str], ...]

    @classmethod
    def read(cls, text: str) -> Wanted:
        """`loss`, `0.5*loss + 2*non_uniform_entropy`, `-mutual_information(occupation)`: metrics with factors."""
        at = 0
        terms: list[tuple[float, str]] = []
        while at < len(text):
            match = _TERM.match(text, at)
            if not match or (at and not match["sign"]):
                raise RequirementError(
                    f"Cannot read {text!r} as something to minimise; write it like loss or 0.5*loss + 0.1*height."
                )
            factor = float(match["factor"] or 1) * (-1 if match["sign"] == "-" else 1)
            name = re.sub(r"\s", "", match["name"]) if "(" not in match["name"] else match["name"]
            if name not in SHORT and name != Height.name:
                name = str(metric(name))
            if factor:
                terms.append((factor, name))
            at = match.end()
        if not terms:
            raise RequirementError("Nothing to minimise; write for example loss.")
        return cls(tuple(terms))

    def __str__(self) -> str:
        parts = []
        for factor, name in self.terms:
            size = "" if abs(factor) == 1 else f"{spell_number(abs(factor))}*"
            parts.append(f"{'-' if factor < 0 else '+'} {size}{name}")
        text = " ".join(parts)
        return text[2:] if text.startswith("+") else text.replace("- ", "-", 1)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The registered metrics that are measured on counts as they are."""
        return tuple(
            named(name) for factor, name in self.terms if name != Height.name and (factor < 0 or not _fast(name))
        )

    def prepare(self, judge: Judge) -> Loss:
        """For one table."""
        terms: list[tuple[float, Term]] = []
        for factor, name in self.terms:
            fast = _fast(name)
            if judge.rollup.person is not None and fast in (Discernibility, AverageClassSize):
                fast = None  # classes are of people there, and these are about rows
            if factor >= 0 and fast is not None:
                terms.append((factor, fast(judge)))
                continue
            if name == Height.name:
                raise InputError("height can be minimised, not maximised.")
            wanted = named(name)
            column = wanted.column or (judge.roles.sensitive[0] if len(judge.roles.sensitive) == 1 else None)
            by_classes = wanted.card is mutual_information.card and column in judge.attributes
            if by_classes and factor < 0 and judge.rollup.person is None:
                terms.append((-factor, Information(judge, str(column))))
            else:
                terms.append((abs(factor), MetricTerm(judge, wanted, math.copysign(1.0, factor))))
        return Loss(tuple(terms), judge)


@dataclass(frozen=True, eq=False)
class Loss:
    """The sum of the terms, each with its factor."""

    terms: tuple[tuple[float, Term], ...]
    judge: Judge

    def value(self, verdict: NodeVerdict) -> float:
        """What a feasible node costs."""
        total = sum(factor * term.value(verdict) for factor, term in self.terms)
        return math.inf if math.isnan(total) else total  # infinitely bad and infinitely good at once

    def penalty(self, verdict: NodeVerdict) -> float:
        """What every node below costs more than its base."""
        return sum(factor * term.penalty(verdict) for factor, term in self.terms)

    def rise(self, verdict: NodeVerdict) -> float:
        """What every node above costs more than its base, by the terms that the levels say nothing of."""
        more = 0.0
        for factor, term in self.terms:
            at_least = term.rise(verdict)
            if at_least > -math.inf:
                more += factor * max(at_least - term.constant, 0.0)
        return more

    def price(self, grouped: Grouped) -> FloatArray | None:
        """What leaving out each class of a node adds; None where that depends on which others are left out."""
        total = np.zeros(len(grouped))
        for factor, term in self.terms:
            price = term.price(grouped)
            if price is None:
                return None
            total += factor * price
        return total

    def spared(self, verdict: NodeVerdict) -> float:
        """What a node costs at least whatever is left out besides what must be, where its verdict leaves that in doubt."""
        if verdict.by_rule or verdict.least is None:
            return -math.inf
        gone = int(verdict.grouped.size[~verdict.least].sum())
        fewest = replace(verdict, kept=verdict.least, suppressed=gone)
        return sum(factor * term.spared(fewest) for factor, term in self.terms) + verdict.price

    def columns(self) -> list[FloatArray]:
        """The base by column and level, added up; a geometric mean is not in it, being no sum."""
        total = _none(self.judge)
        for factor, term in self.terms:
            if not (isinstance(term, ShareTerm) and term.geometric):
                total = [t + factor * c for t, c in zip(total, term.cost, strict=True)]
        return total

    @property
    def constant(self) -> float:
        """What every node costs before its levels are known."""
        return sum(factor * term.constant for factor, term in self.terms)
