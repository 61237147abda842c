"""One sheet by the reader of workbooks; run as a program of its own, with a limit on its memory, it loads nothing else of ours."""

from __future__ import annotations

import sys
from typing import Any

CHILD_MEMORY = 4 << 30


def read(path: str, sheet: str | None) -> tuple[list[str], str, list[list[Any]] | None]:
    """Rows are None where there is no such sheet, names are empty where it is no workbook."""
    import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        names = list(book.sheet_names)
        chosen = sheet if sheet is not None else names[0] if names else ""
        if chosen not in names:
            return names, chosen, None
        return (
            names,
            chosen,
            book.get_sheet_by_name(chosen).to_python(skip_empty_area=False),
        )  # rows keep the numbers that people see
    except python_calamine.CalamineError:
        return [], "", None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the reader's own word for a mistake of its own
            raise
        return [], "", None


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
