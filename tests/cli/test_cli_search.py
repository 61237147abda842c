"""`sfumato search`: the levels, the proof, and one sentence for whatever is wrong."""

from __future__ import annotations

import csv
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cli_house import SCRIPT, House, Run

K4 = ("--require", "k_anonymity >= 4")
LADDERS = "\n[hierarchies]\nage = { widths = [5, 20] }\n"


@pytest.fixture
def laddered(house: House) -> House:
    """The house with a hierarchy of ages; towns have none."""
    house.roles.write_text(house.roles.read_text(encoding="utf-8") + LADDERS, encoding="utf-8")
    return house


def search(run: Run, house: House, *more: object):  # type: ignore[no-untyped-def]
    return run("search", house.people, "--roles", house.roles, *more)


def test_json_has_the_node_and_the_proof(run: Run, laddered: House) -> None:
    content = search(run, laddered, *K4, "--suppression", "0.1", "--json").fine().json
    assert content["status"] == "optimal"
    assert set(content["levels"]) == {"age", "town"}
    assert content["nodes"] == 4 * 2
    assert 1 <= content["checked"] <= 8
    assert 0 <= content["suppressed"] <= 4
    assert content["bound"] == content["objective"] == content["loss"]
    assert 0 <= content["loss_geometric"] <= content["loss"]
    assert content["gap"] == 0
    assert content["stopped"] is None


def test_what_is_written_is_what_was_found(run: Run, laddered: House) -> None:
    out = laddered / "release.csv"
    content = search(run, laddered, *K4, "--suppression", "0.1", "--out", out, "--json").fine().json
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40 - content["suppressed"]
    assert "name" not in rows[0]
    measured = run(
        "measure",
        out,
        "--roles",
        laddered.roles,
        "--original",
        laddered.people,
        "--metric",
        "arx_loss[arithmetic]",
        "--json",
    )
    scores = measured.fine().json
    value = scores["scores"]["arx_loss[arithmetic]"]["value"]
    assert value == pytest.approx(content["loss"], abs=1e-12)
    run("verify", out, "--roles", laddered.roles, *K4).fine()


def test_readable_without_json(run: Run, laddered: House, canary: str) -> None:
    found = search(run, laddered, *K4).fine()
    assert "Proved: no node of the 8 in the lattice has less" in found.out
    assert "quasi-identifier" in found.out
    assert canary not in found.out + found.err


def test_checks_can_be_limited_and_repeat_themselves(run: Run, laddered: House) -> None:
    both = [search(run, laddered, *K4, "--max-checks", "3", "--json") for _ in range(2)]
    contents = [found.json for found in both]
    for content in contents:
        content.pop("seconds", None)
    assert contents[0] == contents[1]


def test_another_loss_has_its_own_objective(run: Run, laddered: House) -> None:
    content = search(run, laddered, *K4, "--minimise", "height + 2*loss", "--json").fine().json
    assert content["objective"] == pytest.approx(sum(content["levels"].values()) + 2 * content["loss"])


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ((), 2, ("Nothing is required",)),
        (("--require", "k_anonymity >= 41"), 1, ("k_anonymity >= 41", "nearest is k_anonymity >= 40")),
        ((*K4, "--suppression", "1.5"), 2, ("between 0 and 1",)),
        ((*K4, "--minimise", "los"), 2, ("los",)),
        ((*K4, "--minimise", "loss loss"), 2, ("minimise",)),
        ((*K4, "--minimise", "-height"), 2, ("height",)),
        ((*K4, "--time-limit", "0"), 2, ("time limit",)),
        ((*K4, "--max-checks", "0"), 2, ("one node",)),
        ((*K4, "--out", "release.txt"), 2, (".csv, .parquet, .xlsx, .sav or .dta",)),
        (("--require", "t_closeness[equal](age) <= 0.2"), 2, ("age", "quasi-identifier")),
    ],
)
def test_one_sentence_for_what_is_wrong(
    run: Run, laddered: House, more: tuple[str, ...], code: int, words: tuple[str, ...]
) -> None:
    search(run, laddered, *more).refused(code, *words)
    assert laddered.listing() == {"people.csv", "roles.toml"}


@pytest.mark.full  # a lattice of a million nodes
def test_ctrl_c_returns_the_best_so_far(tmp_path: Path) -> None:
    """A lattice of a million nodes takes long; interrupted, it prints what it has, with a bound."""
    import random

    rng = random.Random(3)
    names = [f"q{i}" for i in range(10)]
    lines = [",".join(names)]
    for _ in range(6000):
        lines.append(",".join(str(rng.randrange(16)) for _ in names))
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules = "\n".join(f"{n} = {{ widths = [2, 4] }}" for n in names)
    (tmp_path / "r.toml").write_text(
        f"[roles]\nquasi = {names}\n\n[hierarchies]\n{rules}\n".replace("'", '"'), encoding="utf-8"
    )
    for seconds in (
        1,
        2,
        4,
        8,
        16,
        32,
        64,
    ):  # with no best yet there is nothing to return: a slow machine is given longer
        job = subprocess.Popen(
            [SCRIPT, "search", tmp_path / "t.csv", "--roles", tmp_path / "r.toml", "--require", "k_anonymity >= 5",
             "--suppression", "0.05", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a suite in the background may ignore it
        )  # fmt: skip
        time.sleep(seconds)
        assert job.poll() is None, "it ended too soon to be interrupted"
        job.send_signal(signal.SIGINT)
        out, err = job.communicate(timeout=600)
        if job.returncode == 0:
            break
        assert job.returncode in (130, -signal.SIGINT), err
    assert job.returncode == 0, err
    assert '"status": "gap"' in out
    assert '"stopped": "interrupt"' in out
