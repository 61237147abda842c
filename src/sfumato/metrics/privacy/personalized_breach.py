"""Personalized privacy: the breach of each person's guarding node (Xiao and Tao 2006; Manta 3.2.5)."""

from functools import partial

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray, IntArray
from ...core.errors import Unavailable
from ...core.hierarchy import TOP, Hierarchy
from ...core.metric import QUASI_KNOWN, Score, measure
from ...core.release import Evidence
from ...core.words import from_zero, up

OPEN = (None, "∅")
"""A guarding node that guards nothing: missing, or the survey's sign for it."""


class Leaves:
    """The leaves under each released value; the missing value is a leaf of its own under the root."""

    def __init__(self, taxonomy: Hierarchy, texts: list[str | None]) -> None:
        lost = len(taxonomy.levels[0])
        self.groups = taxonomy.groups
        self.tops = np.append(taxonomy.groups[TOP], lost) if None in texts else taxonomy.groups[TOP]
        under = [np.array([lost]) if t is None else self.tops if t == TOP else taxonomy.groups[t] for t in texts]
        self.under = np.concatenate(under)
        self.size = np.array([len(leaves) for leaves in under])
        self.guarded = np.zeros(lost + 1, dtype=bool)

    def share(self, guard: str) -> FloatArray:
        """For each released value, the share of its leaves that stand under a guarding node, `b/N`."""
        self.guarded[:] = False
        self.guarded[self.tops if guard == TOP else self.groups[guard]] = True
        first = np.cumsum(self.size) - self.size
        hit: IntArray = np.add.reduceat(self.guarded[self.under].astype(np.int64), first)
        share: FloatArray = hit / self.size
        return share


def breach(classes: Classes, member: IntArray, share: FloatArray, people: IntArray, repeated: bool) -> FloatArray:
    """The breach probability in the classes `member`, where `share` of each sensitive value is guarded.

    Summing over the entries of these classes only, so that many guarding nodes cost no more than their classes hold.
    """
    ends = np.cumsum(classes.distinct)
    width = classes.distinct[member]
    first = np.append(0, np.cumsum(width)[:-1])
    at = np.arange(int(width.sum())) + np.repeat((ends - classes.distinct)[member] - first, width)
    n, hit, of = classes.n[at], share[classes.value[at]], np.repeat(people[member], width)
    if not repeated:
        chances: FloatArray = np.add.reduceat(n * hit / of, first)
    else:
        with np.errstate(divide="ignore"):  # a single person: the logarithm of 0, and the breach is certain
            chances = -np.expm1(np.add.reduceat(np.where(hit > 0, n * np.log1p(-hit / of), 0.0), first))
    return np.clip(chances, 0.0, 1.0)


@measure(
    title="personalized privacy breach",
    question="How likely is an adversary to link the most exposed person to a value that this person chose to guard?",
    unit="probability",
    source="Xiao and Tao 2006; Manta 2013, sec. 3.2.5",
    sentence=from_zero(
        "An adversary can link nobody to a value that this person chose to guard.",
        "An adversary who knows a person's quasi-identifiers links the person to a value that they chose to guard with "
        "probability at most {}.",
        partial(up, short_of=1),
    ),
    knows=f"{QUASI_KNOWN}, or for people outside it a public table",
    misleads="It treats all leaves under a generalized value as equally likely, and it is only as good as the nodes that "
    "people chose. A person who guards nothing counts as unharmed.",
    needs=frozenset({"sensitive"}),
    scope="classes",
    alone=True,
    apart=False,
)
def personalized_breach(evidence: Evidence, column: str) -> Score:
    """The largest breach probability over all rows: `P(t) = 1/e sum_i b_i/N_i` over the rows i of t's class.

    N_i are the leaves under row i's released sensitive value, b_i those of them under t's guarding node, e the people who
    may be in the class: those of the population table whom its values cover, else those in it. Of the e!/(e-r)! prod N_i
    ways to give the rows their owners and values, this share breaches. Where the release carries a person column and
    people have several rows, each row may be anyone's (e^r ways): `P(t) = 1 - prod_i (1 - b_i/(e N_i))`.
    The guarding nodes are in the column that the roles name as guarding, in the release or in the original that its rows
    are paired with. Extremes: 0 if no one guards anything; 1 if all rows of a class stand under the node of one of them.
    """
    roles, table = evidence.roles, evidence.release.table
    if roles.guarding is None:
        raise Unavailable(
            f"personalized_breach needs each row's guarding node; name its column in {roles.source} as guarding."
        )
    taxonomy = roles.taxonomy(column)
    if taxonomy is None:
        raise Unavailable(
            f"personalized_breach needs a taxonomy of {column!r}; name its file in {roles.source} under [hierarchies]."
        )
    classes = evidence.classes(column)
    texts = classes.sensitive.column.texts
    member, nodes, node, rows = evidence.held(roles.guarding, "personalized_breach")
    for what, labels in ((column, texts), (roles.guarding, [t for t in nodes.texts if t not in OPEN])):
        absent = sum(text is not None and text not in taxonomy.groups for text in labels)
        if absent:
            raise Unavailable(
                f"{taxonomy.source}: {absent} of the values in column {what!r} are not in the taxonomy of {column!r}; add them."
            )
    people, cover = evidence.people, evidence.population_sizes()
    repeated = roles.person in table.columns and table.unique_rows((str(roles.person),))[1] < table.rows
    may = people if cover is None else np.maximum(people, cover)
    per_class, per_entry = np.zeros(len(classes)), np.zeros(len(member))
    leaves = Leaves(taxonomy, texts)
    by_node = np.split(np.argsort(node, kind="stable"), np.cumsum(np.bincount(node, minlength=len(nodes)))[:-1])
    for text, at in zip(nodes.texts, by_node, strict=True):
        if text is not None and text not in OPEN:
            per_entry[at] = breach(classes, member[at], leaves.share(text), may, repeated)
            np.maximum.at(per_class, member[at], per_entry[at])
    worst = float(per_class.max())
    details = {
        "worst_rows": int(rows[per_entry == worst].sum()) if worst > 0 else 0,
        "guarded_rows": int(rows[np.array([text not in OPEN for text in nodes.texts])[node]].sum()),
        "population": cover is not None,
    }
    return Score(worst, "probability", "exact", per_class, details=details)
