"""Keyed pseudonyms: HMAC by hand, the same over tables, limits on the people they join, and no trace of the key."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import app
from sfumato.core.errors import Infeasible, InputError, NotMet

KEY = "correct horse battery staple 7741"
MECHANISMS = {
    "mondrian": sf.Mondrian(k=4),
    "full domain": sf.GeneralizeFullDomain(k=3, suppression=0.9),
    "dates": sf.ShiftDates(days=3, columns="seen"),
    "chain": sf.ShiftDates(days=3, columns="seen") | sf.RandomSampling(fraction=0.8) | sf.Mondrian(k=3),
}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TOWN_KEY", KEY)


def visits(seed=0):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(90), rng.integers(1, 3, 90))
    return pd.DataFrame(
        {
            "pid": [f"p{i}" for i in who],
            "sex": np.array(["f", "m"])[np.arange(90) % 2][who],
            "seen": (np.datetime64("2024-03-01") + rng.integers(0, 9, len(who))).astype(str),
            "dx": rng.choice(list("abc"), len(who)),
            "row": [f"r{i}" for i in range(len(who))],
        }
    )


def roles(pseudonyms="env:TOWN_KEY", **more):
    return sf.Roles(
        person="pid", quasi=("sex", "seen"), sensitive=("dx",), insensitive=("row",), hierarchies={"seen": {"dates": ["month", "year"]}},
        people={"rows": "linked", "pseudonyms": pseudonyms}, **more,
    )  # fmt: skip


def by_hand(number, key=KEY):
    """RFC 2104, spelled out: a second derivation that shares no code."""
    block = key.encode().ljust(64, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in block) + number.encode()).digest()
    return "p" + hashlib.sha256(bytes(b ^ 0x5C for b in block) + inner).hexdigest()[:32]


@pytest.mark.parametrize("name", MECHANISMS)
def test_each_row_has_the_pseudonym_of_its_person(name):
    data = visits()
    made = MECHANISMS[name](sf.read(data), roles(), np.random.default_rng(0))
    released = made.to_pandas()
    mine = data.set_index("row").loc[released["row"], "pid"]
    assert list(released["pid"]) == [by_hand(number) for number in mine]
    assert len(released) > 50
    assert not {*data["pid"]} & {
        *made.recoding.table.column(len(made.recoding.by) + made.recoding.to.index("pid")).to_pylist()
    }
    assert any("same one in every release" in note for note in made.notes)
    assert not any("random number" in note for note in made.notes)
    assert sf.k_anonymity(made, roles()).value == _alike(released)


def _alike(*tables):
    """The people of the smallest class by all that these tables say of each."""
    said = {}
    for i, table in enumerate(tables):
        for who, *what in zip(table["pid"], table["sex"], table["seen"], strict=True):
            said.setdefault(who, Counter())[(i, *what)] += 1
    people = Counter(frozenset(each.items()) for each in said.values())
    return min(people[frozenset(said[who].items())] for who in set(tables[0]["pid"]))


def test_two_releases_are_joined_and_measured_together(tmp_path):
    first, second = visits(), visits(7)
    known = replace(roles(), hierarchies={})
    releases = [
        sf.Mondrian(k=4)(sf.read(data), known, np.random.default_rng(i)) for i, data in enumerate((first, second))
    ]
    one, two = (release.to_pandas() for release in releases)
    assert set(one["pid"]) & set(two["pid"]) >= {by_hand(f"p{i}") for i in range(20)}
    assert sf.k_anonymity(releases[1], known).value >= 4
    both = replace(releases[1], related=(releases[0].table,))
    together = sf.k_anonymity(both, known).value
    assert together == _alike(two, one) < 4
    with pytest.raises(NotMet, match="k_anonymity >= 4: not met"):
        sf.publish(both, known, [sf.k_anonymity.at_least(4)], tmp_path / "second.csv", waive={"row": "a test's own"})
    assert not list(tmp_path.iterdir())
    alone = sf.Mondrian(k=4)(sf.read(second), replace(known, people={"rows": "linked"}), np.random.default_rng(1))
    assert not set(one["pid"]) & set(alone.to_pandas()["pid"].astype(str))


def test_another_key_gives_other_pseudonyms(monkeypatch, tmp_path):
    data = visits()
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "town.key").write_text("another key of a good length\n")
    other = sf.ShiftDates(days=3, columns="seen")(
        sf.read(data), roles("file:keys/town.key", folder=tmp_path)
    ).to_pandas()
    mine = data.set_index("row").loc[other["row"], "pid"]
    assert list(other["pid"]) == [by_hand(number, "another key of a good length") for number in mine]
    assert not {by_hand(number) for number in mine} & set(other["pid"])


def test_from_the_command_line_without_a_trace_of_the_key(tmp_path):
    (tmp_path / "work").mkdir()
    for name, seed in (("first", 0), ("second", 7)):
        visits(seed).drop(columns="row").to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "r.toml").write_text(
        '[roles]\nperson = "pid"\nquasi = ["sex", "seen"]\nsensitive = ["dx"]\n[people]\nrows = "linked"\npseudonyms = "env:TOWN_KEY"\n'
    )

    def sanitize(name, *more):
        words = ["sanitize", f"{tmp_path}/{name}.csv", "--roles", f"{tmp_path}/r.toml", "--mechanism", "mondrian k=4", "--out", f"{tmp_path}/work/{name}.csv", *more]  # fmt: skip
        return CliRunner().invoke(app, words)

    found = sanitize("first", "--json")
    assert found.exit_code == 0, found.output
    assert {*pd.read_csv(tmp_path / "work/first.csv")["pid"]} <= {by_hand(f"p{i}") for i in range(90)}
    refused = sanitize("second", "--related", f"{tmp_path}/work/first.csv")
    assert refused.exit_code == 1
    assert "k_anonymity >= 4: not met" in str(refused.exception)
    assert not (tmp_path / "work/second.csv").exists()
    verified = CliRunner().invoke(app, ["verify", f"{tmp_path}/work/first.csv", "--roles", f"{tmp_path}/r.toml", "--require", "k_anonymity >= 4"])  # fmt: skip
    assert verified.exit_code == 0, verified.output
    (tmp_path / "study.toml").write_text(
        'table = "first.csv"\nroles = "r.toml"\nrequire = ["k_anonymity >= 4"]\n[[candidate]]\nmechanism = "mondrian"\nk = 4\n'
    )
    made = CliRunner().invoke(
        app,
        [
            "study",
            f"{tmp_path}/study.toml",
            "--out",
            f"{tmp_path}/work/report.html",
            "--package",
            f"{tmp_path}/work/package",
        ],
    )
    assert made.exit_code == 0, made.output
    files = [file for file in (tmp_path / "work").rglob("*") if file.is_file()]
    assert len(files) > 5
    told = made.output + found.output + str(refused.exception) + repr(roles())
    for text in (told, *(file.read_bytes().decode("utf-8", "replace") for file in files)):
        assert KEY not in text
    for file in (tmp_path / "work/package").rglob("*"):
        if file.is_file():  # nor where it is
            assert b"TOWN_KEY" not in file.read_bytes(), file.name
    again = next((tmp_path / "work/package").rglob("roles.toml"))
    assert sf.Roles.read(again).people == {"rows": "linked"}


def test_refusals(monkeypatch, tmp_path):
    table = sf.read(visits())
    with pytest.raises(InputError, match="the key itself never stands here"):
        roles(KEY)
    for where, said in (("env:NOTHING_7741", "has no variable"), ("file:gone.key", "cannot be read")):
        with pytest.raises(InputError, match=said):
            sf.Mondrian(k=4)(table, roles(where))
    monkeypatch.setenv("TOWN_KEY", "short")
    with pytest.raises(InputError, match="fewer than 16"):
        sf.Mondrian(k=4)(table, roles())
    with pytest.raises(InputError, match="unknown key 'pseudonyms'"):
        sf.Roles(person="pid", quasi=("sex",), people={"rows": "unlinked", "pseudonyms": "env:TOWN_KEY"})
    with pytest.raises((InputError, Infeasible)):
        sf.Pram(columns="sex", keep=0.5)(table, roles())
