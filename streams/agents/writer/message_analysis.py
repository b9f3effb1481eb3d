"""Message analysis: a message's statements in the context of earlier messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from recollect.schemas.events import Content, Deletion, Edit, Event, Remember, message_of
from recollect.schemas.ids import first_ulid
from recollect.schemas.senders import is_from_assistant
from recollect.streams.agents.agent import Conversation
from recollect.streams.agents.identity.participants import Participant, named_participants
from recollect.streams.agents.memories.memory_versions import is_private
from recollect.streams.agents.writer.causal_links import (
    CausalReference,
    find_causal_references,
)
from recollect.streams.agents.writer.echoes import without_echoes
from recollect.streams.agents.writer.fact_relations import Extension, find_extensions
from recollect.streams.agents.writer.retractions import (
    LaterRetraction,
    MessagesBefore,
    Retraction,
    WithoutEvents,
    find_later_retractions,
    find_retractions,
    states_retracted_value,
)
from recollect.streams.language.grammar.analysis import Analysis, Mention, Statement
from recollect.streams.language.grammar.enrichment import ALL, Without, left_out
from recollect.streams.language.grammar.named_weekdays import (
    dates_meant,
    days_named,
    names_weekday,
)
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.grammar.role_plays import begins_play
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.names.dated_mentions import dated_mentions
from recollect.streams.language.names.mentions import mentions
from recollect.streams.language.references.person_antecedents import (
    IN_MIND,
    IN_MIND_WITHIN_MS,
    PrecedingMessage,
    has_pronoun,
)
from recollect.streams.language.references.standing_alone import left_open
from recollect.streams.language.relations.corrections import LOOKED_THROUGH
from recollect.streams.language.statements.document import Document
from recollect.streams.language.statements.statements import analyse
from recollect.text.dates.found_dates import DateReference
from recollect.text.dates.resolved_dates import in_numbers, with_days
from recollect.text.relatives import relatives_in
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise

#: How far back a bare weekday's date is looked up: in messages, and in time.
WEEKDAY_LOOKBACK_MESSAGES = 6
_WEEKDAY_LOOKBACK_MS = 86_400_000
#: In characters: the next message is not read as the answer to a longer one.
_LONGEST_QUESTION = 300
#: In characters: a longer subject of a mail is not a context of its statements.
_LONGEST_SUBJECT = 240
#: "Re: Fwd: AW: The roof"
_REPLIED = re.compile(r"\A(?:(?:re|fwd?|aw|wg|sv|tr|rv|antw)(?:\[\d+\])?:\s*)+", re.IGNORECASE)
#: The name for "you" in the facts of a message to an assistant.
_ASSISTANT = "the assistant"

#: Whether an earlier message is the current version: neither edited nor deleted since.
IsCurrent = Callable[[Event], bool]

_json = msgspec.json.Encoder()


class FactContext(msgspec.Struct, frozen=True):
    """The context of statements: the question, the corrected statement or the subject before them.

    Attributes:
        numbers: the numbers of the earlier events that the context quotes, and of the events that
            resolve its weekdays; empty for the message's own subject line.
        span: the sentence whose context it is; None: the whole message.
        dates: the dates in the context that apply to the statements too.
    """

    text: str
    numbers: tuple[int, ...] = ()
    span: tuple[int, int] | None = None
    dates: tuple[DateReference, ...] = ()

    def applies_to(self, statement: Statement) -> bool:
        """Whether it is the context of a statement."""
        return self.span is None or (
            statement.start < self.span[1] and self.span[0] < statement.end
        )


class AnalysedMessage(msgspec.Struct, frozen=True):
    """A message with what was extracted from it.

    Attributes:
        said_at: the time of the message (unix ms); of an edit, the time of the original.
        contexts: the contexts of its statements, the closest first.
        source_numbers: the numbers of the earlier events that the analysis depends on.
        replaced: the ids of the message's versions that this one replaces.
        annotation: the reader's annotation of its text.
        retractions: the statements of earlier messages that it retracts.
        later_retractions: the retractions of its own statements by messages that were said later
            and arrived before it.
        causal_references: the statements of earlier messages that are its causes and effects.
        extensions: the statements of earlier messages that it extends.
        context_ids: the ids of the earlier events that its facts quote, by number.
        participants: the participants of the conversation that it may name.
        versions: the numbers and texts of its versions earlier in the ledger, by event id.
        dates: the dates in its text, whether stated in a fact or not.
        date_sources: the numbers of the earlier events that tell which days its weekdays mean.
        mentions: what its text mentions, inside of statements or not, with the days of its dates.
        skip_mentions: record no mentions of names outside of statements.
        skip_dates: record no mentions of dates and times.
        skip_relations: record no relations between facts.
    """

    event: Event
    analysis: Analysis
    said_at: int
    contexts: tuple[FactContext, ...] = ()
    source_numbers: tuple[int, ...] = ()
    replaced: tuple[str, ...] = ()
    annotation: TextReading | None = None
    retractions: tuple[Retraction, ...] = ()
    causal_references: tuple[CausalReference, ...] = ()
    extensions: tuple[Extension, ...] = ()
    context_ids: Mapping[int, str] = msgspec.field(default_factory=dict)
    participants: tuple[Participant, ...] = ()
    versions: Mapping[str, tuple[int, str]] = msgspec.field(default_factory=dict)
    dates: tuple[DateReference, ...] = ()
    date_sources: tuple[int, ...] = ()
    mentions: tuple[Mention, ...] = ()
    later_retractions: tuple[LaterRetraction, ...] = ()
    skip_mentions: bool = False
    skip_dates: bool = False
    skip_relations: bool = False

    @property
    def content(self) -> Content:
        """The payload: text and sender."""
        return message_of(self.event)

    def context_numbers(self, statement: Statement) -> list[int]:
        """Return the numbers of the earlier events that a statement's fact quotes."""
        return _context_numbers(statement, self.contexts)

    def context_of(self, statement: Statement) -> FactContext | None:
        """Return the context of a statement, or None."""
        return _context_of(statement, self.contexts)


def indexed_text(content: Content) -> str:
    """Return the text that is embedded for an event: its own and its attachments' captions."""
    captions = " ".join(f"[{item.caption}]" for item in content.attachments if item.caption)
    return f"{content.content} {captions}".strip()


def user_text(event: Event) -> str:
    """Return the text to extract facts from; empty for an assistant's message.

    Quoted output of the memory is blanked. An assistant repeats what others said or what it
    recalled, and facts from that would multiply memories (F1): its messages are only searchable as
    events.
    """
    content = message_of(event)
    if not isinstance(content, Remember) and is_from_assistant(event):
        return ""
    return without_echoes(content.content)


def fact_metadata(event: Event, **more: Any) -> str:
    """Return a fact's metadata as JSON: the event's platform and conversation, and `more`."""
    content = message_of(event)
    metadata = {
        "source_platform": event.platform,
        "source_channel": content.peer_id,
        "direction": content.direction,
        "thread_id": content.thread_id,
        **more,
    }
    return _json.encode({k: v for k, v in metadata.items() if v is not None}).decode()


def analyse_message(
    event: Event, conversation: Conversation, below: int, without: Without = ALL
) -> AnalysedMessage:
    """Analyse an event, with the events before the record number `below` as context.

    `without` names the disabled steps.
    """
    analysis = _analysed(event, conversation, below, without)
    # Found here rather than when the message is decided, since the parsed text is still cached.
    mentioned = dated_mentions(
        analysis.content.content,
        analysis.annotation,
        analysis.dates,
        at_ms=analysis.said_at,
        utc_offset_minutes=analysis.content.utc_offset,
    )
    return msgspec.structs.replace(analysis, mentions=tuple(mentioned))


def _analysed(
    event: Event, conversation: Conversation, below: int, without: Without
) -> AnalysedMessage:
    content = message_of(event)
    revisions = conversation.revisions(event, below)
    said_at, replaced, is_newest = resolve_version(event, revisions)
    versions = {
        one.id: (one.number, message_of(one).content)
        for one in revisions
        if not isinstance(one.payload, Deletion)
    }
    text = user_text(event) if is_newest else ""
    annotation = conversation.annotation(text) if text.strip() else None
    earlier = _EarlierMessages(conversation, below, replaced)
    if isinstance(content, Remember) or _edits_remembered(content, revisions):
        verbatim = left_out(_verbatim_analysis(text, event, content, annotation), without)
        references = find_causal_references(verbatim.outside, said_at, event, conversation)
        extensions = find_extensions(verbatim.added_outside, said_at, event, conversation, replaced)
        return AnalysedMessage(
            event,
            verbatim,
            said_at,
            source_numbers=_numbers_of(references, extensions),
            replaced=replaced,
            annotation=annotation,
            retractions=() if "evolution" in without else earlier.retractions_of(event, text),
            causal_references=references,
            extensions=extensions,
            versions=versions,
            dates=verbatim.dates,
            later_retractions=() if "evolution" in without else earlier.later_retractions(event),
        )
    before = conversation.preceding(event, 1) if text else ()
    is_current = earlier.is_current

    among_people = _is_among_people(content, before)
    first = conversation.first_message(event) if before and not among_people else None
    is_played = not among_people and _is_role_play(text, first, is_current)
    retractions: tuple[Retraction, ...] = ()
    if "evolution" not in without and not is_played:
        retractions = tuple(
            msgspec.structs.replace(one, statement=_retracted_statement(one, earlier, without))
            for one in earlier.retractions_of(event, text)
        )
    contexts = (
        *_corrected_topics(retractions, earlier, without),
        *_question_in(before, content, is_current),
        *_subject_of(content),
    )
    dated = text or (content.content if is_newest else "")
    days = earlier.days_before(event, dated, said_at)
    analysis = analyse(
        Document(
            text=text,
            speaker=content.sender_name or content.sender_id,
            addressee=_addressee(content, before),
            at_ms=said_at,
            utc_offset_minutes=content.utc_offset,
            reading=annotation,
            before=tuple(_antecedents(text, said_at, event, conversation, is_current)),
            days=tuple(day for _, day in days),
            keep=tuple((one.start, one.end) for one in retractions),
            is_played=is_played,
        ),
        without,
    )
    dates, meant = analysis.dates, analysis.days_meant
    if not text and "temporal" not in without:
        resolved_dates, meant = dates_meant(
            dated, said_at, content.utc_offset, [day for _, day in days]
        )
        dates = tuple(resolved_dates)
    date_sources = tuple(sorted({number for number, day in days if day in meant}))
    referents = {
        statement.whom.name for statement in analysis.statements if statement.whom is not None
    }
    names = " ".join((text, *sorted(referents)))
    # Without a capital letter the text names nobody.
    participants = named_participants(names, event, conversation) if names != names.lower() else ()
    if not analysis.statements:
        return AnalysedMessage(
            event,
            analysis,
            said_at,
            replaced=replaced,
            annotation=annotation,
            retractions=retractions,
            participants=participants,
            versions=versions,
            dates=dates,
            date_sources=date_sources,
        )
    causal_references = find_causal_references(analysis.outside, said_at, event, conversation)
    extensions = find_extensions(analysis.added_outside, said_at, event, conversation, replaced)
    source_numbers = _numbers_of(causal_references, extensions)
    analysis = _with_day_sources(analysis, date_sources)
    cited = {n for statement in analysis.statements for n in _context_numbers(statement, contexts)}
    source_numbers += tuple(number for number in sorted(cited) if number not in source_numbers)
    quoted = (conversation.event(number) for number in sorted(cited))
    return AnalysedMessage(
        event,
        analysis,
        said_at,
        contexts,
        source_numbers,
        replaced,
        annotation,
        retractions,
        causal_references,
        extensions,
        {one.number: one.id for one in quoted if one is not None},
        participants,
        versions,
        dates,
        date_sources,
        later_retractions=()
        if "evolution" in without or is_played
        else earlier.later_retractions(event),
    )


def _numbers_of(
    references: Iterable[CausalReference], extensions: Iterable[Extension]
) -> tuple[int, ...]:
    """Return the numbers of the earlier events that a message refers to."""
    numbers = [one.number for one in references] + [one.number for one in extensions]
    return tuple(dict.fromkeys(numbers))


def named_before(before: Iterable[tuple[Event, int]], said_at: int) -> list[tuple[int, int]]:
    """Return the (event number, day) pairs of the days named just before `said_at` (unix ms).

    `before`: the nearest messages before it, each with the time at which it was said.
    """
    named: list[tuple[int, int]] = []
    for one, at in before:
        if 0 <= said_at - one.occurred_at <= _WEEKDAY_LOOKBACK_MS:
            message = message_of(one)
            days = days_named(message.content, at, message.utc_offset)
            named += [(one.number, day) for day in days]
    return named


class _EarlierMessages:
    """The messages before an analysed one, as they are below a record number.

    `replaced` are the ids of the versions that the analysed message replaces.
    """

    def __init__(self, conversation: Conversation, below: int, replaced: Collection[str]) -> None:
        self._conversation = conversation
        self._below = below
        self._replaced = replaced
        #: The edits that are placed at the times of their originals, as they are, by id.
        self._edits: dict[str, Event] = {}

    def is_current(self, one: Event) -> bool:
        """Whether a message is the current version, and no version of the analysed message."""
        return one.id not in self._replaced and self._version(self._edits.get(one.id, one))[2]

    def retractions_of(self, event: Event, text: str) -> tuple[Retraction, ...]:
        """Return the retractions of a message with this text."""
        before = _PlacedEdits(self._conversation, self._placed)
        return self._standing_retractions(self._placed(event), text, before)

    def later_retractions(self, event: Event) -> tuple[LaterRetraction, ...]:
        """Return the retractions of a message that were said after it and arrived before it."""
        if is_from_assistant(event):
            return ()
        late = self._placed(event)
        place = event
        if isinstance(event.payload, Edit):
            place = msgspec.structs.replace(event, id=first_ulid(late.occurred_at + 1))

        def beside(*, is_later: bool) -> list[Event]:
            found = self._conversation.beside(
                place, LOOKED_THROUGH, event.number, is_later=is_later
            )
            return [self._placed(each) for each in found if each.id not in self._replaced]

        def find(one: Event, before: Sequence[Event]) -> tuple[Retraction, ...]:
            found = self._standing_retractions(one, user_text(one), MessagesBefore(before))
            return found if found and self.is_current(one) else ()

        said = sorted(beside(is_later=True), key=_time_order)
        later = [each for each in said if _time_order(each) > _time_order(late)]
        edited = said[: len(said) - len(later)]
        return tuple(
            find_later_retractions(
                late,
                later,
                lambda: sorted([*edited, *beside(is_later=False)], key=_time_order),
                find,
            )
        )

    def _standing_retractions(
        self, event: Event, text: str, conversation: Conversation
    ) -> tuple[Retraction, ...]:
        """Return the retractions of a message, of the newest versions of those before it."""
        content, said_at = message_of(event), event.occurred_at
        find = _remembered_retractions if isinstance(content, Remember) else find_retractions
        replaced: set[str] = set()
        while True:
            before = WithoutEvents(conversation, replaced) if replaced else conversation
            found = find(text, said_at, event, content, before)
            old = {
                each.event.id
                for one in found
                for each in one.choices()
                if not self.is_current(each.event)
            }
            if not old:
                return found
            replaced |= old

    def _placed(self, one: Event) -> Event:
        """Return a message as of when it was said: an edit, as of when the original was."""
        if not isinstance(one.payload, Edit):
            return one
        self._edits[one.id] = one
        return msgspec.structs.replace(one, occurred_at=self.said_at(one))

    def days_before(self, event: Event, text: str, said_at: int) -> list[tuple[int, int]]:
        """Return the (event number, day) pairs of the days named just before a message.

        `text`: the message's text, said at `said_at` (unix ms). Empty if it names no weekday.
        """
        if not names_weekday(text):
            return []
        before = self._conversation.preceding(event, WEEKDAY_LOOKBACK_MESSAGES)
        return named_before(
            [(one, self.said_at(one)) for one in before if self.is_current(one)], said_at
        )

    def dates_of(self, event: Event) -> tuple[list[DateReference], tuple[int, ...]]:
        """Return the dates of a message, and the numbers of the events that determine its days."""
        text, at = user_text(event), self.said_at(event)
        days = self.days_before(event, text, at)
        offset = message_of(event).utc_offset
        dates, meant = dates_meant(text, at, offset, [day for _, day in days])
        return dates, tuple(sorted({number for number, day in days if day in meant}))

    def said_at(self, one: Event) -> int:
        """Return when a message was said (unix ms); of an edit, when the original was."""
        return self._version(one)[0]

    def _version(self, one: Event) -> tuple[int, tuple[str, ...], bool]:
        return resolve_version(one, self._conversation.revisions(one, self._below))


class _PlacedEdits(Conversation):
    """A conversation whose edits are as of when their originals were said."""

    def __init__(self, conversation: Conversation, placed: Callable[[Event], Event]) -> None:
        self._conversation = conversation
        self._placed = placed

    def preceding(self, event: Event, limit: int) -> list[Event]:
        return [*map(self._placed, self._conversation.preceding(event, limit))]

    def other_channels(self, event: Event, since: int) -> list[Event]:
        return [*map(self._placed, self._conversation.other_channels(event, since))]

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        return self._conversation.turn(event, platform, turn_id)

    def revisions(self, event: Event, below: int) -> Sequence[Event]:
        return self._conversation.revisions(event, below)


def _time_order(event: Event) -> tuple[int, str]:
    return event.occurred_at, event.id


def _context_of(statement: Statement, contexts: Sequence[FactContext]) -> FactContext | None:
    return next((each for each in contexts if each.applies_to(statement)), None)


def _context_numbers(statement: Statement, contexts: Sequence[FactContext]) -> list[int]:
    context = _context_of(statement, contexts)
    quoted = () if context is None else context.numbers
    return sorted({*statement.told_with, *quoted})


def _with_day_sources(analysis: Analysis, numbers: Sequence[int]) -> Analysis:
    """Add to statements with dates the events that determine which day a weekday means."""
    if not numbers:
        return analysis
    statements = tuple(
        each.told_with_words_of(*numbers) if each.dates else each for each in analysis.statements
    )
    return msgspec.structs.replace(analysis, statements=statements)


def _antecedents(
    text: str, said_at: int, event: Event, conversation: Conversation, is_current: IsCurrent
) -> list[PrecedingMessage]:
    """Return the messages that may hold the antecedents of "he" or "she", the nearest first."""
    before: list[PrecedingMessage] = []
    for one in antecedent_events(text, event, conversation):
        if 0 <= said_at - one.occurred_at <= IN_MIND_WITHIN_MS and is_current(one):
            message = message_of(one)
            name = message.sender_name or message.sender_id
            annotation = conversation.annotation(user_text(one))
            before.append(PrecedingMessage(one.number, name, message.content, annotation))
    return before


def _is_among_people(content: Content, before: Sequence[Event]) -> bool:
    """Whether a message is addressed to people; `before`: the previous message, if there is one.

    A first message without a conversation is to an assistant.
    """
    if before:
        return not is_from_assistant(before[0])
    return content.peer_kind is not None or "subject" in content.metadata


def _addressee(content: Content, before: Sequence[Event]) -> str | None:
    """Return what "you" in a message means; None if unknown. `before`: as in `_is_among_people`."""
    if content.peer_kind in ("group", "channel") or not before:
        return None
    return _ASSISTANT if is_from_assistant(before[0]) else None


def _is_role_play(text: str, first: Event | None, is_current: IsCurrent) -> bool:
    """Whether a message to an assistant is part of a role play, begun by it or by `first`."""
    if first is None or not is_current(first):
        return begins_play(text)
    return begins_play(user_text(first))


def antecedent_events(text: str, event: Event, conversation: Conversation) -> Sequence[Event]:
    """Return the events that may name whom a text means, the nearest first.

    It means somebody by a pronoun, or as the sender's relative.
    """
    refers = has_pronoun(text) or any(each.is_own for each in relatives_in(text))
    return conversation.preceding(event, IN_MIND) if refers else ()


def _retracted_statement(
    one: Retraction, earlier: _EarlierMessages, without: Without
) -> Statement | None:
    """Return the retracted statement, even if it was not worth a fact; None if there is none."""
    content, text = message_of(one.event), user_text(one.event)
    said_at = earlier.said_at(one.event)
    days = earlier.days_before(one.event, text, said_at)
    analysis = analyse(
        Document(
            text=text,
            speaker=content.sender_name or content.sender_id,
            at_ms=said_at,
            utc_offset_minutes=content.utc_offset,
            days=tuple(day for _, day in days),
            keep=(one.sentence,),
        ),
        without,
    )
    analysis = _with_day_sources(
        analysis, sorted({number for number, day in days if day in analysis.days_meant})
    )
    start, end = one.sentence
    candidates = (
        statement
        for statement in analysis.statements
        if statement.start < end and start < statement.end
    )
    return next(
        (statement for statement in candidates if states_retracted_value(one, statement.sentence)),
        None,
    )


def _edits_remembered(content: Content, revisions: Sequence[Event]) -> bool:
    """Return whether a text is the new version of one that somebody asked to remember."""
    return isinstance(content, Edit) and any(isinstance(one.payload, Remember) for one in revisions)


def resolve_version(event: Event, revisions: Sequence[Event]) -> tuple[int, tuple[str, ...], bool]:
    """Return when a message was said, the ids of the versions it replaces, and if it is the newest.

    Only `revisions`, those before it in the ledger, count.
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
    is_last = all(_version(one) < _version(event) for one in versions)
    is_newest = is_last and len(versions) == len(revisions)
    return said_at, tuple(one.id for one in versions) if is_newest else (), is_newest


def _version(event: Event) -> tuple[bool, int, int]:
    """Return the sort key of a message's versions, the newest last."""
    return isinstance(event.payload, Edit), event.occurred_at, event.number


def _remembered_retractions(
    text: str, said_at: int, event: Event, content: Content, conversation: Conversation
) -> tuple[Retraction, ...]:
    """Return the earlier texts of one sentence that a text to remember corrects.

    A longer text is one fact, which also says what is not corrected. A private text corrects only
    what has the same readers.
    """
    found = find_retractions(text, said_at, event, content, conversation)
    alternatives: dict[tuple[int, int], Retraction] = {}
    if found:
        # Who stored an earlier text is in the state, so that the decision chooses.
        others = WithoutEvents(conversation, {one.event.id for one in found})
        for one in _remembered_retractions(text, said_at, event, content, others):
            alternatives.setdefault((one.start, one.end), one)
    return tuple(
        msgspec.structs.replace(one, otherwise=alternatives.get((one.start, one.end)))
        for one in found
        for earlier in (message_of(one.event),)
        if _is_all(earlier.content, one.sentence)
        and (earlier.peer_id == content.peer_id or not is_private(event))
    )


def _is_all(text: str, sentence: tuple[int, int]) -> bool:
    start, end = sentence
    return text[start:end].strip(" .!") == text.strip().strip(" .!")


def _verbatim_analysis(
    text: str, event: Event, content: Content, annotation: TextReading | None
) -> Analysis:
    """Return the analysis of a text to remember, as one statement for the whole text."""
    at_ms, offset = event.occurred_at, content.utc_offset
    analysis = analyse(
        Document(
            text=text,
            speaker=None,
            at_ms=at_ms,
            utc_offset_minutes=offset,
            reading=annotation,
            keep=((0, len(text)),),
        )
    )
    sentence = " ".join(text.split())
    if not sentence:
        return analysis
    parts = analysis.statements
    # Relations between its sentences are relations within the one statement.
    return msgspec.structs.replace(
        analysis,
        causes=(),
        outside=tuple(msgspec.structs.replace(one, statement=0) for one in analysis.outside),
        added=(),
        added_outside=tuple(
            msgspec.structs.replace(one, statement=0) for one in analysis.added_outside
        ),
        statements=(
            Statement(
                start=0,
                end=len(text),
                sentence=sentence,
                text=sentence,
                signature=" ".join(part.signature for part in parts) or sentence.casefold(),
                mentions=tuple(mentions(text, annotation, at_ms=at_ms, utc_offset_minutes=offset)),
                dates=analysis.dates,
                claim=parts[0].claim if len(parts) == 1 else None,
                corrects=False,
            ),
        ),
    )


def _question_in(
    before: Sequence[Event], content: Content, is_current: IsCurrent
) -> Iterable[FactContext]:
    """Yield the question that somebody else asked just before, if any."""
    for event in filter(is_current, before):
        asked = message_of(event)
        if asked.sender_id != content.sender_id and len(asked.content) <= _LONGEST_QUESTION:
            last = " ".join(asked.content.split())
            if is_question(last):
                name = asked.sender_name or asked.sender_id
                yield FactContext(f"{name} asked: {last}", (event.number,))
                return


def _corrected_topics(
    retractions: Sequence[Retraction], earlier: _EarlierMessages, without: Without
) -> Iterable[FactContext]:
    """Yield the sentences that give the topics of corrections which name none themselves."""
    for one in retractions:
        if one.topic is None or not earlier.is_current(one.topic[0]):
            continue
        event, sentence = one.topic
        text, content = user_text(event), message_of(event)
        start, end = _with_antecedent(text, sentence)
        dates, sources = earlier.dates_of(event)
        inside = [date for date in dates if start <= date.start and date.end <= end]
        words = with_days(
            text, start, end, inside if "temporal_resolution" not in without else (), in_numbers
        )
        yield FactContext(
            f"{content.sender_name or content.sender_id} said: {words}",
            tuple(sorted({event.number, *(sources if inside else ())})),
            (one.start, one.end),
            tuple(
                date
                for date in inside
                if "temporal" not in without and not _is_retracted(date, text, one.values)
            ),
        )


def _is_retracted(date: DateReference, text: str, values: Sequence[str]) -> bool:
    """Whether a date of a text is one of the retracted values."""
    words = text[date.start : date.end].lower()
    return any(value in words for value in values)


def _with_antecedent(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return a sentence's span, extended to the previous sentence if its "it" is unresolved."""
    tokens = tokenise(text[span[0] : span[1]])
    if left_open(tokens, 0, len(tokens.words), (), 0) not in ("part", "thing"):
        return span
    before = [each for each in sentences(text) if each[1] <= span[0]]
    return (before[-1][0], span[1]) if before else span


def _subject_of(content: Content) -> Iterable[FactContext]:
    """Yield the subject of a mail without "Re:" and "Fwd:", unless it is empty or too long."""
    subject = content.metadata.get("subject")
    if isinstance(subject, str):
        words = " ".join(_REPLIED.sub("", subject.strip()).split())
        if 0 < len(words) <= _LONGEST_SUBJECT:
            yield FactContext(f"Subject: {words}")
