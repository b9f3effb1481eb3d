"""recall(): ranked memories with their sources, from the read models of one zone.

A query passes through six packages, each of which imports only itself and earlier ones:

1. `index`: the search index of the zone's files, in memory.
2. `question`: the query is parsed once, into a `ParsedQuestion` for each question in its text.
3. `arms`: each arm finds and scores turns and documents.
4. `ranking`: the scores become one order.
5. `answer`: the order becomes results, or an explanation. Its `Recaller` calls the other packages.
6. `context`: results become one block of text for an agent, or none.

The `Recaller` is given an encoder (`TextEncoder`) and a reranker, both optional.
"""

from recollect.projections.recall.answer.recaller import Recaller
from recollect.projections.recall.context.context_block import context_of
from recollect.projections.recall.question.encoding import TextEncoder
from recollect.projections.recall.question.query import RecallQuery
from recollect.projections.recall.question.sub_questions import MAX_SUB_QUESTIONS
from recollect.projections.recall.ranking.profiles import (
    BUDGETS,
    DEFAULT_PROFILE,
    PROFILES,
    Profile,
)
from recollect.projections.recall.ranking.reranking import Reranker

__all__ = [
    "BUDGETS",
    "DEFAULT_PROFILE",
    "MAX_SUB_QUESTIONS",
    "PROFILES",
    "Profile",
    "RecallQuery",
    "Recaller",
    "Reranker",
    "TextEncoder",
    "context_of",
]
