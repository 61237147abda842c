"""See what the columns of a release tell about one another, in bits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..core.counts import Counts
    from ..core.table import Table


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    original: Annotated[Path | None, typer.Option(help="The original table, for what was lost (eq. 15).")] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE[=WEIGHT]",
            help="A table that a user already has: worth is then counted beyond it (eq. 17-19); after = how much this "
            "user counts among several, else 1 (eq. 20). Repeatable.",
        ),
    ] = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Utility by entropy: for each column U_1 (alone), U_2, ... up to U_max (given all others), in bits, and the owner's weighted sum.

    Each --known table is a user with that background; several are a population of users (eq. 20), who count alike unless
    weights are given: --known census.csv=3 --known survey.csv.
    """
    from ..core.errors import InputError
    from ..core.roles import Roles
    from ..inspect import entropy_utility as study

    named = Roles.read(roles)
    columns = (*named.quasi, *named.sensitive)
    if not columns:
        raise InputError(
            f"{named.source} names no quasi-identifier and no sensitive column, so there is nothing to weigh."
        )
    named.check((table := reading.open(release, quiet=json)).columns, where=str(release))
    counts = table.count(columns)
    if not counts.rows:
        raise InputError(f"{release} has no rows.")
    chains = {name: study.chain(counts, name) for name in columns}
    content: dict[str, Any] = {
        "release": str(release),
        "columns": {name: {"u_1": steps[0], "u_max": steps[-1], "steps": steps} for name, steps in chains.items()},
        "utility": study.utility_for(counts, (), named.weights),
    }
    if original is not None:
        before = reading.open(original, quiet=json)
        named.check(before.columns, where=str(original))
        content["original_utility"] = study.utility_for(before.count(columns), (), named.weights)
        content["degradation"] = content["original_utility"] - content["utility"]
    if known:
        weights = _users(known)
        held = {name: _held(reading.open(Path(name), quiet=json), columns) for name in weights}
        users = {name: study.utility_for(counts, [what], named.weights) for name, what in held.items()}
        content["users"], content["user_weights"] = users, weights
        content["population_of_users"] = study.over_users(list(users.values()), list(weights.values()))
    if json:
        o.dump(content)
        return
    _show(content)


def _users(known: list[str]) -> dict[str, float]:
    """The tables of the users and how much each user counts; of users who have the same table, together.

    A file whose own name has a = is taken as it is, if it is there.
    """
    from ..core.errors import InputError

    weights: dict[str, float] = {}
    for text in known:
        file, sign, after = text.rpartition("=")
        if not sign or Path(text).exists():
            file, weight = text, 1.0
        else:
            try:
                weight = float(after)
            except ValueError:
                weight = math.nan
            if not file or not 0 <= weight < math.inf:
                raise InputError(
                    f"--known {text}: no such file, nor FILE=WEIGHT; the weight is a number of at least 0, such as 3."
                )
        weights[file] = weights.get(file, 0.0) + weight
    return weights


def _held(table: Table, columns: tuple[str, ...]) -> Counts:
    """What a user's table says of the columns that it shares with the release."""
    from ..core.errors import InputError

    shared = [name for name in columns if name in table.columns]
    if not shared:
        raise InputError(f"{table.name}: none of the release's quasi-identifiers or sensitive columns is in it.")
    return table.count(shared)


def _show(content: dict[str, Any]) -> None:
    from rich.table import Table as Grid

    grid = Grid(box=None, padding=(0, 2, 0, 0))
    for heading in ("column", "U_1 (bits)", "U_max (bits)"):
        grid.add_column(heading, justify="left" if heading == "column" else "right")
    for name, found in content["columns"].items():
        grid.add_row(name, f"{found['u_1']:.4g}", f"{found['u_max']:.4g}")
    out = o.console()
    out.print(grid)
    out.print(f"Utility of the release: {content['utility']:.4g} bits a column (eq. 14).")
    if "degradation" in content:
        out.print(
            f"The original: {content['original_utility']:.4g} bits; degradation {content['degradation']:.4g} bits (eq. 15)."
        )
    weights = content.get("user_weights", {})
    for name, value in content.get("users", {}).items():
        weight = f" (weight {weights[name]:g})" if set(weights.values()) != {1.0} else ""
        out.print(f"To a user who has {name}{weight}: {value:.4g} bits (eq. 19).")
    if "population_of_users" in content:
        out.print(f"To these users on average: {content['population_of_users']:.4g} bits (eq. 20).")
