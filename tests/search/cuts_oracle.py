"""All partitions of a small column, judged one by one in plain Python: shared by the tests of the cuts."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.core.roles import Roles
from sfumato.core.table import Table

Row = tuple[int | None, str | None, str]
"""The number to be cut, what is held beside it, and the sensitive value."""


def partitions(count: int) -> Iterator[tuple[int, ...]]:
    """Every way to cut a line of so many places, as the places where a later range starts."""
    for mask in range(2 ** (count - 1)):
        yield tuple(i + 1 for i in range(count - 1) if mask >> i & 1)


def entropy(counts: Sequence[int]) -> float:
    total = sum(counts)
    return -sum(n / total * math.log2(n / total) for n in counts if n)


Measure = Callable[[Counter[str], Counter[str]], float]
"""Of a class and of the table, each its sensitive values with their rows."""


def _kl(c: Counter[str], table: Counter[str]) -> float:
    return sum(n / c.total() * math.log2((n / c.total()) / (table[w] / table.total())) for w, n in c.items())


def _i4(c: Counter[str], table: Counter[str]) -> float:
    joint = [*c.values(), *(table[w] - c[w] for w in table)]
    return entropy([*table.values()]) + entropy([c.total(), table.total() - c.total()]) - entropy(joint)


MEASURES: dict[str, Measure] = {
    "k_anonymity": lambda c, t: c.total(),
    "distinct_l_diversity": lambda c, t: len(c),
    "entropy_l_diversity": lambda c, t: 2 ** entropy([*c.values()]),
    "t_closeness[equal]": lambda c, t: sum(abs(c[w] / c.total() - t[w] / t.total()) for w in t) / 2,
    "one_symbol_i1": _kl,
    "one_symbol_i2": lambda c, t: entropy([*t.values()]) - entropy([*c.values()]),
    "alpha_anonymity": lambda c, t: max(c.values()) / c.total(),
    "entropy_leakage": lambda c, t: abs(entropy([*t.values()]) - entropy([*c.values()])),  # not monotone
    "one_symbol_i4": _i4,  # not monotone
}


@dataclass
class Small:
    """A small table and what is asked of its cuts."""

    rows: list[Row]
    require: list[str] = field(default_factory=list)
    objective: str = "mutual_information"
    most: int | None = None
    held: int | None = None
    """The level of `g`: 0 as it is, 1 its two groups, 2 suppressed; None if it is not named, which is the same."""

    @property
    def table(self) -> Table:
        a, g, w = zip(*self.rows, strict=True)
        return sf.read(pa.table({"a": pa.array(a, pa.int64()), "g": pa.array(g, pa.string()), "w": list(w)}))

    roles = Roles(
        quasi=("a", "g"),
        sensitive=("w",),
        hierarchies={"g": sf.Hierarchy.of("g", [["p", "early", "*"], ["q", "early", "*"], ["r", "late", "*"]])},
    )

    def group(self, g: str | None) -> str | None:
        """What `g` is released as."""
        if self.held in (None, 2):
            return "*"
        return g if self.held == 0 or g is None else "late" if g == "r" else "early"

    def arguments(self) -> dict[str, Any]:
        return {
            "objective": self.objective,
            "require": [sf.require(text) for text in self.require],
            "max_ranges": self.most,
            "levels": None if self.held is None else {"g": self.held},
        }

    @property
    def values(self) -> list[int]:
        return sorted({a for a, _, _ in self.rows if a is not None})

    def classes(self, cuts: tuple[int, ...]) -> dict[tuple[int, str | None], Counter[str]]:
        """The classes by range (-1: missing) and group, each with the rows of its sensitive values."""
        starts = [0, *cuts]
        found: dict[tuple[int, str | None], Counter[str]] = {}
        for a, g, w in self.rows:
            at = -1 if a is None else sum(self.values.index(a) >= start for start in starts) - 1
            found.setdefault((at, self.group(g)), Counter())[w] += 1
        return found

    def meets(self, cuts: tuple[int, ...]) -> bool:
        table = Counter(w for _, _, w in self.rows)
        for text in self.require:
            name, sign, bound = text.split()
            for c in self.classes(cuts).values():
                value = MEASURES[name](c, table)
                if value < float(bound) - 1e-9 if sign == ">=" else value > float(bound) + 1e-9:
                    return False
        return True

    def worth(self, cuts: tuple[int, ...]) -> float:
        """The objective of the whole partition, by another formula than the program's where there is one."""
        classes = self.classes(cuts)
        rows, domain = len(self.rows), len({a for a, _, _ in self.rows})
        if self.objective == "mutual_information":  # H(W) + H(C) - H(W,C)
            table = Counter(w for _, _, w in self.rows)
            joint = [n for c in classes.values() for n in c.values()]
            return entropy([*table.values()]) + entropy([c.total() for c in classes.values()]) - entropy(joint)
        if self.objective == "discernibility":
            return float(sum(c.total() ** 2 for c in classes.values()))
        edges = [0, *cuts, len(self.values)]
        leaves = {i: high - low for i, (low, high) in enumerate(itertools.pairwise(edges))}
        total = sum(c.total() * (leaves.get(i, 1) - 1) for (i, _), c in classes.items())
        return total / (rows * (domain if self.objective == "iloss" else max(domain - 1, 1)))

    def best(
        self, among: Callable[[tuple[int, ...]], bool] = lambda cuts: True
    ) -> tuple[tuple[int, ...], float] | None:
        """The best partition by brute force, ties by the stated rule; None if none meets everything."""
        sign = 1 if self.objective == "mutual_information" else -1
        found = [
            (sign * self.worth(cuts), cuts)
            for cuts in partitions(len(self.values))
            if (self.most is None or len(cuts) < self.most) and among(cuts) and self.meets(cuts)
        ]
        if not found:
            return None
        most = max(worth for worth, _ in found)
        _, cuts = min((len(cuts), cuts) for worth, cuts in found if worth > most - 1e-9)
        return cuts, self.worth(cuts)


def some_table(rng: random.Random) -> list[Row]:
    """Few values of each column, so that ties and small classes are common."""
    distinct, letters = rng.randint(1, 7), "xyz"[: rng.randint(1, 3)]
    numbers = rng.sample(range(10, 60), distinct)
    rows: list[Row] = []
    for number in numbers:
        common = rng.choice(letters)  # neighbours with equal distributions are common too
        for _ in range(rng.randint(1, 6)):
            rows.append((number, rng.choice("pqr"), common if rng.random() < 0.5 else rng.choice(letters)))
    for _ in range(rng.choice((0, 0, 1, 5))):
        rows.append((None, rng.choice("pqr"), rng.choice(letters)))
    for _ in range(rng.choice((0, 0, 2))):
        rows.append((rng.choice(numbers), None, rng.choice(letters)))
    return rows


BOUNDS: dict[str, tuple[str, tuple[float, ...]]] = {
    "k_anonymity": (">=", (1, 2, 3, 5)),
    "distinct_l_diversity": (">=", (1, 2)),
    "entropy_l_diversity": (">=", (1.2, 1.5, 2)),
    "t_closeness[equal]": ("<=", (0.2, 0.35, 0.5)),
    "one_symbol_i1": ("<=", (0.1, 0.3, 0.7)),
    "one_symbol_i2": ("<=", (0.1, 0.4, 0.8)),
    "alpha_anonymity": ("<=", (0.6, 0.8)),
    "entropy_leakage": ("<=", (0.05, 0.2, 0.5)),
    "one_symbol_i4": ("<=", (0.01, 0.05, 0.2)),
}


def some_question(rng: random.Random) -> Small:
    names = rng.sample(list(MEASURES), rng.choice((0, 1, 1, 2)))
    return Small(
        rows=some_table(rng),
        require=[f"{name} {BOUNDS[name][0]} {rng.choice(BOUNDS[name][1])}" for name in names],
        objective=rng.choice(
            ("mutual_information", "mutual_information", "loss", "granularity", "iloss", "discernibility")
        ),
        most=rng.choice((None, None, 1, 2, 3)),
        held=rng.choice((None, 2, 0, 1)),
    )
