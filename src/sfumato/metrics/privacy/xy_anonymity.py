"""(X,Y)-anonymity: several rows per person (Wang and Fung 2006; Manta 3.1.2)."""

import numpy as np

from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.parameter import Words
from ...core.release import Evidence
from ...core.words import whole


def _sentence(value: float) -> str:
    k = whole(value)
    if k < 2:
        return "At least one combination of values on X occurs with a single value on Y, so it leads to that value for certain."
    return f"Each combination of values on X occurs with at least {k:,} different values on Y (people, by default)."


@measure(
    title="(X,Y)-anonymity",
    question="How many different people (or other values of Y) stand behind the most exposed combination of X?",
    better="higher",
    unit="distinct values",
    bounds=(1, float("inf")),
    monotone=True,
    source="Wang and Fung 2006; Manta 2013, sec. 3.1.2",
    sentence=_sentence,
    knows="the columns X of a person, and that the person is in the release",
    misleads="Different does not mean equally likely: if nearly all rows of a combination belong to one person, guessing that "
    "person is nearly always right.",
    scope="classes",
    people=True,
    alone=True,
    parameters={"x": Words(), "y": Words()},
)
def xy_anonymity(evidence: Evidence, column: None, x: frozenset[str], y: frozenset[str]) -> Score:
    """The fewest distinct values on Y that a value on X co-occurs with, `k = min_x |{y : (x,y) in T'}|`.

    X are the quasi-identifiers unless columns are named (`xy_anonymity[x=job|sex,y=visit]`), Y the person column of the
    roles; over several columns a value is their tuple. The table that is measured must have the columns of Y; take those
    of no use to the public out after measuring. With Y a row number it is k-anonymity. Extremes: 1 if some value on X
    belongs to one y alone, all values on Y if the rows all look alike on X.
    """
    table, roles = evidence.release.table, evidence.roles
    over = [name for name in roles.quasi if name in x] + sorted(x.difference(roles.quasi)) or list(
        evidence.tuples.names
    )
    under = sorted(y) or ([roles.person] if roles.person else [])
    if not under:
        raise Unavailable(
            f"xy_anonymity needs the person column; name it in {roles.source}, or other columns as [y=COLUMN]."
        )
    table.require_columns((*over, *under), "which xy_anonymity counts; measure the table that has it", Unavailable)
    if both := sorted(set(over) & set(under)):
        raise Unavailable(f"xy_anonymity: column {both[0]!r} is in X and in Y, which must have no column in common.")
    _, member = table.count((*over, *under)).group(over)
    per_value = np.bincount(member).astype(np.float64)
    worst = float(per_value.min())
    details = {
        "x": over,
        "y": under,
        "combinations": len(per_value),
        "worst_combinations": int((per_value == worst).sum()),
    }
    classes = tuple(over) == evidence.tuples.names
    return Score(worst, "distinct values", "exact", per_value if classes else None, details=details)
