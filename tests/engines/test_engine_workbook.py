"""Workbooks that claim more than they hold are refused before the reader makes room for it."""

from __future__ import annotations

import resource
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.engines import sheet_reader

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def relation(target: str, kind: str) -> str:
    return f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r1" Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>'


def xlsx(path: Path, rows: str, **more: bytes) -> Path:
    """A workbook of one sheet, written by hand so that it may say anything."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("_rels/.rels", relation("xl/workbook.xml", "officeDocument"))
        book.writestr("xl/_rels/workbook.xml.rels", relation("worksheets/sheet1.xml", "worksheet"))
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        book.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        )
        for name, content in more.items():
            book.writestr(name, content)
    return path


def text(place: str, value: str) -> str:
    return f'<c r="{place}" t="str"><v>{value}</v></c>'


TABLE = f'<row r="1">{text("A1", "a")}</row><row r="2">{text("A2", "x")}</row>'
CLAIMS = {
    "the last cell of the sheet": TABLE + f'<row r="1048576">{text("XFD1048576", "y")}</row>',
    "beyond any sheet": TABLE + f'<row r="4000000000">{text("ZZZZZZ4000000000", "y")}</row>',
    "in single quotes": TABLE + "<row r='1048576'><c r='XFD1048576' t='str'><v>y</v></c></row>",
    "the place behind another attribute": TABLE + '<row r="1048576"><c t="str" r="XFD1048576"><v>y</v></c></row>',
    "an attribute that holds a bracket": TABLE + '<row r="1048576"><c t="a>b" r="XFD1048576"><v>y</v></c></row>',
    "without places": "<row>" + "<c><v>1</v></c>" * 16384 + "</row>" + "<row/>" * 1_000_000 + "<row><c><v>1</v></c></row>",
    "a wide row and a deep column": f'<row r="1">{text("A1", "a")}{text("XFD1", "b")}</row><row r="1000000">{text("A1000000", "c")}</row>',
}  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_sheet_that_spans_more_than_it_holds(tmp_path: Path, refusal: Any, claim: str) -> None:
    path = xlsx(tmp_path / "t.xlsx", CLAIMS[claim])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refusal(InputError, lambda: sf.read(path), path, "filled cells", "rows and")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "KB: nothing was built"


@pytest.mark.parametrize(
    "rows",
    [
        TABLE,
        TABLE + '<row r="1048576"><c r="XFD1048576" s="1"/></row>',  # formatted, but empty: Excel leaves these behind
        '<row><c t="str"><v>a</v></c></row><row><c t="str"><v>x</v></c></row>',
        TABLE.replace("<row", "<x:row").replace("</row", "</x:row").replace("<c ", "<x:c ").replace("</c>", "</x:c>"),
    ],
)
def test_tables_are_read_however_they_are_written(tmp_path: Path, rows_of: Any, rows: str) -> None:
    path = xlsx(tmp_path / "t.xlsx", rows)
    if "x:" in rows:
        rewritten = path.with_name("x.xlsx")
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(rewritten, "w") as new:
            for name in old.namelist():
                content = old.read(name).replace(b"<worksheet xmlns=", b"<worksheet xmlns:x=")
                new.writestr(name, content.replace(b"<v>", b"<x:v>").replace(b"</v>", b"</x:v>"))
        path = rewritten
    assert rows_of(sf.read(path)) == [(("x",), 1)]


def test_a_zip_bomb(tmp_path: Path, refusal: Any) -> None:
    path = xlsx(tmp_path / "t.xlsx", TABLE, **{"xl/sharedStrings.xml": b"<sst>" + b" " * (150 << 20)})
    assert path.stat().st_size < 1 << 20
    refusal(InputError, lambda: sf.read(path), path, "inflates")


def test_a_zip_bomb_that_lies_about_its_size(tmp_path: Path, refusal: Any) -> None:
    """The size in the headers says 10 bytes; what counts is what comes out."""
    big = b" " * (150 << 20)
    path = xlsx(tmp_path / "t.xlsx", TABLE, **{"xl/sharedStrings.xml": big})
    raw = path.read_bytes().replace(len(big).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(raw)
    refusal(InputError, lambda: sf.read(path), path, "inflates")


def ods(path: Path, rows: str) -> Path:
    names = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr("META-INF/manifest.xml", "<manifest/>")
        book.writestr(
            "content.xml",
            f'<office:document-content {names}><office:body><office:spreadsheet><table:table table:name="S">{rows}'
            "</table:table></office:spreadsheet></office:body></office:document-content>",
        )
    return path


_ONE = '<table:table-cell office:value-type="float" office:value="1"/>'


def test_other_formats_are_read_in_a_process_of_their_own(tmp_path: Path, refusal: Any, rows_of: Any) -> None:
    row = f"<table:table-row>{_ONE}</table:table-row>"
    assert rows_of(sf.read(ods(tmp_path / "fine.ods", row * 2))) == [(("1",), 1)]
    far = f'{row}<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    far += f'<table:table-row><table:table-cell table:number-columns-repeated="16000"/>{_ONE}</table:table-row>'
    path = ods(tmp_path / "far.ods", far)
    refusal(InputError, lambda: sf.read(path), path, "save it as .xlsx or CSV")
    refusal(InputError, lambda: sf.read(tmp_path / "fine.ods", sheet="T"), "no sheet 'T'", "S")


def test_a_reader_that_dies_takes_only_itself(tmp_path: Path, refusal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dies = tmp_path / "dies.py"
    dies.write_text("import os\nos.abort()\n")
    monkeypatch.setattr(sheet_reader, "__file__", str(dies))
    path = ods(tmp_path / "t.ods", "")
    refusal(InputError, lambda: sf.read(path), path, "damaged or claims more cells")


def test_the_process_of_its_own_loads_nothing_else_of_ours() -> None:
    code = f"import runpy, sys; sys.argv = ['x', '/nowhere.ods']; runpy.run_path({sheet_reader.__file__!r}); print('sfumato' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
