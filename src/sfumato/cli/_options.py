"""Options that several verbs share, each written once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.table_formats import READABLE
from .completion import mechanism_names, metric_names
from .kept import keeping as keeping
from .reading import Reading as Reading
from .reading import ReleaseReading as ReleaseReading
from .reading import reads as reads
from .terminal import console as console
from .terminal import dump as dump
from .terminal import finite as finite
from .terminal import grid as grid
from .terminal import progress as progress
from .terminal import tell as tell

if TYPE_CHECKING:
    from ..core.mechanism import Mechanism
    from ..core.metric import Requirement, Verdict
    from ..core.release import Release
    from ..core.roles import Roles
    from ..core.table import Table
    from ..publishing.register import Register

MOST_SEED = 2**32 - 1

# --- what a verb is given

Input = Annotated[
    Path,
    typer.Argument(metavar="INPUT", help=f"The table: {READABLE}; - is standard input (CSV or JSON lines)."),
]
ReleaseFile = Annotated[Path, typer.Argument(metavar="RELEASE", help="The published file.")]
RolesFile = Annotated[
    Path, typer.Option("--roles", metavar="ROLES", help="The roles file (TOML). `sfumato profile` writes one.")
]
Original = Annotated[
    Path | None, typer.Option("--original", metavar="TABLE", help="The table that the release was made from.")
]
NeededOriginal = Annotated[
    Path, typer.Option("--original", metavar="TABLE", help="The table that the release was made from.")
]
Pair = Annotated[
    str, typer.Option("--pair", help="How released rows pair with original rows: position, key:COLUMN or none.")
]
Population = Annotated[
    Path | None,
    typer.Option(
        "--population", metavar="TABLE", help="A table of the whole population, for metrics that compare with it."
    ),
]

Related = Annotated[
    list[Path] | None,
    typer.Option("--related", metavar="TABLE", help="A table published about the same people. Repeatable."),
]

# --- what is required, made and measured

Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="TEXT",
        help="A requirement, such as 'k_anonymity >= 5'. Repeatable.",
        autocompletion=metric_names,
    ),
]
Waive = Annotated[
    list[str] | None,
    typer.Option(
        "--waive",
        metavar="'COLUMN: REASON'",
        help="Publish this column although a check objects to it. The reason appears in every document. Repeatable.",
    ),
]
Purpose = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="What the recipients will use the data for. It stands on the decision sheet."),
]
Day = Annotated[
    str | None,
    typer.Option(
        metavar="YYYY-MM-DD",
        help="The day of the decision. Without it, the decision sheet leaves a line for it, so its bytes do not depend on the day.",
    ),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="'KEY: REASON'",
        help="Why an open point of the decision sheet is accepted, by the key that the sheet prints beside it. Repeatable.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="METRIC",
        # a bracket before a parenthesis would be a link in Markdown, which is what helps are written in
        help="A metric to measure, such as 't_closeness\\[ordered](salary)'. Repeatable.",
        autocompletion=metric_names,
    ),
]
MechanismName = Annotated[
    str,
    typer.Option(
        "--mechanism",
        metavar="NAME",
        help="The mechanism, perhaps with its parameters ('mondrian k=11'), or a chain such as 'hipaa | mondrian k=11'. `sfumato mechanisms` lists them.",
        autocompletion=mechanism_names,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the mechanism. Repeatable."),
]
Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate",
        metavar="MECHANISM",
        help="A mechanism with its parameters, such as 'mondrian k=5'. Repeatable.",
        autocompletion=mechanism_names,
    ),
]
Risk = Annotated[
    str | None,
    typer.Option("--risk", metavar="METRIC", help="The metric of the risk axis.", autocompletion=metric_names),
]
Utility = Annotated[
    str | None,
    typer.Option("--utility", metavar="METRIC", help="The metric of the utility axis.", autocompletion=metric_names),
]
Suppression = Annotated[
    float,
    typer.Option(
        "--suppression", metavar="SHARE", help="The largest share of rows that may be left out, such as 0.05."
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", metavar="SECONDS", min=0, help="Stop after this time with the best so far, and a bound."
    ),
]
StudyTimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        min=0,
        help="Stop after this time by the clock, as Ctrl-C does, with the best candidate that was measured by then.",
    ),
]
MaxChecks = Annotated[
    int | None,
    typer.Option(
        "--max-checks",
        metavar="NODES",
        min=0,
        help="Stop after this many nodes. The result is the same on every machine.",
    ),
]
Sensitive = Annotated[
    str | None,
    typer.Option(
        "--sensitive", metavar="COLUMN", help="The column to protect.", show_default="the first sensitive column"
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", metavar="COLUMN", help="The column that users want to predict.")
]

Knows = Annotated[
    list[str] | None,
    typer.Option(
        "--knows",
        metavar="COLUMN",
        help="A column that the adversary knows. Repeatable.",
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by", metavar="COLUMN", help="Compare the groups of people with each value of this column. Repeatable."
    ),
]

# --- how a verb works and what it writes

Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed for random draws, for tests: whoever learns the seed can undo them."),
]
FixedSeed = Annotated[int, typer.Option("--seed", min=0, max=MOST_SEED, help="Seed for random draws.")]
Refine = Annotated[
    int, typer.Option("--refine", min=0, help="How many times to look around the best candidate for a better one.")
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes to run at once.", show_default="one per core")
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache", metavar="FOLDER", help="Where to keep finished results, so that an interrupted run can go on."
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Keep no results.")]
Miners = Annotated[
    str, typer.Option("--miners", metavar="NAMES", help="The miners: reference, quick, paper, or names with commas.")
]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")]
Sample = Annotated[
    int | None, typer.Option("--sample", metavar="ROWS", min=1, help="Use a random sample of this many rows.")
]
Listed = Annotated[int, typer.Option("--most", metavar="LINES", min=1, help="How many lines to list.")]
Figure = Annotated[
    Path | None, typer.Option("--figure", metavar="HTML", help="Also draw a figure, as one page that needs no network.")
]
Formats = Annotated[
    str, typer.Option("--formats", help="Formats of the documents: html, md, pdf, with commas between.")
]
Package = Annotated[
    Path | None,
    typer.Option(
        "--package",
        metavar="FOLDER",
        help="Write the recommended release, verified, with its documents to this new folder.",
    ),
]
AllowSeeded = Annotated[
    bool,
    typer.Option(
        "--allow-seeded",
        help="Package a release although its random draws were seeded. Whoever learns the seed can undo them; every document "
        "says so.",
    ),
]
NeutraliseFormulas = Annotated[
    bool,
    typer.Option(
        "--neutralise-formulas",
        help="Put an apostrophe before every cell that a spreadsheet would run as a formula. The note says how to undo it.",
    ),
]
RegisterFile = Annotated[
    Path | None,
    typer.Option(
        "--register",
        metavar="FILE",
        help="Your register of releases about the same people: earlier ones are played against this one, budgets are added up, and "
        "this release is entered. A new file begins a register.",
    ),
]
Reveal = Annotated[bool, typer.Option("--reveal", help="Show values of the table. For your eyes only.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def requirements(
    texts: list[str] | None, register: Register | None = None, roles: Roles | None = None
) -> list[Requirement]:
    """Requirements from their texts; an earlier release that a text leaves out is the last of the register."""
    from ..metrics import require

    given = texts or []
    if register is not None and roles is not None:
        given = [register.completed(text, roles) for text in given]
    return [require(text) for text in given]


def verdicts(measured: Iterable[Verdict]) -> dict[str, dict[str, Any]]:
    """Verdicts as JSON has them, by requirement."""
    from ..study.study import number

    return {
        str(each.requirement): {"met": each.met, "value": number(each.score.value), "exactness": each.score.exactness}
        for each in measured
    }


def opened_register(path: Path | None) -> Register | None:
    """The register, where one is named."""
    if path is None:
        return None
    from ..publishing.register import Register

    return Register(path)


def candidate(
    text: str, table: Table, roles: Roles, reading: Reading, *, pair: str = "none", seed: int | None = None
) -> Release:
    """A release from its text: a file, or a mechanism such as 'mondrian k=5'."""
    import numpy as np

    from ..core.release import Release

    if Path(text).is_file():
        return Release(table=reading.release(Path(text), roles, table), original=table, pairing=pair)
    return mechanism(text)(table, roles, np.random.default_rng(seed or 0))


def check_figure(figure: Path | None) -> None:
    """Refuse a figure that is no page, or has nowhere to go, before any work."""
    from ..core.errors import InputError
    from ..core.table_formats import check_folder

    if figure is None:
        return
    if figure.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{figure}: the figure is a web page; give it a name that ends in .html.")
    check_folder(figure)


def mechanism(text: str) -> Mechanism:
    """A mechanism, or a chain, with its parameters from a text such as 'mondrian k=5'."""
    from ..study.candidate import Candidate

    made = Candidate.of(text).mechanism
    assert made is not None
    return made


def settings(texts: list[str] | None) -> dict[str, str]:
    """Parameters of a mechanism from KEY=VALUE."""
    from ..core.errors import InputError

    values: dict[str, str] = {}
    for text in texts or []:
        key, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--set {text}: write key=value.")
        values[key.strip()] = value.strip()
    return values
