"""Branches of a chat: an edited prompt or a new answer replaces what stands beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def path_to(leaf: str, parents: Mapping[str, str]) -> list[str]:
    """Return a message and those above it, up to the first one; circles end."""
    path = {leaf: None}
    while (parent := parents.get(leaf)) is not None and parent not in path:
        path[parent] = None
        leaf = parent
    return list(path)


def replaced(messages: Iterable[str], parents: Mapping[str, str], path: Iterable[str]) -> set[str]:
    """Return the messages on another branch than the current one.

    `path`: the current branch. A branch begins beside a message of the path, under the same parent;
    the parent may be missing. What is connected to nothing, or goes on below the path, is kept.
    """
    current = set(path)
    forks = {parents[id] for id in current if id in parents}
    known: dict[str, bool] = dict.fromkeys(current, False)
    for id in messages:
        above: dict[str, None] = {}
        while id not in known and id not in above:
            above[id] = None
            if (parent := parents.get(id)) is None or parent in forks:
                known[id] = parent is not None
                break
            id = parent
        within = known.get(id, False)
        known.update(dict.fromkeys(above, within))
    return {id for id, gone in known.items() if gone}
