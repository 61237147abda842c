"""Figures with their numbers, each a page: a policy frontier, designed mechanisms beside published ones, the scale of epsilon,
and what an adversary must know before a release tells more than a limit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.files import write_whole
from ..core.roles import Roles
from ..inspect.knowledge_needed import KnowledgeNeeded
from ..inspect.one_scale import EpsilonScale, Told
from ..metrics import metric
from ..search.frontier import Frontier, FrontierAxis, Policy
from . import figures, html
from .document import (
    Block,
    Document,
    Figure,
    Grid,
    GridColumn,
    Heading,
    Mark,
    Paragraph,
    Text,
    code,
    joined,
    right,
    spell,
    verdict,
)


def write_frontier(frontier: Frontier, roles: Roles, path: Path, *, table: str) -> None:
    """Write the page of a policy frontier; complete or absent."""
    secret = f" and wants to learn {' or '.join(roles.sensitive)}" if roles.sensitive else ""
    subtitle: list[str | Mark] = [
        "Generalizations of ",
        code(table),
        f" ({frontier.rows:,} rows), measured for an adversary who knows {', '.join(roles.quasi)} of a person{secret}. The line joins "
        "those that no other beats on both axes.",
    ]
    footer = (
        f"Sfumato {__version__}; Xia, Heatherly, Ding, Li, Malin 2015. The risk is {frontier.risk.exactness}, the utility "
        f"{frontier.utility.exactness}. The numbers hold for the quasi-identifiers and the adversary named above; they say nothing "
        "about an adversary who knows more."
    )
    title = f"Sfumato policy frontier: {table}"
    document = Document("The policy frontier", subtitle, list(_frontier_blocks(frontier)), footer, title)
    write_whole(path, html.written(document))


def _frontier_blocks(frontier: Frontier) -> Iterator[Block]:
    risk, utility = frontier.risk, frontier.utility
    if frontier.status == "exact":
        yield Paragraph(
            f"The frontier is complete: each of the {frontier.lattice:,} generalizations was measured ({frontier.checked:,} of them) or is "
            "beaten whatever it measures."
        )
    else:
        stopped = f"The search was stopped: {frontier.checked:,} of {frontier.lattice:,} generalizations were measured."
        yield Paragraph([Mark(f"{stopped} Some of the frontier may be missing.", "no")])
    if frontier.require:
        yield Paragraph(["Required of each: ", *joined([code(each) for each in frontier.require]), "."])
    if frontier.knee is not None:
        sentence = metric(risk.name).sentence(frontier.nodes[frontier.knee].risk)
        yield Paragraph(f"At the knee, the frontier's sharpest turn: {sentence}")
    alt = "Risk-utility map of the generalizations; its numbers are in the tables below"
    yield Figure("map", figures.policy_map(frontier).to_dict(), alt)
    if frontier.policies:
        yield Heading("Fixed policies")
        axes = [right(axis.name) for axis in (risk, utility)]
        policies: list[list[Text]] = [
            [
                each.name,
                figures.levels(each.node),
                spell(each.node.risk),
                spell(each.node.utility),
                _against_frontier(each, risk, utility),
            ]
            for each in frontier.policies
        ]
        yield Grid(["policy", "levels", *axes, "against the frontier"], policies)
    yield Heading("The frontier")
    head = [*(right(name) for name in frontier.nodes[0].levels), _axis_head(risk), _axis_head(utility)]
    nodes: list[list[Text]] = [
        [
            *map(str, node.levels.values()),
            spell(node.risk),
            spell(node.utility),
            f"{node.suppressed:,}",
            f"{node.classes:,}",
            "knee" * (i == frontier.knee) + (f" {len(node.same)} more like it" if node.same else ""),
        ]
        for i, node in enumerate(frontier.nodes)
    ]
    more = [right("rows suppressed"), right("classes"), GridColumn("")]
    yield Grid([*head, *more], nodes, chosen=frontier.knee)
    yield Paragraph("A level of 0 is the column as it is; the highest is *.", aside=True)


def _axis_head(axis: FrontierAxis) -> GridColumn:
    sign = "↑" if axis.better == "higher" else "↓"
    return right(axis.name, f"{sign} {axis.better} is better")


def _against_frontier(policy: Policy, risk: FrontierAxis, utility: FrontierAxis) -> Text:
    """What a fixed policy misses, and which nodes of the frontier beat it, a line each."""
    lines: list[str | Mark] = [verdict(False, f"misses {requirement}") for requirement in policy.missed]
    if policy.on_frontier:
        lines.append(verdict(True, "on the frontier"))
    elif not policy.beaten_by:
        lines.append("none on the frontier beats it on both axes")
    else:
        lines.append(f"beaten by {len(policy.beaten_by)}:")
        lines += [
            f"{figures.levels(each.node)} ({risk.name} better by {spell(each.risk)}, {utility.name} better by {spell(each.utility)})"
            for each in policy.beaten_by[:5]
        ]
        lines += [f"and {len(policy.beaten_by) - 5} more"] if len(policy.beaten_by) > 5 else []
    return joined(lines, "\n")


def write_design(
    designs: Sequence[Mapping[str, Any]], rivals: Sequence[Mapping[str, Any]], path: Path, *, what: str, uniform: bool
) -> None:
    """Write the page of designed mechanisms; complete or absent."""
    prior = "" if uniform else " and how frequent each value is"
    subtitle = (
        f"For {what}: how often an adversary who knows the mechanism{prior} guesses the value wrong, against what the release loses. "
        "The points on the line are mechanisms found by linear programming; no mechanism of the same degradation has a larger error."
    )
    head = ["degradation", "error of the adversary"]
    sides = [right(head[0], "↓ lower is better"), right(head[1], "↑ higher is better")]
    beside: list[list[Text]] = [
        [each["name"], *(spell(each[key]) for key in ("degradation", "error", "designed", "bound"))] for each in rivals
    ]
    line: list[list[Text]] = [[spell(each["degradation"]), spell(each["error"]), each["exactness"]] for each in designs]
    blocks: list[Block] = [
        Paragraph(
            "PRAM keeps a value with a chance and else draws another; groups release which of several neighbouring values it is, which "
            "is what generalization does."
        ),
        Figure(
            "map",
            figures.design_map(designs, rivals).to_dict(),
            "Error of the adversary against degradation; its numbers are in the tables below",
        ),
        Heading("At equal degradation"),
        Grid(["mechanism", *sides, right("designed"), right("none can exceed")], beside),
        Heading("The frontier"),
        Grid([*(right(name) for name in head), "exactness"], line),
    ]
    footer = (
        f"Sfumato {__version__}; Askari, Safavi-Naini, Barker 2012. The numbers hold for one value of one person and an adversary who "
        "sees one release of it; they say nothing about an adversary who knows more."
    )
    document = Document("Designed mechanisms", subtitle, blocks, footer, f"Sfumato designed mechanisms: {what}")
    write_whole(path, html.written(document))


def write_scale(scale: EpsilonScale, roles: Roles, path: Path, *, table: str) -> None:
    """Write the page of the scale; complete or absent."""
    subtitle: list[str | Mark] = [
        "Releases of ",
        code(table),
        f", and what each tells about {scale.column} to somebody who knows {', '.join(roles.quasi)} of a person. The line is randomized answers, which give the "
        "true value with a probability set by epsilon; each release stands where they tell as much.",
    ]
    measures = [
        right("bits", "on average"),
        right("guessed", "people a best guess names"),
        right("certainty", "at most"),
    ]

    def cells(told: Told) -> list[Text]:
        return ["none" if math.isinf(x) else spell(x) for x in (told.bits, told.guessed, told.certainty)]

    blocks: list[Block] = [
        Figure(
            "map",
            figures.scale_map(scale).to_dict(),
            "How often a best guess is right against epsilon; its numbers are in the tables below",
        ),
        *(Paragraph(sentence) for sentence in scale.sentences),
        Heading("What each release tells"),
        Grid(["release", *measures], [[line.name, *cells(line.told)] for line in scale.lines]),
        Heading("The epsilon that tells as much"),
        Grid(["release", *measures], [[line.name, *cells(line.epsilon)] for line in scale.lines]),
        Paragraph("None: no epsilon tells as much, for the release makes somebody's value certain.", aside=True),
        Heading("What randomized answers tell"),
        Grid(
            [right("epsilon"), *measures, right("any mechanism", "certainty at most")],
            [[f"{e:g}", *cells(told), spell(scale.bound[e])] for e, told in scale.yardstick.items()],
        ),
    ]
    footer = (
        f"Sfumato {__version__}; randomized response: Warner 1965, Kairouz, Oh, Viswanath 2014. Every number is exact for this table, this column and the adversary named "
        "above. It is no promise: a release is not differentially private for standing here."
    )
    write_whole(path, html.written(Document("One scale", subtitle, blocks, footer, f"Sfumato scale: {table}")))


def write_knowledge(asked: KnowledgeNeeded, roles: Roles, path: Path, *, release: str) -> None:
    """Write the page of the knowledge that an adversary needs; complete or absent."""
    subtitle: list[str | Mark] = [
        code(release),
        f", for an adversary who knows {', '.join(roles.quasi)} of a person and believes something about their {asked.column} already. Beliefs are all that move at most so "
        "much of the whole table's distribution to other values.",
    ]
    blocks: list[Block] = [
        *(Paragraph(sentence) for sentence in asked.sentences),
        Figure(
            "map",
            figures.knowledge_curve(asked).to_dict(),
            "The most that is learned against how far a belief lies from the whole table; its numbers are in the table below",
        ),
        Heading("The curve"),
        Grid(
            [right("distance", "total variation"), right("learned at most")],
            [[spell(delta), spell(learned)] for delta, learned in asked.curve[::4]],
        ),
    ]
    footer = (
        f"Sfumato {__version__}. Every number is exact: the largest over all classes, values and beliefs within the distance. It holds for one person, the adversary named above and what "
        "the release itself says of its classes."
    )
    title = f"Sfumato knowledge needed: {release}"
    write_whole(path, html.written(Document("What an adversary must already know", subtitle, blocks, footer, title)))
