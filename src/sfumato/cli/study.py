"""Compare candidate releases on a risk-utility map, and recommend one with its documents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..study.result import Result
    from ..study.study import Study

Out = Annotated[
    Path, typer.Option(help="Folder for the documents; scores are kept there, too, unless --cache says where.")
]
Cache = Annotated[Path | None, typer.Option(help="Folder where scores are kept by content, for the next run.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; as many as there are cores unless given.")]
Refine = Annotated[
    int | None,
    typer.Option(min=0, help="How many times to look around the recommended candidate for a better one."),
]
Formats = Annotated[str, typer.Option(help="Formats of the documents, between commas: html, md, pdf.")]
Package = Annotated[
    Path | None,
    typer.Option(help="Also write the recommended release with all that goes with it into this new folder, verified."),
]
AllowSeeded = Annotated[
    bool,
    typer.Option(
        "--allow-seeded",
        help="Package a release even if its random choices were seeded; whoever finds the seed can undo them, and every document says so.",
    ),
]
Reveal = Annotated[bool, typer.Option("--reveal", help="Show values of the table in the internal report.")]


def run(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="The study file (TOML).")],
    out: Out,
    cache: Cache = None,
    workers: Workers = None,
    refine: Refine = None,
    formats: Formats = "html,md",
    package: Package = None,
    allow_seeded: AllowSeeded = False,
    neutralise_formulas: o.NeutraliseFormulas = False,
    reveal: Reveal = False,
    json: o.Json = False,
) -> None:
    """Make and measure every candidate of a study file, and recommend one, with the documents.

    Scores are kept by content: after an interruption it goes on where it stopped, and what is added later costs itself alone.
    Writes report.html and report.json (everything, for you), note (to publish with the data), wp29, ema and intruder. Exits 1 if
    something is required that no candidate meets, or the audit that the file names fails; then no package is written.
    """
    from ..profile.free_release import check_free
    from ..study.study_file import read_study

    wanted = check(formats, package, out)
    asked = read_study(study)
    if not json:
        for note in asked.study.table.notes:
            o.tell(f"{asked.study.table.name}: {note}")
    if package is not None:
        check_free(asked.study.table, asked.study.roles, asked.study.waive)
    else:
        tell_free(asked.study)
    kept = cache or out / ".kept"
    with o.keeping(kept), o.progress("study") as bar:
        result = asked.study.run(
            seed=asked.seed,
            cache=kept,
            workers=workers or os.cpu_count() or 1,
            refine=asked.refine if refine is None else refine,
            progress=lambda done, name: bar(min(0.9, 0.9 * done / (len(asked.study.candidates) + 1)), name),
        )
        bar(0.92, "documents")
        insist = allow_seeded or asked.allow_seeded
        neutral = neutralise_formulas or asked.neutralise_formulas
        end(
            result,
            out,
            formats=wanted,
            package=package,
            reveal=reveal,
            allow_seeded=insist,
            neutralise_formulas=neutral,
        )
    told(result, out, package, json=json)


def tell_free(study: Study) -> None:
    """Say what goes out whichever candidate is taken, and what would be said if one were published."""
    from ..profile.free_columns import refusal

    for text in refusal(study.free.open):
        o.tell(text)


def check(formats: str, package: Path | None, out: Path) -> tuple[str, ...]:
    """The formats; what cannot be written is refused before the work is done."""
    from ..core.errors import InputError
    from ..core.leftovers import clear
    from ..report import pdf, vega
    from ..report.documents import FORMATS

    wanted = tuple(dict.fromkeys(text.strip() for text in formats.split(",") if text.strip()))
    for text in wanted:
        if text not in FORMATS:
            raise InputError(f"--formats {text}: known are {', '.join(FORMATS)}.")
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


def end(
    result: Result,
    out: Path,
    *,
    formats: tuple[str, ...],
    package: Path | None,
    reveal: bool,
    allow_seeded: bool,
    neutralise_formulas: bool,
) -> None:
    """Write the documents, and the package if one is asked for."""
    from ..report.documents import write_all

    write_all(result, out, formats=formats, reveal=reveal, numbers=o.finite(result.to_dict()))
    if package is not None and fit(result):
        from ..report.package import write_package

        write_package(result, package, allow_seeded=allow_seeded, neutralise_formulas=neutralise_formulas)


def warnings(result: Result) -> list[str]:
    """What the documents found of the recommended release that its owner should not overlook."""
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


def fit(result: Result) -> bool:
    """Whether there is a release to recommend, and it keeps what the owner listed that it must."""
    from ..study.findings import findings

    release = findings(result).release
    return release is not None and (
        not result.study.checks or (not isinstance(release.audit, str) and release.audit.met)
    )


def told(result: Result, out: Path, package: Path | None, *, json: bool) -> None:
    """Print the result; exit 1 if what is required is met by none."""
    from ..study.advice import advice
    from .compare import show

    if json:
        o.dump(
            {
                **result.to_dict(),
                "report": str(out / "report.html"),
                "package": str(package) if package is not None and fit(result) else None,
                "warnings": warnings(result),
            }
        )
    else:
        context = result.study.context
        if context is not None:
            typer.echo(context.sentence)
            for limit in context.limits:
                typer.echo(f"  {limit.text}: {limit.sentence} ({limit.source})")
            typer.echo("")
        show(result, most=25)
        for said in advice(result).said:
            if said.about not in ("take", "why", "means") and said.text != result.recommended[1]:
                typer.echo(said.text)
        for text in warnings(result):
            typer.echo(text)
        for command in result.commands():
            typer.echo(f"  $ {command}")
        typer.echo(f"\nDocuments: {out / 'report.html'} and those beside it.")
        if package is not None and fit(result):
            typer.echo(f"Package: {package}, verified.")
        elif package is not None:
            typer.echo(f"Package: {package} was not written.")
    if not fit(result):
        raise typer.Exit(1)
