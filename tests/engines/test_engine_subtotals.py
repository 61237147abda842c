"""Totals in the middle of a table are left out and told, and an ordinary table never loses a row."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import sfumato as sf

HEADER = ["station", "patient", "days", "cost"]
NAMES = ["Zwischensumme", "Summe", "Subtotal", "Total:", "Summe Station 3", "Station 3 Ergebnis", "Ward 3 Total"]


def sheet(folder: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def text(folder: Path, rows: list[list[Any]]) -> Path:
    lines = (";".join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)
    (folder / "t.csv").write_text("".join(lines), encoding="utf-8")
    return folder / "t.csv"


BOTH = pytest.mark.parametrize("make", [sheet, text])


def blocks(draw: random.Random, name: str, *, total: bool = True) -> tuple[list[list[Any]], list[int]]:
    """Blocks of rows, each with its total below, and the numbers of the totals' rows below a header."""
    rows: list[list[Any]] = []
    at = []
    for station in range(draw.randint(2, 4)):
        block = [
            [f"S{station}", f"P{station}{i}", draw.randint(1, 30), draw.randint(1, 10**5) / 100]
            for i in range(draw.randint(2, 6))
        ]
        rows += block
        if total:
            rows.append([name, None, sum(row[2] for row in block), round(sum(row[3] for row in block), 2)])
            at.append(len(rows) + 1)
    return rows, at


@BOTH
@pytest.mark.parametrize("name", NAMES)
def test_totals_of_blocks_are_left_out_and_told(tmp_path: Path, make: Any, name: str) -> None:
    rows, at = blocks(random.Random(name), name)
    table = sf.read(make(tmp_path, [HEADER, *rows]))
    assert table.rows == len(rows) - len(at)
    assert not any(called in NAMES for called in table.count(("station",)).columns[0].texts)
    (note,) = [note for note in table.notes if "totals" in note]
    assert note.endswith("left out; keep: --no-totals")
    assert all(f" {i}" in note for i in at)
    assert sf.read(make(tmp_path, [HEADER, *rows]), totals=False).rows == len(rows)


@BOTH
def test_a_total_of_totals_and_a_note_below(tmp_path: Path, make: Any) -> None:
    rows, _ = blocks(random.Random(1), "Zwischensumme")
    sums = [sum(row[c] for row in rows if row[1]) for c in (2, 3)]
    below = [["Gesamtsumme", None, sums[0], round(sums[1], 2)], ["Stand: 1.4.2026", None, None, None]]
    table = sf.read(make(tmp_path, [["Register", *[None] * 3], HEADER, *rows, *below]))
    assert table.rows == sum(row[1] is not None for row in rows)
    assert table.columns == tuple(HEADER)


def test_amounts_as_offices_write_them(tmp_path: Path) -> None:
    lines = [
        "Station;Fall;Betrag",
        "A;1;1.200,50 €",
        "A;2;99,50 €",
        "Summe;;1.300,00 €",
        "B;3;10,00 €",
        "B;4;5,25 €",
        "Summe;;15,25 €",
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = sf.read(path)
    assert sorted(table.head(9)["Betrag"], key=float) == ["5.25", "10.00", "99.50", "1200.50"]
    assert any("lines 4 and 7, called totals" in note for note in table.notes)


@BOTH
def test_what_is_called_so_and_is_no_sum_is_kept_and_told(tmp_path: Path, make: Any) -> None:
    rows, at = blocks(random.Random(9), "Summe")
    assert len(at) > 2
    rows[at[0] - 2][2:] = [1, 0.5]
    table = sf.read(make(tmp_path, [HEADER, *rows]))
    assert table.rows == len(rows) - len(at) + 1
    assert any(f"{at[0]}, called totals too" in note and note.endswith("look at them") for note in table.notes)


@BOTH
@pytest.mark.parametrize("seed", range(25))
def test_an_ordinary_table_keeps_every_row(tmp_path: Path, make: Any, seed: int) -> None:
    """Products, tumours and wards may be called Total or Summe, numbers may be small, and cells may be empty."""
    draw = random.Random(seed)
    words = ["Total", "Summe", "Total hip", "Gesamt", "a", "b", "c", "Subtotal resection"]
    most = draw.choice([3, 50, 10_000])
    rows = [
        [draw.choice(words), f"P{i}" if draw.random() < 0.8 else None, draw.randint(1, most), draw.randint(1, most) / 4]
        for i in range(draw.randint(12, 60))
    ]
    rows.append(["a", "P", 1, 1])
    for i, row in enumerate(rows):  # nothing may add up, else it would be a total indeed
        if row[0] not in "abc":
            row[2], row[3] = draw.randint(10**6, 10**7) + i, -1.5
    table = sf.read(make(tmp_path, [HEADER, *rows]))
    assert table.rows == len(rows)
    assert not any("called totals" in note for note in table.notes)


@BOTH
@pytest.mark.parametrize("seed", range(25))
def test_chance_sums_in_a_column_of_small_numbers_take_no_row(tmp_path: Path, make: Any, seed: int) -> None:
    """Where a category is called Total, some of its rows may hold a sum by chance; not all of many do."""
    draw = random.Random(seed)
    rows = [[draw.choice(["Total", "a", "b"]), f"P{i}", draw.randint(1, 4), draw.randint(1, 4)] for i in range(60)]
    table = sf.read(make(tmp_path, [HEADER, *rows, ["a", "P", 1, 1]]))
    assert table.rows == 61


def test_a_release_keeps_its_rows(tmp_path: Path) -> None:
    """A release is no report, whatever adds up in it."""
    rows, _ = blocks(random.Random(3), "Summe")
    roles = sf.Roles(quasi=("station",))
    assert sf.read(text(tmp_path, [HEADER, *rows]), roles=roles.of_release).rows == len(rows)


def test_a_record_over_several_lines_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('w,t,n\na,"x\ny",1\nb,z,2\nTotal,"\n",3\nc,"u\nv",4\nd,w,5\n', encoding="utf-8")
    table = sf.read(path)
    assert sorted(table.head(9)["n"]) == ["1", "2", "4", "5"]
