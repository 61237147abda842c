"""Parameters: what may stand in the brackets of a metric such as `t_closeness[ordered]`; and any value read from a text, by its type."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Set
from typing import Any

from .errors import InputError, RequirementError
from .noun import dataclass


@dataclass(frozen=True)
class Choice:
    """One of a few words; written bare. Without a default every option is a metric of its own."""

    options: tuple[str, ...]
    default: str | None = None

    @property
    def usual(self) -> tuple[str, ...]:
        """The values to measure where none is chosen."""
        return self.options if self.default is None else (self.default,)

    def read(self, value: Any) -> str:
        """A given value, checked."""
        if value not in self.options:
            raise RequirementError(f"one of {', '.join(self.options)}")
        return str(value)

    def spell(self, name: str, value: str) -> str:
        """As `read` takes it back from a text."""
        return value


@dataclass(frozen=True)
class Number:
    """A number between two bounds; written `name=3`."""

    default: float | None
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False

    @property
    def usual(self) -> tuple[float, ...]:
        """The default; a number without one must be given."""
        return () if self.default is None else (self.default,)

    def read(self, value: Any) -> float:
        """A given value, checked."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not self.low <= number <= self.high or (self.whole and not number.is_integer()):
            raise RequirementError(f"a {'whole ' if self.whole else ''}number from {self.low:g} to {self.high:g}")
        return int(number) if self.whole else number

    def spell(self, name: str, value: float) -> str:
        """As `read` takes it back from a text."""
        return f"{name}={int(value) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))}"


@dataclass(frozen=True)
class Words:
    """A set of texts, such as sensitive values that may be disclosed; written `name=flu|cold`."""

    default: frozenset[str] | None = frozenset()

    @property
    def usual(self) -> tuple[frozenset[str], ...]:
        """The default; a set without one must be given."""
        return () if self.default is None else (self.default,)

    def read(self, value: Any) -> frozenset[str]:
        """A given value, checked."""
        words = frozenset(value.split("|") if isinstance(value, str) else value)
        if self.default is None and not words:
            raise RequirementError("one text at least, several separated by |")
        if any(not word or set(word) & set("|,[]=") for word in words):
            raise RequirementError("texts separated by |, without commas, brackets or equals signs")
        return words

    def spell(self, name: str, value: frozenset[str]) -> str:
        """As `read` takes it back from a text."""
        return f"{name}={'|'.join(sorted(value))}"


@dataclass(frozen=True)
class Name:
    """One text that must be given, such as a column; written `name=age`."""

    default: str | None = None

    @property
    def usual(self) -> tuple[str, ...]:
        """None: it must be given."""
        return () if self.default is None else (self.default,)

    def read(self, value: Any) -> str:
        """A given value, checked."""
        if not isinstance(value, str) or not value or set(value) & set(",[]="):
            raise RequirementError("a text without commas, brackets or equals signs")
        return value

    def spell(self, name: str, value: str) -> str:
        """As `read` takes it back from a text."""
        return f"{name}={value}"


Parameter = Choice | Number | Words | Name
ATTEMPTS = Number(2000, low=1, high=1_000_000, whole=True)
"""How often an attack that draws is tried."""


def types_of(hint: Any) -> tuple[Any, ...]:
    """The types that a parameter may have."""
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    return typing.get_args(hint) if union else (hint,)


def from_text(text: str, hint: Any, where: str) -> Any:
    """A parameter's value from its text, by its type."""
    for option in types_of(hint):
        if typing.get_origin(option) is typing.Literal:
            if text in typing.get_args(option):
                return text
            raise InputError(f"{where} must be one of {', '.join(map(str, typing.get_args(option)))}.")
        if option is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if option in (int, float):
            try:
                return option(text)
            except ValueError:
                raise InputError(f"{where} must be a {'whole ' if option is int else ''}number.") from None
        if option is str:
            return text
        if typing.get_args(option) == (str,):  # several, in any order or in this one
            texts = [part.strip() for part in text.split("|")]
            return frozenset(texts) if issubclass(typing.get_origin(option), Set) else tuple(texts)
    raise InputError(f"{where} cannot be set from a text.")
