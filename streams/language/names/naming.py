"""Introductions: sentences that say what somebody is called."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from anyascii import anyascii

from recollect.streams.language.grammar.analysis import Introduction
from recollect.streams.language.grammar.reported import is_reported
from recollect.streams.language.names.display_names import in_capitals, names_in
from recollect.streams.language.names.gazetteer import (
    CONCEPTS,
    EVENTS,
    GIVEN_NAMES,
    ORGANISATIONS,
    PLACES,
)
from recollect.text.lexicon import (
    FUNCTION_WORDS,
    HONORIFICS,
    MONTHS,
    PHATIC,
    RELATIONS,
    ROLES,
    STARTERS,
    STATES,
    WEEKDAYS,
    word_set,
)
from recollect.text.tokenizer import Tokens

_NAME = r"[^\W\d_](?:[\w'’\-]|\.(?=[ \w])){0,30}"
_FULL_NAME = rf"{_NAME}(?: {_NAME}){{0,3}}"
#: Words that may follow a name with which somebody introduces themselves.
_STOP = r"(?=\s*(?:[^\w\s'’]|\Z|(?:and|from|but|by the way|btw|here|speaking)\b))"

_NAME_IS = re.compile(
    rf"\b(?:my (?:full |real |first )?name(?: is|['’]s)|(?P<the>the name['’]s))"
    rf"\s+(?P<name>{_FULL_NAME})",
    re.IGNORECASE,
)
_I_AM = re.compile(
    rf"\bi(?:['’]m| am) (?P<name>{_FULL_NAME}?)(?:(?= (?:at|from|here)\b)(?P<sure>)|{_STOP})",
    re.IGNORECASE,
)
_HERE = re.compile(
    rf"\b(?:this is|it['’]s) (?P<name>{_FULL_NAME}?)(?=,? (?:here\b|"
    r"from (?!yesterday|today|last|this|my|our|when|before|above|below|behind|his|her|an?\b)|"
    r"(?:speaking|calling)(?:\s*(?:[^\w\s]|\Z)| (?:about|again|and)\b)))",
    re.IGNORECASE,
)
#: After these, the name is another person's: "This is Sarah from work, she sings".
_THIRD_PERSON = re.compile(r"\b(?:he|she|they|who|whom|his|her|him|their)\b", re.IGNORECASE)
#: After one of these, a name in the sentence is reported speech.
_REPORTED = re.compile(
    r"\b(?:said|says?|saying|told|tells?|telling|asked|asks?|wrote|writes?|replied|texted|thinks?|"
    r"thought|believes?|assumed?|assumes|claims?|claimed|heard|announced|shouted|introduced|sang|"
    r"sings?|lyrics?|song)\b",
    re.IGNORECASE,
)
#: In the same clause: hypothetical or refused.
_NOT_SO = re.compile(
    r"\b(?:guess|bet|if|when|whether|pretend|pretending|imagine|wish|unless|not|never|nobody|"
    r"no one|stop|stopped|act|acting|suppose|because)\b|n['’]t\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;:.!–—]")
#: Those who may be said to call the speaker something; "my bank calls me Melanie" is not a wish.
_CALLERS = word_set("everyone everybody people friends they family folks most all colleagues")
_GREETINGS = word_set(
    "hi hey hello hiya heya dear greetings good morning evening afternoon welcome bonjour salut "
    "hallo hola bom ola olá moin servus ciao namaste salam shalom guten buenos buongiorno yo"
)
#: Words of a greeting before a self-introduction.
_LEAD = (
    _GREETINGS
    | PHATIC
    | word_set(
        """new people everyone everybody all team folks guys there to note quick intro
        introduction and so yes yeah well ok okay again the group class members friends
        neighbours neighbors colleagues parents friend dia tag day"""
    )
)
_WORD = re.compile(r"[^\W\d_][\w'’]*")
#: An unknown word with this ending is an adjective, a people or a faith, not a name.
_ADJECTIVE = ("ed", "ing", "ish", "ful", "less", "ous", "able", "ible", "ive", "ic", "ical", "ly",
              "ese", "ian", "ean", "ist")  # fmt: skip
#: After an unknown word, these words show that it is a name.
_APPOSITION = re.compile(
    r"(?:,? (?:and|but) |, (?:the|your|one|an?|from|nice|pleased|glad) )", re.IGNORECASE
)
_CALL_ME = re.compile(
    rf"\b(?:calls? me|i go by|i(?:['’]m| am) known as) [\"“']?(?P<name>{_NAME}?)[\"”']?{_STOP}",
    re.IGNORECASE,
)
_GOES_BY = re.compile(
    rf"\b(?:goes by|known as|aka|a\.k\.a\.|nicknamed) [\"“']?(?P<name>{_NAME}?)[\"”']?{_STOP}",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(rf"[(\"“](?P<name>{_NAME})[)\"”]")
#: The person who is called something, right before a nickname; the text is cut to a few words
#: first.
_NAMED_BEFORE = re.compile(
    rf"(?P<related>\b[^\W\d_]{{1,20}},? )?\b(?P<of>{_FULL_NAME}) (?:is )?(?:also |usually )?[(]?\Z"
)
_WINDOW = 60
_CLAUSE = 120
_AT_STOP = re.compile(_STOP, re.IGNORECASE)

#: Only a text with one of these words, or with brackets, introduces a name.
TRIGGERS = word_set(
    "name name's i'm i call calls go goes this known aka nicknamed here speaking calling"
)
_NOT_NAMES = (
    FUNCTION_WORDS | PHATIC | STARTERS | CONCEPTS | PLACES | EVENTS | ORGANISATIONS
    | frozenset(MONTHS) | frozenset(WEEKDAYS) | RELATIONS
)  # fmt: skip
#: "I'm ..." and "call me ..." are followed by much else besides names.
_NOT_OWN_NAMES = _NOT_NAMES | STATES | ROLES | HONORIFICS


class _Sentence(NamedTuple):
    """A sentence: its text, its start, and what precedes it in the message."""

    text: str
    start: int
    opens: bool  # only greetings precede it
    greeted: bool  # and there is at least one
    reported: list[tuple[int, int]]


#: "I'm ", before a name; and what may follow it: "Ines, the new baker", "Ines and I sing".
_SELF = re.compile(
    r"(?:i(?:['’]m| am) |i(?:['’]m| am) called |my (?:(?:first|full) )?name(?:['’]s| is) )",
    re.IGNORECASE,
)
_OF_NAME = re.compile(r"[^\W\d_][\w'’\-]*(?:\.(?= ))?")
_GOES_ON = re.compile(
    r",? (?:and|but) (?=(?:i|i['’]\w+|my|we|we['’]\w+)\b)|, (?=(?:i|i['’]\w+|this is)\b)",
    re.IGNORECASE,
)
_IS_ALSO = re.compile(
    r"(?:,| -| –|,? and) (?=(?:the|an?|your|our|one of)\b)| (?=(?:from|at)\b)", re.IGNORECASE
)


def without_own_name(said: str, speaker: str) -> str:
    """Return a sentence without the words that only name its speaker; "" if it says no more.

    "I'm Ines, the new baker" of Ines Novak says "I'm the new baker".
    """
    lead = _SELF.match(said)
    if lead is None:
        return said
    own = {word for name in names_in(speaker) for word in name.split()}
    # Of somebody called happy, "I'm happy" gives no name.
    own = (own | {form for word in own for form in (in_capitals(word), word.lower())}) - STATES
    named = end = lead.end()
    while (word := _OF_NAME.match(said, end)) is not None and word[0] in own:
        named = word.end()
        end = named + said.startswith(" ", named)
    if named == lead.end():
        return said
    if goes_on := _GOES_ON.match(said, named):
        return said[goes_on.end() :]
    if more := _IS_ALSO.match(said, named):
        return f"I'm {said[more.end() :]}"
    return said if said[named:].strip(" .,;:!") else ""


def find_introductions(
    tokens: Tokens, spans: list[tuple[int, int]], reported: list[tuple[int, int]]
) -> list[Introduction]:
    """Return the introductions in these sentences: who is called what, and who says so.

    Nothing in a `reported` span counts.
    """
    text = tokens.text
    if TRIGGERS.isdisjoint(tokens.lowers) and "(" not in text:
        return []
    found: list[Introduction] = []
    opens, greeted = True, False
    for start, end in spans:
        sentence = _Sentence(text[start:end], start, opens, greeted, reported)
        found += _in_sentence(sentence)
        if opens:
            opens = greeted = _is_greeting(sentence.text)
    return found


def _is_greeting(sentence: str) -> bool:
    """Whether a sentence is a greeting: "Good morning songbirds!"."""
    if len(sentence) > 60:
        return False
    words = [word.lower() for word in _WORD.findall(sentence)]
    return (
        not words
        or (words[0] in _GREETINGS and len(words) <= 5)
        or all(word in _LEAD for word in words)
    )


def _in_sentence(sentence: _Sentence) -> list[Introduction]:
    found: list[Introduction] = []
    lower = sentence.text.lower()
    if "name" in lower:
        _name_is(sentence, found)
    if sentence.opens or " from" in lower or " at" in lower or " here" in lower:
        if "i'm" in lower or "i’m" in lower or "i am" in lower:
            _i_am(sentence, found)
        if sentence.opens and ("this is" in lower or "it's" in lower or "it’s" in lower):
            _here(sentence, found)
    if " me " in lower or "go by" in lower or "known as" in lower:
        _call_me(sentence, found)
    if (
        "goes by" in lower
        or "known as" in lower
        or "aka" in lower
        or "a.k.a" in lower
        or "nicknamed" in lower
    ):
        _others(_GOES_BY, sentence, False, found)
    if "(" in lower:
        _others(_IN_BRACKETS, sentence, True, found)
    return sorted(found, key=lambda item: item.start) if len(found) > 1 else found


def _said(sentence: _Sentence, match: re.Match[str]) -> bool:
    """Whether the speaker says it, and as a fact."""
    before = sentence.text[max(0, match.start() - _CLAUSE) : match.start()]
    return (
        not is_reported(sentence.reported, sentence.start + match.start())
        and _REPORTED.search(before) is None
        and _NOT_SO.search(_CLAUSE_END.split(before)[-1]) is None
    )


def _leads(before: str) -> bool:
    """Whether only a greeting precedes: "Hi Melanie, ", "Note to new people: "."""
    if len(before) > 60:
        return False
    words = [word.lower() for word in _WORD.findall(before)]
    return all(word in _LEAD for word in words) or (
        words[0] in _GREETINGS and len(words) <= 4 and before.rstrip()[-1] in ",.!–—-"
    )


def _name_is(sentence: _Sentence, found: list[Introduction]) -> None:
    text = sentence.text
    for match in _NAME_IS.finditer(text):
        if not _said(sentence, match):
            continue
        if match["the"] and (
            not (sentence.opens and _leads(text[: match.start()]))
            or _THIRD_PERSON.search(text, match.start("name"))
        ):
            continue
        words = match["name"]
        name = _leading_name(words, _NOT_NAMES, any_case=True)
        if name and name[0].islower():
            # "My name is spelled with a y": in lower case, only what can be nothing but a name.
            first = name.split(" ")[0]
            stopped = _AT_STOP.match(text, match.start("name") + len(first)) is not None
            if not _is_given(first) and (
                first != name
                or not stopped
                or first.endswith(_ADJECTIVE)
                or first in _NOT_OWN_NAMES
            ):
                continue
        _add(sentence, match, name, "name", found)


def _i_am(sentence: _Sentence, found: list[Introduction]) -> None:
    """ "Hi, I'm Tyler", at the beginning of a message, or "I'm Tyler from accounting"."""
    text = sentence.text
    for match in _I_AM.finditer(text):
        before = text[: match.start()]
        sure = match["sure"] is not None
        leads = sentence.opens and _leads(before)
        if not leads and not (sure and _begins_clause(before)):
            continue
        name = _leading_name(match["name"], _NOT_OWN_NAMES)
        if name != match["name"] or len(name) < 2 or not _said(sentence, match):
            continue
        first = name.split(" ")[0].lower()
        if not _is_given(first):
            greeted = sentence.greeted or bool(before.strip())
            shown = sure or (leads and greeted) or _APPOSITION.match(text, match.end())
            if first.endswith(_ADJECTIVE) or not shown:
                continue
        _add(sentence, match, name, "name", found)


def _is_given(lower: str) -> bool:
    """Whether a lower-case word is a given name, with or without its accents: "tomás"."""
    return lower in GIVEN_NAMES or anyascii(lower) in GIVEN_NAMES


def _begins_clause(before: str) -> bool:
    before = before.rstrip()
    return not before or before[-1] in ".!?,;–—-" or before.lower().endswith((" and", " so"))


def _here(sentence: _Sentence, found: list[Introduction]) -> None:
    text = sentence.text
    for match in _HERE.finditer(text):
        name = _leading_name(match["name"], _NOT_OWN_NAMES)
        if (
            name
            and name == match["name"]
            and _leads(text[: match.start()])
            and _said(sentence, match)
            and _THIRD_PERSON.search(text, match.end()) is None
        ):
            _add(sentence, match, name, "name", found)


def _call_me(sentence: _Sentence, found: list[Introduction]) -> None:
    text = sentence.text
    for match in _CALL_ME.finditer(text):
        before = text[max(0, match.start() - _CLAUSE) : match.start()]
        if match.group()[:5].lower() == "calls":
            caller = _WORD.findall(before)[-1:]
            if not caller or caller[0].lower() not in _CALLERS:
                continue
        name = _leading_name(match["name"], _NOT_OWN_NAMES)
        if name and name == match["name"] and _said(sentence, match):
            _add(sentence, match, name, "nickname", found)


def _add(
    sentence: _Sentence,
    match: re.Match[str],
    name: str,
    kind: Literal["name", "nickname"],
    found: list[Introduction],
) -> None:
    if name:
        start = sentence.start + match.start("name")
        found.append(Introduction(start, start + len(name), name, kind))


def _others(
    pattern: re.Pattern[str], sentence: _Sentence, bracketed: bool, found: list[Introduction]
) -> None:
    """Nicknames of a person who is named just before."""
    for match in pattern.finditer(sentence.text):
        name = _leading_name(match["name"], _NOT_NAMES)
        before = sentence.text[max(0, match.start() - _WINDOW) : match.start()]
        named = _NAMED_BEFORE.search(before)
        if not name or name != match["name"] or named is None:
            continue
        if is_reported(sentence.reported, sentence.start + match.start()):
            continue
        words = named["of"].split(" ")
        related = (named["related"] or "").strip(" ,").lower()
        while words and (not words[0][0].isupper() or words[0].lower() in _NOT_NAMES):
            related = words.pop(0).lower()
        if not words or not all(word[0].isupper() for word in words):
            continue
        # Brackets have many uses: they hold a nickname only after "my sister Katherine".
        if bracketed and related not in RELATIONS:
            continue
        start, end = match.span("name")
        found.append(
            Introduction(
                sentence.start + start, sentence.start + end, name, "nickname", " ".join(words)
            )
        )


def _leading_name(words: str, no_names: frozenset[str], any_case: bool = False) -> str:
    """The part of `words` that is a name: capitalised words without another meaning."""
    kept: list[str] = []
    for word in words.split(" "):
        lower = word.lower().rstrip(".")
        known = lower in no_names and not (kept and word[0].isupper())
        capital = word[0].isupper() and (len(word) == 1 or not word.isupper() or bool(kept))
        if known or lower.endswith(("'s", "’s")) or not (capital or (any_case and not kept)):
            if lower.endswith(("'s", "’s")):
                return ""
            break
        kept.append(word)
    return " ".join(kept).rstrip(".-'’")
