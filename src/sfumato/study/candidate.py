"""A candidate for the release of a table: a mechanism with its parameters, or a file made elsewhere."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import metrics
from ..core.errors import InputError
from ..core.mechanism import Mechanism
from ..core.metric import Requirement
from ..core.release import Release
from ..mechanisms import mechanism
from .context import smallest_k

ELSEWHERE = "made elsewhere"


@dataclass(frozen=True)
class Candidate:
    """A mechanism with its parameters, or a release that was made elsewhere."""

    text: str
    mechanism: Mechanism | None = None
    release: Release | None = None
    label: str | None = None
    """The owner's name for it."""

    @property
    def name(self) -> str:
        """As a reader wants it: `mondrian k=5, t_closeness[equal] <= 0.3`."""
        if self.label is not None:
            return self.label
        if self.mechanism is None:
            return self.text
        settings = self.mechanism.settings()
        require = settings.pop("require", [])
        return ", ".join([" ".join([self.mechanism.card.name, *(f"{k}={v}" for k, v in settings.items())]), *require])

    @property
    def family(self) -> str:
        """What made it."""
        return ELSEWHERE if self.mechanism is None else self.mechanism.card.name

    @classmethod
    def of(cls, text: str, *, label: str | None = None) -> Candidate:
        """From `mondrian k=5 mode=relaxed require='t_closeness[equal] <= 0.3'`."""
        try:
            name, *settings = shlex.split(text) or [""]
        except ValueError:
            raise InputError(f"Candidate {text!r}: the quotes do not match; write mechanism key=value ... .") from None
        if not name:
            raise InputError("A candidate is empty; write a mechanism and its parameters, such as: mondrian k=5.")
        values: dict[str, str] = {}
        require: list[Requirement] = []
        for setting in settings:
            key, sign, value = setting.partition("=")
            if not sign:
                raise InputError(f"Candidate {text!r}: {setting!r} is not key=value.")
            if key == "require":
                require.append(metrics.require(value))
            else:
                values[key] = value
        made = mechanism(name).of(values, tuple(require))
        for requirement in require:
            if not made.honours(requirement):
                raise InputError(f"Candidate {text!r}: {name} cannot steer by {requirement}.")
        return cls(text, made, label=label)

    @classmethod
    def by(cls, made: Mechanism, *, label: str | None = None) -> Candidate:
        """From a mechanism."""
        settings = made.settings()
        require = settings.pop("require", [])
        return cls(spelled(made.card.name, settings, require), made, label=label)


def spelled(name: str, settings: Mapping[str, Any], require: Iterable[str] = ()) -> str:
    """A candidate's text, which `Candidate.of` reads."""
    words = [f"{key}={_text(value)}" for key, value in settings.items()]
    return shlex.join([name, *words, *(f"require={text}" for text in require)])


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def grid(texts: Sequence[str]) -> tuple[Candidate, ...]:
    """Candidates from their texts, none twice."""
    return tuple(Candidate.of(text) for text in dict.fromkeys(texts))


def product(name: str, settings: Mapping[str, Any], require: Sequence[str] = ()) -> list[str]:
    """The texts of a mechanism over a grid: every parameter that is a list takes each of its values in turn."""
    lists = [value if isinstance(value, list) else [value] for value in settings.values()]
    return [spelled(name, dict(zip(settings, chosen, strict=True)), require) for chosen in itertools.product(*lists)]


def steered(text: str, require: Sequence[Requirement]) -> str:
    """The same candidate, told to meet those of these requirements that it can steer by and does not promise already."""
    candidate = Candidate.of(text)
    made = candidate.mechanism
    assert made is not None
    promised = {str(r) for r in made.promises}
    k = smallest_k(made.promises)  # a class size that is promised already need not be asked for in other words
    more = [r for r in require if made.honours(r) and str(r) not in promised and not 1 < smallest_k([r]) <= k]
    return text + "".join(f" require={shlex.quote(str(r))}" for r in more)
