"""Column kinds from the shape of values, and what names may add: extremes first."""

from __future__ import annotations

import datetime
import random

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.profile import name_lexicon
from sfumato.profile.kinds import Guess, kind, sample_counts
from sfumato.profile.orders import order
from sfumato.profile.sentinels import sentinels


def guess(name: str, texts: list[str]) -> Guess:
    """The kind of a column of these texts, the empty one missing."""
    _, counts = sentinels(sample_counts(name, texts))
    return kind(name, counts, [], len(counts), texts.count(""), len(texts))


DRAW = random.Random(4)
DAYS = [datetime.date(1960, 1, 1) + datetime.timedelta(days=i * 37 % 9000) for i in range(300)]
SENTENCE = ["came", "to", "the", "ward", "at", "night", "with", "a", "cough", "and", "slept", "badly", "for", "weeks"]


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("x", ["a"] * 9, "constant"),
        ("x", [""] * 9, "constant"),
        ("x", ["a", ""] * 9, "category"),  # missing is a value: two of them
        ("x", ["0", "1"] * 50, "category"),
        ("x", ["00501", "10001", "94110"] * 9, "code"),
        ("x", [str(i % 70 + 18) for i in range(500)], "numeric"),
        ("x", [f"{DRAW.gauss(5, 1):.6f}" for _ in range(500)], "numeric"),  # a value per row, but a measurement
        ("x", [str(i % 9 + 1) for i in range(500)], "ordinal"),
        ("x", [str(70_000 + i * 13) for i in range(500)], "identifier"),
        ("income", [str(70_000 + i * 13) for i in range(500)], "numeric"),  # the name tips what the shape leaves open
        ("row", [str(i) for i in range(8)], "identifier"),
        ("age", [str(i) for i in range(30, 38)], "numeric"),
        ("x", [str(day) for day in DAYS], "date"),
        ("x", [f"{day:%d/%m/%Y}" for day in DAYS], "date"),
        ("x", [f"{day:%Y%m%d}" for day in DAYS], "date"),
        ("x", [f"{day}T10:30:00" for day in DAYS], "date"),
        ("x", [f"{i}@mail.example" for i in range(40)] * 2, "identifier"),
        ("x", [f"+49 30 {1234567 + i}" for i in range(40)] * 2, "identifier"),
        ("x", [f"(030) {100 + i}-4567" for i in range(40)] * 2, "identifier"),
        ("x", [f"{i:08x}-0000-4000-8000-00000000000a" for i in range(40)] * 2, "identifier"),
        ("x", [f"DE{i + 10}3704004405320130{i + 10}" for i in range(40)] * 2, "identifier"),
        ("x", [f"https://a.example/{i}" for i in range(40)] * 2, "identifier"),
        ("x", [f"{i:03d}-45-6789" for i in range(40)] * 2, "identifier"),
        ("x", [f"K{i:04d}" for i in range(400)], "identifier"),
        ("x", ["E11.9", "I10", "J45", "C50.1"] * 20, "code"),
        ("x", ["SW1A 1AA", "M1 1AE", "B33 8TH"] * 20, "code"),
        ("x", ["12345-6789", "12345-6790", "99999-0001"] * 20, "code"),
        ("zip", ["47677", "47602", "47678"] * 20, "code"),
        ("zip", [str(10_000 + 7 * i) for i in range(400)], "code"),  # even with a code of its own for every row
        ("x", ["20-29", "30-39", "<20", "40+"] * 9, "ordinal"),
        ("x", ["<=50K", ">50K"] * 9, "ordinal"),
        ("x", ["5 mg", "10 mg", "20 mg"] * 9, "ordinal"),
        ("x", ["low", "medium", "high"] * 9, "ordinal"),
        ("x", ["hoch", "Mittel", "niedrig"] * 9, "ordinal"),
        ("x", ["none", "mild", "severe"] * 9, "ordinal"),  # here "none" is a level, not a missing value
        ("x", ["red", "green", "blue"] * 9, "category"),
        ("x", ["yes", "no"] * 9, "category"),
        ("x", [" ".join(DRAW.choices(SENTENCE, k=9)) for _ in range(200)], "text"),
        ("x", ["one long answer that everyone could tick", "another long answer that some did tick"] * 90, "category"),
        ("store_id", [str(i % 40) for i in range(400)], "category"),
        ("patient_id", [str(i % 40) for i in range(400)], "identifier"),
        ("x", ["1,5", "2,25", "3,75"] * 20, "numeric"),
    ],
)
def test_kind(name: str, texts: list[str], expected: str) -> None:
    assert guess(name, texts).kind == expected


def test_a_mark_for_missing_does_not_hide_what_the_others_are() -> None:
    found = guess("x", [*map(str, range(20, 80)), "?"] * 5)
    assert found.kind == "numeric"
    assert guess("x", ["none", "mild", "severe"] * 5).order == ("none", "mild", "severe")


def test_a_sample_is_judged_like_counted_values() -> None:
    texts = [f"{i}@mail.example" for i in range(2000)]
    assert kind("x", None, texts, 1_000_000, 0, 1_000_000).kind == "identifier"
    assert kind("x", None, [f"{i / 7:.5f}" for i in range(2000)], 1_000_000, 0, 1_000_000).kind == "numeric"
    assert kind("x", None, [], 1_000_000, 3, 1_000_000).kind == "category"


def test_typed_columns_need_no_reading_of_texts() -> None:
    import pyarrow as pa

    import sfumato as sf

    days = [day for day in DAYS for _ in range(2)]
    table = sf.read(
        pa.table(
            {
                "flag": [i % 2 == 0 for i in range(600)],
                "day": days,
                "x": [float("nan") if i % 5 == 0 else i / 3 for i in range(600)],
                "level": [i % 4 for i in range(600)],
            }
        )
    )
    kinds = {column.name: column.kind for column in sf.profile(table).columns}
    assert kinds == {"flag": "category", "day": "date", "x": "numeric", "level": "ordinal"}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["65+", "20-29", "30-64", "<20"], ("<20", "20-29", "30-64", "65+")),
        (["10 to 19", "0 to 9"], ("0 to 9", "10 to 19")),
        (["[10,20)", "[0,10)"], ("[0,10)", "[10,20)")),
        (["$50K-$100K", "<$50K", ">$100K"], ("<$50K", "$50K-$100K", ">$100K")),
        (["1,000 - 1,999", "0 - 999"], ("0 - 999", "1,000 - 1,999")),
        (["IV", "I", "II"], ("I", "II", "IV")),
        (["Alto", "Medio", "Bajo"], ("Bajo", "Medio", "Alto")),
        (["10-20", "15-30"], None),  # they overlap
        (["5 mg", "3 g"], None),  # two units
        (["low", "high", "blue"], None),
        (["low", "niedrig"], None),  # one tier twice: no order between them
        (["a"], None),
    ],
)
def test_orders_are_recognised_for_all_values_or_not_at_all(texts: list[str], expected: tuple[str, ...] | None) -> None:
    assert order(texts) == expected


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("age", "age"),
        ("age_at_diagnosis", "age"),
        ("salary-class", "money"),
        ("native-country", "place"),
        ("hours-per-week", "work"),
        ("maritalstatus", "family"),
        ("Geburtsdatum", "birth"),
        ("fecha de nacimiento", "event"),
        ("Straße", "contact"),
        ("ZIPcode", "postal"),
        ("codice_postale", "postal"),
        ("PatientID", "person"),
        ("Kundennummer", "person"),
        ("id", "person"),
        ("name", "name"),
        ("last_name", "name"),
        ("disease_name", "health"),
        ("country_name", "place"),
        ("性别", "sex"),
        ("患者姓名", "name"),
        ("sampling_weight", "weight"),
        ("sex", "sex"),
        ("sexual_orientation", "intimate"),
        ("part_time", "work"),
        ("Teilzeit", "work"),
        ("visit_time", "event"),
        ("hired", "event"),
        ("special_needs", "need"),
        ("Förderbedarf", "need"),
        ("housing_allowance", "need"),
        ("aides", "need"),
        ("fee_arrears", "money"),
        ("Mahnstufe", "money"),
        ("impayés", "money"),
        ("sick_days", "health"),
        ("Pflegegrad", "health"),
        ("absences", "conduct"),
        ("Fehltage", "conduct"),
        ("diag", "health"),
        ("default payment next month", "outcome"),
        ("discharge_disposition", "outcome"),
        ("Bezoek bloeddruk", "health"),
        ("Bezoek ernst", "outcome"),
        ("Stammdaten Patientennummer", "person"),
        ("asylum", "status"),
        ("parents", None),
        ("store_id", None),
        ("language_model", "origin"),
        ("message", None),
        ("x17", None),
        ("", None),
    ],
)
def test_names_are_read_by_their_head(name: str, key: str | None) -> None:
    found = name_lexicon.concept(name)
    assert (found.key if found else None) == key


def test_whole_amounts_are_no_numbers_of_people_and_numbered_places_have_no_order() -> None:
    rng = np.random.default_rng(0)
    amounts = rng.permutation(np.arange(20_000))[:500]
    table = {
        "BILL_AMT1": amounts,
        "bill_no": amounts,
        "STATEFIP": rng.integers(1, 56, 500),
        "age": rng.integers(18, 90, 500),
    }
    seen = {column.name: column.kind for column in sf.profile(sf.read(pa.table(table))).columns}
    assert seen == {"BILL_AMT1": "numeric", "bill_no": "identifier", "STATEFIP": "category", "age": "numeric"}
