"""Top and bottom coding: who is behind a code, from the written file; bounds of the owner, by share and by rank."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mondrian_tables import ROW, made, read_back, write

import sfumato as sf
from sfumato.core.cover import Domain
from sfumato.core.errors import Infeasible, InputError
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.top_bottom_coding import TopBottomCoding
from sfumato.publishing import publish


def coded(values: list[Any], made_by: TopBottomCoding, kind: Any = None) -> list[str | None]:
    """A column of numbers `q` as it is written, in the order of the input."""
    table = made({"q": values}, types={"q": kind or pa.int64()})
    with tempfile.TemporaryDirectory() as folder:
        rows = {row[ROW]: row["q"] for row in write(made_by(table.table, table.roles), Path(folder))}
    return [rows[number] for number in table.columns[ROW]]


# --- bounds of the owner -----------------------------------------------------------------------------------------------


def test_numbers_at_or_beyond_a_bound_become_the_bound() -> None:
    assert coded([17, 89, 90, 103], TopBottomCoding(top=90)) == ["17", "89", ">=90", ">=90"]
    assert coded([17, 18, 19, 40], TopBottomCoding(bottom="18")) == ["<=18", "<=18", "19", "40"]
    assert coded([1, 5, 9], TopBottomCoding(top=9, bottom=1)) == ["<=1", "5", ">=9"]


def test_a_bound_that_no_one_reaches_changes_nothing() -> None:
    table = made({"q": [1, 2]})
    release = TopBottomCoding(top=5, people=3)(table.table, table.roles)
    assert release.table.count(("q",)).columns[0].texts == ["1", "2"]
    assert release.notes == ("Column 'q': 0 rows are top-coded.",)


def test_a_bound_below_everything_codes_everyone() -> None:
    assert coded([3, 4], TopBottomCoding(top=-1.5)) == [">=-1.5"] * 2


def test_missing_values_stay_missing_and_count_for_no_one() -> None:
    assert coded([None, 1, 9, None], TopBottomCoding(top=5)) == [None, "1", ">=5", None]
    values = [math.nan, 0.5, 2.5, 3.0]
    assert coded(values, TopBottomCoding(top_share=0, bottom=0.5), pa.float64()) == [None, "<=0.5", "2.5", ">=2.6"]
    with pytest.raises(Infeasible, match="3 people have a value"):
        coded([None, 1, 2, 3], TopBottomCoding(top_share=0, people=4))


def test_numbers_that_are_texts_keep_their_spelling() -> None:
    assert coded(["2.50", "+1", "1e3"], TopBottomCoding(top=1000), pa.string()) == ["2.50", "+1", ">=1000"]


def test_one_row_and_a_constant_column() -> None:
    assert coded([7], TopBottomCoding(top_share=0)) == ["*"]
    assert coded([7] * 5, TopBottomCoding(bottom_share=0.1)) == ["*"] * 5


def test_several_columns_with_bounds_of_their_own(tmp_path: Path) -> None:
    table = made({"a": [1, 2, 3], "b, =": [10, 20, 30], "c": [5, 6, 7]})
    made_by = mechanism("top_bottom_coding").of({"top": 'a=3, "b, ="=20', "bottom": "c=5"})
    rows = sorted(write(made_by(table.table, table.roles), tmp_path), key=lambda row: row[ROW] or "")
    assert [row["a"] for row in rows] == ["1", "2", ">=3"]
    assert [row["b, ="] for row in rows] == ["10", ">=20", ">=20"]
    assert [row["c"] for row in rows] == ["<=5", "6", "7"]


def test_columns_of_any_role_are_coded_if_they_are_named(tmp_path: Path) -> None:
    columns = {"q": [1, 2, 9], "s": [100, 200, 900], "name": ["x", "y", "z"], "t": ["u", "v", "w"]}
    table = sf.read(pa.table(columns))
    roles = sf.Roles(identifiers=("name",), quasi=("q",), sensitive=("s",), insensitive=("t",))
    made_by = TopBottomCoding(columns="s", top=500)
    publish(made_by(table, roles), roles, made_by.promises, tmp_path / "out.csv")
    rows = read_back(tmp_path / "out.csv")
    assert list(rows[0]) == ["q", "s", "t"]
    assert sorted(row["s"] or "" for row in rows) == ["100", "200", ">=500"]
    # unless columns are named, the quasi-identifiers of numbers are meant
    everywhere = TopBottomCoding(top=9)(table, roles)
    assert everywhere.table.count(("s",)).columns[0].texts == ["100", "200", "900"]
    assert ">=9" in everywhere.table.count(("q",)).columns[0].texts


# --- bounds by share and by rank ------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(
    values=st.lists(st.none() | st.integers(-20, 20), min_size=1, max_size=60),
    share=st.sampled_from([0.0, 0.01, 0.05, 0.25, 0.5]),
    people=st.integers(1, 12),
    end=st.sampled_from(["top", "bottom"]),
)
def test_enough_people_are_behind_a_code_and_no_bound_further_out_has_enough(
    values: list[int | None], share: float, people: int, end: str
) -> None:
    known = sorted(v for v in values if v is not None)
    if not known:
        return
    made_by = TopBottomCoding(people=people, **{f"{end}_share": share})  # type: ignore[arg-type]
    need = max(math.ceil(share * len(known)), people)
    if need > len(known):
        with pytest.raises(Infeasible, match="fewer than"):
            coded(values, made_by)
        return
    texts = coded(values, made_by)
    sign = 1 if end == "top" else -1
    hidden = [
        v for v, text in zip(values, texts, strict=True) if v is not None and text is not None and text[0] in "<>*"
    ]
    assert len(hidden) >= need
    bound = min(hidden, key=lambda v: sign * v)
    (label,) = {text for text in texts if text is not None and text[0] in "<>*"}
    if label == "*":
        assert hidden == [v for v in values if v is not None]
    else:  # an edge between the last value that is shown and the first that is not
        edge = int(label.lstrip("<>="))
        assert all((v >= edge if sign > 0 else v < edge) == (v in hidden) for v in known)
        assert edge not in known or edge - 1 in known
    assert all(
        (text == str(v)) == (sign * v < sign * bound) for v, text in zip(values, texts, strict=True) if v is not None
    )
    assert sum(sign * v > sign * bound for v in known) < need


def test_shares_in_round_numbers() -> None:
    texts = coded(list(range(1, 101)), TopBottomCoding(top_share=0.05, bottom_share=0.02))
    assert Counter(text for text in texts if text and text[0] in "<>") == {">=96": 5, "<3": 2}
    assert coded([1, 2, 3, 4, 5], TopBottomCoding(top_share=0.01, people=3))[1:] == ["2", ">=3", ">=3", ">=3"]


def test_too_few_people_behind_a_bound_of_the_owner_are_refused(refusal: Any, canary: str) -> None:
    table = made({"q": [1, 2, 3, 90, 91], "b": [canary] * 5})
    refusal(
        Infeasible, lambda: TopBottomCoding(top=90, people=3)(table.table, table.roles), "only 2 people", "'q'", "top"
    )
    refusal(
        Infeasible, lambda: TopBottomCoding(bottom=1, people=2)(table.table, table.roles), "only 1 people", "bottom"
    )
    assert coded([1, 2, 3, 90, 91], TopBottomCoding(top=90, people=2))[3:] == [">=90", ">=90"]


# --- the house's rules ---------------------------------------------------------------------------------------------------


def test_codes_cover_what_they_replace_and_lose_as_much_as_they_leave_open() -> None:
    table = made({"q": list(range(10))})
    release = TopBottomCoding(top=7, bottom=1)(table.table, table.roles)
    column = table.table.count(("q",)).columns[0]
    before, after, _ = release.evidence(table.roles).pairs("q", "test")
    for original, label in zip(before, after, strict=True):
        assert Domain(column).mask(label)[column.texts.index(original)]
    # three of ten values at the top leave 2 others open, two at the bottom leave 1
    assert sf.iloss(release, table.roles).value == pytest.approx((3 * 2 + 2 * 1) / 10 / 10)
    assert sf.k_anonymity(release, table.roles).value == 1


def test_refusals(refusal: Any, canary: str) -> None:
    table = made({"a": [1, 2, 3, 4], "b": [canary, "x", "y", "z"]}, list("uvuv"))
    call = lambda m, roles=table.roles: lambda: m(table.table, roles)  # noqa: E731
    refusal(InputError, lambda: TopBottomCoding(top=1, people=0), "people")
    refusal(InputError, lambda: TopBottomCoding(top_share=1.1), "top_share")
    refusal(InputError, lambda: TopBottomCoding(bottom_share=-0.1), "bottom_share")
    refusal(InputError, lambda: TopBottomCoding(top=1, top_share=0.1), "both")
    refusal(InputError, lambda: TopBottomCoding(top=math.inf), "finite")
    refusal(InputError, lambda: TopBottomCoding(bottom="a=nan"), "'a'")
    refusal(InputError, lambda: TopBottomCoding(bottom="high"), "bottom")
    refusal(InputError, call(TopBottomCoding()), "needs a bound")
    refusal(InputError, call(TopBottomCoding(columns="b", top=1)), "'b'", "not all numbers")
    refusal(InputError, call(TopBottomCoding(top="b=1")), "'b'", "not all numbers")
    refusal(InputError, call(TopBottomCoding(columns="z", top=1)), "'z'")
    refusal(InputError, call(TopBottomCoding(columns="a", top="z=1")), "'z'", "columns")
    refusal(InputError, call(TopBottomCoding(top=2, bottom=3)), "meet", "'a'")
    refusal(InputError, call(TopBottomCoding(top_share=0.6, bottom_share=0.6)), "meet")
    refusal(
        InputError, call(TopBottomCoding(top=2), replace(table.roles, quasi=("b",))), "no quasi-identifier is a number"
    )
    people = replace(table.roles, quasi=("a",), person="s", sensitive=())
    refusal(InputError, call(TopBottomCoding(top_share=0.1), people), "several rows")
    refusal(InputError, call(TopBottomCoding(top=3), people), "several rows")


def test_no_rows_are_refused() -> None:
    empty = sf.read(pa.table({"q": pa.array([], pa.int64())}))
    with pytest.raises(InputError, match="no rows"):
        TopBottomCoding(top=2)(empty, sf.Roles(quasi=("q",)))
