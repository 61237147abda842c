"""The points of a study: frontier, knee, who dominates whom, and the recommendation."""

from __future__ import annotations

import math
import shlex
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.chain import Chain
from ..core.column import FloatArray
from ..core.errors import SfumatoError
from ..core.metric import Metric, Requirement, Score
from ..core.noun import Sheet, dataclass
from ..core.release import Release
from ..search.least_loss import least_loss_beside, spell_least_loss
from ..search.pareto import frontier, knee
from .candidate import short_names
from .point import Point
from .risk_utility_map import risk_utility_map, standing
from .stopping import Cut
from .usefulness import BY_LABELS, NEAR, most_useful

if TYPE_CHECKING:
    from .study import Study


@dataclass(frozen=True, eq=False)
class Result:
    """The points of a study, its frontier, its knee and the recommendation."""

    study: Study
    points: tuple[Point, ...]
    seed: int | None = None
    cache: Path | None = None
    looked: int = 0
    """How many more candidates were tried around the recommended one."""
    cut: Cut = ""
    """What ended the study before all was tried: "interrupt", or "time" where the owner set a limit."""
    limit: float | None = None
    """The seconds that the owner allowed."""
    tried: int = 0
    """How many of the `planned` candidates were tried."""
    planned: int = 0

    def _about(self) -> list[str]:
        return [f"{len(self.points)} points"]

    @property
    def table_name(self) -> str:
        """The table's name without the folders that lead to it."""
        return Path(self.study.table.name).name or self.study.table.name

    @cached_property
    def made(self) -> list[int]:
        """The candidates that could be made."""
        return [i for i, point in enumerate(self.points) if point.failure is None]

    @cached_property
    def names(self) -> list[str]:
        """A short name of each candidate, for tables."""
        return short_names([point.candidate for point in self.points])

    @cached_property
    def placed(self) -> list[int]:
        """Those of them that both axes could be measured of."""
        return [i for i in self.made if self.points[i].has(self.study.risk, self.study.utility)]

    def axis(self, metric: Metric, which: list[int] | None = None) -> FloatArray:
        """A metric over candidates (those that are placed), turned so that less is better."""
        values = np.array([self.points[i].value(metric) for i in (self.placed if which is None else which)])
        return -values if metric.card.better == "higher" else values

    @cached_property
    def frontier(self) -> list[int]:
        """The candidates that no other beats on both axes, from the most useful to the least risky."""
        return self.frontier_on(self.study.risk, self.study.utility)

    def frontier_on(self, risk: Metric, utility: Metric) -> list[int]:
        """The same on other axes, of those that can be placed there."""
        which = [i for i in self.made if self.points[i].has(risk, utility)]
        return [which[i] for i in frontier(self.axis(risk, which), self.axis(utility, which))]

    @cached_property
    def knee(self) -> int | None:
        """Where the frontier turns most sharply, if it does."""
        on = np.array([self.placed.index(i) for i in self.frontier])
        at = knee(self.axis(self.study.risk), self.axis(self.study.utility), on)
        return None if at is None else self.placed[at]

    def dominates(self, a: int, b: int) -> bool:
        """Whether a is no worse than b on both axes and better on one."""
        if a not in self.placed or b not in self.placed:
            return False
        pairs = [self.axis(metric, [a, b]) for metric in (self.study.risk, self.study.utility)]
        return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)

    @cached_property
    def dominance(self) -> list[dict[str, Any]]:
        """Who dominates whom and by how much: for each beaten candidate, the one of the frontier that beats it by most utility."""
        beaten = []
        for b in self.placed:
            by = [a for a in self.frontier if self.dominates(a, b)]
            if not by:
                continue
            best = max(by, key=lambda a: (self._ahead(self.study.utility, a, b), self._ahead(self.study.risk, a, b)))
            beaten.append(
                {
                    "candidate": b,
                    "by": best,
                    "beaten_by": len(by),
                    "risk": self._ahead(self.study.risk, best, b),
                    "utility": self._ahead(self.study.utility, best, b),
                }
            )
        return beaten

    def _ahead(self, metric: Metric, a: int, b: int) -> float:
        x, y = self.axis(metric, [a, b]).tolist()
        return y - x if x != y else 0.0  # both may be infinite

    @cached_property
    def recommended(self) -> tuple[int | None, str]:
        """The candidate to take, and why in a sentence."""
        study = self.study
        if study.require:
            good = [i for i in self.placed if self.points[i].met]
            elsewhere = [i for i in self.made if self.points[i].met and i not in self.placed]
            if not good and elsewhere:
                many = f"{len(elsewhere)} candidates meet" if len(elsewhere) > 1 else "1 candidate meets"
                return None, (
                    f"{many} every requirement, but {study.risk} and {study.utility} cannot both be measured there, so the map has no "
                    "place for it; choose other axes."
                )
            if not good:
                return None, "No candidate meets every requirement: " + " ".join(self._nearest())
            best = most_useful(self, good)
            if len(good) == 1:
                return best, "It is the only candidate on the map that meets every requirement."
            loss = dict(zip(good, self.axis(study.utility, good).tolist(), strict=True))
            if loss[best] > min(loss.values()):
                return best, (
                    f"Of the {len(good)} candidates that meet every requirement, it has nearly the best "
                    f"{study.utility.card.title} (within {NEAR - 1:.0%}), and its labels do not overlap, so that users can count rows by label."
                )
            return best, (
                f"Of the {len(good)} candidates that meet every requirement, it has the best {study.utility.card.title}."
            )
        if not self.placed:
            return None, (
                f"No candidate could be placed on the map: {study.risk} and {study.utility} cannot both be measured on any of them."
            )
        if self.knee is not None:
            return self.knee, (
                "No requirement was given, so this is the knee of the frontier: the sharpest turn, where less risk begins to cost much "
                "more utility. A requirement would give a better reason."
            )
        middle = self.frontier[len(self.frontier) // 2]
        return (
            middle,
            "No requirement was given and the frontier has no knee, so this is the middle of the frontier. Give a requirement.",
        )

    @cached_property
    def least(self) -> Score | None:
        """What no release of the recommended one's kind that meets the requirements loses less than; None where that is not known."""
        chosen = self.recommended[0]
        if chosen is None or not self.points[chosen].has(BY_LABELS):
            return None
        candidate = self.points[chosen].candidate
        made = candidate.mechanism
        if (made is None and candidate.release is None) or (made is not None and made.card.private):
            return None
        require = self.study.require or None
        try:
            bound = least_loss_beside(self.release(chosen), self.study.roles, require, getattr(made, "labels", None))
        except SfumatoError:
            return None
        return bound if bound.value > 0 else None

    def _repr_html_(self) -> str:
        risk, utility = self.study.risk, self.study.utility
        rows = [
            (self.names[i], self._spelled(i, risk), self._spelled(i, utility), standing(self, i)) for i in self.order
        ]
        header = ("candidate", risk.card.title, utility.card.title, "standing")
        return Sheet(f"Study: {len(self.points)} candidates", rows, header, [self.recommended[1]]).html()

    def _spelled(self, i: int, metric: Metric) -> str:
        return f"{self.points[i].value(metric):.4g}" if i in self.made and self.points[i].has(metric) else ""

    def map(self, risk: Metric | None = None, utility: Metric | None = None) -> Any:
        """The risk-utility map as an Altair chart, on the study's axes unless others are named."""
        return risk_utility_map(self, risk, utility, width=560)

    def release(self, i: int) -> Release:
        """The release of a candidate; made again if it is not at hand."""
        point = self.points[i]
        made: dict[int, Release] = self.__dict__.setdefault("_releases", {})
        if i not in made:
            made[i] = point.release or self.study.release(point.candidate, self.seed)
        return made[i]

    def seeded(self, i: int) -> bool:
        """Whether a candidate's release hangs on random draws and the owner asked for a seed, so that they can be repeated."""
        made = self.points[i].candidate.mechanism
        return self.seed is not None and made is not None and made.card.drew(self.release(i).notes)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """For tables: what meets every limit first, then by utility, then by name; what could not be measured or made comes last."""
        utility = self.study.utility
        known = [i for i in self.made if self.points[i].has(utility)]
        place = dict(zip(known, map(float, self.axis(utility, known)), strict=True))

        def key(i: int) -> tuple[bool, bool, bool, float, str, int]:
            point = self.points[i]
            return (point.failure is not None, not point.met, i not in place, place.get(i, math.inf), self.names[i], i)

        return tuple(sorted(range(len(self.points)), key=key))

    def commands(self, out: str = "release.csv") -> list[str]:
        """What makes the recommended release, and what verifies it.

        Where nobody can join a person's rows, a file alone does not show its people: only the run that makes it can count them.
        """
        chosen = self.recommended[0]
        if chosen is None or (made := self.points[chosen].candidate.mechanism) is None:
            return []
        mechanism = made.card.name
        settings = {key: value for key, value in made.settings().items() if key != "require"}
        if isinstance(made, Chain):  # its parameters stand in its text
            mechanism, settings = shlex.quote(self.points[chosen].candidate.text), {}
        every = list(dict.fromkeys([*made.promises, *self.study.require]))
        needed = [r for i, r in enumerate(every) if not _implied(r, every[:i], every[i + 1 :])]
        given = "".join(f" --set {shlex.quote(f'{key}={value}')}" for key, value in settings.items())
        given += "".join(f" {shlex.quote(word)}" for word in self.study.arguments)
        given += "" if self.seed is None else f" --seed {self.seed}"
        need = "".join(f" --require {shlex.quote(str(r))}" for r in needed)
        released = self.study.roles.released(self.study.table.columns)
        need += "".join(
            f" --waive {shlex.quote(f'{column}: {reason}')}"
            for column, reason in self.study.waive.items()
            if column in released
        )
        table, roles = shlex.quote(self.study.table.command_name), shlex.quote(self.study.roles.source)
        out = shlex.quote(out)
        make = f"sfumato sanitize {table} --roles {roles} --mechanism {mechanism}{given}{need} --out {out}"
        return [make] if self.study.roles.unlinked else [make, f"sfumato verify {out} --roles {roles}{need}"]

    def _nearest(self) -> list[str]:
        """For each requirement, how near any candidate comes."""
        from .advice import spell

        sentences = []
        for requirement in self.study.require:
            values = [
                verdict.score.value
                for i in self.made
                for verdict in self.points[i].verdicts
                if verdict.requirement == requirement
            ]
            if not values:
                sentences.append(f"{requirement} could be measured on none.")
                continue
            best = max(values) if requirement.sign == ">=" else min(values)
            word = "met by some" if requirement.holds(best) else "met by none"
            sentences.append(f"{requirement} is {word}; the best reaches {spell(best, apart=requirement.bound)}.")
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Everything that the report shows, for machines: the same numbers."""
        from .advice import advice
        from .robustness import robust

        chosen, why = self.recommended
        study = self.study
        names = [point.candidate.name for point in self.points]
        return {
            "table": study.table.name,
            "rows": study.table.rows,
            "context": None if study.context is None else study.context.to_dict(),
            "risk": str(study.risk),
            "utility": str(study.utility),
            "requirements": [str(requirement) for requirement in study.require],
            "waived": dict(study.waive),
            "candidates": [
                {
                    "name": point.candidate.name,
                    "short": self.names[i],
                    "candidate": point.candidate.text,
                    "family": point.candidate.family,
                    "made": point.failure is None,
                    "failure": point.failure,
                    "met": point.met,
                    "found": point.found,
                    "on_frontier": i in self.frontier,
                    "requirements": {
                        str(v.requirement): {"met": v.met, "value": number(v.score.value)} for v in point.verdicts
                    },
                    "unknown": dict(point.unknown),
                    "scores": scores_dict(point.scores),
                    "skipped": point.skipped,
                }
                for i, point in enumerate(self.points)
            ],
            "frontier": [names[i] for i in self.frontier],
            "knee": None if self.knee is None else names[self.knee],
            "dominance": [
                {**each, "candidate": names[each["candidate"]], "by": names[each["by"]]} for each in self.dominance
            ],
            "recommended": None if chosen is None else names[chosen],
            "why": why,
            "looked": self.looked,
            "least_loss": None if self.least is None else least_dict(self.least),
            "cut": {"by": self.cut, "tried": self.tried, "planned": self.planned} if self.cut else None,
            "advice": advice(self).to_dict(),
            "robust": [each.to_dict(names) for each in robust(self)],
        }


def _implied(one: Requirement, before: list[Requirement], after: list[Requirement]) -> bool:
    """Whether another says it, too, and no less; of two that say the same the first stays."""
    return any(r.implies(one) for r in before) or any(r.implies(one) and not one.implies(r) for r in after)


def scores_dict(scores: dict[str, tuple[Metric, Score]], *, per_class: bool = False) -> dict[str, Any]:
    """Scores as every `--json` prints them; with the value of each class, in the order of the released tuples, if asked for."""
    content = {}
    for name, (metric, score) in scores.items():
        content[name] = {
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
    return content


def least_dict(bound: Score) -> dict[str, Any]:
    """A bound on the loss, for machines."""
    return {
        "value": number(bound.value),
        "exactness": bound.exactness,
        "sentence": spell_least_loss(bound),
        **bound.details,
    }


def number(x: float) -> int | float | None:
    """Whole numbers as integers, 5 and not 5.0; what JSON has no number for as None: the sentence says what it is."""
    if not math.isfinite(x):
        return None
    return int(x) if float(x).is_integer() and abs(x) < 2**53 else float(x)
