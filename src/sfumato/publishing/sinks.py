"""Where a release goes: staged under a name that nobody knows, measured there, and given its own name once everything is met.

Files are staged beside the ones they will be. A table of a database is staged, measured and renamed in one transaction of its server, so
that nobody else sees it before, and a process that is killed at any moment leaves the old table or the new one, and nothing beside it.
A folder that Spark writes is staged beside the one it will be, counted by Spark, and takes its place at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ..core import table_formats as formats
from ..core.addresses import address_of
from ..core.atomic_files import discard, rename_together
from ..core.database_address import DatabaseAddress
from ..core.errors import InputError, NotMet, SfumatoError
from ..core.leftovers import hidden_beside
from ..core.release import Release
from ..core.spark_address import SparkAddress
from ..core.table import Table
from ..core.variable import Variable
from ..engines import read
from ..engines.formula_escapes import neutralised
from .published_file import checksum, read_published


class Sink(ABC):
    """A release is staged, read back from where it was staged, and committed; whatever was not committed goes."""

    names: Mapping[str, str]
    """What the release ("") and each companion will be called."""

    @abstractmethod
    def staging(self) -> AbstractContextManager[None]:
        """Inside it something is staged; where it is left without `commit`, nothing of it stays."""

    @abstractmethod
    def stage(self, part: str, table: Table) -> None:
        """Write a part of the release under a hidden name."""

    @abstractmethod
    def staged(self, part: str, table: Table) -> Table:
        """What was staged, as whoever gets it reads it; `table` is what it was made of."""

    @abstractmethod
    def entered(self) -> tuple[Path, Path]:
        """The staged file and the one it will be, for a register."""

    @abstractmethod
    def commit(self) -> None:
        """Give every part its name, all or none."""


class Files(Sink):
    """Files, each beside the one that it will replace."""

    def __init__(self, release: Release, path: Path, variables: Mapping[str, Variable], *, neutralise: bool) -> None:
        self.form = formats.check_out(path, release.table.columns)
        self.paths = companion_paths(release, path)
        self.names = {part: str(target) for part, target in self.paths.items()}
        self.variables, self.neutralise = variables, neutralise
        for target in self.paths.values():
            if release.original is not None and _same(target, release.original.name):
                raise InputError(f"{target}: this is the input; write the release somewhere else.")
            if target.is_dir():
                raise InputError(f"{target}: a folder; name a file.")
        self.hidden = {part: hidden_beside(target) for part, target in self.paths.items()}

    @contextmanager
    def staging(self) -> Iterator[None]:
        """Hidden files go."""
        try:
            yield
        except SfumatoError as error:
            error.args = (_renamed(str(error), {str(file): self.names[part] for part, file in self.hidden.items()}),)
            raise
        finally:
            discard(*self.hidden.values())

    def stage(self, part: str, table: Table) -> None:
        """By the table itself."""
        (neutralised(table) if self.neutralise else table).write(self.hidden[part], self.variables)

    def staged(self, part: str, table: Table) -> Table:
        """As we write it."""
        known = {column: each for column, each in self.variables.items() if column in table.columns}
        again = read_published(self.hidden[part], neutralise_formulas=self.neutralise, variables=known)
        if self.form not in (formats.CSV, formats.PARQUET):
            check_kept(table, again, self.names[""], "Write CSV or Parquet.")
        return again

    def entered(self) -> tuple[Path, Path]:
        """The release itself."""
        return self.hidden[""], self.paths[""]

    def commit(self) -> None:
        """The release itself last: where it stands, its companions do."""
        rename_together([(self.hidden[part], self.paths[part]) for part in (*list(self.paths)[1:], "")])


class DatabaseTables(Sink):
    """Tables of a PostgreSQL server."""

    def __init__(self, release: Release, address: DatabaseAddress) -> None:
        from ..engines.postgres_sink import Staging

        parts = {"": address, **{name: address.beside(name) for name in release.companions}}
        self.names = {part: each.name for part, each in parts.items()}
        for part, table in {"": release.table, **release.companions}.items():
            formats.check_names(table.columns, self.names[part])
        self.tables = Staging(parts, None if release.original is None else release.original.name)

    @contextmanager
    def staging(self) -> Iterator[None]:
        """One transaction of the server."""
        try:
            with self.tables.transaction():
                yield
        except SfumatoError as error:
            error.args = (_renamed(str(error), self.tables.hidden_names()),)
            raise

    def stage(self, part: str, table: Table) -> None:
        """On the server where the table is there, else brought there."""
        self.tables.stage(part, table)

    def staged(self, part: str, table: Table) -> Table:
        """Counted on the server; what was brought there must be what it was here."""
        again = self.tables.table(part)
        check_kept(table, again, self.names[part], "Write a file.")
        return again

    def entered(self) -> tuple[Path, Path]:
        """A register keeps checksums of files."""
        raise InputError(
            f"{self.names['']}: a register keeps checksums of files; write a file, or leave the register out."
        )

    def commit(self) -> None:
        """Each table in the place of the release that had its name."""
        self.tables.rename()


class SparkFolders(Sink):
    """Folders of Parquet files that a Spark server writes."""

    def __init__(self, release: Release, address: SparkAddress) -> None:
        from ..engines.spark_sink import StagedFolders

        parts = {"": address, **{name: address.beside(name) for name in release.companions}}
        self.names = {part: each.name for part, each in parts.items()}
        self.folders = StagedFolders(parts, release.original)

    @contextmanager
    def staging(self) -> Iterator[None]:
        """Hidden folders go."""
        try:
            yield
        finally:
            self.folders.discard()

    def stage(self, part: str, table: Table) -> None:
        """Where the table is, else brought there."""
        self.folders.stage(part, table)

    def staged(self, part: str, table: Table) -> Table:
        """Counted by Spark; it must be what was to be written."""
        again = self.folders.table(part)
        check_kept(table, again, self.names[part], "Write a file.")
        return again

    def entered(self) -> tuple[Path, Path]:
        """A register keeps checksums of files."""
        raise InputError(
            f"{self.names['']}: a register keeps checksums of files; write a file, or leave the register out."
        )

    def commit(self) -> None:
        """Each folder in the place of the release that had its name."""
        self.folders.rename()


def sink(
    release: Release, path: Path | str, variables: Mapping[str, Variable], *, neutralise_formulas: bool = False
) -> Sink:
    """Where a release goes, by its place: an address of a table or folder, or a file."""
    address = address_of(path)
    if address is None:
        return Files(release, Path(path), variables, neutralise=neutralise_formulas)
    if neutralise_formulas:
        raise InputError(
            f"{address.name}: formulas are neutralised in CSV and Excel files only; leave neutralise_formulas out."
        )
    if isinstance(address, SparkAddress):
        return SparkFolders(release, address)
    return DatabaseTables(release, address)


def companion_paths(release: Release, path: Path) -> dict[str, Path]:
    """Where a release ("") and its companions go: release.csv and, beside it, release.NAME.csv."""
    beside = {name: path.with_name(f"{path.stem}.{name}{path.suffix}") for name in release.companions}
    return {"": path, **beside}


def parts_of(release: Release, path: Path | str) -> dict[str, str]:
    """What the release ("") and its companions are called where they were written."""
    address = address_of(path)
    if address is None:
        return {part: str(each) for part, each in companion_paths(release, Path(path)).items()}
    return {"": address.name, **{name: address.beside(name).name for name in release.companions}}


def fingerprint(release: Release, path: Path | str, part: str = "") -> dict[str, str]:
    """What tells whether a published part is still the one that was written: the checksum of a file, the digest of a table."""
    address = address_of(path)
    if address is None:
        return {"sha256": checksum(companion_paths(release, Path(path))[part])}
    return {"digest": read((address.beside(part) if part else address).text).digest()}


def check_kept(table: Table, written: Table, name: str, otherwise: str) -> None:
    """Every column of what was written must hold what the release does: the place may have turned a value into another."""
    if written.columns != table.columns:
        raise NotMet(f"{name}: not written; it does not keep the names of the columns. {otherwise}")
    before, after = table.value_counts(table.columns), written.value_counts(written.columns)
    for column in table.columns:
        (one,), (other,) = before[column].columns, after[column].columns
        if dict(zip(one.texts, before[column].n, strict=True)) != dict(zip(other.texts, after[column].n, strict=True)):
            raise NotMet(f"{name}: not written; it does not keep column {column!r} as it is. {otherwise}")


def _renamed(sentence: str, names: Mapping[str, str]) -> str:
    """A sentence about something that nobody has named yet: what it was to be is told."""
    for hidden, name in names.items():
        sentence = sentence.replace(hidden, name)
    return sentence


def _same(path: Path, name: str) -> bool:
    try:
        return path.exists() and Path(name).exists() and path.samefile(name)
    except OSError:
        return False
