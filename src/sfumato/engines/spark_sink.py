"""A release as a folder of Parquet files: written by Spark under a hidden name, counted there again, and renamed here.

Spark cannot rename a folder for a client, so the folder has to be seen from this machine, too. Its parts are sorted by a hash of each row:
they are made by all workers at once, and nothing of the order in which rows came in is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..core.atomic_files import discard, rename_together
from ..core.errors import InputError
from ..core.leftovers import hidden_beside
from ..core.spark_address import SparkAddress, quoted
from ..core.table import Table
from .postgres_sink import OURS
from .spark import SparkTable, described, text_literal
from .spark_kinds import kind_of
from .spark_server import server

MARK = "_sfumato"
"""The file in a folder of ours that says so; Spark reads no file whose name begins like this."""
_ROWS = "rows"
"""Where rows are staged in a hidden folder, since Spark reads nothing that is named as hidden."""


class StagedFolders:
    """Folders that are on the way to their names."""

    def __init__(self, targets: Mapping[str, SparkAddress], original: Table | None) -> None:
        self.targets = targets
        for target in targets.values():
            if target.table or not target.folder.startswith("/"):
                raise InputError(
                    f"{target.name}: Spark writes a release to a folder of Parquet files that is seen from this machine, too; name it, such as "
                    "spark://host:15002/?parquet=/lake/released."
                )
            folder = Path(target.folder)
            if not folder.parent.is_dir():
                raise InputError(
                    f"{target.name}: the folder that it would stand in is not there, or not seen from this machine; make it, or write a file."
                )
            opened = getattr(original, "opened", None)
            if isinstance(opened, SparkAddress) and opened.folder and _inside(folder, Path(opened.folder)):
                raise InputError(f"{target.name}: this is the input; write the release somewhere else.")
            _check_ours(target)
        self.session = server(targets[""])
        self.hidden = {part: hidden_beside(Path(target.folder)) for part, target in targets.items()}

    def stage(self, part: str, table: Table) -> None:
        """By all workers at once, where the table is; else brought there."""
        if isinstance(table, SparkTable) and table.session is self.session:
            sql, kinds = table.sql, table.kinds
        else:
            rows = table.to_arrow()
            view = self.session.bring(rows)
            names = [f"{quoted(column)} AS c{i}" for i, column in enumerate(rows.column_names)]
            sql = f"SELECT {', '.join(names)} FROM {view}"
            types = [name for _, name, *_ in self.session.rows(f"DESCRIBE QUERY {sql}")]
            kinds = tuple(kind for kind in map(kind_of, types) if kind is not None)
        cells = ", ".join(f"{kind.value.format(f'c{i}')} AS c{i}" for i, kind in enumerate(kinds))
        every = ", ".join(f"c{i}" for i in range(len(kinds)))
        named = ", ".join(f"c{i} AS {quoted(column)}" for i, column in enumerate(table.columns))
        hashed = f"SELECT {every}, xxhash64({every}) AS h FROM (SELECT {cells} FROM ({sql}) t) v"
        ordered = f"SELECT * FROM ({hashed}) w DISTRIBUTE BY h SORT BY h, {every}"
        place = self.hidden[part] / _ROWS
        self.hidden[part].mkdir()
        with self.session.asked_about(self.targets[part].name):
            self.session.run(
                f"INSERT OVERWRITE DIRECTORY {text_literal(str(place))} USING parquet SELECT {named} FROM ({ordered}) r"
            )
        if not any(place.glob("*.parquet")):
            raise InputError(
                f"{self.targets[part].name}: what the server wrote is not seen from this machine; name a folder that both see."
            )

    def table(self, part: str) -> SparkTable:
        """A staged folder, to be measured where it is."""
        return described(self.session, self.targets[part], str(self.hidden[part] / _ROWS))

    def rename(self) -> None:
        """Each takes the place of the release that had its name."""
        for part, target in self.targets.items():
            _check_ours(target)
            rows, whole = self.hidden[part] / _ROWS, hidden_beside(Path(target.folder))
            for file in [path for path in rows.iterdir() if path.suffix != ".parquet"]:
                file.unlink()
            for i, file in enumerate(sorted(rows.iterdir())):  # the names that the server gave are new each time
                file.rename(rows / f"part-{i:05}.parquet")
            (rows / MARK).write_text(OURS, encoding="utf-8")
            rows.rename(whole)
            self.hidden[part].rmdir()
            self.hidden[part] = whole
        order = [*list(self.targets)[1:], ""]
        rename_together([(self.hidden[part], Path(self.targets[part].folder)) for part in order])

    def discard(self) -> None:
        """Remove what was not named, and what was replaced."""
        discard(*self.hidden.values())


def _check_ours(target: SparkAddress) -> None:
    """Refuse a name that something else has."""
    folder = Path(target.folder)
    if folder.exists() and not (folder / MARK).is_file():
        raise InputError(
            f"{target.name}: something of that name is there, and it is no release that was written by sfumato; name another folder, or remove that one."
        )


def _inside(one: Path, other: Path) -> bool:
    """Whether one folder is the other, or in it, or around it."""
    first, second = one.resolve(), other.resolve()
    return first == second or first in second.parents or second in first.parents
