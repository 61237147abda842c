"""Sfumato: the decision desk for publishing personal data.

    import sfumato as sf
    table = sf.read("people.csv")
    roles = sf.Roles.read("roles.toml")
    release = sf.Mondrian(k=5)(table, roles)
    sf.k_anonymity(release, roles).value

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "read": "engines",
    "Roles": "core.roles",
    "Hierarchy": "core.hierarchy",
    "Release": "core.release",
    "Score": "core.metric",
    "Requirement": "core.metric",
    "SfumatoError": "core.errors",
    "measure": "metrics",
    "metric": "metrics",
    "require": "metrics",
    "registry": "metrics",
    "profile": "profile.table",
    "raw_risk": "inspect.raw_risk",
    "Mondrian": "mechanisms.mondrian",
    "GeneralizeToLevels": "mechanisms.generalize_to_levels",
    "GeneralizeFullDomain": "mechanisms.generalize_full_domain",
    "KMember": "mechanisms.k_member",
    "Personalize": "mechanisms.personalize",
    "TopDownSpecialization": "mechanisms.top_down_specialization",
    "AlphaBeta": "mechanisms.alpha_beta",
    "LocalSuppression": "mechanisms.local_suppression",
    "TopBottomCoding": "mechanisms.top_bottom_coding",
    "CutPoints": "mechanisms.cut_points",
    "Hipaa": "mechanisms.hipaa",
    "LocalNoise": "mechanisms.local_noise",
    "DpStatistics": "mechanisms.dp_statistics",
    "DpMarginals": "mechanisms.dp_marginals",
    "DpChoice": "mechanisms.dp_choice",
    "DpSynthesis": "mechanisms.dp_synthesis",
    "DpRanges": "mechanisms.dp_ranges",
    "Budget": "mechanisms.differential_privacy.budget",
    "Anatomy": "mechanisms.anatomy",
    "PermuteWithinGroups": "mechanisms.permute_within_groups",
    "RankSwapping": "mechanisms.rank_swapping",
    "Pram": "mechanisms.pram",
    "corrected_counts": "mechanisms.pram",
    "AdditiveNoise": "mechanisms.additive_noise",
    "Rounding": "mechanisms.rounding",
    "Microaggregation": "mechanisms.microaggregation",
    "IsolationNoise": "mechanisms.isolation_noise",
    "optimal_generalization": "search.full_domain",
    "optimal_cuts": "search.cuts",
    "qid_choice": "search.choice",
    "policy_frontier": "search.frontier",
    "mine": "mining.mine",
    "mine_file": "mining.plan",
    "Scenario": "mining.scenario",
    "Good": "mining.scenario",
    "Bad": "mining.scenario",
    "Aim": "mining.scenario",
    "Channel": "channel.channel",
    "ExactChannel": "channel.exact",
    "worst_prior": "channel.worst_prior",
    "most_private": "channel.design",
    "least_degradation": "channel.design",
    "record_channel": "channel.record",
    "person_channel": "channel.record",
    "laboratory": "channel.laboratory",
    "Study": "study.study",
    "Candidate": "study.candidate",
    "Context": "study.context",
    "read_study": "study.study_file",
    "advice": "study.advice",
    "versus": "inspect.versus",
    "subgroups": "inspect.subgroups",
    "audit": "inspect.audit",
    "write_package": "report.package",
    "publish": "publishing",
    "verify": "publishing",
}
__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    if not name.startswith("_"):
        from .metrics import registry

        if name in registry():
            return registry()[name]
    raise AttributeError(f"module 'sfumato' has no attribute {name!r}")


def __dir__() -> list[str]:
    from .metrics import registry

    return sorted([*__all__, *registry()])
