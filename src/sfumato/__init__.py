"""Sfumato: the decision desk for publishing personal data.

    import sfumato as sf
    table = sf.read("people.csv")              # or a DataFrame
    roles = sf.Roles.read("roles.toml")
    release = sf.Mondrian(k=5)(table, roles)
    sf.k_anonymity(release, roles).value
    sf.linkage(release, roles).sentence

Names are loaded when they are first used, so that importing the package costs nothing. Metrics and mechanisms come from their registries.
Type checkers and editors read `__init__.pyi`, which docs/build.py writes.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from .core.plugins import hang

__version__ = "0.1.0"

_HOME = {
    "read": "engines",
    "Roles": "core.roles",
    "Hierarchy": "core.hierarchy",
    "Release": "core.release",
    "Table": "core.table",
    "Metric": "core.metric",
    "Mechanism": "core.mechanism",
    "Score": "core.metric",
    "Requirement": "core.metric",
    "Outcome": "core.outcome",
    "SfumatoError": "core.errors",
    "InputError": "core.errors",
    "RequirementError": "core.errors",
    "Unavailable": "core.errors",
    "Infeasible": "core.errors",
    "NotMet": "core.errors",
    "measure": "metrics",
    "metric": "metrics",
    "require": "metrics",
    "registry": "metrics",
    "profile": "profile.table",
    "suggest_roles": "profile.table",
    "free_of_table": "profile.free_release",
    "raw_risk": "inspect.raw_risk",
    "Budget": "mechanisms.differential_privacy.budget",
    "corrected_counts": "mechanisms.pram",
    "optimal_generalization": "search.full_domain",
    "optimal_cuts": "search.cuts",
    "least_loss": "search.least_loss",
    "explore": "search.explorer",
    "qid_choice": "search.choice",
    "policy_frontier": "search.frontier",
    "mine": "mining.mine",
    "mine_file": "mining.mine",
    "Scenario": "mining.scenario",
    "Good": "mining.scenario",
    "Bad": "mining.scenario",
    "Aim": "mining.scenario",
    "Channel": "channel.channel",
    "ExactChannel": "channel.exact",
    "worst_prior": "channel.worst_prior",
    "most_private": "channel.design",
    "least_degradation": "channel.design",
    "least_degradation_within": "channel.rate_distortion",
    "record_channel": "channel.record",
    "person_channel": "channel.record",
    "laboratory": "channel.laboratory",
    "Study": "study.study",
    "Candidate": "study.candidate",
    "grid": "study.candidate",
    "Context": "study.context",
    "read_study": "study.study_file",
    "advice": "study.advice",
    "knowledge_needed": "inspect.knowledge_needed",
    "one_scale": "inspect.one_scale",
    "versus": "inspect.versus",
    "subgroups": "inspect.subgroups",
    "audit": "inspect.audit",
    "write_package": "report.package",
    "write_town": "cli.demo_table",
    "publish": "publishing",
    "Register": "publishing.register",
    "verify": "publishing",
}

hang("sfumato.engines", f"{__name__}.engines")
hang("sfumato.metrics", f"{__name__}.mining.measures", f"{__name__}.attacks")


def _registered(name: str) -> Mapping[str, Any]:
    """What stands in the registries where such a name would be: mechanisms by class, metrics and attacks by name."""
    if name[:1].isupper():
        from .mechanisms import registry as mechanisms

        return {kind.__name__: kind for kind in mechanisms().values()}
    from .attacks import registry as attacks
    from .metrics import registry as metrics

    return {**metrics(), **attacks()}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    if name == "__all__":
        return __dir__()
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is None:  # a room is no registered name
        registered = _registered(name)
        if name in registered:
            return registered[name]
    raise AttributeError(f"module 'sfumato' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_HOME, *_registered("Mechanism"), *_registered("metric"), "__version__"})
