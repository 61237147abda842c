"""Sanitize a table with one mechanism, and publish the release once the written file is verified."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.table_formats import WRITABLE, check_out
from . import _options as o

EXAMPLES = (
    "sfumato sanitize people.csv --roles roles.toml --mechanism mondrian --set k=10 --waive 'income: made up' --out ten.csv",
    "sfumato sanitize people.csv --roles roles.toml --mechanism k_member --set k=5 --waive 'income: made up' --out five.csv --json",
)


@o.reads
def run(
    input: o.Input,
    roles: o.RolesFile,
    mechanism: o.MechanismName,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help=f"Where the release goes: a {WRITABLE} file, or the address of a PostgreSQL table or a Spark folder.",
        ),
    ],
    settings: o.Settings = None,
    require: o.Require = None,
    population: o.Population = None,
    related: o.Related = None,
    waive: o.Waive = None,
    neutralise_formulas: o.NeutraliseFormulas = False,
    register: o.RegisterFile = None,
    seed: o.Seed = None,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Writes only the columns that the roles file names as quasi, sensitive or insensitive, in an order that hides the order of the input.

    The file is written under a hidden name and measured again. It gets its name only if it meets every requirement (yours and those that the
    mechanism promises), and if no unlimited column sets people apart or gives away what the release protects, unless --waive
    gives a reason. Otherwise nothing is left behind and the exit code is 1.

    `search` finds the best full-domain generalization and proves it; `sanitize` runs any mechanism.
    """
    from dataclasses import replace

    import numpy as np

    from ..core.addresses import place_name
    from ..core.errors import InputError
    from ..core.formulas import formula_cells, formula_warning, neutralisable_cells, neutralised_note
    from ..core.metric import check_counted
    from ..core.roles import Roles
    from ..mechanisms import mechanism as find
    from ..mechanisms.differential_privacy.private_release import Private
    from ..publishing import fingerprint, parts_of, publish
    from ..publishing.waivers import read_waivers
    from ..study.candidate import steered

    named, ledger = Roles.read(roles), o.opened_register(register)
    wanted = o.requirements(require, ledger, named)
    if "|" in mechanism or len(mechanism.split()) > 1:
        if settings:
            raise InputError(
                "Give the parameters in the text of --mechanism ('mondrian k=11', 'hipaa | mondrian k=11') or by --set, not both."
            )
        made_by = o.mechanism(steered(mechanism, wanted))
    else:
        made_by = find(mechanism).of(o.settings(settings), tuple(wanted))
    check_out(out)
    table = reading.open(input, named, stated=made_by.card.private)
    check_out(out, [name for name in table.columns if name in (*named.quasi, *named.sensitive, *named.insensitive)])
    everybody = None if population is None else reading.beside(population, named)
    waivers = read_waivers(waive or [], table.columns)
    if ledger is not None and isinstance(made_by, Private):
        ledger.afford(made_by.cost_of(named))
    rng = None if seed is None else np.random.default_rng(seed)
    along = tuple(reading.beside(path, named) for path in related or [])
    elsewhere = {column for each in along for column in each.columns} - {*table.columns}
    here = replace(named, quasi=tuple(name for name in named.quasi if name not in elsewhere)) if elsewhere else named
    check_counted(wanted, named, made_by.card.name)
    with o.progress(f"{mechanism} {place_name(input)}") as bar:
        release = made_by.against(everybody)(table, here, rng, progress=lambda share: bar(0.9 * share, ""))
        if everybody is not None and release.population is None:
            release = replace(release, population=everybody)
        if along:
            release = replace(release, related=along)
        together = () if ledger is None else ledger.together(release, named)
        promised = [requirement for requirement in made_by.promises if requirement not in wanted]
        published = publish(
            release,
            named,
            [*wanted, *promised],
            out,
            waive=waivers,
            neutralise_formulas=neutralise_formulas,
            register=ledger,
        )
        bar(1.0, "")
    released = release.table.columns
    drew = made_by.card.drew(release.notes)
    formulas: dict[str, int] = {}
    if out.suffix.lower() in (".csv", ".xlsx") and release.neighbours is None:  # else a warning would tell of a row
        for each in (release.table, *release.companions.values()):
            formulas |= neutralisable_cells(each) if neutralise_formulas else formula_cells(each)
    if formulas:
        o.tell((neutralised_note if neutralise_formulas else formula_warning)(formulas, str(out)))
    rows = release.table.rows if release.recoding is None else release.recoding.rows  # known without another scan
    # where rows of the domain stand among the table's, none was suppressed (alpha_beta)
    drawn = release.recoding is None and set(released) <= release.perturbed
    parts = parts_of(release, out)
    kept = {*released, *(column for companion in release.companions.values() for column in companion.columns)}
    dropped = [column for column in table.columns if column not in kept]
    if json:
        o.dump(
            {
                "release": parts[""],
                **fingerprint(release, out),
                "rows": rows,
                "suppressed": None if release.statistics or release.neighbours or drawn else table.rows - rows,
                "columns": list(released),
                "companions": {
                    name: {
                        "file": parts[name],
                        **fingerprint(release, out, name),
                        "columns": list(release.companions[name].columns),
                    }
                    for name in release.companions
                },
                "joined_by": release.joined_by,
                "perturbed": sorted(release.perturbed),
                "dropped": dropped,
                "mechanism": mechanism,
                "parameters": release.parameters,
                "seed": seed,
                "formula_cells": formulas,
                "formulas_neutralised": neutralise_formulas,
                "seed_means": None if seed is None else _seed_means(drew),
                "notes": list(release.notes),
                "requirements": o.verdicts(published.verdicts),
                "people": None if published.people is None else published.people.to_dict(),
                "free_columns": [finding.to_dict() for finding in published.findings],
                "waived": dict(published.waive),
                "earlier": [{"number": each.number, "sentence": each.sentence} for each in together],
            }
        )
        return
    for verdict in published.verdicts:
        typer.echo(f"✓ {verdict}")
    if published.people is not None:
        typer.echo(published.counted)
    if dropped:
        typer.echo(f"Not released: {', '.join(dropped)}.")
    if seed is not None:
        typer.echo(f"Seed {seed}: {_seed_means(drew)}")
    for text in (*published.waived, *release.notes, *(each.sentence for each in together)):
        typer.echo(text)
    for name in release.companions:
        typer.echo(f"{parts[name]}: its companion {name!r}, written and verified with it.")
    typer.echo(f"{parts['']}: {rows:,} rows, {len(released)} columns, written and verified.")


def _seed_means(drew: bool) -> str:
    from ..core.randomness import FINDABLE

    if not drew:
        return "Nothing was drawn at random, so the seed made no difference."
    return f"{FINDABLE} Use it for tests; leave --seed out to publish."
