"""When a value of a slot is a further one, or tells more of one that was told before.

What is likened are the words of both: "dancing" tells nothing that "all dances" did not.
"""

from __future__ import annotations

from streams.language.relations.content_words import content_words

#: Two words of which one begins the other are forms of one, if they differ in no more letters.
_LEAST_LETTERS, _MOST_MORE = 4, 2


def is_told(text: str, known: str) -> bool:
    """Whether a text tells nothing that another does not tell as well; so does one of no words."""
    words = content_words(known)
    return all(any(_is_alike(word, other) for other in words) for word in content_words(text))


def words_shared(text: str, other: str) -> int:
    """Return how many words of a text are told in another too."""
    words = content_words(other)
    return sum(any(_is_alike(word, each) for each in words) for word in content_words(text))


def _is_alike(one: str, other: str) -> bool:
    few, more = sorted((one, other), key=len)
    return few == more or (
        len(few) >= _LEAST_LETTERS and len(more) - len(few) <= _MOST_MORE and more.startswith(few)
    )
