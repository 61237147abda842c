"""Importing the package costs nothing, and measuring loads only what it needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

HEAVY = ("duckdb", "pyarrow", "numpy", "pandas", "polars", "scipy", "altair", "jinja2", "rich", "typer", "ot", "sklearn", "vl_convert", "python_calamine", "openpyxl")  # fmt: skip
ASK = "import sys, json; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"


def loaded(code: str, cwd: Path) -> set[str]:
    """The packages that a fresh interpreter holds after running a piece of code."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\n{ASK}"], capture_output=True, text=True, cwd=cwd, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_loads_nothing(tmp_path: Path) -> None:
    found = loaded("import sfumato", tmp_path)
    assert "sfumato" in found
    assert not found & set(HEAVY)


def test_roles_errors_and_version_need_no_engine(tmp_path: Path) -> None:
    found = loaded("import sfumato; sfumato.SfumatoError; sfumato.__version__", tmp_path)
    assert not found & set(HEAVY)


def test_measuring_a_file_loads_neither_pandas_nor_scipy(tmp_path: Path) -> None:
    rows = [f"{20 + i % 40},{'MF'[i % 2]},{i % 7}K,2024-0{1 + i % 9}-11" for i in range(500)]
    (tmp_path / "people.csv").write_text("age,sex,salary,since\n" + "\n".join(rows) + "\n", encoding="utf-8")
    code = """
import sfumato as sf
table = sf.read("people.csv")
roles = sf.Roles(quasi=("age", "sex"), sensitive=("salary", "since"), hierarchies={"age": {"widths": [5, 10]}})
release = sf.Release(table=table, original=table, pairing="position", population=table)
scores, skipped = sf.measure(release, roles)
assert len(scores) > 40, skipped
made = sf.Mondrian(k=5)(table, roles)
from pathlib import Path
for name in ("out.csv", "out.parquet"):
    made.table.write(Path(name))
    again = sf.read(name)
    assert sf.k_anonymity(sf.Release(table=again), roles).value >= 5
"""
    found = loaded(code, tmp_path)
    assert {"duckdb", "numpy", "pyarrow"} <= found
    assert not found & {"pandas", "polars", "scipy", "altair", "jinja2", "sklearn", "openpyxl", "python_calamine"}


def test_a_requirement_imports_its_own_metric_alone(tmp_path: Path) -> None:
    code = """
import sys
from sfumato.metrics import metric, registry, require
assert str(require("k_anonymity >= 5")) == "k_anonymity >= 5"
assert "sfumato.metrics.privacy.t_closeness" not in sys.modules
for name, item in registry().items():
    assert metric(name) is item or metric(name) == item, name
"""
    loaded(code, tmp_path)


def test_every_name_that_is_offered_is_there() -> None:
    for name in ("read", "Roles", "Hierarchy", "Release", "Score", "Requirement", "SfumatoError", "measure", "metric", "require", "registry", "Mondrian"):  # fmt: skip
        assert name in sfumato.__all__
        assert getattr(sfumato, name) is not None
    assert {"k_anonymity", "t_closeness", "read"} <= set(dir(sfumato))
    assert sfumato.k_anonymity is sfumato.registry()["k_anonymity"]


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="elephants"):
        sfumato.elephants  # noqa: B018
