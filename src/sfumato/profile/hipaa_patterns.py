"""Words and shapes by which HIPAA's rules on identifiers are recognised (`hipaa`): patterns are RE2's, which DuckDB and Arrow know."""

from __future__ import annotations

import re

from ..core.people import words_of
from .kinds import DIRECT

PLACES = words_of("""city town hometown village hamlet municipality borough parish county district precinct neighborhood neighbourhood
    suburb township locality tract blockgroup cbsa puma geohash coord easting northing fips geocode geoid latitude longitude lat lon lng gps coordinates wohnort stadt gemeinde landkreis
    kreis ville commune departement ciudad municipio citta comune cidade concelho gemeente plaats 城市""")  # fmt: skip
STATES = words_of("""al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa
    ri sc sd tn tx ut vt va wa wv wi wy dc pr gu vi as mp us usa""") | words_of("""alabama,alaska,arizona,arkansas,california,
    colorado,connecticut,delaware,florida,georgia,hawaii,idaho,illinois,indiana,iowa,kansas,kentucky,louisiana,maine,maryland,
    massachusetts,michigan,minnesota,mississippi,missouri,montana,nebraska,nevada,new hampshire,new jersey,new mexico,new york,
    north carolina,north dakota,ohio,oklahoma,oregon,pennsylvania,rhode island,south carolina,south dakota,tennessee,texas,utah,
    vermont,virginia,washington,west virginia,wisconsin,wyoming,district of columbia,puerto rico,guam,american samoa,
    united states,virgin islands,u.s. virgin islands,us virgin islands,northern mariana islands""", ",")  # fmt: skip
FLAGS = words_of("0 1 yes no y n true false urban rural unknown")
PER_YEAR = {
    **dict.fromkeys(words_of("month months mo mos mth mths"), 12),
    **dict.fromkeys(words_of("week weeks wk wks"), 52),
    **dict.fromkeys(words_of("day days d"), 365),
    **dict.fromkeys(words_of("hour hours hr hrs"), 8760),
}
PARTS = words_of("""month mth amonth dmonth day weekday wday dow quarter qtr aqtr dqtr week hour monat tag mois jour mes dia mese giorno
    maand dag""")  # fmt: skip
FROM_ZERO = words_of("weekday wday dow hour")
RELATIVE = words_of("""stay life treatment therapy cycle study trial hospital icu postop op pod relative supply gestation gestational
    illness follow followup ventilator shift offset diff delta interval gap count n num number""")  # fmt: skip
DATED = words_of("date dates dt datetime timestamp datum fecha dob dod birthday birthdate deathdate")
NOT_DATED = words_of("candidate mandate validate invalidate consolidate accommodate sedate")
BETWEEN = words_of("of at in on per for by from since to until")
NUMBERED = re.compile(
    r"(?:^|_)(?:account|acct|policy|subscriber|member|medicare|medicaid|insurance|insured|beneficiary|licen[sc]e|certificate|device|"
    r"serial|vehicle|plate|chart|case|claim|encounter|enc|hadm|accession|specimen|prescription|rx|(?:medical_?)?record|med_?rec|"
    r"health_?plan|drivers?_?licen[sc]e|dl|pat|pt|cell|medical)_?(?:ids?|identifier|no|nr|num|nbr|number|serial|sn|key)(?:_\d+)?$"
    r"|(?:^|_)(?:visit|stay|admission)_?id$|drivers?_?licen[sc]e$|(?:^|_)device_?serial$"
)
REACHES = words_of("vin udi hicn mbi csn pager initials addr tattoo kin lastnm firstnm")
BY_THEMSELVES = words_of("last first cell picture image face faceimage facephoto fname lname mname emergencycontact")
KIN = words_of("guardian mother father spouse wife husband parent child relative kin employer")
ID = words_of("id ids identifier number num no nr nbr key")

ANYWHERE = (
    r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}",
    r"(?i)\b((https?|ftp)://|www\.)\S+",
    r"(^|[^0-9-])[0-9]{3}-[0-9]{2}-[0-9]{4}($|[^0-9-])",
    r"(?i)\bssn\b[^0-9]{0,6}[0-9]{9}\b|\b(mrn|medical record|account|acct)\b[ .:#]*((number|num|no|is)\b[ .:#]*)?[0-9]{4,}\b",
    r"(?:^|[^0-9.-])(?:\+?1[ .-]?)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[0-9]{3}[.-][0-9]{4}(?:$|[^0-9-])",
    r"(?i)\bip\b[^0-9]{0,10}([0-9]{1,3}\.){3}[0-9]{1,3}\b",
    r"\(01\)[0-9]{14}",
)
MOSTLY = (
    *(pattern for what, pattern in DIRECT.items() if what != "phone numbers"),
    # as elsewhere, but 00 must be followed by a country: drug codes such as 0002-1433-80 are no telephone numbers
    r"^(\+|00[1-9])[0-9 ()./-]{6,18}[0-9]$|^\(?0?[0-9]{2,4}\)?[ ./-][0-9]{3,4}[ ./-][0-9]{3,4}([ .-][0-9]{2,4})?$",
    r"^(?:\+?1)?[2-9][0-9]{2}[2-9][0-9]{6}$",
    r"(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$",
    r"^[0-9]{4}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}$",
    r"^[A-HJ-NPR-Z0-9]{9}[0-9X][A-HJ-NPR-Z0-9]{3}[0-9]{4}$",
    r"^(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}$|^[0-9A-Fa-f:]*[0-9A-Fa-f]::[0-9A-Fa-f:]*$",
    r"(?i)^[a-z0-9-]+(\.[a-z0-9-]+)*\.(com|org|net|edu|gov)(/\S*)?$",
    r"(?i)^[0-9]+[a-z]? [a-z0-9 .'-]*\b(st|street|ave|avenue|rd|road|blvd|boulevard|ln|lane|drive)\b|\bp\.? ?o\.? box [0-9]",
)
ANY_SHAPE = "|".join(f"(?:{pattern})" for pattern in (*ANYWHERE, *MOSTLY))
STATE = "|".join(sorted(state.upper() for state in STATES if len(state) == 2 and state != "us"))
TOWNS = rf"^[A-Z][A-Za-z .'-]+, *(?:{STATE})$|(?i)^[a-z .'-]+ (?:county|parish|township|borough)(?:, *[a-z ]+)?$"
AREAS = rf", *(?:{STATE})\.? +[0-9]{{5}}(?:-[0-9]{{4}})?\b|^[0-9]{{5}}-[0-9]{{4}}$"
Y = r"(?:1[6-9]|20|21)[0-9]{2}"
M, D = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12][0-9]|3[01])"
LOOSE = r"(?:0?[1-9]|[12][0-9]|3[01])"
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)"
)
WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
FULL = r"(?:january|february|march|april|june|july|august|september|october|november|december)"
NTH = r"(?:0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)"
SEP = r" ?[./\x{2010}-\x{2015}\x{2212}\x{2215}\x{2044}-] ?"
SURE = (
    rf"(?:^|[^0-9A-Za-z.-]){Y}-{M}-{D}(?:$|[^0-9])"
    rf"|(?:^|[^0-9./-]){LOOSE}{SEP}{LOOSE}{SEP}{Y}(?:$|[^0-9])"
    rf"|(?:^|[^0-9./-]){Y}(?:{SEP}{LOOSE}){{2}}(?:$|[^0-9])"
    rf"|(?:^|[^0-9./-]){LOOSE}/{LOOSE}/[0-9]{{2}}(?:$|[^0-9/])"
    rf"|(?:^|[^0-9]){Y}{M}{D}T[0-9]{{4}}|[^0-9A-Za-z.](?:19|20)[0-9]{{2}}{M}{D}(?:$|[^0-9.])"
    rf"|(?:^|[^0-9]){M}[./-][*xX]{{1,2}}[./-]{Y}(?:$|[^0-9])|(?:^|[^0-9])[*xX]{{1,2}}[./-]{D}[./-]{Y}(?:$|[^0-9])"
    rf"|(?:^|[^0-9]){Y}-{M}-[*xX]{{1,2}}|(?:^|[^0-9]){Y}-[*xX]{{1,2}}-{D}(?:$|[^0-9])"
    rf"|(?i)\b{MONTH}[ .,/-]+(?:[0-9*]{{1,2}}(?:st|nd|rd|th)?[ .,/-]+)?(?:[0-9:.]+ (?:[a-z]{{3,4}} )?)?{Y}\b"
    rf"|(?i)\b{LOOSE}[ ./-]?{MONTH}[ ./'-]{{0,2}}(?:{Y}|[0-9]{{2}})(?:$|[^0-9])"
    rf"|(?i)(?:^|[^0-9]){Y}(?:[./-]?{MONTH}(?:$|[^a-z])|[ ,]{{1,2}}{MONTH}[ ,]{{1,2}}[0-9]{{1,2}}\b)"
    rf"|(?i)\b{FULL} +{LOOSE}(?:st|nd|rd|th)?\b|\b{LOOSE}(?:st|nd|rd|th)?(?: of)? +{FULL}\b"
    rf"|(?i)\b(?:the )?{NTH}(?: of)? +{MONTH}\b|\b{MONTH}\.? +{NTH}\b"
)
"""Dates, or texts with one in them, that can hardly be anything else."""
PERHAPS = (
    rf"(?:^|[^0-9-]){Y}-{M}(?:$|[^0-9-])"
    rf"|(?:^|[^0-9A-Za-z]){Y}[- ]?[QqWw][0-9]{{1,2}}\b|\b[Qq][1-4][ /-]{Y}\b|^[1-4][Qq][ -]?[0-9]{{2,4}}$"
    rf"|(?:^|[^0-9/.-])(?:{M}[/.-]|[1-9]/){Y}(?:$|[^0-9-])"
    rf"|^{LOOSE}[./-]{LOOSE}[./-][0-9]{{2}}(?: .*)?$|^{Y}-[0-3][0-9]{{2}}$|^{LOOSE} {LOOSE} {Y}$|^{Y} {LOOSE} {LOOSE}$"
    rf"|^{Y}{M}{D}(?:[0-9]{{4}}|[0-9]{{6}})?$"
    r"|^(?:[01]?[0-9]|2[0-4]):[0-5][0-9](?::[0-9.]+)?(?: ?[AaPp]\.?[Mm]\.?)?$"
    rf"|(?i)^(?:{WEEKDAY}|{MONTH})$|^{MONTH}[ ./'-]{{1,2}}[0-9]{{1,2}}(?:$|[,/-]| [0-9])|^{LOOSE}[ ./-]?{MONTH}$|^{Y} {MONTH}$"
    rf"|(?i)\b(?:spring|summer|autumn|fall|winter)[ ,-]+{Y}\b|\b(?:week|wk) ?[0-9]{{1,2}}[ ,/-]+{Y}\b"
)
"""What may be a part of a date, and may be something else."""
IF_NAMED = rf"^{Y}-[1-9]$|^{Y}{M}$|^[Qq][1-4]$"
RATIO = r"^1:[0-9]+$"
COARSE = re.compile(rf"(?<!\d){Y}[-/](?:1[3-9]|[2-9]\d)(?!\d)|(?<!\d){Y}s?(?!\d)|(?<!\d)[12]\d{{0,2}}\*+")
OLD = r"(?i)\b(?:9[0-9]|1[0-2][0-9])[ -]?(?:(?:years?|yrs?\.?|y)[ -]?(?:old|o)\b|y/o\b|yo\b)"
"""Ages above 89 within texts."""
WHOLE_YEARS = (
    r"^\[\s*[0-9]{4}-01-01\s*,\s*[0-9]{4}-(?:01-01\s*[)\[]|12-31\s*\])$"
    r"|^(?:<|>=|≥)\s*[0-9]{4}-01-01$|^(?:<=|>|≤)\s*[0-9]{4}-12-31$"
)
LETTERS = re.compile(r"[^\W\d_]+")
IN_DATES = re.compile(
    rf"(?i){MONTH}|{WEEKDAY}|[tzqws]|am|pm|utc|gmt|st|nd|rd|th|of|the|to|week|wk|spring|summer|autumn|fall|winter"
)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SPELLED = re.compile(r"(?i)\bninet(?:y|ies)|\bhundred|\bnonagen|\bcenten")
UNIT = re.compile(r"(?i)\d\s*-?\s*(months?|mos?|mths?|weeks?|wks?|days?|d|hours?|hrs?)\b")
MASKED = re.compile(r"^(\d+)([*xX_]+)$")
OPEN = re.compile(r"(?i)^\D*[>≥]|\+\s*\D*$|∞|,\s*[)\]]|\b(?:over|older|above|more|plus|(?:and|or) up)\b|\binf\b")
BELOW = re.compile(r"(?i)^\s*[<≤]|\b(?:under|below|younger|less|up to|at most)\b")
BEYOND = re.compile(r"(?i)^\s*(?:[(\]]|>\s*\d|(?:over|older than|above|more than)\b)")
FOUR = re.compile(rf"(?<!\d)({Y})(s?)(?!\d)")
CODE = re.compile(r"^(\d{1,3})([*_xX -]*)$")
CODES = re.compile(r"^[\[(]\s*(\d{1,5})\s*,\s*(\d{1,5})\s*([\])\[])$")
