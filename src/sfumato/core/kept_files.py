"""A folder of files by hash that is kept between runs: each whole or absent, sealed (core/seal.py), and only the owner's to read."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import InputError
from .leftovers import hidden_beside
from .seal import sealed, unsealed


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
