"""Draw the pictures that README.md shows, in the system's Chromium.

    .venv/bin/python docs/picture.py            # docs/studio.png
    .venv/bin/python docs/picture.py sheet      # docs/sheet.png

A town of made-up people goes the owner's way in a real studio up to the map of the candidates; that page is the first picture. The second is
the head of the decision sheet of `sfumato demo`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import sfumato as sf
from sfumato.core.toml import opened
from sfumato.studio.work_folder import study_toml

PLAN = {
    "refine": 0,
    "candidate": [
        {"mechanism": "mondrian", "k": [14, 16, 20, 28]},
        {"mechanism": "mondrian", "k": 14, "labels": "cheapest"},
        {"mechanism": "k_member", "k": [14, 16, 20, 28]},
        {"mechanism": "generalize_full_domain", "k": 14, "suppression": [0.05, 0.1]},
        {"mechanism": "local_suppression", "k": 14},
    ],
}
"""A few candidates, as somebody may write them into the study file."""
ROWS, WIDTH, HEIGHT = 1_000, 1120, 860
PATIENCE = 1_800_000
"""Milliseconds: the run of all candidates is waited for."""


def main() -> None:
    """Write the picture that is asked for."""
    if sys.argv[1:] == ["sheet"]:
        sheet()
    else:
        studio()


def sheet() -> None:
    """The head of the demo's decision sheet."""
    script = str(Path(sys.executable).with_name("sfumato"))
    picture = Path(__file__).with_name("sheet.png")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        subprocess.run([script, "demo", "--out", place], check=True, stdout=subprocess.DEVNULL)
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto((Path(place) / "study" / "sheet.html").resolve().as_uri())
        page.screenshot(path=str(picture))
        browser.close()
    print(json.dumps({"picture": str(picture), "bytes": picture.stat().st_size}))


def studio() -> None:
    """The map in the studio."""
    script = str(Path(sys.executable).with_name("sfumato"))
    with tempfile.TemporaryDirectory() as place:
        table = sf.write_town(Path(place), rows=ROWS)["people"]
        words = [script, "studio", str(table), "--folder", place, "--no-browser"]
        child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        try:
            _photograph(child.stdout.readline().strip(), Path(place), Path(__file__).with_name("studio.png"))
        finally:
            child.terminate()
            child.wait()


def _photograph(address: str, folder: Path, picture: Path) -> None:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.wait_for_url(lambda url: "/enter" not in url)
        root = page.url.rsplit("/", 1)[0]
        page.goto(f"{root}/limits")
        page.get_by_label("medium: a disclosure").check()
        page.get_by_role("button", name="Draw the limits").click()
        page.get_by_text("IPC Ontario").first.wait_for()
        page.goto(f"{root}/columns")
        for reason in page.locator("input[name=reasons]").all():
            reason.fill("the town is made up")
        if page.locator("input[name=reasons]").count():
            with page.expect_response("**/columns/waive"):
                page.get_by_role("button", name="Keep these reasons").click()
        study = folder / "study.toml"
        study.write_text(study_toml({**opened(study, "study file"), **PLAN}))
        page.goto(f"{root}/run")
        page.get_by_role("button", name="Start").click()
        page.get_by_role("link", name="See the map").click()
        page.locator("#map svg").wait_for()
        page.locator("#map").press("ArrowRight")
        page.locator("#ring").wait_for()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=str(picture))
        browser.close()
    print(json.dumps({"picture": str(picture), "bytes": picture.stat().st_size}))


if __name__ == "__main__":
    main()
