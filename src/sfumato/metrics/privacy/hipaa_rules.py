"""HIPAA's rules on identifiers, as far as a table shows them (45 CFR 164.514(b)(2); HHS guidance of 2012)."""

from ...core.errors import InputError
from ...core.metric import Score, measure
from ...core.parameter import Number, Words
from ...core.release import Evidence
from ...core.words import counted, whole
from ...profile.hipaa import broken, latest_year

_UNSEEN = (
    "The check does not see names inside texts, pictures, other codes of a person, birth years that reveal an age over 89 only "
    "in a year later than all dates (unless `year` is given), columns named in `ignore`, or what the owner knows about who can "
    "still be found."
)


def _sentence(value: float) -> str:
    if value <= 0:
        return f"The check finds no released column that breaks a rule of 45 CFR 164.514(b)(2). {_UNSEEN}"
    columns = whole(value)
    verb = "breaks" if columns == 1 else "break"
    return (
        f"The check finds {counted(columns, 'released column')} that {verb} a rule of 45 CFR 164.514(b)(2). {_UNSEEN}"
    )


def _limit(bound: float) -> str:
    return "the check finds no column that breaks a rule on identifiers of 45 CFR 164.514(b)(2)" if bound == 0 else ""


@measure(
    title="HIPAA rules",
    question="How many released columns visibly break a HIPAA rule on identifiers?",
    unit="columns",
    bounds=(0, float("inf")),
    source="45 CFR 164.514(b)(2)(i); HHS 2012, Guidance Regarding Methods for De-identification of Protected Health Information",
    sentence=_sentence,
    limit=_limit,
    misleads="It sees what the names and values of columns show. It does not see names inside texts, pictures or other codes "
    "of a person, nor what you know yourself, which 164.514(b)(2)(ii) also asks about. It judges birth years by the "
    "latest year in the dates, unless `year` is given. It recognizes ages, postal codes and dates by their names and "
    "values: name further columns with age, zip and date, and columns that are something else with ignore. It does "
    "not check ignored columns. It counts columns, not people: k_anonymity says whether someone stands alone although "
    "all rules are kept.",
    parameters={
        "age": Words(),
        "zip": Words(),
        "date": Words(),
        "ignore": Words(),
        "year": Number(0, low=0, high=2200, whole=True),
    },
    noise=True,
    joins=True,
)
def hipaa_rules(
    evidence: Evidence,
    column: None,
    *,
    age: frozenset[str],
    zip: frozenset[str],
    date: frozenset[str],
    ignore: frozenset[str],
    year: int,
) -> Score:
    """`|{released columns that break a rule}|`, over the release, its companions and what is published along.

    The rules, by their letters in 164.514(b)(2)(i): (A), (D) to (R) direct identifiers by name, by the shape of the values, or
    because the roles keep the column in the house; (B) units smaller than a state by name, and postal codes of more than three digits
    or of one of the 17 areas with 20,000 people or fewer; (C) parts of dates finer than a year, ages above 89 but for one
    label of all that are 90 or older (`90+`, `>=90`, `>89`, or an interval from 90 to at least 120), and birth years of those who
    are 90 in `year`, but for one label of all of them (`<=1936`); unless given, that is the latest year in the columns of dates. A
    missing value and `*` break nothing. A column of `ignore` breaks nothing either, unless the roles keep it in the house. Extremes:
    0 if every value is `*`; the number of columns if each is a date of days.
    """
    release, roles = evidence.release, evidence.roles
    for name in sorted(ignore & (age | zip | date)):
        raise InputError(f"{release.table.name}: hipaa_rules is told both to ignore column {name!r} and to look at it.")
    # where the rows of a person are joined, it is by a random number, of which publishing makes sure: 164.514(c) allows that
    fresh = frozenset(name for name in release.table.columns if roles.linked and name == roles.person)
    house, ignore = {*roles.identifiers, roles.person, roles.household} - fresh, ignore | fresh
    columns = [
        {name: (counts.columns[0], counts.margin(name)) for name, counts in table.value_counts(table.columns).items()}
        for table in (release.table, *release.companions.values(), *release.related)
    ]
    # what is published along may hold the dates that tell how old a birth is
    checked = [{name: pair for name, pair in each.items() if name not in ignore} for each in columns]
    ages_in = year or max(latest_year(each, date) for each in checked)
    breaks: dict[str, tuple[str, ...]] = {}
    for name, (values, n) in ((name, pair) for each in columns for name, pair in each.items()):
        rules = broken(
            values,
            n,
            house=name in house,
            ignore=name in ignore,
            age=name in age,
            postal=name in zip,
            date=name in date,
            year=ages_in,
        )
        if rules:
            breaks[name] = tuple(dict.fromkeys((*breaks.get(name, ()), *rules)))
    seen = {name for each in columns for name in each}
    for name in sorted((age | zip | date | ignore) - seen):
        raise InputError(f"{release.table.name}: no column {name!r}, which hipaa_rules is told of.")
    return Score(
        float(len(breaks)), "columns", details={"broken": {name: list(rules) for name, rules in breaks.items()}}
    )
