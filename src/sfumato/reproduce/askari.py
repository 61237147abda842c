"""The numbers of Askari, Safavi-Naini and Barker (2012) side by side with ours: the appendix' channel and the k-anonymity example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from ..channel.adversary import error, santhi_vardy
from ..channel.channel import Channel
from ..channel.exact import ExactChannel
from ..channel.k_anonymity import parse, solve
from ..channel.leakage import conditional_entropy
from ..channel.worst_prior import worst_prior
from .check import Check, Line

APPENDIX = (("5/17", "2/17", "0", "10/17"), ("0", "20/35", "5/35", "10/35"), ("15/28", "5/28", "3/28", "5/28"), ("5/20", "8/20", "0", "7/20"))  # fmt: skip
EXAMPLE = {
    "rows": 5,
    "k": 2,
    "attribute": [
        {"name": "age", "role": "quasi", "levels": [["a", "b", "c", "d"], ["ab", "ab", "cd", "cd"], ["*"] * 4]},
        {"name": "gender", "role": "quasi", "levels": [["f", "m"], ["*", "*"]]},
        {"name": "disease", "role": "sensitive", "levels": [["x", "y", "z"]]},
    ],
}
"""Section 5: four ages in two groups, two genders, three diseases, five rows."""

ERRATA = (
    "Eq. 3 prints P(T|T') inside the maximum; the appendix uses P(T'|T), which is right.",
    "Eq. 7 lacks the minus sign of the entropy: the bound is 1 - 2^(-H(T|T')).",
    "Eq. 25 forgets the sensitive column and the rest of r by k: at k = 2, r = 5, 8 cells and 3 diseases it gives 36, the truth is 3,528 "
    "(the coefficient of x^5 in (1 + sum over j >= 2 of C(j+2, j) x^j)^8).",
    "That deterministic publishing leaks more is true of its example and no theorem: always publishing the most general release leaks least.",
    "Section 5.5 prints a sum for the inputs behind a release; it is a product over its generalized values, up to the order of rows.",
)


@dataclass(frozen=True)
class Reproduction:
    """Lines, shapes and errata."""

    lines: tuple[Line, ...]
    checks: tuple[Check, ...]
    errata: tuple[str, ...] = ERRATA


def reproduce(progress: Callable[[float, str], None] | None = None) -> Reproduction:
    """Everything the paper prints, computed again; seconds."""
    say = progress or (lambda share, text: None)
    exact = ExactChannel(rows=tuple(tuple(Fraction(cell) for cell in row) for row in APPENDIX))
    channel = exact.floats()
    point = np.array([1.0, 0.0, 0.0, 0.0])
    worst = worst_prior(channel)
    flat = Channel(matrix=np.full((4, 4), 0.25))
    lines = [
        Line("appendix: error, uniform prior", "0.54", f"{error(channel):.6f}", "exact", str(exact.error())),
        Line("appendix: error, prior on one table", "0", f"{error(channel, point):g}", "exact", ""),
        Line("a channel that tells nothing, 4 tables", "0.75", f"{error(flat):g}", "exact", ""),
        Line("appendix: H(T|T') in bits", "-", f"{conditional_entropy(channel):.6f}", "exact", ""),
        Line("appendix: Santhi-Vardy bound", "-", f"{santhi_vardy(channel):.6f}", "bound", "eq. 7 with its sign"),
        Line(
            "appendix: largest error over all priors", "open", f"{worst.error:.6f}", worst.exactness,
            "at " + ", ".join(f"{p:.4f}" for p in worst.prior),
        ),
    ]  # fmt: skip
    say(0.2, "publishing rules")
    found = {
        rule: solve(parse({**EXAMPLE, "publish": rule}))
        for rule in ("uniform", "minimal", "deterministic", "most general")
    }
    uniform = found["uniform"]
    truth = _coefficient(8, 3, 2, 5)
    lines += [
        Line("tables of 5 rows over 4 x 2 x 3 values (eq. 21)", "98,280", f"{uniform.inputs:,}", "exact", ""),
        Line("2-anonymous releases, ungeneralized node (eq. 25)", "36", f"{truth:,}", "exact", "see errata"),
        Line("2-anonymous releases, all nodes", "-", f"{uniform.outputs or 0:,}", "exact", ""),
        *(
            Line(f"error, publishing {rule}", "-", f"{one.error:.10f}", one.exactness, str(one.exact or ""))
            for rule, one in found.items()
        ),
    ]
    by = {rule: one.error for rule, one in found.items()}
    checks = (
        Check(
            "deterministic publishing leaks more than uniform publishing (the headline)",
            by["deterministic"] < by["uniform"],
            f"{by['deterministic']:.4f} against {by['uniform']:.4f}",
        ),
        Check(
            "always the most general release leaks less than both (so it is no theorem)",
            by["most general"] > max(by["uniform"], by["deterministic"]),
            f"{by['most general']:.6f}",
        ),
        Check("no error exceeds that of the worst prior", error(channel) <= worst.error + 1e-12, f"{worst.error:.6f}"),
    )
    return Reproduction(tuple(lines), checks)


def _coefficient(cells: int, values: int, k: int, rows: int) -> int:
    """The coefficient of x^rows in (1 + sum_{j >= k} C(j + values - 1, j) x^j)^cells."""
    cell = [1] + [comb(j + values - 1, j) if j >= k else 0 for j in range(1, rows + 1)]
    whole = [1] + [0] * rows
    for _ in range(cells):
        whole = [sum(whole[i] * cell[j - i] for i in range(j + 1)) for j in range(rows + 1)]
    return whole[rows]
