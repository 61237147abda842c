"""What the tests of a study share: a small table, its roles, and results with made-up scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.core.metric import Score, Verdict
from sfumato.core.table import Table
from sfumato.metrics import metric, require
from sfumato.study.study import Candidate, Point, Result, Study, grid

ROLES = sf.Roles(quasi=("age", "zip"), sensitive=("ill",), insensitive=("note",), source="roles.toml")
RISK, LOSS = metric("prosecutor_risk"), metric("iloss")
CANARY = "Quixotic7741"
NOBODY = sf.read(pa.table({"age": [40], "zip": ["1"], "ill": ["a"], "note": ["u"]}))
"""For results whose points are made up: nobody looks at the table."""


def columns(rows: int = 80, seed: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    return {
        "age": age,
        "zip": rng.choice(["00501", "00544", "10001", CANARY], rows),
        "ill": np.where(age > 60, rng.choice(list("aab"), rows), rng.choice(["b", "c", CANARY], rows)),
        "note": rng.choice(["u", "v"], rows),
    }


def memory(rows: int = 80, **changed: Any) -> Table:
    """A table in memory; `changed` are columns instead of those."""
    return sf.read(pa.table({**columns(rows), **changed}))


def study(table: Table, *texts: str, requirements: Sequence[str] = (), measures: Any = (), **more: Any) -> Study:
    """A study of texts; nothing but what it needs is measured unless said."""
    wanted = tuple(require(text) for text in requirements)
    asked = None if measures is None else tuple(metric(text) for text in measures)
    more = {"roles": ROLES, "candidates": grid(texts), "utility": LOSS, **more}
    return Study(table=table, require=wanted, measures=asked, **more)


def point(scores: Mapping[str, float], held: Sequence[Any] = (), name: str = "x", **more: Any) -> Point:
    """A point with made-up scores, held against requirements; what is not among the scores cannot be asked of it."""
    made = {}
    for text, value in scores.items():
        measured = metric(text)
        made[text] = (measured, Score(float(value), measured.card.unit))
    verdicts, unknown = [], {}
    for requirement in held:
        found = made.get(str(requirement.metric))
        if found is None:
            unknown[str(requirement)] = "It cannot be asked."
        else:
            verdicts.append(Verdict(requirement, found[1]))
    return Point(Candidate(name, label=name), made, verdicts=tuple(verdicts), unknown=unknown, **more)


def result(
    points: Sequence[Mapping[str, float]],
    requirements: Sequence[str] = (),
    names: Sequence[str] | None = None,
    **more: Any,
) -> Result:
    """A result of made-up points, on prosecutor risk and ILoss unless said."""
    held = tuple(require(text) for text in requirements)
    names = names or [f"P{i}" for i in range(len(points))]
    made = tuple(point(scores, held, name) for scores, name in zip(points, names, strict=True))
    looked = more.pop("looked", 0)
    asked = Study(
        table=NOBODY,
        roles=ROLES,
        candidates=tuple(p.candidate for p in made),
        require=held,
        **{"utility": LOSS, **more},
    )
    return Result(asked, made, looked=looked)
