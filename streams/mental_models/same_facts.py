"""When two facts are duplicates: by their words, or by the value that they state (B10).

Vectors are not used. Names are compared by the entities that they refer to, so two people with the
same name are distinct, and so are names, numbers or negations that differ in a single letter.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from recollect.schemas.names import normalise_name
from recollect.streams.language.grammar.verbs import is_past
from recollect.streams.language.references.standing_alone import left_open
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.language.relations.likeness import turned
from recollect.streams.mental_models.page import PageFact, is_weak
from recollect.text.lexicon import NOT_PAST
from recollect.text.tokenizer import tokenise

#: Facts about an event on no named day are duplicates only if stated within this time.
SAME_TIME_MS = 86_400_000
#: Words whose reference depends on the speaker, the addressee or the context.
_OPEN = re.compile(
    r"\b(?:I|me|my|mine|we|us|our|ours|you|your|yours|it|its|they|them|their|this|that|these|those|"
    r"here|there|so)\b",
    re.IGNORECASE,
)
_ARTICLES = frozenset({"a", "an", "the"})
_NUMBER = re.compile(r"\d+")


class Meaning(NamedTuple):
    """The comparable content of a fact: facts with equal keys are duplicates.

    `is_timeless`: the content does not depend on when it was said, or names its days.
    """

    key: Hashable
    reason: str
    is_timeless: bool


def meanings(fact: PageFact, entity_id: str) -> Iterator[Meaning]:
    """Yield what a fact about an entity says; nothing if that depends on who says it, or where."""
    core = fact.text.removeprefix(f"{fact.speaker}: ") if fact.speaker else fact.text
    if is_weak(fact) or _OPEN.search(core) or (fact.speaker and fact.name == fact.speaker):
        return
    tokens = tokenise(core)
    if left_open(tokens, 0, len(tokens.words), (), 0) not in ("nothing", "aside"):
        return
    names = {(entity_id, fact.name), *fact.beside}
    happened = any(is_past(lower) and lower not in NOT_PAST for lower in tokens.lowers)
    words = (lower for lower in tokenise(_with_ids(core, names)).lowers if lower not in _ARTICLES)
    key = (turned(" ".join(words)), fact.days)
    yield Meaning(key, "the same words", is_timeless=not happened or fact.days is not None)
    if fact.attribute and fact.days is None and not _says_more(core, fact):
        slot = (entity_id, fact.attribute, normalise_name(fact.value))
        yield Meaning(slot, "the same value", is_timeless=True)


def telling_words(fact: PageFact) -> frozenset[str]:
    """Return words, in lower case, that every fact with the same words has."""
    core = fact.text.removeprefix(f"{fact.speaker}: ") if fact.speaker else fact.text
    nameless = _with_ids(core, {(" ", name) for name in (fact.name, *dict(fact.beside).values())})
    return frozenset(filter(str.isalnum, tokenise(nameless).lowers)) - _ARTICLES


def _with_ids(text: str, names: set[tuple[str, str]]) -> str:
    """Return a text with entity ids instead of their names, the longest name first."""
    by_name = {name: id_ for id_, name in sorted(names) if name}
    longest = sorted(by_name, key=lambda name: (-len(name), name))
    if not longest:
        return text
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})(?!\w)")
    return named.sub(lambda match: by_name[match.group()], text)


def _says_more(text: str, fact: PageFact) -> bool:
    """Return whether a text has content words besides those of its slot and its verb."""
    named = f"{fact.name} {fact.value}"
    numbers = set(_NUMBER.findall(text)) - set(_NUMBER.findall(named))
    return len(content_words(text) - content_words(named)) > 1 or bool(numbers)
