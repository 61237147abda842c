"""The desk on a table of a PostgreSQL server: what every mechanism releases, where it is written, and what is left when it is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, NotMet, Unavailable
from sfumato.core.table import Table

ROLES = """
[roles]
identifiers = ["name"]
quasi = ["age", "town", "select"]
sensitive = ["ill"]

[hierarchies]
age = { widths = [5, 10, 50] }
town = { prefix = [1] }
"""
MECHANISMS = (
    "mondrian k=3",
    "mondrian k=3 mode=relaxed",
    "generalize_full_domain k=3 suppression=0.2",
    "top_down_specialization k=3",
    "k_member k=3",
    "local_suppression k=2",
    "microaggregation k=3",
    "top_bottom_coding top_share=0.1",
    "anatomy l=2",
    "pram keep=0.8 columns=ill",
    "permute_within_groups l=2",
)


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng, rows = np.random.default_rng(5), 240
    towns = [None, "Aa", "Ab", "Ba", "O'B", "😀x", ""]
    return pa.table(
        {
            "name": [f"p{i}" for i in range(rows)],
            "age": pa.array(rng.integers(18, 60, rows)),
            "town": [towns[i] for i in rng.integers(0, len(towns), rows)],
            "select": pa.array([[1.5, None, float("nan"), -0.0, 1e16][i] for i in rng.integers(0, 5, rows)]),
            "ill": [["flu", "cold", "none", "gout"][i] for i in rng.integers(0, 4, rows)],
        }
    )


@pytest.fixture(scope="module")
def sides(database: Any, people: pa.Table) -> tuple[Table, Table]:
    return database.table(people), sf.read(people)


@pytest.fixture(scope="module")
def roles(tmp_path_factory: pytest.TempPathFactory) -> sf.Roles:
    path = tmp_path_factory.mktemp("roles") / "roles.toml"
    path.write_text(ROLES, encoding="utf-8")
    return sf.Roles.read(path)


@pytest.mark.parametrize("text", MECHANISMS)
def test_a_release_is_the_same_wherever_the_table_is(
    database: Any, sides: tuple[Table, Table], roles: sf.Roles, text: str, tmp_path: Path
) -> None:
    """The released rows, every metric that can be measured of them, and what is written: as a table there and as a file."""
    mechanism = sf.Candidate.of(text).mechanism
    assert mechanism is not None
    made = [mechanism(table, roles, np.random.default_rng(1)) for table in sides]
    assert Table.digest(made[0].table) == Table.digest(made[1].table)
    assert [Table.digest(one) for one in made[0].companions.values()] == [Table.digest(one) for one in made[1].companions.values()]  # fmt: skip
    scores, theirs = (sf.measure(release, roles)[0] for release in made)
    assert {name: score.value for name, (_, score) in scores.items()} == pytest.approx({name: score.value for name, (_, score) in theirs.items()}, nan_ok=True)  # fmt: skip
    waive = dict.fromkeys(made[0].table.columns, "made up")
    target = database.server.address("written")
    verification = sf.publish(made[0], roles, mechanism.promises, target, waive=waive)
    assert verification.met
    written = sf.read(target)
    assert Table.digest(written) == Table.digest(made[1].table)
    for name, companion in made[1].companions.items():
        assert Table.digest(sf.read(database.server.address(f"written_{name}"))) == Table.digest(companion)
    for i, release in enumerate(made):
        (tmp_path / str(i)).mkdir()
        sf.publish(release, roles, mechanism.promises, tmp_path / str(i) / "out.csv", waive=waive)
    assert (tmp_path / "0" / "out.csv").read_bytes() == (tmp_path / "1" / "out.csv").read_bytes()


def test_profile_risk_search_and_attacks_are_the_same(sides: tuple[Table, Table], roles: sf.Roles) -> None:
    profiles = [sf.profile(table) for table in sides]
    assert profiles[0].toml() == profiles[1].toml()
    nodes = [sf.optimal_generalization(table, roles, require=[sf.require("k_anonymity >= 3")], suppression=0.1) for table in sides]  # fmt: skip
    assert (nodes[0].levels, nodes[0].loss, nodes[0].suppressed) == (
        nodes[1].levels,
        nodes[1].loss,
        nodes[1].suppressed,
    )
    releases = [node.release(table, roles) for node, table in zip(nodes, sides, strict=True)]
    assert sf.linkage(releases[0], roles).sentence == sf.linkage(releases[1], roles).sentence
    assert sf.homogeneity(releases[0], roles).sentence == sf.homogeneity(releases[1], roles).sentence


def test_a_chain(sides: tuple[Table, Table], roles: sf.Roles) -> None:
    chain = sf.TopBottomCoding(top_share=0.1) | sf.Mondrian(k=3)
    made = [chain(table, roles, np.random.default_rng(1)) for table in sides]
    assert Table.digest(made[0].table) == Table.digest(made[1].table)


@pytest.mark.full
def test_a_study_in_several_processes(sides: tuple[Table, Table], roles: sf.Roles) -> None:
    points = []
    for table in sides:
        study = sf.Study(table=table, roles=roles, candidates=sf.grid(["mondrian k=3", "mondrian k=5"]))
        result = study.run(workers=2, seed=1, refine=0)
        points.append([{name: score.value for name, (_, score) in point.scores.items()} for point in result.points])
    assert points[0] == points[1]


def test_paired_by_a_key(database: Any, sides: tuple[Table, Table], people: pa.Table, roles: sf.Roles) -> None:
    changed = people.set_column(1, "age", pa.array([f"[{a // 10 * 10},{a // 10 * 10 + 10})" for a in people.column("age").to_pylist()]))  # fmt: skip
    there, here = database.table(changed), sf.read(changed)
    expected = sf.read(changed).beside(sides[1], "name")
    both = [name for name in expected.columns if "." in name]
    for release, original in ((there, sides[0]), (there, sides[1]), (here, sides[0])):
        assert Table.digest(release.beside(original, "name").keep(both)) == Table.digest(expected.keep(both))
    with pytest.raises(Unavailable, match="key:COLUMN"):
        there.beside(sides[0], None)


# --- where it is written


def test_nothing_but_a_release_of_ours_is_replaced(
    database: Any, sides: tuple[Table, Table], roles: sf.Roles, refusal: Any, people: pa.Table, tmp_path: Path
) -> None:
    release = sf.Mondrian(k=3)(sides[0], roles)
    require = [sf.require("k_anonymity >= 3")]
    address = database.bring(people.slice(0, 10), "precious")
    refusal(InputError, lambda: sf.publish(release, roles, require, address), "postgres.precious", "no release")
    refusal(InputError, lambda: sf.publish(release, roles, require, sides[0].portable()[0]), "this is the input")
    assert sf.read(address).rows == 10
    database.session.run("CREATE VIEW seen AS SELECT 1 AS a")
    refusal(InputError, lambda: sf.publish(release, roles, require, database.server.address("seen")), "postgres.seen")
    target = database.server.address("ours")
    sf.publish(release, roles, require, target)
    before = sf.read(target).digest()
    refusal(
        NotMet,
        lambda: sf.publish(release, roles, [sf.require("k_anonymity >= 300")], target),
        "postgres.ours",
        "k_anonymity >= 300",
    )
    assert sf.read(target).digest() == before
    sf.publish(sf.Mondrian(k=20)(sides[0], roles), roles, require, target)
    assert sf.read(target).digest() != before
    database.session.run("CREATE VIEW depends AS SELECT * FROM ours")
    refusal(InputError, lambda: sf.publish(release, roles, require, target), "depends on the one to be replaced")
    database.session.run("DROP VIEW depends")
    refusal(
        InputError,
        lambda: sf.publish(release, roles, require, target, register=sf.Register(tmp_path / "x.sqlite")),
        "a register",
    )
    left = "SELECT relname::text FROM pg_class WHERE relname LIKE '%staged%'"
    assert database.session.rows(left) == []


def test_released_rows_stand_in_an_order_of_their_own(
    database: Any, sides: tuple[Table, Table], roles: sf.Roles, people: pa.Table
) -> None:
    turned = database.table(people.take(pa.array(range(people.num_rows - 1, -1, -1))))
    heaps = []
    for table in (sides[0], turned):
        target = database.server.address("ordered")
        sf.publish(sf.Mondrian(k=3)(table, roles), roles, [sf.require("k_anonymity >= 3")], target)
        heaps.append(sf.read(target).first(1000))
    assert heaps[0] == heaps[1]


KILLED = """
import os, sys, signal, time
import sfumato as sf
from sfumato.engines import postgres_sink
moment, source, target, roles = sys.argv[1:]
def stop(*given, **named):
    print("here", flush=True)
    time.sleep(600)
if moment == "staged": postgres_sink.Staging.table = stop
if moment == "renamed":
    real = postgres_sink.Staging.rename
    postgres_sink.Staging.rename = lambda self: (real(self), stop())
named = sf.Roles.read(roles)
sf.publish(sf.Mondrian(k=20)(sf.read(source), named), named, [sf.require("k_anonymity >= 3")], target)
print("done", flush=True)
"""


@pytest.mark.parametrize("moment", ["staged", "renamed"])
def test_killed_at_any_moment_the_old_release_stands(
    database: Any, sides: tuple[Table, Table], roles: sf.Roles, tmp_path: Path, moment: str
) -> None:
    """Nobody sees a release before it is whole, and nothing of it is left."""
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    target = database.server.address("killed")
    sf.publish(sf.Mondrian(k=3)(sides[0], roles), roles, [sf.require("k_anonymity >= 3")], target)
    before = sf.read(target).digest()
    words = [moment, sides[0].portable()[0], target, str(tmp_path / "roles.toml")]
    process = subprocess.Popen([sys.executable, "-c", KILLED, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    if moment == "staged":
        assert sf.read(target).digest() == before, "while it is staged, everybody reads the old one"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    left = "SELECT count(*) FROM pg_class WHERE relname LIKE '%staged%'"
    busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sfumato' AND state LIKE 'idle in%'"
    for _ in range(200):  # the server finds out by itself
        if not database.session.rows(busy)[0][0]:
            break
        time.sleep(0.05)
    assert sf.read(target).digest() == before
    assert database.session.rows(left) == [(0,)]
