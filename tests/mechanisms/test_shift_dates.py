"""Dates moved by one offset a person: spans stay, offsets differ and keep within the range, and a chain limits what spans still tell."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.core.errors import InputError

LINKED = sf.Roles(
    person="pid", quasi=("sex", "seen"), sensitive=("dx",), insensitive=("row",), people={"rows": "linked"}
)


def visits(people=120):
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(people), rng.integers(1, 4, people))
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, len(who))
    return pd.DataFrame(
        {
            "pid": [f"p{i}" for i in who],
            "sex": np.array(["f", "m"])[rng.integers(0, 2, people)[who]],
            "seen": np.where(rng.random(len(who)) < 0.05, None, day.astype(str)),
            "dx": rng.choice(list("abc"), len(who)),
            "row": [f"r{i}" for i in range(len(who))],
        }
    )


def moved(release, original):
    """The days by which each date was moved, with whose it is."""
    both = (
        release.to_pandas().merge(original, on="row", suffixes=("", "_before")).dropna(subset=["seen", "seen_before"])
    )
    return both.assign(by=(pd.to_datetime(both["seen"]) - pd.to_datetime(both["seen_before"])).dt.days)


def test_one_offset_a_person_within_the_range():
    original = visits()
    release = sf.ShiftDates(days=20)(sf.read(original), LINKED, np.random.default_rng(0))
    found = moved(release, original)
    offsets = found.groupby("pid_before")["by"]
    assert (offsets.nunique() == 1).all()
    first = offsets.first()
    assert first.between(-20, 20).all()
    assert first.nunique() > 20  # never one per file
    assert len(release.to_pandas()) == len(original)
    assert release.to_pandas()["seen"].isna().sum() == original["seen"].isna().sum()
    again = sf.ShiftDates(days=20)(sf.read(original), LINKED)
    assert (moved(again, original).groupby("pid_before")["by"].first() != first).mean() > 0.8


def test_every_offset_is_about_as_likely():
    original = visits(4_000).dropna()
    found = moved(sf.ShiftDates(days=2)(sf.read(original), LINKED, np.random.default_rng(5)), original)
    shares = found.groupby("pid_before")["by"].first().value_counts(normalize=True)
    assert set(shares.index) == {-2, -1, 0, 1, 2}
    assert shares.between(0.17, 0.23).all()


def test_a_chain_limits_histories_and_the_file_shows_it(tmp_path):
    original = visits()
    require = (sf.require("distinct_l_diversity(dx) >= 2"),)
    made = (sf.ShiftDates(days=30) | sf.Mondrian(k=4, require=require))(
        sf.read(original), LINKED, np.random.default_rng(1)
    )
    found = sf.publish(
        made, LINKED, [sf.k_anonymity.at_least(4), *require], tmp_path / "r.csv", waive={"row": "a test's own"}
    )
    file = pd.read_csv(tmp_path / "r.csv", dtype=str, keep_default_na=False)
    tuples = file[["sex", "seen"]].apply(tuple, axis=1)
    sizes = tuples.groupby(file["pid"]).apply(lambda own: tuple(sorted(own))).value_counts()
    assert sizes.min() >= 4
    assert found.verdicts[0].score.value == sizes.min()
    assert found.people is not None


def test_rows_of_their_own_and_what_is_refused():
    alone = visits().drop(columns="pid")
    roles = sf.Roles(quasi=("sex", "seen"), sensitive=("dx",), insensitive=("row",))
    by = moved(sf.ShiftDates(days=9)(sf.read(alone), roles, np.random.default_rng(2)), alone)["by"]
    assert by.between(-9, 9).all()
    assert by.nunique() > 9
    with pytest.raises(InputError, match="no column of dates"):
        sf.ShiftDates(columns="sex")(sf.read(alone), roles)
    with pytest.raises(InputError, match="finds no column of dates"):
        sf.ShiftDates()(sf.read(alone.drop(columns="seen")), sf.Roles(quasi=("sex",), insensitive=("row",)))
    with pytest.raises(InputError, match="whole number"):
        sf.ShiftDates(days=0)
    early = alone.assign(seen="0001-01-02")
    with pytest.raises(InputError, match="outside the years"):
        sf.ShiftDates(days=30)(sf.read(early), roles, np.random.default_rng(0))
