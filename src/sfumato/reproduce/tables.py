"""Tables for the reproductions: those that a paper prints in full, and Adult at chosen levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import strings
from ..core.column import FloatArray
from ..core.counts import Counts
from ..core.errors import InputError
from ..core.metric import Metric
from ..core.release import Release, recoded
from ..core.roles import Roles
from ..core.table import Recoding, Table
from ..engines import read
from ..engines.duckdb import DuckTable, arrow, name_of
from .check import Paper, PaperDraft, PaperNumber, beside

Progress = Callable[[float, str], None]


def unheard(share: float, text: str) -> None:
    """Progress that nobody asked to hear of."""


WHERE = ("data/adult", "../shared/data/adult", "shared/data/adult")
COLUMNS = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex", "occupation", "salary-class")  # fmt: skip


def folder(given: Path | None) -> Path:
    """The folder with adult_48842.csv and the hierarchies."""
    for place in [given, given and given / "adult"] if given is not None else [Path(text) for text in WHERE]:
        if place is not None and (place / "adult_48842.csv").is_file():
            return place
    looked = str(given) if given is not None else ", ".join(WHERE)
    raise InputError(
        f"No adult_48842.csv in {looked}; name the folder that has it (UCI Adult, training and test rows) with --data."
    )


def complete_rows(data: Path, columns: Sequence[str], part: str | None = None) -> DuckTable:
    """The 45,222 rows of Adult without a missing value, or those of its training or test part, with these columns."""
    table = read(data / "adult_48842.csv", missing=["?"])
    assert isinstance(table, DuckTable)
    known = [f"{name_of(column)} IS NOT NULL" for column in ("workclass", "occupation", "native-country")]
    known += [] if part is None else [f"{name_of('part')} = '{part}'"]
    chosen = ", ".join(name_of(column) for column in columns)
    return DuckTable.of("Adult, 45,222 rows", f"SELECT {chosen} FROM ({table.sql}) WHERE {' AND '.join(known)}")


def roles_of(data: Path, quasi: Sequence[str], sensitive: Sequence[str], **hierarchies: Any) -> Roles:
    """Roles with the taxonomies of the folder; `hierarchies` names others, or None for none."""
    rules: dict[str, Any] = {}
    for column in quasi:
        file = data / f"hierarchy_{column}.csv"
        if column in hierarchies:
            if hierarchies[column] is not None:
                rules[column] = hierarchies[column]
        elif file.is_file():
            rules[column] = str(file.resolve())
    return Roles(quasi=tuple(quasi), sensitive=tuple(sensitive), hierarchies=rules, source="roles of the paper")


def training_rows(data: Path | None) -> Table:
    """The 30,162 rows of Adult's training part without a missing value, which Bezzi (2010) and Afifi et al. (2018) use."""
    rows = complete_rows(folder(data), COLUMNS, "train").sql
    return read(arrow(rows, "Adult"))  # held, so that the file is read once


def rows_of_training_part(data: Path | None) -> int:
    """How many rows the training part has, those with missing values included."""
    parts = read(folder(data) / "adult_48842.csv", missing=["?"]).count(("part",))
    return int(parts.n[parts.columns[0].texts.index("train")])


def domain_sizes(paper: PaperDraft, table: Table, where: str, printed: Mapping[str, int]) -> list[PaperNumber]:
    """The number of values of each attribute beside ours. Both papers that use the training part print 74 ages: an erratum."""
    ages = table.count(("age",)).columns[0].numbers
    assert ages is not None
    paper.erratum(
        f"{where}, the values of age",
        f"{printed['age']}",
        f"{len(ages)}",
        f"The rows without a missing value have {len(ages)} ages, from {ages.min():.0f} to {ages.max():.0f}; {printed['age']} is the number of whole years from one to the other, "
        f"of which {printed['age'] - len(ages)} do not occur.",
        len(ages) < printed["age"] == ages.max() - ages.min() + 1,
    )
    return [
        beside(
            f"{where}: values of {name}",
            str(size),
            len(table.count((name,))),
            wrong=[0] if name == "age" else (),
            note="see errata" if name == "age" else "",
        )
        for name, size in printed.items()
    ]


def finished(
    paper: PaperDraft,
    data: Path | None,
    steps: Sequence[tuple[str, Callable[[PaperDraft, Table], None]]],
    say: Progress,
) -> Paper:
    """The paper with the named steps that need Adult, or with a sentence that it is not there."""
    try:
        table = training_rows(data)
    except InputError as error:
        return paper.done(lacking=str(error))
    for i, (name, step) in enumerate(steps):
        say((i + 1) / (len(steps) + 1), name)
        step(paper, table)
    return paper.done()


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
    recoding = Recoding.of(roles.quasi, roles.quasi, list(map(strings, [*before, *after])), counts.n)
    return recoded(original, roles, recoding)


def labels(counts: Counts) -> list[str]:
    """The classes by their values, in the order in which scores have them; what is `*` says nothing and is left out."""
    return [", ".join(str(t) for t in row if t != "*") or "*" for row in counts.spelled()]


def per_class(metric: Metric, release: Release, roles: Roles, order: Sequence[str] | None = None) -> FloatArray:
    """What a metric says of each class, in the order given by their labels."""
    values = metric(release, roles).per_class
    assert isinstance(values, np.ndarray)
    if order is None:
        return values
    names = labels(release.evidence(roles).tuples)
    return np.array([values[names.index(label)] for label in order])
