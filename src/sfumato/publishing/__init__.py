"""Let a release out of the house: guards, staging, and verification from what was written."""

from .staging import companion_files, publish
from .verification import Verification, verify, verify_release
from .written import dialect, read_published

__all__ = ["Verification", "companion_files", "dialect", "publish", "read_published", "verify", "verify_release"]
