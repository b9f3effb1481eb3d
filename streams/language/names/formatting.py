"""Formatting marks (Markdown, Slack's links, HTML), which are not part of the content."""

from __future__ import annotations

import html
import re

from recollect.schemas.names import same_length_marks

# Formatting, which becomes spaces except for the text of a link and the character of an entity.
_LINK = re.compile(r"\[(?P<said>[^\[\]\n]{1,120})\]\([^()\s]{1,300}\)")
_SLACK_LINK = re.compile(r"<[^<>|\s]{1,300}\|(?P<said>[^<>|\n]{1,120})>")
_TAG = re.compile(
    r"</?(?:a|b|i|u|s|p|em|strong|br|hr|div|span|li|ul|ol|h[1-6]|code|pre|tt|td|tr|th|table|tbody|"
    r"thead|img|del|ins|blockquote|font|small|sub|sup|mark)(?: [^<>\n]{0,200})?/?>",
    re.IGNORECASE,
)
_CHARACTER = re.compile(r"&(?:#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5}|[a-zA-Z]{2,8});")
_EMPHASIS = re.compile(r"(?<!\w)[*_~`]{1,3}(?=\w)|(?<=[\w.!?)])[*_~`]{1,3}(?!\w)")
_MARKS = re.compile(r"[*_~`&<\[]")
_LINE = re.compile(r"^[ \t#>|]*[#>|][ \t]+", re.MULTILINE)
_EDGES = " \t\n|<>*`~"


def unformatted(text: str) -> str:
    """Return a text of the same length with formatting marks replaced by spaces.

    Hyphens, apostrophes and spaces are unified.
    """
    return _without_formatting(same_length_marks(text))


def _without_formatting(text: str) -> str:
    if _MARKS.search(text):
        for pattern in (_LINK, _SLACK_LINK):
            text = pattern.sub(_only_said, text)
        text = _TAG.sub(_blank, text)
        text = _CHARACTER.sub(_as_character, text)
        text = _EMPHASIS.sub(_blank, text)
    return _LINE.sub(_blank, text) if _LINE.search(text) else text


def plain_name(name: str) -> str:
    """Return a name without formatting marks; unchanged if nothing else is left."""
    plain = " ".join(_without_formatting(html.unescape(name)).split())
    plain = plain.partition("|")[0] if "|" in plain.strip("| ") else plain
    return plain.strip(_EDGES) or name


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _only_said(match: re.Match[str]) -> str:
    start, end = match.start("said") - match.start(), match.end("said") - match.start()
    return " " * start + match["said"] + " " * (len(match[0]) - end)


def _as_character(match: re.Match[str]) -> str:
    """Return the character of an HTML entity, padded with spaces; no mark and no line break."""
    meant = html.unescape(match[0])
    shown = meant if len(meant) == 1 and (meant.isalnum() or meant in "&'’@+") else " "
    return shown + " " * (len(match[0]) - 1)
