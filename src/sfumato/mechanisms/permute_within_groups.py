"""Permutation: quasi-identifiers as they are, sensitive values put in another order inside groups that hold enough of them.

Zhang, Koudas, Srivastava, Yu 2007. The groups are Mondrian's classes (people who are alike, so that sums over ranges of
quasi-identifiers stay nearly right) or Anatomy's. Rows are held in memory; two sorts, and what the groups cost.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from ..core.arrow import take
from ..core.column import IntArray, encode
from ..core.counts import pack
from ..core.errors import InputError
from ..core.mechanism import Mechanism, MechanismCard, Progress, check_choices, check_require, check_whole
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.alpha_anonymity import alpha_anonymity
from ..metrics.privacy.distinct_l_diversity import distinct_l_diversity
from .anatomy import anatomize, check_group, ready
from .microdata.rows import Rows
from .mondrian import Mondrian


@dataclass(frozen=True, kw_only=True)
class PermuteWithinGroups(Mechanism):
    """Sensitive values permuted at random inside groups, whose numbers are published."""

    l: int | None = None  # noqa: E741
    groups: Literal["mondrian", "anatomy"] = "mondrian"
    together: bool = False
    group: str = "group"
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="permute_within_groups",
        title="Permutation within groups",
        promise="each group contains at least l different values of each sensitive column, the most frequent one makes up at most "
        "1/l of its rows, and each group meets all requirements that you set; nothing is promised about a row or a "
        "combination of quasi-identifiers, whose values in the file may be anyone's in the group",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release: they find the "
        "person and the group, but believe in a sensitive value with at most 1/l; one who can rule out values believes "
        "more",
        cost="nothing is generalized, so people can be recognised in the table, and their presence is no secret; relations "
        "between a sensitive column and the others are kept between groups and lost inside them",
        source="Zhang, Koudas, Srivastava, Yu 2007 (permutation; their (k,e) asks for k different values and a range of e, here "
        "l different values and no range); groups after LeFevre et al. 2006 or Xiao and Tao 2006",
        chance="always",
        tunable=("l", "groups", "together"),
        place="last",
        parameters={
            "l": "the smallest number of different sensitive values in a group, from 2 on",
            "groups": "mondrian: groups of people with similar quasi-identifiers, which keep most relations; anatomy: the smallest "
            "groups, of any people, for one sensitive column",
            "together": "true: a person's sensitive values stay together when they are permuted, so knowing one tells the others; false: "
            "each column is permuted by itself",
            "group": "the name of the column that says which rows were permuted with one another",
        },
    )

    def __post_init__(self) -> None:
        check_whole(self, "l", least=2)
        if not self.group:
            raise InputError("permute_within_groups: group is the name of a column, which cannot be empty.")
        check_choices(self)
        check_require(self, "it makes groups for their sensitive values, by Mondrian")

    def honours(self, requirement: Requirement) -> bool:
        """What a group's sensitive values can meet, where Mondrian makes the groups."""
        card = requirement.metric.card
        return self.groups == "mondrian" and card.steers and card.apart and "sensitive" in card.needs

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """Diversity of every group, distinct and by frequency, and the requirements."""
        diverse = () if self.l is None else (distinct_l_diversity.at_least(self.l), alpha_anonymity.at_most(1 / self.l))
        return (*diverse, *self.require)

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing sensitive value is a value like any other and is permuted with them."""
        if self.l is None and (not self.require or self.groups == "anatomy"):
            raise InputError("permute_within_groups needs l, the different sensitive values of every group; set l=3.")
        chance = Chance(rng)
        if self.groups == "anatomy":
            assert self.l is not None
            rows, column = ready(table, roles, self.card.name, self.group)
            member = anatomize(rows.codes[column], self.l, chance, column)
        else:
            rows, member = self._similar(table, roles)
        progress(0.5)
        number = chance.order(int(member.max()) + 1)[member]
        changed: dict[str, Any] = {}
        order = _inside(number, chance)
        for i, name in enumerate(roles.sensitive):
            order = order if self.together or not i else _inside(number, chance)
            changed[name] = take(rows.columns[name].values, rows.codes[name][order])
        return rows.release(
            self,
            changed,
            added={self.group: number + 1},
            joined_by=self.group,
            perturbed=roles.sensitive,
            notes=(
                f"The sensitive values were permuted among the rows of a group (column {self.group!r}): "
                "which of a group's values is whose, the file does not tell.",
                *chance.notes,
            ),
        )

    def _similar(self, table: Table, roles: Roles) -> tuple[Rows, IntArray]:
        """The rows and the class of each that Mondrian would release together."""
        if not roles.sensitive:
            raise InputError(f"{roles.source} names no sensitive column, so there is nothing to permute.")
        check_group(table, self.card.name, self.group)
        recoding = Mondrian(require=self.promises)(table, roles).recoding
        assert recoding is not None
        rows, pairs = Rows.of(table, roles, self.card.name), recoding.table
        width, tuples = len(recoding.by), len(pairs)
        # every value occurs on both sides, so both are coded alike
        both = [np.append(encode(n, pairs.column(i))[1], rows.codes[n]) for i, n in enumerate(recoding.by)]
        key = pack(both, [len(rows.columns[name]) for name in recoding.by], tuples + len(rows))
        labels = [encode(name, pairs.column(width + i)) for i, name in enumerate(recoding.to)]
        released = pack([code for _, code in labels], [len(column) for column, _ in labels], tuples)
        classes = np.unique(released, return_inverse=True)[1]
        order = np.argsort(key[:tuples])
        return rows, classes[order[np.searchsorted(key[:tuples][order], key[tuples:])]]


def _inside(group: IntArray, chance: Chance) -> IntArray:
    """For each row the row whose value it gets: a random order of the rows of each group."""
    drawn = chance.order(len(group))
    given = np.empty(len(group), dtype=np.int64)
    given[np.argsort(group, kind="stable")] = drawn[np.argsort(group[drawn], kind="stable")]
    return given
