"""A release: the table that may leave the house, and what is needed beside it to measure it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from .arrow import strings
from .classes import Classes
from .column import Column, IntArray, encode
from .counted_table import LinkedTable
from .counts import Counts, exact
from .cover import Domain
from .errors import InputError, Unavailable
from .group_join import Joined
from .histories import Histories, histories
from .noun import Sheet, dataclass
from .people import one_row_a_person
from .person_weights import PersonWeights, distinct_people, fewest_people
from .population import Cover, cover, homes_by_cover
from .roles import Roles, check_roles
from .source import as_table
from .table import Recoding, Table

if TYPE_CHECKING:
    import pandas
    import polars

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Release:
    """`table` is what is published. `original` and `population` never leave: they are here for measuring only.
    `related` are tables published along with it about the same people, joined on the person column.

    `pairing` says how rows of the release and of the original belong together: "position" (row i is row i),
    "key:COLUMN" (a column both have), or "none", and then a metric that needs pairs says so. A mechanism of ours leaves
    its `recoding` instead, which holds the pairs already counted.
    """

    table: Table
    original: Table | None = None
    pairing: str = "none"
    recoding: Recoding | None = None
    population: Table | None = None
    related: tuple[Table, ...] = ()
    companions: Mapping[str, Table] = field(default_factory=dict)
    """Tables that are published beside it under names of their own: release.csv and release.NAME.csv."""
    joined_by: str | None = None
    """Where the sensitive columns stand in a companion, the column of both that says which rows belong together (Anatomy);
    where they were permuted in the table itself, the column that says within which rows."""
    statistics: bool = False
    """Whether the table holds statistics instead of one row a person: then nothing that counts rows can be asked of it."""
    perturbed: frozenset[str] = frozenset()
    """Columns whose values were changed by noise, swapping or at random: equal values are then not the same people."""
    drawn: frozenset[str] = frozenset()
    """Columns of true values whose rows were drawn with differential privacy: its promise is about them, too."""
    neighbours: str | None = None
    """Where differential privacy is promised, what neighbouring tables differ by: then nothing else about the rows may be told."""
    epsilon: Fraction | None = None
    """What it costs of a privacy budget, where differential privacy is promised."""
    delta: Fraction = Fraction(0)
    """The probability that epsilon may be exceeded with; 0 where it holds always."""
    made_by: str = "elsewhere"
    parameters: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def _about(self) -> list[str]:
        settings = (f"{k}={v}" for k, v in self.parameters.items() if isinstance(v, int | float))
        rows = [] if self.recoding is None or self.statistics else [f"{self.recoding.rows:,} rows"]
        return [" ".join([self.made_by, *settings]), *rows, f"{len(self.table.columns)} columns"]

    def _repr_html_(self) -> str:
        made, *sizes = self._about()
        return Sheet(f"Release: {', '.join([made, *sizes])}", notes=[", ".join(self.table.columns), *self.notes]).html()

    def __post_init__(self) -> None:
        if self.pairing not in ("position", "none") and not self.pairing.startswith("key:"):
            raise InputError(f"Pairing {self.pairing!r} is not known; use position, none or key:COLUMN.")
        for name in ("table", "original", "population"):  # a frame may stand where a table is wanted
            if getattr(self, name) is not None:
                object.__setattr__(self, name, as_table(getattr(self, name)))
        object.__setattr__(self, "_evidence", [])

    def to_arrow(self) -> pa.Table:
        """The rows of the table as Arrow, in the order of a written file. Nothing was verified: `publish` does that."""
        return self.table.to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """The rows of the table as pandas."""
        try:
            return self.to_arrow().to_pandas()
        except ImportError:
            raise Unavailable("pandas is not installed; install it, or take to_arrow().") from None

    def to_polars(self) -> polars.DataFrame:
        """The rows of the table as polars."""
        try:
            import polars
        except ImportError:
            raise Unavailable("polars is not installed; install it, or take to_arrow().") from None
        return polars.DataFrame(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows of the table for any library that reads Arrow: `polars.DataFrame(release)`, `duckdb.sql("FROM release")`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def evidence(self, roles: Roles) -> Evidence:
        """What the metrics look at, counted once and kept."""
        kept: list[Evidence] = self._evidence  # type: ignore[attr-defined]
        for evidence in kept:
            if evidence.roles is roles:
                return evidence
        kept.append(Evidence(self.one_row_each(roles), roles))
        return kept[-1]

    def one_row_each(self, roles: Roles) -> Release:
        """The same, its original (and its population, if that can be) of one row a person where the roles make one of each person's."""
        choice, original, people = roles.row_choice, self.original, self.population
        if choice is None:
            return self
        original = None if original is None else one_row_a_person(original, roles)
        people = people if people is None or not choice.fits(people) else one_row_a_person(people, roles)
        if original is self.original and people is self.population:
            return self
        return replace(self, original=original, population=people)


@dataclass(frozen=True, eq=False)
class _PeopleOfRows:
    """Rows of one person in one class, or one entry of it: the class, the entry, whose they are, and what they weigh together."""

    member: IntArray
    entry: IntArray
    person: IntArray
    weight: IntArray
    people: int
    """All people of the table."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The counts behind a release, taken when first asked for, and what is derived from them, each once."""

    release: Release
    roles: Roles
    _derived: dict[Hashable, Any] = field(default_factory=dict)

    def _about(self) -> list[str]:
        return [*self.release._about(), f"{len(self.roles.quasi)} quasi-identifiers"]

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once and kept under this key for as long as the evidence."""
        if key not in self._derived:
            self._derived[key] = make()
        value: T = self._derived[key]
        return value

    def _quasi(self) -> tuple[str, ...]:
        if not self.roles.quasi:
            raise Unavailable(
                f"{self.roles.source} names no quasi-identifier, so there are no classes; set quasi = [...]."
            )
        if not self.release.related:
            return self.roles.quasi
        elsewhere = {name for table in self.release.related for name in table.columns} - set(self.release.table.columns)
        here = tuple(name for name in self.roles.quasi if name not in elsewhere)
        if not here:
            raise Unavailable(
                f"{self.release.table.name} has no quasi-identifier, only its related tables do; "
                "measure one that has, and give the others as related."
            )
        return here

    def _check(self, table: Table) -> None:
        for name in self._quasi():
            self.roles.check_column(name, table.columns, where=table.name, kind="quasi")

    def _split(self, table: Table, sensitive: str, by: str | None = None) -> tuple[Classes, Counts]:
        over = self._quasi() if by is None else (by,)
        return Classes.from_counts(
            table.count((*over, sensitive)),
            quasi=over,
            sensitive=sensitive,
            order=self.roles.orders.get(sensitive),
            hierarchy=self.roles.taxonomy(sensitive),
        )

    def classes(self, sensitive: str | None = None) -> Classes:
        """The classes of the release, split by a sensitive column if one is named."""
        if self.roles.linked:
            return self.by_history(rows_apart=sensitive is not None).classes(sensitive)
        if sensitive is None:
            return Classes(self.people, whole=len(self._everybody()) if self.roles.unlinked else None)
        rows = self._released(sensitive)[0]
        if not self.roles.unlinked:
            return rows
        return self.derived(("weighed", sensitive), lambda: self._weighed(rows, sensitive))

    def _released(self, sensitive: str) -> tuple[Classes, Counts]:
        return self.derived(("released", sensitive), lambda: self._split_release(sensitive))

    def _split_release(self, sensitive: str) -> tuple[Classes, Counts]:
        table, by = self.release.table, self.release.joined_by
        if sensitive in self._quasi():
            raise Unavailable(f"Column {sensitive!r} is a quasi-identifier; a sensitive column is something else.")
        self._check(table)
        if sensitive in self.apart:
            self._check_groups(self.apart[sensitive])
            return self._split(self.apart[sensitive], sensitive, by)
        if by is not None and sensitive not in table.columns:
            raise InputError(
                f"{table.name}: neither it nor a companion that is joined by {by!r} has a column {sensitive!r}; "
                "give the file that has it with --companion NAME=FILE."
            )
        if sensitive in self.roles.sensitive:
            self.roles.check_column(sensitive, table.columns, where=table.name, kind="sensitive")
        elif sensitive not in table.columns:
            raise Unavailable(f"{table.name}: no column {sensitive!r}, so nothing can be said of it.")
        return self._split(table, sensitive)

    @cached_property
    def apart(self) -> Mapping[str, Table]:
        """The columns that only groups join to the quasi-identifiers, each with the table that has it.

        A companion has them, or they were permuted in the table itself. What a class tells of such a column is what the group
        tells: its rows may be anyone's of the group.
        """
        release, by = self.release, self.release.joined_by
        if by is None:
            return {}
        here = release.table
        if by not in here.columns:
            raise InputError(
                f"{here.name}: no column {by!r}, by which it is joined; name the right one with --joined-by."
            )
        apart = {name: here for name in here.columns if name in release.perturbed and name not in self.roles.quasi}
        for table in release.companions.values():
            if by in table.columns:
                apart |= {name: table for name in table.columns if name not in here.columns}
        return apart

    def _check_groups(self, table: Table) -> None:
        """Refuse a companion that does not hold the same groups, each of as many rows."""
        if table is self.release.table:
            return
        by = str(self.release.joined_by)
        here, there = (
            dict(zip(counts.columns[0].texts, counts.n.tolist(), strict=True))
            for counts in (self.release.table.count((by,)), table.count((by,)))
        )
        if here != there:
            raise InputError(
                f"{table.name}: its groups in {by!r} have other rows than those of {self.release.table.name}; "
                "give the companion that was published with it."
            )

    def joined(self, columns: Sequence[str]) -> Joined:
        """These columns of the release where some are only joined by group: what of them may be expected together."""

        def make() -> Joined:
            by = str(self.release.joined_by)
            beside: dict[tuple[bool, int], tuple[Table, list[str]]] = {}
            for name in columns:
                table = self.apart.get(name, self.release.table)
                self._check_groups(table)
                beside.setdefault((name in self.apart, id(table)), (table, []))[1].append(name)
            return Joined.of([table.count((by, *names)) for table, names in beside.values()])

        return self.derived(("joined", tuple(columns)), make)

    @cached_property
    def tuples(self) -> Counts:
        """The released quasi-identifier tuples, one a class."""
        quasi = self._quasi()
        self._check(self.release.table)
        there = [s for s in self.roles.sensitive if s in self.release.table.columns and s not in (*quasi, *self.apart)]
        if there:  # counting with a sensitive column now saves a second scan later
            return self._released(next((s for s in there if ("released", s) in self._derived), there[0]))[1]
        return self.release.table.count(quasi)

    @cached_property
    def people(self) -> IntArray:
        """The size of each class: its rows, or its distinct people where the release carries a person column or the roles say
        that a person's rows are unlinked; where they are joined, the people of the smallest history that such a row is part of."""
        if self.roles.unlinked:
            return self._different_people[0]
        if self.roles.linked:
            return self._fewest_alike
        person = self.roles.person
        if person is None or person not in self.release.table.columns:
            return self.tuples.n
        counts = self.release.table.count((*self._quasi(), person))
        _, member = counts.group(self._quasi())
        return np.bincount(member, minlength=len(self.tuples)).astype(np.int64)

    @property
    def _fewest_alike(self) -> IntArray:
        """Of each tuple, the people of the smallest class of joined rows that it occurs in."""
        inside = self.by_history(rows_apart=True)
        counts, people = inside.tuples, inside.people
        at = self.tuples.places(counts.columns[1:], counts.codes[1:])
        fewest = np.full(len(self.tuples), np.iinfo(np.int64).max)
        np.minimum.at(fewest, at, people)
        return fewest

    @property
    def people_are_bounds(self) -> bool:
        """Whether `people` are the fewest that there can be, since it is not known whose each row is."""
        return self.roles.unlinked and not self._different_people[1]

    @cached_property
    def _different_people(self) -> tuple[IntArray, bool]:
        """The different people of each class, and whether they were counted; else there are at least so many."""
        if isinstance(self.release.table, LinkedTable):  # the history stands first
            return self.release.table.known_histories.people[self.tuples.codes[0]], True
        try:
            owners = self._owners(())
        except Unavailable:
            original = self.release.original
            paired = self.release.recoding is not None or self.release.pairing != "none"
            if paired or original is None or self.roles.owner not in original.columns:
                raise
            return np.minimum(fewest_people(self.tuples.n, self._everybody().n), self.tuples.n), False
        return distinct_people(owners.member, owners.person, len(self.tuples), owners.people), True

    def _everybody(self) -> Counts:
        """The rows of each person, before anything was left out where that is known."""
        original, person = self.release.original, str(self.roles.owner)
        known = original is not None and person in original.columns
        return (original if known and original is not None else self.release.table).count((person,))

    @cached_property
    def by_rows(self) -> Evidence:
        """The same with rows counted, whatever the roles say of people: what a table is worth lies in its rows."""
        return self.release.evidence(self.roles.by_rows) if self.roles.people else self

    def by_history(self, *, rows_apart: bool) -> Evidence:
        """The same with people counted by all that the release says of them; `rows_apart`: and each class by its rows that differ.

        Who knows several rows of a person knows which of the rows of that class is which, where the released values differ.
        """
        return self.derived(("by history", rows_apart), lambda: self._by_history(rows_apart))

    def _by_history(self, rows_apart: bool) -> Evidence:
        release, roles = self.release, self.roles
        if release.joined_by is not None:
            raise Unavailable(
                f'{roles.source} says rows = "linked", which cannot be measured where only groups join columns.'
            )
        linked = LinkedTable(release.table, str(roles.person), self.histories)
        over = (linked.history, *(self._quasi() if rows_apart else ()))
        # people of whom the file says the same cannot be told apart by it, however its quasi-identifiers came about
        perturbed = release.perturbed - set(roles.quasi)
        alone = Release(
            table=linked,
            statistics=release.statistics,
            perturbed=perturbed,
            neighbours=release.neighbours,
            made_by=release.made_by,
        )
        sensitive = roles.sensitive if rows_apart else ()
        return alone.evidence(replace(roles, quasi=over, sensitive=sensitive, people={"rows": "unlinked"}))

    @cached_property
    def histories(self) -> Histories:
        """What the release says of each person over all rows, tables published along with it included."""
        self._check(self.release.table)
        person, quasi = str(self.roles.person), self.roles.quasi
        for table in (self.release.table, *self.release.related):
            if person not in table.columns:
                raise Unavailable(
                    f"{table.name}: no column {person!r}, the fresh number that joins the rows of a person where {self.roles.source} "
                    'says rows = "linked".'
                )
        here, *others = (
            (table, tuple(name for name in quasi if name in table.columns and name != person))
            for table in (self.release.table, *self.release.related)
        )
        return histories(here[0], person, here[1], tuple(others))

    def _weighed(self, rows: Classes, sensitive: str) -> Classes:
        """Classes in which every person weighs the same, from those that count rows."""
        owners = self._owners((sensitive,), None if sensitive in self.apart else rows)
        key = rows.member * len(rows.sensitive.total) + rows.value
        weight = exact(np.bincount(owners.entry, weights=owners.weight, minlength=len(key)))
        size = exact(np.bincount(rows.member, weights=weight, minlength=len(rows)))
        total = exact(np.bincount(rows.value, weights=weight, minlength=len(rows.sensitive.total)))
        return replace(rows, size=size, n=weight, split_by=replace(rows.sensitive, total=total), different=self.people)

    def people_of_values(self, sensitive: str) -> IntArray:
        """How many different people have each value in each class, in the order of the entries of `classes`; rows where those are people."""
        classes = self.classes(sensitive)
        if not self.roles.unlinked:
            return classes.n
        owners = self._owners((sensitive,))  # by the entries, since the classes were weighed by them
        return distinct_people(owners.entry, owners.person, len(classes.n), owners.people)

    def _owners(self, columns: tuple[str, ...], entries: Classes | None = None) -> _PeopleOfRows:
        """Whose the released rows are, by class and these columns."""
        return self.derived(("owners", columns), lambda: self._find_owners(columns, entries))

    def _find_owners(self, columns: tuple[str, ...], entries: Classes | None) -> _PeopleOfRows:
        person, quasi, table = str(self.roles.owner), self._quasi(), self.release.table
        why = f'Counting people (rows = "unlinked" in [people] of {self.roles.source})'
        if self.release.joined_by is not None:
            raise Unavailable(f"{why} cannot be done where only groups join columns.")
        if person in table.columns:
            counts = table.count((*quasi, *columns, person))
        elif person not in self.original(why).columns:
            raise Unavailable(f"{self.original(why).name}: no column {person!r}, by which people are counted.")
        elif self.release.recoding is not None:
            original, recoding = self.original(why), self.release.recoding
            seen = dict.fromkeys((*self.roles.released(original.columns), *recoding.by, person))
            counts = original.keep(tuple(seen)).recode(recoding).count((*quasi, *columns, person))
        elif self.release.pairing != "none":
            counts = self.paired(why).count(
                (*(f"released.{name}" for name in (*quasi, *columns)), f"original.{person}")
            )
        else:
            counts = self._lying_in(columns, person, why)
        member = self.tuples.places(counts.columns[: len(quasi)], counts.codes[: len(quasi)])
        known, rows = np.arange(len(self.tuples)), self.tuples.n
        if entries is not None:
            values = entries.sensitive.column
            m = len(values) + 1
            to = values.places(counts.columns[-2])
            known, rows = entries.member * m + entries.value, entries.n
            member = np.where(member < 0, -1, member * m + np.where(to < 0, m - 1, to)[counts.codes[-2]])
        entry = np.minimum(np.searchsorted(known, member), len(known) - 1)
        if not np.array_equal(known[entry], member) or not np.array_equal(
            exact(np.bincount(entry, weights=counts.n, minlength=len(known))), rows
        ):
            raise InputError(f"{table.name}: its rows are not those of the table that {person!r} comes from.")
        every = self._everybody()
        whose = every.columns[0].places(counts.columns[-1])[counts.codes[-1]]
        weight = counts.n * PersonWeights.of(every.n).of_row[whose]
        classes = entry if entries is None else entries.member[entry]
        return _PeopleOfRows(classes, entry, whose, weight, len(every))

    def _lying_in(self, columns: tuple[str, ...], person: str, why: str) -> Counts:
        """The original rows in the class that covers each, where only one does and no row of it was left out."""
        quasi, tuples = self._quasi(), self.tuples
        original = self.original(why)
        self._check(original)
        counts = original.count((*quasi, *columns, person))
        before, of = counts.group(quasi)
        domains = [Domain(column, self.roles.taxonomy(column.name)) for column in before.columns]
        homes = homes_by_cover(tuples, domains, before)
        member = homes.member[of]
        there = member >= 0
        rows = np.bincount(member[there], weights=counts.n[there], minlength=len(tuples))
        if not homes.certain or not np.array_equal(rows, tuples.n):
            raise Unavailable(
                f"{why} needs to know whose each released row is, and the released values do not tell: a row may lie in several "
                "classes, or some were left out; pair rows with --pair position or --pair key:COLUMN."
            )
        released = [code[member[there]] for code in tuples.codes]
        rest = [code[there] for code in counts.codes[len(quasi) :]]
        return Counts.of([*tuples.columns, *counts.columns[len(quasi) :]], [*released, *rest], counts.n[there])

    def original(self, why: str) -> Table:
        """The original table, or a refusal that says why it is needed."""
        if self.release.original is None:
            raise Unavailable(f"{why} needs the original table; give it with --original (or Release(original=...)).")
        self.roles.check(self.release.original.columns, where=self.release.original.name)
        return self.release.original

    def original_classes(self, sensitive: str, why: str) -> Classes:
        """The classes that the original quasi-identifiers form."""
        return self.derived(("original", sensitive), lambda: self._split(self.original(why), sensitive))[0]

    def domain(self, name: str, why: str) -> Domain:
        """What values a quasi-identifier may have had: its taxonomy file, else the values of the original."""
        taxonomy = self.roles.taxonomy(name)
        if self.release.original is None and taxonomy is not None:
            missing = [None] if self.tuples.column(name).has_missing else []
            column, _ = encode(name, strings([*taxonomy.levels[0], *missing]))
            return Domain(column, taxonomy)
        column = self.original(why).value_counts(self._quasi())[name].columns[0]
        return Domain(column, self.roles.hierarchy(column) if taxonomy is None else taxonomy)

    def pairs(self, name: str, why: str) -> tuple[list[str | None], list[str | None], IntArray]:
        """For a column, the original value, the released value and how many rows have both."""
        counts = self.pair_counts((name,), why)
        first, second = counts.columns
        return [first.texts[c] for c in counts.codes[0]], [second.texts[c] for c in counts.codes[1]], counts.n

    def pair_counts(self, names: Sequence[str], why: str) -> Counts:
        """The rows of each combination of the original and the released values of these columns."""
        recoding = self.release.recoding
        if recoding is None:
            both = [*(f"original.{name}" for name in names), *(f"released.{name}" for name in names)]
            return self.paired(why).count(both)
        for name in names:
            if name not in recoding.to:
                raise Unavailable(f"{why} needs every column paired with its original, and {name!r} was not recoded.")
        return recoding.pairs(names)

    def paired(self, why: str) -> Table:
        """Released and original rows side by side, `released.x` and `original.x`."""
        return self.derived("paired", lambda: self._paired(why))

    def _paired(self, why: str) -> Table:
        if self.release.pairing == "none":
            raise Unavailable(
                f"{why} needs to know which released row comes from which original row; "
                "pair them with --pair position or --pair key:COLUMN."
            )
        key = self.release.pairing.removeprefix("key:") if self.release.pairing.startswith("key:") else None
        joined = self.release.table.beside(self.original(why), key)
        alone = self.release.table.rows - joined.rows
        if alone:
            raise InputError(
                f"{self.release.table.name}: {alone} rows have a {key!r} that {self.original(why).name} does not have, "
                "so they have no original to be paired with."
            )
        return joined

    def sides(self, columns: Sequence[str], why: str) -> tuple[Table, dict[str, str]]:
        """The original rows that were released, `original.x` of these columns, with their released columns beside them.

        Also the name that each released column has there. People who were left out are not in it.
        """
        recoding, original = self.release.recoding, self.original(why)
        original.require_columns(columns, f"which {why} needs", Unavailable)
        if recoding is None or self.release.joined_by is not None:
            return self.paired(why), {name: f"released.{name}" for name in self.release.table.columns}
        # the columns that the mechanism saw and no others before them: the rows of a divided tuple are told apart by all of them
        seen = list(self.roles.released(original.columns))
        seen += [name for name in (*recoding.by, *columns) if name not in seen]
        both = original.keep(seen).copied({f"original.{name}": name for name in columns}).recode(recoding)
        return both, {name: name for name in self.release.table.columns if name in seen}

    def side_counts(self, before: Sequence[str], after: Sequence[str], why: str) -> Counts:
        """The rows of each combination of these original columns and of those released ones, over the rows that were released."""
        both, released = self.sides(before, why)
        return both.count((*(f"original.{name}" for name in before), *(released[name] for name in after)))

    def held(self, name: str, why: str) -> tuple[IntArray, Column, IntArray, IntArray]:
        """A column that need not be released, split by released class: class, the column, its code and rows of each entry.

        It is taken from the release if that has it, else from the original rows that the released ones are paired with. Of rows
        that the release does not tell apart and puts into several classes, those come first whose value does.
        """
        quasi = self._quasi()
        if name in self.release.table.columns:
            counts = self.release.table.count((*quasi, name))
        elif name not in self.original(why).columns:
            raise Unavailable(f"{self.original(why).name}: no column {name!r}, which {why} needs.")
        elif self.release.recoding is not None:
            # where the rows of a tuple are divided, it goes by the order of their values: the released ones, as they were, first
            original, recoding = self.original(why), self.release.recoding
            columns = dict.fromkeys((*self.roles.released(original.columns), *recoding.by, name))
            counts = original.keep(tuple(columns)).recode(recoding).count((*quasi, name))
        else:
            counts = self.paired(why).count((*(f"released.{q}" for q in quasi), f"original.{name}"))
        member = self.tuples.places(counts.columns[:-1], counts.codes[:-1])
        if (member < 0).any():
            raise InputError(
                f"{self.release.table.name}: its rows are not those of the table that {name!r} comes from."
            )
        return member, counts.columns[-1], counts.codes[-1], counts.n

    def population_sizes(self) -> IntArray | None:
        """For each class, how many people of the population table its released values cover; None without that table."""
        cover = self.population_cover()
        return None if cover is None else cover.sizes

    def cover_from(self, rolled: Callable[[], Cover | None]) -> None:
        """Take whom the classes cover, in the order of `tuples`, from one who has counted it already, if that one has."""
        self._derived["rolled"] = rolled

    def population_cover(self) -> Cover | None:
        """Whom of the population the classes cover; None without that table. Counted once and kept.

        People are rows, or distinct people where the population table carries the person column.
        """
        if self.release.population is None:
            return None
        return self.derived("population", self._population_cover)

    def _population_cover(self) -> Cover:
        rolled = self._derived.pop("rolled", None)
        if rolled is not None and (counted := rolled()) is not None:
            return counted  # type: ignore[no-any-return]
        if self.roles.counts_households:
            raise Unavailable(
                f"A population is counted in people, and {self.roles.source} says that households are counted."
            )
        table, quasi, person = self.release.population, self._quasi(), self.roles.person
        assert table is not None
        self._check(table)
        named = person is not None and person in table.columns
        counts = table.count((*quasi, str(person)) if named else quasi)
        domains = [Domain(counts.column(name), self.roles.taxonomy(name)) for name in quasi]
        return cover(self.tuples, domains, counts, person=named)


def recoded(table: Table, roles: Roles, recoding: Recoding, **more: Any) -> Release:
    """A release that is its original with some tuples replaced: the columns that may be released, recoded, with the original beside them for measuring."""
    released = roles.released(table.columns)
    house = [name for name in recoding.by if name not in released]  # rows may be told apart by whose they are
    kept = table.keep([*released, *house]).recode(recoding)
    joined = [str(roles.person)] if roles.linked and roles.person in recoding.to else []  # replaced by fresh numbers
    return Release(table=kept.keep([*released, *joined]) if house else kept, original=table, recoding=recoding, **more)


def check_release(release: object, roles: object) -> None:
    """Refuse to measure what is no release, such as a table, and roles that are none."""
    check_roles(roles)
    if not isinstance(release, Release):
        raise InputError(
            "Give a release: what a mechanism made, or sfumato.Release(table=sfumato.read('release.csv')) for one made elsewhere."
        )
