"""The owner's two questions, to whom and how bad, and the limits that published guidance draws from the answers.

Overall risk = data risk x context risk (IPC Ontario 2016): what a release allows an adversary to do, times how likely anyone who
has it tries. A public release has context risk 1. Under agreement and on site it is the largest of three: an insider who
tries, a recipient who happens to know somebody in the data, and a breach of the recipient's systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

from .. import metrics
from ..core.errors import InputError
from ..core.metric import Requirement, spell_bound, spell_number
from ..core.noun import dataclass
from ..core.roles import Roles
from ..core.words import up
from ..metrics.privacy.hipaa_rules import hipaa_rules
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.marketer_risk import marketer_risk
from ..metrics.privacy.prosecutor_risk import prosecutor_risk

To = Literal["public", "agreement", "onsite"]
Impact = Literal["low", "medium", "high"]
Grade = Literal["low", "medium", "high"]

QUESTIONS: dict[str, dict[str, str]] = {
    "to": {
        "public": "anyone can get it (a website, open data)",
        "agreement": "named recipients who sign an agreement",
        "onsite": "researchers who work with it in your rooms, or in an enclave that you control",
    },
    "impact": {
        "low": "a disclosure would be a nuisance",
        "medium": "a disclosure could embarrass someone, or cost them money or standing",
        "high": "a disclosure could do someone serious harm (health, legal status, violence, discrimination)",
    },
}

LIMIT = {"low": 0.1, "medium": 0.075, "high": 0.05}
"""The overall risk that is taken for each impact (IPC Ontario 2016; ISO/IEC 27559:2022 as adapted by IHE)."""
INSIDER: dict[str, tuple[float, float, float]] = {
    "high": (0.05, 0.1, 0.2),
    "medium": (0.2, 0.3, 0.4),
    "low": (0.4, 0.5, 0.6),
}
"""The chance that an insider tries: controls high, medium, low; motives low, medium, high (IPC Ontario 2016)."""
ACQUAINTANCES = 150
"""How many people a recipient knows well enough (Dunbar's number; guidance takes 150 to 190)."""

IPC = "IPC Ontario 2016, De-identification Guidelines for Structured Data; ISO/IEC 27559:2022 as adapted by IHE"
GBT = "GB/T 42460-2023"


@dataclass(frozen=True)
class Limit:
    """One limit: what is required, the k it fixes, the risk that implies, and who says so."""

    text: str
    source: str
    sentence: str
    k: int | None = None

    @property
    def requirement(self) -> Requirement:
        """What is required."""
        return metrics.require(self.text)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "requirement": self.text,
            "k": self.k,
            "risk": None if self.k is None else 1 / self.k,
            "sentence": self.sentence,
            "source": self.source,
        }


@dataclass(frozen=True)
class Context:
    """To whom a table is released, and how bad a disclosure would be; or a preset of a guidance by name."""

    to: To = "public"
    impact: Impact = "high"
    controls: Grade = "medium"
    """The recipient's controls: access, training, audits."""
    motives: Grade = "medium"
    """How much a recipient would gain from identifying someone, and how able they are to."""
    known: float = 0.0
    """The share of the population that is in the table: how likely an acquaintance is in it."""
    breach: float = 0.0
    """The chance of a breach at the recipient's, where it is known."""
    preset: str | None = None
    inference: tuple[Limit, ...] = ()
    """Limits on what may be learned of sensitive columns, which hang on the table (`inference.with_inference`)."""

    def __post_init__(self) -> None:
        for name, kind in (("to", To), ("impact", Impact), ("controls", Grade), ("motives", Grade)):
            if getattr(self, name) not in get_args(kind):
                raise InputError(f"{name} must be one of {', '.join(get_args(kind))}.")
        for name in ("known", "breach"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is a share and must be between 0 and 1.")
        if self.preset is not None and self.preset not in (*PRESETS, *OVERALL, WP29):
            raise InputError(f"Unknown preset {self.preset!r}; choose from {', '.join((*PRESETS, *OVERALL, WP29))}.")

    @property
    def recipients(self) -> To:
        """To whom it is released: the answer, or what the preset is for."""
        return OVERALL[self.preset][0] if self.preset is not None and self.preset in OVERALL else self.to

    @property
    def parts(self) -> dict[str, float]:
        """What the context risk is the largest of."""
        if self.preset in PRESETS:
            return {"preset": 1.0}  # its numbers are limits on the data as they stand
        if self.recipients == "public":
            return {"public": 1.0}
        controls: Grade = "high" if self.recipients == "onsite" else self.controls
        insider = INSIDER[controls][("low", "medium", "high").index(self.motives)]
        acquaintance = 1 - (1 - self.known) ** ACQUAINTANCES
        return {"insider": insider, "acquaintance": acquaintance, "breach": self.breach}

    @property
    def risk(self) -> float:
        """The context risk: how likely it is that someone who has the release tries."""
        return max(self.parts.values())

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits on the data, each with its source."""
        return (*self._identity, *self.inference)

    @property
    def _identity(self) -> tuple[Limit, ...]:
        """The limits on who can be found."""
        if self.preset in PRESETS:
            return PRESETS[self.preset]
        if self.preset is not None and self.preset in OVERALL:
            return (self._overall(*OVERALL[self.preset][1:]),)
        overall = LIMIT[self.impact]
        if self.to == "public":
            k = math.ceil(1 / overall - 1e-9)
            more = " (IPC prints 15; 1/14 is already below 0.075)" if k == 14 else ""
            return (
                Limit(
                    f"prosecutor_risk <= {spell_number(overall)}",
                    IPC,
                    f"Where the impact is {self.impact}, nobody may be found in a public release with a probability above {overall:g}: "
                    f"at least {k} people share every combination{more}.",
                    k,
                ),
            )
        data = _carried(overall, self.risk)
        named = ", ".join(f"{name} {value:.3g}" for name, value in self.parts.items())
        tries = f"someone tries with a probability of {self.risk:.3g} (the largest of {named})"
        free = (
            "" if data < 1 else f" The mean is not limited: {tries}, so even certainty would stay within {overall:g}."
        )
        worst = Limit(
            "k_anonymity >= 3",
            IPC if self.to == "agreement" else f"{GBT} (enclave); {IPC}",
            "However low the mean is, nobody may be found with a probability above one in three: at least 3 people share every "
            f"combination.{free}",
            3,
        )
        if free:
            return (worst,)
        mean = Limit(
            f"marketer_risk <= {spell_bound(data)}",
            IPC,
            f"Where the impact is {self.impact}, the mean risk may be {overall:g} overall; {tries}, so the mean risk in the data may "
            f"be {spell_bound(data)}.",
        )
        return (mean, worst)

    def check(self, roles: Roles) -> None:
        """Refuse roles that the preset does not allow: what it says of columns and no limit on the rows can."""
        if self.preset != "cbs-public":
            return
        if len(roles.quasi) > CBS_VARIABLES:
            raise InputError(
                f"Preset cbs-public allows {CBS_VARIABLES} identifying variables, and the roles file names {len(roles.quasi)} "
                "quasi-identifiers; leave some out by making them identifiers."
            )
        if roles.sensitive:
            raise InputError(
                f"Preset cbs-public allows no sensitive variable, and the roles file names {', '.join(map(repr, roles.sensitive))}; "
                "leave it out by making it an identifier, or choose another preset."
            )

    def _overall(self, k: int, words: str) -> Limit:
        """GB/T 42460: a class size for the kind of release, and data risk x context risk of at most 0.05 (its largest data risk)."""
        need = max(k, math.ceil(self.risk / GBT_OVERALL - 1e-9))
        more = ""
        if self.risk < 1:
            named = ", ".join(f"{name} {value:.3g}" for name, value in self.parts.items())
            more = (
                f" Someone tries with a probability of {self.risk:.3g} (the largest of {named}), so with {need} people the overall "
                f"risk is at most {up(self.risk / need)}; {GBT_OVERALL:g} is allowed."
            )
        least = f"at least {k} people share every combination" + (f", here {need}" if need > k else "")
        sentence = f"{words}: {least}, a risk of at most {up(1 / need)}.{more}"
        return Limit(f"k_anonymity >= {need}", GBT, sentence, need)

    @property
    def require(self) -> tuple[Requirement, ...]:
        """The limits as requirements."""
        return tuple(limit.requirement for limit in self.limits)

    @property
    def axis(self) -> str:
        """The measure of risk that the limits are about."""
        if self.preset in (None, WP29) and self.to != "public":
            return str(marketer_risk)
        measured = [limit.requirement.metric for limit in self.limits]
        # columns that break a rule are no risk to draw: where all rules are kept, how well people are found still differs
        return next((str(metric) for metric in measured if metric.card is not hipaa_rules.card), str(prosecutor_risk))

    @property
    def sentence(self) -> str:
        """The context in words."""
        if self.preset in PRESETS:
            return f"Released under the preset {self.preset}."
        who = f"Released to: {QUESTIONS['to'][self.recipients]}."
        if self.preset in OVERALL:
            return f"Released under the preset {self.preset}. {who} Context risk {self.risk:.3g}."
        more = " Every candidate is put to WP29's tests. The Opinion sets no numbers, so the limits come from the two answers."
        text = f"{who} Impact {self.impact}: {QUESTIONS['impact'][self.impact]}. Context risk {self.risk:.3g}."
        return text + (more if self.preset == WP29 else "")

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "to": None if self.preset in PRESETS else self.recipients,
            "impact": self.impact if self.preset in (None, WP29) else None,
            "preset": self.preset,
            "context_risk": self.risk,
            "parts": self.parts,
            "limits": [limit.to_dict() for limit in self.limits],
        }


def _carried(overall: float, risk: float) -> float:
    """What the data may carry, overall / risk: a fraction such as 1/6 as it is, else four digits, rounded down.

    A limit that is printed is the limit that is held, and classes of six must not fail for a rounded sixth.
    """
    if risk <= overall:
        return 1.0
    exact = Fraction(repr(overall)) / Fraction(repr(risk))
    if exact.denominator <= 1000:
        return exact.numerator / exact.denominator
    return math.floor(overall / risk * 10_000 + 1e-9) / 10_000


def _k(k: int, source: str, words: str) -> Limit:
    return Limit(
        f"k_anonymity >= {k}",
        source,
        f"{words}: at least {k} people share every combination, a risk of at most {up(1 / k)}.",
        k,
    )


def _risk(limit: float, source: str, words: str) -> Limit:
    k = math.ceil(1 / limit - 1e-9)
    return Limit(f"prosecutor_risk <= {spell_number(limit)}", source, words.format(k=k), k)


PRESETS: dict[str, tuple[Limit, ...]] = {
    "clinical-public": (
        _risk(
            0.09,
            "EMA Policy 0070 external guidance v1.5; Health Canada, Public Release of Clinical Information",
            "Public clinical reports: a risk of at most 0.09, which strictly means {k} people in every class (11 is common practice, "
            "but 1/11 is 0.0909).",
        ),
    ),
    "public-use": (_k(5, "sdcMicro vignette; IHSN, Statistical Disclosure Control Practice Guide", "Public use file"),),
    "scientific-use": (
        _k(3, "sdcMicro vignette; IHSN, Statistical Disclosure Control Practice Guide", "Scientific use file"),
    ),
    "cbs-research": (
        Limit(
            "rarest_combination[size=3] >= 100",
            "SDC Handbook 2024, 3.7 (CBS)",
            "Research file of CBS: at least 100 people share region, a very identifying and an identifying variable. The office counts "
            "the population. Sfumato counts every three quasi-identifiers among the released rows, which is stricter. Check yourself "
            "that regions have at least 10,000 people.",
        ),
    ),
    "cbs-public": (
        Limit(
            "rarest_combination[size=1] >= 200000",
            "SDC Handbook 2024, 3.7 (CBS)",
            "Public use file of CBS: at least 200,000 people share each value. Sfumato counts among the released rows, which is "
            "stricter. It also checks in the roles file that there are at most 15 identifying variables and no sensitive ones. "
            "Released rows are sorted, so their order says nothing. Check yourself that areas have 200,000 people and that the data "
            "are a year old.",
        ),
        Limit(
            "rarest_combination[size=2] >= 1000",
            "SDC Handbook 2024, 3.7 (CBS)",
            "Public use file of CBS: at least 1,000 people share each pair of values (household combinations: 5).",
        ),
    ),
    "hipaa": (
        Limit(
            "hipaa_rules <= 0",
            "45 CFR 164.514(b)(2); HHS 2012, guidance on de-identification",
            "Health data under HIPAA's rules on identifiers: no direct identifiers, no date finer than a year, ages of 90 and over "
            "together, ZIP codes of at most three digits and none in areas of 20,000 people or fewer. Check yourself: names within "
            "texts, pictures, other codes that point at one person, and birth years of people who turned 90 only after the latest date "
            "in the table (hipaa_rules[year=...] checks these). Also check that you know of no other way to find someone "
            "(164.514(b)(2)(ii)). The rules do not limit how many people share a combination; require k_anonymity as well if you want "
            "that.",
        ),
    ),
    "output-check": (_k(10, "ONS output checking, cells of at least 10", "Tables that leave a research centre"),),
}
"""Presets that are numbers on the data as they stand."""

OVERALL: dict[str, tuple[To, int, str]] = {
    "gbt-public": ("public", 20, "Released to everyone"),
    "gbt-agreement": ("agreement", 5, "Released under agreement"),
    "gbt-enclave": ("onsite", 3, "Used in an enclave"),
}
"""Presets of GB/T 42460-2023: to whom, the class size, and in words; the context counts, too."""
GBT_OVERALL = 0.05
CBS_VARIABLES = 15
WP29 = "wp29"
"""Opinion 05/2014: singling out, linkability and inference, each measured (`usual.wp29`); it names no limits."""


def smallest_k(require: Sequence[Requirement]) -> int:
    """The least class size that these requirements imply; 1 if they imply none."""
    k = 1
    for requirement in require:
        metric, bound = requirement.metric, requirement.bound
        if metric == k_anonymity and math.isfinite(bound):
            need = math.ceil(bound - 1e-9)
            k = max(k, need if requirement.holds(need) else need + 1)
        elif metric == prosecutor_risk and 0 < bound <= 1:
            need = math.ceil(1 / bound - 1e-9)
            k = max(k, need if requirement.holds(1 / need) else need + 1)
    return k
