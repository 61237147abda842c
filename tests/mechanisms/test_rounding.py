"""Rounding: multiples of the base, near by, unbiased at random, and measured like any other release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.randomness import SEEDED, Chance
from sfumato.mechanisms.rounding import Rounding
from sfumato.metrics import require

ROLES = sf.Roles(quasi=("x",), insensitive=("i",))


def rounded(values: Any, made: Rounding, seed: int | None = 1, folder: Path | None = None) -> list[Any]:
    """What each value became, in the order given: `i` numbers the rows."""
    table = sf.read(pa.table({"i": np.arange(len(values)), "x": values}))
    release = made(table, ROLES, None if seed is None else np.random.default_rng(seed))
    counts = release.table.count(("i", "x"))
    known = counts.columns[1].numbers
    assert known is not None or counts.columns[1].has_missing
    return [None if known is None or np.isnan(known[c]) else float(known[c]) for c in counts.codes[1]]


# --- to the nearest --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "values", "expected"),
    [
        (10, [0, 4, 5, 14, 15, 16, -4, -5, -6, 100], [0, 0, 10, 10, 20, 20, 0, 0, -10, 100]),
        (0.1, [0.3, 0.14, 0.15, 0.25, 0.349], [0.3, 0.1, 0.2, 0.3, 0.3]),
        (0.05, [0.3, 0.12, 0.13], [0.3, 0.1, 0.15]),
        (3, [1, 2, 4, 5, 7], [0, 3, 3, 6, 6]),
        (1e6, [1, 2, 3], [0, 0, 0]),
        (1, [1e9 + 0.4, 1e9 + 0.6], [1e9, 1e9 + 1]),
        (10, [None, 12, None], [None, 10, None]),
    ],
)
def test_by_hand_halves_go_up(base: float, values: list[Any], expected: list[Any]) -> None:
    assert rounded(values, Rounding(base=base)) == expected  # type: ignore[arg-type]


def test_nothing_is_left_to_chance() -> None:
    made = Rounding(base="7")
    table = sf.read(pa.table({"i": [1, 2], "x": [3, 9]}))
    release = made(table, ROLES, np.random.default_rng(1))
    assert SEEDED not in release.notes
    assert release.perturbed == frozenset()  # equal numbers stay together: classes can be counted


def test_numbers_are_written_without_a_tail(tmp_path: Path) -> None:
    table = sf.read(pa.table({"i": [0, 1], "x": [0.31, 0.29]}))
    Rounding(base="0.1")(table, ROLES).table.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "i,x\n0,0.3\n1,0.3\n"
    Rounding(base="10")(table, ROLES).table.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "i,x\n0,0\n1,0\n"


# --- at random -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, None])
def test_multiples_stay_and_others_go_to_a_neighbour(seed: int | None) -> None:
    values = [0, 10, -20, 3, -3, 17.5, None]
    found = rounded(values, Rounding(base="10", how="random"), seed)
    assert found[:3] == [0, 10, -20]
    assert found[3] in (0, 10)
    assert found[4] in (-10, 0)
    assert found[5] in (10, 20)
    assert found[6] is None


@pytest.mark.parametrize("remainder", [1, 3, 5, 9])
@pytest.mark.parametrize("off", [1.0, 1.3, 0.7])
def test_up_as_often_as_the_remainder_says_and_30_percent_off_is_noticed(
    remainder: int, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unbiased: 3 goes up to 10 three times of ten."""
    draw = Chance.uniform
    monkeypatch.setattr(Chance, "uniform", lambda self, count: draw(self, count) / off)
    n = 4000
    up = np.mean(np.array(rounded([remainder] * n, Rounding(base="10", how="random"))) == 10)
    share = remainder / 10
    spread = 5 * np.sqrt(share * (1 - share) / n)
    assert (abs(up - share) <= spread) == (off == 1.0)


def test_the_mean_stays() -> None:
    values = np.random.default_rng(3).uniform(0, 1000, 20_000)
    found = np.array(rounded(values, Rounding(base="50", how="random")))
    assert (found % 50 == 0).all()
    assert np.abs(found - values).max() < 50
    assert found.mean() == pytest.approx(values.mean(), abs=5 * 25 / np.sqrt(20_000))
    added = np.var(found - values)
    assert added == pytest.approx(50**2 / 6, rel=0.05)  # the mean of r (b - r) over a base


def test_random_rounding_perturbs_and_says_so(tmp_path: Path) -> None:
    table = sf.read(pa.table({"i": np.arange(60), "x": np.arange(60)}))
    files = []
    for seed in (1, 1, 2):
        release = Rounding(base="10", how="random")(table, ROLES, np.random.default_rng(seed))
        assert release.perturbed == {"x"}
        assert SEEDED in release.notes
        release.table.write(tmp_path / "out.csv")
        files.append((tmp_path / "out.csv").read_bytes())
    assert files[0] == files[1] != files[2]


# --- columns, promises, refusals -------------------------------------------------------------------------------------


def test_a_base_for_each_column_and_odd_names() -> None:
    data = {"a": [1, 2, 17], "b, c": [120, 180, 260], "d=e": [1, 2, 3]}
    roles = sf.Roles(quasi=tuple(data))
    table = sf.read(pa.table(data))
    release = Rounding(base='a=10, "b, c"=100')(table, roles)
    texts = {name: release.table.count((name,)).columns[0].texts for name in data}
    assert texts == {"a": ["0", "20"], "b, c": ["100", "200", "300"], "d=e": ["1", "2", "3"]}
    release = Rounding(base="5", columns='"b, c",d=e')(table, roles)
    texts = {name: release.table.count((name,)).columns[0].texts for name in data}
    assert texts == {"a": ["1", "2", "17"], "b, c": ["120", "180", "260"], "d=e": ["0", "5"]}
    assert Rounding(base="5")(table, roles).table.columns == tuple(data)


def test_what_is_required_is_measured_on_the_file(tmp_path: Path) -> None:
    table = sf.read(pa.table({"i": np.arange(40), "x": np.arange(40)}))
    roles = sf.Roles(quasi=("x",))
    assert Rounding().promises == ()
    sf.publish(Rounding(base="20")(table, roles), roles, [require("k_anonymity >= 10")], tmp_path / "out.csv")
    assert sf.k_anonymity(sf.Release(table=sf.read(tmp_path / "out.csv")), roles).value == 10
    with pytest.raises(sf.SfumatoError, match="not met"):
        sf.publish(Rounding(base="5")(table, roles), roles, [require("k_anonymity >= 10")], tmp_path / "other.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_one_base_has_one_spelling() -> None:
    assert Rounding(base=5) == Rounding(base="5.0") == Rounding.of({"base": "5"})  # type: ignore[arg-type]
    assert Rounding(base="5").settings() == {"base": "5"}
    assert Rounding().settings() == {}


def test_one_row_and_a_constant_column() -> None:
    assert rounded([7], Rounding()) == [10]
    assert rounded([7, 7, 7], Rounding()) == [10, 10, 10]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"base": "0"}, "above 0"),
        ({"base": "-5"}, "above 0"),
        ({"base": "nan"}, "above 0"),
        ({"base": "inf"}, "above 0"),
        ({"base": "a=0"}, "above 0"),
        ({"base": "ten"}, "NAME="),
        ({"base": "a=ten"}, "no number"),
        ({"base": "a=1,a=2"}, "twice"),
        ({"base": "a=1", "columns": "a"}, "leave columns out"),
        ({"how": "up"}, "one of nearest, random"),
        ({"columns": ""}, "empty"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(settings: dict[str, Any], words: str, refusal: Any) -> None:
    refusal(InputError, lambda: Rounding(**settings), words)


def test_tables_that_make_no_sense(refusal: Any, canary: str) -> None:
    table = sf.read(pa.table({"i": [1, 2], "x": [canary, "b"], "house": [1, 2]}))
    refusal(InputError, lambda: Rounding()(table, ROLES), "no quasi-identifier is a number")
    refusal(InputError, lambda: Rounding(base="x=5")(table, ROLES), "'x'", "not all numbers")
    refusal(InputError, lambda: Rounding(base="house=5")(table, ROLES), "'house'", "may be released")
    refusal(InputError, lambda: Rounding(columns="nowhere")(table, ROLES), "'nowhere'")
