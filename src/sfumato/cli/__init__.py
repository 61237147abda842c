"""The command line: one file per verb.

Exit codes: 0 done and met; 1 a requirement is not met, or cannot be; 2 the input or the call cannot be used; 3 a mistake of
ours; 130 interrupted. Results go to standard output, everything else (progress, notes, errors) to standard error.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import sys
import traceback
from types import FrameType
from typing import NoReturn

import typer

from .. import __version__
from ..core import leftovers
from ..core.processes import LEAST_MEMORY, address_space
from . import kept, terminal
from .group import MARKUP, Verbs, add

app = typer.Typer(
    name="sfumato",
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=MARKUP,
    help="The decision desk for publishing personal data: find what is risky in a table, sanitize it, measure what a "
    "release gives away and what it is worth, compare candidates, and verify what is published.",
    epilog="Exit codes: 0 done and met · 1 a requirement is not met, or cannot be · 2 the input or the call cannot be used · "
    "3 a mistake of ours · 130 interrupted. Every verb takes --json.",
)


class Inspect(Verbs):
    """The verbs under `sfumato inspect`."""

    package = "sfumato.cli.inspect"
    summary = "Look closer at one release: what it leaks, how useful it is, whom it treats worse."


def _version(wanted: bool) -> None:
    if wanted:
        from .commit import commit

        known = commit()
        typer.echo(f"sfumato {__version__}" + (f" (commit {known})" if known else ""))
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_version,
        is_eager=True,
        help="Print the version, and the commit where it is known.",
    ),
) -> None:
    pass


add(app, Verbs, "Start", "profile", "advise", "studio", "demo")
add(app, Verbs, "Make a release", "sanitize", "search", "study")
add(app, Verbs, "Check a release", "measure", "verify", "audit", "versus", "register")
closer = typer.Typer(cls=Inspect, no_args_is_help=True, add_completion=False, rich_markup_mode=MARKUP)
add(closer, Inspect, None, "leakage", "conditions", "scale", "knowledge", "utility", "queries", "subgroups")
app.add_typer(closer, name="inspect", help=Inspect.summary, rich_help_panel="Check a release")
add(app, Verbs, "Attack a release", "attack", "mine")
add(app, Verbs, "Laboratory", "channel", "design", "frontier", "reproduce")
add(app, Verbs, "Words", "explain", "mechanisms")


def main() -> None:
    """Run a verb; whatever goes wrong becomes one sentence and an exit code."""
    kept.after_interruption.clear()
    leftovers.report = terminal.tell
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a character shows another one
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # the system's allocator gives memory back: 20 MB less on a small table, and no slower
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    signal.signal(signal.SIGTERM, _stop)  # so that a stopped run cleans up like an interrupted one
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if short := _short_of_memory():
        _fail(short, 2)
    try:
        code = app(standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except (KeyboardInterrupt, typer.Abort):
        _fail(_interrupted(), 130)
    except Exception as error:
        if hasattr(error, "format_message"):  # the call itself is wrong: an unknown option, a missing argument
            if not error.format_message():  # no verb: the help has been shown
                sys.exit(2)
            _fail(_usage(error.format_message()), 2)
        from ..core.errors import SfumatoError

        if isinstance(error, SfumatoError):
            _fail(str(error), error.exit_code)
        if os.environ.get("SFUMATO_DEBUG"):
            raise
        if sentence := _surroundings(error):
            _fail(sentence, 2)
        # The text of a foreign error may quote the table, so only its kind and place are told.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"
        _fail(
            f"a mistake of ours ({type(error).__name__} at {where}); please report it. SFUMATO_DEBUG=1 shows more.", 3
        )

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said: an interruption now must not look like a failure
    if code == 130:  # typer makes an interruption a code of its own
        _fail(_interrupted(), 130)
    sys.exit(code if isinstance(code, int) else 0)


def _short_of_memory() -> str | None:
    """Below this limit the libraries abort while they load or start their threads, where nothing can be caught and said."""
    limit = address_space()
    if limit is None or limit >= LEAST_MEMORY or {"--help", "--version"} & set(sys.argv):
        return None
    return (
        f"the system allows this process {limit >> 20:,} MB of address space (ulimit -v), and it needs {LEAST_MEMORY >> 20:,} MB; "
        "raise that limit, and bound the engine with --memory instead."
    )


def _surroundings(error: Exception) -> str | None:
    """What the machine refused, which is no mistake of ours: memory, processes, room on a disk, a file. None for anything else."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & {"MemoryError", "OutOfMemoryException"} or getattr(error, "errno", None) == errno.ENOMEM:
        return "out of memory; give it more, bound the engine with --memory, or take fewer columns or rows."
    if "ImportError" in kinds and re.search("allocate|failed to map segment", str(error)):
        return (
            "out of memory while a library was loaded; give it more, or raise the limit of address space (ulimit -v)."
        )
    if kinds & {"BrokenExecutor", "TerminatedWorkerError"}:
        return "a worker process was ended from outside, most likely for want of memory; take fewer with --workers, or give it more."
    if "RuntimeError" in kinds and "start new thread" in str(error):
        return "the system allows no further thread or memory; raise its limits (ulimit -u, ulimit -v)."
    if "RecursionError" in kinds:
        return "the input nests too deeply to be read."
    if isinstance(error, OSError):  # the text of the system, and a file's name: neither holds a value
        place = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return f"{place}the system refuses it ({error.strerror or type(error).__name__}); is there room and permission?"
    return None


def _interrupted() -> str:
    return "; ".join(["interrupted", "nothing unfinished was left behind", *kept.after_interruption]) + "."


def _usage(message: str) -> str:
    sentence = " ".join(message.split()).rstrip(".")
    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    commands = [command.name for command in app.registered_commands]
    known = verb if verb in [*commands, *(group.name for group in app.registered_groups)] else ""
    return f"{sentence}; see `sfumato {known + ' ' if known else ''}--help`."


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _fail(sentence: str, code: int) -> NoReturn:
    from ..core.table_formats import without_addresses

    sentence = without_addresses(sentence)  # a password may stand in one
    if "--json" in sys.argv:
        print(json.dumps({"error": sentence, "exit_code": code}))
    print(f"sfumato: {sentence}", file=sys.stderr)
    sys.stdout.flush()
    sys.exit(code)
