"""A folder of files by hash that is kept between runs: each whole or absent, sealed, and only the owner's to read.

The seal is an HMAC with a key of the user's that lies outside of the kept folder, mode 0600, and is made when first needed. So it
holds against damage, against edits by hand, and against whoever can write to the folder but not read the user's own files. Where
no key can be kept, it is a plain checksum, which holds against damage and accidents alone. An entry from another user or machine
has another seal: it is made again.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import os
from pathlib import Path

from .errors import InputError
from .leftovers import hidden_beside


class KeptFiles:
    """What a room keeps; `what` names it in errors, `suffix` is that of its files."""

    def __init__(self, folder: Path, what: str, suffix: str) -> None:
        self.folder, self.what, self.suffix = folder, what, suffix
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise self._refused(error) from None

    def read(self, key: str) -> bytes | None:
        """What was kept under a name, unless it is not there, damaged or edited."""
        try:
            return unsealed((self.folder / f"{key}{self.suffix}").read_bytes())
        except OSError:
            return None

    def write(self, key: str, content: bytes) -> None:
        """Keep it, whole or not at all."""
        path = self.folder / f"{key}{self.suffix}"
        hidden = hidden_beside(path)
        try:
            with open(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(sealed(content))
            hidden.replace(path)
        except OSError as error:
            raise self._refused(error) from None
        finally:
            hidden.unlink(missing_ok=True)

    def _refused(self, error: OSError) -> InputError:
        kind = type(error).__name__
        return InputError(
            f"{self.folder}: {self.what} cannot be kept there ({kind}); name another folder with --cache."
        )


_LENGTH = 64


def sealed(content: bytes) -> bytes:
    """The content behind a line with its seal."""
    return _seal(content) + b"\n" + content


def unsealed(kept: bytes) -> bytes | None:
    """The content, if the seal is its own."""
    seal, content = kept[:_LENGTH], kept[_LENGTH + 1 :]
    return content if kept[_LENGTH : _LENGTH + 1] == b"\n" and hmac.compare_digest(seal, _seal(content)) else None


def _seal(content: bytes) -> bytes:
    return hmac.new(_key(), content, hashlib.sha256).hexdigest().encode()


@functools.cache
def _key() -> bytes:
    path = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "sfumato" / "seal.key"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(os.urandom(32))
        except FileExistsError:
            pass
        key = path.read_bytes()
        return key if len(key) == 32 else b""
    except (OSError, RuntimeError):  # no home, or none that can be written
        return b""
