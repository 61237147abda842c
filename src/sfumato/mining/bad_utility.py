"""Bad utility, or anti-utility (Sramka et al. 2010, sec. 2.4): what an adversary's predictions add to what the release tells.

`U_bad = sum over people of v(x) E*(M(S(DB), S(x)), S(x)_j, x_j)` with E* = 1 if the prediction is nearer to the truth than the
released value, else 0; over a reference set of miners `(average, worst, the miner that reaches it)`. The miner learns the
released values of the field from the other released columns, and predicts people that it has not learned from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.column import Column, FloatArray, IntArray
from ..core.cover import BoolArray, Domain
from ..core.errors import Unavailable
from ..core.noun import dataclass
from ..core.roles import Roles
from .features import features
from .folds import Job, Predicted, fuse
from .good_utility import check_field, shared, whole
from .miners import FUSION, Miner, Task, chosen
from .nearness import Ruler, nearer, numeric_distance
from .outcome import AimOutcome, BadOutcome, Estimate
from .rows import Aligned
from .scenario import Aim, Bad, Scenario

CONSTANTS = 60
"""Guesses that are tried for the adversary who never saw the release: the most frequent, or quantiles of numbers."""


@dataclass(frozen=True, eq=False)
class BadWork:
    """The jobs of the bad utility of one release, and what is needed to read their answers."""

    aligned: Aligned
    roles: Roles
    bad: Bad
    scenario: Scenario
    miners: Sequence[Miner]
    task: Task
    fold: IntArray
    jobs: dict[str, Job]
    target: Any

    @classmethod
    def of(cls, name: str, aligned: Aligned, roles: Roles, scenario: Scenario, fold: IntArray) -> BadWork:
        """Prepare: features, and a job for each miner."""
        bad = scenario.bad
        assert bad is not None
        check_field(bad.field, aligned, "bad")
        if aligned.place is None:
            raise Unavailable(
                f"{name}: the bad utility needs to know which released row is whose; pair them with --pair position or "
                "--pair key:COLUMN, or let a mechanism make the release here."
            )
        numbers = aligned.released.numbers(bad.field)
        numeric = numbers is not None and aligned.original.columns[bad.field].numbers is not None
        task: Task = "numbers" if numeric else "classes"
        miners = chosen(bad.miners, task)
        target: Any = numbers if numeric else aligned.released.codes[bad.field]
        for aim in bad.aims:  # an expression that cannot be read is found now, not after an hour of mining
            aim.weights.of(aligned.original, f"aim {aim.name}")
        _, after = features(aligned, roles, shared(aligned, bad.field))
        jobs = {
            miner.name: Job(f"{name}, attack", after, target, fold, after, fold, miner, scenario.seed)
            for miner in miners
            if miner.name != FUSION
        }
        return cls(aligned, roles, bad, scenario, miners, task, fold, jobs, target)

    def predictions(self, answers: dict[str, Predicted]) -> dict[str, Any]:
        """What each miner says of each released row; numbers on the grid of the original."""
        predictions = {name: answer.values for name, answer in answers.items()}
        if any(miner.name == FUSION for miner in self.miners) and predictions:
            predictions[FUSION] = fuse(
                list(predictions.values()), self.target, self.fold, classes=self.task == "classes"
            )
        if self.task == "numbers" and whole(self.aligned.original.columns[self.bad.field]):
            predictions = {
                name: np.rint(values) for name, values in predictions.items()
            }  # whole years are guessed in whole years
        return predictions

    def distances(self) -> tuple[Any, FloatArray, IntArray | FloatArray]:
        """How far a prediction is from the truth (a function), how far the released values are, and the truth."""
        place = self.aligned.place
        assert place is not None
        field = self.bad.field
        if self.task == "numbers":
            numbers = self.aligned.original.numbers(field)
            assert numbers is not None
            true = numbers[place]
            return (lambda values: numeric_distance(values, true)), numeric_distance(self.target, true), true
        column = self.aligned.original.columns[field]
        ruler = Ruler.of(self.aligned.released.columns[field], Domain(column, self.roles.taxonomy(field)))
        codes = self.aligned.original.codes[field][place]
        return (lambda values: ruler.distance(values, codes)), ruler.distance(self.target, codes), codes

    def outcome(self, answers: dict[str, Predicted]) -> BadOutcome:
        """From the predictions: each aim's average, worst and baseline."""
        said = self.predictions(answers)
        far, released, true = self.distances()
        away = {name: far(values) for name, values in said.items()}
        aims = tuple(self._aim(aim, away, released, true) for aim in self.bad.aims)
        notes = []
        if self.aligned.suppressed:
            notes.append(f"{self.aligned.suppressed:,} people are not in the release; nothing is predicted for them.")
        return BadOutcome(
            field=self.bad.field,
            task=self.task,
            aims=aims,
            trained_on={name: answer.trained_on for name, answer in answers.items()},
            sampled=frozenset(name for name, answer in answers.items() if answer.sampled),
            notes=tuple(notes),
        )

    def _aim(self, aim: Aim, away: dict[str, FloatArray], released: FloatArray, true: Any) -> AimOutcome:
        folds = self.scenario.folds
        weight = self.weight(aim)
        sums = {
            name: Estimate.total(weight * nearer(distance, released, aim.nearer), self.fold, folds, at_least=0.0)
            for name, distance in away.items()
        }
        mean = np.mean([weight * nearer(distance, released, aim.nearer) for distance in away.values()], axis=0)
        worst = max(sums, key=lambda name: sums[name].value)
        naive = self._blind(aim, weight, released, true)
        return AimOutcome(
            aim=aim.name,
            nearer=aim.nearer,
            average=Estimate.total(mean, self.fold, folds, at_least=0.0),
            worst=sums[worst],
            worst_miner=worst if sums[worst].value > 0 else "none",
            baseline=Estimate.total(naive, self.fold, folds, at_least=0.0),
            told=float(weight[released == 0].sum()),
            total=float((weight if aim.count == "classes" else self._everyone(aim)).sum()),
            miners=sums,
        )

    def _everyone(self, aim: Aim) -> FloatArray:
        weight: FloatArray = aim.weights.of(self.aligned.original, f"aim {aim.name}")
        if aim.chosen is not None:
            people = len(self.aligned.original)
            count = max(round(aim.chosen * people), 1)
            drawn = np.random.default_rng([self.scenario.seed, 5]).permutation(people)[:count]
            mask = np.zeros(people, dtype=bool)
            mask[drawn] = True
            weight = np.where(mask, weight, 0.0)
        return weight

    def weight(self, aim: Aim) -> FloatArray:
        """What each released row counts for an aim; where classes count, the rows of one share what one row would count.

        A class is the rows that share one released tuple of the quasi-identifiers. Sharing is the mean over all choices of one
        representative, whom sec. 3 takes, so that nothing is drawn.
        """
        assert self.aligned.place is not None
        weight = self._everyone(aim)[self.aligned.place]
        if aim.count == "people":
            return weight
        released = self.aligned.released
        key = released.key([name for name in self.roles.quasi if name in released.columns])
        _, which, size = np.unique(key, return_inverse=True, return_counts=True)
        return weight / size[which]

    def _blind(self, aim: Aim, weight: FloatArray, released: FloatArray, true: Any) -> FloatArray:
        """What an adversary scores who never saw the release and says one thing of everybody: the best such thing there is.

        It may be any value, or any interval or node that the release uses. Which one is best is known to us alone, so no adversary
        without the release does better by saying one thing.
        """
        column = self.aligned.original.columns[self.bad.field]
        best, hits = -1.0, np.zeros(len(released))
        for away in self._constants(column, true):
            here = weight * nearer(away, released, aim.nearer)
            if here.sum() > best:
                best, hits = float(here.sum()), here
        return hits

    def _constants(self, column: Column, true: Any) -> Iterator[FloatArray]:
        """How far each constant guess is from the truth, row by row."""
        if self.task == "numbers":
            numbers = self.aligned.original.numbers(self.bad.field)
            assert numbers is not None
            for guess in np.unique(np.nanquantile(numbers, np.linspace(0, 1, CONSTANTS + 1), method="lower")):
                yield numeric_distance(np.full(len(true), guess), true)
            return
        released = self.aligned.released.columns[self.bad.field]
        domain = Domain(column, self.roles.taxonomy(self.bad.field))
        frequent = np.argsort(-np.bincount(self.aligned.original.codes[self.bad.field], minlength=len(column)))
        for code in frequent[:CONSTANTS]:
            yield np.where(true == code, 0.0, np.inf)
        used = np.argsort(-np.bincount(self.aligned.released.codes[self.bad.field], minlength=len(released)))
        ruler = Ruler.of(released, domain)
        for label in used[:CONSTANTS]:
            yield ruler.far[label][true]

    def nearer_than_released(self, answers: dict[str, Predicted], aim: Aim) -> tuple[str, Any, BoolArray]:
        """The worst miner of an aim, what it says, and for whom that is nearer."""
        said = self.predictions(answers)
        far, released, _ = self.distances()
        weight = self.weight(aim)
        hits = {name: nearer(far(values), released, aim.nearer) for name, values in said.items()}
        worst = max(hits, key=lambda name: float((weight * hits[name]).sum()))
        return worst, said[worst], hits[worst]
