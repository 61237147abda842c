"""Type checkers and editors know every public name: a script that uses the library passes, and one that misuses it does not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf

ROOT = Path(__file__).parents[2]
USES = """
import duckdb
import polars as pl
import sfumato as sf

table: sf.Table = sf.read("people.csv")
roles = sf.Roles.read("roles.toml")
limit: sf.Requirement = sf.t_closeness(ground="equal").at_most(0.2)
try:
    release: sf.Release = sf.Mondrian(k=5, require=(limit,))(table, roles)
except sf.Infeasible as reason:
    raise SystemExit(str(reason)) from None
rows = pl.DataFrame({"age": [31, 32]})
for frame in (rows, rows.lazy(), duckdb.sql("SELECT 1 AS age"), "people.csv"):
    sf.Mondrian(k=2)(frame, sf.suggest_roles(frame).assign(quasi="age", hierarchies={"age": {"widths": [5, 10]}}))
score: sf.Score = sf.k_anonymity(release, roles)
metrics: dict[str, sf.Metric] = dict(sf.registry())
mechanisms: list[sf.Mechanism] = [sf.Mondrian(k=5), sf.KMember(k=5)]
outcome = sf.homogeneity(release, roles, sensitive="salary")
print(outcome.success, sf.linkage.card.title)
errors: list[type[sf.SfumatoError]] = [sf.InputError, sf.RequirementError, sf.Unavailable, sf.NotMet]
"""
MISUSES = {
    "sf.Mondrain(k=5)": 'no attribute "Mondrain"; maybe "Mondrian"',
    "sf.k_anonimity": 'no attribute "k_anonimity"; maybe "k_anonymity"',
    'sf.Mondrian(k="five")': '"k" to "Mondrian" has incompatible type "str"',
    'sf.Mondrian(k=5, mode="loose")': '"mode" to "Mondrian" has incompatible type',
    "sf.Mondrian(5)": 'Too many positional arguments for "Mondrian"',
    "sf.Mondrian(l=5)": 'Unexpected keyword argument "l"',
    "sf.linkge": 'no attribute "linkge"; maybe "linkage"',
    "sf.homogeneity(sf.read('people.csv'), sf.Roles())": "incompatible type",
    "sf.k_anonymity(sf.read('people.csv'), sf.Roles())": "No overload variant",
    "sf.k_anonymity.at_least('five')": '"at_least" of "Metric" has incompatible type "str"',
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What a strict mypy says of the line of each script; the package is found as a user's is, by its py.typed."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "uses.py").write_text(USES, encoding="utf-8")
    (folder / "misuses.py").write_text("\n".join(["import sfumato as sf", *MISUSES, ""]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"),
         "--no-error-summary", "--hide-error-context", "uses.py", "misuses.py"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    lines = ["", "", *MISUSES]
    said: dict[str, list[str]] = {}
    for file, line, text in re.findall(r"^(\w+)\.py:(\d+): error: (.*)$", done.stdout, flags=re.MULTILINE):
        said.setdefault(lines[int(line)] if file == "misuses" else file, []).append(text)
    return said


def test_a_script_that_uses_the_library_passes(complaints: dict[str, list[str]]) -> None:
    assert "uses" not in complaints


@pytest.mark.parametrize("line", MISUSES)
def test_a_misuse_is_told(line: str, complaints: dict[str, list[str]]) -> None:
    assert any(MISUSES[line] in text for text in complaints.get(line, [])), complaints


def test_the_stub_offers_what_the_package_has() -> None:
    stub = (ROOT / "src/sfumato/__init__.pyi").read_text(encoding="utf-8")
    names = {*re.findall(r" as (\w+)$", stub, flags=re.MULTILINE), "__version__"}
    assert names == set(sf.__all__) == set(dir(sf)), "run docs/build.py"
    assert {"Table", "Mondrian", "k_anonymity", "NotMet"} <= names
