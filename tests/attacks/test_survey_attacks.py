"""Manta 2013, chapter 3: its tables as they are printed, each with the attack that the text tells of it and the numbers it states.

What stands elsewhere is not repeated here:
- tables 3.1-3.3, Alice by a join and among four: test_attack_linkage.py, test_manta_tables_1_to_3;
- table 3.4, two people behind three rows: test_attack_linkage.py, test_manta_table_4 (and test_metric_people.py for the measure);
- table 3.7 as two related tables: test_attack_linkage.py, test_manta_related_tables;
- tables 3.8, 3.3 and 3.9, homogeneity: test_attack_homogeneity.py; table 3.9, Bob has no flu: test_attack_background.py, TestSurvey;
- skewness, one in a hundred: test_attack_skewness.py; similarity, lung diseases and tables 3.13 and 3.14: test_attack_similarity.py;
- tables 3.19, 3.20 and 3.22, who is in: test_attack_membership.py.
"""

from __future__ import annotations

import pytest

import sfumato as sf
from house import JOBS, PATIENTS, Make, MakeTable, outcomes
from sfumato.attacks.background import background
from sfumato.attacks.homogeneity import homogeneity
from sfumato.attacks.linkage import linkage
from sfumato.attacks.membership import membership, presence
from sfumato.attacks.skewness import skewness
from sfumato.core.roles import Roles


def typed(text: str) -> dict[str, list[str]]:
    """A table as the survey prints it, columns by bars; its interval [35-40) is ours with a comma."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    columns = {name: [row[i].replace("[35-40)", "[35,40)") for row in rows[1:]] for i, name in enumerate(rows[0])}
    return columns


TABLE_1 = typed("""
    job      | sex    | age | disease
    Engineer | male   | 35  | Hepatitis
    Engineer | male   | 38  | Hepatitis
    Lawyer   | male   | 38  | HIV
    Writer   | female | 35  | Flu
    Writer   | female | 35  | HIV
    Dancer   | female | 35  | HIV
    Dancer   | female | 36  | HIV
""")
TABLE_2 = typed("""
    name  | job    | sex    | age
    Alice | Dancer | female | 36
""")
TABLE_3 = typed("""
    job          | sex    | age     | disease
    Professional | male   | [35-40) | Hepatitis
    Professional | male   | [35-40) | Hepatitis
    Professional | male   | [35-40) | HIV
    Artist       | female | [35-40) | Flu
    Artist       | female | [35-40) | HIV
    Artist       | female | [35-40) | HIV
    Artist       | female | [35-40) | HIV
""")
TABLE_4 = typed("""
    pid | job          | sex  | age     | disease
    1   | Professional | male | [35-40) | Hepatitis
    2   | Professional | male | [35-40) | Hepatitis
    1   | Professional | male | [35-40) | HIV
""")
TABLE_5 = typed("""
    pid | job          | sex  | age     | disease
    1   | Professional | male | [35-40) | Hepatitis
    2   | Professional | male | [35-40) | Hepatitis
    1   | Professional | male | [35-40) | HIV
""")
TABLE_6_LEFT = typed("""
    pid | job      | disease
    1   | Engineer | Hepatitis
    2   | Engineer | Hepatitis
    3   | Lawyer   | HIV
    4   | Writer   | Flu
    5   | Writer   | HIV
    6   | Dancer   | HIV
    7   | Dancer   | HIV
""")
TABLE_6_RIGHT = typed("""
    pid | sex    | age
    1   | male   | 35
    2   | male   | 38
    3   | male   | 38
    4   | female | 35
    5   | female | 35
    6   | female | 35
    7   | female | 36
""")
TABLE_7 = typed("""
    pid | job          | sex    | age     | disease
    1   | Professional | male   | [35-40) | Hepatitis
    2   | Professional | male   | [35-40) | Hepatitis
    3   | Professional | male   | [35-40) | HIV
    4   | Artist       | female | [35-40) | Flu
    5   | Artist       | female | [35-40) | HIV
    6   | Artist       | female | [35-40) | HIV
    7   | Artist       | female | [35-40) | HIV
""")
TABLE_8 = typed("""
    job          | sex    | age     | disease
    Professional | male   | [35-40) | Hepatitis
    Professional | male   | [35-40) | Hepatitis
    Professional | male   | [35-40) | HIV
    Artist       | female | [35-40) | HIV
    Artist       | female | [35-40) | HIV
    Artist       | female | [35-40) | HIV
""")
TABLE_9 = typed("""
    job          | sex    | age     | disease
    Professional | male   | [35-40) | Hepatitis
    Professional | male   | [35-40) | Hepatitis
    Professional | male   | [35-40) | Flu
    Artist       | female | [35-40) | Flu
    Artist       | female | [35-40) | HIV
    Artist       | female | [35-40) | HIV
""")
TABLE_19 = typed("""
    row | name      | zip   | age | nationality | sen
    a   | Alice     | 47906 | 35  | USA         | 0
    b   | Bob       | 47903 | 59  | Canada      | 1
    c   | Christine | 47906 | 42  | USA         | 1
    d   | Dirk      | 47630 | 18  | Brazil      | 0
    e   | Eunice    | 47630 | 22  | Brazil      | 0
    f   | Frank     | 47633 | 63  | Peru        | 1
    g   | Gail      | 48973 | 33  | Spain       | 0
    h   | Harry     | 48972 | 47  | Bulgaria    | 1
    i   | Iris      | 48970 | 52  | France      | 1
""")
TABLE_20 = typed("""
    row | zip   | age | nationality
    b   | 47903 | 59  | Canada
    c   | 47906 | 42  | USA
    f   | 47633 | 63  | Peru
    h   | 48972 | 47  | Bulgaria
    i   | 48970 | 52  | France
""")
TABLE_21 = typed("""
    row | name      | zip | age | nationality | sen
    a   | Alice     | 47* | 35  | America     | 0
    b   | Bob       | 47* | 59  | America     | 1
    c   | Christine | 47* | 42  | America     | 1
    d   | Dirk      | 47* | 18  | America     | 0
    e   | Eunice    | 47* | 22  | America     | 0
    f   | Frank     | 47* | 63  | America     | 1
    g   | Gail      | 48* | 33  | Europe      | 0
    h   | Harry     | 48* | 47  | Europe      | 1
    i   | Iris      | 48* | 52  | Europe      | 1
""")
TABLE_22 = typed("""
    row | zip | age | nationality
    b   | 47* | *   | America
    c   | 47* | *   | America
    f   | 47* | *   | America
    h   | 48* | *   | Europe
    i   | 48* | *   | Europe
""")
PEOPLE = Roles(quasi=PATIENTS.quasi, sensitive=("disease",), person="pid", hierarchies={"job": JOBS})
PRESENCE = Roles(quasi=("zip", "age", "nationality"))


def test_the_tables_hang_together_as_the_text_says() -> None:
    """A slip in typing shows: generalized tables are the raw ones, and the research subset is who has 1 in the public table."""
    up = {leaf: node for leaf, node, _ in zip(*JOBS.levels, strict=True)}
    assert [up[job] for job in TABLE_1["job"]] == TABLE_3["job"] == TABLE_7["job"]
    assert TABLE_1["disease"] == TABLE_3["disease"] == TABLE_7["disease"] == TABLE_6_LEFT["disease"]
    assert TABLE_6_LEFT["job"] == TABLE_1["job"]
    assert (TABLE_6_RIGHT["sex"], TABLE_6_RIGHT["age"]) == (TABLE_1["sex"], TABLE_1["age"])
    inside = [i for i, sen in enumerate(TABLE_19["sen"]) if sen == "1"]
    for name in TABLE_20:
        assert TABLE_20[name] == [TABLE_19[name][i] for i in inside]
    assert [TABLE_21[name] for name in ("row", "age", "sen")] == [TABLE_19[name] for name in ("row", "age", "sen")]
    for name in ("zip", "nationality"):
        assert TABLE_22[name] == [TABLE_21[name][i] for i in inside]


# --- 3.1 record linkage ----------------------------------------------------------------------------------------------


def test_table_3_3_links_a_person_to_a_row_with_a_third_at_most(release: Make, table: MakeTable) -> None:
    """ "An attacker can link an individual to a record with at most 1/3 probability." For Alice it is one row of four."""
    published = release(TABLE_3, TABLE_1, pairing="position")
    assert sf.prosecutor_risk(published, PATIENTS).value == pytest.approx(1 / 3)
    assert 1 / linkage(published, PATIENTS).details.candidates["least"] == pytest.approx(1 / 3)
    named = release(TABLE_3, {**TABLE_1, "name": [*"EILWVD", "Alice"]}, pairing="position")
    assert linkage(named, PATIENTS, external=table(TABLE_2), identity="name").success.value == pytest.approx(1 / 4)


def test_three_records_of_one_person_are_linked_with_certainty(release: Make, table: MakeTable) -> None:
    """Sec. 3.1.2: with three rows a person a block of 3-anonymity may hold one: "a record linkage probability of 1"."""
    thrice = {name: [value for value in TABLE_4[name][:1] for _ in range(3)] for name in TABLE_4}
    published = release(thrice)
    assert sf.k_anonymity(published, Roles(quasi=PATIENTS.quasi)).value == 3
    known = table({"pid": ["1"], "job": ["Lawyer"], "sex": ["male"], "age": ["38"]})
    assert linkage(published, PEOPLE, external=known).success.value == 1
    assert sf.xy_anonymity(published, PEOPLE).value == 1


def test_table_3_5_is_table_3_4_again_and_hides_two_people_not_three(release: Make, table: MakeTable) -> None:
    """The survey prints the same rows under both captions. k = 3 wants three pids a combination: then a person is found with 1/3."""
    assert TABLE_5 == TABLE_4
    known = {"pid": ["1", "2"], "job": ["Engineer", "Lawyer"], "sex": ["male"] * 2, "age": ["35", "38"]}
    printed = release(TABLE_5)
    assert linkage(printed, PEOPLE, external=table(known)).success.value == pytest.approx(1 / 2)
    assert sf.xy_anonymity(printed, PEOPLE).value == 2
    meant = release({**TABLE_5, "pid": ["1", "2", "3"]})
    assert linkage(meant, PEOPLE, external=table(known)).success.value == pytest.approx(1 / 3)
    assert sf.xy_anonymity(meant, PEOPLE).value == 3


def test_table_3_6_tells_together_what_neither_table_tells(release: Make, table: MakeTable) -> None:
    """After the join "our initial example is obtained": the tables of 3.6 expose the five people that table 3.1 exposes."""
    both = release(TABLE_6_LEFT, related=(table(TABLE_6_RIGHT),))
    joined = linkage(both, PEOPLE)
    assert (
        outcomes(joined) == outcomes(linkage(release(TABLE_1, TABLE_1, pairing="position"), PATIENTS)) == (5, 2, 0, 0)
    )
    second = table({"pid": ["2"], "job": ["Engineer"], "sex": ["male"], "age": ["38"]})
    for known in (("job",), ("sex", "age")):  # one of two engineers; one of two men of 38
        assert linkage(both, PEOPLE, external=second, knows=known).success.value == pytest.approx(1 / 2)
    assert linkage(both, PEOPLE, external=second).success.value == 1
    assert sf.multir_anonymity(both, PEOPLE).value == 1


def test_table_3_7_joined_hides_everybody_behind_two_others(release: Make, table: MakeTable) -> None:
    published, known = release(TABLE_7), table({**TABLE_6_LEFT, **TABLE_6_RIGHT})
    assert sf.multir_anonymity(published, PEOPLE).value == sf.k_anonymity(published, PEOPLE).value == 3
    assert linkage(published, PEOPLE, external=known).fell == pytest.approx(2)  # one of each group, by a guess


# --- 3.2 attribute linkage -------------------------------------------------------------------------------------------


def test_table_3_8_alice_the_writer_has_hiv(release: Make) -> None:
    """ "Alice (35, female, writer)": looked up, her class has one value; positive disclosure. A fact is not needed."""
    alice = {"Alice": "job=Writer, sex=female, age=35"}
    found = background(release(TABLE_8), PATIENTS, people=alice, reveal=True)
    assert found.details.people[0].beliefs == [("HIV", 1.0, 1.0)]
    assert found.details.certain == 1
    assert background(release(TABLE_9), PATIENTS, people=alice).details.certain == 0


@pytest.mark.parametrize(("rows", "fell"), [(TABLE_3, 0), (TABLE_8, 3), (TABLE_9, 0)])
def test_what_one_fact_adds_to_homogeneity(release: Make, rows: dict[str, list[str]], fell: int) -> None:
    """Tables 3.3, 3.8 and 3.9 have two values a class at most, so one fact, such as "no flu", tells everybody's."""
    published = release(rows)
    assert homogeneity(published, PATIENTS).fell == sf.homogeneity_exposed(published, PATIENTS).value * len(rows["job"]) == fell  # fmt: skip
    for knowledge in ("implications", "negations"):
        assert background(published, PATIENTS, k=1, knowledge=knowledge).fell == len(rows["job"])  # type: ignore[arg-type]


def test_the_second_example_of_skewness(release: Make) -> None:
    """A block of 98% positive and 2% negative in a table of 1%: "almost certainly", and distinct 2-diversity is met."""
    table = {"q": ["1"] * 50 + ["2"] * 4850, "s": ["pos"] * 49 + ["neg"] + ["neg"] * 4850}
    table["s"][-1] = "pos"  # else the other block has one value
    published, roles = release(table), Roles(quasi=("q",), sensitive=("s",))
    assert sf.distinct_l_diversity(published, roles).value == 2
    found = skewness(published, roles, factor=50)
    assert found.details.largest_belief == pytest.approx(0.98)
    assert found.details.largest_ratio == pytest.approx(0.98 / (50 / 4900))
    assert found.fell == 49
    assert homogeneity(published, roles, share=0.98).details.largest_exposed_class == 4850
    assert sf.metric("skewness_exposed[factor=50]")(published, roles).value == pytest.approx(49 / 4900)


# --- 3.3 table linkage -----------------------------------------------------------------------------------------------


def test_tables_3_21_and_3_22_as_they_are_printed(release: Make) -> None:
    """Against the sanitized public table too: 1/2 for a to f and 2/3 for g, h, i; (1/2, 2/3)-presence."""
    published = release(TABLE_22, population=TABLE_21)
    found = presence(published, PRESENCE)
    ages = [found.people.columns[1].texts[code] for code in found.people.codes[1]]
    row = dict(zip(TABLE_21["age"], TABLE_21["row"], strict=True))  # every age is one person's
    told = {row[str(age)]: p for age, p in zip(ages, found.low, strict=True)}
    assert told == pytest.approx({**dict.fromkeys("abcdef", 1 / 2), **dict.fromkeys("ghi", 2 / 3)})
    assert found.exact
    attack = membership(published, PRESENCE)
    assert (attack.details.delta_min, attack.details.delta_max) == pytest.approx((1 / 2, 2 / 3))
    assert sf.delta_presence(published, PRESENCE).value == pytest.approx(2 / 3)
    score = sf.membership_risk(published, PRESENCE)
    assert score.exactness == "exact"
    assert score.value == pytest.approx((3 * 1 / 2 + 2 * 2 / 3) / 5)


def test_table_3_20_against_the_public_table_is_certain(release: Make) -> None:
    """The subset as it is: everybody in it is told, in the measure as in the attack."""
    score = sf.membership_risk(release(TABLE_20, population=TABLE_19), PRESENCE)
    assert score.value == 1
    assert score.details["certain"] == 5
    assert score.details["in_no_class"] == 4
