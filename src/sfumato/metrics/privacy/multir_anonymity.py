"""MultiR-anonymity: several tables about the same people (Nergiz, Clifton, Nergiz 2007; Manta 3.1.3)."""

from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import whole


def _sentence(value: float) -> str:
    k = whole(value)
    if k < 2:
        return "For at least one person, the published tables together show a combination that nobody else shares."
    return (
        "Whatever the published tables together show of a person's quasi-identifiers, at least "
        f"{k - 1:,} other {'people share' if k > 2 else 'person shares'} all of it."
    )


@measure(
    title="MultiR-anonymity",
    question="How many people look alike in all published tables together, in the smallest group?",
    better="higher",
    unit="people",
    bounds=(1, float("inf")),
    monotone=True,
    source="Nergiz, Clifton, Nergiz 2007; Manta 2013, sec. 3.1.3",
    sentence=_sentence,
    knows="the quasi-identifiers of a person in every published table, and that the person is in them",
    family="Who can be found with other tables",
    misleads="It holds against an adversary who knows all quasi-identifiers of a person, and how many rows the person has. "
    "Like k-anonymity, it says nothing about what the group reveals.",
    joins=True,
)
def multir_anonymity(evidence: Evidence, column: None) -> Score:
    """The fewest people of whom all tables, joined on the person column, tell the same.

    What they tell of a person is, for each table, the multiset of the quasi-identifier tuples in that person's rows: the
    survey's join tells the sets of them, and how often each occurs is seen as well, so the value is never above the
    join's. Having no row in a table is shared only with those who have none. The quasi-identifiers of a table are the
    columns of the roles that it has. Extremes: 1 if someone is alone in it; everybody if all tell the same.
    """
    release, roles = evidence.release, evidence.roles
    tables = (release.table, *release.related)
    person = roles.person
    if person is None:
        raise Unavailable(f"multir_anonymity joins on the person column; name it in {roles.source} as person.")
    for table in tables:
        table.require_columns([person], "which names people, so its rows cannot be joined to them", Unavailable)
    groups = evidence.histories.people
    worst = int(groups.min())
    details = {
        "tables": len(tables),
        "people": int(groups.sum()),
        "groups": len(groups),
        "worst_people": int(groups[groups == worst].sum()),
    }
    return Score(float(worst), "people", "exact", details=details)
