"""One row a person in SQL: which row stands for a person, and what is made of all of theirs (core.row_choice says how).

The rows are read once, and what comes of them is kept in a private Parquet file, a row a person in the order of their numbers, so that
whatever is asked of it afterwards costs what it costs of a table of so many people.
"""

from __future__ import annotations

from dataclasses import replace

from ..core.row_choice import SEPARATOR, ChosenRows, ColumnRule, RowChoice
from ..core.spelling import COMMA, GROUPS, POINT
from .duckdb import DuckTable, folder, kept_rows, literal, name_of, run, serial, spell_path

_NUMBER = r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_DIGITS = 12
"""Digits of sums and means: beyond them a sum of fractions is rounding, not data."""


def one_row(table: DuckTable, choice: RowChoice) -> DuckTable:
    """The table of one row a person, and what it was made of."""
    made = choice.looked_at(table.columns)
    at = {name: f"v{i}" for i, name in enumerate(table.columns)}
    cells = [f"{table._value(choice.person)} AS p", *(f"{table._value(name)} AS {v}" for name, v in at.items())]
    ordered = {choice.by, *(each.column for each in made.values() if each.rule in ("sum", "mean", "min", "max"))}
    for name, v in at.items():
        cells += [f"{_number(table, name, table._value(name))} AS n{v}"] if name in ordered else []
        cells += (
            [f"CAST({table._spelled(name)} AS VARCHAR) AS s{v}"]
            if ColumnRule("distinct", name) in made.values()
            else []
        )
    copy = folder() / f"{next(serial)}.parquet"
    with kept_rows(f"SELECT {', '.join(cells)} FROM ({table.sql})", table.name) as rows:
        asked = _Query(choice, rows, at)
        names = [*table.columns, *(name for name in made if name not in table.columns)]
        chosen = ", ".join(f"{asked.cell(name, made.get(name))} AS {name_of(name)}" for name in names)
        joins = "".join(
            f" JOIN ({part}) {name} ON g.p IS NOT DISTINCT FROM {name}.p" for part, name in asked.parts.items()
        )
        grouped = (
            f"SELECT {', '.join(['p', *(f'{text} AS {a}' for text, a in asked.sums.items())])} FROM {rows} GROUP BY p"
        )
        every = f"SELECT {chosen} FROM ({grouped}) g{joins} ORDER BY g.p NULLS LAST"
        run(f"COPY ({every}) TO {literal(str(copy))} (FORMAT parquet)", table.name)
        before, numbered = run(f"SELECT count(*), count(p) FROM {rows}", table.name)[0]
    result = DuckTable.of(table.name, f"SELECT * FROM read_parquet({spell_path(copy)})", table.notes)
    return replace(
        result,
        reading=table.reading,
        written=table.written,
        points=table.points,
        parent=table,
        chosen=ChosenRows(choice, table.columns, int(before), result.rows, int(before - numbered)),
    )


class _Query:
    """What is asked of the rows: sums over each person's, and single rows of each."""

    def __init__(self, choice: RowChoice, rows: str, at: dict[str, str]) -> None:
        self.choice, self.rows, self.at = choice, rows, at
        self.sums: dict[str, str] = {}
        self.parts: dict[str, str] = {}

    def _sum(self, text: str) -> str:
        return "g." + self.sums.setdefault(text, f"a{len(self.sums)}")

    def _part(self, text: str) -> str:
        return self.parts.setdefault(text, f"t{len(self.parts)}")

    def cell(self, name: str, each: ColumnRule | None) -> str:
        """A column of the table that is made."""
        if name == self.choice.person:
            return "g.p"
        if each is None:
            return f"{self._part(self._row(self.choice.keep, self.choice.by))}.{self.at[name]}"
        if each.column is None:
            return self._sum("count(*)")
        v = self.at[each.column]
        if each.rule in ("first", "latest"):
            return f"{self._part(self._row(each.rule, self.choice.by))}.{v}"
        if each.rule in ("most", "least"):
            return f"{self._part(self._frequent(v, each.rule))}.v.v"
        if each.rule == "count":
            return self._sum(f"count({v})")
        if each.rule == "distinct":
            return self._sum(f"array_to_string(list_sort(list(DISTINCT s{v})), {literal(SEPARATOR)})")
        if each.rule in ("min", "max"):
            return self._sum(f"arg_{each.rule}({v}, {{'n': COALESCE(n{v}, 0), 'v': {v}}})")
        # added in one order, since a sum of fractions depends on it
        added = self._sum(f"list_sum(list_sort(list(n{v}) FILTER (n{v} IS NOT NULL)))")
        return _rounded(added if each.rule == "sum" else f"{added} / {self._sum(f'count(n{v})')}")

    def _row(self, keep: str | None, by: str | None) -> str:
        """One row of each person; of several that a rule would take, the first in the order of all values."""
        order, rows = ", ".join(f"{v} ASC NULLS LAST" for v in self.at.values()), self.rows
        if keep == "most":
            v = self.at[str(by)]
            often = self._frequent(v, keep)
            rows = f"(SELECT r.* FROM {rows} r JOIN ({often}) m ON r.p IS NOT DISTINCT FROM m.p AND r.{v} IS NOT DISTINCT FROM m.v.v)"
        elif keep is not None:
            v, way = self.at[str(by)], "DESC" if keep == "latest" else "ASC"
            order = f"n{v} {way} NULLS LAST, {v} {way} NULLS LAST, {order}"
        return f"SELECT * FROM {rows} QUALIFY row_number() OVER (PARTITION BY p ORDER BY {order}) = 1"

    def _frequent(self, v: str, rule: str) -> str:
        """The value that most, or fewest, rows of each person have: a missing one is a value; of several the first in their order."""
        key = f"create_sort_key(n, '{'DESC' if rule == 'most' else 'ASC'} NULLS LAST', v, 'ASC NULLS LAST')"
        counted = f"SELECT p, {v} AS v, count(*) AS n FROM {self.rows} GROUP BY p, {v}"
        return f"SELECT p, arg_min({{'v': v}}, {key}) AS v FROM ({counted}) GROUP BY p"


def _number(table: DuckTable, column: str, value: str) -> str:
    """A value as a number, by itself; NULL where it is none."""
    kind = table.types[column]
    if kind != "VARCHAR":
        numeric = kind.startswith(("DECIMAL", "DOUBLE", "FLOAT", "REAL")) or "INT" in kind
        return f"CAST({value} AS DOUBLE)" if numeric else "CAST(NULL AS DOUBLE)"
    text, decimal = f"trim({value})", table.reading.decimal
    if decimal == "comma":
        plain = f"replace(regexp_replace({text}, '[{GROUPS}]', '', 'g'), ',', '.')"
        other = f"CASE WHEN contains({text}, '.') THEN '' ELSE replace({text}, ',', '.') END"
        text = f"CASE WHEN regexp_full_match({text}, {literal(COMMA)}) THEN {plain} ELSE {other} END"
    elif decimal == "point":
        text = f"CASE WHEN regexp_full_match({text}, {literal(POINT)}) THEN replace({text}, ',', '') ELSE {text} END"
    number = f"TRY_CAST(CASE WHEN regexp_full_match({text}, {literal(_NUMBER)}) THEN {text} END AS DOUBLE)"
    return f"CASE WHEN isfinite({number}) THEN {number} END"


def _rounded(number: str) -> str:
    """Whole numbers as they are, others to a number of digits that adding them up does not blur."""
    digits = literal("{:." + str(_DIGITS) + "g}")
    return f"CASE WHEN {number} = trunc({number}) THEN {number} ELSE CAST(format({digits}, {number}) AS DOUBLE) END"
