"""What a file of a statistical program says of a column beside its values: a label, and labels of codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from .noun import dataclass


@dataclass(frozen=True)
class Variable:
    """What goes with a column from the original into its release, as far as it still holds there."""

    label: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    """The label of each code; a code is spelled as `core.column.text_of` spells it."""
    labelled: bool = False
    """Whether the column was read as its labels; else its values are the codes."""
    text: bool = False
    """Whether its codes are texts."""
    measure: str = ""
    """nominal, ordinal or scale, where the file says it."""

    @property
    def codes(self) -> dict[str, str]:
        """The code of each label that stands for one."""
        times = Counter(self.values.values())
        return {label: code for code, label in self.values.items() if times[label] == 1}
