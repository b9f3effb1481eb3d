"""Facts from plain text without a language model: pure functions from a message to what it says."""

from streams.language.analysis import (
    Analysis,
    Claim,
    Contact,
    Introduction,
    Mention,
    MentionType,
    Statement,
)
from streams.language.claims import ATTRIBUTES
from streams.language.mentions import mentions
from streams.language.signature import signature, tokens_for_signature
from streams.language.statements import analyse, is_question

__all__ = [
    "ATTRIBUTES",
    "Analysis",
    "Claim",
    "Contact",
    "Introduction",
    "Mention",
    "MentionType",
    "Statement",
    "analyse",
    "is_question",
    "mentions",
    "signature",
    "tokens_for_signature",
]
