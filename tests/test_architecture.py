"""A room imports only rooms that stand before it, and the walks in docs/architecture.md are the ones that the program takes."""

from __future__ import annotations

import ast
import importlib.util
import shlex
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from sfumato.cli import app, demo_table

DOCS = Path(__file__).parents[1] / "docs"


def _architecture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_architecture", DOCS / "architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


ARCHITECTURE = _architecture()
ROOMS = ARCHITECTURE.ROOMS


@pytest.fixture(scope="module")
def imports() -> list[Any]:
    return list(ARCHITECTURE.imports())


def test_every_folder_is_a_room() -> None:
    folders = {path.parent.name for path in ARCHITECTURE.SOURCE.glob("*/__init__.py")}
    assert folders == set(ROOMS)
    assert {path.stem for path in ARCHITECTURE.SOURCE.glob("*.py")} == {"__init__", "__main__"}


def test_no_arrow_points_upwards(imports: list[Any]) -> None:
    assert len(imports) > 1000
    upwards = [
        str(each)
        for each in imports
        if {*each.rooms} <= {*ROOMS} and ROOMS.index(each.rooms[1]) > ROOMS.index(each.rooms[0])
    ]
    assert not upwards


def test_rooms_know_nothing_of_the_package_but_its_version(imports: list[Any]) -> None:
    """Its names are loaded from the rooms, so that any other import would be a circle."""
    used = [each for each in imports if each.rooms[1] == "__init__" and each.rooms[0] in ROOMS]
    assert used
    for each in used:
        text = (ARCHITECTURE.SOURCE / Path(*each.module.split("."))).with_suffix(".py")
        path = text if text.exists() else text.with_suffix("") / "__init__.py"
        assert "import __version__" in path.read_text(encoding="utf-8").splitlines()[each.line - 1], str(each)


def test_no_room_imports_a_private_module_of_another(imports: list[Any]) -> None:
    private = [
        str(each)
        for each in imports
        if each.rooms[0] != each.rooms[1]
        and any(part.startswith("_") and part != "__init__" for part in each.target.split("."))
    ]
    assert not private


def test_only_registries_import_by_a_string() -> None:
    assert set(ARCHITECTURE.imports_by_string()) <= set(ARCHITECTURE.REGISTRIES)


def test_a_class_name_exists_once() -> None:
    names = Counter(
        node.name
        for path in ARCHITECTURE.SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, n in names.items() if n > 1]


def test_the_page_is_current() -> None:
    assert (DOCS / "architecture.md").read_text(encoding="utf-8") == ARCHITECTURE.page(), "run docs/architecture.py"


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    demo_table.write_town(folder, rows=200)
    return folder


def _slow(walk: Any) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.full,) if " advise " in walk.command else ()  # it studies a dozen candidates


@pytest.mark.parametrize(
    "walk", [pytest.param(walk, id=walk.command.split()[1], marks=_slow(walk)) for walk in ARCHITECTURE.WALKS]
)
def test_a_walk_is_the_way_that_the_program_takes(walk: Any, town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function is called, and none before the one above it."""
    monkeypatch.chdir(town)
    if walk.command.startswith("sfumato attack release.csv") and not Path("release.csv").exists():
        made = next(each.command for each in ARCHITECTURE.WALKS if each.command.endswith("--out release.csv"))
        assert CliRunner().invoke(app, shlex.split(made)[1:]).exit_code == 0
    codes: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes[frame.f_code] = None

    sys.setprofile(note)
    try:
        done = CliRunner().invoke(app, shlex.split(walk.command)[1:])
    finally:
        sys.setprofile(None)
    assert done.exit_code == 0, done.output
    source = f"{ARCHITECTURE.SOURCE}/"
    calls = [(code.co_filename.removeprefix(source), code.co_qualname) for code in codes]
    steps = [(step.file, step.function) for step in walk.steps]
    assert [step for step in steps if step not in calls] == []
    assert sorted(steps, key=calls.index) == steps
