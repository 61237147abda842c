"""What a metric, a mechanism, an attack or a word of the documents means, from its card: for the command line and the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import attacks, mechanisms, metrics
from ..core.errors import InputError
from ..core.mechanism import DRAWS
from ..core.metric import Card, spell_number, written
from . import glossary


def explanation(name: str) -> tuple[str, dict[str, str]]:
    """A heading, and what there is to say under which key, what a reader asks first first."""
    base = name.split("[")[0].split("(")[0].strip()
    if base in mechanisms.registry():
        made = mechanisms.mechanism(base).card
        said = {"promise": made.promise, "against": made.against, "cost": made.cost, "chance": DRAWS[made.chance]}
        return made.title, _plain({**said, **made.parameters, "source": made.source})
    if base in attacks.registry():
        content: dict[str, Any] = attacks.registry()[base].as_dict()
        return content["title"], _plain({k: v for k, v in content.items() if k not in ("name", "title", "parameters")})
    if base in metrics.registry():
        card = metrics.registry()[base].card
        low, high = card.bounds
        about = "the risk of a release" if card.about == "privacy" else "the use of a release"
        return card.title, _plain(
            {
                "question": card.question,
                "how to read it": f"About {about}; {card.better} is better. From {spell_number(low)} to {spell_number(high)} ({card.unit}).",
                "when it misleads": card.misleads,
                **({"the adversary": f"would have to know {card.knows}"} if card.about == "privacy" else {}),
                "how it is computed": " ".join(card.definition.split()),
                **({"how it can be gamed": card.gamed} if card.gamed else {}),
                "source": card.source,
                "in a requirement": written(card).removeprefix("is written ") if card.parameters else card.name,
            }
        )
    word = glossary.define(name)
    if word is None:
        raise InputError("Nothing of this name is explained.")
    return word[0], {"means": word[1]}


def _plain(content: Mapping[str, Any]) -> dict[str, str]:
    """As text for people: without the marks of code."""
    return {key: str(value).replace("`", "") for key, value in content.items() if value}


def card_dict(card: Card) -> dict[str, object]:
    """A metric's card as plain data."""
    low, high = card.bounds
    return {
        "name": card.name,
        "written": written(card).removeprefix("is written ") if card.parameters else card.name,
        "title": card.title,
        "asks": card.question,
        "about": card.about,
        "better": card.better,
        "unit": card.unit,
        "from": spell_number(low),
        "to": spell_number(high),
        "monotone": "yes: merging classes never makes it worse" if card.monotone else "no",
        "needs": ", ".join(sorted(card.needs)) or "the release and the roles only",
        "definition": " ".join(card.definition.split()),
        **({"adversary": f"would have to know {card.knows}"} if card.about == "privacy" else {}),
        "misleads": card.misleads,
        **({"gamed": card.gamed} if card.gamed else {}),
        "source": card.source,
    }
