"""Leakage for any combination of released attributes and any prior, and how choices and distances compare.

Afifi, Zhou, Ren 2018: `leakage` is Def. 2-10, `qid_choices` Fig. 4, `distances` Fig. 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np

from ..core.classes import Classes
from ..core.column import FloatArray, IntArray
from ..core.counts import Counts
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.distribution_leakage import distribution_leakage
from ..metrics.privacy.entropy_leakage import entropy_leakage
from ..metrics.privacy.mutual_information import information
from ..metrics.privacy.one_symbol_i1 import one_symbol_i1
from ..metrics.privacy.t_closeness import emd_equal
from ..metrics.privacy.vanishing_values import vanishing_values
from .priors import Belief, Joint, Margins, Overall, Prior, believe

__all__ = ["Joint", "Leakage", "Margins", "Overall", "QidChoice", "distances", "leakage", "qid_choices"]


@dataclass(frozen=True, eq=False)
class Leakage:
    """What publishing changes in the belief about one attribute, class by class. Numbers only, unless values were asked for.

    rows          of each class
    distribution  L_D = ||a - x||_2, a the prior and x the distribution in the class (Def. 6)
    entropy       L_E = |H(a) - H(x)| in bits (Def. 9)
    vanished      how many values the prior holds possible in the class and the class rules out (negative disclosure)
    only_here     how many values are found in this class only: who has one of them is in it (Ex. 5); 0 for a single class
    unseen        classes of which the prior knew nothing and that were given the overall distribution
    """

    given: tuple[str, ...]
    about: str
    rows: IntArray
    distribution: FloatArray
    entropy: FloatArray
    vanished: IntArray
    only_here: IntArray
    unseen: int
    tuples: Counts
    _classes: Classes
    _belief: Belief | None
    _show: bool

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def worst(self) -> tuple[float, float]:
        """The eps and the alpha that the release reaches: the largest L_D (Def. 7) and the largest L_E (Def. 10)."""
        return float(self.distribution.max()), float(self.entropy.max())

    @property
    def vanished_pairs(self) -> int:
        """Pairs of class and value that the release rules out."""
        return int(self.vanished.sum())

    @property
    def values_in_one_class(self) -> int:
        """Values that are found in one class only."""
        return int(self.only_here.sum())

    def belief(self, index: int) -> tuple[FloatArray, FloatArray]:
        """Prior and published distribution of one class (Fig. 2b, 3b), over the release's values, then the prior's other ones."""
        classes, belief = self._classes, self._belief
        mine = classes.member == index
        if belief is None or index in belief.unseen:
            a = classes.sensitive.prior.copy()
        else:
            a = np.zeros(len(belief.values))
            theirs = belief.member == index
            a[belief.value[theirs]] = belief.p[theirs]
        x = np.zeros(len(a))
        x[classes.value[mine]] = classes.p[mine]
        return a, x

    def values(self, index: int) -> dict[str, list[str | None]]:
        """The values themselves that vanish from a class and that are found there only; None is the missing value."""
        if not self._show:
            raise Unavailable("Values are shown only on request; call leakage(..., show_values=True).")
        classes = self._classes
        texts = classes.sensitive.column.texts if self._belief is None else self._belief.values
        a, x = self.belief(index)
        mine = (classes.member == index) & (classes.n == classes.sensitive.total[classes.value]) & (len(classes) > 1)
        return {
            "vanished": [texts[i] for i in np.flatnonzero((a > 0) & (x == 0))],
            "only_here": [texts[i] for i in classes.value[mine]],
        }

    def table(self, most: int | None = None) -> list[dict[str, Any]]:
        """A line per class, the most exposed first; classes by number, never by value."""
        order = np.lexsort([np.arange(len(self)), -self.rows, -self.distribution])[:most]
        return [
            {
                "class": int(i) + 1,
                "rows": int(self.rows[i]),
                "distribution_leakage": float(self.distribution[i]),
                "entropy_leakage": float(self.entropy[i]),
                "vanished": int(self.vanished[i]),
                "only_here": int(self.only_here[i]),
            }
            for i in order
        ]


def leakage(
    release: Release,
    roles: Roles,
    *,
    given: Sequence[str],
    about: str,
    prior: Prior | None = None,
    show_values: bool = False,
) -> Leakage:
    """The leakage about one released column, given any combination of others (Def. 4); the prior is `Overall()` unless given.

    With `Overall` and given = the quasi-identifiers these are the metrics distribution_leakage and entropy_leakage. Where only groups
    join the column to the quasi-identifiers (Anatomy, permutation), classes are the groups: that is all a person's row tells of it.
    """
    classes, tuples = _split(release, roles, tuple(given), about)
    if isinstance(prior, Joint | Margins) and about in release.evidence(roles).apart:
        raise Unavailable(
            f"Only the groups in {release.joined_by!r} link {about!r} to other columns, so a prior over those columns cannot be "
            "compared with it; use the overall distribution as the prior."
        )
    distribution = distribution_leakage.per_class(classes)
    entropy = entropy_leakage.per_class(classes)
    vanished = vanishing_values.per_class(classes).astype(np.int64)
    alone = classes.n == classes.sensitive.total[classes.value]
    only_here = classes.sum(alone.astype(np.float64)).astype(np.int64) * (len(classes) > 1)
    belief = None
    if isinstance(prior, Joint | Margins):
        belief = believe(prior, release, roles, classes, tuples)
        seen = np.ones(len(classes), dtype=bool)
        seen[belief.unseen] = False
        l_d, l_e, gone = _against(belief, classes)
        distribution = np.where(seen, l_d, distribution)
        entropy = np.where(seen, l_e, entropy)
        vanished = np.where(seen, gone, vanished)
    return Leakage(
        given=tuple(given),
        about=about,
        rows=classes.size,
        distribution=distribution,
        entropy=entropy,
        vanished=vanished,
        only_here=only_here,
        unseen=0 if belief is None else len(belief.unseen),
        tuples=tuples,
        _classes=classes,
        _belief=belief,
        _show=show_values,
    )


def _against(belief: Belief, classes: Classes) -> tuple[FloatArray, FloatArray, IntArray]:
    """L_D, L_E and the vanished values of each class against a prior of its own, over the entries of both."""
    width, count = len(belief.values), len(classes)
    theirs, ours = belief.member * width + belief.value, classes.member * width + classes.value
    key, where = np.unique(np.concatenate([theirs, ours]), return_inverse=True)
    apart = np.bincount(where, weights=np.concatenate([belief.p, -classes.p]), minlength=len(key))
    l_d = np.sqrt(np.bincount(key // width, weights=apart**2, minlength=count))
    before = np.bincount(belief.member, weights=-belief.p * np.log2(belief.p), minlength=count)
    gone = np.bincount(belief.member[~np.isin(theirs, ours)], minlength=count)
    return l_d, np.abs(before - classes.entropy), gone


def _split(release: Release, roles: Roles, given: tuple[str, ...], about: str) -> tuple[Classes, Counts]:
    """The classes over some columns, split by another; the groups, where only they join it to the quasi-identifiers."""
    if not given:
        raise InputError("Leakage needs a combination of columns; name at least one.")
    apart, by = release.evidence(roles).apart, release.joined_by
    if by is not None and about not in (*release.table.columns, *apart):
        release.evidence(roles).classes(about)  # says what to give
    _check(release.table, (*given, about), known=apart)
    check_countable(release, roles, (*given, about), "Leakage")
    if about not in apart and apart.keys().isdisjoint(given):
        return _rolled(release.table.count((*given, about)), roles, given, about)
    if about not in apart or (set(given) != set(roles.quasi) and given != (by,)):
        raise Unavailable(
            f"Only the groups in {by!r} join {about if about in apart else next(n for n in given if n in apart)!r} to the other "
            "columns, so leakage can be measured for all quasi-identifiers together, not for some of them."
        )
    release.evidence(roles).classes(about)  # refuses a companion of other groups
    return _rolled(apart[about].count((str(by), about)), roles, (str(by),), about)


def _rolled(counts: Counts, roles: Roles, given: tuple[str, ...], about: str) -> tuple[Classes, Counts]:
    if not counts.rows:
        raise Unavailable("The table has no rows, so there is nothing to compare.")
    return Classes.from_counts(counts, quasi=given, sensitive=about, order=roles.orders.get(about))


def check_countable(release: Release, roles: Roles, columns: Iterable[str], why: str) -> None:
    """Refuse to read perturbed values as the people's own; those that groups join are the group's, and are asked of it."""
    if release.statistics:
        raise Unavailable(f"{why} counts rows, but this release holds statistics, not one row per person.")
    apart = release.evidence(roles).apart
    for name in columns:
        if name in release.perturbed and name not in apart:
            raise Unavailable(
                f"{why} counts the values of {name!r}, which was perturbed, so a value no longer belongs to the person in its row; "
                "choose other columns, or name the groups it was permuted within with --joined-by."
            )


def _check(table: Table, names: tuple[str, ...], known: Container[str] = ()) -> None:
    for name in names:
        if name not in table.columns and name not in known:
            raise InputError(f"{table.name}: no column {name!r}.")
        if names.count(name) > 1:
            raise InputError(f"Column {name!r} is named twice; a column cannot be both given and asked about.")


@dataclass(frozen=True)
class QidChoice:
    """One set of quasi-identifiers: its classes, the worst class's leakages, and I(W;C) in bits, which is also utility."""

    columns: tuple[str, ...]
    classes: int
    distribution_leakage: float
    entropy_leakage: float
    mutual_information: float


def qid_choices(
    data: Release | Table,
    roles: Roles,
    columns: Sequence[str] | None = None,
    *,
    about: str | None = None,
    sizes: Sequence[int] | None = None,
) -> list[QidChoice]:
    """Every set of candidate quasi-identifiers (of these sizes), compared (Fig. 4); smaller sets first, one scan for all.

    `columns` are the candidates, the roles' quasi-identifiers unless given; `about` the first sensitive column unless given.
    More columns never tell less: distribution leakage and mutual information grow with the set.
    """
    table = data.table if isinstance(data, Release) else data
    names = tuple(columns) if columns is not None else roles.quasi
    about = roles.one_sensitive(about, "name the column that the choice is about")
    if not names:
        raise InputError(f"{roles.source} names no quasi-identifier; name the columns to choose from.")
    if isinstance(data, Release):
        check_countable(data, roles, (*names, about), "Comparing sets of columns")
        joined = [name for name in (about, *names) if name in data.evidence(roles).apart]
        if joined:
            raise Unavailable(
                f"Only the groups in {data.joined_by!r} join {joined[0]!r} to the other columns: they reveal the same about it "
                "whichever columns are known, so there is nothing to choose."
            )
    _check(table, (*names, about))
    wanted = sorted(set(sizes if sizes is not None else range(1, len(names) + 1)))
    if not wanted or not 1 <= wanted[0] <= wanted[-1] <= len(names):
        raise InputError(f"Sets of {len(names)} columns have sizes from 1 to {len(names)}.")
    if sum(math.comb(len(names), size) for size in wanted) > 100_000:
        raise InputError(f"{len(names)} columns make more than 100,000 sets; give sizes, such as sizes=(1, 2, 3).")
    # from the largest sets down, each rolled up from a set with one column more
    counts = {names: table.count((*names, about))}
    choices = {}
    for size in range(len(names), 0, -1):
        if size < len(names):
            counts = {
                subset: _parent(counts, subset, names).group((*subset, about))[0]
                for subset in itertools.combinations(names, size)
            }
        if size in wanted:
            choices.update({subset: _choice(rolled, roles, subset, about) for subset, rolled in counts.items()})
        if size == wanted[0]:
            break
    return [choices[subset] for size in wanted for subset in itertools.combinations(names, size)]


def _parent(counts: dict[tuple[str, ...], Counts], subset: tuple[str, ...], names: tuple[str, ...]) -> Counts:
    """The smallest counts with one column more."""
    more = (tuple(n for n in names if n in subset or n == extra) for extra in names if extra not in subset)
    return min((counts[columns] for columns in more), key=len)


def _choice(counts: Counts, roles: Roles, columns: tuple[str, ...], about: str) -> QidChoice:
    classes, _ = _rolled(counts, roles, columns, about)
    return QidChoice(
        columns,
        len(classes),
        float(distribution_leakage.per_class(classes).max()),
        float(entropy_leakage.per_class(classes).max()),
        information(classes),
    )


def distances(
    release: Release, roles: Roles, *, about: str | None = None, given: Sequence[str] | None = None
) -> dict[str, FloatArray]:
    """How far each class is from the whole table, by every distance of Fig. 1; x is the class's distribution, a the table's.

    l1 = sum |a - x|; euclidean = L_D; kl = sum x log2 x/a; js, the mean divergence of both from their middle, in bits; emd, all
    values equally far apart, half of l1; hellinger = sqrt(1 - sum sqrt(a x)); entropy = L_E, the only one that can be 0 for
    another distribution. All cost the entries of the classes, never classes times values.
    """
    about = roles.one_sensitive(about, "name the column that the distances are about")
    classes, _ = _split(release, roles, tuple(given) if given is not None else roles.quasi, about)
    p, q = classes.p, classes.q
    missing = classes.distinct < np.count_nonzero(classes.sensitive.total)
    absent = np.where(
        missing, np.maximum(1.0 - classes.sum(q), 0.0), 0.0
    )  # what the table has on values not in the class
    middle = (p + q) / 2
    # on a value that is not in the class the middle is a/2, so a log2(a / (a/2)) is a itself
    js = (classes.sum(p * np.log2(p / middle) + q * np.log2(q / middle)) + absent) / 2
    emd = emd_equal(classes)
    return {
        "l1": 2 * emd,
        "euclidean": distribution_leakage.per_class(classes),
        "kl": one_symbol_i1.per_class(classes),
        "js": np.clip(js, 0.0, 1.0),
        "emd": emd,
        "hellinger": np.sqrt(np.clip((classes.sum((np.sqrt(p) - np.sqrt(q)) ** 2) + absent) / 2, 0.0, 1.0)),
        "entropy": entropy_leakage.per_class(classes),
    }
