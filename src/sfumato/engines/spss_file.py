"""Write a system file of SPSS (.sav), part by part: numbers in eight bytes, texts padded by blanks, UTF-8.

The format is as the PSPP project documents it. The header's date is always the same, and it names no person and no file.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np

from .released_file import ReleasedColumn, ReleasedRows

_MISSING = -sys.float_info.max
_FORMATS = {"day": (39 << 16) | (10 << 8), "moment": (22 << 16) | (20 << 8)}
"""SDATE10, that is yyyy/mm/dd, and DATETIME20."""
_MEASURES = {"nominal": 1, "ordinal": 2, "scale": 3}


def write(rows: ReleasedRows, path: Path) -> None:
    """Header, dictionary, rows."""
    columns = rows.columns
    with path.open("wb") as file:
        file.write(_header(sum(map(_elements, columns)), rows.rows))
        for i, column in enumerate(columns):
            file.write(_variable(column, _short(i)))
        at = 1
        for column in columns:
            file.write(_labels(column, at))
            at += _elements(column)
        file.write(_extension(3, struct.pack("<8i", 0, 0, 0, -1, 1, 1, 2, 65001), 4))
        file.write(_extension(4, struct.pack("<3d", _MISSING, -_MISSING, np.nextafter(_MISSING, 0)), 8))
        shown = [(_MEASURES.get(c.measure, 0), 8, 0 if c.kind == "text" else 1) for c in columns]
        file.write(_extension(11, struct.pack(f"<{3 * len(shown)}i", *(n for three in shown for n in three)), 4))
        names = "\t".join(f"{_short(i)}={column.name}" for i, column in enumerate(columns))
        file.write(_extension(13, names.encode(), 1))
        file.write(_extension(20, b"UTF-8", 1))
        file.write(struct.pack("<2i", 999, 0))
        kinds = np.dtype(
            [(f"c{i}", f"S{8 * _elements(c)}" if c.kind == "text" else "<f8") for i, c in enumerate(columns)]
        )
        for part in rows.parts():
            cells = np.zeros(len(part[0]), dtype=kinds)
            for i, (column, values) in enumerate(zip(columns, part, strict=True)):
                if column.kind == "text":
                    cells[f"c{i}"] = np.char.ljust(column.texts(values), 8 * _elements(column))
                else:
                    cells[f"c{i}"] = column.numbers(values, _MISSING)
            file.write(cells.tobytes())


def _short(i: int) -> str:
    return f"V{i + 1:07}"


def _elements(column: ReleasedColumn) -> int:
    """How many eight bytes a value takes."""
    return -(-column.width // 8) if column.kind == "text" else 1


def _header(elements: int, rows: int) -> bytes:
    what = b"@(#) SPSS DATA FILE sfumato".ljust(60)
    sizes = struct.pack("<5id", 2, elements, 0, 0, rows if rows < 2**31 else -1, 100.0)
    return b"$FL2" + what + sizes + b"01 Jan 00" + b"00:00:00" + b" " * 64 + b"\0" * 3


def _variable(column: ReleasedColumn, short: str) -> bytes:
    text = column.kind == "text"
    width = column.width if text else 0
    number = (5 << 16) | ((12 << 8) if column.whole else (16 << 8) | _decimals(column))
    form = (1 << 16) | (width << 8) if text else _FORMATS.get(column.kind, number)
    label = _cut(column.label, 252)
    made = struct.pack("<6i", 2, width, int(bool(label)), 0, form, form) + short.encode()
    if label:
        made += struct.pack("<i", len(label)) + label + b"\0" * (-len(label) % 4)
    more = struct.pack("<6i", 2, -1, 0, 0, (1 << 16) | (1 << 8), (1 << 16) | (1 << 8)) + b" " * 8
    return made + more * (_elements(column) - 1)


def _decimals(column: ReleasedColumn) -> int:
    texts = (f"{number:.15f}".rstrip("0").partition(".")[2] for number in column.cells.values())
    return min(max(map(len, texts), default=0), 15) if column.kind == "number" else 0


def _labels(column: ReleasedColumn, at: int) -> bytes:
    """The labels of a variable that stands `at` this place of the dictionary."""
    if not column.labels:
        return b""
    made = struct.pack("<2i", 3, len(column.labels))
    for code, text in sorted(column.labels.items()):
        label = _cut(text, 120)
        value = code.encode().ljust(8) if isinstance(code, str) else struct.pack("<d", code)
        made += value + bytes([len(label)]) + label + b" " * (-(len(label) + 1) % 8)
    return made + struct.pack("<3i", 4, 1, at)


def _extension(kind: int, content: bytes, size: int) -> bytes:
    return struct.pack("<4i", 7, kind, size, len(content) // size) + content


def _cut(text: str, most: int) -> bytes:
    """At most so many bytes of a text, and no part of a letter."""
    return text.encode()[:most].decode(errors="ignore").encode()
