"""`sfumato mechanisms`: the sanitizers and what they promise."""

from __future__ import annotations

import dataclasses

import typer

from . import _options as o


def run(json: o.Json = False) -> None:
    """List the sanitizers: what each promises, against whom, at what cost, and its parameters."""
    from ..core.mechanism import DRAWS
    from ..mechanisms import registry

    cards = [found.card for found in registry().values()]
    if json:
        o.dump({"mechanisms": [dataclasses.asdict(card) for card in cards]})
        return
    for card in cards:
        typer.echo(f"{card.name}: {card.title}")
        for key in ("promise", "against", "cost", "source"):
            typer.echo(f"  {key + ':':<10}{getattr(card, key)}")
        typer.echo(f"  {'chance:':<10}{DRAWS[card.chance]}")
        for name, meaning in card.parameters.items():
            typer.echo(f"  --set {name}=...  {meaning}")
