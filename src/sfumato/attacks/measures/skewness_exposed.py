"""The skewness attack as a measure (Li et al. 2007; Manta 3.2.3): people whose own value their class makes far likelier."""

import numpy as np

from ...core.metric import Score, measure
from ...core.parameter import Number, Words
from ...core.release import Evidence
from ...core.words import percent
from ..skewness import likelier


def _sentence(value: float) -> str:
    if value <= 0:
        return (
            "For nobody does the class make their own sensitive value, if it must not be learned, as many times likelier as asked for, "
            "twice unless said."
        )
    return (
        f"For {percent(value)} of the rows the class makes their own sensitive value, one that must not be learned, at least as many "
        "times likelier as asked for (twice unless said) than it is in the whole table."
    )


@measure(
    title="exposed to skewness",
    question="For how many people does the class make their own sensitive value far likelier than it is overall?",
    about="privacy",
    better="lower",
    unit="share of people",
    bounds=(0, 1),
    monotone=False,
    source="Li, Li, Venkatasubramanian 2007, skewness attack; Manta 2013, sec. 3.2.3",
    sentence=_sentence,
    misleads="A value that half of the people have can never become more than twice as likely, so frequent values do not count however "
    "certain they become: homogeneity_exposed and alpha_anonymity see that. A single row of a rare value counts in any small class.",
    needs=frozenset({"sensitive"}),
    scope="table",
    parameters={"factor": Number(2, low=1.000001, high=1e9), "dont_care": Words()},
)
def skewness_exposed(
    evidence: Evidence, column: str, factor: float = 2.0, dont_care: frozenset[str] = frozenset()
) -> Score:
    """`sum of n(c, w) over classes c and values w with p(w|c) >= factor p(w), by all rows`; `dont_care` may be disclosed.

    Merging two classes can expose more people: one that just misses the factor is lifted over it. Extremes: 0 if every class is
    like the table; 1 at a factor of m if each class holds one of m equally frequent values.
    """
    classes = evidence.classes(column)
    hit = likelier(classes, factor, dont_care)
    exposed = np.bincount(classes.member[hit], minlength=len(classes)) > 0
    details = {
        "exposed_classes": int(exposed.sum()),
        "in_exposed_classes": int(classes.size[exposed].sum()),
        "largest_ratio": float((classes.p / classes.q)[hit].max(initial=0.0)),
    }
    return Score(float(classes.n[hit].sum()) / classes.rows, "share of people", "exact", details=details)
