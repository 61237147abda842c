"""The largest error over all priors: the open challenge of sec. 3, as a linear program.

`min sum_y z_y` with `z_y >= pi_x C_xy` and pi a distribution; the largest error is 1 less that. Its dual is a game: the
adversary says input x after output y with probability `w_xy`, and wants to be right in at least a share v of the cases
whatever the input is, `sum_y w_xy C_xy >= v` for all x. So a prior proves a lower bound of the largest error, its own
error, and a way to guess proves an upper one, and both are checked here by arithmetic, whatever the solver says. (The
smallest error over all priors is 0, at any point mass.)
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.cover import BoolArray
from ..core.errors import InputError, Unavailable
from ..core.metric import Exactness
from ..core.noun import dataclass
from .adversary import error, gains
from .channel import Channel, sparse
from .leakage import CLOSED
from .linear_program import Solver, minimise
from .prior_game import play

INTERIOR = 400_000
"""Entries up to which the interior point is used; beyond, the game is played, which needs no factorisation."""
CELLS = 20_000_000
"""The linear program with a gain function has a cell for each guess, output and input that goes with it."""


@dataclass(frozen=True, eq=False)
class WorstPrior:
    """`low <= largest error <= high`: `prior` has the error `low`, and guessing by `guess` fails at most in `high`.

    `guess[i]` is the probability that the adversary says the input of entry i of the channel after its output (with a gain
    function: a row for each guess, a column for each output). `right[x]` is how often that is right when x is true; inputs
    of parts of the channel that cannot matter are guessed blindly within their part, and have 0 in `guess`.
    """

    prior: FloatArray
    low: float
    high: float
    guess: FloatArray
    right: FloatArray
    solver: str

    @property
    def error(self) -> float:
        """What was reached: the error under `prior`."""
        return self.low

    @property
    def gap(self) -> float:
        """How far the bounds are apart."""
        return self.high - self.low

    @property
    def exactness(self) -> Exactness:
        """Exact once the bounds meet within 1e-9."""
        return "exact" if self.gap <= CLOSED else "bound"


def worst_prior(
    channel: Channel,
    *,
    gain: FloatArray | None = None,
    solver: Solver | Literal["game"] | None = None,
    tolerance: float = 1e-4,
    seconds: float | None = None,
) -> WorstPrior:
    """The prior under which the adversary errs most, that error, and its certificate.

    Extremes: error 0 for the identity, 1 - 1/n at the uniform prior for a channel that tells nothing. `tolerance` is the
    gap at which the game (and PDLP, relative) stops, which leaves an interval; `seconds` stops any method, and what it has by then is checked.
    A channel whose inputs fall into parts that share no output is as hard to guess as its hardest part.
    """
    if gain is not None:
        if solver == "game":
            raise InputError("The game is not played with a gain function; leave the solver out.")
        return _with_gain(channel, gains(gain, channel), solver or "ipm", seconds)
    part, size, best = _parts(channel)
    hardest = int(np.argmin(best))
    prior = np.where(part == hardest, 1.0 / size[hardest], 0.0)
    right = 1.0 / size[part].astype(np.float64)  # a blind guess within the part
    guess = np.zeros(len(channel.entries[0]))
    method = "closed form"
    # a part of s inputs cannot be harder than 1/s, so most parts are out of the question at once
    open_ = np.flatnonzero(1.0 / size < best[hardest] * (1 - 1e-12))
    if len(open_):
        inputs = np.flatnonzero(np.isin(part, open_))
        mine = np.isin(channel.entries[0], inputs)
        method, worst, guess[mine], right[inputs] = _solve(channel, inputs, mine, solver, tolerance, seconds)
        if _missed(channel, worst) < _missed(channel, prior):
            prior = worst
    low = max(1.0 - _missed(channel, prior), 0.0)  # rounding
    return WorstPrior(prior, low, max(1.0 - float(right.min()), low), guess, right, method)


def _missed(channel: Channel, prior: FloatArray) -> float:
    return 1.0 - error(channel, prior)


def _parts(channel: Channel) -> tuple[IntArray, IntArray, FloatArray]:
    """The part of each input, the inputs of each part, and how often a guess is right in it under its uniform prior."""
    part, of_output = channel.parts
    size = np.bincount(part)
    return part, size, np.bincount(of_output, weights=channel.largest(), minlength=len(size)) / size


def _alike(x: IntArray, y: IntArray, value: FloatArray, n: int) -> IntArray:
    """A number for each input, the same for inputs whose rows are equal; entries are by input and then by output.

    Rows are told apart by a random sum of theirs, and those that it does not tell apart are compared entry by entry.
    """
    weight = np.random.default_rng(0).random(int(y.max()) + 1)
    _, first, group = np.unique(np.bincount(x, weights=value * weight[y], minlength=n), return_index=True, return_inverse=True)  # fmt: skip
    length, start = np.bincount(x, minlength=n), np.searchsorted(x, np.arange(n))
    model = first[group]
    if (length == length[model]).all():
        twin = start[model][x] + np.arange(len(x)) - start[x]
        if (y == y[twin]).all() and (value == value[twin]).all():
            return group.astype(np.int64)
    return np.arange(n)


def _solve(
    channel: Channel,
    inputs: IntArray,
    mine: BoolArray,
    solver: Solver | Literal["game"] | None,
    tolerance: float,
    seconds: float | None,
) -> tuple[str, FloatArray, FloatArray, FloatArray]:
    """The linear program over some inputs: who solved it, a prior, a guess for each of their entries, and how often it is right.

    The error is concave in the prior, and so inputs of equal rows may have equal shares: s of them are one input in the
    program, whose entries count 1/s.
    """
    row, column, value = channel.entries
    row, column, value = row[mine], column[mine], value[mine]
    x = np.searchsorted(inputs, row)
    outputs, y = np.unique(column, return_inverse=True)
    group = _alike(x, y, value, len(inputs))
    members = np.bincount(group)
    _, kept = np.unique(group[x] * len(outputs) + y, return_index=True)
    gx, gy = group[x[kept]], y[kept]
    worth = value[kept] / members[gx]
    n, m, entries = len(members), len(outputs), len(kept)
    which = solver or ("ipm" if entries <= INTERIOR or n + m <= 10_000 else "game")
    if which == "game":
        played = play(gx, gy, worth, members / len(inputs), gap=tolerance, seconds=seconds)
        pi, share = played.prior, played.guess
    else:
        pi, share = _programmed(gx, gy, worth, (n, m), which, tolerance, seconds)
    prior = np.zeros(channel.shape[0])
    prior[inputs] = (pi / members)[group]
    at = np.searchsorted(gx * m + gy, group[x] * m + y)  # `kept` is in this order
    guess = share[at] / members[group[x]]
    right = np.bincount(x, weights=guess * value, minlength=len(inputs)).astype(np.float64, copy=False)
    return which, prior, guess, right


def _programmed(
    x: IntArray,
    y: IntArray,
    worth: FloatArray,
    shape: tuple[int, int],
    solver: Solver,
    tolerance: float,
    seconds: float | None,
) -> tuple[FloatArray, FloatArray]:
    """By linear programming: `z_y - C_xy pi_x >= 0` for every entry, and `sum pi = 1`; a prior, and a guess for each entry."""
    (n, m), entries, kit = shape, len(x), sparse()
    each = np.arange(entries)
    cells = np.concatenate([-worth, np.ones(entries), np.ones(n)])
    places = (np.concatenate([each, each, np.full(n, entries)]), np.concatenate([x, n + y, np.arange(n)]))
    solved = minimise(
        np.concatenate([np.zeros(n), np.ones(m)]),
        kit.csr_array((cells, places), shape=(entries + 1, n + m)),
        np.append(np.zeros(entries), 1.0),
        np.append(np.full(entries, np.inf), 1.0),
        solver=solver,
        tolerance=tolerance,
        seconds=seconds,
    )
    return _distribution(solved.x[:n], np.zeros(n, dtype=np.int64), 1), _distribution(
        solved.multipliers[:entries], y, m
    )


def _distribution(values: FloatArray, group: IntArray, count: int) -> FloatArray:
    """The nearest thing to a distribution within each group: negative parts are cut off, and the rest sums to 1."""
    if not len(values):
        raise Unavailable("The solver stopped before it had anything; give it more seconds.")
    cut = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
    total = np.bincount(group, weights=cut, minlength=count)
    members = np.bincount(group, minlength=count)
    return np.where(total[group] > 0, cut / np.where(total > 0, total, 1.0)[group], 1.0 / members[group])


def _with_gain(channel: Channel, worth: FloatArray, solver: Solver, seconds: float | None) -> WorstPrior:
    """`z_y >= sum_x pi_x C_xy g(w, x)` for every guess w: a dense program, for small channels."""
    (n, m), guesses = channel.shape, len(worth)
    if n * m * guesses > CELLS:
        raise InputError(
            f"A worst prior with a gain function is for small channels: inputs x outputs x guesses up to {CELLS:,}."
        )
    kit, matrix = sparse(), channel.dense()
    terms = np.einsum("wx,xy->wyx", worth, matrix).reshape(guesses * m, n)
    rows = kit.vstack(
        [
            kit.hstack([kit.csr_array(-terms), kit.csr_array(np.tile(np.eye(m), (guesses, 1)))]),
            kit.csr_array(np.append(np.ones(n), np.zeros(m))[None]),
        ]
    )
    solved = minimise(
        np.concatenate([np.zeros(n), np.ones(m)]),
        rows,
        np.append(np.zeros(guesses * m), 1.0),
        np.append(np.full(guesses * m, np.inf), 1.0),
        solver=solver,
        seconds=seconds,
    )
    prior = _distribution(solved.x[:n], np.zeros(n, dtype=np.int64), 1)
    guess = _distribution(solved.multipliers[:-1], np.tile(np.arange(m), guesses), m).reshape(guesses, m)
    right = np.einsum("xy,wy,wx->x", matrix, guess, worth)
    low = error(channel, prior, gain=worth)
    made = WorstPrior(prior, low, max(1.0 - float(right.min()), low), guess, right, solver)
    if (
        solver == "ipm" and made.gap > 1e-7
    ):  # of several optimal guesses it may name one that is none; a vertex is checked to be
        return min(made, _with_gain(channel, worth, "simplex", seconds), key=lambda each: each.gap)
    return made
