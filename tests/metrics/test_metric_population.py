"""k-map and delta-presence: the release beside a table of the population."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from house import MANTA, PUBLIC, RESEARCH
from sfumato.core.errors import Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("q",))
PEOPLE = Roles(quasi=("q",), person="id")


def test_manta_table_22(release: Callable[..., Release], golden: dict[str, Any]) -> None:
    low, high = golden["manta"]["table_3_22_presence"]["value"]
    published = release(RESEARCH, population=PUBLIC)
    largest = sf.delta_presence(published, MANTA)
    assert largest.value == high == pytest.approx(2 / 3)
    assert largest.per_class == pytest.approx([1 / 2, 2 / 3])
    assert largest.details["minimum"] == low == 1 / 2
    assert sf.delta_presence_min(published, MANTA).value == 1 / 2
    assert sf.k_map(published, MANTA).value == 3
    assert sf.k_map(published, MANTA).per_class == pytest.approx([6, 3])


def test_everybody_is_in_the_release(release: Callable[..., Release]) -> None:
    everybody = {"q": ["1", "2", "3", "4"]}
    published = release({"q": ["[1,2]", "[1,2]", "[3,4]", "[3,4]"]}, population=everybody)
    assert sf.delta_presence(published, ROLES).value == 1
    assert sf.delta_presence_min(published, ROLES).value == 1
    assert sf.k_map(published, ROLES).value == sf.k_anonymity(published, ROLES).value == 2


def test_all_look_alike(release: Callable[..., Release]) -> None:
    published = release({"q": ["*", "*"]}, population={"q": ["1", "2", None, "x", "5"]})
    assert sf.delta_presence(published, ROLES).value == sf.delta_presence_min(published, ROLES).value == 2 / 5
    assert sf.k_map(published, ROLES).value == 5  # missing included


def test_who_is_in_no_class_is_certainly_absent(release: Callable[..., Release]) -> None:
    published = release({"q": ["a", "b"]}, population={"q": ["a", "a", "b", "c", None]})
    low = sf.delta_presence_min(published, ROLES)
    assert low.value == 0
    assert low.per_class is None
    assert low.details["people_in_no_class"] == 2
    high = sf.delta_presence(published, ROLES)
    assert (high.value, high.details["minimum"]) == (1, 0)


def test_people_missing_from_the_population_still_count(release: Callable[..., Release]) -> None:
    """A released row has somebody behind it, whatever the population table says."""
    published = release({"q": ["a", "a", "b"]}, population={"q": ["b", "b", "b"]})
    score = sf.k_map(published, ROLES)
    assert score.per_class == pytest.approx([2, 3])
    assert (score.value, score.exactness, score.details["classes_larger_than_population"]) == (2, "bound", 1)
    assert sf.delta_presence(published, ROLES).value == 1


def test_one_class_within_another(release: Callable[..., Release]) -> None:
    published = release({"q": ["[1,4]", "[1,2]"]}, population={"q": ["1", "2", "3", "4"]})
    score = sf.delta_presence(published, ROLES)
    assert sorted(score.per_class) == [1 / 4, 1 / 2]
    assert score.details["people_in_several_classes"] == 2
    assert sf.k_map(published, ROLES).value == 2


def test_people_of_several_rows_count_once(release: Callable[..., Release]) -> None:
    """On both sides: Ann has three rows in the population and two in the release."""
    population = {"id": ["ann", "ann", "ann", "bob", "cem", "cem"], "q": ["1", "1", "2", "2", "3", "3"]}
    published = release({"id": ["ann", "ann", "cem"], "q": ["[1,2]", "[1,2]", "3"]}, population=population)
    assert sf.k_map(published, PEOPLE).per_class == pytest.approx([1, 2])  # 3: cem; [1,2]: ann and bob
    assert sf.delta_presence(published, PEOPLE).per_class == pytest.approx([1, 1 / 2])
    unnamed = Roles(quasi=("q",))
    assert sf.k_map(published, unnamed).per_class == pytest.approx([2, 4])
    overlapping = release({"id": ["ann", "cem"], "q": ["[1,2]", "[2,3]"]}, population=population)
    score = sf.delta_presence(overlapping, PEOPLE)
    assert score.per_class == pytest.approx([1 / 2, 1 / 3])  # [2,3]: ann, bob and cem
    assert score.details["people_in_several_classes"] == 2


def test_a_population_is_needed(release: Callable[..., Release], refusal: Callable[..., str]) -> None:
    published = release({"q": ["a"]})
    for metric in (sf.k_map, sf.delta_presence, sf.delta_presence_min):
        refusal(Unavailable, lambda metric=metric: metric(published, ROLES), "--population", metric.card.name)


LABELS = ["1", "2", "3", "[1,2]", "[2,3]", "*", None, "{1, 3}"]


@pytest.mark.parametrize("seed", range(12))
def test_a_few_lines_say_the_same(seed: int, release: Callable[..., Release]) -> None:
    """Every class against every person, in plain Python; with and without overlap, with and without people."""
    rng = np.random.default_rng(seed)
    labels = LABELS if seed % 2 else ["[1,2]", "3", None]
    covers = {"1": "1", "2": "2", "3": "3", "[1,2]": "12", "[2,3]": "23", "{1, 3}": "13"}

    def covered(label: str | None, value: str | None) -> bool:
        return label == "*" or (value is None if label is None else value is not None and value in covers[label])

    def draw(values: list[Any], size: int) -> list[Any]:
        return [values[i] for i in rng.integers(0, len(values), size)]

    rows = list(zip(draw(labels, 9), draw(labels, 9), draw(list("uvwxyz"), 9), strict=True))
    people = list(zip(*(draw(["1", "2", "3", None], 14) for _ in "ab"), draw(list("uvwxyzabcd"), 14), strict=True))
    for named in (False, True):
        roles = Roles(quasi=("a", "b"), person="id" if named else None)
        published = release(dict(zip(("a", "b", "id"), zip(*rows, strict=True), strict=True)), population=dict(zip(("a", "b", "id"), zip(*people, strict=True), strict=True)))  # fmt: skip
        who = [row[2] if named else i for i, row in enumerate(rows)]
        other = [person[2] if named else i for i, person in enumerate(people)]
        sizes, shares = [], []
        for a, b in {row[:2] for row in rows}:
            inside = len({w for row, w in zip(rows, who, strict=True) if row[:2] == (a, b)})
            fit = len({o for p, o in zip(people, other, strict=True) if covered(a, p[0]) and covered(b, p[1])})
            sizes.append(max(fit, inside))
            shares.append(Fraction(inside, max(fit, inside)))
        classes = {row[:2] for row in rows}
        seen = {
            o for p, o in zip(people, other, strict=True) for a, b in classes if covered(a, p[0]) and covered(b, p[1])
        }
        assert sf.k_map(published, roles).value == min(sizes)
        assert sf.delta_presence(published, roles).value == pytest.approx(float(max(shares)))
        absent = len(set(other) - seen)
        assert sf.delta_presence(published, roles).details["people_in_no_class"] == absent
        assert sf.delta_presence_min(published, roles).value == (0 if absent else pytest.approx(float(min(shares))))


def test_many_classes_and_a_large_population(weighted: Any) -> None:
    """Disjoint classes are looked up, not compared one by one: 200,000 of them against as many people."""
    size = 200_000
    a, b, c = (np.arange(size) // k % 60 for k in (1, 60, 3600))
    columns = {name: [str(v) for v in values.tolist()] for name, values in zip("abc", (a, b, c), strict=True)}
    both = Release(table=weighted(columns, [1] * size), population=weighted(columns, [2] * size))
    roles = Roles(quasi=("a", "b", "c"))
    assert sf.k_map(both, roles).value == 2
    assert sf.delta_presence(both, roles).value == 1 / 2
