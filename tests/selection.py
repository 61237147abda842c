"""Which cases the quick suite runs: none marked `full`; of a test's other cases as few as show every value of every parameter, a few seeds
and a few of the examples that hypothesis would draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import settings

DRAWN = ("seed", "part")
SEEDS = 2
LONG = 12
EXAMPLES = 8
"""Of a seed, or of a long row of whole numbers, so many values; of hypothesis so many examples."""
everything = False
"""Whether this is the full suite; the conftest says so before the first test."""


def few(cases: Iterable[str], *quick: str) -> list[Any]:
    """These cases, those not named only in the full suite."""
    return [case if case in quick else pytest.param(case, marks=pytest.mark.full) for case in cases]


def rounds(*bounds: int, one_in: int = 8) -> range:
    """The rounds of a loop over random questions inside one test: all of `range(*bounds)`, in the quick suite the first of them, no fewer than two."""
    every = range(*bounds)
    return every if everything else every[: max(SEEDS, len(every) // one_in)]


def enough(seen: bool) -> bool:
    """Whether the rounds of such a loop came upon all that they should; the few of the quick suite need not."""
    return seen or not everything


def quick(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The quick suite's cases, in the order given."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("full") is None:
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {id(case) for cases in tests.values() for case in _covering(cases)}
    return [_with_few_examples(item) for item in items if id(item) in kept]


def _with_few_examples(item: Any) -> pytest.Item:
    test = getattr(item.obj, "__func__", item.obj)
    given = getattr(test, "_hypothesis_internal_use_settings", None)
    if given is not None:
        few_examples = settings(given, max_examples=min(given.max_examples, EXAMPLES))
        test._hypothesis_internal_use_settings = few_examples
    return item


def _covering(cases: list[pytest.Item]) -> list[pytest.Item]:
    """The case with most values not shown yet, again and again; among equals the one whose values were shown least."""
    values = {id(case): _values(case) for case in cases}
    missing = {value for each in values.values() for value in each}
    for name in {name for name, _, _ in missing}:
        column = list(dict.fromkeys(value for each in values.values() for value in each if value[0] == name))
        if name in DRAWN or (len(column) > LONG and all(kind is int for _, kind, _ in column)):
            missing -= set(column[SEEDS:])
    shown: Counter[Any] = Counter()
    kept = []
    while missing or not kept:
        best = max(cases, key=lambda case: (len(missing & values[id(case)]), -sum(shown[v] for v in values[id(case)])))
        kept.append(best)
        missing -= values[id(best)]
        shown.update(values[id(best)])
        cases = [case for case in cases if case is not best]
    return kept


def _values(case: pytest.Item) -> set[Any]:
    given = case.callspec.params if hasattr(case, "callspec") else {}
    return {(name, type(v), v if isinstance(v, str | int | float) else id(v)) for name, v in given.items()}
