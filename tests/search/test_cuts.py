"""Optimal cuts: extremes, ties and labels by hand, what hierarchies are made of them, and what is refused."""

from __future__ import annotations

import datetime
import itertools
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError, SfumatoError, Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Recoding, Table
from sfumato.search.additive import Additive
from sfumato.search.cuts import Cuts, optimal_cuts

ROLES = Roles(quasi=("a",), sensitive=("w",))
Make = Callable[[dict[str, Any]], Table]


def require(*texts: str) -> list[Any]:
    return [sf.require(text) for text in texts]


@pytest.fixture
def eight(table: Make) -> Table:
    """Eight values, two rows each: the first half has x and y, the second half z alone."""
    return table({"a": [*range(1, 9), *range(1, 9)], "w": [*"xxyyzzzz", *"xxyyzzzz"]})


# --- extremes --------------------------------------------------------------------------------------------------------


def test_without_requirements_every_value_that_tells_something_is_a_range(table: Make) -> None:
    """All distributions differ, so I(W;C) is largest with every value for itself, and nothing is lost."""
    made = table({"a": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4], "w": [*"xxx", *"xxy", *"xyy", "y"]})
    found = optimal_cuts(made, ROLES, "a")
    assert found.cuts == [2, 3, 4]
    assert found.rows == [3, 3, 3, 1]
    assert found.information_loss == pytest.approx(0, abs=1e-12)
    assert found.objective == pytest.approx(sf.mutual_information(Release(table=made), ROLES).value, abs=1e-12)


@pytest.mark.parametrize("objective", ["loss", "granularity", "iloss", "discernibility"])
def test_without_requirements_least_loss_is_no_loss(eight: Table, objective: str) -> None:
    found = optimal_cuts(eight, ROLES, "a", objective=objective)
    assert found.cuts == [2, 3, 4, 5, 6, 7, 8]
    assert found.objective == (8 * 4 if objective == "discernibility" else 0)
    assert found.information_loss is None


@pytest.mark.parametrize("more", [{"require": require("k_anonymity >= 16")}, {"max_ranges": 1}], ids=["k = N", "one"])
def test_a_single_range(eight: Table, more: dict[str, Any]) -> None:
    found = optimal_cuts(eight, ROLES, "a", **more)
    assert (found.cuts, found.labels, found.rows, found.ranges) == ([], ["*"], [16], 1)
    assert found.objective == 0
    assert found.information_loss == 1
    loss = optimal_cuts(eight, ROLES, "a", objective="loss", **more)
    assert (loss.objective, loss.cuts) == (1, [])
    assert optimal_cuts(eight, ROLES, "a", objective="iloss", **more).objective == pytest.approx(7 / 8)


def test_a_column_of_one_value(table: Make) -> None:
    found = optimal_cuts(table({"a": [5, 5], "w": ["x", "y"]}), ROLES, "a")
    assert (found.cuts, found.labels, found.checked, found.feasible) == ([], ["*"], 1, 1)
    assert found.information_loss is None  # there was nothing to lose


def test_k_one_more_than_the_rows(eight: Table, refusal: Any) -> None:
    refusal(
        Infeasible, lambda: optimal_cuts(eight, ROLES, "a", require=require("k_anonymity >= 17")), "17", "16", "'a'"
    )


# --- ties ------------------------------------------------------------------------------------------------------------


def test_neighbours_that_tell_the_same_stay_together(eight: Table) -> None:
    """Cuts between equal distributions bring nothing, rounding aside: fewest ranges."""
    found = optimal_cuts(eight, ROLES, "a")
    assert found.cuts == [3, 5]
    assert found.objective == pytest.approx(1.5)
    thirds = [1, 1, 1, 2, 2, 2, 3, 3, 3, 7, 7, 7]
    made = sf.read(pa.table({"a": thirds * 7, "w": [*"xyzxyzxyzxyy"] * 7}))
    assert optimal_cuts(made, ROLES, "a").cuts == [5]


def test_of_equal_cuts_the_earliest(table: Make) -> None:
    """Two ranges of 3 + 1 rows lose as much as 1 + 3: the first cut is the earlier one."""
    made = table({"a": [1, 2, 3, 4], "w": ["x"] * 4})
    roles = Roles(quasi=("a",))
    assert optimal_cuts(made, roles, "a", objective="discernibility", max_ranges=2).cuts == [3]
    assert optimal_cuts(made, roles, "a", objective="discernibility", max_ranges=3).cuts == [2, 3]
    assert optimal_cuts(table({"a": [1, 2, 3]}), roles, "a", objective="loss", max_ranges=2).cuts == [2]


def test_more_ranges_are_never_worse_and_stop_where_nothing_is_gained(eight: Table) -> None:
    worths = [optimal_cuts(eight, ROLES, "a", max_ranges=most).objective for most in range(1, 9)]
    assert worths == sorted(worths)
    assert optimal_cuts(eight, ROLES, "a", max_ranges=8).cuts == optimal_cuts(eight, ROLES, "a").cuts


def test_row_order_and_kind_of_file_make_no_difference(tmp_path: Path, table: Make) -> None:
    a, w = [30, 20, 100, 9, 20, 100, 30, 9], [*"xyxyzzxy"]
    (tmp_path / "t.csv").write_text("a,w\n" + "".join(f"{x},{y}\n" for x, y in zip(a, w, strict=True)))
    made = [table({"a": a, "w": w}), table({"a": a[::-1], "w": w[::-1]}), sf.read(tmp_path / "t.csv")]
    found = [optimal_cuts(t, ROLES, "a", require=require("k_anonymity >= 2")) for t in made]
    assert found[0].cuts == [10, 25, 50]  # by number, not by letter
    assert all(type(cut) is int for cut in found[2].cuts)
    assert len({(tuple(f.cuts), tuple(f.labels), f.objective) for f in found}) == 1


# --- order and labels ------------------------------------------------------------------------------------------------


def labels(values: list[Any], roles: Roles = ROLES, **more: Any) -> Cuts:
    """Every value alone but where k = 2 asks for company."""
    made = sf.read(pa.table({"a": values, "w": [str(i) for i in range(len(values))]}))
    return optimal_cuts(made, roles, "a", objective="loss", **more)


def test_numbers_are_spelled_as_cuts_in_a_roles_file() -> None:
    found = labels([1, 1, 2.5, 2.5, 1e20, 1e20, -3, -3], require=require("k_anonymity >= 4"))
    assert (found.cuts, found.labels) == ([2], ["<2", ">=2"])
    assert labels([1, 2, 3]).labels == ["<2", "[2,3)", ">=3"]


def test_equal_numbers_that_are_written_in_two_ways_are_not_cut_apart() -> None:
    found = labels(["1", "1.0", "2", "3.50", "3.5"])
    assert (found.cuts, found.rows) == ([1.5, 3], [2, 1, 2])
    assert found.objective == pytest.approx((2 + 0 + 2) / 5 / 4)  # two values of five share a label, twice
    assert found.hierarchy().levels[0] == ("1", "1.0", "2", "3.5", "3.50")


def test_dates_from_first_to_last() -> None:
    days = [datetime.date(2024, 5, d) for d in (1, 2, 7, 9)]
    found = labels(days, require=require("k_anonymity >= 2"))
    assert (found.cuts, found.labels) == (["2024-05-03"], ["<2024-05-03", ">=2024-05-03"])
    assert labels([str(day) for day in days], require=require("k_anonymity >= 2")).labels == found.labels
    assert labels(["2024-05-01", "2024-05-02", "2024-05-02"]).labels == ["2024-05-01", "2024-05-02"]


def test_a_stated_order_gives_sets() -> None:
    roles = Roles(quasi=("a",), sensitive=("w",), orders={"a": ("low", "middle", "high", "extreme")})
    found = labels(["high", "low", "extreme", "middle"], roles, require=require("k_anonymity >= 2"))
    assert (found.cuts, found.labels) == (["high"], ["{low, middle}", "{high, extreme}"])
    days = Roles(quasi=("a",), orders={"a": ("2024-01-02", "2024-01-01", "2023-01-01", "2025-01-01")})
    made = labels(list(days.orders["a"]), days, require=require("k_anonymity >= 2"))
    assert made.labels == ["{2024-01-02, 2024-01-01}", "{2023-01-01, 2025-01-01}"]  # not the calendar's order


def test_quantities_are_ordered_by_their_numbers() -> None:
    found = labels(["10K", "9K", "100K", "2K"], require=require("k_anonymity >= 2"))
    assert found.labels == ["{2K, 9K}", "{10K, 100K}"]


def test_values_without_an_order_are_refused(refusal: Any) -> None:
    text = refusal(InputError, lambda: labels(["Rome", "Oslo", "Bern"]), "'a'", "[orders]")
    assert "Rome" not in text
    with pytest.raises(Unavailable, match="lacks 1 of its values"):
        labels(["Rome", "Oslo", "Bern"], Roles(quasi=("a",), orders={"a": ("Rome", "Oslo")}))
    refusal(InputError, lambda: labels([1.0, math.inf]), "'a'", "infinite")


# --- missing values --------------------------------------------------------------------------------------------------


def test_missing_values_are_a_class_of_their_own(table: Make) -> None:
    made = table({"a": [1, 1, 2, 2, None, None], "w": [*"xyxyzz"]})
    found = optimal_cuts(made, ROLES, "a", require=require("k_anonymity >= 2"))
    assert (found.cuts, found.rows, found.missing) == ([], [4], 2)
    assert found.labels == ["(-Inf,Inf)"]  # not *, which would cover the missing value too
    assert found.reached == {"k_anonymity >= 2": [4]}
    assert found.missing_reached == {"k_anonymity >= 2": 2}
    # z tells that the value is missing: the class counts in the objective
    assert found.objective == pytest.approx(sf.mutual_information(Release(table=made), ROLES).value)
    assert found.hierarchy().levels == (("1", "2"), ("(-Inf,Inf)", "(-Inf,Inf)"), ("*", "*"))
    assert optimal_cuts(made, ROLES, "a", objective="iloss", max_ranges=1).objective == pytest.approx(4 / 6 / 3)


def test_missing_values_must_meet_the_requirements_too(table: Make, refusal: Any) -> None:
    made = table({"a": [1, 2, 3, None], "w": [*"xxyy"]})
    refusal(
        Infeasible,
        lambda: optimal_cuts(made, ROLES, "a", require=require("k_anonymity >= 2")),
        "without a value",
        "reach 1",
    )


def test_a_column_of_missing_values_only(table: Make, refusal: Any) -> None:
    made = table({"a": pa.array([None, None], pa.int64()), "w": ["x", "y"]})
    refusal(InputError, lambda: optimal_cuts(made, ROLES, "a"), "no value")


# --- other columns held ----------------------------------------------------------------------------------------------


def test_every_class_inside_a_range_must_meet_it(table: Make, refusal: Any) -> None:
    """Beside sex the second value has one woman and one man, who need the third and one of their neighbours."""
    made = table({"a": [1, 1, 2, 2, 3, 3, 4, 4], "sex": [*"fffmmmff"], "w": ["x", "y"] * 4})
    roles = Roles(quasi=("a", "sex"), sensitive=("w",))
    asked = {"objective": "loss", "require": require("k_anonymity >= 2")}
    assert optimal_cuts(made, roles, "a", **asked).cuts == [2, 3, 4]
    beside = optimal_cuts(made, roles, "a", levels={"sex": 0}, **asked)
    assert (beside.cuts, beside.rows) == ([2], [2, 6])  # of two equally good ones the earlier cut
    assert beside.reached == {"k_anonymity >= 2": [2, 3]}
    assert optimal_cuts(made, roles, "a", levels={"sex": 1}, **asked).cuts == [2, 3, 4]  # level 1 is *
    refusal(
        Infeasible,
        lambda: optimal_cuts(made, roles, "a", levels={"sex": 0}, require=require("k_anonymity >= 4")),
        "in its worst class",
        "reaches 3",
    )


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ({"sex": 2}, ["'sex'", "0 to 1"]),
        ({"sex": -1}, ["'sex'", "-1"]),
        ({"a": 0}, ["'a'", "cut"]),
        ({"w": 0}, ["'w'", "quasi-identifier"]),
    ],
)
def test_levels_that_are_none(table: Make, refusal: Any, levels: dict[str, int], words: list[str]) -> None:
    made = table({"a": [1, 2], "sex": ["f", "m"], "w": ["x", "y"]})
    roles = Roles(quasi=("a", "sex"), sensitive=("w",))
    refusal(InputError, lambda: optimal_cuts(made, roles, "a", levels=levels), *words)


# --- the numbers are what the metrics say of the release -------------------------------------------------------------


def test_the_objectives_are_the_metrics_of_the_release() -> None:
    a = [1, 1, 2, 3, 3, 3, 4, 5, 5, 7, 8, 8, None, None]
    table = sf.read(pa.table({"a": a, "b": [*"uvuvuvuvuvuvuv"], "w": [*"xyyxyzzxyzxyxy"]}))
    roles = Roles(quasi=("a", "b"), sensitive=("w",))
    for held, (name, metric) in itertools.product(
        (0, 1),
        {
            "mutual_information": "mutual_information",
            "iloss": "iloss",
            "granularity": "granularity",
            "loss": "arx_loss[arithmetic]",
            "discernibility": "discernibility",
        }.items(),
    ):
        found = optimal_cuts(table, roles, "a", objective=name, max_ranges=3, levels={"b": held})
        hierarchy = found.hierarchy()
        label = dict(zip(hierarchy.levels[0], hierarchy.levels[1], strict=True))
        counts = table.count(("a", "b"))
        before = [[c.texts[i] for i in codes] for c, codes in zip(counts.columns, counts.codes, strict=True)]
        after = [[None if x is None else label[x] for x in before[0]], before[1] if held == 0 else ["*"] * len(counts)]
        columns = pa.table([*before, *after, counts.n.tolist()], names=["by0", "by1", "to0", "to1", "n"])
        recoding = Recoding(("a", "b"), ("a", "b"), columns)
        release = Release(table=table.recode(recoding), original=table, recoding=recoding)
        about = Roles(quasi=("a", "b"), sensitive=("w",), hierarchies={"a": hierarchy})
        score = sf.metric(metric)(release, about)
        measured = score.details["columns"]["a"] if "loss" in metric or name == "granularity" else score.value
        assert found.objective == pytest.approx(measured, abs=1e-12), (name, held)
        if name == "mutual_information":
            assert found.information_loss == pytest.approx(sf.information_loss(release, about).value, abs=1e-12)


def test_an_objective_of_ones_own_is_one_function(eight: Table) -> None:
    largest_square = Additive("largest_square", "higher", "rows", lambda spans: spans.classes.size.astype(float) ** 2)
    found = optimal_cuts(eight, ROLES, "a", objective=largest_square, require=require("k_anonymity >= 2"))
    assert (found.cuts, found.objective, found.aim.name) == ([], 256, "largest_square")


# --- hierarchies -----------------------------------------------------------------------------------------------------


@pytest.fixture
def graded(table: Make) -> Table:
    """Sixteen values whose share of x rises."""
    return table(
        {"a": [i for i in range(16) for _ in range(16)], "w": ["xy"[j > i] for i in range(16) for j in range(16)]}
    )


def test_a_hierarchy_that_is_saved_and_used(graded: Table, tmp_path: Path) -> None:
    found = optimal_cuts(graded, ROLES, "a", max_ranges=8, require=require("k_anonymity >= 20"))
    hierarchy = found.hierarchy((4, 2))
    assert hierarchy.height == 4
    assert [len(set(level)) for level in hierarchy.levels] == [16, 8, 4, 2, 1]
    hierarchy.write(tmp_path / "a.csv")
    roles = Roles(quasi=("a",), sensitive=("w",), hierarchies={"a": "a.csv"}, folder=tmp_path)
    read = roles.hierarchy(graded.count(("a",)).columns[0])
    assert read is not None
    assert read.levels == hierarchy.levels
    cuts = [found.cuts, found.coarser(4).cuts, found.coarser(4).coarser(2).cuts]
    rule = Roles(quasi=("a",), hierarchies={"a": {"cuts": cuts}}).hierarchy(graded.count(("a",)).columns[0])
    assert rule is not None
    assert rule.levels == hierarchy.levels
    release = sf.Mondrian(k=20)(graded, roles)  # a sanitizer takes it
    assert set(release.evidence(roles).tuples.column("a").texts) <= {label for level in read.levels for label in level}


def test_levels_that_merge_nothing_are_left_out(graded: Table) -> None:
    found = optimal_cuts(graded, ROLES, "a", max_ranges=2)
    assert found.hierarchy((8, 4, 2, 1)).levels == found.hierarchy().levels
    assert optimal_cuts(graded, ROLES, "a", max_ranges=1).hierarchy((1,)).height == 1
    assert found.coarser(2).cuts == found.cuts


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"require": require("marketer_risk <= 0.2")}, InputError, ["marketer_risk <= 0.2", "whole table"]),
        ({"require": require("entropy_l_diversity(a) >= 2")}, InputError, ["'a'", "quasi-identifier"]),
        ({"require": require("entropy_l_diversity(z) >= 2")}, InputError, ["'z'"]),
        ({"objective": "mutual_informatoin"}, InputError, ["mutual_information"]),
        ({"objective": "height"}, InputError, ["'height'", "loss"]),
        ({"max_ranges": 0}, InputError, ["at least 1"]),
        ({"sensitive": "a"}, InputError, ["'a'"]),
        ({"sensitive": "z"}, InputError, ["'z'"]),
        ({"sensitive": "w", "objective": "loss"}, InputError, ["loss", "'w'"]),
        ({"require": require("t_closeness[ordered] <= 0.5")}, Unavailable, ["[orders]"]),
    ],
)
def test_what_cannot_be_asked(
    eight: Table, refusal: Any, arguments: dict[str, Any], kind: type[SfumatoError], words: list[str]
) -> None:
    refusal(kind, lambda: optimal_cuts(eight, ROLES, "a", **arguments), *words)


def test_columns_that_do_not_fit(eight: Table, table: Make, refusal: Any) -> None:
    refusal(InputError, lambda: optimal_cuts(eight, ROLES, "w"), "'w'", "no quasi-identifier")
    refusal(InputError, lambda: optimal_cuts(eight, Roles(quasi=("a", "gone")), "a"), "'gone'")
    refusal(InputError, lambda: optimal_cuts(eight, Roles(quasi=("a",)), "a"), "names none", "--sensitive")
    two = table({"a": [1, 2], "v": ["x", "y"], "w": ["x", "x"]})
    several = Roles(quasi=("a",), sensitive=("v", "w"))
    refusal(InputError, lambda: optimal_cuts(two, several, "a"), "several", "--sensitive")
    assert optimal_cuts(two, several, "a", sensitive="v").objective == 1
    assert optimal_cuts(two, several, "a", sensitive="w").objective == 0
    refusal(
        InputError,
        lambda: optimal_cuts(
            eight, Roles(quasi=("a",)), "a", objective="loss", require=require("distinct_l_diversity >= 2")
        ),
        "names none",
    )
    refusal(InputError, lambda: optimal_cuts(table({"a": pa.array([], pa.int64()), "w": []}), ROLES, "a"), "no rows")


def test_several_sensitive_columns_all_count(table: Make) -> None:
    made = table({"a": [1, 2, 3, 4], "v": [*"xxyy"], "w": [*"xyxy"]})
    roles = Roles(quasi=("a",), sensitive=("v", "w"))
    found = optimal_cuts(made, roles, "a", objective="loss", require=require("distinct_l_diversity >= 2"))
    assert found.cuts == []  # v asks for all, w for halves
    alone = optimal_cuts(made, roles, "a", objective="loss", require=require("distinct_l_diversity(w) >= 2"))
    assert alone.cuts == [3]


def test_people_with_several_rows_are_refused(table: Make, refusal: Any) -> None:
    made = table({"who": [1, 1, 2], "a": [1, 2, 3], "w": [*"xyz"]})
    roles = Roles(quasi=("a",), sensitive=("w",), person="who")
    refusal(InputError, lambda: optimal_cuts(made, roles, "a"), "'who'", "several rows")
    optimal_cuts(table({"who": [1, 3, 2], "a": [1, 2, 3], "w": [*"xyz"]}), roles, "a")


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        ("cuts._PLACES", 7, ["7 places", "rounded"]),
        ("cuts._WORK", 100, ["entries", "hold"]),
        ("ordered_ranges._ROOM", 20, ["8 values", "hold"]),
    ],
)
def test_too_large_is_refused_with_advice(
    eight: Table, refusal: Any, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, words: list[str]
) -> None:
    monkeypatch.setattr(f"sfumato.search.{limit}", value)
    refusal(InputError, lambda: optimal_cuts(eight, ROLES, "a"), *words)


def test_a_thousand_values_take_seconds(table: Make) -> None:
    """Half a million ranges of fifteen sensitive values each, none of which can be spared."""
    a = [i for i in range(1000) for _ in range(20)]
    made = table({"a": a, "w": [f"w{(i * 7919 + i // 20) % 15}" for i in range(len(a))]})
    began = time.process_time()
    found = optimal_cuts(made, ROLES, "a", require=require("k_anonymity >= 2", "entropy_leakage <= 3"), max_ranges=20)
    assert time.process_time() - began < 20
    assert (found.ranges, found.checked) == (20, 1000 * 1001 // 2)


def test_no_value_stands_in_a_message(table: Make, canary: str, refusal: Any) -> None:
    made = table({"a": [canary, "b", "c"], "w": [canary, "y", "z"]})
    refusal(InputError, lambda: optimal_cuts(made, ROLES, "a"))
    stated = Roles(quasi=("a",), sensitive=("w",), orders={"a": (canary, "b", "c")})
    refusal(Infeasible, lambda: optimal_cuts(made, stated, "a", require=require("k_anonymity >= 4")))
    refusal(
        Infeasible, lambda: optimal_cuts(made, stated, "a", require=require("entropy_leakage <= 1", "k_anonymity >= 9"))
    )


def test_progress_rises_to_the_end(graded: Table) -> None:
    told: list[float] = []
    optimal_cuts(graded, ROLES, "a", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1
