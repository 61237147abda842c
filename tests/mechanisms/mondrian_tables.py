"""Tables for the tests of Mondrian, and plain-Python answers to compare with: nothing here uses a kernel of ours."""

from __future__ import annotations

import csv
import datetime
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.column import text_of
from sfumato.core.release import Release
from sfumato.core.table import Table

Value = str | None
ROW = "row"
"""An insensitive column that numbers the rows, so that each released row can be paired with its original."""

TAXONOMY = [
    ["cook", "food", "service", "*"],
    ["baker", "food", "service", "*"],
    ["maid", "home", "service", "*"],
    ["smith", "metal", "craft", "*"],
    ["welder", "metal", "craft", "*"],
    ["weaver", "cloth", "craft", "*"],
    ["monk", "monk", "monk", "*"],
]
JOBS = [line[0] for line in TAXONOMY]


@dataclass(frozen=True)
class Made:
    """A table, its roles and its columns as Python lists."""

    columns: Mapping[str, list[Any]]
    roles: sf.Roles
    types: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arrow(self) -> pa.Table:
        arrays = {
            name: pa.array(values, self.types.get(name), from_pandas=False) for name, values in self.columns.items()
        }
        return pa.table(arrays)

    @property
    def table(self) -> Table:
        return sf.read(self.arrow)

    @property
    def rows(self) -> int:
        return len(self.columns[ROW])

    def texts(self, name: str) -> list[Value]:
        return [text_of(value) for value in self.columns[name]]

    def shuffled(self, order: Sequence[int]) -> Made:
        return Made({name: [values[i] for i in order] for name, values in self.columns.items()}, self.roles, self.types)


def made(
    quasi: Mapping[str, list[Any]],
    sensitive: list[Any] | None = None,
    *,
    types: Mapping[str, Any] | None = None,
    **roles: Any,
) -> Made:
    """A table from its quasi-identifiers and perhaps a sensitive column `s`, with numbered rows."""
    rows = len(next(iter(quasi.values())))
    columns = {**quasi, **({} if sensitive is None else {"s": sensitive}), ROW: [f"r{i:04d}" for i in range(rows)]}
    given = sf.Roles(
        quasi=tuple(quasi), sensitive=() if sensitive is None else ("s",), insensitive=(ROW,), source="roles", **roles
    )
    return Made(columns, given, types or {})


# --- random tables --------------------------------------------------------------------------------------------------

_DAY = datetime.date(2020, 1, 1)
KINDS: dict[str, tuple[st.SearchStrategy[Any], Any]] = {
    "integer": (st.integers(-4, 12), pa.int64()),
    "real": (st.sampled_from([-1.5, 0.0, 0.25, 2.0, 1e6, 3.125]), pa.float64()),
    "real or nan": (st.sampled_from([-1.5, 0.5, math.nan]), pa.float64()),
    "text number": (st.sampled_from(["7", "10", "9", "-3", "2.50", "+1", "1e3", ""]), pa.string()),
    "date": (st.integers(0, 9).map(lambda i: _DAY + datetime.timedelta(days=37 * i)), pa.date32()),
    "text date": (st.sampled_from(["2021-03-04", "2019-12-31", "2020-02-29", "2021-03-05", ""]), pa.string()),
    "category": (st.sampled_from(["b", "a", "c d", "e,f", 'g"h', "{i}", "", "É"]), pa.string()),
    "flag": (st.booleans(), pa.bool_()),
    "taxonomy": (st.sampled_from([*JOBS, ""]), pa.string()),
}


@st.composite
def tables(draw: st.DrawFn, *, kinds: Sequence[str] = tuple(KINDS), most: int = 24, numbers: bool = False) -> Made:
    """One to three quasi-identifiers of any kind with gaps, one sensitive column (numbers, or two or three letters)."""
    rows = draw(st.integers(1, most))
    chosen = draw(st.lists(st.sampled_from(list(kinds)), min_size=1, max_size=3))
    quasi, types, hierarchies = {}, {}, {}
    for i, kind in enumerate(chosen):
        values, type_ = KINDS[kind]
        name = f"q{i}"
        gaps = values if kind == "real or nan" else st.none() | values  # NULL beside NaN has a test of its own
        quasi[name] = draw(st.lists(gaps, min_size=rows, max_size=rows))
        types[name] = type_
        if kind == "taxonomy":
            hierarchies[name] = sf.Hierarchy.of(name, TAXONOMY)
            if all(text_of(value) is None for value in quasi[name]):
                quasi[name][0] = "cook"  # a taxonomy over nothing is asked for in a test of its own
    letters = st.sampled_from([3, 1, 20] if numbers else ["x", "y", "z"])
    secret = draw(st.lists(st.none() | letters, min_size=rows, max_size=rows))
    types["s"] = pa.int64() if numbers else pa.string()
    return made(quasi, secret, types=types, hierarchies=hierarchies)


# --- what was written -----------------------------------------------------------------------------------------------


def read_back(path: Path) -> list[dict[str, Value]]:
    """The rows of a published CSV file by Python's own reader, the empty text as missing."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    names = lines[0]
    rows = [line or [""] for line in lines[1:]]  # a lone missing value is an empty line
    assert all(len(row) == len(names) for row in rows)
    return [{name: value or None for name, value in zip(names, row, strict=True)} for row in rows]


def write(release: Release, folder: Path) -> list[dict[str, Value]]:
    path = folder / "release.csv"
    release.table.write(path)
    return read_back(path)


def classes_of(rows: Iterable[Mapping[str, Value]], quasi: Sequence[str]) -> dict[tuple[Value, ...], list[Any]]:
    """The rows of each released tuple."""
    found: dict[tuple[Value, ...], list[Any]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in quasi)].append(row)
    return dict(found)


# --- the measures once more, from their definitions in the papers -------------------------------------------------


def _entropy(p: Mapping[Value, float]) -> float:
    return -sum(x * math.log2(x) for x in p.values() if x > 0)


def _shares(values: Sequence[Value]) -> dict[Value, float]:
    return {value: times / len(values) for value, times in Counter(values).items()}


def _order(values: Iterable[Value]) -> list[Value]:
    """By number where all are numbers, missing last; two values in any order."""
    return sorted(set(values), key=lambda v: (v is None, float(v) if v is not None and v[0] in "0123456789" else 0.0))


def plain(metric: str, inside: Sequence[Value], everywhere: Sequence[Value]) -> float:
    """A class measure of the sensitive values inside a class, given those of the whole table."""
    x, a = _shares(inside), _shares(everywhere)
    match metric:
        case "k_anonymity":
            return len(inside)
        case "prosecutor_risk":
            return 1 / len(inside)
        case "distinct_l_diversity":
            return len(x)
        case "entropy_l_diversity":
            return float(2 ** _entropy(x))
        case "t_closeness[equal]":
            return sum(abs(x.get(v, 0) - a[v]) for v in a) / 2
        case "t_closeness[ordered]":
            order = _order(a)
            if len(order) < 2:
                return 0.0
            moved, work = 0.0, 0.0
            for v in order:
                moved += x.get(v, 0) - a[v]
                work += abs(moved)
            return work / (len(order) - 1)
        case "distribution_leakage":
            return math.sqrt(sum((x.get(v, 0) - a[v]) ** 2 for v in a))
        case "entropy_leakage":
            return abs(_entropy(a) - _entropy(x))
        case "one_symbol_i1":
            return sum(p * math.log2(p / a[v]) for v, p in x.items())
        case "one_symbol_i2":
            return _entropy(a) - _entropy(x)
    raise ValueError(metric)


def meets(requirement: sf.Requirement, inside: Sequence[Value], everywhere: Sequence[Value]) -> bool:
    value = plain(str(requirement.metric), inside, everywhere)
    return value >= requirement.bound - 1e-9 if requirement.sign == ">=" else value <= requirement.bound + 1e-9
