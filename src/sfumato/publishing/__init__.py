"""Let a release out of the house: guards, staging, and verification from what was written."""

from .published_file import dialect, read_published
from .sinks import fingerprint, parts_of
from .staging import publish
from .verification import Verification, verify, verify_release

__all__ = [
    "Verification",
    "dialect",
    "fingerprint",
    "parts_of",
    "publish",
    "read_published",
    "verify",
    "verify_release",
]
