"""Who is alone, in the release and in the population: by counting rows with pandas, and on populations that are known."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import app

ROLES = sf.Roles(quasi=("a", "b"))


def people(size=20_000, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.zipf(1.7, size) % 900, "b": rng.integers(0, 4, size)})


def alone(data):
    return data.groupby(["a", "b"])["a"].transform("size") == 1


def test_extremes():
    def of(rows, **more):
        return sf.Release(table=sf.read(pd.DataFrame(rows, columns=["a", "b"])), **more)

    assert sf.sample_uniqueness(of([(1, 1), (1, 2), (2, None)]), ROLES).value == 1
    assert sf.sample_uniqueness(of([(1, 1)] * 4), ROLES).value == 0
    mixed = of([(1, 1), (1, 1), (2, 1), (3, None), (None, None)])
    assert sf.sample_uniqueness(mixed, ROLES).value == 3 / 5
    bound = sf.population_uniqueness(mixed, ROLES)
    assert (bound.value, bound.exactness, bound.ci) == (3 / 5, "bound", None)
    assert sf.population_uniqueness(fraction=0.1)(of([(1, 1)] * 4), ROLES).value == 0
    everybody = sf.population_uniqueness(fraction=0.1)(of([(1, 1), (1, 2), (2, 1)]), ROLES)  # only Zayatz's model fits
    assert (everybody.value, everybody.details["model"]) == (1, "zayatz")


@pytest.mark.parametrize("fraction", [0.05, 0.3])
def test_against_a_population_that_is_known(fraction):
    everyone = people()
    rng = np.random.default_rng(1)
    drawn = rng.permutation(len(everyone))[: round(fraction * len(everyone))]
    sample = everyone.iloc[drawn]
    truth = alone(everyone).iloc[drawn].mean()
    release = sf.Release(table=sf.read(sample))
    counted = sf.population_uniqueness(sf.Release(table=sf.read(sample), population=sf.read(everyone)), ROLES)
    assert (counted.value, counted.exactness) == (pytest.approx(truth), "exact")
    assert sf.sample_uniqueness(release, ROLES).value == pytest.approx(alone(sample).mean())
    estimate = sf.population_uniqueness(fraction=fraction)(release, ROLES)
    assert estimate.exactness == "estimate"
    assert estimate.details["model"] in (("pitman",) if fraction <= 0.1 else ("snb", "zayatz"))  # Dankar's rule
    assert estimate.ci[0] <= estimate.value <= estimate.ci[1]
    assert truth / 1.7 < estimate.value < truth * 1.7
    assert truth < alone(sample).mean() / 1.5  # what the sample alone would say is far off
    weighted = sf.Release(table=sf.read(sample.assign(w=1 / fraction)))
    assert sf.population_uniqueness(weighted, sf.Roles(quasi=("a", "b"), weight="w")).value == pytest.approx(
        estimate.value
    )


def test_a_sample_of_ours_is_counted_against_its_table():
    everyone = people(4_000)
    release = sf.RandomSampling(fraction=0.2)(sf.read(everyone.assign(row=range(4_000))), sf.Roles(quasi=("a", "b"), insensitive=("row",)), np.random.default_rng(0))  # fmt: skip
    rows = release.to_pandas()["row"]
    assert sf.population_uniqueness(release, ROLES).value == pytest.approx(alone(everyone).iloc[rows].mean())


def test_people_who_have_several_rows():
    roles = sf.Roles(quasi=("a",), insensitive=("b",), person="p", people={"rows": "unlinked"})
    table = sf.read(pd.DataFrame({"a": [1, 1, 2, 2, 3], "b": [1, 2, 3, 4, 5], "p": ["x", "x", "x", "y", "z"]}))
    release = sf.RandomSampling(fraction=1.0)(table, roles)
    assert sf.sample_uniqueness(release, roles).value == 3 / 5  # both rows of x in the first class, and z


def test_it_can_be_required_and_steers_nothing_away(tmp_path):
    people(600).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "r.toml").write_text('[roles]\nquasi = ["a", "b"]\n')
    people(20_000).to_csv(tmp_path / "p.csv", index=False)
    words = ["sanitize", f"{tmp_path}/t.csv", "--roles", f"{tmp_path}/r.toml", "--out", f"{tmp_path}/o.csv", "--json", "--mechanism"]  # fmt: skip
    refused = CliRunner().invoke(app, [*words, "mondrian k=1", "--require", "sample_uniqueness <= 0.01"])
    assert refused.exit_code == 1
    asked = ["--require", "sample_uniqueness <= 0", "--require", "population_uniqueness[fraction=0.1] <= 0.01"]
    made = CliRunner().invoke(app, [*words, "mondrian k=2", *asked])
    assert made.exit_code == 0, made.output
    assert all(each["met"] for each in json.loads(made.stdout)["requirements"].values())
    found = CliRunner().invoke(app, ["measure", f"{tmp_path}/t.csv", "--roles", f"{tmp_path}/r.toml", "--json", "--metric", "population_uniqueness", "--population", f"{tmp_path}/p.csv"])  # fmt: skip
    assert json.loads(found.stdout)["scores"]["population_uniqueness"]["exactness"] in ("exact", "bound")
