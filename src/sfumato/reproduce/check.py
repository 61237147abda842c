"""What a reproduction is made of: printed numbers beside ours, shapes that must come out, and errata with their proof.

A printed number agrees if ours rounds to it at its own digits, and is cut off if ours begins with it (papers often print 0.73 for
0.7375). One that does neither must be named before: as an erratum, which then needs a proof, or as an open difference. A number
that was named and agrees after all is reported as differing, so that no list of errata can grow stale.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Any

from ..core.noun import dataclass

WORST = ("agrees", "cut off", "open", "erratum", "differs")
"""What can be said of a printed number, the worst last; nothing where nothing is printed."""


@dataclass(frozen=True)
class PaperNumber:
    """A number as the paper prints it, and ours."""

    what: str
    printed: str
    ours: str
    exactness: str
    note: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class ShapeCheck:
    """A shape that must come out, whether it does, and the numbers behind it."""

    text: str
    holds: bool
    seen: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # numpy has a truth of its own, which JSON does not take


@dataclass(frozen=True)
class Erratum:
    """What is printed, what is right, the computation that shows it, and whether it does."""

    where: str
    printed: str
    right: str
    proof: str
    shown: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "shown", bool(self.shown))


@dataclass(frozen=True)
class PaperFigure:
    """The numbers of a figure and which kind of drawing they are for; drawn by `report.paper_figures`."""

    name: str
    title: str
    caption: str
    kind: str
    rows: tuple[dict[str, Any], ...]
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """Some lines under one heading."""

    title: str
    lines: tuple[PaperNumber, ...]
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper reproduced. `lacking` says in a sentence what could not be run because the data is not there."""

    key: str
    cite: str
    parts: tuple[Part, ...]
    checks: tuple[ShapeCheck, ...]
    errata: tuple[Erratum, ...]
    differences: tuple[str, ...]
    figures: tuple[PaperFigure, ...] = ()
    lacking: str = ""

    @property
    def lines(self) -> tuple[PaperNumber, ...]:
        """The lines of all parts."""
        return tuple(line for part in self.parts for line in part.lines)

    @property
    def holds(self) -> bool:
        """Whether every check holds, every erratum is proved, and no printed number differs without a word."""
        return all(check.holds for check in (*self.checks, self.agreement)) and all(e.shown for e in self.errata)

    @property
    def agreement(self) -> ShapeCheck:
        """How the printed numbers compare."""
        seen = [line.verdict for line in self.lines if line.verdict]
        verdicts = ", ".join(f"{seen.count(word)} {word}" for word in WORST if word in seen)
        return ShapeCheck(
            "every printed number agrees, or is an erratum or an open difference", "differs" not in seen, verdicts
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the figures, for machines."""
        content = dataclasses.asdict(dataclasses.replace(self, figures=()))
        content.pop("figures")
        content["checks"] = [dataclasses.asdict(check) for check in (*self.checks, self.agreement)]
        return {"paper": self.cite, "holds": self.holds, **content}


@dataclass(eq=False)
class PaperDraft:
    """A paper as it is being reproduced: each step adds its lines, checks, errata and figures."""

    key: str
    cite: str
    parts: list[Part] = field(default_factory=list)
    checks: list[ShapeCheck] = field(default_factory=list)
    errata: list[Erratum] = field(default_factory=list)
    figures: list[PaperFigure] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def part(self, title: str, *lines: PaperNumber, note: str = "") -> None:
        """Lines under a heading."""
        self.parts.append(Part(title, lines, note))

    def check(self, text: str, holds: bool, seen: str) -> None:
        """A shape that must come out."""
        self.checks.append(ShapeCheck(text, holds, seen))

    def erratum(self, where: str, printed: str, right: str, proof: str, shown: bool) -> None:
        """An error in print, and its proof."""
        self.errata.append(Erratum(where, printed, right, proof, shown))

    def figure(
        self, name: str, title: str, caption: str, kind: str, rows: Iterable[dict[str, Any]], **more: Any
    ) -> None:
        """The numbers of a figure."""
        self.figures.append(PaperFigure(name, title, caption, kind, tuple(rows), more))

    def done(self, lacking: str = "") -> Paper:
        """The paper; `lacking` says what data was not there."""
        return Paper(
            key=self.key,
            cite=self.cite,
            parts=tuple(self.parts),
            checks=tuple(self.checks),
            errata=tuple(self.errata),
            differences=tuple(self.differences),
            figures=tuple(self.figures),
            lacking=lacking,
        )


def beside(
    what: str,
    printed: str,
    ours: float | Sequence[float],
    *,
    wrong: Collection[int] = (),
    open: Collection[int] = (),
    note: str = "",
) -> PaperNumber:
    """A line of printed numbers, comma apart, and ours; `wrong` and `open` are the places that are known to differ.

    Printed numbers may be fractions (2/3), roots over a number (√8/12) and percentages (88%).
    """
    values = [float(ours)] if isinstance(ours, int | float) else [float(x) for x in ours]
    texts = [text.strip() for text in printed.split(",")]
    if len(texts) != len(values):
        raise ValueError(f"{what}: {len(texts)} numbers are printed and {len(values)} given.")
    verdicts = []
    for i, (text, value) in enumerate(zip(texts, values, strict=True)):
        seen = _verdict(text, value)
        if i in wrong or i in open:
            seen = ("erratum" if i in wrong else "open") if seen == "differs" else "differs"
        verdicts.append(seen)
    spelled = ", ".join(_spell(text, value) for text, value in zip(texts, values, strict=True))
    return PaperNumber(what, printed, spelled, "exact", note, max(verdicts, key=WORST.index))


def only(what: str, ours: float | Sequence[float] | str, *, note: str = "", exactness: str = "exact") -> PaperNumber:
    """A line of which the paper prints no number, or prints it in a figure alone."""
    if isinstance(ours, str):
        return PaperNumber(what, "-", ours, exactness, note)
    values = [ours] if isinstance(ours, int | float) else ours
    return PaperNumber(what, "-", ", ".join(number(x) for x in values), exactness, note)


def stated(what: str, printed: str, ours: str, holds: bool) -> PaperNumber:
    """A line of which the paper says something that is no number."""
    return PaperNumber(what, printed, ours, "exact", "", "agrees" if holds else "differs")


def number(x: float) -> str:
    """Four digits after the point; whole numbers whole."""
    if math.isinf(x):
        return "no bound"
    return f"{x:,.0f}" if float(x).is_integer() else f"{x:.4f}"


def _read(text: str) -> tuple[float, int | None]:
    """A printed number, and how many digits it has after its point; None for one that is meant exactly."""
    if match := re.fullmatch(r"√(\d+)/(\d+)", text):
        return math.sqrt(int(match[1])) / int(match[2]), None
    if re.fullmatch(r"\d+/\d+", text):
        return float(Fraction(text)), None
    if text.endswith("%"):
        digits = len(text[:-1].partition(".")[2])
        return float(text[:-1]) / 100, digits + 2
    plain = text.replace(",", "")
    return float(plain), len(plain.partition(".")[2])


def _verdict(text: str, value: float) -> str:
    printed, digits = _read(text)
    if digits is None:
        return "agrees" if abs(printed - value) <= 1e-9 else "differs"
    unit = 10.0**-digits
    if abs(printed - value) <= unit / 2 * (1 + 1e-9):
        return "agrees"
    return "cut off" if 0 <= value - printed < unit * (1 - 1e-9) else "differs"


def _spell(text: str, value: float) -> str:
    return f"{100 * value:.2f}%" if text.endswith("%") else number(value)
