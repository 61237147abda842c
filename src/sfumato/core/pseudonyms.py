"""Keyed pseudonyms: a hash of each person's number under a key of the owner's, the same in every table that is released with that key.

    [people]
    rows = "linked"
    pseudonyms = "env:TOWN_KEY"      # or "file:keys/town.key", beside the roles file

HMAC with SHA-256 (Krawczyk, Bellare, Canetti 1997, RFC 2104), 128 bits of it: without the key nobody computes the pseudonym of a number, or
the number of a pseudonym, other than by guessing the key. The key is read where it is used, and is written nowhere. What it joins is
counted as for the random numbers that join a person's rows otherwise; tables that share a key are measured together as related ones.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .arrow import strings, take
from .column import encode
from .errors import Infeasible, InputError
from .release import Release
from .roles import Roles
from .table import Recoding

_LEAST = 16
"""Bytes that a key must have."""
_SHOWN = 32
"""Hexadecimal digits of a pseudonym: among a billion people two share one with a probability below 2^-68."""
_MAKE = "make one with: python -c 'import secrets; print(secrets.token_hex(32))'"


def unnamed(roles: Roles) -> Roles:
    """The roles that a link of a chain works by: pseudonyms stand only in what the whole chain released."""
    if "pseudonyms" not in roles.people:
        return roles
    return replace(roles, people=_without_key(roles.people))


def packed(people: Mapping[str, Any]) -> dict[str, Any]:
    """What a package says of people: nothing of where the key is."""
    return _without_key(people)


def _without_key(people: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in people.items() if key != "pseudonyms"}


def pseudonym(number: str, key: bytes) -> str:
    """A person's pseudonym: a letter, so that no program takes it for a number, and 128 bits.

    >>> pseudonym("17", b"0123456789abcdef") == pseudonym("17", b"0123456789abcdeg")
    False
    """
    return "p" + hmac.new(key, number.encode(), "sha256").hexdigest()[:_SHOWN]


def pseudonymised(release: Release, roles: Roles) -> Release:
    """The release with pseudonyms in the place of the random numbers that join a person's rows, where the roles ask for them."""
    if "pseudonyms" not in roles.people:
        return release
    person = str(roles.person)
    key = key_of(str(roles.people["pseudonyms"]), f"{roles.source}, [people] pseudonyms", roles.folder)
    recoding = release.recoding
    if (
        recoding is None
        or person not in recoding.by
        or person not in recoding.to
        or person not in release.table.columns
    ):
        raise Infeasible(
            f"{release.made_by} does not tell whose its rows are, so they get no pseudonyms; take out pseudonyms under [people] of "
            f"{roles.source}, or take a mechanism that joins the rows of a person, such as mondrian."
        )
    pairs = recoding.pairs((person,))
    before, after = (column.texts for column in pairs.columns)
    of = {
        after[new]: pseudonym(str(before[old]), key)
        for old, new in zip(pairs.codes[0].tolist(), pairs.codes[1].tolist(), strict=True)
    }
    assert len(set(of.values())) == len(of)
    counts = release.table.count((person,))
    here = [counts.columns[0].texts[code] for code in counts.codes[0].tolist()]
    renamed = Recoding.of((person,), (person,), [strings(here), strings([of[text] for text in here])], counts.n)
    place = len(recoding.by) + recoding.to.index(person)
    column, codes = encode(person, recoding.table.column(place))
    named = take(strings([of[text] for text in column.texts]), codes)
    table = recoding.table.set_column(place, recoding.table.column_names[place], named)
    note = (
        f"Column {person!r} holds keyed pseudonyms: the same person has the same one in every release that is made with this key. Whoever has "
        "several of them joins them; measure them together (--related)."
    )
    return replace(
        release,
        table=release.table.recode(renamed),
        recoding=replace(recoding, table=table),
        notes=(*release.notes, note),
    )


def key_of(stated: str, where: str, folder: Path) -> bytes:
    """A key, from where it is stated to be: `env:NAME` or `file:PATH`; nothing of it stands in an error."""
    kind, _, place = stated.partition(":")
    if kind == "env":
        text = os.environ.get(place)
        if text is None:
            raise InputError(f"{where}: the environment has no variable {place!r}, where the key should be; {_MAKE}.")
        key = text.strip().encode()
    else:
        try:
            key = (folder / place).read_bytes().strip()
        except OSError:
            raise InputError(
                f"{where}: the file of the key cannot be read; {_MAKE}, and keep it where only you can read it."
            ) from None
    if len(key) < _LEAST:
        raise InputError(f"{where}: the key has {len(key)} bytes, and fewer than {_LEAST} can be guessed; {_MAKE}.")
    return key
