"""Walk the whole path on a made-up town, from the raw table to a verified release."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from . import _options as o

EXAMPLES = ("sfumato demo --rows 2000 --out town",)
CANDIDATES = (
    "mondrian k=5",
    'mondrian k=10 require="distinct_l_diversity(diagnosis) >= 4"',
    'mondrian k=10 require="t_closeness[equal](diagnosis) <= 0.3"',
)
REQUIRE = ("k_anonymity >= 10", "distinct_l_diversity(diagnosis) >= 3")
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
    """Makes up a census of a town, profiles it, compares three candidates, publishes one and verifies it.

    Everything is written to one folder. Each step prints the command that does the same for your own table.
    """
    from ..core.errors import InputError
    from ..core.files import write_whole
    from ..core.roles import Roles
    from ..engines import read
    from ..metrics import require
    from ..profile.free_release import free_of_table
    from ..profile.table import profile
    from ..publishing import publish, verify
    from ..studio.study_plan import entry
    from ..studio.work_folder import study_toml
    from ..study.candidate import Candidate
    from ..study.study import Study, grid
    from ..study.telling import drawn
    from .demo_table import write_town
    from .profile import show as show_profile
    from .study_output import show as show_result
    from .study_output import write_report

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
    step(f"1. A town of {rows:,} made-up people")
    paths = write_town(out, rows=rows, seed=seed)
    write_whole(out / "queries.toml", QUERIES)
    people, roles_file, release_file = out / "people.csv", out / "roles.toml", out / "release.csv"
    if not json:
        typer.echo(f"  {people}, with roles and hierarchies beside it ({len(paths)} files)")
    table = read(people)

    quoted, roles_quoted = shlex.quote(str(people)), shlex.quote(str(roles_file))
    step("2. What is risky in it?", f"sfumato profile {quoted} --write-roles my-roles.toml")
    profiled = profile(table)
    if not json:
        show_profile(profiled, most=6)

    roles = Roles.read(roles_file)
    # in a small town, incomes set people apart; an owner would coarsen them, and the demo waives them with a reason
    waive = {finding.column: MADE_UP for finding in free_of_table(table, roles).findings}
    options = " ".join(f"--require '{text}'" for text in REQUIRE)
    options += "".join(f" --waive {shlex.quote(f'{column}: {reason}')}" for column, reason in waive.items())
    tried = " ".join(f"--candidate {shlex.quote(text)}" for text in CANDIDATES)
    step(
        "3. Which release?",
        f"sfumato study {quoted} --roles {roles_quoted} {tried} {options} --out {shlex.quote(str(out))}",
    )
    requirements = tuple(require(text) for text in REQUIRE)
    named = {"table": people.name, "roles": roles_file.name, "refine": 0, "require": list(REQUIRE), "waive": waive}
    write_whole(
        out / "study.toml", study_toml({**named, "candidate": [entry(Candidate.of(text)) for text in CANDIDATES]})
    )
    study = Study(table=table, roles=roles, candidates=grid(CANDIDATES), require=requirements, waive=waive)
    with o.progress("comparing") as bar:
        result = study.run(seed=seed, refine=0, listen=drawn(bar))
        write_report(result, out)
    if not json:
        show_result(result)

    chosen = result.recommended[0]
    if chosen is None:
        raise InputError(
            f"No candidate of the demo meets its requirements in a town of {rows} people; take more with --rows."
        )
    point = result.points[chosen]
    make, check = result.commands(str(release_file))
    step("4. Publish it", make)
    made = point.candidate.mechanism
    assert made is not None
    wanted = list(dict.fromkeys([*made.promises, *requirements]))
    publish(result.release(chosen), roles, wanted, release_file, waive=waive)
    if not json:
        typer.echo(f"  {release_file}: written, measured again from the file, and renamed")

    step("5. Verify it, from the published file alone", check)
    verification = verify(read(release_file), roles, wanted, waive=waive)
    if not json:
        for verdict in verification.verdicts:
            typer.echo(f"  {'✓' if verdict.met else '✗'} {verdict}")
    seconds = time.perf_counter() - started
    if json:
        content: dict[str, Any] = {"people": str(people), "roles": str(roles_file), "release": str(release_file)}
        content.update(report=str(out / "report.html"), met=verification.met, seconds=round(seconds, 1))
        o.dump({**content, "recommended": point.candidate.name})
    else:
        typer.secho(f"\nThe report: {out / 'report.html'}  ({seconds:.0f} s in all)", bold=True)
        typer.echo(f"Open the same study in your browser: sfumato studio {quoted} --folder {shlex.quote(str(out))}")
    if not verification.met:
        raise typer.Exit(1)
