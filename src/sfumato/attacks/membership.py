"""Table linkage: who of a population is in the release (Nergiz, Atzori, Clifton 2007; Manta 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ..core.attack import attack
from ..core.errors import InputError, Unavailable
from ..core.metric import Score
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import below_one, down, percent, up
from .knowledge.presence import Presence, by_person, by_tuple
from .lookup.external import grouped, repeated

STEPS = (0.5, 0.75, 0.9, 0.95, 1.0)


@dataclass(frozen=True, kw_only=True)
class Presences(AttackDetails):
    """How likely each person of the population is in the release."""

    quasi: Sequence[str]
    population: int
    released: int
    delta_min: float
    """The smallest probability."""
    delta_max: float
    delta_max_at_least: float
    surely: float
    surely_in: int
    """People who are in it with at least this probability."""
    surely_out: int
    in_no_class: int
    in_several_classes: int
    classes_larger_than_population: int
    at_least: Mapping[str, int]
    """How many are in it with at least a probability."""
    success_at_most: float
    found: Sequence[str | None] | None = None


def presence(release: Release, roles: Roles, *, population: Table | None = None) -> Presence:
    """P(t in T | T') of every person t of the population, exact where classes do not overlap, else between two bounds.

    The adversary takes all ways to give each released row a person of its own whom it covers as equally likely. Class c has N_c rows and
    covers F_c people. Where nobody is covered twice the probability is `N_c / F_c`. Else it is

    - at least `max_c N_c / F_c` over the classes c that cover t: whatever the other rows are given, either t is taken, or t is one of at
      most F_c people among whom the N_c rows of c fall at random;
    - at most `sum_c N_c / max(N_c, F_c - R_c)`: t is taken by one of the classes, and rows of others take at most R_c people
      from the F_c, R_c the people whom c shares with other classes, or the rows of these if they are fewer.

    Where people have several rows by the person column of the roles, the unit is the person, and all their rows are used.

    - A release that carries the column tells whose rows are one person's. Each released person is then given a person of their own who has
      a row for each of theirs; a class is all released people whose rows are in the same classes.
    - Of a release that does not, each row is given a row of its own; t is in if one of their rows is taken. With f rows among F_c,
      `N_c / F_c` above becomes `1 - C(F_c - f, N_c) / C(F_c, N_c)`, and classes that share nobody decide each for itself.

    Whom no class covers is not in the release. Where the population lacks people of a class, whom it covers counts as in. A row without
    a person is somebody's of whom there is no other.
    """
    table = _population(release, population)
    _check(release, roles)
    evidence = release.evidence(roles)
    for name in evidence.tuples.names:
        roles.check_column(name, table.columns, where=table.name, kind="quasi")
    carried = roles.person is not None and roles.person in release.table.columns
    named = repeated(table, roles.person)
    if roles.person is None or not (named or (carried and repeated(release.table, roles.person))):
        return by_tuple(evidence, table)
    return by_person(evidence, table, roles.person, named=named, carried=carried)


def _sentence(value: float) -> str:
    return (
        f"An adversary who has the public table guesses correctly for {percent(value)} of its people whether they are in the release. Many of "
        "these guesses would be correct without the release."
    )


@attack(
    title="table linkage",
    question="How sure can an adversary be that the people in the release are in it?",
    how="The adversary looks everybody of a public table up in the release and guesses whether they are in it. The attack works where "
    "the guess is right.",
    knows="a public table with the quasi-identifiers of everybody, and how many of them were released",
    effort="the population's table with the quasi-identifiers, and one look-up a person",
    people=True,
    source="Nergiz, Atzori, Clifton 2007; Manta 2013, sec. 3.3",
    sentence=_sentence,
    misleads="It is an average: an adversary can be certain about one person while it is small; delta_presence gives the worst case. It is "
    "never below the share of the public table that was released, which the adversary knows anyway (the baseline in the details).",
    needs=frozenset({"population"}),
    parameters={
        "population": "A table of everybody; the release's population unless given.",
        "surely": "The probability from which people are counted as surely in, or not in, the release.",
        "identity": "The column of the population that names people, for reveal.",
    },
)
def membership(
    release: Release,
    roles: Roles,
    *,
    population: Table | None = None,
    surely: float = 0.9,
    identity: str | None = None,
    reveal: bool = False,
) -> Outcome:
    """Guess of everybody in the population whether they are in the release: the likelier of the two (`presence`).

    Who falls is guessed right: `max(p, 1 - p)` of each person is expected. The baseline knows how many rows were released, N of P people,
    and is right for `max(N, P - N)/P`. Where people have several rows the unit is the person, who is known by all of them (`presence`). In the details, delta-presence: the smallest and the largest probability, and how many people
    are in or not in the release with a probability of at least `surely`. Where classes overlap the success is a lower bound, and its interval
    reaches to the upper. `reveal` with `identity`, a column of the population, names those who are surely in.
    Extremes: 1 if every class holds everybody whom it covers; the baseline if all people of the population look alike to the release.
    """
    if not 0.5 <= surely <= 1:
        raise InputError("membership: surely is a probability from 0.5 to 1.")
    table = _population(release, population)
    if reveal and (identity is None or identity not in table.columns):
        raise InputError(
            f"{table.name}: membership can only name people by a column of it; give identity (--identity)."
        )
    people_in = presence(release, roles, population=population)
    n, low, high = people_in.n, people_in.low, people_in.high
    quasi, total = release.evidence(roles).tuples.names, int(n.sum())
    if not total:
        raise Unavailable(f"{table.name} has no rows, so there is nobody to be looked for.")
    worst = np.maximum(high, 1 - low)  # the best guess at either end
    sure = np.where((low <= 0.5) & (high >= 0.5), 0.5, np.maximum(low, 1 - high))
    fell, at_most = float((n * sure).sum()), float((n * worst).sum())
    base = float((n * np.maximum(people_in.blind, 1 - people_in.blind)).sum()) / total
    right, upper = Rate.of(fell, total), Rate.of(at_most, total)
    details = Presences(
        quasi=list(quasi),
        population=total,
        released=people_in.rows,
        delta_min=float(low.min()),
        delta_max=float(low.max() if people_in.exact else high.max()),
        delta_max_at_least=float(low.max()),
        surely=surely,
        surely_in=int(n[low >= surely - 1e-12].sum()),
        surely_out=int(n[high <= 1 - surely + 1e-12].sum()),
        in_no_class=int(n[high == 0].sum()),
        in_several_classes=people_in.several,
        classes_larger_than_population=people_in.short,
        at_least={f"{step:g}": int(n[low >= step - 1e-12].sum()) for step in STEPS},
        success_at_most=at_most / total,
        found=_named(table, identity, people_in, surely) if reveal and identity is not None else None,
    )
    share = percent(fell / total) if people_in.exact else f"at least {down(100 * fell / total)}%"
    return Outcome(
        knew=f"{', '.join(quasi)} of {total:,} people, {people_in.rows:,} of whom were released",
        attacked=total,
        fell=fell,
        success=right if people_in.exact else Rate(right.value, right.low, upper.high, total),
        baseline=Rate(base, base, base, total),
        exactness="exact" if people_in.exact and not people_in.short else "bound",
        sentence=f"Whether a person is in the release can be told for {share} of {total:,} people, and without it for "
        f"{percent(base)}; {details.surely_in:,} are in it with a probability of at least {surely:g}, and {details.surely_out:,} "
        "are not.",
        details=details,
    )


def _population(release: Release, population: Table | None) -> Table:
    table = release.population if population is None else population
    if table is None:
        raise Unavailable("membership needs the public table; give it with --population (or Release(population=...)).")
    return table


def _check(release: Release, roles: Roles) -> None:
    if release.statistics:
        raise Unavailable(
            "membership looks for rows of people, but this release holds statistics, not one row per person."
        )
    noisy = [name for name in roles.quasi if name in release.perturbed]
    if noisy:
        raise Unavailable(
            f"membership looks up whom released values cover, and {noisy[0]!r} was perturbed, so it covers nobody for sure; leave it "
            "out of quasi."
        )


def _named(table: Table, identity: str, presence: Presence, surely: float) -> list[str | None]:
    names = presence.people.names
    counts = table.count(names if identity in names else (*names, identity))
    _, member = grouped(counts.columns[: len(names)], counts.codes[: len(names)], counts.n)
    hit = presence.low[member] >= surely - 1e-12
    return [counts.column(identity).texts[c] for c in np.unique(counts.code(identity)[hit])]


@membership.metric(
    title="membership",
    sentence=below_one(
        "It is not ruled out that an adversary who has the public table is certain of everybody in the release that they are in it.",
        "Of a person in the release, an adversary who has the public table believes with a probability of at most "
        "{} that they are in it, on average over these people.",
        partial(up, short_of=1),
    ),
    unit="probability",
    source="Nergiz, Atzori, Clifton 2007; Manta 2013, sec. 3.3; their probabilities averaged over people",
)
def membership_risk(evidence: Evidence, column: None) -> Score:
    """`sum_t p_t^2 / sum_t p_t` over the people t of the public table, `p_t = P(t in T | T')`.

    p is what is believed of a person and, in sum, how many people are in. Without overlap it is `(1/N) sum_c N_c^2 / F_c`, N_c people of
    class c and F_c people of the public table whom it covers. Where classes overlap, p has two ends (`presence`); where
    the public table lacks people of the release, they count as certain. The value is then a bound that the truth does not exceed, and
    the interval begins at what it does not fall below. Extremes: 1 if everybody whom a class covers is in it; N/P if all P people
    look alike to the release, and never less.
    """
    release, person = evidence.release, evidence.roles.person
    here = presence(release, evidence.roles)
    n, low, high = here.n, here.low, here.high
    if not high.any():
        raise Unavailable(
            "membership_risk looks people of the public table up, and no class covers any of them; is it spelled as the original was?"
        )
    assert release.population is not None
    people = int(n.sum())
    # as many people are in as were released, unless somebody may have several rows of it, or the public table lacks some of them
    counted = person is None or person in release.table.columns or person not in release.population.columns
    inside = (float(n @ low), min(float(n @ high), float(here.rows)))
    if counted and not here.short and not here.exact:
        inside = (float(here.rows), float(here.rows))
    lacking = max(here.rows - float(n @ low), 0.0) if here.short else 0.0
    at_least = float(n @ low**2) / (inside[1] + lacking)
    if counted and not here.short:
        at_least = max(at_least, here.rows / people)
    at_most = (float(n @ high**2) + lacking) / (inside[0] + lacking)
    at_most = min(at_most, 1.0 if here.short else float(high.max()))
    exact = here.exact and not here.short
    baseline = float(n @ here.blind**2) / float(n @ here.blind)
    details = {
        "population": people,
        "released": here.rows,
        "baseline": baseline,
        "above_baseline": at_most - baseline,
        "smallest": float(low.min()),
        "largest": float(high.max()),
        "certain": int(n[low >= 1 - 1e-12].sum()),
        "guessed_right_at_least": float(n @ np.where((low < 0.5) & (high > 0.5), 0.5, np.maximum(low, 1 - high)))
        / people,
        "in_no_class": int(n[high == 0].sum()),
        "in_several_classes": here.several,
        "classes_larger_than_population": here.short,
    }
    ends = None if exact else (at_least, at_most)
    return Score(at_most, "probability", "exact" if exact else "bound", ci=ends, details=details)
