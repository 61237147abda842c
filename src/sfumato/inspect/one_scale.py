"""One scale for k, l, t, leakages and epsilon: what they mean for the same adversary, on the owner's own table.

The adversary knows somebody's quasi-identifiers and wants a sensitive value. Seen from there a release is a channel from the value
to the class that holds the person, p(c|w), and what it tells is counted from its classes. The yardstick is the channel whose epsilon
is known exactly: randomized response over the same values (Warner 1965; Kairouz, Oh, Viswanath 2014), which gives the true value e^epsilon
times as likely as each other one. A release tells as much as the smallest epsilon at which randomized response tells no less. That
is a translation for this table, this column and this adversary, and no promise: a release is not differentially private for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.classes import Classes
from ..core.column import FloatArray
from ..core.errors import Unavailable
from ..core.metric import Metric, spell_number
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.words import percent
from ..metrics.privacy.distinct_l_diversity import distinct_l_diversity
from ..metrics.privacy.distribution_leakage import distribution_leakage
from ..metrics.privacy.entropy_l_diversity import entropy_l_diversity
from ..metrics.privacy.entropy_leakage import entropy_leakage
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.mutual_information import information
from ..metrics.privacy.t_closeness import t_closeness
from .leakage import check_countable

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
MOST = 60.0
"""An epsilon beyond this differs from endless by less than a float can hold."""
BESIDE: tuple[Metric, ...] = (
    k_anonymity,
    distinct_l_diversity,
    entropy_l_diversity,
    t_closeness(ground="equal"),
    distribution_leakage,
    entropy_leakage,
)


@dataclass(frozen=True)
class Told:
    """What an adversary is told of the value, by three measures; each grows with what is told."""

    bits: float
    """I(W;C), the mean."""
    guessed: float
    """The share of people whose value a best guess names: 1 less the Bayes error."""
    certainty: float
    """How likely the likeliest value is for those of whom most is told."""


@dataclass(frozen=True)
class ScaleLine:
    """A release on the scale: its limits, what it tells, and the epsilon of randomized response that tells as much."""

    name: str
    limits: Mapping[str, float]
    told: Told
    epsilon: Told
    """Infinite where no epsilon tells as much: somebody's value is certain."""


@dataclass(frozen=True)
class EpsilonScale:
    """Releases of one table and the yardstick beside them. All numbers are exact; an epsilon is exact to 1e-9."""

    column: str
    values: int
    entropy: float
    guessed: float
    """The share of people for whom the most frequent value is right, without any release."""
    lines: tuple[ScaleLine, ...]
    yardstick: Mapping[float, Told]
    """What randomized response tells at each epsilon."""
    curve: tuple[tuple[float, float], ...]
    """Epsilon and the share that is guessed, close enough together to be drawn as a line."""
    bound: Mapping[float, float]
    """How likely a value can become at most for anybody, by any mechanism that gives each person epsilon."""

    shows = ("column", "values")

    @property
    def sentences(self) -> list[str]:
        """A sentence a release, true whatever the numbers."""
        return [self._sentence(line) for line in self.lines]

    def _sentence(self, line: ScaleLine) -> str:
        text = (
            f"{line.name}: a best guess at {self.column} is right for {percent(line.told.guessed)} of the people, and for {percent(self.guessed)} without the "
            f"release. Randomized answers tell as much {_at(line.epsilon.guessed)}, and as many bits on average {_at(line.epsilon.bits)}."
        )
        if line.told.certainty >= 1:
            return f"{text} Of at least one group the release tells the value for certain, which no epsilon does."
        return f"{text} Where it tells most, a value is {percent(line.told.certainty)} likely, as {_at(line.epsilon.certainty)}."

    def to_dict(self) -> dict[str, Any]:
        """For machines."""

        def told(x: Told) -> dict[str, float]:
            return {"bits": x.bits, "guessed": x.guessed, "certainty": x.certainty}

        return {
            "column": self.column,
            "values": self.values,
            "entropy": self.entropy,
            "guessed_without": self.guessed,
            "exactness": "exact",
            "releases": [
                {"name": x.name, "limits": dict(x.limits), "told": told(x.told), "epsilon": told(x.epsilon)}
                for x in self.lines
            ],
            "yardstick": [
                {"epsilon": epsilon, **told(x), "certainty_at_most": self.bound[epsilon]}
                for epsilon, x in self.yardstick.items()
            ],
            "sentences": self.sentences,
        }


def one_scale(
    releases: Mapping[str, Release], roles: Roles, *, about: str | None = None, epsilons: Sequence[float] = EPSILONS
) -> EpsilonScale:
    """Put releases of one table on the scale of epsilon, for one sensitive column.

    Extremes: a release as one class tells nothing, and its epsilon is 0; one whose classes hold a single value each tells
    everything, and its epsilon is infinite.
    """
    if not releases:
        raise Unavailable("The scale needs at least one release.")
    column = roles.one_sensitive(about, "say which the scale is about")
    first: Classes | None = None
    lines = []
    for name, release in releases.items():
        check_countable(release, roles, (*roles.quasi, column), "The scale")
        evidence = release.evidence(roles)
        classes = evidence.classes(column)
        first = classes if first is None else first
        prior = _prior(classes)
        told = told_by(classes)
        limits = {}
        for metric in BESIDE:
            try:
                named = metric.on(column) if "sensitive" in metric.card.needs else metric
                limits[str(metric)] = named.score(evidence).value
            except Unavailable:
                continue
        epsilon = Told(*(_epsilon(value, which, prior) for which, value in enumerate(_numbers(told))))
        lines.append(ScaleLine(name, limits, told, epsilon))
    assert first is not None
    prior = _prior(first)
    return EpsilonScale(
        column=column,
        values=len(prior),
        entropy=first.sensitive.entropy,
        guessed=float(prior.max()),
        lines=tuple(lines),
        yardstick={epsilon: randomized_response(prior, epsilon) for epsilon in epsilons},
        curve=tuple(
            (float(e), randomized_response(prior, float(e)).guessed)
            for e in np.geomspace(min(epsilons), max(epsilons), 80)
        ),
        bound={epsilon: most_certain(prior, epsilon) for epsilon in epsilons},
    )


def told_by(classes: Classes) -> Told:
    """What classes tell: I(W;C), the sum over classes of their most frequent value, and the largest p(w|c)."""
    largest = np.maximum.reduceat(classes.n, np.flatnonzero(np.diff(classes.member, prepend=-1)))
    return Told(information(classes), float(largest.sum() / classes.rows), float(classes.p.max()))


def randomized_response(prior: FloatArray, epsilon: float) -> Told:
    """What randomized response tells: the true value with a = e^eps/(e^eps + m - 1), each other one with b = 1/(e^eps + m - 1).

    Extremes: at epsilon 0 nothing (0 bits, the most frequent value is guessed); for endless epsilon all.
    """
    m = len(prior)
    if m == 1:
        return Told(0.0, 1.0, 1.0)
    b = 1 / (math.exp(epsilon) + m - 1)
    a = 1 - (m - 1) * b
    answered = prior * a + (1 - prior) * b
    top = int(prior.argmax())
    others = np.full(m, prior[top])
    others[top] = np.delete(prior, top).max()
    best = np.maximum(prior * a, others * b)  # p(w, y) of the likeliest w behind each answer y
    noise = -(a * math.log2(a) + (m - 1) * b * math.log2(b))
    bits = float(-(answered * np.log2(answered)).sum()) - noise
    return Told(max(bits, 0.0), float(best.sum()), float((best / answered).max()))


def most_certain(prior: FloatArray, epsilon: float) -> float:
    """How likely a value can become under any mechanism of this epsilon: `p e^eps / (p e^eps + 1 - p)`, the largest over values.

    Each answer is at most e^eps times as likely under one value as under another, so the odds grow by at most e^eps (a bound that
    some mechanism reaches). It holds for central differential privacy, too, against an adversary who knows everybody else.
    """
    p = float(prior.max())
    return 1.0 if p == 1 else p * math.exp(epsilon) / (p * math.exp(epsilon) + 1 - p)


def _prior(classes: Classes) -> FloatArray:
    prior = classes.sensitive.prior
    return prior[prior > 0]


def _numbers(told: Told) -> tuple[float, float, float]:
    return told.bits, told.guessed, told.certainty


def _epsilon(value: float, which: int, prior: FloatArray) -> float:
    """The smallest epsilon at which randomized response tells no less by one measure; each measure grows with epsilon."""
    if value >= _numbers(randomized_response(prior, 2 * MOST))[which] - 1e-12:
        return 0.0 if len(prior) == 1 else math.inf

    def reaches(epsilon: float) -> bool:
        return _numbers(randomized_response(prior, epsilon))[which] >= value - 1e-12

    return _smallest(reaches)


def _smallest(reaches: Callable[[float], bool]) -> float:
    if reaches(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not reaches(high):
        low, high = high, 2 * high
    while high - low > 1e-10 * max(high, 1.0):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _at(epsilon: float) -> str:
    return "at no epsilon" if math.isinf(epsilon) else f"at epsilon = {spell_number(round(epsilon, 2))}"
