"""k-anonymity, l-diversity and t-closeness by full-domain generalization, as an exact channel (Askari et al. 2012, sec. 5).

An input is a table of r rows (a multiset), an output a release: a node of the lattice, which the release states, and the multiset of
generalized rows, with the sensitive column as it is. A table that may be released nowhere, or that the rule does not publish,
goes to one output more, *nothing*. `solve` takes the shortest way that is exact, and says what its number is:

| method      | what it does                                        | when                                             |
|-------------|-----------------------------------------------------|--------------------------------------------------|
| `count`     | generating functions, no table made (`counting`)    | uniform prior, any rule but a function: any size |
| `enumerate` | every table, or every one that the prior lists      | up to `limit` tables                             |
| `orbits`    | one table for all that nothing tells apart          | if that is less work than `limit` tables         |
| `bound`     | a generating function on each side (`sampling`)     | on demand; exact if the two meet                 |
| `sample`    | an estimate with a confidence interval (`sampling`) | otherwise                                        |
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from ..core.errors import InputError
from ..core.metric import Exactness
from ..core.noun import dataclass
from . import counting, symmetry
from .channel import Channel, sparse
from .description import Description, parse, read
from .enumeration import RuleAnswers, enumerated, reduced
from .publishing_rule import Rule
from .sampling import Envelope, estimate
from .table_prior import Listed, Prior, Uniform, prior_of
from .tables import LISTED, Demand, Ranks, RowDomain, input_count

__all__ = ["METHODS", "Description", "SolvedChannel", "channel", "parse", "read", "solve"]

Method = Literal["auto", "count", "enumerate", "orbits", "bound", "sample"]
METHODS = ("auto", "count", "enumerate", "orbits", "bound", "sample")
LIMIT = 5_000_000
"""Tables that are enumerated without being asked to."""
WORTH = 100_000
"""Tables from which on symmetries are looked for."""
CHANNEL = 250_000
"""Tables whose channel is made as a matrix."""


@dataclass(frozen=True, kw_only=True)
class SolvedChannel:
    """The error of the adversary who knows mechanism and prior, and what kind of number it is."""

    inputs: int
    outputs: int | None
    """Releases that meet the demand, over all nodes; None where they were not counted."""
    reached: int | None
    """Those that the rule publishes for some table (that the prior allows); None where they were not counted."""
    refused: int | None
    """Tables that may be released nowhere; None where they were not counted."""
    error: float
    """1 - sum_y max_x P(x) P(y|x) (eq. 5). Of a bound, the lower end: the adversary errs at least so often."""
    exactness: Exactness
    bounds: tuple[float, float]
    """Between which the error must lie: for a uniform prior 1 - m/n and 1 - 1/n, with m outputs; for others, and for a bound, what was found."""
    method: str
    seconds: float
    exact: Fraction | None = None
    """The error as a fraction, where it is known so."""
    ci: tuple[float, float] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def log2_right(self) -> float:
        """How often the best guess is right, as a power of 2: where the error is so near 1 that a float cannot tell."""
        if self.exact is not None:
            right = 1 - self.exact
            return math.log2(right.numerator) - math.log2(right.denominator) if right else -math.inf
        return math.log2(1.0 - self.error) if self.error < 1.0 else -math.inf

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        whole = {name: getattr(self, name) for name in ("inputs", "outputs", "reached", "refused")}
        # beyond what other programs read as a number, its logarithm must do
        content: dict[str, Any] = {
            **{name: n if n is None or n.bit_length() <= 1_000 else None for name, n in whole.items()},
            "log2_inputs": math.log2(self.inputs),
            "error": self.error,
            "log2_right": self.log2_right if math.isfinite(self.log2_right) else None,
            "exactness": self.exactness,
            "bounds": list(self.bounds),
            "method": self.method,
            "seconds": self.seconds,
        }
        if self.exact is not None and self.exact.denominator.bit_length() <= 256:
            content["exact"] = str(self.exact)
        if self.ci is not None:
            content["ci"] = list(self.ci)
        return content | dict(self.details)


def solve(
    description: Description,
    *,
    prior: Any = None,
    method: Method = "auto",
    limit: int = LIMIT,
    samples: int = 1_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> SolvedChannel:
    """The adversary's error. `prior`: None or "uniform" (or the attributes' probabilities, if the description has them), a mapping
    from attributes to probabilities (independent rows), from tables to probabilities, or a list with one for each table."""
    started = time.perf_counter()
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}.")
    if not 0.0 < confidence < 1.0 or samples < 2:
        raise InputError("An estimate needs a confidence between 0 and 1, and at least two samples.")
    domain, rows, demand, chosen = description.domain, description.rows, description.demand, description.rule()
    known = prior_of(description.prior if prior is None else prior, domain, rows)
    n = input_count(domain, rows)
    error: dict[str, Any] | None = None
    if method == "count" or (method == "auto" and isinstance(known, Uniform)):
        error = _by_counting(domain, rows, demand, chosen, known)
        if error is None and method == "count":
            raise InputError(
                "Counting alone gives the error for a uniform prior and a rule that is no function, and with t only for one "
                "sensitive attribute, few rows, and k or l of at least 2 or values that split at every level; "
                "use another method."
            )
    if error is None and method in ("auto", "enumerate", "orbits"):
        error = _table_by_table(domain, rows, demand, chosen, known, method, limit)
    if error is None:
        if isinstance(known, Listed):
            raise InputError("Tables that a prior lists are enumerated; leave the method out.")
        if domain.cells > LISTED:
            raise InputError(
                f"An estimate is made for at most {LISTED:,} combinations of quasi-identifiers, and there are {domain.cells:,}; "
                "a uniform prior, or a prior that lists tables, has no such limit."
            )
        envelope = Envelope(domain, rows, demand, chosen, known)
        rng = np.random.default_rng(seed)
        error = _uncertain(envelope, method == "bound", samples=samples, confidence=confidence, rng=rng)
    if error.get("outputs") is None:
        error["outputs"] = counting.outputs(domain, rows, demand)
    refused = counting.refused(domain, rows, demand)
    return SolvedChannel(inputs=n, refused=refused, **error, seconds=time.perf_counter() - started)


def _by_counting(domain: RowDomain, rows: int, demand: Demand, chosen: Rule, prior: Prior) -> dict[str, Any] | None:
    counted = counting.counted(domain, rows, demand, chosen) if isinstance(prior, Uniform) else None
    if counted is None:
        return None
    n = input_count(domain, rows)
    made, error = counted.reached + counted.withheld, counted.error(n)
    return {
        "outputs": counted.outputs,
        "reached": counted.reached,
        "error": float(error),
        "exact": error,
        "exactness": "exact",
        "bounds": (
            _unit(float(1 - Fraction(made, n))),
            float(1 - Fraction(1, n)),
        ),  # there may be more outputs than inputs
        "method": "count",
    }


def _table_by_table(
    domain: RowDomain, rows: int, demand: Demand, chosen: Rule, prior: Prior, method: Method, limit: int
) -> dict[str, Any] | None:
    """By enumeration or by orbits, whichever is the shorter, unless one was asked for; None if both are too long."""
    small, _ = reduced(domain, demand, prior)
    tables = len(prior.tables) if isinstance(prior, Listed) else input_count(small, rows)
    numbered = isinstance(prior, Listed) or symmetry.fits(small, rows)
    if method != "auto" and not numbered:
        raise InputError('There are too many tables to number them in 64 bits; use method = "sample".')
    if method == "orbits" and isinstance(prior, Listed):
        raise InputError(
            "Orbits are made for a uniform prior or for independent rows, not for tables that a prior lists."
        )
    group = None
    if method == "orbits" or (method == "auto" and numbered and tables > WORTH and not isinstance(prior, Listed)):
        group = symmetry.symmetries(small, prior)
        if method == "auto" and symmetry.effort(group, rows) > min(tables, max(limit, WORTH)):
            group = None
    if group is not None:
        summed = symmetry.by_orbits(domain, rows, demand, chosen, prior, group)
    elif method == "enumerate" or (numbered and (isinstance(prior, Listed) or tables <= limit)):
        summed = enumerated(domain, rows, demand, chosen, prior)
    else:
        return None
    exact = None if summed.exact is None else 1 - summed.exact
    return {
        "outputs": None if isinstance(prior, Listed) else summed.outputs,
        "reached": summed.reached,
        "error": _unit(1.0 - summed.right) if exact is None else float(exact),
        "exact": exact,
        "exactness": "exact",
        "bounds": _bounds(prior, summed.reached + summed.withheld),
        "method": "enumerate" if group is None else "orbits",
        "details": {} if group is None else {"symmetries": group.order},
    }


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _bounds(prior: Prior, made: int) -> tuple[float, float]:
    """Between a guess that each output betrays the likeliest table, and a guess without looking."""
    return _unit(1.0 - made * prior.largest), _unit(1.0 - prior.largest)


def _uncertain(
    envelope: Envelope, only_bounds: bool, *, samples: int, confidence: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Bounds, and an estimate between them unless they meet."""
    right = envelope.bounds
    bounds = (_unit(1.0 - right.high), _unit(1.0 - right.low))
    error: dict[str, Any] = {"reached": None, "bounds": bounds, "error": bounds[0], "method": "bound"}
    if right.high - right.low <= 1e-12 * right.high:
        return error | {"exactness": "exact"}
    if only_bounds:
        return error | {"exactness": "bound"}
    guess = estimate(envelope, samples=samples, confidence=confidence, rng=rng)
    return error | {
        "error": _unit(1.0 - guess.right),
        "exactness": "estimate",
        "ci": (_unit(1.0 - guess.high), _unit(1.0 - guess.low)),
        "method": "sample",
        "details": {"samples": guess.samples, "confidence": confidence, "resolved": guess.resolved},
    }


def channel(description: Description) -> Channel:
    """The matrix, sparse, of a small one: a row per table in rank order, a column per release that meets the demand, by node and rank;
    *nothing* last, if a table is not published. Inputs are named by their rows, outputs by node and rows."""
    domain, rows, demand = description.domain, description.rows, description.demand
    n = input_count(domain, rows)
    if n > CHANNEL:
        raise InputError(
            f"The channel has {n:,} inputs; a matrix is made for at most {CHANNEL:,}. `solve` needs no matrix."
        )
    tables = Ranks(domain.size, rows).unrank(np.arange(n))
    shares = RuleAnswers(description.rule())
    allowed = np.concatenate([demand.allowed(domain, part) for part in Ranks(domain.size, rows).chunks()])
    number, share = shares(allowed)
    at, to, p = [], [], []
    names: list[Any] = []
    for i, node in enumerate(domain.nodes):
        ok = np.flatnonzero(allowed[:, i])
        ranks = Ranks(domain.groups(node) * domain.values, rows)
        release = domain.released(node, tables[ok])
        made, column = np.unique(ranks.rank(release), return_inverse=True)
        at.append(ok)
        to.append(column.ravel() + len(names))
        p.append(share[number[ok], i])
        spelled = domain.row_names(node)
        names += [(node, tuple(spelled[d] for d in line)) for line in ranks.unrank(made)]
    silent = np.flatnonzero(~np.any(share, axis=1)[number])
    if len(silent):
        at.append(silent)
        to.append(np.full(len(silent), len(names)))
        p.append(np.ones(len(silent)))
        names.append("nothing")
    entries = (np.concatenate(p), (np.concatenate(at), np.concatenate(to)))
    spelled = domain.row_names((0,) * len(domain.quasi))
    inputs = [tuple(spelled[d] for d in line) for line in tables]
    return Channel(matrix=sparse().csr_array(entries, shape=(n, len(names))), inputs=inputs, outputs=names)
