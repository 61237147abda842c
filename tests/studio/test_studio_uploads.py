"""An uploaded file is kept whole or not at all, whatever the browser said of its size."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from sfumato.core.errors import InputError
from sfumato.studio import uploads


def send(
    folder: Path, blocks: list[bytes], take: Callable[[Path, Path], object] = Path.rename, name: str = "t.csv"
) -> None:
    async def stream() -> AsyncIterator[bytes]:
        for block in blocks:
            yield block

    request: Any = SimpleNamespace(headers={"x-file-name": name}, stream=stream)
    work: Any = SimpleNamespace(upload_path=lambda given: folder / given)
    anyio.run(uploads.receive, request, work, take)


def test_what_comes_in_several_blocks_is_kept_whole_and_nothing_beside_it(tmp_path: Path) -> None:
    send(tmp_path, [b"a,b\n", b"1,2\n"], name="people%20of%20town.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["people of town.csv"]
    kept = tmp_path / "people of town.csv"
    assert kept.read_bytes() == b"a,b\n1,2\n"
    assert kept.stat().st_mode & 0o077 == 0, "others may read it"


def test_a_file_that_grows_too_large_on_the_way_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size counts as it comes: a request that is sent in chunks states none."""
    monkeypatch.setattr(uploads, "MOST_UPLOAD", 10)
    send(tmp_path, [b"12345", b"67890"])
    with pytest.raises(InputError, match="More than 10 bytes"):
        send(tmp_path, [b"12345", b"67890", b"1"], name="other.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("blocks", "error", "words"),
    [([], None, "The file is empty"), ([b"a"], InputError("no table"), "no table"), ([b"a"], OSError(28, "No space left"), "not kept .No space left.")],
    ids=["empty", "refused", "a full disk"],
)  # fmt: skip
def test_what_is_refused_leaves_nothing(
    tmp_path: Path, blocks: list[bytes], error: Exception | None, words: str
) -> None:
    def take(hidden: Path, target: Path) -> None:
        if error is not None:
            raise error
        hidden.rename(target)

    with pytest.raises(InputError, match=words):
        send(tmp_path, blocks, take)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name cannot be read"):
        send(tmp_path, [b"a"], name="%ff.csv")
