"""The types of relationships between two entities."""

from __future__ import annotations

from typing import Literal, get_args

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
