"""Explain a metric, a mechanism, an attack or a term of the reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o
from .completion import names

if TYPE_CHECKING:
    from ..core.metric import Card


def run(
    metric: Annotated[
        str | None,
        typer.Argument(
            help="A metric's name, or a word such as knee or prosecutor; without one, all are listed.",
            autocompletion=names,
        ),
    ] = None,
    json: o.Json = False,
) -> None:
    """Explain a metric: what it asks, how to read it, when it misleads, where it was published. Or a word of the reports."""
    from .. import attacks, metrics
    from ..report import glossary

    if metric is None:
        cards = [found.card for found in metrics.registry().values()]
        if json:
            played = [each.as_dict() for each in attacks.registry().values()]
            o.dump({"metrics": [as_dict(card) for card in cards], "attacks": played, "words": glossary.WORDS})
            return
        from rich.table import Table as Grid

        grid = Grid(box=None, padding=(0, 2, 0, 0))
        for heading in ("metric", "about", "better", "asks"):
            grid.add_column(heading, no_wrap=heading == "metric")
        for card in cards:
            grid.add_row(card.name, card.about, card.better, card.question)
        o.console().print(grid)
        typer.echo(f"\nAttacks: {', '.join(attacks.registry())}.")
        typer.echo(f"\nWords that can be explained, too: {', '.join(glossary.WORDS)}.")
        return
    if metric in attacks.registry():
        _explain_attack(attacks.attack(metric).as_dict(), json)
        return
    word = None if metric.split("[")[0].split("(")[0].strip() in metrics.registry() else glossary.define(metric)
    if word is not None:
        if json:
            o.dump({"word": word[0], "means": word[1]})
        else:
            typer.echo(f"{word[0]}: {word[1]}")
        return
    card = metrics.metric(metric).card
    if json:
        o.dump(as_dict(card))
        return
    for key, value in as_dict(card).items():
        typer.echo(f"{key + ':':<12}{value}")


def _explain_attack(card: dict[str, Any], json: bool) -> None:
    if json:
        o.dump(card)
        return
    parameters = card.pop("parameters")
    for key, value in card.items():
        typer.echo(f"{key + ':':<12}{value}")
    for name, meaning in parameters.items():
        typer.echo(f"  {name}: {meaning}")


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
        "source": card.source,
    }
