"""A set of values as one released text: `{a, b}`, written and read back."""

from __future__ import annotations

import re

_BARE = re.compile(r'[^\s,{}"]([^,{}"\n\r\t]*[^\s,{}"])?')
_MEMBER = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*(?:,|$)')


def spell_set(texts: list[str]) -> str:
    """A set as `read_set` takes it back: {a, b}; a value with a comma, brace, quote or space at an end stands in quotes."""
    return "{" + ", ".join(t if _BARE.fullmatch(t) else '"' + t.replace('"', '""') + '"' for t in texts) + "}"


def read_set(text: str) -> list[str]:
    """The members of {a, b}."""
    inside, at, members = text[1:-1], 0, []
    while at < len(inside) and (m := _MEMBER.match(inside, at)):
        members.append(m[2] if m[1] is None else m[1].replace('""', '"'))
        at = m.end()
    return members
