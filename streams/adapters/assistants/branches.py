"""Branches of a chat: an edited prompt or a regenerated answer replaces its siblings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def path_to(leaf: str, parents: Mapping[str, str]) -> list[str]:
    """Return a message and its ancestors, up to the root; a cycle ends the path."""
    path = {leaf: None}
    while (parent := parents.get(leaf)) is not None and parent not in path:
        path[parent] = None
        leaf = parent
    return list(path)


def replaced_messages(
    messages: Iterable[str], parents: Mapping[str, str], path: Iterable[str]
) -> set[str]:
    """Return the messages on branches other than the current one.

    `path`: the current branch. Another branch begins at a sibling of a message of the path; their
    parent may be missing. Messages without a connection to the path, and messages below its end,
    are not returned.
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
        is_replaced = known.get(id, False)
        known.update(dict.fromkeys(above, is_replaced))
    return {id for id, is_replaced in known.items() if is_replaced}
