"""Noise, rounding and top coding of people with several rows: what is promised holds of people, counted by pandas in the written file."""

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError

K = 4


def visits(seed=0, people=150):
    """Visits: the age stays with the person, the cost changes; one person in ten has very many visits and is old."""
    rng = np.random.default_rng(seed)
    many = rng.random(people) < 0.1
    who = np.repeat(np.arange(people), np.where(many, 12, rng.integers(1, 5, people)))
    rng.shuffle(who)
    age = np.where(many, 80, 20) + rng.integers(0, 20, people)
    return pd.DataFrame(
        {
            "pid": [f"p{i}" for i in who],
            "age": age[who],
            "cost": rng.integers(10, 5000, len(who)) / 10,
            "zip": 1000 + rng.integers(0, 4, people)[who],
            "dx": rng.choice(list("abc"), len(who)),
            "row": [f"r{i}" for i in range(len(who))],
        }
    )


def roles(rows, quasi=("age", "zip"), **more):
    return sf.Roles(
        person="pid", quasi=quasi, sensitive=("dx",), insensitive=("row", *({"age", "cost", "zip"} - {*quasi})),
        hierarchies={"age": {"widths": [5, 10, 20]}, "zip": {"prefix": [1, 2, 3]}}, people={"rows": rows}, **more,
    )  # fmt: skip


def written(release, roles, require, path, original):
    """The written rows beside the original ones, by the row's own number, and what was measured."""
    waive = dict.fromkeys(("row", "cost", "age"), "a test's own")
    found = sf.publish(
        release, roles, require, path, waive={n: why for n, why in waive.items() if n in roles.insensitive}
    )
    both = pd.read_csv(path).merge(original, on="row", validate="one_to_one", suffixes=("", "_before"))
    assert len(both) == len(original) == release.table.rows
    return both, [verdict.score.value for verdict in found.verdicts]


def variance(values, weights):
    return np.average((values - np.average(values, weights=weights)) ** 2, weights=weights)


@pytest.mark.parametrize("shape", ["gaussian", "uniform"])
@pytest.mark.parametrize("seed", range(3))
def test_noise_weighs_every_unlinked_person_alike(tmp_path, seed, shape):
    original, people = visits(seed), roles("unlinked", ("age", "zip"))
    mechanism = sf.AdditiveNoise(scale=0.4, shape=shape)
    release = mechanism(sf.read(original), people, np.random.default_rng(seed))
    both, measured = written(release, people, list(mechanism.promises), tmp_path / "r.csv", original)
    weight = 1 / both["pid"].map(both["pid"].value_counts())
    least = min(
        variance(both[f"{name}_before"] - both[name], weight) / variance(both[f"{name}_before"], weight)
        for name in people.quasi
    )
    assert measured == [pytest.approx(least)]
    assert least >= 0.16 - 1e-9
    assert (both.groupby("pid")["age"].nunique() > 1).any()  # nothing in the file joins the rows of one


@pytest.mark.parametrize(
    "how", [{"scale": 0.4}, {"scale": 0.4, "correlated": True}, {"scale": 0.5, "keep_variance": True}]
)
@pytest.mark.parametrize("seed", range(2))
def test_joined_rows_cannot_be_averaged(tmp_path, seed, how):
    """All rows of a person are moved alike, so the noise of their mean is the noise of each."""
    original, people = visits(seed), roles("linked", ("age", "cost"))
    mechanism = sf.AdditiveNoise(**how)
    release = mechanism(sf.read(original), people, np.random.default_rng(seed))
    both, measured = written(release, people, list(mechanism.promises), tmp_path / "r.csv", original)
    assert not set(both["pid"].astype(str)) & set(original["pid"])
    assert both.groupby("pid")["pid_before"].nunique().eq(1).all()
    assert both["pid"].nunique() == original["pid"].nunique()
    ratios = []
    for name in people.quasi:
        moved = both[f"{name}_before"] - both[name]
        if "keep_variance" not in how:
            assert moved.groupby(both["pid"]).agg(np.ptp).max() < 0.11  # a step of the grid
        person = pd.DataFrame({"x": both[f"{name}_before"], "e": moved}).groupby(both["pid"]).mean()
        ratios.append(person["e"].var(ddof=0) / person["x"].var(ddof=0))
    assert measured == [pytest.approx(min(ratios))]
    assert min(ratios) >= mechanism.promises[0].bound - 1e-9


def test_a_draw_for_each_row_would_not_do_where_rows_are_joined():
    """The measure tells: noise drawn row by row is averaged out over the rows of a person."""
    each = visits(1).drop_duplicates("pid")
    original = pd.concat([each] * 9, ignore_index=True)
    original["row"] = [f"r{i}" for i in range(len(original))]
    free, joined = roles("unlinked", ("age",)), roles("linked", ("age",))
    noisy = sf.AdditiveNoise(scale=0.4)(sf.read(original), free, np.random.default_rng(1))
    by_row = noisy.original.keep(("age", "zip", "cost", "dx", "row", "pid")).recode(noisy.recoding)
    release = sf.Release(table=by_row, original=noisy.original, recoding=noisy.recoding, perturbed=frozenset({"age"}))
    assert sf.noise_variance(noisy, free).value >= 0.16 - 1e-9
    assert sf.noise_variance(release, joined).value < 2 * 0.16 / 9


@pytest.mark.parametrize("rows", ["unlinked", "linked"])
@pytest.mark.parametrize(
    "first",
    [
        sf.Rounding(base="age=10"),
        sf.Rounding(base="cost=50", how="random"),
        sf.TopBottomCoding(top="age=85", bottom="cost=20"),
        sf.AdditiveNoise(columns="cost", scale=0.2),
    ],
    ids=lambda each: each.card.name,
)
def test_a_link_that_counts_people_follows(tmp_path, rows, first):
    """What is rounded, coded or noisy goes on to classes of k people."""
    original, people = visits(2), roles(rows)
    chain = first | sf.Mondrian(k=K)
    release = chain(sf.read(original), people, np.random.default_rng(3))
    waive = {"row": "a test's own", "cost": "a test's own"}
    found = sf.publish(release, people, [sf.k_anonymity.at_least(K)], tmp_path / "r.csv", waive=waive)
    file = pd.read_csv(tmp_path / "r.csv", dtype=str)
    if rows == "linked":
        said = file.groupby("pid")[["age", "zip"]].apply(
            lambda each: tuple(sorted(map(tuple, each.to_numpy().tolist())))
        )
        fewest = said.value_counts().min()
    else:
        fewest = file.merge(original[["row", "pid"]], on="row").groupby(["age", "zip"])["pid"].nunique().min()
    assert found.verdicts[0].score.value == fewest >= K


def test_noise_after_a_link_that_joins(tmp_path):
    original, people = visits(3), roles("linked", ("age", "zip"))
    chain = sf.TopBottomCoding(top="cost=400") | sf.AdditiveNoise(columns="age", scale=0.5)
    release = chain(sf.read(original), people, np.random.default_rng(1))
    both, measured = written(release, people, [sf.require("noise_variance >= 0")], tmp_path / "r.csv", original)
    assert both.groupby("pid")["pid_before"].nunique().eq(1).all()
    assert len(measured) == 1
    assert both["cost"].max() == ">=400"


@pytest.mark.parametrize("rows", ["unlinked", "linked"])
def test_equal_numbers_round_up_or_down_by_person_where_rows_are_joined(tmp_path, rows):
    original, people = visits(4), roles(rows, ("age",))
    release = sf.Rounding(base="age=10", how="random")(sf.read(original), people, np.random.default_rng(1))
    both, _ = written(release, people, [], tmp_path / "r.csv", original)
    assert (both["age"] % 10 == 0).all()
    assert ((both["age"] - both["age_before"]).abs() < 10).all()
    apart = both.groupby(original.set_index("row").loc[both["row"], "pid"].to_numpy())["age"].nunique().max()
    assert apart == (1 if rows == "linked" else 2)


@pytest.mark.parametrize("rows", ["unlinked", "linked"])
def test_a_code_stands_for_people_and_not_for_rows(rows):
    original = visits(5)
    most = original["pid"].value_counts().index[0]
    original.loc[original["pid"] == most, "age"] = 110  # twelve rows of one person
    table, people = sf.read(original), roles(rows, ("age",))
    with pytest.raises(Infeasible, match="only 1 people"):
        sf.TopBottomCoding(top="age=105", people=2)(table, people)
    share = sf.TopBottomCoding(top_share=0.05, people=2)(table, people).table
    counts = share.count(("age",))
    code = next(text for text in counts.columns[0].texts if text and text.startswith(">="))
    beyond = original[original["age"] >= float(code.removeprefix(">="))]
    everybody = original["pid"].nunique()
    assert beyond["pid"].nunique() >= np.ceil(0.05 * everybody)
    less = original[original["age"] > beyond["age"].min()]["pid"].nunique()
    assert less < np.ceil(0.05 * everybody)


def test_what_cannot_be_promised_of_people_is_refused_before_any_work():
    table = sf.read(visits(6))
    with pytest.raises(InputError, match="cannot count people; bring one row per person"):
        sf.IsolationNoise()(table, roles("unlinked"))
    with pytest.raises(InputError, match=r"cannot keep the rows of a person joined.*additive_noise"):
        sf.IsolationNoise()(table, roles("linked"))
    lost = visits(6)
    lost.loc[3, "pid"] = None
    for mechanism in (sf.AdditiveNoise(), sf.Rounding(), sf.TopBottomCoding(top="age=85")):
        with pytest.raises(InputError, match="nobody knows whose"):
            mechanism(sf.read(lost), roles("linked"))
