"""The parts of the report that lead to the choice: maps, candidates, who beats whom."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.metric import Metric
from ..study.decision import Decision, beside
from ..study.inference import limited
from ..study.risk_utility_map import risk_utility_map, standing
from ..study.robustness import robust
from ..study.study import Result
from . import shared_sections
from .document import (
    Block,
    Figure,
    Fold,
    Grid,
    Heading,
    Mark,
    Paragraph,
    Terms,
    Text,
    code,
    joined,
    right,
    spell,
    strong,
    verdict,
)


def nearest(result: Result, decided: Decision) -> Iterator[Block]:
    """The candidates nearest to the recommended one, each against it."""
    if decided.alternatives:
        yield Grid.of(
            decided.alternatives,
            ("another candidate", lambda each: code(each.candidate)),
            ("which is", lambda each: each.why),
            ("beside the recommended one", lambda each: beside(result, each)),
            caption="The nearest other candidates; the appendix has them all.",
        )


def maps(result: Result) -> Iterator[Block]:
    """The maps: the study's, then the others that were asked for."""
    study = result.study
    yield Heading("Risk and utility")
    lower = study.risk.card.better == "lower" and study.utility.card.better == "lower"
    text = "Each point is a candidate. "
    text += "Points nearer the lower left are better on both axes. " if lower else ""
    text += "The line is the frontier: no other candidate beats a point on it (no worse on both axes, better on at least one). "
    if result.knee is not None:
        text += (
            f"Its knee is {result.points[result.knee].candidate.name}: the point farthest below the straight line between the ends of "
            "the frontier, with both axes scaled to 0–1. "
        )
    yield Paragraph(
        text + "Dashed lines are requirements. Shapes and the legend repeat what the colours show.", aside=True
    )
    yield Figure(
        "map", risk_utility_map(result).to_dict(), "Risk-utility map; its numbers are in the table of candidates below"
    )
    for n, (risk, utility) in enumerate(study.maps):
        yield Heading(f"By {risk.card.title} and {utility.card.title}", 3)
        yield Figure(
            f"map-{n + 2}",
            risk_utility_map(result, risk, utility).to_dict(),
            f"Risk-utility map by {risk} and {utility}",
            _map_numbers(result, risk, utility),
        )


def _map_numbers(result: Result, risk: Metric, utility: Metric) -> Grid:
    return Grid.of(
        [i for i in result.made if result.points[i].has(risk, utility)],
        ("candidate", lambda i: result.names[i]),
        (shared_sections.heads(risk), lambda i: spell(result.points[i].value(risk))),
        (shared_sections.heads(utility), lambda i: spell(result.points[i].value(utility))),
    )


def shown_columns(result: Result) -> list[Metric]:
    """The metrics of the table of candidates: the axes, then those of other maps, then the usual ones that were measured."""
    axes = [result.study.risk, result.study.utility, *(axis for pair in result.study.maps for axis in pair)]
    seen: dict[str, Metric] = {}
    for i in result.made:
        seen |= {name: metric for name, (metric, _) in result.points[i].scores.items()}
    compared = [(asked.place, m) for m in seen.values() if (asked := m.card.usual) and asked.compared and m == m.usual]
    return list(dict.fromkeys([*axes, *(metric for _, metric in sorted(compared, key=lambda pair: pair[0]))]))


def candidates(result: Result) -> Iterator[Block]:
    """Every candidate with its numbers, or why it could not be made."""
    study, chosen = result.study, result.recommended[0]
    free = ", ".join(repr(name) for name in study.roles.sensitive if not limited(name, study.require))
    columns = shown_columns(result)
    rows: list[list[Text]] = []
    for i in result.order:
        point = result.points[i]
        name: Text = [result.names[i], Mark(" (found near another)", "soft")] if point.found else result.names[i]
        if point.failure is not None:
            rows.append([name, verdict(False, "not made"), point.failure])
            continue
        if not point.met:
            stands: list[str | Mark] = ["misses "]
            stands += joined(
                [
                    *(verdict(False, each.requirement) for each in point.verdicts if not each.met),
                    *(verdict(False, f"{text} (cannot be measured)") for text in point.unknown),
                ]
            )
        else:
            stands = [standing(result, i)]
            if study.require:
                stands += (
                    [" ", verdict(True, "meets all")] if not free else [" ", f"meets the limits; none covers {free}"]
                )
        values = [spell(point.value(m)) if str(m) in point.scores else "–" for m in columns]
        rows.append([name, stands, *values])
    yield Heading("The candidates")
    yield Grid(
        ["candidate", "standing", *map(shared_sections.heads, columns)],
        rows,
        chosen=None if chosen is None else result.order.index(chosen),
    )
    yield Paragraph("A dash (–) means that the measure was not taken or does not apply to that release.", aside=True)
    full = [(short, point.candidate.name) for short, point in zip(result.names, result.points, strict=True)]
    long: list[tuple[Text, Text]] = [(short, code(name)) for short, name in full if short != name]
    if long:
        yield Fold("The candidates in full", [Terms(long)])


def why_not_others(result: Result) -> Iterator[Block]:
    """Who beats whom, and whether the choice holds under other measures."""
    study = result.study
    yield Heading("Why not another candidate?")
    names = result.names
    if result.dominance:
        yield Grid.of(
            result.dominance,
            ("candidate", lambda each: names[each["candidate"]]),
            ("is beaten by", lambda each: names[each["by"]]),
            (right(f"{study.risk} better by"), lambda each: spell(each["risk"])),
            (right(f"{study.utility} better by"), lambda each: spell(each["utility"])),
            (right("frontier candidates that beat it"), lambda each: str(each["beaten_by"])),
            caption="Which candidate dominates which, and by how much.",
        )
    else:
        yield Paragraph("No candidate dominates another on the two axes.")
    rankings = robust(result)
    if rankings:
        grid = Grid.of(
            rankings,
            ("measure", lambda each: code(each.metric)),
            (right("rank"), lambda each: f"{each.rank} of {each.of}"),
            (
                "on both axes",
                lambda each: "beaten by none" if each.on_frontier else [strong("beaten")],
            ),
            (right("agreement", "Kendall, -1 to 1"), lambda each: f"{each.agreement:.2f}"),
            ("best by this measure", lambda each: names[each.first]),
            caption="Each line ranks the candidates that meet every requirement by another measure.",
        )
        yield Fold("Does the choice hold under other measures?", [grid])
