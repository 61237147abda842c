"""A document as plain data: blocks that a writer turns into HTML, Markdown or PDF.

Nothing in it is markup. A column may be called `<b>`, `#` or `$x$`: it is a text, and each writer sees to it that it stays one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from ..core.noun import dataclass
from ..core.words import percent as spell_percent

Kind = Literal["code", "strong", "soft", "yes", "no"]
Align = Literal["left", "right"]
Tone = Literal["answer", "beware", "yes", "open", "no"]


@dataclass(frozen=True)
class Mark:
    """A piece of a text that looks otherwise. `yes` and `no` also begin with a sign: colour alone says nothing."""

    text: str
    kind: Kind


Text = str | Mark | Sequence[str | Mark]
"""A text, or pieces of one."""

YES, NO = "✓", "✗"


def code(text: object) -> Mark:
    """A name or a requirement, as it is written."""
    return Mark(str(text), "code")


def strong(text: object) -> Mark:
    """What to read first."""
    return Mark(str(text), "strong")


def soft(text: object) -> Mark:
    """An aside."""
    return Mark(str(text), "soft")


def verdict(met: bool, text: object = "") -> Mark:
    """Met or not met, by sign, word and colour."""
    words = str(text) or ("met" if met else "not met")
    return Mark(f"{YES if met else NO} {words}", "yes" if met else "no")


def pieces(text: Text) -> list[str | Mark]:
    """A text as its pieces."""
    return [text] if isinstance(text, str | Mark) else list(text)


def plain(text: Text) -> str:
    """A text without its marks."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces(text))


def joined(parts: Sequence[str | Mark], between: str = ", ") -> list[str | Mark]:
    """Pieces with something between them."""
    pieces: list[str | Mark] = []
    for part in parts:
        pieces += [between, part] if pieces else [part]
    return pieces


@dataclass(frozen=True)
class Heading:
    """A heading: level 2 begins a section, 3 a part of one."""

    text: Text
    level: Literal[2, 3] = 2


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `aside` if it may be skipped."""

    text: Text
    aside: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: Sequence[Text]


@dataclass(frozen=True)
class GridColumn:
    """A column of a table; `below` stands under its name."""

    name: str
    align: Align = "left"
    below: str = ""
    hint: str = ""


def right(name: str, below: str = "") -> GridColumn:
    """A column of numbers."""
    return GridColumn(name, "right", below)


@dataclass(frozen=True)
class Grid:
    """A table with a caption; `chosen` is the row to be marked, by a sign and by colour."""

    columns: Sequence[GridColumn | str]
    rows: Sequence[Sequence[Text]]
    caption: str = ""
    chosen: int | None = None

    @classmethod
    def of(
        cls, items: Iterable[Any], *columns: tuple[GridColumn | str, Callable[[Any], Text]], caption: str = ""
    ) -> Grid:
        """A row for each item: of each column its head and what it says of the item."""
        rows = [[cell(item) for _, cell in columns] for item in items]
        return cls([head for head, _ in columns], rows, caption)

    @property
    def head(self) -> list[GridColumn]:
        """Its columns."""
        return [GridColumn(c) if isinstance(c, str) else c for c in self.columns]


@dataclass(frozen=True)
class Figure:
    """A Vega-Lite specification, and in words what it shows; `numbers` are what it draws, unless a table beside it has them."""

    name: str
    specification: Mapping[str, Any]
    alt: str
    numbers: Grid | None = None


@dataclass(frozen=True)
class Code:
    """Lines to be typed or kept."""

    text: str


@dataclass(frozen=True)
class Terms:
    """Terms with what is said of each."""

    items: Sequence[tuple[Text, Text]]


@dataclass(frozen=True)
class Callout:
    """What a reader must not miss."""

    title: Text
    blocks: Sequence[Paragraph | Bullets]
    tone: Tone = "answer"


@dataclass(frozen=True)
class Fold:
    """What is there for those who look for it: folded away on a screen, printed on paper."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Row:
    """Figures side by side, where there is room."""

    figures: Sequence[Figure]


@dataclass(frozen=True)
class ShareBar:
    """A share from 0 to 1 with what it is of, and its number in words."""

    label: Text
    share: float
    value: Text


@dataclass(frozen=True)
class ShareBars:
    """Shares as bars, one below the other, all from 0 to 1."""

    bars: Sequence[ShareBar]


@dataclass(frozen=True)
class Crowd:
    """One person among so many, as dots."""

    among: int
    alt: str


@dataclass(frozen=True)
class Shape:
    """How a column is distributed: the share of the rows in each of its bins, before and after."""

    before: Sequence[float]
    after: Sequence[float]
    alt: str


@dataclass(frozen=True)
class Tile:
    """A small part with a title, beside others."""

    title: Text
    blocks: Sequence[ShareBars | Crowd | Shape | Paragraph | Bullets]


@dataclass(frozen=True)
class TileRow:
    """Parts side by side, where there is room."""

    cards: Sequence[Tile]


@dataclass(frozen=True)
class Page:
    """What fits one printed page, set smaller there; on a screen it is as large as everything else."""

    blocks: Sequence[Block]


Block = (
    Heading
    | Paragraph
    | Bullets
    | Grid
    | Figure
    | Row
    | Code
    | Callout
    | Fold
    | Terms
    | ShareBars
    | Crowd
    | Shape
    | TileRow
    | Page
)
DOTS = 400
"""The largest crowd that is drawn one by one."""


def figures_of(blocks: Sequence[Block]) -> list[Figure]:
    """Every figure in order, those that are folded away too."""
    figures: list[Figure] = []
    for block in blocks:
        if isinstance(block, Figure):
            figures.append(block)
        elif isinstance(block, Row):
            figures += block.figures
        elif isinstance(block, Fold | Page):
            figures += figures_of(block.blocks)
    return figures


@dataclass(frozen=True)
class Document:
    """A title, what stands under it, blocks and a last line."""

    title: str
    subtitle: Text
    blocks: Sequence[Block]
    footer: str
    label: str = field(default="")
    """For the window and the file: the title unless said."""

    @property
    def figures(self) -> list[Figure]:
        """Every figure in order."""
        return figures_of(self.blocks)


def spell(x: float | None) -> str:
    """A number as a reader wants it: four digits that matter, whole numbers whole."""
    if x is None:
        return "–"
    if not math.isfinite(x):
        return "no bound"
    return f"{x:,.0f}" if float(x).is_integer() or abs(x) >= 1e5 else f"{x:.4g}"


def percent(x: float | None) -> str:
    """A share in percent."""
    return "–" if x is None else spell_percent(x)


def breakable(name: str) -> str:
    """A metric's or a column's name that the head of a table can break."""
    return name.replace("_", " ").replace("[", " [")


_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """Without control characters, which no format may hold."""
    return _ODD.sub("�", text)


def script_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, sort_keys=True).replace("<", "\\u003c")
