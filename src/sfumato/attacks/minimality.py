"""Minimality: an adversary who knows the algorithm asks for which values it would have published just this (Wong, Fu, Wang, Pei 2007).

A sanitizer that loses no more than it must tells by what it generalized that less would not have done. Whoever knows the
quasi-identifiers of everybody, the algorithm and its goal can try every assignment of the sensitive values to the people of their
classes, keep those for which the algorithm would have published this release, and count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..core.attack import attack
from ..core.classes import Classes
from ..core.column import FloatArray
from ..core.errors import InputError, Unavailable
from ..core.mechanism import Mechanism
from ..core.metric import TOLERANCE, Score
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.parameter import Number
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import about, down, percent_up, up
from ..mechanisms.generalize_full_domain import GeneralizeFullDomain
from ..mechanisms.mondrian import Mondrian
from ..metrics import require as requirement
from ..search.required_columns import sensitive_columns
from .knowledge.assignments import MOST_GROUPS, Puzzle
from .knowledge.class_values import SHOWN, attacked_classes, control_group

RUNS = 1000
"""Assignments that are tried unless the owner says otherwise: each is a run of the algorithm."""


@dataclass(frozen=True, kw_only=True)
class Replayed(AttackDetails):
    """What running the algorithm on other assignments of values to people left."""

    algorithm: str
    goal: Sequence[str]
    scope: str
    """Whether the assignments of the whole table were tried, or of one class after the other; or none, where the algorithm looks at no secret."""
    assignments: int
    reached: int
    """People whose class was tried."""
    not_reached: int
    success_at_most: float
    without_algorithm: float
    """How many fall to the classes alone."""
    largest: float
    largest_without_algorithm: float
    believed_more: int
    """People in some value of whom the belief rose."""
    believed_more_at_most: int
    shown: Sequence[Any] | None = None


def _sentence(value: float) -> str:
    return (
        "An adversary who knows everybody's quasi-identifiers, the algorithm and its goal is expected to name the right sensitive value "
        f"for at most {percent_up(value)} of the people."
    )


@attack(
    title="minimality",
    question="For how many people does an adversary who knows the algorithm and its goal name the right sensitive value?",
    how="A sanitizer that loses no more than it must tells, by what it generalized, that less would not have done. The adversary tries "
    "every assignment of values to the people of a class and keeps those for which the algorithm would have published this release. The "
    "attack works where the likeliest value is the person's own.",
    knows="everybody's quasi-identifiers and class, the algorithm and its goal",
    effort="running the algorithm on possible tables",
    source="Wong, Fu, Wang, Pei 2007",
    sentence=_sentence,
    misleads="Much of it may be told by the classes alone, or by the most frequent value: both are in the details. People in classes with "
    "more assignments than runs count as if they all fell, and the value is then a bound: more runs make it smaller. The metric takes the "
    "algorithm that the release says made it; sfumato attack takes one that is named.",
    needs=frozenset({"sensitive", "original", "mechanism"}),
    parameters={
        "mechanism": "The algorithm with its goal, generalize_full_domain or strict mondrian; what made the release unless given.",
        "runs": "How many assignments are tried; each is a run of the algorithm.",
    },
)
def minimality(
    release: Release,
    roles: Roles,
    *,
    mechanism: Mechanism | None = None,
    sensitive: str | None = None,
    runs: int = RUNS,
    control: Table | None = None,
    reveal: bool = False,
) -> Outcome:
    """Who falls to an adversary who knows the algorithm and its goal, besides everybody's quasi-identifiers and classes.

    `mechanism` is the algorithm with its goal, full-domain generalization or strict Mondrian; without it, what the release says it
    was made by. The original is needed: its quasi-identifiers are what the adversary knows. Every assignment of a class's values to
    its people is equally likely beforehand; people of equal quasi-identifiers are counted together. Where all assignments of the
    table are at most `runs`, the belief is exact for this adversary. Where they are not, classes are taken one by one, for an
    adversary who knows the values of everybody outside the class as well. Those fall whose likeliest value is theirs, an expected
    number; the baseline is the most frequent value of the table. `without_algorithm` in the details is the same from the classes
    alone: what lies above it is told by minimality.

    **People who are not reached**, in classes with more assignments than runs are left, count as well, and the number is a bound:
    at least as many of them fall as to the classes alone, at most all. (Of a class, `sum_p max_w P(p has w) >= max_w sum_p P(p has w)`,
    which is the rows of its most frequent value, whatever is known besides.) The number that fell is the lower end, the interval of
    the success reaches to the upper. If no class is reached the attack is refused.

    `control` are people who are not in the release, looked up as if they were: who has the quasi-identifiers of somebody in the
    table is believed to have what that person is believed to have, others what the classes that cover them say, and those whom none
    covers the most frequent value; it is counted how many of them really have it.
    Extremes: as from the classes alone where the algorithm does not look at the sensitive column; everybody where a single
    assignment explains the release.
    """
    if not isinstance(runs, int) or runs < 1:
        raise InputError("minimality: runs is a whole number of at least 1.")
    evidence, column, classes = attacked_classes(release, roles, sensitive, "minimality")
    algorithm = _algorithm(release) if mechanism is None else mechanism
    _check(algorithm, roles, column)
    puzzle = Puzzle.of(evidence, column, algorithm)
    if not puzzle.publishes(puzzle.truth):
        raise InputError(
            f"{algorithm.card.name} with these parameters does not publish this release of {evidence.original('minimality').name}; "
            "give the mechanism that made it."
        )
    if not sensitive_columns((r.metric for r in algorithm.promises), roles) and _blind(algorithm):
        parts, scope, tried = puzzle.plain(range(len(puzzle.classes))), "algorithm", 0
    elif puzzle.assignments(range(len(puzzle.classes)), runs) <= runs:
        parts, tried = puzzle.explain(range(len(puzzle.classes)))
        scope = "table"
    else:
        parts, scope, tried = {}, "class", 0
        order = sorted(range(len(puzzle.classes)), key=lambda c: puzzle.assignments([c], runs))
        for c in order:
            if tried + puzzle.assignments([c], runs) > runs:
                break
            explained, more = puzzle.explain([c])
            parts, tried = parts | explained, tried + more
        if not parts:
            raise Unavailable(
                f"minimality tries every assignment of values to people, and each class has more than the {runs:,} that are tried "
                f"(or over {MOST_GROUPS} different people or values); raise runs, or attack a release with smaller classes."
            )
    plain = puzzle.plain(range(len(puzzle.classes)))
    reached = np.array([g in parts for g in range(len(puzzle.truth))])
    before = np.array([plain[g] for g in range(len(puzzle.truth))])
    after = np.array([parts.get(g, plain[g]) for g in range(len(puzzle.truth))])
    held = None if control is None else _control(puzzle, after, evidence, column, classes, control)
    return _attack(puzzle, before, after, reached, algorithm, column, scope, tried, held, reveal)


def _algorithm(release: Release) -> Mechanism:
    """What the release says it was made by."""
    kinds: dict[str, Any] = {kind.card.name: kind for kind in (GeneralizeFullDomain, Mondrian)}
    if release.made_by not in kinds:
        raise Unavailable(
            "minimality needs the algorithm that made the release, which it does not say or which is neither generalize_full_domain "
            "nor mondrian; give it as mechanism."
        )
    given = dict(release.parameters)
    require = tuple(requirement(text) for text in given.pop("require", ()))
    made: Mechanism = kinds[release.made_by](**given, require=require)
    return made


def _check(algorithm: Mechanism, roles: Roles, column: str) -> None:
    if not isinstance(algorithm, GeneralizeFullDomain | Mondrian):
        raise Unavailable(
            "minimality is played against generalize_full_domain and mondrian, which choose by a stated goal and not by chance."
        )
    if isinstance(algorithm, Mondrian) and algorithm.mode != "strict":
        raise Unavailable(
            "minimality needs rows of equal quasi-identifiers in one class; relaxed Mondrian divides them."
        )
    beside = [name for name in sensitive_columns((r.metric for r in algorithm.promises), roles) if name != column]
    if beside:
        raise Unavailable(
            f"minimality varies the values of {column!r}, and the algorithm also looks at {beside[0]!r}; attack a release that looks "
            "at one sensitive column."
        )


def _blind(algorithm: Mechanism) -> bool:
    """Whether what is minimised does not look at the sensitive column either."""
    return isinstance(algorithm, Mondrian) or getattr(algorithm, "minimise", "") == "loss"


def _likeliest(belief: FloatArray) -> FloatArray:
    """What is said of each group: the likeliest value, by chance among equals."""
    top = belief >= belief.max(axis=-1, keepdims=True) - TOLERANCE
    said: FloatArray = top / top.sum(axis=-1, keepdims=True)
    return said


def _control(
    puzzle: Puzzle, after: FloatArray, evidence: Evidence, column: str, classes: Classes, control: Table
) -> Rate:
    """How many people who are not in the release really have what would be said of them."""
    group = control_group(evidence, column, classes, control, "minimality")
    quasi = evidence.tuples.names
    counts = control.count((*quasi, column))  # its entries are those of the group
    tuples, member = counts.group(quasi)
    assert np.array_equal(counts.n, group.n)
    place = {known: g for g, known in enumerate(puzzle.texts)}
    who = np.array([place.get(each, -1) for each in tuples.spelled()], dtype=np.int64)[member]
    code = puzzle.values.places(classes.sensitive.column)
    there = group.value >= 0  # another value is said of nobody
    right = np.zeros(len(group.n))
    twin = there & (who >= 0)
    right[twin] = _likeliest(after)[who[twin], code[group.value[twin]]]
    # no one has their quasi-identifiers: what the classes say that cover them
    inside = group.classes
    most = np.zeros(len(inside), dtype=np.int64)
    np.maximum.at(most, inside.member, inside.n)
    top = np.flatnonzero(inside.n == most[inside.member])
    ties = np.bincount(inside.member[top], minlength=len(inside))
    m = len(code)
    covered = inside.size[group.member] > 0
    beside = there & (who < 0) & covered
    beside &= np.isin(group.member * m + group.value, inside.member[top] * m + inside.value[top])
    right[beside] = 1 / ties[group.member[beside]]
    lost = there & ~covered & (who < 0)
    right[lost] = _likeliest(classes.sensitive.prior)[group.value[lost]]
    return Rate.of(float(group.n @ right), group.people)


def _attack(
    puzzle: Puzzle,
    before: FloatArray,
    after: FloatArray,
    reached: npt.NDArray[np.bool_],
    algorithm: Mechanism,
    column: str,
    scope: str,
    tried: int,
    held: Rate | None,
    reveal: bool,
) -> Outcome:
    sizes = puzzle.truth.sum(axis=1)
    people, lost = int(sizes.sum()), int(sizes[~reached].sum())
    # those who are not reached fall as to the classes alone at least, at most all of them
    fell, without = float(sizes @ after.max(axis=1)), float(sizes @ before.max(axis=1))
    at_most = float(sizes[reached] @ after[reached].max(axis=1)) + lost
    right = float(puzzle.truth.sum(axis=0).max())
    risen = after.max(axis=1) > before.max(axis=1) + TOLERANCE
    details = Replayed(
        column=column,
        algorithm=algorithm.card.name,
        goal=[str(promise) for promise in algorithm.promises],
        scope=scope,
        assignments=tried,
        reached=people - lost,
        not_reached=lost,
        success_at_most=at_most / people,
        without_algorithm=without,
        largest=float(after.max()),
        largest_without_algorithm=float(before.max()),
        believed_more=int(sizes[risen].sum()),
        believed_more_at_most=int(sizes[risen].sum()) + lost,
    )
    if reveal:
        texts = puzzle.values.texts
        shown = [
            {
                "quasi": dict(zip((c.name for c in puzzle.columns), puzzle.texts[g], strict=True)),
                "people": int(n),
                "beliefs": [[texts[w], float(b), float(a)] for w, (b, a) in enumerate(zip(old, new, strict=True))],
            }
            for g, (n, old, new) in enumerate(zip(sizes.tolist(), before, after, strict=True))
            if (np.abs(new - old) > TOLERANCE).any()
        ][:SHOWN]
        details = replace(details, shown=shown)
    besides = " and the values of everybody outside the class" if scope == "class" else ""
    count = f"{about(fell, 4)}" if not lost else f"at least {down(fell, 4)} and at most {up(at_most, 4)}"
    success = f"the likeliest value is right for {count} of {people:,} people"
    largest = details.largest
    if risen.any():
        sentence = (
            f"Knowing why the table was generalized, {success} on average, where the classes alone give {about(without, 4)}; "
            f"the largest belief is {f'at least {down(largest)}' if lost else about(largest)}, with the classes alone "
            f"{about(details.largest_without_algorithm)}."
        )
    else:
        sentence = f"Knowing the algorithm tells no more{' of those who were reached' if lost else ''} than the classes: {success}."
    if lost:
        sentence += f" {lost:,} people were not reached: their classes have more assignments than were tried."
    least, upper = Rate.of(fell, people), Rate.of(at_most, people)
    return Outcome(
        knew=f"everybody's quasi-identifiers and class, the algorithm and its goal{besides}",
        effort=f"running the algorithm on {tried:,} possible tables",
        attacked=people,
        fell=fell,
        success=Rate(least.value, least.low, upper.high, people) if lost else least,
        baseline=Rate.of(right, people),
        control=held,
        exactness="bound" if lost else "exact",
        sentence=sentence,
        details=details,
    )


@minimality.metric(title="minimality", parameters={"runs": Number(None, low=1, high=10_000_000, whole=True)})
def minimality_risk(evidence: Evidence, column: str, *, runs: int) -> Score:
    """`sum over people of the largest P(value | release, algorithm) / people`, over at most `runs` assignments of values to people.

    Where some people cannot be reached in so many runs, they count as fallen, and the value is a bound; the interval begins where they
    fall as to the classes alone, below which it is never. Extremes: 1 where a single assignment explains the release; the share that
    the classes alone tell where the algorithm does not look at the sensitive column.
    """
    outcome = minimality(evidence.release, evidence.roles, sensitive=column, runs=runs)
    people = outcome.attacked
    replayed = cast(Replayed, outcome.details)
    at_most = min(replayed.success_at_most, 1.0)
    assert outcome.baseline is not None
    details = {
        **replayed.to_dict(),
        "baseline": outcome.baseline.value,
        "without_algorithm": replayed.without_algorithm / people,
        "believed_more": replayed.believed_more / people,
        "believed_more_at_most": replayed.believed_more_at_most / people,
    }
    ends = None if outcome.exactness == "exact" else (outcome.fell / people, at_most)
    return Score(at_most, "share of people", outcome.exactness, ci=ends, details=details)
