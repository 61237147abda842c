"""The best cut points of one ordered column: `sfumato search --cut COLUMN`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..core.metric import Requirement
    from ..core.roles import Roles
    from ..core.table import Table
    from ..search.additive import Additive
    from ..search.cuts import Cuts


def search_cuts(
    table: Table,
    roles: Roles,
    column: str,
    *,
    require: list[Requirement],
    minimise: str | None,
    max_ranges: int | None,
    at: list[str] | None,
    levels: str | None,
    save: Path | None,
    json: bool,
) -> None:
    """Find the cut points, save them as a hierarchy, and print them."""
    from ..core.errors import InputError
    from ..search.cuts import optimal_cuts

    aim, sensitive = _aim(minimise or "-mutual_information")
    nested = _nested(levels)
    if nested and max_ranges is not None:
        raise InputError("--levels starts with the largest number of ranges; leave out --max-ranges.")
    most = nested[0] if nested else max_ranges
    if save is not None and not save.parent.is_dir():
        raise InputError(f"{save}: the folder does not exist; make it first.")
    with o.progress(f"cut points of {column}") as bar:
        cuts = optimal_cuts(
            table,
            roles,
            column,
            objective=aim,
            require=require,
            max_ranges=most,
            levels=_at(at),
            sensitive=sensitive,
            progress=lambda share: bar(share, ""),
        )
        merged = [cuts]
        for fewer in nested[1:]:
            merged.append(merged[-1].coarser(fewer))
        if save is not None:
            cuts.hierarchy(nested[1:]).write(save)
    if json:
        content = {"input": table.name, **_content(cuts), "at": _at(at), "saved": None if save is None else str(save)}
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
    _show(cuts, merged[1:], most)
    if save is not None:
        typer.echo(f'Saved: {save}. In the roles file, under [hierarchies]: {_key(column)} = "{save.name}"')


def _aim(text: str) -> tuple[Additive, str | None]:
    """What to optimise, and the sensitive column of -mutual_information(COLUMN)."""
    from ..core.errors import InputError
    from ..search.additive import objective

    name, sensitive = text, None
    if parts := re.fullmatch(r"-\s*(mutual_information)(?:\((.+)\))?", text.strip()):
        name, sensitive = parts.groups()
    aim = objective(name)
    if text == name and aim.better == "higher":
        raise InputError(f"{name} is better higher; write --minimise -{name}.")
    return aim, sensitive


def _nested(text: str | None) -> list[int]:
    """The most ranges at each level, from fine to coarse."""
    from ..core.errors import InputError

    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    counts = [int(part) for part in parts if part.isdecimal()]
    if len(counts) < len(parts) or 0 in counts or counts != sorted(set(counts), reverse=True):
        raise InputError(
            f"--levels {text}: give the largest number of ranges at each level, from fine to coarse, such as 8,4,2."
        )
    return counts


def _at(texts: list[str] | None) -> dict[str, int]:
    """The levels at which other columns are held."""
    from ..core.errors import InputError

    held: dict[str, int] = {}
    for text in texts or []:
        name, _, level = text.rpartition("=")
        if not name.strip() or not level.strip().isdecimal():
            raise InputError(f"--at {text}: write column=level, such as sex=0.")
        if name.strip() in held:
            raise InputError(f"--at {text}: this column already has a level; give it one.")
        held[name.strip()] = int(level)
    return held


def _content(cuts: Cuts) -> dict[str, Any]:
    requirements = {}
    for requirement in cuts.require:
        name, card = str(requirement), requirement.metric.card
        values = [*cuts.reached[name], *([cuts.missing_reached[name]] if cuts.missing else [])]
        worst = min(values) if card.better == "higher" else max(values)
        requirements[name] = {
            "met": requirement.holds(worst),
            "value": worst,
            "per_range": cuts.reached[name],
            "missing": cuts.missing_reached.get(name),
        }
    return {
        "column": cuts.column,
        "cuts": cuts.cuts,
        "objective": cuts.objective,
        "measure": cuts.aim.name,
        "better": cuts.aim.better,
        "unit": cuts.aim.unit,
        "exactness": cuts.exactness,
        "ranges": cuts.ranges,
        "labels": cuts.labels,
        "rows": cuts.rows,
        "missing_rows": cuts.missing,
        "requirements": requirements,
        "information": cuts.information,
        "information_loss": cuts.information_loss,
        "checked": cuts.checked,
        "feasible": cuts.feasible,
    }


def _show(cuts: Cuts, merged: list[Cuts], most: int | None) -> None:
    """The ranges as a table, what was reached, and how it is used."""
    from rich.table import Table as Grid

    from ..core.words import percent

    aim, out = cuts.aim, o.console()
    what = "largest" if aim.better == "higher" else "smallest"
    which = "of all partitions" + ("" if most is None else f" into at most {most:,}")
    out.print(
        f"{cuts.column} in {cuts.ranges:,} range{'s' * (cuts.ranges != 1)}: {aim.name} {_number(cuts.objective)} {aim.unit}, "
        f"the {what} {which}{' that meet everything' if cuts.reached else ''}",
        style="bold",
    )
    grid = Grid(box=None, padding=(0, 2, 0, 0))
    grid.add_column("range", overflow="fold")
    for heading in ("rows", *cuts.reached):
        grid.add_column(heading, justify="right")
    for i, label in enumerate(cuts.labels):
        grid.add_row(label, f"{cuts.rows[i]:,}", *(_number(values[i]) for values in cuts.reached.values()))
    if cuts.missing:
        grid.add_row("(missing)", f"{cuts.missing:,}", *map(_number, cuts.missing_reached.values()))
    out.print(grid)
    if cuts.information_loss is not None:
        out.print(
            f"Unchanged, the quasi-identifiers tell {_number(cuts.information or 0)} bits; {percent(cuts.information_loss)} of "
            "that is lost."
        )
    out.print(
        f"Exact, by dynamic programming over all partitions: {cuts.checked:,} ranges were checked, and "
        f"{cuts.feasible:,} meet everything."
    )
    for level in merged:
        out.print(
            f"Merged into {level.ranges:,}: {', '.join(level.labels)}; {aim.name} {_number(level.objective)} {aim.unit}"
        )
    if cuts.cuts and not any(isinstance(cut, str) for cut in cuts.cuts):
        levels = [level.cuts for level in (cuts, *merged) if level.cuts]
        points = levels[0] if len(levels) == 1 else levels
        out.print(f"In a roles file, under [hierarchies]: {_key(cuts.column)} = {{ cuts = {points} }}")


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def _key(column: str) -> str:
    """A column's name as TOML takes it."""
    bare = column.isascii() and column.replace("-", "").replace("_", "").isalnum()
    return column if bare else '"' + column.replace("\\", "\\\\").replace('"', '\\"') + '"'
