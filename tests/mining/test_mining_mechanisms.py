"""Every registered mechanism that makes rows can be mined; what cannot says so in a sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, Unavailable

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))
from mechanism_checks import Case
from test_conformance_mechanisms import NAMES, subject_of

STATISTICS = {"cell_key", "dp_choice", "dp_marginals", "dp_ranges", "dp_statistics"}
UNPAIRED = {"alpha_beta", "anatomy", "dp_synthesis", "permute_within_groups"}
"""Nobody's rows: synthetic ones, among which nobody can tell the true ones; or ones whose columns only groups join."""


@pytest.mark.parametrize("gaps", [False, True], ids=["plain", "gaps"])
@pytest.mark.parametrize("name", NAMES)
def test_mined(name: str, gaps: bool, refusal: Callable[..., str]) -> None:
    case = Case(gaps=gaps)
    subject = subject_of(name)
    roles = subject.roles(case)
    release = subject.made(case)(subject.table(case), roles, np.random.default_rng(1))
    quick = ["tree", "zero_rule"]
    scenario = sf.Scenario(
        good=sf.Good(field="ill", miners=quick, groups=("note",)), bad=sf.Bad(field="age", miners=quick), folds=2
    )
    if name in STATISTICS:
        refusal(Unavailable, lambda: sf.mine(release, roles, scenario), "statistics")
        return
    if name == "dp_sampling":  # it releases the stated columns alone, and here the field is none of them
        refusal(InputError, lambda: sf.mine(release, roles, scenario, workers=1), "ill")
        return
    found = sf.mine(release, roles, scenario, workers=1)["release"]
    assert found.paired == (name not in UNPAIRED)
    assert found.rows == 240
    assert found.good is not None
    for miner in found.good.miners:
        for figure in (miner.original, miner.released, miner.release_to_original, miner.original_to_release):
            assert figure is not None
            assert 0 <= figure.value <= 240
    assert 0 <= found.good.delta.value <= 1
    assert found.good.delta.low <= found.good.delta.value <= found.good.delta.high
    if name in UNPAIRED:
        assert found.bad is None
        assert any("whose" in note for note in found.notes)
        return
    assert found.bad is not None
    assert found.suppressed == 240 - release.table.rows
    for aim in found.bad.aims:
        assert 0 <= aim.average.value <= aim.worst.value <= aim.total
        assert aim.worst.value + aim.told * (aim.nearer == 0) <= aim.total
    if found.gains is not None:
        assert found.gains.knowledge_mined.value >= found.gains.knowledge - 1e-12
        assert found.gains.accuracy_mined.value >= found.gains.accuracy - 1e-12
    for note in (*found.notes, *found.good.notes, *found.bad.notes):
        assert not any(value in note for value in case.values), note


def test_odd_names() -> None:
    from mechanism_checks import ODD

    case = Case(names=ODD, gaps=True)
    for name in ("k_member", "local_noise"):
        subject = subject_of(name)
        roles = subject.roles(case)
        release = subject.made(case)(subject.table(case), roles, np.random.default_rng(1))
        scenario = sf.Scenario(
            good=sf.Good(field=ODD["ill"], miners=["tree"], weights=f"\"{ODD['note']}\" = 'leaflet' -> 3"),
            bad=sf.Bad(field=ODD["age"], miners=["tree"]),
            folds=2,
        )
        found = sf.mine(release, roles, scenario)["release"]
        assert found.good is not None
        assert found.good.total > 240
        assert found.bad is not None
