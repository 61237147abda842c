"""What a reproduction is made of: printed numbers beside ours, and shapes that must come out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A number as the paper prints it, and ours."""

    what: str
    printed: str
    ours: str
    exactness: str
    note: str = ""


@dataclass(frozen=True)
class Check:
    """A shape that must come out, whether it does, and the numbers behind it."""

    text: str
    holds: bool
    seen: str
