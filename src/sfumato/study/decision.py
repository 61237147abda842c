"""May it be published? One verdict on a study's recommended release, computed once and drawn by every document.

The answer is `no` where nothing may be written: no candidate meets every limit, a check of the owner's fails, or a column that no limit
covers gives people away. It is `accept` where every limit is met and a sheet still has an open cross: whoever signs then says, for each
cross, why it can be accepted. Else it is `yes`. Nothing here is a value of the table, and nothing is the time of day: the date is the
owner's (`date`), or a line to be filled in by hand, so the same study gives the same bytes on any day.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, replace
from typing import Any, ClassVar, Literal

from .. import __version__
from ..attacks import registry, wp29_tests
from ..core.errors import InputError, hint
from ..core.memory import remembered
from ..core.metric import Requirement, spell_bound
from ..core.noun import dataclass
from ..core.people import owners_word
from ..core.randomness import FINDABLE
from ..core.roles import Roles
from ..core.words import counted, percent, percent_up
from ..inspect.learned import Learned
from ..profile.free_columns import refusal, waived_sentences
from .advice import spell
from .attack_findings import held_against, made_again
from .context import WP29, Context, Limit
from .findings import Findings, ReleaseFindings, findings
from .inference import limited, unprotected
from .result import Result, number
from .score_store import of_roles
from .usefulness import BY_USE

Answer = Literal["yes", "accept", "no"]
ANSWERS: dict[Answer, str] = {
    "yes": "May be published",
    "accept": "May be published, if the open points are accepted",
    "no": "May not be published",
}
THRESHOLD = 0.09
"""What EMA and Health Canada use for clinical data that are made public."""
NEAREST = 3
"""Other candidates that the decision is held against."""
_BY_HAND = re.compile(r"(?:Also check|Check) [^.]*(?:\.(?=\S)[^.]*)*\.")


@dataclass(frozen=True, kw_only=True)
class OpenPoint:
    """A cross on one of the sheets: `stops` where nothing is written until it is mended, else whoever signs says why it is accepted."""

    key: str
    """What the owner names it by when a reason is given."""
    sheet: str
    what: str
    stops: bool = False
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class HeldLimit:
    """A limit, what was measured of the release, and who sets it."""

    requirement: str
    met: bool | None
    """None where it could not be measured: then it is not shown to be met."""
    measured: float | None
    words: str
    """The limit itself, for who does not read requirements."""
    meaning: str
    """What was measured, in words."""
    source: str
    k: int | None = None


@dataclass(frozen=True, kw_only=True)
class Odds:
    """How likely somebody is found: a share, the same as 1 in so many (None where it is nobody), by whom, and in a sentence."""

    name: str
    who: str
    share: float
    one_in: int | None
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Secret:
    """What can still be learned of a sensitive column, in numbers and in a sentence."""

    column: str
    numbers: Learned
    limited: bool
    """Whether a limit bounds what a group may tell of it."""
    waived: str | None
    certainty: str
    """Of how many the value is certain, or why nothing could be counted."""
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Lost:
    """What a released quasi-identifier lost, on ILoss's scale from 0 (exact) to 1 (nothing left)."""

    column: str
    share: float
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """Another candidate beside the recommended one."""

    candidate: str
    why: str
    risk: float
    utility: float
    misses: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Everything that a person must know to sign, and nothing that a document may compute again."""

    shows: ClassVar[tuple[str, ...]] = ("answer",)
    title: str
    answer: Answer
    because: str
    recipients: str
    purpose: str | None
    date: str | None
    version: str
    candidate: str | None
    method: str
    counts: Literal["people", "rows"]
    """What the numbers count: people, where each row is another person."""
    before: int
    """People (or rows) in the table."""
    released: int | None
    knows: tuple[str, ...]
    limits: tuple[HeldLimit, ...]
    found: tuple[Odds, ...]
    secrets: tuple[Secret, ...]
    lost: tuple[Lost, ...]
    users: tuple[str, ...]
    """What users lose, in sentences."""
    open: tuple[OpenPoint, ...]
    unsettled: tuple[str, ...]
    """Tests that settle nothing: no cross, and no evidence either."""
    waived: tuple[str, ...]
    owners_words: tuple[str, ...]
    """What holds only because the owner says so."""
    alternatives: tuple[Alternative, ...]
    checksums: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The answer in words."""
        return ANSWERS[self.answer]

    @property
    def met(self) -> int:
        """How many limits are met."""
        return sum(limit.met is True for limit in self.limits)

    def points(self, sheet: str) -> tuple[OpenPoint, ...]:
        """The open points of one sheet."""
        return tuple(point for point in self.open if point.sheet == sheet)

    def of_release(self, digest: str | None) -> Decision:
        """The same on a release that was written: its checksum stands among the others."""
        return self if digest is None else replace(self, checksums={**self.checksums, "release.csv": digest})

    def to_dict(self) -> dict[str, Any]:
        """For machines; a number that JSON lacks is null."""
        content: dict[str, Any] = _plain({**asdict(self), "headline": self.headline})
        return content


SHEETS = ("Limits", "WP29", "EMA", "Intruder", "Audit", "Columns", "Guidance")
"""Where an open point stands: the limits, the three sheets, the audit, columns that no limit covers, what a guidance leaves to the owner."""


@remembered
def decision(result: Result) -> Decision:
    """The verdict on the recommended release; where there is none, on the table, which may then not be published."""
    study, seen = result.study, findings(result)
    chosen, why = result.recommended
    release = seen.release
    counts: Literal["people", "rows"] = "rows" if study.roles.people or study.roles.counts_people else "people"
    points = tuple(_reasoned(result, _open(result, seen)))
    limits = tuple(_limits(result))
    stops = [point.what for point in points if point.stops]
    answer: Answer = "no" if stops or chosen is None else "accept" if points else "yes"
    waived = waived_sentences(study.free.findings, study.waive) if study.waive else []
    word = owners_word(study.roles, study.table, counts=True)
    made = None if chosen is None else result.points[chosen].candidate.mechanism
    return Decision(
        title=study.title or result.table_name,
        answer=answer,
        because=_because(answer, points, limits, why, stops),
        recipients="Not stated: no recipient was named." if study.context is None else study.context.sentence,
        purpose=study.purpose,
        date=study.date,
        version=__version__,
        candidate=None if chosen is None else result.points[chosen].candidate.outward,
        method=""
        if chosen is None
        else "made elsewhere"
        if made is None
        else f"{made.card.title} ({made.card.source})",
        counts=counts,
        before=study.table.rows,
        released=None if release is None else release.rows,
        knows=tuple(study.roles.quasi),
        limits=limits,
        found=() if release is None else tuple(_found(result, release, counts)),
        secrets=() if release is None else tuple(_secrets(result, release, counts)),
        lost=() if release is None else tuple(_lost(release)),
        users=() if release is None else tuple(_users(result, release)),
        open=points,
        unsettled=() if release is None else tuple(_unsettled(result, release)),
        waived=tuple(waived),
        owners_words=() if word is None else (word,),
        alternatives=tuple(_alternatives(result)),
        checksums=_checksums(result, seen),
        commands=tuple(result.commands()),
    )


def _because(
    answer: Answer, points: tuple[OpenPoint, ...], limits: tuple[HeldLimit, ...], why: str, stops: list[str]
) -> str:
    if answer == "no":
        return " ".join(stops) or why
    many = (
        "No limit was set"
        if not limits
        else "The limit is met"
        if len(limits) == 1
        else "Both limits are met"
        if len(limits) == 2
        else f"All {len(limits)} limits are met"
    )
    if answer == "yes":
        return f"{many}, and no sheet has an open cross."
    return f"{many}; {counted(len(points), 'point')} on the sheets {'is' if len(points) == 1 else 'are'} open."


def limit_in_words(requirement: Requirement) -> str:
    """A limit in the words of its card, else the title and the bound."""
    card = requirement.metric.card
    words = card.limit(requirement.bound) if card.limit is not None else ""
    sign = "at least" if requirement.sign == ">=" else "at most"
    return words or f"{card.title} {sign} {spell_bound(requirement.bound)}"


def _limits(result: Result) -> Iterator[HeldLimit]:
    """Each limit on the recommended release; where none is recommended, how near any candidate comes is in `because`."""
    study, chosen = result.study, result.recommended[0]
    known: dict[str, Limit] = {} if study.context is None else {limit.text: limit for limit in study.context.limits}
    measured = {} if chosen is None else {each.requirement: each for each in result.points[chosen].verdicts}
    for requirement in study.require:
        limit, found = known.get(str(requirement)), measured.get(requirement)
        yield HeldLimit(
            requirement=str(requirement),
            words=limit_in_words(requirement),
            met=None if found is None else found.met,
            measured=None if found is None else found.score.value,
            meaning=(limit.sentence if limit else "Required by the owner.")
            if found is None
            else requirement.metric.sentence(found.score.value),
            source="the owner" if limit is None else limit.source,
            k=None if limit is None else limit.k,
        )


# --- open points

_NAMED = ("limits", "seed", "ema.threshold", "intruder.found")
_NUMBERED = re.compile(r"(?:audit|guidance)\.[1-9]\d*")


def check_accepted(accept: Mapping[str, str], roles: Roles) -> None:
    """Refuse a key that no open point can have: a reason that was mistyped would stand nowhere, and the point would stay open."""
    if "columns" in accept:
        raise InputError(
            "accept: 'columns' cannot be accepted, since nothing is published while a column that no limit covers gives people away; give "
            "the column another role, or waive it by its name."
        )
    tests = [f"wp29.{test.card.name}" for test in wp29_tests()]
    known = [*_NAMED, *tests, *(f"{test}({column})" for test in tests for column in roles.sensitive)]
    known += [f"protect.{column}" for column in roles.sensitive]
    for key in accept:
        if key not in known and not _NUMBERED.fullmatch(key):
            meant = hint(key, known, "the decision sheet prints the key of each.")
            raise InputError(f"accept: no point of the decision can have the key {key!r}; {meant}")


def _reasoned(result: Result, points: Iterator[OpenPoint]) -> Iterator[OpenPoint]:
    """The points with the owner's reasons, where they were given beforehand."""
    for point in points:
        reason = result.study.accept.get(point.key)
        yield point if reason is None or point.stops else replace(point, reason=reason)


def _open(result: Result, seen: Findings) -> Iterator[OpenPoint]:
    study, chosen = result.study, result.recommended[0]
    if refused := study.free.open:
        yield OpenPoint(key="columns", sheet="Columns", what=" ".join(refusal(refused)), stops=True)
    if chosen is None or seen.release is None:
        return
    release = seen.release
    if not study.require:
        yield OpenPoint(
            key="limits", sheet="Limits", what="No limit was set, so nothing says how much risk may be taken."
        )
    for each in unprotected(result):
        yield OpenPoint(key=f"protect.{each.column}", sheet="Limits", what=f"{each.sentence}.", reason=each.waived)
    if result.seeded(chosen):
        yield OpenPoint(key="seed", sheet="Limits", what=FINDABLE)
    yield from _wp29(result, release)
    yield from _ema(result, release)
    yield from _intruder(result, release)
    yield from _audit(release)
    for n, text in enumerate(() if study.context is None else by_hand(study.context)):
        yield OpenPoint(key=f"guidance.{n + 1}", sheet="Guidance", what=text)


def attack_name(key: str) -> tuple[str, str]:
    """The title of a test and the column that it is on, if any, by its key such as `inference(salary)`."""
    name, _, column = key.partition("(")
    return registry()[name].card.title, column.removesuffix(")")


def _test(key: str) -> str:
    title, column = attack_name(key)
    return title.capitalize() + (f" of {column!r}" if column else "")


def _wp29(result: Result, release: ReleaseFindings) -> Iterator[OpenPoint]:
    asked = result.study.context is not None and result.study.context.preset == WP29
    for key, attack in release.wp29.items():
        if isinstance(attack, str):
            if asked:
                yield OpenPoint(key=f"wp29.{key}", sheet="WP29", what=f"{_test(key)} was not measured. {attack}")
            continue
        stands = held_against(attack, made_again(release.held_out, key))
        if stands.worked:
            rate = (
                f" works in {percent(attack.success.value)} of {attack.attacked:,} attacks," if attack.attacked else ":"
            )
            yield OpenPoint(key=f"wp29.{key}", sheet="WP29", what=f"{_test(key)}{rate} {stands.words}.")


def ema_applies(result: Result) -> bool:
    """Whether EMA's threshold, which is one for data that are made public, is asked of this release."""
    context = result.study.context
    return context is None or context.recipients == "public" or context.preset == "clinical-public"


def ema_threshold(result: Result, release: ReleaseFindings) -> bool | None:
    """Whether the largest risk is within EMA's threshold; None where it is not asked, or cannot be measured."""
    if not ema_applies(result) or isinstance(release.after, str):
        return None
    return release.after.prosecutor <= THRESHOLD + 1e-12


def _ema(result: Result, release: ReleaseFindings) -> Iterator[OpenPoint]:
    if ema_threshold(result, release) is False:
        assert not isinstance(release.after, str)
        yield OpenPoint(
            key="ema.threshold",
            sheet="EMA",
            what=f"The largest risk, 1 in {release.after.smallest:,}, is above the {THRESHOLD} that EMA and Health Canada use for public "
            "clinical data. It matters if these are clinical data.",
        )


def _intruder(result: Result, release: ReleaseFindings) -> Iterator[OpenPoint]:
    looked_up = [(attack, details) for attack, details in release.looked_up if details.correct]
    if looked_up:
        worst, details = max(looked_up, key=lambda each: each[1].correct)
        known = ", ".join(details.known)
        yield OpenPoint(
            key="intruder.found",
            sheet="Intruder",
            what=f"An intruder who knows {known} finds {details.correct:,} of {worst.attacked:,} without doubt.",
        )


def _audit(release: ReleaseFindings) -> Iterator[OpenPoint]:
    if isinstance(release.audit, str):
        return
    for n, check in enumerate(release.audit.checks):
        if check.status == "fails":
            yield OpenPoint(key=f"audit.{n + 1}", sheet="Audit", what=check.sentence, stops=check.listed)


def by_hand(context: Context) -> Iterator[str]:
    """What a guidance leaves to the owner, out of the sentences of its limits."""
    for limit in context.limits:
        yield from (text[0] for text in _BY_HAND.finditer(limit.sentence))


def _unsettled(result: Result, release: ReleaseFindings) -> Iterator[str]:
    asked = result.study.context is not None and result.study.context.preset == WP29
    for key, attack in release.wp29.items():
        if isinstance(attack, str):
            if not asked:
                yield f"{_test(key)} was not measured. {attack}"
        elif (stands := held_against(attack, made_again(release.held_out, key))).verdict == "inconclusive":
            yield f"{_test(key)}: {stands.words}."
    for linked in release.linkage:
        if isinstance(linked, str):
            yield f"Looking people up was not tried. {linked}"
    if isinstance(release.audit, str):
        yield f"The audit was not made. {release.audit}"


# --- who is found, what is learned, what is lost


def one_in(share: float) -> int | None:
    """A share as 1 in so many, rounded so that "at most 1 in n" stays true; None for a share of 0.

    >>> one_in(1 / 14), one_in(0.3), one_in(0.0)
    (14, 3, None)
    """
    return None if share <= 0 else max(1, math.floor(1 / share + 1e-9))


def _found(result: Result, release: ReleaseFindings, counts: str) -> Iterator[Odds]:
    after, study = release.after, result.study
    who = f"someone who knows {', '.join(study.roles.quasi)} of a person and that the person is in the release"
    if not isinstance(after, str):
        worst, mean = after.prosecutor, after.marketer
        yield Odds(
            name="most exposed",
            who=who,
            share=worst,
            one_in=one_in(worst),
            sentence=f"The most exposed person is found with a probability of 1 in {after.smallest:,} by {who}.",
        )
        yield Odds(
            name="on average",
            who=who,
            share=mean,
            one_in=one_in(mean),
            sentence=f"On average a person is found with a probability of {percent_up(mean)}, at most 1 in {one_in(mean):,}.",
        )
        context = study.context
        if context is not None and context.risk < 1:
            overall = mean * context.risk
            yield Odds(
                name="overall",
                who="a recipient who has the release",
                share=overall,
                one_in=one_in(overall),
                sentence=f"Someone tries with a probability of {context.risk:.3g}; together at most 1 in {one_in(overall) or 0:,} on average.",
            )
    if release.looked_up:
        full, details = release.looked_up[-1]
        sure = details.correct
        if isinstance(after, str):
            share = full.success.value
            yield Odds(
                name="looked up",
                who=who,
                share=share,
                one_in=one_in(share),
                sentence=f"Looked up one by one, {percent(share)} of {full.attacked:,} people are found by guessing, by {who}.",
            )
        each = "people" if counts == "people" else "rows"
        text = f"{sure:,} of {full.attacked:,} {each} are" if sure else f"None of {full.attacked:,} {each} is"
        share = sure / max(full.attacked, 1)
        yield Odds(
            name="without doubt",
            who=who,
            share=share,
            one_in=one_in(share),
            sentence=f"{text} found without doubt when everybody is looked up.",
        )
    elif isinstance(after, str):
        yield Odds(name="not counted", who=who, share=0.0, one_in=None, sentence=f"It could not be counted. {after}")


def _secrets(result: Result, release: ReleaseFindings, counts: str) -> Iterator[Secret]:
    study = result.study
    for each in () if isinstance(release.learned, str) else release.learned:
        yield Secret(
            column=each.column,
            numbers=each,
            limited=limited(each.column, study.require),
            waived=study.waive.get(each.column),
            certainty=_certainty(each, counts),
            sentence=_learning(each, counts),
        )


def _certainty(each: Learned, counts: str) -> str:
    if each.reason:
        return f"What can be learned of {each.column!r} could not be counted. {each.reason}"
    if each.certain:
        return f"{each.certain:,} of {each.rows:,} {counts} are in a group with a single value, so it is certain."
    return "No group has a single value, so nobody's value is certain."


def _learning(each: Learned, counts: str) -> str:
    sure = _certainty(each, counts)
    if each.reason:
        return sure
    return (
        f"A guess of {each.column!r} is right for {percent(each.blind)} of the {counts} without looking anybody up (the most frequent "
        f"value), for {percent(each.informed)} by looking up their groups, and for {percent_up(each.worst)} of the {counts} in the worst "
        f"group ({each.worst_rows:,}). {sure}"
    )


def _lost(release: ReleaseFindings) -> Iterator[Lost]:
    for each in () if isinstance(release.columns, str) else release.columns:
        if each.role == "quasi" and each.loss is not None:
            gone = each.share.get("suppressed", 0.0)
            stars = f"; {percent(gone)} are *" if 0 < gone < 1 else ""
            text = (
                "nothing is left: every value is *"
                if gone == 1
                else "exact"
                if each.loss == 0 and each.how == "unchanged"
                else f"a released value stands for {percent(each.loss)} of the possible values besides the true one{stars}"
            )
            yield Lost(column=each.name, share=each.loss, sentence=text)


def _users(result: Result, release: ReleaseFindings) -> Iterator[str]:
    study, chosen = result.study, result.recommended[0]
    rows = release.suppressed
    if not isinstance(rows, str):
        if rows.gone:
            yield f"{rows.gone:,} of {rows.rows_before:,} rows ({percent(rows.share)}) are left out or say nothing."
        else:
            yield f"No row is left out: all {rows.rows_before:,} are released."
    point = result.points[chosen] if chosen is not None else None
    if point is not None:
        for metric in dict.fromkeys([BY_USE, study.utility]):
            if point.has(metric):
                yield metric.sentence(point.value(metric))
    columns = () if isinstance(release.columns, str) else release.columns
    kept = [repr(each.name) for each in columns if each.how == "unchanged"]
    if kept:
        yield f"Released as they are: {', '.join(kept)}."
    away = [repr(each.name) for each in columns if each.how == "removed" and each.role not in ("identifiers", "person")]
    if away:
        yield f"Not released: {', '.join(away)}."


# --- why not another


def _alternatives(result: Result) -> Iterator[Alternative]:
    """The next stricter, the next more useful, and the next best that meets every limit; then who is nearest in utility."""
    chosen, study = result.recommended[0], result.study
    if chosen is None:
        return
    risk = dict(zip(result.placed, result.axis(study.risk).tolist(), strict=True))
    loss = dict(zip(result.placed, result.axis(study.utility).tolist(), strict=True))
    here = (risk[chosen], loss[chosen])
    others = [i for i in result.placed if (risk[i], loss[i]) != here]
    good = [i for i in others if result.points[i].met]
    stricter = sorted((i for i in good if risk[i] < here[0]), key=lambda i: (loss[i], risk[i], i))
    freer = sorted((i for i in others if loss[i] < here[1]), key=lambda i: (risk[i], loss[i], i))
    near = sorted(good, key=lambda i: (abs(loss[i] - here[1]), abs(risk[i] - here[0]), i))
    rest = sorted(others, key=lambda i: (abs(loss[i] - here[1]), abs(risk[i] - here[0]), i))
    picks: dict[int, str] = {}
    lists = (
        (stricter[:1], "less risk"),
        (freer[:1], "more useful"),
        (near, "next best that meets every limit" if study.require else "next best"),
        (rest, "near it"),
    )
    for which, why in lists:
        for i in which:
            if len(picks) < NEAREST and i not in picks:
                picks[i] = why
    for i, why in picks.items():
        point = result.points[i]
        yield Alternative(
            candidate=point.candidate.outward,
            why=why,
            risk=point.value(study.risk),
            utility=point.value(study.utility),
            misses=tuple(point.misses),
        )


def beside(result: Result, other: Alternative) -> str:
    """Another candidate against the recommended one, in a sentence."""
    chosen, study = result.recommended[0], result.study
    assert chosen is not None
    point = result.points[chosen]
    parts = [
        f"{metric.card.title} {spell(there, apart=here)} instead of {spell(here, apart=there)}"
        for metric, there, here in (
            (study.risk, other.risk, point.value(study.risk)),
            (study.utility, other.utility, point.value(study.utility)),
        )
    ]
    missed = f" It misses {' and '.join(other.misses)}." if other.misses else ""
    return f"{'; '.join(parts)}.{missed}"


def _checksums(result: Result, seen: Findings) -> dict[str, str]:
    """SHA-256 of what went in; of what comes out, the package's SHA256SUMS tells."""
    return {"table": seen.digest, "roles": of_roles(result.study.roles), "program": seen.program}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return number(value) if isinstance(value, float) else value
