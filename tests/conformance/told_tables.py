"""Small tables of awkward shapes, what is said about them, and plain recounting that shares no code with the package."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sfumato as sf
from sfumato.core.errors import SfumatoError
from sfumato.report import document as d

Row = dict[str, str]


@dataclass
class World:
    """A table, its roles, and what else sentences speak of: the release, the study, the file that was written."""

    name: str
    rows: list[Row]
    roles: sf.Roles
    folder: Path
    released: list[Row] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.csv"

    @property
    def table(self) -> Any:
        if "table" not in self.extra:
            write(self.path, self.rows)
            self.extra["table"] = sf.read(self.path)
        return self.extra["table"]

    @property
    def quasi(self) -> tuple[str, ...]:
        return tuple(self.roles.quasi)


def write(path: Path, rows: Sequence[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, fieldnames=list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def classes(rows: Iterable[Row], by: Sequence[str]) -> Counter[tuple[str, ...]]:
    """How many rows share their values; a missing value is a value."""
    return Counter(tuple(row[name] for name in by) for row in rows)


def alone(rows: Sequence[Row], by: Sequence[str]) -> int:
    return sum(n == 1 for n in classes(rows, by).values())


def groups(rows: Iterable[Row], by: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in by), []).append(row)
    return found


def _rows(seed: int, shape: str) -> list[Row]:
    rng = random.Random(seed)
    many = {"one row": 1, "tiny": 4, "skewed": 90, "all unique": 40}.get(shape, 70)
    rows = []
    for i in range(many):
        row = {
            "age": str(rng.randint(18, 80)),
            "sex": rng.choice("fm"),
            "town": rng.choice(["Pisa", "Lucca", "Siena"]),
            "ill": rng.choice(["flu", "cold", "none", "flu"]),
            "pay": rng.choice(["low", "mid", "high"]),
        }
        if shape == "constants":
            row |= {"town": "Pisa", "pay": "low"}
        elif shape == "missing":
            row |= {name: "" for name in row if rng.random() < 0.3}
        elif shape == "heavy repetition":
            row |= {
                "age": rng.choice(["30", "31"]),
                "town": "Pisa" if i else "Lucca",
                "ill": "flu" if i % 9 else "cold",
            }
        elif shape == "skewed":
            row |= {"age": str(40 if i < 70 else 41 + i % 12 if i < 89 else 900), "ill": "flu" if i % 15 else "cold"}
        elif shape == "all unique":
            row |= {"age": f"{20 + i}.{i % 7}5"}
        elif shape == "numbers":
            row |= {"town": str(rng.randint(1, 7)), "sex": str(rng.random())[:6]}
        rows.append(row)
    return rows


SHAPES = ("plain", "constants", "missing", "heavy repetition", "skewed", "all unique", "numbers", "tiny", "one row")


def worlds(folder: Path) -> Iterator[World]:
    """One table of each shape, every other with two sensitive columns."""
    for seed, shape in enumerate(SHAPES):
        sensitive = ("ill", "pay") if seed % 2 == 0 else ("ill",)
        roles = sf.Roles(
            quasi=("age", "sex", "town"),
            sensitive=sensitive,
            insensitive=tuple({"pay"} - set(sensitive)),
            source="roles.toml",
        )
        yield World(shape.replace(" ", "_"), _rows(seed, shape), roles, folder)


def texts(document: d.Document) -> Iterator[tuple[str, str]]:
    """Every text of a document that is a sentence: paragraphs, bullets, callouts, terms, captions, cells that end like one."""

    def of(block: Any, where: str) -> Iterator[tuple[str, str]]:
        if isinstance(block, d.Paragraph):
            yield where, d.plain(block.text)
        elif isinstance(block, d.Bullets):
            yield from ((where, d.plain(item)) for item in block.items)
        elif isinstance(block, d.Callout | d.Fold):
            for each in block.blocks:
                yield from of(each, where)
        elif isinstance(block, d.Terms):
            yield from ((where, d.plain(said)) for _, said in block.items)
        elif isinstance(block, d.Grid):
            if block.caption:
                yield where, block.caption
            for row in block.rows:
                for cell in map(d.plain, row):
                    if cell.endswith(".") or cell[:1] in "✓✗~?":
                        yield where, cell
        elif isinstance(block, d.Row):
            for figure in block.figures:
                yield from of(figure, where)
        elif isinstance(block, d.Figure) and block.numbers is not None:
            yield from of(block.numbers, where)

    heading = ""
    yield "subtitle", d.plain(document.subtitle)
    yield "footer", document.footer
    for block in document.blocks:
        if isinstance(block, d.Heading):
            heading = d.plain(block.text)
        else:
            yield from of(block, heading)


def tried(find: Any, *given: Any, **how: Any) -> Any:
    """What a call gives, or the sentence of why it does not."""
    try:
        return find(*given, **how)
    except SfumatoError as reason:
        return str(reason)
