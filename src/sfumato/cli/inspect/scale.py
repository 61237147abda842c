"""Put k, l, t, leakages and epsilon on one scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from .. import _options as o

if TYPE_CHECKING:
    from ...inspect.one_scale import EpsilonScale

DEFAULT = tuple(f"mondrian k={k}" for k in (2, 5, 10, 20, 50))
EXAMPLES = (
    "sfumato inspect scale --original people.csv --roles roles.toml --figure scale.html",
    "sfumato inspect scale 'mondrian k=10' release.csv --original people.csv --roles roles.toml",
)


@o.reads
def run(
    original: o.NeededOriginal,
    roles: o.RolesFile,
    candidates: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RELEASE]...",
            help="Release files, or mechanisms such as 'mondrian k=5'.",
            show_default="mondrian with k = 2, 5, 10, 20, 50",
        ),
    ] = None,
    sensitive: o.Sensitive = None,
    seed: o.Seed = None,
    figure: o.Figure = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Says what each release tells somebody who knows the quasi-identifiers, and which epsilon would tell as much.

    The yardstick is randomized response: answers that give the true value with a probability set by epsilon. The translation holds for this
    table and this column. It is no promise: a release does not become differentially private by it.
    """
    from ...core.roles import Roles
    from ...inspect.one_scale import one_scale

    o.check_figure(figure)
    named = Roles.read(roles)
    table = reading.open(original, named)
    texts = candidates or list(DEFAULT)
    with o.progress("scale") as bar:
        releases = {}
        for i, text in enumerate(texts):
            bar(i / len(texts), text)
            releases[text] = o.candidate(text, table, named, reading, seed=seed)
        result = one_scale(releases, named, about=sensitive)
    if figure is not None:
        from ...report.figure_pages import write_scale

        write_scale(result, named, figure, table=str(original))
    if json:
        o.dump({"input": str(original), **result.to_dict(), "figure": None if figure is None else str(figure)})
        return
    show(result)
    if figure is not None:
        typer.echo(f"Figure: {figure}")


def show(result: EpsilonScale) -> None:
    """The releases, the yardstick and the sentences."""
    from ...study.advice import spell

    out = o.console()
    names = list(dict.fromkeys(name for line in result.lines for name in line.limits))
    cells = o.grid(
        "",
        *(name.partition("[")[0].replace("_", "\n") for name in names),
        "bits",
        "guessed",
        "certainty",
        title=f"what each release tells of {result.column}",
    )
    for line in result.lines:
        limits = (spell(line.limits[name]) if name in line.limits else "-" for name in names)
        cells.add_row(line.name, *limits, *(spell(x) for x in (line.told.bits, line.told.guessed, line.told.certainty)))
    out.print(cells)
    out.print()
    cells = o.grid("", "bits", "guessed", "certainty", title="the epsilon of randomized answers that tell as much")
    for line in result.lines:
        cells.add_row(line.name, *map(_epsilon, (line.epsilon.bits, line.epsilon.guessed, line.epsilon.certainty)))
    out.print(cells)
    out.print()
    cells = o.grid("epsilon", "bits", "guessed", "certainty", "certainty at most", title="what randomized answers tell")
    for epsilon, told in result.yardstick.items():
        row = (told.bits, told.guessed, told.certainty, result.bound[epsilon])
        cells.add_row(f"{epsilon:g}", *map(spell, row))
    out.print(cells)
    out.print()
    for sentence in result.sentences:
        out.print(sentence)


def _epsilon(value: float) -> str:
    return "none" if math.isinf(value) else f"{value:.3g}"
