"""ChatGPT's marks: places in a text where its page shows a card, a link or a source.

A mark is U+E200, its kind, and fields that U+E202 separates, up to U+E201. Its label is kept as
text; a mark of a source, which has no label, is removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201|\ue200([^\ue200\ue201\n]*)(?=\n|\\Z)")
_SEPARATORS = re.compile("[\ue202\ue203\ue204]")
_REMAINS = re.compile("[\ue200-\ue206]")
# Kinds of marks for sources, pictures and cards, which contain no words of the answer.
_UNLABELLED = frozenset(
    {"cite", "filecite", "memcite", "i", "image", "image_group", "genui", "map", "products"}
    | {"entity_metadata", "forecast", "finance", "sports", "schedule", "standing", "game"}
)
_KIND = re.compile(r"[a-z][a-z_]*")
# References to search results and files, ranges of lines, and addresses.
_REFERENCE = re.compile(r"(?:turn\d+\w*|file[-\w]*|L\d+(?:-L?\d+)?|[a-z]+://\S*)(?:,\s*|\Z)")
_ADDRESS = re.compile(r"https?://\S+\Z")
# Sources in the forms of earlier versions, and a mark whose separators were lost in copying.
_SOURCE = re.compile(
    "\u3010[^\u3010\u3011\n]*(?:\u2020|turn\\d|oaicite)[^\u3010\u3011\n]*\u3011"
    r"|:contentReference\[oaicite:\d+\]\{index=\d+\}|:chatgpt-content-reference\{[^{}\n]*\}"
    r"|\[oaicite:\d+\]|\b(?:file|mem)?cite(?:turn\d+[a-z]+\d+)+\b"
)


def without_marks(text: str, references: Mapping[str, str]) -> str:
    """Return a text in which each mark is replaced by its label.

    `references`: the labels of marks that contain none.
    """
    if "\ue200" in text:
        text = _MARK.sub(lambda found: _label(found, references), text)
    return _REMAINS.sub("", _SOURCE.sub("", text))


def labels(references: object) -> dict[str, str]:
    """Return the labels in a message's `content_references`, by mark."""
    found: dict[str, str] = {}
    for one in references if isinstance(references, list) else ():
        if isinstance(one, dict) and isinstance(mark := one.get("matched_text"), str):
            names = (one.get("name"), one.get("title"))
            label = next((name for name in names if isinstance(name, str) and name.strip()), None)
            if label is not None:
                found[mark] = label
    return found


def _label(mark: re.Match[str], references: Mapping[str, str]) -> str:
    body: str = mark[1] if mark[1] is not None else mark[2]
    kind = _KIND.match(body)
    if kind is None or kind[0] in _UNLABELLED:
        return ""
    fields = [field.strip() for field in _SEPARATORS.split(body[kind.end() :])]
    named = (*map(_name, fields), references.get(mark[0]))
    addresses = (field for field in fields if _ADDRESS.match(field))
    return next((name for name in (*named, *addresses) if name), "")


def _name(field: str) -> str:
    """Return the words that ChatGPT shows for a field, or "" if there are none."""
    if field.startswith(("[", "{")):
        return _name_in(field)
    return "" if _REFERENCE.match(field) else field


def _name_in(field: str) -> str:
    """Return the name from a JSON array [type or reference, name, description] or an object."""
    try:
        values: Any = json.loads(field)
    except (ValueError, RecursionError):
        return ""
    if isinstance(values, dict):
        name = values.get("name", values.get("title"))
    else:
        name = values[1] if len(values) > 1 else next(iter(values), "")
    return name.strip() if isinstance(name, str) else ""
