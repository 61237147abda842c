"""The parts of the report that come from findings: before and after, riskiest, class by class, attacks, groups, audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..inspect.exposure import MEASURES
from ..inspect.raw_risk import Threshold
from ..inspect.subgroups import MiningWorth
from ..study.findings import MASK, Findings, GroupFindings
from . import figures, shared_sections
from .document import (
    Block,
    Bullets,
    Figure,
    Fold,
    Grid,
    GridColumn,
    Heading,
    Paragraph,
    Row,
    Text,
    code,
    joined,
    spell,
    verdict,
)


def before_and_after(found: Findings) -> Iterator[Block]:
    """The raw table and the release side by side, and what became of each column."""
    release = found.release
    yield Heading("Before and after")
    yield from shared_sections.compared(found.before, None if release is None else release.after)
    if release is not None:
        yield Paragraph(shared_sections.suppressed(release.suppressed))
        for note in release.notes:
            yield Paragraph(note, aside=True)
        yield Heading("Column by column", 3)
        yield shared_sections.column_grid(release.columns)


def riskiest(found: Findings, reveal: bool) -> Iterator[Block]:
    """Where the raw table is riskiest; values only if asked for."""
    yield Heading("Where the raw table is riskiest")
    if isinstance(found.sets, str):
        yield Paragraph(found.sets)
    else:
        rows: list[list[Text]] = []
        for each in found.sets:
            names = joined([code(name) for name in each.columns])
            rows.append(
                [str(len(each.columns)), names, spell(each.alone), spell(each.smallest), spell(each.distinction)]
            )
        head: list[GridColumn | str] = [
            GridColumn("columns known", "right"),
            "worst set",
            GridColumn("rows alone", "right"),
            GridColumn("smallest class", "right"),
            GridColumn("mean risk", "right"),
        ]
        yield Grid(head, rows, "For each number of known columns: the set on which most rows are alone.")
    if found.checks:
        yield _checked(found.checks)
    most = found.riskiest
    if isinstance(most, str):
        yield Paragraph(most)
        return
    scored = most.by == "score"
    lines: list[list[Text]] = []
    for n, record in enumerate(most.each):
        values = joined([f"{name} = {value}" for name, value in zip(record.columns, record.values, strict=True)], ", ")
        lines.append([str(n + 1), values, spell(record.rows), spell(record.ways), spell(record.score)])
    yield Heading("The ten riskiest combinations" if len(lines) == 10 else "The riskiest combinations", 3)
    head = [
        GridColumn("", "right"),
        "fewest columns on which the record is alone" if scored else "rarest combinations of all quasi-identifiers",
        GridColumn("rows", "right"),
        GridColumn("ways", "right", "minimal uniques"),
        GridColumn("score", "right", "SUDA"),
    ]
    caption = (
        f"Records that stand out on the fewest columns (up to {most.largest}) and in the most ways (Elliot, Manning, Ford 2002)."
        if scored
        else "Nobody is alone. The fewest people share these combinations."
    )
    yield Grid(head, lines, caption)
    if not reveal:
        yield Paragraph(f"Values are masked ({MASK}). Use --reveal to show them.", aside=True)


def _checked(checks: Sequence[Threshold]) -> Fold:
    """Combinations against least frequencies, as statistics offices look at them."""
    rows: list[list[Text]] = [
        [
            str(each.columns),
            str(each.least),
            f"{each.failing_sets:,} of {each.sets:,}",
            spell(each.rows),
            joined([code(name) for name in each.worst]) or "–",
        ]
        for each in checks
    ]
    head: list[GridColumn | str] = [
        GridColumn("columns", "right"),
        GridColumn("at least", "right", "rows"),
        GridColumn("sets with a rarer combination", "right"),
        GridColumn("rows that fail on the worst set", "right"),
        "worst set",
    ]
    return Fold("Minimum frequencies of combinations, as statistical offices check them", [Grid(head, rows)])


def exposed(found: Findings) -> Iterator[Block]:
    """Class by class, for each sensitive column."""
    release = found.release
    if release is None:
        return
    if isinstance(release.exposure, str):
        if release.exposure:
            yield Heading("Class by class")
            yield Paragraph(release.exposure)
        return
    for n, each in enumerate(release.exposure):
        yield Heading(f"Class by class: {each.column}")
        yield Paragraph(
            f"How much the classes reveal about {each.column} beyond its overall distribution, and how many rows are in them.",
            aside=True,
        )
        drawn = []
        for measure in MEASURES:
            bins = [b for b in each.bins if b.measure == str(measure) and b.classes]
            numbers: list[list[Text]] = [[spell(b.low), spell(b.high), spell(b.rows), spell(b.classes)] for b in bins]
            head: list[GridColumn | str] = [GridColumn(name, "right") for name in ("from", "to", "rows", "classes")]
            drawn.append(
                Figure(
                    f"{measure}-{n}",
                    figures.exposure_figure(each, str(measure)).to_dict(),
                    f"Rows by {measure} of their class",
                    Grid(head, numbers),
                )
            )
        yield Row(drawn)
        yield Heading("The most exposed classes", 3)
        rows: list[list[Text]] = [
            [
                f"class {row.number}",
                spell(row.rows),
                spell(row.values),
                spell(row.distribution_leakage),
                spell(row.entropy_leakage),
            ]
            for row in each.worst
        ]
        head = [
            GridColumn("class"),
            GridColumn("rows", "right"),
            GridColumn("different values", "right"),
            GridColumn("distribution leakage", "right"),
            GridColumn("entropy leakage", "right", "bits"),
        ]
        yield Grid(head, rows)
        yield Paragraph(
            "Classes are numbered in the order of their released values. This table shows no value of the data.",
            aside=True,
        )


def attacks(found: Findings) -> Iterator[Block]:
    """The attacks that were played."""
    release = found.release
    if release is None:
        return
    yield Heading("Attacked")
    yield Paragraph("Sfumato attacked the release itself and used the original to check each guess.", aside=True)
    yield from shared_sections.wp29_grid(release)
    rows: list[list[Text]] = []
    for attack in release.linkage:
        if isinstance(attack, str):
            rows.append(["–", f"Not attempted: {attack}"])
            continue
        details = attack.details
        rows.append(
            [
                joined([code(name) for name in details["known"]]),
                spell(details.get("correct")),
                shared_sections.rate(attack.success),
                shared_sections.rate(attack.baseline, interval=False),
                attack.exactness,
            ]
        )
    head: list[GridColumn | str] = [
        "an intruder who knows",
        GridColumn("found with certainty", "right"),
        "right when guessing, with 95% interval",
        GridColumn("baseline", "right"),
        "how sure",
    ]
    yield Grid(head, rows, "Record linkage: the intruder looks up everyone in the original in the release.")
    for name, attack in release.homogeneity.items():
        yield Paragraph(["Of ", code(name), ": ", attack if isinstance(attack, str) else attack.sentence])


def _mined(mined: MiningWorth | None) -> str:
    """The decline of a group with its interval; nothing where it was too small to be mined."""
    if mined is None:
        return "too few"
    low, high = mined.interval
    return f"{spell(mined.decline)} ({spell(low)} to {spell(high)})"


def groups(found: Findings) -> Iterator[Block]:
    """Small groups, and whether the release still makes sense."""
    release = found.release
    if release is None:
        return
    yield Heading("Are small groups treated worse?")
    if isinstance(release.subgroups, str):
        yield Paragraph(release.subgroups)
    else:
        yield from _small_groups(release.subgroups)
    yield Heading("Does the release still make sense?")
    audit = release.audit
    if isinstance(audit, str):
        yield Paragraph(audit)
        return
    lines: list[list[Text]] = [
        [
            check.kind,
            verdict(check.status != "fails", check.status) if check.status in ("holds", "fails") else check.status,
            check.sentence,
        ]
        for check in audit.checks
    ]
    yield Grid(["check", "verdict", "found"], lines, audit.sentences[-1])


def _small_groups(found: GroupFindings) -> Iterator[Block]:
    groups = found.groups
    yield Bullets(list(groups.sentences))
    for note in groups.notes:
        yield Paragraph(note, aside=True)
    if groups.worst:
        rows: list[list[Text]] = []
        for each in groups.worst:
            rows.append(
                [
                    [code(each.column), " = ", each.name or MASK],
                    spell(each.people),
                    spell(each.suppressed),
                    spell(each.loss),
                    spell(each.difference),
                    verdict(not each.worse, "beyond chance" if each.worse else "within chance"),
                    spell(each.risk),
                    *([_mined(each.mined)] if found.field else []),
                ]
            )
        head: list[GridColumn | str] = [
            "group",
            GridColumn("people", "right"),
            GridColumn("suppressed", "right"),
            GridColumn("loss", "right"),
            GridColumn("above the mean", "right"),
            "for a group of this size",
            GridColumn("mean risk", "right"),
        ]
        if found.field:
            head.append(GridColumn("mining loss", "right"))
        yield Grid(head, rows, "The groups that lose most.")
        if found.field:
            yield Paragraph(
                [
                    "Mining loss: how much less often the deciding miner predicts ",
                    code(found.field),
                    " correctly for the group from the release than from the original, on a sample of rows, with a 95% interval.",
                ],
                aside=True,
            )
    elif found.not_mined:
        yield Paragraph(f"Not mined: {found.not_mined}", aside=True)
