"""The work folder: names that a page sends stay inside it, and what is written there the command line reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from house import in_memory
from sfumato.core.errors import InputError
from sfumato.core.roles import Roles
from sfumato.core.toml import opened
from sfumato.studio.job import replaced_package
from sfumato.studio.jobs import Jobs
from sfumato.studio.kept_points import read_points
from sfumato.studio.study_plan import entry
from sfumato.studio.work_folder import WorkFolder, study_toml
from sfumato.study.candidate import Candidate
from sfumato.study.study import Study
from sfumato.study.study_file import _candidate


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("people.csv", "people.csv"),
        ("../../people.csv", "people.csv"),
        ("C:\\data\\Staff list.XLSX", "Staff_list.xlsx"),
        ("/etc/passwd.csv", "passwd.csv"),
        ("a.b.csv.gz", "a_b.csv.gz"),
        (".csv", "table.csv"),
        ("...csv", "table.csv"),
        ("\x00\n.csv", "table.csv"),
        ("größe.csv", "größe.csv"),
    ],
)
def test_the_name_of_an_upload_is_cleaned(tmp_path: Path, name: str, kept: str) -> None:
    assert WorkFolder.at(tmp_path).upload_path(name) == tmp_path / kept


@given(st.text(max_size=40))
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    folder = WorkFolder(Path("somewhere"))
    for given_name in (name, f"{name}.csv", f"../{name}.xlsx", f"{name}/.parquet.gz"):
        try:
            path = folder.upload_path(given_name)
        except InputError:
            continue
        assert path.parent == folder.path
        assert path.name not in ("roles.toml", "study.toml", "decision.toml")
        assert not path.name.startswith(".")


def test_a_taken_name_is_not_written_over(tmp_path: Path) -> None:
    folder = WorkFolder.at(tmp_path)
    folder.upload_path("a.csv").write_text("x")
    assert folder.upload_path("a.csv").name == "a-2.csv"


def test_a_study_file_reads_back_as_it_was_written(tmp_path: Path) -> None:
    content = {
        "table": 'a "b".csv', "roles": "roles.toml", "refine": 0, "require": ["k_anonymity >= 5"],
        "context": {"to": "public", "impact": "low", "known": 0.25},
        "waive": {"<script> = ]": "because\tit is"},
        "candidate": [{"mechanism": "mondrian", "k": 5, "steer": False}, {"mechanism": "hipaa | mondrian k=11"}],
    }  # fmt: skip
    path = tmp_path / "study.toml"
    path.write_text(study_toml(content), encoding="utf-8")
    assert opened(path, "study file") == content


@pytest.mark.parametrize(
    "text",
    [
        "mondrian k=5",
        "mondrian k=5 mode=relaxed choose=width require='t_closeness[equal](s) <= 0.3'",
        "generalize_full_domain k=3 minimise='query_error[ranges]' suppression=0.05 require='marketer_risk <= 1/6'",
        "generalize_to_levels levels=1,0,2",
        "hipaa | mondrian k=11 require='distinct_l_diversity(s) >= 2'",
        "mondrian k=3 labels=cheapest improve=true",
    ],
)
def test_a_candidate_stands_in_the_study_file_as_the_same_mechanism(tmp_path: Path, text: str) -> None:
    candidate = Candidate.of(text)
    path = tmp_path / "study.toml"
    path.write_text(study_toml({"candidate": [entry(candidate)]}), encoding="utf-8")
    (content,) = opened(path, "study file")["candidate"]
    (again,) = _candidate(content, None, None, (), "candidate 1", tmp_path, {})  # type: ignore[arg-type]
    assert again.mechanism == candidate.mechanism


def test_damaged_files_of_the_page_are_told_in_a_sentence(tmp_path: Path) -> None:
    jobs = Jobs(WorkFolder.at(tmp_path))
    study = Study(table=in_memory({"q": ["a", "b"]}), roles=Roles(quasi=("q",)))
    for text in ("", "{", '{"points": 3}', "null", "[]"):
        jobs.folder.points.write_text(text)
        with pytest.raises(InputError, match="run it again"):
            read_points(jobs.folder.points, study)
    jobs.events_file("study").write_text(
        '{"event": "started", "at": 1}\n{"event": "began", "process": 1}\nrubbish\n{"eve'
    )
    state = jobs.state("study")
    assert state.ended == "died"
    assert not state.running
    jobs.stop("study")  # process 1 is not ours, so that nothing happens


def test_what_is_no_package_is_left_alone(tmp_path: Path) -> None:
    folder = WorkFolder.at(tmp_path)
    folder.package.mkdir()
    (folder.package / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="no package"), replaced_package(folder):
        raise AssertionError("the new package must not be begun")
    assert (folder.package / "thesis.tex").exists()


def _packaged(folder: WorkFolder, text: str) -> None:
    folder.package.mkdir()
    (folder.package / "SHA256SUMS").write_text(text)
    folder.release("xlsx").write_text(text)


def _texts(folder: WorkFolder) -> dict[str, str]:
    texts = {path.name: path.read_text() for path in folder.path.iterdir() if path.is_file()}
    return texts | {path.parent.name: path.read_text() for path in folder.path.glob("package*/SHA256SUMS")}


def test_an_earlier_package_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    folder = WorkFolder.at(tmp_path)
    _packaged(folder, "old")

    def stopped() -> None:
        with replaced_package(folder):
            folder.package.mkdir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert _texts(folder) == {"package": "old", "release.xlsx": "old"}
    with replaced_package(folder):
        _packaged(folder, "new")
    assert _texts(folder) == {"package": "new", "release.xlsx": "new"}


@pytest.mark.parametrize("begun", [False, True])
def test_a_package_that_stood_aside_when_a_job_was_killed_comes_back(tmp_path: Path, begun: bool) -> None:
    """Killed while only the package was set aside, or when a new one was begun."""
    folder = WorkFolder.at(tmp_path)
    _packaged(folder, "old")
    folder.package.rename(folder.path / "package.before")
    if begun:
        folder.release("xlsx").rename(folder.path / "release.xlsx.before")
        folder.package.mkdir()
        (folder.package / "SHA256SUMS").write_text("half")
        (folder.private / "package-begun").touch()
    with pytest.raises(ValueError, match="refused"), replaced_package(folder):
        raise ValueError("refused")
    assert _texts(folder) == {"package": "old", "release.xlsx": "old"}
