"""The words of a query: tokenised as the full-text index is, without those that say nothing."""

from __future__ import annotations

import apsw

# Function words of English: they stand in every text and find nothing. Negations and question
# words that carry time or place are among them, since the arms do not read grammar.
_FUNCTION_WORDS = """
    a about above after again against all also am an and any are aren't as at be because been
    before being below between both but by can can't could couldn't did didn't do does doesn't
    doing don't down during each few for from further had hadn't has hasn't have haven't having he
    her here hers herself him himself his how i i'd i'll i'm i've if in into is isn't it it's its
    itself just let's me more most my myself no nor not of off on once only or other our ours
    ourselves out over own same she should shouldn't so some such than that that's the their
    theirs them themselves then there these they this those through to too under until up us very
    was wasn't we were weren't what when where which while who whom whose why will with won't
    would wouldn't you your yours yourself yourselves d ll m o re s t ve y
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

# More words than this make a query slower, not better.
MOST_WORDS = 64


class Tokeniser:
    """Splits text into the terms of the index (`porter unicode61 remove_diacritics 2`)."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._whole = connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
        self._stem = connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])

    def words(self, text: str) -> list[str]:
        """Return the words of a text, folded but not stemmed, in order."""
        return self._run(self._whole, text)

    def terms(self, text: str) -> list[str]:
        """Return the distinct index terms of a query, without stop words, in order."""
        kept = [word for word in self.words(text) if word not in STOP_WORDS]
        terms: dict[str, None] = {}
        for word in kept:
            for term in self._run(self._stem, word):
                terms[term] = None
            if len(terms) >= MOST_WORDS:
                break
        return list(terms)

    def _run(self, tokenizer: apsw.FTS5Tokenizer, text: str) -> list[str]:
        found = tokenizer(
            text.encode("utf-8", "replace"),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )
        return [str(word) for word in found]


def readable(text: str) -> str:
    """Return a text that can be encoded: without lone surrogates (as "?") and NUL (as a space)."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def match_any(terms: list[str]) -> str:
    """Return an FTS5 query for texts with any of the words; quoted, so nothing is an operator."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
