"""See what each class tells about a sensitive column."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _options as o

if TYPE_CHECKING:
    from ...inspect.leakage import Leakage
    from ...inspect.priors import Prior

EXAMPLES = (
    "sfumato inspect leakage release.csv --roles roles.toml",
    "sfumato inspect leakage release.csv --roles roles.toml --knows age --margins 1 --subsets",
)


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    knows: o.Knows = None,
    sensitive: o.Sensitive = None,
    prior: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="A table that the adversary already has. It gives the prior."),
    ] = None,
    margins: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The adversary already knows the margins of this order (1: each column; 2: each pair), and no more.",
        ),
    ] = None,
    subsets: Annotated[
        bool,
        typer.Option("--subsets", help="Also measure the release with each subset of these columns alone (Fig. 4)."),
    ] = False,
    distances: Annotated[bool, typer.Option("--distances", help="Also compare the distances of Fig. 1.")] = False,
    most: o.Listed = 10,
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """For each class: how far an adversary's belief moves, how much their certainty changes, and which values are ruled out.

    The method is that of Afifi et al. (2018). Before seeing the release, the adversary knows the overall distribution, unless --prior or
    --margins says otherwise. Of a person they know every quasi-identifier, unless --knows names columns. Classes are listed by number, never by value.
    """
    from ...core.errors import InputError
    from ...core.roles import Roles
    from ...inspect import leakage as leakages

    if prior is not None and margins is not None:
        raise InputError("--prior and --margins are two priors; give only one.")
    named = Roles.read(roles)
    made = reading.released(release, named)
    given = tuple(knows or named.quasi)
    about = sensitive or next(iter(named.sensitive), None)
    if about is None or not given:
        raise InputError(
            f"{named.source} names no sensitive column or no quasi-identifier; name them with --sensitive and --knows."
        )
    belief: Prior = leakages.Overall()
    if prior is not None:
        belief = leakages.Joint(reading.beside(prior, named))
    elif margins is not None:
        belief = leakages.Margins(margins)
    result = leakages.leakage(made, named, given=given, about=about, prior=belief)
    content: dict[str, Any] = {
        "release": str(release),
        "given": list(given),
        "about": about,
        "classes": len(result),
        "distribution_leakage": result.worst[0],
        "entropy_leakage": result.worst[1],
        "vanished_pairs": result.vanished_pairs,
        "values_in_one_class": result.values_in_one_class,
        "most_exposed": result.table(most),
    }
    if subsets:
        content["choices"] = [asdict(choice) for choice in leakages.qid_choices(made, named, given, about=about)]
    if distances:
        each = leakages.distances(made, named, about=about, given=given)
        content["distances"] = {name: {"worst": float(v.max()), "mean": float(v.mean())} for name, v in each.items()}
    if json:
        o.dump(content)
        return
    _show(result, content)


def _show(result: Leakage, content: dict[str, Any]) -> None:
    out = o.console()
    out.print(f"What {', '.join(result.given)} tell about {result.about}: {len(result):,} classes", style="bold")
    out.print(
        f"Distribution leakage at most {content['distribution_leakage']:.4g}, entropy leakage at most {content['entropy_leakage']:.4g} bits. "
        f"A class rules out a value {content['vanished_pairs']:,} times; {content['values_in_one_class']:,} values occur in one class only."
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
    first = {name.replace("_", " "): value for name, value in rows[0].items()} if rows else {}
    words = [heading for heading, value in first.items() if isinstance(value, str | tuple)]
    grid = o.grid(*first, words=words, title=f"\n{title}")
    for row in rows:
        grid.add_row(
            *(
                ", ".join(v) if isinstance(v, tuple) else f"{v:.4g}" if isinstance(v, float) else f"{v}"
                for v in row.values()
            )
        )
    o.console().print(grid)
