"""Numbers at the ends of floating point: every mechanism changes them or refuses them in a sentence, and nothing overflows on the way."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import SfumatoError
from sfumato.mechanisms import registry
from sfumato.publishing import publish

SETTINGS = {
    "additive_noise": {}, "alpha_beta": {"gamma": "0.5", "d": "0.1", "missing": "true", "domains": "x=0:10,sex=m|f,ill=a|b"}, "anatomy": {"l": "2"},
    "cell_key": {"columns": "x,sex"}, "cut_points": {"column": "x", "k": "2", "objective": "loss"}, "dp_choice": {"column": "x", "choose": "quantile", "candidates": "0:10", "epsilon": "1"},
    "dp_marginals": {"domains": "x=0:10:5,sex=m|f,ill=a|b", "epsilon": "1"}, "dp_ranges": {"column": "x", "domain": "0:10", "epsilon": "1"},
    "dp_sampling": {"domains": "x=0:10:5,sex=m|f,ill=a|b", "epsilon": "3", "delta": "0.5"},
    "dp_statistics": {"statistics": "count,sum(x),mean(x)", "bounds": "x=0:10", "epsilon": "1"},
    "dp_synthesis": {"domains": "x=0:10:5,sex=m|f,ill=a|b", "epsilon": "5", "rows": "9"}, "generalize_full_domain": {"k": "2"},
    "generalize_to_levels": {"levels": "1,1", "k": "2"}, "hipaa": {"age": "x"}, "isolation_noise": {"t": "1", "suppression": "0.9"}, "k_member": {"k": "2"},
    "local_noise": {"bounds": "x=0:10", "epsilon": "1"}, "local_suppression": {"k": "2"}, "microaggregation": {"k": "2"}, "mondrian": {"k": "2"},
    "permute_within_groups": {"l": "2"}, "personalize": {"limit": "0.9"}, "pram": {"columns": "sex", "keep": "0.8"}, "random_sampling": {"fraction": "0.9"}, "rank_swapping": {"columns": "x", "p": "50"},
    "record_swapping": {"areas": "sex", "rate": "0.5"}, "rounding": {"base": "5"}, "shift_dates": {"columns": "x"}, "top_bottom_coding": {"top_share": "0.2"}, "top_down_specialization": {"k": "2"},
}  # fmt: skip
ENDS = {
    "squares overflow": [1e300, -1e300],
    "differences overflow": [1.7e308, -1.7e308],
    "infinite": [float("inf"), float("-inf")],
    "tiny": [5e-324, -5e-324],
    "beyond whole numbers": [2.0**53 + 2, 1e16],
}


def test_every_mechanism_is_tried() -> None:
    assert set(SETTINGS) == set(registry())


@pytest.mark.parametrize("rule", [None, {"widths": [5, 10]}, {"quantiles": [4, 2]}, {"cuts": [[3, 6], [6]]}], ids=str)
@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize("name", sorted(registry()))
def test_extreme_numbers(name: str, ends: str, rule: object, tmp_path: Path) -> None:
    x = [*ENDS[ends], *map(float, range(10))]
    table = sf.read(pa.table({"x": x, "sex": ["m", "f"] * 6, "ill": ["a", "a", "b", "b"] * 3}))
    roles = sf.Roles(quasi=("x", "sex"), sensitive=("ill",), hierarchies={} if rule is None else {"x": rule})
    made = registry()[name].of(SETTINGS[name])
    with contextlib.suppress(SfumatoError):  # anything else, and any warning, fails
        release = made(table, roles, np.random.default_rng(0))
        publish(release, roles, made.promises, tmp_path / "out.csv")
