"""The command line as a script meets it, and the house it works in: shared by the tests of the verbs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = Path(sys.executable).with_name("sfumato")
CANARY = "Quixotic7741"
"""Stands in every text column of the table; it must not stand in anything that is printed."""


PROGRESS = re.compile(r"[a-z ]+: (\d+%|\d+ of \d+)")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)

    def fine(self) -> Outcome:
        assert self.code == 0, self.err
        return self

    def refused(self, code: int, *words: str) -> str:
        """One sentence on standard error that names what it should, no traceback, no value of the table."""
        assert self.code == code, (self.code, self.out, self.err)
        lines = [line for line in self.err.splitlines() if not PROGRESS.match(line)]  # a busy machine takes its time
        assert len(lines) == 1, self.err
        assert lines[0].startswith("sfumato: ")
        assert lines[0].endswith((".", "?"))
        assert "Traceback" not in self.err
        assert CANARY not in self.out + self.err
        for word in words:
            assert word in lines[0], f"does not say {word!r}: {lines[0]}"
        return lines[0]


Run = Callable[..., Outcome]


ROLES = """[roles]
identifiers = ["name"]
quasi = ["age", "town"]
sensitive = ["ill"]
insensitive = ["note"]
"""


@dataclass(frozen=True)
class House:
    """A folder with a table of 40 people and its roles."""

    folder: Path

    @property
    def people(self) -> Path:
        return self.folder / "people.csv"

    @property
    def roles(self) -> Path:
        return self.folder / "roles.toml"

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def listing(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    def text(self, name: str, content: str, encoding: str = "utf-8") -> Path:
        path = self.folder / name
        path.write_bytes(content.encode(encoding))
        return path


def people(delimiter: str = ",", header: str = "name,age,town,ill,note") -> str:
    """Forty people: ages 20 to 59, a canary in every text column."""
    towns, ills = ("Rome", "Oslo", CANARY, ""), ("flu", "cold", CANARY)
    lines = [header.replace(",", delimiter)]
    for i in range(40):
        fields = (f"{CANARY}{i}", str(20 + i), towns[i % 4], ills[i % 3], f"{CANARY} note")
        lines.append(delimiter.join(fields))
    return "\n".join(lines) + "\n"
