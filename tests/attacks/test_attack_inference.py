"""Inference: extremes, planted secrets, people outside, and an adversary who walks through the rows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from wp29_house import ROLES, apart, covers, made, mangled, mechanisms, numbered, people, person, table, take

import sfumato as sf
from sfumato.attacks.inference import inference
from sfumato.attacks.lookup import targets
from sfumato.core.errors import InputError

X = sf.Roles(quasi=("x",), sensitive=("s",))


def fits(guess: Any, true: Any, tolerance: float) -> bool:
    if guess is None or true is None or isinstance(guess, str) or isinstance(true, str):
        return bool(guess == true)
    return bool(abs(guess - true) <= tolerance * abs(true) + 1e-12)


def by_hand(released: Any, original: Any, people: Any, names: Any, secret: str, tolerance: float) -> list[float]:
    """Vote by vote: the nearest rows, what each says, the guess that fits most votes, and whether it is right."""

    def best(votes: list[Any]) -> list[Any]:
        score = {guess: sum(fits(guess, vote, tolerance) for vote in votes) for guess in votes}
        return [guess for guess, n in score.items() if n == max(score.values())]

    def said(label: Any) -> Any:
        if label in original[secret] or isinstance(label, int | float):
            return label
        covered = [v for v in original[secret] if covers(label, v)]
        order = sorted(best(covered), key=lambda v: (v is None, v)) if covered else [label]
        return order[0]

    found = []
    for i in range(len(people[secret])):
        away = apart(released, original, person(people, i), names)
        votes = [said(released[secret][j]) for j, d in enumerate(away) if d <= min(away) + 1e-10]
        guesses = best(votes)
        found.append(float(np.mean([fits(guess, people[secret][i], tolerance) for guess in guesses])))
    return found


@pytest.mark.parametrize("secret", ["sick", "age", "place"])
@pytest.mark.parametrize("seed", range(3))
def test_against_a_walk_through_the_rows(seed: int, secret: str) -> None:
    original, released = mangled(seed)
    names = [name for name in original if name != secret][:2]
    for tolerance in (0.0, 0.3):
        found = inference(made(released, original), ROLES, sensitive=secret, knows=names, tolerance=tolerance)
        hand = by_hand(numbered(released), original, original, names, secret, tolerance)
        assert found.fell == pytest.approx(sum(hand), abs=1e-9)
        strangers = people(20, seed + 30)
        found = inference(
            made(released, original),
            ROLES,
            sensitive=secret,
            knows=names,
            tolerance=tolerance,
            control=table(strangers),
        )
        hand = by_hand(numbered(released), original, strangers, names, secret, tolerance)
        assert found.control is not None
        assert found.control.value == pytest.approx(sum(hand) / 20, abs=1e-9)


def test_the_identity_tells_all() -> None:
    columns = {"x": list(range(60)), "s": ["ab"[i * 7 % 3 == 0] for i in range(60)]}
    found = inference(made(columns, columns), X, sensitive="s")
    assert (found.fell, found.success.high) == (60, 1)
    assert found.baseline is not None
    assert found.baseline.value == pytest.approx(2 / 3)
    assert found.worked


@pytest.mark.parametrize("secret", ["sick", "age"])
@pytest.mark.parametrize("what", ["secret", "known", "both"])
def test_what_is_suppressed_gives_the_baseline(secret: str, what: str) -> None:
    columns = people(200, 4)
    hidden = [n for n in columns if what == "both" or (n == secret) == (what == "secret")]
    released = {n: ["*"] * 200 if n in hidden else v for n, v in columns.items()}
    found = inference(made(released, columns), ROLES, sensitive=secret, attacks=10**6)
    assert found.baseline is not None
    if what == "known":  # several guesses are as good, and one is drawn
        assert found.success.value == pytest.approx(found.baseline.value, abs=0.02)
    else:
        assert found.success == found.baseline
    assert not found.worked


def test_secrets_that_were_mixed_give_about_the_baseline_or_less() -> None:
    columns = people(2000, 4)
    mixed = {**columns, "sick": np.random.default_rng(1).permutation(columns["sick"]).tolist()}
    found = inference(made(mixed, columns), ROLES, sensitive="sick")
    assert found.baseline is not None
    assert found.success.low <= found.baseline.high
    assert inference(made(columns, columns), ROLES, sensitive="sick").worked


def test_the_baseline_is_the_best_guess_for_all() -> None:
    for values, tolerance, right in (
        (["a", "b", "b", None], 0.0, 2),
        ([None, None, "a"], 0.0, 2),
        ([1, 100, 104, 108, 1, 200], 0.05, 3),  # 104 is right for three; the median for three as well, 1 for two
        ([1, 1, 1, 50, 80, 90, 300], 0.05, 3),  # the median, 50, is right once
        ([-10, -10.4, 5, 0, 0], 0.05, 2),
        ([None, None, None, 7, 9], 0.05, 3),
    ):
        columns = {"x": list(range(len(values))), "s": values}
        found = inference(made(columns, columns), X, sensitive="s", tolerance=tolerance).baseline
        assert found is not None
        assert found.value == pytest.approx(right / len(values))


def test_a_class_tells_what_is_most_frequent_in_it() -> None:
    """Of a partition, exactly the sum of the most frequent secrets of the classes: each person is in one class."""
    columns = people(400, 6)
    release = sf.Mondrian(k=8)(table(columns), ROLES, np.random.default_rng(1))
    both, named = release.evidence(ROLES).sides(("age", "place", "sex", "sick"), "a test")
    counts = both.count((*(named[n] for n in ("age", "place", "sex")), "original.sick"))
    classes: dict[Any, Counter[int]] = defaultdict(Counter)
    for *quasi, sick, n in zip(*counts.codes, counts.n, strict=True):
        classes[tuple(quasi)][sick] += n
    found = inference(release, ROLES, sensitive="sick")
    # where two values are as frequent, one is drawn: right as often
    assert found.fell == pytest.approx(sum(max(c.values()) for c in classes.values()))


def test_planted_secrets_are_found_and_strangers_are_not() -> None:
    rng = np.random.default_rng(2)
    x = rng.random(500)
    secrets = rng.integers(0, 10, 500).astype(str)
    copied = {"x": (x + rng.normal(0, 1e-7, 500)).tolist(), "s": secrets.tolist()}
    strangers = table({"x": rng.random(500).tolist(), "s": rng.integers(0, 10, 500).astype(str).tolist()})
    found = inference(made(copied, {"x": x.tolist(), "s": secrets.tolist()}), X, sensitive="s", control=strangers)
    assert found.control is not None
    assert found.success.value > 0.98
    assert found.control.low <= 0.1 <= found.control.high
    assert found.worked


def test_a_fact_about_people_is_no_fault_of_the_release() -> None:
    """Nine of ten with the same x have the same secret, inside as outside, and no class is of one secret."""
    columns = {"x": [i // 10 for i in range(100)], "s": ["ab"[(i >= 50) != (i % 10 == 9)] for i in range(100)]}
    found = inference(made(columns, columns), X, sensitive="s", control=table(columns))
    assert found.control is not None
    assert found.control.value == found.success.value == 0.9
    assert (found.worked, found.standing.verdict, found.certain) == (False, "general", 0)


def test_whom_a_class_of_one_value_tells_is_certain_however_well_a_blind_guess_does() -> None:
    """The blind guess is right for 90%, and so is the attack; and yet the class of forty people gives them away."""
    columns = {"x": [i // 20 for i in range(100)], "s": ["b" if i >= 40 and i % 6 == 0 else "a" for i in range(100)]}
    found = inference(made(columns, columns), X, sensitive="s")
    assert found.baseline is not None
    assert found.success.value == found.baseline.value == 0.9
    assert (found.certain, found.standing.verdict) == (40, "works")
    assert "40 people" in found.sentence
    assert "40 people" in found.verdict
    same = {**columns, "s": ["a"] * 100}
    assert inference(made(same, same), X, sensitive="s").certain == 0  # the table itself says no more of anybody


def test_secrets_that_stand_for_several_values() -> None:
    columns = {"x": [1, 2, 3, 4, 5, 6], "s": ["a", "b", "b", "c", "c", "c"]}
    released = {"x": columns["x"], "s": ["{a, b}"] * 3 + ["*"] * 3}
    found = inference(made(released, columns), X, sensitive="s", knows=["x"])
    assert found.fell == 2 + 3  # b for the first three, c for the others
    numbers = {"x": [1, 2, 3, 4], "s": [10, 11, 12, 40]}
    released = {"x": numbers["x"], "s": ["[10,13)"] * 3 + ["what?"]}
    assert inference(made(released, numbers), X, sensitive="s", tolerance=0.0).fell == 1
    assert (
        inference(made(released, numbers), X, sensitive="s", tolerance=0.1).fell == 3
    )  # 11 is within a tenth of 10 and 12


def test_ties_are_drawn() -> None:
    columns = {"x": [1, 1, 1, 1], "s": ["a", "b", "c", "c"]}
    assert inference(made(take(columns, [0, 1, 2]), columns), X, sensitive="s").fell == pytest.approx(4 / 3)
    assert inference(made(columns, columns), X, sensitive="s").fell == 2


def test_missing_values_are_values() -> None:
    for values in (["a", None, "b"], [1.5, None, 0.0]):
        columns = {"x": [None, "u", "v"], "s": values}
        assert inference(made(columns, columns), X, sensitive="s").fell == 3


def test_people_who_were_left_out_are_attacked() -> None:
    columns = {"x": [1, 2, 3, 40], "s": ["a", "a", "b", "b"]}
    found = inference(made(take(columns, [0, 1]), columns), X, sensitive="s")
    assert (found.attacked, found.fell) == (4, 2)


def test_intervals_cover() -> None:
    columns = people(3000, 3)
    release = made({**columns, "age": [f"[{a // 20 * 20},{a // 20 * 20 + 20})" for a in columns["age"]]}, columns)
    truth = inference(release, ROLES, sensitive="sick", attacks=10**6)
    rates = [inference(release, ROLES, sensitive="sick", attacks=300, seed=seed) for seed in range(40)]
    assert len({rate.success.value for rate in rates}) > 20
    assert sum(rate.success.low <= truth.success.value <= rate.success.high for rate in rates) >= 36
    assert truth.baseline is not None
    covered = [r.baseline.low <= truth.baseline.value <= r.baseline.high for r in rates if r.baseline is not None]
    assert sum(covered) >= 36


def test_the_seed_decides_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = people(300)
    turned = take(columns, np.random.default_rng(1).permutation(300).tolist())
    ask: Any = {"sensitive": "sick", "knows": ["age", "sex"], "attacks": 50}
    first = inference(made(columns, columns), ROLES, **ask, seed=4)
    assert inference(made(turned, turned), ROLES, **ask, seed=4) == first
    assert inference(made(columns, columns), ROLES, **ask, seed=6).fell != first.fell
    monkeypatch.setattr(targets, "BLOCK", 500)
    assert inference(made(columns, columns), ROLES, **ask, seed=4) == first


@pytest.mark.parametrize("name", mechanisms())
def test_every_kind_of_release(name: str) -> None:
    columns = people(300)
    release = mechanisms()[name](table(columns), ROLES, np.random.default_rng(1))
    for secret in ("sick", "age"):
        found = inference(release, ROLES, sensitive=secret, control=table(people(100, 9)))
        raw = inference(made(columns, columns), ROLES, sensitive=secret)
        assert found.attacked == 300
        assert 0 < found.success.value <= raw.success.value
        assert found.control is not None
        assert found.control.people == 100


def test_details_are_ready_for_json_and_hold_no_value(canary: str) -> None:
    columns = {"x": [canary, "b"], "s": ["1", canary]}
    found = inference(made(columns, columns), X, sensitive="s")
    assert canary not in json.dumps(found.details.to_dict()) + found.sentence + found.knew + found.effort


def test_refusals(refusal: Any) -> None:
    columns = people(20)
    ask: Any = lambda **more: lambda: inference(made(columns, columns), ROLES, **{"sensitive": "sick", **more})  # noqa: E731
    refusal(InputError, ask(sensitive="nope"), "nope")
    refusal(InputError, ask(knows=["age", "sick"]), "sick", "at once")
    refusal(InputError, ask(knows=[]), "inference")
    for tolerance in (-0.1, 1, float("nan")):
        refusal(InputError, ask(tolerance=tolerance), "tolerance")
    refusal(InputError, ask(attacks=0), "person")
    without = made({n: v for n, v in columns.items() if n != "sick"}, columns)
    refusal(InputError, lambda: inference(without, ROLES, sensitive="sick"), "sick")
