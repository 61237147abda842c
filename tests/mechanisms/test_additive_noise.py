"""Additive noise: of the size asked for, correlated where asked, measured on the file, and never less than promised."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError, Unavailable
from sfumato.core.randomness import Chance
from sfumato.mechanisms.additive_noise import AdditiveNoise
from sfumato.metrics import require

ROLES = sf.Roles(identifiers=("id",), quasi=("x", "y"), sensitive=("s",))


def people(n: int = 4000, seed: int = 1, **more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = 50 + 10 * rng.normal(size=n)
    y = 1000 + 6 * (x - 50) + 80 * rng.normal(size=n)
    return {"id": np.arange(n), "x": x, "y": y, "s": rng.choice(list("abc"), n), **more}


def seeded(seed: int = 5) -> np.random.Generator:
    return np.random.default_rng(seed)


def moved(release: sf.Release, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The original numbers of a column and what they became, row by row."""
    before, after, n = release.evidence(ROLES).pairs(name, "the test")
    keep = [i for i, text in enumerate(before) if text is not None and after[i] is not None]
    times = n[keep]
    return tuple(np.repeat([float(str(side[i])) for i in keep], times) for side in (before, after))  # type: ignore[return-value]


def looks_like(noise: np.ndarray, law: Any) -> bool:
    """Whether draws follow a law; wrong once in a million."""
    return bool(stats.kstest(noise, law.cdf).pvalue > 1e-6)


# --- extremes --------------------------------------------------------------------------------------------------------


def test_hardly_any_noise_changes_hardly_anything() -> None:
    release = AdditiveNoise(scale=1e-6)(sf.read(pa.table(people(200))), ROLES, seeded())
    for name in ("x", "y"):
        before, after = moved(release, name)
        assert after == pytest.approx(before, rel=1e-3)
        assert (after != before).all()


def test_huge_noise_leaves_nothing() -> None:
    release = AdditiveNoise(scale=1000)(sf.read(pa.table(people())), ROLES, seeded())
    before, after = moved(release, "x")
    assert abs(np.corrcoef(before, after)[0, 1]) < 0.06


def test_other_columns_stay_and_only_named_ones_are_released() -> None:
    table = sf.read(pa.table(people(300)))
    release = AdditiveNoise(columns="x")(table, ROLES, seeded())
    assert release.table.columns == ("x", "y", "s")
    assert release.perturbed == {"x"}
    for name in ("y", "s"):
        assert release.table.count((name,)).n.tolist() == table.count((name,)).n.tolist()
        assert release.table.count((name,)).columns[0].texts == table.count((name,)).columns[0].texts


# --- the size of the noise -------------------------------------------------------------------------------------------

LAWS = [
    ({"scale": 0.5}, lambda deviation: stats.norm(0, 0.5 * deviation)),
    ({"scale": 3, "unit": "absolute"}, lambda deviation: stats.norm(0, 3)),
    (
        {"scale": 0.5, "shape": "uniform"},
        lambda deviation: stats.uniform(-0.5 * math.sqrt(3) * deviation, math.sqrt(3) * deviation),
    ),
]


@pytest.mark.parametrize(("settings", "law"), LAWS, ids=lambda value: str(value) if isinstance(value, dict) else "")
@pytest.mark.parametrize("off", [1.0, 1.3, 0.7])
def test_the_noise_has_its_law_and_one_30_percent_off_is_noticed(
    settings: dict[str, Any], law: Any, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, even = Chance.normal, Chance.uniform
    monkeypatch.setattr(Chance, "normal", lambda self, count: off * draw(self, count))
    if settings.get("shape") == "uniform":
        monkeypatch.setattr(Chance, "uniform", lambda self, count: 0.5 + off * (even(self, count) - 0.5))
    release = AdditiveNoise(columns="x", **settings)(sf.read(pa.table(people())), ROLES, seeded())
    before, after = moved(release, "x")
    assert looks_like(after - before, law(float(np.std(before)))) == (off == 1.0)


def test_noise_of_columns_is_independent_unless_asked() -> None:
    release = AdditiveNoise(scale=1, columns="x,y")(sf.read(pa.table(people())), ROLES, seeded())
    pairs = np.array(
        release.evidence(ROLES).release.recoding.table.to_pandas()[["by0", "by1", "to0", "to1"]], dtype=float
    )  # type: ignore[union-attr]
    noise = pairs[:, 2:] - pairs[:, :2]
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.06
    assert abs(np.corrcoef(noise[:, 0], pairs[:, 0])[0, 1]) < 0.06


def both(release: sf.Release) -> tuple[np.ndarray, np.ndarray]:
    assert release.recoding is not None
    pairs = np.array(release.recoding.table.to_pandas()[["by0", "by1", "to0", "to1"]], dtype=float)
    return pairs[:, :2].T, pairs[:, 2:].T


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_correlated_noise_keeps_the_correlation_and_independent_noise_does_not(scale: float) -> None:
    """Kim 1986: the release has the covariance (1 + d) V. Independent noise gives the correlation r / (1 + d)."""
    table = sf.read(pa.table(people(20_000)))
    x, y = both(AdditiveNoise(scale=scale, correlated=True)(table, ROLES, seeded()))
    assert np.corrcoef(y)[0, 1] == pytest.approx(np.corrcoef(x)[0, 1], abs=0.02)
    assert np.cov(y) == pytest.approx((1 + scale**2) * np.cov(x), rel=0.05)
    assert np.cov(y - x) == pytest.approx(scale**2 * np.cov(x), rel=0.08)
    x, y = both(AdditiveNoise(scale=scale)(table, ROLES, seeded()))
    assert np.corrcoef(y)[0, 1] == pytest.approx(np.corrcoef(x)[0, 1] / (1 + scale**2), abs=0.02)


@pytest.mark.parametrize("correlated", [True, False])
def test_the_variance_can_be_kept(correlated: bool) -> None:
    """Tendick and Matloff 1994: mean and variance are those of the data, with correlated noise the covariances too."""
    table = sf.read(pa.table(people(20_000)))
    x, y = both(AdditiveNoise(scale=1, correlated=correlated, keep_variance=True)(table, ROLES, seeded()))
    assert y.var(axis=1) == pytest.approx(x.var(axis=1), rel=0.04)
    assert y.mean(axis=1) == pytest.approx(x.mean(axis=1), abs=0.05 * x.std(axis=1).max())
    if correlated:
        assert np.cov(y) == pytest.approx(np.cov(x), rel=0.06)
    x, y = both(AdditiveNoise(scale=1)(table, ROLES, seeded()))
    assert y.var(axis=1) == pytest.approx(2 * x.var(axis=1), rel=0.04)  # what is kept is not kept by itself


def test_columns_that_say_the_same_get_the_same_correlated_noise() -> None:
    """A singular covariance has no Cholesky root."""
    data = people(500)
    data["y"] = 3 * data["x"] - 7
    x, y = both(AdditiveNoise(scale=1, correlated=True)(sf.read(pa.table(data)), ROLES, seeded()))
    assert y[1] == pytest.approx(3 * y[0] - 7, abs=0.01)  # each on its own grid
    assert np.abs(y - x).max() > 1


# --- the promise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [".csv", ".parquet"])
@pytest.mark.parametrize(
    "settings",
    [
        {"scale": 0.3},
        {"scale": 0.3, "correlated": True},
        {"scale": 0.3, "shape": "uniform", "whole": True},
        {"scale": 0.3, "keep_variance": True, "correlated": True},
        {"scale": 2, "keep_variance": True},
        {"scale": 0.01, "whole": True},
    ],
    ids=str,
)
def test_the_file_has_the_noise_that_is_promised(tmp_path: Path, form: str, settings: dict[str, Any]) -> None:
    for n, seed in ((3, 1), (20, 2), (400, 3)):  # in few rows chance alone would often fall short
        table = sf.read(pa.table({k: np.round(v) if k in "xy" else v for k, v in people(n, seed).items()}))
        made = AdditiveNoise(**settings)
        found = sf.publish(made(table, ROLES, seeded(seed)), ROLES, made.promises, tmp_path / f"out{n}{form}")
        (verdict,) = found.verdicts
        assert verdict.met
        assert verdict.requirement.metric == sf.metric("noise_variance")
        assert sf.read(tmp_path / f"out{n}{form}").rows == n


def test_the_promise_is_the_scale_squared_or_what_is_left_of_it() -> None:
    assert [r.bound for r in AdditiveNoise(scale=0.5).promises] == [0.25]
    assert [r.bound for r in AdditiveNoise(scale=1, keep_variance=True).promises] == [pytest.approx(2 - math.sqrt(2))]
    assert AdditiveNoise(columns="x").promises == ()
    assert AdditiveNoise(unit="absolute").promises == ()


@pytest.mark.parametrize(
    "wanted", ["noise_interval >= 0.9", "noise_interval[confidence=0.5] >= 0.3", "noise_variance >= 2"]
)
def test_it_steers_by_what_is_required(wanted: str, tmp_path: Path) -> None:
    made = AdditiveNoise.of({"scale": "0.1"}, (require(wanted), require("k_anonymity >= 2")))
    assert require(wanted) in made.promises
    assert require("k_anonymity >= 2") not in made.promises
    found = sf.publish(
        made(sf.read(pa.table(people(300))), ROLES, seeded()), ROLES, made.promises, tmp_path / "out.csv"
    )
    assert found.met
    assert (
        not require(wanted).check(AdditiveNoise(scale=0.1)(sf.read(pa.table(people(300))), ROLES, seeded()), ROLES).met
    )


def test_a_class_metric_is_not_asked_of_noisy_columns(tmp_path: Path) -> None:
    release = AdditiveNoise()(sf.read(pa.table(people(50))), ROLES, seeded())
    with pytest.raises(Unavailable, match="was perturbed"):
        sf.publish(release, ROLES, [require("k_anonymity >= 1")], tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


# --- chance, input, missing values -----------------------------------------------------------------------------------


def test_missing_numbers_stay_missing_and_their_neighbours_get_noise() -> None:
    data = people(300)
    data["x"] = [None if i % 3 == 0 else v for i, v in enumerate(data["x"])]
    for correlated in (True, False):
        release = AdditiveNoise(correlated=correlated)(sf.read(pa.table(data)), ROLES, seeded())
        counts = release.table.count(("x", "y"))
        gone = counts.codes[0] == len(counts.columns[0].values)
        assert int(counts.n[gone].sum()) == 100
        before, after = moved(release, "y")
        assert len(before) == 300
        assert (before != after).all()


def test_columns_that_share_no_full_row_get_independent_noise() -> None:
    data = people(200)
    data["x"] = [None if i % 2 else v for i, v in enumerate(data["x"])]
    data["y"] = [v if i % 2 else None for i, v in enumerate(data["y"])]
    made = AdditiveNoise(correlated=True)
    release = made(sf.read(pa.table(data)), ROLES, seeded())
    assert made.promises[0].check(release, ROLES).met


def test_whole_numbers_stay_whole_if_asked(tmp_path: Path) -> None:
    data = {**people(200), "x": np.arange(200) % 9, "y": np.arange(200) / 2}
    for whole in (True, False):
        release = AdditiveNoise(whole=whole)(sf.read(pa.table(data)), ROLES, seeded())
        release.table.write(tmp_path / "out.csv")
        lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1:]
        assert all("." not in line.split(",")[0] for line in lines) == whole
        assert any("." in line.split(",")[1] for line in lines)


def test_a_constant_column_is_left_beside_others_and_said() -> None:
    data = {**people(50), "y": [7] * 50}
    release = AdditiveNoise()(sf.read(pa.table(data)), ROLES, seeded())
    assert release.perturbed == {"x"}
    assert any("'y' has one number only" in note for note in release.notes)


def test_one_row_and_constant_columns_get_absolute_noise(refusal: Any) -> None:
    one = {name: values[:1] for name, values in people(3).items()}
    table = sf.read(pa.table(one))
    refusal(InputError, lambda: AdditiveNoise()(table, ROLES), "'x'", "unit=absolute")
    release = AdditiveNoise(scale=2, unit="absolute")(table, ROLES, seeded())
    assert release.table.rows == 1
    assert release.table.count(("x",)).columns[0].texts != table.count(("x",)).columns[0].texts


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scale": 0}, "above 0"),
        ({"scale": -1}, "above 0"),
        ({"scale": math.nan}, "above 0"),
        ({"scale": math.inf}, "above 0"),
        ({"scale": "1"}, "above 0"),
        ({"unit": "percent"}, "one of deviation, absolute"),
        ({"shape": "cauchy"}, "one of gaussian, uniform"),
        ({"correlated": True, "shape": "uniform"}, "shape=gaussian"),
        ({"correlated": True, "unit": "absolute"}, "unit=deviation"),
        ({"columns": "x,,y"}, "empty"),
        ({"columns": 'x,"y'}, "close every quote"),
        ({"columns": "x,x"}, "twice"),
        ({"require": (require("k_anonymity >= 2"),)}, "cannot steer by"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, dict) else given,
)
def test_parameters_that_make_no_sense(settings: dict[str, Any], words: str, refusal: Any) -> None:
    refusal(InputError, lambda: AdditiveNoise(**settings), words)


def test_tables_that_make_no_sense(refusal: Any) -> None:
    table = sf.read(pa.table(people(20)))
    refusal(InputError, lambda: AdditiveNoise(columns="s")(table, ROLES), "'s'", "not all numbers")
    refusal(InputError, lambda: AdditiveNoise(columns="id")(table, ROLES), "'id'", "may be released")
    refusal(InputError, lambda: AdditiveNoise()(table, sf.Roles(quasi=("s",))), "no quasi-identifier is a number")
    flat = sf.read(pa.table({**people(20), "y": [1] * 20}))
    refusal(InputError, lambda: AdditiveNoise(columns="y")(flat, ROLES), "'y'")
    endless = sf.read(pa.table({**people(20), "y": [math.inf, *[1.0] * 19]}))
    refusal(InputError, lambda: AdditiveNoise()(endless, ROLES), "'y'", "infinite")


def test_a_requirement_that_the_columns_leave_out_is_infeasible(refusal: Any) -> None:
    table = sf.read(pa.table(people(20)))
    wanted = (require("noise_variance >= 0.1"),)
    refusal(Infeasible, lambda: AdditiveNoise(columns="x", require=wanted)(table, ROLES), "columns leaves some out")
    assert AdditiveNoise(columns="x,y", require=wanted)(table, ROLES, seeded()).perturbed == {"x", "y"}


def test_more_than_kept_variance_allows_is_infeasible(refusal: Any) -> None:
    table = sf.read(pa.table(people(200)))
    wanted = (require("noise_variance >= 3"),)
    refusal(Infeasible, lambda: AdditiveNoise(keep_variance=True, require=wanted)(table, ROLES, seeded()), wanted[0])


def test_odd_names() -> None:
    data = people(30)
    data = {'a, "b"': data["x"], " y ": data["y"]}
    roles = sf.Roles(quasi=tuple(data))
    for columns, changed in (('a, "b"', {'a, "b"'}), ('"a, ""b""",  " y "', set(data)), (None, set(data))):
        assert AdditiveNoise(columns=columns)(sf.read(pa.table(data)), roles, seeded()).perturbed == changed


@pytest.mark.parametrize(
    ("scale", "keep_variance", "text"),
    [
        (0.2, False, "noise_variance >= 0.04"),
        (0.1, False, "noise_variance >= 0.01"),
        (0.7, False, "noise_variance >= 0.49"),
        (1e-3, False, "noise_variance >= 1e-06"),
        (3.0, False, "noise_variance >= 9"),
        (1.0, True, "noise_variance >= 0.585786437626"),  # 2 - sqrt 2 = 0.5857864376269...
    ],
)
def test_what_is_promised_is_spelled_plainly_and_never_above_what_is_met(
    scale: float, keep_variance: bool, text: str
) -> None:
    (promise,) = AdditiveNoise(scale=scale, keep_variance=keep_variance).promises
    assert str(promise) == text
    exact = 2 - 2 / math.sqrt(1 + scale**2) if keep_variance else scale**2
    assert exact * (1 - 1e-11) <= promise.bound <= exact * (1 + 1e-15)


def test_plain_bounds_of_any_scale_are_never_above() -> None:
    for scale in np.geomspace(1e-4, 1e4, 2001).tolist():
        for keep_variance in (False, True):
            (promise,) = AdditiveNoise(scale=scale, keep_variance=keep_variance).promises
            exact = 2 - 2 / math.sqrt(1 + scale**2) if keep_variance else scale**2
            assert exact * (1 - 2e-11) <= promise.bound <= exact * (1 + 1e-15), scale
            assert len(str(promise)) < 40


@pytest.mark.parametrize(
    ("numbers", "how", "step"),
    [
        pytest.param(np.arange(500) % 70, {}, 0.1, id="years"),
        pytest.param(np.arange(500) * 1000, {}, 1000, id="thousands"),
        pytest.param(np.arange(500) / 3, {}, 0.01, id="recorded finer than it means"),
        pytest.param(np.arange(500) % 2, {"scale": 0.1}, 0.001, id="noise far below the precision"),
        pytest.param(np.arange(500) % 70, {"correlated": True, "keep_variance": True}, 0.1, id="correlated"),
        pytest.param(np.arange(500) % 70, {"whole": True}, 1, id="whole"),
    ],
)
def test_released_numbers_lie_on_the_grid_that_the_notes_state(numbers: Any, how: dict[str, Any], step: float) -> None:
    """No digit is left that tells which noise was added to which number: whatever the draw, only multiples of the step come out."""
    data = {**people(500), "x": numbers}
    for seed in (1, None):
        rng = None if seed is None else np.random.default_rng(seed)
        release = AdditiveNoise(**how)(sf.read(pa.table(data)), ROLES, rng)
        (note,) = [note for note in release.notes if "multiples of a step" in note]
        assert f"'x' {step:.12g}" in note
        texts = [text for text in release.table.count(("x",)).columns[0].texts if text is not None]
        steps = [Decimal(text) / Decimal(repr(step)) for text in texts]
        assert all(each == each.to_integral_value() for each in steps)
        assert all(requirement.check(release, ROLES).met for requirement in AdditiveNoise(**how).promises)
