"""The worst prior of a small channel in exact rationals, proved without a floating-point number.

A floating-point vertex only says which inputs and which entries matter. Then two systems of linear equations are solved in
fractions: `pi_x C_xy = z_y` on these entries with `sum pi = 1`, and guesses `w` on them with `sum_x w_xy = 1` for every output
and `sum_y w_xy C_xy = v` for every such input. If w is not negative, no other input is guessed right less often than v, and v is
`1 - error(pi)`, then pi is optimal (see `worst_prior`), and nothing of this depends on where the entries came from.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.channel.exact import ExactChannel
from sfumato.channel.worst_prior import worst_prior
from sfumato.core.noun import dataclass


@dataclass(frozen=True)
class ExactWorstPrior:
    """The prior, its error, which no prior exceeds, and the guesses `(input, output)` that prove it."""

    prior: tuple[Fraction, ...]
    error: Fraction
    guess: dict[tuple[int, int], Fraction]


def exact_worst_prior(channel: ExactChannel) -> ExactWorstPrior | None:
    """The worst prior, exactly; None where the vertex is degenerate, so that the equations do not determine it."""
    cells = channel.cells
    n, m = len(cells), len(cells[0])
    near = worst_prior(channel.floats(), gain=np.eye(n), solver="simplex")
    used = [x for x in range(n) if near.prior[x] > 1e-9]
    told = [y for y in range(m) if any(row[y] for row in cells)]
    tight = [(x, y) for y in told for x in used if near.guess[x, y] > 1e-9]
    place = {x: i for i, x in enumerate(used)}
    level = {y: len(used) + i for i, y in enumerate(told)}
    equations, sides = [], []
    for x, y in tight:  # pi_x C_xy - z_y = 0
        equations.append({place[x]: cells[x][y], level[y]: Fraction(-1)})
        sides.append(Fraction(0))
    equations.append(dict.fromkeys(place.values(), Fraction(1)))
    sides.append(Fraction(1))
    found = solved(equations, sides, len(used) + len(told))
    at = {entry: i for i, entry in enumerate(tight)}
    equations, sides = [], []
    for y in told:
        equations.append({at[e]: Fraction(1) for e in tight if e[1] == y})
        sides.append(Fraction(1))
    for x in used:  # sum_y w_xy C_xy - v = 0
        equations.append({**{at[e]: cells[x][e[1]] for e in tight if e[0] == x}, len(tight): Fraction(-1)})
        sides.append(Fraction(0))
    shares = solved(equations, sides, len(tight) + 1)
    if found is None or shares is None:
        return None
    prior = [Fraction(0)] * n
    for x in used:
        prior[x] = found[place[x]]
    guess, value = {entry: shares[i] for entry, i in at.items()}, shares[-1]
    if min(prior) < 0 or min(guess.values()) < 0:
        return None
    right = [sum((guess.get((x, y), Fraction(0)) * cells[x][y] for y in told), Fraction(0)) for x in range(n)]
    error = channel.error(prior)
    return ExactWorstPrior(tuple(prior), error, guess) if min(right) == value == 1 - error else None


def solved(equations: list[dict[int, Fraction]], sides: list[Fraction], unknowns: int) -> list[Fraction] | None:
    """The one solution of linear equations, by elimination in fractions; None if there is none, or more than one."""
    rows = [
        [row.get(i, Fraction(0)) for i in range(unknowns)] + [side] for row, side in zip(equations, sides, strict=True)
    ]
    for i in range(unknowns):
        pivot = next((j for j in range(i, len(rows)) if rows[j][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [cell / rows[i][i] for cell in rows[i]]
        for j, row in enumerate(rows):
            if j != i and row[i]:
                rows[j] = [a - row[i] * b for a, b in zip(row, rows[i], strict=True)]
    if any(row[-1] for row in rows[unknowns:]):
        return None
    return [row[-1] for row in rows[:unknowns]]
