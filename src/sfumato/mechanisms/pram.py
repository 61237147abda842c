"""PRAM: each value of a category is released as itself or as another with known probabilities, and counts can be corrected.

Kooiman, Willenborg, Gouweleeuw 1997; invariant PRAM after de Wolf, Gouweleeuw, Kooiman, Willenborg 1998. Rows are held in
memory; the cost is a sort of the rows and the square of the number of values, of which there may be `MOST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from ..core.arrow import strings, take
from ..core.column import FloatArray, IntArray
from ..core.counts import Counts
from ..core.errors import InputError
from ..core.mechanism import Mechanism, MechanismCard, Progress
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .microdata.numeric_columns import released_columns
from .microdata.rows import Rows
from .parameters.matrix import read_matrix, write_matrix

MOST = 2_000
"""Values that a column may have: a matrix has the square of them."""


@dataclass(frozen=True, eq=False)
class Transition:
    """`matrix[i, j]` is the probability that `values[i]` is released as `values[j]`; None is the missing value."""

    values: tuple[str | None, ...]
    matrix: FloatArray
    source: str = "the transition matrix"

    def __post_init__(self) -> None:
        size = len(self.values)
        if not size or len(set(self.values)) < size:
            raise InputError(f"{self.source}: every value stands once, in the first line and in the first column.")
        if self.matrix.shape != (size, size):
            raise InputError(f"{self.source}: {size} values need {size} lines of {size} probabilities.")
        if not (self.matrix >= 0).all() or not np.allclose(self.matrix.sum(axis=1), 1.0, rtol=0, atol=1e-6):
            raise InputError(f"{self.source}: the probabilities of every line are at least 0 and sum to 1.")

    @classmethod
    def keeping(cls, values: Sequence[str | None], keep: float) -> Transition:
        """A value stays with probability `keep` and becomes each other one with the same probability."""
        size = len(values)
        matrix = np.full((size, size), (1 - keep) / max(size - 1, 1))
        np.fill_diagonal(matrix, keep if size > 1 else 1.0)
        return cls(tuple(values), matrix)

    @classmethod
    def read(cls, path: Path | str) -> Transition:
        """From a CSV file: the values in the first line, behind an empty cell, and then a line for each, its value first.

        The empty text is the missing value.
        """
        rows, columns, matrix = read_matrix(path, "transition matrix")
        if rows != columns:
            raise InputError(
                f"{path}: the first column must name the same values as the first line, in the same order."
            )
        return cls(tuple(text or None for text in rows), matrix, str(path))

    def write(self, path: Path | str) -> None:
        """As `read` reads it, for whoever corrects counts."""
        names = [value or "" for value in self.values]
        write_matrix(path, names, names, self.matrix)

    def invariant(self, counts: IntArray) -> Transition:
        """Two stages in one: this matrix, then its reverse by Bayes' rule, so that expected counts are these `counts`.

        `R = P Q` with `q_ji = p_ij t_i / sum_h p_hj t_h`, and so `t R = t` (de Wolf et al. 1998). It is made from the counts
        of the original, which whoever gets R can read off it: they are what is expected of the release anyway.
        """
        joint = self.matrix * counts[:, None]  # t_i p_ij
        after = joint.sum(axis=0)
        back = np.where(after > 0, joint / np.where(after > 0, after, 1.0), np.eye(len(counts))).T
        return Transition(self.values, self.matrix @ back, self.source)

    def drawn(self, at: IntArray, chance: Chance) -> IntArray:
        """For rows of values `at`, what each is released as."""
        edges = np.cumsum(self.matrix, axis=1)
        edges /= edges[:, -1:]
        found, order, u = np.empty_like(at), np.argsort(at, kind="stable"), chance.uniform(len(at))
        start = np.searchsorted(at[order], np.arange(len(edges) + 1))
        for i, line in enumerate(edges):
            mine = order[start[i] : start[i + 1]]
            found[mine] = np.searchsorted(line, u[mine])
        return found


@dataclass(frozen=True)
class CorrectedCounts:
    """For each value an unbiased estimate of its rows in the original, with variance and interval; rare ones may be below 0."""

    values: tuple[str | None, ...]
    estimate: FloatArray
    variance: FloatArray
    low: FloatArray
    high: FloatArray
    confidence: float


def corrected_counts(
    released: Counts | Mapping[str | None, int], matrix: Transition, *, confidence: float = 0.95
) -> CorrectedCounts:
    """How many rows of each value the original had, from the released counts T' and the matrix P they were made with.

    `E(T' | t) = P' t`, so `(P')^-1 T'` is unbiased (Gouweleeuw et al. 1998). With A = (P')^-1 its variance, over the draws
    and given the original, is `sum_j a_ij^2 E(T'_j) - t_i`, estimated without bias by putting in T' and the estimate. The
    interval is normal. Extremes: the released counts themselves, with variance 0, for the identity; no answer where two
    values are released alike, whose counts cannot be told apart.
    """
    if not 0 < confidence < 1:
        raise InputError("corrected_counts: confidence must be between 0 and 1.")
    if isinstance(released, Counts):
        if len(released.columns) != 1:
            raise InputError("corrected_counts takes the counts of one column; count the release by it.")
        texts = released.columns[0].texts
        released = {texts[code]: n for code, n in zip(released.codes[0].tolist(), released.n.tolist(), strict=True)}
    strange = len(set(released) - set(matrix.values))
    if strange:
        raise InputError(f"{matrix.source}: {strange} of the released values are not in it; is it the right one?")
    n = np.array([released.get(value, 0) for value in matrix.values], dtype=np.float64)
    if np.linalg.cond(matrix.matrix) > 1e10:
        raise InputError(f"{matrix.source}: values are released alike, so their counts cannot be told apart again.")
    back = np.linalg.inv(matrix.matrix.T)
    estimate = back @ n
    variance = np.maximum(back**2 @ n - estimate, 0.0)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * np.sqrt(variance)
    return CorrectedCounts(matrix.values, estimate, variance, estimate - half, estimate + half, confidence)


@dataclass(frozen=True, kw_only=True)
class Pram(Mechanism):
    """Post-randomisation of categories, each row by itself."""

    columns: str = ""
    keep: float | None = None
    matrix: str | None = None
    invariant: bool = False

    card: ClassVar[MechanismCard] = MechanismCard(
        name="pram",
        title="Post-randomisation (PRAM)",
        promise="each value is released as the matrix says, independently of all others, so a released value is the true one only "
        "with a known probability; the file itself limits nothing that can be learned about a person: the matrix is the "
        "limit",
        against="an adversary who finds a person's row, where the value may be another one; an adversary who knows how frequent "
        "the values are can work backwards, and a frequent value is still likely",
        cost="a share of the values is wrong, and relations with other columns fade; corrected_counts corrects counts, which "
        "makes them unbiased but less certain; with invariant=true they are right on average as they are",
        source="Kooiman, Willenborg, Gouweleeuw 1997; Gouweleeuw, Kooiman, Willenborg, de Wolf 1998; invariant: de Wolf, "
        "Gouweleeuw, Kooiman, Willenborg 1998",
        chance="always",
        files=("matrix",),
        tunable=("keep", "invariant"),
        parameters={
            "columns": "the columns of categories, such as job,town; each is changed by itself",
            "keep": "the probability that a value stays; the column's other values share the rest equally",
            "matrix": "instead of keep, for one column: a CSV file with the values in the first line and in the first column, and in "
            "each line the probabilities of what its value is released as",
            "invariant": "true: a second stage restores the expected counts of the original, so the probability that a value stays differs "
            "from keep, and frequent values stay more often",
        },
    )

    def __post_init__(self) -> None:
        if (self.keep is None) == (self.matrix is None):
            raise InputError("pram needs either keep, the probability that a value stays, or matrix, a file.")
        if self.keep is not None and (isinstance(self.keep, bool) or not 0 < self.keep < 1):
            raise InputError("pram: keep is a probability above 0 and below 1.")

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; the missing value is one of the values: it may become another, and another may go missing."""
        rows, chance = Rows.of(table, roles, self.card.name), Chance(rng)
        names = self._names(rows)
        changed: dict[str, Any] = {}
        notes = []
        for i, name in enumerate(names):
            column, transition = rows.columns[name], self._transition(rows, name)
            place = {text: j for j, text in enumerate(transition.values)}
            at = np.array([place[text] for text in column.texts], dtype=np.int64)[rows.codes[name]]
            rows_drawn = transition.drawn(at, chance)
            values, texts = column.values, column.texts
            if not set(place) <= set(texts):  # else the values keep their type
                texts = [*sorted(text for text in place if text is not None), None]
                values = strings(texts[:-1])
            mine = {text: j for j, text in enumerate(texts)}
            changed[name] = take(values, np.array([mine[text] for text in place], dtype=np.int64)[rows_drawn])
            notes.append(self._note(name, len(place)))
            progress((i + 1) / len(names))
        return rows.release(
            self,
            changed,
            perturbed=names,
            notes=(*notes, *chance.notes),
        )

    def transition(self, table: Table, roles: Roles, column: str) -> Transition:
        """The matrix that a column of this table is released with: what `corrected_counts` takes."""
        rows = Rows.of(table, roles, self.card.name)
        if column not in self._names(rows):
            raise InputError(f"pram does not change column {column!r}; it changes {self.columns}.")
        return self._transition(rows, column)

    def _names(self, rows: Rows) -> tuple[str, ...]:
        if not self.columns:
            raise InputError("pram needs columns to change, such as columns=job,town.")
        names = released_columns(rows, self.columns, self.card.name)
        for name in names:
            if len(rows.columns[name]) > MOST:
                raise InputError(
                    f"{rows.table.name}: column {name!r} has {len(rows.columns[name]):,} values, more than the {MOST:,} of a "
                    "matrix; generalize it first, or use rank_swapping."
                )
        if self.matrix is not None and len(names) > 1:
            raise InputError("pram: a matrix is for one column; change the columns one after another, or set keep.")
        return names

    def _transition(self, rows: Rows, name: str) -> Transition:
        column = rows.columns[name]
        if self.matrix is None:
            assert self.keep is not None
            transition = Transition.keeping(column.texts, self.keep)
        else:
            transition = Transition.read(self.matrix)
            absent = len(set(column.texts) - set(transition.values))
            if absent:
                raise InputError(
                    f"{self.matrix}: {absent} of the values of column {name!r} have no line in it; add them."
                )
        if not self.invariant:
            return transition
        n = np.bincount(rows.codes[name], minlength=len(column))
        counted = dict(zip(column.texts, n.tolist(), strict=True))
        return transition.invariant(np.array([counted.get(value, 0) for value in transition.values], dtype=np.int64))

    def _note(self, name: str, size: int) -> str:
        how = f"with probability {self.keep:g} to stay" if self.keep is not None else "by the owner's matrix"
        if self.invariant:
            return f"Column {name!r} was randomised {how} and back (invariant): its counts are right on average."
        return (
            f"Column {name!r} was randomised among its {size:,} values {how}: correct its counts with corrected_counts "
            "before using them."
        )
