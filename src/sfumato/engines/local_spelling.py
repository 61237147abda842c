"""Dates and numbers as other countries spell them, read as what they are: looked at over all values, said aloud, overridable.

The first rows rule out most columns. What is left is looked at in one scan of the whole table, all columns in one query; only where
the first comma of a column of numbers stands beyond the first rows are such columns looked at once more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.errors import InputError
from ..core.spelling import (
    AMOUNTS,
    COMMA,
    CURRENCY,
    DATES,
    DAY,
    DECIMAL,
    DECIMALS,
    GROUPS,
    MARKS,
    MONEY,
    NOT_OF_NUMBERS,
    PARTED,
    POINT,
    SHORT,
    ColumnSpelling,
    Evidence,
    Way,
    decide,
    hopeful,
    in_currencies,
    look,
    telling,
)
from ..core.table import Table
from .duckdb import DuckTable, arrow, literal, name_of, run

_FIRST = 1000
"""Rows that are looked at one by one before the engine looks at all."""


def checked(dates: Any, decimal: Any) -> tuple[str | None, str | None]:
    """The two options, refused where they are none of their words."""
    for name, given, known in (("dates", dates, DATES), ("decimal", decimal, DECIMALS)):
        if given is not None and given not in known:
            raise InputError(f"{name} must be {', '.join(known[:-1])} or {known[-1]}.")
    return dates, decimal


def understood(
    table: DuckTable,
    *,
    dates: str | None = None,
    decimal: str | None = None,
    commas: Callable[[], bool] = lambda: True,
    points: Collection[str] = (),
) -> DuckTable:
    """The table with its columns of dates as YYYY-MM-DD and of numbers with a point; the notes say which, column by column.

    `commas` tells whether a field can hold a comma at all: most files have none, and their numbers are as they stand. In the
    columns `points` a point is known to be decimal, so a comma is not.
    Extremes: a column without a value, or with one text among its dates, is left as it stands.
    """
    names = [name for name in table.columns if table.types[name] == "VARCHAR"]
    if not names or dates == decimal == "text":
        return table
    chosen = ", ".join(name_of(name) for name in names)
    try:
        first = arrow(f"SELECT {chosen} FROM ({table.sql}) LIMIT {_FIRST}", table.name)
    except InputError:  # the file cannot be read: said, with the line, by whoever first needs its rows
        return table
    seen = {name: look(first.column(i).to_pylist(), decimal=decimal) for i, name in enumerate(names)}
    for name in seen.keys() & set(points):
        seen[name]["comma"] = False
    seen = {name: evidence for name, evidence in seen.items() if hopeful(evidence)}
    if (
        len(first) == _FIRST
        and decimal != "comma"
        and any(e["comma"] or e["point"] for e in seen.values())
        and not commas()
    ):
        seen = {name: {**evidence, "comma": False, "point": False} for name, evidence in seen.items()}
        seen = {name: evidence for name, evidence in seen.items() if hopeful(evidence)}
    if len(first) == _FIRST and seen:
        source = table._source()[0]
        # numbers without a comma so far: most are to the end, so that is all that is asked of them
        bare = {name for name, evidence in seen.items() if evidence["some"] and not evidence["signs"]}
        _look_at_all(table, source, seen, decimal, bare)
        _look_at_all(table, source, {name: seen[name] for name in bare if seen[name]["signs"]}, decimal)
    spellings = {name: decide(evidence, dates=dates, decimal=decimal) for name, evidence in seen.items()}
    return _read(table, {name: each for name, each in spellings.items() if each.said})


def alike(table: Table, original: Table | None) -> Table:
    """A release spelled as its original is: what its own values leave open is read as there, and what is text there is text here.

    The original is scanned only where a column of the release was read that was not read there, or where only the original tells
    what its points are.
    """
    if not isinstance(table, DuckTable) or not isinstance(original, DuckTable):
        return table
    there = original.spelled[1] if original.spelled else {}
    before, spellings = table.spelled or (table, {})
    said = {}
    for name, here in spellings.items():
        way = there.get(name, ColumnSpelling()).way
        if here.way is None and way in here.open:
            said[name] = _as_there(way)
    for name, stood in _points_alone(before, original, [n for n, each in there.items() if each.way == DECIMAL]).items():
        here = spellings.get(name, ColumnSpelling())
        if stood and here.way is None:
            said[name] = _as_there(DECIMAL)
        elif here.way == DECIMAL and not stood:
            said[name] = ColumnSpelling(
                said="holds numbers with a point already, as the original is read: left as they are"
            )
    read = [
        n for n, f in spellings.items() if f.way and n in original.columns and not there.get(n, ColumnSpelling()).way
    ]
    for name in _still_spelled(original, before, {name: w for name in read if (w := spellings[name].way)}):
        said[name] = ColumnSpelling(said="is left as text, as the original is")
    if not said:
        return table
    made = _read(before, {**spellings, **said})
    return replace(made, notes=(*table.notes, *(f"column {name!r} {each.said}" for name, each in said.items())))


def _as_there(way: Way | None) -> ColumnSpelling:
    return ColumnSpelling(way, said=f"is read as the original is: {way.name}" if way else "")


def _points_alone(release: DuckTable, original: DuckTable, names: Sequence[str]) -> dict[str, bool]:
    """The columns where only 1.234 is left, which is 1234 as the original's file spells it and 1.234 as a release of ours does.

    True: all values stand in that file, and not all are among its values as they are read; False: the reverse. What is both or
    neither is not told. One scan of the release, and two queries for each column that is in doubt.
    """
    texts = [name for name in names if release.types.get(name) == "VARCHAR"]
    if not texts or original.spelled is None:
        return {}
    source = release._source()[0]
    asked = [
        f"bool_and({_fits(cell, f'{COMMA}|{MARKS}')} AND NOT contains({cell}, ',')) AND bool_or({_grouped(cell)})"
        for cell in map(name_of, texts)
    ]
    (row,) = run(f"SELECT {', '.join(asked)} FROM ({source})", release.name)
    stands = {}
    for name in (name for name, doubt in zip(texts, row, strict=True) if doubt):
        cell = name_of(name)
        values = f"SELECT {cell} FROM ({source}) WHERE NOT {_fits(cell, MARKS)}"
        stood, read = (
            not run(f"SELECT 1 FROM ({values} EXCEPT SELECT {cell} FROM ({one._source()[0]})) LIMIT 1", release.name)
            for one in (original.spelled[0], original)
        )
        if stood != read:
            stands[name] = stood
    return stands


def _read(table: DuckTable, spellings: Mapping[str, ColumnSpelling]) -> DuckTable:
    """The columns of a table read as what was found."""
    if not spellings:
        return table
    cells = {name: _cell(name_of(name), each.way) for name, each in spellings.items() if each.way}
    notes = [f"column {name!r} {each.said}" for name, each in spellings.items()]
    made = table.each(cells, notes) if cells else replace(table, notes=(*table.notes, *notes))
    return replace(made, spelled=(table, spellings))


def _cell(cell: str, way: Way) -> str:
    """A value in plain spelling; what may stand beside values (`*`, NA) stays."""
    if way.sign:
        return f"COALESCE(strftime(try_strptime({cell}, {_form(way.sign, way.first)}), '%Y-%m-%d'), {cell})"
    if way.currency:
        name = "comma" if way.comma else "point"
        bare = f"replace(regexp_replace({cell}, {literal(NOT_OF_NUMBERS[name])}, '', 'g'), ',', '.')"
        return f"CASE WHEN {_fits(cell, AMOUNTS[name])} THEN {bare} ELSE {cell} END"
    plain = cell
    for sign in GROUPS if way.comma else ",":
        plain = f"replace({plain}, {literal(sign)}, '')"
    if not way.comma:
        return plain
    return (
        f"CASE WHEN right({cell}, 1) BETWEEN '0' AND '9' THEN replace({plain}, ',', '.') ELSE {cell} END"  # k.A. stays
    )


def _form(sign: str, first: str) -> str:
    return literal(sign.join(("%d", "%m", "%Y") if first == "day" else ("%m", "%d", "%Y")))


def _fits(cell: str, pattern: str) -> str:
    return f"regexp_full_match({cell}, {literal(pattern)})"


def _grouped(cell: str) -> str:
    return "(" + " OR ".join(f"contains({cell}, {literal(sign)})" for sign in GROUPS) + ")"


def _look_at_all(
    table: DuckTable, source: str, seen: Mapping[str, Evidence], decimal: str | None, bare: Collection[str] = ()
) -> None:
    """Hold what the first rows say against all rows, in one query; of what they have ruled out nothing is asked."""
    asked = [
        (evidence, what, sql)
        for name, evidence in seen.items()
        for what, sql in _questions(name_of(name), evidence, decimal, name in bare)
    ]
    if not asked:
        return
    (row,) = run(f"SELECT {', '.join(sql for _, _, sql in asked)} FROM ({source})", table.name)
    for (evidence, what, _), answer in zip(asked, row, strict=True):
        if what == "currencies":
            evidence |= in_currencies(answer or ())
        else:
            evidence[what] = bool(answer) if what in ("some", "signs", "parted") else answer is not False


def _questions(cell: str, evidence: Evidence, decimal: str | None, bare: bool) -> list[tuple[str, str]]:
    questions = []
    for sign, shape in DAY.items():
        if not evidence[f"shape{sign}"]:
            continue
        questions.append((f"shape{sign}", f"bool_and({_fits(cell, f'{shape}|{MARKS}')})"))
        day, month = (f"try_strptime({cell}, {_form(sign, first)})" for first in ("day", "month"))
        for what, holds in (
            ("day", f"{day} IS NOT NULL"),
            ("month", f"{month} IS NOT NULL"),
            ("same", f"{day} = {month}"),
        ):
            if evidence[f"{what}{sign}"] and not (sign == "." and what != "day"):
                # CASE, not OR: the pattern is tried on the few that are left
                questions.append(
                    (f"{what}{sign}", f"bool_and(CASE WHEN {holds} THEN true ELSE NOT {_fits(cell, shape)} END)")
                )
    if evidence["short"]:
        questions.append(("short", f"bool_and({_fits(cell, f'{SHORT}|{MARKS}')})"))
    numbers = [(n, p) for n, p in (("comma", COMMA), ("point", POINT)) if evidence[n]]
    if not bare:
        questions += [(n, f"bool_and({_fits(cell, f'{p}|{MARKS}')})") for n, p in numbers]
    if numbers and not evidence["signs"]:
        questions.append(("signs", " OR ".join(f"bool_or(contains({cell}, {literal(s)}))" for s in telling(decimal))))
    if evidence["money"]:
        money = ((name, pattern) for name, pattern in MONEY.items() if evidence[name])
        questions += [(name, f"bool_and({_fits(cell, f'{pattern}|{MARKS}')})") for name, pattern in money]
        amounts = f"FILTER ({_fits(cell, MONEY['money'])})"  # no mark names a currency
        questions.append(("currencies", f"list(DISTINCT regexp_extract({cell}, {literal(CURRENCY)})) {amounts}"))
        questions.append(("parted", f"bool_or(regexp_matches({cell}, {literal(PARTED)})) {amounts}"))
    if not evidence["some"]:
        questions.append(("some", f"bool_or(NOT {_fits(cell, MARKS)})"))
    return questions


def _still_spelled(table: DuckTable, release: DuckTable, ways: Mapping[str, Way]) -> list[str]:
    """The columns of a table where something is spelled still as it was in the release: it was left as text."""
    texts = {name: way for name, way in ways.items() if table.types[name] == "VARCHAR"}
    if not texts:
        return []
    # a point between thousands tells something only where nothing else is in the release: the owner said what it is
    held = ", ".join(f"bool_or(contains({name_of(name)}, ','))" for name in texts)
    (commas,) = run(f"SELECT {held} FROM ({release._source()[0]})", release.name)
    asked = []
    for (name, way), comma in zip(texts.items(), commas, strict=True):
        cell = name_of(name)
        number = f"contains({cell}, ',')" if comma else f"{_fits(cell, COMMA)} AND {_grouped(cell)}"
        if way.currency:
            number = _fits(cell, MONEY["money"])
        asked.append(_fits(cell, DAY[way.sign]) if way.sign else number)
    (row,) = run(f"SELECT {', '.join(f'bool_or({one})' for one in asked)} FROM ({table._source()[0]})", table.name)
    return [name for name, still in zip(texts, row, strict=True) if still]
