"""The checks of an audit that need no owner: each a count over the release and its original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.column import Column, FloatArray, IntArray, number_of
from ..core.counts import Counts
from ..core.cover import BoolArray, Domain
from ..core.noun import dataclass
from ..core.release import Evidence
from ..core.table import Table
from ..core.words import counted
from .audit import AuditCheck, Status, Total

WHY = "audit"
FEW = 100
"""Columns of at most so many values are looked at in pairs."""
MOST_PAIRS = 2000
LEVEL = 0.001
"""A pair is missed by accident with less than this probability, over all pairs together, where columns have nothing to do with each other."""
NUMBERS = 60
SAMPLE = 2000
LARGE = 200_000
PARTS = 12


def status(rows: int, of: int, share: float) -> Status:
    """Whether so many broken rows are few enough."""
    return "holds" if rows <= share * of else "fails"


# --- the file as a whole ---------------------------------------------------------------------------------------------


def rows(evidence: Evidence) -> AuditCheck:
    """Whether there are as many rows as before."""
    now, then = evidence.release.table.rows, evidence.original(WHY).rows
    details = {"original": then, "released": now}
    if now == then:
        return AuditCheck("rows", "rows", "holds", f"All {then:,} rows are there.", details=details)
    word = "fewer" if now < then else "more"
    sentence = f"The release has {now:,} rows, {abs(now - then):,} {word} than the original."
    return AuditCheck("rows", "rows", "told", sentence, abs(now - then), details=details)


def columns(evidence: Evidence) -> AuditCheck:
    """Which columns that may be released are not there, and which are new."""
    release, roles = evidence.release, evidence.roles
    there = {name for table in (release.table, *release.companions.values()) for name in table.columns}
    original = evidence.original(WHY).columns
    gone = [name for name in roles.released(original) if name not in there]
    new = [n for n in release.table.columns if n not in original and n != release.joined_by]
    details = {"gone": gone, "new": new}
    if not gone and not new:
        return AuditCheck("columns", "columns", "holds", "Every column that may be released is there.", details=details)
    changes = [f"not in the release: {', '.join(gone)}"] if gone else []
    changes += [f"not in the original: {', '.join(new)}"] if new else []
    return AuditCheck("columns", "columns", "told", f"Columns {'; '.join(changes)}.", details=details)


@dataclass(frozen=True, eq=False)
class Values:
    """The values of each column that both tables have, counted, and what each released one covers of the original's."""

    before: dict[str, Counts]
    after: dict[str, Counts]
    covered: dict[str, list[IntArray | None]]
    domains: dict[str, Domain]
    rows: int

    @classmethod
    def of(cls, evidence: Evidence) -> Values:
        """The values of every released column."""
        original, roles = evidence.original(WHY), evidence.roles
        named = [*roles.released(original.columns)]
        homes: dict[str, Table] = {}
        for table in (evidence.release.table, *evidence.release.companions.values()):
            homes |= {name: table for name in named if name in table.columns and name not in homes}
        before = dict(original.value_counts(list(homes)))
        after: dict[str, Counts] = {}
        for table in {id(table): table for table in homes.values()}.values():
            here = [name for name, home in homes.items() if home is table]
            after |= table.value_counts(here)
        domains, covered = {}, {}
        for name in homes:
            column, taxonomy = before[name].columns[0], roles.taxonomy(name)
            domains[name] = Domain(column, roles.hierarchy(column) if taxonomy is None else taxonomy)
            covered[name] = [domains[name].covered(text) for text in after[name].columns[0].texts]
        return cls(before, after, covered, domains, evidence.release.table.rows)

    def numbers(self, name: str) -> FloatArray:
        """Each released value as a number, NaN if it is none."""
        return np.array([number_of(text) for text in self.after[name].columns[0].texts], dtype=np.float64)


def _listed(columns: dict[str, int]) -> str:
    return ", ".join(f"{name} ({counted(n, 'row')})" for name, n in columns.items())


def strange(values: Values, share: float) -> AuditCheck:
    """Values that are neither the original's, nor numbers where it has numbers, nor cover anything that it has."""
    columns: dict[str, int] = {}
    for name, counts in values.after.items():
        number = values.before[name].columns[0].numbers is not None
        plain = ~np.isnan(values.numbers(name)) if number else np.zeros(len(counts), dtype=bool)
        texts = counts.columns[0].texts
        odd = np.array(
            [text is not None and (c is None or not len(c)) for text, c in zip(texts, values.covered[name], strict=True)],
            dtype=bool,
        )  # fmt: skip
        n = int(counts.n[(odd & ~plain)[counts.codes[0]]].sum())
        if n:
            columns[name] = n
    worst = max(columns.values(), default=0)
    sentence = (
        "Every released value is one of the original's, a number where it has numbers, or covers one that it has."
    )
    if columns:
        sentence = f"Values that the original does not have and that cover none it has: {_listed(columns)}."
    return AuditCheck(
        "values", "values", status(worst, values.rows, share), sentence, worst, details={"columns": columns}
    )


def ranges(values: Values, share: float) -> AuditCheck:
    """Numbers below the original's least or above its largest; and whole numbers that became fractions."""
    columns: dict[str, int] = {}
    parted = []
    looked = 0
    for name, counts in values.after.items():
        before = values.before[name].columns[0].numbers
        if before is None:
            continue
        looked += 1
        known = before[~np.isnan(before)]
        numbers = values.numbers(name)[counts.codes[0]]
        slack = 1e-9 * max(abs(float(known.min())), abs(float(known.max())))
        n = int(counts.n[(numbers < known.min() - slack) | (numbers > known.max() + slack)].sum())
        if n:
            columns[name] = n
        some = numbers[~np.isnan(numbers)]
        if (known == np.rint(known)).all() and (some != np.rint(some)).any():
            parted.append(name)
    worst = max(columns.values(), default=0)
    sentence = f"Released numbers stay in the range of the original ({counted(looked, 'column')} of numbers)."
    if not looked:
        sentence = "The original has no column of numbers whose range could be left."
    if columns:
        sentence = f"Numbers out of the original's range: {_listed(columns)}."
    state = status(worst, values.rows, share)
    if parted:
        sentence += f" Whole numbers became fractions in: {', '.join(parted)}."
        state = "told" if state == "holds" else state
    return AuditCheck("range", "range", state, sentence, worst, details={"columns": columns, "fractions": parted})


def missing(values: Values) -> AuditCheck:
    """Columns with more missing values than before."""
    more: dict[str, int] = {}
    for name, counts in values.after.items():
        then, now = (
            int(c.n[c.codes[0] == len(c.columns[0].values)].sum()) if c.columns[0].has_missing else 0
            for c in (values.before[name], counts)
        )
        if now > then:
            more[name] = now - then
    sentence = "No column has more missing values than before."
    if more:
        sentence = f"More missing values than the original has: {_listed(more)}."
    worst = max(more.values(), default=0)
    return AuditCheck("missing", "missing", "told" if more else "holds", sentence, worst, details={"columns": more})


# --- pairs of values -------------------------------------------------------------------------------------------------


def pairs(evidence: Evidence, values: Values, share: float) -> AuditCheck:
    """Pairs of values of two columns that no original row has: all are counted, those that look impossible fail.

    A pair looks impossible where independent columns would have it in so many rows (e = n_a n_b / N) that to miss it by accident has
    a probability e^-e below LEVEL, shared by all pairs that are looked at. Only rows that give both values as they are count.
    """
    table = evidence.release.table
    names = [
        name
        for name, counts in values.before.items()
        if 2 <= len(counts) <= FEW and name in table.columns and name not in evidence.apart
    ]
    left = 0
    while len(names) * (len(names) - 1) // 2 > MOST_PAIRS:
        names.pop()
        left += 1
    if len(names) < 2:
        sentence = f"There are no two columns of at most {FEW} values to look at in pairs."
        return AuditCheck("pairs", "pairs of values", "told", sentence, details={"columns": names})
    before, after = evidence.original(WHY).count(names), table.count(names)
    place = []
    for name, column in zip(names, after.columns, strict=True):
        order = {text: i for i, text in enumerate(values.before[name].columns[0].texts)}
        spelled = dict(zip(values.after[name].columns[0].texts, values.covered[name], strict=True))
        own = values.before[name].columns[0].texts
        at = np.full(len(column), -1, dtype=np.int64)
        for i, text in enumerate(column.texts):
            codes = spelled.get(text)
            if codes is not None and len(codes) == 1:
                at[i] = order[own[int(codes[0])]]
        place.append(at)
    size = [len(values.before[name]) for name in names]
    share_of = [np.bincount(code, weights=before.n, minlength=m) for code, m in zip(before.codes, size, strict=True)]
    cells = sum(size[i] * size[j] for i in range(len(names)) for j in range(i))
    enough = float(np.log(cells / LEVEL))
    new, impossible = np.zeros(len(after), dtype=bool), np.zeros(len(after), dtype=bool)
    by: dict[str, dict[str, int]] = {}
    made = bad = 0
    for i in range(len(names)):
        for j in range(i):
            seen = np.zeros(size[i] * size[j], dtype=bool)
            seen[before.codes[i] * size[j] + before.codes[j]] = True
            a, b = place[i][after.codes[i]], place[j][after.codes[j]]
            key = np.where((a >= 0) & (b >= 0), a * size[j] + b, 0)
            fresh = (a >= 0) & (b >= 0) & ~seen[key]
            if not fresh.any():
                continue
            often = np.outer(share_of[i], share_of[j]).ravel()[key] / before.rows >= enough
            hit = fresh & often
            new |= fresh
            impossible |= hit
            made += len(np.unique(key[fresh]))
            worst = len(np.unique(key[hit]))
            bad += worst
            if worst:
                by[f"{names[j]} and {names[i]}"] = {"pairs": worst, "rows": int(after.n[hit].sum())}
    all_rows, bad_rows = int(after.n[new].sum()), int(after.n[impossible].sum())
    details = {
        "columns": names, "new_pairs": made, "new_rows": all_rows, "impossible_pairs": bad, "impossible_rows": bad_rows,
        "by_columns": by, "left_out": left,
    }  # fmt: skip
    if not made:
        sentence = f"No released row pairs two values that no original row pairs ({len(names)} columns looked at)."
        return AuditCheck("pairs", "pairs of values", "holds", sentence, details=details)
    sentence = f"Pairs of values that no original row has: {made:,}, in {counted(all_rows, 'released row')}"
    if bad:
        sentence += (
            f"; looking impossible, since independent columns would have had them in at least {enough:.3g} rows: {bad:,} of them, in "
            f"{counted(bad_rows, 'row')}, most of {max(by, key=lambda k: by[k]['rows'])}."
        )
    else:
        sentence += "; none of them is so unlikely that it looks impossible."
    state: Status = "told" if not bad else status(bad_rows, after.rows, share)
    return AuditCheck("pairs", "pairs of values", state, sentence, bad_rows, details=details)


# --- sums ------------------------------------------------------------------------------------------------------------


def sums(evidence: Evidence, values: Values) -> list[Total]:
    """Sums of columns that hold in every row of the original: looked for in a sample, confirmed on all.

    Each column in turn is written as a combination of those before it; where that is exact and only adds and subtracts, and one
    column stands alone on its side, it is a sum. Not every sum that there is is told, but those told imply the others.
    """
    names = [
        n for n, c in values.before.items() if c.columns[0].numbers is not None and len(c) > 1 and n not in evidence.apart
    ][:NUMBERS]  # fmt: skip
    if len(names) < 2:
        return []
    original = evidence.original(WHY)
    some: Table = original
    if original.rows > LARGE:
        widest = max(names, key=lambda name: len(values.before[name]))
        some = original.part(widest, of=original.rows // LARGE + 1, at=0) or original
    counts = some.count(names)
    at = np.unique(np.linspace(0, len(counts) - 1, min(SAMPLE, len(counts))).astype(np.int64))
    x = np.column_stack([numbers_of(c)[code[at]] for c, code in zip(counts.columns, counts.codes, strict=True)])
    x = x[~np.isnan(x).any(axis=1)]
    moves = np.ptp(x, axis=0) > 0 if len(x) else np.zeros(len(names), dtype=bool)
    x, names = x[:, moves], [name for name, moved in zip(names, moves, strict=True) if moved]
    if len(x) < len(names) + 20:
        return []
    totals = []
    basis: list[int] = []
    for j in range(len(names)):
        if basis:
            held = x[:, basis]
            norm = np.abs(held).max(axis=0)  # columns of one size, so that small ones are not lost among large ones
            coefficients = np.linalg.lstsq(held / norm, x[:, j], rcond=None)[0] / norm
            scale = float((np.abs(held) @ np.abs(coefficients)).max()) + float(np.abs(x[:, j]).max())
            if np.abs(held @ coefficients - x[:, j]).max() <= 1e-9 * scale:
                total = _sum(names, basis, coefficients, j)
                if total is not None and _always(original, total):
                    totals.append(total)
                continue
        basis.append(j)
    return totals


def numbers_of(column: Column) -> FloatArray:
    """The numbers of a column, NaN where it has none."""
    return np.full(len(column), np.nan) if column.numbers is None else column.numbers


def _sum(names: Sequence[str], basis: list[int], coefficients: Any, j: int) -> Total | None:
    """`x_j = sum c_i x_i` with every c 0, 1 or -1 as parts and a total."""
    whole = np.rint(coefficients)
    if np.abs(coefficients - whole).max() > 1e-5 or np.abs(whole).max() > 1:
        return None
    plus = [names[i] for i, c in zip(basis, whole, strict=True) if c == 1]
    minus = [names[i] for i, c in zip(basis, whole, strict=True) if c == -1] + [names[j]]
    parts, total = (plus, minus) if len(minus) == 1 else (minus, plus)
    if len(total) != 1 or not 1 <= len(parts) <= PARTS:
        return None
    return Total(parts=tuple(parts), total=total[0], found=True)


def _always(original: Table, total: Total) -> bool:
    counts = original.count((*total.parts, total.total))
    held, known = adding_up(counts, range(len(total.parts)), len(total.parts), total.within)
    return bool(known.any()) and not bool((known & ~held).any())


def adding_up(counts: Counts, parts: Sequence[int], total: int, within: float) -> tuple[BoolArray, BoolArray]:
    """Where the parts add up, and where all of them are numbers."""
    numbers = [numbers_of(counts.columns[i])[counts.codes[i]] for i in (*parts, total)]
    left, right = np.sum(numbers[:-1], axis=0), numbers[-1]
    slack = within + 1e-9 * np.maximum(np.sum(np.abs(numbers), axis=0), 1.0)
    return np.abs(left - right) <= slack, ~(np.isnan(left) | np.isnan(right))
