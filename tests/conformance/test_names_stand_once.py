"""One file adds a metric, a mechanism or an attack everywhere: nothing else in the package keeps its name as a text.

Other rooms read cards, or import the one measure that they mean. A sentence may name an item (`see marketer_risk`); a text that is
nothing but a name, a requirement or a candidate may not, except where a reason is given below.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import sfumato
from sfumato import attacks, mechanisms, metrics

SRC = Path(sfumato.__file__).parent
ALLOWED = {
    "study/context.py": "presets cite a guidance and its limits, word for word",
    "cli/search_cuts.py": "the default of an option, and a key of JSON",
    "cli/frontier.py": "the default of an option",
    "cli/inspect/scale.py": "the default of an option",
    "metrics/group_distances.py": "refuses in the name of the metric that it computes for",
    "cli/design.py": "a channel's name in JSON",
    "cli/channel.py": "a key of JSON",
    "cli/inspect/leakage.py": "keys of JSON",
    "channel/summary.py": "a key of JSON",
    "channel/laboratory.py": "a channel's name in a table",
    "inspect/leakage.py": "keys of JSON",
    "inspect/raw_risk.py": "a key of JSON",
    "inspect/subgroups.py": "how a loss was measured, in JSON",
    "inspect/default_metrics.py": "WP29's three tests, each an attack",
    "study/inference.py": "the score of an attack, looked up by its text",
    "report/figures.py": "a channel's name in a figure",
    "reproduce/afifi.py": "what the paper minimises and prints",
    "reproduce/bezzi.py": "what the paper minimises",
    "mechanisms/k_member.py": "a choice of a parameter",
    "mechanisms/partition/clusters.py": "a choice of a parameter",
    "mechanisms/permute_within_groups.py": "a choice of a parameter",
    "attacks/knowledge/assignments.py": "the attack that it helps, in an error",
    "attacks/knowledge/two_releases.py": "the attack that it helps, in an error",
    "attacks/lookup/outsiders.py": "the attack that it helps, in an error",
    "report/glossary.py": "words that are explained",
    "report/pdf.py": "a word of the typesetter",
    "search/full_domain.py": "the mechanism lies in a room below",
    "search/judge.py": "the mechanism lies in a room below",
}
HOMES = {metric.card.name: name for name, attack in attacks.registry().items() for metric in attack.metrics}
"""The file of a metric that is a number of an attack; any other item stands in a file of its own name."""
_NAMES = "|".join(sorted({*metrics.registry(), *mechanisms.registry(), *attacks.registry()}, key=len, reverse=True))
_ITEM = re.compile(rf"-?({_NAMES})(\[[^\]]*\])?(\([^)]*\)?)?(\s*(>=|<=)\s*[\d./]*)?(\s+\w+=.*)?\s*", re.DOTALL)


def names_in(path: Path) -> list[str]:
    """The items that a file names in texts which are nothing but such a name, its own and its docstrings aside."""
    tree = ast.parse(path.read_text("utf-8"))
    bodies = [body for node in ast.walk(tree) if isinstance(body := getattr(node, "body", None), list)]
    documents = {id(line.value) for body in bodies for line in body if isinstance(line, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents
    ]
    return [
        match[1] for text in texts if (match := _ITEM.fullmatch(text)) and HOMES.get(match[1], match[1]) != path.stem
    ]


def test_names_stand_in_their_own_files() -> None:
    named = {str(path.relative_to(SRC)): names for path in sorted(SRC.rglob("*.py")) if (names := names_in(path))}
    unexpected = {path: names for path, names in named.items() if path not in ALLOWED}
    assert not unexpected, "ask the card, or import the metric or mechanism that is meant"
    assert set(ALLOWED) <= set(named), "these no longer need a reason"


def test_a_list_of_names_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "other.py"
    path.write_text(
        '"""k_anonymity."""\nUSUAL = ("k_anonymity", "t_closeness[equal]", f"iloss <= {1}")\nSAY = "see k_map."\n'
    )
    assert names_in(path) == ["k_anonymity", "t_closeness", "iloss"]
    path.write_text('GRID = ("mondrian k=5", "-mutual_information(ill)")\n')
    assert names_in(path) == ["mondrian", "mutual_information"]
    own = tmp_path / "iloss.py"
    own.write_text('NAME = "iloss"\n')
    assert names_in(own) == []
