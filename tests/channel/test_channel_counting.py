"""The generating function against enumeration and plain Python, and the error that counting alone gives."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from k_anonymity_oracle import (
    AGE,
    DISEASE,
    GENDER,
    NOTHING,
    error,
    matrix,
    meets,
    paper,
    release,
    some_description,
    tables,
)

from selection import enough, rounds
from sfumato.channel.counting import Releases, cell_series, counted, floor, outputs, power, refused
from sfumato.channel.k_anonymity import Description
from sfumato.channel.publishing_rule import rule
from sfumato.channel.tables import Attribute, Demand, RowDomain, input_count, release_count

PAPER = RowDomain((AGE, GENDER, DISEASE))


def eq_25(cells: int, rows: int, k: int) -> int:
    """As printed: without the sensitive column, and without the remainder r mod k."""
    most = rows // k
    return sum(math.comb(cells, most - i) * math.comb(most - i + i * k - 1, i * k) for i in range(most))


# --- extremes --------------------------------------------------------------------------------------------------------


def test_nothing_demanded_counts_every_release() -> None:
    releases = Releases(PAPER, 5, Demand())
    for node in PAPER.nodes:
        assert releases(PAPER.groups(node)) == release_count(PAPER, 5, node)


def test_more_rows_demanded_than_there_are_leaves_no_release() -> None:
    assert outputs(PAPER, 5, Demand(k=6)) == 0
    assert refused(PAPER, 5, Demand(k=6)) == 98_280


def test_as_many_rows_demanded_as_there_are_leaves_one_class() -> None:
    assert Releases(PAPER, 5, Demand(k=5))(8) == 8 * math.comb(5 + 3 - 1, 5)


def test_more_values_demanded_than_there_are_leaves_no_release() -> None:
    assert outputs(PAPER, 5, Demand(l=4)) == 0


@pytest.mark.parametrize("series", [[1, 2, 3, 4], [1, 0, 6, 10, 15, 21], [1, 0, 0, 0], [6, 10, 15]])
@pytest.mark.parametrize("exponent", [0, 1, 2, 7])
def test_a_power_is_a_repeated_product(series: list[int], exponent: int) -> None:
    product = [1] + [0] * (len(series) - 1)
    for _ in range(exponent):
        product = [sum(series[i] * product[j - i] for i in range(j + 1)) for j in range(len(series))]
    assert power(series, exponent) == product


@pytest.mark.parametrize("demand", [Demand(), Demand(k=2), Demand(k=3), Demand(k=2, l=3), Demand(l=4), Demand(k=9)])
def test_filled_cells_and_all_cells_give_the_same_count(demand: Demand) -> None:
    """Two ways to the coefficient: a power for each number of cells, or one for each number of filled cells."""
    for rows in (1, 2, 5, 8):
        releases = Releases(PAPER, rows, demand)
        for cells in (0, 1, 4, 8, 1_000):
            expected = power(releases.series, cells)[rows]
            assert sum(math.comb(cells, b) * n for b, n in enumerate(releases.filled)) == expected
            assert releases(cells) == expected


@pytest.mark.parametrize("sizes", [[], [1], [3], [2, 2], [3, 2]])
@pytest.mark.parametrize("demand", [Demand(), Demand(k=2), Demand(l=2), Demand(k=3, l=2), Demand(l=3)])
def test_a_cells_contents_are_those_one_can_list(sizes: list[int], demand: Demand) -> None:
    values = list(itertools.product(*(range(size) for size in sizes)))
    for j, n in enumerate(cell_series(4, demand, sizes)):
        contents = [
            content
            for content in itertools.combinations_with_replacement(values, j)
            if all(len({value[i] for value in content}) >= demand.l for i in range(len(sizes)))
        ]
        assert n == (1 if j == 0 else len(contents) if j >= demand.k else 0)


# --- the paper -------------------------------------------------------------------------------------------------------


def test_the_papers_releases() -> None:
    releases = Releases(PAPER, 5, Demand(k=2))
    assert [releases(PAPER.groups(node)) for node in PAPER.nodes] == [3528, 804, 804, 162, 162, 21]
    assert outputs(PAPER, 5, Demand(k=2)) == 5_481
    assert eq_25(8, 5, 2) == 36  # what the paper's formula gives for the first


@pytest.mark.parametrize(
    ("publish", "value", "reached"),
    [
        ("uniform", Fraction(98_280 - 1_240, 98_280), 5_481),
        ("minimal", Fraction(98_280 - 5_481, 98_280), 5_481),
        ("deterministic", Fraction(98_280 - 5_481, 98_280), 5_481),
        ("most general", Fraction(98_280 - 21, 98_280), 21),
    ],
)
def test_the_papers_errors(publish: str, value: Fraction, reached: int) -> None:
    found = counted(PAPER, 5, Demand(k=2), rule(publish, PAPER.nodes))
    assert found is not None
    assert found.error(98_280) == value
    assert (found.outputs, found.reached, found.withheld) == (5_481, reached, False)


# --- against plain Python --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_counting_agrees_with_plain_python(seed: int) -> None:
    d = some_description(seed, most=400)
    pairs, made, nowhere = matrix(d)
    domain = d.domain
    if (n := outputs(domain, d.rows, d.demand)) is not None:
        assert n == len(made)
    assert refused(domain, d.rows, d.demand) in (nowhere, None)
    found = counted(domain, d.rows, d.demand, d.rule())
    if found is not None:
        assert found.error(input_count(domain, d.rows)) == error(d)
        assert found.reached == len({output for _, output in pairs} - {NOTHING})
        assert found.withheld == any(output == NOTHING for _, output in pairs)
    else:
        assert d.t is not None


def test_counting_is_refused_only_where_it_is_said_to_be() -> None:
    answered = 0
    for seed in rounds(200):
        d = some_description(seed)
        found = counted(d.domain, d.rows, d.demand, d.rule())
        if d.t is None or (len(d.domain.sensitive) == 1 and (d.k >= 2 or d.l >= 2)):
            assert found is not None
            answered += d.t is not None
    assert enough(answered > 10)
    d = paper(publish=lambda free: free[0])
    assert counted(d.domain, d.rows, d.demand, d.rule()) is None


@pytest.mark.parametrize("t", [0.0, 0.2, 0.4, 0.5, 1.0])
@pytest.mark.parametrize("publish", ["uniform", "deterministic", "most general"])
def test_closeness_alone_by_counting(t: float, publish: str) -> None:
    """Without k and l a row by itself is refused in some tables and not in others."""
    a = Attribute(name="a", role="quasi", levels=(("1", "2", "3", "4"), ("12", "12", "34", "34"), ("*",) * 4))
    s = Attribute(name="s", role="sensitive", levels=(("x", "y"),))
    d = Description(rows=4, t=t, publish=publish, attributes=(a, s))
    found = counted(d.domain, d.rows, d.demand, d.rule())
    assert found is not None
    assert found.error(input_count(d.domain, 4)) == error(d)


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1, 1], [3, 1, 0.5, 2, 0, 1], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0]])
def test_weights_by_counting(weights: list[Any]) -> None:
    """Also such that some tables are not published, because all that they may be released at weighs nothing."""
    for k in (1, 2, 3):
        d = Description(rows=3, k=k, publish=weights, attributes=(AGE, GENDER))
        found = counted(d.domain, d.rows, d.demand, d.rule())
        assert found is not None
        assert found.error(input_count(d.domain, 3)) == error(d)


@pytest.mark.parametrize("seed", range(12))
def test_the_floor_is_where_the_tables_behind_a_release_are_all_allowed(seed: int) -> None:
    d = some_description(seed, most=250, k=2, t=None)
    domain, plain = d.domain, tables(d)
    allowed = {x: {node for node in domain.nodes if meets(d, release(d, x, node))} for x in plain}
    for node in domain.nodes:
        names = {name: code for code, name in enumerate(domain.row_names(node))}
        behind: dict[Any, list[Any]] = {}
        for x in plain:
            if node in allowed[x]:
                behind.setdefault(release(d, x, node), []).append(x)
        for released, inputs in behind.items():
            codes = sorted(names[row] for row in released)
            at = floor(domain, node, codes)
            above = {other for other in domain.nodes if all(a >= b for a, b in zip(other, at, strict=True))}
            assert set.intersection(*(allowed[x] for x in inputs)) == above
            assert above in [allowed[x] for x in inputs]  # one table is allowed nowhere else
            # a product over the generalized rows: one that stands for L cells and occurs w times comes from C(L + w - 1, w) multisets
            leaves = domain.leaves(node)
            ways = [math.comb(int(leaves[c // domain.values]) + w - 1, w) for c, w in Counter(codes).items()]
            assert len(inputs) == math.prod(ways)  # sec. 5.5 prints a sum


def test_a_domain_that_no_machine_enumerates() -> None:
    """10^397 tables: every value splits at every level, so the error is 1 - (1/n) sum of releases over nodes above."""

    def tree(name: str, *fans: int) -> Attribute:
        size, width, levels = math.prod(fans), 1, [tuple(str(i) for i in range(math.prod(fans)))]
        for fan in reversed(fans):
            width *= fan
            levels.append(tuple(f"{width}.{i // width}" for i in range(size)))
        return Attribute(name=name, role="quasi", levels=tuple(levels))

    secret = Attribute(name="s", role="sensitive", levels=(tuple("0123456789"),))
    domain = RowDomain((tree("a", 4, 5, 5), tree("b", 2), tree("c", 3, 3), tree("d", 5, 4), secret))
    found = counted(domain, 100, Demand(k=5), rule("uniform", domain.nodes))
    assert found is not None
    releases = Releases(domain, 100, Demand(k=5))
    expected = Fraction(0)
    for node in domain.nodes:
        above = math.prod(a.height - level + 1 for a, level in zip(domain.quasi, node, strict=True))
        expected += Fraction(releases(domain.groups(node)), above)
    assert found.total == expected
    assert input_count(domain, 100) > 10**396
