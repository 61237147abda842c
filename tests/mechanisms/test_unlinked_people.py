"""People with several rows that nobody can join: every class of the written file holds k different people, counted by pandas."""

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError

ROLES = sf.Roles(
    person="pid",
    quasi=("age", "zip", "month"),
    sensitive=("dx",),
    insensitive=("row",),
    hierarchies={"age": {"widths": [5, 10, 20]}, "zip": {"prefix": [1, 2, 3]}, "month": {"widths": [3, 6]}},
    people={"rows": "unlinked"},
)
MECHANISMS = {
    "mondrian": lambda require: sf.Mondrian(k=4, require=require),
    "mondrian relaxed": lambda require: sf.Mondrian(k=4, mode="relaxed", require=require),
    "k_member": lambda require: sf.KMember(k=4, require=require),
    "mondrian improved": lambda require: sf.Mondrian(k=4, improve=True, require=require),
    "k_member fitted": lambda require: sf.KMember(k=4, fit_queries=True, require=require),
    "k_member improved": lambda require: sf.KMember(k=4, improve=True, require=require),
    "local_suppression": lambda require: sf.LocalSuppression(k=4, suppression=0.1, require=require),
    "top_down_specialization": lambda require: sf.TopDownSpecialization(k=4, require=require),
    "generalize_full_domain": lambda require: sf.GeneralizeFullDomain(k=4, suppression=0.05, require=require),
    "generalize_to_levels": lambda require: sf.GeneralizeToLevels(
        levels="age=3,zip=2,month=1", k=4, suppression=0.5, require=require
    ),
}


def visits(seed, people=150):
    """Visits of people; age and place stay, the month and the diagnosis change; one person in ten has very many visits."""
    rng = np.random.default_rng(seed)
    times = np.where(rng.random(people) < 0.1, 12, rng.integers(1, 5, people))
    who = np.repeat(np.arange(people), times)
    rng.shuffle(who)
    return pd.DataFrame(
        {
            "pid": [f"p{i}" for i in who],
            "age": rng.integers(20, 60, people)[who],
            "zip": 1000 + rng.integers(0, 12, people)[who],
            "month": rng.integers(1, 13, len(who)),
            "dx": rng.choice(list("abcdef"), len(who)),
            "row": [f"r{i}" for i in range(len(who))],
        }
    )


def joined(path, original):
    """The written rows with whose they are, by the row's own number."""
    written = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert "pid" not in written.columns
    both = written.merge(original[["row", "pid"]], on="row", validate="one_to_one")
    assert len(both) == len(written)
    return both


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_class_of_the_file_holds_k_people(name, seed, tmp_path):
    original = visits(seed)
    release = MECHANISMS[name](())(sf.read(original), ROLES, np.random.default_rng(seed))
    found = sf.publish(release, ROLES, [sf.k_anonymity.at_least(4)], tmp_path / "r.csv", waive={"row": "a test's own"})
    both = joined(tmp_path / "r.csv", original)
    people = both.groupby(["age", "zip", "month"])["pid"].nunique()
    assert people.min() >= 4
    assert found.verdicts[0].score.value == people.min()
    assert sf.prosecutor_risk(release, ROLES).value == 1 / people.min()


def test_k_rows_would_not_do():
    """The same k on rows leaves classes of fewer people, so counting rows could not pass the test above."""
    original = visits(0)
    by_rows = sf.Roles(quasi=ROLES.quasi, sensitive=("dx",), one_row_per_person=True, hierarchies=ROLES.hierarchies)
    release = sf.Mondrian(k=4)(sf.read(original), by_rows)
    assert sf.k_anonymity(release, by_rows).value >= 4
    assert sf.k_anonymity(release, ROLES).value < 4


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MECHANISMS)
def test_sensitive_values_weigh_every_person_alike(name, seed, tmp_path):
    original = visits(seed)
    require = (sf.require("entropy_l_diversity(dx) >= 2"), sf.require("t_closeness[equal](dx) <= 0.5"))
    try:
        release = MECHANISMS[name](require)(sf.read(original), ROLES, np.random.default_rng(seed))
    except Infeasible:
        pytest.skip("no release of this kind meets it")
    found = sf.publish(release, ROLES, require, tmp_path / "r.csv", waive={"row": "a test's own"})
    both = joined(tmp_path / "r.csv", original)
    both["weight"] = 1 / both["pid"].map(original["pid"].value_counts())
    overall = both.groupby("dx")["weight"].sum() / both["weight"].sum()
    least, far = np.inf, 0.0
    for _, rows in both.groupby(["age", "zip", "month"]):
        share = rows.groupby("dx")["weight"].sum() / rows["weight"].sum()
        least = min(least, 2 ** -(share * np.log2(share)).sum())
        far = max(far, 0.5 * share.reindex(overall.index, fill_value=0).sub(overall).abs().sum())
    measured = {verdict.requirement.metric.card.name: verdict.score.value for verdict in found.verdicts}
    assert measured["entropy_l_diversity"] == pytest.approx(least)
    assert least >= 2 - 1e-9
    assert measured["t_closeness"] == pytest.approx(far)
    assert far <= 0.5 + 1e-9


@pytest.mark.parametrize("name", MECHANISMS)
def test_one_row_each_gives_what_counting_rows_gives(name):
    """The extreme: where nobody has two rows, people are rows, and the release is the same."""
    original = visits(5).drop_duplicates("pid")
    by_rows = sf.Roles(**{**{f: getattr(ROLES, f) for f in ("quasi", "sensitive", "insensitive", "person")},
                          "hierarchies": ROLES.hierarchies})  # fmt: skip
    counted, plain = (
        MECHANISMS[name](())(sf.read(original), roles, np.random.default_rng(1)) for roles in (ROLES, by_rows)
    )
    assert sf.k_anonymity(counted, ROLES).value == sf.k_anonymity(plain, by_rows).value
    if name != "mondrian relaxed":  # which divides equal rows by chance, and these are equal or not by whose they are
        assert sf.iloss(counted, ROLES).value == pytest.approx(sf.iloss(plain, by_rows).value)


def test_a_person_alone_cannot_be_a_class():
    """All rows of one person, however many, are one person: k = 2 cannot be met."""
    table = pd.DataFrame({"pid": ["p"] * 9, "age": range(20, 29), "zip": 1000, "month": 1, "dx": list("abc") * 3})
    for name in ("mondrian", "k_member", "generalize_full_domain"):
        with pytest.raises(Infeasible):
            MECHANISMS[name](())(sf.read(table), ROLES.__class__(**{**vars(ROLES), "insensitive": ()}))


def test_what_counts_rows_is_refused():
    table = sf.read(visits(0))
    with pytest.raises(InputError, match="counts rows"):
        sf.Mondrian(k=4, require=(sf.require("n_t_closeness[equal,n=50,bandwidth=0.1](dx) <= 0.3"),))(table, ROLES)
    with pytest.raises(InputError, match="cannot count people"):
        sf.Microaggregation(k=4)(table, ROLES)


def test_population_and_people(tmp_path):
    """Where a population is given, classes still hold k different people of the table."""
    original = visits(1)
    population = sf.read(original.drop_duplicates("pid"))
    release = sf.Mondrian(k=4, require=(sf.require("k_map >= 4"),), population=population)(sf.read(original), ROLES)
    assert sf.k_anonymity(release, ROLES).value >= 4
