"""The release package: complete or absent, verified by whoever has it, and nothing in it that should stay in the house."""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import here
from sfumato.core.counts import Counts
from sfumato.core.errors import InputError, NotMet, SfumatoError
from sfumato.core.randomness import FINDABLE
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.engines.duckdb import DuckTable
from sfumato.metrics import metric, require
from sfumato.publishing import sinks
from sfumato.publishing.package_contents import dictionary
from sfumato.publishing.package_files import changed_files
from sfumato.report import package
from sfumato.report.documents import write_all
from sfumato.report.package import write_package
from sfumato.study.study import Candidate, Result, Study, grid

CANARY = "Quixotic7741"
TOWNS = [f"town{i}" for i in range(8)]


def people(rows: int = 64) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "name": [f"{CANARY}{i}" for i in range(rows)],
            "age": rng.integers(1000, 9999, rows),  # long numbers, so that they can be looked for in texts
            "town": rng.choice(TOWNS, rows),
            "ill": [f"ill-{'abcd'[i % 4]}" for i in range(rows)],
        }
    )


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with a roles file and a hierarchy that knows more towns than the table has."""
    lines = [f"{town};north;*" if i % 2 else f"{town};south;*" for i, town in enumerate([*TOWNS, "elsewhere"])]
    (tmp_path / "town.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "roles.toml").write_text(
        '[roles]\nidentifiers = ["name"]\nquasi = ["age", "town"]\nsensitive = ["ill"]\n\n'
        '[hierarchies]\ntown = "town.csv"\nage = { widths = [1000, 5000] }\n'
    )
    return tmp_path


def run(
    house: Path, *texts: str, need: tuple[str, ...] = (), table: Any = None, seed: int | None = None, **more: Any
) -> Result:
    roles = more.pop("roles", None) or sf.Roles.read(house / "roles.toml")
    study = Study(
        table=sf.read(people() if table is None else table),
        roles=roles,
        candidates=more.pop("candidates", None) or grid(texts),
        require=tuple(require(text) for text in need),
        measures=(),
        **more,
    )
    return study.run(seed=seed, refine=0)


def listing(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


HOUSE = {"roles.toml", "town.csv"}


def table_of(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def contents(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in folder.rglob("*") if p.is_file()}


def verify_as_the_readme_says(folder: Path, *, apart: bool = False) -> list[tuple[int, str]]:
    """Every command of the section, standing in the folder: exit codes and what was printed; `apart` in processes of their own."""
    text = (folder / "README.md").read_text(encoding="utf-8").split("## Verify it")[1]
    commands = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    found = []
    for words in map(shlex.split, commands):
        if words[0] == "sfumato" and not apart:
            found.append(here(words, folder))
            continue
        if words[0] == "sfumato":
            words[:1] = [sys.executable, "-c", "from sfumato.cli import main; main()"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
        found.append((done.returncode, done.stdout + done.stderr))
    return found


def check_as_the_readme_says(folder: Path) -> None:
    for code, said in verify_as_the_readme_says(folder):
        assert code == 0, said


# --- in the good case ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["mondrian k=4", "anatomy l=2"])
def test_owner_and_recipient_are_answered_from_one_reading_of_the_file(
    house: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Both sets of verdicts are there, every written file is read once, and no question is counted in it twice."""
    result = run(house, text, need=("distinct_l_diversity >= 1", "iloss <= 1") if "k=" in text else ())
    readings: list[str] = []
    scans: list[tuple[str, ...]] = []
    read, scan = sinks.read_published, DuckTable.scan

    def reading(path: Path, **more: Any) -> Any:
        readings.append(path.name)
        return read(path, **more)

    def scanning(self: DuckTable, by: Sequence[str]) -> Counts:
        if Path(self.name).name in readings:
            scans.append((self.name, *by))
        return scan(self, by)

    monkeypatch.setattr(sinks, "read_published", reading)
    monkeypatch.setattr(DuckTable, "scan", scanning)
    packed = write_package(result, house / "out")
    assert len(readings) == len(set(readings)) == len(list(packed.folder.glob("release*.csv")))
    assert scans
    assert len(scans) == len(set(scans))
    recipient = packed.verification.recipient
    assert recipient is not None
    asked = [verdict.requirement for verdict in packed.verification.verdicts]
    assert [v.requirement for v in recipient.verdicts] == [r for r in asked if r != require("iloss <= 1")]


def test_what_only_a_recipient_finds_stops_a_package(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packed roles call a released column an identifier; the owner's do not."""
    result = run(house, "mondrian k=4", need=("k_anonymity >= 4",))
    real = Roles.read

    def without_town(path: Path) -> Roles:
        roles = real(path)
        return replace(roles, identifiers=("town",), quasi=("age",), hierarchies={})

    monkeypatch.setattr(package.Roles, "read", without_town)
    with pytest.raises(NotMet, match="'town' is an identifier"):
        write_package(result, house / "out")
    assert listing(house) == HOUSE


def test_all_that_belongs_to_it_is_there(house: Path) -> None:
    result = run(
        house, "mondrian k=4", "generalize_full_domain k=4 suppression=0.2", need=("k_anonymity >= 4", "iloss <= 1")
    )
    found = write_package(result, house / "out")
    assert listing(house) == {*HOUSE, "out", "out.house"}
    assert {"release.csv", "dictionary.csv", "roles.toml", "requirements.json", "README.md", "SHA256SUMS"} <= listing(
        found.folder
    )
    assert found.verification.met
    assert not found.redrawn
    assert set(found.files) == {path for path in found.folder.rglob("*") if path.is_file()}
    assert found.house.stat().st_mode & 0o777 == 0o700
    released = sf.read(found.folder / "release.csv")
    assert metric("k_anonymity")(Release(table=released), result.study.roles).value >= 4
    said = json.loads((found.folder / "requirements.json").read_text())
    by = {each["requirement"]: each for each in said}
    assert by["k_anonymity >= 4"]["met"] is True
    assert by["k_anonymity >= 4"]["checked_again_by"] == "anyone who has this package"
    assert by["iloss <= 1"]["checked_again_by"] == "the owner, who has the original"
    with (found.folder / "dictionary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["column"] for row in rows] == ["age", "town", "ill"]
    assert [row["role"] for row in rows] == ["quasi", "quasi", "sensitive"]
    assert rows[2]["treatment"] == "kept as it is"
    assert [int(row["distinct values"]) for row in rows] == [len(released.count((c,))) for c in released.columns]


def test_the_checksums_are_right_and_complete(house: Path) -> None:
    folder = write_package(run(house, "mondrian k=4", need=("k_anonymity >= 4",)), house / "out").folder
    told = {}
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ", 1)
        told[name] = digest
    there = {name for name in contents(folder) if name != "SHA256SUMS"}
    assert set(told) == there
    for name, digest in told.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_the_command_in_the_readme_verifies_it_and_finds_a_change(house: Path) -> None:
    result = run(house, "mondrian k=4", need=("prosecutor_risk <= 0.25", "distinct_l_diversity >= 1"))
    folder = write_package(result, house / "out").folder
    (sums, _), (verified, said) = verify_as_the_readme_says(folder, apart=True)
    assert sums == 0
    assert verified == 0, said
    assert "every requirement is met" in said
    lines = (folder / "release.csv").read_text().splitlines()
    lines[1] = "1,town1,ill-a"
    (folder / "release.csv").write_text("\n".join(lines) + "\n")
    assert [code for code, _ in verify_as_the_readme_says(folder)] == [1, 1]


def test_verify_notices_any_file_that_changed(house: Path) -> None:
    """One sensitive cell becomes another of the same values, or a document is touched: no requirement can see that."""
    folder = write_package(run(house, "mondrian k=4", need=("k_anonymity >= 4",)), house / "out").folder
    for name, old, new in (("release.csv", "ill-a", "ill-b"), ("dictionary.csv", "sensitive", "insensitive")):
        before = (folder / name).read_text()
        (folder / name).write_text(before.replace(old, new, 1))
        code, said = verify_as_the_readme_says(folder)[1]
        assert code == 1
        assert f"✗ {name}: changed after the package was written" in said
        assert said.count("changed after") == 1
        assert said.rstrip().endswith("every requirement is met, but see above.")
        (folder / name).write_text(before)
    check_as_the_readme_says(folder)


def test_checksums_that_are_not_the_packages_are_left_alone(house: Path) -> None:
    (house / "release.csv").write_text("age\n1\n")
    assert changed_files(house / "release.csv") == []
    (house / "SHA256SUMS").write_text(f"{'0' * 64}  another.iso\n")
    assert changed_files(house / "release.csv") == []
    (house / "SHA256SUMS").write_text(f"{'0' * 64}  release.csv\n{'0' * 64}  gone.md\n{'0' * 64}  ../x\n")
    changed, gone, outside = changed_files(house / "release.csv")
    assert changed.startswith(f"{house / 'release.csv'}: changed")
    assert gone.startswith(f"{house / 'gone.md'}: is listed in SHA256SUMS but missing")
    assert "outside the package" in outside


@pytest.mark.parametrize(
    ("text", "k", "treatment"),
    [
        ("local_suppression k=8", 8, "suppressed where needed: values are replaced by *; the same way everywhere"),
        ("mondrian k=4", 4, "generalized: values are replaced by coarser ones that contain them; differently from class to class"),
        ("generalize_to_levels levels=2,1 k=1", 1, "generalized: values are replaced by coarser ones that contain them; the same way everywhere"),
        ("generalize_to_levels levels=2,0 k=1", 1, "kept as it is"),
        ("generalize_to_levels levels=0,2 k=1", 1, "suppressed: every value is *"),
    ],
)  # fmt: skip
def test_dictionary_and_note_say_the_same_of_every_column(house: Path, text: str, k: int, treatment: str) -> None:
    folder = write_package(run(house, text, need=(f"k_anonymity >= {k}",)), house / "out").folder
    rows = {row[0]: row[2] for row in table_of(folder / "dictionary.csv")[1:]}
    assert rows["town"] == treatment
    note = (folder / "note.md").read_text().replace("\\", "")
    for column, treatment in rows.items():
        (line,) = [line for line in note.splitlines() if line.startswith(f"| `{column}` |") and "open" not in line][:1]
        assert line.rstrip(" |").endswith(treatment), (column, line)


def test_what_another_limit_implies_is_said_to_be_implied(house: Path) -> None:
    result = run(house, "mondrian k=4", need=("k_anonymity >= 3", "distinct_l_diversity >= 1"))
    folder = write_package(result, house / "out", candidate=0).folder
    readme = (folder / "README.md").read_text()
    limits = [line for line in readme.splitlines() if line.startswith("- `")]
    assert [line.split("`")[1] for line in limits] == ["k_anonymity >= 4", "distinct_l_diversity >= 1"]
    assert limits[0].endswith("This implies `k_anonymity >= 3`, also required.")
    assert "--require 'k_anonymity >= 3'" not in readme
    told = [each["requirement"] for each in json.loads((folder / "requirements.json").read_text())]
    assert told == ["k_anonymity >= 4", "k_anonymity >= 3", "distinct_l_diversity >= 1"]
    check_as_the_readme_says(folder)


def test_the_readme_says_what_wrote_it_and_how_to_have_that(house: Path) -> None:
    readme = (write_package(run(house, "mondrian k=4"), house / "out").folder / "README.md").read_text()
    assert f"Sfumato {sf.__version__} wrote this package" in readme
    assert "pip install ." in readme
    assert "pip install ." in (Path(__file__).parents[2] / "README.md").read_text(), "as our own README says"


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param(("2019", "2020"), id="numbers"),
        pytest.param(("a, b", 'c "d"'), id="commas and quotes"),
        pytest.param(("q;r", "x(y)"), id="semicolons"),
        pytest.param(("größe", "select"), id="letters"),
        pytest.param(("it's", "$(x)"), id="shell"),
    ],
)
def test_odd_names_verify_too(tmp_path: Path, columns: tuple[str, str]) -> None:
    first, second = columns
    table = pa.table(
        {first: [i % 4 for i in range(32)], second: [str(2000 + i % 2) for i in range(32)], "s": ["u;v", 'w"'] * 16}
    )
    roles = sf.Roles(quasi=columns, sensitive=("s",), source="roles.toml")
    wanted = (require("k_anonymity >= 2"), metric("distinct_l_diversity").on("s").at_least(1))
    study = Study(table=sf.read(table), roles=roles, candidates=grid(["mondrian k=2"]), require=wanted, measures=())
    folder = write_package(study.run(), tmp_path / "out").folder
    check_as_the_readme_says(folder)


def test_names_in_the_readme_are_neither_markup_nor_links_nor_other_lines(tmp_path: Path) -> None:
    """Whatever a column is called: no heading, no HTML, no link of it, and the command stays on its line and works in bash."""
    odd = (
        "<img src=x onerror=alert(1)>",
        "a\n# Heading\n    rm -rf x",
        "[l](https://example.org)",
        "q`r www.example.org",
    )
    table = pa.table({name: [str((i + j) % 4) for i in range(32)] for j, name in enumerate(odd)})
    roles = sf.Roles(quasi=odd[:3], sensitive=odd[3:], source="roles.toml")
    wanted = (require("k_anonymity >= 2"), metric("distinct_l_diversity").on(odd[3]).at_least(1))
    study = Study(
        table=sf.read(table),
        roles=roles,
        candidates=grid(["mondrian k=2"]),
        require=wanted,
        measures=(),
        title="<b>x</b>\n# y",
    )
    folder = write_package(study.run(), tmp_path / "out").folder
    readme = (folder / "README.md").read_text(encoding="utf-8")
    before, after = readme.split("## Verify it")
    assert [line for line in readme.splitlines() if line.startswith("#")] == [
        "# \\<b\\>x\\</b\\> \\# y: a release", "## Limits that were measured on release.csv", "## Verify it"
    ]  # fmt: skip
    bare = re.sub(r"\\.", "", re.sub(r"(?<!\\)`[^`]*`", "", before))  # without code and escaped characters
    for sign in ("<", "[", "://", "www."):
        assert sign not in bare
    (command,) = [line.strip() for line in after.splitlines() if line.startswith("    sfumato")]
    script = f'sfumato() {{ {shlex.quote(sys.executable)} -m sfumato "$@"; }}; {command}'
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


def test_one_column_with_missing_values(tmp_path: Path) -> None:
    table = pa.table({"q": pa.array(["a", "a", None, None])})
    study = Study(
        table=sf.read(table), roles=sf.Roles(quasi=("q",)), candidates=grid(["mondrian k=2"]), require=(require("k_anonymity >= 2"),),
        measures=(),
    )  # fmt: skip
    check_as_the_readme_says(write_package(study.run(), tmp_path / "out").folder)


@pytest.mark.parametrize("text", ["anatomy l=2", "permute_within_groups l=2"])
def test_dissociated_releases_verify_with_what_joins_them(house: Path, text: str) -> None:
    result = run(house, text, need=("distinct_l_diversity >= 2",))
    found = write_package(result, house / "out", candidate=0)
    if text.startswith("anatomy"):
        assert "release.sensitive.csv" in listing(found.folder)
    check_as_the_readme_says(found.folder)
    with (found.folder / "dictionary.csv").open(newline="") as file:
        roles = {row["column"]: row["role"] for row in csv.DictReader(file)}
    assert roles["group"] == "group"
    assert roles["ill"] == "sensitive"


def test_perturbed_releases_are_said_to_be(house: Path) -> None:
    result = run(house, "additive_noise columns=age scale=0.1")
    found = write_package(result, house / "out", candidate=0)
    assert "Perturbed columns: `age`." in (found.folder / "README.md").read_text()
    assert "perturbed" in (found.folder / "dictionary.csv").read_text()
    check_as_the_readme_says(found.folder)


# --- what must not be in it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "mondrian k=8",
        "generalize_to_levels levels=2,1 k=2 suppression=0.9",
        "generalize_to_levels levels=1,2 suppression=1 k=2",
    ],
)
def test_no_original_value_but_what_the_release_or_the_hierarchy_says(house: Path, text: str) -> None:
    table = people()
    found = write_package(run(house, text, need=("k_anonymity >= 2",)), house / "out")
    released = {row[0] for row in table_of(found.folder / "release.csv")}
    bounds = " ".join(released)
    written = contents(found.folder)
    everything = "\n".join(text for name, text in written.items() if name != "SHA256SUMS")
    assert CANARY not in everything
    for age in set(map(str, table["age"].to_pylist())):
        if age not in bounds:
            assert age not in everything, "an age that the release does not tell"
    towns = {row[1] for row in table_of(found.folder / "release.csv")}
    for name, content in written.items():
        if name != "SHA256SUMS":
            for town in TOWNS:
                assert town not in content or any(town in there for there in towns), (name, town)
    assert str(house) not in everything, "where the owner works is nobody's business"
    assert "seed" not in everything.lower()


def test_value_maps_stay_in_the_house(house: Path) -> None:
    found = write_package(run(house, "generalize_to_levels levels=2,1 k=1", need=("k_anonymity >= 1",)), house / "out")
    assert "value-maps" not in listing(found.folder)
    inside = {p.name: table_of(p) for p in (found.house / "value-maps").iterdir()}
    assert sum(int(row[2]) for row in inside["2.csv"][2:]) == 64
    told = json.loads((found.house / "study.json").read_text())
    assert told["candidate"].startswith("generalize_to_levels")
    assert told["seed"] is None
    assert told["sha256"] == sf.read(people()).digest()


def test_hierarchies_with_odd_values(tmp_path: Path) -> None:
    from sfumato.core.hierarchy import Hierarchy

    odd = ["a;b", 'c"d', "e,f", " g", "h\ni", "#j"]
    hierarchy = Hierarchy.of("q", [[value, "x;y" if i < 3 else "z", "*"] for i, value in enumerate(sorted(odd))])
    roles = sf.Roles(quasi=("q",), hierarchies={"q": hierarchy})
    study = Study(
        table=sf.read(pa.table({"q": odd * 3})), roles=roles, candidates=grid(["generalize_to_levels levels=0 k=3"]),
        require=(require("k_anonymity >= 3"),), measures=(),
    )  # fmt: skip
    found = write_package(study.run(), tmp_path / "out")
    again = sf.Roles.read(found.folder / "roles.toml").taxonomy("q")
    assert again is not None
    assert again.levels == hierarchy.levels
    check_as_the_readme_says(found.folder)


# --- chance ----------------------------------------------------------------------------------------------------------


def test_a_random_mechanism_is_drawn_anew_unless_a_seed_was_asked_for(house: Path) -> None:
    texts: dict[str, set[str]] = {}
    for name, seed in (("seeded", 7), ("anew", None)):
        for i in range(2):
            result = run(house, "rank_swapping p=20 columns=age", seed=seed)
            found = write_package(result, house / f"{name}{i}", candidate=0, allow_seeded=True)
            assert found.redrawn == (seed is None)
            texts.setdefault(name, set()).add((found.folder / "release.csv").read_text())
            told = json.loads((found.house / "study.json").read_text())
            assert told["seed"] == seed
            assert told["drawn_anew"] is (seed is None)
            assert (FINDABLE in (found.folder / "README.md").read_text()) == (seed is not None)
    assert len(texts["seeded"]) == 1
    assert len(texts["anew"]) == 2
    first = run(house, "rank_swapping p=20 columns=age")
    zero = first.release(0).table
    zero.write(house / "zero.csv")
    assert (house / "zero.csv").read_text() not in texts["anew"], (
        "what was compared with seed 0 is not what is published"
    )


def test_a_seeded_draw_is_not_packaged_unless_the_owner_insists(house: Path) -> None:
    for text in ("rank_swapping p=20 columns=age", "mondrian k=4 mode=relaxed", "dp_marginals columns=town epsilon=1"):
        with pytest.raises(NotMet, match="made its random choices with your seed") as caught:
            write_package(run(house, text, seed=7), house / "out", candidate=0)
        assert "--allow-seeded" in str(caught.value)
        assert listing(house) == HOUSE
    result = run(house, "mondrian k=4 mode=relaxed", need=("k_anonymity >= 4",), seed=7)
    found = write_package(result, house / "out", allow_seeded=True)
    for name in ("README.md", "note.md", "note.html"):
        assert FINDABLE in (found.folder / name).read_text(), name
    for path in write_all(result, house / "docs", formats=("md",)):
        assert FINDABLE in path.read_text(), path.name
    assert " 7" not in (found.folder / "README.md").read_text().split("## Verify")[0], "the seed itself stays in"


def test_a_seed_does_not_matter_where_nothing_was_drawn(house: Path) -> None:
    found = write_package(run(house, "mondrian k=4", need=("k_anonymity >= 4",), seed=7), house / "out")
    assert FINDABLE not in (found.folder / "README.md").read_text()
    assert FINDABLE not in (found.folder / "note.md").read_text()


def test_nothing_that_leaves_the_house_is_drawn_from_a_guessable_source() -> None:
    """Generators are made of seeds in commands and comparisons; mechanisms and packages take the system's source or OpenDP's."""
    source = Path(sf.__file__).parent
    for path in [
        *(source / "mechanisms").rglob("*.py"),
        source / "core" / "randomness.py",
        source / "report" / "package.py",
        *(source / "publishing").glob("*.py"),
    ]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert "random" not in names, path.name
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random"):
                assert node.attr == "Generator", f"{path.name}: {ast.unparse(node)}"


def test_a_new_draw_is_held_to_the_requirements_about_the_population(house: Path) -> None:
    """The population is part of the study, also for a release that is drawn anew."""
    everybody = sf.read(people(200))
    result = run(
        house, "mondrian k=4 mode=relaxed", need=("k_anonymity >= 4", "journalist_risk <= 1"), population=everybody
    )
    found = write_package(result, house / "out")
    assert found.redrawn
    assert found.verification.met


def test_what_draws_nothing_is_not_drawn_anew(house: Path) -> None:
    assert not write_package(run(house, "mondrian k=4", need=("k_anonymity >= 4",)), house / "out").redrawn


# --- in the bad case -------------------------------------------------------------------------------------------------


STEPS = (
    "publish",
    "Roles.read",
    "write_roles",
    "_requirements",
    "dictionary",
    "write_value_maps",
    "_readme",
    "_note",
    "_house",
    "write_checksums",
)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, InputError])
@pytest.mark.parametrize("step", STEPS)
def test_a_failure_in_the_middle_leaves_nothing(
    house: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: type[BaseException]
) -> None:
    result = run(house, "mondrian k=4", need=("k_anonymity >= 4",))

    def fail(*args: Any, **more: Any) -> Any:
        raise failure("now")

    monkeypatch.setattr(f"sfumato.report.package.{step}", fail)
    with pytest.raises(failure):
        write_package(result, house / "out")
    assert listing(house) == HOUSE


@pytest.mark.parametrize("which", ["out", "out.house"])
def test_a_failure_while_the_names_are_given_leaves_nothing(
    house: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    result = run(house, "mondrian k=4", need=("k_anonymity >= 4",))
    real = Path.replace

    def fail(self: Path, target: Any) -> Any:
        if Path(target).name == which:
            raise OSError("no")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises((OSError, SfumatoError)):
        write_package(result, house / "out")
    assert listing(house) == HOUSE


def test_a_requirement_that_is_not_met_is_refused(house: Path) -> None:
    result = run(house, "mondrian k=2", "mondrian k=4", need=("k_anonymity >= 4",))
    with pytest.raises(NotMet, match=r"k_anonymity >= 4: not met") as caught:
        write_package(result, house / "out", candidate=0)
    assert "/." not in str(caught.value), "no hidden name"
    assert CANARY not in str(caught.value)
    assert listing(house) == HOUSE


def test_nothing_is_recommended_nothing_is_written(house: Path) -> None:
    result = run(house, "mondrian k=2", need=("k_anonymity >= 60",))
    with pytest.raises(NotMet, match="No candidate meets every requirement"):
        write_package(result, house / "out")
    assert listing(house) == HOUSE


def test_a_candidate_that_could_not_be_made_is_refused(house: Path) -> None:
    result = run(house, "mondrian k=2", "mondrian k=6000")
    with pytest.raises(NotMet, match="k_anonymity >= 6000"):
        write_package(result, house / "out", candidate=1)
    assert listing(house) == HOUSE


@pytest.mark.parametrize("there", ["out", "out.house"])
def test_what_is_there_already_is_not_touched(house: Path, there: str) -> None:
    result = run(house, "mondrian k=4", need=("k_anonymity >= 4",))
    (house / there).mkdir()
    (house / there / "mine").write_text("mine")
    with pytest.raises(InputError, match="already there"):
        write_package(result, house / "out")
    assert listing(house) == {*HOUSE, there}
    assert (house / there / "mine").read_text() == "mine"


def test_a_folder_above_that_does_not_exist(house: Path) -> None:
    result = run(house, "mondrian k=4", need=("k_anonymity >= 4",))
    with pytest.raises(InputError, match="its parent folder does not exist"):
        write_package(result, house / "nowhere" / "out")
    assert listing(house) == HOUSE


def test_a_release_made_elsewhere_with_identifiers_is_refused(house: Path) -> None:
    table = sf.read(people())
    theirs = Candidate("theirs", release=Release(table=table, original=table))
    result = run(house, candidates=(theirs,), need=("k_anonymity >= 1",))
    with pytest.raises(NotMet, match="'name' is an identifier") as caught:
        write_package(result, house / "out")
    assert CANARY not in str(caught.value)
    assert listing(house) == HOUSE


def test_a_release_made_elsewhere_is_packaged(house: Path) -> None:
    table = sf.read(people())
    release = sf.Mondrian(k=5)(table, sf.Roles.read(house / "roles.toml"))
    theirs = Candidate("theirs", release=Release(table=release.table, original=table))
    found = write_package(run(house, candidates=(theirs,), need=("k_anonymity >= 5",)), house / "out")
    check_as_the_readme_says(found.folder)
    with (found.folder / "release.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert rows == sorted(rows), "rows are said to be sorted"


def test_the_dictionary_counts_distinct_values_and_does_not_estimate_them() -> None:
    table = sf.read({"income": list(range(5000)), "half": [i // 2 for i in range(5000)]})
    rows = list(csv.DictReader(dictionary(Release(table=table), sf.Roles(quasi=("income", "half")), {}).splitlines()))
    assert [int(row["distinct values"]) for row in rows] == [5000, 2500]
