"""The register of releases: what it keeps, what it adds up, what it plays, and what it never holds."""

from __future__ import annotations

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError, NotMet
from sfumato.publishing.register import Register, identity_of

ROWS = 60
WAIVE: dict[str, str] = {}
ROLES = sf.Roles(quasi=("age", "town"), sensitive=("ill",), identifiers=("id",))


@pytest.fixture
def people(tmp_path: Path) -> sf.Table:
    draw = np.random.default_rng(4)
    rows = {
        "id": [f"Quixotic{i}" for i in range(ROWS)],
        "age": draw.integers(20, 60, ROWS).tolist(),
        "town": draw.choice(["Xanadu", "Yverdon"], ROWS).tolist(),
        "ill": draw.choice(["flu", "gout", "none"], ROWS).tolist(),
    }
    sf.read(pa.table(rows)).write(tmp_path / "people.csv")
    return sf.read(tmp_path / "people.csv")


def publish(table: sf.Table, register: Register, path: Path, made_by: sf.Mechanism | None = None) -> sf.Release:
    release = (made_by or sf.Mondrian(k=4))(table, ROLES)
    sf.publish(release, ROLES, list((made_by or sf.Mondrian(k=4)).promises), path, register=register)
    return release


def counts(epsilon: float) -> sf.Mechanism:
    return sf.DpMarginals(columns="town", domains="town=Xanadu|Yverdon", epsilon=epsilon)


def test_a_release_is_entered_without_a_value(people: sf.Table, tmp_path: Path) -> None:
    register = Register(tmp_path / "r.sqlite")
    publish(people, register, tmp_path / "a.csv")
    (entry,) = register.entries
    assert (entry.made_by, entry.rows, entry.quasi, entry.confirmed) == ("mondrian", ROWS, ("age", "town"), True)
    assert entry.requirements == ("k_anonymity >= 4",)
    assert stat.S_IMODE((tmp_path / "r.sqlite").stat().st_mode) == 0o600
    held = (tmp_path / "r.sqlite").read_bytes()
    for value in (b"Quixotic", b"Xanadu", b"Yverdon", b"gout"):
        assert value not in held
    assert "Xanadu" not in repr(register) + repr(entry) + entry.sentence


def test_what_is_refused_is_not_entered(people: sf.Table, tmp_path: Path) -> None:
    register = Register(tmp_path / "r.sqlite")
    release = sf.Mondrian(k=4)(people, ROLES)
    with pytest.raises(NotMet):
        sf.publish(release, ROLES, [sf.k_anonymity.at_least(50)], tmp_path / "a.csv", register=register)
    assert register.entries == ()
    (tmp_path / "folder").mkdir()


def test_a_name_that_cannot_be_given_takes_the_entry_back(people: sf.Table, tmp_path: Path, monkeypatch) -> None:
    """The disk fails when the release is renamed: the old file stays, and the register holds nothing new."""
    register = Register(tmp_path / "r.sqlite")

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sfumato.publishing.sinks.rename_together", broken)
    with pytest.raises(OSError, match="space"):
        publish(people, register, tmp_path / "a.csv")
    assert register.entries == ()
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize("made_by", [sf.Anatomy(l=2), counts(1)])
def test_an_interruption_that_comes_after_the_name_keeps_the_entry(
    made_by: sf.Mechanism, people: sf.Table, tmp_path: Path, monkeypatch
) -> None:
    """A set of files is named to its end before the interruption goes on; what is out has been spent."""
    register = Register(tmp_path / "r.sqlite", epsilon=1)
    replaced = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        done = replaced(self, target)
        if Path(target).name == "a.csv":
            monkeypatch.setattr(Path, "replace", replaced)
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(people, register, tmp_path / "a.csv", made_by)
    assert (tmp_path / "a.csv").exists()
    (entry,) = register.entries
    assert not entry.confirmed
    assert "cut off" in entry.sentence
    assert register.spent == Fraction(getattr(made_by, "epsilon", 0))


def test_a_run_that_was_cut_off_has_spent_what_it_cost(people: sf.Table, tmp_path: Path) -> None:
    register = Register(tmp_path / "r.sqlite", epsilon=1)
    publish(people, register, tmp_path / "a.csv", counts(0.75))
    with sqlite3.connect(tmp_path / "r.sqlite") as db:  # as a kill between the entry and its confirmation leaves it
        db.execute("UPDATE release SET confirmed = 0")
    (entry,) = register.entries
    assert "cut off" in entry.sentence
    assert register.spent == Fraction(3, 4)


def test_budgets_add_up_exactly_and_what_is_not_left_is_refused(people: sf.Table, tmp_path: Path) -> None:
    register = Register(tmp_path / "r.sqlite", epsilon=0.3)
    for name in "abc":  # three tenths are three tenths, though not in floating point
        publish(people, register, tmp_path / f"{name}.csv", counts(0.1))
    assert register.spent == register.total == Fraction(3, 10)
    with pytest.raises(Infeasible, match=r"costs an epsilon of 0\.1, and 0 of 0\.3 is left"):
        publish(people, register, tmp_path / "d.csv", counts(0.1))
    assert not (tmp_path / "d.csv").exists()
    assert len(register.entries) == 3
    assert all(entry.rows is None and not entry.original_digest for entry in register.entries)
    publish(people, register, tmp_path / "e.csv")  # costs nothing of it


def test_two_at_a_time_cannot_overspend(people: sf.Table, tmp_path: Path) -> None:
    register = Register(tmp_path / "r.sqlite", epsilon=1)
    made = [counts(0.4)(people, ROLES) for _ in range(6)]

    def attempt(i: int) -> bool:
        try:
            sf.publish(made[i], ROLES, [], tmp_path / f"{i}.csv", register=Register(tmp_path / "r.sqlite"))
        except Infeasible:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(attempt, range(6))) == 2
    assert register.spent == Fraction(4, 5)


def test_earlier_releases_are_played_against_a_new_one(people: sf.Table, tmp_path: Path) -> None:
    register = Register(tmp_path / "r.sqlite")
    first = publish(people, register, tmp_path / "a.csv")
    second = sf.KMember(k=4)(people, ROLES)
    (together,) = register.together(second, ROLES)
    direct = sf.composition(second, ROLES, previous=first, identity="id")
    assert together.outcome is not None
    assert (together.outcome.fell, together.outcome.attacked) == (direct.fell, direct.attacked) == (direct.fell, ROWS)
    sf.publish(second, ROLES, [], tmp_path / "b.csv", register=register)
    (listed,) = register.pairs()
    assert listed[0] == 2
    assert listed[1].outcome is not None
    assert listed[1].outcome.fell == direct.fell


def test_next_year_the_same_people_are_found_by_their_number(people: sf.Table, tmp_path: Path) -> None:
    """Another original: half of the people, some of them moved to another town."""
    register = Register(tmp_path / "r.sqlite")
    publish(people, register, tmp_path / "a.csv")
    rows = people.to_arrow().slice(0, 30)
    rows = rows.append_column("year", pa.array([2027] * 30)).drop_columns("year")
    later = sf.read(rows)
    (together,) = register.together(sf.Mondrian(k=4)(later, ROLES), ROLES)
    assert together.outcome is not None
    assert together.outcome.attacked == 30


def test_what_cannot_be_played_says_why(people: sf.Table, tmp_path: Path) -> None:
    register = Register(tmp_path / "r.sqlite")
    for name in "ab":
        publish(people, register, tmp_path / f"{name}.csv")
    publish(people, register, tmp_path / "c.csv", counts(1))
    (tmp_path / "a.csv").unlink()
    (tmp_path / "b.csv").write_text("age,town,ill\n", "utf-8")
    reasons = [each.sentence for each in register.together(sf.KMember(k=4)(people, ROLES), ROLES)]
    assert ["not there any more" in reasons[0], "has been changed" in reasons[1], "adds up" in reasons[2] or "added up" in reasons[2]] == [True] * 3  # fmt: skip


def test_m_invariance_is_completed_by_the_last_release(people: sf.Table, tmp_path: Path) -> None:
    register = Register(tmp_path / "r.sqlite")
    with pytest.raises(InputError, match="no earlier release"):
        register.completed("m_invariance >= 2", ROLES)
    assert register.completed("k_anonymity >= 2", ROLES) == "k_anonymity >= 2"
    publish(people, register, tmp_path / "a.csv")
    text = register.completed("m_invariance(ill) >= 2", ROLES)
    assert "previous=" in text
    assert "identity=id" in text
    requirement = sf.require(text)
    with pytest.raises(NotMet, match="m_invariance"):
        sf.publish(sf.KMember(k=4)(people, ROLES), ROLES, [requirement], tmp_path / "b.csv", register=register)
    assert len(register.entries) == 1


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"age,town\n1,2\n", "cannot be used"), (None, "a folder")],
    ids=["another file", "a folder"],
)
def test_what_is_no_register(content: bytes | None, word: str, tmp_path: Path) -> None:
    path = tmp_path / "r"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=word):
        Register(path)
    if content is not None:
        assert path.read_bytes() == content


def test_another_database_and_a_missing_folder(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "db") as db:
        db.execute("CREATE TABLE t (x)")
    with pytest.raises(InputError, match="not a register"):
        Register(tmp_path / "db")
    with pytest.raises(InputError, match="folder does not exist"):
        Register(tmp_path / "nowhere" / "r")
    with pytest.raises(InputError, match="above 0"):
        Register(tmp_path / "r", epsilon=0)


def test_a_damaged_entry_is_one_sentence(people: sf.Table, tmp_path: Path) -> None:
    register = Register(tmp_path / "r.sqlite")
    publish(people, register, tmp_path / "a.csv")
    with sqlite3.connect(tmp_path / "r.sqlite") as db:
        db.execute("UPDATE release SET entry = '{}'")
    with pytest.raises(InputError, match="damaged"):
        _ = register.entries


def test_whose_number_tells_people_apart() -> None:
    assert identity_of(ROLES) == "id"
    assert identity_of(sf.Roles(quasi=("a",))) is None
