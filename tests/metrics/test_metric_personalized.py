"""Personalized privacy: the breach of guarding nodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from house import DISEASES
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("age", "sex", "zip"), sensitive=("disease",), guarding="gn", hierarchies={"disease": DISEASES})
PATIENTS = {  # table 3.17
    "age": ["5", "9", "6", "8", "12", "19", "21", "26", "28", "56"],
    "sex": [*"mmmmmmffff"],
    "zip": ["12000", "14000", "18000", "19000", "22000", "24000", "58000", "36000", "37000", "33000"],
    "disease": ["gastric ulcer", "dyspepsia", "pneumonia", "bronchitis", "pneumonia", "pneumonia", "flu", "gastritis", "pneumonia", "flu"],
    "gn": ["stomach disease", "dyspepsia", "respiratory infection", "bronchitis", "pneumonia", "pneumonia", "∅", "gastritis",
           "respiratory infection", "flu"],
}  # fmt: skip
RESPIRATORY = "respiratory infection"
SANITIZED = {  # table 3.18, rows in the same order
    "age": ["[1,10]"] * 4 + ["[11,20]"] * 2 + ["21", "[26,30]", "[26,30]", "56"],
    "sex": PATIENTS["sex"],
    "zip": ["[10001,20000]"] * 4 + ["[20001,25000]"] * 2 + ["58000", "[35001,40000]", "[35001,40000]", "33000"],
    "disease": ["gastric ulcer", "dyspepsia", *[RESPIRATORY] * 4, "flu", "gastritis", "pneumonia", RESPIRATORY],
}
SMALL = Roles(quasi=("q",), sensitive=("disease",), guarding="gn", hierarchies={"disease": DISEASES})


def published(release: Callable[..., Release], **more: Any) -> Release:
    return release(SANITIZED, PATIENTS, pairing="position", **more)


def small(release: Callable[..., Release], rows: list[tuple[Any, ...]], **more: Any) -> Release:
    return release(dict(zip(("q", "disease", "gn", "id"), zip(*rows, strict=True), strict=False)), **more)


def test_manta_table_18(release: Callable[..., Release]) -> None:
    """No one is linked to their node with more than 1/2: 1/2 for the first, 2/3 of 1/4 for the fourth, 1/3 for the last."""
    score = sf.personalized_breach(published(release), ROLES)
    assert score.value == 1 / 2
    assert score.per_class is not None
    # in the order of the released ages: [1,10] [11,20] [26,30], then 21 (which guards nothing) and 56
    assert sorted(score.per_class) == pytest.approx([0, 1 / 3, 1 / 3, 1 / 2, 1 / 2])
    assert score.details["guarded_rows"] == 9
    assert score.details["worst_rows"] == 4


def test_each_row_of_table_18(release: Callable[..., Release]) -> None:
    """One row guards at a time: what each of the ten risks."""
    expected = [1 / 2, 1 / 4, 1 / 2, 1 / 6, 1 / 3, 1 / 3, 0, 1 / 2, 1 / 2, 1 / 3]
    for i, value in enumerate(expected):
        alone = {**PATIENTS, "gn": [node if j == i else None for j, node in enumerate(PATIENTS["gn"])]}
        found = sf.personalized_breach(release(SANITIZED, alone, pairing="position"), ROLES)
        assert found.value == pytest.approx(value), i


def test_with_the_external_table(release: Callable[..., Release]) -> None:
    """A second person who may be in every class halves what one learns of it."""
    quasi = {name: PATIENTS[name] * 2 for name in ROLES.quasi}
    score = sf.personalized_breach(published(release, population=quasi), ROLES)
    assert score.value == 1 / 4
    assert score.details["population"] is True


def test_before_sanitizing_everyone_who_guards_is_breached(release: Callable[..., Release]) -> None:
    raw = release({k: v for k, v in PATIENTS.items() if k != "gn"}, PATIENTS, pairing="position")
    score = sf.personalized_breach(raw, ROLES)
    assert score.value == 1
    assert score.details["worst_rows"] == 9


def test_the_original_may_be_paired_by_key_or_by_our_own_recoding(release: Callable[..., Release], table: Any) -> None:
    keyed = [str(i) for i in range(10)]
    turned = {k: v[::-1] for k, v in {**PATIENTS, "key": keyed}.items()}
    by_key = release({**SANITIZED, "key": keyed}, turned, pairing="key:key")
    assert sf.personalized_breach(by_key, ROLES).value == 1 / 2
    roles = Roles(quasi=("age", "zip"), sensitive=("disease",), guarding="gn", hierarchies={"disease": DISEASES})
    made = sf.Mondrian(require=[sf.k_anonymity.at_least(3)])(table(PATIENTS), roles, np.random.default_rng(0))
    score = sf.personalized_breach(made, roles)
    assert "gn" not in made.table.columns
    classes = made.evidence(roles).classes("disease")
    assert score.per_class is not None
    assert len(score.per_class) == len(classes)
    assert 1 / classes.size.max() <= score.value <= 1


def test_extremes(release: Callable[..., Release]) -> None:
    flu = ("a", "flu", "flu")
    assert sf.personalized_breach(small(release, [flu, flu]), SMALL).value == 1
    assert sf.personalized_breach(small(release, [("a", "flu", None), ("a", "flu", "∅")]), SMALL).value == 0
    assert sf.personalized_breach(small(release, [("a", "gastritis", "flu")]), SMALL).value == 0
    assert sf.personalized_breach(small(release, [("a", "gastritis", "*")]), SMALL).value == 1
    assert sf.personalized_breach(small(release, [("a", "*", "flu")]), SMALL).value == pytest.approx(1 / 6)


def test_missing_is_a_leaf_under_the_root(release: Callable[..., Release]) -> None:
    rows = [("a", None, "stomach disease"), ("a", "gastritis", None)]
    assert sf.personalized_breach(small(release, rows), SMALL).value == 1 / 2
    rows = [("a", None, "*"), ("b", "*", "flu"), ("b", "*", None)]
    score = sf.personalized_breach(small(release, rows), SMALL)
    assert score.per_class == pytest.approx([1, 1 / 7])


def test_several_rows_per_person(release: Callable[..., Release]) -> None:
    """Any row may be anyone's: two people, three rows, two of them flu: 1 - (1/2)^2."""
    rows = [("a", "flu", "flu", "x"), ("a", "flu", "flu", "x"), ("a", "gastritis", None, "y")]
    roles = Roles(quasi=("q",), sensitive=("disease",), guarding="gn", person="id", hierarchies={"disease": DISEASES})
    assert sf.personalized_breach(small(release, rows), roles).value == pytest.approx(3 / 4)
    one = [("a", "flu", "flu", "x"), ("a", "gastritis", None, "x")]
    assert sf.personalized_breach(small(release, one), roles).value == 1
    single = [("a", "flu", "flu", "x"), ("a", "gastritis", None, "y")]
    assert sf.personalized_breach(small(release, single), roles).value == 1 / 2


def test_what_cannot_be_asked(release: Callable[..., Release], refusal: Callable[..., str], canary: str) -> None:
    rows = small(release, [("a", "flu", "flu")])
    refusal(Unavailable, lambda: sf.personalized_breach(rows, Roles(quasi=("q",), sensitive=("disease",))), "guarding")
    bare = Roles(quasi=("q",), sensitive=("disease",), guarding="gn")
    refusal(Unavailable, lambda: sf.personalized_breach(rows, bare), "taxonomy", "'disease'")
    for row in (("a", canary, "flu"), ("a", "flu", canary)):
        refusal(Unavailable, lambda row=row: sf.personalized_breach(small(release, [row]), SMALL), "1 of the values")
    away = release({"q": ["a"], "disease": ["flu"]})
    refusal(Unavailable, lambda: sf.personalized_breach(away, SMALL), "original")
    unpaired = release({"q": ["a"], "disease": ["flu"]}, {"q": ["a"], "disease": ["flu"], "gn": ["flu"]})
    refusal(Unavailable, lambda: sf.personalized_breach(unpaired, SMALL), "--pair")


def test_the_column_is_named_in_the_roles_file(tmp_path: Path, refusal: Callable[..., str]) -> None:
    path = tmp_path / "roles.toml"
    path.write_text('[roles]\nquasi = ["q"]\nguarding = "gn"\n', encoding="utf-8")
    roles = Roles.read(path)
    assert roles.guarding == "gn"
    assert Roles.of(__import__("tomllib").loads(roles.toml())).guarding == "gn"
    path.write_text('[roles]\nquasi = ["q"]\nguarding = ["gn"]\n', encoding="utf-8")
    refusal(InputError, lambda: Roles.read(path), "guarding")


LEAVES = {d: {d} for d in DISEASES.levels[0]} | {
    n: set(DISEASES.under(n)) for n in ("stomach disease", RESPIRATORY, "*")
}


@pytest.mark.parametrize("seed", range(6))
def test_counting_all_the_ways(seed: int, release: Callable[..., Release]) -> None:
    """Xiao and Tao's reconstructions, one by one: who owns each row, and what it stands for."""
    rng = np.random.default_rng(seed)
    names = [*LEAVES]
    values = [names[i] for i in rng.integers(0, len(names), 3)]
    guard = names[rng.integers(0, len(names) - 1)]
    people = 3 + seed % 3
    for repeated in (False, True):
        owners = itertools.product(range(people), repeat=3) if repeated else itertools.permutations(range(people), 3)
        ways = breaches = Fraction(0)
        for owner in owners:
            for leaves in itertools.product(*(LEAVES[v] for v in values)):
                ways += 1
                breaches += any(o == 0 and leaf in LEAVES[guard] for o, leaf in zip(owner, leaves, strict=True))
        rows = [("a", value, guard if i == 0 else None, "x" if repeated and i < 2 else str(i)) for i, value in enumerate(values)]  # fmt: skip
        roles = Roles(
            quasi=("q",), sensitive=("disease",), guarding="gn", person="id", hierarchies={"disease": DISEASES}
        )
        found = sf.personalized_breach(small(release, rows, population={"q": ["a"] * people}), roles)
        assert found.value == pytest.approx(float(breaches / ways)), (values, guard, repeated)
