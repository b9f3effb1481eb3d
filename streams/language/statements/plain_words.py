"""Text without formatting marks, such as those of Markdown."""

from __future__ import annotations

import re

#: Asterisks around words, as in "*all* of it"; not "*Tuesday", which is a correction.
_EMPHASISED = re.compile(
    r"(?<![\w*])(?P<mark>\*{1,2})(?P<said>[^\s*](?:[^*\n]*[^\s*])?)(?P=mark)(?![\w*])"
)
#: A sentence often contains only one end of bold text; "2**3" is a power.
_BOLD = re.compile(r"\*\*(?!\d)|(?<![\d*])\*\*")
_UNDERLINED = re.compile(
    r"(?<![\w_])(?P<mark>_{1,2})(?P<said>[^\s_](?:[^_\n]*[^\s_])?)(?P=mark)(?![\w_])"
)
_CODE = re.compile(r"(?<!`)`(?P<said>[^`\n]+)`(?!`)")
#: Marks of headings, lists and quotations.
_OPENING = re.compile(r"\A(?:(?:#{1,6}|[-+*•>])\s+)+")


def without_marks(said: str) -> str:
    """Return a text without marks of headings and lists and without marks around words."""
    said = _OPENING.sub("", said)
    if "*" in said:
        said = _BOLD.sub("", _EMPHASISED.sub(r"\g<said>", said))
    if "`" in said:
        said = _CODE.sub(r"\g<said>", said)
    if "_" in said:
        said = _UNDERLINED.sub(r"\g<said>", said)
    return said
