"""recall(): ranked memories with their sources, from the read models of one zone."""

from projections.recall.explaining import Explanation
from projections.recall.late import QueryTokens
from projections.recall.profiles import BUDGETS, DEFAULT_PROFILE, Profile
from projections.recall.recaller import Recaller
from projections.recall.types import DEFAULT_SCOPE, SCOPES, Answer, Query, Result

__all__ = [
    "BUDGETS",
    "DEFAULT_PROFILE",
    "DEFAULT_SCOPE",
    "SCOPES",
    "Answer",
    "Explanation",
    "Profile",
    "Query",
    "QueryTokens",
    "Recaller",
    "Result",
]
