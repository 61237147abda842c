"""Every node of a small lattice, generalized row by row and judged in plain Python: shared by the tests of the search.

Nothing of `sfumato.search` is used here. Rows are dicts, a class is a list of rows, and every measure is its formula
again; a measure without a formula here is asked of a real release, made of the rows that were really generalized.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.metric import Requirement
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Recoding, Table

Value = str | int | None
Row = dict[str, Value]
Node = tuple[int, ...]
TIE = 1e-9


# --- measures --------------------------------------------------------------------------------------------------------


def entropy(counts: Sequence[int]) -> float:
    total = sum(counts)
    return -sum(n / total * math.log2(n / total) for n in counts if n)


@dataclass(frozen=True)
class Attribute:
    """The sensitive values of a class, those of the table, and the order of the latter."""

    c: Counter[Value]
    t: Counter[Value]
    order: tuple[Value, ...] = ()

    def p(self, w: Value) -> float:
        return self.c[w] / self.c.total()

    def q(self, w: Value) -> float:
        return self.t[w] / self.t.total()


def _ordered(a: Attribute) -> float:
    values = sorted(a.t, key=lambda w: (w is None, a.order.index(w) if w in a.order else 0))
    if len(values) < 2:
        return 0.0
    gap, work = 0.0, 0.0
    for w in values:
        gap += a.p(w) - a.q(w)
        work += abs(gap)
    return work / (len(values) - 1)


def _kl(a: Attribute) -> float:
    return max(sum(a.p(w) * math.log2(a.p(w) / a.q(w)) for w in a.c), 0.0)


def _i4(a: Attribute) -> float:
    rest = a.t.total() - a.c.total()
    joint = [*a.c.values(), *(a.t[w] - a.c[w] for w in a.t)]
    return entropy([*a.t.values()]) + entropy([a.c.total(), rest]) - entropy(joint) if rest else 0.0


def _enhanced(a: Attribute) -> float:
    gain = {w: max(a.p(w) / a.q(w) - 1, 0.0) for w in a.c}
    return max(math.inf if g > -math.log(a.q(w)) else g for w, g in gain.items())


def _recursive(a: Attribute, l: int) -> float:
    f = sorted(a.c.values(), reverse=True)
    return f[0] / sum(f[l - 1 :]) if len(f) >= l else math.inf


OF_CLASS: dict[str, Callable[[Attribute], float]] = {
    "distinct_l_diversity": lambda a: len(a.c),
    "distinct_l_diversity[dont_care=s1]": lambda a: math.inf if set(a.c) <= {"s1"} else len(a.c),
    "entropy_l_diversity": lambda a: 2 ** entropy([*a.c.values()]),
    "recursive_diversity": lambda a: _recursive(a, 2),
    "recursive_diversity[l=3]": lambda a: _recursive(a, 3),
    "t_closeness[equal]": lambda a: sum(abs(a.p(w) - a.q(w)) for w in a.t) / 2,
    "t_closeness[ordered]": _ordered,
    "one_symbol_i1": _kl,
    "one_symbol_i2": lambda a: entropy([*a.t.values()]) - entropy([*a.c.values()]),
    "one_symbol_i4": _i4,
    "alpha_anonymity": lambda a: max(map(a.p, a.c)),
    "beta_likeness[basic]": lambda a: max(max(a.p(w) - a.q(w), 0.0) / a.q(w) for w in a.c),
    "beta_likeness[enhanced]": _enhanced,
    "delta_disclosure": lambda a: (
        math.inf if set(a.t) - set(a.c) else max(abs(math.log2(a.p(w) / a.q(w))) for w in a.t)
    ),
    "distribution_leakage": lambda a: math.sqrt(sum((a.p(w) - a.q(w)) ** 2 for w in a.t)),
    "entropy_leakage": lambda a: abs(entropy([*a.t.values()]) - entropy([*a.c.values()])),
    "p_sensitive_k_anonymity[k=3]": lambda a: len(a.c) if a.c.total() >= 3 else 0,
    "transfer_of_information[rho1=0.2]": lambda a: max((a.p(w) for w in a.c if a.q(w) <= 0.2 + 1e-12), default=0.0),
    "vanishing_values": lambda a: len(a.t) - len(a.c),
    "positive_disclosure": lambda a: max(map(a.p, a.c)),
    "negative_disclosure": lambda a: min(map(a.p, a.t)),
    "uninformative_difference": lambda a: max(abs(a.p(w) - a.q(w)) for w in a.t),
}
"""Of a class that is split by a sensitive column."""
OF_SIZE: dict[str, Callable[[int, int], float]] = {
    "k_anonymity": lambda n, rows: float(n),
    "prosecutor_risk": lambda n, rows: 1 / n,
    "identity_information": lambda n, rows: math.log2(rows / n),
}
"""Of the rows of a class, and of the table that it is part of."""
ALONE = ("k_anonymity", "prosecutor_risk", "journalist_risk", "positive_disclosure", "alpha_anonymity", "p_sensitive")
ALONE += ("distinct_l_diversity", "entropy_l_diversity", "recursive_diversity")
"""These look at a class alone: which classes must go is no matter of choice."""
NOT_MONOTONE = ("entropy_leakage", "one_symbol_i4")


def _information(classes: Sequence[Counter[Value]], table: Counter[Value]) -> float:
    return sum(c.total() / table.total() * _kl(Attribute(c, table)) for c in classes)


OF_TABLE: dict[str, Callable[[Sequence[Counter[Value]], Counter[Value]], float]] = {
    "mutual_information": _information,
    "mutual_information_leak": lambda cs, t: 1 - 2 ** -_information(cs, t),
}
"""Of all classes of a release, split by a sensitive column, and of the table that they are."""
OF_SIZES: dict[str, Callable[[Sequence[int]], float]] = {
    "marketer_risk": lambda sizes: len(sizes) / sum(sizes),
    "average_class_size": lambda sizes: sum(sizes) / len(sizes),
}
OF_CHOICE = ("marketer_risk", "n_t_closeness[equal,n=6]", "one_symbol_i3", "multi_attribute_l_diversity")
"""Which classes are left out for these is chosen in other ways: test_search_registry looks at all choices."""
HIGHER = (
    "k_anonymity",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "p_sensitive_k_anonymity",
    "negative_disclosure",
    "multi_attribute_l_diversity",
)


def bare(text: str) -> tuple[str, str | None]:
    """A metric without the column at its end, and the column."""
    return (text[: text.rindex("(")], text[text.rindex("(") + 1 : -1]) if text.endswith(")") else (text, None)


def holds(text: str, value: float, bound: float) -> bool:
    room = 1e-12 * max(1.0, abs(bound))
    return value >= bound - room if text.startswith(HIGHER) else value <= bound + room


# --- a table, its hierarchies and what is asked of it ----------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """A node: its rows by released tuple, those that stay, and what it costs (None where it is not feasible)."""

    node: Node
    classes: dict[tuple[Value, ...], list[int]]
    gone: frozenset[int]
    feasible: bool
    loss: float | None = None


@dataclass
class Small:
    """A small question. `lines[column]` are the lines of its hierarchy, by value; a column without one has two levels."""

    rows: list[Row]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ("s",)
    lines: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    widths: dict[str, list[int]] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    require: list[tuple[str, float]] = field(default_factory=list)
    minimise: str = "loss"
    suppression: float = 0.0
    columns: tuple[str, ...] = ()
    """The order of the columns in the table, if another."""
    people: list[Row] | None = None
    """A population, for metrics that ask about one."""
    more: dict[str, Any] = field(default_factory=dict)
    """Other roles."""

    # --- for the code under test

    def read(self, rows: Sequence[Row], names: Sequence[str]) -> Table:
        kinds = {name: pa.int64() if name in self.widths else pa.string() for name in names}
        return sf.read(pa.table({name: pa.array([row[name] for row in rows], kinds[name]) for name in names}))

    @cached_property
    def table(self) -> Table:
        return self.read(self.rows, self.columns or tuple(self.rows[0]))

    @cached_property
    def population(self) -> Table | None:
        return None if self.people is None else self.read(self.people, self.quasi)

    @cached_property
    def roles(self) -> Roles:
        ways: dict[str, Any] = {c: Hierarchy.of(c, [*each.values()]) for c, each in self.lines.items()}
        ways |= {name: {"widths": steps} for name, steps in self.widths.items()}
        taken = (*self.quasi, *self.sensitive, *self.more.values())
        return Roles(
            quasi=self.quasi,
            sensitive=self.sensitive,
            insensitive=tuple(name for name in self.rows[0] if name not in taken),
            hierarchies=ways,
            orders=self.orders,
            weights=self.weights,
            **self.more,
        )

    @property
    def requirements(self) -> list[Requirement]:
        return [
            sf.require(f"{text} {'>=' if text.startswith(HIGHER) else '<='} {bound!r}") for text, bound in self.require
        ]

    def arguments(self) -> dict[str, Any]:
        given = {"require": self.requirements, "minimise": self.minimise, "suppression": self.suppression}
        return given | ({} if self.population is None else {"population": self.population})

    # --- generalization

    def height(self, name: str) -> int:
        if name in self.lines:
            return len(next(iter(self.lines[name].values()))) - 1
        return 1 + len(self.widths.get(name, ()))

    def label(self, name: str, value: Value, level: int) -> Value:
        """What a value becomes: missing stays missing up to the top, where everything is `*`."""
        if level == self.height(name):
            return "*"
        if value is None or level == 0:
            return value if value is None else str(value)
        if name in self.lines:
            return self.lines[name][str(value)][level]
        width = self.widths[name][level - 1]
        low = int(value) // width * width
        return f"[{low},{low + width})"

    def domain(self, name: str) -> list[Value]:
        """The values of a column: those of its hierarchy file if there is one; missing is one where it occurs."""
        seen = {row[name] for row in self.rows}
        known: list[Value] = (
            [*self.lines[name]] if name in self.lines else sorted(str(v) for v in seen if v is not None)
        )
        return [*known, None] if None in seen else known

    def leaves(self, name: str, label: Value) -> int:
        """How many values of the domain a label can mean at the very most."""
        if label == "*":
            return len(self.domain(name))
        known = [v for v in self.domain(name) if v is not None]
        under = [
            {v for v in known if self.label(name, int(v) if name in self.widths else v, level) == label}
            for level in range(self.height(name) - 1, 0, -1)  # of groups as large, the one higher up
        ]
        return max(len(max(under, key=len, default=set()) | {v for v in known if v == label}), 1)

    @property
    def lattice(self) -> Iterator[Node]:
        return itertools.product(*(range(self.height(name) + 1) for name in self.quasi))

    def generalized(self, node: Node) -> list[tuple[Value, ...]]:
        return [
            tuple(self.label(name, row[name], level) for name, level in zip(self.quasi, node, strict=True))
            for row in self.rows
        ]

    def classes(self, node: Node) -> dict[tuple[Value, ...], list[int]]:
        found: dict[tuple[Value, ...], list[int]] = {}
        for i, key in enumerate(self.generalized(node)):
            found.setdefault(key, []).append(i)
        return found

    # --- judging

    def attribute(self, members: Sequence[int], everyone: Sequence[int], column: str) -> Attribute:
        c, t = (Counter(self.rows[i][column] for i in some) for some in (members, everyone))
        return Attribute(c, t, self.orders.get(column, ()))

    def misses(self, members: Sequence[int], everyone: Sequence[int]) -> bool:
        """Whether a class misses anything that is asked of classes, given the table that it is part of."""
        for text, bound in self.require:
            name, column = bare(text)
            if name in OF_SIZE and not holds(name, OF_SIZE[name](len(members), len(everyone)), bound):
                return True
            if name in OF_CLASS:
                for each in [column] if column else self.sensitive:
                    if not holds(name, OF_CLASS[name](self.attribute(members, everyone, each)), bound):
                        return True
        return False

    @property
    def certain(self) -> bool:
        """Whether what is left out is no matter of choice, so that the best is proved."""
        return int(self.suppression * len(self.rows) + 1e-9) == 0 or all(
            bare(t)[0].startswith(ALONE) for t, _ in self.require
        )

    @property
    def limit(self) -> int:
        asked = any(bare(text)[0] in OF_SIZE or bare(text)[0] in OF_CLASS for text, _ in self.require)
        return int(self.suppression * len(self.rows) + 1e-9) if asked else 0

    def judge(self, node: Node) -> Judged:
        """Classes that miss something go; what is left is a table of its own, and so on until all that is left is met."""
        every = self.classes(node)
        left = dict(every)
        while left:
            everyone = [i for members in left.values() for i in members]
            bad = [key for key, members in left.items() if self.misses(members, everyone)]
            if not bad:
                break
            left = {key: members for key, members in left.items() if key not in bad}
        stay = {i for members in left.values() for i in members}
        gone = frozenset(i for i in range(len(self.rows)) if i not in stay)
        fits = bool(stay) and len(gone) <= self.limit
        fits = fits and all(
            holds(text, self.whole(text, node, left), bound) for text, bound in self.require if self.on_table(text)
        )
        return Judged(node, every, gone, fits, self.cost(node, left) if fits else None)

    def on_table(self, text: str) -> bool:
        return bare(text)[0] not in (*OF_SIZE, *OF_CLASS)

    def whole(self, text: str, node: Node, left: Mapping[tuple[Value, ...], list[int]]) -> float:
        """A measure of what is released; the worst sensitive column counts."""
        name, column = bare(text)
        if name in OF_SIZES:
            return OF_SIZES[name]([len(members) for members in left.values()])
        columns = [column] if column else [*self.sensitive]
        if name in OF_TABLE:
            found = []
            for each in columns:
                split = [Counter(self.rows[i][each] for i in members) for members in left.values()]
                found.append(OF_TABLE[name](split, sum(split, Counter())))
            return min(found) if name.startswith(HIGHER) else max(found)
        metric = sf.metric(text)
        if metric.card.scope == "class" and name in {**OF_SIZE, **OF_CLASS}:  # as something to minimise
            values = self.per_class(name, columns, left)
            return min(values) if name.startswith(HIGHER) else max(values)
        return float(metric(self.released(node, left), self.roles).value)

    def per_class(self, name: str, columns: Sequence[str], left: Mapping[tuple[Value, ...], list[int]]) -> list[float]:
        stay = [i for members in left.values() for i in members]
        if name in OF_SIZE:
            return [OF_SIZE[name](len(members), len(stay)) for members in left.values()]
        return [OF_CLASS[name](self.attribute(members, stay, c)) for members in left.values() for c in columns]

    def released(self, node: Node, left: Mapping[tuple[Value, ...], list[int]]) -> Release:
        """A real release of the rows that stay, each generalized, with the pairs of original and released values."""
        key = {i: k for k, members in left.items() for i in members}
        names = [*self.rows[0]]
        columns = {
            name: [key[i][self.quasi.index(name)] if name in self.quasi else self.rows[i][name] for i in sorted(key)]
            for name in names
        }
        pairs = Counter((tuple(self.rows[i][name] for name in self.quasi), key[i]) for i in key)
        by = [pa.array([before[j] for before, _ in pairs]) for j in range(len(self.quasi))]
        to = [pa.array([after[j] for _, after in pairs], pa.string()) for j in range(len(self.quasi))]
        by = [column.cast(pa.string()) if pa.types.is_null(column.type) else column for column in by]
        listed = [*(f"by{j}" for j in range(len(by))), *(f"to{j}" for j in range(len(to))), "n"]
        table = pa.Table.from_arrays([*by, *to, pa.array([*pairs.values()])], names=listed)
        return Release(
            table=sf.read(pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})),
            original=self.table,
            recoding=Recoding(self.quasi, self.quasi, table),
            population=self.population,
        )

    # --- losses

    def cost(self, node: Node, left: Mapping[tuple[Value, ...], list[int]]) -> float:
        total = 0.0
        for factor, name in terms(self.minimise):
            total += factor * self.term(name, node, left)
        return total

    def shares(self, node: Node, left: Mapping[tuple[Value, ...], list[int]], *, iloss: bool = False) -> list[float]:
        """For each column the mean over all rows of what is open; a row that is gone has lost everything."""
        stay = [i for members in left.values() for i in members]
        found = []
        for name, level in zip(self.quasi, node, strict=True):
            size = len(self.domain(name))
            width = size if iloss else max(size - 1, 1)
            of = {v: self.leaves(name, self.label(name, v, level)) for v in {row[name] for row in self.rows}}
            lost = sum(min((of[self.rows[i][name]] - 1) / width, 1.0) for i in stay)
            lost += (len(self.rows) - len(stay)) * (size - 1) / width  # a domain of one value has nothing to lose
            found.append(lost / len(self.rows))
        return found

    def term(self, name: str, node: Node, left: Mapping[tuple[Value, ...], list[int]]) -> float:
        weight = [self.weights.get(column, 1.0) for column in self.quasi]
        sizes = [len(members) for members in left.values()]
        if name in ("loss", "arx_loss[arithmetic]"):
            return sum(self.shares(node, left)) / len(node)
        if name in ("loss_geometric", "arx_loss[geometric]"):
            return math.prod(1 + share for share in self.shares(node, left)) ** (1 / len(node)) - 1
        if name in ("granularity", "iloss"):
            shares = self.shares(node, left, iloss=name == "iloss")
            return sum(w * share for w, share in zip(weight, shares, strict=True)) / sum(weight)
        if name == "height":
            return float(sum(node))
        if name == "discernibility":
            return sum(n * n for n in sizes) + (len(self.rows) - sum(sizes)) * len(self.rows)
        if name == "non_uniform_entropy":
            return self.open_bits(node, left, weight)
        return self.whole(name, node, left)

    def open_bits(self, node: Node, left: Mapping[tuple[Value, ...], list[int]], weight: Sequence[float]) -> float:
        stay = {i for members in left.values() for i in members}
        bits, most = 0.0, 0.0
        for name, level, w in zip(self.quasi, node, weight, strict=True):
            pairs = [
                (row[name], self.label(name, row[name], level) if i in stay else "*") for i, row in enumerate(self.rows)
            ]
            both, released = Counter(pairs), Counter(r for _, r in pairs)
            bits -= w * sum(n * math.log2(n / released[r]) for (_, r), n in both.items())
            most += w * len(pairs) * entropy([*Counter(v for v, _ in pairs).values()])
        return bits / most if most > 1e-12 else 0.0

    # --- the answer

    def every(self) -> list[Judged]:
        return [self.judge(node) for node in self.lattice]

    def best(self) -> Judged | None:
        """The least loss; of those that are the same to one part in 10^9, the lowest levels in sum, then in order."""
        fits = [judged for judged in self.every() if judged.feasible]
        return least(fits)


def least(fits: Sequence[Judged]) -> Judged | None:
    if not fits:
        return None
    low = min(cost(judged) for judged in fits)
    room = TIE * max(1.0, abs(low)) if math.isfinite(low) else 0.0
    ties = [judged for judged in fits if cost(judged) <= low + room]
    return min(ties, key=lambda judged: (sum(judged.node), judged.node))


def cost(judged: Judged) -> float:
    assert judged.loss is not None
    return judged.loss


def terms(text: str) -> list[tuple[float, str]]:
    """`0.5*loss + 0.01*height - mutual_information(s)` as factors and names."""
    found = []
    for part in text.replace(" - ", " + -").split(" + "):
        part, sign = (part[1:], -1.0) if part.startswith("-") else (part, 1.0)
        factor, star, name = part.partition("*")
        found.append((sign * float(factor), name) if star else (sign, part))
    return found


# --- at random -------------------------------------------------------------------------------------------------------


def some_lines(rng: random.Random, name: str, values: list[str], height: int) -> dict[str, tuple[str, ...]]:
    """A random nested hierarchy: groups are merged level by level; one that does not change may keep its label."""
    group = {v: v for v in values}
    lines = {v: [v] for v in values}
    for level in range(1, height):
        here = sorted(set(group.values()))
        fewer = rng.randint(1, len(here))
        into = {label: f"{name}{level}.{rng.randrange(fewer)}" for label in here}
        if rng.random() < 0.5:  # what stays alone keeps its label
            alone = Counter(into.values())
            into = {label: label if alone[up] == 1 else up for label, up in into.items()}
        group = {v: into[group[v]] for v in values}
        for v in values:
            lines[v].append(group[v])
    return {v: (*line, "*") for v, line in lines.items()}


def clashing(rng: random.Random, values: list[str], height: int) -> dict[str, tuple[str, ...]]:
    """A nested hierarchy whose labels are names of its values."""
    group, lines = {v: v for v in values}, {v: [v] for v in values}
    for _ in range(1, height):
        here = sorted(set(group.values()))
        names = rng.sample(values, rng.randint(1, len(here)))
        into = {label: rng.choice(names) for label in here}
        group = {v: into[group[v]] for v in values}
        for v in values:
            lines[v].append(group[v])
    return {v: (*line, "*") for v, line in lines.items()}


def some_table(rng: random.Random) -> Small:
    """Two to four quasi-identifiers: missing values, constants, columns without hierarchy, values that never occur."""
    count = rng.choice((2, 2, 3, 3, 4))
    rows = rng.randint(8, 45)
    quasi = tuple(f"q{i}" for i in range(count))
    lines, widths, columns = {}, {}, {}
    for name in quasi:
        values = [f"{name}v{i}" for i in range(rng.choice((1, 2, 3, 4, 5, 7)))]
        kind = rng.random()
        if kind < 0.65:
            lines[name] = some_lines(rng, name, values, rng.choice((1, 2, 2, 3) if count < 4 else (1, 2, 2)))
        elif kind < 0.8:
            values = [*map(str, rng.sample(range(12), rng.randint(2, 6)))]
            widths[name] = rng.choice(([3], [2, 6], [5]))
        weights = [rng.random() ** 2 + 0.01 for _ in values]
        drawn: list[Value] = (
            [*rng.choices(values[: rng.randint(1, len(values))], k=rows)]
            if rng.random() < 0.2
            else [*rng.choices(values, weights, k=rows)]
        )
        if name in widths:
            drawn = [int(str(v)) for v in drawn]
        if rng.random() < 0.3:
            drawn = [None if rng.random() < 0.2 else v for v in drawn]
        columns[name] = drawn
    sensitive = ("s",) if rng.random() < 0.6 else ("s", "z")
    for name in sensitive:
        values = [f"{name}{i}" for i in range(rng.choice((2, 3, 4, 6)))]
        near = rng.random()
        told = [hash_of(columns[quasi[0]][i], columns[quasi[-1]][i]) for i in range(rows)]
        columns[name] = [values[t % len(values)] if rng.random() < near / 2 else rng.choice(values) for t in told]
        if rng.random() < 0.3:
            columns[name] = [None if rng.random() < 0.15 else v for v in columns[name]]
    if rng.random() < 0.3:
        columns["other"] = [f"o{rng.randrange(3)}" for _ in range(rows)]
    for name in quasi:  # a column of nothing but missing values has no type
        if all(v is None for v in columns[name]):
            columns[name][0] = min(lines[name]) if name in lines else 3 if name in widths else f"{name}v0"
    return Small(
        [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        quasi,
        sensitive,
        lines,
        widths,
        {name: rng.choice((0.5, 1.0, 2.0, 3.0)) for name in quasi if rng.random() < 0.4},
        {name: tuple(rng.sample([f"{name}{i}" for i in range(6)], 6)) for name in sensitive},
    )


def hash_of(*values: Value) -> int:
    return sum((i + 1) * sum(map(ord, str(v))) for i, v in enumerate(values))


LOSSES = (
    "loss",
    "loss_geometric",
    "iloss",
    "granularity",
    "discernibility",
    "average_class_size",
    "height",
    "non_uniform_entropy",
    "-mutual_information(s)",
    "0.5*loss + 0.01*height",
    "2*granularity + 0.1*non_uniform_entropy - 0.3*mutual_information(s)",
    "0.001*discernibility + loss_geometric",
)
OTHERS = (
    "mutual_information(s)",
    "-k_anonymity",
    "t_closeness[equal](s)",
    "marketer_risk",
    "-entropy_l_diversity(s)",
    "one_symbol_i4(s)",
    "loss + 0.2*marketer_risk",
)
"""Other registered metrics as what is to be minimised."""
SEPARABLE = ("loss", "loss_geometric", "iloss", "granularity")


def some_limit(rng: random.Random, question: Small, text: str) -> tuple[str, float]:
    """A requirement whose limit is what some node's middling class has: so it is met here, missed there, and hit exactly."""
    node = rng.choice([*question.lattice])
    classes = question.classes(node)
    name, column = bare(text)
    if name in OF_SIZE or name in OF_CLASS:
        values = sorted(question.per_class(name, [column] if column else question.sensitive, classes))
        bound = rng.choice(values) if rng.random() < 0.7 else values[0 if name.startswith(HIGHER) else -1]
    else:
        bound = question.whole(text, node, classes)
    if not math.isfinite(bound):
        bound = 2.0
    if rng.random() < 0.12:  # more than any node has, perhaps
        bound = 1.4 * bound if name.startswith(HIGHER) else bound / 1.4
    return text, float(bound) if rng.random() < 0.7 else round(float(bound), 2)


def some_requirements(rng: random.Random, question: Small, *, exotic: bool = False) -> list[tuple[str, float]]:
    """One to three of them, of classes and of the whole table, on one sensitive column or on all."""
    found = []
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        kinds = [*OF_CLASS] * 3 + [*OF_SIZE] * 6 + [*OF_TABLE, *OF_SIZES] * 3
        name = rng.choice(kinds)
        if exotic and rng.random() < 0.6:
            more = ["n_t_closeness[equal,n=6]", "one_symbol_i3"]
            more += ["multi_attribute_l_diversity"] * (len(question.sensitive) > 1)
            name = rng.choice(more)
        if name not in OF_SIZE and name not in OF_SIZES and rng.random() < 0.5:
            name += f"({rng.choice(question.sensitive)})"
        if name not in [text for text, _ in found]:
            found.append(some_limit(rng, question, name))
    return found


def some_question(seed: int, *, exotic: bool = False) -> Small:
    rng = random.Random(seed)
    question = some_table(rng)
    while exotic and math.prod(question.height(q) + 1 for q in question.quasi) > 30:
        question = some_table(rng)
    question.require = some_requirements(rng, question, exotic=exotic)
    question.minimise = rng.choice(LOSSES) if rng.random() < 0.85 else rng.choice(OTHERS)
    question.suppression = rng.choice((0.0, 0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0))
    if any(bare(text)[0] in OF_CHOICE for text, _ in question.require):
        question.suppression = 0.0
    return question
