"""recall(): ranked memories with their sources, from the read models of one zone."""

from projections.recall.explaining import Explanation
from projections.recall.late import QueryTokens
from projections.recall.parts import MOST_PARTS, Part
from projections.recall.profiles import BUDGETS, DEFAULT_PROFILE, PROFILES, Profile
from projections.recall.recaller import Recaller
from projections.recall.reranking import Reranker
from projections.recall.types import DEFAULT_SCOPE, SCOPES, Answer, Query, Result

__all__ = [
    "BUDGETS",
    "DEFAULT_PROFILE",
    "DEFAULT_SCOPE",
    "MOST_PARTS",
    "PROFILES",
    "SCOPES",
    "Answer",
    "Explanation",
    "Part",
    "Profile",
    "Query",
    "QueryTokens",
    "Recaller",
    "Reranker",
    "Result",
]
