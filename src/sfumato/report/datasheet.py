"""The data sheet for the users of a release: what each column holds now, how to work with it, what not to conclude, and a small example.

It goes into the package, so it is made from the released table and the roles that go with it, and from nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from ..core.formulas import neutralised_text
from ..core.release import Release
from ..core.roles import Roles
from .document import Block, Bullets, Code, Document, Grid, Heading, Paragraph, Text, code

RANGE = re.compile(r"^[\[(]\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*[\])]$")
"""A released range of numbers such as [20,29]."""
HALF = re.compile(r"^(<|<=|≤|>|>=|≥)\s*-?\d")
PYTHON = """import csv

rows = list(csv.DictReader(open("release.csv", encoding="utf-8", newline="")))
column, low, high = {column}, {low}, {high}


def share(label):
    "How much of a released label lies between low and high, its rows spread evenly; None where nothing is known."
    try:
        parts = [float(part) for part in label.strip("[](){{}} ").split(",")]
    except ValueError:
        return None
    if label.startswith("{{") or len(parts) < 2:  # a set, or a single value
        return sum(low <= part <= high for part in parts) / len(parts)
    a, b = parts[:2]
    return max(0.0, min(b, high) - max(a, low)) / (b - a) if b > a else float(low <= a <= high)


shares = [share(row[column]) for row in rows]
known = [s for s in shares if s is not None]
print(f"about {{sum(known):.1f}} of {{len(known)}} rows with a known value lie between {{low}} and {{high}}")
print(f"{{len(rows) - len(known)}} rows are open on one side or hold no number, and are not counted")
"""
R = """rows <- read.csv("release.csv", colClasses = "character", check.names = FALSE, na.strings = NULL)
column <- {column}; low <- {low}; high <- {high}
share <- vapply(rows[[column]], function(label) {{
  parts <- suppressWarnings(as.numeric(strsplit(gsub("[][(){{}} ]", "", label), ",", fixed = TRUE)[[1]]))
  if (!length(parts) || anyNA(parts)) return(NA_real_)
  if (startsWith(label, "{{") || length(parts) < 2) return(mean(low <= parts & parts <= high))
  a <- parts[1]; b <- parts[2]
  if (b > a) max(0, min(b, high) - max(a, low)) / (b - a) else as.numeric(low <= a & a <= high)
}}, numeric(1))
cat(sprintf("about %.1f of %d rows with a known value lie between %g and %g\\n", sum(share, na.rm = TRUE), sum(!is.na(share)), low, high))
"""
COUNT_PYTHON = """import collections, csv

rows = csv.DictReader(open("release.csv", encoding="utf-8", newline=""))
print(collections.Counter(row[{column}] for row in rows).most_common(5))
"""
COUNT_R = """rows <- read.csv("release.csv", colClasses = "character", check.names = FALSE, na.strings = NULL)
print(head(sort(table(rows[[{column}]]), decreasing = TRUE), 5))
"""


def datasheet(release: Release, roles: Roles, treatments: Mapping[str, str], title: str | None) -> Document:
    """The sheet on a released table, with what was done to each column in words."""
    from .. import __version__

    holds = {name: list(_holds(release, name)) for name in release.table.columns}
    rows: list[list[Text]] = [
        [code(name), treatments.get(name, "not known"), "; ".join(parts)] for name, parts in holds.items()
    ]
    blocks: list[Block] = [
        Heading("What each column holds"),
        Grid(["column", "what was done to it", "what its values look like now"], rows),
        Heading("How to work with it"),
        Bullets(list(_how(release, holds))),
        Heading("What not to conclude"),
        Bullets(
            [
                "A difference between two groups that is smaller than the width of the released ranges may come from the ranges alone.",
                "A row is not a person whom you may look up. Its quasi-identifiers are shared with others on purpose.",
                "Rows that were left out are not missing at random: rare people are left out first, so small groups look smaller than they are.",
                "A relation between two columns that were both made coarser is weaker here than it was. Its absence shows nothing.",
            ]
        ),
        *_examples(release),
    ]
    name = f"Data sheet: {title}" if title else "Data sheet"
    footer = f"Written by Sfumato {__version__} from release.csv. A missing value is an empty cell and counts as a value of its own."
    return Document(name, "For those who work with the release.", blocks, footer)


def _texts(release: Release, name: str) -> list[str]:
    return [text for text in release.table.count((name,)).columns[0].texts if text is not None]


def _holds(release: Release, name: str) -> Iterator[str]:
    texts = _texts(release, name)
    spans = sum(RANGE.match(text) is not None for text in texts)
    stars = sum(text == "*" for text in texts)
    halves = sum(HALF.match(text) is not None for text in texts)
    sets = sum(text.startswith("{") and text.endswith("}") for text in texts)
    if spans:
        yield "ranges of numbers: [a,b] has both ends, [a,b) has not the second"
    if sets:
        yield "sets: {a,b} is one of the values in it, and which one is not told"
    if halves:
        yield "ranges open on one side: <24, >=79; where they end is not told"
    if stars:
        yield "* says nothing"
    if len(texts) > spans + stars + sets + halves:
        yield "single values or labels" if name not in release.perturbed else "single values that are not the true ones"


def _how(release: Release, holds: Mapping[str, list[str]]) -> Iterator[str]:
    kinds = " ".join(part for parts in holds.values() for part in parts)
    if "ranges" in kinds:
        yield "To count over a range, spread the rows of each released range evenly over it, as the example does. Its middle is a fair value for a mean, and too narrow for a spread."
    if "sets" in kinds:
        yield "To count one value, give each value of a set the same part of its rows, or count the set in full and none of it for a lower and an upper bound."
    if "* says" in kinds:
        yield "Leave rows with * out of questions about that column, and say how many they are."
    if release.perturbed:
        yield "Columns that were perturbed are right on average, not row by row. Correct for the noise where the method tells how large it is."
    yield "State in what you publish that the data were sanitized, and by which method; the note and README.md name it."


def _examples(release: Release) -> Iterator[Block]:
    plain = [
        name for name in release.table.columns if neutralised_text(name) == name
    ]  # else the file may spell it otherwise
    for name in plain:
        ends = [
            [float(end) for end in found.groups()] for text in _texts(release, name) if (found := RANGE.match(text))
        ]
        if ends:
            low, high = min(end[0] for end in ends), max(end[1] for end in ends)
            third = low + (high - low) / 3
            given = {"column": json.dumps(name), "low": f"{low:g}", "high": f"{third:.4g}"}
            yield Heading("An example")
            yield Paragraph("How many rows lie between two numbers, with released ranges spread evenly. In Python:")
            yield Code(PYTHON.format(**given))
            yield Paragraph("In R:")
            yield Code(R.format(**given))
            return
    if plain:
        given = {"column": json.dumps(plain[0])}
        yield Heading("An example")
        yield Paragraph("The most frequent released values of a column. In Python:")
        yield Code(COUNT_PYTHON.format(**given))
        yield Paragraph("In R:")
        yield Code(COUNT_R.format(**given))
