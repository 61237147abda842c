"""The commit beside the version: in a checkout, a worktree, with packed branches, and where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.cli.commit import commit

HASH = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "checkout"
    (home / ".git" / "refs" / "heads").mkdir(parents=True)
    (home / "pyproject.toml").write_text("")
    (home / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return home


def test_a_branch_in_its_own_file(home: Path) -> None:
    (home / ".git" / "refs" / "heads" / "main").write_text(f"{HASH}\n")
    assert commit(home) == HASH[:12]


def test_a_packed_branch(home: Path) -> None:
    (home / ".git" / "packed-refs").write_text(f"# pack-refs\n{'f' * 40} refs/heads/other\n{HASH} refs/heads/main\n")
    assert commit(home) == HASH[:12]


def test_a_bare_hash(home: Path) -> None:
    (home / ".git" / "HEAD").write_text(HASH)
    assert commit(home) == HASH[:12]


def test_a_worktree_reads_the_branches_of_its_repository(home: Path, tmp_path: Path) -> None:
    (home / ".git" / "refs" / "heads" / "side").write_text(HASH)
    inside = home / ".git" / "worktrees" / "side"
    inside.mkdir(parents=True)
    (inside / "HEAD").write_text("ref: refs/heads/side\n")
    (inside / "commondir").write_text("../..\n")
    tree = tmp_path / "side"
    tree.mkdir()
    (tree / "pyproject.toml").write_text("")
    (tree / ".git").write_text(f"gitdir: {inside}\n")
    assert commit(tree) == HASH[:12]


@pytest.mark.parametrize("head", ["", "ref: refs/heads/gone", "no hash", "\x00"])
def test_what_cannot_be_read_is_not_known(home: Path, head: str) -> None:
    (home / ".git" / "HEAD").write_text(head)
    assert commit(home) is None
