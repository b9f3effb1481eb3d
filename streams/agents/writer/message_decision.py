"""Decide the rows of an analysed message: facts, claims, mentions, links and supersessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import partial
from typing import get_args

from msgspec.structs import replace

from recollect.schemas.changes import (
    AnyRow,
    CausalLink,
    ClaimSignature,
    DecidedPart,
    Entity,
    Fact,
    FactDays,
    FactEntity,
    FactOccasion,
    FactSentence,
    FactSupersession,
    IdentityRow,
    Mention,
    MergedSupersession,
    MessageDate,
    ProcessedEvent,
    RetractedFact,
)
from recollect.schemas.events import Event, Remember, message_of
from recollect.schemas.ids import fact_id, time_of
from recollect.schemas.memory_terms import EVERYONE, NO_AUTHOR, READERS_MARK, MemoryAuthor
from recollect.schemas.times import LATEST_MS
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.identity.mention_rows import (
    DATED_TYPES,
    RESOLVED_CONFIDENCE,
    ResolvedMention,
    link_known,
    mention_rows,
    other_mentions,
    statement_mentions,
)
from recollect.streams.agents.memories.memory_versions import (
    author_of_event,
    is_private,
    previous_version,
    reader_of_event,
)
from recollect.streams.agents.state import EntityRef, State, stored_signature
from recollect.streams.agents.vectors import embedding_rows
from recollect.streams.agents.writer.causal_links import links_to_earlier
from recollect.streams.agents.writer.claims.claim_ends import ended_claims, said_ending
from recollect.streams.agents.writer.claims.claim_order import (
    Subjects,
    claim_rows,
    merged_rows,
    merged_rows_after,
    person_keys,
    subjects_of,
)
from recollect.streams.agents.writer.claims.late_claims import (
    ChangedClaim,
    begun_earlier,
    changed_claims,
    claims_of_rows,
    ends_before_begun,
    later_ends,
)
from recollect.streams.agents.writer.claims.statement_ends import (
    ends_by_statement,
    sentence_row,
)
from recollect.streams.agents.writer.fact_relations import relations_to_earlier, relations_within
from recollect.streams.agents.writer.message_analysis import (
    AnalysedMessage,
    FactContext,
    fact_metadata,
)
from recollect.streams.agents.writer.model.proposals import is_of_model
from recollect.streams.agents.writer.near_duplicates import fingerprints_of, signatures_of
from recollect.streams.agents.writer.pending_rows import PendingRows, all_facts_of_event
from recollect.streams.agents.writer.remembered_again import find_remembered_duplicate
from recollect.streams.agents.writer.repetitions import (
    claim_signatures_of,
    earlier_claim_rows,
    find_duplicate,
)
from recollect.streams.agents.writer.retracted_statements import retractions_of_new_fact
from recollect.streams.agents.writer.retractions import (
    Retraction,
    StatementFact,
    end_retracted,
    later_superseding_id,
    states_retracted_value,
    superseding_id,
)
from recollect.streams.agents.writer.withdrawals import holding_again, withdraw
from recollect.streams.language.grammar.analysis import Analysis, Ending, Statement
from recollect.streams.language.grammar.analysis import Mention as TextMention
from recollect.text.dates.found_dates import start_of_day

#: The maximum number of dates stored per message.
_MAX_DATES = 256


class MessageDecision:
    """The decision on one message; call `parts` once.

    Facts that quote other events, such as a question that they answer, have those events among
    their sources. They are in a separate part.
    """

    def __init__(
        self,
        message: AnalysedMessage,
        trigger: Event,
        state: State,
        resolver: EntityResolver,
        pending: PendingRows,
    ) -> None:
        self._message = message
        self._event = message.event
        self._trigger = trigger
        self._state = state
        self._resolver = resolver
        self._pending = pending
        withdrawal = withdraw(message, state, pending)
        self._replaced, ended_before, self._withdrawn = withdrawal[:3]
        #: The new ends of the facts that earlier versions of the message ended.
        self._restored = withdrawal.supersessions
        self._withdrawn_endings: list[AnyRow] = [*withdrawal.endings, *withdrawal.sentences]
        #: Facts whose claims do not count, since later versions of their message replaced them.
        self._edited_away = self._replaced | ended_before
        #: Facts ignored in the search for duplicates, since this message replaces them.
        self._excluded = self._replaced
        if isinstance(message.content, Remember):
            for replaced in _replaced_by(message.content, state):
                self._excluded |= {replaced, *state.current_facts(replaced)}
        #: Who may read a private memory; "" for what everyone may read.
        self._readers = str(tuple(reader_of_event(self._event))) if is_private(self._event) else ""
        self._author = author_of_event(self._event)
        self._own_part = DecidedPart((self._event.number,))
        self._quoting_part = self._own_part
        context = set().union(*map(message.context_numbers, message.analysis.statements))
        if context:
            self._quoting_part = DecidedPart(tuple(sorted({self._event.number, *context})))
        #: The fact id of each statement, whether new or a duplicate, in order.
        self._statement_facts: list[str] = []
        self._new_facts: list[StatementFact] = []
        #: The mentions that the new facts record.
        self._recorded: list[ResolvedMention] = []
        #: The claims of which what was said later than this message may end others than before.
        self._changed = [*withdrawal.changed, *changed_claims(self._restored, state)]
        #: The number of sentences of the message that may end something.
        self._endings = 0

    def parts(self) -> list[DecidedPart]:
        """Return the decided rows, each part with its source events."""
        own, message, pending = self._own_part, self._message, self._pending
        first_row = len(self._resolver.rows)
        sender = self._sender()
        for statement in message.analysis.statements:
            self._decide_statement(statement, sender)
        for each in message.analysis.ended_outside:
            own.puts += self._ends_of(
                each.ending, each.sentence, self._event.id, sender, message.said_at
            )
        own.puts += _causal_links(message, self._statement_facts)
        mentioned = self._mention_rows(self._other_mentions(), "", sender)
        dated = [row for row in mentioned if isinstance(row, Mention) and row.first is not None]
        own.puts += (row for row in mentioned if row not in dated)
        retracted = self._apply_retractions()
        later = [*self._apply_later_retractions()]
        # After the supersessions of the same facts, in whichever part.
        self._quoting_part.puts += later_ends(self._changed, self._state, pending, self._replaced)
        for part in later:
            part.puts = [row for row in part.puts if not self._ends_earlier(row)]
        own.puts += [*self._withdrawn, *self._withdrawn_endings]
        own.puts += _end_replaced(message, self._replaced, self._state)
        own.puts += merged_rows_after(
            self._replaced,
            self._withdrawn,
            self._resolver.own_id,
            self._state,
            pending,
            self._edited_away,
        )
        if not message.skip_relations:
            at, extending = message.event.ingested_at, self._extending_facts()
            own.puts += relations_within(
                message.analysis, self._statement_facts, at, extending, pending.invalid_at.keys()
            )
        own.puts += self._resolver.rows[first_row:]
        at = self._trigger.ingested_at
        own.puts.append(ProcessedEvent(self._event.id, at, self._trigger.id, at))
        pending.event_ids.add(self._event.id)
        parts = [own] if self._quoting_part is own else [own, self._quoting_part]
        if message.date_sources:
            sources = sorted({message.event.number, *message.date_sources})
            parts.append(DecidedPart(tuple(sources), [*_date_rows(message), *dated]))
        else:
            own.puts += (*_date_rows(message), *dated)
        parts += [*retracted, *later, *self._links_to_earlier(), *self._relations_to_earlier()]
        superseded = {
            row.fact_id for part in parts for row in part.puts if isinstance(row, FactSupersession)
        }
        restored = [row for row in self._restored if row.fact_id not in superseded]
        own.puts += [*restored, *holding_again(restored, self._state)]
        return without_identities(parts) if self._readers else parts

    def _other_mentions(self) -> Iterable[ResolvedMention]:
        """Yield the mentions of the message that none of its new facts records."""
        message = self._message
        text = message.content.content
        return other_mentions(
            message.mentions,
            text,
            self._recorded,
            self._resolver,
            names=not message.skip_mentions,
            dates=not message.skip_dates,
        )

    def _sender(self) -> EntityRef:
        """Resolve the sender, applying the message's introductions and contact details."""
        sender = self._resolver.resolve_sender(self._event, self._message.content)
        self._resolver.set_participants(self._message.participants)
        if is_private(self._event):
            # Names and addresses are seen by everyone.
            return sender
        for introduction in self._message.analysis.introductions:
            owner = self._resolver.introduce(introduction, sender)
            if introduction.of is None:
                sender = owner
        for contact in self._message.analysis.contacts:
            self._resolver.attach_contact(contact, sender)
        return sender

    def _for_owner(self, keys: Sequence[str]) -> list[str]:
        """Return keys under which only statements with the same readers and owner match."""
        owner = self._readers
        if not owner and (writer := self._author.writer) != EVERYONE:
            owner = f"by {tuple(writer)}"
        return [f"{owner} {key}" for key in keys] if owner else list(keys)

    def _decide_statement(self, statement: Statement, sender: EntityRef) -> None:
        """Decide a statement: a new fact, a duplicate, or a fact that becomes valid again."""
        message, own, pending = self._message, self._own_part, self._pending
        as_of = message.said_at
        id_ = fact_id(self._event.id, statement.signature, as_of)
        if id_ in pending.invalid_at:
            # The message stated it, then something else, and now repeats it.
            own.puts = [row for row in own.puts if not _is_end_of(row, id_)]
            del pending.invalid_at[id_]
            self._add_occasion(statement, id_, "said again")
            own.puts += self._claim_rows(statement, id_, sender)[1:]
            return
        ids = self._resolver.own_ids(sender)
        signatures = self._for_owner(signatures_of(statement, message, ids))
        subjects = self._subjects(statement, sender)
        claim_signatures = self._for_owner(claim_signatures_of(statement.claim, subjects, ids))
        fingerprints = [
            replace(each, key=self._for_owner([each.key])[0])
            for each in fingerprints_of(id_, statement, message, ids, self._state)
        ]
        duplicate = find_duplicate(
            statement,
            message,
            signatures,
            claim_signatures,
            fingerprints,
            subjects,
            self._state,
            pending,
            self._excluded,
        )
        if duplicate is None and isinstance(message.content, Remember) and not self._readers:
            duplicate = find_remembered_duplicate(
                statement,
                message,
                signatures,
                sender,
                self._resolver,
                self._state,
                pending,
                self._excluded,
            )
        if duplicate is not None:
            original, reason = duplicate
            ends = earlier_claim_rows(
                statement.claim, original, as_of, subjects, self._state, pending
            )
            self._changed += [
                *changed_claims(ends, self._state),
                *begun_earlier(original, as_of, subjects, self._state, pending),
            ]
            own.puts += ends
            self._add_occasion(statement, original, reason)
            own.puts += self._merged_rows(statement, sender)
            own.puts += self._ends_of(
                statement.ending,
                statement.sentence,
                self._event.id,
                sender,
                self._begun(statement),
            )
            said = self._sentence_row(statement, original, ids)
            own.puts += [*said, *self._ends_by(said, ids)]
            return
        fact = _fact(id_, signatures[0], statement, message)
        pending.facts.append(fact)
        pending.authors[id_] = self._author
        if fingerprints:
            pending.fingerprints.append(fingerprints[0])
            own.puts.append(fingerprints[0])
        if claim_signatures:
            row = ClaimSignature(id_, stored_signature(claim_signatures[0]), as_of)
            pending.claim_signatures.append(row)
            own.puts.append(row)
        self._new_facts.append((statement.start, statement.end, id_))
        self._quoting_part.puts += (
            fact,
            *_days_rows(id_, statement, message.context_of(statement)),
        )
        own.puts += self._covering_retractions(fact)
        own.puts += embedding_rows(
            self._state, self._event.ingested_at, ("fact", id_, statement.sentence)
        )
        referent = self._pronoun_referent(statement)
        text = message.content.content
        dates = [(each.start, each.end) for each in message.mentions if each.type in DATED_TYPES]
        mentions = [*statement_mentions(statement, text, dates, self._resolver)]
        self._recorded += mentions
        names = [each.mention.text for each in mentions if each.mention.type == "PERSON"]
        if referent is None or any(
            each.mention.start == referent.mention.start for each in mentions
        ):
            own.puts += self._mention_rows(mentions, id_, sender, names)
        else:
            names += [statement.whom.name] if statement.whom else []
            self._quoting_part.puts += self._mention_rows([*mentions, referent], id_, sender, names)
        # The claim's subject comes from the same events as the fact's text.
        part = own if referent is None else self._quoting_part
        part.puts += self._claim_rows(statement, id_, sender)
        said = self._sentence_row(statement, id_, ids)
        part.puts += said
        part.puts += self._ends_of(
            statement.ending, statement.sentence, id_, sender, self._begun(statement)
        )
        part.puts += self._ends_by(said, ids)
        self._statement_facts.append(id_)

    def _add_occasion(self, statement: Statement, fact_id: str, reason: str) -> None:
        """Record that a statement of the message states a fact again."""
        said = (statement.start, self._message.said_at, statement.text)
        row = FactOccasion(fact_id, self._event.id, *said, reason, 1)
        self._statement_facts.append(fact_id)
        occasions = self._pending.occasions
        if not any((each.fact_id, each.event_id) == (fact_id, row.event_id) for each in occasions):
            occasions.append(row)
            self._quoting_part.puts.append(row)

    def _covering_retractions(self, fact: Fact) -> list[RetractedFact]:
        """Return the rows of retractions, of any version of the message, that cover a fact."""
        message = self._message
        texts = {id_: text for id_, (_, text) in message.versions.items()}
        texts[self._event.id] = message.content.content
        active = self._state.active_retractions(list(texts))
        return retractions_of_new_fact(fact, active, texts, message.content)

    def _pronoun_referent(self, statement: Statement) -> ResolvedMention | None:
        """Return the mention of a pronoun's referent; create its entity if it is new.

        The name may come from another event, so new rows have both events as sources.
        """
        whom, resolver = statement.whom, self._resolver
        if whom is None or self._message.skip_mentions:
            return None
        first_row = len(resolver.rows)
        entity = resolver.find_at("", 0, whom.name, "PERSON") or resolver.create(
            whom.name, "PERSON"
        )
        self._quoting_part.puts += resolver.rows[first_row:]
        del resolver.rows[first_row:]
        word = self._message.content.content[whom.start : whom.end]
        own_id = resolver.own_id_named(whom.name, entity)
        return ResolvedMention(
            own_id, TextMention(whom.start, whom.end, word, "PERSON", RESOLVED_CONFIDENCE)
        )

    def _subjects(self, statement: Statement, sender: EntityRef) -> Subjects | None:
        """Return the keys of the subject of a statement's claim; None without a claim."""
        if statement.claim is None:
            return None
        content = self._message.content
        return self._for_same_readers(subjects_of(statement.claim, content, sender, self._resolver))

    def _for_same_readers(self, found: Subjects) -> Subjects:
        """Return keys that match only claims of statements with the same readers."""
        if not self._readers:
            return found
        # A slot of its own, which ends no claim that others see.
        return Subjects([f"{each}{READERS_MARK}{self._readers}" for each in found.all()], [])

    def _claim_rows(self, statement: Statement, id_: str, sender: EntityRef) -> list[AnyRow]:
        """Return the rows of a statement's claim, the claim first; none without a claim."""
        subjects = self._subjects(statement, sender)
        if statement.claim is None or subjects is None:
            return []
        rows = claim_rows(
            statement.claim,
            subjects,
            id_,
            self._begun(statement),
            self._resolver.own_id,
            self._state,
            self._pending,
            self._edited_away,
        )
        self._changed += claims_of_rows(rows, subjects.own, self._state)
        return rows

    def _begun(self, statement: Statement) -> int:
        """Return when a statement's claim begins to hold (unix ms): a later day, or when said."""
        if statement.begins is None:
            return self._message.said_at
        start = start_of_day(statement.begins, self._message.content.utc_offset)
        return max(start, self._message.said_at)

    def _ends_of(
        self,
        ending: Ending | None,
        sentence: str,
        newer: str,
        sender: EntityRef,
        at: int,
    ) -> list[AnyRow]:
        """Return what a sentence may end, and the supersessions of the claims that it ends.

        `newer`: the id of its fact, or of the event. They end `at` a time (unix ms).
        """
        if ending is None:
            return []
        content = self._message.content

        def keys_of(person: str) -> list[str]:
            found = person_keys(person, content, sender, self._resolver)
            return self._for_same_readers(found).own

        said = said_ending(ending, sentence, keys_of, self._event.id, self._endings, at, newer)
        self._endings += 1
        ends, ended = ended_claims(
            said, self._state, self._pending, self._replaced.union(self._statement_facts)
        )
        self._changed += (
            ChangedClaim(item.claim, lookup.subjects, at, item.until or LATEST_MS)
            for lookup, item in ended
        )
        revived = ends_before_begun(ended, at, self._state, self._pending, self._replaced)
        self._changed += changed_claims(revived, self._state)
        rows = said.rows()
        self._pending.endings += rows
        return [*rows, *ends, *revived]

    def _sentence_row(
        self, statement: Statement, fact_id: str, ids: Sequence[str]
    ) -> list[FactSentence]:
        """Return the row of a statement's sentence, unless the message has one of its fact."""
        event_id, sentences = self._event.id, self._pending.sentences
        if any((each.fact_id, each.event_id) == (fact_id, event_id) for each in sentences):
            return []
        speaker, said_at = self._for_owner(ids)[0], self._message.said_at
        row = sentence_row(fact_id, event_id, statement, speaker, said_at, self._state)
        rows = [] if row is None else [row]
        sentences += rows
        return rows

    def _ends_by(self, said: Sequence[FactSentence], ids: Sequence[str]) -> list[FactSupersession]:
        """Return the ends of what the sender, with these ids, said before, and its own end."""
        spared = self._replaced.union(self._statement_facts)
        speakers = self._for_owner(ids)
        ends: list[FactSupersession] = []
        for each in said:
            ends += ends_by_statement(each, speakers, self._state, self._pending, spared)
            self._pending.supersede(ends)
        self._changed += changed_claims(ends, self._state)
        return ends

    def _merged_rows(self, statement: Statement, sender: EntityRef) -> list[MergedSupersession]:
        """Return the rows by which a repeated statement reorders the claims of merged persons."""
        subjects = self._subjects(statement, sender)
        if statement.claim is None or subjects is None:
            return []
        return merged_rows(
            statement.claim,
            subjects,
            self._resolver.own_id,
            self._state,
            self._pending,
            self._edited_away,
        )

    def _mention_rows(
        self,
        mentions: Iterable[ResolvedMention],
        fact: str,
        sender: EntityRef,
        names: Iterable[str] = (),
    ) -> list[AnyRow]:
        # The sender's name as in this event: the entity's name may come from an event that is
        # erased later.
        content = self._message.content
        name = content.sender_name or content.sender_id
        found = (self._resolver.find_by_pet_name(each, sender) for each in names)
        likely = [each for each in found if each is not None]
        sender_id = self._resolver.own_ids(sender)[0]
        return mention_rows(mentions, self._event, fact, sender_id, name, likely)

    def _apply_retractions(self) -> list[DecidedPart]:
        """End the facts that the message retracts; return the retracted facts not stored yet."""
        message, pending = self._message, self._pending
        parts: list[DecidedPart] = []
        for choices in message.retractions:
            retraction = self._permitted(choices, self._author)
            if retraction is None:
                continue
            event = retraction.event
            facts = all_facts_of_event(event.id, self._state, pending)
            already_ended = self._replaced | pending.invalid_at.keys()
            ends = [
                row
                for row in end_retracted(
                    retraction, self._event, message.said_at, self._new_facts, facts
                )
                if row.fact_id not in already_ended
                and not pending.is_stated_after(
                    row.fact_id, time_of(row.fact_id), message.said_at, self._state
                )
                and self._may_end(row.fact_id, self._author)
            ]
            pending.invalid_at.update((row.fact_id, row.invalid_at) for row in ends)
            self._changed += changed_claims(ends, self._state)
            self._own_part.puts += ends
            # The rules decide as if no model had written about the event.
            by_rules = [each for each in facts if not is_of_model(each.id, event.id, each.text)]
            if not any(states_retracted_value(retraction, fact.text) for fact in by_rules):
                newer = superseding_id(retraction, self._event, self._new_facts)
                parts += self._retracted_fact(retraction, newer)
        return parts

    def _permitted(self, retraction: Retraction, author: MemoryAuthor) -> Retraction | None:
        """Return the first of a retraction's choices that a text of this author may make."""
        for one in retraction.choices():
            facts = all_facts_of_event(one.event.id, self._state, self._pending)
            if not facts or any(self._may_end(fact.id, author) for fact in facts):
                return one
        return None

    def _may_end(self, fact: str, author: MemoryAuthor) -> bool:
        """Return whether a text of an author may end a fact, as one that another owner stored."""
        return author == NO_AUTHOR or author.may_end(self._pending.author_of(fact, self._state))

    def _author_of(self, event: Event) -> MemoryAuthor:
        """Return who stored the text of another event, whose attributes are in the state alone."""
        memory = isinstance(event.payload, Remember) and self._state.stored_memory(event.id)
        if not memory:
            return NO_AUTHOR
        return MemoryAuthor(memory.scope, memory.user_id, memory.agent_id)

    def _apply_later_retractions(self) -> Iterable[DecidedPart]:
        """Yield the ends of the message's facts that later messages retract, by both messages."""
        pending = self._pending
        for later in self._message.later_retractions:
            said_at = later.by.occurred_at
            retraction = self._permitted(later.retraction, self._author_of(later.by))
            if retraction is None or retraction.event.id != self._event.id:
                continue
            newer = later_superseding_id(
                later, all_facts_of_event(later.by.id, self._state, pending)
            )
            ends = [
                FactSupersession(fact.id, newer, said_at)
                for fact in pending.facts
                if fact.source_event_id == self._event.id
                and states_retracted_value(retraction, fact.text)
                and pending.invalid_at.get(fact.id, LATEST_MS) > said_at
                and pending.first_repeat(fact.id, said_at, self._state) is None
            ]
            pending.supersede(ends)
            sources = tuple(sorted((self._event.number, later.by.number)))
            yield DecidedPart(sources, [*ends])

    def _ends_earlier(self, row: AnyRow) -> bool:
        """Return whether a row is the end of a fact that something else ends before."""
        return isinstance(row, FactSupersession) and (
            self._pending.invalid_at.get(row.fact_id) != row.invalid_at
        )

    def _retracted_fact(self, retraction: Retraction, newer: str) -> Iterable[DecidedPart]:
        """Yield a retracted statement as a superseded fact, with both events as sources.

        A statement that was not worth a fact by itself, such as a meeting's place, becomes one when
        it is corrected, so that the history shows the earlier value.
        """
        event, statement = retraction.event, retraction.statement
        state, pending = self._state, self._pending
        content = message_of(event)
        ids = self._resolver.account_ids(event.platform, content.sender_id)
        is_processed = state.is_processed(event.id) or event.id in pending.event_ids
        if statement is None or not ids or not is_processed:
            return
        id_ = fact_id(event.id, statement.signature, event.occurred_at)
        earlier = AnalysedMessage(event, Analysis((statement,), (), ()), event.occurred_at)
        fact = _fact(id_, signatures_of(statement, earlier, ids)[0], statement, earlier)
        pending.facts.append(fact)
        pending.invalid_at[id_] = self._message.said_at
        sources = {event.number, self._event.number, *statement.told_with}
        part = DecidedPart(tuple(sorted(sources)), [fact, *_days_rows(id_, statement)])
        part.puts += embedding_rows(state, event.ingested_at, ("fact", id_, statement.sentence))
        mentions = link_known(statement.mentions, earlier.content.content, self._resolver)
        name = content.sender_name or content.sender_id
        part.puts += mention_rows(mentions, event, id_, ids[0], name)
        part.puts.append(FactSupersession(id_, newer, self._message.said_at))
        yield part

    def _links_to_earlier(self) -> Iterable[DecidedPart]:
        """Yield the causal links to facts of earlier messages, with both messages as sources."""
        facts_of_event = partial(all_facts_of_event, state=self._state, pending=self._pending)
        at = self._event.ingested_at
        for link, number in links_to_earlier(
            self._message.causal_references, self._statement_facts, at, facts_of_event
        ):
            yield DecidedPart(tuple(sorted({self._event.number, number})), puts=[link])

    def _extending_facts(self) -> Set[str]:
        """Return the facts that may extend others: new ones that supersede none."""
        superseding = {
            row.superseded_by
            for part in (self._own_part, self._quoting_part)
            for row in part.puts
            if isinstance(row, FactSupersession)
        }
        return {fact for _, _, fact in self._new_facts} - superseding

    def _relations_to_earlier(self) -> Iterable[DecidedPart]:
        """Yield the relations to facts of earlier messages, with both messages as sources."""
        message = self._message
        if message.skip_relations:
            return
        for row, number in relations_to_earlier(
            message.extensions,
            message.causal_references,
            self._statement_facts,
            self._event.ingested_at,
            self._extending_facts(),
            partial(all_facts_of_event, state=self._state, pending=self._pending),
        ):
            yield DecidedPart(tuple(sorted({self._event.number, number})), puts=[row])


def end_deleted(
    message: AnalysedMessage, resolver: EntityResolver, state: State
) -> Iterable[AnyRow]:
    """Yield the ends of a deleted message's facts, and the withdrawal of its other statements."""
    pending = PendingRows()
    withdrawal = withdraw(message, state, pending)
    changed = [*withdrawal.changed, *changed_claims(withdrawal.supersessions, state)]
    ends = later_ends(changed, state, pending, withdrawal.ended)
    ended = {row.fact_id for row in ends if isinstance(row, FactSupersession)}
    restored = [row for row in withdrawal.supersessions if row.fact_id not in ended]
    yield from withdrawal.rows
    yield from withdrawal.endings
    yield from withdrawal.sentences
    yield from (*restored, *holding_again(restored, state))
    yield from ends
    yield from _end_replaced(message, withdrawal.ended, state)
    yield from merged_rows_after(
        withdrawal.ended,
        withdrawal.rows,
        resolver.own_id,
        state,
        pending,
        withdrawal.ended | withdrawal.ended_before,
    )


def _is_end_of(row: AnyRow, fact: str) -> bool:
    return isinstance(row, FactSupersession) and row.fact_id == fact


def without_identities(parts: Iterable[DecidedPart]) -> list[DecidedPart]:
    """Return the parts of a private memory without the entities that it would make or change."""
    parts = list(parts)
    new = {row.id for part in parts for row in part.puts if isinstance(row, Entity)}
    found = []
    for part in parts:
        puts: list[AnyRow] = []
        for row in part.puts:
            if isinstance(row, Mention):
                puts.append(replace(row, entity_id="") if row.entity_id in new else row)
            elif not isinstance(row, get_args(IdentityRow)) and not (
                isinstance(row, FactEntity) and row.entity_id in new
            ):
                puts.append(row)
        found.append(DecidedPart(part.sources, puts, part.deletes, part.outbox))
    return found


def _replaced_by(content: Remember, state: State) -> set[str]:
    """Return the ids of the fact or event, and of the memory's version, that a text replaces."""
    previous = previous_version(content, state)
    found = {content.replaces, None if previous is None else previous.id}
    return {id_ for id_ in found if id_ is not None}


def _end_replaced(
    message: AnalysedMessage, replaced: Set[str], state: State
) -> Iterable[FactSupersession]:
    """Yield a supersession for each fact that only edited or deleted versions state.

    As if it had never been said, it ends when it begins.
    """
    for fact in sorted(replaced):
        at = min((time_of(fact), *state.repeat_times(fact)))
        yield FactSupersession(fact, message.event.id, at)


def _fact(id_: str, signature: str, statement: Statement, message: AnalysedMessage) -> Fact:
    event, content = message.event, message.content
    context = message.context_of(statement)
    given = content.context if isinstance(content, Remember) else None
    quoted = [
        message.context_ids[number]
        for number in message.context_numbers(statement)
        if number in message.context_ids
    ]
    return Fact(
        id=id_,
        text=statement.text,
        context=context.text if context is not None else given,
        as_of=message.said_at,
        ingested_at=event.ingested_at,
        source_event_id=event.id,
        metadata=fact_metadata(event, told_with=quoted or None),
        created_at=event.ingested_at,
        signature=stored_signature(signature),
    )


def _days_rows(id_: str, statement: Statement, context: FactContext | None = None) -> list[AnyRow]:
    """Return the row of a statement's first and last day; none if it has no days.

    A statement with a date has the days of its period or of its dates; one without has the days of
    its context, or else the days on which it happens.
    """
    dates = statement.dates or (context.dates if context is not None else ())
    if statement.happens is not None and (statement.dates or not dates):
        return [FactDays(id_, *statement.happens)]
    if not dates:
        return []
    return [FactDays(id_, min(each.first for each in dates), max(each.last for each in dates))]


def _date_rows(message: AnalysedMessage) -> list[AnyRow]:
    event_id = message.event.id
    return [
        MessageDate(event_id, each.start, each.end, each.first, each.last, int(each.relative))
        for each in message.dates[:_MAX_DATES]
    ]


def _causal_links(message: AnalysedMessage, facts: list[str]) -> list[CausalLink]:
    """Return the causal links between a message's statements; `facts` are theirs, in order."""
    links = {
        (cause, effect): CausalLink(cause, effect, each.strength, message.event.ingested_at)
        for each in message.analysis.causes
        for cause, effect in ((facts[each.cause], facts[each.effect]),)
        if cause != effect
    }
    return [link for (cause, effect), link in links.items() if (effect, cause) not in links]
