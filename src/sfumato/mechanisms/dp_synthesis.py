"""Synthetic rows with differential privacy: noisy marginals, one distribution that fits them, and rows drawn evenly from it.

    choose marginals -> count them with noise -> fit a junction tree -> draw rows
    chosen_marginals    measured_marginals      fitted_marginals        drawn_rows          (in `synthesis/`)

Which marginals: the adaptive way of AIM (McKenna, Mullins, Sheldon, Miklau 2022), the tree of MST (McKenna, Miklau, Sheldon 2021), or those
that the owner names. Noise: two-sided geometric for pure epsilon; Gaussian where the owner states a delta, too, with zero-concentrated
accounting (Bun, Steinke 2016). What was measured is private; fitting and drawing cost nothing more. Time follows the cells that are
counted and the noise; of the rows only how many distinct ones there are.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import field
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from ..core.arrow import take
from ..core.column import IntArray
from ..core.counts import pack
from ..core.errors import Infeasible, InputError
from ..core.mechanism import MechanismCard, Offer, Progress, check_whole
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .differential_privacy.account import Account, ConcentratedAccount, PureAccount
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
from .parameters.stated_domains import Outside, StatedDomain
from .synthesis.chosen_marginals import MOST_CELLS, WAYS
from .synthesis.drawn_rows import draw
from .synthesis.impossible import check_impossible, impossible_cells
from .synthesis.junction_tree import JunctionTree
from .synthesis.measured_marginals import MeasuredMarginals

MOST_ROWS = 100_000_000


@dataclass(frozen=True, kw_only=True)
class DpSynthesis(Private):
    """Rows that belong to nobody, from noisy counts of columns and pairs of columns."""

    columns: str | None = None
    structure: Literal["adaptive", "tree", "chain", "independent"] = "adaptive"
    domains: str = ""
    epsilon: float | None = None
    delta: float | None = None
    impossible: str = ""
    rows: int | None = None
    outside: Outside = "missing"
    budget: Budget | None = field(default=None, compare=False)
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="dp_synthesis",
        title="Differentially private synthetic rows from noisy marginals",
        promise=f"epsilon-differential privacy of the whole table, or (epsilon, delta) where a delta is stated, {PROMISED}; this holds by "
        f"construction, and no file can show it. {AS_STATED}",
        against="an adversary who knows everything else, even all other rows, and wants to tell whether a person's row is in "
        "the table, or what it says",
        cost="no row belongs to anyone; the counts of single columns and of the pairs that were measured are about right; everything else "
        "follows from these counts, not from the data: what three columns have in common that no two of them show is lost, and small "
        "groups drown in the noise",
        source="McKenna, Mullins, Sheldon, Miklau 2022 (AIM); McKenna, Miklau, Sheldon 2021 (MST); fitted as a junction tree after McKenna, "
        "Sheldon, Miklau 2019 with relaxed maximum entropy (Dudik, Phillips, Schapire 2007); Laplace noise after Dwork, McSherry, "
        "Nissim, Smith 2006; Gaussian noise with zero-concentrated accounting (Bun, Steinke 2016; Canonne, Kamath, Steinke 2020); sampled "
        "by OpenDP",
        chance="always",
        private=True,
        offer=Offer(100, lambda trial: [{"epsilon": [0.5, 1, 3]}], wide=True),
        parameters={
            "columns": "the columns to make, as a list, in the order of the chain; by default all that may be released",
            "structure": "adaptive: in rounds, the pair that the rows made so far get most wrong is chosen and counted (AIM); tree: pairs that "
            "join all columns, chosen at once for a third of the budget (MST); chain: each column paired with the next one named, "
            "without looking at the data; independent: no pairs. Two columns are always one pair, and nothing is spent on choosing it",
            "domains": DOMAINS,
            "epsilon": EPSILON,
            "delta": "the probability that epsilon may be exceeded with: well below one in the number of rows, such as 1e-6; with it the noise "
            "is Gaussian, and much smaller; without it epsilon holds always",
            "impossible": "what no row may say, as rules with ; between: marital_status=widowed, age=0:15; sex=male, diagnosis=pregnancy; "
            "a column that is left empty there means missing; rules come from what you know of the world, never from the rows",
            "rows": "the number of rows to make; by default a noisy count of the rows",
            "outside": OUTSIDE,
            "budget": BUDGET,
        },
    )

    def __post_init__(self) -> None:
        self._check()
        check_texts(self)
        check_whole(self, "rows")
        check_impossible(self.impossible, self.card.name)
        if self.delta is not None and not 0 < amount(self.delta, f"{self.card.name}: delta") < 1:
            raise InputError(
                f"{self.card.name}: delta must be above 0 and below 1; leave it out for pure differential privacy."
            )

    @property
    def delta_cost(self) -> Fraction:
        """The delta that a release costs."""
        return Fraction(0) if self.delta is None else amount(self.delta, "delta")

    def _make(self, table: Table, roles: Roles, rng: Rng, progress: Progress) -> Release:
        domains = self._domains(self.columns, self.domains, table, roles, missing=self.outside == "missing")
        structure = self.structure if len(domains) > 1 else "independent"
        if structure in ("adaptive", "tree") and len(domains) == 2:
            structure = "chain"  # the only pair there is: nothing is spent on choosing it
        sizes = [len(domain) for domain in domains]
        impossible = impossible_cells(self.impossible, domains, self.card.name, MOST_CELLS)
        self._room(sum(sizes) + sum(_looked(structure, sizes)))
        if impossible:
            ruled = JunctionTree.over(sizes, list(impossible))
            if ruled.cells > MOST_CELLS:
                raise InputError(
                    f"{self.card.name}: the rules of impossible join too many columns; state fewer, or coarser domains."
                )
            if ruled.beliefs(ruled.walls(impossible))[1] == -math.inf:
                raise Infeasible(f"{self.card.name}: the rules of impossible leave no row that could be.")
        noise, budget = self._open(roles, rng)
        account: Account
        if self.delta is None:
            account = PureAccount(noise, budget, self.cost)
        else:
            account = ConcentratedAccount(noise, budget, self.cost, self.delta_cost)
        counts = table.count([domain.name for domain in domains])
        measured = MeasuredMarginals(counts, domains, table.reading, account, impossible)
        WAYS[structure](measured, noise.chance, progress)
        count = self.rows if self.rows is not None else round(measured.rows)
        if count < 1:
            raise Infeasible(
                "dp_synthesis: the noisy count of the rows is below 1, so there is nothing to draw; the table is too small "
                "for this epsilon, or say how many rows to make."
            )
        if count > MOST_ROWS:
            raise Infeasible(f"dp_synthesis: more than {MOST_ROWS:,} rows would be made; set rows.")
        fitted = measured.fitted(steps=200, near=0.02)
        progress(0.9)
        codes = draw(fitted.tree, fitted.beliefs, count, noise.chance)
        notes = self._notes(noise, account, roles, self._how(structure, measured), *self._ruled(len(impossible)))
        return self._synthetic(table, *_rows(table, domains, codes), notes)

    @staticmethod
    def _how(structure: str, measured: MeasuredMarginals) -> str:
        how = {
            "adaptive": "pairs chosen one after the other from the data with a tenth of the budget",
            "tree": "a tree of pairs chosen from the data with a third of the budget",
            "chain": "a chain of pairs in the order of the columns, chosen without looking at the data",
            "independent": "single columns, independent of one another",
        }[structure]
        pairs = dict.fromkeys(m.columns for m in measured.marginals if len(m.columns) > 1)
        joined = "; ".join(f"{measured.names[a]} with {measured.names[b]}" for a, b in pairs)
        return f"Synthetic rows: no row is a person's. They were drawn from {how}{': ' + joined if joined else ''}."

    @staticmethod
    def _ruled(rules: int) -> tuple[str, ...]:
        return ("No row says what the owner stated to be impossible.",) if rules else ()


def _looked(structure: str, sizes: list[int]) -> list[int]:
    """The cells of each pair that is looked at."""
    if structure == "adaptive":
        return [a * b for a, b in itertools.combinations(sizes, 2) if a * b <= MOST_CELLS]
    looked = {"tree": itertools.combinations(sizes, 2), "chain": itertools.pairwise(sizes)}
    return [a * b for a, b in looked.get(structure, ())]


def _rows(table: Table, domains: tuple[StatedDomain, ...], codes: list[IntArray]) -> tuple[pa.Table, IntArray]:
    """The distinct drawn rows, columns in the order of the input, and how often each was drawn."""
    key = pack(codes, [len(domain) for domain in domains], len(codes[0]))
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    order = [i for name in table.columns for i, domain in enumerate(domains) if domain.name == name]
    arrays = [take(domains[i].array(), codes[i][first]) for i in order]
    return pa.Table.from_arrays(arrays, names=[domains[i].name for i in order]), times.astype(np.int64)
