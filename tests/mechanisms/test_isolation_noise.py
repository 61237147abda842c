"""Isolation noise: one half learns the scale for the other, no released row isolates a real one, by the file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.randomness import Chance
from sfumato.mechanisms import isolation_noise as room
from sfumato.mechanisms.isolation_noise import IsolationNoise

FOUR = ("a", "b", "c", "d")
ROLES = sf.Roles(quasi=FOUR, sensitive=("s",))


def people(n: int = 600, columns: tuple[str, ...] = FOUR, seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    data: dict[str, Any] = {name: (j + 1) * rng.normal(size=n) for j, name in enumerate(columns)}
    return {**data, "s": rng.choice(list("xyz"), n)}


def crowds(released: np.ndarray, real: np.ndarray, c: float) -> list[int]:
    """The definition once more, row by row: real rows within c times the distance of the nearest."""
    found = []
    for q in released:
        away = np.sqrt((((q - real) / real.std(axis=0)) ** 2).sum(axis=1))
        found.append(int((away <= c * away.min() * (1 + 1e-9)).sum()))
    return found


def numbers(table: Any, names: tuple[str, ...] = FOUR) -> np.ndarray:
    counts = table.count(names)
    columns = [column.numbers[codes] for column, codes in zip(counts.columns, counts.codes, strict=True)]
    return np.repeat(np.column_stack(columns), counts.n, axis=0)


# --- the promise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [".csv", ".parquet"])
@pytest.mark.parametrize(("t", "c"), [(1, 2.0), (5, 2.0), (20, 2.0), (5, 4.0)])
def test_no_row_of_the_file_isolates_a_real_one(tmp_path: Path, form: str, t: int, c: float) -> None:
    table = sf.read(pa.table(people()))
    made = IsolationNoise(t=t, c=c)
    release = made(table, ROLES, np.random.default_rng(2))
    found = sf.publish(release, ROLES, made.promises, tmp_path / f"out{form}")
    (verdict,) = found.verdicts
    assert verdict.met
    assert verdict.requirement.metric == sf.metric(f"isolation[c={c:g}]")
    written = numbers(sf.read(tmp_path / f"out{form}"))
    assert min(crowds(written, numbers(table), c)) >= t
    assert 0.95 * 300 <= len(written) <= 300


def test_without_drawing_again_some_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check has something to find: of the first draws many isolate, which the paper's bound does not exclude."""
    monkeypatch.setattr(room, "DRAWS", 1)
    table = sf.read(pa.table(people()))
    with pytest.raises(Infeasible, match="of 300 rows isolate another"):
        IsolationNoise(t=20)(table, ROLES, np.random.default_rng(2))
    loose = IsolationNoise(t=20, suppression=0.99)(table, ROLES, np.random.default_rng(2))
    assert 0 < loose.table.rows < 290
    assert min(crowds(numbers(loose.table), numbers(table), 2)) >= 20


def test_one_dimension_is_said_to_be_too_few(refusal: Any) -> None:
    """Between two neighbours on a line the nearer one is nearest: no draw among them has eight real rows around it."""
    table = sf.read(pa.table(people(1200, ("a",))))
    roles = sf.Roles(quasi=("a",), sensitive=("s",))
    text = refusal(
        Infeasible, lambda: IsolationNoise(t=8, c=1.5)(table, roles, np.random.default_rng(1)), "more columns"
    )
    assert "isolation[c=1.5] >= 8" in text


# --- the noise -------------------------------------------------------------------------------------------------------


def sides(x: np.ndarray, theirs: np.ndarray, t: int) -> np.ndarray:
    """The survey's histogram, cell by cell: halve the cube along every column while more than 2t rows of B are in it."""
    x = (x - x.min(axis=0)) / x.std(axis=0)
    found = np.zeros(len(x))

    def divide(inside: np.ndarray, low: np.ndarray, side: float) -> None:
        held = x[inside & theirs]
        if len(held) <= 2 * t or (held == held[0]).all():
            found[inside] = side
            return
        upper = x >= low + side / 2
        for corner in {tuple(row) for row in upper[inside]}:
            divide(inside & (upper == corner).all(axis=1), low + side / 2 * np.array(corner), side / 2)

    divide(np.ones(len(x), dtype=bool), np.zeros(x.shape[1]), float(x.max()))
    return found


@pytest.mark.parametrize("whole", [False, True])
def test_the_cells_are_those_of_the_survey(whole: bool) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 3)) * [1, 5, 30]
    if whole:
        x = np.round(x)
    theirs = rng.random(300) < 0.5
    for t in (1, 4, 200):
        found = IsolationNoise(t=t)._sides(room._Real.of(x), theirs)
        assert found == pytest.approx(sides(x, theirs, t))
    assert len(set(found.tolist())) == 1  # 2t rows or fewer in all: the cube itself


@pytest.mark.parametrize("off", [1.0, 1.3, 0.7])
def test_the_noise_is_as_wide_as_the_cell_and_30_percent_off_is_noticed(
    off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """t = 1 asks for nothing, so no row is drawn again; the second half of the order is released."""
    draw, order = Chance.normal, Chance.order
    halves: list[np.ndarray] = []
    monkeypatch.setattr(Chance, "normal", lambda self, count: off * draw(self, count))
    monkeypatch.setattr(Chance, "order", lambda self, count: halves.append(order(self, count)) or halves[-1])
    table = sf.read(pa.table(people(2000)))
    release = IsolationNoise(t=1)(table, ROLES, np.random.default_rng(3))
    x = numbers(table)
    ours = np.sort(halves[0][1000:])
    rho = sides(x, ~np.isin(np.arange(2000), ours), 1)[ours]
    recoding = release.recoding
    assert recoding is not None
    assert recoding.rows == 1000
    frame = recoding.table.to_pandas()
    before = frame[[f"by{i}" for i in range(4)]].to_numpy(dtype=float)
    after = frame[[f"to{i}" for i in range(4)]].to_numpy(dtype=float)
    at = {tuple(row): side for row, side in zip(x[ours], rho, strict=True)}
    scale = np.array([at[tuple(row)] for row in before])[:, None] * x.std(axis=0)
    noise = ((after - before) / scale).ravel()
    assert (stats.kstest(noise, stats.norm.cdf).pvalue > 1e-6) == (off == 1.0)


def test_dense_rows_get_less_noise_than_sparse_ones() -> None:
    rng = np.random.default_rng(1)
    dense, sparse = rng.normal(size=(900, 2)) * 0.01, rng.uniform(-10, 10, size=(100, 2))
    x = np.concatenate([dense, sparse])
    found = IsolationNoise(t=5)._sides(room._Real.of(x), rng.random(1000) < 0.5)
    assert np.median(found[:900]) < 0.05 * np.median(found[900:])


# --- rows, chance, missing values ------------------------------------------------------------------------------------


def test_half_of_the_rows_with_their_other_values() -> None:
    data = {**people(301), "who": np.arange(301)}
    roles = sf.Roles(identifiers=("who",), quasi=FOUR, sensitive=("s",))
    release = IsolationNoise(t=1)(sf.read(pa.table(data)), roles, np.random.default_rng(1))
    assert release.table.rows == 151
    assert release.table.columns == (*FOUR, "s")
    assert release.perturbed == set(FOUR)
    assert any("151 of 301 rows are released" in note for note in release.notes)
    original = {tuple(row) for row in numbers(sf.read(pa.table(data)))}
    assert not original & {tuple(row) for row in numbers(release.table)}


def test_missing_numbers_stay_missing_and_the_promise_holds(tmp_path: Path) -> None:
    data = people(600)
    data["b"] = [None if i % 6 == 0 else v for i, v in enumerate(data["b"])]
    made = IsolationNoise(t=4)
    release = made(sf.read(pa.table(data)), ROLES, np.random.default_rng(1))
    assert sf.publish(release, ROLES, made.promises, tmp_path / "out.csv").met
    counts = release.table.count(("b",))
    assert 30 <= counts.n[-1] <= 70
    assert counts.columns[0].has_missing


def test_those_who_stand_out_by_what_is_missing_are_left_out() -> None:
    """One row without `b`, far from all others whatever its noise."""
    data = people(300)
    data["b"] = [None if i < 2 else 0.001 * v for i, v in enumerate(data["b"])]
    made = IsolationNoise(t=30, c=1.2, suppression=0.5)
    release = made(sf.read(pa.table(data)), ROLES, np.random.default_rng(1))
    assert made.promises[0].check(release, ROLES).met


def test_equal_rows_and_constant_columns(tmp_path: Path) -> None:
    data = {"a": [5] * 40, "b": [1, 2] * 20, "s": list("xy") * 20}
    roles = sf.Roles(quasi=("a", "b"), sensitive=("s",))
    made = IsolationNoise(t=10)
    assert sf.publish(
        made(sf.read(pa.table(data)), roles, np.random.default_rng(1)), roles, made.promises, tmp_path / "out.csv"
    ).met
    flat = sf.read(pa.table({**data, "b": [1] * 40}))
    assert IsolationNoise(t=40)(flat, roles).table.rows == 20  # nobody can be told from anybody


def test_one_row(refusal: Any) -> None:
    table = sf.read(pa.table({name: values[:1] for name, values in people(3).items()}))
    assert IsolationNoise(t=1)(table, ROLES).table.rows == 1
    refusal(Infeasible, lambda: IsolationNoise(t=2)(table, ROLES), "only 1 rows")


def test_whole_numbers_stay_whole_if_asked(tmp_path: Path) -> None:
    data = people(400)
    data["a"] = np.round(10 * data["a"]).astype(int)
    made = IsolationNoise(t=4, whole=True)
    release = made(sf.read(pa.table(data)), ROLES, np.random.default_rng(1))
    assert sf.publish(release, ROLES, made.promises, tmp_path / "out.parquet").met
    assert all("." not in str(text) for text in release.table.count(("a",)).columns[0].texts)
    assert any("." in str(text) for text in release.table.count(("b",)).columns[0].texts)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"t": 0}, "at least 1"),
        ({"t": 2.5}, "whole"),
        ({"c": 0.9}, "from 1"),
        ({"c": math.nan}, "from 1"),
        ({"c": math.inf}, "from 1"),
        ({"suppression": 1}, "below 1"),
        ({"suppression": -0.1}, "below 1"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(settings: dict[str, Any], words: str, refusal: Any) -> None:
    refusal(InputError, lambda: IsolationNoise(**settings), words)


def test_tables_that_make_no_sense(refusal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sf.read(pa.table(people(50)))
    refusal(InputError, lambda: IsolationNoise()(table, sf.Roles(quasi=("s",))), "no quasi-identifier is a number")
    monkeypatch.setattr(room, "MOST", 1000)
    refusal(InputError, lambda: IsolationNoise()(table, ROLES), "sample or split")
