"""Fields with a closed set of values. Without msgspec, so that --help can list the values."""

from __future__ import annotations

from typing import Literal

EpisodeStrategy = Literal["thread", "session", "day", "time_window", "topic", "consolidation"]

Scope = Literal["events", "facts", "observations", "mental_models", "entities"]
SCOPES: tuple[Scope, ...] = ("events", "facts", "observations", "mental_models", "entities")
#: All scopes but entities, which must be requested explicitly.
DEFAULT_SCOPE: tuple[Scope, ...] = ("events", "facts", "observations", "mental_models")

Budget = Literal["low", "mid", "high"]
GraphMode = Literal["none", "low", "high", "dual"]

RebuildLevel = Literal["index", "project", "derive", "fresh"]
