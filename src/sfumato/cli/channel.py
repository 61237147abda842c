"""Treat a mechanism as a noisy channel: how often is the best guess of its input wrong?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..channel.prior import Prior

MATRIX = 250_000
"""Inputs of a described channel up to which its matrix is made as well."""


EXAMPLES = ("sfumato design people.csv --column sex --budget 0.1 --save pram.csv", "sfumato channel pram.csv")


@o.reads
def run(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A CSV matrix (outputs in the first line, inputs in the first column), a TOML description of k-anonymity, or, "
            "with --roles and --original, a release.",
        ),
    ],
    prior: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="What the adversary knows beforehand: two columns, input and probability."),
    ] = None,
    roles: Annotated[
        Path | None, typer.Option("--roles", metavar="ROLES", help="The roles file (TOML), for a release.")
    ] = None,
    original: o.Original = None,
    pair: o.Pair = "position",
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column of the record. Repeatable.", show_default="every quasi-identifier"
        ),
    ] = None,
    worst: Annotated[
        bool,
        typer.Option("--worst-prior/--no-worst-prior", help="Look for the prior under which the adversary errs most."),
    ] = True,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare", help="For a small description: put k-anonymity, PRAM, noise, a count and Anatomy in one table."
        ),
    ] = False,
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Reports the error of four adversaries, the error under the worst prior, and the bounds of any error (Askari et al. 2012).

    For a release, inputs are original records, outputs are released records, and the prior is how frequent each record is. A TOML
    description has rows, k, publish, and one [[attribute]] each with name, role and levels.
    """
    from ..core.errors import InputError

    if compare and (roles is not None or file.suffix.lower() != ".toml"):
        raise InputError("--compare needs a TOML description, whose domain every mechanism can be given.")
    if roles is not None:
        if original is None:
            raise InputError("A release becomes a channel together with its original table: give --original.")
        content = _of_release(file, roles, original, pair, column, worst, reading)
    elif original is not None or column:
        raise InputError("--original and --column describe a release; give its --roles, too.")
    elif file.suffix.lower() == ".toml":
        if prior is not None:
            raise InputError("A description states its own prior: probabilities for the values of its attributes.")
        content = _described(file, worst, compare)
    else:
        from ..channel.channel import Channel
        from ..channel.summary import summary

        try:
            made = Channel.read(file)
        except InputError as error:
            raise InputError(f"{str(error).rstrip('.')}; for a release give --roles and --original.") from None
        content = summary(made, _prior(prior), worst=worst)
    if json:
        o.dump({"file": str(file), **content})
    else:
        _show(content)


def _prior(path: Path | None) -> Prior:
    if path is None:
        return None
    import csv

    from ..core.errors import InputError

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a prior ({type(error).__name__}).") from None
    probabilities: dict[Any, float] = {}
    for i, line in enumerate(lines):
        try:
            name, number = line
            above, sign, below = number.partition("/")
            value = float(above) / float(below) if sign else float(above)
        except (ValueError, ZeroDivisionError):
            if i == 0:  # a line of headings
                continue
            raise InputError(f"{path}: line {i + 1} is not an input and its probability.") from None
        if name in probabilities:
            raise InputError(f"{path}: line {i + 1} names an input again.")
        probabilities[name] = value
    return probabilities


def _described(path: Path, worst: bool, compare: bool) -> dict[str, Any]:
    from ..channel import k_anonymity
    from ..channel.summary import summary

    description = k_anonymity.read(path)
    solved = k_anonymity.solve(description)
    content = solved.as_json()
    if solved.inputs <= MATRIX and description.prior is None:  # else a matrix is out of reach, or not what is asked
        more = summary(k_anonymity.channel(description), worst=worst)
        content = {**more, **content}
    if compare:
        from dataclasses import asdict

        from ..channel.laboratory import laboratory

        content["compared"] = [asdict(line) for line in laboratory(description)]
    return content


def _of_release(
    file: Path,
    roles: Path,
    original: Path,
    pair: str,
    column: list[str] | None,
    worst: bool,
    reading: o.ReleaseReading,
) -> dict[str, Any]:
    from ..channel.record import record_channel
    from ..channel.summary import LISTED, summary
    from ..core.roles import Roles

    named = Roles.read(roles)
    made = reading.released(file, named, original=original, pairing=pair)
    record = record_channel(made, named, column)
    content = summary(record.channel, record.prior, worst=worst)
    if "worst_prior" in content and record.channel.shape[0] <= LISTED:
        del content["worst_prior"]["prior"]  # of records, whose order would tell their values
    return {"rows": record.rows, "record": list(column or named.quasi), **content}


ADVERSARIES = {
    "neither": "knows neither mechanism nor prior",
    "prior": "knows the prior",
    "mechanism": "knows the mechanism (eq. 3)",
    "both": "knows both (eq. 5)",
}


def _show(content: dict[str, Any]) -> None:
    out = o.console()
    sizes = [_count(content, name) for name in ("inputs", "outputs")]
    out.print(f"{sizes[0]} inputs, {sizes[1]} outputs", style="bold")
    grid = o.grid("adversary", "error")
    for name, error in content.get("adversaries", {}).items():
        grid.add_row(ADVERSARIES[name], f"{error:.6g}")
    if "adversaries" not in content or content["exactness"] != "exact":
        sign = {"exact": "", "bound": "≥ ", "estimate": "≈ "}[content["exactness"]]
        grid.add_row("knows both (eq. 5)", f"{sign}{content['error']:.6g}")
    if "worst_prior" in content:
        worst = content["worst_prior"]
        exact = worst["exactness"] == "exact"
        shown = f"{worst['error']:.6g}" if exact else f"{worst['low']:.6g} to {worst['high']:.6g}"
        grid.add_row("under the prior that is worst for the adversary", shown)
    out.print(grid)
    if content.get("ci"):
        out.print(
            f"This is an estimate, with a confidence interval from {content['ci'][0]:.6g} to {content['ci'][1]:.6g}."
        )
    if "place" in content:
        low, high = content["bounds"]
        out.print(
            f"Under a uniform prior every error lies from {low:.6g} to {high:.6g}; this mechanism stands at "
            f"{content['place']:.1%} of the way."
        )
    elif "bounds" in content:
        what = "Of so many inputs and outputs every error lies" if content["exactness"] == "exact" else "The error lies"
        out.print(f"{what} from {content['bounds'][0]:.6g} to {content['bounds'][1]:.6g}.")
    if "compared" in content:
        _compared(content["compared"])
    if "bayes_capacity" not in content:
        return
    out.print(f"No error exceeds {content['santhi_vardy']:.6g} (Santhi and Vardy).")
    out.print(
        f"The release makes a right guess {content['multiplicative_leakage']:.4g} times likelier "
        f"({content['min_entropy_leakage']:.4g} bits of min-entropy), {content['bayes_capacity']:.4g} times at most (Bayes capacity)."
    )
    most = content["capacity"]
    out.print(
        f"It tells {content['mutual_information']:.4g} bits of the input and leaves {content['conditional_entropy']:.4g}; "
        f"its capacity is {most['low']:.6g} bits."
    )


def _count(content: dict[str, Any], name: str) -> str:
    """A number of inputs or outputs; as a power of 2 where it is too long, and a dash where it is not known."""
    if content.get(name) is not None:
        return f"{content[name]:,}"
    return f"2^{content[f'log2_{name}']:.1f}" if content.get(f"log2_{name}") is not None else "-"


def _compared(lines: list[dict[str, Any]]) -> None:
    numbers = ("inputs", "knows neither", "the prior", "the mechanism", "both", "worst prior", "bits lost")
    words = ("mechanism", "parameter")
    grid = o.grid(*words, *numbers, words=words, title="Mechanisms on the same tables")
    for column in grid.columns[: len(words)]:
        column.no_wrap = True
    for line in lines:
        errors = (f"{line[name]:.4g}" for name in ("neither", "prior", "mechanism_known", "both", "worst_prior"))
        lost = "-" if line["degradation"] is None else f"{line['degradation']:.4g}"
        grid.add_row(line["mechanism"], line["parameter"], f"{line['inputs']:,}", *errors, lost)
    o.console().print(grid)
