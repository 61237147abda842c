"""Background knowledge: facts about people, given or the worst there are (Machanavajjhala et al. 2007; Martin et al. 2007; Manta 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Self

import numpy as np

from ..core.attack import attack
from ..core.classes import Classes
from ..core.cover import Domain
from ..core.errors import InputError, Unavailable
from ..core.metric import QUASI_KNOWN, TOLERANCE, Score
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.parameter import Choice, Number
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import about, below_one, counted, from_zero, up
from .knowledge.class_values import attacked_classes, class_labels, control_group, rows_of, whole
from .knowledge.facts import Reader, beliefs, homes
from .knowledge.worst_facts import MOST, Knowledge, worst_posteriors


@dataclass(frozen=True, kw_only=True)
class PersonBelief:
    """The largest belief about a person, before and after the facts; by `reveal` whose, and in which values."""

    person: int
    classes: int
    before: float
    after: float
    without_release: float
    name: str | None = None
    beliefs: Sequence[tuple[str | None, float, float]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: what there is."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class GivenFacts(AttackDetails):
    """What facts about people lead to."""

    facts: int
    sure: float
    certain: int
    """People in whose value the belief reaches `sure`."""
    largest: float
    without_facts: float
    """How many are guessed right without the facts, on average."""
    people: Sequence[PersonBelief]
    no_control: str

    @property
    def revealed(self) -> Any:
        """The beliefs about each person by name; None without `reveal`."""
        shown = [person.to_dict() for person in self.people if person.name is not None]
        return shown or None

    def without_values(self) -> Self:
        """The same without names and values."""
        return replace(self, people=[replace(person, name=None, beliefs=None) for person in self.people])

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: what there is."""
        return {**super().to_dict(), "people": [person.to_dict() for person in self.people]}


@dataclass(frozen=True, kw_only=True)
class WorstFacts(AttackDetails):
    """What the worst k facts lead to."""

    k: int
    knowledge: Knowledge
    sure: float
    classes: int
    exposed_classes: int
    largest: float
    """The largest belief, with facts about people of any class."""
    largest_own_class: float
    mean: float
    without_release: float
    by_k: Sequence[float]
    """The largest belief for 0, 1, 2, ... facts."""
    control_covered: int | None = None
    """Of the people who are not in the release, so many look like somebody who is."""
    shown: Sequence[Any] | None = None


Known = Mapping[str, str | Mapping[str, object]]
NO_CONTROL = "There is no control group: these facts hold of these people, and of nobody who is not in the release."
"""Why facts that are given have none. The worst facts are chosen for whomever is attacked, so they have one."""


@attack(
    title="background knowledge",
    question="How sure can an adversary who also knows the k worst facts become of a person's sensitive value?",
    how="The adversary knows facts about people, such as: Bob does not have flu; if Alice has it, so has Bob. They are given, or the k "
    "that help most are taken. The attack works where they make a person's value as sure as asked for.",
    knows=f"{QUASI_KNOWN}; and facts about the sensitive values of people",
    effort="learning facts about particular people, and counting",
    source="Martin, Kifer, Machanavajjhala, Gehrke, Halpern 2007, maximum disclosure for L^k_basic",
    sentence=from_zero(
        "For nobody do the facts (those given, or the worst possible) make the sensitive value as sure as the attack requires.",
        "For {} of the people attacked, the facts (those given, or the worst possible) give the sensitive value away.",
    ),
    misleads="It is the worst k facts about the worst person. Most people fare better, and perhaps nobody knows such facts. It assumes that the "
    "rows of a class are equally likely and that classes are independent.",
    needs=frozenset({"sensitive"}),
    parameters={
        "facts": "Facts in words: Bob: age=34, zip=47677; Bob is not flu; if Al is flu then Bob is flu.",
        "people": "What is known of the people whom facts are about, by name; the same as facts such as Bob: age=34.",
        "k": "How many facts, the worst there are, where none are given; 1 unless said.",
        "knowledge": "implications: facts such as if Al is flu then Bob is flu; negations: facts such as Bob is not flu.",
        "sure": "The belief from which a value counts as told.",
    },
)
def background(
    release: Release,
    roles: Roles,
    *,
    sensitive: str | None = None,
    facts: Sequence[str] = (),
    people: Known | None = None,
    k: int | None = None,
    knowledge: Knowledge = "implications",
    sure: float = 1.0,
    control: Table | None = None,
    reveal: bool = False,
) -> Outcome:
    """What an adversary believes who knows facts besides the release: those given, or the k worst.

    **Facts** are texts: `Bob is not flu`, `if Alice is flu then Bob is flu`, `Bob: age=34, zip=47677` (or `people`), see `knowledge/facts.py`.
    The posterior of every person named is exact, over all assignments of the values of the classes to their people; those fall whose
    likeliest value is theirs, an expected number. The baseline has the same facts and the overall shares, and no class. A control
    group cannot exist: facts that are true of these people are true of nobody else, and false ones tell nothing of a release.
    **Without facts** it is the worst case of `k` facts (1 unless given; Martin et al. 2007): `implications`, or `negations` as in
    l-diversity. People fall in whose class k facts about that class can raise the belief in somebody's value to `sure`; the baseline
    is the table as one class. `largest` in the details is the maximum disclosure, with facts about people of any class. `control` are
    people who are not in the release, looked up as if they were: they fall where the rows that cover them let k facts raise a belief
    to `sure`, and hold the person's own value, since facts that are true of a person lead to no value that is not there.
    `reveal` puts names, classes and values into the details.
    Extremes: without a fact the belief is the class's share; a class of at most k + 1 values falls to k facts.
    """
    evidence, column, classes = attacked_classes(release, roles, sensitive, "background")
    if not 0 < sure <= 1:
        raise InputError("background: sure is a probability above 0 and at most 1.")
    if facts or people:
        if k is not None:
            raise InputError("background takes facts, or k for the worst k facts; not both.")
        return _given(evidence, column, classes, facts, people or {}, sure, reveal)
    return _worst(evidence, column, classes, 1 if k is None else k, knowledge, sure, control, reveal)


def _given(
    evidence: Evidence, column: str, classes: Classes, facts: Sequence[str], people: Known, sure: float, reveal: bool
) -> Outcome:
    if column in evidence.apart:
        raise Unavailable(
            f"Facts about people need their classes, and here only groups join {column!r} to the quasi-identifiers; ask for the "
            "worst k facts."
        )
    reader = Reader(Domain(classes.sensitive.column, classes.sensitive.hierarchy))
    reader.introduce(people)
    reader.read(facts)
    for name in list(reader.names):  # who is introduced is attacked, whether a fact is about them or not
        reader.number(name)
    known = reader.known()
    at = homes(evidence.tuples, evidence.roles, known)
    before = [beliefs(classes, [home], ())[0] for home in at]  # each person alone
    after = beliefs(classes, at, reader.facts)
    # without the release: everybody has a table of their own, so nobody takes a row from another
    own = [np.array([i]) for i in range(len(at))]
    blind = beliefs(_copies(whole(classes), len(at)), own, reader.facts)
    fell, guessed = (float(sum(belief.max() for belief in each)) for each in (after, blind))
    certain = sum(bool(belief.max() >= sure - TOLERANCE) for belief in after)
    persons: list[PersonBelief] = []
    texts = classes.sensitive.column.texts
    for i, home in enumerate(at):
        possible = np.flatnonzero(before[i] > 0).tolist() if reveal else []
        persons.append(
            PersonBelief(
                person=i + 1,
                classes=len(home),
                before=float(before[i].max()),
                after=float(after[i].max()),
                without_release=float(blind[i].max()),
                name=reader.people[i] if reveal else None,
                beliefs=[(texts[v], float(before[i][v]), float(after[i][v])) for v in possible] if reveal else None,
            )
        )
    count = len(at)
    return Outcome.of(
        fell,
        count,
        guessed,
        knew=f"{counted(len(reader.facts), 'fact')}, and what is known of "
        f"{counted(count, 'person who is', 'people who are')} in the release",
        effort="looking their classes up and counting the assignments that agree with the facts",
        sentence=f"With these facts the likeliest value is right for {about(fell, 4)} of {counted(count, 'person', 'people')} on average, "
        f"and the belief in it reaches {sure:g} for {certain}; the release without the facts makes it "
        f"{sum(float(b.max()) for b in before):.4g}, the facts without the release {guessed:.4g}. {NO_CONTROL}",
        source="Machanavajjhala et al. 2007; Martin et al. 2007; Manta 2013, sec. 3.2",
        details=GivenFacts(
            column=column,
            facts=len(reader.facts),
            sure=sure,
            certain=certain,
            largest=max(float(belief.max()) for belief in after),
            without_facts=float(sum(belief.max() for belief in before)),
            people=persons,
            no_control=NO_CONTROL,
        ),
    )


def _copies(classes: Classes, count: int) -> Classes:
    """The same single class so many times."""
    number = np.repeat(np.arange(count), len(classes.n))
    return Classes(
        np.repeat(classes.size, count),
        number,
        np.tile(classes.value, count),
        np.tile(classes.n, count),
        classes.sensitive,
    )


def _worst(
    evidence: Evidence,
    column: str,
    classes: Classes,
    k: int,
    knowledge: Knowledge,
    sure: float,
    control: Table | None,
    reveal: bool,
) -> Outcome:
    posterior = worst_posteriors(classes, k, knowledge, anywhere=False)
    hit = posterior >= sure - TOLERANCE
    people, fell = classes.rows, rows_of(classes, hit)
    blind = float(worst_posteriors(whole(classes), k, knowledge)[0])
    largest = float(worst_posteriors(classes, k, knowledge).max())
    details = WorstFacts(
        column=column,
        k=k,
        knowledge=knowledge,
        sure=sure,
        classes=len(classes),
        exposed_classes=int(hit.sum()),
        largest=largest,
        largest_own_class=float(posterior.max()),
        mean=float(classes.size @ posterior) / people,
        without_release=blind,
        by_k=[float(worst_posteriors(classes, j, knowledge).max()) for j in range(min(max(k, 3), MOST) + 1)],
    )
    held = None
    if control is not None:
        group = control_group(evidence, column, classes, control, "background")
        m = len(classes.sensitive.total)
        raised = worst_posteriors(group.classes, k, knowledge, anywhere=False) >= sure - TOLERANCE
        there = np.isin(group.member * m + group.value, group.classes.member * m + group.classes.value)
        held = Rate.of(int(group.n[raised[group.member] & there & (group.value >= 0)].sum()), group.people)
        details = replace(details, control_covered=group.covered)
    if reveal:
        shown = [
            {"class": who, "belief": float(posterior[c])}
            for who, c in zip(class_labels(evidence, column, hit), np.flatnonzero(hit).tolist(), strict=False)
        ]
        details = replace(details, shown=shown)
    many = "fact" if k == 1 else f"{k} facts"
    raises = "raises" if k == 1 else "raise"
    return Outcome.of(
        fell,
        people,
        people if blind >= sure - TOLERANCE else 0,
        title="worst-case background knowledge",
        knew=f"the quasi-identifiers of everybody in the release, and the worst {many} ({knowledge}) about their values",
        effort=f"learning {'one fact' if k == 1 else many} about particular people, and counting",
        control=held,
        sentence=f"The worst {many} {raises} the belief in somebody's value to {largest:.4g}, and about people of their own class to "
        f"{sure:g} for {fell:,} of {people:,} people; without the classes to {blind:.4g}.",
        source="Martin, Kifer, Machanavajjhala, Gehrke, Halpern 2007; Manta 2013, sec. 3.2",
        details=details,
    )


@background.metric(
    title="worst-case background knowledge",
    sentence=below_one(
        "An adversary who knows as many facts about people as asked for, the worst there are, can be certain of somebody's value.",
        "An adversary who knows as many facts about people as asked for, the worst there are, believes in no sensitive value of "
        "anybody with a probability above {}.",
        partial(up, digits=4, short_of=1),
    ),
    knows=f"{QUASI_KNOWN}; and the k facts about people in the class that help most",
    unit="probability",
    monotone=True,
    scope="classes",
    alone=lambda k, knowledge: k <= 1 or knowledge == "negations",
    parameters={
        "k": Number(1, 0, MOST, whole=True),
        "knowledge": Choice(("implications", "negations"), "implications"),
    },
)
def worst_case_background(evidence: Evidence, column: str, k: int, knowledge: Knowledge) -> Score:
    """The largest `P(p has s | k facts, release)` over people, values and facts.

    `implications`: k of `if p has s then q has r`, about people of any class, in closed form (see `worst_facts.py`); `own_class`
    in the details is the largest with facts about people of one class alone, which is the same for k = 1.
    `negations`: `max over classes of n_1 / (n - n_2 - ... - n_(k+1))`, the adversary of l-diversity.
    Extremes: k = 0 gives positive_disclosure; 1 if a class has at most k + 1 values; never below the share of the most frequent value.
    """
    classes = evidence.classes(column)
    own = worst_posteriors(classes, k, knowledge, anywhere=False)
    anywhere = worst_posteriors(classes, k, knowledge)
    # where facts about others add nothing to the worst class, each class has what those about itself tell
    per_class = own if own.max() == anywhere.max() else anywhere
    hit = own == own.max()
    details = {
        "worst_classes": int(hit.sum()),
        "worst_rows": int(classes.size[hit].sum()),
        "own_class": float(own.max()),
    }
    return Score(float(per_class.max()), "probability", "exact", per_class, details=details)
