"""Explain a metric, a mechanism, an attack or a term of the reports."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import _options as o
from .completion import names

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
    from ..report.explanation import card_dict
    from .mechanisms import card_dict as mechanism_dict
    from .mechanisms import show as show_mechanism

    if name is None:
        _list(json)
        return
    base = name.split("[")[0].split("(")[0].strip()
    if base in mechanisms.registry():
        mechanism = mechanisms.mechanism(base).card
        if json:
            o.dump(mechanism_dict(mechanism))
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
    _print(card_dict(metrics.metric(name).card), json)


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
    from ..report.explanation import card_dict

    cards = [each.card for each in metrics.registry().values()]
    if json:
        played = [each.as_dict() for each in attacks.registry().values()]
        o.dump({"metrics": [card_dict(card) for card in cards], "attacks": played, "words": glossary.WORDS})
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
