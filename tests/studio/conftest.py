from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from studio_house import Client, serving

from sfumato.cli.demo_table import write_town


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's town, small; its roles, written by hand, lie beside it."""
    folder = tmp_path_factory.mktemp("town")
    write_town(folder, rows=300)
    return folder


@pytest.fixture(scope="module")
def studio(town: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    """A studio on the town, entered, and its folder."""
    folder = tmp_path_factory.mktemp("work") / "studio"
    with serving(folder, str(town / "people.csv")) as client:
        client.enter()
        yield client, folder
