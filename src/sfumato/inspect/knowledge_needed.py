"""How much an adversary must already know before a release hurts: beliefs around the overall distribution, all of them.

k, l, t and leakages assume one prior, the overall distribution p(w). Here the adversary holds any belief q about one person that moves at most
delta of it: total variation TV(q, p) <= delta. They see the class c of that person and update by p(c|w), what the release itself says of c. They
learn q(w|c) - q(w), by how much surer they grow of a value. `gain(delta)` is the most that anybody in such a ball learns of anybody, and
the least informed adversary who learns more than a limit is at the smallest delta with gain(delta) > limit.

For one class and one value the best belief has a closed form (see `_best`), so the maximum over the whole ball is exact; no solver is asked.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.classes import Classes
from ..core.column import FloatArray
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.words import percent, up
from .leakage import check_countable

STEPS = 41
"""Points of the curve, from delta = 0 to 1."""
_AT_ONCE = 4_000_000
"""Cells of a class, a value and another value that are held at once."""
_MOST = 20_000_000_000
"""Cells beyond which the question is refused: some minutes for one delta."""


@dataclass(frozen=True)
class KnowledgeNeeded:
    """The curve of what is learned at most, and where it passes the limit; every number is exact."""

    column: str
    limit: float
    values: int
    classes: int
    curve: tuple[tuple[float, float], ...]
    """Delta, and the most that anybody within it learns."""
    needed: float
    """The smallest delta at which more than the limit is learned; infinite where no belief learns so much."""

    shows = ("column", "limit", "needed")

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer in words, true whatever the numbers."""
        start = self.curve[0][1]
        first = (
            f"Who believes of everybody what is true of the whole table grows surer of somebody's {self.column} by at most {_points(start)}, when told their "
            "group."
        )
        if start > self.limit:
            return (f"{first} That is more than the limit of {_points(self.limit)}, without knowing anything else.",)
        if math.isinf(self.needed):
            return (
                f"{first} No belief about a person, however it came about, grows by more than {_points(self.limit)}.",
            )
        return (
            first,
            f"To grow surer by more than {_points(self.limit)}, an adversary's belief about that person must already lie {percent(self.needed)} away from the whole "
            "table's: so much of it must have moved to other values.",
        )

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "column": self.column,
            "limit": self.limit,
            "values": self.values,
            "classes": self.classes,
            "exactness": "exact",
            "curve": [{"delta": delta, "learned": gain} for delta, gain in self.curve],
            "needed": self.needed,
            "sentences": list(self.sentences),
        }


def knowledge_needed(
    release: Release, roles: Roles, *, limit: float = 0.5, about: str | None = None
) -> KnowledgeNeeded:
    """How far from the overall distribution a belief must lie before somebody's value is learned by more than the limit.

    Extremes: released as one class nothing is learned by anybody, and no belief suffices; where a class has one value alone, who holds the
    overall distribution learns all that is left, 1 - p(w).
    """
    if not 0 < limit < 1:
        raise InputError("The limit is by how much surer an adversary may grow of a value: above 0 and below 1.")
    column = roles.one_sensitive(about, "say what is to be learned")
    check_countable(release, roles, (*roles.quasi, column), "The knowledge needed")
    likelihood, prior = _likelihood(release.evidence(roles).classes(column))
    if likelihood.shape[0] * likelihood.shape[1] ** 2 > _MOST:
        raise Unavailable(
            f"{likelihood.shape[0]:,} classes of {likelihood.shape[1]:,} values are too many to try every belief; ask about a column of fewer values."
        )

    def gain(delta: float) -> float:
        return most_learned(likelihood, prior, delta)

    curve = tuple((float(delta), gain(float(delta))) for delta in np.linspace(0, 1, STEPS))
    return KnowledgeNeeded(
        column=column,
        limit=limit,
        values=len(prior),
        classes=len(likelihood),
        curve=curve,
        needed=_where(gain, curve, limit),
    )


def most_learned(likelihood: FloatArray, prior: FloatArray, delta: float) -> float:
    """The most that a belief within delta of the prior grows by, over all classes and values; it does not fall with delta."""
    at_once = max(_AT_ONCE // len(prior) ** 2, 1)
    rows = range(0, len(likelihood), at_once)
    return max(max(_best(likelihood[i : i + at_once], prior, w, delta) for w in range(len(prior))) for i in rows)


def _likelihood(classes: Classes) -> tuple[FloatArray, FloatArray]:
    """p(c|w), a row for each different class up to a factor (which no posterior feels), and p(w)."""
    prior = classes.sensitive.prior
    seen = np.flatnonzero(prior > 0)
    place = np.zeros(len(prior), dtype=np.int64)
    place[seen] = np.arange(len(seen))
    rows = np.zeros((len(classes), len(seen)))
    rows[classes.member, place[classes.value]] = classes.p / classes.q
    rows /= rows.max(axis=1, keepdims=True)
    return np.unique(rows.round(15), axis=0), prior[seen]


def _best(likelihood: FloatArray, prior: FloatArray, w: int, delta: float) -> float:
    """The largest q(w|c) - q(w) over classes, for one value w and all q with TV(q, p) <= delta.

    With a = q(w), L = p(c|w) and R = sum of q(v) p(c|v) over v other than w, it is a L / (a L + R) - a, which falls with R. So for each a
    R is made small: what may still move leaves the values of the largest p(c|v) and goes where it is least, m. Where a grows, all of
    delta leaves the others, and R = B - m a; where a shrinks, what is left of delta leaves them, and R is linear between the points at which
    a value is used up. On each such piece the derivative is zero at a = (sqrt(L B) - B) / (L - m) at most once.
    """
    here = likelihood[:, w]
    others = np.delete(likelihood, w, axis=1)
    mass = np.delete(prior, w)
    if others.shape[1] == 0:
        return 0.0
    order = np.argsort(-others, axis=1, kind="stable")
    height = np.take_along_axis(others, order, axis=1)
    amount = mass[order]
    before = np.cumsum(amount, axis=1) - amount
    least = height[:, -1]
    share = float(prior[w])
    stays = (height * amount).sum(axis=1)

    def taken(z: FloatArray) -> FloatArray:
        """What R loses when mass z leaves the others, from the top."""
        lost: FloatArray = (height * np.clip(z[:, None] - before, 0.0, amount)).sum(axis=1)
        return lost

    def learned(a: FloatArray, rest: FloatArray) -> float:
        weight = a * here
        with np.errstate(invalid="ignore"):
            posterior = weight / (weight + rest)
        # who rules out what is there is corrected wholly: the supremum, which beliefs next to this one come near
        posterior = np.where((weight + rest == 0) & (here > 0), 1.0, np.nan_to_num(posterior, nan=0.0))
        return float(np.max(posterior - a))

    free = min(delta, 1 - share)
    lifted = stays - taken(np.full(len(here), free)) + free * least + least * share  # B of R = B - m a
    lifted = np.maximum(lifted, 0.0)
    a = np.clip(_stationary(here, lifted, least), share, share + free)
    best = max(0.0, learned(a, np.maximum(lifted - least * a, 0.0)))

    lowest = max(share - delta, 0.0)
    ends = np.unique(np.concatenate([[lowest, share]]))
    for j in range(height.shape[1]):  # the piece on which value j of the order is being used up
        low = np.clip(before[:, j] - delta + share, lowest, share)
        high = np.clip(before[:, j] + amount[:, j] - delta + share, lowest, share)
        # R = alpha - height a on it
        alpha = stays + delta * least - taken(before[:, j]) - height[:, j] * (delta - share - before[:, j])
        inside = np.clip(_stationary(here, np.maximum(alpha, 0.0), height[:, j]), low, high)
        for a in (inside, low, high):
            best = max(best, learned(a, np.maximum(_rest(a, stays, delta, share, least, taken), 0.0)))
    for end in ends:
        a = np.full(len(here), float(end))
        best = max(best, learned(a, np.maximum(_rest(a, stays, delta, share, least, taken), 0.0)))
    return best


def _rest(a: FloatArray, stays: FloatArray, delta: float, share: float, least: FloatArray, taken: Any) -> FloatArray:
    """R where a is at most p(w): a share of delta left w, the rest leaves the others, and all of it goes where p(c|v) is least."""
    moved = np.clip(delta - share + a, 0.0, 1 - share)
    rest: FloatArray = stays - taken(moved) + (moved + share - a) * least
    return rest


def _stationary(here: FloatArray, constant: FloatArray, slope: FloatArray) -> FloatArray:
    """Where a L / (a (L - slope) + constant) - a is largest, for L above the slope; 0 elsewhere."""
    rises = here > slope
    a: FloatArray = np.where(rises, (np.sqrt(here * constant) - constant) / np.where(rises, here - slope, 1.0), 0.0)
    return a


def _where(gain: Any, curve: tuple[tuple[float, float], ...], limit: float) -> float:
    """The smallest delta whose gain is above the limit, to 1e-6."""
    above = next((i for i, (_, learned) in enumerate(curve) if learned > limit), None)
    if above is None:
        return math.inf
    if above == 0:
        return 0.0
    low, high = curve[above - 1][0], curve[above][0]
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if gain(middle) > limit else (middle, high)
    return high


def _points(x: float) -> str:
    return f"{up(100 * x)} points of 100"
