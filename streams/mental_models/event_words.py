"""The words of a fact that tell an event: who did what, understood without the words around them.

A sentence tells an event if its subject is named, its verb reports what was done or happened, or
what is due on a day of its own, and it names what that was about. Feelings, opinions, wishes and
passing states are no events, and neither is what depends on somebody or something unnamed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from recollect.streams.consolidation.clear_texts import (
    FIRST_PERSON,
    SECOND_PERSON,
    has_verb,
    is_clear,
)
from recollect.streams.consolidation.days import with_short_days
from recollect.streams.consolidation.nouns import is_noun, is_topical, singular
from recollect.streams.consolidation.repeated_names import name_expression
from recollect.streams.consolidation.units import units_of, without_link
from recollect.streams.language.grammar.verbs import (
    BASES,
    THIRDS,
    base_form,
    is_participle,
    is_past,
)
from recollect.streams.language.references.named_referents import DETERMINERS, SOMEBODY
from recollect.text.lexicon import (
    FILLERS,
    FUNCTION_WORDS,
    NOT_PAST,
    NUMBER_WORDS,
    PREPOSITIONS,
    WEEKDAYS,
    word_set,
)
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import Tokens, bare, tokenise

#: Stands for the name of an entity that is quoted.
SPEAKER = "I"
_UNNAMED = "(speaker)"
#: A line with more words is left out, or ends before the sentence that makes it longer.
MAX_WORDS = 40
#: The verb stands within this many words after an owner: "Ada's eldest brother married".
_FARTHEST = 5
#: A longer phrase before the subject says more than when or where.
_MAX_OPENING = 9

#: "Re-", "over-".
_LONGEST_PREFIX = 4
#: Verbs of feeling, thinking, wishing and seeming, in their base forms.
_STATIVE = word_set(
    "feel want wish hope think know believe guess suppose mean wonder seem sound look love like "
    "hate enjoy need prefer forget remember realize realise understand care appreciate expect "
    "fear doubt trust notice consider accord matter deserve depend remain strive try appear tend"
)
#: What was said is rarely understood without the talk: "her boss said yes".
_SAYING = word_set("say tell ask answer reply mention")
#: Without what was handed over, these say little: "sent to Bob".
_HANDING = word_set("send give show bring lend hand pass")
_RECEIVING = word_set("to for with from by")
#: Such a verb may tell of a habit: "loves to row every morning".
_FONDNESS = word_set("love like hate enjoy prefer")
#: After any verb, these begin a clause or stand for one: "found why", "did that".
_CLAUSES = word_set("how that what why whether if it so this these those them")
_NOTHING_NAMED = word_set(
    "anyone anybody this these those there here something anything everything someone somebody "
    "such one ones"
)
#: With these a sentence tells no event: of feelings, or of nothing named. "Am" is left of "I am".
_UNTOLD = _NOTHING_NAMED | word_set("feel feels felt feeling feelings am")
#: Past forms that are like the base form: "she quit".
_ONE_FORM = word_set("quit cut put set hit hurt shut split spread bet burst beat let")
#: Verbs that say little without a noun.
_LIGHT = word_set("be have get do make go come take give put see start begin finish try end hold")
#: Nouns that do not say what something was about.
_EMPTY_NOUNS = word_set("time experience day moment idea event way cause turnout chat impact other")
#: Work that lasts: what somebody is doing these weeks.
_LASTING = word_set(
    "working learning studying training building preparing organizing organising developing "
    "writing teaching expanding renovating applying"
)
_BEGUN = word_set("started begun been kept taken got resumed")
#: An opening phrase with one of these is a sentence, unless a conjunction begins it.
_COPULAS = word_set("is are was were has had")
_CONJUNCTIONS = word_set("when while after before since as because although last this")
#: "Only" and "family" open no sentence.
_SHORTEST_ADVERB = 6
_SUBJECTS_WITH_VERBS = word_set("he's she's it's that's they're we're i'm you're there's")
_MODALS = word_set(
    "can could should would may might must ought shall can't couldn't shouldn't wouldn't won't"
)
_NEGATIONS = word_set("not never nothing nobody hardly barely")
_BEFORE_NOUNS = (DETERMINERS | PREPOSITIONS | frozenset(NUMBER_WORDS)) - {"to", "like", "no"}
_OF_CHANGE = word_set(
    "born promoted hired fired married divorced elected diagnosed admitted graduated retired"
)
#: Words that begin a phrase of time or place before the subject.
_OPENERS = (
    PREPOSITIONS
    | frozenset(WEEKDAYS)
    | word_set("when while last this next earlier later yesterday today tonight every each one two")
)
#: The start of a part that takes back what is said before, or limits it.
_LIMITS = re.compile(
    r"(?:(?:but|and|or|though|although|however|yet|well|actually),? )*"
    r"(?:but|no|not|never|unless|until|if|or|maybe|perhaps|though|although|however|just|only)\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(r"\b(?:kidding|joking|cancel\w*|no longer|any ?more)\b", re.IGNORECASE)


def event_words(
    core: str, names: Sequence[str], days: tuple[str, str] | None, has_own_day: bool
) -> str:
    """Return the part of a fact's text that tells an event, or "".

    `names`: the page's entity, or `SPEAKER` if the text is its own words, then the others in the
    fact. The part names the entity. `days`: the days that the fact is about; `has_own_day`: they
    are others than the day when it was said.

    >>> event_words("So much happened! Ada joined a choir. It was great.", ("Ada",), None, False)
    'Ada joined a choir.'
    >>> event_words("Ada is over the moon.", ("Ada",), None, False)
    ''
    """
    return _event_words(core, tuple(names), days, has_own_day)


@lru_cache(maxsize=8_192)
def _event_words(
    core: str, names: tuple[str, ...], days: tuple[str, str] | None, has_own_day: bool
) -> str:
    units = [unit.text for unit in units_of(core, ())]
    told = [_tells_event(unit, names, days, has_own_day) for unit in units]
    if True not in told:
        return ""
    first = told.index(True)
    last = first
    words = len(units[first].split())
    for place in range(first + 1, len(units)):
        words += len(units[place].split())
        is_limit = _LIMITS.match(units[place]) or _TAKEN_BACK.search(units[place])
        if not (told[place] or is_limit or _continues(units[place])):
            break
        if words > MAX_WORDS:
            if is_limit:
                return ""
            break
        last = place
    if any(_TAKEN_BACK.search(unit) for unit in units[last + 1 :]):
        return ""
    start = core.find(units[first])
    end = core.find(units[last], start) + len(units[last])
    part = core[start:end] if 0 <= start < end else ""
    return part if len(part.split()) <= MAX_WORDS else ""


def _continues(unit: str) -> bool:
    """Return whether a part goes on with what the subject does: "- rehearsing for a show"."""
    lowers = tokenise(unit).lowers
    return lowers[0].endswith("ing") and _UNTOLD.isdisjoint(lowers) and not has_verb(unit)


def _tells_event(
    unit: str, names: Sequence[str], days: tuple[str, str] | None, has_own_day: bool
) -> bool:
    found = _sentence_of(unit, names, days)
    # Whether it is clear takes longest to find out.
    return (
        found is not None
        and not (days and not has_own_day and _lasts(found.tokens, found.verb))
        and _reports(found.tokens, found.verb, has_own_day=has_own_day)
        and _names_topic(found.tokens, found.verb)
        and _is_clear(found.tokens.text, names)
    )


def plan_words(core: str, names: Sequence[str], days: tuple[str, str] | None) -> str:
    """Return the first sentence of a text if it says what somebody does on its days, or "".

    `names` and `days` are those of `event_words`. Wishes and what only may happen are no plans.
    """
    found = _first_sentence(core, tuple(names), days)
    if found is None:
        return ""
    tokens, verb = found.tokens, found.verb
    lower, following = tokens.lowers[verb], _following(tokens, verb)
    if _is_to_be(tokens, verb):
        return ""
    if lower == "will":
        is_due = following in BASES and not _is_stative(following)
    else:
        is_over = is_past(lower) or (lower in ("has", "have") and is_participle(following))
        is_due = not is_over and _reports(tokens, verb, has_own_day=True)
    return found.text if is_due and _names_topic(tokens, verb) else ""


def _is_to_be(tokens: Tokens, verb: int) -> bool:
    """Return whether something is going to be so: "they are going to be four"."""
    place = _after_adverbs(tokens, verb + 1)
    after = [] if place is None else tokens.lowers[place : place + 4]
    return after[:3] == ["going", "to", "be"] and not {*after[3:]} & {"a", "an", "the"}


def habit_words(core: str, names: Sequence[str]) -> str:
    """Return the first sentence of a text if it says what somebody does in general, or "".

    `names` are those of `event_words`.
    """
    found = _first_sentence(core, tuple(names), None)
    if found is None:
        return ""
    lower, following = found.tokens.lowers[found.verb], _following(found.tokens, found.verb)
    if lower.endswith("n't") or following in _NEGATIONS or lower in _NEGATIONS | _MODALS:
        return ""
    if lower in ("is", "are", "was", "were"):
        is_habit = following.endswith("ing") and not _is_stative(following)
    else:
        is_habit = lower not in ("will", "had") and not is_past(lower) and not _is_wish(lower)
        # "Has joined a choir" is an event, "has started running on Mondays" a habit too.
        is_done = lower in ("has", "have") and is_participle(following)
        is_habit = is_habit and (not is_done or following in _BEGUN)
    return found.text if is_habit else ""


class _Sentence(NamedTuple):
    """A sentence as it stands in a text, its words, and the place of its verb among them."""

    text: str
    tokens: Tokens
    verb: int


@lru_cache(maxsize=8_192)
def _first_sentence(
    core: str, names: tuple[str, ...], days: tuple[str, str] | None
) -> _Sentence | None:
    """Return the first sentence of a text, if it is clear; None if a later one takes it back."""
    units = [unit.text for unit in units_of(core, ())]
    if not units or any(_LIMITS.match(unit) or _TAKEN_BACK.search(unit) for unit in units):
        return None
    found = _sentence_of(units[0], names, days)
    return found if found is not None and _is_clear(found.tokens.text, names) else None


def _sentence_of(unit: str, names: Sequence[str], days: tuple[str, str] | None) -> _Sentence | None:
    """Return a sentence with its verb; None if it does not name its subject and the entity."""
    text = with_short_days(without_link(unit), days, names[0])
    is_quoted = names[0] == SPEAKER
    if text.endswith("?") or text.startswith("(") or SECOND_PERSON.search(text):
        return None
    if not is_quoted and FIRST_PERSON.search(text):
        return None
    tokens = tokenise(text)
    if not _UNTOLD.isdisjoint(tokens.lowers) or _leaves_open(tokens):
        return None
    if not names[0] or not re.search(name_expression(names[0]), text):
        return None
    verb = verb_of_subject(tokens, names)
    return None if verb is None else _Sentence(unit, tokens, verb)


def _is_clear(text: str, names: Sequence[str]) -> bool:
    name, speaker = ("", _UNNAMED) if names[0] == SPEAKER else (names[0], "")
    return has_verb(text) and is_clear(text, name, speaker)


def _leaves_open(tokens: Tokens) -> bool:
    """Return whether "it" is the object of a verb, or "things" are not said to be whose."""
    return any(
        (lower == "it" and (_is_verb(before) or before in PREPOSITIONS))
        or (lower in ("stuff", "thing", "things") and not before.endswith("'s"))
        for before, lower in pairwise(tokens.lowers)
    )


def verb_of_subject(tokens: Tokens, names: Sequence[str]) -> int | None:
    """Return the place of the verb whose subject opens a text; None if its subject is not named.

    The subject is one of the `names`, something of theirs, or a noun that says which it is. Before
    it may stand a phrase of time or place with a comma.
    """
    text = tokens.text
    at = 0
    found = _name_at(text, at, names)
    if found is None and tokens.lowers and _opens(tokens.lowers[0]):
        comma = text.find(", ")
        if comma > 0 and _is_opening(text[:comma]):
            at = comma + 2
            found = _name_at(text, at, names)
    first = _word_at(tokens, at)
    if first is None:
        return None
    if found is not None and not found["owns"]:
        return _verb_of_name(tokens, _word_at(tokens, found.end()))
    if found is None and tokens.lowers[first] not in ("the", "a", "an"):
        return None
    start = _word_at(tokens, found.end()) if found is not None else first + 1
    verb = None if start is None else _verb_of_noun(tokens, start)
    if found is None and verb is not None:
        is_name = tokens.words[first + 1][0].isupper()
        is_somebody = bare(tokens.lowers[verb - 1]) in SOMEBODY
        is_indefinite = tokens.lowers[first] in ("a", "an")
        return verb if is_name or (is_indefinite and is_somebody) else None
    return verb


def _name_at(text: str, at: int, names: Sequence[str]) -> re.Match[str] | None:
    """Return the first of these names that stands at a place in a text, with its possessive."""
    initial = text[at : at + 1].lower()
    candidates = (name for name in names if name and name[0].lower() == initial)
    found = (_subject(name).match(text, at) for name in candidates)
    return next((match for match in found if match), None)


@lru_cache(maxsize=1_024)
def _subject(name: str) -> re.Pattern[str]:
    return re.compile(rf"{name_expression(name)}(?P<owns>['’]s?(?!\w))?")


def _opens(lower: str) -> bool:
    return lower in _OPENERS or (lower.endswith("ly") and len(lower) > _SHORTEST_ADVERB)


def _is_opening(text: str) -> bool:
    """Return whether words are a phrase of time or place, or a clause of it."""
    lowers = tokenise(text).lowers
    is_clause = not _COPULAS.isdisjoint(lowers)
    return len(lowers) <= _MAX_OPENING and (not is_clause or lowers[0] in _CONJUNCTIONS)


def _word_at(tokens: Tokens, at: int) -> int | None:
    """Return the place of the first word that begins at or after a character."""
    return next((place for place, start in enumerate(tokens.starts) if start >= at), None)


def _verb_of_name(tokens: Tokens, place: int | None) -> int | None:
    """Return the place of the verb after a name, or after "and" and another subject."""
    if place is None:
        return None
    lowers = tokens.lowers
    if lowers[place] == "and":
        for at in range(place + 1, min(place + 6, len(lowers))):
            if tokens.gap(at - 1).strip():
                return None
            if at > place + 1 and _is_finite(lowers[at]):
                return at
        return None
    verb = _after_adverbs(tokens, place)
    return verb if verb is not None and _is_verb(lowers[verb]) else None


def _verb_of_noun(tokens: Tokens, start: int) -> int | None:
    """Return the place of the first finite verb after the beginning of a noun phrase."""
    for at in range(start, min(start + _FARTHEST, len(tokens.lowers))):
        if at > start and tokens.gap(at - 1).strip():
            return None
        lower = tokens.lowers[at]
        if at > start and lower in ("and", "or", "to", "that", "who", "which"):
            return None
        if at > start and _is_finite(lower):
            return at
    return None


def _is_finite(lower: str) -> bool:
    plain = lower.removesuffix("n't")
    return (
        plain in ("is", "are", "was", "were", "has", "have", "had", "will", "does", "do", "did")
        or lower in _MODALS
        or lower in THIRDS
        or (is_past(lower) and lower not in NOT_PAST)
    )


def _is_verb(lower: str) -> bool:
    """Return whether a word after a name is its verb."""
    is_known = _is_finite(lower) or is_past(lower) or lower in BASES
    return is_known or (lower.endswith("s") and lower not in FUNCTION_WORDS)


def _following(tokens: Tokens, verb: int) -> str:
    after = _after_adverbs(tokens, verb + 1)
    return "" if after is None else tokens.lowers[after]


def _after_adverbs(tokens: Tokens, place: int) -> int | None:
    """Return the place of the first word from a place on that is no adverb."""
    for at in range(place, min(place + 4, len(tokens.lowers))):
        lower = tokens.lowers[at]
        if lower in _NEGATIONS or not (lower in FILLERS or lower.endswith("ly")):
            return at
    return None


def _reports(tokens: Tokens, verb: int, *, has_own_day: bool) -> bool:
    """Return whether a verb reports what was done or happened, or what is due on its own day."""
    lowers = tokens.lowers
    lower, following = lowers[verb], _following(tokens, verb)
    if lower.endswith("n't") or following in _NEGATIONS or lower in _NEGATIONS | _MODALS:
        return False
    if following in _CLAUSES or _is_stative(lower) or lower == "plans":
        return False
    says = lower if lower not in ("has", "have", "had") else following
    if base_form(says) in _SAYING or _runs_on(tokens, verb):
        return False
    if base_form(lower) in _HANDING and following in _RECEIVING:
        return False
    if is_past(lower) and not _takes_words(tokens, verb):
        return False
    is_phrase = following in _BEFORE_NOUNS or following[:1].isdigit()
    # "Was a great help"
    after_article = lowers[lowers.index(following, verb) + 1 :][:1] if is_phrase else []
    is_phrase = is_phrase and not FILLERS.intersection(after_article)
    if lower in ("was", "were"):
        if following.endswith("ing"):
            return has_own_day and not _is_stative(following)
        return following in _OF_CHANGE or is_phrase
    if lower in ("is", "are"):
        is_doing = following.endswith("ing") and not _is_stative(following)
        is_doing = is_doing and not _ends_part(tokens, lowers.index(following, verb))
        return (has_own_day and (is_doing or is_phrase)) or following in _LASTING
    if lower in ("has", "have"):
        if following == "been":
            return any(
                after in ("to", "in", "at")
                or after in _OF_CHANGE
                or (after.endswith("ing") and not _is_stative(after))
                for after in lowers[verb + 2 : verb + 3]
            )
        is_done = is_participle(following) and following != "got" and not _is_stative(following)
        # "Has reduced hours", but "has booked a room"
        after = lowers[lowers.index(following, verb) + 1 :] if is_done else ()
        return is_done and (following not in NOT_PAST or not _BEFORE_NOUNS.isdisjoint(after[:1]))
    if lower == "had":
        return following != "been"
    if lower == "will":
        return False
    return is_past(lower) or lower in _ONE_FORM or (lower in THIRDS and has_own_day)


def _runs_on(tokens: Tokens, verb: int) -> bool:
    """Return whether another sentence follows without a sign: "raised the rent he's a crook"."""
    return any(
        tokens.lowers[at] in _SUBJECTS_WITH_VERBS
        and tokens.gap(at - 1) == " "
        and tokens.lowers[at - 1] not in FUNCTION_WORDS
        for at in range(verb + 2, len(tokens.lowers))
    )


def _lasts(tokens: Tokens, verb: int) -> bool:
    """Return whether a verb says what somebody is doing; on the day of saying, that soon passes."""
    return tokens.lowers[verb] in ("is", "are") and _following(tokens, verb) in _LASTING


def _ends_part(tokens: Tokens, place: int) -> bool:
    """Return whether punctuation, a bracket or nothing follows a word."""
    after = tokens.text[tokens.ends[place] :].lstrip()
    return after[:1] in ("", ",", "(", ".", "!", ";", ":")


def _takes_words(tokens: Tokens, verb: int) -> bool:
    """Return whether a past form is a verb, by the words after it.

    Not in "signed, they start in May", but in "baked, cooked"; and an unknown verb before a bare
    noun may be an adjective: "painted ceiling".
    """
    lower, following = tokens.lowers[verb], _following(tokens, verb)
    if following in ("by", "as") or lower.endswith("eed"):
        return False
    if lower in _OF_CHANGE or is_past("".join(tokens.lowers[verb + 1 : verb + 2])):
        return True
    if _ends_part(tokens, verb):
        return any(map(_is_topic, tokens.words[:verb]))
    # "Re-joined", but not "hand-knitted".
    prefix, _, plain = lower.rpartition("-")
    is_known = base_form(plain) in BASES or not lower.endswith("ed")
    is_known = is_known and len(prefix) <= _LONGEST_PREFIX
    return is_known or following in _BEFORE_NOUNS | {"to"} or following.endswith("s")


def _is_wish(lower: str) -> bool:
    """Return whether a verb tells of no habit: "plans", "understands", but not "loves"."""
    return lower == "plans" or (_is_stative(lower) and base_form(lower) not in _FONDNESS)


def _is_stative(lower: str) -> bool:
    plain = lower.removesuffix("ing")
    return not {base_form(lower), plain, plain + "e", plain[:-1]}.isdisjoint(_STATIVE)


def _names_topic(tokens: Tokens, verb: int) -> bool:
    """Return whether a sentence says what it is about: by its verb, a noun, or a name after it."""
    if base_form(tokens.lowers[verb]) not in _LIGHT or _following(tokens, verb) in _OF_CHANGE:
        return True
    after = tokens.words[verb + 1 :]
    has_name = any(word[0].isupper() and word.lower() not in FUNCTION_WORDS for word in after)
    has_doing = any(word.endswith("ing") and len(word) > _SHORTEST_ADVERB for word in after)
    return has_name or has_doing or any(map(_is_topic, tokens.words))


def _is_topic(word: str) -> bool:
    """Return whether a word is a noun, and no name, that says what something was about."""
    lower = word.lower()
    if not word[0].islower() or lower in STOP_WORDS or lower in FUNCTION_WORDS:
        return False
    noun = singular(lower.removesuffix("'s"))
    return noun not in _EMPTY_NOUNS and is_noun(noun) and is_topical(noun)
