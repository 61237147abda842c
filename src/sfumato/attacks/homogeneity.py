"""Homogeneity: a class whose rows share one sensitive value tells it of everyone in it (Machanavajjhala et al. 2007; Manta 3.2)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.attack import attack
from ..core.classes import Classes
from ..core.column import FloatArray, IntArray
from ..core.errors import InputError, SfumatoError
from ..core.metric import QUASI_KNOWN, TOLERANCE, Usual
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.parameter import Words
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import about, counted, from_zero
from ..metrics.privacy.distinct_l_diversity import cared_for
from .knowledge.class_values import SHOWN, attacked_classes, class_labels, control_group, rows_of, whole


@dataclass(frozen=True, kw_only=True)
class SameValues(AttackDetails):
    """Classes in which one value has the share."""

    share: float
    classes: int
    exposed_classes: int
    exposed_people: int
    of_one_value: int
    """People in classes of a single value."""
    largest_exposed_class: int
    control_covered: int | None = None
    """Of the people who are not in the release, so many look like somebody who is."""
    shown: Sequence[Any] | None = None


def claims(classes: Classes, share: float = 1.0, dont_care: Set[str] = frozenset()) -> IntArray:
    """The value that is claimed of everyone in each class: its most frequent one if it has this share, else -1.

    Values that may be disclosed are never claimed. Of equally frequent ones the first is taken.
    """
    some = np.flatnonzero(cared_for(classes, frozenset(dont_care)) & (classes.p >= share - TOLERANCE))
    order = some[np.lexsort((classes.value[some], -classes.n[some], classes.member[some]))]
    claim = np.full(len(classes), -1, dtype=np.int64)
    claim[classes.member[order[::-1]]] = classes.value[order[::-1]]  # the first of a class is written last
    return claim


@attack(
    title="homogeneity",
    question="How many people are in a class where everyone has the same sensitive value?",
    how="The adversary looks a person's class up. The attack works where all rows of the class share one sensitive value: nobody's row "
    "need be found to learn it.",
    knows=QUASI_KNOWN,
    effort="looking one class up",
    source="Machanavajjhala et al. 2007, homogeneity attack; Manta 2013, sec. 3.2",
    sentence=from_zero(
        "No class has rows that all share one sensitive value that must not be learned.",
        "{} of the rows are in a class whose rows all share one sensitive value that must not be learned, so an "
        "adversary who finds the class knows the value.",
    ),
    misleads="A class with a single different row does not count, although the value is nearly certain; see alpha_anonymity. If the whole "
    "table has one value, everyone is exposed without any release.",
    needs=frozenset({"sensitive"}),
    classes=True,
    parameters={
        "share": "The share of a class's rows that one value must have to be claimed of everybody in it; 1 is certain.",
        "dont_care": "Values that may be disclosed.",
    },
)
def homogeneity(
    release: Release,
    roles: Roles,
    *,
    sensitive: str | None = None,
    share: float = 1.0,
    dont_care: Set[str] = frozenset(),
    control: Table | None = None,
    reveal: bool = False,
) -> Outcome:
    """Look a person's class up, and say its value where one has at least this share of the rows (Manta 3.2, attack 1).

    With `share=1` a claim is certain; below, it is wrong for the others in the class. Those fall whose value is said. The baseline
    says the most frequent value of the table, if that has the share. `dont_care` are values that may be told. `control` are people
    who are not in the release: what is right of them is no fault of the release. `reveal` puts classes and values into the details.
    Extremes: nobody falls if every class holds two values (share 1); everybody if every class holds one.
    """
    if not 0 < share <= 1:
        raise InputError("homogeneity: share is a share of a class's rows, above 0 and at most 1.")
    evidence, column, classes = attacked_classes(release, roles, sensitive, "homogeneity")
    claim = claims(classes, share, dont_care)
    hit = claim >= 0
    fell = _right(classes, claim)
    overall = whole(classes)
    baseline = _right(overall, claims(overall, share, dont_care))
    people = classes.rows
    held, group = None, None
    if control is not None:
        group = control_group(evidence, column, classes, control, "homogeneity")
        said = claims(group.classes, share, dont_care)[group.member]
        held = Rate.of(int(group.n[(said >= 0) & (said == group.value)].sum()), group.people)
    details = SameValues(
        column=column,
        share=share,
        classes=len(classes),
        exposed_classes=int(hit.sum()),
        exposed_people=rows_of(classes, hit),
        of_one_value=rows_of(classes, classes.distinct == 1),
        largest_exposed_class=int(classes.size[hit].max(initial=0)),
        control_covered=None if group is None else group.covered,
    )
    if reveal:
        texts = classes.sensitive.column.texts
        where = np.flatnonzero(hit)[:SHOWN].tolist()
        shown = [
            {"class": who, "value": texts[claim[c]], "rows": int(classes.size[c])}
            for who, c in zip(class_labels(evidence, column, hit) or [{} for _ in where], where, strict=True)
        ]
        details = replace(details, shown=shown)
    certain = "all" if share == 1 else f"at least {about(100 * share, 12)}%"
    sentence = (
        f"No class has one value that must not be learned in {certain} of its rows, so by that a class alone tells nobody's."
        if not hit.any()
        else f"Of {counted(people, 'person', 'people')} {details.exposed_people:,} {'is' if details.exposed_people == 1 else 'are'} in "
        f"{counted(int(hit.sum()), 'class', 'classes')} with one value that must not be learned in {certain} of the rows; "
        f"saying it is right for {fell:,} of them."
    )
    return Outcome.of(fell, people, baseline, control=held, sentence=sentence, details=details)


def _costs(classes: Classes, dont_care: frozenset[str]) -> FloatArray:
    """The rows of each class of one value; any part of such a class is another."""
    return (classes.size * (claims(classes, 1.0, dont_care) >= 0)).astype(float)


@homogeneity.metric(
    title="exposed to homogeneity",
    monotone=True,
    costs=_costs,
    alone=True,
    parameters={"dont_care": Words()},
    usual=Usual(200, each_column=True),
    keeps="variety",
)
def homogeneity_exposed(evidence: Evidence, column: str, dont_care: frozenset[str]) -> Outcome:
    """`sum of |c| over classes c of one value, by all rows`; `dont_care` lists values that may be disclosed.

    Extremes: 0 if every class holds two values; 1 if every class holds one, as do classes of one row.
    """
    return homogeneity(evidence.release, evidence.roles, sensitive=column, dont_care=dont_care)


def certain(release: Release, roles: Roles, column: str) -> int:
    """Rows whose class has one value of the column, which is then certain; 0 where the whole table has one, or classes say nothing."""
    try:
        _, _, classes = attacked_classes(release, roles, column, "homogeneity")
    except SfumatoError:
        return 0
    return 0 if len(np.unique(classes.value)) == 1 else rows_of(classes, classes.distinct == 1)


def _right(classes: Classes, claim: IntArray) -> int:
    return int(classes.n[claim[classes.member] == classes.value].sum())
