"""Recompute a paper's tables and figures beside the printed ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..reproduce.check import Erratum, Paper, ShapeCheck
    from ..reproduce.sramka import Reproduction

PAPERS = ("askari", "sramka", "manta", "bezzi", "afifi")
PAGE = "papers"


EXAMPLES = ("sfumato reproduce askari",)


def run(
    paper: Annotated[
        str, typer.Argument(help=f"The paper: {', '.join(PAPERS)}; or {PAGE}, for one page about all of them.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="The folder with adult_48842.csv and its hierarchies, for papers that use Adult."
        ),
    ] = None,
    sample: o.Sample = None,
    folds: o.Folds = 10,
    miners: o.Miners = "reference",
    seed: o.FixedSeed = 0,
    workers: o.Workers = None,
    cache: o.Cache = None,
    no_cache: o.NoCache = False,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="For papers: where papers.md and its figures go.")] = Path(
        "docs"
    ),
    sramka: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For papers: what `reproduce sramka --json` printed."),
    ] = None,
    json: o.Json = False,
) -> None:
    """Shows printed and recomputed numbers side by side, and proves each error in print. Exits 1 if a check fails.

    askari: the channel of the appendix and the k-anonymity example of 98,280 tables. Takes seconds and needs no data.

    manta, bezzi, afifi: the examples need no data. The experiments on Adult (30,162 rows) take some seconds more.

    sramka: utility and anti-utility by data mining of eight releases of Adult (45,222 rows). Takes half an hour on two cores, and less with
    --sample or --miners quick.

    papers: writes all of them to one page. sramka comes from a recorded run, if --sramka names one.
    """
    from ..core.errors import InputError

    if paper not in (*PAPERS, PAGE):
        raise InputError(f"{paper!r} is no paper here; there are {', '.join(PAPERS)}, and {PAGE} for all of them.")
    if paper == PAGE:
        _page(out, data, sramka, json)
        return
    if paper != "sramka":
        holds = _examples(paper, data, json)
    else:
        folder = None if no_cache else cache
        holds = _sramka(
            data,
            json,
            folds=folds,
            rows=sample,
            miners=miners,
            seed=seed,
            workers=workers,
            cache=folder,
            keep=not no_cache,
        )
    if not holds:
        raise typer.Exit(1)


def _examples(paper: str, data: Path | None, json: bool) -> bool:
    """A paper of examples; what needs the data is told as an error at the end, after what does not was printed."""
    import importlib

    from ..core.errors import InputError

    module = importlib.import_module(f"sfumato.reproduce.{paper}")
    with o.progress(paper) as bar:
        example: Paper = module.reproduce(data, bar)
    if json:
        o.dump(example.to_dict())
    else:
        _print(example)
    if example.lacking:
        sentence = f"The parts of {example.cite} that need Adult were not run: {example.lacking}"
        if example.holds and not json:
            raise InputError(sentence)
        o.tell(f"sfumato: {sentence}")
        if example.holds:  # the JSON has said it already; a check that fails weighs more
            raise typer.Exit(2)
    return example.holds


def _print(paper: Paper) -> None:
    out = o.console()
    for part in paper.parts:
        grid = o.grid(part.title, "printed", "ours", "", "", words=(part.title, ""))
        for line in part.lines:
            grid.add_row(line.what, line.printed, line.ours, line.verdict, line.note)
        out.print(grid)
        if part.note:
            out.print(part.note)
        out.print()
    _print_checks(out, (*paper.checks, paper.agreement), paper.errata)
    if paper.differences:
        _print_differences(out, "What differs or is left open:", paper.differences)


def _page(out: Path, data: Path | None, sramka: Path | None, json: bool) -> None:
    from ..reproduce.papers import write

    with o.progress(PAGE) as bar:
        made = write(out, data, sramka, bar)
    if json:
        o.dump({"files": [str(path) for path in made]})
    else:
        o.console().print(f"{made[0]} and {len(made) - 1} figures.")


def _sramka(data: Path | None, json: bool, *, cache: Path | None, keep: bool, **more: Any) -> bool:
    from ..mining.mine import cache_folder
    from ..reproduce.sramka import reproduce
    from ..reproduce.tables import folder

    where = folder(data)
    kept = cache or (cache_folder() if keep else None)
    with o.keeping(kept, shared=cache is None), o.progress("sramka") as bar:
        reproduced = reproduce(where, cache=kept, progress=bar, **more)
    if json:
        o.dump(_json(reproduced))
    else:
        _show(reproduced)
    return all(check.holds for check in reproduced.checks) and all(e.shown for e in reproduced.errata)


def _print_checks(out: Any, checks: Iterable[ShapeCheck], errata: Iterable[Erratum]) -> None:
    for check in checks:
        out.print(f"{'✓' if check.holds else '✗'} {check.text}: {check.seen}")
    out.print()
    out.print("Errata, each with its proof:")
    for e in errata:
        out.print(f"{'✓' if e.shown else '✗'} {e.where}. Printed: {e.printed}. Right: {e.right}. {e.proof}")


def _print_differences(out: Any, title: str, differences: Iterable[str]) -> None:
    out.print()
    out.print(title)
    for text in differences:
        out.print(f"- {text}")


def _json(reproduced: Reproduction) -> dict[str, Any]:
    from ..reproduce.sramka import PRINTED
    from .mine import as_json

    return {
        "paper": "Sramka et al. 2010",
        "rows": reproduced.rows,
        "printed": PRINTED,
        "releases": {name: as_json(mined) for name, mined in reproduced.mined.items()},
        "checks": [{"text": c.text, "holds": c.holds, "seen": c.seen} for c in reproduced.checks],
        "errata": [asdict(e) for e in reproduced.errata],
        "differences": list(reproduced.differences),
    }


def _show(reproduced: Reproduction) -> None:
    from ..reproduce.sramka import BY_CLASS, PRINTED

    out = o.console()
    names = list(reproduced.mined)
    scale = reproduced.rows / 45222
    note = "" if scale == 1 else f" (a sample of {reproduced.rows:,} of 45,222 people: counts are of the sample)"
    out.print(f"Sramka et al. 2010 on Adult{note}; in brackets what the paper prints.")

    def grid(title: str, first: str, headings: list[str], lines: list[list[str]]) -> None:
        made = o.grid(first, *headings)
        for line in lines:
            made.add_row(*line)
        out.print()
        out.print(title)
        out.print(made)

    lines = []
    for miner, printed in PRINTED["good"].items():
        cells = [miner]
        for i, name in enumerate(names):
            good = reproduced.mined[name].good
            assert good is not None
            used = next(m for m in good.miners if m.miner == miner)
            if i in (0, 4):
                cells.append(f"{used.original.value:,.0f} ({printed[0]:,})")
            cells.append(f"{used.released.value:,.0f} ({printed[i + 1]:,})")
        lines.append(cells)
    declines = ["decline"]
    for i, name in enumerate(names):
        good = reproduced.mined[name].good
        assert good is not None
        if i in (0, 4):
            declines.append("")
        declines.append(f"{100 * good.delta.value:.2f}% ({PRINTED['decline'][i]:.2f}%)")
    grid(
        "Table 1: right predictions of the salary",
        "miner",
        ["original", *names[:4]],
        [line[:6] for line in [*lines, declines]],
    )
    grid("", "miner", ["original", *names[4:]], [[line[0], *line[6:]] for line in [*lines, declines]])

    scenarios = (("A", "nearer"), ("B", "exact"), ("C", "nearer, a chosen 5%"))
    counted = [(aim, what, suffix) for suffix in ("", BY_CLASS) for aim, what in scenarios]
    for aim, what, suffix in counted:
        lines = []
        for label in ("average", "worst", "worst miner", "never saw it"):
            cells = [label]
            for i, name in enumerate(names):
                bad = reproduced.mined[name].bad
                assert bad is not None
                seen = bad.aim(aim + suffix)
                if label == "worst miner":
                    cells.append(f"{seen.worst_miner} ({PRINTED['worst_miner'][aim][i]})")
                elif label == "never saw it":
                    cells.append(f"{seen.baseline.value:,.0f}")
                else:
                    value = seen.average.value if label == "average" else seen.worst.value
                    cells.append(f"{value:,.0f} ({PRINTED[label][aim][i]:,})")
            lines.append(cells)
        unit = "each class once, a reading" if suffix else "people"
        grid(f"Table 2, scenario {aim} ({what}): {unit}", "anti-utility", names[:4], [line[:5] for line in lines])
        grid("", "anti-utility", names[4:], [[line[0], *line[5:]] for line in lines])

    lines = []
    for label in ("accuracy", "accuracy_mined", "knowledge", "knowledge_mined"):
        cells = [label.replace("_mined", ", with predictions")]
        for i, name in enumerate(names[:4]):
            gains = reproduced.mined[name].gains
            gained: Any = getattr(gains, label) if gains is not None else None
            number = getattr(gained, "value", gained)
            cells.append("-" if number is None else f"{number:.4f} ({PRINTED[label][i]:.4f})")
        lines.append(cells)
    grid("Table 3: adversarial gains", "gain", names[:4], lines)

    out.print()
    _print_checks(out, reproduced.checks, reproduced.errata)
    _print_differences(out, "What differs and why:", reproduced.differences)
