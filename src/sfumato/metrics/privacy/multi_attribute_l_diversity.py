"""Multi-attribute l-diversity (Machanavajjhala et al. 2007; Manta 3.2.2, Def. 7)."""

from functools import partial

import numpy as np

from ...core.classes import Classes
from ...core.errors import Unavailable
from ...core.metric import QUASI_KNOWN, Score, measure
from ...core.parameter import Choice
from ...core.release import Evidence
from ...core.words import down, from_one
from .distinct_l_diversity import distinct_l_diversity
from .entropy_l_diversity import entropy_l_diversity


@measure(
    title="multi-attribute l-diversity",
    question="How many values of a sensitive column remain possible for an adversary who knows the class and the other "
    "sensitive columns?",
    better="higher",
    unit="values",
    bounds=(1, float("inf")),
    monotone=True,
    source="Machanavajjhala et al. 2007; Manta 2013, Def. 7",
    sentence=from_one(
        "For at least one person, an adversary who knows the class and the other sensitive values also knows the "
        "remaining one.",
        "For an adversary who knows a person's class and all sensitive values but one, the number of values left for that one "
        "is at least {}, counted by the chosen kind of diversity.",
        partial(down, beyond=1),
    ),
    knows=f"{QUASI_KNOWN}; and the other sensitive columns of that person",
    keeps="variety",
    misleads="It assumes a strong adversary, who knows all other sensitive values. With several sensitive columns hardly any "
    "release of real data exceeds 1. Sensitive columns are compared as they are, so one rare combination sets the "
    "value.",
    needs=frozenset({"sensitive"}),
    scope="classes",
    alone=True,
    parameters={"kind": Choice(("distinct", "entropy"), "distinct")},
    apart=False,
)
def multi_attribute_l_diversity(evidence: Evidence, column: str, kind: str = "distinct") -> Score:
    """The l-diversity of a sensitive column with the other sensitive columns added to the quasi-identifiers (Def. 7).

    `kind`: distinct values, or `2^H`. The worst of these finer classes counts, and over all sensitive columns the worst
    column; a class of the release shows the worst of its parts. A missing value is a value, on either side.
    Extremes: 1 if the other columns determine this one in some class; m if in every class every combination of the others
    comes with all m values.
    """
    others = tuple(name for name in evidence.roles.sensitive if name != column)
    if not others:
        raise Unavailable(
            "multi_attribute_l_diversity needs two sensitive columns or more; with one, ask for distinct_l_diversity or "
            f"entropy_l_diversity, or name another in {evidence.roles.source}."
        )
    evidence.classes(column)  # says what is wrong with this column, if anything is
    evidence.roles.check(evidence.release.table.columns, where=evidence.release.table.name, need=("sensitive",))
    finer = (*evidence.roles.quasi, *others)
    classes, tuples = Classes.from_counts(evidence.release.table.count((*finer, column)), quasi=finer, sensitive=column)
    values = (distinct_l_diversity if kind == "distinct" else entropy_l_diversity).per_class(classes)
    whole, part_of = tuples.group(evidence.roles.quasi)
    per_class = np.full(len(whole), np.inf)
    np.minimum.at(per_class, part_of, values)
    worst = values == values.min()
    details = {"parts": len(classes), "worst_parts": int(worst.sum()), "worst_rows": int(classes.size[worst].sum())}
    return Score(float(values.min()), "values", "exact", per_class, details=details)
