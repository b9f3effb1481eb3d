"""Relations of a message's facts: which facts they extend, and which they derive from (C9)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence, Set
from typing import NamedTuple

import msgspec

from recollect.schemas.changes import FactRelation
from recollect.schemas.events import Event, message_of
from recollect.schemas.senders import is_assistant
from recollect.streams.agents.agent import Conversation
from recollect.streams.agents.identity.participants import REACH
from recollect.streams.agents.writer.causal_links import CausalReference, matching_fact
from recollect.streams.agents.writer.retractions import HeldFact
from recollect.streams.language.grammar.analysis import AddedOutside, Analysis
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.relations.additions import NAMED
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.language.relations.subjects import SPEAKER, Subject, is_same, subject_of
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise

#: So many messages of the conversation are looked through, and no older ones than this.
_LOOKED_THROUGH = 8
_LOOKED_BACK_MS = 86_400_000
#: So many words are shared with what was said in an earlier message; with what the sender said
#: last, one.
_SHARED = 2
#: How sure that is.
_SHARES = 0.7
#: Longer messages tell of too much, and who adds more often in one message is no chat.
_MAX_LENGTH, _MAX_CHECKED_FACTS = 2_000, 16


class Extension(msgspec.Struct, frozen=True):
    """A statement extends a sentence of another event, given by its words.

    `names` are those words that the statement itself repeats as known.
    """

    statement: int
    event_id: str
    number: int
    words: frozenset[str]
    names: frozenset[str]
    confidence: float


class _Told(NamedTuple):
    """A sentence: its words, of whom or what it is said, and whether it asks."""

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
    """Return the earlier sentences that statements of a message extend, without ambiguous ones.

    `replaced` are the ids of earlier versions of the message itself.
    """
    if not added:
        return ()

    def recent(events: Iterable[Event]) -> list[Event]:
        return [one for one in events if one.id not in replaced and one.occurred_at <= said_at]

    near = [
        one
        for one in recent(conversation.before(event, _LOOKED_THROUGH))
        if said_at - one.occurred_at <= _LOOKED_BACK_MS
    ]
    looking = _Looking(message_of(event).sender_id)
    elsewhere: list[Event] | None = None
    found = []
    for each in added[:_MAX_CHECKED_FACTS]:
        where = looking.through(near, each)
        if where is None and each.names and _is_own(each):
            if elsewhere is None:
                elsewhere = recent(conversation.other_channels(event, event.number - REACH))
            where = looking.through(elsewhere, each)
        if where is not None:
            found.append(where)
    return tuple(found)


def _is_own(added: AddedOutside) -> bool:
    """Whether only the sender can have said it before: it is of "me", or of what is "mine"."""
    return added.subject == SPEAKER or added.subject[0] == "my"


class _Looking:
    """Looks through earlier messages for what somebody adds to; each is read once."""

    def __init__(self, sender: str) -> None:
        self._sender = sender
        self._read: dict[int, list[_Told]] = {}

    def through(self, near: Sequence[Event], added: AddedOutside) -> Extension | None:
        """Return where what a statement adds to was said in messages, the nearest first."""
        first = True
        for one in near:
            content = message_of(one)
            if is_assistant(content.sender_id, content.direction):
                continue
            own = content.sender_id == self._sender
            told = self._told(one)
            if not own:
                if added.answers and any(added.words & each.words for each in told):
                    return None  # "I love it too" is said of what this one loves.
                if _is_own(added):
                    continue
            likely = _likely(added, told, 1 if first and own else _SHARED)
            first = first and not own
            if len(likely) > 1:
                return None
            if likely:
                sure = NAMED if added.names else _SHARES
                where = (one.id, one.number, likely[0].words, added.names)
                return Extension(added.statement, *where, sure)
        return None

    def _told(self, event: Event) -> list[_Told]:
        """Return the sentences of a message."""
        if event.number not in self._read:
            text = message_of(event).content[:_MAX_LENGTH]
            tokens = tokenise(text)
            self._read[event.number] = [
                _Told(content_words(said), subject_of(tokens, start, end), is_question(said))
                for start, end in sentences(text)
                for said in (text[start:end],)
            ]
        return self._read[event.number]


def _likely(added: AddedOutside, told: Sequence[_Told], least: int) -> list[_Told]:
    """Return the sentences to which a statement may add: those that share most words with it."""
    fitting = [
        each
        for each in told
        if (added.names <= each.words if added.names else len(added.words & each.words) >= least)
        and added.words - each.words
        and not each.asks
        and each.subject is not None
        and is_same(added.subject, each.subject)
    ]
    most = max((len(added.words & each.words) for each in fitting), default=0)
    return [each for each in fitting if len(added.words & each.words) == most]


def relations_within(
    analysis: Analysis, facts: Sequence[str], created_at: int, adding: Set[str], ended: Set[str]
) -> list[FactRelation]:
    """Return what the facts of a message's statements, given in their order, are to each other.

    Only those of `adding` may add to others, and to none that has `ended`.
    """
    rows: dict[tuple[str, str], FactRelation] = {}
    for added in analysis.added:
        fact, to = facts[added.statement], facts[added.to]
        if fact != to and fact in adding and to not in ended:
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
    adding: Set[str],
    held: Callable[[str], Sequence[HeldFact]],
) -> Iterable[tuple[FactRelation, int]]:
    """Yield what facts are to those of other events, with the number of the event.

    `facts` are those of the message's statements, in order, of which those of `adding` may add to
    others; `held` says which facts an event gave.
    """
    derived = set()
    for one in references:
        fact, to = facts[one.outside.statement], matching_fact(one.words, held(one.event_id))
        if to is not None and to != fact and not one.outside.is_cause:
            derived.add((fact, to))
            yield (
                FactRelation(fact, to, "DERIVES", one.outside.strength, created_at),
                one.number,
            )
    for each in extensions:
        named = [one for one in held(each.event_id) if each.names <= content_words(one.text)]
        fact, to = facts[each.statement], matching_fact(each.words, named)
        if to is None or to == fact or fact not in adding or (fact, to) in derived:
            continue
        yield FactRelation(fact, to, "EXTENDS", each.confidence, created_at), each.number
