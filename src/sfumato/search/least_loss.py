"""A bound for local recoding: no release with classes of at least k rows loses less ILoss than this.

**For which releases it holds.** Every row that is released has in each quasi-identifier a label that stands for its value; rows with equal
labels are a class, and every class has at least k rows and, where that is required, at least l different sensitive values. The labels are
of the kinds that `labels` (and [labels] of the roles) allows: nodes of the column's hierarchy, ranges that hold every value between
their ends, or sets; classes may overlap and may choose the kind column by column. Rows may be left out, each at the loss of `*`. It holds
for full-domain generalization, Mondrian, clustering, cell suppression and all that can be made in this way, not for releases that
change values: noise, swapping, averages of numbers.

**Why.** Let d(r, s) be what the cheapest label for two rows loses, summed over columns; a label for more rows loses no less. Of a class
with m >= k rows that loses c a row,

    (1)  c >= d(r, s) for all its pairs, so for each of its rows c >= d(r, (k-1)th nearest other row)
    (2)  floor(m^2/4) c >= the sum of d'(r, s) over its pairs

(2) since a range of m values is at least their pairwise distances over floor(m^2/4), and so is a set's number of further values; a node of
a hierarchy may cost each pair as much as all, so d' is half of d there. From (2) follows m c >= the sum over its rows of 2/m times
the distances d' to its other rows, which is least for the k - 1 nearest, and grows with m. Both are summed over all rows, and the better sum is taken.

Where the mean risk (marketer_risk) may be at most b, rows in classes of m rows pay in it: the sum of 1/m - b over the released rows is at most
0. Let each row choose the size m of its class by itself, at what (1) or (2) says of that size; for every price p of the mean, no release
loses less than the sum over rows of the least of f(m) + p (1/m - b), by duality, and the best price is taken.

Both sums are means over rows. On a large table they can be estimated from rows drawn at random, each held against every row of the table: what is
told is then the lower end of an interval, which the bound itself lies below in one draw of 1,000.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..core.cell_loss import ILOSS
from ..core.classes import Classes
from ..core.column import FloatArray, IntArray
from ..core.errors import InputError, Unavailable
from ..core.label_kinds import Labels
from ..core.metric import Requirement, Score, listed, spell_bound
from ..core.release import Release
from ..core.roles import Roles, check_roles
from ..core.source import Source, as_table
from ..core.words import down
from ..metrics.privacy.distinct_l_diversity import distinct_l_diversity
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.marketer_risk import marketer_risk
from .label_costs import ColumnCost
from .nearest_others import Nearest, PairCosts, nearest_others
from .required_columns import sensitive_columns

WORK = 1_000_000_000
"""Looks at a pair of tuples in a column, after which rows that were not looked at are taken to be as near as they could be."""
_WIDE, _MOST = 3.0, 60
"""Up to how many times the mean size that a mean risk asks for sizes of classes are told apart, and up to how many rows."""
_STEPS, _GOLDEN = 40, (5**0.5 - 1) / 2
"""Golden-section search for the best price of a mean risk."""
DRAWN = 250_000_000
"""The same looks, by which the number of rows that are drawn for an estimate follows."""
_LARGE = 2
"""Times `WORK`: where looking at every pair takes more, the bound is estimated if that is allowed."""
_FEWEST_DRAWN, _MOST_DRAWN = 200, 4_000
_SURE = 3.29
"""Standard errors that an estimate stays below the mean: 1 in 2,000, for each of the two sums."""
_ROUNDING = 1e-9
"""By what share the bound is lowered, since sums are rounded."""


def least_rows(require: Iterable[Requirement], rows: int) -> int:
    """The fewest of `rows` rows with which a class meets requirements that look at its size alone, such as k_anonymity."""
    good = np.ones(rows, dtype=bool)
    for requirement in require:
        good &= requirement.passes(requirement.metric.per_class(Classes(np.arange(1, rows + 1), whole=rows)))
    return int(np.argmax(good)) + 1 if rows else 1


def least_loss(
    table: Source,
    roles: Roles,
    *,
    k: int | None = None,
    require: tuple[Requirement, ...] | list[Requirement] = (),
    labels: Labels = "cheapest",
    work: int = WORK,
    estimate: bool = False,
) -> Score:
    """The ILoss below which no local recoding comes: of classes of at least `k` rows, and as large and diverse as `require` asks.

    Of the requirements those count that look at a class's size, marketer_risk and distinct_l_diversity; what others ask can only make
    the loss larger. `labels` are the kinds of label, as for Mondrian and k_member; with `any` it holds for whatever labels. It is a bound: the
    best release may lose more. The details say whether `work` sufficed, and which of the two sums it is. With `estimate` it is estimated from
    rows drawn at random (always the same ones) where the table is too large to look at every pair of rows.
    Extremes: 0 for k = 1, and where each combination stands k times; the loss of `*` where the table has fewer than k rows.
    """
    check_roles(roles)
    table = as_table(table, roles)
    roles.check_quasi()
    require = listed(require)
    if roles.counts_people:
        raise InputError(f"A bound on the loss counts rows, and {roles.source} says that people are counted.")
    diverse = [r for r in require if r.metric.card is distinct_l_diversity.card]
    split = sensitive_columns((r.metric for r in diverse), roles)
    roles.check(table.columns, where=table.name, need=("quasi", "sensitive", "insensitive"))
    counts = table.count_some((*roles.quasi, *split))
    grouped, member = counts.group(roles.quasi)
    sized = (r for r in require if r.metric.card.steers and "sensitive" not in r.metric.card.needs)
    k = max(k or 1, least_rows(sized, grouped.rows))
    weights = {name: float(roles.weights.get(name, 1.0)) for name in roles.quasi}
    if not (total := sum(weights.values())):
        raise InputError(f"Every weight in {roles.source} is 0, so no column counts and nothing is lost.")
    columns = [ColumnCost(c, roles, labels, ILOSS, weights[c.name] / total) for c in grouped.columns]
    values = []
    for name in split:
        least = max(
            int(np.ceil(r.bound - 1e-9)) for r in diverse if r.metric.column in (None, name) and np.isfinite(r.bound)
        )
        values.append((member, counts.codes[counts.names.index(name)], max(least, 1)))
    mean = min((r.bound for r in require if r.metric.card is marketer_risk.card), default=1.0)
    many = max(k, min(int(_WIDE / mean), _MOST)) if 0 < mean < 1 / k else k
    costs = PairCosts(columns, np.array(grouped.codes))
    whole = sum(column.whole for column in columns)
    only, n = None, grouped.n
    drawn = estimate and len(n) ** 2 * len(costs) > _LARGE * work
    if drawn:
        only, n = _drawn(n, DRAWN // (len(n) * len(costs)))
    nearest = nearest_others(costs, grouped.n, many, values, work, only)
    below: dict[str, float] = {}
    about: dict[str, float] = {}
    for name, each in _sums(nearest, n, k, whole, mean).items():
        about[name] = float(each @ n) / float(n.sum())
        spread = float(((each - about[name]) ** 2) @ n) / max(float(n.sum()) - 1, 1.0) if drawn else 0.0
        below[name] = max(about[name] - _SURE * (spread / float(n.sum())) ** 0.5, 0.0)
    best = max(below, key=lambda name: below[name])
    return Score(
        below[best] * (1 - _ROUNDING),
        "share of the domain",
        "estimate" if drawn else "bound",
        details={
            "k": k,
            "diverse": bool(values),
            "mean_risk": mean if mean < 1 / k else None,
            "labels": labels,
            "kinds": {column.name: list(column.allowed) for column in columns},
            "by": best,
            "complete": nearest.complete,
            "rows_drawn": int(n.sum()) if drawn else None,
            "about": about[best] if drawn else None,
        },
    )


def _drawn(n: IntArray, rows: int) -> tuple[IntArray, IntArray]:
    """Tuples of rows drawn at random with replacement, and how often each was drawn. Nothing here is secret: always the same draw."""
    rows = min(max(rows, _FEWEST_DRAWN), _MOST_DRAWN)
    at = np.random.default_rng(0).integers(int(n.sum()), size=rows)
    tuples, times = np.unique(np.searchsorted(np.cumsum(n), at, side="right"), return_counts=True)
    return tuples.astype(np.int64), times.astype(np.int64)


def least_loss_beside(
    release: Release, roles: Roles, require: tuple[Requirement, ...] | None = None, labels: Labels | None = None
) -> Score:
    """The bound to hold a release's ILoss against: for what is required, else for classes as large as its smallest.

    Unless `labels` are given, they are the cheapest, with sets where the release has any. Raises Unavailable where the release has no
    original, has values that were changed, or holds statistics.
    """
    if release.original is None or release.statistics or set(release.perturbed) & set(roles.quasi):
        raise Unavailable("A bound on the loss needs the original, and a release whose labels stand for its values.")
    if roles.counts_people:
        raise Unavailable("A bound on the loss counts rows, not people.")
    evidence = release.evidence(roles)
    if require is None:
        require = (k_anonymity.at_least(k_anonymity.score(evidence).value),)
    if labels is None:
        texts = (text for column in evidence.tuples.columns for text in column.texts if text is not None)
        labels = "any" if any(text[:1] + text[-1:] == "{}" for text in texts) else "cheapest"
    return least_loss(release.original, roles, require=require, labels=labels, estimate=True)


def spell_least_loss(bound: Score) -> str:
    """The bound in a sentence, for owners."""
    labels = {
        "hierarchies": "labels of the hierarchies (ranges or sets where a column has none)",
        "plain": "ranges (or sets where a column has no order)",
        "cheapest": "labels of the hierarchies or ranges (sets where a column has neither)",
        "any": "any labels that stand for the rows' values",
    }[bound.details["labels"]]
    diverse = ", with as many different sensitive values as required," if bound.details["diverse"] else ""
    if bound.details["mean_risk"] is not None:
        diverse = f", a mean risk of at most {spell_bound(bound.details['mean_risk'])}{diverse or ','}"
    sentence = (
        f"No release with classes of at least {bound.details['k']:,} rows{diverse} and {labels} has an ILoss below {down(bound.value, 4)}, "
        "whatever the mechanism. "
    )
    if bound.details["rows_drawn"] is not None:
        return (
            f"{sentence}This is a bound estimated from {bound.details['rows_drawn']:,} rows drawn at random (99.9% of such draws give no more than "
            "the whole table does): the best possible release may lose more."
        )
    return f"{sentence}This is a bound: the best possible release may lose more."


def _sums(nearest: Nearest, n: IntArray, k: int, whole: float, mean: float) -> dict[str, FloatArray]:
    """What each tuple's rows add, by (1) and by (2); none adds more than a row that is left out."""
    many = nearest.costs.shape[1]
    sizes = np.arange(k, many + 1)
    alone = np.max([nearest.costs[:, k - 2] if k > 1 else np.zeros(len(n)), *nearest.values], axis=0)
    rows = np.hstack([alone[:, None], np.maximum(nearest.costs[:, k - 1 :], alone[:, None])])
    # by (2): of m rows exactly, and of all that have one more than the most
    together = nearest.shares[:, sizes[sizes > 1] - 2] * (sizes[sizes > 1] / 2 / (sizes[sizes > 1] ** 2 // 4))
    more = nearest.shares[:, many - 1] * (2 / (many + 1))
    pairs = np.hstack([np.zeros((len(n), int(k == 1))), together, more[:, None]])
    inverse = np.append(1 / sizes, 0.0)
    return {name: _dual(each, inverse, n, whole, mean) for name, each in (("rows", rows), ("pairs", pairs))}


def _dual(each: FloatArray, inverse: FloatArray, n: IntArray, whole: float, mean: float) -> FloatArray:
    """What rows lose at least, given what each loses by the size of its class (tuples x sizes) and one by each size: at the best price."""

    def lost(price: float) -> FloatArray:
        least: FloatArray = np.minimum((each + price * (inverse - mean)).min(axis=1), whole)
        return least

    def at(price: float) -> float:
        return float(lost(price) @ n / n.sum())

    if mean >= inverse.max() or mean <= 0:
        return lost(0.0)
    low, high = 0.0, whole / mean
    for _ in range(_STEPS):  # concave in the price
        a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, b) if at(a) >= at(b) else (a, high)
    return lost(max((0.0, low, high), key=at))
