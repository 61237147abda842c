"""What tests of many rooms start from: the types of the fixtures, small helpers, and tables of the papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def in_memory(columns: dict[str, Any]) -> Table:
    return sf.read(pa.table(columns))


def rows(**classes: str) -> dict[str, list[str]]:
    """`rows(a="xxy")`: class a holds the values x, x and y."""
    return {"q": [c for c, values in classes.items() for _ in values], "s": [v for vs in classes.values() for v in vs]}


def exactly(value: Any) -> Any:
    return pytest.approx(value, abs=1e-12)


def rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def outcomes(attack: Any) -> tuple[int, ...]:
    return tuple(attack.details[name] for name in ("correct", "ambiguous", "wrong", "none"))


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
