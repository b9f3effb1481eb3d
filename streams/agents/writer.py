"""The writer that needs no model: sentences become facts, names become entities (A3 to A7, A21)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import partial

import msgspec

from projections.memory.memory_queries import DatedClaim
from schemas.changes import (
    AnyRow,
    CausalLink,
    DecidedPart,
    Fact,
    FactClaim,
    FactEntity,
    FactLikeness,
    FactRepeat,
    FactSupersession,
    Mention,
    Processed,
    Turn,
)
from schemas.events import CloseTurn, Content, Deletion, Edit, Event, Remember, TurnCompleted
from schemas.ids import fact_id, text_hash, turn_row_id
from schemas.names import normalise_name
from schemas.senders import is_assistant
from streams.agents.agent import Extract, ReadingAgent, Surroundings, ToRead
from streams.agents.causing import SaidBefore, links_to_before, said_before
from streams.agents.correcting import (
    Held,
    Made,
    TakenBack,
    ends_of_corrected,
    says_it,
    taken_back,
    what_ends,
)
from streams.agents.entities import ENTITY_TYPES, EntityResolver
from streams.agents.state import Known, State, kept_signature
from streams.agents.vectors import embedding_rows, turn_rows
from streams.language.analysis import Analysis, Claim, Statement
from streams.language.analysis import Mention as NamedInText
from streams.language.frames import MASK, find_frame
from streams.language.likeness import (
    LEAST_COSINE,
    cosine_of,
    differ_in_one_word,
    is_vague,
    likeness,
    turned,
)
from streams.language.mentions import mentions
from streams.language.questions import is_question, last_question
from streams.language.statements import analyse
from streams.language.text_reading import TextReading

# Near-duplicates are skipped "in the same period": Hindsight's 24 hours, either way.
SAME_PERIOD_MS = 86_400_000

# What an agent was given from memory is no news, whoever repeats it (F1).
_INJECTED = re.compile(r"<memory_context\b.*?(?:</memory_context>|\Z)", re.DOTALL | re.IGNORECASE)

_json = msgspec.json.Encoder()


class Question(msgspec.Struct, frozen=True):
    """What somebody asked: the number of the event, its words, and the context that they give."""

    number: int
    asked: str
    context: str


class Reading(msgspec.Struct, frozen=True):
    """One event as the writer read it.

    `question` is the question that the event answers, if any; `rests_on` are the numbers of the
    events before it that what was read depends on. `said_at` is when it was said (unix ms); of an
    edit, when the message was first said. `replaced` are the ids of the versions of the message
    that it replaces. `read`: what a reader read in its own words. `corrects` is what it takes back
    of others, `caused` where what it names as a cause or an effect was said.
    """

    event: Event
    analysis: Analysis
    said_at: int
    question: Question | None = None
    rests_on: tuple[int, ...] = ()
    replaced: tuple[str, ...] = ()
    read: TextReading | None = None
    corrects: tuple[TakenBack, ...] = ()
    caused: tuple[SaidBefore, ...] = ()

    @property
    def content(self) -> Content:
        """The message: its words and its sender."""
        assert isinstance(self.event.payload, Content)
        return self.event.payload


class RuleWriter(ReadingAgent):
    """Reads messages and their edits, finished turns and requests to remember something.

    Of a message with several versions the newest counts, in whatever order they come; of one that
    was deleted none does.
    """

    kinds = frozenset({"message", "turn_completed", "close_turn", "remember", "edit", "deletion"})

    def to_read(self, event: Event, surroundings: Surroundings) -> list[ToRead]:
        said = [event] if isinstance(event.payload, Content) else []
        if ended := _ended(event):
            said += surroundings.turn(event, *ended)
        texts = [
            ToRead(one.number, own_words(one.payload))
            for one in said
            if isinstance(one.payload, Content)
        ]
        return [each for each in texts if each.text.strip()]

    def extract(self, event: Event, surroundings: Surroundings) -> Extract:
        content = event.payload
        readings = []
        if isinstance(content, Content):
            readings.append(_read(event, surroundings, event.number))
        if ended := _ended(event):
            said = surroundings.turn(event, *ended)
            turn = [_read(one, surroundings, event.number) for one in said]
            readings = [*turn, *readings]
        reads = {reading.event.number for reading in readings} - {event.number}
        reads |= {number for reading in readings for number in reading.rests_on}
        reads |= {one.event.number for reading in readings for one in reading.corrects}
        turn_text = event_text(content) if isinstance(content, Content) else ""
        return Extract(
            content=readings,
            reads=tuple(sorted(reads)),
            texts=tuple(
                statement.sentence
                for reading in readings
                for statement in (*reading.analysis.statements, *_former(reading))
                if statement.sentence
            ),
            turns=(turn_text,) if turn_text else (),
        )

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        content = event.payload
        own = DecidedPart((event.number,))
        if isinstance(content, Content) and (text := event_text(content)):
            own.puts += turn_rows(state, event.ingested_at, event.id, text)
        readings: list[Reading] = extract.content
        if isinstance(content, Deletion):
            own.puts += _ends(readings[0], _replaced_facts(readings[0], state))
            return [own]
        if ended := _ended(event):
            turn = turn_row_id(*ended)
            if isinstance(content, CloseTurn) and state.is_completed(turn):
                return []
            own.puts.append(Turn(turn, *ended, event.id, event.occurred_at))
        elif (
            isinstance(content, Content)
            and content.turn_id
            and not state.is_completed(turn_row_id(event.platform, content.turn_id))
        ):
            return [own]
        resolver = EntityResolver(state, event)
        new = _New()
        parts = [own]
        for reading in readings:
            if not state.is_processed(reading.event.id):
                parts += _decide(reading, event, state, resolver, new)
        return parts


def _ended(event: Event) -> tuple[str, str] | None:
    """Return the turn that an event ends: its platform, and the platform's own id of it."""
    payload = event.payload
    if isinstance(payload, CloseTurn):
        return payload.platform, payload.turn_id
    if isinstance(payload, TurnCompleted) and payload.turn_id is not None:
        return event.platform, payload.turn_id
    return None


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


def _read(event: Event, surroundings: Surroundings, below: int) -> Reading:
    """Read an event together with those before a number of the ledger."""
    content = event.payload
    assert isinstance(content, Content)
    said_at, replaced, stands = among_versions(event, surroundings.revisions(event, below))
    text = own_words(content) if stands else ""
    read = surroundings.reading(text) if text.strip() else None
    if isinstance(content, Remember):
        return Reading(event, _as_it_stands(text, event, content, read), said_at, read=read)
    before = surroundings.before(event, 1) if text else ()
    question = _question_in(before, content)
    dictated = _is_dictated(before, content)
    corrects = tuple(
        msgspec.structs.replace(one, statement=_taken_back_statement(one))
        for one in taken_back(text, said_at, event, content, surroundings)
    )
    analysis = analyse(
        text,
        speaker=content.sender_name or content.sender_id,
        at_ms=said_at,
        utc_offset_minutes=content.utc_offset,
        asked=question.asked if question else None,
        dictated=dictated,
        reading=read,
        keep=[(one.start, one.end) for one in corrects],
    )
    if not analysis.statements:
        return Reading(event, analysis, said_at, replaced=replaced, read=read, corrects=corrects)
    rests_on = tuple(one.number for one in before) if question or dictated else ()
    caused = said_before(analysis.outside, said_at, event, surroundings)
    rests_on += tuple(each.number for each in caused if each.number not in rests_on)
    return Reading(event, analysis, said_at, question, rests_on, replaced, read, corrects, caused)


def _taken_back_statement(one: TakenBack) -> Statement | None:
    """Return what was taken back as a statement, also where it was not worth a fact alone."""
    content = one.event.payload
    assert isinstance(content, Content)
    analysis = analyse(
        own_words(content),
        speaker=content.sender_name or content.sender_id,
        at_ms=one.event.occurred_at,
        utc_offset_minutes=content.utc_offset,
        keep=[one.sentence],
    )
    start, end = one.sentence
    said = (each for each in analysis.statements if each.start < end and start < each.end)
    return next((each for each in said if says_it(one, each.sentence)), None)


def _former(reading: Reading) -> Iterable[Statement]:
    return (one.statement for one in reading.corrects if one.statement is not None)


def among_versions(event: Event, revisions: Sequence[Event]) -> tuple[int, tuple[str, ...], bool]:
    """Return when an event was said, what it takes the place of, and whether it stands itself.

    What came before it in the ledger counts; a version that comes later takes its place then.
    """
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
    return msgspec.structs.replace(
        analysis,
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


def _question_in(before: Sequence[Event], content: Content) -> Question | None:
    """Return the question that somebody else asked just before: the context of a fact."""
    for event in before:
        asked = event.payload
        assert isinstance(asked, Content)
        if asked.sender_id != content.sender_id and len(asked.content) <= 300:
            last = " ".join(asked.content.split())
            if is_question(last):
                who = asked.sender_name or asked.sender_id
                return Question(event.number, last_question(last), f"{who} asked: {last}")
    return None


def _is_dictated(before: Sequence[Event], content: Content) -> bool:
    """Whether the sender stated a plain fact just before, so plain facts are what this is."""
    for event in before:
        said = event.payload
        assert isinstance(said, Content)
        same = said.sender_id == content.sender_id
        return same and len(said.content) <= 300 and find_frame(said.content, None) is not None
    return False


class _New(msgspec.Struct):
    """What was decided from this record so far, and is not in the state yet.

    All events of a turn are decided with the record that completes it.
    """

    facts: list[Fact] = []
    likenesses: list[FactLikeness] = []
    claims: list[FactClaim] = []
    #: The end of the validity of superseded facts.
    until: dict[str, int] = {}
    #: The ids of the events that were decided with this record.
    read: set[str] = set()
    #: Which facts were said again, and when.
    repeated: list[tuple[str, int]] = []

    def fact_with_signature(self, signatures: list[str], as_of: int) -> str | None:
        """Return the first new fact with the same signature within the period."""
        kept = {kept_signature(signature) for signature in signatures}
        for fact in self.facts:
            near = abs(fact.as_of - as_of) <= SAME_PERIOD_MS
            if fact.signature in kept and near and fact.id not in self.until:
                return fact.id
        return None

    def facts_alike(self, keys: list[str], as_of: int) -> list[FactLikeness]:
        """Return the new facts with one of these keys of likeness within the period."""
        return [
            each
            for each in self.likenesses
            if each.key in keys
            and abs(each.as_of - as_of) <= SAME_PERIOD_MS
            and each.fact_id not in self.until
        ]

    def said_again(self, fact_id: str, after: int, state: State) -> int | None:
        """Return when a fact was first said again after a time; None: it was not."""
        times = [time for fact, time in self.repeated if fact == fact_id]
        times += state.times_repeated(fact_id)
        return min((time for time in times if time > after), default=None)

    def claims_of(self, state: State, subjects: list[str], attribute: str) -> list[DatedClaim]:
        """Return the claims of the state and the new ones, by the time they began."""
        held = [
            DatedClaim(claim, self.until.get(claim.fact_id, until))
            for claim, until in state.claims(subjects, attribute)
        ]
        held += [
            DatedClaim(claim, self.until.get(claim.fact_id))
            for claim in self.claims
            if claim.subject in subjects and claim.attribute == attribute
        ]
        return sorted(held, key=lambda item: item.claim.as_of)


def _decide(
    reading: Reading, trigger: Event, state: State, resolver: EntityResolver, new: _New
) -> list[DecidedPart]:
    """Return the rows decided from one event; those that quote a question also rest on that
    event.
    """
    event, content = reading.event, reading.content
    said = DecidedPart((event.number,))
    named_before = len(resolver.rows)
    sender = resolver.sender(event, content)
    for introduction in reading.analysis.introductions:
        owner = resolver.introduce(introduction, sender)
        if introduction.of is None:
            sender = owner
    for contact in reading.analysis.contacts:
        resolver.contact(contact, sender)
    # The sender's name in this event: the entity's name may come from an event that is forgotten
    # later.
    named = content.sender_name or content.sender_id
    quoting = said
    if reading.question:
        quoting = DecidedPart(tuple(sorted({event.number, reading.question.number})))
    stated: list[str] = []
    in_statement: list[tuple[int, int]] = []
    made: list[Made] = []
    replaced = _replaced_facts(reading, state)
    for statement in reading.analysis.statements:
        as_of = reading.said_at
        identity = fact_id(event.id, statement.signature, as_of)
        sender_ids = resolver.ids(sender)
        signatures = _signatures(statement, reading, sender_ids)
        in_statement.append((statement.start, statement.end))
        if identity in new.until:
            # It was said in this message before, and something else since: it holds again.
            said.puts = [row for row in said.puts if not _ends_fact(row, identity)]
            del new.until[identity]
            said.puts.append(FactRepeat(event.id, statement.start, identity, "said again"))
            if statement.claim is not None:
                subjects = _subjects(statement.claim, content, sender, resolver)
                said.puts += _claim_rows(
                    statement.claim, subjects, identity, as_of, state, new, replaced
                )[1:]
            stated.append(identity)
            continue
        likenesses = _likenesses(identity, statement, reading, sender_ids, state)
        repeat = _repeated(signatures, likenesses, as_of, state, new, replaced)
        if repeat is not None:
            there, reason = repeat
            said.puts.append(FactRepeat(event.id, statement.start, there, reason))
            new.repeated.append((there, as_of))
            stated.append(there)
            continue
        fact = _fact(identity, signatures[0], statement, reading)
        new.facts.append(fact)
        if likenesses:
            new.likenesses.append(likenesses[0])
            said.puts.append(likenesses[0])
        made.append((statement.start, statement.end, identity))
        quoting.puts.append(fact)
        said.puts += embedding_rows(
            state, event.ingested_at, ("fact", identity, statement.sentence)
        )
        said.puts += _mention_rows(
            _mentions_of(statement, content.content, resolver),
            event,
            identity,
            sender_ids[0],
            named,
        )
        if statement.claim is not None:
            subjects = _subjects(statement.claim, content, sender, resolver)
            said.puts += _claim_rows(
                statement.claim, subjects, identity, as_of, state, new, replaced
            )
        stated.append(identity)
    said.puts += _links(reading, stated)
    said.puts += _mention_rows(
        _known_mentions(content.content, reading.read, in_statement, resolver),
        event,
        "",
        resolver.ids(sender)[0],
        named,
    )
    former: list[DecidedPart] = []
    for one in reading.corrects:
        held = _held(one.event.id, state, new)
        over = replaced | new.until.keys()
        ends = ends_of_corrected(one, event, reading.said_at, made, held)
        ended = [row for row in ends if row.fact_id not in over]
        new.until.update((row.fact_id, row.invalid_at) for row in ended)
        said.puts += ended
        if not any(says_it(one, fact.text) for fact in held):
            former += _former_rows(one, reading, what_ends(one, event, made), state, resolver, new)
    said.puts += _ends(reading, replaced)
    said.puts += resolver.rows[named_before:]
    said.puts.append(Processed(event.id, trigger.ingested_at, trigger.id, trigger.ingested_at))
    new.read.add(event.id)
    parts = [said, *former] if quoting is said else [said, quoting, *former]
    given = partial(_held, state=state, new=new)
    for link, number in links_to_before(reading.caused, stated, event.ingested_at, given):
        parts.append(DecidedPart(tuple(sorted({event.number, number})), puts=[link]))
    return parts


def _held(event_id: str, state: State, new: _New) -> list[Held]:
    """Return the facts that an event gave, of the state and of this record."""
    held = [Held(*each) for each in state.facts_from(event_id)]
    return held + [
        Held(fact.id, fact.text, fact.id not in new.until)
        for fact in new.facts
        if fact.source_event_id == event_id
    ]


def _former_rows(
    one: TakenBack,
    reading: Reading,
    newer: str,
    state: State,
    resolver: EntityResolver,
    new: _New,
) -> Iterable[DecidedPart]:
    """Yield the fact that what was taken back would have been, and its end.

    What was said and was no fact alone, such as where a meeting is, is one by its correction: as
    what was so before. It rests on both events.
    """
    event, statement = one.event, one.statement
    sender = resolver.account(event.platform, _content(event).sender_id)
    read = state.is_processed(event.id) or event.id in new.read
    if statement is None or sender is None or not read:
        return
    content = _content(event)
    ids = resolver.ids(sender)
    identity = fact_id(event.id, statement.signature, event.occurred_at)
    said = Reading(event, Analysis((statement,), (), ()), event.occurred_at)
    fact = _fact(identity, _signatures(statement, said, ids)[0], statement, said)
    new.facts.append(fact)
    new.until[identity] = reading.said_at
    part = DecidedPart(tuple(sorted({event.number, reading.event.number})), [fact])
    part.puts += embedding_rows(state, event.ingested_at, ("fact", identity, statement.sentence))
    part.puts += _mention_rows(
        _known_of(statement.mentions, resolver),
        event,
        identity,
        ids[0],
        content.sender_name or content.sender_id,
    )
    part.puts.append(FactSupersession(identity, newer, reading.said_at))
    yield part


def _content(event: Event) -> Content:
    assert isinstance(event.payload, Content)
    return event.payload


def _ends_fact(row: AnyRow, fact: str) -> bool:
    return isinstance(row, FactSupersession) and row.fact_id == fact


def _replaced_facts(reading: Reading, state: State) -> frozenset[str]:
    """Return the facts that still hold of the versions whose place a version takes."""
    return frozenset(fact for event_id in reading.replaced for fact in state.facts_of(event_id))


def _ends(reading: Reading, replaced: Set[str]) -> Iterable[FactSupersession]:
    """Yield the ends of the facts of versions before: the edit or the deletion itself ends them."""
    for fact in sorted(replaced):
        yield FactSupersession(fact, reading.event.id, reading.said_at)


def _signatures(statement: Statement, reading: Reading, sender_ids: list[str]) -> list[str]:
    """Return the near-duplicate keys of a statement, those under which it is kept first.

    One for each id of its sender, and those of before words were turned. What is about "her" is
    found again in the same message alone.
    """
    said = _said(statement, reading)
    words = [turned(said)] if turned(said) == said else [turned(said), said]
    if is_vague(statement):
        words = [f"{reading.event.id} {words[0]}"]
    return [f"{sender_id} {key}" for key in words for sender_id in sender_ids]


def _said(statement: Statement, reading: Reading) -> str:
    content = reading.content
    speaker = f"{normalise_name(content.sender_name or content.sender_id)}: "
    return statement.signature.removeprefix(speaker)


def _likenesses(
    identity: str, statement: Statement, reading: Reading, sender_ids: list[str], state: State
) -> list[FactLikeness]:
    """Return the likenesses of a statement, one for each id of its sender; without an encoder none.

    The first is the one that is kept with the fact.
    """
    if state.encoder is None or is_vague(statement):
        return []
    found = likeness(statement, _said(statement, reading))
    if found is None:
        return []
    vector = state.encoded[text_hash(statement.sentence)].vector
    return [
        FactLikeness(identity, f"{sender_id} {found.key}", reading.said_at, found.words, vector)
        for sender_id in sender_ids
    ]


def _repeated(
    signatures: list[str],
    likenesses: list[FactLikeness],
    as_of: int,
    state: State,
    new: _New,
    replaced: Set[str],
) -> tuple[str, str] | None:
    """Return the fact that a statement repeats within the period, and why it is taken for it."""
    after, before = as_of - SAME_PERIOD_MS, as_of + SAME_PERIOD_MS
    there = state.fact_with_signature(signatures, after, before, replaced | new.until.keys())
    there = there or new.fact_with_signature(signatures, as_of)
    if there is not None:
        return there, "near-duplicate within 24 hours: the same words"
    if not likenesses:
        return None
    own = likenesses[0]
    keys = [each.key for each in likenesses]
    held = state.facts_alike(keys, after, before, replaced | new.until.keys())
    best: tuple[float, str] | None = None
    for other in (*held, *new.facts_alike(keys, as_of)):
        if differ_in_one_word(own.words, other.words):
            cosine = cosine_of(own.vector, other.vector)
            if cosine >= LEAST_COSINE and (best is None or cosine > best[0]):
                best = cosine, other.fact_id
    if best is None:
        return None
    return best[1], f"near-duplicate within 24 hours: all but one word, cosine {best[0]:.3f}"


def _subjects(claim: Claim, content: Content, sender: Known, resolver: EntityResolver) -> list[str]:
    """Return the ids of the person whom a claim is about, or a name if nobody is known by it.

    Of an open frame the name is one of them: whose slot it is, is mostly no person, and the first
    of them is what the claim is kept under.
    """
    subject = normalise_name(claim.subject)
    of_sender = subject == normalise_name(content.sender_name or content.sender_id)
    known = sender if of_sender else resolver.known(claim.subject, "PERSON")
    ids = [] if known is None else resolver.ids(known)
    if MASK in claim.attribute:
        return [*ids, subject] if of_sender else [subject, *ids]
    return ids or [subject]


def _fact(identity: str, signature: str, statement: Statement, reading: Reading) -> Fact:
    event, content = reading.event, reading.content
    metadata = {
        "source_platform": event.platform,
        "source_channel": content.peer_id,
        "direction": content.direction,
        "thread_id": content.thread_id,
    }
    context = content.context if isinstance(content, Remember) else None
    return Fact(
        id=identity,
        text=statement.text,
        context=reading.question.context if reading.question else context,
        as_of=reading.said_at,
        ingested_at=event.ingested_at,
        source_event_id=event.id,
        metadata=_json.encode({k: v for k, v in metadata.items() if v is not None}).decode(),
        created_at=event.ingested_at,
        signature=kept_signature(signature),
    )


def _links(reading: Reading, stated: Sequence[str]) -> list[CausalLink]:
    """Return the links between the facts of a message's statements, given in their order."""
    links = {
        (cause, effect): CausalLink(cause, effect, each.strength, reading.event.ingested_at)
        for each in reading.analysis.causes
        for cause, effect in ((stated[each.cause], stated[each.effect]),)
        if cause != effect
    }
    return [link for (cause, effect), link in links.items() if (effect, cause) not in links]


_Named = tuple[str, int, int, str, str]  # entity id, start, end, text, type


def _mentions_of(statement: Statement, text: str, resolver: EntityResolver) -> Iterable[_Named]:
    for found in statement.mentions:
        if found.type in ENTITY_TYPES and normalise_name(found.text):
            entity = resolver.mention_in(text, found.start, found.text, found.type)
            yield entity.id, found.start, found.end, found.text, found.type


def _known_mentions(
    text: str,
    read: TextReading | None,
    in_statement: list[tuple[int, int]],
    resolver: EntityResolver,
) -> Iterable[_Named]:
    """Return known entities that are mentioned outside of statements; a question creates no
    entity.
    """
    outside = [
        found
        for found in mentions(text, read)
        if not any(start <= found.start < end for start, end in in_statement)
    ]
    return _known_of(outside, resolver)


def _known_of(found: Iterable[NamedInText], resolver: EntityResolver) -> Iterable[_Named]:
    for each in found:
        entity = resolver.known(each.text, each.type) if each.type in ENTITY_TYPES else None
        if entity is not None:
            yield entity.id, each.start, each.end, each.text, each.type


def _mention_rows(
    named: Iterable[_Named], event: Event, fact: str, sender_id: str, sender_name: str
) -> list[AnyRow]:
    rows: list[AnyRow] = [Mention(event.id, fact, sender_id, -1, -1, sender_name, "PERSON", 1.0)]
    about = {sender_id}
    for entity_id, start, end, text, mention_type in named:
        about.add(entity_id)
        rows.append(Mention(event.id, fact, entity_id, start, end, text, mention_type, 1.0))
    if fact:
        rows += [FactEntity(fact, entity_id) for entity_id in sorted(about)]
    return rows


def _claim_rows(
    claim: Claim,
    subjects: list[str],
    identity: str,
    as_of: int,
    state: State,
    new: _New,
    replaced: Set[str],
) -> list[AnyRow]:
    """Return the rows of a statement's claim, and of its order among earlier claims (F7).

    Of two that differ, the earlier is valid until the later begins, whichever was said first. Of
    two with the same time, the one that was said first ends. A value that was said again after
    this one goes on, and this one ends there. Facts in `replaced` do not count.
    """
    made = FactClaim(identity, subjects[0], claim.attribute, claim.value, as_of)
    ends: list[FactSupersession] = []
    held = new.claims_of(state, subjects, claim.attribute)
    others = [
        item
        for item in held
        if normalise_name(item.claim.value) != normalise_name(claim.value)
        and item.claim.fact_id not in replaced
    ]
    after: list[tuple[int, str]] = []
    for other, until in others:
        if other.as_of <= as_of and (until is None or until >= as_of):
            again = new.said_again(other.fact_id, as_of, state) if until is None else None
            if again is None:
                ends.append(FactSupersession(other.fact_id, identity, as_of))
            else:
                after.append((again, other.fact_id))
        elif other.as_of > as_of and until != other.as_of:
            after.append((other.as_of, other.fact_id))
    if after:
        time, fact = min(after)
        ends.append(FactSupersession(identity, fact, time))
    new.claims.append(made)
    new.until.update((row.fact_id, row.invalid_at) for row in ends)
    return [made, *ends]
