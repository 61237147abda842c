"""Let a release out of the house: guards, staging, and verification from what was written."""

from .published_file import dialect, read_published
from .staging import companion_files, publish
from .verification import Verification, verify, verify_release

__all__ = ["Verification", "companion_files", "dialect", "publish", "read_published", "verify", "verify_release"]
