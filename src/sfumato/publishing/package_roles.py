"""The roles that go with a release: of its columns only, with no value that the release does not tell itself.

A whole hierarchy lists what every label stood for, down to values that one person has; an order lists values that were suppressed;
a rule's cut points may have been found in the data. So a hierarchy is shipped over the labels that occur in the release with what is
above them, an order over the values that occur, rules not at all, and columns that stay in the house are not even named.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.formulas import neutralised_text
from ..core.pseudonyms import packed
from ..core.release import Release
from ..core.roles import Roles
from ..core.spelling import plain
from ..core.value_sets import read_set

ROLES = "roles.toml"
HIERARCHIES = "hierarchies"


def write_roles(release: Release, roles: Roles, folder: Path, *, neutralise_formulas: bool = False) -> Roles:
    """Write roles.toml and the hierarchies that it names into a package; what was written.

    With `neutralise_formulas` no label of a hierarchy begins like a formula, and roles.toml says so where one did.
    """
    labels = _labels(release)
    rules: dict[str, Any] = {}
    orders: dict[str, tuple[str, ...]] = {}
    for name, there in labels.items():
        taxonomy = roles.taxonomy(name)
        if taxonomy is not None and (left := taxonomy.above(there)) is not None:
            file = f"{HIERARCHIES}/{len(rules) + 1}.csv"
            (folder / HIERARCHIES).mkdir(exist_ok=True)
            changed = neutralise_formulas and any(
                neutralised_text(text) != text for level in left.levels for text in level
            )
            left.write(folder / file, neutralised=changed)
            rules[name] = {"file": file, "text": True}  # as it stands: nothing about its spelling is left to guessing
            rules[name] |= {"neutralised": True} if changed else {}
        if (stated := roles.orders.get(name)) is not None:
            stated = stated if there <= set(stated) else tuple(plain(stated))
            if any(text in there for text in stated):
                orders[name] = tuple(text for text in stated if text in there)
    ours = Roles(
        quasi=tuple(name for name in roles.quasi if name in labels),
        sensitive=tuple(name for name in roles.sensitive if name in labels),
        insensitive=tuple(name for name in roles.insensitive if name in labels),
        hierarchies=rules,
        orders=orders,
        one_row_per_person=_one_row_each(release, roles),
        weights={name: weight for name, weight in roles.weights.items() if name in labels},
        person=roles.person if roles.linked and roles.person in labels else None,
        weight=roles.weight if roles.weight in labels else None,
        people=packed(roles.people) if roles.linked and roles.person in labels else {},
    )
    (folder / ROLES).write_text(ours.toml(), encoding="utf-8")
    return replace(ours, source=str(folder / ROLES), folder=folder)


def _labels(release: Release) -> dict[str, set[str]]:
    """The values of every released column, a set {a, b} also as its members."""
    labels: dict[str, set[str]] = {}
    for table in (release.table, *release.companions.values()):
        for name in table.columns:
            there = labels.setdefault(name, set())
            for text in table.count((name,)).columns[0].texts:
                if text is not None:
                    there.add(text)
                    if text[:1] + text[-1:] == "{}":
                        there.update(read_set(text))
    return labels


def _one_row_each(release: Release, roles: Roles) -> bool:
    """Whether each row is another person: the owner says so, or the person column of the original does, which publishing checked."""
    named = release.original is not None and roles.person is not None and roles.person in release.original.columns
    return (
        (roles.one_row_per_person or (named and roles.people.get("rows") != "unlinked"))
        and not release.statistics
        and release.neighbours is None
    )
