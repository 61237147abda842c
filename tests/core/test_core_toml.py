"""TOML files: what is in them, or one sentence that names the file, the line and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.core.errors import InputError
from sfumato.core.roles import Roles
from sfumato.core.toml import opened


def test_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes('x = "größe"\r\n[[y]]\nz = 1\n'.encode())
    assert opened(path, "file") == {"x": "größe", "y": [{"z": 1}]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["no such study file; write one."]),
        (b"a = 1\nb = 2\nc : 3\n", ["line 3: not a TOML file (expected"]),
        (b"[roles\n", ["line 1: not a TOML file"]),
        (b"a = [1,\n", ["at its end: not a TOML file"]),
        (b"a = 1\nb = '\xe9'\n", ["line 2: not UTF-8 text", "as UTF-8."]),
    ],
)
def test_refusals(tmp_path: Path, refusal: Callable[..., str], content: bytes | None, words: list[str]) -> None:
    path = tmp_path / "a.toml"
    if content is not None:
        path.write_bytes(content)
    refusal(InputError, lambda: opened(path, "study file", hint="write one"), path, *words)


def test_a_folder(tmp_path: Path, refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: opened(tmp_path, "study file"), tmp_path, "a folder; name a study file.")


def test_everything_that_reads_toml_says_it_alike(tmp_path: Path, refusal: Callable[..., str]) -> None:
    from sfumato.channel.description import read as description
    from sfumato.cli.inspect.queries import read_queries
    from sfumato.inspect.audit import read as checks
    from sfumato.mining.scenario import read as scenario
    from sfumato.study.study_file import read_study

    path = tmp_path / "a.toml"
    path.write_text("a = 1\nb\n")
    for read in (Roles.read, description, read_queries, scenario, checks, read_study):
        refusal(InputError, lambda read=read: read(path), f"{path}, line 2: not a TOML file")
        refusal(InputError, lambda read=read: read(tmp_path / "no.toml"), tmp_path / "no.toml", ": no such ")
