"""Every published measure, one small file each in privacy/ and utility/, and the registry of their cards.

A file that defines a Metric under its own name is registered, and so is what other packages name in the entry point group
`sfumato.metrics`, and the metrics of attacks: nothing else needs to be told about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, get_args

from ..core.attack import Attack
from ..core.errors import Unavailable
from ..core.metric import Family, Metric, Requirement, Score, parse, parse_requirement, written
from ..core.plugins import hung, plugins, room_module, room_modules
from ..core.release import Release
from ..core.roles import Roles
from . import privacy, utility


@cache
def registry() -> Mapping[str, Metric]:
    """Every metric by name, privacy first, in alphabetical order."""
    items: dict[str, Metric] = {}
    for name, module in room_modules(privacy, utility, *hung("sfumato.metrics")):
        items |= _metrics_of(getattr(module, name))
    items |= plugins("sfumato.metrics", Metric, items)
    for attack in plugins("sfumato.attacks", Attack, ()).values():
        items = _metrics_of(attack) | items
    return dict(sorted(items.items(), key=lambda item: (item[1].card.about, item[0])))


def _metrics_of(item: Metric | Attack[Any]) -> dict[str, Metric]:
    """A metric by its name, or the numbers of an attack that are metrics."""
    return {metric.card.name: metric for metric in (item.metrics if isinstance(item, Attack) else [item])}


class _Named(Mapping[str, Metric]):
    """The registry for one who knows the name: a file of that name is imported alone, and all others only where there is none."""

    def __getitem__(self, name: str) -> Metric:
        module = room_module(name, privacy, utility)
        return registry()[name] if module is None else getattr(module, name)

    def __iter__(self) -> Iterator[str]:
        return iter(registry())

    def __len__(self) -> int:
        return len(registry())


def metric(text: str) -> Metric:
    """A metric from its text, such as `t_closeness[ordered](salary)`."""
    named, sign, _ = parse(text, _Named())
    if sign is not None:
        from ..core.errors import RequirementError

        raise RequirementError(f"{text!r} is a requirement; a metric is written without a limit: {named}.")
    return named


def require(text: str) -> Requirement:
    """A requirement from its text, such as `k_anonymity >= 5`."""
    return parse_requirement(text, _Named())


def everything(roles: Roles) -> list[Metric]:
    """Every metric in every variant; over several sensitive columns also one for each of them."""
    variants = []
    for base in registry().values():
        for variant in base.variants():
            variants.append(variant)
            if "sensitive" in base.card.needs and len(roles.sensitive) > 1:
                variants += [variant.on(column) for column in roles.sensitive]
    return variants


def shown(scores: Mapping[str, tuple[Metric, Score]]) -> dict[str, tuple[Metric, Score]]:
    """What a reader is shown: where a metric was measured for each sensitive column, not also the worst of them again."""
    apart = {str(replace(metric, column=None)) for metric, _ in scores.values() if metric.column is not None}
    return {name: pair for name, pair in scores.items() if name not in apart}


def by_family(scores: Mapping[str, tuple[Metric, Score]]) -> dict[str, dict[str, tuple[Metric, Score]]]:
    """What a reader is shown, under the headings that have something to show."""
    families: dict[str, dict[str, tuple[Metric, Score]]] = {heading: {} for heading in get_args(Family)}
    for name, pair in shown(scores).items():
        families[pair[0].card.heading][name] = pair
    return {heading: pairs for heading, pairs in families.items() if pairs}


def measure(
    release: Release, roles: Roles, metrics: list[Metric] | None = None
) -> tuple[dict[str, tuple[Metric, Score]], dict[str, str]]:
    """Score a release, one scan for all; also the metrics that could not be asked, with the reason.

    A metric that was named is never skipped: what stands in its way is raised. Of one named without its choice, some variants
    may be skipped, not all.
    """
    scores: dict[str, tuple[Metric, Score]] = {}
    skipped: dict[str, str] = {}
    for asked in metrics if metrics is not None else everything(roles):
        variants = asked.variants() or [asked]
        refused = 0
        for each in variants:
            try:
                scores[str(each)] = (each, each.score(release.evidence(roles)))
            except Unavailable as reason:
                refused += 1
                if metrics is not None and refused == len(variants):
                    raise
                skipped[str(each)] = str(reason)
    if metrics is None:
        for name, base in registry().items():
            if not base.variants():  # it asks for something that only the owner can name
                skipped[name] = f"It must be asked for: it {written(base.card)}."
    return scores, skipped


def measure_available(
    release: Release, roles: Roles, wanted: Sequence[Metric] | None
) -> tuple[dict[str, tuple[Metric, Any]], dict[str, str]]:
    """Every metric asked for that this release can be asked; of the others the reason why not."""
    if wanted is None:
        return measure(release, roles)
    scores: dict[str, tuple[Metric, Any]] = {}
    skipped: dict[str, str] = {}
    for each in wanted:
        try:
            measured, refused = measure(release, roles, [each])
            scores |= measured
            skipped |= refused
        except Unavailable as reason:
            skipped[str(each)] = str(reason)
    return scores, skipped
