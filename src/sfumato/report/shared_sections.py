"""Parts that several documents share: limits, before and after, columns, attacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from .. import __version__
from ..core.errors import Unavailable
from ..core.metric import Metric, Score
from ..core.outcome import MARKS, Outcome, Rate
from ..core.people import owners_word
from ..inspect.changes import ColumnChange, Suppression
from ..inspect.riskiest_combinations import ClassSizes
from ..profile.free_columns import waived_sentences
from ..study import inference
from ..study.attack_findings import held_against, made_again
from ..study.decision import attack_name
from ..study.findings import ReleaseFindings, findings
from ..study.study import Result
from .document import (
    Block,
    Bullets,
    Callout,
    Document,
    Grid,
    GridColumn,
    Heading,
    Mark,
    Paragraph,
    Text,
    code,
    joined,
    percent,
    right,
    soft,
    spell,
    strong,
    verdict,
)

TECHNIQUES = {
    "unchanged": "kept as it is",
    "generalized": "generalized: values are replaced by coarser ones that contain them",
    "suppressed": "suppressed where needed: values are replaced by *",
    "replaced": "replaced by values computed from groups of people",
    "perturbed": "perturbed: values are changed by noise, swapping or chance",
    "permuted": "permuted within groups: the values are true, but no longer stand beside their own people",
    "joined": "replaced by a random number or a keyed pseudonym, which joins the rows of a person",
    "apart": "released in a separate table, linked by groups only",
    "removed": "removed",
    "statistics": "released as statistics only; no row describes a person",
}
ROLES = {
    "identifiers": "identifier",
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "person": "person",
    "guarding": "guarding",
    "weight": "survey weight",
    "none": "no role",
}


def sure(score: Score) -> str:
    """How sure a score is."""
    between = (
        ""
        if score.ci is None
        else f" ({spell(score.ci[0])} to {spell(score.ci[1])}, {score.details.get('interval', '95%')})"
    )
    return f"{score.exactness}{between}"


def table_name(result: Result) -> str:
    """The table's name without the folders that lead to it."""
    return result.study.title or result.table_name


def limits(result: Result) -> list[Block]:
    """The context in words, and every limit with the k that it fixes and its source."""
    study = result.study
    blocks: list[Block] = []
    if study.context is not None:
        blocks.append(Paragraph(study.context.sentence))
        known = {limit.text: limit for limit in study.context.limits}
        rows: list[list[Text]] = []
        for requirement in study.require:
            limit = known.get(str(requirement))
            if limit is None:
                rows.append([code(requirement), "–", "–", "required by the owner", "the owner"])
                continue
            k = "–" if limit.k is None else str(limit.k)
            risk = "–" if limit.k is None else f"{1 / limit.k:.3g}"
            rows.append([code(limit.text), k, risk, limit.sentence, limit.source])
        blocks.append(
            Grid(
                ["limit", right("k it requires"), right("risk at that k"), "in words", "source"],
                rows,
                "The limits and their sources.",
            )
        )
    elif study.require:
        named = joined([code(requirement) for requirement in study.require])
        blocks.append(Paragraph(["Required by the owner: ", *named, "."]))
    else:
        none = "No requirement was given. Add one with --require, or answer the two questions of sfumato advise."
        blocks.append(Paragraph(none))
    return blocks


def required(result: Result) -> Iterator[Block]:
    """A section on the limits set for the release, where there are some."""
    if result.study.require:
        yield Heading("Limits set for this release")
        yield from limits(result)
        yield from verdicts(result)


def recommended(result: Result, what: str) -> tuple[int, ReleaseFindings]:
    """The recommended candidate and what was found in its release, or that there is none for a document to be about."""
    chosen = result.recommended[0]
    release = None if chosen is None else findings(result).release
    if chosen is None or release is None:
        raise Unavailable(f"No candidate can be recommended, so there is no release {what}.")
    return chosen, release


def unprotected(result: Result, *, counts: bool = True) -> list[Block]:
    """What no document may leave out: the sensitive columns that stay unprotected, and the owner's reason where they are waived."""
    sentences = [
        each.sentence if counts else replace(each, certain=None).sentence for each in inference.unprotected(result)
    ]
    blocks: list[Block] = []
    if sentences:
        blocks.append(Callout("Not protected", [Bullets([f"Column {text}." for text in sentences])], "beware"))
    return [*blocks, *waived(result, findings=counts)]


def waived(result: Result, *, findings: bool) -> list[Block]:
    """The columns that the owner lets out all the same, each with the reason; what was found in them is for the owner's eyes."""
    study = result.study
    blocks: list[Block] = []
    if (word := owners_word(study.roles, study.table, counts=findings)) is not None:
        title = "The owner's word" if study.roles.one_row_per_person else "People with several rows"
        blocks.append(Callout(title, [Paragraph(word)], "beware"))
    if not study.waive:
        return blocks
    texts = (
        waived_sentences(study.free.findings, study.waive)
        if findings
        else [f"Column {column!r}: {reason.rstrip('.')}." for column, reason in study.waive.items()]
    )
    return [*blocks, Callout("Waived by the owner", [Bullets(texts)], "beware")]


def verdicts(result: Result) -> list[Block]:
    """Each requirement with what was measured of the recommended release, and what that means."""
    chosen = result.recommended[0]
    if chosen is None or not result.study.require:
        return []
    point = result.points[chosen]
    rows: list[list[Text]] = []
    for each in point.verdicts:
        words = each.requirement.metric.sentence(each.score.value)
        rows.append([code(each.requirement), verdict(each.met), spell(each.score.value), words, sure(each.score)])
    for text, why in point.unknown.items():
        rows.append([code(text), verdict(False, "unknown"), "–", why, "–"])
    return [
        Grid(
            ["requirement", "verdict", right("measured"), "in words", "how sure"],
            rows,
            f"The requirements, and what {point.candidate.outward} achieves.",
        )
    ]


def compared(before: ClassSizes | str, after: ClassSizes | str | None) -> list[Block]:
    """The sizes of classes before and after."""
    if isinstance(before, str):
        return [Paragraph(before)]
    there = None if isinstance(after, str) else after
    rarer = [
        (f"rows in classes of fewer than {least}", lambda sizes, least=least: sizes.below[least])
        for least in before.below
    ]
    lines: list[tuple[str, Callable[[ClassSizes], float]]] = [
        ("rows", lambda sizes: sizes.rows),
        ("classes", lambda sizes: sizes.classes),
        ("rows alone in their class", lambda sizes: sizes.alone),
        ("smallest class", lambda sizes: sizes.smallest),
        *reversed(rarer),
        ("risk of the most exposed person (prosecutor)", lambda sizes: sizes.prosecutor),
        ("mean risk of a row (marketer)", lambda sizes: sizes.marketer),
    ]
    grid = Grid.of(
        lines,
        ("", lambda line: line[0]),
        (right("before"), lambda line: spell(line[1](before))),
        (right("after"), lambda line: spell(None if there is None else line[1](there))),
        caption="All quasi-identifiers together: before in the original, after in the recommended release.",
    )
    blocks: list[Block] = [grid]
    if isinstance(after, str):
        blocks.append(Paragraph(after, aside=True))
    return blocks


def suppressed(rows: Suppression | str) -> str:
    """The suppressed rows in a sentence."""
    if isinstance(rows, str):
        return rows
    if not rows.gone and not rows.cells:
        return f"No row and no value was suppressed. All {rows.rows_before:,} rows are released."
    return (
        f"{rows.gone:,} of {rows.rows_before:,} rows ({percent(rows.share)}) are suppressed: {rows.left_out:,} left out, "
        f"{rows.blank:,} with * in every quasi-identifier. {rows.cells:,} quasi-identifier values are *."
    )


def technique(column: ColumnChange, *, shares: bool = True) -> str:
    """What became of a column, in words; in how many of the rows, if that may be told.

    Every document and the package's dictionary say it by this, from what `inspect.changes` counted in the release.
    """
    share = column.share
    kinds = [kind for kind in ("generalized", "suppressed", "replaced") if share.get(kind)]
    if not kinds:
        return TECHNIQUES[column.how]
    kinds.sort(key=lambda kind: -share[kind])
    if share["suppressed"] == 1:
        return "suppressed: every value is *"
    text = "; ".join(TECHNIQUES[kind] for kind in kinds)
    if column.everywhere is not None:
        text += "; the same way everywhere" if column.everywhere else "; differently from class to class"
    if not shares:
        return text
    parts = [f"{percent(share[kind])} {kind}" for kind in kinds]
    return f"{text} ({', '.join(parts)}; {percent(share['same'])} of the rows as they were)"


def column_grid(columns: Sequence[ColumnChange] | str) -> Block:
    """Every column with its role, what became of it and what that lost."""
    if isinstance(columns, str):
        return Paragraph(columns)
    return Grid.of(
        columns,
        ("column", lambda each: code(each.name)),
        ("role", lambda each: ROLES[each.role]),
        ("what became of it", technique),
        (right("loss", "ILoss, 0 to 1"), lambda each: spell(each.loss)),
        caption="Loss: the share of the column's possible values that a released value covers in addition to the true one (0: exact; near "
        "1: suppressed).",
    )


def blanked(columns: Sequence[ColumnChange] | str) -> str:
    """Quasi-identifiers of which the release says nothing, or nothing for most rows; an empty text if there are none."""
    known = () if isinstance(columns, str) else columns
    stars = {each.name: each.share.get("suppressed", 0.0) for each in known if each.role == "quasi"}
    gone = [repr(name) for name, share in stars.items() if share == 1]
    most = [f"{name!r} in {percent(share)} of the rows" for name, share in stars.items() if 0.5 < share < 1]
    if gone and len(gone) == len(stars):
        return "Every quasi-identifier is * in every row. The release says nothing about them."
    parts = [f"{' and '.join(gone)} in every row"] if gone else []
    return f"Suppressed to *: {'; '.join([*parts, *most])}." if parts or most else ""


def rate(share: Rate | None, *, interval: bool = True) -> str:
    """A share, with its interval or without."""
    if share is None:
        return "–"
    if not interval or share.low == share.high:
        return percent(share.value)
    return f"{percent(share.value)} [{percent(share.low)}, {percent(share.high)}]"


def attack_title(key: str) -> Text:
    """The same as a title."""
    title, column = attack_name(key)
    return [f"{title} of ", code(column)] if column else title


def above(attack: Outcome, again: Outcome | None) -> Mark:
    """The same as a mark."""
    stands = held_against(attack, again)
    if stands.verdict in ("works", "fails"):
        return verdict(stands.verdict == "fails", stands.words)
    return soft(f"{MARKS[stands.verdict]} {stands.words}")


def wp29_grid(release: ReleaseFindings) -> list[Block]:
    """The three tests with interval, baseline and control."""
    held = release.held_out
    rows: list[list[Text]] = []
    for name, attack in release.wp29.items():
        if isinstance(attack, str):
            rows.append([attack_title(name), f"Not measured: {attack}"])
            continue
        again = made_again(release.held_out, name)
        both = "–" if again is None else f"{rate(again.success)} and {rate(again.control)}"
        rows.append([attack_title(name), rate(attack.success), rate(attack.baseline), both, above(attack, again)])
    blocks: list[Block] = [
        Grid(
            [
                "test",
                GridColumn("succeeds", "left", "with 95% interval"),
                GridColumn("baseline", "left", "never saw the release"),
                GridColumn("inside and outside", "left", "release made again from half the rows"),
                "verdict",
            ],
            rows,
            "WP29's three tests on the release.",
        )
    ]
    if isinstance(held, str):
        blocks.append(Paragraph(f"There is no control: {held}", aside=True))
    else:
        blocks.append(
            Paragraph(
                f"Inside and outside: Sfumato made the release again from {held.inside:,} rows drawn at random. It attacked these "
                f"rows and the other {held.outside:,}, which are not in it. What works as well outside is a fact about people in "
                "general, not about those in the release.",
                aside=True,
            )
        )
    return blocks


def attack_terms(attack: Outcome) -> list[tuple[Text, Text]]:
    """An attack: what was known, done, found."""
    return [
        ("knew", attack.knew),
        ("had to do", attack.effort),
        ("found", attack.sentence),
        ("how sure", sure_of(attack)),
        ("source", attack.source),
    ]


def sure_of(attack: Outcome) -> str:
    """How sure an attack's number is."""
    success = attack.success
    if not success.people:
        return "There was nobody to attack, so there is nothing to estimate."
    interval = f"{percent(success.low)} to {percent(success.high)} (95%)"
    if attack.exactness == "exact":
        return f"Exact for the {attack.attacked:,} attacked. If they are a sample of similar people: {interval}."
    return f"An estimate from {success.people:,} attacks: {interval}."


def signature(lines: Sequence[str]) -> list[Block]:
    """Lines to be filled in by hand."""
    return [Grid(["", ""], [[strong(line), "______________________________"] for line in lines])]


def document(title: str, subtitle: Text, blocks: Sequence[Block], label: str) -> Document:
    """A document with what holds for every one of them at its end."""
    footer = (
        f"Sfumato {__version__}. A missing value counts as a value of its own. The numbers hold for the quasi-identifiers and the "
        "adversary named above; they say nothing about an adversary who knows more."
    )
    return Document(title, subtitle, blocks, footer, label)


def heads(metric: Metric) -> GridColumn:
    """A metric as the head of a column."""
    sign = "↑" if metric.card.better == "higher" else "↓"
    return GridColumn(str(metric), "right", f"{sign} {metric.card.better} is better", metric.card.question)
