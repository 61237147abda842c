"""What a release lets people learn of a sensitive column: the default limit, and which columns no limit protects.

A class in which all share one value tells it of everybody in it, however many they are. Offices that check outputs call that group
disclosure, and their rule of thumb is that no cell holds more than 90% of its row (Brandt et al. 2010, ESSnet SDC, Guidelines for the
checking of output based on microdata research): here the row is a class and the cell a sensitive value of it, which is the alpha of
(alpha,k)-anonymity (Wong et al. 2006). Two different values in a class bound nothing: 19 of 20 people may still share one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import Infeasible, SfumatoError
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import counted, percent, percent_up, up
from ..metrics.privacy.alpha_anonymity import alpha_anonymity
from .context import Context, Limit

if TYPE_CHECKING:
    from .result import Result

MOST = 0.9
"""No value of a sensitive column makes up more of a class."""
SOURCE = "ESSnet SDC 2010 (Brandt et al.), Guidelines for the checking of output based on microdata research: group disclosure"


def limited(column: str, require: Sequence[Requirement]) -> bool:
    """Whether some requirement bounds how sure a class makes of a sensitive column."""
    return any(
        requirement.metric.card.keeps == "certainty"
        and requirement.metric.column in (None, column)
        and not requirement.holds(_loosest(requirement))
        for requirement in require
    )


def _loosest(requirement: Requirement) -> float:
    """The worst that the metric can be: a requirement which that meets asks for nothing."""
    low, high = requirement.metric.card.bounds
    return high if requirement.sign == "<=" else low


def with_inference(
    context: Context, table: Table, roles: Roles, *, require: Sequence[Requirement] = (), waive: Mapping[str, str]
) -> Context:
    """The context with a limit on each sensitive column, where the release is public and the impact high.

    A column that the owner limits or waives is left as it is said; a preset's limits are those of its guidance.
    """
    from dataclasses import replace

    if context.preset not in (None, "wp29") or context.to != "public" or context.impact != "high":
        return context
    named = [c for c in roles.sensitive if c in table.columns and c not in waive and not limited(c, require)]
    return replace(context, inference=tuple(_limit(column, table) for column in named))


def _limit(column: str, table: Table) -> Limit:
    """At most 90% of a class, or halfway from the share of the most frequent value in the table to certainty where that is more."""
    counts = table.count((column,))
    share = float(counts.n.max()) / counts.rows if counts.rows else 0.0
    if share >= 1:
        raise Infeasible(
            f"{table.name}: everyone has the same value of {column!r}, so no release that keeps it can hide it; leave it out by making "
            f"it an identifier, or waive it with a reason: --waive '{column}: REASON'."
        )
    bound = max(MOST, float(up((1 + share) / 2, 2, short_of=1)))
    wide = (
        f" The rule of thumb is 90%. The most frequent value makes up {percent(share)} of the table, so the limit is halfway from "
        "there to certainty."
        if bound > MOST
        else ""
    )
    return Limit(
        str(alpha_anonymity.on(column).at_most(bound)),
        SOURCE,
        f"Where the impact is high, nobody's group may give away their {column!r}: no value makes up more than {percent_up(bound)} of "
        f"a group.{wide}",
    )


@dataclass(frozen=True)
class Unprotected:
    """A sensitive column that no requirement limits, and how many rows are in classes that tell it for certain."""

    column: str
    certain: int | None
    rows: int
    waived: str | None = None

    @property
    def sentence(self) -> str:
        """What is not limited, what that lets people learn, and the owner's reason where there is one."""
        text = f"{self.column!r} is not protected"
        if self.certain:
            verb = "is" if self.certain == 1 else "are"
            text += f": {self.certain:,} of {counted(self.rows, 'row')} {verb} in a group where every row has the same value"
        elif self.certain == 0:
            text = f"{self.column!r} is only partly protected: no group has a single value, but nothing limits how likely one value is"
        return text + (f" (waived: {self.waived})" if self.waived else "")


def unprotected(result: Result) -> tuple[Unprotected, ...]:
    """The released sensitive columns that nothing required limits, or that a class tells for certain all the same; those told of most first."""
    kept: dict[str, tuple[Unprotected, ...]] = result.__dict__.setdefault("_unprotected", {})
    chosen, study = result.recommended[0], result.study
    if chosen is None or not study.roles.sensitive:
        return ()
    if "each" not in kept:
        columns = []
        for column in study.roles.sensitive:
            certain, rows = _certain(result, chosen, column)
            if rows and (certain or not limited(column, study.require)):
                columns.append(Unprotected(column, certain, rows, study.waive.get(column)))
        kept["each"] = tuple(sorted(columns, key=lambda each: -(each.certain or 0)))
    return kept["each"]


def _certain(result: Result, chosen: int, column: str) -> tuple[int | None, int]:
    """The rows in classes of one value of a column, None where that cannot be asked, and all rows: 0 if none of them has the column."""
    point, study = result.points[chosen], result.study
    measured = point.scores.get(f"homogeneity_exposed({column})")
    if measured is not None and point.rows is not None:
        return round(measured[1].value * point.rows), point.rows
    if point.release is None and point.candidate.mechanism is None and point.candidate.release is None:
        return None, 0  # scores alone, without anything that they were measured of
    release = result.release(chosen)
    if release.statistics:
        return None, 0
    try:
        classes = release.evidence(study.roles.by_rows).classes(column)  # the sentence counts rows, whoever has them
        return int(np.sum(classes.size[classes.distinct == 1])), int(classes.rows)
    except SfumatoError:  # it cannot be asked of such a release
        return None, release.table.rows if column in release.table.columns or release.companions else 0


def leaves(result: Result) -> str:
    """For the first line of a recommendation: the sensitive columns that stay unprotected; an empty text if there are none."""
    return "; ".join(each.sentence for each in unprotected(result))
