"""Train miners on a release: what can users still predict, and what can an adversary?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..mining.outcome import Estimate, MiningOutcome


@o.reads
def run(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCENARIO.toml | ORIGINAL [RELEASE]...", help="A scenario file; or the tables themselves."
        ),
    ],
    good: Annotated[str | None, typer.Option(metavar="FIELD", help="The field that users want to predict.")] = None,
    bad: Annotated[str | None, typer.Option(metavar="FIELD", help="The field that an adversary wants to know.")] = None,
    roles: Annotated[
        Path | None,
        typer.Option(
            metavar="ROLES", help="The roles file. Without one every column is released and may be looked at."
        ),
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(help="A mechanism with parameters, such as 'k_member k=10', made and mined here. Repeatable."),
    ] = None,
    pair: Annotated[
        str | None,
        typer.Option(
            help="How rows belong together: position, or key:COLUMN. Without it they are paired by position if every row agrees."
        ),
    ] = None,
    perturbed: o.Perturbed = None,
    companion: o.Companions = None,
    joined_by: o.JoinedBy = None,
    error: Annotated[
        str, typer.Option(help="Worth of a prediction: equal, 'within 5', or an expression: 'predicted >= true'.")
    ] = "equal",
    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="What people count for users: \"age > 55 and sex = 'F' -> 10\". Repeatable."),
    ] = None,
    bad_weight: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="The same for the adversary. Repeatable.")
    ] = None,
    nearer: Annotated[
        float | None,
        typer.Option(min=0, max=100, help="Percent nearer that counts as a success; 0 strictly nearer, 100 exact."),
    ] = None,
    miners: Annotated[
        str | None,
        typer.Option(help="reference, quick, paper, or names separated by commas; for both fields."),
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Look at the utility of its groups. Repeatable.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 10,
    rows: Annotated[int | None, typer.Option(min=1, help="Mine a sample of at most so many people.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Folds, samples and miners are drawn by it.")] = 0,
    workers: Annotated[int | None, typer.Option(min=1, help="Miners at once; as many as there are cores.")] = None,
    cache: Annotated[
        Path | None, typer.Option(help="Folder for finished predictions, so that an interrupted run goes on.")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep nothing.")] = False,
    json: o.Json = False,
    *,
    reading: o.Reading,
) -> None:
    """Mine a release: what it is still worth to users, and what an adversary can still predict.

    Users and adversary learn from the release by cross-validation; predictions are held against the original. What users lose is
    (1 - delta, L): for every miner of L at least 1 - delta of the utility is kept. What the adversary gains is counted in people
    whose protected value is predicted nearer to the truth than it was released, beside an adversary who never saw the release.
    """
    from ..mining.mine import cache_folder

    folder = None if no_cache else cache or cache_folder()
    with o.keeping(folder, shared=cache is None), o.progress("mining") as bar:
        if files[0].suffix.lower() == ".toml":
            given = {
                "--good": good, "--bad": bad, "--roles": roles, "--candidate": candidate, "--pair": pair,
                "--perturbed": perturbed, "--companion": companion, "--joined-by": joined_by, "--weight": weight, "--bad-weight": bad_weight, "--nearer": nearer,
                "--miners": miners, "--group": group, "--rows": rows, "--error": error != "equal" or None,
                "--folds": folds != 10 or None, "--seed": seed or None,
            }  # fmt: skip
            found = _scenario(files, [name for name, value in given.items() if value is not None], folder, workers, bar)
        else:
            from ..core.errors import InputError
            from ..mining.scenario import AIMS, Aim, Bad, Good, Scenario

            if good is None and bad is None:
                raise InputError(
                    "Name the field to be predicted with --good, the one to be protected with --bad, or both."
                )
            chosen = None if miners is None else [name.strip() for name in miners.split(",")]
            more: dict[str, Any] = {} if chosen is None else {"miners": chosen}
            aims: tuple[Aim, ...] = AIMS
            if nearer is not None or bad_weight:
                aims = (Aim(name="A", nearer=nearer or 0.0, weights=bad_weight),)
            scenario = Scenario(
                good=None
                if good is None
                else Good(field=good, error=error, weights=weight, groups=tuple(group or ()), **more),
                bad=None if bad is None else Bad(field=bad, aims=aims, **more),
                folds=folds,
                seed=seed,
                rows=rows,
            )
            found = _tables(
                files,
                roles,
                candidate or [],
                pair,
                perturbed or [],
                companion,
                joined_by,
                scenario,
                reading,
                json,
                folder,
                workers,
                bar,
            )
    if json:
        o.dump({"releases": [as_json(mined) for mined in found.values()]})
        return
    out = o.console()
    for mined in found.values():
        show(mined, out)


def _scenario(
    files: list[Path], given: list[str], folder: Path | None, workers: int | None, bar: Any
) -> dict[str, MiningOutcome]:
    from ..core.errors import InputError
    from ..mining.plan import mine_file

    if len(files) > 1 or given:
        more = f"without {', '.join(given)}" if given else "alone"
        raise InputError(f"{files[0]} says itself what is mined and how; give it {more}.")
    return mine_file(files[0], cache=folder, workers=workers, progress=bar)


def _tables(
    files: list[Path],
    roles: Path | None,
    candidates: list[str],
    pair: str | None,
    perturbed: list[str],
    companion: list[str] | None,
    joined_by: str | None,
    scenario: Any,
    reading: o.Reading,
    quiet: bool,
    folder: Path | None,
    workers: int | None,
    bar: Any,
) -> dict[str, MiningOutcome]:
    import numpy as np

    from ..core.errors import InputError
    from ..core.roles import Roles
    from ..mining.mine import mine
    from ..study.study import grid

    original = reading.open(files[0], quiet=quiet)
    if len(files) < 2 and not candidates:
        raise InputError("Name a release behind the original, or a mechanism with --candidate.")
    if roles is not None:
        named = Roles.read(roles)
    else:
        protected = tuple(field for field in (scenario.good and scenario.good.field,) if field in original.columns)
        rest = tuple(name for name in original.columns if name not in protected)
        named = Roles(quasi=rest, sensitive=protected)
    releases = {}
    for path in files[1:]:
        name = path.name if path.name not in releases else str(path)
        releases[name] = o.released(
            path,
            named,
            reading,
            original=files[0],
            companion=companion,
            joined_by=joined_by,
            perturbed=perturbed,
            quiet=quiet,
            pairing=pair or "none",
        )
    for made in grid(candidates):
        bar(0.0, made.name)
        assert made.mechanism is not None
        releases[made.name] = made.mechanism(original, named, np.random.default_rng(scenario.seed))
    return mine(releases, named, scenario, cache=folder, workers=workers, progress=bar)


def as_json(mined: MiningOutcome) -> dict[str, Any]:
    """Everything that was found, as plain data."""

    def plain(value: Any) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, tuple | list | frozenset):
            return [plain(item) for item in (sorted(value) if isinstance(value, frozenset) else value)]
        return value.item() if hasattr(value, "item") else value

    found: dict[str, Any] = {**plain(mined), "exactness": "estimate"}
    return found


def show(mined: MiningOutcome, out: Any) -> None:
    """The figures of one release, with a sentence each."""
    from rich.table import Table as Grid

    out.print()
    out.print(f"{mined.name}: {mined.rows:,} people, {mined.folds} folds; figures with 95% intervals from the folds.")
    good = mined.good
    if good is not None:
        out.print()
        out.print(f"Good utility: predicting {good.field} (share of what being right about everybody is worth)")
        grid = Grid(box=None, padding=(0, 2, 0, 0))
        headings = ["miner", "original", "release", "decline"]
        transfer = any(m.release_to_original is not None for m in good.miners)
        if transfer:
            headings += ["release → original", "original → release"]
        for heading in headings:
            grid.add_column(heading, justify="left" if heading == "miner" else "right")
        for m in good.miners:
            cells = [f"{m.miner}{' (sample)' if m.sampled else ''}", _share(m.original, good.total)]
            cells += [_share(m.released, good.total), _percent(m.decline)]
            if transfer:
                cells += [
                    "" if figure is None else _share(figure, good.total)
                    for figure in (m.release_to_original, m.original_to_release)
                ]
            grid.add_row(*cells)
        blank = [""] * (len(headings) - 2)
        grid.add_row("(who never saw it)", _share(good.baseline, good.total), *blank)
        out.print(grid)
        if good.delta.value == good.delta.value:  # else a note says why there is none
            out.print(
                f"For these miners the release keeps an estimated {100 * (1 - good.delta.value):.3g}% of the utility or more "
                f"(delta = {100 * good.delta.value:.3g}%, decided by {good.decided_by})."
            )
        if good.groups:
            grid = Grid(box=None, padding=(0, 2, 0, 0))
            for heading in ("group", "people", "original", "release", "decline"):
                grid.add_column(heading, justify="left" if heading == "group" else "right")
            for g in good.groups:
                grid.add_row(
                    f"{g.column} = {g.value}",
                    f"{g.rows:,}",
                    f"{g.original:.3f}",
                    f"{g.released:.3f}",
                    _percent(g.decline),
                )
            out.print()
            out.print(f"Groups, by {good.decided_by} (utility per unit of weight)")
            out.print(grid)
    bad = mined.bad
    if bad is not None:
        out.print()
        out.print(f"Bad utility: predicting {bad.field} nearer to the truth than it was released (people, as weighted)")
        grid = Grid(box=None, padding=(0, 2, 0, 0))
        for heading in ("aim", "average", "worst", "worst miner", "never saw it", "told exactly", "of"):
            grid.add_column(heading, justify="left" if heading in ("aim", "worst miner") else "right")
        for aim in bad.aims:
            how = "nearer" if aim.nearer <= 0 else "exact" if aim.nearer >= 100 else f"{aim.nearer:g}% nearer"
            grid.add_row(
                f"{aim.aim} ({how})", _count(aim.average), _count(aim.worst), aim.worst_miner, _count(aim.baseline),
                f"{aim.told:,.0f}", f"{aim.total:,.0f}",
            )  # fmt: skip
        out.print(grid)
        if bad.sampled:
            out.print(f"Trained on a sample: {', '.join(sorted(bad.sampled))}.")
    gains = mined.gains
    if gains is not None:
        out.print()
        out.print(
            f"Adversarial gains about {gains.sensitive}: knowledge {gains.knowledge:.4f}, with {gains.miner}'s nearer predictions "
            f"{gains.knowledge_mined.value:.4f}; accuracy {gains.accuracy:.4f}, with them {gains.accuracy_mined.value:.4f}."
        )
    for note in (*mined.notes, *(good.notes if good else ()), *(bad.notes if bad else ())):
        out.print(note)


def _share(figure: Estimate, total: float) -> str:
    scale = 1 / total if total > 0 else 1.0  # of nothing there are no shares: the utility itself
    return f"{figure.value * scale:.4f} ±{(figure.high - figure.value) * scale:.4f}"


def _percent(figure: Estimate) -> str:
    if figure.value != figure.value:
        return "none"
    return f"{100 * figure.value:.2f}% [{100 * figure.low:.2f}, {100 * figure.high:.2f}]"


def _count(figure: Estimate) -> str:
    return f"{figure.value:,.0f} [{figure.low:,.0f}, {figure.high:,.0f}]"
