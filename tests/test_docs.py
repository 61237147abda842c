"""The documents say what the program does: generated pages are fresh, and the tutorial's and README's commands run."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def _build():
    spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_what_the_cards_say():
    made = _build().pages()
    stale = [
        path for path, text in made.items() if not (DOCS / path).exists() or (DOCS / path).read_text("utf-8") != text
    ]
    assert not stale, f"run docs/build.py: {stale}"
    there = {str(p.relative_to(DOCS)) for folder in ("metrics", "mechanisms") for p in (DOCS / folder).glob("*.md")}
    assert there <= set(made), "pages of metrics that are gone"


def _blocks(path: Path) -> list[tuple[str, str]]:
    return re.findall(r"```(\w*)\n(.*?)```", path.read_text("utf-8"), flags=re.DOTALL)


def _run(command: str, where: Path) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command, comments=True)
    assert words[0] == "sfumato"
    script = str(Path(sys.executable).with_name("sfumato"))
    return subprocess.run([script, *words[1:]], cwd=where, capture_output=True, text=True, timeout=600)


TUTORIALS = (DOCS / "tutorial.md", *sorted((DOCS / "tutorials").glob("*.md")))


@pytest.mark.full
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_runs_and_prints_what_it_quotes(page, tmp_path, monkeypatch):
    """Its commands and its Python, in its order and in one folder; and every line that it quotes was printed by what stands before it."""
    monkeypatch.chdir(tmp_path)
    printed, names, ran = "", {}, 0
    for language, block in _blocks(page):
        if language == "sh":
            printed = ""
            for line in filter(None, block.splitlines()):
                done = _run(line, tmp_path)
                wanted = int(m[1]) if (m := re.search(r"# exits (\d+)", line)) else 0
                assert done.returncode == wanted, f"{line}\n{done.stdout}\n{done.stderr}"
                printed += done.stdout + done.stderr
                ran += 1
        elif language == "python":
            exec(compile(block, page.name, "exec"), names)
            ran += 1
        elif language == "text":
            flat = " ".join(printed.split())
            for line in filter(None, block.splitlines()):
                assert " ".join(line.split()) in flat, f"{page.name} quotes {line!r}, the program printed\n{printed}"
    assert ran > 3


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    from sfumato.cli.demo_table import write_town

    folder = tmp_path_factory.mktemp("town")
    write_town(folder, rows=2_000)
    return folder


@pytest.mark.full
def test_readme_commands_run(town):
    blocks = [block for language, block in _blocks(ROOT / "README.md") if language == "sh" and "sfumato " in block]
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("sfumato ")]
    lines = [line for line in lines if not line.startswith("sfumato studio")]  # it answers until it is interrupted
    assert len(lines) >= 5
    for line in lines:
        if "--write-roles" in line:
            line = line.replace("roles.toml", "suggested.toml")
        done = _run(line, town)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_readme_python_runs(town, monkeypatch):
    (code,) = [block for language, block in _blocks(ROOT / "README.md") if language == "python"]
    monkeypatch.chdir(town)
    exec(compile(code, "README.md", "exec"), {})
    assert (town / "release.csv").exists()


def test_readme_roles_and_requirements_parse(town, tmp_path):
    import sfumato as sf

    (toml,) = [block for language, block in _blocks(ROOT / "README.md") if language == "toml"]
    (tmp_path / "roles.toml").write_text(toml)
    assert sf.Roles.read(tmp_path / "roles.toml").quasi == ("age", "sex", "postal_code")
    (texts,) = [block for language, block in _blocks(ROOT / "README.md") if language == ""]
    for line in texts.splitlines():
        assert str(sf.require(line)) == line


def test_the_guide_names_every_rule():
    from sfumato.core.ladders import RULES

    guide = "".join(page.read_text("utf-8") for page in (DOCS / "guide").glob("*.md"))
    assert all(rule in guide for rule in RULES)


def test_every_page_of_the_guide_is_listed():
    index = (DOCS / "guide" / "README.md").read_text("utf-8")
    assert {page.name for page in (DOCS / "guide").glob("*.md")} - {"README.md"} == set(
        re.findall(r"\((\w[\w-]*\.md)\)", index)
    )


def test_links_resolve():
    pages = [*DOCS.rglob("*.md"), *ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"]
    for page in pages:
        prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_preset_has_its_page():
    from sfumato.study.context import OVERALL, PRESETS, WP29

    for name in (*PRESETS, *OVERALL, WP29):
        assert (DOCS / "guidance" / f"{name}.md").exists(), name
        assert f"({name}.md)" in (DOCS / "guidance" / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def site():
    """The site as `./run docs build` makes it, in site/; strict, so that a link to a page or heading that is not there fails it."""
    made = subprocess.run(["./run", "docs", "build"], cwd=ROOT, capture_output=True, text=True, timeout=900)
    if made.returncode and not (ROOT / ".venv-docs" / "bin" / "mkdocs").exists():
        pytest.skip(f"the environment of the site could not be made: {made.stderr[-300:]}")
    assert made.returncode == 0, made.stderr
    return ROOT / "site"


@pytest.mark.full
def test_the_site_builds_by_one_command_and_has_every_page(site):
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}
    built = {str(page.relative_to(site).with_suffix("")) for page in site.rglob("*.html")}
    assert {name.replace("README", "index") for name in pages} <= built
    assert len(pages) > 150


@pytest.mark.full
@pytest.mark.skipif(not Path("/usr/bin/chromium").exists(), reason="there is no chromium")
def test_the_site_asks_nobody_else_and_can_be_searched(site):
    """In a browser, at three widths: no page is wider than its window, none asks another server, and a search finds a page."""
    from playwright.sync_api import sync_playwright

    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as play:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://127.0.0.1:{server.server_port}"
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        asked, wrong = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        for width in (1400, 1000, 400):
            page.set_viewport_size({"width": width, "height": 900})
            for path in ("index.html", "guidance/hipaa.html", "guide/tables.html", "metrics/t_closeness.html"):
                page.goto(f"{home}/{path}")
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
        page.set_viewport_size({"width": 1400, "height": 900})
        page.goto(f"{home}/index.html?q=hipaa")
        page.locator(".md-search-result__item").first.wait_for(state="attached", timeout=60_000)
        browser.close()
        server.shutdown()
    assert not wrong
    assert [url for url in asked if not url.startswith((home, "data:", "blob:"))] == []


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""
