"""Predictions for rows that a miner has not seen: k-fold cross-validation, in parallel, kept by content.

Every person has one fold, in the original and in the release alike. What is kept between runs are predictions as bare codes
and numbers, under a name that is a hash of everything they depend on: an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.kept_files import KeptFiles
from ..core.noun import dataclass
from ..core.processes import side_by_side
from .features import Features
from .miners import Miner

Progress = Callable[[float, str], None]


def deal(count: int, folds: int, seed: int) -> IntArray:
    """A fold for every row, of sizes that differ by one at most."""
    return np.random.default_rng(seed).permutation(count) % folds


@dataclass(frozen=True, eq=False)
class Job:
    """Learn from rows of one side, predict rows of one side. A miner never learns from the fold that it predicts.

    `learn_fold` and `ask_fold` are folds by row; where rows are not paired, -1 to learn from all and predict all at once.
    """

    name: str
    learn: Features
    target: IntArray | FloatArray
    learn_fold: IntArray
    ask: Features
    ask_fold: IntArray
    miner: Miner
    seed: int = 0

    @property
    def key(self) -> str:
        """A hash of all that the predictions depend on."""
        miner = self.miner
        said = [
            self.content,
            miner.task,
            miner.name,
            miner.key,
            miner.takes,
            str(miner.most),
            str(self.seed),
            _versions(),
        ]
        return hashlib.sha256("|".join(said).encode()).hexdigest()

    @property
    def content(self) -> str:
        """A hash of the rows and folds."""
        return _digest(self.learn, self.target, self.learn_fold, self.ask, self.ask_fold)


@dataclass(frozen=True, eq=False)
class Predicted:
    """A prediction a row, and what must be said of the miner."""

    values: Any
    trained_on: int
    """Rows that it learned from in a fold."""
    sampled: bool = False


_kept: dict[tuple[int, ...], str] = {}


def _digest(*parts: Any) -> str:
    """A hash of arrays; one set of arrays serves many miners, so it is remembered while they live."""
    key = tuple(id(part) for part in parts)
    if key not in _kept:
        digest = hashlib.sha256()
        for part in parts:
            for array in (part.dense, part.plain) if isinstance(part, Features) else (part,):
                digest.update(f"{array.dtype}{array.shape}".encode())
                digest.update(np.ascontiguousarray(array).data)
            if isinstance(part, Features):
                digest.update(str(part.numeric).encode())
        if len(_kept) >= 64:
            _kept.clear()
        _kept[key] = digest.hexdigest()
        _alive.append(parts)
        del _alive[:-64]
    return _kept[key]


_alive: list[tuple[Any, ...]] = []  # so that an id is not given to another array


def _versions() -> str:
    import sklearn

    from .. import __version__

    return f"{__version__} {sklearn.__version__} {np.__version__}"


def run(job: Job) -> Predicted:
    """All folds of one miner."""
    values: Any = np.zeros(len(job.ask), dtype=job.target.dtype)
    trained, sampled = 0, False
    learn = job.learn.dense if job.miner.takes == "dense" else job.learn.plain
    ask = job.ask.dense if job.miner.takes == "dense" else job.ask.plain
    with warnings.catch_warnings(), _one_thread():
        warnings.simplefilter("ignore")  # a miner that did not converge is a miner that an adversary would have, too
        for fold in np.unique(job.ask_fold):
            rows = np.flatnonzero(job.learn_fold != fold) if fold >= 0 else np.arange(len(job.learn))
            if job.target.dtype.kind == "f":
                rows = rows[~np.isnan(job.target[rows])]  # a number that is not there teaches nothing
            asked = np.flatnonzero(job.ask_fold == fold)
            if job.miner.most is not None and len(rows) > job.miner.most:
                rng = np.random.default_rng([job.seed, int(fold) + 1])
                rows = np.sort(rng.choice(rows, job.miner.most, replace=False))
                sampled = True
            target = job.target[rows]
            trained = max(trained, len(rows))
            if not len(rows):
                continue
            if (target == target[0]).all():  # nothing to tell apart, and some miners refuse
                values[asked] = target[0]
                continue
            estimator = job.miner.make(job.seed, job.learn.numeric)
            _for_few_rows(estimator, target)
            try:
                estimator.fit(learn[rows], target)
                values[asked] = estimator.predict(ask[asked])
            except ValueError:
                kinds, often = np.unique(target, return_counts=True)
                if len(rows) > 2 * len(kinds):
                    raise
                values[asked] = kinds[
                    np.argmax(often)
                ]  # too few rows of each class to learn from: the most frequent one
    return Predicted(values, trained, sampled)


def _for_few_rows(estimator: Any, target: Any) -> None:
    """Settings that so few rows allow, where a miner would refuse: all rows as neighbours, and none set aside to say when to stop."""
    given = estimator.get_params() if hasattr(estimator, "get_params") else {}
    rows, fits = len(target), dict[str, Any]()
    _, often = np.unique(target, return_counts=True)
    for name, value in given.items():
        if name.endswith("n_neighbors") and isinstance(value, int) and value > rows:
            fits[name] = rows
        # a tenth is set aside by class: it needs a row of every class, and each class one in both parts
        if name.endswith("early_stopping") and value is True and (often.min() < 2 or rows < 10 * len(often)):
            fits[name] = False
    if fits:
        estimator.set_params(**fits)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """A miner uses one core: the others are for other miners, and sums do not depend on their number."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


class Cache:
    """A folder of predictions by hash; nothing in it is a value of a table, and only the owner may read it."""

    def __init__(self, folder: Path | None) -> None:
        self.files = None if folder is None else KeptFiles(folder, "predictions", ".npz")

    def get(self, key: str) -> Predicted | None:
        """What was kept, unless it is damaged."""
        content = None if self.files is None else self.files.read(key)
        if content is None:
            return None
        try:
            with np.load(io.BytesIO(content)) as kept:
                return Predicted(kept["values"], int(kept["trained_on"]), bool(kept["sampled"]))
        except Exception:  # damaged in one of the many ways a zip file can be: then it is made again
            return None

    def put(self, key: str, predicted: Predicted) -> None:
        """Keep it, whole or not at all."""
        if self.files is None:
            return
        content = io.BytesIO()
        np.savez_compressed(
            content, values=predicted.values, trained_on=predicted.trained_on, sampled=predicted.sampled
        )
        self.files.write(key, content.getvalue())


def predict(
    jobs: Sequence[Job], *, cache: Cache, workers: int | None = None, progress: Progress | None = None
) -> list[Predicted]:
    """Run what is not kept yet, on as many processes as there are cores; what is done is kept at once."""
    keys = [job.key for job in jobs]
    answers: dict[str, Predicted] = {}
    for key in keys:
        kept = cache.get(key)
        if kept is not None:
            answers[key] = kept
    todo = {key: job for key, job in zip(keys, jobs, strict=True) if key not in answers}
    done = len(set(keys)) - len(todo)
    with contextlib.closing(_each(todo, workers)) as results:
        for key, result in results:
            cache.put(key, result)
            answers[key] = result
            done += 1
            if progress is not None:
                progress(done / len(set(keys)), f"{todo[key].name}: {todo[key].miner.name}")
    return [answers[key] for key in keys]


def _one(key: str, job: Job) -> tuple[str, Predicted]:
    return key, run(job)


_SMALL = 100_000
"""Rows times miners below which processes cost more than they save."""


def _each(todo: dict[str, Job], workers: int | None) -> Generator[tuple[str, Predicted]]:
    count = min(workers or os.cpu_count() or 1, len(todo))
    work = sum(len(job.learn) for job in todo.values())
    known = all(
        job.miner.kind != "named" for job in todo.values()
    )  # another process cannot look up an estimator of the owner's
    if count <= 1 or (workers is None and work < _SMALL) or not known:
        for key, job in todo.items():
            yield _one(key, job)
        return
    yield from side_by_side(_one, todo.items(), count)


def fuse(predictions: Sequence[Any], target: Any, fold: IntArray, *, classes: bool) -> Any:
    """An attacker who combines the others' outputs (after Sramka et al. 2009), learned on the other folds.

    For classes a vote, each miner weighted by the log-odds of being right about the released value; for numbers the least
    squares combination with weights that are not negative. Only these few weights are learned here: the predictions that they are
    learned from come from miners that had learned from the fold too, each time without the row that they predict.
    """
    said = np.stack(predictions)
    fused = np.zeros(said.shape[1], dtype=said.dtype)
    for f in np.unique(fold):
        others, here = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        if not len(others):
            others = here
        if classes:
            right = (said[:, others] == target[others]).mean(axis=1)
            right = np.clip(right, 1e-3, 1 - 1e-3)
            labels = int(max(said.max(), target.max())) + 1
            weight = np.log(right * max(labels - 1, 1) / (1 - right))
            weight = np.maximum(weight, 0)
            votes = np.zeros((len(here), labels))
            for i in range(len(said)):
                votes[np.arange(len(here)), said[i, here]] += weight[i]
            fused[here] = votes.argmax(axis=1)
        else:
            from scipy.optimize import nnls

            others = others[~np.isnan(target[others])]  # a number that is not there teaches nothing
            middle = float(target[others].mean()) if len(others) else 0.0
            a = said[:, others].T - middle
            square = a.T @ a
            try:
                # |R w - c| is |a w - y| but for a constant, with so many rows as there are miners
                r = np.linalg.cholesky(square + 1e-6 * np.trace(square) * np.eye(len(said))).T
                weight, _ = nnls(r, np.linalg.solve(r.T, a.T @ (target[others] - middle)))
            except (RuntimeError, np.linalg.LinAlgError):
                weight = np.full(len(said), 1 / len(said))
            fused[here] = middle + (said[:, here].T - middle) @ weight
    return fused


def interval(per_fold: FloatArray, *, total: bool = True) -> tuple[float, float]:
    """A 95% interval for a total (or a mean) over folds: Student's t, as if the folds were independent."""
    from scipy.stats import t

    f = len(per_fold)
    middle = float(per_fold.sum() if total else per_fold.mean())
    if f < 2:
        return float("-inf"), float("inf")
    half = float(t.ppf(0.975, f - 1) * per_fold.std(ddof=1) * (np.sqrt(f) if total else 1 / np.sqrt(f)))
    return middle - half, middle + half
