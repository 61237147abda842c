"""A small language of facts about people, and what follows from them exactly.

    Bob: age=34, zip=47677                      who is meant by a name; `people` does the same
    Bob is not flu                              a fact
    age=34, zip=47677 is flu                    somebody without a name; the same selection is the same person
    if Alice is flu then Bob is flu             an implication; several with `and` before, `or` after `then`
    Bob is Respiratory      Bob is {flu, cold}  a node of the taxonomy, a set, an interval: any value it covers
    Bob is missing                              the missing value

What has one of the words is, if, then, and, or in it, or a comma, stands in double quotes.

**What is computed.** Each person is a row of a class that covers what is known of them, two people are never the same row, and
all ways of that are equally likely: within a class these are the assignments of its values to its people. A world gives every
person a class and a value; it stands for `prod n (n - 1) ...` ways, n the rows of that class and value. Values that no fact tells
apart are counted together (Vandermonde), so the number of worlds depends on the facts and the people in them alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

import numpy as np
import numpy.typing as npt

from ...core.arrow import strings
from ...core.classes import Classes
from ...core.column import FloatArray, IntArray, encode
from ...core.counts import Counts
from ...core.cover import Domain
from ...core.errors import InputError
from ...core.noun import dataclass
from ...core.roles import Roles

BoolArray = npt.NDArray[np.bool_]
WORLDS = 2_000_000
"""Worlds at most for people who hang together, by a fact or a class."""
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_HELD = re.compile("\x00(\\d+)\x00")


@dataclass(frozen=True, eq=False)
class Atom:
    """A person, by number, has one of the values that are flagged."""

    person: int
    values: BoolArray


@dataclass(frozen=True, eq=False)
class Fact:
    """If all of `given` hold, one of `then` does."""

    given: tuple[Atom, ...]
    then: tuple[Atom, ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """All of them."""
        return (*self.given, *self.then)


@dataclass(eq=False)
class Reader:
    """Reads facts one by one; names may be explained before or after they are used."""

    values: Domain
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    people: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    _held: list[str] = field(default_factory=list)

    def introduce(self, people: Mapping[str, str | Mapping[str, object]]) -> None:
        """Who is meant by a name: `age=34, zip=47677`, or a value for each column."""
        for at, (name, known) in enumerate(people.items(), 1):
            if isinstance(known, str):
                self.names[name.strip()] = self._selection(self._hold(known), f"Person {at}")
            else:
                self.names[name.strip()] = {column: str(value) for column, value in known.items()}

    def read(self, texts: Iterable[str]) -> None:
        """Read facts; a refusal names a fact by its number, since it may hold a value."""
        for at, text in enumerate(texts, 1):
            where = f"Fact {at}"
            line = self._hold(text)
            if (m := re.match(r"^\s*([^=:]+?)\s*:\s*(.*=.*)$", line)) and " is " not in line:
                self.names[self._give(m[1])] = self._selection(m[2], where)
            elif m := re.match(r"^\s*if\s+(.+?)\s+then\s+(.+)$", line, re.IGNORECASE):
                given = [self._atom(part, where) for part in re.split(r"\s+and\s+", m[1])]
                then = [self._atom(part, where) for part in re.split(r"\s+or\s+", m[2])]
                self.facts.append(Fact(tuple(given), tuple(then)))
            else:
                self.facts.append(Fact((), (self._atom(line, where),)))

    def number(self, person: str, where: str = "A target") -> int:
        """The number of a person by name or selection, a new one if need be."""
        person = person.strip()
        key = self._give(person)
        if key not in self.names and "=" in person:
            known = self._selection(person, where)
            key = ", ".join(f"{column}={known[column]}" for column in sorted(known))
            self.names[key] = known
        if key not in self.people:
            self.people.append(key)
        return self.people.index(key)

    def known(self) -> list[dict[str, str]]:
        """What is known of each person."""
        for at, person in enumerate(self.people, 1):
            if person not in self.names:
                raise InputError(
                    f"Person {at} of the facts has a name that nobody explained; add what is known of them, such as "
                    '"Bob: age=34, zip=47677".'
                )
        return [self.names[person] for person in self.people]

    def _atom(self, text: str, where: str) -> Atom:
        m = re.match(r"^\s*(.+?)\s+is\s+(not\s+)?(.+?)\s*$", text, re.IGNORECASE)
        if not m:
            raise InputError(
                f'{where} cannot be read; write it like "Bob is not flu" or "if Alice is flu then Bob is flu".'
            )
        person, value = self.number(m[1], where), self._give(m[3])
        covered = self.values.covered(value)
        if (covered is None or not len(covered)) and value == "missing":
            covered = self.values.covered(None)
        if covered is None or not len(covered):
            raise InputError(
                f"{where} names a value that nobody in the release has in column {self.values.column.name!r}; is it spelled right?"
            )
        flags = np.zeros(len(self.values.column), dtype=bool)
        flags[covered] = True
        return Atom(person, ~flags if m[2] else flags)

    def _selection(self, text: str, where: str) -> dict[str, str]:
        known: dict[str, str] = {}
        for part in text.split(","):
            column, sign, value = part.partition("=")
            if not sign or not column.strip() or not value.strip():
                raise InputError(f"{where} selects a person; write what is known of them like age=34, zip=47677.")
            known[self._give(column)] = self._give(value)
        return known

    def _hold(self, text: str) -> str:
        """The text with what stands in quotes put aside."""

        def aside(match: re.Match[str]) -> str:
            self._held.append(match[1].replace('""', '"'))
            return f"\x00{len(self._held) - 1}\x00"

        return _QUOTED.sub(aside, text)

    def _give(self, text: str) -> str:
        return _HELD.sub(lambda match: self._held[int(match[1])], text.strip())


def homes(tuples: Counts, roles: Roles, known: Sequence[Mapping[str, str]]) -> list[IntArray]:
    """The classes that cover what is known of each person; a released value may also be named as it is."""
    homes_of = []
    for at, person in enumerate(known, 1):
        fits = np.ones(len(tuples), dtype=bool)
        for name, value in person.items():
            if name not in tuples.names:
                raise InputError(
                    f"Person {at} of the facts is selected by {name!r}, which is no quasi-identifier of the release; these are "
                    f"{', '.join(tuples.names)}."
                )
            column, _ = encode(name, strings([value]))
            domain = Domain(column, roles.taxonomy(name))
            covers = [text == value or bool(domain.mask(text).any()) for text in tuples.column(name).texts]
            fits &= np.array(covers, dtype=bool)[tuples.code(name)]
        if not fits.any():
            raise InputError(
                f"No class of the release covers what is known of person {at} of the facts; is it right, and is the person in it?"
            )
        homes_of.append(np.flatnonzero(fits))
    return homes_of


def beliefs(classes: Classes, homes: Sequence[IntArray], facts: Sequence[Fact]) -> list[FloatArray]:
    """P(person has value | facts) of every person for all values of the column, exactly; refused beyond WORLDS worlds."""
    m = len(classes.sensitive.total)
    posterior: list[FloatArray] = [np.zeros(m) for _ in homes]
    for people in _together(homes, facts):
        inside = [fact for fact in facts if fact.atoms[0].person in people]
        for person, belief in zip(people, _component(classes, people, homes, inside, m), strict=True):
            posterior[person] = belief
    return posterior


def _together(homes: Sequence[IntArray], facts: Sequence[Fact]) -> list[list[int]]:
    """People who hang together: by a fact, or since they may be of the same class."""
    group = list(range(len(homes)))

    def join(some: Sequence[int]) -> None:
        for other in some[1:]:
            old, new = group[other], group[some[0]]
            for i, g in enumerate(group):
                group[i] = new if g == old else g

    for fact in facts:
        join([atom.person for atom in fact.atoms])
    for i, first in enumerate(homes):
        for j in range(i):
            if np.isin(first, homes[j], assume_unique=True).any():
                join([i, j])
    return [[i for i, g in enumerate(group) if g == each] for each in dict.fromkeys(group)]


def _component(
    classes: Classes, people: list[int], homes: Sequence[IntArray], facts: Sequence[Fact], m: int
) -> list[FloatArray]:
    # values that no fact tells apart are one
    flags = np.array([atom.values for fact in facts for atom in fact.atoms], dtype=bool).reshape(-1, m)
    _, first, kind = np.unique(flags, axis=1, return_index=True, return_inverse=True)
    kind = kind.ravel() if len(flags) else np.zeros(m, dtype=np.int64)
    kinds = max(len(first), 1) if len(flags) else 1
    cell = classes.member * kinds + kind[classes.value]
    cells, of = np.unique(cell, return_inverse=True)
    rows = np.bincount(of, weights=classes.n, minlength=len(cells))
    options = [np.flatnonzero(np.isin(cells // kinds, homes[person])) for person in people]
    worlds = 1
    for option in options:
        worlds *= len(option)
    if worlds > WORLDS:
        raise InputError(
            f"The facts make {worlds:,} possible worlds of people who hang together, more than the {WORLDS:,} that are counted out; "
            "name fewer people in one class, or say more of those who fit many classes."
        )
    at = np.unravel_index(np.arange(worlds), [len(option) for option in options])
    taken = [option[index] for option, index in zip(options, at, strict=True)]
    weight = np.ones(worlds)
    for i, one in enumerate(taken):
        before = np.zeros(worlds)
        for other in taken[:i]:
            before += other == one
        weight *= np.maximum(rows[one] - before, 0) / classes.rows
    for fact in facts:
        holds = [_holds(atom, people, taken, cells, kinds, kind) for atom in fact.atoms]
        given, then = holds[: len(fact.given)], holds[len(fact.given) :]
        broken = np.ones(worlds, dtype=bool)
        for each in given:
            broken &= each
        for each in then:
            broken &= ~each
        weight[broken] = 0.0
    if not weight.sum() > 0:
        raise InputError("The facts contradict the release: no assignment of its values to its people agrees with all.")
    posteriors = []
    for one in taken:
        chance = np.bincount(one, weights=weight, minlength=len(cells)) / weight.sum()
        each = chance[of] * classes.n / rows[of]  # within a cell by its rows
        posteriors.append(np.bincount(classes.value, weights=each, minlength=m).astype(np.float64))
    return posteriors


def _holds(
    atom: Atom, people: list[int], taken: list[IntArray], cells: IntArray, kinds: int, kind: IntArray
) -> BoolArray:
    of_kind = np.zeros(kinds, dtype=bool)
    of_kind[kind[atom.values]] = True
    return of_kind[cells[taken[people.index(atom.person)]] % kinds]
