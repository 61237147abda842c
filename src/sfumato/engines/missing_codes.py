"""What other tools write for a value that is not there: NA (R, so sdcMicro), NULL (ARX), an empty field.

None of them says whether the value was missing before or was suppressed. The original does: where a released column has more
cells without a value than its original, some were suppressed, and such a cell may stand for any value, which is what `*` says;
otherwise they are read as missing. A text that the original has too is a value. What is read as what is told, never guessed in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.counts import Counts
from ..core.hierarchy import TOP
from ..core.table import Table
from .duckdb import DuckTable, literal, name_of, run
from .local_spelling import alike

MARKS = ("NA", "NULL")
Cells = dict[str, dict[str, int]]


def recognise(table: Table, original: Table | None, *, quasi: Sequence[str], others: Sequence[str] = ()) -> Table:
    """A release from elsewhere with NA and NULL read as what they mean, and its dates and numbers as the original's; its notes say so.

    `quasi` are columns where a cell may have been suppressed, `others` those where it can only be missing. Costs one scan of the
    release; another one of it and one of the original if something was found.
    """
    table = alike(table, original)
    if not isinstance(table, DuckTable):
        return table
    there = _count(table, _marked(table, [name for name in (*quasi, *others) if name in table.columns]))
    known = [name for name in there if original is not None and name in original.columns]
    before = _count(original, known) if known and original is not None else {}
    replaced: dict[str, tuple[str, str | None]] = {}
    notes = []
    for name, cells in there.items():
        marks = [mark for mark in (*MARKS, "") if cells[mark]]
        reading = _read(name, cells, before.get(name), marks, name in quasi)
        if reading is not None:
            sentence, new = reading
            notes.append(sentence)
            if new is not None:
                replaced[name] = (marks[0], None if new == "" else new)
    if not notes:
        return table
    notes = [*table.notes, *notes]
    if not replaced:
        return replace(table, notes=tuple(notes))
    chosen = ", ".join(
        _cell(table, name, *replaced[name]) if name in replaced else name_of(name) for name in table.columns
    )
    return DuckTable.of(table.name, f"SELECT {chosen} FROM ({table.sql})", tuple(notes))


def _read(
    name: str, counts: dict[str, int], before: dict[str, int] | None, marks: list[str], quasi: bool
) -> tuple[str, str | None] | None:
    """A sentence, and what the cells are read as: `*`, "" for missing, None to leave them as they are."""
    what = " and ".join(mark or "empty" for mark in marks)
    many = sum(counts[mark] for mark in marks)
    cells = f"column {name!r}: {many:,} {'cell is' if many == 1 else 'cells are'} {what}"
    spelled = " ".join(f"--missing {mark}" for mark in marks if mark)
    if before is None:
        hint = f"if that means missing or suppressed, give --original, or say {spelled}"
        return (f"{cells}, read as a value like any other; {hint}", None) if spelled else None
    if any(before[mark] for mark in marks if mark):
        return f"{cells}, which the original has too: read as a value; if it means missing, say {spelled}", None
    if len(marks) > 1:
        return (
            f"{cells}, which are left apart, since the file tells them apart; if they mean missing, say {spelled}",
            None,
        )
    missing = before[""]
    if quasi and counts[marks[0]] > missing and not counts[TOP]:
        had = f"only {missing:,}" if missing else "none"
        return f"{cells}, where the original has {had} missing: read as suppressed (*), any value", TOP
    return (f"{cells}, which the original does not have: read as missing", "") if spelled else None


def _cell(table: DuckTable, name: str, mark: str, new: str | None) -> str:
    quoted = name_of(name)
    to = "NULL" if new is None else literal(new)
    if mark:
        return f"CASE WHEN {quoted} = {literal(mark)} THEN {to} ELSE {quoted} END AS {quoted}"
    return f"COALESCE(CAST({table._spelled(name)} AS VARCHAR), {to}) AS {quoted}"


def _marked(table: DuckTable, names: list[str]) -> list[str]:
    """The columns where something is NA, NULL or missing, in one scan: most releases have none, and then that is all."""
    texts = ", ".join(literal(text) for text in (*MARKS, ""))
    asked = [
        f"bool_or(COALESCE({name_of(name)}, '') IN ({texts}))"
        if table.types[name] == "VARCHAR"
        else f"bool_or({table._value(name)} IS NULL)"
        for name in names
    ]
    if not asked:
        return []
    (row,) = run(f"SELECT {', '.join(asked)} FROM ({table.sql})", table.name)
    return [name for name, marked in zip(names, row, strict=True) if marked]


def _count(table: Table, names: list[str]) -> Cells:
    """How many cells of each column are NA, NULL, *, and missing, in one scan."""
    texts = (*MARKS, TOP)
    if not isinstance(table, DuckTable):
        return {name: _cells(table.count((name,)), texts) for name in names}
    asked = []
    for name in names:
        for text in texts:
            plain = table.types[name] == "VARCHAR"
            asked.append(f"count(*) FILTER (WHERE {name_of(name)} = {literal(text)})" if plain else "0")
        asked.append(f"count(*) FILTER (WHERE {table._value(name)} IS NULL)")
    if not asked:
        return {}
    (row,) = run(f"SELECT {', '.join(asked)} FROM ({table.sql})", table.name)
    width = len(texts) + 1
    return {
        name: dict(zip((*texts, ""), map(int, row[i * width : (i + 1) * width]), strict=True))
        for i, name in enumerate(names)
    }


def _cells(counts: Counts, texts: Sequence[str]) -> dict[str, int]:
    n = dict(zip(counts.columns[0].texts, counts.n.tolist(), strict=True))
    return {**{text: n.get(text, 0) for text in texts}, "": n.get(None, 0)}
