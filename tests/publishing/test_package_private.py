"""A package with differential privacy: besides the noisy values, nothing in it depends on a row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.core.errors import InputError

ROLES = sf.Roles(
    quasi=("age", "sex"),
    sensitive=("job",),
    reading={"encoding": "latin-1"},
    domains={"age": "0:9", "sex": ("F", "M"), "job": "a|b|c"},
)
NOISY = {"release.csv", "SHA256SUMS"}


def package(folder: Path, extra: bytes, text: str) -> dict[str, str]:
    """Every file of the package, and the note, as texts."""
    folder.mkdir()
    path = folder / "people.csv"
    path.write_bytes(b"age,sex,job\n" + b"3,F,a\n4,M,b\n5,F,c\n6,M,a\n" * 10 + extra)
    candidate = sf.Candidate.of(text)
    study = sf.Study(
        table=sf.read(path),
        roles=ROLES,
        candidates=(candidate,),
        risk=sf.metric("linkage_distance_risk"),
        utility=sf.metric("column_distance"),
        waive={} if text.startswith("dp_") else {"sex": "it is tried", "job": "it is tried"},
    )
    result = study.run()
    packed = sf.write_package(
        result, folder / "package", candidate=[p.candidate.text for p in result.points].index(text)
    )
    return {p.relative_to(packed.folder).as_posix(): p.read_text(encoding="utf-8") for p in packed.files}


@pytest.mark.parametrize(
    "text", ["dp_synthesis structure=chain rows=200 epsilon=30", "local_noise bounds=age=0:9 epsilon=1"]
)
def test_a_package_tells_nothing_but_noisy_values(text: str, tmp_path: Path) -> None:
    plain, other = (package(tmp_path / name, row, text) for name, row in (("a", b"3,F,a\n"), ("b", b"7,F,a\n")))
    assert plain.keys() == other.keys() >= {"README.md", "roles.toml", *NOISY}
    if text.startswith("local_noise"):  # which can be placed on a map, and so be recommended
        assert "Promised by construction" in plain["note.md"]
        assert "Epsilon does not cover that choice" in plain["note.md"]
    dictionary = "dictionary.csv"
    for name in plain.keys() - NOISY - {dictionary}:
        told = [
            re.sub(r'"[0-9a-f]{64}"', '""', files[name]) for files in (plain, other)
        ]  # the statement has a checksum of the noisy file
        assert told[0] == told[1], name
    treated = [[line.split(",")[:3] for line in files[dictionary].splitlines()] for files in (plain, other)]
    assert treated[0] == treated[1]
    assert not any("column_distance" in content or "[reading]" in content for content in plain.values())


def test_the_exact_rows_do_not_decide_what_is_published(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,sex,job\n" + b"3,F,a\n4,M,b\n" * 10)
    release = sf.DpSynthesis(structure="chain", rows=9, epsilon=5)(sf.read(path), ROLES)
    with pytest.raises(
        InputError, match="measured against the original rows, so that whether it is met would tell of them"
    ):
        sf.publish(release, ROLES, [sf.require("column_distance <= 1")], tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(InputError, match="measured against the original rows"):
        sf.publish(release, ROLES, [sf.require("iloss <= 1")], tmp_path / "out.csv")
