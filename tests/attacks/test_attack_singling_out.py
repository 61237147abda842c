"""Singling out: extremes, planted people, frequencies alone, and an adversary who walks through the rows."""

from __future__ import annotations

import json
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np
import pytest
from wp29_house import ROLES, covers, made, mangled, mechanisms, numbered, people, table, take

import sfumato as sf
from sfumato.attacks.lookup import descriptions as module
from sfumato.attacks.lookup import space
from sfumato.attacks.singling_out import singling_out
from sfumato.core.errors import InputError, Unavailable

Q = sf.Roles(quasi=("x", "y"))


def by_hand(released: Any, original: Any, outside: Any, size: int, beyond: bool) -> tuple[int, int, int]:
    """Descriptions of rows that are alone, those that fit one person, and those that fit one person outside."""
    sided = {}
    for name, values in released.items():
        there = [v for v in values if v is not None]
        if beyond and all(isinstance(v, int | float) for v in (*there, *(v for v in original[name] if v is not None))):
            sided[name] = median(there)

    def fits(name: str, label: Any, value: Any, *, among_released: bool = False) -> bool:
        if name not in sided or label is None or value is None:
            return label == value if among_released else covers(label, value)
        return bool(value >= label if label > sided[name] else value <= label)

    def count(names: Any, labels: Any, rows: Any, **how: bool) -> int:
        return sum(
            all(fits(n, label, rows[n][i], **how) for n, label in zip(names, labels, strict=True))
            for i in range(len(rows[names[0]]))
        )

    made = one = other = 0
    for names in combinations(released, size):
        for labels in set(zip(*(released[n] for n in names), strict=True)):
            if count(names, labels, released, among_released=True) == 1:
                made += 1
                one += count(names, labels, original) == 1
                other += count(names, labels, outside) == 1
    return made, one, other


@pytest.mark.parametrize("numbers", ["beyond", "equal"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_against_a_walk_through_the_rows(size: int, numbers: Any) -> None:
    strangers = people(25, 70)
    strangers["age"][0] = None
    for seed in range(3):
        original, released = mangled(seed)
        noisy = {
            **released,
            "age": [None if a is None else a + 0.25 * (i % 3) for i, a in enumerate(take(original, range(26))["age"])],
        }
        noisy["pay"] = [float(i * 7 % 11) for i in range(26)]
        original["pay"] = [float(i * 5 % 11) for i in range(30)]
        strangers["pay"] = [float(i * 3 % 11) for i in range(25)]
        roles = sf.Roles(quasi=(*ROLES.quasi, "pay"), sensitive=("sick",), hierarchies=ROLES.hierarchies)
        for shown in ({**released, "pay": noisy["pay"]}, noisy):
            found = singling_out(
                made(shown, original), roles, size=size, numbers=numbers, attacks=10**6, control=table(strangers)
            )
            hand = by_hand(numbered(shown), original, strangers, size, numbers == "beyond")
            assert found.control is not None
            assert (found.attacked, found.fell) == hand[:2]
            assert found.control.value * found.attacked == pytest.approx(hand[2])


@pytest.mark.parametrize("numbers", ["beyond", "equal"])
def test_the_identity_singles_out_always(numbers: Any) -> None:
    columns = people(300)
    for size in (1, 2, 3, 4, 9):
        found = singling_out(made(columns, columns), ROLES, size=size, numbers=numbers)
        assert found.fell == found.attacked
        assert found.success.value == (1 if found.attacked else 0)
    assert found.details.size == 4
    assert found.worked


def test_nobody_is_alone() -> None:
    columns = people(100)
    for released in ({n: v * 2 for n, v in columns.items()}, {n: ["*"] * 100 for n in columns}):
        found = singling_out(made(released, columns), ROLES)
        assert (found.attacked, found.fell, found.success.value, found.success.high) == (0, 0, 0, 0)
        assert found.worked is False
        assert "nobody" in found.sentence
        json.dumps(found.details.to_dict())


def test_classes_of_k_rows_leave_nobody_alone() -> None:
    columns = people(300)
    for mechanism in (sf.Mondrian(k=5), sf.KMember(k=5), sf.GeneralizeFullDomain(k=5)):
        release = mechanism(table(columns), ROLES, np.random.default_rng(1))
        assert singling_out(release, ROLES, knows=["age", "place", "sex"]).attacked == 0
    numbers = {"x": np.random.default_rng(1).random(90).tolist(), "y": np.random.default_rng(2).random(90).tolist()}
    release = sf.Microaggregation(k=5)(table(numbers), Q, np.random.default_rng(1))
    assert singling_out(release, Q, size=2).attacked == 0


def test_planted_people_are_described() -> None:
    rng = np.random.default_rng(3)
    columns = {"x": rng.integers(0, 3, 200).astype(str).tolist(), "y": rng.integers(0, 3, 200).astype(str).tolist()}
    columns["x"][:5] = [f"rare {i}" for i in range(5)]
    columns["y"][:5] = [f"rarer {i}" for i in range(5)]
    found = singling_out(made(columns, columns), Q, size=2)
    assert found.fell == found.attacked == 5


@pytest.mark.parametrize("numbers", ["beyond", "equal"])
@pytest.mark.parametrize("seed", range(3))
def test_frequencies_alone_give_the_baseline(seed: int, numbers: Any) -> None:
    """Columns drawn for themselves tell no more than their frequencies; that is what the baseline knows."""
    rng = np.random.default_rng(seed)
    columns = {"x": rng.integers(0, 40, 1500).tolist(), "y": [f"v{int(v)}" for v in rng.exponential(6, 1500)], "z": rng.integers(0, 5, 1500).astype(str).tolist()}  # fmt: skip
    columns["y"] = [
        f"v{int(a) % 7}" if i % 2 else b for i, (a, b) in enumerate(zip(columns["x"], columns["y"], strict=True))
    ]
    drawn = {name: rng.choice(np.array(values), 1500).tolist() for name, values in columns.items()}
    roles = sf.Roles(quasi=("x", "y", "z"))
    found = singling_out(made(drawn, columns), roles, seed=seed, numbers=numbers)
    assert found.baseline is not None
    assert found.attacked > (200 if numbers == "equal" else 80)
    assert found.success.low <= found.baseline.high
    assert found.baseline.low <= found.success.high
    assert not found.worked
    copied = {name: values[:700] + drawn[name][700:] for name, values in columns.items()}
    assert singling_out(made(copied, columns), roles, seed=seed, numbers="equal").above > 0.1


def test_strangers_are_not_described_by_what_is_copied() -> None:
    columns, strangers = people(1000, 1), people(3000, 2)
    found = singling_out(made(columns, columns), ROLES, control=table(strangers))
    assert found.control is not None
    assert found.control.high < found.success.low
    assert found.control.people == found.attacked  # descriptions, not people
    same = singling_out(made(columns, columns), ROLES, control=table(columns))
    assert same.control == same.success


def test_more_strangers_than_people_are_no_advantage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who fits a description at all is likelier among many: only as many are looked at as the original has."""
    seen = []
    before = module.Descriptions.fits
    monkeypatch.setattr(
        module.Descriptions, "fits", lambda self, who, *part: (seen.append(len(who)), before(self, who, *part))[1]
    )
    columns = people(100, 1)
    singling_out(made(columns, columns), ROLES, control=table(people(700, 2)))
    assert set(seen) == {100}


def test_intervals_cover() -> None:
    columns = people(600, 3)
    noisy = {**columns, "place": [p if i % 3 else f"v{i % 9}" for i, p in enumerate(columns["place"])]}
    release = made(noisy, columns)
    truth = singling_out(release, ROLES, size=4, numbers="equal", attacks=10**6)
    assert truth.attacked == truth.details.alone > 400
    assert 0.1 < truth.success.value < 0.95
    rates = [
        singling_out(release, ROLES, size=4, numbers="equal", attacks=100, seed=seed).success for seed in range(40)
    ]
    assert len({rate.value for rate in rates}) > 8
    assert sum(rate.low <= truth.success.value <= rate.high for rate in rates) >= 36


def test_the_seed_decides_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = people(300)
    noisy = {**columns, "age": [a + i % 3 for i, a in enumerate(columns["age"])]}
    order = np.random.default_rng(1).permutation(300).tolist()
    first = singling_out(made(noisy, columns), ROLES, attacks=50, seed=4)
    assert singling_out(made(take(noisy, order), take(columns, order)), ROLES, attacks=50, seed=4) == first
    assert singling_out(made(noisy, columns), ROLES, attacks=50, seed=5) != first
    for room in (1, 300):
        monkeypatch.setattr(module, "BLOCK", room)
        assert singling_out(made(noisy, columns), ROLES, attacks=50, seed=4) == first


def test_as_many_as_asked_and_from_all_sets_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = people(300)
    release = made(columns, columns)
    assert singling_out(release, ROLES, attacks=77).attacked == 77
    assert singling_out(release, ROLES, attacks=77).details.column_sets == 4
    dealt = module._dealt(np.array([100, 0, 3, 50]), 60, np.random.default_rng(1))
    assert dealt.sum() == 60
    assert dealt[1] == 0
    assert dealt[2] == 3
    assert abs(int(dealt[0]) - int(dealt[3])) <= 1
    assert module._dealt(np.array([2, 1]), 60, np.random.default_rng(1)).tolist() == [2, 1]
    monkeypatch.setattr("sfumato.attacks.singling_out.SETS", 2)
    assert singling_out(release, ROLES, attacks=77).details.column_sets == 2


@pytest.mark.parametrize("rounds", [3, 500])
def test_rows_that_nothing_exceeds(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROUNDS", rounds)
    rng = np.random.default_rng(4)
    group, far = rng.integers(0, 4, 200), rng.permutation(2000)[:400].reshape(200, 2)
    found = module._beyond(group, far)
    hand = [
        not any(g == group[j] and (far[j] >= f).all() and j != i for j in range(200))
        for i, (g, f) in enumerate(zip(group, far, strict=True))
    ]
    if rounds == 500:
        assert found.tolist() == hand
    else:
        assert (found <= np.array(hand)).all()
        assert 4 < found.sum() <= 12


@pytest.mark.parametrize("name", mechanisms())
def test_every_kind_of_release(name: str) -> None:
    columns = people(300)
    release = mechanisms()[name](table(columns), ROLES, np.random.default_rng(1))
    for numbers in ("beyond", "equal"):
        found = singling_out(release, ROLES, numbers=numbers, control=table(people(100, 9)))  # type: ignore[arg-type]
        assert found.success.value < 1 or name in ("Mondrian", "KMember", "GeneralizeFullDomain")
        assert found.control is not None
        assert found.baseline is not None
        assert found.baseline.people > 0


def test_details_are_ready_for_json_and_hold_no_value(canary: str) -> None:
    columns = {"x": [canary, "b"], "y": ["1", canary]}
    found = singling_out(made(columns, columns), Q)
    assert found.fell == 2
    assert canary not in json.dumps(found.details.to_dict()) + found.sentence + found.knew + found.effort


def test_refusals(refusal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = people(20)
    ask: Any = lambda **more: lambda: singling_out(made(columns, columns), ROLES, **more)  # noqa: E731
    refusal(InputError, ask(size=0), "column")
    refusal(InputError, ask(attacks=0), "once")
    refusal(InputError, ask(knows=["nope"]), "nope")
    refusal(InputError, ask(knows=[]), "singling out")
    refusal(InputError, ask(numbers="near"), "beyond")
    monkeypatch.setattr(space, "MOST", 10)
    refusal(Unavailable, ask(), "more rows")
