"""How a CSV file is written: encoding, delimiter, quote, header. Looked at once, said aloud, overridable."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.sheet_places import checked_skip, header_rows, joined_names, spell_rows
from ..core.spelling import BLANKS
from .layout import Layout, below, called_total, find, subtotal_notes
from .subtotals import TOTAL_WORDS, called_subtotal, subtotals

_SAMPLE = 1 << 18
_LONGEST = 1 << 21
"""Bytes of the longest line that the engine takes."""
_MOST_COLUMNS = 10_000
_LINES = 230
"""Lines that are looked at for where the table begins."""
_REPORT = 1 << 26
"""Bytes up to which a file is looked at for totals in its middle: people write reports, and programs write tables."""
_DELIMITERS = ",;\t|"
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
_APOSTROPHES = re.compile(r"'[^']*'([,;\t|]'[^']*')+")
_VALUE = re.compile(r"^\s*[+-]?(\d[\d.,:/ -]*)?$")  # an empty field, a number, a date: no one names a column so


@dataclass(frozen=True)
class Dialect:
    """Everything the engine needs, so that it guesses nothing itself."""

    delimiter: str
    quote: str
    encoding: str
    header: bool
    skip: int
    names: tuple[str, ...]
    notes: tuple[str, ...]
    header_row: str = ""
    """Which lines name the columns, where it is not the first one."""


def sample(path: Path) -> tuple[bytes, bool]:
    """The first part of a file, unpacked if it is gzipped, and whether that is all of it.

    It is larger where lines are long: a header that is cut would be a false one.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read(_SAMPLE)
            while raw.count(b"\n") < 3 and len(raw) < 4 * _LONGEST and (more := file.read(len(raw))):
                raw += more
            return raw, not file.read(1)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read ({type(error).__name__}).") from None


def detect(
    path: Path,
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    names: tuple[str, ...] | None = None,
    header_row: str | int | None = None,
    skip: int | None = None,
    trim: bool = True,
) -> Dialect:
    """Detect what is not given; `trim` leaves out blanks around the names of columns."""
    for what, character in (("delimiter", delimiter), ("quote", quote)):
        if character is not None and len(character) != 1 and not (what == "quote" and character == ""):
            raise InputError(f"{path}: {what} must be one character, not {len(character)}.")
    raw, whole = sample(path)
    notes: list[str] = []
    if encoding is None:
        encoding = _encoding(raw, path)
        if encoding not in ("utf-8", "utf-8-sig"):
            notes.append(f"read as {encoding}, since it is not UTF-8; another encoding: --encoding")
    text = _decode(raw, encoding, path)
    if not text.strip():
        raise InputError(f"{path}: the file is empty; a table needs a header line and rows.")
    _check_text(text, whole, path)
    if not whole:  # the last line may be cut
        text = text[: text.rfind("\n") + 1] or text
    if quote is None:
        # apostrophes only where every field of every line below the first stands in them; else they belong to the values
        below = text.split("\n")[1:200]
        held = [line for line in below if line.strip()]
        quote = "'" if held and '"' not in text and all(_APOSTROPHES.fullmatch(line.rstrip()) for line in held) else '"'
        if quote == "'":
            notes.append("fields quoted by '; another: --quote")
    if delimiter is None:
        delimiter = _delimiter(text, quote)
        if delimiter != ",":
            notes.append(f"fields separated by {_NAMES.get(delimiter, delimiter)}; another: --delimiter")
    dialect = partial(Dialect, delimiter, quote, encoding)
    if header_row is not None:
        if header is False:
            raise InputError(f"{path}: --no-header and --header-row contradict each other; give only one.")
        rows = header_rows(header_row)
        if skip is not None and rows[0] < checked_skip(skip):
            raise InputError(f"{path}: --skip leaves out line {rows[0] + 1}, which --header-row names; give only one.")
        if len(rows) == 2:
            names = names or _joined(text, delimiter, quote, rows, path)
            check_names(names, path)
            return dialect(False, rows[1] + 1, names, tuple(notes), str(header_row))
        header, skip = True, rows[0]
    elif skip is None and header is not False and (placed := _placed(text, delimiter, quote)) is not None:
        names = names or placed.names
        check_names(names, path)
        notes += placed.notes
        return dialect(False, placed.header[-1] + 1, names, tuple(notes), spell_rows(placed.header))
    skip = checked_skip(skip)
    text = "".join(_lines(text)[skip:])
    if not text.strip():
        raise InputError(f"{path}: no table below line {skip}; correct --skip or --header-row.")
    blank = re.match(r"(?:[ \t]*\r?\n)*", text)
    skip, text = (skip + blank[0].count("\n"), text[blank.end() :]) if blank else (skip, text)
    records = _records(text, delimiter, quote, 50)
    first = records[0]
    if len(first) > _MOST_COLUMNS:
        raise InputError(f"{path}: {len(first):,} columns; at most {_MOST_COLUMNS:,} can be read.")
    if any(set(name) & {"\n", "\r"} for name in first) and "\r\n" in text and re.search(r"(?<!\r)\n", text):
        raise InputError(f"{path}: line ends of several kinds, and one of them in the header; save it with one kind.")
    if header is None:
        header = names is None and not _is_data(first, records[1:])
        if not header and names is None:
            notes.append(
                "the first line looks like data, so columns are named column1, column2, ...; a header: --header"
            )
    if header and names is None and _row_names(first, records[1:]):
        notes.append(
            "the first column has no name, as R writes row names; it is called column1. Row numbers can tell whose row is whose: "
            "write a release with row.names = FALSE"
        )
        if first[0]:  # the header has no field for it at all
            return dialect(False, skip + 1, _named(["", *first], path), tuple(notes))
        names = _named(first, path)
    if names is None:
        names = (
            tuple(name.strip(BLANKS) if trim else name for name in first)
            if header
            else tuple(f"column{i}" for i in range(1, len(first) + 1))
        )
    check_names(names, path)
    if len(records) < 2 and header:
        if not whole:
            raise _too_long(path, "a line near the top")
        raise InputError(f"{path}: there is a header but no row below it.")
    row = str(skip + 1) if header and skip and text[:1] else ""
    return dialect(header, skip, names, tuple(notes), row)


def _check_text(text: str, whole: bool, path: Path) -> None:
    """Refuse what is text but no table with a line for each row."""
    first = text.lstrip()[:_LONGEST].split("\n", 1)[0].strip()
    if first[:1] in ("{", "["):
        try:
            json.JSONDecoder().raw_decode(first)
            is_json = True
        except (ValueError, RecursionError):
            is_json = first in ("[", "{") or first.startswith(("[{", '{"', "[["))
        if is_json:
            raise InputError(
                f"{path}: JSON, not a table of lines; write an object {{...}} on a line for each row (JSON lines), or CSV."
            )
    if not whole and "\n" not in text[: 2 * _LONGEST] and "\r" not in text[: 2 * _LONGEST]:
        raise _too_long(path, "the first line")


def _too_long(path: Path, what: str) -> InputError:
    return InputError(f"{path}: {what} is longer than {_LONGEST >> 20} MB; is this a table with a line for each row?")


@dataclass(frozen=True)
class Ending:
    """Lines at the end of a file that are no rows of its table: how many, and from which byte on."""

    lines: int
    at: int
    full: tuple[str, ...]
    """The fields of a line that is called a total and has no empty one: it is one only if a number in it is a sum."""


def ending(path: Path, dialect: Dialect, *, last: bool = False) -> Ending | None:
    """The totals and notes below a table, by their shape; None where there are none, or it is not sure where a record begins.

    `last`: the last line alone, whatever it holds.
    """
    raw, before = b"", 0
    if path.suffix == ".zst":
        return None
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            if path.suffix != ".gz":
                before = file.seek(max(0, path.stat().st_size - _SAMPLE))
            while block := file.read(_SAMPLE):  # what is packed is unpacked once, as every count will do again
                cut = max(0, len(raw) + len(block) - _SAMPLE)
                raw, before = (raw + block)[cut:], before + cut
        lines = io.StringIO(
            raw.decode("utf-8", errors="strict" if not before else "replace").rstrip(), newline=""
        ).readlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None  # said, with its reason, by whoever counts
    lines = lines[1:][-_LINES:]  # the first may be cut, or is the header
    cells: list[list[str]] = []
    for line in lines:
        odd = bool(dialect.quote) and line.count(dialect.quote) % 2 == 1  # a record goes on in the next line
        cells.append(_records(line, dialect.delimiter, dialect.quote, 1)[0] if line.strip() and not odd else [])
    if not cells or not any(cells[-1]):
        return None
    whole = len(cells[-1]) == len(dialect.names)
    at = [len(cells) - 1] if last and whole else [] if last else below(cells, len(dialect.names))
    full = tuple(cells[-1]) if not at and not last and whole and called_total(cells[-1]) else ()
    at = at or [len(cells) - 1] * bool(full)
    if not at or any(len(cells[i]) not in (1, len(dialect.names)) for i in at):
        return None
    start = at[0]
    while (
        start
        and not any(field.strip() for field in cells[start - 1])
        and lines[start - 1].strip(f"{dialect.delimiter}\r\n\t ") == ""
    ):
        start -= 1  # what only sets them apart
    size = sum(len(line.encode()) for line in lines[start:])
    return Ending(len(at), before + len(raw.rstrip()) - size, full)


def without_subtotals(path: Path, dialect: Dialect, to: Path) -> tuple[str, ...]:
    """Write a copy without totals in the middle of the table; the notes say which lines these are, and there are none where none is written.

    Reports are looked at whole where their first part has a line that is called a total; tables that are larger than reports are not.
    """
    raw, _ = sample(path) if path.suffix != ".zst" else (b"", True)
    start = _lines(raw.decode("utf-8", errors="replace"))[dialect.skip + dialect.header :]
    if not TOTAL_WORDS.search("".join(start)):
        return ()
    named = (row for row in _records("".join(start), dialect.delimiter, dialect.quote, len(start)))
    if not any(map(called_subtotal, named)):
        return ()
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read(_REPORT + 1)
        lines = _lines(raw.decode("utf-8-sig")) if len(raw) <= _REPORT else []
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return ()  # said, with its reason, by whoever counts
    cells = _by_line(lines, dialect.delimiter, dialect.quote) or []
    body = [
        i for i, row in enumerate(cells) if i >= dialect.skip + dialect.header and any(field.strip() for field in row)
    ]
    found, kept = subtotals(cells, body, range(len(dialect.names)))
    if not found:
        return ()
    gone, out = {*found}, False
    with to.open("w", encoding="utf-8", newline="") as target:
        for i, line in enumerate(lines):
            out = i in gone or (out and i < len(cells) and not cells[i])  # a record may go over several lines
            if not out:
                target.write(line)
    return tuple(subtotal_notes([i + 1 for i in found], [i + 1 for i in kept], "line"))


def cut(path: Path, at: int, to: Path) -> None:
    """Write a copy up to a byte, streaming."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as source, to.open("wb") as target:
        while at and (block := source.read(min(at, 1 << 20))):
            target.write(block)
            at -= len(block)


def transcode(path: Path, encoding: str, to: Path) -> None:
    """Write a UTF-8 copy, streaming."""
    try:
        with (
            (
                io.TextIOWrapper(gzip.open(path), encoding=encoding, newline="")
                if path.suffix == ".gz"
                else path.open(encoding=encoding, newline="")
            ) as source,
            to.open("w", encoding="utf-8", newline="") as target,
        ):
            while block := source.read(1 << 20):
                target.write(block)
    except UnicodeError:
        raise InputError(f"{path}: not {encoding} text all through; give the right one with --encoding.") from None


def _encoding(raw: bytes, path: Path) -> str:
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if raw.startswith(mark):
            return name
    if b"\x00" in raw:
        raise InputError(
            f"{path}: not a text table (it holds zero bytes); bring CSV, Parquet, Excel or a database, or name the encoding if it is "
            "UTF-16 or UTF-32 without a mark (--encoding utf-16-le)."
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw)
        return "utf-8"
    except UnicodeDecodeError:
        # every byte is a Latin-1 character; the control range 0x80-0x9f tells Windows text apart
        return "cp1252" if any(0x80 <= b <= 0x9F for b in raw) else "latin-1"


_ESCAPES = {"idna", "punycode", "unicode-escape", "unicode_escape", "raw-unicode-escape", "raw_unicode_escape"}
"""What Python lists among its encodings and no file of text is written in."""


def _decode(raw: bytes, encoding: str, path: Path) -> str:
    try:
        b"a".decode(encoding)  # refuses what is no encoding of text: hex, zlib
        if codecs.lookup(encoding).name in _ESCAPES:
            raise LookupError(encoding)
    except (LookupError, ValueError) as error:
        if not isinstance(error, UnicodeDecodeError):
            raise InputError(
                f"{encoding!r} is no encoding of text that Python knows; try utf-8, latin-1, cp1252 or utf-16."
            ) from None
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(raw)
        return text.removeprefix("\ufeff")
    except ValueError:
        raise InputError(f"{path}: not {encoding} text; give the right one with --encoding.") from None


def _records(text: str, delimiter: str, quote: str, most: int) -> list[list[str]]:
    records = []
    csv.field_size_limit(max(csv.field_size_limit(), 4 * _LONGEST))  # longer fields are the engine's to refuse
    try:
        quoting: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **quoting):
            if record:
                records.append(record)
            if len(records) >= most:
                break
    except csv.Error:
        pass
    return records or [[""]]


def _lines(text: str) -> list[str]:
    """Its lines, ends included, as the engine counts them."""
    return io.StringIO(text, newline="").readlines()


def _joined(text: str, delimiter: str, quote: str, rows: tuple[int, ...], path: Path) -> tuple[str, ...]:
    """The names in two header lines."""
    lines = _lines(text)[: rows[1] + 1]
    pair = [_records(lines[i], delimiter, quote, 1)[0] for i in rows] if len(lines) == rows[1] + 1 else [[], [""]]
    if len(pair[0]) != len(pair[1]):
        raise InputError(
            f"{path}: lines {rows[0] + 1} and {rows[1] + 1} do not name the same number of columns; correct --header-row."
        )
    return joined_names(pair)


def _placed(text: str, delimiter: str, quote: str) -> Layout | None:
    """Where the table lies below titles, or under two header lines; None where the first line that is not blank is its header."""
    lines = _lines(text)[:_LINES]
    cells = _by_line(lines, delimiter, quote)
    if cells is None:
        return None
    first = next((row for row in cells if any(field.strip() for field in row)), [])
    named = {field.strip() for field in first} - {""}
    if len(named) == max(map(len, cells), default=0):
        return None  # a name for every column, and no two alike: no line below can be the header
    widths = Counter(len(row) for row in cells if any(field.strip() for field in row))
    if not widths or widths.most_common(1)[0][0] < 2:
        return None
    placed = find(cells, whole=False, row="line")
    plain = len(placed.header) == 1 and not placed.notes
    if plain or not placed.header or not placed.body or len(placed.columns) != len(cells[placed.header[-1]]):
        return None
    over = placed.header[-1] + 1  # a header that goes over several lines is left to the engine
    return placed if over == len(cells) or cells[over] or not lines[over].strip() else None


def _by_line(lines: list[str], delimiter: str, quote: str) -> list[list[str]] | None:
    """A record at its first line, nothing at the others that it goes over; None where the lines cannot be taken apart."""
    cells: list[list[str]] = []
    quoting: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    reader = csv.reader(lines, delimiter=delimiter, **quoting)
    try:
        for record in reader:
            cells += [record, *([[]] * (reader.line_num - len(cells) - 1))]
    except csv.Error:
        return None
    return cells


def _delimiter(text: str, quote: str) -> str:
    """The first that cuts every line into the same number of fields, more than one; else the most regular one."""
    best, score = ",", 0.0
    for candidate in _DELIMITERS:
        widths = Counter(len(record) for record in _records(text, candidate, quote, 200))
        width, times = widths.most_common(1)[0]
        if width > 1 and times / widths.total() > score:
            best, score = candidate, times / widths.total()
    return best


def _is_data(first: list[str], rest: list[list[str]]) -> bool:
    """Whether the first line is a row: it holds a number where the lines below do, too."""
    if not rest:
        return False
    return any(
        value.strip() and _VALUE.match(value) and all(i < len(row) and _VALUE.match(row[i]) for row in rest)
        for i, value in enumerate(first)
    )


def _row_names(first: list[str], rest: list[list[str]]) -> bool:
    """Whether the lines start with R's row names: whole numbers under a header that has "" there, or one field less."""
    short = len(first) > 0 and all(len(row) == len(first) + 1 for row in rest)
    return (
        bool(rest)
        and (short or (len(first) > 1 and not first[0].strip()))
        and all(row and row[0].isdecimal() for row in rest)
        and all(name.strip() for name in first[0 if short else 1 :])
    )


def _named(first: list[str], path: Path) -> tuple[str, ...]:
    names = ("column1", *first[1:])
    check_names(names, path)
    return names


def check_names(names: tuple[str, ...], path: Path | str, row: int | None = None) -> None:
    """Refuse a table whose columns cannot be told apart by name; upper and lower case are one to the engine.

    `row`: where a sheet has them, so that the sentence can say how to name another.
    """
    where, other_row = ("", "") if row is None else (f" in row {row}", ", name the right one with --header-row")
    seen: dict[str, int] = {}
    for i, name in enumerate(names, 1):
        if not name.strip():
            raise InputError(
                f"{path}: column {i} has no name{where}; name it in the header{other_row}, or pass --no-header if there is none."
            )
        other = seen.setdefault(name.casefold(), i)
        if other != i:  # the name is not told: without a header it would be a value of the table
            alike = "the same name" if names[other - 1] == name else "the same name but for upper and lower case"
            raise InputError(
                f"{path}: columns {other} and {i} have {alike}{where}; rename one{other_row}, or pass --no-header if there is none."
            )
