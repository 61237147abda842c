"""The decision sheet: one page on which somebody signs. Everything on it comes from the one verdict; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.words import percent_up
from ..study.decision import ANSWERS, Decision, Secret, decision
from ..study.study import Result
from .document import (
    Block,
    Bullets,
    Callout,
    Code,
    Crowd,
    Document,
    Grid,
    Heading,
    Page,
    Paragraph,
    ShareBar,
    ShareBars,
    Terms,
    Text,
    Tile,
    TileRow,
    Tone,
    code,
    joined,
    percent,
    soft,
    strong,
    verdict,
)
from .glossary import WORDS

SIGNS = {"yes": "✓", "accept": "!", "no": "✗"}
TONES: dict[str, Tone] = {"yes": "yes", "accept": "open", "no": "no"}
LINE = "______________________"
NEXT = {
    "yes": "Whoever signs below takes responsibility for it.",
    "accept": "Write a reason beside each open point below. If there is none that you would defend, do not publish.",
    "no": "Do not publish. Nothing on this sheet can be signed away; what is said above must change first.",
}
"""What whoever holds the sheet is to do."""


def sheet(result: Result, digest: str | None = None) -> Document:
    """The sheet on the recommended release, or on the table where nothing may be published; `digest` is release.csv's, once it is written."""
    verdict = decision(result).of_release(digest)
    subtitle: Text = [f"{verdict.title}. For the owner: do not publish this sheet."]
    footer = (
        f"Sfumato {verdict.version}. The numbers hold for an adversary who knows the columns named above, and for this release alone. The "
        "report has the evidence."
    )
    return Document("Decision sheet", subtitle, [page(verdict)], footer, f"Decision sheet: {verdict.title}")


def page(verdict: Decision) -> Page:
    """All of it on one printed page; the report begins with the same."""
    return Page(list(_blocks(verdict)))


def _blocks(verdict: Decision) -> Iterator[Block]:
    yield headline(verdict)
    yield Terms(list(_about(verdict)))
    if verdict.released is not None:
        yield TileRow([*_found(verdict), *(_secret(each, verdict.counts) for each in verdict.secrets), *_lost(verdict)])
    yield from _limits(verdict)
    yield from _open(verdict)
    notes = [*verdict.waived, *verdict.owners_words, *(f"Not settled: {text}" for text in verdict.unsettled)]
    if notes:
        yield Heading("On the owner's word, and what the tests left open", 3)
        yield Bullets(notes)
    yield from _proof(verdict)
    date = verdict.date or LINE
    if verdict.answer != "no":
        yield Grid(["Name", "Role", "Date", "Signature"], [[LINE, LINE, date, LINE]])


def headline(verdict: Decision) -> Callout:
    """The answer."""
    title: Text = [f"{SIGNS[verdict.answer]} ", strong(verdict.headline)]
    return Callout(title, [Paragraph(verdict.because), Paragraph(NEXT[verdict.answer])], TONES[verdict.answer])


def standing(result: Result, sheet: str) -> Callout:
    """The same answer at the top of another sheet, with that sheet's open points."""
    verdict = decision(result)
    points = verdict.points(sheet)
    text = f"{ANSWERS[verdict.answer]}. {verdict.because} See the decision sheet."
    inside: list[Paragraph | Bullets] = [Paragraph(text)]
    if points:
        inside.append(Paragraph("Open on this sheet:"))
        inside.append(
            Bullets(
                [point.what if point.reason is None else f"{point.what} Accepted: {point.reason}" for point in points]
            )
        )
    else:
        inside.append(Paragraph("Nothing on this sheet is open."))
    return Callout("Decision", inside, TONES[verdict.answer])


def _about(verdict: Decision) -> Iterator[tuple[Text, Text]]:
    yield "for whom", verdict.recipients
    yield "for what", verdict.purpose or f"{LINE}{LINE}"
    if verdict.candidate is not None:
        yield "release", [code(verdict.candidate), f": {verdict.method}"]
        many = (
            f"{verdict.released:,} of {verdict.before:,} rows"
            if verdict.released is not None
            else f"{verdict.before:,} rows"
        )
        each = "each is another person" if verdict.counts == "people" else "a person may have several"
        yield "people", f"{many} are released; {each}."
    known = joined([code(name) for name in verdict.knows]) or ["nothing"]
    yield "an adversary knows", known


def _found(verdict: Decision) -> Iterator[Tile]:
    first = verdict.found[0] if verdict.found else None
    blocks: list[Crowd | Paragraph] = []
    if first is not None and first.one_in is not None:
        blocks.append(Crowd(first.one_in, f"One among {first.one_in:,}."))
    blocks += [Paragraph(each.sentence) for each in verdict.found]
    yield Tile("How likely is somebody found?", blocks)


def _secret(secret: Secret, counts: str) -> Tile:
    numbers = secret.numbers
    blocks: list[ShareBars | Paragraph] = []
    if not numbers.reason:
        bars = [
            ShareBar("guessed right without looking anybody up", numbers.blind, percent(numbers.blind)),
            ShareBar("after looking up their groups", numbers.informed, percent(numbers.informed)),
            ShareBar(f"in the worst group ({numbers.worst_rows:,} {counts})", numbers.worst, percent_up(numbers.worst)),
        ]
        blocks.append(ShareBars(bars))
    blocks.append(Paragraph(secret.certainty))
    return Tile(["What is learned of ", code(secret.column), "?"], blocks)


def _lost(verdict: Decision) -> Iterator[Tile]:
    bars = [ShareBar(code(each.column), each.share, percent(each.share)) for each in verdict.lost]
    blocks: list[ShareBars | Paragraph] = []
    if bars:
        blocks += [
            Paragraph("The share of a column's possible values that a released value covers besides the true one:"),
            ShareBars(bars),
        ]
    blocks += [Paragraph(text) for text in verdict.users]
    yield Tile("What do users lose?", blocks)


def _limits(verdict: Decision) -> Iterator[Block]:
    if not verdict.limits:
        return
    rows: list[list[Text]] = []
    for each in verdict.limits:
        stands = (
            _met(each.met)
            if each.met is not None
            else soft("no release" if verdict.released is None else "not measured")
        )
        rows.append([code(each.requirement), stands, each.words, each.source])
    yield Grid(["limit", "", "in words", "who sets it"], rows)


def _met(met: bool) -> Text:
    return verdict(met)


def _open(verdict: Decision) -> Iterator[Block]:
    if not verdict.open:
        nothing = (
            "There is no release, so no sheet was filled in."
            if verdict.released is None
            else "No sheet has an open cross."
        )
        yield Paragraph(nothing)
        return
    rows: list[list[Text]] = []
    for point in verdict.open:
        accepted = "must be mended first" if point.stops else point.reason or LINE
        rows.append([[point.sheet, "\n", soft(point.key)], point.what, accepted])
    yield Grid(["open point", "what is open", "accepted because"], rows)
    tests = {point.key.removeprefix("wp29.").partition("(")[0].replace("_", " ") for point in verdict.points("WP29")}
    words = [f"{word.capitalize()}: {meaning}" for word, meaning in WORDS.items() if word in tests]
    if words:
        yield Paragraph(" ".join(words), aside=True)


def _proof(verdict: Decision) -> Iterator[Block]:
    sums = [f"SHA-256 of {name}: {value}" for name, value in verdict.checksums.items()]
    lines = [f"sfumato {verdict.version}", *sums, *verdict.commands]
    yield Code("\n".join(lines))
