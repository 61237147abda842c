"""Cell keys: noise with the moments that were asked for, of most entropy by another solver, and the same wherever the same rows are counted."""

from __future__ import annotations

import hashlib
import hmac
import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import app
from sfumato.core.errors import InputError
from sfumato.mechanisms.cell_key import noise_table

ROLES = sf.Roles(identifiers=("id",), quasi=("sex", "town", "one"))
SETTINGS = [(4, 2.0, 0), (5, 3.0, 2), (3, 1.0, 0), (1, 0.5, 0)]


def town(rows: int = 2_000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": [f"n{i}" for i in range(rows)],
            "sex": rng.choice(["f", "m"], rows),
            "town": [f"t{i}" for i in rng.zipf(1.5, rows) % 300],
            "one": "x",
        }
    )


@pytest.mark.parametrize(("most", "variance", "gap"), SETTINGS)
def test_noise_has_the_moments_and_the_most_entropy(most: int, variance: float, gap: int) -> None:
    """Entropy is maximised again by a solver that knows nothing of the exponential family."""
    table, steps = noise_table(most, variance, gap), np.arange(-most, most + 1)
    assert len(table) == most + gap + 1
    for i, p in enumerate(table, start=1):
        assert p.sum() == pytest.approx(1)
        assert p @ steps == pytest.approx(0, abs=1e-8)
        assert p @ steps**2 == pytest.approx(variance)
        out = i + steps
        forbidden = (out < 0) | ((out >= 1) & (out <= gap))
        assert (p[forbidden] == 0).all()
        free = steps[~forbidden]
        limits = [
            {"type": "eq", "fun": lambda q, f=f, v=v, s=free: q @ s**f - v}
            for f, v in ((0, 1.0), (1, 0.0), (2, variance))
        ]
        found = minimize(lambda q: float((q * np.log(q)).sum()), np.full(len(free), 1 / len(free)), bounds=[(1e-12, 1)] * len(free), constraints=limits)  # fmt: skip
        mine = p[~forbidden]
        mine = mine[mine > 0]
        assert -float((mine * np.log(mine)).sum()) >= -found.fun - 1e-6
    assert table[-1] == pytest.approx(table[-1][::-1])  # a large count goes up as it goes down


def released(data: pd.DataFrame, seed: int | None = 0, **settings: object) -> pd.DataFrame:
    rng = None if seed is None else np.random.default_rng(seed)
    return sf.CellKey(**settings)(sf.read(data), ROLES, rng).to_pandas()


def test_counts_are_unbiased_and_bounded_and_empty_ones_stay_empty() -> None:
    data = town()
    true = data.groupby(["sex", "town"]).size()
    away = []
    for seed in range(60):
        got = released(data, seed, columns="sex,town", most=4, variance=2).set_index(["sex", "town"])["rows"]
        assert set(got.index) <= set(true.index)
        assert (got > 0).all()
        away.append((got.reindex(true.index, fill_value=0) - true).to_numpy())
    noise = np.array(away)
    assert np.abs(noise).max() <= 4
    assert abs(noise.mean()) < 5 * np.sqrt(2 / noise.size)
    assert noise.var() == pytest.approx(2, rel=0.06)
    small = noise[:, true.to_numpy() == 1]
    assert small.var() == pytest.approx(2, rel=0.2)
    with_gap = released(data, columns="sex,town", most=5, variance=3, gap=2)["rows"]
    assert with_gap.min() >= 3


def test_the_same_rows_have_the_same_noise_in_every_table() -> None:
    """Whoever counts a column that says nothing beside another finds the same cells."""
    tables = released(town(), columns="sex,town,one", ways=2)
    alone = tables[(tables["sex"] == "*")].set_index("town")["rows"]
    both = released(town(), columns="town,one", ways=1)
    again = both[both["town"] != "*"].set_index("town")["rows"]
    assert alone.sort_index().equals(again.sort_index())
    assert len(tables[tables["one"] == "*"]) > 50


def test_a_key_makes_releases_agree_and_is_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell keys by hand: HMAC of each identifier, added up modulo 2^64."""
    secret = "a secret of a good length 7741"
    monkeypatch.setenv("CELLS", secret)
    data, noise = town(), noise_table(4, 2.0, 0)
    got = released(data, None, columns="town", key="env:CELLS").set_index("town")["rows"]
    assert got.equals(
        released(data.sample(frac=1, random_state=1), None, columns="town", key="env:CELLS").set_index("town")["rows"]
    )
    expected = {}
    for name, rows in data.groupby("town"):
        cell = sum(int.from_bytes(hmac.new(secret.encode(), b"cell " + one.encode(), hashlib.sha256).digest()[:8], "little") for one in rows["id"]) % 2**64  # fmt: skip
        upto, step, u = 0.0, -4, cell / 2**64
        for v, p in zip(range(-4, 5), noise[min(len(rows), len(noise)) - 1], strict=True):
            upto += p
            step = v
            if u < upto:
                break
        expected[name] = len(rows) + step
    assert {name: n for name, n in expected.items() if n > 0} == got.to_dict()
    other = released(data, None, columns="town")
    assert not other.set_index("town")["rows"].equals(got)
    monkeypatch.setenv("CELLS", "another secret of a good length")
    assert not released(data, None, columns="town", key="env:CELLS").set_index("town")["rows"].equals(got)


def test_from_the_command_line(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELLS", "a secret of a good length 7741")
    town().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "r.toml").write_text('[roles]\nidentifiers = ["id"]\nquasi = ["sex", "town"]\n')
    words = ["sanitize", f"{tmp_path}/t.csv", "--roles", f"{tmp_path}/r.toml", "--out", f"{tmp_path}/o.csv", "--json"]
    found = CliRunner().invoke(app, [*words, "--mechanism", "cell_key columns=sex,town ways=1 key=env:CELLS"])
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["suppressed"] is None
    assert list(pd.read_csv(tmp_path / "o.csv")) == ["sex", "town", "rows"]
    assert "7741" not in found.output + (tmp_path / "o.csv").read_text()
    refused = CliRunner().invoke(app, [*words, "--mechanism", "cell_key columns=sex", "--require", "k_anonymity >= 2"])
    assert refused.exit_code != 0


def test_refusals() -> None:
    data = town(50)
    for settings, said in (
        ({}, "needs columns"),
        ({"columns": "sex", "variance": 20.0}, "no noise on a count of 1"),
        ({"columns": "sex", "gap": 3, "variance": 0.5}, "no noise on a count of 1"),
        ({"columns": "sex", "key": "env:NOTHING_7741"}, "has no variable"),
        ({"columns": "sex", "ways": 2}, "only 1 columns"),
    ):
        with pytest.raises(InputError, match=said):
            released(data, **settings)
    twice = data.assign(id="same")
    with pytest.raises(InputError, match="another one in every row"):
        sf.CellKey(columns="sex", key="env:PATH")(sf.read(twice), ROLES)
    with pytest.raises(InputError, match="never stands in a parameter"):
        sf.CellKey(columns="sex", key="abc")
