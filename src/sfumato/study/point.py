"""A candidate, measured; and how that is kept in a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from .. import metrics
from ..core.metric import Metric, Score, Verdict
from ..core.noun import dataclass
from ..core.release import Release
from .candidate import Candidate

Scores = dict[str, tuple[Metric, Score]]


@dataclass(frozen=True, eq=False)
class Point:
    """A candidate's release, measured; or why there is none."""

    candidate: Candidate
    scores: Scores = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Requirements that cannot be asked of this release, with the reason: it cannot be shown to meet them."""
    release: Release | None = None
    seconds: float = 0.0
    failure: str | None = None
    rows: int | None = None
    """The rows that are released, where that is known."""
    found: bool = False
    """Whether it was not asked for, but found in the neighbourhood of another."""

    def _about(self) -> list[str]:
        state = "not made" if self.failure is not None else "met" if self.met else "not met"
        return [repr(self.candidate), f"{len(self.scores)} scores", state]

    @property
    def met(self) -> bool:
        """Whether it is shown to meet every requirement of the study."""
        return self.failure is None and not self.unknown and all(verdict.met for verdict in self.verdicts)

    def value(self, metric: Metric) -> float:
        """A score by metric."""
        return self.scores[str(metric)][1].value

    def has(self, *wanted: Metric) -> bool:
        """Whether these were measured, and are numbers."""
        return all(str(m) in self.scores and not math.isnan(self.value(m)) for m in wanted)

    @property
    def misses(self) -> list[str]:
        """What it is not shown to meet."""
        return [*(str(v.requirement) for v in self.verdicts if not v.met), *self.unknown]


@dataclass(frozen=True, eq=False)
class Measurement:
    """What came of making and measuring a candidate: all that is kept of it."""

    scores: Scores = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    failure: str | None = None
    seconds: float = 0.0
    release: Release | None = None
    rows: int | None = None
    """The rows that are released; None where it holds no row a person."""
    lasting: bool = True
    """Whether a failure lies in the candidate, whatever is asked of it: only then it is kept."""

    def to_dict(self) -> dict[str, Any]:
        """For a file; a number that JSON lacks is spelled."""
        return {
            "failure": self.failure,
            "seconds": round(self.seconds, 3),
            "lasting": self.lasting,
            "rows": self.rows,
            "skipped": self.skipped,
            "scores": {
                name: {
                    "value": _spell(score.value),
                    "unit": score.unit,
                    "exactness": score.exactness,
                    "ci": None if score.ci is None else [_spell(end) for end in score.ci],
                    "details": _plain(score.details),
                }
                for name, (_, score) in self.scores.items()
            },
        }

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Measurement:
        """From what was kept."""
        scores: Scores = {}
        for name, score in kept["scores"].items():
            ci = None if score["ci"] is None else (float(score["ci"][0]), float(score["ci"][1]))
            made = Score(float(score["value"]), score["unit"], score["exactness"], ci=ci, details=score["details"])
            scores[name] = (metrics.metric(name), made)
        seconds, lasting = float(kept["seconds"]), bool(kept["lasting"])
        return cls(scores, dict(kept["skipped"]), kept["failure"], seconds, rows=kept["rows"], lasting=lasting)

    def joined(self, other: Measurement) -> Measurement:
        """This and what was measured later of the same release."""
        skipped = {**self.skipped, **other.skipped}
        scores = {**self.scores, **other.scores}
        return replace(
            self,
            scores=scores,
            skipped={name: why for name, why in skipped.items() if name not in scores},
            failure=other.failure,
            seconds=self.seconds + other.seconds,
            release=other.release or self.release,
            lasting=other.lasting,
            rows=self.rows if other.rows is None else other.rows,
        )

    def only(self, names: Sequence[str]) -> Measurement:
        """What is called so, in this order: earlier studies may have asked for more."""
        scores = {name: self.scores[name] for name in names if name in self.scores}
        skipped = {name: self.skipped[name] for name in names if name in self.skipped}
        return replace(self, scores=scores, skipped=skipped)


def _spell(x: float) -> float | str:
    return float(x) if math.isfinite(x) else repr(float(x))


def _plain(value: Any) -> Any:
    """Details as JSON holds them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
