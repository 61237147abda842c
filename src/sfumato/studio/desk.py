"""What one studio works on: the folder's files, opened; each is looked at once and again only after it changed.

The files are the state. Whoever edits roles.toml or study.toml by hand, or runs the command line in the folder, finds the page in
agreement after a reload; a second tab and a second day see the same.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, TypeVar

from ..core.column import Column
from ..core.errors import InputError, SfumatoError
from ..core.files import write_whole
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.people import one_row_a_person
from ..core.roles import Roles
from ..core.stated_reading import ALL
from ..core.table import Table
from ..engines import read
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.marketer_risk import marketer_risk
from ..metrics.privacy.prosecutor_risk import prosecutor_risk
from ..metrics.utility.discernibility import discernibility
from ..metrics.utility.entropy_utility import entropy_utility
from ..metrics.utility.iloss import iloss
from ..profile.free_columns import FreeColumns
from ..profile.free_release import free_of_table
from ..profile.suggestions import named as suggestions_named
from ..profile.table import Profile, profile
from ..publishing.waivers import check_waivers
from ..search.explorer import Explorer, explore
from ..study.result import Result
from ..study.study_file import read_study
from .jobs import Jobs
from .kept_points import read_points
from .tour import ROWS
from .work_folder import WorkFolder

T = TypeVar("T")
Town = Callable[[Path, int], Path]
"""Writes a table of so many made-up people, its roles and its hierarchies into a folder, and says where the table is."""
LOOKED_AT = (k_anonymity, prosecutor_risk, marketer_risk, iloss, discernibility, entropy_utility)
"""What the sliders show besides what is required."""


@dataclass(eq=False)
class Desk:
    """An owner's work, and what was looked at so far."""

    folder: WorkFolder
    jobs: Jobs
    town: Town
    """What makes the town of the tour."""
    _kept: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    _turns: defaultdict[str, threading.RLock] = field(default_factory=lambda: defaultdict(threading.RLock))

    @classmethod
    def at(cls, path: Path, town: Town) -> Desk:
        """The work in a folder."""
        folder = WorkFolder.at(path)
        return cls(folder, Jobs(folder), town)

    # --- what stands in the files

    @property
    def table_file(self) -> Path:
        """The owner's table."""
        path = self.folder.table_file()
        if path is None:
            raise InputError("There is no table yet; open one first.")
        return path

    @property
    def roles(self) -> Roles:
        """What each column is."""
        return self._once("roles", _state(self.folder.roles_file), self.folder.roles)

    @property
    def waived(self) -> dict[str, str]:
        """The columns that go out all the same, and why."""
        return check_waivers(self.folder.study().get("waive", {}), self.raw.columns, where="waive")

    @property
    def reached(self) -> str:
        """The furthest step that there is something to do in."""
        if self.folder.table_file() is None or not self.folder.roles_file.exists():
            return "/open"
        if not ({"context", "require"} & self.folder.study().keys()):
            return "/limits"
        if not self.folder.study().get("candidate"):
            return "/run"
        return "/decide" if self.has_points and self.folder.decided.exists() else "/run"

    # --- what follows from them

    @property
    def raw(self) -> Table:
        """The table as it is read, a row a row."""
        path, study = self.table_file, self.folder.study()
        reading, sheet = self.roles.reading, study.get("sheet")
        return self._once("raw", (_state(path), repr(reading), sheet), lambda: self.opened(path, self.roles, sheet))

    @staticmethod
    def opened(path: Path, roles: Roles | None = None, sheet: str | None = None) -> Table:
        """Read a table, as every verb reads it."""
        return read(path, roles=roles, **({} if sheet is None else {"sheet": sheet}))

    @property
    def table(self) -> Table:
        """The table with one row a person, where the roles make one."""
        raw, roles = self.raw, self.roles
        return self._once("table", (raw, roles), lambda: one_row_a_person(raw, roles))

    @property
    def suggested(self) -> Profile:
        """What the columns look like, whatever their roles are."""
        raw = self.raw
        return self._once("suggested", raw, lambda: profile(raw, most=2))

    @property
    def profiled(self) -> Profile:
        """The table under the owner's roles."""
        raw, roles = self.raw, self.roles
        return self._once("profiled", (raw, roles), lambda: profile(raw, most=3, roles=roles))

    @property
    def free(self) -> FreeColumns:
        """What goes out as it is, and what that gives away."""
        table, roles, waived = self.table, self.roles, self.waived
        return self._once("free", (table, roles, waived), lambda: free_of_table(table, roles, waived))

    @property
    def explorer(self) -> Explorer:
        """The counted problem under the limits."""
        table, roles, limits = self.table, self.roles, self.limits
        return self._once(
            "explorer",
            (table, roles, tuple(map(str, limits))),
            lambda: explore(table, roles, require=limits, metrics=LOOKED_AT),
        )

    def explored(self, limits: Sequence[Requirement]) -> Explorer:
        """The same counts under limits that were moved for a look."""
        explorer = self.explorer
        return self._once("moved", (explorer, tuple(map(str, limits))), lambda: explorer.under(limits))

    @property
    def limits(self) -> Sequence[Any]:
        """What is required, of the context and the owner's own."""
        return self.study.require if self.folder.study_file.exists() else ()

    @property
    def study(self) -> Any:
        """The study that the file describes."""
        key = (_state(self.folder.study_file), _state(self.folder.roles_file), _state(self.table_file))
        return self._once("study", key, lambda: read_study(self.folder.study_file).study)

    @property
    def has_points(self) -> bool:
        """Whether a run of this study has ended."""
        return self.folder.points.exists()

    @property
    def result(self) -> Result:
        """What the last run measured."""
        return self._run[0]

    @property
    def changed(self) -> bool:
        """Whether roles or study say something else than when the last run began."""
        return self._run[1] != self.folder.state

    @property
    def _run(self) -> tuple[Result, str]:
        study, path = self.study, self.folder.points
        return self._once("run", (study, _state(path)), lambda: read_points(path, study))

    def counted(self, name: str) -> tuple[Column, Mapping[str | None, int]] | None:
        """A column's values and their rows, where there are few enough to be counted one by one."""
        counts = dict(self.raw.value_counts([name])).get(name)
        if counts is None:
            return None
        column = counts.columns[0]
        rows = {column.texts[code]: n for code, n in zip(counts.codes[0].tolist(), counts.n.tolist(), strict=True)}
        return column, rows

    # --- changes

    def start(self, path: Path) -> None:
        """Begin with a table: suggest roles, and write both files. What is there for the same table stays."""
        study = self.folder.study()
        table = self.opened(path)
        if study.get("table") != self.folder.refer(path):
            self.folder.write_study({"table": self.folder.refer(path), "roles": self.folder.roles_file.name})
        if not self._fits(table):
            found = profile(table, most=1)
            self.write_roles(found.roles, found)

    def begin_tour(self) -> None:
        """A made-up town, and the word on each page what to do there."""
        self.start(self.town(self.folder.path, ROWS))
        self.folder.tour.touch(mode=0o600)

    def bring(self, path: Path) -> None:
        """Begin anew with a table that was uploaded; one that cannot be read is not kept."""
        try:
            found = profile(self.opened(path), most=1)
        except SfumatoError:
            path.unlink(missing_ok=True)
            raise
        self.write_roles(found.roles, found)
        self.folder.write_study({"table": self.folder.refer(path), "roles": self.folder.roles_file.name})

    def read_so(self, stated: Mapping[str, Any], sheet: str | None) -> None:
        """Read the table as its owner says; roles are suggested anew where the columns are other ones then."""
        before = self.roles
        reading = Roles(reading=stated, source="what you said")
        table = self.opened(self.table_file, reading, sheet)
        for name, _ in reading.missing:
            if name != ALL:
                reading.check_column(name, table.columns, where=table.name, kind="what means missing")
        named = {*before.quasi, *before.sensitive, *before.insensitive, *before.house}
        found, roles = self.suggested, replace(before, reading=dict(stated))
        if not named <= set(table.columns):
            found = profile(table, most=1)
            roles = replace(found.roles, reading=dict(stated))
        self.write_roles(roles, found)
        self.change_study(sheet=sheet)

    def change_roles(self, roles: Roles) -> None:
        """Other roles: candidates that were planned for the old ones go."""
        self.write_roles(roles, self.suggested)
        self.change_study()

    def _fits(self, table: Table) -> bool:
        """Whether the roles file that is there speaks of this table."""
        if not self.folder.roles_file.exists():
            return False
        self.folder.roles().check(table.columns, where=table.name)
        return True

    def write_roles(self, roles: Roles, found: Profile) -> None:
        """Write the roles file, with what speaks for a role where it is the suggested one."""
        named = suggestions_named(roles)
        told = {
            c.name: f"{c.kind}: {c.because}" for c in found.columns if c.name in named and named[c.name].role == c.role
        }
        write_whole(self.folder.roles_file, roles.toml(told))

    def change_study(self, **changes: Any) -> None:
        """Change keys of the study file; None removes one. Candidates of other limits are no longer right, so they go."""
        content = {**self.folder.study(), "candidate": [], **changes}
        self.folder.write_study({key: value for key, value in content.items() if value not in (None, [], {})})

    def _once(self, what: str, key: Any, make: Callable[[], T]) -> T:
        """What was made before, while its key is the same; who wants something else need not wait until it is made."""
        with self._turns[what]:
            kept = self._kept.get(what)
            if kept is not None and kept[0] == key:
                return kept[1]  # type: ignore[no-any-return]
            made = make()
            self._kept[what] = (key, made)
            return made


def _state(path: Path) -> tuple[str, int, int, int] | None:
    """What changes when a file does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (str(path), found.st_mtime_ns, found.st_size, found.st_ino)
