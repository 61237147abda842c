"""The space of the attacks by nearness: distances against a walk through the rows, and what must never be nearer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from wp29_house import ROLES, apart, check_nearest, made, mangled, numbered, people, person, table, take

import sfumato as sf
from sfumato.attacks.lookup import space as space_module
from sfumato.attacks.lookup import targets as targets_module
from sfumato.attacks.lookup.space import Space
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.release import Release

NAMES = ("age", "place", "sex")


def away(release: Release, roles: sf.Roles, control: Any = None, names: tuple[str, ...] = NAMES) -> Any:
    """Distances of all people (or of the control) from all released rows, with both sides' rows as texts."""
    space = Space.of(release, roles, control, seed=0)
    frame = space.original if control is None else space.control
    assert frame is not None
    targets = space.targets(frame, names, 10**9, 0)
    found = targets.distances(np.arange(len(targets)), names)[:, space.tuples(names).member]
    sides = []
    for side in (frame, space.released):
        columns = {name: [side.texts(name)[c] for c in side.codes[name]] for name in space.names}
        sides.append(numbered(columns))
    return found, *sides


@pytest.mark.parametrize("seed", range(4))
def test_against_a_walk_through_the_rows(seed: int) -> None:
    original, released = mangled(seed)
    strangers = people(9, seed + 50)
    strangers["age"][0], strangers["place"][1], strangers["age"][2] = None, None, 300
    for control in (None, table(strangers)):
        found, asked, rows = away(made(released, original), ROLES, control)
        assert len(found) == (30 if control is None else 9)
        for i in range(len(found)):
            assert found[i] == pytest.approx(apart(rows, original, person(asked, i), NAMES), abs=1e-9)


def test_blocks_chunks_and_parts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    original, released = mangled(7)
    before = away(made(released, original), ROLES)[0]
    for part, chunk in ((1, 100_000), (10**9, 7), (30, 1)):
        monkeypatch.setattr(targets_module, "_PART", part)
        monkeypatch.setattr(targets_module, "_CHUNK", chunk)
        assert away(made(released, original), ROLES)[0] == pytest.approx(before, abs=1e-12)
    noisy = {**original, "age": [None if a is None else a + 0.5 for a in original["age"]]}
    whole = people(30)
    for mixed in (noisy, whole):
        monkeypatch.setattr(targets_module, "_PART", 1)
        one = away(made(mixed, whole), ROLES)[0]
        monkeypatch.setattr(targets_module, "_PART", 10**9)
        assert away(made(mixed, whole), ROLES)[0] == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize("count", [1, 2, 5, 26])
def test_the_nearest_are_found_without_looking_at_all(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = people(60, 5)
    rng = np.random.default_rng(2)
    numbers = {"age": rng.random(26).tolist(), "sick": rng.random(26).tolist()}
    cases = [made(mangled(seed)[1], mangled(seed)[0]) for seed in range(3)]
    cases += [made({**columns, "age": rng.random(60).tolist()}, columns), made(take(numbers, [*range(26)]), numbers)]
    for release in cases:
        roles = ROLES if "place" in release.table.columns else sf.Roles(quasi=("age", "sick"))
        space = Space.of(release, roles, None, seed=0)
        names = tuple(name for name in NAMES if name in space.names)
        for part in (1, 4096):
            monkeypatch.setattr(targets_module, "_PART", part)
            check_nearest(space, names, 10**9, count)


def test_a_wide_class_that_covers_is_nearer_than_a_narrow_one_next_to_it() -> None:
    """29 is in [0,30), whose middle is far away, and not in [30,32)."""
    original = {"age": [*range(32)], "sex": ["F"] * 32}
    released = {"age": ["[0,30)"] * 30 + ["[30,32)"] * 2, "sex": ["*"] * 30 + ["F"] * 2}
    found, asked, rows = away(made(released, original), sf.Roles(quasi=("age", "sex")), names=("age", "sex"))
    at = asked["age"].index(29)
    inside = [i for i, label in enumerate(rows["age"]) if label == "[0,30)"]
    outside = [i for i, label in enumerate(rows["age"]) if label == "[30,32)"]
    assert found[at][inside].max() < found[at][outside].min()


def test_of_classes_that_cover_the_narrowest_is_nearest() -> None:
    original = {"age": [10, 20, 30, 40], "place": ["v0", "v1", "v2", "v3"]}
    released = {"age": ["*", "[10,20]", "[10,30]"], "place": ["region 0", "*", "region 0"]}
    roles = sf.Roles(quasi=("age", "place"), hierarchies=ROLES.hierarchies)
    found, asked, rows = away(made(released, original), roles, names=("age", "place"))
    at = asked["age"].index(10)
    order = [rows["age"][i] for i in np.argsort(found[at])]
    assert order == ["[10,20]", "[10,30]", "*"]  # 2 * 4, 3 * 3 and 4 * 3 values


def test_many_texts_are_all_told_apart() -> None:
    """More than the places that miners give to the values of one column."""
    names = [f"name {i}" for i in range(700)]
    columns = {"name": names, "sex": ["FM"[i % 2] for i in range(700)]}
    found, asked, rows = away(made(columns, columns), sf.Roles(quasi=("name", "sex")), names=("name",))
    assert ((found == 0) == (np.array(asked["name"])[:, None] == np.array(rows["name"]))).all()
    assert np.isin(found, (0, 1)).all()


def test_texts_that_nobody_can_read_are_not_alike() -> None:
    original, released = {"x": ["a", "b"], "y": ["1", "2"]}, {"x": ["?", "a"], "y": ["1", "2"]}
    strangers = table({"x": ["c", "?", None], "y": ["1", "1", "1"]})
    found, asked, rows = away(made(released, original), sf.Roles(quasi=("x", "y")), strangers, names=("x",))
    for i, value in enumerate(asked["x"]):
        for j, label in enumerate(rows["x"]):
            assert found[i, j] == (0 if value == label else 1)


def test_a_column_that_is_the_same_everywhere() -> None:
    columns = {"age": [40] * 5, "sex": ["F"] * 5}
    assert (away(made(columns, columns), sf.Roles(quasi=("age", "sex")), names=("age", "sex"))[0] == 0).all()


def test_who_is_whose_is_not_asked() -> None:
    """A key that pairs nothing, or rows in another order, are no obstacle: no adversary has the pairs."""
    columns = people(40)
    turned = take(columns, np.random.default_rng(1).permutation(40).tolist())
    before = away(made(columns, columns, pairing="position"), ROLES)[0]
    for release in (
        made(turned, columns),
        made(columns, columns, pairing="key:nope"),
        made(turned, columns, pairing="position"),
    ):
        assert (away(release, ROLES)[0] == before).all()


def test_columns_joined_by_groups_are_dealt_out() -> None:
    columns = people(60)
    release = sf.Anatomy(l=2)(table(columns), ROLES, np.random.default_rng(1))
    space = Space.of(release, ROLES, None, seed=0)
    assert set(space.names) == {"age", "place", "sex", "sick"}
    assert len(space.released) == release.table.rows


def test_more_rows_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space_module, "MOST", 25)
    columns = people(40)
    space = Space.of(made(columns, columns), ROLES, None, seed=0)
    assert (space.sampled, len(space.original), len(space.released)) == (True, 25, 25)
    kept = {tuple(row) for row in zip(*columns.values(), strict=True)}
    frame = space.released
    texts = zip(*([frame.texts(n)[c] for c in frame.codes[n]] for n in columns), strict=True)
    assert {(int(a), *rest) for a, *rest in texts} <= kept  # type: ignore[arg-type]


def test_refusals(refusal: Any) -> None:
    columns = people(20)
    release = made(columns, columns)

    def read(release: Release, roles: sf.Roles = ROLES, control: Any = None) -> Any:
        return lambda: Space.of(release, roles, control, seed=0)

    refusal(Unavailable, read(made(columns, columns, statistics=True)), "statistics")
    refusal(Unavailable, read(Release(table=table(columns))), "--original")
    refusal(InputError, read(made({"else": [1]}, columns)), "none of the columns")
    refusal(InputError, read(made({n: [] for n in columns}, columns)), "no rows")
    refusal(InputError, read(release, control=table({"age": [1]})), "place")
    refusal(InputError, read(release, control=table({n: [] for n in columns})), "no rows")
    space = Space.of(release, ROLES, None, seed=0)
    refusal(InputError, lambda: space.columns(["nope"], "linkability"), "nope", "linkability")
    refusal(InputError, lambda: space.columns([], "linkability"), "linkability")
