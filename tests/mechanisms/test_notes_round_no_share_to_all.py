"""The notes of mechanisms that tell shares: 99.96% of the cells is not all of them, and 0.00004% is not none."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.mechanism import Mechanism
from sfumato.mechanisms.local_suppression import LocalSuppression
from sfumato.mechanisms.microaggregation import Microaggregation
from sfumato.mechanisms.rounding import Rounding

SRC = Path(__file__).parents[2] / "src" / "sfumato" / "mechanisms"
ROWS = 5_000


def noted(made: Mechanism, values: list[str] | np.ndarray) -> str:
    table = sf.read(pa.table({"x": values, "s": ["a"] * ROWS}))
    return " ".join(made(table, sf.Roles(quasi=("x",), sensitive=("s",)), np.random.default_rng(1)).notes)


@pytest.mark.parametrize(
    ("made", "values"),
    [
        (Rounding(base="10"), np.append(np.full(ROWS - 1, 7), 10)),
        (LocalSuppression(k=3), [*(f"v{i}" for i in range(ROWS - 1)), "*"]),
        (Microaggregation(k=ROWS, columns="x"), [f"v{i}" for i in range(ROWS)]),
    ],
)
def test_nearly_all_is_not_all(made: Mechanism, values: list[str] | np.ndarray) -> None:
    said = noted(made, values)
    assert "more than 99.9%" in said
    assert not re.search(r"\b100%", said)


def test_no_note_rounds_a_share_by_itself() -> None:
    """Limits that the owner gave are written as given; what was measured goes through core.words."""
    for path in SRC.rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r"\.\dg\}%|:\.\d%", line):
                assert "self.suppression" in line, f"{path.name}: {line.strip()}"
