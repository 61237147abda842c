"""The internal report as one self-contained HTML page: it opens without a network and prints."""

from __future__ import annotations

from pathlib import Path

from ..core.files import write_whole
from ..core.metric import Metric
from ..study.study import Result
from .document import script_json as _script_json
from .document import spell
from .html import javascript, written
from .internal import internal

__all__ = ["_javascript", "_script_json", "spell", "words", "write"]


def words(metric: Metric) -> str:
    """A metric's name that a table head can break."""
    return str(metric).replace("_", " ").replace("[", " [")


def write(result: Result, path: Path, *, reveal: bool = False) -> None:
    """Write the page; complete or absent."""
    write_whole(path, written(internal(result, reveal=reveal)))


def _javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed, from the installed package: nothing is fetched."""
    return javascript()
