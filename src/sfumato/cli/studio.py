"""Open the decision desk as a page in your browser, on this machine alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as o

EXAMPLES = (
    "sfumato studio people.csv --folder work",
    "sfumato studio --folder work --no-browser --port 8123",
)


def run(
    input: Annotated[
        Path | None,
        typer.Argument(
            metavar="[INPUT]", help="The table. Without it, the page asks for one, or goes on with the folder's."
        ),
    ] = None,
    folder: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where everything is kept: roles, study, documents, package.")
    ] = Path("sfumato-studio"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.", show_default="a free one")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """The first line printed is the address of the page, with a secret in it that lets one browser in. Nobody else gets in, and nothing
    leaves this machine.

    The folder holds an ordinary roles file and study file, so that the command line can do all of it again. Ctrl-C closes the page; what is
    done is kept, and the same command goes on from there.
    """
    from importlib.util import find_spec

    from ..core.errors import InputError, Unavailable

    missing = [name for name in ("jinja2", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise Unavailable(f"The studio needs {' and '.join(missing)}; install it with: pip install 'sfumato[studio]'.")
    if input is not None and not input.is_file():
        raise InputError(f"{input}: no such file.")
    from ..studio.desk import Desk
    from ..studio.server import serve
    from .demo_table import write_town

    desk = Desk.at(folder, lambda place, rows: write_town(place, rows=rows)["people"])
    if input is not None:
        desk.start(input)

    def tell(address: str) -> None:
        typer.echo(address)
        o.tell(
            f"Open this address in a browser on this machine. Everything is kept in {folder}. Ctrl-C closes the page."
        )

    serve(desk, port=port, browser=not no_browser, tell=tell)
    o.tell(f"Closed. `sfumato studio --folder {folder}` goes on.")
