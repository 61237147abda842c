"""What classes may say: `.venv/bin/python benchmarks/partitions.py [PART] [TABLE...]`; without a part, all of them.

labels   Mondrian and k-member, k = 5, with hierarchies, without them, and with the cheapest label class by class
improve  the same two, as they are and with the improvement pass, with and without hierarchies; microaggregation (its own error is in the
         query errors)
means    a mean risk of 1/4 and at least three rows a class: classes of four, improved, and classes of three that are put together until the
         mean is met
bound    the least that any release can lose with classes of at least k rows (sf.least_loss), beside the best of the releases here

Each line is one release: ILoss, the error of counting queries (over sets and over ranges of values), classes, and CPU seconds as a
multiple of the first line of its mechanism. ILoss alone can be gamed by sets of values, so it never stands without the errors.

Tables: Adult with seven quasi-identifiers; made up: `wide` (twelve correlated columns: numbers, codes with masks, letters with a
taxonomy), `money` (two long-tailed amounts), `codes` (postal codes, days of birth, occupations, all with masks or a calendar).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from _bench import ADULT, QUASI, adult_roles, timed

import sfumato as sf
from sfumato.core.hierarchy import Hierarchy

Made = tuple[Any, sf.Roles]


def wide(rows: int = 4000) -> Made:
    """Twelve columns that follow three hidden ones: numbers, codes with masks, letters with a taxonomy."""
    rng = np.random.default_rng(11)
    base = rng.normal(size=(rows, 3))
    columns: dict[str, Any] = {}
    rules: dict[str, Any] = {}
    for j in range(12):
        mix = base @ rng.normal(size=3) + rng.normal(size=rows)
        if j % 3 == 0:
            columns[f"n{j}"] = np.round(50 + 12 * mix).astype(int)
        elif j % 3 == 1:
            columns[f"c{j}"] = [f"K{v:03d}" for v in np.clip(np.round(400 + 60 * mix), 0, 999).astype(int)]
            rules[f"c{j}"] = {"prefix": [1, 2, 3]}
        else:
            columns[f"t{j}"] = np.array(list("abcdefgh"))[np.clip(np.round(3.5 + 1.5 * mix), 0, 7).astype(int)]
            rules[f"t{j}"] = Hierarchy.of(f"t{j}", [(x, "abcd" if x < "e" else "efgh", "*") for x in "abcdefgh"])
    quasi = tuple(columns)
    return _made({**columns, "ill": rng.choice(list("uvwxyz"), rows)}, quasi, rules)


def money(rows: int = 6000) -> Made:
    """Age, two long-tailed amounts of which one has many zeros, a region, a sex."""
    rng = np.random.default_rng(12)
    age = rng.integers(18, 91, rows)
    pay = np.round(np.exp(rng.normal(10 + age / 200, 0.9, rows)), -2).astype(int)
    wealth = np.where(rng.random(rows) < 0.3, 0, np.round(np.exp(rng.normal(11, 1.6, rows)), -3)).astype(int)
    region = rng.choice([f"r{i:02d}" for i in range(12)], rows, p=np.arange(12, 0, -1) / 78)
    columns = {"age": age, "pay": pay, "wealth": wealth, "region": region, "sex": rng.choice(["f", "m"], rows)}
    return _made({**columns, "ill": rng.choice(list("abcdefg"), rows)}, tuple(columns), {"region": {"prefix": [1, 2]}})


def codes(rows: int = 6000) -> Made:
    """Postal codes and occupations of which few are frequent, days of birth, a sex."""
    rng = np.random.default_rng(13)
    columns = {
        "zip": (rng.zipf(1.4, rows) * 37 % 900 + 100) * 100 + rng.integers(0, 40, rows),
        "born": np.datetime64("1940-01-01") + rng.integers(0, 25000, rows),
        "occ": [f"{v:04d}" for v in (rng.zipf(1.5, rows) * 131) % 7000],
        "sex": rng.choice(["f", "m"], rows),
    }
    rules = {
        "zip": {"prefix": [1, 2, 3, 4]},
        "born": {"dates": ["month", "quarter", "year", "decade"]},
        "occ": {"prefix": [1, 2, 3]},
    }
    return _made({**columns, "ill": rng.choice(list("abcdefg"), rows)}, tuple(columns), rules)


def _made(columns: dict[str, Any], quasi: tuple[str, ...], rules: dict[str, Any]) -> Made:
    return sf.read(pa.table(columns)), sf.Roles(quasi=quasi, sensitive=("ill",), hierarchies=rules)


TABLES: dict[str, Callable[[], Made]] = {"wide": wide, "money": money, "codes": codes}
if ADULT.is_file():
    TABLES["adult"] = lambda: (sf.read(ADULT), adult_roles(QUASI))


def show(title: str, mechanism: Any, table: Any, roles: sf.Roles, first: float | None) -> float:
    """Make a release and print its line; its CPU seconds."""
    made: dict[str, Any] = {}
    _, cpu = timed(lambda: made.update(release=mechanism(table, roles)))
    release = made["release"]
    errors = [sf.metric(f"query_error[predicates={p}]")(release, roles).value for p in ("sets", "ranges")]
    lost = "     -" if mechanism.card.name == "microaggregation" else f"{sf.iloss(release, roles).value:.4f}"
    print(
        f"    {title:34} ILoss {lost}   query error {errors[0]:.3f} {errors[1]:.3f}   "
        f"{len(release.table.count(roles.quasi)):5,d} classes   {cpu / (first or cpu):5.1f}x",
        flush=True,
    )
    return cpu


def labels(table: Any, roles: sf.Roles) -> None:
    for kind in (sf.Mondrian, sf.KMember):
        first = None
        for run in ("hierarchies", "plain", "cheapest", "any"):
            cpu = show(f"{kind.card.name} labels={run}", kind(k=5, labels=run), table, roles, first)
            first = first or cpu


def improve(table: Any, roles: sf.Roles) -> None:
    for kind in (sf.Mondrian, sf.KMember):
        for run in ("hierarchies", "plain"):
            first = None
            for better in (False, True):
                title = f"{kind.card.name} labels={run}" + ", improved" * better
                cpu = show(title, kind(k=5, labels=run, improve=better), table, roles, first)
                first = first or cpu
    first = None
    for better in (False, True):
        made = sf.Microaggregation(k=5, improve=better)
        cpu = show("microaggregation" + ", improved" * better, made, table, roles, first)
        first = first or cpu


def means(table: Any, roles: sf.Roles) -> None:
    asked = (sf.require("marketer_risk <= 0.25"),)
    for kind in (sf.Mondrian, sf.KMember):
        for run in ("hierarchies", "plain"):
            first = None
            for made in (kind(k=4, labels=run, improve=True), kind(k=3, labels=run, improve=True, require=asked)):
                title = f"{kind.card.name} labels={run}" + (", mean <= 1/4" if made.require else ", k=4")
                cpu = show(title, made, table, roles, first)
                first = first or cpu


def bound(table: Any, roles: sf.Roles) -> None:
    mean = (sf.require("marketer_risk <= 0.25"),)
    for k, asked in ((3, ()), (3, mean), (5, ()), (10, ()), (20, ())):
        for run in ("hierarchies", "plain"):
            made: dict[str, Any] = {}
            _, cpu = timed(
                lambda k=k, asked=asked, run=run, made=made: made.update(
                    bound=sf.least_loss(table, roles, k=k, require=asked, labels=run).value
                )
            )
            lost = sf.iloss(sf.KMember(k=k, labels=run, improve=True, require=asked)(table, roles), roles).value
            title = f"k={k}" + ", mean <= 1/4" * bool(asked)
            print(
                f"    {title:17} labels={run:12} no release loses less than {made['bound']:.4f}   k_member, improved, loses {lost:.4f}   "
                f"bound {made['bound'] / lost:4.0%}   {cpu:.1f} CPU s",
                flush=True,
            )


PARTS = {"labels": labels, "improve": improve, "means": means, "bound": bound}


def main() -> None:
    asked = sys.argv[1:]
    parts = [name for name in asked if name in PARTS] or list(PARTS)
    tables = [name for name in asked if name in TABLES] or list(TABLES)
    for name in asked:
        if name not in (*PARTS, *TABLES):
            raise SystemExit(f"There is no part or table {name!r}; there are {', '.join((*PARTS, *TABLES))}.")
    for part in parts:
        print(part)
        for name in tables:
            table, roles = TABLES[name]()
            print(
                f"  {name}: {table.rows:,} rows, {len(table.count(roles.quasi)):,} distinct, {len(roles.quasi)} columns"
            )
            PARTS[part](table, roles)


if __name__ == "__main__":
    main()
