"""Find the best cut points of an ordered column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..search.additive import Additive
    from ..search.cuts import Cuts


@o.reads
def run(
    input: o.Input,
    roles: o.RolesFile,
    column: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="The quasi-identifier to cut: numbers, dates, or an order in the roles."),
    ],
    maximise: Annotated[
        str | None, typer.Option(metavar="OBJECTIVE", help="mutual_information; what is taken if none is named.")
    ] = None,
    minimise: Annotated[
        str | None,
        typer.Option(metavar="OBJECTIVE", help="loss, granularity, iloss (of the column) or discernibility."),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="TEXT",
            help="A requirement that every class of every range meets, for example 'k_anonymity >= 5'. May be repeated.",
        ),
    ] = None,
    max_ranges: Annotated[int | None, typer.Option(min=1, help="The most ranges; any number if not said.")] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=LEVEL",
            help="Hold another quasi-identifier at a level of its hierarchy, 0 as it is; those not named are suppressed. Repeatable.",
        ),
    ] = None,
    sensitive: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What the mutual information is about, if several are sensitive."),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Nested levels, such as 8,4,2: at most 8 ranges, those merged into at most 4, those into 2, each in the best way.",
        ),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Save the ranges as a hierarchy file for [hierarchies].")] = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """The best cut points of a number, a date or another ordered column, under any requirements on classes.

    All partitions of its distinct values into ranges are considered (by dynamic programming), and the best one in which every
    range meets every requirement is given; of equally good ones that with the fewest ranges, then with the earliest cuts.
    Missing values stay a class of their own. The answer names values of the table: the cuts.
    """
    from ..core.errors import InputError
    from ..core.roles import Roles
    from ..search.cuts import optimal_cuts

    aim = _aim(maximise, minimise)
    wanted = o.requirements(require)
    nested = _nested(levels)
    if nested and max_ranges is not None:
        raise InputError("--levels begins with the most ranges there may be; leave --max-ranges out.")
    most = nested[0] if nested else max_ranges
    if save is not None and not save.parent.is_dir():
        raise InputError(f"{save}: the folder does not exist; make it first.")
    named = Roles.read(roles)
    table = reading.open(input, quiet=json)
    with o.progress(f"cuts {input}") as bar:
        found = optimal_cuts(
            table,
            named,
            column,
            objective=aim,
            require=wanted,
            max_ranges=most,
            levels=_at(at),
            sensitive=sensitive,
            progress=lambda share: bar(share, ""),
        )
        merged = [found]
        for fewer in nested[1:]:
            merged.append(merged[-1].coarser(fewer))
        if save is not None:
            found.hierarchy(nested[1:]).write(save)
    if json:
        content = {"input": str(input), **_content(found), "at": _at(at), "saved": None if save is None else str(save)}
        if nested:
            content["levels"] = [
                {
                    "most": fewer,
                    **{key: _content(level)[key] for key in ("cuts", "objective", "ranges", "labels", "rows")},
                }
                for fewer, level in zip(nested, merged, strict=True)
            ]
        o.dump(content)
        return
    _show(found, merged[1:], most)
    if save is not None:
        typer.echo(f'Saved: {save}. In the roles file, under [hierarchies]: {_key(column)} = "{save.name}"')


def _aim(maximise: str | None, minimise: str | None) -> Additive:
    from ..core.errors import InputError
    from ..search.additive import objective

    if maximise is not None and minimise is not None:
        raise InputError("--maximise and --minimise are two objectives; give one of them.")
    aim = objective(maximise or minimise or "mutual_information")
    if minimise is not None and aim.better == "higher":
        raise InputError(f"{aim.name} is better higher; write --maximise {aim.name}.")
    if maximise is not None and aim.better == "lower":
        raise InputError(f"{aim.name} is better lower; write --minimise {aim.name}.")
    return aim


def _nested(text: str | None) -> list[int]:
    """The most ranges at each level, from fine to coarse."""
    from ..core.errors import InputError

    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    found = [int(part) for part in parts if part.isdecimal()]
    if len(found) < len(parts) or 0 in found or found != sorted(set(found), reverse=True):
        raise InputError(f"--levels {text}: give the most ranges of each level from fine to coarse, such as 8,4,2.")
    return found


def _at(texts: list[str] | None) -> dict[str, int]:
    """The levels at which other columns are held."""
    from ..core.errors import InputError

    found: dict[str, int] = {}
    for text in texts or []:
        name, _, level = text.rpartition("=")
        if not name.strip() or not level.strip().isdecimal():
            raise InputError(f"--at {text}: write column=level, such as sex=0.")
        if name.strip() in found:
            raise InputError(f"--at {text}: this column already has a level; give it one.")
        found[name.strip()] = int(level)
    return found


def _content(found: Cuts) -> dict[str, Any]:
    requirements = {}
    for requirement in found.require:
        name, card = str(requirement), requirement.metric.card
        values = [*found.reached[name], *([found.missing_reached[name]] if found.missing else [])]
        worst = min(values) if card.better == "higher" else max(values)
        requirements[name] = {
            "met": requirement.holds(worst),
            "value": worst,
            "per_range": found.reached[name],
            "missing": found.missing_reached.get(name),
        }
    return {
        "column": found.column,
        "cuts": found.cuts,
        "objective": found.objective,
        "measure": found.aim.name,
        "better": found.aim.better,
        "unit": found.aim.unit,
        "exactness": found.exactness,
        "ranges": found.ranges,
        "labels": found.labels,
        "rows": found.rows,
        "missing_rows": found.missing,
        "requirements": requirements,
        "information": found.information,
        "information_loss": found.information_loss,
        "checked": found.checked,
        "feasible": found.feasible,
    }


def _show(found: Cuts, merged: list[Cuts], most: int | None) -> None:
    """The ranges as a table, what was reached, and how it is used."""
    from rich.table import Table as Grid

    from ..core.words import percent

    aim, out = found.aim, o.console()
    what = "largest" if aim.better == "higher" else "smallest"
    which = "of all partitions" + ("" if most is None else f" into at most {most:,}")
    out.print(
        f"{found.column} in {found.ranges:,} range{'s' * (found.ranges != 1)}: {aim.name} {_number(found.objective)} {aim.unit}, "
        f"the {what} {which}{' that meet everything' if found.reached else ''}",
        style="bold",
    )
    grid = Grid(box=None, padding=(0, 2, 0, 0))
    grid.add_column("range", overflow="fold")
    for heading in ("rows", *found.reached):
        grid.add_column(heading, justify="right")
    for i, label in enumerate(found.labels):
        grid.add_row(label, f"{found.rows[i]:,}", *(_number(values[i]) for values in found.reached.values()))
    if found.missing:
        grid.add_row("(missing)", f"{found.missing:,}", *map(_number, found.missing_reached.values()))
    out.print(grid)
    if found.information_loss is not None:
        out.print(
            f"The quasi-identifiers as they are tell {_number(found.information or 0)} bits; {percent(found.information_loss)} of "
            "that is gone."
        )
    out.print(
        f"Exact, by dynamic programming over all partitions: of the ranges that had to be looked at ({found.checked:,}), "
        f"{found.feasible:,} meet everything."
    )
    for level in merged:
        out.print(
            f"Merged into {level.ranges:,}: {', '.join(level.labels)}; {aim.name} {_number(level.objective)} {aim.unit}"
        )
    if found.cuts and not any(isinstance(cut, str) for cut in found.cuts):
        levels = [level.cuts for level in (found, *merged) if level.cuts]
        cuts = levels[0] if len(levels) == 1 else levels
        out.print(f"In a roles file, under [hierarchies]: {_key(found.column)} = {{ cuts = {cuts} }}")


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def _key(column: str) -> str:
    """A column's name as TOML takes it."""
    bare = column.isascii() and column.replace("-", "").replace("_", "").isalnum()
    return column if bare else '"' + column.replace("\\", "\\\\").replace('"', '\\"') + '"'
