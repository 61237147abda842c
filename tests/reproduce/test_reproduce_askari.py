"""Askari et al. 2012, as the command prints it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.reproduce.askari import reproduce


def test_the_numbers_of_the_paper_and_those_that_correct_it() -> None:
    found = reproduce()
    ours = {line.what: line.ours for line in found.lines}
    assert float(ours["appendix: error, uniform prior"]) == pytest.approx(147 / 272, abs=1e-6)
    assert ours["appendix: error, prior on one table"] == "0"
    assert float(ours["appendix: largest error over all priors"]) == pytest.approx(0.6016898008449004, abs=1e-6)
    assert ours["tables of 5 rows over 4 x 2 x 3 values (eq. 21)"] == "98,280"
    assert ours["2-anonymous releases, ungeneralized node (eq. 25)"] == "3,528"
    assert ours["2-anonymous releases, all nodes"] == "5,481"
    assert float(ours["error, publishing uniform"]) == pytest.approx(0.9873829873829875)
    assert float(ours["error, publishing deterministic"]) == pytest.approx(0.9442307692307692)
    assert [check.holds for check in found.checks] == [True, True, True]


def test_the_command_says_the_same(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("sfumato")
    done = subprocess.run(
        [script, "reproduce", "askari", "--json"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert all(check["holds"] for check in content["checks"])
    assert len(content["errata"]) == 5
    unknown = subprocess.run(
        [script, "reproduce", "gutenberg"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert unknown.returncode == 2
    assert "there are askari, sramka" in unknown.stderr
