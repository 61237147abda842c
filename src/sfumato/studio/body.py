"""What a page sends: JSON, checked against the fields that its handler takes, with a sentence for whatever else comes."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from starlette.requests import Request

from ..core.errors import InputError

Sent = TypeVar("Sent")


async def sent(request: Request, kind: type[Sent]) -> Sent:
    """The body of a request as one of these. A single value where a list is taken is a list of one."""
    try:
        content: Any = msgspec.json.decode(await request.body())
        if not isinstance(content, dict):
            raise msgspec.ValidationError
        for each in msgspec.structs.fields(kind):  # type: ignore[arg-type]
            value = content.get(each.name)
            if getattr(each.type, "__origin__", None) is list and isinstance(value, str):
                content[each.name] = [value]
        return msgspec.convert(content, kind, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InputError("The page sent what this step does not take; reload it.") from None
