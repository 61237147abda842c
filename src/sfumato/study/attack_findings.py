"""Attacks on the recommended release: WP29's three tests with a control, linkage by an intruder, homogeneity."""

from __future__ import annotations

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
from ..core.noun import dataclass
from ..core.outcome import Outcome, Standing, standing
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


@dataclass(frozen=True)
class HeldOut:
    """WP29's tests on a release made again from the rows `inside`, with the rows `outside` as the control."""

    inside: int
    outside: int
    each: dict[str, Outcome | str]


def without_values(outcome: Outcome) -> Outcome:
    """An outcome whose details hold nothing that could be a value of the table."""
    return replace(outcome, details=outcome.details.without_values())


def held_against(attack: Outcome, again: Outcome | None) -> Standing:
    """What an attack proves, by the same judgement as `sfumato attack`.

    The baseline is that of the release itself, the control that of the one made again from half of the rows, each held against the
    attack on the same release. A release on which nobody can be attacked is not blamed for what the other one allows.
    """
    return standing(
        attacked=attack.attacked,
        over_baseline=attack.over_baseline,
        over_control=None if again is None else again.over_control,
        weaker=attack.weaker,
        certain=attack.certain,
    )


def made_again(held_out: HeldOut | str, test: str) -> Outcome | None:
    """How a test of WP29 went on the release made again from half of the rows, if it was."""
    again = None if isinstance(held_out, str) else held_out.each.get(test)
    return again if isinstance(again, Outcome) else None


def _outcome(attack: Attack[Any], release: Release, roles: Roles, **given: Any) -> Outcome | str:
    """How an attack went, or why it could not be played."""
    try:
        return without_values(attack(release, roles, **given))
    except SfumatoError as reason:
        return str(reason)


def _wp29(release: Release, roles: Roles, seed: int, control: Table | None = None) -> dict[str, Outcome | str]:
    """WP29's tests in the Opinion's order: who can be described, who can be joined, what can be learned of whom."""
    inputs: dict[str, Any] = {"attacks": ATTACKS, "control": control, "seed": seed}
    outcomes: dict[str, Outcome | str] = {}
    for attack in wp29_tests():
        for column in roles.sensitive if "sensitive" in attack.takes else (None,):
            name = attack.card.name if column is None else f"{attack.card.name}({column})"
            given = inputs if column is None else {**inputs, "sensitive": column, "knows": roles.quasi}
            taken = {name: value for name, value in given.items() if name in attack.takes}
            outcomes[name] = _outcome(attack, release, roles, **taken)
    return outcomes


def wp29(result: Result, chosen: int, release: Release, seed: int) -> tuple[dict[str, Outcome | str], HeldOut | str]:
    """The three tests on the release; and again on one made without some people, which are the control."""
    roles = result.study.roles
    tests = _wp29(release, roles, seed)
    try:
        less, outside = _held_out(result, chosen, seed)
    except SfumatoError as reason:
        return tests, str(reason)
    inside = less.original
    assert inside is not None
    return tests, HeldOut(inside.rows, outside.rows, _wp29(less, roles, seed, outside))


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


def linkages(release: Release, roles: Roles, raw: RawRisk | None, seed: int) -> list[Outcome | str]:
    """Everybody looked up by one who knows the worst two columns of the raw table, the worst three, and all of them."""
    sets: list[tuple[str, ...]] = []
    for size in (2, 3):
        worst = next((risk.columns for risk in (() if raw is None else raw.sets) if len(risk.columns) == size), None)
        if worst is not None and size < len(roles.quasi):
            sets.append(worst)
    return [_outcome(linkage, release, roles, knows=columns, seed=seed) for columns in (*sets, roles.quasi)]


def homogeneities(release: Release, roles: Roles) -> dict[str, Outcome | str]:
    """For each sensitive column, who is in a class that tells it."""
    return {name: _outcome(homogeneity, release, roles, sensitive=name) for name in roles.sensitive}
