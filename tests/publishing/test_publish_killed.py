"""A run that is killed between two renames: the next one, `verify` too, finishes what stood whole under hidden names."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

KILL = """
import os, signal, sys
target, real = sys.argv.pop(1), os.replace
def replace(source, to, **more):
    real(source, to, **more)
    if os.path.basename(to) == target:
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace
from sfumato.cli import main
main()
"""
"""The command line, killed right after something got the name `target`."""

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")

ROLES = '[roles]\nidentifiers = ["id"]\nquasi = ["age", "zip"]\nsensitive = ["ill"]\n'
STUDY = """table = "people.csv"
roles = "roles.toml"
measures = ["k_anonymity"]
require = ["k_anonymity >= 3"]
refine = 0
[[candidate]]
mechanism = "mondrian"
k = [3, 9]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = random.Random(7)
    ills = ("flu", "cold", "gout", "mumps")
    lines = [f"{i},{draw.randint(18, 90)},{draw.randint(10, 20)}000,{draw.choice(ills)}" for i in range(300)]
    (tmp_path / "people.csv").write_text("\n".join(["id,age,zip,ill", *lines, ""]))
    (tmp_path / "roles.toml").write_text(ROLES)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def run(folder: Path, *words: str, killed_at: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", KILL, killed_at, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".sfumato-*")]


@pytest.mark.full
def test_a_package_whose_house_has_its_name_is_finished(folder: Path) -> None:
    words = ("study", "study.toml", "--out", "study", "--workers", "1", "--formats", "md", "--package", "package")
    assert run(folder, *words, killed_at="package.house").returncode == -signal.SIGKILL
    assert (folder / "package.house").is_dir()
    assert not (folder / "package").exists()
    again = run(folder, *words)
    assert again.returncode == 2
    assert "finished what an earlier run had begun when it was killed: package.house, package." in again.stderr
    assert "package: already there" in again.stderr
    assert hidden(folder) == []
    sums = (folder / "package" / "SHA256SUMS").read_text().splitlines()
    assert {line.partition("  ")[2] for line in sums} >= {"release.csv", "README.md", "requirements.json"}
    require = ("--require", "k_anonymity >= 3", "--waive", "ill: not limited in this test")
    verified = run(folder, "verify", "package/release.csv", "--roles", "package/roles.toml", *require)
    assert verified.returncode == 0, verified.stderr
    assert run(folder, *words[:-1], "another").returncode == 0


@pytest.mark.full  # several processes
def test_verify_finishes_a_release_whose_companion_has_its_name(folder: Path) -> None:
    def words(diversity: int) -> tuple[str, ...]:
        made = ("--mechanism", "anatomy", "--set", f"l={diversity}", "--seed", "1", "--out", "out.csv")
        return ("sanitize", "people.csv", "--roles", "roles.toml", *made)

    assert run(folder, *words(3)).returncode == 0
    old = (folder / "out.csv").read_bytes()
    assert run(folder, *words(2), killed_at="out.sensitive.csv").returncode == -signal.SIGKILL
    assert not (folder / "out.csv").exists(), "never an old release beside a new companion"
    beside = (
        "--companion",
        "sensitive=out.sensitive.csv",
        "--joined-by",
        "group",
        "--require",
        "distinct_l_diversity >= 2",
    )
    verified = run(folder, "verify", "out.csv", "--roles", "roles.toml", *beside)
    assert verified.returncode == 0, verified.stderr
    assert "finished what an earlier run had begun" in verified.stderr
    assert (folder / "out.csv").read_bytes() != old
    assert hidden(folder) == []


@pytest.mark.full
def test_documents_of_two_results_never_stand_together(folder: Path) -> None:
    words = ("study", "study.toml", "--out", "study", "--workers", "1", "--formats")
    assert run(folder, *words, "md,html").returncode == 0
    (folder / "study" / "mine.md").write_text("kept")
    assert run(folder, *words, "md").returncode == 0
    assert (folder / "study" / "note.html").exists(), "the numbers are the same, so that it still tells the truth"
    (folder / "study.toml").write_text(STUDY.replace("= [3, 9]", "= [9]"))
    assert run(folder, *words, "md").returncode == 0
    names = {path.name for path in (folder / "study").iterdir() if path.name != ".kept"}
    assert names == {
        "dpia.md",
        "ema.md",
        "intruder.md",
        "mine.md",
        "note.md",
        "report.json",
        "report.md",
        "sheet.md",
        "wp29.md",
    }
