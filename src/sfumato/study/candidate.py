"""A candidate for the release of a table: a mechanism with its parameters, or a file made elsewhere."""

from __future__ import annotations

import itertools
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from .. import metrics
from ..core.chain import Chain
from ..core.errors import InputError
from ..core.mechanism import Mechanism
from ..core.metric import Requirement, spell_number
from ..core.noun import dataclass
from ..core.release import Release
from ..mechanisms import mechanism
from ..mechanisms.partition.mean_limits import is_mean
from .context import smallest_k

ELSEWHERE = "made elsewhere"
SHORT = 30
"""Characters of a name that leave room for numbers beside it on a line of 80."""


@dataclass(frozen=True)
class Candidate:
    """A mechanism with its parameters, or a release that was made elsewhere."""

    text: str
    mechanism: Mechanism | None = None
    release: Release | None = None
    label: str | None = None
    """The owner's name for it."""

    def _about(self) -> list[str]:
        return [self.family if self.mechanism is None else repr(self.mechanism)]

    @property
    def name(self) -> str:
        """As a reader wants it: `mondrian k=5, t_closeness[equal] <= 0.3`."""
        if self.label is not None:
            return self.label
        if self.mechanism is None:
            return self.text
        return " | ".join(_worded(link.card.name, link.settings()) for link in _links(self.mechanism))

    @property
    def outward(self) -> str:
        """The name for documents that may leave the house: where the owner's files lie is nobody's business."""
        if self.label is not None:
            return self.label
        if self.mechanism is None:
            return PurePath(self.text).name
        names = []
        for link in _links(self.mechanism):
            card, settings = link.card, link.settings()
            outward = settings | {key: PurePath(settings[key]).name for key in card.files if key in settings}
            names.append(_worded(card.name, outward))
        return " | ".join(names)

    @property
    def family(self) -> str:
        """What made it."""
        return ELSEWHERE if self.mechanism is None else self.mechanism.card.name

    @classmethod
    def of(cls, text: str, *, label: str | None = None) -> Candidate:
        """From `mondrian k=5 mode=relaxed require='t_closeness[equal] <= 0.3'`."""
        try:
            words = shlex.split(text)
        except ValueError:
            raise InputError(f"Candidate {text!r}: the quotes do not match; write mechanism key=value ... .") from None
        links: list[list[str]] = [[]]
        for word in words:
            if word == "|":
                links.append([])
            else:
                links[-1].append(word)
        mechanisms = [_link(text, link) for link in links]
        made = mechanisms[0] if len(mechanisms) == 1 else Chain(tuple(mechanisms))
        return cls(text, made, label=label)

    @classmethod
    def by(cls, made: Mechanism) -> Candidate:
        """From a mechanism."""
        texts = []
        for link in _links(made):
            settings = link.settings()
            require = settings.pop("require", [])
            texts.append(spelled(link.card.name, settings, require))
        return cls(" | ".join(texts), made)


def _links(made: Mechanism) -> tuple[Mechanism, ...]:
    return made.links if isinstance(made, Chain) else (made,)


def _link(text: str, words: Sequence[str]) -> Mechanism:
    """One mechanism of a candidate's text."""
    if not words:
        raise InputError("A candidate is empty; write a mechanism and its parameters, for example: mondrian k=5.")
    name, *settings = words
    values: dict[str, str] = {}
    require: list[Requirement] = []
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign:
            raise InputError(f"Candidate {text!r}: {setting!r} is not key=value.")
        if key in values:
            raise InputError(f"Candidate {text!r}: {key} is given twice.")
        if key == "require":
            require.append(metrics.require(value))
        else:
            values[key] = value
    made = mechanism(name).of(values, tuple(require))
    for requirement in require:
        if not made.honours(requirement):
            raise InputError(f"Candidate {text!r}: {name} cannot steer by {requirement}.")
    return made


def _worded(name: str, settings: dict[str, Any]) -> str:
    require = settings.pop("require", [])
    return ", ".join([" ".join([name, *(f"{key}={value}" for key, value in settings.items())]), *require])


def short_names(candidates: Sequence[Candidate]) -> list[str]:
    """A name of each for tables, each another, the same whenever the same candidates are named: `mondrian k=5 relaxed width`.

    A short name stays, and so does the owner's. Of a long one remains what tells it from the others of its mechanism: settings, and
    requirements without their column and parameters where these are all alike. Two that would still be called alike keep their names.
    """
    names = [candidate.name for candidate in candidates]
    long = [
        i
        for i, c in enumerate(candidates)
        if c.label is None and len(names[i]) > SHORT and not isinstance(c.mechanism, Chain)
    ]
    found = list(names)
    for i in long:
        made = candidates[i].mechanism
        if made is None:
            found[i] = PurePath(names[i]).name or names[i]
        else:
            alike = [c.mechanism for c in candidates if c.mechanism is not None and c.family == made.card.name]
            found[i] = _told_apart(made, alike)
    said = Counter(found)
    found = [name if said[short] > 1 else short for name, short in zip(names, found, strict=True)]
    seen: Counter[str] = Counter()
    for i, name in enumerate(found):  # the same file twice, say
        seen[name] += 1
        found[i] = name if seen[name] == 1 else f"{name} #{seen[name]}"
    return found


def _told_apart(made: Mechanism, alike: Sequence[Mechanism]) -> str:
    """The mechanism with what differs among those like it; its k where nothing does."""
    every = [each.settings() for each in alike]
    own = made.settings()
    differs = [key for key in own if key != "require" and any(each.get(key) != own[key] for each in every)]
    words = [made.card.name]
    for key in differs or [key for key in ("k",) if key in own]:
        value = own[key]
        spelled_by = {k for each in every for k, v in each.items() if v == value}
        words.append(value if isinstance(value, str) and spelled_by == {key} else f"{key}={_text(value)}")
    require = [
        r
        for r in made.promises
        if str(r) in own.get("require", ()) and any(str(r) not in map(str, o.promises) for o in alike)
    ]
    metrics_of = {str(r.metric): r.metric.card.name for each in alike for r in each.promises}
    for r in require:
        card = r.metric.card.name
        bare = list(metrics_of.values()).count(card) == 1
        words[-1] += ","
        words.append(f"{card if bare else r.metric} {r.sign} {spell_number(r.bound)}")
    return " ".join(words)


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
    """The same candidate, told to meet those of these requirements that it can steer by and does not promise already.

    A limit on a mean does not go with everything that limits classes; then it is left to k.
    """
    candidate = Candidate.of(text)
    made = candidate.mechanism
    assert made is not None
    promised = {str(r) for r in made.promises}
    k = smallest_k(made.promises)  # a class size that is promised already need not be asked for in other words
    more = [r for r in require if made.honours(r) and str(r) not in promised and not 1 < smallest_k([r]) <= k]
    texts = [text + "".join(f" require={shlex.quote(str(r))}" for r in asked) for asked in (more, _without_means(more))]
    if texts[0] != texts[1]:
        try:
            Candidate.of(texts[0])
        except InputError:
            return texts[1]
    return texts[0]


def _without_means(require: Sequence[Requirement]) -> list[Requirement]:
    return [requirement for requirement in require if not is_mean(requirement)]
