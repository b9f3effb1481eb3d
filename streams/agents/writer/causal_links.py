"""Causal links between the facts of a message and those of earlier messages (A5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from recollect.schemas.changes import CausalLink
from recollect.schemas.events import Event, message_of
from recollect.schemas.senders import is_from_assistant
from recollect.streams.agents.agent import Conversation
from recollect.streams.agents.writer.retractions import EventFact
from recollect.streams.language.grammar.analysis import Outside
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.relations.content_words import content_words
from recollect.text.sentences import sentences

#: How far back causes and effects are searched: in messages, and in time.
_LOOKBACK_MESSAGES = 8
_LOOKBACK_MS = 86_400_000
#: "That's why" refers to a message no older than this.
JUST_NOW_MS = 3_600_000

#: The minimum share of a sentence's content words that its fact contains.
_MIN_OVERLAP = 0.6
_BARE_WHY = frozenset({"come", "happen", "reason", "why"})


class CausalReference(msgspec.Struct, frozen=True):
    """The cause or effect of a statement: a sentence of an earlier event, by its content words."""

    outside: Outside
    event_id: str
    number: int
    words: frozenset[str]


def find_causal_references(
    outside: Sequence[Outside], said_at: int, event: Event, conversation: Conversation
) -> tuple[CausalReference, ...]:
    """Return the unambiguous causes and effects of statements in earlier messages."""
    if not outside:
        return ()
    near = [
        one
        for one in conversation.preceding(event, _LOOKBACK_MESSAGES)
        if 0 <= said_at - one.occurred_at <= _LOOKBACK_MS
    ]
    references = []
    for statement in outside:
        if statement.words:
            where = _find_by_words(statement.words, near)
        elif statement.is_cause:
            where = _find_explained(event, near)
        else:
            where = _last_sentence(near, said_at)
        if where is not None:
            references.append(CausalReference(statement, where[0].id, where[0].number, where[1]))
    return tuple(references)


_FoundSentence = tuple[Event, frozenset[str]]


def _find_by_words(words: frozenset[str], near: Sequence[Event]) -> _FoundSentence | None:
    """Return the sentence with all these words in the latest event that has one."""
    for event in near:
        matching = [sentence for sentence in _statement_words(event) if words <= sentence]
        if matching:
            return (event, matching[0]) if len(matching) == 1 else None
    return None


def _last_sentence(near: Sequence[Event], said_at: int) -> _FoundSentence | None:
    """Return the last statement of the preceding event, if that is recent."""
    if not near or said_at - near[0].occurred_at > JUST_NOW_MS:
        return None
    said = _statement_words(near[0])
    return (near[0], said[-1]) if said else None


def _find_explained(event: Event, near: Sequence[Event]) -> _FoundSentence | None:
    """Return the sender's statement that a message beginning with "because" explains.

    It is the statement that somebody asked about or, without a question, the sender's last one.
    """
    if not near:
        return None
    content, asked = message_of(event), message_of(near[0])
    if asked.sender_id == content.sender_id:
        return _last_sentence(near, event.occurred_at)
    question = " ".join(asked.content.split())
    if not is_question(question) or not _asks_why(question):
        return None
    topic = content_words(question) - _BARE_WHY
    for one in near[1:]:
        if message_of(one).sender_id != content.sender_id:
            continue
        sentences = _statement_words(one)
        if not topic:
            return (one, sentences[-1]) if sentences else None
        # "Why did you sell the boat?" asks about "I sold my boat": the verb has another form.
        min_shared = max(1, len(topic) - 1)
        matching = [sentence for sentence in sentences if len(topic & sentence) >= min_shared]
        if matching:
            return (one, matching[0]) if len(matching) == 1 else None
    return None


def _asks_why(question: str) -> bool:
    lower = question.lower()
    return "why" in lower or "how come" in lower or "the reason" in lower


def _statement_words(event: Event) -> list[frozenset[str]]:
    """Return the content words of each sentence that is not a question; none for an assistant."""
    content = message_of(event)
    if is_from_assistant(event):
        return []
    text = content.content
    said = [text[start:end] for start, end in sentences(text)]
    return [content_words(sentence) for sentence in said if not is_question(sentence)]


def links_to_earlier(
    references: Sequence[CausalReference],
    facts: Sequence[str],
    created_at: int,
    facts_of_event: Callable[[str], Sequence[EventFact]],
) -> Iterable[tuple[CausalLink, int]]:
    """Yield the links to facts of earlier events, each with the number of its event.

    `facts` are the fact ids of the message's statements, in order.
    """
    for reference in references:
        other = matching_fact(reference.words, facts_of_event(reference.event_id))
        own = facts[reference.outside.statement]
        if other is not None and other != own:
            ends = (own, other) if reference.outside.is_cause else (other, own)
            yield CausalLink(*ends, reference.outside.strength, created_at), reference.number


def matching_fact(words: frozenset[str], facts: Sequence[EventFact]) -> str | None:
    """Return the current fact that shares most words with a sentence; None if ambiguous."""
    shares = [
        (len(words & content_words(fact.text)) / max(len(words), 1), fact.id)
        for fact in facts
        if fact.current
    ]
    likely = sorted((share for share in shares if share[0] >= _MIN_OVERLAP), reverse=True)
    if not likely or (len(likely) > 1 and likely[0][0] == likely[1][0]):
        return None
    return likely[0][1]
