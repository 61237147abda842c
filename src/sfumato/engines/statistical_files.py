"""Tables of SPSS, Stata and SAS: dates as dates, labels as values, user-missing values missing, by what the file says of its columns.

A column whose values all have a label of their own is read as its labels, since a code is no number; another keeps its codes. What the
file says besides goes with the table (core.variable), for a release that is written as such a file again.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core import table_formats as formats
from ..core.column import text_of
from ..core.errors import InputError
from ..core.variable import Variable
from . import dialect, statistical_reader
from .duckdb import DuckTable, folder, literal, name_of, run, serial, spell_path

_SECONDS = {formats.SPSS: "1582-10-14", formats.STATA: "1960-01-01", formats.SAS: "1960-01-01"}
_SPSS = re.compile(r"(?i)^([A-Z]+)\d")
_STATA = re.compile(r"^%-?(td|tc|d)")
_DATES = {"date", "adate", "edate", "sdate", "jdate", "%td", "%d"}
_MOMENTS = {"datetime", "ymdhms", "%tc"}
_SAS_DATES = re.compile(r"(?i)^(weekdat[ex]|dtdate|date|(mm|dd|yy)(mm|dd)(yy|dd)?[bcdnps]?|[ieb]8601da)\d*$")
_SAS_MOMENTS = re.compile(r"(?i)^(datetime|dateampm|mdyampm|[ieb]8601d[tn])\d*$")
_TIMES = re.compile(r"(?i)^(time|tod|hhmm|timeampm|[ieb]8601tm)[\d.]*$")
_DAY = 86_400
_FIRST, _LAST = "0001-01-01", "9999-12-31"


def statistical_file(
    path: Path, *, encoding: str | None = None, labels: Sequence[str] | str | None = None, stated: bool = False
) -> DuckTable:
    """A file of SPSS, Stata or SAS, copied to the private folder with the types that it states.

    `labels`: the columns that are read as their labels, instead of those where each value has one. Where it is `stated`, the values
    decide on nothing: not on labels, nor on whether numbers are whole.
    """
    form = formats.of(path)
    assert form is not None
    formats.require(form, path)
    if not path.is_file():
        raise InputError(f"{path}: no such file.")
    raw, copy = (folder() / f"{next(serial)}.parquet" for _ in range(2))
    try:
        content = _read_apart(path, raw, encoding, form)
        columns = content["columns"]
        dialect.check_names(tuple(column["name"] for column in columns), path)
        chosen = _chosen(columns, labels, stated, path)
        notes: list[str] = []
        cells = []
        for column in columns:
            sql, note = _cell(column, form, column["name"] in chosen, stated)
            cells.append(f"{sql} AS {name_of(column['name'])}")
            notes += [f"column {column['name']!r} {note}"] if note else []
        run(
            f"COPY (SELECT {', '.join(cells)} FROM read_parquet({spell_path(raw)})) TO {literal(str(copy))} (FORMAT parquet)",
            str(path),
        )
    finally:
        raw.unlink(missing_ok=True)
    if chosen and labels is None:
        notes.insert(0, f"read as labels, not codes: {', '.join(chosen)}; choose with --labels")
    if missing := [column["name"] for column in columns if column["missing"]]:
        notes.append(f"user-missing values are read as missing in {', '.join(missing)}")
    table = DuckTable.of(str(path), f"SELECT * FROM read_parquet({spell_path(copy)})", tuple(notes))
    variables = {column["name"]: _variable(column, column["name"] in chosen) for column in columns}
    return replace(table, variables=variables, written={"labels": list(chosen)} if chosen else {})


def _read_apart(path: Path, to: Path, encoding: str | None, form: formats.Format) -> dict[str, Any]:
    words = [str(path.absolute()), str(to), path.suffix.lower(), encoding or ""]
    done = subprocess.run(
        [sys.executable, "-I", statistical_reader.__file__, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode == statistical_reader.CUT:
        raise InputError(f"{path}: it ends before the last of its rows; bring the whole file.")
    if done.returncode == statistical_reader.UNREADABLE:
        hint = "" if encoding is None else f", or not in the encoding {encoding}"
        raise InputError(
            f"{path}: not a file of {form.title} that can be read: it is damaged, cut short or locked by a password{hint}."
        )
    if done.returncode:
        raise InputError(
            f"{path}: cannot be read within {statistical_reader.CHILD_MEMORY >> 30} GB; it is damaged, or there is no room on the disk."
        )
    content: dict[str, Any] = json.loads(done.stdout)
    if not content["columns"]:
        raise InputError(f"{path}: a table without columns.")
    if not content["rows"]:
        raise InputError(f"{path}: there are columns but no rows; is the file complete?")
    return content


def _chosen(
    columns: Sequence[Mapping[str, Any]], labels: Sequence[str] | str | None, stated: bool, path: Path
) -> tuple[str, ...]:
    """The columns that are read as their labels; a list, as a roles file has it, may name some that have none here."""
    there = [column["name"] for column in columns if column["labels"]]
    if isinstance(labels, str):
        wanted = [name.strip() for name in labels.split(",") if name.strip()]
        wanted = [] if wanted == ["none"] and "none" not in there else wanted
        if unknown := [name for name in wanted if name not in there]:
            raise InputError(
                f"{path}: no column {unknown[0]!r} with value labels; these have some: {', '.join(there) or 'none'}."
            )
        labels = wanted
    if labels is not None:
        return tuple(name for name in there if name in labels)
    return () if stated else tuple(column["name"] for column in columns if _all_labelled(column))


def _all_labelled(column: Mapping[str, Any]) -> bool:
    """Whether each value has a label, and no two have the same."""
    labels = dict(map(tuple, column["labels"]))
    codes = column["codes"]
    if not labels or not codes:
        return False
    used = [labels.get(code, "").strip() for code in codes]
    return all(used) and len(set(used)) == len(used)


def _variable(column: Mapping[str, Any], labelled: bool) -> Variable:
    values = {text: label.strip() for code, label in column["labels"] if (text := text_of(code)) and label.strip()}
    return Variable(column["label"], values, labelled, column["text"], column["measure"])


def _cell(column: Mapping[str, Any], form: formats.Format, labelled: bool, stated: bool) -> tuple[str, str]:
    """A column as it is read, in SQL, and a word to the user where it is not plain."""
    name = name_of(column["name"])
    if column["single"]:  # 1.1 in single precision is 1.1, not its 1.10000002384
        name = f"CAST(CAST(CAST({name} AS FLOAT) AS VARCHAR) AS DOUBLE)"
    if labelled:
        return _labels(name, column["labels"], column["text"]), ""
    if column["text"]:
        return name, ""
    kind = _kind(column["format"], form)
    if kind in ("date", "moment"):
        return _date(name, column, form, kind, stated)
    if kind == "time":
        if not stated and (column["low"] is None or (column["whole"] and column["low"] >= 0 and column["high"] < _DAY)):
            return f"strftime(TIMESTAMP '1970-01-01' + to_seconds({name}), '%H:%M:%S')", ""
        return name, "holds times, left as numbers of seconds"
    other = "" if kind != "period" else "holds periods, left as their numbers"
    return (f"CAST({name} AS BIGINT)" if column["whole"] and not stated else name), other


def _kind(form_of_column: str, form: formats.Format) -> str:
    """date, moment, time, a period of Stata's (weeks, quarters, ...), or nothing special."""
    if form is formats.STATA:
        match = _STATA.match(form_of_column)
        if match:
            return "moment" if match[1] == "tc" else "date"
        return "period" if re.match(r"^%-?t[Cwmqhb]", form_of_column) else ""
    if form is formats.SAS:
        if _SAS_DATES.match(form_of_column):
            return "date"
        if _SAS_MOMENTS.match(form_of_column):
            return "moment"
    elif (match := _SPSS.match(form_of_column)) is not None:
        if match[1].lower() in _DATES:
            return "date"
        if match[1].lower() in _MOMENTS:
            return "moment"
    return "time" if _TIMES.match(form_of_column) else ""


def _date(name: str, column: Mapping[str, Any], form: formats.Format, kind: str, stated: bool) -> tuple[str, str]:
    """Days or moments since the program's first day; what lies outside of the calendar stays a number, and where stated is missing."""
    per_day = 1 if kind == "date" and form is not formats.SPSS else _DAY * (1000 if form is formats.STATA else 1)
    first = _SECONDS[form]
    (bounds,) = run(f"SELECT DATE '{_FIRST}' - DATE '{first}', DATE '{_LAST}' - DATE '{first}'", "engine")
    low, high = bounds[0] * per_day, (bounds[1] + 1) * per_day
    days = f"DATE '{first}' + CAST({name} // {per_day} AS INTEGER)"
    moments = f"TIMESTAMP '{first}' + to_microseconds(CAST(round({name} * {_DAY * 1_000_000 // per_day}) AS BIGINT))"
    sql = days if kind == "date" else moments
    if stated:
        return f"CASE WHEN {name} >= {low} AND {name} < {high} THEN {sql} END", ""
    if column["low"] is not None and not (low <= column["low"] and column["high"] < high):
        return name, "holds dates outside of the years 1 to 9999, left as numbers"
    if kind == "date" and not column["whole"]:
        return moments, ""
    return sql, ""


def _labels(name: str, labels: Iterable[tuple[Any, str]], text: bool) -> str:
    """A cell as its label; one without keeps its code."""
    cases = " ".join(
        f"WHEN {literal(code) if text else repr(float(code))} THEN {literal(label.strip())}"
        for code, label in labels
        if label.strip()
    )
    whole = f"CASE WHEN {name} = trunc({name}) AND abs({name}) < 1e15 THEN CAST(CAST({name} AS BIGINT) AS VARCHAR) ELSE CAST({name} AS VARCHAR) END"
    return f"CASE {name} {cases} ELSE {name if text else whole} END"
