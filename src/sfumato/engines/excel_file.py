"""Write a workbook of Excel (.xlsx) with one sheet, row by row: texts stay texts (no formulas, no links), days are days."""

from __future__ import annotations

import datetime
import io
import traceback
from pathlib import Path

from ..core.errors import InputError
from .duckdb import folder
from .released_file import ReleasedRows

_MADE = datetime.datetime(2000, 1, 1)


def write(rows: ReleasedRows, path: Path) -> None:
    """The names of the columns in the first row, the rows below.

    The workbook is zipped in memory and then written: a zip file that fails on a full disk is closed again when it is cleaned up, fails
    again, and prints a traceback there.
    """
    import xlsxwriter
    from xlsxwriter.exceptions import FileCreateError

    options = {
        "constant_memory": True,
        "tmpdir": str(folder()),
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    if len(rows.columns) > 16_384:
        raise InputError(f"{path}: {len(rows.columns):,} columns, and a sheet has 16,384; write CSV or Parquet.")
    zipped = io.BytesIO()
    try:
        with xlsxwriter.Workbook(zipped, options) as book:
            book.set_properties({"created": _MADE})
            day = book.add_format({"num_format": "yyyy-mm-dd"})
            sheet = book.add_worksheet("release")
            sheet.write_row(0, 0, [column.name for column in rows.columns])
            at = 1
            for part in rows.parts():
                cells = [column.of(values) for column, values in zip(rows.columns, part, strict=True)]
                for row in zip(*cells, strict=True):
                    for i, (column, cell) in enumerate(zip(rows.columns, row, strict=True)):
                        if cell is None:
                            continue
                        if column.kind == "text":
                            sheet.write_string(at, i, cell)
                        elif column.kind == "day":
                            sheet.write_datetime(at, i, cell, day)
                        else:
                            sheet.write_number(at, i, cell)
                    at += 1
    except FileCreateError as error:  # the temporary folder is full
        refused = error.args[0]
        traceback.clear_frames(
            refused.__traceback__
        )  # which closes the unfinished zip while there is something to write to
        raise refused from None
    path.write_bytes(zipped.getbuffer())
