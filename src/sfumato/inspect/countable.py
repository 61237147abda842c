"""Whether the rows of a release can be counted as what they say: statistics and perturbed columns cannot."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.errors import Unavailable
from ..core.release import Release
from ..core.roles import Roles


def check_countable(release: Release, roles: Roles, columns: Iterable[str], why: str) -> None:
    """Refuse to read perturbed values as the people's own; those that groups join are the group's, and are asked of it."""
    if release.statistics:
        raise Unavailable(f"{why} counts rows, and this release holds statistics, not one row a person.")
    apart = release.evidence(roles).apart
    for name in columns:
        if name in release.perturbed and name not in apart:
            raise Unavailable(
                f"{why} counts the values of {name!r}, which was perturbed, so they are not those of the people they stand beside; "
                "ask of other columns, or name the groups it was permuted within with --joined-by."
            )
