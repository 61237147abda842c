"""The words of a report in plain language, for the documents and for `sfumato explain`."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "adversary": "Anyone who has the release and tries to learn what they should not: who someone is, or something about them.",
    "baseline": "How often an adversary who never saw the release is right. Success above the baseline is due to the release.",
    "bound": "A number on the cautious side: the true value is not worse. If a bound meets a limit, the true value meets it too.",
    "candidate": "One way to make the release: a mechanism with its parameters, or a file made elsewhere.",
    "class": "All released rows with the same quasi-identifiers. Nobody can tell the people in one class apart by these columns.",
    "control": "The same attack on people who are not in the release. What also works on them is a fact about people in general.",
    "context risk": "How likely it is that someone who has the release tries to identify a person. It is 1 for a public release.",
    "data risk": "How likely an attempt is to succeed, judged by the data alone. Data risk times context risk is the overall risk.",
    "dominate": (
        "A candidate dominates another if it is no worse on both axes of the map and better on at least one. There is then no reason "
        "to take the other."
    ),
    "equal and ordered": (
        "Two ways to measure the distance between sensitive values: all equally far apart, or farther apart the more values lie "
        "between them."
    ),
    "estimate": (
        "A number measured on a sample or by random draws. It comes with an interval; for 95 of 100 such samples, the interval "
        "contains the true value."
    ),
    "exact": "A number counted over all rows. Nothing in it is due to chance.",
    "frontier": "The candidates that no other candidate dominates. A good choice lies on it.",
    "generalize": "Replace a value by a coarser one that contains it: an age by a range, a town by its region.",
    "hierarchy": "Which coarser values a column's values belong to, level by level.",
    "identifier": (
        "A column that identifies a person by itself, such as a name or a social security number. It is removed from every release."
    ),
    "ILoss": (
        "The share of a column's possible values that a released value covers in addition to the true one, from 0 (as precise as the original) to nearly 1 "
        "(any value is possible)."
    ),
    "inference": "Learning one column of a person from other columns that are known. One of WP29's three tests.",
    "insensitive": "A column that adversaries do not know and that does no harm if they learn it.",
    "interval": "A range around an estimate. For 95 of 100 samples, the range contains the true value.",
    "journalist": "An adversary who has a list of the population and looks for anyone's row without knowing who is in the release.",
    "k-anonymity": (
        "Every class has at least k rows. Someone who knows a person's quasi-identifiers is left with at least k rows to choose from."
    ),
    "knee": (
        "The point of the frontier farthest below the straight line between its ends, with both axes scaled to 0-1. Before the knee, "
        "less risk costs little utility; beyond it, much."
    ),
    "l-diversity": "Every class contains several sensitive values, so finding a person's class does not reveal the value.",
    "linkability": "Joining two sources about one person through the release. One of WP29's three tests.",
    "marketer": "An adversary who tries to identify everyone and cares only about the share of right guesses.",
    "mechanism": "A published method, with parameters, that makes a release from a table.",
    "minimal unique": (
        "A set of columns on which a record is alone, although it is not alone on any smaller part of the set. The fewer columns, the "
        "easier it is to find the record."
    ),
    "motivated intruder": "Someone without special skills who wants to identify a person, uses means that anyone has, and makes the effort.",
    "perturb": "Change values by noise, swapping or chance. A released value may differ from the true one.",
    "prosecutor": "An adversary who knows that a particular person is in the release and knows all quasi-identifiers of that person.",
    "quasi-identifier": "A column that others may know about a person, such as age or town. Several together can point to one person.",
    "release": "The table that is published or handed to recipients.",
    "requirement": "A measure with a limit, such as k_anonymity >= 5. A release either meets it or does not.",
    "riskiest combination": (
        "A record that stands out most, described by the fewest columns on which it is alone. Values are masked unless the owner asks "
        "for them."
    ),
    "robustness": "Whether the recommended candidate would still be chosen if risk or utility were measured differently.",
    "sensitive": "A column whose value nobody should learn about a person, such as an illness or a salary.",
    "singling out": "Describing a person so that the description fits nobody else. One of WP29's three tests.",
    "suppress": "Leave a row out, or replace a value by *, which says nothing.",
    "t-closeness": "In every class the sensitive values are distributed nearly as in the whole table, so the class reveals little.",
    "uniques": "Rows that are alone in their class.",
    "utility": "How useful the release still is, as a number.",
    "WP29": (
        "The Article 29 Working Party of the European data protection authorities. Its Opinion 05/2014 asks whether singling out, "
        "linkability and inference are still possible after any technique."
    ),
}


def define(word: str) -> tuple[str, str] | None:
    """A word of the glossary and its definition, whatever its case and whether it is the plural."""
    wanted = _folded(word)
    for name, said in WORDS.items():
        if _folded(name) in (wanted, wanted.removesuffix("s"), wanted.removesuffix("es")):
            return name, said
    return None


def _folded(text: str) -> str:
    return text.casefold().replace("-", " ").replace("_", " ").strip()
