"""Let a release out of the house, or do not: it gets its name only after it was measured again from what was written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core import table_formats as formats
from ..core.addresses import place_name
from ..core.arrow import numpy, strings
from ..core.column import IntArray, encode
from ..core.counts import Counts, pack
from ..core.errors import InputError, NotMet
from ..core.metric import Requirement, check_counted, listed
from ..core.people import one_row_each
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Recoding, Table
from .sinks import sink
from .verification import Verification, verify_release
from .waivers import Waivers, check_waivers

if TYPE_CHECKING:
    from .register import Register


def publish(
    release: Release,
    roles: Roles,
    require: Sequence[Requirement],
    path: Path | str,
    *,
    waive: Waivers | None = None,
    neutralise_formulas: bool = False,
    recipient: Roles | None = None,
    register: Register | None = None,
) -> Verification:
    """Write a release under a hidden name, measure that file, and give it its name only if everything is met.

    Columns that no requirement limits are held against what the release protects; `waive` says of which the owner lets out what was
    found, and why. Otherwise NotMet is raised and nothing is left behind. A release of an original with several rows a person is
    refused, whoever made it, unless all that is required of it is about columns, or the roles say that people are counted.
    With `neutralise_formulas` no cell of the CSV or Excel file begins like a formula (core.formulas has the rule); what is measured is the file,
    its apostrophes taken off again. The roles of a `recipient`, which go with the release, add a second set of verdicts: of what the
    file shows to someone without the original. Both sets are measured from one reading of the file, which counts each question once.
    In a `register` the release is entered when it gets its name; one that costs more than is left of the register's budget is refused.
    """
    require = listed(require)
    form = formats.check_out(Path(path), release.table.columns)
    if neutralise_formulas and form not in (formats.CSV, formats.EXCEL):
        raise InputError(
            f"{place_name(path)}: formulas are neutralised in CSV and Excel files only; write one of these, or leave neutralise_formulas out."
        )
    release = release.one_row_each(roles)
    _check_private(release, require)
    _check_people(release, roles, require)
    tables = (release.table, *release.companions.values(), *([release.original] if release.original else []))
    waive = check_waivers(waive or {}, [name for table in tables for name in table.columns], where="waive")
    variables = release.table.variables if release.original is None else release.original.variables
    place = sink(release, path, variables, neutralise_formulas=neutralise_formulas)
    files = (Path(path), Path(path)) if register is None else place.entered()
    with place.staging():
        for part, table in {"": release.table, **release.companions}.items():
            place.stage(part, table)
        written = place.staged("", release.table)
        companions = {part: place.staged(part, table) for part, table in release.companions.items()}
        pairs = _pairs(release, written, roles, require)
        again = replace(release, table=written, companions=companions, recoding=pairs, pairing="none")
        made = replace(release, table=written, companions=companions)
        if release.neighbours is not None:  # what is said of it may be computed from the file, and from nothing else
            made = again = replace(again, original=None, recoding=None)
        verification = verify_release(again, roles, require, waive=waive, made=made)
        if recipient is not None:
            handed_out = Release(
                table=written,
                companions=companions,
                statistics=release.statistics,
                perturbed=release.perturbed,
                joined_by=release.joined_by,
            )
            seen = verify_release(handed_out, recipient, _without_owner(require, roles), waive=waive)
            verification = replace(verification, recipient=seen)
        if release.recoding is not None and written.rows != release.recoding.rows:
            raise NotMet(f"{place.names['']}: not written; {_lost_rows(release)}")
        if not verification.met:
            raise NotMet(f"{place.names['']}: not written; {' '.join(verification.reasons)}")
        with entering(register, release, roles, require, *files, waive):
            place.commit()
    return verification


def _lost_rows(release: Release) -> str:
    if release.original is not None and not release.original.ordered:
        return "the table changed on its server while it was sanitized, or that was a mistake of ours; do it again while nobody writes to it."
    return f"{release.made_by} lost rows, which is a mistake of ours. Please report it."


def entering(
    register: Register | None,
    release: Release,
    roles: Roles,
    require: Sequence[Requirement],
    file: Path,
    path: Path,
    waive: Waivers,
) -> AbstractContextManager[None]:
    """Inside it a release gets its name; it is entered in the register, where there is one."""
    if register is None:
        return nullcontext()
    from .register import entry_of

    return register.entering(entry_of(release, roles, require, file, path, waive))


def _without_owner(require: Sequence[Requirement], roles: Roles) -> list[Requirement]:
    """The requirements that can be measured from the release alone, without what only its owner has.

    Where people are counted, only the original tells whose each row is.
    """
    alone = [each for each in require if not each.metric.card.needs & {"original", "pairs", "population"}]
    return [each for each in alone if each.metric.card.unit == "columns"] if roles.unlinked else alone


def _check_private(release: Release, require: Sequence[Requirement]) -> None:
    """Refuse to let the exact rows decide whether a release with differential privacy is published: that would tell of them."""
    for requirement in require if release.neighbours is not None else ():
        if requirement.metric.card.needs & {"original", "pairs"}:
            raise InputError(
                f"{requirement} is measured against the original rows, so that whether it is met would tell of them what "
                f"{release.made_by} promises to hide; require only what the released file shows by itself."
            )


def _check_people(release: Release, roles: Roles, require: Sequence[Requirement]) -> None:
    """Refuse a release of several rows a person, unless people are counted. Where differential privacy is promised, to look would tell of the rows."""
    columns_only = bool(require) and all(requirement.metric.card.unit == "columns" for requirement in require)
    if release.original is None or release.statistics or release.neighbours is not None or columns_only:
        return
    named = [requirement.metric.card.name for requirement in require]
    who = release.made_by if release.made_by != "elsewhere" or not named else named[0]
    check_counted(require, roles, who)
    one_row_each(release.original, roles, who, counts_people=True)


def _pairs(release: Release, written: Table, roles: Roles, require: Sequence[Requirement]) -> Recoding | None:
    """What became what, if something required asks for it: the file has no pairs, so it must hold just their released side."""
    recoding = release.recoding
    needed = any("pairs" in requirement.metric.card.needs for requirement in require)
    needed |= roles.guarding is not None or roles.unlinked
    if recoding is None or not needed:
        return None
    there = [encode(name, recoding.table.column(len(recoding.by) + i)) for i, name in enumerate(recoding.to)]
    recoded = Counts.of(
        [c for c, _ in there], [c for _, c in there], numpy(recoding.table.column("n")).astype(np.int64)
    )
    if not _same_rows(written.count(recoding.to), recoded):
        raise NotMet(
            f"{release.made_by} wrote other values than it says it did, which is a mistake of ours. Please report it."
        )
    return recoding


def _same_rows(one: Counts, other: Counts) -> bool:
    """Whether two counts are of the same rows; a number is the same however it is spelled."""
    codes: list[IntArray] = []
    sizes = []
    for a, b, x, y in zip(one.columns, other.columns, one.codes, other.codes, strict=True):
        if a.numbers is not None and b.numbers is not None:
            _, place = np.unique(np.concatenate([a.numbers, b.numbers]), return_inverse=True)
        else:
            place = encode(a.name, strings([*a.texts, *b.texts]))[1]
        codes.append(np.append(place[x], place[y + len(a)]).astype(np.int64))
        sizes.append(len(a) + len(b))
    key = pack(codes, sizes, len(one) + len(other))
    distinct, member = np.unique(key, return_inverse=True)
    balance = np.bincount(member, weights=np.append(one.n, -other.n), minlength=len(distinct))
    return not balance.any()
