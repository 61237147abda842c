"""Shell completion: it installs, and knows verbs, options and names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_house import Run

from sfumato.mechanisms import registry as mechanisms
from sfumato.metrics import registry as metrics


@pytest.fixture
def complete(spawn: Run):
    def call(*words: str) -> list[str]:
        environment = {
            "_SFUMATO_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
        return spawn(env={**os.environ, **environment}).fine().out.split()

    return call


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sfumato", "se"], ["search"]),
        (["sfumato", "search", "--max-ch"], ["--max-checks"]),
        (["sfumato", "explain", "k_an"], ["k_anonymity"]),
        (["sfumato", "measure", "--metric", "t_clo"], ["t_closeness"]),
        (["sfumato", "verify", "--require", "k_an"], ["k_anonymity"]),
        (["sfumato", "sanitize", "--mechanism", "mond"], ["mondrian"]),
        (["sfumato", "mechanisms", "mond"], ["mondrian"]),
    ],
    ids=lambda each: each[-1],
)  # fmt: skip
def test_what_a_shell_is_offered(complete, words: list[str], offered: list[str]) -> None:
    assert complete(*words) == offered


def test_explain_offers_everything_it_explains(complete) -> None:
    offered = complete("sfumato", "explain", "")
    assert {*metrics(), *mechanisms()} <= set(offered)
    assert "prosecutor" in offered


def test_it_installs_into_a_home_of_its_own(spawn: Run, tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    spawn("--install-completion", "bash", env=environment).fine()
    script = (tmp_path / ".bash_completions" / "sfumato.sh").read_text()
    assert "_SFUMATO_COMPLETE=complete_bash" in script
    assert spawn("--show-completion", "bash", env=environment).fine().out.strip() in script.strip() + "\n"
