"""True rows with differential privacy: a random sample, a generalization that does not come from the data, and classes of at least k.

Li, Qardaji, Su 2012; Bild, Kuhn, Prasser 2018, with a generalization that the owner states. One scan down to the combinations of the stated
values; the k that the promise needs is computed before the rows are looked at.
"""

from __future__ import annotations

import math
from dataclasses import field
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pyarrow as pa

from ..core.arrow import strings, take
from ..core.column import FloatArray, IntArray
from ..core.errors import Infeasible, InputError
from ..core.mechanism import MechanismCard, Progress
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import percent
from .differential_privacy.budget import Budget, amount
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
from .parameters.column_numbers import by_column
from .parameters.stated_domains import Outside, StatedDomain

_SLACK = 1e-9
"""By how much a computed tail is taken too large, so that rounding never makes a promise too good."""
_MOST = 1 << 40


@dataclass(frozen=True, kw_only=True)
class DpSampling(Private):
    """Rows drawn by themselves, generalized as stated, and left out where fewer than k are alike."""

    epsilon: float | None = None
    delta: float = 1e-6
    fraction: float | None = None
    columns: str | None = None
    domains: str = ""
    levels: str = ""
    outside: Outside = "missing"
    budget: Budget | None = field(default=None, compare=False)
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="dp_sampling",
        title="Differentially private rows by sampling and k-anonymity",
        promise=f"(epsilon, delta)-differential privacy of all released rows together, {PROMISED}; this holds by construction, and no file can show it. "
        f"Every released row is true, but for its generalization, and at least k rows are alike in all released columns. {AS_STATED}",
        against="an adversary who knows everything else, even all other rows, and wants to tell whether a person's row is in the table, or what it says",
        cost="rows that were not drawn are missing, and so is every combination that fewer than k drawn rows have: k is 74 for epsilon 1 and a delta of "
        "a millionth, so columns must be few and coarse. No noise is added",
        source="Li, Qardaji, Su 2012, On sampling, anonymization, and differential privacy, theorem 5; Bild, Kuhn, Prasser 2018, sec. 4",
        chance="always",
        private=True,
        parameters={
            "epsilon": EPSILON,
            "delta": "the probability that epsilon may be exceeded with, such as 0.000001: well below one in the number of people",
            "fraction": "the probability of each row to be drawn, at most 1 - e^-epsilon, which is the default",
            "columns": "the columns to release, as a list: sex,age; by default all that may be released",
            "domains": DOMAINS,
            "levels": "a level of the hierarchy file for some columns: town=1; values are released at that level",
            "outside": OUTSIDE,
            "budget": BUDGET,
        },
    )

    def __post_init__(self) -> None:
        self._check()
        check_texts(self)
        if not isinstance(self.delta, int | float) or isinstance(self.delta, bool) or not 0 < self.delta < 1:
            raise InputError("dp_sampling: delta must be above 0 and below 1.")
        if self.fraction is not None and not 0 < self.fraction <= largest_fraction(float(self.epsilon or 0)):
            raise InputError(
                "dp_sampling: fraction must be above 0 and at most 1 - e^-epsilon, "
                f"{largest_fraction(float(self.epsilon or 0)):.6g} here: rows that are more likely to be drawn would tell more."
            )

    @property
    def delta_cost(self) -> Fraction:
        """The delta that a release costs."""
        return amount(self.delta, "delta")

    def _make(self, table: Table, roles: Roles, rng: Rng, progress: Progress) -> Release:
        if roles.person is not None and roles.most_rows > 1:
            raise InputError(
                f"dp_sampling: a person's rows are drawn apart, so that its proof is about one row a person; leave most_rows out of [people] of {roles.source}."
            )
        domains = self._domains(self.columns, self.domains, table, roles, missing=self.outside == "missing")
        labels = self._labels(domains, roles)
        epsilon = float(self.cost)
        fraction = largest_fraction(epsilon) if self.fraction is None else float(self.fraction)
        k = least_k(epsilon, float(self.delta_cost), fraction)
        noise, budget = self._open(roles, rng)
        budget.spend(self.cost, self.delta_cost, what="a sample of the rows")
        counts = table.count([domain.name for domain in domains])
        progress(0.3)
        rows, there = np.arange(len(counts)).repeat(counts.n), np.ones(counts.rows, dtype=bool)
        columns, codes = [], []
        for domain, (names, label) in zip(domains, labels, strict=True):
            code = domain.codes(counts.column(domain.name), table.reading)[
                counts.codes[counts.names.index(domain.name)]
            ]
            there &= (code >= 0)[rows]
            columns.append(names)
            codes.append(label[code][rows])  # of a row that is not there, any
        drawn = there & (noise.chance.bits(len(rows)) < np.uint64(math.floor(fraction * 2.0**64)))
        kept, times = _alike([code[drawn] for code in codes], k)
        progress(0.8)
        if not len(times):
            raise Infeasible(
                f"dp_sampling: no combination of the stated values has {k} drawn rows, so there is nothing to release; take fewer columns, coarser "
                "domains, a larger epsilon or a larger delta."
            )
        arrays = [take(names, code) for names, code in zip(columns, kept, strict=True)]
        made = pa.Table.from_arrays(arrays, names=[domain.name for domain in domains])
        note = (
            f"Each row was drawn with a probability of {percent(fraction)}, and a combination of released values that fewer than {k} drawn rows have was left "
            f"out. For these numbers delta is {delta_of(k, fraction, epsilon):.3g}, the largest tail of a binomial distribution."
        )
        return self._released(
            table, made, times, self._notes(noise, budget, roles, note), drawn=frozenset(made.column_names)
        )

    def _labels(self, domains: tuple[StatedDomain, ...], roles: Roles) -> list[tuple[pa.Array, IntArray]]:
        """For each column the released values, and which of them each value of the domain becomes; missing stays missing."""
        wanted = by_column(self.levels, self.card.name, "levels") if self.levels else {}
        known = {domain.name for domain in domains}
        for name, level in wanted.items():
            taxonomy = roles.taxonomy(name)
            if (
                name not in known
                or taxonomy is None
                or not float(level).is_integer()
                or not 0 <= level < len(taxonomy.levels)
            ):
                raise InputError(
                    f"dp_sampling: levels names {name!r}, which needs to be a released column with a hierarchy file and to have that level."
                )
        found = []
        for domain in domains:
            texts: list[str] = list(domain.values)
            if domain.name in wanted:
                taxonomy = roles.taxonomy(domain.name)
                assert taxonomy is not None
                of = dict(zip(taxonomy.levels[0], taxonomy.levels[int(wanted[domain.name])], strict=True))
                outside = [value for value in texts if value not in of]
                if outside:
                    raise InputError(
                        f"dp_sampling: {len(outside)} stated values of {domain.name!r} have no line in its hierarchy file."
                    )
                texts = [of[value] for value in texts]
            labels = sorted(dict.fromkeys(texts), key=texts.index)
            place = np.array(
                [*map({label: i for i, label in enumerate(labels)}.get, texts), len(labels)], dtype=np.int64
            )
            found.append((domain.array() if domain.name not in wanted else strings(labels), place))
        return found


def _alike(codes: list[IntArray], k: int) -> tuple[list[IntArray], IntArray]:
    """The distinct combinations that at least k rows have, and how many have each."""
    if not len(codes[0]):
        return [code[:0] for code in codes], np.zeros(0, dtype=np.int64)
    tuples, times = np.unique(np.stack(codes), axis=1, return_counts=True)
    enough = times >= k
    return list(tuples[:, enough]), times[enough].astype(np.int64)


def largest_fraction(epsilon: float) -> float:
    """`1 - e^-epsilon`, rounded down: with it a row that is not there is at most e^epsilon times as likely as one that is.

    >>> round(largest_fraction(1.0), 6)
    0.632121
    """
    return math.nextafter(-math.expm1(-epsilon), 0.0)


def delta_of(k: int, fraction: float, epsilon: float) -> float:
    """`max over n of P(J > gamma n and J >= k)`, J binomial (n, fraction), gamma = 1 - (1 - fraction) e^-epsilon (Li et al., theorem 5).

    Of two tables that differ by a row, one class has n and n - 1 rows, and all others are alike. J of n drawn is `n (1 - b) / (n - J)` times as
    likely as J of n - 1, b the fraction, which is above e^epsilon just where J > gamma n; and J of n - 1 is at most 1/(1 - b) times as likely as J of n.
    Up to ceil(k/gamma) - 1 rows k is the limit, beyond them gamma n; from there on Chernoff's bound `exp(-n KL(gamma, b))` falls, so the search for
    the largest ends where it is below what was found. Extremes: 0 in the limit of k; towards 1 as epsilon goes to 0 with a given fraction.
    """
    from scipy.special import betainc

    gamma = 1.0 - (1.0 - fraction) * math.exp(-epsilon)
    falls = (
        gamma * math.log(gamma / fraction) - (1 - gamma) * epsilon
    )  # the same, and finite where gamma is 1 to the last digit
    largest, start = 0.0, max(k, math.ceil(k / gamma) - 1)
    while True:
        n = np.arange(start, start + 4096, dtype=np.float64)
        least = np.maximum(
            np.floor(gamma * n - _SLACK) + 1, k
        )  # a tail that begins at a whole gamma n is taken with it
        tails: FloatArray = np.where(
            least <= n, betainc(np.minimum(least, n), n - np.minimum(least, n) + 1, fraction), 0.0
        )
        largest = max(largest, float(tails.max()))
        start += 4096
        if math.exp(-start * falls) <= largest or start > _MOST:
            return min(largest * (1 + _SLACK), 1.0)


def least_k(epsilon: float, delta: float, fraction: float) -> int:
    """The smallest k with which delta is kept; the larger k, the smaller delta."""
    high = 1
    while delta_of(high, fraction, epsilon) > delta:
        high *= 2
        if high > 1 << 24:
            raise Infeasible(
                "dp_sampling: no k below 16 million keeps this epsilon and delta; take a larger epsilon or a smaller fraction."
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if delta_of(middle, fraction, epsilon) <= delta else (middle, high)
    return high
