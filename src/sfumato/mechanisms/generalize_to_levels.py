"""Full-domain generalization to levels that the owner chooses: a fixed policy, or a node of the policy frontier.

Samarati 2001; Xia, Heatherly, Ding, Li, Malin 2015 call such a choice a de-identification policy. Nothing is searched for: what
misses a requirement is suppressed up to a limit, and beyond it the policy is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.errors import Infeasible, InputError
from ..core.mechanism import MechanismCard, Progress
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..search.full_domain import release_of
from ..search.lattice import Lattice, Levels
from ..search.problem import pose
from .parameters.class_requirements import Steered
from .parameters.column_numbers import by_column


@dataclass(frozen=True, kw_only=True)
class GeneralizeToLevels(Steered):
    """Every column to one level of its hierarchy, which the owner names."""

    levels: str | Mapping[str, int] | Sequence[int] = ""
    """As the card says; in Python also by column, as {"age": 2}, or one each in a list. It is kept as a text."""
    k: int | None = None
    suppression: float = 0.0
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="generalize_to_levels",
        title="Generalization to given levels",
        promise="all requirements that you set are met (k_anonymity >= k, l-diversity, t-closeness, leakages, ...); without "
        "requirements, only the levels are promised",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release",
        cost="all values of a column go to the same level of its hierarchy; rows of classes that miss a requirement are "
        "suppressed, up to the given share; if that is not enough, nothing is released",
        source="Samarati 2001; Xia, Heatherly, Ding, Li, Malin 2015",
        chance="some",
        people=True,
        links=True,
        tunable=("k", "suppression"),
        parameters={
            "levels": "a level for each quasi-identifier, 0 for the values as they are: in the order of the roles, as in 2,0,1, or by "
            "name, as in age=2,zip=1; columns not named stay as they are",
            "k": "short for the requirement k_anonymity >= k",
            "suppression": "the largest share of rows that may be suppressed",
        },
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", _text(self.levels))
        if not 0 <= self.suppression <= 1:
            raise InputError("generalize_to_levels: suppression must be a share of the rows between 0 and 1.")
        self.check_steering()

    def honours(self, requirement: Requirement) -> bool:
        """Any requirement: what misses it is suppressed or refused."""
        return True

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; `rng` only draws the numbers that join the rows of a person."""
        problem = pose(
            table,
            roles,
            require=self.promises,
            minimise="loss",
            suppression=self.suppression,
            to_release=True,
            links=True,
        )
        verdict = problem.judge.whole(problem.judge(problem.judge.rollup(self._levels(problem.lattice))))
        if not verdict.feasible:
            missed = " and ".join(map(str, verdict.missed or self.promises))
            raise Infeasible(
                f"generalize_to_levels: at these levels {verdict.suppressed:,} of {problem.judge.rollup.rows:,} rows miss {missed}, "
                f"more than the {100 * self.suppression:.3g}% that may be suppressed; raise a level, or suppression."
            )
        return release_of(problem, verdict, table, roles, made_by=self.card.name, parameters=self.settings(), rng=rng)

    def _levels(self, lattice: Lattice) -> Levels:
        """The levels, from their text."""
        names = ", ".join(lattice.names)
        text = str(self.levels)
        plain = [part.strip() for part in text.split(",")]
        if not text.strip():
            raise InputError(f"generalize_to_levels needs levels: one each for {names}, 0 to leave a column as it is.")
        if all(part.isdecimal() for part in plain):
            if len(plain) != len(lattice.names):
                raise InputError(
                    f"generalize_to_levels: {len(plain)} levels for {len(lattice.names)} quasi-identifiers; give one each for "
                    f"{names}, or name them as in age=2."
                )
            return lattice.read([int(part) for part in plain])
        named = by_column(text, "generalize_to_levels", "levels")
        if not all(level.is_integer() for level in named.values()):
            raise InputError("generalize_to_levels: a level is a whole number, as in 2,0,1 or age=2,zip=1.")
        return lattice.read({**dict.fromkeys(lattice.names, 0), **{name: int(x) for name, x in named.items()}})


def _text(levels: Any) -> str:
    """Levels by column or in order, as the command line would give them."""
    if isinstance(levels, str):
        return levels
    named = isinstance(levels, Mapping)
    if not named and not isinstance(levels, Sequence):
        raise InputError(_HOW)
    numbers = list(levels.values() if named else levels)
    names = list(levels) if named else []
    whole = all(isinstance(x, int | np.integer) and not isinstance(x, bool) and x >= 0 for x in numbers)
    if not whole or not all(isinstance(name, str) for name in names):
        raise InputError(_HOW)
    if not named:
        return ",".join(map(str, numbers))
    return ",".join(f"{_quoted(name)}={level}" for name, level in zip(names, numbers, strict=True))


def _quoted(name: str) -> str:
    odd = set(name) & set(',="') or name != name.strip()
    return '"' + name.replace('"', '""') + '"' if odd else name


_HOW = (
    "generalize_to_levels: levels must be a whole number from 0 for each column, as a dict ({'age': 2, 'zip': 1}), a list in the order "
    "of the quasi-identifiers ([2, 1]) or a text ('age=2,zip=1')."
)
