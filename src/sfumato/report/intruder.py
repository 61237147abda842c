"""The motivated-intruder record for a DPIA: what the intruder knew, tried and found, how hard it was, and room for the conclusion.

After the ICO's motivated-intruder test: a person without special skills who has what anybody can have. Here the intruder is given
more, the original itself as a register of everybody's quasi-identifiers, so that what is found is what such a person could find at most
with these columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ..attacks.homogeneity import homogeneity
from ..attacks.linkage import LookedUp
from ..core.outcome import Outcome
from ..study.findings import ReleaseFindings
from ..study.study import Result
from . import shared_sections
from .document import (
    Block,
    Bullets,
    Callout,
    Document,
    Grid,
    GridColumn,
    Heading,
    Paragraph,
    Terms,
    Text,
    code,
    joined,
    right,
    spell,
)
from .sheet import standing


def intruder(result: Result) -> Document:
    """The record on the recommended release."""
    chosen, release = shared_sections.recommended(result, "to attack")
    name = shared_sections.table_name(result)
    quasi = joined([code(column) for column in result.study.roles.quasi])
    blocks: list[Block] = [
        standing(result, "Intruder"),
        *shared_sections.unprotected(result),
        Callout("In short", [Paragraph(text) for text in _short(release)]),
        Heading("What the intruder knew"),
        Paragraph(
            [
                "The intruder was given a table of everybody with ",
                *quasi,
                ", as a register or a well-informed acquaintance might have them, knew that all of them are in the release, had the "
                "release, and took a released value for everything that it covers. That is more than a member of the public has; one who also "
                "knows which value became which can rule out more: the mean risk among the measures counts that.",
            ]
        ),
        Heading("What was tried, and what was found"),
        *_linked(release),
        *_learned(release),
        Heading("What else was tried"),
        *shared_sections.wp29_grid(release),
        Heading("What was not tried"),
        Bullets(
            [
                "Columns that are not quasi-identifiers here, if somebody knows them.",
                "Searches in newspapers, social networks and public registers for single people. Add them by hand where the DPIA asks for it.",
                "Other releases about the same people, joined with this one.",
                "Asking people, or any means that need a breach or a deception.",
            ]
        ),
        *shared_sections.required(result),
        Heading("Conclusion"),
        Paragraph(
            "Left for whoever signs: whether the means are reasonably likely to be used, and whether what was found can be accepted."
        ),
        *shared_sections.signature(["Conclusion", "Who played the intruder", "Reviewed by", "Date", "Signature"]),
    ]
    made_by = code(result.points[chosen].candidate.outward)
    subtitle: Text = [f"For the DPIA on the release of {name}: ", made_by, ". Not to be published."]
    title = "Motivated-intruder record"
    return shared_sections.document(title, subtitle, blocks, f"{title}: {name}")


def _short(release: ReleaseFindings) -> Iterator[str]:
    played = [attack for attack, _ in release.looked_up]
    if played:
        yield max(played, key=lambda attack: attack.success.value).sentence
    else:
        yield f"No one could be looked up: {release.linkage[-1]}"
    for name, attack in release.homogeneity.items():
        if isinstance(attack, Outcome):
            yield f"{name}, without finding the row: {attack.sentence}"


def _linked(release: ReleaseFindings) -> Iterator[Block]:
    yield Heading("Looking people up", 3)
    rows: list[list[Text]] = []
    for attack in release.linkage:
        if isinstance(attack, str):
            rows.append(["–", f"Could not be played: {attack}"])
            continue
        details = cast(LookedUp, attack.details)
        candidates = details.candidates or {}
        rows.append(
            [
                joined([code(column) for column in details.known]),
                spell(attack.attacked),
                spell(details.correct),
                spell(details.wrong),
                spell(details.mistaken),
                spell(candidates.get("least")),
                spell(candidates.get("median")),
                shared_sections.rate(attack.success),
                shared_sections.rate(attack.baseline, interval=False),
            ]
        )
    yield Grid(
        [
            "knew",
            right("looked up"),
            right("found without doubt"),
            right("found the wrong row"),
            right("and no other"),
            right("fewest candidates"),
            right("median"),
            GridColumn("right by guessing", "left", "95% interval"),
            right("baseline", "without the release"),
        ],
        rows,
        "Everybody in the original was looked up in the release, by fewer and by more columns.",
    )
    if played := [attack for attack, _ in release.looked_up]:
        yield Terms(
            [
                ("how hard", _hard(played[-1])),
                ("how sure", shared_sections.sure_of(played[-1])),
                ("source", played[-1].source),
            ]
        )


def _learned(release: ReleaseFindings) -> Iterator[Block]:
    if not release.homogeneity:
        return
    yield Heading("Learning without finding", 3)
    yield Paragraph(homogeneity.card.how)
    for name, attack in release.homogeneity.items():
        if isinstance(attack, str):
            yield Paragraph([code(name), f": could not be played. {attack}"])
            continue
        yield Terms(
            [
                ([code(name)], attack.sentence),
                ("how hard", _hard(attack)),
                ("how sure", shared_sections.sure_of(attack)),
            ]
        )


def _hard(attack: Outcome) -> str:
    return f"It takes {attack.effort}; a spreadsheet or a short program does it."
