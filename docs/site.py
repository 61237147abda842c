"""Hooks of the site (mkdocs.yml): pages that lie outside of docs/, and a list of the pages of each folder for the navigation.

README.md, SECURITY.md and their like stand where everybody looks for them; the site shows the same files, with their links led to its own pages.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {
    "README.md": "index.md",
    "SECURITY.md": "SECURITY.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md": "CODE_OF_CONDUCT.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CITATION.cff": "CITATION.cff",
    "benchmarks/README.md": "benchmarks/README.md",
}
"""Files of the repository, and where they are in the site."""
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of a folder where the navigation names the folder (`metrics/`)."""
    config.nav = _listed(config.nav)
    return config


def _listed(nav: Any) -> Any:
    if isinstance(nav, list):
        return [each for item in nav for each in (_pages(item) if _is_folder(item) else [_listed(item)])]
    return {title: _listed(item) for title, item in nav.items()} if isinstance(nav, dict) else nav


def _is_folder(item: Any) -> bool:
    return isinstance(item, str) and item.endswith("/")


def _pages(folder: str) -> list[str]:
    names = sorted(path.name for path in (ROOT / "docs" / folder).glob("*.md") if path.name != "README.md")
    return [f"{folder}README.md", *(f"{folder}{name}" for name in names)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside of docs/."""
    for name, place in OUTSIDE.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links between docs/ and the rest of the repository to where the site has what they name."""
    name = next((name for name, place in OUTSIDE.items() if place == page.file.src_uri), f"docs/{page.file.src_uri}")
    here, folder = posixpath.dirname(page.file.src_uri), posixpath.dirname(name)

    def led(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[1]))
        place = OUTSIDE.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(place, here or ".")

    parts = CODE.split(markdown)
    return "".join(part if i % 2 else LINK.sub(led, part) for i, part in enumerate(parts))
