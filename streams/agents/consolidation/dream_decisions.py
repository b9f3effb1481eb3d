"""The decision on dreams (B11): a model's recorded answers, checked against the facts it saw."""

from __future__ import annotations

import msgspec

from recollect.schemas.changes import AnyRow, DecidedPart, Dream, DreamFact, PassTick
from recollect.schemas.events import Event, FindDreams
from recollect.schemas.ids import row_id
from recollect.streams.agents.agent import Conversation, Extract, ModelCalls
from recollect.streams.agents.state import State
from recollect.streams.consolidation.model.dreams import (
    COMPARED_DREAMS,
    ShownFact,
    check_dreams,
    check_evaluation,
)
from recollect.streams.consolidation.word_cosine import SAME, word_cosine

_numbers = msgspec.json.Decoder(list[int])


def extract_dreams(event: Event, command: FindDreams, conversation: Conversation) -> Extract:
    """Return the model's calls, unless a fact that it saw was erased."""
    if any(not 0 < number < event.number for number in command.sources):
        return Extract()
    return Extract(conversation.command_calls(command), tuple(command.sources))


def decide_dreams(
    event: Event, command: FindDreams, calls: ModelCalls | None, state: State
) -> list[DecidedPart]:
    """Return the dreams that pass the check and the evaluation, and that repeat no earlier one.

    Each is sealed with every event that the model saw, since it may repeat words of any.
    """
    marker = DecidedPart(
        (event.number,), [PassTick(event.number, "dreams_answered", event.occurred_at)]
    )
    shown, sources = _shown(command, state)
    if calls is None or shown is None or not sources <= set(command.sources):
        return [marker]
    dreams = check_dreams(calls.calls, shown)
    kept = check_evaluation(calls.calls, len(dreams))
    earlier = [dream.insight for dream in state.recent_dreams(COMPARED_DREAMS)]
    rows: list[AnyRow] = []
    for place, surprise in kept.items():
        dream = dreams[place]
        if any(word_cosine(dream.insight, other) > SAME for other in earlier):
            continue
        earlier.append(dream.insight)
        id_ = row_id(event.occurred_at, "dream", event.id, str(place))
        rows.append(
            Dream(
                id_,
                dream.bridge,
                dream.insight,
                surprise,
                command.model,
                event.number,
                event.occurred_at,
            )
        )
        rows += [DreamFact(id_, command.facts[index]) for index in dream.facts]
    return [marker, DecidedPart(tuple(sorted({event.number, *command.sources})), rows)]


def _shown(command: FindDreams, state: State) -> tuple[list[ShownFact] | None, set[int]]:
    """Return the facts that a model saw, and their sources; None if one is not there."""
    shown, sources = [], set[int]()
    for fact_id, topic in zip(command.facts, command.topics, strict=False):
        fact, units = state.fact(fact_id), state.fact_units(fact_id)
        if fact is None or units is None:
            return None, set()
        shown.append(ShownFact(fact.text, topic))
        sources.update(_numbers.decode(units.sources))
    return shown if len(shown) == len(command.facts) else None, sources
