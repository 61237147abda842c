"""Ask how much an adversary must already know before a release tells more than a limit."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import _options as o

EXAMPLES = (
    "sfumato inspect knowledge release.csv --roles roles.toml --limit 0.7",
    "sfumato inspect knowledge release.csv --roles roles.toml --limit 0.7 --figure knowledge.html",
)


@o.reads
def run(
    release: o.ReleaseFile,
    roles: o.RolesFile,
    limit: Annotated[
        float,
        typer.Option(min=0, max=1, help="By how much surer an adversary may grow of a value, as a share of 1."),
    ] = 0.5,
    sensitive: o.Sensitive = None,
    figure: o.Figure = None,
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Looks at every belief within a distance of the overall distribution, not only at that one, as k, l, t and the leakages do.

    The answer is the smallest distance at which somebody can grow surer of a value by more than the limit, and the curve up to there. It is
    exact. Exits 1 if who knows only the overall distribution already learns more than the limit.
    """
    from ...core.roles import Roles
    from ...inspect.knowledge_needed import knowledge_needed
    from ...study.advice import spell

    o.check_figure(figure)
    named = Roles.read(roles)
    with o.progress("knowledge"):
        result = knowledge_needed(reading.released(release, named), named, limit=limit, about=sensitive)
    if figure is not None:
        from ...report.figure_pages import write_knowledge

        write_knowledge(result, named, figure, release=str(release))
    if json:
        o.dump({"release": str(release), **result.to_dict(), "figure": None if figure is None else str(figure)})
    else:
        cells = o.grid("distance", "learned at most", words=(), title=f"about {result.column}")
        for delta, learned in result.curve[::4]:
            cells.add_row(spell(delta), spell(learned))
        out = o.console()
        out.print(cells)
        out.print()
        for sentence in result.sentences:
            out.print(sentence)
        if figure is not None:
            out.print(f"Figure: {figure}")
    if result.needed == 0:
        raise typer.Exit(1)
