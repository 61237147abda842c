"""Answer two questions about the recipient, and get a recommended release with its documents."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from . import _options as o
from .study import AllowSeeded, Cache, Formats, Package, Reveal, Workers, check, end, told

PRESETS = (
    "clinical-public, public-use, scientific-use, cbs-research, cbs-public, output-check, hipaa, gbt-public, "
    "gbt-agreement, gbt-enclave, or wp29, which also asks the questions"
)


@o.reads
def run(
    input: o.Input,
    out: Annotated[Path, typer.Option(help="Folder for the documents.")] = Path("sfumato-advice"),
    roles: Annotated[
        Path | None,
        typer.Option(
            metavar="ROLES", help="The roles file (TOML); without one the suggested roles are taken, and written."
        ),
    ] = None,
    to: Annotated[str | None, typer.Option(help="To whom it is released: public, agreement or onsite.")] = None,
    impact: Annotated[str | None, typer.Option(help="How bad a disclosure would be: low, medium or high.")] = None,
    controls: Annotated[str, typer.Option(help="Of the recipient: low, medium or high.")] = "medium",
    motives: Annotated[str, typer.Option(help="Of the recipient to identify someone: low, medium or high.")] = "medium",
    known: Annotated[
        float, typer.Option(min=0, max=1, help="The share of the population in the table, for acquaintances.")
    ] = 0.0,
    breach: Annotated[float, typer.Option(min=0, max=1, help="The chance of a breach at the recipient's.")] = 0.0,
    preset: Annotated[
        str | None, typer.Option(help=f"The limits of a guidance instead of the two questions: {PRESETS}.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the note and the package's README call the release.")
    ] = None,
    require: o.Require = None,
    waive: o.Waive = None,
    risk: Annotated[str | None, typer.Option(help="The privacy metric of the map's risk axis.")] = None,
    utility: Annotated[
        str, typer.Option(help="The utility metric that decides among what meets the limits.")
    ] = "iloss",
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A field that users will predict: how well it is still mined.")
    ] = None,
    candidate: Annotated[list[str] | None, typer.Option(help="A candidate besides the usual ones. Repeatable.")] = None,
    wide: Annotated[bool, typer.Option("--wide", help="Also noise, swapping, microaggregation and synthesis.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeat the same random choices.")] = None,
    refine: Annotated[int, typer.Option(min=0, help="How often to look around the best for a better one.")] = 4,
    cache: Cache = None,
    workers: Workers = None,
    formats: Formats = "html,md",
    package: Package = None,
    allow_seeded: AllowSeeded = False,
    neutralise_formulas: o.NeutraliseFormulas = False,
    reveal: Reveal = False,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Ask to whom a table is released and how bad a disclosure would be, then study it and recommend a release.

    The answers give limits, each with its source; candidates that can meet them are made and measured, the best is looked around
    for a better one, and the documents say why. On a terminal what is not given is asked for. Where the release is public and the
    impact high, each sensitive column is limited, too: no value may make up more than 90% of a group, unless the column is waived
    (--waive) or limited by --require. Exits 1 if no candidate meets the limits, and before any work if a column that none of them
    limits sets people apart or tells what must be protected.
    """
    from .. import metrics
    from ..core.errors import InputError
    from ..core.people import one_row_each
    from ..core.roles import Roles
    from ..core.waivers import read_waivers
    from ..inspect.default_metrics import usual_metrics
    from ..profile.free_release import check_free
    from ..study.candidate import Candidate
    from ..study.context import WP29, Context
    from ..study.default_candidates import candidates, overlooked
    from ..study.inference import with_inference
    from ..study.study import Study

    if preset in (None, WP29):  # the Opinion sets no limits, so that the answers must
        to, impact = _asked("to", to), _asked("impact", impact)
    answers: dict[str, Any] = {name: given for name, given in (("to", to), ("impact", impact)) if given is not None}
    context = Context(**answers, controls=controls, motives=motives, known=known, breach=breach, preset=preset)  # type: ignore[arg-type]
    wanted = check(formats, package, out)
    table = reading.open(input, quiet=json)
    if roles is None:
        roles = _suggested(table, out)
    named = Roles.read(roles)
    one_row_each(table, named, "a study")
    if target is not None and target not in named.released(table.columns):
        raise InputError(
            f"--target {target}: no column of that name is released; name a quasi, sensitive or insensitive one."
        )
    named.check(table.columns, where=table.name)
    waivers = read_waivers(waive or [], table.columns)
    asked = o.requirements(require)
    context = with_inference(context, table, named, require=asked, waive=waivers)
    limits = tuple(dict.fromkeys([*context.require, *asked]))
    axis = metrics.metric(utility)
    kept = cache or out / ".kept"
    with o.keeping(kept), o.progress("candidates") as bar:
        check_free(table, named, waivers)
        made = candidates(table, named, limits, axis, wide=wide)
        study = Study(
            table=table,
            roles=named,
            candidates=(*made, *(Candidate.of(text) for text in candidate or [])),
            risk=metrics.metric(risk or context.axis),
            utility=axis,
            require=limits,
            measures=usual_metrics(named, target),
            context=context,
            title=title,
            arguments=reading.arguments,
            waive=waivers,
        )
        for text in overlooked(table, named, study.candidates):
            o.tell(text)
        result = study.run(
            seed=seed,
            cache=kept,
            workers=workers or os.cpu_count() or 1,
            refine=refine,
            progress=lambda done, name: bar(min(0.9, 0.9 * done / (len(study.candidates) + 1)), name),
        )
        bar(0.92, "documents")
        end(
            result,
            out,
            formats=wanted,
            package=package,
            reveal=reveal,
            allow_seeded=allow_seeded,
            neutralise_formulas=neutralise_formulas,
        )
    told(result, out, package, json=json)


def _asked(name: str, given: str | None) -> str:
    """An answer that was given, or is asked for on a terminal; never guessed."""
    from ..core.errors import InputError
    from ..study.context import QUESTIONS

    if given is not None:
        return given
    choices = QUESTIONS[name]
    if not sys.stdin.isatty():
        raise InputError(
            f"Say --{name} {'|'.join(choices)}: " + "; ".join(f"{k}: {v}" for k, v in choices.items()) + "."
        )
    question = {"to": "To whom is it released?", "impact": "How bad would a disclosure be?"}[name]
    typer.secho(question, bold=True, err=True)
    for key, words in choices.items():
        typer.echo(f"  {key:<10} {words}", err=True)
    while True:
        answer = str(typer.prompt("", prompt_suffix="> ", err=True)).strip().lower()
        near = [key for key in choices if answer and key.startswith(answer)]
        if len(near) == 1:
            return near[0]
        typer.echo(f"  one of {', '.join(choices)}", err=True)


def _suggested(table: Any, out: Path) -> Path:
    """Roles that the profile suggests, written where the owner can correct them."""
    from ..core.errors import InputError
    from ..core.files import write_whole
    from ..profile.table import profile

    path = out / "roles.toml"
    if path.exists():
        o.tell(f"{path}: the roles that stand there are taken.")
        return path
    text = profile(table).toml()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made or is no folder ({type(error).__name__}).") from None
    write_whole(path, text)
    o.tell(f"{path}: roles were suggested by the look of the columns. Read and correct them, then run this again.")
    return path
