"""A document as PDF, by Typst: no network, no LaTeX, and the same bytes every time.

The document goes to a fixed template as JSON. Nothing of it is ever read as markup, so no name can break out of its place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, assert_never

from ..core.errors import Unavailable
from .document import (
    DOTS,
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
    Page,
    Paragraph,
    Row,
    Shape,
    ShareBars,
    Terms,
    Text,
    TileRow,
    breakable,
    pieces,
    plain,
    printable,
)
from .vega import vl_convert

WIDTH, HEIGHT = 560, 270
_FONT = "Libertinus Serif"  # comes with Typst, so figures look alike on every machine
_MOMENT = 946_684_800  # 2000-01-01: a document says what it is about, not when it was printed


def written(document: Document) -> bytes:
    """The file's bytes."""
    made: bytes = _compiled(document)
    return made


def content(document: Document) -> dict[str, Any]:
    """What the template is given: plain data."""
    return {
        "title": printable(document.title),
        "label": printable(document.label or document.title),
        "subtitle": _inline(document.subtitle),
        "blocks": [_block(block) for block in document.blocks],
        "footer": printable(document.footer),
        "compact": all(isinstance(block, Page) for block in document.blocks),
    }


def check() -> None:
    """Say what to install, if it is not there."""
    try:
        import typst  # noqa: F401
    except ImportError:
        raise Unavailable(
            "PDF output needs the typst library; install sfumato[pdf], or write HTML or Markdown."
        ) from None


def _compiled(document: Document, **how: Any) -> Any:
    check()
    import typst

    template = files(__package__).joinpath("_document.typ").read_bytes()
    inputs = {"document": json.dumps(content(document), ensure_ascii=False)}
    return typst.compile(template, sys_inputs=inputs, timestamp=_MOMENT, **how)


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Heading():
            return {"is": "heading", "text": _inline(block.text), "level": block.level}
        case Paragraph():
            return {"is": "paragraph", "text": _inline(block.text), "aside": block.aside}
        case Bullets():
            return {"is": "bullets", "items": [_inline(item) for item in block.items]}
        case Grid():
            return _grid(block)
        case Figure():
            return {"is": "figures", "images": [drawn(block.specification)], "alts": [printable(block.alt)]}
        case Row():
            return {
                "is": "figures",
                "images": [drawn(figure.specification, WIDTH // 2) for figure in block.figures],
                "alts": [printable(figure.alt) for figure in block.figures],
            }
        case Code():
            return {"is": "code", "text": printable(block.text)}
        case Terms():
            return {"is": "terms", "items": [[_inline(term), _inline(said)] for term, said in block.items]}
        case Callout():
            return {
                "is": "callout",
                "title": _inline(block.title),
                "tone": block.tone,
                "blocks": [_block(inner) for inner in block.blocks],
            }
        case Fold():
            return {"is": "fold", "title": printable(block.title), "blocks": [_block(inner) for inner in block.blocks]}
        case ShareBars():
            bars = [
                {"label": _inline(bar.label), "share": min(max(bar.share, 0.0), 1.0), "value": _inline(bar.value)}
                for bar in block.bars
            ]
            return {"is": "bars", "bars": bars}
        case Crowd():
            return {"is": "crowd", "among": min(block.among, DOTS), "alt": printable(block.alt)}
        case Shape():
            top = max([*block.before, *block.after, 1e-9])
            sides = [[share / top for share in side] for side in (block.before, block.after)]
            return {"is": "shape", "before": sides[0], "after": sides[1], "alt": printable(block.alt)}
        case TileRow():
            cards = [
                {"title": _inline(card.title), "blocks": [_block(inner) for inner in card.blocks]}
                for card in block.cards
            ]
            return {"is": "cards", "cards": cards}
        case Page():
            return {"is": "page", "blocks": [{**_block(inner), "small": True} for inner in block.blocks]}
        case _:
            assert_never(block)


def _grid(grid: Grid) -> dict[str, Any]:
    width = len(grid.head)
    most = 46 if width <= 7 else 21  # many columns: texts give way to numbers
    wide = [0.0] * width  # how much room each column wants
    for i, column in enumerate(grid.head):
        wide[i] = max((len(word) for word in breakable(column.name).split()), default=1)
    for row in grid.rows:
        for i, cell in enumerate(row[: width if len(row) == width else 1]):
            wide[i] = max(wide[i], min(len(plain(cell)), most))
    return {
        "is": "grid",
        "caption": printable(grid.caption),
        "columns": [
            {"name": printable(breakable(c.name)), "below": printable(c.below), "align": c.align} for c in grid.head
        ],
        "widths": [max(w, 4.0) ** 0.8 for w in wide],
        "rows": [[_inline(cell) for cell in row] for row in grid.rows],
        "chosen": grid.chosen,
    }


def _inline(text: Text) -> list[list[str]]:
    return [["plain", printable(p)] if isinstance(p, str) else [p.kind, printable(p.text)] for p in pieces(text)]


def drawn(specification: Mapping[str, Any], width: int = WIDTH) -> str:
    """A figure as SVG, in black on white."""
    paper = _inked(dict(specification))
    paper["width"] = width
    paper["height"] = min(int(paper.get("height", HEIGHT)), HEIGHT)
    paper.setdefault("config", {})["font"] = _FONT
    paper["config"]["background"] = "white"
    return _svg(json.dumps(paper, sort_keys=True))


@lru_cache(maxsize=32)
def _svg(specification: str) -> str:
    svg: str = vl_convert().vegalite_to_svg(specification)
    return svg


def _inked(value: Any) -> Any:
    """The page's own ink is black here, and texts are one line without control characters, which the drawing library needs."""
    if isinstance(value, dict):
        return {key: _inked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_inked(item) for item in value]
    if isinstance(value, str):
        return "#000000" if value == "currentColor" else printable(value).replace("\n", " ")
    return value
