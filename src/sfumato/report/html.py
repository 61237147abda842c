"""A document as one HTML page: it needs nothing else, opens without a network, prints, and fits a telephone."""

from __future__ import annotations

import base64
import hashlib
import html
from functools import cache
from importlib.resources import files
from typing import assert_never

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
    Mark,
    Page,
    Paragraph,
    Row,
    Shape,
    ShareBars,
    Terms,
    Text,
    Tile,
    TileRow,
    breakable,
    pieces,
    plain,
    printable,
    script_json,
)
from .vega import vl_convert

DRAWN = '{ renderer: "svg", actions: false, ast: true }'
"""How Vega draws: expressions are interpreted, never made into code, which the policy forbids."""
WIDE = 60
"""Characters from which a cell needs room to be read, also on a telephone."""


@cache
def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed, from the installed package: nothing is fetched."""
    bundle: str = vl_convert().javascript_bundle()
    return bundle.replace("</script", "<\\/script").replace(
        "\r\n", "\n"
    )  # as a browser reads it, and so as it is hashed


@cache
def look() -> str:
    """The style of every page."""
    return files(__package__).joinpath("_look.html").read_text(encoding="utf-8").strip()


def written(document: Document) -> str:
    """The page."""
    scripts = _scripts(document)
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{policy(*scripts)}\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_escaped(document.label or document.title)}</title>\n{look()}\n</head>\n<body>\n"
    )
    top = (
        f'<header>\n<h1>{_escaped(document.title)}</h1>\n<p class="soft">{_inline(document.subtitle)}</p>\n</header>\n'
    )
    body = "\n".join(_block(block) for block in document.blocks)
    inline = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        f"{head}{top}<main>\n{body}\n</main>\n<footer>{_escaped(document.footer)}</footer>\n{inline}</body>\n</html>\n"
    )


def _scripts(document: Document) -> tuple[str, ...]:
    """The drawing library and the figures, each on a line of its own; nothing where nothing is drawn."""
    if not document.figures:
        return ()
    specs = "".join(f'"{figure.name}": {script_json(figure.specification)},\n' for figure in document.figures)
    wake = 'for (const fold of document.querySelectorAll("details")) fold.addEventListener("toggle", () => dispatchEvent(new Event("resize")));'
    draw = f'for (const [id, spec] of Object.entries(figures)) vegaEmbed("#" + CSS.escape(id), spec, {DRAWN});'
    return javascript(), f"\nconst figures = {{ {specs} }};\n{draw}\n{wake}\n"


def policy(*scripts: str) -> str:
    """The content security policy of a page with these inline scripts: nothing is loaded, nothing is sent, no other script runs.

    Names and values in a page come from the data, perhaps from a stranger. They are escaped; the policy is the second wall. Scripts
    are allowed by the hash of their very text, and none may make code of a text, so that Vega reads its expressions by its interpreter
    (`ast: true`). Styles may stand in the page, since Vega writes them; with no address to fetch from, they can tell nobody anything.
    """
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes) or "'none'"
    rules = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{_inline(block.text)}</h{block.level}>"
        case Paragraph():
            return f"<p{_classed('soft', block.aside)}>{_inline(block.text)}</p>"
        case Bullets():
            return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in block.items) + "</ul>"
        case Grid():
            return _grid(block)
        case Figure():
            return _figure(block)
        case Row():
            return '<div class="pair">' + "".join(map(_figure, block.figures)) + "</div>"
        case Code():
            return f"<pre><code>{html.escape(printable(block.text))}</code></pre>"
        case Terms():
            items = "".join(f"<dt>{_inline(term)}</dt><dd>{_inline(said)}</dd>" for term, said in block.items)
            return f"<dl>{items}</dl>"
        case Callout():
            inside = "\n".join(map(_block, block.blocks))
            tone = f"{block.tone}-tone" if block.tone in ("yes", "open", "no") else block.tone
            return f'<section class="{tone}">\n<h2>{_inline(block.title)}</h2>\n{inside}\n</section>'
        case Fold():
            inside = "\n".join(map(_block, block.blocks))
            return f"<details><summary>{_escaped(block.title)}</summary>\n{inside}\n</details>"
        case ShareBars():
            return _bars(block)
        case Crowd():
            return _crowd(block)
        case Shape():
            return _shape(block)
        case TileRow():
            return '<div class="cards">' + "".join(map(_card, block.cards)) + "</div>"
        case Page():
            return '<div class="sheet">' + "\n".join(map(_block, block.blocks)) + "</div>"
        case _:
            assert_never(block)


def _card(card: Tile) -> str:
    inside = "".join(map(_block, card.blocks))
    return f'<section class="card"><h3>{_inline(card.title)}</h3>{inside}</section>'


def _bars(bars: ShareBars) -> str:
    """ShareBars without a script: each a picture that needs no words, since its words stand beside it."""
    rows = [
        f'<li><span>{_inline(bar.label)}</span><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="all" width="100" height="6"/><rect class="part" width="{100 * min(max(bar.share, 0.0), 1.0):.2f}" height="6"/></svg>'
        f"<span>{_inline(bar.value)}</span></li>"
        for bar in bars.bars
    ]
    return f'<ul class="bars">{"".join(rows)}</ul>'


def _crowd(crowd: Crowd) -> str:
    """A dot each, the first of them filled: at most `DOTS`."""
    many = min(crowd.among, DOTS)
    wide = max(10, min(40, round((many * 2.5) ** 0.5)))
    dots = "".join(
        f'<circle class="{"part" if i == 0 else "all"}" cx="{10 * (i % wide) + 5}" cy="{10 * (i // wide) + 5}" r="3.6"/>'
        for i in range(many)
    )
    high = 10 * (-(-many // wide))
    return f'<svg class="crowd" viewBox="0 0 {10 * wide} {high}" role="img" aria-label="{_attribute(crowd.alt)}">{dots}</svg>'


def _shape(shape: Shape) -> str:
    """Two histograms over the same bins: before above, after below, on one scale."""
    top = max([*shape.before, *shape.after, 1e-9])
    step = 200 / max(len(shape.before), 1)
    rects = []
    for name, base, shares in (("all", 40, shape.before), ("part", 84, shape.after)):
        for i, share in enumerate(shares):
            high = 38 * share / top
            if high > 0:
                high = max(high, 0.8)
                rects.append(
                    f'<rect class="{name}" x="{i * step + 0.3:.2f}" y="{base - high:.2f}" width="{max(step - 0.6, 0.4):.2f}" height="{high:.2f}"/>'
                )
        rects.append(f'<rect class="line" x="0" y="{base}" width="200" height="0.6"/>')
    return f'<svg class="shape" viewBox="0 0 200 86" role="img" aria-label="{_attribute(shape.alt)}">{"".join(rects)}</svg>'


def _attribute(text: str) -> str:
    return html.escape(printable(text), quote=True)


def _figure(figure: Figure) -> str:
    alt = html.escape(printable(figure.alt), quote=True)
    return f'<div class="figure"><div id="{figure.name}" role="img" aria-label="{alt}"></div></div>'


def _grid(grid: Grid) -> str:
    head = []
    for column in grid.head:
        name = _escaped(breakable(column.name))
        hint = f' title="{html.escape(printable(column.hint), quote=True)}"' if column.hint else ""
        below = f"<br>{_escaped(column.below)}" if column.below else ""
        tag = "th" if name else "td"  # a head without a name is none
        head.append(f"<{tag}{_side(column.align)}{hint}>{name}{below}</{tag}>")
    rows = []
    for i, row in enumerate(grid.rows):
        aligns = [column.align for column in grid.head]
        last = len(grid.head) - len(row)  # a short row ends in a cell that takes the room of those that are not there
        cells = []
        for j, cell in enumerate(row):
            wide = f' colspan="{last + 1}"' if last and j == len(row) - 1 else ""
            room = "w" if len(plain(cell)) > WIDE else "k" if _short_code(cell) else ""
            side = "" if wide else _side(aligns[j]) or _classed(room, room != "")
            name = _attribute(breakable(grid.head[j].name))
            label = f' data-label="{name}"' if name and not wide else ""
            cells.append(f"<td{side}{wide}{label}>{_inline(cell)}</td>")
        rows.append(f"<tr{_classed('chosen', i == grid.chosen)}>{''.join(cells)}</tr>")
    caption = f'<p class="caption">{_escaped(grid.caption)}</p>\n' if grid.caption else ""
    top = f"<thead><tr>{''.join(head)}</tr></thead>\n" if any(column.name for column in grid.head) else ""
    return (
        f'{caption}<div class="scroll"><table{_classed("stack", len(grid.head) > 2)}>\n{top}<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def _short_code(cell: Text) -> bool:
    """Whether a cell is one name or requirement, which reads badly when broken."""
    inside = pieces(cell)
    return len(plain(cell)) <= WIDE // 2 and all(isinstance(each, Mark) and each.kind == "code" for each in inside)


def _side(align: str) -> str:
    return _classed("n", align == "right")


def _classed(name: str, so: bool) -> str:
    return f' class="{name}"' if so else ""


def _inline(text: Text) -> str:
    return "".join(_piece(piece) for piece in pieces(text))


def _piece(piece: str | Mark) -> str:
    if isinstance(piece, str):
        return _escaped(piece)
    inside = _escaped(piece.text)
    if piece.kind in ("code", "strong"):
        return f"<{piece.kind}>{inside}</{piece.kind}>"
    return f'<span class="{piece.kind}">{inside}</span>'


def _escaped(text: str) -> str:
    """A text; a line break in it stays one."""
    return html.escape(printable(text)).replace("\n", "<br>")
