"""Write what is generated: a page per metric, mechanism and attack from the cards, a page per guidance from its preset, the glossary from the
words of the reports, the command line from its help, the package's type stub.

    .venv/bin/python docs/build.py

A test builds them again and compares, so that a page cannot say anything else than the code.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def pages() -> dict[str, str]:
    """Everything generated, by its path from docs/."""
    return {
        **card_pages(),
        **guidance_pages(),
        "glossary.md": glossary(),
        "cli.md": command_line(),
        "../src/sfumato/__init__.pyi": stub(),
    }


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


def guidance_pages() -> dict[str, str]:
    """A page for each preset: what the guidance asks, what Sfumato holds a release against, what it leaves to the owner; and for the two answers."""
    from sfumato.study.context import OVERALL, PRESETS, WP29, Context

    written = {name: preset_page(name, Context(preset=name)) for name in (*PRESETS, *OVERALL)}
    written[WP29], written["two-answers"] = wp29_page(), answers_page()
    index = [
        "# Guidance",
        "",
        "What laws, regulators and offices ask of a release, and what Sfumato holds it against. `sfumato advise --preset NAME` takes the limits",
        "of one; without a preset, [two answers](two-answers.md) give them. Written from the presets themselves.",
        "",
        "| preset | limits | source |",
        "|---|---|---|",
    ]
    for name in (*PRESETS, *OVERALL):
        limits = Context(preset=name).limits
        held = ", ".join(f"`{limit.text}`" for limit in limits)
        index.append(f"| [{name}]({name}.md) | {held} | {'; '.join(dict.fromkeys(limit.source for limit in limits))} |")
    index.append(f"| [{WP29}]({WP29}.md) | three tests, and the limits of the two answers | WP29, Opinion 05/2014 |")
    return {f"guidance/{name}.md": text for name, text in (*written.items(), ("README", "\n".join([*index, ""])))}


def preset_page(name: str, context: Any) -> str:
    """One preset."""
    from sfumato.study.decision import by_hand, limit_in_words

    lines = [
        f"# {name}",
        "",
        f"`sfumato advise people.csv --roles roles.toml --preset {name}`",
        "",
        "## What it asks",
        "",
    ]
    lines += [f"- {limit.sentence}" for limit in context.limits]
    lines += ["", "## What Sfumato holds a release against", "", "| limit | in words | source |", "|---|---|---|"]
    for limit in context.limits:
        card = limit.requirement.metric.card
        words = limit_in_words(limit.requirement)
        lines.append(f"| [`{limit.text}`](../metrics/{card.name}.md) | {words} | {limit.source} |")
    lines += [
        "",
        "The limits are measured on the written file. The page of each measure says against whom it holds.",
        "",
    ]
    if left := list(by_hand(context)):
        lines += [
            "## What it leaves to you",
            "",
            "Each is an open point on the decision sheet, with a line for the reason why it is settled.",
            "",
        ]
        lines += [*(f"- {text}" for text in left), ""]
    return "\n".join(lines)


def wp29_page() -> str:
    """The tests of Opinion 05/2014, from the cards of the attacks that play them."""
    from sfumato.attacks import wp29_tests
    from sfumato.study.context import WP29

    lines = [
        f"# {WP29}",
        "",
        f"`sfumato advise people.csv --roles roles.toml --preset {WP29} --to public --impact medium`",
        "",
        "Opinion 05/2014 of the Article 29 Working Party asks of any technique whether singling out, linkability and inference are still possible.",
        "It names no limits, so these come from the [two answers](two-answers.md). Sfumato plays each test as an attack on every candidate. A test",
        "counts as an open point of the decision where it works better than on people who are not in the release, or than guessing.",
        "",
        "| test | asks | how |",
        "|---|---|---|",
    ]
    for attack in wp29_tests():
        card = attack.card
        lines.append(f"| [{card.title}](../attacks/{card.name}.md) | {card.question} | {card.how} |")
    return "\n".join([*lines, ""])


def answers_page() -> str:
    """The limits that follow from who receives a release and how bad a disclosure would be."""
    from sfumato.core.words import percent
    from sfumato.study.context import ACQUAINTANCES, INSIDER, IPC, LIMIT, QUESTIONS, Context

    lines = ["# Two answers", "", "`sfumato advise people.csv --roles roles.toml --to public --impact medium`", ""]
    for name, question in (("to", "Who will receive the data?"), ("impact", "How much harm would a disclosure do?")):
        lines += [
            f"**{question}**",
            "",
            *(f"- `--{name} {key}`: {words}" for key, words in QUESTIONS[name].items()),
            "",
        ]
    lines += [
        "The impact gives the overall risk that may be taken: "
        + ", ".join(f"{name} {risk:g}" for name, risk in LIMIT.items())
        + ".",
        "A public release must assume that someone tries. Otherwise the chance that a recipient tries depends on their controls and motives:",
        "",
        "| controls | low motives | medium motives | high motives |",
        "|---|---|---|---|",
        *(f"| {grade} | {' | '.join(percent(share) for share in shares)} |" for grade, shares in INSIDER.items()),
        "",
        f"If it is larger, the chance that one of {ACQUAINTANCES} acquaintances is in the table counts instead (`--fraction`), or that of a breach",
        "(`--breach`). The overall risk divided by that chance is what the data may carry.",
        "",
        "| to | impact | limits |",
        "|---|---|---|",
    ]
    for to in ("public", "agreement", "onsite"):
        for impact in ("low", "medium", "high"):
            held = ", ".join(f"`{limit.text}`" for limit in Context(to=to, impact=impact).limits)
            lines.append(f"| {to} | {impact} | {held} |")
    lines += [
        "",
        "Motives are medium here, and controls are, too, except on site, where they are high. Where a release is public and the impact high, each sensitive column is limited too: no value may",
        "make up more than 90% of a group (`alpha_anonymity`; ESSnet SDC 2010, group disclosure).",
        "",
        f"Source: {IPC}.",
        "",
    ]
    return "\n".join(lines)


def glossary() -> str:
    """The words of the reports, which `sfumato explain` knows, too."""
    from sfumato.report.glossary import WORDS

    lines = ["# Glossary", "", "The words that reports and pages use. `sfumato explain WORD` prints the same.", ""]
    for word, meaning in sorted(WORDS.items(), key=lambda each: each[0].casefold()):
        lines += [f"**{word}**: {meaning}", ""]
    return "\n".join(lines)


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
    for folder in ("metrics", "mechanisms", "attacks", "guidance"):
        (HERE / folder).mkdir(exist_ok=True)
        for old in (HERE / folder).glob("*.md"):
            if f"{folder}/{old.name}" not in made:
                old.unlink()
    for path, text in made.items():
        (HERE / path).write_text(text, encoding="utf-8")
    print(f"{len(made)} pages in {HERE}")


if __name__ == "__main__":
    main()
