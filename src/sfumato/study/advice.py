"""Advice in sentences: what to take, why, what it costs, what a step up or down would change, what no candidate reached."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..core.memory import remembered
from ..core.metric import Metric
from ..core.noun import dataclass
from ..core.words import counted, percent, percent_up, up
from ..metrics.privacy.alpha_anonymity import alpha_anonymity
from ..metrics.privacy.distinct_l_diversity import distinct_l_diversity
from ..search.least_loss import spell_least_loss
from .inference import leaves
from .robustness import robust
from .usefulness import BY_LABELS, TABULATED, beside, disagreement

if TYPE_CHECKING:
    from .point import Point
    from .result import Result


@dataclass(frozen=True)
class Said:
    """A sentence, and what it is about: take, why, means, beside, cost, bound, up, down, unreached, unplaced, looked, cut, robust, beware."""

    about: str
    text: str


@dataclass(frozen=True)
class Advice:
    """All sentences, in the order to be read."""

    said: tuple[Said, ...]

    def of(self, *about: str) -> list[str]:
        """The sentences about some things."""
        return [s.text for s in self.said if s.about in about]

    def to_dict(self) -> list[dict[str, str]]:
        """For machines."""
        return [{"about": s.about, "text": s.text} for s in self.said]


def spell(x: float, *, apart: float | None = None) -> str:
    """A number as a reader wants it: four digits that matter, whole numbers whole; more where it would read like `apart`."""
    if not math.isfinite(x):
        return "no bound"
    distinct = apart is not None and math.isfinite(apart) and x != apart
    for digits in range(4, 18):
        text = _digits(x, digits)
        if not (distinct and text == _digits(float(apart or 0), digits)):
            break
    return text


def _digits(x: float, digits: int) -> str:
    if float(x).is_integer():
        return f"{x:,.0f}"
    return f"{x:,.{digits - 4}f}" if abs(x) >= 1e5 else f"{x:.{digits}g}"


@remembered
def advice(result: Result) -> Advice:
    """What to tell the owner of a result."""
    chosen, why = result.recommended
    said: list[Said] = []
    if chosen is None:
        said.append(Said("unreached", why))
        if not any(result.points[i].met for i in result.made):
            said += _closest(result)
        return Advice((*said, *_cut(result)))
    study, point = result.study, result.points[chosen]
    free = leaves(result)
    said.append(Said("take", f"Take {point.candidate.name}{': ' * bool(free)}{free}."))
    said.append(Said("why", why))
    for metric in (study.risk, study.utility):
        said.append(Said("means", metric.sentence(point.value(metric))))
    said += _beside(result, chosen)
    said += _cost(result, chosen)
    said += _bound(result, chosen)
    said += _steps(result, chosen)
    if result.looked:
        said.append(
            Said(
                "looked",
                f"{counted(result.looked, 'more candidate')} with the same mechanisms and other parameters "
                f"{'was' if result.looked == 1 else 'were'} tried near it; "
                f"none{' that meets every requirement' if study.require else ''} beats it.",
            )
        )
    said += _cut(result)
    said += _unplaced(result)
    said += _robust(result)
    said += _beware(result, chosen)
    return Advice(tuple(said))


def _cut(result: Result) -> list[Said]:
    """That the study ended before all was tried."""
    if not result.cut:
        return []
    why = "you interrupted it" if result.cut == "interrupt" else f"the time limit of {result.limit:g} seconds was up"
    tried = f"{result.tried} of {counted(result.planned, 'candidate')}"
    return [
        Said(
            "cut",
            f"The study is not complete: {why} when {tried} had been tried, so one that was not tried may be better.",
        )
    ]


def _beside(result: Result, chosen: int) -> list[Said]:
    """What the other kind of utility says, who would be first by it where the two disagree strongly, and whether labels overlap."""
    study, point, said = result.study, result.points[chosen], []
    other = beside(study.utility)[0]
    if point.has(other):
        said.append(Said("beside", other.sentence(point.value(other))))
    pool = [i for i in result.placed if result.points[i].met] if study.require else result.placed
    first = disagreement(result, chosen, pool)
    if first is not None:
        best = result.points[first]
        said.append(
            Said(
                "beside",
                f"By {other.card.title} alone it would be {best.candidate.name} "
                f"({_difference(other, best.value(other), point.value(other))}), but its {study.utility.card.title} is "
                f"{spell(best.value(study.utility), apart=point.value(study.utility))} instead of "
                f"{spell(point.value(study.utility), apart=best.value(study.utility))}.",
            )
        )
    if point.has(TABULATED) and point.value(TABULATED) > 0:
        said.append(Said("beside", TABULATED.sentence(point.value(TABULATED))))
    return said


def _robust(result: Result) -> list[Said]:
    """Whether the choice hangs on how risk and utility were measured."""
    rankings = robust(result)
    n, holds, best = len(rankings), sum(r.on_frontier for r in rankings), sum(r.rank == 1 for r in rankings)
    if not n:
        return []
    meets = " that meets every requirement" if result.study.require else ""
    tried = (
        f"The choice was tested with {counted(n, 'other measure')} in place of the risk or utility measure used here. It holds if no "
        f"other candidate{meets} is better in one of the two without being worse in the other."
    )
    if n == 1:
        verdict = (
            f"It {'holds' if holds else 'does not hold'}. By itself, that measure {'ranks' if best else 'does not rank'} the choice "
            "first."
        )
    else:
        by = "none of them ranks" if not best else f"{_of(best, n)} of them rank" + "s" * (best == 1)
        verdict = f"It holds under {_of(holds, n)} of them. By themselves, {by} the choice first."
    return [Said("robust", f"{tried} {verdict}")]


def _of(some: int, every: int) -> str:
    return "all" if some == every else f"{some:,}" if some else "none"


def _difference(metric: Metric, here: float, there: float) -> str:
    return f"{metric.card.title} {spell(here, apart=there)} instead of {spell(there, apart=here)}"


def _cost(result: Result, chosen: int) -> list[Said]:
    """What the requirements cost: the most useful candidate of the frontier misses something."""
    study, point = result.study, result.points[chosen]
    first = next((i for i in result.frontier if not _bare(result, i)), chosen)
    best, mine = result.axis(study.utility, [first, chosen])
    if best >= mine:
        but = (
            ", apart from those with the largest risk and no loss at all"
            if any(_bare(result, i) for i in result.frontier)
            else ""
        )
        return [Said("cost", f"No candidate on the map has a better {study.utility.card.title}{but}.")]
    other = result.points[first]
    missed = f", which misses {' and '.join(other.misses)}" if other.misses else ", which has more risk"
    words = _difference(study.utility, point.value(study.utility), other.value(study.utility))
    return [Said("cost", f"It costs {words} with {other.candidate.name}{missed}.")]


def _bound(result: Result, chosen: int) -> list[Said]:
    """How much less any release of this kind could lose."""
    if result.least is None:
        return []
    lost = result.points[chosen].value(BY_LABELS)
    return [Said("bound", f"Its ILoss is {spell(lost)}. {spell_least_loss(result.least)}")]


def _bare(result: Result, i: int) -> bool:
    """Whether nothing was lost and everything is at risk: the table itself, in other words, and no step to consider."""
    study, point = result.study, result.points[i]
    ends = [
        metric.card.bounds[(metric.card.better == "higher") != worst]
        for metric, worst in ((study.risk, True), (study.utility, False))
    ]
    return bool(point.misses) and [point.value(study.risk), point.value(study.utility)] == ends


def _steps(result: Result, chosen: int) -> list[Said]:
    """The next candidates with less and with more risk on the frontier of those that can be placed."""
    study, point = result.study, result.points[chosen]
    risk, loss = result.axis(study.risk), result.axis(study.utility)
    at = {i: n for n, i in enumerate(result.placed)}
    here = (risk[at[chosen]], loss[at[chosen]])
    less = [i for i in result.frontier if risk[at[i]] < here[0] and (result.points[i].met or not point.met)]
    more = [i for i in result.frontier if risk[at[i]] > here[0] and loss[at[i]] < here[1] and not _bare(result, i)]
    steps = []
    now = (point.value(study.risk), point.value(study.utility))
    if less:
        i = max(less, key=lambda i: (risk[at[i]], -loss[at[i]]))
        steps.append(Said("up", f"The next stricter candidate is {_step(result, i, *now)}"))
    else:
        meets = " that meets every requirement" if any(risk[at[i]] < here[0] for i in result.placed) else ""
        steps.append(Said("up", f"No candidate on the frontier{meets} has less risk."))
    if more:
        i = min(more, key=lambda i: (risk[at[i]], loss[at[i]]))
        steps.append(Said("down", f"The next more useful candidate is {_step(result, i, *now)}"))
    return steps


def _step(result: Result, i: int, risk: float, loss: float) -> str:
    """Another candidate against the numbers of the recommended one; with what it misses, if it does."""
    study, point = result.study, result.points[i]
    missed = f" It misses {' and '.join(point.misses)}." if point.misses else ""
    return (
        f"{point.candidate.name}: {_difference(study.risk, point.value(study.risk), risk)}, "
        f"{_difference(study.utility, point.value(study.utility), loss)}.{missed}"
    )


def _closest(result: Result) -> list[Said]:
    """Where none meets everything: the candidate that misses fewest requirements, and the limits that would let it pass."""
    made = [i for i in result.made if result.points[i].verdicts]
    if not made:
        return []
    best = min(made, key=lambda i: (len(result.points[i].misses), _short(result.points[i]), i))
    point = result.points[best]
    reached = [
        f"{v.requirement.metric} reaches {spell(v.score.value, apart=v.requirement.bound)}"
        for v in point.verdicts
        if not v.met
    ]
    reached += [f"{text} cannot be measured on it" for text in point.unknown]
    words = "; ".join(reached)
    return [
        Said(
            "unreached",
            f"The closest is {point.candidate.name}, which misses {counted(len(point.misses), 'requirement')}: {words}.",
        )
    ]


def _short(point: Point) -> float:
    """By how much of their bounds its misses miss them, all together."""
    gaps = [
        abs(v.score.value - v.requirement.bound) / max(abs(v.requirement.bound), 1e-9)
        for v in point.verdicts
        if not v.met
    ]
    return sum(gaps)


def _unplaced(result: Result) -> list[Said]:
    gone = [i for i in result.made if i not in result.placed]
    if not gone:
        return []
    names = ", ".join(dict.fromkeys(result.points[i].candidate.family for i in gone))
    return [
        Said(
            "unplaced",
            f"{len(gone)} candidate{'s' if len(gone) > 1 else ''} ({names}) cannot be placed on this map, because {result.study.risk} "
            f"or {result.study.utility} cannot be measured on what they release; other measures can.",
        )
    ]


def _left_out(result: Result, chosen: int) -> list[Said]:
    """The rows that are not in the release."""
    rows = result.points[chosen].rows
    every = 0 if rows is None else result.study.table.rows
    if rows is None or rows >= every:
        return []
    return [
        Said(
            "beware",
            f"{every - rows:,} of {every:,} rows ({percent((every - rows) / every)}) are left out of the release. The report says "
            "which groups lose most; --reveal names them.",
        )
    ]


def _bounding(result: Result, column: str | None) -> str:
    """A requirement that bounds what a class tells of a column: halfway between the most frequent value's share and certainty.

    Two different values in a class bound nothing: 19 of 20 people may still share one. The whole table as one class meets the bound.
    """
    alpha = alpha_anonymity
    if column is None:
        return f"A requirement on {alpha} limits the share of one value in a class."
    counts = result.study.table.count((column,))
    share = float(counts.n.max()) / counts.rows
    bound = float(up((1 + share) / 2, 2, short_of=1))
    return (
        f"A requirement such as {alpha.on(column).at_most(bound)} would prevent this: no value could make up more than "
        f"{percent_up(bound)} of a class (the most frequent one makes up {percent(share)} of the table)."
    )


def _beware(result: Result, chosen: int) -> list[Said]:
    """What the limits do not speak of: classes that tell a sensitive value though nobody can be found in them."""
    point, found = result.points[chosen], _left_out(result, chosen)
    if any(requirement.metric.card.keeps is not None for requirement in result.study.require):
        return found
    about = "The limits say nothing about what someone can learn about people."
    for metric, score in point.scores.values():
        if metric.card is not distinct_l_diversity.card or metric.column is not None or score.value > 1:
            continue
        column = score.details.get("column")
        if column is not None and len(result.study.table.count((column,))) == 1:
            text = (
                f"{about} Everyone has the same value of {column!r}. Anyone who knows that a person is in the table learns it, and no "
                "release that keeps the column prevents this. Leave the column out, or tell nobody who is in the table."
            )
        else:
            rows = score.details.get("worst_rows")
            who = ("person", "people") if result.study.roles.counts_people else ("row",)
            where = f" ({counted(rows, *who)})" if isinstance(rows, int) else ""
            text = (
                f"{about} In some classes{where} everyone shares one value of {column or 'a sensitive column'!r}. Anyone who knows "
                f"that a person is in such a class learns it. {_bounding(result, column)}"
            )
        found.append(Said("beware", text))
    return found
