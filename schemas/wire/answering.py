"""A question and its answer: memories, their sources, and why others were not answered."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

Scope = Literal["events", "facts", "observations", "mental_models", "entities"]
Budget = Literal["low", "mid", "high"]

SCOPES: tuple[Scope, ...] = ("events", "facts", "observations", "mental_models", "entities")
#: Everything but entities, which must be asked for (A14).
DEFAULT_SCOPE: tuple[Scope, ...] = ("events", "facts", "observations", "mental_models")

if TYPE_CHECKING:
    #: ISO 8601 with a zone, unix milliseconds, or a datetime with a zone.
    Time = str | int | datetime
else:
    # JSON has no datetimes, so they become ISO 8601.
    Time = str | int


class Query(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A question. Only `query`, its text, is required.

    `time_after` and `time_before` are exclusive bounds. `max_tokens` is filled greedily, best
    result first.

    >>> Query("Where does Ada live?", max_results=5, scope=("facts",)).max_results
    5
    """

    query: Annotated[str, Meta(description="The question, in plain words, or keywords.")]
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
            "observations (what several facts show), mental_models (kept reports), entities "
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
            description="Answer from what was known at this time, or at a consistency token; "
            "without what was forgotten since."
        ),
    ] = None
    valid_at: Annotated[Time | None, Meta(description="Only what was true at this time.")] = None
    asked_at: Annotated[
        Time | None,
        Meta(description='The time from which words such as "yesterday" count; now by default.'),
    ] = None
    min_score: Annotated[
        float,
        Meta(
            description="Leave out results with a lower score.",
            extra_json_schema={"minimum": 0, "maximum": 1},
        ),
    ] = 0.0
    explain: Annotated[
        bool, Meta(description="Give each result its rank in every retrieval arm.")
    ] = False
    profile: Annotated[str, Meta(description="The ranking profile.")] = "default"
    source_event_ids: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Only memories from these events, by their sources' own ids; an "
            "observation only if it rests on no others."
        ),
    ] = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The memory before a change, or after it: its id and text, and the time of the change."""

    id: str
    text: str
    at: str


class Bundled(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that comes with the observation that it supports, or that led to another."""

    id: str
    text: str
    as_of: str


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory that was recalled.

    `score`, 0 to 1, means the same in every answer: how well this answers in comparison with the
    best possible result, times the likelihood that anything found is relevant. `arms` gives the
    rank in each arm that found it, and `similarity` the cosine of the question's vector and the
    memory's own (a fact's is that of its sentence as it was said), where both have one; they come
    with `explain`. `source_event_ids` is empty for a mental model alone: a command wrote it, and
    commands are no events that could be read. `supersedes` is what the memory
    replaced, and `superseded_by` what replaced it, latest first; those of a turn are those of the
    facts in it. `facts` are the newest that support an observation; they are not results of their
    own as well. `led_by`: of the end of a chain, the facts that lead from a name in the question to
    it, in order. `part`: which of several questions asked at once it answers. `sender_name`: who
    said it; None of what nobody said in so many words.
    """

    id: str
    type: str
    text: str
    as_of: str
    score: float
    is_stale: bool
    entity_ids: list[str]
    platform: str | None
    sender_name: str | None
    source_event_ids: list[str]
    arms: dict[str, int] | None = None
    similarity: float | None = None
    supersedes: list[Change] = []
    superseded_by: list[Change] = []
    facts: list[Bundled] = []
    led_by: list[Bundled] = []
    part: str | None = None


class RecallAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The results, best first, and how long finding them took (without embedding the query).

    `relevant`, 0 to 1: how likely it is that the memory has anything to say on the query at all.
    """

    query: str
    results: list[Result]
    ms: float
    relevant: float = 0.0


class ContextBlock(msgspec.Struct, frozen=True, kw_only=True):
    """What a memory has to say on a task, to be put before an agent (A25).

    `block` is one text, framed as data, or empty where nothing is relevant; `items` are the
    memories in it, in the order of its lines; `tokens` is how many the block takes, frame
    included; `ms` how long it took.
    """

    block: str
    items: list[Result]
    tokens: int
    ms: float


class Reflection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What all kinds of memory say on a question, as one report.

    `text` is the report in Markdown; `results` are what it cites, in its order: mental models,
    observations, facts, turns. `stale` are the ids of those that may be out of date. `kept_as` is
    the id of the mental model under which the report was kept, where that was asked.
    """

    query: str
    text: str
    results: list[Result]
    stale: list[str] = []
    kept_as: str | None = None
    ms: float


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one memory in one answer.

    `rank` is its place in the answer, from 1, and `score` what it scored there; None where it is
    not in it: then `dropped_by` is the step at which it fell out, and `because` says why.
    `arms` gives its rank in every arm that found it, and `fused` the rank of its turn by all
    arms together, among what the filters let through. `part`: of several questions asked at once,
    the one that it answers, or for which it came furthest.
    """

    query: str
    id: str
    type: str
    rank: int | None = None
    score: float | None = None
    arms: dict[str, int]
    fused: int | None = None
    dropped_by: str | None = None
    because: str = ""
    part: str | None = None


class Link(msgspec.Struct, frozen=True):
    """One step of the way that a memory came, with what it says."""

    what: str
    details: list[str] = []


class Chain(msgspec.Struct, frozen=True, omit_defaults=True):
    """A memory and the steps that led to it, nearest first.

    `recall`: what became of it in the answer to a question, where one was asked.
    """

    id: str
    type: str
    text: str
    source_event_ids: list[str]
    steps: list[Link]
    recall: Explanation | None = None
