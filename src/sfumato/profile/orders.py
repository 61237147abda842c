"""Orders that can be recognised without guessing: ranges of numbers, quantities with one unit, and well-known scales."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

MOST_LEVELS = 200

# Each scale from low to high; words of one tier mean the same in several languages.
_SCALES = tuple(
    tuple(frozenset(tier.split("|")) for tier in scale.split(","))
    for scale in (
        "none|no|keine|aucun|ninguno|nessuno|nenhum|geen,very low|sehr niedrig|tres faible|muy bajo|molto basso,"
        "low|niedrig|gering|faible|bas|bajo|baja|basso|bassa|baixo|baixa|laag,"
        "medium|moderate|middle|mid|average|normal|mittel|moyen|moyenne|medio|media|gemiddeld|midden,"
        "high|hoch|eleve|elevee|haut|alto|alta|hoog,very high|sehr hoch|tres eleve|muy alto|molto alto,extreme",
        "none|no,minimal|slight,mild|minor|leicht|leger|leve|lieve|licht,moderate|mittel|modere|moderado|moderato|matig,"
        "severe|serious|major|schwer|grave|ernstig,critical|very severe|life-threatening,fatal",
        "never|nie|jamais|nunca|mai|nooit,rarely|seldom|selten|rarement|raramente|zelden,"
        "sometimes|occasionally|manchmal|parfois|a veces|a volte|soms,"
        "often|frequently|usually|oft|haufig|souvent|a menudo|spesso|vaak,always|immer|toujours|siempre|sempre|altijd",
        "strongly disagree|disagree strongly|completely disagree,disagree,somewhat disagree|slightly disagree,"
        "neutral|neither agree nor disagree|undecided,somewhat agree|slightly agree,agree,"
        "strongly agree|agree strongly|completely agree",
        "very dissatisfied,dissatisfied,neutral,satisfied,very satisfied",
        "very poor|very bad|sehr schlecht,poor|bad|schlecht|mauvais|malo|cattivo|slecht,"
        "fair|average|acceptable|mittel|moyen|regular|discreto|redelijk,good|gut|bon|bueno|buono|bom|goed,"
        "very good|sehr gut|tres bon|muy bueno|molto buono|zeer goed,excellent|ausgezeichnet|excelente|eccellente|uitstekend",
        "xs|extra small,s|small|klein|petit|pequeno|piccolo,m|medium|mittel|moyen|mediano|medio,"
        "l|large|big|gross|grand|grande|groot,xl|extra large,xxl",
        "novice|beginner,intermediate,advanced,expert",
        "first,second,third,fourth,fifth",
        "i,ii,iii,iv,v,vi,vii,viii,ix,x",
        "jan|january,feb|february,mar|march,apr|april,may,jun|june,jul|july,aug|august,sep|sept|september,oct|october,"
        "nov|november,dec|december",
    )
)
_PLAIN = str.maketrans("áàâäãéèêëíìîïóòôöõúùûüñç", "aaaaaeeeeiiiiooooouuuunc")

_NUM = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*([km](?![a-z]))?"
_SIGN = r"[$€£¥]?\s*"
_UNIT = r"\s*([^\d\s\-+][^\d]{0,15})?"
_RANGE = re.compile(rf"^{_SIGN}{_NUM}{_UNIT}?\s*(?:-|–|—|to|bis|until|\.\.)\s*{_SIGN}{_NUM}{_UNIT}$", re.I)
_BRACKET = re.compile(rf"^[\[(]{_NUM}()\s*[,;]\s*{_NUM}()[\])]$", re.I)
_BELOW = re.compile(
    rf"^(?:<=?|≤|under|below|less than|up to|bis|unter|moins de|menos de|meno di)\s*{_SIGN}{_NUM}{_UNIT}$", re.I
)
_ABOVE = re.compile(
    rf"^(?:>=?|≥|over|above|more than|at least|ab|uber|plus de|mas de|piu di)\s*{_SIGN}{_NUM}{_UNIT}$"
    rf"|^{_SIGN}{_NUM}\s*(?:\+|and over|or more|or older|and above|plus)$",
    re.I,
)
_SINGLE = re.compile(rf"^{_SIGN}{_NUM}{_UNIT}$", re.I)


def order(texts: Sequence[str]) -> tuple[str, ...] | None:
    """The texts from low to high, or None if no order is recognised for all of them."""
    if not 2 <= len(texts) <= MOST_LEVELS:
        return None
    return _by_scale(texts) or _by_range(texts)


def _by_scale(texts: Sequence[str]) -> tuple[str, ...] | None:
    plain = [text.strip().casefold().translate(_PLAIN).replace("_", " ") for text in texts]
    for scale in _SCALES:
        tier = {word: i for i, words in enumerate(scale) for word in words}
        at = [tier.get(word, -1) for word in plain]
        if min(at) >= 0 and len(set(at)) == len(at):
            return tuple(text for _, text in sorted(zip(at, texts, strict=True)))
    return None


def _by_range(texts: Sequence[str]) -> tuple[str, ...] | None:
    spans = [_span(text.strip().translate(_PLAIN)) for text in texts]
    ranges = [
        (low, high, unit, text) for span, text in zip(spans, texts, strict=True) if span for low, high, unit in (span,)
    ]
    if len(ranges) < len(texts) or len({unit for _, _, unit, _ in ranges if unit}) > 1:
        return None
    ranges.sort(key=lambda span: span[:2])
    for (_, high, _, _), (low, _, _, _) in itertools.pairwise(ranges):
        if high > low:
            return None
    if len({span[:2] for span in ranges}) < len(ranges):
        return None
    return tuple(text for *_, text in ranges)


def _span(text: str) -> tuple[float, float, str] | None:
    """What numbers a text stands for, and their unit; None if it is no range or quantity."""
    if match := _RANGE.match(text) or _BRACKET.match(text):
        a, ak, _, b, bk, unit = match.groups()
        low, high = _number(a, ak or bk), _number(b, bk)
        return (low, high, (unit or "").strip().casefold()) if low <= high else None
    if match := _BELOW.match(text):
        return -math.inf, _number(match[1], match[2]), (match[3] or "").strip().casefold()
    if match := _ABOVE.match(text):
        number, thousand = (match[1], match[2]) if match[1] else (match[4], match[5])
        return _number(number, thousand), math.inf, (match[3] or "").strip().casefold()
    if match := _SINGLE.match(text):
        here = _number(match[1], match[2])
        return here, here, (match[3] or "").strip().casefold()
    return None


def _number(digits: str, thousand: str | None) -> float:
    return float(digits.replace(",", "")) * {"k": 1e3, "m": 1e6}.get((thousand or "").lower(), 1.0)
