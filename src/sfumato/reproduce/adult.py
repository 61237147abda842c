"""The UCI Adult table as the papers prepared it, from a folder that the user names: it is not part of the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.roles import Roles
from ..core.table import Table
from ..engines import read
from ..engines.duckdb import DuckTable, name_of

WHERE = ("data/adult", "../shared/data/adult", "shared/data/adult")


def folder(given: Path | None) -> Path:
    """The folder with adult_48842.csv and the hierarchies."""
    for place in [given, given and given / "adult"] if given is not None else [Path(text) for text in WHERE]:
        if place is not None and (place / "adult_48842.csv").is_file():
            return place
    looked = str(given) if given is not None else ", ".join(WHERE)
    raise InputError(
        f"No adult_48842.csv in {looked}; name the folder that has it (UCI Adult, training and test rows) with --data."
    )


def complete_rows(data: Path, columns: Sequence[str]) -> Table:
    """The 45,222 rows of Adult without a missing value, with these columns (Sramka et al. 2010, 4.1)."""
    table = read(data / "adult_48842.csv", missing=["?"])
    assert isinstance(table, DuckTable)
    asked = ("workclass", "occupation", "native-country")
    known = " AND ".join(f"{name_of(column)} IS NOT NULL" for column in asked)
    chosen = ", ".join(name_of(column) for column in columns)
    return DuckTable.of("Adult, 45,222 rows", f"SELECT {chosen} FROM ({table.sql}) WHERE {known}")


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
