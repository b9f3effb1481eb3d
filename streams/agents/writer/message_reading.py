"""Reads a message together with what was said before it: its words, and what they rest on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from recollect.schemas.events import Content, Deletion, Edit, Event, Remember, message_of
from recollect.schemas.senders import is_assistant
from recollect.streams.agents.agent import Conversation
from recollect.streams.agents.identity.participants import Participant, named_participants
from recollect.streams.agents.writer.causal_links import (
    JUST_NOW_MS,
    CausalReference,
    find_causal_references,
)
from recollect.streams.agents.writer.fact_relations import Extension, find_extensions
from recollect.streams.agents.writer.retractions import Retraction, find_retractions, says_retracted
from recollect.streams.language.attributes.frames import find_frame
from recollect.streams.language.grammar.analysis import Analysis, Statement
from recollect.streams.language.grammar.enrichment import ALL, Without, left_out
from recollect.streams.language.grammar.named_weekdays import days_named, names_weekday
from recollect.streams.language.grammar.questions import is_question, last_question
from recollect.streams.language.grammar.role_plays import begins_play
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.names.mentions import mentions
from recollect.streams.language.references.person_before import (
    IN_MIND,
    IN_MIND_WITHIN_MS,
    Before,
    has_pronoun,
)
from recollect.streams.language.statements.occasions import Occasion, ToldOccasion, about_corrected
from recollect.streams.language.statements.statements import analyse

# What an agent was given from memory is no news, whoever repeats it (F1).
_INJECTED = re.compile(r"<memory_context\b.*?(?:</memory_context>|\Z)", re.DOTALL | re.IGNORECASE)

#: So many messages before it, and no older ones than this, say which day a bare weekday means.
_DAYS_NAMED_IN = 6
_DAYS_NAMED_WITHIN_MS = 86_400_000

#: A talk that goes on for longer is about more than it began with.
_TALK_MS = 6 * 3_600_000

#: Whether a message before another still says what it said when that was written.
Standing = Callable[[Event], bool]

_json = msgspec.json.Encoder()


class Question(msgspec.Struct, frozen=True):
    """What somebody asked: the number of the event, its words, and the context that they give."""

    number: int
    asked: str
    context: str


class Reading(msgspec.Struct, frozen=True):
    """One event as the writer read it.

    `question` is the question that the event answers, if any; `rests_on` are the numbers of the
    events before it that what was read depends on, `ids` the ids of those whose words are in the
    facts, by number. `said_at` is when it was said (unix ms); of an
    edit, when the message was first said. `replaced` are the ids of the versions of the message
    that it replaces. `read`: what a reader read in its own words. `retractions`,
    `causal_references` and `extensions` point to earlier messages: what it takes back, what it
    names as a cause or an effect, and what it adds to. `participants` take part where it is said,
    and may be named in it.
    `unnamed`: its mentions are left out; `unrelated`: so are relations of its facts to others.
    """

    event: Event
    analysis: Analysis
    said_at: int
    question: Question | None = None
    rests_on: tuple[int, ...] = ()
    replaced: tuple[str, ...] = ()
    read: TextReading | None = None
    retractions: tuple[Retraction, ...] = ()
    causal_references: tuple[CausalReference, ...] = ()
    extensions: tuple[Extension, ...] = ()
    ids: Mapping[int, str] = msgspec.field(default_factory=dict)
    participants: tuple[Participant, ...] = ()
    unnamed: bool = False
    unrelated: bool = False

    @property
    def content(self) -> Content:
        """The message: its words and its sender."""
        return message_of(self.event)

    def told_with(self, statement: Statement) -> list[int]:
        """Return the numbers of the events before it whose words are in the fact of a statement."""
        return _told_with(statement, self.question)


def event_text(content: Content) -> str:
    """Return the text of an event that is embedded: its words and the captions of its
    attachments.
    """
    captions = " ".join(f"[{item.caption}]" for item in content.attachments if item.caption)
    return f"{content.content} {captions}".strip()


def own_words(content: Content) -> str:
    """Return what a sender says: without what came from memory, which became blanks; of an
    assistant nothing.

    An assistant repeats what others said or what it recalled. Facts from that would multiply
    memories (F1), so its message only stays searchable as an event.
    """
    if not isinstance(content, Remember) and is_assistant(content.sender_id, content.direction):
        return ""
    return _INJECTED.sub(lambda found: " " * len(found[0]), content.content)


def fact_metadata(event: Event, **more: Any) -> str:
    """Return the metadata of a fact from an event as JSON: where it was said, and `more`."""
    content = message_of(event)
    metadata = {
        "source_platform": event.platform,
        "source_channel": content.peer_id,
        "direction": content.direction,
        "thread_id": content.thread_id,
        **more,
    }
    return _json.encode({k: v for k, v in metadata.items() if v is not None}).decode()


def read_message(
    event: Event, conversation: Conversation, below: int, without: Without = ALL
) -> Reading:
    """Read an event together with those before a number of the ledger.

    `without` are the steps that are left out.
    """
    content = message_of(event)
    said_at, replaced, stands = among_versions(event, conversation.revisions(event, below))
    text = own_words(content) if stands else ""
    read = conversation.reading(text) if text.strip() else None
    if isinstance(content, Remember):
        whole = left_out(_as_it_stands(text, event, content, read), without)
        return Reading(event, whole, said_at, read=read)
    before = conversation.before(event, 1) if text else ()

    def standing(one: Event) -> bool:
        """Whether it is no version of the message itself, and was not edited or taken back."""
        if one.id in replaced:
            return False
        return among_versions(one, conversation.revisions(one, below))[2]

    question = _question_in(before, content, standing)
    dictated = _is_dictated(before, content)
    among_people = _is_among_people(content, before)
    began = conversation.first_message(event) if before and not among_people else None
    in_play = not among_people and _is_in_play(text, began, standing)
    retractions: tuple[Retraction, ...] = ()
    if "evolution" not in without and not in_play:
        retractions = tuple(
            msgspec.structs.replace(one, statement=_retracted_statement(one, without))
            for one in find_retractions(text, said_at, event, content, conversation)
        )
    named = _days_named_before(text, said_at, event, conversation, standing)
    about = _about_corrected(retractions, content, standing)
    analysis = analyse(
        text,
        speaker=content.sender_name or content.sender_id,
        at_ms=said_at,
        utc_offset_minutes=content.utc_offset,
        asked=question.asked if question else None,
        dictated=dictated,
        reading=read,
        keep=[(one.start, one.end) for one in retractions],
        days=[day for _, day in named],
        without=without,
        before=_said_before(text, said_at, event, conversation, standing),
        occasion=_occasion(content, said_at, before, began, standing, among_people=among_people),
        among_people=among_people,
        in_play=in_play,
        corrected=about,
        pictures=[
            one.caption for one in content.attachments if one.type == "image" and one.caption
        ],
    )
    whom = {each.whom.name for each in analysis.statements if each.whom is not None}
    names = " ".join((text, *sorted(whom)))
    who = named_participants(names, event, conversation) if names != names.lower() else ()
    if not analysis.statements:
        return Reading(
            event,
            analysis,
            said_at,
            replaced=replaced,
            read=read,
            retractions=retractions,
            participants=who,
        )
    rests_on = tuple(one.number for one in before) if question or dictated else ()
    causal_references = find_causal_references(analysis.outside, said_at, event, conversation)
    extensions = find_extensions(analysis.added_outside, said_at, event, conversation, replaced)
    others = [*(each.number for each in causal_references), *(each.number for each in extensions)]
    rests_on += tuple(number for number in others if number not in rests_on)
    analysis = _with_days_from(analysis, named)
    told_with = {number for each in analysis.statements for number in _told_with(each, question)}
    rests_on += tuple(number for number in sorted(told_with) if number not in rests_on)
    quoted = (conversation.event(number) for number in sorted(told_with))
    return Reading(
        event,
        analysis,
        said_at,
        question,
        rests_on,
        replaced,
        read,
        retractions,
        causal_references,
        extensions,
        {one.number: one.id for one in quoted if one is not None},
        who,
    )


def _days_named_before(
    text: str, said_at: int, event: Event, conversation: Conversation, standing: Standing
) -> list[tuple[int, int]]:
    """Return the days that the conversation just named, each with the number of the event."""
    if not names_weekday(text):
        return []
    found: list[tuple[int, int]] = []
    for one in conversation.before(event, _DAYS_NAMED_IN):
        if 0 <= said_at - one.occurred_at <= _DAYS_NAMED_WITHIN_MS and standing(one):
            said = message_of(one)
            days = days_named(said.content, one.occurred_at, said.utc_offset)
            found += [(one.number, day) for day in days]
    return found


def _told_with(statement: Statement, question: Question | None) -> list[int]:
    return sorted({*statement.told_with, *((question.number,) if question else ())})


def _with_days_from(analysis: Analysis, named: Sequence[tuple[int, int]]) -> Analysis:
    """Return what was found; statements with days rest on the events that say which are meant."""
    numbers = [number for number, day in named if day in analysis.days_meant]
    if not numbers:
        return analysis
    statements = tuple(
        each.told_with_words_of(*numbers) if each.dates else each for each in analysis.statements
    )
    return msgspec.structs.replace(analysis, statements=statements)


def _said_before(
    text: str, said_at: int, event: Event, conversation: Conversation, standing: Standing
) -> list[Before]:
    """Return the messages before it that say who "he" or "she" is, the nearest first."""
    found: list[Before] = []
    for one in named_before(text, event, conversation):
        if 0 <= said_at - one.occurred_at <= IN_MIND_WITHIN_MS and standing(one):
            said = message_of(one)
            who = said.sender_name or said.sender_id
            reading = conversation.reading(own_words(said))
            found.append(Before(one.number, who, said.content, reading))
    return found


def _occasion(
    content: Content,
    said_at: int,
    before: Sequence[Event],
    began: Event | None,
    standing: Standing,
    *,
    among_people: bool,
) -> Occasion | None:
    """Return on what occasion a message is written: what its mail is about, with what its sender
    `began` this talk with an assistant, or what somebody else said just before.
    """
    subject = content.metadata.get("subject")
    if isinstance(subject, str):
        return Occasion(subject)
    if not before:
        return None
    last = message_of(before[0])
    said = before[0] if among_people else began
    within = JUST_NOW_MS if among_people else _TALK_MS
    if said is None or not 0 <= said_at - said.occurred_at <= within or not standing(said):
        return None
    if among_people and last.sender_id == content.sender_id:
        return None
    who = last.sender_name or last.sender_id if among_people else None
    return Occasion(own_words(message_of(said)), said.number, who)


def _is_among_people(content: Content, before: Sequence[Event]) -> bool:
    """Whether a message is to people; `before` has the one before it.

    Who begins a talk without naming a conversation begins it with an assistant.
    """
    if before:
        last = message_of(before[0])
        return not is_assistant(last.sender_id, last.direction)
    return content.peer_kind is not None or "subject" in content.metadata


def _is_in_play(text: str, began: Event | None, standing: Standing) -> bool:
    """Whether a message to an assistant is part of a play that it or the talk's first one began."""
    if began is None or not standing(began):
        return begins_play(text)
    return begins_play(own_words(message_of(began)))


def _about_corrected(
    retractions: Sequence[Retraction], content: Content, standing: Standing
) -> list[tuple[tuple[int, int], ToldOccasion]]:
    """Return what values are of that a message gives alone, by the sentence that gives them."""
    found: list[tuple[tuple[int, int], ToldOccasion]] = []
    for one in retractions:
        if one.about is None or not standing(one.about[0]):
            continue
        said, sentence = one.about
        first = message_of(said)
        own = first.sender_id == content.sender_id
        who = None if own else first.sender_name or first.sender_id
        told = about_corrected(
            own_words(first),
            sentence,
            said.number,
            who,
            at_ms=said.occurred_at,
            utc_offset=first.utc_offset,
        )
        if told is not None:
            found.append(((one.start, one.end), told))
    return found


def named_before(text: str, event: Event, conversation: Conversation) -> Sequence[Event]:
    """Return the events before one that say who "he" or "she" in its text is, the nearest first."""
    return conversation.before(event, IN_MIND) if has_pronoun(text) else ()


def _retracted_statement(one: Retraction, without: Without) -> Statement | None:
    """Return what was taken back as a statement, also where it was not worth a fact alone."""
    content = message_of(one.event)
    analysis = analyse(
        own_words(content),
        speaker=content.sender_name or content.sender_id,
        at_ms=one.event.occurred_at,
        utc_offset_minutes=content.utc_offset,
        keep=[one.sentence],
        without=without,
    )
    start, end = one.sentence
    said = (each for each in analysis.statements if each.start < end and start < each.end)
    return next((each for each in said if says_retracted(one, each.sentence)), None)


def among_versions(event: Event, revisions: Sequence[Event]) -> tuple[int, tuple[str, ...], bool]:
    """Return when an event was said, what it takes the place of, and whether it stands itself.

    What came before it in the ledger counts; a version that comes later takes its place then.
    """
    if not revisions and not isinstance(event.payload, Edit | Deletion):
        return event.occurred_at, (), True
    versions = [one for one in revisions if not isinstance(one.payload, Deletion)]
    if isinstance(event.payload, Deletion):
        return event.occurred_at, tuple(one.id for one in versions), False
    said_at = event.occurred_at
    if isinstance(event.payload, Edit):
        first = [one.occurred_at for one in versions if not isinstance(one.payload, Edit)]
        given = event.payload.said_at
        said_at = given if given is not None else min(first, default=event.occurred_at)
    newest = all(_version(one) < _version(event) for one in versions)
    stands = newest and len(versions) == len(revisions)
    return said_at, tuple(one.id for one in versions) if stands else (), stands


def _version(event: Event) -> tuple[bool, int, int]:
    """Return what orders the versions of a message, the newest last."""
    return isinstance(event.payload, Edit), event.occurred_at, event.number


def _as_it_stands(text: str, event: Event, content: Content, read: TextReading | None) -> Analysis:
    """Return a text that is to be remembered as one statement, not split into sentences."""
    analysis = analyse(
        text,
        speaker=None,
        at_ms=event.occurred_at,
        utc_offset_minutes=content.utc_offset,
        reading=read,
    )
    whole = " ".join(text.split())
    if not whole:
        return analysis
    parts = analysis.statements
    # What its sentences are to each other is of one statement alone.
    return msgspec.structs.replace(
        analysis,
        causes=(),
        outside=(),
        added=(),
        added_outside=(),
        statements=(
            Statement(
                start=0,
                end=len(text),
                sentence=whole,
                text=whole,
                signature=" ".join(part.signature for part in parts) or whole.casefold(),
                mentions=tuple(mentions(text, read)),
                dates=tuple(date for part in parts for date in part.dates),
                claim=parts[0].claim if len(parts) == 1 else None,
                corrects=False,
            ),
        ),
    )


def _question_in(before: Sequence[Event], content: Content, standing: Standing) -> Question | None:
    """Return the question that somebody else asked just before: the context of a fact."""
    for event in filter(standing, before):
        asked = message_of(event)
        if asked.sender_id != content.sender_id and len(asked.content) <= 300:
            last = " ".join(asked.content.split())
            if is_question(last):
                who = asked.sender_name or asked.sender_id
                return Question(event.number, last_question(last), f"{who} asked: {last}")
    return None


def _is_dictated(before: Sequence[Event], content: Content) -> bool:
    """Whether the sender stated a plain fact just before, so plain facts are what this is."""
    for event in before:
        said = message_of(event)
        same = said.sender_id == content.sender_id
        return same and len(said.content) <= 300 and find_frame(said.content, None) is not None
    return False
