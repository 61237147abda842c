"""The internal report: everything that the owner needs to decide and to defend the decision. It is not to be published."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

from .. import __version__
from ..core.mechanism import MechanismCard
from ..core.metric import Metric
from ..metrics import by_family
from ..study.advice import advice
from ..study.decision import decision
from ..study.findings import Findings, findings
from ..study.inference import leaves
from ..study.study import Result
from . import choice_sections, finding_sections, glossary, shared_sections, sheet
from .document import (
    Block,
    Bullets,
    Callout,
    Code,
    Document,
    Fold,
    Grid,
    GridColumn,
    Heading,
    Mark,
    Paragraph,
    Terms,
    Text,
    code,
    joined,
    plain,
    right,
    spell,
    strong,
)

_LIBRARIES = ("duckdb", "numpy", "pyarrow", "scikit-learn", "opendp")


def internal(result: Result, *, reveal: bool = False, digest: str | None = None) -> Document:
    """The document; with `reveal` it shows values of the riskiest combinations and names of groups. `digest` is release.csv's."""
    seen = findings(result, reveal=reveal)
    study = result.study
    known: list[str | Mark] = ["nothing"] if not study.roles.quasi else joined([code(q) for q in study.roles.quasi])
    wants: list[str | Mark] = []
    if study.roles.sensitive:
        wants = [" and wants to learn ", *joined([code(s) for s in study.roles.sensitive], " or ")]
    subtitle: list[str | Mark] = [
        f"{len(result.points)} candidates for publishing ",
        code(study.table.name),
        f" ({study.table.rows:,} rows), measured against an adversary who knows ",
        *known,
        " of a person",
        *wants,
        ". For the owner only: do not publish this report.",
    ]
    decided = decision(result).of_release(digest)
    blocks = [
        sheet.page(decided),
        Heading("Why this one and not another"),
        _answer(result, seen),
        *choice_sections.nearest(result, decided),
        *choice_sections.maps(result),
        Heading("Before and after"),
        *finding_sections.sizes(seen),
        *finding_sections.shapes(seen),
        Heading("Evidence"),
        Paragraph("Each part opens by itself; on paper they are the appendices.", aside=True),
        *_appendices(
            (
                "Recipients and requirements",
                [
                    *shared_sections.waived(result, findings=True),
                    *shared_sections.limits(result),
                    *shared_sections.verdicts(result),
                ],
            ),
            ("The candidates", choice_sections.candidates(result)),
            ("Why not another candidate?", choice_sections.why_not_others(result)),
            ("What the release gives away, and what it keeps", _gives_away(result)),
            ("Column by column", finding_sections.before_and_after(seen)),
            ("Where the raw table is riskiest", finding_sections.riskiest(seen, reveal)),
            ("Class by class", finding_sections.exposed(seen)),
            ("Attacked", finding_sections.attacks(seen)),
            ("Small groups, and whether the release still makes sense", finding_sections.groups(seen)),
            ("Make it again", _again(result, seen)),
            ("The measures", _measures(result)),
            ("The mechanisms", _mechanism(result)),
            ("Glossary", [Terms([(strong(word), said) for word, said in glossary.WORDS.items()])]),
        ),
    ]
    return shared_sections.document("Which release?", subtitle, blocks, f"Sfumato report: {study.table.name}")


def _appendices(*parts: tuple[str, Iterable[Block]]) -> Iterator[Fold]:
    """Each part folded away and lettered; a heading that repeats the part's title is left out, one with nothing in it, too."""
    letters = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    for title, content in parts:
        blocks = [block for block in content if not (isinstance(block, Heading) and plain(block.text) == title)]
        if blocks:
            yield Fold(f"Appendix {next(letters)}. {title}", blocks)


def _answer(result: Result, seen: Findings) -> Callout:
    said = advice(result)
    chosen, why = result.recommended
    if chosen is None:
        rest = [text for text in said.of("unreached", "cut") if text != why]
        return Callout("No candidate can be recommended", [Paragraph(why), *map(Paragraph, rest)], "beware")
    first = [Paragraph(text) for text in said.of("why", "cut", "means", "beside")]
    more = said.of("cost", "bound", "up", "down", "looked", "robust", "unplaced")
    blank = "" if seen.release is None else shared_sections.blanked(seen.release.columns)
    beware = [Paragraph([strong("Beware."), " ", text]) for text in [*([blank] if blank else []), *said.of("beware")]]
    title: list[str | Mark] = ["Recommended: ", strong(result.points[chosen].candidate.name)]
    if free := leaves(result):
        title += ["; but not every sensitive column is protected"]
        first = [Paragraph([strong("Beware."), f" {free}."]), *first]
    return Callout(title, [*first, *([Bullets(more)] if more else []), *beware])


def _gives_away(result: Result) -> Iterator[Block]:
    chosen = result.recommended[0]
    if chosen is None:
        return
    point = result.points[chosen]
    yield Heading(f"What {point.candidate.name} gives away, and what it keeps")
    for title, here in by_family(point.scores).items():
        private = any(metric.card.about == "privacy" for metric, _ in here.values())
        rows: list[list[Text]] = []
        for name, (metric, score) in here.items():
            value: list[str | Mark] = [spell(score.value), "\n", Mark(score.unit, "soft")]
            row: list[Text] = [code(name), value, metric.sentence(score.value)]
            row += [metric.card.knows] if private else []
            rows.append([*row, shared_sections.sure(score)])
        head: list[GridColumn | str] = ["measure", right("value"), "in words"]
        head += ["an adversary must know"] if private else []
        yield Heading(title, 3)
        yield Grid([*head, "how sure"], rows)
    if point.skipped:
        yield Fold("Not measured", [Terms([(code(name), reason) for name, reason in point.skipped.items()])])


def _again(result: Result, seen: Findings) -> Iterator[Block]:
    commands = result.commands()
    if commands:
        yield Heading("Make the release and prove it")
        yield Code("\n".join(commands))
        yield Paragraph(
            "The first command writes the release only if the written file, measured again, meets the requirements. The second "
            "repeats this check from the published file. Anyone who has that file and the roles file can run it.",
            aside=True,
        )
    yield Heading("Repeat this study")
    seed = f"{result.seed}" if result.seed is not None else "0 (none was given)"
    rows: list[list[Text]] = [
        ["seed", seed],
        ["table", [code(result.study.table.name), f", SHA-256 {seen.digest}"]],
        ["roles", code(result.study.roles.source)],
        ["program", f"Sfumato {__version__}, SHA-256 {seen.program}"],
        ["libraries", f"Python {platform.python_version()}, {', '.join(_versions())}"],
        ["candidates tried near the best", str(result.looked)],
    ]
    yield Grid(["", ""], rows, "Anyone who knows the seed can undo what chance hid. Keep it with the original.")


def _versions() -> Iterator[str]:
    for name in _LIBRARIES:
        try:
            yield f"{name} {version_of(name)}"
        except PackageNotFoundError:
            continue


def _measures(result: Result) -> Iterator[Block]:
    seen: dict[str, Metric] = {}
    for i in result.made:
        for metric, _ in result.points[i].scores.values():
            seen.setdefault(metric.card.name, metric)
    yield Heading("The measures")
    for name in sorted(seen):
        card = seen[name].card
        items: list[tuple[Text, Text]] = [
            ("asks", card.question),
            ("reads", f"{card.unit}; {card.better} is better; about {card.about}"),
        ]
        if card.about == "privacy":
            items.append(("an adversary must know", card.knows))
        items += [
            ("can mislead", card.misleads),
            *([("can be gamed", card.gamed)] if card.gamed else []),
            ("source", card.source),
        ]
        yield Fold(card.title, [Terms(items)])


def _mechanism(result: Result) -> Iterator[Block]:
    cards: dict[str, MechanismCard] = {}
    for point in result.points:
        if point.candidate.mechanism is not None:
            cards.setdefault(point.candidate.family, point.candidate.mechanism.card)
    if not cards:
        return
    yield Heading("The mechanisms")
    for name in sorted(cards):
        card = cards[name]
        yield Fold(
            f"{name}: {card.title}",
            [
                Terms(
                    [
                        ("promises", card.promise),
                        ("against", card.against),
                        ("costs", card.cost),
                        ("source", card.source),
                    ]
                )
            ],
        )
