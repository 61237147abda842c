"""Privacy skyline: the closed form against every world and every piece of knowledge, and its extremes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

import sfumato as sf
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("q",), sensitive=("s",))


def columns(classes: Sequence[str]) -> dict[str, list[str]]:
    return {"q": [str(c) for c, values in enumerate(classes) for _ in values], "s": [v for vs in classes for v in vs]}


def brute(classes: Sequence[str], l: int, k: int, m: int) -> float:
    """Worlds are the assignments of each class's values to its people; knowledge is all that the definition allows."""
    worlds = [sum(parts, ()) for parts in itertools.product(*(sorted(set(itertools.permutations(c))) for c in classes))]
    people, values = range(len(worlds[0])), sorted({v for c in classes for v in c})
    starts = {sum(len(c) for c in classes[:i]) for i in range(len(classes))}  # people of a class are alike
    best = 0.0
    for t in starts:
        others = [p for p in people if p != t]
        for s in values:
            denied = itertools.combinations([v for v in values if v != s], min(l, len(values) - 1))
            for lacks, known, alike in itertools.product(
                denied, itertools.combinations(others, k), itertools.combinations(others, m)
            ):
                left = [w for w in worlds if w[t] not in lacks and (w[t] == s or all(w[v] != s for v in alike))]
                for said in {tuple(w[u] for u in known) for w in left}:
                    kept = [w for w in left if tuple(w[u] for u in known) == said]
                    best = max(best, sum(w[t] == s for w in kept) / len(kept))
    return best


@pytest.mark.parametrize("classes", [("aabc", "abb"), ("aabbc", "ac"), ("abcd",), ("aaabbc", "bbc")])
@pytest.mark.parametrize(("l", "k", "m"), [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (0, 2, 1), (0, 0, 2), (0, 1, 2)])  # fmt: skip
def test_the_closed_form_is_the_largest_over_all_knowledge(
    release: Any, classes: Sequence[str], l: int, k: int, m: int
) -> None:
    found = sf.privacy_skyline(l=l, k=k, m=m)(release(columns(classes)), ROLES).value
    assert found == pytest.approx(brute(classes, l, k, m))


def test_it_is_positive_disclosure_and_the_negations_at_the_edges(release: Any) -> None:
    made = release(columns(["aaabbcd", "abcde", "bbccd"]))
    assert sf.privacy_skyline(l=0, k=0)(made, ROLES).value == sf.positive_disclosure(made, ROLES).value
    for l in (1, 2, 3):
        negations = sf.worst_case_background(k=l, knowledge="negations")(made, ROLES).value
        assert sf.privacy_skyline(l=l, k=0)(made, ROLES).value == pytest.approx(negations)
    for m in (1, 2):
        implied = sf.worst_case_background(k=m)(made, ROLES).value
        assert sf.privacy_skyline(l=0, k=0, m=m)(made, ROLES).value <= implied + 1e-12


def test_more_knowledge_never_helps_privacy(release: Any) -> None:
    made = release(columns(["aaabbccdd", "abcdefgh", "bbccddee"]))
    for l, k, m in itertools.product(range(3), repeat=3):
        here = sf.privacy_skyline(l=l, k=k, m=m)(made, ROLES).value
        for more in ((l + 1, k, m), (l, k + 1, m), (l, k, m + 1)):
            assert sf.privacy_skyline(**dict(zip("lkm", more, strict=True)))(made, ROLES).value >= here - 1e-12
