"""Design the randomization of one column that hides the most at a given cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..channel.design import Design


EXAMPLES = (
    "sfumato design people.csv --column sex --budget 0.1 --save pram.csv",
    "sfumato design people.csv --column age --bits 1 --save pram.csv",
    "sfumato design people.csv --column sex --frontier 5 --compare --figure design.html",
)


@o.reads
def run(
    input: Annotated[
        Path | None,
        typer.Argument(metavar="[INPUT]", help="A table, for --column: its values and how frequent they are."),
    ] = None,
    column: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column to randomize.")] = None,
    degradation: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", help="What it costs to release each value (first column) as each output (first line)."
        ),
    ] = None,
    cost: Annotated[
        str,
        typer.Option(
            help="Without --degradation: distance (in the column's order), differ (1 for any other value), or auto."
        ),
    ] = "auto",
    uniform: Annotated[bool, typer.Option("--uniform", help="Assume that all values are equally frequent.")] = False,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="The largest expected degradation. The design has the largest error under it."),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(min=0, help="The least error of the adversary. The design has the least degradation with it."),
    ] = None,
    bits: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="BITS",
            help="The most mutual information between a value and what is released. The design has the least degradation under it.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            min=0, help="Also require epsilon-differential privacy between the values that --neighbours names."
        ),
    ] = None,
    neighbours: Annotated[
        str, typer.Option(help="Which values are neighbours: all (local differential privacy), or next in order.")
    ] = "all",
    gain: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", help="What a guess (first column) is worth when a value (first line) is true, from 0 to 1."
        ),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option("--frontier", metavar="POINTS", min=2, help="Compute this many designs along the frontier."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare PRAM and generalization with the design of the same degradation.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Save the matrix. The mechanism pram uses it (--set matrix=FILE)."),
    ] = None,
    figure: o.Figure = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Finds the probabilities with which each value is released as each other, and proves how good they are.

    Give --budget, --error, --bits or --frontier.
    """
    import numpy as np

    from ..channel.column import column_problem, transition
    from ..channel.design import least_degradation, most_private
    from ..channel.frontier import frontier
    from ..channel.rate_distortion import least_degradation_within
    from ..core.errors import InputError
    from ..core.table_formats import check_folder
    from ..mechanisms.parameters.matrix import read_matrix

    if [budget, error, bits, points].count(None) != 3:
        raise InputError("Give exactly one of --budget, --error, --bits and --frontier.")
    if bits is not None and (epsilon is not None or gain is not None):
        raise InputError(
            "--bits limits what is told by itself; leave out --epsilon and --gain, or give --budget or --error."
        )
    if save is not None and points is not None:
        raise InputError("A frontier has many matrices; give --budget, --error or --bits to save one.")
    for path in (save, figure):
        if path is not None:
            check_folder(path)
    if cost not in ("auto", "distance", "differ"):
        raise InputError("--cost is distance, differ or auto.")
    if neighbours not in ("all", "next"):
        raise InputError("--neighbours is all or next.")
    if (input is None) != (column is None):
        raise InputError("Give INPUT together with --column, or --degradation alone.")
    matrix: Any
    prior: Any = None
    if input is not None and column is not None:
        problem = column_problem(reading.open(input), column, cost=cost)  # type: ignore[arg-type]
        names: tuple[str, ...] = problem.names
        outputs, matrix, prior = names, problem.cost, None if uniform else problem.prior
        if degradation is not None:
            rows, outputs, matrix = read_matrix(degradation, "degradation matrix")
            absent = len(set(names) - set(rows))
            if absent:
                raise InputError(
                    f"{degradation}: {absent} of the values of column {column!r} have no row in it; add them."
                )
            share = dict(zip(names, problem.prior, strict=True))
            names, prior = rows, None if uniform else np.array([share.get(name, 0.0) for name in rows])
    elif degradation is not None:
        names, outputs, matrix = read_matrix(degradation, "degradation matrix")
    else:
        raise InputError("Say what to design for: INPUT and --column, or --degradation.")
    privacy: dict[str, Any] = {"eps": epsilon, "neighbours": neighbours, "inputs": names, "outputs": outputs}
    if gain is not None:
        _, values, worth = read_matrix(gain, "gain function")
        if set(values) != set(names):
            raise InputError(f"{gain}: its first line must name the {len(names)} values.")
        privacy["gain"] = worth[:, [values.index(name) for name in names]]
    if points is not None:
        designs = frontier(prior, matrix, points=points, **privacy)
    elif budget is not None:
        designs = [most_private(prior, matrix, budget=budget, **privacy)]
    elif bits is not None:
        designs = [least_degradation_within(prior, matrix, bits=bits, inputs=names, outputs=outputs)]
    else:
        assert error is not None
        designs = [least_degradation(prior, matrix, error=error, **privacy)]
    content: dict[str, Any] = {
        "inputs": len(names),
        "outputs": len(outputs),
        "designs": [_content(d, prior) for d in designs],
    }
    if compare:
        content["compared"] = _compared(prior, matrix, names, outputs, privacy.get("gain"))
    if figure is not None:
        from ..report.figure_pages import write_design

        cost_of_all, rivals = _rivals(matrix, names, outputs)
        line = frontier(prior, cost_of_all, points=points or 13, gain=privacy.get("gain"))
        beside = _against(prior, cost_of_all, rivals, privacy.get("gain"))
        what = f"column {column} of {input.name}" if input is not None and column is not None else "the given costs"
        write_design(
            [_content(each, prior) for each in line], beside, figure, what=what, uniform=uniform or input is None
        )
        content["figure"] = str(figure)
    if save is not None:
        transition(designs[0].channel).write(save)
        content["saved"] = str(save)
    if json:
        o.dump(content)
    else:
        _show(content)
    if input is not None and not uniform:
        o.tell(
            "The prior is the frequencies in the column, so the design reveals something about them; --uniform does not use them."
        )


def _content(design: Design, prior: Any) -> dict[str, Any]:
    from ..channel.leakage import mutual_information

    return {
        "information": mutual_information(design.channel, prior),
        "error": design.error,
        "degradation": design.degradation,
        "question": design.question,
        "bound": design.bound,
        "gap": design.gap,
        "exactness": design.exactness,
        "solver": design.solver,
    }


def _compared(prior: Any, matrix: Any, names: Any, outputs: Any, gain: Any) -> list[dict[str, Any]]:
    """PRAM and groups of neighbours at several strengths, over values and groups together."""
    cost, rivals = _rivals(matrix, names, outputs)
    return _against(prior, cost, rivals, gain)


def _against(prior: Any, cost: Any, rivals: dict[str, Any], gain: Any) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from ..channel.frontier import against

    return [asdict(line) for line in against(prior, cost, rivals, gain=gain)]


def _rivals(matrix: Any, names: Any, outputs: Any) -> tuple[Any, dict[str, Any]]:
    """The costs of values and groups together, and the mechanisms over them."""
    import numpy as np

    from ..channel.frontier import among
    from ..channel.mechanisms import generalization, neighbouring, pram
    from ..core.errors import InputError

    if tuple(names) != tuple(outputs):
        raise InputError(
            "--compare and --figure need a degradation matrix whose inputs and outputs have the same names."
        )
    size = len(names)
    made, labels = [], []
    for keep in (0.9, 0.7, 0.5, 0.3):
        made.append((pram(names, keep), matrix))
        labels.append(f"pram keep={keep:g}")
    for k in (k for k in (2, 3, 5) if k <= size):
        groups = neighbouring(size, k)
        made.append(
            (generalization(names, groups), np.stack([matrix[:, list(g)].mean(axis=1) for g in groups], axis=1))
        )
        labels.append(f"groups of {k}")
    cost, channels, _ = among(made)
    return cost, dict(zip(labels, channels, strict=True))


def _show(content: dict[str, Any]) -> None:
    out = o.console()
    grid = o.grid(
        "degradation", "error of the adversary", "bits told", "no mechanism better than", "exactness", words=()
    )
    for each in content["designs"]:
        limit = f"{each['bound']:.6g} {each['question']}"
        told = f"{each['information']:.6g}"
        grid.add_row(f"{each['degradation']:.6g}", f"{each['error']:.6g}", told, limit, each["exactness"])
    out.print(grid)
    if "compared" in content:
        lines = o.grid("mechanism", "degradation", "error", "designed", title="At equal degradation")
        for each in content["compared"]:
            lines.add_row(each["name"], f"{each['degradation']:.6g}", f"{each['error']:.6g}", f"{each['designed']:.6g}")
        out.print(lines)
    if "figure" in content:
        out.print(f"Figure: {content['figure']}")
    if "saved" in content:
        out.print(
            f"Saved as {content['saved']}: sanitize with --mechanism pram --set columns=COLUMN --set matrix=FILE."
        )
