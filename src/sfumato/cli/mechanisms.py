"""List the mechanisms, or show one with its parameters."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o
from .completion import mechanism_names

if TYPE_CHECKING:
    from ..core.mechanism import MechanismCard

EXAMPLES = ("sfumato mechanisms", "sfumato mechanisms mondrian")


def run(
    name: Annotated[
        str | None,
        typer.Argument(help="A mechanism.", show_default="all of them", autocompletion=mechanism_names),
    ] = None,
    json: o.Json = False,
) -> None:
    """Without NAME, prints one line each. With NAME, prints what it promises, against whom, at what cost, and its parameters."""
    from ..mechanisms import mechanism, registry

    if name is not None:
        card = mechanism(name).card
        if json:
            o.dump(card_dict(card))
        else:
            show(card)
        return
    cards = [each.card for each in registry().values()]
    if json:
        o.dump({"mechanisms": [card_dict(card) for card in cards]})
        return
    width = max(len(card.name) for card in cards)
    for card in cards:
        typer.echo(f"{card.name:<{width}}  {card.title}")
    typer.echo("\n`sfumato mechanisms NAME` shows one with its parameters.")


def card_dict(card: MechanismCard) -> dict[str, Any]:
    """A card as plain data."""
    return dataclasses.asdict(dataclasses.replace(card, offer=None))


def show(card: MechanismCard) -> None:
    """A mechanism's card."""
    from ..core.mechanism import DRAWS

    typer.echo(f"{card.name}: {card.title}")
    for key in ("promise", "against", "cost", "source"):
        typer.echo(f"  {key + ':':<10}{getattr(card, key)}")
    typer.echo(f"  {'chance:':<10}{DRAWS[card.chance]}")
    for parameter, meaning in card.parameters.items():
        typer.echo(f"  --set {parameter}=...  {meaning}")
