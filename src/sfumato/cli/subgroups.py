"""Check whether a release treats small groups worse than everybody else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..core.release import Release
    from ..core.roles import Roles
    from ..inspect.subgroups import Group, Subgroups


@o.reads
def run(
    original: o.OriginalFile,
    roles: o.RolesFile,
    release: Annotated[
        Path | None, typer.Argument(metavar="[RELEASE]", help="The published file; or give --candidate.")
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(help="A mechanism with parameters, such as 'mondrian k=5', made here and looked at."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of the original whose groups are looked at; unasked, quasi-identifiers that are numbers or dates (by "
            "quarters) or have at most 50 values. Repeatable.",
        ),
    ] = None,
    pair: Annotated[
        str,
        typer.Option(
            help="How rows belong together: position or key:COLUMN. Unasked, by class, where these leave no choice who is in which."
        ),
    ] = "none",
    smallest: Annotated[int, typer.Option(min=1, help="Groups of fewer people are not named.")] = 10,
    reveal: Annotated[bool, typer.Option("--reveal", help="Name the smaller groups too.")] = False,
    most: Annotated[int, typer.Option(min=1, help="So many of the worst treated groups are shown.")] = 10,
    good: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Also mine this field, and say what users lose of it in each group."),
    ] = None,
    miners: Annotated[str, typer.Option(help="With --good: quick, reference, paper, or names with commas.")] = "quick",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Candidates and miners are drawn by it.")] = 0,
    companion: o.Companions = None,
    joined_by: o.JoinedBy = None,
    perturbed: o.Perturbed = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Hold every group of the original against everybody: rows left out, loss, class size and risk, and what mining loses.

    Loss is ILoss, the share of its domain that a value leaves open (distance from the true value where values were perturbed); a row
    left out counts as suppressed throughout. All figures are exact for this release; beside a group's difference stands what a
    random choice of as many people would show. Groups of fewer than --smallest people are not named unless --reveal is given.
    """
    from ..core.class_people import people_note
    from ..core.errors import InputError
    from ..core.roles import Roles
    from ..inspect.subgroups import subgroups

    if (release is None) == (candidate is None):
        raise InputError("Give the release to be looked at, or --candidate with a mechanism; one of them.")
    named = Roles.read(roles)
    if release is not None:
        made = o.released(
            release,
            named,
            reading,
            original=original,
            companion=companion,
            joined_by=joined_by,
            perturbed=perturbed,
            quiet=json,
            pairing=pair,
        )
    else:
        made = _made(original, str(candidate), named, reading, seed, json)
    scenario = None
    if good is not None:
        from ..mining.scenario import Good, Scenario

        chosen = [name.strip() for name in miners.split(",")]
        scenario = Scenario(good=Good(field=good, miners=chosen, transfer=False), seed=seed)
    found = subgroups(made, named, by=by, smallest=smallest, reveal=reveal, most=most, scenario=scenario)
    note = people_note(made, named)
    if json:
        o.dump({**found.to_dict(), "people_note": note})
        return
    if note is not None:
        o.console().print(f"Note: {note}")
    _show(found)


def _made(original: Path, text: str, roles: Roles, reading: o.Reading, seed: int, quiet: bool) -> Release:
    import numpy as np

    from ..study.study import Candidate

    mechanism = Candidate.of(text).mechanism
    assert mechanism is not None
    return mechanism(reading.open(original, quiet=quiet), roles, np.random.default_rng(seed))


def _show(found: Subgroups) -> None:
    from rich.table import Table as Grid

    out = o.console()
    for sentence in found.sentences:
        out.print(sentence)
    mined = any(group.mined is not None for group in found.groups)
    if found.worst:
        grid = Grid(box=None, padding=(0, 2, 0, 0))
        headings = ["worst treated", found.nouns[1], "left out", "loss", "above everybody", "by chance up to", "risk"]
        for heading in [*headings, *(["utility lost by mining"] if mined else [])]:
            grid.add_column(heading, justify="left" if heading == "worst treated" else "right")
        for group in found.worst:
            grid.add_row(*_cells(group), *([_lost(group)] if mined else []))
        out.print()
        out.print(grid)
    tied = [
        f"{size.column} {size.rank_correlation:+.2f}" for size in found.by_size if size.rank_correlation is not None
    ]
    if tied:
        out.print()
        out.print(
            f"Rank correlation of size and loss over groups (-1: the smaller always loses more): {', '.join(tied)}."
        )
    unnamed = sum(group.name is None for group in found.groups)
    if unnamed:
        o.tell(
            f"Not named, since they have fewer than {found.smallest} {found.nouns[1]}: {unnamed:,} of the groups; --reveal names them."
        )
    for note in found.notes:
        o.tell(note)


def _cells(group: Group) -> list[str]:
    from ..core.words import percent

    name = f"{group.column}, not named" if group.name is None else f"{group.column} = {group.name}"
    return [
        name,
        f"{group.people:,}",
        percent(group.suppressed / group.people),
        f"{group.loss:.3f}",
        f"+{group.difference:.3f}{' !' if group.worse else ''}",
        f"{group.chance[1]:.3f}",
        "" if group.risk is None else f"{group.risk:.3f}",
    ]


def _lost(group: Group) -> str:
    if group.mined is None:
        return ""
    low, high = group.mined.interval
    return f"{100 * group.mined.decline:.3g}% ({100 * low:.3g} to {100 * high:.3g})"
