"""What a released value stands for, notation by notation."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.arrow import strings
from sfumato.core.column import encode
from sfumato.core.counts import Counts
from sfumato.core.cover import Domain
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.population import cover
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


# --- whom classes cover -------------------------------------------------------------------------------------------------


def _counted(columns: dict[str, list[str | None]]) -> Counts:
    coded = [encode(name, strings(texts)) for name, texts in columns.items()]
    tuples, n = np.unique(np.stack([codes for _, codes in coded]), axis=1, return_counts=True)
    return Counts.of([column for column, _ in coded], [*tuples], n)


def _fits(label: str | None, value: str | None) -> bool:
    """Whether a label stands for a value, in plain Python."""
    if label == "*" or label == value:
        return True
    if label is None or value is None or label[0] not in "[{":
        return False
    if label[0] == "{":
        return value in label[1:-1].split(", ")
    low, high = label[1:-1].split(",")
    return int(low) <= int(value) < int(high)


@pytest.mark.parametrize("seed", range(12))
def test_whom_overlapping_classes_cover(seed: int) -> None:
    """Held against every class beside every person."""
    rng = np.random.default_rng(seed)

    def label() -> str | None:
        low, high = (int(x) for x in np.sort(rng.integers(0, 12, 2)))
        labels = [None, "*", str(low), f"[{low},{high + 1})", f"{{{low}, {high}}}"]
        return labels[int(rng.integers(len(labels)))]

    columns, rows = int(rng.integers(1, 5)), int(rng.integers(1, 60))
    names = [f"c{i}" for i in range(columns)]
    released = _counted({name: [label() for _ in range(rows)] for name in names})
    people = {
        name: [None if x == 12 else str(x) for x in rng.integers(0, int(rng.integers(1, 14)), 200)] for name in names
    }
    whose = [str(x) for x in rng.integers(0, 90, 200)]
    labels = list(zip(*([c.texts[i] for i in codes] for c, codes in zip(released.columns, released.codes, strict=True)), strict=True))  # fmt: skip
    for person in (False, True):
        counts = _counted(people | ({"who": whose} if person else {}))
        covered = cover(released, [Domain(column) for column in counts.columns[:columns]], counts, person=person)
        of = whose if person else [str(i) for i in range(200)]
        fits = [
            {who for who, *values in zip(of, *people.values(), strict=True) if all(map(_fits, each, values))}
            for each in labels
        ]
        times = Counter(who for each in fits for who in each)
        assert covered.sizes.tolist() == [len(each) for each in fits]
        assert covered.nobody == len(set(of)) - len(times)
        assert covered.several == sum(count > 1 for count in times.values())
