"""The external note: what may be published with the data.

It says in general terms what was done, which limits hold against whom, and what the data are still good for. It names no seed, no
parameter that would help to undo what was done, no candidate that was not taken, no class, no count below ten, no column that is
not published, and no file. Of a release with a promise of differential privacy it tells nothing that was counted in the original:
the promise is of the release alone, and such a number would break it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .. import __version__
from ..core.words import percent
from ..inspect.changes import ColumnChange, Suppression
from ..metrics import shown
from ..study.decision import limit_in_words
from ..study.findings import ReleaseFindings
from ..study.study import Result
from . import glossary, shared_sections
from .document import (
    Block,
    Bullets,
    Document,
    Grid,
    Heading,
    Mark,
    Paragraph,
    Terms,
    Text,
    code,
    joined,
    right,
    strong,
)

SMALLEST = 10
"""No count below this is told (ONS output checking)."""
_COUNTED = re.compile(r"(?<![\w.,/])\d{1,3}(?:,\d{3})*(?![\w.,/%]|\.\d)")
_WORDS = ("class", "generalize", "perturb", "prosecutor", "quasi-identifier", "sensitive", "suppress")


def external(result: Result) -> Document:
    """The note on the recommended release."""
    chosen, release = shared_sections.recommended(result, "to write a note on")
    blocks = [
        *shared_sections.unprotected(result, counts=False),
        *_done(result, chosen, release),
        *_limits(result, chosen),
        *_utility(result, chosen, release),
        Heading("What these numbers do not say"),
        Bullets(
            [
                "They hold for an adversary who knows the quasi-identifiers named here and nothing more. An adversary who knows other "
                "columns may do better.",
                "They hold for this release alone. Combined with another release about the same people, it may reveal more.",
                "They describe the data as published. New sources of information may appear later.",
            ]
        ),
        Heading("Please"),
        Paragraph(
            "Do not try to identify anyone. Tell the publisher if you believe that someone can be identified. When you compute "
            "statistics, take into account how the columns were changed."
        ),
        Heading("Glossary"),
        Terms([(strong(word), glossary.WORDS[word]) for word in _WORDS]),
    ]
    footer = f"Measured with Sfumato {__version__}. A missing value counts as a value of its own."
    return Document(
        f"Note on the data: {result.study.title}" if result.study.title else "Note on the data",
        "What was done to protect the people in the data, and what that means for users.",
        blocks,
        footer,
    )


def _done(result: Result, chosen: int, release: ReleaseFindings) -> Iterator[Block]:
    candidate = result.points[chosen].candidate
    yield Heading("What was done")
    if candidate.mechanism is not None:
        card = candidate.mechanism.card
        yield Paragraph(
            f"The data were changed with a published method, {card.title} ({card.source}). In general: {card.cost}."
        )
    else:
        yield Paragraph("The data were changed before publication. The table below shows how.")
    rows = release.rows
    left_out = "" if _private(result, chosen) else _left_out(release.suppressed)
    yield Paragraph(f"{_count(rows)} rows are published. {left_out}".strip())
    columns = release.columns
    if isinstance(columns, str):
        return
    lines: list[list[Text]] = [
        [code(each.name), shared_sections.ROLES[each.role], shared_sections.technique(each, shares=False)]
        for each in columns
        if _published(each)
    ]
    yield Grid(["column", "taken as", "what was done to it"], lines, "The published columns.")
    if not all(map(_published, columns)):
        yield Paragraph("Columns that name people were removed, and so were columns that are not needed.")


def _published(column: ColumnChange) -> bool:
    """Whether a column is in the release; of others the note does not say that the owner has them."""
    return column.how != "removed" and column.role in ("quasi", "sensitive", "insensitive")


def _private(result: Result, chosen: int) -> bool:
    mechanism = result.points[chosen].candidate.mechanism
    return mechanism is not None and mechanism.card.private


def _left_out(rows: Suppression | str) -> str:
    if isinstance(rows, str):
        return ""
    if not rows.gone:
        return "No row was left out."
    if rows.gone < SMALLEST:
        return f"Fewer than {SMALLEST} rows were left out or show only * in the quasi-identifiers."
    return f"About {percent(rows.share, 2)} of the rows were left out or show only * in the quasi-identifiers."


def _count(n: int) -> str:
    return f"{n:,}" if n >= SMALLEST else f"Fewer than {SMALLEST}"


def _limits(result: Result, chosen: int) -> Iterator[Block]:
    study, point = result.study, result.points[chosen]
    yield Heading("Which limits hold, and against whom")
    known: list[str | Mark] = joined([code(name) for name in study.roles.quasi]) or ["nothing"]
    yield Paragraph(["The adversary is assumed to know these columns of a person: ", *known, "."])
    made = point.candidate.mechanism
    if made is not None and made.card.private:
        yield Paragraph(
            f"Promised by construction, whatever an adversary knows: {made.card.promise}. Epsilon is {made.settings()['epsilon']:g}{_delta(made.settings())}. "
            "The publisher may have chosen the method and epsilon by looking at the data. Epsilon does not cover that choice."
        )
    sources = {} if study.context is None else {limit.text: limit.source for limit in study.context.limits}
    rows: list[list[Text]] = []
    for each in point.verdicts:
        card = each.requirement.metric.card
        rows.append(
            [limit_in_words(each.requirement), card.knows, sources.get(str(each.requirement), "set by the publisher")]
        )
    if not rows:
        yield Paragraph("The publisher set no limit in advance.")
        return
    yield Grid(["limit met", "against an adversary who knows", "source of the limit"], rows)


def _delta(settings: Mapping[str, Any]) -> str:
    """The probability that epsilon may be exceeded with, where one was stated."""
    return f", delta {settings['delta']:g}" if settings.get("delta") else ""


def _utility(result: Result, chosen: int, release: ReleaseFindings) -> Iterator[Block]:
    point = result.points[chosen]
    yield Heading("What the data are still good for")
    if _private(result, chosen):
        yield Paragraph(
            "This note does not say how far the release is from the original. That number would reveal more about the people in the "
            "data than differential privacy allows. The description of the method says how noise was added."
        )
        return
    sentences = []
    for metric, score in shown(point.scores).values():
        if metric.card.audience == "recipient" or (metric == result.study.utility and metric.card.scope == "table"):
            sentence = metric.sentence(score.value)
            if publishable(sentence):
                sentences.append(sentence)
    if sentences:
        yield Bullets(list(dict.fromkeys(sentences)))
    columns = release.columns
    if isinstance(columns, str):
        return
    rows: list[list[Text]] = [[code(each.name), _rounded(each.loss)] for each in columns if each.loss is not None]
    if rows:
        yield Grid(
            ["column", right("possible values covered in addition to the true one, on average")],
            rows,
            "0% is as precise as the original; near 100% says nothing.",
        )


def _rounded(loss: float) -> str:
    return "below 1%" if 0 < loss < 0.01 else f"{100 * loss:.0f}%"


def publishable(text: str) -> bool:
    """Whether a sentence has no count below ten; shares, probabilities and parts of names are none."""
    return all(int(n.replace(",", "")) >= SMALLEST or int(n.replace(",", "")) == 0 for n in _COUNTED.findall(text))
