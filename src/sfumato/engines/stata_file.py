"""Write a data set of Stata (.dta, format 118, which Stata 14 and later read), part by part.

The format is as Stata's own manual has it (`help dta`). It has no time stamp.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

from .released_file import ReleasedColumn, ReleasedRows

_TYPES: dict[str, tuple[int, str, float]] = {
    "byte": (65530, "<i1", 101),
    "int": (65529, "<i2", 32_741),
    "long": (65528, "<i4", 2_147_483_621),
    "double": (65526, "<f8", 2.0**1023),
}
"""Its number, how it is stored, and what a missing value is."""
_RANGES = {"byte": (-127, 100), "int": (-32_767, 32_740), "long": (-2_147_483_647, 2_147_483_620)}


def write(rows: ReleasedRows, path: Path) -> None:
    """The sections one after the other; last the map of where they are."""
    columns = rows.columns
    types = [_type(column) for column in columns]
    labelled = [_name_of_labels(i) if column.labels else "" for i, column in enumerate(columns)]
    with path.open("wb") as file:
        file.write(b"<stata_dta>")
        file.write(b"<header><release>118</release><byteorder>LSF</byteorder>")
        file.write(b"<K>" + struct.pack("<H", len(columns)) + b"</K><N>" + struct.pack("<Q", rows.rows) + b"</N>")
        file.write(b"<label>" + struct.pack("<H", 0) + b"</label><timestamp>\0</timestamp></header>")
        places = [0, file.tell()]
        file.write(b"<map>" + b"\0" * 8 * 14 + b"</map>")
        numbers = [c.width if t == "text" else _TYPES[t][0] for c, t in zip(columns, types, strict=True)]
        _section(file, places, b"variable_types", struct.pack(f"<{len(columns)}H", *numbers))
        _section(file, places, b"varnames", b"".join(_fixed(column.name, 129) for column in columns))
        _section(file, places, b"sortlist", b"\0" * 2 * (len(columns) + 1))
        shown = (_format(c, t) for c, t in zip(columns, types, strict=True))
        _section(file, places, b"formats", b"".join(_fixed(each, 57) for each in shown))
        _section(file, places, b"value_label_names", b"".join(_fixed(name, 129) for name in labelled))
        _section(file, places, b"variable_labels", b"".join(_fixed(column.label[:80], 321) for column in columns))
        _section(file, places, b"characteristics", b"")
        places.append(file.tell())
        file.write(b"<data>")
        _write_rows(rows, types, file)
        file.write(b"</data>")
        _section(file, places, b"strls", b"")
        tables = (_labels(column, name) for column, name in zip(columns, labelled, strict=True) if name)
        _section(file, places, b"value_labels", b"".join(tables))
        places.append(file.tell())
        file.write(b"</stata_dta>")
        places.append(file.tell())
        file.seek(places[1] + len(b"<map>"))
        file.write(struct.pack("<14Q", *places))


def _section(file: BinaryIO, places: list[int], name: bytes, content: bytes) -> None:
    places.append(file.tell())
    file.write(b"<" + name + b">" + content + b"</" + name + b">")


def _write_rows(rows: ReleasedRows, types: list[str], file: BinaryIO) -> None:
    kinds = np.dtype([
        (f"c{i}", f"S{column.width}" if kind == "text" else _TYPES[kind][1])
        for i, (column, kind) in enumerate(zip(rows.columns, types, strict=True))
    ])  # fmt: skip
    for part in rows.parts():
        cells = np.zeros(len(part[0]), dtype=kinds)
        for i, (column, kind, values) in enumerate(zip(rows.columns, types, part, strict=True)):
            cells[f"c{i}"] = column.texts(values) if kind == "text" else column.numbers(values, _TYPES[kind][2])
        file.write(cells.tobytes())


def _type(column: ReleasedColumn) -> str:
    """The smallest type that holds a column."""
    if column.kind == "text":
        return "text"
    if not column.whole or column.kind == "moment" or not column.cells:
        return "double"
    low, high = min(column.cells.values()), max(column.cells.values())
    return next((name for name, (least, most) in _RANGES.items() if least <= low and high <= most), "double")


def _format(column: ReleasedColumn, kind: str) -> str:
    if kind == "text":
        return f"%-{min(column.width, 2045)}s"
    special = {"day": "%td", "moment": "%tc"}.get(column.kind)
    return special or {"byte": "%8.0g", "int": "%8.0g", "long": "%12.0g", "double": "%16.0g"}[kind]


def _fixed(text: str, size: int) -> bytes:
    """A text in so many bytes, the last of them zero."""
    return text.encode()[: size - 1].decode(errors="ignore").encode().ljust(size, b"\0")


def _name_of_labels(i: int) -> str:
    return f"labels{i + 1}"


def _labels(column: ReleasedColumn, name: str) -> bytes:
    codes = sorted(column.labels)
    texts = [column.labels[code].encode()[:32_000].decode(errors="ignore").encode() + b"\0" for code in codes]
    starts = np.cumsum([0, *map(len, texts)])[:-1]
    n = len(codes)
    table = struct.pack("<2i", n, sum(map(len, texts))) + struct.pack(f"<{n}i", *map(int, starts))
    table += struct.pack(f"<{n}i", *map(int, codes)) + b"".join(texts)
    return b"<lbl>" + struct.pack("<i", len(table)) + _fixed(name, 129) + b"\0" * 3 + table + b"</lbl>"
