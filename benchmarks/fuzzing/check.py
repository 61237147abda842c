"""The independent checker: reads the written file and the original, and says what does not hold. It knows nothing of the package."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import models, people
from .cover import BLANKS, covers, ends, number, plain
from .generate import DRAWN, OLD, STATISTICS, Case
from .matching import assign
from .run import Outcome
from .tables import MARK, NUMBER_MARK
from .written import Written, read

PRIVATE = STATISTICS | DRAWN | {"local_noise", "dp_sampling"}
GROUPED = ("anatomy", "permute_within_groups")
SUPPRESSING = ("generalize_full_domain", "generalize_to_levels", "local_suppression")
_REQUIREMENT = re.compile(r"^(\w+)(?:\[([^\]]*)\])?(?:\((.*)\))?\s*(>=|<=)\s*(\S+)$", re.DOTALL)
_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What does not hold: its kind (promise, foreign, raw, left, slow) and a sentence."""

    kind: str
    text: str


def check(case: Case, outcome: Outcome) -> list[Finding]:
    """Everything that is wrong with a run."""
    if outcome.late:
        return [Finding(kind="slow", text="it took too long")]
    path = outcome.folder / case.out
    found = [*_streams(case, outcome), *_left(case, outcome)]
    if outcome.code != 0:
        return found
    if not path.is_file():
        return [*found, Finding(kind="promise", text="exit 0 and no release")]
    companion = path.with_name(f"{path.stem}.sensitive{path.suffix}")
    try:
        released = read(path, neutral=case.neutral)
        beside = read(companion, neutral=case.neutral) if case.mechanism == "anatomy" else None
    except (OSError, ValueError) as error:
        return [*found, Finding(kind="promise", text=f"the release cannot be read: {error}")]
    if case.verb == "study":
        found += _package(case, outcome, path)
    tables = [table for table in (released, beside) if table is not None]
    cells = "\n".join({cell or "" for table in tables for row in table.rows for cell in row})
    if raw := planted({secret for secret in case.secrets if secret not in cells}, path.read_bytes().decode("latin-1")):
        found.append(Finding(kind="raw", text=f"the bytes of the release hold {raw!r}, which is in none of its cells"))
    if not (texts := [text for table in tables for text in _columns(case, table)]):
        texts = [
            *_told(case, outcome, released),
            *_rows(case, released, beside),
            *_requirements(case, released, beside, outcome),
            *([] if case.second else _own(case, released)),
            *_free(case, released),
        ]
    return [*found, *(Finding(kind="promise", text=text) for text in texts)]


def _left(case: Case, outcome: Outcome) -> list[Finding]:
    """Files that nobody asked for: hidden ones, any after a failure, and any but the release after a success."""
    release, well, found = Path(case.out), outcome.code == 0, []
    names = {case.out, str(release.with_name(f"{release.stem}.sensitive{release.suffix}"))} if well else set()
    if case.older and outcome.code != 0 and (outcome.folder / case.out).read_bytes() != OLD:
        found.append(Finding(kind="left", text=f"exit {outcome.code} touched the release that stood there before"))
    for name in outcome.new:
        parts = Path(name).parts
        if case.verb == "study":  # documents tell of a failure, too; a package stands whole or not at all
            whole = well and parts[0] in ("package", "package.house") and not parts[-1].startswith(".")
            fine = parts[0] == "study" or whole
        else:
            fine = name in names
        if not fine:
            found.append(Finding(kind="left", text=f"exit {outcome.code} left {name}"))
    return found


def _package(case: Case, outcome: Outcome, released: Path) -> list[Finding]:
    """Planted values in what goes with the release, or in a document, that the release itself does not tell."""
    told = "\n".join(path.read_text(encoding="utf-8") for path in sorted(released.parent.glob("release*.csv")))
    found = []
    for name in outcome.new:
        path, place = outcome.folder / name, Path(name).parts[0]
        if place == "package.house" or ".kept" in name or not path.is_file() or path.suffix == ".parquet":
            continue
        known = case.secrets if place == "study" else {secret for secret in case.secrets if secret not in told}
        if raw := planted(known, path.read_text(encoding="utf-8", errors="replace")):
            found.append(Finding(kind="raw", text=f"{name} shows {raw!r}"))
    return found


def _streams(case: Case, outcome: Outcome) -> list[Finding]:
    found = []
    if outcome.code not in (0, 1, 2):
        found.append(Finding(kind="foreign", text=f"exit {outcome.code}: {outcome.stderr.strip()[-300:]}"))
    for name, text in (("stdout", outcome.stdout), ("stderr", outcome.stderr), ("file names", "\n".join(outcome.new))):
        if "Traceback (most recent" in text or re.search(r"\w*Warning: ", text):
            found.append(Finding(kind="foreign", text=f"{name}: {text.strip()[-300:]}"))
        if raw := planted(case.secrets, text):
            found.append(Finding(kind="raw", text=f"{name} shows {raw!r}"))
    if outcome.code in (1, 2) and case.verb == "sanitize":  # a study that recommends nothing says why in its result
        said = [line for line in outcome.stderr.splitlines() if line.startswith("sfumato: ")]
        if len(said) != 1 or len(said[0]) < 15:
            found.append(Finding(kind="foreign", text=f"exit {outcome.code} with {len(said)} sentences"))
    return found


def _told(case: Case, outcome: Outcome, released: Written) -> list[str]:
    """Whether the JSON says what the file holds; where rows are nobody's it must not say how many there were."""
    if case.verb != "sanitize" or "--json" not in case.call:
        return []
    told, rows = json.loads(outcome.stdout), len(released.rows)
    found = [] if told["rows"] == rows else [f"`rows` is {told['rows']}, and the file has {rows}"]
    if case.mechanism in PRIVATE:
        return found + (["the number of rows follows from `suppressed`"] if told["suppressed"] is not None else [])
    lost = case.rows - rows
    return found + (
        [] if told["suppressed"] == lost else [f"`suppressed` is {told['suppressed']}, and {lost} rows are missing"]
    )


def planted(secrets: Collection[str], text: str) -> str | None:
    """A planted value in a text, if there is one."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "", text)
    if MARK in text:
        for mark in re.findall(rf"{MARK}[0-9a-f]{{8}}", text):
            if mark in secrets:
                return str(mark)
    if NUMBER_MARK in re.sub("[.,]", "", text):
        return next(
            (s for s in secrets if MARK not in s and re.search(rf"(?<![\d.,]){re.escape(s)}(?![\d])", text)), None
        )
    return None


def named(case: Case, text: str) -> set[str]:
    """The released columns that a parameter names: in a list, or before `=`, perhaps in quotes."""
    names = {name: '"' + name.replace('"', '""') + '"' for name in case.released}
    return {
        name
        for name, quoted in names.items()
        if quoted in text or re.search(rf"(?:^|[,(])\s*{re.escape(name)}\s*(?:$|[,=)])", text)
    }


def changed(case: Case) -> set[str]:
    """The columns whose values a mechanism, or one of two, may change into others, which then cover nothing."""
    first = _changed(case)
    return first | _changed(replace(case, mechanism=case.second, settings=case.then)) if case.second else first


def _changed(case: Case) -> set[str]:
    quasi, settings = set(case.roles["quasi"]), case.settings
    if case.mechanism in ("additive_noise", "microaggregation", "rounding"):
        return named(case, settings.get("columns") or settings.get("base", "")) or quasi
    if case.mechanism == "isolation_noise":
        return quasi
    if case.mechanism in ("rank_swapping", "pram"):
        return named(case, settings.get("columns", ""))
    if case.mechanism == "record_swapping":
        return named(case, settings.get("areas", ""))
    if case.mechanism == "local_noise":
        return named(case, settings.get("bounds", ""))
    if case.mechanism in GROUPED:
        return set(case.roles["sensitive"])
    if case.mechanism == "shift_dates":
        return {name for name in case.released if case.field(name).kind == "date"}
    return set()


def _columns(case: Case, released: Written) -> list[str]:
    """What is in the file that must stay in the house."""
    home = case.people.household if case.people is not None else None
    house = {*case.roles["identifiers"], case.guarding, home, "unused", "turn"} | (
        set() if _linked(case) else {case.person}
    )
    found = [f"column {name!r} must not be released" for name in released.columns if name in house]
    if len(set(released.columns)) < len(released.columns):
        found.append("a column stands twice in the file")
    if case.mechanism in STATISTICS:
        return found
    may = {
        *case.released,
        *house,
        case.person if _linked(case) else "",
        case.settings.get("group", "group") if case.mechanism in GROUPED else "",
    }
    return found + [f"column {name!r} was not in the table" for name in released.columns if name not in may]


def _original(case: Case, names: Sequence[str]) -> list[tuple[Any, ...]]:
    fields = [case.field(name) for name in names]
    return (
        list(zip(*(zip(f.meant, f.spelled, strict=True) for f in fields), strict=True)) if names else [()] * case.rows
    )


def taxonomy(case: Case, name: str) -> dict[str, frozenset[str]] | None:
    """The labels above each value."""
    lines = case.taxonomies.get(name)
    return None if lines is None else {line[0]: frozenset(line[1:]) for line in lines}


def _rows(case: Case, released: Written, beside: Written | None) -> list[str]:
    """Rows lost or invented, and values that do not cover what they were."""
    if case.mechanism in STATISTICS | DRAWN | {"dp_sampling"}:
        return []
    lost = case.rows - len(released.rows)
    if case.mechanism == "local_noise" and case.person is not None:  # one row of each person
        lost = len(set(case.field(case.person).spelled)) - len(released.rows)
    limit = sum(
        float(given.get("suppression", 0))
        for name, given in ((case.mechanism, case.settings), (case.second, case.then))
        if name in SUPPRESSING
    )
    found = []
    if case.mechanism == "local_noise" and any(set("\n\r\0") & set(text) for f in case.fields for text in f.spelled):
        return []  # a line is a row there
    if case.mechanism in ("isolation_noise", "random_sampling"):
        if lost < 0:
            found.append("rows were invented")
    elif _linked(case):  # people with a rare number of rows may lose some, and a note counts them
        found += [] if lost >= 0 else ["rows were invented"]
        found += _histories(case, released)
    elif lost < 0 or lost > limit * case.rows + 1e-9:
        found.append(f"{lost} of {case.rows} rows are missing where {limit:g} of them may be")
    names = [name for name in released.columns if name in case.released and name not in changed(case)]
    above = {name: taxonomy(case, name) for name in names}

    def by(name: str) -> Any:
        if case.mechanism == "hipaa":
            # HHS's sign for small areas; masked ages (12*) and texts with numbers are read as numbers
            return lambda value, cell: (
                (value == "000" and case.settings.get("small") == "000")
                or (value == "90+" and ("*" in cell[1] or any(int(n) >= 90 for n in re.findall(r"\d+", cell[1]))))
                or covers(value, cell[0], cell[1], above[name])
            )
        if case.mechanism == "local_noise":  # read line by line, as stated: what cannot be read so is missing
            return lambda value, cell: value is None or covers(value, cell[0], cell[1], above[name])
        return lambda value, cell: covers(value, cell[0], cell[1], above[name])

    placed, _ = assign(released.tuples(names), _original(case, names), [by(name) for name in names])
    if placed < len(released.rows):
        found.append(f"{len(released.rows) - placed} released rows cover no original row of their own")
    if beside is not None:
        found += _apart(case, released, beside)
    if case.mechanism == "permute_within_groups":
        for name in case.roles["sensitive"]:
            found += _same_values(case, name, released.column(name))
    return found


def _linked(case: Case) -> bool:
    return case.people is not None and case.people.rows == "linked"


def _histories(case: Case, released: Written) -> list[str]:
    """Whether each released person can be one of the original, each another, and whether their numbers are fresh."""
    if case.person is None or case.person not in released.columns:
        return ["the rows of a person are not joined"]
    numbers, old = released.column(case.person), set(case.field(case.person).spelled)
    found = (
        [f"{sum(n in old for n in set(numbers))} numbers of the original are still there"] if old & set(numbers) else []
    )
    if any(n is None or not re.fullmatch(r"\d{15}", n) for n in numbers):
        found.append("a number that joins rows is none of 15 digits")
    names = [name for name in released.columns if name in case.released and name not in changed(case)]
    above = {name: taxonomy(case, name) for name in names}
    rows, original, cache = released.tuples(names), _original(case, names), dict[Any, set[str]]()
    whose = case.field(case.person).spelled
    candidates: dict[Any, set[str]] = {}
    for number_, row in zip(numbers, rows, strict=True):
        if row not in cache:
            cache[row] = {
                whose[i]
                for i, cells in enumerate(original)
                if all(covers(v, c[0], c[1], above[n]) for n, v, c in zip(names, row, cells, strict=True))
            }
        candidates[number_] = candidates[number_] & cache[row] if number_ in candidates else cache[row]
    placed = people.match(list(candidates.values()))
    if placed < len(candidates):
        found.append(f"{len(candidates) - placed} released people are nobody of the original")
    return found


def _same_values(case: Case, name: str, column: Sequence[Any]) -> list[str]:
    """Whether a column holds just the values it had."""
    f = case.field(name)
    placed, _ = assign(
        [(value,) for value in column],
        [(cell,) for cell in zip(f.meant, f.spelled, strict=True)],
        [lambda v, cell: (v != "*" * len(v or "x") and covers(v, cell[0], cell[1])) or v == cell[1]],
    )
    return [] if placed == len(column) == case.rows else [f"column {name!r} does not hold the values it had"]


def _apart(case: Case, released: Written, beside: Written) -> list[str]:
    """Both tables of anatomy: the same groups of the same sizes, all values there."""
    group = case.settings.get("group", "group")
    counts: Counter[Any] = Counter()
    n = next((c for c in beside.columns if c not in (group, *case.released)), None)
    for i, key in enumerate(beside.column(group)):
        counts[key] += int(beside.column(n)[i] or 0) if n else 1
    if counts != Counter(released.column(group)):
        return ["the groups of the two tables are not of the same sizes"]
    column = beside.column(case.roles["sensitive"][0])
    if n:
        column = [value for value, times in zip(column, beside.column(n), strict=True) for _ in range(int(times or 0))]
    return _same_values(case, case.roles["sensitive"][0], column)


def _promised(case: Case) -> list[str]:
    """What the mechanism's card promises for these parameters, as requirements."""
    if case.second:
        both = ((case.mechanism, case.settings), (case.second, case.then))
        each = [_promised(replace(case, mechanism=name, settings=given, second="")) for name, given in both]
        return [*each[0], *each[1]]
    settings, found = case.settings, list[str]()
    some = case.mechanism == "microaggregation" and ("columns" in settings or settings.get("how") == "alone")
    no_class = case.mechanism in ("alpha_beta", "record_swapping")  # there k says who is looked at
    if "k" in settings and not some and not no_class:
        found.append(f"k_anonymity >= {settings['k']}")
    if case.mechanism in GROUPED:
        least = int(settings["l"])
        found += [f"distinct_l_diversity >= {least}", f"alpha_anonymity <= {1 / least + 1e-12}"]
    return found


def _order(case: Case, name: str, values: Sequence[Any]) -> list[Any] | None:
    """The values of a column in their order, missing last; None if it has none that is certain."""
    known = sorted({value for value in values if value is not None})
    tail = [None] if None in set(values) else []
    if name in case.orders:
        place = {text: i for i, text in enumerate(case.orders[name])}
        return sorted(known, key=lambda v: place[v]) + tail if set(known) <= set(place) else None
    numbers = {value: number(value) for value in known}
    if known and all(re.fullmatch(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", v) for v in known):
        return sorted(known, key=lambda v: (numbers[v], v)) + tail
    if known and all(re.fullmatch(r"\d{4}-\d\d-\d\d", v) for v in known):
        return known + tail
    return known + tail if len(known) + len(tail) <= 2 else None


def _fraction(text: str) -> float:
    """A bound, which may be written 1/3."""
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


def _measure(
    case: Case, text: str, groups: list[list[int]], released: Written, grouped: bool
) -> tuple[float, str, float] | None:
    """What a requirement asks of this file, by our own count: the value, the sign and the bound; None if we do not count it."""
    m = _REQUIREMENT.match(text.strip())
    if m is None:
        return None
    name, given, about, sign, bound = m[1], m[2] or "", m[3], m[4], _fraction(m[5])
    options = dict(part.split("=", 1) if "=" in part else ("kind", part) for part in given.split(",") if part)
    if name in models.SIZES:
        return None if grouped else (models.SIZES[name](groups), sign, bound)
    columns = [about.strip('"')] if about else list(case.roles["sensitive"])
    values = []
    for column in columns:
        if column not in released.columns:
            return None
        cells = released.column(column)
        classes = [[cells[i] for i in members] for members in groups]
        if name == "t_closeness" and options.get("kind") == "equal":
            values.append(models.t_equal(classes))
        elif name == "t_closeness" and options.get("kind") == "ordered":
            order = _order(case, column, cells)
            if order is None:
                return None
            values.append(models.t_ordered(classes, order))
        elif name == "beta_likeness" and options.get("kind", "basic") != "basic":
            return None
        elif name in models.SENSITIVE:
            given = {k: v for k, v in options.items() if k in ("l", "k", "rho1", "factor")}
            known = {k: float(v) if "." in v else int(v) for k, v in given.items()}
            if set(options) - set(known) - {"kind"}:
                return None
            values.append(models.SENSITIVE[name](classes, **known))
        else:
            return None
    if not values:
        return None
    return (min(values) if name in models.HIGHER else max(values)), sign, bound


def _requirements(case: Case, released: Written, beside: Written | None, outcome: Outcome) -> list[str]:
    """Requirements and promises that the file does not keep, and measured values that are not those we count."""
    if case.mechanism in STATISTICS | DRAWN or not released.rows:
        return [] if released.rows or case.mechanism in PRIVATE else ["a release without rows"]
    group = case.settings.get("group", "group")
    grouped = case.mechanism in GROUPED
    table = beside if beside is not None else released
    members: dict[Any, list[int]] = defaultdict(list)
    quasi = [name for name in case.roles["quasi"] if name in released.columns]
    for i, key in enumerate(table.column(group) if grouped else released.tuples(quasi)):
        members[key].append(i)
    groups = list(members.values())
    if beside is not None and (n := next((c for c in beside.columns if c not in (group, *case.released)), None)):
        times = [int(t or 0) for t in beside.column(n)]
        groups = [[i for i in rows for _ in range(times[i])] for rows in groups]
    found, spoken = [], case.verb == "sanitize" and "--json" in case.call
    told: dict[str, Any] = json.loads(outcome.stdout)["requirements"] if spoken else {}
    asked = [*case.require, *_promised(case)]
    known = None if grouped else _known(case, released, members, groups, quasi)
    for text in dict.fromkeys([*asked, *told]):
        counted = _measure(case, text, groups, table, grouped) if known is None else _looked_up(text, known, case)
        if counted is None:
            continue
        value, sign, bound = counted
        slack = _TOLERANCE * max(1.0, abs(bound))
        if not (value >= bound - slack if sign == ">=" else value <= bound + slack):
            found.append(f"{text}: we count {value:g}")
        stated = told.get(text, {}).get("value")
        said = isinstance(stated, int | float) and math.isfinite(value)
        if said and abs(stated - value) > 1e-6 * max(1.0, abs(value)):
            found.append(f"{text}: measured {stated:g}, and we count {value:g}")
    read = [m for text in asked if (m := _REQUIREMENT.match(text.strip()))]
    k = max((_fraction(m[5]) for m in read if m[1] == "k_anonymity"), default=0)
    if case.person is not None and k > 1 and not grouped and not _linked(case):
        found += _people(case, released, groups, k)
    return found


def _known(
    case: Case, released: Written, members: dict[Any, list[int]], groups: list[list[int]], quasi: list[str]
) -> dict[str, float] | None:
    """Measures that are not of rows, by requirement: of people, or of a population; None where rows are all there is.

    Beside people, what is not in it is not counted. Of rows that nobody joins it is empty where classes overlap: whose they are, nobody knows.
    """
    above = {name: taxonomy(case, name) for name in quasi}

    def by(name: str, value: Any, cell: tuple[Any, str]) -> bool:
        return covers(value, cell[0], cell[1], above[name])

    labels = [dict(zip(quasi, key, strict=True)) for key in members]
    if case.population:
        pool = [next(f for f in case.population if f.name == name) for name in quasi]
        cache: dict[Any, bool] = {}
        fits = [
            max(len(people.covered_rows(each, pool, by, cache)), len(rows))
            for each, rows in zip(labels, groups, strict=True)
        ]
        most = max(len(rows) / n for rows, n in zip(groups, fits, strict=True))
        return {"k_map": min(fits), "journalist_risk": 1 / min(fits), "delta_presence": most, "*": 0}
    if case.people is None or (case.people.rows == "one" and case.people.household is None):
        return None
    if _linked(case) and case.person not in released.columns:
        return {}
    if _linked(case):
        k = people.smallest_history(released.column(case.person or ""), released.tuples(quasi))
        return {"k_anonymity": k, "prosecutor_risk": 1 / k}
    if not quasi or changed(case) & set(quasi):
        return {}
    rows = people.attributed(labels, [len(each) for each in groups], [case.field(name) for name in quasi], by)
    if rows is None:
        return {}
    whose = case.field(case.people.whose).spelled
    secrets = case.roles["sensitive"]
    secret = (
        [plain(v) if not isinstance(v, str) else v.strip(BLANKS) for v in case.field(secrets[0]).meant]
        if len(secrets) == 1
        else []
    )
    return people.of_people(rows, whose, secret)


def _looked_up(text: str, known: Mapping[str, float], case: Case) -> tuple[float, str, float] | None:
    """A requirement whose value was counted as a whole."""
    m = _REQUIREMENT.match(text.strip())
    if m is None:
        return None
    name = m[1] + (f"[{m[2]}]" if m[2] else "")
    return (known[name], m[4], _fraction(m[5])) if name in known else None


def _people(case: Case, released: Written, groups: list[list[int]], k: float) -> list[str]:
    """Classes that fewer than k people can be in: those whose rows they cover."""
    names = [name for name in case.roles["quasi"] if name in released.columns and name not in changed(case)]
    above = {name: taxonomy(case, name) for name in names}
    whose = case.field(case.people.whose if case.people is not None else case.person or "").spelled
    original = _original(case, names)
    rows = released.tuples(names)
    cache: dict[Any, bool] = {}
    worst = math.inf
    for members in groups:
        people = set()
        for i, cells in enumerate(original):
            for name, value, cell in zip(names, rows[members[0]], cells, strict=True):
                key = (name, value, cell)
                if key not in cache:
                    cache[key] = covers(value, cell[0], cell[1], above[name])
                if not cache[key]:
                    break
            else:
                people.add(whose[i])
        worst = min(worst, len(people))
    return [f"k >= {k:g} is promised, and a class covers {worst} people"] if worst < k else []


def _own(case: Case, released: Written) -> list[str]:
    """What single mechanisms say of their values."""
    found: list[str] = []
    settings = case.settings
    if case.mechanism == "rank_swapping":
        for name in changed(case) & set(released.columns):
            found += _same_values(case, name, released.column(name))
    if case.mechanism in ("mondrian", "k_member", "cut_points") and settings.get("ends") != "tight":
        for name in case.roles["quasi"]:
            numbers = [x for x in map(number, case.field(name).meant) if x is not None]
            if name in case.ruled or not case.field(name).numeric or not numbers:
                continue
            new = set(released.column(name)) - {None, *case.field(name).spelled}
            reached = [ends(str(cell)) for cell in new]
            if any(low == min(numbers) or high == max(numbers) for low, high in reached):
                found.append(f"a range of {name!r} ends at the least or the largest number there is")
    if case.mechanism == "top_bottom_coding":
        for name in case.roles["quasi"]:
            cells = Counter(released.column(name))
            numbers = [x for x in map(number, cells) if x is not None]
            for text, rows in cells.items():
                edge = number(text[2:]) if text and text.startswith((">=", "<=")) else None
                if edge is None or text in case.field(name).spelled:
                    continue
                if any(x > edge if text[0] == ">" else x < edge for x in numbers):
                    found.append(f"{name!r} is coded and numbers beyond the code are released")
                if rows < int(settings.get("people", 1)):
                    found.append(f"fewer than {settings['people']} people behind a code of {name!r}")
    if case.mechanism == "rounding" and "=" not in settings.get("base", "10") and settings.get("columns") is None:
        base = float(settings.get("base", "10"))
        for name in case.roles["quasi"]:
            new = set(released.column(name)) - set(case.field(name).spelled) if case.field(name).numeric else set()
            numbers = [x for x in map(number, new) if x is not None and abs(x) < 1e9]
            if any(abs(x / base - round(x / base)) > 1e-6 for x in numbers):
                found.append(f"a number of {name!r} is no multiple of {base:g}")
    if case.mechanism == "pram":
        for name in changed(case) & set(released.columns):
            f = case.field(name)
            new = set(released.column(name)) - {None, *map(str, f.meant), *f.spelled}
            if not set(map(number, new)) <= set(map(number, f.meant)):
                found.append(f"column {name!r} holds a value that it never had")
    return found


def _free(case: Case, released: Written) -> list[str]:
    """Columns that nobody limits and that tell a protected one: such a release must be refused unless the owner waived it.

    Besides what was planted: columns by which half of the rows are alone, and columns of which each value goes with one original value
    of a quasi-identifier that the release covers.
    """
    if case.mechanism in STATISTICS | DRAWN:
        return []
    clear = [name for name in released.columns if name not in case.waived | changed(case)]
    if case.mechanism == "local_noise":
        return [f"column {name!r} has no noise, and nobody answers for it" for name in clear]
    free = [name for name in case.roles["insensitive"] if name in clear]
    if len(released.rows) < 40 or (_linked(case) and case.person not in released.columns):
        return []  # so few rows are full of coincidences
    found = []
    for name in free:
        if _linked(case):
            apart, of = people.alone_by_history(released.column(case.person or ""), released.column(name))
            if 2 * apart >= of:
                found.append(
                    f"the free column {name!r} tells: {apart} of {of} people are alone by all their values of it"
                )
            continue
        alone = sum(rows for rows in Counter(released.column(name)).values() if rows == 1)
        if 2 * alone >= len(released.rows):
            found.append(f"the free column {name!r} tells: {alone} of {len(released.rows)} rows are alone by it")
        if name not in case.free and len(set(case.field(name).spelled)) * 3 > case.rows:
            continue
        found += [
            f"the free column {name!r} tells: each value has one of {q!r}"
            for q in case.roles["quasi"]
            if _tells(case, released, name, q)
        ]
    return found


def _tells(case: Case, released: Written, name: str, quasi: str) -> bool:
    """Whether a free column determines a quasi-identifier in 95% of the rows, and tells apart what the release covers alike."""
    if quasi not in released.columns:
        return False
    own, cells = case.field(quasi), released.column(quasi)
    if len(set(zip(cells, released.column(name), strict=True))) <= len(set(cells)):
        return False
    if len(set(cells)) >= len(set(own.spelled)):
        return False  # each value by another: nothing is covered
    known = {*own.spelled, *map(plain, own.meant), None}
    if quasi not in changed(case) and 2 * sum(cell not in known for cell in cells) < len(cells):
        return False  # mostly released as it is
    best: Counter[str] = Counter()
    for (value, _), rows in Counter(zip(case.field(name).spelled, own.spelled, strict=True)).items():
        best[value] = max(best[value], rows)
    usual = max(Counter(own.spelled).values())
    return sum(best.values()) >= 0.95 * case.rows and usual < 0.5 * case.rows
