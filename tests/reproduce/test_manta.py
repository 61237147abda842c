"""Manta 2013: the tables have the properties that they are said to have, or an erratum says why not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.reproduce.check import Paper

Numbers = Callable[[str, str], list[float]]
SCRIPT = Path(sys.executable).with_name("sfumato")


def test_golden(paper: Callable[[str], Paper], ours: Numbers, golden: dict[str, Any]) -> None:
    said = golden["manta"]
    assert ours("manta", "3.11: entropy l") == pytest.approx([said["table_3_11_entropy_l"]["value"]], abs=5.1e-5)
    assert ours("manta", "eq. 3.1") == [said["emd_3k_4k_5k"]["value"]]
    assert ours("manta", "3.14: t") == pytest.approx([said["table_3_14_t"]["value"]], abs=5.1e-5)
    assert ours("manta", "3.22: (d_min") == pytest.approx(said["table_3_22_presence"]["value"], abs=5.1e-5)
    lines = {line.what: line for line in paper("manta").lines}
    assert lines["3.12: recursive (1.1, 2)"].ours == "diverse for every c above 1"
    assert lines["block of 5, 4, 1: recursive (6, 3)"].ours == "diverse for every c above 5"
    assert lines["3.16: (1000, 0.1)-closeness"].ours == "met: 0.0000"
    assert lines["3.16: 0.1-closeness"].ours == "missed: t = 0.2667"


def test_every_known_erratum_is_proved(paper: Callable[[str], Paper]) -> None:
    errata = {e.where: e for e in paper("manta").errata}
    assert all(e.shown for e in errata.values())
    for where in ("recursive", "scale of the noise", "IGPL", "definition 9", "eq. 3.1", "table 3.13"):
        assert sum(where in each for each in errata) == 1, where


def test_the_command_without_adult(tmp_path: Path) -> None:
    """What needs no data is printed, then a sentence says what is missing; a machine gets JSON."""
    done = subprocess.run(
        [SCRIPT, "reproduce", "manta", "--json", "--data", str(tmp_path)],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "sfumato: The parts of Manta 2013 that need Adult were not run: No adult"
    )
    content = json.loads(done.stdout)
    assert content["holds"] is True
    assert content["lacking"]
    assert len(content["parts"]) == 6
    assert all(check["holds"] for check in content["checks"])


@pytest.mark.usefixtures("adult_folder")
def test_the_risk_utility_map(paper: Callable[[str], Paper]) -> None:
    found = paper("manta")
    assert found.holds
    [figure] = [figure for figure in found.figures if figure.name == "manta-map"]
    assert sum(point["standing"] == "knee" for point in figure.rows) == 1
    on = sorted((p["loss"], p["risk"]) for p in figure.rows if p["standing"] != "beaten by another")
    assert [risk for _, risk in on] == sorted((risk for _, risk in on), reverse=True)
