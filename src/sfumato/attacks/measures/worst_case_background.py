"""The largest belief that k facts can bring about (Martin et al. 2007)."""

from typing import Literal

from ...core.metric import QUASI_KNOWN, Score, measure
from ...core.parameter import Choice, Number
from ...core.release import Evidence
from ...core.words import up
from .._worst import MOST, worst_posteriors


def _sentence(value: float) -> str:
    if value >= 1:
        return "An adversary who knows as many facts about people as asked for, the worst there are, can be certain of somebody's value."
    return (
        "An adversary who knows as many facts about people as asked for, the worst there are, believes in no sensitive value of "
        f"anybody with a probability above {up(value, 4, short_of=1)}."
    )


@measure(
    title="worst-case background knowledge",
    question="How sure can an adversary become of a person's sensitive value who knows the k worst facts besides the release?",
    about="privacy",
    better="lower",
    unit="probability",
    bounds=(0, 1),
    monotone=True,
    source="Martin, Kifer, Machanavajjhala, Gehrke, Halpern 2007, maximum disclosure for L^k_basic",
    sentence=_sentence,
    knows=f"{QUASI_KNOWN}; and the k facts about people in the class that help most",
    misleads="It is the worst k facts about the worst person: most people fare better, and nobody may know such facts. It takes the "
    "rows of a class as equally likely and classes as independent.",
    needs=frozenset({"sensitive"}),
    scope="classes",
    alone=lambda k, knowledge: k <= 1 or knowledge == "negations",
    parameters={
        "k": Number(1, 0, MOST, whole=True),
        "knowledge": Choice(("implications", "negations"), "implications"),
    },
)
def worst_case_background(
    evidence: Evidence, column: str, k: int = 1, knowledge: Literal["implications", "negations"] = "implications"
) -> Score:
    """The largest `P(p has s | k facts, release)` over people, values and facts.

    `implications`: k of `if p has s then q has r`, about people of any class, in closed form (see `attacks/_worst.py`); `own_class`
    in the details is the largest with facts about people of one class alone, which is the same for k = 1.
    `negations`: `max over classes of n_1 / (n - n_2 - ... - n_(k+1))`, the adversary of l-diversity.
    Extremes: k = 0 gives positive_disclosure; 1 if a class has at most k + 1 values; never below the share of the most frequent value.
    """
    classes = evidence.classes(column)
    own = worst_posteriors(classes, k, knowledge, anywhere=False)
    anywhere = worst_posteriors(classes, k, knowledge)
    # where facts about others add nothing to the worst class, each class has what those about itself tell
    per_class = own if own.max() == anywhere.max() else anywhere
    hit = own == own.max()
    details = {
        "worst_classes": int(hit.sum()),
        "worst_rows": int(classes.size[hit].sum()),
        "own_class": float(own.max()),
    }
    return Score(float(per_class.max()), "probability", "exact", per_class, details=details)
