"""Decides what a message that was read becomes: facts, claims, mentions, links and ends."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import partial

from recollect.schemas.changes import (
    AnyRow,
    CausalLink,
    DecidedPart,
    DuplicateStatement,
    Fact,
    FactSupersession,
    ProcessedEvent,
)
from recollect.schemas.events import Event, Remember, message_of
from recollect.schemas.ids import fact_id
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.identity.mention_rows import (
    Named,
    known_mentions,
    known_of,
    mention_rows,
    mentions_of,
)
from recollect.streams.agents.state import Known, State, kept_signature
from recollect.streams.agents.vectors import embedding_rows
from recollect.streams.agents.writer.causal_links import links_to_earlier
from recollect.streams.agents.writer.claim_order import claim_rows, subjects_of
from recollect.streams.agents.writer.decided_so_far import DecidedSoFar, held_from
from recollect.streams.agents.writer.fact_relations import relations_to_earlier, relations_within
from recollect.streams.agents.writer.message_reading import Reading, fact_metadata
from recollect.streams.agents.writer.near_duplicates import (
    likenesses_of,
    repeated_fact,
    signatures_of,
)
from recollect.streams.agents.writer.proposals import is_of_model
from recollect.streams.agents.writer.retractions import (
    Made,
    Retraction,
    ends_of_retracted,
    says_retracted,
    superseding_id,
)
from recollect.streams.language.grammar.analysis import Analysis, Statement


class MessageDecision:
    """One decision from a message: `parts` returns its rows.

    Facts whose words come from other events too, such as a question that they quote, also rest on
    those, and are a part of their own.
    """

    def __init__(
        self,
        reading: Reading,
        trigger: Event,
        state: State,
        resolver: EntityResolver,
        new: DecidedSoFar,
    ) -> None:
        self._reading = reading
        self._event = reading.event
        self._trigger = trigger
        self._state = state
        self._resolver = resolver
        self._new = new
        self._replaced = _replaced_facts(reading, state)
        self._said = DecidedPart((self._event.number,))
        self._quoting = self._said
        told_with = set().union(*map(reading.told_with, reading.analysis.statements))
        if told_with:
            self._quoting = DecidedPart(tuple(sorted({self._event.number, *told_with})))
        #: The facts that the statements gave or repeated, in their order.
        self._stated: list[str] = []
        #: The facts that are new, and where their statements stand.
        self._made: list[Made] = []

    def parts(self) -> list[DecidedPart]:
        """Return what is decided, each part with the events that it rests on."""
        said, reading, new = self._said, self._reading, self._new
        named_before = len(self._resolver.rows)
        sender = self._sender()
        for statement in reading.analysis.statements:
            self._state_fact(statement, sender)
        said.puts += _links(reading, self._stated)
        in_statement = [(each.start, each.end) for each in reading.analysis.statements]
        outside: Iterable[Named] = ()
        if not reading.unnamed:
            outside = known_mentions(
                reading.content.content, reading.read, in_statement, self._resolver
            )
        said.puts += self._mentions(outside, "", sender)
        former = self._correct()
        said.puts += _ends(reading, self._replaced)
        if not reading.unrelated:
            at, adding = reading.event.ingested_at, self._adding()
            said.puts += relations_within(
                reading.analysis, self._stated, at, adding, new.until.keys()
            )
        said.puts += self._resolver.rows[named_before:]
        at = self._trigger.ingested_at
        said.puts.append(ProcessedEvent(self._event.id, at, self._trigger.id, at))
        new.read.add(self._event.id)
        parts = [said] if self._quoting is said else [said, self._quoting]
        return [*parts, *former, *self._links_to_earlier(), *self._relations_to_earlier()]

    def _sender(self) -> Known:
        """Return who said it, after whom it introduces and what addresses it tells."""
        sender = self._resolver.sender(self._event, self._reading.content)
        self._resolver.set_participants(self._reading.participants)
        for introduction in self._reading.analysis.introductions:
            owner = self._resolver.introduce(introduction, sender)
            if introduction.of is None:
                sender = owner
        for contact in self._reading.analysis.contacts:
            self._resolver.contact(contact, sender)
        return sender

    def _state_fact(self, statement: Statement, sender: Known) -> None:
        """Keep a statement: as a new fact, as one that holds again, or as one that is repeated."""
        reading, said, new = self._reading, self._said, self._new
        as_of = reading.said_at
        identity = fact_id(self._event.id, statement.signature, as_of)
        if identity in new.until:
            # It was said in this message before, and something else since: it holds again.
            said.puts = [row for row in said.puts if not _ends_fact(row, identity)]
            del new.until[identity]
            said.puts.append(
                DuplicateStatement(self._event.id, statement.start, identity, "said again")
            )
            said.puts += self._claim(statement, identity, sender)[1:]
            self._stated.append(identity)
            return
        ids = self._resolver.ids(sender)
        signatures = signatures_of(statement, reading, ids)
        likenesses = likenesses_of(identity, statement, reading, ids, self._state)
        repeat = repeated_fact(signatures, likenesses, as_of, self._state, new, self._replaced)
        if repeat is not None:
            there, reason = repeat
            said.puts.append(DuplicateStatement(self._event.id, statement.start, there, reason))
            new.repeated.append((there, as_of))
            self._stated.append(there)
            return
        fact = _fact(identity, signatures[0], statement, reading)
        new.facts.append(fact)
        if likenesses:
            new.likenesses.append(likenesses[0])
            said.puts.append(likenesses[0])
        self._made.append((statement.start, statement.end, identity))
        self._quoting.puts.append(fact)
        said.puts += embedding_rows(
            self._state, self._event.ingested_at, ("fact", identity, statement.sentence)
        )
        meant = self._meant(statement)
        named = [*mentions_of(statement, reading.content.content, self._resolver)]
        names = [words for *_, words, kind in named if kind == "PERSON"]
        if meant is None or any(start == meant[1] for _, start, *_ in named):
            said.puts += self._mentions(named, identity, sender, names)
        else:
            names += [statement.whom.name] if statement.whom else []
            self._quoting.puts += self._mentions([*named, meant], identity, sender, names)
        # Of whom it is claimed stands where the fact's own words stand.
        about = said if meant is None else self._quoting
        about.puts += self._claim(statement, identity, sender)
        self._stated.append(identity)

    def _meant(self, statement: Statement) -> Named | None:
        """Return who "he" or "she" in a statement is; who is not known yet becomes an entity.

        The name may stand in another event: what becomes known of it rests on both.
        """
        whom, resolver = statement.whom, self._resolver
        if whom is None or self._reading.unnamed:
            return None
        before = len(resolver.rows)
        entity = resolver.known_in("", 0, whom.name, "PERSON") or resolver.mention(
            whom.name, "PERSON"
        )
        self._quoting.puts += resolver.rows[before:]
        del resolver.rows[before:]
        word = self._reading.content.content[whom.start : whom.end]
        return entity.id, whom.start, whom.end, word, "PERSON"

    def _claim(self, statement: Statement, identity: str, sender: Known) -> list[AnyRow]:
        """Return the rows of what slot a statement fills: its claim first; none without one."""
        if statement.claim is None:
            return []
        subjects = subjects_of(statement.claim, self._reading.content, sender, self._resolver)
        as_of = self._reading.said_at
        return claim_rows(
            statement.claim, subjects, identity, as_of, self._state, self._new, self._replaced
        )

    def _mentions(
        self, named: Iterable[Named], fact: str, sender: Known, names: Iterable[str] = ()
    ) -> list[AnyRow]:
        # The sender's name in this event: the entity's name may come from an event that is
        # forgotten later.
        content = self._reading.content
        name = content.sender_name or content.sender_id
        behind = (self._resolver.behind_pet_name(each, sender) for each in names)
        likely = [each for each in behind if each is not None]
        own = self._resolver.ids(sender)[0]
        return mention_rows(named, self._event, fact, own, name, likely)

    def _correct(self) -> list[DecidedPart]:
        """End what the message takes back; return the facts that this would have been."""
        reading, new = self._reading, self._new
        former: list[DecidedPart] = []
        for one in reading.retractions:
            held = held_from(one.event.id, self._state, new)
            over = self._replaced | new.until.keys()
            ends = ends_of_retracted(one, self._event, reading.said_at, self._made, held)
            ended = [row for row in ends if row.fact_id not in over]
            new.until.update((row.fact_id, row.invalid_at) for row in ended)
            self._said.puts += ended
            # What a model wrote of it changes nothing of what the rules say.
            ours = [each for each in held if not is_of_model(each.id, one.event.id, each.text)]
            if not any(says_retracted(one, fact.text) for fact in ours):
                former += self._former_fact(one, superseding_id(one, self._event, self._made))
        return former

    def _former_fact(self, one: Retraction, newer: str) -> Iterable[DecidedPart]:
        """Yield the fact that what was taken back would have been, and its end.

        What was said and was no fact alone, such as where a meeting is, is one by its correction:
        as what was so before. It rests on both events.
        """
        event, statement, state, new = one.event, one.statement, self._state, self._new
        content = message_of(event)
        sender = self._resolver.account(event.platform, content.sender_id)
        read = state.is_processed(event.id) or event.id in new.read
        if statement is None or sender is None or not read:
            return
        ids = self._resolver.ids(sender)
        identity = fact_id(event.id, statement.signature, event.occurred_at)
        said = Reading(event, Analysis((statement,), (), ()), event.occurred_at)
        fact = _fact(identity, signatures_of(statement, said, ids)[0], statement, said)
        new.facts.append(fact)
        new.until[identity] = self._reading.said_at
        part = DecidedPart(tuple(sorted({event.number, self._event.number})), [fact])
        part.puts += embedding_rows(
            state, event.ingested_at, ("fact", identity, statement.sentence)
        )
        named = known_of(statement.mentions, said.content.content, self._resolver)
        name = content.sender_name or content.sender_id
        part.puts += mention_rows(named, event, identity, ids[0], name)
        part.puts.append(FactSupersession(identity, newer, self._reading.said_at))
        yield part

    def _links_to_earlier(self) -> Iterable[DecidedPart]:
        """Yield the links to facts of messages before: each rests on both messages."""
        given = partial(held_from, state=self._state, new=self._new)
        at = self._event.ingested_at
        for link, number in links_to_earlier(
            self._reading.causal_references, self._stated, at, given
        ):
            yield DecidedPart(tuple(sorted({self._event.number, number})), puts=[link])

    def _adding(self) -> Set[str]:
        """Return the facts that may add to others: they are new, and end none."""
        ending = {
            row.superseded_by
            for part in (self._said, self._quoting)
            for row in part.puts
            if isinstance(row, FactSupersession)
        }
        return {fact for _, _, fact in self._made} - ending

    def _relations_to_earlier(self) -> Iterable[DecidedPart]:
        """Yield what facts are to those of messages before: each rests on both messages."""
        reading = self._reading
        if reading.unrelated:
            return
        given = partial(held_from, state=self._state, new=self._new)
        at = self._event.ingested_at
        for row, number in relations_to_earlier(
            reading.extensions, reading.causal_references, self._stated, at, self._adding(), given
        ):
            yield DecidedPart(tuple(sorted({self._event.number, number})), puts=[row])


def ends_of_deleted(reading: Reading, state: State) -> Iterable[FactSupersession]:
    """Yield the ends of the facts of a message that a deletion takes away."""
    return _ends(reading, _replaced_facts(reading, state))


def _ends_fact(row: AnyRow, fact: str) -> bool:
    return isinstance(row, FactSupersession) and row.fact_id == fact


def _replaced_facts(reading: Reading, state: State) -> frozenset[str]:
    """Return the facts that still hold of the versions whose place a version takes."""
    return frozenset(fact for event_id in reading.replaced for fact in state.facts_of(event_id))


def _ends(reading: Reading, replaced: Set[str]) -> Iterable[FactSupersession]:
    """Yield the ends of the facts of versions before: the edit or the deletion itself ends them."""
    for fact in sorted(replaced):
        yield FactSupersession(fact, reading.event.id, reading.said_at)


def _fact(identity: str, signature: str, statement: Statement, reading: Reading) -> Fact:
    event, content = reading.event, reading.content
    context = content.context if isinstance(content, Remember) else None
    told_with = [reading.ids[each] for each in reading.told_with(statement) if each in reading.ids]
    return Fact(
        id=identity,
        text=statement.text,
        context=reading.question.context if reading.question else context,
        as_of=reading.said_at,
        ingested_at=event.ingested_at,
        source_event_id=event.id,
        metadata=fact_metadata(event, told_with=told_with or None),
        created_at=event.ingested_at,
        signature=kept_signature(signature),
    )


def _links(reading: Reading, stated: list[str]) -> list[CausalLink]:
    """Return the links between the facts of a message's statements, given in their order."""
    links = {
        (cause, effect): CausalLink(cause, effect, each.strength, reading.event.ingested_at)
        for each in reading.analysis.causes
        for cause, effect in ((stated[each.cause], stated[each.effect]),)
        if cause != effect
    }
    return [link for (cause, effect), link in links.items() if (effect, cause) not in links]
