"""Play the adversary against a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o
from .completion import attack_names, mechanism_names

if TYPE_CHECKING:
    from ..core.attack import Attack
    from ..core.outcome import Outcome
    from ..core.release import Release
    from ..core.roles import Roles


EXAMPLES = (
    "sfumato attack release.csv --roles roles.toml --original people.csv --attack homogeneity",
    "sfumato attack release.csv --roles roles.toml --original people.csv --attack 'singling_out[attacks=200]'",
)


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    original: o.Original = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[KEY=VALUE,...](COLUMN)",
            help="An attack, such as homogeneity, background[k=2] or inference(salary). `sfumato explain` lists them. Repeatable.",
            show_default="all that can be played",
            autocompletion=attack_names,
        ),
    ] = None,
    pair: o.Pair = "none",
    related: o.Related = None,
    external: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="linkage: a table that the adversary has about the same people."),
    ] = None,
    identity: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that names people in the original and in other tables."),
    ] = None,
    knows: o.Knows = None,
    control: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="People who are not in the release, with the columns of the original."),
    ] = None,
    population: o.Population = None,
    previous: Annotated[
        Path | None, typer.Option(metavar="FILE", help="composition: an earlier release about some of the same people.")
    ] = None,
    previous_roles: Annotated[
        Path | None, typer.Option(metavar="ROLES", help="composition: the roles of that release, if they differ.")
    ] = None,
    previous_original: Annotated[
        Path | None, typer.Option(metavar="TABLE", help="composition: the table that it was made from, if it differs.")
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            help="background: 'Bob: age=34, zip=47677', 'Bob is not flu', 'if Al is flu then Bob is flu'. Repeatable."
        ),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="minimality: the mechanism that made the release.", autocompletion=mechanism_names
        ),
    ] = None,
    settings: o.Settings = None,
    require: o.Require = None,
    seed: o.FixedSeed = 0,
    reveal: o.Reveal = False,
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Says for each attack what the adversary knew, how hard it was, and how many people fell.

    Beside each success stands the success of an adversary who never saw the release. With --control, the same attack is also played on
    people who are not in the release. Whatever exceeds these two, the release gives away.
    """
    from ..attacks import attack as read_attack
    from ..attacks import registry
    from ..core.release import Release
    from ..core.roles import Roles
    from ..publishing.class_people import people_note

    named = [read_attack(text) for text in attack or []]
    own = Roles.read(roles)

    def table(path: Path | None) -> Any:
        return None if path is None else reading.beside(path, own)

    everybody = table(population)
    target = reading.released(
        release,
        own,
        original=original,
        pairing=pair,
        population=everybody,
        related=tuple(table(path) for path in related or []),
    )
    earlier, other_roles = None, own
    if previous is not None:
        other_roles = own if previous_roles is None else Roles.read(previous_roles)
        made_from = reading.open(previous_original, other_roles) if previous_original else target.original
        earlier = Release(
            table=reading.release(previous, other_roles, made_from),
            original=made_from,
            pairing=pair,
        )
    inputs = {
        "external": table(external),
        "identity": identity,
        "knows": knows,
        "control": table(control),
        "population": everybody,
        "previous": earlier,
        "previous_roles": other_roles,
        "facts": tuple(fact or ()),
        "mechanism": _mechanism(mechanism, settings, require),
        "seed": seed,
        "reveal": reveal,
    }
    given = {"original": target.original, "sensitive": own.sensitive or None, **inputs}
    possible = [one for one in registry().values() if all(given.get(need) is not None for need in one.card.needs)]
    outcomes, skipped = _play(named or possible, inputs, target, own, fail=bool(named))
    note = people_note(target, own)
    if json:
        o.dump(
            {
                "release": str(release),
                "attacks": [outcome.as_dict() for outcome in outcomes],
                "worst": worst_columns(outcomes),
                "skipped": skipped,
                "people_note": note,
            }
        )
        return
    if note is not None:
        o.console().print(f"Note: {note}\n")
    show(outcomes, skipped)


def _mechanism(name: str | None, settings: list[str] | None, require: list[str] | None) -> Any:
    from ..core.errors import InputError
    from ..mechanisms import mechanism

    if name is None:
        if settings or require:
            raise InputError(
                "--set and --require are about the mechanism of minimality; name it with --mechanism. What an attack takes stands in "
                "brackets behind its name: --attack 'background[k=2]'."
            )
        return None
    return mechanism(name).of(o.settings(settings), tuple(o.requirements(require)))


def _play(
    attacks: Sequence[Attack[Any]], inputs: Mapping[str, Any], release: Release, roles: Roles, *, fail: bool
) -> tuple[list[Outcome], dict[str, str]]:
    """Each attack, on each sensitive column in turn where it is on one; and why some could not be played.

    With `fail`, an attack that cannot be played on any column stops everything.
    """
    from ..core.errors import InputError, Unavailable

    outcomes: list[Outcome] = []
    skipped: dict[str, str] = {}
    with o.progress("attack") as bar:
        for i, attack in enumerate(attacks):
            bar(i / len(attacks), attack.card.name)
            free = [name for name in attack.takes if name not in attack.settings]
            given = {name: inputs[name] for name in free if inputs.get(name) is not None}
            columns, played = attack.columns(roles), len(outcomes)
            for column in columns:
                turn = attack if column is None else attack.on(column)
                try:
                    outcomes.append(turn(release, roles, **given))
                except (Unavailable, InputError) as why:
                    if fail and column == columns[-1] and len(outcomes) == played:
                        raise
                    skipped[attack.card.name + (f" of {column}" if len(columns) > 1 else "")] = str(why)
    return outcomes, skipped


def worst_columns(outcomes: Sequence[Outcome]) -> dict[str, str | None]:
    """For each attack that was played on several columns, the one that counts."""
    from ..core.outcome import worst

    by_name: dict[str, list[Outcome]] = {}
    for one in outcomes:
        by_name.setdefault(one.name, []).append(one)
    several = {name: same for name, same in by_name.items() if len({one.column for one in same}) > 1}
    return {name: worst(same).column for name, same in several.items()}


def show(outcomes: Sequence[Outcome], skipped: Mapping[str, str]) -> None:
    """Each attack with a sentence, and all of them in a table."""
    from ..core.outcome import MARKS

    out = o.console()
    worst = worst_columns(outcomes)
    titles = [_first(one.title) + (f" of {one.column}" if one.name in worst else "") for one in outcomes]
    headings = ("attack", "attacked", "fell", "success", "never saw it", "control", "", "")
    grid = o.grid(*headings, words=("attack", ""))
    for title, one in zip(titles, outcomes, strict=True):
        grid.add_row(
            title, f"{one.attacked:,}", f"{one.fell:,.0f}" if float(one.fell).is_integer() else f"{one.fell:,.1f}",
            str(one.success), "-" if one.baseline is None else str(one.baseline),
            "-" if one.control is None else str(one.control), one.exactness, f"{MARKS[one.standing.verdict]} {one.verdict}",
        )  # fmt: skip
    out.print(grid)
    for title, one in zip(titles, outcomes, strict=True):
        out.print(f"\n{title}. {one.sentence}")
        out.print(f"  Known: {one.knew}. Effort: {one.effort}.")
        if one.details.revealed is not None:
            out.print(f"  {one.details.revealed}")
    for name, column in worst.items():
        many = len({one.column for one in outcomes if one.name == name})
        out.print(f"\n{_first(name)} was played on {many} sensitive columns in turn; the worst, {column}, counts.")
    for name, why in skipped.items():
        out.print(f"\nNot played: {name}. {why}")


def _first(text: str) -> str:
    """With a capital letter at the beginning."""
    return text[:1].upper() + text[1:]
