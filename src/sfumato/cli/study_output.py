"""What a study writes and prints: its documents, its package and its recommendation."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..publishing.register import Register
    from ..study.result import Result
    from ..study.study import Study

SPELLED = 8
"""Shortened names that the terminal also spells out; if there are more, the report has them."""
LISTED = 25
"""Candidates that the terminal lists."""


def check_outputs(formats: str, package: Path | None, out: Path) -> tuple[str, ...]:
    """The formats; refuses what cannot be written before any work is done."""
    from ..core.errors import InputError
    from ..core.leftovers import clear
    from ..report import pdf, vega
    from ..report.documents import FORMATS

    wanted = tuple(dict.fromkeys(text.strip() for text in formats.split(",") if text.strip()))
    for text in wanted:
        if text not in FORMATS:
            raise InputError(f"--formats {text}: known are {', '.join(FORMATS)}.")
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file, no folder; name a folder for the documents.")
    if package is not None:
        clear(package.parent)
    if package is not None and package.exists():
        raise InputError(f"{package}: already there; name a new folder for the package.")
    if package is not None and not package.parent.is_dir() and package.parent != out:
        raise InputError(f"{package}: the folder above it does not exist; make it first.")
    if {"html", "pdf"} & set(wanted):
        vega.check()
    if "pdf" in wanted:
        pdf.check()
    return wanted


def warn_of_free_columns(study: Study) -> None:
    """Say what every candidate gives away, and what would be refused if one were published."""
    from ..profile.free_columns import refusal

    for text in refusal(study.free.open):
        o.tell(text)


def conduct(
    study: Study,
    out: Path,
    *,
    seed: int | None,
    refine: int,
    formats: tuple[str, ...],
    package: Path | None,
    json: bool | None,
    time_limit: float | None = None,
    cache: Path | None = None,
    workers: int | None = None,
    register: Register | None = None,
    reveal: bool = False,
    allow_seeded: bool = False,
    neutralise_formulas: bool = False,
) -> Result:
    """Run a study, write its documents and its package, and print the result, unless `json` is None.

    The time limit and Ctrl-C end the candidates early; a second Ctrl-C ends the documents, too.
    """
    from ..report.documents import write_all
    from ..report.package import write_package
    from ..study.default_candidates import is_large
    from ..study.events import FILE, Done, Event, EventLog, Stage, unheard
    from ..study.telling import answers, drawn

    folder = cache or out / ".kept"
    with o.keeping(folder), o.progress("candidates") as bar:
        log, show = EventLog(folder / FILE), drawn(lambda share, *words: bar(0.9 * share, *words))
        long = bool(study.require) and is_large(study.table, study.roles)
        say = answers(o.tell, utility=study.utility) if long else unheard

        def listen(event: Event) -> None:
            log(event)
            show(event)
            say(event)
            if isinstance(event, Done) and event.cut == "interrupt":
                o.tell(
                    "Interrupted: the documents are written from what was measured; Ctrl-C again leaves without them."
                )

        result = study.run(
            seed=seed, cache=folder, workers=workers or os.cpu_count() or 1, refine=refine, listen=listen,
            time_limit=time_limit, catch=True,
        )  # fmt: skip
        listen(Stage("documents"))
        write_all(result, out, formats=formats, reveal=reveal, numbers=_numbers(result))
        earlier = _beside_earlier(result, register)
        if package is not None and is_fit(result):
            listen(Stage("package"))
            write_package(
                result, package, allow_seeded=allow_seeded, neutralise_formulas=neutralise_formulas, register=register
            )
            digest = hashlib.sha256((package / "release.csv").read_bytes()).hexdigest()
            write_all(
                result, out, formats=formats, reveal=reveal, numbers=_numbers(result, digest), digest=digest
            )  # now the sheet can say which file it is about
        log(Stage("finished"))
    if json is not None:
        print_result(result, out, package, earlier, json=json)
    return result


def _numbers(result: Result, digest: str | None = None) -> dict[str, Any]:
    """What report.json holds: every candidate with its numbers, and the verdict."""
    from ..study.decision import decision

    numbers: dict[str, Any] = o.finite({**result.to_dict(), "decision": decision(result).of_release(digest).to_dict()})
    return numbers


def write_report(result: Result, folder: Path) -> None:
    """Write report.html and report.json alone."""
    from ..report.documents import write_all

    write_all(result, folder, formats=("html",), only=("report",), numbers=_numbers(result))


def warnings(result: Result) -> list[str]:
    """What the owner should not overlook about the recommended release."""
    from ..report.shared_sections import blanked
    from ..report.wp29 import short
    from ..study.findings import findings

    release = findings(result).release
    if release is None:
        return []
    texts = [text] if (text := blanked(release.columns)) else []
    texts += [f"{text} See wp29.html." for text in short(release, worked=True)]
    checks = () if isinstance(release.audit, str) else release.audit.checks
    if failed := sum(check.status == "fails" for check in checks):
        texts.append(f"Audit: {failed} of {len(checks)} checks fail; see the report.")
    return texts


def is_fit(result: Result) -> bool:
    """Whether there is a release to recommend, and it passes the owner's audit."""
    from ..study.findings import findings

    release = findings(result).release
    return release is not None and (
        not result.study.checks or (not isinstance(release.audit, str) and release.audit.met)
    )


def _beside_earlier(result: Result, register: Register | None) -> list[str] | None:
    """What the recommended release tells together with each earlier one; None without a register."""
    chosen = result.recommended[0]
    if register is None:
        return None
    if chosen is None:
        return []
    return [each.sentence for each in register.together(result.release(chosen), result.study.roles)]


def print_result(result: Result, out: Path, package: Path | None, earlier: list[str] | None, *, json: bool) -> None:
    """Print the result; exit 1 if no candidate meets what is required."""
    from ..study.advice import advice
    from ..study.decision import decision

    verdict = decision(result)
    for key in sorted(result.study.accept.keys() - {point.key for point in verdict.open}):
        o.tell(f"--accept {key}: nothing is open under this key, so the reason stands nowhere.")
    if json:
        o.dump(
            {
                **_numbers(result),
                "report": str(out / "report.html"),
                "package": str(package) if package is not None and is_fit(result) else None,
                "warnings": warnings(result),
                **({} if earlier is None else {"earlier": earlier}),
            }
        )
    else:
        context = result.study.context
        if context is not None:
            typer.echo(context.sentence)
            for limit in context.limits:
                typer.echo(f"  {limit.text}: {limit.sentence} ({limit.source})")
            typer.echo("")
        show(result, most=LISTED)
        for said in advice(result).said:
            if said.about not in ("take", "why", "means") and said.text != result.recommended[1]:
                typer.echo(said.text)
        for text in (*warnings(result), *(earlier or ())):
            typer.echo(text)
        for command in result.commands():
            typer.echo(f"  $ {command}")
        typer.secho(f"\n{verdict.headline}. {verdict.because}", bold=True)
        typer.echo(f"Documents: {out / 'report.html'} and those beside it.")
        if package is not None and is_fit(result):
            typer.echo(f"Package: {package}, verified.")
        elif package is not None:
            typer.echo(f"Package: {package} was not written.")
    if not is_fit(result):
        raise typer.Exit(1)


def show(result: Result, most: int | None = None) -> None:
    """The candidates as a table, what meets the limits first and the more useful before the less, and the recommendation."""
    from rich.table import Table as Grid

    from ..study.inference import leaves

    study = result.study
    out = o.console()
    cells = Grid(box=None, padding=(0, 2, 0, 0))
    cells.add_column("candidate")
    for metric in (study.risk, study.utility):
        cells.add_column(f"{metric}\n({metric.card.better} is\nbetter)", justify="right")
    cells.add_column("")
    order = list(result.order)
    chosen = result.recommended[0]
    if most is not None and chosen is not None and chosen in order[most:]:
        order.remove(chosen)
        order.insert(most - 1, chosen)
    for i in order[:most]:
        point = result.points[i]
        if point.failure:
            cells.add_row(result.names[i], "", "", f"not made: {point.failure}")
            continue
        marks = []
        if i in result.frontier:
            marks.append("frontier")
        if i == result.knee:
            marks.append("knee")
        marks += [f"misses {text}" for text in point.misses]
        if i == result.recommended[0]:
            marks.append("recommended")
        cells.add_row(
            result.names[i],
            *(f"{point.value(metric):.4g}" if point.has(metric) else "–" for metric in (study.risk, study.utility)),
            ", ".join(marks),
        )
    out.print(cells)
    if most is not None and len(order) > most:
        out.print(f"{len(order) - most} more in the report.")
    long = [i for i in order[:most] if result.names[i] != result.points[i].candidate.name]
    if len(long) > SPELLED:
        out.print("\nNames are shortened to what differs; the report and --json have them in full.")
    elif long:
        out.print("\nIn full:")
        for i in long:
            out.print(f"  {result.names[i]}: {result.points[i].candidate.name}", soft_wrap=True)
    why = result.recommended[1]
    out.print()
    if chosen is not None:
        free = leaves(result)
        out.print(
            f"Recommended: {result.points[chosen].candidate.name}{'; but ' * bool(free)}{free}",
            style="bold",
            soft_wrap=True,
        )
    out.print(why)
    if chosen is not None:
        point = result.points[chosen]
        for metric in dict.fromkeys([study.risk, study.utility, *(v.requirement.metric for v in point.verdicts)]):
            if point.has(metric):
                out.print(f"{metric}: {metric.sentence(point.value(metric))}")
