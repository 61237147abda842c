"""The channel of sec. 5 in plain Python and fractions: every table, every node, every class, one at a time."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sfumato.channel.k_anonymity import Description
from sfumato.channel.tables import Attribute

Row = tuple[str, ...]
Table = tuple[Row, ...]
NOTHING = ("nothing",)

AGE = Attribute(name="age", role="quasi", levels=(("1", "2", "3", "4"), ("12", "12", "34", "34"), ("*",) * 4))
GENDER = Attribute(name="gender", role="quasi", levels=(("m", "f"), ("*", "*")))
DISEASE = Attribute(name="disease", role="sensitive", levels=(("cold", "heart attack", "diabetes"),))


def paper(**changes: Any) -> Description:
    """The example of sec. 5: 98,280 tables, and 5,481 releases that meet k = 2."""
    return Description(**({"rows": 5, "k": 2, "attributes": (AGE, GENDER, DISEASE)} | changes))


def tables(d: Description) -> list[Table]:
    rows = itertools.product(*(a.levels[0] for a in d.attributes))
    return list(itertools.combinations_with_replacement(sorted(rows), d.rows))


def nodes(d: Description) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(len(a.levels)) for a in d.attributes if a.role == "quasi")))


def release(d: Description, table: Table, node: Sequence[int]) -> Table:
    maps, level = [], iter(node)
    for a in d.attributes:
        at = next(level) if a.role == "quasi" else 0
        maps.append(dict(zip(a.levels[0], a.levels[at], strict=True)))
    return tuple(sorted(tuple(m[v] for m, v in zip(maps, row, strict=True)) for row in table))


def meets(d: Description, released: Table) -> bool:
    classes: dict[Row, list[Row]] = defaultdict(list)
    for row in released:
        classes[tuple(v for v, a in zip(row, d.attributes, strict=True) if a.role == "quasi")].append(row)
    if min(len(rows) for rows in classes.values()) < d.k:
        return False
    for i, a in enumerate(d.attributes):
        if a.role == "quasi":
            continue
        overall = Counter(row[i] for row in released)
        for rows in classes.values():
            own = Counter(row[i] for row in rows)
            if len(own) < d.l:
                return False
            far = sum(abs(Fraction(own[v], len(rows)) - Fraction(overall[v], len(released))) for v in overall) / 2
            if d.t is not None and far > Fraction(str(d.t)):
                return False
    return True


def shares(d: Description, allowed: list[tuple[int, ...]]) -> dict[tuple[int, ...], Fraction]:
    def below(a: Sequence[int], b: Sequence[int]) -> bool:
        return a != b and all(x <= y for x, y in zip(a, b, strict=True))

    top = nodes(d)[-1]
    if d.publish == "uniform":
        weights = {node: Fraction(1) for node in allowed}
    elif d.publish == "minimal":
        weights = {node: Fraction(1) for node in allowed if not any(below(other, node) for other in allowed)}
    elif d.publish == "deterministic":
        weights = {min(allowed, key=lambda node: (sum(node), node)): Fraction(1)} if allowed else {}
    elif d.publish == "most general":
        weights = {top: Fraction(1)} if top in allowed else {}
    elif callable(d.publish):
        weights = {d.publish(allowed): Fraction(1)} if allowed else {}
    else:
        weights = {node: Fraction(str(w)) for node, w in zip(nodes(d), d.publish, strict=True) if node in allowed}
    total = sum(weights.values())
    return {node: w / total for node, w in weights.items() if w} if total else {}


def matrix(d: Description) -> tuple[dict[tuple[Table, Any], Fraction], set[Any], int]:
    """P(y|x) of all pairs, the releases that meet the demand, and the tables that may be released nowhere."""
    found, outputs, refused = {}, set(), 0
    for table in tables(d):
        released = {node: release(d, table, node) for node in nodes(d)}
        allowed = [node for node in nodes(d) if meets(d, released[node])]
        outputs |= {(node, released[node]) for node in allowed}
        refused += not allowed
        said = shares(d, allowed)
        for node, p in said.items():
            found[table, (node, released[node])] = p
        if not said:
            found[table, NOTHING] = Fraction(1)
    return found, outputs, refused


def error(d: Description, prior: dict[Table, Fraction] | None = None) -> Fraction:
    """Eq. 5, by definition."""
    every = tables(d)
    prior = {table: Fraction(1, len(every)) for table in every} if prior is None else prior
    best: dict[Any, Fraction] = defaultdict(Fraction)
    for (table, output), p in matrix(d)[0].items():
        best[output] = max(best[output], prior.get(table, Fraction(0)) * p)
    return 1 - sum(best.values())


def rows_prior(d: Description, given: dict[str, list[Fraction]]) -> dict[Table, Fraction]:
    """Independent rows: every order of every table, added up by its probability."""
    chance = [
        dict(zip(a.levels[0], given.get(a.name, [Fraction(1, len(a.levels[0]))] * len(a.levels[0])), strict=True))
        for a in d.attributes
    ]
    found = {}
    for table in tables(d):
        orders = math.factorial(len(table))
        for n in Counter(table).values():
            orders //= math.factorial(n)
        found[table] = orders * math.prod(
            (c[v] for row in table for c, v in zip(chance, row, strict=True)), start=Fraction(1)
        )
    return found


def some_attribute(rng: random.Random, name: str, role: str, most: int) -> Attribute:
    size = rng.randint(1, most)
    level = [f"{name}{i}" for i in range(size)]
    levels = [tuple(level)]
    for depth in range(rng.randint(0, 2) if role == "quasi" else 0):
        names = sorted(set(level))
        group = {v: f"{name}{depth}.{rng.randrange(max(1, len(names) - 1))}" for v in names}
        level = [group[v] for v in level]
        levels.append(tuple(level))
    if role == "quasi" and rng.random() < 0.7:
        levels.append(("*",) * size)
    return Attribute(name=name, role=role, levels=tuple(levels))  # type: ignore[arg-type]


def some_description(seed: int, *, most: int = 700, **changes: Any) -> Description:
    """A small one: irregular hierarchies, some that do not end in one value, at most so many tables."""
    rng = random.Random(seed)
    while True:
        quasi = [some_attribute(rng, "abc"[i], "quasi", 4) for i in range(rng.randint(1, 2))]
        secret = [some_attribute(rng, "xyz"[i], "sensitive", 3) for i in range(rng.choice([0, 1, 1, 1, 2]))]
        rows = rng.randint(1, 5)
        size = math.prod(len(a.levels[0]) for a in (*quasi, *secret))
        if math.comb(size + rows - 1, rows) > most:
            continue
        attributes = [*quasi, *secret]
        rng.shuffle(attributes)
        chosen = {"rows": rows, "attributes": tuple(attributes), "k": rng.randint(1, 3)}
        if secret:
            chosen["l"] = rng.choice([1, 1, 2, 3])
            chosen["t"] = rng.choice([None, None, 0.25, 0.3, 0.5])
        chosen["publish"] = rng.choice(["uniform", "minimal", "deterministic", "most general"])
        return Description(**(chosen | changes))
