"""A generalization hierarchy: each value of a column, and what it becomes level by level up to `*`.

The form is ARX's: one line a value, levels left to right, the last one `*`. Levels must nest: what shares a label at
one level shares a label at every higher one. Otherwise a release at a higher level could tell apart what a lower one
had merged, and no monotone pruning would hold.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from .column import Column, IntArray
from .errors import InputError
from .files import write_whole
from .formulas import neutralised_text, plain_text
from .noun import dataclass
from .spelling import ColumnSpelling, decide, look, plain
from .value_sets import read_set

TOP = "*"
_OTHER = " It spells them otherwise: write dates as YYYY-MM-DD and numbers with a point."


def starred(column: Column) -> npt.NDArray[np.bool_]:
    """Which values of a released column are `*`."""
    return np.array([text is not None and set(text) == {TOP} for text in column.texts], dtype=bool)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """`levels[0]` are the values themselves; `levels[h][i]` is what value i becomes at level h; the last is all `*`."""

    column: str
    levels: tuple[tuple[str, ...], ...]
    source: str = "rule"
    lines: tuple[int, ...] = ()
    """The line of each value in its file, for errors."""
    top: str = TOP
    """What the last level is called where it was written; it is released as `*`."""
    hint: str = ""
    """What may be behind values that have no line: how those of the file were read."""

    def __post_init__(self) -> None:
        values = self.levels[0]
        lines = self.lines or tuple(range(1, len(values) + 1))
        seen: set[str] = set()
        for line, value in zip(lines, values, strict=True):
            if value in seen:
                raise InputError(
                    f"{self.source}, line {line}: this value of column {self.column!r} already has a line above."
                )
            seen.add(value)
        for h in range(1, len(self.levels) - 1):
            parent: dict[str, str] = {}
            for line, label, above in zip(lines, self.levels[h], self.levels[h + 1], strict=True):
                if parent.setdefault(label, above) != above:
                    raise InputError(
                        f"{self.source}, line {line}: levels do not nest for column {self.column!r}; rows that share a label "
                        f"at level {h} have different ones at level {h + 1}. Give them one label there."
                    )

    def _about(self) -> list[str]:
        return [self.column, f"{len(self.levels[0]):,} values", f"{len(self.levels)} levels"]

    @classmethod
    def of(
        cls, column: str, rows: Sequence[Sequence[str]], source: str = "rule", lines: Sequence[int] = ()
    ) -> Hierarchy:
        """From lines `value, level 1, ..., *`; a last level `*` is added where it is missing.

        A last level that has one label for all values is `*` by another name: it is not generalized once more, and is released as `*`.

        A line for the empty value is left out: a missing value is covered by nothing but `*`.
        """
        numbered = [(i, row) for i, row in zip(lines or range(1, len(rows) + 1), rows, strict=True) if row and row[0]]
        if not numbered:
            raise InputError(f"{source}: the hierarchy of column {column!r} is empty; give it a line per value.")
        width = len(numbered[0][1])
        for i, row in numbered:
            if len(row) != width:
                raise InputError(f"{source}, line {i}: {len(row)} fields where the first line has {width}.")
            if "" in row:
                raise InputError(
                    f"{source}, line {i}: level {list(row).index('')} is empty, which would mean missing; name it."
                )
        levels = [tuple(row[h] for _, row in numbered) for h in range(width)]
        top = levels[-1][0] if len(set(levels[-1])) == 1 and width > 1 else TOP
        levels = [*(levels if top == TOP and set(levels[-1]) != {TOP} else levels[:-1]), (TOP,) * len(numbered)]
        return cls(column, tuple(levels), source, tuple(i for i, _ in numbered), top)

    @classmethod
    def read(cls, column: str, path: Path, *, as_text: bool = False, neutralised: bool = False) -> Hierarchy:
        """Read ARX's format: `value;level1;...;*`, no header, semicolons (or tabs or commas, if there is none).

        Values that are dates or numbers in another spelling are read as those of a table are, unless they are to stand `as_text`.
        Of a file that was written `neutralised`, the apostrophe before each cell that would run in a spreadsheet comes off.
        """
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                text = file.read()
        except FileNotFoundError:
            raise InputError(f"{path}: no such hierarchy file; column {column!r} names it in the roles file.") from None
        except (UnicodeDecodeError, OSError) as error:
            raise InputError(
                f"{path}: cannot be read as UTF-8 text ({type(error).__name__}); save it as UTF-8."
            ) from None
        delimiter = next((d for d in ";\t," if d in text), ";")
        rows, lines, line = [], [], 1
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            for row in reader:
                rows.append([plain_text(cell) for cell in row] if neutralised else row)
                lines.append(line)
                line = reader.line_num + 1
        except csv.Error:
            raise InputError(f"{path}, line {line}: cannot be read; are the quotes closed?") from None
        spelling = ColumnSpelling() if as_text else decide(look(row[0] for row in rows if row))
        if spelling.way is not None:
            rows = [[spelling.way.plain(row[0]), *row[1:]] if row else row for row in rows]
        made = cls.of(column, rows, str(path), lines)
        return replace(made, hint=_hint(column, spelling))

    def write(self, path: Path, *, neutralised: bool = False) -> None:
        """Write ARX's format, which `read` and ARX itself take back; `neutralised`, with no cell that a spreadsheet would run."""
        levels = [tuple(map(neutralised_text, level)) for level in self.levels] if neutralised else self.levels
        odd = any("\r" in label for level in self.levels for label in level)  # csv quotes only the line end it writes
        quoting: Literal[0, 1] = csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL
        text = io.StringIO()
        csv.writer(text, delimiter=";", lineterminator="\n", quoting=quoting).writerows(zip(*levels, strict=True))
        write_whole(path, text.getvalue())

    @property
    def height(self) -> int:
        """The number of generalization steps from the values to `*`."""
        return len(self.levels) - 1

    @cached_property
    def index(self) -> dict[str, int]:
        """The line of each value."""
        return {value: i for i, value in enumerate(self.levels[0])}

    @cached_property
    def groups(self) -> dict[str, IntArray]:
        """The lines of the values that each label stands for: those of its largest group, and a value for itself.

        A label may be used at several levels, or be a value elsewhere: what it covers is then the most it can mean.
        """
        groups: dict[str, IntArray] = {name: np.arange(len(self.levels[0])) for name in (TOP, self.top)}
        for level in reversed(self.levels[1:]):
            labels, where = np.unique(np.array(level, dtype=object), return_inverse=True)
            order = np.argsort(where, kind="stable")
            for label, lines in zip(labels, np.split(order, np.cumsum(np.bincount(where))[:-1]), strict=True):
                if len(lines) > len(groups.get(label, ())):
                    groups[label] = lines
        for value, line in self.index.items():
            groups[value] = np.union1d(groups[value], [line]) if value in groups else np.array([line])
        return groups

    @cached_property
    def leaves(self) -> dict[str, int]:
        """How many values stand under each label."""
        return {label: len(lines) for label, lines in self.groups.items()}

    def under(self, label: str) -> frozenset[str]:
        """The values that a label stands for."""
        return frozenset(self.levels[0][i] for i in self.groups.get(label, ()))

    def above(self, labels: Iterable[str]) -> Hierarchy | None:
        """The hierarchy over these labels, whatever level each is of, with what is above them and nothing below; None if it has none.

        A label of level h stands for itself at the levels below h. One that is used at several levels is taken at its lowest, so
        that levels nest as they did.
        """
        lines = [
            self._line(label) for label in sorted({label for label in labels if label in self._place and label != TOP})
        ]
        return Hierarchy(self.column, tuple(zip(*lines, strict=True)), "above") if lines else None

    @cached_property
    def _place(self) -> dict[str, tuple[int, int]]:
        """The lowest level and a line of each label."""
        place = {self.top: (self.height, 0)} if self.levels[0] else {}
        for h, level in reversed(list(enumerate(self.levels))):
            place.update((label, (h, i)) for i, label in enumerate(level))
        return place

    def _line(self, text: str) -> tuple[str, ...] | None:
        """What a released value becomes level by level: a label stands for itself below its own level, and a set until its members meet."""
        if text in self._place:
            h, i = self._place[text]
            return (*[text] * h, *(level[i] for level in self.levels[h:]))
        if set(text) == {TOP}:
            return (TOP,) * len(self.levels)
        if text[:1] + text[-1:] != "{}":
            return None
        members = [self._line(member) for member in read_set(text)]
        if not members or None in members:
            return None
        return tuple(
            labels[0] if len(set(labels)) == 1 else text for labels in zip(*(m for m in members if m), strict=True)
        )

    def codes(self) -> list[IntArray]:
        """Each level as integer labels, numbered within the level: what a lattice search and Mondrian work on."""
        return [
            np.unique(np.array(level, dtype=object), return_inverse=True)[1].astype(np.int64) for level in self.levels
        ]

    def fit(self, texts: Sequence[str | None], *, unknown: str = "error") -> Hierarchy:
        """The hierarchy over exactly these values, in this order (missing left out).

        What is released of them, a label, a set or `*`, is a value, too. A value without a line is an error, or goes straight to `*` with `unknown="*"`.
        """
        fitted = {text: self._line(text) for text in texts if text is not None}
        absent = [text for text in texts if text is not None and fitted[text] is None]
        if absent and unknown != TOP:
            other = "" if self.hint or not set(absent) <= set(plain(self.levels[0])) else _OTHER
            raise InputError(
                f"{self.source}: {len(absent)} of the values in column {self.column!r} have no line in its hierarchy. "
                f'Add them, or send them to * with {self.column} = {{ file = "...", unknown = "*" }}.{self.hint or other}'
            )
        lines = [fitted[text] or (text, *[TOP] * self.height) for text in texts if text is not None]
        return Hierarchy(
            self.column, tuple(zip(*lines, strict=True)) or ((),) * len(self.levels), self.source, top=self.top
        )


def _hint(column: str, spelling: ColumnSpelling) -> str:
    """What to say of the spelling of a file where values are not found in it."""
    if spelling.way is not None:
        return f' It holds {spelling.way.name}, read as in a table; to match them as they stand: {column} = {{ file = "...", text = true }}.'
    better = "numbers with a point" if any(way.comma for way in spelling.open) else "dates as YYYY-MM-DD"
    return f" Its values do not settle how they are spelled: write {better}." if spelling.open else ""
