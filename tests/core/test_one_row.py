"""One row a person: each rule against pandas, and every verb on the table that is made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import app
from sfumato.core.errors import InputError
from sfumato.core.people import one_row_a_person

LATEST = {"rows": "one", "keep": "latest", "by": "day"}


def visits(seed: int = 0, people: int = 120) -> pd.DataFrame:
    """Visits of people, some dates, costs and wards missing, some visits on one day."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, 7, people))
    rng.shuffle(who)
    n = len(who)
    day = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9, n), "D")).dt.strftime("%Y-%m-%d")
    return pd.DataFrame(
        {
            "pid": [f"p{i:03d}" for i in who],
            "age": rng.integers(20, 60, people)[who],
            "zip": 1000 + rng.integers(0, 12, people)[who],
            "day": day.where(rng.random(n) > 0.1),
            "cost": pd.Series(rng.integers(1, 4000, n) / 100).where(rng.random(n) > 0.1),
            "ward": pd.Series(rng.choice(list("abc"), n)).where(rng.random(n) > 0.1),
            "dx": rng.choice(list("abcdef"), n),
        }
    )


def roles(people: dict[str, Any], **more: Any) -> sf.Roles:
    given: dict[str, Any] = {"quasi": ("age", "zip"), "sensitive": ("dx",), **more}
    return sf.Roles(
        person="pid",
        people=people,
        hierarchies={"age": {"widths": [5, 10, 20]}, "zip": {"prefix": [1, 2, 3]}},
        source="roles.toml",
        **given,
    )


def derived(frame: pd.DataFrame, people: dict[str, Any], **more: Any) -> pd.DataFrame:
    made = one_row_a_person(sf.read(frame), roles({"rows": "one", **people}, **more))
    return made.to_arrow().to_pandas().set_index("pid").sort_index()


def expected(frame: pd.DataFrame, take: Callable[[pd.DataFrame], Any]) -> pd.Series:
    return pd.Series({pid: take(rows) for pid, rows in frame.groupby("pid")})


def same(one: pd.Series, other: pd.Series) -> bool:
    return all(
        (pd.isna(a) and pd.isna(b)) or a == b for a, b in zip(one.tolist(), other[one.index].tolist(), strict=True)
    )


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a person in the order of all their values, which settles ties."""
    return rows.sort_values(list(rows.columns), na_position="last", kind="stable")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("keep", "by"), [("latest", "day"), ("first", "day"), ("latest", "cost"), ("first", "cost")])
def test_the_latest_and_the_first_row(keep: str, by: str, seed: int) -> None:
    frame = visits(seed)
    found = derived(frame, {"keep": keep, "by": by})

    def take(rows: pd.DataFrame) -> Any:
        rows = in_order(rows)
        known = rows[by].dropna()
        if len(known):
            rows = rows[rows[by] == (known.max() if keep == "latest" else known.min())]
        return rows.iloc[0]

    for column in ("day", "cost", "ward", "dx"):
        assert same(found[column], expected(frame, lambda rows, column=column: take(rows)[column]))
    assert len(found) == frame["pid"].nunique()


@pytest.mark.parametrize("seed", range(3))
def test_the_row_with_the_most_frequent_value(seed: int) -> None:
    frame = visits(seed)
    found = derived(frame, {"keep": "most", "by": "ward"})
    first = expected(frame, lambda rows: in_order(rows[rows["ward"].fillna("~") == often(rows, "most")]).iloc[0]["day"])
    assert same(found["ward"].fillna("~"), expected(frame, lambda rows: often(rows, "most")))
    assert same(found["day"], first)


def often(rows: pd.DataFrame, rule: str) -> str:
    """The ward that most, or fewest, rows have; missing is a value, last in the order that settles ties."""
    times = rows["ward"].fillna("~").value_counts()
    ends = times[times == (times.max() if rule == "most" else times.min())]
    return min(ends.index)


@pytest.mark.parametrize("seed", range(3))
def test_aggregates(seed: int) -> None:
    frame = visits(seed)
    made = {
        "visits": "count", "paid": "count(cost)", "cost": "sum", "each": "mean(cost)", "cheap": "min(cost)", "dear": "max(cost)",
        "ward": "most", "rare": "least(ward)", "begun": "min(day)", "ended": "max(day)", "dx": "distinct", "age": "first", "zip": "latest",
    }  # fmt: skip
    found = derived(frame, {"by": "day", "aggregates": made}, insensitive=("visits", "each"))
    groups = frame.groupby("pid")
    assert same(found["visits"], groups.size())
    assert same(found["paid"], groups["cost"].count())
    np.testing.assert_allclose(found["cost"], groups["cost"].sum(min_count=1), rtol=1e-11)
    np.testing.assert_allclose(found["each"], groups["cost"].mean(), rtol=1e-11)
    assert same(found["cheap"], groups["cost"].min())
    assert same(found["dear"], groups["cost"].max())
    assert same(found["begun"], groups["day"].min())
    assert same(found["ended"], groups["day"].max())
    assert same(found["ward"].fillna("~"), expected(frame, lambda rows: often(rows, "most")))
    assert same(found["rare"].fillna("~"), expected(frame, lambda rows: often(rows, "least")))
    assert same(found["dx"], groups["dx"].agg(lambda values: " | ".join(sorted(set(values)))))
    assert same(found["age"], groups["age"].first())  # it never changes


def test_numbers_that_are_texts_are_ordered_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("pid,age,zip,turn,dx\n1,20,1,9,a\n1,20,1,10,b\n2,30,2,2,c\n2,30,2,,d\n")
    made = one_row_a_person(sf.read(path), roles({"rows": "one", "keep": "latest", "by": "turn"}))
    assert made.to_arrow().column("dx").to_pylist() == ["b", "c"]


def test_the_order_of_the_rows_does_not_matter() -> None:
    frame = visits(3)
    made = {"keep": "latest", "by": "day", "aggregates": {"cost": "mean", "ward": "most"}}
    assert derived(frame, made).equals(derived(frame.sample(frac=1, random_state=1), made))


def test_rows_without_a_number_are_of_one_person() -> None:
    frame = pd.DataFrame(
        {"pid": ["a", None, None, "a"], "age": [1, 2, 3, 4], "zip": 1, "day": ["2024-01-01"] * 4, "dx": "x"}
    )
    made = one_row_a_person(sf.read(frame), roles(LATEST))
    assert made.rows == 2
    assert made.chosen is not None
    assert made.chosen.sentence.startswith(
        "4 rows are of 2 people, by 'pid'. One row a person is used: the one with the largest 'day'"
    )
    assert made.chosen.sentence.endswith("2 rows without a number count as rows of one person.")


def test_it_is_made_once_and_not_of_itself() -> None:
    table = sf.read(visits())
    counting = roles({**LATEST, "aggregates": {"visits": "count"}}, insensitive=("visits",))
    once = one_row_a_person(table, counting)
    assert one_row_a_person(once, counting) is once
    assert one_row_a_person(table, counting) is once
    release = sf.Mondrian(k=3)(once, counting)
    assert release.table.count(("visits",)).columns[0].texts != ["1"]


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ({"rows": "one"}, "which row stands for a person"),
        ({"rows": "one", "keep": "last", "by": "day"}, "'latest', 'first', 'most'"),
        ({"rows": "one", "keep": "latest"}, 'by = "COLUMN"'),
        ({"rows": "one", "aggregates": {"cost": "add"}}, "'sum'"),
        ({"rows": "one", "aggregates": {"pid": "count"}}, "numbers the people"),
        ({"rows": "one", "aggregates": {"age": "latest"}}, 'by = "COLUMN"'),
        ({"rows": "one", "kep": "latest"}, "did you mean 'keep'"),
        ({"rows": "unlinked", "keep": "latest"}, "unknown key 'keep'"),
    ],
)
def test_the_keys_are_checked(people: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        roles(people)


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ({"keep": "latest", "by": "dy"}, "no column 'dy'"),
        ({"keep": "latest", "by": "ward"}, "'ward' holds other values than numbers, or dates"),
        ({**LATEST, "aggregates": {"ward": "sum"}}, "'ward' holds other values than numbers"),
        ({**LATEST, "aggregates": {"day": "mean"}}, "'day' holds other values than numbers"),
        ({"aggregates": {"dx": "most"}}, "nothing of 'age', 'zip'"),
    ],
)
def test_the_columns_are_checked(people: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        derived(visits(), people)


def test_the_keys_are_written_and_read(tmp_path: Path) -> None:
    before = roles({**LATEST, "aggregates": {"visits": "count", "cost": "sum"}})
    (tmp_path / "roles.toml").write_text(before.toml())
    assert sf.Roles.read(tmp_path / "roles.toml").row_choice == before.row_choice


@pytest.mark.parametrize(
    "made_by",
    [
        sf.Mondrian(k=4),
        sf.KMember(k=4),
        sf.GeneralizeFullDomain(k=4, suppression=0.1),
        sf.Microaggregation(k=4),
        sf.Anatomy(l=2),
    ],
    ids=lambda made_by: made_by.card.name,
)
def test_a_release_has_one_row_of_each(made_by: sf.Mechanism, tmp_path: Path) -> None:
    frame = visits(1)
    ours = roles(LATEST)
    release = made_by(sf.read(frame), ours, np.random.default_rng(0))
    people = frame["pid"].nunique()
    assert any(f"{len(frame)} rows are of {people} people" in note for note in release.notes)
    sf.publish(release, ours, made_by.promises, tmp_path / "r.csv")
    written = pd.read_csv(tmp_path / "r.csv")
    assert "pid" not in written.columns
    assert len(written) <= people
    if made_by.card.name in ("mondrian", "k_member", "generalize_full_domain"):
        assert written.groupby(["age", "zip"]).size().min() >= 4
        latest = derived(frame, {"keep": "latest", "by": "day"})["dx"].value_counts()
        assert written["dx"].value_counts().le(latest, fill_value=0).all()


def test_a_search_and_its_release_are_of_people() -> None:
    ours, table = roles(LATEST), sf.read(visits(1))
    best = sf.optimal_generalization(table, ours, require=[sf.k_anonymity.at_least(4)], suppression=0.1)
    release = best.release(table, ours)
    assert release.table.rows <= 120
    assert sf.k_anonymity(release, ours).value >= 4


def test_a_chain_goes_on_with_rows_that_are_people() -> None:
    ours = roles(LATEST)
    release = (sf.GeneralizeFullDomain(k=2, suppression=0.1) | sf.Mondrian(k=4))(sf.read(visits(1)), ours)
    assert sf.k_anonymity(release, ours).value >= 4
    unlinked = roles({"rows": "unlinked"})
    release = (sf.Mondrian(k=2) | sf.Mondrian(k=4))(sf.read(visits(1)), unlinked)
    assert sf.k_anonymity(release, unlinked).value >= 4


@pytest.fixture
def house(tmp_path: Path) -> Path:
    visits(2).to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "roles.toml").write_text(
        roles({**LATEST, "aggregates": {"visits": "count"}}, quasi=("age", "zip", "visits")).toml()
    )
    return tmp_path


@pytest.mark.parametrize(
    "verb",
    [
        ["profile", "visits.csv", "--roles", "roles.toml", "--deep"],
        ["search", "visits.csv", "--roles", "roles.toml", "--require", "k_anonymity >= 3"],
        ["measure", "release.csv", "--roles", "roles.toml", "--original", "visits.csv"],
        ["verify", "release.csv", "--roles", "roles.toml", "--original", "visits.csv", "--require", "k_anonymity >= 3"],
        ["attack", "release.csv", "--roles", "roles.toml", "--original", "visits.csv"],
        ["audit", "release.csv", "--roles", "roles.toml", "--original", "visits.csv"],
        ["inspect", "subgroups", "release.csv", "--roles", "roles.toml", "--original", "visits.csv", "--by", "age"],
        ["inspect", "utility", "release.csv", "--roles", "roles.toml", "--original", "visits.csv"],
        ["versus", "mondrian k=3", "mondrian k=6", "--original", "visits.csv", "--roles", "roles.toml"],
        ["study", "visits.csv", "--roles", "roles.toml", "--candidate", "mondrian k=3", "--candidate", "mondrian k=5", "--workers", "2", "--out", "study"],
    ],
    ids=lambda verb: " ".join(verb[:2]),
)  # fmt: skip
def test_every_verb_takes_the_table_of_visits(verb: list[str], house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    monkeypatch.chdir(house)
    runner = CliRunner()
    made = runner.invoke(
        app,
        [
            "sanitize",
            "visits.csv",
            "--roles",
            "roles.toml",
            "--mechanism",
            "mondrian",
            "--set",
            "k=3",
            "--out",
            "release.csv",
        ],
    )
    assert made.exit_code == 0, made.output
    result = runner.invoke(app, verb)
    assert result.exit_code == 0, result.output


def test_a_measure_against_visits_is_one_against_people(house: Path) -> None:
    """The original may be given as it is: its people are counted once."""
    ours = sf.Roles.read(house / "roles.toml")
    table = sf.read(house / "visits.csv")
    made = sf.Mondrian(k=3)(table, ours)
    foreign = sf.Release(table=made.table, original=table)
    assert foreign.one_row_each(ours).original is made.original
    assert sf.discernibility(foreign, ours).value == sf.discernibility(made, ours).value
    assert (
        sf.audit(foreign, ours).sentences
        == sf.audit(sf.Release(table=made.table, original=made.original), ours).sentences
    )
    assert sf.k_anonymity(foreign, ours).value >= 3


def test_a_stated_reading_stays_stated(tmp_path: Path) -> None:
    """For differential privacy the rows are read as stated, then one a person is taken, by that person's rows alone."""
    path = tmp_path / "t.csv"
    path.write_text("pid;age;zip;turn;dx\n1;20;1;1,5;a\n1;20;1;1,25;b\n2;30;2;x;c\n2;30;2;3;d\n")
    stated = {"delimiter": ";", "decimal": "comma"}
    ours = sf.Roles(
        person="pid",
        quasi=("age",),
        sensitive=("dx",),
        reading=stated,
        people={"rows": "one", "keep": "latest", "by": "turn"},
    )
    made = sf.read(path, delimiter=";", decimal="comma").stated(stated).one_row_by(ours.row_choice)
    assert made.to_arrow().column("dx").to_pylist() == ["a", "d"]
    assert json.dumps(made.reading.stated(), sort_keys=True) == json.dumps(stated, sort_keys=True)


def test_arrow_types_are_kept() -> None:
    table = pa.table(
        {
            "pid": [1, 1, 2],
            "age": [1, 2, 3],
            "zip": [1, 1, 1],
            "day": pa.array([1, 2, 3], pa.date32()),
            "dx": [True, False, None],
        }
    )
    made = one_row_a_person(sf.read(table), roles({**LATEST, "aggregates": {"age": "sum"}})).to_arrow()
    assert made.schema.field("day").type == pa.date32()
    assert made.column("dx").to_pylist() == [False, None]
    assert made.column("age").to_pylist() == [3.0, 3.0]
