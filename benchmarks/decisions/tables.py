"""Twenty made-up tables of different character, each with its limits and with what a statistician would recode by hand."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Value = Any
Coarser = Callable[[Value], str]
"""What a value becomes; a recoding by hand is a list of these, from fine to coarse."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a release must meet: rows in each class, the mean of 1/rows, and the share of one sensitive value in a class."""

    k: int
    mean_risk: float | None = None
    share: float | None = None
    values: int | None = None
    """Different sensitive values in each class, in every sensitive column."""

    def texts(self, shares: Mapping[str, float]) -> list[str]:
        """The same as the package spells it; `shares` has the limit of each sensitive column."""
        texts = [f"k_anonymity >= {self.k}"]
        texts += [f"marketer_risk <= {self.mean_risk}"] if self.mean_risk is not None else []
        texts += [f"alpha_anonymity({name}) <= {share}" for name, share in shares.items()]
        texts += [f"distinct_l_diversity >= {self.values}"] if self.values is not None else []
        return texts


PUBLIC = Limits(k=20, share=0.9)
"""To the public, high impact: a risk of 0.05 at most, and nobody's group gives away a sensitive value."""
AGREEMENT = Limits(k=3, mean_risk=0.25)
"""Under agreement, medium impact: a mean risk of 0.075 / 0.3, and nobody's risk above one in three."""
DIVERSE = Limits(k=5, values=2)


@dataclass(frozen=True, kw_only=True)
class MadeUp:
    """A table, what its columns are, and what an owner says of them."""

    columns: dict[str, list[Value]]
    sensitive: tuple[str, ...]
    limits: Limits
    rules: dict[str, Any] = field(default_factory=dict)
    """Masks and calendars, as a roles file has them."""
    trees: dict[str, dict[Value, list[str]]] = field(default_factory=dict)
    """Taxonomies: the labels above each value."""
    hand: dict[str, list[Coarser]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def quasi(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name not in self.sensitive)


# --- what a statistician does to a column


def band(width: float, top: float | None = None, bottom: float | None = None) -> Coarser:
    """Bands of a width, everything from `top` on together, and everything below `bottom`."""

    def coarser(value: Value) -> str:
        if value is None:
            return "missing"
        if top is not None and value >= top:
            return f"{top}+"
        if bottom is not None and value < bottom:
            return f"<{bottom}"
        return str(int(value // width))

    return coarser


def edges(*ends: float) -> Coarser:
    """Between these ends."""
    return lambda value: "missing" if value is None else str(sum(value >= end for end in ends))


def first(letters: int) -> Coarser:
    """The first letters of a code."""
    return lambda value: "missing" if value is None else str(value)[:letters]


def year(years: int = 1) -> Coarser:
    return lambda value: "missing" if value is None else str(value.year // years)


def quarter(value: Value) -> str:
    return "missing" if value is None else f"{value.year} {(value.month + 2) // 3}"


def others(values: Sequence[Value], keep: int) -> Coarser:
    """The most frequent values as they are, all others together."""
    frequent = {value for value, _ in Counter(values).most_common(keep)}
    return lambda value: str(value) if value in frequent else "other"


def into(**groups: str) -> Coarser:
    """Groups of values, written as 'a b c'."""
    of = {member: name for name, members in groups.items() for member in members.split()}
    return lambda value: of.get(str(value), "other")


def above(tree: Mapping[Value, list[str]], level: int) -> Coarser:
    return lambda value: tree[value][level] if value in tree else "missing"


# --- what the tables draw from


def _days(rng: np.random.Generator, start: str, days: int, rows: int) -> list[Value]:
    first_day = datetime.date.fromisoformat(start)
    return [first_day + datetime.timedelta(days=int(day)) for day in rng.integers(0, days, rows)]


def _skewed(rng: np.random.Generator, values: Sequence[Value], rows: int, power: float = 1.0) -> list[Value]:
    weights = 1.0 / np.arange(1, len(values) + 1) ** power
    return [values[i] for i in rng.choice(len(values), rows, p=weights / weights.sum())]


def _ages(rng: np.random.Generator, rows: int, low: int = 18, high: int = 95) -> list[int]:
    return np.clip(rng.normal(48, 19, rows).round(), low, high).astype(int).tolist()


def _gone(rng: np.random.Generator, values: Sequence[Value], share: float) -> list[Value]:
    lost = rng.random(len(values)) < share
    return [None if gone else value for value, gone in zip(values, lost, strict=True)]


def _ill(rng: np.random.Generator, rows: int, values: str = "abcdefgh") -> list[str]:
    return _skewed(rng, [f"ill {letter}" for letter in values], rows, 0.8)


AGE = [band(5, 85), band(10, 80), band(20, 80)]


def hospital(rows: int) -> MadeUp:
    """Stays: age, sex, postal code and diagnosis group with masks, a day of admission with a calendar."""
    rng = np.random.default_rng(1)
    place = rng.zipf(1.5, rows) % 60
    columns: dict[str, list[Value]] = {
        "age": _ages(rng, rows, 0),
        "sex": rng.choice(["f", "m"], rows).tolist(),
        "postal": [f"{10 + p // 10}{p % 10}{rng.integers(0, 10)}{rng.integers(0, 10)}" for p in place],
        "admitted": _days(rng, "2023-01-01", 730, rows),
        "ward": _skewed(rng, [f"{c}{d}" for c in "ABCDE" for d in range(1, 7)], rows),
        "diagnosis": _ill(rng, rows, "abcdefghijkl"),
    }
    return MadeUp(
        columns=columns,
        sensitive=("diagnosis",),
        limits=PUBLIC,
        rules={
            "postal": {"prefix": [1, 2, 3, 4]},
            "admitted": {"dates": ["month", "quarter", "year"]},
            "ward": {"prefix": [1]},
        },
        hand={"age": AGE, "postal": [first(3), first(2), first(1)], "admitted": [quarter, year()], "ward": [first(1)]},
    )


def agreement(rows: int) -> MadeUp:
    """The same hospital, to researchers under agreement."""
    whole = hospital(rows)
    return MadeUp(
        columns=whole.columns, sensitive=whole.sensitive, limits=AGREEMENT, rules=whole.rules, hand=whole.hand
    )


def money(rows: int) -> MadeUp:
    """Two amounts with a long tail, a region and an age."""
    rng = np.random.default_rng(2)
    income = np.round(np.exp(rng.normal(10.3, 0.7, rows)), -2)
    wealth = np.round(income * np.exp(rng.normal(0.5, 1.2, rows)), -2)
    regions = [f"region {i}" for i in range(9)]
    return MadeUp(
        columns={
            "income": income.astype(int).tolist(),
            "wealth": wealth.astype(int).tolist(),
            "age": _ages(rng, rows),
            "region": _skewed(rng, regions, rows, 0.6),
            "ill": _ill(rng, rows),
        },
        sensitive=("ill",),
        limits=AGREEMENT,
        hand={
            "income": [band(5000, 100_000), band(10_000, 80_000), edges(20_000, 40_000, 60_000)],
            "wealth": [edges(*range(10_000, 200_000, 10_000)), edges(10_000, 30_000, 60_000, 120_000), edges(50_000)],
            "age": AGE,
        },
    )


def wide(rows: int) -> MadeUp:
    """Twelve columns that follow three hidden ones: numbers, codes with masks, letters with a taxonomy."""
    rng = np.random.default_rng(3)
    base = rng.normal(size=(rows, 3))
    columns: dict[str, list[Value]] = {}
    rules: dict[str, Any] = {}
    hand: dict[str, list[Coarser]] = {}
    trees: dict[str, dict[Value, list[str]]] = {}
    for j in range(12):
        mix = base @ rng.normal(size=3) + rng.normal(size=rows)
        rank = np.argsort(np.argsort(mix))
        name = f"c{j}"
        if j % 3 == 0:
            columns[name] = (rank * 60 // rows).tolist()
            hand[name] = [band(10), band(20)]
        elif j % 3 == 1:
            columns[name] = [f"{code:03d}" for code in rank * 120 // rows + 100]
            rules[name] = {"prefix": [1, 2]}
            hand[name] = [first(2), first(1)]
        else:
            letters = [chr(97 + code) for code in rank * 12 // rows]
            columns[name] = list(letters)
            trees[name] = {letter: ["early" if letter < "g" else "late"] for letter in sorted(set(letters))}
            hand[name] = [above(trees[name], 0)]
    columns["ill"] = _ill(rng, rows)
    return MadeUp(columns=columns, sensitive=("ill",), limits=DIVERSE, rules=rules, trees=trees, hand=hand)


def wider(rows: int) -> MadeUp:
    """Ten columns of numbers and codes of many values, all with masks, hardly related."""
    rng = np.random.default_rng(4)
    columns: dict[str, list[Value]] = {}
    rules, hand = {}, {}
    for j in range(5):
        columns[f"code{j}"] = [f"{v:04d}" for v in (rng.zipf(1.6, rows) * 37) % 4000]
        rules[f"code{j}"] = {"prefix": [1, 2, 3]}
        hand[f"code{j}"] = [first(2), first(1)]
    for j in range(5):
        columns[f"number{j}"] = np.round(rng.gamma(2 + j, 12, rows)).astype(int).tolist()
        hand[f"number{j}"] = [band(10, 100), band(30, 90)]
    columns["ill"] = _ill(rng, rows)
    return MadeUp(columns=columns, sensitive=("ill",), limits=DIVERSE, rules=rules, hand=hand)


def codes(rows: int) -> MadeUp:
    """Postal codes and occupations of which few are frequent, days of birth, a sex."""
    rng = np.random.default_rng(5)
    columns: dict[str, list[Value]] = {
        "zip": [
            str((z * 37 % 900 + 100) * 100 + d)
            for z, d in zip(rng.zipf(1.4, rows), rng.integers(0, 40, rows), strict=True)
        ],
        "born": _days(rng, "1940-01-01", 25_000, rows),
        "occupation": [f"{v:04d}" for v in (rng.zipf(1.5, rows) * 131) % 7000],
        "sex": rng.choice(["f", "m"], rows).tolist(),
        "ill": _ill(rng, rows),
    }
    return MadeUp(
        columns=columns,
        sensitive=("ill",),
        limits=PUBLIC,
        rules={
            "zip": {"prefix": [1, 2, 3, 4]},
            "born": {"dates": ["month", "quarter", "year", "decade"]},
            "occupation": {"prefix": [1, 2, 3]},
        },
        hand={
            "zip": [first(3), first(2), first(1)],
            "born": [year(5), year(10), year(20)],
            "occupation": [first(2), first(1)],
        },
    )


def missing(rows: int) -> MadeUp:
    """A survey in which a tenth to a half of the answers are missing."""
    rng = np.random.default_rng(6)
    schooling = ["none", "primary", "secondary", "college", "university"]
    trees = {"schooling": {value: ["lower" if i < 3 else "higher"] for i, value in enumerate(schooling)}}
    return MadeUp(
        columns={
            "age": _gone(rng, _ages(rng, rows), 0.1),
            "income": _gone(rng, np.round(rng.gamma(2, 1200, rows), -1).astype(int).tolist(), 0.35),
            "schooling": _gone(rng, _skewed(rng, schooling, rows, 0.3), 0.2),
            "children": _gone(rng, np.minimum(rng.poisson(1.3, rows), 8).tolist(), 0.5),
            "canton": _skewed(rng, [f"canton {i}" for i in range(16)], rows, 0.7),
            "drugs": _skewed(rng, ["never", "once", "often"], rows, 0.9),
        },
        sensitive=("drugs",),
        limits=AGREEMENT,
        trees=trees,
        hand={
            "age": AGE,
            "income": [band(500, 6000), band(1000, 5000), band(2000, 4000)],
            "schooling": [above(trees["schooling"], 0)],
            "children": [band(1, 3), band(1, 1)],
        },
    )


def few(rows: int) -> MadeUp:
    """A small clinic: a tenth of the rows."""
    rng = np.random.default_rng(7)
    rows = max(rows // 10, 60)
    return MadeUp(
        columns={
            "age": _ages(rng, rows),
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "weight": rng.normal(75, 15, rows).round().astype(int).tolist(),
            "town": _skewed(rng, [f"town {i}" for i in range(12)], rows),
            "ill": _ill(rng, rows, "abcde"),
        },
        sensitive=("ill",),
        limits=DIVERSE,
        hand={"age": AGE, "weight": [band(10, 100, 50), band(20, 90, 60)]},
    )


def large(rows: int) -> MadeUp:
    """Three times the rows of the others, five columns of few values."""
    rng = np.random.default_rng(8)
    rows *= 3
    return MadeUp(
        columns={
            "age": _ages(rng, rows),
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "state": _skewed(rng, [f"state {i}" for i in range(20)], rows, 0.8),
            "marital": _skewed(rng, ["married", "single", "divorced", "widowed"], rows),
            "work": _skewed(rng, [f"work {i}" for i in range(14)], rows),
            "ill": _ill(rng, rows, "abcdefghijkl"),
        },
        sensitive=("ill",),
        limits=PUBLIC,
        hand={"age": AGE},
    )


def several(rows: int) -> MadeUp:
    """Three sensitive columns, of which one is mostly no."""
    rng = np.random.default_rng(9)
    return MadeUp(
        columns={
            "age": _ages(rng, rows),
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "region": _skewed(rng, [f"region {i}" for i in range(12)], rows, 0.6),
            "household": np.minimum(1 + rng.poisson(1.4, rows), 8).tolist(),
            "ill": _ill(rng, rows),
            "hiv": rng.choice(["no", "yes"], rows, p=[0.93, 0.07]).tolist(),
            "debt": np.round(rng.exponential(8000, rows), -3).astype(int).tolist(),
        },
        sensitive=("ill", "hiv", "debt"),
        limits=PUBLIC,
        hand={"age": AGE, "household": [band(1, 5), band(2, 4)]},
    )


def dates(rows: int) -> MadeUp:
    """Three days a person, each with a calendar."""
    rng = np.random.default_rng(10)
    born = _days(rng, "1930-01-01", 29_000, rows)
    admitted = _days(rng, "2022-01-01", 1000, rows)
    stays = [int(1 + d) for d in rng.gamma(1.2, 6, rows)]
    calendar = {"dates": ["month", "quarter", "year", "decade"]}
    return MadeUp(
        columns={
            "born": born,
            "admitted": admitted,
            "discharged": [a + datetime.timedelta(days=d) for a, d in zip(admitted, stays, strict=True)],
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "ill": _ill(rng, rows),
        },
        sensitive=("ill",),
        limits=AGREEMENT,
        rules={"born": calendar, "admitted": calendar, "discharged": calendar},
        hand={"born": [year(5), year(10), year(20)], "admitted": [quarter, year()], "discharged": [quarter, year()]},
    )


def places(rows: int) -> MadeUp:
    """Home and work in a taxonomy of municipality, district and region."""
    rng = np.random.default_rng(11)
    towns = [f"m{r}{d}{m}" for r in range(4) for d in range(4) for m in range(4)]
    tree: dict[Value, list[str]] = {town: [f"district {town[1:3]}", f"region {town[1]}"] for town in towns}
    home = _skewed(rng, towns, rows, 0.5)
    works_near = rng.random(rows) < 0.7
    work = [
        h[:3] + str(rng.integers(4)) if near else w
        for h, w, near in zip(home, _skewed(rng, towns, rows, 0.9), works_near, strict=True)
    ]
    return MadeUp(
        columns={
            "home": home,
            "work": work,
            "age": _ages(rng, rows),
            "vehicle": _skewed(rng, ["car", "bus", "train", "bicycle", "foot"], rows, 0.7),
            "ill": _ill(rng, rows),
        },
        sensitive=("ill",),
        limits=DIVERSE,
        trees={name: {t: tree[t] for t in sorted(set(values))} for name, values in (("home", home), ("work", work))},
        hand={"home": [above(tree, 0), above(tree, 1)], "work": [above(tree, 0), above(tree, 1)], "age": AGE},
    )


def zeros(rows: int) -> MadeUp:
    """Amounts that most have none of: gains, benefits, overtime."""
    rng = np.random.default_rng(12)

    def mostly_none(share: float, scale: float) -> list[int]:
        amount = np.round(rng.exponential(scale, rows) + 1)
        return np.where(rng.random(rows) < share, 0, amount).astype(int).tolist()

    return MadeUp(
        columns={
            "gain": mostly_none(0.92, 3000),
            "benefit": mostly_none(0.8, 400),
            "overtime": mostly_none(0.6, 12),
            "age": _ages(rng, rows),
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "ill": _ill(rng, rows),
        },
        sensitive=("ill",),
        limits=PUBLIC,
        rules={"benefit": {"cuts": [[1, 200, 600], [1]]}},
        hand={
            "gain": [edges(1, 1000, 5000), edges(1)],
            "benefit": [edges(1, 200, 600), edges(1)],
            "overtime": [edges(1, 10, 30), edges(1)],
            "age": AGE,
        },
    )


def families(rows: int) -> MadeUp:
    """Six answers from 1 to 7 that belong together, and who answered."""
    rng = np.random.default_rng(13)
    mood = rng.normal(size=rows)
    answers = {
        f"answer{j}": np.clip(np.round(4 + 1.3 * mood + rng.normal(0, 1, rows)), 1, 7).astype(int).tolist()
        for j in range(6)
    }
    thirds = [edges(3, 5), edges(4)]
    return MadeUp(
        columns={
            **answers,
            "age": _ages(rng, rows),
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "union": rng.choice(["no", "yes"], rows, p=[0.8, 0.2]).tolist(),
        },
        sensitive=("union",),
        limits=AGREEMENT,
        hand={"age": AGE, **dict.fromkeys(answers, thirds)},
    )


def body(rows: int) -> MadeUp:
    """Measures of a body that hang together."""
    rng = np.random.default_rng(14)
    height = rng.normal(171, 10, rows)
    weight = 0.9 * (height - 100) + rng.normal(3, 9, rows)
    return MadeUp(
        columns={
            "height": height.round().astype(int).tolist(),
            "weight": weight.round().astype(int).tolist(),
            "shoe": (height / 4.1 + rng.normal(0, 1, rows)).round().astype(int).tolist(),
            "age": _ages(rng, rows),
            "sex": ["m" if h + d > 171 else "f" for h, d in zip(height, rng.normal(0, 7, rows), strict=True)],
            "ill": _ill(rng, rows),
        },
        sensitive=("ill",),
        limits=PUBLIC,
        hand={
            "height": [band(5, 190, 155), band(10, 185, 160)],
            "weight": [band(5, 100, 50), band(10, 90, 60)],
            "shoe": [band(2, 46, 38), edges(40, 43)],
            "age": AGE,
        },
    )


def flags(rows: int) -> MadeUp:
    """Ten columns of yes and no, most of them mostly no, and an age."""
    rng = np.random.default_rng(15)
    shares = (0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.02)
    columns = {f"has{j}": np.where(rng.random(rows) < s, "yes", "no").tolist() for j, s in enumerate(shares)}
    return MadeUp(
        columns={**columns, "age": _ages(rng, rows), "ill": _ill(rng, rows)},
        sensitive=("ill",),
        limits=DIVERSE,
        hand={"age": AGE},
    )


def school(rows: int) -> MadeUp:
    """Pupils: year, class, points, language, neighbourhood."""
    rng = np.random.default_rng(16)
    grade = rng.integers(5, 13, rows)
    return MadeUp(
        columns={
            "grade": grade.tolist(),
            "class": [f"{g}{c}" for g, c in zip(grade, rng.choice(list("abcd"), rows), strict=True)],
            "points": np.clip(rng.normal(62, 14, rows).round(), 0, 100).astype(int).tolist(),
            "language": _skewed(rng, [f"language {i}" for i in range(18)], rows, 1.4),
            "area": _skewed(rng, [f"area {i}" for i in range(10)], rows, 0.5),
            "support": rng.choice(["no", "yes"], rows, p=[0.85, 0.15]).tolist(),
        },
        sensitive=("support",),
        limits=DIVERSE,
        hand={
            "grade": [edges(7, 9, 11), edges(9)],
            "class": [lambda value: str(value)[:-1], lambda value: str(int(str(value)[:-1]) > 8)],
            "points": [band(10, 90, 40), band(20, 80, 40)],
        },
    )


def staff(rows: int) -> MadeUp:
    """A company: salary follows title and years; titles with a taxonomy."""
    rng = np.random.default_rng(17)
    titles = [
        "clerk",
        "typist",
        "guard",
        "cook",
        "driver",
        "engineer",
        "analyst",
        "jurist",
        "doctor",
        "manager",
        "director",
    ]
    groups = [
        "office",
        "office",
        "service",
        "service",
        "service",
        "expert",
        "expert",
        "expert",
        "expert",
        "head",
        "head",
    ]
    tree: dict[Value, list[str]] = {
        t: [g, "staff" if g in ("office", "service") else "lead"] for t, g in zip(titles, groups, strict=True)
    }
    title = _skewed(rng, titles, rows, 0.7)
    years = np.minimum(rng.exponential(8, rows).astype(int), 40)
    pay = [2000 + 350 * titles.index(t) + 40 * y for t, y in zip(title, years.tolist(), strict=True)]
    return MadeUp(
        columns={
            "title": title,
            "salary": np.round(np.array(pay) * np.exp(rng.normal(0, 0.08, rows)), -1).astype(int).tolist(),
            "years": years.tolist(),
            "site": _skewed(rng, [f"site {i}" for i in range(8)], rows, 0.8),
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "sick": _skewed(rng, ["0 days", "1 to 5 days", "more"], rows, 0.9),
        },
        sensitive=("sick",),
        limits=AGREEMENT,
        trees={"title": {t: tree[t] for t in sorted(set(title))}},
        hand={
            "title": [above(tree, 0), above(tree, 1)],
            "salary": [band(500, 6000), band(1000, 6000), band(2000, 6000)],
            "years": [band(5, 25), edges(5, 15)],
        },
    )


def plain(rows: int) -> MadeUp:
    """Numbers that know nothing of one another, each value as frequent as any."""
    rng = np.random.default_rng(18)
    return MadeUp(
        columns={**{f"n{j}": rng.integers(0, 50, rows).tolist() for j in range(4)}, "ill": _ill(rng, rows)},
        sensitive=("ill",),
        limits=AGREEMENT,
        hand={f"n{j}": [band(5), band(10), band(25)] for j in range(4)},
    )


def rare(rows: int) -> MadeUp:
    """Nearly everybody alike, and many values that few have."""
    rng = np.random.default_rng(19)
    return MadeUp(
        columns={
            "nation": _skewed(rng, [f"nation {i}" for i in range(40)], rows, 1.9),
            "faith": _skewed(rng, [f"faith {i}" for i in range(15)], rows, 1.6),
            "tongue": _skewed(rng, [f"tongue {i}" for i in range(25)], rows, 1.8),
            "children": np.minimum(rng.poisson(0.8, rows), 9).tolist(),
            "age": _ages(rng, rows),
            "ill": _ill(rng, rows),
        },
        sensitive=("ill",),
        limits=PUBLIC,
        hand={"children": [band(1, 3), band(1, 1)], "age": AGE},
    )


def census(rows: int) -> MadeUp:
    """Categories with taxonomies of three levels, hours, and an income above or below a limit."""
    rng = np.random.default_rng(20)
    schools = [f"grade {i}" for i in range(1, 9)] + ["graduate", "college", "associate", "bachelor", "master", "doctor"]
    up = ["primary"] * 4 + ["middle"] * 4 + ["secondary"] * 2 + ["higher"] * 4
    school_tree: dict[Value, list[str]] = {
        s: [u, "low" if u in ("primary", "middle") else "high"] for s, u in zip(schools, up, strict=True)
    }
    lands = [f"land {i}" for i in range(30)]
    land_tree: dict[Value, list[str]] = {land: [f"area {i % 6}", f"continent {i % 3}"] for i, land in enumerate(lands)}
    schooling, land = _skewed(rng, schools[::-1], rows, 0.5), _skewed(rng, lands, rows, 2.2)
    return MadeUp(
        columns={
            "age": _ages(rng, rows, 17, 90),
            "schooling": schooling,
            "land": land,
            "sex": rng.choice(["f", "m"], rows, p=[0.33, 0.67]).tolist(),
            "hours": np.where(rng.random(rows) < 0.5, 40, np.clip(rng.normal(40, 13, rows), 1, 99))
            .round()
            .astype(int)
            .tolist(),
            "class": _skewed(rng, ["private", "self", "state", "federal", "unpaid"], rows, 1.5),
            "income": rng.choice(["<=50K", ">50K"], rows, p=[0.75, 0.25]).tolist(),
        },
        sensitive=("income",),
        limits=DIVERSE,
        trees={
            "schooling": {s: school_tree[s] for s in sorted(set(schooling))},
            "land": {v: land_tree[v] for v in sorted(set(land))},
        },
        hand={
            "age": AGE,
            "schooling": [above(school_tree, 0), above(school_tree, 1)],
            "land": [above(land_tree, 0), above(land_tree, 1)],
            "hours": [edges(20, 35, 40, 41, 50), edges(35, 45)],
        },
    )


def complete(made: MadeUp) -> MadeUp:
    """With a recoding by hand of the columns that have none: the most frequent values and all others."""
    more = {}
    for name in made.quasi:
        values = made.columns[name]
        if name not in made.hand:
            size = len(set(values))
            more[name] = [others(values, keep) for keep in (8, 4, 1) if keep < size - 1]
    return MadeUp(
        columns=made.columns,
        sensitive=made.sensitive,
        limits=made.limits,
        rules=made.rules,
        trees=made.trees,
        hand={**made.hand, **more},
    )


TABLES: dict[str, Callable[[int], MadeUp]] = {
    make.__name__: make
    for make in (
        hospital, agreement, wide, wider, money, codes, missing, few, large, several,
        dates, places, zeros, families, body, flags, school, staff, plain, rare, census,
    )
}  # fmt: skip
