"""A report in the order of EMA's Policy 0070 template, as Health Canada's Public Release of Clinical Information also asks for it."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.metric import spell_bound
from ..metrics import shown
from ..metrics.privacy.journalist_risk import journalist_risk
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.marketer_risk import marketer_risk
from ..metrics.privacy.prosecutor_risk import prosecutor_risk
from ..study.decision import THRESHOLD, ema_threshold
from ..study.findings import Findings, ReleaseFindings, findings
from ..study.study import Result
from . import shared_sections
from .document import (
    Block,
    Bullets,
    Callout,
    Document,
    Grid,
    Heading,
    Paragraph,
    Text,
    code,
    joined,
    right,
    spell,
    strong,
)
from .sheet import standing


def ema(result: Result) -> Document:
    """The report on the recommended release."""
    chosen, release = shared_sections.recommended(result, "to report on")
    seen = findings(result)
    name = shared_sections.table_name(result)
    blocks: list[Block] = [
        standing(result, "EMA"),
        *shared_sections.unprotected(result),
        Callout(
            "What this follows",
            [
                Paragraph(
                    "This report follows the Anonymisation Report (the form's official name) of EMA Policy 0070, external guidance "
                    "v1.5, and Health Canada's Public Release of Clinical Information: method, identifiers with the technique for "
                    "each, risk before, threshold, risk after, utility, conclusion. It covers a table of individual data. The form "
                    "also asks about the text of clinical reports (narratives, names of staff, page by page); add those answers by "
                    "hand."
                )
            ],
        ),
        *_method(result, chosen),
        *_identifiers(seen, release),
        *_risk(result, chosen, seen, release),
        *_utility(result, chosen, release),
        *_conclusion(),
    ]
    end = ". For the owner: check this report before you submit it."
    subtitle: Text = [f"{name}, ", code(result.points[chosen].candidate.outward), end]
    title = "Report on identifiers, risk and utility"
    return shared_sections.document(title, subtitle, blocks, f"EMA and Health Canada form: {name}")


def _method(result: Result, chosen: int) -> Iterator[Block]:
    candidate = result.points[chosen].candidate
    yield Heading("1. Method")
    yield Paragraph(
        "Quantitative. The probability of finding a person's row is measured on the release and compared with a threshold. WP29's "
        "three criteria are measured on a separate sheet."
    )
    if candidate.mechanism is None:
        yield Paragraph("The release was made elsewhere. Sfumato measured the file.")
        return
    card = candidate.mechanism.card
    rows: list[list[Text]] = [
        ["technique", f"{card.title} ({card.source})"],
        ["candidate", code(candidate.outward)],
        ["promises", card.promise],
        ["against", card.against],
        ["costs", card.cost],
    ]
    yield Grid(["", ""], rows)


def _identifiers(seen: Findings, release: ReleaseFindings) -> Iterator[Block]:
    columns = release.columns
    yield Heading("2. Identifiers and the technique for each")
    if isinstance(columns, str):
        yield Paragraph(columns)
        return
    direct = [each for each in columns if each.role in ("identifiers", "person", "guarding")]
    rows: list[list[Text]] = [[code(each.name), shared_sections.technique(each)] for each in direct]
    yield Heading("Direct identifiers", 3)
    if rows:
        yield Grid(["column", "technique"], rows)
    else:
        yield Paragraph(
            "The roles file names no direct identifier. If the table has one, name it there: it must not be released."
        )
    yield Heading("Quasi-identifiers", 3)
    lines: list[list[Text]] = [
        [code(each.name), shared_sections.technique(each), spell(each.loss)] for each in columns if each.role == "quasi"
    ]
    yield Grid(["column", "technique", right("loss", "ILoss, 0 to 1")], lines)
    if seen.questions:
        yield Grid.of(
            seen.questions,
            ("column", lambda question: code(question.column)),
            ("replicable?", lambda question: question.replicable),
            ("distinguishable?", lambda question: question.distinguishable),
            ("knowable?", lambda question: question.knowable),
            caption="EMA asks three questions about each column: does it stay the same over time, does it tell people apart, can others know "
            "it? The entries show what the raw table suggests; the owner answers.",
        )
    others = [each for each in columns if each.role in ("sensitive", "insensitive", "none")]
    if others:
        yield Heading("Other columns", 3)
        yield Grid.of(
            others,
            ("column", lambda each: code(each.name)),
            ("taken as", lambda each: shared_sections.ROLES[each.role]),
            ("technique", shared_sections.technique),
        )
    yield Paragraph(
        "If you shift dates, give each person a different offset. Anyone who knows one true date can undo a single offset for the "
        "whole file.",
        aside=True,
    )


def _risk(result: Result, chosen: int, seen: Findings, release: ReleaseFindings) -> Iterator[Block]:
    study = result.study
    yield Heading("3. Risk")
    yield Heading("Adversaries and attacks considered", 3)
    scores = result.points[chosen].scores
    adversaries = [
        scores[str(metric)] for metric in (prosecutor_risk, journalist_risk, marketer_risk) if str(metric) in scores
    ]
    if adversaries:
        yield Grid.of(
            adversaries,
            ("adversary", lambda pair: pair[0].card.title),
            ("must know", lambda pair: pair[0].card.knows),
            (right("residual risk"), lambda pair: spell(pair[1].value)),
            ("in words", lambda pair: pair[0].sentence(pair[1].value)),
            ("how sure", lambda pair: shared_sections.sure(pair[1])),
        )
    known = joined([code(column) for column in study.roles.quasi])
    yield Paragraph(["The adversary is assumed to know these columns of a person: ", *known, "."])
    yield Heading("Initial risk, threshold, residual risk", 3)
    yield from shared_sections.limits(result)
    before, after = seen.before, release.after
    bounds = [r.bound for r in study.require if r.metric == prosecutor_risk]
    bounds += [1 / r.bound for r in study.require if r.metric == k_anonymity and r.bound >= 1]
    threshold = min(bounds, default=None)
    means = [r.bound for r in study.require if r.metric == marketer_risk]
    if not isinstance(before, str):
        lines: list[list[Text]] = [
            ["initial risk (largest, all quasi-identifiers)", spell(before.prosecutor)],
            ["initial risk (mean)", spell(before.marketer)],
            ["threshold (largest)", "none was set" if threshold is None else spell_bound(threshold)],
            ["threshold (mean)", spell_bound(min(means)) if means else "none was set"],
        ]
        if isinstance(after, str):
            lines.append(["residual risk", after])
        else:
            lines.append([strong("residual risk (largest)"), strong(spell(after.prosecutor))])
            lines.append(["residual risk (mean)", spell(after.marketer)])
        yield Grid(["", ""], lines)
        if not isinstance(after, str):
            met = ema_threshold(result, release)
            stands = (
                "; it is not asked of a release that is not public"
                if met is None
                else ", not above it"
                if met
                else ", above it"
            )
            yield Paragraph(
                f"EMA and Health Canada use {THRESHOLD} for public clinical data. The largest residual risk here is "
                f"{spell(after.prosecutor)}{stands}."
            )
    yield from shared_sections.verdicts(result)
    yield from shared_sections.compared(before, after)
    yield Paragraph(shared_sections.suppressed(release.suppressed))


def _utility(result: Result, chosen: int, release: ReleaseFindings) -> Iterator[Block]:
    yield Heading("4. Utility")
    scores = {n: pair for n, pair in shown(result.points[chosen].scores).items() if pair[0].card.about == "utility"}
    rows: list[list[Text]] = [
        [code(name), spell(score.value), metric.sentence(score.value), shared_sections.sure(score)]
        for name, (metric, score) in scores.items()
    ]
    if rows:
        yield Grid(["measure", right("value"), "in words", "how sure"], rows)
    columns = () if isinstance(release.columns, str) else release.columns
    kept = [each.name for each in columns if each.how == "unchanged"]
    if kept:
        yield Paragraph(["Released unchanged: ", *joined([code(name) for name in kept]), "."])
    if not isinstance(release.subgroups, str):
        yield Bullets(list(release.subgroups.groups.sentences))


def _conclusion() -> Iterator[Block]:
    yield Heading("5. Conclusion")
    yield Paragraph(
        "The owner decides whether the residual risk is acceptable for this release, its recipients and the harm that a disclosure "
        "could do, and whether the data are useful enough for their purpose."
    )
    yield from shared_sections.signature(["Conclusion", "Name and function", "Date", "Signature"])
