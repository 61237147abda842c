"""A CSV file counted by its lines: equal lines are counted as they stand, and only the distinct ones are taken apart.

Taking a line apart and hashing its fields one by one is most of the work of a count. Where lines repeat, which is what a
table with few distinct rows and every sanitized file is like, that work is done once for each distinct line.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from ..core.errors import InputError
from ..core.spelling import BLANKS
from .dialect import Dialect
from .duckdb import arrow, drop_later, folder, literal, name_of, run, serial, spell_path, text_bytes, unused

_LARGE = 1 << 24
"""Bytes of the smallest file that is worth it."""
_BLOCKS, _BLOCK = 64, 1 << 16
"""What is looked at to see whether lines repeat."""
_MOST = 1_000_000
"""Distinct lines that are held at most."""
_ABSENT = "\x01"
"""What stands in no line: where it does, the engine says so, and the file is read the other way."""


def reading(dialect: Dialect) -> str:
    """How the engine is to take a line apart."""
    return (
        f"delim = {literal(dialect.delimiter)}, quote = {literal(dialect.quote)}, escape = {literal(dialect.quote)}, "
        "nullstr = '', strict_mode = true"
    )


def _beside(block: bytes, sign: bytes, edges: Sequence[bytes]) -> bool:
    """Whether a sign stands beside an edge. Most blocks lack most signs, which one look at their bytes tells."""
    if sign[:1] not in block or (len(sign) > 1 and sign not in block):
        return False
    if len(sign) > 1 or any(len(edge) > 1 for edge in edges):
        return any(sign + edge in block or edge + sign in block for edge in edges)
    codes = np.frombuffer(block, dtype=np.uint8)
    is_edge = np.zeros(256, dtype=bool)
    is_edge[list(b"".join(edges))] = True
    at = np.flatnonzero(codes == sign[0])
    return bool(is_edge[codes[at[at > 0] - 1]].any() or is_edge[codes[at[at < len(codes) - 1] + 1]].any())


class Lines:
    """The distinct lines of a file as a table with how many there are of each, made when first asked for.

    None where that is no gain, or where a line need not be a record: then the file must be read as a whole. Whatever is
    wrong with the file is found by that, too, so that it is told with the number of its line.
    """

    def __init__(self, path: Path, file: Path, dialect: Dialect) -> None:
        self.path, self.file, self.found = path, file, dialect
        self._made: list[tuple[str, str] | None] = []

    def __call__(self) -> tuple[str, str] | None:
        """A SELECT of the distinct rows, and its column that counts them."""
        if not self._made:
            try:
                made = self._distinct() if self._repeat() else None
            except InputError:
                made = None
            self._made.append(made)
        return self._made[0]

    def commas(self) -> bool:
        """Whether a field may hold a comma: there is one that separates nothing, or a quote for it to stand in.

        Bytes are searched ten times as fast as records are taken apart.
        """
        sign = self.found.quote if self.found.delimiter == "," else ","
        if not sign or self.file.suffix == ".gz":
            return bool(sign)
        try:
            with self.file.open("rb") as file:
                return any(sign.encode() in block for block in iter(lambda: file.read(1 << 20), b""))
        except OSError:
            return True

    def blanks(self) -> bool:
        """Whether a field may have blanks around it: one stands beside a delimiter, a quote or the end of a line."""
        if self.file.suffix == ".gz":
            return True
        edges = [sign.encode() for sign in (self.found.delimiter, self.found.quote, "\n", "\r") if sign]
        signs = [sign.encode() for sign in BLANKS if sign != self.found.delimiter]
        try:
            with self.file.open("rb") as file:
                last, size = b"\n", 1 << 20
                while block := file.read(size):
                    whole = last + block
                    if any(_beside(whole, sign, edges) for sign in signs):
                        return True
                    last = block[-4:]
                return last.endswith(tuple(signs))
        except OSError:
            return True

    def _repeat(self) -> bool:
        """Whether blocks from all over the file hold the same lines again and again."""
        dialect = self.found
        if self.file.suffix == ".gz" or any(set(name) & {"\n", "\r"} for name in dialect.names):
            return False
        try:
            size = self.file.stat().st_size
            if size < _LARGE:
                return False
            seen: set[bytes] = set()
            lines = 0
            with self.file.open("rb") as file:
                for i in range(_BLOCKS):
                    file.seek(i * (size - _BLOCK) // (_BLOCKS - 1))
                    whole = file.read(_BLOCK).split(b"\n")[1:-1]
                    lines += len(whole)
                    seen.update(whole)
        except OSError:
            return False
        return 2 * len(seen) < lines

    def _distinct(self) -> tuple[str, str] | None:
        dialect, where = self.found, str(self.path)
        source = (
            f"read_csv({spell_path(self.file)}, auto_detect = false, columns = {{'line': 'VARCHAR'}}, delim = {literal(_ABSENT)}, "
            f"quote = '', escape = '', header = {str(dialect.header).lower()}, skip = {dialect.skip}, nullstr = '', strict_mode = true)"
        )
        # an odd number of quotes: the record goes on in the next line
        quotes = f"length(line) - length(replace(line, {literal(dialect.quote)}, ''))" if dialect.quote else "0"
        odd = f"line IS NULL OR contains(line, chr(13)) OR ({quotes}) % 2 = 1"
        counted = f"SELECT line, count(*) AS n FROM {source} GROUP BY line LIMIT {_MOST + 1}"
        given = arrow(
            f"SELECT n || {literal(dialect.delimiter)} || line || chr(10) AS line, {odd} AS odd FROM ({counted})", where
        )
        if len(given) > _MOST or pc.any(given.column("odd")).as_py():
            return None
        times = unused("rows alike", dialect.names)
        copy, table = folder() / f"{next(serial)}.csv", f"lines_{next(serial)}"
        try:
            with copy.open("wb") as file:
                for chunk in given.column("line").chunks:
                    file.write(text_bytes(chunk))
            columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in dialect.names)
            parsed = (
                f"read_csv({spell_path(copy)}, auto_detect = false, columns = {{{literal(times)}: 'BIGINT', {columns}}}, "
                f"{reading(dialect)}, header = false)"
            )
            run(f"CREATE TEMP TABLE {table} AS SELECT * FROM {parsed}", where)
        finally:
            copy.unlink(missing_ok=True)
        weakref.finalize(self, drop_later, table)
        rows, lines = run(f"SELECT count(*), count({name_of(times)}) FROM {table}", where)[0]
        if not rows == lines == len(given):
            return None  # a quote that was left open has swallowed lines
        return f"SELECT * FROM {table}", times
