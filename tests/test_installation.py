"""The wheel and the sdist: built, installed in a clean environment without `./run`, and at work there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import sfumato

ROOT = Path(__file__).parents[1]
UV = shutil.which("uv") or str(ROOT / ".venv" / ".uv" / "bin" / "uv")
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}


def call(*words: object, where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, words)], cwd=where, env=ENVIRONMENT, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    if not Path(UV).exists():
        pytest.skip("there is no uv to build with")
    folder = tmp_path_factory.mktemp("built")
    made = call(UV, "build", "--quiet", "--python", sys.executable, "--out-dir", folder, ROOT, where=folder)
    if made.returncode and re.search("Failed to (?:fetch|resolve)|dns|network|connect", made.stderr):
        pytest.skip(f"the build's own requirements cannot be fetched here: {made.stderr[-300:]}")
    assert made.returncode == 0, made.stderr
    return folder


@pytest.mark.full
def test_the_wheel_holds_all_of_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "src"], capture_output=True, text=True)
    tracked = {name.removeprefix("src/") for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    assert {name for name in names if not name.startswith("sfumato/")} == set()
    assert not listed.stdout or names >= tracked
    assert {"sfumato/report/statement.schema.json", "sfumato/py.typed", "sfumato/__init__.pyi"} <= names


@pytest.mark.full
def test_the_sdist_holds_what_builds_it_and_no_environment(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/sfumato/__init__.py"} <= names
    assert not {name.split("/")[0] for name in names} & {".venv", ".venv-docs", "site", "sfumato-demo"}


@pytest.mark.full
def test_it_works_in_a_clean_environment_by_pip_alone(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    clean = tmp_path / "clean"
    assert call(UV, "venv", "--quiet", "--seed", "--python", sys.executable, clean, where=tmp_path).returncode == 0
    python = clean / SCRIPTS / "python"
    installed = call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, where=tmp_path)
    if installed.returncode and re.search(
        "No matching distribution|Could not find a version|Connection", installed.stderr
    ):
        pytest.skip(f"the requirements cannot be fetched here: {installed.stderr[-300:]}")
    assert installed.returncode == 0, installed.stderr
    script = clean / SCRIPTS / "sfumato"
    assert call(script, "--version", where=tmp_path).stdout.startswith(f"sfumato {sfumato.__version__}")
    shown = call(script, "demo", "--rows", "600", "--out", "town", "--json", where=tmp_path)
    assert shown.returncode == 0, shown.stderr
    release, roles = Path("town/package/release.csv"), Path("town/package/roles.toml")
    checked = call(script, "verify", release, "--roles", roles, "--require", "k_anonymity >= 20", where=tmp_path)
    assert checked.returncode in (0, 1), checked.stderr  # 1: a column that the demo waives is told
    assert "k_anonymity >= 20: met" in checked.stdout
