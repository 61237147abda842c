"""List the generalizations that no other beats on both risk and utility."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..search.frontier import Frontier, Node, Policy

_LINES = 40
"""Nodes of a frontier that are listed at most."""


@o.reads
def run(
    input: o.Input,
    roles: o.RolesFile,
    risk: Annotated[str, typer.Option(metavar="METRIC", help="The privacy metric of the risk axis.")] = "marketer_risk",
    utility: Annotated[
        str,
        typer.Option(metavar="LOSS", help="A utility metric, or a loss such as loss or '-mutual_information(salary)'."),
    ] = "loss",
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME: COLUMN=LEVEL, ...'",
            help="A fixed policy to compare, such as 'HIPAA: age=2, zip=3'; columns not named stay as they are. Repeatable.",
        ),
    ] = None,
    require: o.Require = None,
    suppression: Annotated[
        float,
        typer.Option(help="The share of the rows that may be left out to meet the requirements, 0 to 1."),
    ] = 0.0,
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Stop after so many seconds with what was found.")
    ] = None,
    max_checks: Annotated[
        int | None, typer.Option(min=0, help="Stop after so many nodes with what was found; the same on every machine.")
    ] = None,
    population: Annotated[
        Path | None, typer.Option(help="A table of the population, for metrics that look at it.")
    ] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw the frontier: one HTML file without network.")] = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Every full-domain generalization that no other beats on both axes (Xia et al. 2015), settled where the lattice allows it.

    Fixed policies are measured too: whether each is on the frontier, and if not, which generalizations beat it and by how much.
    A lattice that is too large for the limits gives the frontier of what was seen, and says so. Exits 1 if nothing meets the
    requirements.
    """
    from ..core.errors import InputError
    from ..core.roles import Roles
    from ..search.frontier import policy_frontier

    wanted = o.requirements(require)
    policies = _policies(policy)
    if figure is not None and figure.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{figure}: the figure is a page; name it .html.")
    if figure is not None and not figure.parent.is_dir():
        raise InputError(f"{figure}: the folder does not exist; make it first.")
    named = Roles.read(roles)
    table = reading.open(input, quiet=json)
    with o.progress(f"frontier {input}") as bar:
        found = policy_frontier(
            table,
            named,
            risk=risk,
            utility=utility,
            require=wanted,
            suppression=suppression,
            policies=policies,
            time_limit=time_limit,
            max_checks=max_checks,
            population=None if population is None else reading.open(population, quiet=json),
            progress=lambda share: bar(share, ""),
        )
    if figure is not None:
        from ..report.frontier import write

        write(found, named, figure, table=str(input))
    if json:
        o.dump({"input": str(input), **found.to_dict(), "figure": None if figure is None else str(figure)})
        return
    _show(found)
    if figure is not None:
        typer.echo(f"Figure: {figure}")


def _policies(texts: list[str] | None) -> dict[str, dict[str, int]]:
    """Policies by name, each a level by column."""
    from ..core.errors import InputError

    found: dict[str, dict[str, int]] = {}
    for text in texts or []:
        name, colon, rest = text.partition(":")
        name = name.strip()
        if not colon or not name:
            raise InputError(f"--policy {text}: write it like 'HIPAA: age=2, zip=3', a name and levels by column.")
        if name in found:
            raise InputError(f"--policy {text}: there is already a policy {name!r}.")
        levels: dict[str, int] = {}
        for part in filter(None, (part.strip() for part in rest.split(","))):
            column, _, level = part.rpartition("=")
            column = column.strip()
            if not column or not level.strip().isdecimal():
                raise InputError(f"--policy {text}: write column=level, such as age=2, with 0 for a column as it is.")
            if column in levels:
                raise InputError(f"--policy {text}: column {column!r} has two levels; give it one.")
            levels[column] = int(level)
        found[name] = levels
    return found


def _show(found: Frontier) -> None:
    from rich.table import Table as Grid

    out = o.console()
    count = sum(1 + len(node.same) for node in found.nodes)
    sure = (
        f"no other of the {found.lattice:,} generalizations beats any of them"
        if found.status == "exact"
        else f"no other of the {found.lattice:,} beats any of them, as far as that is known: {found.why}"
        if found.status == "rule"
        else f"of {found.checked:,} that were measured; the search of {found.lattice:,} was stopped, so some may be missing"
    )
    out.print(f"{count:,} generalization{'s' * (count != 1)} on the frontier, {sure}", style="bold")
    grid = Grid(box=None, padding=(0, 2, 0, 0))
    for name in found.nodes[0].levels:
        grid.add_column(name, justify="right", overflow="fold")
    for axis in (found.risk, found.utility):
        grid.add_column(f"{axis.name}\n({axis.better} is better)", justify="right")
    for heading in ("suppressed", "classes"):
        grid.add_column(heading, justify="right")
    grid.add_column("")
    listed = _some(found)
    for i in listed:
        node = found.nodes[i]
        marks = ["knee"] if i == found.knee else []
        marks += [policy.name for policy in found.policies if policy.on_frontier and _stands(policy, node)]
        marks += [f"{len(node.same):,} more like it"] if node.same else []
        grid.add_row(*map(str, node.levels.values()), *_line(node), ", ".join(marks))
    out.print(grid)
    if len(listed) < len(found.nodes):
        out.print(f"{len(found.nodes) - len(listed):,} between these are in --json.")
    for policy in found.policies:
        out.print(_told(policy, found))


def _some(found: Frontier) -> list[int]:
    """The nodes to list: all, or evenly chosen ones with the ends and the knee."""
    last = len(found.nodes) - 1
    if last < _LINES:
        return list(range(last + 1))
    chosen = {round(i * last / (_LINES - 1)) for i in range(_LINES)}
    return sorted(chosen | ({found.knee} if found.knee is not None else set()))


def _line(node: Node) -> list[str]:
    return [_number(node.risk), _number(node.utility), f"{node.suppressed:,}", f"{node.classes:,}"]


def _stands(policy: Policy, node: Node) -> bool:
    return policy.node.levels in (node.levels, *node.same)


def _told(policy: Policy, found: Frontier) -> str:
    """A policy in a sentence or two."""
    axes = f"{found.risk.name} {_number(policy.node.risk)}, {found.utility.name} {_number(policy.node.utility)}"
    text = f"Policy {policy.name}: {axes}"
    if policy.missed:
        text += f"; it misses {' and '.join(map(str, policy.missed))}"
    if policy.on_frontier:
        return f"{text}; on the frontier."
    if not policy.beaten_by:
        return f"{text}; no generalization on the frontier beats it on both axes."
    most = max(policy.beaten_by, key=lambda b: b.risk)
    gains = [
        f"{found.risk.name} better by {_number(most.risk)}",
        f"{found.utility.name} better by {_number(most.utility)}",
    ]
    many = len(policy.beaten_by)
    levels = ", ".join(f"{name} {level}" for name, level in most.node.levels.items())
    return f"{text}; beaten by {many:,} of the frontier, for least risk by {levels}: {' and '.join(gains)}."


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
