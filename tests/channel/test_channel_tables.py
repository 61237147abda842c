"""Tables, nodes and releases (eq. 21-24) against plain Python, and the ranks that number them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from k_anonymity_oracle import AGE, DISEASE, GENDER, meets, nodes, paper, release, some_description, tables

from selection import rounds
from sfumato.channel.tables import (
    Attribute,
    Demand,
    Ranks,
    RowDomain,
    input_count,
    multisets,
    release_count,
)
from sfumato.core.errors import InputError

PAPER = RowDomain((AGE, GENDER, DISEASE))


# --- extremes --------------------------------------------------------------------------------------------------------


def test_one_possible_row_makes_one_table() -> None:
    assert input_count(RowDomain((Attribute(name="a", role="quasi", levels=(("x",),)),)), 7) == 1


def test_multisets_of_nothing() -> None:
    assert [multisets(0, 0), multisets(0, 3), multisets(5, 0), multisets(5, 1)] == [1, 0, 1, 5]


def test_everything_meets_a_demand_for_nothing() -> None:
    every = Ranks(PAPER.size, 2).unrank(np.arange(300))
    assert Demand().allowed(PAPER, every).all()
    assert not Demand(k=3).allowed(PAPER, every).any()


def test_tables_without_rows_meet_everything() -> None:
    assert Demand(k=9).met(PAPER, np.zeros((2, 0), dtype=np.int64), (0, 0)).tolist() == [True, True]


def test_a_domain_without_quasi_identifiers_has_one_node_and_one_class() -> None:
    domain = RowDomain((DISEASE,))
    assert domain.nodes == ((),)
    assert domain.groups(()) == 1
    assert Demand(k=3).allowed(domain, Ranks(3, 3).unrank(np.arange(10))).all()


# --- the paper -------------------------------------------------------------------------------------------------------


def test_the_papers_inputs_and_generalizations() -> None:
    assert input_count(PAPER, 5) == 98_280  # eq. 21
    assert len(PAPER.nodes) == 3 * 2  # eq. 22
    assert release_count(PAPER, 5, (0, 0)) == 98_280  # eq. 23
    assert release_count(PAPER, 5, (2, 1)) == math.comb(3 + 5 - 1, 5)
    assert sum(release_count(PAPER, 5, node) for node in PAPER.nodes) == 98_280 + 2 * 4_368 + 2 * 252 + 21  # eq. 24


# --- ranks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "rows"), [(1, 4), (2, 1), (5, 3), (24, 3), (3, 8)])
def test_ranks_number_all_multisets_once(size: int, rows: int) -> None:
    ranks = Ranks(size, rows)
    every = ranks.unrank(np.arange(ranks.count))
    assert {tuple(line) for line in every.tolist()} == set(itertools.combinations_with_replacement(range(size), rows))
    assert ranks.rank(every).tolist() == list(range(ranks.count))
    assert np.concatenate(list(ranks.chunks(7))).tolist() == every.tolist()


def test_ranks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(OverflowError):
        Ranks(10_000, 20)


# --- against plain Python --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_releases_and_demands_agree_with_plain_python(seed: int) -> None:
    d = some_description(seed, most=300)
    domain = d.domain
    assert list(domain.nodes) == nodes(d)
    spelled = domain.row_names((0,) * len(domain.quasi))
    every = Ranks(domain.size, d.rows).unrank(np.arange(input_count(domain, d.rows)))
    plain = [tuple(sorted(spelled[row] for row in line)) for line in every]
    assert sorted(plain) == sorted(tables(d))
    allowed = d.demand.allowed(domain, every)
    for i, node in enumerate(domain.nodes):
        names = domain.row_names(node)
        made = domain.released(node, every)
        for x, table in enumerate(plain):
            expected = release(d, table, node)
            assert tuple(sorted(names[row] for row in made[x])) == expected
            assert allowed[x, i] == meets(d, expected)


@pytest.mark.parametrize("seed", range(8))
def test_cells_that_are_not_listed_are_generalized_all_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = some_description(seed).domain
    every = np.arange(domain.cells).reshape(1, -1)
    listed = [domain.at(node, every).tolist() for node in domain.nodes]
    monkeypatch.setattr("sfumato.channel.tables.LISTED", 0)
    assert [domain.at(node, every).tolist() for node in domain.nodes] == listed


def test_a_distance_of_exactly_t_is_within_t() -> None:
    """A class of one row out of ten, nine of which agree: at 0.1 from the table if it is one of the nine, else at 0.9."""
    domain = RowDomain((GENDER, Attribute(name="s", role="sensitive", levels=(("x", "y"),))))
    for table, at in (([0] + [2] * 8 + [3], Fraction(1, 10)), ([1] + [2] * 9, Fraction(9, 10))):
        assert Demand(t=at).met(domain, np.array([table]), (0,))[0]
        assert not Demand(t=at - Fraction(1, 10**12)).met(domain, np.array([table]), (0,))[0]


def test_merging_classes_never_breaks_a_demand() -> None:
    for seed in rounds(40):
        d = some_description(seed, most=400)
        domain = d.domain
        allowed = d.demand.allowed(domain, Ranks(domain.size, d.rows).unrank(np.arange(input_count(domain, d.rows))))
        for i, low in enumerate(domain.nodes):
            for j, high in enumerate(domain.nodes):
                if all(a <= b for a, b in zip(low, high, strict=True)):
                    assert (allowed[:, i] <= allowed[:, j]).all()


# --- what cannot be used ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"role": "key"}, "role must be"),
        ({"levels": ()}, "lists of values"),
        ({"levels": ((),)}, "lists of values"),
        ({"levels": (("a", "a"),)}, "name each value once"),
        ({"levels": (("a", "b"), ("*",))}, "level 1 has 1 entries for 2 values"),
        ({"levels": (("a", "b"), ("*", "*"), ("c", "d"))}, "level 2 splits a value of level 1"),
        ({"role": "sensitive", "levels": (("a", "b"), ("*", "*"))}, "released as it is"),
        ({"probabilities": (1.0,)}, "one number for each of its 2 values"),
    ],
)
def test_attributes_that_cannot_be_used_are_refused(changes: dict[str, object], says: str) -> None:
    given: dict[str, object] = {"name": "a", "role": "quasi", "levels": (("a", "b"), ("*", "*"))}
    with pytest.raises(InputError, match=says):
        Attribute(**(given | changes))  # type: ignore[arg-type]


def test_domains_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        RowDomain(())
    with pytest.raises(InputError, match="same name"):
        RowDomain((AGE, AGE))


def test_the_paper_is_described_as_in_the_paper() -> None:
    assert paper().domain == PAPER
