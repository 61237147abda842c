"""The rules of HIPAA applied: what each value becomes in the written file, what is refused, and that the promise is measured."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from mondrian_tables import read_back

import sfumato as sf
from sfumato.core.cover import Domain
from sfumato.core.errors import InputError, RequirementError
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.hipaa import Hipaa
from sfumato.publishing import publish

PATIENTS: dict[str, Any] = {
    "mrn": ["m1", "m2", "m3", "m4", "m5"],
    "zip": ["02139", "02140", "03601", "60601", None],
    "birth_date": ["1925-07-01", "1950-02-03", "1932-12-31", None, "1933-01-01"],
    "admitted": pa.array(
        [
            datetime.date(2021, 5, 4),
            datetime.date(2022, 1, 1),
            None,
            datetime.date(2022, 12, 31),
            datetime.date(2020, 2, 2),
        ]
    ),
    "age": [95, 71, 90, 89, None],
    "sex": ["f", "m", "f", "m", None],
    "illness": ["flu", "gout", "flu", "gout", "flu"],
}
ROLES = sf.Roles(
    identifiers=("mrn",), quasi=("zip", "birth_date", "age"), sensitive=("illness",), insensitive=("admitted", "sex")
)


def made(values: dict[str, Any], made_by: Hipaa | None = None, **roles: Any) -> sf.Release:
    named = sf.Roles(**roles) if roles else sf.Roles(quasi=tuple(values))
    return (made_by or Hipaa())(sf.read(pa.table(values)), named)


def labels(name: str, values: list[Any], made_by: Hipaa | None = None) -> list[str | None]:
    """A column as it is released, in the order of the input: every row has a number of its own."""
    rows = made({name: values, "row": list(range(len(values)))}, made_by).table.count(("row", name))
    texts = rows.columns[1].texts
    by_row = sorted((int(rows.columns[0].texts[a] or 0), texts[b]) for a, b in zip(*rows.codes, strict=True))
    return [text for _, text in by_row]


# --- the whole -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [".csv", ".parquet"])
def test_a_table_of_patients_as_it_is_written(form: str, tmp_path: Path) -> None:
    table, made_by = sf.read(pa.table(PATIENTS)), Hipaa()
    path = tmp_path / f"out{form}"
    told = publish(made_by(table, ROLES), ROLES, made_by.promises, path)
    assert [str(verdict.requirement) for verdict in told.verdicts] == ["hipaa_rules <= 0"]
    if form == ".csv":
        rows = sorted(read_back(path), key=str)
        assert list(rows[0]) == ["zip", "birth_date", "admitted", "age", "sex", "illness"]
        assert sorted(map(tuple, (row.values() for row in rows)), key=str) == sorted(
            [
                ("021**", "<1933-01-01", "2021", "90+", "f", "flu"),
                ("021**", "1950", "2022", "71", "m", "gout"),
                ("*", "<1933-01-01", None, "90+", "f", "flu"),
                ("606**", None, "2022", "89", "m", "gout"),
                (None, "1933", "2020", None, None, "flu"),
            ],
            key=str,
        )
    assert sf.metric("hipaa_rules")(sf.Release(table=table), ROLES).value == 5
    again = sf.metric("hipaa_rules[year=2022]")
    assert again(sf.Release(table=sf.read(path)), ROLES).value == 0


def test_every_label_is_read_back_by_the_measures() -> None:
    """So that a loss can be told, and whom a label may stand for."""
    table = sf.read(pa.table(PATIENTS))
    release = Hipaa()(table, ROLES)
    for name in ROLES.quasi:
        domain = Domain(table.count((name,)).columns[0])
        for text in release.table.count((name,)).columns[0].texts:
            covered = domain.covered(text)
            assert covered is not None
            assert len(covered)
    assert 0 < sf.iloss(release, ROLES).value < 1


def test_what_it_says_it_did() -> None:
    notes = Hipaa()(sf.read(pa.table(PATIENTS)), ROLES).notes
    assert "Column 'zip': 1 row in an area of 20,000 people or fewer, now *." in notes
    assert "Column 'age': 2 rows of age 90 or over, now 90+." in notes
    assert any("90 or older in 2022" in note and "latest year in the dates" in note for note in notes)
    given = Hipaa(year=2030)(sf.read(pa.table(PATIENTS)), ROLES).notes
    assert any("90 or older in 2030" in note and "year given" in note for note in given)


def test_nothing_is_changed_where_no_rule_is_broken() -> None:
    values = {"zip": ["021**", "*"], "age": [20, 89], "year": [1999, 2020], "state": ["MA", "NY"], "x": [0.5, 2.5]}
    release = made(values)
    assert release.notes == ()
    assert release.table.count(tuple(values)).columns[1].numbers is not None


def test_several_rows_a_person() -> None:
    table = sf.read(
        pa.table({"who": [1, 1, 2], "age": [91, 92, 3], "seen": ["2020-03-04", "2020-05-06", "2021-01-01"]})
    )
    release = Hipaa()(table, sf.Roles(person="who", quasi=("age",), insensitive=("seen",)))
    assert release.table.columns == ("age", "seen")
    assert release.table.rows == 3


# --- values ------------------------------------------------------------------------------------------------------------------


def test_ages() -> None:
    assert labels("age", [89, 90, 117, None]) == ["89", "90+", "90+", None]
    assert labels("age", ["[80,90)", ">=90", "*"]) == ["[80,90)", ">=90", "*"]
    assert labels("age", ["[80,90)", ">=90", "95"]) == ["[80,90)", "90+", "90+"]  # one label for all of them
    assert labels("alter", [12.5, 89.5, 90.5]) == ["12.5", "89.5", "90+"]
    assert labels("x", [91, 3]) == ["91", "3"]
    assert labels("x", [91, 3], Hipaa(age="x")) == ["90+", "3"]


def test_dates() -> None:
    assert labels("x", ["2020-03-04T10:00:00", "2021-01-01", None]) == ["2020", "2021", None]
    assert labels("x", ["[2020-03-04, 2022-05-06)", "{2019-01-02, 2019-03-04}"]) == ["[2020, 2022]", "2019"]
    assert labels("visit", ["2020-03", "2021-Q2", "2020s", "unknown"]) == ["2020", "2021", "2020s", "unknown"]
    assert labels("x", [datetime.datetime(2020, 3, 4, 5, 6), None]) == ["2020", None]
    assert labels("x", ["4 March 2020", "5 May 2021"]) == ["2020", "2021"]


def test_dates_that_are_texts_keep_a_shape_that_all_of_them_have() -> None:
    """So that what a quasi-identifier stands for is read back; one digit or two for a month would tell of the month."""
    assert labels("x", ["2020-03-04 10:30", "2021-12-01 09:15"]) == ["2020-**-** **:**", "2021-**-** **:**"]
    assert labels("x", ["20200304", "20210405"]) == ["2020****", "2021****"]
    assert labels("x", ["20:20 03/04/2020", "10:30 12/01/2021"]) == ["**:** **/**/2020", "**:** **/**/2021"]
    assert labels("x", ["2020-03-04 10:30", "2021-12-01 9:15"]) == ["2020", "2021"]
    values = {"x": ["2020-03-04 10:30", "2021-12-01 09:15"], "sex": ["f", "m"]}
    release = made(values, quasi=("sex",), insensitive=("x",))
    assert release.table.count(("x",)).columns[0].texts == ["2020", "2021"]
    quasi = made(values)
    assert sf.iloss(quasi, sf.Roles(quasi=("x", "sex"))).value == 0
    assert sf.metric("hipaa_rules")(quasi, sf.Roles(quasi=("x", "sex"))).value == 0


def test_births() -> None:
    assert labels("birth_year", [1931, 1932, 1933], Hipaa(year=2022)) == ["<=1932", "<=1932", "1933"]
    assert labels("born", ["1931-01-02", "1933-01-02"], Hipaa(year=2022)) == ["<1933-01-01", "1933"]
    assert labels("birth_year", [1931, 2000]) == ["1931", "2000"]  # by the latest year in it nobody is 90 yet
    assert labels("birth_year", [1931, 2021]) == ["<=1931", "2021"]
    assert labels("born", ["1931-03-04 10:30", "2021-12-01 09:15"]) == ["*", "2021-**-** **:**"]


def test_codes() -> None:
    assert labels("zip", ["02139", "03601", "021", "021**", "000", None]) == ["021**", "*", "021", "021**", "000", None]
    assert labels("zip", ["02139-1234", "10001"]) == ["021*******", "100*******"]
    assert labels("zip", ["03601", "02139"], Hipaa(small="000")) == ["000", "021**"]
    assert labels("zip", ["036", "83100", "830**"]) == ["*", "*", "*"]
    assert labels("x", ["02139", "02140"], Hipaa(zip="x")) == ["021**", "021**"]
    assert labels("zip", [94110, 60601]) == ["941**", "606**"]


def test_dates_as_hospitals_spell_them() -> None:
    expected = {
        "04MAR2020": "*****2020",
        "2020-Mar-04": "2020-***-**",
        "Wed Mar 04 10:30:00 2020": "*** *** ** **:**:** 2020",
        "Wed Mar 4 10:30:00 2020": "2020",  # one digit would tell of the day
        "20200304103000": "2020**********",
        "20200304T1030": "2020****T****",
        "the 4th of May, 2020": "2020",
    }
    for spelled, label in expected.items():
        assert labels("admit_dt", [spelled, "2021"]) == [label, "2021"]
    quasi = made({"born": ["04MAR1980", "15MAY1981"], "sex": ["f", "m"]})
    assert sf.iloss(quasi, sf.Roles(quasi=("born", "sex"))).value == 0  # read back as what it stands for
    assert labels("admit_dt", ["03/14/2020 2015", "2021"]) == ["**/**/2020 ****", "2021"]  # a time without a colon
    assert labels("x", ["3/4/2020 10:30", "5/6/2021 09:15"]) == ["2020", "2021"]
    assert labels("x", ["04 March 2020", "05 March 2021"]) == ["2020", "2021"]  # ** March 2020 would tell the month


def test_ages_in_months() -> None:
    assert labels("age_months", [1100, 1079]) == ["1080+", "1079"]


def test_what_is_ignored_is_released_as_it_is() -> None:
    values = {"hla": ["02:01", "07:02"], "city": ["a", "b"], "age": [91, 3]}
    made_by = Hipaa(ignore="hla,city")
    release = made(values, made_by)
    assert release.table.count(("hla",)).columns[0].texts == values["hla"]
    assert release.table.count(("city",)).columns[0].texts == values["city"]
    assert "Not looked at, as told by ignore: 'hla', 'city'." in release.notes
    assert str(made_by.promises[0]) == "hipaa_rules[ignore=city|hla] <= 0"
    assert made_by.promises[0].check(release, sf.Roles(quasi=tuple(values))).met
    with pytest.raises(InputError, match="both to ignore"):
        made(values, Hipaa(ignore="age", age="age"))


# --- refusals ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"city": ["Salem", "Troy"]}, ("'city'", "role identifiers")),
        ({"phone": ["a", "b"], "county": ["a", "b"]}, ("'phone', 'county'", "role identifiers")),
        ({"x": ["078-05-1120", "no"]}, ("'x'", "role identifiers")),
        ({"zip": ["K1A 0B6", "02139"]}, ("'zip'", "US ZIP codes")),
        ({"zip": [2139, 94110]}, ("'zip'", "leading zeros")),
        ({"zip": [601, 94110]}, ("'zip'", "leading zeros")),  # 00601, all of whose digits would be told
        ({"note": ["93-year-old F", "no"]}, ("'note'", "ages above 89", "ignore")),
        ({"note": ["call 617-555-0100", "no"]}, ("'note'", "role identifiers", "ignore")),
        ({"admit_dt": [1583317800, 1640860200]}, ("'admit_dt'", "YYYY-MM-DD", "ignore")),
        ({"x": ["fell on 2020-03-04 at home", "no"]}, ("'x'", "within texts")),
        ({"admitted": ["03/14/20", "04/15/21"]}, ("'admitted'", "year of four digits")),
        ({"admission_month": [3, 4]}, ("'admission_month'", "YYYY-MM-DD")),
    ],
)
def test_what_no_recoding_mends_is_refused(values: dict[str, Any], words: tuple[str, ...], refusal: Any) -> None:
    refusal(InputError, lambda: made(values), *words)


def test_an_identifier_that_has_the_role_is_no_hindrance() -> None:
    values = {"city": ["Salem", "Troy"], "sex": ["f", "m"]}
    assert made(values, identifiers=("city",), quasi=("sex",)).table.columns == ("sex",)


def test_parameters_that_make_no_sense() -> None:
    for settings in ({"year": "20"}, {"small": "x"}, {"age": ""}, {"zip": "a,,b"}):
        with pytest.raises(InputError):
            mechanism("hipaa").of(settings)
    with pytest.raises(RequirementError, match="without commas"):
        Hipaa(age='"a, b"')
    with pytest.raises(InputError, match="'x'"):
        made({"sex": ["f"]}, Hipaa(age="x"))
