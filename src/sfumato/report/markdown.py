"""A document as Markdown, as GitHub reads it; a figure is a table of its numbers."""

from __future__ import annotations

import re
from typing import assert_never

from .document import (
    Block,
    Bullets,
    Callout,
    Code,
    Crowd,
    Document,
    Figure,
    Fold,
    Grid,
    Heading,
    Mark,
    Page,
    Paragraph,
    Row,
    Shape,
    ShareBars,
    Terms,
    Text,
    TileRow,
    pieces,
    plain,
    printable,
    strong,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|$~&!^])")
_LINK = re.compile(r"(:(?=//)|@|(?<=www)\.)", re.IGNORECASE)
_START = re.compile(r"^(\s*)([-+>]|\d+[.)])(\s)")


def written(document: Document) -> str:
    """The text."""
    parts = [f"# {escaped(document.title)}", _begin(_inline(document.subtitle))]
    parts += [_block(block) for block in document.blocks]
    parts += ["---", _begin(escaped(document.footer))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {_inline(block.text)}"
        case Paragraph():
            return _begin(_inline(block.text))
        case Bullets():
            return "\n".join(f"- {_begin(_inline(item))}" for item in block.items)
        case Grid():
            return _grid(block)
        case Figure():
            return _figure(block)
        case Row():
            return "\n\n".join(map(_figure, block.figures))
        case Code():
            return _fenced(block.text)
        case Terms():
            return "\n".join(f"- {_inline(_bold(term))}: {_inline(said)}" for term, said in block.items)
        case Callout():
            inside = "\n\n".join([_inline(_bold(plain(block.title))), *map(_block, block.blocks)])
            return "\n".join(f"> {line}".rstrip() for line in inside.splitlines())
        case Fold():
            return "\n\n".join([f"#### {escaped(block.title)}", *map(_block, block.blocks)])
        case ShareBars():
            return "\n".join(f"- {_inline(bar.label)}: {_inline(bar.value)}" for bar in block.bars)
        case Crowd() | Shape():
            return f"*{escaped(block.alt)}*"
        case TileRow():
            parts = [
                part for card in block.cards for part in (f"#### {_inline(card.title)}", *map(_block, card.blocks))
            ]
            return "\n\n".join(parts)
        case Page():
            return "\n\n".join(map(_block, block.blocks))
        case _:
            assert_never(block)


def _figure(figure: Figure) -> str:
    caption = f"*Figure: {escaped(figure.alt)}.*"
    return caption if figure.numbers is None else f"{caption}\n\n{_grid(figure.numbers)}"


def _grid(grid: Grid) -> str:
    head = [escaped(c.name) + (f" ({escaped(c.below)})" if c.below else "") for c in grid.head]
    lines = [_line(head), _line(["--:" if c.align == "right" else ":--" for c in grid.head])]
    for i, row in enumerate(grid.rows):
        cells = [_inline(cell) for cell in row]
        if i == grid.chosen:
            cells[0] = f"**→** {cells[0]}"
        lines.append(_line([*cells, *[""] * (len(head) - len(cells))]))
    table = "\n".join(lines)
    return f"{_begin(escaped(grid.caption))}\n\n{table}" if grid.caption else table


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell or ' ' for cell in cells)} |"


def _inline(text: Text) -> str:
    return "".join(_piece(piece) for piece in pieces(text))


def _piece(piece: str | Mark) -> str:
    if isinstance(piece, str):
        return escaped(piece)
    if not piece.text.strip():
        return ""
    if piece.kind == "code":
        return coded(piece.text)
    if piece.kind == "strong":
        return f"**{escaped(piece.text.strip())}**"
    return escaped(piece.text)


def _bold(term: Text) -> Text:
    return [strong(piece) if isinstance(piece, str) else piece for piece in pieces(term)]


def coded(text: str) -> str:
    """A span of code; one that cannot be a cell's, or is empty at its ends, stays a text."""
    text = printable(text).replace("\n", " ")
    if "|" in text or "`" in text or text != text.strip():
        return escaped(text)
    return f"`{text}`"


def escaped(text: str) -> str:
    """A text in which nothing is read as markup, and no address becomes a link."""
    return _LINK.sub(r"\\\1", _SPECIAL.sub(r"\\\1", printable(text).replace("\n", " ")))


def _begin(text: str) -> str:
    """A line that begins like a list does not become one."""
    return _START.sub(r"\1\\\2\3", text)


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{printable(text)}\n{fence}"
