"""Average relative error of counting queries on the release (LeFevre et al. 2006; Xiao and Tao 2006; Manta 5.3)."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ...core.column import Column, FloatArray, IntArray
from ...core.counts import Counts, hashed
from ...core.group_join import Joined
from ...core.metric import Score, Usual, measure
from ...core.parameter import Choice, Number
from ...core.release import Evidence
from ...core.words import from_zero
from .column_distance import Spread, margin, spread
from .entropy_utility import expected, joint, shared_columns

Flags = npt.NDArray[np.bool_]
BLOCK = 16_000_000
_DENSE = 4
"""A whole table of so many cells a tuple is multiplied faster than its cells that hold rows are looked up."""


def answers(counts: Counts | Joined, queries: Sequence[Mapping[str, FloatArray]]) -> FloatArray:
    """`sum over tuples of n * prod_A f_A(v_A)` for each query, f_A the share of each value of A that the query asks for.

    Queries on the same columns are answered together: from the whole table of those columns where it is hardly larger than its cells
    that hold rows, else from these cells. Of columns that only groups join, what may be expected.
    """
    if isinstance(counts, Joined):
        return counts.answers(queries)
    totals = np.zeros(len(queries))
    alike: dict[tuple[str, ...], list[int]] = {}
    for i, query in enumerate(queries):
        alike.setdefault(tuple(query), []).append(i)
    for names, which in alike.items():
        shape = tuple(len(counts.column(name)) for name in names)
        codes = tuple(map(counts.code, names))
        room = math.prod(shape)
        # one number a combination, unless there are more than numbers
        key = np.ravel_multi_index(codes, shape) if room < 2**62 else np.arange(len(counts))
        if room > _DENSE * len(counts):
            _, first, cell = np.unique(key, return_index=True, return_inverse=True)
            rows = np.bincount(cell.reshape(-1), weights=counts.n).astype(np.float64)[:, None]
            step = max(1, BLOCK // max(len(rows), *shape))
            for start in range(0, len(which), step):
                some = which[start : start + step]
                asked: FloatArray = rows
                for name, code in zip(names, codes, strict=True):
                    asked = asked * np.stack([queries[i][name] for i in some], axis=1)[code[first]]
                totals[some] = asked.sum(axis=0)
            continue
        cells = np.bincount(key, weights=counts.n, minlength=room)
        step = max(1, BLOCK * shape[0] // room)
        for start in range(0, len(which), step):
            some = which[start : start + step]
            part = np.stack([queries[i][names[0]] for i in some]) @ cells.reshape(shape[0], -1)
            for name, size in zip(names[1:], shape[1:], strict=True):
                share = np.stack([queries[i][name] for i in some])
                part = np.einsum("qij,qi->qj", part.reshape(len(some), size, -1), share)
            totals[some] = part[:, 0]
    return totals


def estimated(even: Spread, asked: Flags, ends: tuple[float, float] | None) -> FloatArray:
    """For each released value, the share of it that lies in the values asked for.

    Numbers that only the release has are asked for if they lie between the ends.
    """
    more = np.zeros(len(even.elsewhere) + 1, dtype=bool)
    if ends is not None:
        more[:-1] = (even.elsewhere >= ends[0]) & (even.elsewhere <= ends[1])
    weights = even.share * np.append(asked, more)[even.value]
    return np.bincount(even.released, weights=weights).astype(np.float64)


def neighbours(values: Column, rank: IntArray, low: int, count: int) -> tuple[Flags, tuple[float, float] | None]:
    """So many values from a rank on, as flags; and the ends of a range of numbers."""
    asked = (rank >= low) & (rank < low + count)
    if values.numbers is None or np.isnan(values.numbers[asked]).all():
        return asked, None
    return asked, (float(np.nanmin(values.numbers[asked])), float(np.nanmax(values.numbers[asked])))


def relative_errors(actual: FloatArray, estimate: FloatArray, sanity: float) -> FloatArray:
    """`|estimate - actual| / max(actual, s)`, s the sanity bound, so that a query which nobody answers to has an error too."""
    return np.abs(estimate - actual) / np.maximum(actual, sanity)


def impartial(counts: Counts, start: Sequence[FloatArray]) -> list[IntArray]:
    """An order of each column's values that does not depend on how they are spelled, as far as their rows tell them apart.

    Each value starts with numbers of its own; then, three times, a tuple is marked by its rows and its values' marks, and
    a value by the marks of its tuples (colour refinement).
    """
    marks = [hashed(np.round(numbers, 6).view(np.uint64)) for numbers in start]
    for _ in range(3):
        tuples = hashed(counts.n.astype(np.uint64))
        for i, code in enumerate(counts.codes):
            tuples = hashed(tuples + marks[i][code] * np.uint64(2 * i + 3))
        for i, code in enumerate(counts.codes):
            own = np.zeros(len(marks[i]), dtype=np.uint64)
            np.add.at(own, code, tuples)
            marks[i] = hashed(marks[i] ^ hashed(own))
    return [np.argsort(mark, kind="stable").astype(np.int64) for mark in marks]


@measure(
    title="query error",
    question="How wrong are counting queries answered from the release?",
    about="utility",
    unit="relative error",
    bounds=(0, float("inf")),
    source="LeFevre, DeWitt, Ramakrishnan 2006; Xiao and Tao 2006 (Anatomy); Manta 2013, sec. 5.3",
    sentence=from_zero(
        "The random counting queries get the same answers from the release as from the original.",
        "On average the release answers a random counting query with an error of {} of the true count, or of a "
        "set minimum if the count is smaller.",
    ),
    usual=Usual(130, {"predicates": "ranges"}),
    audience="recipient",
    misleads="It is an average over random queries: yours may fare better or worse (ask them with sfumato inspect queries). "
    "Queries that match few rows dominate it. For perturbed numbers use ranges, because no set of values matches "
    "them.",
    gamed="A release made for these very queries answers them well. Other queries, drawn with another seed or over more columns, show it.",
    needs=frozenset({"original"}),
    parameters={
        "predicates": Choice(("sets", "ranges"), "sets"),
        "queries": Number(1000, 2, 100_000, whole=True),
        "columns": Number(2, 1, 50, whole=True),
        "selectivity": Number(0.05, 1e-6, 1),
        "sanity": Number(0.001, 0, 1),
        "seed": Number(0, 0, 2**32, whole=True),
    },
)
def query_error(
    evidence: Evidence,
    column: None,
    predicates: str,
    queries: int,
    columns: int,
    selectivity: float,
    sanity: float,
    seed: int,
) -> Score:
    """The mean over random queries of `|estimate - actual| / max(actual, s)`, s = `sanity` of the rows, at least one row.

    A query counts the rows whose values in d = `columns` random quasi-identifiers or sensitive columns lie in random
    sets of `ceil(|A| selectivity^(1/d))` values each (Xiao and Tao); with `ranges`, of as many neighbours where the values
    have an order. The original is counted; on the release each value counts by the share of what it covers that was
    asked for. Rows missing from the release are not counted there. Columns that only groups join are put together in
    every way that the groups allow (Xiao and Tao). The interval is normal, over the queries.
    Extremes: 0 for the identity.
    """
    table, original = evidence.release.table, evidence.original("query_error")
    names = shared_columns(evidence, table, original)
    before, after = joint(original, names, "query_error"), expected(evidence, names, "query_error")
    spreads = {name: spread(evidence, before.column(name), after.column(name), "query_error") for name in names}
    masses = [spreads[name].mass(margin(after, name)) for name in names]
    orders = dict(zip(names, impartial(before, masses), strict=True))
    ranked = {name: before.column(name).rank(evidence.roles.orders.get(name)) for name in names}
    rng = np.random.default_rng(seed)
    d = min(columns, len(names))
    widest = max(len(before.column(name)) + len(after.column(name)) for name in names)
    batch = max(1, BLOCK // (d * widest))  # queries held at a time
    actual, estimate = np.zeros(queries), np.zeros(queries)
    ranges: dict[tuple[str, int], tuple[FloatArray, FloatArray]] = {}  # many queries ask for the same one
    for start in range(0, queries, batch):
        true: list[dict[str, FloatArray]] = []
        guess: list[dict[str, FloatArray]] = []
        for _ in range(min(batch, queries - start)):
            true.append({})
            guess.append({})
            for i in np.sort(rng.choice(len(names), d, replace=False)):
                name = names[i]
                values = before.column(name)
                count = min(len(values), int(np.ceil(len(values) * selectivity ** (1 / d) - 1e-9)))
                rank = ranked[name] if predicates == "ranges" else None
                if rank is None:
                    asked = np.zeros(len(values), dtype=bool)
                    asked[orders[name][rng.choice(len(values), count, replace=False)]] = True
                    true[-1][name], guess[-1][name] = asked.astype(np.float64), estimated(spreads[name], asked, None)
                    continue
                low = int(rng.integers(len(values) - count + 1))
                if (name, low) not in ranges:
                    asked, ends = neighbours(values, rank, low, count)
                    ranges[name, low] = asked.astype(np.float64), estimated(spreads[name], asked, ends)
                true[-1][name], guess[-1][name] = ranges[name, low]
        actual[start : start + batch] = answers(before, true)
        estimate[start : start + batch] = answers(after, guess)
    errors = relative_errors(actual, estimate, max(sanity * before.rows, 1.0))
    mean, half = float(errors.mean()), 1.96 * float(errors.std(ddof=1)) / len(errors) ** 0.5
    details = {"median": float(np.median(errors)), "queries": queries, "empty_queries": int((actual == 0).sum())}
    return Score(mean, "relative error", "estimate", ci=(max(mean - half, 0.0), mean + half), details=details)
