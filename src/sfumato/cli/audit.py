"""Check that a release still makes sense beside its original."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import _options as o

MARKS = {"holds": "✓", "fails": "✗", "told": "·"}

EXAMPLES = (
    "sfumato audit release.csv --original people.csv --roles roles.toml",
    "sfumato audit release.csv --original people.csv --roles roles.toml --share 0.01 --json",
)


@o.reads
def run(
    release: o.ReleaseFile,
    original: o.NeededOriginal,
    roles: o.RolesFile,
    checks: Annotated[
        Path | None, typer.Option(metavar="TOML", help="What must hold. Without it, only the standing checks are made.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            min=0, help="The relative error that an aggregate may have, unless it states its own.", show_default="0.05"
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="The share of released rows that may break a check.", show_default="0"),
    ] = None,
    pair: o.Pair = "none",
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Do totals still add up? Did anything impossible appear? Do published figures still come out?

    The standing checks look for rows and columns that are gone, values and numbers that the original never had, sums that held in
    every row, and pairs of values that no original row has. Marks: ✓ holds, ✗ fails, · for your information. Exits 1 if a check fails.

    In the file of --checks, each key on a line of its own:

        [[sum]]        parts = ["wages", "rent"]   total = "income"

        [[never]]      where = "age < 16 and marital-status = 'Married'"

        [[aggregate]]  query = "count where sex = 'F'"   value = 10771   tolerance = 0.01

    An aggregate is count, sum COLUMN or mean COLUMN. `by COLUMN, ...` and `where EXPRESSION` may follow.
    """
    from ..core.roles import Roles
    from ..inspect.audit import audit, read
    from ..publishing.class_people import people_note

    named = Roles.read(roles)
    options: dict[str, Any] = {} if checks is None else read(checks)
    options |= {name: value for name, value in (("tolerance", tolerance), ("share", share)) if value is not None}
    made = reading.released(release, named, original=original, pairing=pair)
    result = audit(made, named, **options)
    note = people_note(made, named)
    if json:
        o.dump({**result.to_dict(), "sentences": result.sentences, "people_note": note})
    else:
        if note is not None:
            typer.echo(f"Note: {note}")
        for check in result.checks:
            typer.echo(f"{MARKS[check.status]} {check.sentence} ({check.exactness})")
        typer.echo(f"{release}: {result.sentences[-1]}")
    if not result.met:
        if json:
            o.tell(" ".join(check.sentence for check in result.checks if check.status == "fails"))
        raise typer.Exit(1)
