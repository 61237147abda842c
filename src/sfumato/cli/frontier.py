"""List the generalizations that no other beats on both risk and utility."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..search.frontier import Frontier, Node, Policy

_LINES = 40
"""Nodes of a frontier that are listed at most."""


EXAMPLES = (
    "sfumato frontier people.csv --roles roles.toml --policy 'ours: age=1' --max-checks 200",
    "sfumato frontier people.csv --roles roles.toml --require 'k_anonymity >= 5' --suppression 0.1 --max-checks 200 --figure frontier.html",
)


@o.reads
def run(
    input: o.Input,
    roles: o.RolesFile,
    risk: o.Risk = "marketer_risk",
    utility: Annotated[
        str,
        typer.Option(
            metavar="METRIC", help="The utility metric, or a loss such as loss or '-mutual_information(salary)'."
        ),
    ] = "loss",
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME: COLUMN=LEVEL, ...'",
            help="A fixed policy to compare, such as 'HIPAA: age=2, zip=3'. Other columns stay unchanged. Repeatable.",
        ),
    ] = None,
    require: o.Require = None,
    suppression: o.Suppression = 0.0,
    time_limit: o.TimeLimit = None,
    max_checks: o.MaxChecks = None,
    population: o.Population = None,
    figure: o.Figure = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """A policy is one level per quasi-identifier (Xia et al. 2015). Within the limits, the frontier is complete.

    Fixed policies are measured too: whether each is on the frontier, and if not, which generalizations beat it and by how much. If the
    lattice is too large for the limits, you get the frontier of what was checked. Exits 1 if nothing meets the requirements.
    """
    from ..core.roles import Roles
    from ..search.frontier import policy_frontier

    wanted = o.requirements(require)
    policies = _policies(policy)
    o.check_figure(figure)
    named = Roles.read(roles)
    table = reading.open(input, named)
    with o.progress(f"frontier {input}") as bar:
        result = policy_frontier(
            table,
            named,
            risk=risk or "marketer_risk",
            utility=utility,
            require=wanted,
            suppression=suppression,
            policies=policies,
            time_limit=time_limit,
            max_checks=max_checks,
            population=None if population is None else reading.beside(population, named),
            progress=lambda share: bar(share, ""),
        )
    if figure is not None:
        from ..report.figure_pages import write_frontier

        write_frontier(result, named, figure, table=str(input))
    if json:
        o.dump({"input": str(input), **result.to_dict(), "figure": None if figure is None else str(figure)})
        return
    _show(result)
    if figure is not None:
        typer.echo(f"Figure: {figure}")


def _policies(texts: list[str] | None) -> dict[str, dict[str, int]]:
    """Policies by name, each a level by column."""
    from ..core.errors import InputError

    policies: dict[str, dict[str, int]] = {}
    for text in texts or []:
        name, colon, rest = text.partition(":")
        name = name.strip()
        if not colon or not name:
            raise InputError(f"--policy {text}: write it like 'HIPAA: age=2, zip=3', a name and levels by column.")
        if name in policies:
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
        policies[name] = levels
    return policies


def _show(result: Frontier) -> None:
    out = o.console()
    count = sum(1 + len(node.same) for node in result.nodes)
    sure = (
        f"no other of the {result.lattice:,} generalizations beats any of them"
        if result.status == "exact"
        else f"no other of the {result.lattice:,} beats any of them, as far as that is known: {result.why}"
        if result.status == "rule"
        else f"of {result.checked:,} that were measured; the search of {result.lattice:,} was stopped, so some may be missing"
    )
    out.print(f"{count:,} generalization{'s' * (count != 1)} on the frontier, {sure}", style="bold")
    axes = (f"{axis.name}\n({axis.better} is better)" for axis in (result.risk, result.utility))
    grid = o.grid(*result.nodes[0].levels, *axes, "suppressed", "classes", "", words=("",), fold=True)
    listed = _some(result)
    for i in listed:
        node = result.nodes[i]
        marks = ["knee"] if i == result.knee else []
        marks += [policy.name for policy in result.policies if policy.on_frontier and _stands(policy, node)]
        marks += [f"{len(node.same):,} more like it"] if node.same else []
        grid.add_row(*map(str, node.levels.values()), *_line(node), ", ".join(marks))
    out.print(grid)
    if len(listed) < len(result.nodes):
        out.print(f"{len(result.nodes) - len(listed):,} between these are in --json.")
    for policy in result.policies:
        out.print(_sentence(policy, result))


def _some(result: Frontier) -> list[int]:
    """The nodes to list: all, or evenly chosen ones with the ends and the knee."""
    last = len(result.nodes) - 1
    if last < _LINES:
        return list(range(last + 1))
    chosen = {round(i * last / (_LINES - 1)) for i in range(_LINES)}
    return sorted(chosen | ({result.knee} if result.knee is not None else set()))


def _line(node: Node) -> list[str]:
    return [_number(node.risk), _number(node.utility), f"{node.suppressed:,}", f"{node.classes:,}"]


def _stands(policy: Policy, node: Node) -> bool:
    return policy.node.levels in (node.levels, *node.same)


def _sentence(policy: Policy, result: Frontier) -> str:
    """A policy in a sentence or two."""
    axes = f"{result.risk.name} {_number(policy.node.risk)}, {result.utility.name} {_number(policy.node.utility)}"
    text = f"Policy {policy.name}: {axes}"
    if policy.missed:
        text += f"; it misses {' and '.join(map(str, policy.missed))}"
    if policy.on_frontier:
        return f"{text}; on the frontier."
    if not policy.beaten_by:
        return f"{text}; no generalization on the frontier beats it on both axes."
    most = max(policy.beaten_by, key=lambda b: b.risk)
    gains = [
        f"{result.risk.name} better by {_number(most.risk)}",
        f"{result.utility.name} better by {_number(most.utility)}",
    ]
    many = len(policy.beaten_by)
    levels = ", ".join(f"{name} {level}" for name, level in most.node.levels.items())
    return f"{text}; beaten by {many:,} of the frontier, for least risk by {levels}: {' and '.join(gains)}."


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
