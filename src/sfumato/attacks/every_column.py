"""An intruder who uses every released column: what free columns tell of the quasi-identifiers splits the classes (Manta 2013, sec. 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.attack import attack
from ..core.column import FloatArray, IntArray
from ..core.counts import Counts, pack
from ..core.metric import QUASI_KNOWN
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import counted, from_zero
from ..profile.free_columns import Finding
from ..profile.free_release import free_of_release
from ..profile.relations import Relation, most_frequent


@dataclass(frozen=True, kw_only=True)
class UsedRelations(AttackDetails):
    """What free columns told, in words, and who is alone without it."""

    relations: Sequence[str]
    alone_in_a_class: int


@attack(
    title="every column",
    question="Who is alone in a class once columns that go out as they are have told what they can of the quasi-identifiers?",
    how="The adversary looks a person's class up, then keeps the rows whose free columns say what follows from the person's "
    "quasi-identifiers. The attack works where one row is left, and it is the person's own.",
    knows=f"{QUASI_KNOWN}; and how its columns hang together",
    effort="computing one column from others, and looking one class up",
    source="Manta 2013, sec. 3 (an adversary's knowledge is not only the quasi-identifiers)",
    sentence=from_zero(
        "Nobody is alone in a class, not even by what the free columns tell of the quasi-identifiers.",
        "By the quasi-identifiers and what free columns tell of them, {} of the rows are found, and are the right ones.",
    ),
    misleads="Only relations that are seen in the release are used: an adversary may know others. People who are alone by the "
    "quasi-identifiers count as well: they are the baseline.",
    needs=frozenset({"original"}),
)
def every_column(release: Release, roles: Roles) -> Outcome:
    """Look a person's class up, then keep the rows whose free columns say what follows from the person's quasi-identifiers.

    A row falls if it is then the only one left and keeps the relations that were used. The baseline is the same adversary without the
    free columns: a person alone in a class. Extremes: as the baseline where free columns tell nothing; everybody where one of them is a copy
    of what makes people unique. Rows are found from the release alone; whether the row is the right one is looked up in the original.
    """
    evidence = release.evidence(roles)
    evidence.original("The attack every_column")
    classes = evidence.classes()
    people, alone = classes.rows, int((classes.size == 1).sum())
    free = free_of_release(release, roles)
    findings = [f for f in free.related() if f.relation is not None and set(f.protected) <= set(free.quasi)]
    best, certain = float(alone), True
    used: tuple[Finding, ...] = ()
    for chosen in _sets(findings):
        fell, sure = _found(evidence, free.related_in, [f.relation for f in chosen if f.relation is not None])
        if fell > best:
            best, used, certain = fell, chosen, sure
    words = "; ".join(finding.words for finding in used)
    sentence = (
        f"Of {counted(people, 'row')}, {round(best):,} can be found and are the right ones once the free columns are used ({words}); by the "
        f"quasi-identifiers alone it is {alone:,}."
        if used
        else f"No free column is seen to tell more of the quasi-identifiers than the release does: {alone:,} of {counted(people, 'row')} "
        f"{'is' if alone == 1 else 'are'} alone by these."
    )
    return Outcome.of(
        best,
        people,
        alone,
        exactness="exact" if certain else "estimate",
        sentence=sentence,
        details=UsedRelations(relations=[finding.words for finding in used], alone_in_a_class=alone),
    )


def _sets(findings: list[Finding]) -> list[tuple[Finding, ...]]:
    """Each by itself, and all of them together."""
    return [*((finding,) for finding in findings), *([tuple(findings)] if len(findings) > 1 else [])]


def _found(evidence: Evidence, beside: Table, relations: list[Relation]) -> tuple[float, bool]:
    """The rows that are alone in their class by what their free columns say, each by how often that is right; and whether it always is."""
    quasi = [name for name in evidence.roles.quasi if name in evidence.release.table.columns]
    free = list(dict.fromkeys(name for relation in relations for name in relation.free))
    counts = evidence.release.table.count((*quasi, *free))
    keys = [counts.group(quasi)[1]]
    right = np.ones(len(counts))
    for relation in relations:
        signature, rate = _said(beside, relation, counts)
        keys.append(signature)
        right *= rate
    key = pack(keys, [int(k.max()) + 1 for k in keys], len(counts))
    _, member = np.unique(key, return_inverse=True)
    alone = np.bincount(member, weights=counts.n)[member] == 1
    return float(right[alone].sum()), bool(np.all((right == 1) | (right == 0)))


def _said(beside: Table, relation: Relation, counts: Counts) -> tuple[IntArray, FloatArray]:
    """For each released tuple what its free columns say by the relation, and in which share of such rows of the original that is true."""
    original = beside.count(relation.columns)
    keeps, signature = relation.evaluate(original)
    place: dict[tuple[str | None, ...], int] = {}
    tuples = original.spelled(relation.free)
    group = np.array([place.setdefault(each, len(place)) for each in tuples], dtype=np.int64)
    signatures = most_frequent(group, signature, original.n)[0]
    rows = np.bincount(group, weights=original.n)
    kept = np.bincount(group, weights=original.n * keeps)
    at = np.array([place.get(each, -1) for each in counts.spelled(relation.free)], dtype=np.int64)
    unknown = int(signatures.max(initial=0)) + 1
    return np.where(at < 0, unknown, signatures[at]), np.where(at < 0, 0.0, kept[at] / rows[at])
