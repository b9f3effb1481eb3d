"""Broad needs: tasks about an entity as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recollect.text.lexicon import FUNCTION_WORDS, word_set
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: Words that ask for events; without one, a page is shown from its beginning.
EVENT_WORDS = word_set("happened happen happening happens life lately recently recent new news up")
#: Words that name no topic.
_GENERAL = EVENT_WORDS | word_set(
    "tell know known remember about everything anything all overview summary summarise summarize "
    "profile describe brief briefing prepare preparing meet meeting call meetup catch story far "
    "please person people learn learned learnt going been give show list main important things "
    "thing facts"
)


def is_broad(text: str, names: Iterable[str]) -> bool:
    """Return whether a task names an entity, and no further topic."""
    own = {lower for name in names for lower in _lowers(name)}
    return bool(own) and all(
        lower in own or lower in _GENERAL or lower in FUNCTION_WORDS or lower in STOP_WORDS
        for lower in _lowers(text)
    )


def _lowers(text: str) -> Iterator[str]:
    return (lower.removesuffix("'s") for lower in tokenise(text).lowers)


def asks_for_events(text: str) -> bool:
    """Return whether a broad task asks for what happened."""
    return not EVENT_WORDS.isdisjoint(tokenise(text).lowers)
