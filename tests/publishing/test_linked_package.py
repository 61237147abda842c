"""A package of people whose rows stay joined: its recipient measures them from the file, and no number of the original is in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.metrics import require
from sfumato.publishing import verify
from sfumato.report.package import write_package
from sfumato.study.study import Study, grid

REQUIRE = [require("k_anonymity >= 3"), require("prosecutor_risk <= 1/3")]


def visits() -> pa.Table:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(80), rng.integers(1, 4, 80))
    return pa.table(
        {
            "patient": [f"Quixotic{i:03}" for i in who],
            "age": rng.integers(20, 60, 80)[who],
            "month": rng.integers(1, 13, len(who)),
            "ill": rng.choice(list("abcd"), len(who)),
        }
    )


def test_the_recipient_counts_people_and_reads_no_old_number(tmp_path: Path) -> None:
    roles = sf.Roles(person="patient", quasi=("age", "month"), sensitive=("ill",), people={"rows": "linked"})
    study = Study(
        table=sf.read(visits()),
        roles=roles,
        candidates=grid(["mondrian k=3"]),
        require=REQUIRE,
        measures=(),
    )
    packaged = write_package(study.run(), tmp_path / "p")
    recipient = packaged.verification.recipient
    assert recipient is not None
    assert [verdict.score.value for verdict in recipient.verdicts] == [
        verdict.score.value for verdict in packaged.verification.verdicts
    ]
    own = sf.Roles.read(tmp_path / "p" / "roles.toml")
    assert own.linked
    again = verify(sf.read(tmp_path / "p" / "release.csv"), own, REQUIRE)
    assert again.met
    assert again.people is not None
    assert len(again.people.people) >= 1
    texts = {path.name: path.read_text() for path in (tmp_path / "p").iterdir() if path.is_file()}
    assert not [name for name, text in texts.items() if "Quixotic" in text]
    assert "patient,person,replaced by a random number" in texts["dictionary.csv"].replace('"', "")
    assert "which a random number joins" in texts["README.md"]


def test_a_chain_joins_rows_by_the_last_numbers(tmp_path: Path) -> None:
    roles = sf.Roles(person="patient", quasi=("age", "month"), sensitive=("ill",), people={"rows": "linked"})
    made = (sf.Mondrian(k=2) | sf.Mondrian(k=4))(sf.read(visits()), roles)
    found = sf.publish(made, roles, [sf.k_anonymity.at_least(4)], tmp_path / "r.csv")
    assert found.met
    assert made.recoding is not None
    assert made.recoding.rows == made.table.rows
    assert 0 < sf.iloss(made, roles).value < 1
