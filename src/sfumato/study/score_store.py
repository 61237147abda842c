"""What a study keeps between runs: scores by the content that they come from, so that nothing is measured twice.

A name in the folder is a hash of the program, the table, the roles with their hierarchies, the candidate and the seed. A change
of any of them is another name, and what is there under the old one is not looked at. Each carries a seal (core/kept_files.py): an entry
that was damaged or edited is not believed, but made again. Nothing kept holds a row of the table; the
folder is the owner's, and only the owner may read it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..core.hierarchy import Hierarchy
from ..core.kept_files import KeptFiles
from ..core.release import Release
from ..core.roles import Roles


@cache
def program() -> str:
    """A hash of this program and of what computes for it: another version may give other numbers."""
    import duckdb
    import numpy as np

    home = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256(f"{duckdb.__version__} {np.__version__}".encode())
    for file in sorted(home.rglob("*.py")):
        digest.update(str(file.relative_to(home)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def of_roles(roles: Roles) -> str:
    """A hash of the roles with the contents of their hierarchies."""
    digest = hashlib.sha256(roles.toml().encode())
    for name, rule in sorted(roles.hierarchies.items()):
        file = rule.get("file") if isinstance(rule, dict) else rule
        if isinstance(rule, Hierarchy):
            digest.update(repr((name, rule.levels)).encode())
        elif isinstance(file, str):
            path = roles.folder / file
            digest.update(path.read_bytes() if path.is_file() else b"absent")
    return digest.hexdigest()


def of_release(release: Release) -> str:
    """A hash of a release that was made elsewhere."""
    said = [release.table.digest(), release.pairing, release.joined_by, sorted(release.perturbed), release.statistics]
    said += [[name, table.digest()] for name, table in sorted(release.companions.items())]
    said += [table.digest() for table in release.related]
    return name_of(*said)


def name_of(*parts: Any) -> str:
    """A hash of anything that JSON can say."""
    return hashlib.sha256(json.dumps(parts, default=_plain).encode()).hexdigest()


def _plain(part: Any) -> Any:
    """All that a noun holds: what it prints tells too little to tell two of them apart."""
    return [type(part).__name__, asdict(part)] if is_dataclass(part) and not isinstance(part, type) else str(part)


def decoded(kind: Any, content: Any) -> Any:
    """A value of this type from what JSON made of it: nouns, tuples, mappings, and a noun or a text.

    A noun that has kinds of its own, as the details of an attack have, is the loaded one with these fields.
    """
    if isinstance(kind, type) and is_dataclass(kind):
        kind = next((each for each in _kinds(kind) if {f.name for f in fields(each)} == set(content)), kind)
        hints = get_type_hints(kind)
        return kind(**{name: decoded(hints[name], value) for name, value in content.items()})
    arguments = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        if content is None or isinstance(content, str):
            return content
        return decoded(next(each for each in arguments if each not in (str, NoneType)), content)
    if get_origin(kind) is tuple:
        return tuple(decoded(arguments[0], each) for each in content)
    if kind is float and content is None:
        return math.nan  # JSON has no number for what cannot be counted
    if get_origin(kind) is dict:
        return {name: decoded(arguments[1], each) for name, each in content.items()}
    return content


def _kinds(kind: Any) -> Iterator[Any]:
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)


class Kept:
    """A folder of small JSON files by hash; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.files = None if folder is None else KeptFiles(folder, "scores", ".json")

    def get(self, key: str) -> dict[str, Any] | None:
        """What was kept, unless it is not there or damaged: then it is made again."""
        content = None if self.files is None else self.files.read(key)
        try:
            kept = None if content is None else json.loads(content)
        except (ValueError, RecursionError):
            return None
        return kept if isinstance(kept, dict) else None

    def put(self, key: str, content: dict[str, Any]) -> None:
        """Keep it, whole or not at all."""
        if self.files is not None:
            self.files.write(key, json.dumps(content, ensure_ascii=False).encode())

    def remember(self, key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What was kept under this name, or what is made now and kept."""
        kept = self.get(key)
        if kept is None:
            kept = make()
            self.put(key, kept)
        return kept
