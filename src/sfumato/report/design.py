"""One self-contained HTML page of designed mechanisms beside published ones: it opens without a network and prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import __version__
from ..core.files import write_whole
from . import figures
from .html import DRAWN
from .page import _javascript, _script_json, spell
from .policy import policy


def write(designs: list[dict[str, Any]], rivals: list[dict[str, Any]], path: Path, *, what: str, uniform: bool) -> None:
    """Write the page; complete or absent."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sfumato", "report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(spell=spell)
    scripts = (
        _javascript(),
        f'vegaEmbed("#map", {_script_json(figures.design_map(designs, rivals).to_dict())}, {DRAWN});',
    )
    html = environment.get_template("design.html").render(
        designs=designs,
        rivals=rivals,
        what=what,
        uniform=uniform,
        version=__version__,
        policy=policy(*scripts),
        scripts=scripts,
    )
    write_whole(path, html)
