"""People, releases and plain-Python adversaries, row by row: shared by the tests of the three WP29 attacks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.lookup.space import Space
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.table import Table

Columns = Mapping[str, Sequence[Any]]
PLACES = Hierarchy.of("place", [(f"v{i}", f"region {i // 3}", "*") for i in range(9)])
ROLES = sf.Roles(quasi=("age", "place", "sex"), sensitive=("sick",), hierarchies={"place": PLACES})


def table(columns: Columns) -> Table:
    return sf.read(pa.table({name: list(values) for name, values in columns.items()}))


def made(released: Columns, original: Columns, **more: Any) -> Release:
    return Release(table=table(released), original=table(original), **more)


def check_nearest(space: Space, names: tuple[str, ...], most: int, count: int) -> None:
    """The nearest rows of each target, however they are looked for, are those by the distances to all."""
    targets = space.targets(space.original, names, most, 0)
    rows, tuples = np.arange(len(targets)), space.tuples(names)
    away = targets.distances(rows, names)
    limit = np.sort(away[:, tuples.member], axis=1)[:, count - 1]
    nearest = targets.nearest(rows, names, count)
    assert nearest.limit == pytest.approx(limit, abs=1e-11)
    expected = np.nonzero(away <= limit[:, None] + 1e-11)
    assert np.array_equal(np.stack([nearest.target, nearest.tuple]), np.stack(expected))
    assert np.array_equal(nearest.tied, away[expected] >= limit[expected[0]] - 1e-11)


def people(count: int, seed: int = 1) -> dict[str, list[Any]]:
    """Two columns of numbers and texts each; what somebody has follows from age in part."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, count)
    sick = np.where(rng.random(count) < 0.5, age // 30, rng.integers(0, 4, count))
    return {
        "age": age.tolist(),
        "place": [f"v{i}" for i in rng.integers(0, 9, count)],
        "sex": ["FM"[i] for i in rng.integers(0, 2, count)],
        "sick": [("flu", "cold", "gout", "HIV")[i] for i in sick],
    }


def take(columns: Columns, rows: Sequence[int]) -> dict[str, list[Any]]:
    return {name: [values[i] for i in rows] for name, values in columns.items()}


def covers(label: Any, value: Any) -> bool:
    """Whether a released label may stand for a value: the notations that these tests use."""
    if label == "*":
        return True
    if label is None or value is None:
        return label is None and value is None
    if isinstance(label, str) and label.startswith("["):
        low, high = label[1:-1].split(",")
        return float(low) <= float(value) < float(high) + (label.endswith("]")) * 1e-9
    if isinstance(label, str) and label.startswith("{"):
        return str(value) in label[1:-1].split(", ")
    if isinstance(label, str) and label.startswith("region"):
        return label == f"region {int(str(value)[1:]) // 3}"
    return bool(label == value) if isinstance(label, int | float) else str(label) == str(value)


def distance(label: Any, value: Any, every: Sequence[Any]) -> tuple[float, float]:
    """How far, and how many values of the original the label covers, in bits: straight from the table in `space.py`."""
    domain = set(every)
    inside = [v for v in domain if covers(label, v)]
    bits = math.log2(max(len(inside), 1))
    if not all(isinstance(v, int | float) for v in domain if v is not None):
        return (0.0 if covers(label, value) else 1.0), bits
    numbers = [v for v in domain if v is not None]
    spread = max(numbers) - min(numbers) or 1.0
    if isinstance(label, int | float):
        return (1.0 if value is None else min(abs(label - value) / spread, 1.0)), 0.0
    if covers(label, value):
        return 0.0, bits
    known = [v for v in inside if v is not None]
    if value is None or not known:
        return 1.0, bits
    return min(max(min(known) - value, value - max(known), 1e-3 * spread) / spread, 1.0), bits


def apart(released: Columns, original: Columns, person: Mapping[str, Any], names: Sequence[str]) -> list[float]:
    """The distance of one person from every released row."""
    rows = len(next(iter(released.values())))
    found = []
    for i in range(rows):
        parts = [distance(released[name][i], person[name], original[name]) for name in names]
        found.append(round(sum(far + 1e-6 * bits for far, bits in parts) / len(names), 11))
    return found


def person(columns: Columns, i: int) -> dict[str, Any]:
    return {name: values[i] for name, values in columns.items()}


def mangled(seed: int, count: int = 30) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """A small original with missing values, and a release of it that is noisy here, generalized there, with rows left out."""
    rng = np.random.default_rng(seed)
    original = people(count, seed)
    for name in original:
        for i in rng.integers(0, count, 2):
            original[name][i] = None
    released = take(original, rng.permutation(count)[: count - 4].tolist())
    for i in range(count - 4):
        age, place = released["age"][i], released["place"][i]
        kind = rng.integers(0, 5)
        if kind == 0 and age is not None:
            released["age"][i] = f"[{age // 10 * 10},{age // 10 * 10 + 10})"
        elif kind == 1:
            released["age"][i] = "*"
        if kind in (1, 2) and place is not None:
            released["place"][i] = f"region {int(place[1:]) // 3}"
        elif kind == 3:
            released["sex"][i] = "*"
        elif kind == 4:
            released["sex"][i] = "FM"[rng.integers(0, 2)]
    for name in released:  # one column is of one type
        if any(isinstance(v, str) for v in released[name]):
            released[name] = [None if v is None else str(v) for v in released[name]]
    return original, released


def numbered(columns: Columns) -> dict[str, list[Any]]:
    """As an adversary reads it: texts that spell a number are numbers."""
    return {n: [int(v) if isinstance(v, str) and v.isdigit() else v for v in values] for n, values in columns.items()}


def mechanisms() -> dict[str, Any]:
    """Generalized, perturbed and synthetic releases of `people`."""
    domains = "age=18:89,place=v0|v1|v2|v3|v4|v5|v6|v7|v8,sex=F|M,sick=flu|cold|gout|HIV"
    return {
        "Mondrian": sf.Mondrian(k=5),
        "KMember": sf.KMember(k=5),
        "GeneralizeFullDomain": sf.GeneralizeFullDomain(k=5),
        "LocalNoise": sf.LocalNoise(bounds="age=18:90", epsilon=2.0),
        "Microaggregation": sf.Microaggregation(k=5, columns="age"),
        "Pram": sf.Pram(columns="place,sick", keep=0.7),
        "RankSwapping": sf.RankSwapping(columns="age", p=10.0),
        "DpSynthesis": sf.DpSynthesis(epsilon=2.0, domains=domains),
        "AlphaBeta": sf.AlphaBeta(d=0.1, gamma=0.5, domains=domains),
    }
