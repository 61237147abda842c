"""How much each quasi-identifier counts where a mechanism chooses what to keep: as the owner says, or by what users would lose.

Without a column users can only spread the rows evenly over its values. That costs nothing where all values are equally frequent, and
very much where nearly all rows share one: a yes that 3% have would be counted at 50%. ILoss sees no difference between the two.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.counts import Counts, shuffled
from ...core.roles import Roles

Weigh = Literal["owner", "use"]
WEIGH = (
    "how much each column counts. owner: by the weights in the roles file, else all alike; use: by these times the mean error of counting "
    "queries on the column if it were suppressed, so that columns of which a few values are frequent stay as they are and columns whose "
    "values are all alike give way"
)
SELECTIVITY, SANITY = 0.05, 0.001
"""As `query_error` asks, two columns a query: sqrt(0.05) of the values of each; counts below 0.1% of the rows are taken for that."""
_DRAWS = 200
_LEAST = 0.02
"""No column counts less than this share of the one that counts most, so that none is given up for nothing."""


def with_column_weights(roles: Roles, counts: Counts, weigh: Weigh) -> Roles:
    """The roles with the weights that a run asks for."""
    if weigh == "owner":
        return roles
    errors = {}
    for name in roles.quasi:
        rows, rank = counts.margin(name), counts.column(name).rank(roles.orders.get(name))
        errors[name] = missed(rows if rank is None else rows[np.argsort(rank)], ordered=rank is not None)
    most = max(errors.values())
    if most <= 0:
        return roles
    weights = {  # rounded: the order of the values in the table must not decide among equals
        name: float(roles.weights.get(name, 1.0)) * max(round(error / most, 9), _LEAST)
        for name, error in errors.items()
    }
    return replace(roles, weights={**roles.weights, **weights})


def missed(rows: IntArray, *, ordered: bool) -> float:
    """The mean of `|p(Q) - |Q|/m| / max(p(Q), s)` over sets Q of ceil(m sqrt(0.05)) of the m values: neighbours where they have an order.

    Extremes: 0 where all values are equally frequent, or there is one; as much as 1/s where values that nobody has are asked for.
    """
    share = rows / rows.sum()
    size = len(share)
    count = min(size, math.ceil(size * SELECTIVITY**0.5 - 1e-9))
    if ordered:
        total = np.concatenate([[0.0], np.cumsum(share)])
        asked: FloatArray = total[count:] - total[:-count]
    else:  # by frequency, so that the spelling of the values says nothing
        by_rows, blocks = np.sort(share)[::-1], size // count
        orders = -(-_DRAWS // blocks)
        order, value = np.divmod(shuffled(orders * size), size)  # nothing here is secret: the same sets every time
        sets = value[np.argsort(order, kind="stable")].reshape(orders, size)[:, : blocks * count]
        asked = by_rows[sets].reshape(-1, count).sum(axis=1)
    return float((np.abs(asked - count / size) / np.maximum(asked, SANITY)).mean())
