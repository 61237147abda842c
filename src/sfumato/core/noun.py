"""What a noun of ours says of itself where it is printed: what it is and how large, never a value of the data.

A notebook cell, a log line, a debugger and a failed test all print `repr`. The one that Python writes for a dataclass prints every
field, and ours hold people's values. So every dataclass of the house is made by `dataclass` from here (a test looks that up), and
prints the sizes of what it holds. What may be printed besides is opted in, field by field, in `shows`:

    >>> @dataclass(frozen=True)
    ... class Group:
    ...     shows: ClassVar[tuple[str, ...]] = ("size",)
    ...     size: int
    ...     values: tuple[str, ...]
    >>> Group(3, ("a rare illness", "another"))
    Group(size=3, values: 2)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence, Sized
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["ClassVar", "Sheet", "dataclass", "short"]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """`dataclasses.dataclass`, printed by `short`; a class that writes its own `__repr__` keeps it."""

        def made(given: type) -> type:
            if "__repr__" not in vars(given):
                given.__repr__ = short
            return dataclasses.dataclass(repr=False, **options)(given)

        return made if cls is None else made(cls)


def short(noun: Any) -> str:
    """The class, the fields that it `shows`, and how many there are of what it holds.

    A class says something better with `_about()`, a list of words that hold no value of the data.
    """
    said: Iterable[str] = noun._about() if hasattr(noun, "_about") else fields(noun)
    return f"{type(noun).__name__}({', '.join(said)})"


def fields(noun: Any) -> list[str]:
    """What `short` says unless a class has words of its own."""
    shows = getattr(noun, "shows", ())
    names = getattr(noun, "_fields", None) or [f.name for f in dataclasses.fields(noun) if f.repr]
    said = []
    for name in names:
        value = getattr(noun, name, None)
        if name in shows:
            said.append(f"{name}={_plain(value)}")
        elif isinstance(value, bool):
            said += [name] if value else []
        elif (size := _size(value)) is not None:
            said.append(f"{name}: {size}")
    return said


def _plain(value: Any) -> str:
    """A value that may be shown; a float with as many digits as are read."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _size(value: Any) -> str | None:
    """How many there are; None of what holds nothing, or is one value."""
    shape = getattr(value, "shape", None)  # arrays and Arrow tables
    if isinstance(shape, tuple):
        return " x ".join(f"{n:,}" for n in shape) or None
    if isinstance(value, str | bytes | type) or not isinstance(value, Sized) or dataclasses.is_dataclass(value):
        return None
    return f"{len(value):,}" if len(value) else None


@dataclass(frozen=True)
class Sheet:
    """How a noun shows itself in a notebook: a title, rows of texts below an optional header, and notes."""

    title: str
    rows: Sequence[Sequence[str]] = ()
    header: Sequence[str] = ()
    notes: Sequence[str] = ()

    def html(self) -> str:
        """As HTML without styles, scripts or links of its own, so that the notebook's own look applies; texts are escaped."""
        head = "".join(f"<th>{escape(text)}</th>" for text in self.header)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in self.rows)
        table = (
            f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{rows}</tbody></table>" if rows else ""
        )
        notes = "".join(f"<p>{escape(text)}</p>" for text in self.notes)
        return f"<p><b>{escape(self.title)}</b></p>{table}{notes}"
