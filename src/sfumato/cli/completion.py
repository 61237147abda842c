"""Names that a shell completes: metrics, mechanisms, attacks and everything that `explain` knows, each with its title."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Completions = Iterator[tuple[str, str]]


def _titles(registry: Mapping[str, Any], incomplete: str) -> Completions:
    return ((name, each.card.title) for name, each in registry.items() if name.startswith(incomplete))


def metric_names(incomplete: str) -> Completions:
    """Metrics that begin with what was typed."""
    from ..metrics import registry

    return _titles(registry(), incomplete)


def mechanism_names(incomplete: str) -> Completions:
    """Mechanisms that begin with what was typed."""
    from ..mechanisms import registry

    return _titles(registry(), incomplete)


def attack_names(incomplete: str) -> Completions:
    """Attacks that begin with what was typed."""
    from ..attacks import registry

    return _titles(registry(), incomplete)


def names(incomplete: str) -> Completions:
    """Whatever can be explained."""
    from ..report.glossary import WORDS

    yield from metric_names(incomplete)
    yield from mechanism_names(incomplete)
    yield from attack_names(incomplete)
    yield from ((word, "") for word in WORDS if word.startswith(incomplete))
