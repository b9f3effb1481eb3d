"""Virtual paths of stored memories: by id, by user, by agent, and by zone.

    /objs/memory/ID
    /memory/by-user/USER/FILE
    /memory/by-agent/AGENT/FILE
    /workspace/ZONE/USER/AGENT/memory/FILE

Below `workspace` the user and the agent may change places, and any of the three names may be left
out. FILE is the namespace and the path key; without a path key, the id of the first version. In
names, the characters that have a meaning in paths are percent-encoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from recollect.projections.memory.listing.stored_memory_list import MemoryPlace

#: The names in a path, decoded.
Names = tuple[str, ...]

OBJECTS: Names = ("objs", "memory")
#: In a pattern, any number of names.
ANY_DEPTH = "**"

_SPECIAL = re.compile(r"[%/*?\x00-\x1f\x7f]|^\.{1,2}$")
# Lone surrogates, which no name contains, mark the wildcards of a name.
_STAR, _ONE = "\udc2a", "\udc3f"
_Matcher = Callable[[str], bool]
P = TypeVar("P")
T = TypeVar("T")


def parse(path: str) -> Names:
    """Return the names in a path."""
    return tuple(unquote(name) for name in path.split("/") if name)


def text_of(names: Sequence[str], *, is_directory: bool = False) -> str:
    """Return names as a path; the path of a directory ends with a slash."""
    path = "".join(f"/{_SPECIAL.sub(_encoded, name)}" for name in names)
    return f"{path}/" if is_directory else path


def _encoded(found: re.Match[str]) -> str:
    return "".join(f"%{ord(character):02X}" for character in found[0])


def directories(zone: str, place: MemoryPlace) -> Iterator[Names]:
    """Yield the directories in which the memories of a place are files, preferred ones first."""
    user, agent, namespace = place
    below = tuple(name for name in (namespace or "").split("/") if name)
    if user is not None:
        yield ("memory", "by-user", user, *below)
    if agent is not None:
        yield ("memory", "by-agent", agent, *below)
    owners: list[Names] = [(), *((name,) for name in (user, agent) if name is not None)]
    if user is not None and agent is not None:
        owners = [(user, agent), (agent, user), *owners]
    for names in owners:
        yield ("workspace", zone, *names, "memory", *below)
        if names:
            yield ("workspace", *names, "memory", *below)


class Owners(NamedTuple):
    """A filter of memories by owner: a user, an agent, or whichever of the two has a name."""

    user_id: str | None = None
    agent_id: str | None = None
    user_or_agent: str | None = None


def owners_of(zone: str, names: Sequence[str]) -> Owners:
    """Return the owners whose memories can have a path that begins with these names."""
    padded: list[str | None] = [*names, None, None, None]
    mount, first, second = padded[:3]
    if mount == "memory":
        if first == "by-user":
            return Owners(user_id=second)
        if first == "by-agent":
            return Owners(agent_id=second)
    elif mount == "workspace":
        if first != zone:
            return Owners(user_or_agent=first)
        # After the zone, "memory" ends the owners.
        return Owners(user_or_agent=None if second == "memory" else second)
    return Owners()


class Pattern:
    """A path in which `*` and `?` stand for characters of a name, and `**` for any names."""

    def __init__(self, path: str) -> None:
        parts = [part for part in path.split("/") if part]
        self._names = [part if part == ANY_DEPTH else _name_matcher(part) for part in parts]
        #: The names before the first wildcard.
        self.literal: Names = ()
        for part in parts:
            if "*" in part or "?" in part:
                break
            self.literal += (unquote(part),)

    def matches(self, names: Sequence[str]) -> bool:
        """Return whether the pattern matches a path."""
        return _matches(self._names, names, ANY_DEPTH, _is_named)

    def matches_in(self, directory: Sequence[str]) -> bool:
        """Return whether the pattern can match a file in a directory."""
        return _matches(self._names, (*directory, None), ANY_DEPTH, _is_named)


def _name_matcher(part: str) -> _Matcher:
    # Decoded after the wildcards are marked: %2A is a star in a name.
    marked = unquote(part.replace("*", _STAR).replace("?", _ONE))
    if marked == unquote(part):
        return marked.__eq__
    return lambda name: _matches(marked, name, _STAR, _is_character)


def _is_character(pattern: str, character: str) -> bool:
    return pattern in (_ONE, character)


def _is_named(pattern: str | _Matcher, name: str | None) -> bool:
    # None stands for a file name that is not known, and may match.
    return not isinstance(pattern, str) and (name is None or pattern(name))


def _matches(
    pattern: Sequence[P], items: Sequence[T], star: P, is_one: Callable[[P, T], bool]
) -> bool:
    """Return whether a pattern matches all items, in at most len(pattern) * len(items) steps.

    After a mismatch, only the latest star is extended, by one item; earlier ones stay as they are.
    """
    at, star_at, item, star_item = 0, -1, 0, 0
    while item < len(items):
        if at < len(pattern) and pattern[at] == star:
            star_at, star_item = at, item
            at += 1
        elif at < len(pattern) and is_one(pattern[at], items[item]):
            at, item = at + 1, item + 1
        elif star_at >= 0:
            star_item += 1
            at, item = star_at + 1, star_item
        else:
            return False
    return all(item == star for item in pattern[at:])
