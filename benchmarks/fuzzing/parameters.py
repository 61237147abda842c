"""Random parameters for every registered mechanism, most of them such that something is published."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .tables import MARK, NUMBER_MARK, Field

Settings = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What parameters may refer to: columns by role, and the levels of their hierarchies."""

    rows: int
    quasi: tuple[Field, ...]
    sensitive: tuple[Field, ...]
    insensitive: tuple[Field, ...]
    heights: dict[str, int] = field(default_factory=dict)

    @property
    def released(self) -> tuple[Field, ...]:
        return (*self.quasi, *self.sensitive, *self.insensitive)

    def numeric(self, fields: Sequence[Field]) -> list[Field]:
        return [f for f in fields if f.numeric and any(v is not None for v in f.meant)]


WANTED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "additive_noise": (("integer",), ()), "rounding": (("integer",), ()), "isolation_noise": (("integer", "decimal"), ()),
    "rank_swapping": (("integer",), ()), "top_bottom_coding": (("integer",), ()), "cut_points": (("integer",), ("category",)),
    "local_noise": (("integer",), ()), "pram": (("category",), ()), "anatomy": ((), ("category",)), "permute_within_groups": ((), ("category",)),
    "personalize": ((), ("category",)), "top_down_specialization": ((), ("category",)), "alpha_beta": (("category",), ()),
    "dp_choice": (("category",), ()), "dp_ranges": (("integer",), ()), "dp_statistics": (("integer",), ()), "microaggregation": (("integer",), ()),
}  # fmt: skip
"""The kinds that a mechanism cannot do without, among the quasi-identifiers and the sensitive columns."""


def quoted(text: str) -> str:
    """A name or value as lists of parameters take it."""
    return text if re.fullmatch(r"[\w.-]+", text) else '"' + text.replace('"', '""') + '"'


def _names(rng: random.Random, fields: Sequence[Field], least: int = 1) -> str:
    chosen = rng.sample(list(fields), rng.randint(min(least, len(fields)), len(fields)))
    return ",".join(quoted(f.name) for f in chosen)


def _maybe(rng: random.Random, settings: Settings, **options: Sequence[object]) -> Settings:
    """Some of these options, each with one of its values."""
    for name, values in options.items():
        if rng.random() < 0.4:
            value = rng.choice(list(values))
            settings[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return settings


def _domain(rng: random.Random, f: Field) -> str:
    """What an owner would state of a column: never a planted value."""
    if f.kind == "integer":
        known = sorted(v for v in f.meant if v is not None and not str(v).startswith(NUMBER_MARK)) or [0]
        low, high = known[0] - rng.randint(0, 3), known[-1] + rng.randint(0, 3)
        width = max(1, (high - low) // rng.choice([3, 8]))
        return f"{low}:{high}:{width}"
    texts = sorted(
        {
            f.spelled[i]
            for i, v in enumerate(f.meant)
            if v is not None and MARK not in f.spelled[i] and NUMBER_MARK not in f.spelled[i]
        }
    )
    chosen = rng.sample(texts, min(len(texts), rng.choice([2, 4, 8, 30])))
    return "|".join(quoted(text) for text in [*chosen, *(["other"] if rng.random() < 0.3 or len(chosen) < 2 else [])])


def _domains(rng: random.Random, fields: Sequence[Field]) -> str:
    return ", ".join(f"{quoted(f.name)}={_domain(rng, f)}" for f in fields)


def _bounds(rng: random.Random, fields: Sequence[Field]) -> str:
    found = []
    for f in fields:
        known = sorted(int(v) for v in f.meant if v is not None and not str(v).startswith(NUMBER_MARK)) or [0]
        found.append(f"{quoted(f.name)}={known[0]}:{known[-1] + 1 + rng.randint(0, 5)}")
    return ", ".join(found)


def _epsilon(rng: random.Random) -> Settings:
    return {"epsilon": rng.choice(["0.1", "0.5", "1", "2", "10"])}


def _k(rng: random.Random) -> Settings:
    return {"k": str(rng.choice([1, 2, 2, 3, 3, 4, 5, 8]))} if rng.random() < 0.85 else {}


def _numbers(rng: random.Random, d: Draft) -> Settings:
    fields = d.numeric(d.quasi)
    return {"columns": _names(rng, fields)} if fields and rng.random() < 0.3 else {}


def _alpha_beta(rng: random.Random, d: Draft) -> Settings:
    believed = {"d": rng.choice(["0.05", "0.2"])} if rng.random() < 0.7 else {"k": rng.choice(["1", "2"])}
    settings = {"gamma": rng.choice(["0.3", "0.5", "0.8"]), **believed, "domains": _domains(rng, d.released)}
    return settings | ({"missing": "true"} if rng.random() < 0.9 else {})


def _cut_points(rng: random.Random, d: Draft) -> Settings:
    chosen = rng.choice([f for f in d.quasi if f.numeric or f.kind == "date"] or list(d.quasi))
    held = [f for f in d.quasi if f is not chosen and rng.random() < 0.3]
    levels = ",".join(f"{quoted(f.name)}={rng.randint(0, d.heights.get(f.name, 1))}" for f in held)
    told = ["mutual_information"] * bool(d.sensitive)
    settings = {
        "column": chosen.name,
        "objective": rng.choice([*told, "loss", "granularity", "iloss", "discernibility"]),
    }
    about = len(d.sensitive) > 1 and settings["objective"] == "mutual_information"
    sensitive = {"sensitive": rng.choice(d.sensitive).name} if about else {}
    return settings | _k(rng) | ({"levels": levels} if held else {}) | sensitive


def _dp_choice(rng: random.Random, d: Draft) -> Settings:
    if rng.random() < 0.4 and (numbers := [f for f in d.released if f.kind == "integer"]):
        chosen = rng.choice(numbers)
        quantile = {"choose": "quantile", "quantile": rng.choice(["0.5", "0.1", "0.9"])}
    else:
        chosen, quantile = rng.choice([f for f in d.released if f.kind == "category"] or list(d.released)), {}
    return {"column": chosen.name, **quantile, "candidates": _domain(rng, chosen), **_epsilon(rng)}


def _stated(rng: random.Random, d: Draft, widths: Sequence[int], *, ways: bool = False) -> Settings:
    """Columns for differential privacy, their domains and an epsilon; perhaps how many of the columns are counted at a time."""
    fields = rng.sample(list(d.released), min(len(d.released), rng.choice(widths)))
    names = ",".join(quoted(f.name) for f in fields)
    settings = {"columns": names, "domains": _domains(rng, fields), **_epsilon(rng)}
    if ways and len(fields) > 1 and rng.random() < 0.5:
        settings["ways"] = str(rng.randint(1, len(fields)))
    return settings


def _dp_ranges(rng: random.Random, d: Draft) -> Settings:
    chosen = rng.choice([f for f in d.released if f.kind == "integer"] or list(d.released))
    return {"column": chosen.name, "domain": _domain(rng, chosen), **_epsilon(rng)}


def _dp_statistics(rng: random.Random, d: Draft) -> Settings:
    bounded = d.numeric(d.released)[: rng.randint(0, 2)]
    asked = ["count", *(f"{rng.choice(['sum', 'mean'])}({quoted(f.name)})" for f in bounded)]
    for f in [f for f in d.released if f.kind == "category"][: rng.randint(0, 1)]:
        asked.append(f"count({quoted(f.name)}={quoted(rng.choice(['flu', 'cold', '']))})")
    settings = {"statistics": ",".join(rng.sample(asked, len(asked))), **_epsilon(rng)}
    return settings | ({"bounds": _bounds(rng, bounded)} if bounded else {})


def _levels(rng: random.Random, d: Draft) -> Settings:
    levels = [min(d.heights.get(f.name, 1), rng.choice([0, 1, 1, 2, 9])) for f in d.quasi]
    named = ",".join(f"{quoted(f.name)}={level}" for f, level in zip(d.quasi, levels, strict=True))
    return {"levels": named if rng.random() < 0.5 else ",".join(map(str, levels)), **_k(rng)}


def _hipaa(rng: random.Random, d: Draft) -> Settings:
    settings: Settings = {}
    for key, kind in (("age", "integer"), ("zip", "code"), ("date", "date")):
        fields = [f for f in d.released if f.kind == kind]
        if fields and rng.random() < 0.4:
            settings[key] = _names(rng, fields)
    return settings


def _local_noise(rng: random.Random, d: Draft) -> Settings:
    fields = d.numeric(d.released) or list(d.released[:1])
    chosen = [f for f in fields if f.numeric][: rng.randint(1, 2)]
    return {"bounds": _bounds(rng, chosen), **_epsilon(rng)}


def _importance(rng: random.Random, d: Draft) -> Settings:
    if rng.random() >= 0.3:
        return {}
    return {"importance": ",".join(f"{quoted(f.name)}={rng.choice(['0', '1', '3', 'inf'])}" for f in d.quasi[:2])}


def _alone(rng: random.Random, d: Draft) -> Settings:
    numbers = d.numeric(d.quasi)
    return {"how": "alone", "columns": _names(rng, numbers)} if rng.random() < 0.3 and numbers else {}


def _of_kind(rng: random.Random, d: Draft, *kinds: str) -> Settings:
    """Columns of these kinds, or any where there is none."""
    return {"columns": _names(rng, [f for f in d.released if f.kind in kinds] or list(d.released))}


def _rounding(rng: random.Random, d: Draft) -> Settings:
    fields = d.numeric(d.quasi)
    if fields and rng.random() < 0.4:
        return {"base": ",".join(f"{quoted(f.name)}={rng.choice(['5', '0.5', '1000', '0.1'])}" for f in fields)}
    return _maybe(rng, _numbers(rng, d), base=["5", "0.25", "100", "7"])


def _top_bottom_coding(rng: random.Random, d: Draft) -> Settings:
    settings = _maybe(rng, _numbers(rng, d), top_share=[0, 0.05, 0.3], bottom_share=[0, 0.1], people=[1, 3, 5])
    if not {"top_share", "bottom_share"} & set(settings):
        known = sorted(v for f in d.numeric(d.quasi) for v in f.meant if v is not None)
        settings["top"] = str(known[len(known) * 3 // 4] if known else 50)
    return settings


def _about(rng: random.Random, d: Draft, key: str) -> Settings:
    """Which sensitive column is meant, where there are several."""
    return {key: rng.choice(d.sensitive).name} if len(d.sensitive) > 1 else {}


LOSSES = (
    "loss", "loss_geometric", "iloss", "granularity", "discernibility", "average_class_size", "height", "non_uniform_entropy",
    "0.5*loss + 0.1*height",
)  # fmt: skip
NUMERIC_OR_DATE = ("integer", "decimal", "money", "date")
DRAWS: dict[str, tuple[Callable[[random.Random, Draft], Settings], dict[str, Sequence[object]]]] = {
    "additive_noise": (_numbers, {"scale": [0.05, 0.3, 1, 2], "unit": ["deviation", "absolute"], "shape": ["gaussian", "uniform"], "correlated": [True], "keep_variance": [True], "whole": [True]}),
    "alpha_beta": (_alpha_beta, {}),
    "anatomy": (lambda rng, d: {"l": rng.choice(["2", "2", "2", "3", "4"])}, {"group": ["bucket", "group", "g r"]}),
    "cell_key": (lambda rng, d: _of_kind(rng, d, "category", "code", "constant"), {"ways": [1, 2], "gap": [0, 2]}),
    "cut_points": (_cut_points, {"max_ranges": [1, 2, 4]}),
    "dp_choice": (_dp_choice, {}),
    "dp_marginals": (lambda rng, d: _stated(rng, d, [1, 2, 3], ways=True), {"nonnegative": [True, False], "outside": ["missing", "drop"]}),
    "dp_ranges": (_dp_ranges, {"method": ["tree", "search"], "give": ["rows", "ranges"], "alpha": [0.1, 0.3, 0.9]}),
    "dp_sampling": (lambda rng, d: _stated(rng, d, [1, 2]), {"delta": [1e-6, 0.01, 0.5], "outside": ["missing", "drop"]}),
    "dp_statistics": (_dp_statistics, {"confidence": [0.5, 0.99]}),
    "dp_synthesis": (lambda rng, d: _stated(rng, d, [1, 2, 3, 4]), {"structure": ["adaptive", "tree", "chain", "independent"], "delta": [1e-6, 0.1], "rows": [1, 20, 100], "outside": ["missing", "drop"]}),
    "generalize_full_domain": (lambda rng, d: _k(rng), {"minimise": LOSSES, "suppression": [0, 0.05, 0.1, 0.3, 0.9]}),
    "generalize_to_levels": (_levels, {"suppression": [0.05, 0.3, 0.6, 1]}),
    "hipaa": (_hipaa, {"year": [2024, 1990], "small": ["*", "000"]}),
    "isolation_noise": (lambda rng, d: {"t": rng.choice(["1", "2", "2", "3", "5"])}, {"c": [1.1, 2, 4], "suppression": [0.3, 0.9], "whole": [True]}),
    "k_member": (lambda rng, d: _k(rng), {"block": [0, 5, 20], "loss": ["iloss", "byun"], "ends": ["tight", "open"]}),
    "local_noise": (_local_noise, {"clamp": [True], "missing": ["middle", "keep"]}),
    "local_suppression": (lambda rng, d: _k(rng) | _importance(rng, d), {"most": [1, 2, 9], "suppression": [0.05, 0.3, 1]}),
    "microaggregation": (lambda rng, d: {"k": rng.choice(["1", "2", "3", "5"])} | _alone(rng, d), {"centre": ["mean", "median"], "whole": [True], "block": [10, 50]}),
    "mondrian": (lambda rng, d: _k(rng), {"mode": ["strict", "relaxed"], "choose": ["loss", "width"], "bounds": ["data", "cuts"], "ends": ["tight", "open"]}),
    "permute_within_groups": (lambda rng, d: {"l": rng.choice(["2", "2", "3"])}, {"groups": ["mondrian", "anatomy"], "together": [True, False], "group": ["bucket"]}),
    "personalize": (lambda rng, d: {"limit": rng.choice(["0.9", "0.8", "0.5", "0.3"])} | _about(rng, d, "column"), {"k": [2, 3], "quasi": ["greedy", "full_domain"]}),
    "pram": (lambda rng, d: _of_kind(rng, d, "category", "code", "text", "constant") | {"keep": rng.choice(["0.5", "0.8", "0.95", "0.01"])}, {"invariant": [True]}),
    "random_sampling": (lambda rng, d: {"fraction": rng.choice(["0.1", "0.5", "0.9", "1"])}, {"each": [True]}),
    "rank_swapping": (lambda rng, d: _of_kind(rng, d, *NUMERIC_OR_DATE), {"p": [1, 10, 20, 50, 100]}),
    "record_swapping": (lambda rng, d: {"areas": _of_kind(rng, d, "category", "code", "text")["columns"]}, {"rate": [0, 0.1, 1], "k": [1, 2, 5]}),
    "rounding": (_rounding, {"how": ["nearest", "random"]}),
    "shift_dates": (lambda rng, d: {}, {"days": [1, 30, 400]}),
    "top_bottom_coding": (_top_bottom_coding, {}),
    "top_down_specialization": (lambda rng, d: _k(rng) | _about(rng, d, "target"), {}),
}  # fmt: skip
"""For each mechanism what it cannot do without, and what it may be given besides."""


def drawn(mechanism: str, rng: random.Random, d: Draft) -> Settings:
    """Parameters of a mechanism."""
    needed, more = DRAWS[mechanism]
    return _maybe(rng, needed(rng, d), **more)


def spoilt(rng: random.Random, settings: Settings) -> Settings:
    """The same with one thing wrong: what a mechanism must answer with a sentence."""
    key = rng.choice([*settings, "k"])
    wrong = [
        "",
        ",",
        '"',
        *[
            "-1",
            "0",
            "nan",
            "inf",
            "-inf",
            "1e400",
            "x",
            "nobody",
            "2.5",
            "99999999999999999999",
            "a=b=c",
            "[]",
            "true",
            "0:0",
            "5:1",
        ],
    ]
    kind = rng.random()
    if kind < 0.2:
        return {**settings, "no_such": "1"}
    if kind < 0.3:
        return {name: value for name, value in settings.items() if name != key}
    return {**settings, key: rng.choice(wrong)}
