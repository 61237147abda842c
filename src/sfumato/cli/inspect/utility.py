"""See what the columns of a release tell about one another, in bits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _options as o

if TYPE_CHECKING:
    from ...core.counts import Counts
    from ...core.table import Table

EXAMPLES = (
    "sfumato inspect utility release.csv --roles roles.toml --original people.csv",
    "sfumato inspect utility release.csv --roles roles.toml --user people.csv=3 --user release.csv",
)


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    original: o.Original = None,
    user: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE[=WEIGHT]",
            help="A table that a user already has, and the weight of this user (1 unless given). Repeatable.",
        ),
    ] = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Measure utility by entropy (Askari et al. 2012, eq. 8-20): for each column U_1 (alone) to U_max (given all others), in bits.

    The utility of the release is their sum, weighted as the roles file says. With --original, the loss follows (eq. 15). Each --user is
    somebody who already has a table; the release is then worth what it adds (eq. 17-19), on average over all users (eq. 20).
    """
    from ...channel.utility import over_users
    from ...core.errors import InputError
    from ...core.roles import Roles
    from ...inspect import entropy_utility

    named = Roles.read(roles)
    columns = (*named.quasi, *named.sensitive)
    if not columns:
        raise InputError(
            f"{named.source} names no quasi-identifier and no sensitive column, so there is nothing to measure."
        )
    named.check((table := reading.beside(release, named)).columns, where=str(release))
    counts = table.count(columns)
    if not counts.rows:
        raise InputError(f"{release} has no rows.")
    chains = {name: entropy_utility.chain(counts, name) for name in columns}
    content: dict[str, Any] = {
        "release": str(release),
        "columns": {name: {"u_1": steps[0], "u_max": steps[-1], "steps": steps} for name, steps in chains.items()},
        "utility": entropy_utility.utility_for(counts, (), named.weights),
    }
    if original is not None:
        before = reading.open(original, named)
        named.check(before.columns, where=str(original))
        content["original_utility"] = entropy_utility.utility_for(before.count(columns), (), named.weights)
        content["degradation"] = content["original_utility"] - content["utility"]
    if user:
        weights = _users(user)
        held = {name: _held(reading.beside(Path(name), named), columns) for name in weights}
        users = {name: entropy_utility.utility_for(counts, [what], named.weights) for name, what in held.items()}
        content["users"], content["user_weights"] = users, weights
        content["population_of_users"] = over_users(list(users.values()), list(weights.values()))
    if json:
        o.dump(content)
        return
    _show(content)


def _users(texts: list[str]) -> dict[str, float]:
    """The tables of the users with their weights; users who have the same table are added up.

    A file whose own name contains = is taken as it is if it exists.
    """
    from ...core.errors import InputError

    weights: dict[str, float] = {}
    for text in texts:
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
                    f"--user {text}: no such file, nor FILE=WEIGHT; the weight is a number of at least 0, such as 3."
                )
        weights[file] = weights.get(file, 0.0) + weight
    return weights


def _held(table: Table, columns: tuple[str, ...]) -> Counts:
    """What a user's table says of the columns that it shares with the release."""
    from ...core.errors import InputError

    shared = [name for name in columns if name in table.columns]
    if not shared:
        raise InputError(f"{table.name}: it has none of the quasi-identifiers and sensitive columns of the release.")
    return table.count(shared)


def _show(content: dict[str, Any]) -> None:
    grid = o.grid("column", "U_1 (bits)", "U_max (bits)")
    for name, bits in content["columns"].items():
        grid.add_row(name, f"{bits['u_1']:.4g}", f"{bits['u_max']:.4g}")
    out = o.console()
    out.print(grid)
    out.print(f"Utility of the release: {content['utility']:.4g} bits per column (eq. 14).")
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
