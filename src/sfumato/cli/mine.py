"""Train miners on a release: what can users still predict, and what can an adversary?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as o

if TYPE_CHECKING:
    from ..mining.outcome import Estimate, MiningOutcome


EXAMPLES = (
    "sfumato mine release.csv --original people.csv --roles roles.toml --target diagnosis --miners quick --sample 500 --folds 3",
    "sfumato mine --candidate 'mondrian k=10' --original people.csv --roles roles.toml --secret age --miners quick --sample 500 --folds 3",
)


@o.reads
def run(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SCENARIO.toml | [RELEASE]...", help="A scenario file, or the published files."),
    ] = None,
    original: o.Original = None,
    roles: Annotated[
        Path | None,
        typer.Option(
            metavar="ROLES",
            help="The roles file (TOML). Without it, every column is released and may be used to predict.",
        ),
    ] = None,
    target: o.Target = None,
    secret: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that an adversary wants to predict.")
    ] = None,
    candidate: o.Candidates = None,
    pair: Annotated[
        str | None,
        typer.Option(
            help="How released rows pair with original rows: position, key:COLUMN or none.",
            show_default="position, if every row agrees",
        ),
    ] = None,
    worth: Annotated[
        str,
        typer.Option(
            help="When a prediction is worth something: equal, 'within 5', or a test such as 'predicted >= true'."
        ),
    ] = "equal",
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help="How much some people count for users, such as \"age > 55 and sex = 'F' -> 10\". Repeatable.",
        ),
    ] = None,
    secret_weight: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="How much some people count for the adversary. Repeatable.")
    ] = None,
    nearer: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=100,
            help="How many percent nearer to the truth counts as a success for the adversary (0: any; 100: exact).",
        ),
    ] = None,
    miners: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="The miners: reference, quick, paper, or names with commas.", show_default="reference"
        ),
    ] = None,
    by: o.By = None,
    folds: o.Folds = 10,
    sample: o.Sample = None,
    seed: o.FixedSeed = 0,
    workers: o.Workers = None,
    cache: o.Cache = None,
    no_cache: o.NoCache = False,
    json: o.Json = False,
    *,
    reading: o.ReleaseReading,
) -> None:
    """Users and the adversary train on the release, with cross-validation. Their predictions are compared with the original.

    Users want to predict --target. Their loss is (1 - delta, L): every miner of L keeps at least 1 - delta of the utility. An
    adversary wants to predict --secret. Their gain is the number of people whose secret they predict nearer to the truth than it was released,
    beside the same number for an adversary who never saw the release. The method is that of Sramka et al. (2010).
    """
    from ..mining.mine import cache_folder

    folder = None if no_cache else cache or cache_folder()
    with o.keeping(folder, shared=cache is None), o.progress("mining") as bar:
        if files and files[0].suffix.lower() == ".toml":
            given = {
                "--original": original, "--target": target, "--secret": secret, "--roles": roles, "--candidate": candidate,
                "--pair": pair, "--perturbed": reading.perturbed, "--companion": reading.companion, "--joined-by": reading.joined_by,
                "--weight": weight, "--secret-weight": secret_weight, "--nearer": nearer, "--miners": miners, "--by": by,
                "--sample": sample, "--worth": worth != "equal" or None, "--folds": folds != 10 or None, "--seed": seed or None,
            }  # fmt: skip
            mined = _scenario(files, [name for name, value in given.items() if value is not None], folder, workers, bar)
        else:
            from ..core.errors import InputError
            from ..mining.scenario import AIMS, Aim, Bad, Good, Scenario

            if target is None and secret is None:
                raise InputError("Name the column to predict: --target for users, --secret for an adversary, or both.")
            chosen = None if miners is None else [name.strip() for name in miners.split(",")]
            more: dict[str, Any] = {} if chosen is None else {"miners": chosen}
            aims: tuple[Aim, ...] = AIMS
            if nearer is not None or secret_weight:
                aims = (Aim(name="A", nearer=nearer or 0.0, weights=secret_weight),)
            scenario = Scenario(
                good=None
                if target is None
                else Good(field=target, error=worth, weights=weight, groups=tuple(by or ()), **more),
                bad=None if secret is None else Bad(field=secret, aims=aims, **more),
                folds=folds,
                seed=seed,
                rows=sample,
            )
            mined = _tables(
                files or [], original, roles, candidate or [], pair, scenario, reading, folder, workers, bar
            )
    if json:
        o.dump({"releases": [as_json(each) for each in mined.values()]})
        return
    out = o.console()
    for each in mined.values():
        show(each, out)


def _scenario(
    files: list[Path], given: list[str], folder: Path | None, workers: int | None, bar: Any
) -> dict[str, MiningOutcome]:
    from ..core.errors import InputError
    from ..mining.mine import mine_file

    if len(files) > 1 or given:
        more = f"without {', '.join(given)}" if given else "alone"
        raise InputError(f"{files[0]} is a scenario file, which says that itself; give it {more}.")
    return mine_file(files[0], cache=folder, workers=workers, progress=bar)


def _tables(
    files: list[Path],
    path: Path | None,
    roles: Path | None,
    candidates: list[str],
    pair: str | None,
    scenario: Any,
    reading: o.ReleaseReading,
    folder: Path | None,
    workers: int | None,
    bar: Any,
) -> dict[str, MiningOutcome]:
    import numpy as np

    from ..core.errors import InputError
    from ..core.roles import Roles
    from ..mining.mine import mine
    from ..study.study import grid

    if path is None:
        raise InputError("Predictions are compared with the truth: give the original table with --original.")
    if not files and not candidates:
        raise InputError("Name a release, or a mechanism with --candidate.")
    known = None if roles is None else Roles.read(roles)
    original = reading.open(path, known)
    if known is not None:
        named = known
    else:
        protected = tuple(field for field in (scenario.good and scenario.good.field,) if field in original.columns)
        rest = tuple(name for name in original.columns if name not in protected)
        named = Roles(quasi=rest, sensitive=protected)
    releases = {}
    for file in files:
        name = file.name if file.name not in releases else str(file)
        releases[name] = reading.released(file, named, original=path, pairing=pair or "none")
    for made in grid(candidates):
        bar(0.0, made.name)
        assert made.mechanism is not None
        releases[made.name] = made.mechanism(original, named, np.random.default_rng(scenario.seed))
    return mine(releases, named, scenario, cache=folder, workers=workers, progress=bar)


def as_json(mined: MiningOutcome) -> dict[str, Any]:
    """Everything that was mined, as plain data."""

    def plain(value: Any) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, tuple | list | frozenset):
            return [plain(item) for item in (sorted(value) if isinstance(value, frozenset) else value)]
        return value.item() if hasattr(value, "item") else value

    return {**plain(mined), "exactness": "estimate"}


def show(mined: MiningOutcome, out: Any) -> None:
    """The figures of one release, with a sentence each."""
    out.print()
    out.print(f"{mined.name}: {mined.rows:,} people, {mined.folds} folds; figures with 95% intervals from the folds.")
    good = mined.good
    if good is not None:
        out.print()
        out.print(f"Good utility: predicting {good.field} (share of what being right about everybody is worth)")
        headings = ["miner", "original", "release", "decline"]
        transfer = any(m.release_to_original is not None for m in good.miners)
        if transfer:
            headings += ["release → original", "original → release"]
        grid = o.grid(*headings)
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
            grid = o.grid("group", "people", "original", "release", "decline")
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
        aim_headings = ("aim", "average", "worst", "worst miner", "never saw it", "told exactly", "of")
        grid = o.grid(*aim_headings, words=("aim", "worst miner"))
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
