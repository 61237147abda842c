"""Draw the import graph of the rooms and three walks through them into architecture.md.

    .venv/bin/python docs/architecture.py

Every import counts, also one inside a function, under TYPE_CHECKING or by a string. A test fails on an arrow that points down the
list, on an import of another room's underscore module, and on a walk that the program does not take.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "sfumato"
ROOMS = (
    "core",
    "engines",
    "profile",
    "metrics",
    "search",
    "mechanisms",
    "channel",
    "mining",
    "attacks",
    "inspect",
    "publishing",
    "study",
    "report",
    "reproduce",
    "studio",
    "cli",
)
"""From the foundation up: a room imports only rooms that stand before it."""

REGISTRIES = (
    "__init__",
    "cli.group",
    "cli.reproduce",
    "core.plugins",
)
"""Modules that may import by a name in a text: they list the files of a room, or of all rooms."""

_PATH = re.compile(rf"(?:\.\.|sfumato\.(?=\w+\.))({'|'.join(ROOMS)})(\.\w*)*")
"""A module of ours in a text; `sfumato.metrics` alone is a group of entry points."""


class Import(NamedTuple):
    """A module of ours and one that it imports, below `sfumato`; the package itself is `__init__`."""

    module: str
    target: str
    line: int

    @property
    def rooms(self) -> tuple[str, str]:
        """From which room to which."""
        return self.module.partition(".")[0], self.target.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


class Step(NamedTuple):
    """A function that a row of the table passes through, and what happens to it there."""

    file: str
    function: str
    text: str


class Walk(NamedTuple):
    """A command and the functions that it calls, in the order in which it first calls them."""

    command: str
    steps: tuple[Step, ...]


WALKS = (
    Walk(
        "sfumato search people.csv --roles roles.toml --require 'k_anonymity >= 5' --out release.csv",
        (
            Step("cli/search.py", "run", "Typer calls it with the options."),
            Step("core/metric.py", "parse_requirement", "`k_anonymity >= 5` becomes a metric and a bound."),
            Step(
                "core/roles.py",
                "Roles.read",
                "The roles file says which columns are identifiers, quasi-identifiers and sensitive.",
            ),
            Step("engines/sources.py", "read", "The file is opened, not loaded. The row is still on disk."),
            Step("search/full_domain.py", "optimal_generalization", "The search begins."),
            Step("search/problem.py", "pose", "It checks the roles against the columns, and asks for one count."),
            Step("core/table.py", "Table.count_within", "The table remembers what it has counted; this it has not."),
            Step(
                "engines/duckdb.py",
                "DuckTable.scan_within",
                "DuckDB groups the table by the quasi-identifiers. From here on the row is one of `n` equal tuples.",
            ),
            Step(
                "search/lattice.py",
                "Lattice.of",
                "Each quasi-identifier gets a ladder of coarser values; their product is the lattice.",
            ),
            Step("search/optimal.py", "explore", "Nodes are visited by a lower bound of their loss."),
            Step(
                "search/judge.py", "Judge.classes", "At a node the tuple falls into a class with all that look like it."
            ),
            Step(
                "metrics/privacy/k_anonymity.py",
                "k_anonymity",
                "The kernel of the metric looks at the sizes of the classes.",
            ),
            Step("search/full_domain.py", "release_of", "The best node becomes a release."),
            Step("search/judge.py", "Judge.recoding", "Each distinct tuple gets its released values, or is left out."),
            Step("publishing/staging.py", "publish", "The release is written under a hidden name."),
            Step("engines/duckdb.py", "DuckTable.write", "DuckDB recodes the rows and writes them, ours among them."),
            Step(
                "publishing/published_file.py", "read_published", "The written file is read again, as a stranger would."
            ),
            Step(
                "publishing/verification.py",
                "verify_release",
                "Every requirement is measured on what was written, not on what was meant.",
            ),
            Step("core/atomic_files.py", "rename_together", "Only now the file gets its name."),
        ),
    ),
    Walk(
        "sfumato attack release.csv --roles roles.toml --original people.csv --attack homogeneity",
        (
            Step("cli/attack.py", "run", "Typer calls it with the options."),
            Step(
                "core/roles.py", "Roles.read", "The roles say what the adversary may know and what they want to learn."
            ),
            Step("engines/sources.py", "read", "Release and original are opened."),
            Step(
                "attacks/homogeneity.py",
                "homogeneity",
                "The attack looks for classes in which all rows share one value.",
            ),
            Step(
                "core/release.py",
                "Release.evidence",
                "Evidence keeps each count of the release, so that the next attack need not count again.",
            ),
            Step(
                "core/classes.py",
                "Classes.from_counts",
                "Tuples become classes, each with how often it has which sensitive value. The row is in one of them.",
            ),
            Step(
                "cli/attack.py",
                "show",
                "What the adversary knew, how hard it was, how many rows fell, and what blind guessing gets.",
            ),
        ),
    ),
    Walk(
        "sfumato advise people.csv --roles roles.toml --to agreement --impact medium --workers 1 --refine 0 --formats md --out advice",
        (
            Step("cli/advise.py", "run", "The answers to two questions become a context."),
            Step("engines/sources.py", "read", "The file is opened."),
            Step("study/context.py", "Context.limits", "Recipient and impact give limits, each with its source."),
            Step(
                "profile/free_release.py",
                "check_free",
                "A column without a role that would give the row away stops the command.",
            ),
            Step("study/default_candidates.py", "candidates", "Mechanisms and parameters that can meet the limits."),
            Step("study/study.py", "Study.run", "Each candidate is made and measured."),
            Step("study/runner.py", "Bench.measure", "One candidate, from the table to its scores."),
            Step(
                "mechanisms/generalize_full_domain.py",
                "GeneralizeFullDomain.sanitize",
                "The mechanism counts the table and says what becomes of each tuple. The row stays where it is.",
            ),
            Step("metrics/__init__.py", "measure_available", "Each metric reads the counts of the release."),
            Step(
                "core/metric.py",
                "Metric.score",
                "A number with its unit, and whether it is exact, a bound or an estimate.",
            ),
            Step("study/study.py", "Study.point", "The scores become a point on the risk-utility map."),
            Step("study/result.py", "Result.frontier", "Points that no other beats on both axes."),
            Step("study/advice.py", "advice", "The recommendation with its reasons."),
            Step(
                "study/findings.py",
                "findings",
                "What was seen in the table and in the recommended release; the documents compute nothing.",
            ),
            Step("inspect/raw_risk.py", "raw_risk", "How many rows stand out before anything is done."),
            Step("inspect/subgroups.py", "subgroups", "Whether small groups pay more than others."),
            Step("inspect/audit.py", "audit", "Whether the release still makes sense beside its original."),
            Step("report/documents.py", "write_all", "The documents are drawn."),
            Step(
                "report/external.py",
                "external",
                "What may be shown to the recipient: no value of a row that is not released.",
            ),
        ),
    ),
)


def imports() -> Iterator[Import]:
    """Every import of one module of ours by another."""
    modules = {_module(path) for path in SOURCE.rglob("*.py")}
    for path in sorted(SOURCE.rglob("*.py")):
        module = _module(path)
        package = path.relative_to(SOURCE).parent.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for target in _targets(node, package, modules):
                yield Import(module, target, node.lineno)


def _module(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _targets(node: ast.AST, package: tuple[str, ...], modules: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name == "sfumato" or alias.name.startswith("sfumato."):
                yield alias.name.removeprefix("sfumato").removeprefix(".") or "__init__"
    elif isinstance(node, ast.ImportFrom):
        words = node.module.split(".") if node.module else []
        if node.level:
            words = [*package[: len(package) - node.level + 1], *words]
        elif words[0] == "sfumato":
            words = words[1:]
        else:
            return
        for alias in node.names:
            whole = ".".join([*words, alias.name])
            yield whole if whole in modules else ".".join(words) or "__init__"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := _PATH.fullmatch(node.value)):
        yield match[0].removeprefix("sfumato").strip(".")


def imports_by_string() -> list[str]:
    """Modules that import by a name in a text, or hang a room into a registry."""
    return [
        _module(path)
        for path in sorted(SOURCE.rglob("*.py"))
        if re.search(r"\b(import_module\b|__import__\b|hang\()", path.read_text(encoding="utf-8"))
    ]


def arrows() -> set[tuple[str, str]]:
    """Which room imports which other."""
    return {each.rooms for each in imports() if each.rooms[0] != each.rooms[1] and {*each.rooms} <= {*ROOMS}}


def page() -> str:
    """The text of architecture.md."""
    drawn = arrows()
    reach = {room: {b for a, b in drawn if a == room} for room in ROOMS}
    direct = [(a, b) for a in ROOMS for b in ROOMS if b in reach[a] and not any(b in reach[c] for c in reach[a])]
    lines = [
        "# Architecture",
        "",
        "`python docs/architecture.py` writes this page from the source; a test checks that it is current. A room imports only rooms",
        "above it in the table. The drawing leaves out an arrow where a longer way leads to the same room.",
        "",
        "```mermaid",
        "flowchart TD",
        *(f"    {a} --> {b}" for a, b in direct),
        "```",
        "",
        "| room | what it does | imports |",
        "|---|---|---|",
    ]
    for room in ROOMS:
        text = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
        lines.append(
            f"| {room} | {text.splitlines()[0]} | {', '.join(other for other in ROOMS if other in reach[room])} |"
        )
    lines += [
        "",
        "## A row's way through the house",
        "",
        "Each walk names functions in the order in which they are first called; a test follows them.",
        "",
    ]
    for walk in WALKS:
        lines += [f"### {walk.command.split()[1]}", "", "```sh", walk.command, "```", ""]
        lines += [f"{i}. `{step.file}` `{step.function}`: {step.text}" for i, step in enumerate(walk.steps, 1)]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    (HERE / "architecture.md").write_text(page(), encoding="utf-8")
    print(HERE / "architecture.md")
