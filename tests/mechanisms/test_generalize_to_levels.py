"""`generalize_to_levels`: a policy that the owner names, applied by hand, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.table import Table
from sfumato.mechanisms import mechanism
from sfumato.metrics import metric, require
from sfumato.search.frontier import policy_frontier

CANARY = "Quixotic7741"
AGES = [21, 22, 23, 34, 35, 36, 47, 48]
TOWNS = ["aa", "ab", "aa", "ba", "bb", "ba", None, CANARY]
ROLES = sf.Roles(
    quasi=("age", "town"),
    sensitive=("ill",),
    hierarchies={
        "age": {"widths": [10, 20]},
        "town": Hierarchy.of("town", [[t, t[0], "*"] for t in ("aa", "ab", "ba", "bb", CANARY)]),
    },
    source="roles.toml",
)


@pytest.fixture(scope="module")
def eight(table: Callable[..., Table]) -> Table:
    return table({"age": AGES, "town": TOWNS, "ill": list("xyxyxyxy")})


def made(text: str, **more: str) -> Any:
    return mechanism("generalize_to_levels").of({"levels": text, **more})


def rows(release: Release) -> list[tuple[str | None, ...]]:
    counts = release.table.count(("age", "town"))
    columns = [[c.texts[i] for i in codes] for c, codes in zip(counts.columns, counts.codes, strict=True)]
    return sorted((row for row, n in zip(zip(*columns, strict=True), counts.n, strict=True) for _ in range(n)), key=str)


# --- in Python -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ({"age": 1}, "age=1"),
        ({"town": 2, "age": np.int64(0)}, "town=2,age=0"),
        ({'a, "b"': 1}, '"a, ""b"""=1'),
        ([1, 0], "1,0"),
        ((1, 0), "1,0"),
        ("age=1", "age=1"),
    ],
)
def test_levels_by_column_or_in_order_are_their_text(levels: Any, text: str) -> None:
    assert sf.GeneralizeToLevels(levels=levels) == made(text)


def test_a_mapping_gives_the_release_of_its_text(eight: Table) -> None:
    assert rows(sf.GeneralizeToLevels(levels={"age": 1})(eight, ROLES)) == rows(made("age=1")(eight, ROLES))


@pytest.mark.parametrize("levels", [{"age": 1.5}, {"age": "1"}, {"age": -1}, {"age": True}, {3: 1}, [None], 1, None])
def test_what_is_no_level_is_said_in_a_sentence(levels: Any) -> None:
    with pytest.raises(
        InputError, match=r"^generalize_to_levels: levels must be a whole number from 0 for each column.*\.$"
    ):
        sf.GeneralizeToLevels(levels=levels)


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_level_0_is_the_table_itself(eight: Table) -> None:
    release = made("0,0")(eight, ROLES)
    assert rows(release) == sorted(((str(a), t) for a, t in zip(AGES, TOWNS, strict=True)), key=str)
    assert release.table.columns == ("age", "town", "ill")
    assert metric("iloss")(release, ROLES).value == 0


def test_the_top_is_one_class(eight: Table) -> None:
    release = made("3,2")(eight, ROLES)
    assert set(rows(release)) == {("*", "*")}
    assert metric("k_anonymity")(release, ROLES).value == 8


def test_in_between_by_hand(eight: Table) -> None:
    """Decades of ages; a missing town stays missing until the top."""
    release = made("1,0")(eight, ROLES)
    decades = [row[0] for row in rows(release)]
    assert len(set(decades)) == 3
    assert [decades.count(d) for d in sorted(set(decades), key=str)] == [3, 3, 2]
    assert sum(town is None for _, town in rows(release)) == 1
    firsts = {town for _, town in rows(made("0,1")(eight, ROLES))}
    assert len(firsts) == 4  # a, b, Q, and the missing one
    assert None in firsts


@pytest.mark.parametrize(
    ("text", "same"),
    [("age=1,town=1", "1,1"), ("town=1", "0,1"), ("age=2", "2,0"), (" 1 , 1 ", "1,1"), ("town=1, age=2", "2,1")],
)
def test_levels_by_name(eight: Table, text: str, same: str) -> None:
    assert rows(made(text)(eight, ROLES)) == rows(made(same)(eight, ROLES))


def test_every_node_is_what_the_frontier_says_of_it(eight: Table) -> None:
    found = policy_frontier(eight, ROLES)
    for node in found.nodes:
        release = made(",".join(str(node.levels[q]) for q in ROLES.quasi))(eight, ROLES)
        measured = metric(found.risk.name)(release, ROLES).value
        assert measured == pytest.approx(node.risk)


# --- requirements ----------------------------------------------------------------------------------------------------


def test_what_misses_is_suppressed_up_to_the_limit(eight: Table, tmp_path: Path) -> None:
    """By decade and first letter there are classes of 3, 3, 1 and 1: two rows of eight must go for k = 2."""
    asked = made("1,1", k="2", suppression="0.25")
    release = asked(eight, ROLES)
    assert release.table.rows == 6
    assert metric("k_anonymity")(release, ROLES).value == 3
    sf.publish(release, ROLES, asked.promises, tmp_path / "out.csv")
    with pytest.raises(Infeasible, match=r"2 of 8 rows miss k_anonymity >= 2, more than the 20%"):
        made("1,1", k="2", suppression="0.2")(eight, ROLES)
    with pytest.raises(Infeasible, match="more than the 0%"):
        made("1,1", k="2")(eight, ROLES)


def test_everything_may_not_go(eight: Table) -> None:
    """Never an empty table, even where all of it may be suppressed."""
    with pytest.raises(Infeasible):
        made("0,0", k="2", suppression="1")(eight, ROLES)


@pytest.mark.parametrize(
    "text",
    [
        "distinct_l_diversity >= 2",
        "t_closeness[equal] <= 0.2",
        "prosecutor_risk <= 0.34",
        "marketer_risk <= 0.4",
        "iloss <= 0.9",
    ],
)
@pytest.mark.parametrize("levels", ["1,1", "2,1", "3,2"])
def test_every_kind_of_requirement_is_met_or_refused(eight: Table, text: str, levels: str) -> None:
    asked = mechanism("generalize_to_levels").of({"levels": levels, "suppression": "0.5"}, (require(text),))
    assert asked.honours(require(text))
    first = made(levels)(eight, ROLES)
    if text == "iloss <= 0.9" and not require(text).check(first, ROLES).met:
        with pytest.raises(Infeasible, match=re.escape(text)):  # about the table as a whole: no row to suppress
            asked(eight, ROLES)
        return
    release = asked(eight, ROLES)
    assert release.table.rows >= 4
    assert require(text).check(release, ROLES).met


def test_without_requirements_nothing_is_suppressed(eight: Table) -> None:
    asked = made("1,1", suppression="1")
    assert asked.promises == ()
    assert asked(eight, ROLES).table.rows == 8


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs levels"),
        ("  ", "needs levels"),
        ("1", "1 levels for 2 quasi-identifiers"),
        ("1,1,1", "3 levels for 2"),
        ("4,0", "age"),
        ("0,9", "town"),
        ("age=9", "age"),
        ("-1,0", "generalize_to_levels"),
        ("age=-1", "age"),
        ("age=1.5", "whole number"),
        ("1.5,0", "generalize_to_levels"),
        ("nowhere=1", "nowhere"),
        ("ill=1", "ill"),
        ("age=x", "age"),
        ("age", "generalize_to_levels"),
        ("age=1,age=2", "age"),
        ("age=1e999", "age"),
        ("²,0", "generalize_to_levels"),
    ],
)
def test_levels_that_are_none(eight: Table, refusal: Callable[..., str], text: str, words: str) -> None:
    refusal(InputError, lambda: made(text)(eight, ROLES), words)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"suppression": "2"}, "suppression"),
        ({"suppression": "-0.1"}, "suppression"),
        ({"suppression": "nan"}, "suppression"),
        ({"suppression": "x"}, "suppression"),
        ({"k": "0"}, "k must be at least 1"),
        ({"k": "2.5"}, "whole"),
    ],
)
def test_numbers_that_are_none(refusal: Callable[..., str], settings: dict[str, str], words: str) -> None:
    refusal(InputError, lambda: made("1,1", **settings), words)


def test_roles_and_tables_that_do_not_fit(
    eight: Table, table: Callable[..., Table], refusal: Callable[..., str]
) -> None:
    refusal(InputError, lambda: made("1")(eight, sf.Roles(quasi=("nowhere",))), "nowhere")
    with pytest.raises(sf.core.errors.SfumatoError):
        made("1")(eight, sf.Roles())
    with pytest.raises(sf.core.errors.SfumatoError):
        made("1,1")(table({"age": [], "town": [], "ill": []}), ROLES)
