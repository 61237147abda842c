"""Samples: everybody with the same probability, people whole, parts by their share, and the table they were drawn from as the population."""

from __future__ import annotations

import json
from math import comb, sqrt

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sfumato as sf
from selection import few
from sfumato.cli import app
from sfumato.core.errors import Infeasible, InputError
from sfumato.study.candidate import Candidate

ROLES = sf.Roles(quasi=("town", "age"), sensitive=("ill",), insensitive=("row",))


def town(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "row": [f"r{i}" for i in range(rows)],
            "town": rng.choice(["a", "b", "c"], rows, p=[0.7, 0.29, 0.01]),
            "age": rng.integers(20, 60, rows),
            "ill": rng.choice(list("xyz"), rows),
        }
    )


def drawn(data, seed=0, roles=ROLES, **settings):
    rng = None if seed is None else np.random.default_rng(seed)
    return sf.RandomSampling(**settings)(sf.read(data), roles, rng).to_pandas()


@pytest.mark.parametrize("settings", few([{}, {"by": "town"}, {"each": True}], {"each": True}), ids=str)
def test_every_row_is_as_likely_as_the_next(settings):
    """Over 400 draws each row is drawn 120 times, give or take; the number drawn is fixed unless each row is drawn by itself."""
    data, draws, f = town(60), 400, 0.3
    samples = [drawn(data, seed, fraction=f, **settings)["row"] for seed in range(draws)]
    times = pd.concat(samples).value_counts().reindex(data["row"], fill_value=0)
    away = (times - draws * f) / sqrt(draws * f * (1 - f))
    assert away.abs().max() < 4.5
    assert 0.5 < (away**2).mean() < 1.6  # each is binomial, neither fixed nor of a few rows alone
    sizes = np.array([len(sample) for sample in samples])
    if settings.get("each"):
        assert sizes.var() == pytest.approx(60 * f * (1 - f), rel=0.35)
    else:
        assert set(sizes) == {18}


@pytest.mark.full  # two thousand draws
def test_pairs_are_drawn_without_regard_to_one_another():
    """Of a table of 6 rows each of the 20 triples comes up equally often."""
    data, draws = town(6), 2_000
    triples = pd.Series([tuple(sorted(drawn(data, seed, fraction=0.5)["row"])) for seed in range(draws)]).value_counts()
    assert len(triples) == comb(6, 3)
    expected = draws / comb(6, 3)
    assert ((triples - expected) ** 2 / expected).sum() < 43.8  # chi-squared, 19 degrees of freedom, 1 in 1000


def test_parts_give_their_share():
    data = town()
    sizes = data["town"].value_counts()
    for seed in range(20):
        sample = drawn(data, seed, fraction=0.25, by="town")
        assert len(sample) == 100
        got = sample["town"].value_counts().reindex(sizes.index, fill_value=0)
        assert ((got - 0.25 * sizes).abs() < 1).all()
    crossed = drawn(data, 1, fraction=0.5, by="town,ill").groupby(["town", "ill"]).size()
    assert ((crossed - 0.5 * data.groupby(["town", "ill"]).size()).abs().dropna() < 1).all()


def test_nothing_changes_and_without_a_seed_it_is_chance():
    data = town()
    sample = drawn(data, None, fraction=0.5)
    both = sample.merge(data, on=["row", "town", "ill"], suffixes=("", "_before"))
    assert len(both) == len(sample) == 200
    assert (both["age"] == both["age_before"]).all()
    assert set(sample["row"]) != set(drawn(data, None, fraction=0.5)["row"])
    assert len(drawn(data, None, fraction=1)) == 400


def visits():
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(120), rng.integers(1, 5, 120))
    home = rng.choice(["a", "b"], 120)
    return pd.DataFrame(
        {"pid": [f"p{i}" for i in who], "town": home[who], "age": rng.integers(20, 30, 120)[who], "ill": rng.choice(list("xyz"), len(who)), "row": [f"r{i}" for i in range(len(who))]}
    )  # fmt: skip


@pytest.mark.parametrize("rows", ["unlinked", "linked"])
def test_people_come_with_all_of_their_rows(rows):
    data = visits()
    roles = sf.Roles(
        quasi=("town", "age"), sensitive=("ill",), insensitive=("row",), person="pid", people={"rows": rows}
    )
    release = sf.RandomSampling(fraction=0.25, by="town")(sf.read(data), roles, np.random.default_rng(0))
    sample = release.to_pandas()
    mine = data.set_index("row").loc[sample["row"], "pid"]
    assert mine.nunique() == 30
    assert len(sample) == data["pid"].isin(set(mine)).sum()
    assert ("pid" in sample) == (rows == "linked")
    if rows == "linked":  # fresh numbers, one a person
        assert (sample.groupby("pid")["row"].agg(list).apply(lambda own: mine[own].nunique()) == 1).all()
        assert not set(sample["pid"].astype(str)) & set(data["pid"])
        assert release.population is None
    else:
        fits = data.groupby(["town", "age"])["pid"].nunique()
        released = fits.loc[list(zip(sample["town"], sample["age"], strict=True))]
        assert sf.k_map(release, roles).value == released.min()
    assert "30 of 120 people with all of their rows" in release.notes[0]


def test_people_in_several_parts_are_not_drawn_by_them():
    data = visits()
    roles = sf.Roles(quasi=("town", "age"), insensitive=("ill", "row"), person="pid", people={"rows": "unlinked"})
    with pytest.raises(InputError, match="rows in several parts of 'ill'"):
        sf.RandomSampling(fraction=0.5, by="ill")(sf.read(data), roles)


def test_the_table_is_the_population():
    data = town(2_000).query("town != 'c'")
    release = sf.RandomSampling(fraction=0.1)(sf.read(data), ROLES, np.random.default_rng(1))
    sample = release.to_pandas()
    fits = data.groupby(["town", "age"]).size()
    inside = sample.groupby(["town", "age"]).size()
    assert sf.k_map(release, ROLES).value == fits.loc[inside.index].min() > 1
    assert sf.k_anonymity(release, ROLES).value == inside.min() == 1
    assert sf.journalist_risk(release, ROLES).value == pytest.approx(1 / fits.loc[inside.index].min())
    assert sf.delta_presence(release, ROLES).value == pytest.approx((inside / fits.loc[inside.index]).max())


CHAINS = {
    "sample first": "random_sampling fraction=0.2 | mondrian k=3",
    "sample last": "mondrian k=3 | random_sampling fraction=0.2",
    "twice": "random_sampling fraction=0.5 | random_sampling fraction=0.4 | generalize_to_levels levels=0,1",
}


@pytest.mark.parametrize("text", CHAINS.values(), ids=CHAINS)
def test_in_a_chain_the_first_table_is_the_population(text):
    """Each released range is held against the original rows one by one."""
    data = town(600)
    roles = sf.Roles(quasi=("town", "age"), sensitive=("ill",), hierarchies={"age": {"widths": [10]}})
    release = Candidate.of(text).mechanism(sf.read(data), roles, np.random.default_rng(2))
    assert release.table.rows == pytest.approx(120, abs=8)
    fewest = min(sum(_fits(t, data["town"]) & _fits(a, data["age"].astype(str))) for t, a in set(zip(*(release.to_pandas()[c].astype(str) for c in ("town", "age")), strict=True)))  # fmt: skip
    assert sf.k_map(release, roles).value == fewest
    assert Candidate.of(text).mechanism.card.samples


def _fits(label, column):
    if label.startswith("["):
        low, high = (float(end) for end in label.strip("[])").split(","))
        number = column.astype(float)
        return (number >= low) & ((number < high) if label.endswith(")") else (number <= high))
    if label.startswith("{"):
        return column.isin(label.strip("{}").split(", "))
    if label[:2] in (">=", "<="):
        return (column.astype(float) - float(label[2:])) * (1 if label[0] == ">" else -1) >= 0
    if label.startswith("<"):
        return column.astype(float) < float(label[1:])
    return column.eq(label) | (label == "*")


def test_a_link_after_it_steers_by_the_table_that_was_drawn_from():
    data = town(600)
    roles = sf.Roles(quasi=("town", "age"), sensitive=("ill",))
    chain = sf.RandomSampling(fraction=0.2) | sf.Mondrian(require=(sf.k_map.at_least(8),))
    release = chain(sf.read(data), roles, np.random.default_rng(0))
    assert sf.k_map(release, roles).value >= 8
    assert sf.k_anonymity(release, roles).value < 8
    wider = pd.concat([data, data], ignore_index=True)
    told = chain.against(sf.read(wider))(sf.read(data), roles, np.random.default_rng(0))
    assert told.population.rows == 1_200
    assert len(told.table.count(roles.quasi)) > len(release.table.count(roles.quasi))


def test_from_the_command_line(tmp_path):
    town().drop(columns="row").to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "r.toml").write_text('[roles]\nquasi = ["town", "age"]\nsensitive = ["ill"]\n')
    words = ["sanitize", f"{tmp_path}/t.csv", "--roles", f"{tmp_path}/r.toml", "--mechanism", "random_sampling", "--out", f"{tmp_path}/o.csv"]  # fmt: skip
    found = CliRunner().invoke(app, [*words, "--set", "fraction=0.1", "--require", "journalist_risk <= 1", "--json"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert (told["rows"], told["suppressed"]) == (40, 360)
    assert "40 of 400 rows" in told["notes"][0]
    assert len(pd.read_csv(tmp_path / "o.csv")) == 40
    refused = CliRunner().invoke(app, [*words, "--set", "fraction=0.1", "--require", "k_map >= 50"])
    assert refused.exit_code == 1


def test_refusals():
    data = town()
    for settings, said in (
        ({}, "needs fraction"),
        ({"fraction": 0.5, "by": "gone"}, "no column 'gone'"),
    ):
        with pytest.raises(InputError, match=said):
            drawn(data, **settings)
    with pytest.raises(Infeasible, match="none of 3 rows was drawn"):
        drawn(town(3), fraction=1e-9)
    for settings in ({"fraction": 0}, {"fraction": 1.5}, {"fraction": 0.5, "each": True, "by": "town"}):
        with pytest.raises(InputError):
            sf.RandomSampling(**settings)
