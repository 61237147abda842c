"""Put l-diversity and t-closeness on one scale, and check a release against both."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from .. import _options as o

EXAMPLES = ("sfumato inspect conditions release.csv --roles roles.toml --epsilon 0.5",)


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    diversity: Annotated[float | None, typer.Option("--l", min=1, help="The least entropy l-diversity.")] = None,
    closeness: Annotated[
        float | None, typer.Option("--t", min=0, help="The largest t, in bits (t-closeness in Kullback-Leibler form).")
    ] = None,
    sensitive: o.Sensitive = None,
    epsilon: Annotated[
        float | None,
        typer.Option(min=0, help="Also report how much a count with this much noise tells (eq. 17)."),
    ] = None,
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Choose l and t knowingly: the largest possible l, the l that a given t amounts to, and both conditions side by side.

    The method is that of Bezzi (2010). The necessary conditions look at the average over all classes, the sufficient conditions at every
    class. A release can meet the first and miss the second. Exits 1 if a class misses a limit that you gave.
    """
    from ...core.roles import Roles
    from ...inspect.conditions import bits, query_surprise

    named = Roles.read(roles)
    made = reading.released(release, named)
    result = bits(made, named, diversity=diversity, closeness=closeness, about=sensitive)
    surprise = None if epsilon is None else query_surprise(epsilon)
    if json:
        o.dump({"release": str(release), "met": result.met, **asdict(result), "query_surprise": surprise})
    else:
        typer.echo(
            f"{result.column}: H(W) = {result.entropy:.4g} bits, so no release can have an entropy l-diversity above {result.l_max:.4g}."
        )
        for condition in result.conditions:
            typer.echo(
                f"{'✓' if condition.met else '✗'} {condition.kind}, eq. {condition.equation}: {condition.sentence}"
            )
        for sentence in result.advice:
            typer.echo(sentence)
        if surprise is not None:
            typer.echo(
                f"A count answered with geometric noise at epsilon = {epsilon:g} tells {surprise:.4g} bits about which of two neighbouring tables it came from."
            )
    if not result.met:
        raise typer.Exit(1)
