"""What a package says of its release beside the data: the dictionary, the value maps, and the command that verifies it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import Unavailable
from ..core.formulas import formula_cells, formula_warning, neutralised_text
from ..core.metric import Requirement
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .package_files import csv_text, write_text
from .waivers import Waivers


def verify_command(
    release: Release, alone: Sequence[Requirement], waive: Waivers, *, neutralise_formulas: bool = False
) -> str:
    """What verifies the package from inside its folder; nothing about its files is left to guessing."""
    words = ["sfumato", "verify", "release.csv", "--roles", "roles.toml"]
    for name in release.companions:
        words += ["--companion", f"{name}=release.{name}.csv"]
    words += [] if release.joined_by is None else ["--joined-by", release.joined_by]
    for name in sorted(release.perturbed):
        words += ["--perturbed", name]
    for requirement in alone:
        words += ["--require", str(requirement)]
    for column, reason in waive.items():
        words += ["--waive", f"{column}: {reason}"] if column in release.table.columns else []
    words += ["--neutralise-formulas"] if neutralise_formulas else []
    ours = [
        "--header",
        "--skip",
        "0",
        "--no-totals",
        "--delimiter",
        ",",
        "--quote",
        '"',
        "--encoding",
        "utf-8",
        "--dates",
        "text",
        "--decimal",
        "text",
    ]
    return " ".join(map(_word, [*words, *ours]))


def _word(text: str) -> str:
    """A word for the shell that stays on its line: a line break, or what else cannot be printed, is spelled as bash reads it."""
    if text.isprintable():
        return shlex.quote(text)
    spelled = "".join(
        f"\\{c}" if c in "\\'" else c if c.isprintable() else "".join(f"\\x{byte:02x}" for byte in c.encode())
        for c in text
    )
    return f"$'{spelled}'"


def strictest(require: Sequence[Requirement]) -> list[Requirement]:
    """Those that no stricter one of the same metric implies."""
    return [r for r in require if not any(other != r and other.implies(r) for other in require)]


def dictionary(
    release: Release, roles: Roles, treatments: Mapping[str, str], *, neutralise_formulas: bool = False
) -> str:
    """Every released column as CSV: its role, what was done to it by `treatments`, its values."""
    rows: list[Sequence[Any]] = [("column", "role", "treatment", "distinct values", "missing rule")]
    for table in (release.table, *release.companions.values()):
        for name in table.columns:
            other = "person" if name == roles.person else "group"
            role = next((kind for kind in ("quasi", "sensitive", "insensitive") if name in getattr(roles, kind)), other)
            rows.append(
                (
                    neutralised_text(name) if neutralise_formulas else name,
                    role,
                    treatments.get(name, "not known"),
                    len(table.count((name,))),
                    "an empty cell is a missing value and counts as a value of its own",
                )
            )
    return csv_text(rows)


def write_value_maps(release: Release, roles: Roles, house: Path) -> None:
    """What became what, with rows: for the house, since values stand in it that the release does not tell."""
    for i, name in enumerate(roles.quasi):
        try:
            before, after, n = release.evidence(roles).pairs(name, "the value map")
        except Unavailable:
            continue
        house.mkdir(exist_ok=True)
        rows = [("original", "released", "rows"), *zip(_shown(before), _shown(after), n.tolist(), strict=True)]
        write_text(house / f"{i + 1}.csv", csv_text([("column", name, ""), *rows]))


def _shown(texts: Sequence[str | None]) -> list[str]:
    return ["" if text is None else text for text in texts]


def formula_note(tables: Sequence[Table]) -> str | None:
    """What a recipient must know of cells that would run in a spreadsheet; nothing where there are none."""
    cells: dict[str, int] = {}
    for table in tables:
        cells |= formula_cells(table)
    return formula_warning(cells, "release.csv") if cells else None
