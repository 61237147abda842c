"""The privacy models, written down from their definitions in plain Python: what a file promises is counted here once more.

A class is the rows that share their released quasi-identifiers; a missing value is a value. Every function takes the classes as lists of
sensitive values (one list a class) and returns the figure of the worst class, or of the table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Classes = Sequence[Sequence[Any]]


def _shares(values: Sequence[Any]) -> dict[Any, float]:
    return {value: n / len(values) for value, n in Counter(values).items()}


def _all(classes: Classes) -> list[Any]:
    return [value for members in classes for value in members]


def _entropy(shares: dict[Any, float]) -> float:
    return -sum(p * math.log2(p) for p in shares.values())


def k_anonymity(classes: Classes) -> float:
    return min(map(len, classes))


def prosecutor_risk(classes: Classes) -> float:
    return 1 / k_anonymity(classes)


def marketer_risk(classes: Classes) -> float:
    return len(classes) / sum(map(len, classes))


def identity_information(classes: Classes) -> float:
    return math.log2(sum(map(len, classes))) - math.log2(k_anonymity(classes))


def distinct_l_diversity(classes: Classes) -> float:
    return min(len(set(members)) for members in classes)


def entropy_l_diversity(classes: Classes) -> float:
    return min(2 ** _entropy(_shares(members)) for members in classes)


def recursive_diversity(classes: Classes, l: int = 2) -> float:  # noqa: E741
    worst = 0.0
    for members in classes:
        counts = sorted(Counter(members).values(), reverse=True)
        rest = sum(counts[l - 1 :])
        worst = max(worst, counts[0] / rest if rest else math.inf)
    return worst


def alpha_anonymity(classes: Classes) -> float:
    return max(max(_shares(members).values()) for members in classes)


def p_sensitive_k_anonymity(classes: Classes, k: int = 2) -> float:
    return min(len(set(members)) if len(members) >= k else 0 for members in classes)


def t_equal(classes: Classes) -> float:
    overall = _shares(_all(classes))
    worst = 0.0
    for members in classes:
        shares = _shares(members)
        worst = max(worst, sum(abs(shares.get(value, 0) - share) for value, share in overall.items()) / 2)
    return worst


def t_ordered(classes: Classes, order: Sequence[Any]) -> float:
    """`order` has every value once, ascending, missing last (eq. 3.1 of Li et al.)."""
    overall = _shares(_all(classes))
    if len(order) < 2:
        return 0.0
    worst = 0.0
    for members in classes:
        shares, moved, total = _shares(members), 0.0, 0.0
        for value in order:
            moved += shares.get(value, 0) - overall[value]
            total += abs(moved)
        worst = max(worst, total / (len(order) - 1))
    return worst


def beta_likeness(classes: Classes) -> float:
    overall = _shares(_all(classes))
    return max(max((p - overall[v]) / overall[v] for v, p in _shares(members).items()) for members in classes)


def delta_disclosure(classes: Classes) -> float:
    overall = _shares(_all(classes))
    worst = 0.0
    for members in classes:
        shares = _shares(members)
        if len(shares) < len(overall):
            return math.inf
        worst = max(worst, *(abs(math.log2(shares[v] / q)) for v, q in overall.items()))
    return worst


def transfer_of_information(classes: Classes, rho1: float = 0.1) -> float:
    overall = _shares(_all(classes))
    return max(max((p for v, p in _shares(m).items() if overall[v] <= rho1 + 1e-12), default=0.0) for m in classes)


def distribution_leakage(classes: Classes) -> float:
    overall = _shares(_all(classes))
    return max(math.sqrt(sum((_shares(m).get(v, 0) - q) ** 2 for v, q in overall.items())) for m in classes)


def entropy_leakage(classes: Classes) -> float:
    overall = _entropy(_shares(_all(classes)))
    return max(abs(overall - _entropy(_shares(members))) for members in classes)


def one_symbol_i1(classes: Classes) -> float:
    overall = _shares(_all(classes))
    return max(sum(p * math.log2(p / overall[v]) for v, p in _shares(m).items()) for m in classes)


def one_symbol_i2(classes: Classes) -> float:
    overall = _entropy(_shares(_all(classes)))
    return max(overall - _entropy(_shares(members)) for members in classes)


def uninformative_difference(classes: Classes) -> float:
    overall = _shares(_all(classes))
    return max(max(abs(_shares(m).get(v, 0) - q) for v, q in overall.items()) for m in classes)


def negative_disclosure(classes: Classes) -> float:
    overall = _shares(_all(classes))
    return min(min(_shares(m).get(v, 0.0) for v in overall) for m in classes)


def vanishing_values(classes: Classes) -> float:
    return len(set(_all(classes))) - distinct_l_diversity(classes)


def accuracy_gain(classes: Classes) -> float:
    rows = sum(map(len, classes))
    best = sum(max(Counter(members).values()) for members in classes) / rows
    return best - max(_shares(_all(classes)).values())


def knowledge_gain(classes: Classes) -> float:
    overall, rows = _shares(_all(classes)), sum(map(len, classes))
    return sum(len(m) / rows * sum(abs(_shares(m).get(v, 0) - q) for v, q in overall.items()) / 2 for m in classes)


def mutual_information(classes: Classes) -> float:
    rows = sum(map(len, classes))
    return _entropy(_shares(_all(classes))) - sum(len(m) / rows * _entropy(_shares(m)) for m in classes)


def homogeneity_exposed(classes: Classes) -> float:
    return sum(len(members) for members in classes if len(set(members)) == 1) / sum(map(len, classes))


def skewness_exposed(classes: Classes, factor: float = 2) -> float:
    overall, rows = _shares(_all(classes)), sum(map(len, classes))
    return (
        sum(n for m in classes for v, n in Counter(m).items() if n / len(m) >= factor * overall[v] * (1 - 1e-12)) / rows
    )


SIZES: dict[str, Callable[..., float]] = {
    **{f.__name__: f for f in (k_anonymity, prosecutor_risk, marketer_risk, identity_information)},
    "journalist_risk": prosecutor_risk,
}
"""What asks for class sizes alone. Without a population the journalist's risk is the prosecutor's, as its bound."""
SENSITIVE: dict[str, Callable[..., float]] = {
    f.__name__: f
    for f in (
        distinct_l_diversity, entropy_l_diversity, recursive_diversity, alpha_anonymity, p_sensitive_k_anonymity, beta_likeness,
        delta_disclosure, transfer_of_information, distribution_leakage, entropy_leakage, one_symbol_i1, one_symbol_i2,
        uninformative_difference, negative_disclosure, vanishing_values, accuracy_gain, knowledge_gain, mutual_information,
        homogeneity_exposed, skewness_exposed,
    )
} | {"positive_disclosure": alpha_anonymity}  # fmt: skip
"""What asks for a sensitive column; of several, the worst counts."""
HIGHER = {
    "k_anonymity",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "p_sensitive_k_anonymity",
    "negative_disclosure",
}
