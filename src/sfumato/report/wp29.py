"""The WP29 sheet: singling out, linkability and inference (Opinion 05/2014), each measured on the release, with how sure."""

from __future__ import annotations

from collections.abc import Iterator

from ..attacks import wp29_tests
from ..study.attack_findings import held_against, made_again
from ..study.decision import attack_name
from ..study.findings import ReleaseFindings
from ..study.study import Result
from . import shared_sections
from .document import Block, Callout, Document, Heading, Paragraph, Terms, code, joined
from .sheet import standing


def wp29(result: Result) -> Document:
    """The sheet on the recommended release."""
    chosen, release = shared_sections.recommended(result, "to put to WP29's tests")
    name = shared_sections.table_name(result)
    blocks: list[Block] = [
        standing(result, "WP29"),
        *shared_sections.unprotected(result),
        Callout("In short", [Paragraph(text) for text in short(release)], "answer"),
        Heading("The three tests"),
        *shared_sections.wp29_grid(release),
        *_each(release),
        *shared_sections.required(result),
        Heading("How to read this"),
        Paragraph(
            "The Opinion asks the three questions and leaves the judgement to the controller: a technique that is robust against all "
            "three leaves little to identify by, and where one is not excluded the risk must be assessed. The rates above are that "
            "assessment, for the adversaries described. What the release gives away of the people in it lies above the rate for people who "
            "are not in it; a rate that both share, even one above the baseline, is a fact about people that the release teaches."
        ),
        Paragraph(
            "Attacks after Giomi, Boenisch, Wehmeyer and Tasnadi 2023. Intervals are Wilson's, 95%. Other adversaries, who know "
            "more or have other releases, were not tried here.",
            aside=True,
        ),
        *shared_sections.signature(["Assessed by", "Date", "Conclusion of the controller"]),
    ]
    known = joined([code(column) for column in result.study.roles.quasi])
    made_by = result.points[chosen].candidate.outward
    subtitle = [f"Opinion 05/2014 on the release of {name}: ", made_by, ". Quasi-identifiers: ", *known, "."]
    title = "Singling out, linkability, inference"
    return shared_sections.document(title, subtitle, blocks, f"WP29 sheet: {name}")


def short(release: ReleaseFindings, *, worked: bool = False) -> Iterator[str]:
    """A sentence for each test, or only for those that work better than without the release."""
    for name, attack in release.wp29.items():
        test, column = attack_name(name)
        title = test.capitalize() + (f" of {column}" if column else "")
        if isinstance(attack, str):
            if not worked:
                yield f"{title}: not measured. {attack}"
            continue
        stands = held_against(attack, made_again(release.held_out, name))
        if worked and not stands.worked:
            continue
        rate = f"works in {shared_sections.rate(attack.success)} of the attacks, " if attack.attacked else ""
        yield f"{title}: {rate}{stands.words}."


def _each(release: ReleaseFindings) -> Iterator[Block]:
    for test in wp29_tests():
        card = test.card
        assert card.wp29 is not None
        yield Heading(card.title.capitalize())
        yield Paragraph(f"The Opinion asks: “{card.wp29[1]}” {card.how}")
        attacks = {name: attack for name, attack in release.wp29.items() if name.split("(")[0] == card.name}
        if not attacks:
            yield Paragraph("No sensitive column is named, so there is nothing to infer.")
        for name, attack in attacks.items():
            if any("(" in name for name in attacks):
                yield Heading(shared_sections.attack_title(name), 3)
            if isinstance(attack, str):
                yield Paragraph(f"Not measured: {attack}")
                continue
            yield Terms(
                [
                    *shared_sections.attack_terms(attack),
                    ("without the release", f"{shared_sections.rate(attack.baseline)} by the baseline."),
                ]
            )
