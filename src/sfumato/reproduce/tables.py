"""Tables for the reproductions: those that a paper prints in full, and Adult at chosen levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import integers, strings
from ..core.column import FloatArray
from ..core.counts import Counts
from ..core.metric import Metric
from ..core.recoded_release import recoded
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Recoding, Table
from ..engines import read
from ..engines.duckdb import DuckTable, arrow, name_of
from .adult import folder

COLUMNS = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex", "occupation", "salary-class")  # fmt: skip


def training_rows(data: Path | None) -> Table:
    """The 30,162 rows of Adult's training part without a missing value, which Bezzi (2010) and Afifi et al. (2018) use."""
    table = read(folder(data) / "adult_48842.csv", missing=["?"])
    assert isinstance(table, DuckTable)
    known = " AND ".join(f"{name_of(column)} IS NOT NULL" for column in ("workclass", "occupation", "native-country"))
    chosen = ", ".join(name_of(column) for column in COLUMNS)
    rows = f"SELECT {chosen} FROM ({table.sql}) WHERE {name_of('part')} = 'train' AND {known}"
    return read(arrow(rows, "Adult"))  # held, so that the file is read once


def small(columns: Mapping[str, Sequence[Any]], times: Sequence[int] | None = None, **more: Any) -> Release:
    """A release of a printed table; `times` says how often each row stands in it."""
    return Release(table=table(columns, times), **more)


def table(columns: Mapping[str, Sequence[Any]], times: Sequence[int] | None = None) -> Table:
    """A printed table."""
    often = np.ones(len(next(iter(columns.values()))), dtype=np.int64) if times is None else np.asarray(times)
    at: list[int] = np.repeat(np.arange(len(often)), often).tolist()
    # texts by our own way into Arrow: pyarrow's would load pandas where that is installed
    texts = [strings([str(values[i]) for i in at]) for values in columns.values()]
    return read(pa.Table.from_arrays(texts, names=list(columns)))


def at_levels(original: Table, roles: Roles, levels: Mapping[str, int]) -> Release:
    """The table with every quasi-identifier at a level of its hierarchy; without one there are the values and `*`."""
    counts = original.count(roles.quasi)
    before, after = [], []
    for column, codes in zip(counts.columns, counts.codes, strict=True):
        texts, level = column.texts, levels[column.name]
        hierarchy = roles.hierarchy(column)
        raised = hierarchy.levels[level] if hierarchy is not None else ["*"] * len(texts) if level else texts
        before.append([texts[k] for k in codes])
        after.append([raised[k] for k in codes])
    names = [*(f"by{i}" for i in range(len(before))), *(f"to{i}" for i in range(len(after))), "n"]
    replaced = pa.Table.from_arrays([*map(strings, before), *map(strings, after), integers(counts.n)], names=names)
    recoding = Recoding(roles.quasi, roles.quasi, replaced)
    return recoded(original, roles, recoding)


def labels(counts: Counts) -> list[str]:
    """The classes by their values, in the order in which scores have them; what is `*` says nothing and is left out."""
    texts = [[column.texts[k] for k in codes] for column, codes in zip(counts.columns, counts.codes, strict=True)]
    return [", ".join(str(t) for t in row if t != "*") or "*" for row in zip(*texts, strict=True)]


def per_class(metric: Metric, release: Release, roles: Roles, order: Sequence[str] | None = None) -> FloatArray:
    """What a metric says of each class, in the order given by their labels."""
    values = metric(release, roles).per_class
    assert isinstance(values, np.ndarray)
    if order is None:
        return values
    found = labels(release.evidence(roles).tuples)
    return np.array([values[found.index(label)] for label in order])
