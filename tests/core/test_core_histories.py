"""Histories against plain Python: two people share one if and only if every table says the same of them equally often."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.histories import histories

ROWS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from(["x", "y", None]), st.integers(0, 2)), min_size=1, max_size=40
)


def table(rows: list[tuple[str, str | None, int]]) -> sf.Table:
    who, one, two = zip(*rows, strict=True)
    return sf.read(pa.table({"who": list(who), "one": pa.array(one, pa.string()), "two": list(two)}))


@given(here=ROWS, there=ROWS)
def test_people_share_a_history_only_where_all_tables_say_the_same(
    here: list[tuple[str, str | None, int]], there: list[tuple[str, str | None, int]]
) -> None:
    for others in ([], [there]):
        told: dict[str, Counter[tuple[object, ...]]] = {}
        for at, rows in enumerate([here, *others]):
            for who, one, two in rows:
                told.setdefault(who, Counter())[(at, one, two)] += 1
        found = histories(table(here), "who", ("one", "two"), tuple((table(rows), ("one", "two")) for rows in others))
        number = dict(zip(found.column.texts, found.of_person.tolist(), strict=True))
        assert set(number) == set(told)
        for a in told:
            for b in told:
                assert (number[a] == number[b]) == (told[a] == told[b])
        assert sorted(found.people.tolist()) == sorted(Counter(number.values()).values())


def test_many_rows_of_few_people_end_at_once() -> None:
    """Two people alike in a hundred thousand different rows, and one that differs in the last."""
    rows = np.tile(np.arange(100_000), 3)
    rows[-1] = -1
    found = histories(sf.read(pa.table({"who": np.repeat([1, 2, 3], 100_000), "what": rows})), "who", ("what",))
    assert sorted(found.people.tolist()) == [1, 2]
