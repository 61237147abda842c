"""HIPAA's rules as a measure: nothing told breaks nothing, every rule alone, what is not a rule, and no value in what is said."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.arrow import strings
from sfumato.core.column import encode
from sfumato.core.errors import InputError
from sfumato.core.metric import Score
from sfumato.core.release import Release
from sfumato.profile.hipaa import broken

RULES = sf.metric("hipaa_rules")


def scored(columns: dict[str, Any], metric: Any = RULES, **roles: Any) -> Score:
    table = sf.read(pa.table({**columns, "q": ["x"] * len(next(iter(columns.values())))}))
    return metric(Release(table=table), sf.Roles(quasi=("q",), **roles))  # type: ignore[no-any-return]


def rules(name: str, values: list[Any], metric: Any = RULES) -> list[str]:
    """The rules that one column breaks, without an engine."""
    column, codes = encode(
        name, strings(values) if all(isinstance(v, str | None) for v in values) else pa.array(values)
    )
    told = metric.arguments
    named = {"age": name in told["age"], "postal": name in told["zip"], "date": name in told["date"]}
    return list(broken(column, np.bincount(codes), **named, year=told["year"]))


# --- extremes ------------------------------------------------------------------------------------------------------------


def test_what_tells_nothing_breaks_nothing() -> None:
    names = ("ssn", "city", "zip", "birth_date", "age", "name", "email")
    assert scored({name: ["*", "*"] for name in names}).value == 0
    assert scored({name: pa.array([None, None], pa.string()) for name in names}).value == 0
    assert scored({name: ["*", None] for name in names}).value == 0


def test_every_column_counts_once() -> None:
    day = [datetime.date(2020, 3, 4), None]
    found = scored({f"d{i}": day for i in range(7)})
    assert (found.value, found.exactness, found.unit) == (7, "exact", "columns")
    both = scored({"birth_date": ["1931-02-03", "ann@example.org"]})
    assert (both.value, both.details["broken"]) == (1, {"birth_date": ["identifiers", "dates"]})


def test_no_value_is_told() -> None:
    columns = {"zip": ["02139"], "dob": ["1931-02-03"], "note": ["call 123-45-6789"], "age": [93]}
    found = scored(columns)
    assert found.value == 4
    told = json.dumps(found.details)
    assert not any(str(values[0]) in told for values in columns.values())


# --- the rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("surname", ["a", "b"]),
        ("patient_id", [1, 1]),
        ("MRN", ["x", "y"]),
        ("x", ["seen by ann@example.org", "no", "no", "no"]),  # one is enough
        ("x", ["www.example.org", "no", "no"]),
        ("x", ["078-05-1120", "no", "no"]),
        ("x", ["+1 617 555 0100", "+1 617 555 0101", "none"]),
        ("x", ["10.1.2.3", "10.1.2.4", "none"]),
        ("x", ["00:1A:2b:3c:4d:5e", "none"]),
        ("x", ["1HGCM82633A004352", "1HGCM82633A004353"]),
        ("x", ["4111 1111 1111 1111", "4111 1111 1111 1112"]),
        ("x", ["DE89 3704 0044 0532 0130 00", None]),
    ],
)
def test_direct_identifiers(name: str, values: list[Any]) -> None:
    assert rules(name, values) == ["identifiers"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x", ["10.1.2.3", "no", "no"]),  # less than half of the rows: a version, a code
        ("diagnosis", ["E11.9", "J45"]),
        ("ndc", ["0002-1433-80", "0781-1506-10"]),
        ("charge", list(range(200))),  # a number for nearly every row is no identifier by that
        ("store_id", ["A1", "A2"]),
    ],
)
def test_no_direct_identifiers(name: str, values: list[Any]) -> None:
    assert rules(name, values) == []


def test_what_the_roles_keep_in_the_house_is_an_identifier_where_it_is_released() -> None:
    columns = {"colour": ["red", "blue"], "number": [1, 2]}
    assert scored(columns).value == 0
    found = scored(columns, identifiers=("colour",), person="number")
    assert found.details["broken"] == {"colour": ["identifiers"], "number": ["identifiers"]}


def test_places_go_by_name_but_for_states() -> None:
    for name in ("city", "birth_city", "County", "precinct", "home-town", "latitude"):
        assert rules(name, ["Salem", "Troy"]) == ["places"]
    assert rules("county", ["MA", "New York", "wyoming", "*", None]) == []
    assert rules("county", ["MA", "Salem"]) == ["places"]
    for name in ("state", "region", "country", "ward"):
        assert rules(name, ["Salem", "Troy"]) == []


@pytest.mark.parametrize(
    "spelled", ["02139", "0213*", "02139-1234", "0*139", "K1A 0B6", "SW1A", "2139", "[02138,02141)"]
)
def test_codes_of_more_than_three_digits(spelled: str) -> None:
    assert rules("zip", [spelled, "021**"]) == ["postal codes"]
    assert rules("x", [spelled, "021**"]) in ([], ["postal codes"])


@pytest.mark.parametrize(
    "spelled", ["021", "021**", "021xx", "02***", "000", "*", "Utah", "[02100,02300)", "[021, 036]", "{021**, 036**}"]
)
def test_codes_of_three_digits_and_less(spelled: str) -> None:
    assert rules("zip", [spelled, None]) == []


@pytest.mark.parametrize("area", "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893".split())  # noqa: SIM905
def test_the_seventeen_small_areas(area: str) -> None:
    for spelled in (area, f"{area}**", f"[{area}00,{area}99]", f"{{{area}**}}", area.lstrip("0")):
        assert rules("postcode", ["021**", spelled]) == ["postal codes"]
    assert (
        rules("postcode", ["021**", f"{{{area}**, 021**}}"]) == []
    )  # one of two areas, which have more people together


def test_codes_that_are_numbers() -> None:
    assert rules("zip", [2139, 94110]) == ["postal codes"]
    assert rules("zip", [21, 941]) == []
    assert rules("zip", [36, 941]) == ["postal codes"]  # 036 whose zero was lost


@pytest.mark.parametrize(
    "values",
    [
        ["2020-03-04", "no", "no", "no"],  # one day anywhere is enough
        ["3/14/2020", "no", "no", "no"],
        ["2020/03/04", "no", "no"],
        ["on 4 March 2020 at noon", "no", "no"],
        ["[2020-03-04, 2021-01-01)", "2020"],
        ["{2020-03-04, 2021-03-04}", "2020"],
        ["2020-03", "2021-04"],
        ["2020-Q1", "2020-Q3"],
        ["20200304", "20210405"],
        ["10:30", "23:15"],
        ["03/14/20", "04/15/21"],
        ["March", "April"],
        [datetime.datetime(2020, 3, 4, 10), None],
        [datetime.time(10, 30), None],
    ],
)
def test_more_of_a_date_than_its_year(values: list[Any]) -> None:
    assert rules("x", values) == ["dates"]


@pytest.mark.parametrize(
    "values",
    [
        ["2020", "2021"],
        [2020, 2021],
        ["2020s", "2010s"],
        ["[2010, 2020]", "2021"],
        ["[2020-01-01, 2021-01-01)", "[2018-01-01,2019-12-31]"],
        ["<2020-01-01", ">=2020-01-01"],
        ["<=2019-12-31", ">2019-12-31"],
        ["2010-2014", "2015-2019"],
        ["yes", None],
    ],
)
def test_years_are_no_dates(values: list[Any]) -> None:
    assert rules("admission_date", values) == []


def test_what_may_be_a_date_is_one_where_the_name_or_half_of_the_rows_say_so() -> None:
    values = ["2010-11", "no", "no"]
    assert rules("x", values) == []
    assert rules("admission", values) == ["dates"]
    assert rules("x", values, RULES(date="x")) == ["dates"]
    assert rules("x", ["2010-11", "2011-12", "no", "*", "*"]) == ["dates"]  # half of what is told, and * tells nothing


def test_a_month_or_a_day_alone() -> None:
    assert rules("admission_month", [1, 12]) == ["dates"]
    assert rules("day_of_birth", ["3", "31"]) == ["dates"]
    assert rules("30_day_readmission", [0, 1]) == []
    assert rules("time_in_hospital", [1, 14]) == []
    assert rules("birth_year", [1931, 1990]) == []
    assert rules("visit_score", [10.1634, 11.1987]) == []  # a number with decimals is no month with a year
    assert rules("x", [20200304, 20210405]) == ["dates"]
    assert rules("charge", [20200399, 1500]) == []


@pytest.mark.parametrize(
    ("labels", "broken"),
    [
        (["89", "17"], False),
        (["89.5", "17"], False),  # an age is one in whole years
        (["90", "17"], True),  # a plain number is that age
        (["90+", "17"], False),
        ([">=90", "89"], False),
        ([">89", "89"], False),
        (["[90, 120]", "[80,90)"], False),
        (["[90,100)", "17"], True),
        (["90+", "95+"], True),
        (["90+", ">=90"], True),  # two labels tell two groups apart
        (["95+", "[85,95)"], True),
        (["[85,95)", "[75,85)"], False),
        (["over 89", "17"], False),
        (["over 90", "17"], True),
        (["90 and older", "under 18"], False),
        (["under 95", "95 or more"], True),
        (["9*", "8*"], True),
        (["elderly", "adult"], False),
        (["{91, 93}", "17"], True),
        (["{45, 93}", "17"], False),
        (["*", None], False),
    ],
)
def test_ages(labels: list[str | None], broken: bool) -> None:
    assert rules("age", labels) == (["ages"] if broken else [])
    assert rules("x", labels) == []
    assert rules("age_in_months", labels) == []
    assert rules("x", labels, RULES(age="x")) == (["ages"] if broken else [])


@pytest.mark.parametrize(
    ("labels", "broken"),
    [
        ([1933, 1990], False),
        (["1932", "1990"], True),  # 90 in 2022
        (["<=1932", "1933"], False),
        (["<1933", "1933"], False),
        (["<1933-01-01", "1990"], False),
        (["<=1931", "1990"], True),
        (["<=1932", "<1933"], True),
        (["1920s", "1990"], True),
        (["1930s", "1990"], False),
        (["[1900, 1940]", "1990"], False),
        (["[1900, 1932]", "1990"], True),
        ([">1900", "*"], False),
    ],
)
def test_birth_years_where_the_year_of_the_ages_is_given(labels: list[Any], broken: bool) -> None:
    assert rules("birth_year", labels) == []
    assert rules("birth_year", labels, RULES(year=2022)) == (["birth years"] if broken else [])
    assert rules("admission_year", labels, RULES(year=2022)) == []


# --- what a US hospital's tables hold ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelled",
    [
        "04MAR2020", "04MAR2020:10:30:00", "04-MAR-20", "04Mar20", "Wed Mar 4 10:30:00 2020", "2020-Mar-04", "2020Mar04", "2020-3-4",
        "20200304T103000", "3 / 4 / 2020", "2020\u201303\u201304", "2020-03-**", "03/**/2020", "**/04/2020", "seen 3/14/20 by MD",
        "seen on March 14", "admitted on 14MAR2020", "surgery 20200314 done", "4th of March", "the 4th of May, 2020",
    ],
)  # fmt: skip
def test_one_date_in_any_column_is_enough(spelled: str) -> None:
    assert rules("x", [spelled, "no", "no", "no"]) == ["dates"]


@pytest.mark.parametrize(
    "values",
    [
        ["3/14", "no"], ["200304", "x"], ["2020-3", "x"], ["/Date(1583317800000)/", "x"], ["4 mars 2020", "x"], [1583317800, 1640860200],
        [43894, 44560], ["202003", "202112"],
    ],
)  # fmt: skip
def test_in_a_column_named_a_date_every_digit_but_of_a_year_counts(values: list[Any]) -> None:
    for name in ("admit_dt", "DischargeDate", "date_of_visit", "dob", "dx_date2"):
        assert rules(name, values) == ["dates"]
    assert rules("x", values, RULES(date="x")) == ["dates"]
    for name in ("admit_dt", "dob"):
        for years in (
            ["2020", "2019-20"],
            [2020, 2021],
            ["FY2020", "199*"],
            ["**/**/2020", "2020-**-**"],
            ["yes", "no"],
            [0, 1],
        ):
            assert rules(name, years) == []


def test_parts_of_dates_by_their_names() -> None:
    for name, values in {
        "quarter": [1, 4],
        "DQTR": [1, 4],
        "AMONTH": [1, 12],
        "week": [1, 52],
        "discharge_hour": [0, 23],
    }.items():
        assert rules(name, values) == ["dates"]
    assert rules("admit_quarter", ["Q1", "Q4"]) == ["dates"]
    assert rules("admission_month", ["3", "unknown", "unknown"]) == ["dates"]
    for name in (
        "visits_per_month",
        "drinks_per_day",
        "day_supply",
        "month_supply",
        "day_of_stay",
        "postop_day",
        "study_week",
    ):
        assert rules(name, [1, 2, 30]) == []
    assert rules("x", [202003, 202112]) == ["dates"]
    assert rules("x", [20200304103000, 20211230101500]) == ["dates"]
    assert rules("charge", [202003, 202199]) == []


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("titer", ["1:40", "1:80", "1:160"]), ("titer", ["1:16", "1:32"]), ("bp", ["120/80", "98/60"]), ("score", ["10/12", "8/12"]),
        ("acuity", ["20/20", "20/40"]), ("loinc", ["2019-8", "1988-5", "2345-7"]), ("gene", ["MARCH1", "SEPT2", "DEC1"]),
        ("note", ["may 10 mg", "sat 95", "dec 10"]), ("note", ["dx in 2015 may recur", "pain 7/10"]), ("imaging", ["OCT", "MRI", "CT"]),
        ("room", ["3-14", "10-12"]), ("fiscal_year", ["2019-20", "2020-21"]), ("los_days", [1, 30]), ("years_of_service", [3, 41]),
        ("pct", [95.5, 99.0]), ("weight_kg", [95, 102]), ("cost", [43894, 202003, 1583317800]), ("age_percentile", ["95th", "50th"]),
        ("state_fips", [25, 36]), ("county", ["U.S. Virgin Islands", "Guam"]), ("visit_number", [1, 2]), ("number_of_claims", [1, 2]),
        ("cell_count", [100, 200]), ("discharge_disposition_id", [1, 2] * 20), ("ndc", ["50242-040-62", "0002-1433-80"]),
        ("drug", ["20 MG DR capsule", "81 mg tab"]),
    ],
)  # fmt: skip
def test_what_a_hospital_measures_is_no_identifier(name: str, values: list[Any]) -> None:
    assert rules(name, values) == []


@pytest.mark.parametrize(
    "name",
    """med_rec_no medrecnum pat_id hadm_id encounter_id visit_id acct_no policy_number subscriber_id license_number drivers_license vin
    vehicle_id device_serial serial_number hicn mbi pager addr initials FName lname next_of_kin mother_name employer_name claim_id
    accession_number rx_number chart_no plate_number csn udi""".split(),  # noqa: SIM905
)
def test_names_of_identifiers_in_hospitals(name: str) -> None:
    assert rules(name, ["a1", "b2"]) == ["identifiers"]


@pytest.mark.parametrize(
    "values",
    [
        ["call wife at 617-555-0100", "no", "no"], ["cell (617) 555-0100.", "no", "no"], ["SSN: 078051120", "no", "no"],
        ["MRN 12345678", "no", "no"], ["MRN no. 0012345", "no", "no"], ["ip 10.1.2.3 logged", "no", "no"], ["ftp://a.example/x", "no", "no"],
        ["(01)00844588003288(21)1234", "no", "no"], ["1-617-555-0100", "no"], ["(617)555-0100", "no"], ["617-555-0100 x12", "no"],
        ["2001:db8::1", "fe80::1"], ["example.org/~ann", "x"], ["12 Main St", "4 Elm Ave Apt 3"], [6175550100, 16175550101],
    ],
)  # fmt: skip
def test_values_that_reach_or_number_people(values: list[Any]) -> None:
    assert rules("x", values) == ["identifiers"]


def test_a_number_that_nearly_every_row_has_for_itself() -> None:
    assert rules("study_id", list(range(100, 130))) == ["identifiers"]
    assert rules("study_id", [100, 101] * 15) == []
    assert rules("charge", list(range(100, 130))) == []


def test_places_by_their_values() -> None:
    assert rules("x", ["Salem, MA", "Troy, NY"]) == ["places"]
    assert rules("x", ["Essex County", "Orleans Parish, LA"]) == ["places"]
    assert rules("residence", ["Salem, MA 01970", "Troy, NY 12180"]) == ["postal codes"]
    assert rules("ZCTA5", ["02139", "94110"]) == ["postal codes"]
    assert rules("census_block_group", [1, 2]) == ["places"]
    assert rules("city", ["yes", "no"]) == []


def test_ages_in_other_units_and_within_texts() -> None:
    assert rules("age_months", [1080, 300]) == rules("age_in_days", [33600, 10]) == ["ages"]
    assert rules("age_months", [1079, 95]) == rules("age_in_days", [32849, 95]) == []
    assert rules("age_months", ["1080+", "300"]) == []
    assert rules("age", ["18 months", "95 days", "4 y"]) == []
    assert (
        rules("age", ["1100 months", "4 y"])
        == rules("age", ["ninety-one", "4"])
        == rules("age", ["9x", "8x"])
        == ["ages"]
    )
    assert rules("age", ["[90,)", "88"]) == rules("age", ["[90, \u221e)", "88"]) == []
    for text in ("91 year old man", "93-year-old", "94 y/o F", "92yo M", "102 yrs old"):
        assert rules("note", [text, "no"]) == ["ages"]
    assert rules("note", ["89 year old", "95 days old"]) == []
    assert rules("agegrp", ["90-99", "80-89"]) == rules("years_old", [97, 88]) == ["ages"]


def test_a_column_may_be_ignored_but_not_one_of_the_house() -> None:
    metric = sf.metric("hipaa_rules[ignore=hla|note]")
    columns = {"hla": ["02:01", "07:02"], "note": ["a@example.org", "x"], "seen": ["2020-03-04", "x"]}
    assert scored(columns, metric).details["broken"] == {"seen": ["dates"]}
    assert scored(columns, metric, identifiers=("hla",)).details["broken"] == {
        "hla": ["identifiers"],
        "seen": ["dates"],
    }
    with pytest.raises(InputError, match="'note'"):
        scored({"hla": ["x"]}, metric)
    with pytest.raises(InputError, match="both to ignore"):
        scored({"hla": ["x"]}, sf.metric("hipaa_rules[age=hla,ignore=hla]"))


# --- what it is asked, and of what -----------------------------------------------------------------------------------------


def test_columns_may_be_named() -> None:
    metric = sf.metric("hipaa_rules[age=years|older,zip=area]")
    assert scored({"years": [91, 2], "older": [1, 2], "area": ["02139", "021"]}, metric).value == 2
    assert str(sf.require("hipaa_rules[year=2024] <= 0")) == "hipaa_rules[year=2024] <= 0"
    with pytest.raises(InputError, match="'area'"):
        scored({"years": [91], "older": [1]}, metric)


def test_companions_and_what_is_published_along_count_too() -> None:
    def table(**columns: Any) -> Any:
        return sf.read(pa.table(columns))

    release = Release(
        table=table(q=["x"], age=[91]),
        companions={"st": table(g=[1], seen=["2020-03-04"])},
        related=(table(q=["x"], zip=["02139"], age=["90+"]),),
    )
    found = RULES(release, sf.Roles(quasi=("q",)))
    assert found.details["broken"] == {"age": ["ages"], "seen": ["dates"], "zip": ["postal codes"]}


def test_it_can_be_asked_where_values_were_perturbed() -> None:
    table = sf.read(pa.table({"age": [91.5, 30.2]}))
    assert RULES(Release(table=table, perturbed=frozenset({"age"})), sf.Roles(quasi=("age",))).value == 1


def test_the_sentence_says_what_is_not_seen() -> None:
    for value in (0, 1, 5):
        text = RULES.sentence(value)
        assert all(word in text for word in ("names inside texts", "pictures", "other codes", "birth years", "know"))
    assert "1 released column that breaks" in RULES.sentence(1)


def test_a_verdict_names_the_columns_and_no_value() -> None:
    table = sf.read({"zip": ["02139", "02139"], "born": ["1980-01-02", "1981-03-04"], "sex": ["f", "m"]})
    said = str(sf.require("hipaa_rules <= 0").check(sf.Release(table=table), sf.Roles(quasi=("zip", "born", "sex"))))
    assert said == "hipaa_rules <= 0: not met, measured 2 (exact): zip (postal codes), born (dates)"


def test_the_year_that_ages_refer_to_is_that_of_the_latest_date() -> None:
    """Somebody born in the 1920s and admitted in 2023 is over 90: no parameter is needed to see that."""
    births, admitted = ["1920s", "1950s", "1980s"], [2021, 2022, 2023]
    assert scored({"birth_date": births, "admission_year": admitted}).details["broken"] == {
        "birth_date": ["birth years"]
    }
    assert scored({"birth_date": births}).value == 0  # nothing says that it is not a table of 1990
    assert scored({"birth_date": ["1920s", "2010s"]}).value == 1  # a birth is a date, too
    assert scored({"year_of_birth": [1920, 1950, 1980], "visit_date": admitted}).value == 1
    assert scored({"birth_date": ["<1934-01-01", "1950s", "1980s"], "admission_year": admitted}).value == 0


def test_dates_that_are_published_along_tell_how_old_a_birth_is() -> None:
    births, visits = sf.read({"birth_date": ["1920s", "1980s"]}), sf.read({"visit_date": ["2022", "2023"]})
    roles = sf.Roles(quasi=("birth_date",))
    assert RULES(Release(table=births), roles).value == 0
    assert RULES(Release(table=births, related=(visits,)), roles).details["broken"] == {"birth_date": ["birth years"]}
