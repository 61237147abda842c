"""A release is not written while a column that no requirement limits gives people away; the owner may answer for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import taxpayers
from sfumato.core.errors import InputError, NotMet
from sfumato.core.table import Recoding
from sfumato.metrics import require
from sfumato.profile.free_noise import noise_left
from sfumato.publishing import publish, verify
from sfumato.study.candidate import Candidate

ROWS = 400
K5 = [require("k_anonymity >= 5")]
REASON = "the survey office publishes the weights anyway"


ROLES = sf.Roles(quasi=("age", "income"), sensitive=("diagnosis",), insensitive=("weight", "gross", "tax", "ward"))


def test_publish_refuses_and_leaves_nothing(tmp_path: Path) -> None:
    release = sf.Mondrian(k=5)(sf.read(taxpayers(ROWS)), ROLES)
    with pytest.raises(NotMet) as caught:
        publish(release, ROLES, K5, tmp_path / "out.csv")
    assert "Column 'weight': 400 of 400 rows (100%) are alone by it." in str(caught.value)
    assert "'gross' - 'tax' equals 'income'" in str(caught.value)
    assert "--waive 'weight: REASON'" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_waiver_for_each_lets_it_out_and_is_told(tmp_path: Path) -> None:
    release = sf.Mondrian(k=5)(sf.read(taxpayers(ROWS)), ROLES)
    with pytest.raises(NotMet, match="'gross'"):
        publish(release, ROLES, K5, tmp_path / "out.csv", waive={"weight": REASON})
    verification = publish(release, ROLES, K5, tmp_path / "out.csv", waive={"weight": REASON, "gross": "agreed"})
    assert verification.met
    assert any(REASON in text and "400 of 400" in text for text in verification.waived)
    with pytest.raises(InputError, match="did you mean 'weight'"):
        publish(release, ROLES, K5, tmp_path / "again.csv", waive={"wieght": REASON})


def test_verify_looks_at_free_columns_of_any_file(tmp_path: Path) -> None:
    table = taxpayers(ROWS).append_column("row", pa.array(range(ROWS)))  # the roles do not even name it
    coarse = table.set_column(0, "age", pa.array(["*"] * ROWS)).set_column(1, "income", pa.array(["*"] * ROWS))
    found = verify(sf.read(coarse), ROLES, K5)
    assert not found.met
    assert {finding.column for finding in found.open} >= {"row", "weight"}
    with_original = verify(sf.read(coarse), ROLES, K5, original=sf.read(table))
    assert any(f.kind == "tells" and f.columns == ("gross", "tax") for f in with_original.open)


def test_columns_that_were_coarsened_elsewhere_tell_nothing(tmp_path: Path) -> None:
    table = taxpayers(ROWS)
    coarse = table.set_column(0, "age", pa.array(["*"] * ROWS)).set_column(1, "income", pa.array(["*"] * ROWS))
    coarse = coarse.set_column(4, "gross", pa.array(["*"] * ROWS)).drop_columns(["weight"])
    roles = sf.Roles(quasi=("age", "income"), sensitive=("diagnosis",), insensitive=("gross", "tax", "ward"))
    assert verify(sf.read(coarse), roles, K5, original=sf.read(table)).met


def test_beside_local_noise_every_column_without_noise_needs_a_waiver(tmp_path: Path) -> None:
    """Whether it tells the noisy one is not looked at, so that a refusal tells nothing of the rows."""
    out, roles = tmp_path / "out.csv", sf.Roles(quasi=("age",), sensitive=("ill",), insensitive=("born",))
    made = sf.LocalNoise(bounds="age=0:99", epsilon=1)
    for born in (lambda age: 2020 - age, lambda age: 7):
        path = tmp_path / "people.csv"
        path.write_text("age,born,ill\n" + "".join(f"{a},{born(a)},flu\n" for a in range(20, 80)), encoding="utf-8")
        release = made(sf.read(path), roles)
        with pytest.raises(NotMet, match=r"Released without noise: 'born', 'ill'\. Sfumato does not check") as refused:
            publish(release, roles, (), out)
        with pytest.raises(NotMet, match="Released without noise: 'ill'"):
            publish(release, roles, (), out, waive={"born": "made up"})
        assert "rows)" not in str(refused.value)
        assert not out.exists()
    found = publish(release, roles, (), out, waive={"born": "made up", "ill": "a study of colds"})
    assert out.exists()
    assert any("column 'ill' (a study of colds)" in sentence for sentence in found.waived)


def test_texts_that_number_the_rows_of_a_person_order_them(tmp_path: Path) -> None:
    """Everybody has a first, second, ... visit: nobody is alone by these words, and they put the places in order."""
    rng = np.random.default_rng(0)
    words = ["first", "second", "third", "fourth", "fifth"]
    columns = {
        "pid": [f"p{i}" for i in range(80) for _ in words],
        "place": rng.choice(list("ab"), 400),
        "visit": words * 80,
        "ward": rng.choice(list("xy"), 400),
        "dx": rng.choice(list("abc"), 400),
    }
    table = sf.read(pa.table(columns))
    parts = {"person": "pid", "quasi": ("place",), "sensitive": ("dx",), "people": {"rows": "linked"}}
    roles = sf.Roles(insensitive=("visit",), **parts)
    with pytest.raises(NotMet, match="'visit': the order that it gives a person's rows sets"):
        sf.publish(sf.Mondrian(k=4)(table, roles), roles, [], tmp_path / "r.csv")
    repeating = sf.Roles(insensitive=("ward",), **parts)
    sf.publish(
        sf.Mondrian(k=4)(table, repeating), repeating, [], tmp_path / "ward.csv", waive={"dx": "nobody knows it"}
    )


def test_free_columns_are_looked_at_over_all_rows_of_a_person(tmp_path: Path) -> None:
    """Few values, none alone in a row; together they single people out, and so does the order that a number gives the rows."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(200), 6)
    frame = pa.table(
        {
            "pid": [f"p{i}" for i in who],
            "place": rng.choice(list("ab"), len(who)),
            "note": rng.choice(list("uvwxyz"), len(who)),
            "visit": np.tile(np.arange(6), 200),
            "dx": rng.choice(list("abcdef"), len(who)),
        }
    )
    roles = sf.Roles(
        person="pid", quasi=("place",), sensitive=("dx",), insensitive=("note", "visit"), people={"rows": "linked"}
    )
    release = sf.Mondrian(k=2)(sf.read(frame), roles, np.random.default_rng(0))
    with pytest.raises(NotMet) as refused:
        sf.publish(release, roles, [sf.k_anonymity.at_least(2)], tmp_path / "r.csv")
    assert "are alone by all their values of it" in str(refused.value)
    assert "'visit': the order that it gives a person's rows sets" in str(refused.value)
    limited = sf.Roles(person="pid", quasi=("place", "visit"), sensitive=("dx",), people={"rows": "linked"})
    release = sf.Mondrian(k=2)(sf.read(frame), limited, np.random.default_rng(0))
    sf.publish(release, limited, [sf.k_anonymity.at_least(2)], tmp_path / "r.csv")


def coded() -> pa.Table:
    """Ages, and what follows from them: a birth date, a multiple; and amounts that nobody shares."""
    rng = np.random.default_rng(5)
    age = rng.integers(20, 80, ROWS)
    days = [f"{2024 - a}-{m:02d}-{d:02d}" for a, m, d in zip(age, rng.integers(1, 13, ROWS), rng.integers(1, 29, ROWS), strict=True)]  # fmt: skip
    return pa.table(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], ROWS),
            "born": days,
            "points": 20 + age * 9 // 5,
            "wage": np.round(rng.lognormal(10, 0.6, ROWS), 2),
        }
    )


def chained(first: str, free: str, *, sensitive: bool = False) -> tuple[sf.Release, sf.Roles]:
    """A free column that a first link changes, beside ages in classes of twenty."""
    kept = {"sensitive": (free,)} if sensitive else {"insensitive": (free,)}
    roles = sf.Roles(quasi=("age", "sex"), **kept)
    made = Candidate.of(f"{first} | mondrian k=20").mechanism
    assert made is not None
    return made(sf.read(coded()), roles, np.random.default_rng(3)), roles


@pytest.mark.parametrize(
    ("first", "free", "said"),
    [
        ("hipaa date=born year=2024", "born", "'born' determines 'age'"),
        ("rounding base=2 columns=points", "points", "determines"),
        ("top_bottom_coding top=140 columns=points", "points", "determines"),
        ("additive_noise scale=0.001 columns=points", "points", "'age'"),
        ("pram keep=0.99 columns=points", "points", "'age'"),
        ("additive_noise scale=0.0001 columns=wage", "wage", "are alone nearest to their own values"),
        ("microaggregation k=2 columns=points", "points", "'age'"),
    ],
)
def test_a_free_column_that_a_mechanism_changed_too_little_is_refused(
    tmp_path: Path, first: str, free: str, said: str
) -> None:
    release, roles = chained(first, free)
    with pytest.raises(NotMet, match=f"Column '{free}'") as caught:
        publish(release, roles, [require("k_anonymity >= 20")], tmp_path / "out.csv")
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    assert publish(release, roles, [], tmp_path / "out.csv", waive={free: "agreed"}).met


@pytest.mark.parametrize(
    ("first", "free", "sensitive"),
    [
        ("additive_noise scale=1 columns=points", "points", False),
        ("additive_noise scale=0.5 columns=wage", "wage", False),
        ("additive_noise scale=0.02 columns=wage", "wage", True),  # a sensitive one, which others do not know
        ("rank_swapping p=20 columns=wage", "wage", False),
        ("rounding base=1000 columns=points", "points", False),
        ("microaggregation k=10 columns=wage", "wage", False),
    ],
)
def test_a_free_column_that_a_mechanism_changed_enough_goes_out(
    tmp_path: Path, first: str, free: str, sensitive: bool
) -> None:
    release, roles = chained(first, free, sensitive=sensitive)
    assert publish(release, roles, [require("k_anonymity >= 20")], tmp_path / "out.csv").met


def test_what_noise_leaves_is_counted() -> None:
    """Extremes: no noise leaves every row, an offset beyond all values none; equal values set nobody apart."""

    def left(before: list[float], after: list[float]) -> tuple[int, int, int]:
        pairs = [pa.array([str(v) for v in each]) for each in (before, after)]
        recoding = Recoding.of(("x",), ("x",), pairs, np.ones(len(before), dtype=np.int64), divides=True)
        table = sf.read(pa.table({"x": after}))
        kept = noise_left(sf.Release(table=table, recoding=recoding, perturbed=frozenset({"x"})), "x")
        assert kept is not None
        return kept.found, kept.undone, kept.rows

    values = [1.0, 2.0, 3.0, 4.0]
    assert left(values, values) == (4, 4, 4)
    assert left(values, [v + 0.4 for v in values]) == (4, 4, 4)
    assert left(values, [101.0, 102.0, 103.0, 104.0]) == (1, 1, 4)  # the nearest to both is each other's end
    assert left(values, [4.0, 3.0, 2.0, 1.0]) == (0, 0, 4)
    assert left([1.0, 1.0, 5.0, 5.0], [1.5, 1.5, 4.5, 4.5]) == (0, 4, 4)
