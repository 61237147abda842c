"""Files of SPSS, Stata and SAS as plain columns; run as a program of its own, with a limit on its memory, it loads nothing else of ours.

The reader is a C library that trusts its files: whatever a damaged one does to it, it does it there. Rows go in parts to a Parquet
file of numbers and texts; what the file says of its columns, and what is true of all values of each, goes to standard output.
"""

from __future__ import annotations

import json
import sys
from typing import Any

CHILD_MEMORY = 4 << 30
_CELLS = 1_500_000
"""Values that are held at once, as Python's objects."""
_MOST_CODES = 10_000
READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".xpt": "read_xport",
    ".sas7bdat": "read_sas7bdat",
}
UNREADABLE, CUT = 3, 4
"""Exit codes: not such a file, and one that ends before its rows do."""


class _Seen:
    """What is true of all values of a column so far."""

    def __init__(self, labelled: bool) -> None:
        self.whole, self.low, self.high = True, float("inf"), float("-inf")
        self.codes: set[Any] | None = set() if labelled else None

    def add(self, values: list[Any]) -> None:
        there = {value for value in values if value is not None and value != ""}
        if self.codes is not None:
            self.codes |= there
            if len(self.codes) > _MOST_CODES:
                self.codes = None
        if there and not isinstance(next(iter(there)), str):
            self.whole = self.whole and all(value == int(value) and abs(value) < 2**53 for value in there)
            self.low, self.high = min(self.low, *there), max(self.high, *there)


def copy(path: str, to: str, ending: str, encoding: str | None) -> dict[str, Any] | int:
    """Write the rows to a Parquet file; what was seen of the columns, or an exit code."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyreadstat

    read = getattr(pyreadstat, READERS[ending])
    how: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    if encoding is not None and ending != ".por":
        how["encoding"] = encoding
    marked = {"user_missing": True} if ending in (".sav", ".zsav", ".dta", ".sas7bdat") else {}
    _, meta = read(path, metadataonly=True, **how, **marked)
    names = list(meta.column_names)
    texts = {name for name in names if meta.readstat_variable_types.get(name, "string").startswith("string")}
    schema = pa.schema([(name, pa.large_string() if name in texts else pa.float64()) for name in names])
    seen = {name: _Seen(bool(meta.variable_value_labels.get(name))) for name in names}
    part, rows = max(1000, _CELLS // max(1, len(names))), 0
    with pq.ParquetWriter(to, schema) as writer:
        while True:
            columns, _ = read(path, row_limit=part, row_offset=rows, **how)
            count = len(columns[names[0]]) if names else 0
            for name in names:
                seen[name].add(columns[name])
            arrays = [
                pa.array([value or None for value in columns[name]], pa.large_string())
                if name in texts
                else pa.array(columns[name], pa.float64())
                for name in names
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            rows += count
            if count < part:
                break
    if meta.number_rows is not None and 0 <= meta.number_rows != rows:
        return CUT
    ranges = {**getattr(meta, "missing_ranges", {}), **getattr(meta, "missing_user_values", {})}
    return {
        "rows": rows,
        "columns": [
            {
                "name": name,
                "text": name in texts,
                "single": meta.readstat_variable_types.get(name) == "float",
                "label": meta.column_names_to_labels.get(name) or "",
                "format": meta.original_variable_types.get(name) or "",
                "measure": meta.variable_measure.get(name) or "",
                "labels": [
                    (code, label)
                    for code, label in (meta.variable_value_labels.get(name) or {}).items()
                    if isinstance(code, str) == (name in texts)  # not those of .a, .b: they are missing
                ],
                "missing": name in ranges or _marks(meta, name, name in texts),
                "whole": seen[name].whole,
                "low": None if seen[name].low > seen[name].high else seen[name].low,
                "high": None if seen[name].low > seen[name].high else seen[name].high,
                "codes": None if (codes := seen[name].codes) is None else sorted(codes),
            }
            for name in names
        ],
    }


def _marks(meta: Any, name: str, text: bool) -> bool:
    """Whether marks of missing values such as .a have labels."""
    labels = meta.variable_value_labels.get(name) or {}
    return not text and any(isinstance(code, str) for code in labels)


def _main() -> int:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (CHILD_MEMORY, CHILD_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):  # a system without limits
        pass
    path, to, ending, encoding = sys.argv[1:]
    try:
        content = copy(path, to, ending, encoding or None)
    except Exception as error:
        if type(error).__name__ in ("ReadstatError", "PyreadstatError", "UnicodeDecodeError", "OverflowError"):
            return UNREADABLE
        raise
    if isinstance(content, int):
        return content
    sys.stdout.write(json.dumps(content))
    return 0


if __name__ == "__main__":
    sys.exit(_main())
