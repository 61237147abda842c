"""Check whether a release treats small groups worse than everybody else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import _options as o

if TYPE_CHECKING:
    from ...inspect.subgroups import Subgroup, Subgroups

EXAMPLES = (
    "sfumato inspect subgroups release.csv --original people.csv --roles roles.toml",
    "sfumato inspect subgroups --candidate 'mondrian k=10' --original people.csv --roles roles.toml --by sex",
)


@o.reads
def run(
    original: o.NeededOriginal,
    roles: o.RolesFile,
    release: Annotated[
        Path | None, typer.Argument(metavar="[RELEASE]", help="The published file, unless --candidate makes one.")
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(
            metavar="MECHANISM", help="Make a release with this mechanism, such as 'mondrian k=5', and look at it."
        ),
    ] = None,
    by: o.By = None,
    pair: o.Pair = "none",
    smallest: Annotated[int, typer.Option(min=1, help="Do not name groups of fewer people.")] = 10,
    reveal: o.Reveal = False,
    most: o.Listed = 10,
    target: o.Target = None,
    miners: o.Miners = "quick",
    seed: o.FixedSeed = 0,
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Compare every group of the original with everybody: rows left out, loss, class size, risk, and with --target what miners lose.

    Without --by, groups are formed by each quasi-identifier that has at most 50 values, and by quarters of numbers and dates. Loss is
    ILoss; a row that was left out counts as fully suppressed, and a perturbed value by its distance from the truth. Beside each
    difference stands what a random group of the same size would show. Without --pair, rows are paired by class where that is certain. Groups
    of fewer than --smallest people are named only with --reveal.
    """
    import numpy as np

    from ...core.errors import InputError
    from ...core.roles import Roles
    from ...inspect.subgroups import subgroups
    from ...publishing.class_people import people_note

    if (release is None) == (candidate is None):
        raise InputError("Give either a release or --candidate with a mechanism.")
    named = Roles.read(roles)
    if release is not None:
        made = reading.released(release, named, original=original, pairing=pair)
    else:
        made = o.mechanism(str(candidate))(reading.open(original, named), named, np.random.default_rng(seed))
    scenario = None
    if target is not None:
        from ...mining.scenario import Good, Scenario

        chosen = [name.strip() for name in miners.split(",")]
        scenario = Scenario(good=Good(field=target, miners=chosen, transfer=False), seed=seed)
    result = subgroups(made, named, by=by, smallest=smallest, reveal=reveal, most=most, scenario=scenario)
    note = people_note(made, named)
    if json:
        o.dump({**result.to_dict(), "people_note": note})
        return
    if note is not None:
        o.console().print(f"Note: {note}")
    _show(result)


def _show(result: Subgroups) -> None:
    out = o.console()
    for sentence in result.sentences:
        out.print(sentence)
    mined = any(group.mined is not None for group in result.groups)
    if result.worst:
        headings = ["worst treated", result.nouns[1], "left out", "loss", "above average", "by chance up to", "risk"]
        grid = o.grid(*headings, *(["utility lost by mining"] if mined else []))
        for group in result.worst:
            grid.add_row(*_cells(group), *([_lost(group)] if mined else []))
        out.print()
        out.print(grid)
    tied = [
        f"{size.column} {size.rank_correlation:+.2f}" for size in result.by_size if size.rank_correlation is not None
    ]
    if tied:
        out.print()
        out.print(
            f"Rank correlation of size and loss over groups (-1: smaller groups always lose more): {', '.join(tied)}."
        )
    unnamed = sum(group.name is None for group in result.groups)
    if unnamed:
        o.tell(
            f"{unnamed:,} groups are not named because they have fewer than {result.smallest} {result.nouns[1]}; --reveal names them."
        )
    for note in result.notes:
        o.tell(note)


def _cells(group: Subgroup) -> list[str]:
    from ...core.words import percent

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


def _lost(group: Subgroup) -> str:
    if group.mined is None:
        return ""
    low, high = group.mined.interval
    return f"{100 * group.mined.decline:.3g}% ({100 * low:.3g} to {100 * high:.3g})"
