"""Additive noise on columns of numbers, each for itself or correlated as the columns are.

Released is `y = x + e`. Kim 1986 draws e with the covariance `d V`, V that of the data and d the square of `scale`: then
`y` has the covariance `(1 + d) V` and the correlations of the data. Tendick and Matloff 1994 take the added variance back,
`y = m + (x + e - m) / sqrt(1 + d)`, m the mean: then `y` has the mean and the covariance of the data. Brand 2002 compares
them. The cost follows rows times columns, and rows times columns squared where the noise is correlated.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.errors import Infeasible, InputError
from ..core.mechanism import Mechanism, MechanismCard, Offer, Progress, check_choices, check_require
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.noise_interval import noise_interval, of_people, shortest
from ..metrics.privacy.noise_variance import noise_variance, variance
from .microdata.numeric_columns import columns_of, grid_note, grid_of, is_whole, names_in, released, round_to
from .microdata.rows import Rows

ROUNDS = 60
"""How often noise that came out too small is made wider, at most."""
DRAWS = 20
"""How often it is drawn where that does not help: in a few rows it may by chance go along with the numbers."""
FEW = 1000


@dataclass(frozen=True, kw_only=True)
class AdditiveNoise(Mechanism):
    """Gaussian or uniform noise; wider where a draw happens to fall short of what is promised."""

    columns: str | None = None
    scale: float = 0.3
    unit: Literal["deviation", "absolute"] = "deviation"
    shape: Literal["gaussian", "uniform"] = "gaussian"
    correlated: bool = False
    keep_variance: bool = False
    whole: bool = False
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="additive_noise",
        title="Additive noise",
        promise="in each quasi-identifier of numbers, the noise has at least scale^2 times the variance of the numbers "
        "(noise_variance), and every required noise_variance and noise_interval is met; if you name columns or use an "
        "absolute scale, only the requirements are promised. Where people have several rows, every person weighs the same: if their rows "
        "stay joined, all of them are moved by one draw a person, and the mean over a person's rows is what counts, so that no averaging "
        "takes the noise back; if nobody can join them, each row has a draw of its own",
        against="an adversary who knows a number exactly, or nearly, and looks for its row; one who knows many columns of a "
        "person can still find the nearest row (linkage_distance_risk); where rows stay joined, not one who knows the differences between "
        "a person's numbers, which stay true; where they do not, not one who can tell by other columns which rows are one person's and takes "
        "their mean",
        cost="every number changes; independent noise raises the variances and lowers the correlations, correlated noise keeps "
        "the correlations; other columns and missing values stay as they are",
        source="Kim 1986; Tendick and Matloff 1994; Brand 2002; measured after Duncan and Mukherjee 2000 and Agrawal and "
        "Srikant 2000",
        chance="always",
        people=True,
        links=True,
        tunable=("scale", "shape", "correlated", "keep_variance"),
        offer=Offer(90, lambda trial: [{"scale": [0.1, 0.3, 0.5]}], wide=True),
        parameters={
            "columns": "the columns that get noise, as a list: age,salary; by default all quasi-identifiers that are numbers",
            "scale": "the standard deviation of the noise",
            "unit": "deviation: the scale is a share of the column's standard deviation; absolute: the scale is in the column's unit",
            "shape": "gaussian or uniform, with the same standard deviation",
            "correlated": "draw the noise with the columns' correlations, so that the release keeps them",
            "keep_variance": "pull the noisy numbers towards their mean until they have the original variance",
            "whole": "round the released numbers of a column where all numbers are whole; other columns are rounded to their own "
            "precision or a tenth of the noise, whichever is finer, as the notes state",
        },
    )

    def __post_init__(self) -> None:
        check_choices(self)
        if not isinstance(self.scale, int | float) or isinstance(self.scale, bool) or not 0 < self.scale < math.inf:
            raise InputError("additive_noise: scale must be a number above 0.")
        if self.columns is not None:
            names_in(self.columns, "additive_noise")
        if self.correlated and self.shape != "gaussian":
            raise InputError("additive_noise: a sum of uniform noises is not uniform; correlated needs shape=gaussian.")
        if self.correlated and self.unit != "deviation":
            raise InputError("additive_noise: correlated noise follows the data's covariance; it needs unit=deviation.")
        check_require(self, "it can by noise_variance and noise_interval")

    def honours(self, requirement: Requirement) -> bool:
        """Noise of at least some variance, or over at least some interval."""
        return requirement.metric.card.name in (noise_variance.card.name, noise_interval.card.name)

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """The scale as a variance, where it holds of every quasi-identifier of numbers; and what is required."""
        if self.columns is not None or self.unit == "absolute":
            return self.require
        d = self.scale**2
        # x - y = (1 - a) (x - m) - a e with a^2 (1 + d) = 1 has the variance 2 - 2 a, in that of x
        least = 2 - 2 / math.sqrt(1 + d) if self.keep_variance else d
        return (noise_variance.at_least(_plain(least)), *self.require)

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing value stays missing, and a number beside it gets its noise all the same."""
        rows, chance = Rows.of_people(table, roles, "additive_noise"), Chance(rng)
        given = columns_of(rows, self.columns, "additive_noise")
        x = {name: values for name, values in given.items() if self.unit == "absolute" or _varies(values)}
        self._check(x, given, rows)
        y = self._released(x, rows, chance)
        if y is None:
            hint = "keep_variance=false, or ask for less" if self.keep_variance else "a larger scale"
            raise Infeasible(f"additive_noise cannot meet {self._told()} on {table.name}; use {hint}.")
        progress(0.5)
        return rows.release(
            self,
            {name: released(values) for name, values in y.items()},
            added=rows.joined_anew(chance),
            perturbed=tuple(x),
            notes=(*self._notes(x, y, given, rows), *chance.notes),
        )

    def _released(self, x: Mapping[str, FloatArray], rows: Rows, chance: Chance) -> dict[str, FloatArray] | None:
        """The numbers with noise that is as wide as promised, or None. A few rows may need another draw."""
        for _ in range(DRAWS if len(next(iter(x.values()))) < FEW else 1):
            at, draws = rows.drawn_for()
            unit = {name: e[at] for name, e in zip(x, self._drawn(x, chance, draws), strict=True)}
            factor = dict.fromkeys(x, 1.0)
            for _ in range(ROUNDS):
                y = {name: self._noisy(x[name], factor[name] * unit[name], self._step(x[name])) for name in x}
                pairs = {name: _pairs(x[name], y[name], rows) for name in x if name in rows.roles.quasi}
                asked = {name: pair for name, pair in pairs.items() if _varies(pair[0])}
                wider = self._wider(asked)
                if not wider:
                    return y
                if self.correlated:
                    wider = dict.fromkeys(x, max(wider.values()))
                factor.update({name: factor[name] * more for name, more in wider.items()})
        return None

    def _check(self, x: Mapping[str, FloatArray], given: Mapping[str, FloatArray], rows: Rows) -> None:
        """Refuse what would be released as it is, or promised of nothing."""
        same = [name for name in given if name not in x]
        if same and (self.columns is not None or not x):
            raise InputError(
                f"{rows.table.name}: column {same[0]!r} has no two different numbers, so noise as a share of its deviation is "
                "none; leave it out, or use unit=absolute."
            )
        missed = [
            name
            for name in rows.roles.quasi
            if name not in given and (numbers := rows.columns[name].numbers) is not None and _varies(numbers)
        ]
        if self.require and (missed or not any(name in rows.roles.quasi for name in x)):
            raise Infeasible(
                f"additive_noise cannot meet {self._told()}: it is measured on every quasi-identifier of numbers, and columns "
                "leaves some out."
            )

    def _told(self) -> str:
        return " and ".join(str(requirement) for requirement in self.promises)

    def _drawn(self, x: Mapping[str, FloatArray], chance: Chance, count: int) -> list[FloatArray]:
        """So many draws of noise for each column, of the standard deviation asked for."""
        if self.shape == "uniform":
            drawn = [math.sqrt(12) * (chance.uniform(count) - 0.5) for _ in x]
        else:
            drawn = [chance.normal(count) for _ in x]
        if self.correlated:
            root = _root(_correlations(list(x.values())))
            # not as a matrix product: its last bits hang on the number of threads, and a seed repeats every byte
            drawn = [sum((r * e for r, e in zip(row, drawn, strict=True)), np.zeros(count)) for row in root.tolist()]
        size = [self.scale * (_deviation(values) if self.unit == "deviation" else 1.0) for values in x.values()]
        return [s * e for s, e in zip(size, drawn, strict=True)]

    def _step(self, x: FloatArray) -> float:
        """What the released numbers of a column are multiples of: whole numbers if asked for, else by its precision and the noise."""
        if self.whole and is_whole(x):
            return 1.0
        return grid_of(x, self.scale * (_deviation(x) if self.unit == "deviation" else 1.0))

    def _noisy(self, x: FloatArray, e: FloatArray, step: float) -> FloatArray:
        """The numbers with their noise, on the column's grid."""
        y = x + e
        if self.keep_variance and _varies(x):
            known = ~np.isnan(x)
            mean, d = float(np.mean(x[known])), float(np.mean(e[known] ** 2)) / _deviation(x) ** 2
            y = mean + (y - mean) / math.sqrt(1 + d)
        return round_to(y, step)

    def _wider(self, pairs: Mapping[str, tuple[FloatArray, FloatArray, IntArray]]) -> dict[str, float]:
        """By what to widen the noise of the columns that fall short: both measures grow with it."""
        found: dict[str, float] = {}
        least = 1.02 if self.whole or self.keep_variance else 1.001  # rounding does not grow in step with the noise
        for name, (x, y, n) in pairs.items():
            moved = x - y
            for requirement in self.promises:
                if requirement.metric.card.name == noise_variance.card.name:
                    reached = variance(moved, n) / variance(x, n)
                    missing = math.sqrt(requirement.bound / reached) if reached > 0 else 2.0
                else:
                    confidence = requirement.metric.arguments["confidence"]
                    reached = shortest(moved, n, confidence) / float(np.ptp(x))
                    missing = requirement.bound / reached if reached > 0 else 2.0
                if reached < requirement.bound:
                    found[name] = max(found.get(name, 0.0), missing * (1 + 1e-9), least)
        return found

    def _notes(
        self, x: Mapping[str, FloatArray], y: Mapping[str, FloatArray], given: Mapping[str, FloatArray], rows: Rows
    ) -> list[str]:
        """What was added to what, as measured."""
        reached = []
        for name in x:
            before, after, n = _pairs(x[name], y[name], rows)
            if not _varies(before):
                continue
            share = variance(before - after, n) / variance(before, n)
            reached.append(f"{name!r} {share:.3g}")
        kind = "Correlated" if self.correlated else "Independent"
        each = ", one draw for all rows of a person" if rows.roles.linked else ""
        beside = f"; beside the variance of the column it has {', '.join(reached)}" if reached else ""
        notes = [
            f"{kind} {self.shape} noise was added{each}{beside}.",
            grid_note({name: self._step(x[name]) for name in x}),
        ]
        notes += [f"Column {name!r} has one number only and was left as it is." for name in given if name not in x]
        return notes


def _pairs(x: FloatArray, y: FloatArray, rows: Rows) -> tuple[FloatArray, FloatArray, IntArray]:
    """The numbers, the noisy ones and their weights, as the metrics of noise look at them."""
    known = ~np.isnan(x)
    owner = rows.owner
    if owner is None:
        return x[known], y[known], np.ones(int(known.sum()), dtype=np.int64)
    return of_people(x, y, np.ones(len(x), dtype=np.int64), owner, rows.roles)


def _varies(values: FloatArray) -> bool:
    known = values[~np.isnan(values)]
    return len(known) > 1 and float(np.ptp(known)) > 0


def _deviation(values: FloatArray) -> float:
    return float(np.nanstd(values))


def _correlations(x: list[FloatArray]) -> FloatArray:
    """The correlations over the rows that have all numbers; 0 where these rows do not tell."""
    full = ~np.isnan(x[0])
    for values in x[1:]:
        full &= ~np.isnan(values)
    correlations = np.eye(len(x))
    centred = [values[full] - values[full].mean() if full.any() else values[full] for values in x]
    size = [math.sqrt(float(np.sum(c * c))) for c in centred]
    for i in range(len(x)):
        for j in range(i):
            if size[i] > 0 and size[j] > 0:
                correlations[i, j] = correlations[j, i] = float(np.sum(centred[i] * centred[j])) / (size[i] * size[j])
    return correlations


def _root(matrix: FloatArray) -> FloatArray:
    """The symmetric square root, rows of length 1: columns may be the same up to scale, so there may be no Cholesky root."""
    values, vectors = np.linalg.eigh(matrix)
    root: FloatArray = (vectors * np.sqrt(np.where(values > 1e-12, values, 0.0))) @ vectors.T
    return root


def _plain(bound: float) -> float:
    """A bound as a person would write it, in twelve digits: 0.04, where 0.2^2 in floating point is a trace more.

    Never above the bound, beyond its own rounding: else the last digit goes one down.
    """
    near = float(f"{bound:.12g}")
    if near <= bound * (1 + 4 * sys.float_info.epsilon):
        return near
    return float(f"{near - 10.0 ** (math.floor(math.log10(bound)) - 11):.12g}")
