"""Look at a raw table: what is risky in it, and which role suits each column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as o

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from ..inspect.raw_risk import RawRisk
    from ..profile.table import Profile


MOST = 12
"""Combinations and sets of columns that are listed."""

EXAMPLES = (
    "sfumato profile people.csv --write-roles my-roles.toml",
    "sfumato profile people.csv --deep --roles roles.toml",
)


@o.reads
def run(
    input: o.Input,
    write_roles: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the suggested roles to this TOML file, for you to edit.")
    ] = None,
    max_columns: Annotated[int, typer.Option(min=1, max=6, help="The largest combination of columns to look at.")] = 3,
    quasi: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Look at this column instead of the suggested quasi-identifiers. Repeatable.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the roles file.")] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Look deeper: every set of quasi-identifiers, minimal uniques, thresholds, outliers, and the cost of each further column.",
        ),
    ] = False,
    roles: Annotated[
        Path | None, typer.Option(metavar="ROLES", help="With --deep: your roles file instead of the suggested roles.")
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="With --deep: the share of the population that is in the table, to estimate who is unique in it.",
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="With --deep: a table of the whole population, for the journalist's risk."),
    ] = None,
    threshold: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            help="With --deep: the least number of rows that a combination should have. Repeatable.",
            show_default="3, 5 and 10",
        ),
    ] = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Shows what each column is, which role suits it and why, and which combinations of columns single people out.

    Prints no value of the table. The suggested roles are a start: you know better than any program what an adversary may know.
    """
    from ..core.errors import InputError
    from ..core.files import write_whole
    from ..core.roles import Roles
    from ..profile.table import profile

    if write_roles is not None and write_roles.exists() and not force:
        raise InputError(f"{write_roles}: this file exists; name another one, or pass --force.")
    if quasi and roles is not None:
        raise InputError("--quasi and --roles both name the quasi-identifiers; give only one.")
    if not deep and (roles or fraction or population or threshold):
        raise InputError("--roles, --fraction, --population and --threshold need --deep.")
    own = None if roles is None else Roles.read(roles)
    table = reading.open(input, own)
    deeper = None
    with o.progress(f"profile {input}") as bar:
        result = profile(table, most=max_columns, quasi=quasi or None, roles=own)
        if deep:
            from ..inspect.raw_risk import THRESHOLDS, raw_risk

            deeper = raw_risk(
                table,
                own or result.roles,
                fraction=fraction,
                population=None if population is None else reading.beside(population, own or result.roles),
                thresholds=tuple(sorted(set(threshold))) if threshold else THRESHOLDS,
                progress=bar,
            )
    if write_roles is not None:
        write_whole(write_roles, result.toml())
    if json:
        content = {**result.to_dict(), "roles_file": None if write_roles is None else str(write_roles)}
        o.dump(content if deeper is None else {**content, "risk": deeper.to_dict()})
        return
    show(result)
    if deeper is not None:
        show_risk(deeper)
    if write_roles is not None:
        typer.echo(f"\nSuggested roles: {write_roles}. Read and correct them first.")


def show(profile: Profile, most: int = MOST) -> None:
    """The profile as three tables."""
    from ..core.words import percent

    content = profile.to_dict()
    out = o.console()
    out.print(f"{content['table']}: {content['rows']:,} rows, {len(content['columns'])} columns", style="bold")

    role = "role" if profile.owned else "suggested role"
    headings = ("column", "kind", "distinct", "missing", role, "because")
    cells = o.grid(*headings, words=("column", "kind", role, "because"), title="\nColumns", fold=True)
    for column in content["columns"]:
        about = "" if column.get("exactness", "exact") == "exact" else "about "
        distinct, gaps = f"{about}{column['distinct']:,}", f"{column['missing']:,}"
        cells.add_row(column["name"], column["kind"], distinct, gaps, column["role"], column["because"])
    out.print(cells)
    if content["combinations"]:
        title = "\nWhich combinations single rows out, worst first"
        cells = o.grid("columns", "alone", "share", title=title, fold=True)
        for combination in content["combinations"][:most]:
            cells.add_row(
                ", ".join(combination["columns"]),
                f"{combination['unique_rows']:,}",
                percent(combination["share"]),
            )
        out.print(cells)
    if content["adds"]:
        out.print(f"\n{content['sentence']}", style="bold")
        added = ("column", "bits", "alone by it only", "alone without it", "it adds")
        cells = o.grid(*added, title="\nWhat each column adds", fold=True)
        for row in content["adds"]:
            bits = "" if row["entropy_bits"] is None else f"{row['entropy_bits']:.2f}"
            cells.add_row(
                row["column"], bits, f"{row['unique_alone']:,}", f"{row['unique_without']:,}", f"{row['adds']:,}"
            )
        out.print(cells)
    for note in content["notes"]:
        out.print(f"Note: {note}")


def show_risk(risk: RawRisk) -> None:
    """The deeper look as tables, each with a sentence."""
    from ..core.words import about, counted, percent

    out = o.console()

    def grid(title: str, *headings: str) -> Grid:
        words = [heading for heading in headings if not heading or heading.endswith("?") or heading == "worst set"]
        return o.grid(*headings, words=(headings[0], *words), title=title, fold=True)

    size = f"up to {risk.largest} " if risk.largest < len(risk.quasi) else ""
    limits = [f"below {k}" for k in risk.thresholds]
    cells = grid(
        f"\nThe worst {min(MOST, len(risk.sets))} of all {len(risk.sets):,} sets of {size}quasi-identifiers",
        "columns", "classes", "alone", *limits, "mean risk", "pairs told apart",
    )  # fmt: skip
    for one in risk.sets[:MOST]:
        cells.add_row(
            ", ".join(one.columns), f"{one.classes:,}", f"{one.alone:,}", *(f"{n:,}" for n in one.below),
            about(one.distinction), percent(one.separation),
        )  # fmt: skip
    out.print(cells)
    cells = grid(
        "\nCombinations against a least frequency",
        "columns known",
        "least",
        "sets failing",
        "rows on the worst",
        "worst set",
    )
    for check in risk.checks:
        if check.columns <= 3:
            cells.add_row(
                str(check.columns), str(check.least), f"{check.failing_sets} of {check.sets}", f"{check.rows:,}",
                ", ".join(check.worst),
            )  # fmt: skip
    out.print(cells)
    minimal, *others = risk.sentences
    out.print(f"\n{minimal}")
    cells = grid("", "column", f"in so much of these, of at most {counted(risk.suda.most, 'column')}, by score")
    for column, share in sorted(risk.suda.by_column.items(), key=lambda item: -item[1]):
        cells.add_row(column, percent(share))
    out.print(cells)
    for sentence in others:
        out.print(sentence)
    cells = grid("\nEMA's three questions", "column", "replicable?", "distinguishable?", "knowable?")
    for question in risk.questions:
        cells.add_row(question.column, question.replicable, question.distinguishable, question.knowable)
    out.print(cells)
    if risk.curve:
        cells = grid(
            "\nAs columns become known (least loss that brings classes to 5 with at most 5% suppressed)",
            "added", "alone", "", "mean risk", "least loss", "",
        )  # fmt: skip
        for step in risk.curve:
            loss = (
                ("none found" if step.exactness == "exact" else "of rows only")
                if step.loss is None
                else f"{step.loss:.4f}{'' if step.exactness == 'exact' else ' at most'}"
            )
            cells.add_row(
                step.added,
                percent(step.alone),
                _bar(step.alone),
                about(step.risk),
                loss,
                _bar(step.loss or 0.0),
            )
        out.print(cells)


def _bar(share: float) -> str:
    """A share as a bar of so many places."""
    full = round(20 * share)
    return "█" * full + "·" * (20 - full)
