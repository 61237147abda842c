"""The workbook of a hospital steward, as they really come: a title, two header rows, German numbers, 999 for missing, a total.

Everything in it is invented. `PLANTED` are texts of persons that no file of a release may hold.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl

FIRST = (
    "Annegret",
    "Burkhard",
    "Cosima",
    "Dietmar",
    "Edeltraud",
    "Friedhelm",
    "Gunhild",
    "Hartwig",
    "Irmtraud",
    "Jochen",
)
LAST = ("Achterberg", "Birnstiel", "Clasvogt", "Dornseifer", "Eggebrecht", "Fahrenholz", "Grasmück", "Haberkorn")
WARDS = ("Innere", "Chirurgie", "Geriatrie", "Neurologie")
CODES = ("I10.0", "I21.4", "I50.1", "E11.9", "E11.4", "J18.9", "J44.1", "S72.0", "S82.1", "K35.8")
SEVERITY = ("leicht", "mittel", "schwer")
CALLERS = ("0171 5550143", "+49 30 5550199", "0160 5550178")
HEADER = (
    ("Patient", None, None, None, None, "Aufenthalt", None, None, None, None, "Labor", None, "Abrechnung", "Stichprobe", None),
    ("Nummer", "Name", "Alter", "PLZ", "Geschlecht", "Aufnahme", "Station", "Tage", "ICD", "Schweregrad", "CRP", "Kreatinin",
     "Betrag", "Hochrechnungsfaktor", "Bemerkung"),
)  # fmt: skip


def rows(people: int = 400, seed: int = 7) -> list[list[Any]]:
    """Several rows a patient, each with what the header says."""
    rng = np.random.default_rng(seed)
    made: list[list[Any]] = []
    for number in range(people):
        name = f"{FIRST[number % len(FIRST)]} {LAST[number % len(LAST)]}"
        age = int(rng.integers(18, 95))
        place = f"{rng.choice(['101', '101', '102', '103'])}{rng.integers(10, 16)}"
        sex = str(rng.choice(["m", "w"]))
        factor = f"{rng.integers(20, 80) / 4:.2f}".replace(".", ",")
        for _ in range(int(rng.choice([1, 2, 3, 4], p=[0.4, 0.3, 0.2, 0.1]))):
            day = f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.2023"
            note = str(
                rng.choice(
                    ["unauffälliger Verlauf", "Wiedervorlage", f"Angehörige anrufen: {rng.choice(CALLERS)}",
                     f"Tochter von {name}, Tel. 0171 {rng.integers(5550000, 5559999)}"]
                )
            )  # fmt: skip
            crp = "999" if rng.random() < 0.08 else f"{rng.gamma(2, 12):.1f}".replace(".", ",")
            creatinine = 999 if rng.random() < 0.05 else round(float(rng.normal(1, 0.2)), 2)
            cost = f"{rng.gamma(2, 1800):,.2f}".translate(str.maketrans(",.", ".,"))
            made.append([
                f"P-{70000 + 37 * number}", name, 999 if rng.random() < 0.02 else age, place, sex, day, str(rng.choice(WARDS)),
                int(rng.poisson(4)) + 1, str(rng.choice(CODES)), str(rng.choice(SEVERITY, p=[0.5, 0.35, 0.15])), crp, creatinine, cost,
                factor, note,
            ])  # fmt: skip
    return made


def planted(table: list[list[Any]]) -> set[str]:
    """Names, numbers and phone numbers that must be nowhere."""
    numbers, names = {str(row[0]) for row in table}, {part for row in table for part in str(row[1]).split()}
    phones = {
        str(row[-1]).split(": ")[-1].split("Tel. ")[-1] for row in table if any(c.isdigit() for c in str(row[-1]))
    }
    return numbers | names | phones | {phone.replace(" ", "") for phone in phones}


def write(path: Path, table: list[list[Any]] | None = None) -> Path:
    """The workbook: a title, an empty row, two header rows, the rows, a total."""
    table = rows() if table is None else table
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Entlassungen"
    days = sum(row[7] for row in table)
    total = ["Summe", *[None] * 6, days, *[None] * 7]
    for row in (["Klinikum Musterstadt: Entlassungen 2023"], [], *HEADER, *table, total):
        sheet.append(row)
    book.save(path)
    return path


if __name__ == "__main__":
    write(Path(sys.argv[1]))
