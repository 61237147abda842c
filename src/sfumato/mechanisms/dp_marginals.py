"""Contingency tables with noise: every cell of given domains counted, zeros too, each count off by a little.

Dwork, McSherry, Nissim, Smith 2006; Barak et al. 2007. A row is in one cell of a table, so the cells of one table compose in
parallel and a whole contingency table costs epsilon once; the tables of all k-way marginals add up, and each gets its share.
The cells come from the stated domains alone: a cell that nobody is in must not be told from one that somebody is in.
The cost follows the cells, 10 us each.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import field
from typing import ClassVar

import numpy as np
import pyarrow as pa

from ..core.arrow import integers, strings
from ..core.errors import InputError
from ..core.hierarchy import TOP
from ..core.mechanism import MechanismCard, Progress, check_whole
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .differential_privacy.budget import Budget
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
from .parameters.stated_domains import Outside, StatedDomain, cells


@dataclass(frozen=True, kw_only=True)
class DpMarginals(Private):
    """One noisy contingency table over some columns, or all marginals of so many of them."""

    columns: str | None = None
    ways: int | None = None
    domains: str = ""
    epsilon: float | None = None
    nonnegative: bool = True
    outside: Outside = "missing"
    budget: Budget | None = field(default=None, compare=False)
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="dp_marginals",
        title="Differentially private contingency table or marginals",
        promise=f"epsilon-differential privacy of all counts together, {PROMISED}; this holds by construction, and no file can "
        f"show it. {AS_STATED}",
        against="an adversary who knows everything else, even all other rows, and wants to tell whether a person's row is in "
        "the table, or what it says",
        cost="no rows are released; each count is off by about the number of marginals divided by epsilon, so small counts "
        "mean little; a sum over many cells adds up their noise",
        source="Dwork, McSherry, Nissim, Smith 2006; Barak, Chaudhuri, Dwork, Kale, McSherry, Talwar 2007; McSherry 2009 "
        "(parallel composition); Manta 2013, 4.2; sampled by OpenDP after Canonne, Kamath, Steinke 2020",
        chance="always",
        private=True,
        place="last",
        parameters={
            "columns": "the columns to count, as a list: sex,age; by default all that may be released",
            "ways": "count this many columns at a time, in all combinations: 2 for all pairs; by default all columns together",
            "domains": DOMAINS,
            "epsilon": f"{EPSILON}; it is divided equally among the marginals",
            "nonnegative": "set noisy counts below 0 to 0; this costs no privacy, but makes sums of small counts too large",
            "outside": OUTSIDE,
            "budget": BUDGET,
        },
    )

    def __post_init__(self) -> None:
        self._check()
        check_texts(self)
        check_whole(self, "ways")

    def _make(self, table: Table, roles: Roles, rng: Rng, progress: Progress) -> Release:
        domains = self._domains(self.columns, self.domains, table, roles, missing=self.outside == "missing")
        ways = len(domains) if self.ways is None else self.ways
        if ways > len(domains):
            raise InputError(f"dp_marginals: ways is {ways}, and there are only {len(domains)} columns.")
        chosen = list(itertools.combinations(domains, ways))
        self._room(sum(math.prod(len(domain) for domain in some) for some in chosen))
        noise, budget = self._open(roles, rng)
        counts = table.count([domain.name for domain in domains])
        exact = [cells(counts.group([domain.name for domain in some])[0], some, table.reading) for some in chosen]
        share = self.cost / len(chosen)
        noisy, scale = [], 0.0
        for i, (some, whole) in enumerate(zip(chosen, exact, strict=True)):
            what = " x ".join(domain.name for domain in some)
            budget.spend_parallel([(share, 0)], f"the counts of {what}", times=whole.size)
            found, scale = noise.laplace(whole.ravel(), sensitivity=1, epsilon=share)
            noisy.append(np.maximum(found, 0) if self.nonnegative else found)
            progress((i + 1) / len(chosen))
        columns = {domain.name: _labels(domain, chosen) for domain in domains}
        columns["rows" if "rows" not in columns else "rows counted"] = integers(np.concatenate(noisy))
        note = (
            f"Every count has two-sided geometric noise of scale {scale:.6g}, a standard deviation of about "
            f"{math.sqrt(2) * scale:.3g} rows; {'counts below 0 were made 0' if self.nonnegative else 'some counts are below 0'}."
        )
        return self._statistics(table, roles, columns, self._notes(noise, budget, roles, note))


def _labels(domain: StatedDomain, chosen: list[tuple[StatedDomain, ...]]) -> pa.Array:
    """A column of the released table: the value of each cell, `*` in the marginals that do not split by it."""
    found: list[str | None] = []
    for some in chosen:
        shape = [len(d) for d in some]
        if domain not in some:
            found += [TOP] * math.prod(shape)
            continue
        at = some.index(domain)
        codes = np.indices(shape)[at].ravel()
        found += [domain.texts[code] for code in codes.tolist()]
    return strings(found)
