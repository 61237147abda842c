"""Play the adversary against a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..attacks.attack import Attack

ATTACKS = {
    "linkage": "look people up by their quasi-identifiers, in the original or in --external",
    "every-column": "classes split by what columns tell that go out as they are",
    "homogeneity": "classes in which everybody has the same sensitive value",
    "skewness": "classes in which a sensitive value is much likelier than overall",
    "similarity": "classes whose sensitive values all mean nearly the same",
    "background": "what facts about people add: --fact, or the worst --facts K of them",
    "membership": "who of --population is in the release",
    "composition": "what an earlier release (--previous) and this one tell together",
    "minimality": "what knowing the algorithm and its goal adds (--mechanism, --set)",
    "singling-out": "descriptions taken from the release that fit one person",
    "linkability": "two sources (--first, --second) joined through the release",
    "inference": "a sensitive column, or another --secret, told by the nearest released rows",
}
BY_COLUMN = {
    "homogeneity": "sensitive",
    "skewness": "sensitive",
    "similarity": "sensitive",
    "background": "sensitive",
    "composition": "sensitive",
    "minimality": "sensitive",
    "inference": "secret",
}
"""Attacks on one sensitive column, and the argument that names it: each column is taken in turn, and the worst counts."""


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    original: Annotated[Path | None, typer.Option(help="The original table: what is true, and who is who.")] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="An attack; all that can be played with what is given if none is named. Repeatable."
        ),
    ] = None,
    pair: Annotated[str | None, typer.Option(help="How rows belong together: position, or key:COLUMN.")] = None,
    perturbed: o.Perturbed = None,
    companion: o.Companions = None,
    joined_by: o.JoinedBy = None,
    related: Annotated[
        list[Path] | None, typer.Option(help="linkage: a table published along, about the same people. Repeatable.")
    ] = None,
    external: Annotated[Path | None, typer.Option(help="linkage: the adversary's table about the same people.")] = None,
    identity: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that names people in the original and in other tables."),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column that the adversary knows; all unless named. Repeatable."),
    ] = None,
    control: Annotated[
        Path | None, typer.Option(help="People who are not in the release, with the columns of the original.")
    ] = None,
    population: Annotated[Path | None, typer.Option(help="membership: a table of everybody.")] = None,
    previous: Annotated[
        Path | None, typer.Option(help="composition: an earlier release of (some of) the same people.")
    ] = None,
    previous_roles: Annotated[Path | None, typer.Option(help="composition: its roles, if they differ.")] = None,
    previous_original: Annotated[
        Path | None, typer.Option(help="composition: the table that it was made from, if it is another one.")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A sensitive column; each in turn unless named.")
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            help="background: 'Bob: age=34, zip=47677', 'Bob is not flu', 'if Al is flu then Bob is flu'. Repeatable."
        ),
    ] = None,
    facts: Annotated[int | None, typer.Option(min=1, help="background: so many facts, the worst there are.")] = None,
    mechanism: Annotated[str | None, typer.Option(help="minimality: the algorithm that made the release.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="minimality: a parameter of it. Repeatable.")
    ] = None,
    require: o.Require = None,
    first: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="linkability: one source. Repeatable.")
    ] = None,
    second: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="linkability: the other. Repeatable.")
    ] = None,
    secret: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="inference: what is to be found out; each sensitive column in turn unless named."
        ),
    ] = None,
    attacks: Annotated[
        int, typer.Option(min=1, help="Tries of the attacks that draw: singling-out, linkability, inference.")
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed for random draws.")] = 0,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show the values of exposed classes: your own eyes only.")
    ] = False,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Attack a release, and say what the adversary knew, how hard it was and who fell.

    Beside each success stands what an adversary does who never saw the release, and with --control what the same attack does to people
    who are not in it: what lies above that is given away of the people in the release.
    """
    from ..core.class_people import people_note
    from ..core.errors import InputError
    from ..core.release import Release
    from ..core.roles import Roles

    wanted = [name.strip().replace("_", "-") for name in attack or []]
    for name in wanted:
        if name not in ATTACKS:
            raise InputError(f"No attack {name!r}; there are {', '.join(ATTACKS)}.")
    named = Roles.read(roles)

    def table(path: Path | None) -> Any:
        return None if path is None else reading.open(path, quiet=json)

    outside, everybody = table(control), table(population)
    target = o.released(
        release,
        named,
        reading,
        original=original,
        companion=companion,
        joined_by=joined_by,
        perturbed=perturbed,
        quiet=json,
        pairing=pair or "none",
        population=everybody,
        related=tuple(table(path) for path in related or []),
    )
    before = target.original
    earlier, other_roles = None, named
    if previous is not None:
        other_roles = named if previous_roles is None else Roles.read(previous_roles)
        made_from = table(previous_original) or before
        earlier = Release(
            table=reading.release(previous, other_roles, made_from, quiet=json),
            original=made_from,
            pairing=pair or "none",
        )
    played: dict[str, Any] = {
        "linkage": {"external": table(external), "identity": identity, "known": known, "control": outside, "seed": seed},
        "every-column": {},
        "homogeneity": {"sensitive": sensitive, "control": outside},
        "skewness": {"sensitive": sensitive, "control": outside},
        "similarity": {"sensitive": sensitive, "control": outside},
        "background": {"sensitive": sensitive, "facts": tuple(fact or ()), "k": facts, "control": outside},
        "membership": {"population": everybody, "identity": identity},
        "composition": {
            "previous": earlier, "previous_roles": other_roles, "sensitive": sensitive, "identity": identity, "control": outside,
        },
        "minimality": {"sensitive": sensitive, "mechanism": _mechanism(mechanism, settings, require), "control": outside},
        "singling-out": {"columns": known, "attacks": attacks, "control": outside, "seed": seed},
        "linkability": {"first": first, "second": second, "attacks": attacks, "control": outside, "seed": seed},
        "inference": {"secret": secret, "known": known, "attacks": attacks, "control": outside, "seed": seed},
    }  # fmt: skip
    if before is not None and not (first or second):
        played["linkability"] |= _sources(named, before, target)
    asked = wanted or _possible(played, before, named)
    found, skipped = _play(asked, played, target, named, reveal, bool(wanted))
    note = people_note(target, named)
    if json:
        o.dump(
            {
                "release": str(release),
                "attacks": [as_json(one) for one in found],
                "worst": {name: column for name, (column, _) in worst(found).items()},
                "skipped": skipped,
                "people_note": note,
            }
        )
        return
    if note is not None:
        o.console().print(f"Note: {note}\n")
    show(found, skipped)


def _mechanism(name: str | None, settings: list[str] | None, require: list[str] | None) -> Any:
    from ..core.errors import InputError
    from ..mechanisms import mechanism

    if name is None:
        return None
    values = {}
    for setting in settings or []:
        key, sign, value = setting.partition("=")
        if not sign:
            raise InputError(f"--set {setting}: write key=value.")
        values[key.strip()] = value.strip()
    return mechanism(name).of(values, tuple(o.requirements(require)))


def _sources(roles: Any, original: Any, release: Any) -> dict[str, Any]:
    """Two sources that know about as much, as the study's documents take them; none where there are no two columns."""
    from ..core.errors import Unavailable
    from ..inspect.default_metrics import halves

    try:
        first, second = halves(roles, original, release.table.columns)
    except Unavailable:
        return {}
    return {"first": first, "second": second}


def _possible(played: dict[str, Any], original: Any, roles: Any) -> list[str]:
    """The attacks that have what they need."""
    names = [
        name for name in ATTACKS if name not in ("membership", "composition", "minimality", "linkability", "inference")
    ]
    if original is None:
        names = [name for name in names if name not in ("linkage", "every-column", "singling-out")]
    if played["membership"]["population"] is not None:
        names.append("membership")
    if played["composition"]["previous"] is not None:
        names.append("composition")
    if played["minimality"]["mechanism"] is not None:
        names.append("minimality")
    if played["linkability"]["first"] and played["linkability"]["second"]:
        names.append("linkability")
    if original is not None and (played["inference"]["secret"] or roles.sensitive):
        names.append("inference")
    if not roles.sensitive and not played["homogeneity"]["sensitive"]:
        names = [name for name in names if BY_COLUMN.get(name) != "sensitive"]
    return names


def _play(
    names: list[str], played: dict[str, Any], release: Any, roles: Any, reveal: bool, named: bool
) -> tuple[list[Attack], dict[str, str]]:
    """Each attack, on each sensitive column in turn where it attacks one; and why some could not be played."""
    import importlib
    from inspect import signature

    from ..core.errors import InputError, Unavailable

    needed = {
        "composition": ("previous", "--previous"),
        "linkability": ("first", "--first and --second"),
    }
    found: list[Attack] = []
    skipped: dict[str, str] = {}
    with o.progress("attack") as bar:
        for i, name in enumerate(names):
            bar(i / len(names), name)
            given = dict(played[name])
            if name in needed and not given[needed[name][0]]:
                raise InputError(f"The attack {name} needs {needed[name][1]}.")
            module = name.replace("-", "_")
            function = getattr(importlib.import_module(f"..attacks.{module}", __package__), module)
            if "reveal" in signature(function).parameters:
                given["reveal"] = reveal
            argument = BY_COLUMN.get(name)
            columns = [] if argument is None or given[argument] else list(roles.sensitive)
            if argument == "secret" and not columns and not given[argument]:
                raise InputError(
                    f"The attack {name} needs a sensitive column in {roles.source}, or --secret, to find out."
                )
            for column in columns or [None]:
                turn = given if column is None else {**given, str(argument): column}
                try:
                    found.append(function(release, roles, **turn))
                except (Unavailable, InputError) as why:
                    if named and (len(columns) < 2 or (column == columns[-1] and not _played_any(found, module))):
                        raise
                    skipped[name if column is None or len(columns) < 2 else f"{name} of {column}"] = str(why)
    return found, skipped


def _played_any(found: list[Attack], name: str) -> bool:
    return any(one.name == name for one in found)


def _column(attack: Attack) -> str | None:
    """The sensitive column that was attacked."""
    return next((str(attack.details[key]) for key in ("column", "sensitive", "secret") if key in attack.details), None)


def worst(found: list[Attack]) -> dict[str, tuple[str, int]]:
    """For each attack that was played on several columns, the one that counts, and how many they were.

    That is one on which the attack works, if it works on any; of several the one furthest above what is possible without the release.
    """
    by_name: dict[str, list[Attack]] = {}
    for one in found:
        by_name.setdefault(one.name, []).append(one)
    return {
        name: (str(_column(max(several, key=lambda a: (bool(a.worked), a.above, a.success.value)))), len(several))
        for name, several in by_name.items()
        if len(several) > 1
    }


def as_json(attack: Attack) -> dict[str, Any]:
    """Everything that was found, as plain data."""
    import dataclasses

    content = {f.name: getattr(attack, f.name) for f in dataclasses.fields(attack)}
    for name in ("success", "baseline", "control"):
        content[name] = None if content[name] is None else dataclasses.asdict(content[name])
    return {
        **content,
        "details": dict(attack.details),
        "above": attack.above,
        "worked": attack.worked,
        "verdict": attack.standing.verdict,
    }


def show(found: list[Attack], skipped: dict[str, str]) -> None:
    """Each attack with a sentence, and all of them in a table."""
    from rich.table import Table as Grid

    from ..attacks.standing import MARKS

    out = o.console()
    several = worst(found)
    grid = Grid(box=None, padding=(0, 2, 0, 0))
    for heading in ("attack", "attacked", "fell", "success", "never saw it", "control", "", ""):
        grid.add_column(heading, justify="left" if heading in ("attack", "") else "right")
    for one in found:
        verdict = f"{MARKS[one.standing.verdict]} {one.verdict}"
        grid.add_row(
            _titled(one, several), f"{one.attacked:,}", f"{one.fell:,.0f}" if float(one.fell).is_integer() else f"{one.fell:,.1f}",
            str(one.success), "-" if one.baseline is None else str(one.baseline),
            "-" if one.control is None else str(one.control), one.exactness, verdict,
        )  # fmt: skip
    out.print(grid)
    for one in found:
        out.print()
        out.print(f"{_titled(one, several)}. {one.sentence}")
        out.print(f"  Known: {_first(one.knew).rstrip('.')}. Effort: {_first(one.effort).rstrip('.')}.")
        if "revealed" in one.details or "shown" in one.details:
            out.print(f"  {one.details.get('revealed', one.details.get('shown'))}")
    for name, (column, many) in several.items():
        out.print(f"\n{_first(name)} was played on {many} sensitive columns in turn; the worst, {column}, counts.")
    for name, why in skipped.items():
        out.print(f"\nNot played: {name}. {why}")


def _titled(attack: Attack, several: dict[str, tuple[str, int]]) -> str:
    """The attack's title, with the column where it was played on several."""
    return f"{_first(attack.title)} of {_column(attack)}" if attack.name in several else _first(attack.title)


def _first(text: str) -> str:
    """With a capital letter at the beginning."""
    return text[:1].upper() + text[1:]
