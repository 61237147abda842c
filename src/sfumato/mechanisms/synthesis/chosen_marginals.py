"""Which marginals are measured, and what each may cost.

independent, chain   without looking at the data: every column, or every column with the next one.
tree       MST (McKenna, Miklau, Sheldon 2021): every column for a third of the whole, for a third the pairs of a spanning tree, chosen by
           how far each is from independence, and for the rest their counts.
adaptive   after AIM (McKenna, Mullins, Sheldon, Miklau 2022): every column first; then, again and again, the pair that the fit explains
           worst is chosen and measured. A round that taught much less than noise would have halves the noise of the next ones (budget
           annealing); the last round takes what is left. Pairs that would make the junction tree larger than its limit, which grows
           with what was spent, are no candidates. AIM scores a pair by sum |count - expected| less the mean size of the noise on all its
           cells, so that a large pair is out of the question though few of its cells are far off. With Gaussian noise, which allows
           many rounds, every cell counts by itself here: by what it is off beyond that size, never less than nothing, which
           is about what measuring it would mend. In pure epsilon rounds are dear, and AIM's own score is kept: it did better there.

Scores are whole numbers that one row changes by at most the stated sensitivity; all else follows from noisy counts and costs nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...core.mechanism import Progress
from ...core.randomness import Chance
from .junction_tree import Columns, JunctionTree
from .measured_marginals import GRID, MeasuredMarginals

ROUNDS = 16
"""Rounds that are planned for each column; annealing makes them fewer (AIM: T = 16 d)."""
SINGLES = {False: 3, True: 5}
"""Rounds that a single column costs (AIM: 1, less its choice): later scores lean on these counts most. By whether noise is Gaussian."""
TAUGHT = {False: 1.0, True: 0.15}
"""The noise is halved after a round that moved its cells by less than this part of their noise (AIM: 1). Coarse rounds are cheap where noise
falls with the root of what it costs, and tell of other pairs."""
CHOICE = Fraction(1, 10)
"""The share of a round that its choice costs (AIM: 1 - alpha)."""
MOST_CELLS = 400_000
"""Cells of the junction tree at most: memory, and the time of each step of a fit, follow them."""


def independent(measured: MeasuredMarginals, chance: Chance, progress: Progress) -> None:
    """Every column, for the same cost."""
    _singles(measured, measured.account.whole, progress, 0.8)


def chain(measured: MeasuredMarginals, chance: Chance, progress: Progress) -> None:
    """Every column with the next one, for the same cost."""
    pairs = list(itertools.pairwise(range(len(measured.sizes))))
    for i, pair in enumerate(pairs):
        measured.measure(pair, measured.account.whole / len(pairs))
        progress(0.8 * (i + 1) / len(pairs))


def tree(measured: MeasuredMarginals, chance: Chance, progress: Progress) -> None:
    """A spanning tree: each step a pair that joins two parts, the farther from independence the likelier."""
    account, width = measured.account, len(measured.sizes)
    third = account.whole / 3
    _singles(measured, third, progress, 0.2)
    fitted = measured.fitted()
    single = [fitted.marginal((i,)) for i in range(width)]
    pairs = list(itertools.combinations(range(width), 2))
    expected = [max(measured.rows, 1.0) * np.outer(single[a], single[b]) for a, b in pairs]
    scores = dict(zip(pairs, measured.distances(pairs, expected).tolist(), strict=True))
    part = list(range(width))
    chosen: list[Columns] = []
    while len(chosen) < width - 1:
        open_ = [(a, b) for a, b in pairs if part[a] != part[b]]
        values = np.array([scores[pair] for pair in open_], dtype=np.int64)
        at = account.choose(values, GRID, third / (width - 1), f"the choice of pair {len(chosen) + 1}")
        a, b = open_[at]
        chosen.append((a, b))
        part = [part[a] if p == part[b] else p for p in part]
    for i, pair in enumerate(chosen):
        measured.measure(pair, account.left / (len(chosen) - i))
        progress(0.4 + 0.4 * (i + 1) / width)


def adaptive(measured: MeasuredMarginals, chance: Chance, progress: Progress) -> None:
    """Rounds of choosing, measuring and fitting until everything is spent."""
    account, width = measured.account, len(measured.sizes)
    each = account.whole / (ROUNDS * width)
    gaussian = account.halving > 2
    for i in range(width):
        measured.measure((i,), each * SINGLES[gaussian])
    sets: list[Columns] = [(i,) for i in range(width)]
    pairs = [pair for pair in itertools.combinations(range(width), 2) if measured.size(pair) <= MOST_CELLS]
    # a pair is worth as much as its columns take part in the pairs that count (AIM: the weights of a workload of all pairs)
    worth = {columns: sum(len(set(columns) & set(pair)) for pair in pairs) for columns in [*sets, *pairs]}
    fitted = measured.fitted()
    sizes: dict[Columns, int] = {}
    number = 0
    while account.left > 0:
        number += 1
        if account.left < 2 * each:
            each = account.left
        limit = max(fitted.tree.cells, MOST_CELLS * float(1 - account.left / account.whole))
        candidates = _room(measured, fitted.tree, sets, list(worth), limit, sizes)
        sample = measured.sample(fitted, chance)
        before = [sample.expected(columns) for columns in candidates]
        cost = each * (1 - CHOICE)
        noise = account.mean_size(cost)
        weights = np.array([worth[columns] for columns in candidates], dtype=np.int64)
        scores = measured.distances(candidates, before, beyond=round(GRID * noise) if gaussian else 0)
        if not gaussian:
            scores -= np.array([round(GRID * noise * measured.size(columns)) for columns in candidates])
        scores *= weights
        at = account.choose(scores, GRID * int(weights.max()), each * CHOICE, f"choice {number}")
        columns = candidates[at]
        measured.measure(columns, cost)
        if columns not in sets:
            sets.append(columns)
            sizes.clear()
        fitted = measured.fitted()
        progress(0.8 * float(account.spent / account.whole))
        taught = float(np.abs(fitted.marginal(columns) * measured.rows - before[at]).sum())
        if taught <= TAUGHT[gaussian] * noise * measured.size(columns):
            each = min(each * account.halving, account.left)


WAYS: dict[str, Callable[[MeasuredMarginals, Chance, Progress], None]] = {
    "adaptive": adaptive,
    "tree": tree,
    "chain": chain,
    "independent": independent,
}


def _singles(measured: MeasuredMarginals, cost: Fraction, progress: Progress, share: float) -> None:
    width = len(measured.sizes)
    for i in range(width):
        measured.measure((i,), cost / width)
        progress(share * (i + 1) / width)


def _room(
    measured: MeasuredMarginals,
    tree: JunctionTree,
    sets: list[Columns],
    candidates: list[Columns],
    limit: float,
    sizes: dict[Columns, int],
) -> list[Columns]:
    """The candidates that lie in a clique, or whose tree would keep within the limit; `sizes` remembers how large that would be."""
    inside = [set(clique) for clique in tree.cliques]

    def cells(columns: Columns) -> int:
        if columns not in sizes:
            sizes[columns] = JunctionTree.over(measured.sizes, [*sets, *measured.impossible, columns]).cells
        return sizes[columns]

    return [c for c in candidates if any(set(c) <= clique for clique in inside) or cells(c) <= limit]
