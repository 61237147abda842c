"""Interruptions: exit 130, a sentence, and a folder as it was, whatever the process was at."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cli_house import SCRIPT, House, Run

from selection import few
from sfumato.publishing import staging as publishing

LONG = 2 * 10**10
"""Rows to count for minutes, should ever a signal not arrive."""
ROLES = '[roles]\nquasi = ["q", "r"]\nsensitive = ["s"]\n'


@pytest.fixture
def rooms(tmp_path: Path) -> dict[str, Path]:
    """A database whose query gives as many rows as one likes, and folders for the release and for temporary files."""
    found = {name: tmp_path / name for name in ("out", "temporary")}
    for folder in found.values():
        folder.mkdir()
    with duckdb.connect(tmp_path / "any.duckdb") as connection:
        connection.execute("CREATE TABLE one AS SELECT 1 AS x")
    (tmp_path / "roles.toml").write_text(ROLES)
    return found


def heed_interruptions() -> None:
    """A suite that runs in the background may have been told to ignore interruptions, and its children with it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(rooms: dict[str, Path], rows: int, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The process, which does not outlive the test whatever happens."""
    home = rooms["out"].parent
    query = f"SELECT (i % 7)::INTEGER AS q, (i % 5)::INTEGER AS r, (i % 3)::INTEGER AS s FROM range({rows}) t(i)"
    with subprocess.Popen(
        [
            SCRIPT, "sanitize", home / "any.duckdb", "--query", query, "--roles", home / "roles.toml",
            "--mechanism", "mondrian", "--set", "k=5", "--out", rooms["out"] / "release.csv", *more,
        ],
        env={**os.environ, "TMPDIR": str(rooms["temporary"])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=heed_interruptions,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[str], ready: Callable[[], Any]) -> None:
    until = time.monotonic() + 600
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "it never came so far"
        time.sleep(0.01)


def check(process: subprocess.Popen[str], rooms: dict[str, Path], *, as_json: bool = False) -> None:
    out, err = process.communicate(timeout=600)
    assert "Traceback" not in err
    assert list(rooms["out"].iterdir()) == []
    assert list(rooms["temporary"].iterdir()) == []
    assert process.returncode == 130, (process.returncode, err)
    assert (
        err.splitlines()[-1] == "sfumato: interrupted; nothing unfinished was left behind."
    )  # behind progress, if it took long
    if as_json:
        assert json.loads(out) == {"error": "interrupted; nothing unfinished was left behind.", "exit_code": 130}


@pytest.mark.parametrize("number", few([signal.SIGINT, signal.SIGTERM], signal.SIGINT), ids=str)
def test_while_the_engine_counts(rooms: dict[str, Path], number: signal.Signals) -> None:
    with started(rooms, LONG, "--json") as process:
        wait_for(process, lambda: list(rooms["temporary"].iterdir()))  # the engine has its folder
        time.sleep(1.0)  # and by now it counts
        process.send_signal(number)
        check(process, rooms, as_json=True)


@pytest.mark.full  # twenty million rows
def test_while_the_release_is_written(rooms: dict[str, Path]) -> None:
    with started(rooms, 20_000_000) as process:
        wait_for(process, lambda: list(rooms["out"].iterdir()))  # the hidden file has begun
        process.send_signal(signal.SIGINT)
        check(process, rooms)


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_while_it_is_verified(run: Run, house: House, monkeypatch: pytest.MonkeyPatch, more: list[str]) -> None:
    def interrupted(*args: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(publishing, "verify_release", interrupted)
    before = house.listing()
    found = run(
        "sanitize", house.people, "--roles", house.roles, "--mechanism", "mondrian", "--set", "k=4",
        "--out", house / "release.csv", *more,
    )  # fmt: skip
    assert house.listing() == before
    found.refused(130, "interrupted")
    if more:
        assert found.json["exit_code"] == 130


@pytest.mark.parametrize("verb", ["study", "advise"])
def test_what_a_study_computed_is_kept_and_said_to_be(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Interrupted after the first candidate: it is kept, and the same command goes on from there."""
    from sfumato.study.runner import Bench

    text = (
        'table = "people.csv"\nroles = "roles.toml"\nmeasures = []\n[[candidate]]\nmechanism = "mondrian"\nk = [2, 3]\n'
    )
    calls = {
        "study": ("study", house.text("study.toml", text)),
        "advise": ("advise", house.people, "--roles", house.roles, "--to", "public", "--impact", "low"),
    }
    call = (*calls[verb], "--out", house / "out", "--workers", 1)
    real, made = Bench.measure, []

    def interrupted(self: Bench, candidate: Any, *args: Any, **more: Any) -> Any:
        if made:
            raise KeyboardInterrupt
        made.append(candidate.text)
        return real(self, candidate, *args, **more)

    monkeypatch.setattr(Bench, "measure", interrupted)
    sentence = run(*call).refused(130, "interrupted; nothing unfinished was left behind; ")
    assert sentence.endswith(
        f"what was computed is kept in {house / 'out' / '.kept'}, and the same command goes on from there."
    )
    assert len(list((house / "out" / ".kept").glob("*.json"))) == 1
    run(*call).refused(130, "kept in")  # the first is not made again: another one is
    assert len(made) == 1


def test_an_interrupted_study_writes_its_documents_from_what_was_measured(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.study.events import Done, Stage, replay
    from sfumato.study.runner import Bench

    real, made = Bench.measure, []

    def interrupted(self: Bench, candidate: Any, *args: Any, **more: Any) -> Any:
        made.append(candidate.text)
        if len(made) == 2:
            signal.raise_signal(signal.SIGINT)
        return real(self, candidate, *args, **more)

    monkeypatch.setattr(Bench, "measure", interrupted)
    found = run(
        "study", house.people, "--roles", house.roles, "--out", house / "out", "--workers", 1, "--formats", "md", "--metric", "iloss",
        "--candidate", "mondrian k=2", "--candidate", "mondrian k=3", "--candidate", "mondrian k=4", "--require", "k_anonymity >= 2",
    )  # fmt: skip
    assert found.code == 0
    assert "Ctrl-C again leaves without them" in " ".join(found.err.split())  # wherever a line is broken
    assert "you interrupted it when 1 of 3 candidates had been tried" in " ".join(found.out.split())
    assert "you interrupted it when 1 of 3 candidates had been tried" in (house / "out" / "report.md").read_text()
    events = [event for _, event in replay(house / "out" / ".kept" / "events.jsonl")]
    assert Done(1, 0, 3, "interrupt") in events
    assert events[-1] == Stage("finished")


def test_where_nothing_was_kept_nothing_is_promised(run: Run, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.study.runner import Bench

    def interrupted(*args: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Bench, "measure", interrupted)
    call = ("study", house.people, "--roles", house.roles, "--out", house / "out", "--candidate", "mondrian k=2")
    for more in ((), ("--cache", house / "kept")):
        assert run(*call, *more).refused(130).endswith("interrupted; nothing unfinished was left behind.")


@pytest.mark.parametrize("verb", ["mine", "reproduce"])
def test_predictions_are_kept_and_said_to_be(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """In the folder that all runs share only what is new is this run's."""
    shared = house / "cache" / "sfumato" / "mining"
    monkeypatch.setenv("XDG_CACHE_HOME", str(house / "cache"))

    def interrupted(*args: Any, cache: Path, **more: Any) -> Any:
        cache.mkdir(parents=True, exist_ok=True)
        if new:
            (cache / f"{len(list(cache.iterdir()))}.npz").write_bytes(b"")
        raise KeyboardInterrupt

    if verb == "mine":
        monkeypatch.setattr("sfumato.mining.mine.mine", interrupted)
        call = ("mine", "--original", house.people, house.people, "--target", "ill")
    else:
        monkeypatch.setattr("sfumato.reproduce.sramka.reproduce", interrupted)
        monkeypatch.setattr("sfumato.reproduce.tables.folder", lambda data: house.folder)
        call = ("reproduce", "sramka")
    new = False
    assert run(*call).refused(130).endswith("nothing unfinished was left behind.")
    assert not (house / "cache").exists()
    new = True
    for more, where in (((), shared), (("--cache", house / "own"), house / "own")):
        assert f"what was computed is kept in {where}, and" in run(*call, *more).refused(130)
    new = False
    assert run(*call).refused(130).endswith("nothing unfinished was left behind.")
    assert f"kept in {house / 'own'}" in run(*call, "--cache", house / "own").refused(130)


@pytest.mark.parametrize(("number", "seconds"), [("SIGINT", 0.0), ("SIGINT", 0.5), ("SIGTERM", 1.5)])
def test_other_processes_end_without_a_word_and_leave_nothing(tmp_path: Path, number: str, seconds: float) -> None:
    """A terminal interrupts them all at once: while they still load what they need, and while they work."""
    with subprocess.Popen(
        [sys.executable, "-c", OTHERS, tmp_path / "ready"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interruptions,
    ) as process:
        try:
            wait_for(process, (tmp_path / "ready").exists)
            time.sleep(seconds)
            os.killpg(process.pid, getattr(signal, number))
            out, _ = process.communicate(timeout=600)
        finally:
            process.kill()
    assert out == "interrupted\n"
    (tmp_path / "ready").unlink()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("sfumato-")] == []


OTHERS = """
import signal, sys, tempfile, time
from contextlib import closing
from pathlib import Path
from sfumato.core.processes import side_by_side

def work(i):
    tempfile.mkdtemp(prefix="sfumato-")
    time.sleep(60)

def stop(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, stop)
try:
    with closing(side_by_side(work, [(i,) for i in range(4)], 2)) as results:
        Path(sys.argv[1]).touch()
        for _ in results:
            pass
except KeyboardInterrupt:
    print("interrupted")
"""
