"""Index terms: the words of a text as the full-text indexes have them, without stop words."""

from __future__ import annotations

import apsw

from recollect.text.stopwords import STOP_WORDS

# With more words a query gets slower, and no better.
MAX_WORDS = 64
# A document of a hundred words takes 10 KB.
_MAX_CACHED = 4_096
# Of queries, single words come again, and longer texts do not.
_LONGEST_CACHED = 32


class Tokeniser:
    """Splits text into the terms of the index (`porter unicode61 remove_diacritics 2`)."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._whole = connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
        self._stem = connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        self._terms: dict[str, tuple[str, ...]] = {}
        self._of_documents: dict[str, frozenset[str]] = {}

    def words(self, text: str) -> list[str]:
        """Return the normalised words of a text, not stemmed, in order."""
        return self._run(self._whole, text)

    def terms(self, text: str) -> list[str]:
        """Return the distinct index terms of a query, without stop words, in order."""
        if (cached := self._terms.get(text)) is not None:
            return list(cached)
        words = (word for word in self.words(text) if word not in STOP_WORDS)
        terms = dict.fromkeys(self._run(self._stem, " ".join(dict.fromkeys(words))))
        found = list(terms)[:MAX_WORDS]
        if len(text) <= _LONGEST_CACHED:
            if len(self._terms) >= _MAX_CACHED:
                self._terms.clear()
            self._terms[text] = tuple(found)
        return found

    def distinct_terms(self, text: str) -> frozenset[str]:
        """Return all index terms of a document; those of the last few thousand are cached."""
        if text not in self._of_documents:
            if len(self._of_documents) >= _MAX_CACHED:
                self._of_documents.clear()
            self._of_documents[text] = frozenset(self._run(self._stem, text))
        return self._of_documents[text]

    def all_terms(self, text: str) -> list[str]:
        """Return every index term of a text, in order, as the index has them."""
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
