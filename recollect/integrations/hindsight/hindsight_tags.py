"""Which tags let a memory through: lists of them with a way to match, and groups of such lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from recollect import InvalidInput

TagsMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]

#: Whether the tags of a memory fit.
Fits = Callable[[set[str]], bool]

_DEEPEST = 16


def tag_filter(
    tags: Sequence[str] | None, match: TagsMatch, groups: Sequence[Any] | None = None
) -> Fits | None:
    """Return what fits a list of tags and every group; None where anything does.

    Raises:
        InvalidInput: a group is none.
    """
    parts = [_group(group) for group in groups or ()]
    if tags or match == "exact":
        parts.append(_matching(set(tags or ()), match))
    if not parts:
        return None
    return lambda held: all(part(held) for part in parts)


def _matching(wanted: set[str], match: str) -> Fits:
    ways: dict[str, Fits] = {
        "any": lambda held: not held or bool(held & wanted),
        "all": lambda held: not held or wanted <= held,
        "any_strict": lambda held: bool(held & wanted),
        "all_strict": lambda held: bool(held) and wanted <= held,
        "exact": lambda held: held == wanted,
    }
    if match not in ways:
        raise InvalidInput(f"tags_match {match[:40]!r}: choose from {', '.join(ways)}")
    return ways[match]


def _group(group: Any, depth: int = 0) -> Fits:
    if not isinstance(group, Mapping) or depth > _DEEPEST:
        raise InvalidInput("tag_groups: give objects with tags, and, or, or not")
    if isinstance(group.get("tags"), list):
        return _matching(set(map(str, group["tags"])), str(group.get("match") or "any_strict"))
    for name, join in (("and", all), ("or", any)):
        if isinstance(group.get(name), list):
            parts = [_group(part, depth + 1) for part in group[name]]
            return lambda held, join=join, parts=parts: join(part(held) for part in parts)  # type: ignore[misc]
    if "not" in group:
        without = _group(group["not"], depth + 1)
        return lambda held: not without(held)
    raise InvalidInput("tag_groups: give objects with tags, and, or, or not")


def pattern(wildcards: str) -> re.Pattern[str]:
    """Return what matches a whole tag, where `*` stands for anything; case does not count."""
    parts = map(re.escape, wildcards.split("*"))
    return re.compile(".*".join(parts), re.IGNORECASE | re.DOTALL)
