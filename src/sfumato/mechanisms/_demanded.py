"""What requirements on classes come to before any class is formed."""

from __future__ import annotations

import numpy as np

from ..core.classes import Classes
from ..core.errors import Infeasible
from ..core.metric import spell_number
from .mondrian import _Demands


def check_whole(demands: _Demands, who: str) -> None:
    """Refuse what even the whole table as one class misses: there is nothing to form classes from."""
    member = np.zeros(len(demands.n), dtype=np.int64)
    for requirement, value, sensitive in demands.items:
        if value is None or sensitive is None:
            whole = Classes(np.array([demands.n.sum()]))
        else:
            whole = Classes.of(member, demands.n, count=1, value=value, sensitive=sensitive)
        reached = float(requirement.metric.per_class(whole)[0])
        if not requirement.holds(reached):
            raise Infeasible(
                f"{who} cannot meet {requirement}: even the whole table as a single class only reaches "
                f"{spell_number(round(reached, 6))}."
            )


def least_rows(demands: _Demands) -> int:
    """The fewest rows with which a class meets what looks at no sensitive value; the whole table does."""
    rows = int(demands.n.sum())
    good = np.ones(rows, dtype=bool)
    for requirement, value, _ in demands.items:
        if value is None:
            good &= requirement.passes(requirement.metric.per_class(Classes(np.arange(1, rows + 1))))
    return int(np.argmax(good)) + 1
