"""Look around what would be recommended: the same mechanisms with other parameters, until nothing better is found.

A grid is coarse, and greedy mechanisms are not monotone in their parameters: k = 12 may lose less than k = 10. So the neighbours
of the best candidate of each mechanism are tried, judged by the axes and the requirements alone, and what beats it is looked
around in turn. What wins is then measured like all others. On a large table only the nearest neighbours of the recommended one are tried, and
the fewer the larger it is.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.errors import SfumatoError
from ..core.mechanism import Mechanism
from .candidate import Candidate, spelled
from .context import smallest_k
from .default_candidates import is_large, minimised, size_of
from .point import Point
from .result import Result
from .runner import run
from .score_store import Kept
from .stopping import Stop
from .telling import Telling
from .usefulness import BY_LABELS

if TYPE_CHECKING:
    from .study import Study

_NEAR = 1.3
"""Mechanisms whose best candidate loses at most so many times what the recommended one loses are looked around, too."""
_NEAREST = 2
"""Neighbours of a number that are tried on a large table."""
_ROOM = 1_200_000
"""Distinct tuples times quasi-identifiers, by how often they go into this so many neighbours are tried on a large table in all."""
_STEPS = (1, 2, 3, 4, 5)
_SHARES = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)


def refined(result: Result, *, rounds: int, kept: Kept, workers: int, telling: Telling, stop: Stop) -> Result:
    """The result with what was found around the recommended candidate."""
    study = result.study
    bench = study.bench(result.seed)
    tried = {point.candidate.text for point in result.points} | {
        Candidate.by(p.candidate.mechanism).text for p in result.points if p.candidate.mechanism is not None
    }
    looked = 0
    seen: list[Point] = []
    points = list(result.points)
    most = _ROOM // size_of(study.table, study.roles) if is_large(study.table, study.roles) else None
    for _ in range(rounds):
        if stop.due:
            break
        more = list({c.text: c for c in _around(result) if c.text not in tried}.values())
        more = more[: None if most is None else max(most - looked, 0)]
        if not more:
            break
        tried |= {c.text for c in more}
        told = telling.of(more)
        telling.stage("neighbours")
        came = run(bench, more, list(study.decisive), study.decisive, kept=kept, workers=workers, told=told, stop=stop)
        fresh = [study.point(c, m, looked_for=True) for c, m in zip(more, came, strict=True) if m is not None]
        looked += len(fresh)
        seen += fresh
        trial = dataclasses.replace(result, points=(*points, *fresh))
        best = trial.recommended[0]
        if best is None or best < len(points):  # none of the fresh ones
            break
        points.append(trial.points[best])
        result = dataclasses.replace(result, points=tuple(points))
    while better := _better(
        result, seen
    ):  # a knee moves with the points: it must not end up where something tried beats it
        points.append(better)
        result = dataclasses.replace(result, points=tuple(points))
    chosen = result.recommended[0]
    if chosen is not None and points[chosen].found:  # what wins is measured like the others
        wanted = None if study.measures is None else list(study.asked)
        telling.stage("finalist")
        (whole,) = run(bench, [points[chosen].candidate], wanted, study.asked, kept=kept, workers=1)
        assert whole is not None
        points[chosen] = study.point(points[chosen].candidate, whole, looked_for=True)
    return dataclasses.replace(result, points=tuple(points), looked=looked)


def _better(result: Result, seen: list[Point]) -> Point | None:
    """Of what was tried, the most useful that meets the requirements and beats the recommended candidate; None if none does."""
    chosen, here = result.recommended[0], len(result.points)
    if chosen is None:
        return None
    trial = dataclasses.replace(result, points=(*result.points, *seen))
    if result.study.require:
        best = trial.recommended[0]
        return trial.points[best] if best is not None and best >= here else None
    better = [i for i in range(here, len(trial.points)) if trial.points[i].met and trial.dominates(i, chosen)]
    loss = trial.axis(trial.study.utility, better)
    return None if not better else trial.points[better[int(loss.argmin())]]


def _around(result: Result) -> Iterator[Candidate]:
    """Neighbours of the recommended candidate, and of the best of each mechanism that comes near it."""
    chosen = result.recommended[0]
    if chosen is None:
        return
    study = result.study
    pool = [i for i in result.placed if result.points[i].met] if study.require else result.frontier
    loss = dict(zip(pool, result.axis(study.utility, pool), strict=True))
    best: dict[str, int] = {}
    for i in sorted(pool, key=lambda i: (loss[i], i)):
        best.setdefault(result.points[i].candidate.family, i)
    limit = loss[chosen] * _NEAR if loss[chosen] > 0 else float("inf")
    large = is_large(study.table, study.roles)
    for i in best.values():
        made = result.points[i].candidate.mechanism
        if made is not None and (i == chosen or (loss[i] <= limit and not large)):
            yield from neighbours(made, study, nearest=large)


def neighbours(made: Mechanism, study: Study, *, nearest: bool = False) -> Iterator[Candidate]:
    """The same mechanism with one parameter changed: every other choice, a little more or less of every number. Only what its card calls tunable.

    Of numbers with many neighbours only the `nearest` are tried, if that is asked for.
    """
    hints = typing.get_type_hints(type(made))
    settings = made.settings()
    require = settings.pop("require", [])
    least = smallest_k(study.require)
    for field in dataclasses.fields(made):  # type: ignore[arg-type]
        if field.name not in made.card.tunable:
            continue
        value = getattr(made, field.name)
        if nearest and value is True:  # what gains is not left off
            continue
        others = _values(field.name, value, hints[field.name], least, minimised(study.utility))
        others = [other for other in others if other != value]
        if nearest and isinstance(value, int | float) and not isinstance(value, bool):
            others = sorted(others, key=lambda other: abs(other - value))[:_NEAREST]
        for other in others:
            changed = {**settings, field.name: other}
            try:
                other_made = Candidate.of(spelled(made.card.name, changed, require)).mechanism
                assert other_made is not None
                yield Candidate.by(other_made)  # spelled in one way, so that nothing is tried twice
            except SfumatoError:  # no such combination
                continue


def _values(name: str, value: Any, hint: Any, least: int, utility: str) -> list[Any]:
    if typing.get_origin(hint) is typing.Literal:
        return list(typing.get_args(hint))
    if hint is bool:
        return [not value]
    if name in ("k", "l") and isinstance(value, int):
        wider = [round(value * factor) for factor in (1.2, 1.35, 1.5, 1.75, 2)]
        ks = [value - 2, value - 1, *(value + step for step in _STEPS), *wider]
        return [k for k in ks if k >= (max(least, 1) if name == "k" else 2)]
    if name == "suppression":
        return list(_SHARES)
    if name == "minimise":
        return list(dict.fromkeys(["loss", str(BY_LABELS), utility]))
    if name == "most" and isinstance(value, int):
        return [value - 1, value + 1]
    if isinstance(value, float) and value > 0:
        return [round(value * factor, 6) for factor in (0.5, 0.8, 1.25, 2.0)]
    return []
