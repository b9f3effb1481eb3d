"""Retractions: earlier statements that a message corrects or denies, and the end of their facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

import msgspec

from recollect.schemas.changes import FactSupersession
from recollect.schemas.events import Content, Event, message_of
from recollect.schemas.senders import is_from_assistant
from recollect.streams.agents.agent import Conversation
from recollect.streams.agents.identity.participants import LOOKBACK_EVENTS
from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.relations.agreements import agrees, find_agreed
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.language.relations.corrections import (
    LOOKED_THROUGH,
    Corrected,
    Correction,
    Earlier,
    corrected,
    find_corrections,
    says_what,
)
from recollect.streams.language.relations.denials import Denial, denied, find_denials
from recollect.streams.language.relations.ended_states import Over, find_over, was_so

#: How many messages to look back for the question that an agreement answers.
_QUESTION_LOOKBACK_MESSAGES = 2
#: The span of a statement in its message (start, end), and its fact's id.
StatementFact = tuple[int, int, str]


class Retraction(msgspec.Struct, frozen=True):
    """A sentence of a message that retracts a sentence of an earlier event.

    Attributes:
        start, end: the span of the retracting sentence.
        event: the earlier event.
        sentence: the span of the retracted sentence in it.
        values: the retracted values, as written there, in lower case.
        statement: the retracted sentence as a statement; None if it is not one, such as a question.
        topic: the event and the sentence span that give the topic of the values. None if the
            retracting sentence gives it, or no sentence does.
        otherwise: what the sentence retracts instead, if the author of the message may not end
            what the event states.
    """

    start: int
    end: int
    event: Event
    sentence: tuple[int, int]
    values: tuple[str, ...]
    statement: Statement | None = None
    topic: tuple[Event, tuple[int, int]] | None = None
    otherwise: Retraction | None = None

    def choices(self) -> Iterable[Retraction]:
        """Yield this retraction and its alternatives."""
        one: Retraction | None = self
        while one is not None:
            yield one
            one = one.otherwise


class LaterRetraction(NamedTuple):
    """A retraction of a message by a later one, `by`, that arrived before it."""

    retraction: Retraction
    by: Event


class _Cues(NamedTuple):
    """What a text corrects, denies and ends, and whether it agrees to something."""

    corrections: Sequence[Correction]
    denials: Sequence[Denial]
    endings: Sequence[Over]
    agrees: bool


# A message is compared with each one that arrives later and was said before it.
@lru_cache(maxsize=4096)
def _cues(text: str, said_at: int, utc_offset: int) -> _Cues | None:
    """Return the cues of retractions in a text; None for most texts."""
    found = _Cues(
        find_corrections(text, said_at, utc_offset),
        find_denials(text),
        find_over(text),
        agrees(text),
    )
    return found if any(found) else None


def find_retractions(
    text: str, said_at: int, event: Event, content: Content, conversation: Conversation
) -> tuple[Retraction, ...]:
    """Return the retractions of a message. Only messages that people wrote can be retracted."""
    cues = _cues(text, said_at, content.utc_offset)
    if cues is None:
        return ()
    corrections, denials, endings, _ = cues
    question = _confirmed_question(text, event, content, conversation) if cues.agrees else None
    if not corrections and not denials and not endings and question is None:
        return ()
    before = _user_messages(conversation.preceding(event, LOOKED_THROUGH), said_at)
    same_conversation_count = len(before)
    if endings or denials or any(one.taken_back for one in corrections):
        before += _user_messages(
            conversation.other_channels(event, event.number - LOOKBACK_EVENTS), said_at
        )
    earlier = [
        _as_earlier(one, content, said_at, elsewhere=index >= same_conversation_count)
        for index, one in enumerate(before)
    ]
    linked = (
        []
        if question is None
        else _by_agreement(question, content, before[:same_conversation_count])
    )
    linked += [(one.start, one.end, corrected(one, earlier)) for one in corrections]
    for denial in denials:
        # A contrast ("Lille, not Paris") corrects its own conversation only; an end holds in all.
        within = same_conversation_count if denial.kind == "contrast" else None
        linked.append((denial.start, denial.end, denied(denial, earlier[:within])))
    value_only_spans = {(one.start, one.end) for one in corrections if one.bare}
    retractions: list[Retraction] = []
    for start, end, retracted in linked:
        if retracted is not None and not _overlaps_any(retractions, start, end):
            retraction = _retraction_of(start, end, retracted, before)
            if (start, end) in value_only_spans and retracted.distance < same_conversation_count:
                topic = _find_topic(retracted, before[retracted.distance : same_conversation_count])
                retraction = msgspec.structs.replace(retraction, topic=topic)
            retractions.append(retraction)
    # Several messages may have stated a state that has ended.
    for one in endings:
        if not _overlaps_any(retractions, one.start, one.end):
            retractions += [
                _retraction_of(one.start, one.end, state, before) for state in was_so(one, earlier)
            ]
    return tuple(retractions)


def find_later_retractions(
    late: Event,
    later: Sequence[Event],
    earlier: Callable[[], Sequence[Event]],
    find: Callable[[Event, Sequence[Event]], Iterable[Retraction]],
) -> Iterable[LaterRetraction]:
    """Yield the retractions of a message that were said after it and arrived before it.

    `later`, `earlier`: the messages said after and before it, in the order of time. `find` returns
    the retractions of a message, given those before it.
    """
    before: list[Event] | None = None
    for place, one in enumerate(later):
        # Few retract this one if there is nothing else to retract but the question just before.
        near = later[max(0, place - _QUESTION_LOOKBACK_MESSAGES) : place]
        if not any(_is_of(late, each) for each in find(one, [late, *near])):
            continue
        if before is None:
            before = [*earlier(), late]
        for each in find(one, [*before, *later[:place]]):
            if _is_of(late, each):
                yield LaterRetraction(each, one)


def _is_of(event: Event, retraction: Retraction) -> bool:
    return any(one.event.id == event.id for one in retraction.choices())


class MessagesBefore(Conversation):
    """The messages before one, in the order of time, as its conversation."""

    def __init__(self, messages: Sequence[Event]) -> None:
        self._messages = messages

    def preceding(self, event: Event, limit: int) -> Sequence[Event]:
        return self._messages[-1 : -limit - 1 : -1]

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        return ()

    def revisions(self, event: Event, below: int) -> Sequence[Event]:
        return ()


class WithoutEvents(Conversation):
    """A conversation without some of the earlier messages, given by their ids."""

    def __init__(self, conversation: Conversation, left_out: Set[str]) -> None:
        self._conversation = conversation
        self._left_out = left_out

    def preceding(self, event: Event, limit: int) -> list[Event]:
        return self._kept(self._conversation.preceding(event, limit))

    def other_channels(self, event: Event, since: int) -> list[Event]:
        return self._kept(self._conversation.other_channels(event, since))

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        return self._conversation.turn(event, platform, turn_id)

    def revisions(self, event: Event, below: int) -> Sequence[Event]:
        return self._conversation.revisions(event, below)

    def _kept(self, events: Sequence[Event]) -> list[Event]:
        return [each for each in events if each.id not in self._left_out]


def _overlaps_any(found: Sequence[Retraction], start: int, end: int) -> bool:
    return any(one.start < end and start < one.end for one in found)


def _retraction_of(start: int, end: int, found: Corrected, before: Sequence[Event]) -> Retraction:
    values = tuple(value.text.lower() for value in found.values)
    return Retraction(start, end, before[found.distance], (found.start, found.end), values)


def _find_topic(found: Corrected, before: Sequence[Event]) -> tuple[Event, tuple[int, int]] | None:
    """Return the nearest event and sentence span that give the topic of the retracted values."""
    for one in before:
        said = message_of(one)
        sentence = says_what(found.values, said.content, one.occurred_at, said.utc_offset)
        if sentence is not None:
            return one, sentence
    return None


def _user_messages(events: Sequence[Event], said_at: int) -> list[Event]:
    """Return the events with messages of people, not assistants, no later than `said_at`."""
    return [
        one
        for one in events
        if isinstance(one.payload, Content)
        and not is_from_assistant(one)
        and one.occurred_at <= said_at
    ]


def _confirmed_question(
    text: str, event: Event, content: Content, conversation: Conversation
) -> tuple[Event, Correction] | None:
    """Return the question that a message agrees to, and the correction that this implies."""
    for one in conversation.preceding(event, _QUESTION_LOOKBACK_MESSAGES):
        message = message_of(one)
        if message.sender_id != content.sender_id:
            agreed = find_agreed(text, message.content, one.occurred_at, message.utc_offset)
            if agreed is not None:
                return one, agreed
    return None


def _by_agreement(
    confirmed: tuple[Event, Correction], content: Content, before: Sequence[Event]
) -> list[tuple[int, int, Corrected | None]]:
    """Return what an agreement retracts in the messages before its question."""
    question, correction = confirmed
    skipped = next((index + 1 for index, one in enumerate(before) if one.id == question.id), 0)
    both = (message_of(question).sender_id, content.sender_id)
    earlier = [
        Earlier(message.content, one.occurred_at, message.utc_offset, message.sender_id in both)
        for one in before[skipped:]
        for message in (message_of(one),)
    ]
    target = corrected(correction, earlier)
    if target is None:
        return []
    target = target._replace(distance=target.distance + skipped)
    return [(correction.start, correction.end, target)]


def _as_earlier(event: Event, content: Content, said_at: int, *, elsewhere: bool) -> Earlier:
    said = message_of(event)
    return Earlier(
        said.content,
        event.occurred_at,
        said.utc_offset,
        said.sender_id == content.sender_id,
        elsewhere=elsewhere,
        age_ms=said_at - event.occurred_at,
    )


class EventFact(NamedTuple):
    """A fact that was extracted from an event, and whether it is current."""

    id: str
    text: str
    current: bool


def end_retracted(
    retraction: Retraction,
    event: Event,
    said_at: int,
    new_facts: Sequence[StatementFact],
    earlier_facts: Sequence[EventFact],
) -> Iterable[FactSupersession]:
    """Yield the supersessions of the current facts that state a retracted value.

    The fact of the retracting sentence supersedes them, or the event if that sentence gave no fact.
    """
    newer = superseding_id(retraction, event, new_facts)
    for fact in earlier_facts:
        if fact.current and fact.id != newer and states_retracted_value(retraction, fact.text):
            yield FactSupersession(fact.id, newer, said_at)


def later_superseding_id(later: LaterRetraction, facts: Sequence[EventFact]) -> str:
    """Return the id of the later message's fact that retracts, or the message's if none does.

    `facts`: those of the later message. Its sentence is one of them if it shares words with it.
    """
    retraction, by = later
    sentence = content_words(message_of(by).content[retraction.start : retraction.end])
    shared = [(len(sentence & content_words(fact.text)), fact.id) for fact in facts]
    most = max((count for count, _ in shared), default=0)
    return next((id_ for count, id_ in shared if count == most > 0), by.id)


def superseding_id(retraction: Retraction, event: Event, facts: Sequence[StatementFact]) -> str:
    """Return the id of the retracting sentence's fact, or the event's if that gave no fact."""
    overlapping = (
        fact for start, end, fact in facts if start < retraction.end and retraction.start < end
    )
    return next(overlapping, event.id)


def states_retracted_value(retraction: Retraction, text: str) -> bool:
    """Whether a text, apart from its context, states a retracted value."""
    own = text.lower()
    return any(value in own for value in retraction.values)
