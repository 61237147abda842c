"""The cell key method: tables of counts with bounded noise that is the same wherever the same rows are counted.

Fraser, Wooton 2005; Marley, Leaver 2011; the noise with most entropy after Giessing 2016. Every row has a random key, a cell has the sum of its rows'
keys, and that sum chooses the noise. Rows are held in memory; a table costs a sort of them.
"""

from __future__ import annotations

import hmac
import itertools
import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..core.arrow import integers, strings
from ..core.column import FloatArray, IntArray
from ..core.counts import pack
from ..core.errors import Infeasible, InputError
from ..core.hierarchy import TOP
from ..core.mechanism import Mechanism, MechanismCard, Progress, check_whole
from ..core.noun import dataclass
from ..core.pseudonyms import key_of
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .microdata.numeric_columns import released_columns
from .microdata.rows import Rows

_WHOLE = 2.0**-64


@dataclass(frozen=True, kw_only=True)
class CellKey(Mechanism):
    """Counts with noise by the keys of the rows behind them."""

    columns: str = ""
    ways: int | None = None
    most: int = 4
    variance: float = 2.0
    gap: int = 0
    key: str | None = None

    card: ClassVar[MechanismCard] = MechanismCard(
        name="cell_key",
        title="Cell key method for frequency tables",
        promise="every count is off by at most `most`, by 0 on average, with the stated variance; an empty cell stays empty, and no released count "
        "lies from 1 to gap. Cells of the same rows have the same noise in every table of the release and, with a key of the owner's, in every "
        "release. It does not limit what can be learned from many tables",
        against="an adversary who compares small counts, or the same cell in several tables to average the noise away; not one who takes differences of "
        "many tables and knows nearly everybody",
        cost="no rows are released, and sums of cells differ from the released totals; counts below the largest noise mean little",
        source="Fraser, Wooton 2005; Marley, Leaver 2011, A method for confidentialising user-defined tables; Giessing 2016, sec. 3",
        chance="some",
        place="last",
        tunable=("most", "variance", "gap"),
        parameters={
            "columns": "the columns to count, as a list: sex,town",
            "ways": "count this many columns at a time, in all combinations; by default all together",
            "most": "the largest distance of a released count from the true one",
            "variance": "the variance of the noise of every cell",
            "gap": "no released count from 1 up to this one: 2 makes small counts 0 or at least 3",
            "key": "env:NAME, an environment variable with a secret: the key of a row then follows from its person's number or its identifier, so that other "
            "releases agree; by default keys are drawn anew",
        },
    )

    def __post_init__(self) -> None:
        check_whole(self, "ways", "most")
        check_whole(self, "gap", least=0)
        number = self.variance
        if not isinstance(number, int | float) or isinstance(number, bool) or not 0 < number < math.inf:
            raise InputError("cell_key: variance must be a number above 0.")
        if self.key is not None and not self.key.startswith("env:"):
            raise InputError(
                "cell_key: key is env:NAME, an environment variable; the key itself never stands in a parameter."
            )

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing value is a value like any other."""
        if not self.columns:
            raise InputError("cell_key needs columns to count, such as columns=sex,town.")
        noise = noise_table(self.most, self.variance, self.gap)
        one = self._identity(table, roles)
        rows, chance = Rows.of(table, roles, self.card.name, house=(one,) if one is not None else ()), Chance(rng)
        names = released_columns(rows, self.columns, self.card.name)
        ways = len(names) if self.ways is None else self.ways
        if ways > len(names):
            raise InputError(f"cell_key: ways is {ways}, and there are only {len(names)} columns.")
        keys = chance.bits(len(rows)) if one is None else self._keys(rows, roles, one)
        chosen = list(itertools.combinations(names, ways))
        cells: dict[str, list[str | None]] = {name: [] for name in names}
        counts: list[IntArray] = []
        for i, some in enumerate(chosen):
            codes = [rows.codes[name] for name in some]
            packed = pack(codes, [len(rows.columns[name]) for name in some], len(rows))
            _, first, member = np.unique(packed, return_index=True, return_inverse=True)
            count = np.bincount(member).astype(np.int64)
            cell = np.zeros(len(first), dtype=np.uint64)
            np.add.at(cell, member, keys)  # modulo 2^64
            count += drawn(noise, count, cell)
            there = count > 0
            for name in names:
                texts, at = rows.columns[name].texts, rows.codes[name][first[there]]
                cells[name] += [texts[code] for code in at.tolist()] if name in some else [TOP] * len(at)
            counts.append(count[there])
            progress((i + 1) / len(chosen))
        if not sum(map(len, counts)):
            raise Infeasible("cell_key: every released count would be 0; take fewer columns.")
        count_name = "rows"
        while count_name in (*names, *roles.house):
            count_name += "_"
        arrays = [strings(cells[name]) for name in names]
        made = pa.Table.from_arrays([*arrays, integers(np.concatenate(counts))], names=[*names, count_name])
        return Release(
            table=table.instead(made, integers(np.ones(len(made), dtype=np.int64))),
            original=table,
            statistics=True,
            made_by=self.card.name,
            parameters=self.settings(),
            notes=(*self._notes(), *(chance.notes if one is None else ())),
        )

    def _identity(self, table: Table, roles: Roles) -> str | None:
        """The column that tells rows apart, where keys follow from it."""
        if self.key is None:
            return None
        known = [name for name in (roles.person, *roles.identifiers) if name is not None and name in table.columns]
        alone = next((name for name in known if table.unique_rows((name,))[0] == table.rows), None)
        if alone is None:
            raise InputError(
                f"cell_key: a key needs a person's number or an identifier in {roles.source} that is another one in every row."
            )
        return alone

    def _keys(self, rows: Rows, roles: Roles, one: str) -> npt.NDArray[np.uint64]:
        """The key of each row, from what identifies it."""
        secret = key_of(str(self.key), "cell_key: key", roles.folder)
        digests = (hmac.digest(secret, b"cell " + str(text).encode(), "sha256")[:8] for text in rows.texts(one))
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)

    def _notes(self) -> tuple[str, ...]:
        kept = "the same in every release with this key" if self.key is not None else "drawn for this release"
        return (
            f"Every count has noise of at most {self.most} either way, 0 on average, with a variance of {self.variance:g}, by the keys of its rows ({kept}). "
            "Combinations that are not listed count 0, and some of these are not empty.",
        )


def drawn(noise: FloatArray, count: IntArray, cell: npt.NDArray[np.uint64]) -> IntArray:
    """The noise of each cell, by its count and its key."""
    most = (noise.shape[1] - 1) // 2
    edges = np.cumsum(noise, axis=1)[np.minimum(count, len(noise)) - 1]
    u = (cell.astype(np.float64) * _WHOLE)[:, None] * edges[:, -1:]
    found: IntArray = np.minimum((u >= edges).sum(axis=1), 2 * most) - most
    return found


def noise_table(most: int, variance: float, gap: int) -> FloatArray:
    """`p[i - 1, v + most]`, the probability that a count of i is released as i + v, for i up to most + gap + 1; larger counts are as the last.

    Of all distributions on the v with |v| <= most, i + v >= 0 and i + v not from 1 to gap, which have mean 0 and this variance, the one with most entropy:
    `p(v) ~ exp(a v + b v^2)`, a and b by Newton's method on the dual, which is convex. Refused where no distribution has that variance.
    """
    steps = np.arange(-most, most + 1, dtype=np.float64)
    found = np.zeros((most + gap + 1, len(steps)))
    for i in range(1, most + gap + 2):
        allowed = (i + steps >= 0) & ~((i + steps >= 1) & (i + steps <= gap))
        found[i - 1, allowed] = _most_entropy(steps[allowed], variance, i)
    return found


def _most_entropy(steps: FloatArray, variance: float, count: int) -> FloatArray:
    low, high = float(steps.min()), float(steps.max())
    below, above = steps[steps <= 0].max(initial=-math.inf), steps[steps >= 0].min(initial=math.inf)
    least, largest = (0.0 if below == 0 else -below * above), -low * high  # of distributions with mean 0
    if not least <= variance <= largest or not math.isfinite(least):
        raise InputError(
            f"cell_key: no noise on a count of {count} has mean 0 and a variance of {variance:g}: with these settings it lies from {least:g} to {largest:g}."
        )
    features, wanted = np.stack([steps, steps**2]), np.array([0.0, variance])
    at, near, p = np.zeros(2), math.inf, np.zeros(len(steps))
    for _ in range(500):
        logs = at @ features
        weights = np.exp(logs - logs.max())
        p = np.asarray(weights / weights.sum(), dtype=np.float64)
        miss = wanted - features @ p
        near = float(np.abs(miss).max())
        if near < 1e-10:
            break
        spread = (features * p) @ features.T - np.outer(features @ p, features @ p)
        step = np.linalg.lstsq(spread + 1e-14 * np.eye(2), miss, rcond=None)[0]
        at = at + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
    if near > 1e-6:
        raise InputError(
            f"cell_key: a variance of {variance:g} is too near the end of what noise on a count of {count} can have; take another."
        )
    return p
