"""The words of a report in plain language, for the documents and for `sfumato explain`."""

from __future__ import annotations

from collections.abc import Iterable

WORDS: dict[str, str] = {
    "adversary": "Anyone who has the release and tries to learn from it what they should not: who somebody is, or what is true of them.",
    "baseline": "How often an adversary is right who never saw the release. What lies above it is due to the release.",
    "bound": "A number that the true one does not exceed on the risky side. It is as good as measured where it meets a limit.",
    "candidate": "One way to make the release: a mechanism with its parameters, or a file made elsewhere.",
    "class": "All released rows that look the same in every quasi-identifier. Nobody can tell the people of one class apart by them.",
    "control": "The same attack against people who are not in the release. What works on them too is a fact about people in general.",
    "context risk": "How likely it is that someone who has the release tries to identify anybody. It is 1 for a public release.",
    "data risk": "How likely an attempt succeeds, going by the data alone. Data risk times context risk is the overall risk.",
    "dominate": "A candidate dominates another if it is at least as good on both axes of the map and better on one: there is no reason to take the other.",
    "equal and ordered": "Two ways to take the distance between sensitive values: all equally far apart, or further the more values lie between.",
    "estimate": "A number found on a sample or by chance draws. It comes with an interval in which the true one lies in 95 of 100 such samples.",
    "exact": "A number counted over all rows: nothing in it is due to chance.",
    "frontier": "The candidates that no other candidate dominates. A good choice lies on it.",
    "generalize": "Replace a value by a coarser one that contains it: an age by a range, a town by its region.",
    "hierarchy": "Which coarser values a column's values belong to, level by level.",
    "identifier": "A column that names a person by itself, such as a name or a number. It is removed from every release.",
    "ILoss": "How much of its domain a released value leaves open besides the true one, from 0 (as precise as it was) to nearly 1 (everything is possible).",
    "inference": "Learning one column of a person from others that are known. One of WP29's three tests.",
    "insensitive": "A column that is neither known to adversaries nor harmful if it becomes known.",
    "interval": "The range in which an estimated number lies in 95 of 100 samples.",
    "journalist": "An adversary who has a list of the population and looks for anybody's row, without knowing who is in the release.",
    "k-anonymity": "Every class has at least k rows, so that who knows a person's quasi-identifiers is left with k rows at least.",
    "knee": "The point of the frontier that is farthest below the straight line between its ends, both axes stretched to 0-1: before it, less risk costs little utility; behind it, much.",
    "l-diversity": "Every class holds several sensitive values, so that finding the class does not tell the value.",
    "linkability": "Joining two sources about one person through the release. One of WP29's three tests.",
    "marketer": "An adversary who tries to identify everybody and is content with the share that comes out right.",
    "mechanism": "A published way to make a release out of a table, with parameters.",
    "minimal unique": "A set of columns on which a record is alone, and on no part of which it is. The fewer columns, the easier the record is found.",
    "motivated intruder": "Somebody without special skills who wants to identify a person, has the means that anybody has, and takes the trouble.",
    "perturb": "Change values by noise, swapping or chance, so that a released value need not be the true one.",
    "prosecutor": "An adversary who knows that a certain person is in the release, and all quasi-identifiers of that person.",
    "quasi-identifier": "A column that others may know of a person, such as age or town. Several together can point to one person.",
    "release": "The table that may leave the house.",
    "requirement": "A measure and a limit, such as k_anonymity >= 5. A release meets it or does not.",
    "riskiest combination": "A record that stands out most, told by the fewest columns on which it is alone. Values are masked unless the owner asks for them.",
    "robustness": "Whether the recommended candidate would also be chosen if risk or utility were measured otherwise.",
    "sensitive": "A column whose values nobody should learn of a person, such as an illness or a salary.",
    "singling out": "Describing a person so that the description fits nobody else. One of WP29's three tests.",
    "suppress": "Leave a row out, or replace a value by * so that it says nothing.",
    "t-closeness": "The sensitive values of every class are spread nearly as in the whole table, so that the class tells little.",
    "uniques": "Rows that are alone in their class.",
    "utility": "What the release is still good for, as a number.",
    "WP29": "The Article 29 Working Party, the European data protection authorities. Its Opinion 05/2014 asks of any technique whether singling out, linkability and inference are still possible.",
}


def define(word: str) -> tuple[str, str] | None:
    """A word of the glossary and its definition, whatever its case and whether it is the plural."""
    wanted = _folded(word)
    for name, said in WORDS.items():
        if _folded(name) in (wanted, wanted.removesuffix("s"), wanted.removesuffix("es")):
            return name, said
    return None


def defined(texts: Iterable[str]) -> list[tuple[str, str]]:
    """The words of the glossary that stand in texts."""
    spoken = _folded(" ".join(texts))
    return [(name, said) for name, said in WORDS.items() if _folded(name) in spoken]


def _folded(text: str) -> str:
    return text.casefold().replace("-", " ").replace("_", " ").strip()
