"""Normalised words, and whether a statement says that something was rescheduled or cancelled."""

from __future__ import annotations

from collections.abc import Set

from recollect.text.lexicon import word_set
from recollect.text.tokenizer import bare, lower_words, tokenise

_MOVED = word_set("moved rescheduled postponed delayed cancelled canceled changed shifted slipped")
#: Verbs that reschedule only if one of these words directly follows.
_MOVED_WITH = {
    "pushed": word_set("back out forward"),
    "put": word_set("off"),
    "called": word_set("off"),
    "brought": word_set("forward"),
    "fell": word_set("through"),
}
_VERBS = (*_MOVED, *_MOVED_WITH)
_UNSURE = word_set(
    """if when whenever unless whether may might could can would should never not n't hasn't haven't
    wasn't weren't didn't isn't won't until before after"""
)
_BETWEEN = word_set("the a an my our your his her their this that")
#: Words between the thing and its verb, and words before the verb that make it uncertain.
_MOST_BETWEEN, _UNSURE_WITHIN = 8, 4


def plain_form(lower: str) -> str:
    """Return a word in lower case without a possessive and a plural ending."""
    word = bare(lower)
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word


def plain_forms(text: str) -> list[str]:
    """Return the plain forms of the words of a text, in order."""
    return [plain_form(lower) for lower in lower_words(text)]


def is_rescheduled(text: str, terms: Set[str]) -> bool:
    """Return whether a statement reports that something was rescheduled or cancelled.

    One of its `terms` (plain forms) must precede the verb in its clause, or directly follow it.
    """
    lower_text = text.lower()
    if not any(verb in lower_text for verb in _VERBS):
        return False
    tokens = tokenise(text)
    lowers = tokens.lowers
    plain = [plain_form(lower) for lower in lowers]
    for verb, lower in enumerate(lowers):
        follow = _MOVED_WITH.get(lower)
        if lower not in _MOVED and (
            follow is None or verb + 1 >= len(lowers) or lowers[verb + 1] not in follow
        ):
            continue
        if not _UNSURE.isdisjoint(lowers[max(0, verb - _UNSURE_WITHIN) : verb]):
            continue
        for place in range(verb - 1, max(-1, verb - 1 - _MOST_BETWEEN), -1):
            if any(sign in tokens.gap(place) for sign in ",;:.!?\n"):
                break
            if plain[place] in terms:
                return True
        for place in range(verb + 1, len(lowers)):
            if plain[place] in terms:
                return True
            if lowers[place] not in _BETWEEN:
                break
    return False
