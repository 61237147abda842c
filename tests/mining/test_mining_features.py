"""Each row of the encoding table of features.py, and that both sides stand in one space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from mining_house import Columns, paired

import sfumato as sf
from sfumato.core.column import encode
from sfumato.core.cover import Domain
from sfumato.core.hierarchy import Hierarchy
from sfumato.mining.features import MOST, Features, features, number_of, shares, spans
from sfumato.mining.rows import align

TOWNS = Hierarchy.of("town", [("Arles", "south", "*"), ("Cadiz", "south", "*"), ("Delft", "north", "*")])


def column(values: Sequence[Any], kind: Any = None) -> Any:
    return encode("x", pa.array(values, kind))[0]


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_numbers_are_a_middle_and_a_width() -> None:
    domain = Domain(column([20, 22, 28, 35, 40]))
    released = column(
        ["22", "22.7", "[20,30)", "{22, 40}", "*", "2*", ">=35", "nonsense", "[50,60)", None], pa.string()
    )
    middle, width = spans(released, domain)
    found = {text: (m, w) for text, m, w in zip(released.texts, middle, width, strict=True)}
    assert found["22"] == (22, 0)  # as it was
    assert found["22.7"] == (22.7, 0)  # noisy
    assert found["[20,30)"] == (24, 8)  # it covers 20, 22 and 28
    assert found["{22, 40}"] == (31, 18)
    assert found["*"] == (30, 20)
    assert found["2*"] == (24, 8)
    assert found[">=35"] == (37.5, 5)
    for unknown in ("nonsense", "[50,60)", None):
        assert np.isnan(found[unknown][0])


def test_a_missing_number_is_a_flag() -> None:
    original = {"x": [20, 22, 28, None], "y": ["a", "b", "a", "b"]}
    release = paired({"x": ["[20,30)", "22", "nonsense", None], "y": ["a", "b", "a", "b"]}, original)
    aligned = align(release, sf.Roles(quasi=("x", "y")))
    before, after = features(aligned, sf.Roles(quasi=("x", "y")), ["x"])
    by_code = [aligned.original.texts("x")[c] for c in aligned.original.codes["x"]]
    kept = {text: row.tolist() for text, row in zip(by_code, before.dense, strict=True)}
    assert kept["22"] == [22, 0, 0]
    assert np.isnan(kept[None][:2]).all()
    assert kept[None][2] == 1
    told = [aligned.released.texts("x")[c] for c in aligned.released.codes["x"]]
    given = {text: row.tolist() for text, row in zip(told, after.dense, strict=True)}
    assert given["[20,30)"] == [24, 8, 0]
    assert given["nonsense"][2] == given[None][2] == 1
    assert before.numeric == after.numeric == (True,)


@pytest.mark.parametrize(("text", "number"), [("5", 5), ("-1.5", -1.5), ("1e+05", 1e5), ("nan", None), ("inf", None), ("[1,2)", None), ("", None)])  # fmt: skip
def test_a_text_is_a_number_or_none(text: str, number: float | None) -> None:
    assert number_of(text) == number


# --- other columns ---------------------------------------------------------------------------------------------------


def test_shares_of_what_is_covered() -> None:
    domain = Domain(column(["Arles", "Cadiz", "Delft", None]), TOWNS)
    released = column(["Arles", "south", "north", "*", "{Cadiz, Delft}", "C*", "elsewhere", None], pa.string())
    found = dict(zip(released.texts, shares(released, domain, np.array([1, 1, 1, 1])).tolist(), strict=True))
    third = pytest.approx
    assert found["Arles"] == [1, 0, 0, 0, 0]
    assert found["south"] == [0.5, 0.5, 0, 0, 0]
    assert found["north"] == [0, 0, 1, 0, 0]
    assert found["*"] == third([0.25, 0.25, 0.25, 0.25, 0])  # missing may be meant, too
    assert found["{Cadiz, Delft}"] == [0, 0.5, 0.5, 0, 0]
    assert found["elsewhere"] == [0, 0, 0, 0, 1]  # a place of its own
    assert found[None] == [0, 0, 0, 1, 0]


def test_shares_sum_to_one() -> None:
    rng = np.random.default_rng(0)
    values = [f"v{i:04d}" for i in range(700)]
    labels = ["*", "nonsense", *values[::50]]
    labels += ["{" + ", ".join(rng.choice(values, size, replace=False)) + "}" for size in (2, 17, 300, 699)]
    found = shares(column(labels), Domain(column(values)), rng.integers(1, 9, 700))
    assert found.sum(axis=1) == pytest.approx(np.ones(len(found)), abs=1e-4)
    assert (found >= 0).all()
    assert found.shape[1] == MOST + 1


def test_of_many_values_the_frequent_have_a_place_each() -> None:
    values = [f"v{i:03d}" for i in range(300)]
    frequent = np.ones(300, dtype=np.int64)
    frequent[[7, 290]] = [50, 40]
    found = shares(column(values), Domain(column(values)), frequent)
    places = found.argmax(axis=1)
    counts = np.bincount(places, minlength=MOST + 1)
    assert counts[places[7]] == counts[places[290]] == 1
    assert counts[MOST - 1] == 300 - (MOST - 1)  # the rest share the last
    assert counts[MOST] == 0  # and none is unreadable
    exactly = [f"v{i:03d}" for i in range(MOST)]
    assert np.bincount(shares(column(exactly), Domain(column(exactly)), np.ones(MOST, dtype=np.int64)).argmax(axis=1)).tolist() == [1] * MOST  # fmt: skip


# --- both sides ------------------------------------------------------------------------------------------------------


def made(released: Columns, original: Columns, names: Sequence[str], roles: sf.Roles) -> tuple[Features, Features, Any]:
    aligned = align(paired(released, original), roles)
    return *features(aligned, roles, names), aligned


def test_original_and_release_stand_in_one_space() -> None:
    roles = sf.Roles(quasi=("age", "town"), sensitive=("ill",), hierarchies={"town": TOWNS})
    original = {"age": [20, 28, 35, 40], "town": ["Arles", "Cadiz", "Delft", "Arles"], "ill": ["y", "n", "y", "n"]}
    released = {
        "age": ["[20,30)", "[20,30)", "35", "40"],
        "town": ["south", "Cadiz", "*", "Arles"],
        "ill": original["ill"],
    }
    before, after, aligned = made(released, original, ["age", "town"], roles)
    assert before.dense.shape == after.dense.shape
    assert before.dense.dtype == after.dense.dtype == np.float32
    # rows that were released as they are have the same features on both sides, whatever stands around them
    spelled = [aligned.released.texts("town")[c] for c in aligned.released.codes["town"]]
    same = spelled.index("Arles")
    assert after.dense[same].tolist() == before.dense[aligned.place[same]].tolist()
    assert after.plain[same].tolist() == before.plain[aligned.place[same]].tolist()
    identity, again, _ = made(original, original, ["age", "town"], roles)
    assert np.array_equal(identity.dense, again.dense)
    assert np.array_equal(identity.plain, again.plain)


def test_places_that_never_differ_are_left_out_but_not_all() -> None:
    roles = sf.Roles(quasi=("age", "flat"), sensitive=("ill",))
    columns = {"age": [1, 2, 3, 4], "flat": ["a"] * 4, "ill": list("ynyn")}
    before, _, _ = made(columns, columns, ["age", "flat"], roles)
    assert before.dense.shape == (4, 1)
    nothing, _, _ = made(columns, columns, ["flat"], roles)
    assert nothing.dense.shape == (4, 1)  # miners refuse to learn from no column at all
    assert len(set(nothing.dense[:, 0])) == 1


def test_odd_labels_and_names() -> None:
    name = 'the "town", really [x]'
    labels = ["a,b", "{a", "b}", "'quoted'", "**", "-5-", "NaN", "a|b", "ünïcode", " "]
    roles = sf.Roles(quasi=(name, "n"))
    columns = {name: labels, "n": list(range(10))}
    before, after, aligned = made(columns, columns, [name], roles)
    assert np.array_equal(before.dense, after.dense)
    text = [aligned.original.texts(name)[c] for c in aligned.original.codes[name]]
    for label, row in zip(text, before.dense, strict=True):
        if label != "**":  # asterisks alone stand for every value
            assert row.max() == 1, label


def test_a_column_of_numbers_in_texts_is_read_the_same() -> None:
    roles = sf.Roles(quasi=("age", "n"))
    texts = {"age": ["1", "2", "3", "4"], "n": ["a", "b", "c", "d"]}
    numbers = {"age": [1, 2, 3, 4], "n": ["a", "b", "c", "d"]}
    for released in (texts, numbers):
        before, after, _ = made(released, texts, ["age"], roles)
        assert before.dense.tolist() == after.dense.tolist() == [[1], [2], [3], [4]]


@pytest.mark.parametrize("largest", [1e39, 1e300, 1.7e308, np.inf])
def test_numbers_beyond_single_precision_keep_their_order(largest: float) -> None:
    values = [-largest, 0.0, 5e37, 1e38, largest]
    columns: Columns = {"x": values, "y": ["a", "b", "a", "b", "a"]}
    before, after, _ = made(columns, columns, ["x"], sf.Roles(quasi=("x",), sensitive=("y",)))
    for side in (before, after):
        assert np.isfinite(side.dense).all()
        assert (np.diff(side.dense[:, 0]) >= 0).all()
        assert side.dense[-1, 0] > side.dense[-2, 0]
