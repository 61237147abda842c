"""Put l-diversity and t-closeness on one scale, and check a release against both."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from . import _options as o


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    diversity: Annotated[float | None, typer.Option("--l", min=1, help="The entropy l-diversity wanted.")] = None,
    closeness: Annotated[
        float | None, typer.Option("--t", min=0, help="The t wanted, in bits: t-closeness in Kullback-Leibler form.")
    ] = None,
    about: Annotated[str | None, typer.Option(metavar="COLUMN", help="The sensitive column; else the first.")] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(min=0, help="Also: the surprise of a database under a count with this much noise (eq. 17)."),
    ] = None,
    companion: o.Companions = None,
    joined_by: o.JoinedBy = None,
    perturbed: o.Perturbed = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Set l and t with open eyes: the largest l there can be, the l that a t stands for, and both conditions side by side.

    The necessary conditions look at the average over the classes, the sufficient ones at every class; a release can meet the first
    and miss the second. Exits 1 if a limit is given and a class misses it.
    """
    from ..core.roles import Roles
    from ..inspect.conditions import bits, query_surprise

    named = Roles.read(roles)
    made = o.released(
        release, named, reading, companion=companion, joined_by=joined_by, perturbed=perturbed, quiet=json
    )
    found = bits(made, named, diversity=diversity, closeness=closeness, about=about)
    surprise = None if epsilon is None else query_surprise(epsilon)
    if json:
        o.dump({"release": str(release), "met": found.met, **asdict(found), "query_surprise": surprise})
    else:
        typer.echo(
            f"{found.column}: H(W) = {found.entropy:.4g} bits, so no release can be more than {found.l_max:.4g}-diverse by entropy."
        )
        for condition in found.conditions:
            typer.echo(
                f"{'✓' if condition.met else '✗'} {condition.kind}, eq. {condition.equation}: {condition.sentence}"
            )
        for sentence in found.advice:
            typer.echo(sentence)
        if surprise is not None:
            typer.echo(
                f"A count answered with geometric noise at epsilon = {epsilon:g} tells {surprise:.4g} bits about which neighbour was asked."
            )
    if not found.met:
        raise typer.Exit(1)
