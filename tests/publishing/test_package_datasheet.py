"""The data sheet of a package, whose examples run in its folder, and its statement, which keeps its schema."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import sfumato as sf
from house import canaries
from sfumato.metrics import metric, require
from sfumato.report.package import write_package
from sfumato.report.statement import SCHEMA, schema
from sfumato.study.study import Study, grid


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    roles = sf.Roles(quasi=("age", "town"), sensitive=("ill",), identifiers=("name", "pay"), source="roles.toml")
    limits = (require("k_anonymity >= 4"), require("column_distance <= 0.9"))
    study = Study(
        table=sf.read(canaries(150)), roles=roles, candidates=grid(["mondrian k=4"]), require=limits, title="Town",
        measures=(metric("k_anonymity"),),
    )  # fmt: skip
    return write_package(study.run(refine=0), tmp_path_factory.mktemp("made") / "package").folder


def examples(folder: Path) -> list[str]:
    return re.findall(r"```\n(.*?)```", (folder / "datasheet.md").read_text(encoding="utf-8"), re.DOTALL)


def expected(folder: Path) -> str:
    """The same count by another way: every person's range cut with the one that is asked for."""
    low, high = map(float, re.findall(r"low, high = \"age\", (\S+), (\S+)", examples(folder)[0])[0])
    table = sf.read(folder / "release.csv").count(("age",))
    inside, unknown = 0.0, 0
    for text, n in zip(table.columns[0].texts, table.n.tolist(), strict=True):
        if str(text)[0] in "<>":  # open on one side: not counted
            unknown += n
            continue
        ends = [float(end) for end in re.findall(r"[0-9.]+", str(text))]
        if str(text).startswith("{"):  # a set: each of its values has the same part
            inside += n * sum(low <= end <= high for end in ends) / len(ends)
            continue
        a, b = ends[0], ends[-1]
        inside += n * (
            (min(b, high) - max(a, low)) / (b - a)
            if b > a and b > low and a < high
            else float(a == b and low <= a <= high)
        )
    return f"about {inside:.1f} of {150 - unknown} rows"


def test_the_example_in_python_runs_in_the_package(folder: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", examples(folder)[0]], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(expected(folder))


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs Rscript to run the example in R")
def test_the_example_in_r_says_the_same(folder: Path) -> None:
    ran = subprocess.run(["Rscript", "-e", examples(folder)[1]], cwd=folder, capture_output=True, text=True)
    assert ran.stdout.startswith(expected(folder)), ran.stderr


def test_the_statement_keeps_its_schema_and_tells_the_file(folder: Path) -> None:
    said = json.loads((folder / "statement.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(said, schema())
    assert said["schema"] == SCHEMA == schema()["$id"]
    (file,) = said["dcat:distribution"]
    assert file["spdx:checksum"]["value"] == hashlib.sha256((folder / file["file"]).read_bytes()).hexdigest()
    assert [column["name"] for column in said["columns"]] == ["age", "town", "ill"]
    assert {limit["requirement"]: limit["checked_again_by"] for limit in said["limits"]} == {
        "k_anonymity >= 4": "recipient",
        "column_distance <= 0.9": "owner",
    }


def test_the_sheet_tells_no_column_that_is_not_released(folder: Path) -> None:
    for form in ("md", "html"):
        text = (folder / f"datasheet.{form}").read_text(encoding="utf-8")
        assert "ranges of numbers" in text
        assert "`pay`" not in text
        assert "<code>pay</code>" not in text
