"""Afifi, Zhou and Ren (2018), "Privacy characterization and quantification in data publishing", beside ours: examples and figures.

The examples need no data. The figures are of Adult under Incognito; the taxonomies are not printed, and ours are what the number
of classes in Fig. 4 leaves: ages in 25 and 50 years, workclass in two groups, education in three, country in two.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..core.column import FloatArray
from ..core.hierarchy import Hierarchy
from ..core.metric import Metric, Requirement
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..inspect.leakage import Joint, Leakage, distances, leakage
from ..metrics.privacy.distinct_l_diversity import distinct_l_diversity
from ..metrics.privacy.distribution_leakage import distribution_leakage
from ..metrics.privacy.entropy_leakage import entropy_leakage
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.positive_disclosure import positive_disclosure
from ..metrics.privacy.t_closeness import t_closeness
from ..search.choice import qid_choice
from ..search.full_domain import optimal_generalization
from .check import Paper, PaperDraft, PaperNumber, beside, number, only, stated
from .tables import Progress, at_levels, domain_sizes, finished, per_class, small, unheard

EXAMPLES: dict[str, list[list[int]]] = {
    "4": [[1, 2, 2], [0, 3, 2]],
    "5": [[3, 1, 0], [3, 1, 0], [1, 1, 2]],
    "6": [[1, 1, 1, 1], [3, 1, 0, 0], [3, 0, 1, 0], [3, 0, 0, 1]],
    "7": [[1, 1, 1, 1], [2, 1, 1, 0], [3, 1, 0, 0], [3, 0, 0, 1]],
    "8": [[0, 2, 2], [1, 1, 2], [4, 0, 0]],
    "9": [[2, 1, 1], [1, 1, 2], [2, 1, 1]],
}
"""Per class, in the paper's order, the rows of each sensitive value: examples 4 to 7 as printed, 8 and 9 from Tables 4b and 4c."""
SALARIES = [["3K", "5K", "9K"], ["6K", "11K", "8K"], ["4K", "7K", "10K"]]
"""Table 3, and the first part of example 11."""
TWENTY_SEVEN = [["3K", "4K", "5K"], ["7K"] * 3, [*["3K", "4K", "5K"] * 2, *["6K", "8K", "9K", "10K", "11K"] * 3]]
"""Its second part: the two classes that are looked at, and the other 21 rows."""
TABLE_1 = [["Heart"] * 3, ["Flu", "Heart", "Cancer"], ["Heart", "Cancer", "Cancer"]]
TABLE_2 = [["3K", "4K", "5K"], ["6K", "11K", "8K"], ["7K", "9K", "10K"]]
ROLES = Roles(quasi=("class",), sensitive=("s",))
STOMACH, BREATH = ("gastric ulcer", "gastritis", "stomach cancer"), ("flu", "pneumonia", "bronchitis")
DISEASES = [
    ["gastric ulcer", "stomach cancer", "pneumonia"],
    ["gastritis", "flu", "bronchitis"],
    ["gastritis", "bronchitis", "stomach cancer"],
]
"""Table 3, the other sensitive column."""
ILLNESSES = Roles(
    quasi=("class",),
    sensitive=("s",),
    hierarchies={
        "s": Hierarchy.of(
            "s",
            [
                (d, group, f"{group}, tract", f"{group}, system", "*")
                for group, values in (("stomach", STOMACH), ("breathing", BREATH))
                for d in values
            ],
            source="Table 3",
        )
    },
)
"""Diseases of a group meet one level up of four, a quarter of the way, and the two groups at the top."""
TABLE_6 = {"age": 74, "workclass": 7, "education": 16, "native-country": 41, "marital-status": 7, "race": 5, "sex": 2, "salary-class": 2, "occupation": 14}  # fmt: skip
"""The domain sizes, as printed."""
EQUAL, ORDERED = t_closeness(ground="equal"), t_closeness(ground="ordered")

ABOUT = "occupation"
QUASI = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex")
FIG_4 = (("age", "workclass"), ("workclass", "education"), ("workclass", "native-country"), ("education", "native-country"))  # fmt: skip
INFERRED = {"age": 2, "workclass": 1, "education": 2, "native-country": 1}

DIFFERENCES = (
    "Taxonomies: Table 6 prints their heights only. Ours have the same heights (4, 2, 3, 2) and the number of groups that the 8, 6, 4 and 6 "
    "classes of Fig. 4 leave: ages of 5, 25 and 50 years, workclass in Government and others, education in no diploma, diploma and degree, "
    "country in United-States and others; marital status has the two groups of the taxonomy that ARX ships.",
    "Table 3, 0.278-closeness of the diseases: it takes the taxonomy of Li et al. 2007, which the paper does not print. Ours has two groups, of the stomach and of breathing, 1 "
    "apart, and the diseases of one group 1/4 apart.",
)


def reproduce(data: Path | None = None, progress: Progress | None = None) -> Paper:
    """The examples always; the figures where Adult is found."""
    paper = PaperDraft("afifi", "Afifi et al. 2018", differences=list(DIFFERENCES))
    _examples(paper)
    figures = [(f"figure {i}", step) for i, step in enumerate((_figure_1, _figure_2, _figure_3, _figure_4), 1)]
    return finished(paper, data, figures, progress or unheard)


# --- examples ---------------------------------------------------------------------------------------------------------


def _of(classes: Sequence[Sequence[str]]) -> Release:
    """A release with these sensitive values in its classes; classes are numbered in the paper's order."""
    named = [(f"{i:02}", value) for i, values in enumerate(classes) for value in values]
    return small({"class": [c for c, _ in named], "s": [s for _, s in named]})


def _counted(rows: Sequence[Sequence[int]]) -> Release:
    return _of([[f"v{value}" for value, times in enumerate(row) for _ in range(times)] for row in rows])


def _examples(paper: PaperDraft) -> None:
    """Examples 1 to 11, theorems 1 and 3, and the example under definition 4."""
    made = {name: _counted(rows) for name, rows in EXAMPLES.items()}
    l_d, l_e, emd = (
        {name: _values(metric, release) for name, release in made.items()}
        for metric in (distribution_leakage, entropy_leakage, EQUAL)
    )
    diseases = _values(t_closeness(ground="taxonomy"), _of(DISEASES), ILLNESSES)
    ex11, more = _of(SALARIES), _of(TWENTY_SEVEN)
    m_d, m_e, m_o = (_values(metric, more)[:2] for metric in (distribution_leakage, entropy_leakage, ORDERED))
    roots = [math.sqrt(8) / 12, math.sqrt(8) / 12, math.sqrt(32) / 12]
    lines: list[PaperNumber] = [
        *_first_examples(),
        beside("Ex. 4: EMD of both classes", "0.1, 0.1", emd["4"], note="all values equally far apart"),
        only("Ex. 4: L_D", l_d["4"]),
        only("Ex. 4: L_E, which tells the classes apart", l_e["4"]),
        beside("Ex. 5: L_D", "√8/12, √8/12, √26/12", l_d["5"], wrong=[2], note="see errata"),
        beside("Ex. 5: L_E", "0.57, 0.57, 0.11", l_e["5"]),
        beside("Ex. 6: L_D", "√48/16, 4/16, 4/16, 4/16", l_d["6"]),
        beside("Ex. 6: L_E", "0.45, 0.73, 0.73, 0.73", l_e["6"]),
        beside("Ex. 7: L_D", "√34/16, √10/16, √18/16, √26/16", l_d["7"]),
        beside("Ex. 7: L_E", "0.33, 0.16, 0.85, 0.85", l_e["7"]),
        beside("Ex. 8 (Table 4b): L_D", "0.5137, 0.2357, 0.7619", l_d["8"], wrong=[2], note="see errata"),
        beside("Ex. 8: L_E", "0.5546, 0.0546, 1.5546", l_e["8"]),
        beside("Ex. 9 (Table 4c): L_D", "0.1179, 0.2357, 0.1179", l_d["9"]),
        beside("Ex. 9: L_E", "0.0546, 0.0546, 0.0546", l_e["9"]),
        beside("Ex. 10 (Table 5b): EMD", "1/3, 1/3, 2/3", emd["5"], wrong=[0, 1, 2], note="these are L1; see errata"),
        beside("Ex. 10: L_D", "√8/12, √8/12, √26/12", l_d["5"], wrong=[2], note="see errata"),
        beside("Ex. 10: L_E", "0.57, 0.57, 0.11", l_e["5"]),
        beside("Ex. 11 (Table 3): EMD of the salaries", "0.167, 0.167, 0.083", _values(ORDERED, ex11)),
        beside("Table 3: EMD of the diseases, at most", "0.278", max(diseases), note=", ".join(number(d) for d in diseases)),
        beside("Ex. 11, 27 rows: EMD", "0.375, 0.278", m_o),
        beside("Ex. 11, 27 rows: L_D", "0.22, 0.89", m_d, wrong=[0, 1], note="these are squares; see errata"),
        beside("Ex. 11, 27 rows: L_E", "0.158, 3.16", m_e, wrong=[0], note="see errata"),
    ]  # fmt: skip
    paper.erratum(
        "Ex. 5 and 10, L_D of the third class",
        "√26/12",
        "√32/12",
        "(7/12, 3/12, 2/12) - (3/12, 3/12, 6/12) = (4, 0, -4)/12, whose squares sum to 32/144.",
        bool(np.allclose(l_d["5"], roots, atol=1e-12)),
    )
    paper.erratum(
        "Ex. 8, L_D of the third class",
        "0.7619",
        f"{l_d['8'][2]:.4f}",
        "All have cancer, 5/12 before: √((7/12)² + (4/12)² + (3/12)²) = √74/12; two digits changed places.",
        abs(l_d["8"][2] - math.sqrt(74) / 12) < 1e-12 and f"{l_d['8'][2]:.4f}" == "0.7169",
    )
    paper.erratum(
        "Ex. 10, EMD, and so 0.67-closeness",
        "1/3, 1/3, 2/3",
        "1/6, 1/6, 1/3",
        "The printed numbers are L1; with all values equally far apart the EMD is half of it, as in Ex. 4 of the same paper.",
        bool(np.allclose(2 * np.array(emd["5"]), [1 / 3, 1 / 3, 2 / 3])),
    )
    paper.erratum(
        "Ex. 11, L_D of the two classes",
        "0.22 and 0.89",
        ", ".join(f"{x:.4f}" for x in m_d),
        "By Def. 6 a root is taken: the printed numbers are the squares, "
        + " and ".join(f"{x**2:.2f}" for x in m_d)
        + ".",
        [f"{x**2:.2f}" for x in m_d] == ["0.22", "0.89"],
    )
    paper.erratum(
        "Ex. 11, L_E of the first class",
        "0.158",
        f"{m_e[0]:.4f}",
        "log2 9 - log2 3 = log2 3; the point moved by one place.",
        abs(m_e[0] - math.log2(3)) < 1e-12,
    )
    paper.erratum(
        "Ex. 11, which table is which",
        "Table 3 is the original, Table 2b the 0.167-close one",
        "Table 2a is the original, Table 3 the 0.167-close one",
        f"The salaries of Table 3 are {max(_values(ORDERED, ex11)):.4f} from the whole, those of Table 2b {max(_values(ORDERED, _of(TABLE_2))):.4f}.",
        max(_values(ORDERED, ex11)) < 0.1675 < max(_values(ORDERED, _of(TABLE_2))),
    )
    _theorems(paper)
    paper.check(
        "Ex. 4: two classes of one EMD differ by entropy leakage",
        abs(emd["4"][0] - emd["4"][1]) < 1e-12 and l_e["4"][1] > l_e["4"][0],
        f"EMD {emd['4'][0]:.4f} and {emd['4'][1]:.4f}, L_E {l_e['4'][0]:.4f} and {l_e['4'][1]:.4f}",
    )
    paper.check(
        "Ex. 5: the class with the largest L_D has the least L_E",
        int(np.argmax(l_d["5"])) == int(np.argmin(l_e["5"])) == 2,
        f"L_D {l_d['5'][2]:.4f}, L_E {l_e['5'][2]:.4f}",
    )
    paper.check(
        "Ex. 7: a uniform class has the largest L_D and not the least L_E",
        int(np.argmax(l_d["7"])) == 0 and min(l_e["7"]) < l_e["7"][0],
        f"L_D {l_d['7'][0]:.4f}, L_E {l_e['7'][0]:.4f} against {min(l_e['7']):.4f}",
    )
    paper.check(
        "Ex. 11: by EMD the class where all earn 7K is the better one, by both leakages the worse",
        m_o[1] < m_o[0] and m_d[1] > m_d[0] and m_e[1] > m_e[0],
        f"EMD {m_o[1]:.4f} < {m_o[0]:.4f}, L_D {m_d[1]:.4f} > {m_d[0]:.4f}, L_E {m_e[1]:.4f} > {m_e[0]:.4f}",
    )
    spread = np.array([10, 2, 2, 2]) / 16
    lone = leakage(_counted([[1, 1, 1, 1]]), ROLES, given=("class",), about="s", prior=Joint({("00", "v0"): 1}))
    paper.check(
        "Theorem 1: against a uniform class L_D is sigma √m, and at most √((m-1)/m)",
        abs(l_d["6"][0] - spread.std() * 2) < 1e-12 and abs(lone.distribution[0] - math.sqrt(3 / 4)) < 1e-12,
        f"Ex. 6: {l_d['6'][0]:.4f} = {spread.std():.4f} x 2; of a certain prior {lone.distribution[0]:.4f}",
    )
    paper.part("Examples 1 to 11", *lines)
    _belief(paper)


def _values(metric: Metric, release: Release, roles: Roles = ROLES) -> list[float]:
    return [float(x) for x in per_class(metric, release, roles)]


def _first_examples() -> list[PaperNumber]:
    """Examples 1 to 3: homogeneity, skewness and similarity."""
    same, alike = _of(TABLE_1), _of(TABLE_2)
    skewed = _counted([[25, 25], [49, 1], [26, 9874]])  # 10,000 rows of which 100 are positive
    sure = _values(positive_disclosure, skewed)
    return [
        beside("Ex. 1 (Table 1b): k", "3", k_anonymity(same, ROLES).value),
        beside("Ex. 1: diseases in the first class", "1", _values(distinct_l_diversity, same)[0]),
        beside("Ex. 2: how surely positive, half and 49 of 50", "50%, 98%", sure[:2], note="1% of the table"),
        beside("Ex. 3 (Table 2b): distinct l", "3", distinct_l_diversity(alike, ROLES).value),
        only("Ex. 3: EMD of the first class, 3K to 5K", _values(ORDERED, alike)[0]),
    ]


def _belief(paper: PaperDraft) -> None:
    """The example under definition 4: an estimated joint distribution as the prior."""
    made = small(
        {"age": ["5*", "5*", "other", "other"], "disease": ["cancer", "none", "cancer", "none"]}, [7, 18, 3, 72]
    )
    roles = Roles(quasi=("age",), sensitive=("disease",))
    prior = Joint({("5*", "cancer"): 0.04, ("5*", "none"): 0.21, ("other", "cancer"): 0.06, ("other", "none"): 0.69})
    leaks = leakage(made, roles, given=("age",), about="disease", prior=prior)
    before, after = leaks.belief(0)
    lines = (
        beside("Def. 4: P(cancer | 5*) before", "16/100", before[0]),
        beside("Def. 4: P(cancer | 5*) in the release", "28/100", after[0]),
        only("L_D and L_E of the class against this prior", [leaks.distribution[0], leaks.entropy[0]]),
    )  # fmt: skip
    good = abs(float(leaks.distribution[0]) - 0.12 * math.sqrt(2)) < 1e-12
    paper.part("The example of definition 4: a joint estimate as the prior", *lines)
    paper.check("Def. 4: L_D is the change of belief, √2 x 0.12 for two values", good, f"{leaks.distribution[0]:.4f}")


def _theorems(paper: PaperDraft) -> None:
    """Theorem 3(2), and two sentences under definition 9, each by a table of two classes."""
    turned = _counted([[3, 2, 1], [1, 2, 3]])  # the second class has the first one's values in another order
    apart = leakage(
        turned, ROLES, given=("class",), about="s", prior=Joint({("00", "v0"): 1, ("00", "v1"): 2, ("00", "v2"): 3, ("01", "v0"): 3, ("01", "v1"): 2, ("01", "v2"): 1}),
    )  # fmt: skip
    even = _counted([[4, 0], [0, 4]])
    certain = leakage(
        _counted([[1, 0], [0, 1], [1, 1]]), ROLES, given=("class",), about="s",
        prior=Joint({("00", "v0"): 1, ("01", "v0"): 1, ("02", "v0"): 1}),
    )  # fmt: skip
    l_e, top = certain.entropy, _values(entropy_leakage, even)
    paper.erratum(
        "Theorem 3(2): L_E(x, y) = 0 only if x = y",
        "definite, so a metric",
        "a pseudo-metric",
        f"(1/2, 1/3, 1/6) against its permutation (1/6, 1/3, 1/2) has L_E = {apart.entropy[0]:.4g} and L_D = {apart.distribution[0]:.4f}; the text "
        "under Def. 10 says so itself.",
        float(apart.entropy.max()) < 1e-12 and float(apart.distribution.min()) > 0.4,
    )
    paper.erratum(
        "under Def. 9: L_E is convex",
        "convex in x",
        "not convex",
        f"Prior (1, 0): L_E of (1, 0) is {l_e[0]:.4g}, of (0, 1) {l_e[1]:.4g}, and of (1/2, 1/2), half way between, {l_e[2]:.4g}.",
        bool(l_e[0] < 1e-12 and l_e[1] < 1e-12 and abs(l_e[2] - 1) < 1e-12),
    )
    paper.erratum(
        "under Def. 9: the largest value of eq. 1",
        "log2 m - H(a)",
        "the larger of log2 m - H(a) and H(a)",
        f"Prior (1/2, 1/2) gives log2 2 - H(a) = 0, but a class of one value has L_E = {top[0]:.4g}: log2 m, as the sentence before has it.",
        abs(top[0] - 1) < 1e-12,
    )


# --- Adult ------------------------------------------------------------------------------------------------------------


@functools.cache
def _hierarchies(table: Table) -> Mapping[str, Hierarchy]:
    """Taxonomies with the heights of Table 6 and the groups that Fig. 4 leaves."""
    texts = {name: [str(t) for t in table.count((name,)).columns[0].texts] for name in QUASI}

    def years(age: str, width: int) -> str:
        return f"[{int(age) // width * width},{int(age) // width * width + width})"

    lines: dict[str, list[tuple[str, ...]]] = {
        "age": [(t, years(t, 5), years(t, 25), years(t, 50), "*") for t in texts["age"]],
        "workclass": [(t, "Government" if t.endswith("gov") else "other", "*") for t in texts["workclass"]],
        "education": [(t, *_education(t), "*") for t in texts["education"]],
        "native-country": [
            (t, "United-States" if t == "United-States" else "other", "*") for t in texts["native-country"]
        ],
        "marital-status": [
            (t, "spouse present" if t in ("Married-civ-spouse", "Married-AF-spouse") else "spouse not present", "*")
            for t in texts["marital-status"]
        ],
        "race": [(t, "*") for t in texts["race"]],
        "sex": [(t, "*") for t in texts["sex"]],
    }
    return {name: Hierarchy.of(name, rows, source="Table 6") for name, rows in lines.items()}


def _education(text: str) -> tuple[str, str]:
    if text in ("Preschool", "1st-4th", "5th-6th", "7th-8th"):
        return "elementary", "no diploma"
    if text in ("9th", "10th", "11th", "12th"):
        return "high school", "no diploma"
    if text in ("Some-college", "Assoc-voc", "Assoc-acdm"):
        return "college", "diploma"
    return {"HS-grad": ("graduate of high school", "diploma"), "Bachelors": ("bachelor", "degree")}.get(
        text, ("advanced", "degree")
    )


def _roles(table: Table, *names: str) -> Roles:
    world = _hierarchies(table)
    return Roles(quasi=names, sensitive=(ABOUT,), hierarchies={name: world[name] for name in names}, source="Table 6")


def _limits(k: int, closeness: float) -> tuple[Requirement, ...]:
    """`k` is asked of the rows and of the distinct values alike, as the paper does."""
    return k_anonymity.at_least(k), distinct_l_diversity.at_least(k), EQUAL.at_most(closeness)


def _leaks(release: Release, roles: Roles) -> Leakage:
    return leakage(release, roles, given=roles.quasi, about=ABOUT, show_values=True)


def _labels(leaks: Leakage) -> list[str]:
    return [", ".join(map(str, row)) for row in leaks.tuples.spelled()]


def _figure_1(paper: PaperDraft, table: Table) -> None:
    """Sensitivity and independence of the distances, over the classes of a release."""
    roles = _roles(table, "age", "workclass")
    release = at_levels(table, roles, {"age": 1, "workclass": 1})
    lengths = distances(release, roles)
    names = list(lengths)
    ranks = np.array([_ranks(lengths[name]) for name in names])
    related = np.corrcoef(ranks)
    others = [i for i, name in enumerate(names) if name != "entropy"]
    entropy = related[names.index("entropy")][others]
    rest = related[np.ix_(others, others)]
    order = np.argsort(lengths["l1"], kind="stable")
    mean = {name: float(values.mean()) for name, values in lengths.items()}
    lines = (
        only("mean over the classes: " + ", ".join(names), [mean[name] for name in names], note="sensitivity"),
        only("rank correlation of the entropy distance with the others", entropy.tolist(), note="independence"),
        only("least rank correlation among the others", float(rest.min())),
    )  # fmt: skip
    paper.check(
        "Fig. 1: the entropy distance is the one that is least like the others",
        float(entropy.max()) < float(rest.min()),
        f"at most {entropy.max():.2f} with any other, these at least {rest.min():.2f} with each other",
    )
    paper.check("Fig. 1: L1 reads highest", max(mean, key=lambda name: mean[name]) == "l1", f"{mean['l1']:.3f}")
    paper.check(
        "Fig. 1: L1 is twice the EMD of equally far values, so neither tells more than the other",
        bool(np.allclose(lengths["l1"], 2 * lengths["emd"], atol=1e-12)),
        f"{len(order)} classes",
    )
    rows = [
        {"class": place + 1, "distance": name, "value": float(lengths[name][i])}
        for name in names
        for place, i in enumerate(order)
    ]
    paper.figure(
        "afifi-fig1",
        "Fig. 1, distances of each class from the table",
        f"{len(order)} classes of Adult (age in 5 years, workclass in two groups), sorted by L1. What rises with L1 tells the same; the entropy "
        "distance goes its own way.",
        "distances",
        rows,
        order=names,
    )
    lower = ", ".join(name for name in names if mean[name] > mean["euclidean"] and name not in ("l1", "entropy"))
    difference = (
        f"Fig. 1 is an image, and what it was drawn from is not told; ours is of {len(order)} classes of Adult. That L1 and the euclidean distance "
        f"are the most sensitive does not come out: the euclidean one reads lower than {lower}, since it shrinks as a change spreads over values."
    )
    paper.differences.append(difference)
    paper.part("Fig. 1: distances, over classes of Adult", *lines)


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks, equal values at their mean."""
    _, where, times = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    return ((last - times + last - 1) / 2)[where]


def _pictures(paper: PaperDraft, name: str, title: str, leaks: Leakage, index: int, caption: str) -> None:
    """The leakages of all classes (a), and prior and published distribution of one (b)."""
    labels = _labels(leaks)
    bars = [
        {"class": f"C{i + 1}", "label": labels[i], "leakage": measure, "value": float(values[i])}
        for measure, values in (("distribution", leaks.distribution), ("entropy", leaks.entropy))
        for i in range(len(leaks))
    ]
    before, after = leaks.belief(index)
    values = [
        {"value": place + 1, "which": which, "share": float(share)}
        for which, shares in (("original", before), ("published", after))
        for place, share in enumerate(shares)
    ]
    order = [f"C{i + 1}" for i in range(len(leaks))]
    paper.figure(
        f"{name}a", f"{title}, a: leakage of each class", caption, "leakages", bars, order=order, labels=labels
    )
    paper.figure(
        f"{name}b",
        f"{title}, b: original and published distribution of C{index + 1}",
        f"C{index + 1} is {labels[index]}, {leaks.rows[index]:,} rows; the occupations in alphabetical order.",
        "belief",
        values,
    )


def _figure_2(paper: PaperDraft, table: Table) -> None:
    """n = 2 under 0.5-closeness, 6-diversity and k = 6; and under 0.1-closeness and 13-diversity."""
    roles = _roles(table, "age", "workclass")
    best = optimal_generalization(table, roles, require=_limits(6, 0.5))
    release = best.release(table, roles)
    leaks, worst = _leaks(release, roles), 6
    labels = _labels(leaks)
    close = optimal_generalization(table, roles, require=_limits(13, 0.1))
    two = _leaks(close.release(table, roles), roles)
    exact = table.count(("age",))
    ages = np.array([int(str(text)) for text in exact.columns[0].texts])[exact.codes[0]]
    ratio = {cut: float(exact.n[ages >= cut].sum() / exact.n[ages < cut].sum()) for cut in range(18, 90)}
    fits = [cut for cut, value in ratio.items() if 0.01245 / 0.04775 <= value <= 0.01255 / 0.04765]
    prior = two.belief(0)[0]
    lines = (
        *domain_sizes(paper, table, "Table 6", TABLE_6),
        beside("Fig. 2: classes", "8", len(leaks), note=f"{best.nodes} nodes searched: age in 25 years, workclass in 2 groups"),
        stated("Fig. 2: class of the highest entropy leakage", "C7, [75, 100], Gov", f"C{int(leaks.entropy.argmax()) + 1}, {labels[worst]}",
             int(leaks.entropy.argmax()) == worst and labels[worst] == "[75,100), Government"),
        beside("Fig. 2b: values that vanish from C7", "8", int(leaks.vanished[worst]), note=f"{leaks.rows[worst]} rows, L_E {leaks.entropy[worst]:.4f}"),
        only("Fig. 2a: L_D of C1 to C8", leaks.distribution.tolist()),
        only("Fig. 2a: L_E of C1 to C8", leaks.entropy.tolist()),
        beside("0.1-closeness, 13-diversity: L_D", "0.0125, 0.0477", two.distribution.tolist(), open=[0, 1]),
        beside("0.1-closeness, 13-diversity: L_E", "0.0015, 0.0306", two.entropy.tolist(), open=[0, 1]),
        stated("the same: what is certain of C2", "not Armed-Forces", ", ".join(f"not {v}" for v in two.values(1)["vanished"]),
             two.values(1)["vanished"] == ["Armed-Forces"]),
        beside("share of the 8th and 10th occupation in the table", "0.1077, 0.1339", [prior[7], prior[9]], open=[0]),
    )  # fmt: skip
    paper.check(
        "Fig. 2: the 8 classes are the proved optimum, whatever is minimised",
        all(
            optimal_generalization(table, roles, require=_limits(6, 0.5), minimise=m).levels == best.levels
            for m in ("discernibility", "height", "-mutual_information")
        )
        and best.levels == {"age": 2, "workclass": 1},
        f"{best.levels}",
    )
    paper.check(
        "sec. 6.2: the ratio of the two printed L_D, that of the classes' sizes, leaves the cut at 50 alone",
        fits == [50],
        f"0.0125/0.0477 = {0.0125 / 0.0477:.4f}, a cut at 50 gives {ratio[50]:.4f}, 49 {ratio[49]:.4f}, 51 {ratio[51]:.4f}",
    )
    paper.check(
        "sec. 6.2: near optimum k, l and t still rule a value out",
        int(two.vanished[1]) == 1 and len(two) == 2 and close.levels == {"age": 3, "workclass": 2},
        f"l = {distinct_l_diversity(close.release(table, roles), roles).value:.0f}, t = {EQUAL(close.release(table, roles), roles).value:.4f}",
    )
    caption = "0.5-closeness, 6-diversity, k = 6 over age and workclass: C7 is small, lacks 8 of 14 occupations, and stands out by its entropy."
    _pictures(paper, "afifi-fig2", "Fig. 2", leaks, worst, caption)
    later = _leaks(at_levels(table, _cut_at(51), {"age": 1}), _cut_at(51))
    difference = (
        f"Sec. 6.2, 0.1-closeness and 13-diversity: L_D is printed as [0.0125, 0.0477] and L_E as [0.0015, 0.0306], ours are {_list(two.distribution)} and "
        f"{_list(two.entropy)}. Of two classes L_D has the ratio of their sizes, and the printed ratio, {0.0125 / 0.0477:.4f}, is that of a cut at 50 "
        f"({ratio[50]:.4f}) and of no other age, so the classes are ours (a cut at 51, more than 50 years, gives {_list(later.distribution)}). What "
        f"differs is the distribution of the occupations: the 8th is printed as 0.1077 of the original, and {round(prior[7] * table.rows):,} of "
        f"{table.rows:,} rows have it, {prior[7]:.4f}; the 10th, 0.1339, agrees. Where the paper's other occupations come from is not known."
    )
    paper.differences.append(difference)
    paper.part("Fig. 2 and sec. 6.2: age and workclass", *lines)


def _cut_at(age: int) -> Roles:
    return Roles(quasi=("age",), sensitive=(ABOUT,), hierarchies={"age": {"cuts": [[age]]}}, source="sec. 6.2")


def _list(values: FloatArray) -> str:
    return f"[{', '.join(f'{x:.4f}' for x in values)}]"


def _figure_3(paper: PaperDraft, table: Table) -> None:
    """n = 3 under 0.5-closeness, 7-diversity and k = 7: a class that leaks though no value vanishes."""
    roles = _roles(table, "age", "workclass", "education")
    best = optimal_generalization(table, roles, require=_limits(7, 0.5))
    leaks = _leaks(best.release(table, roles), roles)
    index = int(np.where(leaks.vanished == 0, leaks.distribution, -1.0).argmax())
    before, after = leaks.belief(index)
    moved = after - before
    lines = (
        only("classes", len(leaks), note=f"{best.nodes} nodes searched"),
        PaperNumber("share of the 8th and 10th value in the class", "0.0369, 0.3871", f"{after[7]:.4f}, {after[9]:.4f}", "exact", f"printed of C6, ours C{index + 1}", "open"),
        PaperNumber("L_D of the class", "0.2853", f"{leaks.distribution[index]:.4f}", "exact", f"printed of C6, ours C{index + 1}", "open"),
    )  # fmt: skip
    paper.check(
        "Fig. 3: a class leaks though no value vanishes; the 10th value grows most, and the 8th shrinks",
        int(moved.argmax()) == 9 and moved[7] < 0 and int(leaks.vanished[index]) == 0,
        f"C{index + 1}: {before[9]:.4f} to {after[9]:.4f}, {before[7]:.4f} to {after[7]:.4f}, L_D {leaks.distribution[index]:.4f}",
    )
    caption = f"0.5-closeness, 7-diversity, k = 7 over age, workclass and education: {len(leaks)} classes."
    difference = (
        "Fig. 3: the class is another one. The printed one, C6, has 0.0369 and 0.3871 of the 8th and 10th value and L_D = 0.2853; ours is the most "
        "leaking of those from which no value vanishes, and the same two values move the same way."
    )
    _pictures(paper, "afifi-fig3", "Fig. 3", leaks, index, caption)
    paper.differences.append(difference)
    paper.part("Fig. 3: age, workclass and education", *lines)


def _figure_4(paper: PaperDraft, table: Table) -> None:
    """Four sets of quasi-identifiers, and then all pairs: the question that sec. 7 leaves open."""
    rows, counts, searched = [], [], []
    shown: dict[tuple[str, ...], Leakage] = {}
    for names in FIG_4:
        roles = _roles(table, *names)
        made = at_levels(table, roles, {name: INFERRED[name] for name in names})
        shown[names] = _leaks(made, roles)
        counts.append(len(shown[names]))
        best = optimal_generalization(table, roles, require=_limits(6, 0.5))
        searched.append(len(best.release(table, roles).evidence(roles).tuples))
        rows += [
            {"qid": _qid(names), "class": f"C{i + 1}", "leakage": measure, "value": float(values[i])}
            for measure, values in (("distribution", shown[names].distribution), ("entropy", shown[names].entropy))
            for i in range(counts[-1])
        ]
    pair = _roles(table, *FIG_4[1])
    far = EQUAL(at_levels(table, pair, {name: INFERRED[name] for name in FIG_4[1]}), pair).value
    choice = qid_choice(table, _roles(table, *QUASI), require=_limits(6, 0.5), max_columns=2)
    front = choice.frontier("entropy_leakage")
    worst = [shown[names].worst for names in FIG_4]
    lines = [
        beside("classes at QID (1,2), (2,3), (2,4), (3,4), at 25 years and 2, 3, 2 groups", "8, 6, 4, 6", counts),
        beside("the same, by search under 0.5-closeness, 6-diversity, k = 6", "8, 6, 4, 6", searched, open=[1], note=f"(2,3) is {far:.4f} from the table, beyond 0.5"),
        only("largest L_D of the four", [one for one, _ in worst]),
        only("largest L_E of the four", [one for _, one in worst]),
        *(
            only(
                f"all {len(choice.releases)} sets, on the frontier: {' and '.join(release.released) or 'nothing'}",
                f"L_D {release.scores['distribution_leakage'].value:.4f}, L_E {release.scores['entropy_leakage'].value:.4f}",
                note=f"loss {number(float(release.loss_all or 0))}, {release.classes} classes",
            )
            for release in front
        ),
    ]  # fmt: skip
    paper.check(
        "Fig. 4: the classes that the four sets leave are 8, 6, 4 and 6",
        counts == [8, 6, 4, 6],
        ", ".join(map(str, counts)),
    )
    paper.check(
        "Fig. 4: of the four sets, (2,3) leaks most, by both leakages",
        bool((np.argmax(worst, axis=0) == 1).all()),
        f"L_D {worst[1][0]:.4f}, L_E {worst[1][1]:.4f}",
    )
    paper.check(
        "sec. 7, left open: the best release of every set of at most two of the seven, proved",
        len(choice.releases) == 28 and all(release.feasible for release in choice.releases),
        f"{choice.checked} of {choice.nodes} nodes judged; {len(front)} sets that no other beats",
    )
    paper.figure(
        "afifi-fig4",
        "Fig. 4, leakage of each class at four sets of quasi-identifiers",
        "1 age, 2 workclass, 3 education, 4 country. The set with the most classes, (1, 2), is not the one that leaks most, (2, 3).",
        "qids",
        rows,
        order=[f"C{i + 1}" for i in range(8)],
        qids=[_qid(names) for names in FIG_4],
    )
    difference = (
        "Fig. 4: the limits behind its four tables are not printed, nor which class C3 is. Under 0.5-closeness, 6-diversity and k = 6 three of four "
        f"come out by search; for (2,3) it merges the workclasses, since a class of the six is {far:.4f} from the table and 0.5 is asked."
    )
    paper.differences.append(difference)
    paper.part("Fig. 4: the choice of quasi-identifiers", *lines)


def _qid(names: Sequence[str]) -> str:
    return f"({', '.join(str(QUASI.index(name) + 1) for name in names)})"
