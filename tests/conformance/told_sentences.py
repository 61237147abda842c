"""Every sentence about a table, its risk, a release and a study, by its shape, and whether it is true: recounted from the rows in plain code.

The family is closed: a sentence that no shape here takes fails the test, so whoever writes a new one says here what it claims. A text
that is written out in the source and claims nothing about the data (no number, no "all", "no", "never") explains, and is taken as it is.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import math
import re
import statistics
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from sentence_checks import ABSOLUTE
from told_tables import Row, World, alone, classes, groups

import sfumato
from sfumato.attacks.homogeneity import homogeneity
from sfumato.mechanisms import registry as mechanisms
from sfumato.metrics import registry as metrics
from sfumato.report import glossary

Match = re.Match[str]
Check = Callable[[World, Match], None]

SHAPES: list[tuple[re.Pattern[str], Check]] = []
N = r"(\d+(?:,\d{3})*)"
P = r"((?:less than |more than )?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?)"
RATE = rf"{P}%(?: \[{P}%, {P}%\])?"
LAST = r"(?=$| (?=[A-Z✓✗]))"


def says(pattern: str) -> Callable[[Check], Check]:
    """Register what a shape claims."""

    def keep(check: Check) -> Check:
        SHAPES.append((re.compile(pattern), check))
        return check

    return keep


def number(text: str) -> float:
    return float(text.replace(",", "").removeprefix("less than ").removeprefix("more than "))


def whole(text: str) -> int:
    return int(text.replace(",", ""))


def near(text: str, share: float) -> None:
    """A share in percent is rounded to three digits, and never to none or all."""
    x, truth = number(text), 100 * share
    if text.startswith("less"):
        assert 0 < truth < x
    elif text.startswith("more"):
        assert x < truth < 100
    else:
        assert abs(x - truth) <= 0.006 * max(abs(truth), 1e-6), (text, truth)
        assert (x == 0) == (truth == 0), (text, truth)
        assert (x == 100) == (abs(truth - 100) < 1e-9), (text, truth)


def close(text: str, value: float) -> None:
    """A number to three digits."""
    assert abs(number(text) - value) <= 0.006 * max(abs(value), 1e-9) + 1e-12, (text, value)


def one_valued(rows: Iterable[Row], quasi: Iterable[str], column: str) -> list[list[Row]]:
    """The classes in which everybody has the same value."""
    return [rows for rows in groups(rows, tuple(quasi)).values() if len({row[column] for row in rows}) == 1]


# --- what is no claim about the data -----------------------------------------------------------------------------------


@cache
def literals() -> frozenset[str]:
    """Texts that are written out in the rooms whose sentences are looked at."""
    found: set[str] = set()
    for room in ("report", "study", "attacks", "profile"):
        for path in (Path(sfumato.__file__).parent / room).rglob("*.py"):
            found |= {
                node.value
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
    return frozenset(found)


@cache
def cards() -> frozenset[str]:
    """What cards say: each is tested where it stands."""
    every = [m.card for m in metrics().values()] + [m.card for m in mechanisms().values()]
    found = {v for card in every for f in dataclasses.fields(card) if isinstance(v := getattr(card, f.name), str)}
    return frozenset(
        found | {f"{m.card.unit}; {m.card.better} is better; about {m.card.about}" for m in metrics().values()}
    )


EXPLAINS = frozenset(
    {
        "Each line ranks the candidates that meet every requirement by another measure.",
        "All quasi-identifiers together: before in the original, after in the recommended release.",
        "For each number of known columns: the set on which most rows are alone.",
        "Classes are numbered in the order of their released values. This table shows no value of the data.",
        "Record linkage: the intruder looks up everyone in the original in the release.",
        "0% is as precise as the original; near 100% says nothing.",
        "They hold for an adversary who knows the quasi-identifiers named here and nothing more. An adversary who knows other columns "
        "may do better.",
        "Loss: the share of the column's possible values that a released value covers in addition to the true one (0: exact; near 1: suppressed).",
        "the release, and nothing of any person",
        "Everybody in the original was looked up in the release, by fewer and by more columns.",
        homogeneity.card.how,
        "all quasi-identifiers of a person, and that the person is in the release",
        "all quasi-identifiers of everybody in the release",
    }
)
"""Texts with a word such as all or no that speak of a method, not of the data."""


def explains(text: str) -> bool:
    """Whether a text claims nothing about the data."""
    if text in cards() or text in EXPLAINS or text in glossary.WORDS.values():
        return True
    claims = ABSOLUTE.search(text[:1].lower() + text[1:]) or re.search(
        r"\d", re.sub(r"\b(?:19|20)\d\d\b|95%|WP29|Article 29|05/2014|sec\. 3\.\d", "", text)
    )
    return text in literals() and (
        not claims or text.startswith(("The Opinion asks the three", "This report follows the"))
    )


def check(world: World, text: str) -> list[str]:
    """Take a text apart from left to right, shape by shape, and check each; what no shape takes comes back."""
    rest, left = text.strip(), []
    while rest:
        if rest in world.extra.get("spelled", ()) or explains(rest):
            break
        for pattern, claim in SHAPES:
            match = pattern.match(rest)
            if match and match.end():
                try:
                    claim(world, match)
                except AssertionError as wrong:
                    raise AssertionError(f"{world.name}: {match[0]!r} is false: {wrong}") from None
                rest = rest[match.end() :].strip()
                break
        else:
            left.append(rest)
            break
    return left


# --- profile -----------------------------------------------------------------------------------------------------------


@says(
    rf"On (?:the one|all {N})( suggested)? quasi-identifiers?( that you named)?(?: together)? {N} of {N} rows? \({P}%\) (is|are) alone\."
)
def _(world: World, m: Match) -> None:
    columns = world.extra["profiled"]
    assert whole(m[1] or "1") == len(columns)
    assert bool(m[2]) != bool(m[3])
    assert bool(m[3]) == world.extra["named"]
    truth = alone(world.rows, columns)
    assert (whole(m[4]), whole(m[5])) == (truth, len(world.rows))
    assert (m[7] == "is") == (truth == 1)
    near(m[6], truth / len(world.rows))


@says(
    rf"Column '(.+?)': {N} rows? (has|have) (.+?), (a word for missing|far from all other values|a word or a far code); that may mean missing\."
)
def _(world: World, m: Match) -> None:
    codes = m[4].split(" or ")
    values = [row[m[1]] for row in world.rows]
    many = sum(value in codes for value in values)
    assert whole(m[2]) == many
    assert (m[3] == "has") == (many == 1)
    assert set(codes) <= set(values)
    if m[5] == "far from all other values":
        others = [float(value) for value in values if value not in codes and value]
        assert all(not min(others) <= float(code) <= max(others) for code in codes)
    elif m[5] == "a word for missing":
        assert not any(any(c.isdigit() for c in code) for code in codes)


@says(
    r"Sfumato reads no such code as missing by itself\. (?:Name those that mean it under \[reading\.missing\] in your roles, or with --missing\."
    r"|The suggested roles do, under \[reading\.missing\]; take out there what is a value\. Without roles: --missing\.)"
)
def _(world: World, m: Match) -> None:
    empty = {name: sum(not row[name] for row in world.rows) for name in world.rows[0]}
    assert {name: missing for name, (_, missing) in world.table.distinct().items()} == empty


@says(
    r"No column name looks sensitive\. Name the columns that nobody may learn; otherwise only identity is protected\."
)
def _(world: World, m: Match) -> None:
    assert not {"ill", "pay"} & set(world.rows[0])


# --- the risk of the raw table -------------------------------------------------------------------------------------------


def minimal_uniques(world: World, most: int) -> tuple[int, list[int]]:
    """Rows alone on a set of at most so many columns, and how many minimal sets there are of each size: by the definition."""
    sets = [s for size in range(1, most + 1) for s in itertools.combinations(world.quasi, size)]
    counted = {s: classes(world.rows, s) for s in sets}
    sizes, records = [0] * most, 0
    for row in world.rows:
        unique = [s for s in sets if counted[s][tuple(row[n] for n in s)] == 1]
        least = [s for s in unique if not any(set(other) < set(s) for other in unique)]
        records += bool(least)
        for s in least:
            sizes[len(s) - 1] += 1
    return records, sizes


@says(
    rf"Minimal uniques: {N} rows? (has|have) one of (?:at most {N} columns|(one column)) \((.+?)\); (?:no other row is|{N} more rows? (?:is|are)) alone on (?:all {N} quasi-identifiers|the one quasi-identifier)(?:, but on no set of .+?)?\.{LAST}"
)
def _(world: World, m: Match) -> None:
    most = 1 if m[4] else whole(m[3])
    records, sizes = minimal_uniques(world, most)
    assert whole(m[1]) == records
    assert (m[2] == "has") == (records == 1)
    assert [whole(x) for x in re.findall(rf"{N} of \d+ columns?", m[5])] == sizes
    assert whole(m[6] or "0") == alone(world.rows, world.quasi) - records
    assert whole(m[7] or "1") == len(world.quasi)


@says(r"Minimal uniques: none, because no row is alone on (?:all \d+ quasi-identifiers|the one quasi-identifier)\.")
def _(world: World, m: Match) -> None:
    assert alone(world.rows, world.quasi) == 0


@says(
    rf"{N} rows? (?:is|are) alone here\. An estimated {P} of these \({P}%\) would also be alone in the population, if the table is a "
    rf"random {P}% of it\. In the whole population an estimated {P} (?:people are|person is) alone \((\w+); by model: (.+?)\)\. The "
    r"models make different assumptions, and none has seen the population\."
)
def _(world: World, m: Match) -> None:
    here, both, there = whole(m[1]), number(m[2]), number(m[5])
    assert here == alone(world.rows, world.quasi) > 0
    fraction = world.extra["fraction"]
    near(m[4], fraction)
    assert 0 <= both <= here
    assert both <= there + 0.5
    assert there <= len(world.rows) / fraction
    assert abs(both - fraction * there) <= 0.006 * there + 0.5 * fraction + 0.5 * (both >= 100)
    by_model = dict(part.split(" ") for part in m[7].split(", "))
    assert number(by_model[m[6]]) == there


@says(r"No row is alone here, so the models expect nobody to be alone in the population\.")
def _(world: World, m: Match) -> None:
    assert alone(world.rows, world.quasi) == 0


@says(rf"Of {N} rows? alone here, {N} fits? one person of the population table at most \(counted\)\.")
def _(world: World, m: Match) -> None:
    singles = [key for key, n in classes(world.rows, world.quasi).items() if n == 1]
    there = classes(world.extra["population"], world.quasi)
    assert (whole(m[1]), whole(m[2])) == (len(singles), sum(there[key] <= 1 for key in singles))


@says(rf"Journalist's risk against the population table: at most {P} for any row\.")
def _(world: World, m: Match) -> None:
    there = classes(world.extra["population"], world.quasi)
    close(m[1], max(1 / max(n, there[key]) for key, n in classes(world.rows, world.quasi).items()))


@says(
    rf"(\w+): {N} rows? lies? far from the others \((fewer than 1% of the other rows are|no other row is) within one standard "
    rf"deviation\)(?:\.|; {N} of them have no row that near\.)"
)
def _(world: World, m: Match) -> None:
    numbers = [float(row[m[1]]) for row in world.rows if row[m[1]]]
    reach = statistics.pstdev(numbers) * (1 + 1e-9)
    others = [sum(abs(x - y) <= reach for y in numbers) - 1 for x in numbers]
    far = [n for n in others if n < 0.01 * (len(numbers) - 1)]
    assert whole(m[2]) == len(far)
    isolated = sum(n == 0 for n in far)
    assert isolated == (len(far) if m[3].startswith("no other") else whole(m[4] or "0"))


@says(
    rf"{N} values?, {N} rows? alone on it, {P}% of pairs of rows told apart; in {P}% of the minimal uniques of at most {N} columns?, by score$"
)
def _(world: World, m: Match) -> None:
    name = world.extra["column"]
    counted = classes(world.rows, (name,))
    rows = len(world.rows)
    assert (whole(m[1]), whole(m[2])) == (len(counted), alone(world.rows, (name,)))
    near(m[3], 1 - sum(n * (n - 1) for n in counted.values()) / (rows * (rows - 1)) if rows > 1 else 0.0)
    assert 0 <= number(m[4]) <= 100


@says(r"check: a (measured number|count or an amount) .*$")
def _(world: World, m: Match) -> None:
    numbers = [float(row[world.extra["column"]]) for row in world.rows if row[world.extra["column"]]]
    assert (m[1] == "measured number") == any(not x.is_integer() for x in numbers)


@says(r"(not to be seen here: every row has the same value)$")
def _(world: World, m: Match) -> None:
    assert len(classes(world.rows, (world.extra["column"],))) == 1


@says(r"likely: one of a few set values, which others would record alike, unless it changes$")
def _(world: World, m: Match) -> None:
    assert len(classes(world.rows, (world.extra["column"],))) > 1


@says(
    r"likely(?: for some years)?: (?:it (stays with a person|grows by one a year|changes seldom)|a date, once past)[^.]*$"
)
def _(world: World, m: Match) -> None:
    assert (
        world.extra["column"]
        in {"stays with a person": ("sex",), "grows by one a year": ("age",), "changes seldom": ("town",)}[m[1]]
    )


# --- advice ------------------------------------------------------------------------------------------------------------


UNPROTECTED = (
    rf"'(\w+)' is (?:not protected(?:: {N} of {N} rows? (?:is|are) in a group where every row has the same value)?|only partly "
    r"protected: no group has a single value, but nothing limits how likely one value is)"
)


def unprotected(world: World, text: str) -> None:
    """Each sensitive column is named, with the rows whose class tells it."""
    for column, certain, rows in re.findall(UNPROTECTED, text):
        assert column in world.roles.sensitive
        assert ": " not in text or whole(certain or "0") == sum(
            map(len, one_valued(world.released, world.quasi, column))
        )
        assert not rows or whole(rows) == len(world.released)


@says(rf"Take (.+?)(?:: ({UNPROTECTED}(?:; {UNPROTECTED})*))?\.$")
def _(world: World, m: Match) -> None:
    assert m[1] == world.extra["taken"]
    told = re.findall(UNPROTECTED, m[2] or "")
    assert {column for column, _, _ in told} == set(world.roles.sensitive)  # nothing limits them in these studies
    unprotected(world, m[2] or "")


@says(rf"Beware\. {UNPROTECTED}(?:; {UNPROTECTED})*\.$")
def _(world: World, m: Match) -> None:
    assert {column for column, _, _ in re.findall(UNPROTECTED, m[0])} == set(world.roles.sensitive)
    unprotected(world, m[0])


@says(rf"Column {UNPROTECTED}\.")
def _(world: World, m: Match) -> None:
    if " in a group" in m[0]:
        unprotected(world, m[0])


@says(rf"Of the {N} candidates that meet every requirement, it has the best ([\w ]+)\.")
def _(world: World, m: Match) -> None:
    result = world.extra["result"]
    met = [point for point in result.points if point.failure is None and point.met]
    assert whole(m[1]) == len(met)
    assert result.points[result.recommended[0]].value(result.study.utility) == min(
        p.value(result.study.utility) for p in met
    )


@says(r"It is the only candidate on the map(?: that meets every requirement)?\.")
def _(world: World, m: Match) -> None:
    assert sum(point.failure is None and point.met for point in world.extra["result"].points) == 1


@says(r"No candidate on the map has a better ([\w ]+?)(, apart from those with the largest risk and no loss at all)?\.")
def _(world: World, m: Match) -> None:
    result = world.extra["result"]
    mine = result.points[result.recommended[0]].value(result.study.utility)
    assert m[2] or all(result.points[i].value(result.study.utility) >= mine for i in result.frontier)


@says(
    rf"Its ILoss is ([\d.e-]+)\. No release with classes of at least {N} rows(?:, with as many different sensitive values as required,)? and "
    r".+? has an ILoss below ([\d.e-]+), whatever the mechanism\. This is a bound: the best possible release may lose more\."
)
def _(world: World, m: Match) -> None:
    """The bound itself is held against all partitions in tests/search/test_least_loss.py."""
    result = world.extra["result"]
    chosen = result.points[result.recommended[0]]
    lost = chosen.scores["iloss"][1].value
    assert abs(number(m[1]) - lost) <= 1e-3 * lost
    assert number(m[3]) <= lost
    assert whole(m[2]) <= min(classes(world.released, world.quasi).values())


@says(r"No candidate on the frontier( that meets every requirement)? has less risk\.")
def _(world: World, m: Match) -> None:
    result = world.extra["result"]
    mine = result.points[result.recommended[0]].value(result.study.risk)
    assert all(
        result.points[i].value(result.study.risk) >= mine for i in result.frontier if not m[1] or result.points[i].met
    )


@says(
    rf"(?:The next (?:stricter|more useful) candidate is (.+?): |It costs ).+? {P} instead of {P}(?:, .+? {P} instead of {P}| with "
    rf".+?)\.(?: It misses [^.]+\.)?{LAST}"
)
def _(world: World, m: Match) -> None:
    assert m[1] is None or m[1] in [point.candidate.name for point in world.extra["result"].points]
    assert number(m[2]) != number(m[3])


@says(
    r"The choice was tested with .+? without being worse in the other\. (?:It holds under .+? of them\. By themselves, .+? ranks? the "
    r"choice first\.|It (?:holds|does not hold)\. By itself, that measure (?:ranks|does not rank) the choice first\.)"
)
def _(world: World, m: Match) -> None:
    """Checked against brute force in tests/study/test_study_advice.py."""
    assert world.extra["result"].recommended[0] is not None


@says(
    rf"(?:Beware\. )?The limits say nothing about what someone can learn about people\. In some classes \({N} rows?\) everyone shares "
    r"one value of '(\w+)'\. Anyone who knows that a person is in such a class learns it\. A requirement such as "
    rf"alpha_anonymity\((\w+)\) <= (\S+) would prevent this: no value could make up more than {P}% of a class \(the most frequent one "
    rf"makes up {P}% of the table\)\."
)
def _(world: World, m: Match) -> None:
    assert m[2] == m[3]
    assert whole(m[1]) == sum(map(len, one_valued(world.released, world.quasi, m[2]))) > 0
    share = max(classes(world.rows, (m[2],)).values()) / len(world.rows)
    near(m[6], share)
    assert share <= float(m[4]) < 1
    assert math.isclose(float(m[4]), number(m[5]) / 100)


@says(
    r"(?:Beware\. )?The limits say nothing about what someone can learn about people\. Everyone has the same value of '(\w+)'\. Anyone "
    r"who knows that a person is in the table learns it, and no release that keeps the column prevents this\. Leave the column out, or "
    r"tell nobody who is in the table\."
)
def _(world: World, m: Match) -> None:
    assert len(classes(world.rows, (m[1],))) == 1


@says(
    rf"(?:Beware\. )?{N} of {N} rows \({P}%\) are left out of the release\. The report says which groups lose most; --reveal names them\."
)
def _(world: World, m: Match) -> None:
    assert (whole(m[1]), whole(m[2])) == (len(world.rows) - len(world.released), len(world.rows))
    near(m[3], whole(m[1]) / whole(m[2]))


@says(
    r"(?:Beware\. )?(?:Every quasi-identifier is \* in every row\. The release says nothing about them\.|Suppressed to \*: (.+?)\.(?=$| "
    r"[A-Z]))"
)
def _(world: World, m: Match) -> None:
    stars = {name: sum(row[name] == "*" for row in world.released) for name in world.quasi}
    if m[1] is None:
        assert all(n == len(world.released) for n in stars.values())
        return
    for name in re.findall(r"'(\w+)'", m[1]):
        assert stars[name] > len(world.released) / 2


# --- the release as a whole ----------------------------------------------------------------------------------------------


def starred(world: World) -> int:
    return sum(all(row[name] == "*" for name in world.quasi) for row in world.released)


@says(rf"No row and no value was suppressed\. All {N} rows are released\.")
def _(world: World, m: Match) -> None:
    assert whole(m[1]) == len(world.rows) == len(world.released)
    assert not any(row[name] == "*" for row in world.released for name in world.quasi)


@says(
    rf"{N} of {N} rows \({P}%\) are suppressed: {N} left out, {N} with \* in every quasi-identifier\. {N} quasi-identifier values are \*\."
)
def _(world: World, m: Match) -> None:
    gone, blank = len(world.rows) - len(world.released), starred(world)
    assert [whole(m[i]) for i in (1, 2, 4, 5)] == [gone + blank, len(world.rows), gone, blank]
    near(m[3], (gone + blank) / len(world.rows))
    stars = sum(row[name] == "*" for row in world.released for name in world.quasi)
    assert whole(m[6]) == stars


@says(rf"(?:{N}|Fewer than 10) rows are published\.")
def _(world: World, m: Match) -> None:
    assert (whole(m[1]) == len(world.released)) if m[1] else len(world.released) < 10


@says(
    rf"(?:No row was left out\.|Fewer than 10 rows were left out or show only \* in the quasi-identifiers\.|About {P}% of the rows were "
    r"left out or show only \* in the quasi-identifiers\.)"
)
def _(world: World, m: Match) -> None:
    gone = len(world.rows) - len(world.released) + starred(world)
    if m[0].startswith("No row"):
        assert gone == 0
    elif m[0].startswith("Fewer"):
        assert 0 < gone < 10
    else:
        assert abs(number(m[1]) - 100 * gone / len(world.rows)) <= 0.06 * number(m[1])


@says(r"Released unchanged: ([\w, ]+)\.")
def _(world: World, m: Match) -> None:
    for name in m[1].split(", "):
        assert not classes(world.released, (name,)) - classes(world.rows, (name,))


@says(
    rf"EMA and Health Canada use 0\.09 for public clinical data\. The largest residual risk here is {P}, (not above|above) that threshold\."
)
def _(world: World, m: Match) -> None:
    risk = 1 / min(classes(world.released, world.quasi).values())
    close(m[1], risk)
    assert (m[2] == "above") == (risk > 0.09)


@says(r"The roles file names no direct identifier\. If the table has one, name it there: it must not be released\.")
def _(world: World, m: Match) -> None:
    assert not world.roles.identifiers


@says(r"No candidate dominates another on the two axes\.")
def _(world: World, m: Match) -> None:
    result = world.extra["result"]
    at = [(p.value(result.study.risk), p.value(result.study.utility)) for p in result.points if p.failure is None]
    assert not any(a != b and a[0] <= b[0] and a[1] <= b[1] for a in at for b in at)


@says(rf"Levels (.+?): loss {P}, no node of the {N} in the lattice has less; {N} of {N} rows? suppressed\.")
def _(world: World, m: Match) -> None:
    """That no node has less is proved against brute force in tests/search."""
    levels = {part.rsplit(" ", 1)[0]: int(part.rsplit(" ", 1)[1]) for part in m[1].split(", ")}
    assert set(levels) == set(world.quasi)
    for name, level in levels.items():
        if level == 0:
            assert not classes(world.released, (name,)) - classes(world.rows, (name,))
    assert whole(m[5]) == len(world.rows)
    assert whole(m[4]) == len(world.rows) - len(world.released) + starred(world)


@says(rf"Suppressed {N} of {N} cells \({P}%\)(?:: (.+?))?; {N} rows? left out\.")
def _(world: World, m: Match) -> None:
    stars = {name: sum(row[name] == "*" for row in world.released) for name in world.quasi}
    assert whole(m[1]) == sum(stars.values())
    assert whole(m[2]) == len(world.rows) * len(world.quasi)
    near(m[3], sum(stars.values()) / whole(m[2]))
    for part in (m[4] or "").split(", "):
        name, _, n = part.partition(" ")
        assert not name or stars[name] == whole(n)
    assert whole(m[5]) == len(world.rows) - len(world.released)


# --- audit and groups ----------------------------------------------------------------------------------------------------


@says(rf"All {N} rows are there\.|The release has {N} rows, {N} (fewer|more) than the original\.")
def _(world: World, m: Match) -> None:
    now, then = len(world.released), len(world.rows)
    assert (whole(m[1]) == now == then) if m[1] else (whole(m[2]), whole(m[3])) == (now, abs(now - then))


@says(r"Every column that may be released is there\.")
def _(world: World, m: Match) -> None:
    assert set(world.released[0]) == set(world.rows[0])


@says(r"No column has more missing values than before\.|More missing values than the original has: .+\.")
def _(world: World, m: Match) -> None:
    more = [n for n in world.released[0] if sum(not r[n] for r in world.released) > sum(not r[n] for r in world.rows)]
    assert m[0].startswith("No column") == (not more)


@says(r"Every released value is one of the original's, a number where it has numbers, or covers one that it has\.")
def _(world: World, m: Match) -> None:
    for name in world.released[0]:
        own = {row[name] for row in world.rows}
        assert all(
            v in own or v == "*" or v[:1] in "[{(<>≥" or re.match(r"^[\d.,\- +<>≤≥]+$", v)
            for v in {r[name] for r in world.released}
        )


@says(
    rf"Released numbers stay in the range of the original \({N} columns? of numbers\)\.|The original has no column of numbers whose range could be left\."
)
def _(world: World, m: Match) -> None:
    for name in world.released[0]:
        try:
            numbers = [float(row[name]) for row in world.rows if row[name]]
        except ValueError:
            continue
        plain = [float(row[name]) for row in world.released if re.fullmatch(r"-?\d+(\.\d+)?", row[name])]
        assert not plain or (min(numbers) <= min(plain) and max(plain) <= max(numbers))


@says(
    rf"No released row pairs two values that no original row pairs \({N} columns looked at\)\.|There are no two columns of at most 100 values to look at in pairs\."
)
def _(world: World, m: Match) -> None:
    if m[1] is None:
        return
    for a, b in itertools.combinations(world.released[0], 2):
        before, values = classes(world.rows, (a, b)), [{row[n] for row in world.rows} for n in (a, b)]
        for x, y in classes(world.released, (a, b)):
            assert (x, y) in before or x not in values[0] or y not in values[1]


@says(rf"(?:{N} checks|One check), (?:none fails|{N} fails?)\.")
def _(world: World, m: Match) -> None:
    checks = world.extra["audit"]["checks"]
    assert whole(m[1] or "1") == len(checks)
    assert whole(m[2] or "0") == sum(each["status"] == "fails" for each in checks)


FEW = r"groups of less than 5% of the people(?: by ([\w, ]+?))?"


def small(world: World, columns: Iterable[str]) -> set[int]:
    """Rows in a small group of one of these columns; numbers of more than ten values go by quarters, of which none is small."""
    found: set[int] = set()
    for name in columns:
        counted = classes(world.rows, (name,))
        numeric = all(re.fullmatch(r"-?\d+(\.\d+)?", value) for (value,) in counted if value)
        if numeric and len(counted) > 10:
            if sum(not row[name] for row in world.rows):
                continue
            continue
        found |= {i for i, row in enumerate(world.rows) if counted[row[name],] < 0.05 * len(world.rows)}
    return found


@says(rf"Everybody's mean loss is {P}\.")
def _(world: World, m: Match) -> None:
    close(m[1], world.extra["groups"]["loss"])
    assert 0 <= number(m[1]) <= 1


@says(
    rf"(?:The one person|The {N} people) in {FEW} loses? {P}, the other {N} {P}: (?:no more of a difference than between people drawn at random|small groups lose (more|less), beyond what chance explains \(±{P}\))\."
)
def _(world: World, m: Match) -> None:
    few = small(world, re.split(r", | and ", m[2] or ""))
    assert whole(m[1] or "1") >= len(few)
    assert whole(m[1] or "1") + whole(m[4]) == len(world.rows)
    difference = number(m[3]) - number(m[5])
    assert m[6] is None or (m[6] == "more") == (difference > 0)


@says(rf"Nobody is in {FEW}, so small groups cannot be held against the rest\.")
def _(world: World, m: Match) -> None:
    assert not small(world, re.split(r", | and ", m[1] or ""))


@says(rf"Everybody is in at least one of the {FEW}, so there is no rest to hold small groups against\.")
def _(world: World, m: Match) -> None:
    assert world.extra["groups"]["rest"]["people"] == 0


@says(
    r"Every group of ('[^.]+?) has less than 5% of the people, so none of them is small beside the others: each is held against everybody instead\."
)
def _(world: World, m: Match) -> None:
    for name in re.findall(r"'(\w+)'", m[1]):
        counted = classes(world.rows, (name,))
        assert max(counted.values()) < 0.05 * len(world.rows)


@says(r"Small groups of ('[^.]+?) are not counted: (?:it has|they have) more than 50 values\.")
def _(world: World, m: Match) -> None:
    assert all(len(classes(world.rows, (name,))) > 50 for name in re.findall(r"'(\w+)'", m[1]))


@says(
    rf"No row was left out or suppressed throughout\.|{N} of {N} rows \({P}%\) were left out or suppressed throughout(?:: {P}% of the people in small groups, {P}% of the others)?\."
)
def _(world: World, m: Match) -> None:
    gone = len(world.rows) - len(world.released) + starred(world)
    assert whole(m[1] or "0") == gone
    if m[1]:
        assert whole(m[2]) == len(world.rows)
        near(m[3], gone / len(world.rows))


@says(
    rf"No group loses more than everybody does on average\.|Worst treated is (?:a group of '(\w+)' \(not named\)|\w+ = .+?) with {N} (?:person|people): it loses {P}, {P} above everybody's \((?:no )?more than chance explains\), and {P}% of its rows were left out or suppressed\."
)
def _(world: World, m: Match) -> None:
    worst = world.extra["groups"]["worst"]
    assert bool(worst) == (m[2] is not None)
    if m[1]:
        assert number(m[4]) <= number(m[3])
        assert whole(m[2]) <= len(world.rows)
        counted = classes(world.rows, (m[1],)).values()
        assert whole(m[2]) in counted or len(counted) > 10


@says(
    rf"By mining, (?:no group is estimated to fare worse than before; the one nearest to a loss gains {P}% \(95% interval of its loss|of all groups (?:a group of '\w+' \(not named\)|\w+ = .+?) fares worst: its utility loses {P}% \(95% interval of that group alone) (-?\d\S*)% to (-?\d\S*)%\)\."
)
def _(world: World, m: Match) -> None:
    declines = [g["mined"]["decline"] for g in world.extra["groups"]["groups"] if g["mined"]]
    worst = max(d for d in declines if not math.isnan(d))
    assert bool(m[1]) == (worst <= 0)
    assert abs(number(m[1] or m[2]) - 100 * abs(worst)) <= 0.006 * 100 * abs(worst) + 1e-9
    assert float(m[3]) <= 100 * worst * (1 + 0.006) + 0.1
    assert float(m[4]) >= 100 * worst - 0.1 - 0.006 * 100 * abs(worst)


@says(
    r"(?:✓ within chance|✗ beyond chance|✓ holds|✗ fails|✓ met|✗ not met|✓ meets all|✓ beaten by none|✗ beaten|✗ not made)$"
)
def _(world: World, m: Match) -> None:
    """A mark in a grid whose numbers stand beside it; the requirement's is checked by the file's own classes."""
    if "met" in m[0].split():
        assert (min(classes(world.released, world.quasi).values()) >= 2) == m[0].startswith("✓")


# --- attacks -------------------------------------------------------------------------------------------------------------


@says(
    rf"(?:Of (\w+): |(\w+), without finding the row: )?Of {N} (?:person|people) {N} (?:is|are) in {N} class(?:es)? with one value that must not be learned in all of the rows; saying it is right for {N} of them\."
)
def _(world: World, m: Match) -> None:
    found = {c: one_valued(world.released, world.quasi, c) for c in world.roles.sensitive}
    figures = (whole(m[3]), whole(m[4]), whole(m[5]), whole(m[6]))
    columns = [m[1] or m[2]] if m[1] or m[2] else list(found)
    truths = [(len(world.released), n := sum(map(len, found[c])), len(found[c]), n) for c in columns]
    assert figures in truths, (figures, truths)


@says(
    r"(?:Of (\w+): |(\w+), without finding the row: )?No class has one value that must not be learned in all of its rows, so by that a class alone tells nobody's\."
)
def _(world: World, m: Match) -> None:
    columns = [m[1] or m[2]] if m[1] or m[2] else list(world.roles.sensitive)
    assert any(not one_valued(world.released, world.quasi, c) for c in columns)


@says(
    rf"For {P}% of {N} (?:person|people) the nearest released rows tell (\w+)\.(?: All rows of their class share one value for {N} (?:person|people): theirs is certain\.)?"
)
def _(world: World, m: Match) -> None:
    sure = sum(map(len, one_valued(world.released, world.quasi, m[3])))
    if len(classes(world.released, (m[3],))) == 1:
        sure = 0
    assert whole(m[4] or "0") == sure, sure
    attack = world.extra["attacks"][f"inference({m[3]})"]
    assert whole(m[2]) == attack.attacked <= len(world.rows)
    near(m[1], attack.fell / attack.attacked)


@says(rf"For {P}% of {N} (?:person|people) the two sources meet in one released row\.")
def _(world: World, m: Match) -> None:
    attack = world.extra["attacks"]["linkability"]
    assert whole(m[2]) == attack.attacked <= len(world.rows)
    near(m[1], attack.fell / attack.attacked)


@says(
    rf"Of {N} descriptions? by (?:up to )?{N} columns?, taken from released rows that are alone, {N} fits? exactly one person\.|No released row is alone on {N} columns?, so there is nobody to describe\."
)
def _(world: World, m: Match) -> None:
    if m[1] is None:
        sets = itertools.combinations(world.released[0], whole(m[4]))
        assert not any(alone(world.released, by) for by in sets)
        return
    attack = world.extra["attacks"]["singling_out"]
    assert (whole(m[1]), whole(m[3])) == (attack.attacked, attack.fell)
    assert alone(world.released, list(world.released[0])) > 0


@says(
    rf"An adversary who knows ([\w, ]+) finds {N} of {N} rows? without doubt, and by guessing among candidates is right for {P}% of them; without the release, one guess in {N} is\."
    rf"(?: {N} would be taken for somebody else, with nothing to warn of it\.)?"
)
def _(world: World, m: Match) -> None:
    assert set(m[1].split(", ")) <= set(world.quasi)
    assert m[6] is None or 0 < whole(m[6]) <= whole(m[3]) - whole(m[2])
    assert whole(m[3]) == len(world.rows)
    assert whole(m[2]) <= whole(m[3])
    if len(world.released) == len(world.rows) and set(m[1].split(", ")) == set(world.quasi) and world.extra["tiled"]:
        near(m[4], len(classes(world.released, world.quasi)) / len(world.rows))


@says(
    rf"In no class is a value that must not be learned 2 times as frequent as overall\.|For {N} of {N} people the class makes their own value "
    rf"at least 2 times likelier than it is overall, and at most {P} times\."
)
def _(world: World, m: Match) -> None:
    column = world.extra["column"]
    overall, rows = classes(world.released, (column,)), len(world.released)
    ratios = []
    for members in groups(world.released, world.quasi).values():
        here = classes(members, (column,))
        ratios += [here[row[column],] / len(members) / (overall[row[column],] / rows) for row in members]
    fell = sum(ratio >= 2 - 1e-9 for ratio in ratios)
    assert whole(m[1] or "0") == fell
    if m[1]:
        assert whole(m[2]) == rows
        assert number(m[3]) >= max(ratios) - 1e-9
        close(m[3], max(ratios))


@says(
    rf"The worst (?:fact|{N} facts) raises? the belief in somebody's value to {P}, and about people of their own class to {P} for {N} of {N} "
    rf"people; without the classes to {P}\."
)
def _(world: World, m: Match) -> None:
    """The beliefs are held against brute force in tests/attacks; here, that they are no less than without a fact."""
    column = world.extra["column"]
    shares = [
        max(classes(members, (column,)).values()) / len(members)
        for members in groups(world.released, world.quasi).values()
    ]
    assert max(shares) - 1e-3 <= number(m[2]) <= 1
    overall = max(classes(world.released, (column,)).values()) / len(world.released)
    assert overall - 1e-3 <= number(m[6]) <= 1
    assert whole(m[4]) <= whole(m[5]) == len(world.released)


@says(rf"(?:iloss|loss|[\w ]+): {P}; {N} of {N} rows \({P}%\) are left out\.")
def _(world: World, m: Match) -> None:
    found = world.extra["search"]
    close(m[1], found.loss)
    assert (whole(m[2]), whole(m[3])) == (found.suppressed, len(world.rows))
    near(m[4], found.suppressed / len(world.rows))


@says(rf"Proved: no node of the {N} in the lattice has less \({N} were checked\)\.")
def _(world: World, m: Match) -> None:
    """That none has less is held against brute force in tests/search."""
    assert whole(m[1]) == math.prod(height + 1 for height in world.extra["heights"])
    assert whole(m[2]) <= whole(m[1])


STANDING = rf"(?:nobody to attack|nothing to compare with|(?:not measurably )?above (?:the baseline|people outside the release)(?:(?:,| or| and) (?:though above |not measurably above )?(?:the baseline|people outside the release))?|inconclusive: the attack does worse than guessing blindly)(?:(?:, but|;) the class of {N} (?:person|people) tells the value for certain)?"


def judged(world: World, name: str, text: str, mark: str | None) -> None:
    """A tick only where the attack is neither above the baseline nor weaker, and nobody's value is certain."""
    attack = world.extra["attacks"][name]
    rate, base = attack.success.value, attack.baseline.value
    sure = re.search(rf"the class of {N} ", text)
    if name.startswith("inference"):
        column = name[len("inference(") : -1]
        truth = sum(map(len, one_valued(world.released, world.quasi, column)))
        if len(classes(world.released, (column,))) > 1:
            assert whole(sure[1] if sure else "0") == truth, truth
            assert not truth or mark in (None, "✗")
    if "inconclusive" in text:
        assert rate < base
        assert mark in (None, "?")
    if text.startswith("above the baseline"):
        assert rate > base
        assert mark in (None, "✗")
    if mark == "✓":
        assert not attack.attacked or rate >= base
        assert not sure


@says(rf"(Inference of \w+|Singling out|Linkability): (?:works in {RATE} of the attacks, )?({STANDING})\.")
def _(world: World, m: Match) -> None:
    name = m[1].lower().replace(" ", "_")
    name = f"inference({m[1].split()[-1]})" if m[1].startswith("Inference") else name
    attack = world.extra["attacks"][name]
    if m[2]:
        near(m[2], attack.fell / attack.attacked)
    judged(world, name, m[5], None)


@says(rf"([✓✗~?]) ({STANDING})$")
def _(world: World, m: Match) -> None:
    """In a grid: the test stands in the row's first cell, so one of the attacks must carry this judgement."""
    wrong = []
    for name, attack in world.extra["attacks"].items():
        try:
            if not isinstance(attack, str):
                judged(world, name, m[2], m[1])
                return
        except AssertionError as error:
            wrong.append(str(error))
    raise AssertionError(f"no attack is judged so: {wrong}")


@says(
    rf"{RATE} by the baseline\.|Exact for the {N} attacked\. If they are a sample of similar people: {P}% to {P}% \(95%\)\.|An estimate "
    rf"from {N} attacks: {P}% to {P}% \(95%\)\."
)
def _(world: World, m: Match) -> None:
    low, high = (m[5], m[6]) if m[4] else (m[8], m[9]) if m[7] else (m[2] or m[1], m[3] or m[1])
    assert number(low) <= number(high)
    if m[4]:
        assert whole(m[4]) in (len(world.rows), len(world.released))


@says(r"There was nobody to attack, so there is nothing to estimate\.")
def _(world: World, m: Match) -> None:
    assert any(not isinstance(a, str) and a.attacked == 0 for a in world.extra["attacks"].values())


@says(
    r"There is no control: .+\.$|Inside and outside: .+\.$|Not (?:measured|attempted|mined|looked at).*\.$|Could not be played: "
    r".+\.$|(?:Singling out|Linkability|Inference of \w+): not measured\. .+\.$"
)
def _(world: World, m: Match) -> None:
    """A reason why something was not done; it claims nothing but that."""
    assert not re.search(r"\d%", m[0])


# --- frames that hold names --------------------------------------------------------------------------------------------


@says(
    rf"{N} candidates for publishing \S+ \({N} rows?\), measured against an adversary who knows ([\w, ]+) of a person(?: and wants to "
    r"learn ([\w, ]+?))?\. For the owner only: do not publish this report\."
)
def _(world: World, m: Match) -> None:
    assert whole(m[1]) == len(world.extra["result"].points)
    assert whole(m[2]) == len(world.rows)
    assert m[3].split(", ") == list(world.quasi)
    assert re.split(", | or ", m[4]) == list(world.roles.sensitive)


@says(
    r"(?:The adversary is assumed to know these columns of a person: |Opinion 05/2014 on the release of \S+: .+?\. Quasi-identifiers: "
    r")([\w, ]+)\."
)
def _(world: World, m: Match) -> None:
    assert m[1].split(", ") == list(world.quasi)


@says(
    r"The intruder was given a table of everybody with ([\w, ]+?), as a register or a well-informed acquaintance might have them, knew that all of them are in the release, had the release, and took a released value for everything that it covers\. That is more than a member of the public has; one who also knows which value became which can rule out more: the mean risk among the measures counts that\."
)
def _(world: World, m: Match) -> None:
    assert m[1].split(", ") == list(world.quasi)


@says(
    r"Required by the owner: (.+)\.$|The requirements, and what (.+) achieves\.$|(?:For the DPIA on the release of )?\S+?[:,] (.+)\. "
    r"(?:Not to be published|For the owner: check this report before you submit it)\.$"
)
def _(world: World, m: Match) -> None:
    assert m[1] or (m[2] or m[3]) == world.extra["taken"]
    assert not m[1] or m[1] == ", ".join(map(str, world.extra["result"].study.require))


@says(r"The data were changed with a published method, .+\. In general: .+\.$")
def _(world: World, m: Match) -> None:
    card = world.extra["result"].points[world.extra["result"].recommended[0]].candidate.mechanism.card
    assert (
        m[0] == f"The data were changed with a published method, {card.title} ({card.source}). In general: {card.cost}."
    )


@says(
    r"How much the classes reveal about (\w+) beyond its overall distribution, and how many rows are in them\.|Mining loss: how much "
    r"less often the deciding miner predicts (\w+) correctly for the group from the release than from the original, on a sample of "
    r"rows, with a 95% interval\."
)
def _(world: World, m: Match) -> None:
    assert (m[1] or m[2]) in world.roles.sensitive


@says(
    r"Records that stand out on the fewest columns \(up to (\d+)\) and in the most ways \(Elliot, Manning, Ford 2002\)\.|Nobody is "
    r"alone\. The fewest people share these combinations\."
)
def _(world: World, m: Match) -> None:
    assert bool(alone(world.rows, world.quasi)) == bool(m[1])


@says(
    r"Values are masked \(▒▒▒\)\. Use --reveal to show them\.|(?:Measured with )?Sfumato \d\S* A missing value counts as a value of its "
    r"own\.(?: The numbers hold for the quasi-identifiers and the adversary named above; they say nothing about an adversary who knows "
    r"more\.)?|Each point is a candidate\..+?\. Shapes and the legend repeat what the colours show\.|The Opinion asks: “.+?” .+|It "
    r"takes .+; a spreadsheet or a short program does it\.|[\w, ]+ of the person, and the release$|[\w, ]+ of everybody from one "
    r"source, [\w, ]+ from another, and the release$"
)
def _(world: World, m: Match) -> None:
    """It says how to read what stands there, or what an adversary was given."""


@says(r"The nearest other candidates; the appendix has them all\.")
def _(world: World, m: Match) -> None:
    assert world.extra["result"].points


@says(
    r"Each column before \(above\) and after \(below\), a released range spread evenly over the values that it covers\. Bins stand in the column's order where it has one, else from its most "
    r"frequent value to its rarest; no value is named\."
)
def _(world: World, m: Match) -> None:
    assert world.released


@says(rf"[a-z][^.;]*? {P} instead of {P}; [a-z][^.;]*? {P} instead of {P}\.")
def _(world: World, m: Match) -> None:
    """What another candidate measures, and what the recommended one does."""
    result = world.extra["result"]
    values = [[score.value for _, score in point.scores.values()] for point in result.points]
    taken = values[result.recommended[0]]

    def among(text: str, scores: list[float]) -> bool:
        return any(abs(number(text) - score) <= 0.002 * max(abs(score), 1e-9) for score in scores)

    assert among(m[2], taken)
    assert among(m[4], taken)
    assert any(among(m[1], scores) and among(m[3], scores) for scores in values)


@says(
    rf"(May be published, if the open points are accepted|May be published|May not be published)\. .*?(?:{N} points? on the sheets (?:is|are) open\. )?See the decision sheet\."
)
def _(world: World, m: Match) -> None:
    result = world.extra["result"]
    if not result.points[result.recommended[0]].met:
        assert m[1] == "May not be published"


@says(
    rf"(?:Singling out|Linkability|Inference of '(\w+)') works in {P}% of {N} attacks, [^.]*?(?:the class of {N} people tells the value for certain)?\."
)
def _(world: World, m: Match) -> None:
    assert 0 <= number(m[2]) <= 100
    assert whole(m[3]) > 0
    if m[4]:
        assert whole(m[4]) == sum(map(len, one_valued(world.released, world.quasi, m[1])))


@says(r"Nothing on this sheet is open\.")
def _(world: World, m: Match) -> None:
    assert world.extra["result"].recommended[0] is not None


@says(
    rf"The largest risk, 1 in {N}, is above the 0\.09 that EMA and Health Canada use for public clinical data\. It matters if these are clinical data\."
)
def _(world: World, m: Match) -> None:
    assert 1 / whole(m[1]) > 0.09


@says(
    rf"EMA and Health Canada use 0\.09 for public clinical data\. The largest residual risk here is {P}, (not )?above it\."
)
def _(world: World, m: Match) -> None:
    assert (number(m[1]) > 0.09) == (m[2] is None)
