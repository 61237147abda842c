"""Decline of data mining utility (Sramka et al. 2010, sec. 2.3): delta of `(1 - delta, L)`-utility-preserving."""

from math import isnan

from ...core.errors import Unavailable
from ...core.metric import Score, Usual, measure
from ...core.release import Evidence
from ...core.words import from_zero
from ..quick_scenario import PARAMETERS, mined


@measure(
    title="decline of mining utility",
    question="How much worse do data miners predict a field from the release than from the original?",
    about="utility",
    unit="share of utility",
    source="Sramka, Safavi-Naini, Denzinger, Askari 2010, sec. 2.3",
    sentence=from_zero(
        "No miner tried predicts the field worse from the release than from the original.",
        "Mining the release instead of the original costs the worst-hit miner {} of the utility of its "
        "predictions of the field.",
    ),
    usual=Usual(210, {"rows": 3000, "folds": 3}, target="field"),
    misleads="It is about one field and these miners: with another field, or a better miner, a user may lose more or nothing. "
    "It is estimated on a sample of rows unless rows= covers the whole table.",
    gamed="A field that nearly everyone shares, or a sample of few rows, makes the decline small whatever was lost.",
    needs=frozenset({"original"}),
    parameters=PARAMETERS,
)
def mining_utility_decline(
    evidence: Evidence, column: str | None, *, field: str, miners: str, rows: int, folds: int
) -> Score:
    """`max over miners of 1 - U_san/U_orig`, at least 0; utilities are right predictions under cross-validation.

    Extremes: 0 for the original itself; near 1 - 1/(m accuracy) for a release that tells nothing of m equally frequent values.
    """
    outcome = mined(evidence, "good", field, miners, rows, folds).good
    assert outcome is not None
    delta = outcome.delta
    if isnan(delta.value):
        raise Unavailable(f"No miner predicts {field!r} right for anyone even on the original, so nothing can decline.")
    details = {
        "miner": outcome.decided_by,
        "field": field,
        "baseline": outcome.baseline.value / outcome.total,
        "miners": {m.miner: m.decline.value for m in outcome.miners},
    }
    ci = (max(min(delta.low, 1.0), 0.0), max(min(delta.high, 1.0), 0.0))
    return Score(min(delta.value, 1.0), "share of utility", "estimate", ci=ci, details=details)
