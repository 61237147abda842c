"""What the command line prints: results to standard output, notes and progress to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import typer

from ..core.progress_line import plain_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid


def tell(text: str) -> None:
    """A note for the user, on standard error."""
    typer.echo(text, err=True)


def dump(content: dict[str, Any]) -> None:
    """JSON on standard output; infinities and NaN, which JSON lacks, as null."""
    typer.echo(json.dumps(finite(content), indent=2, ensure_ascii=False, allow_nan=False))


def finite(value: Any) -> Any:
    """The same content with every number that JSON cannot hold replaced by null."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def console() -> Console:
    """The terminal for results; plain and unbroken when it is not one."""
    from rich.console import Console

    out = Console(highlight=False, markup=False)  # metric texts have brackets, which are not markup
    return out if out.is_terminal else Console(highlight=False, markup=False, width=160)


def grid(*headings: str, words: Collection[str] | None = None, title: str = "", fold: bool = False) -> Grid:
    """A table without rules; numbers stand to the right, `words` (the first column unless named) to the left."""
    from rich.table import Table as Grid

    left = headings[:1] if words is None else words
    cells = Grid(title=title or None, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for heading in headings:
        side: Literal["left", "right"] = "left" if heading in left else "right"
        cells.add_column(heading, justify=side, overflow="fold" if fold else "ellipsis")
    return cells


@contextmanager
def progress(title: str) -> Iterator[Callable[..., None]]:
    """What is told the share done, what is done now, and perhaps how far it is in words: a bar on a terminal, else a line now and then."""
    if not sys.stderr.isatty():  # what draws the bar need not be loaded
        yield plain_lines(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(title, total=1.0)

        def done(share: float, text: str, words: str = "") -> None:
            bar.update(
                task, completed=share, description=f"{words} ({text})" if words and text else words or text or title
            )

        yield done
