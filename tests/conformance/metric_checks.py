"""What must be true of every metric, as functions: the registry is run through them, and so are metrics made wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.arrow import strings
from sfumato.core.classes import Classes, Sensitive
from sfumato.core.column import Column, encode, text_of
from sfumato.core.errors import Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.metric import Metric, Score, parse, parse_requirement
from sfumato.core.parameter import Choice
from sfumato.core.population import Cover
from sfumato.core.release import Evidence, Release
from sfumato.core.roles import Roles
from sfumato.core.table import Recoding, Table
from sfumato.core.value_sets import spell_set

MakeTable = Callable[[dict[str, Any]], Table]
MISSING = object()
"""Stands for a missing value until it is spelled as NULL, as an empty text or as NaN."""
TREE = Hierarchy.of(
    "s", [("1", "odd", "*"), ("2", "small", "*"), ("4", "small", "*"), ("8", "large", "*"), ("16", "large", "*")]
)
"""A taxonomy of the sensitive numbers."""
GUARDS = (None, "odd", "small", "2", "large", "16")


def same(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


# --- cases -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Rows of two quasi-identifiers and a sensitive number, and for each quasi-identifier what is merged in the release.

    `rows` are numbers into `p`, `q` and `s`; number -1 is missing. `merged` are groups of such numbers. A column `t`,
    without a role, follows from p and q: it is there for metrics of several sensitive columns. So are `who`, a person for
    each distinct row, `guard`, a node of the taxonomy or none, and `stands`, a survey weight: `fitted` gives them their roles.
    """

    rows: tuple[tuple[int, int, int], ...]
    merged: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]] = ((), ())
    p: tuple[str, ...] = ("ash", "birch", "cedar", "date")
    q: tuple[str, ...] = ("10", "20", "30", "40", "50")
    s: tuple[int, ...] = (1, 2, 4, 8, 16)
    null: object = None
    nan: object = None
    population: bool = False
    related: bool = False
    roles: Roles = field(default_factory=lambda: Roles(quasi=("p", "q"), sensitive=("s",), hierarchies={"s": TREE}))

    def spelled(self, names: Sequence[str], code: int) -> object:
        return self.null if code < 0 else names[code]

    def label(self, names: Sequence[str], groups: tuple[tuple[int, ...], ...], code: int) -> object:
        """What a value is released as: itself, the set of its group, or * where that holds the missing value."""
        for group in groups:
            if code in group and len(group) > 1:
                return "*" if -1 in group else spell_set([names[c] for c in sorted(group)])
        return self.spelled(names, code)

    def original(self) -> dict[str, Any]:
        p, q, s = zip(*self.rows, strict=True)
        return {
            "p": [self.spelled(self.p, c) for c in p],
            "q": [self.spelled(self.q, c) for c in q],
            "s": pa.array([self.nan if c < 0 else float(self.s[c]) for c in s], pa.float64()),
            "t": ["even" if (a + b) % 2 == 0 else "odd" for a, b in zip(p, q, strict=True)],
            "who": [f"person {row}" for row in self.rows],
            "guard": [GUARDS[(a + 2 * b + c) % len(GUARDS)] for a, b, c in self.rows],
            "stands": [str(2 + (a + 2 * b + c) % 7) for a, b, c in self.rows],
        }

    def released(self) -> dict[str, Any]:
        found = self.original()
        for at, (name, names) in enumerate((("p", self.p), ("q", self.q))):
            found[name] = [self.label(names, self.merged[at], row[at]) for row in self.rows]
        return found

    def release(self, make: MakeTable) -> Release:
        """Through an engine, a row for a row, paired by position."""
        original = self.original()
        return Release(
            table=make(self.released()),
            original=make(original),
            population=make(self.people()) if self.population else None,
            related=(make(self.along()),) if self.related else (),
            pairing="position",
        )

    def people(self) -> dict[str, Any]:
        """A population: nearly everybody twice; who, must not hang on the order of the rows."""
        people = dataclasses.replace(self, rows=tuple(sorted(self.rows * 2))[3:]).original()
        return {name: people[name] for name in ("p", "q")}

    def along(self) -> dict[str, Any]:
        """A table published along, with one of the quasi-identifiers of most people."""
        some = dataclasses.replace(self, rows=tuple(row for row in self.rows if row[2] >= 0)).released()
        return {name: some[name] for name in ("who", "p")}

    def by_recoding(self, make: Callable[[dict[str, Any], Sequence[int]], Table], *, merge: bool) -> Release:
        """From weights (all of them 1, or equal rows merged), paired by the recoding that a mechanism leaves."""
        distinct = sorted(set(self.rows)) if merge else list(self.rows)
        n = [self.rows.count(row) if merge else 1 for row in distinct]
        few = dataclasses.replace(self, rows=tuple(distinct))
        before, after = few.original(), few.released()
        columns = [strings(list(side[name])) for side in (before, after) for name in ("p", "q")]
        recoding = Recoding(
            ("p", "q"), ("p", "q"), pa.table([*columns, pa.array(n)], names=["by0", "by1", "to0", "to1", "n"])
        )
        lists = {**before, "s": before["s"].to_pylist()}
        people, along = self.people(), self.along()
        return Release(
            table=make({**lists, "p": after["p"], "q": after["q"]}, n),
            original=make(lists, n),
            population=make(people, [1] * len(people["p"])) if self.population else None,
            related=(make(along, [1] * len(along["p"])),) if self.related else (),
            recoding=recoding,
        )


NOISE = ("noise_interval", "noise_variance", "linkage_distance_risk", "isolation")
"""Metrics of perturbed numbers."""


@dataclass(frozen=True)
class Noisy(Case):
    """Both quasi-identifiers are numbers, and what is merged is released as the mean of its group, a number again."""

    def label(self, names: Sequence[str], groups: tuple[tuple[int, ...], ...], code: int) -> object:
        for group in groups:
            if code in group and code >= 0:
                return text_of(float(np.mean([float(names[c]) for c in sorted(group) if c >= 0])))
        return self.spelled(names, code)


def noisy(case: Case) -> Noisy:
    """The case with numbers; other names become other units."""
    unit = 1.0 if case.p == Case.p else 2.5
    given = {f.name: getattr(case, f.name) for f in dataclasses.fields(case)}
    numbers = {
        name: tuple(str(text_of(unit * x)) for x in (3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0, 89.0)[: len(given[name])])
        for name in ("p", "q")
    }
    return Noisy(**{**given, **numbers})


@dataclass(frozen=True)
class Freely(Case):
    """One column that nothing limits, which spells both quasi-identifiers out until all is suppressed."""

    def original(self) -> dict[str, Any]:
        found = {name: values for name, values in super().original().items() if name in ("p", "q", "s")}
        return {**found, "both": [f"{p} and {q}" for p, q in zip(found["p"], found["q"], strict=True)]}

    def released(self) -> dict[str, Any]:
        found = super().released()
        return {**found, "both": ["*"] * len(self.rows)} if self.merged == suppressed(self).merged else found

    def along(self) -> dict[str, Any]:
        return {"p": self.released()["p"]}


def freely(case: Case) -> Freely:
    """The case with such a column."""
    return Freely(**{f.name: getattr(case, f.name) for f in dataclasses.fields(case)})


def dated(case: Case) -> Case:
    """The case with days, which a rule speaks of; other names become other days."""
    first = 1 if case.p == Case.p else 9
    days = {
        name: tuple(f"{1980 + at}-0{1 + at}-{first + i:02d}" for i in range(len(getattr(case, name))))
        for at, name in enumerate(("p", "q"))
    }
    return dataclasses.replace(case, **days)


def random_case(seed: int, **more: Any) -> Case:
    """Some 60 rows in which the sensitive value depends on the quasi-identifiers; every value and missing occur."""
    rng = np.random.default_rng(seed)
    p, q = rng.integers(-1, 4, 60), rng.integers(-1, 5, 60)
    s = np.where(rng.random(60) < 0.6, (p + q + 2) % 5, rng.integers(-1, 5, 60))
    rows = [*zip(p.tolist(), q.tolist(), s.tolist(), strict=True)] + [(i, i, i) for i in range(-1, 4)]
    merged = tuple(
        tuple(tuple(g.tolist()) for g in np.split(rng.permutation(np.arange(-1, size)), [2, 4]) if len(g))
        if rng.random() < 0.7
        else ()
        for size in (4, 5)
    )
    return Case(tuple(rows), merged, population=seed % 2 == 1, **more)  # type: ignore[arg-type]


def identity(case: Case) -> Case:
    return dataclasses.replace(case, merged=((), ()))


def suppressed(case: Case) -> Case:
    return dataclasses.replace(case, merged=((tuple(range(-1, len(case.p))),), (tuple(range(-1, len(case.q))),)))


def merges(seed: int) -> Iterator[tuple[Case, Case]]:
    """Releases over one quasi-identifier whose classes are merged two by two until one is left; each with the one before."""
    rng = np.random.default_rng(seed)
    names = tuple("abcdefgh")
    q = np.concatenate([np.arange(8), rng.integers(0, 8, 40)])
    # Few values in a class make extremes likely, and extremes are where a false claim breaks.
    s = np.where(rng.random(48) < 0.5, q % 5, rng.integers(0, 5, 48))
    rare = seed % 3 == 2  # one row has another value than all others, and is merged with a single row first
    if rare:
        q = np.concatenate([np.arange(8), rng.integers(0, 6, 40)])
        s = (q == 7).astype(int)
    rows = tuple((0, int(a), int(b)) for a, b in zip(q, s, strict=True))
    groups: list[tuple[int, ...]] = [(i,) for i in range(len(names))]
    before = Case(rows, ((), tuple(groups)), p=("x",), q=names, population=seed % 2 == 1)
    while len(groups) > 1:
        i, j = (6, 7) if rare and len(groups) == 8 else sorted(rng.choice(len(groups), 2, replace=False))
        groups = [*(g for k, g in enumerate(groups) if k not in (i, j)), groups[i] + groups[j]]
        after = dataclasses.replace(before, merged=((), tuple(groups)))
        yield before, after
        before = after


# --- checks ----------------------------------------------------------------------------------------------------------


def asked(metric: Metric) -> Metric:
    """As the cases can answer it: what needs several sensitive columns is asked of t, and s is the other one."""
    return metric.on("t") if metric.card.name == "multi_attribute_l_diversity" else metric


def fitted(metric: Metric, case: Case) -> Case:
    """The case with what this metric needs besides: a population, people, a table published along, guarding nodes."""
    name, roles = metric.card.name, case.roles
    if name == "isolation":  # Noisy hides no missing value, so those who have one must not stand out by that alone
        some = tuple(row for row in case.rows if (row[0] < 0) == (row[1] < 0))
        case = dataclasses.replace(case, rows=tuple(dict.fromkeys((*some, (-1, -1, 0), (-1, -1, 1), (-1, -1, 3)))))
    if name in NOISE:
        return noisy(case)
    if name == "hipaa_rules":
        return dated(case)
    if name in ("rows_alone_by_free_columns", "values_told_by_free_columns"):
        return freely(case)
    more: dict[str, Any] = {"population": True} if "population" in metric.card.needs else {}
    if name == "xy_anonymity":
        more["roles"] = dataclasses.replace(roles, person="who")
    if name == "multir_anonymity":  # one row a person: else those with most rows stand out whatever is merged
        more.update(roles=dataclasses.replace(roles, person="who"), related=True, rows=tuple(dict.fromkeys(case.rows)))
    if name == "personalized_breach":
        more["roles"] = dataclasses.replace(roles, guarding="guard")
    if name == "individual_risk":
        more["roles"] = dataclasses.replace(roles, weight="stands")
    return dataclasses.replace(case, **more)


RELEASES: dict[tuple[Any, ...], Release] = {}


def evidence_of(case: Case, make: MakeTable) -> Evidence:
    """Of the case's release, which is made once for all metrics: a table remembers its counts, and none may change them."""
    spelled = (getattr(case, f.name) for f in dataclasses.fields(case) if f.name != "roles")
    key = (make, type(case), *map(repr, spelled))
    if key not in RELEASES:
        RELEASES[key] = case.release(make)
    return RELEASES[key].evidence(case.roles)


def score(metric: Metric, case: Case, make: MakeTable) -> Score:
    case = fitted(metric, case)
    return metric.score(evidence_of(case, make))


def check_bounds(metric: Metric, case: Case, make: MakeTable) -> None:
    low, high = metric.card.bounds
    found = score(metric, case, make)
    assert low <= found.value <= high, f"{found.value} is not within {metric.card.bounds}"
    if found.per_class is not None:
        assert low <= found.per_class.min(), metric.card.bounds
        assert found.per_class.max() <= high, metric.card.bounds
    assert found.unit == metric.card.unit


def check_worst_class(metric: Metric, case: Case, make: MakeTable) -> None:
    case = fitted(metric, case)
    found = score(metric, case, make)
    if metric.card.scope != "table":
        assert found.per_class is not None, "a class metric tells its classes"
    if found.per_class is not None:
        assert len(found.per_class) == len(evidence_of(case, make).tuples)
        assert found.value == (min if metric.card.better == "higher" else max)(found.per_class.tolist())


def check_direction(metric: Metric, case: Case, make: MakeTable) -> None:
    """Suppressing everything is never worse for privacy nor better for utility, and for some case not the same.

    Labels that overlap are the exception: what is suppressed counts as missing, so suppressing costs nothing there, as the card says. So is
    who is alone in the population: in one of the populations here nobody is, and its own test plants who is.
    """
    raw, hidden = (score(metric, c, make).value for c in (identity(case), suppressed(case)))
    gain = hidden - raw if metric.card.better == "higher" else raw - hidden
    if metric.card.about == "utility":
        gain = -gain
    least = 0.0 if metric.card.name in ("overlapping_labels", "population_uniqueness") else 1e-9
    assert gain >= least, f"raw {raw}, suppressed {hidden}, but {metric.card.better} is said to be better"


def check_row_order(metric: Metric, case: Case, make: MakeTable) -> None:
    turned = dataclasses.replace(case, rows=tuple(np.random.default_rng(1).permutation(case.rows).tolist()))
    reverse = dataclasses.replace(case, rows=case.rows[::-1])
    before = score(metric, case, make)
    for other in (turned, reverse):
        after = score(metric, dataclasses.replace(other, rows=tuple(map(tuple, other.rows))), make)
        _same_score(before, after)


def check_labels(metric: Metric, case: Case, make: MakeTable) -> None:
    """Other names for the quasi-identifiers' values, in another order, change nothing."""
    renamed = dataclasses.replace(case, p=("yew", "willow", "a longer, odder name", "über"), q=("v", "iv", "iii", "ii", "i"))  # fmt: skip
    _same_score(score(metric, case, make), score(metric, renamed, make), classes_in_order=False)


def check_weights(metric: Metric, case: Case, make: MakeTable, weighted: Callable[..., Table]) -> None:
    """Rows in an engine, rows one by one in memory, and merged rows with weights are one and the same table."""
    case = fitted(metric, dataclasses.replace(case, population=False))
    before = metric.score(evidence_of(case, make))
    for merge in (False, True):
        _same_score(before, metric.score(case.by_recoding(weighted, merge=merge).evidence(case.roles)))


def check_missing(metric: Metric, case: Case, make: MakeTable) -> None:
    """NULL, the empty text and NaN give the same score."""
    before = score(metric, case, make)
    for null, nan in (("", None), (None, math.nan), ("", math.nan)):
        _same_score(before, score(metric, dataclasses.replace(case, null=null, nan=nan), make))


def check_monotone(metric: Metric, pairs: Sequence[tuple[Case, Case]], make: Callable[[dict[str, Any]], Table]) -> None:
    """If the card says so: merging classes never makes it worse."""
    if not metric.card.monotone:
        return
    for before, after in pairs:
        fine, coarse = (score(metric, c, make).value for c in (before, after))
        if fine == coarse:  # perhaps both infinite
            continue
        worse = fine - coarse if metric.card.better == "higher" else coarse - fine
        assert worse <= 1e-9, f"{metric} was {fine} and is {coarse} after a merge"


@dataclass(frozen=True)
class Parts:
    """Some classes by sensitive value, the class that they make together, and tables around them."""

    parts: tuple[tuple[int, ...], ...]
    beside: tuple[int, ...]
    elsewhere: tuple[int, ...]
    column: Column

    @property
    def union(self) -> tuple[int, ...]:
        return tuple(map(sum, zip(*self.parts, strict=True)))

    def values(self, metric: Metric, rows: Sequence[Sequence[int]], beside: Sequence[int]) -> Any:
        """The metric of these classes, each in a table of itself and what is beside it."""
        return np.array([self.value(metric, [each], np.add(each, beside))[0] for each in rows])

    def value(self, metric: Metric, rows: Sequence[Sequence[int]], table: Any) -> Any:
        """The metric of these classes, given the rows by value of the table that they are part of."""
        n = np.array(rows, dtype=np.int64)
        there = np.flatnonzero(np.asarray(table) > 0)  # a column has only values that occur
        sensitive = Sensitive(self.column.only(there), np.asarray(table)[there], None, TREE)
        member, value = np.nonzero(n[:, there])
        size = n.sum(axis=1)
        people = Cover(3 * size + np.minimum(size, 2), 0, 0) if metric.card.covers else None
        return metric.per_class(Classes(size, member, value, n[:, there][member, value], sensitive, cover=people))


def random_parts(seed: int) -> Parts:
    """Two to four parts, often of few rows or one value, since claims break at extremes."""
    rng = np.random.default_rng(seed)
    column, _ = encode("s", strings(["1", "2", "4", "8", "16", *([None] if seed % 3 == 0 else [])]))
    parts = []
    for _ in range(rng.integers(2, 5)):
        n = rng.integers(0, (2, 4, 12)[int(rng.integers(3))], len(column)) * (rng.random(len(column)) < rng.random())
        n[rng.integers(len(column))] += rng.integers(1, 5)
        parts.append(tuple(n.tolist()))
    beside, elsewhere = (tuple(rng.integers(0, high, len(column)).tolist()) for high in (6, 30))
    return Parts(tuple(parts), beside, elsewhere, column)


def check_inherited(metric: Metric, cases: Sequence[Parts]) -> None:
    """If the card says so: a class that holds another is no worse than that, whatever the rest of the two tables."""
    if not metric.inherited:
        return
    assert metric.card.scope == "class"
    assert metric.card.monotone
    for case in cases:
        fine = case.values(metric, case.parts, case.beside)
        for beside in (case.beside, case.elsewhere, (0,) * len(case.beside)):
            (coarse,) = case.values(metric, [case.union], beside)
            best = fine.max() if metric.card.better == "higher" else fine.min()
            worse = best - coarse if metric.card.better == "higher" else coarse - best
            assert worse <= 1e-9, f"{metric} was {best} in a part and is {coarse} in the whole"


def check_alone(metric: Metric, cases: Sequence[Parts]) -> None:
    """If the card of a class metric says so: a class has the same number whatever the rest of the table."""
    if not metric.alone or metric.card.scope != "class":
        return
    for case in cases:
        first = case.values(metric, case.parts, case.beside)
        for beside in (case.elsewhere, (0,) * len(case.beside)):
            assert case.values(metric, case.parts, beside) == same(first), f"{metric} looks at more than a class"


def check_costs(metric: Metric, case: Case, make: MakeTable) -> None:
    """If the card tells what classes cost, the value is their sum by the rows."""
    if metric.card.costs is None:
        return
    case = fitted(metric, case)
    roles = dataclasses.replace(case.roles, person=None)
    release = case.release(make)
    found = metric.score(release.evidence(roles))
    classes = release.evidence(roles).classes(found.details.get("column"))
    assert found.value == same(float(metric.card.costs(classes, **metric.arguments).sum()) / classes.rows)


def check_convex(metric: Metric, cases: Sequence[Parts]) -> None:
    """If the card says so: in one table, a class is at most the mean of its parts by their rows; only shares count; and the
    largest is a class of one value."""
    if not metric.convex:
        return
    assert metric.card.scope == "class"
    assert metric.card.monotone
    assert metric.card.better == "lower"
    for case in cases:
        table = np.add(case.union, case.beside)
        fine = case.value(metric, case.parts, table)
        (coarse,) = case.value(metric, [case.union], table)
        rows = np.array(case.parts).sum(axis=1)
        mean = float((fine * rows).sum()) / rows.sum()
        assert coarse <= mean + 1e-9, f"{metric} is {coarse}, more than the mean {mean} of its parts"
        tripled = case.value(metric, np.array(case.parts) * 3, table)
        assert tripled == same(fine), f"{metric} changes with the size of a class"
        single = [row for i, row in enumerate(np.eye(len(table), dtype=np.int64)) if table[i]]
        assert fine.max() <= case.value(metric, single, table).max() + 1e-9, f"{metric} is largest at no single value"


def check_order_of_questions(metric: Metric, case: Case, make: MakeTable, others: Sequence[Metric]) -> None:
    """What was asked of a release before does not change the answer."""
    case = fitted(metric, case)
    alone = metric.score(case.release(make).evidence(case.roles))
    for other in others:
        asked = case.release(make)
        with contextlib.suppress(Unavailable):  # it may need more than this metric does
            other.score(asked.evidence(case.roles))
        _same_score(alone, metric.score(asked.evidence(case.roles)))


def check_card(metric: Metric) -> None:
    card = metric.card
    for text in (card.name, card.title, card.question, card.unit, card.source, card.misleads, card.definition):
        assert isinstance(text, str)
        assert text.strip(), card
    assert card.question.endswith("?")
    assert card.misleads.endswith(".")
    assert re.search(r"(19|20)\d\d", card.source), "a source has a year"
    assert card.about in ("privacy", "utility")
    assert card.better in ("higher", "lower")
    assert card.bounds[0] < card.bounds[1]
    assert card.scope in ("class", "classes", "table")
    assert card.costs is None or (card.scope == "table" and card.better == "lower"), "a mean is of the table"
    for name, kind in card.parameters.items():
        for value in kind.usual:  # what is measured by default can be written, and reads back
            assert kind.read(value) == value
            if value == frozenset():  # no values at all: what is not written
                continue
            assert kind.read(kind.spell(name, value).removeprefix(f"{name}=")) == value
        if isinstance(kind, Choice):
            assert len(kind.options) == len(set(kind.options)) > 0


def sweep(metric: Metric) -> list[float]:
    """Values over the bounds: both ends, next to them, and many between; a bound that is not finite is far away."""
    low, high = (b if math.isfinite(b) else math.copysign(1e12, b) for b in metric.card.bounds)
    inner = [0.0, 1e-9, 1e-3, 0.1, 0.25, 0.5, 0.999, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 1000.0, 123456789.0, -0.5, -3.0]
    near = [low, high, math.nextafter(low, high), math.nextafter(high, low), (low + high) / 2]
    return [x for x in (*inner, *near) if low <= x <= high]


def check_sentences(metric: Metric) -> None:
    for value in sweep(metric):
        text = metric.sentence(value)
        assert isinstance(text, str)
        assert re.fullmatch(r"[A-Z0-9].*\.", text), f"no sentence for {value}: {text!r}"
        assert not re.search(r"anonym(?:ous|ized)|\bsafe", text, re.IGNORECASE), text
        assert not re.search(r"\bnan\b|\binf\b|-0\b|-0%", text), text
        assert "  " not in text, text


def check_round_trip(metric: Metric) -> None:
    """A metric and a requirement read back what they print, with and without a column."""
    known = {metric.card.name: metric if not metric.card.parameters else _base(metric)}
    forms = [metric]
    if "sensitive" in metric.card.needs:
        forms += [
            metric.on(name) for name in ("salary", "a b", 'qu"ote', "(x)", "a[b]", "x >= 5", " edge ", "naïve", "≥")
        ]
    for form, bound in itertools.product(forms, (0, 1, 5, 0.2, 1e-7, 1 / 3, 123456789.0, 1e300, -0.5, -3)):
        back, sign, _ = parse(str(form), known)
        assert (back, sign) == (form, None)
        limit = form.at_least(bound) if metric.card.better == "higher" else form.at_most(bound)
        text = str(limit)
        assert parse_requirement(text, known) == limit
        assert str(parse_requirement(text, known)) == text
        wrong = form.at_most if metric.card.better == "higher" else form.at_least
        with pytest.raises(sf.SfumatoError):
            wrong(bound)


def _base(metric: Metric) -> Metric:
    return dataclasses.replace(metric, parameters=(), column=None)


def _same_score(before: Score, after: Score, *, classes_in_order: bool = True) -> None:
    assert after.value == same(before.value)
    assert (before.per_class is None) == (after.per_class is None)
    if before.per_class is not None and after.per_class is not None:
        turn = np.array if classes_in_order else np.sort
        assert turn(after.per_class) == same(turn(before.per_class))
