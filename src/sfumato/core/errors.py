"""Every error that Sfumato raises on purpose.

    SfumatoError               something the user can act on: one sentence that says what, where and what to do
    ├── InputError             a file, table, roles file, hierarchy or option that cannot be used as it is
    ├── RequirementError       a requirement or metric text that cannot be understood
    ├── Unavailable            a metric that this release cannot be asked (no sensitive column, no original, no order ...)
    ├── Infeasible             no release of this mechanism meets what was required
    └── NotMet                 a release was measured and misses a requirement

Anything else that escapes is a bug of ours, and the command line says so. No message ever holds a value of the
table: the place (file, column, row) is enough to find it, and a log must not leak what a release may not.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SfumatoError(Exception):
    """The root: its text is one sentence for the user."""

    exit_code = 2


class InputError(SfumatoError):
    """What was brought cannot be used as it is."""


class RequirementError(SfumatoError):
    """A requirement or metric text that cannot be understood."""


class Unavailable(SfumatoError):
    """A metric cannot be asked of this release; the text says what is missing."""


class Infeasible(SfumatoError):
    """No release of this mechanism meets the requirements; nothing was written."""

    exit_code = 1


class NotMet(SfumatoError):
    """A measured release misses a requirement; nothing was written."""

    exit_code = 1


def hint(name: str, known: Iterable[str], otherwise: str) -> str:
    """How an error about an unknown name ends: with the known one that is nearest, or with what else there is to say."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise
