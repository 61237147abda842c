"""Answer two questions about the recipient, and get a recommended release with its documents."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o
from .study_output import check_outputs, conduct

if TYPE_CHECKING:
    from ..core.metric import Requirement
    from ..core.roles import Roles
    from ..core.table import Table
    from ..study.candidate import Candidate
    from ..study.context import Context
    from ..study.study import Study

PRESETS = (
    "clinical-public, public-use, scientific-use, cbs-research, cbs-public, output-check, hipaa, gbt-public, "
    "gbt-agreement, gbt-enclave, or wp29, which still needs both answers"
)
EXAMPLES = (
    "sfumato advise people.csv --roles roles.toml --to agreement --impact low --refine 0",
    "sfumato advise people.csv --roles roles.toml --preset public-use --quick --refine 0 --out public",
)


@o.reads
def run(
    input: o.Input,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the documents go.")] = Path("sfumato-advice"),
    roles: Annotated[
        Path | None,
        typer.Option(
            metavar="ROLES", help="The roles file (TOML). Without it, roles are suggested and written to the folder."
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="Who will receive the data: public, agreement (a contract) or onsite.")
    ] = None,
    impact: Annotated[
        str | None, typer.Option(help="How much harm a disclosure would do: low, medium or high.")
    ] = None,
    controls: Annotated[
        str, typer.Option(help="How well the recipient protects the data: low, medium or high.")
    ] = "medium",
    motives: Annotated[
        str, typer.Option(help="How strong the recipient's motive to identify someone is: low, medium or high.")
    ] = "medium",
    fraction: Annotated[
        float, typer.Option(min=0, max=1, help="The share of the population that is in the table.")
    ] = 0.0,
    breach: Annotated[
        float, typer.Option(min=0, max=1, help="The probability of a data breach at the recipient.")
    ] = 0.0,
    preset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"The limits of a guidance instead of the two answers: {PRESETS}."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The name of the release in its note and its README.")
    ] = None,
    purpose: o.Purpose = None,
    date: o.Day = None,
    accept: o.Accept = None,
    require: o.Require = None,
    waive: o.Waive = None,
    risk: o.Risk = None,
    utility: o.Utility = None,
    target: o.Target = None,
    candidate: o.Candidates = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="Also try noise, swapping, microaggregation and synthetic data.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Try only two or three candidates of each kind, for a first answer.")
    ] = False,
    seed: o.Seed = None,
    refine: o.Refine = 4,
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
    """The questions are: who will receive the data (--to), and how much harm would a disclosure do (--impact)?

    Your answers become limits, each with its source. Candidates that can meet them are made and measured, and the documents explain the
    recommendation. On a terminal, missing answers are asked for. If the release is public and the impact high, each sensitive column is limited
    too: no value may make up more than 90% of a group, unless you waive the column (--waive) or limit it yourself (--require).

    Ctrl-C, or --time-limit, ends the search for a better candidate: the documents are written from what was measured by then, and say so.

    Exits 1 if no candidate meets the limits. Also exits 1, before any work, if an unlimited column sets people apart or gives away what
    must be protected.
    """
    from ..core.people import one_row_each
    from ..core.roles import Roles
    from ..publishing.waivers import read_reasons, read_waivers
    from ..study.candidate import Candidate
    from ..study.context import WP29, Context

    if preset in (None, WP29):  # the Opinion sets no limits, so that the answers must
        to, impact = _answer("to", to), _answer("impact", impact)
    answers: dict[str, Any] = {name: given for name, given in (("to", to), ("impact", impact)) if given is not None}
    context = Context(**answers, controls=controls, motives=motives, known=fraction, breach=breach, preset=preset)  # type: ignore[arg-type]
    wanted = check_outputs(formats, package, out)
    if roles is None:
        roles = _suggested(reading, input, out)
    named = Roles.read(roles)
    table = reading.open(input, named)
    one_row_each(table, named, "a study", counts_people=True)
    _check_target(target, table, named)
    ledger = o.opened_register(register)
    study = advised(
        table, named, context, own=o.requirements(require, ledger, named), waive=read_waivers(waive or [], table.columns),
        risk=risk, utility=utility, target=target, more=[Candidate.of(text) for text in candidate or []], wide=wide, quick=quick,
        title=title, arguments=reading.arguments, purpose=purpose, date=date, accept=read_reasons(accept or []),
    )  # fmt: skip
    conduct(
        study, out, seed=seed, refine=refine, time_limit=time_limit, cache=cache, workers=workers, formats=wanted, package=package, register=ledger,
        allow_seeded=allow_seeded, neutralise_formulas=neutralise_formulas, reveal=reveal, json=json,
    )  # fmt: skip


def advised(
    table: Table,
    roles: Roles,
    context: Context,
    *,
    own: Sequence[Requirement] = (),
    waive: Mapping[str, str],
    risk: str | None = None,
    utility: str | None = None,
    target: str | None = None,
    more: Sequence[Candidate] = (),
    wide: bool = False,
    quick: bool = False,
    **stated: Any,
) -> Study:
    """The study that follows from the context's limits and the owner's `own`: its candidates are those that can meet them, and `more`."""
    from .. import metrics
    from ..inspect.default_metrics import usual_metrics
    from ..profile.free_release import check_free
    from ..study.default_candidates import candidates, overlooked
    from ..study.inference import with_inference
    from ..study.study import UTILITY, Study

    context = with_inference(context, table, roles, require=own, waive=waive)
    limits = tuple(dict.fromkeys([*context.require, *own]))
    axis = metrics.metric(utility or UTILITY)
    with o.progress("candidates"):
        check_free(table, roles, waive)
        made = candidates(table, roles, limits, axis, wide=wide, quick=quick)
    study = Study(
        table=table,
        roles=roles,
        candidates=(*made, *more),
        risk=metrics.metric(risk or context.axis),
        utility=axis,
        require=limits,
        measures=usual_metrics(roles, target),
        context=context,
        waive=waive,
        **stated,
    )
    for text in overlooked(table, roles, study.candidates):
        o.tell(text)
    return study


def _check_target(target: str | None, table: Table, roles: Roles) -> None:
    from ..core.errors import InputError

    if target is not None and target not in roles.released(table.columns):
        raise InputError(
            f"--target {target}: no released column has this name; name a quasi, sensitive or insensitive column."
        )


def _answer(name: str, given: str | None) -> str:
    """An answer from the options or from the terminal; it is never guessed."""
    from ..core.errors import InputError
    from ..study.context import QUESTIONS

    if given is not None:
        return given
    choices = QUESTIONS[name]
    if not sys.stdin.isatty():
        raise InputError(
            f"Answer --{name} {'|'.join(choices)}: " + "; ".join(f"{k}: {v}" for k, v in choices.items()) + "."
        )
    question = {"to": "Who will receive the data?", "impact": "How much harm would a disclosure do?"}[name]
    typer.secho(question, bold=True, err=True)
    for key, words in choices.items():
        typer.echo(f"  {key:<10} {words}", err=True)
    while True:
        answer = str(typer.prompt("", prompt_suffix="> ", err=True)).strip().lower()
        near = [key for key in choices if answer and key.startswith(answer)]
        if len(near) == 1:
            return near[0]
        typer.echo(f"  one of {', '.join(choices)}", err=True)


def _suggested(reading: o.Reading, input: Path, out: Path) -> Path:
    """Roles that the profile suggests, written where the owner can correct them."""
    from ..core.errors import InputError
    from ..core.files import write_whole
    from ..profile.table import profile

    path = out / "roles.toml"
    if path.exists():
        o.tell(f"{path}: these roles are used.")
        return path
    text = profile(replace(reading, quiet=True).open(input)).toml()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: this folder cannot be made ({type(error).__name__}).") from None
    write_whole(path, text)
    o.tell(
        f"{path}: these roles were suggested from the look of the columns. Read and correct them, then run this again."
    )
    return path
