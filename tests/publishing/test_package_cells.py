"""A package tells nothing by its bytes and times, and its cells do not run in a spreadsheet where the owner asks for that."""

from __future__ import annotations

import csv
import os
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import here
from sfumato.core.formulas import plain_text, runs
from sfumato.core.hierarchy import Hierarchy
from sfumato.metrics import require
from sfumato.publishing import verify
from sfumato.report.package import write_package
from sfumato.study.study import Result, Study, grid

ILLS = ("=cmd()", "'=cmd()", "flu", "@home")


def people(rows: int = 96) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "=debt": rng.integers(-900, 900, rows),
            "town": rng.choice(["-north", "south", "+east", "'=west"], rows),
            "ill": [ILLS[i % 4] for i in range(rows)],
        }
    )


TOWNS = Hierarchy.of(
    "town",
    [("-north", "@coast", "*"), ("south", "@coast", "*"), ("+east", "=inland", "*"), ("'=west", "=inland", "*")],
)


def studied(text: str, seed: int | None = None) -> Result:
    roles = sf.Roles(quasi=("=debt", "town"), sensitive=("ill",), orders={"ill": ILLS}, hierarchies={"town": TOWNS})
    wanted = (require("distinct_l_diversity >= 2"),)
    study = Study(table=sf.read(people()), roles=roles, candidates=grid([text]), require=wanted, measures=())
    return study.run(seed=seed, refine=0)


def cells(path: Path) -> list[str]:
    delimiter = ";" if path.parent.name == "hierarchies" else ","
    with path.open(encoding="utf-8", newline="") as file:
        return [cell for row in csv.reader(file, delimiter=delimiter) for cell in row]


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "text",
    [
        "mondrian k=4 require='distinct_l_diversity >= 2'",
        "anatomy l=2",
        "generalize_full_domain k=4 require='distinct_l_diversity >= 2' suppression=0.5",
    ],
)
def test_no_cell_of_a_package_runs_and_whoever_has_it_can_verify_it(text: str, tmp_path: Path) -> None:
    made = write_package(studied(text), tmp_path / "out", neutralise_formulas=True)
    files = [path for path in made.files if path.suffix == ".csv"]
    assert {"release.csv", "dictionary.csv"} <= {path.name for path in files}
    for path in files:
        assert not any(map(runs, cells(path))), path.name
    assert "'=debt" in cells(made.folder / "dictionary.csv")
    values = {plain_text(cell) for path in files for cell in cells(path)}
    assert set(ILLS) <= values, "two values did not become one"
    (hierarchy,) = (path for path in files if path.parent.name == "hierarchies")
    packed = sf.Roles.read(made.folder / "roles.toml").taxonomy("town")
    assert packed is not None
    labels = {label for level in packed.levels for label in level}
    assert labels <= {label for level in TOWNS.levels for label in level}, "the labels themselves are read back"
    assert labels != set(cells(hierarchy)), "and were written otherwise"
    readme = (made.folder / "README.md").read_text()
    assert "take one apostrophe off" in readme
    for form in ("html", "md"):
        assert "take one apostrophe off" in (made.folder / f"note.{form}").read_text()
    (command,) = [line for line in readme.splitlines() if line.startswith("    sfumato verify")]
    assert "--neutralise-formulas" in command
    code, said = here(shlex.split(command.strip()), made.folder)
    assert code == 0, said


def test_without_such_cells_nothing_is_said_and_nothing_changes(tmp_path: Path) -> None:
    text = "generalize_full_domain k=3"
    roles = sf.Roles(quasi=("a",), sensitive=("s",))
    table = sf.read(pa.table({"a": [-1, -1, -1, 5, 5, 5], "s": list("xyzxyz")}))
    result = Study(table=table, roles=roles, candidates=grid([text]), measures=()).run(refine=0)
    one, other = tmp_path / "one", tmp_path / "other"
    write_package(result, one)
    write_package(result, other, neutralise_formulas=True)
    assert content(one) == content(other)


def test_the_library_verifies_it(tmp_path: Path) -> None:
    result = studied("mondrian k=4 require='distinct_l_diversity >= 2'")
    made = write_package(result, tmp_path / "out", neutralise_formulas=True)
    wanted = [require("k_anonymity >= 4"), require("distinct_l_diversity >= 2")]
    found = verify(
        sf.read(made.folder / "release.csv"),
        result.study.roles,
        wanted,
        original=result.study.table,
        neutralise_formulas=True,
    )
    assert found.met, found.reasons


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "seed"),
    [
        ("mondrian k=4", None),
        ("anatomy l=2", 5),
        ("pram columns=town keep=0.8", 5),
        ("generalize_full_domain k=4", None),
    ],
)
@pytest.mark.parametrize("neutral", [False, True])
def test_the_same_input_seed_and_version_give_the_same_bytes(
    text: str, seed: int | None, neutral: bool, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"candidate": 0, "allow_seeded": True, "neutralise_formulas": neutral}
    texts = []
    for name in ("one", "another, elsewhere"):
        folder = tmp_path / name / "package"
        folder.parent.mkdir()
        write_package(_unlimited(text, seed), folder, **options)
        texts.append(content(folder))
    assert texts[0] == texts[1]
    assert "SHA256SUMS" in texts[0]


def _unlimited(text: str, seed: int | None) -> Result:
    roles = sf.Roles(quasi=("=debt", "town"), sensitive=("ill",))
    return Study(table=sf.read(people()), roles=roles, candidates=grid([text]), measures=()).run(seed=seed, refine=0)


def test_every_file_has_the_same_time(tmp_path: Path) -> None:
    os.utime(tmp_path)
    made = write_package(studied("mondrian k=4 require='distinct_l_diversity >= 2'"), tmp_path / "out")
    times = {path.stat().st_mtime_ns for path in (made.folder, *made.folder.rglob("*"))}
    assert times == {946_684_800 * 10**9}
