"""Ids of entities: one for all spellings of a name, date or measure."""

import re
import unicodedata

from causalist._internal.lazy import lazy_regex

MIN_NAME_CHARACTERS = 2  # characters
MAX_NAME_CHARACTERS = 120
_SPACE = re.compile(r"\s+|(?<=[^\W_])_+(?=[^\W_])")
_EDGES = " \t\r\n.,;:!?\"'`*()[]{}<>|\\/“”‘’«»…-–—#=&"
_DIGIT = re.compile(r"\d")
_THOUSANDS = lazy_regex(r"(?<=\d),(?=\d{3}(?!\d))")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_STARTS = frozenset(_MONTHS)
_MONTH_NAME = (
    "(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATES = (
    lazy_regex(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH_NAME},? (?P<year>\d{{4}})"),
    lazy_regex(rf"{_MONTH_NAME} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})"),
    lazy_regex(rf"{_MONTH_NAME} (?P<year>\d{{4}})"),
)
_SLASHED = lazy_regex(r"\d{4}/\d\d/\d\d")  # other orders have two readings
_UNIT_NAMES = {
    name: unit
    for unit, names in {
        "s": "second seconds sec secs", "ms": "millisecond milliseconds", "µs": "microsecond microseconds",
        "ns": "nanosecond nanoseconds", "min": "minute minutes mins", "hours": "hour h hr hrs", "days": "day",
        "weeks": "week", "months": "month", "years": "year", "kb": "kilobyte kilobytes", "mb": "megabyte megabytes",
        "gb": "gigabyte gigabytes", "bytes": "byte", "bits": "bit", "%": "percent",
    }.items()
    for name in names.split()
}  # fmt: skip
_UNITS = frozenset({*_UNIT_NAMES, *_UNIT_NAMES.values()}) | frozenset(
    ("m", "km", "cm", "mm", "kg", "g", "mg", "hz", "khz", "mhz", "ghz", "w", "kw", "mw", "gw", "v", "kv", "mv", "ma",
     "kib", "mib", "gib", "tib", "tb", "km/h", "mg/dl", "mmhg", "°c", "°f", "px", "pt")
)  # fmt: skip
# A single letter but h needs a space: 1980s and 5G are no measures.
_MEASURE = lazy_regex(r"(\d{1,9}(?:[.,]\d{1,6})*)(?:[ -]([a-z])|[ -]?(%|°[cf]|h|[a-zµ/]{2,12}))")


def normalize(name: str) -> str:
    """Return a name in lower case, NFKC, with single spaces, without outer punctuation or the brackets of a call.

    Dates are in ISO 8601, units of measures have one name.

    >>> normalize(' "JSON_Web  Token", '), normalize("Session.verify()"), normalize("C++"), normalize("__init__")
    ('json web token', 'session.verify', 'c++', '__init__')
    >>> [normalize(each) for each in ("1 March 2024", "March 1st, 2024", "Sept 2024", "10ms", "1,500 milliseconds")]
    ['2024-03-01', '2024-03-01', '2024-09', '10 ms', '1500 ms']
    >>> [normalize(each) for each in ("1980s", "3Com", "Decision 2024", "24-hours")]
    ['1980s', '3com', 'decision 2024', '24 hours']
    """
    text = (name if name.isascii() else unicodedata.normalize("NFKC", name)).strip()
    text = text.removesuffix("()").strip(_EDGES).lower()
    text = _SPACE.sub(" ", text).strip() if "_" in text else " ".join(text.split())
    may_be_quantity = len(text) < 40 and (text[:1].isdecimal() or text[:3] in _MONTH_STARTS)
    return _normalize_quantity(text) if may_be_quantity and not text.isalpha() and _DIGIT.search(text) else text


def _normalize_quantity(text: str) -> str:
    """Return a date in ISO 8601, or a measure with the one name of its unit; other text as it is."""
    measure = _MEASURE.fullmatch(text)
    if measure is not None and (unit := measure[2] or measure[3]) in _UNITS:
        return f"{_THOUSANDS.sub('', measure[1])} {_UNIT_NAMES.get(unit, unit)}"
    if _SLASHED.fullmatch(text):
        return text.replace("/", "-")
    for pattern in _DATES:
        if date := pattern.fullmatch(text):
            month = _MONTHS.index(date["month"][:3]) + 1
            day = f"-{int(date['day']):02}" if date.groupdict().get("day") else ""
            return f"{date['year']}-{month:02}{day}"
    return text


def entity_id(name: str) -> str:
    """Return the id of the entity of a name, or "" if the normalized name is too short or too long.

    >>> entity_id("Machine  learning"), entity_id("machine_learning"), entity_id("--")
    ('machine_learning', 'machine_learning', '')
    """
    letters = name.replace(" ", "")
    is_plain = letters.isalpha() and letters.isascii() and "  " not in name and name[0] != " " and name[-1] != " "
    text = name.lower() if is_plain else normalize(name)
    return text.replace(" ", "_") if MIN_NAME_CHARACTERS <= len(text) <= MAX_NAME_CHARACTERS else ""
