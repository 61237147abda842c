"""What attacks on the sensitive values of classes share: what cannot be counted, and people who are not in the release."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.classes import Classes
from ...core.column import IntArray
from ...core.errors import InputError, Unavailable
from ...core.noun import dataclass
from ...core.release import Evidence, Release
from ...core.roles import Roles
from ...core.runs import spread
from ...core.table import Table
from ..lookup.match import Match

SHOWN = 20
"""Classes that are shown where the owner asks for values."""


def attacked_classes(
    release: Release, roles: Roles, sensitive: str | None, attack: str
) -> tuple[Evidence, str, Classes]:
    """The evidence, the sensitive column that is attacked and the classes by it, or why there are none to attack."""
    if release.statistics:
        raise Unavailable(
            f"{attack} looks at classes of rows, but this release holds statistics, not one row per person; "
            f"its notes say what {release.made_by} promises."
        )
    if sensitive is None:
        raise InputError(f"{roles.source} names no sensitive column; name one, or write {attack}(COLUMN).")
    column = sensitive
    noisy = [name for name in roles.quasi if name in release.perturbed]
    if noisy:
        raise Unavailable(
            f"{attack} looks a person up by the quasi-identifiers, but {noisy[0]!r} was perturbed, so a class no longer says who is in it; "
            "link by distance instead."
        )
    if column in release.perturbed and release.joined_by is None:
        raise Unavailable(
            f"{attack} reads the values of {column!r}, which was perturbed, so a value no longer belongs to the person in its row."
        )
    evidence = release.evidence(roles)
    classes = evidence.classes(column)
    if not len(classes):
        raise Unavailable(f"{release.table.name} has no rows, so there is nobody to attack.")
    return evidence, column, classes


def whole(classes: Classes) -> Classes:
    """All rows as a single class: what an adversary knows who has only the overall shares of the values."""
    return Classes.of(
        np.zeros(len(classes.n), dtype=np.int64), classes.n, count=1, value=classes.value, sensitive=classes.sensitive
    )


@dataclass(frozen=True, eq=False)
class ControlGroup:
    """People who are not in the release, looked up in it as if they were.

    `classes` has a class for all whom the same released classes cover: the rows of all of these, none for people whom no class
    covers. Entries: `n` people of class `member` have `value`, by its code in the release, -1 if it is not there.
    """

    classes: Classes
    member: IntArray
    value: IntArray
    n: IntArray

    @property
    def people(self) -> int:
        """How many they are."""
        return int(self.n.sum())

    @property
    def covered(self) -> int:
        """Those whom a class covers; of the others nothing is said."""
        return int(self.n[self.classes.size[self.member] > 0].sum())


def control_group(evidence: Evidence, column: str, classes: Classes, control: Table, attack: str) -> ControlGroup:
    """The control group, looked up: each person's class is every released row that covers what is known of them."""
    if column in evidence.apart:
        raise Unavailable(
            f"{attack} cannot look up a control group where only groups join {column!r} to the quasi-identifiers; leave control out."
        )
    tuples = evidence.tuples
    quasi = tuples.names
    for name in quasi:
        evidence.roles.check_column(name, control.columns, where=control.name, kind="quasi")
    evidence.roles.check_column(column, control.columns, where=control.name, kind="sensitive")
    counts = control.count((*quasi, column))
    if not counts.rows:
        raise InputError(f"{control.name} has no rows, so it is no control group.")
    people, member = counts.group(quasi)
    match = Match.of(tuples, people, [evidence.roles.taxonomy(name) for name in quasi])
    pairs = [pair for pair in match.pairs() if len(pair[0])]
    if not pairs:
        raise InputError(
            f"{control.name}: no class of the release covers any of its people; are values spelled as in the original there, and "
            "released ones in a notation that can be read?"
        )
    first = np.searchsorted(classes.member, np.arange(len(classes) + 1))
    point, home = (np.concatenate(side) for side in zip(*pairs, strict=True))
    entry, pair = spread(first[home], first[home + 1])
    pooled = Classes.of(
        point[pair],
        classes.n[entry],
        count=match.points,
        value=classes.value[entry],
        sensitive=classes.sensitive,
    )
    code = classes.sensitive.column.places(counts.columns[-1])
    return ControlGroup(pooled, match.look[member], code[counts.codes[-1]], counts.n)


def rows_of(classes: Classes, hit: Any) -> int:
    """The rows of the classes that are flagged."""
    return int(classes.size[hit].sum())


def class_labels(evidence: Evidence, column: str, hit: Any) -> list[dict[str, str | None]]:
    """The released quasi-identifiers of the first classes that are flagged; nothing where classes are groups."""
    if column in evidence.apart:
        return []
    tuples = evidence.tuples
    return [
        {name.name: name.texts[code[i]] for name, code in zip(tuples.columns, tuples.codes, strict=True)}
        for i in np.flatnonzero(hit)[:SHOWN].tolist()
    ]
