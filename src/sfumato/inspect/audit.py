"""Does a release still make sense? Totals add up, nothing impossible was made, published figures come out again.

The owner lists what must hold, in Python or in a file (TOML):

    tolerance = 0.05                       # relative error that an aggregate may have
    share = 0.0                            # share of the rows that may break a check

    [[sum]]
    parts = ["wages", "rent"]
    total = "income"
    [[never]]
    where = "age < 16 and marital-status = 'Married'"
    [[aggregate]]
    query = "count where sex = 'F'"        # also: sum COLUMN, mean COLUMN, count by COLUMN, COLUMN where ...
    value = 10771                          # what was published; without it what the original says
    tolerance = 0.01

Unasked are looked at: rows and columns that are gone, values that the original never had, numbers out of its range, sums of its
columns that held in every row, and pairs of values that the original has in no row though chance would have made many.

A generalized value contradicts a check only if all that it stands for does. The owner's check that cannot be asked fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..core.errors import InputError, Unavailable
from ..core.metric import Exactness
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.toml import Sections, opened, section

Status = Literal["holds", "fails", "told"]
_QUERY = re.compile(
    r"^\s*(?P<what>count|sum|mean)(?:\s+(?P<column>(?!where\b|by\b)\S.*?))?"
    r"(?:\s+by\s+(?P<by>.+?))?(?:\s+where\s+(?P<where>.+?))?\s*$",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Total:
    """Columns that add up to another one."""

    parts: tuple[str, ...]
    total: str
    within: float = 0.0
    """How far apart they may be, rounding aside."""
    found: bool = False
    """Whether it was found in the original, not listed."""

    def __post_init__(self) -> None:
        parts = (self.parts,) if isinstance(self.parts, str) else tuple(self.parts)
        object.__setattr__(self, "parts", parts)
        if not parts or self.total in parts or len(set(parts)) < len(parts):
            raise InputError("The parts of a sum must be different columns, and its total another one.")
        _number("A sum", "within", self.within)

    def __str__(self) -> str:
        return f"{' + '.join(self.parts)} = {self.total}"


@dataclass(frozen=True, kw_only=True)
class Never:
    """What no row may be: an expression over the columns."""

    where: str

    def __str__(self) -> str:
        return f"never {self.where}"


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """A figure that the release must give again: a count, sum or mean, of all rows or of some, or one of each group."""

    query: str
    value: float | None = None
    tolerance: float | None = None
    absolute: float | None = None
    """An error that is small enough whatever the figure; half a row for a count unless given."""
    what: str = field(init=False, default="")
    column: str | None = field(init=False, default=None)
    by: tuple[str, ...] = field(init=False, default=())
    where: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        m = _QUERY.match(self.query)
        if m is None or (m["what"].lower() == "count") != (m["column"] is None):
            raise InputError(
                f"{self.query!r} is no aggregate; write count, sum COLUMN or mean COLUMN, then perhaps by COLUMN, ... and where EXPRESSION."
            )
        by = tuple(_bare(name) for name in (m["by"] or "").split(",") if name.strip())
        if by and self.value is not None:
            raise InputError(f"{self.query!r} has a figure for each group, so one value cannot be given for it.")
        read = {"what": m["what"].lower(), "column": m["column"] and _bare(m["column"]), "by": by, "where": m["where"]}
        for name, value in read.items():
            object.__setattr__(self, name, value)
        for name in ("tolerance", "absolute"):
            if getattr(self, name) is not None:
                _number(f"{self.query!r}", name, getattr(self, name))

    def __str__(self) -> str:
        return self.query


def _bare(name: str) -> str:
    name = name.strip()
    return name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name


def _number(where: str, name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < np.inf:
        raise InputError(f"{where}: {name} must be a number of at least 0.")


@dataclass(frozen=True)
class AuditCheck:
    """One thing that was looked at: it holds, it fails, or there is something to be told."""

    kind: str
    name: str
    status: Status
    sentence: str
    rows: int = 0
    """Rows that break it."""
    exactness: Exactness = "exact"
    listed: bool = False
    """Whether the owner asked for it."""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Audit:
    """Everything that was looked at."""

    release: str
    rows: int
    checks: tuple[AuditCheck, ...]

    @property
    def met(self) -> bool:
        """Whether nothing fails."""
        return all(check.status != "fails" for check in self.checks)

    @property
    def sentences(self) -> list[str]:
        """Each check in a sentence, and the sum of them."""
        bad = sum(check.status == "fails" for check in self.checks)
        many = f"{len(self.checks)} checks" if len(self.checks) != 1 else "One check"
        end = "none fails" if not bad else f"{bad} {'fails' if bad == 1 else 'fail'}"
        return [*(check.sentence for check in self.checks), f"{many}, {end}."]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without any value of the table but those that the owner's own checks name."""
        checks = [asdict(check) for check in self.checks]
        return {"release": self.release, "rows": self.rows, "met": self.met, "checks": checks}


def audit(
    release: Release,
    roles: Roles,
    *,
    totals: Sequence[Total | Mapping[str, Any]] = (),
    rules: Sequence[Never | str] = (),
    aggregates: Sequence[Aggregate | Mapping[str, Any] | str] = (),
    tolerance: float = 0.05,
    share: float = 0.0,
    discover: bool = True,
) -> Audit:
    """Look whether a release still makes sense beside its original.

    `totals` are columns that add up, `rules` expressions that no row may meet, `aggregates` figures that must come out within their
    tolerance or else `tolerance` (relative). A check on rows fails if more than `share` of the released rows break it. With
    `discover` also what can be found without being told. Nothing of the table is told but counts.
    """
    from . import owner_checks as asked
    from . import release_checks as checks

    if release.statistics:
        raise Unavailable(f"{release.table.name} holds statistics, not rows, so there is nothing to audit row by row.")
    _number("audit", "tolerance", tolerance)
    _number("audit", "share", share)
    evidence = release.evidence(roles)
    original = evidence.original("audit")
    if not release.table.rows or not original.rows:
        empty = release.table if not release.table.rows else original
        raise Unavailable(f"{empty.name} has no rows, so there is nothing to audit.")
    results: list[AuditCheck] = []
    listed = [total if isinstance(total, Total) else Total(**total) for total in totals]
    if discover:
        results += [checks.rows(evidence), checks.columns(evidence)]
        values = checks.Values.of(evidence)
        results += [checks.strange(values, share), checks.ranges(values, share), checks.missing(values)]
        known = {frozenset((*total.parts, total.total)) for total in listed}
        news = [t for t in checks.sums(evidence, values) if frozenset((*t.parts, t.total)) not in known]
        results += [asked.adds_up(evidence, total, share) for total in news]
        results.append(checks.pairs(evidence, values, share))
    for total in listed:
        results.append(_asked("sum", total, partial(asked.adds_up, evidence, total, share)))
    for rule in rules:
        never = rule if isinstance(rule, Never) else Never(where=rule)
        results.append(_asked("never", never, partial(asked.never, evidence, never, share)))
    for given in aggregates:
        wanted = given if isinstance(given, Aggregate) else Aggregate(**({"query": given} if isinstance(given, str) else given))  # fmt: skip
        results.append(_asked("aggregate", wanted, partial(asked.aggregate, evidence, wanted, tolerance)))
    return Audit(release.table.name, release.table.rows, tuple(results))


def _asked(kind: str, what: object, ask: Callable[[], AuditCheck]) -> AuditCheck:
    """A check of the owner's: what cannot be asked of this release does not hold."""
    try:
        return replace(ask(), listed=True)
    except Unavailable as why:
        return AuditCheck(kind, str(what), "fails", f"{what}: cannot be asked of this release. {why}", listed=True)


@dataclass(frozen=True, kw_only=True)
class _ChecksKeys:
    sum: Sections = ()
    never: Sections = ()
    aggregate: Sections = ()
    tolerance: Any = None
    share: Any = None
    discover: bool = True


def read(path: Path | str) -> dict[str, Any]:
    """The checks of a file, as `audit` takes them."""
    path = Path(path)
    content = opened(path, "file of checks", hint="`sfumato audit --help` says what to write into one")
    keys = section(_ChecksKeys, content, str(path))
    checks: dict[str, Any] = {name: content[name] for name in ("tolerance", "share", "discover") if name in content}
    checks["totals"] = [section(Total, each, f"{path}, sum {i}", found=False) for i, each in enumerate(keys.sum, 1)]
    checks["rules"] = [section(Never, each, f"{path}, never {i}") for i, each in enumerate(keys.never, 1)]
    checks["aggregates"] = [
        section(Aggregate, each, f"{path}, aggregate {i}") for i, each in enumerate(keys.aggregate, 1)
    ]
    return checks
