"""Index terms: the stemmed words of a text, as in the full-text indexes."""

from __future__ import annotations

import apsw

from recollect.text.stopwords import STOP_WORDS

# Maximum number of terms of a query. More terms make it slower, but results no better.
MAX_WORDS = 64
# Entries per cache; a document of a hundred words takes 10 KB.
_MAX_CACHED = 4_096
# Only short queries, such as single words, are cached: longer ones rarely recur.
_MAX_CACHED_CHARACTERS = 32


class Tokeniser:
    """Splits text into the terms of the index (`porter unicode61 remove_diacritics 2`)."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._unstemmed = connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
        self._stem = connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        self._query_terms: dict[str, tuple[str, ...]] = {}
        self._document_terms: dict[str, frozenset[str]] = {}

    def words(self, text: str) -> list[str]:
        """Return the normalised, unstemmed words of a text, in order."""
        return self._run(self._unstemmed, text)

    def query_terms(self, text: str) -> list[str]:
        """Return the distinct index terms of a query, without stop words, in order."""
        if (cached := self._query_terms.get(text)) is not None:
            return list(cached)
        words = (word for word in self.words(text) if word not in STOP_WORDS)
        terms = dict.fromkeys(self._run(self._stem, " ".join(dict.fromkeys(words))))
        distinct = list(terms)[:MAX_WORDS]
        if len(text) <= _MAX_CACHED_CHARACTERS:
            if len(self._query_terms) >= _MAX_CACHED:
                self._query_terms.clear()
            self._query_terms[text] = tuple(distinct)
        return distinct

    def document_terms(self, text: str) -> frozenset[str]:
        """Return the distinct index terms of a document, stop words included; cached."""
        if text not in self._document_terms:
            if len(self._document_terms) >= _MAX_CACHED:
                self._document_terms.clear()
            self._document_terms[text] = frozenset(self._run(self._stem, text))
        return self._document_terms[text]

    def all_terms(self, text: str) -> list[str]:
        """Return every index term of a text, in order, with repetitions and stop words."""
        return self._run(self._stem, text)

    def _run(self, tokenizer: apsw.FTS5Tokenizer, text: str) -> list[str]:
        found = tokenizer(
            text.encode("utf-8", "replace"),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )
        return [str(word) for word in found]
