"""Does a release treat small groups worse? Per group: who was left out, who was generalized more, who is easier to find.

Every figure is a count or a mean over the rows of this release, so it is exact. Beside a mean stands the range in which that of as many
people drawn at random would lie (95%, over all groups together): a group beyond it was not treated worse by accident.

**Names.** A group is named only where it has at least `smallest` people, or where the owner asks (`reveal`): the name of a small
group is a value of few. The figures of unnamed groups stay, since they are what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.column import Column, IntArray
from ..core.errors import InputError, Unavailable
from ..core.hierarchy import starred
from ..core.noun import dataclass
from ..core.people import several_rows
from ..core.person_weights import distinct_people
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import counted, percent
from .subgroup_classes import with_pairs
from .subgroup_rows import WHY, ColumnLoss, GroupSide, Labels, SubgroupRows, apart, class_sizes, deviation, spearman

if TYPE_CHECKING:
    from ..mining.scenario import Scenario

SMALLEST = 10
FEW = 0.05
"""A group of a smaller share of the people is a small one."""
MOST = 50
"""Values of a column whose groups are looked at unasked; one that is named may have more."""
LIMIT = 2000


@dataclass(frozen=True)
class MiningWorth:
    """What the deciding miner is worth to the group, per unit of weight, before and after; an estimate with its interval."""

    original: float
    released: float
    decline: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Subgroup:
    """The people who had one value (or a value of one range) of a column in the original."""

    column: str
    name: str | None
    """None where it is not to be told."""
    people: int
    suppressed: int
    """Rows that are not in the release, or are `*` in every quasi-identifier."""
    loss: float
    difference: float
    """Its mean loss less everybody's."""
    chance: tuple[float, float]
    """Where the difference of as many people drawn at random would lie."""
    class_size: float | None
    """Mean over the group's released rows of the rows (or people) that look the same; None where values were perturbed."""
    risk: float | None
    """Mean prosecutor risk, 1 by class size, of the group's released rows."""
    mined: MiningWorth | None = None

    @property
    def worse(self) -> bool:
        """Whether it loses more than chance explains."""
        return self.difference > self.chance[1] + 1e-12


@dataclass(frozen=True)
class BySize:
    """Within one column, how loss goes with the size of the groups."""

    column: str
    groups: int
    rank_correlation: float | None
    """Spearman's, of people and mean loss over the groups: -1 where the smaller always loses more. None below three groups,
    where all are alike, and for quarters, which are of one size."""


@dataclass(frozen=True)
class Subgroups:
    """What a release does to whom."""

    release: str
    people: int
    suppressed: int
    loss: float
    measured: dict[str, str]
    """How the loss of each quasi-identifier was measured: iloss, or distance where values were perturbed."""
    smallest: int
    revealed: bool
    groups: tuple[Subgroup, ...]
    by_size: tuple[BySize, ...]
    small: GroupSide
    rest: GroupSide
    chance: tuple[float, float]
    """Where the difference between as many people drawn at random and the rest would lie."""
    even: tuple[str, ...] = ()
    """Columns whose groups are all small: none is small beside another, so they do not say who is in a small group."""
    beyond: tuple[str, ...] = ()
    """Quasi-identifiers with too many values to make groups of: nobody is counted as being in a small group of theirs."""
    most: int = 10
    exactness: str = "exact"
    notes: tuple[str, ...] = ()
    one_row_each: bool = True
    """Whether each row is another person, as far as can be seen: else what is called people here are rows, and the sentences say so."""

    @property
    def nouns(self) -> tuple[str, str]:
        """What is counted, one and more."""
        return ("person", "people") if self.one_row_each else ("row", "rows")

    @property
    def worst(self) -> tuple[Subgroup, ...]:
        """The groups that lose more than everybody, the worst first."""
        lose = [group for group in self.groups if group.difference > 1e-12]
        return tuple(sorted(lose, key=lambda g: (-g.difference, g.people, g.column, g.name or ""))[: self.most])

    @property
    def difference(self) -> float | None:
        """Mean loss of people in small groups less that of the rest."""
        return None if self.small.loss is None or self.rest.loss is None else self.small.loss - self.rest.loss

    @property
    def sentences(self) -> list[str]:
        """What was found, in words that are true for any value."""
        return [_overall(self), _suppression(self), _worst(self), *_mined(self)]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; a name is null where it is not to be told."""
        content = asdict(self)
        content["worst"] = [asdict(group) for group in self.worst]
        content["difference"] = self.difference
        for group, own in zip(content["groups"], self.groups, strict=True):
            group["worse_than_chance"] = own.worse
        content["sentences"] = self.sentences
        return content


def subgroups(
    release: Release,
    roles: Roles,
    *,
    by: Sequence[str] | None = None,
    smallest: int = SMALLEST,
    reveal: bool = False,
    most: int = 10,
    scenario: Scenario | None = None,
    workers: int | None = None,
) -> Subgroups:
    """Hold each group of the original against everybody: rows left out, loss, class size, prosecutor risk.

    `by` names columns of the original; unasked, the quasi-identifiers that are numbers, dates or have at most 50 values. Numbers and
    dates of more than ten values go by quarters of the people. Loss is that of ILoss, a row left out counting as `*`; for a
    perturbed quasi-identifier, and one whose released values cannot be read, it is the distance from the true value by the range of
    the original, 1 for another text. `scenario` (its good field) adds what mining says of the groups. Rows must be paired, or the
    classes leave no choice who is in which, as after a generalization of whole regions: then they are paired by that.
    """
    if release.statistics:
        raise Unavailable(f"{release.table.name} holds statistics, not rows, so nobody's row can be looked at.")
    if smallest < 1:
        raise InputError("The smallest group to be named must have at least 1 person.")
    if not release.evidence(roles).tuples.rows:
        raise Unavailable(f"{release.table.name} has no rows, so everybody was left out.")
    release, notes = with_pairs(release.one_row_each(roles), roles, WHY)
    evidence = release.evidence(roles)
    original = evidence.original(WHY)
    names, beyond = _columns(evidence, by)
    if beyond:
        notes.append(
            f"Not looked at, since they have more than {MOST} values: {', '.join(beyond)}; name them to have them looked at."
        )
    quasi = evidence.tuples.names
    losses = {name: ColumnLoss.of(evidence, name) for name in quasi}
    weight = {name: float(roles.weights.get(name, 1.0)) for name in quasi}
    if not sum(weight.values()):
        raise Unavailable(f"{WHY}: every weight in {roles.source} is 0, so no quasi-identifier counts.")
    noisy = [name for name in quasi if losses[name].by_distance]
    beside = tuple(dict.fromkeys((*names, *noisy)))
    both, released = evidence.sides(beside, WHY)
    counts = both.count((*(f"original.{name}" for name in beside), *(released[name] for name in quasi)))
    whole = original.count(tuple(names))
    if not whole.rows:
        raise Unavailable(f"{original.name} has no rows, so there are no groups.")

    def side(name: str, before: bool) -> tuple[Column, IntArray]:
        at = beside.index(name) if before else len(beside) + quasi.index(name)
        return counts.columns[at], counts.codes[at]

    total, top = sum(weight.values()), 0.0
    lost, stars = np.zeros(len(counts)), np.ones(len(counts), dtype=bool)
    for name in quasi:
        column, codes = side(name, False)
        lost += weight[name] / total * losses[name].lost(column, codes, side(name, True) if name in noisy else None)
        top += weight[name] / total * losses[name].top
        stars &= starred(column)[codes]
    size = None if any(name in release.perturbed for name in quasi) else class_sizes(evidence, counts, both, released)
    rows = SubgroupRows(counts.n, lost, stars, size, top)
    (everybody,) = rows.figures(np.zeros(len(counts), dtype=np.int64), np.array([whole.rows]))
    mean = everybody.loss or 0.0
    spread = rows.spread(mean, whole.rows)

    groups_by: list[tuple[Labels, list[GroupSide]]] = []
    rare, rare_whole = np.zeros(len(counts), dtype=bool), np.zeros(len(whole), dtype=bool)
    even = []
    for name in names:
        labels = Labels.of(whole, name)
        here = labels.of_codes(*side(name, True))
        few = labels.people < FEW * whole.rows
        if few.all():
            even.append(name)
        else:
            rare |= few[here]
            rare_whole |= few[labels.group]
        groups_by.append((labels, rows.figures(here, labels.people)))
    z = NormalDist().inv_cdf(1 - 0.025 / sum(len(sides) for _, sides in groups_by))
    mined = _mine(release, roles, scenario, [labels for labels, _ in groups_by], workers)
    groups, by_size = [], []
    repeated = several_rows(original, roles)
    for labels, sides in groups_by:
        named = labels.people if repeated is None else _people_of(labels, original, repeated.column)
        for title, of, inside in zip(labels.names, sides, named.tolist(), strict=True):
            half = z * spread * deviation(of.people, whole.rows)
            loss = of.loss or 0.0
            groups.append(
                Subgroup(
                    labels.column, title if reveal or inside >= smallest else None, of.people, of.suppressed, loss, loss - mean,
                    (-half, half), of.class_size, of.risk, mined.get((labels.column, title)),
                )
            )  # fmt: skip
        tied = spearman(labels.people, [of.loss or 0.0 for of in sides]) if labels.values else None
        by_size.append(BySize(labels.column, len(sides), tied))
    many = int(whole.n[rare_whole].sum())
    small, rest = rows.figures(np.where(rare, 0, 1), np.array([many, whole.rows - many]))
    half = 1.96 * spread * apart(many, whole.rows)
    return Subgroups(
        release=release.table.name, people=whole.rows, suppressed=everybody.suppressed, loss=mean,
        measured={name: "distance" if losses[name].by_distance else "iloss" for name in quasi},
        smallest=smallest, revealed=reveal, groups=tuple(groups), by_size=tuple(by_size),
        small=small, rest=rest, chance=(-half, half), even=tuple(even), beyond=tuple(beyond),
        most=most, notes=tuple(notes), one_row_each=repeated is None,
    )  # fmt: skip


def _columns(evidence: Evidence, by: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The columns to look at, and those that were left out."""
    original = evidence.original(WHY)
    for name in by or ():
        if name not in original.columns:
            raise InputError(f"{original.name}: no column {name!r} to look at groups of.")
    names = list(dict.fromkeys(by)) if by else list(evidence.tuples.names)
    kept, left = [], []
    for name, counts in original.value_counts(names).items():
        column = counts.columns[0]
        if column.numbers is not None or column.dates or len(column) <= (LIMIT if by else MOST):
            kept.append(name)
        elif by:
            raise InputError(f"Column {name!r} has {len(column)} values; groups are for columns of at most {LIMIT}.")
        else:
            left.append(name)
    if not kept:
        raise Unavailable(f"No quasi-identifier has at most {MOST} values; name the columns to look at (by).")
    return kept, left


def _people_of(labels: Labels, original: Table, person: str) -> IntArray:
    """How many different people each group holds, where a person has several rows."""
    counts = original.count(tuple(dict.fromkeys((labels.column, person))))
    group, who = labels.of_codes(counts.columns[0], counts.codes[0]), counts.codes[-1]
    return distinct_people(group, who, len(labels.names), len(counts.columns[-1]) + 1)


def _mine(
    release: Release, roles: Roles, scenario: Scenario | None, labels: list[Labels], workers: int | None
) -> dict[tuple[str, str], MiningWorth]:
    """What mining says of the groups that are single values; it puts together those of fewer than 20 people."""
    if scenario is None:
        return {}
    if scenario.good is None:
        raise InputError("Mining a group needs a field that users want to predict; give the scenario a good field.")
    from ..mining.good_utility import MOST_GROUPS
    from ..mining.mine import mine

    columns = tuple(
        label.column
        for label in labels
        if label.values and len(label.names) <= MOST_GROUPS and roles.released((label.column,))
    )
    for_groups = replace(scenario, good=replace(scenario.good, groups=columns), bad=None)
    mined = mine(release, roles, for_groups, workers=workers)["release"].good
    assert mined is not None
    return {
        (g.column, g.value): MiningWorth(g.original, g.released, g.decline.value, (g.decline.low, g.decline.high))
        for g in mined.groups
    }


# --- words -------------------------------------------------------------------------------------------------------------


def _of(group: Subgroup) -> str:
    return f"{group.column} = {group.name}" if group.name is not None else f"a group of {group.column!r} (not named)"


def _overall(result: Subgroups) -> str:
    what = "loss" if set(result.measured.values()) == {"iloss"} else "loss (by distance where values were perturbed)"
    start = f"Everybody's mean {what} is {result.loss:.3g}."
    looked = [each.column for each in result.by_size if each.column not in result.even]
    one, many = result.nouns
    few = f"groups of less than {100 * FEW:g}% of the {many}" + f" by {_and(looked)}" * bool(looked)
    apart = _apart(result)
    if result.difference is None:
        if result.small.people:
            return f"{start} Everybody is in at least one of the {few}, so there is no rest to hold small groups against. {apart}".rstrip()
        if not looked:
            return f"{start} {apart}"
        return f"{start} Nobody is in {few}, so small groups cannot be held against the rest. {apart}".rstrip()
    who = f"The one {one}" if result.small.people == 1 else f"The {result.small.people:,} {many}"
    lose = "loses" if result.small.people == 1 else "lose"
    side = f"{who} in {few} {lose} {result.small.loss:.3g}, the other {result.rest.people:,} {result.rest.loss:.3g}"
    if abs(result.difference) <= result.chance[1] + 1e-12:
        end = f"no more of a difference than between {many} drawn at random"
    else:
        more = "more" if result.difference > 0 else "less"
        end = f"small groups lose {more}, beyond what chance explains (±{result.chance[1]:.2g})"
    return f"{start} {side}: {end}. {apart}".rstrip()


def _apart(result: Subgroups) -> str:
    """The columns by which nobody is counted as being in a small group, and why."""
    sentences = []
    if result.even:
        sentences.append(
            f"Every group of {', '.join(map(repr, result.even))} has less than {100 * FEW:g}% of the {result.nouns[1]}, so none of them is small beside the "
            "others: each is held against everybody instead."
        )
    if result.beyond:
        have = "it has" if len(result.beyond) == 1 else "they have"
        sentences.append(
            f"Small groups of {_and(map(repr, result.beyond))} are not counted: {have} more than {MOST} values."
        )
    return " ".join(sentences)


def _and(names: Iterable[str]) -> str:
    """a, b and c."""
    *most, last = ["", *names]
    return f"{', '.join(most[1:])} and {last}" if most[1:] else last


def _suppression(result: Subgroups) -> str:
    if not result.suppressed:
        return "No row was left out or suppressed throughout."
    start = f"{result.suppressed:,} of {result.people:,} rows ({percent(result.suppressed / result.people)}) were left out or suppressed throughout"
    if not result.small.people or not result.rest.people:
        return f"{start}."
    small, rest = (percent(side.suppressed / side.people) for side in (result.small, result.rest))
    return f"{start}: {small} of the {result.nouns[1]} in small groups, {rest} of the others."


def _worst(result: Subgroups) -> str:
    if not result.worst:
        return "No group loses more than everybody does on average."
    group = result.worst[0]
    beyond = "more than chance explains" if group.worse else "no more than chance explains"
    people = counted(group.people, *result.nouns)
    return (
        f"Worst treated is {_of(group)} with {people}: it loses {group.loss:.3g}, {group.difference:.2g} above everybody's "
        f"({beyond}), and {percent(group.suppressed / group.people)} of its rows were left out or suppressed."
    )


def _mined(result: Subgroups) -> list[str]:
    known = [g for g in result.groups if g.mined is not None and not np.isnan(g.mined.decline)]
    if not known:
        return []
    group = max(known, key=lambda g: g.mined.decline if g.mined else 0.0)
    assert group.mined is not None
    low, high = group.mined.interval
    if group.mined.decline <= 0:
        gain = percent(abs(group.mined.decline))  # 0, not -0
        return [f"By mining, no group is estimated to fare worse than before; the one nearest to a loss gains {gain} (95% interval of its loss {100 * low:.3g}% to {100 * high:.3g}%)."]  # fmt: skip
    return [f"By mining, of all groups {_of(group)} fares worst: its utility loses {100 * group.mined.decline:.3g}% (95% interval of that group alone {100 * low:.3g}% to {100 * high:.3g}%)."]  # fmt: skip
