"""The desk on a folder of Parquet files behind Spark: what mechanisms release, where it is written, and what is left when it is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, NotMet, Unavailable
from sfumato.core.spark_address import TOKEN
from sfumato.core.table import Table

pytestmark = pytest.mark.full
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
    "microaggregation k=3",
    "anatomy l=2",
)
K3 = [sf.require("k_anonymity >= 3")]


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng, rows = np.random.default_rng(5), 240
    towns = [None, "Aa", "Ab", "Ba", "O'B\\", "😀x", ""]
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
def sides(lake: Any, people: pa.Table) -> tuple[Table, Table]:
    return lake.table(people), sf.read(people)


@pytest.fixture(scope="module")
def roles(tmp_path_factory: pytest.TempPathFactory) -> sf.Roles:
    path = tmp_path_factory.mktemp("roles") / "roles.toml"
    path.write_text(ROLES, encoding="utf-8")
    return sf.Roles.read(path)


@pytest.mark.parametrize("text", MECHANISMS)
def test_a_release_is_the_same_wherever_the_table_is(
    lake: Any, sides: tuple[Table, Table], roles: sf.Roles, text: str, tmp_path: Path
) -> None:
    """The released rows, some metrics, and what is written: as a folder there, and as a file."""
    mechanism = sf.Candidate.of(text).mechanism
    assert mechanism is not None
    made = [mechanism(table, roles, np.random.default_rng(1)) for table in sides]
    assert Table.digest(made[0].table) == Table.digest(made[1].table)
    waive = dict.fromkeys(made[0].table.columns, "made up")
    folder = lake.folder / f"written {text.replace(' ', '-')}"
    verification = sf.publish(made[0], roles, mechanism.promises, lake.server.address(folder=folder), waive=waive)
    assert verification.met
    assert Table.digest(sf.read(lake.server.address(folder=folder))) == Table.digest(made[1].table)
    for name, companion in made[1].companions.items():
        assert Table.digest(sf.read(lake.server.address(folder=f"{folder}_{name}"))) == Table.digest(companion)
    assert not [path for path in lake.folder.iterdir() if path.name.startswith(".")]
    for i, release in enumerate(made):
        (tmp_path / str(i)).mkdir()
        sf.publish(release, roles, mechanism.promises, tmp_path / str(i) / "out.csv", waive=waive)
    assert (tmp_path / "0" / "out.csv").read_bytes() == (tmp_path / "1" / "out.csv").read_bytes()


def test_a_search_and_attacks_are_the_same(sides: tuple[Table, Table], roles: sf.Roles) -> None:
    assert sf.profile(sides[0]).toml() == sf.profile(sides[1]).toml()
    nodes = [sf.optimal_generalization(table, roles, require=K3, suppression=0.1) for table in sides]
    assert (nodes[0].levels, nodes[0].loss, nodes[0].suppressed) == (nodes[1].levels, nodes[1].loss, nodes[1].suppressed)  # fmt: skip
    releases = [node.release(table, roles) for node, table in zip(nodes, sides, strict=True)]
    scores, theirs = (sf.measure(release, roles)[0] for release in releases)
    assert {name: score.value for name, (_, score) in scores.items()} == pytest.approx({name: score.value for name, (_, score) in theirs.items()}, nan_ok=True)  # fmt: skip
    assert sf.linkage(releases[0], roles).sentence == sf.linkage(releases[1], roles).sentence
    assert sf.homogeneity(releases[0], roles).sentence == sf.homogeneity(releases[1], roles).sentence


def test_paired_by_a_key(lake: Any, sides: tuple[Table, Table], people: pa.Table) -> None:
    changed = people.set_column(1, "age", pa.array([f"[{a // 10 * 10},{a // 10 * 10 + 10})" for a in people.column("age").to_pylist()]))  # fmt: skip
    there, here = lake.table(changed), sf.read(changed)
    expected = here.beside(sides[1], "name")
    both = [name for name in expected.columns if "." in name]
    for release, original in ((there, sides[0]), (here, sides[0])):
        assert Table.digest(release.beside(original, "name").keep(both)) == Table.digest(expected.keep(both))
    with pytest.raises(Unavailable, match="key:COLUMN"):
        there.beside(sides[0], None)


def test_no_order_of_the_input_is_left(
    lake: Any, people: pa.Table, sides: tuple[Table, Table], roles: sf.Roles
) -> None:
    """The same rows in another order and in other files make the same files, to the byte; and they stand in no order of a column."""
    turned = sf.read(lake.bring(people.take(pa.array(range(people.num_rows - 1, -1, -1))), files=5))
    written = []
    for i, table in enumerate((sides[0], turned)):
        folder = lake.folder / f"ordered{i}"
        sf.publish(sf.Mondrian(k=3)(table, roles), roles, K3, lake.server.address(folder=folder))
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
        assert set(written[i]) >= {"_sfumato", "part-00000.parquet"}
    assert written[0] == written[1]
    rows = pq.read_table(lake.folder / "ordered0").column("age").to_pylist()
    assert rows != sorted(rows)


def test_nothing_but_a_release_of_ours_is_replaced(
    lake: Any, sides: tuple[Table, Table], roles: sf.Roles, refusal: Any, people: pa.Table, tmp_path: Path
) -> None:
    release = sf.Mondrian(k=3)(sides[0], roles)
    address = lake.bring(people.slice(0, 10), "precious")
    refusal(InputError, lambda: sf.publish(release, roles, K3, address), "precious", "no release")
    refusal(InputError, lambda: sf.publish(release, roles, K3, sides[0].portable()[0]), "this is the input")
    inside = sides[0].portable()[0] + "/deeper"
    refusal(InputError, lambda: sf.publish(release, roles, K3, inside), "this is the input")
    for place in (
        lake.server.address("a.b"),
        lake.server.address(folder="s3a://bucket/x"),
        lake.server.address(folder="/nowhere/x"),
    ):
        refusal(InputError, lambda place=place: sf.publish(release, roles, K3, place), "folder")
    target = lake.server.address(folder=lake.folder / "ours")
    sf.publish(release, roles, K3, target)
    before = sf.read(target).digest()
    strict = [sf.require("k_anonymity >= 300")]
    refusal(NotMet, lambda: sf.publish(release, roles, strict, target), "ours", "k_anonymity >= 300")
    assert sf.read(target).digest() == before
    sf.publish(sf.Mondrian(k=20)(sides[0], roles), roles, K3, target)
    assert sf.read(target).digest() != before
    refusal(InputError, lambda: sf.publish(release, roles, K3, target, register=sf.Register(tmp_path / "x.sqlite")), "a register")  # fmt: skip
    assert not [path for path in lake.folder.iterdir() if path.name.startswith(".")]


KILLED = """
import sys, time
import sfumato as sf
from sfumato.engines import spark_sink
moment, source, target, roles = sys.argv[1:]
def stop(*given, **named):
    print("here", flush=True)
    time.sleep(600)
if moment == "staged": spark_sink.StagedFolders.table = stop
if moment == "renamed": spark_sink.StagedFolders.discard = stop
named = sf.Roles.read(roles)
sf.publish(sf.Mondrian(k=20)(sf.read(source), named), named, [sf.require("k_anonymity >= 3")], target)
"""


@pytest.mark.parametrize("moment", ["staged", "renamed"])
def test_killed_at_any_moment_the_old_release_stands_or_the_new_one(
    lake: Any, sides: tuple[Table, Table], roles: sf.Roles, tmp_path: Path, moment: str
) -> None:
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    target = lake.server.address(folder=lake.folder / "killed")
    sf.publish(sf.Mondrian(k=3)(sides[0], roles), roles, K3, target)
    before = sf.read(target).digest()
    words = [moment, sides[0].portable()[0], target, str(tmp_path / "roles.toml")]
    process = subprocess.Popen([sys.executable, "-c", KILLED, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    after = sf.read(target)
    if moment == "renamed":
        assert Table.digest(after) == Table.digest(sf.Mondrian(k=20)(sides[1], roles).table)
    else:
        assert after.digest() == before
    sf.publish(sf.Mondrian(k=3)(sides[0], roles), roles, K3, target)  # whoever comes next tidies up
    assert not [path for path in lake.folder.iterdir() if path.name.startswith(".")]


# --- what the server says


def test_no_value_of_an_error_is_told(lake: Any, refusal: Any, canary: str, capfd: pytest.CaptureFixture[str]) -> None:
    """A cast that fails on the server quotes the value, and the client library would log it."""
    session = lake.session
    view = session.bring(pa.table({"secret": [canary, "1"]}))
    refusal(InputError, lambda: session.fetch(f"SELECT CAST(secret AS int) AS c0 FROM {view}"), "cannot be read")
    refusal(InputError, lambda: session.fetch(f"SELECT {canary} AS c0 FROM {view}"), "columns changed")
    refusal(InputError, lambda: session.fetch(f"SELECT '{canary}' FROM )"), "cannot answer")
    told = capfd.readouterr()
    assert canary not in told.out + told.err


def test_what_cannot_be_read(lake: Any, refusal: Any, canary: str, tmp_path: Path) -> None:
    address = lake.server.address
    for folder in (lake.folder / "nowhere", lake.folder / "empty"):
        if folder.name == "empty":
            folder.mkdir()
        refusal(InputError, lambda folder=folder: sf.read(address(folder=folder)), folder.name)
    refusal(InputError, lambda: sf.read(address("default.nope")), "default.nope", "no table")
    refusal(InputError, lambda: sf.read("spark://127.0.0.1:1/people"), "people", "no Spark Connect server")
    nested = lake.bring(pa.table({"plain": ["a"], "strange": [{"a": 1}]}))
    refusal(InputError, lambda: sf.read(nested), "'strange'", "struct")
    apart = lake.folder / "apart"
    apart.mkdir()
    pq.write_table(pa.table({"a": [1]}), apart / "1.parquet")
    pq.write_table(pa.table({"a": [canary]}), apart / "2.parquet")
    refusal(InputError, lambda: sf.read(address(folder=apart)), "apart", "do not agree")
    refusal(InputError, lambda: sf.read(nested, decimal="comma"), "decimal", "view")
    broken = sf.read(lake.bring({"a": ["x"] * 100}, "broken"))
    for file in (lake.folder / "broken").iterdir():
        file.write_bytes(b"PAR1" + canary.encode() * 50)
    refusal(InputError, lambda: broken.count(("a",)), "cannot be read")


def test_a_column_that_one_file_lacks_is_not_lost(lake: Any) -> None:
    folder = lake.folder / "grown"
    folder.mkdir()
    pq.write_table(pa.table({"a": ["x"]}), folder / "1.parquet")
    pq.write_table(pa.table({"a": ["y"], "b": ["z"]}), folder / "2.parquet")
    table = sf.read(lake.server.address(folder=folder))
    assert table.columns == ("a", "b")
    assert table.count(("b",)).columns[0].texts == ["z", None]


def test_a_table_of_a_catalog_and_what_means_missing(lake: Any) -> None:
    session = lake.session
    session.run("CREATE SCHEMA IF NOT EXISTS city")
    session.run("CREATE TABLE IF NOT EXISTS city.people USING parquet AS SELECT * FROM VALUES ('?', 99, 99.0D, DATE'1850-01-01', TIMESTAMP_LTZ'2020-01-01 00:00:00.5'), ('x', 1, 1.5D, NULL, NULL), (NULL, 2, 2.0D, NULL, NULL) AS t(a, b, c, `select`, h)")  # fmt: skip
    table = sf.read(lake.server.address("city.people"), missing=["?", "99"])
    assert table.name == "city.people"
    texts = {name: table.count((name,)).columns[0].texts for name in table.columns}
    assert texts == {"a": ["x", None], "b": ["1", "2", None], "c": ["1.5", "2", None], "select": ["1850-01-01", None], "h": ["2020-01-01 00:00:00.5+00", None]}  # fmt: skip
    path, options, name = table.portable()
    again = sf.read(path, **dict(options))
    assert (again.digest(), again.name) == (table.digest(), name)
    assert again.digest() != sf.read(path).digest()


def test_whoever_gives_up_stops_the_job(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server would go on for a client that is gone: it is stopped by its tag, and the session answers again."""
    session = lake.session
    slow = "SELECT count(*) AS n FROM (SELECT md5(CAST(id AS string)) AS h FROM range(100000000000)) t WHERE h = ''"
    main = threading.get_ident()
    threading.Timer(2.0, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        session.fetch(slow)
    assert time.monotonic() - started < 60
    assert session.rows("SELECT 1 AS a") == [(1,)]
    assert session._session.interruptTag(session._tag) == [], "nothing of ours is running any more"


def test_a_planted_secret_stands_nowhere(lake: Any, people: pa.Table, canary: str, tmp_path: Path) -> None:
    """The token comes from the environment; everything that is printed, kept and written is searched for it, for host and user."""
    source = lake.bring(people).replace("spark://", "spark://guard@")
    target = lake.server.address(folder=lake.folder / "secretly").replace("spark://", "spark://guard@")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    assert environment[TOKEN] == canary
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    study = tmp_path / "study.toml"
    study.write_text(f'table = "{source}"\nroles = "roles.toml"\nrequire = ["k_anonymity >= 3"]\nrefine = 0\n[[candidate]]\nmechanism = "mondrian"\nk = 3\n[[candidate]]\nmechanism = "mondrian"\nk = 20\n', encoding="utf-8")  # fmt: skip
    told = []

    def call(*words: str, code: int = 0, **more: str) -> str:
        program = [str(Path(sys.executable).with_name("sfumato")), *words]
        done = subprocess.run(program, env={**environment, **more}, cwd=tmp_path, capture_output=True, text=True, check=False)  # fmt: skip
        told.append(done.stdout + done.stderr)
        assert done.returncode == code, done.stderr
        return done.stderr

    assert "does not let this token in" in call("profile", source, code=2, **{TOKEN: "wrong"})
    call(
        "study", "study.toml", "--out", "documents", "--cache", "cache", "--package", "package", "--formats", "html,md"
    )
    call("sanitize", source, "--roles", "roles.toml", "--mechanism", "mondrian k=3", "--out", target)
    call("measure", target, "--roles", "roles.toml", "--original", source, "--json")
    files = [path for path in (*tmp_path.rglob("*"), *(lake.folder / "secretly").rglob("*")) if path.is_file()]
    assert any(path.suffix == ".html" for path in files)
    for path in files:
        content = path.read_bytes()
        assert canary.encode() not in content, path
        if path != study:  # what the owner wrote is the owner's; nothing that is made names user or host
            assert b"guard@" not in content, path
            assert f"localhost:{lake.server.port}".encode() not in content, path
    assert not any(canary in text or "guard@" in text or "localhost" in text for text in told)
