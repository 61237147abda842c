"""What a k-anonymity channel is made of, and how a file says it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.toml import opened
from .publishing_rule import Publish, Rule, rule
from .tables import Attribute, Demand, RowDomain

_KEYS = ("rows", "k", "l", "t", "publish", "weights", "attribute")
_ATTRIBUTE = ("name", "role", "levels", "probabilities")


@dataclass(frozen=True, kw_only=True)
class Description:
    """A k-anonymity channel: tables of `rows` rows, what every class of a release must meet, and how one is published.

    `l` (distinct values) and `t` (largest distance) are asked of each sensitive attribute; `k = 1`, `l = 1` and `t = None`
    ask nothing.
    """

    rows: int
    attributes: tuple[Attribute, ...]
    k: int = 1
    l: int = 1  # noqa: E741
    t: float | Fraction | None = None
    publish: Publish = "uniform"

    def __post_init__(self) -> None:
        for name in ("rows", "k", "l"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} must be a whole number of at least 1.")
        if self.t is not None and (
            isinstance(self.t, bool) or not isinstance(self.t, int | float | Fraction) or not 0 <= self.t <= 1
        ):
            raise InputError("t must be a number from 0 to 1.")
        domain = self.domain  # which checks the attributes
        if (self.l > 1 or self.t is not None) and not domain.sensitive:
            raise InputError('l and t are about sensitive values; give an attribute the role = "sensitive".')
        self.rule()

    @property
    def domain(self) -> RowDomain:
        """The possible rows and their generalizations."""
        return RowDomain(tuple(self.attributes))

    @property
    def demand(self) -> Demand:
        """What every class must meet; t as it is written, so that 0.3 is three tenths."""
        t = self.t if self.t is None or isinstance(self.t, Fraction) else Fraction(str(self.t))
        return Demand(k=self.k, l=self.l, t=t)

    def rule(self) -> Rule:
        """How a node is chosen."""
        return rule(self.publish, self.domain.nodes)

    @property
    def prior(self) -> dict[str, Any] | None:
        """Rows drawn independently, if an attribute has probabilities; None: every table alike."""
        said = {a.name: a.probabilities for a in self.attributes if a.probabilities is not None}
        return said or None


def read(path: Path | str) -> Description:
    """A description in TOML: `rows`, `k`, `l`, `t`, `publish`, and for each attribute an `[[attribute]]` with `name`, `role` and
    `levels`, one list per level in the order of the values. `weights`, in node order, go with `publish = "weights"`; `probabilities` of
    attributes say that rows are drawn independently."""
    path = Path(path)
    return parse(opened(path, "file that describes a table"), source=str(path))


def parse(content: Mapping[str, Any], *, source: str = "description") -> Description:
    """From the parsed content of a file."""
    _known(content, _KEYS, source)
    if "rows" not in content:
        raise InputError(f"{source}: say how many rows the table has, such as rows = 5.")
    if not {"k", "l", "t"} & set(content):
        raise InputError(f"{source}: say what every class of a release must meet, such as k = 2.")
    listed = content.get("attribute")
    if not isinstance(listed, list) or not listed or not all(isinstance(a, dict) for a in listed):
        raise InputError(f"{source}: give each attribute an [[attribute]] section with name, role and levels.")
    publish = content.get("publish", "uniform")
    if not isinstance(publish, str):
        raise InputError(f'{source}: publish must be a name in quotes, such as "uniform".')
    if (publish == "weights") != ("weights" in content):
        raise InputError(f'{source}: publish = "weights" and weights = [...] go together.')
    try:
        return Description(
            rows=content["rows"],
            attributes=tuple(_attribute(a, i) for i, a in enumerate(listed, start=1)),
            k=content.get("k", 1),
            l=content.get("l", 1),
            t=content.get("t"),
            publish=_numbers(content["weights"], "weights") if publish == "weights" else publish,
        )
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _attribute(content: Mapping[str, Any], number: int) -> Attribute:
    where = f"attribute {number}"
    _known(content, _ATTRIBUTE, where)
    for key in _ATTRIBUTE[:3]:
        if key not in content:
            raise InputError(f"{where}: {key} is missing.")
    if not isinstance(content["name"], str) or not content["name"]:
        raise InputError(f"{where}: name must be a text.")
    levels = content["levels"]
    if not isinstance(levels, list) or not all(isinstance(level, list) for level in levels):
        raise InputError(f"{where}: levels must be a list of lists, one for each level.")
    if not all(isinstance(value, str | int | float) for level in levels for value in level):
        raise InputError(f"{where}: the entries of levels must be texts or numbers.")
    given = content.get("probabilities")
    return Attribute(
        name=content["name"],
        role=content["role"],
        levels=tuple(tuple(str(value) for value in level) for level in levels),
        probabilities=None if given is None else tuple(_numbers(given, f"{where}: probabilities")),
    )


def _numbers(value: Any, where: str) -> list[float]:
    if not isinstance(value, list) or not all(
        isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in value
    ):
        raise InputError(f"{where} must be a list of numbers.")
    return value


def _known(content: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in content:
        if key not in keys:
            raise InputError(f"{where}: unknown key {key!r}; known are {', '.join(keys)}.")
