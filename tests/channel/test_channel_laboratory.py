"""All mechanisms on the tables of one domain: lifted channels by enumeration, and what the one table must say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest

from sfumato.channel import k_anonymity
from sfumato.channel.adversary import error
from sfumato.channel.channel import Channel, identity
from sfumato.channel.laboratory import laboratory, table_channel
from sfumato.channel.mechanisms import pram
from sfumato.channel.tables import Ranks
from sfumato.core.errors import InputError


def described(rows: int) -> k_anonymity.Description:
    age = {"name": "age", "role": "quasi", "levels": [["a", "b"], ["*", "*"]]}
    return k_anonymity.parse({"rows": rows, "k": 2, "attribute": [age, {"name": "ill", "role": "sensitive", "levels": [["x", "y"]]}]})  # fmt: skip


def test_one_row_is_the_record() -> None:
    record = Channel(matrix=np.random.default_rng(0).dirichlet(np.ones(3), size=4))
    assert table_channel(record, 1).dense() == pytest.approx(record.dense())


def test_tables_by_enumeration() -> None:
    """P(output multiset | input multiset): over all sequences of released rows, by Counter."""
    record = np.random.default_rng(1).dirichlet(np.ones(2), size=3)
    found = table_channel(Channel(matrix=record), 3)
    inputs = Ranks(3, 3).unrank(np.arange(10)).tolist()
    outputs = [tuple(line) for line in Ranks(2, 3).unrank(np.arange(4)).tolist()]
    assert found.shape == (10, 4)
    for x, table in enumerate(inputs):
        for order in list(permutations(table))[:2]:  # whatever the order of the rows
            seen: Counter[tuple[int, ...]] = Counter()
            for said in product(range(2), repeat=3):
                seen[tuple(sorted(said))] += float(np.prod([record[a, b] for a, b in zip(order, said, strict=True)]))  # type: ignore[assignment]
            assert found.dense()[x] == pytest.approx([seen[output] for output in outputs])


def test_extremes_are_lifted() -> None:
    assert error(table_channel(identity(3), 3)) == pytest.approx(0, abs=1e-12)
    assert error(table_channel(pram(3, 1 / 3), 2)) == pytest.approx(1 - 1 / 6)


def test_the_table() -> None:
    lines = {
        (line.mechanism, line.parameter): line for line in laboratory(described(4), keep=(0.9, 0.5), eps=(0.5, 2.0))
    }
    n = 35  # multisets of four rows over four values
    for (mechanism, _), line in lines.items():
        assert line.both <= line.worst_prior + 1e-9
        assert line.exactness == "exact"
        if mechanism != "anatomy":
            assert line.inputs == n
            assert line.neither == pytest.approx(1 - 1 / n)
    assert lines["identity", ""].worst_prior == pytest.approx(0, abs=1e-12)
    assert lines["identity", ""].degradation == pytest.approx(0, abs=1e-12)
    nothing = lines["nothing released", ""]
    assert nothing.both == pytest.approx(nothing.neither)
    costs = [line.degradation for line in lines.values() if line.degradation is not None]
    assert nothing.degradation == pytest.approx(max(costs))
    # the headline of the paper, here too, and what is expected of parameters
    assert lines["k-anonymity, deterministic", "k=2"].both < lines["k-anonymity, uniform", "k=2"].both
    assert lines["PRAM", "keep=0.9"].both < lines["PRAM", "keep=0.5"].both
    assert lines["local noise", "eps=2"].both < lines["local noise", "eps=0.5"].both
    assert lines["count query", "eps=2"].both < lines["count query", "eps=0.5"].both
    assert lines["count query", "eps=2"].degradation is None


def test_refusals(refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: table_channel(identity(3), 0), "row")
    refusal(InputError, lambda: table_channel(identity(10), 8), "too many")
