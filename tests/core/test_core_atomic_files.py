"""Files that belong together get their names together: killed anywhere, the names show one run, and the next run finishes it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sfumato.core import atomic_files, leftovers
from sfumato.core.errors import InputError
from sfumato.core.files import write_together

NAMES = ("one.csv", "two.csv", "main.csv")
OLD = {"one.csv": "old", "gone.csv": "old", "main.csv": "old"}
NEW = dict.fromkeys(NAMES, "new")

KILLED = """
import os, signal, sys
from pathlib import Path
from sfumato.core.files import write_together
at, calls, real = int(sys.argv[2]), 0, {}
def counted(name):
    def call(*args, **more):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real[name](*args, **more)
    return call
for name in ("replace", "unlink", "fsync", "rename"):
    real[name] = getattr(os, name)
    setattr(os, name, counted(name))
write_together(Path(sys.argv[1]), dict.fromkeys(("one.csv", "two.csv", "main.csv"), b"new"), ["gone.csv"])
"""


def shown(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in OLD.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def write(folder: Path) -> None:
    write_together(folder, dict.fromkeys(NAMES, b"new"), ["gone.csv"])


def test_undisturbed_all_is_new_and_nothing_else_is_there(folder: Path) -> None:
    write(folder)
    assert shown(folder) == NEW
    assert len(list(folder.iterdir())) == 3


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
def test_killed_anywhere_it_is_old_or_new_once_the_next_run_came_by(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before every rename, removal and sync of the whole, one after the other, until none is left to be killed at."""
    said: list[str] = []
    monkeypatch.setattr(leftovers, "report", said.append)
    seen = []
    for at in range(1, 60):
        for path in folder.iterdir():
            path.unlink()
        for name, text in OLD.items():
            (folder / name).write_text(text)
        code = subprocess.run([sys.executable, "-c", KILLED, folder, str(at)]).returncode
        if code == 0:
            break
        assert code == -signal.SIGKILL
        now = shown(folder)
        assert now.items() <= OLD.items() or now.items() <= NEW.items(), "never a mix"
        assert now in (OLD, NEW) or "main.csv" not in now, "what stands for the set is there only with all of it"
        leftovers.clear(folder)
        assert shown(folder) in (OLD, NEW)
        assert len(list(folder.iterdir())) == 3, "nothing hidden stays"
        seen.append(shown(folder) == NEW)
    assert seen == sorted(seen), "up to one moment old, from then on new"
    assert set(seen) == {False, True}
    assert any("finished what an earlier run had begun" in text for text in said)


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("at", range(2, 7))
def test_a_failing_disk_leads_back_and_an_interruption_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, at: int, failure: type[BaseException]
) -> None:
    calls, real = 0, os.replace

    def replace(*args: Any, **more: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            raise failure
        real(*args, **more)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises((InputError, KeyboardInterrupt)):
        write(folder)
    assert shown(folder) == (OLD if failure is OSError else NEW)
    assert len(list(folder.iterdir())) == 3


def dead_journal(folder: Path, steps: list[dict[str, Any]], dead: str) -> Path:
    journal = folder / f".{dead}abc{atomic_files.JOURNAL}"
    journal.write_text(json.dumps(steps))
    return journal


@pytest.fixture(scope="module")
def dead() -> str:
    """The owner's name of a process that is no more."""
    code = "from sfumato.core.hidden_names import owner; print(owner())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def step(folder: Path, dead: str, target: str, **more: Any) -> dict[str, Any]:
    hidden = folder / f".{dead}new.csv"
    hidden.write_text("new")
    known = hidden.stat()
    given = {
        "hidden": hidden.name,
        "target": target,
        "aside": f".{dead}aside",
        "new": [known.st_ino, known.st_mtime_ns],
    }
    return {**given, "old": None, **more}


def test_what_somebody_wrote_since_stands(folder: Path, dead: str) -> None:
    dead_journal(folder, [step(folder, dead, "main.csv")], dead)  # the journal knows of no main.csv
    leftovers.clear(folder)
    assert shown(folder) == OLD
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize(
    "more",
    [{"target": "../escaped.csv"}, {"target": ".."}, {"aside": "one.csv"}, {"hidden": "one.csv"}, {"extra": 1}, {"target": 5}],
    ids=str,
)  # fmt: skip
def test_a_journal_that_we_would_not_write_moves_nothing(folder: Path, dead: str, more: dict[str, Any]) -> None:
    dead_journal(folder, [{**step(folder, dead, "new.csv"), **more}], dead)
    leftovers.clear(folder)
    assert shown(folder) == OLD
    assert not (folder.parent / "escaped.csv").exists()


def test_a_journal_is_finished_once_its_process_is_gone(folder: Path, dead: str) -> None:
    journal = dead_journal(folder, [step(folder, dead, "new.csv")], dead)
    ours = journal.rename(journal.with_name(journal.name.replace(dead, leftovers.owner())))
    leftovers.clear(folder)
    assert ours.exists(), "we are still at it"
    ours.rename(journal)
    dead_journal(folder, [step(folder, dead, "new.csv")], dead)
    leftovers.clear(folder)
    assert shown(folder) == {**OLD, "new.csv": "new"}
