"""Facts from plain text without a language model: pure functions from a message to what it says."""

from streams.language.analysis import (
    Analysis,
    Claim,
    Contact,
    DateReference,
    Introduction,
    Mention,
    MentionType,
    Statement,
)
from streams.language.anchors import Anchor, anchor, beside, days
from streams.language.claims import ATTRIBUTES
from streams.language.dates import date_references, local_day
from streams.language.mentions import mentions
from streams.language.questions import completed, questions
from streams.language.sentences import sentences
from streams.language.signature import signature, tokens_for_signature
from streams.language.statements import analyse, is_question

__all__ = [
    "ATTRIBUTES",
    "Analysis",
    "Anchor",
    "Claim",
    "Contact",
    "DateReference",
    "Introduction",
    "Mention",
    "MentionType",
    "Statement",
    "analyse",
    "anchor",
    "beside",
    "completed",
    "date_references",
    "days",
    "is_question",
    "local_day",
    "mentions",
    "questions",
    "sentences",
    "signature",
    "tokens_for_signature",
]
