"""One-symbol information I2, the specific information (Bezzi 2010)."""

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import bits, from_zero


@measure(
    title="one-symbol information I2 (specific information)",
    question="How much uncertainty about the sensitive attribute does the worst class remove?",
    unit="bits",
    bounds=(float("-inf"), float("inf")),
    monotone=True,
    convex=True,
    source="Bezzi 2010, eq. 3, eq. 10 and Table 1",
    sentence=from_zero(
        "No class makes the sensitive value less uncertain, in bits, than it is in the whole table.",
        "The worst class lowers the uncertainty about the sensitive value by {}, compared with the whole table.",
        bits,
    ),
    misleads="It is negative for a class that is more uncertain than the table, even if the class is very surprising (see "
    "one_symbol_i1).",
    needs=frozenset({"sensitive"}),
)
def one_symbol_i2(classes: Classes) -> FloatArray:
    """`I2(W,c) = H(W) - H(W|c)`, entropy l-diversity as `I2 <= H(W) - log2 l` (eq. 10); the worst class counts.

    Weighted by p(c) its mean is I(W;C). Extremes: H(W) for a class of one value; H(W) - log2 m, which is at most 0, for a
    class of all m values equally often.
    """
    return classes.sensitive.entropy - classes.entropy
