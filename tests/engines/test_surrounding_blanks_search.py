"""Whether a file may have blanks around its fields is told from its bytes, in any block of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engines.line_counts import Lines

SIGNS = ("a", " ", "\t", "\u00a0", "\u202f", ",", '"', "\n", "é", "–")


def plainly(text: str) -> bool:
    """One character after the other: a blank at an end, or beside a delimiter, a quote or a line's end."""
    around = f"\n{text}\n"
    blanks, edges = " \t\u00a0\u202f", ',"\n\r'
    return any(
        around[i] in blanks and (around[i - 1] in edges or around[i + 1] in edges) for i in range(1, len(around) - 1)
    )


@given(st.text(st.sampled_from(SIGNS), max_size=12))
def test_as_one_reads_it_character_by_character(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "blanks.csv"
    path.write_text("x,y\n1,2\n", "utf-8")
    found = sf.read(path).lines.found  # type: ignore[attr-defined]
    path.write_bytes(text.encode())
    assert Lines(path, path, found).blanks() == plainly(text)


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0"])
@pytest.mark.parametrize("at", [(1 << 20) - 4, (1 << 20) - 1, 1 << 20, (1 << 20) + 3])
def test_across_the_blocks_of_a_large_file(tmp_path: Path, at: int, blank: str) -> None:
    path = tmp_path / "large.csv"
    path.write_text("x,y\n1,2\n", "utf-8")
    found = sf.read(path).lines.found  # type: ignore[attr-defined]
    line = b"aa bb,ccc\n"
    path.write_bytes((line * (1 << 18))[: (1 << 20) + 99])
    assert not Lines(path, path, found).blanks() or len(line) > (1 << 20) + 99
    content = bytearray((line * (1 << 18))[: (1 << 20) + 99])
    content[at : at + 1] = b"," + blank.encode()
    path.write_bytes(content)
    assert Lines(path, path, found).blanks()
