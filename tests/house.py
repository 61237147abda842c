"""What tests of many rooms start from: the types of the fixtures, small helpers, and tables of the papers."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table

Make = Callable[..., Release]
MakeTable = Callable[[Mapping[str, Any]], Table]
Refusal = Callable[..., str]


def here(words: Sequence[object], folder: Path | None = None) -> tuple[int, str]:
    """A command as it is typed, in this process: its exit code and all that it said. The signals are as before afterwards."""
    from sfumato.cli import main

    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)}
    told = io.StringIO()
    try:
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            if folder is not None:
                patch.chdir(folder)
            patch.setattr(sys, "argv", list(map(str, words)))
            with pytest.raises(SystemExit) as stop:
                main()
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    return int(stop.value.code or 0), told.getvalue()


def in_memory(columns: dict[str, Any]) -> Table:
    return sf.read(pa.table(columns))


def taxpayers(rows: int) -> pa.Table:
    """People with free columns of every kind: a number of their own, a sum that tells their income, and a ward of many."""
    rng = np.random.default_rng(8)
    income, tax = rng.integers(15_000, 90_000, rows), rng.integers(0, 40, rows) * 100
    return pa.table(
        {
            "age": rng.integers(18, 90, rows),
            "income": income,
            "diagnosis": rng.choice(["flu", "asthma", "none"], rows),
            "weight": rng.permutation(rows) + 0.25,
            "gross": income + tax,
            "tax": tax,
            "ward": rng.choice(["A", "B"], rows),
        }
    )


def canaries(rows: int) -> pa.Table:
    """People whose values are unlike any word of a document, so that one that leaks is seen."""
    rng = np.random.default_rng(11)
    return pa.table(
        {
            "name": [f"Quixotic{i}" for i in range(rows)],
            "age": rng.integers(18, 90, rows),
            "town": rng.choice(["Zanzibar77", "Timbuktu88", "Vaduz99"], rows),
            "ill": rng.choice(["Kuru5561", "Yaws5562", "Ague5563"], rows),
            "pay": rng.choice([771001, 771002, 771003], rows),
        }
    )


def rows(**classes: str) -> dict[str, list[str]]:
    """`rows(a="xxy")`: class a holds the values x, x and y."""
    return {"q": [c for c, values in classes.items() for _ in values], "s": [v for vs in classes.values() for v in vs]}


def exactly(value: Any) -> Any:
    return pytest.approx(value, abs=1e-12)


def rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def outcomes(attack: Any) -> tuple[int, ...]:
    return tuple(getattr(attack.details, name) for name in ("correct", "ambiguous", "wrong", "none"))


# --- tables of the papers --------------------------------------------------------------------------------------------

ADULT_QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
JOBS = Hierarchy.of(  # Manta 2013, figure 3.1
    "job",
    [
        ("Engineer", "Professional", "*"),
        ("Lawyer", "Professional", "*"),
        ("Writer", "Artist", "*"),
        ("Dancer", "Artist", "*"),
    ],
)
PATIENTS = Roles(quasi=("job", "sex", "age"), sensitive=("disease",), hierarchies={"job": JOBS})
DISEASES = Hierarchy.of(  # figure 3.2
    "disease",
    [(d, "stomach disease", "digestive problem", "*") for d in ("gastric ulcer", "dyspepsia", "gastritis")]
    + [(d, "respiratory infection", "respiratory problem", "*") for d in ("flu", "pneumonia", "bronchitis")],
)
NATIONS = Hierarchy.of(
    "nationality",
    [(n, "America", "*") for n in ("USA", "Canada", "Brazil", "Peru")]
    + [(n, "Europe", "*") for n in ("Spain", "Bulgaria", "France")],
)
MANTA = Roles(quasi=("zip", "age", "nationality"), hierarchies={"nationality": NATIONS})
PUBLIC = {  # table 3.19
    "name": ["Alice", "Bob", "Christine", "Dirk", "Eunice", "Frank", "Gail", "Harry", "Iris"],
    "zip": ["47906", "47903", "47906", "47630", "47630", "47633", "48973", "48972", "48970"],
    "age": ["35", "59", "42", "18", "22", "63", "33", "47", "52"],
    "nationality": ["USA", "Canada", "USA", "Brazil", "Brazil", "Peru", "Spain", "Bulgaria", "France"],
}
RESEARCH = {  # table 3.22, which prints 47* for a code of five digits
    "zip": ["47***"] * 3 + ["48***"] * 2,
    "age": ["*"] * 5,
    "nationality": ["America"] * 3 + ["Europe"] * 2,
}
