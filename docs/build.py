"""Write what is generated: a page per metric, mechanism and attack from the cards, the command line from its help, the package's type stub.

    .venv/bin/python docs/build.py

A test builds them again and compares, so that a page cannot say anything else than the code.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
from pathlib import Path

HERE = Path(__file__).parent


def pages() -> dict[str, str]:
    """Everything generated, by its path from docs/."""
    return {**card_pages(), "cli.md": command_line(), "../src/sfumato/__init__.pyi": stub()}


def card_pages() -> dict[str, str]:
    """A page for each metric, mechanism and attack, installed packages' too, and their indices."""
    import sfumato as sf
    from sfumato.core.mechanism import DRAWS
    from sfumato.core.metric import spell_number
    from sfumato.mechanisms import registry as mechanisms

    found: dict[str, str] = {}
    index = [
        "# Metrics",
        "",
        "One page each, written from the metric's card. `sfumato explain NAME` prints the same.",
        "",
    ]
    for about, title in (("privacy", "What a release gives away"), ("utility", "What a release is worth")):
        index += [f"## {title}", "", "| metric | asks | better | unit |", "|---|---|---|---|"]
        for name, metric in sf.registry().items():
            card = metric.card
            if card.about != about:
                continue
            index.append(f"| [{name}]({name}.md) | {card.question} | {card.better} | {card.unit} |")
            low, high = card.bounds
            written = [str(variant) for variant in metric.variants()]
            samples = [v for v in (low, 0.05, 0.2, 0.5, 1, 2, 5, 100, high) if math.isfinite(v) and low <= v <= high]
            if card.unit in ("rows", "values", "pairs of rows"):
                samples = [v for v in samples if float(v).is_integer()]
            sentences = dict.fromkeys((spell_number(v), card.sentence(v)) for v in samples)
            found[f"metrics/{name}.md"] = "\n".join(
                [
                    f"# {card.title}",
                    "",
                    f"**{card.question}**",
                    "",
                    card.definition,
                    "",
                    f"- written: {', '.join(f'`{text}`' for text in written)}",
                    f"- about {card.about}; {card.better} is better",
                    f"- unit: {card.unit}; from {spell_number(low)} to {spell_number(high)}",
                    f"- merging classes never makes it worse: {'yes' if card.monotone else 'no'}",
                    f"- needs: {', '.join(sorted(card.needs)) or 'the release and the roles only'}",
                    f"- source: {card.source}",
                    "",
                    f"**When it misleads.** {card.misleads}",
                    "",
                    *([f"**How it is gamed.** {card.gamed}", ""] if card.gamed else []),
                    "| value | in words |",
                    "|---|---|",
                    *(f"| {value} | {sentence} |" for value, sentence in sentences),
                    "",
                ]
            )
        index.append("")
    found["metrics/README.md"] = "\n".join(index)
    shelf = [
        "# Mechanisms",
        "",
        "One page each, written from the mechanism's card. `sfumato mechanisms` prints the same.",
        "",
    ]
    for name, mechanism in mechanisms().items():
        card = mechanism.card
        shelf.append(f"- [{name}]({name}.md): {card.title}")
        lines = [f"# {card.title}", "", f"`--mechanism {name}`", ""]
        lines += [
            f"- promises: {card.promise}",
            f"- against: {card.against}",
            f"- costs: {card.cost}",
            f"- chance: {DRAWS[card.chance]}",
            f"- source: {card.source}",
        ]
        lines += [
            "",
            "| parameter | meaning |",
            "|---|---|",
            *(f"| `{key}` | {text} |" for key, text in card.parameters.items()),
            "",
        ]
        found[f"mechanisms/{name}.md"] = "\n".join(lines)
    found["mechanisms/README.md"] = "\n".join([*shelf, ""])
    return {**found, **attack_pages()}


def attack_pages() -> dict[str, str]:
    """A page for each attack, and their index."""
    from sfumato.attacks import registry
    from sfumato.core.metric import spell_number

    index = [
        "# Attacks",
        "",
        "One page each, written from the attack's card. `sfumato explain NAME` prints the same.",
        "",
    ]
    index += ["| attack | asks | needs |", "|---|---|---|"]
    written: dict[str, str] = {}
    for name, attack in registry().items():
        card = attack.card
        needs = ", ".join(sorted(card.needs)) or "the release and the roles only"
        index.append(f"| [{name}]({name}.md) | {card.question} | {needs} |")
        lines = [f"# {card.title}", "", f"**{card.question}**", "", card.how, ""]
        lines += [
            f"- `sfumato attack --attack {name}`, `sf.{name}(release, roles)`",
            f"- the adversary knows: {card.knows}",
            f"- effort: {card.effort}",
            f"- needs: {needs}",
            *([f"- a test of WP29's Opinion 05/2014: {card.wp29[1]}"] if card.wp29 else []),
            *(f"- as a metric: [{m.card.name}](../metrics/{m.card.name}.md)" for m in attack.metrics),
            f"- source: {card.source}",
            "",
            card.definition,
            "",
            f"**When it misleads.** {card.misleads}",
            "",
        ]
        lines += [f"| {card.unit} | in words |", "|---|---|"]
        lines += [f"| {spell_number(value)} | {card.sentence(value)} |" for value in (0, 0.05, 0.5, 1)]
        if attack.takes:
            lines += ["", "| parameter | meaning |", "|---|---|"]
            lines += [f"| `{key}` | {text} |" for key, text in attack.takes.items()]
        written[f"attacks/{name}.md"] = "\n".join([*lines, ""])
    return {**written, "attacks/README.md": "\n".join([*index, ""])}


def command_line() -> str:
    """The help of every verb, as a terminal of 100 columns shows it."""
    from unittest.mock import patch

    import typer

    from sfumato.cli import app
    from sfumato.cli.group import verbs

    lines = ["# Command line", "", "What `--help` prints.", ""]
    plain = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    command = typer.main.get_command(app)
    words = [verb.split() for verb in verbs(app)]
    for verb in dict.fromkeys(["", *(" ".join(each[:length]) for each in words for length in (1, 2))]):
        printed = io.StringIO()
        with patch.dict(os.environ, plain), contextlib.redirect_stdout(printed):
            command([*verb.split(), "--help"], prog_name="sfumato", standalone_mode=False)
        text = "\n".join(line.rstrip() for line in printed.getvalue().strip("\n").splitlines()).strip("\n")
        lines += [f"## sfumato {verb}".rstrip(), "", "```text", text, "```", ""]
    return "\n".join(lines)


def stub() -> str:
    """The public names of the package with their homes, for type checkers and editors: the package itself loads them when first used."""
    import sfumato as sf

    homes = {name: f".{home}" for name, home in sf._HOME.items()}
    for name in set(sf.__all__) - {*homes, "__version__"}:
        value = getattr(sf, name)
        home = getattr(value, "kernel", getattr(value, "play", value))
        homes[name] = home.__module__.removeprefix("sfumato")
    imports = [
        f"from {home} import {name} as {name}" for home, name in sorted((home, name) for name, home in homes.items())
    ]
    return "\n".join(
        [
            '"""Written by docs/build.py: the public names, for type checkers and editors."""',
            "",
            *imports,
            "",
            "__version__: str",
            "",
        ]
    )


def main() -> None:
    """Write them, and remove pages whose metric is gone."""
    made = pages()
    for folder in ("metrics", "mechanisms", "attacks"):
        (HERE / folder).mkdir(exist_ok=True)
        for old in (HERE / folder).glob("*.md"):
            if f"{folder}/{old.name}" not in made:
                old.unlink()
    for path, text in made.items():
        (HERE / path).write_text(text, encoding="utf-8")
    print(f"{len(made)} pages in {HERE}")


if __name__ == "__main__":
    main()
