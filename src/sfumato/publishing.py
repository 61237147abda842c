"""Let a release out of the house, or do not: what is published was measured again from the file itself."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .core.errors import InputError, NotMet
from .core.metric import Requirement, Verdict
from .core.release import Release
from .core.roles import Roles
from .core.table import Table
from .engines import read


@dataclass(frozen=True)
class Verification:
    """What a published file was found to be: a verdict per requirement, and what should not be in it at all."""

    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...]

    @property
    def met(self) -> bool:
        """Whether every requirement is met and nothing is in the file that must stay in the house."""
        return not self.problems and all(verdict.met for verdict in self.verdicts)

    @property
    def reasons(self) -> list[str]:
        """Why it is not met, a sentence each."""
        return [*self.problems, *(f"{verdict}." for verdict in self.verdicts if not verdict.met)]


def verify(
    published: Table,
    roles: Roles,
    require: Sequence[Requirement],
    *,
    original: Table | None = None,
    perturbed: frozenset[str] = frozenset(),
) -> Verification:
    """Measure a published table and compare with what is required of it; nothing else is trusted."""
    release = Release(table=published, original=original, perturbed=perturbed)
    house = {name: "an identifier" for name in (*roles.identifiers, roles.person) if name is not None}
    if roles.guarding is not None:
        house[roles.guarding] = "the guarding column"
    problems = [
        f"{published.name}: column {name!r} is {what} in {roles.source} and is still there."
        for name, what in house.items()
        if name in published.columns
    ]
    return Verification(tuple(requirement.check(release, roles) for requirement in require), tuple(problems))


def publish(release: Release, roles: Roles, require: Sequence[Requirement], path: Path | str) -> Verification:
    """Write a release under a hidden name, measure that file, and give it its name only if everything is met.

    Otherwise NotMet is raised and nothing is left behind.
    """
    path = Path(path)
    if release.original is not None and _same(path, release.original.name):
        raise InputError(f"{path}: this is the input; write the release somewhere else.")
    if path.is_dir():
        raise InputError(f"{path}: a folder; name a file.")
    hidden = path.with_name(f".{uuid.uuid4().hex[:12]}{path.suffix}")
    try:
        release.table.write(hidden)
        # Our own dialect is not guessed: whatever names and values the release holds, it is read as it was written.
        dialect = (
            {"delimiter": ",", "quote": '"', "encoding": "utf-8", "header": True}
            if path.suffix.lower() == ".csv"
            else {}
        )
        written = read(hidden, **dialect)
        found = verify(written, roles, require, original=release.original, perturbed=release.perturbed)
        if release.recoding is not None and release.original is not None and written.rows != release.original.rows:
            raise NotMet(
                f"{path}: not written; {release.made_by} lost rows, which is a mistake of ours. Please report it."
            )
        if not found.met:
            reasons = " ".join(found.reasons).replace(str(hidden), str(path))
            raise NotMet(f"{path}: not written; {reasons}")
        hidden.replace(path)
        _settle(path.parent)
    finally:
        hidden.unlink(missing_ok=True)
    return found


def _same(path: Path, name: str) -> bool:
    try:
        return path.exists() and Path(name).exists() and path.samefile(name)
    except OSError:
        return False


def _settle(folder: Path) -> None:
    """Make the rename last through a power cut, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
