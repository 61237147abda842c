"""The owner's register of what was published about the same people: digests, columns, requirements and budgets, no data.

Each release is measured alone, and an adversary has them all. So before a release gets its name the earlier ones are looked up: those that
can still be read are played against it (composition), and what differential privacy has cost so far is added up and held against the
owner's total. A register is a SQLite file, readable by its owner alone; keep one for each set of people.

An entry is made before the release gets its name and confirmed afterwards. After a crash in between, what was spent stays spent: noise
that somebody may have seen is never free.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.errors import Infeasible, InputError, SfumatoError
from ..core.metric import Requirement, parse
from ..core.noun import dataclass
from ..core.outcome import Outcome
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..engines import read
from ..engines.missing_codes import recognise
from ..mechanisms.differential_privacy.budget import Amount, amount, spell
from .published_file import checksum, read_published
from .waivers import Waivers

PRIVATE = "differential privacy hides who is in it; what both cost together is added up instead."
_APPLICATION = 0x5F0A70  # marks the file as ours
_TABLES = """
CREATE TABLE release (number INTEGER PRIMARY KEY, confirmed INTEGER NOT NULL, epsilon TEXT NOT NULL, entry TEXT NOT NULL);
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


@dataclass(frozen=True)
class Entry:
    """One release as the register knows it."""

    file: str
    """Where it was written; `sha256` tells whether that is still the same file."""
    sha256: str
    original: str
    original_digest: str
    rows: int | None
    """None where differential privacy hides it."""
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    insensitive: tuple[str, ...]
    identity: str
    """The column of the original that tells people apart; empty where the roles name none."""
    roles: str
    """The roles file."""
    made_by: str
    requirements: tuple[str, ...]
    waived: Mapping[str, str]
    epsilon: str = "0"
    delta: str = "0"
    statistics: bool = False
    perturbed: tuple[str, ...] = ()
    joined_by: str | None = None
    day: str = ""
    version: str = __version__
    number: int = 0
    confirmed: bool = False

    def _about(self) -> list[str]:
        return [f"number {self.number}", f"{len(self.quasi)} quasi-identifiers", f"epsilon {self.epsilon}"]

    @property
    def private(self) -> bool:
        """Whether it has differential privacy."""
        return Fraction(self.epsilon) > 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "epsilon": float(Fraction(self.epsilon)), "delta": float(Fraction(self.delta))}

    @property
    def sentence(self) -> str:
        """What was published when, and what it cost."""
        cost = f", epsilon {spell(Fraction(self.epsilon))}" if self.private else ""
        cost += f" and delta {spell(Fraction(self.delta))}" if Fraction(self.delta) else ""
        limits = f"; limits: {', '.join(self.requirements)}" if self.requirements else ""
        open_columns = f"; waived: {', '.join(self.waived)}" if self.waived else ""
        unsure = "" if self.confirmed else "; the run that wrote it was cut off, so it may not be out"
        return f"Release {self.number}, {self.day}, by {self.made_by}{cost}: {self.file}{limits}{open_columns}{unsure}."


@dataclass(frozen=True)
class Together:
    """An earlier release beside a later one: the attack on both, or why it could not be played."""

    number: int
    outcome: Outcome | None
    reason: str = ""

    def _about(self) -> list[str]:
        return [f"number {self.number}", "played" if self.outcome else "not played"]

    @property
    def sentence(self) -> str:
        """What both tell, or why that is not known."""
        if self.outcome is None:
            return f"Release {self.number} could not be held against this one: {self.reason}"
        return f"With release {self.number}: {self.outcome.sentence}"


class Register:
    """`Register("register.sqlite", epsilon=2)` opens a register, or begins one whose releases may cost an epsilon of 2 together."""

    def __init__(self, path: Path | str, *, epsilon: Amount | None = None) -> None:
        self.path = Path(path)
        new = not self.path.exists()
        if self.path.is_dir():
            raise InputError(
                f"{self.path}: a folder; name the register's file, for example {self.path / 'register.sqlite'}."
            )
        if not self.path.parent.is_dir():
            raise InputError(f"{self.path}: its folder does not exist; make it first.")
        if new:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with self._connection() as db:
            kind = db.execute("PRAGMA application_id").fetchone()[0]
            if kind == 0 and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in filter(str.strip, _TABLES.split(";")):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {_APPLICATION}")
            elif kind != _APPLICATION:
                raise InputError(f"{self.path}: not a register of sfumato; name another file.")
            if epsilon is not None:
                total = amount(epsilon, "A register's epsilon")
                if total <= 0:
                    raise InputError("A register's epsilon must be above 0.")
                db.execute("INSERT OR REPLACE INTO setting VALUES ('epsilon', ?)", (str(total),))

    def __repr__(self) -> str:
        return f"Register({len(self.entries)} releases)"

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A transaction that locks out other writers from its first line on."""
        try:
            db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            finally:
                db.close()  # what is not committed is undone
        except sqlite3.Error as error:
            raise InputError(
                f"{self.path}: cannot be used as a register ({type(error).__name__}); name another file."
            ) from None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every release, the oldest first."""
        with self._connection() as db:
            rows = db.execute("SELECT number, confirmed, entry FROM release ORDER BY number").fetchall()
        try:
            return tuple(_entry(json.loads(text), number, bool(confirmed)) for number, confirmed, text in rows)
        except (TypeError, ValueError, KeyError):
            raise InputError(f"{self.path}: an entry is damaged; restore the register from a copy.") from None

    @property
    def total(self) -> Fraction | None:
        """The epsilon that all releases may cost together; None where the owner set none."""
        with self._connection() as db:
            return _total(db)

    @property
    def spent(self) -> Fraction:
        """The epsilon that they have cost so far: basic composition, the sum."""
        with self._connection() as db:
            return _spent(db)

    def afford(self, epsilon: Fraction) -> None:
        """Refuse a release that would cost more than is left, before anything is drawn."""
        with self._connection() as db:
            self._check(db, epsilon)

    def _check(self, db: sqlite3.Connection, epsilon: Fraction) -> None:
        total, spent = _total(db), _spent(db)
        if epsilon and total is not None and spent + epsilon > total:
            raise Infeasible(
                f"{self.path}: the register does not allow this release: it costs an epsilon of {spell(epsilon)}, and {spell(total - spent)} of "
                f"{spell(total)} is left."
            )

    @contextlib.contextmanager
    def entering(self, entry: Entry) -> Iterator[None]:
        """Enter a release, let it get its name inside, and confirm it; taken back if it does not get its name.

        An interruption may come when it has its name already: then the entry stays, since the release is out.
        """
        with self._connection() as db:
            self._check(db, Fraction(entry.epsilon))
            kept = {key: value for key, value in asdict(entry).items() if key not in ("number", "confirmed")}
            made = db.execute(
                "INSERT INTO release (confirmed, epsilon, entry) VALUES (0, ?, ?)",
                (entry.epsilon, json.dumps(kept, ensure_ascii=False)),
            )
            number = made.lastrowid
        try:
            yield
        except BaseException:
            if not _is_there(entry):
                with self._connection() as db:
                    db.execute("DELETE FROM release WHERE number = ?", (number,))
            raise
        with self._connection() as db:
            db.execute("UPDATE release SET confirmed = 1 WHERE number = ?", (number,))

    def together(self, release: Release, roles: Roles) -> tuple[Together, ...]:
        """The composition attack with each earlier release that can be read, and why the others were left out."""
        return tuple(_play(entry, release, roles) for entry in self.entries)

    def pairs(self) -> list[tuple[int, Together]]:
        """Every later release with every earlier one, by the roles that each was published under."""
        entries = self.entries
        return [(later.number, _pair(earlier, later)) for i, later in enumerate(entries) for earlier in entries[:i]]

    def completed(self, text: str, roles: Roles) -> str:
        """A requirement's text, with the last release that has classes put in where it looks at an earlier one and names none."""
        from ..metrics import registry

        metric, sign, bound = parse(text, registry())
        missing = [name for name, value in metric.arguments.items() if value is None]
        last = next((entry for entry in reversed(self.entries) if not entry.statistics), None)
        if missing != ["previous"]:
            return text
        if last is None:
            raise InputError(
                f"{text}: {self.path} holds no earlier release to compare with; leave the requirement out this time."
            )
        known = {"previous": last.file, "original": last.original, "identity": identity_of(roles) or ""}
        given = {k: v for k, v in known.items() if k in metric.card.parameters and v and not metric.arguments[k]}
        return f"{metric.set(**given)} {sign} {bound}"


def entry_of(
    release: Release, roles: Roles, require: Sequence[Requirement], file: Path, path: Path, waive: Waivers
) -> Entry:
    """What the register keeps of a release: `file` is what was written, `path` where it will stand."""
    original = release.original
    return Entry(
        file=str(path.resolve()),
        sha256=checksum(file),
        original="" if original is None else _place(original.name),
        original_digest="" if original is None or release.neighbours is not None else original.digest(),
        rows=None if release.neighbours is not None else release.table.rows,
        quasi=roles.quasi,
        sensitive=roles.sensitive,
        insensitive=roles.insensitive,
        identity=identity_of(roles) or "",
        roles=_place(roles.source),
        made_by=release.made_by,
        requirements=tuple(map(str, require)),
        waived=dict(waive),
        epsilon=str(release.epsilon or 0),
        delta=str(release.delta),
        statistics=release.statistics,
        perturbed=tuple(sorted(release.perturbed)),
        joined_by=release.joined_by,
        day=datetime.date.today().isoformat(),
    )


def identity_of(roles: Roles) -> str | None:
    """The column that tells people apart: the person column, else the first identifier."""
    return roles.person or next(iter(roles.identifiers), None)


def _is_there(entry: Entry) -> bool:
    """Whether a release stands where it was written, unchanged."""
    file = Path(entry.file)
    return file.is_file() and checksum(file) == entry.sha256


def _place(name: str) -> str:
    return str(Path(name).resolve()) if Path(name).exists() else name


def _entry(content: Mapping[str, Any], number: int, confirmed: bool) -> Entry:
    lists = {key: tuple(value) for key, value in content.items() if isinstance(value, list)}
    return Entry(**{**content, **lists}, number=number, confirmed=confirmed)


def _total(db: sqlite3.Connection) -> Fraction | None:
    row = db.execute("SELECT value FROM setting WHERE name = 'epsilon'").fetchone()
    return None if row is None else Fraction(row[0])


def _spent(db: sqlite3.Connection) -> Fraction:
    return sum((Fraction(row[0]) for row in db.execute("SELECT epsilon FROM release")), Fraction(0))


def _play(entry: Entry, release: Release, roles: Roles) -> Together:
    """The attack on a release and an earlier one."""
    from ..attacks.composition import composition

    reason = PRIVATE if release.epsilon else _apart(entry)
    if reason is not None:
        return Together(entry.number, None, reason)
    try:
        earlier, theirs = _published(entry, release.original)
        outcome = composition(release, roles, previous=earlier, previous_roles=theirs, identity=identity_of(roles))
    except SfumatoError as error:
        return Together(entry.number, None, str(error))
    return Together(entry.number, outcome)


def _pair(earlier: Entry, later: Entry) -> Together:
    """The same of two releases that are both out."""
    reason = _apart(later)
    if reason is not None:
        return Together(earlier.number, None, reason)
    try:
        release, roles = _published(later, None)
    except SfumatoError as error:
        return Together(earlier.number, None, str(error))
    return _play(earlier, release, roles)


def _apart(entry: Entry) -> str | None:
    """Why nobody can be looked up in a release; None where people can."""
    if entry.private:
        return PRIVATE
    return "it holds statistics, not one row per person." if entry.statistics else None


def _published(entry: Entry, original: Table | None) -> tuple[Release, Roles]:
    """A release with its original (the one given, where it is that) and its roles; refuses what is gone or was changed."""
    file = Path(entry.file)
    if not _is_there(entry):
        raise InputError(f"{entry.file} is not there any more, or has been changed.")
    if original is None or original.digest() != entry.original_digest:
        if not entry.original or not Path(entry.original).is_file():
            raise InputError("the table that it was made of is not there any more.")
        original = read(Path(entry.original))
        if original.digest() != entry.original_digest:
            raise InputError("the table that it was made of has been changed since, or was read with options.")
    roles = Roles.read(entry.roles) if Path(entry.roles).is_file() else Roles()
    roles = replace(
        roles,
        quasi=entry.quasi,
        sensitive=entry.sensitive,
        insensitive=entry.insensitive,
        identifiers=(entry.identity,) if entry.identity else (),
        person=entry.identity if roles.person else None,
    )
    others = (*roles.sensitive, *roles.insensitive)
    table = recognise(read_published(file), original, quasi=roles.quasi, others=others)
    perturbed = frozenset(entry.perturbed)
    return Release(table=table, original=original, perturbed=perturbed, joined_by=entry.joined_by), roles
