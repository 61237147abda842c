"""Each paper is reproduced once for all tests that look at it."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.reproduce.check import Paper

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult"


@pytest.fixture(scope="session")
def adult_folder() -> Path:
    if not (DATA / "adult_48842.csv").is_file():
        pytest.skip("needs ../shared/data/adult, which a fresh clone lacks")
    return DATA


@pytest.fixture(scope="session")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Paper]:
    """A paper with everything that can be run here."""
    where = DATA if (DATA / "adult_48842.csv").is_file() else tmp_path_factory.mktemp("empty")

    @functools.cache
    def made(name: str) -> Paper:
        found = importlib.import_module(f"sfumato.reproduce.{name}").reproduce(where)
        assert isinstance(found, Paper)
        return found

    return made


@pytest.fixture(scope="session")
def ours(paper: Callable[[str], Paper]) -> Callable[[str, str], list[float]]:
    """What we get on the line of a paper that begins so, as numbers."""

    def numbers(name: str, start: str) -> list[float]:
        [line] = [line for line in paper(name).lines if line.what.startswith(start)]
        return [float(part.rstrip("%")) / (100 if part.endswith("%") else 1) for part in line.ours.split(", ")]

    return numbers
