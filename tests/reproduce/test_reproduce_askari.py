"""Askari et al. 2012, as the command prints it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.reproduce import askari
from sfumato.reproduce.check import Paper


@pytest.fixture(scope="module")
def found() -> Paper:
    return askari.reproduce()


def test_the_numbers_of_the_paper_and_those_that_correct_it(found: Paper) -> None:
    ours = {line.what: line.ours for line in found.lines}
    notes = {line.what: line.note for line in found.lines}
    assert notes["error, uniform prior (eq. 26)"] == "147/272 in full"
    assert ours["error, prior on one table"] == "0"
    assert ours["the largest error over all priors, a challenge that sec. 3 names"] == "0.6017"
    assert ours["tables of 5 rows over 4 x 2 x 3 values (eq. 21)"] == "98,280"
    assert ours["2-anonymous releases, nothing generalized (eq. 25)"] == "3,528"
    assert ours["2-anonymous releases, all generalizations"] == "5,481"
    assert notes["error, publishing uniform"] == "2426/2457"
    assert notes["error, publishing deterministic"] == "491/520"
    assert found.holds


def test_every_erratum_is_proved(found: Paper) -> None:
    assert [(e.where[:8], e.shown) for e in found.errata] == [
        ("eq. 3", True),
        ("eq. 7", True),
        ("sec. 4.1", True),
        ("eq. 25", True),
        ("sec. 5.5", True),
        ("sec. 5.3", True),
        ("abstract", True),
    ]


def test_no_erratum_stands_without_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were eq. 25 right, or sec. 5.5, nothing would be proved and the paper would not hold."""
    monkeypatch.setattr(askari, "_eq_25", lambda cells, k, rows: 3528)
    found = askari.reproduce()
    assert [e.where for e in found.errata if not e.shown] == ["eq. 25"]
    assert not found.holds


def test_eq_25_and_its_correction_by_hand() -> None:
    """Three rows, k = 2, two cells, two values: all three in one cell, 4 multisets of values each, so 8; eq. 25 says 2."""
    assert askari._coefficient(2, 2, 2, 3) == 8
    assert askari._eq_25(2, 2, 3) == 2


def test_the_command_says_the_same(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("sfumato")
    done = subprocess.run(
        [script, "reproduce", "askari", "--json"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert all(check["holds"] for check in content["checks"])
    assert [e["shown"] for e in content["errata"]] == [True] * 7
    unknown = subprocess.run(
        [script, "reproduce", "gutenberg"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert unknown.returncode == 2
    assert "there are askari, sramka" in unknown.stderr
