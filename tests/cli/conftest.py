"""Fixtures of the command line: run a verb in this process or in one of its own, in a house of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_house import CANARY, ROLES, SCRIPT, House, Outcome, Run, people

from sfumato.cli import main


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run in this process, with the signal handlers put back afterwards."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)}

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        found = capsys.readouterr()
        return Outcome(stop.value.code if isinstance(stop.value.code, int) else 0, found.out, found.err)

    yield call
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def spawn() -> Run:
    """Run the installed script in a process of its own."""

    def call(*arguments: object, **more: Any) -> Outcome:
        done = subprocess.run(
            [SCRIPT, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", timeout=600, **more
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture(scope="session")
def shown(spawn: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """The demo, once for all: in a process of its own, in a folder with a space in its name."""
    home = tmp_path_factory.mktemp("demo")
    return spawn("demo", "--rows", "800", "--out", "my town", cwd=home).fine(), home


@pytest.fixture
def house(tmp_path: Path) -> House:
    found = House(tmp_path)
    found.text("people.csv", people())
    found.text("roles.toml", ROLES)
    return found


@pytest.fixture
def canary() -> str:
    return CANARY
