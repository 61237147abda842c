"""The numbers of Askari, Safavi-Naini and Barker (2012) side by side with ours: the appendix' channel and the k-anonymity example."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np

from ..channel.adversary import error, santhi_vardy
from ..channel.channel import Channel
from ..channel.exact import ExactChannel
from ..channel.k_anonymity import parse, solve
from ..channel.leakage import conditional_entropy
from ..channel.worst_prior import worst_prior
from ..core.column import IntArray
from .check import Paper, PaperDraft, PaperNumber, beside, number, only
from .tables import Progress, unheard

APPENDIX = (("5/17", "2/17", "0", "10/17"), ("0", "20/35", "5/35", "10/35"), ("15/28", "5/28", "3/28", "5/28"), ("5/20", "8/20", "0", "7/20"))  # fmt: skip
ROWS, K = 5, 2
SIZES = (4, 2, 3)
"""Ages, genders and diseases; the disease is kept as it is."""
EXAMPLE = {
    "rows": ROWS,
    "k": K,
    "attribute": [
        {"name": "age", "role": "quasi", "levels": [["a", "b", "c", "d"], ["ab", "ab", "cd", "cd"], ["*"] * 4]},
        {"name": "gender", "role": "quasi", "levels": [["f", "m"], ["*", "*"]]},
        {"name": "disease", "role": "sensitive", "levels": [["x", "y", "z"]]},
    ],
}
"""Section 5: four ages in two groups, two genders, three diseases, five rows."""
RULES = ("uniform", "minimal", "deterministic", "most general")


def reproduce(data: Path | None = None, progress: Progress | None = None) -> Paper:
    """Everything the paper prints, computed again in seconds; it uses no data."""
    paper = PaperDraft("askari", "Askari et al. 2012", differences=["Figures 1 to 5 are drawings without numbers."])
    channel = _appendix(paper)
    (progress or unheard)(0.2, "publishing rules")
    _example(paper)
    worst = worst_prior(channel)
    paper.check("no error exceeds that of the worst prior", error(channel) <= worst.error + 1e-12, f"{worst.error:.6f}")
    return paper.done()


def _appendix(paper: PaperDraft) -> Channel:
    """The four tables of the appendix, and eq. 3, 6 and 7 on them."""
    exact = ExactChannel(rows=tuple(tuple(Fraction(cell) for cell in row) for row in APPENDIX))
    channel = exact.floats()
    n = len(APPENDIX)
    flat = Channel(matrix=np.full((n, n), 1 / n))
    worst = worst_prior(channel)
    spelled = ", ".join(f"{p:.4f}" for p in worst.prior)
    entropy = conditional_entropy(channel)
    lines = (
        beside("error, uniform prior (eq. 26)", "0.54", error(channel), note=f"{exact.error()} in full"),
        beside("error, prior on one table", "0", error(channel, np.eye(n)[0])),
        beside("error, all tables published alike (eq. 27)", "0.75", error(flat)),
        only("H(T|T') in bits", entropy),
        only("the Santhi-Vardy bound (eq. 6)", santhi_vardy(channel), exactness="bound"),
        only("the largest error over all priors, a challenge that sec. 3 names", worst.error, note=f"at {spelled}", exactness=worst.exactness),
    )  # fmt: skip
    as_printed = 1 - sum(max(exact.posterior(y)) for y in range(n)) / Fraction(n)
    nothing = 1 - Fraction(1, n) * Fraction(1, n)  # one output: every posterior is the prior
    paper.erratum(
        "eq. 3",
        "1 - 1/n sum over T' of max P(T|T')",
        "1 - 1/n sum over T' of max P(T'|T), as in the bounds below it and in eq. 26",
        f"On the appendix' channel the printed form gives {as_printed} = {float(as_printed):.4f} and the right one {exact.error()} = 0.5404, "
        f"which eq. 26 prints as 0.54. For a mechanism that publishes one and the same table it gives {nothing}, above the largest "
        f"error there is, 1 - 1/n = {1 - Fraction(1, n)}.",
        as_printed != exact.error() and round(float(exact.error()), 2) == 0.54 and nothing > 1 - Fraction(1, n),
    )
    paper.erratum(
        "eq. 7",
        "H(T|T') without a minus sign",
        "minus the sum",
        f"Logarithms of probabilities are not positive, so the printed sum is {-entropy:.4f} on the appendix' channel, and eq. 6 would bound the "
        f"error {error(channel):.4f} by {1 - 2**entropy:.4f}; with the sign by {santhi_vardy(channel):.4f}.",
        1 - 2**entropy < error(channel) <= santhi_vardy(channel),
    )
    paper.erratum(
        "sec. 4.1.1, the adversary who knows nothing",
        f"the error probability or the success rate is 1 - 1/n = {1 - Fraction(1, n)}",
        f"that is the error; the success rate is 1/n = {Fraction(1, n)}",
        f"Who picks one of n = {n} tables at random is right once in {n}. A channel that publishes one and the same table tells nothing, and its error is {number(error(flat))}.",
        abs(error(flat) - (1 - 1 / n)) < 1e-12 and 1 - Fraction(1, n) != Fraction(1, n),
    )
    paper.part("Appendix: a channel of four tables", *lines)
    return channel


def _example(paper: PaperDraft) -> None:
    """Section 5: tables of five rows, their 2-anonymous releases, and what publishing rules leak."""
    channels = {rule: solve(parse({**EXAMPLE, "publish": rule})) for rule in RULES}
    by = {rule: one.error for rule, one in channels.items()}
    uniform = channels["uniform"]
    tables = _tables()
    ages, genders, diseases = SIZES
    cells = ages * genders
    counted = int(_every_cell_holds(tables // diseases, K).sum())
    any_release = sum(comb(a * g * diseases + ROWS - 1, ROWS) for a, g in itertools.product((4, 2, 1), (2, 1)))
    lines: tuple[PaperNumber, ...] = (
        beside("tables of 5 rows over 4 x 2 x 3 values (eq. 21)", "98280", uniform.inputs, note=f"{len(tables):,} listed one by one"),
        only("generalizations of age and gender (eq. 22)", 3 * 2),
        only("releases of 5 rows, 2-anonymous or not (eq. 24)", any_release),
        beside("2-anonymous releases, nothing generalized (eq. 25)", "36", _coefficient(cells, diseases, K, ROWS), wrong=[0]),
        only("2-anonymous releases, all generalizations", uniform.outputs or 0),
        *(only(f"error, publishing {rule}", one.error, note=str(one.exact or ""), exactness=one.exactness) for rule, one in channels.items()),
    )  # fmt: skip
    paper.check(
        "deterministic publishing leaks more than uniform publishing (the headline)",
        by["deterministic"] < by["uniform"],
        f"{by['deterministic']:.4f} against {by['uniform']:.4f}",
    )
    paper.check(
        "eq. 25, corrected, counts what a list of all tables counts",
        counted == _coefficient(cells, diseases, K, ROWS),
        f"{counted:,}",
    )
    alone = _coefficient(cells, 1, K, ROWS)
    listed = int(_every_cell_holds(np.unique(tables // diseases, axis=0), K).sum())
    # One released table, age and gender suppressed, with the diseases x, x, x, y, z: how many inputs lie behind it?
    behind = int((np.sort(tables % diseases, axis=1) == [0, 0, 0, 1, 2]).all(axis=1).sum())
    product = comb(cells + 2, 3) * cells * cells
    printed_sum = ROWS * (ages + genders + 1)
    outputs = uniform.outputs or 1
    paper.erratum(
        "eq. 25",
        f"{_eq_25(cells, K, ROWS)} releases with nothing generalized, for k = {K} and r = {ROWS}",
        f"{counted:,}, the coefficient of x^r in (1 + sum over j >= k of C(j + s - 1, j) x^j)^M with M = {cells} cells and s = {diseases} diseases",
        f"Of the {len(tables):,} tables, listed one by one, {counted:,} have no age and gender that only one row has. The formula forgets the disease, "
        f"and what is left of r by k: even without the disease there are {listed}, as {cells} cells can hold all five rows, and "
        f"{cells * (cells - 1)} ordered pairs three and two.",
        _eq_25(cells, K, ROWS) == 36
        and counted == _coefficient(cells, diseases, K, ROWS)
        and listed == alone == cells + cells * (cells - 1),
    )
    paper.erratum(
        "sec. 5.5, the inputs behind a release",
        f"a sum over its generalized values: {printed_sum} for five rows with age and gender suppressed and the diseases x, x, x, y, z",
        f"{product:,}, a product over its distinct rows, up to the order of equal ones: C(8 + 2, 3) x 8 x 8",
        f"Of the {len(tables):,} tables {behind:,} have these diseases, and each can be released so.",
        behind == product != printed_sum,
    )
    paper.erratum(
        "sec. 5.3 and 5.4, the letters",
        "m inputs and n outputs",
        "n inputs and m outputs, as in sec. 4.1",
        f"With {uniform.inputs:,} inputs and {outputs:,} outputs the bound 1 - m/n of sec. 4.1 would be {1 - uniform.inputs / outputs:.2f}, which says nothing; "
        f"with the letters of sec. 4.1 it is {1 - outputs / uniform.inputs:.4f}, and no rule falls below it.",
        1 - uniform.inputs / outputs < 0 and all(1 - outputs / uniform.inputs <= e + 1e-12 for e in by.values()),
    )
    paper.erratum(
        "abstract and sec. 1, that deterministic publishing reduces privacy",
        "said of the property as such",
        "true of publishing the least generalized release; no theorem",
        f"A deterministic rule that always publishes the most general release has the error {by['most general']:.6f}, publishing "
        f"all releases alike {by['uniform']:.6f}, and the least generalized {by['deterministic']:.6f}.",
        by["most general"] > by["uniform"] > by["deterministic"],
    )
    paper.part("Section 5: 2-anonymity of five rows as a channel", *lines)


def _tables() -> IntArray:
    """Every table of five rows, up to their order, one a line: the input set of the example, listed and not counted."""
    values = SIZES[0] * SIZES[1] * SIZES[2]
    return np.array(list(itertools.combinations_with_replacement(range(values), ROWS)), dtype=np.int64)


def _every_cell_holds(cells: IntArray, k: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Of which tables every row shares its cell with at least k - 1 others."""
    alike = (cells[:, :, None] == cells[:, None, :]).sum(axis=2)
    met: np.ndarray[tuple[int], np.dtype[np.bool_]] = (alike >= k).all(axis=1)
    return met


def _eq_25(cells: int, k: int, rows: int) -> int:
    """Eq. 25 as it is printed."""
    groups = rows // k
    return sum(comb(cells, groups - i) * comb(groups - i + i * k - 1, i * k) for i in range(groups))


def _coefficient(cells: int, values: int, k: int, rows: int) -> int:
    """The coefficient of x^rows in (1 + sum_{j >= k} C(j + values - 1, j) x^j)^cells."""
    cell = [1] + [comb(j + values - 1, j) if j >= k else 0 for j in range(1, rows + 1)]
    whole = [1] + [0] * rows
    for _ in range(cells):
        whole = [sum(whole[i] * cell[j - i] for i in range(j + 1)) for j in range(rows + 1)]
    return whole[rows]
