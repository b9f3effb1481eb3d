"""Whether a sentence that a model derived from a message is supported by the message.

The checks use words, numbers, names and days, not understanding: a sentence that passes may still
be poor, but has no name, number or day that the message lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from recollect.streams.language.grammar.named_weekdays import dates_about
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.grammar.verbs import BASES, is_past
from recollect.streams.language.relations.content_words import content_words
from recollect.text.dates.dates_in_text import date_references
from recollect.text.dates.found_dates import DateReference
from recollect.text.lexicon import FUNCTION_WORDS, MONTHS, WEEKDAYS, word_set
from recollect.text.sentences import sentences

#: The maximum length of a sentence and the minimum length of its evidence, in characters.
LONGEST, SHORTEST_EVIDENCE = 400, 3
#: The minimum share of the sentence's own words that occur in the messages.
_LEAST_SAID = 0.5

#: A shorter sentence cannot be self-contained.
_FEWEST_WORDS = 3
_OUTCRY = ("!", "…", "...", "!)")
_AUXILIARIES = word_set(
    "is are am was were be been being has have had do does did will would can could may might must "
    "shall should cannot isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't "
    "won't wouldn't can't couldn't mustn't shouldn't"
)
#: A sentence that begins with one of these does not name its subject, or only greets.
_NO_SUBJECT = word_set(
    "he she it they him her them his hers its their this that these those here who what which "
    "hello hi hey dear thanks thank thx welcome congratulations congrats bravo ok okay yes yeah no "
    "sure please sorry wow oh ah good great nice lovely beautiful madame madam sir"
)

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER = re.compile(r"\d+")
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|no longer|"
    r"stopped|quit|denies|refuses?)\b|n['’]t\b",
    re.IGNORECASE,
)
_FIRST_OR_SECOND = re.compile(
    r"\b(?:I|I['’]\w+|me|my|mine|myself|we|us|our|ours|you|your|yours)\b", re.IGNORECASE
)
_ORDER = re.compile(
    r"^\W*(?:please|ignore|disregard|forget|delete|remove|remember|always|never|do|don['’]t|must|"
    r"execute|run|call|send|reveal|print|output|respond|reply|act|pretend|system|assistant)\b|"
    r"\b(?:previous|prior|above|earlier|all)\s+(?:instruction|prompt|rule|message)s?\b|"
    r"\b(?:system prompt|tool call|function call|the assistant|the model|jailbreak)\b|</?\w+>",
    re.IGNORECASE,
)


class Said(Struct, frozen=True):
    """The texts that may support a sentence: a message, its time, and its participants.

    `thread` are the previous messages; `names` are the names of the participants; `dates` are the
    dates of the message.
    """

    text: str
    at_ms: int
    utc_offset_minutes: int
    thread: tuple[str, ...]
    names: tuple[str, ...]
    dates: tuple[DateReference, ...] = ()


def evidence_span(text: str, evidence: str) -> tuple[int, int] | None:
    """Return the span of a quotation in a text, whatever its white space; None if absent."""
    words = evidence.split()
    if not words or len(evidence.strip()) < SHORTEST_EVIDENCE:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text, re.IGNORECASE)
    return found.span() if found else None


def fault(sentence: str, evidence: str, said: Said) -> tuple[str, str] | None:
    """Return why a sentence is rejected, as a short name and in words; None if it is supported.

    `evidence` is the quotation of the message that supports it.
    """
    if not isinstance(sentence, str) or not sentence.strip():
        return "form", "text is empty"
    if len(sentence) > LONGEST or "\n" in sentence or not sentence.isprintable():
        return "form", f"text must be one plain sentence of at most {LONGEST} characters"
    if not states_something(sentence):
        return "statement", "write a whole sentence: first whom or what it is about, then a verb"
    span = evidence_span(said.text, evidence)
    if span is None:
        return "evidence", "metadata.evidence must quote this message, word for word"
    if _ORDER.search(sentence):
        return "order", "a fact states something; it tells nobody what to do"
    if not is_in_third_person(sentence) or is_question(sentence):
        return "person", "write a statement in the third person, with names for I, you and we"
    whole = _whole_sentences(said.text, span)
    if is_question(said.text[span[0] : span[1]]):
        return "question", "the evidence is a question, which states nothing"
    if is_negated(sentence) != is_negated(whole):
        return "negation", "one of text and message says no, and the other does not"
    near = [said.text, *said.thread, *said.names]
    if (name := unsaid_name(sentence, near)) is not None:
        return "name", f"{name!r} stands neither in this message nor in those before it"
    meant = _dates_said(said)
    if (day := unsaid_day(_dates_about(sentence, said), meant)) is not None:
        return "date", f"the day {day!r} was not said"
    if (number := unsaid_number(sentence, near, meant)) is not None:
        return "number", f"the number {number} was not said"
    own = _own_words(sentence, said.names)
    told = content_words(f"{whole} {' '.join(said.thread)}")
    if own and len(own & told) < _LEAST_SAID * len(own):
        return "words", "most of its words were not said; keep to the words of the message"
    return None


def is_negated(sentence: str) -> bool:
    """Whether a sentence contains a negation."""
    return _NEGATION.search(sentence) is not None


def is_in_third_person(sentence: str) -> bool:
    """Whether a sentence has no pronoun of the first or second person."""
    return _FIRST_OR_SECOND.search(sentence) is None


def states_something(sentence: str) -> bool:
    """Whether a sentence begins with its subject and has a verb after it.

    "Noted.", "The bus." and "She would." are not self-contained statements.
    """
    words = [_bare(word).casefold() for word in _words(sentence)]
    opening = next((sign for sign in sentence if sign.isalnum()), "")
    if len(words) < _FEWEST_WORDS or opening.islower() or sentence.rstrip().endswith(_OUTCRY):
        return False
    return words[0] not in _NO_SUBJECT and any(map(_may_be_verb, words[1:]))


def _may_be_verb(word: str) -> bool:
    return (
        word in _AUXILIARIES
        or is_past(word)
        or word in BASES
        or (word.endswith("s") and not word.endswith("ss"))
    )


def occurs(name: str, texts: Iterable[str]) -> bool:
    """Whether a name occurs in one of the texts, as whole words."""
    words = name.split()
    if not words or len(name) > LONGEST:
        return False
    whole = r"\s+".join(map(re.escape, words))
    pattern = re.compile(rf"(?<!\w){whole}(?!\w)", re.IGNORECASE)
    return any(pattern.search(text) for text in texts)


def unsaid_name(sentence: str, texts: Sequence[str]) -> str | None:
    """Return a capitalised word that does not occur in the texts, if there is one."""
    said = {word.casefold() for text in texts for word in _words(text)}
    for place, word in enumerate(_words(sentence)):
        lower = word.casefold()
        if not word[0].isupper() or lower in said or lower in MONTHS or lower in WEEKDAYS:
            continue
        if place == 0 and lower in FUNCTION_WORDS:
            continue
        return word
    return None


def unsaid_day(stated: Iterable[DateReference], meant: Sequence[DateReference]) -> str | None:
    """Return the text of a date that no date of the messages means, if there is one."""
    for each in stated:
        # A month or a year that contains a stated day is a less precise form of it.
        if not any(each.first <= one.last and one.first <= each.last for one in meant):
            return each.text
    return None


def unsaid_number(
    sentence: str, texts: Iterable[str], meant: Iterable[DateReference]
) -> str | None:
    """Return a number that neither occurs in the texts nor is part of a date, if there is one."""
    known = {number for text in texts for number in _NUMBER.findall(text)}
    for each in meant:
        for day in (each.first, each.last):
            known |= set(day.split("-"))
            known |= {part.lstrip("0") for part in day.split("-")}
    return next((each for each in _NUMBER.findall(sentence) if each not in known), None)


def _whole_sentences(text: str, span: tuple[int, int]) -> str:
    """Return the sentences of a text that overlap a span."""
    touched = [
        text[start:end] for start, end in sentences(text) if start < span[1] and span[0] < end
    ]
    return " ".join(touched) or text[span[0] : span[1]]


def _words(text: str) -> list[str]:
    return [_bare(found.group()) for found in _WORD.finditer(text)]


def _bare(word: str) -> str:
    return re.sub(r"['’]s?\Z", "", word)


def _dates_said(said: Said) -> list[DateReference]:
    """Return the dates of the message, and those of the previous messages."""
    at_ms, offset = said.at_ms, said.utc_offset_minutes
    found = _dates_about(said.text, said)
    for text in said.thread:
        found += date_references(text, at_ms=at_ms, utc_offset_minutes=offset, every=True)
    return found


def _dates_about(text: str, said: Said) -> list[DateReference]:
    return dates_about(
        text, at_ms=said.at_ms, utc_offset_minutes=said.utc_offset_minutes, meant=said.dates
    )


def _own_words(sentence: str, names: Sequence[str]) -> frozenset[str]:
    """Return the words of a sentence except names."""
    of_names = content_words(" ".join(names))
    return content_words(sentence) - of_names
