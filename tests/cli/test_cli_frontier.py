"""`frontier`: the policy frontier, fixed policies and the figure from the command line, against numbers worked out by hand."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_house import CANARY, Run

CHROMIUM = Path("/usr/bin/chromium")
# four different rows: a column less halves what is found and loses half
ROWS = f"a,b,s\n{CANARY},u,{CANARY}\n{CANARY},v,q\ny,u,q\ny,v,{CANARY}\n"
ROLES = '[roles]\nquasi = ["a", "b"]\nsensitive = ["s"]\n'


@pytest.fixture
def four(tmp_path: Path) -> tuple[object, ...]:
    (tmp_path / "four.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    return ("frontier", tmp_path / "four.csv", "--roles", tmp_path / "roles.toml")


def test_by_hand(run: Run, four: tuple[object, ...]) -> None:
    content = run(*four, "--json").fine().json
    assert (content["status"], content["stopped"], content["nodes"]) == ("exact", None, 4)
    assert [(n["levels"], n["risk"], n["utility"]) for n in content["frontier"]] == [
        ({"a": 0, "b": 0}, 1, 0),
        ({"a": 0, "b": 1}, 0.5, 0.5),
        ({"a": 1, "b": 1}, 0.25, 1),
    ]
    assert content["frontier"][1]["same"] == [{"a": 1, "b": 0}]
    assert content["knee"] == {"a": 0, "b": 1}
    assert (content["risk"]["name"], content["risk"]["better"]) == ("marketer_risk", "lower")
    assert (content["utility"]["name"], content["utility"]["exactness"]) == ("loss", "exact")
    assert content["figure"] is None


def test_policies(run: Run, four: tuple[object, ...]) -> None:
    """By k and the sum of levels, a and b alike: one level buys two rows a class, and so does any two-level policy."""
    more = ("--policy", "raw:", "--policy", "Safe Harbor: a=1", "--utility", "height", "--risk", "distinct_l_diversity")
    content = run(*four, *more, "--json").fine().json
    raw, harbor = content["policies"]
    assert (raw["name"], raw["levels"], raw["on_frontier"], raw["beaten_by"]) == ("raw", {"a": 0, "b": 0}, True, [])
    # with a gone every class has both values of s, as everything has: the top is beaten
    assert (harbor["levels"], harbor["risk"], harbor["on_frontier"]) == ({"a": 1, "b": 0}, 2, True)
    top = run(*four, *more, "--policy", "all: a=1, b=1", "--json").fine().json["policies"][-1]
    assert not top["on_frontier"]
    assert top["beaten_by"] == [{"levels": {"a": 0, "b": 1}, "risk_better_by": 0, "utility_better_by": 1}]


def test_a_policy_that_misses_a_requirement(run: Run, four: tuple[object, ...]) -> None:
    arguments = (*four, "--require", "k_anonymity >= 2", "--policy", "raw:")
    (raw,) = run(*arguments, "--json").fine().json["policies"]
    assert (raw["missed"], raw["on_frontier"]) == (["k_anonymity >= 2"], False)
    shown = " ".join(run(*arguments).fine().out.split())
    assert "Policy raw: marketer_risk 1, loss 0; it misses k_anonymity >= 2; no generalization" in shown


def test_for_people_to_read(run: Run, four: tuple[object, ...]) -> None:
    found = run(*four, "--policy", "Safe Harbor: a=1", "--policy", "odd: a=1,b=1", "--utility", "height").fine()
    words = " ".join(found.out.split())
    assert "4 generalizations on the frontier, no other of the 4 generalizations beats any of them" in words
    assert "Policy Safe Harbor: marketer_risk 0.5, height 1; on the frontier." in words
    assert "knee, Safe Harbor, 1 more like it" in words
    assert "1 more like it" in words
    assert CANARY not in found.out
    beaten = run(*four, "--policy", "odd: a=1, b=1", "--risk", "distinct_l_diversity", "--utility", "height").fine()
    assert "beaten by 1 of the frontier, for least risk by a 0, b 1" in " ".join(beaten.out.split())


def test_stopped_early_it_says_so(run: Run, four: tuple[object, ...]) -> None:
    content = run(*four, "--max-checks", "2", "--json").fine().json
    assert (content["status"], content["stopped"], content["checked"]) == ("anytime", "checks", 2)
    assert "some may be missing" in " ".join(run(*four, "--max-checks", "2").fine().out.split())


def test_a_long_frontier_is_listed_in_part(run: Run, tmp_path: Path) -> None:
    """Codes 000..., 100..., 110..., ...: every character masked merges two more, so that every level is on the frontier."""
    codes = ["1" * i + "0" * (60 - i) for i in range(61)]
    (tmp_path / "t.csv").write_text("\n".join(["c", *codes]) + "\n", encoding="utf-8")
    masks = [*range(1, 60)]
    (tmp_path / "r.toml").write_text(
        f'[roles]\nquasi = ["c"]\n[hierarchies]\nc = {{ prefix = {masks} }}\n', encoding="utf-8"
    )
    call = ("frontier", tmp_path / "t.csv", "--roles", tmp_path / "r.toml")
    content = run(*call, "--json").fine().json
    assert [node["levels"]["c"] for node in content["frontier"]] == [*range(61)]
    shown = run(*call).fine().out.splitlines()
    listed = [int(line.split()[0]) for line in shown if re.match(r"\s*\d+\s+[\d.]+\s", line)]
    assert (listed[0], listed[-1]) == (0, 60)  # the ends are always there
    assert f"{61 - len(listed)} between these are in --json." in shown
    assert 40 <= len(listed) <= 41


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--policy", "a=1"), ("--policy a=1", "HIPAA: age=2")),
        (("--policy", "x: a"), ("column=level",)),
        (("--policy", "x: a=-1"), ("column=level",)),
        (("--policy", "x: a=1, a=0"), ("'a'", "two levels")),
        (("--policy", "x:", "--policy", "x: a=1"), ("already",)),
        (("--policy", "x: zip=1"), ("'x'", "zip")),
        (("--policy", "x: a=9"), ("'x'", "levels 0 to 1")),
        (("--risk", "loss"), ("loss",)),
        (("--risk", "discernibility"), ("privacy",)),
        (("--utility", "los"), ("los",)),
        (("--time-limit", "0"), ("above 0",)),
        (("--max-checks", "0"), ("one node",)),
        (("--suppression", "2"), ("suppression",)),
        (("--figure", "map.png"), ("map.png", ".html")),
        (("--figure", "no/such/map.html"), ("folder",)),
    ],
)
def test_refusals(run: Run, four: tuple[object, ...], more: tuple[str, ...], words: tuple[str, ...]) -> None:
    run(*four, *more).refused(2, *words)


def test_nothing_meets_it(run: Run, four: tuple[object, ...]) -> None:
    run(*four, "--require", "k_anonymity >= 5").refused(1, "k_anonymity >= 5")


# --- the figure ------------------------------------------------------------------------------------------------------


def test_the_figure_is_one_file_with_the_same_numbers(run: Run, four: tuple[object, ...], tmp_path: Path) -> None:
    page = tmp_path / "map.html"
    policy = "</script><b>mine</b>: a=1"
    content = run(*four, "--policy", policy, "--figure", page, "--json").fine().json
    assert content["figure"] == str(page)
    assert {path.name for path in tmp_path.iterdir()} == {"four.csv", "roles.toml", "map.html"}  # nothing half-written
    text = page.read_text(encoding="utf-8")
    assert CANARY not in text
    assert not re.search(r'(?:src|href)="?https?:', text)
    assert "<b>mine" not in text
    spec = json.loads(re.search(r'"map": (\{.*\}),$', text, re.MULTILINE)[1])  # type: ignore[index]
    rows = [row for layer in spec["layer"] for row in layer["data"].get("values", [])]
    drawn = {(row["risk"], row["utility"]) for row in rows if row.get("levels")}
    assert drawn == {(node["risk"], node["utility"]) for node in content["frontier"]}
    assert {row["name"] for row in rows if row["standing"] == "fixed policy"} == {"</script><b>mine</b>"}
    assert "The frontier is complete" in text
    stopped = run(*four, "--max-checks", "2", "--figure", page).fine()
    assert f"Figure: {page}" in stopped.out
    assert "Some of the frontier may be missing" in page.read_text(encoding="utf-8")


@pytest.mark.full
@pytest.mark.skipif(not CHROMIUM.exists(), reason="needs /usr/bin/chromium to render the page")
def test_a_browser_draws_it(run: Run, four: tuple[object, ...], tmp_path: Path) -> None:
    page = tmp_path / "map.html"
    run(*four, "--policy", "raw:", "--figure", page).fine()
    target = tmp_path / "elsewhere.html"
    shutil.copy(page, target)
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --virtual-time-budget=5000 --dump-dom"
    )
    dom = subprocess.run(
        [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", target.as_uri()],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    ).stdout
    body = re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL)
    assert re.search(r'id="map"[^>]*>.*?<svg', body, re.DOTALL)
    assert "mark-symbol" in body
