"""The rarest combination of a few columns, as statistics offices check them (Manta 2013, ch. 6; SDC Handbook 2024, 3.7)."""

from itertools import combinations
from math import comb

import numpy as np

from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.parameter import Number
from ...core.release import Evidence
from ...core.words import whole

MOST = 20_000
"""Sets of columns that are looked at."""


def _sentence(value: float) -> str:
    rows = whole(value)
    if rows < 2:
        return "At least one released row is alone on some set of the given number of quasi-identifiers."
    return (
        "On each set of the given number of quasi-identifiers, each released row shares its values with at least "
        f"{rows - 1:,} other{'s' if rows > 2 else ''}."
    )


@measure(
    title="rarest combination",
    question="How many rows share the rarest combination of a few quasi-identifiers?",
    better="higher",
    unit="rows",
    bounds=(1, float("inf")),
    monotone=True,
    source="Manta 2013, ch. 6 (combination frequencies of statistics offices); SDC Handbook 2024, 3.7",
    sentence=_sentence,
    misleads="It looks at a few columns at a time. An adversary who knows more about a person may find a row that is alone "
    "(see k_anonymity). Statistical offices set such thresholds for the population. What is common enough among the "
    "released rows is common enough in the population, but not the other way round.",
    scope="classes",
    parameters={"size": Number(3, low=1, high=50, whole=True)},
)
def rarest_combination(evidence: Evidence, column: None, *, size: int) -> Score:
    """`min over sets Q of size quasi-identifiers, min over their released tuples q, of the rows with q`.

    Where there are fewer quasi-identifiers than `size`, all of them. Extremes: 1 if some combination is one row's own; the number of
    rows if all are alike; for all quasi-identifiers at once k-anonymity, rows counted.
    """
    tuples = evidence.tuples
    size = min(size, len(tuples.names))
    if comb(len(tuples.names), size) > MOST:
        raise Unavailable(
            f"rarest_combination: {len(tuples.names)} quasi-identifiers have {comb(len(tuples.names), size):,} sets of {size}; ask a smaller size."
        )
    per_class, least, where = np.full(len(tuples), float(tuples.rows)), tuples.rows, tuples.names[:size]
    for names in combinations(tuples.names, size):
        shared, member = tuples.group(names)
        np.minimum(per_class, shared.n[member], out=per_class)
        rows = int(shared.n.min())
        if rows < least:
            least, where = rows, names
    return Score(float(least), "rows", per_class=per_class, details={"columns": list(where), "size": size})
