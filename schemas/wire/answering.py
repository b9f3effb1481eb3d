"""Recall query and response types."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from recollect.schemas.choices import DEFAULT_SCOPE, Budget, GraphMode, Scope

if TYPE_CHECKING:
    #: ISO 8601 with a zone, unix milliseconds, a datetime with a zone or, for a day, a date.
    Time = str | int | date
else:
    # JSON has no datetimes, so they become ISO 8601.
    Time = str | int


class Query(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A question. Only `query`, its text, is required.

    `time_after` and `time_before` are exclusive bounds. `max_tokens` is filled greedily, best
    result first; if the best result alone exceeds it, only the beginning of its text is returned.

    >>> Query("Where does Ada live?", max_results=5, scope=("facts",)).max_results
    5
    """

    query: Annotated[
        str,
        Meta(
            description="The question, in plain words, or keywords.",
            extra_json_schema={"maxLength": 10_000},
        ),
    ]
    max_results: Annotated[
        int,
        Meta(
            description="Maximum number of results.",
            extra_json_schema={"minimum": 1, "maximum": 1000},
        ),
    ] = 20
    max_tokens: Annotated[
        int | None, Meta(description="Maximum number of tokens of all texts together.")
    ] = None
    budget: Annotated[
        Budget, Meta(description="Search effort: low is fastest, high also follows causal links.")
    ] = "mid"
    scope: Annotated[
        tuple[Scope, ...],
        Meta(
            description="Kinds of memory to search: events (messages as written), facts, "
            "observations (what several facts show), mental_models (stored reports), entities "
            "(people and things)."
        ),
    ] = DEFAULT_SCOPE
    entity: Annotated[
        str | None,
        Meta(description="Only memories about, or written by, this person or thing: name or id."),
    ] = None
    time_after: Annotated[
        Time | None,
        Meta(
            description="Only what was said after this time: ISO 8601 with a zone, or unix "
            "milliseconds."
        ),
    ] = None
    time_before: Annotated[
        Time | None, Meta(description="Only what was said before this time.")
    ] = None
    platform: Annotated[
        str | None, Meta(description="Only memories from this platform, such as slack or email.")
    ] = None
    known_at: Annotated[
        Time | None,
        Meta(
            description="Answer from what was known at this time, or at this consistency token. "
            "Anything forgotten since is left out."
        ),
    ] = None
    valid_at: Annotated[Time | None, Meta(description="Only what was true at this time.")] = None
    asked_at: Annotated[
        Time | None,
        Meta(description='Reference time for words such as "yesterday"; now by default.'),
    ] = None
    min_score: Annotated[
        float,
        Meta(
            description="Leave out results with a lower score.",
            extra_json_schema={"minimum": 0, "maximum": 1},
        ),
    ] = 0.0
    explain: Annotated[
        bool, Meta(description="Include each result's rank in every search method.")
    ] = False
    profile: Annotated[
        str,
        Meta(description="How the search methods are combined: default, rrf, recent or graph."),
    ] = "default"
    source_event_ids: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Only memories from the events with these source ids; an observation only "
            "if all of its events are among them."
        ),
    ] = None
    graph_mode: Annotated[
        GraphMode,
        Meta(
            description="Follow relationships: from the entities of the question (low), from its "
            "themes (high), both (dual) or not at all (none)."
        ),
    ] = "none"

    def plain(self) -> Query:
        """Return the question alone, without the fields that a subclass adds."""
        return Query(**{name: getattr(self, name) for name in Query.__struct_fields__})


class DateRange(msgspec.Struct, frozen=True):
    """The days that a fact is about, both inclusive (YYYY-MM-DD)."""

    first: Annotated[str, Meta(description="First day (YYYY-MM-DD).")]
    last: Annotated[str, Meta(description="Last day, inclusive (YYYY-MM-DD).")]

    def __str__(self) -> str:
        return self.first if self.first == self.last else f"{self.first} to {self.last}"

    @classmethod
    def of(cls, first: str | None, last: str | None) -> DateRange | None:
        """Return the range between two days; None without them."""
        return None if first is None or last is None else cls(first, last)


class StatementCount(msgspec.Struct, frozen=True):
    """How often a fact was said, and when it was said first and last."""

    count: Annotated[int, Meta(description="Number of events that state it.")]
    first: Annotated[str, Meta(description="Time of the first of them.")]
    last: Annotated[str, Meta(description="Time of the last of them.")]


class MemoryRevision(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier or later version of a memory, and when the later one replaced the earlier."""

    id: Annotated[str, Meta(description="Id of the other memory.")]
    text: Annotated[str, Meta(description="Its text.")]
    at: Annotated[str, Meta(description="Time of the change.")]


class Uncertainty(msgspec.Struct, frozen=True, kw_only=True):
    """Why a fact is uncertain: what was stated to decide it has changed since."""

    since: Annotated[str, Meta(description="Time of the change.")]
    dependency: Annotated[str, Meta(description="The sentence that states the dependency.")]
    change: Annotated[str, Meta(description="What changed, as a fact.")]
    source_event_ids: Annotated[
        list[str], Meta(description="Source ids of the events of the two, in this order.")
    ]

    def __str__(self) -> str:
        return f'uncertain since {self.since[:10]}: "{self.dependency}"; "{self.change}"'


class SupportingFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that supports another result."""

    id: Annotated[str, Meta(description="Id of the fact.")]
    text: Annotated[str, Meta(description="Its text.")]
    as_of: Annotated[str, Meta(description="When it was said.")]
    source_event_id: Annotated[str, Meta(description="Source id of the event that states it.")]
    when: Annotated[
        DateRange | None, Meta(description="Days that it speaks of; null if none are known.")
    ] = None
    uncertain: Annotated[
        Uncertainty | None,
        Meta(description="Why it is uncertain; null if nothing that it depends on has changed."),
    ] = None


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A recalled memory."""

    id: Annotated[str, Meta(description="Id of the memory.")]
    type: Annotated[str, Meta(description="event, fact, observation, mental_model or entity.")]
    text: Annotated[str, Meta(description="Text of the memory.")]
    as_of: Annotated[str, Meta(description="When it was said.")]
    score: Annotated[
        float, Meta(description="How well it answers, from 0 to 1; comparable between answers.")
    ]
    is_stale: Annotated[bool, Meta(description="Its sources have changed since.")]
    entity_ids: Annotated[list[str], Meta(description="Entities that it is about.")]
    platform: Annotated[str | None, Meta(description="Platform of its source.")]
    sender_name: Annotated[
        str | None,
        Meta(
            description="Author of the message, or of the message that states a fact; null for "
            "other types."
        ),
    ]
    source_event_ids: Annotated[
        list[str],
        Meta(description="Source ids of the events that it comes from."),
    ]
    arms: Annotated[
        dict[str, int] | None,
        Meta(description="Rank in each search method that found it; with explain."),
    ] = None
    similarity: Annotated[
        float | None, Meta(description="Cosine similarity to the question; with explain.")
    ] = None
    supersedes: Annotated[
        list[MemoryRevision], Meta(description="Memories that it replaced, latest first.")
    ] = []
    superseded_by: Annotated[
        list[MemoryRevision], Meta(description="Memories that replaced it, latest first.")
    ] = []
    facts: Annotated[
        list[SupportingFact],
        Meta(description="Facts of an observation or an entity, nearest first."),
    ] = []
    said: Annotated[
        StatementCount | None,
        Meta(description="How often a fact was said; left out of other memories."),
    ] = None
    hop_path: Annotated[
        list[SupportingFact],
        Meta(description="Facts that lead from a name in the question to this one, in order."),
    ] = []
    sub_question: Annotated[
        str | None, Meta(description="The sub-question that it answers, if there are several.")
    ] = None
    is_cut: Annotated[
        bool,
        Meta(description="Only the beginning of its text is given, since max_tokens is too low."),
    ] = False
    when: Annotated[
        DateRange | None,
        Meta(description="Days that a fact speaks of, both inclusive; left out if none are known."),
    ] = None
    need: Annotated[
        str | None,
        Meta(
            description="Kind of need, such as food, for which a context block has it although the "
            "task may not be similar to it."
        ),
    ] = None
    context: Annotated[
        str | None,
        Meta(
            description="Context of a fact: the earlier message that it answers or corrects, or "
            "the subject line above it; left out if there is none."
        ),
    ] = None
    uncertain: Annotated[
        Uncertainty | None,
        Meta(
            description="Why a fact, or a fact of a message, an observation or a mental model, is "
            "uncertain; left out if none is."
        ),
    ] = None


class RecallAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question."""

    query: Annotated[str, Meta(description="The question.")]
    results: Annotated[list[Result], Meta(description="The results, best first.")]
    ms: Annotated[
        float, Meta(description="Search time in milliseconds, without embedding the question.")
    ]
    relevant: Annotated[
        float, Meta(description="Probability that the zone has an answer, from 0 to 1.")
    ] = 0.0


class ContextBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A block for an agent's prompt."""

    block: Annotated[
        str,
        Meta(
            description="The block, in tags and marked as data, not instructions; empty if nothing "
            "is relevant."
        ),
    ]
    items: Annotated[
        list[Result], Meta(description="The memories in the block, in the order of its lines.")
    ]
    tokens: Annotated[int, Meta(description="Number of tokens of the whole block.")]
    ms: Annotated[float, Meta(description="Duration in milliseconds.")]


class Reflection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A report on a question from every kind of memory."""

    query: Annotated[str, Meta(description="The question.")]
    text: Annotated[str, Meta(description="The report in Markdown.")]
    results: Annotated[list[Result], Meta(description="The memories that it cites, in order.")]
    stale_ids: Annotated[
        list[str], Meta(description="Ids of cited memories that may be out of date.")
    ] = []
    saved_as: Annotated[
        str | None, Meta(description="Id of the mental model in which the report was saved.")
    ] = None
    ms: Annotated[float, Meta(description="Duration in milliseconds.")]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A memory's rank in the answer to a question, or why it is not in the answer."""

    query: Annotated[str, Meta(description="The question.")]
    id: Annotated[str, Meta(description="Id of the memory.")]
    type: Annotated[str, Meta(description="Its type.")]
    rank: Annotated[
        int | None,
        Meta(description="Its rank in the answer, from 1; null if it is not in the answer."),
    ] = None
    score: Annotated[
        float | None, Meta(description="Its score in the answer; null if it is not in the answer.")
    ] = None
    arms: Annotated[
        dict[str, int], Meta(description="Its rank in each retrieval arm that found it.")
    ]
    fused_rank: Annotated[
        int | None,
        Meta(
            description="Rank of its message after the arms are fused; only messages that pass the "
            "filters count."
        ),
    ] = None
    dropped_by: Annotated[str | None, Meta(description="The step at which it was dropped.")] = None
    reason: Annotated[str, Meta(description="Why it was dropped.")] = ""
    sub_question: Annotated[
        str | None, Meta(description="The sub-question that this is about, if there are several.")
    ] = None


class ProvenanceStep(msgspec.Struct, frozen=True):
    """A step on the way from a memory to its sources."""

    description: Annotated[str, Meta(description="What the step is, in one line.")]
    details: Annotated[list[str], Meta(description="The texts quoted at this step.")] = []


class Provenance(msgspec.Struct, frozen=True, omit_defaults=True):
    """A memory, and the steps down to its sources."""

    id: Annotated[str, Meta(description="Id of the memory.")]
    type: Annotated[str, Meta(description="Its type.")]
    text: Annotated[str, Meta(description="Its text.")]
    source_event_ids: Annotated[
        list[str],
        Meta(description="Source ids of the events that it is derived from."),
    ]
    steps: Annotated[
        list[ProvenanceStep], Meta(description="The steps down to its sources, nearest first.")
    ]
    said: Annotated[
        StatementCount | None,
        Meta(description="How often a fact was said; left out of other memories."),
    ] = None
    recall: Annotated[
        Explanation | None,
        Meta(description="Its rank in the answer to the question, if a question was given."),
    ] = None
