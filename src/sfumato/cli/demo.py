"""Walk the whole path on a made-up town, from the raw table to a verified release."""

from __future__ import annotations

import shlex
import shutil
import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from . import _options as o

EXAMPLES = ("sfumato demo --rows 2000 --out town",)
TO: Final = "public"
IMPACT: Final = "high"
"""The answers to the two questions: these are diagnoses, and anyone may have the release."""
QUERIES = """# counting queries, for sfumato inspect queries
[[query]]
name = "women of 20 to 39"
sex = ["female"]
age = { from = 20, to = 39 }

[[query]]
name = "married people"
marital_status = ["married"]
"""
MADE_UP = "the people of this town are made up"


def run(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the data, the report and the release go.")] = Path(
        "sfumato-demo"
    ),
    rows: Annotated[int, typer.Option(min=100, help="How many people live in the town.")] = 30_000,
    seed: o.FixedSeed = 2026,
    json: o.Json = False,
) -> None:
    """Makes up a census of a town, profiles it, asks for advice on publishing it, packages what is recommended, and verifies that.

    Everything is written to one folder. Each step prints the command that does the same for your own table.
    """
    from ..core.errors import InputError
    from ..core.files import write_whole
    from ..core.roles import Roles
    from ..engines import read
    from ..profile.free_release import free_of_table
    from ..profile.table import profile
    from ..publishing import verify
    from ..studio.study_plan import entry
    from ..studio.work_folder import study_toml
    from ..study.context import Context
    from ..study.decision import decision
    from .advise import advised
    from .demo_table import write_town
    from .profile import show as show_profile
    from .study_output import check_outputs, conduct, is_fit
    from .study_output import show as show_result

    started = time.perf_counter()

    def step(text: str, command: str = "") -> None:
        if not json:
            typer.secho(f"\n{text}", bold=True)
            if command:
                typer.echo(f"  $ {command}\n")

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: this folder cannot be made ({type(error).__name__}).") from None
    documents, package = out / "study", out / "package"
    if (package / "SHA256SUMS").is_file() and (out / "queries.toml").is_file():  # an earlier demo's: made-up people
        for folder in (package, package.with_name("package.house")):
            shutil.rmtree(folder, ignore_errors=True)
    formats = check_outputs("html,md", package, documents)
    step(f"1. A town of {rows:,} made-up people")
    paths = write_town(out, rows=rows, seed=seed)
    write_whole(out / "queries.toml", QUERIES)
    people, roles_file, release_file = out / "people.csv", out / "roles.toml", package / "release.csv"
    if not json:
        typer.echo(f"  {people}, with roles and hierarchies beside it ({len(paths)} files)")
    roles = Roles.read(roles_file)
    table = read(people, roles=roles)

    quoted, roles_quoted = shlex.quote(str(people)), shlex.quote(str(roles_file))
    step("2. What is risky in it?", f"sfumato profile {quoted} --write-roles my-roles.toml")
    profiled = profile(read(people))
    if not json:
        show_profile(profiled, most=6)

    # in a small town, incomes set people apart; an owner would coarsen them, and the demo waives them with a reason
    waive = {finding.column: MADE_UP for finding in free_of_table(table, roles).findings}
    waived = "".join(f" --waive {shlex.quote(f'{column}: {reason}')}" for column, reason in waive.items())
    step(
        "3. May it be published for everyone? Who receives it and what a disclosure would do give the limits.",
        f"sfumato advise {quoted} --roles {roles_quoted} --to {TO} --impact {IMPACT} --quick --refine 0{waived} "
        f"--out {shlex.quote(str(documents))} --package {shlex.quote(str(package))}",
    )
    context = Context(to=TO, impact=IMPACT)
    study = advised(table, roles, context, waive=waive, quick=True)
    named = {"table": people.name, "roles": roles_file.name, "refine": 0, "waive": waive}
    named["context"] = {"to": TO, "impact": IMPACT}
    write_whole(out / "study.toml", study_toml({**named, "candidate": [entry(each) for each in study.candidates]}))
    result = conduct(study, documents, seed=None, refine=0, formats=formats, package=package, json=None)
    chosen, verdict = result.recommended[0], decision(result)
    if chosen is None or not is_fit(result):
        raise InputError(
            f"No candidate of the demo meets its limits in a town of {rows} people; take more with --rows."
        )
    if not json:
        show_result(result)
        typer.secho(f"\n{verdict.headline}. {verdict.because}", bold=True)
        typer.echo(f"  The sheet for who signs, on one page: {documents / 'sheet.html'}")
        typer.echo(f"  The package, written and measured again from its files: {package}")

    point = result.points[chosen]
    check = " ".join(f"--require '{each.requirement}'" for each in point.verdicts)
    step(
        "4. Verify it, from the published file alone",
        f"sfumato verify {shlex.quote(str(release_file))} --roles {roles_quoted} {check}{waived}",
    )
    verification = verify(read(release_file), roles, [each.requirement for each in point.verdicts], waive=waive)
    if not json:
        for each in verification.verdicts:
            typer.echo(f"  {'✓' if each.met else '✗'} {each}")
    seconds = time.perf_counter() - started
    if json:
        content: dict[str, Any] = {"people": str(people), "roles": str(roles_file), "release": str(release_file)}
        content.update(report=str(documents / "report.html"), sheet=str(documents / "sheet.html"))
        content.update(met=verification.met, answer=verdict.answer, seconds=round(seconds, 1))
        o.dump({**content, "recommended": point.candidate.name})
    else:
        typer.secho(
            f"\nThe decision, and everything behind it: {documents / 'report.html'}  ({seconds:.0f} s in all)",
            bold=True,
        )
        typer.echo(f"Open the same study in your browser: sfumato studio {quoted} --folder {shlex.quote(str(out))}")
    if not verification.met:
        raise typer.Exit(1)
