"""Does the choice hang on the measure? The same candidates, ranked by every other risk and utility that was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.column import FloatArray
from ..core.memory import remembered
from ..core.metric import Metric
from ..core.noun import dataclass

if TYPE_CHECKING:
    from .result import Result
    from .study import Study


@dataclass(frozen=True, eq=False)
class Ranking:
    """How candidates that meet every requirement rank by one other measure."""

    metric: Metric
    instead_of: str
    """The axis whose place it takes."""
    agreement: float
    """Kendall's tau-b between the two rankings: 1 the same, 0 unrelated, -1 reversed."""
    rank: int
    of: int
    first: int
    """Who is first by it."""
    on_frontier: bool
    """Whether the recommended candidate is still beaten by none, with this measure in the place of that axis."""

    @property
    def sentence(self) -> str:
        """In words; true whatever the numbers."""
        kind = "utility" if self.metric.card.about == "utility" else "risk"
        place = f"worse than none of {self.of}" if self.rank == 1 else f"number {self.rank} of {self.of}"
        beaten = (
            "no other candidate is better in risk or utility without being worse in the other"
            if self.on_frontier
            else "another candidate is no worse in both and better in one"
        )
        return f"With {self.metric} as the measure of {kind}, the recommended candidate is {place}, and {beaten}."

    def to_dict(self, names: list[str]) -> dict[str, Any]:
        """For machines."""
        return {
            "metric": str(self.metric),
            "instead_of": self.instead_of,
            "kendall_tau": self.agreement,
            "rank": self.rank,
            "of": self.of,
            "first": names[self.first],
            "on_frontier": self.on_frontier,
            "sentence": self.sentence,
        }


def kendall(a: FloatArray, b: FloatArray) -> float:
    """Kendall's tau-b: `(concordant - discordant) / sqrt((n0 - ties a)(n0 - ties b))`; 0 where one ranks nobody.

    Extremes: 1 for the same order, -1 for the reverse.
    """
    i, j = np.triu_indices(len(a), 1)
    r, s = (np.unique(z, return_inverse=True)[1] for z in (a, b))  # ranks: a value may be infinite
    x, y = np.sign(r[i] - r[j]), np.sign(s[i] - s[j])
    scale = float(np.sqrt((x != 0).sum() * (y != 0).sum()))
    return float((x * y).sum()) / scale if scale else 0.0


@remembered
def robust(result: Result) -> list[Ranking]:
    """Every other measure that all candidates which meet the requirements have, and that tells some of them apart."""
    chosen = result.recommended[0]
    if chosen is None:
        return []
    study = result.study
    pool = [i for i in result.placed if result.points[i].met]
    seen = [set(result.points[i].scores) for i in pool if not result.points[i].found]
    names = set.intersection(*seen) if seen else set()
    rankings = []
    known = {_plain(study.risk, study), _plain(study.utility, study)}
    for name in sorted(names):
        metric = result.points[pool[0]].scores[name][0] if name in result.points[pool[0]].scores else None
        if metric is None or _plain(metric, study) in known:
            continue
        known.add(_plain(metric, study))
        which = [i for i in pool if result.points[i].has(metric)]
        values = result.axis(metric, which)
        if chosen not in which or len(np.unique(values)) < 2:
            continue
        about = metric.card.about
        axis, other = (study.utility, study.risk) if about == "utility" else (study.risk, study.utility)
        mine = values[which.index(chosen)]
        pair = (other, metric) if about == "utility" else (metric, other)
        on = _beaten_by_none(result.axis(pair[0], which), result.axis(pair[1], which), which.index(chosen))
        rankings.append(
            Ranking(
                metric,
                str(axis),
                kendall(result.axis(axis, which), values),
                int((values < mine).sum()) + 1,
                len(which),
                which[int(np.argmin(values))],
                on,
            )
        )
    return rankings


def _plain(metric: Metric, study: Study) -> Metric:
    """One spelling of each measure: of the only sensitive column it is the same with its name and without."""
    return replace(metric, column=None) if (metric.column,) == study.roles.sensitive else metric


def _beaten_by_none(risk: FloatArray, loss: FloatArray, i: int) -> bool:
    better = (risk <= risk[i]) & (loss <= loss[i]) & ((risk < risk[i]) | (loss < loss[i]))
    return not bool(better.any())
