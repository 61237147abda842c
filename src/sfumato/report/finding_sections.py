"""The parts of the report that come from findings: before and after, riskiest, class by class, attacks, groups, audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from ..attacks.linkage import LookedUp
from ..inspect.distributions import ColumnShape
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
    Heading,
    Paragraph,
    Row,
    Shape,
    Text,
    Tile,
    TileRow,
    code,
    joined,
    percent,
    right,
    spell,
    strong,
    verdict,
)


def before_and_after(findings: Findings) -> Iterator[Block]:
    """What became of each column."""
    release = findings.release
    if release is not None:
        for note in release.notes:
            yield Paragraph(note, aside=True)
        yield shared_sections.column_grid(release.columns)


def sizes(findings: Findings) -> Iterator[Block]:
    """Classes and risk before and after, and the rows that are gone."""
    release = findings.release
    yield from shared_sections.compared(findings.before, None if release is None else release.after)
    if release is not None:
        yield Paragraph(shared_sections.suppressed(release.suppressed))


def shapes(findings: Findings) -> Iterator[Block]:
    """Each column's distribution before and after, how far it moved, and how far off the count of a value is."""
    release = findings.release
    if release is None:
        return
    if isinstance(release.distributions, str):
        yield Paragraph(release.distributions, aside=True)
        return
    yield Paragraph(
        "Each column before (above) and after (below), a released range spread evenly over the values that it covers. Bins stand in the "
        "column's order where it has one, else from its most frequent value to its rarest; no value is named.",
        aside=True,
    )
    yield TileRow([Tile(code(each.name), list(_shape(each))) for each in release.distributions])


def _shape(each: ColumnShape) -> Iterator[Shape | Paragraph]:
    if each.reason:
        yield Paragraph(each.reason)
        return
    yield Shape(each.before, each.after, f"The shares of the rows in {len(each.before)} bins, before and after.")
    text = f"{percent(each.moved)} of the rows would have to change their value to restore the original shares."
    if each.typical is not None and each.worst is not None:
        text += (
            f" A count of one value is off by {percent(each.typical)} in the middle case, by {percent(each.worst)} for the worst-hit "
            f"value ({each.worst_rows:,} rows in the original)."
        )
    yield Paragraph(text)


def riskiest(findings: Findings, reveal: bool) -> Iterator[Block]:
    """Where the raw table is riskiest; values only if asked for."""
    yield Heading("Where the raw table is riskiest")
    if isinstance(findings.sets, str):
        yield Paragraph(findings.sets)
    else:
        yield Grid.of(
            findings.sets,
            (right("columns known"), lambda each: str(len(each.columns))),
            ("worst set", lambda each: joined([code(name) for name in each.columns])),
            (right("rows alone"), lambda each: spell(each.alone)),
            (right("smallest class"), lambda each: spell(each.smallest)),
            (right("mean risk"), lambda each: spell(each.distinction)),
            caption="For each number of known columns: the set on which most rows are alone.",
        )
    if findings.checks:
        yield _checked(findings.checks)
    most = findings.riskiest
    if isinstance(most, str):
        yield Paragraph(most)
        return
    scored = most.by == "score"
    yield Heading("The ten riskiest combinations" if len(most.each) == 10 else "The riskiest combinations", 3)
    what = "fewest columns on which the record is alone" if scored else "rarest combinations of all quasi-identifiers"
    caption = (
        f"Records that stand out on the fewest columns (up to {most.largest}) and in the most ways (Elliot, Manning, Ford 2002)."
        if scored
        else "Nobody is alone. The fewest people share these combinations."
    )
    yield Grid.of(
        enumerate(most.each, 1),
        (right(""), lambda each: str(each[0])),
        (
            what,
            lambda each: joined(
                [f"{name} = {value}" for name, value in zip(each[1].columns, each[1].values, strict=True)]
            ),
        ),
        (right("rows"), lambda each: spell(each[1].rows)),
        (right("ways", "minimal uniques"), lambda each: spell(each[1].ways)),
        (right("score", "SUDA"), lambda each: spell(each[1].score)),
        caption=caption,
    )
    if not reveal:
        yield Paragraph(f"Values are masked ({MASK}). Use --reveal to show them.", aside=True)


def _checked(checks: Sequence[Threshold]) -> Fold:
    """Combinations against least frequencies, as statistics offices look at them."""
    grid = Grid.of(
        checks,
        (right("columns"), lambda each: str(each.columns)),
        (right("at least", "rows"), lambda each: str(each.least)),
        (right("sets with a rarer combination"), lambda each: f"{each.failing_sets:,} of {each.sets:,}"),
        (right("rows that fail on the worst set"), lambda each: spell(each.rows)),
        ("worst set", lambda each: joined([code(name) for name in each.worst]) or "–"),
    )
    return Fold("Minimum frequencies of combinations, as statistical offices check them", [grid])


def exposed(findings: Findings) -> Iterator[Block]:
    """Class by class, for each sensitive column."""
    release = findings.release
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
            numbers = Grid.of(
                bins,
                (right("from"), lambda b: spell(b.low)),
                (right("to"), lambda b: spell(b.high)),
                (right("rows"), lambda b: spell(b.rows)),
                (right("classes"), lambda b: spell(b.classes)),
            )
            figure = figures.exposure_figure(each, str(measure)).to_dict()
            drawn.append(Figure(f"{measure}-{n}", figure, f"Rows by {measure} of their class", numbers))
        yield Row(drawn)
        yield Heading("The most exposed classes", 3)
        yield Grid.of(
            each.worst,
            ("class", lambda exposed: f"class {exposed.number}"),
            (right("rows"), lambda exposed: spell(exposed.rows)),
            (right("different values"), lambda exposed: spell(exposed.values)),
            (right("distribution leakage"), lambda exposed: spell(exposed.distribution_leakage)),
            (right("entropy leakage", "bits"), lambda exposed: spell(exposed.entropy_leakage)),
        )
        yield Paragraph(
            "Classes are numbered in the order of their released values. This table shows no value of the data.",
            aside=True,
        )


def attacks(findings: Findings) -> Iterator[Block]:
    """The attacks that were played."""
    release = findings.release
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
        details = cast(LookedUp, attack.details)
        rows.append(
            [
                joined([code(name) for name in details.known]),
                spell(details.correct),
                shared_sections.rate(attack.success),
                shared_sections.rate(attack.baseline, interval=False),
                attack.exactness,
            ]
        )
    yield Grid(
        [
            "an intruder who knows",
            right("found with certainty"),
            "right when guessing, with 95% interval",
            right("baseline"),
            "how sure",
        ],
        rows,
        "Record linkage: the intruder looks up everyone in the original in the release.",
    )
    for name, attack in release.homogeneity.items():
        yield Paragraph(["Of ", code(name), ": ", attack if isinstance(attack, str) else attack.sentence])


def _mined(mined: MiningWorth | None) -> str:
    """The decline of a group with its interval; nothing where it was too small to be mined."""
    if mined is None:
        return "too few"
    low, high = mined.interval
    return f"{spell(mined.decline)} ({spell(low)} to {spell(high)})"


def groups(findings: Findings) -> Iterator[Block]:
    """Small groups, and whether the release still makes sense."""
    release = findings.release
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
    yield Grid.of(
        audit.checks,
        ("check", lambda check: check.kind),
        (
            "verdict",
            lambda check: check.status if check.status == "told" else verdict(check.status == "holds", check.status),
        ),
        ("found", lambda check: check.sentence),
        caption=audit.sentences[-1],
    )


def _small_groups(findings: GroupFindings) -> Iterator[Block]:
    groups = findings.groups
    yield Bullets(list(groups.sentences))
    for note in groups.notes:
        yield Paragraph(note, aside=True)
    if groups.worst:
        yield Grid.of(
            groups.worst,
            ("group", lambda each: [code(each.column), " = ", each.name or MASK]),
            (right("people"), lambda each: spell(each.people)),
            (right("suppressed"), lambda each: spell(each.suppressed)),
            (right("loss"), lambda each: spell(each.loss)),
            (right("above the mean"), lambda each: spell(each.difference)),
            (
                "for a group of this size",
                lambda each: [strong("beyond chance")] if each.worse else "within chance",
            ),
            (right("mean risk"), lambda each: spell(each.risk)),
            *([(right("mining loss"), lambda each: _mined(each.mined))] if findings.field else []),
            caption="The groups that lose most.",
        )
        if findings.field:
            yield Paragraph(
                [
                    "Mining loss: how much less often the deciding miner predicts ",
                    code(findings.field),
                    " correctly for the group from the release than from the original, on a sample of rows, with a 95% interval.",
                ],
                aside=True,
            )
    elif findings.not_mined:
        yield Paragraph(f"Not mined: {findings.not_mined}", aside=True)
