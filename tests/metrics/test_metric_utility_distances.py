"""Column and pair distances, query error and the owner's own queries: extremes, brute force, refusals."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from house import Make
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.roles import Roles
from sfumato.inspect.queries import given_queries
from sfumato.metrics.utility import pair_distance as pairs_module
from sfumato.metrics.utility.column_distance import column_distance
from sfumato.metrics.utility.pair_distance import pair_distance
from sfumato.metrics.utility.query_error import query_error

ROLES = Roles(quasi=("a", "b"), sensitive=("s",), insensitive=("i",))
RNG = np.random.default_rng(3)
ROWS = 300
A = RNG.integers(0, 12, ROWS)
B = (A // 3 + RNG.integers(0, 2, ROWS)) % 4
S = RNG.integers(0, 3, ROWS)
ORIGINAL: dict[str, list[Any]] = {
    "a": [str(v) for v in A],
    "b": ["wxyz"[v] for v in B],
    "s": [None if v == 2 else f"s{v}" for v in S],
    "i": [str(v) for v in RNG.integers(0, 2, ROWS)],
}
LOCAL = {  # local recoding: overlapping intervals, sets, exact values and *
    **ORIGINAL,
    "a": [[str(v), f"[{v // 4 * 4},{v // 4 * 4 + 4})", "*", f"[{v - v % 2},{v - v % 2 + 1}]"][i % 4] for i, v in enumerate(A)],
    "b": ["{w, x}" if v < 2 and i % 2 else "wxyz"[v] for i, v in enumerate(B)],
}  # fmt: skip


def covers(name: str, text: Any) -> list[Any]:
    """What a released value stands for, read once more in a few lines."""
    domain = sorted(set(ORIGINAL[name]), key=str)
    if text == "*":
        return domain
    if text is not None and text[0] == "{":
        return text[1:-1].split(", ")
    if text is not None and text[0] == "[":
        low, high = map(int, text[1:-1].split(","))
        return [v for v in domain if low <= int(v) <= high - (text[-1] == ")")]
    return [text]


def spread(released: dict[str, list[Any]], *names: str) -> Counter[tuple[Any, ...]]:
    """The rows that each combination of original values gets, every released value spread evenly."""
    mass: Counter[tuple[Any, ...]] = Counter()
    for row in zip(*(released[n] for n in names), strict=True):
        cells = list(itertools.product(*(covers(n, t) for n, t in zip(names, row, strict=True))))
        for cell in cells:
            mass[cell] += 1 / len(cells)
    return mass


def total_variation(released: dict[str, list[Any]], *names: str) -> float:
    p, q = spread(ORIGINAL, *names), spread(released, *names)
    rows = len(released["a"])
    return sum(abs(p[c] / ROWS - q[c] / rows) for c in {*p, *q}) / 2


# --- distances -------------------------------------------------------------------------------------------------------


def test_nothing_changed(release: Make) -> None:
    published = release(ORIGINAL, ORIGINAL)
    assert column_distance(published, ROLES).value == 0
    assert pair_distance(published, ROLES).value == 0
    assert query_error(published, ROLES).value == 0


def test_extremes_of_the_column_distance(release: Make) -> None:
    one = Roles(quasi=("q",))
    mostly = ["x"] * 997 + ["y", "z", "w"]
    assert column_distance(release({"q": ["*"] * 1000}, {"q": mostly}), one).value == pytest.approx(0.997 - 0.25)
    assert column_distance(release({"q": ["*"] * 4}, {"q": list("wxyz")}), one).value == pytest.approx(0)
    assert column_distance(release({"q": ["7.5", "8.5"]}, {"q": ["7", "8"]}), one).value == 1  # none is the original's
    assert column_distance(release({"q": [None, "8"]}, {"q": ["7", "8"]}), one).value == 0.5  # missing is a value


def test_extremes_of_the_pair_distance(release: Make) -> None:
    two = Roles(quasi=("q", "r"))
    tell = {"q": list("wxyz"), "r": list("abcd")}
    assert pair_distance(release({"q": ["*"] * 4, "r": ["*"] * 4}, tell), two).value == pytest.approx(3 / 4)
    shuffled = {"q": tell["q"], "r": list("bcda")}
    assert pair_distance(release(shuffled, tell), two).value == 1  # each column is as it was
    assert column_distance(release(shuffled, tell), two).value == 0
    with pytest.raises(Unavailable, match="two columns"):
        pair_distance(release(tell, tell), Roles(quasi=("q",)))


def test_distances_by_brute_force(release: Make) -> None:
    changed = {**LOCAL, "i": ["0"] * ROWS}
    score = column_distance(release(changed, ORIGINAL), ROLES)
    expected = {name: total_variation(changed, name) for name in "absi"}
    assert score.details["columns"] == {name: pytest.approx(value, abs=1e-12) for name, value in expected.items()}
    assert score.value == pytest.approx(max(expected.values()))
    assert score.details["worst"] == max(expected, key=lambda n: expected[n])
    score = pair_distance(release(changed, ORIGINAL), ROLES)
    both = {f"{m} x {n}": total_variation(changed, m, n) for m, n in itertools.combinations("abs", 2)}
    assert score.details["pairs"] == {name: pytest.approx(value) for name, value in both.items()}
    assert score.value == pytest.approx(max(both.values()))
    for name, value in both.items():  # a pair is never nearer than its columns
        assert value >= max(expected[name[0]], expected[name[-1]]) - 1e-12


def test_the_two_ways_through_the_pairs_agree(release: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    dense = pair_distance(release(LOCAL, ORIGINAL), ROLES).details["pairs"]
    monkeypatch.setattr(pairs_module, "BLOCK", 20)
    blocks = pair_distance(release(LOCAL, ORIGINAL), ROLES).details["pairs"]
    assert blocks == {name: pytest.approx(value, abs=1e-12) for name, value in dense.items()}


def test_many_values_are_compared_in_groups(release: Make) -> None:
    """Groups can only bring distributions nearer; a column moved as a whole is still far."""
    numbers = [str(v) for v in range(1000)]
    half = ["[0,500)" if int(v) < 500 else "[500,1000)" for v in numbers]
    other = [str(int(v) // 250) for v in numbers]
    two = Roles(quasi=("q", "r"))
    score = pair_distance(release({"q": half, "r": other}, {"q": numbers, "r": other}), two)
    assert score.value == pytest.approx(0.5, abs=0.01)
    assert pair_distance(release({"q": numbers, "r": other}, {"q": numbers, "r": other}), two).value == 0


def test_rows_that_are_gone_do_not_count_but_their_skew_does(release: Make) -> None:
    one = Roles(quasi=("q",))
    before = {"q": ["x"] * 4 + ["y"] * 4}
    assert column_distance(release({"q": ["x"] * 2 + ["y"] * 2}, before), one).value == 0
    assert column_distance(release({"q": ["x"] * 3 + ["y"]}, before), one).value == 0.25


def test_leaves_that_do_not_occur_take_their_share(release: Make) -> None:
    """The file has four values, the original two of them: half of `*` lies elsewhere."""
    tree = Hierarchy.of("q", [(v, "*") for v in "wxyz"])
    one = Roles(quasi=("q",), hierarchies={"q": tree})
    assert column_distance(release({"q": ["*"] * 2}, {"q": ["w", "x"]}), one).value == 0.5


def test_what_cannot_be_read_is_refused(release: Make, refusal: Any, canary: str) -> None:
    for metric in (column_distance, pair_distance, query_error):
        for values in ([canary, "7"], ["7.5", canary]):
            published = release({"q": values, "r": ["a", "b"]}, {"q": ["7", "8"], "r": ["a", "b"]})
            refusal(Unavailable, lambda m=metric, p=published: m(p, Roles(quasi=("q", "r"))), "q", metric.card.name)
        refusal(Unavailable, lambda m=metric: m(release(LOCAL), ROLES), "--original")


# --- queries ---------------------------------------------------------------------------------------------------------


def test_queries_by_brute_force(release: Make) -> None:
    queries: list[dict[str, Any]] = [
        {"a": (2, 7), "b": ["w", "y"]},
        {"a": ["1", "5", 9]},
        {"s": [None], "b": {"x"}},
        {"a": (0, 100), "b": list("wxyz"), "s": [None, "s0", "s1"]},
        {"i": ["1"], "a": (3.5, 3.6)},
    ]
    found = given_queries(release(LOCAL, ORIGINAL), ROLES, queries)
    for i, query in enumerate(queries):
        meant = {
            n: [v for v in set(ORIGINAL[n]) if v is not None and w[0] <= float(v) <= w[1]]
            if isinstance(w, tuple)
            else [None if v is None else str(v) for v in w]
            for n, w in query.items()
        }
        for table, answer in ((ORIGINAL, found.actual), (LOCAL, found.estimate)):
            mass = spread(table, *query)
            wanted = sum(n for cell, n in mass.items() if all(v in meant[c] for c, v in zip(query, cell, strict=True)))
            assert answer[i] == pytest.approx(wanted, abs=1e-9)
    assert found.actual[3] == found.estimate[3] == pytest.approx(ROWS)
    assert found.actual[4] == found.error[4] == 0
    error = np.abs(found.estimate - found.actual) / np.maximum(found.actual, 1)
    assert found.error == pytest.approx(error)
    assert found.mean_error == pytest.approx(error.mean())


def test_the_sanity_bound(release: Make) -> None:
    """Nobody is in the original's answer, one in two of 100 in the release's."""
    before = {"q": ["x"] * 100 + ["y"] * 100, "r": ["k"] * 100 + ["l"] * 100}
    published = release({"q": ["*"] * 200, "r": before["r"]}, before)
    ask = [{"q": ["x"], "r": ["l"]}]
    assert given_queries(published, Roles(quasi=("q", "r")), ask).error == pytest.approx([50])
    assert given_queries(published, Roles(quasi=("q", "r")), ask, sanity=0.1).error == pytest.approx([50 / 20])


def test_perturbed_numbers_answer_to_ranges(release: Make) -> None:
    published = release({"q": ["1.5", "7.5", "3"]}, {"q": ["1", "8", "3"]})
    found = given_queries(published, Roles(quasi=("q",)), [{"q": (1, 2)}, {"q": (1, 3)}, {"q": ["1"]}])
    assert found.estimate.tolist() == [1, 2, 0]
    assert found.actual.tolist() == [1, 2, 1]


def test_dates_answer_to_ranges(release: Make) -> None:
    days = ["2024-01-31", "2024-05-01", "2025-01-01"]
    published = release({"q": ["2024", "2024", "2025-01-01"]}, {"q": days})
    found = given_queries(
        published, Roles(quasi=("q",)), [{"q": ("2024-01-01", "2024-03-01")}, {"q": ("2024", "2024")}]
    )
    assert found.actual.tolist() == [1, 2]
    assert found.estimate.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("query", "says"),
    [({"nope": ["1"]}, "nope"), ({}, "empty"), ({"b": (1, 2)}, "range"), ({"a": ("x", "y")}, "numbers"), ({"a": (1, 2, 3)}, "two ends"), ({"b": "w"}, "list"), ({"b": ["Quixotic7741"]}, "'b'")],
)  # fmt: skip
def test_queries_that_cannot_be_asked(release: Make, refusal: Any, query: Any, says: str) -> None:
    refusal(InputError, lambda: given_queries(release(LOCAL, ORIGINAL), ROLES, [{"a": ["1"]}, query]), "Query 2", says)


def test_random_queries(release: Make) -> None:
    published = release(LOCAL, ORIGINAL)
    one, again = (query_error(published, ROLES) for _ in range(2))
    other = query_error(seed=5)(published, ROLES)
    assert one.value == again.value != other.value
    assert one.exactness == "estimate"
    assert one.ci is not None
    assert one.ci[0] < one.value < one.ci[1]
    many = query_error(queries=5000)(published, ROLES)
    assert one.ci[0] < many.value < one.ci[1]
    assert many.ci is not None
    assert many.ci[1] - many.ci[0] < one.ci[1] - one.ci[0]
    assert query_error(predicates="ranges")(published, ROLES).value > 0


def test_a_query_for_everything_is_always_right(release: Make) -> None:
    published = release(LOCAL, ORIGINAL)
    assert query_error(selectivity=1)(published, ROLES).value == pytest.approx(0, abs=1e-12)
    fewer = release({n: v[: ROWS // 2] for n, v in LOCAL.items()}, ORIGINAL)
    assert query_error(selectivity=1)(fewer, ROLES).value == pytest.approx(0.5)  # rows that are gone are missed


def test_random_queries_of_one_column_by_expectation(release: Make) -> None:
    """All rows have x of four values, released as `*`: one value is asked for; 3 in 4 times nobody is there."""
    before = {"q": ["x"] * 997 + list("yzw")}
    score = query_error(queries=20_000, columns=1, selectivity=0.25)(
        release({"q": ["*"] * 1000}, before), Roles(quasi=("q",))
    )
    expected = (747 / 997 + 3 * 249 / 1) / 4
    assert score.value == pytest.approx(expected, rel=0.02)
    ranges = query_error(predicates="ranges", queries=20_000, columns=1, selectivity=0.25)
    numbers = {"q": ["7"] * 997 + ["1", "9", "4"]}
    assert ranges(release({"q": ["*"] * 1000}, numbers), Roles(quasi=("q",))).value == pytest.approx(expected, rel=0.02)


def test_spelling_does_not_choose_the_queries(release: Make) -> None:
    """Values under other names, in another order: the same queries. Values that nothing tells apart are drawn evenly."""
    new = {v: f"n{(7 * int(v) + 3) % 12:02d}" for v in set(ORIGINAL["a"])}
    merge = {v: "{" + ", ".join(sorted(w for w in new if int(w) // 4 == int(v) // 4)) + "}" for v in new}
    renamed = {v: "{" + ", ".join(sorted(new[w] for w in new if int(w) // 4 == int(v) // 4)) + "}" for v in new}
    one = release({**ORIGINAL, "a": [merge[v] for v in ORIGINAL["a"]]}, ORIGINAL)
    two = release(
        {**ORIGINAL, "a": [renamed[v] for v in ORIGINAL["a"]]}, {**ORIGINAL, "a": [new[v] for v in ORIGINAL["a"]]}
    )
    assert query_error(one, ROLES).value == pytest.approx(query_error(two, ROLES).value, rel=1e-9)


@pytest.mark.parametrize("metric", [column_distance, pair_distance, query_error], ids=str)
@pytest.mark.parametrize(
    "rows",
    [
        {"a": ["x"], "b": ["y"], "s": ["z"]},  # one row
        {"a": [None] * 3, "b": [None] * 3, "s": [None] * 3},  # missing throughout
        {"a": [str(i) for i in range(300)], "b": ["k"] * 300, "s": [f"s{i}" for i in range(300)]},  # all singletons
    ],
)
def test_odd_tables(release: Make, metric: Any, rows: dict[str, list[Any]]) -> None:
    three = Roles(quasi=("a", "b"), sensitive=("s",))
    assert metric(release(rows, rows), three).value == 0
    hidden = {**rows, "a": ["*"] * len(rows["a"])}
    assert 0 <= metric(release(hidden, rows), three).value < 300
    with pytest.raises(Unavailable, match="no rows"):
        metric(release(rows, {name: values[:0] for name, values in rows.items()}), three)
