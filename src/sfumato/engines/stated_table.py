"""Open a table as its owner states it: every row by itself, so that none changes how another is read, or whether it is.

Nothing but the header (or the schema) decides on an error. Text files are copied line by line to a private Parquet file of
texts, about 3 seconds a million rows of ten columns. See `core.stated_reading` for the rules, which are the same for every kind of file.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from ..core.arrow import strings
from ..core.column import text_of
from ..core.errors import InputError
from ..core.sheet_places import cell_range, header_rows, joined_names
from ..core.spelling import BLANKS, DAY
from ..core.stated_reading import KEYS, StatedReading, codes_in, missing_codes
from . import dialect
from .duckdb import DuckTable, folder, literal, name_of, serial, spell_path
from .statistical_files import statistical_file
from .workbook import sheet_rows

_BLOCK = 1 << 22
_LONGEST = 131_072
"""Characters of the longest field: a line with a longer one is not taken apart, and neither does Python's own reader."""
_PLAIN = (str, bool, int, float, decimal.Decimal, datetime.date, datetime.time)
Cells = list[str | None]


def open_stated(source: Any, options: Mapping[str, Any]) -> DuckTable:
    """A table read as stated; `sheet` and `query` beside what `StatedReading` has."""
    given = {key: value for key, value in options.items() if value is not None}
    more: dict[str, Any] = {key: given.pop(key) for key in ("sheet", "query") if key in given}
    reading = StatedReading.of(given, "How the table is to be read")
    table = _opened(source, reading, more)
    if more:
        raise InputError(f"{table.name}: {', '.join(sorted(more))} does not apply to this kind of table.")
    cells = {name: _cell(name, reading) for name in table.columns if table.types[name] == "VARCHAR"}
    made = table.each(cells) if cells and (reading.missing or reading.dates != "text") else table
    opened = (str(source.absolute()), _options(options)) if isinstance(source, Path) else None
    return replace(
        made,
        notes=(_reading_note(source, reading),),
        lines=None,
        reading=reading,
        variables=table.variables,
        origin=(source, dict(options)),
        opened=opened,
    )


def again(table: DuckTable, stated: Mapping[str, Any]) -> DuckTable:
    """An opened table as stated; what was stated when it was opened goes before what is stated elsewhere."""
    if table.origin is None:  # made here from another: it stands as it is
        return replace(table, reading=StatedReading.of(stated))
    source, options = table.origin
    merged = {**stated, **{key: value for key, value in options.items() if key in (*KEYS, "sheet", "query")}}
    return open_stated(source, merged)


def _reading_note(source: Any, reading: StatedReading) -> str:
    """How it was read: a sentence that depends on nothing but what was stated."""
    if isinstance(source, Path) and _what_is(source) == "csv":
        how = _words(reading)
    else:
        how = "with the types that its columns, or its cells, have"
    more = [key for key in reading.stated() if key not in ("encoding", "delimiter")]
    number = "comma" if reading.decimal == "comma" else "point"
    return f"read as stated, nothing guessed: {how}, numbers in texts with a decimal {number}" + (
        f"; also stated: {', '.join(more)}" if more else ""
    )


def _options(options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """As `DuckTable.opened` has them."""
    codes = {"missing": missing_codes(options["missing"])} if "missing" in options else {}
    listed = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    return tuple(sorted({**listed, **codes, "stated": True}.items()))


def _what_is(path: Path) -> str:
    from . import sources  # which imports this

    return sources.what_is(path)


def _opened(source: Any, reading: StatedReading, more: dict[str, Any]) -> DuckTable:
    from . import sources

    if not isinstance(source, Path):
        return sources.from_memory(_plain_objects(source))
    if source.is_dir():
        raise InputError(f"{source}: a folder, not a table; name a file.")
    what = _what_is(source)
    if what == "excel":
        return _excel(source, more.pop("sheet", None), reading)
    if what == "sqlite":
        return sources.sqlite_file(source, more.pop("query", None), spell=lambda value: _spelled(value, reading))
    if what == "duckdb":
        return sources.duckdb_file(source, more.pop("query", None))
    if what == "statistical":
        coding = reading.encoding if "encoding" in reading.stated() else None
        return statistical_file(source, encoding=coding, labels=reading.labels, stated=True)
    if what == "json lines":
        raise InputError(
            f"{source}: JSON lines have no header, so the rows themselves would reveal which columns there are; use CSV or Parquet "
            "for differential privacy."
        )
    if what in ("parquet", "arrow"):
        return sources.parquet_file(source) if what == "parquet" else sources.arrow_file(source)
    return _csv(source, reading)


def _cell(name: str, reading: StatedReading) -> str:
    """A cell of text with what is stated of missing values and dates."""
    cell = day = name_of(name)
    if reading.dates != "text":
        for sign, shape in DAY.items():
            first = ("%m", "%d", "%Y") if reading.dates == "month-first" and sign != "." else ("%d", "%m", "%Y")
            read = f"strftime(try_strptime({cell}, {literal(sign.join(first))}), '%Y-%m-%d')"
            day = f"CASE WHEN regexp_full_match({cell}, {literal(shape)}) THEN COALESCE({read}, {cell}) ELSE {day} END"
    if not (texts := codes_in(reading.missing, name)):
        return day
    return f"CASE WHEN {cell} IN ({', '.join(map(literal, texts))}) THEN NULL ELSE {day} END"


# --- text files -------------------------------------------------------------------------------------------------------


def _csv(path: Path, reading: StatedReading) -> DuckTable:
    import pyarrow.parquet as pq

    copy = folder() / f"{next(serial)}.parquet"
    try:
        with cast(BinaryIO, gzip.open(path)) if path.suffix == ".gz" else path.open("rb") as file:
            above = _above(file, reading)
            names, blocks = _header(path, above, _blocks(file), reading)
            blocks = _but_the_last(blocks) if reading.totals else blocks
            schema = pa.schema([(name, pa.large_string()) for name in names])
            with pq.ParquetWriter(copy, schema) as writer:
                for lines in blocks:
                    rows = list(_rows(lines, reading, len(names)))
                    columns = zip(*rows, strict=True) if rows else [()] * len(names)
                    arrays = [strings(column).cast(pa.large_string()) for column in columns]
                    writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file.") from None
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read ({type(error).__name__}).") from None
    return DuckTable.of(str(path), f"SELECT * FROM read_parquet({spell_path(copy)})")


def _blocks(file: BinaryIO) -> Iterator[list[bytes]]:
    """The lines that are not empty, some thousand at a time: a line ends where a byte 10 stands, whatever is around it."""
    block, rest = file.read(_BLOCK).removeprefix(b"\xef\xbb\xbf"), list[bytes]()
    while block:
        first, *whole = block.split(b"\n")
        rest.append(first)
        if whole:
            *whole, last = [b"".join(rest), *whole]
            rest = [last]
            yield [line for line in (line.removesuffix(b"\r") for line in whole) if line]
        block = file.read(_BLOCK)
    yield [line for line in [b"".join(rest).removesuffix(b"\r")] if line]


def _above(file: BinaryIO, reading: StatedReading) -> list[bytes]:
    """Leave out the lines above the table, and of two header lines read the first."""
    rows = header_rows(reading.header_row) if reading.header_row else (reading.skip,)
    for _ in range(rows[0]):
        file.readline()
    return [file.readline().removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")] if len(rows) == 2 else []


def _but_the_last(blocks: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    """All lines but the last, which the owner states to be a total, whatever it holds."""
    held: list[bytes] = []
    for lines in blocks:
        held += lines
        yield held[:-1]
        held = held[-1:]


def _header(
    path: Path, above: list[bytes], blocks: Iterator[list[bytes]], reading: StatedReading
) -> tuple[tuple[str, ...], Iterator[list[bytes]]]:
    """The names of the columns, and the lines behind the one that has them; `above` it is the first of two where there are two."""
    if not reading.header:
        if not reading.names:
            raise InputError(
                f"{path}: there is no header, and the first row must not reveal how many columns there are; state their "
                'names: names = ["...", "..."] under [reading] in the roles file.'
            )
        dialect.check_names(reading.names, path)
        return reading.names, blocks
    first = next((lines for lines in blocks if lines), None)
    if first is None:
        raise InputError(f"{path}: the file is empty; a table needs a header line.")
    try:
        lines = [line.decode(reading.encoding) for line in (*above, first[0])]
        rows = [next(csv.reader([line], **_quoting(reading), strict=True), []) for line in lines]
        line = joined_names(rows) if above else rows[0]
    except (UnicodeError, csv.Error, ValueError):
        raise InputError(
            f"{path}: the header cannot be read as {_words(reading)}; state how the file is written under [reading] in the roles file, "
            "or with --encoding, --delimiter and --quote."
        ) from None
    names = reading.names or tuple(line)
    if len(names) != len(line):
        raise InputError(f"{path}: {len(names)} names are stated, and the header has {len(line)}.")
    dialect.check_names(names, path)

    def below() -> Iterator[list[bytes]]:
        yield first[1:]
        yield from blocks

    return names, below()


def _quoting(reading: StatedReading) -> dict[str, Any]:
    quoting = {"quotechar": reading.quote} if reading.quote else {"quoting": csv.QUOTE_NONE}
    return {"delimiter": reading.delimiter, **quoting}


def _words(reading: StatedReading) -> str:
    return f"{reading.encoding} with fields between {reading.delimiter!r}"


def _rows(lines: Sequence[bytes], reading: StatedReading, width: int) -> Iterator[Cells]:
    """A row for every line, whatever it holds."""
    delimiter, quote, quoting = reading.delimiter, reading.quote, _quoting(reading)
    for line in lines:
        try:
            text, odd = line.decode(reading.encoding), False
        except (UnicodeError, ValueError):
            text, odd = _as_far_as_it_goes(line, reading.encoding), True
        if quote and quote in text:
            try:
                (fields,) = csv.reader([text], **quoting, strict=True)
            except (csv.Error, ValueError):
                fields = []
        else:
            fields = text.split(delimiter)
        if len(fields) != width or (len(text) > _LONGEST and max(map(len, fields)) > _LONGEST):
            yield [None] * width
        elif odd or "\0" in text:
            yield [(field.strip(BLANKS) or None) if _readable(field) else None for field in fields]
        else:
            yield [field.strip(BLANKS) or None for field in fields]


def _as_far_as_it_goes(line: bytes, encoding: str) -> str:
    """A line with bytes that are no text: those stay marked, so that only their cells are missing."""
    try:
        return line.decode(encoding, errors="surrogateescape")
    except (UnicodeError, ValueError):
        return "\0"


def _readable(field: str) -> bool:
    return "\0" not in field and not any("\ud800" <= letter <= "\udfff" for letter in field)


# --- cells that have types of their own -------------------------------------------------------------------------------


def _spelled(value: Any, reading: StatedReading) -> str | None:
    """A typed cell as a text that is read again as what it is; one that is no plain value is missing."""
    if not isinstance(value, _PLAIN) or value != value:
        return None
    text = text_of(value)
    if text is not None and not isinstance(value, str):
        return text.replace(".", ",") if reading.decimal == "comma" and isinstance(value, float) else text
    return (text.strip(BLANKS) or None) if text is not None and _readable(text) else None


def _plain_objects(source: Any) -> Any:
    """A pandas table with its columns of objects as texts, each cell by itself: one odd object must not stop the others."""
    if type(source).__module__.split(".")[0] != "pandas":
        return source
    import pandas

    objects = [column for column in source.columns if source[column].dtype == object]

    def texts(column: Any) -> Any:
        cells = [None if value is pandas.NaT else _spelled(value, StatedReading()) for value in source[column]]
        return pandas.Series(cells, index=source.index, dtype="string")

    return source.assign(**{column: texts(column) for column in objects}) if objects else source


def _excel(path: Path, sheet: str | None, reading: StatedReading) -> DuckTable:
    """The sheet's columns under the first row that is not empty, or where the owner states it; a cell beyond them belongs to none."""
    from . import sources

    _, chosen, cells = sheet_rows(path, sheet)
    top, left, right, bottom = cell_range(reading.range) if reading.range else (0, 0, None, None)
    end = len(cells) if bottom is None else bottom + 1
    rows = range(max(top, reading.skip), min(end, len(cells)))
    filled = [i for i in rows if any(value != "" for value in cells[i])]
    if not filled:
        raise InputError(f"{path}: sheet {chosen!r} is empty, or holds nothing where the table is stated to be.")
    names: tuple[str, ...]
    if reading.header:
        header = header_rows(reading.header_row) if reading.header_row else (filled[0],)
        if header[-1] not in rows:
            raise InputError(f"{path}: sheet {chosen!r} has no row {header[-1] + 1}; correct header_row.")
        there = [j for i in header for j, value in enumerate(cells[i]) if value != ""]
        at = range(min(there, default=0), max(there, default=0) + 1) if right is None else range(left, right + 1)
        names = joined_names([[cells[i][j] if j < len(cells[i]) else "" for j in at] for i in header])
        filled = [i for i in filled if i > header[-1]]
    else:
        if not reading.names:
            raise InputError(
                f"{path}: there is no header; state the names of the columns: names = [...] under [reading]."
            )
        names, at = reading.names, range(left, left + len(reading.names))
    dialect.check_names(names, path)
    kept = [[cells[i][j] if j < len(cells[i]) else "" for j in at] for i in filled]
    kept = [row for row in kept if any(value != "" for value in row)]
    kept = kept[:-1] if reading.totals else kept
    columns = [strings([_spelled(row[j], reading) for row in kept]) for j in range(len(at))]
    return sources.from_memory(pa.Table.from_arrays(columns, names=list(names)), str(path))
