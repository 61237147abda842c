"""What each metric's sentence claims, and whether that is true of a value: claims are stated here anew, not read off the code."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from sfumato.core.metric import Metric

Sign = Literal["about", "at most", "at least", "whole", "one in", "count"]
Shown = tuple[Sign, Callable[[float], float]]
Extreme = Callable[[float], bool]

NUMBER = re.compile(r"(less than |more than |just below |just above )?(1/)?(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)")
ABSOLUTE = re.compile(
    r"\b(?:no|none|nobody|nothing|no one|every|everybody|everyone|everything|always|never|exactly|all|certain)\b"
)
ONE = re.compile(
    r"(?<![\d.,/])(?<!just above )1 (?:\w+ ){0,2}?(?:bits|rows|people|values|classes|others|persons|columns|ones)\b"
)
SEVERAL = re.compile(
    r"(?<![\w.,/])(?!1 )\d[\d.,]* (?:different (?:sensitive )?)?(?:bit|row|person|value|class|column|other(?! p))\b"
)
NOISE = 1e-11
"""Relative: what floating point may add."""


def same(value: float) -> float:
    return value


def hundred(value: float) -> float:
    return 100 * value


def none(value: float) -> bool:
    return value <= 0


def all_(value: float) -> bool:
    return value >= 1


def one(value: float) -> bool:
    return value <= 1


def alone(value: float) -> bool:
    return value < 2 - 1e-9


@dataclass(frozen=True)
class Claim:
    """How the numbers of a sentence follow from the value, in order; where it has none; which absolute words are no claim.

    A sentence says something absolute only at an extreme, or as a bound that its number makes true. `ends` are told apart
    from what rounds to them: 100% of people is everybody.
    """

    shown: tuple[Shown, ...]
    extremes: tuple[Extreme, ...] = ()
    words: frozenset[str] = frozenset()
    constants: tuple[str, ...] = ()
    ends: bool = True

    def extreme(self, value: float) -> bool:
        return any(at(value) for at in self.extremes)


def claim(
    *shown: Shown, at: Iterable[Extreme] = (), words: str = "", constants: Iterable[str] = (), ends: bool = True
) -> Claim:
    return Claim(shown, tuple(at), frozenset(words.split()), tuple(constants), ends)


def share(*, at: Iterable[Extreme] = (none,), words: str = "", constants: Iterable[str] = ()) -> Claim:
    """A share of a hundred that was measured."""
    return claim(("about", hundred), at=at, words=words, constants=constants)


def bits(**more: object) -> Claim:
    return claim(("about", same), at=(none,), **more)  # type: ignore[arg-type]


SCALE = ("(0: no difference, 1: as different as can be)", "(0: no difference, 1: everything moved as far as it can)")
PRECISION = ("(0%: exact, 100%: suppressed)",)

CLAIMS: dict[str, Claim] = {
    "accuracy_gain": share(words="all"),
    "alpha_anonymity": claim(("at most", hundred), at=(all_,)),
    "anti_utility_worst": share(words="exactly"),
    "attack_payoff": claim(("at most", same), at=(none,), words="no"),
    "beta_likeness": claim(("at most", hundred), at=(none, math.isinf)),
    "composition_exposed": share(),
    "delta_disclosure": claim(
        ("at most", same),
        ("at most", lambda v: 2**v if v < 60 else v),
        at=(none, math.isinf),
        constants=("2 to the power ",),
    ),
    "delta_presence": claim(("at most", same), at=(all_,)),
    "delta_presence_min": claim(("at least", same), at=(none,)),
    "distinct_l_diversity": claim(("whole", same), at=(alone, math.isinf)),
    "distribution_leakage": bits(
        constants=("(0: not at all, 1.41: from certainty about one value to certainty about another)",)
    ),
    "entropy_l_diversity": claim(("at least", same), at=(one, math.isinf)),
    "entropy_leakage": bits(),
    "hipaa_rules": claim(("whole", same), at=(none,), constants=("45 CFR 164.514(b)(2)", "an age over 89")),
    "homogeneity_exposed": share(words="all"),
    "identity_information": claim(
        ("about", same), ("about", lambda v: 2**v if v < 60 else v), at=(none,), constants=("2 to the power ",)
    ),
    "individual_risk": share(at=()),
    "inference_risk": share(words="all"),
    "isolation": claim(("whole", same), at=(alone,)),
    "journalist_risk": claim(("at most", same), at=(all_,)),
    "k_anonymity": claim(("whole", lambda k: k - 1), ("one in", same), at=(alone,)),
    "privacy_skyline": claim(("at most", same), at=(all_,)),
    "population_uniqueness": share(words="no"),
    "sample_uniqueness": share(words="no nobody everybody all"),
    "rarest_combination": claim(("whole", lambda rows: rows - 1), at=(alone,)),
    "k_map": claim(("whole", same), ("one in", same), at=(alone,)),
    "knowledge_gain": share(),
    "linkability_risk": share(),
    "linkage_distance_risk": share(),
    "linkage_reidentification": share(at=(none, all_)),
    "m_invariance": claim(("whole", same), at=(lambda v: v < 1,)),
    "marketer_risk": share(at=(), words="every everyone"),
    "membership_risk": claim(("at most", same), at=(all_,)),
    "minimality_risk": claim(("at most", hundred)),
    "multi_attribute_l_diversity": claim(("at least", same), at=(one,)),
    "multir_anonymity": claim(("whole", lambda k: k - 1), at=(alone,)),
    "mutual_information": bits(),
    "mutual_information_leak": share(),
    "n_t_closeness": claim(("at most", same), at=(none,), constants=SCALE),
    "negative_disclosure": claim(("at least", same), at=(none,)),
    "noise_interval": share(),
    "noise_variance": bits(),
    "one_symbol_i1": bits(),
    "one_symbol_i2": bits(),
    "one_symbol_i3": bits(),
    "one_symbol_i4": bits(constants=("(at most 1)",), ends=False),
    "p_sensitive_k_anonymity": claim(("whole", same), at=(lambda p: p < 1 - 1e-9,)),
    "personalized_breach": claim(("at most", same), at=(none,)),
    "positive_disclosure": claim(("at most", same), at=(all_,)),
    "prosecutor_risk": claim(("at most", same), at=(all_,)),
    "rows_alone_by_free_columns": share(),
    "recursive_diversity": claim(("at most", same), at=(none, math.isinf), constants=("l - 2",)),
    "similarity_exposed": share(words="all"),
    "singling_out_risk": share(words="exactly"),
    "skewness_exposed": share(),
    "t_closeness": bits(constants=SCALE),
    "transfer_of_information": claim(("about", same), at=(none, all_)),
    "uninformative_difference": claim(("at most", same), at=(none,)),
    "values_told_by_free_columns": share(),
    "vanishing_values": claim(("whole", same), at=(alone,)),
    "worst_case_background": claim(("at most", same), at=(all_,)),
    "xy_anonymity": claim(("whole", same), at=(alone,)),
    "arx_loss": share(constants=PRECISION),
    "average_class_size": claim(("about", same), at=(one,)),
    "classification_metric": share(),
    "column_distance": share(),
    "discernibility": claim(("count", same), words="all"),
    "entropy_utility": bits(),
    "granularity": share(constants=PRECISION),
    "igpl": bits(),
    "iloss": share(constants=PRECISION),
    "information_loss": share(),
    "minimal_distortion": share(),
    "mining_utility_decline": share(),
    "non_uniform_entropy": share(),
    "overlapping_labels": share(),
    "pair_distance": share(),
    "publisher_payout": claim(("about", abs), at=(lambda v: v == 0,)),
    "query_error": share(),
    "utility_degradation": claim(("about", abs), at=(lambda v: v == 0,)),
}

EDGES = (
    *(
        0.0,
        5e-324,
        1e-300,
        1e-12,
        1e-9,
        9.99e-7,
        1.004e-6,
        0.00049,
        0.000999,
        0.04996,
        0.0714,
        0.07149,
        1 / 14,
        0.1,
        0.2,
    ),
    *(0.30000000000000004, 1 / 3, 0.5, 2 / 3, 0.9949, 0.99949, 0.9996, 0.99996, 1 - 1e-9, math.nextafter(1, 0), 1.0),
    *(math.nextafter(1, 2), 1 + 1e-9, 1.0004, 1.41421, 1.4999, 1.5, 1.9999, 2 - 1e-12, 2.0, 2.0001, 2.9996, 3.0, 3.5),
    *(
        4.9996,
        5 - 1e-10,
        5.0,
        7.0,
        9.996,
        14.0,
        59.99,
        60.01,
        99.96,
        999.6,
        1000.0,
        1000.4,
        12345.678,
        99999.6,
        123456789.0,
    ),
    *(1e12, 2.0**53, 1e15, 1e300, math.inf),
)


def sweep(metric: Metric) -> list[float]:
    """Values over the bounds, in order; infinite only where the card speaks of it."""
    low, high = metric.card.bounds
    told = math.isinf in CLAIMS[metric.card.name].extremes
    ends = (low, high, math.nextafter(low, high), math.nextafter(high, low))
    found = {v for v in (*EDGES, *(-v for v in EDGES), *ends) if low <= v <= high}
    return sorted(v for v in found if abs(v) <= 1e300 or (told and v == math.inf))


@dataclass(frozen=True)
class Number:
    """A number as it is printed."""

    value: float
    decimals: int
    word: str
    inverse: bool

    @property
    def key(self) -> tuple[float, int]:
        """Where it stands among others: less than 2 is before 2. Of 1/k it is k, as of the value itself."""
        return self.value, {"less than": -1, "just below": -1, "": 0}.get(self.word, 1)


def numbers(text: str) -> list[Number]:
    """The numbers of a text, in order, each with the word before it that bounds it."""
    found = []
    for word, inverse, digits in NUMBER.findall(text[:1].lower() + text[1:]):
        plain = digits.replace(",", "")
        after = plain.split("e")[0].partition(".")[2]
        found.append(Number(float(plain), len(after) if "e" not in plain else 400, word.strip(), bool(inverse)))
    return found


def unit(x: float) -> float:
    """One in the third digit that matters."""
    return 10.0 ** (math.floor(math.log10(x)) - 2) if x > 0 else 0.0


def check_number(number: Number, sign: Sign, truth: float, *, edge: float | None) -> None:
    """Whether a printed number is true of the value, rounded the right way, and not rounded to an end that it is not at."""
    x, slack = number.value, NOISE * abs(truth)
    if sign == "about":
        if number.word in ("less than", "just below"):
            assert 0 < truth < x, f"{truth} is not {number.word} {x}"
            assert truth > 0.99 * x or x <= 1e-4, "too rough"
        elif number.word:
            assert truth > x or truth == x == 1, (
                f"{truth} is not {number.word} {x}"
            )  # 2 to the power of next to nothing
        else:
            half = 0.5 * unit(x)
            if 0 < number.decimals < 400:
                half = min(half, 0.5 * 10.0**-number.decimals)
            assert abs(x - truth) <= half + slack, f"{x} is not about {truth}"
            assert (x == 0) == (truth == 0), f"{x} for {truth}"
            if edge is not None:
                assert (x == edge) <= (truth >= edge), f"{truth} reads as {edge}"
    elif sign == "at most":
        assert x >= truth - slack, f"at most {x} is false of {truth}"
        assert x - truth <= max(unit(x), 1e-9) + slack, "too rough"
        if edge is not None:
            assert x < edge or truth >= edge * (1 - NOISE), f"{truth} reads as {edge}"
    elif sign == "at least":
        assert x <= truth + slack, f"at least {x} is false of {truth}"
        assert truth - x <= unit(truth) + slack, "too rough"
        assert x > 0
    elif sign == "count":
        assert abs(x - truth) <= max(0.5, 0.5 * unit(truth) if truth >= 1e15 else 0.0)
    else:
        assert number.inverse == (sign == "one in")
        assert x.is_integer()
        assert x <= truth + 1e-9 + slack, f"at least {x} is false of {truth}"
        assert x > truth - 1 or truth > 2.0**53, "too rough"


def check_true(metric: Metric, values: Iterable[float] | None = None) -> None:
    """Every sentence over the range: its numbers, its absolute words, the order of its claims, its grammar."""
    said = CLAIMS[metric.card.name]
    before: list[tuple[float, int]] | None = None
    for value in sweep(metric) if values is None else values:
        text = metric.sentence(value)
        for constant in said.constants:
            text = text.replace(constant, "")
        found = numbers(text)
        absolute = {word.lower() for word in ABSOLUTE.findall(text[:1].lower() + text[1:])}
        if said.extreme(value):
            assert not found, f"{value}: an extreme is told in words, not as {text!r}"
            before = None if value < 0 else before
        else:
            assert len(found) == len(said.shown), f"{value}: {text!r}"
            bound = metric.card.bounds[1]
            for number, (sign, of) in zip(found, said.shown, strict=True):
                edge = of(bound) if said.ends and bound == 1 else None
                try:
                    check_number(number, sign, of(value), edge=edge)
                except AssertionError as wrong:
                    raise AssertionError(f"{value}: {text!r}: {wrong}") from None
            if all(sign in ("about", "count") for sign, _ in said.shown):
                assert absolute <= said.words, f"{value}: {text!r} says {absolute - said.words}"
            keys = [number.key for number in found]
            if value < 0:
                keys = [(-a, -b) for a, b in keys]
            if before is not None:
                worse = [k for k, b in zip(keys, before, strict=True) if k < b]
                assert not worse or _turned(keys, before), f"{value}: {text!r} steps back"
            before = keys
        assert not ONE.search(text), f"{value}: {text!r}"
        assert not SEVERAL.search(text), f"{value}: {text!r}"
        assert "anonym" not in text.lower()


def _turned(keys: list[tuple[float, int]], before: list[tuple[float, int]]) -> bool:
    """From 2 to the power 60 on the exponent is printed."""
    return len(keys) == 2 and before[1][0] > 1e17 and keys[0] >= before[0]
