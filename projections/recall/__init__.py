"""recall(): ranked memories with their sources, from the read models of one zone."""

from projections.recall.answer.recaller import Recaller
from projections.recall.question.encoding import TextEncoder
from projections.recall.question.query import Query
from projections.recall.question.sub_questions import MOST_SUB_QUESTIONS
from projections.recall.ranking.profiles import BUDGETS, DEFAULT_PROFILE, PROFILES, Profile
from projections.recall.ranking.reranking import Reranker

__all__ = [
    "BUDGETS",
    "DEFAULT_PROFILE",
    "MOST_SUB_QUESTIONS",
    "PROFILES",
    "Profile",
    "Query",
    "Recaller",
    "Reranker",
    "TextEncoder",
]
