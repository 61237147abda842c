"""What a released value stands for, notation by notation."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from sfumato.core.column import encode
from sfumato.core.cover import Domain
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.value_sets import read_set, spell_set

AGES: list[Any] = [15, 20, 25, 29, 29.5, 30, 40, None]


def covered(values: list[Any], text: str | None, hierarchy: Hierarchy | None = None) -> set[str | None] | None:
    domain = Domain(encode("c", pa.array(values))[0], hierarchy)
    codes = domain.covered(text)
    if codes is None:
        assert not domain.mask(text).any()
        return None
    found = {domain.column.texts[i] for i in codes}
    assert {t for t, flag in zip(domain.column.texts, domain.mask(text), strict=True) if flag} == found
    assert len(codes) == len(found), "no code twice"
    return found


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[20,30)", {"20", "25", "29", "29.5"}),
        ("[20,30]", {"20", "25", "29", "29.5", "30"}),
        ("(20,30]", {"25", "29", "29.5", "30"}),
        ("(20,30)", {"25", "29", "29.5"}),
        ("[20,30[", {"20", "25", "29", "29.5"}),
        ("]20,30]", {"25", "29", "29.5", "30"}),
        ("[ 20 ; 30 )", {"20", "25", "29", "29.5"}),
        ("20-29", {"20", "25", "29"}),
        ("20 – 29", {"20", "25", "29"}),
        ("[20-29]", {"20", "25", "29"}),
        ("20..29", {"20", "25", "29"}),
        ("<30", {"15", "20", "25", "29", "29.5"}),
        ("<=30", {"15", "20", "25", "29", "29.5", "30"}),
        ("≤ 30", {"15", "20", "25", "29", "29.5", "30"}),
        (">29.5", {"30", "40"}),
        (">=29.5", {"29.5", "30", "40"}),
        ("≥30", {"30", "40"}),
        ("[-5,16)", {"15"}),
        ("-5-16", {"15"}),
        ("[1e1,2e1]", {"15", "20"}),
        ("(20,Inf]", {"25", "29", "29.5", "30", "40"}),
        ("[-Inf,20)", {"15"}),
        ("[20, 40[", {"20", "25", "29", "29.5", "30"}),
        ("30+", {"30", "40"}),
        ("29.5 +", {"29.5", "30", "40"}),
        ("3e+01", {"30"}),
        ("40.0", {"40"}),
        ("41", None),
        ("Inf", None),
        ("[50,60)", set()),
        ("[30,20]", set()),
        ("25", {"25"}),
        ("{15, 40}", {"15", "40"}),
        ("{15, [29,30)}", None),
        ("*", {"15", "20", "25", "29", "29.5", "30", "40", None}),
        ("****", {"15", "20", "25", "29", "29.5", "30", "40", None}),
        ("2*", {"20", "25", "29"}),
        (None, {None}),
        ("young", None),
        ("{15, young}", None),
    ],
)
def test_numbers(text: str | None, values: set[str | None] | None) -> None:
    assert covered(AGES, text) == values


def test_a_set_of_quoted_intervals() -> None:
    assert covered(AGES, '{15, "[29,30)"}') == {"15", "29", "29.5"}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("476**", {"47605", "47678"}),
        ("4767*", {"47678"}),
        ("4****", {"47605", "47678", "48000"}),
        ("*78", {"678"}),
        ("47**5", {"47605"}),
        ("5****", set()),
        ("47605", {"47605"}),
    ],
)
def test_masks(text: str, values: set[str | None]) -> None:
    assert covered(["47605", "47678", "48000", "678", "x", None], text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2024-05", {"2024-05-07", "2024-05-31"}),
        ("2024-Q2", {"2024-05-07", "2024-05-31", "2024-06-01"}),
        ("2024", {"2024-05-07", "2024-05-31", "2024-06-01", "2024-12-31"}),
        ("2020s", {"2024-05-07", "2024-05-31", "2024-06-01", "2024-12-31"}),
        ("1990s", {"1999-12-31"}),
        ("1999-Q4", {"1999-12-31"}),
        ("[2024-05-31,2024-06-01]", {"2024-05-31", "2024-06-01"}),
        ("2024-05-07", {"2024-05-07"}),
        ("[2024-05-31, 2024-06-01[", {"2024-05-31"}),
        ("(2024-05-31, 2024-06-01]", {"2024-06-01"}),
        ("[1990, 2024[", {"1999-12-31"}),
        ("[1999, 2024]", {"1999-12-31", "2024-05-07", "2024-05-31", "2024-06-01", "2024-12-31"}),
        ("<2024-05-07", {"1999-12-31"}),
        ("<=2024-05-07", {"1999-12-31", "2024-05-07"}),
        (">2024-06-01", {"2024-12-31"}),
        ("≥ 2024-06-01", {"2024-06-01", "2024-12-31"}),
        ("05/2024", {"2024-05-07", "2024-05-31"}),
        ("Q4 1999", {"1999-12-31"}),
        ("Q5 1999", None),
        ("[2024-05-31 00:00:00, 2024-06-01 00:00:00)", {"2024-05-31"}),
        ("[1980.0, 2000.0)", {"1999-12-31"}),
        ("[1700.0, 2000.0)", None),
        ("[1980.5, 2000.0)", None),
        ("[1980.0, 2201.0)", None),
        ("31.05.2024", {"2024-05-31"}),
        ("[07.05.2024, 1.6.2024[", {"2024-05-07", "2024-05-31"}),
        ("<07.05.2024", {"1999-12-31"}),
        ("{31.5.2024, 01.06.2024}", {"2024-05-31", "2024-06-01"}),
        ("30.02.2024", None),
        ("05/31/2024", None),
        ("2023", set()),
        ("2024-Q5", None),
    ],
)
def test_dates(text: str, values: set[str | None] | None) -> None:
    days = ["1999-12-31", "2024-05-07", "2024-05-31", "2024-06-01", "2024-12-31", None]
    assert covered(days, text) == values


def test_a_taxonomy() -> None:
    tree = Hierarchy.of("c", [("a", "x", "top"), ("b", "x", "top"), ("c", "y", "top"), ("d", "y", "top")])
    assert covered(["a", "c"], "x", tree) == {"a"}
    assert covered(["a", "c"], "top", tree) == {"a", "c"}
    assert covered(["a", "c"], "c", tree) == {"c"}
    assert covered(["a", "c", None], "*", tree) == {"a", "c", None}
    assert covered(["a", "c"], "nowhere", tree) is None
    domain = Domain(encode("c", pa.array(["a", "c", None]))[0], tree)
    assert (domain.size, domain.leaves("x"), domain.leaves("top"), domain.leaves("*")) == (5, 2, 4, 5)
    assert (domain.leaves("a"), domain.leaves(None), domain.leaves("nowhere")) == (1, 1, None)


def test_leaves_are_at_least_one() -> None:
    domain = Domain(encode("c", pa.array([1, 2]))[0])
    assert (domain.leaves("[5,6)"), domain.leaves("[1,3)"), domain.leaves(None), domain.size) == (1, 2, 1, 2)


@pytest.mark.parametrize(
    "text", ["{}", "{ }", "{,}", "{", "}", "[", "[,]", "()", "<", "-", "", "{{}}", '{"}', "[20,", "**x**", "_"]
)
def test_odd_texts_are_read_or_not_but_never_crash(text: str) -> None:  # fmt: skip
    for values in (AGES, ["a", "b", None], ["2024-05-07"]):
        found = covered(values, text)
        assert found is None or found <= {*covered(values, "*")}  # type: ignore[misc]


@pytest.mark.parametrize(
    "texts",
    [
        ["a", "b"],
        ["one"],
        ["with, comma", 'with "quote"', "with {brace}"],
        ["with space", " leading", "trailing "],
        ["\ttab", "tab\t"],
        ["[20,30)", "<5", "4**"],
        ["new\nline", "x"],
        ["carriage\rreturn", "x"],
        ["ünï", "中"],
        ["'", "''"],
    ],
    ids=["plain", "one", "punctuation", "spaces", "tabs", "labels", "newline", "return", "unicode", "apostrophes"],
)
def test_a_set_reads_back_as_it_was_spelled(texts: list[str]) -> None:
    assert read_set(spell_set(texts)) == texts
    assert covered([*texts, "other"], spell_set(texts)) == set(texts)


@pytest.mark.parametrize(
    ("text", "inside"),
    [("[35-40)", [35, 36, 39]), ("(35-40]", [36, 39, 40]), ("[35–40)", [35, 36, 39]), ("[35-40]", [35, 36, 39, 40])],
)
def test_a_dash_between_brackets_as_the_survey_prints_it(text: str, inside: list[int]) -> None:
    column, _ = encode("age", pa.array([30, 35, 36, 39, 40, 41]))
    covered = Domain(column).covered(text)
    assert covered is not None
    assert sorted(int(column.values[int(i)].as_py()) for i in covered) == inside
