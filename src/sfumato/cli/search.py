"""Find the generalization of least loss that meets every requirement, with proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import _options as o


@o.reads
def run(
    input: o.Input,
    roles: o.RolesFile,
    require: o.Require = None,
    minimise: Annotated[
        str,
        typer.Option(
            metavar="LOSS",
            help="What to make as small as possible: loss (the mean of ARX's Loss), loss_geometric, iloss, granularity, "
            "discernibility, average_class_size, height, non_uniform_entropy, -mutual_information(COLUMN), or a sum such as "
            "`0.5*loss + 0.1*height`.",
        ),
    ] = "loss",
    suppression: Annotated[
        float,
        typer.Option(metavar="SHARE", help="The largest share of the rows that may be left out, such as 0.05."),
    ] = 0.0,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="Stop then, with the best so far and a bound.")
    ] = None,
    max_checks: Annotated[
        int | None,
        typer.Option(metavar="NODES", min=0, help="Stop after so many nodes: the same result on every machine."),
    ] = None,
    population: Annotated[
        Path | None, typer.Option(help="A table of the population, for requirements such as k_map.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write the release, verified, to this .csv or .parquet file.")
    ] = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Find the levels of least loss that meet every requirement.

    Every quasi-identifier is generalized to one level of its hierarchy in the roles file (0: as it is; the highest: *), and
    rows of classes that miss a requirement are left out up to --suppression. The answer is proved where it says so: no other
    choice of levels has a smaller loss. Where the lattice is too large for that, or a limit stops the search, it is the best
    found, with a bound on how much less another could have. Ctrl-C ends the search the same way. With --suppression, a
    requirement that compares a class with the rest of the table (such as t_closeness) is not proved either: which classes to
    leave out is decided by a rule, and another choice might lose less.
    """
    from ..core.errors import InputError
    from ..core.roles import Roles
    from ..publishing import publish
    from ..search.full_domain import optimal_generalization

    wanted = o.requirements(require)
    if not wanted:
        raise InputError(
            "Nothing is required, so nothing need be generalized; add for example --require 'k_anonymity >= 5'."
        )
    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{out}: a release is written as .csv or .parquet.")
    named = Roles.read(roles)
    table = reading.open(input, quiet=json)
    people = None if population is None else reading.open(population, quiet=True)
    with o.progress(f"searching {input}") as bar:

        def watch(checked: int, best: float | None, bound: float) -> None:
            share = 0.0 if best is None or best == 0 or bound <= 0 else min(bound / best, 1.0)
            reached = "none yet" if best is None else f"{best:.4g}"
            bar(share, f"{checked:,} nodes checked, best {reached}, none below {bound:.4g}")

        found = optimal_generalization(
            table,
            named,
            require=wanted,
            minimise=minimise,
            suppression=suppression,
            time_limit=time_limit,
            max_checks=max_checks,
            population=people,
            watch=watch,
            to_release=out is not None,
        )
        if out is not None:
            publish(found.release(table, named), named, wanted, out)
    if json:
        result: dict[str, Any] = {
            "status": found.status,
            "levels": found.levels,
            "minimise": found.minimise,
            "objective": found.loss,
            "bound": found.bound,
            "gap": found.gap,
            "loss": found.loss_arithmetic,
            "loss_geometric": found.loss_geometric,
            "suppressed": found.suppressed,
            "rows": found.rows,
            "nodes": found.nodes,
            "checked": found.checked,
            "seconds": found.seconds,
            "stopped": found.stopped,
            "why": found.why,
            "requirements": [str(requirement) for requirement in wanted],
            "release": None if out is None else str(out),
        }
        o.dump(result)
        return
    show(found)
    if out is not None:
        typer.echo(f"{out}: {found.rows - found.suppressed:,} rows, written and verified.")


def show(found: Any) -> None:
    """The node as a table, and what is known of it."""
    from rich.table import Table as Grid

    from ..core.words import percent

    grid = Grid("quasi-identifier", "level", "of", "which is", box=None, pad_edge=False)
    for ladder in found.problem.lattice.ladders:
        level = found.levels[ladder.name]
        labels = len(ladder.labels[level])
        kind = "as it is" if level == 0 else "*" if level == ladder.height else f"{labels:,} labels"
        grid.add_row(ladder.name, str(level), str(ladder.height), kind)
    o.console().print(grid)
    share = percent(found.suppressed / found.rows)
    typer.echo(f"{found.minimise}: {found.loss:.6g}; {found.suppressed:,} of {found.rows:,} rows ({share}) left out.")
    if found.status == "optimal":
        typer.echo(f"Proved: no node of the {found.nodes:,} in the lattice has less ({found.checked:,} were checked).")
    elif found.status == "rule":
        typer.echo(
            f"The best found of the {found.nodes:,} nodes in the lattice ({found.checked:,} were checked); not proved: {found.why}. "
            f"None has less than {found.bound:.6g}."
        )
    else:
        why = {"time": "The time is up", "checks": "The nodes are used up", "interrupt": "Interrupted"}
        typer.echo(
            f"{why.get(str(found.stopped), 'The lattice is too large to prove it')}: the best of {found.checked:,} nodes checked, "
            f"of {found.nodes:,}. None has less than {found.bound:.6g}."
        )
