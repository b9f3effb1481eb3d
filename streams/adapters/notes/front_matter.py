"""The properties at the beginning of a Markdown file: YAML between two lines of `---`, or Notion's.

Only what programs for notes write is read: texts, lists of texts, and no nested values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time, tzinfo

from recollect.streams.adapters.chats.month_names import month_number

_BLOCK = re.compile(r"---[ \t]*\n(.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"([\w][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_COMMENT = re.compile(r"(?:^|\s)#\s.*")
_LISTED = re.compile(r"""\s*("[^"]*"|'[^']*'|[^,]+)""")
# Names of the properties with the time at which a note was written, in order of preference.
_TIMES = (
    "created",
    "created_at",
    "date created",
    "creation_date",
    "created-at",
    "created time",
    "date",
    "datetime",
)
_TIME = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:(?:T|,?\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?)?"
)
# Notion's form: "March 5, 2024 1:02 PM".
_TIME_IN_WORDS = re.compile(
    r"(?P<month>[^\W\d_]{3,12}) (?P<day>\d{1,2}), (?P<year>\d{4})"
    r"(?: (?P<hour>\d{1,2}):(?P<minute>\d{2}) (?P<half>[AP])M)?"
)
# Notion writes the properties of a page of a database below its title, one on a line.
_BELOW_TITLE = re.compile(r"\s*# [^\n]*\n\s*\n((?:[^\n:]{1,60}: [^\n]+(?:\n|\Z))+)(?:\s*\n|\Z)")

Properties = dict[str, str | list[str]]


def split_front_matter(text: str) -> tuple[Properties, str]:
    """Return the properties of a note, and the text below them; prose between rules is text."""
    block = _BLOCK.match(text)
    lines = (block[1] or "").split("\n") if block is not None else []
    if block is None or not _are_properties(lines):
        return {}, text
    properties: Properties = {}
    name = ""
    for line in lines:
        if name and (item := _ITEM.fullmatch(line)):
            found = properties[name]
            if not isinstance(found, list):
                properties[name] = found = [found] if found else []
            found.append(_text(item[1]))
        elif field := _FIELD.fullmatch(line.rstrip()):
            name = field[1].casefold()
            properties[name] = _value(field[2] or "")
        elif name and line.startswith((" ", "\t")) and isinstance(properties[name], str):
            # A text of several lines; its first line may hold only the style, ">" or "|".
            before = str(properties[name]).lstrip(">|+-")
            properties[name] = f"{before} {line.strip()}".strip()
    return {key: value for key, value in properties.items() if value}, text[block.end() :]


def properties_below_title(text: str) -> Properties:
    """Return the properties that Notion writes below the title of a page."""
    block = _BELOW_TITLE.match(text)
    lines = block[1].splitlines() if block is not None else []
    parted = (line.partition(": ") for line in lines)
    return {name.strip().casefold(): value.strip() for name, _, value in parted if value.strip()}


def _are_properties(lines: Sequence[str]) -> bool:
    """Return whether lines are properties: fields, with items and further lines below them."""
    told = [line for line in lines if line.strip() and not line.startswith("#")]
    return all(
        _FIELD.fullmatch(line.rstrip())
        or (place and (_ITEM.fullmatch(line) or line.startswith((" ", "\t", "-", "]"))))
        for place, line in enumerate(told)
    )


def _value(written: str) -> str | list[str]:
    written = written.strip()
    if written.startswith("[") and written.endswith("]") and not written.startswith("[["):
        return [_text(one) for one in _LISTED.findall(written[1:-1]) if one.strip()]
    return _text(written)


def _text(written: str) -> str:
    written = written.strip()
    if len(written) > 1 and written[0] == written[-1] and written[0] in "\"'":
        return written[1:-1].replace('\\"', '"') if written[0] == '"' else written[1:-1]
    return _COMMENT.sub("", written).strip()


def texts(value: str | list[str] | None) -> list[str]:
    """Return the texts of a property, such as `tags`: a list, or separated by commas."""
    if value is None:
        return []
    found = value if isinstance(value, list) else value.split(",")
    return [text for one in found if (text := one.strip())]


def written_at(properties: Properties, zone: tzinfo) -> datetime | None:
    """Return the time at which a note was written, or None; a time without a zone is in `zone`."""
    for name in _TIMES:
        value = properties.get(name)
        if isinstance(value, str) and (at := time_of(value.strip("[]"), zone)) is not None:
            return at
    return None


def time_of(written: str, zone: tzinfo) -> datetime | None:
    """Return the time at the beginning of a text, or None; a day without a time is its start."""
    found = _TIME.match(written)
    if found is None:
        return _time_in_words(written, zone)
    year, month, day, hour, minute, second, offset = found.groups()
    try:
        on = date(int(year), int(month), int(day))
        at = datetime.combine(on, time(int(hour or 0), int(minute or 0), int(second or 0)), zone)
        if offset:
            at = datetime.fromisoformat(f"{at:%Y-%m-%dT%H:%M:%S}{offset}")
    except ValueError:
        return None
    return at


def _time_in_words(written: str, zone: tzinfo) -> datetime | None:
    found = _TIME_IN_WORDS.match(written)
    month = month_number(found["month"]) if found is not None else None
    if found is None or month is None:
        return None
    hour = int(found["hour"] or 0) % 12 + (12 if found["half"] == "P" else 0)
    day = (int(found["year"]), month, int(found["day"]))
    try:
        return datetime(*day, hour, int(found["minute"] or 0), tzinfo=zone)
    except ValueError:
        return None
