"""Bad utility worked out by hand, the scenarios A, B and C, and what a planted leak, noise and nothing at all show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mining_house import ROLES, Says, SaysNumbers, SaysNumbersToo, paired, people, table

import sfumato as sf
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.release import Release
from sfumato.mining.outcome import AimOutcome, BadOutcome
from sfumato.mining.scenario import AIMS

TRUE: dict[str, list[Any]] = {
    "x": [0, 1, 2, 3, 4, 5],
    "age": [20, 30, 40, 50, 60, 70],
    "sex": ["F", "F", "M", "M", "F", "M"],
}
NOISY = {**TRUE, "age": [25, 30, 30, 60, 70, 65]}  # 5, 0, 10, 10, 10, 5 away
SAID = [21, 30, 35, 59.4, 60, 80]  # 1, 0, 5, 9, 0, 10 away
X_ROLES = sf.Roles(quasi=("x", "age"), sensitive=("sex",))
HALF = sf.Aim(name="half", nearer=50)


def attacked(release: Release, roles: sf.Roles = X_ROLES, *, folds: int = 2, seed: int = 0, **bad: Any) -> BadOutcome:
    bad = {"field": "age", "miners": [SaysNumbers(SAID)], **bad}
    found = sf.mine(release, roles, sf.Scenario(bad=sf.Bad(**bad), folds=folds, seed=seed))["release"].bad
    assert found is not None
    return found


def test_numbers() -> None:
    found = attacked(paired(NOISY, TRUE), aims=(*AIMS[:2], HALF))
    assert found.task == "numbers"
    a, b, half = found.aims
    assert a.worst.value == 4  # the first, third, fourth (9 of 10) and fifth; the second was told
    assert b.worst.value == 2  # the second and the fifth
    assert half.worst.value == 4  # the first, the second (it is told), the third (5 of 10: just so), the fifth
    assert a.told == b.told == 1
    assert a.total == 6
    assert a.baseline.value == 1  # 40 for everybody: nearer for the third alone
    assert a.worst_miner == "SaysNumbers"


def test_average_worst_and_the_worst_miner() -> None:
    other = SaysNumbersToo([20, 99, 99, 99, 99, 99])
    found = attacked(paired(NOISY, TRUE), miners=[other, SaysNumbers(SAID)], aims=AIMS[:2])
    a, b = found.aims
    assert (a.average.value, a.worst.value, a.worst_miner) == (2.5, 4, "SaysNumbers")
    assert (b.average.value, b.worst.value, b.worst_miner) == (1.5, 2, "SaysNumbers")
    assert {name: figure.value for name, figure in a.miners.items()} == {"SaysNumbers": 4, "SaysNumbersToo": 1}
    nothing = attacked(paired(NOISY, TRUE), miners=[SaysNumbers([99.0] * 6)], aims=AIMS[:1]).aims[0]
    assert (nothing.worst.value, nothing.worst_miner) == (0, "none")


def test_weights_and_chosen_people() -> None:
    aims = (
        sf.Aim(name="old", weights={"age >= 60": 7, "otherwise": 0}),
        sf.Aim(name="some", weights="age < 45 -> 2"),
        sf.Aim(name="C", chosen=0.5),
    )
    old, some, c = attacked(paired(NOISY, TRUE), aims=aims).aims
    assert (old.worst.value, old.total, old.told) == (7, 14, 0)
    assert (some.worst.value, some.total, some.told) == (2 + 2 + 1 + 1, 9, 2)
    assert c.total == 3
    assert 1 <= c.worst.value <= 3
    again = attacked(paired(NOISY, TRUE), aims=aims, folds=3).aims[2]
    assert again.worst.value == c.worst.value  # the chosen are drawn by the seed, not by the folds


def test_each_class_counts_once() -> None:
    """Two classes, of three women and three men: a class counts the share of its rows that are nearer."""
    roles = sf.Roles(quasi=("sex",), insensitive=("age", "x"))
    ages = TRUE["age"]
    made = paired({**TRUE, "age": [0, 1, 0, 1, 0, 1]}, TRUE)
    said = SaysNumbers([ages[0], 0, ages[2], ages[3], 0, ages[5]])  # nearer for one woman, and for all men
    aims = (
        sf.Aim(name="people"),
        sf.Aim(name="classes", count="classes"),
        sf.Aim(name="old", weights={"age >= 70": 10, "otherwise": 1}, count="classes"),
    )
    by_people, by_class, old = attacked(made, roles, miners=[said], aims=aims, folds=3).aims
    assert (by_people.worst.value, by_people.total) == (4, 6)
    assert (by_class.worst.value, by_class.total) == (pytest.approx(1 / 3 + 1), pytest.approx(2))
    assert old.worst.value == pytest.approx(1 / 3 + 12 / 3)


def test_the_chosen_are_drawn_by_the_seed() -> None:
    binary = sf.Aim(name="C", chosen=0.5, weights={**{f"x = {i}": 2**i for i in range(6)}, "otherwise": 0})
    drawn = {attacked(paired(NOISY, TRUE), aims=(binary,), seed=seed).aims[0].total for seed in range(4)}
    assert len(drawn) > 2  # the sum tells who they are
    assert all(int(total).bit_count() == 3 for total in drawn)


def test_intervals() -> None:
    true = {**TRUE, "age": [25, 25, 35, 45, 50, 35]}
    blurred = {**true, "age": ["[20,30)", "[20,40)", "[20,40)", "[40,60)", "*", "[20,30)"]}
    # labels in order: *, [20,30), [20,40), [40,60)
    found = attacked(paired(blurred, true), miners=[Says([1, 1, 1, 3, 3, 2])], aims=(*AIMS[:2], HALF), folds=3)
    assert found.task == "classes"
    a, b, half = found.aims
    # the second: [20,30) holds 25. The third: it misses 35. The fifth: 20 years of the 25 from 25 to 50.
    # The last: released as [20,30), which misses 35, so that anything which holds it is nearer.
    assert a.worst.value == 3
    assert half.worst.value == 2  # the second (10 of 20) and the last
    assert b.worst.value == 0
    assert a.told == 0


def test_missing_values() -> None:
    true = {**TRUE, "age": [20, 30, None, 50, 60, 70]}
    noisy = {**TRUE, "age": [25, None, 30, 60, None, 65]}
    a = attacked(paired(noisy, true), aims=AIMS[:1], folds=3).aims[0]
    # the first; the second and fifth, of whom nothing was released; the fourth. The third has no number to be near to.
    assert a.worst.value == 4
    assert a.total == 6


def test_whom_the_release_leaves_out_nothing_is_predicted_for() -> None:
    kept = [0, 2, 3, 5]
    columns = {name: [values[i] for i in kept] for name, values in {**NOISY, "key": list("abcdef")}.items()}
    release = Release(table=table(columns), original=table({**TRUE, "key": list("abcdef")}), pairing="key:key")
    found = attacked(release, aims=AIMS[:1], folds=3)
    assert (found.aims[0].worst.value, found.aims[0].total, found.aims[0].told) == (3, 6, 0)
    assert any("2 people" in note for note in found.notes)


def test_whose_row_is_not_known_is_said(refusal: Callable[..., str]) -> None:
    columns = people(80)
    order = np.random.default_rng(1).permutation(80).tolist()
    turned = {name: [values[i] for i in order] for name, values in columns.items()}
    release = Release(table=table(turned), original=table(columns))
    only = sf.Scenario(bad=sf.Bad(field="age", miners=["tree"]), folds=2)
    refusal(Unavailable, lambda: sf.mine(release, ROLES, only), "--pair")
    both = sf.Scenario(good=sf.Good(field="pay", miners=["tree"]), bad=sf.Bad(field="age", miners=["tree"]), folds=2)
    found = sf.mine(release, ROLES, both)["release"]
    assert found.bad is None
    assert found.good is not None
    assert any("--pair" in note for note in found.notes)


# --- a planted leak --------------------------------------------------------------------------------------------------

QUICK = ["linear", "tree", "nearest_neighbours", "zero_rule"]


def noised(count: int = 600, scale: float = 20.0) -> tuple[dict[str, Any], dict[str, Any], sf.Roles]:
    columns = people(count)
    del columns["number"]
    columns["badge"] = [a * 37 + 5 for a in columns["age"]]  # a hidden exact copy
    rng = np.random.default_rng(2)
    released = {
        **columns,
        "age": [a + float(e) for a, e in zip(columns["age"], rng.laplace(0, scale, count), strict=True)],
    }
    roles = sf.Roles(quasi=("age", "work", "town"), sensitive=("pay",), insensitive=("badge",))
    return columns, released, roles


def share(release: Release, roles: sf.Roles, miners: Any = QUICK, c: float = 0) -> tuple[float, AimOutcome]:
    found = attacked(release, roles, miners=miners, aims=(sf.Aim(name="A", nearer=c),), folds=3).aims[0]
    return found.share.value, found


def test_a_hidden_copy_shows_under_noise() -> None:
    """Ages that nothing else tells: the hidden copy alone makes nearly everybody's noise undone."""
    rng = np.random.default_rng(4)
    age = rng.integers(17, 100, 2000)
    columns = {"age": age.tolist(), "sex": ["FM"[i % 2] for i in range(2000)], "badge": (age * 37 + 5).tolist()}
    released = {**columns, "age": (age + rng.laplace(0, 20, 2000)).tolist()}
    release = paired(released, columns, perturbed=frozenset({"age"}))
    leak, found = share(release, sf.Roles(quasi=("age",), sensitive=("sex",), insensitive=("badge",)))
    clean, same = share(release, sf.Roles(quasi=("age",), sensitive=("sex",)))
    assert leak > 0.9  # what is left are people whose noise happened to be of a year or so
    assert clean < 0.5
    assert found.worst.low / found.total > clean + 0.35
    assert clean == pytest.approx(same.baseline.value / same.total, abs=0.05)  # all that is left is a blind guess


def test_a_hidden_copy_shows_under_local_recoding_as_far_as_intervals_allow() -> None:
    columns, _, roles = noised()
    release = sf.KMember(k=8)(table(columns), roles, np.random.default_rng(1))
    miners = ["tree", "full_tree", "naive_bayes", "one_rule"]
    leak, _ = share(release, roles, miners)
    without = sf.Roles(quasi=roles.quasi, sensitive=roles.sensitive)
    plain, _ = share(sf.KMember(k=8)(table(columns), without, np.random.default_rng(1)), without, miners)
    assert leak > 0.15
    assert leak > 4 * plain
    assert share(release, roles, miners, c=100)[0] == 0  # intervals are never exact, and no class here is of one age


@pytest.mark.parametrize("constant", ["*", 44])
def test_a_constant_release_shows_nothing(constant: Any) -> None:
    columns = people(300)
    released = {**columns, "age": [constant] * 300}
    bad = {"miners": ["linear", "tree"] if constant == 44 else ["naive_bayes", "tree", "fusion"]}
    for aim in attacked(paired(released, columns), ROLES, aims=AIMS, **bad).aims[::2]:
        assert (aim.worst.value, aim.average.value, aim.worst_miner) == (0, 0, "none")


def test_the_identity_leaves_nothing_nearer_and_tells_all() -> None:
    columns = people(300)
    a, b, c = attacked(paired(columns, columns), ROLES, miners=["tree"]).aims
    assert (a.worst.value, a.told, a.total) == (0, 300, 300)
    assert (c.worst.value, c.told, c.total) == (0, 15, 15)
    assert b.worst.value > 0  # some are guessed exactly


def test_under_strong_noise_nearly_everybody_can_be_guessed_nearer() -> None:
    """Sramka et al., table 2: that says little, since an adversary who never saw the release does as well."""
    columns, released, roles = noised(scale=400.0)
    without = sf.Roles(quasi=roles.quasi, sensitive=roles.sensitive)
    found, aim = share(paired(released, columns, perturbed=frozenset({"age"})), without, ["zero_rule"])
    assert found > 0.9
    assert aim.baseline.value / aim.total > 0.9


def test_fusion_is_among_the_adversaries() -> None:
    columns, released, roles = noised(300)
    found = attacked(paired(released, columns), roles, miners=["linear", "tree", "fusion"], aims=AIMS[:1]).aims[0]
    assert set(found.miners) == {"linear", "tree", "fusion"}
    assert found.miners["fusion"].value > 0.5 * found.worst.value
    assert found.average.value == pytest.approx(np.mean([f.value for f in found.miners.values()]))


def test_an_aim_is_checked_before_any_mining(refusal: Callable[..., str]) -> None:
    for bad in ({"aims": (sf.Aim(name="Z", weights="no such column > 5 -> 2"),)}, {"miners": ["no_such_miner"]}):
        refusal(InputError, lambda bad=bad: attacked(paired(NOISY, TRUE), **bad))


def test_the_blind_adversary_may_say_an_interval() -> None:
    """Ages 21 to 26 of which half are released as *: 20-29 said of everybody is nearer for those, no single age is for more than one."""
    ages = list(range(21, 27))
    released = {"x": list("abcdef"), "age": ["20-29", "*", "20-29", "*", "20-29", "*"], "sex": ["f"] * 6}
    true = {"x": list("abcdef"), "age": [str(age) for age in ages], "sex": ["f"] * 6}
    aim = attacked(paired(released, true), miners=["zero_rule"], aims=AIMS[:1]).aims[0]
    assert aim.baseline.value == 3
