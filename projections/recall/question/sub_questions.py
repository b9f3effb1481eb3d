"""Several questions in one text: where each begins and ends, and what it takes from the others.

English alone: "Where did Ann move, and what does she do now?" is split before a coordinated
question word, and texts of several sentences after each question mark. Anything else stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from recollect.schemas.wire import Budget
from recollect.text.lexicon import PHATIC, word_set
from recollect.text.sentences import sentences
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: How many questions of one text are asked by themselves; each costs as much as one alone, and
#: the last takes the rest.
MAX_SUB_QUESTIONS: dict[Budget, int] = {"low": 2, "mid": 3, "high": 4}

# A longer text is something pasted; recall reads as many words of it.
_MAX_WORDS = 64

_ASKING = r"(?:what|where|who|whom|whose|when|why|how|which)"
_VERB = (
    r"(?:do|does|did|am|is|are|was|were|has|have|had|can|could|will|would|shall|should|might|must)"
    r"(?:n['’]t)?"
)
_SUBJECT = r"(?:i|you|he|she|it|we|they|the|a|an|my|your|his|her|our|their)"
_JOIN = r"(?:[,;]\s*|\s)(?:and|but|or|plus)\s+(?:(?:also|then)\s+)?"

_PERSONS = word_set("he she him her his hers himself herself they them their theirs")
_THINGS = word_set("it its that this those these there then one ones")
_SPEAKERS = word_set("i me my mine we us our you your")

# Most questions do not match: there is nothing to split.
_JOINED = re.compile(rf"{_JOIN}{_ASKING}\b", re.IGNORECASE)
_JOINT = re.compile(rf"(?P<join>{_JOIN}|,\s*)(?={_ASKING}\b(?!\s+to\b))", re.IGNORECASE)
_ASKED = re.compile(rf"\b{_ASKING}\b", re.IGNORECASE)
# The verb before its subject: "what does she", "how many cats has Ann", "who's".
_VERB_AHEAD = (
    rf"{_ASKING}(?:['’](?:s|re|d|ll|ve)\b|(?:\s+(?!{_SUBJECT}\b)[\w'’-]+){{0,3}}?\s+{_VERB}\b)"
)
_INVERTED = re.compile(_VERB_AHEAD, re.IGNORECASE)
_ASKS_AT_ONCE = re.compile(rf"(?:who|{_VERB})\b|{_VERB_AHEAD}", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:(?:and|but|or|plus|so|also|ok|okay|oh|hey|hi|well)\b[\s,]*)+", re.IGNORECASE
)
_VERB_FIRST = re.compile(rf"{_VERB}\b", re.IGNORECASE)
# "Do you remember?", "Can you help me?" ask for nothing that could be in the memory.
_TO_THE_LISTENER = re.compile(rf"{_VERB}\s+you\b", re.IGNORECASE)


def sub_questions(text: str, budget: Budget) -> list[str]:
    """Return the questions that a text consists of, in order; the text itself where it is one.

    Of more than the budget allows, the last takes the rest.
    """
    found = split(text)
    last = MAX_SUB_QUESTIONS[budget] - 1
    found[last:] = [" ".join(found[last:])] if found[last:] else []
    return found


def split(text: str) -> list[str]:
    """Return all questions that a text consists of, in order; the text itself where it is one."""
    if text.count("?") < 2 and _JOINED.search(text) is None:
        return [text]
    if len(text.split()) > _MAX_WORDS:
        return [text]
    found: list[str] = []
    held = ""
    for sentence in _sentences(text):
        held = f"{held} {sentence}".strip()
        *before, last = _split_sentence(sentence)
        if before:
            # What stands before the first question belongs to it.
            lead = held[: len(held) - len(sentence)]
            found += [f"{lead}{before[0]}".strip(), *before[1:], last]
            held = ""
        elif _asks(sentence):
            found.append(held)
            held = ""
    if not found:
        return [text]
    if held:
        found[-1] = f"{found[-1]} {held}"
    return found if len(found) > 1 else [text]


def content_words(text: str) -> list[str]:
    """Return the words of a question without stop words and courtesies, as written."""
    tokens = tokenise(text)
    return [
        word
        for word, lower in zip(tokens.words, tokens.lowers, strict=True)
        if lower not in STOP_WORDS and lower not in PHATIC
    ]


def completed(parts: Sequence[str], names: Callable[[str], Sequence[str]]) -> list[str]:
    """Return questions, each with what it takes from those before it.

    "What does she do there?" gets the names in the questions before it and, where it has few words
    of its own or "it" or "there", their words too. `names` gives the names in a text.
    """
    whole: list[str] = []
    named: list[str] = []
    for part in parts:
        own, telling = list(names(part)), content_words(part)
        pointing = set(tokenise(part).lowers)
        says = [word for word in telling if word not in own]
        enough = bool(own or says[1:] or pointing & _SPEAKERS)
        led: list[str] = []
        if pointing & (_PERSONS | _THINGS) or not enough:
            led += named
        if pointing & _THINGS or not (enough and says) or (pointing & _PERSONS and not named):
            before = content_words(whole[-1]) if whole else []
            led += [word for word in before if word not in named]
        led = [word for word in dict.fromkeys(led) if word not in telling]
        whole.append(" ".join((*led, part)))
        named = own or named
    return whole


def _sentences(text: str) -> list[str]:
    starts = [start for start, _ in sentences(text)][1:]
    ends = [*starts, len(text)]
    return [text[start:end].strip() for start, end in zip([0, *starts], ends, strict=True)]


def _split_sentence(sentence: str) -> list[str]:
    """Return the questions of one sentence that are joined by "and" or the like."""
    if _ASKED.search(sentence) is None:
        return [sentence]
    joints = list(_JOINT.finditer(sentence))
    while joints and joints[-1]["join"].strip() == ",":
        joints.pop()
    parts: list[str] = []
    start = 0
    for joint in joints:
        left, right = sentence[start : joint.start()], sentence[joint.end() :]
        if _stands_alone(left, right, series=joint["join"].strip() == ","):
            parts.append(left.strip())
            start = joint.end()
    return [*parts, sentence[start:].strip()]


def _stands_alone(left: str, right: str, *, series: bool) -> bool:
    """Return whether a question ends, and another one begins, between left and right.

    Not so in "when and where did he", "whom did she meet and when", "who sings and who dances"
    after a noun, and where a series would begin with "when she moved".
    """
    begins = _ASKED.match(right)
    assert begins is not None
    left = _without_lead(left)
    asked = list(_ASKED.finditer(left))
    if not content_words(left) or len(tokenise(right).words) < 2:
        return False
    inverted = _INVERTED.match(right) is not None
    if series:
        return inverted and _ASKS_AT_ONCE.match(left) is not None
    if inverted:
        return bool(asked) or _VERB_FIRST.match(left) is not None
    if len(asked) != 1:
        return False
    return asked[0].start() == 0 or asked[0][0].lower() != begins[0].lower()


def _without_lead(text: str) -> str:
    """Return a text without "and", "so", "oh" and the like before it."""
    led = _LEAD.match(text)
    return text[led.end() :] if led else text


def _asks(sentence: str) -> bool:
    """Return whether a sentence is a question for something that could be remembered."""
    if not sentence.endswith("?"):
        return False
    plain = _without_lead(sentence)
    if _ASKED.search(plain) is None and _VERB_FIRST.match(plain) is None:
        return False
    telling = content_words(plain)
    return len(telling) > (1 if _TO_THE_LISTENER.match(plain) else 0)
