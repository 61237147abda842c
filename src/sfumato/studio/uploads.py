"""A file that the browser brings: written to the work folder whole or not at all, under a name of ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from anyio import to_thread
from starlette.requests import Request

from ..core.errors import InputError
from ..core.leftovers import hidden_beside
from .security import MOST_UPLOAD
from .work_folder import WorkFolder


async def receive(request: Request, folder: WorkFolder, take: Callable[[Path, Path], None]) -> None:
    """Write what comes beside where it shall be, then let `take` look at it and move it there."""
    try:
        name = unquote(request.headers.get("x-file-name", ""), errors="strict")
    except UnicodeDecodeError:
        raise InputError("The file's name cannot be read; rename it.") from None
    target = folder.upload_path(name)
    hidden = hidden_beside(target)
    size = 0
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            async for block in request.stream():
                size += len(block)
                if size > MOST_UPLOAD:
                    raise InputError(f"More than {MOST_UPLOAD:,} bytes; name the table on the command line instead.")
                file.write(block)
        if not size:
            raise InputError("The file is empty; a table needs a header line and rows.")
        await to_thread.run_sync(take, hidden, target)
    except OSError as error:
        raise InputError(
            f"The file was not kept ({error.strerror or type(error).__name__}); is there room on the disk?"
        ) from None
    finally:
        hidden.unlink(missing_ok=True)
