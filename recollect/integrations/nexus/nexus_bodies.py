"""The bodies of requests to Nexus' routes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recollect import MemoryScope, MemoryVisibility, SandboxProvider, StoredMemoryType

_MAX_BATCH = 1_000
_Flag = Annotated[bool, Meta(description="Whether to show this about the memory.")]
ZoneId = Annotated[str | None, Meta(description="The zone; by default, the token's only one.")]


class StoreBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `store`, with Nexus' defaults."""

    content: Annotated[str, Meta(description="The text to remember.")]
    scope: Annotated[MemoryScope, Meta(description="Who owns it: agent, user, zone or global.")] = (
        "user"
    )
    memory_type: Annotated[StoredMemoryType, Meta(description="The type of memory.")] = "fact"
    importance: Annotated[float | None, Meta(description="From 0 to 1.")] = None
    namespace: Annotated[str | None, Meta(description="A path, such as /people/alice.")] = None
    path_key: Annotated[str | None, Meta(description="The upsert key in the namespace.")] = None
    visibility: Annotated[MemoryVisibility, Meta(description="Who else reads it.")] = "private"
    user_id: Annotated[str | None, Meta(description="The user; by default, the token's.")] = None
    agent_id: Annotated[str | None, Meta(description="The agent; by default, the token's.")] = None
    valid_at: Annotated[str | None, Meta(description="Since when it is true, in ISO 8601.")] = None
    generate_embedding: _Flag = True
    extract_entities: _Flag = True
    extract_temporal: _Flag = True
    extract_relationships: _Flag = False
    store_to_graph: _Flag = False
    classify_stability: _Flag = True
    detect_evolution: _Flag = False
    resolve_coreferences: _Flag = False
    resolve_temporal: _Flag = False
    zone_id: ZoneId = None


_Id = Annotated[str, Meta(description="Id of a memory, or of one of its versions.")]


class IdBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `approve` and `deactivate`."""

    memory_id: _Id
    zone_id: ZoneId = None


class BatchBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of the batches."""

    memory_ids: Annotated[
        list[str],
        Meta(min_length=1, max_length=_MAX_BATCH, description="Ids of memories."),
    ]
    zone_id: ZoneId = None


class StoreBatchBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a batch of memories to store."""

    memories: Annotated[
        list[StoreBody],
        Meta(min_length=1, max_length=_MAX_BATCH, description="The memories to store."),
    ]
    zone_id: ZoneId = None


class InferenceBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `infer`."""

    query: Annotated[str, Meta(description="The question.")]
    context: Annotated[str, Meta(description="A text of any length, to read.")] = ""
    context_paths: Annotated[
        list[str], Meta(description="Virtual paths, or ids, of memories to read.")
    ] = []
    model: Annotated[str | None, Meta(description="A model of the home's accounts.")] = None
    max_iterations: Annotated[int, Meta(description="Maximum rounds of code, up to 100.")] = 15
    max_duration_seconds: Annotated[
        float, Meta(description="Maximum duration in seconds, up to 3,600.")
    ] = 120.0
    max_total_tokens: Annotated[int, Meta(description="Maximum number of tokens.")] = 100_000
    sandbox_provider: Annotated[SandboxProvider, Meta(description="Where the code runs.")] = (
        "process"
    )
    stream: Annotated[bool, Meta(description="Send server-sent events while it runs.")] = False
    zone_id: ZoneId = None


class ConsolidateBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `consolidate`, with Nexus' defaults; `method` is affinity or criteria."""

    method: Annotated[
        Literal["affinity", "criteria"],
        Meta(description="affinity, or criteria: all that the other fields select."),
    ] = "affinity"
    memory_type: Annotated[
        StoredMemoryType | None, Meta(description="Only memories of this type.")
    ] = None
    scope: Annotated[MemoryScope | None, Meta(description="Only memories of this scope.")] = None
    namespace: Annotated[str | None, Meta(description="Only memories in this namespace.")] = None
    importance_max: Annotated[
        float | None, Meta(description="Only memories of at most this importance.")
    ] = None
    beta: Annotated[
        float, Meta(description="Weight of similar meaning; that of closeness in time is 1 - beta.")
    ] = 0.7
    lambda_decay: Annotated[
        float, Meta(description="Decay rate of the closeness in time, per time unit.")
    ] = 0.1
    time_unit_hours: Annotated[float, Meta(description="Length of that time unit, in hours.")] = (
        24.0
    )
    affinity_threshold: Annotated[
        float, Meta(description="The minimum affinity within a group.")
    ] = 0.85
    linkage: Annotated[
        Literal["average", "single", "complete"],
        Meta(description="How the affinity of two clusters is computed."),
    ] = "average"
    min_cluster_size: Annotated[int, Meta(description="The minimum size of a group.")] = 2
    max_levels: Annotated[int, Meta(description="Maximum number of levels.")] = 3
    zone_id: ZoneId = None
