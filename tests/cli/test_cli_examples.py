"""Every verb ends its help with examples, and they run on the files of the demo."""

from __future__ import annotations

import shlex
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from cli_house import Run

from sfumato.cli import app
from sfumato.cli.group import verbs

EXAMPLES = {verb: import_module(f"sfumato.cli.{verb.replace(' ', '.')}").EXAMPLES for verb in verbs(app)}


@pytest.fixture(scope="module")
def town(spawn: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("examples")
    spawn("demo", "--rows", "800", "--out", "town", cwd=home).fine()
    return home / "town"


@pytest.mark.parametrize("verb", EXAMPLES)
def test_the_examples_run(run: Run, town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    folder = tmp_path / "town"
    shutil.copytree(town, folder)
    monkeypatch.chdir(folder)
    assert EXAMPLES[verb]
    for command in EXAMPLES[verb]:
        program, *words = shlex.split(command)
        assert program == "sfumato"
        outcome = run(*words)
        assert outcome.code == 0, (command, outcome.err)


@pytest.mark.parametrize("verb", EXAMPLES)
def test_help_shows_the_examples(run: Run, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = run(*verb.split(), "--help").fine().out
    for command in EXAMPLES[verb]:
        assert command in shown
        assert command.startswith(f"sfumato {verb}") or verb == "channel"
