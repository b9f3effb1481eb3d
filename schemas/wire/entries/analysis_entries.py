"""Analyses in lists: types, runs, and the facets that they found."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.wire.entries.list_entries import Page

AnalysisStatus = Literal["completed", "blocked", "failed"]


class AnalysisType(msgspec.Struct, frozen=True, kw_only=True):
    """A type of analysis, and how many of its runs have each status."""

    id: Annotated[str, Meta(description="Id of the type: its name and its version.")]
    name: Annotated[str, Meta(description="Name of the type.")]
    version: Annotated[str, Meta(description="Version of the type.")]
    output_type: Annotated[str, Meta(description="Its output: text, or facets alone.")]
    prompt: Annotated[
        str | None, Meta(description="Prompt for a language model; null if it needs none.")
    ]
    patterns: Annotated[
        dict[str, str] | None,
        Meta(description="Facet type: regular expression; null if it has none."),
    ]
    completed: Annotated[int, Meta(description="Completed runs.")] = 0
    blocked: Annotated[int, Meta(description="Runs that are blocked.")] = 0
    failed: Annotated[int, Meta(description="Runs that failed.")] = 0


class AnalysisTypes(msgspec.Struct, frozen=True, kw_only=True):
    """All types of analyses."""

    types: Annotated[list[AnalysisType], Meta(description="The types, by id.")]


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """An analysis of an episode."""

    id: Annotated[str, Meta(description="Id of the analysis.")]
    type: Annotated[str, Meta(description="Id of its type.")]
    episode_id: Annotated[str, Meta(description="Id of the version of the episode.")]
    status: Annotated[str, Meta(description="completed, blocked or failed.")]
    text: Annotated[str | None, Meta(description="What it says; null if it has facets alone.")]
    error: Annotated[str | None, Meta(description="Why it failed.")]
    blocked_reason: Annotated[str | None, Meta(description="Why it is blocked.")]
    retries: Annotated[int, Meta(description="How often it was tried again.")]
    facets: Annotated[int, Meta(description="The number of its facets.")]
    previous: Annotated[
        str | None, Meta(description="Id of the analysis of the episode's version before.")
    ]
    episode_start: Annotated[str, Meta(description="When the episode's first event happened.")]
    episode_end: Annotated[str, Meta(description="When its last event happened.")]
    episode_events: Annotated[int, Meta(description="The number of its events.")]
    completed_at: Annotated[str | None, Meta(description="When the analysis was completed.")]


class AnalysisPage(Page[Analysis], frozen=True, kw_only=True):
    """A page of analyses, those of the latest episodes first."""

    analyses: Annotated[
        list[Analysis], Meta(description="The analyses, those of the latest episodes first.")
    ]


class Facet(msgspec.Struct, frozen=True, kw_only=True):
    """A structured result of an analysis, and where it is."""

    id: Annotated[str, Meta(description="Id of the facet.")]
    type: Annotated[str, Meta(description="Its type, such as topic, decision or pii_email.")]
    value: Annotated[str, Meta(description="The value; numbers are without separators.")]
    analysis_id: Annotated[str, Meta(description="Id of the analysis.")]
    analysis_type: Annotated[str, Meta(description="Id of the analysis's type.")]
    episode_id: Annotated[str, Meta(description="Id of the episode.")]
    entity_id: Annotated[str | None, Meta(description="Entity that it names, if there is one.")]
    confidence: Annotated[float | None, Meta(description="Confidence, from 0 to 1.")]
    event_id: Annotated[str, Meta(description="Id of the event that has it.")]
    start: Annotated[int, Meta(description="Its first character in the event's text.")]
    end: Annotated[int, Meta(description="The character after its last one.")]
    rule: Annotated[
        str | None, Meta(description="The rule that found it, or the type of the name.")
    ]
    count: Annotated[int | None, Meta(description="Number of messages that contain it.")]
    episode_start: Annotated[str, Meta(description="When the episode's first event happened.")]


class FacetPage(Page[Facet], frozen=True, kw_only=True):
    """A page of facets, those of the latest episodes first."""

    facets: Annotated[
        list[Facet], Meta(description="The facets, those of the latest episodes first.")
    ]


class AnalysisReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of analysing episodes, as numbers of analyses."""

    requested: Annotated[int, Meta(description="Analyses that were due.")]
    completed: Annotated[int, Meta(description="Those that were completed.")]
    blocked: Annotated[int, Meta(description="Those that are blocked.")]
    failed: Annotated[int, Meta(description="Those that failed.")]
    remaining: Annotated[
        int,
        Meta(
            description="Those whose episode grew meanwhile, or that got no answer; call again for "
            "them. With dry_run, all."
        ),
    ]
    calls: Annotated[
        int, Meta(description="Calls of the language model; with dry_run, at most.")
    ] = 0
    tokens: Annotated[int, Meta(description="Their tokens; with dry_run, at most.")] = 0
    cost: Annotated[float, Meta(description="Their cost in the prices' currency.")] = 0.0
    dry_run: Annotated[bool, Meta(description="Nothing was analysed.")] = False
    stopped: Annotated[
        str | None, Meta(description="Why the language model was not asked about all.")
    ] = None
