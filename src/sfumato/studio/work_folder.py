"""The work folder: an ordinary roles file and study file, what was uploaded, the documents, the package; and a private part.

    people.csv          what the owner uploaded; a table named on the command line stays where it lies
    roles.toml          what each column is
    study.toml          table, context, limits, waivers and candidates: `sfumato study FOLDER/study.toml --out FOLDER/study` reruns it
    decision.toml       the same with the one candidate that the owner took, where that is another than the recommended
    study/              the documents, and in .kept the scores
    package/, package.house/   the release, and what stays in the house
    release.xlsx, ...   the release in other formats
    somebodys-release/  a release made elsewhere that was brought to be checked
    .studio/            what became of child processes, and the points of the last run, for the page alone

Nothing is written anywhere else, and no name in it comes from a page but the cleaned name of an upload.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core import table_formats as formats
from ..core.errors import InputError
from ..core.files import write_whole
from ..core.noun import dataclass
from ..core.roles import Roles, spell_key, spell_toml
from ..core.toml import opened

_UNSAFE = re.compile(r"[^\w-]+")
_LONGEST_STEM = 60
_ENDINGS = (*(end for each in formats.FORMATS for end in each.endings), ".duckdb", ".db", ".sqlite", ".sqlite3")
_PACKED = (".gz", ".zst")
_ASIDE = frozenset({"title", "purpose", "date", "accept"})
"""Keys of a study file that change no release and no score."""
ENDINGS = {"xlsx": "Excel", "parquet": "Parquet", "sav": "SPSS", "dta": "Stata"}
"""What the release is written as besides CSV, where the owner asks for it."""


@dataclass(frozen=True)
class WorkFolder:
    """Where everything of one piece of work lies."""

    path: Path

    @classmethod
    def at(cls, path: Path) -> WorkFolder:
        """The folder, made if it is not there, for its owner alone."""
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            (path / ".studio").mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: this folder cannot be made ({type(error).__name__}); name another.") from None
        return cls(path)

    @property
    def roles_file(self) -> Path:
        """What each column is."""
        return self.path / "roles.toml"

    @property
    def study_file(self) -> Path:
        """What is compared."""
        return self.path / "study.toml"

    @property
    def decision_file(self) -> Path:
        """The study of the one candidate that was taken instead of the recommended one."""
        return self.path / "decision.toml"

    @property
    def documents(self) -> Path:
        """Where documents and kept scores go, as `--out` of the command line."""
        return self.path / "study"

    @property
    def kept(self) -> Path:
        """Where scores and events are kept, as the command line keeps them."""
        return self.documents / ".kept"

    @property
    def package(self) -> Path:
        """The release package."""
        return self.path / "package"

    @property
    def points(self) -> Path:
        """What the last run measured."""
        return self.private / "points.json"

    @property
    def decided(self) -> Path:
        """The verdict on the last run."""
        return self.private / "decision.json"

    @property
    def tour(self) -> Path:
        """There while the tour is taken."""
        return self.private / "tour"

    @property
    def comparison(self) -> Path:
        """Two candidates side by side."""
        return self.private / "compare.json"

    @property
    def checked(self) -> Path:
        """What was found of somebody's release."""
        return self.private / "check.json"

    @property
    def inbox(self) -> WorkFolder:
        """Where a release that somebody else made is put; it holds one."""
        return WorkFolder(self.path / "somebodys-release")

    def brought(self) -> Path | None:
        """The release that was brought to be checked."""
        found = sorted(self.inbox.path.glob("[!.]*")) if self.inbox.path.is_dir() else []
        return found[0] if found else None

    def release(self, ending: str) -> Path:
        """The release by itself in another format than the package's."""
        return self.path / f"release.{ending}"

    @property
    def private(self) -> Path:
        """What only the page reads."""
        return self.path / ".studio"

    def study(self) -> dict[str, Any]:
        """The content of the study file; empty where there is none yet."""
        return opened(self.study_file, "study file") if self.study_file.exists() else {}

    def write_study(self, content: Mapping[str, Any]) -> None:
        """Write the study file."""
        write_whole(self.study_file, study_toml(content))

    def write_decision(self, content: Mapping[str, Any]) -> None:
        """Write the study of the one candidate that was taken."""
        write_whole(self.decision_file, study_toml(content))

    def roles(self) -> Roles:
        """What stands in the roles file."""
        return Roles.read(self.roles_file)

    @property
    def state(self) -> str:
        """What stands in roles and study, as a checksum: a run is of one state, and later ones may differ."""
        roles = self.roles_file.read_bytes() if self.roles_file.exists() else b""
        study = study_toml({key: value for key, value in self.study().items() if key not in _ASIDE}).encode()
        return hashlib.sha256(roles + b"\0" + study).hexdigest()

    def table_file(self) -> Path | None:
        """The table that the study file names."""
        name = self.study().get("table")
        return self.path / name if isinstance(name, str) and name else None

    def refer(self, table: Path) -> str:
        """How the study file names a table: from this folder, so that both can be moved together."""
        return os.path.relpath(table, self.path)

    def upload_path(self, name: str) -> Path:
        """Where a file of this name goes: a clean name that is not taken, with the ending of a format that can be read."""
        base = name.replace("\\", "/").rpartition("/")[2]
        packed = next((end for end in _PACKED if base.lower().endswith(end)), "")
        stem, dot, ending = base[: len(base) - len(packed)].rpartition(".")
        ending = (dot + ending).lower()
        if ending not in _ENDINGS:
            raise InputError(
                f"A file that ends in {ending[:12] or 'nothing'!r} cannot be read; bring {formats.READABLE}."
            )
        stem = _UNSAFE.sub("_", stem).strip("_")[:_LONGEST_STEM] or "table"
        for number in range(1, 1000):
            path = self.path / f"{stem}{'' if number == 1 else f'-{number}'}{ending}{packed}"
            if not path.exists():
                return path
        raise InputError(f"{self.path}: there are too many files of this name; choose another folder.")


def study_toml(content: Mapping[str, Any]) -> str:
    """A study file as text: keys, then sections, then the candidates."""
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping) and key != "candidate"}
    lines = [f"{key} = {spell_toml(value)}" for key, value in plain.items()]
    for title, section in content.items():
        if isinstance(section, Mapping) and section:
            lines += ["", f"[{spell_key(title)}]"]
            lines += [f"{spell_key(key)} = {spell_toml(value)}" for key, value in section.items()]
    for candidate in content.get("candidate", ()):
        lines += ["", "[[candidate]]", *(f"{spell_key(key)} = {spell_toml(value)}" for key, value in candidate.items())]
    return "\n".join(lines) + "\n"
