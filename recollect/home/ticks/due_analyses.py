"""The analyses that are due: commands for the episodes that have ended and lack one."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from recollect.home.home_directory import Home
from recollect.projections.memory.listing.analysis_list import due_episodes
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Analyse, Draft, OwnAnalysis
from recollect.streams.agents.episodes.episode_analyst import EpisodeAnalyst
from recollect.streams.analyses.analysis_types import BUILT_IN
from recollect.streams.analyses.model_analyses import MODEL_ANALYSES
from recollect.streams.engine.node import Node
from recollect.streams.publishing.commands import command, publish_commands, random_id

#: The definition of the episodes that are analysed automatically.
AUTOMATIC_DEFINITION = "time_window"
#: The maximum number of episodes per tick or import, and of retries of an analysis.
_MOST_AT_ONCE, _MOST_RETRIES = 10_000, 3
#: An episode has ended if nothing was added for this long.
ENDED_AFTER_MS = 6 * 3_600_000


def defined_analyses(home: Home) -> Sequence[OwnAnalysis]:
    """Return the types that home.json defines, and if the home has a model, those that it runs."""
    with_model = home.writer == "model"
    return (*home.settings.analyses, *(MODEL_ANALYSES if with_model else ()))


def analysis_ids(own: Sequence[OwnAnalysis], asked: Sequence[str] | None) -> list[str]:
    """Return the ids of the types asked for; of all types if None.

    Raises:
        InvalidInput: there is no such type.
    """
    known = [*BUILT_IN, *(analysis.id for analysis in own)]
    if asked is None:
        return known
    for type_id in asked:
        if type_id not in known:
            if type_id in (analysis.id for analysis in MODEL_ANALYSES):
                raise InvalidInput(
                    f"{type_id} needs a language model; to add one to this home, run recollect "
                    "init --writer model"
                )
            raise InvalidInput(
                f"there is no analysis type {type_id[:60]!r}; choose from {', '.join(known)}"
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
    without_failed: bool = False,
    limit: int,
) -> list[Draft]:
    """Return a command for each episode that is due, the earliest first.

    `at`: the time of the commands (unix ms); an episode must have ended by then, unless it is named
    by `episode_id`. `most_retries` None: no limit. `without_failed`: a failed analysis is not due
    again.
    """
    due = due_episodes(
        memory,
        type_ids,
        definition=None if episode_id is not None else definition,
        episode_id=episode_id,
        before=None if episode_id is not None else at - ENDED_AFTER_MS,
        most_retries=most_retries,
        without_failed=without_failed,
        limit=limit,
    )
    defined = {analysis.id: analysis for analysis in own}
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


def has_analyst(node: Node) -> bool:
    """Return whether the home's agents analyse episodes."""
    return any(isinstance(agent, EpisodeAnalyst) for agent in node.agents)


def automatic_analyses(home: Home) -> Sequence[OwnAnalysis] | None:
    """Return the home's own types if episodes that have ended are to be analysed, else None.

    Without those that the home's model runs, which asks for them itself.
    """
    if not home.configuration.analyses:
        return None
    with_model = home.writer == "model"
    return [own for own in home.settings.analyses if own.prompt is None or not with_model]


def publish_due(node: Node, zone: str, own: Sequence[OwnAnalysis], at: int) -> int:
    """Append commands for the episodes that ended by a time (unix ms); return how many."""
    if not has_analyst(node):
        return 0
    with node.open(zone, node.current(zone)) as files:
        drafts = due_commands(
            files.memory.connection,
            own,
            analysis_ids(own, None),
            at=at,
            definition=AUTOMATIC_DEFINITION,
            most_retries=_MOST_RETRIES,
            limit=_MOST_AT_ONCE,
        )
    publish_commands(node.ledger, zone, drafts)
    return len(drafts)
