"""See what each class tells about a sensitive column."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..inspect.leakage import Leakage
    from ..inspect.priors import Prior


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="What the adversary knows; the quasi-identifiers if not said. Repeatable."),
    ] = None,
    about: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="What is to be learned; else the first sensitive column.")
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(help="A table that the adversary already has: the prior is its distribution given the columns."),
    ] = None,
    margins: Annotated[
        int | None,
        typer.Option(
            min=1, help="The adversary already knows margins of this order (1: each column, 2: all pairs), no more."
        ),
    ] = None,
    choices: Annotated[
        bool, typer.Option("--choices", help="Compare every set of quasi-identifiers (Fig. 4).")
    ] = False,
    distances: Annotated[bool, typer.Option("--distances", help="Compare the distances of Fig. 1.")] = False,
    most: Annotated[int, typer.Option(min=1, help="How many classes to list, the most exposed first.")] = 10,
    companion: o.Companions = None,
    joined_by: o.JoinedBy = None,
    perturbed: o.Perturbed = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Leakage class by class: how far belief moves, how much certainty changes, which values vanish or stand in one class only.

    The prior is the overall distribution unless --prior or --margins says what else the adversary already knows. Classes are told
    by number, never by value.
    """
    from ..core.errors import InputError
    from ..core.roles import Roles
    from ..inspect import leakage as study

    if prior is not None and margins is not None:
        raise InputError("--prior and --margins are two priors; give one of them.")
    named = Roles.read(roles)
    made = o.released(
        release, named, reading, companion=companion, joined_by=joined_by, perturbed=perturbed, quiet=json
    )
    known = tuple(given or named.quasi)
    wanted = about or next(iter(named.sensitive), None)
    if wanted is None or not known:
        raise InputError(f"{named.source} names no sensitive column or no quasi-identifier; say --about and --given.")
    belief: Prior = study.Overall()
    if prior is not None:
        belief = study.Joint(reading.open(prior, quiet=json))
    elif margins is not None:
        belief = study.Margins(margins)
    found = study.leakage(made, named, given=known, about=wanted, prior=belief)
    content: dict[str, Any] = {
        "release": str(release),
        "given": list(known),
        "about": wanted,
        "classes": len(found),
        "distribution_leakage": found.worst[0],
        "entropy_leakage": found.worst[1],
        "vanished_pairs": found.vanished_pairs,
        "values_in_one_class": found.values_in_one_class,
        "most_exposed": found.table(most),
    }
    if choices:
        content["choices"] = [asdict(choice) for choice in study.qid_choices(made, named, known, about=wanted)]
    if distances:
        each = study.distances(made, named, about=wanted, given=known)
        content["distances"] = {name: {"worst": float(v.max()), "mean": float(v.mean())} for name, v in each.items()}
    if json:
        o.dump(content)
        return
    _show(found, content)


def _show(found: Leakage, content: dict[str, Any]) -> None:
    out = o.console()
    out.print(f"What {', '.join(found.given)} tell about {found.about}: {len(found):,} classes", style="bold")
    out.print(
        f"Distribution leakage at most {content['distribution_leakage']:.4g}, entropy leakage at most {content['entropy_leakage']:.4g} bits. "
        f"{content['vanished_pairs']:,} times a class rules out a value; {content['values_in_one_class']:,} values stand in one class only."
    )
    for key, title in (("most_exposed", "The most exposed classes"), ("choices", "Sets of quasi-identifiers")):
        if key in content:
            _table(title, content[key])
    if "distances" in content:
        _table(
            "Distances between class and table",
            [{"distance": name, **row} for name, row in content["distances"].items()],
        )


def _table(title: str, rows: list[dict[str, Any]]) -> None:
    from rich.table import Table as Grid

    grid = Grid(title=f"\n{title}", title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for name in rows[0] if rows else ():
        grid.add_column(name.replace("_", " "), justify="left" if isinstance(rows[0][name], str | tuple) else "right")
    for row in rows:
        grid.add_row(
            *(
                ", ".join(v) if isinstance(v, tuple) else f"{v:.4g}" if isinstance(v, float) else f"{v}"
                for v in row.values()
            )
        )
    o.console().print(grid)
