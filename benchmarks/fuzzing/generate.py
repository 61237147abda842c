"""A random case: table, roles, hierarchies, mechanism, requirements and the call, all from one seed."""

from __future__ import annotations

import csv
import io
import json
import random
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from . import parameters, people, requirements
from .tables import KINDS, MARK, NUMBER_MARK, Field, column, identifier, marker, person, typed

_NAMES = [
    "age",
    "zip",
    "sex",
    "town",
    "born",
    "job",
    "income",
    "race",
    "visit",
    "grade",
    "salary",
    "height",
    "since",
    "ward",
    "class",
]
_ODD_NAMES = ("odd, name", 'a "b"', "größe", "=SUM(A1)", "two words", "x|y", "[k]", "ünïcode 😀", "select", "Group", "n", "count", "a=b", "percent%", "-dash", "1st", "a.b", "ID")  # fmt: skip
STATISTICS = frozenset({"cell_key", "dp_choice", "dp_marginals", "dp_ranges", "dp_statistics"})
NOISY = frozenset(
    {
        "additive_noise",
        "isolation_noise",
        "local_noise",
        "pram",
        "rank_swapping",
        "record_swapping",
        "rounding",
        "shift_dates",
    }
)
"""Mechanisms after which classes mean nothing."""
DRAWN = frozenset({"dp_synthesis", "alpha_beta"})
"""Mechanisms whose rows are nobody's: nothing in them has to cover anything."""

SECOND = (
    "generalize_full_domain",
    "generalize_to_levels",
    "k_member",
    "local_suppression",
    "mondrian",
    "rounding",
    "top_bottom_coding",
)
"""Mechanisms that may work on what another one released."""
FIRST = frozenset({*SECOND, "additive_noise", "cut_points", "hipaa", "microaggregation", "personalize", "pram", "random_sampling", "rank_swapping", "shift_dates"})  # fmt: skip

OLD = b"what stood here before"


@dataclass(frozen=True, kw_only=True)
class Case:
    """Everything about one run, as plain data: what the checker may know."""

    name: str
    fields: tuple[Field, ...]
    roles: Mapping[str, tuple[str, ...]]
    person: str | None
    guarding: str | None
    taxonomies: Mapping[str, tuple[tuple[str, ...], ...]]
    orders: Mapping[str, tuple[str, ...]]
    ruled: frozenset[str]
    """Columns whose labels the owner stated: a file, widths or cuts."""
    mechanism: str
    settings: Mapping[str, str]
    require: tuple[str, ...]
    files: Mapping[str, bytes]
    call: tuple[str, ...]
    out: str
    spoilt: bool
    free: Mapping[str, str]
    """Columns that nobody limits and that tell a protected one: their name, and how."""
    waived: frozenset[str]
    """Columns that the owner lets out all the same."""
    verb: str = "sanitize"
    older: bool = False
    """Whether a release stands already where this one goes."""
    second: str = ""
    """The mechanism that works on what the first one released, if there is one."""
    then: Mapping[str, str] = field(default_factory=dict)
    """Its parameters."""
    people: people.People | None = None
    """What happens to several rows a person. Where one row of each is used, the fields are those of these rows."""
    population: tuple[Field, ...] = ()
    neutral: bool = False
    """Whether cells that a spreadsheet would run get an apostrophe."""
    secrets: frozenset[str] = field(default_factory=frozenset)
    """Texts that no stream and no file name may hold."""

    @property
    def rows(self) -> int:
        return len(self.fields[0].meant)

    def field(self, name: str) -> Field:
        return next(f for f in self.fields if f.name == name)

    @property
    def released(self) -> tuple[str, ...]:
        return (*self.roles["quasi"], *self.roles["sensitive"], *self.roles["insensitive"])


def _text(value: Any) -> str:
    """A value as TOML spells it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_text(v)}" for k, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _rows(rng: random.Random) -> int:
    kind = rng.random()
    if kind < 0.02:
        return rng.choice([0, 1, 2, 3])
    if kind < 0.80:
        return rng.randint(5, 80)
    if kind < 0.96:
        return rng.randint(81, 300)
    return rng.randint(500, 3000) if kind > 0.985 else rng.randint(300, 700)


def _taxonomy(rng: random.Random, f: Field) -> tuple[tuple[str, ...], ...]:
    """A tree over the values of a column, and some more, of one to three levels below `*`."""
    values = sorted(
        {text for text, v in zip(f.spelled, f.meant, strict=True) if v is not None and text not in ("", "*")}
    )
    values += [f"other{i}" for i in range(rng.choice([0, 0, 2]))]
    rng.shuffle(values)
    lines = [[value] for value in values]
    groups = list(range(len(values)))
    for level in range(rng.randint(0, 3)):
        parts = max(1, len(set(groups)) // rng.choice([2, 2, 3]))
        into = {g: rng.randrange(parts) for g in sorted(set(groups))}
        groups = [into[g] for g in groups]
        for line, g in zip(lines, groups, strict=True):
            line.append(f"L{level + 1}.{g}")
    return tuple((*line, "*") for line in lines)


def _hierarchy(rng: random.Random, f: Field) -> tuple[Any, tuple[tuple[str, ...], ...] | None, int]:
    """A rule for a column (None: none), the lines of its file if it has one, and its height."""
    if rng.random() < 0.2:
        return None, None, 1
    if rng.random() < 0.05:
        return {"suppress": True}, None, 1
    if f.numeric and rng.random() < 0.85:
        known = sorted(float(v) for v in f.meant if v is not None) or [0.0]
        spread = max(known[-1] - known[0], 1.0)
        kind = rng.choice(["widths", "cuts", "quantiles"])
        if kind == "widths":
            step = max(1, round(spread / rng.choice([5, 20, 60])))
            widths = [step * 2**i for i in range(rng.randint(1, 3))]
            origin = {"origin": rng.choice([0, 1, 0.5, -3])} if rng.random() < 0.3 else {}
            return {"widths": widths, **origin}, None, len(widths) + 1
        if kind == "cuts":
            fine = sorted({round(known[0] + spread * rng.random(), 1) for _ in range(rng.randint(1, 6))})
            coarse = sorted(rng.sample(fine, rng.randint(1, len(fine))))
            return {"cuts": rng.choice([[fine, coarse], [fine]])}, None, 2
        return {"quantiles": rng.choice([[4, 2], [8, 4, 2], [3], [2]])}, None, 2
    if f.kind == "date":
        units = ["day", "month", "quarter", "year", "decade"]
        return {"dates": [u for u in units if rng.random() < 0.6] or ["year"]}, None, 2
    if f.kind == "code" and rng.random() < 0.8:
        return {"prefix": rng.choice([[1, 2], [1, 2, 3], [2], True])}, None, 2
    lines = _taxonomy(rng, f)
    if not lines:
        return None, None, 1
    if rng.random() < 0.08 and len(lines) > 1:
        lines = lines[1:]  # a value without a line
    return ({"unknown": "*"} if rng.random() < 0.2 else {}), lines, len(lines[0]) - 1


def _copy(
    rng: random.Random, name: str, fields: list[Field], quasi: list[str], ids: list[str]
) -> tuple[Field, str] | None:
    """A column that tells another: a copy, an offset, a multiple, or (of an identifier) its last digits, which are nearly unique."""
    by_name = {f.name: f for f in fields}
    sources = [by_name[q] for q in quasi if len(set(by_name[q].spelled)) > 3]
    if not sources:
        return None
    source = rng.choice(sources)
    whole = source.kind == "integer" and all(abs(v or 0) < 10**6 for v in source.meant)
    how = rng.choice(["copy", "offset", "multiple"] if whole else ["copy", "renamed"])
    kind, meant = source.kind, source.meant
    spelled = tuple("" if v is None else t for v, t in zip(meant, source.spelled, strict=True))
    if how in ("offset", "multiple"):
        shift, factor = (rng.randint(1, 50), 1) if how == "offset" else (0, rng.randint(2, 9))
        meant = tuple(None if v is None else v * factor + shift for v in meant)
        spelled = tuple("" if v is None else str(v) for v in meant)
    elif how == "renamed":
        labels = {text: f"k{i}" for i, text in enumerate(sorted(set(source.spelled)))}
        kind, meant = "text", tuple(None if v is None else labels[t] for v, t in zip(meant, spelled, strict=True))
        spelled = tuple(v or "" for v in meant)
    return Field(name=name, kind=kind, meant=meant, spelled=spelled), f"{how} of {source.name}"


def _csv(rng: random.Random, fields: list[Field], delimiter: str) -> bytes:
    """A CSV file as programs write them: line ends, quotes and byte order marks differ."""
    buffer = io.StringIO(newline="")
    quoting: Any = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=rng.choice(["\n", "\n", "\r\n"]), quoting=quoting)
    writer.writerow([f.name for f in fields])
    writer.writerows(zip(*(f.spelled for f in fields), strict=True))
    return buffer.getvalue().encode("utf-8-sig" if rng.random() < 0.1 else "utf-8")


def _parquet(fields: list[Field]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(
        pa.table({f.name: pa.array(typed(f)) if f.meant else pa.array([], pa.string()) for f in fields}), sink
    )
    return sink.getvalue()


def make(
    seed: int, index: int, mechanism: str, metrics: Mapping[str, str], verb: str = "sanitize", *, guarded: bool = False
) -> Case:
    """The case of this seed and number; the same ones give the same case on every machine. The verb study also packages.

    `guarded` says that free columns are guarded, so the owner may waive some.
    """
    rng = random.Random(f"{seed}/{index}/{mechanism}")
    rows = _rows(rng)
    if mechanism == "alpha_beta":
        rows = min(rows, 80)
    missing = rng.choice(["", "", "?", "NA", "missing"]) if rng.random() < 0.3 else ""
    names = iter(rng.sample(_NAMES, len(_NAMES)))
    odd = iter(rng.sample(_ODD_NAMES, len(_ODD_NAMES)))

    def name() -> str:
        return next(odd) if rng.random() < 0.08 else next(names)

    want_quasi, want_sensitive = parameters.WANTED.get(mechanism, ((), ()))
    few = mechanism in ("alpha_beta",)
    kinds = {
        "quasi": [*want_quasi, *rng.choices(KINDS, k=rng.choice([0, 1] if few else [0, 1, 1, 2, 2, 3, 4]) + (not want_quasi))],
        "sensitive": [*want_sensitive, *rng.choices(KINDS, weights=(2, 1, 1, 1, 6, 1, 2, 1), k=0 if few else rng.choice([0, 0, 1]) + (rng.random() < 0.7 and not want_sensitive))],
        "insensitive": rng.choices(KINDS, weights=(1, 1, 1, 1, 5, 1, 1, 2), k=0 if few else rng.choice([0, 0, 0, 1])),
    }  # fmt: skip
    if few:
        kinds["quasi"] = ["category" if k != "integer" else k for k in kinds["quasi"]][:2]
    if mechanism == "anatomy" and rng.random() < 0.9:
        kinds["sensitive"] = kinds["sensitive"][:1]
    roles: dict[str, list[str]] = {"identifiers": [], "quasi": [], "sensitive": [], "insensitive": []}
    fields: list[Field] = []
    for _ in range(rng.choice([0, 1, 1, 2])):
        fields.append(identifier(rng, f"id{len(fields) or ''}", rows))
        roles["identifiers"].append(fields[-1].name)
    for role, wanted in kinds.items():
        for kind in wanted:
            fields.append(column(rng, name(), kind, rows, missing=missing))
            roles[role].append(fields[-1].name)
    if rng.random() < 0.3:
        fields.append(column(rng, "unused", rng.choice(KINDS), rows, missing=missing))
    free: dict[str, str] = {}
    if rng.random() < 0.04 and (planted := _copy(rng, "free", fields, roles["quasi"], roles["identifiers"])):
        fields.append(planted[0])
        roles["insensitive"].append("free")
        free["free"] = planted[1]
    whose = None
    if rng.random() < 0.06:
        fields.append(person(rng, "person", rows))
        whose = "person"
    if rows > 3 and rng.random() < 0.3:  # many rows alike
        keep = rng.sample(range(rows), max(2, rows // rng.choice([2, 5])))
        at = [rng.choice(keep) for _ in range(rows)]
        fields = [
            f
            if f.kind in ("identifier", "person")
            else Field(
                name=f.name, kind=f.kind, meant=tuple(f.meant[i] for i in at), spelled=tuple(f.spelled[i] for i in at)
            )
            for f in fields
        ]
    more = random.Random(
        f"{seed}/{index}/{mechanism}/more"
    )  # what came later, so that what was drawn before stays as it is
    several, kept = people.draw(more, mechanism, next((f for f in fields if f.name == "person"), None), rows)
    fields += several
    whose = "person" if kept is not None else whose
    by_name = {f.name: f for f in fields}

    hierarchies: dict[str, Any] = {}
    taxonomies: dict[str, tuple[tuple[str, ...], ...]] = {}
    heights: dict[str, int] = {}
    files: dict[str, bytes] = {}
    guarding = None
    for at, owner in enumerate([*roles["quasi"], *roles["sensitive"]]):
        must = mechanism == "personalize" and roles["sensitive"][:1] == [owner]
        if owner in roles["sensitive"] and not must and rng.random() < 0.85:
            continue
        rule, lines, heights[owner] = (
            _hierarchy(rng, by_name[owner]) if not must else ({}, _taxonomy(rng, by_name[owner]) or None, 2)
        )
        if lines is not None:
            file = f"h{at}.csv"
            buffer = io.StringIO(newline="")
            csv.writer(buffer, delimiter=";", lineterminator="\n").writerows(lines)
            files[file] = buffer.getvalue().encode()
            hierarchies[owner] = {"file": file, **rule} if rule else file
            taxonomies[owner] = lines
        elif rule is not None:
            hierarchies[owner] = rule
    if mechanism == "personalize" and roles["sensitive"] and roles["sensitive"][0] in taxonomies:
        nodes = sorted({label for line in taxonomies[roles["sensitive"][0]] for label in line})
        guards = tuple(
            "" if rng.random() < 0.8 else rng.choice([n for n in nodes if n != "*"] or [""]) for _ in range(rows)
        )
        fields.append(Field(name="guards", kind="guarding", meant=tuple(g or None for g in guards), spelled=guards))
        guarding = "guards"
    orders: dict[str, tuple[str, ...]] = {}
    for owner in roles["sensitive"]:
        f = by_name[owner]
        if f.kind == "category" and rng.random() < 0.2:
            values = sorted({t for t, v in zip(f.spelled, f.meant, strict=True) if v is not None})
            orders[owner] = tuple(rng.sample(values, k=len(values)))

    draft = parameters.Draft(
        rows=rows,
        quasi=tuple(by_name[n] for n in roles["quasi"]),
        sensitive=tuple(by_name[n] for n in roles["sensitive"]),
        insensitive=tuple(by_name[n] for n in roles["insensitive"]),
        heights=heights,
    )
    settings = parameters.drawn(mechanism, rng, draft)
    second = (
        more.choice(SECOND)
        if mechanism in FIRST and more.random() < 0.1 and (kept is None or kept.rows == "one")
        else ""
    )
    then = parameters.drawn(second, more, draft) if second else {}
    if second not in ("", "rounding", "top_bottom_coding"):
        then.setdefault("k", "2")
    asked = people.population(more, draft.quasi, rows) if mechanism in people.STEERED and kept is None else None
    spoilt = rng.random() < 0.04
    if spoilt:
        settings = parameters.spoilt(rng, settings)
    most = 2 if mechanism in ("mondrian", "k_member", "generalize_full_domain", "generalize_to_levels", "local_suppression", "cut_points", "top_down_specialization", "personalize") else int(rng.random() < 0.15)  # fmt: skip
    require = requirements.draw(
        rng, roles["sensitive"], metrics, 0 if mechanism in STATISTICS | DRAWN and rng.random() < 0.95 else most
    )

    if asked is not None:
        require.append(asked[1])
    lines = ["[roles]", *(f"{role} = {_text(list(columns))}" for role, columns in roles.items() if columns)]
    lines += [f'person = "{whose}"'] * (whose is not None) + [f'guarding = "{guarding}"'] * (guarding is not None)
    if kept is not None:
        lines += [f'household = "{kept.household}"'] * (kept.household is not None) + list(kept.toml)
    for title, entries in (("hierarchies", hierarchies), ("orders", {k: list(v) for k, v in orders.items()})):
        if entries:
            lines += [
                f"[{title}]",
                *(f"{json.dumps(n, ensure_ascii=False)} = {_text(rule)}" for n, rule in entries.items()),
            ]
    if rng.random() < 0.1 and roles["quasi"]:
        lines += ["[weights]", f"{json.dumps(roles['quasi'][0], ensure_ascii=False)} = {rng.choice([0, 1, 2.5])}"]
    files["roles.toml"] = ("\n".join(lines) + "\n").encode()
    rng.shuffle(fields)
    reading: dict[str, Any] = {}
    if rng.random() < 0.15:
        table = "table.parquet"
        files[table] = _parquet(fields)
        if asked is not None:
            files["population.parquet"] = _parquet(list(asked[0]))
        fields = [Field(name=f.name, kind=f.kind, meant=tuple(typed(f)), spelled=f.spelled) for f in fields]
    else:
        table, delimiter = "table.csv", rng.choice([",", ",", ",", ";", "\t"])
        files[table] = _csv(rng, fields, delimiter)
        if delimiter != "," or rng.random() < 0.5:
            reading |= {"delimiter": delimiter, "header": True, "quote": '"'}
        if asked is not None:  # options are of both files
            files["population.csv"] = _csv(more, list(asked[0]), delimiter)
        reading |= {"missing": [missing]} if missing else {}
        reading |= {"dates": "text"} if rng.random() < 0.05 else {}
    out = rng.choice(["out.csv", "out.csv", "out.parquet"])
    waived = frozenset(
        n
        for n in (*roles["sensitive"], *roles["insensitive"])
        if guarded and rng.random() < (0.2 if n in free else 0.7)
    )
    if mechanism == "local_noise" and guarded and rng.random() < 0.9:  # each column without noise needs a waiver
        noisy = settings.get("bounds", "")
        waived = frozenset(
            n
            for n in (*roles["quasi"], *roles["sensitive"], *roles["insensitive"])
            if f", {parameters.quoted(n)}=" not in f", {noisy}"
        )
    chosen = rng.randrange(10**6) if rng.random() < 0.7 else None
    if verb == "sanitize" and more.random() < 0.06:
        out = more.choice(["out.xlsx", "out.sav", "out.dta"])
    neutral = verb == "sanitize" and more.random() < 0.05 and out.endswith((".csv", ".xlsx"))
    everybody = next((name for name in files if name.startswith("population.")), "")
    links = [(mechanism, settings), (second, then)] if second else [(mechanism, settings)]
    chain = " | ".join(shlex.join([name, *(f"{k}={v}" for k, v in given.items())]) for name, given in links)
    if verb == "study":
        out = "package/release.csv"
        study = {"table": table, "roles": "roles.toml", "refine": 0, "require": require, **reading}
        if mechanism in NOISY:
            study |= {"risk": "linkage_distance_risk", "utility": "column_distance"}
        study |= {"population": everybody} if everybody else {}
        lines = [f"{key} = {_text(value)}" for key, value in study.items()]
        lines += ["[[candidate]]", f"mechanism = {_text(chain if second else mechanism)}"]
        lines += [f"{key} = {_text(value)}" for key, value in settings.items()] if not second else []
        files["study.toml"] = ("\n".join(lines) + "\n").encode()
        call = ["study", "study.toml", "--out", "study", "--package", "package", "--workers", "1", "--formats", "md"]
    else:
        call = ["sanitize", table, "--roles", "roles.toml", "--mechanism", chain if second else mechanism, "--out", out]
        call += ["--population", everybody] * bool(everybody) + ["--neutralise-formulas"] * neutral
        for key, value in reading.items():
            call += [f"--{key}"] if value is True else [f"--{key}", value if isinstance(value, str) else value[0]]
        for key, value in settings.items() if not second else ():
            call += ["--set", f"{key}={value}"]
        for text in require:
            call += ["--require", text]
        for owner in sorted(waived):
            call += ["--waive", f"{owner}: it is tried"]
        call += [] if chosen is None else ["--seed", str(chosen)]
    call += ["--json"] * (rng.random() < 0.7)
    older = verb == "sanitize" and rng.random() < 0.1
    if older:
        files[out] = OLD
    secrets = _secrets(fields, settings, missing)
    if kept is not None and kept.rows == "one":
        fields = people.one_row(fields, kept)
    return Case(
        name=f"{seed}/{index}/{mechanism}" + ("" if verb == "sanitize" else f"/{verb}"),
        fields=tuple(fields),
        roles={role: tuple(columns) for role, columns in roles.items()},
        person=whose,
        guarding=guarding,
        taxonomies=taxonomies,
        orders=orders,
        ruled=frozenset(
            n
            for n, rule in hierarchies.items()
            if not isinstance(rule, dict) or not {"quantiles", "suppress"} & set(rule)
        ),
        mechanism=mechanism,
        settings=settings,
        require=tuple(require),
        files=files,
        call=tuple(call),
        older=older,
        verb=verb,
        out=out,
        spoilt=spoilt,
        free=free,
        waived=waived,
        second=second,
        then=then,
        people=kept,
        population=() if asked is None else asked[0],
        neutral=neutral,
        secrets=secrets,
    )


def _secrets(fields: list[Field], settings: Mapping[str, str], missing: str) -> frozenset[str]:
    """The planted texts: those of identifiers and people, and rare cells of the other columns."""
    said = " ".join(settings.values())
    texts = {
        text
        for f in fields
        for text in f.spelled
        if MARK in text or NUMBER_MARK in text.replace(",", "").replace(".", "")
    }
    return frozenset(text for text in texts if text not in said)


__all__ = ["DRAWN", "STATISTICS", "Case", "make", "marker"]
