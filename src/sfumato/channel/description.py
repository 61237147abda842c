"""What a k-anonymity channel is made of, and how a file says it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.toml import Numbers, Sections, Text, opened, placed, section
from .publishing_rule import Publish, Rule, rule
from .tables import Attribute, Demand, RowDomain

Count = Annotated[int, Meta(ge=1, description="a whole number of at least 1")]
Levels = Annotated[
    tuple[tuple[str | int | float | bool, ...], ...],
    Meta(description="a list of lists of texts or numbers, one for each level"),
]


@dataclass(frozen=True, kw_only=True)
class _DescriptionKeys:
    rows: Count
    attribute: Sections
    k: Count = 1
    l: Count = 1  # noqa: E741
    t: Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")] | None = None
    publish: str = "uniform"
    weights: Numbers | None = None


@dataclass(frozen=True, kw_only=True)
class _AttributeKeys:
    name: Text
    role: Literal["quasi", "sensitive"]
    levels: Levels
    probabilities: Numbers | None = None


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
    keys = section(_DescriptionKeys, content, source)
    if not {"k", "l", "t"} & set(content):
        raise InputError(f"{source}: say what every class of a release must meet, such as k = 2.")
    if (keys.publish == "weights") != (keys.weights is not None):
        raise InputError(f'{source}: publish = "weights" and weights = [...] go together.')
    try:
        return Description(
            rows=keys.rows,
            attributes=tuple(_attribute(each, f"attribute {i}") for i, each in enumerate(keys.attribute, start=1)),
            k=keys.k,
            l=keys.l,
            t=keys.t,
            publish=keys.publish if keys.weights is None else list(keys.weights),
        )
    except InputError as error:
        raise placed(error, source) from None


def _attribute(content: Mapping[str, Any], where: str) -> Attribute:
    keys = section(_AttributeKeys, content, where)
    levels = tuple(tuple(map(str, level)) for level in keys.levels)
    return Attribute(name=keys.name, role=keys.role, levels=levels, probabilities=keys.probabilities)
