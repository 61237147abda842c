"""Compare candidate releases on a risk-utility map, and recommend one with its documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o
from .study_output import check_outputs, conduct, warn_of_free_columns

if TYPE_CHECKING:
    from ..study.study import Study

EXAMPLES = (
    "sfumato study people.csv --roles roles.toml --require 'k_anonymity >= 10' --out study",
    "sfumato study people.csv --roles roles.toml --candidate 'mondrian k=10' --release release.csv --out study",
)


@o.reads
def run(
    source: Annotated[Path, typer.Argument(metavar="STUDY | INPUT", help="A study file (TOML), or a table.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the documents go.")],
    roles: Annotated[Path | None, typer.Option(metavar="ROLES", help="The roles file (TOML), for a table.")] = None,
    candidate: o.Candidates = None,
    release: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="A release made elsewhere, as a candidate. Repeatable.")
    ] = None,
    require: o.Require = None,
    waive: o.Waive = None,
    risk: o.Risk = None,
    utility: o.Utility = None,
    metric: o.Metrics = None,
    seed: o.Seed = None,
    refine: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="How many times to look around the best candidate for a better one.",
            show_default="4 for a study file, else 0",
        ),
    ] = None,
    time_limit: o.StudyTimeLimit = None,
    cache: o.Cache = None,
    workers: o.Workers = None,
    formats: o.Formats = "html,md",
    package: o.Package = None,
    register: o.RegisterFile = None,
    allow_seeded: o.AllowSeeded = False,
    neutralise_formulas: o.NeutraliseFormulas = False,
    reveal: o.Reveal = False,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Makes and measures every candidate, draws the map, and finds its frontier and its knee.

    The candidates stand in a study file, or are named by --candidate and --release. If you name none, a standard grid is tried.
    If you require something, the most useful candidate that meets it is recommended; otherwise the knee.

    Writes sheet (the decision on one page, to be signed), report (everything, for you), note (to publish with the data), dpia, wp29, ema and intruder, and report.json. Finished
    scores are kept, so an interrupted study goes on where it stopped, and adding a candidate later costs only that candidate.
    Ctrl-C, or --time-limit, ends the search for a better candidate: the documents are written from what was measured by then, and say so.

    Exits 1 if no candidate meets the requirements, or if the recommended one fails the audit that the study file names. Then no package
    is written.
    """
    from ..profile.free_release import check_free

    wanted, ledger = check_outputs(formats, package, out), o.opened_register(register)
    settings: dict[str, Any] = {"seed": seed, "refine": refine or 0}
    if source.suffix.lower() == ".toml":
        from ..study.study_file import read_study

        named = {"--roles": roles, "--candidate": candidate, "--release": release, "--require": require, "--waive": waive,
                 "--risk": risk, "--utility": utility, "--metric": metric, "--seed": seed}  # fmt: skip
        _refuse([name for name, value in named.items() if value is not None], reading, source)
        content = read_study(source)
        study = content.study
        allow_seeded |= content.allow_seeded
        neutralise_formulas |= content.neutralise_formulas
        settings = {"seed": content.seed, "refine": content.refine if refine is None else refine}
        if not json:
            for note in study.table.notes:
                o.tell(f"{study.table.name}: {note}")
    else:
        study = _of_table(source, roles, candidate, release, require, waive, risk, utility, metric, reading)
    if package is not None:
        check_free(study.table, study.roles, study.waive)
    else:
        warn_of_free_columns(study)
    conduct(
        study, out, **settings, time_limit=time_limit, cache=cache, workers=workers, formats=wanted, package=package, register=ledger,
        allow_seeded=allow_seeded, neutralise_formulas=neutralise_formulas, reveal=reveal, json=json,
    )  # fmt: skip


def _refuse(names: list[str], reading: o.Reading, file: Path) -> None:
    """A study file says everything itself."""
    from ..core.errors import InputError

    names += [word for word in reading.arguments if word.startswith("--")]
    if names:
        raise InputError(f"{file} is a study file, which says that itself; leave out {', '.join(names)}.")


def _of_table(
    path: Path,
    roles: Path | None,
    candidate: list[str] | None,
    release: list[Path] | None,
    require: list[str] | None,
    waive: list[str] | None,
    risk: str | None,
    utility: str | None,
    metric: list[str] | None,
    reading: o.Reading,
) -> Study:
    """A study of what the options name."""
    from .. import metrics
    from ..core.addresses import place_name
    from ..core.errors import InputError
    from ..core.release import Release
    from ..core.roles import Roles
    from ..publishing.waivers import read_waivers
    from ..study.study import GRID, RISK, SPLIT_GRID, UTILITY, Candidate, Study, grid

    if roles is None:
        raise InputError("A table needs its roles file: give --roles.")
    named = Roles.read(roles)
    table = reading.open(path, named)
    texts = candidate or ([] if release else [*GRID, *(SPLIT_GRID if named.sensitive else ())])
    elsewhere = [
        Candidate(place_name(file), release=Release(table=reading.release(file, named, table), original=table))
        for file in release or []
    ]
    return Study(
        table=table,
        roles=named,
        candidates=(*grid(texts), *elsewhere),
        risk=metrics.metric(risk or RISK),
        utility=metrics.metric(utility or UTILITY),
        require=tuple(o.requirements(require)),
        measures=None if not metric else tuple(metrics.metric(text) for text in metric),
        arguments=reading.arguments,
        waive=read_waivers(waive or [], table.columns),
    )
