"""Explain a metric, a mechanism, an attack or a term of the reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o
from .completion import names

if TYPE_CHECKING:
    from ..core.metric import Card


EXAMPLES = (
    "sfumato explain k_anonymity",
    "sfumato explain mondrian",
    "sfumato explain homogeneity",
    "sfumato explain prosecutor",
)


def run(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A metric, a mechanism, an attack, or a term such as knee or prosecutor.",
            show_default="list all",
            autocompletion=names,
        ),
    ] = None,
    json: o.Json = False,
) -> None:
    """For a metric: what it asks, how to read it, when it misleads, and where it was published.

    For a mechanism: what it promises, against whom, and its parameters. For an attack: how it is played and what the adversary knows.
    """
    from .. import attacks, mechanisms, metrics
    from ..report import glossary
    from .mechanisms import card_dict
    from .mechanisms import show as show_mechanism

    if name is None:
        _list(json)
        return
    base = name.split("[")[0].split("(")[0].strip()
    if base in mechanisms.registry():
        mechanism = mechanisms.mechanism(base).card
        if json:
            o.dump(card_dict(mechanism))
        else:
            show_mechanism(mechanism)
        return
    if base in attacks.registry():
        _print(attacks.registry()[base].as_dict(), json)
        return
    word = None if base in metrics.registry() else glossary.define(name)
    if word is not None:
        if json:
            o.dump({"word": word[0], "means": word[1]})
        else:
            typer.echo(f"{word[0]}: {word[1]}")
        return
    _print(as_dict(metrics.metric(name).card), json)


def _print(content: dict[str, Any], json: bool) -> None:
    if json:
        o.dump(content)
        return
    parameters = content.pop("parameters", {})
    for key, value in content.items():
        typer.echo(f"{key + ':':<12}{value}")
    for name, meaning in parameters.items():
        typer.echo(f"  {name}: {meaning}")


def _list(json: bool) -> None:
    """Everything that can be explained."""
    from .. import attacks, mechanisms, metrics
    from ..report import glossary

    cards = [each.card for each in metrics.registry().values()]
    if json:
        played = [each.as_dict() for each in attacks.registry().values()]
        o.dump({"metrics": [as_dict(card) for card in cards], "attacks": played, "words": glossary.WORDS})
        return
    headings = ("metric", "about", "better", "asks")
    grid = o.grid(*headings, words=headings)
    grid.columns[0].no_wrap = True
    for card in cards:
        grid.add_row(card.name, card.about, card.better, card.question)
    o.console().print(grid)
    typer.echo(f"\nMechanisms: {', '.join(mechanisms.registry())}.")
    typer.echo(f"Attacks: {', '.join(attacks.registry())}.")
    typer.echo(f"Terms: {', '.join(glossary.WORDS)}.")


def as_dict(card: Card) -> dict[str, object]:
    """A card as plain data."""
    from ..core.metric import spell_number, written

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
