"""Good utility (Sramka et al. 2010, sec. 2.3): `U = sum over people of w(x) E(M(learned from, asked of), x_i)`.

On the original `M(DB, x)`, on the release `M(S(DB), S(x))`, both by cross-validation and both held against the original value.
A person whom the release leaves out is worth nothing to its users. A mechanism is `(1 - delta, L)`-utility-preserving if
`U_san >= (1 - delta) U_orig` for every miner of L; delta is 0 where all gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import floats, strings, take
from ..core.column import Column, FloatArray, IntArray
from ..core.cover import Domain
from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.roles import Roles
from .features import features, spans
from .folds import Job, Predicted, fuse
from .miners import FUSION, Miner, Task, chosen
from .outcome import Estimate, GoodOutcome, MinedGroup, MinerUtility, decline, sums
from .rows import Aligned, Frame
from .scenario import Good, Scenario

FEW = 10
"""A column of numbers with at most so many values is classified, not regressed."""
MOST_GROUPS = 50
SMALLEST = 20
"""Groups of fewer people are put together: their figures would tell of persons, and mean nothing."""


def task_of(column: Column) -> Task:
    """Whether a field is predicted as classes or as numbers."""
    return "numbers" if column.numbers is not None and len(column) > FEW else "classes"


def whole(column: Column) -> bool:
    """Whether all numbers of a column are whole: then they are guessed as whole ones."""
    numbers = column.numbers
    assert numbers is not None
    known = numbers[~np.isnan(numbers)]
    return bool((known == np.rint(known)).all())


@dataclass(frozen=True, eq=False)
class GoodWork:
    """The jobs of the good utility of one release, and what is needed to read their answers."""

    aligned: Aligned
    good: Good
    scenario: Scenario
    miners: Sequence[Miner]
    task: Task
    fold: IntArray
    released_fold: IntArray
    jobs: dict[tuple[str, str], Job]
    targets: dict[str, Any]
    weight: FloatArray
    """w(x) of each original row."""

    @classmethod
    def of(
        cls, name: str, aligned: Aligned, roles: Roles, scenario: Scenario, fold: IntArray, released_fold: IntArray
    ) -> GoodWork:
        """Prepare: features of both sides, a job for each miner and direction."""
        good = scenario.good
        assert good is not None
        check_field(good.field, aligned, "good")
        task = task_of(aligned.original.columns[good.field])
        miners = chosen(good.miners, task)
        alone = Aligned(aligned.original, aligned.original, np.arange(len(aligned.original)), frozenset())
        own, _ = features(alone, roles, others(aligned.original, good.field))
        before, after = features(aligned, roles, shared(aligned, good.field))
        targets = {
            "original": target(aligned.original, good.field, aligned.original, roles, task),
            "released": target(aligned.released, good.field, aligned.original, roles, task),
        }
        ways = {  # learned from, its target, asked of, and the folds of both
            "original": (own, targets["original"], own, fold, fold),
            "released": (after, targets["released"], after, released_fold, released_fold),
        }
        if good.transfer:
            one, two = fold, released_fold
            if aligned.place is None:  # nobody knows who is who, so all learn and all are asked
                one, two = np.full_like(fold, -1), np.full_like(released_fold, -1)
            ways["release to original"] = (after, targets["released"], before, two, one)
            ways["original to release"] = (before, targets["original"], after, one, two)
        jobs = {
            (way, miner.name): Job(f"{name}, {way}", learn, said, learn_fold, ask, ask_fold, miner, scenario.seed)
            for miner in miners
            if miner.name != FUSION
            for way, (learn, said, ask, learn_fold, ask_fold) in ways.items()
        }
        weight = good.weights.of(aligned.original, "good")
        work = cls(aligned, good, scenario, miners, task, fold, released_fold, jobs, targets, weight)
        work.best()  # an expression that cannot be read is found now, not after an hour of mining
        for column in good.groups:
            if column not in aligned.original.columns:
                raise InputError(
                    f"No column {column!r} to look at groups of; the original has {', '.join(aligned.original.names)}."
                )
            values = len(aligned.original.columns[column])
            if values > MOST_GROUPS:
                raise InputError(
                    f"Column {column!r} has {values} values; groups are for columns with at most {MOST_GROUPS}."
                )
        return work

    def best(self) -> float:
        """The utility of being right about everybody."""
        original = self.aligned.original
        everyone = np.arange(len(original))
        true = self._true(original, everyone)
        return float((self.weight * self.good.error.of(true, true, original, everyone)).sum())

    def outcome(self, answers: dict[tuple[str, str], Predicted]) -> GoodOutcome:
        """From the predictions: utilities, declines, the miner that decides, and the groups."""
        aligned, good, folds = self.aligned, self.good, self.scenario.folds
        original, released = aligned.original, aligned.released
        paired = aligned.place is not None
        truth_of = original if paired else released
        place = aligned.place if aligned.place is not None else np.arange(len(released))
        weight = self.weight
        weight_released = weight[place] if paired else good.weights.of(released, "good")
        # rows that nobody is paired with may be more than there are people: they are not worth more than people are
        fewer = min(float(weight.sum()) / max(float(weight_released.sum()), 1e-300), 1.0)
        if not paired:
            weight_released = weight_released * fewer
        ways = {"original": (original, np.arange(len(original)), original, weight, self.fold),
                "released": (released, place, truth_of, weight_released, self.released_fold),
                "release to original": (released, np.arange(len(original)), original, weight, self.fold),
                "original to release": (original, place, truth_of, weight_released, self.released_fold)}  # fmt: skip
        worths: dict[tuple[str, str], FloatArray] = {}
        for miner in self.miners:
            for way, (labels_of, rows, frame, w, fold) in ways.items():
                if way not in ("original", "released") and not good.transfer:
                    continue
                if miner.name == FUSION:
                    said = [answers[way, m.name].values for m in self.miners if m.name != FUSION]
                    if way not in ("original", "released"):
                        continue
                    values = fuse(said, self.targets[way], fold, classes=self.task == "classes")
                else:
                    values = answers[way, miner.name].values
                predicted = self._spelled(values, labels_of)
                true = self._true(frame, rows)
                worths[way, miner.name] = w * good.error.of(predicted, true, frame, rows)
        mined = [self._miner(miner, worths, answers, paired, folds) for miner in self.miners]
        decisive = max(mined, key=lambda one: -np.inf if np.isnan(one.decline.value) else one.decline.value)
        d = decisive.decline
        delta = Estimate(max(d.value, 0.0), max(d.low, 0.0), max(d.high, 0.0)) if not np.isnan(d.value) else d
        notes = []
        if not paired:
            notes.append(
                "Which released row is whose is not known: on the release, predictions were held against the released values."
            )
            if fewer < 1:
                notes.append(
                    "It has more rows than the original: what is found on it is scaled down to the people there are."
                )
            if good.groups:
                notes.append("For the same reason groups were not looked at.")
        idle = sum(bool(np.isnan(one.decline.value)) for one in mined)
        if 0 < idle < len(mined):
            notes.append(f"Left out of delta: {idle} miners whose utility on the original is not above 0.")
        if np.isnan(d.value):
            notes.append("The utility of the original is not above 0, so there is no decline to speak of.")
        return GoodOutcome(
            field=good.field, task=self.task, miners=tuple(mined), delta=delta, decided_by=decisive.miner,
            baseline=self._baseline(original, weight, folds), total=self.best(),
            groups=self._groups(worths, decisive.miner, weight) if paired else (), notes=tuple(notes),
        )  # fmt: skip

    def _miner(
        self, miner: Miner, worths: dict[tuple[str, str], FloatArray], answers: Any, paired: bool, folds: int
    ) -> MinerUtility:
        before, after = worths["original", miner.name], worths["released", miner.name]
        a = sums(self.fold, before, folds)
        b = sums(self.released_fold, after, folds)
        more = {}
        for way, fold in (("release to original", self.fold), ("original to release", self.released_fold)):
            if (way, miner.name) in worths:
                more[way.replace(" ", "_")] = Estimate.total(worths[way, miner.name], fold, folds)
        answer = answers.get(("released", miner.name))
        return MinerUtility(
            miner.name,
            Estimate.total(before, self.fold, folds),
            Estimate.total(after, self.released_fold, folds),
            decline(a, b, paired=paired),
            trained_on=0 if answer is None else answer.trained_on,
            sampled=False if answer is None else answer.sampled,
            **more,
        )

    def _spelled(self, values: Any, labels_of: Frame) -> pa.Array:
        if self.task == "numbers":
            return floats(np.rint(values) if whole(self.aligned.original.columns[self.good.field]) else values)
        column = labels_of.columns[self.good.field]
        return take(strings([t for t in column.texts if t is not None]), values.astype(np.int64))

    def _true(self, frame: Frame, rows: IntArray) -> pa.Array:
        codes = frame.codes[self.good.field][rows]
        column = frame.columns[self.good.field]
        if self.task == "numbers":
            numbers = column.numbers
            if numbers is None:
                raise InputError(
                    f"Column {self.good.field!r} is not all numbers in the release, and rows are not paired, so what is true of "
                    "a row is not known; pair the rows with --pair."
                )
            return floats(numbers[codes])
        return take(strings([t for t in column.texts if t is not None]), codes)

    def _baseline(self, original: Frame, weight: FloatArray, folds: int) -> Estimate:
        column, codes = original.columns[self.good.field], original.codes[self.good.field]
        everyone = np.arange(len(original))
        if self.task == "numbers":
            numbers = original.numbers(self.good.field)
            assert numbers is not None
            said = self._spelled(np.full(len(original), np.nanmean(numbers)), original)
        else:
            code = int(np.argmax(np.bincount(codes, minlength=len(column))))
            said = self._spelled(np.full(len(original), code), original)
        worth = weight * self.good.error.of(said, self._true(original, everyone), original, everyone)
        return Estimate.total(worth, self.fold, folds)

    def _groups(
        self, worths: dict[tuple[str, str], FloatArray], miner: str, weight: FloatArray
    ) -> tuple[MinedGroup, ...]:
        place, folds, original = self.aligned.place, self.scenario.folds, self.aligned.original
        assert place is not None
        before = worths["original", miner]
        after = np.zeros(len(original))
        after[place] = worths["released", miner]
        groups = []
        for column in self.good.groups:
            codes, texts = original.codes[column], original.texts(column)
            size = np.bincount(codes, minlength=len(texts))
            small = size < SMALLEST
            group = np.where(small[codes], len(texts), codes)
            for g in np.unique(group):
                here = group == g
                if here.sum() < SMALLEST or not weight[here].sum():
                    continue
                a = sums(self.fold[here], before[here], folds)
                b = sums(self.fold[here], after[here], folds)
                name = "(smaller groups)" if g == len(texts) else texts[g] if texts[g] is not None else "(missing)"
                groups.append(
                    MinedGroup(
                        column,
                        str(name),
                        int(here.sum()),
                        float(before[here].sum() / weight[here].sum()),
                        float(after[here].sum() / weight[here].sum()),
                        decline(a, b, paired=True),
                    )
                )
        return tuple(groups)


def check_field(field: str, aligned: Aligned, which: str) -> None:
    """Refuse a field that one side does not have."""
    for frame, side in ((aligned.original, "original"), (aligned.released, "release")):
        if field not in frame.columns:
            raise InputError(
                f"The {which} field {field!r} is not among the released columns of the {side}: {', '.join(frame.names)}."
            )
    if len(aligned.original.columns[field]) < 2:
        raise InputError(f"The {which} field {field!r} has one value only, so there is nothing to predict.")
    if len(shared(aligned, field)) < 1:
        raise InputError(f"No column is left to predict {field!r} from.")


def others(frame: Frame, field: str) -> list[str]:
    """The columns that a field is predicted from."""
    return [name for name in frame.names if name != field]


def shared(aligned: Aligned, field: str) -> list[str]:
    """Those that both sides have."""
    return [name for name in others(aligned.original, field) if name in aligned.released.columns]


def target(frame: Frame, field: str, original: Frame, roles: Roles, task: Task) -> Any:
    """What a miner learns to say: a code a row, or a number (the middle of an interval)."""
    if task == "classes":
        return frame.codes[field]
    middle, _ = spans(frame.columns[field], Domain(original.columns[field], roles.taxonomy(field)))
    return middle[frame.codes[field]]
