"""What an owner is told before and after a study that no limit speaks of."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.metrics import metric, require
from sfumato.study.advice import advice
from sfumato.study.candidate import Candidate, grid
from sfumato.study.default_candidates import candidates, overlooked
from sfumato.study.study import Study
from study_house import memory


def said(values: list[Any], **rules: Any) -> list[str]:
    table = sf.read(pa.table({"q": values}))
    return overlooked(table, sf.Roles(quasi=("q",), hierarchies=rules), ())


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([*(f"{i},5" for i in range(19)), "soon"], "numbers"),
        (["1,234", "12,000", "7"], "numbers"),
        ([*(f"{i}.12.2024" for i in range(1, 20)), "31.02.1999"], "dates"),
        (["12/31/2024", "01/02/2024", "3/4/99"], "dates"),
        (["1/2/2024", "1/3/2024", "2/3/2024"], "dates"),
    ],
)
def test_what_is_not_read_as_it_looks_is_told_without_a_value(values: list[str], word: str) -> None:
    (text,) = said(values)
    assert word in text
    assert "'q'" in text
    assert not any(value in text for value in values)


@pytest.mark.parametrize(
    "values",
    [
        ["00501", "00544", "10001", "94110"],  # codes: leading zeros, and no comma anywhere
        [1, 2, 3, 4],
        ["1.5", "2.5", "3.5"],
        ["2024-01-01", "2024-02-01", "2024-03-01"],
        ["a", "b", "c"],
        ["1,5", "2,25", "17,0", "4"],
        ["1.234,5", "12.000,25", "7,0"],
        ["03.12.2024", "5.3.2024", "31.01.1999"],
        ["1,234", "2,500"],  # too few to say
        ["1,5", "x", "y", "z"],
    ],
)
def test_nothing_is_said_of_what_is_read_as_it_looks(values: list[Any]) -> None:
    assert said(values) == []


def study(*texts: str, asked: tuple[str, ...] = ("k_anonymity >= 3",)) -> Study:
    table = sf.read(pa.table({"q": ["a"] * 6 + ["b"] * 4 + ["c"]}))
    return Study(
        table=table,
        roles=sf.Roles(quasi=("q",)),
        candidates=grid(texts),
        require=tuple(require(text) for text in asked),
        measures=(),
        utility=metric("iloss"),
    )


def test_rows_that_are_left_out_are_told() -> None:
    """c is alone: it is suppressed, one of eleven rows; where nobody is left out nothing is said."""
    gone = advice(study("generalize_full_domain k=3 minimise=iloss suppression=0.2").run(refine=0))
    assert any("1 of 11 rows (9.09%) are left out" in text for text in gone.of("beware"))
    assert not advice(study("k_member k=3").run(refine=0)).of("beware")


def test_the_nearest_is_the_one_that_misses_by_least() -> None:
    """Both miss one limit; classes of 6 and 5 come nearer to 9 than a row that is alone."""
    found = study("generalize_to_levels levels=0", "k_member k=4", asked=("k_anonymity >= 9", "iloss <= 0.9")).run(
        refine=0
    )
    (_, nearest) = advice(found).of("unreached")
    assert nearest.startswith("The closest is k_member k=4, which misses 1 requirement: k_anonymity reaches 5")


def test_the_table_itself_is_no_step() -> None:
    found = study("generalize_to_levels levels=0", "k_member k=3").run(refine=0)
    told = advice(found)
    assert found.points[0].value(found.study.risk) == 1
    assert not told.of("down")
    assert told.of("cost") == [
        "No candidate on the map has a better ILoss, apart from those with the largest risk and no loss at all."
    ]
    assert isinstance(found.points[1].candidate, Candidate)


def test_a_large_table_begins_with_what_is_made_soonest_and_is_clustered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table, roles = memory(), sf.Roles(quasi=("age", "zip"), sensitive=("ill",))
    asked = (require("k_anonymity >= 3"),)
    small = candidates(table, roles, asked, metric("iloss"))
    monkeypatch.setattr("sfumato.study.default_candidates.LARGE", 0)
    large = candidates(table, roles, asked, metric("iloss"))
    assert large[0].family == "mondrian"
    assert small[0].family == "generalize_full_domain"
    clustered = [made.text for made in large if made.family == "k_member"]
    assert len(clustered) == 1 < sum(made.family == "k_member" for made in small)
    assert "fit_queries=true" in clustered[0].lower()
