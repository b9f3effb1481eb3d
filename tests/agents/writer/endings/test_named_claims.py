"""Which of several values a sentence that ends something names."""

from __future__ import annotations

import pytest

from recollect.schemas.changes import FactClaim
from recollect.streams.agents.writer.claims.claim_ends import named_claims
from recollect.streams.language.relations.content_words import content_words


@pytest.mark.parametrize(
    ("sentence", "values", "named"),
    [
        ("I sold the red canoe.", ["red canoe"], ["red canoe"]),
        ("I sold the canoe.", ["red canoe", "piano"], ["red canoe"]),
        # A word that several values have names none of them.
        ("I left the harbour group.", ["harbour choir", "harbour rowing crew"], []),
        ("I left the harbour choir.", ["harbour choir", "harbour rowing crew"], ["harbour choir"]),
        ("I left the rowers at the harbour.", ["harbour choir", "harbour rowers"],
         ["harbour rowers"]),
        # The same value in more words.
        ("I left the choir.", ["choir", "choir on Mondays"], ["choir", "choir on Mondays"]),
        ("I sold the bicycle.", ["piano"], []),
    ],
)  # fmt: skip
def test_a_sentence_names_the_values_that_it_tells_apart(
    sentence: str, values: list[str], named: list[str]
) -> None:
    claims = [FactClaim(value, "ada", "membership", value, 0) for value in values]
    found = named_claims(claims, content_words(sentence))
    assert [claim.value for claim in found] == named
