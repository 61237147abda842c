"""Transfer of information: from a rare value to a likely one (Evfimievski, Gehrke, Srikant 2003; Manta 5.1.2)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import TOLERANCE, measure
from ...core.parameter import Number
from ...core.words import about
from .alpha_anonymity import largest


def _sentence(value: float) -> str:
    if value <= 0:
        return "No sensitive value is rare in the whole table, by the chosen limit, so none goes from rare to likely."
    if value >= 1:
        return (
            "In at least one class everyone has the same sensitive value, one that is rare in the whole table, by the chosen "
            "limit."
        )
    return (
        "A sensitive value that is rare in the whole table, by the chosen limit, makes up a share of "
        f"{about(value, apart=1)} of the worst class."
    )


@measure(
    title="transfer of information",
    question="How likely does the worst class make a sensitive value that is rare in the whole table?",
    unit="probability",
    monotone=True,
    source="Evfimievski, Gehrke, Srikant 2003; Manta 2013, sec. 5.1.2",
    sentence=_sentence,
    misleads="It looks at single values: several rare values with a similar meaning can become likely together without being "
    "noticed. It ignores a value just above rho1; t_closeness and one_symbol_i1 look at all values.",
    needs=frozenset({"sensitive"}),
    parameters={"rho1": Number(0.1, 0, 1)},
)
def transfer_of_information(classes: Classes, rho1: float) -> FloatArray:
    """`rho2(c) = max p(w|c) over the values w with p(w) <= rho1`; the worst class counts.

    There is no breach from rho1 to rho2, which begins at a posterior of rho2 itself, exactly if this value is below rho2;
    a limit `<= rho2` also takes rho2 itself. A class that holds none of these values has 0. Which priors count as rare is
    the owner's to say: 0.1 is our default, after the survey's example of an attack (ch. 4: from 0.1 to 0.8). Extremes: 1
    for a class of one value that is rare in the table; at most rho1 for a single class.
    """
    rare = classes.q <= rho1 + TOLERANCE  # 3 of 30 rows are a tenth, whatever the rounding
    return largest(classes, np.where(rare, classes.p, 0.0))
