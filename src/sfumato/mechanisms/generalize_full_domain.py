"""Full-domain generalization: every column to one level of its hierarchy, the levels of least loss that meet everything.

Samarati 2001; LeFevre, DeWitt, Ramakrishnan 2005 (Incognito). The search is in `search/`: the table is counted once.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from ..core.errors import InputError
from ..core.mechanism import MechanismCard, Offer, Progress, Trial, check_choices, check_whole
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.utility.iloss import iloss
from ..search.full_domain import optimal_generalization
from ..search.losses import Wanted
from .parameters.class_requirements import Steered
from .parameters.column_weights import WEIGH, Weigh, with_column_weights


def _tried(trial: Trial) -> list[dict[str, Any]]:
    common = {"k": trial.ks[0], **({} if trial.checks is None else {"max_checks": trial.checks})}
    small = trial.checks is None and not trial.large
    by_owner = {
        **common,
        "minimise": trial.minimise,
        "suppression": [0.0, 0.01, 0.05, 0.1, 1.0] if small else [0.0, 0.1],
    }
    by_use = {
        **common,
        "minimise": iloss.card.name,
        "suppression": [0.0, 0.05, 0.1] if small else [0.0, 0.1],
        "weigh": "use",
    }
    return [by_use] if trial.large else [by_owner, by_use]


@dataclass(frozen=True, kw_only=True)
class GeneralizeFullDomain(Steered):
    """The full-domain generalization of least loss under any conjunction of registered requirements; its note says what is proved."""

    k: int | None = None
    minimise: str = "loss"
    suppression: float = 0.0
    weigh: Weigh = "owner"
    time_limit: float | None = None
    max_checks: int | None = None
    require: tuple[Requirement, ...] = ()
    population: Table | None = field(default=None, compare=False)
    """Whom an adversary may take for a person in the release, for requirements that look at a population."""

    card: ClassVar[MechanismCard] = MechanismCard(
        name="generalize_full_domain",
        title="Optimal full-domain generalization",
        promise="all requirements that you set are met (k_anonymity >= k, l-diversity, t-closeness, leakages, ...), and no other "
        "choice of levels costs less; where this is not proved, a note says so and bounds how much less another choice "
        "could cost",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release",
        cost="all values of a column go to the same level of its hierarchy (global recoding), which loses more than local "
        "recoding but is simpler to use; rows of classes that miss a requirement are left out, up to a limit, and no "
        "others; no sensitive value changes",
        source="Samarati 2001; LeFevre, DeWitt, Ramakrishnan 2005 (Incognito); pruning also after El Emam et al. 2009 (OLA) "
        "and Kohlmayer et al. 2012 (Flash)",
        chance="some",
        people=True,
        links=True,
        tunable=("k", "minimise", "suppression", "weigh"),
        offer=Offer(20, _tried),
        parameters={
            "k": "short for the requirement k_anonymity >= k",
            "minimise": "the loss to minimise, a metric or a sum of metrics with factors: loss (the mean of ARX's Loss), loss_geometric, "
            "iloss, granularity, discernibility, average_class_size, height, non_uniform_entropy, -mutual_information, or for "
            "example 0.5*loss + 0.1*height",
            "suppression": "the largest share of rows that may be left out",
            "weigh": WEIGH + ". Only losses that weigh columns look at it: iloss and granularity, not loss",
            "time_limit": "seconds after which the best solution so far is taken; a lattice too large for a proof then still gets a bound, "
            "and another run may find another node",
            "max_checks": "generalizations that are checked at most; the best of them is taken, the same one on every machine",
        },
    )

    def __post_init__(self) -> None:
        check_choices(self)
        if not 0 <= self.suppression <= 1:
            raise InputError("generalize_full_domain: suppression must be a share of the rows between 0 and 1.")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError("generalize_full_domain: time_limit must be above 0 seconds.")
        check_whole(self, "max_checks")
        self.check_steering()
        Wanted.read(self.minimise)

    def honours(self, requirement: Requirement) -> bool:
        """Any requirement."""
        return True

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; `rng` only draws the numbers that join the rows of a person."""
        if not self.promises:
            raise InputError(
                "generalize_full_domain needs something to meet: set k, or require for example k_anonymity >= 5."
            )

        def watch(checked: int, best: float | None, bound: float) -> None:
            # how much of the work is left no one knows; how near the bound is, is known
            progress(0.0 if not best or bound <= 0 else min(bound / best, 1.0))

        weights = roles if self.weigh == "owner" else with_column_weights(roles, table.count(roles.quasi), self.weigh)
        best_node = optimal_generalization(
            table,
            weights,
            require=self.promises,
            minimise=self.minimise,
            suppression=self.suppression,
            time_limit=self.time_limit,
            max_checks=self.max_checks,
            population=self.looked_at,
            watch=watch,
            catch=False,
            to_release=True,
        )
        return self.with_population(best_node.release(table, roles, parameters=self.settings(), rng=rng))
