"""The alpha-beta algorithm: keep some rows of the table, and add rows of the domain that are nobody's.

Rastogi, Suciu, Hong 2007; Manta 4.3. A row of the table is kept with probability alpha + beta, every other row that the domain
allows is added with probability beta. Counts can be estimated without bias. The domain is never enumerated: the gaps between
the rows that are added are geometric, so the cost follows the rows of the table and of the release.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ..core.arrow import integers, take
from ..core.column import Column, FloatArray, IntArray, text_of
from ..core.cover import BoolArray
from ..core.errors import Infeasible, InputError
from ..core.mechanism import Mechanism, MechanismCard, Progress, check_whole
from ..core.metric import Score
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .parameters.stated_domains import StatedDomain, domains_of, entries

MOST = 20_000_000
"""Rows of a release at most."""
ROOM = 2**52
"""Rows that the domain may allow: places in it are exact as floats."""

Query = Mapping[str, "Collection[Any] | tuple[Any, Any]"]


def chances(d: float, gamma: float) -> tuple[float, float]:
    """The largest alpha, with its beta, that is (d,gamma)-private against every d-independent adversary (def. 14).

    A row of prior q <= d that is released has the posterior q(a+b)/(q(a+b) + (1-q)b), largest at q = d, so
    `b/(a+b) >= d(1-gamma)/(gamma(1-d))` keeps it at most gamma; one that is not has at least (1-a-b)/(1-b) of its prior, so
    `a/(1-b) <= 1 - d/gamma` keeps that at least d/gamma. Both are met with equality: estimates err least then.
    """
    odds = d * (1 - gamma) / (gamma * (1 - d))
    per_alpha, free = odds / (1 - odds), 1 - d / gamma
    alpha = free / (1 + per_alpha * free)
    return alpha, per_alpha * alpha


def chances_after(alpha: float, beta: float, version: int) -> tuple[float, float]:
    """What alpha and beta are of the last of so many versions, each made of the one before.

    A row that is nobody's had a chance of beta each time; one of the table had alpha + beta once and beta the other times.
    """
    return alpha * (1 - beta) ** (version - 1), -math.expm1(version * math.log1p(-beta))


def estimate(observed: float, possible: float, alpha: float, beta: float) -> float:
    """How many of the table's rows a query counts: `(observed - beta |D_Q|)/alpha`, unbiased, |D_Q| the rows it could count."""
    return (observed - beta * possible) / alpha


def variance(actual: float, possible: float, alpha: float, beta: float) -> float:
    """The variance of the estimate, where the query counts `actual` of the table's rows."""
    kept = alpha + beta
    return (actual * kept * (1 - kept) + (possible - actual) * beta * (1 - beta)) / alpha**2


def usefulness(rows: int, possible: int, alpha: float, beta: float, epsilon: float) -> float:
    """The rho of (rho,epsilon)-usefulness (def. 15): any one count is off by rho sqrt(n) or more with at most epsilon.

    Bernstein's inequality, for the query that counts the whole domain: no other one varies more.
    """
    spread = variance(rows, possible, alpha, beta) * alpha**2
    log = math.log(2 / epsilon)
    return (log / 3 + math.sqrt(log * log / 9 + 2 * log * spread)) / alpha / math.sqrt(rows)


@dataclass(frozen=True, kw_only=True)
class AlphaBeta(Mechanism):
    """Synthesis by sampling: some true rows, hidden among rows drawn from the domain."""

    gamma: float | None = None
    k: float | None = None
    d: float | None = None
    domains: str = ""
    missing: bool = False
    previous: str | None = None
    before: str | None = None
    version: int = 1

    card: ClassVar[MechanismCard] = MechanismCard(
        name="alpha_beta",
        title="Alpha-beta algorithm, sampling with rows of the domain",
        promise="(d,gamma)-privacy: an adversary who believed with at most d that a row is in the table believes it afterwards "
        "with at most gamma, and with no less than d/gamma of the earlier belief; this holds by construction, and no file "
        "can show it",
        against="a d-independent adversary, who takes the rows of the table as independent of one another, and who is either sure "
        "of a row or believes in it with at most d = k n/m, for n rows in the table and m in the domain",
        cost="with a large domain most released rows belong to nobody; counts must be corrected (answer) and are off by about "
        "the square root of the number of rows; equal rows count once; values must lie in stated domains",
        source="Rastogi, Suciu, Hong 2007, alpha-beta algorithm; Manta 2013, 4.3, definitions 12 to 15",
        chance="always",
        files=("previous", "before"),
        parameters={
            "gamma": "the largest belief in a row that the release may lead to",
            "k": "the adversary's power: how many times more likely than n in m they may believe a row to be; sets d = k n/m",
            "d": "instead of k: the largest belief that the adversary may start with",
            "domains": "the values that each column may have, never taken from the data: sex=Female|Male, age=17:99; a column with a "
            "hierarchy file or a stated order takes its values from there",
            "missing": "add the missing value to every domain; values outside a domain then become missing",
            "previous": "to publish again after rows were added to the table: the file that was published last",
            "before": "with previous: the table as it was then",
            "version": "with previous: the number of this version, from 2 on; the correction of counts depends on it",
        },
    )

    def __post_init__(self) -> None:
        for name in ("gamma", "d"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise InputError(f"alpha_beta: {name} must be a probability above 0 and below 1.")
        if self.k is not None and not (self.k > 0 and math.isfinite(self.k)):
            raise InputError("alpha_beta: k must be a number above 0.")
        if self.k is not None and self.d is not None:
            raise InputError("alpha_beta: k and d say the same; set one of them.")
        if self.domains:
            entries(self.domains, "alpha_beta", "domains")
        check_whole(self, "version")
        again = (self.previous is not None, self.before is not None, self.version > 1)
        if any(again) and not all(again):
            raise InputError(
                "alpha_beta: to publish anew, set previous (the last release), before (the table then) and version (from 2 on)."
            )
        if self.previous is not None and self.d is None:
            raise InputError("alpha_beta: all versions need the same d, so set d instead of k.")

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; cryptographic draws, or with `rng` seeded ones. Missing values need `missing`, or are refused."""
        if self.gamma is None or (self.k is None and self.d is None):
            raise InputError("alpha_beta needs gamma and the adversary's k (or d); set for example gamma=0.2 and k=2.")
        domains = self._domains(table, roles)
        m = math.prod(len(domain) for domain in domains)
        if m > ROOM:
            raise InputError(
                f"alpha_beta: the domains allow more than {ROOM:.1e} rows; take fewer columns or coarser domains."
            )
        rows = self._places(table, domains)
        n = len(rows)
        d = self.d if self.d is not None else float(self.k or 0) * n / m
        if d >= self.gamma:
            raise Infeasible(
                f"alpha_beta cannot be ({d:.3g},{self.gamma:g})-private: d, the belief before, must be below gamma; allow a "
                "larger gamma, a weaker adversary or a larger domain."
            )
        alpha, beta = chances(d, self.gamma)
        if (alpha + beta) * n + beta * m > MOST:
            raise Infeasible(
                f"alpha_beta would release about {beta * m:,.0f} rows that are nobody's, and {MOST:,} is the most; take "
                "fewer columns or coarser domains, or a weaker adversary."
            )
        chance = Chance(rng)
        fixed, new = self._earlier(table, domains, rows)
        kept = new[chance.uniform(len(new)) < alpha + beta]
        progress(0.3)
        added = inserted(m, beta, chance)
        added = added[~_among(added, new) & ~_among(added, fixed)]
        places = np.union1d(np.concatenate([fixed, kept]), added)
        if not len(places):
            raise Infeasible(
                "alpha_beta: by chance not a single row was drawn; the table and its domain are too small."
            )
        now, noise = chances_after(alpha, beta, self.version)
        rho = usefulness(n, m, now, noise, 0.05)
        return Release(
            table=table.instead(_spell(places, domains), integers(np.ones(len(places), dtype=np.int64))),
            original=table,
            perturbed=frozenset(domain.name for domain in domains),
            made_by=self.card.name,
            parameters=self.settings(),
            notes=(
                f"({d:.6g},{self.gamma:g})-privacy by construction; no file can show it.",
                f"A row of the table is in the release with probability alpha + beta, any other of the {m:,} that the domains "
                f"allow with beta, where alpha = {now!r} and beta = {noise!r}.",
                "A count of rows in the release estimates (count - beta x rows that the domains allow to be counted)/alpha rows "
                f"of the table; any one such estimate is off by {rho * math.sqrt(n):,.0f} rows or more with at most 5% "
                f"((rho,epsilon)-useful with rho = {rho:.3g}, epsilon = 0.05).",
                *((f"Rows that are alike count once: {table.rows:,} rows are {n:,}.",) if n < table.rows else ()),
                *chance.notes,
            ),
        )

    def answer(self, published: Table, roles: Roles, query: Query, *, alpha: float, beta: float) -> Score:
        """Estimate a counting query `{column: values or (low, high)}` from a published table and what its notes say.

        The interval is that of a normal distribution with 95%, its variance estimated, too.
        """
        domains = {domain.name: domain for domain in self._domains(published, roles)}
        counts = published.count(tuple(query))
        inside, possible = np.ones(len(counts), dtype=bool), 1
        for name, wanted in query.items():
            if name not in domains:
                raise InputError(f"A query asks for column {name!r}, which has no domain.")
            flags = _flags(domains[name], wanted)
            code = _released(domains[name], counts.column(name))[counts.codes[counts.names.index(name)]]
            inside &= (code >= 0) & flags[np.maximum(code, 0)]
            possible *= int(flags.sum())
        possible *= math.prod(len(domain) for name, domain in domains.items() if name not in query)
        observed = int(counts.n[inside].sum())
        value = estimate(observed, possible, alpha, beta)
        likely = min(max(value, 0.0), float(possible))
        off = NormalDist().inv_cdf(0.975) * math.sqrt(variance(likely, possible, alpha, beta))
        details = {"observed": observed, "possible": possible}
        return Score(value, "rows", "estimate", ci=(value - off, value + off), details=details)

    def _domains(self, table: Table, roles: Roles) -> tuple[StatedDomain, ...]:
        """The domain of every column that is released, in the order of the table."""
        roles.check(table.columns, where=table.name, need=("quasi", "sensitive", "insensitive"))
        return domains_of(table, roles, self.card.name, self.domains, missing=self.missing)

    def _places(self, table: Table, domains: tuple[StatedDomain, ...], *, released: bool = False) -> IntArray:
        """The place in the domain of each row of a table, ascending, rows that are alike once."""
        counts = table.count_some([domain.name for domain in domains])
        place = np.zeros(len(counts), dtype=np.int64)
        for domain, column, codes in zip(domains, counts.columns, counts.codes, strict=True):
            if domain.edges is not None and len(column.values) and column.numbers is None:
                raise InputError(f"Column {domain.name!r} is not all numbers, and its domain is stated in numbers.")
            code = _released(domain, column) if released else domain.codes(column, table.reading)
            outside = int(counts.n[(code < 0)[codes]].sum())
            if outside:
                raise InputError(
                    f"{table.name}: {outside:,} rows have a value of {domain.name!r} that is missing or outside of its "
                    "domain; complete the domain, or set missing=true."
                )
            place = place * len(domain) + code[codes]
        return np.unique(place)

    def _earlier(self, table: Table, domains: tuple[StatedDomain, ...], rows: IntArray) -> tuple[IntArray, IntArray]:
        """What was published before and stays, and the rows of the table that have not had their chance yet."""
        if self.previous is None or self.before is None:
            return np.zeros(0, dtype=np.int64), rows
        from ..engines import read

        if not all(Path(name).is_file() for name in (self.previous, self.before)):
            raise InputError("alpha_beta: previous and before are files, and one of them is not there.")
        tables = [read(Path(name)) for name in (self.previous, self.before)]
        for other in tables:
            for domain in domains:
                if domain.name not in other.columns:
                    raise InputError(f"{other.name}: no column {domain.name!r}, which every version must have.")
        fixed, had = (self._places(other, domains, released=i == 0) for i, other in enumerate(tables))
        if not _among(had, rows).all():
            raise InputError(
                f"{table.name}: rows of the table before are gone, and what was published cannot be taken back; keep them in."
            )
        return fixed, rows[~_among(rows, had) & ~_among(rows, fixed)]


def inserted(m: int, beta: float, chance: Chance) -> IntArray:
    """The places below m that a coin each of probability beta chooses, ascending: their gaps are geometric."""
    found, last = [np.zeros(0, dtype=np.int64)], -1.0
    while beta > 0 and last < m - 1:
        expected = beta * (m - 1 - last)
        gaps = np.floor(np.log(chance.uniform(int(expected + 4 * math.sqrt(expected)) + 16)) / math.log1p(-beta))
        places = last + np.cumsum(gaps + 1)  # exact up to m; what lies beyond need not be
        found.append(places[places < m].astype(np.int64))
        last = float(places[-1])
    return np.concatenate(found)


def _among(some: IntArray, ascending: IntArray) -> BoolArray:
    """Which of these are among others."""
    if not len(ascending):
        return np.zeros(len(some), dtype=bool)
    at = np.minimum(np.searchsorted(ascending, some), len(ascending) - 1)
    found: BoolArray = ascending[at] == some
    return found


def _spell(places: IntArray, domains: tuple[StatedDomain, ...]) -> pa.Table:
    """Places in the domain as rows."""
    arrays = []
    for domain in reversed(domains):
        places, code = np.divmod(places, len(domain))
        arrays.append(take(domain.array(), code))
    return pa.Table.from_arrays(arrays[::-1], names=[domain.name for domain in domains])


def _released(domain: StatedDomain, column: Column) -> IntArray:
    """Where each value of a released column stands in the domain, -1 for outside: bins are released by their labels."""
    place: dict[str | None, int] = {text: i for i, text in enumerate(domain.texts)}
    return np.array([place.get(text, -1) for text in column.texts], dtype=np.int64)


def _flags(domain: StatedDomain, wanted: Any) -> BoolArray:
    """Which values of a domain a query asks for."""
    if isinstance(wanted, tuple):
        if not domain.whole or len(wanted) != 2:
            raise InputError(f"A range has two ends, and the domain of {domain.name!r} must be whole numbers for it.")
        numbers: FloatArray = np.array([float(value) for value in domain.values])
        inside = (numbers >= float(wanted[0])) & (numbers <= float(wanted[1]))
        return np.append(inside, False) if domain.missing else inside
    if isinstance(wanted, str) or not isinstance(wanted, Collection):
        raise InputError(f"Give the values of column {domain.name!r} as a list, or a range as a tuple.")
    texts = {text_of(value) for value in wanted}
    if not texts <= set(domain.texts):
        raise InputError(f"A query asks for values of column {domain.name!r} that are not in its domain.")
    return np.array([text in texts for text in domain.texts], dtype=bool)
