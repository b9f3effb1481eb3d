"""Relations of a message's facts to others: which they extend, and which they derive from (C9)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence, Set
from typing import NamedTuple

import msgspec

from recollect.schemas.changes import FactRelation
from recollect.schemas.events import Event, message_of
from recollect.schemas.senders import is_from_assistant
from recollect.streams.agents.agent import Conversation
from recollect.streams.agents.identity.participants import LOOKBACK_EVENTS
from recollect.streams.agents.memories.memory_versions import is_private
from recollect.streams.agents.writer.causal_links import CausalReference, matching_fact
from recollect.streams.agents.writer.retractions import EventFact
from recollect.streams.language.grammar.analysis import AddedOutside, Analysis
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.relations.additions import NAMED
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.language.relations.subjects import SPEAKER, Subject, is_same, subject_of
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise

#: How far back extended statements are searched: in messages, and in time.
_LOOKBACK_MESSAGES = 8
_LOOKBACK_MS = 86_400_000
#: The minimum number of shared words; one is enough with the sender's last message.
_MIN_SHARED_WORDS = 2
#: The confidence of an extension found by shared words alone.
_SHARED_WORDS_CONFIDENCE = 0.7
#: The maximum length of a message in characters, since a longer one is about too many things, and
#: the maximum number of statements that are checked, since chat messages extend few facts.
_MAX_LENGTH, _MAX_CHECKED_FACTS = 2_000, 16


class Extension(msgspec.Struct, frozen=True):
    """A statement that extends a sentence of an earlier event, given by its content words.

    `names`: the words by which the statement names what it adds to; empty if it names nothing.
    """

    statement: int
    event_id: str
    number: int
    words: frozenset[str]
    names: frozenset[str]
    confidence: float


class _Sentence(NamedTuple):
    """A sentence: its content words, its subject, and whether it is a question."""

    words: frozenset[str]
    subject: Subject | None
    asks: bool


def find_extensions(
    added: Sequence[AddedOutside],
    said_at: int,
    event: Event,
    conversation: Conversation,
    replaced: Container[str],
) -> tuple[Extension, ...]:
    """Return the unambiguous extensions of earlier sentences by statements of a message.

    `replaced` are the ids of earlier versions of the message itself.
    """
    if not added:
        return ()

    def recent(events: Iterable[Event]) -> list[Event]:
        return [one for one in events if one.id not in replaced and one.occurred_at <= said_at]

    near = [
        one
        for one in recent(conversation.preceding(event, _LOOKBACK_MESSAGES))
        if said_at - one.occurred_at <= _LOOKBACK_MS
    ]
    search = _ExtensionSearch(message_of(event).sender_id)
    elsewhere: list[Event] | None = None
    extensions = []
    for statement in added[:_MAX_CHECKED_FACTS]:
        extension = search.find(near, statement)
        if extension is None and statement.names and _is_own(statement) and not is_private(event):
            if elsewhere is None:
                elsewhere = recent(
                    conversation.other_channels(event, event.number - LOOKBACK_EVENTS)
                )
            extension = search.find(elsewhere, statement)
        if extension is not None:
            extensions.append(extension)
    return tuple(extensions)


def _is_own(added: AddedOutside) -> bool:
    """Return whether only the sender can have stated it before: its subject is "I" or "my ..."."""
    return added.subject == SPEAKER or added.subject[0] == "my"


class _ExtensionSearch:
    """Finds extended sentences in earlier messages; splits each message once."""

    def __init__(self, sender: str) -> None:
        self._sender = sender
        self._by_number: dict[int, list[_Sentence]] = {}

    def find(self, near: Sequence[Event], added: AddedOutside) -> Extension | None:
        """Return the extension of a sentence in these events, the nearest first, or None."""
        first = True
        for one in near:
            content = message_of(one)
            if is_from_assistant(one):
                continue
            own = content.sender_id == self._sender
            sentences = self._sentences(one)
            if not own:
                if added.answers and any(added.words & sentence.words for sentence in sentences):
                    return None  # "I love it too" refers to what the other person loves.
                if _is_own(added):
                    continue
            likely = _best_matches(added, sentences, 1 if first and own else _MIN_SHARED_WORDS)
            first = first and not own
            if len(likely) > 1:
                return None
            if likely:
                confidence = NAMED if added.names else _SHARED_WORDS_CONFIDENCE
                where = (one.id, one.number, likely[0].words, added.names)
                return Extension(added.statement, *where, confidence)
        return None

    def _sentences(self, event: Event) -> list[_Sentence]:
        if event.number not in self._by_number:
            text = message_of(event).content[:_MAX_LENGTH]
            tokens = tokenise(text)
            self._by_number[event.number] = [
                _Sentence(content_words(said), subject_of(tokens, start, end), is_question(said))
                for start, end in sentences(text)
                for said in (text[start:end],)
            ]
        return self._by_number[event.number]


def _best_matches(
    added: AddedOutside, sentences: Sequence[_Sentence], min_shared: int
) -> list[_Sentence]:
    """Return the sentences that a statement may extend and that share most words with it."""
    fitting = [
        sentence
        for sentence in sentences
        if (
            added.names <= sentence.words
            if added.names
            else len(added.words & sentence.words) >= min_shared
        )
        and added.words - sentence.words
        and not sentence.asks
        and sentence.subject is not None
        and is_same(added.subject, sentence.subject)
    ]
    most = max((len(added.words & sentence.words) for sentence in fitting), default=0)
    return [sentence for sentence in fitting if len(added.words & sentence.words) == most]


def relations_within(
    analysis: Analysis, facts: Sequence[str], created_at: int, extending: Set[str], ended: Set[str]
) -> list[FactRelation]:
    """Return the relations among the facts of a message's statements, given in their order.

    Only facts in `extending` may extend others, and none in `ended` is extended.
    """
    rows: dict[tuple[str, str], FactRelation] = {}
    for added in analysis.added:
        fact, to = facts[added.statement], facts[added.to]
        if fact != to and fact in extending and to not in ended:
            rows[fact, to] = FactRelation(fact, to, "EXTENDS", added.confidence, created_at)
    for caused in analysis.causes:
        fact, to = facts[caused.effect], facts[caused.cause]
        if fact != to and caused.concludes:
            rows[fact, to] = FactRelation(fact, to, "DERIVES", caused.strength, created_at)
    return [row for (fact, to), row in rows.items() if (to, fact) not in rows]


def relations_to_earlier(
    extensions: Sequence[Extension],
    references: Sequence[CausalReference],
    facts: Sequence[str],
    created_at: int,
    extending: Set[str],
    facts_of_event: Callable[[str], Sequence[EventFact]],
) -> Iterable[tuple[FactRelation, int]]:
    """Yield the relations to facts of earlier events, each with the number of its event.

    `facts` are the fact ids of the message's statements, in order; only those in `extending` may
    extend others.
    """
    derived = set()
    for one in references:
        fact = facts[one.outside.statement]
        to = matching_fact(one.words, facts_of_event(one.event_id))
        if to is not None and to != fact and not one.outside.is_cause:
            derived.add((fact, to))
            yield (
                FactRelation(fact, to, "DERIVES", one.outside.strength, created_at),
                one.number,
            )
    for extension in extensions:
        named = [
            one
            for one in facts_of_event(extension.event_id)
            if extension.names <= content_words(one.text)
        ]
        fact, to = facts[extension.statement], matching_fact(extension.words, named)
        if to is None or to == fact or fact not in extending or (fact, to) in derived:
            continue
        yield FactRelation(fact, to, "EXTENDS", extension.confidence, created_at), extension.number
