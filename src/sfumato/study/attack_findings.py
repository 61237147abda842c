"""Attacks on the recommended release: WP29's three tests with a control, linkage by an intruder, homogeneity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..attacks import wp29_tests
from ..attacks.homogeneity import homogeneity
from ..attacks.linkage import linkage
from ..core.arrow import integers, take
from ..core.attack import Attack
from ..core.errors import SfumatoError, Unavailable
from ..core.outcome import Outcome
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..inspect.raw_risk import RawRisk
from .result import Result

ATTACKS = 2000
"""People (or descriptions) that each of WP29's tests attacks."""
HELD_OUT = 60_000
"""Rows up to which the release is made again without some people, to hold those who are in it against those who are not."""
OUTSIDE = 0.5
"""The share of the rows that is then left out: half, so that both sides have as many people."""
_DETAILS = (
    "known", "columns", "size", "numbers", "first", "second", "neighbours", "secret", "tolerance", "attacks", "column_sets",
    "alone", "how", "unit", "released", "correct", "ambiguous", "wrong", "none", "candidates", "sampled", "column", "share",
    "certain_by_class",
)  # fmt: skip


def tried(find: Callable[..., dict[str, Any]], *given: Any, **how: Any) -> dict[str, Any]:
    """What was found, or why it could not be."""
    try:
        return find(*given, **how)
    except SfumatoError as reason:
        return {"unavailable": str(reason)}


def without_values(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data, without anything that could be a value."""
    return {
        **outcome.as_dict(),
        "over_baseline": outcome.over_baseline,
        "over_control": outcome.over_control,
        "weaker": outcome.weaker,
        "details": {name: outcome.details[name] for name in _DETAILS if name in outcome.details},
    }


def _outcome(attack: Attack[Any], release: Release, roles: Roles, **given: Any) -> dict[str, Any]:
    """How an attack went, or why it could not be played."""
    return tried(lambda: without_values(attack(release, roles, **given)))


def _wp29(release: Release, roles: Roles, seed: int, control: Table | None = None) -> dict[str, Any]:
    """WP29's tests in the Opinion's order: who can be described, who can be joined, what can be learned of whom."""
    inputs: dict[str, Any] = {"attacks": ATTACKS, "control": control, "seed": seed}
    outcomes: dict[str, Any] = {}
    for attack in wp29_tests():
        for column in roles.sensitive if "sensitive" in attack.takes else (None,):
            name = attack.card.name if column is None else f"{attack.card.name}({column})"
            given = inputs if column is None else {**inputs, "sensitive": column, "knows": roles.quasi}
            taken = {name: value for name, value in given.items() if name in attack.takes}
            outcomes[name] = _outcome(attack, release, roles, **taken)
    return outcomes


def wp29(result: Result, chosen: int, release: Release, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The three tests on the release; and again on one made without some people, which are the control."""
    roles = result.study.roles
    tests = _wp29(release, roles, seed)
    try:
        less, outside = _held_out(result, chosen, seed)
    except SfumatoError as reason:
        return tests, {"unavailable": str(reason)}
    inside = less.original
    assert inside is not None
    return tests, {
        "inside": inside.rows,
        "outside": outside.rows,
        "each": _wp29(less, roles, seed, outside),
    }


def _held_out(result: Result, chosen: int, seed: int) -> tuple[Release, Table]:
    """The same mechanism on half of the rows, drawn at random; and the other half."""
    study = result.study
    made, table = result.points[chosen].candidate.mechanism, study.table
    if made is None:
        raise Unavailable("The release was made elsewhere, so it cannot be made again without some of the people.")
    if study.roles.person is not None and study.roles.person in table.columns:
        raise Unavailable(
            "Some people have several rows, so the rows cannot be split into people inside and people outside."
        )
    if not 100 <= table.rows <= HELD_OUT:
        raise Unavailable(f"Sfumato makes a release again only for tables of 100 to {HELD_OUT:,} rows.")
    counts = table.count(table.columns)
    who = np.repeat(np.arange(len(counts)), counts.n)
    out = np.random.default_rng([seed, 29]).permutation(len(who))[: round(OUTSIDE * len(who))]
    less = np.bincount(who[out], minlength=len(counts)).astype(np.int64)
    rows = pa.table(
        {column.name: take(column.values, codes) for column, codes in zip(counts.columns, counts.codes, strict=True)}
    )
    inside, outside = (
        table.instead(rows.filter(_mask(times > 0)), integers(times[times > 0])) for times in (counts.n - less, less)
    )
    release = made(inside, study.roles, np.random.default_rng(seed))
    return replace(release, original=inside), outside


def _mask(kept: Any) -> pa.Array:
    bits = pa.py_buffer(np.packbits(kept, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(kept), [None, bits])


def linkages(release: Release, roles: Roles, raw: RawRisk | None, seed: int) -> list[dict[str, Any]]:
    """Everybody looked up by one who knows the worst two columns of the raw table, the worst three, and all of them."""
    sets: list[tuple[str, ...]] = []
    for size in (2, 3):
        worst = next((risk.columns for risk in (() if raw is None else raw.sets) if len(risk.columns) == size), None)
        if worst is not None and size < len(roles.quasi):
            sets.append(worst)
    return [_outcome(linkage, release, roles, knows=columns, seed=seed) for columns in (*sets, roles.quasi)]


def homogeneities(release: Release, roles: Roles) -> dict[str, Any]:
    """For each sensitive column, who is in a class that tells it."""
    return {name: _outcome(homogeneity, release, roles, sensitive=name) for name in roles.sensitive}
