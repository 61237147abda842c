"""List what was published about the same people, what it cost, and what it tells together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as o

EXAMPLES = (
    "sfumato register town.sqlite --epsilon 2",
    "sfumato register town.sqlite --json",
)


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The register. A new file begins one.")],
    epsilon: Annotated[
        float | None,
        typer.Option(min=0, help="The epsilon that all releases with differential privacy may cost together."),
    ] = None,
    json: o.Json = False,
) -> None:
    """A register holds no data: of each release its checksum, columns, requirements, waivers and epsilon, and where its files lie.

    `sanitize`, `study` and `advise` enter a release with --register. They play the earlier releases against it and refuse one that
    costs more than is left. `--require 'm_invariance >= 2'` then compares with the last release.
    """
    from ..mechanisms.differential_privacy.budget import spell
    from ..publishing.register import Register

    register = Register(file, epsilon=epsilon)
    entries, total, spent = register.entries, register.total, register.spent
    pairs = register.pairs()
    if json:
        o.dump(
            {
                "register": str(file),
                "epsilon": None if total is None else float(total),
                "spent": float(spent),
                "releases": [entry.to_dict() for entry in entries],
                "together": [{"of": number, "with": each.number, "sentence": each.sentence} for number, each in pairs],
            }
        )
        return
    for entry in entries:
        typer.echo(entry.sentence)
    for number, each in pairs:
        typer.echo(f"Release {number}. {each.sentence}")
    left = "no total is set (--epsilon)" if total is None else f"{spell(total - spent)} of {spell(total)} is left"
    typer.echo(f"{len(entries)} release{'' if len(entries) == 1 else 's'}; epsilon spent: {spell(spent)}; {left}.")
    if spent and any(not entry.private for entry in entries):
        typer.echo(
            "Some releases have no differential privacy: epsilon then bounds what the others add, not what all tell together."
        )
