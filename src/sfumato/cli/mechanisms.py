"""List the mechanisms, or show one with its parameters."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from . import _options as o
from .completion import mechanism_names


def run(
    name: Annotated[
        str | None, typer.Argument(help="A mechanism; all of them unless one is named.", autocompletion=mechanism_names)
    ] = None,
    json: o.Json = False,
) -> None:
    """List the sanitizers: what each promises, against whom, at what cost, and its parameters."""
    from ..core.mechanism import DRAWS
    from ..mechanisms import mechanism, registry

    cards = [each.card for each in (registry().values() if name is None else [mechanism(name)])]
    if json:
        each = [dataclasses.asdict(dataclasses.replace(card, offer=None)) for card in cards]
        o.dump({"mechanisms": each} if name is None else each[0])
        return
    for card in cards:
        typer.echo(f"{card.name}: {card.title}")
        for key in ("promise", "against", "cost", "source"):
            typer.echo(f"  {key + ':':<10}{getattr(card, key)}")
        typer.echo(f"  {'chance:':<10}{DRAWS[card.chance]}")
        for parameter, meaning in card.parameters.items():
            typer.echo(f"  --set {parameter}=...  {meaning}")
