"""Texts that were pasted into a message, to be read or worked on.

Such a text says nothing about its sender. It is recognised by its context (a request before or
after it, a line that gives its origin, delimiters around it), or as a letter by somebody else. The
length and the style of a message are no evidence: in doubt, a text is its sender's own.
"""

from __future__ import annotations

import re

from recollect.streams.language.grammar.letters import Letter, find_letters, words_of
from recollect.streams.language.grammar.pasted_forms import (
    BEFORE_COLON,
    CAME,
    LINE_AFTER,
    LINE_BEFORE,
    OF_A_LETTER,
    SHOWN,
    THIS_TEXT,
)
from recollect.text.prompts import first_person

Span = tuple[int, int]

#: In words: the minimum length of a text that precedes or follows a request on another line.
_LEAST = 20
#: In words: the minimum length of a text that follows a request on the same line.
_LEAST_IN_LINE = 60
#: The maximum length of a line with a request, in words and in characters.
_LONGEST_ASKING, _LONGEST_LINE = 24, 240
#: The maximum number of tags that are examined.
_MOST_TAGS = 20
#: The maximum number of words that introduce a letter.
_LONGEST_BEFORE_LETTER = 40
_TRIPLE = re.compile("\"\"\"|'''")
_QUOTED_LINES = re.compile(r'(?m)^[ \t]*(?:"[^"]+"|“[^“”]+”)[ \t\r]*$')
_RULE = re.compile(r"(?m)^[ \t\r]*[-=*_]{3,}[ \t\r]*$")
_TAG = re.compile(r"<([A-Za-z][\w-]{0,20})>")
_HEADERS = re.compile(
    r"^(?:(?:From|Sent|To|Date|Subject|Cc|Von|An|Betreff): [^\n]*\n+){2}", re.I | re.MULTILINE
)
_SENTENCE_END = re.compile(r"[.!?]\s+\S")
_LINE = re.compile(r"[^\s][^\n]*")
_DIRECTION = re.compile(r"(?m)^[ \t]*\([^()\n]+\)[ \t\r]*$")
_TITLES = frozenset({"mr", "mrs", "ms", "mme", "mlle", "miss", "dr", "prof"})


def pasted(text: str, speaker: str | None = None) -> list[Span]:
    """Return the spans of the texts that `speaker` pasted into a message, in order and disjoint."""
    spans: list[Span] = []
    if ":" in text or "\n" in text:
        if opened := BEFORE_COLON.search(text):
            spans.append((opened.end(), len(text)))
        elif came := CAME.search(text):
            # On the same line, it extends to the end of its paragraph.
            end = -1 if text[came.end()] in "\r\n" else text.find("\n\n", came.end())
            spans.append((came.end(), len(text) if end < 0 else end))
    if not spans and _is_very_long(text, 0):
        said = THIS_TEXT.search(text, 0, _LONGEST_LINE)
        if said is not None and _is_very_long(text, said.end()):
            spans.append((said.end(), len(text)))
    if "\n" in text:
        spans += _in_lines(text, speaker)
        spans += _directions(text, speaker)
    if "</" in text:
        spans += _between_tags(text)
    return _joined(spans)


def _directions(text: str, speaker: str | None) -> list[Span]:
    """Return the lines in brackets that are stage directions for the speaker: "(Kenta sighs.)"."""
    name = speaker.split(" ")[0].lower() if speaker else ""
    found = (one for one in _DIRECTION.finditer(text) if name and name in one[0].lower())
    return [one.span() for one in found if not first_person(one[0])]


def _in_lines(text: str, speaker: str | None) -> list[Span]:
    """Return the pasted texts that have lines of their own."""
    lines = [one.span() for one in _LINE.finditer(text)]
    if len(lines) < 2:
        return []
    letters = find_letters(text, lines)
    spans = [(one.start, one.end) for one in letters if _is_anothers(text, one, speaker)]
    spans += _fenced(text, lines)
    if spans or letters:
        return spans  # the author of a letter, not the request, decides whose it is
    headers = _HEADERS.search(text)
    if headers is not None and text[: headers.start()].strip():
        return [(headers.start(), len(text))]
    first, last = lines[0], lines[-1]
    if _asks(text, first, LINE_BEFORE) and _is_long(text, first[1], len(text)):
        return [(first[1], len(text))]
    if _asks(text, last, LINE_AFTER) and _is_long(text, 0, last[0]):
        return [(0, last[0])]
    return []


def _asks(text: str, line: Span, form: re.Pattern[str]) -> bool:
    """Whether a line is a request of one of these forms, without a further sentence."""
    said = text[slice(*line)].strip()
    if len(said) > _LONGEST_LINE or len(said.split()) > _LONGEST_ASKING:
        return False
    return form.match(said) is not None and _SENTENCE_END.search(said) is None


def _fenced(text: str, lines: list[Span]) -> list[Span]:
    """Return text in triple quotes, long quoted lines, and text between rules below a request."""
    marks = [one.span() for one in _TRIPLE.finditer(text)]
    spans = [(one[1], two[0]) for one, two in zip(marks[::2], marks[1::2], strict=False)]
    if not spans:
        quoted = (one.span() for one in _QUOTED_LINES.finditer(text))
        spans = [span for span in quoted if _is_long(text, *span)]
    rules = [one.span() for one in _RULE.finditer(text)]
    if rules and not spans and lines[1] == rules[0]:
        start, end = lines[0]
        if end - start <= _LONGEST_LINE and SHOWN.search(text, start, end):
            spans.append((rules[0][1], rules[1][0] if len(rules) > 1 else len(text)))
    return [span for span in spans if text[: span[0]].strip("\"' \t\n")]


def _between_tags(text: str) -> list[Span]:
    """Return text between a tag and its end: "<text> … </text>"."""
    spans: list[Span] = []
    for number, tag in enumerate(_TAG.finditer(text)):
        if number == _MOST_TAGS:
            break
        end = text.find(f"</{tag[1]}>", tag.end())
        if end > 0 and _is_long(text, tag.end(), end):
            spans.append((tag.end(), end))
    return spans


def _is_anothers(text: str, letter: Letter, speaker: str | None) -> bool:
    """Whether a letter is not the sender's: it is to them, or shown and signed by somebody else."""
    own = set(words_of(speaker or ""))
    if not letter.signed or own & set(letter.signed):
        return False
    if own & set(letter.to) and set(letter.to) <= own | _TITLES:
        return True
    before = text[: letter.start].split()
    if 0 < len(before) <= _LONGEST_BEFORE_LETTER and SHOWN.search(text, 0, letter.start):
        return True
    behind = [one.span() for one in _LINE.finditer(text, letter.end)]
    return len(behind) == 1 and _asks(text, behind[0], OF_A_LETTER)


def _is_long(text: str, start: int, end: int) -> bool:
    return len(text[start:end].split(None, _LEAST)) >= _LEAST


def _is_very_long(text: str, start: int) -> bool:
    return len(text[start:].split(None, _LEAST_IN_LINE)) > _LEAST_IN_LINE


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
