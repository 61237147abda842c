"""Check that a release still makes sense beside its original."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import _options as o

MARKS = {"holds": "✓", "fails": "✗", "told": "·"}


@o.reads
def run(
    original: o.OriginalFile,
    release: o.ReleaseFile,
    roles: o.RolesFile,
    checks: Annotated[
        Path | None,
        typer.Option(
            metavar="AUDIT.toml",
            help="What must hold: [[sum]] parts, total; [[never]] where; [[aggregate]] query, value, tolerance. Without it only "
            "what can be found unasked.",
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0, help="Relative error that an aggregate may have, unless it says otherwise; else 0.05."),
    ] = None,
    share: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of the released rows that may break a check; else none.")
    ] = None,
    pair: o.Pair = "none",
    companion: o.Companions = None,
    joined_by: o.JoinedBy = None,
    perturbed: o.Perturbed = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Hold a release against its original: do totals still add up, was anything impossible made, do published figures come out?

    Unasked: rows and columns that are gone, values and numbers that the original never had, sums that held in every row, pairs of
    values that no original row has. Marks: ✓ holds, ✗ fails, · is told. Exits 1 if something fails. In AUDIT.toml, each key on a line of its own:

        [[sum]]        parts = ["wages", "rent"]   total = "income"

        [[never]]      where = "age < 16 and marital-status = 'Married'"

        [[aggregate]]  query = "count where sex = 'F'"   value = 10771   tolerance = 0.01

    An aggregate is count, sum COLUMN or mean COLUMN, then perhaps by COLUMN, ... and where EXPRESSION.
    """
    from ..core.class_people import people_note
    from ..core.roles import Roles
    from ..inspect.audit import audit, read

    named = Roles.read(roles)
    asked: dict[str, Any] = {} if checks is None else read(checks)
    asked |= {name: value for name, value in (("tolerance", tolerance), ("share", share)) if value is not None}
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
    found = audit(made, named, **asked)
    note = people_note(made, named)
    if json:
        o.dump({**found.to_dict(), "sentences": found.sentences, "people_note": note})
    else:
        if note is not None:
            typer.echo(f"Note: {note}")
        for check in found.checks:
            typer.echo(f"{MARKS[check.status]} {check.sentence} ({check.exactness})")
        typer.echo(f"{release}: {found.sentences[-1]}")
    if not found.met:
        if json:
            o.tell(" ".join(check.sentence for check in found.checks if check.status == "fails"))
        raise typer.Exit(1)
