"""The free columns of a release: those that go out as they are while its requirements speak of others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..core.column import encode
from ..core.errors import NotMet
from ..core.release import Release
from ..core.roles import Roles
from ..core.runs import distinct
from ..core.survey_weights import same_in_class
from ..core.table import Recoding, Table
from .free_columns import TOLD, FreeColumns, refusal
from .free_noise import NoiseLeft, noise_left

_FIRST = 1000
"""Replacements that are looked at before all of them."""


def free_of_table(table: Table, roles: Roles, waived: Collection[str] = ()) -> FreeColumns:
    """What any release of a table would leave free, before one is made: every quasi-identifier is taken as covered."""
    free = tuple(name for name in table.columns if name in (*roles.insensitive, *roles.sensitive))
    return FreeColumns(
        released=table.keep([*free, *([str(roles.person)] if roles.linked else [])]) if free else table,
        free=free,
        original=table,
        identifiers=_house(roles, table),
        quasi=tuple(name for name in roles.quasi if name in table.columns),
        covered=tuple(name for name in roles.quasi if name in table.columns),
        linking=tuple(name for name in free if name in roles.sensitive),
        person=roles.person if roles.linked and free else None,
        apart=roles.person if roles.unlinked else None,
        whose=roles.person,
        waived=frozenset(waived),
    )


def check_free(table: Table, roles: Roles, waived: Collection[str] = ()) -> None:
    """Refuse, before any work, a table whose free columns give away what no release of it can protect."""
    findings = free_of_table(table, roles, waived).open
    if findings:
        raise NotMet(f"{table.name}: {' '.join(refusal(findings))}")


def free_of_release(release: Release, roles: Roles, waived: Collection[str] = ()) -> FreeColumns:
    """What a release leaves free. A column that the roles do not name is free as well: it is in the file.

    Statistics have no rows of people. A perturbed column is limited by its noise, as far as that hides anything; a column of groups by what
    joins it. Beside noise with differential privacy nothing else is limited, and no row is looked at. A column that nothing limits and
    that a mechanism made coarser (a date its year, a number rounded) is held against what is protected as it was released.
    """
    table, original = release.table, release.original
    if release.neighbours is not None and not release.statistics:
        clear = tuple(name for name in table.columns if name not in release.perturbed | release.drawn)
        return FreeColumns(released=table, free=clear, noiseless=True, waived=frozenset(waived))
    joined = roles.person if roles.linked and roles.person in table.columns else None
    classes = tuple(name for name in roles.quasi if name in table.columns) if joined else ()
    # dates that were moved by an offset a person keep what is between them
    limited = {*roles.quasi, release.joined_by, joined, *(() if joined else release.perturbed)}
    weight = roles.weight if roles.weight in table.columns and same_in_class(table, roles) else None
    limited.add(weight)
    free = () if release.statistics else tuple(name for name in table.columns if name not in limited)
    noisy = (
        {} if release.statistics or joined or release.joined_by is not None else _faint(release, {*roles.quasi, weight})
    )
    free = tuple(name for name in table.columns if name in (*free, *noisy))
    if original is None or not free:
        return FreeColumns(
            released=table,
            free=free,
            linking=tuple(name for name in free if name in roles.sensitive),
            person=joined,
            classes=classes,
            waived=frozenset(waived),
        )
    as_before = tuple(name for name in free if _unchanged(release, name))
    denoised = [name for name, left in noisy.items() if left.undone >= TOLD * left.rows]
    coarser = _coarser(release, free)
    quasi = tuple(name for name in roles.quasi if name in original.columns)
    return FreeColumns(
        released=table,
        free=free,
        compared=tuple(name for name in free if name in (*as_before, *denoised, *coarser)),
        ordered_by=tuple(name for name in free if name in (*as_before, *denoised)),
        original=original,
        beside=original.recode(_only(release, coarser)) if coarser else None,
        noise=noisy,
        identifiers=_house(roles, original),
        quasi=quasi,
        covered=tuple(
            name for name in quasi if covers(release, name)
        ),  # if only in a few rows: it is these that need it
        linking=tuple(name for name in free if name in roles.sensitive),
        secret=tuple(name for name in roles.sensitive if name in original.columns and name not in free),
        person=joined,
        classes=classes,
        apart=roles.person if roles.unlinked else None,
        whose=roles.person,
        waived=frozenset(waived),
    )


def _faint(release: Release, limited: Collection[str | None]) -> dict[str, NoiseLeft]:
    """The perturbed columns that nothing but their noise limits, and what that leaves, where it leaves anything to look at."""
    left = {name: noise_left(release, name) for name in sorted(release.perturbed - set(limited))}
    return {name: each for name, each in left.items() if each is not None and name in release.table.columns}


def _coarser(release: Release, free: Collection[str]) -> tuple[str, ...]:
    """The free columns that a mechanism changed without chance: what they tell of others, their released values tell."""
    recoding = release.recoding
    if recoding is None:
        return ()
    return tuple(name for name in recoding.to if name in free and name in recoding.by and name not in release.perturbed)


def _only(release: Release, names: Collection[str]) -> Recoding:
    """What replaces these columns, the others as they were."""
    recoding = release.recoding
    assert recoding is not None
    places = [len(recoding.by) + i for i, name in enumerate(recoding.to) if name in names]
    table = recoding.table.select([*range(len(recoding.by)), *places, recoding.table.num_columns - 1])
    return replace(recoding, to=tuple(name for name in recoding.to if name in names), table=table)


def covers(release: Release, name: str) -> bool:
    """Whether a release covers any value of a quasi-identifier: whether some released value stands for several of the original."""
    recoding = release.recoding
    if name not in release.table.columns or name in release.perturbed:
        return True
    if recoding is None or name not in recoding.to or name not in recoding.by:
        return not _unchanged(release, name)
    places = (recoding.by.index(name), len(recoding.by) + recoding.to.index(name))
    for rows in (recoding.table.slice(0, _FIRST), recoding.table):  # most columns are settled by the first few
        (before, x), (after, y) = (encode(name, rows.column(place)) for place in places)
        if len(distinct(y * max(len(before), 1) + x)) > len(after):
            return True
    return False


def _unchanged(release: Release, name: str) -> bool:
    """Whether a column's released values are values of the original, none more often than there."""
    original, recoding = release.original, release.recoding
    if original is None or name not in original.columns:
        return False
    if recoding is not None:
        return name not in recoding.to
    here = release.table.count((name,))
    there = original.count((name,))
    rows = {there.columns[0].texts[code]: n for code, n in zip(there.codes[0].tolist(), there.n.tolist(), strict=True)}
    return all(
        n <= rows.get(here.columns[0].texts[code], 0)
        for code, n in zip(here.codes[0].tolist(), here.n.tolist(), strict=True)
    )


def _house(roles: Roles, table: Table) -> tuple[str, ...]:
    return tuple(name for name in roles.house if name in table.columns and name not in (roles.guarding, roles.weight))
