"""The demo's census-like town: a table of people who do not exist, drawn from joint distributions of our own.

Nobody in it is real and nothing is fitted to a data set. Every probability below is a round number whose *shape* is
common knowledge (women outlive men, schooling rises with the younger cohorts, incomes have a long right tail), because
a demo of disclosure risk is only honest when columns depend on each other as they do in a census: independent columns
would make a release look far less revealing than it is.

The columns are drawn in the order in which they cause each other:

    age, sex, area -> birth country, schooling -> marital status, work -> household, income, diagnosis -> gaps
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.files import write_whole
from ..core.noun import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

Reals = NDArray[np.float64]
Codes = NDArray[np.int64]

# A shrinking-birth pyramid, people of each age relative to the largest cohort: narrow base, bulge at 45-60, thin top.
PYRAMID = ((0, 20, 35, 48, 60, 70, 80, 90, 101), (0.55, 0.65, 0.75, 1.0, 0.95, 0.70, 0.45, 0.14, 0.0))
# More boys are born than girls; women live longer.
SHARE_OF_WOMEN = ((0, 45, 65, 80, 95), (0.487, 0.50, 0.52, 0.58, 0.74))

# prefix -> (population, factor on degrees, factor on births abroad): cities school more and attract more migrants.
REGIONS = {
    "01": (3.0, 1.4, 1.6), "04": (1.0, 0.8, 0.6), "17": (2.0, 1.1, 1.2),
    "32": (1.2, 0.9, 0.8), "58": (1.5, 1.0, 1.0), "86": (0.8, 0.7, 0.5),
}  # fmt: skip
# Ten areas a region; neighbours share digits from the left, so that each digit masked from the right merges some.
AREAS = ("001", "005", "031", "034", "112", "118", "150", "155", "210", "274")

# country -> (weight, its part of the world, its continent): one home country, a few neighbours, a long tail.
COUNTRIES = {
    "Italy": (880, "Southern Europe", "Europe"), "Romania": (24, "Eastern Europe", "Europe"),
    "Albania": (14, "Southern Europe", "Europe"), "Morocco": (12, "Northern Africa", "Africa"),
    "Ukraine": (9, "Eastern Europe", "Europe"), "China": (8, "Eastern Asia", "Asia"),
    "Germany": (6, "Western Europe", "Europe"), "India": (5, "Southern Asia", "Asia"),
    "Philippines": (5, "South-eastern Asia", "Asia"), "Egypt": (4, "Northern Africa", "Africa"),
    "Bangladesh": (4, "Southern Asia", "Asia"), "Peru": (4, "South America", "Americas"),
    "Senegal": (3, "Western Africa", "Africa"), "Nigeria": (3, "Western Africa", "Africa"),
    "France": (3, "Western Europe", "Europe"), "Brazil": (3, "South America", "Americas"),
    "United States": (1.2, "Northern America", "Americas"), "Viet Nam": (0.8, "South-eastern Asia", "Asia"),
    "Japan": (0.5, "Eastern Asia", "Asia"), "Iceland": (0.2, "Northern Europe", "Europe"),
}  # fmt: skip

# Highest level completed -> (youngest possible age, two coarser levels, weight by age): schooling rose by cohort.
COHORTS = (25, 45, 65, 85)
EDUCATION: dict[str, tuple[int, str, str, Sequence[float]]] = {
    "no schooling": (0, "compulsory or less", "no degree", (0.5, 1, 2, 8)),
    "primary": (11, "compulsory or less", "no degree", (1, 3, 12, 42)),
    "lower secondary": (14, "compulsory or less", "no degree", (10, 20, 30, 25)),
    "vocational": (18, "upper secondary", "no degree", (18, 20, 17, 8)),
    "upper secondary": (18, "upper secondary", "no degree", (32, 31, 24, 11)),
    "bachelor": (21, "tertiary", "degree", (22, 13, 7, 3)),
    "master": (23, "tertiary", "degree", (15, 11, 7, 3)),
    "doctorate": (27, "tertiary", "degree", (1.5, 1.2, 0.8, 0.2)),
}

# status -> (two coarser levels, weight at each age below): weddings near thirty, then divorces, widowhood at the end.
WEDDED = (18, 22, 28, 35, 50, 65, 80, 95)
MARITAL: dict[str, tuple[str, str, Sequence[float]]] = {
    "never married": ("never partnered", "unpartnered", (99.5, 95, 70, 38, 16, 8, 6, 6)),
    "married": ("partnered", "partnered", (0.3, 4, 26, 53, 64, 68, 54, 22)),
    "registered partner": ("partnered", "partnered", (0.1, 0.5, 2, 2, 1, 0.3, 0.1, 0)),
    "separated": ("formerly partnered", "unpartnered", (0, 0.2, 1, 3, 5, 3, 1, 0.3)),
    "divorced": ("formerly partnered", "unpartnered", (0, 0.1, 1, 4, 11, 9, 4, 2)),
    "widowed": ("formerly partnered", "unpartnered", (0, 0, 0.1, 0.3, 1.5, 7, 24, 60)),
}


@dataclass(frozen=True)
class Occupation:
    """An occupation: its two coarser levels, who holds it and what it pays."""

    group: str
    kind: str
    schooling: tuple[float, float, float, float]  # weight after compulsory, upper secondary, bachelor, more
    women: float  # factor for women: trades remain segregated by sex
    pay: float  # factor on income


OCCUPATIONS = {
    "farm worker": Occupation("land and building", "manual", (9, 3, 0.5, 0.2), women=0.5, pay=0.75),
    "construction worker": Occupation("land and building", "manual", (14, 5, 0.3, 0), women=0.05, pay=0.90),
    "electrician": Occupation("land and building", "manual", (3, 8, 0.5, 0.1), women=0.05, pay=1.05),
    "factory worker": Occupation("industry", "manual", (16, 9, 1, 0.2), women=0.6, pay=0.95),
    "driver": Occupation("industry", "manual", (9, 6, 0.6, 0.2), women=0.15, pay=0.90),
    "cleaner": Occupation("personal services", "service", (14, 4, 0.5, 0.1), women=4.0, pay=0.70),
    "hairdresser": Occupation("personal services", "service", (3, 5, 0.4, 0.1), women=5.0, pay=0.75),
    "sales assistant": Occupation("sales and protection", "service", (10, 14, 4, 1), women=1.8, pay=0.82),
    "police officer": Occupation("sales and protection", "service", (0, 4, 2, 1), women=0.3, pay=1.10),
    "care worker": Occupation("health", "professional", (4, 6, 1.5, 0.3), women=5.0, pay=0.80),
    "nurse": Occupation("health", "professional", (0, 1, 12, 4), women=3.5, pay=1.00),
    "physician": Occupation("health", "professional", (0, 0, 0, 13), women=0.9, pay=1.90),
    "office clerk": Occupation("business", "professional", (3, 15, 13, 6), women=2.0, pay=0.92),
    "accountant": Occupation("business", "professional", (0.2, 4, 10, 8), women=1.2, pay=1.15),
    "manager": Occupation("business", "professional", (0.8, 3, 8, 12), women=0.5, pay=1.70),
    "teacher": Occupation("learning and law", "professional", (0, 0.5, 13, 17), women=3.0, pay=0.95),
    "lawyer": Occupation("learning and law", "professional", (0, 0, 0, 9), women=0.9, pay=1.55),
    "engineer": Occupation("technology", "professional", (0, 1, 12, 15), women=0.25, pay=1.30),
    "software developer": Occupation("technology", "professional", (0.3, 3, 9, 8), women=0.3, pay=1.30),
}

# Of each age, the share at work, and the share of the others who still state their last occupation.
AT_WORK = ((15, 16, 20, 30, 50, 58, 64, 68, 75, 85), (0, 0.08, 0.42, 0.84, 0.86, 0.78, 0.45, 0.12, 0.03, 0))
STATES_LAST_JOB = ((17, 25, 40, 60, 70, 85), (0, 0.25, 0.45, 0.45, 0.30, 0.05))


@dataclass(frozen=True, kw_only=True)
class Illness:
    """A diagnosis: its weight at each age of AILING, the factor for women, and factors for groups of occupations."""

    ages: Sequence[float]
    women: float = 1.0
    jobs: dict[str, float] = field(default_factory=dict)


# Mostly nothing, then the common chronic conditions of each age, then a few rare ones that mark those who have them.
AILING = (0, 15, 30, 45, 60, 75, 95)
DIAGNOSES = {
    "healthy": Illness(ages=(90, 84, 78, 66, 45, 26, 14)),
    "asthma": Illness(ages=(6, 7, 4, 3, 3, 3, 2), jobs={"industry": 1.8, "personal services": 1.8}),
    "hypertension": Illness(ages=(0, 0.2, 2, 9, 20, 27, 25)),
    "diabetes": Illness(ages=(0.2, 0.5, 1, 3, 9, 13, 11), women=0.8),
    "back pain": Illness(ages=(0, 0.5, 4, 8, 9, 8, 6), jobs={"land and building": 3, "health": 1.8}),
    "depression": Illness(ages=(0, 3, 5, 5, 5, 5, 6), women=1.8, jobs={"health": 1.7, "learning and law": 1.6}),
    "migraine": Illness(ages=(0.3, 3, 4.5, 4, 2, 1, 0.5), women=2.8),
    "heart disease": Illness(ages=(0.1, 0.1, 0.3, 1, 5, 11, 18), women=0.6),
    "cancer": Illness(ages=(0.1, 0.1, 0.4, 1.5, 4, 6, 6)),
    "dementia": Illness(ages=(0, 0, 0, 0, 0.2, 3, 18), women=1.2),
    "epilepsy": Illness(ages=(0.6, 0.6, 0.5, 0.5, 0.5, 0.6, 0.7)),
    "HIV infection": Illness(ages=(0, 0, 0.4, 0.5, 0.2, 0.1, 0), women=0.4),
}

# Invented, so that no row can be taken for somebody.
WOMEN = ("Alirea", "Bemina", "Corvella", "Dovia", "Elunda", "Fiorsa", "Isolma", "Mirtea", "Orsenda", "Quillia")
MEN = ("Aldrino", "Bertovo", "Corvano", "Dalmiro", "Falteo", "Gondrio", "Ludrano", "Pelligo", "Tancrio", "Zandro")
FAMILIES = ("Abbarello", "Bracchienti", "Calvestri", "Dormegna", "Estarolli", "Fravino", "Gorvetti", "Imbraldi",
            "Larvesio", "Mondrelli", "Nespriano", "Ostravelli", "Pradonzi", "Tavrenghi", "Zorbelli")  # fmt: skip

# ARX's format: one row for each value, itself first, then coarser and coarser, '*' last.
HIERARCHIES: dict[str, list[list[str]]] = {
    "birth_country": [[name, part, continent, "*"] for name, (_, part, continent) in COUNTRIES.items()],
    "education": [[name, stage, degree, "*"] for name, (_, stage, degree, _) in EDUCATION.items()],
    "marital_status": [[name, past, now, "*"] for name, (past, now, _) in MARITAL.items()],
    "occupation": [[name, job.group, job.kind, "*"] for name, job in OCCUPATIONS.items()],
}


def people(rows: int = 30_000, *, seed: int = 2026) -> pa.Table:
    """`rows` fictitious people, one a row, in no order; the same for the same `rows`, `seed` and version."""
    if rows < 1:
        raise ValueError(f"a town has at least one person: rows = {rows}")
    import pyarrow as pa  # here, so that importing this module stays cheap

    rng = np.random.default_rng(seed)
    # Who they are, and where.
    age = rng.choice(101, rows, p=_shares(np.interp(np.arange(101), *PYRAMID)))
    woman = rng.random(rows) < np.interp(age, *SHARE_OF_WOMEN)
    population, degrees, abroad = np.array(list(REGIONS.values())).T
    towns = np.outer(population, 1 / np.arange(1, len(AREAS) + 1)).ravel()  # Zipf's law in each region
    area = rng.choice(len(towns), rows, p=_shares(towns))
    region = area // len(AREAS)

    # People move as young adults, so that children are rarely born abroad.
    country_weight = np.tile([weight for weight, *_ in COUNTRIES.values()], (rows, 1)).astype(float)
    country_weight[:, 1:] *= (abroad[region] * np.interp(age, (0, 18, 30, 45, 70), (0.2, 0.7, 1.8, 1.6, 0.4)))[:, None]
    country = _draw(rng, country_weight)

    # The level that each will reach, cut at what their age allows: women overtook men in degrees two generations ago.
    reach = _curves(age, COHORTS, [weights for *_, weights in EDUCATION.values()])
    reach[:, 5:] *= (degrees[region] * np.where(woman, np.interp(age, (30, 80), (1.3, 0.5)), 1.0))[:, None]
    youngest = [first for first, *_ in EDUCATION.values()]
    education = np.minimum(_draw(rng, reach), np.searchsorted(youngest, age, side="right") - 1)

    # Men marry some years later; wives outlive husbands.
    status_weight = _curves(age - 2.5 * ~woman, WEDDED, [weights for *_, weights in MARITAL.values()])
    status_weight[:, 5] *= np.where(woman, 1.7, 0.5)
    marital = np.where(age < 18, 0, _draw(rng, status_weight))
    partnered = (marital == 1) | (marital == 2)

    # Work: everybody has an occupation drawn, but only those at work, and some who were, will state it.
    jobs = list(OCCUPATIONS.values())
    job_weight = np.array([job.schooling for job in jobs]).T[np.digitize(education, (3, 5, 6))]
    job_weight *= np.where(woman[:, None], [job.women for job in jobs], 1.0)
    job_weight[age < 28, list(OCCUPATIONS).index("manager")] = 0  # nobody starts at the top
    occupation = _draw(rng, job_weight)
    at_work = rng.random(rows) < np.interp(age, *AT_WORK) * np.where(woman, 0.88, 1.0)
    stated = at_work | (rng.random(rows) < np.interp(age, *STATES_LAST_JOB))

    # Under one's roof: a partner, or a parent of the young; then children, brothers and sisters, or other kin.
    others = np.where(partnered, np.interp(age, (20, 38, 50, 65), (0.3, 1.5, 1.1, 0.1)), 0.5)
    household = np.minimum(1 + (partnered | (age < 20)) + rng.poisson(np.where(age < 20, 1.8, others)), 9)

    # Log-normal pay that peaks in the fifties; pensions are a part of it, and most of the others live on somebody's.
    pay = 19_500 * np.array([0.8, 0.85, 0.92, 1.05, 1.1, 1.3, 1.5, 1.75])[education]
    pay *= np.array([job.pay for job in jobs])[occupation] * np.where(woman, 0.88, 1.0)
    pay *= np.interp(age, (16, 25, 40, 54, 70), (0.45, 0.75, 1.1, 1.25, 1.15)) * rng.lognormal(0, 0.32, rows)
    kept = np.where(age >= 64, 0.65, np.where((age >= 18) & (rng.random(rows) < 0.4), 0.25, 0.0))
    income = np.rint(pay * np.where(at_work, 1.0, kept) / 100).astype(np.int64) * 100

    illness_weight = _curves(age, AILING, [illness.ages for illness in DIAGNOSES.values()])
    illness_weight *= np.where(woman[:, None], [illness.women for illness in DIAGNOSES.values()], 1.0)
    strain = np.array([[illness.jobs.get(job.group, 1.0) for illness in DIAGNOSES.values()] for job in jobs])
    illness_weight *= np.where(stated[:, None], strain[occupation], 1.0)
    diagnosis = _draw(rng, illness_weight)

    # What the form lacks: newcomers skip where they are from, the poor and the rich what they earn, the young where
    # they live; nobody asks a child for an income.
    no_country = rng.random(rows) < np.where(country > 0, 0.05, 0.015)
    no_income = (age >= 16) & (rng.random(rows) < np.where((income < 5_000) | (income > 50_000), 0.06, 0.025))
    no_postal = rng.random(rows) < np.where((age >= 18) & (age < 35), 0.012, 0.004)
    no_occupation = ~stated | (rng.random(rows) < 0.01)

    given = rng.integers(len(WOMEN), size=rows) + len(WOMEN) * ~woman
    family = rng.choice(len(FAMILIES), rows, p=_shares(1 / np.arange(2, len(FAMILIES) + 2)))
    number = np.char.zfill((rng.permutation(rows) + 1).astype(str), 6)  # shuffled: a number tells no position

    def text(labels: Iterable[str], codes: Codes, missing: NDArray[np.bool_] | None = None) -> pa.Array:
        return pa.array(labels, pa.string()).take(pa.array(codes, pa.int64(), mask=missing))

    return pa.table(
        {
            "person_id": pa.array(np.char.add("P-", number), pa.string()),
            "name": text([f"{a} {b}" for a in WOMEN + MEN for b in FAMILIES], given * len(FAMILIES) + family),
            "age": pa.array(age, pa.int64()),
            "sex": text(("male", "female"), woman.astype(np.int64)),
            "postal_code": text([prefix + rest for prefix in REGIONS for rest in AREAS], area, no_postal),
            "birth_country": text(COUNTRIES, country, no_country),
            "education": text(EDUCATION, education),
            "marital_status": text(MARITAL, marital),
            "occupation": text(OCCUPATIONS, occupation, no_occupation),
            "household_size": pa.array(household, pa.int64()),
            "income": pa.array(income, pa.int64(), mask=no_income),
            "diagnosis": text(DIAGNOSES, diagnosis),
        }
    )


def roles_toml() -> str:
    """What each column is to an adversary, and how the quasi-identifiers may be coarsened, as TOML."""
    taxonomies = "\n".join(f'{column} = "hierarchies/{column}.csv"' for column in HIERARCHIES)
    return f"""[roles]
identifiers = ["person_id", "name"]
quasi = ["age", "sex", "postal_code", "birth_country", "education", "marital_status", "occupation"]
sensitive = ["diagnosis", "income"]
insensitive = ["household_size"]

[hierarchies]
age = {{ widths = [5, 10, 20] }}        # years in an interval, level by level
postal_code = {{ prefix = [1, 2, 3] }}  # characters masked from the right, level by level
{taxonomies}
"""


def write_town(folder: Path, *, rows: int = 30_000, seed: int = 2026) -> dict[str, Path]:
    """Write people.csv, roles.toml and hierarchies/*.csv under `folder`; where each went, by its name."""
    paths = {"people": folder / "people.csv", "roles": folder / "roles.toml"}
    paths |= {column: folder / "hierarchies" / f"{column}.csv" for column in HIERARCHIES}
    (folder / "hierarchies").mkdir(parents=True, exist_ok=True)
    table = people(rows, seed=seed)
    # Python's own writer: pyarrow's quotes every text or none, and the sample should look like anybody's CSV.
    _write_csv(paths["people"], [table.column_names, *zip(*table.to_pydict().values(), strict=True)], ",")
    for column, taxonomy in HIERARCHIES.items():
        _write_csv(paths[column], taxonomy, ";")
    write_whole(paths["roles"], roles_toml())
    return paths


def _write_csv(path: Path, lines: Iterable[Iterable[object]], delimiter: str) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(lines)  # a missing value is an empty field
    write_whole(path, text.getvalue())


def _shares(weights: Reals) -> Reals:
    shares: Reals = weights / weights.sum()
    return shares


def _curves(at: Codes | Reals, knots: Sequence[float], curves: Iterable[Sequence[float]]) -> Reals:
    """Weights (rows x curves): each curve read at each row's `at`, straight between its knots."""
    return np.column_stack([np.interp(at, knots, curve) for curve in curves])


def _draw(rng: np.random.Generator, weights: Reals) -> Codes:
    """One category for each row, in proportion to that row's weights; never one of weight zero."""
    reached = np.cumsum(weights, axis=1)
    codes: Codes = (reached <= rng.random((len(weights), 1)) * reached[:, -1:]).sum(axis=1)
    return codes
