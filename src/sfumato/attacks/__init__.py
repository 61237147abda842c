"""Play the adversary: one attack a file, each with a card. A file that defines an Attack of its own name is registered.

So is what other packages name in the entry point group `sfumato.attacks`. Folders hold what several attacks share.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from ..core.attack import Attack, parse
from ..core.plugins import plugins, room_modules


@cache
def registry() -> Mapping[str, Attack[Any]]:
    """Every attack by name."""
    items = {name: getattr(module, name) for name, module in room_modules(sys.modules[__name__])}
    return items | plugins("sfumato.attacks", Attack, items)


def attack(text: str) -> Attack[Any]:
    """An attack from its text, such as `homogeneity[share=0.9](salary)`."""
    return parse(text, registry())


def wp29_tests() -> list[Attack[Any]]:
    """The tests of the Article 29 Working Party's Opinion 05/2014, in its order."""
    tests = [(each.card.wp29, each) for each in registry().values() if each.card.wp29 is not None]
    return [each for _, each in sorted(tests, key=lambda test: test[0])]
