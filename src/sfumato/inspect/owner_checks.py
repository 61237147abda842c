"""The checks of an audit that an owner lists: sums, what may never be, and figures that must come out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.column import FloatArray, IntArray, number_of
from ..core.counts import Counts
from ..core.cover import BoolArray, Domain
from ..core.errors import InputError, Unavailable
from ..core.metric import Exactness
from ..core.release import Evidence
from ..core.table import Table
from ..core.words import counted
from . import released_cells as _cells
from .audit import Aggregate, AuditCheck, Never, Status, Total
from .release_checks import WHY, adding_up, numbers_of, status


def adds_up(evidence: Evidence, total: Total, share: float) -> AuditCheck:
    """Rows where the sum held in the original and cannot hold in the release.

    Where it held in every row, each released row that breaks it counts; otherwise rows must be paired, else the number is a bound.
    """
    original, release = evidence.original(WHY), evidence.release
    names = (*total.parts, total.total)
    _check_names(original, names, total)
    before = original.count(names)
    for name in names:
        if before.column(name).numbers is None:
            raise InputError(f"{total}: column {name!r} is not all numbers in the original.")
    last = len(names) - 1
    held, known = adding_up(before, range(last), last, total.within)
    then, all_known = int(before.n[held & known].sum()), int(before.n[known].sum())
    said = f"{total} held in {then:,} of {counted(all_known, 'original row')}"
    gone = [name for name in names if name not in release.table.columns]
    details: dict[str, Any] = {"held_before": then, "of": all_known, "found": total.found}
    if gone:
        return AuditCheck("sum", str(total), "told", f"{said}; {', '.join(gone)} is not in the released table, so nothing contradicts it.", details=details)  # fmt: skip
    if any(name in evidence.apart for name in names):
        raise Unavailable("Only groups join its columns.")
    exactness: Exactness = "exact"
    paired = (release.recoding is not None and release.joined_by is None) or release.pairing != "none"
    if then == before.rows or not paired:
        counts = release.table.count(names)
        inside = np.ones(len(counts), dtype=bool)
        offset = 0
    else:
        counts = evidence.side_counts(names, names, WHY)
        own, sure = adding_up(counts, range(last), last, total.within)
        inside, offset = own & sure, len(names)
    low, high = _edges(evidence, counts, names, offset)
    slack = total.within + 1e-9 * np.maximum(np.abs(low).sum(axis=0) + np.abs(high).sum(axis=0), 1.0)
    broken = (low[:-1].sum(axis=0) > high[-1] + slack) | (high[:-1].sum(axis=0) < low[-1] - slack)
    unknown = np.isnan(low).any(axis=0)
    plain = (low == high).all(axis=0)
    bad = int(counts.n[inside & broken].sum())
    open_rows = int(counts.n[inside & ~broken & ~unknown & ~plain].sum())
    if then < before.rows and not paired:  # rows that never held may be among the broken ones
        bad, exactness = max(bad - (before.rows - then), 0), "bound"
    details |= {"broken": bad, "open": open_rows, "not_numbers": int(counts.n[inside & unknown].sum())}
    if not then:
        return AuditCheck("sum", str(total), "told", f"{said}, so there is nothing to keep.", details=details)
    at_least = "at least " if exactness == "bound" else ""
    now = f"it is broken in {at_least}{counted(bad, 'released row')}" if bad else "no released row breaks it"
    if exactness == "bound" and not bad:
        now = "no more released rows break it than original ones did"
    more = f", and in {open_rows:,} can no longer be told, since values were generalized" if open_rows else ""
    state = status(bad, release.table.rows, share)
    return AuditCheck("sum", str(total), state, f"{said}; {now}{more}.", bad, exactness, details=details)


def _edges(evidence: Evidence, counts: Counts, names: Sequence[str], offset: int) -> tuple[FloatArray, FloatArray]:
    """The least and the largest number that each released value stands for, a line a column; NaN where it is no number."""
    lows, highs = [], []
    for i, name in enumerate(names):
        column, codes = counts.columns[offset + i], counts.codes[offset + i]
        origin = evidence.original(WHY).count((name,)).columns[0]
        domain, own = Domain(origin, evidence.roles.taxonomy(name)), numbers_of(origin)
        edge = np.full((2, len(column)), np.nan)
        for k, text in enumerate(column.texts):
            number = number_of(text)
            if not np.isnan(number):
                edge[:, k] = number
                continue
            codes_of = domain.covered(text) if text is not None else None
            inside = own[codes_of] if codes_of is not None else np.zeros(0)
            inside = inside[~np.isnan(inside)]
            if len(inside):
                edge[:, k] = inside.min(), inside.max()
        lows.append(edge[0][codes])
        highs.append(edge[1][codes])
    return np.array(lows), np.array(highs)


def never(evidence: Evidence, rule: Never, share: float) -> AuditCheck:
    """Rows that meet what no row may: those that do however they are read, and those that may."""
    original = evidence.original(WHY)
    expression, names = _cells.named(rule.where, original.columns, "never")
    origin = _cells.before(evidence, names, WHY)
    then = int(origin.n[origin.row[origin.holds(expression, "never")]].sum())
    gone = _gone(evidence, names)
    said = f"No row may have {rule.where}; in the original {counted(then, 'row')} had it" if then else f"No row may have {rule.where}; in the original none had it"  # fmt: skip
    if gone:
        return AuditCheck(
            "never", str(rule), "told", f"{said}; {', '.join(gone)} is not released, so no released row shows it."
        )
    cells = _cells.after(evidence, names, WHY)
    holds = cells.holds(expression, "never").astype(np.float64)
    certain = int(cells.n[cells.least(holds) > 0].sum())
    possible = int(cells.n[cells.largest(np.where(cells.known, holds, 0.0)) > 0].sum()) - certain
    made = max(certain - then, 0)
    state = status(made, cells.rows, share)
    now = (
        f"{counted(certain, 'released row')} {'has' if certain == 1 else 'have'} it"
        if certain
        else "no released row has it"
    )
    more = f", and {counted(possible, 'row')} may, as generalized values go" if possible else ""
    details = {"original": then, "certain": certain, "possible": possible}
    exact: Exactness = (
        "exact" if not then else "bound"
    )  # which of the rows are new is not known where some had it before
    return AuditCheck("never", str(rule), state, f"{said}; {now}{more}.", made, exact, details=details)


def _check_names(original: Table, names: Sequence[str], check: Total | Aggregate) -> None:
    for name in names:
        if name not in original.columns:
            raise InputError(f"{check}: the original has no column {name!r}.")


def _gone(evidence: Evidence, names: Sequence[str]) -> list[str]:
    there = {*evidence.release.table.columns, *evidence.apart}
    return [name for name in names if name not in there]


def aggregate(evidence: Evidence, wanted: Aggregate, tolerance: float) -> AuditCheck:
    """A figure from the release, generalized values spread evenly, beside the original's or the published one.

    The interval holds whatever the values stand for: the least and the largest figure that the released rows allow.
    """
    original = evidence.original(WHY)
    names = tuple(dict.fromkeys((*wanted.by, *([wanted.column] if wanted.column else []))))
    _check_names(original, names, wanted)
    expression = None
    if wanted.where is not None:
        expression, more = _cells.named(wanted.where, original.columns, "aggregate")
        names = tuple(dict.fromkeys((*names, *more)))
    if gone := _gone(evidence, names):
        raise Unavailable(f"It has no column {', '.join(gone)}.")
    if not names:  # all rows
        true = np.array([float(original.rows)])
        now = np.array([[float(evidence.release.table.rows)] * 3])
        plain = True
    else:
        origin, cells = _cells.before(evidence, names, WHY), _cells.after(evidence, names, WHY)
        groups = _groups(origin, wanted)
        true = _figures(origin, wanted, expression, groups)[:, 0]
        now = _figures(cells, wanted, expression, groups)
        plain = cells.plain
    aim = true if wanted.value is None else np.array([float(wanted.value)])
    relative = tolerance if wanted.tolerance is None else wanted.tolerance
    absolute = wanted.absolute if wanted.absolute is not None else 0.5 if wanted.what == "count" else 0.0
    off = np.abs(now[:, 0] - aim)
    good = off <= np.maximum(relative * np.abs(aim), absolute) + 1e-9 * np.maximum(np.abs(aim), 1.0)
    good |= np.isnan(aim) & np.isnan(now[:, 0])  # nobody is meant on either side
    state: Status = "holds" if good.all() else "fails"
    exact: Exactness = "exact" if plain else "estimate"
    allowed = f"{100 * relative:.3g}%" + (f" or {absolute:g}" if absolute else "")
    details: dict[str, Any] = {
        "figures": len(aim), "off": int((~good).sum()), "allowed_relative": relative, "allowed_absolute": absolute,
    }  # fmt: skip
    if wanted.by:
        sides = np.isnan(aim) != np.isnan(now[:, 0])  # a figure on one side only
        error = np.where(sides, np.inf, np.nan_to_num(off / np.maximum(np.abs(aim), max(absolute, 1e-12)), nan=0.0))
        worst = int(np.argmax(error))
        one = _figures(cells, wanted, expression, groups[worst : worst + 1])[0]
        known = error[np.isfinite(error)]
        details["mean_relative_error"] = float(known.mean()) if len(known) else None
        details["worst"] = {
            "original": float(true[worst]),
            "released": float(one[0]),
            "interval": [float(one[1]), float(one[2])],
        }
        sentence = f"{wanted}: within {allowed} of what it was: {int(good.sum()):,} of {counted(len(aim), 'figure')}"
        if not good.all():
            between = "" if plain else f" (between {_spell(one[1])} and {_spell(one[2])} however its values are read)"
            sentence += f"; the worst is {_spell(one[0])}{between} where it was {_spell(aim[worst])}"
        return AuditCheck("aggregate", str(wanted), state, sentence + ".", int((~good).sum()), exact, details=details)
    estimate, low, high = (float(v) for v in now[0])
    details |= {"original": float(true[0]), "published": wanted.value, "released": estimate, "interval": [low, high]}
    of = f"{_spell(aim[0])} was published" if wanted.value is not None else f"the original has {_spell(true[0])}"
    interval = "" if plain else f" (between {_spell(low)} and {_spell(high)} however its values are read)"
    sentence = f"{wanted}: {of}, the release gives {_spell(estimate)}{interval}, {'within' if good[0] else 'not within'} {allowed}."
    if wanted.value is not None and not abs(true[0] - aim[0]) <= max(relative * abs(aim[0]), absolute) + 1e-9:
        sentence += f" The original itself gives {_spell(true[0])}."
    return AuditCheck("aggregate", str(wanted), state, sentence, int((~good).sum()), exact, details=details)


def _spell(value: float) -> str:
    if np.isnan(value):
        return "no figure"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


def _groups(origin: _cells.Cells, wanted: Aggregate) -> IntArray:
    """The groups of the original, as keys over the columns that the figures go by."""
    return np.unique(_key(origin, wanted))


def _key(cells: _cells.Cells, wanted: Aggregate) -> IntArray:
    """A key a cell; -1 where a value is not one of the original's."""
    key = np.zeros(len(cells.row), dtype=np.int64)
    inside = np.ones(len(cells.row), dtype=bool)
    for name in wanted.by:
        size = len(cells.columns[name])
        inside &= cells.codes[name] < size
        key = key * size + np.minimum(cells.codes[name], size - 1)
    return np.where(inside, key, -1)


def _figures(cells: _cells.Cells, wanted: Aggregate, expression: str | None, groups: IntArray) -> FloatArray:
    """For each group the figure, and the least and the largest that it may be; a mean's only where one group is asked, or nothing is open."""
    many = len(groups)
    meant = cells.known.copy() if expression is None else cells.holds(expression, "aggregate")
    key = _key(cells, wanted)
    group = np.searchsorted(groups, key)
    group = np.where((group < many) & (groups[np.minimum(group, many - 1)] == key) & meant, group, many)
    weight = cells.n[cells.row] * cells.share
    value = np.ones(len(cells.row)) if wanted.column is None else cells.numbers(wanted.column, str(wanted))
    there = ~np.isnan(value)
    value = np.where(there, value, 0.0)
    group = np.where(there, group, many)

    def per(weights: FloatArray) -> FloatArray:
        return np.bincount(group, weights=weights, minlength=many + 1)[:many].astype(np.float64)

    count, total = per(weight), per(weight * value)
    # a row that need not be in a group adds 0 at the least: only where all its cells are there does it add more
    cell = group * len(cells.n) + cells.row
    distinct, first, inverse = np.unique(cell, return_index=True, return_inverse=True)
    mass = np.bincount(inverse, weights=cells.share)
    low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
    np.minimum.at(low, inverse, value)
    np.maximum.at(high, inverse, value)
    inside = group[first] < many
    sure = mass >= 1 - 1e-9
    n, where = cells.n[cells.row[first]][inside], group[first][inside]
    low, high, sure = low[inside], high[inside], sure[inside]

    def bound(values: FloatArray) -> FloatArray:
        return np.bincount(where, weights=n * values, minlength=many).astype(np.float64)

    one = np.ones(len(n))
    if wanted.what == "count":
        return np.column_stack([count, bound(np.where(sure, one, 0.0)), bound(one)])
    least = bound(np.where(sure, low, np.minimum(low, 0.0)))
    most = bound(np.where(sure, high, np.maximum(high, 0.0)))
    if wanted.what == "sum":
        return np.column_stack([total, least, most])
    mean = np.where(count > 0, total / np.where(count > 0, count, 1.0), np.nan)
    whole = bound(np.where(sure, 0.0, one)) == 0  # everyone who may be in the group is
    rows_of = np.maximum(bound(one), 1.0)
    least, most = least / rows_of, most / rows_of
    if many == 1 and not whole[0]:
        least, most = np.array([least_mean(low, sure, n)]), np.array([-least_mean(-high, sure, n)])
    return np.column_stack(
        [mean, np.where(whole | (many == 1), least, np.nan), np.where(whole | (many == 1), most, np.nan)]
    )


def least_mean(value: FloatArray, sure: BoolArray, n: IntArray) -> float:
    """The least mean of rows of which some need not be counted: the lowest of those are, for as long as they lower it."""
    order = np.argsort(value[~sure], kind="stable")
    total = np.cumsum(np.append((n * value)[sure].sum(), (n * value)[~sure][order]))
    count = np.cumsum(np.append(n[sure].sum(), n[~sure][order]))
    return float((total[count > 0] / count[count > 0]).min()) if count[-1] else np.nan
