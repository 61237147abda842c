"""Table linkage: the survey's tables, all ways to give rows their people in plain Python, and bounds that hold."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import MANTA, PUBLIC, RESEARCH, Make, MakeTable
from sfumato.attacks.knowledge import presence as presence_module
from sfumato.attacks.membership import membership, presence
from sfumato.core.cover import Domain
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles

INSIDE = [1, 2, 5, 7, 8]  # table 3.20: Bob, Christine, Frank, Harry, Iris
Q = Roles(quasi=("q",))


def test_manta_tables_19_to_22(release: Make) -> None:
    made = release(RESEARCH, population=PUBLIC)
    found = presence(made, MANTA)
    of = {
        tuple(c.texts[k[i]] for c, k in zip(found.people.columns, found.people.codes, strict=True)): i for i in range(9)
    }
    for i in range(9):
        at = of[PUBLIC["zip"][i], PUBLIC["age"][i], PUBLIC["nationality"][i]]
        assert found.low[at] == found.high[at] == pytest.approx(1 / 2 if i < 6 else 2 / 3)
    attack = membership(made, MANTA)
    assert attack.exactness == "exact"
    assert attack.details.delta_min == pytest.approx(1 / 2)
    assert attack.details.delta_max == pytest.approx(2 / 3)
    assert attack.details.delta_max == pytest.approx(sf.delta_presence(made, MANTA).value)
    assert attack.fell == pytest.approx(6 / 2 + 3 * 2 / 3)
    assert attack.attacked == 9
    assert attack.baseline is not None
    assert attack.baseline.value == pytest.approx(5 / 9)
    assert attack.above == pytest.approx(0)  # who says "in" of everybody is right as often
    json.dumps(attack.details.to_dict())


def test_manta_table_20_as_it_is(release: Make) -> None:
    """The research subset unsanitized: everybody is told to be in or out."""
    raw = {name: [PUBLIC[name][i] for i in INSIDE] for name in MANTA.quasi}
    attack = membership(release(raw, population=PUBLIC), MANTA, identity="name", reveal=True)
    assert attack.success.value == 1
    assert attack.details.found == sorted(PUBLIC["name"][i] for i in INSIDE)
    assert attack.details.surely_in == 5
    assert attack.details.surely_out == attack.details.in_no_class == 4
    assert attack.above == pytest.approx(4 / 9)


def test_a_release_that_carries_nothing_gives_the_baseline(release: Make) -> None:
    people = {"q": [str(v) for v in range(100)]}
    for rows in (10, 50, 90):
        attack = membership(release({"q": ["*"] * rows}, population=people), Q)
        assert attack.baseline is not None
        assert (
            attack.success.value == pytest.approx(attack.baseline.value) == pytest.approx(max(rows, 100 - rows) / 100)
        )
        assert attack.worked is False
        assert attack.details.delta_min == attack.details.delta_max == pytest.approx(rows / 100)


def test_missing_is_a_value(release: Make) -> None:
    people = {"q": ["a", "a", None, None, ""]}
    found = presence(release({"q": ["a", None]}, population=people), Q)
    assert found.low.tolist() == found.high.tolist() == pytest.approx([1 / 2, 1 / 3])


def test_a_population_that_lacks_people(release: Make) -> None:
    attack = membership(release({"q": ["a", "a", "b"]}, population={"q": ["a", "b", "b"]}), Q)
    assert attack.exactness == "bound"
    assert attack.details.classes_larger_than_population == 1
    assert attack.details.delta_max == 1


def ways(rows: list[frozenset[int]], people: int) -> np.ndarray[Any, Any]:
    """The share of all ways to give each row a person of its own in which a person has one."""
    used, total = np.zeros(people), 0
    for given in itertools.product(*rows):
        if len(set(given)) == len(given):
            total += 1
            used[list(given)] += 1
    return used / max(total, 1)


@pytest.mark.parametrize("seed", range(60))
def test_bounds_hold_in_plain_python(seed: int, release: Make) -> None:
    """Classes that overlap: the truth, by all ways, lies between the bounds; and it is met where they do not."""
    rng = np.random.default_rng(seed)
    people = sorted(rng.integers(0, 8, int(rng.integers(4, 9))).tolist())
    inside = rng.choice(len(people), int(rng.integers(1, 5)), replace=False)
    rows = []
    for i in inside:
        low, high = people[i] - int(rng.integers(0, 3)), people[i] + int(rng.integers(0, 3))
        if seed % 3 == 0:  # no overlap
            low, high = people[i] // 3 * 3, people[i] // 3 * 3 + 2
        rows.append((low, high))
    made = release({"q": [f"[{a},{b}]" for a, b in rows]}, population={"q": people})
    found = presence(made, Q)
    truth = ways([frozenset(j for j, v in enumerate(people) if a <= v <= b) for a, b in rows], len(people))
    at = {int(text): i for i, text in enumerate(found.people.columns[0].texts) if text is not None}
    for value, p in zip(people, truth, strict=True):
        assert found.low[at[value]] - 1e-12 <= p <= found.high[at[value]] + 1e-12
    attack = membership(made, Q)
    right = float(np.maximum(truth, 1 - truth).sum())
    assert attack.fell <= right + 1e-9
    assert right <= attack.details.success_at_most * len(people) + 1e-9
    assert attack.success.low <= right / len(people) <= attack.success.high
    assert attack.exactness == ("exact" if found.exact else "bound")
    if seed % 3 == 0:
        assert attack.exactness == "exact"
        assert attack.fell == pytest.approx(right)


def test_overlap_is_a_bound(release: Make) -> None:
    """Two classes over three people: by all three ways, everybody is in with 2/3, which no class alone says."""
    found = presence(release({"q": ["[0,1]", "[1,2]"]}, population={"q": [0, 1, 2]}), Q)
    assert ways([frozenset({0, 1}), frozenset({1, 2})], 3) == pytest.approx([2 / 3] * 3)
    assert found.low == pytest.approx([1 / 2] * 3)
    assert found.high == pytest.approx([1.0] * 3)
    assert found.several == 1
    assert not found.exact


@pytest.mark.parametrize("seed", range(3))
def test_guesses_come_true(seed: int, table: MakeTable) -> None:
    """The expected number of right guesses is the number of right guesses: the truth is counted."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 40, 400)
    inside = rng.random(400) < np.where(values < 20, 0.8, 0.2)
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": {"widths": [5, 10]}})
    original = table({"q": values[inside], "s": ["a"] * int(inside.sum())})
    made = sf.GeneralizeFullDomain(k=5)(original, roles)
    everybody = table({"q": values})
    attack = membership(Release(table=made.table, population=everybody), roles)
    width = [label for label in made.table.count(("q",)).columns[0].texts if label is not None]
    right = 0
    for label in width:
        codes = Domain(everybody.count(("q",)).columns[0]).covered(label)
        assert codes is not None
        some = np.isin(values, [int(str(everybody.count(("q",)).columns[0].texts[c])) for c in codes])
        right += max(int((inside & some).sum()), int((~inside & some).sum()))
    covered = attack.attacked - attack.details.in_no_class
    assert attack.fell == pytest.approx(right + attack.attacked - covered)
    assert attack.worked


# --- several rows a person -------------------------------------------------------------------------------------------

PERSON = Roles(quasi=("q",), person="id")


def of_people(found: Any) -> dict[str | None, tuple[float, float]]:
    """The two ends of each person, from any row of theirs."""
    names = found.people.columns[0].texts
    ends = zip(found.people.codes[0].tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return {names[c]: (low, high) for c, low, high in ends}


def test_one_of_several_rows_is_enough(release: Make) -> None:
    """Of four rows two are released; Ann has two of the four, so she is spared only if both of the others are taken."""
    everybody = {"id": ["Ann", "Ann", "Bob", "Cid"], "q": ["1", "2", "3", "4"]}
    made = release({"q": ["*", "*"]}, population=everybody)
    found = of_people(presence(made, PERSON))
    assert found["Ann"] == pytest.approx((1 - 1 / 6, 1 - 1 / 6))
    assert found["Bob"] == found["Cid"] == pytest.approx((1 / 2, 1 / 2))
    attack = membership(made, PERSON, identity="id", reveal=True, surely=0.8)
    assert attack.attacked == 3
    assert attack.fell == pytest.approx(5 / 6 + 1 / 2 + 1 / 2)
    assert attack.baseline is not None
    assert attack.baseline.value == pytest.approx(attack.success.value)  # a release that carries nothing
    assert attack.details.surely_in == 1
    assert attack.details.found == ["Ann"]
    assert attack.exactness == "exact"


def test_rows_of_one_released_person_belong_together(release: Make) -> None:
    """Everybody has a 1 and nobody but Ann a 2 besides: the released person can be no other."""
    everybody = {"id": ["Ann", "Ann", "Bob", "Bob", "Cid"], "q": ["1", "2", "1", "3", "1"]}
    found = of_people(presence(release({"id": ["x", "x"], "q": ["1", "2"]}, population=everybody), PERSON))
    assert found == {"Ann": (1, 1), "Bob": (0, 0), "Cid": (0, 0)}
    apart = of_people(presence(release({"id": ["x", "y"], "q": ["1", "3"]}, population=everybody), PERSON))
    assert apart["Bob"] == (1, 1)  # y
    assert apart["Ann"][0] <= 1 / 2 <= apart["Ann"][1]  # x is Ann or Cid


def test_a_population_of_one_row_each_and_a_release_of_several(release: Make) -> None:
    """Both rows of x must cover the one row of whoever x is."""
    made = release({"id": ["x", "x"], "q": ["[1,2]", "[2,3]"]}, population={"q": [1, 2, 2, 3]})
    assert presence(made, PERSON).low.tolist() == [0, 1 / 2, 0]


def test_one_row_each_is_as_without_a_person_column(release: Make) -> None:
    q = ["1", "1", "2", "3", "3", "3"]
    rows = {"q": ["[1,2]", "3"]}
    one = membership(release(rows, population={"q": q, "id": list("abcdef")}), PERSON)
    assert one == membership(release(rows, population={"q": q}), Q)


def test_rows_without_a_person_are_somebody_s_each(release: Make) -> None:
    everybody = {"id": [None, None, "Ann", "Ann"], "q": ["1", "1", "2", "2"]}
    attack = membership(release({"q": ["1", "2"]}, population=everybody), PERSON)
    assert attack.attacked == 3
    assert attack.fell == pytest.approx(1 / 2 + 1 / 2 + 1)


@pytest.mark.parametrize("seed", range(40))
def test_people_in_plain_python(seed: int, release: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ways to give rows their rows, or released people their people: the truth lies between the ends, and is met without overlap."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(presence_module, "_BLOCK", int(rng.choice([1, 10**6])))
    apart, carried = seed % 2 == 0, seed % 4 >= 2
    rows = [("abcd"[int(i)], int(v)) for i, v in zip(rng.integers(0, 4, 8), rng.integers(0, 9, 8), strict=True)]
    inside = sorted(rng.choice(8, int(rng.integers(1, 5)), replace=False).tolist())

    def reach(v: int) -> tuple[int, int]:
        return (v // 3 * 3, v // 3 * 3 + 2) if apart else (v - int(rng.integers(0, 3)), v + int(rng.integers(0, 3)))

    boxes = [reach(rows[i][1]) for i in inside]
    published = {"q": [f"[{a},{b}]" for a, b in boxes]}
    if carried:
        published["id"] = ["x" + rows[i][0] for i in inside]
    made = release(published, population={"id": [i for i, _ in rows], "q": [v for _, v in rows]})
    everybody = sorted({i for i, _ in rows})
    ways, times = 0, dict.fromkeys(everybody, 0)
    if carried:
        theirs = [
            [box for box, i in zip(boxes, inside, strict=True) if rows[i][0] == who]
            for who in sorted({rows[i][0] for i in inside})
        ]
        fits = [
            [t for t in everybody if all(any(a <= v <= b for i, v in rows if i == t) for a, b in some)]
            for some in theirs
        ]
    else:
        fits = [[k for k in range(8) if a <= rows[k][1] <= b] for a, b in boxes]
    for given in itertools.product(*fits):
        if len(set(given)) == len(given):
            ways += 1
            for t in set(given) if carried else {rows[k][0] for k in given}:
                times[t] += 1
    found = presence(made, PERSON)
    ends = of_people(found)
    right = 0.0
    for t in everybody:
        p = times[t] / ways
        low, high = ends[t]
        assert low - 1e-12 <= p <= high + 1e-12
        right += max(p, 1 - p)
        if apart and not carried:
            assert low == pytest.approx(p)
    attack = membership(made, PERSON)
    assert attack.attacked == len(everybody)
    assert attack.fell <= right + 1e-9
    assert right <= attack.details.success_at_most * len(everybody) + 1e-9
    assert attack.exactness == ("exact" if found.exact else "bound")


def test_refusals(release: Make, table: MakeTable, refusal: Any) -> None:
    made = release({"q": ["a"]}, population={"q": ["a", "b"]})
    refusal(Unavailable, lambda: membership(release({"q": ["a"]}), Q), "--population")
    refusal(InputError, lambda: membership(made, Q, surely=0.3), "surely")
    refusal(InputError, lambda: membership(made, Q, reveal=True), "identity")
    refusal(InputError, lambda: membership(release({"q": ["a"]}, population={"r": ["a"]}), Q), "'q'")
    refusal(
        Unavailable,
        lambda: membership(release({"q": ["a"]}, population={"q": ["a"]}, perturbed=frozenset("q")), Q),
        "'q'",
    )
    refusal(
        Unavailable,
        lambda: membership(release({"q": ["a"]}, population={"q": ["a"]}, statistics=True), Q),
        "statistics",
    )
    nobody = {"q": pa.array([], pa.string())}
    refusal(Unavailable, lambda: membership(release({"q": ["a"]}, population=nobody), Q), "nobody")
    assert membership(made, Q, population=table({"q": ["a"] * 4})).details.delta_max == pytest.approx(1 / 4)
