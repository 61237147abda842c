"""The release package: the data and all that goes with it, verified, in one folder that appears complete or not at all.

    release.csv          the release, measured again from the file before anything got its name
    dictionary.csv       every column: its role, what was done to it, how many values it has
    hierarchies/         of released columns with a hierarchy file: the labels that occur in the release and what is above them
    roles.toml           the roles of the released columns, for verifying
    requirements.json    what is required, measured from the file, and by whom it can be checked again
    README.md            what this is, which limits are met under which adversary, and the command that verifies it
    note.*               the external note
    datasheet.*          for those who work with the release: what each column holds now, what not to conclude, an example that runs
    statement.json       the same facts for machines (report/statement.schema.json)
    SHA256SUMS           checksums of all of it

Beside it stands FOLDER.house, which must not be handed out: the map from original to released values with counts, the study's
numbers and the seed if one was asked for. What a recipient gets tells nothing of columns that are not released, of values below the
released ones, of where the owner's files lie, or of numbers that only the original gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from .. import __version__
from ..core import leftovers
from ..core.atomic_files import discard, rename_together
from ..core.errors import InputError, NotMet, Unavailable
from ..core.formulas import neutralisable_cells, neutralised_note
from ..core.metric import Verdict
from ..core.noun import dataclass
from ..core.people import owners_word
from ..core.randomness import FINDABLE
from ..core.release import Release
from ..core.roles import Roles
from ..publishing import Verification, publish
from ..publishing.package_contents import dictionary, formula_note, strictest, verify_command, write_value_maps
from ..publishing.package_files import checksum, json_text, set_same_times, write_checksums, write_text
from ..publishing.package_roles import write_roles
from ..publishing.register import Register
from ..publishing.staging import entering
from ..study.result import Result, number, scores_dict
from .datasheet import datasheet
from .documents import write
from .statement import statement


@dataclass(frozen=True)
class Packaged:
    """What was written, and what was found when it was measured again."""

    folder: Path
    house: Path
    files: tuple[Path, ...]
    verification: Verification
    redrawn: bool
    """Whether the mechanism's random choices were drawn anew for this release, from the system's cryptographic source."""


def write_package(
    result: Result,
    folder: Path | str,
    *,
    candidate: int | None = None,
    allow_seeded: bool = False,
    neutralise_formulas: bool = False,
    register: Register | None = None,
) -> Packaged:
    """Make the recommended release (or another candidate's) and write its package; fails closed.

    A mechanism that draws at random was compared with a seed; what is published is drawn anew, and every requirement is measured on
    the new draw. Where the owner asked for a seed that is refused, since a seed is found by trying, unless `allow_seeded` insists;
    then every document says so. With `neutralise_formulas` no cell of release.csv, of its companions, of dictionary.csv and of the
    hierarchies begins like a formula; note and README say how to undo it. The release is entered in the `register`, if one is given. Every file has the same time, and the same input, seed
    and version give the same bytes.
    """
    folder = Path(folder)
    house = folder.with_name(folder.name + ".house")
    leftovers.clear(folder.parent)  # a package that a killed run had begun to name is finished, and then there
    for path in (folder, house):
        if path.exists():
            raise InputError(f"{path}: already there; name a new folder for the package.")
    if not folder.parent.is_dir():
        raise InputError(f"{folder}: its parent folder does not exist; create it first.")
    chosen = result.recommended[0] if candidate is None else candidate
    if chosen is None:
        raise NotMet(f"{folder}: not written; {result.recommended[1]}")
    point, study = result.points[chosen], result.study
    if point.failure is not None:
        raise NotMet(f"{folder}: not written; {point.failure}")
    if result.seeded(chosen) and not allow_seeded:
        raise NotMet(
            f"{folder}: not written; {point.candidate.family} made its random choices with your seed, and anyone who guesses the seed "
            "can undo them. Leave the seed out, or insist with --allow-seeded (in a study file allow_seeded = true)."
        )
    release, redrawn = _release(result, chosen)
    if redrawn:
        result = _as_published(result, chosen, release)
        point = result.points[chosen]
    made = point.candidate.mechanism
    require = list(dict.fromkeys([*(made.promises if made else ()), *study.require]))
    hidden, inside = (leftovers.hidden_beside(path) for path in (folder, house))
    try:
        hidden.mkdir()
        inside.mkdir(mode=0o700)
        packed = write_roles(release, study.roles, hidden, neutralise_formulas=neutralise_formulas)
        verification = publish(
            release,
            study.roles,
            require,
            hidden / "release.csv",
            waive=study.waive,
            neutralise_formulas=neutralise_formulas,
            recipient=Roles.read(hidden / "roles.toml"),
        )
        recipient = cast(Verification, verification.recipient)
        # whether a cell of a release with differential privacy runs would tell of a row
        tables = () if release.neighbours is not None else (release.table, *release.companions.values())
        changed: dict[str, int] = {}
        for table in tables if neutralise_formulas else ():
            changed |= neutralisable_cells(table)
        cells = neutralised_note(changed, "release.csv") if changed else formula_note(tables)
        done = treatments(release, study.roles)
        write_text(
            hidden / "dictionary.csv", dictionary(release, study.roles, done, neutralise_formulas=neutralise_formulas)
        )
        for form in ("html", "md"):
            write(datasheet(release, study.roles, done, study.title), hidden / f"datasheet.{form}")
        write_value_maps(release, study.roles, inside / "value-maps")
        _note(result, chosen, hidden, cells if changed else None)
        write_text(inside / "study.json", json_text(_house(result, chosen, release, redrawn)))
        verdicts = {verdict.requirement: verdict for verdict in recipient.verdicts}
        limits = [(verdicts.get(v.requirement, v), v.requirement in verdicts) for v in verification.verdicts]
        write_text(hidden / "requirements.json", json_text(_requirements(limits)))
        said = statement(
            release,
            study.roles,
            done,
            limits,
            title=study.title,
            waived=recipient.waived,
            sha256=checksum(hidden / "release.csv"),
        )
        write_text(hidden / "statement.json", json_text(said))
        command = verify_command(release, strictest(list(verdicts)), study.waive, neutralise_formulas=bool(changed))
        readme = _readme(
            release,
            packed,
            limits,
            study.title,
            command if verdicts else None,
            recipient.waived,
            owners_word(study.roles, study.table),
            cells,
        )
        write_text(hidden / "README.md", f"{readme}\n{FINDABLE}\n" if result.seeded(chosen) else readme)
        write_checksums(hidden)
        set_same_times(hidden)
        named = (hidden / "release.csv", folder / "release.csv")
        with entering(register, release, study.roles, require, *named, study.waive):
            rename_together([(inside, house), (hidden, folder)])  # neither without the other
    except (NotMet, InputError) as error:
        error.args = (str(error).replace(str(hidden), str(folder)).replace(str(inside), str(house)),)
        raise
    except OSError as error:
        raise InputError(
            f"{folder}: not written; the operating system refused ({error.strerror or type(error).__name__})."
        ) from None
    finally:
        discard(hidden, inside)
    files = tuple(sorted(path for path in folder.rglob("*") if path.is_file()))
    return Packaged(folder, house, files, verification, redrawn)


def _release(result: Result, chosen: int) -> tuple[Release, bool]:
    """What is to be published; drawn anew where chance had a part and no seed was asked for."""
    release, made = result.release(chosen), result.points[chosen].candidate.mechanism
    if made is None or result.seed is not None or not made.card.drew(release.notes):
        return release, False
    drawn = made(result.study.table, result.study.roles, None)
    return replace(drawn, population=drawn.population or result.study.population), True


OWNERS = "The limit is met. The owner measured it against the original and keeps the number."
"""Of a limit that only the original can show: what was measured would tell of the original what the release does not."""


def _requirements(limits: Sequence[tuple[Verdict, bool]]) -> list[dict[str, Any]]:
    return [
        {
            "requirement": str(v.requirement),
            "met": v.met,
            "measured": number(v.score.value) if alone else None,
            "exactness": v.score.exactness,
            "sentence": v.requirement.metric.sentence(v.score.value) if alone else OWNERS,
            "checked_again_by": "anyone who has this package" if alone else "the owner, who has the original",
        }
        for v, alone in limits
    ]


def treatments(release: Release, roles: Roles) -> dict[str, str]:
    """What was done to each column, in the words of the note: both say what was counted in the release."""
    from ..inspect.changes import columns
    from .shared_sections import technique

    added = {} if release.joined_by is None else {release.joined_by: "added: shows which rows belong together"}
    try:
        return added | {each.name: technique(each, shares=False) for each in columns(release, roles)}
    except Unavailable:  # no original to hold it against
        return added


def _readme(
    release: Release,
    roles: Roles,
    limits: Sequence[tuple[Verdict, bool]],
    title: str | None,
    command: str | None,
    waived: Sequence[str],
    word: str | None,
    cells: str | None,
) -> str:
    from .markdown import coded, escaped

    names = ", ".join(map(coded, roles.quasi))
    lines = [
        f"# {escaped(title)}: a release" if title else "# A release",
        "",
        f"{release.table.rows:,} rows, {len(release.table.columns)} columns, sanitized with sfumato {__version__} by "
        f"{escaped(release.made_by)}.",
        f"The adversary is assumed to know {names or 'nothing'} of a person. The limits below hold for that knowledge. They say "
        "nothing about an adversary who knows more.",
        "",
        "## Limits that were measured on release.csv",
        "",
    ]
    asked = [verdict.requirement for verdict, _ in limits]
    for verdict, alone in limits:
        if verdict.requirement in strictest(asked):
            also = [coded(str(r)) for r in asked if r != verdict.requirement and verdict.requirement.implies(r)]
            implied = f" This implies {' and '.join(also)}, also required." if also else ""
            sentence = escaped(verdict.requirement.metric.sentence(verdict.score.value)) if alone else OWNERS
            lines.append(f"- {coded(str(verdict.requirement))}: {sentence}{implied}")
    if word is not None:
        lines += ["", escaped(word)]
    if waived:
        lines += ["", "## What the owner waived", "", *(f"- {escaped(text)}" for text in waived)]
    lines += ["", "## Verify it", "", "    sha256sum --check SHA256SUMS"]
    if command is not None:
        lines += [f"    {command}"]
    lines += [
        "",
        f"Sfumato {__version__} wrote this package. To install it, get the source of that version and run `pip install .` in it, with Python "
        "3.11 or newer (on Windows `py -m pip install .`). If you do not have the source, ask whoever gave you this package.",
        "",
        "A missing value is an empty cell and counts as a value of its own. The rows are sorted, so their order says nothing.",
    ]
    if cells is not None:
        lines += ["", escaped(cells)]
    if release.perturbed:
        lines += ["", f"Perturbed columns: {', '.join(map(coded, sorted(release.perturbed)))}."]
    return "\n".join(lines) + "\n"


def _note(result: Result, chosen: int, folder: Path, cells: str | None = None) -> None:
    """The external note, about this very release, and what was done to its `cells`; it is written of the recommended one only."""
    from .document import Block, Heading, Paragraph
    from .documents import cautioned
    from .external import external

    if chosen == result.recommended[0]:
        document = cautioned(external(result), result)
        if cells is not None:
            more: list[Block] = [Heading("Cells that begin like formulas"), Paragraph(cells)]
            document = replace(document, blocks=[*document.blocks, *more])
        for form in ("html", "md"):
            write(document, folder / f"note.{form}")


def _as_published(result: Result, chosen: int, release: Release) -> Result:
    """The result with what was drawn anew in the place of what was compared, measured."""
    study = result.study
    candidate = result.points[chosen].candidate
    point = study.bench(None).measure(candidate, None if study.measures is None else list(study.asked), release)
    points = list(result.points)
    points[chosen] = study.point(candidate, point, looked_for=points[chosen].found)
    published = replace(result, points=tuple(points), cache=None)
    # by chance another may be the best now; the note is on what is published
    published.__dict__["recommended"] = result.recommended
    return published


def _house(result: Result, chosen: int, release: Release, redrawn: bool) -> dict[str, Any]:
    point = result.points[chosen]
    return {
        "sfumato": __version__,
        "table": result.study.table.name,
        "sha256": result.study.table.digest(),
        "candidate": point.candidate.text,
        "parameters": release.parameters,
        "seed": result.seed,
        "drawn_anew": redrawn,
        "scores": scores_dict(point.scores),
        "notes": list(release.notes),
    }
