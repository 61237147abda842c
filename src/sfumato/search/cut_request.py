"""What is asked of cuts, checked before anything is counted: columns, requirements and the levels of other columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..core.column import IntArray
from ..core.counts import Counts, pack
from ..core.errors import InputError
from ..core.metric import Requirement
from ..core.required_columns import sensitive_columns
from ..core.roles import Roles
from .additive import Additive
from .lattice import Ladder


def about(aim: Additive, roles: Roles, sensitive: str | None) -> str | None:
    """The sensitive column that the objective looks at."""
    if not aim.sensitive:
        if sensitive is not None:
            raise InputError(f"{aim.name} looks at no sensitive column; leave {sensitive!r} out.")
        return None
    if sensitive is None:
        if len(roles.sensitive) != 1:
            many = "names several" if roles.sensitive else "names none"
            raise InputError(
                f"{aim.name} needs one sensitive column, and {roles.source} {many}; say which (--sensitive COLUMN)."
            )
        return roles.sensitive[0]
    if sensitive in roles.quasi:
        raise InputError(f"{aim.name}: column {sensitive!r} is a quasi-identifier in {roles.source}.")
    return sensitive


def demands(require: tuple[Requirement, ...], roles: Roles) -> dict[str | None, list[Requirement]]:
    """The requirements by the column that they look at, the cheap ones, which look at none, first."""
    by_column: dict[str | None, list[Requirement]] = {None: []}
    for requirement in require:
        if not requirement.metric.card.steers:
            why = "looks at a population" if requirement.metric.card.scope == "class" else "looks at the whole table"
            raise InputError(
                f"Ranges cannot be chosen by {requirement}: it {why}, not at a class alone; "
                "ask for example k_anonymity, entropy_l_diversity or t_closeness instead."
            )
        names = sensitive_columns([requirement.metric], roles) or (None,)
        for name in names:
            by_column.setdefault(name, []).append(requirement)
    return by_column


def held(levels: Mapping[str, int], roles: Roles, column: str) -> dict[str, int]:
    """The levels at which other quasi-identifiers are held, in the order of the roles."""
    for name in levels:
        if name == column:
            raise InputError(f"Column {column!r} is the one to be cut, so it cannot be held at a level.")
        if name not in roles.quasi:
            raise InputError(f"Column {name!r} is no quasi-identifier in {roles.source}, so it is held at no level.")
    return {name: levels[name] for name in roles.quasi if name in levels}


def groups(counts: Counts, held: Mapping[str, int], roles: Roles) -> IntArray:
    """The class of each tuple on the columns that are held."""
    codes, sizes = [], []
    for name, level in held.items():
        own = counts.codes[counts.names.index(name)]
        ladder = Ladder.of(counts.column(name), counts.margin(name), roles)
        if not isinstance(level, int) or not 0 <= level <= ladder.height:
            raise InputError(f"Column {name!r} has levels 0 to {ladder.height}; {level!r} is none of them.")
        codes.append(ladder.codes[level][own])
        sizes.append(int(ladder.codes[level].max()) + 1)
    group: IntArray = np.unique(pack(codes, sizes, len(counts)), return_inverse=True)[1].astype(np.int64)
    return group
