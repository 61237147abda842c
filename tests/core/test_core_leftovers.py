"""What a killed run leaves is removed by the next one; what is not ours, or still in use, is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.core import leftovers


@pytest.fixture(scope="module")
def dead() -> str:
    """The owner's name of a process that is no more."""
    code = "from sfumato.core.hidden_names import owner; print(owner())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_only_what_is_ours_and_stale_goes(tmp_path: Path, dead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(leftovers, "report", said.append)
    machine, process, began = dead.split("-")[1:4]
    stays = [
        ".release.csv", "sfumato-notes.txt", ".sfumato", ".abc.partial", leftovers.hidden_beside(tmp_path / "x.csv").name,
        f".sfumato-00000000-{process}-{began}-other-machine", f"x{dead}",
    ]  # fmt: skip
    for name in stays:
        (tmp_path / name).write_text("kept")
    (tmp_path / f".{dead}1.csv").write_text("half")
    (tmp_path / f".{dead}2").mkdir()
    (tmp_path / f".{dead}2" / "value-map.csv").write_text("raw")
    (tmp_path / f".sfumato-{machine}-{os.getpid()}-abc-reused").write_text("an earlier process of our number")
    assert len(leftovers.clear(tmp_path)) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(stays)
    assert len(said) == 1
    assert "3 unfinished" in said[0]
    assert leftovers.clear(tmp_path) == []
    assert len(said) == 1, "nothing to say where nothing was removed"


def test_a_link_is_removed_and_not_followed(tmp_path: Path, dead: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "mine.csv").write_text("x")
    (tmp_path / f".{dead}link").symlink_to(home)
    leftovers.clear(tmp_path)
    assert (home / "mine.csv").read_text() == "x"
    assert not (tmp_path / f".{dead}link").is_symlink()
