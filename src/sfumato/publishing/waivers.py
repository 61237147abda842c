"""Waivers: the owner's word, with a reason, that a column may go out although something was found in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import InputError, hint

Waivers = Mapping[str, str]
"""Why each column may go out all the same."""


def read_waivers(texts: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Waivers from `COLUMN: reason`; a name that holds colons itself is found by the columns there are.

    >>> read_waivers(["weight: published by the survey office anyway"], ["weight", "age"])
    {'weight': 'published by the survey office anyway'}
    """
    entries = {}
    for text in texts:
        parts = text.split(":")
        splits = [(":".join(parts[:i]).strip(), ":".join(parts[i:]).strip()) for i in range(1, len(parts))]
        if not splits:
            raise InputError(f"--waive {text}: write 'COLUMN: reason'.")
        known = [split for split in splits if split[0] in columns]
        column, reason = known[-1] if known else splits[0]
        if column in entries:
            raise InputError(f"--waive: column {column!r} was waived already; give one reason.")
        entries[column] = reason
    return check_waivers(entries, columns, where="--waive")


def read_reasons(texts: Sequence[str]) -> dict[str, str]:
    """Why open points are accepted, from `KEY: reason`; the key is what stands before the first colon and a space.

    >>> read_reasons(["wp29.singling_out: the data are ten years old"])
    {'wp29.singling_out': 'the data are ten years old'}
    """
    reasons: dict[str, str] = {}
    for text in texts:
        key, colon, reason = text.partition(": ")
        if not colon or not key.strip() or not reason.strip():
            raise InputError(
                f"--accept {text}: write 'KEY: reason'; the decision sheet prints the key of each open point."
            )
        if key.strip() in reasons:
            raise InputError(f"--accept: {key.strip()!r} was accepted already; give one reason.")
        reasons[key.strip()] = " ".join(reason.split())
    return reasons


def check_waivers(entries: Any, columns: Sequence[str], *, where: str) -> dict[str, str]:
    """The entries, if each names a column and gives a reason."""
    if not isinstance(entries, Mapping):
        raise InputError(f'{where}: write one line a column, COLUMN = "reason".')
    for column, reason in entries.items():
        if column not in columns:
            meant = hint(str(column), columns, "name a column of the table.")
            raise InputError(f"{where}: no column {column!r}; {meant}")
        if not isinstance(reason, str) or not reason.strip():
            raise InputError(f"{where}: say why {column!r} may be waived; the reason stands in every document.")
    return {column: " ".join(reason.split()) for column, reason in entries.items()}
