"""Open a TOML file, or say in one sentence why it cannot be used."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from .errors import InputError

_DEEP = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){100}""")
"""A key of a hundred parts: the parser takes minutes for a long one."""
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


def opened(path: Path, what: str, *, hint: str = "") -> dict[str, Any]:
    """The content of a file; `what` it is to be (a roles file, a study file), and a `hint` for one that has none yet.

    Refused with its place: one that is missing, a folder, not readable, not UTF-8, not TOML. What the parser says is about the file's
    own syntax and keys, never about a table.
    """
    try:
        text = path.read_bytes().decode("utf-8")
        if _DEEP.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except FileNotFoundError:
        raise InputError(f"{path}: no such {what}{'; ' + hint if hint else ''}.") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder; name a {what}.") from None
    except OSError as error:
        raise InputError(f"{path}: the {what} cannot be read ({type(error).__name__}).") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8 text; save the {what} as UTF-8.") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply for a {what}.") from None
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        place = _PLACE.search(said)
        at = f"{path}, line {place[1]}" if place and place[1] else f"{path}, at its end" if place else str(path)
        reason = _PLACE.sub("", said).splitlines()[0]
        raise InputError(f"{at}: not a TOML file ({reason[:1].lower()}{reason[1:]}).") from None
