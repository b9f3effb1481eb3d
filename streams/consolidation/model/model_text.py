"""The text of an observation by a language model: numbered items, and the check of its answer.

A model decides for each numbered item whether it restates what another says, is new, changes what
another says, or is chatter, and writes sentences that cite the numbers. An answer counts only as a
whole: if one part of it is wrong, the text of the rules stands, and `AnswerRefused` says why.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any, Literal, NamedTuple

import msgspec

from recollect.streams.consolidation.observation_text import (
    MAX_WORDS,
    Evidence,
    Item,
    Rendered,
    chosen_units,
    in_time,
    is_change,
    is_negative,
    item_text,
    name_of,
)
from recollect.text.lexicon import FUNCTION_WORDS, MONTHS, NUMBER_WORDS, WEEKDAYS
from recollect.text.rescheduling import plain_forms
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

Decision = Literal["restates", "new", "changes", "chatter"]
#: The maximum numbers of items that a model is shown, and of sentences that it writes.
MAX_SHOWN, MAX_SENTENCES = 24, 12
#: The share of a sentence's content words that its items must have.
LEAST_GROUNDED = 0.6
WRITE = "write_observation"

#: Words that mark an earlier state.
_PAST = re.compile(
    r"\b(?:no longer|used to|until|former(?:ly)?|previously|before|once|earlier|originally|first|"
    r"then|later|since|now|was|were|had|did|ended|instead|\w{2,}ed)\b|n['’]t\b|\bnot\b",
    re.IGNORECASE,
)
#: Words of negation in an item; a sentence may express it by verbs instead.
_DENIAL = re.compile(r"\b(?:not|never|no|none|nothing|without|anymore)\b|n['’]t\b", re.IGNORECASE)
_DENYING_VERB = re.compile(
    r"\b(?:dislik|hat|stopp|quit|gave up|avoid|refus|fail|lack)\w*\b", re.IGNORECASE
)
_MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
_DAY = re.compile(
    rf"\b(?:(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:of )?{_MONTH}\.?(?: \d{{1,2}}(?!\d))?(?:,? \d{{4}})?|"
    r"\d{4}-\d\d-\d\d)(?!\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_COUNTS = frozenset({"once", "twice", "thrice", "dozen", "hundred", "thousand", "half", "both"})
_NAME = re.compile(r"\b[^\W\d_a-z][\w’'-]*")


class AnswerRefused(Exception):
    """An answer that changes nothing, and why."""


class Written(NamedTuple):
    """An observation that a model wrote, and the ids of the facts that it did not leave out."""

    rendered: Rendered
    facts: tuple[str, ...]


class _Decided(msgspec.Struct, frozen=True):
    item: int
    decision: Decision


class _Sentence(msgspec.Struct, frozen=True):
    text: str
    items: tuple[int, ...]


class _Answer(msgspec.Struct, frozen=True):
    items: tuple[_Decided, ...]
    sentences: tuple[_Sentence, ...] = ()


def numbered(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the evidence that a model is shown, in order of time, numbered from 1.

    It consists of what the rules would use, and the newest of the rest.
    """
    first = chosen_units(evidence)
    rest = sorted((each for each in evidence if each not in first), key=in_time, reverse=True)
    return sorted([*first, *rest][:MAX_SHOWN], key=in_time)


def shown_items(evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """Return numbered evidence as a model sees it."""
    return [
        {"item": number, "text": item_text(each)} for number, each in enumerate(evidence, start=1)
    ]


def check_answer(
    calls: Sequence[tuple[str, str]], evidence: Sequence[Evidence], label: str
) -> Written | None:
    """Return the observation that a model's calls (tool, JSON arguments) write.

    `evidence`: what it was shown, in order of the numbers; `label`: the topic in words. None if it
    finds nothing new.

    Raises:
        AnswerRefused: the answer is malformed, or says what its items do not.
    """
    answer = _decoded(calls)
    decided = _decisions(answer, len(evidence))
    if not answer.sentences and not any(
        decision in ("new", "changes") for decision in decided.values()
    ):
        if "restates" not in decided.values():
            raise AnswerRefused("the answer leaves out every item")
        return None
    _check_use(answer, decided, evidence)
    texts = [item_text(item) for item in evidence]
    sentences = []
    for place, sentence in enumerate(answer.sentences, start=1):
        cited = [evidence[number - 1] for number in dict.fromkeys(sentence.items)]
        cited_texts = [texts[number - 1] for number in sentence.items]
        text = " ".join(sentence.text.split()).rstrip(".; ")
        reason = _ungrounded(text, cited_texts, cited, label)
        if reason is not None:
            raise AnswerRefused(f"sentence {place} {reason}")
        sentences.append((text, cited))
    if sum(len(text.split()) for text, _ in sentences) > MAX_WORDS:
        raise AnswerRefused(f"the text has more than {MAX_WORDS} words")
    kept = [number for number, decision in decided.items() if decision != "chatter"]
    facts = tuple(evidence[number - 1].fact_id for number in sorted(kept))
    return Written(_rendered(sentences, evidence, label), facts)


def _decoded(calls: Sequence[tuple[str, str]]) -> _Answer:
    if [name for name, _ in calls] != [WRITE]:
        raise AnswerRefused(f"the answer does not call {WRITE} exactly once")
    try:
        return msgspec.json.decode(calls[0][1], type=_Answer, strict=False)
    except (ValueError, RecursionError):
        raise AnswerRefused(f"the arguments of {WRITE} are malformed") from None


def _decisions(answer: _Answer, items: int) -> Mapping[int, Decision]:
    """Return number -> decision; each item has exactly one."""
    counts = Counter(item.item for item in answer.items)
    for number, count in counts.items():
        if not 1 <= number <= items:
            raise AnswerRefused(f"there is no item {number}")
        if count > 1:
            raise AnswerRefused(f"item {number} is decided twice")
    for number in range(1, items + 1):
        if number not in counts:
            raise AnswerRefused(f"item {number} is neither used nor left out")
    return {item.item: item.decision for item in answer.items}


def _check_use(
    answer: _Answer, decided: Mapping[int, Decision], evidence: Sequence[Evidence]
) -> None:
    """Check that all items that count are cited, and no ignored one is."""
    if len(answer.sentences) > MAX_SENTENCES:
        raise AnswerRefused(f"the answer has more than {MAX_SENTENCES} sentences")
    used = set[int]()
    for place, sentence in enumerate(answer.sentences, start=1):
        if not sentence.text.strip() or not sentence.items:
            raise AnswerRefused(f"sentence {place} is empty, or cites no item")
        for number in sentence.items:
            if number not in decided:
                raise AnswerRefused(f"sentence {place} cites item {number}, which does not exist")
            if decided[number] == "chatter":
                raise AnswerRefused(f"sentence {place} cites item {number}, which is left out")
        used |= set(sentence.items)
    for number, item in enumerate(evidence, start=1):
        if number in used:
            continue
        if decided[number] in ("new", "changes"):
            raise AnswerRefused(f"item {number} is {decided[number]}, but no sentence cites it")
        if item.ended_at is not None:
            raise AnswerRefused(f"item {number} no longer holds, but no sentence says so")
        if is_negative(item.text):
            raise AnswerRefused(f"item {number} is negative, but no sentence says so")


def _ungrounded(
    text: str, texts: Sequence[str], cited: Sequence[Evidence], label: str
) -> str | None:
    """Return what is wrong with a sentence, given the texts that it cites; None if nothing is."""
    whole = " ".join((*(item.name for item in cited), label, *texts))
    for number in _numbers(text) - _numbers(whole):
        return f"says {number}, which none of its items says"
    for day in _days(text) - _days(whole):
        if not any(_is_part(day, other) for other in _days(whole)):
            return f"names the day {' '.join(day)}, which none of its items names"
    for name in _names(text, whole):
        return f"names {name}, which none of its items names"
    if _DENIAL.search(text) and not any(is_negative(cited_text) for cited_text in texts):
        return "denies something, and none of its items does"
    if any(_DENIAL.search(item.text) for item in cited) and not (
        _DENIAL.search(text) or _DENYING_VERB.search(text)
    ):
        return "leaves out that one of its items denies something"
    if is_change(text) and not any(is_change(cited_text) for cited_text in texts):
        return "tells of a change, and none of its items does"
    if any(item.ended_at is not None for item in cited) and not _PAST.search(text):
        return "says as current what is no longer so"
    own = _content(text)
    known = _content(whole)
    if own and len(own & known) < LEAST_GROUNDED * len(own):
        return f"says {', '.join(sorted(own - known))}, which none of its items says"
    return None


def _numbers(text: str) -> Set[str]:
    """Return the numbers of a text, in digits or words, without those of its days."""
    rest = _DAY.sub(" ", text)
    digits = {each.replace(",", "") for each in _NUMBER.findall(rest)}
    for lower in tokenise(rest).lowers:
        if lower in NUMBER_WORDS:
            digits.add(str(NUMBER_WORDS[lower]))
        elif lower in _COUNTS:
            digits.add(lower)
    return digits - {"1"}


def _days(text: str) -> Set[tuple[str, ...]]:
    """Return the days, months and weekdays that a text names, each as a sorted tuple of its parts.

    A part is the number of a month as `m5`, or a number.
    """
    days = set()
    for match in _DAY.finditer(text):
        if re.fullmatch(r"may|mar|march|sat|sun", match[0]) and match[0].islower():
            continue
        words = re.findall(r"\d+|[^\W\d_]+", match[0].lower())
        if "-" in match[0]:
            year, month, day = words
            words = [day.lstrip("0"), f"m{int(month)}", year]
        days.add(
            tuple(
                sorted(
                    f"m{MONTHS[word]}" if word in MONTHS else word
                    for word in words
                    if word not in ("of", "st", "nd", "rd", "th")
                )
            )
        )
    for lower in tokenise(text).lowers:
        if len(lower) > 3 and lower in WEEKDAYS:
            days.add((f"w{WEEKDAYS[lower]}",))
    return days


def _is_part(day: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether a day, such as `May 2025`, is part of how another is named."""
    return not Counter(day) - Counter(other)


def _names(text: str, whole: str) -> list[str]:
    """Return the capitalised words of a sentence that the texts behind it do not have."""
    known = set(tokenise(whole).lowers)
    unknown = []
    for match in _NAME.finditer(text):
        lower = match[0].lower().removesuffix("'s").removesuffix("’s")
        if lower in known or lower in MONTHS or lower in WEEKDAYS:
            continue
        if lower in FUNCTION_WORDS or lower in STOP_WORDS:
            continue
        if match.start() == 0 and _content(match[0]) <= _content(whole):
            continue
        if not set(re.findall(r"[^\W\d_]+", lower)) <= known:
            unknown.append(match[0])
    return unknown


def _content(text: str) -> frozenset[str]:
    """Return the base forms of a text's content words."""
    words = " ".join(
        lower
        for lower in tokenise(_DAY.sub(" ", text)).lowers
        if lower not in FUNCTION_WORDS and lower not in STOP_WORDS and lower[0].isalpha()
    )
    return frozenset(plain_forms(words))


def _rendered(
    sentences: Sequence[tuple[str, Sequence[Evidence]]], evidence: Sequence[Evidence], label: str
) -> Rendered:
    text = f"{name_of(evidence)} – {label}: "
    items = []
    for place, (words, cited) in enumerate(sentences):
        text += "; " if place else ""
        span = len(text), len(text) + len(words)
        items += [Item(item.fact_id, *span) for item in cited]
        text += words
    return Rendered(text + ".", label, tuple(items))


#: The tool, as sent to a model.
CONSOLIDATION_TOOLS: tuple[dict[str, Any], ...] = (
    {
        "type": "function",
        "function": {
            "name": WRITE,
            "description": "Decide each item, and write the observation. Call it once.",
            "parameters": {
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "description": "a decision for every item",
                        "items": {
                            "type": "object",
                            "properties": {
                                "item": {"type": "integer"},
                                "decision": {"enum": ["restates", "new", "changes", "chatter"]},
                            },
                            "required": ["item", "decision"],
                            "additionalProperties": False,
                        },
                    },
                    "sentences": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "text": {"type": "string"},
                                "items": {
                                    "type": "array",
                                    "items": {"type": "integer"},
                                    "description": "the numbers of the items that say it",
                                },
                            },
                            "required": ["text", "items"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["items", "sentences"],
                "additionalProperties": False,
            },
        },
    },
)
