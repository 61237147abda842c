"""What kind of values a column holds, judged from its distinct values (or a sample of them) and their number.

The shape of the values decides; the column's name only tips what the shape leaves open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..core.arrow import numpy, strings
from ..core.column import Column, FloatArray, IntArray, encode
from ..core.counts import Counts
from ..core.noun import dataclass
from ..core.people import words_of
from . import name_lexicon
from .orders import MOST_LEVELS, order

Kind = Literal["numeric", "ordinal", "date", "code", "category", "text", "identifier", "constant"]
Mask = npt.NDArray[np.bool_]

_MOST = 0.95  # of the rows must have a shape for the column to have it
_SINGLED_OUT = 0.9  # distinct values over rows: about one row a value
_FEW_LEVELS = 20
_QUANTITIES = words_of("""number count counts num anzahl zahl nb nombre cantidad times size days tage weeks wochen months monate hours
    stunden minutes minuten years jahre year jahr children kinder siblings dependents rooms zimmer visits besuche
    cars points punkte score level levels stage stadium grade grad rank stufe rating tier quintile quartile decile
    severity schweregrad persons personen members dauer duration length""")
"""Words of names of whole numbers that count or grade."""
_LABELS = words_of("""id code codes kode group groups gruppe gruppen grp type typ art kind category kategorie class klasse region
    branch branche sector zone key schlussel cluster status zustand color farbe drg""")
"""Words of names of whole numbers that only name something."""
_DATES = (
    r"^([0-9]{4})-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?([T ][0-9]{2}:[0-9]{2}(:[0-9.]+)?( ?Z|[+-][0-9:]{2,5})?)?$"
    r"|^(0?[1-9]|[12][0-9]|3[01])([./-])(0?[1-9]|[12][0-9]|3[01])([./-])(19|20)?[0-9]{2}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?$"
    r"|^(19|20)[0-9]{2}[./](0[1-9]|1[0-2])[./](0[1-9]|[12][0-9]|3[01])$"
)
_EIGHT_DIGIT_DATES = r"^(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])$"
DIRECT = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$",
    "web addresses": r"(?i)^(https?://|www\.)\S+$",
    "UUIDs": r"(?i)^\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$",
    "IBANs": r"^[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}( ?[A-Z0-9]{2,4}){2,7}$",
    "IP addresses": r"^([0-9]{1,3}\.){3}[0-9]{1,3}$",
    "social security numbers": r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$",
    "phone numbers": r"^(\+|00)[0-9][0-9 ()./-]{6,18}[0-9]$|^\(?0?[0-9]{2,4}\)?[ ./-][0-9]{3,4}[ ./-][0-9]{3,4}([ .-][0-9]{2,4})?$",
}
_DIGITS = r"^[0-9]+$"
_IDS = words_of("id ids identifier number num no nr nbr nummer key")
_NUMBERED_PLACES = ("fip", "fips")
_LEADING_ZERO = r"^0[0-9]+$"
# Letters and digits without words: E11.9, AB12 3CD, 12345-6789. A digit and no run of four letters.
_CODE = r"^[A-Z]{0,3}[ ./-]?[0-9][A-Z0-9]{0,7}([ ./-]?[0-9A-Z]{1,4}){0,2}$"


@dataclass(frozen=True)
class Guess:
    """A kind, what in the values speaks for it (never a value itself), and the order of the values where recognised."""

    kind: Kind
    reason: str
    order: tuple[str, ...] | None = None


def sample_counts(name: str, texts: Sequence[str]) -> Counts:
    """A sample as counts, to be looked at like counted values."""
    column, codes = encode(name, strings(list(texts)))
    return Counts.of([column], [codes], np.ones(len(codes), dtype=np.int64))


def kind(name: str, counts: Counts | None, sample: Sequence[str], distinct: int, missing: int, rows: int) -> Guess:
    """The kind of a column: `counts` of its distinct values, or None if there are too many and a `sample` must do."""
    filled = rows - missing
    if filled <= 0:
        return Guess("constant", "no row has a value")
    seen = counts if counts is not None else sample_counts(name, sample)
    column, n = seen.columns[0], seen.n
    values, n = column.values, n[: len(column.values)]  # the missing value stands last
    if counts is not None and len(counts) == 1:
        return Guess("constant", "every row has the same value")
    if not len(values):
        return Guess("category", "no value among the first rows")
    if counts is not None:
        distinct = len(values)
    about = min(distinct / filled, 1.0)
    if pa.types.is_boolean(values.type):
        return Guess("category", "true or false")
    if column.dates:
        return Guess("date", "dates")
    if not pa.types.is_string(values.type):
        return _numbers(name, column, n, distinct, filled, about)
    return _texts(name, column, n, distinct, filled, about)


def matches(values: pa.Array, pattern: str) -> Mask:
    """Which texts hold a match of the pattern."""
    hits = pc.match_substring_regex(values, pattern)
    bits = np.frombuffer(hits.buffers()[1], dtype=np.uint8)
    return np.unpackbits(bits, bitorder="little")[hits.offset : hits.offset + len(hits)].astype(bool)


def _direct(values: pa.Array, rows: FloatArray) -> str | None:
    """What reaches or numbers one person, if most rows hold it."""
    return next(
        (what for what, pattern in DIRECT.items() if float(rows[matches(values, pattern)].sum()) >= _MOST), None
    )


def direct(column: Column) -> str | None:
    """The same of a column's values, each counted once: what they look like if that reaches or numbers one person."""
    values = column.values
    if not len(values) or not pa.types.is_string(values.type):
        return None
    return _direct(values, np.full(len(values), 1 / len(values)))


def _few(column: Column) -> list[str]:
    return [text for text in column.texts if text is not None] if len(column.values) <= MOST_LEVELS else []


def _numbers(name: str, column: Column, n: IntArray, distinct: int, filled: int, about: float) -> Guess:
    """Whole and decimal numbers: quantities, levels, or numbers that only name something."""
    if column.numbers is None:
        return Guess("category", "values of a type that Sfumato does not inspect")
    x = column.numbers[np.isfinite(column.numbers)]
    concept = name_lexicon.concept(name)
    key = concept.key if concept else ""
    if not len(x) or not bool(np.all(x == np.floor(x))):
        return Guess("numeric", "numbers with decimals")
    if key == "postal":
        return Guess("code", "whole numbers in a column named after postal codes")
    if key == "age" or key == "money" or key == "body":
        return Guess("numeric", "whole numbers")
    if key == "amount" and distinct > _FEW_LEVELS and not set(name_lexicon.tokens(name)) & _IDS:
        return Guess("numeric", "whole numbers in a column named after amounts")
    if key == "place" and name_lexicon.tokens(name)[-1].endswith(_NUMBERED_PLACES):
        return Guess("category", "whole numbers that name places, judging by the column's name")
    low, high = float(x.min()), float(x.max())
    serial = distinct >= 5 and high - low < 1.1 * distinct
    if key == "person":
        return Guess("identifier", "whole numbers in a column named after people's numbers")
    if about >= _SINGLED_OUT and (filled >= 100 or (serial and about == 1.0 and filled >= 5)):
        return Guess("identifier", "a different whole number in nearly every row")
    if distinct == 2:
        return Guess("category", "two whole numbers")
    if low >= 1900 and high <= 2100 and high > low:
        return Guess("numeric", "whole numbers that look like years")
    if "code" in name_lexicon.tokens(name) and low >= 100 and len(str(int(low))) == len(str(int(high))):
        return Guess("code", "whole numbers of one length in a column named after codes")
    words, few = set(name_lexicon.tokens(name)), distinct <= _FEW_LEVELS and filled >= 2 * distinct
    if words & _LABELS and not words & _QUANTITIES:
        return Guess("category", "whole numbers that are labels without an order, judging by the column's name")
    if not few:
        return Guess("numeric", "whole numbers")
    reason = "the column's name says that it counts or grades" if words & _QUANTITIES else _ordered(x, n)
    if reason is None:
        return Guess("category", "a few whole numbers, and nothing says that they have an order")
    return Guess("ordinal" if high - low < 2 * distinct else "numeric", f"whole numbers in order: {reason}")


def _ordered(x: FloatArray, n: IntArray) -> str | None:
    """What speaks for an order of a few whole numbers (ascending, `n` rows each), if anything does."""
    step = int(np.gcd.reduce(x.astype(np.int64)))
    if step > 1 and len(x) >= 3:
        return f"all are multiples of {step}"
    if not bool(np.all(np.diff(x) == 1)):
        return None
    turns = np.diff(n[: len(x)])
    falls = np.flatnonzero(turns < 0)
    if len(x) >= 4 and bool((turns < 0).all()):
        return "each is rarer than the one before it, as counts are"
    if len(x) >= 6 and len(falls) and bool((turns[falls[0] :] <= 0).all()):
        return "they grow more frequent and then rarer, as counts and grades do"
    return None


def _texts(name: str, column: Column, n: npt.NDArray[np.int64], distinct: int, filled: int, about: float) -> Guess:
    values = column.values
    concept = name_lexicon.concept(name)
    key = concept.key if concept else ""
    rows = n / n.sum()

    def share(pattern: str) -> float:
        return float(rows[matches(values, pattern)].sum())

    def shaped(pattern: str) -> bool:
        return share(pattern) >= _MOST

    if shaped(_DATES) or (shaped(_EIGHT_DIGIT_DATES) and distinct > 2):
        return Guess("date", "dates")
    if shaped(_DIGITS) and matches(values, _LEADING_ZERO).any():
        if key == "person" or (about >= _SINGLED_OUT and filled >= 20 and key != "postal"):
            return Guess("identifier", "digits with leading zeros, a different number for nearly every row or person")
        return Guess("code", "digits with leading zeros, so a code rather than a number")
    if column.numbers is not None:
        return _numbers(name, column, n, distinct, filled, about)
    if (what := _direct(values, rows)) is not None:
        return Guess("identifier", f"the values look like {what}")
    code = shaped(_CODE) and not matches(values, r"^[^0-9]*$").any()
    if not (code and key in ("postal", "health")) and (ordered := order(_few(column))):
        return Guess("ordinal", "levels with a recognised order", ordered)
    if key == "person":
        return Guess("identifier", "texts in a column named after people's numbers")
    if code and (about < _SINGLED_OUT or filled < 20 or key == "postal"):
        return Guess("code", "short codes of letters and digits")
    lengths = numpy(pc.utf8_length(values)).astype(np.float64)
    spaces = numpy(pc.count_substring_regex(values, r"\s+")).astype(np.float64)
    long = float(lengths @ rows) >= 25 and float(spaces @ rows) >= 3
    if long and about >= 0.1 and distinct > _FEW_LEVELS:
        return Guess("text", "long texts of several words, rarely repeated")
    if shaped(r"^[+-]?[0-9]+([.,][0-9]+)?$") and (share(r"[.,]") > 0 or about < _SINGLED_OUT):
        return Guess("numeric", "numbers, although some values are not written as numbers")
    if about >= _SINGLED_OUT and filled >= 20:
        return Guess("identifier", "a different text in nearly every row")
    if key == "name" and distinct > _FEW_LEVELS:
        return Guess("identifier", "many texts in a column named after names")
    return Guess("category", "two values" if distinct == 2 else "repeated values without a recognised order")
