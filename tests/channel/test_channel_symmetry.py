"""Orbits: as many as Burnside counts, of the right sizes, and the same error as every table by itself."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from k_anonymity_oracle import AGE, DISEASE, GENDER, error, paper, rows_prior, some_description

from sfumato.channel.k_anonymity import solve
from sfumato.channel.symmetry import SymmetryGroup, orbit_count, orbits, symmetries
from sfumato.channel.table_prior import prior_of
from sfumato.channel.tables import Attribute, Ranks, RowDomain, input_count

PAPER = RowDomain((AGE, GENDER, DISEASE))
FLAT = Attribute(name="a", role="quasi", levels=(tuple("12345"), ("*",) * 5))
UNLIKE = Attribute(name="a", role="quasi", levels=(tuple("123456"), ("u", "u", "u", "v", "v", "w"), ("*",) * 6))


def group(domain: RowDomain, most: int = 2_000, **given: list[float]) -> SymmetryGroup:
    return symmetries(domain, prior_of(given or None, domain, 2), most)


# --- extremes --------------------------------------------------------------------------------------------------------


def test_where_nothing_is_alike_there_is_only_the_identity() -> None:
    chain = Attribute(name="a", role="quasi", levels=(("1", "2", "3"), ("12", "12", "3")))
    assert group(RowDomain((chain,)), a=[0.1, 0.2, 0.7]).order == 1
    assert group(RowDomain((FLAT,)), most=1).order == 1


def test_one_row_has_an_orbit_for_each_kind_of_row() -> None:
    assert orbit_count(group(RowDomain((FLAT,))), 1) == 1
    assert orbit_count(group(RowDomain((UNLIKE,))), 1) == 3


def test_orbits_of_interchangeable_values_are_partitions() -> None:
    """Tables of r rows over five values that are all alike: partitions of r into at most five parts."""
    flat = group(RowDomain((FLAT,)))
    assert flat.order == 120
    assert [orbit_count(flat, r) for r in range(7)] == [1, 1, 2, 3, 5, 7, 10]


# --- the group -------------------------------------------------------------------------------------------------------


def test_the_symmetries_of_the_paper() -> None:
    """Age: two pairs, each of which may be swapped, and they with each other; gender 2; disease 6."""
    assert [len(part) for part in group(PAPER).parts] == [8, 2, 6]
    assert [len(part) for part in group(PAPER, age=[0.1, 0.2, 0.3, 0.4]).parts] == [1, 2, 6]
    assert [len(part) for part in group(PAPER, age=[0.1, 0.4, 0.1, 0.4]).parts] == [2, 2, 6]
    assert [len(part) for part in group(PAPER, age=[0.1, 0.4, 0.4, 0.1]).parts] == [2, 2, 6]
    assert [len(part) for part in group(RowDomain((UNLIKE,))).parts] == [6 * 2]


@pytest.mark.parametrize("seed", range(20))
def test_symmetries_keep_every_level(seed: int) -> None:
    domain = some_description(seed).domain
    found = group(domain)
    for attribute, part in zip((*domain.quasi, *domain.sensitive), found.parts, strict=True):
        # all permutations that map groups to groups at every level
        expected = [
            p
            for p in itertools.permutations(range(len(attribute.levels[0])))
            if all(len(set(zip(c, c[list(p)], strict=True))) == len(set(c)) for c in attribute.codes)
        ]
        assert sorted(part) == sorted(expected)


def test_a_limit_on_the_symmetries_leaves_a_subgroup() -> None:
    found = group(PAPER, most=20)
    assert 1 < found.order <= 20
    for part in found.parts:
        assert all(tuple(p[i] for i in q) in part for p in part for q in part)


# --- orbits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_orbits_are_those_of_all_tables(seed: int) -> None:
    d = some_description(seed, most=400)
    domain, found = d.domain, group(d.domain)
    tables, sizes = orbits(found, d.rows)
    n = input_count(domain, d.rows)
    assert sizes.sum() == n
    assert len(tables) == orbit_count(found, d.rows)
    # plainly: the set of images of each table
    moves = found.on_rows((0,) * len(domain.quasi))
    every = {
        frozenset(tuple(sorted(move[list(x)].tolist())) for move in moves)
        for x in map(tuple, Ranks(domain.size, d.rows).unrank(np.arange(n)).tolist())
    }
    assert sorted(len(orbit) for orbit in every) == sorted(sizes.tolist())


# --- the error -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_orbits_give_the_error_of_plain_python(seed: int) -> None:
    d = some_description(seed, most=300)
    assert solve(d, method="orbits").exact == error(d)


@pytest.mark.parametrize("seed", range(25))
def test_orbits_give_the_error_under_independent_rows(seed: int) -> None:
    d, rng = some_description(seed, most=300), random.Random(seed)
    given = {}
    for a in d.attributes:
        weights = [rng.choice([1, 1, 2]) for _ in a.levels[0]]
        given[a.name] = [Fraction(w, sum(weights)) for w in weights]
    assert solve(d, prior=given, method="orbits").error == pytest.approx(
        float(error(d, rows_prior(d, given))), abs=1e-12
    )


@pytest.mark.parametrize("publish", ["uniform", "minimal", "deterministic", lambda free: free[len(free) // 2]])
@pytest.mark.parametrize("prior", [None, {}, {"gender": [0.3, 0.7]}])
def test_orbits_give_the_error_of_the_papers_tables(publish: object, prior: object) -> None:
    d = paper(publish=publish)
    one, every = solve(d, prior=prior, method="orbits"), solve(d, prior=prior, method="enumerate")
    assert one.error == pytest.approx(every.error, abs=1e-13)
    assert (one.outputs, one.reached) == (every.outputs, every.reached)
    assert one.method == "orbits"


def test_where_tables_are_many_symmetry_is_used_and_exact() -> None:
    d = paper(rows=7)
    found = solve(d, prior={}, limit=1_000_000)
    assert (found.method, found.exactness, found.inputs) == ("orbits", "exact", 2_035_800)
