"""The owner's way over HTTP: every step changes ordinary files, and the command line makes the same package from them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from studio_house import Client, files, serving

import sfumato as sf
from sfumato.core.roles import Roles
from sfumato.core.toml import opened
from sfumato.search.cuts import optimal_cuts
from sfumato.studio.work_folder import study_toml
from sfumato.study.study_file import read_study

ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult" / "adult_30162.csv"
ANSWERS = {"guidance": "questions", "to": "public", "impact": "low", "controls": "medium", "motives": "medium"}
FEW = '\n[[candidate]]\nmechanism = "mondrian"\nk = [10, 20]\n\n[[candidate]]\nmechanism = "mondrian"\nk = 5\n'


def plan(folder: Path, candidates: str = FEW) -> None:
    """A study of a few candidates, as somebody may write it by hand."""
    path = folder / "study.toml"
    head = {key: value for key, value in opened(path, "study file").items() if key != "candidate"}
    path.write_text(study_toml({**head, "refine": 0, "measures": ["k_anonymity"]}) + candidates)


def wait(client: Client, path: str = "/run/events", *, seconds: float = 300) -> str:
    """The stream of a job until it ends: the last message."""
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        messages = re.findall(r"data: (.*)\n\n", client.get(path).text)
        if messages and json.loads(messages[-1])["over"]:
            return json.loads(messages[-1])["put"]["progress"]
    raise AssertionError("the job does not end")


def test_an_upload_becomes_a_table_with_suggested_roles(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    rows = "".join(f"{20 + i % 50},{'fm'[i % 2]},{i % 3}\n" for i in range(200))
    with serving(folder) as client:
        client.enter()
        assert "choose a file" in client.get("/open").text
        assert client.ask("GET", "/", Cookie=client.cookie).headers["location"] == "/open"
        assert client.get("/columns").status == 400
        hostile = "<script>alert(1)</script>"
        text = f'age,sex,"{hostile}"\n{rows}'.encode()
        assert client.upload("..%2F..%2FPeople of%20Town.CSV", text).json == {"go": "/open"}
        assert (folder / "People_of_Town.csv").read_bytes() == text
        assert (folder / "People_of_Town.csv").stat().st_mode & 0o777 == 0o600
        assert client.upload("People of Town.csv", b"a,b\n1,2\n3,4\n").status == 200
        assert (folder / "People_of_Town-2.csv").exists()
        assert client.upload("broken.parquet", b"no parquet").status == 400
        assert not (folder / "broken.parquet").exists()
        assert read_study(folder / "study.toml").study.table.name.endswith("People_of_Town-2.csv"), (
            "the last that could be read"
        )
        client.upload("third.csv", text)
        for path in ("/open", "/columns", "/limits", "/look"):
            page = client.get(path)
            assert page.status == 200, page.text
            assert hostile not in page.text
        assert "&lt;script&gt;" in client.get("/columns").text


def test_reading_roles_limits_and_levels(studio: tuple[Client, Path]) -> None:
    client, folder = studio
    names = read_study(folder / "study.toml").study.table.columns
    read_so = {"totals": "", "decimal": "", "dates": "", "encoding": "", "delimiter": "", "everywhere": "n/k"}
    assert client.post("/open/reading", {**read_so, "header_row": "1"}).json == {"go": "/open"}
    assert Roles.read(folder / "roles.toml").reading == {"header_row": "1", "missing": {"*": ["n/k"]}}
    assert "no encoding" in client.post("/open/reading", {**read_so, "encoding": "elvish"}).json["error"]
    assert client.post("/open/reading", {**read_so, "everywhere": ""}).status == 200

    roles = Roles.read(folder / "roles.toml")
    now = ["quasi" if n in roles.quasi else "sensitive" if n in roles.sensitive else "identifiers" for n in names]
    changed = dict(zip(names, now, strict=True)) | {"education": "insensitive", "income": "quasi"}
    answer = client.post("/columns/roles", {"roles": list(changed.values())})
    assert "quasi-identifiers" in answer.json["put"]["together"]
    roles = Roles.read(folder / "roles.toml")
    assert "education" in roles.insensitive
    assert "income" in roles.quasi
    assert "income" in roles.hierarchies, "what is suggested for a new quasi-identifier"
    twice = list(changed.values())
    twice[:2] = ["person", "person"]
    assert "Only one column" in client.post("/columns/roles", {"roles": twice}).json["error"]
    assert Roles.read(folder / "roles.toml") == roles

    at = roles.quasi.index("age")
    assert client.post("/hierarchies/rule", {"column": str(at), "rule": "widths", "values": "10, 30"}).status == 200
    assert Roles.read(folder / "roles.toml").hierarchies["age"] == {"widths": [10, 30]}
    assert "[0,30)" in client.get("/hierarchies").text
    for rule, values in (
        ("widths", "10, 15"),
        ("widths", "ten"),
        ("widths", ""),
        ("dates", "year"),
        ("file", "../x"),
        ("suppress=", "1"),
    ):
        refused = client.post("/hierarchies/rule", {"column": at, "rule": rule, "values": values})
        assert refused.status == 400, (rule, values)
    assert client.post("/hierarchies/rule", {"column": 99, "rule": "suppress", "values": ""}).status == 400
    looked = {"column": at, "rule": "widths", "values": "25, 50"}
    seen = client.post("/hierarchies/preview", looked).json["put"][f"levels{at}"]
    assert "[0,25)" in seen
    alone = sf.explore(read_study(folder / "study.toml").study.table, replace(roles, hierarchies={**roles.hierarchies, "age": {"widths": [25, 50]}})).together("age")  # fmt: skip
    assert [int(n.replace(",", "")) for n in re.findall(r'aria-label="([\d,]+) rows? alone"', seen)] == alone
    best = client.post("/hierarchies/cuts", {**looked, "most": "3"}).json
    points = [int(text) for text in best["fill"][f"values{at}"].split(", ")]
    own = optimal_cuts(
        read_study(folder / "study.toml").study.table, roles, "age", max_ranges=3, sensitive=roles.sensitive[0]
    )
    assert points == own.cuts
    assert Roles.read(folder / "roles.toml").hierarchies["age"] == {"widths": [10, 30]}, "nothing is taken unasked"
    at = roles.quasi.index("marital_status")
    table = read_study(folder / "study.toml").study.table
    values = [text for text in table.count(("marital_status",)).columns[0].texts if text is not None]
    nested = [
        "was married > not single" if text in ("divorced", "widowed") else "not single" if text == "married" else ""
        for text in values
    ]
    shown = client.post("/hierarchies/groups/preview", {"column": at, "groups": nested}).json["put"][f"levels{at}"]
    assert shown.count("<li>") == 4
    assert client.post("/hierarchies/groups", {"column": at, "groups": nested}).status == 200
    hierarchy = Roles.read(folder / "roles.toml").taxonomy("marital_status")
    assert hierarchy is not None
    assert hierarchy.under("not single") == {"divorced", "widowed", "married"}
    assert "was married &gt; not single" in client.get("/hierarchies").text
    together = ["was  married" if text in ("divorced", "widowed") else "" for text in values]
    assert client.post("/hierarchies/groups", {"column": at, "groups": together}).status == 200
    hierarchy = Roles.read(folder / "roles.toml").taxonomy("marital_status")
    assert hierarchy is not None
    assert hierarchy.under("was married") == {"divorced", "widowed"}
    assert client.post("/hierarchies/groups", {"column": at, "groups": together[1:]}).status == 400

    assert client.post("/limits/answers", {**ANSWERS, "to": "everybody"}).status == 400
    own = {"own_metrics": ["distinct_l_diversity(diagnosis)", ""], "own_bounds": ["3", ""]}
    assert client.post("/limits/answers", {**ANSWERS, **own}).json["go"].startswith("/limits")
    required = {str(each) for each in read_study(folder / "study.toml").study.require}
    assert required == {"prosecutor_risk <= 0.1", "distinct_l_diversity(diagnosis) >= 3"}
    page = client.get("/limits").text
    assert "IPC Ontario" in page
    moved = {**ANSWERS, "limits": ["prosecutor_risk <= 0.1"], "bounds": ["0.05"]}
    assert client.post("/limits/answers", moved).status == 200
    assert "prosecutor_risk <= 0.05" in {str(each) for each in read_study(folder / "study.toml").study.require}
    looser = client.post("/limits/answers", {**moved, "bounds": ["0.2"]})
    assert "not looser" in looser.json["error"]

    study = read_study(folder / "study.toml").study
    explorer = sf.explore(study.table, study.roles, require=study.require, metrics=["iloss"])
    levels = list(explorer.highest.values())
    seen = client.post("/look/at", {"levels": [str(level) for level in levels], "suppression": "0"}).json["put"]["seen"]
    assert "Every limit is met" in seen
    assert f"{len(explorer.at(explorer.highest).class_sizes)} class" in seen
    lowest = client.post("/look/at", {"levels": ["0"] * len(levels), "suppression": "0"}).json["put"]["seen"]
    assert "A limit is missed" in lowest
    bounds = [f"{each.bound:g}" for each in study.require]
    place = {"levels": ["0"] * len(levels), "suppression": "5", "bounds": bounds}
    least = explorer.search(suppression=0.05)
    assert least.best is not None
    lattice = client.post("/look/search", place).json["put"]["lattice"]
    assert str(least.best).partition(":")[0] in lattice
    assert f'data-levels="{",".join(map(str, least.best.levels.values()))}"' in lattice
    loose = ["1" for _ in study.require]
    moved_here = client.post("/look/at", {**place, "bounds": loose}).json["put"]["seen"]
    assert "Every limit is met" in moved_here
    assert {str(each) for each in read_study(folder / "study.toml").study.require} == set(map(str, study.require))
    assert client.post("/look/at", {**place, "bounds": bounds[1:]}).status == 400


@pytest.mark.full
def test_a_run_is_followed_stopped_resumed_and_packaged_to_the_bytes_of_the_command_line(
    town: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    for path in ("roles.toml", "hierarchies"):
        os.symlink(town / path, folder / path)
    with serving(folder, str(town / "people.csv")) as client:
        client.enter()
        assert client.post("/columns/waive", {"reasons": []}).status in (200, 400)
        client.post("/limits/answers", ANSWERS)
        findings = client.get("/columns").text.count('name="reasons"')
        assert client.post("/columns/waive", {"reasons": ["the town is made up"] * findings}).status == 200
        plan(folder)
        assert client.post("/run/start", {}).json == {"go": "/run"}
        assert client.post("/run/start", {}).status == 400, "one at a time"
        assert client.post("/run/stop", {}).status == 200
        assert "Stopped" in wait(client)
        assert client.post("/run/start", {}).status == 200
        assert "Done" in wait(client)
        drawn = client.get("/map/figure").json
        assert len(drawn["layer"]) >= 3
        assert client.get("/map?risk=k_anonymity").status == 200
        assert client.get("/map?risk=unknown").status == 400
        sheet = client.get("/decide").text
        verdict = json.loads((folder / ".studio" / "decision.json").read_text())
        assert verdict["headline"] in sheet
        assert verdict["candidate"] == "mondrian k=10"
        open_points = [point for point in verdict["open"] if not point["stops"]]
        assert sheet.count('name="reasons"') == len(open_points) > 0
        reasons = ["the town is made up"] + [""] * (len(open_points) - 1)
        assert client.post("/decide/sign", {"reasons": reasons[1:]}).status == 400
        assert client.post("/decide/sign", {"reasons": reasons, "purpose": "a <b> test"}).json == {"go": "/decide"}
        study = read_study(folder / "study.toml").study
        assert dict(study.accept) == {open_points[0]["key"]: "the town is made up"}
        signed = client.get("/decide").text
        assert "a &lt;b&gt; test" in signed
        assert "changed after this run" not in signed
        report = client.get("/documents/report.html")
        assert report.headers["content-security-policy"].startswith("sandbox")
        assert client.post("/compare/start", {"a": 0, "b": 0}).status == 400
        assert client.post("/compare/start", {"a": "0", "b": "1"}).json == {"go": "/compare"}
        wait(client, "/compare/events")
        beside = client.get("/compare").text
        assert "person is" in beside or "people are" in beside
        assert "record linkage" in beside
        assert client.post("/decide/package", {"candidate": "0", "title": "Town <b>"}).status == 200
        wait(client, "/decide/events")
        assert client.get("/package/release.csv").text == (folder / "package" / "release.csv").read_text()
        assert client.post("/decide/package", {"candidate": "0"}).status == 400, "it is not replaced unasked"
        assert (
            client.upload("release.csv", (folder / "package" / "release.csv").read_bytes(), "/check/upload").status
            == 200
        )
        wait(client, "/check/events")
        assert "every limit is met" in client.get("/check").text
        assert client.upload("raw.csv", (town / "people.csv").read_bytes(), "/check/upload").status == 200
        wait(client, "/check/events")
        raw = client.get("/check").text
        assert "not as it should be" in raw
        assert "is still there" in raw
        assert [path.name for path in (folder / "somebodys-release").iterdir()] == ["raw.csv"]
        assert client.post("/decide/package", {"candidate": "1", "replace": "yes"}).status == 200
        wait(client, "/decide/events")
        other = files(folder / "package")
        assert client.post("/decide/package", {"candidate": "0", "replace": "yes", "also": ["exe"]}).status == 400
        assert client.post("/decide/package", {"candidate": "0", "replace": "yes", "also": "parquet"}).status == 200
        wait(client, "/decide/events")
        assert files(folder / "package") != other
        assert client.get("/release/parquet").status == 200
        assert client.get("/release/xlsx").status == 400
        assert sf.read(folder / "release.parquet").rows == sf.read(folder / "package" / "release.csv").rows
    script = str(Path(sys.executable).with_name("sfumato"))
    words = [
        "study",
        str(folder / "study.toml"),
        "--out",
        str(tmp_path / "again"),
        "--package",
        str(tmp_path / "package"),
    ]
    done = subprocess.run([script, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert files(folder / "package") == files(tmp_path / "package")
    assert files(folder / "package.house") == files(tmp_path / "package.house")


@pytest.mark.full
def test_a_child_that_dies_is_told_and_goes_on(town: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    with serving(folder, str(town / "people.csv")) as client:
        client.enter()
        client.post("/limits/answers", ANSWERS)
        plan(folder)
        client.post("/run/start", {})
        while not (
            told := [json.loads(line) for line in (folder / ".studio" / "study.jsonl").read_text().splitlines()]
        )[1:]:
            time.sleep(0.05)
        os.kill(told[1]["process"], signal.SIGKILL)
        assert "ended without a word" in wait(client)
        assert client.get("/run").status == 200
        assert client.post("/run/start", {}).status == 200
    state = [json.loads(line)["event"] for line in (folder / ".studio" / "study.jsonl").read_text().splitlines()]
    assert state[-1] == "stopped", "a closed page ends its child"


@pytest.mark.full
def test_a_full_disk_is_told_and_leaves_nothing_half(town: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    with serving(folder, str(town / "people.csv"), room=300_000) as client:
        client.enter()
        large = (town / "people.csv").read_bytes() * 20
        answer = client.upload("large.csv", large)
        assert answer.status == 400
        assert "room on the disk" in answer.json["error"]
        assert not [path for path in folder.iterdir() if "large" in path.name]
        client.post("/limits/answers", ANSWERS)
        plan(folder)
        client.post("/run/start", {})
        told = wait(client)
        assert "cannot be written" in told or "room on the disk" in told
        assert not (folder / "study" / "report.html").exists()
        for path in ("/run", "/open", "/columns"):
            assert client.get(path).status == 200
    with serving(folder) as client:
        client.enter()
        assert client.post("/run/start", {}).status == 200
        assert "Done" in wait(client)


@pytest.mark.full
def test_the_tour_is_taken_on_a_town_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    with serving(folder) as client:
        client.enter()
        assert client.post("/tour/start", {}).json == {"go": "/open"}
        assert client.post("/tour/start", {}).status == 400, "a table is not replaced"
        for path, word in (("/open", "go on to the columns"), ("/columns", "Change the role"), ("/hierarchies", "move the slider"), ("/limits", "Two questions decide")):  # fmt: skip
            assert word in client.get(path).text
        assert client.post("/tour/end", {}).status == 200
        assert "Change the role" not in client.get("/columns").text


@pytest.mark.full
@pytest.mark.skipif(not ADULT.is_file(), reason="needs Adult in ../shared/data")
def test_adult_goes_the_same_way(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    with serving(folder, str(ADULT)) as client:
        client.enter()
        names = read_study(folder / "study.toml").study.table.columns
        quasi = ("age", "sex", "race", "marital-status", "education", "native-country", "workclass")
        roles = ["quasi" if n in quasi else "sensitive" if n == "occupation" else "identifiers" for n in names]
        assert client.post("/columns/roles", {"roles": roles}).status == 200
        assert client.post("/limits/answers", ANSWERS).status == 200
        levels = ["1"] * len(quasi)
        assert "classes" in client.post("/look/at", {"levels": levels, "suppression": "1"}).json["put"]["seen"]
        assert "lattice" in client.post("/look/search", {"levels": levels, "suppression": "1"}).json["put"]
        plan(folder, '\n[[candidate]]\nmechanism = "mondrian"\nk = [10, 12]\n')
        client.post("/run/start", {})
        assert "Done" in wait(client)
        assert client.post("/decide/package", {"candidate": "0"}).status == 200
        wait(client, "/decide/events")
        release = sf.read(folder / "package" / "release.csv")
        assert release.rows == 30_162
        assert min(release.count(tuple(n for n in names if n in quasi)).n) >= 10
