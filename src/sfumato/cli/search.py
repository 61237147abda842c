"""Find the generalization of least loss that meets every requirement, with proof."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.table_formats import WRITABLE, check_out
from . import _options as o
from .completion import metric_names

if TYPE_CHECKING:
    from ..core.roles import Roles
    from ..core.table import Table


EXAMPLES = (
    "sfumato search people.csv --roles roles.toml --require 'k_anonymity >= 10' --suppression 0.05",
    "sfumato search people.csv --roles roles.toml --cut age --require 'k_anonymity >= 50' --max-ranges 5 --minimise loss",
    "sfumato search people.csv --roles roles.toml --subsets --max-columns 2 --require 'k_anonymity >= 10'",
)
LOSSES = (
    "loss (the mean of ARX's Loss), loss_geometric, iloss, granularity, discernibility, average_class_size, height, "
    "non_uniform_entropy, -mutual_information(COLUMN), or a sum such as `0.5*loss + 0.1*height`"
)
CUT = "Cut points of one column (--cut)"
SUBSETS = "Every set of quasi-identifiers (--subsets)"


@o.reads
def run(
    input: o.Input,
    roles: o.RolesFile,
    require: o.Require = None,
    minimise: Annotated[
        str | None,
        typer.Option(
            metavar="LOSS",
            help=f"The loss to minimise: {LOSSES}.",
            show_default="loss; with --cut, -mutual_information",
        ),
    ] = None,
    suppression: o.Suppression = 0.0,
    time_limit: o.TimeLimit = None,
    max_checks: o.MaxChecks = None,
    population: o.Population = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"Also write the release, verified, to this {WRITABLE} file, or to the address of a PostgreSQL table or a Spark folder.",
        ),
    ] = None,
    cut: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Find the best ranges of this column: numbers, dates, or an order in the roles.",
            rich_help_panel=CUT,
        ),
    ] = None,
    max_ranges: Annotated[
        int | None,
        typer.Option(min=1, help="The largest number of ranges.", show_default="no limit", rich_help_panel=CUT),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=LEVEL",
            help="Keep another quasi-identifier at this level of its hierarchy (0: unchanged). The rest are suppressed. Repeatable.",
            rich_help_panel=CUT,
        ),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Nested levels, such as 8,4,2: at most 8 ranges, merged into at most 4, merged into at most 2.",
            rich_help_panel=CUT,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Save the ranges as a hierarchy file for [hierarchies].", rich_help_panel=CUT
        ),
    ] = None,
    subsets: Annotated[
        bool,
        typer.Option(
            "--subsets",
            help="Find the best release of every set of quasi-identifiers, and compare them.",
            rich_help_panel=SUBSETS,
        ),
    ] = False,
    quasi: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Choose among these columns. Repeatable.",
            show_default="every quasi-identifier",
            rich_help_panel=SUBSETS,
        ),
    ] = None,
    max_columns: Annotated[
        int | None,
        typer.Option(min=0, help="The largest set. Needed with more than 12 columns.", rich_help_panel=SUBSETS),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            help="A metric to measure on each best release. Repeatable.",
            show_default="risks and leakages",
            autocompletion=metric_names,
            rich_help_panel=SUBSETS,
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            metavar="LINES",
            min=1,
            help="How many sets to list, least loss first.",
            show_default="20",
            rich_help_panel=SUBSETS,
        ),
    ] = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """`search` finds the best generalization and proves it; `sanitize` runs any mechanism with the parameters that you choose.

    Every quasi-identifier is generalized to one level of its hierarchy in the roles file (0: unchanged; the highest: *). Rows of classes
    that miss a requirement are left out, up to --suppression. Where the answer says so, it is proved: no other choice of levels
    has a smaller loss. If the lattice is too large for that, or a limit or Ctrl-C stops the search, you get the best so far and a bound on how
    much better another could be. With --suppression, a requirement that compares a class with the rest of the table (such as
    t_closeness) cannot be proved either.

    With --cut, all partitions of one column into ranges are considered, and the best one that meets every requirement is found exactly.
    With --subsets, each set of quasi-identifiers gets its best release, the other columns left out (Afifi et al. 2018, Fig. 4). Exits 1 if
    the requirements cannot be met.
    """
    from ..core.errors import InputError
    from ..core.roles import Roles
    from .search_cuts import search_cuts
    from .search_subsets import search_subsets

    of_cuts = {"--max-ranges": max_ranges, "--at": at, "--levels": levels, "--save": save}
    of_subsets = {"--quasi": quasi, "--max-columns": max_columns, "--metric": metric, "--most": most}
    of_levels = {"--time-limit": time_limit, "--max-checks": max_checks, "--out": out}
    if cut is not None and subsets:
        raise InputError("--cut and --subsets are two searches; give only one.")
    if cut is not None:
        _refuse({**of_subsets, **of_levels, "--population": population, "--suppression": suppression or None}, "--cut")
    elif subsets:
        _refuse({**of_cuts, **of_levels}, "--subsets")
    else:
        _refuse({**of_cuts, **of_subsets}, "a search without --cut or --subsets")
    wanted = o.requirements(require)
    if not wanted and cut is None and not subsets:
        raise InputError(
            "Nothing is required, so nothing needs to be generalized; add for example --require 'k_anonymity >= 5'."
        )
    if out is not None:
        check_out(out)
    named = Roles.read(roles)
    table = reading.open(input, named)
    if out is not None:
        check_out(out, [name for name in table.columns if name in (*named.quasi, *named.sensitive, *named.insensitive)])
    everybody = None if population is None else reading.beside(population, named)
    if cut is not None:
        search_cuts(
            table, named, cut, require=wanted, minimise=minimise, max_ranges=max_ranges, at=at, levels=levels, save=save,
            json=json,
        )  # fmt: skip
    elif subsets:
        search_subsets(
            table, named, require=wanted, minimise=minimise, suppression=suppression, quasi=quasi, max_columns=max_columns,
            metrics=metric, population=everybody, most=most or 20, json=json,
        )  # fmt: skip
    else:
        _search_levels(
            table, named, out=out, json=json, require=wanted, minimise=minimise or "loss", suppression=suppression,
            time_limit=time_limit, max_checks=max_checks, population=everybody,
        )  # fmt: skip


def _refuse(options: dict[str, Any], mode: str) -> None:
    """Options that say nothing in this kind of search are refused."""
    from ..core.errors import InputError

    if names := [name for name, value in options.items() if value is not None]:
        raise InputError(f"{', '.join(names)} cannot be used with {mode}.")


def _search_levels(table: Table, roles: Roles, *, out: Path | None, json: bool, **problem: Any) -> None:
    """Find the levels, write the release if there is to be one, and print what was found."""
    from ..core.addresses import place_name
    from ..publishing import publish
    from ..search.full_domain import optimal_generalization

    with o.progress(f"searching {table.name}") as bar:

        def watch(checked: int, best: float | None, bound: float) -> None:
            share = 0.0 if best is None or best == 0 or bound <= 0 else min(bound / best, 1.0)
            reached = "none yet" if best is None else f"{best:.4g}"
            bar(share, f"{checked:,} nodes checked, best {reached}, none below {bound:.4g}")

        result = optimal_generalization(table, roles, **problem, watch=watch, to_release=out is not None)
        if out is not None:
            publish(result.release(table, roles), roles, problem["require"], out)
    if json:
        content: dict[str, Any] = {
            "status": result.status,
            "levels": result.levels,
            "minimise": result.minimise,
            "objective": result.loss,
            "bound": result.bound,
            "gap": result.gap,
            "loss": result.loss_arithmetic,
            "loss_geometric": result.loss_geometric,
            "suppressed": result.suppressed,
            "rows": result.rows,
            "nodes": result.nodes,
            "checked": result.checked,
            "seconds": result.seconds,
            "stopped": result.stopped,
            "why": result.why,
            "requirements": [str(requirement) for requirement in problem["require"]],
            "release": None if out is None else place_name(out),
        }
        o.dump(content)
        return
    show(result)
    if out is not None:
        typer.echo(f"{place_name(out)}: {result.rows - result.suppressed:,} rows, written and verified.")


def show(result: Any) -> None:
    """The node as a table, and what is known of it."""
    from rich.table import Table as Grid

    from ..core.words import percent

    grid = Grid("quasi-identifier", "level", "of", "which is", box=None, pad_edge=False)
    for ladder in result.problem.lattice.ladders:
        level = result.levels[ladder.name]
        labels = len(ladder.labels[level])
        kind = "as it is" if level == 0 else "*" if level == ladder.height else f"{labels:,} labels"
        grid.add_row(ladder.name, str(level), str(ladder.height), kind)
    o.console().print(grid)
    share = percent(result.suppressed / result.rows)
    typer.echo(
        f"{result.minimise}: {result.loss:.6g}; {result.suppressed:,} of {result.rows:,} rows ({share}) are left out."
    )
    if result.status == "optimal":
        typer.echo(
            f"Proved: no node of the {result.nodes:,} in the lattice has less ({result.checked:,} were checked)."
        )
    elif result.status == "rule":
        typer.echo(
            f"The best found of the {result.nodes:,} nodes in the lattice ({result.checked:,} were checked), without proof: {result.why}. "
            f"None has less than {result.bound:.6g}."
        )
    else:
        why = {"time": "The time is up", "checks": "The nodes are used up", "interrupt": "Interrupted"}
        typer.echo(
            f"{why.get(str(result.stopped), 'The lattice is too large to prove it')}: the best of {result.checked:,} nodes checked, "
            f"of {result.nodes:,}. None has less than {result.bound:.6g}."
        )
