"""Sanitizers that steer by whom their classes cover of a population, checked by code that shares nothing with them."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

import sfumato as sf

LETTERS = "abcdef"
MECHANISMS = (
    sf.Mondrian,
    sf.KMember,
    sf.LocalSuppression,
    sf.TopDownSpecialization,
    sf.GeneralizeFullDomain,
)
LIMITS = {
    "k_map >= 6": lambda rows, people: people.min() >= 6,
    "journalist_risk <= 1/8": lambda rows, people: people.min() >= 8,
    "delta_presence <= 0.4": lambda rows, people: (rows <= 0.4 * people).all(),
}


def _tables(seed: int) -> tuple[pd.DataFrame, pd.DataFrame, sf.Roles]:
    """A population and a fifth of it, with a number, a mask, categories and missing values."""
    rng = np.random.default_rng(seed)
    rows = 500
    people = pd.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "zip": rng.choice(["1010", "1020", "2030", "2040"], rows),
            "job": rng.choice([*LETTERS, None], rows),
            "ill": rng.choice(list("xyz"), rows),
        }
    )
    sample = people.iloc[rng.choice(rows, rows // 5, replace=False)]
    roles = sf.Roles(
        quasi=("age", "zip", "job"),
        sensitive=("ill",),
        hierarchies={"zip": {"prefix": [1, 2, 3]}, "age": {"widths": [5, 10, 20]}, "job": {"prefix": [1]}}
        if seed % 2
        else {"zip": {"prefix": [1, 2, 3]}, "age": {"widths": [5, 10, 20]}},
    )
    return people, sample.reset_index(drop=True), roles


def _fits(label: str | None, value: object) -> bool:
    """Whether a released label stands for a value, written anew from the notation in the guide."""
    if label is None or pd.isna(label):
        return bool(pd.isna(value))
    if label == "*":
        return True
    if pd.isna(value):
        return False
    if label == "(-Inf,Inf)":
        return True
    if label.startswith("{"):
        return str(value) in label[1:-1].split(", ")
    if match := re.fullmatch(r"([\[(])(\d+),\s*(\d+)([\])])", label):
        low, high = int(match[2]), int(match[3])
        return low <= int(value) and (int(value) <= high if match[4] == "]" else int(value) < high)
    if match := re.fullmatch(r"(<=|>=|<|>)(\d+)", label):
        sign, edge, number = match[1], int(match[2]), int(value)
        return {"<=": number <= edge, ">=": number >= edge, "<": number < edge, ">": number > edge}[sign]
    if "*" in label:
        return len(label) == len(str(value)) and all(a in ("*", b) for a, b in zip(label, str(value), strict=True))
    return label == str(value)


def _classes(release: pd.DataFrame, people: pd.DataFrame, quasi: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    rows, covered = [], []
    for labels, group in release.groupby(list(quasi), dropna=False):
        rows.append(len(group))
        fits = np.ones(len(people), dtype=bool)
        for name, label in zip(quasi, labels, strict=True):
            fits &= [_fits(None if pd.isna(label) else str(label), value) for value in people[name]]
        covered.append(int(fits.sum()))
    return np.array(rows), np.array(covered)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 8))])
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_released_classes_cover_as_many_people_as_required(mechanism, limit, seed, tmp_path):
    people, sample, roles = _tables(seed)
    requirement = sf.require(limit)
    steered = mechanism(require=(requirement,), population=sf.read(people))
    try:
        release = steered(sf.read(sample), roles)
    except sf.Infeasible:
        assert mechanism is sf.GeneralizeFullDomain  # it may not meet a limit without leaving rows out
        return
    out = tmp_path / "release.csv"
    sf.publish(release, roles, [requirement], out)
    written = pd.read_csv(out, dtype=str, keep_default_na=False, na_values=[""])
    rows, covered = _classes(written, people, roles.quasi)
    assert rows.sum() == len(sample)
    assert LIMITS[limit](rows, np.maximum(rows, covered))
    assert any("population of 500 people" in note for note in release.notes)


@pytest.mark.parametrize("mechanism", [sf.Mondrian, sf.KMember])
def test_a_population_lets_classes_be_smaller_than_k(mechanism):
    people, sample, roles = _tables(0)
    against = mechanism(require=(sf.require("k_map >= 6"),), population=sf.read(people))(sf.read(sample), roles)
    alone = mechanism(k=6)(sf.read(sample), roles)
    assert sf.iloss(against, roles).value < sf.iloss(alone, roles).value
    assert sf.k_anonymity(against, roles).value < 6


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_table_may_be_its_own_population(mechanism):
    _, sample, roles = _tables(0)
    table = sf.read(sample)
    mapped = mechanism(require=(sf.require("k_map >= 4"),), population=table)(table, roles)
    assert sf.k_map(mapped, roles).value >= 4


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_without_a_population_k_map_is_refused(mechanism):
    _, sample, roles = _tables(0)
    with pytest.raises(sf.SfumatoError, match=r"k_map needs a table of the population"):
        mechanism(require=(sf.require("k_map >= 4"),))(sf.read(sample), roles)


def test_more_people_than_the_population_has_cannot_be_covered():
    people, sample, roles = _tables(0)
    with pytest.raises(sf.Infeasible, match="only reaches 500"):
        sf.Mondrian(require=(sf.require("k_map >= 501"),), population=sf.read(people))(sf.read(sample), roles)


def test_a_population_with_several_rows_a_person_is_refused():
    people, sample, roles = _tables(0)
    named = dataclasses.replace(roles, person="who")
    people["who"], sample["who"] = np.arange(len(people)) // 2, np.arange(len(sample))
    steered = sf.Mondrian(require=(sf.require("k_map >= 4"),), population=sf.read(people))
    with pytest.raises(sf.InputError, match="some people have several rows"):
        steered(sf.read(sample), named)


def test_settings_and_print_of_a_mechanism_do_not_show_the_population():
    people, _, _ = _tables(0)
    steered = sf.Mondrian(k=5).against(sf.read(people))
    assert steered.settings() == {"k": 5}
    assert "population" not in repr(steered)


def test_a_promise_of_the_whole_release_takes_the_population_too(tmp_path):
    """Nobody of the population may be ruled out: no class has a value of its own for that, and the search asks each node."""
    people, sample, roles = _tables(1)
    requirement = sf.require("delta_presence_min >= 0.05")
    steered = sf.GeneralizeFullDomain(require=(requirement,), population=sf.read(people))
    release = steered(sf.read(sample), roles)
    sf.publish(release, roles, [requirement], tmp_path / "release.csv")
    written = pd.read_csv(tmp_path / "release.csv", dtype=str, keep_default_na=False, na_values=[""])
    rows, covered = _classes(written, people, roles.quasi)
    assert (rows >= 0.05 * covered).all()
    assert covered.sum() == len(people)


@pytest.mark.parametrize("seed", range(4))
def test_leaving_a_class_out_rules_its_people_out(seed):
    """Why `delta_presence_min` has no form per class: no set of classes left out does better than all of them."""
    people, sample, roles = _tables(seed)
    made = sf.GeneralizeFullDomain(k=2)(sf.read(sample), roles).to_pandas()
    whole = sf.delta_presence_min(sf.Release(table=sf.read(made), population=sf.read(people)), roles).value
    for name in roles.quasi:
        for label in made[name].unique():
            rest = made[made[name] != label] if not pd.isna(label) else made[made[name].notna()]
            if len(rest) in (0, len(made)):
                continue
            left = sf.delta_presence_min(sf.Release(table=sf.read(rest), population=sf.read(people)), roles).value
            assert left <= whole
