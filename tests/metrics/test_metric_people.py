"""(X,Y)-anonymity and MultiR-anonymity: several rows per person, several tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.errors import Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table

JOBS = {  # Manta, table 3.6, left, generalized as in 3.7
    "pid": ["1", "2", "3", "4", "5", "6", "7"],
    "job": ["Professional"] * 3 + ["Artist"] * 4,
    "disease": ["Hepatitis", "Hepatitis", "HIV", "Flu", "HIV", "HIV", "HIV"],
}
PERSONS = {"pid": JOBS["pid"], "sex": ["male"] * 3 + ["female"] * 4, "age": ["[35-40)"] * 7}
MANTA = Roles(quasi=("job", "sex", "age"), sensitive=("disease",), person="pid")
VISITS = Roles(quasi=("q",), person="id")


# --- (X,Y) -----------------------------------------------------------------------------------------------------------


def test_manta_table_4_three_rows_of_two_people(release: Callable[..., Release]) -> None:
    rows = {"pid": ["1", "2", "1"], "job": ["Professional"] * 3, "sex": ["male"] * 3, "age": ["[35-40)"] * 3}
    published = release({**rows, "disease": ["Hepatitis", "Hepatitis", "HIV"]})
    assert sf.xy_anonymity(published, MANTA).value == 2
    assert sf.k_anonymity(published, MANTA).value == 2  # people, since the table carries them
    assert sf.k_anonymity(published, Roles(quasi=MANTA.quasi)).value == 3


def test_one_person_behind_all_rows(release: Callable[..., Release]) -> None:
    published = release({"q": ["a"] * 9 + ["b"] * 3, "id": ["x"] * 9 + ["x", "y", "z"]})
    score = sf.xy_anonymity(published, VISITS)
    assert score.value == 1
    assert score.per_class == pytest.approx([1, 3])
    assert score.details["worst_combinations"] == 1


def test_with_a_row_number_it_is_k_anonymity(release: Callable[..., Release]) -> None:
    published = release({"q": ["a", "a", "b", "b", "b", None, None], "row": list(range(7))})
    score = sf.metric("xy_anonymity[y=row]")(published, Roles(quasi=("q",)))
    assert score.value == sf.k_anonymity(published, Roles(quasi=("q",))).value == 2
    assert score.per_class == pytest.approx([2, 3, 2])


def test_a_missing_person_is_one_person(release: Callable[..., Release]) -> None:
    published = release({"q": ["a", "a", "a"], "id": [None, "", "x"]})
    assert sf.xy_anonymity(published, VISITS).value == 2


def test_x_and_y_may_be_named(release: Callable[..., Release]) -> None:
    columns = {"q": ["a", "a", "b"], "u": ["1", "1", "1"], "v": ["x", "y", "x"], "w": ["x", "x", "y"]}
    published, roles = release(columns), Roles(quasi=("q",))
    assert sf.metric("xy_anonymity[x=u,y=v]")(published, roles).value == 2
    assert sf.metric("xy_anonymity[x=u,y=v|w]")(published, roles).value == 3
    assert sf.metric("xy_anonymity[x=u|v,y=w]")(published, roles).value == 1
    assert sf.metric("xy_anonymity[x=u,y=v]")(published, roles).per_class is None
    assert str(sf.xy_anonymity(x={"u"}, y={"w", "v"})) == "xy_anonymity[x=u,y=v|w]"


def test_what_cannot_be_asked(release: Callable[..., Release], refusal: Callable[..., str]) -> None:
    published = release({"q": ["a"], "v": ["x"]})
    refusal(Unavailable, lambda: sf.xy_anonymity(published, Roles(quasi=("q",))), "person")
    refusal(Unavailable, lambda: sf.xy_anonymity(published, VISITS), "'id'")
    refusal(Unavailable, lambda: sf.metric("xy_anonymity[y=q]")(published, VISITS), "'q'")


# --- MultiR ----------------------------------------------------------------------------------------------------------


def along(release: Callable[..., Release], table: Callable[..., Table], columns: Any, *others: Any) -> Release:
    return release(columns, related=tuple(table(other) for other in others))


def test_manta_table_7(release: Callable[..., Release], table: Callable[..., Table]) -> None:
    score = sf.multir_anonymity(along(release, table, JOBS, PERSONS), MANTA)
    assert score.value == 3
    assert score.details == {"tables": 2, "people": 7, "groups": 2, "worst_people": 3}
    # each table alone, and before generalization
    finer = {**PERSONS, "age": ["35", "38", "38", "35", "35", "35", "36"]}
    assert sf.multir_anonymity(along(release, table, JOBS, finer), MANTA).value == 1
    joined = {**PERSONS, **JOBS}
    assert sf.multir_anonymity(release(joined), MANTA).value == sf.k_anonymity(release(joined), MANTA).value == 3


def test_the_classes_are_those_of_the_table_that_is_measured(
    release: Callable[..., Release], table: Callable[..., Table]
) -> None:
    published = along(release, table, JOBS, PERSONS)
    assert sf.k_anonymity(published, MANTA).value == 3
    assert published.evidence(MANTA).tuples.names == ("job",)
    scores, _ = sf.measure(published, MANTA)
    assert scores["multir_anonymity"][1].value == 3


def test_tables_that_are_harmless_alone(release: Callable[..., Release], table: Callable[..., Table]) -> None:
    """Each table alone hides everybody behind another; together they hide nobody."""
    one = {"id": list("abcd"), "q": ["x", "x", "y", "y"]}
    two = {"id": list("abcd"), "r": ["x", "y", "x", "y"]}
    roles = Roles(quasi=("q", "r"), person="id")
    assert sf.multir_anonymity(release(one), Roles(quasi=("q",), person="id")).value == 2
    assert sf.multir_anonymity(release(two), Roles(quasi=("r",), person="id")).value == 2
    assert sf.multir_anonymity(along(release, table, one, two), roles).value == 1


def test_how_often_and_whether_at_all_is_told_too(release: Callable[..., Release], table: Callable[..., Table]) -> None:
    roles = Roles(quasi=("q", "r"), person="id")
    people = {"id": list("abcd"), "q": ["x"] * 4}
    assert sf.multir_anonymity(along(release, table, people, {"id": list("abcd"), "r": ["u"] * 4}), roles).value == 4
    assert sf.multir_anonymity(along(release, table, people, {"id": list("abcdd"), "r": ["u"] * 5}), roles).value == 1
    assert sf.multir_anonymity(along(release, table, people, {"id": list("ab"), "r": ["u"] * 2}), roles).value == 2
    # a table without any quasi-identifier still says how many rows there are
    one = Roles(quasi=("q",), person="id")
    assert sf.multir_anonymity(along(release, table, people, {"id": list("abc"), "z": ["u"] * 3}), one).value == 1


def test_ids_are_joined_as_they_are_spelled(release: Callable[..., Release], table: Callable[..., Table]) -> None:
    roles = Roles(quasi=("q", "r"), person="id")
    one, two = {"id": [1, 2, 3], "q": ["x"] * 3}, {"id": ["1", "2", "3"], "r": [1.0, 1.0, 2.0]}
    assert sf.multir_anonymity(along(release, table, one, two), roles).details["people"] == 3
    assert sf.multir_anonymity(along(release, table, one, two), roles).value == 1


def test_multir_refuses(
    release: Callable[..., Release], table: Callable[..., Table], refusal: Callable[..., str]
) -> None:
    published = along(release, table, JOBS, {"sex": ["male"], "age": ["35"]})
    refusal(Unavailable, lambda: sf.multir_anonymity(published, MANTA), "'pid'")
    refusal(Unavailable, lambda: sf.multir_anonymity(release({"q": ["a"]}), Roles(quasi=("q",))), "person")
    only = along(release, table, {"pid": ["1"], "disease": ["HIV"]}, {**PERSONS, "job": JOBS["job"]})
    refusal(Unavailable, lambda: sf.multir_anonymity(only, MANTA), "related")


@pytest.mark.parametrize("seed", range(10))
def test_a_few_lines_say_the_same(
    seed: int, release: Callable[..., Release], table: Callable[..., Table], weighted: Any
) -> None:
    """The engine's one query, the counting of any engine, and multisets in plain Python."""
    rng = np.random.default_rng(seed)

    def draw(values: list[Any], size: int) -> list[Any]:
        return [values[i] for i in rng.integers(0, len(values), size)]

    sizes = [12, 9, 7]
    tables = [
        {"id": draw([*"abcdefgh", None], sizes[0]), "q": draw(["x", "y", None], sizes[0])},
        {"id": draw([*"abcdefgh"], sizes[1]), "q": draw(["x", "y"], sizes[1]), "r": draw(["1", ""], sizes[1])},
        {"id": draw([*"abcdefgh"], sizes[2])},
    ]
    roles = Roles(quasi=("q", "r"), person="id")
    told: dict[Any, list[Any]] = {}
    for i, columns in enumerate(tables):
        for row in zip(*columns.values(), strict=True):
            told.setdefault(row[0], []).append((i, *(value or None for value in row[1:])))
    groups = Counter(frozenset(Counter(rows).items()) for rows in told.values())
    made = along(release, table, *tables)
    light = [weighted(columns, [1] * size) for columns, size in zip(tables, sizes, strict=True)]
    for each in (made, Release(table=light[0], related=tuple(light[1:]))):
        score = sf.multir_anonymity(each, roles)
        assert score.value == min(groups.values())
        assert (score.details["people"], score.details["groups"]) == (len(told), len(groups))


def test_on_the_command_line(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from sfumato.cli import app

    for name, columns in (("jobs", JOBS), ("persons", PERSONS)):
        lines = [",".join(columns), *(",".join(f'"{v}"' for v in row) for row in zip(*columns.values(), strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "roles.toml").write_text(MANTA.toml(), encoding="utf-8")
    asked = ["measure", str(tmp_path / "jobs.csv"), "--roles", str(tmp_path / "roles.toml")]
    asked += ["--related", str(tmp_path / "persons.csv"), "--metric", "multir_anonymity", "--json"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["scores"]["multir_anonymity"]["value"] == 3
