"""The sentences of cards: one for the end of the scale, one with the number in it, on the right side of the end."""

from __future__ import annotations

import pickle
from functools import partial

from sfumato.core.words import below_one, bits, from_one, from_zero, up


def test_the_end_has_a_sentence_of_its_own() -> None:
    share = from_zero("Nobody.", "{} of the rows, {} in all.")
    assert [share(x) for x in (-1.0, 0.0, 0.5)] == ["Nobody.", "Nobody.", "50% of the rows, 50% in all."]
    assert share(1e-12) == "Less than 0.0001% of the rows, less than 0.0001% in all."  # a sentence begins like one
    assert [from_one("Alone.", "{}.", bits)(x) for x in (1.0, 2.0)] == ["Alone.", "2 bits."]
    risk = below_one("Certain.", "At most {}.", partial(up, short_of=1))
    assert [risk(x) for x in (0.5, 1 - 1e-6, 1.0)] == ["At most 0.5.", "At most 0.999999.", "Certain."]
    assert pickle.loads(pickle.dumps(risk))(0.5) == risk(0.5)
