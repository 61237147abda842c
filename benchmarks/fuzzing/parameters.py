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


def additive_noise(rng: random.Random, d: Draft) -> Settings:
    return _maybe(rng, _numbers(rng, d), scale=[0.05, 0.3, 1, 2], unit=["deviation", "absolute"], shape=["gaussian", "uniform"],
                  correlated=[True], keep_variance=[True], whole=[True])  # fmt: skip


def alpha_beta(rng: random.Random, d: Draft) -> Settings:
    believed = {"d": rng.choice(["0.05", "0.2"])} if rng.random() < 0.7 else {"k": rng.choice(["1", "2"])}
    settings = {"gamma": rng.choice(["0.3", "0.5", "0.8"]), **believed, "domains": _domains(rng, d.released)}
    return settings | ({"missing": "true"} if rng.random() < 0.9 else {})


def anatomy(rng: random.Random, d: Draft) -> Settings:
    return _maybe(rng, {"l": rng.choice(["2", "2", "2", "3", "4"])}, group=["bucket", "group", "g r"])


def cut_points(rng: random.Random, d: Draft) -> Settings:
    fields = [f for f in d.quasi if f.numeric or f.kind == "date"] or list(d.quasi)
    chosen = rng.choice(fields)
    held = [f for f in d.quasi if f is not chosen and rng.random() < 0.3]
    levels = (
        {"levels": ",".join(f"{quoted(f.name)}={rng.randint(0, d.heights.get(f.name, 1))}" for f in held)}
        if held
        else {}
    )
    objective = rng.choice(
        ["mutual_information"] * bool(d.sensitive) + ["loss", "granularity", "iloss", "discernibility"]
    )
    about = (
        {"sensitive": rng.choice(d.sensitive).name}
        if len(d.sensitive) > 1 and objective == "mutual_information"
        else {}
    )
    return _maybe(
        rng, {"column": chosen.name, "objective": objective, **_k(rng), **levels, **about}, max_ranges=[1, 2, 4]
    )


def dp_choice(rng: random.Random, d: Draft) -> Settings:
    if rng.random() < 0.4 and (numbers := [f for f in d.released if f.kind == "integer"]):
        chosen = rng.choice(numbers)
        return {
            "column": chosen.name,
            "choose": "quantile",
            "quantile": rng.choice(["0.5", "0.1", "0.9"]),
            "candidates": _domain(rng, chosen),
            **_epsilon(rng),
        }
    chosen = rng.choice([f for f in d.released if f.kind == "category"] or list(d.released))
    return {"column": chosen.name, "candidates": _domain(rng, chosen), **_epsilon(rng)}


def dp_marginals(rng: random.Random, d: Draft) -> Settings:
    fields = rng.sample(list(d.released), min(len(d.released), rng.choice([1, 2, 3])))
    settings = {"columns": ",".join(quoted(f.name) for f in fields), "domains": _domains(rng, fields), **_epsilon(rng)}
    if len(fields) > 1 and rng.random() < 0.5:
        settings["ways"] = str(rng.randint(1, len(fields)))
    return _maybe(rng, settings, nonnegative=[True, False], outside=["missing", "drop"])


def dp_ranges(rng: random.Random, d: Draft) -> Settings:
    chosen = rng.choice([f for f in d.released if f.kind == "integer"] or list(d.released))
    return _maybe(
        rng,
        {"column": chosen.name, "domain": _domain(rng, chosen), **_epsilon(rng)},
        method=["tree", "search"],
        give=["rows", "ranges"],
        alpha=[0.1, 0.3, 0.9],
    )


def dp_statistics(rng: random.Random, d: Draft) -> Settings:
    fields = d.numeric(d.released)
    asked, bounded = ["count"], []
    for f in fields[: rng.randint(0, 2)]:
        asked.append(f"{rng.choice(['sum', 'mean'])}({quoted(f.name)})")
        bounded.append(f)
    for f in [f for f in d.released if f.kind == "category"][: rng.randint(0, 1)]:
        asked.append(f"count({quoted(f.name)}={quoted(rng.choice(['flu', 'cold', '']))})")
    settings = {"statistics": ",".join(rng.sample(asked, len(asked))), **_epsilon(rng)}
    return _maybe(rng, settings | ({"bounds": _bounds(rng, bounded)} if bounded else {}), confidence=[0.5, 0.99])


def dp_synthesis(rng: random.Random, d: Draft) -> Settings:
    fields = rng.sample(list(d.released), min(len(d.released), rng.choice([1, 2, 3, 4])))
    settings = {"columns": ",".join(quoted(f.name) for f in fields), "domains": _domains(rng, fields), **_epsilon(rng)}
    return _maybe(
        rng, settings, structure=["tree", "chain", "independent"], rows=[1, 20, 100], outside=["missing", "drop"]
    )


def generalize_full_domain(rng: random.Random, d: Draft) -> Settings:
    losses = [
        "loss",
        "loss_geometric",
        "iloss",
        "granularity",
        "discernibility",
        "average_class_size",
        "height",
        "non_uniform_entropy",
        "0.5*loss + 0.1*height",
    ]
    return _maybe(rng, _k(rng), minimise=losses, suppression=[0, 0.05, 0.1, 0.3, 0.9])


def generalize_to_levels(rng: random.Random, d: Draft) -> Settings:
    levels = [min(d.heights.get(f.name, 1), rng.choice([0, 1, 1, 2, 9])) for f in d.quasi]
    named = ",".join(f"{quoted(f.name)}={level}" for f, level in zip(d.quasi, levels, strict=True))
    return _maybe(
        rng,
        {"levels": named if rng.random() < 0.5 else ",".join(map(str, levels)), **_k(rng)},
        suppression=[0.05, 0.3, 0.6, 1],
    )


def hipaa(rng: random.Random, d: Draft) -> Settings:
    settings: Settings = {}
    for key, kinds in (("age", ("integer",)), ("zip", ("code",)), ("date", ("date",))):
        fields = [f for f in d.released if f.kind in kinds]
        if fields and rng.random() < 0.4:
            settings[key] = _names(rng, fields)
    return _maybe(rng, settings, year=[2024, 1990], small=["*", "000"])


def isolation_noise(rng: random.Random, d: Draft) -> Settings:
    return _maybe(
        rng, {"t": rng.choice(["1", "2", "2", "3", "5"])}, c=[1.1, 2, 4], suppression=[0.3, 0.9], whole=[True]
    )


def k_member(rng: random.Random, d: Draft) -> Settings:
    return _maybe(rng, _k(rng), block=[0, 5, 20], loss=["iloss", "byun"], ends=["tight", "open"])


def local_noise(rng: random.Random, d: Draft) -> Settings:
    fields = d.numeric(d.released) or list(d.released[:1])
    chosen = [f for f in fields if f.numeric][: rng.randint(1, 2)]
    return _maybe(rng, {"bounds": _bounds(rng, chosen), **_epsilon(rng)}, clamp=[True], missing=["middle", "keep"])


def local_suppression(rng: random.Random, d: Draft) -> Settings:
    settings = _maybe(rng, _k(rng), most=[1, 2, 9], suppression=[0.05, 0.3, 1])
    if rng.random() < 0.3:
        settings["importance"] = ",".join(f"{quoted(f.name)}={rng.choice(['0', '1', '3', 'inf'])}" for f in d.quasi[:2])
    return settings


def microaggregation(rng: random.Random, d: Draft) -> Settings:
    settings = _maybe(
        rng, {"k": rng.choice(["1", "2", "3", "5"])}, centre=["mean", "median"], whole=[True], block=[10, 50]
    )
    numbers = d.numeric(d.quasi)
    if rng.random() < 0.3 and numbers:
        settings |= {"how": "alone", "columns": _names(rng, numbers)}
    return settings


def mondrian(rng: random.Random, d: Draft) -> Settings:
    return _maybe(
        rng,
        _k(rng),
        mode=["strict", "relaxed"],
        choose=["loss", "width"],
        bounds=["data", "cuts"],
        ends=["tight", "open"],
    )


def permute_within_groups(rng: random.Random, d: Draft) -> Settings:
    return _maybe(
        rng,
        {"l": rng.choice(["2", "2", "3"])},
        groups=["mondrian", "anatomy"],
        together=[True, False],
        group=["bucket"],
    )


def personalize(rng: random.Random, d: Draft) -> Settings:
    return _maybe(
        rng,
        {"limit": rng.choice(["0.9", "0.8", "0.5", "0.3"])}
        | ({"column": d.sensitive[0].name} if len(d.sensitive) > 1 else {}),
        k=[2, 3],
        quasi=["greedy", "full_domain"],
    )


def pram(rng: random.Random, d: Draft) -> Settings:
    fields = [f for f in d.released if f.kind in ("category", "code", "text", "constant")] or list(d.released)
    return _maybe(
        rng, {"columns": _names(rng, fields), "keep": rng.choice(["0.5", "0.8", "0.95", "0.01"])}, invariant=[True]
    )


def rank_swapping(rng: random.Random, d: Draft) -> Settings:
    fields = [f for f in d.released if f.numeric or f.kind == "date"] or list(d.released)
    return _maybe(rng, {"columns": _names(rng, fields)}, p=[1, 10, 20, 50, 100])


def rounding(rng: random.Random, d: Draft) -> Settings:
    fields = d.numeric(d.quasi)
    if fields and rng.random() < 0.4:
        return _maybe(
            rng,
            {"base": ",".join(f"{quoted(f.name)}={rng.choice(['5', '0.5', '1000', '0.1'])}" for f in fields)},
            how=["nearest", "random"],
        )
    return _maybe(rng, _numbers(rng, d), base=["5", "0.25", "100", "7"], how=["nearest", "random"])


def top_bottom_coding(rng: random.Random, d: Draft) -> Settings:
    settings = _maybe(rng, _numbers(rng, d), top_share=[0, 0.05, 0.3], bottom_share=[0, 0.1], people=[1, 3, 5])
    if not {"top_share", "bottom_share"} & set(settings):
        fields = d.numeric(d.quasi)
        known = sorted(v for f in fields for v in f.meant if v is not None)
        settings["top"] = str(known[len(known) * 3 // 4] if known else 50)
    return settings


def top_down_specialization(rng: random.Random, d: Draft) -> Settings:
    return {**_k(rng), **({"target": rng.choice(d.sensitive).name} if len(d.sensitive) > 1 else {})}


MAKE: dict[str, Callable[[random.Random, Draft], Settings]] = {
    made.__name__: made
    for made in (
        additive_noise, alpha_beta, anatomy, cut_points, dp_choice, dp_marginals, dp_ranges, dp_statistics, dp_synthesis, generalize_full_domain,
        generalize_to_levels, hipaa, isolation_noise, k_member, local_noise, local_suppression, microaggregation, mondrian, permute_within_groups,
        personalize, pram, rank_swapping, rounding, top_bottom_coding, top_down_specialization,
    )
}  # fmt: skip


def spoilt(rng: random.Random, settings: Settings) -> Settings:
    """The same with one thing wrong: what a mechanism must answer with a sentence."""
    key = rng.choice([*settings, "k"])
    wrong = [
        "",
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
        ",",
        '"',
        "[]",
        "true",
        "0:0",
        "5:1",
    ]
    kind = rng.random()
    if kind < 0.2:
        return {**settings, "no_such": "1"}
    if kind < 0.3:
        return {name: value for name, value in settings.items() if name != key}
    return {**settings, key: rng.choice(wrong)}
