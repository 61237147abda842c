"""Run candidates, score them, and say which to take and why."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .. import metrics
from ..core.column import FloatArray
from ..core.errors import Infeasible, InputError, SfumatoError, Unavailable
from ..core.mechanism import Mechanism
from ..core.metric import Metric, Requirement, Score, Verdict, spell_number
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..mechanisms import mechanism

RISK, UTILITY = "prosecutor_risk", "iloss"
GRID = (
    "mondrian k=2",
    "mondrian k=3",
    "mondrian k=5",
    "mondrian k=10",
    "mondrian k=20",
    "mondrian k=50",
    "mondrian k=100",
)
SPLIT_GRID = (
    "mondrian k=5 require='distinct_l_diversity >= 3'",
    "mondrian k=5 require='t_closeness[equal] <= 0.4'",
    "mondrian k=5 require='t_closeness[equal] <= 0.2'",
)


@dataclass(frozen=True)
class Candidate:
    """A mechanism with its parameters, or a release that was made elsewhere."""

    text: str
    mechanism: Mechanism | None = None
    release: Release | None = None

    @property
    def name(self) -> str:
        """As a reader wants it: `mondrian k=5, t_closeness[equal] <= 0.3`."""
        if self.mechanism is None:
            return self.text
        settings = self.mechanism.settings()
        require = settings.pop("require", [])
        return ", ".join([" ".join([self.mechanism.card.name, *(f"{k}={v}" for k, v in settings.items())]), *require])

    @classmethod
    def of(cls, text: str) -> Candidate:
        """From `mondrian k=5 mode=relaxed require='t_closeness[equal] <= 0.3'`."""
        try:
            name, *settings = shlex.split(text) or [""]
        except ValueError:
            raise InputError(f"Candidate {text!r}: the quotes do not match; write mechanism key=value ... .") from None
        if not name:
            raise InputError("A candidate is empty; write a mechanism and its parameters, such as: mondrian k=5.")
        values: dict[str, str] = {}
        require: list[Requirement] = []
        for setting in settings:
            key, sign, value = setting.partition("=")
            if not sign:
                raise InputError(f"Candidate {text!r}: {setting!r} is not key=value.")
            if key == "require":
                require.append(metrics.require(value))
            else:
                values[key] = value
        made = mechanism(name).of(values, tuple(require))
        for requirement in require:
            if not made.honours(requirement):
                raise InputError(f"Candidate {text!r}: {name} cannot steer by {requirement}.")
        return cls(text, made)


@dataclass(frozen=True, eq=False)
class Point:
    """A candidate's release, measured; or why there is none."""

    candidate: Candidate
    scores: dict[str, tuple[Metric, Score]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()
    release: Release | None = None
    seconds: float = 0.0
    failure: str | None = None

    @property
    def met(self) -> bool:
        """Whether it meets every requirement of the study."""
        return self.failure is None and all(verdict.met for verdict in self.verdicts)

    def value(self, metric: Metric) -> float:
        """A score by metric."""
        return self.scores[str(metric)][1].value


@dataclass(frozen=True, eq=False)
class Study:
    """Candidates for the release of a table, the two axes to see them on, and what is required of the one to take."""

    table: Table
    roles: Roles
    candidates: tuple[Candidate, ...] = ()
    risk: Metric = field(default_factory=lambda: metrics.metric(RISK))
    utility: Metric = field(default_factory=lambda: metrics.metric(UTILITY))
    require: tuple[Requirement, ...] = ()
    arguments: tuple[str, ...] = ()
    """How the table is read, as the command line writes it; for the commands in the report."""

    def __post_init__(self) -> None:
        self.risk.check_complete()
        self.utility.check_complete()
        if self.risk.card.about != "privacy" or self.utility.card.about != "utility":
            raise InputError(
                f"The map needs a privacy metric for risk and a utility metric for utility; "
                f"{self.risk} is about {self.risk.card.about} and {self.utility} about {self.utility.card.about}."
            )
        if not self.candidates:
            grid = (*GRID, *(SPLIT_GRID if self.roles.sensitive else ()))
            object.__setattr__(self, "candidates", tuple(Candidate.of(text) for text in grid))

    def run(self, *, seed: int | None = None, progress: Callable[[int, str], None] | None = None) -> Result:
        """Make and measure every candidate; one that cannot be made stays in the result with its reason."""
        points = []
        for i, candidate in enumerate(self.candidates):
            if progress:
                progress(i, candidate.name)
            points.append(self._point(candidate, seed))
        if progress:
            progress(len(points), "")
        if all(point.failure for point in points):
            raise Infeasible(f"No candidate could be made. The first says: {points[0].failure}")
        return Result(self, tuple(points), seed)

    def _point(self, candidate: Candidate, seed: int | None) -> Point:
        started = time.perf_counter()
        try:
            if candidate.release is not None:
                release = candidate.release
            else:
                assert candidate.mechanism is not None
                rng = None if seed is None else np.random.default_rng(seed)
                release = candidate.mechanism(self.table, self.roles, rng)
            scores, skipped = metrics.measure(release, self.roles)
            for axis in (self.risk, self.utility):  # an axis must be measured: what stands in its way is said
                scores.update(metrics.measure(release, self.roles, [axis])[0])
            verdicts = tuple(requirement.check(release, self.roles) for requirement in self.require)
        except SfumatoError as error:
            if not isinstance(error, Infeasible | Unavailable) and candidate.release is None:
                raise
            return Point(candidate, failure=str(error), seconds=time.perf_counter() - started)
        return Point(candidate, scores, skipped, verdicts, release, time.perf_counter() - started)


@dataclass(frozen=True, eq=False)
class Result:
    """The points of a study, its frontier, its knee and the recommendation."""

    study: Study
    points: tuple[Point, ...]
    seed: int | None = None

    @cached_property
    def made(self) -> list[int]:
        """The candidates that could be made."""
        return [i for i, point in enumerate(self.points) if point.failure is None]

    def _axis(self, metric: Metric) -> FloatArray:
        """A metric over the made candidates, turned so that less is better."""
        values = np.array([self.points[i].value(metric) for i in self.made])
        return -values if metric.card.better == "higher" else values

    @cached_property
    def frontier(self) -> list[int]:
        """The candidates that no other beats on both axes, from the most useful to the least risky."""
        from .frontier import frontier

        return [self.made[i] for i in frontier(self._axis(self.study.risk), self._axis(self.study.utility))]

    @cached_property
    def knee(self) -> int | None:
        """Where the frontier turns most sharply, if it does."""
        from .frontier import knee

        on = np.array([self.made.index(i) for i in self.frontier])
        found = knee(self._axis(self.study.risk), self._axis(self.study.utility), on)
        return None if found is None else self.made[found]

    @cached_property
    def recommended(self) -> tuple[int | None, str]:
        """The candidate to take, and why in a sentence."""
        study = self.study
        if study.require:
            good = [i for i in self.made if self.points[i].met]
            if not good:
                return None, "No candidate meets every requirement: " + " ".join(self._nearest())
            risk, loss = self._axis(study.risk), self._axis(study.utility)
            best = min(good, key=lambda i: (loss[self.made.index(i)], risk[self.made.index(i)]))
            return best, (
                f"Of {len(good)} candidate{'s' if len(good) > 1 else ''} that meet every requirement it is the one "
                f"with the best {study.utility.card.title}."
            )
        if self.knee is not None:
            return self.knee, (
                "No requirement was given, so this is the knee of the frontier: the sharpest turn, where less risk begins "
                "to cost much more utility. A requirement would be a better reason."
            )
        middle = self.frontier[len(self.frontier) // 2]
        return (
            middle,
            "No requirement was given and the frontier has no knee, so this is its middle. Give a requirement.",
        )

    def commands(self, out: str = "release.csv") -> list[str]:
        """What makes the recommended release, and what verifies it."""
        chosen = self.recommended[0]
        made = None if chosen is None else self.points[chosen].candidate.mechanism
        if made is None:
            return []
        settings = {key: value for key, value in made.settings().items() if key != "require"}
        asked = dict.fromkeys([*map(str, made.promises), *map(str, self.study.require)])
        given = "".join(f" --set {key}={value}" for key, value in settings.items())
        given += "".join(f" {shlex.quote(word)}" for word in self.study.arguments)
        given += "" if self.seed is None else f" --seed {self.seed}"
        need = "".join(f" --require {shlex.quote(text)}" for text in asked)
        table, roles = shlex.quote(self.study.table.name), shlex.quote(self.study.roles.source)
        out = shlex.quote(out)
        return [
            f"sfumato sanitize {table} --roles {roles} --mechanism {made.card.name}{given}{need} --out {out}",
            f"sfumato verify {out} --roles {roles}{need}",
        ]

    def _nearest(self) -> list[str]:
        """For each requirement, how near any candidate comes."""
        found = []
        for k, requirement in enumerate(self.study.require):
            values = [self.points[i].verdicts[k].score.value for i in self.made]
            best = max(values) if requirement.sign == ">=" else min(values)
            word = "met by some" if requirement.holds(best) else "met by none"
            found.append(f"{requirement} is {word}, the best reaches {spell_number(round(best, 6))}.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything that the report shows, for machines: the same numbers."""
        chosen, why = self.recommended
        study = self.study
        return {
            "table": study.table.name,
            "rows": study.table.rows,
            "risk": str(study.risk),
            "utility": str(study.utility),
            "requirements": [str(requirement) for requirement in study.require],
            "candidates": [
                {
                    "name": point.candidate.name,
                    "candidate": point.candidate.text,
                    "made": point.failure is None,
                    "failure": point.failure,
                    "met": point.met,
                    "on_frontier": i in self.frontier,
                    "requirements": {
                        str(v.requirement): {"met": v.met, "value": number(v.score.value)} for v in point.verdicts
                    },
                    "scores": scores_dict(point.scores),
                    "skipped": point.skipped,
                }
                for i, point in enumerate(self.points)
            ],
            "frontier": [self.points[i].candidate.name for i in self.frontier],
            "knee": None if self.knee is None else self.points[self.knee].candidate.name,
            "recommended": None if chosen is None else self.points[chosen].candidate.name,
            "why": why,
        }


def scores_dict(scores: dict[str, tuple[Metric, Score]], *, per_class: bool = False) -> dict[str, Any]:
    """Scores as every `--json` prints them; with the value of each class, in the order of the released tuples, if asked for."""
    found = {}
    for name, (metric, score) in scores.items():
        found[name] = {
            "value": number(score.value),
            "unit": score.unit,
            "exactness": score.exactness,
            "sentence": metric.sentence(score.value),
            "better": metric.card.better,
            **({"ci": list(score.ci)} if score.ci else {}),
            "details": dict(score.details),
            **(
                {"per_class": [number(v) for v in score.per_class]} if per_class and score.per_class is not None else {}
            ),
        }
    return found


def number(x: float) -> int | float | None:
    """Whole numbers as integers, 5 and not 5.0; what JSON has no number for as None: the sentence says what it is."""
    if not math.isfinite(x):
        return None
    return int(x) if float(x).is_integer() and abs(x) < 2**53 else float(x)


def grid(texts: Sequence[str]) -> tuple[Candidate, ...]:
    """Candidates from their texts, none twice."""
    return tuple(Candidate.of(text) for text in dict.fromkeys(texts))
