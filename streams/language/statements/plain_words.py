"""What is said without the marks that only format it, as Markdown has them."""

from __future__ import annotations

import re

#: Stars around words, as in "*all* of it"; not "*Tuesday", with which somebody corrects himself.
_EMPHASISED = re.compile(
    r"(?<![\w*])(?P<mark>\*{1,2})(?P<said>[^\s*](?:[^*\n]*[^\s*])?)(?P=mark)(?![\w*])"
)
#: Of bold words often only one end is in the sentence; "2**3" is a power.
_BOLD = re.compile(r"\*\*(?!\d)|(?<![\d*])\*\*")
_UNDERLINED = re.compile(
    r"(?<![\w_])(?P<mark>_{1,2})(?P<said>[^\s_](?:[^_\n]*[^\s_])?)(?P=mark)(?![\w_])"
)
_CODE = re.compile(r"(?<!`)`(?P<said>[^`\n]+)`(?!`)")
#: Signs of headings, lists and quotations.
_OPENING = re.compile(r"\A(?:(?:#{1,6}|[-+*•>])\s+)+")


def without_marks(said: str) -> str:
    """Return what is said without signs of headings and lists and without marks around words."""
    said = _OPENING.sub("", said)
    if "*" in said:
        said = _BOLD.sub("", _EMPHASISED.sub(r"\g<said>", said))
    if "`" in said:
        said = _CODE.sub(r"\g<said>", said)
    if "_" in said:
        said = _UNDERLINED.sub(r"\g<said>", said)
    return said
