"""What a class may say of a column: a label of its hierarchy, a range, or a set of its values; and who decides that.

The owner allows kinds by column, under `[labels]` of the roles file. Where nothing is said a run decides, by the `labels` of its mechanism.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from .errors import InputError

KINDS = {
    "taxonomy": "a label of the column's hierarchy: a node of a taxonomy, a mask, or a month or year",
    "ranges": "a range of numbers or dates",
    "sets": "a set of single values",
}
"""The kinds of label, the easiest to read first: it is taken where two stand for equally many values."""
ANY = "any"

Labels = Literal["hierarchies", "plain", "cheapest", "any"]
"""What a run does with the kinds that a column can have."""
LABELS = (
    "what a class says of a column that [labels] in the roles file does not mention. hierarchies: a label of its hierarchy (taxonomy, mask, "
    "calendar) if it has one, else a range if it has an order, else a set; plain: no hierarchy is used; cheapest: class by class, the "
    "label of the hierarchy or the range, whichever stands for fewer values; any: sets of values, too, which win nearly always and are the "
    "hardest to use. Of columns that [labels] mentions, each class takes the cheapest kind that is allowed there"
)


def stated_kinds(stated: Mapping[str, Any], where: str) -> dict[str, tuple[str, ...]]:
    """The kinds that the owner allows of each column, in the order of `KINDS`; refused where one is not known."""
    allowed = {}
    for name, kinds in stated.items():
        listed = (kinds,) if isinstance(kinds, str) else kinds
        if not isinstance(listed, list | tuple) or not listed or not all(k in (*KINDS, ANY) for k in listed):
            raise InputError(f"{where} {name}: give {', '.join(map(repr, KINDS))}, a list of these, or {ANY!r}.")
        allowed[name] = tuple(k for k in KINDS if k in listed or ANY in listed)
    return allowed


def kinds_of(
    name: str, possible: Collection[str], allowed: Collection[str] | None, labels: Labels, where: str
) -> tuple[str, ...]:
    """The kinds that classes choose among for a column with these possible ones; never none."""
    if allowed is not None:
        kinds = [k for k in KINDS if k in allowed and k in possible]
        if not kinds:
            lacks = " and no ".join(
                {"taxonomy": "hierarchy", "ranges": "order of numbers or dates"}[k] for k in allowed
            )
            raise InputError(
                f"{where}, [labels] {name}: the column has no {lacks}; give it one, or allow another kind."
            )
        return tuple(k for k in kinds if k != "taxonomy") or tuple(kinds) if labels == "plain" else tuple(kinds)
    kinds = [k for k in KINDS if k in possible]
    if labels == "any":
        return tuple(kinds)
    if labels == "cheapest":
        return tuple(k for k in kinds if k != "sets") or ("sets",)
    return next((k,) for k in kinds if labels == "hierarchies" or k != "taxonomy")
