"""Check a published file against its requirements."""

from __future__ import annotations

from typing import Annotated

import typer

from . import _options as o

EXAMPLES = (
    "sfumato verify release.csv --roles roles.toml --require 'k_anonymity >= 10'",
    "sfumato verify release.csv --roles roles.toml --require 'k_anonymity >= 10' --original people.csv",
)


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    require: o.Require = None,
    original: o.Original = None,
    pair: o.Pair = "none",
    waive: o.Waive = None,
    neutralise_formulas: Annotated[
        bool,
        typer.Option(
            "--neutralise-formulas",
            help="The release was written with this option. Remove its apostrophes before measuring.",
        ),
    ] = False,
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Measure the file again and compare it with what is required of it.

    Exits 0 if the file meets every requirement, contains no identifier, and has no unlimited column that sets people apart. With
    --original, no such column may give away what the release protects, either. Exits 1 with the reason otherwise. If the original has
    several rows per person, limits on rows must hold for people; --pair says which row belongs to whom. In a package, every file must
    also match its checksum in SHA256SUMS.
    """
    from dataclasses import replace

    from ..core.addresses import address_of, place_name
    from ..core.errors import RequirementError
    from ..core.formulas import apostrophes
    from ..core.leftovers import clear
    from ..core.roles import Roles
    from ..profile.free_columns import refusal
    from ..publishing import verify_release
    from ..publishing.package_files import changed_files
    from ..publishing.waivers import read_waivers

    wanted = o.requirements(require)
    if not wanted:
        raise RequirementError(
            "There is nothing to verify; add at least one requirement, such as --require 'k_anonymity >= 5'."
        )
    server = address_of(release) is not None
    if not server:
        clear(release.parent)  # a release that a killed run had begun to name is finished first
    named = Roles.read(roles)
    made = reading.released(release, named, original=original, pairing=pair, neutralise_formulas=neutralise_formulas)
    if not neutralise_formulas and (there := apostrophes(made.table)):
        o.tell(
            f"{place_name(release)}: cells in {', '.join(map(repr, there))} begin with an apostrophe and a formula's sign; if it was written with "
            "--neutralise-formulas, give that here, too."
        )
    verification = verify_release(made, named, wanted, waive=read_waivers(waive or [], made.table.columns))
    verification = replace(verification, problems=(*(() if server else changed_files(release)), *verification.problems))
    if json:
        o.dump(
            {
                "release": place_name(release),
                "met": verification.met,
                "requirements": o.verdicts(verification.verdicts),
                "problems": list(verification.problems),
                "counted": verification.counted,
                "people": None if verification.people is None else verification.people.to_dict(),
                "free_columns": [finding.to_dict() for finding in verification.findings],
                "waived": dict(verification.waive),
            }
        )
    else:
        for verdict in verification.verdicts:
            typer.echo(f"{'✓' if verdict.met else '✗'} {verdict}")
        for problem in (*verification.problems, *refusal(verification.open)):
            typer.echo(f"✗ {problem}")
        for text in (verification.counted, *verification.waived):
            if text:
                typer.echo(text)
        missed = (
            "not met."
            if any(not verdict.met for verdict in verification.verdicts)
            else "every requirement is met, but see above."
        )
        typer.echo(f"{place_name(release)}: {'every requirement is met.' if verification.met else missed}")
    if not verification.met:
        if json:
            o.tell(" ".join(verification.reasons))
        raise typer.Exit(1)
