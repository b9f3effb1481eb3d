"""Rows of memory.db: facts, turns, mental models, and what decisions depend on."""

from __future__ import annotations

from typing import ClassVar, Literal

from recollect.schemas.changes.learning_rows import LearningRow
from recollect.schemas.changes.row import Row
from recollect.schemas.changes.stored_memory_rows import (
    MemoryConsolidation,
    MemoryParent,
    MemoryStatement,
    StoredMemory,
    StoredMemoryArchival,
    StoredMemoryRecallCount,
    StoredMemoryReference,
    StoredMemoryVersion,
)
from recollect.schemas.choices import ObservationKind, RelationshipType


class Fact(Row, frozen=True, array_like=True, tag="fact"):
    """An atomic sentence. Times are unix ms; `signature` is the near-duplicate key."""

    TABLE: ClassVar = "facts"
    KEY: ClassVar = ("id",)
    id: str
    text: str
    context: str | None
    as_of: int
    ingested_at: int
    source_event_id: str
    metadata: str
    created_at: int
    signature: str


class FactEntity(Row, frozen=True, array_like=True, tag="fact_entity"):
    """An entity that a fact is about."""

    TABLE: ClassVar = "fact_entities"
    KEY: ClassVar = ("fact_id", "entity_id")
    fact_id: str
    entity_id: str


class CausalLink(Row, frozen=True, array_like=True, tag="causal_link"):
    """A cause-and-effect link between two facts; `strength` is 0 to 1."""

    TABLE: ClassVar = "causal_links"
    KEY: ClassVar = ("from_fact_id", "to_fact_id")
    from_fact_id: str
    to_fact_id: str
    strength: float
    created_at: int


class FactRelation(Row, frozen=True, array_like=True, tag="fact_relation"):
    """A stated relation: a fact adds to another (EXTENDS) or follows from it (DERIVES).

    `confidence` is 0 to 1. If a fact replaces another, the row is a `FactSupersession` instead.
    """

    TABLE: ClassVar = "fact_relations"
    KEY: ClassVar = ("fact_id", "target_fact_id")
    fact_id: str
    target_fact_id: str
    relation: Literal["EXTENDS", "DERIVES"]
    confidence: float
    created_at: int


class FactOccasion(Row, frozen=True, array_like=True, tag="fact_occasion"):
    """An event that states an existing fact again.

    `said_at`: unix ms. `text`: the statement as this event words it. Once the event is edited or
    deleted, `is_standing` is 0 and the text empty. The event that first stated the fact has a row
    only if it was edited or deleted while other events still state the fact; its `char_start` is
    -1.
    """

    TABLE: ClassVar = "fact_occasions"
    KEY: ClassVar = ("fact_id", "event_id")
    fact_id: str
    event_id: str
    char_start: int
    said_at: int
    text: str
    reason: str
    is_standing: int


class ClaimSignature(Row, frozen=True, array_like=True, tag="claim_signature"):
    """A second near-duplicate key of a fact, built from the speaker and the claim's value."""

    TABLE: ClassVar = "claim_signatures"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    signature: str
    as_of: int


class DuplicateStatement(Row, frozen=True, array_like=True, tag="fact_repeat"):
    """The predecessor of `FactOccasion`, found only in records of earlier builds."""

    TABLE: ClassVar = "fact_repeats"
    KEY: ClassVar = ("event_id", "char_offset_start")
    event_id: str
    char_offset_start: int
    fact_id: str
    reason: str


class FactFingerprint(Row, frozen=True, array_like=True, tag="fact_likeness"):
    """Fingerprint for detecting paraphrases of a short fact.

    Only facts with an equal `key` are compared. `words`: hashes of its words. `vector`: its int8
    embedding.
    """

    TABLE: ClassVar = "fact_likenesses"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    key: str
    as_of: int
    words: bytes
    vector: bytes


class FactSentence(Row, frozen=True, array_like=True, tag="fact_sentence"):
    """A sentence that states a fact: what its speaker says later may end it, and it earlier facts.

    Attributes:
        event_id: the event that states the fact, for the first time or again.
        speaker: the sender's id; of a stored memory, with its owner.
        said_at: unix ms.
        vector: its int8 embedding.
        percent: the probability that it ends anything.
        attributes: those whose values it may end, each with the probability in percent (JSON).
        names: words of whom it is about, in order, if it is about others than the speaker.
        is_standing: 0 once the event was edited or deleted; the sentence is then gone.
    """

    TABLE: ClassVar = "fact_sentences"
    KEY: ClassVar = ("fact_id", "event_id")
    fact_id: str
    event_id: str
    speaker: str
    said_at: int
    sentence: str
    vector: bytes
    percent: int
    attributes: str
    names: str
    is_standing: int


class FactClaim(Row, frozen=True, array_like=True, tag="fact_claim"):
    """The slot value that a fact states, such as a home (see `recollect.schemas.attributes`)."""

    TABLE: ClassVar = "fact_claims"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    subject: str
    attribute: str
    value: str
    as_of: int


class FactDays(Row, frozen=True, array_like=True, tag="fact_days"):
    """The first and last day that a fact is about, both inclusive (YYYY-MM-DD)."""

    TABLE: ClassVar = "fact_days"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    first_day: str
    last_day: str


class MessageDate(Row, frozen=True, array_like=True, tag="message_date"):
    """The days denoted by a date in an event's text, both inclusive (YYYY-MM-DD).

    The date is at `char_start` to `char_end` of the text. `is_relative` is 1 if it has no year.
    """

    TABLE: ClassVar = "message_dates"
    KEY: ClassVar = ("event_id", "char_start")
    event_id: str
    char_start: int
    char_end: int
    first_day: str
    last_day: str
    is_relative: int


class FactSupersession(Row, frozen=True, array_like=True, tag="fact_supersession"):
    """The end of a fact's validity: another fact superseded it at `invalid_at` (unix ms).

    The row is replaced if a fact that arrives later was stated between the two.
    """

    TABLE: ClassVar = "fact_supersessions"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    superseded_by: str
    invalid_at: int


class WithdrawnSupersession(Row, frozen=True, array_like=True, tag="withdrawn_supersession"):
    """A `FactSupersession` that no longer holds.

    The message that caused it was edited or deleted, or an earlier statement arrived later, after
    which the message means something else. It has no effect if the fact is superseded by something
    else. `is_withdrawn` is 0 once the supersession holds again.
    """

    TABLE: ClassVar = "withdrawn_supersessions"
    KEY: ClassVar = ("fact_id", "superseded_by")
    fact_id: str
    superseded_by: str
    is_withdrawn: int = 1


class StatedEnding(Row, frozen=True, array_like=True, tag="stated_ending"):
    """What a sentence of an event may end: values of a subject, also those that arrive later (G8).

    Attributes:
        position: of the sentence among those of the event that may end something.
        subject: a person's id or name, or the name of a thing.
        role: "person" and "thing": the subject whose values end; "owner": the sender, whose values
            end if they are named like those that the sentence is about.
        also: further ids of the subject (JSON).
        said_at: unix ms.
        ended_by: the fact or event that supersedes the values.
        attributes: those whose values may end, each with the probability in percent (JSON).
        nouns: the attributes that the sentence names by their nouns, of which all values may end
            (JSON).
        left_values: the values that the sentence says are left, by attribute (JSON).
        percent: the probability that the sentence ends anything.
        words: the sentence, which names the values; for an owner, the names in it.
        is_standing: 0 once the event was edited or deleted, and its words are gone.
    """

    TABLE: ClassVar = "stated_endings"
    KEY: ClassVar = ("event_id", "position", "role", "subject")
    event_id: str
    position: int
    role: Literal["person", "thing", "owner"]
    subject: str
    also: str
    said_at: int
    ended_by: str
    attributes: str
    nouns: str
    left_values: str
    percent: int
    words: str
    is_standing: int


class MergedSupersession(Row, frozen=True, array_like=True, tag="merged_supersession"):
    """The supersession of a fact about one of two merged persons by a fact about the other.

    It applies if it is earlier than the supersession by a fact about the same person. `subject` and
    `attribute` are those of the fact's claim. `invalid_at` is unix ms. `is_standing` is 0 once the
    merge is undone or a later event changes the order of the claims.
    """

    TABLE: ClassVar = "merged_supersessions"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    subject: str
    attribute: str
    superseded_by: str
    invalid_at: int
    is_standing: int


class FactMerge(Row, frozen=True, array_like=True, tag="fact_merge"):
    """A duplicate of another fact, the keeper; it is hidden from `invalid_at` (unix ms) on.

    The keeper has a `FactOccasion` for each event that states the fact. `merged_at`: unix ms.
    `is_standing` is 0 once the merge is undone.
    """

    TABLE: ClassVar = "fact_merges"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    keeper_id: str
    reason: str
    merged_at: int
    invalid_at: int
    is_standing: int


class MemoryRetraction(Row, frozen=True, array_like=True, tag="retraction"):
    """A retraction of the memory `target_id`, for one event that states it.

    The statement is at `char_start` to `char_end` of the event's text. `retracted_by`: the event
    of the command, or the one that replaces the memory. `replaced_at`: when the memory was replaced
    (unix ms); None if it was never true. `is_standing` is 0 once the memory is restored.
    """

    TABLE: ClassVar = "retractions"
    KEY: ClassVar = ("target_id", "event_id")
    target_id: str
    event_id: str
    char_start: int
    char_end: int
    retracted_by: str
    replaced_at: int | None
    is_standing: int


class RetractedFact(Row, frozen=True, array_like=True, tag="retracted_fact"):
    """A fact that the retraction of `target_id` covers; it ended at `invalid_at` (unix ms).

    If `is_void` is 1, the fact was never true: it ended when it began, and it superseded nothing.
    The same holds for an event, whose id is `fact_id` then: it may have ended facts without stating
    one.
    """

    TABLE: ClassVar = "retracted_facts"
    KEY: ClassVar = ("fact_id", "target_id")
    fact_id: str
    target_id: str
    retracted_by: str
    invalid_at: int
    is_void: int
    is_standing: int


class FactRecallCount(Row, frozen=True, array_like=True, tag="fact_access"):
    """The number of recalls of a fact that the ledger record `number` reports."""

    TABLE: ClassVar = "fact_accesses"
    KEY: ClassVar = ("number", "fact_id")
    number: int
    fact_id: str
    count: int


class ProcessedEvent(Row, frozen=True, array_like=True, tag="processed"):
    """An event that the writer has processed."""

    TABLE: ClassVar = "memory_processing_log"
    KEY: ClassVar = ("event_id",)
    event_id: str
    processed_at: int
    writer_run_id: str
    created_at: int


class Turn(Row, frozen=True, array_like=True, tag="turn"):
    """A completed agent turn; `turn_id` is the platform's own id."""

    TABLE: ClassVar = "turns"
    KEY: ClassVar = ("id",)
    id: str
    platform: str
    turn_id: str
    event_id: str
    completed_at: int


class MentalModel(Row, frozen=True, array_like=True, tag="mental_model"):
    """A version of a saved report, written by the ledger record `number`."""

    TABLE: ClassVar = "mental_models"
    KEY: ClassVar = ("id",)
    id: str
    name: str
    description: str
    subtype: str | None
    entity_id: str | None
    tags: str
    parent_id: str | None
    refresh_trigger: str | None
    last_refreshed: int
    created_at: int
    updated_at: int
    number: int


class AnalysisRun(Row, frozen=True, array_like=True, tag="analysis_run"):
    """A run of an analysis on an episode, or a version of an observation. Times are unix ms.

    `parent_id`: the version before. `status`: completed, blocked or failed. `output_text` is None
    if the analysis did not complete or has facets alone, or if the observation ended;
    `blocked_reason` says why. `retry_count`: how often it was tried again.
    """

    TABLE: ClassVar = "analysis_runs"
    KEY: ClassVar = ("id",)
    id: str
    analysis_type_id: str
    episode_id: str
    parent_id: str | None
    status: str
    started_at: int | None
    completed_at: int | None
    output_text: str | None
    error_message: str | None
    blocked_reason: str | None
    retry_count: int
    created_at: int


class ObservationFact(Row, frozen=True, array_like=True, tag="observation_fact"):
    """A fact that supports a version of an observation."""

    TABLE: ClassVar = "observation_facts"
    KEY: ClassVar = ("analysis_run_id", "fact_id")
    analysis_run_id: str
    fact_id: str


class FactUnits(Row, frozen=True, array_like=True, tag="fact_units"):
    """The units of a fact (`recollect.streams.consolidation.units`), and their dates.

    `sources` (JSON): the running numbers of the events that the fact quotes. `units` (JSON): text
    and speaker of each. `number`: the ledger record that decided the fact.
    """

    TABLE: ClassVar = "fact_units"
    KEY: ClassVar = ("fact_id",)
    fact_id: str
    event_id: str
    event_number: int
    sources: str
    said_at: int
    first_day: str | None
    last_day: str | None
    units: str
    number: int


class ClusterFact(Row, frozen=True, array_like=True, tag="cluster_fact"):
    """A fact in a cluster, that is, the facts about one topic of one entity.

    Attributes:
        topic: a noun in the singular; for a slot, its attribute.
        name: the entity's name in the fact.
        word: the word in the fact that names the topic; for a slot, its value.
        unit: the index of the unit with that word.
        said_at: unix ms.
        number: the ledger record that decided the fact.
    """

    TABLE: ClassVar = "cluster_facts"
    KEY: ClassVar = ("cluster_id", "fact_id")
    cluster_id: str
    fact_id: str
    kind: Literal["topic", "changes", "slot"]
    entity_id: str
    topic: str
    name: str
    word: str
    unit: int
    said_at: int
    number: int


class ClusterChange(Row, frozen=True, array_like=True, tag="cluster_change"):
    """The ledger record `number` changed whether a fact of a cluster still holds."""

    TABLE: ClassVar = "cluster_changes"
    KEY: ClassVar = ("cluster_id", "number")
    cluster_id: str
    number: int


class ClusterConsolidation(Row, frozen=True, array_like=True, tag="cluster_consolidation"):
    """The last ledger record that brought a cluster's observation up to date."""

    TABLE: ClassVar = "cluster_consolidations"
    KEY: ClassVar = ("cluster_id",)
    cluster_id: str
    number: int


class ConsolidationTick(Row, frozen=True, array_like=True, tag="consolidation_tick"):
    """A tick at which all changed clusters were considered."""

    TABLE: ClassVar = "consolidation_ticks"
    KEY: ClassVar = ("number",)
    number: int


class ObservationVersion(Row, frozen=True, array_like=True, tag="observation_version"):
    """The cluster that a version of an observation is about, and its topic in words."""

    TABLE: ClassVar = "observation_versions"
    KEY: ClassVar = ("analysis_run_id",)
    analysis_run_id: str
    cluster_id: str
    kind: ObservationKind
    entity_id: str
    label: str
    number: int


class PassTick(Row, frozen=True, array_like=True, tag="pass_tick"):
    """A tick of a daily pass; `at` is unix ms."""

    TABLE: ClassVar = "pass_ticks"
    KEY: ClassVar = ("number",)
    number: int
    name: str
    at: int


class ObservationMerge(Row, frozen=True, array_like=True, tag="observation_merge"):
    """The last, empty version of a merged observation, and the cluster of its keeper."""

    TABLE: ClassVar = "observation_merges"
    KEY: ClassVar = ("analysis_run_id",)
    analysis_run_id: str
    keeper_cluster_id: str


class Dream(Row, frozen=True, array_like=True, tag="dream"):
    """A link between two distant topics, conjectured by a language model; it is not a memory.

    `surprise`: 0 to 1, by the evaluation. `created_at`: unix ms.
    """

    TABLE: ClassVar = "dreams"
    KEY: ClassVar = ("id",)
    id: str
    bridge: str
    insight: str
    surprise: float
    model: str
    number: int
    created_at: int


class DreamFact(Row, frozen=True, array_like=True, tag="dream_fact"):
    """A fact that a dream rests on."""

    TABLE: ClassVar = "dream_facts"
    KEY: ClassVar = ("dream_id", "fact_id")
    dream_id: str
    fact_id: str


class ObservationItem(Row, frozen=True, array_like=True, tag="observation_item"):
    """A part of an observation's text, and the fact that it cites."""

    TABLE: ClassVar = "observation_items"
    KEY: ClassVar = ("analysis_run_id", "position")
    analysis_run_id: str
    position: int
    fact_id: str
    char_start: int
    char_end: int


class MentalModelPage(Row, frozen=True, array_like=True, tag="mental_model_page"):
    """The parts of a version of a mental model that was made from the facts about an entity.

    Attributes:
        entities: the ids of the entity and of all that are merged with it (JSON).
        blocks: section, id, first and last character in the text, rank and ids of the cited facts
            of each (JSON).
        note_end: how many characters at the beginning of the text were written by hand.
        replaced_by: the version about the merged entity that took its place, or None.
    """

    TABLE: ClassVar = "mental_model_pages"
    KEY: ClassVar = ("model_id",)
    model_id: str
    entities: str
    blocks: str
    note_end: int
    replaced_by: str | None


class MentalModelRefresh(Row, frozen=True, array_like=True, tag="mental_model_refresh"):
    """The ledger record `number` brought a mental model up to date; `at`: when (unix ms).

    `model_id`: the version that has been current since then.
    """

    TABLE: ClassVar = "mental_model_refreshes"
    KEY: ClassVar = ("model_id", "number")
    model_id: str
    number: int
    at: int


class RefreshTick(Row, frozen=True, array_like=True, tag="refresh_tick"):
    """The ledger record `number` considered which mental models are due for a refresh."""

    TABLE: ClassVar = "refresh_ticks"
    KEY: ClassVar = ("number",)
    number: int


class EntityChange(Row, frozen=True, array_like=True, tag="entity_change"):
    """The ledger record `number` merged an entity with another, or undid that."""

    TABLE: ClassVar = "entity_changes"
    KEY: ClassVar = ("entity_id", "number")
    entity_id: str
    number: int


class EntityFact(Row, frozen=True, array_like=True, tag="entity_fact"):
    """What a page about an entity needs to know of a fact about it.

    Attributes:
        event_id: the event that first stated it. sources: the running numbers of the events that it
            quotes (JSON).
        name: the entity's name in it. speaker: who said it in these words, or "".
        said_at: unix ms. first_day, last_day: what it is about (YYYY-MM-DD).
        attribute, value: of its slot, if the entity is the slot's subject; else "".
        beside: id and name of each other entity in it (JSON).
        ended_at: when it ceased to hold (unix ms).
        is_told: 0 if nobody states it any more, or if it was never true.
        number: the ledger record that last changed it.
    """

    TABLE: ClassVar = "entity_facts"
    KEY: ClassVar = ("entity_id", "fact_id")
    entity_id: str
    fact_id: str
    event_id: str
    sources: str
    text: str
    name: str
    speaker: str
    said_at: int
    first_day: str | None
    last_day: str | None
    attribute: str
    value: str
    beside: str
    ended_at: int | None
    is_told: int
    number: int


class RelationshipEvidence(Row, frozen=True, array_like=True, tag="relationship_evidence"):
    """A fact states a relationship between two entities, at `char_start` to `char_end` of its text.

    `confidence`: probability, 0 to 1, that it states it. `rule`: the rule or the slot that found
    it.
    """

    TABLE: ClassVar = "relationship_evidence"
    KEY: ClassVar = ("fact_id", "source_entity_id", "target_entity_id")
    fact_id: str
    source_entity_id: str
    target_entity_id: str
    relationship_type: RelationshipType
    confidence: float
    char_start: int
    char_end: int
    rule: str


class MentalModelRecallCount(Row, frozen=True, array_like=True, tag="mental_model_access"):
    """The number of recalls of a mental model that the ledger record `number` reports."""

    TABLE: ClassVar = "mental_model_accesses"
    KEY: ClassVar = ("number", "model_id")
    number: int
    model_id: str
    count: int


class Directive(Row, frozen=True, array_like=True, tag="directive"):
    """A standing instruction of a user to the agent, stated by an event.

    Attributes:
        form: what it is about; a later directive of the same form takes its place.
        text: the instruction in the user's words, at `char_start` to `char_end` of the event.
        lifts: 1 if it only ends earlier directives of its form.
        said_at: unix ms.
        is_standing: 0 once the event was edited or deleted.
    """

    TABLE: ClassVar = "directives"
    KEY: ClassVar = ("id",)
    id: str
    form: str
    text: str
    lifts: int
    event_id: str
    said_at: int
    char_start: int
    char_end: int
    number: int
    is_standing: int


class StatedDependency(Row, frozen=True, array_like=True, tag="dependency"):
    """A sentence of an event that states that something depends on something else.

    Attributes:
        said_at: unix ms.
        char_start: the sentence is at `char_start` to `char_end` of the event's text.
        is_standing: 0 once the event was edited or deleted.
    """

    TABLE: ClassVar = "dependencies"
    KEY: ClassVar = ("id",)
    id: str
    event_id: str
    said_at: int
    char_start: int
    char_end: int
    number: int
    is_standing: int


class DependencyTerm(Row, frozen=True, array_like=True, tag="dependency_term"):
    """A word in its plain form by which facts on one side of a dependency are found."""

    TABLE: ClassVar = "dependency_terms"
    KEY: ClassVar = ("dependency_id", "position")
    dependency_id: str
    position: int
    side: Literal["condition", "consequence"]
    term: str


class ModelWriteStats(Row, frozen=True, array_like=True, tag="writing"):
    """What a language model proposed for an event, recorded under the ledger record `number`.

    `about`: the event's number. `kept`, `repeated` and `refused`: numbers of accepted, duplicate
    and rejected proposals; `reasons` (JSON): rejections by reason. `cost`: in the currency of the
    configured prices.
    """

    TABLE: ClassVar = "writings"
    KEY: ClassVar = ("number",)
    number: int
    about: int
    model: str
    role: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float
    kept: int
    repeated: int
    refused: int
    reasons: str


class WriterPromptVersion(Row, frozen=True, array_like=True, tag="writer_text"):
    """A version of a writer prompt, in force from ledger record `number` on."""

    TABLE: ClassVar = "writer_texts"
    KEY: ClassVar = ("number",)
    number: int
    name: str
    text: str
    created_at: int


class Episode(Row, frozen=True, array_like=True, tag="episode"):
    """Events that belong together under a definition; `parent_id` is the version before it.

    Its times and its number of events are computed from its events, not stored in the row.
    """

    TABLE: ClassVar = "episodes"
    KEY: ClassVar = ("id",)
    id: str
    definition_id: str
    platform: str | None
    thread_id: str | None
    parent_id: str | None
    created_at: int


class EpisodeEvent(Row, frozen=True, array_like=True, tag="episode_event"):
    """An event of an episode; `occurred_at` is unix ms.

    `is_standing` is 0 once a late event has moved this one into another episode.
    """

    TABLE: ClassVar = "episode_events"
    KEY: ClassVar = ("episode_id", "event_id")
    episode_id: str
    event_id: str
    definition_id: str
    number: int
    occurred_at: int
    is_standing: int = 1


class WriterPromptProposal(Row, frozen=True, array_like=True, tag="writer_text_proposal"):
    """A version of a writer prompt that a model proposed, under the ledger record `number`.

    `role`: the version of the prompt that the model had when it proposed this one.
    """

    TABLE: ClassVar = "writer_text_proposals"
    KEY: ClassVar = ("id",)
    id: str
    number: int
    name: str
    text: str
    reason: str
    model: str
    role: str
    created_at: int


class WriterPromptDecision(Row, frozen=True, array_like=True, tag="writer_text_decision"):
    """The decision on a proposed version of a writer prompt, by the ledger record `number`."""

    TABLE: ClassVar = "writer_text_decisions"
    KEY: ClassVar = ("proposal_id",)
    proposal_id: str
    status: Literal["accepted", "rejected"]
    number: int
    decided_at: int


class AnalysisType(Row, frozen=True, array_like=True, tag="analysis_type"):
    """A user's own type of analysis; `patterns` (JSON): facet type -> regular expression."""

    TABLE: ClassVar = "analysis_types"
    KEY: ClassVar = ("id",)
    id: str
    name: str
    version: str
    output_type: str
    prompt_template: str | None
    patterns: str | None


class Facet(Row, frozen=True, array_like=True, tag="facet"):
    """A structured result of an analysis; `metadata_json`: its event, and its offsets there."""

    TABLE: ClassVar = "facets"
    KEY: ClassVar = ("id",)
    id: str
    analysis_run_id: str
    episode_id: str
    facet_type: str
    value: str
    entity_id: str | None
    confidence: float | None
    metadata_json: str
    created_at: int


class DeadLetter(Row, frozen=True, array_like=True, tag="dead_letter"):
    """A record that could not be decided, and its state."""

    TABLE: ClassVar = "dead_letters"
    KEY: ClassVar = ("number",)
    number: int
    kind: str
    reason: str
    state: Literal["parked", "retried", "dropped"]
    parked_at: int


class DecisionDependencies(Row, frozen=True, array_like=True, tag="decided"):
    """The dependencies of the decision on the ledger record `number`.

    `reads`: keys of its state queries. `writes`: keys of its rows. Both are ascending, eight bytes
    each. `restated`: replacement rows written by an erasure; None as long as the original change
    record is valid; empty after a full re-derivation, which resets dependency tracking.
    """

    TABLE: ClassVar = "decisions"
    KEY: ClassVar = ("number",)
    number: int
    reads: bytes
    writes: bytes
    restated: bytes | None


#: Every row type of the file; a change record has no others.
MemoryRow = (
    Fact
    | FactEntity
    | CausalLink
    | FactRelation
    | FactOccasion
    | ClaimSignature
    | DuplicateStatement
    | FactFingerprint
    | FactSentence
    | FactClaim
    | FactDays
    | MessageDate
    | FactSupersession
    | WithdrawnSupersession
    | StatedEnding
    | MergedSupersession
    | FactMerge
    | MemoryRetraction
    | RetractedFact
    | FactRecallCount
    | ProcessedEvent
    | Turn
    | MentalModel
    | MentalModelPage
    | MentalModelRefresh
    | MentalModelRecallCount
    | RefreshTick
    | EntityChange
    | EntityFact
    | RelationshipEvidence
    | Directive
    | StatedDependency
    | DependencyTerm
    | AnalysisRun
    | ObservationFact
    | FactUnits
    | ClusterFact
    | ClusterChange
    | ClusterConsolidation
    | ConsolidationTick
    | ObservationVersion
    | ObservationItem
    | PassTick
    | ObservationMerge
    | Dream
    | DreamFact
    | ModelWriteStats
    | WriterPromptVersion
    | Episode
    | EpisodeEvent
    | WriterPromptProposal
    | WriterPromptDecision
    | AnalysisType
    | Facet
    | StoredMemory
    | StoredMemoryVersion
    | StoredMemoryReference
    | StoredMemoryRecallCount
    | StoredMemoryArchival
    | MemoryConsolidation
    | MemoryParent
    | MemoryStatement
    | DeadLetter
    | DecisionDependencies
    | LearningRow
)
