"""Skewness: a class in which a value is far more frequent than overall (Li, Li, Venkatasubramanian 2007; Manta 3.2.3)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..core.attack import attack
from ..core.classes import Classes
from ..core.errors import InputError
from ..core.metric import QUASI_KNOWN, TOLERANCE
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.parameter import Number, Words
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import about, from_zero, up
from ..metrics.privacy.distinct_l_diversity import cared_for
from .knowledge.class_values import SHOWN, attacked_classes, class_labels, control_group, rows_of


@dataclass(frozen=True, kw_only=True)
class LikelierValues(AttackDetails):
    """Classes that make a value so many times likelier than it is overall."""

    factor: float
    classes: int
    exposed_classes: int
    exposed_people: int
    """The rows of these classes, whatever their value."""
    largest_ratio: float
    belief_gained: float
    """`p(w|c) - p(w)` of a person's own value, the mean over everybody."""
    belief_gained_fell: float
    """The same over those who fell."""
    largest_belief: float
    control_covered: int | None = None
    """Of the people who are not in the release, so many look like somebody who is."""
    shown: Sequence[Any] | None = None
    in_exposed_classes: int | None = None
    """Of the metric: what `exposed_people` says."""


def likelier(classes: Classes, factor: float, dont_care: Set[str] = frozenset()) -> npt.NDArray[np.bool_]:
    """The entries whose value is at least so many times likelier in its class than overall: `p(w|c) >= factor p(w)`."""
    return cared_for(classes, frozenset(dont_care)) & (classes.p >= factor * classes.q * (1 - TOLERANCE))


@attack(
    title="skewness",
    question="For how many people does the class make their own sensitive value much likelier than in the whole table?",
    how="The adversary looks a person's class up and compares the share of each value there with its share in the whole table. The "
    "attack works where the person's own value has become far likelier.",
    knows=f"{QUASI_KNOWN}; and how frequent each value is overall",
    effort="looking one class up and comparing shares",
    source="Li, Li, Venkatasubramanian 2007, skewness attack; Manta 2013, sec. 3.2.3",
    sentence=from_zero(
        "No class makes the sensitive value of anyone in it, where it must not be learned, likelier by the factor (twice as likely by default).",
        "For {} of the rows, the class makes the row's own sensitive value, one that must not be learned, likelier than in the "
        "whole table by at least the factor (twice as likely by default).",
    ),
    misleads="A value that half of the people have can never become more than twice as likely, so common values never count, even when they "
    "become certain; see homogeneity_exposed and alpha_anonymity. In a small class, a single row with a rare value counts.",
    needs=frozenset({"sensitive"}),
    classes=True,
    parameters={
        "factor": "How many times likelier a value must become; a number above 1.",
        "dont_care": "Values that may be disclosed.",
    },
)
def skewness(
    release: Release,
    roles: Roles,
    *,
    sensitive: str | None = None,
    factor: float = 2.0,
    dont_care: Set[str] = frozenset(),
    control: Table | None = None,
    reveal: bool = False,
) -> Outcome:
    """Compare what a class says of a value with its overall share; those fall whose own value became `factor` times likelier.

    Belief gained is `p(w|c) - p(w)` of a person's own value w, the mean over everybody in the details. The overall shares are what
    an adversary has who saw no class, so the baseline is nobody. `dont_care` are values that may be told; `control` are people who
    are not in the release, looked up as if they were. Extremes: nobody if every class is like the table; at `factor` m everybody
    if each class holds one of m equally frequent values.
    """
    if not factor > 1 or not np.isfinite(factor):
        raise InputError("skewness: factor says how many times likelier a value must become; give a number above 1.")
    evidence, column, classes = attacked_classes(release, roles, sensitive, "skewness")
    hit = likelier(classes, factor, dont_care)
    fell, people = int(classes.n[hit].sum()), classes.rows
    exposed = np.bincount(classes.member[hit], minlength=len(classes)) > 0
    care = cared_for(classes, frozenset(dont_care))
    gained = classes.n * (classes.p - classes.q)
    ratio = np.where(care, classes.p / classes.q, 0.0)
    held, group = None, None
    if control is not None:
        group = control_group(evidence, column, classes, control, "skewness")
        m = len(classes.sensitive.total)
        claimed = likelier(group.classes, factor, dont_care)
        keys = group.classes.member[claimed] * m + group.classes.value[claimed]
        own = (group.value >= 0) & np.isin(group.member * m + group.value, keys)
        held = Rate.of(int(group.n[own].sum()), group.people)
    details = LikelierValues(
        column=column,
        factor=factor,
        classes=len(classes),
        exposed_classes=int(exposed.sum()),
        exposed_people=rows_of(classes, exposed),
        largest_ratio=float(ratio.max(initial=0.0)),
        belief_gained=float(gained[care].sum()) / people,
        belief_gained_fell=float(gained[hit].sum()) / fell if fell else 0.0,
        largest_belief=float(classes.p[hit].max(initial=0.0)),
        control_covered=None if group is None else group.covered,
    )
    if reveal:
        texts = classes.sensitive.column.texts
        where = np.flatnonzero(hit)
        number = np.cumsum(exposed) - 1
        named = class_labels(evidence, column, exposed)
        shown = [
            {
                "class": named[at] if at < len(named) else {},
                "value": texts[classes.value[i]],
                "share": float(classes.p[i]),
                "overall": float(classes.q[i]),
                "rows": int(classes.n[i]),
            }
            for i in where.tolist()
            if (at := int(number[classes.member[i]])) < SHOWN
        ]
        details = replace(details, shown=shown)
    sentence = (
        f"In no class is a value that must not be learned {about(factor, 12)} times as frequent as overall."
        if not fell
        else f"For {fell:,} of {people:,} people the class makes their own value at least {about(factor, 12)} times likelier "
        f"than it is overall, and at most {up(details.largest_ratio)} times."
    )
    return Outcome.of(fell, people, 0, control=held, sentence=sentence, details=details)


@skewness.metric(
    title="exposed to skewness", parameters={"factor": Number(2, low=1.000001, high=1e9), "dont_care": Words()}
)
def skewness_exposed(evidence: Evidence, column: str, factor: float, dont_care: frozenset[str]) -> Outcome:
    """`sum of n(c, w) over classes c and values w with p(w|c) >= factor p(w), by all rows`; `dont_care` may be disclosed.

    Merging two classes can expose more people: one that just misses the factor is lifted over it. Extremes: 0 if every class is
    like the table; 1 at a factor of m if each class holds one of m equally frequent values.
    """
    outcome = skewness(evidence.release, evidence.roles, sensitive=column, factor=factor, dont_care=dont_care)
    details = cast(LikelierValues, outcome.details)
    return replace(outcome, details=replace(details, in_exposed_classes=details.exposed_people))
