"""Random requirements: of classes, of sensitive values, and now and then any metric of the registry."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

_OF_CLASSES = (
    ("k_anonymity >= {}", (1, 2, 2, 3, 5, 10)), ("prosecutor_risk <= {}", (0.5, 0.34, 0.2, 1)), ("marketer_risk <= {}", (0.5, 0.3, 0.8)),
    ("journalist_risk <= {}", (0.5, 0.34)), ("identity_information <= {}", (3, 5)), ("rarest_combination[size=1] >= {}", (2, 3)),
)  # fmt: skip
_OF_VALUES = (
    ("distinct_l_diversity{} >= {}", (2, 2, 3)), ("entropy_l_diversity{} >= {}", (1.2, 1.5, 2)), ("recursive_diversity[l=2]{} <= {}", (3, 6, 20)),
    ("recursive_diversity[l=3]{} <= {}", (6, 20)), ("alpha_anonymity{} <= {}", (0.6, 0.8, 0.95)), ("t_closeness[equal]{} <= {}", (0.2, 0.5, 0.8)),
    ("t_closeness[ordered]{} <= {}", (0.2, 0.5)), ("beta_likeness[basic]{} <= {}", (1, 3)), ("delta_disclosure{} <= {}", (2, 4)),
    ("p_sensitive_k_anonymity[k=2]{} >= {}", (1, 2)), ("positive_disclosure{} <= {}", (0.7, 0.9)), ("negative_disclosure{} >= {}", (0.01,)),
    ("uninformative_difference{} <= {}", (0.4, 0.8)), ("transfer_of_information[rho1=0.2]{} <= {}", (0.5, 0.8)),
    ("distribution_leakage{} <= {}", (0.4, 0.8)), ("entropy_leakage{} <= {}", (0.5, 1)), ("one_symbol_i1{} <= {}", (0.5, 2)),
    ("one_symbol_i2{} <= {}", (0.5, 1)), ("vanishing_values{} <= {}", (1, 3)), ("accuracy_gain{} <= {}", (0.1, 0.4)),
    ("knowledge_gain{} <= {}", (0.2, 0.5)), ("mutual_information{} <= {}", (0.5, 1)), ("homogeneity_exposed{} <= {}", (0, 0.2)),
    ("skewness_exposed[factor=3]{} <= {}", (0.1, 0.5)), ("multi_attribute_l_diversity[distinct]{} >= {}", (2,)),
)  # fmt: skip
_WRONG = (
    "k_anonymity >= x",
    "k_anonymity <= 5",
    "no_such >= 1",
    "k_anonymity",
    "t_closeness <= 0.2",
    "k_anonymity >= nan",
    "",
    "k_anonymity >= -1",
)


def draw(rng: random.Random, sensitive: Sequence[str], known: Mapping[str, str], most: int) -> list[str]:
    """Up to so many requirements; `known` has the metrics of the registry and whether higher or lower is better."""
    found = []
    for _ in range(rng.randint(0, most)):
        if rng.random() < 0.02:
            found.append(rng.choice(_WRONG))
        elif rng.random() < 0.04:
            name = rng.choice(list(known))
            found.append(f"{name} {'>=' if known[name] == 'higher' else '<='} {rng.choice([0, 0.1, 0.5, 1, 2, 5])}")
        elif rng.random() < 0.45 or not sensitive:
            form, bounds = rng.choice(_OF_CLASSES)
            found.append(form.format(rng.choice(bounds)))
        else:
            form, bounds = rng.choice(_OF_VALUES)
            about = (
                f"({rng.choice(sensitive)})"
                if rng.random() < 0.3 and all(name.isidentifier() for name in sensitive)
                else ""
            )
            found.append(form.format(about, rng.choice(bounds)))
    return found
