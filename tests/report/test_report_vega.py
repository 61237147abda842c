"""Drawing under a limit of address space: refused in a sentence before any work, since the library would abort the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.core.errors import InputError
from sfumato.report import vega

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_AS, (2500 << 20, 2500 << 20))
from sfumato.cli import main
main()
"""


@pytest.mark.parametrize(("limit", "refused"), [(None, False), (vega.LEAST, False), (vega.LEAST - 1, True)])
def test_only_a_limit_that_is_too_small_is_refused(
    limit: int | None, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vega, "address_space", lambda: limit)
    if refused:
        with pytest.raises(InputError, match="address space"):
            vega.vl_convert()
    else:
        assert vega.vl_convert().__name__ == "vl_convert"


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of address space as Linux has it")
def test_compare_says_so_and_writes_nothing(tmp_path: Path) -> None:
    lines = [f"{20 + i % 40},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["age,ill", *lines, ""]))
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n')
    words = ("study", "people.csv", "--roles", "roles.toml", "--candidate", "mondrian k=3", "--out", "map")
    done = subprocess.run([sys.executable, "-c", LIMITED, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "2,500 MB of address space" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "roles.toml"]
