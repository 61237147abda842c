"""People whose rows stay joined in the release: the written file holds k people of each history, counted here by pandas alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError, NotMet
from sfumato.mechanisms import registry

QUASI = ["age", "zip", "month"]
HIERARCHIES = {"age": {"widths": [5, 10, 20]}, "zip": {"prefix": [1, 2, 3]}, "month": {"widths": [3, 6]}}
ROLES = sf.Roles(
    person="pid",
    quasi=tuple(QUASI),
    sensitive=("dx",),
    insensitive=("row",),
    hierarchies=HIERARCHIES,
    people={"rows": "linked"},
)
WAIVED = {"row": "a test's own"}
MECHANISMS = {
    "mondrian": lambda require: sf.Mondrian(k=4, require=require),
    "mondrian relaxed": lambda require: sf.Mondrian(k=4, mode="relaxed", require=require),
    "generalize_full_domain": lambda require: sf.GeneralizeFullDomain(k=4, suppression=0.3, require=require),
    "generalize_to_levels": lambda require: sf.GeneralizeToLevels(
        levels="age=3,zip=2,month=2", k=4, suppression=0.9, require=require
    ),
    "mondrian by cuts": lambda require: sf.Mondrian(k=4, bounds="cuts", choose="width", require=require),
}


def visits(seed, people=150):
    """Visits of people, some values missing; age and place stay, month and diagnosis change; one person has very many visits."""
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 5, people)
    times[0] = 60
    who = np.repeat(np.arange(people), times)
    rng.shuffle(who)
    frame = pd.DataFrame(
        {
            "pid": [f"p{i}" for i in who],
            "age": rng.integers(20, 60, people)[who],
            "zip": 1000 + rng.integers(0, 12, people)[who],
            "month": rng.integers(1, 13, len(who)),
            "dx": rng.choice(list("abcdef"), len(who)),
            "row": [f"r{i}" for i in range(len(who))],
        }
    )
    frame["month"] = frame["month"].astype("Int64").mask(rng.random(len(who)) < 0.05)
    return frame


def written(path, original):
    """The file as a stranger reads it, and the same with whose each row is, by the row's own number."""
    file = pd.read_csv(path, dtype=str, keep_default_na=False)
    both = file.merge(original[["row", "pid"]], on="row", validate="one_to_one", suffixes=("", "_before"))
    assert len(both) == len(file)
    return file, both


def texts(release):
    """The rows of a release that is not written, as texts."""
    return release.to_pandas().astype(object).where(lambda cells: cells.notna(), "").astype(str)


def histories(file, quasi=QUASI):
    """The sorted released tuples of each person."""
    tuples = file[quasi].apply(tuple, axis=1)
    return tuples.groupby(file["pid"]).apply(lambda own: tuple(sorted(own)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_history_of_the_file_is_shared_by_k_people(name, seed, tmp_path):
    original = visits(seed)
    release = MECHANISMS[name](())(sf.read(original), ROLES, np.random.default_rng(seed))
    found = sf.publish(release, ROLES, [sf.k_anonymity.at_least(4)], tmp_path / "r.csv", waive=WAIVED)
    file, both = written(tmp_path / "r.csv", original)
    sizes = histories(file).value_counts()
    assert sizes.min() >= 4
    assert found.verdicts[0].score.value == sizes.min()
    assert found.people is not None
    assert found.people.people.min() == sizes.min()
    assert sf.prosecutor_risk(release, ROLES).value == 1 / sizes.min()
    # a number joins all rows of one person that are left, and no others; none is of the original
    assert (both.groupby("pid")["pid_before"].nunique() == 1).all()
    assert (both.groupby("pid_before")["pid"].nunique() == 1).all()
    assert not set(file["pid"]) & set(original["pid"])
    rows = original.groupby("pid").size()
    gone = next(note for note in release.notes if "Left out" in note).split("alike over all their rows: ")[1]
    assert len(original) - len(file) == int(gone.split()[0])
    assert both.groupby("pid_before").size().le(rows.reindex(both["pid_before"].unique())).all()


@pytest.mark.parametrize("name", MECHANISMS)
def test_multir_anonymity_is_the_size_of_the_linked_classes(name):
    release = MECHANISMS[name](())(sf.read(visits(0)), ROLES, np.random.default_rng(0))
    assert sf.multir_anonymity(release, ROLES).value == sf.k_anonymity(release, ROLES).value


def test_k_unlinked_people_would_not_do():
    """Classes of k different people at every row single out people whose rows are joined."""
    original = visits(0)
    unlinked = sf.Roles(**{**vars(ROLES), "people": {"rows": "unlinked"}})
    release = sf.Mondrian(k=4)(sf.read(original), unlinked, np.random.default_rng(0))
    assert sf.k_anonymity(release, unlinked).value >= 4
    frame = texts(release).merge(original[["row", "pid"]], on="row")
    assert histories(frame).value_counts().min() == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MECHANISMS)
def test_sensitive_values_are_measured_among_the_rows_that_look_alike_of_a_class(name, seed, tmp_path):
    original = visits(seed)
    require = (sf.require("entropy_l_diversity(dx) >= 2"), sf.require("t_closeness[equal](dx) <= 0.6"))
    try:
        release = MECHANISMS[name](require)(sf.read(original), ROLES, np.random.default_rng(seed))
    except Infeasible:
        assert name.startswith("generalize")  # one recoding for all may not do
        return
    found = sf.publish(release, ROLES, require, tmp_path / "r.csv", waive=WAIVED)
    file, _ = written(tmp_path / "r.csv", original)
    file["weight"] = 1 / file["pid"].map(file["pid"].value_counts())
    file["history"] = file["pid"].map(histories(file))
    overall = file.groupby("dx")["weight"].sum() / file["weight"].sum()
    least, far = np.inf, 0.0
    for _, rows in file.groupby(["history", *QUASI]):
        share = rows.groupby("dx")["weight"].sum() / rows["weight"].sum()
        least = min(least, 2 ** -(share * np.log2(share)).sum())
        far = max(far, 0.5 * share.reindex(overall.index, fill_value=0).sub(overall).abs().sum())
    assert found.verdicts[0].score.value == pytest.approx(least)
    assert found.verdicts[1].score.value == pytest.approx(far)
    assert least >= 2 - 1e-9
    assert far <= 0.6 + 1e-9


PEOPLE = st.lists(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c", ""]), st.sampled_from(["x", "y", ""])), min_size=1, max_size=6),
    min_size=2,
    max_size=14,
)


@given(people=PEOPLE, many=st.integers(0, 30), k=st.integers(2, 4))
def test_whoever_knows_all_of_a_person_finds_k_people(people, many, k):
    """An adversary knows every quasi-identifier of every row of a person, and looks for all people of the file that may be that one."""
    people[0] = people[0] + [("a", "x")] * many
    rows = [(f"p{i}", one, two, f"s{i}") for i, own in enumerate(people) for one, two in own]
    frame = pd.DataFrame(rows, columns=["pid", "one", "two", "secret"])
    roles = sf.Roles(person="pid", quasi=("one", "two"), sensitive=("secret",), people={"rows": "linked"})
    try:
        release = sf.Mondrian(k=k)(sf.read(frame), roles, np.random.default_rng(1))
    except Infeasible:
        return
    file = texts(release)
    assert histories(file, ["one", "two"]).value_counts().min() >= k
    # the secret tells whose a row is: its owner's true tuple must be covered by the released one
    left = file.groupby("secret").size()
    for _, row in file.iterrows():
        own = frame[frame["secret"] == row["secret"]]
        assert any(
            covers(row["one"], one) and covers(row["two"], two) for one, two in zip(own["one"], own["two"], strict=True)
        )
    # people of the file whose every row may be one of the victim's: at least k of them say exactly the same
    for secret, times in left.items():
        victim = file[file["secret"] == secret]
        same = histories(file, ["one", "two"])
        number = victim["pid"].iloc[0]
        assert victim["pid"].nunique() == 1
        assert (same == same[number]).sum() >= k
        assert len(same[number]) == times


def covers(label, value):
    """Whether a released category stands for a value."""
    return label == "*" or label == value or (label[:1] == "{" and value in label[1:-1].split(", "))


def test_one_row_each_gives_the_classes_of_rows():
    """The extreme: where nobody has two rows, histories are tuples."""
    original = visits(5).drop_duplicates("pid")
    by_rows = sf.Roles(quasi=ROLES.quasi, sensitive=("dx",), one_row_per_person=True, hierarchies=HIERARCHIES)
    linked, plain = (sf.Mondrian(k=4)(sf.read(original), roles) for roles in (ROLES, by_rows))
    for metric in (sf.k_anonymity, sf.iloss, sf.entropy_l_diversity, sf.average_class_size):
        assert metric(linked, ROLES).value == pytest.approx(metric(plain, by_rows).value)


def test_numbers_are_drawn_anew_and_tell_nothing_of_the_input(tmp_path):
    original = visits(1)
    shuffled = original.sample(frac=1, random_state=3)
    first, second = (sf.Mondrian(k=4)(sf.read(original), ROLES).to_pandas() for _ in range(2))
    assert not set(first["pid"]) & set(second["pid"])
    same = [sf.Mondrian(k=4)(sf.read(t), ROLES, np.random.default_rng(7)).to_pandas() for t in (original, shuffled)]
    pd.testing.assert_frame_equal(*same)
    order = first.merge(original, on="row", suffixes=("", "_before")).drop_duplicates("pid")
    assert abs(order["pid"].rank().corr(order["pid_before"].str[1:].astype(int).rank())) < 0.4


def test_numbers_of_the_original_are_refused(tmp_path):
    original = visits(2).drop(columns="row")
    release = sf.Release(table=sf.read(original[["pid", *QUASI, "dx"]]), original=sf.read(original))
    with pytest.raises(NotMet, match="of the original"):
        sf.publish(
            release, sf.Roles(**{**vars(ROLES), "insensitive": ()}), [sf.k_anonymity.at_least(1)], tmp_path / "r.csv"
        )
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.parametrize("name", sorted(name for name, kind in registry().items() if not kind.card.links))
def test_mechanisms_that_cannot_join_refuse_before_any_work(name):
    kind = registry()[name]
    made = next((m for given in ({}, {"k": 4}, {"epsilon": 1.0}) if (m := _made(kind, given)) is not None), None)
    if made is None:
        pytest.skip("needs parameters of its own")
    with pytest.raises(InputError, match="generalize_to_levels"):
        made(sf.read(visits(0)), ROLES)


def _made(kind, given):
    try:
        return kind(**given)
    except (TypeError, sf.SfumatoError):
        return None


def test_rows_of_nobody_are_refused():
    frame = visits(0)
    frame.loc[3, "pid"] = None
    with pytest.raises(InputError, match="1 row without"):
        sf.Mondrian(k=4)(sf.read(frame), ROLES)


def test_attacks_are_played_on_classes_of_people_or_refused():
    frame = pd.DataFrame(
        {
            "pid": list("aabbccdd"),
            "place": ["x", "y"] * 4,
            "dx": ["flu", "hiv", "flu", "cold", "flu", "hiv", "flu", "cold"],
        }
    )
    roles = sf.Roles(person="pid", quasi=("place",), sensitive=("dx",), people={"rows": "linked"})
    release = sf.Mondrian(k=4)(sf.read(frame), roles, np.random.default_rng(0))
    outcome = sf.homogeneity(release, roles)
    assert (outcome.attacked, outcome.fell) == (8, 4)  # who knows which row is of place x knows its diagnosis
    assert sf.distinct_l_diversity(release, roles).value == 1
    with pytest.raises(sf.core.errors.Unavailable, match="play homogeneity"):
        sf.linkage(release, roles)


@pytest.mark.full
def test_full_domain_search_finds_the_least_loss_by_brute_force():
    """Every node, its histories and who must go, by pandas; of those that leave out few enough rows the one of least loss."""
    original = visits(4).drop(columns="row")
    roles = sf.Roles(**{**vars(ROLES), "insensitive": ()})
    limit = 0.3 * len(original)
    best = None
    for levels in np.ndindex(5, 5, 4):
        one = sf.GeneralizeToLevels(levels=list(map(int, levels)), k=1)
        made = one(sf.read(original), roles, np.random.default_rng(0))
        file = texts(made)
        same = histories(file)
        rare = same.map(same.value_counts()) < 4
        rows = file["pid"].map(rare).sum()
        if rows <= limit:
            released = sf.GeneralizeToLevels(levels=list(map(int, levels)), k=4, suppression=0.3)(
                sf.read(original), roles
            )
            assert len(original) - released.table.rows == rows
            loss = sf.arx_loss(aggregate="arithmetic")(released, roles).value
            best = loss if best is None else min(best, loss)
    found = sf.GeneralizeFullDomain(k=4, suppression=0.3)(sf.read(original), roles, np.random.default_rng(0))
    assert sf.arx_loss(aggregate="arithmetic")(found, roles).value == pytest.approx(best)
