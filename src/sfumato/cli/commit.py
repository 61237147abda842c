"""The commit that this program was taken from, where it is known: a checkout knows it, and so does what pip installed from one."""

from __future__ import annotations

import json
import re
from pathlib import Path

_HASH = re.compile(r"[0-9a-f]{40}")
LENGTH = 12


def commit(home: Path | None = None) -> str | None:
    """The first digits of its hash; None where nothing tells it. No program is run, so this costs nothing.

    `home` is the checkout; the one that this file stands in unless given.
    """
    home = Path(__file__).resolve().parents[3] if home is None else home
    try:
        found = _of_checkout(home / ".git") if (home / "pyproject.toml").is_file() else _of_installation()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found[:LENGTH] if found is not None and _HASH.fullmatch(found) else None


def _of_checkout(git: Path) -> str | None:
    """What HEAD names: a hash, or a branch whose hash stands in a file of its own or among the packed ones."""
    if git.is_file():  # a worktree: its own HEAD, and the branches of the repository that it belongs to
        git = git.parent / git.read_text(encoding="utf-8").partition(":")[2].strip()
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref: "):
        return head
    branch = head.removeprefix("ref: ")
    common = git / "commondir"
    shared = git / common.read_text(encoding="utf-8").strip() if common.is_file() else git
    for folder in (git, shared):
        if (folder / branch).is_file():
            return (folder / branch).read_text(encoding="utf-8").strip()
    lines = (shared / "packed-refs").read_text(encoding="utf-8").splitlines()
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {branch}")), None)


def _of_installation() -> str | None:
    """What pip noted when it installed from a repository (PEP 610)."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        noted = distribution("sfumato").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return None if noted is None else str(json.loads(noted)["vcs_info"]["commit_id"])
