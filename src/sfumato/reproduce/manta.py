"""Manta (2013), the survey of privacy models, beside ours: its example tables, each with the property that it is said to have.

All tables are printed in full, so nothing but the risk-utility map of sec. 5.3, which the survey describes and does not draw, needs
data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..attacks.background import GivenFacts, background
from ..core.hierarchy import Hierarchy
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..mechanisms.generalize_full_domain import GeneralizeFullDomain
from ..mechanisms.mondrian import Mondrian
from ..metrics.privacy.alpha_anonymity import alpha_anonymity
from ..metrics.privacy.delta_presence import delta_presence
from ..metrics.privacy.delta_presence_min import delta_presence_min
from ..metrics.privacy.distinct_l_diversity import distinct_l_diversity
from ..metrics.privacy.entropy_l_diversity import entropy_l_diversity
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.multir_anonymity import multir_anonymity
from ..metrics.privacy.mutual_information import mutual_information
from ..metrics.privacy.mutual_information_leak import mutual_information_leak
from ..metrics.privacy.n_t_closeness import n_t_closeness
from ..metrics.privacy.personalized_breach import personalized_breach
from ..metrics.privacy.positive_disclosure import positive_disclosure
from ..metrics.privacy.prosecutor_risk import prosecutor_risk
from ..metrics.privacy.recursive_diversity import recursive_diversity
from ..metrics.privacy.t_closeness import t_closeness
from ..metrics.privacy.xy_anonymity import xy_anonymity
from ..metrics.utility.igpl import trade
from ..metrics.utility.iloss import iloss
from ..search.pareto import frontier, knee
from .check import Paper, PaperDraft, beside, number, only, stated
from .tables import Progress, finished, labels, per_class, small, table, unheard

JOBS = Hierarchy.of(
    "job",
    [
        ("Engineer", "Professional", "*"),
        ("Lawyer", "Professional", "*"),
        ("Writer", "Artist", "*"),
        ("Dancer", "Artist", "*"),
    ],
    source="Fig. 3.1",
)
DISEASES = Hierarchy.of(
    "disease",
    [(d, "stomach disease", "digestive problem", "*") for d in ("gastric ulcer", "dyspepsia", "gastritis")]
    + [(d, "respiratory infection", "respiratory problem", "*") for d in ("flu", "pneumonia", "bronchitis")],
    source="Fig. 3.2",
)
NATIONS = Hierarchy.of(
    "nationality",
    [(n, "America", "*") for n in ("USA", "Canada", "Brazil", "Peru")]
    + [(n, "Europe", "*") for n in ("Spain", "Bulgaria", "France")],
    source="table 3.21",
)

TABLE_1: dict[str, list[Any]] = {
    "job": ["Engineer", "Engineer", "Lawyer", "Writer", "Writer", "Dancer", "Dancer"],
    "sex": ["male"] * 3 + ["female"] * 4,
    "age": [35, 38, 38, 35, 35, 35, 36],
    "disease": ["Hepatitis", "Hepatitis", "HIV", "Flu", "HIV", "HIV", "HIV"],
}
TABLE_4: dict[str, list[Any]] = {
    "pid": [1, 2, 1],
    "job": ["Professional"] * 3,
    "sex": ["male"] * 3,
    "age": ["[35-40)"] * 3,
}
TABLE_5: dict[str, list[Any]] = {
    "pid": [1, 2, 1],
    "job": ["Professional"] * 3,
    "sex": ["male"] * 3,
    "age": ["[35-40)"] * 3,
}
"""The rows that are printed of tables 3.4 and 3.5."""
TABLE_15 = [
    ("47673", "29", "Cancer", 100), ("47674", "21", "Flu", 100), ("47605", "25", "Cancer", 200), ("47602", "23", "Flu", 200),
    ("47905", "43", "Cancer", 100), ("47904", "48", "Flu", 900), ("47906", "47", "Cancer", 100), ("47907", "41", "Flu", 900),
    ("47603", "34", "Cancer", 100), ("47605", "30", "Flu", 100), ("47604", "36", "Cancer", 100), ("47607", "32", "Flu", 100),
]  # fmt: skip
TABLE_16 = [
    ("476**", "2*", "Cancer", 300), ("476**", "2*", "Flu", 300), ("479**", "4*", "Cancer", 200),
    ("479**", "4*", "Flu", 1800), ("476**", "3*", "Cancer", 200), ("476**", "3*", "Flu", 200),
]  # fmt: skip
TABLE_17: dict[str, list[Any]] = {
    "age": ["5", "9", "6", "8", "12", "19", "21", "26", "28", "56"],
    "sex": [*"mmmmmmffff"],
    "zip": ["12000", "14000", "18000", "19000", "22000", "24000", "58000", "36000", "37000", "33000"],
    "disease": ["gastric ulcer", "dyspepsia", "pneumonia", "bronchitis", "pneumonia", "pneumonia", "flu", "gastritis", "pneumonia", "flu"],
    "gn": ["stomach disease", "dyspepsia", "respiratory infection", "bronchitis", "pneumonia", "pneumonia", "∅", "gastritis",
           "respiratory infection", "flu"],
}  # fmt: skip
TABLE_18: dict[str, list[Any]] = {
    "age": ["[1,10]"] * 4 + ["[11,20]"] * 2 + ["21", "[26,30]", "[26,30]", "56"],
    "sex": TABLE_17["sex"],
    "zip": ["[10001,20000]"] * 4 + ["[20001,25000]"] * 2 + ["58000", "[35001,40000]", "[35001,40000]", "33000"],
    "disease": ["gastric ulcer", "dyspepsia", *["respiratory infection"] * 4, "flu", "gastritis", "pneumonia", "respiratory infection"],
}  # fmt: skip
TABLE_19 = {
    "zip": ["47906", "47903", "47906", "47630", "47630", "47633", "48973", "48972", "48970"],
    "age": ["35", "59", "42", "18", "22", "63", "33", "47", "52"],
    "nationality": ["USA", "Canada", "USA", "Brazil", "Brazil", "Peru", "Spain", "Bulgaria", "France"],
}
TABLE_22 = {"zip": ["47***"] * 3 + ["48***"] * 2, "age": ["*"] * 5, "nationality": ["America"] * 3 + ["Europe"] * 2}
"""Printed with 47* for a code of five digits."""

PATIENTS = Roles(quasi=("job", "sex", "age"), sensitive=("disease",), hierarchies={"job": JOBS})
ROWS = Roles(quasi=("job", "sex", "age"))
PEOPLE = Roles(quasi=("job", "sex", "age"), person="pid")
SALARIES = Roles(quasi=("postcode", "age"), sensitive=("salary",))
ILL = Roles(quasi=("zip", "age"), sensitive=("disease",))
MASKED = Roles(
    quasi=ILL.quasi, sensitive=ILL.sensitive, hierarchies={"zip": {"prefix": [2, 3]}, "age": {"prefix": [1]}}
)
GUARDED = Roles(quasi=("age", "sex", "zip"), sensitive=("disease",), guarding="gn", hierarchies={"disease": DISEASES})
PRESENT = Roles(quasi=("zip", "age", "nationality"), hierarchies={"nationality": NATIONS})
ORDERED, EQUAL = t_closeness(ground="ordered"), t_closeness(ground="equal")

DIFFERENCES = (
    "Not reproduced: (c,t)-isolation, (d,γ)-privacy and distributional privacy (sec. 4.1, 4.3, 4.4) are described without an example; the mechanisms "
    "isolation_noise, alpha_beta and dp_ranges have them. The interviews (ch. 6) print no table.",
    "Personalized privacy: the survey prints no breach probability for table 3.18; the bound of 1/2 is ours, with the ten people as the external table.",
)  # fmt: skip


def reproduce(data: Path | None = None, progress: Progress | None = None) -> Paper:
    """The example tables always; the risk-utility map where Adult is found."""
    say = progress or unheard
    paper = PaperDraft("manta", "Manta 2013", differences=list(DIFFERENCES))
    for i, step in enumerate((_records, _diversity, _closeness, _near, _people, _formulas)):
        say(0.1 * (i + 1), "example tables")
        step(paper)
    return finished(paper, data, (("risk-utility map", _map),), lambda share, text: say(0.6 + 0.4 * share, text))


# --- chapter 3: tables ------------------------------------------------------------------------------------------------


def _blocks(*blocks: Mapping[str, int]) -> Release:
    """A patient table: of each job so many rows of each disease."""
    sexes = {"Professional": "male", "Artist": "female"}
    rows = [(job, d) for job, block in zip(sexes, blocks, strict=False) for d, n in block.items() for _ in range(n)]
    return small(
        {
            "job": [job for job, _ in rows],
            "sex": [sexes[job] for job, _ in rows],
            "age": ["[35-40)"] * len(rows),
            "disease": [disease for _, disease in rows],
        }
    )


def _records(paper: PaperDraft) -> None:
    """Tables 3.1 to 3.9: record linkage, several rows a person, several tables, homogeneity, background knowledge."""
    first = small(TABLE_1)
    raised: dict[str, list[Any]] = {**TABLE_1, "job": ["Professional"] * 3 + ["Artist"] * 4, "age": ["[35-40)"] * 7}
    third = small(raised, original=table(TABLE_1), pairing="position")
    fourth = small(TABLE_4)
    who: dict[str, list[Any]] = {"pid": [*range(1, 8)]}
    sixth = Release(
        table=table({**who, "job": TABLE_1["job"], "disease": TABLE_1["disease"]}),
        related=(table({**who, "sex": TABLE_1["sex"], "age": TABLE_1["age"]}),),
    )
    seventh = small({**who, **raised})
    eighth = _blocks({"Hepatitis": 2, "HIV": 1}, {"HIV": 3})
    ninth = _blocks({"Hepatitis": 2, "Flu": 1}, {"Flu": 1, "HIV": 2})
    alone = labels(first.evidence(PATIENTS).tuples)
    alice = per_class(k_anonymity, first, PATIENTS)[alone.index("Dancer, female, 36")]
    lost = iloss(third, PATIENTS)
    people, copy = (xy_anonymity(small(rows), PEOPLE).value for rows in (TABLE_4, TABLE_5))
    known = {"Bob": {"job": "Professional", "sex": "male", "age": "[35-40)"}}
    bob = background(ninth, PATIENTS, facts=["Bob is not Flu"], people=known)
    lines = [
        beside("3.1 and 3.2: rows that fit Alice, a dancer of 36", "1", alice),
        beside("3.3: k", "3", k_anonymity(third, PATIENTS).value),
        beside("3.3: probability of linking a person to a record", "1/3", prosecutor_risk(third, PATIENTS).value),
        only("3.3: ILoss of the job, (2 - 1)/4 by Fig. 3.1", float(lost.details["columns"]["job"])),
        beside("3.4: k of the rows that are printed", "3", k_anonymity(fourth, ROWS).value),
        only("3.4: distinct people behind them, the k of (X,Y)", people),
        only("3.5: the same, where (X,Y)-anonymity is said to hold", copy, note="see errata"),
        only("3.6: MultiR-anonymity of the two tables as they are", multir_anonymity(sixth, PEOPLE).value),
        beside("3.7: MultiR-anonymity after the join", "3", multir_anonymity(seventh, PEOPLE).value),
        beside("3.8: k, although", "3", k_anonymity(eighth, PATIENTS).value),
        beside("3.8: how surely an artist has HIV", "1", positive_disclosure(eighth, PATIENTS).value),
        beside("3.9: k", "3", k_anonymity(ninth, PATIENTS).value),
        beside("3.9: diseases that are left to Bob", "2", distinct_l_diversity(ninth, PATIENTS).value),
        beside("3.9: how surely Bob has hepatitis, once flu is ruled out", "1", cast(GivenFacts, bob.details).largest),
    ]
    paper.erratum(
        "tables 3.4 and 3.5",
        "3.4 does not keep (X,Y)-anonymity and 3.5 does",
        "3.5 is a copy of 3.4, so that the example shows nothing",
        f"The rows that are printed of both are the same, of persons 1, 2 and 1: k is {k_anonymity(fourth, ROWS).value:.0f}, and job, sex and age stand with "
        f"{people:.0f} persons in 3.4 and with {copy:.0f} in 3.5.",
        TABLE_4 == TABLE_5 and people == copy == 2 and k_anonymity(fourth, ROWS).value == 3,
    )
    paper.part("Tables 3.1 to 3.9: linkage, homogeneity, background knowledge", *lines)


def _diversity(paper: PaperDraft) -> None:
    """Tables 3.10 to 3.12 and the block of 5, 4 and 1."""
    tenth = _blocks({"Hepatitis": 2, "HIV": 1}, {"HIV": 2, "Flu": 1})
    eleventh = _blocks({"Hepatitis": 2, "HIV": 1}, {"HIV": 3, "Flu": 1})
    twelfth = _blocks({"Hepatitis": 2, "HIV": 2}, {"HIV": 3, "Hepatitis": 2, "Flu": 1})
    block = _blocks({"Cancer": 5, "HIV": 4, "Flu": 1})
    same = _blocks({"HIV": 10})
    entropy = entropy_l_diversity(eleventh, PATIENTS).value
    ratio, third = recursive_diversity(l=2)(twelfth, PATIENTS).value, recursive_diversity(l=3)(block, PATIENTS).value
    lines = (
        beside("3.10: distinct l", "2", distinct_l_diversity(tenth, PATIENTS).value),
        beside("3.11: entropy l", "1.8", entropy, note="rounded up; 1.8 itself is missed, see errata"),
        beside("3.11: share of HIV in the second group", "0.75", alpha_anonymity(eleventh, PATIENTS).value),
        stated("3.12: recursive (1.1, 2)", "diverse", f"diverse for every c above {number(ratio)}", ratio < 1.1),
        stated(
            "block of 5, 4, 1: recursive (6, 3)", "diverse", f"diverse for every c above {number(third)}", third < 6
        ),
    )
    ten, one = 10, recursive_diversity(l=2)(same, PATIENTS).value
    paper.erratum(
        "table 3.11",
        "1.8-diverse",
        f"{entropy:.4f}-diverse",
        f"Three HIV and one flu have 2^H = 4/3^(3/4) = {4 / 3**0.75:.4f}, and the least class counts; entropy_l_diversity >= 1.8 is missed.",
        abs(entropy - 4 / 3**0.75) < 1e-12 and not entropy_l_diversity.at_least(1.8).check(eleventh, PATIENTS).met,
    )
    paper.erratum(
        "sec. 3.2.2, recursive (c,l)-diversity",
        "f_1 < c (f_1 + ... + f_l)",
        "f_1 < c (f_l + ... + f_m)",
        f"With the printed sum a block of {ten} equal values is (1.1, 2)-diverse, {ten} < 1.1 x {ten}; with the right one no c makes it so (ours: "
        f"{number(one)}). The survey's own example, 5 < 6 x 1, takes the last values.",
        ten < 1.1 * ten and math.isinf(one) and third == 5,
    )
    paper.erratum(
        "table 3.12",
        "2-diversity is ensured if c is at least 1.1",
        "if c is above 1",
        f"The largest ratio f_1/(f_2 + ... + f_m) of its blocks is {number(ratio)}: 2/2 and 3/3.",
        ratio == 1.0,
    )
    first = [max(block) / sum(block) for block in ((2, 2), (3, 2, 1), (5, 4, 1))]
    bound = [1.1 / 4, 1.1 / 6, 6 / 10]
    paper.erratum(
        "sec. 3.2.2, what one piece of background knowledge rules out",
        "for c < n it may eliminate c/n of the tuples of a block",
        "f_1/n of them, which (c, 2)-diversity keeps below c/(c + 1)",
        "In table 3.12, with c = 1.1, who knows that somebody has not the most frequent disease rules out "
        f"{first[0]:.2f} and {first[1]:.2f} of the two blocks, where c/n is {bound[0]:.2f} and {bound[1]:.2f}. In the survey's own example it is {first[2]:.1f}, not c/n = {bound[2]:.1f}.",
        first[0] > bound[0] and first[1] > bound[1] and first[2] == 0.5 and max(first[:2]) < 1.1 / 2.1,
    )
    paper.part("Tables 3.10 to 3.12: l-diversity", *lines)


def _salaries(*blocks: tuple[str, str, Sequence[str]]) -> Release:
    rows = [(code, age, salary) for code, age, values in blocks for salary in values]
    return small(dict(zip(("postcode", "age", "salary"), map(list, zip(*rows, strict=True)), strict=True)))


def _closeness(paper: PaperDraft) -> None:
    """Tables 3.13 and 3.14, and the example of eq. 3.1."""
    low, middle, high = ["3k", "4k", "5k"], ["6k", "11k", "8k"], ["7k", "9k", "10k"]
    printed = _salaries(("476**", "2*", low), ("4790*", ">=40", middle), ("476**", "2*", high))
    meant = _salaries(("476**", "2*", low), ("4790*", ">=40", middle), ("476**", "3*", high))
    close = _salaries(
        ("4767*", "2*", ["3k", "5k", "9k"]), ("4790*", ">=40", middle), ("4760*", "2*", ["4k", "7k", "10k"])
    )
    skewed = _blocks({"positive": 50, "negative": 50}, {"positive": 50, "negative": 9850})
    certain = _blocks({"positive": 98, "negative": 2}, {"positive": 2, "negative": 9898})
    emd = per_class(ORDERED, meant, SALARIES, ["476**, 2*"])[0]
    p, q = np.array([1 / 3] * 3 + [0] * 6), np.full(9, 1 / 9)
    lines = (
        beside("eq. 3.1: D of 3k, 4k, 5k", "0.375", float(emd)),
        beside("3.13: t, the third class with ages 3*", "0.375", ORDERED(meant, SALARIES).value),
        beside("3.13: distinct l", "3", distinct_l_diversity(meant, SALARIES).value),
        beside("3.13: t as printed, two classes of ages 2*", "0.375", ORDERED(printed, SALARIES).value, wrong=[0], note="see errata"),
        beside("3.14: t", "0.167", ORDERED(close, SALARIES).value),
        beside("skewness: positive in a class of halves", "50%", per_class(positive_disclosure, skewed, PATIENTS)[1], note="1% of the table"),
        beside("skewness: positive in a block of 98 and 2", "98%", per_class(positive_disclosure, certain, PATIENTS)[1], note="1% of the table; distinct l is 2"),
    )  # fmt: skip
    paper.erratum(
        "eq. 3.1, the values r of its example",
        "1/3 three times, then -1/9 six times",
        "2/9 three times, then -1/9 six times",
        f"r = p - q = 1/3 - 1/9, and r must sum to 0: the printed ones sum to {3 / 3 - 6 / 9:.4f}. The sum after it, with 2/9 and 4/9, is right.",
        bool(np.allclose((p - q)[:3], 2 / 9) and abs((p - q).sum()) < 1e-12),
    )
    paper.erratum(
        "table 3.13",
        "three classes, 0.375-close",
        "its third class has ages 3*, as Li et al. have it",
        f"With 2* as printed the first and the third are one class of six rows, and t is {ORDERED(printed, SALARIES).value:.4f}; with 3* it is {ORDERED(meant, SALARIES).value:.4f}.",
        len(printed.evidence(SALARIES).tuples) == 2 and abs(ORDERED(meant, SALARIES).value - 0.375) < 1e-12,
    )
    paper.part("Tables 3.13 and 3.14: t-closeness", *lines)


def _counted(rows: Sequence[tuple[Any, ...]]) -> Release:
    columns = dict(zip(("zip", "age", "disease"), map(list, zip(*(row[:3] for row in rows), strict=True)), strict=True))
    return small(columns, [row[3] for row in rows])


def _near(paper: PaperDraft) -> None:
    """Tables 3.15 and 3.16: t against (n,t)."""
    made = _counted(TABLE_16)
    raw = _counted(TABLE_15).table
    close = {n: n_t_closeness(distance="equal", n=n)(made, ILL).value for n in (600, 601, 1000, 1001, 2000, 2001, 3000)}
    t = EQUAL(made, ILL).value
    by_n = Mondrian(require=(n_t_closeness(distance="equal", n=1000).at_most(0.1),))(raw, MASKED)
    by_t = Mondrian(require=(EQUAL.at_most(0.1),))(raw, MASKED)
    kept = {name: mutual_information(release, ILL).value for name, release in (("n,t", by_n), ("t", by_t))}
    counts = {name: len(release.evidence(ILL).tuples) for name, release in (("n,t", by_n), ("t", by_t))}
    lines = (
        stated("3.16: 0.1-closeness", "missed", f"{_met(t <= 0.1)}: t = {t:.4f}", t > 0.1),
        stated("3.16: (1000, 0.1)-closeness", "met", f"{_met(close[1000] <= 0.1)}: {close[1000]:.4f}", close[1000] <= 0.1),
        only("3.16: (n,t) with n = 600, 601, 1000, 1001", [close[n] for n in (600, 601, 1000, 1001)], note="with more than 1000 asked it fails; see errata"),
        only("3.16: (n,t) with n = 2000, 2001, 3000", [close[n] for n in (2000, 2001, 3000)], note="at 3000, the whole table, it is t"),
        only("3.15 by Mondrian under (1000, 0.1)-closeness", f"{counts['n,t']} classes, I(W;C) = {kept['n,t']:.4f}", note="they are those of table 3.16"),
        only("3.15 by Mondrian under 0.1-closeness", f"{counts['t']} class, I(W;C) = {kept['t']:.4f}"),
    )  # fmt: skip
    same = _tuples(by_n) == _tuples(made)
    paper.check(
        "t against (n,t): the same limit keeps three classes under (1000, 0.1) and a single one under 0.1-closeness",
        counts == {"n,t": 3, "t": 1} and same and kept["t"] < 1e-12 < kept["n,t"],
        f"{kept['n,t']:.4f} bits against {kept['t']:.4f}; the three are table 3.16 itself",
    )
    paper.check(
        "(n,t) grows with n, and for the whole table it is t-closeness",
        all(a <= b + 1e-12 for a, b in pairwise(close.values())) and abs(close[3000] - t) < 1e-12,
        ", ".join(f"{n}: {value:.4f}" for n, value in close.items()),
    )
    paper.erratum(
        "definition 9",
        "a natural superset with more than n elements",
        "with at least n",
        f"Of table 3.16, which is said to meet (1000, 0.1), the first and third class have 1000 rows together: at least 1000 gives {close[1000]:.4f}, more than "
        f"1000 gives {close[1001]:.4f}.",
        close[1000] <= 0.1 < close[1001],
    )
    curve = [
        {"n": n, "t": n_t_closeness(distance="equal", n=n)(made, ILL).value}
        for n in (1, 400, 401, 600, 601, 999, 1000, 1001, 1500, 2000, 2001, 2500, 3000)
    ]
    paper.figure(
        "manta-nt",
        "t against (n,t)-closeness, table 3.16",
        "The larger the group that a class must be near to, the farther it is: at n = 3000, the whole table, (n,t) is t. Under t = 0.1 it holds up to n = 1000.",
        "steps",
        curve,
        line=0.1,
        label="t = 0.1",
        mark=1000,
    )
    paper.part("Tables 3.15 and 3.16: t against (n,t)-closeness", *lines)


def _met(met: bool) -> str:
    return "met" if met else "missed"


def _tuples(release: Release) -> dict[str, int]:
    """The distinct rows of a release and how often each stands in it."""
    counts = release.table.count((*ILL.quasi, *ILL.sensitive))
    return dict(zip(labels(counts), counts.n.tolist(), strict=True))


def _people(paper: PaperDraft) -> None:
    """Tables 3.17 to 3.22: personalized privacy and presence."""
    guarded = small(TABLE_18, original=table(TABLE_17), pairing="position")
    raw = small({k: v for k, v in TABLE_17.items() if k != "gn"}, original=table(TABLE_17), pairing="position")
    before, after = personalized_breach(raw, GUARDED), personalized_breach(guarded, GUARDED)
    here = small(TABLE_22, population=table(TABLE_19))
    most, least = delta_presence(here, PRESENT), delta_presence_min(here, PRESENT)
    same = [str(i + 1) for i in range(10) if all(TABLE_18[name][i] == TABLE_17[name][i] for name in TABLE_18)]
    lines = (
        only("3.17: breach of the guarding nodes before", before.value, note=f"{before.details['worst_rows']} of ten people"),
        only("3.18: breach of the guarding nodes after", after.value),
        stated("3.18: rows that are published as they are", "7, who guards nothing", ", ".join(same), same == ["7"]),
        beside("3.22: presence of a to f, and of g to i", "1/2, 2/3", per_class(delta_presence, here, PRESENT).tolist()),
        beside("3.22: (d_min, d_max)", "1/2, 2/3", [least.value, most.value]),
    )  # fmt: skip
    exact = dict(TABLE_22, age=[TABLE_19["age"][i] for i in (1, 2, 5, 7, 8)])
    told = per_class(delta_presence, small(exact, population=table(TABLE_19)), PRESENT)
    paper.erratum(
        "table 3.21",
        "exact ages, such as 35",
        "* for each age, as in table 3.22",
        "The public table is generalized as the released one, or no tuple of it equals one of table 3.22. With the exact ages released, too, each of the five would be "
        f"present for certain ({', '.join(number(each) for each in told)}), and not with 1/2 and 2/3.",
        bool((told == 1).all()),
    )
    paper.erratum(
        "table 3.22, the presence of g, h and i",
        "P(tuple a in T | T*) = |{h, i}|/|{g, h, i}|",
        "P(tuple g in T | T*), and the same for h and i",
        f"Tuple a has 1/2, as the line before says; 2/3 is of the class of g, h and i (ours: {number(most.value)}).",
        abs(most.value - 2 / 3) < 1e-12 and abs(per_class(delta_presence, here, PRESENT)[0] - 1 / 2) < 1e-12,
    )
    paper.check(
        "table 3.18: nobody is linked to what they guard with more than 1/2, before everybody who guards was",
        after.value == 0.5 and before.value == 1.0,
        f"{before.value:.4f} to {after.value:.4f}",
    )
    paper.part("Tables 3.17 to 3.22: personalized privacy, presence", *lines)


# --- chapters 4 and 5: formulas ---------------------------------------------------------------------------------------


def _formulas(paper: PaperDraft) -> None:
    """The noise of differential privacy, IGPL, and the leak by mutual information."""
    epsilon, change = 0.5, 1
    ratio = {
        name: _worst_ratio(scale, change)
        for name, scale in (("printed", epsilon / change), ("right", change / epsilon))
    }
    even = _blocks({"HIV": 2}, {"Flu": 2})
    leak, shared = mutual_information_leak(even, PATIENTS).value, mutual_information(even, PATIENTS).value
    lines = (
        only("4.2: largest ratio of answers with the printed scale, epsilon = 0.5", ratio["printed"], note=f"e^epsilon = {math.exp(epsilon):.4f}"),
        only("4.2: the same with scale sensitivity/epsilon", ratio["right"]),
        only("5.1.2: leak 1 - 2^(-I) of two classes that tell all, I = 1 bit", leak),
        only("5.2.3: IGPL of a step that gains 0.5 bits and loses 0, 1 and 2 rows", [trade(0.5, x) for x in (0, 1, 2)]),
    )  # fmt: skip
    paper.check(
        "5.1.2: the leak is 1 - 2^(-I)", abs(leak - (1 - 2**-shared)) < 1e-12 and abs(shared - 1) < 1e-12, f"{leak:.4f}"
    )
    paper.erratum(
        "sec. 4.2, scale of the noise",
        "sigma >= epsilon/sensitivity",
        "sigma >= sensitivity/epsilon",
        f"A count changes by 1 with a person. With epsilon = 0.5 the printed scale, 0.5, lets an answer be {ratio['printed']:.4f} times as likely with as without "
        f"the person; e^0.5 = {math.exp(0.5):.4f} is allowed, and scale 2 gives {ratio['right']:.4f}.",
        ratio["printed"] > math.exp(epsilon) + 1e-9 and abs(ratio["right"] - math.exp(epsilon)) < 1e-9,
    )
    paper.erratum(
        "sec. 5.2.3, IGPL",
        "IG/(PL - 1)",
        "IG/(PL + 1), as Fung et al. have it",
        "With PL - 1 a step that loses one row of privacy divides by 0, and one that loses none scores "
        f"{0.5 / (0 - 1):.1f} for a gain of 0.5: the best step comes last. With PL + 1 it scores {trade(0.5, 0):.1f}, then {trade(0.5, 1):.2f}, {trade(0.5, 2):.2f}.",
        0.5 / (0 - 1) < 0 and trade(0.5, 0) > trade(0.5, 1) > trade(0.5, 2) > 0,
    )
    paper.part("Formulas of chapters 4 and 5", *lines)


def _worst_ratio(scale: float, change: int) -> float:
    """The largest ratio of the probabilities of an answer, of Laplace noise by its density at whole answers."""
    answer = np.arange(-50, 51)
    with_, without = (np.exp(-np.abs(answer - at) / scale) for at in (0, change))
    seen = (with_ > 1e-300) & (without > 1e-300)
    return float((with_[seen] / without[seen]).max())


# --- section 5.3: the map ---------------------------------------------------------------------------------------------

MAP = Roles(
    quasi=("age", "sex", "race", "education"),
    sensitive=("occupation",),
    hierarchies={"age": {"widths": [5, 10, 20, 40]}},
    source="sec. 5.3",
)
GRID = (2, 5, 10, 25, 50, 100, 250)


def _map(paper: PaperDraft, rows: Table) -> None:
    """Two algorithms over a grid of k, a point each: risk and utility, the frontier and its knee (sec. 5.3)."""
    points: list[dict[str, Any]] = []
    for k in GRID:
        for name, mechanism in (
            ("Mondrian", Mondrian(k=k)),
            ("full-domain", GeneralizeFullDomain(k=k, suppression=0.01)),
        ):
            release = mechanism(rows, MAP)
            points.append(
                {
                    "mechanism": name,
                    "k": k,
                    "risk": float(prosecutor_risk(release, MAP).value),
                    "loss": float(iloss(release, MAP).value),
                }
            )
    risk, loss = (np.array([point[axis] for point in points]) for axis in ("risk", "loss"))
    on = frontier(risk, loss)
    turn = knee(risk, loss, on)
    for i, point in enumerate(points):
        point["standing"] = "knee" if i == turn else "on the frontier" if i in on else "beaten by another"
    lines = tuple(
        only(
            f"{point['mechanism']}, k = {point['k']}",
            f"risk {point['risk']:.4f}, ILoss {point['loss']:.4f}",
            note=point["standing"],
        )
        for point in points
    )
    assert turn is not None
    turning = points[turn]
    paper.check(
        "sec. 5.3: the map has a frontier and a knee, and less risk costs more along it",
        bool(np.all(np.diff(risk[on]) < 0) and np.all(np.diff(loss[on]) > 0)),
        f"{len(on)} of {len(points)} points; the knee is {turning['mechanism']} at k = {turning['k']}",
    )
    paper.check(
        "local recoding beats full-domain recoding at every k of the grid",
        all(loss[i] < loss[i + 1] for i in range(0, len(points), 2)),
        "; ".join(f"{a:.3f} against {b:.3f}" for a, b in zip(loss[::2], loss[1::2], strict=True)),
    )
    paper.figure(
        "manta-map",
        "Sec. 5.3, a risk-utility map of Adult",
        f"{len(points)} releases over age, sex, race and education; risk is the largest probability of linking a person to a record (1/k reached), loss the mean "
        "ILoss. The knee is the point farthest below the line between the frontier's ends, on axes that are not logarithmic.",
        "map",
        points,
    )  # fmt: skip
    note = "Described in the survey, not drawn there: two algorithms over a grid of k, at most 1% of the rows suppressed by the second."
    paper.part("Sec. 5.3: a risk-utility map of Adult", *lines, note=note)
