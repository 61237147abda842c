"""What someone who finds a person's class learns of a sensitive column, in plain numbers: how often a guess is right, before and after."""

from __future__ import annotations

import numpy as np

from ..core.classes import Classes
from ..core.errors import SfumatoError
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..metrics.privacy.alpha_anonymity import alpha_anonymity


@dataclass(frozen=True, kw_only=True)
class Learned:
    """Of one sensitive column, over the released rows; `reason` says why nothing could be counted."""

    column: str
    rows: int = 0
    values: int = 0
    """Different values in the release."""
    blind: float = 0.0
    """The share that a guess of the most frequent value gets right without looking anybody up."""
    informed: float = 0.0
    """The share that a guess of the most frequent value of each person's class gets right."""
    worst: float = 0.0
    """The largest share that one value has in a class."""
    worst_rows: int = 0
    """Rows in the classes where it has that share."""
    certain: int = 0
    """Rows in classes of a single value: whoever finds the class knows the value."""
    reason: str = ""


def learned(release: Release, roles: Roles) -> tuple[Learned, ...]:
    """For each sensitive column of the roles what the classes tell of it.

    Extremes: with one class for all, `informed` is `blind`; where every class has one value, everybody is certain and `informed` is 1.
    """
    return tuple(_of(release, roles, column) for column in roles.sensitive)


def _of(release: Release, roles: Roles, column: str) -> Learned:
    try:
        classes = release.evidence(roles.by_rows).classes(column)  # rows are what a reader of the file sees
    except SfumatoError as reason:
        return Learned(column=column, reason=str(reason))
    return of_classes(column, classes)


def of_classes(column: str, classes: Classes) -> Learned:
    """The same of classes that were counted; a noisy value is compared as it was released."""
    rows = classes.rows
    if not rows:
        return Learned(column=column, reason="The release has no rows.")
    most = alpha_anonymity.per_class(classes)
    worst = float(most.max())
    return Learned(
        column=column,
        rows=rows,
        values=int(np.count_nonzero(classes.sensitive.total)),
        blind=float(classes.sensitive.prior.max()),
        informed=min(float((most * classes.size).sum()) / rows, 1.0),
        worst=worst,
        worst_rows=int(classes.size[most >= worst - 1e-12].sum()),
        certain=int(classes.size[classes.distinct == 1].sum()),
    )
