"""`local_noise`: the right noise on every value, bounds that never come from the data, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from noise_checks import epsilon_at_least, fits, rejects_other_scales, written

import sfumato as sf
from house import rng
from sfumato.core.errors import Infeasible, InputError, Unavailable
from sfumato.core.table import Table
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.differential_privacy.budget import Budget
from sfumato.mechanisms.local_noise import LocalNoise

ROLES = sf.Roles(quasi=("age", "zip"), sensitive=("illness",), identifiers=("name",))


def people(ages: list[Any], **more: list[Any]) -> Table:
    rows = len(ages)
    columns = {
        "name": [f"p{i}" for i in range(rows)],
        "age": ages,
        "zip": ["10115"] * rows,
        "illness": [f"i{i:05d}" for i in range(rows)],
        **more,
    }
    return sf.read(pa.table(columns))


def ages(release: sf.Release, folder: Path) -> dict[str, str]:
    return {row["illness"]: row["age"] for row in written(release, folder)}


@pytest.mark.parametrize("seed", [7, None])
def test_every_value_gets_noise_as_wide_as_the_bounds(tmp_path: Path, seed: int | None) -> None:
    """The mining paper's age: sensitivity 82, epsilon 0.5, so scale 164. The data's own range, 40 to 41, plays no part."""
    table = people([40, 41] * 5000)
    release = LocalNoise(bounds="age=17:99", epsilon=0.5)(table, ROLES, None if seed is None else rng(seed))
    noise = np.array([int(age) - (40 if int(i[1:]) % 2 == 0 else 41) for i, age in ages(release, tmp_path).items()])
    assert fits(noise, 164.0)
    assert rejects_other_scales(noise, 164.0)


def test_the_range_from_1_to_16_is_15_wide(tmp_path: Path) -> None:
    """The mining paper adds noise for 16 to education; and its density, without 1/sensitivity, would not sum to 1."""
    release = LocalNoise(bounds="age=1:16", epsilon=0.1)(people([9] * 10_000), ROLES, rng())
    noise = np.array([int(age) - 9 for age in ages(release, tmp_path).values()])
    assert fits(noise, 150.0)
    assert not fits(noise, 160.0 * 1.2)


def test_progress_is_told_to_the_end() -> None:
    told: list[float] = []
    roles = sf.Roles(quasi=("age", "income"))
    made_by = LocalNoise(bounds="age=17:99, income=0:10", epsilon=1)
    made_by(people([30, 40], income=[1, 2]), roles, rng(), progress=told.append)
    assert told == [0.5, 1.0]


def test_two_values_cannot_be_told_apart_by_more_than_epsilon(tmp_path: Path) -> None:
    """The two ends of the bounds, 20,000 people each: the estimate comes near epsilon and not above it."""
    made_by = LocalNoise(bounds="age=17:99", epsilon=1)
    drawn = []
    for age in (17, 99):
        release = made_by(people([age] * 20_000), ROLES, rng(age))
        drawn.append(np.array([int(row["age"]) for row in written(release, tmp_path)]))
    assert 0.8 < epsilon_at_least(*drawn) <= 1


def test_reals_are_put_on_a_grid(tmp_path: Path) -> None:
    table = people([0.5] * 5000)
    release = LocalNoise(bounds="age=0.00:1.00", epsilon=2)(table, ROLES, rng())
    steps = np.array([float(age) for age in ages(release, tmp_path).values()]) * 100
    assert np.abs(steps - np.rint(steps)).max() < 1e-6
    assert all(len(age.partition(".")[2]) <= 2 for age in ages(release, tmp_path).values())
    assert fits(np.rint(steps).astype(np.int64) - 50, 50.0)


def test_an_extreme_value_inside_the_bounds_changes_nothing_but_itself(tmp_path: Path) -> None:
    one, other = people([*range(20, 60), 70]), people([*range(20, 60), 98])
    made_by = LocalNoise(bounds="age=17:99", epsilon=1)
    first, second = (ages(made_by(table, ROLES, rng()), tmp_path) for table in (one, other))
    changed = [i for i in first if first[i] != second[i]]
    assert changed == ["i00040"]
    assert int(second["i00040"]) - int(first["i00040"]) == 28


def test_what_is_outside_the_bounds_is_moved_to_the_nearest(tmp_path: Path) -> None:
    made_by = LocalNoise(bounds="age=17:99", epsilon=1)
    inside, outside = people([17, 50, 99]), people([-1000, 50, 10**9])
    assert ages(made_by(inside, ROLES, rng()), tmp_path) == ages(made_by(outside, ROLES, rng()), tmp_path)
    infinite = people([float("-inf"), 50.0, float("inf")])
    assert ages(made_by(inside, ROLES, rng()), tmp_path) == ages(made_by(infinite, ROLES, rng()), tmp_path)


def test_clamped_after_noise_too_if_asked(tmp_path: Path) -> None:
    table = people([50] * 500)
    free = ages(LocalNoise(bounds="age=17:99", epsilon=1)(table, ROLES, rng()), tmp_path)
    clamped = ages(LocalNoise(bounds="age=17:99", epsilon=1, clamp=True)(table, ROLES, rng()), tmp_path)
    assert {int(a) for a in clamped.values()} <= set(range(17, 100))
    assert sorted(min(max(int(a), 17), 99) for a in free.values()) == sorted(int(a) for a in clamped.values())


def test_missing_values_are_hidden_unless_they_are_to_be_kept(tmp_path: Path) -> None:
    table = people([None, 58, None, 20])
    middle = ages(LocalNoise(bounds="age=17:99", epsilon=1)(table, ROLES, rng()), tmp_path)
    assert all(middle.values())
    alike = ages(LocalNoise(bounds="age=17:99", epsilon=1)(people([58, 58, 58, 20]), ROLES, rng()), tmp_path)
    assert sorted(middle.values()) == sorted(alike.values())  # 58 is the middle
    release = LocalNoise(bounds="age=17:99", epsilon=1, missing="keep")(table, ROLES, rng())
    assert [bool(age) for _, age in sorted(ages(release, tmp_path).items())] == [False, True, False, True]
    assert any("which values are missing" in note for note in release.notes)
    empty = people([None, None])
    assert all(ages(LocalNoise(bounds="age=17:99", epsilon=1)(empty, ROLES, rng()), tmp_path).values())


def test_it_is_called_local_and_never_measured() -> None:
    table = people([30, 40], income=[1, 2])
    roles = sf.Roles(quasi=("age", "income"))
    made_by = LocalNoise(bounds="age=17:99, income=0:10", epsilon=0.5)
    release = made_by(table, roles)
    assert release.notes[0] == (
        "Promised by construction, not measured: LOCAL differential privacy, epsilon 0.5 for each value of age, income, and so "
        "1 for a row, where neighbouring tables differ by one value, changed; the number of rows is public; no file can show it."
    )
    assert release.notes[1].startswith("Privacy budget spent: epsilon 1 of 1: 0.5 on each value of age; 0.5 on each")
    assert not any("seed" in note for note in release.notes)
    assert "LOCAL" in made_by.card.promise
    assert made_by.promises == ()
    assert release.perturbed == {"age", "income"}
    with pytest.raises(Unavailable, match="was perturbed"):
        sf.k_anonymity(release, roles)


def test_a_seed_repeats_the_bytes_and_is_told(tmp_path: Path) -> None:
    made_by, table = LocalNoise(bounds="age=17:99", epsilon=1), people(list(range(20, 90)))
    files = []
    for name, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        release = made_by(table, ROLES, rng(seed))
        sf.publish(release, ROLES, made_by.promises, tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] != files[2]
    assert release.notes[0].startswith("Seeded, so that the noise is for tests and nothing is promised")
    assert table.count(("age",)).columns[0].texts == [str(a) for a in range(20, 90)]


def test_one_row_constant_columns_and_odd_names(tmp_path: Path) -> None:
    odd = 'a, "b"=c'
    table = sf.read(pa.table({odd: [3.5], "k": ["x"]}))
    roles = sf.Roles(quasi=(odd,), insensitive=("k",))
    release = mechanism("local_noise").of({"bounds": '"a, ""b""=c"=0.0:5.0:0.5', "epsilon": "1"})(table, roles, rng())
    assert float(written(release, tmp_path)[0][odd]) % 0.5 == 0


def test_a_shared_budget_is_charged_before_noise_and_not_overdrawn() -> None:
    budget = Budget(1)
    made_by = LocalNoise(bounds="age=17:99", epsilon=0.6, budget=budget)
    made_by(people([30]), ROLES, rng())
    with pytest.raises(Infeasible, match=r"local_noise: it asks for epsilon 0.6, and 0.4 of 1 is left"):
        made_by(people([30]), ROLES, rng())
    assert budget.spent[0] * 10 == 6
    assert "budget" not in made_by.settings()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"bounds": "age=17:99"}, "needs an epsilon"),
        ({"bounds": "age=17:99", "epsilon": "0"}, "epsilon must be a number above 0"),
        ({"bounds": "age=17:99", "epsilon": "nan"}, "epsilon must be a number above 0"),
        ({"bounds": "age=17:99", "epsilon": "inf"}, "infinite epsilon"),
        ({"epsilon": "1"}, "needs bounds"),
        ({"bounds": "age", "epsilon": "1"}, "bounds reads NAME="),
        ({"bounds": "age=17", "epsilon": "1"}, "low:high or low:high:step"),
        ({"bounds": "age=99:17", "epsilon": "1"}, "must be below the upper"),
        ({"bounds": "age=17:99:10", "epsilon": "1"}, "whole multiples of a step"),
        ({"bounds": "age=0:1:0", "epsilon": "1"}, "whole multiples of a step"),
        ({"bounds": "age=0:99999999999", "epsilon": "1"}, "too fine"),
        ({"bounds": "age=17:99, age=1:2", "epsilon": "1"}, "states column 'age' twice"),
        ({"bounds": "age=17:99", "epsilon": "1", "missing": "no"}, "must be one of middle, keep"),
        ({"bounds": "age=17:99", "epsilon": "1", "budget": "3"}, "cannot be set from a text"),
    ],
)
def test_refusals_of_parameters(settings: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        mechanism("local_noise").of(settings)


def test_what_is_no_number_is_missing_and_a_person_has_one_row(tmp_path: Path) -> None:
    made_by = LocalNoise(bounds="age=17:99", epsilon=1)
    odd, blank = (ages(made_by(people([some, "20"]), ROLES, rng()), tmp_path) for some in ("young", None))
    assert sorted(odd.values()) == sorted(blank.values())
    roles = sf.Roles(quasi=("age",), person="name")
    rows = written(made_by(people([30, 30, 40], name=["p", "p", "q"]), roles, rng()), tmp_path)
    assert rows == written(made_by(people([30, 40], name=["p", "q"]), roles, rng()), tmp_path)


def test_refusals_of_tables() -> None:
    made_by = LocalNoise(bounds="age=17:99", epsilon=1)
    with pytest.raises(InputError, match="'age' has no role that may be released"):
        made_by(people([30]), sf.Roles(quasi=("zip",), identifiers=("age",)), rng())
    with pytest.raises(InputError, match="cannot steer by k_anonymity >= 5"):
        LocalNoise(bounds="age=17:99", epsilon=1, require=(sf.require("k_anonymity >= 5"),))
