"""Inference (WP29, Opinion 05/2014; Giomi et al. 2023): who knows some columns of a person, what does the release tell of another?

The adversary looks up the released rows nearest to what is known and guesses the secret that fits most of them. A guess is right if it is
the true value, or for numbers within a tolerance of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.attack import attack
from ..core.column import FloatArray, IntArray
from ..core.cover import BoolArray
from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.parameter import ATTEMPTS, Name, Number
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.runs import spread
from ..core.table import Table
from ..core.words import counted, from_zero, percent
from ..mining.features import number_of
from ..mining.rows import Frame
from .homogeneity import certain
from .lookup.space import Space, draw
from .lookup.targets import TIE


@dataclass(frozen=True, kw_only=True)
class GuessedSecrets(AttackDetails):
    """What was guessed from what."""

    secret: str
    known: Sequence[str]
    tolerance: float
    attacks: int
    seed: int
    sampled: bool
    certain_by_class: int
    """People whose class tells the secret for certain."""

    @property
    def attacked_column(self) -> str:
        """The column that was guessed."""
        return self.secret

    @property
    def certain_people(self) -> int:
        """People whose class tells the secret for certain."""
        return self.certain_by_class


@attack(
    title="inference",
    question="For how many people does the release give one column away to an adversary who knows all others?",
    how="The adversary knows the quasi-identifiers of a person and guesses a sensitive column from the nearest released rows. The "
    "test works where the guess is right.",
    knows="all other released columns of a person",
    effort="looking up the nearest released rows",
    source="Article 29 Working Party 2014, Opinion 05/2014; Giomi, Boenisch, Wehmeyer, Tasnadi 2023",
    sentence=from_zero(
        "For nobody tested do the nearest released rows give the secret away to an adversary who knows all other columns.",
        "For {} of the people tested, the nearest released rows give the secret away (a number within the tolerance) to an "
        "adversary who knows all other columns.",
    ),
    misleads="An adversary guesses a common value without any release; see the baseline in the details. What also holds for people who are "
    "not in the release is a fact about people in general. The attack can tell the two apart if such people are given.",
    needs=frozenset({"sensitive", "original"}),
    parameters={
        "sensitive": "The column to find out, sensitive or not; each sensitive column in turn unless named, and the worst counts.",
        "knows": "The columns that the adversary knows of people; all others unless named.",
        "tolerance": "How far a guessed number may be from the true one, as a share of it.",
    },
    wp29=(3, "Can information be inferred concerning an individual?"),
)
def inference(
    release: Release,
    roles: Roles,
    *,
    sensitive: str | None = None,
    knows: Sequence[str] | None = None,
    tolerance: float = 0.05,
    attacks: int = 2000,
    control: Table | None = None,
    seed: int = 0,
) -> Outcome:
    """The share of people whose secret the nearest released rows tell; `knows` are all other columns unless named.

    `tolerance` is relative to the true value, for secrets that are numbers: the guess is the number that is right for most of the nearest
    rows, else the most frequent value; of several as good one is drawn, and the chance counted. A released secret that stands for
    several values is taken for the one that is right most often in the original. The baseline guesses that of all values for everybody;
    the control are people who are not in the release: what holds for them is a fact about people, not about these people. Extremes: 1
    for a release as it is, if what is known tells all apart; the baseline if the secret or all that is known is suppressed throughout.
    """
    if sensitive is None:
        raise InputError(f"{roles.source} names no sensitive column; name one, or write inference(COLUMN).")
    secret = sensitive
    space = Space.of(release, roles, control, seed=seed)
    space.columns([secret], "inference")
    given = space.columns([n for n in space.names if n != secret] if knows is None else knows, "inference")
    if secret in given:
        raise InputError(f"Column {secret!r} is known and secret at once; leave it out of what is known.")
    if not 0 <= tolerance < 1 or attacks < 1:
        raise InputError("The tolerance is a share from 0 to below 1, and one person at least is attacked.")
    guess = _Guess(space, secret, tolerance)
    right = guess.right(space.original, given, attacks, seed)
    outside = None
    if space.control is not None:
        others = guess.right(space.control, given, attacks, seed)
        outside = Rate.of(float(others.sum()), len(others))
    fell, people = float(right.sum()), len(right)
    # whom a class of one value tells for certain, a rate of right guesses does not show; it takes all quasi-identifiers
    sure = certain(release, roles, secret) if secret not in roles.quasi and {*roles.quasi} <= {*given} else 0
    known_for_sure = (
        f" All rows of their class share one value for {counted(sure, 'person', 'people')}: theirs is certain."
    )
    return Outcome.of(
        fell,
        people,
        float(guess.blind(attacks, seed).sum()),
        knew=f"{', '.join(given)} of the person, and the release",
        control=outside,
        exactness="estimate",
        sentence=f"For {percent(fell / people)} of {counted(people, 'person', 'people')} the nearest released rows tell {secret}."
        + known_for_sure * bool(sure),
        details=GuessedSecrets(
            secret=secret,
            known=list(given),
            tolerance=tolerance,
            attacks=attacks,
            seed=seed,
            sampled=space.sampled,
            certain_by_class=sure,
        ),
    )


@inference.metric(
    title="inference",
    family="What can be mined",
    needs=frozenset({"original"}),
    noise=True,
    parameters={"secret": Name(), "tolerance": Number(0.05, low=0, high=0.99), "attacks": ATTEMPTS},
)
def inference_risk(evidence: Evidence, column: str | None, *, secret: str, tolerance: float, attacks: int) -> Outcome:
    """`people for whom the guess from the nearest released rows is right / people`; numbers within `tolerance` of the truth.

    Extremes: 1 if rows are released as they are and all else tells people apart; the share of the most frequent value if the secret is
    suppressed throughout.
    """
    return inference(evidence.release, evidence.roles, sensitive=secret, tolerance=tolerance, attacks=attacks)


class _Guess:
    """What can be guessed, what each released secret says of it, and when a guess is right.

    Guesses are numbered: numbers in ascending order, or texts; then missing; then what cannot be read and is never right.
    """

    def __init__(self, space: Space, secret: str, tolerance: float) -> None:
        self.space, self.secret, self.tolerance = space, secret, tolerance
        column, released = space.original.columns[secret], space.released.columns[secret]
        domain = space.domain(secret)
        node = {t for t in released.texts if t and domain.hierarchy and domain.hierarchy.leaves.get(t, 1) > 1}
        self.numbers: FloatArray | None = None
        if column.numbers is not None:
            plain = [None if t is None or t in node else number_of(t) for t in released.texts]
            known = column.numbers[~np.isnan(column.numbers)]
            self.numbers = np.unique(np.concatenate([known, [p for p in plain if p is not None]]))
            self.count = len(self.numbers)
        else:
            texts = dict.fromkeys(t for t in (*column.texts, *released.texts) if t is not None)
            self.place = {text: i for i, text in enumerate(texts)}
            self.count = len(texts)
        self.missing, self.unread = self.count, self.count + 1
        self._windows()
        self.weight = np.bincount(self.of(space.original), minlength=self.count + 2)
        self.said = np.full(len(released), self.unread)
        own = self._codes(column.texts, column.numbers)
        for i, text in enumerate(released.texts):
            if text is None:
                self.said[i] = self.missing
            elif self.numbers is not None and (number := plain[i]) is not None:
                self.said[i] = np.searchsorted(self.numbers, number)
            else:
                covered = domain.covered(text)
                if covered is not None and len(covered):
                    self.said[i] = self.best(own[covered])
                elif self.numbers is None:
                    self.said[i] = self.place[text]

    def _windows(self) -> None:
        """For each guess, the values for which it is right: from `low` to before `high`."""
        self.low = np.arange(self.count + 2)
        self.high = self.low + 1
        if self.numbers is not None:
            ends = np.stack([self.numbers / (1 + self.tolerance), self.numbers / (1 - self.tolerance)])
            self.low[: self.count] = np.searchsorted(self.numbers, ends.min(axis=0) - TIE, side="left")
            self.high[: self.count] = np.searchsorted(self.numbers, ends.max(axis=0) + TIE, side="right")

    def _codes(self, texts: Sequence[str | None], numbers: FloatArray | None) -> IntArray:
        """The guess that is each value; what nobody can guess is numbered as unread."""
        if self.numbers is None:
            return np.array([self.missing if t is None else self.place.get(t, self.unread) for t in texts])
        if numbers is None:
            numbers = _numbers(texts)
        at = np.minimum(np.searchsorted(self.numbers, numbers), self.count - 1)
        places = np.where(self.numbers[at] == numbers, at, self.unread)
        return np.where([t is None for t in texts], self.missing, places)

    def of(self, people: Frame) -> IntArray:
        """The true value of each row, as the guess that it is."""
        column = people.columns[self.secret]
        return self._codes(column.texts, column.numbers)[people.codes[self.secret]]

    def best(self, among: IntArray) -> int:
        """Of these guesses the one that is right for most rows of the original that have one of them; the first of several."""
        among = np.unique(among)
        until = np.concatenate([[0], np.cumsum(self.weight[among])])
        right = until[np.searchsorted(among, self.high[among])] - until[np.searchsorted(among, self.low[among])]
        return int(among[np.argmax(right)])

    def true(self, guess: IntArray, people: Frame, rows: IntArray) -> BoolArray:
        """Whether guesses are right for people."""
        column = people.columns[self.secret]
        codes = people.codes[self.secret][rows]
        if self.numbers is None:
            same: BoolArray = (self._codes(column.texts, None)[codes] == guess) & (guess != self.unread)
            return same
        values = _numbers(column.texts) if column.numbers is None else column.numbers
        lost = np.array([text is None for text in column.texts])[codes]
        said = np.append(self.numbers, [np.nan, np.nan])[guess]
        near: BoolArray = np.abs(said - values[codes]) <= self.tolerance * np.abs(values[codes]) + TIE
        near |= lost & (guess == self.missing)
        return near

    def blind(self, attacks: int, seed: int) -> BoolArray:
        """The same guess for everybody: the one that is right most often."""
        original = self.space.original
        rows = draw(len(original), attacks, seed)
        return self.true(np.full(len(rows), self.best(np.flatnonzero(self.weight))), original, rows)

    def right(self, people: Frame, known: Sequence[str], attacks: int, seed: int) -> FloatArray:
        """For each target the chance that the guess is right: of guesses as good, one is drawn."""
        space, size = self.space, self.count + 2
        tuples = space.tuples(known)
        pair, votes = np.unique(tuples.member * size + self.said[space.released.codes[self.secret]], return_counts=True)
        start = np.searchsorted(pair, np.arange(len(tuples) + 1) * size)
        targets = space.targets(people, known, attacks, seed)
        drawn = draw(len(people), attacks, seed)
        chance = np.zeros(len(targets))
        for rows in targets.blocks(max(len(tuples), len(pair))):
            near = targets.nearest(rows, known)
            at, run = spread(start[near.tuple], start[near.tuple + 1])
            key, inverse = np.unique(near.target[run] * size + pair[at] % size, return_inverse=True)
            until = np.concatenate([[0], np.cumsum(np.bincount(inverse, weights=votes[at]))])
            who, guess = key // size, key % size
            fits = until[np.searchsorted(key, who * size + self.high[guess])]
            fits -= until[np.searchsorted(key, who * size + self.low[guess])]
            most = np.maximum.reduceat(fits, np.searchsorted(who, np.arange(len(rows))))
            best = fits >= most[who]
            who, guess = who[best], guess[best]
            hit = self.true(guess, people, drawn[rows][who])
            chance[rows] = np.bincount(who, weights=hit, minlength=len(rows)) / np.bincount(who, minlength=len(rows))
        return chance


def _numbers(texts: Sequence[str | None]) -> FloatArray:
    """Texts as the numbers that they spell, NaN for all others."""
    return np.array([np.nan if t is None or (x := number_of(t)) is None else x for t in texts], dtype=np.float64)
