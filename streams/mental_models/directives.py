"""Directives: the standing instructions that a message gives to the agent, by declared rules.

A directive is an order in the imperative that says that it lasts ("always", "never", "from now
on"), or one about how the agent is to address the user or to write. The rules are applied to the
beginning of each sentence of the user's own words, so nobody else's words count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.text.declared_rules import Grammar, Match, Reading, Rule, lexemes, rule
from recollect.text.lexicon import FUNCTION_WORDS, word_set
from recollect.text.sentences import sentences

#: Longer messages quote or contain material.
MAX_LENGTH = 2_000
#: Marks of quoted material: code, and a block of context that was sent back.
_MATERIAL = ("```", "<memory_context", "-----Original", "Forwarded message")
#: A directive has at most this many characters.
MAX_DIRECTIVE = 300

#: What an agent can be asked to do.
_ASKED = word_set(
    "use call address answer reply respond write speak talk say mention apologise apologize "
    "include add repeat explain suggest ask remind format send keep make check show tell "
    "provide list cite quote assume confirm verify put round convert book order recommend "
    "share store save wait prefer avoid respect treat be do translate summarise summarize correct "
    "sign begin start end finish refer skip omit link leave limit output print return stop start "
    "sugarcoat lecture flatter praise"
)
#: What an agent can be asked not to do, or how to do it, without saying that it lasts.
_MANNER = word_set(
    "use call address answer reply respond write speak talk say mention apologise apologize "
    "repeat suggest ask remind sugarcoat lecture flatter praise"
)
_REPLYING = word_set("answer reply respond write speak talk")
_LANGUAGES = word_set(
    "arabic bengali bulgarian cantonese catalan chinese croatian czech danish dutch english "
    "estonian finnish french german greek hebrew hindi hungarian indonesian irish italian japanese "
    "korean latvian lithuanian malay mandarin norwegian persian polish portuguese punjabi romanian "
    "russian serbian slovak slovenian spanish swahili swedish tamil thai turkish ukrainian urdu "
    "vietnamese welsh"
)
_CLASSES = {
    "asked": _ASKED,
    "manner": _MANNER,
    "replying": _REPLYING,
    "language": _LANGUAGES,
    "polite": word_set("please and also ok okay hey so then but"),
    "forms": word_set("emoji emojis markdown bullets tables headings abbreviations slang jargon"),
}


class Order(NamedTuple):
    """What a sentence orders: a verb, the rest of the sentence, or a form of its own."""

    verb: str
    form: str = ""
    lifts: bool = False


def _order(_: object, verb: str) -> Order:
    return Order(verb)


def _lifted(_: object, verb: str) -> Order:
    return Order(verb, lifts=True)


def _language(_: object, verb: str, language: str) -> Order:
    return Order(verb, form="language")


def _unused(_: object, form: str) -> Order:
    return Order("use", form=f"use {form.removesuffix('s')}")


def _address(_: object, verb: str) -> Order:
    return Order(verb, form="address")


_BEGINS = "only begins"
_OPENING = "(@polite \\,?)?"
_WISH = "(i want|need you to | i'd like you to | i would like you to | you should|must)?"
_NEVER = "(never | do not ever | don't ever)"
_NOT = "(do not | don't)"

RULES: tuple[Rule, ...] = (
    rule(
        "always",
        "order",
        f"{_OPENING} {_WISH} always {{@asked}}",
        _order,
        """
        Always answer briefly. -> answer
        please always use metric units -> use
        I want you to always cite your sources. -> cite
        You should always ask before you order. -> ask
        """,
        unless=(_BEGINS,),
        counters=(
            "Always nice to see you.",
            "She always answers late.",
            "Always wanted to go there.",
            'He said "always answer in French".',
        ),
    ),
    rule(
        "never",
        "order",
        f"{_OPENING} {_WISH} {_NEVER} {{@asked}}",
        _order,
        """
        Never use capital letters for headings. -> use
        please don't ever mention my ex -> mention
        """,
        unless=(_BEGINS,),
        counters=("Never mind.", "Never give up!", "Never been there.", "I never use capitals."),
    ),
    rule(
        "from now on",
        "order",
        f"{_OPENING} (from now|here on | in future | in the future | going forward) \\,? "
        f"{_WISH} (please \\,?)? (always|never | do not | don't)? {{@asked}}",
        _order,
        """
        From now on, keep your answers short. -> keep
        In future please don't call me sir. -> call
        """,
        unless=(_BEGINS,),
        counters=("From now on I keep my answers short.", "In future, trains will be cheaper."),
    ),
    rule(
        "do not",
        "order",
        f"{_OPENING} {_WISH} {_NOT} {{@manner}}",
        _order,
        """
        Please don't use emojis. -> use
        Don't call me ma'am. -> call
        """,
        unless=(_BEGINS, "only lasts"),
        counters=("Please don't go.", "Don't use the lift today.", "Don't ask."),
    ),
    rule(
        "hereafter",
        "order",
        f"{_OPENING} {_WISH} {{@asked}}",
        _order,
        """
        Keep it short from now on. -> keep
        """,
        unless=(_BEGINS, "only hereafter"),
        counters=("Keep it short.", "From now on she keeps it short."),
        priority=-1,
    ),
    rule(
        "call me",
        "order",
        f"{_OPENING} {_WISH} just|always? {{call|address}} me as?",
        _address,
        """
        Call me Al. -> address
        Please just call me Doctor Jones -> address
        """,
        unless=(_BEGINS, "only names"),
        counters=("Call me tomorrow.", "Call me a cab.", "Call me when you can.", "Call me back"),
        priority=1,
    ),
    rule(
        "in a language",
        "order",
        f"{_OPENING} {_WISH} (always | from now on \\,? please?)? {{@replying}} (to|with me)? "
        "only|always? in {@language}",
        _language,
        """
        Always answer in French. -> language
        please reply to me in German -> language
        """,
        unless=(_BEGINS, "only addressed"),
        counters=("Write in English class was fun.", "Write a letter in French."),
        priority=2,
    ),
    rule(
        "allowed again",
        "order",
        "(you can|may | feel free to) {@manner}",
        _lifted,
        """
        You can use emojis again. -> use ends
        """,
        unless=(_BEGINS, "only again"),
        counters=("You can use emojis.", "You can answer later."),
    ),
    rule(
        "no more",
        "order",
        f"{_OPENING} no (more)? {{@forms}}",
        _unused,
        """
        No emojis please. -> use emoji
        """,
        unless=(_BEGINS, "only alone"),
        counters=("No emojis in the file, strange.", "No more milk"),
    ),
)

_LASTING = re.compile(
    r"\b(?:with me|to me|again|anymore|any more|ever|in your (?:answers|replies|messages)|emojis?|"
    r"markdown|jargon|slang)\b|\bcall me\b",
    re.IGNORECASE,
)
_NOT_A_NAME = word_set(
    "a an the when if back again later tomorrow today tonight now at on in by before after once "
    "asap soon up out crazy whenever anytime on your from this that any about to and or with"
)
_ONE_OFF = re.compile(
    r"\b(?:this (?:time|once)|today|tonight|tomorrow|just now|right now|for now|here|below|above|"
    r"(?:this|the following) (?:text|email|mail|letter|message|story|file|code|sentence))\b",
    re.IGNORECASE,
)


def _rest(reading: Reading, right: int) -> str:
    return reading.text[reading.words[right - 1].end :] if right else reading.text


def _names(reading: Reading, left: int, right: int) -> bool:
    """Whether a name follows: a capitalised word, or the last words of the sentence."""
    following = reading.written(right)
    return bool(following[:1].isupper()) and reading.lower(right) not in _NOT_A_NAME


def _alone(reading: Reading, left: int, right: int) -> bool:
    left_over = {word.lower for word in reading.words[right:]}
    return not any(word[0].isalpha() for word in left_over - {"please", "thanks", "ever", "again"})


_CONDITIONS = {
    "begins": lambda reading, left, right: left == 0,
    "lasts": lambda reading, left, right: bool(
        _LASTING.search(reading.text[reading.words[left].start :])
    ),
    "again": lambda reading, left, right: bool(
        re.search(r"\b(?:again|after all)\b", _rest(reading, right), re.IGNORECASE)
    ),
    "hereafter": lambda reading, left, right: bool(
        re.search(
            r"\b(?:from now on|from here on|going forward)\W*\Z",
            reading.text,
            re.IGNORECASE,
        )
    ),
    "names": _names,
    "alone": _alone,
    "addressed": lambda reading, left, right: (
        _alone(reading, left, right)
        or any(word.lower in ("always", "me", "on") for word in reading.words[left:right])
    ),
}

GRAMMAR = Grammar(RULES, classes=_CLASSES, conditions=_CONDITIONS, terminals={})


class FoundDirective(NamedTuple):
    """A directive in text[start:end]; `rule` is the id of the rule that found it."""

    form: str
    text: str
    lifts: bool
    start: int
    end: int
    rule: str


def directives_in(text: str) -> list[FoundDirective]:
    """Return the directives in a user's message to the agent, in order."""
    if len(text) > MAX_LENGTH or any(mark in text for mark in _MATERIAL):
        return []
    return list(_found(text))


def _found(text: str) -> Iterator[FoundDirective]:
    for start, end in sentences(text):
        sentence = text[start:end]
        if len(sentence) > MAX_DIRECTIVE or sentence.rstrip().endswith(("?", ":")):
            continue
        if _is_material(text, start) or _ONE_OFF.search(sentence):
            continue
        match = order_in(sentence)
        if match is not None:
            order: Order = match.value
            yield FoundDirective(
                form=order.form or f"{order.verb} {_object(sentence, match)}".strip(),
                text=sentence.strip(),
                lifts=order.lifts,
                start=start,
                end=end,
                rule=match.rule.id,
            )


def order_in(sentence: str) -> Match | None:
    """Return the order that a sentence begins with."""
    words = lexemes(sentence, 0, len(sentence))
    found = Reading(GRAMMAR, sentence, words, None).starting("order", 0) if words else ()
    return max(found, key=lambda each: (each.rule.priority, each.right), default=None)


def form_of(text: str) -> tuple[str, bool]:
    """Return the form of a directive given by hand, and whether it only ends earlier ones."""
    found = directives_in(text)
    if found:
        return found[0].form, found[0].lifts
    content = [each.lower for each in lexemes(text, 0, len(text)) if _is_content(each.lower)]
    return " ".join(content[:2]) or text.strip().lower(), False


def _object(sentence: str, match: Match) -> str:
    """Return the first content word after the verb, in the singular; it distinguishes forms."""
    words = lexemes(sentence, 0, len(sentence))
    for each in words[match.right :]:
        if _is_content(each.lower):
            return each.lower.removesuffix("'s").removesuffix("s")
    return ""


def _is_content(lower: str) -> bool:
    return lower[0].isalpha() and lower not in FUNCTION_WORDS


def _is_material(text: str, start: int) -> bool:
    """Return whether a sentence is in a line that quotes, or after one that announces material."""
    line = text.rfind("\n", 0, start) + 1
    before = text[:line].rstrip()
    opening = text[line:start]
    quotes = opening.count('"') % 2 == 1 or opening.count("“") > opening.count("”")
    return text[line:].lstrip()[:1] in (">", "|") or before.endswith(":") or quotes
