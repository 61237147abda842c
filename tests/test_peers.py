"""docs/peers.md: every name of ours in it exists, and what it moves from R and from pyCANON runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato import attacks, mechanisms
from sfumato.cli import app

PAGE = Path(__file__).resolve().parents[1] / "docs" / "peers.md"


def ours() -> list[str]:
    """What stands in code in the last column of the tables, without settings."""
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if line.startswith("| ") and len(cells) == 4 and cells[1].strip() not in ("there", "---"):
            found += [code for code in re.findall(r"`([^`]+)`", cells[2]) if re.fullmatch(r"\w+", code)]
    return found


def test_every_name_of_ours_exists() -> None:
    commands = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    known = {*sf.registry(), *mechanisms.registry(), *attacks.registry(), *commands}
    names = ours()
    assert len(set(names)) > 60
    assert [name for name in names if name not in known] == []


def test_every_mechanism_of_a_peer_that_is_here_is_named() -> None:
    """A mechanism that is added later than this page is looked at once: it is named here, or no peer has it."""
    alone = {
        *(
            "alpha_beta",
            "anatomy",
            "cut_points",
            "dp_choice",
            "dp_ranges",
            "dp_statistics",
            "isolation_noise",
            "local_noise",
        ),
        *("permute_within_groups", "personalize", "shift_dates", "top_down_specialization"),
    }
    assert set(mechanisms.registry()) - set(ours()) == alone


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from sfumato.cli.demo_table import write_town

    where = tmp_path_factory.mktemp("moved")
    write_town(where, rows=600)
    (where / "moved.toml").write_text(_blocks("toml")[0], encoding="utf-8")
    return where


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_moved_script_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    monkeypatch.chdir(folder)
    (commands,) = _blocks("sh")
    for line in commands.splitlines():
        done = CliRunner().invoke(app, shlex.split(line)[1:])
        assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception}"
    assert (folder / "moved.csv").exists()


def test_the_moved_notebook_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (code,) = _blocks("python")
    names: dict[str, float] = {}
    exec(compile(code, "peers.md", "exec"), names)
    import pandas as pd

    classes = pd.read_csv(folder / "people.csv", dtype=str, keep_default_na=False).groupby(
        ["age", "sex", "postal_code"]
    )
    assert names["k"] == classes.size().min()
    assert names["l"] == classes["diagnosis"].nunique().min()
    assert 0 < names["t"] <= 1
