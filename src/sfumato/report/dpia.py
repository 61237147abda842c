"""The annex to a data protection impact assessment (GDPR Art. 35(7)): what is to be published, why, the risks to people, the measures, what stays open.

It is drawn from the verdict of the decision sheet alone. What Sfumato cannot know (the purposes, whether publishing is necessary, whose
views were sought) has lines to be filled in; an assessment is the controller's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..study.decision import Decision, decision
from ..study.study import Result
from . import shared_sections
from .document import Block, Bullets, Document, Grid, Heading, Paragraph, Terms, Text, code, joined, soft, verdict
from .sheet import LINE, standing

OWN_WORDS = f"{LINE}{LINE}"


def dpia(result: Result) -> Document:
    """The annex on the recommended release."""
    shared_sections.recommended(result, "to assess")
    decided = decision(result)
    blocks: list[Block] = [
        standing(result, "Limits"),
        *shared_sections.unprotected(result),
        *_processing(result, decided),
        *_necessity(decided),
        *_risks(decided),
        *_measures(decided),
        *_residual(decided),
        *shared_sections.signature(
            ["Views of the people concerned or their representatives (Art. 35(9))", "Advice of the data protection officer (Art. 35(2))",
             "Prior consultation needed (Art. 36)", "Controller", "Date"]
        ),
    ]  # fmt: skip
    name = shared_sections.table_name(result)
    subtitle = f"Publishing {name}: an annex to the impact assessment under Art. 35(7) GDPR. For the owner: do not publish this annex."
    return shared_sections.document("Impact assessment annex", subtitle, blocks, f"DPIA annex: {name}")


def _processing(result: Result, decided: Decision) -> Iterator[Block]:
    roles = result.study.roles
    yield Heading("(a) What is processed, and for which purpose")
    kinds: list[tuple[str, tuple[str, ...]]] = [
        ("removed before anything is released", roles.identifiers),
        ("others may know them; generalized, suppressed or perturbed", roles.quasi),
        ("must not be learned about a person", roles.sensitive),
        ("released as they are", roles.insensitive),
    ]
    items: list[tuple[Text, Text]] = [
        ("purpose", decided.purpose or OWN_WORDS),
        ("recipients", decided.recipients),
        ("people", f"{decided.before:,} {decided.counts} in the table, {decided.released or 0:,} rows in the release"),
        ("method", [code(decided.candidate or ""), f": {decided.method}"]),
    ]
    items += [(what, joined([code(name) for name in names])) for what, names in kinds if names]
    yield Terms(items)


def _necessity(decided: Decision) -> Iterator[Block]:
    yield Heading("(b) Whether it is necessary and proportionate")
    yield Terms(
        [("why data about people are needed for it", OWN_WORDS), ("legal basis of the original processing", OWN_WORDS)]
    )
    yield Paragraph("What the release keeps for its users:")
    yield Bullets(list(decided.users))
    if decided.alternatives:
        yield Paragraph(
            f"{len(decided.alternatives)} other ways to release the table stand beside it in the report; the nearest:"
        )
        rows: list[list[Text]] = [
            [code(each.candidate), each.why, ", ".join(each.misses) or "meets every limit"]
            for each in decided.alternatives
        ]
        yield Grid(["candidate", "why it is near", "limits"], rows)


def _risks(decided: Decision) -> Iterator[Block]:
    yield Heading("(c) The risks to people")
    yield Heading("Being found", 3)
    yield Bullets([each.sentence for each in decided.found])
    yield Heading("Something being learned about them", 3)
    yield Bullets([each.sentence for each in decided.secrets] or ["No column is named as sensitive."])
    yield Terms([("how bad that would be for a person", OWN_WORDS)])


def _measures(decided: Decision) -> Iterator[Block]:
    yield Heading("(d) The measures")
    if decided.limits:
        rows: list[list[Text]] = [
            [
                code(each.requirement),
                soft("not measured") if each.met is None else verdict(each.met),
                each.words,
                each.source,
            ]
            for each in decided.limits
        ]
        yield Grid(
            ["limit", "", "in words", "who sets it"], rows, "Measured on the release; each can be checked again."
        )
    for text in (*decided.waived, *decided.owners_words):
        yield Paragraph(text)
    yield Terms(
        [
            ("contracts, access and deletion at the recipients", OWN_WORDS),
            ("what is done if somebody is found", OWN_WORDS),
        ]
    )


def _residual(decided: Decision) -> Iterator[Block]:
    yield Heading("What stays open")
    if decided.open:
        rows: list[list[Text]] = [
            [each.sheet, each.what, "must be mended first" if each.stops else each.reason or LINE]
            for each in decided.open
        ]
        yield Grid(["sheet", "what is open", "accepted because"], rows)
    else:
        yield Paragraph("No sheet has an open cross.")
    if decided.unsettled:
        yield Paragraph("The tests settle nothing here:")
        yield Bullets(list(decided.unsettled))
