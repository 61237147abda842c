"""Counting, recoding, keeping and pairing, against plain Python over the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.table import Recoding, Table
from sfumato.engines import duckdb as engine

VALUES = {
    "text": ["b", "a", "", None, "ä", "A", "b ", "10", "9"],
    "number": [3, 1, None, 2, 10, -5, 0],
    "part": [0.5, float("nan"), None, -0.0, 0.0, 1e300, 39.0],
    "yes": [True, False, None],
}


def spelled(value: Any) -> str | None:
    """The missing-value rule and one spelling, said again in other words."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value == int(value) and abs(value) < 1e15 else str(value)


@pytest.fixture(scope="module")
def data() -> dict[str, list[Any]]:
    rng = np.random.default_rng(11)
    return {name: [values[i] for i in rng.integers(0, len(values), 5000)] for name, values in VALUES.items()}


@pytest.fixture(scope="module")
def many(data: dict[str, list[Any]], table: Callable[..., Table]) -> Table:
    return table(data)


def brute(data: dict[str, list[Any]], by: tuple[str, ...]) -> Counter[tuple[str | None, ...]]:
    rows = len(next(iter(data.values())))
    return Counter(tuple(spelled(data[name][i]) for name in by) for i in range(rows))


BYS = [("text",), ("number",), ("part",), ("yes",), ("text", "number"), ("number", "text"), ("part", "yes", "text", "number"), ("text", "text")]  # fmt: skip


@pytest.mark.parametrize("by", BYS, ids="-".join)
def test_counts_are_those_of_plain_python(many: Table, data: Any, rows_of: Any, by: tuple[str, ...]) -> None:
    found = rows_of(many, by)
    assert dict(found) == brute(data, by)
    assert len(dict(found)) == len(found), "each tuple stands once"


def test_tuples_stand_in_lexicographic_order(many: Table) -> None:
    counts = many.scan(("text", "number", "yes"))
    codes = list(zip(*(c.tolist() for c in counts.codes), strict=True))
    assert codes == sorted(set(codes))
    for column in counts.columns:
        values = column.values.to_pylist()
        assert values == sorted(values)
        assert column.texts[-1] is None


def test_counting_nothing_counts_rows(many: Table) -> None:
    assert many.scan(()).n.tolist() == [5000]
    assert many.rows == 5000


def test_row_order_does_not_matter(many: Table, data: Any, table: Callable[..., Table]) -> None:
    turn = np.random.default_rng(1).permutation(5000)
    other = table({name: [values[i] for i in turn] for name, values in data.items()})
    for by in BYS:
        one, two = many.scan(by), other.scan(by)
        assert one.n.tolist() == two.n.tolist()
        assert [c.tolist() for c in one.codes] == [c.tolist() for c in two.codes]


@pytest.mark.parametrize("by", [*BYS, ()], ids=lambda by: "-".join(by) or "nothing")
def test_unique_rows(data: Any, table: Callable[..., Table], by: tuple[str, ...]) -> None:
    counted, fresh = brute(data, by), table(data)
    assert fresh.unique_rows(by) == (sum(n == 1 for n in counted.values()), len(counted))
    assert fresh.count(by) is not None
    assert fresh.unique_rows(by) == (sum(n == 1 for n in counted.values()), len(counted))


def test_value_counts(many: Table, data: Any) -> None:
    for counted in (many.scan_each(("yes", "text", "part")), many.value_counts(("yes", "text", "part"))):
        for name, counts in counted.items():
            assert dict(zip(counts.columns[0].texts, counts.n.tolist(), strict=True)) == {k[0]: n for k, n in brute(data, (name,)).items()}  # fmt: skip
    assert many.value_counts(()) == {}


@pytest.mark.parametrize("most", [5, 20, 63, 64, 1000])
def test_a_sample_does_not_hang_on_what_is_remembered(data: Any, table: Callable[..., Table], most: int) -> None:
    fresh, warm = table(data), table(data)
    every = warm.count(("text", "number"))
    samples = [one.sampled(("text", "number"), most) for one in (fresh, warm)]
    assert len({(counts.names, counts.rows, len(counts)) for counts in samples}) == 1
    assert (len(samples[0]) == len(every)) == (len(every) <= most)


def test_distinct_values_and_missing_ones(many: Table, data: Any) -> None:
    found = many.distinct()
    for name in VALUES:
        counted = brute(data, (name,))
        assert found[name] == (len(counted), counted[None,])


def test_head(many: Table, data: Any, engine_name: str) -> None:
    head = many.head(20)
    for name in VALUES:
        if engine_name != "spark":  # which hands over the part that is read first
            assert head[name] == [text for text in map(spelled, data[name][:20]) if text is not None]
        assert set(head[name]) <= set(map(spelled, data[name])) - {None}


def test_unknown_columns(many: Table, refusal: Any) -> None:
    for call in (
        lambda: many.count(("text", "nope")),
        lambda: many.keep(("nope",)),
        lambda: many.unique_rows(("nope",)),
        lambda: many.value_counts(("nope",)),
    ):
        refusal(InputError, call, "'nope'")


# --- keep ------------------------------------------------------------------------------------------------------------


def test_keep(many: Table, data: Any, rows_of: Any) -> None:
    kept = many.keep(("yes", "text"))
    assert kept.columns == ("yes", "text")
    assert dict(rows_of(kept)) == brute(data, ("yes", "text"))
    assert many.columns == tuple(VALUES), "the table itself stays"


# --- recode ----------------------------------------------------------------------------------------------------------


def recoding(by: tuple[str, ...], to: tuple[str, ...], rows: list[tuple[Any, ...]], divides: bool = False) -> Recoding:
    columns = list(zip(*rows, strict=True))
    arrays = [pa.array(column, pa.string()) for column in columns[:-1]] + [pa.array(columns[-1], pa.int64())]
    return Recoding(by, to, pa.table(arrays, names=[f"c{i}" for i in range(len(arrays))]), divides)


SMALL = {"a": ["1", "1", "2", None, ""], "b": ["x", "y", "z", "x", "y"], "n": [1, 2, 3, 4, 5]}


def test_recode_replaces_and_keeps_the_rest(table: Callable[..., Table], rows_of: Any) -> None:
    small = table(SMALL)
    done = small.recode(recoding(("a",), ("a",), [("1", "one", 2), ("2", "*", 1), (None, None, 2)]))
    assert done.columns == ("a", "b", "n")
    assert rows_of(done) == [
        (("*", "z", "3"), 1),
        (("one", "x", "1"), 1),
        (("one", "y", "2"), 1),
        ((None, "x", "4"), 1),
        ((None, "y", "5"), 1),
    ]
    assert rows_of(small, ("a",)) == [(("1",), 2), (("2",), 1), ((None,), 2)], "the input is untouched"


def test_recode_by_several_columns_to_one(table: Callable[..., Table], rows_of: Any) -> None:
    rows = [("1", "x", "p", 1), ("1", "y", "q", 1), ("2", "z", "r", 1), (None, "x", "s", 1), (None, "y", None, 1)]
    done = table(SMALL).recode(recoding(("a", "b"), ("b",), rows))
    assert rows_of(done, ("a", "b")) == [(("1", "p"), 1), (("1", "q"), 1), (("2", "r"), 1), ((None, "s"), 1), ((None, None), 1)]  # fmt: skip


def test_recode_a_column_of_numbers(table: Callable[..., Table], rows_of: Any) -> None:
    for values in (pa.array([1, 2, None]), pa.array([1.0, 2.0, float("nan")]), pa.array([1, 2, None], pa.int8())):
        small = table({"c": values, "d": ["p", "q", "r"]})
        counts = small.count(("c",))
        by = pa.concat_arrays([counts.columns[0].values, pa.nulls(1, counts.columns[0].values.type)])
        done = small.recode(Recoding(("c",), ("c",), pa.table([by, ["[1,2]", "[1,2]", "*"], [1, 1, 1]], names=["b", "t", "n"])))  # fmt: skip
        assert rows_of(done) == [(("*", "r"), 1), (("[1,2]", "p"), 1), (("[1,2]", "q"), 1)]


def test_recode_every_row_of_a_large_table(many: Table, data: Any, rows_of: Any) -> None:
    counted = brute(data, ("text", "number"))
    new = {
        key: (None if key[0] is None else key[0][0], "odd" if key[1] and int(key[1]) % 2 else "even") for key in counted
    }
    done = many.recode(recoding(("text", "number"), ("text", "number"), [(*key, *new[key], n) for key, n in counted.items()]))  # fmt: skip
    expected: Counter[Any] = Counter()
    for key, n in brute(data, ("text", "number", "yes")).items():
        expected[*new[key[:2]], key[2]] += n
    assert dict(rows_of(done, ("text", "number", "yes"))) == expected


def test_dividing_sends_that_many_rows_each_way(table: Callable[..., Table], rows_of: Any) -> None:
    rows = {"a": ["1"] * 7 + ["2"] * 3 + [None] * 4, "b": [f"b{i}" for i in range(14)]}
    plan = [("1", "low", 3), ("1", "high", 4), ("2", "two", 3), (None, "*", 1), (None, None, 3)]
    done = table(rows).recode(recoding(("a",), ("a",), plan, divides=True))
    assert dict(rows_of(done, ("a",))) == {("low",): 3, ("high",): 4, ("two",): 3, ("*",): 1, (None,): 3}
    assert {row[1] for row, _ in rows_of(done)} == set(rows["b"]), "every row is still there, once"
    assert done.rows == 14


def test_dividing_does_not_hang_on_row_order(table: Callable[..., Table], rows_of: Any) -> None:
    rng = np.random.default_rng(3)
    rows = {"a": [str(x) for x in rng.integers(0, 3, 300)], "b": [str(x) for x in rng.integers(0, 40, 300)]}
    plan = [(v, side, n) for v in "012" for side, n in (("left", 20), ("right", rows["a"].count(v) - 20))]
    done = rows_of(table(rows).recode(recoding(("a",), ("a",), plan, divides=True)))
    for seed in range(3):
        turn = np.random.default_rng(seed).permutation(300)
        turned = {name: [values[i] for i in turn] for name, values in rows.items()}
        assert rows_of(table(turned).recode(recoding(("a",), ("a",), plan, divides=True))) == done


@pytest.mark.parametrize("name", ["__row", "__to", "m0", "m1", "t", "m", "n", "k0", "select", 'qu"ote', "semi;colon"])
@pytest.mark.parametrize("divides", [False, True], ids=["strict", "dividing"])
def test_recode_columns_with_odd_names(table: Callable[..., Table], rows_of: Any, name: str, divides: bool) -> None:
    small = table({name: ["1", "1", "2"], "other": ["x", "y", "z"]})
    done = small.recode(recoding((name,), (name,), [("1", "one", 2), ("2", "two", 1)], divides))
    assert rows_of(done) == [(("one", "x"), 1), (("one", "y"), 1), (("two", "z"), 1)]
    done = small.recode(recoding(("other",), ("other",), [("x", "p", 1), ("y", "p", 1), ("z", "q", 1)], divides))
    assert rows_of(done) == [(("1", "p"), 2), (("2", "q"), 1)]


# --- beside ----------------------------------------------------------------------------------------------------------

LEFT = {"k": ["1", "2", "3"], "v": ["*", "b", "*"]}
RIGHT = {"k": ["1", "2", "3"], "v": ["a", "b", None]}
PAIRS = [(("*", "a"), 1), (("*", None), 1), (("b", "b"), 1)]


def test_beside_by_position(table: Callable[..., Table], rows_of: Any, engine: str, refusal: Any) -> None:
    if engine != "duckdb":  # its rows stand in no order
        refusal(Unavailable, lambda: table(LEFT).beside(table(RIGHT), None), "key:COLUMN")
        refusal(Unavailable, lambda: sf.read(pa.table(LEFT)).beside(table(RIGHT), None), "key:COLUMN")
        return
    joined = table(LEFT).beside(table(RIGHT), None)
    assert joined.columns == ("released.k", "released.v", "original.k", "original.v")
    assert rows_of(joined, ("released.v", "original.v")) == PAIRS


def test_beside_by_position_keeps_the_order_of_large_files(tmp_path: Path, table: Callable[..., Table]) -> None:
    rows = 300_000
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("id,v\n" + "".join(f"{i},{i % 7}\n" for i in range(rows)), encoding="utf-8")
    joined = sf.read(tmp_path / "one.csv").beside(sf.read(tmp_path / "two.csv"), None)
    counts = joined.count(("released.v", "original.v"))
    assert len(counts) == 7
    assert joined.unique_rows(("released.id", "original.id")) == (rows, rows)


def test_beside_by_key(table: Callable[..., Table], rows_of: Any) -> None:
    turned = {name: values[::-1] for name, values in LEFT.items()}
    assert rows_of(table(turned).beside(table(RIGHT), "k"), ("released.v", "original.v")) == PAIRS
    more = {"k": [*RIGHT["k"], "4"], "v": [*RIGHT["v"], "z"]}
    assert rows_of(table(turned).beside(table(more), "k"), ("released.v", "original.v")) == PAIRS


def test_beside_a_key_that_has_a_missing_value(table: Callable[..., Table], rows_of: Any) -> None:
    """Missing is a value: where it is unique in both tables, it pairs like any other."""
    left, right = {"k": ["1", None], "v": ["p", "q"]}, {"k": ["", "1"], "v": ["s", "r"]}
    joined = table(left).beside(table(right), "k")
    assert rows_of(joined, ("released.v", "original.v")) == [(("p", "r"), 1), (("q", "s"), 1)]


def test_beside_keys_of_different_types(table: Callable[..., Table], rows_of: Any, refusal: Any, canary: str) -> None:
    """A CSV release beside a Parquet original: 1 and "1" are one spelling."""
    left = table(LEFT)
    assert rows_of(left.beside(table({**RIGHT, "k": [1, 2, 3]}), "k"), ("released.v", "original.v")) == PAIRS
    odd = table({"k": ["1", "2", canary], "v": LEFT["v"]})
    joined = rows_of(odd.beside(table({**RIGHT, "k": [1, 2, 3]}), "k"), ("released.v", "original.v"))
    assert joined == [(("*", "a"), 1), (("b", "b"), 1)]


def test_beside_keys_that_are_floats(table: Callable[..., Table], rows_of: Any) -> None:
    """An integer column with a hole comes as floats from pandas; its release is written and read back as 1, 2, ..."""
    right = table({"k": [1.0, 2.0, 3.0, float("nan")], "v": [*RIGHT["v"], "z"]})
    assert rows_of(table(LEFT).beside(right, "k"), ("released.v", "original.v")) == PAIRS


def test_beside_that_cannot_be(table: Callable[..., Table], refusal: Any, canary: str, engine: str) -> None:
    left = table(LEFT)
    if engine == "duckdb":
        refusal(InputError, lambda: left.beside(table({"k": ["1"], "v": [canary]}), None), "3 rows", "1", "position")
    twice = table({"k": [canary, canary, "1"], "v": ["a", "b", "c"]})
    refusal(InputError, lambda: left.beside(twice, "k"), "'k'", "not unique")
    refusal(InputError, lambda: twice.beside(left, "k"), "'k'", "not unique")
    refusal(InputError, lambda: left.beside(table({"v": ["a"] * 3}), "k"), "'k'")


# --- settings --------------------------------------------------------------------------------------------------------


def test_limits_that_cannot_be(refusal: Any) -> None:
    refusal(InputError, lambda: engine.configure(memory="lots"), "'lots'", "4GB")
    text = refusal(InputError, lambda: engine.configure(threads=0))
    assert "memory" not in text, "threads were wrong"


def test_limits_are_taken() -> None:
    ask = "SELECT current_setting('memory_limit'), current_setting('threads')"
    memory, threads = engine.run(ask, "x")[0]
    try:
        engine.configure(memory="1GiB", threads=1)
        assert engine.run(ask, "x")[0] == ("1.0 GiB", 1)
    finally:
        engine.configure(memory=str(memory).replace(" ", ""), threads=threads)


def test_threads_take_turns(table: Callable[..., Table], rows_of: Any, engine_name: str) -> None:
    """A page serves several people from one process: opening, recoding and counting must not meet in the middle."""

    def work(i: int) -> Any:
        small = table({"a": [str(x % 50) for x in range(3000)], "b": [i] * 3000})
        plan = recoding(("a",), ("a",), [(str(x), str(x % 5), 60) for x in range(50)])
        return rows_of(small.recode(plan).keep(("b", "a")))

    with ThreadPoolExecutor(8) as pool:
        times = 8 if engine_name == "spark" else 64
        found = list(pool.map(work, range(times)))
    assert found == [[((str(i), str(x)), 600) for x in range(5)] for i in range(times)]


def test_nothing_is_downloaded() -> None:
    assert engine.run("SELECT current_setting('autoinstall_known_extensions')", "x") == [(False,)]
