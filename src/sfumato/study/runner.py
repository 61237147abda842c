"""Make and measure candidates: those that are kept are read, the others go to as many processes as there are cores."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .. import metrics
from ..core.errors import Infeasible, SfumatoError, Unavailable
from ..core.metric import Metric
from ..core.noun import dataclass
from ..core.people import one_row_a_person
from ..core.processes import side_by_side
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .candidate import Candidate
from .default_candidates import is_large
from .point import Measurement
from .score_store import Kept, name_of, of_release, of_roles, program
from .stopping import Stop

Told = Callable[[int, Measurement | None, bool], None]
"""Told which candidate begins, or what was measured of it and whether an earlier run did that."""


@dataclass(frozen=True, eq=False)
class Bench:
    """All that making and measuring a candidate depends on, besides the candidate."""

    table: Table
    roles: Roles
    seed: int | None = None
    population: Table | None = None

    def release(self, candidate: Candidate) -> Release:
        """Make it. Chance is drawn from the seed, 0 unless one is asked for, so that a study can be repeated."""
        if candidate.release is not None:
            made = candidate.release
        else:
            assert candidate.mechanism is not None
            made = candidate.mechanism.against(self.population)(
                self.table, self.roles, np.random.default_rng(self.seed or 0)
            )
        if self.population is not None and made.population is None:
            made = replace(made, population=self.population)
        return made

    def measure(
        self, candidate: Candidate, wanted: Sequence[Metric] | None, release: Release | None = None
    ) -> Measurement:
        """Make and measure; what cannot be made has its reason instead."""
        started = time.perf_counter()
        try:
            made = self.release(candidate) if release is None else release
        except SfumatoError as error:  # it may not fit this table, or not be able to meet what it is asked
            lasting = isinstance(error, Infeasible | Unavailable)
            return Measurement(failure=str(error), seconds=time.perf_counter() - started, lasting=lasting)
        try:
            scores, skipped = metrics.measure_available(made, self.roles, wanted)
        except SfumatoError as error:
            reason = str(error)
            if candidate.release is None and not isinstance(error, Infeasible | Unavailable):
                if not (lacks := self._lacks(made)):
                    raise  # what is asked is wrong, not the candidate
                reason = f"The release is made without {', '.join(map(repr, lacks))}, so the requirements cannot be measured on it."
            return Measurement(failure=reason, seconds=time.perf_counter() - started, lasting=False)
        rows = None
        if not made.statistics:  # known without another scan where the mechanism says what became what
            rows = made.table.rows if made.recoding is None else made.recoding.rows
        return Measurement(scores, skipped, None, time.perf_counter() - started, made, rows)

    def _lacks(self, made: Release) -> list[str]:
        """The columns that may be released, and that others may have, without which it was made."""
        there = {name for table in (made.table, *made.companions.values()) for name in table.columns}
        return [name for name in self.roles.released(self.table.columns) if name not in there]


def run(
    bench: Bench,
    candidates: Sequence[Candidate],
    wanted: Sequence[Metric] | None,
    also: Sequence[Metric] = (),
    *,
    kept: Kept,
    workers: int = 1,
    told: Told = lambda i, measured, kept: None,
    stop: Stop | None = None,
) -> list[Measurement | None]:
    """Measure every candidate, in order; `wanted` None is every metric that can be asked, and `also` comes in any case.

    Those that a `stop` came before are None.
    """
    stop = stop or Stop()
    keys = _keys(bench, candidates) if kept.folder is not None else [""] * len(candidates)
    metrics_asked = list(dict.fromkeys([*(wanted or ()), *also]))
    measured: dict[int, Measurement] = {}
    todo: dict[int, list[Metric] | None] = {}
    for i, key in enumerate(keys):
        content = kept.get(key)
        before = _read(content)
        if before is not None:
            measured[i] = before
            missing = _missing(before, bool(content and content.get("all")), metrics_asked, whole=wanted is None)
            if missing == []:
                continue
            todo[i] = missing
        else:
            todo[i] = None if wanted is None else metrics_asked
    for i, before in measured.items():
        if i not in todo:
            told(i, before, True)
            stop.measured()
    drops = len(candidates) > 1 and is_large(
        bench.table, bench.roles
    )  # many releases would fill the memory; one is soon made again
    partly = {i: before for i, before in measured.items() if i in todo}
    measured = {i: before for i, before in measured.items() if i not in todo}
    with (
        stop.heeded(),
        closing(_each(bench, candidates, todo, also, workers, lambda i: told(i, None, False))) as results,
    ):
        for i, result in () if stop.due else results:
            stop.measured()
            if drops and candidates[i].release is None:
                result = replace(result, release=None)
            measured[i] = partly[i].joined(result) if i in partly else result
            everything = wanted is None or bool((kept.get(keys[i]) or {}).get("all"))
            if measured[i].lasting:
                kept.put(keys[i], {**measured[i].to_dict(), "all": everything})
            told(i, measured[i], False)
            if stop.due:
                break
    names = [*_names(metrics_asked), *(_names(metrics.everything(bench.roles)) if wanted is None else ())]
    names += metrics.registry() if wanted is None else ()
    return [measured[i].only(names) if i in measured else None for i in range(len(candidates))]


def _keys(bench: Bench, candidates: Sequence[Candidate]) -> list[str]:
    population = None if bench.population is None else bench.population.digest()
    base = name_of(program(), bench.table.digest(), of_roles(bench.roles), bench.seed or 0, population)
    return [name_of(base, _spelled(c) if c.release is None else of_release(c.release)) for c in candidates]


def _spelled(candidate: Candidate) -> str:
    """What its mechanism is, however its text says so."""
    return candidate.text if candidate.mechanism is None else Candidate.by(candidate.mechanism).text


def _names(asked: Sequence[Metric]) -> list[str]:
    """What scores of these, and what cannot be asked of them, may be called."""
    return [str(m) for each in asked for m in (*(each.variants()), each)]


def _read(content: dict[str, Any] | None) -> Measurement | None:
    try:
        return None if content is None else Measurement.of(content)
    except (SfumatoError, AttributeError, KeyError, TypeError, ValueError):  # damaged: made again
        return None


def _missing(before: Measurement, everything: bool, asked: Sequence[Metric], *, whole: bool) -> list[Metric] | None:
    """What is asked for and neither measured nor known to be impossible; None for everything."""
    if before.failure is not None:
        return []
    if whole and not everything:
        return None
    known = {*before.scores, *before.skipped}
    open_ = [each for each in asked if str(each) not in before.skipped]
    return [m for each in open_ for m in (each.variants() or [each]) if str(m) not in known]


def _each(
    bench: Bench,
    candidates: Sequence[Candidate],
    todo: dict[int, list[Metric] | None],
    also: Sequence[Metric],
    workers: int,
    begins: Callable[[int], None],
) -> Generator[tuple[int, Measurement]]:
    """What is not kept, as it gets done; files made elsewhere are measured here, mechanisms on other cores."""
    away = [i for i in todo if candidates[i].release is None] if workers > 1 else []
    for i, wanted in todo.items():
        if len(away) > 1 and i in away:
            continue
        begins(i)
        yield i, _one(bench, candidates[i], wanted, also)
    if len(away) <= 1:
        return
    queue = iter(away)
    for i in islice(queue, workers):
        begins(i)
    packed = _pack(bench, min(workers, len(away)))
    texts = {
        i: (_spelled(candidates[i]), None if (w := todo[i]) is None else [str(m) for m in w], [str(m) for m in also])
        for i in away
    }
    calls = ((packed, i, *texts[i]) for i in away)
    with closing(side_by_side(_away, calls, min(workers, len(away)))) as results:
        for i, result in results:
            for following in islice(queue, 1):
                begins(following)
            yield i, Measurement.of(result)


def _one(bench: Bench, candidate: Candidate, wanted: list[Metric] | None, also: Sequence[Metric]) -> Measurement:
    measured = bench.measure(candidate, wanted)
    if wanted is None and also and measured.release is not None:
        measured = measured.joined(bench.measure(candidate, list(also), measured.release))
    return measured


def _pack(bench: Bench, workers: int) -> tuple[Any, ...]:
    """What another process needs to set up the same bench."""
    tables = [None if t is None else t.portable() for t in (bench.table, bench.population)]
    threads = max(1, (os.cpu_count() or 1) // workers)
    roles = replace(bench.roles, folder=bench.roles.folder.absolute())  # a process may stand in another folder
    run = uuid.uuid4().hex  # processes live on: a file that changed since the last run is opened again
    return (*tables, roles, bench.seed, threads, run)


def _away(
    packed: tuple[Any, ...], i: int, text: str, wanted: list[str] | None, also: list[str]
) -> tuple[int, dict[str, Any]]:
    """One candidate, in a process of its own."""
    bench = _unpack(packed)
    asked = None if wanted is None else [metrics.metric(m) for m in wanted]
    return i, _one(bench, Candidate.of(text), asked, [metrics.metric(m) for m in also]).to_dict()


@lru_cache(maxsize=1)
def _opened(table: Any, population: Any, threads: int, run: str) -> tuple[Table, Table | None]:
    from ..engines.duckdb import configure

    configure(threads=threads)
    return _open(table), None if population is None else _open(population)


def _open(portable: tuple[str, tuple[tuple[str, Any], ...], str]) -> Table:
    from ..engines import read

    path, options, name = portable
    return replace(read(Path(path), **dict(options)), name=name)  # type: ignore[type-var]


def _unpack(packed: tuple[Any, ...]) -> Bench:
    table, population, roles, seed, threads, run = packed
    opened, people = _opened(table, population, threads, run)
    if people is not None and roles.row_choice is not None and roles.row_choice.fits(people):
        people = one_row_a_person(people, roles)
    return Bench(one_row_a_person(opened, roles), roles, seed, people)
