"""The files of a package: how they are written, their checksums, and their one time."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import InputError

_MOMENT = 946_684_800  # 2000-01-01 00:00 UTC


def set_same_times(folder: Path) -> None:
    """Give every file of a package the same time: when each was written tells how long what took, and archives differ by it."""
    for path in (*sorted(folder.rglob("*")), folder):
        os.utime(path, (_MOMENT, _MOMENT))


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS over every file of a package."""
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            lines.append(f"{checksum(path)}  {name}\n")
    write_text(folder / "SHA256SUMS", "".join(lines))


def changed_files(release: Path) -> list[str]:
    """Of a release in a package: a sentence for each file that is not the one that SHA256SUMS beside it knows.

    Nothing for one without SHA256SUMS beside it, or with one that does not know it, which is then not its package's.
    """
    sums = release.parent / "SHA256SUMS"
    if not sums.is_file():
        return []
    try:
        lines = [line.partition("  ") for line in sums.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        return [f"{sums}: the checksums cannot be read ({type(error).__name__})."]
    known = {name: digest for digest, _, name in lines}
    if release.name not in known:
        return []
    changed = []
    for name, digest in known.items():
        path = release.parent / name
        if not path.resolve().is_relative_to(release.parent.resolve()):
            changed.append(f"{sums}: names a file outside the package.")
        elif not path.is_file():
            changed.append(f"{path}: is listed in SHA256SUMS but missing.")
        elif checksum(path) != digest:
            changed.append(
                f"{path}: changed after the package was written; its checksum differs from the one in SHA256SUMS."
            )
    return changed


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def csv_text(rows: Sequence[Sequence[Any]]) -> str:
    """Rows as the text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def json_text(content: Any) -> str:
    """The text of a JSON file; numbers of numpy are numbers."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        return str(value)

    return json.dumps(content, indent=2, ensure_ascii=False, default=plain) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file of a package, or say that it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({type(error).__name__}).") from None
