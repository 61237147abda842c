"""Distinguishing games: an adversary gets a released file and says which of two neighbouring tables it was made from.

    file -> reading -> mechanism -> written file -> guess

By Dwork et al. 2006, an event is at most exp(epsilon) times likelier under one table than under its neighbour. The adversary names
the event before the game. From how often it happens, Clopper and Pearson's intervals give an epsilon that the mechanism surely
exceeds: a game ends with a wrong number once in a thousand, and the seeds are fixed. The claimed epsilon must never be surely exceeded, and where a
mechanism uses all of it, half of the claim must be. A tree of three columns and the search for ranges add up five and more draws, and
no one event that three hundred games can count sees all of them; of these the game shows the first alone.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from selection import few
from sfumato.core.errors import Infeasible
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.differential_privacy import noise

EPSILON = 3.0
DELTA = 0.05
"""What Gaussian noise needs besides; an event is then at most e^epsilon times likelier, plus this. That half of epsilon would be a lie takes
more games than files allow: `test_dp_noise` plays them."""
RUNS = 300
SURE = 1e-3
ROLES = sf.Roles(quasi=("age", "sex"), sensitive=("job",))
Lines = list[dict[str, str]]
Event = Callable[[Lines], bool]


def value(name: str, at_least: float) -> Event:
    return lambda lines: float(lines[0][name]) >= at_least


def rows(at_least: int) -> Event:
    return lambda lines: len(lines) >= at_least


def all_values(name: str, at_least: float) -> Event:
    return lambda lines: all(float(line[name]) >= at_least for line in lines)


BASE = b"3,F,a\n" * 6
ONE_MORE = b"9,F,a\n"
HOSTILE = b'"1.234,56",F,a\n'
"""As much a row as any, to a count of rows or of a column that it fits."""
GAMES: dict[str, tuple[dict[str, str], bytes, Event, bool]] = {
    # what is set, the row that the neighbour has more, the event, whether all of epsilon is used
    "dp_statistics count": ({"statistics": "count"}, ONE_MORE, value("value", 7), True),
    "dp_statistics hostile": ({"statistics": "count"}, HOSTILE, value("value", 7), True),
    "dp_statistics sum": ({"statistics": "sum(age)", "bounds": "age=0:9"}, ONE_MORE, value("value", 27), True),
    "dp_statistics number": ({"statistics": "sum(age)", "bounds": "age=0:9"}, HOSTILE, value("value", 18), False),
    "dp_statistics both": ({"statistics": "count,count"}, HOSTILE, all_values("value", 7), True),
    "dp_marginals": (
        {"columns": "sex", "domains": "sex=F", "nonnegative": "false", "outside": "drop"},
        HOSTILE,
        value("rows", 7),
        True,
    ),
    "dp_choice": (
        {"column": "sex", "candidates": "F|M"},
        b'"1.234,56",M,a\n',
        lambda lines: lines[0]["value"] == "F",
        True,
    ),
    "dp_choice quantile": (
        {
            "column": "age",
            "choose": "quantile",
            "candidates": "2|4",
        },  # one more above both: one gets likelier, one less
        ONE_MORE,
        lambda lines: lines[0]["value"] == "2",
        True,
    ),
    "dp_synthesis": (
        {"columns": "sex", "domains": "sex=F", "outside": "drop", "structure": "independent"},
        HOSTILE,
        rows(7),
        True,
    ),
    "dp_synthesis pair": (
        {"columns": "sex,job", "domains": "sex=F,job=a", "outside": "drop"},
        HOSTILE,
        rows(7),
        True,
    ),
    "dp_synthesis gaussian": (
        {"columns": "sex", "domains": "sex=F", "outside": "drop", "delta": str(DELTA)},
        HOSTILE,
        rows(8),
        False,
    ),
    "dp_synthesis gaussian pair": (
        {"columns": "sex,job", "domains": "sex=F,job=a", "outside": "drop", "delta": str(DELTA)},
        HOSTILE,
        rows(8),
        False,
    ),
    "dp_synthesis adaptive gaussian": (
        {"columns": "age,sex,job", "domains": "age=0:9:5,sex=F|M,job=a|b", "delta": str(DELTA)},
        b"1,M,b\n",
        rows(7),
        False,
    ),
    "dp_synthesis impossible": (
        {"columns": "sex,job", "domains": "sex=F|M,job=a|b", "impossible": "sex=M,job=b"},
        b"1,M,b\n",
        rows(7),
        False,
    ),
    "dp_synthesis adaptive": (
        {"columns": "age,sex,job", "domains": "age=0:9:5,sex=F|M,job=a|b"},
        b"1,M,b\n",
        rows(7),
        False,
    ),
    "dp_synthesis tree": (
        {"columns": "age,sex,job", "domains": "age=0:9:5,sex=F|M,job=a|b", "structure": "tree"},
        b"1,M,b\n",
        rows(7),
        False,
    ),
    "dp_ranges tree": ({"column": "sex", "domain": "F", "method": "tree"}, HOSTILE, value("rows", 7), True),
    "dp_ranges search": ({"column": "age", "domain": "0:9"}, HOSTILE, value("rows", 1), False),
}


def surely(hits: tuple[int, int], runs: int = RUNS, delta: float = 0.0) -> float:
    """The epsilon that is surely exceeded beside delta, from how often an event happened under each of two tables.

    Both ways and for the event and its opposite: four ratios of two bounds each, which share the probability of a mistake.
    """
    found = 0.0
    for a, b in (hits, hits[::-1]):
        for more, less in ((a, b), (runs - a, runs - b)):
            low = float(stats.beta.ppf(SURE / 8, more, runs - more + 1)) if more else 0.0
            high = float(stats.beta.ppf(1 - SURE / 8, less + 1, runs - less)) if less < runs else 1.0
            if low > delta:
                found = max(found, math.log((low - delta) / high))
    return found


def play(
    folder: Path,
    release: Callable[[Any, np.random.Generator], list[sf.Release]],
    tables: Any,
    event: Event,
    runs: int = RUNS,
    header: bytes = b"age,sex,job\n",
    delta: float = 0.0,
) -> float:
    """Many releases of two files, each read anew, and what they say about the mechanism's epsilon."""
    hits = []
    for which, content in enumerate(tables):
        path, out = folder / "people.csv", folder / "release.csv"
        path.write_bytes(header + content)
        won = 0
        for seed in range(runs):
            rng = np.random.default_rng([which, seed])
            table = sf.read(path, stated=True)
            try:
                made = release(table, rng)
            except Infeasible:  # noise left no row: an outcome like any other
                won += event([])
                continue
            lines: Lines = []
            for one in made:
                one.table.write(out)
                with out.open(encoding="utf-8", newline="") as file:
                    lines += list(csv.DictReader(file))
            won += event(lines)
        hits.append(won)
    return surely((hits[0], hits[1]), runs, delta)


@pytest.mark.parametrize("game", few(GAMES, "dp_statistics number"))
def test_neighbours_are_told_apart_by_epsilon_at_most(game: str, tmp_path: Path) -> None:
    settings, extra, event, tight = GAMES[game]
    made_by = mechanism(game.split()[0]).of({**settings, "epsilon": str(EPSILON)})
    base, runs = BASE, RUNS if tight else 60
    if made_by.card.name == "dp_choice":  # between two that are equal: an event of one half, which takes more games
        base, runs = BASE if "quantile" in game else b"3,F,a\n3,M,a\n" * 3, 2 * RUNS
    tables, delta = (base, base + extra), float(settings.get("delta", 0))
    found = play(tmp_path, lambda table, rng: [made_by(table, ROLES, rng)], tables, event, runs, delta=delta)
    assert found <= EPSILON
    if tight:
        assert found > EPSILON / 2  # half of the claim would be a lie, and the game shows it


MOST = 3
PEOPLE = sf.Roles(quasi=("age", "sex"), sensitive=("job",), person="pid", people={"most_rows": MOST})
PEOPLE_GAMES: dict[str, tuple[dict[str, str], bytes, Event, bool]] = {
    # as above; the neighbour has one person more, who has seven such rows
    "dp_statistics count": ({"statistics": "count"}, ONE_MORE, value("value", 9), True),
    "dp_statistics sum": ({"statistics": "sum(age)", "bounds": "age=0:9"}, ONE_MORE, value("value", 45), True),
    "dp_statistics mean": ({"statistics": "mean(age)", "bounds": "age=0:9"}, ONE_MORE, value("value", 5), False),
    "dp_statistics hostile": ({"statistics": "count"}, HOSTILE, value("value", 9), True),
    "dp_marginals": (
        {"columns": "sex", "domains": "sex=F", "nonnegative": "false", "outside": "drop"},
        HOSTILE,
        value("rows", 9),
        True,
    ),
    "dp_choice": ({"column": "sex", "candidates": "F|M"}, b"1,M,a\n", lambda lines: lines[0]["value"] == "F", True),
    "dp_choice quantile": (
        {"column": "age", "choose": "quantile", "candidates": "2|4"},
        ONE_MORE,
        lambda lines: lines[0]["value"] == "2",
        True,
    ),
    "dp_synthesis": (
        {"columns": "sex", "domains": "sex=F", "outside": "drop", "structure": "independent"},
        HOSTILE,
        rows(9),
        True,
    ),
    "dp_synthesis tree": (
        {"columns": "age,sex,job", "domains": "age=0:9:5,sex=F|M,job=a|b", "structure": "tree"},
        ONE_MORE,
        rows(9),
        False,
    ),
    "dp_synthesis adaptive gaussian": (
        {"columns": "age,sex,job", "domains": "age=0:9:5,sex=F|M,job=a|b", "delta": str(DELTA)},
        ONE_MORE,
        rows(9),
        False,
    ),
    "dp_ranges tree": ({"column": "sex", "domain": "F", "method": "tree"}, HOSTILE, value("rows", 9), True),
    "dp_ranges search": ({"column": "age", "domain": "0:9"}, ONE_MORE, value("rows", 3), False),
}


def of_people(content: bytes, first: int = 0, *, alone: bool = False) -> bytes:
    """Rows with a person's number each, or all of one person."""
    lines = content.splitlines(keepends=True)
    return b"".join(b"p%d,%b" % (first + (0 if alone else i), line) for i, line in enumerate(lines))


@pytest.mark.parametrize("game", few(PEOPLE_GAMES))
def test_a_person_with_many_rows_is_told_apart_by_epsilon_at_most(game: str, tmp_path: Path) -> None:
    settings, extra, event, tight = PEOPLE_GAMES[game]
    made_by = mechanism(game.split()[0]).of({**settings, "epsilon": str(EPSILON)})
    base, runs = of_people(BASE), RUNS if tight else 60
    if made_by.card.name == "dp_choice":
        base, runs = base if "quantile" in game else of_people(b"3,F,a\n3,M,a\n" * 3), 2 * RUNS
    tables = (base, base + of_people(extra * 7, 100, alone=True))
    header = b"pid,age,sex,job\n"
    delta = float(settings.get("delta", 0))
    found = play(tmp_path, lambda table, rng: [made_by(table, PEOPLE, rng)], tables, event, runs, header, delta)
    assert found <= EPSILON
    if tight:
        assert found > EPSILON / 2


@pytest.mark.full
def test_noise_for_one_row_where_three_are_used_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The game has teeth, and the neighbour's seven rows come down to three."""
    opened = noise.Noise.__init__
    monkeypatch.setattr(noise.Noise, "__init__", lambda self, rng, who, rows=1: opened(self, rng, who))
    tables = (of_people(BASE), of_people(BASE) + of_people(ONE_MORE * 7, 100, alone=True))
    made_by = sf.DpStatistics(epsilon=1)
    header = b"pid,age,sex,job\n"
    assert (
        play(tmp_path, lambda table, rng: [made_by(table, PEOPLE, rng)], tables, value("value", 9), header=header) > 1
    )


def test_which_rows_of_a_person_are_used_is_drawn_of_their_rows_alone(tmp_path: Path) -> None:
    """Whoever else is in the table and however it is sorted, the same key draws the same rows of a person; another key others."""
    lines = [b"p%d,%d,F,a\n" % (i % 5, i) for i in range(50)]

    def used(rows: list[bytes], key: bytes) -> dict[str, set[str]]:
        path = tmp_path / "t.csv"
        path.write_bytes(b"pid,age,sex,job\n" + b"".join(rows))
        drawn = sf.read(path, stated=True).rows_of_each("pid", MOST, key).to_arrow().to_pylist()
        found: dict[str, set[str]] = {}
        for row in drawn:
            found.setdefault(row["pid"], set()).add(row["age"])
        return found

    all_of_them = used(lines, b"key")
    assert {len(ages) for ages in all_of_them.values()} == {MOST}
    assert used(lines[::-1], b"key") == all_of_them
    without = used([line for line in lines if not line.startswith(b"p0")], b"key")
    assert without == {who: ages for who, ages in all_of_them.items() if who != "p0"}
    draws = [used(lines, b"%d" % i)["p1"] for i in range(60)]
    assert set.union(*draws) == {str(age) for age in range(1, 50, 5)}  # every row of theirs may be drawn


@pytest.mark.parametrize(
    "hostile", [b"9,F,a\n", b"young,F,a\n", b'"1.234,56",F,a\n', b"inf,F,a\n", b"29.02.1981,F,a\n"]
)
def test_a_value_changed_to_anything_is_hidden_by_local_noise(hostile: bytes, tmp_path: Path) -> None:
    """Rows are public, one value changes. All rows of a file draw for themselves, so that one file is many games."""
    made_by = sf.LocalNoise(bounds="age=0:9", epsilon=EPSILON)
    hits = []
    for which, row in enumerate((b"0,F,a\n", hostile)):
        path = tmp_path / "people.csv"
        path.write_bytes(b"age,sex,job\n" + row * RUNS)
        made_by(sf.read(path, stated=True), ROLES, np.random.default_rng(which)).table.write(tmp_path / "out.csv")
        with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
            hits.append(sum(float(line["age"]) >= 9 for line in csv.DictReader(file)))
    found = surely((hits[0], hits[1]))
    assert found <= EPSILON
    if hostile == b"9,F,a\n":
        assert found > EPSILON / 2


@pytest.mark.full
def test_a_shared_budget_is_what_two_releases_tell_together(tmp_path: Path) -> None:
    """Half of it each: by either alone the neighbours differ by half of epsilon, by both together by all of it."""

    def both(table: Any, rng: np.random.Generator) -> list[sf.Release]:
        budget = sf.Budget(EPSILON)
        half = EPSILON / 2
        one = sf.DpStatistics(statistics="count(sex=F)", epsilon=half, budget=budget)(table, ROLES, rng)
        made = sf.DpMarginals(
            columns="sex", domains="sex=F", outside="drop", nonnegative=False, epsilon=half, budget=budget
        )
        other = made(table, ROLES, rng)
        with pytest.raises(Infeasible, match=r"0 of 3 is left"):
            sf.DpStatistics(epsilon=0.001, budget=budget)(table, ROLES, rng)
        return [one, other]

    def high(lines: Lines) -> bool:
        return float(lines[0]["value"]) >= 7 and float(lines[1]["rows"]) >= 7

    assert EPSILON / 2 < play(tmp_path, both, (BASE, BASE + HOSTILE), high) <= EPSILON


@pytest.mark.full
def test_a_mechanism_with_a_third_of_the_noise_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The game has teeth: it finds a claim that is not kept."""
    right = noise.scale_of
    monkeypatch.setattr(noise, "scale_of", lambda sensitivity, epsilon: right(sensitivity, epsilon) / 3)
    made_by = sf.DpStatistics(epsilon=1)
    settings = (BASE, BASE + HOSTILE)
    assert play(tmp_path, lambda table, rng: [made_by(table, ROLES, rng)], settings, value("value", 7)) > 1


@pytest.mark.full  # many releases
def test_a_reading_that_looks_at_the_rows_is_caught(tmp_path: Path) -> None:
    """The same game on a table that was guessed: one row turns 1.234 into 1234 for all others, and no noise hides that."""
    roles = sf.Roles(quasi=("age", "sex"))
    made_by = sf.DpStatistics(statistics="sum(age)", bounds="age=0:2000", epsilon=0.1)
    plain = b"1.234,F\n" * 300
    surely_exceeded = {}
    for how in ("stated", "guessed"):
        hits = []
        for content in (plain, plain + b'"1.234,56",F\n'):
            path = tmp_path / f"{how}.csv"
            path.write_bytes(b"age,sex\n" + content)
            table = sf.read(path, stated=True) if how == "stated" else sf.read(path).keep(("age", "sex"))
            release = [made_by(table, roles, np.random.default_rng(seed)).table for seed in range(100)]
            values = [float(one.count(("value",)).columns[0].texts[0] or 0) for one in release]
            hits.append(sum(v >= 150_000 for v in values))
        surely_exceeded[how] = surely((hits[0], hits[1]), 100)
    assert surely_exceeded["stated"] <= 0.1 < 1 < surely_exceeded["guessed"]
