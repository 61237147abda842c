"""One sheet by the reader of workbooks; run as a program of its own, with a limit on its memory, it loads nothing else of ours."""

from __future__ import annotations

import itertools
import sys
from typing import Any

CHILD_MEMORY = 4 << 30
_ENOUGH = 20
"""Rows from which on a sheet is taken for the table where none is named; else the first one with any."""


def read(path: str, sheet: str | None) -> tuple[list[str], str, list[list[Any]] | None]:
    """Rows are None where there is no such sheet, names are empty where it is no workbook."""
    import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        names = list(book.sheet_names)
        if sheet is not None and sheet not in names:
            return names, sheet, None
        best: tuple[int, str, list[list[Any]] | None] = (-1, "", None)
        for name in names if sheet is None else [sheet]:
            rows = book.get_sheet_by_name(name).to_python(
                skip_empty_area=False
            )  # they keep the numbers that people see
            long = min(_rows_of_table(rows), _ENOUGH) if sheet is None else _ENOUGH
            if best[0] < 0 or (long == _ENOUGH) or best[0] == 0 < long:
                best = (long, name, rows)
            if long == _ENOUGH:
                break
        return names, best[1], best[2]
    except python_calamine.CalamineError:
        return [], "", None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the reader's own word for a mistake of its own
            raise
        return [], "", None


def _rows_of_table(rows: list[list[Any]]) -> int:
    """The rows that have two filled columns in common with the row above: a cover or an explanation has few."""
    filled = [{i for i, cell in enumerate(row) if cell not in ("", None)} for row in rows]
    return sum(len(above & below) > 1 for above, below in itertools.pairwise(filled))


def _main() -> None:
    import pickle

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (CHILD_MEMORY, CHILD_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):  # a system without limits
        pass
    sys.stdout.buffer.write(pickle.dumps(read(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)))


if __name__ == "__main__":
    _main()
