"""People with several rows, households and populations: how they are drawn, and the plain counts that the checker holds a release to.

Nothing of the package is used. Whose each released row is, a file does not say: it is known where every original row lies in one class only.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .tables import Field, marker

UNLINKED = frozenset(
    {"generalize_full_domain", "generalize_to_levels", "k_member", "local_suppression", "mondrian", "top_down_specialization"}
)  # fmt: skip
LINKED = frozenset({"generalize_full_domain", "generalize_to_levels", "mondrian"})
STEERED = UNLINKED
"""Mechanisms that a population steers, or of which one can be asked."""
_OF_POPULATIONS = (
    ("k_map >= {}", (2, 3, 5, 10)), ("journalist_risk <= {}", (0.5, 0.34, 0.1)), ("delta_presence <= {}", (0.9, 0.6, 0.4)),
)  # fmt: skip
Covers = Callable[[str, Any, tuple[Any, str]], bool]


@dataclass(frozen=True, kw_only=True)
class People:
    """What `[people]` says: how the rows of a person are used, and what is counted."""

    rows: str
    """unlinked, linked or one."""
    whose: str
    """The column that says whose a row is: the person's, or the household's where households are counted."""
    toml: tuple[str, ...] = ()
    household: str | None = None


def draw(rng: random.Random, mechanism: str, person: Field | None, rows: int) -> tuple[list[Field], People | None]:
    """Perhaps several rows a person and what is to happen to them, with the columns that it needs."""
    ways = ["one"] + ["unlinked"] * 2 * (mechanism in UNLINKED) + ["linked"] * 2 * (mechanism in LINKED)
    if rows < 2 or rng.random() >= (0.15 if len(ways) > 1 else 0.05):
        return [], None
    how = rng.choice(ways)
    fields: list[Field] = []
    if person is None:
        ids = [marker(rng) for _ in range(max(1, math.ceil(rows * rng.choice([0.2, 0.4, 0.7, 1]))))]
        values = [*ids, *rng.choices(ids, k=rows - len(ids))][:rows]
        rng.shuffle(values)
        if rng.random() < 0.08:
            values[rng.randrange(rows)] = ""
        person = Field(name="person", kind="person", meant=tuple(v or None for v in values), spelled=tuple(values))
        fields.append(person)
    toml = ["[people]", f'rows = "{how}"']
    whose, household = person.name, None
    if how == "one":
        turns = tuple(rng.sample(range(rows), rows))  # no two alike, so that nobody has to say which row comes first
        fields.append(Field(name="turn", kind="integer", meant=turns, spelled=tuple(map(str, turns))))
        toml += [f'keep = "{rng.choice(["latest", "first"])}"', 'by = "turn"']
    if how != "linked" and rng.random() < 0.25:
        homes = {text: marker(rng) for text in sorted(set(person.spelled))}
        some = list(homes.values())[: max(1, len(homes) // 2)]
        lived = tuple(homes[text] if rng.random() < 0.5 else rng.choice(some) for text in sorted(homes))
        at = dict(zip(sorted(homes), lived, strict=True))
        cells = tuple(at[text] for text in person.spelled)
        fields.append(Field(name="dwelling", kind="person", meant=cells, spelled=cells))
        household = whose = "dwelling"
        toml.append('count = "households"')
    return fields, People(rows=how, whose=whose, toml=tuple(toml), household=household)


def one_row(fields: Sequence[Field], people: People) -> list[Field]:
    """The table of people: of each the row with the largest or the smallest turn."""
    by_name = {f.name: f for f in fields}
    person, turns = by_name["person"].spelled, by_name["turn"].meant
    latest = 'keep = "latest"' in people.toml
    best: dict[str, int] = {}
    for i, text in enumerate(person):
        if text not in best or (turns[i] > turns[best[text]]) == latest:
            best[text] = i
    at = sorted(best.values())
    return [replace(f, meant=tuple(f.meant[i] for i in at), spelled=tuple(f.spelled[i] for i in at)) for f in fields]


def population(rng: random.Random, quasi: Sequence[Field], rows: int) -> tuple[tuple[Field, ...], str] | None:
    """Perhaps everybody in the table and others who have the same values differently combined, and what is asked of them."""
    plain = all(f.kind in ("integer", "category", "code") for f in quasi)
    if rng.random() >= 0.15 or not quasi or not rows or not plain:
        return None
    more = rows * rng.choice([0, 1, 3])
    drawn = [[rng.randrange(rows) for _ in range(more)] for _ in quasi]
    fields = tuple(
        replace(
            f,
            meant=(*f.meant, *(f.meant[i] for i in at)),
            spelled=(*f.spelled, *(f.spelled[i] for i in at)),
        )
        for f, at in zip(quasi, drawn, strict=True)
    )
    form, bounds = rng.choice(_OF_POPULATIONS)
    return fields, form.format(rng.choice(bounds))


# --- what the checker counts


def covered_rows(
    labels: Mapping[str, Any], fields: Sequence[Field], covers: Covers, cache: dict[Any, bool]
) -> list[int]:
    """The rows of these columns that the labels of a class cover."""
    found = []
    for i in range(len(fields[0].meant)):
        for f in fields:
            key = (f.name, labels[f.name], f.meant[i], f.spelled[i])
            if key not in cache:
                cache[key] = covers(f.name, labels[f.name], (f.meant[i], f.spelled[i]))
            if not cache[key]:
                break
        else:
            found.append(i)
    return found


def attributed(
    classes: Sequence[Mapping[str, Any]], sizes: Sequence[int], fields: Sequence[Field], covers: Covers
) -> list[list[int]] | None:
    """The original rows of each class, where every row lies in one class only and none is missing; else None."""
    cache: dict[Any, bool] = {}
    rows = [covered_rows(labels, fields, covers, cache) for labels in classes]
    once = Counter(i for members in rows for i in members)
    if any(n > 1 for n in once.values()) or [len(members) for members in rows] != list(sizes):
        return None
    return rows


def of_people(rows: Sequence[Sequence[int]], whose: Sequence[str], secret: Sequence[Any]) -> dict[str, float]:
    """Measures of classes of these rows in which people count, everybody the same."""
    often = Counter(whose)
    k = min(len({whose[i] for i in members}) for members in rows)
    found = {"k_anonymity": float(k), "prosecutor_risk": 1 / k}
    if not secret:
        return found
    weighed = [_shares(members, whose, often, secret) for members in rows]
    overall = _shares([i for members in rows for i in members], whose, often, secret)
    found["alpha_anonymity"] = max(max(shares.values()) for shares in weighed)
    found["entropy_l_diversity"] = min(2 ** -sum(p * math.log2(p) for p in shares.values()) for shares in weighed)
    found["t_closeness[equal]"] = max(
        sum(abs(shares.get(v, 0.0) - p) for v, p in overall.items()) / 2 for shares in weighed
    )
    return found


def _shares(
    members: Sequence[int], whose: Sequence[str], often: Counter[str], secret: Sequence[Any]
) -> dict[Any, float]:
    weights: dict[Any, float] = defaultdict(float)
    for i in members:
        weights[secret[i]] += 1 / often[whose[i]]
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()}


def smallest_history(people: Sequence[Any], rows: Sequence[Any]) -> int:
    """The people who share the rarest history: what is released of one over all rows, each as often."""
    of_each: dict[Any, list[Any]] = defaultdict(list)
    for who, row in zip(people, rows, strict=True):
        of_each[who].append(row)
    return min(Counter(frozenset(Counter(history).items()) for history in of_each.values()).values())


def alone_by_history(people: Sequence[Any], values: Sequence[Any]) -> tuple[int, int]:
    """The people whom all their values of a column set apart from everybody, and all people."""
    of_each: dict[Any, list[Any]] = defaultdict(list)
    for who, value in zip(people, values, strict=True):
        of_each[who].append(value)
    histories = Counter(frozenset(Counter(history).items()) for history in of_each.values())
    return sum(n for n in histories.values() if n == 1), len(of_each)


def match(candidates: Sequence[set[Any]]) -> int:
    """How many find a candidate of their own (augmenting paths)."""
    holds: dict[Any, int] = {}

    def place(i: int, tried: set[Any]) -> bool:
        for each in candidates[i]:
            if each in tried:
                continue
            tried.add(each)
            if each not in holds or place(holds[each], tried):
                holds[each] = i
                return True
        return False

    return sum(place(i, set()) for i in range(len(candidates)))
