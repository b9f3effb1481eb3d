"""Tag filters: lists of tags with a match mode, and boolean groups of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from recollect import InvalidInput

TagsMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]

#: Returns whether the tags of a memory match.
TagPredicate = Callable[[set[str]], bool]

_MAX_DEPTH = 16
_MALFORMED_GROUP = (
    "tag_groups: each must be an object with one of the keys `tags`, `and`, `or`, `not`"
)


def tag_filter(
    tags: Sequence[str] | None, match: TagsMatch, groups: Sequence[Any] | None = None
) -> TagPredicate | None:
    """Return a predicate for a list of tags and all groups; None if it would accept everything.

    Raises:
        InvalidInput: the match mode is unknown, or a group is malformed.
    """
    parts = [_group(group) for group in groups or ()]
    if tags or match == "exact":
        parts.append(_matching(set(tags or ()), match))
    if not parts:
        return None
    return lambda memory_tags: all(part(memory_tags) for part in parts)


def _matching(expected: set[str], match: str) -> TagPredicate:
    modes: dict[str, TagPredicate] = {
        "any": lambda tags: not tags or bool(tags & expected),
        "all": lambda tags: not tags or expected <= tags,
        "any_strict": lambda tags: bool(tags & expected),
        "all_strict": lambda tags: bool(tags) and expected <= tags,
        "exact": lambda tags: tags == expected,
    }
    if match not in modes:
        raise InvalidInput(f"tags_match {match[:40]!r}: choose from {', '.join(modes)}")
    return modes[match]


def _group(group: Any, depth: int = 0) -> TagPredicate:
    if not isinstance(group, Mapping) or depth > _MAX_DEPTH:
        raise InvalidInput(_MALFORMED_GROUP)
    if isinstance(group.get("tags"), list):
        return _matching(set(map(str, group["tags"])), str(group.get("match") or "any_strict"))
    for name, join in (("and", all), ("or", any)):
        if isinstance(group.get(name), list):
            parts = [_group(part, depth + 1) for part in group[name]]
            return lambda tags, join=join, parts=parts: join(part(tags) for part in parts)  # type: ignore[misc]
    if "not" in group:
        negated = _group(group["not"], depth + 1)
        return lambda tags: not negated(tags)
    raise InvalidInput(_MALFORMED_GROUP)


def pattern(wildcards: str) -> re.Pattern[str]:
    """Return a pattern for a whole tag, ignoring case; `*` matches any text."""
    parts = map(re.escape, wildcards.split("*"))
    return re.compile(".*".join(parts), re.IGNORECASE | re.DOTALL)
