"""Counts, columns and keys against a Counter: whatever the table, whatever its order."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.column import encode, text_of
from sfumato.core.counts import Counts, pack

texts = st.one_of(st.none(), st.sampled_from(["", "a", "b", "ab", "ä", "A", " ", "10", "9", "\n"]), st.text(max_size=3))
floats = st.one_of(
    st.none(),
    st.just(math.nan),
    st.sampled_from([0.0, -0.0, 1.0, -1.5]),
    st.floats(allow_nan=True).map(lambda x: x + 0.0),
)
ints = st.one_of(st.none(), st.integers(-3, 3))
tables = st.lists(st.tuples(texts, ints, floats, st.integers(1, 5)), min_size=1, max_size=30)


def missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def plain(value: Any) -> Any:
    return None if missing(value) else value


@given(st.lists(texts, max_size=20))
def test_a_column_of_texts(values: list[str | None]) -> None:
    column, codes = encode("c", pa.array(values, pa.string()))
    known = sorted({v for v in values if not missing(v)}, key=lambda v: v.encode())
    assert column.texts == [*known, *([None] if any(map(missing, values)) else [])]
    assert [column.texts[c] for c in codes] == [plain(v) for v in values]
    assert len(column) == len(column.texts)


@given(st.lists(floats, max_size=20))
def test_a_column_of_numbers(values: list[float | None]) -> None:
    column, codes = encode("c", pa.array(values, pa.float64()))
    known = column.values.to_pylist()
    assert known == sorted(known)
    assert not any(map(missing, known))
    assert column.has_missing == any(map(missing, values))
    assert [column.texts[c] for c in codes] == [text_of(v) for v in values]


@given(tables)
def test_counts_are_a_counter(rows: list[tuple[Any, ...]]) -> None:
    t, i, f, n = zip(*rows, strict=True)
    answer = pa.table(
        {
            "k0": pa.array(t, pa.string()),
            "k1": pa.array(i, pa.int64()),
            "k2": pa.array(f, pa.float64()),
            "n": pa.array(n),
        }
    )
    counts = Counts.from_arrow(answer, ("t", "i", "f"), "n")
    expected: Counter[Any] = Counter()
    for *key, times in rows:
        expected[tuple(text_of(value) for value in key)] += times
    found = {
        tuple(column.texts[codes[j]] for column, codes in zip(counts.columns, counts.codes, strict=True)): int(
            counts.n[j]
        )
        for j in range(len(counts))
    }
    assert found == expected
    keys = list(zip(*(c.tolist() for c in counts.codes), strict=True))
    assert keys == sorted(keys)


@given(tables, st.permutations(["t", "i", "f"]), st.integers(0, 3))
def test_rolling_up_is_counting_anew(rows: list[tuple[Any, ...]], order: list[str], width: int) -> None:
    t, i, f, n = zip(*rows, strict=True)
    columns = {"t": pa.array(t, pa.string()), "i": pa.array(i, pa.int64()), "f": pa.array(f, pa.float64())}
    encoded = {name: encode(name, values) for name, values in columns.items()}
    counts = Counts.of([c for c, _ in encoded.values()], [k for _, k in encoded.values()], np.array(n))
    by = tuple(order[:width])
    grouped, member = counts.group(by)
    direct = Counts.of([encoded[name][0] for name in by], [encoded[name][1] for name in by], np.array(n))
    assert grouped.names == by
    assert grouped.n.tolist() == direct.n.tolist()
    assert [c.tolist() for c in grouped.codes] == [c.tolist() for c in direct.codes]
    assert grouped.rows == counts.rows == sum(n)
    assert len(member) == len(counts)
    for place, name in enumerate(by):  # each tuple agrees with its group
        assert (grouped.codes[place][member] == counts.codes[counts.names.index(name)]).all()
    assert np.bincount(member, weights=counts.n).tolist() == grouped.n.tolist()


@given(st.data())
def test_packed_keys_keep_the_lexicographic_order(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 3, 1000, 2**20, 2**31 - 1, 2**40]), min_size=1, max_size=7))
    rows = data.draw(st.lists(st.tuples(*(st.one_of(st.integers(0, s - 1), st.just(s - 1)) for s in sizes)), min_size=1, max_size=20))  # fmt: skip
    key = pack([np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)], sizes, len(rows))
    assert (key >= 0).all()
    for a in range(len(rows)):
        for b in range(len(rows)):
            assert (rows[a] < rows[b]) == (key[a] < key[b])
            assert (rows[a] == rows[b]) == (key[a] == key[b])
