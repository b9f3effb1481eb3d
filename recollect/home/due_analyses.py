"""The analyses that are due: commands for the episodes that have ended and lack one."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from recollect.projections.memory.analysis_list import due_episodes
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Analyse, Draft, OwnAnalysis
from recollect.streams.analyses.analysis_types import BUILT_IN
from recollect.streams.publishing.commands import command, random_id

#: An episode has ended if nothing was added for so long.
ENDED_AFTER_MS = 6 * 3_600_000


def analysis_ids(own: Sequence[OwnAnalysis], asked: Sequence[str] | None) -> list[str]:
    """Return the ids of the types asked for; of all types if None.

    Raises:
        InvalidInput: there is no such type.
    """
    known = [*BUILT_IN, *(each.id for each in own)]
    if asked is None:
        return known
    for type_id in asked:
        if type_id not in known:
            raise InvalidInput(
                f"there is no analysis type {type_id[:60]!r}; types are {', '.join(known)}"
            )
    return list(dict.fromkeys(asked))


def due_commands(
    memory: apsw.Connection,
    own: Sequence[OwnAnalysis],
    type_ids: Sequence[str],
    *,
    at: int,
    definition: str,
    episode_id: str | None = None,
    most_retries: int | None = None,
    limit: int,
) -> list[Draft]:
    """Return a command for each episode that is due, the earliest first.

    `at`: the time of the commands (unix ms); an episode must have ended by then, unless it is named
    by `episode_id`. `most_retries` None: retry however often it was tried.
    """
    due = due_episodes(
        memory,
        type_ids,
        definition=None if episode_id is not None else definition,
        episode_id=episode_id,
        before=None if episode_id is not None else at - ENDED_AFTER_MS,
        most_retries=most_retries,
        limit=limit,
    )
    defined = {each.id: each for each in own}
    return [
        command(
            Analyse(
                source_id=random_id(f"analyse:{episode.id}"),
                episode_id=episode.id,
                types=episode.types,
                events=episode.events,
                own=tuple(defined[type_id] for type_id in episode.types if type_id in defined),
            ),
            at,
        )
        for episode in due
    ]
