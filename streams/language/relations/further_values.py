"""Whether a value of a slot is additional, or a more detailed form of an earlier one.

The words of both values are compared: "dancing" adds nothing to "all dances".
"""

from __future__ import annotations

from recollect.streams.language.relations.content_words import content_words


class ToldValues:
    """Compares texts by their words, which are looked up once per text."""

    def __init__(self) -> None:
        self._words: dict[str, frozenset[str]] = {}

    def is_told(self, text: str, known: str) -> bool:
        """Whether a text has no word that another lacks; true if it has no words."""
        words = self._of(known)
        return all(any(_is_alike(word, other) for other in words) for word in self._of(text))

    def shared(self, text: str, other: str) -> int:
        """Return how many words of a text also occur in another."""
        words = self._of(other)
        return sum(any(_is_alike(word, each) for each in words) for word in self._of(text))

    def _of(self, text: str) -> frozenset[str]:
        if text not in self._words:
            self._words[text] = content_words(text)
        return self._words[text]


#: Two words are forms of one if one is a prefix of the other, up to this many letters.
_LEAST_LETTERS, _MOST_MORE = 4, 2


def _is_alike(one: str, other: str) -> bool:
    if one == other:
        return True
    few, more = (one, other) if len(one) <= len(other) else (other, one)
    return (
        len(few) >= _LEAST_LETTERS and len(more) - len(few) <= _MOST_MORE and more.startswith(few)
    )
