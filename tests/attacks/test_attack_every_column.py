"""An intruder with every column, against one who counts rows by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.attacks.every_column import every_column

ROWS = 600


def people(seed: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    income, tax = rng.integers(15_000, 90_000, ROWS), rng.integers(0, 400, ROWS) * 10
    return {
        "age": rng.integers(18, 90, ROWS),
        "income": income,
        "diagnosis": rng.choice(["flu", "asthma", "none"], ROWS),
        "gross": income + tax,
        "tax": tax,
        "rooms": rng.integers(1, 7, ROWS),
    }


def released(table: dict[str, np.ndarray], free: tuple[str, ...]) -> tuple[sf.Release, sf.Roles]:
    roles = sf.Roles(quasi=("age", "income"), sensitive=("diagnosis",), insensitive=free)
    return sf.Mondrian(k=10)(sf.read(pa.table(table)), roles), roles


def test_a_difference_that_equals_a_quasi_identifier_finds_people() -> None:
    table = people()
    release, roles = released(table, ("gross", "tax"))
    found = every_column(release, roles)
    counts = release.table.count(("age", "income", "gross", "tax"))
    texts = [[column.texts[c] for c in codes] for column, codes in zip(counts.columns, counts.codes, strict=True)]
    told = Counter()
    for age, income, gross, tax, n in zip(*texts, counts.n.tolist(), strict=True):
        told[age, income, int(gross) - int(tax)] += n
    assert found.fell == sum(n == 1 for n in told.values())
    assert found.fell > 0.9 * ROWS
    assert found.baseline is not None
    assert found.baseline.value == 0
    assert found.standing.verdict == "works"
    assert "'gross' - 'tax' equals 'income'" in found.sentence


def test_relations_that_are_broken_in_some_rows_find_so_many_fewer() -> None:
    table = people()
    table["gross"] = np.where(np.arange(ROWS) % 50 == 0, 1, table["gross"])
    release, roles = released(table, ("gross", "tax"))
    found = every_column(release, roles)
    assert 0.9 * ROWS < found.fell <= 0.98 * ROWS


def test_free_columns_that_tell_nothing_add_nothing() -> None:
    release, roles = released(people(), ("rooms",))
    found = every_column(release, roles)
    assert found.fell == 0
    assert found.standing.verdict != "works"
