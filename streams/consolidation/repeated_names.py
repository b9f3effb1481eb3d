"""Texts under a heading that names an entity, without that name.

A text may write a name in another case: a sender called "ada" is "Ada" where a sentence begins. A
name with a capital is not meant by words without one: "Will", "May".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from recollect.streams.consolidation.nouns import is_noun, singular
from recollect.streams.language.grammar.verbs import (
    BASES,
    THIRDS,
    THIRDS_ALONE,
    base_form,
    is_past,
)
from recollect.streams.language.references.named_referents import SOMEBODY
from recollect.text.lexicon import (
    FILLERS,
    MONTHS,
    NOT_PAST,
    PREPOSITIONS,
    WEEKDAYS,
    word_set,
)
from recollect.text.tokenizer import Tokens, bare, tokenise

#: Besides names and nouns for persons in the plural, "they" may mean these.
_OTHERS = word_set(
    "everyone everybody someone somebody others people both he him his she her we us our they them "
    "their who parents siblings relatives adults"
)
#: Endings of nouns that are mostly for persons.
_AGENTS = ("er", "or", "ist", "man", "woman", "mate")
#: A capitalised word after one of these is no person's name.
_BEFORE_THINGS = word_set("the a an in at from near during on")
_PLURAL_VERBS = {
    "is": "are", "isn't": "aren't", "was": "were", "wasn't": "weren't", "has": "have",
    "hasn't": "haven't", "does": "do", "doesn't": "don't",
}  # fmt: skip
#: Verbs with one form for all persons.
_MODALS = word_set(
    "will won't would wouldn't shall should shouldn't can can't cannot could couldn't may might "
    "must had hadn't did didn't"
)
#: Prepositions that also begin a clause.
_BEFORE_CLAUSES = word_set("after before since until as than like")
_SUBJECTS = word_set("i he she it they we you that which who what this there")
#: After a form such as "plans", these show that it is a verb.
_AFTER_VERBS = word_set("to the a an their for in on at with about that from")

#: What is between the parts of a text.
_BEGINNINGS = '.!?:;–—"“'
#: After these, a form in -ed describes their object: "kept them informed".
_CAUSING = word_set(
    "get gets got make makes made making keep keeps kept keeping leave leaves find finds having"
)

#: In words: a verb farther away has another subject.
_FARTHEST = 40

#: The replacement of text[start:end].
_Edit = tuple[int, int, str]


@lru_cache(maxsize=1_024)
def name_expression(name: str) -> str:
    """Return a regular expression for a name or its first word, as whole words.

    `name` must not be blank.

    >>> bool(re.search(name_expression("ada"), "Ada swims"))
    True
    >>> bool(re.search(name_expression("Iran"), "Tigran swims"))
    False
    """
    either = "|".join(_in_any_case(each) for each in dict.fromkeys((name, name.split()[0])))
    return rf"(?<!\w)(?:{either})(?!\w)"


def is_name(words: str, name: str) -> bool:
    """Return whether words are a name, apart from the case of its letters."""
    if words.isascii() and name.isascii():
        is_capital = not name[0].isupper() or words[:1] == name[0]
        return is_capital and words.lower() == name.lower()
    return re.fullmatch(_in_any_case(name), words) is not None


def without_name(text: str, name: str) -> str:
    """Return a text without the name, if it begins with the name as its subject.

    Further on, "they" and "their" take the place of the name unless that could mean somebody else,
    and a clause with the same subject goes without it.

    >>> without_name("Ada likes to ride Ada's horse, but Ada is afraid of dogs", "Ada")
    'likes to ride their horse, but is afraid of dogs'
    >>> without_name("Ada told Bob about Ada's horse", "Ada")
    "told Bob about Ada's horse"
    >>> without_name("In the evening, Ada fed Ada's horse", "Ada")
    'In the evening, Ada fed their horse'
    >>> without_name("It showed Ada how far Ada has come", "Ada")
    'It showed Ada how far they have come'
    """
    if not name:
        return text
    own = name_expression(name)
    is_subject = rf"{own} (?!and\b)(?=[a-z])"
    subject = re.match(rf"(?P<before>){is_subject}", text) or re.match(
        rf"(?P<before>[^,;:]*, ){is_subject}", text
    )
    if subject is None or re.search(own, subject["before"]):
        return named_once(text, name)
    before, rest = subject["before"], text[subject.end() :]
    if _names_others(before):
        return text
    clause = re.match(rf"([^,;:]*), (and|but) {own} (?!and\b)(?=[a-z])", rest)
    if clause and not _names_others(re.sub(rf"{own}(?:['’]s)?", "own", clause[1])):
        rest = f"{clause[1]}, {clause[2]} {rest[clause.end() :]}"
    rest = _with_pronouns(rest, name, is_named=True)
    return text[: subject.end()] + rest if before else rest


def named_once(text: str, name: str) -> str:
    """Return a text that names somebody once, with pronouns further on.

    >>> named_once("Ada sold Ada's horse when Ada moved", "Ada")
    'Ada sold their horse when they moved'
    """
    return _with_pronouns(text, name, is_named=False) if name else text


def value_without_name(value: str, name: str) -> str:
    """Return a value under a heading with the name, with "their" for the name's possessive.

    >>> value_without_name("trips with Ada's cousin", "Ada")
    'trips with their cousin'
    """
    return _with_pronouns(value, name, is_named=True) if name else value


def _with_pronouns(text: str, name: str, *, is_named: bool) -> str:
    """Return a text with pronouns for a name, except where it stands first.

    `is_named`: the words before the text named it already.
    """
    parts: list[str] = []
    at = 0
    # A verb may be joined to several names, but is replaced once.
    for start, end, words in sorted(set(_edits(tokenise(text), name, is_named))):
        parts += (text[at:start], words)
        at = end
    return "".join([*parts, text[at:]])


def _edits(tokens: Tokens, name: str, is_named: bool) -> Iterator[_Edit]:
    """Yield the replacements of a name by pronouns, until a word names whom they could mean."""
    names = [tokenise(each).words for each in (name, name.split()[0])]
    of_group = False
    place = 0
    while place < len(tokens.words):
        width = next((len(own) for own in names if _is_at(tokens, place, own)), 0)
        if not width:
            if _is_other(tokens, place):
                return
            place += 1
            continue
        end = place + width
        with_others = tokens.lowers[end : end + 2] == ["and", "others"]
        owns = bare(tokens.lowers[end - 1]) != tokens.lowers[end - 1]
        begins = _begins(tokens, place, ".!?;" if owns else _BEGINNINGS)
        if is_named and (with_others or not of_group) and not begins:
            yield from _pronoun(tokens, place, end, with_others)
        elif not is_named and _owns_somebody(tokens, end):
            return
        is_named = True
        of_group = of_group or with_others
        place = end + 2 * with_others


def _owns_somebody(tokens: Tokens, end: int) -> bool:
    """Return whether the name that ends before a place is a possessive: "Ada's uncle"."""
    owner, *owned = tokens.lowers[end - 1 : end + 1]
    return bare(owner) != owner and not SOMEBODY.isdisjoint(map(bare, owned))


def _is_at(tokens: Tokens, place: int, name: Sequence[str]) -> bool:
    found = tokens.words[place : place + len(name)]
    words = [*found[:-1], *(word.replace("’", "'").removesuffix("'s") for word in found[-1:])]
    return len(words) == len(name) and all(map(is_name, words, name))


def _begins(tokens: Tokens, place: int, signs: str = _BEGINNINGS) -> bool:
    """Return whether a word begins a sentence or a part of one, after one of these signs."""
    return place > 0 and any(sign in tokens.gap(place - 1) for sign in signs)


def _pronoun(tokens: Tokens, place: int, end: int, with_others: bool) -> Iterator[_Edit]:
    """Yield the replacement of the name at a place, and those of verbs that must agree with it."""
    lowers = tokens.lowers
    start, stop = tokens.starts[place], tokens.ends[end - 1]
    before = lowers[place - 1] if place and tokens.gap(place - 1) == " " else ""
    is_object = before in PREPOSITIONS and before not in _BEFORE_CLAUSES
    if with_others:
        if before in ("as", "like", "than"):
            return
        following = lowers[end + 2] if end + 2 < len(lowers) else ""
        is_object = is_object or following.endswith("ing")
        yield start, tokens.ends[end + 1], "them" if is_object else "they"
        return
    if bare(lowers[end - 1]) != lowers[end - 1]:
        if tokens.text[stop : stop + 1] == " ":
            yield start, stop, "their"
        return
    verb_at = _verb_after(tokens, end - 1)
    verb = lowers[verb_at] if verb_at is not None else ""
    if before in _CAUSING and verb.endswith("ed"):
        verb_at, verb = None, ""
    is_joined = before in ("and", "or") and "," not in tokens.gap(max(0, place - 2))
    if verb_at is not None and not is_object:
        plural = _plural(verb)
        if plural:
            yield start, stop, "they"
            yield tokens.starts[verb_at], tokens.ends[verb_at], plural
            yield from _joined_verbs(tokens, verb_at)
            return
        if (verb in _MODALS or (is_past(verb) and verb not in NOT_PAST)) and not is_joined:
            yield start, stop, "they"
            yield from _joined_verbs(tokens, verb_at)
            return
    is_after_verb = before in BASES | THIRDS or is_past(before) or before.endswith("ing")
    if (is_object or is_after_verb) and lowers[end : end + 1] not in (["and"], ["or"]):
        yield start, stop, "them"


def _verb_after(tokens: Tokens, place: int) -> int | None:
    """Return the first word after a place that is no adverb; None if another phrase begins."""
    for at in range(place + 1, min(place + 4, len(tokens.words))):
        if tokens.gap(at - 1) != " ":
            return None
        if tokens.lowers[at] not in FILLERS and not tokens.lowers[at].endswith("ly"):
            return at
    return None


def _plural(verb: str) -> str:
    """Return the form for "they" of a verb in the third person; "" for other words."""
    return _PLURAL_VERBS.get(verb) or (base_form(verb) if verb in THIRDS else "")


def _joined_verbs(tokens: Tokens, verb_at: int) -> Iterator[_Edit]:
    """Yield the replacements of the verbs that have the same subject as the verb at a place."""
    lowers = tokens.lowers
    for at in range(verb_at + 1, min(verb_at + _FARTHEST, len(lowers))):
        if _begins(tokens, at) or lowers[at] in _SUBJECTS:
            return
        if lowers[at] not in ("and", "or", "but"):
            continue
        found = _verb_after(tokens, at)
        if found is None:
            continue
        verb = lowers[found]
        is_verb = verb in _PLURAL_VERBS or verb in THIRDS_ALONE
        if is_verb or (
            verb in THIRDS and not _AFTER_VERBS.isdisjoint(lowers[found + 1 : found + 2])
        ):
            yield tokens.starts[found], tokens.ends[found], _plural(verb)


def _names_others(text: str) -> bool:
    """Return whether a text, apart from its first word, names whom "they" could mean."""
    tokens = tokenise(text)
    return any(_is_other(tokens, place) for place in range(1, len(tokens.words)))


def _is_other(tokens: Tokens, place: int) -> bool:
    """Return whether "they" could mean what a word names."""
    word, lower = tokens.words[place], tokens.lowers[place]
    if word[0].isupper() and place:
        return not (
            (word.isupper() and len(word) > 1)
            or lower[:3] in _MONTHS_SHORT
            or lower in WEEKDAYS
            or _begins(tokens, place)
            or _in_a_name_of_things(tokens, place)
        )
    if lower in _OTHERS:
        return True
    one = singular(lower)
    return one != lower and is_noun(one) and (one in SOMEBODY or one.endswith(_AGENTS))


_MONTHS_SHORT = frozenset(month[:3] for month in MONTHS)


def _in_a_name_of_things(tokens: Tokens, place: int) -> bool:
    """Return whether capitalised words up to a place follow an article or "in"."""
    while place and tokens.words[place][0].isupper():
        place -= 1
    return tokens.lowers[place] in _BEFORE_THINGS


def _in_any_case(name: str) -> str:
    initial = re.escape(name[0])
    if not name[0].isupper():
        initial = f"(?i:{initial})"
    return f"{initial}(?i:{re.escape(name[1:])})"
