"""What an attack proves: one judgement for the command line, the WP29 sheet and every other document.

An attack that fails proves little: a better one may work. So only an attack that does at least as well as blind guessing, and no
measurably better than that and than on people outside the release, counts as one that the release withstands.

| standing | the attack is measurably | what follows |
|---|---|---|
| works | above people outside the release, or above the baseline where there are none; or it is certain of somebody | the release gives people away |
| general | above the baseline, and no better than on people outside | it tells a fact about people in general |
| fails | above nothing, and no weaker than the baseline; or the release leaves nobody to attack | this attack gains nothing from the release |
| inconclusive | weaker than the baseline, or there is nothing to compare it with | it says nothing about the release |
"""

from __future__ import annotations

from typing import Literal

from ..core.noun import dataclass
from ..core.words import counted

Verdict = Literal["works", "general", "fails", "inconclusive"]

MARKS: dict[Verdict, str] = {"works": "✗", "general": "~", "fails": "✓", "inconclusive": "?"}


@dataclass(frozen=True)
class Standing:
    """How an attack is judged, and what it was held against, in words."""

    verdict: Verdict
    words: str

    @property
    def worked(self) -> bool | None:
        """Whether the release made the attack on its people better; None where the attack cannot tell."""
        return None if self.verdict == "inconclusive" else self.verdict == "works"


def standing(
    *, attacked: int, over_baseline: bool | None, over_control: bool | None, weaker: bool = False, certain: int = 0
) -> Standing:
    """Judge an attack by whether it is measurably above the baseline and above people outside the release (None: not known).

    `weaker`: its success lies below the baseline's. `certain`: people of whom the release tells the secret for certain, which a rate
    of right guesses does not show: a blind guess of the most frequent value is right for many of them.

    >>> standing(attacked=9, over_baseline=True, over_control=None)
    Standing(verdict='works', words='above the baseline')
    >>> standing(attacked=9, over_baseline=False, over_control=None, weaker=True).words
    'inconclusive: the attack does worse than guessing blindly'
    """
    words = _compared(attacked, over_baseline, over_control)
    if certain:
        sure = f"the class of {counted(certain, 'person', 'people')} tells the value for certain"
        return Standing("works", f"{words}, but {sure}" if attacked and not over_baseline else f"{words}; {sure}")
    if not attacked:
        return Standing("fails", words)
    if over_baseline is None and over_control is None:
        return Standing("inconclusive", words)
    if over_control or (over_baseline and over_control is None):
        return Standing("works", words)
    if over_baseline:
        return Standing("general", words)
    if weaker:
        return Standing("inconclusive", "inconclusive: the attack does worse than guessing blindly")
    return Standing("fails", words)


def _compared(attacked: int, over_baseline: bool | None, over_control: bool | None) -> str:
    """In words whether an attack is measurably better on people in the release than on others, and than without it."""
    if not attacked:
        return "nobody to attack"
    known = {"people outside the release": over_control, "the baseline": over_baseline}
    higher = [name for name, over in known.items() if over]
    lower = [name for name, over in known.items() if over is False]
    if not higher and not lower:
        return "nothing to compare with"
    if not higher:
        return f"not measurably above {' or '.join(lower)}"
    if not lower:
        return f"above {' and '.join(higher)}"
    if over_control:
        return f"above {higher[0]}, not measurably above {lower[0]}"
    return f"not measurably above {lower[0]}, though above {higher[0]}"
