"""All papers on one page, docs/papers.md, with their figures: nothing on it is written by hand.

    sfumato reproduce papers --out docs

The mining paper takes most of an hour, so its numbers come from the JSON of an earlier run (`--sramka FILE`), of which a digest is
kept beside the figures; without one the page says how to make it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.files import write_whole
from .check import WORST, Erratum, Paper, PaperFigure, ShapeCheck
from .tables import folder

Progress = Callable[[float, str], None]

TITLES = {
    "manta": "Manta 2013, Literature survey on privacy preserving mechanisms for data publishing",
    "bezzi": "Bezzi 2010, An information theoretic approach for privacy metrics",
    "afifi": "Afifi, Zhou, Ren 2018, Privacy characterization and quantification in data publishing",
    "askari": "Askari, Safavi-Naini, Barker 2012, An information theoretic privacy and utility measure for data sanitization mechanisms",
    "sramka": "Sramka, Safavi-Naini, Denzinger, Askari 2010, A practice-oriented framework for measuring privacy and utility in data sanitization systems",
}
RECORD = "sramka.json"
HOW = "sfumato reproduce sramka --json > sramka.json && sfumato reproduce papers --out docs --sramka sramka.json"

HEAD = """# The papers, reproduced

Written by `sfumato reproduce papers --out docs`; every number of ours is computed. Per line: what the paper prints, what we get, and

- **agrees**: ours rounds to what is printed; **cut off**: ours begins with it, and the paper did not round;
- **erratum**: the printed number is wrong, and the errata below the paper prove it; **open**: it differs, and we do not know why;
- nothing: the paper prints no number there, or shows it in a figure alone.

`sfumato reproduce NAME` prints the same in a terminal, and exits with 1 if a check fails, an erratum is not proved, or a number differs
without a word. Adult is read from `../shared/data/adult`, or from the folder given with `--data`.
"""


def reproduced(data: Path | None, progress: Progress | None = None) -> list[Paper]:
    """The four papers that take seconds."""
    from . import afifi, askari, bezzi, manta

    papers = []
    for i, module in enumerate((manta, bezzi, afifi, askari)):

        def part(share: float, text: str, i: int = i) -> None:
            if progress is not None:
                progress((i + share) / 4, text)

        papers.append(module.reproduce(data, part))
    return papers


def write(
    out: Path, data: Path | None = None, sramka: Path | None = None, progress: Progress | None = None
) -> list[Path]:
    """Write the page, its figures and the digest of a mining run under `out`; what was there of these is replaced."""
    from ..report.paper_figures import svg

    folder(data)  # a page without the data would lack most of it
    digest = None if sramka is None else record(_read(sramka))
    papers = reproduced(data, progress)
    images = out / "papers"
    try:
        images.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError(f"{out}: cannot be written to; name another folder with --out.") from None
    if digest is not None:
        write_whole(images / RECORD, json.dumps(digest, indent=1, sort_keys=True) + "\n")
    made = [out / "papers.md"]
    figures = [figure for paper in papers for figure in paper.figures]
    for figure in figures:
        made.append(images / f"{figure.name}.svg")
        write_whole(made[-1], svg(figure.kind, figure.title, figure.rows, figure.more))
    for old in images.glob("*.svg"):
        if old not in made:
            old.unlink()
    write_whole(made[0], page(papers, kept(out)))
    return made


def kept(out: Path) -> dict[str, Any] | None:
    """The digest of a mining run that stands beside the page."""
    file = out / "papers" / RECORD
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None


def page(papers: Sequence[Paper], mining: dict[str, Any] | None) -> str:
    """The page in Markdown."""
    text = [HEAD, "| paper | " + " | ".join(WORST[:-1]) + " | checks | errata proved |", "|---" * 7 + "|"]
    for paper in papers:
        verdicts = [line.verdict for line in paper.lines]
        counts = " | ".join(str(verdicts.count(word)) for word in WORST[:-1])
        checks = (*paper.checks, paper.agreement)
        text.append(
            f"| [{paper.cite}](#{paper.key}) | {counts} | {_of(c.holds for c in checks)} | {_of(e.shown for e in paper.errata)} |"
        )
    if mining is not None:
        proved = _of(e["shown"] for e in mining["errata"])
        text.append(
            f"| [Sramka et al. 2010](#sramka) | | | | | {_of(c['holds'] for c in mining['checks'])} | {proved} |"
        )
    text.append("")
    for paper in papers:
        text += _paper(paper)
    text += _sramka(mining)
    return "\n".join(text).rstrip("\n") + "\n"


def _of(holds: Iterable[bool]) -> str:
    verdicts = list(holds)
    return f"{sum(verdicts)} of {len(verdicts)}"


def _paper(paper: Paper) -> list[str]:
    text = _heading(paper.key)
    for part in paper.parts:
        text += [f"### {_plain(part.title)}", ""]
        text += _grid(
            ("", "printed", "ours", "", ""), [(x.what, x.printed, x.ours, x.verdict, x.note) for x in part.lines]
        )
        if part.note:
            text += [_plain(part.note), ""]
    if paper.figures:
        text += ["### Figures", ""]
        for figure in paper.figures:
            text += _figure(figure)
    text += _checks((*paper.checks, paper.agreement))
    text += _errata(paper.errata)
    if paper.differences:
        text += ["### What differs or is left open", "", *(f"- {_plain(each)}" for each in paper.differences), ""]
    return text


def _heading(key: str) -> list[str]:
    return [f'<a id="{key}"></a>', "", f"## {TITLES[key]}", "", f"`sfumato reproduce {key}`", ""]


def _figure(figure: PaperFigure) -> list[str]:
    return [f"![{_plain(figure.title)}](papers/{figure.name}.svg)", "", _plain(figure.caption), ""]


def _checks(checks: Sequence[ShapeCheck]) -> list[str]:
    return ["### Checks", "", *(f"- {_mark(c.holds)} {_plain(c.text)}: {_plain(c.seen)}" for c in checks), ""]


def _errata(errata: Sequence[Erratum]) -> list[str]:
    text = ["### Errata, each with its proof", ""]
    for e in errata:
        text.append(
            f"- {_mark(e.shown)} **{_plain(e.where)}.** Printed: {_plain(e.printed)}. Right: {_plain(e.right)}. {_plain(e.proof)}"
        )
    return [*text, ""]


def _mark(holds: bool) -> str:
    return "✓" if holds else "✗"


def _grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return [*lines, *("| " + " | ".join(_plain(cell) for cell in row) + " |" for row in rows), ""]


def _plain(text: str) -> str:
    """Text that Markdown takes as it stands."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


# --- the mining paper -------------------------------------------------------------------------------------------------


def _read(file: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise InputError(
            f"{file}: not the JSON of `sfumato reproduce sramka --json`; make it with that command."
        ) from None


def record(content: dict[str, Any]) -> dict[str, Any]:
    """What the page needs of the JSON of a run."""
    try:
        releases = {}
        for name, mined in content["releases"].items():
            good, bad, gains = mined["good"], mined["bad"], mined["gains"]
            releases[name] = {
                "miners": {m["miner"]: [m["original"]["value"], m["released"]["value"]] for m in good["miners"]},
                "decline": [good["delta"][end] for end in ("value", "low", "high")],
                "aims": {
                    aim["aim"]: [
                        *(aim[each]["value"] for each in ("average", "worst", "baseline")),
                        aim["worst_miner"],
                    ]
                    for aim in bad["aims"]
                },
                "gains": None
                if gains is None
                else {
                    "accuracy": gains["accuracy"],
                    "accuracy_mined": gains["accuracy_mined"]["value"],
                    "knowledge": gains["knowledge"],
                    "knowledge_mined": gains["knowledge_mined"]["value"],
                },
            }
        folds = next(iter(content["releases"].values()))["folds"]
        kept = {"rows": content["rows"], "folds": folds, "releases": releases}
        return {**kept, **{key: content[key] for key in ("checks", "errata", "differences")}}
    except (KeyError, TypeError, AttributeError, StopIteration):
        raise InputError(
            "The file is not what `sfumato reproduce sramka --json` prints; make it with that command."
        ) from None


def _sramka(content: dict[str, Any] | None) -> list[str]:
    from .sramka import BY_CLASS, EPSILON, PRINTED, K

    text = _heading("sramka")
    if content is None:
        return [
            *text,
            "Not on this page: the run mines eight releases of 45,222 people and takes most of an hour on two cores. To add it:",
            "",
            "```sh",
            HOW,
            "```",
            "",
        ]
    names = [*(f"k = {k}" for k in K), *(f"eps = {e:g}" for e in EPSILON)]  # as the paper prints them
    releases = [content["releases"][name] for name in names]
    people = "all 45,222 people" if content["rows"] == 45_222 else f"a sample of {content['rows']:,} of 45,222 people"
    text += [f"From a recorded run over {people}, {content['folds']} folds; in brackets what the paper prints.", ""]
    text += ["### Table 1: right predictions of the salary", ""]
    rows = []
    for miner, printed in PRINTED["good"].items():
        cells = [miner, f"{releases[0]['miners'][miner][0]:,.0f} ({printed[0]:,})"]
        cells += [f"{r['miners'][miner][1]:,.0f} ({printed[i + 1]:,})" for i, r in enumerate(releases)]
        rows.append(cells)
    declines = ["decline", ""]
    declines += [f"{100 * r['decline'][0]:.2f}% ({PRINTED['decline'][i]:.2f}%)" for i, r in enumerate(releases)]
    text += _grid(("miner", "original", *names), [*rows, declines])
    title = "Table 2: whose age is predicted nearer (A), exactly (B), nearer for a chosen 5% (C)"
    for suffix, unit in (("", "people"), (BY_CLASS, "each class counted once, a reading")):
        text += [f"### {title}; {unit}", ""]
        rows = []
        for aim in ("A", "B", "C"):
            said = [r["aims"][aim + suffix] for r in releases]
            for place, label in enumerate(("average", "worst")):
                cells = [f"{aim}, {label}"]
                cells += [f"{s[place]:,.0f} ({PRINTED[label][aim][i]:,})" for i, s in enumerate(said)]
                rows.append(cells)
            miners = [f"{s[3]} ({PRINTED['worst_miner'][aim][i]})" for i, s in enumerate(said)]
            rows += [
                [f"{aim}, the worst miner", *miners],
                [f"{aim}, who never saw it", *(f"{s[2]:,.0f}" for s in said)],
            ]
        text += _grid(("", *names), rows)
    text += ["### Table 3: adversarial gains", ""]
    rows = []
    for label in ("accuracy", "accuracy_mined", "knowledge", "knowledge_mined"):
        cells = [label.replace("_mined", ", with predictions")]
        for i, r in enumerate(releases[:4]):
            cells.append("-" if r["gains"] is None else f"{r['gains'][label]:.4f} ({PRINTED[label][i]:.4f})")
        rows.append(cells)
    text += _grid(("gain", *names[:4]), rows)
    text += _checks([ShapeCheck(**check) for check in content["checks"]])
    text += _errata([Erratum(**erratum) for erratum in content["errata"]])
    return [*text, "### What differs and why", "", *(f"- {_plain(each)}" for each in content["differences"]), ""]
