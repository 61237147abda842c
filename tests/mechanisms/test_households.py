"""k over households: every class of the written file holds k different households, counted by pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.core.errors import InputError

MECHANISMS = {
    "mondrian": lambda **more: sf.Mondrian(k=4, **more),
    "mondrian relaxed": lambda **more: sf.Mondrian(k=4, mode="relaxed", **more),
    "k_member": lambda **more: sf.KMember(k=4, **more),
    "local_suppression": lambda **more: sf.LocalSuppression(k=4, suppression=0.2, **more),
    "top_down_specialization": lambda **more: sf.TopDownSpecialization(k=4, **more),
    "generalize_full_domain": lambda **more: sf.GeneralizeFullDomain(k=4, suppression=0.1, **more),
}
UNLINKED = {"rows": "unlinked", "count": "households"}
ONE = {"rows": "one", "keep": "latest", "by": "month", "count": "households"}
WAIVE = {"row": "a test's own"}


def roles(people: dict[str, Any], **more: Any) -> sf.Roles:
    given: dict[str, Any] = {"person": "pid", "household": "home", "insensitive": ("row",), **more}
    return sf.Roles(
        quasi=("age", "zip"),
        sensitive=("dx",),
        people=people,
        hierarchies={"age": {"widths": [5, 10, 20]}, "zip": {"prefix": [1, 2, 3]}},
        source="roles.toml",
        **given,
    )


def members(seed: int, *, visits: bool = False) -> pd.DataFrame:
    """People of households, who share a postal code and are often of one age; with their visits, or a row each."""
    rng = np.random.default_rng(seed)
    homes = 60
    home = np.repeat(np.arange(homes), rng.integers(1, 6, homes))
    people = len(home)
    age = (30 + rng.integers(0, 20, homes))[home] + rng.integers(0, 3, people)
    who = np.repeat(np.arange(people), rng.integers(1, 4, people)) if visits else np.arange(people)
    return pd.DataFrame(
        {
            "pid": [f"p{i}" for i in who],
            "home": [f"h{i}" for i in home[who]],
            "age": age[who],
            "zip": 1000 + rng.integers(0, 9, homes)[home][who],
            "month": rng.integers(1, 13, len(who)),
            "dx": rng.choice(list("abcdef"), len(who)),
            "row": [f"r{i}" for i in range(len(who))],
        }
    )


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("kind", ["one row each", "unlinked", "one"])
def test_every_class_of_the_file_holds_k_households(name: str, kind: str, tmp_path: Path) -> None:
    frame = members(1, visits=kind != "one row each")
    ours = roles({"one row each": {"count": "households"}, "unlinked": UNLINKED, "one": ONE}[kind])
    release = MECHANISMS[name]()(sf.read(frame), ours, np.random.default_rng(0))
    found = sf.publish(release, ours, [sf.k_anonymity.at_least(4)], tmp_path / "r.csv", waive=WAIVE)
    written = pd.read_csv(tmp_path / "r.csv", dtype=str, keep_default_na=False)
    assert not {"pid", "home"} & set(written.columns)
    both = written.merge(frame[["row", "pid", "home"]], on="row", validate="one_to_one")
    classes = both.groupby(["age", "zip"])
    assert classes["home"].nunique().min() >= 4
    assert classes["pid"].nunique().min() >= 4  # different households are different people
    score = found.verdicts[0].score
    assert (score.value, score.unit) == (classes["home"].nunique().min(), "households")
    if kind == "one":
        assert both["pid"].is_unique


def test_k_people_would_not_do() -> None:
    """The same k on people leaves classes of fewer households, so counting people could not pass the test above."""
    frame = members(1)
    people = sf.Mondrian(k=4)(sf.read(frame), roles({}))
    assert sf.k_anonymity(people, roles({})).value >= 4
    assert sf.k_anonymity(people, roles({"count": "households"})).value < 4


def test_sensitive_values_weigh_every_household_alike(tmp_path: Path) -> None:
    frame, ours = members(2, visits=True), roles(UNLINKED)
    require = (sf.require("entropy_l_diversity(dx) >= 2"),)
    release = sf.Mondrian(k=4, require=require)(sf.read(frame), ours)
    found = sf.publish(release, ours, require, tmp_path / "r.csv", waive=WAIVE)
    both = pd.read_csv(tmp_path / "r.csv").merge(frame[["row", "home"]], on="row")
    both["weight"] = 1 / both["home"].map(frame["home"].value_counts())
    shares = [rows.groupby("dx")["weight"].sum() / rows["weight"].sum() for _, rows in both.groupby(["age", "zip"])]
    least = min(2 ** -(share * np.log2(share)).sum() for share in shares)
    assert found.verdicts[0].score.value == pytest.approx(least)
    assert least >= 2 - 1e-9


def test_households_of_one_are_people() -> None:
    """The extreme: where everybody lives alone, households are people, and the release is the same."""
    frame = members(3).drop_duplicates("home")
    one, other = (sf.Mondrian(k=4)(sf.read(frame), ours) for ours in (roles({"count": "households"}), roles({})))
    assert one.table.to_arrow().equals(other.table.to_arrow())


def test_what_cannot_count_households_is_refused() -> None:
    table = sf.read(members(0))
    ours = roles({"count": "households"})
    with pytest.raises(InputError, match="microaggregation cannot count households"):
        sf.Microaggregation(k=4)(table, ours)
    moved = members(0, visits=True)
    moved.loc[moved.groupby("pid").cumcount() == 1, "home"] = "h0"
    with pytest.raises(InputError, match="some people have rows in several households"):
        sf.Mondrian(k=4)(sf.read(moved), roles(UNLINKED))
    with pytest.raises(InputError, match="some people have several rows"):  # what is promised to them is not said yet
        sf.Mondrian(k=4)(sf.read(members(0, visits=True)), ours)
    with pytest.raises(InputError, match="counted in people"):
        sf.Mondrian(k=4, require=(sf.require("k_map >= 4"),), population=table)(table, ours)


@pytest.mark.parametrize(
    ("people", "more", "said"),
    [
        ({"count": "households"}, {"household": None}, 'household = "..."'),
        ({"count": "homes"}, {}, '"people" or "households"'),
        ({"rows": "linked", "count": "households"}, {}, "unknown key 'count'"),
    ],
)
def test_the_keys_are_checked(people: dict[str, Any], more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        roles(people, **more)


def test_the_household_is_never_released(tmp_path: Path) -> None:
    frame, ours = members(1), roles({})
    release = sf.Mondrian(k=2)(sf.read(frame), ours)
    assert "home" not in release.table.columns
    told = sf.verify(sf.read(frame[["age", "zip", "dx", "home"]]), ours, [])
    assert any("'home' is the household column" in problem for problem in told.problems)
    (tmp_path / "roles.toml").write_text(ours.toml())
    assert sf.Roles.read(tmp_path / "roles.toml").household == "home"


def test_the_package_says_whose_limits_they_are(tmp_path: Path) -> None:
    ours = roles({"count": "households"}, insensitive=())
    study = sf.Study(
        table=sf.read(members(1)),
        roles=ours,
        candidates=[sf.Candidate.of("mondrian k=4")],
        require=[sf.k_anonymity.at_least(4)],
    )
    sf.write_package(study.run(refine=0), tmp_path / "package")
    said = (tmp_path / "package" / "README.md").read_text()
    assert "different households" in said
    assert "home" not in (tmp_path / "package" / "roles.toml").read_text()
