"""k, l and t in bits: which conditions a release meets, what limits can be asked, and a noisy query on the same scale.

Bezzi 2010, eq. 4-17. What is necessary holds on average, what is sufficient in every class: the two are shown side by side,
since a release can meet the first and miss the second (sec. 4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..core.column import FloatArray
from ..core.errors import InputError
from ..core.metric import TOLERANCE
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..metrics.privacy.mutual_information import information
from ..metrics.privacy.one_symbol_i1 import one_symbol_i1
from ..metrics.privacy.one_symbol_i2 import one_symbol_i2
from .leakage import check_countable


@dataclass(frozen=True)
class Condition:
    """One line of eq. 13 or 14: `left <= right`, both in bits."""

    equation: str
    kind: str
    """`necessary` (on average) or `sufficient` (necessary too: in every class)."""
    text: str
    left: float
    right: float
    met: bool
    classes: int
    """Classes that miss it; 0 for a condition on the average."""
    sentence: str


@dataclass(frozen=True)
class Bits:
    """The attribute's entropy, what l it allows, what l a t stands for, and the conditions for the limits that were given."""

    column: str
    entropy: float
    l_max: float
    l_t: float | None
    t_l: float | None
    conditions: tuple[Condition, ...]
    advice: tuple[str, ...]

    @property
    def met(self) -> bool:
        """Whether the release meets the limits: every class does (eq. 14)."""
        return all(condition.met for condition in self.conditions if condition.kind == "sufficient")


def bits(
    release: Release,
    roles: Roles,
    *,
    diversity: float | None = None,
    closeness: float | None = None,
    about: str | None = None,
) -> Bits:
    """Entropy l-diversity and t-closeness in KL form, as conditions on information (eq. 13-14), with advice on l and t.

    `diversity` is l and `closeness` is t, in bits. `l_max = 2^H(W)` is the largest l any release can reach (eq. 15),
    `l_t = 2^(H(W)-t)` the l that weighs as much as t (eq. 12), and `t_l = H(W) - log2 l` the t of an l.
    """
    column = roles.one_sensitive(about, "say what the bits are about")
    if diversity is not None and not 1 <= diversity < math.inf:
        raise InputError("l must be a number of at least 1: no class holds less than one value.")
    if closeness is not None and not 0 <= closeness < math.inf:
        raise InputError("t must be a number of bits of at least 0.")
    check_countable(release, roles, (*roles.quasi, column), "Bits")
    evidence = release.evidence(roles)
    classes = evidence.classes(column)
    entropy = classes.sensitive.entropy
    shared = information(classes)
    conditions = []
    if release.original is not None:
        before = information(evidence.original_classes(column, "I(W;X)"))
        conditions.append(_average("I(W;C) <= I(W;X)", shared, before, "the original quasi-identifiers told"))
    allowed = None if diversity is None else entropy - math.log2(diversity)
    if closeness is not None:
        conditions.append(_average("I(W;C) <= t", shared, closeness, "t allows"))
    if allowed is not None:
        conditions.append(_average("I(W;C) <= H(W) - log2 l", shared, allowed, "l allows"))
    if closeness is not None:
        conditions.append(_each("I1(W,c) <= t", one_symbol_i1.per_class(classes), closeness, "surprise, t"))
    if allowed is not None:
        conditions.append(
            _each("I2(W,c) <= H(W) - log2 l", one_symbol_i2.per_class(classes), allowed, "lost uncertainty, l")
        )
    l_t = None if closeness is None else 2 ** (entropy - closeness)
    advice = _advice(entropy, diversity, closeness)
    return Bits(column, entropy, 2**entropy, l_t, allowed, tuple(conditions), tuple(advice))


def _average(text: str, left: float, right: float, what: str) -> Condition:
    met = left <= right + TOLERANCE * max(1.0, abs(right))
    word = "no more than" if met else "more than"
    sentence = (
        f"On average a class tells {_plain(left)} bits about the attribute, {word} the {_plain(right)} that {what}."
    )
    return Condition("13", "necessary", text, left, right, met, 0, sentence)


def _each(text: str, values: FloatArray, right: float, what: str) -> Condition:
    over = int((values > right + TOLERANCE * max(1.0, abs(right))).sum())
    worst = float(values.max())
    bits, limit = what.split(", ")
    many = f"{over:,} of {len(values):,} classes go" if over != 1 else f"One of {len(values):,} classes goes"
    sentence = f"{many} beyond the {_plain(right)} bits of {bits} that {limit} allows, the worst with {_plain(worst)}."
    if not over:
        sentence = f"No class goes beyond the {_plain(right)} bits of {bits} that {limit} allows, the worst has {_plain(worst)}."
    return Condition("14", "sufficient", text, worst, right, not over, over, sentence)


def _plain(x: float) -> str:
    return f"{x:.3g}" if abs(x) >= 5e-13 else "0"


def _advice(entropy: float, diversity: float | None, closeness: float | None) -> list[str]:
    """What an owner should know when setting l or t."""
    top = 2**entropy
    sentences = [f"Entropy l-diversity can be asked up to {top:.4g}: the whole table as one class has no more."]
    if diversity is not None and diversity > top * (1 + TOLERANCE):
        sentences.append(
            f"l = {diversity:.4g} is above that, so no release that keeps the attribute as it is meets it; lower it."
        )
    if closeness is not None:
        sentences.append(f"t = {closeness:.4g} bits weighs as much as l = {2 ** (entropy - closeness):.4g}.")
        if closeness >= entropy:
            sentences.append(
                "t is not below the entropy of the attribute, so on average it asks for nothing; lower it."
            )
    if diversity is not None and closeness is not None and diversity <= top * (1 + TOLERANCE):
        same = entropy - math.log2(diversity)
        if abs(same - closeness) <= 1e-9:
            sentences.append("l and t allow the same information on average.")
        else:
            sentences.append(
                f"On average {'l' if same < closeness else 't'} is the stricter of the two; the t of this l is {_plain(same)} bits."
            )
    return sentences


def surprise(likelihood: FloatArray, prior: FloatArray, at: int = 0) -> float:
    """`I1(F,X0) = sum_s p(s|X0) log2 p(s|X0)/p(s)`, p(s) = sum_X p(X) p(s|X) over the neighbours X of X0 and itself (eq. 17).

    `likelihood[X, s]` is p(s|X) for any mechanism of finitely many answers, `at` the row of X0. Extremes: 0 where all neighbours
    answer alike, -log2 p(X0) where no two share an answer.
    """
    weight = np.asarray(prior, dtype=np.float64)
    rows = np.asarray(likelihood, dtype=np.float64)
    if (
        rows.ndim != 2
        or weight.shape != rows.shape[:1]
        or np.any(rows < 0)
        or np.any(weight < 0)
        or not weight.sum() > 0
    ):
        raise InputError(
            "A mechanism is a row of probabilities for each database, and a prior a weight for each of them."
        )
    if not np.allclose(rows.sum(1), 1.0):
        raise InputError("The probabilities of a database's answers must sum to 1.")
    if not weight[at] > 0:
        raise InputError("The prior must give the database itself a weight above 0.")
    mean = weight / weight.sum() @ rows
    here = rows[at]
    seen = (here > 0) & (mean > 0)  # a mean of 0 under an answer that can be given is an underflow: too rare to count
    return max(float((here[seen] * np.log2(here[seen] / mean[seen])).sum()), 0.0)


def query_surprise(epsilon: float, neighbours: Mapping[int, float] | None = None) -> float:
    """The surprise (eq. 17), in bits, of a database under a count that is answered with geometric noise of `epsilon` (eq. 16).

    `p(s|X) = (1-r)/(1+r) r^|s - count(X)|`, r = e^(-epsilon). `neighbours` says by how much the count of a neighbour differs and
    its weight in the prior, the database itself (0) among them; one less, the same and one more, equally likely, unless given.
    The answers beyond the neighbours form two tails of constant ratio, so the infinite sum is exact. Never more than
    `epsilon log2 e` for neighbours that differ by one (eq. 16 bounds every term), nor than -log2 p(X0), which it nears as
    epsilon grows. Extremes: 0 for a neighbourhood of nothing but the database itself.
    """
    if not 0 < epsilon < math.inf:
        raise InputError("epsilon must be a number above 0.")
    steps = {-1: 1.0, 0: 1.0, 1: 1.0} if neighbours is None else dict(neighbours)
    if any(int(k) != k for k in steps) or any(not 0 <= w < math.inf for w in steps.values()) or not steps.get(0, 0) > 0:
        raise InputError(
            "Neighbours are whole differences of the count, each with a weight of at least 0; a difference of 0 needs one above 0."
        )
    change = np.array([int(k) for k in steps])
    weight = np.array(list(steps.values())) / sum(steps.values())
    far = int(np.abs(change).max())
    s = np.arange(-far, far + 1)
    log_here = -epsilon * np.abs(s)
    with np.errstate(divide="ignore"):
        log_mean = np.logaddexp.reduce(np.log(weight) - epsilon * np.abs(s[:, None] - change), axis=1)
    mass = np.tanh(epsilon / 2) * np.exp(log_here)  # tanh is (1-r)/(1+r)
    if far:  # the two ends stand for all answers from there on
        mass[[0, -1]] /= -math.expm1(-epsilon)
    return max(float((mass * (log_here - log_mean)).sum()) / math.log(2), 0.0)
