"""A share of benchmarks/faults.py: kills, a full disk and little memory leave the old output or the new one, never half."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "faults.py"


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="limits and process groups as Linux has them")
def test_kills_and_limits_leave_nothing_half(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("faults", _FILE)
    assert spec is not None
    assert spec.loader is not None
    faults = importlib.util.module_from_spec(spec)
    sys.modules["faults"] = faults
    spec.loader.exec_module(faults)
    assert faults.main(4, faults.JOBS[:2], renames=2) == []
    assert capsys.readouterr().out.startswith("4 kills over sanitize, companions")
