"""What released columns give away that nothing limits: rows that they set apart, and protected values that they tell.

A requirement speaks of the quasi-identifiers. Every other released column goes out as it is, and whoever holds the file holds it too. So
each of these free columns is held against what the release protects:

- nearly unique, by itself or with one or two others;
- equal to, containing or determining a protected column, or computing it by arithmetic with up to two others;
- computed from quasi-identifiers, so that whoever knows these knows it as well, and tells rows of one class apart by it;
- telling the order of the original's rows.

Where the rows of a person are joined, what sets people apart is all of their values together, and the order that a column gives their
rows (free_people).

Sets of columns are ruled out on a sample of distinct rows, in which whatever is alone in the table is alone too; what is left is counted
exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import combinations, islice
from typing import Literal

import numpy as np

from ..core.column import FloatArray
from ..core.counts import Counts
from ..core.noun import dataclass
from ..core.person_weights import distinct_people
from ..core.table import Table
from ..core.words import counted, percent
from .arithmetic import LOOKED_AT, chosen_rows, lines, numbers_of, sums
from .column_views import views
from .free_noise import NoiseLeft
from .free_people import people_alone, people_by_order
from .relations import Contains, Equal, Map, Relation

ALONE_BY_ONE = 0.05
"""The share of rows that a single free column may set apart; a sensitive one, which others are taken not to know, up to the next."""
ALONE_TOGETHER = 0.5
"""The share of rows that two or three free columns may set apart together: nearly unique."""
ALONE_WITH_SECRET = 0.8
"""The same where one of them is sensitive, which others are taken not to know."""
_LIMITS = {
    (True, False): ALONE_BY_ONE,
    (True, True): ALONE_TOGETHER,
    (False, False): ALONE_TOGETHER,
    (False, True): ALONE_WITH_SECRET,
}
"""By whether it is a single column, and whether one is sensitive."""
TOLD = 0.95
"""The share of rows from which a value counts as told."""
SAMPLE = 65_536
SCREENED = 8_192
GLANCED = 256
MOST_TESTS = 600
"""Sets of two and three columns that are tried as maps of one another."""
FEW_ROWS = 20
"""Mean rows of a value below which a column that rises with the rows tells their order."""

Role = Literal["identifier", "quasi-identifier", "sensitive column"]


@dataclass(frozen=True)
class Finding:
    """What a free column gives away, in how many rows of how many."""

    column: str
    kind: Literal["alone", "tells", "known", "order", "noiseless"]
    rows: int
    of: int
    others: tuple[str, ...] = ()
    """The free columns that it takes besides."""
    protected: tuple[str, ...] = ()
    role: str = ""
    words: str = ""
    relation: Relation | None = field(default=None, compare=False, repr=False)
    people: bool = False
    """Whether people are counted, by all of their rows."""
    joins: bool = False
    """Whether rows of one person are taken together, since nobody else shares their values."""
    noisy: bool = False
    """Whether the column was perturbed, by too little: the rows stay alone nearest to their own value."""

    @property
    def share(self) -> float:
        """Of the rows."""
        return self.rows / self.of if self.of else 0.0

    @property
    def columns(self) -> tuple[str, ...]:
        """All the free columns that it takes."""
        return (self.column, *self.others)

    @property
    def sentence(self) -> str:
        """One sentence, without a value of the table."""
        if self.kind == "noiseless":
            return (
                f"Column {self.column!r}: it is released without noise. Sfumato does not check whether it reveals what the noise "
                "hides, because a refusal would then depend on the rows."
            )
        counted_as = ("person", "people") if self.people else ("row", "rows")
        rows = f"{self.rows:,} of {counted(self.of, *counted_as)} ({percent(self.share)})"
        are = "is" if self.rows == 1 else "are"
        by = f"it together with {' and '.join(map(repr, self.others))}" if self.others else "it"
        if self.people and self.kind == "order":
            return f"Column {self.column!r}: the order that it gives a person's rows sets {rows} apart from others of their class."
        if self.people:
            return f"Column {self.column!r}: {rows} {are} alone by all their values of {by}."
        if self.kind == "alone" and self.joins:
            return f"Column {self.column!r}: {rows} {'has' if self.rows == 1 else 'have'} values of {by} that one person alone has, which joins that person's rows."
        if self.kind == "alone" and self.noisy:
            verb = "is alone nearest to its own value" if self.rows == 1 else "are alone nearest to their own values"
            return f"Column {self.column!r}: {rows} {verb}, so anyone who knows the value finds the row in spite of the noise."
        if self.kind == "alone":
            return f"Column {self.column!r}: {rows} {are} alone by {by}."
        if self.kind == "order":
            return f"Column {self.column!r}: it follows the order of the original rows in {rows}, so it reveals which row was which."
        start = f"Column {self.column!r}: {self.words} in {rows}"
        if self.kind == "known":
            return f"{start}, so anyone who knows the quasi-identifiers knows it too and can tell rows of one class apart by it."
        what = "the beginning of the" if isinstance(self.relation, Contains) and self.relation.beginning else "the"
        return f"{start}, so anyone who has the release can work out {what} {self.role} {self.protected[0]!r}."

    def to_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "column": self.column,
            "kind": self.kind,
            "rows": self.rows,
            "of": self.of,
            "others": list(self.others),
            "protected": list(self.protected),
            "sentence": self.sentence,
        }


@dataclass(frozen=True, eq=False)
class FreeColumns:
    """A question about a table: what do its `free` columns tell of the protected ones, and whom do they set apart?

    `released` is what goes out. `original` has the protected columns; without it only `alone` can be asked. `linking` are the free
    columns that are secrets themselves: they can link, and alone they lead to nothing that they do not hold themselves.
    """

    released: Table
    free: tuple[str, ...]
    original: Table | None = None
    compared: tuple[str, ...] | None = None
    """The free columns that can be held against the original; all of them unless said."""
    ordered_by: tuple[str, ...] | None = None
    """Those of them that stand in the original as they are released; all of them unless said."""
    beside: Table | None = None
    """The original with free columns as they were released, where a mechanism changed some; its rows stand in another order."""
    noise: Mapping[str, NoiseLeft] = field(default_factory=dict)
    """Of free columns with noise, what that leaves of them."""
    identifiers: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    """All that an adversary is taken to know."""
    covered: tuple[str, ...] = ()
    """The quasi-identifiers whose values the release does not tell."""
    linking: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    """The sensitive columns that are not free: noisy, permuted or in a file of their own."""
    noiseless: bool = False
    """Whether the free columns stand beside noise with differential privacy: then nobody looks what they tell, and each is a finding."""
    person: str | None = None
    """The column that joins the rows of a person in the release."""
    classes: tuple[str, ...] = ()
    """The released quasi-identifiers, where rows are joined."""
    apart: str | None = None
    """The column of the original whose number says whose each row is, where nobody is to join the rows of a person."""
    whose: str | None = None
    """The column of the original that numbers its people, whatever is promised to those with several rows."""
    waived: frozenset[str] = frozenset()
    """Columns that the owner lets out all the same: what takes one of them is found, and hides nothing that does without."""

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """One of each kind for each column, the plainest, in the order of the columns."""
        if not self.free:
            return ()
        if self.noiseless:
            return tuple(Finding(name, "noiseless", 0, 0) for name in self.free)
        findings: dict[tuple[str, str, bool], Finding] = {}
        apart = self.alone() if self.person is None else self.people_apart()
        for finding in (*apart, *self.related(), *self.ordered()):
            findings.setdefault((finding.column, finding.kind, self._waives(finding.columns)), finding)
        return tuple(sorted(findings.values(), key=lambda f: self.free.index(f.column)))

    @property
    def open(self) -> tuple[Finding, ...]:
        """What no waiver covers."""
        return tuple(finding for finding in self.findings if not self._waives(finding.columns))

    def _waives(self, columns: Sequence[str]) -> bool:
        return not self.waived.isdisjoint(columns)

    # --- whom free columns set apart

    def alone(self) -> Iterator[Finding]:
        """Columns that set many rows apart, alone first; a set is only told where no part of it is enough."""
        if not self.free:
            return
        sample, owners = self._sample, self._owners
        enough: list[frozenset[str]] = []
        explained: set[str] = set()
        for size in (1, 2, 3):
            for names in combinations(self.free, size):
                chosen, waived = frozenset(names), self._waives(names)
                secrets = [name for name in names if name in self.linking]
                if len(secrets) > 1:
                    continue  # who knows several secrets of a person has little left to learn
                limit = _LIMITS[size == 1, bool(secrets)]
                if set(names) & self.noise.keys():
                    certain = self.noise[names[0]].found if size == 1 else 0
                    if certain >= max(1, limit * self.rows) and self._leads_on(names):
                        yield Finding(names[0], "alone", certain, self.rows, noisy=True)
                    continue
                finest = max(names, key=lambda name: len(sample.column(name)))
                if any(smaller <= chosen for smaller in enough) or (finest in explained and not waived):
                    continue  # what is said of it already is enough
                if not self._leads_on(names):
                    continue
                rows, of, joins = 0, self.rows, False
                if self._most_tuples(names) >= limit * self.rows and self._share_alone(sample, names) >= limit:
                    rows = self._alone(names)
                if rows < limit * of and owners is not None and set(names) <= set(owners.names):
                    assert self.original is not None
                    rows, of, joins = self._of_one_person(owners, names, limit), self.original.rows, True
                if rows >= limit * of:
                    if not waived:
                        enough.append(chosen)
                        explained.add(finest)
                    others = tuple(name for name in names if name != finest)
                    yield Finding(finest, "alone", rows, of, others, joins=joins)

    def people_apart(self) -> Iterator[Finding]:
        """Columns that set many people apart where their rows are joined, by all their values or by the order of their rows."""
        person = str(self.person)
        explained: set[str] = set()
        for names, alone, people in people_alone(self.released, person, self.free):
            secrets = [name for name in names if name in self.linking]
            if len(secrets) > 1 or not self._leads_on(names) or (explained & set(names) and not self._waives(names)):
                continue
            if alone >= _LIMITS[len(names) == 1, bool(secrets)] * people:
                first = next((name for name in names if name not in secrets), names[0])
                explained |= set() if self._waives(names) else {first}
                others = tuple(name for name in names if name != first)
                yield Finding(first, "alone", alone, people, others, people=True)
        for name in self.free if self.classes else ():  # before a release nothing is known of classes
            if name not in self.linking:
                apart, people = people_by_order(self.released, person, self.classes, name)
                if apart >= ALONE_BY_ONE * people and apart:
                    yield Finding(name, "order", apart, people, people=True)

    def _most_tuples(self, names: Sequence[str]) -> float:
        """At most so many distinct tuples, by the distinct values of each column: fewer than that are alone."""
        return float(np.prod([self._values[name] for name in names]))

    @cached_property
    def _values(self) -> Mapping[str, float]:
        """About how many values each free column has, rather too many than too few."""
        if self._whole:
            return {name: len(self._sample.column(name)) for name in self.free}
        return {name: 1.2 * values for name, (values, _) in self.released.distinct().items() if name in self.free}

    def most_alone(self, most: int = 3) -> int:
        """The rows that the worst set of up to so many free columns sets apart: adding a column never helps, so the largest sets."""
        best = max((left.found for left in self.noise.values()), default=0)
        free = [name for name in self.free if name not in self.noise]
        if not free:
            return best
        sample, size = self._sample, min(most, len(free))
        sets = sorted(
            combinations(free, size), key=lambda names: -self._share_alone(sample, names)
        )  # the sample's share bounds the table's, so the search ends early
        for names in sets:
            if not names or (self._share_alone(sample, names) * self.rows <= best and not self._whole):
                break
            best = max(best, self._alone(names))
        return best

    def _leads_on(self, names: Sequence[str]) -> bool:
        """Whether there is anything to learn for one who knows these of a person."""
        return any(name not in self.linking for name in names) or not set(self.linking) <= set(names)

    @cached_property
    def _sample(self) -> Counts:
        return self.released.sampled(self.free, SAMPLE)

    @property
    def _compared(self) -> tuple[str, ...]:
        return self.free if self.compared is None else self.compared

    @property
    def _as_before(self) -> tuple[str, ...]:
        return self._compared if self.ordered_by is None else self.ordered_by

    @property
    def _whole(self) -> bool:
        return self._sample.rows == self.rows

    @property
    def rows(self) -> int:
        """The rows of the release."""
        return self.released.rows

    def _share_alone(self, counts: Counts, names: Sequence[str]) -> float:
        sizes = _sizes(counts, names)
        return float((sizes == 1).sum()) / counts.rows if counts.rows else 0.0

    def _alone(self, names: Sequence[str]) -> int:
        if self._whole:
            return int((_sizes(self._sample, names) == 1).sum())
        return self.released.unique_rows(names)[0]

    @cached_property
    def _owners(self) -> Counts | None:
        """The original's free columns with whose each row is; a sample, in which what one person alone has still is that person's."""
        if self.original is None or self.apart is None or self.apart not in self.original.columns:
            return None
        return self.original.sampled((*self._as_before, self.apart), SAMPLE)

    def _of_one_person(self, owners: Counts, names: Sequence[str], limit: float) -> int:
        """The rows of the original whose values one person alone has; none where the sample shows fewer than the limit."""
        assert self.original is not None
        assert self.apart is not None
        rows = _rows_of_one(owners, names, self.apart)
        if rows < limit * owners.rows:
            return 0
        if owners.rows < self.original.rows:
            rows = _rows_of_one(self.original.count((*names, self.apart)), names, self.apart)
        return rows

    # --- what free columns tell

    def related(self) -> Iterator[Finding]:
        """Relations between free columns and protected ones that hold in the whole table, the plainest first."""
        if self.original is None or not self._compared:
            return
        done: set[tuple[str, str, bool]] = set()
        relations: list[Relation] = []
        for relation in self._candidates():
            column, kind = relation.free[0], self._kind(relation)
            reason = (column, kind, self._waives(relation.free))
            # a part of it that holds by itself says it all, and a column that is found needs no second reason
            if reason in done or any(
                set(smaller.free) <= set(relation.free) and set(smaller.protected) <= set(relation.protected)
                for smaller in relations
            ):
                continue
            counts = self._counted(relation.columns)
            if not relation.holds(counts) or (kind == "known" and self._follows_from_classes(column)):
                continue
            if not self._of_several_people(relation):
                continue
            keeps, _ = relation.evaluate(counts)
            done.add(reason)
            if not reason[2]:
                relations.append(relation)
            yield Finding(
                column,
                kind,
                min(
                    int(counts.n[keeps].sum()),
                    *(self.noise[name].undone for name in relation.free if name in self.noise),
                    counts.rows,
                ),
                counts.rows,
                relation.free[1:],
                relation.protected,
                self._role(relation.protected[0]),
                relation.words,
                relation,
            )

    def _candidates(self) -> Iterator[Relation]:
        """What holds on the sample; everything found here is counted again."""
        sample = self._both
        at = {name: i for i, name in enumerate(sample.names)}
        same = self._compared
        open_ = [name for name in same if name not in self.linking]
        covered = (*self.identifiers, *self.covered, *self.secret)
        pairs = [(f, p) for f in same for p in covered]
        pairs += [(f, p) for f in open_ for p in self.linking if p in same]
        few = sample.some(SCREENED)
        fewer = few.some(LOOKED_AT)
        fewest = fewer.some(GLANCED)
        for f, p in pairs:
            within = (Contains((f,), (p,), p), Contains((f,), (p,), f), Contains((f,), (p,), p, beginning=True))
            for relation in (Equal((f,), (p,)), *within):
                if relation.glance(fewest) and relation.holds(fewer):
                    yield relation
            if Map((f,), (p,)).holds(few):
                yield Map((f,), (p,))
        yield from self._known(few)
        rows = chosen_rows(sample.n)
        for free, protected in ((same, covered), (open_, tuple(name for name in self.linking if name in same))):
            numbers = [
                numbers_of(view, sample.codes[at[name]][rows], free=name in free)
                for name in dict.fromkeys((*free, *protected))
                for view in views(sample.columns[at[name]], parts=name in free)
            ]
            if len({each.free for each in numbers}) == 2:
                yield from lines(numbers)
                yield from sums([each for each in numbers if not each.view.alone])
        more = (Map(free, (p,)) for free in combinations(same, 2) for p in (*self.identifiers, *self.covered))
        yield from (relation for relation in islice(more, MOST_TESTS) if relation.holds(few))

    def _known(self, few: Counts) -> Iterator[Relation]:
        """Maps from what is known: up to three quasi-identifiers, of which the release covers at least one."""
        tests = (
            Map((f,), known, True)
            for size in (1, 2, 3)
            for known in combinations(self.quasi, size)
            if set(known) & set(self.covered)
            for f in self._compared
        )
        yield from (relation for relation in islice(tests, MOST_TESTS) if relation.holds(few))

    @cached_property
    def _both(self) -> Counts:
        """A sample of the original over free and protected columns."""
        names = dict.fromkeys((*self._compared, *self.identifiers, *self.quasi, *self.secret))
        return self.related_in.sampled([name for name in names if name in self.related_in.columns], SAMPLE)

    @property
    def related_in(self) -> Table:
        """The table in which free columns stand beside protected ones."""
        assert self.original is not None
        return self.original if self.beside is None else self.beside

    def _counted(self, columns: Sequence[str]) -> Counts:
        if self._both.rows == self.related_in.rows:
            return self._both.group(tuple(dict.fromkeys(columns)))[0]
        return self.related_in.count(tuple(dict.fromkeys(columns)))

    def _of_several_people(self, relation: Relation) -> bool:
        """Whether what is known determines a free column among different people, too: rows of one person agree in all that never changes."""
        person = self.whose
        if not isinstance(relation, Map) or not relation.backwards or self.original is None:
            return True
        if person is None or person not in self.original.columns:
            return True
        columns = tuple(dict.fromkeys(relation.columns))
        each = self.original.sampled((*columns, person), SAMPLE)
        once = Counts(each.columns, each.codes, np.ones_like(each.n))
        return relation.holds(once.group(columns)[0])

    def _kind(self, relation: Relation) -> Literal["tells", "known"]:
        return "known" if (isinstance(relation, Map) and relation.backwards) or len(relation.protected) > 1 else "tells"

    def _follows_from_classes(self, column: str) -> bool:
        """Whether the released quasi-identifiers tell it as well, so that it splits no class."""
        known = [name for name in self.quasi if name in self.released.columns]
        if not known:
            return False
        counts = self.released.sampled((*known, column), SAMPLE)
        return len(counts) == len(np.unique(counts.key(known)))

    def _role(self, name: str) -> Role:
        if name in self.identifiers:
            return "identifier"
        return "quasi-identifier" if name in self.quasi else "sensitive column"

    # --- the order of the rows

    def ordered(self) -> Iterator[Finding]:
        """Fine columns that rise or fall with the rows of the original."""
        if self.original is None or not self._as_before:
            return
        sample = self._sample
        fine = [
            name for name in self._as_before if sample.rows < FEW_ROWS * len(sample.column(name)) and sample.rows > 20
        ]
        for name, (up, down) in self.original.in_order(fine).items():
            steps = max(up, down)
            if min(up, down) <= (1 - TOLD) * (up + down) and steps * FEW_ROWS >= self.original.rows:
                ties = self.original.rows - 1 - up - down
                yield Finding(name, "order", steps + max(ties, 0) + 1, self.original.rows)


def refusal(findings: Sequence[Finding]) -> list[str]:
    """A sentence for each finding, and then what can be done."""
    if not findings:
        return []
    if findings[0].kind == "noiseless":
        return [
            f"Released without noise: {', '.join(repr(finding.column) for finding in findings)}. Sfumato does not check whether they "
            "reveal what the noise hides, because a refusal would then depend on the rows. Add noise, take them out of the release, "
            f"or waive each with a reason: --waive '{findings[0].column}: REASON'."
        ]
    advice = (
        "No requirement limits such a column. Make it a quasi-identifier, take it out of the release, or waive it with a reason: "
        f"--waive '{findings[0].column}: REASON'."
    )
    return [*(finding.sentence for finding in findings), advice]


def waived_sentences(findings: Sequence[Finding], waive: Mapping[str, str]) -> list[str]:
    """A sentence or two for each waiver: the owner's reason, and what it covers."""
    sentences = []
    for column, reason in waive.items():
        covered = " ".join(f.sentence for f in findings if column in f.columns) or "Nothing was found in it."
        sentences.append(f"Waived by the owner: column {column!r} ({reason.rstrip('.')}). {covered}")
    return sentences


def _sizes(counts: Counts, names: Sequence[str]) -> FloatArray:
    return np.bincount(counts.group(names)[1], weights=counts.n).astype(np.float64)


def _rows_of_one(counts: Counts, names: Sequence[str], person: str) -> int:
    """The rows whose values are those of one person."""
    key, who = counts.group(names)[1], counts.code(person)
    people = distinct_people(key, who, int(key.max(initial=-1)) + 1, len(counts.column(person)) + 1)
    return int(counts.n[people[key] == 1].sum())
