"""Causal links from a message to facts of earlier ones, which it names as cause or effect (A5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from recollect.schemas.changes import CausalLink
from recollect.schemas.events import Event, message_of
from recollect.schemas.senders import is_assistant
from recollect.streams.agents.agent import Conversation
from recollect.streams.agents.writer.retractions import HeldFact
from recollect.streams.language.grammar.analysis import Outside
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.relations.content_words import content_words
from recollect.text.sentences import sentences

#: So many messages of the conversation are looked through, and no older ones than this.
_LOOKED_THROUGH = 8
_LOOKED_BACK_MS = 86_400_000
#: "That's why" is said of what was said within this time.
JUST_NOW_MS = 3_600_000

#: Of the words of a sentence so many must be in a fact that came of it.
_SHARED = 0.6
_BARE_WHY = frozenset({"come", "happen", "reason", "why"})


class CausalReference(msgspec.Struct, frozen=True):
    """A statement's cause or effect: a sentence with these words in another event."""

    outside: Outside
    event_id: str
    number: int
    words: frozenset[str]


def find_causal_references(
    outside: Sequence[Outside], said_at: int, event: Event, conversation: Conversation
) -> tuple[CausalReference, ...]:
    """Return the sentences of the conversation that a message names as causes and effects.

    Ambiguous ones are left out.
    """
    if not outside:
        return ()
    near = [
        one
        for one in conversation.before(event, _LOOKED_THROUGH)
        if 0 <= said_at - one.occurred_at <= _LOOKED_BACK_MS
    ]
    found = []
    for each in outside:
        if each.words:
            where = _spoken_of(each.words, near)
        elif each.is_cause:
            where = _asked_about(event, near)
        else:
            where = _just_said(near, said_at)
        if where is not None:
            found.append(CausalReference(each, where[0].id, where[0].number, where[1]))
    return tuple(found)


_Where = tuple[Event, frozenset[str]]


def _spoken_of(words: frozenset[str], near: Sequence[Event]) -> _Where | None:
    """Return the latest event that speaks of something by these words, and its sentence."""
    for event in near:
        told = [said for said in _told(event) if words <= said]
        if told:
            return (event, told[0]) if len(told) == 1 else None
    return None


def _just_said(near: Sequence[Event], said_at: int) -> _Where | None:
    """Return the event just before, and the words of the last sentence in it."""
    if not near or said_at - near[0].occurred_at > JUST_NOW_MS:
        return None
    told = _told(near[0])
    return (near[0], told[-1]) if told else None


def _asked_about(event: Event, near: Sequence[Event]) -> _Where | None:
    """Return what "because" answers: what its sender said that somebody asks the reason of.

    Without a question it is what the sender said just before.
    """
    if not near:
        return None
    content, asked = message_of(event), message_of(near[0])
    if asked.sender_id == content.sender_id:
        return _just_said(near, event.occurred_at)
    question = " ".join(asked.content.split())
    if not is_question(question) or not _asks_why(question):
        return None
    wanted = content_words(question) - _BARE_WHY
    for one in near[1:]:
        if message_of(one).sender_id != content.sender_id:
            continue
        told = _told(one)
        if not wanted:
            return (one, told[-1]) if told else None
        # "Why did you sell the boat?" asks of "I sold my boat": the verb has another form.
        least = max(1, len(wanted) - 1)
        about = [said for said in told if len(wanted & said) >= least]
        if about:
            return (one, about[0]) if len(about) == 1 else None
    return None


def _asks_why(question: str) -> bool:
    lower = question.lower()
    return "why" in lower or "how come" in lower or "the reason" in lower


def _told(event: Event) -> list[frozenset[str]]:
    """Return the words of the sentences that somebody, no assistant, tells, in order."""
    content = message_of(event)
    if is_assistant(content.sender_id, content.direction):
        return []
    text = content.content
    said = [text[start:end] for start, end in sentences(text)]
    return [content_words(sentence) for sentence in said if not is_question(sentence)]


def links_to_earlier(
    found: Sequence[CausalReference],
    facts: Sequence[str],
    created_at: int,
    held: Callable[[str], Sequence[HeldFact]],
) -> Iterable[tuple[CausalLink, int]]:
    """Yield links to facts of other events, with the number of the event.

    `facts` are those of the message's statements, in order; `held` says which an event gave.
    """
    for one in found:
        other = matching_fact(one.words, held(one.event_id))
        own = facts[one.outside.statement]
        if other is not None and other != own:
            ends = (own, other) if one.outside.is_cause else (other, own)
            yield CausalLink(*ends, one.outside.strength, created_at), one.number


def matching_fact(words: frozenset[str], held: Sequence[HeldFact]) -> str | None:
    """Return the fact of a sentence with these words; None where none or several fit."""
    shares = [
        (len(words & content_words(fact.text)) / max(len(words), 1), fact.id)
        for fact in held
        if fact.current
    ]
    likely = sorted((each for each in shares if each[0] >= _SHARED), reverse=True)
    if not likely or (len(likely) > 1 and likely[0][0] == likely[1][0]):
        return None
    return likely[0][1]
