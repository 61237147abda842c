"""The rows that columns set apart which no requirement limits."""

from ...core.metric import Score, measure
from ...core.parameter import Number
from ...core.release import Evidence
from ...core.words import from_zero
from ...profile.free_release import free_of_release


@measure(
    title="rows alone by free columns",
    question="How many rows can be singled out by a few columns that are released unchanged?",
    unit="share of rows",
    source="Manta 2013, sec. 3 (an adversary's knowledge is not only the quasi-identifiers); sfumato's rule on free columns",
    sentence=from_zero(
        "No set of a few columns that are released unchanged singles out a row: each row shares its values with another.",
        "A few columns that are released unchanged single out {} of the rows: an adversary who knows these "
        "columns of a person finds the row.",
    ),
    misleads="It takes the worst set of up to `columns` unchanged columns and says nothing about larger sets. Only the owner "
    "can say whether anyone knows these columns of a person. Noisy columns are not counted, nor are "
    "quasi-identifiers, which the requirements cover.",
    parameters={"columns": Number(3, low=1, high=3, whole=True)},
    noise=True,
)
def rows_alone_by_free_columns(evidence: Evidence, column: None, *, columns: float) -> Score:
    """`max over sets F of at most c free columns of |{rows r : no other row has r's values of F}| / |rows|`.

    Free is every released column that is no quasi-identifier, not perturbed and no number of groups. A sensitive column by itself is
    not counted where nothing else is left to learn from it. Extremes: 0 without free columns or if each combination of values occurs twice;
    1 if a free column has a value of its own for every row.
    """
    free = free_of_release(evidence.release, evidence.roles)
    rows = free.rows
    return Score(free.most_alone(int(columns)) / rows if rows else 0.0, "share of rows")
