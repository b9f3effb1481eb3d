"""The agent that decides from a language model's recorded answers about an event (A19).

The model was asked earlier, outside of the commit. Here its proposals are checked against the event
and the state, and the valid ones become rows. They change nothing that the rules concluded from the
same message. A proposed fact that exists already is mapped to the existing one: its text replaces
one that repeats the message's raw words, and its slot value and days are added if it has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Literal

import msgspec

from recollect.schemas.changes import (
    CausalLink,
    DecidedPart,
    Fact,
    FactDays,
    FactEntity,
    FactOccasion,
    Mention,
    MergeCandidate,
    ModelWriteStats,
    WriterPromptDecision,
    WriterPromptProposal,
    WriterPromptVersion,
)
from recollect.schemas.events import (
    Content,
    DecideWriterPrompt,
    Deletion,
    Event,
    ModelAnswered,
    SetWriterPrompt,
    message_of,
)
from recollect.schemas.ids import row_id
from recollect.schemas.names import normalise_name
from recollect.schemas.times import LATEST_MS
from recollect.streams.agents.agent import Agent, Conversation, Extract, ModelCalls
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.identity.mention_rows import RESOLVED_CONFIDENCE
from recollect.streams.agents.identity.merge_handler import AUTO_MERGE_CONFIDENCE
from recollect.streams.agents.identity.participants import Participant, named_participants
from recollect.streams.agents.state import EntityRef, State, stored_signature
from recollect.streams.agents.vectors import embedding_rows
from recollect.streams.agents.writer.message_analysis import (
    WEEKDAY_LOOKBACK_MESSAGES,
    fact_metadata,
    named_before,
    resolve_version,
    user_text,
)
from recollect.streams.agents.writer.model.model_slots import ModelSlots
from recollect.streams.agents.writer.model.proposals import (
    RECALL,
    SLOT_RULES,
    Proposals,
    Proposed,
    ProposedFact,
)
from recollect.streams.agents.writer.model.proposed_slots import EarlierMessage, earlier_messages
from recollect.streams.agents.writer.model.refusals import Refused
from recollect.streams.agents.writer.model.restatements import compare_texts
from recollect.streams.agents.writer.repetitions import is_valid_between
from recollect.streams.agents.writer.retracted_statements import retractions_of_new_fact
from recollect.streams.language.grammar.enrichment import ALL, Step, Without
from recollect.streams.language.grammar.named_weekdays import dates_about, dates_meant
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.language.relations.grounding import Said
from recollect.streams.language.statements.document import Document
from recollect.streams.language.statements.statements import analyse
from recollect.streams.records.recorded_answers import OpenedRecording
from recollect.text.dates.found_dates import DateReference

#: A merge that a model proposes is pending review, whatever the model's confidence.
MAX_MERGE_CONFIDENCE = AUTO_MERGE_CONFIDENCE - 0.01
#: The maximum confidence of a cause that no message states explicitly.
_MAX_CAUSAL_CONFIDENCE = 0.7
_json = msgspec.json.Encoder()


class CheckedProposals(msgspec.Struct, frozen=True):
    """A model's proposals about an event, checked against its text.

    If `answers` is None, another role gave them, and only what awaits a review is used. `near` are
    the ids of the events whose facts they may refer to, `participants` the participants of the
    conversation that they may name, `texts` the texts of the message's versions, by event id,
    `earlier` the messages before it that the model was shown, `without` the disabled steps.
    """

    about: Event
    said_at: int
    proposed: Proposed
    answers: ModelCalls | None
    near: tuple[str, ...]
    participants: tuple[Participant, ...]
    texts: Mapping[str, str]
    earlier: tuple[EarlierMessage, ...]
    without: Without


class ModelWriter(Agent):
    """Decides from a model's recorded answers, and stores versions of the writer's prompt.

    A version that a model proposes awaits the decision of a person, or of a home's settings.
    """

    kinds = frozenset({"model_wrote", "writer_text", "decide_writer_text"})
    steps: frozenset[Step] = frozenset({"entities", "temporal", "evolution", "causes"})

    def __init__(self, without: Without = ALL, writer_role: int = 0) -> None:
        """`without`: the disabled steps; `writer_role`: the role of the generation."""
        self.without = without
        self._writer_role = writer_role

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        answered = event.payload
        if isinstance(answered, DecideWriterPrompt):
            sources = [number for number in answered.sources if number < event.number]
            for number in sources:
                conversation.event(number)
            return Extract(content=tuple(sources))
        if not isinstance(answered, ModelAnswered):
            return Extract()
        if answered.writer_role > self._writer_role:
            # It was set after this generation's role, so its proposals are for later generations.
            return Extract()
        is_used = answered.writer_role == self._writer_role
        answers = conversation.model_calls(answered)
        about = conversation.event(answered.about)
        if answers is None or about is None or not isinstance(about.payload, Content):
            return Extract()
        revisions = conversation.revisions(about, event.number)
        said_at, _, is_newest = resolve_version(about, revisions)
        versions = [one for one in (about, *revisions) if not isinstance(one.payload, Deletion)]
        thread = [
            one for number in answered.thread if (one := conversation.event(number)) is not None
        ]
        earlier = earlier_messages(about, thread)
        evidence = evidence_of(about, said_at, thread)
        proposals = Proposals(about.id, evidence, answered.rules, earlier)
        if is_newest:
            for name, arguments in answers.calls:
                if name == RECALL:
                    continue
                with suppress(Refused):
                    proposals.accept(name, arguments)
        else:
            proposals.refused["replaced"] += 1
        if answered.rules > 1:
            # Facts of other conversations that `recall` returned may be causes too.
            events = map(conversation.event, answered.sources)
            thread = [one for one in events if one is not None and one.number != about.number]
        near = tuple(one.id for one in (about, *thread))
        proposed = _left_out(proposals.all(), self.without)
        if not is_used:
            proposed = _for_review(proposed)
        return Extract(
            content=CheckedProposals(
                about,
                said_at,
                proposed,
                answers if is_used else None,
                near,
                named_participants(user_text(about), about, conversation),
                {one.id: message_of(one).content for one in versions},
                earlier,
                self.without,
            ),
            sources=tuple(sorted({*answered.sources, *(one.number for one in versions)})),
            texts=tuple(fact.text for fact in proposed.facts.values()),
        )

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        payload = event.payload
        if isinstance(payload, SetWriterPrompt):
            if payload.beside and event.number != self._writer_role:
                return []
            row = WriterPromptVersion(event.number, payload.name, payload.text, event.occurred_at)
            return [DecidedPart((event.number,), puts=[row])]
        if isinstance(payload, DecideWriterPrompt):
            return _decide_proposal(event, payload, extract.content, state)
        checked: CheckedProposals | None = extract.content
        if checked is None or not isinstance(payload, ModelAnswered):
            return []
        part = DecidedPart(tuple(sorted({event.number, *payload.sources})))
        _Resolution(event, payload, checked, state, part).run()
        return [part]


def _decide_proposal(
    event: Event, decision: DecideWriterPrompt, sources: Sequence[int], state: State
) -> list[DecidedPart]:
    """Return the rows of the decision on a proposed prompt; none if it is decided or erased."""
    proposal = state.undecided_writer_proposal(decision.proposal_id)
    if proposal is None:
        return []
    number, at = event.number, event.occurred_at
    status: Literal["accepted", "rejected"] = "accepted" if decision.approve else "rejected"
    parts = [DecidedPart((number,), [WriterPromptDecision(proposal.id, status, number, at)])]
    if decision.approve:
        row = WriterPromptVersion(number, proposal.name, proposal.text, at)
        parts.append(DecidedPart((*sorted({*sources, proposal.number}), number), [row]))
    return parts


def _left_out(proposed: Proposed, without: Without) -> Proposed:
    """Return the proposals without those of the disabled steps."""
    if "entities" in without:
        proposed = msgspec.structs.replace(proposed, entities={}, links=(), merges=())
    if "causes" in without:
        proposed = msgspec.structs.replace(proposed, causes=())
    if not without.isdisjoint({"temporal", "evolution"}):
        facts = {id_: _fact_left_out(fact, without) for id_, fact in proposed.facts.items()}
        proposed = msgspec.structs.replace(proposed, facts=facts)
    return proposed


def _for_review(proposed: Proposed) -> Proposed:
    """Return only the proposals that a person decides, or has decided already."""
    return msgspec.structs.replace(proposed, facts={}, links=(), causes=(), refused={})


def _fact_left_out(fact: ProposedFact, without: Without) -> ProposedFact:
    if "temporal" in without:
        fact = msgspec.structs.replace(fact, days=None)
    if "evolution" in without:
        fact = msgspec.structs.replace(fact, slot=None, retracts=None)
    return fact


def combine_answers(found: Sequence[OpenedRecording]) -> ModelCalls:
    """Return the tool calls of all answers about one event, with their total usage."""
    return ModelCalls(
        calls=[(call.name, call.arguments) for each in found for call in each.answer.calls],
        requests=len(found),
        tokens_in=sum(each.header.tokens_in for each in found),
        tokens_out=sum(each.header.tokens_out for each in found),
        cost=sum(each.header.cost for each in found),
    )


def evidence_of(event: Event, said_at: int, thread: Sequence[Event]) -> Said:
    """Return the text, time and names in which a sentence about an event must be grounded."""
    content, text = message_of(event), user_text(event)
    before = [one.payload for one in thread if isinstance(one.payload, Content)]
    nearest = [one for one in reversed(thread) if isinstance(one.payload, Content)]
    named = named_before(
        [(one, one.occurred_at) for one in nearest[:WEEKDAY_LOOKBACK_MESSAGES]], said_at
    )
    dates, _ = dates_meant(text, said_at, content.utc_offset, [day for _, day in named])
    return Said(
        text=text,
        at_ms=said_at,
        utc_offset_minutes=content.utc_offset,
        thread=tuple(one.content for one in before),
        names=tuple(dict.fromkeys(one.sender_name or one.sender_id for one in (content, *before))),
        dates=tuple(dates),
    )


class _Resolution:
    """One decision from a model's proposals."""

    def __init__(
        self,
        event: Event,
        answered: ModelAnswered,
        checked: CheckedProposals,
        state: State,
        part: DecidedPart,
    ) -> None:
        self._event = event
        self._answered = answered
        self._checked = checked
        self._state = state
        self._part = part
        self._resolver = EntityResolver(state, event)
        self._refused: Counter[str] = Counter(checked.proposed.refused)
        self._current_rules = answered.rules > 1
        self._fills_slots = answered.rules >= SLOT_RULES
        #: (id, text, whether it is current) of the event's facts in the state
        self._existing: list[tuple[str, str, bool]] = []
        self._accepted: dict[str, ProposedFact] = {}
        #: id of a proposed fact -> id of the new or existing fact that it became
        self._fact_ids: dict[str, str] = {}
        self._linked: dict[str, EntityRef] = {}
        self._repeated = 0

    def run(self) -> None:
        """Write the rows of valid proposals, and the statistics."""
        about, proposed = self._checked.about, self._checked.proposed
        if proposed.facts:
            self._existing = self._state.facts_of_event(about.id)
            sender = self._resolver.resolve_sender(about, message_of(about))
            self._resolver.set_participants(self._checked.participants)
            slots = self._slots(sender)
            for fact in proposed.facts.values():
                self._decide(fact, sender, slots)
            self._link(sender)
            # After the links, which create the entities of subjects.
            self._fill(slots)
        self._causes()
        self._merges()
        self._part.puts += self._texts()
        # After the links: an entity whose link was refused is not created.
        self._part.puts += self._resolver.rows
        if self._checked.answers is not None:
            self._part.puts.append(self._stats(self._checked.answers))

    def _slots(self, sender: EntityRef) -> ModelSlots:
        checked = self._checked
        stated = [id_ for id_, _, _ in self._existing]
        if self._fills_slots:
            stated += [id_ for id_, _, _ in self._state.occasions_of(checked.about.id)]
        return ModelSlots(
            checked.about,
            checked.said_at,
            checked.near,
            checked.earlier,
            frozenset(stated),
            sender,
            self._resolver,
            self._state,
        )

    def _decide(self, fact: ProposedFact, sender: EntityRef, slots: ModelSlots) -> None:
        """Decide a proposed fact: it is new, repeats a known one, or is refused."""
        if slots.contradicts_rules(fact):
            self._refused["slot"] += 1
            return
        known = self._restated_fact(fact, slots)
        if known is None and (same := slots.find_same(fact)) is not None:
            known, rows = same
            self._part.puts += rows
        known = known or self._said_again(fact, sender)
        if known is not None:
            self._repeated += 1
            if self._current_rules:
                self._fact_ids[fact.id] = known
        elif not self._fills_slots and self._reads_as_slot(fact):
            self._refused["slot"] += 1
        else:
            self._accept(fact, sender)
            self._part.puts += slots.signature_rows(fact)

    def _fill(self, slots: ModelSlots) -> None:
        """Fill the slots of the facts, and end what they retract."""
        current = {id_ for id_, _, is_current in self._existing if is_current}
        for fact in self._checked.proposed.facts.values():
            id_ = self._fact_ids.get(fact.id)
            if id_ is None:
                continue
            if id_ == fact.id or (fact.slot is not None and not fact.slot.holds):
                self._part.puts += slots.rows(fact, id_)
            elif id_ in current:
                self._part.puts += slots.complete(fact, id_)
            ends = slots.retractions(fact, id_)
            if ends is None:
                self._refused["retracts"] += 1
            else:
                self._part.puts += ends

    def _restated_fact(self, fact: ProposedFact, slots: ModelSlots) -> str | None:
        """Return the id of the event's fact, current or not, that a proposed one restates, or None.

        If the proposed text is better, the fact gets it. A fact that cannot have the proposed slot
        value is not restated.
        """
        words = content_words(fact.text)
        kept = [(accepted.id, accepted.text, True) for accepted in self._accepted.values()]
        if not self._current_rules:
            known = (*self._existing, *kept)
            return next((id_ for id_, text, _ in known if words <= content_words(text)), None)
        content, at = message_of(self._checked.about), self._checked.said_at
        speaker = content.sender_name or content.sender_id
        comparisons = [
            (compare_texts(fact.text, text, speaker, at), id_, current)
            for id_, text, current in (*self._existing, *kept)
            if slots.can_give(fact, id_, text)
        ]
        if same := [id_ for what, id_, _ in comparisons if what == "same"]:
            return same[0]
        if better := [(id_, current) for what, id_, current in comparisons if what == "better"]:
            id_, current = better[0]
            if current and id_ not in self._accepted:
                self._reword(id_, fact)
            return id_
        again = self._state.occasions_of(self._checked.about.id)
        return next(
            (
                id_
                for id_, text, current in again
                if current and words <= content_words(text) and slots.can_give(fact, id_, text)
            ),
            None,
        )

    def _said_again(self, fact: ProposedFact, sender: EntityRef) -> str | None:
        """Return the id of a known fact from another event that `fact` repeats, or None.

        The event of `fact` becomes an occasion of the known fact.
        """
        if not self._current_rules:
            return None
        at = self._checked.said_at
        facts = self._state.facts_with_signature([self._signature(fact, sender)], 0, LATEST_MS)
        known = next((stated.id for stated in facts if is_valid_between(stated, at)), None)
        if known is not None:
            occasion = (fact.start, at, fact.text, "said again: the same words", 1)
            self._part.puts.append(FactOccasion(known, self._checked.about.id, *occasion))
        return known

    def _signature(self, fact: ProposedFact, sender: EntityRef) -> str:
        days = "".join(f" {row.first_day}/{row.last_day}" for row in self._days(fact))
        return f"{sender.id} model: {fact.text.casefold()}{days}"

    def _reword(self, id_: str, fact: ProposedFact) -> None:
        """Replace the text of a rule's fact by the text of a proposed fact."""
        about, answered = self._checked.about, self._answered
        row = self._state.fact(id_)
        assert row is not None
        metadata = {
            **msgspec.json.decode(row.metadata),
            "writer": answered.model,
            "role": answered.role,
            "evidence": [fact.start, fact.end],
        }
        self._part.puts.append(
            msgspec.structs.replace(row, text=fact.text, metadata=_json.encode(metadata).decode())
        )
        self._part.puts += embedding_rows(self._state, about.ingested_at, ("fact", id_, fact.text))
        self._existing = [
            (known, fact.text if known == id_ else text, current)
            for known, text, current in self._existing
        ]

    def _reads_as_slot(self, fact: ProposedFact) -> bool:
        text, said_at = fact.text, self._checked.said_at
        document = Document(text=text, speaker=None, at_ms=said_at, keep=((0, len(text)),))
        analysis = analyse(document)
        return any(each.claim is not None for each in analysis.statements)

    def _accept(self, fact: ProposedFact, sender: EntityRef) -> None:
        about = self._checked.about
        answered = self._answered
        evidence = [fact.start, fact.end]
        self._accepted[fact.id] = fact
        self._fact_ids[fact.id] = fact.id
        row = Fact(
            id=fact.id,
            text=fact.text,
            context=None,
            as_of=self._checked.said_at,
            ingested_at=about.ingested_at,
            source_event_id=about.id,
            metadata=fact_metadata(
                about, writer=answered.model, role=answered.role, evidence=evidence
            ),
            created_at=self._event.ingested_at,
            signature=stored_signature(self._signature(fact, sender)),
        )
        texts = self._checked.texts
        active = self._state.active_retractions(sorted(texts))
        self._part.puts += retractions_of_new_fact(row, active, texts, message_of(about))
        self._part.puts.append(row)
        self._part.puts += self._days(fact)
        self._part.puts += embedding_rows(
            self._state, self._event.ingested_at, ("fact", fact.id, fact.text)
        )

    def _days(self, fact: ProposedFact) -> list[FactDays]:
        """Return the row of the days that a fact speaks of, if any.

        A date quoted from the message has the days that were decided with the message.
        """
        if "temporal" in self._checked.without:
            return []
        if fact.days is not None:
            return [FactDays(fact.id, *fact.days)]
        content, text = message_of(self._checked.about), user_text(self._checked.about)
        dates = dates_about(
            fact.text,
            at_ms=self._checked.said_at,
            utc_offset_minutes=content.utc_offset,
            meant=[
                DateReference(
                    row.char_start,
                    row.char_end,
                    text[row.char_start : row.char_end],
                    row.first_day,
                    row.last_day,
                    bool(row.is_relative),
                )
                for row in self._state.message_dates(self._checked.about.id)
            ],
        )
        if not dates:
            return []
        first = min(date.first for date in dates)
        return [FactDays(fact.id, first, max(date.last for date in dates))]

    def _link(self, sender: EntityRef) -> None:
        """Link the accepted facts to their sender and to the proposed entities."""
        about = self._checked.about
        content = message_of(about)
        sender_id = self._resolver.own_ids(sender)[0]
        linked: dict[str, set[str]] = {fact: {sender_id} for fact in self._accepted}
        named = content.sender_name or content.sender_id
        for fact in self._accepted:
            self._part.puts.append(Mention(about.id, fact, sender_id, -1, -1, named, "PERSON", 1.0))
        for proposed, wanted in self._checked.proposed.links:
            if proposed not in self._fact_ids:
                continue
            fact = self._fact_ids[proposed]
            entity = self._resolve_linked(wanted, proposed, fact)
            if entity is None:
                self._refused["id"] += 1
            else:
                self._linked[wanted] = entity
                linked.setdefault(fact, set()).add(entity.id)
        self._part.puts += [
            FactEntity(fact, entity) for fact, ids in linked.items() for entity in sorted(ids)
        ]

    def _resolve_linked(self, wanted: str, proposed: str, fact: str) -> EntityRef | None:
        """Return the entity of a proposed link, or None if the fact does not name it."""
        named = self._checked.proposed.entities.get(wanted)
        words = set(normalise_name(self._checked.proposed.facts[proposed].text).split())
        if named is not None:
            if not set(normalise_name(named.name).split()) <= words:
                return None
            text = user_text(self._checked.about)
            start = text.find(named.name)
            if start < 0:
                return self._resolver.find_in_conversation(
                    named.name, named.mention_type
                ) or self._resolver.create(named.name, named.mention_type)
            entity = self._resolver.resolve_at(text, start, named.name, named.mention_type)
            if entity is None:
                return None
            self._part.puts.append(
                Mention(
                    self._checked.about.id,
                    fact,
                    entity.id,
                    start,
                    start + len(named.name),
                    named.name,
                    named.mention_type,
                    RESOLVED_CONFIDENCE,
                )
            )
            return entity
        known = self._state.canonical(wanted)
        if known is None or words.isdisjoint(self._words_of_names(known)):
            return None
        return known

    def _words_of_names(self, entity: EntityRef) -> set[str]:
        """Return the words of the names of an entity and of all entities merged into it."""
        ids = self._resolver.ids(entity) if self._current_rules else [entity.id]
        found = (self._state.entity(id_) for id_ in ids)
        return {word for each in found if each is not None for word in each.normalized.split()}

    def _causes(self) -> None:
        near: set[str] = set()
        if self._checked.proposed.causes:
            for event_id in self._checked.near:
                near |= set(self._state.current_facts(event_id))
        fact_ids = self._fact_ids
        for cause, effect, strength in self._checked.proposed.causes:
            ends = fact_ids.get(cause, cause), fact_ids.get(effect, effect)
            known = self._accepted.keys() | near | set(fact_ids.values())
            new = {cause, effect} & fact_ids.keys()
            if new and set(ends) <= known and len(set(ends)) == 2:
                row = CausalLink(
                    *ends, min(strength, _MAX_CAUSAL_CONFIDENCE), self._event.ingested_at
                )
                self._part.puts.append(row)
            else:
                self._refused["id"] += 1

    def _merges(self) -> None:
        for merge in self._checked.proposed.merges:
            one, other = map(self._canonical, (merge.entity_a, merge.entity_b))
            if one is None or other is None or one.id == other.id or one.type != other.type:
                self._refused["id"] += 1
                continue
            at = self._event.ingested_at
            self._part.puts.append(
                MergeCandidate(
                    id=row_id(at, "merge_candidate", one.id, other.id),
                    entity_a_id=one.id,
                    entity_b_id=other.id,
                    confidence=min(merge.confidence, MAX_MERGE_CONFIDENCE),
                    reason=f"{self._answered.model} says: {merge.reason}",
                    created_at=at,
                )
            )

    def _texts(self) -> Iterable[WriterPromptProposal]:
        """Yield the proposed versions of the writer's role and notes, which await a decision."""
        number, at = self._event.number, self._event.ingested_at
        for text in self._checked.proposed.texts:
            yield WriterPromptProposal(
                id=row_id(at, "writer_text", str(number), text.name),
                number=number,
                name=text.name,
                text=text.text,
                reason=text.reason,
                model=self._answered.model,
                role=self._answered.role,
                created_at=at,
            )

    def _canonical(self, wanted: str) -> EntityRef | None:
        """Return the canonical entity with an id, or the one linked under it in this decision."""
        if self._current_rules and wanted in self._linked:
            return self._linked[wanted]
        return self._state.canonical(wanted)

    def _stats(self, answers: ModelCalls) -> ModelWriteStats:
        return ModelWriteStats(
            number=self._event.number,
            about=self._answered.about,
            model=self._answered.model,
            role=self._answered.role,
            calls=answers.requests,
            tokens_in=answers.tokens_in,
            tokens_out=answers.tokens_out,
            cost=answers.cost,
            kept=len(self._accepted),
            repeated=self._repeated,
            refused=sum(self._refused.values()),
            reasons=_json.encode(dict(sorted(self._refused.items()))).decode(),
        )
