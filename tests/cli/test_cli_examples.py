"""Every verb ends its help with examples, and they run on the files of the demo."""

from __future__ import annotations

import shlex
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from cli_house import Run

from selection import few
from sfumato.cli import app
from sfumato.cli.group import verbs

EXAMPLES = {verb: import_module(f"sfumato.cli.{verb.replace(' ', '.')}").EXAMPLES for verb in verbs(app)}


STUDIES = ("advise", "demo", "study")
"""A dozen candidates each: several seconds."""


SERVES = "studio"
"""It answers until it is interrupted; tests/studio start it."""


@pytest.mark.parametrize(
    "verb", few([verb for verb in EXAMPLES if verb != SERVES], *(verb for verb in EXAMPLES if verb not in STUDIES))
)
def test_the_examples_run(run: Run, shown: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    folder = tmp_path / "town"
    shutil.copytree(shown[1] / "my town", folder)
    monkeypatch.chdir(folder)
    if verb != "sanitize":  # a release as its own examples make it, whose rows fit only their own
        run(
            "sanitize",
            "people.csv",
            "--roles",
            "roles.toml",
            "--mechanism",
            "generalize_full_domain",
            "--set",
            "k=10",
            "--out",
            "release.csv",
        ).fine()
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
