"""One table for all: k-anonymity, PRAM, local noise, a private count and anatomy on the tables of one small domain.

Inputs are the same for all but anatomy (which knows who is who): every table of r rows over the domain, as a multiset. A
mechanism for records becomes one for tables by releasing each row by itself; whose row it is, is not released.
"""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.errors import InputError
from . import k_anonymity
from .channel import Channel, constant, identity
from .k_anonymity import Description
from .mechanisms import MechanismErrors, anatomy, comparison, count_query, local_noise, pram
from .tables import Ranks, input_count
from .utility import utilities

CELLS = 30_000_000
"""Inputs times sequences of released rows."""


def table_channel(record: Channel, rows: int) -> Channel:
    """The channel of tables of so many rows, multisets, whose rows are released one by one and then shuffled.

    Inputs and outputs are in the order of `tables.Ranks`. With one row it is the channel itself.
    """
    if rows < 1:
        raise InputError("A table has at least one row.")
    size, outputs = record.shape
    before, after = Ranks(size, rows), Ranks(outputs, rows)
    if before.count * outputs**rows > CELLS:
        raise InputError(
            f"Tables of {rows} rows over {size} values are too many for a channel of single rows; describe fewer rows or values."
        )
    tables = before.unrank(np.arange(before.count))
    said = np.array(list(product(range(outputs), repeat=rows)), dtype=np.int64)
    matrix, joint = record.dense(), np.ones((len(tables), len(said)))
    for i in range(rows):
        joint *= matrix[tables[:, i]][:, said[:, i]]
    rank = after.rank(np.sort(said, axis=1))
    chances = np.zeros((len(tables), after.count))
    np.add.at(chances.T, rank, joint.T)
    return Channel(matrix=chances / chances.sum(axis=1, keepdims=True))


def laboratory(
    description: Description,
    *,
    keep: tuple[float, ...] = (0.9, 0.7, 0.5),
    eps: tuple[float, ...] = (0.5, 1.0, 2.0),
) -> list[MechanismErrors]:
    """The table: mechanism, parameter, errors of the four adversaries, of the worst prior, and entropy utility lost in bits.

    The prior is uniform. PRAM and local noise change the quasi-identifiers' cell of each row (in their order), the count is of
    rows with the first sensitive value; what is no table has no utility to lose. Entropy utility asks what columns say about one
    another, right or wrong, and so noise costs little of it.
    """
    domain, rows = description.domain, description.rows
    tables = Ranks(domain.size, rows).unrank(np.arange(input_count(domain, rows)))
    leaves = (0,) * len(domain.quasi)
    before = _utilities(description, leaves, tables)
    channels: dict[tuple[str, str], Channel] = {("identity", ""): identity(len(tables))}
    costs: dict[tuple[str, str], Any] = {("identity", ""): (before, before)}
    for publish in ("uniform", "minimal", "deterministic"):
        name = (f"k-anonymity, {publish}", f"k={description.k}")
        channels[name] = k_anonymity.channel(dataclasses.replace(description, publish=publish))
        costs[name] = before, np.array([_utility(description, output) for output in channels[name].output_names])
    kept = identity(domain.values)
    single = [("PRAM", f"keep={p:g}", pram(domain.cells, p)) for p in keep]
    single += [("local noise", f"eps={e:g}", local_noise(domain.cells, e)) for e in eps]
    for mechanism, parameter, record in single:
        channels[mechanism, parameter] = table_channel(record.times(kept), rows)
        costs[mechanism, parameter] = before, before
    first = (tables % domain.values == 0).sum(axis=1)
    for e in eps:
        counted = Channel(matrix=np.eye(rows + 1)[first])
        channels["count query", f"eps={e:g}"] = counted.then(count_query(rows, e))
    if min(rows, domain.values) >= 2 and rows <= rows // 2 * domain.values and domain.values**rows <= 5_000:
        channels["anatomy", "l=2"] = anatomy(rows, domain.values, 2)
    channels["nothing released", ""] = constant(len(tables))
    costs["nothing released", ""] = before, np.zeros(1)
    return comparison(channels, costs=costs)


def _utilities(description: Description, node: tuple[int, ...], tables: IntArray) -> FloatArray:
    """Of tables of released row codes at a node: Hmax by the domain at its released level."""
    domain = description.domain
    names = domain.row_names(node)
    level = iter(node)
    parts = [a.names(next(level) if a.role == "quasi" else 0) for a in domain.attributes]
    codes = np.array([[part.index(text) for part, text in zip(parts, row, strict=True)] for row in names])
    return utilities(codes[tables], [len(part) for part in parts])


def _utility(description: Description, output: Any) -> float:
    """Of one output of the k-anonymity channel: a node and its rows, or nothing."""
    if output == "nothing":
        return 0.0
    node, rows = output
    place = {name: i for i, name in enumerate(description.domain.row_names(node))}
    return float(_utilities(description, node, np.array([[place[row] for row in rows]]))[0])
