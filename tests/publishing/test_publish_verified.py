"""Publishing: the file has its name only after it was measured, and whatever goes wrong leaves the folder as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, NotMet, Unavailable
from sfumato.core.release import Release
from sfumato.engines.duckdb import DuckTable
from sfumato.metrics import require
from sfumato.publishing import publish, sinks, verify, verify_release
from sfumato.publishing import staging as room

ROLES = sf.Roles(quasi=("age", "town"), sensitive=("ill",), identifiers=("name",), person="card", source="roles.toml")
PLAIN = sf.Roles(quasi=("age", "town"), sensitive=("ill",), source="roles.toml")
K2 = (require("k_anonymity >= 2"),)


def people() -> pa.Table:
    return pa.table(
        {
            "name": [f"Quixotic{i}" for i in range(8)],
            "card": list(range(8)),
            "age": [20, 21, 22, 23, 40, 41, 42, 43],
            "town": ["Rome", "Rome", "Oslo", "Oslo", "Rome", "Rome", "Oslo", None],
            "ill": list("abababab"),
        }
    )


@pytest.fixture
def release() -> Release:
    return sf.Mondrian(k=2)(sf.read(people()), ROLES)


def listing(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


# --- in the good case ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".CSV"])
def test_the_folder_holds_the_release_and_nothing_else(release: Release, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    found = publish(release, ROLES, K2, path)
    assert found.met
    assert listing(tmp_path) == [path.name]
    assert sf.read(path).rows == 8
    assert sf.read(path).columns == ("age", "town", "ill")


def test_a_path_may_be_a_text(release: Release, tmp_path: Path) -> None:
    publish(release, ROLES, K2, str(tmp_path / "out.csv"))
    assert listing(tmp_path) == ["out.csv"]


def test_the_verdicts_are_those_of_the_file(release: Release, tmp_path: Path) -> None:
    wanted = [*K2, require("distinct_l_diversity >= 1"), require("iloss <= 1")]
    found = publish(release, ROLES, wanted, tmp_path / "out.csv")
    again = verify(sf.read(tmp_path / "out.csv"), ROLES, wanted, original=sf.read(people()))
    assert [v.requirement for v in found.verdicts] == wanted
    assert [v.score.value for v in found.verdicts] == [v.score.value for v in again.verdicts]


def test_the_function_is_reachable_from_the_package_every_time() -> None:
    """`sf.publish` is the function, also after the module of that name was loaded."""
    for _ in range(2):
        assert sf.publish is publish
        assert sf.verify is verify


def test_it_is_written_and_measured_under_another_name_first(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def looking(published: Any, *args: Any, **more: Any) -> Any:
        seen.append(listing(tmp_path))
        return verify_release(published, *args, **more)

    monkeypatch.setattr(room, "verify_release", looking)
    publish(release, ROLES, K2, tmp_path / "out.csv")
    assert len(seen) == 1
    (hidden,) = seen[0]
    assert hidden.startswith(".")
    assert "out.csv" not in seen[0]
    assert listing(tmp_path) == ["out.csv"]


def test_what_is_measured_is_the_file_and_not_the_table_in_memory(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes other rows than the release has must not get a verified file."""
    real = DuckTable.write

    def tampering(self: DuckTable, path: Path, variables: Any = None) -> None:
        real(self, path, variables)
        lines = path.read_text(encoding="utf-8").splitlines()
        lines[1] = "99,Paris,a"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    monkeypatch.setattr(DuckTable, "write", tampering)
    with pytest.raises(NotMet, match="k_anonymity >= 2: not met, measured 1"):
        publish(release, ROLES, K2, tmp_path / "out.csv")
    assert listing(tmp_path) == []


def test_lost_rows_are_noticed(release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = DuckTable.write

    def losing(self: DuckTable, path: Path, variables: Any = None) -> None:
        real(self, path, variables)
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(lines[:-2]) + "\n", encoding="utf-8")  # a whole class: every requirement still holds

    monkeypatch.setattr(DuckTable, "write", losing)
    with pytest.raises(NotMet, match="lost rows"):
        publish(release, ROLES, [], tmp_path / "out.csv")
    assert listing(tmp_path) == []


# --- files that are hard to read back -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"q": [None, None, None]}, id="one column of missing values"),
        pytest.param({"q": ["a", "a", None, None]}, id="one column with missing values"),
        pytest.param({"2019": [1, 1, 2, 2], "2020": [5, 5, 7, 7]}, id="columns named by numbers"),
        pytest.param({"q;r;s": ["x;y;z"] * 4, "t": ["5"] * 4}, id="semicolons in names and values"),
        pytest.param({"p": ["k"] * 8, "q": ["'x'"] * 4 + ["x"] * 4}, id="single quotes"),
        pytest.param({"q": ["a\nb", "a\nb", 'c"d', 'c"d'], "r": ["\r\n"] * 4}, id="line ends and quotes"),
        pytest.param({"q": [" p", " p", "p", "p", " ", " "]}, id="spaces"),
        pytest.param({'a"b': [1, 1], "select": [2, 2], "x y,z": ["ü", "ü"], "n": [1, 1]}, id="odd names"),
        pytest.param({"q\nr": [1, 1]}, id="a line end in a name"),
        pytest.param({"__row": [1, 1, 2, 2], "m0": [1, 1, 2, 2], "k0": [3, 3, 4, 4]}, id="names that we use inside"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_a_release_is_published_whatever_it_holds(
    columns: dict[str, list[Any]], suffix: str, mode: Any, tmp_path: Path
) -> None:
    """What we write we can read: the file is ours, so nothing about it needs to be guessed."""
    table = pa.table(
        {name: pa.array(values, pa.string() if None in values else None) for name, values in columns.items()}
    )
    roles = sf.Roles(quasi=tuple(columns), source="roles.toml")
    path = tmp_path / f"out{suffix}"
    found = publish(sf.Mondrian(k=2, mode=mode)(sf.read(table), roles), roles, K2, path)
    if mode == "strict":  # these tables need no recoding at all
        assert found.verdicts[0].score.value == min(sf.read(table).count(table.column_names).n)
    assert found.met
    assert listing(tmp_path) == [path.name]


@pytest.mark.parametrize("name", ["__row", "__to", "m", "t"])
def test_relaxed_division_minds_columns_of_any_name(name: str, tmp_path: Path) -> None:
    table = pa.table({"q": [1, 2, 3, 4, 4, 4, 4, 4], name: list(range(8))})
    roles = sf.Roles(quasi=("q",), insensitive=(name,))
    release = sf.Mondrian(k=2, mode="relaxed")(sf.read(table), roles)
    publish(release, roles, K2, tmp_path / "out.parquet", waive={name: "it numbers the rows of this test"})
    assert sorted(pq.read_table(tmp_path / "out.parquet")[name].to_pylist()) == list(range(8))


# --- in the bad case ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_not_met_leaves_nothing(release: Release, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    with pytest.raises(NotMet) as caught:
        publish(release, ROLES, [require("k_anonymity >= 7")], path)
    assert str(path) in str(caught.value)
    assert "k_anonymity >= 7: not met, measured" in str(caught.value)
    assert listing(tmp_path) == []


def test_every_reason_is_told_and_no_hidden_name(release: Release, tmp_path: Path) -> None:
    bare = Release(table=sf.read(people()), original=None)
    with pytest.raises(NotMet) as caught:
        publish(bare, ROLES, [require("k_anonymity >= 2"), require("distinct_l_diversity >= 9")], tmp_path / "out.csv")
    text = str(caught.value)
    for part in ("'name' is an identifier", "'card' is an identifier", "k_anonymity >= 2", "distinct_l_diversity >= 9"):
        assert part in text
    assert "/." not in text
    assert "Quixotic" not in text
    assert "\n" not in text


def test_a_requirement_that_cannot_be_asked_leaves_nothing(release: Release, tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        publish(release, ROLES, [require("t_closeness[equal](nowhere) <= 0.5")], tmp_path / "out.csv")
    assert listing(tmp_path) == []


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError, OSError, SystemExit])
@pytest.mark.parametrize("step", ["verify_release", "read_published"])
def test_an_interruption_leaves_nothing(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: type[BaseException]
) -> None:
    def interrupted(*args: Any, **more: Any) -> Any:
        assert len(listing(tmp_path)) == 1  # it was written, so there is something to clear away
        raise failure

    monkeypatch.setattr(room if hasattr(room, step) else sinks, step, interrupted)
    with pytest.raises(failure):
        publish(release, ROLES, K2, tmp_path / "out.csv")
    assert listing(tmp_path) == []


def test_an_interruption_while_rows_are_written_leaves_nothing(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(handle: int) -> None:
        assert listing(tmp_path)
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.engines.duckdb.os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(release, ROLES, K2, tmp_path / "out.csv")
    assert listing(tmp_path) == []


@pytest.mark.parametrize("spoil", ["requirement", "interruption"])
def test_an_earlier_release_survives_a_failed_one(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    path = tmp_path / "out.csv"
    publish(release, ROLES, K2, path)
    before, stamp = path.read_bytes(), path.stat().st_mtime_ns
    if spoil == "requirement":
        with pytest.raises(NotMet):
            publish(release, ROLES, [require("k_anonymity >= 8")], path)
    else:

        def interrupted(*args: Any, **more: Any) -> Any:
            raise KeyboardInterrupt

        monkeypatch.setattr(room, "verify_release", interrupted)
        with pytest.raises(KeyboardInterrupt):
            publish(release, ROLES, K2, path)
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == stamp
    assert listing(tmp_path) == ["out.csv"]


def test_an_earlier_release_is_replaced_by_a_good_one(release: Release, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("something else\n")
    publish(release, ROLES, K2, path)
    assert sf.read(path).rows == 8


@pytest.mark.parametrize("link", [None, os.symlink, os.link], ids=["same", "symlink", "hard link"])
def test_the_input_is_never_overwritten(tmp_path: Path, link: Callable[[Path, Path], None] | None) -> None:
    source = tmp_path / "in.csv"
    sf.read(people()).write(source)
    before = source.read_bytes()
    target = source
    if link is not None:
        target = tmp_path / "other.csv"
        link(source, target)
    release = sf.Mondrian(k=2)(sf.read(source), ROLES)
    with pytest.raises(InputError, match="this is the input"):
        publish(release, ROLES, K2, target)
    assert source.read_bytes() == before
    assert len(listing(tmp_path)) == 1 + (link is not None)


@pytest.mark.parametrize("name", ["out.txt", "out", "out.xpt"])
def test_other_formats_are_refused(release: Release, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"\.csv, .* or \.dta"):
        publish(release, ROLES, K2, tmp_path / name)
    assert listing(tmp_path) == []


def test_a_folder_that_does_not_exist_is_refused_and_not_made(release: Release, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder does not exist"):
        publish(release, ROLES, K2, tmp_path / "nowhere" / "out.csv")
    assert listing(tmp_path) == []


def test_a_folder_in_place_of_the_file_is_refused_and_untouched(release: Release, tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    (tmp_path / "out.csv" / "kept").touch()
    with pytest.raises(InputError, match=r"out\.csv"):
        publish(release, ROLES, K2, tmp_path / "out.csv")
    assert listing(tmp_path) == ["out.csv"]
    assert listing(tmp_path / "out.csv") == ["kept"]


# --- verify ---------------------------------------------------------------------------------------------------------


def table(text: str, folder: Path) -> Any:
    path = folder / "published.csv"
    path.write_text(text, encoding="utf-8")
    return sf.read(path)


GOOD = "age,town,ill\n[20 - 21],Rome,a\n[20 - 21],Rome,b\n[40 - 41],*,a\n[40 - 41],*,b\n"


def test_a_good_file_is_met_with_a_verdict_each(tmp_path: Path) -> None:
    wanted = [*K2, require("distinct_l_diversity >= 2"), require("t_closeness[equal] <= 0")]
    found = verify(table(GOOD, tmp_path), PLAIN, wanted)
    assert found.met
    assert found.reasons == []
    assert [(str(v.requirement), v.met, v.score.value) for v in found.verdicts] == [
        ("k_anonymity >= 2", True, 2.0),
        ("distinct_l_diversity >= 2", True, 2.0),
        ("t_closeness[equal] <= 0", True, 0.0),
    ]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("[20 - 21],Rome,a", "[20 - 22],Rome,a", "k_anonymity >= 2: not met, measured 1"),
        ("[20 - 21],Rome,a", "[20 - 21],Roma,a", "k_anonymity >= 2: not met, measured 1"),
        ("[40 - 41],*,b", "[40 - 41],*,a", "distinct_l_diversity >= 2: not met, measured 1"),
        ("[40 - 41],*,b\n", "", "k_anonymity >= 2: not met, measured 1"),
        ("[40 - 41],*,b", "[40 - 41],,b", "k_anonymity >= 2: not met, measured 1"),
    ],
)
def test_one_edited_row_is_found(before: str, after: str, reason: str, tmp_path: Path) -> None:
    tampered = GOOD.replace(before, after)
    assert tampered != GOOD
    found = verify(table(tampered, tmp_path), PLAIN, [*K2, require("distinct_l_diversity >= 2")])
    assert not found.met
    assert any(reason in text for text in found.reasons)


@pytest.mark.parametrize("kept", [("name",), ("card",), ("name", "card")])
def test_identifiers_and_the_person_in_the_file_are_a_problem(kept: tuple[str, ...], tmp_path: Path) -> None:
    columns = {name: ["Quixotic"] * 2 if name == "name" else [1, 2] for name in kept}
    published = sf.read(pa.table({"age": ["*"] * 2, "town": ["*"] * 2, "ill": ["a", "b"], **columns}))
    found = verify(published, ROLES, K2)
    assert all(verdict.met for verdict in found.verdicts)
    assert not found.met
    assert len(found.problems) == len(kept)
    for name, problem in zip(kept, found.problems, strict=True):
        assert f"column {name!r} is an identifier in roles.toml" in problem
        assert "Quixotic" not in problem


def test_a_requirement_against_the_original_needs_it(tmp_path: Path) -> None:
    wanted = [require("iloss <= 0.5")]
    with pytest.raises(Unavailable, match="original"):
        verify(table(GOOD, tmp_path), PLAIN, wanted)


def test_a_file_without_the_quasi_identifiers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'town'"):
        verify(table("age,ill\n1,a\n1,b\n", tmp_path), PLAIN, K2)
