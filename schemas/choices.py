"""Fields with a closed set of values.

This module does not import msgspec, so that `--help` lists the values without loading it.
"""

from __future__ import annotations

from typing import Literal, get_args

EpisodeStrategy = Literal["thread", "session", "day", "time_window", "topic", "consolidation"]

Scope = Literal["events", "facts", "observations", "mental_models", "entities"]
SCOPES: tuple[Scope, ...] = ("events", "facts", "observations", "mental_models", "entities")
#: All scopes but entities, which must be requested explicitly.
DEFAULT_SCOPE: tuple[Scope, ...] = ("events", "facts", "observations", "mental_models")

Budget = Literal["low", "mid", "high"]
#: How an observation came about: "cluster" from a topic of facts, others by a pass over the facts.
ObservationKind = Literal[
    "cluster",
    "changes",
    "list",
    "history",
    "regular",
    "ahead",
    "cycle",
    "correlation",
    "series",
    "shared",
]

GraphMode = Literal["none", "low", "high", "dual"]

RebuildLevel = Literal["index", "project", "derive", "fresh"]

#: "Ada WORKS_WITH Bob", "the API DEPENDS_ON the database". UPDATES, EXTENDS and DERIVES are between
#: things. RELATES_TO is any other relationship, OTHER one by a verb of no known class.
RelationshipType = Literal[
    "WORKS_WITH",
    "MANAGES",
    "REPORTS_TO",
    "CREATES",
    "MODIFIES",
    "OWNS",
    "DEPENDS_ON",
    "BLOCKS",
    "RELATES_TO",
    "MENTIONS",
    "REFERENCES",
    "LOCATED_IN",
    "PART_OF",
    "HAS",
    "USES",
    "OTHER",
    "UPDATES",
    "EXTENDS",
    "DERIVES",
]
RELATIONSHIP_TYPES: tuple[RelationshipType, ...] = get_args(RelationshipType)
