"""What the metrics that mine share: the quick miners on a sample of rows, marked so."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ..core.parameter import Choice, Name, Number
from ..core.release import Evidence

if TYPE_CHECKING:
    from .outcome import MiningOutcome

PARAMETERS = {
    "field": Name(),
    "miners": Choice(("quick", "paper", "reference"), "quick"),
    "rows": Number(5000, low=100, high=5_000_000, whole=True),
    "folds": Number(5, low=2, high=50, whole=True),
}


@lru_cache(maxsize=8)  # for both ends of a bound, and no longer: evidence holds tables
def mined(evidence: Evidence, which: str, field: str, miners: str, rows: int, folds: int) -> MiningOutcome:
    """One field of one release, mined once."""
    from .mine import mine  # here, so that the registry of metrics costs no miner
    from .scenario import AIMS, Bad, Good, Scenario

    scenario = Scenario(
        good=Good(field=field, miners=miners, transfer=False) if which == "good" else None,
        bad=Bad(field=field, miners=miners, aims=AIMS[:1]) if which == "bad" else None,
        folds=folds,
        rows=rows,
    )
    return mine(evidence.release, evidence.roles, scenario)["release"]
