"""What the adversary knows beforehand: nothing, how each attribute is distributed, or how likely each table is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.column import FloatArray, IntArray
from ..core.errors import InputError
from .tables import Ranks, RowDomain, input_count

TOLERANCE = 1e-9
MOST_CELLS = 20_000_000
"""Possible rows whose probabilities are still listed."""
MOST_ROWS = 150
"""r! is still a float."""


class Prior(ABC):
    """A distribution over the tables of r rows."""

    @abstractmethod
    def chance(self, tables: IntArray) -> FloatArray:
        """The probability of each table."""

    @abstractmethod
    def exact(self, tables: IntArray) -> list[Fraction] | None:
        """The same as fractions, where they are known."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """Of the likeliest table: what a guess without looking gets right."""


class Uniform(Prior):
    """Every table alike: no knowledge."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs

    def chance(self, tables: IntArray) -> FloatArray:
        """1/n."""
        return np.full(len(tables), 1 / self.inputs)

    def exact(self, tables: IntArray) -> list[Fraction]:
        """1/n."""
        return [Fraction(1, self.inputs)] * len(tables)

    @property
    def largest(self) -> float:
        """1/n."""
        return 1 / self.inputs


class IndependentRows(Prior):
    """Rows drawn independently, each attribute by itself: a table has the multinomial probability `r! prod_d p_d^n_d / n_d!`.

    Uniform attributes do not make a uniform prior over tables: a table of different rows is drawn in more orders.
    """

    def __init__(self, domain: RowDomain, rows: int, given: Mapping[str, Any]) -> None:
        if rows > MOST_ROWS:
            raise InputError(f"A prior of independent rows is computed for tables of at most {MOST_ROWS} rows.")
        if domain.size > MOST_CELLS:
            raise InputError(f"A prior of independent rows is computed for at most {MOST_CELLS:,} possible rows.")
        self.rows = rows
        self.by_name: dict[str, FloatArray] = {}
        parts: list[list[Fraction] | None] = []
        for attribute in (*domain.quasi, *domain.sensitive):
            size = len(attribute.levels[0])
            said = given.get(attribute.name)
            said = [Fraction(1, size)] * size if said is None else said
            p, exact = distribution(said, size, f"attribute {attribute.name!r}: its probabilities")
            self.by_name[attribute.name] = p
            parts.append(exact)
        unknown = set(given) - set(self.by_name)
        if unknown:
            raise InputError("The prior names an attribute that the table does not have.")
        p = np.ones(1)
        for line in self.by_name.values():
            p = np.multiply.outer(p, line).ravel()
        self.p = p
        """Of each row code."""
        self.fractions: npt.NDArray[np.object_] | None = np.array([Fraction(1)], dtype=object)
        for part in parts:
            if part is None:
                self.fractions = None
                break
            self.fractions = np.multiply.outer(self.fractions, np.array(part, dtype=object)).ravel()

    def chance(self, tables: IntArray) -> FloatArray:
        """The multinomial probability."""
        chances: FloatArray = math.factorial(self.rows) / _repeated(tables) * self.p[tables].prod(axis=1)
        return chances

    def exact(self, tables: IntArray) -> list[Fraction] | None:
        """The multinomial probability, in fractions."""
        if self.fractions is None:
            return None
        product = self.fractions[tables].prod(axis=1) if self.rows else [Fraction(1)] * len(tables)
        return [n * q for n, q in zip(_orders(tables), product, strict=True)]

    @property
    def largest(self) -> float:
        """Of the multinomial's mode."""
        return float(math.factorial(self.rows) * modes(self.p, self.rows)[self.rows])


class Listed(Prior):
    """A probability for each of some tables, 0 for all others."""

    def __init__(self, tables: IntArray, p: FloatArray, exact: Sequence[Fraction] | None) -> None:
        self.tables, back = np.unique(tables, axis=0, return_inverse=True)
        back = back.ravel()
        self.p: FloatArray = np.bincount(back, weights=p, minlength=len(self.tables)).astype(np.float64)
        self.fractions: list[Fraction] | None = None
        if exact is not None:
            self.fractions = [Fraction(0)] * len(self.tables)
            for i, q in zip(back, exact, strict=True):
                self.fractions[i] += q

    def chance(self, tables: IntArray) -> FloatArray:
        """Asked of its own tables only."""
        assert tables is self.tables
        return self.p

    def exact(self, tables: IntArray) -> list[Fraction] | None:
        """Asked of its own tables only."""
        assert tables is self.tables
        return self.fractions

    @property
    def largest(self) -> float:
        """Of the likeliest table."""
        return float(self.p.max())


def _orders(tables: IntArray) -> list[int]:
    """r! / prod n_d!: the orders in which the rows of each (sorted) table can stand."""
    whole = math.factorial(tables.shape[1])
    return [whole // int(n) for n in _repeated(tables, exact=True)]


def _repeated(tables: IntArray, *, exact: bool = False) -> Any:
    """prod n_d!: the orders of equal rows."""
    run, product = np.ones(len(tables), dtype=np.int64), np.ones(len(tables), dtype=object if exact else np.float64)
    for i in range(1, tables.shape[1]):
        run = np.where(tables[:, i] == tables[:, i - 1], run + 1, 1)
        product = product * run
    return product


def modes(p: FloatArray, most: int) -> FloatArray:
    """For j = 0 .. most, the largest `prod_d p_d^n_d / n_d!` with sum n = j: one row more goes where `p_d / (n_d + 1)` is
    largest, which is optimal because these quotients only fall."""
    n, modes = np.zeros(len(p)), np.ones(most + 1)
    for j in range(1, most + 1):
        gain = p / (n + 1)
        d = int(np.argmax(gain))
        modes[j] = modes[j - 1] * gain[d]
        n[d] += 1
    return modes


def distribution(said: Any, size: int, where: str) -> tuple[FloatArray, list[Fraction] | None]:
    """Probabilities as floats, and as fractions if they sum to exactly 1 as they are written."""
    try:
        p = np.array([float(q) for q in said])
    except (TypeError, ValueError):
        raise InputError(f"{where} must be numbers.") from None
    if len(p) != size:
        raise InputError(f"{where} must be {size} numbers, one for each value, not {len(p)}.")
    if not np.isfinite(p).all() or (p < 0).any() or abs(p.sum() - 1) > TOLERANCE:
        raise InputError(f"{where} must be at least 0 and sum to 1.")
    exact = [q if isinstance(q, Fraction) else Fraction(str(q)) for q in said]
    return (p, exact) if sum(exact) == 1 else (p / p.sum(), None)


def _code(domain: RowDomain, row: Sequence[str]) -> int:
    """The code of a row of values, in the order of the domain's attributes."""
    value = {a.name: a.levels[0].index(v) for a, v in zip(domain.attributes, row, strict=True)}
    code = 0
    for attribute in (*domain.quasi, *domain.sensitive):
        code = code * len(attribute.levels[0]) + value[attribute.name]
    return code


def prior_of(prior: Any, domain: RowDomain, rows: int) -> Prior:
    """From what the owner gives: None or "uniform"; a mapping from attributes to probabilities; a mapping from tables (tuples
    of rows, which are tuples of values) to probabilities; or an array with a probability for every table, in rank order."""
    inputs = input_count(domain, rows)
    if prior is None or (isinstance(prior, str) and prior == "uniform"):
        return Uniform(inputs)
    if isinstance(prior, Prior):
        return prior
    if isinstance(prior, Mapping):
        if all(isinstance(key, str) for key in prior):
            return IndependentRows(domain, rows, prior)
        try:
            tables = np.array([sorted(_code(domain, row) for row in table) for table in prior], dtype=np.int64)
        except (TypeError, ValueError):
            raise InputError(
                "The prior names a table whose rows are not of the attributes' values, in the attributes' order."
            ) from None
        if tables.ndim != 2 or tables.shape[1] != rows:
            raise InputError(f"The prior names a table that does not have {rows} rows.")
        p, exact = distribution(list(prior.values()), len(prior), "The probabilities of the prior's tables")
        return Listed(tables, p, exact)
    if isinstance(prior, str):
        raise InputError('The prior must be "uniform", probabilities of attributes, or probabilities of tables.')
    if inputs > 10_000_000:
        raise InputError("There are too many tables for a list of probabilities; name the possible ones instead.")
    said = list(prior)
    p, exact = distribution(said, inputs, "The prior")
    return Listed(Ranks(domain.size, rows).unrank(np.arange(inputs)), p, exact)
