"""Open a TOML file and check what stands in it, or say in one sentence why it cannot be used.

The fields of a dataclass are the keys of a section, and their types say what may stand there; msgspec checks it. `MEANS` puts a type
into words, `Annotated[..., Meta(description="a share of the rows")]` those of one field. No sentence holds a value of the file.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from .errors import InputError, SfumatoError, hint
from .noun import dataclass

_LARGEST = sys.float_info.max
Noun = TypeVar("Noun")
Text = Annotated[str, msgspec.Meta(min_length=1, description="a text, in quotes")]
Texts = tuple[str, ...]
"""A list of texts; a single text is a list of one."""
Number = Annotated[float, msgspec.Meta(ge=-_LARGEST, le=_LARGEST, description="a number")]
Numbers = Annotated[tuple[Number, ...], msgspec.Meta(description="a list of numbers")]
Whole = Annotated[int, msgspec.Meta(ge=0, description="a whole number of at least 0")]
Share = Annotated[float, msgspec.Meta(ge=0, le=1, description="a share, between 0 and 1")]
Sections = tuple[Mapping[str, Any], ...]
"""Sections of one name, each under a heading of its own: `[[candidate]]`."""

MEANS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text, in quotes",
    Texts: "a list of texts",
}

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


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How a file says that its tables are read; None is left to the engine."""

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    missing: Texts | None = None
    dates: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    query: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Those that are given."""
        named = {field.name: getattr(self, field.name) for field in dataclasses.fields(FileOptions)}
        return {name: value for name, value in named.items() if value is not None}


def section(kind: type[Noun], content: Any, where: str, keys: type | None = None, **more: Any) -> Noun:
    """A section of a file as a noun, whose fields are the keys; what the noun itself refuses is said with its place.

    `keys` is a dataclass with the types that a file can hold, where those of the noun are others; `more` are fields that the file does
    not give.
    """
    fields = dataclasses.fields(keys or kind)
    names = [field.name for field in fields if field.init and field.name not in more]
    values = checked(keys or kind, content, where, names)
    try:
        return kind(**values, **more)
    except SfumatoError as error:
        raise placed(error, where) from None


def checked(kind: type, content: Any, where: str, names: Sequence[str]) -> dict[str, Any]:
    """The fields of a section, of those named, each of its type; `where` begins the sentence that refuses one."""
    if not isinstance(content, dict):
        raise InputError(f"{where}: it must be a section with some of {', '.join(names)}.")
    known(content, names, where)
    types = get_type_hints(kind, include_extras=True)
    needed = {f.name for f in dataclasses.fields(kind) if f.default is f.default_factory is dataclasses.MISSING}
    for name in names:
        if name in needed and name not in content:
            raise InputError(f"{where}: {name} is missing; it must be {meaning(types[name])}.")
    return {name: _value(types[name], value, where, name) for name, value in content.items()}


def known(content: Iterable[str], names: Sequence[str], where: str) -> None:
    """Refuse a key that is none of these, with the one that was meant."""
    for name in content:
        if name not in names:
            meant = hint(name, names, f"known are {', '.join(names)}.")
            what = "section" if isinstance(content, Mapping) and isinstance(content[name], Mapping) else "key"
            raise InputError(f"{where}: unknown {what} {name!r}; {meant}")


def placed(error: SfumatoError, where: str, *also: str) -> SfumatoError:
    """The same error with its place before it, unless that, or a place given `also`, stands there already."""
    text = str(error)
    return type(error)(text if text.startswith((where, *also)) else f"{where}: {text}")


def meaning(kind: Any) -> str:
    """A type in words: `a list of texts`."""
    if get_origin(kind) is Annotated:
        said = [meta.description for meta in get_args(kind)[1:] if meta.description]
        return said[0] if said else meaning(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if kind in MEANS:
        return MEANS[kind]
    return " or ".join(meaning(each) for each in get_args(kind) if each is not NoneType)


def _value(kind: Any, value: Any, where: str, name: str) -> Any:
    if NoneType in get_args(kind):  # it may be left out, but TOML has no word for nothing
        kind = reduce(or_, (each for each in get_args(kind) if each is not NoneType))
    if kind == Sections and not (isinstance(value, list) and all(isinstance(each, dict) for each in value)):
        raise InputError(f"{where}: write each {name} under a heading of its own, [[{name}]].")
    if get_origin(kind) is Mapping:
        if not isinstance(value, dict):
            raise InputError(f"{where}: {name} must be a section, [{name}], with a line for each.")
        return {key: _value(get_args(kind)[1], each, f"{where}, [{name}]", key) for key, each in value.items()}
    if kind == Texts and isinstance(value, str):
        return (value,)
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise InputError(f"{where}: {name} must be {meaning(kind)}.") from None
