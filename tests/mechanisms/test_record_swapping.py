"""Households swapped as a whole: who is at risk by counting with pandas, what stays exact, and what an owner sees of it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli import app
from sfumato.core.errors import InputError

AREAS = ["region", "town"]
ROLES = sf.Roles(quasi=("region", "town", "age", "sex"), insensitive=("row",), household="hid")


def census(homes=400, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 12, homes)
    who = np.repeat(np.arange(homes), rng.integers(1, 4, homes))
    return pd.DataFrame(
        {
            "hid": [f"h{i}" for i in who],
            "region": [f"r{i // 4}" for i in town[who]],
            "town": [f"t{i}" for i in town[who]],
            "age": rng.choice(8, len(who), p=[0.25, 0.25, 0.2, 0.15, 0.08, 0.04, 0.02, 0.01]),
            "sex": rng.choice(["f", "m"], len(who)),
            "row": [f"n{i}" for i in range(len(who))],
        }
    )


def swapped(data, seed=0, roles=ROLES, **settings):
    release = sf.RecordSwapping(**{"areas": "region,town", **settings})(
        sf.read(data), roles, np.random.default_rng(seed)
    )
    after = release.to_pandas().set_index("row").loc[data["row"]].reset_index()
    return release, after.assign(hid=data["hid"].to_numpy())


def at_risk(data, areas, k):
    """Households with somebody whose age and sex fewer than k rows of the area have."""
    rare = data.groupby([*areas, "age", "sex"])["age"].transform("size") < k
    return set(data.loc[rare, "hid"])


def profile(data, columns):
    """What the members of each household have, whoever has it."""
    said = data[columns].astype(str).agg(" ".join, axis=1) if columns else pd.Series("", index=data.index)
    return said.groupby(data["hid"]).agg(lambda own: " / ".join(sorted(own)))


@pytest.mark.parametrize("similar", ["", "sex", "age,sex"])
def test_households_move_as_a_whole_to_where_alike_ones_were(similar):
    data = census()
    _, after = swapped(data, similar=similar, k=3, rate=0.1)
    assert after[["age", "sex"]].equals(data[["age", "sex"]])
    assert (after.groupby("hid")[AREAS].nunique() == 1).all(axis=None)
    columns = similar.split(",") if similar else []
    before_home, after_home = (each.groupby("hid")[AREAS].first() for each in (data, after))
    alike = profile(data, columns)
    for depth in (1, 2):  # every count of households by area and profile is exact, at every level
        was, now = (pd.crosstab(alike, [home[name] for name in AREAS[:depth]]) for home in (before_home, after_home))
        assert was.equals(now)
    moved = (before_home != after_home).any(axis=1)
    assert moved.mean() >= 0.1
    if not similar:
        everybody = at_risk(data, AREAS, 3)
        assert everybody
        assert moved[list(everybody)].all()


def test_who_stands_out_in_a_region_leaves_it():
    data = census(1_500)
    _, after = swapped(data, k=4, rate=0)
    by_region, by_town = at_risk(data, AREAS[:1], 4), at_risk(data, AREAS, 4)
    assert by_region < by_town
    was, now = (each.groupby("hid")[AREAS].first() for each in (data, after))
    assert (was.loc[list(by_region), "region"] != now.loc[list(by_region), "region"]).all()
    only_town = list(by_town - by_region)
    same_region = was.loc[only_town, "region"] == now.loc[only_town, "region"]
    partners = (was["region"] != now["region"]).sum()
    assert partners <= 2 * len(by_region) + 2 * (~same_region).sum()
    assert same_region.mean() > 0.7  # those who were not drawn as somebody's donor stay in their region
    assert (was.loc[only_town, "town"] != now.loc[only_town, "town"]).all()


def test_the_rarer_are_the_likelier_and_the_share_is_met():
    """Without anybody at risk, households are drawn by how rare they are."""
    data = census()
    rarest = data.groupby([*AREAS, "age", "sex"])["age"].transform("size").groupby(data["hid"]).min()
    times = pd.Series(0, index=rarest.index)
    for seed in range(30):
        release, after = swapped(data, seed, k=1, rate=0.2)
        moved = data.groupby("hid")["town"].first() != after.groupby("hid")["town"].first()
        assert moved.sum() in (80, 81)
        assert "0 stood out" in release.notes[0]
        times += moved
    assert times[rarest == 1].mean() > 2 * times[rarest >= 5].mean()
    none, after = swapped(data, k=1, rate=0)
    assert after[AREAS].equals(data[AREAS])
    assert "0 were swapped" in none.notes[0]


def test_lists_are_tried_in_turn_and_nobody_alike_stays():
    data = census(60)
    strict = swapped(data, similar="age,sex", k=3, rate=0)[0].notes[0]
    loose = swapped(data, similar="age,sex|sex|", k=3, rate=0)[0].notes[0]
    left = [
        int(note.split(" stood out in an area, and ")[1].split(" of")[0].replace(",", "")) for note in (strict, loose)
    ]
    assert left[0] > 5 > 2 > left[1]  # one may stay where all of its size have been swapped


def test_rows_by_themselves_and_linked_people():
    data = census(300)
    alone = sf.Roles(quasi=("region", "town", "age", "sex"), insensitive=("row",))
    release = sf.RecordSwapping(areas="town", k=2, rate=0.1)(sf.read(data), alone, np.random.default_rng(0))
    after = release.to_pandas().set_index("row").loc[data["row"]]
    assert sorted(after["town"]) == sorted(data["town"])
    assert release.perturbed == {"town"}
    linked = sf.Roles(
        quasi=("region", "town", "age", "sex"), insensitive=("row",), person="hid", people={"rows": "linked"}
    )
    _, after = swapped(data, roles=linked, k=2, rate=0.1)
    assert (after.groupby("hid")[AREAS].nunique() == 1).all(axis=None)
    released = sf.RecordSwapping(areas="region,town")(sf.read(data), linked).to_pandas()
    mine = data.set_index("row")["hid"]
    assert (released.groupby("hid")["row"].agg(lambda own: mine[own].nunique()) == 1).all()


def test_from_the_command_line_with_what_it_cost(tmp_path):
    census().drop(columns="row").to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "r.toml").write_text(
        '[roles]\nquasi = ["region", "town", "age"]\nsensitive = ["sex"]\nhousehold = "hid"\n'
    )
    words = ["sanitize", f"{tmp_path}/t.csv", "--roles", f"{tmp_path}/r.toml", "--out", f"{tmp_path}/o.csv", "--json"]
    mechanism = "record_swapping areas=region,town similar=age k=3"
    found = CliRunner().invoke(app, [*words, "--mechanism", mechanism, "--require", "pair_distance <= 0.3"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert (told["suppressed"], told["perturbed"]) == (0, ["region", "town"])
    assert "hid" not in pd.read_csv(tmp_path / "o.csv")


def test_refusals():
    data = census(50)
    torn = data.assign(town=np.arange(len(data)) % 3)
    with pytest.raises(InputError, match="several areas of 'town'"):
        swapped(torn, areas="town")
    for settings, said in (
        ({"areas": ""}, "needs areas"),
        ({"similar": "town"}, "is an area"),
        ({"risk": "gone"}, "no column 'gone'"),
    ):
        with pytest.raises(InputError, match=said):
            swapped(data, **settings)
